"""Instructions of PTX 7.0 to 8.1 on a GPU: formats of 8 bits, sums of vectors, cache policies, barriers in
shared memory. The same programs are run by the recorder and by the replay, each with a `Run` of its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

from tests.unit.isa.meaning import Array

Run: TypeAlias = "Callable[[str, list[Array], int, int], None]"
"""Runs the kernel `k` of a module with arrays as arguments, which it changes: grid and block."""

HEAD = ".version 8.6\n.target sm_90\n.address_size 64\n"
PLACES = """
.reg .u32 %i, %c, %n; .reg .u64 %p<3>; .reg .b16 %h<9>, %g<9>; .reg .b32 %r; .reg .f32 %f<4>, %e<4>;
mov.u32 %c, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %i, %tid.x; mad.lo.u32 %i, %c, %n, %i;
"""


def kernel(sizes: tuple[int, ...], body: str) -> str:
    """Threads that have an element of so many bytes of each array, at `%p0`, `%p1` ..."""
    parameters = ", ".join(f".param .u64 a{n}" for n in range(len(sizes)))
    places = "".join(
        f"ld.param.u64 %p{n}, [a{n}]; mad.wide.u32 %p{n}, %i, {s}, %p{n};\n" for n, s in enumerate(sizes)
    )
    return f"{HEAD}.visible .entry k ({parameters}) {{{PLACES}{places}{body}\nret;\n}}\n"


def collect(run: Run) -> dict[str, Any]:
    return {
        "conversions": dict(conversions(run)), "sums": dict(sums(run)),
        "policies": {words: policy(run, words) for words in POLICIES},
        "barriers": {name: barrier(run, script) for name, script in BARRIERS.items()},
    }  # fmt: skip


# ---------------------------------------------------------------- formats of 8 bits


def digest(values: Array) -> str:
    return hashlib.blake2b(np.ascontiguousarray(values), digest_size=8).hexdigest()


def halves() -> Array:
    """Every half in the lower half, one of all in the upper."""
    low = np.arange(1 << 16, dtype="u4")
    return low | (low * 40503 + 12345 & 0xFFFF) << 16


def singles() -> Array:
    """Every upper half of a single's bits, with eight lower ones."""
    low = np.array([0, 1, 0x8000, 0x7FFF, 0x8001, 0xFFFF, 0x4000, 0x1234], "u4")
    return (np.arange(1 << 16, dtype="u4")[:, None] << 16 | low).reshape(-1)


