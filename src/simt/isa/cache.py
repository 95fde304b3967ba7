"""Cache policies, and instructions for the cache (PTX 7.4). They change nothing that a program can see."""

from __future__ import annotations

from simt.isa.algebra import Algebra, V
from simt.isa.catalogue import instruction
from simt.isa.memory import EVICTION, PREFETCH, access, ld, st
from simt.ptx.types import F32, U32, U64, Type

HINT = "L2::cache_hint"
"""With a further source, a cache policy."""


@access(
    "ld[.weak][.space][.eviction].hint[.prefetch][.vec].type d:vec(type), [a], c:token(u64)",
    space="global",
    eviction=EVICTION,
    hint=HINT,
    prefetch=PREFETCH,
    since="7.4 sm_80",
    ref="PTX 7.4 ld",
)
@access(
    "ld.global.nc[.eviction].hint[.prefetch][.vec].type d:vec(type), [a], c:token(u64)",
    eviction=EVICTION,
    hint=HINT,
    prefetch=PREFETCH,
    since="7.4 sm_80",
    ref="PTX 7.4 ld.global.nc",
)
def ld_hinted(m: Algebra[V], t: Type, a: V, space: str | None, vec: str | None) -> tuple[V, ...]:
    """Loads a scalar or a vector from memory, with a cache policy `c`: as `ld`, which see."""
    return ld(m, t, a, space, vec)


@access(
    "st[.weak][.space][.eviction].hint[.vec].type [a], b:vec(type), c:token(u64)",
    space="global",
    eviction=EVICTION,
    hint=HINT,
    since="7.4 sm_80",
    ref="PTX 7.4 st",
)
def st_hinted(m: Algebra[V], t: Type, a: V, b: V | tuple[V, ...], space: str | None) -> None:
    """Stores a scalar or a vector to memory, with a cache policy `c`: as `st`, which see."""
    st(m, t, a, b, space)


@instruction(
    "discard[.space].L2 [a], b:imm(u32)", space="global", ranges={"b": range(128, 129)}, since="7.4 sm_80",
    ref="PTX 7.4 discard",
)  # fmt: skip
@instruction(
    "applypriority[.space].level [a], b:imm(u32)", space="global", level="L2::evict_normal",
    ranges={"b": range(128, 129)}, since="7.4 sm_80", ref="PTX 7.4 applypriority",
)  # fmt: skip
def cache_line(m: Algebra[V], a: V) -> None:
    """Tells the cache what becomes of a line; changes nothing here.

    What a program reads from a line that it has discarded is not defined.
    """


PRIORITIES = {"L2::evict_unchanged": 0, "L2::evict_first": 2, "L2::evict_last": 4, "L2::evict_normal": 6}


class Fractions:
    """Numbers above 0, up to 1."""

    def __contains__(self, value: object) -> bool:
        return isinstance(value, float) and 0 < value <= 1

    def __str__(self) -> str:
        return "a fraction above 0.0, at most 1.0"


STEPS = 16
"""A policy counts fractions of memory in sixteenths."""


@instruction(
    "createpolicy.fractional.primary[.secondary].b64 d:u64[, a:f32]", primary=" ".join(PRIORITIES),
    secondary="L2::evict_unchanged L2::evict_first", since="7.4 sm_80", ref="PTX 7.4 createpolicy",
    ranges={"a": Fractions()},
)  # fmt: skip
def create_policy(m: Algebra[V], a: V | None, primary: str, secondary: str | None) -> V:
    """Makes a cache policy: a fraction `a` of the accesses has one priority, the others another one.

    Policies change nothing that a program can see, but their bits are an H200's.
    """
    priority = 0x10 + PRIORITIES[primary] + (secondary == "L2::evict_first")
    part = m.const(U32, STEPS)
    if a is not None:
        scaled = m.fmul(F32, a, m.const(F32, 0x41800000), "rn")  # 16.0
        part = m.float_to_int(F32, U32, scaled, "rp")
    step = m.and_(U32, m.sub(U32, part, m.const(U32, 1)), m.const(U32, STEPS - 1))
    moved = m.shift_left(U64, m.resize(U32, U64, step), m.const(U32, 52))
    return m.or_(U64, m.const(U64, priority << 56), moved)
