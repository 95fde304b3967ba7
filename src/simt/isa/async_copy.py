"""Asynchronous copies (PTX ISA 7.0 cp.async), carried out at once: waiting for them finds them done."""

from __future__ import annotations

from simt.isa.algebra import Algebra, V
from simt.isa.catalogue import instruction
from simt.isa.derived import low_ones
from simt.ptx.types import B32, U32, U64

SINCE = "7.0 sm_80"
WINDOWS = "shared shared::cta shared::cluster"
PREFETCH = "L2::64B L2::128B L2::256B"
WORD = 4


def words_of(m: Algebra[V], a: V, b: V, size: int, available: V) -> list[V]:
    """`size` bytes from the global address `b`: those past the `available` ones are zero and are not read.

    Words without an available byte are read at the shared address `a` instead, which must exist anyway.
    """
    instead = m.to_generic(U64, "shared", m.resize(U32, U64, a))
    found: list[V] = []
    for offset in range(0, size, WORD):
        here = m.const(U32, offset)
        inside = m.compare("gt", U32, available, here)
        place = m.select(U64, inside, m.add(U64, b, m.const(U64, offset)), instead)
        count = m.select(U32, inside, m.sub(U32, available, here), m.const(U32, 0))
        bits = m.shift_left(U32, m.minimum(U32, count, m.const(U32, WORD)), m.const(U32, 3))
        found.append(m.and_(B32, m.load(B32, "", place, 1, False)[0], low_ones(m, B32, bits)))
    return found


COPY = ".space.global[.prefetch] [a], [b], c:imm(u32)[, e:u32]"


@instruction(f"cp.async.ca{COPY}", space=WINDOWS, prefetch=PREFETCH, since=SINCE, effects="memory",
             defaults={"size": "4"}, ref="PTX 7.0 cp.async")  # fmt: skip
@instruction(f"cp.async.cg{COPY}", space=WINDOWS, prefetch=PREFETCH, since=SINCE, effects="memory",
             defaults={"size": "16"}, ref="PTX 7.0 cp.async")  # fmt: skip
def cp_async(m: Algebra[V], a: V, b: V, e: V | None, size: str) -> None:
    """Copies 4, 8 or 16 bytes from global to shared memory, zeros in place of those past the first `e`."""
    count = int(size)
    if e is None:
        values = m.load(B32, "global", b, count // WORD, False)
    else:
        values = tuple(words_of(m, a, b, count, e))
    m.store(B32, "shared", a, values, False)


@instruction("cp.async.commit_group", since=SINCE, effects="memory", ref="PTX 7.0 cp.async")
@instruction("cp.async.wait_all", since=SINCE, effects="memory", ref="PTX 7.0 cp.async")
def finished(m: Algebra[V]) -> None:
    """Makes a group of the copies so far, or waits for them."""


@instruction("cp.async.wait_group a:imm(u32)", since=SINCE, effects="memory", ref="PTX 7.0 cp.async")
def wait_group(m: Algebra[V], a: V) -> None:
    """Waits until at most `a` groups of copies are unfinished."""
