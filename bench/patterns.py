"""What one PTX instruction costs a warp: `python bench/patterns.py [WORD...]` (only rows with such words).

The figures of docs/performance.md. Each row is a loop around one instruction (or a few); its time less that
of the empty loop is divided by the turns of all warps: nanoseconds for 32 lanes. It is processor time of one
thread, the least of some runs. The last rows are a kernel of three instructions in CTAs of several sizes.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

import numpy as np

import simt

TURNS, CTAS, ROUNDS = 2048, 64, 7
WORDS = 1 << 16  # 256 KB: within the second-level cache

KERNEL = """.version 7.4
.target sm_80
.address_size 64
{functions}
.visible .entry k(.param .u32 turns, .param .u64 src, .param .u64 dst, .param .u64 index)
{{
    .reg .pred %p<4>;
    .reg .b16 %h<4>;
    .reg .b32 %r<20>;
    .reg .f32 %f<20>;
    .reg .f64 %fd<4>;
    .reg .b64 %a<20>;
    .shared .align 16 .b8 s[32768];
    .local .align 16 .b8 l[256];
    ld.param.u32 %r0, [turns];
    ld.param.u64 %a0, [src];
    ld.param.u64 %a1, [dst];
    ld.param.u64 %a2, [index];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %tid.y;
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mad.lo.u32 %r5, %r2, %r4, %r1;
    mul.wide.u32 %a3, %r5, 4;
    add.u64 %a4, %a2, %a3;
    ld.global.u32 %r6, [%a4];
    cvt.rn.f32.u32 %f1, %r6;
    add.f32 %f1, %f1, 0f3FC00000;
    cvt.f64.f32 %fd1, %f1;
    cvt.rn.f16.f32 %h1, %f1;
    mov.f32 %f2, 0f3F800001;
    mov.f64 %fd2, 0d3FF0000000000001;
    mov.b16 %h2, 0x3C01;
    mov.u32 %r16, s;
    mov.u32 %r7, 0;
    mov.u32 %r10, %r6;
    {prologue}
LOOP:
    {body}
NEXT:
    add.u32 %r7, %r7, 1;
    setp.lt.u32 %p1, %r7, %r0;
    @%p1 bra LOOP;
    {epilogue}
    cvt.rn.f32.f64 %f3, %fd1;
    cvt.f32.f16 %f4, %h1;
    add.f32 %f1, %f1, %f3;
    add.f32 %f1, %f1, %f4;
    cvt.rzi.u32.f32 %r11, %f1;
    add.u32 %r10, %r10, %r11;
    add.u64 %a4, %a1, %a3;
    st.global.u32 [%a4], %r10;
    ret;
}}
"""


@dataclass(frozen=True)
class Row:
    """`index`: what thread i finds in the index array (`%r6`): its own number, a random one, or that of its
    warp. `times`: how often the body stands in the loop."""

    group: str
    what: str
    body: str
    prologue: str = ""
    block: tuple[int, int] = (256, 1)
    index: str = "own"
    functions: str = ""
    epilogue: str = ""
    times: int = 1


MOVE = "shl.b32 %r8, %r7, 2; and.b32 %r8, %r8, 0xFFF; cvt.u64.u32 %a5, %r8; add.u64 %a5, %a5, "
"""`%a5`: an address that moves by 4 bytes a turn."""
USE = "xor.b32 %r10, %r10, %r9;"
MIX = "xor.b32 %r10, %r10, %r6;"
LOAD = f"ld.global.u32 %r9, [%a5]; {USE}"
STORE = "st.global.u32 [%a5], %r7;"


def at(factor: int, base: str = "%r5") -> str:
    return f"mul.wide.u32 %a6, {base}, {factor}; add.u64 %a6, %a6, %a0;"


def moved(base: str, access: str) -> str:
    return f"{MOVE}{base}; {access}"


SHARED = (
    f"shl.b32 %r8, %r7, 2; and.b32 %r8, %r8, 0xFFC; add.u32 %r8, %r8, %r15; ld.shared.u32 %r9, [%r8]; {USE}"
)
STORE_SHARED = SHARED.replace("ld.shared.u32 %r9, [%r8]", "st.shared.u32 [%r8], %r7").replace(USE, "")
IN_SHARED = "add.u32 %r15, %r15, %r16;"
PAIRS = "shl.b32 %r15, %r6, 1; and.b32 %r9, %r6, 3; sub.u32 %r15, %r15, %r9; shl.b32 %r15, %r15, 2;"
SCATTERED = "shl.b32 %r15, %r6, 2; and.b32 %r15, %r15, 0x3FFC;"


def by_lines(body: str) -> str:
    """The address moves by 64 bytes a turn."""
    return body.replace(
        "shl.b32 %r8, %r7, 2; and.b32 %r8, %r8, 0xFFC", "shl.b32 %r8, %r7, 6; and.b32 %r8, %r8, 0xFC0"
    )


LOCAL = (
    "shl.b32 %r8, %r7, 2; add.u32 %r8, %r8, %r15; and.b32 %r8, %r8, 252; mov.u32 %r9, l;"
    f"add.u32 %r8, %r8, %r9; ld.local.u32 %r9, [%r8]; {USE} st.local.u32 [%r8], %r10;"
)
"""At one place for all lanes, or %r15 bytes after it for each."""
BASE = Row("", "empty", "")
ADDRESS = Row("", "address", moved("%a0", f"cvt.u32.u64 %r9, %a5; {USE}"))
ROWS = [
    Row("load", "uniform", moved("%a0", LOAD)),
    Row("load", "uniform in a row (16x16)", moved("%a6", LOAD), at(256, "%r2"), (16, 16)),
    Row("load", "contiguous", moved("%a6", LOAD), at(4)),
    Row("load", "contiguous, v4", moved("%a6", "ld.global.v4.u32 {%r9, %r12, %r13, %r14}, [%a5]; "
        f"{USE} xor.b32 %r10, %r10, %r14;").replace(", 2;", ", 4;"), at(16)),
    Row("load", "contiguous in rows (16x16)", moved("%a6", LOAD), at(4), (16, 16)),
    Row("load", "unknown, contiguous when run", moved("%a6", LOAD), at(4, "%r6")),
    Row("load", "clamped index, contiguous when run", moved("%a6", LOAD),
        "min.u32 %r15, %r5, 60000;" + at(4, "%r15")),
    Row("load", "backwards", moved("%a6", LOAD), "sub.u32 %r15, 4096, %r5;" + at(4, "%r15")),
    Row("load", "8 bytes apart", moved("%a6", LOAD), at(8)),
    Row("load", "unknown, scattered", moved("%a6", LOAD), at(4, "%r6"), index="random"),
    Row("load", "unknown, all the same", moved("%a6", LOAD), at(4, "%r6"), index="same"),
    Row("load", "unknown, scattered, one lane", moved("%a6", LOAD), at(4, "%r6") +
        "and.b32 %r9, %r5, 31; setp.ne.u32 %p2, %r9, 7; @%p2 bra END;", index="random", epilogue="END:"),
    Row("load", "scattered bytes", moved("%a6", f"ld.global.u8 %r9, [%a5]; {USE}"),
        at(4, "%r6"), index="random"),
    Row("load", "scattered, volatile", moved("%a6", LOAD.replace("ld.", "ld.volatile.")), at(4, "%r6"),
        index="random"),
    Row("load", "shared, contiguous", SHARED,
        "shl.b32 %r15, %r5, 2;" + IN_SHARED),
    Row("load", "shared, 132 bytes apart", SHARED,
        "mul.lo.u32 %r15, %r1, 132;" + IN_SHARED, (32, 8)),
    Row("load", "shared, 128 bytes apart", SHARED, "mul.lo.u32 %r15, %r1, 128;" + IN_SHARED, (32, 8)),
    Row("load", "shared, unknown, lanes in pairs 4 apart", by_lines(SHARED), PAIRS + IN_SHARED),
    Row("load", "shared, unknown, scattered", SHARED, SCATTERED + IN_SHARED, index="random"),
    Row("load", "local, one place, and a store to it", LOCAL, "mov.u32 %r15, 0;"),
    Row("load", "local, scattered, and a store to it", LOCAL, "shl.b32 %r15, %r6, 2;", index="random"),
    Row("store", "uniform", moved("%a0", STORE)),
    Row("store", "contiguous", moved("%a6", STORE), at(4)),
    Row("store", "unknown, contiguous when run", moved("%a6", STORE), at(4, "%r6")),
    Row("store", "8 bytes apart", moved("%a6", STORE), at(8)),
    Row("store", "unknown, scattered", moved("%a6", STORE), at(4, "%r6"), index="random"),
    Row("store", "shared, unknown, contiguous when run", STORE_SHARED, "shl.b32 %r15, %r6, 2;" + IN_SHARED),
    Row("store", "shared, unknown, lanes in pairs 4 apart", by_lines(STORE_SHARED), PAIRS + IN_SHARED),
    Row("store", "shared, unknown, scattered", STORE_SHARED, SCATTERED + IN_SHARED, index="random"),
    Row("store", "scattered bytes", moved("%a6", "st.global.u8 [%a5], %r7;"), at(4, "%r6"), index="random"),
    Row("atomic", "shared, one address", "red.shared.add.u32 [s], 1;"),
    Row("atomic", "shared, 32 addresses", "red.shared.add.u32 [%r15], 1;",
        "shl.b32 %r15, %r6, 2; and.b32 %r15, %r15, 0xFFC;" + IN_SHARED, index="random"),
    Row("atomic", "global, one address", "red.global.add.u32 [%a0], 1;"),
    Row("atomic", "global, 32 addresses", "red.global.add.u32 [%a6], 1;", at(4, "%r6"), index="random"),
    Row("atomic", "global, one address, old value used", f"atom.global.add.u32 %r9, [%a0], 1; {USE}"),
    Row("atomic", "global, one address, f32", "red.global.add.f32 [%a0], 0f3F800000;"),
    *(Row("arithmetic", what, body, times=8) for what, body in {
        "add.f32": "add.f32 %f1, %f1, %f2;",
        "add.ftz.f32": "add.ftz.f32 %f1, %f1, %f2;",
        "fma.rn.f32": "fma.rn.f32 %f1, %f1, %f2, %f2;",
        "add.rz.f32": "add.rz.f32 %f1, %f1, %f2;",
        "div.rn.f32": "div.rn.f32 %f1, %f1, %f2;",
        "div.approx.f32": "div.approx.f32 %f1, %f1, %f2;",
        "rsqrt.approx.f32": "rsqrt.approx.f32 %f1, %f1;",
        "ex2.approx.f32": "neg.f32 %f1, %f1; ex2.approx.f32 %f1, %f1;",
        "sin.approx.f32": "sin.approx.f32 %f1, %f1;",
        "fma.rn.f64": "fma.rn.f64 %fd1, %fd1, %fd2, %fd2;",
        "div.rn.f64": "div.rn.f64 %fd1, %fd1, %fd2;",
        "fma.rn.f16": "fma.rn.f16 %h1, %h1, %h2, %h2;",
        "add.u32, xor.b32": "add.u32 %r10, %r10, %r6; xor.b32 %r10, %r10, %r6;",
        "mul.lo.u32": "mul.lo.u32 %r10, %r10, %r6;",
        "div.u32": "or.b32 %r9, %r6, 3; div.u32 %r9, %r10, %r9; xor.b32 %r10, %r9, %r6;",
    }.items()),
    Row("arithmetic", "fma.rn.f32 of uniform values", "fma.rn.f32 %f5, %f5, %f2, %f2;", "mov.f32 %f5, %f2;",
        epilogue="add.f32 %f1, %f1, %f5;", times=8),
    Row("warp", "shfl.bfly by a constant", f"shfl.sync.bfly.b32 %r10, %r10, 4, 31, -1; {MIX}"),
    Row("warp", "shfl.idx, lane from memory", f"shfl.sync.idx.b32 %r10, %r10, %r6, 31, -1; {MIX}",
        times=8),
    Row("warp", "vote.ballot", "and.b32 %r9, %r10, 1; setp.ne.u32 %p2, %r9, 0; "
        f"vote.sync.ballot.b32 %r9, %p2, -1; add.u32 %r10, %r10, %r9; {MIX}", times=8),
    Row("control", "bar.sync, 1 live value", f"bar.sync 0; {MIX}"),
    Row("control", "bar.sync, 5 live values", f"bar.sync 0; {MIX} fma.rn.f32 %f1, %f1, %f2, %f2; "
        "fma.rn.f32 %f10, %f10, %f2, %f2; fma.rn.f32 %f11, %f11, %f2, %f2; fma.rn.f32 %f12, %f12, %f2, %f2;",
        "mov.f32 %f10, %f1; mov.f32 %f11, %f1; mov.f32 %f12, %f1;",
        epilogue="add.f32 %f1, %f1, %f10; add.f32 %f1, %f1, %f11; add.f32 %f1, %f1, %f12;"),
    Row("control", "call, not inlined", "call (%r10), mix, (%r10);",
        functions=".func (.reg .u32 %d) mix(.reg .u32 %x) { xor.b32 %d, %x, 77; ret; }"),
]  # fmt: skip

CHAINS = ("%f1", "%f10", "%f11", "%f12", "%f13", "%f14")
START = " ".join(f"mov.f32 {chain}, %f1;" for chain in CHAINS[1:])
END = " ".join(f"add.f32 %f1, %f1, {chain};" for chain in CHAINS[1:])
WORK = " ".join(f"fma.rn.f32 {chain}, {chain}, %f2, %f2;" for chain in CHAINS * 6)
OTHER = WORK.replace("%f2, %f2;", "%f2, 0f3F000000;")
LEAVES = "mov.u32 %r9, 0; IN: fma.rn.f32 %f1, %f1, %f2, %f2; add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, "
ONE = "and.b32 %r12, %r6, 31; setp.eq.u32 %p3, %r12, 5; selp.u32 %r12, 32, 1, %p3;"
GATHERS = (
    "mov.u32 %r9, 0; mov.u64 %a5, %a6; IN: ld.global.u32 %r8, [%a5]; xor.b32 %r10, %r10, %r8; "
    "add.u64 %a5, %a5, 4; add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, %r12; @%p2 bra IN;"
)
BRANCHES = [
    *(Row("branch", what, f"{test} @%p2 bra A; {WORK} bra NEXT; A: {OTHER}", START, epilogue=END)
      for what, test in {
        "36 fma on either side, uniform": "and.b32 %r9, %r3, 1; setp.eq.u32 %p2, %r9, 0;",
        "36 fma on either side, lanes part": "and.b32 %r9, %r6, 1; setp.eq.u32 %p2, %r9, 0;",
        "36 fma on either side, lanes could part but do not": "setp.gt.u32 %p2, %r6, 9000;",
    }.items()),
    Row("loop", "32 turns in all lanes", LEAVES + "%r12; @%p2 bra IN;", "shr.u32 %r12, %r0, 6;"),
    Row("loop", "1 to 32 turns, by lane", LEAVES + "%r12; @%p2 bra IN;",
        "and.b32 %r12, %r6, 31; add.u32 %r12, %r12, 1;"),
    Row("loop", "32 turns in one lane, 1 in the others", LEAVES + "%r12; @%p2 bra IN;", ONE),
    Row("loop", "gather, 32 turns in all lanes", GATHERS,
        "shr.u32 %r12, %r0, 6;" + at(4, "%r6"), index="random"),
    Row("loop", "gather, 1 to 32 turns, by lane", GATHERS,
        "and.b32 %r12, %r5, 31; add.u32 %r12, %r12, 1;" + at(4, "%r6"), index="random"),
    Row("loop", "gather, 32 turns in one lane, 1 in the others", GATHERS,
        ONE.replace("%r6", "%r5") + at(4, "%r6"), index="random"),
]  # fmt: skip


ELEMENTS = 1 << 18
SQUARE = """.version 7.4
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u32 n)
{
    .reg .pred %p;
    .reg .b32 %r<6>;
    .reg .f32 %f<2>;
    .reg .b64 %a<3>;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    ld.param.u64 %a1, [x];
    ld.param.u32 %r5, [n];
    setp.ge.u32 %p, %r4, %r5;
    @%p bra DONE;
    mul.wide.u32 %a2, %r4, 4;
    add.u64 %a2, %a2, %a1;
    ld.global.f32 %f1, [%a2];
    fma.rn.f32 %f1, %f1, %f1, %f1;
    st.global.f32 [%a2], %f1;
DONE:
    ret;
}
"""
BLOCKS = (1, 8, 16, 24, 32, 48, 64, 96, 128, 256, 1024)


def blocks(device: simt.Device) -> dict[int, float]:
    """Microseconds to square so many elements, by threads of a CTA."""
    kernel, x = device.load(SQUARE)["k"], device.zeros(ELEMENTS, "f4")
    best = dict.fromkeys(BLOCKS, float("inf"))
    for _ in range(ROUNDS):
        for threads in BLOCKS:
            start = time.process_time()
            kernel((-(-ELEMENTS // threads),), (threads,), (x, ELEMENTS))
            best[threads] = min(best[threads], time.process_time() - start)
    return {threads: found * 1e6 for threads, found in best.items()}


def ptx(row: Row) -> str:
    return KERNEL.format(
        functions=row.functions, prologue=row.prologue, body=row.body * row.times, epilogue=row.epilogue
    )


def indices(kind: str) -> np.ndarray:
    threads = np.arange(1024)
    if kind == "random":
        return np.random.default_rng(1).permutation(8 * 1024)[:1024].astype("u4")
    return (threads if kind == "own" else threads // 32 * 32).astype("u4")


class Timed:
    """A row's kernel, ready to run."""

    def __init__(self, row: Row, device: simt.Device) -> None:
        self.row = row
        self.kernel = device.load(ptx(row))["k"]
        self.arguments = (
            device.zeros(WORDS, "u4"),
            device.zeros(1024, "u4"),
            device.array(indices(row.index)),
        )
        self.best = float("inf")

    def run(self) -> None:
        start = time.process_time()
        self.kernel((CTAS,), self.row.block, (TURNS, *self.arguments))
        self.best = min(self.best, time.process_time() - start)

    @property
    def nanoseconds(self) -> float:
        """Of one turn of one warp."""
        warps = CTAS * self.row.block[0] * self.row.block[1] // 32
        return self.best / (warps * TURNS) * 1e9

    def beyond(self, loop: float) -> float:
        """Nanoseconds of the body once, for a loop that takes `loop` without it."""
        return (self.nanoseconds - loop) / self.row.times


def main(words: list[str]) -> int:
    device = simt.Device("sm_90", workers=1, memory="64MiB")
    rows = [r for r in (*ROWS, *BRANCHES) if not words or any(w in f"{r.group} {r.what}" for w in words)]
    timed = [Timed(row, device) for row in (BASE, ADDRESS, *rows)]
    for _ in range(ROUNDS):
        for each in timed:
            each.run()
    empty, address, *rest = timed
    print(f"{empty.nanoseconds:8.2f}  empty loop (subtracted)")
    print(f"{address.beyond(empty.nanoseconds):8.2f}  moving address of loads and stores (included)")
    for each in rest:
        print(f"{each.beyond(empty.nanoseconds):8.2f}  {each.row.group}: {each.row.what}")
    if not words or "block" in words:
        for threads, found in blocks(device).items():
            print(f"{found:8.0f}  us with {threads} threads a CTA")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