def conversions(run: Run) -> Iterator[tuple[str, str]]:
    """Hashes of the results of each conversion."""
    codes, pairs, ones = np.arange(1 << 16, dtype="u2"), halves(), singles()
    for small in ("e4m3x2", "e5m2x2"):
        for relu in ("", ".relu"):
            opcode, out = f"cvt.rn{relu}.f16x2.{small}", np.zeros(1 << 16, "u4")
            body = f"ld.global.b16 %h0, [%p0]; {opcode} %r, %h0; st.global.b32 [%p1], %r;"
            run(kernel((2, 4), body), [codes.copy(), out], 256, 256)
            yield opcode, digest(out)
            opcode, short = f"cvt.rn.satfinite{relu}.{small}.f16x2", np.zeros(1 << 16, "u2")
            body = f"ld.global.b32 %r, [%p0]; {opcode} %h0, %r; st.global.b16 [%p1], %h0;"
            run(kernel((4, 2), body), [pairs.copy(), short], 256, 256)
            yield opcode, digest(short)
            opcode, short = f"cvt.rn.satfinite{relu}.{small}.f32", np.zeros(ones.size, "u2")
            body = "ld.global.f32 %f0, [%p0]; ld.global.f32 %f1, [%p1]; "
            body += f"{opcode} %h0, %f0, %f1; st.global.b16 [%p2], %h0;"
            others = np.roll(ones, 12345 * 8 + 3)
            run(kernel((4, 4, 2), body), [ones.copy(), others, short], ones.size // 256, 256)
            yield opcode, digest(short)


# ---------------------------------------------------------------- sums of vectors

F32_VALUES = (
    0, 0x80000000, 1, 0x80000001, 0x7FFFFF, 0x807FFFFF, 0x800000, 0x3F800000, 0xBF800000, 0x7F7FFFFF,
    0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 0xFFC12345, 0x33800000,
)  # fmt: skip
HALF_VALUES = (
    0, 0x8000, 1, 0x8001, 0x3FF, 0x400, 0x3C00, 0xBC00, 0x7BFF, 0x7C00, 0xFC00, 0x7E00, 0x7C01, 0xFE01,
    0x2C00, 0x5140,
)  # fmt: skip
SUMS = {"f32": ("", F32_VALUES, "f", (2, 4)), "f16": (".noftz", HALF_VALUES, "h", (2, 4, 8)),
        "bf16": (".noftz", HALF_VALUES, "h", (2, 4, 8))}  # fmt: skip


def sums(run: Run) -> Iterator[tuple[str, list[int]]]:
    """Each value plus each, which vectors of all lengths agree on; `atom` finds the old ones."""
    for t, (noftz, values, letter, lengths) in SUMS.items():
        size = 4 if t == "f32" else 2
        a, b = (f(np.array(values, f"u{size}"), 16) for f in (np.repeat, np.tile))
        found: list[Array] = []
        for length in lengths:
            memory, old = a.copy(), np.zeros_like(a)
            vector = "{" + ", ".join(f"%{letter}{n}" for n in range(length)) + "}"
            other = vector.replace(f"%{letter}", "%e" if t == "f32" else "%g")
            each = other.strip("{}").split(", ")
            lines = [f"ld.global.b{size * 8} {r}, [%p1 + {n * size}];" for n, r in enumerate(each)]
            lines.append(f"atom.global.add{noftz}.v{length}.{t} {vector}, [%p0], {other};")
            each = vector.strip("{}").split(", ")
            lines += [f"st.global.b{size * 8} [%p2 + {n * size}], {r};" for n, r in enumerate(each)]
            text = kernel((size * length,) * 3, "\n".join(lines))
            run(text, [memory, b.copy(), old], 1, len(a) // length)
            assert np.array_equal(old, a), (t, length)
            found.append(memory)
        assert all(np.array_equal(found[0], other) for other in found), t
        yield t, found[0].tolist()


# ---------------------------------------------------------------- cache policies

POLICIES = tuple(
    f"L2::evict_{first}{second}{fraction}"
    for first in ("last", "normal", "first", "unchanged")
    for second in ("", ".L2::evict_first", ".L2::evict_unchanged")
    for fraction in ("", ", 1.0", ", 0.5", ", 0.25", ", 0.125", ", 0.75", ", 0.1", ", 0.9", ", 0.0625",
                     ", 0.01",
                     ", 0.99", ", 0.3")
)  # fmt: skip


def policy(run: Run, words: str) -> str:
    modifiers, comma, fraction = words.partition(",")
    out = np.zeros(1, "u8")
    body = f"createpolicy.fractional.{modifiers}.b64 %p1{comma}{fraction}; st.global.b64 [%p0], %p1;"
    run(kernel((8,), body), [out], 1, 1)
    return hex(int(out[0]))


# ---------------------------------------------------------------- barriers in shared memory

INIT, ARRIVE, DROP = (
    "mbarrier.init.shared.b64 [bar],",
    "mbarrier.arrive.shared.b64 %d, [bar]",
    "mbarrier.arrive_drop.shared.b64 %d, [bar]",
)
TX = "_tx.relaxed.cta.shared.b64 [bar],"


def _wait(way: str, operand: str) -> str:
    return f"mbarrier.{way}.shared.b64 %p, [bar], {operand}; selp.u64 %d, 1, 0, %p;"


PENDING = f"{ARRIVE}; mbarrier.pending_count.b64 %r, %d; cvt.u64.u32 %d, %r;"
FIRST, SECOND = (f"{ARRIVE.replace('%d', name)};" for name in ("%first", "%second"))
PARITIES = [_wait("test_wait.parity", "0"), _wait("test_wait.parity", "1")]
BARRIERS = {
    "arrivals": [f"{INIT} 3;", *[f"{ARRIVE};"] * 8],
    "one": [f"{INIT} 1;", *[f"{ARRIVE};"] * 4],
    "counts": [f"{INIT} 10;", f"{ARRIVE}, 4;", f"{ARRIVE.replace('arrive', 'arrive.noComplete')}, 5;",
               f"{ARRIVE}, 1;", f"{ARRIVE}, 10;"],
    "drop": [f"{INIT} 4;", f"{DROP};", f"{DROP}, 2;", *[f"{ARRIVE};"] * 3],
    "pending": [f"{INIT} 5;", *[PENDING] * 7],
    "wait": [f"{INIT} 2;", FIRST + _wait("test_wait", "%first"), SECOND + _wait("test_wait", "%first"),
             _wait("test_wait", "%second"), SECOND + _wait("test_wait", "%second"),
             _wait("test_wait", "%first")],
    "parity": [f"{INIT} 1;", *[*PARITIES, f"{ARRIVE};"] * 4],
    "try": [f"{INIT} 2;", FIRST + _wait("try_wait", "%first"), _wait("try_wait", "%first, 100"),
            SECOND + _wait("try_wait", "%first"), _wait("try_wait.parity", "0")],
    "bytes": [f"{INIT} 2;", f"mbarrier.expect{TX} 64;", f"{ARRIVE};", f"{ARRIVE};", *PARITIES,
              f"mbarrier.complete{TX} 32;", *PARITIES, f"mbarrier.complete{TX} 32;", *PARITIES,
              f"{ARRIVE.replace('arrive', 'arrive.expect_tx')}, 16;", f"{ARRIVE};", *PARITIES,
              f"mbarrier.complete{TX} 16;", *PARITIES],
}  # fmt: skip
"""Instructions, each of which may leave something in `%d`."""


def barrier(run: Run, script: list[str]) -> list[str]:
    """What `%d` holds after each instruction of a thread, zero where it gives nothing; of tokens, which are
    wider, the upper half: the lower one is undefined."""
    out = np.zeros(len(script), "u8")
    lines = [".shared .b64 bar; .reg .u64 %d, %first, %second; .reg .pred %p;"]
    for n, instructions in enumerate(script):
        lines.append(f"mov.u64 %d, 0; {instructions} st.global.u64 [%p0 + {8 * n}], %d;")
    run(kernel((8,), "\n".join(lines)), [out], 1, 1)
    return [hex(v >> 32 << 32 if v >> 32 else v) for v in map(int, out)]
