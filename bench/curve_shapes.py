"""Programs of any size for `compile_curve.py`, each of another shape.

`SHAPES[name](n)` is PTX with one kernel of about `n` instructions, which a compiler cannot shorten much:
results flow on and end in memory.
"""

# ruff: noqa: E501 (PTX reads better unbroken)

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial

HEADER = ".version 8.0\n.target sm_90\n.address_size 64\n"
PROLOGUE = """
ld.param.u64 %rd0, [k_param_0];
ld.param.u32 %r1, [k_param_1];
mov.u32 %r0, %tid.x;
mul.wide.u32 %rd1, %r0, 4;
add.u64 %rd2, %rd0, %rd1;
cvt.rn.f32.u32 %f0, %r0;
cvt.rn.f64.u32 %fd0, %r0;
cvt.u64.u32 %rd3, %r0;
setp.lt.u32 %p0, %r0, 17;
setp.lt.u32 %p1, %r1, 17;
mov.u64 %rd4, depot;
cvt.u32.u64 %r2, %rd1;
mov.u32 %r9, tile;
add.u32 %r2, %r2, %r9;
add.f32 %f1, %f0, 0f3F000000;
add.f32 %f2, %f0, 0f3E000000;
add.f64 %fd1, %fd0, %fd0;
mul.f64 %fd2, %fd0, %fd0;
add.u32 %r3, %r0, 5;
add.u32 %r4, %r0, 9;
add.u64 %rd6, %rd3, 9;
cvt.u16.u32 %h0, %r0;
cvt.u16.u32 %h1, %r3;
"""
"""%rd0: the array. %rd2: its element of this thread. %r0: tid. %r1: a uniform number. %p0 varies, %p1 does
not. %rd4: local memory. %r2: the thread's element of shared memory at %r9."""

REPEATED = {
    "f32": "fma.rn.f32 %f0, %f1, %f0, %f2; fma.rn.f32 %f1, %f2, %f0, %f1; add.f32 %f2, %f0, %f1;",
    "f32_ftz_sat": "fma.rn.ftz.sat.f32 %f0, %f1, %f0, %f2; mul.ftz.f32 %f1, %f2, %f0; add.ftz.sat.f32 %f2, %f0, %f1;",
    "f32_rz": "fma.rz.f32 %f0, %f1, %f0, %f2; mul.rp.f32 %f1, %f2, %f0; add.rm.f32 %f2, %f0, %f1;",
    "f32_div": "div.rn.f32 %f1, %f0, %f2; add.f32 %f0, %f1, %f0; div.rn.f32 %f2, %f0, %f1;",
    "f32_special": "ex2.approx.ftz.f32 %f1, %f0; sin.approx.f32 %f2, %f1; rcp.approx.f32 %f3, %f2; "
    "rsqrt.approx.f32 %f4, %f3; lg2.approx.f32 %f5, %f4; fma.rn.f32 %f0, %f0, %f5, %f1;",
    "f64": "fma.rn.f64 %fd0, %fd1, %fd0, %fd2; fma.rn.f64 %fd1, %fd2, %fd0, %fd1; add.f64 %fd2, %fd0, %fd1;",
    "f64_sqrt": "sqrt.rn.f64 %fd1, %fd0; div.rn.f64 %fd2, %fd1, %fd0; add.f64 %fd0, %fd1, %fd2;",
    "f16": "add.f16 %h1, %h0, %h0; fma.rn.f16 %h0, %h1, %h0, %h1;",
    "f16x2": "fma.rn.f16x2 %r3, %r0, %r0, %r3; add.f16x2 %r0, %r3, %r0;",
    "products": "mul.f32 %f3, %f0, %f1; add.f32 %f0, %f3, %f2; mul.ftz.f32 %f4, %f1, %f0; neg.ftz.f32 %f5, %f4; "
    "sub.ftz.f32 %f1, %f2, %f5; mul.f64 %fd3, %fd0, %fd1; sub.f64 %fd0, %fd3, %fd2; mul.f32 %f6, %f2, %f1; "
    "add.f32 %f7, %f6, %f0; sub.f32 %f2, %f6, %f7;",
    "products_in_ifs": "mul.f32 %f3, %f0, %f1; add.f32 %f0, %f3, %f2; mul.f32 %f4, %f0, %f2; "
    "setp.gt.s32 %p2, %r0, {i}; @%p2 bra L{i}; add.f32 %f1, %f4, %f1; L{i}:",
    "s32": "mad.lo.s32 %r0, %r0, %r3, {i}; lop3.b32 %r3, %r0, %r3, %r1, 150; shf.l.wrap.b32 %r0, %r0, %r3, 7; "
    "shr.s32 %r4, %r0, 5; xor.b32 %r0, %r4, %r0;",
    "s32_div": "div.s32 %r3, %r0, %r4; add.s32 %r0, %r3, {i}; rem.u32 %r4, %r0, %r1;",
    "s16": "mad.lo.s16 %h0, %h0, %h1, {i16}; xor.b16 %h1, %h0, %h1; shr.s16 %h0, %h0, 3;",
    "u64": "mul.wide.u32 %rd5, %r3, %r0; add.u64 %rd6, %rd6, %rd5; cvt.u32.u64 %r3, %rd6; mul.hi.u64 %rd6, %rd6, %rd5;",
    "carry": "add.cc.u32 %r3, %r0, {i}; addc.cc.u32 %r4, %r4, %r3; madc.hi.u32 %r0, %r3, %r4, %r0;",
    "bits": "popc.b32 %r3, %r0; bfe.u32 %r4, %r0, %r3, 5; bfi.b32 %r0, %r4, %r0, 3, %r3; prmt.b32 %r0, %r0, %r4, 0x3210;",
    "convert": "cvt.rzi.s32.f32 %r3, %f0; cvt.rn.f32.s32 %f1, %r3; cvt.rn.f16.f32 %h1, %f1; cvt.f32.f16 %f0, %h1;",
    "uniform": "mad.lo.s32 %r1, %r1, %r1, {i}; xor.b32 %r1, %r1, {i};",
    "predicated": "@%p0 add.f32 %f0, %f0, %f1; setp.gt.f32 %p0, %f0, %f2; @!%p0 mul.f32 %f1, %f0, %f1; "
    "selp.f32 %f2, %f0, %f1, %p0;",
    "memory": "ld.global.f32 %f1, [%rd2+{at}]; add.f32 %f0, %f0, %f1; st.global.f32 [%rd2+{at}], %f0;",
    "memory_indexed": "add.s32 %r3, %r0, {i}; mul.wide.s32 %rd5, %r3, 4; add.s64 %rd6, %rd0, %rd5; "
    "ld.global.f32 %f1, [%rd6]; add.f32 %f0, %f0, %f1; st.global.f32 [%rd6], %f0;",
    "memory_vectors": "ld.global.v4.f32 {{%f1, %f2, %f3, %f4}}, [%rd0+{at}]; fma.rn.f32 %f0, %f1, %f2, %f0; "
    "fma.rn.f32 %f0, %f3, %f4, %f0; mul.wide.u32 %rd5, %r0, 8; add.u64 %rd6, %rd0, %rd5; "
    "st.global.v2.f32 [%rd6+{at}], {{%f0, %f1}};",
    "gather": "mul.wide.u32 %rd5, %r0, 4; add.u64 %rd6, %rd0, %rd5; ld.global.u32 %r0, [%rd6];",
    "gather_u8": "add.u64 %rd6, %rd0, %rd3; ld.global.u8 %r0, [%rd6]; cvt.u64.u32 %rd3, %r0;",
    "scatter": "mad.lo.s32 %r0, %r0, %r0, {i}; mul.wide.u32 %rd5, %r0, 4; add.u64 %rd6, %rd0, %rd5; "
    "st.global.u32 [%rd6], %r0;",
    "loads_uniform": "ld.global.f32 %f1, [%rd0+{at}]; fma.rn.f32 %f0, %f0, %f1, %f1;",
    "shared": "ld.shared.f32 %f1, [%r2+{near}]; fma.rn.f32 %f0, %f0, %f1, %f1; st.shared.f32 [%r2+{near}], %f0;",
    "shared_gather": "ld.shared.u32 %r0, [%r3]; and.b32 %r0, %r0, 1020; add.u32 %r3, %r9, %r0;",
    "sgemm": "ld.shared.f32 %f1, [%r2+{near}]; ld.shared.f32 %f2, [%r9+{near}]; fma.rn.f32 %f0, %f1, %f2, %f0;",
    "local": "st.local.f32 [%rd4+{near}], %f0; ld.local.f32 %f1, [%rd4+{near}]; add.f32 %f0, %f0, %f1;",
    "atomics": "atom.global.add.u32 %r3, [%rd2+{at}], %r0; add.u32 %r0, %r0, %r3;",
    "atomics_shared": "red.shared.add.u32 [%r2+{near}], %r0; add.u32 %r0, %r0, %r1;",
    "shuffle": "shfl.sync.bfly.b32 %r3, %r0, 4, 31, -1; add.u32 %r0, %r0, %r3; shfl.sync.idx.b32 %r4, %r3, %r0, 31, -1; "
    "vote.sync.ballot.b32 %r5, %p0, -1; add.u32 %r0, %r5, %r4;",
    "barriers": "st.shared.f32 [%r2], %f0; bar.sync 0; ld.shared.f32 %f1, [%r2+4]; add.f32 %f0, %f0, %f1; bar.sync 0;",
    "calls": "{{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r0; call.uni (b), called, (a); "
    "ld.param.b32 %r0, [b]; }} add.s32 %r0, %r0, {i};",
    "ifs_divergent": "setp.gt.s32 %p2, %r0, {i}; @%p2 bra L{i}; add.s32 %r0, %r0, {i}; xor.b32 %r0, %r0, %r1; L{i}:",
    "ifs_uniform": "setp.gt.s32 %p2, %r1, {i}; @%p2 bra L{i}; add.s32 %r0, %r0, {i}; xor.b32 %r1, %r1, {i}; L{i}:",
    "if_else": "setp.gt.s32 %p2, %r0, {i}; @%p2 bra L{i}; add.s32 %r0, %r0, {i}; bra.uni M{i}; L{i}: "
    "mul.lo.s32 %r0, %r0, 3; M{i}:",
    "if_memory": "setp.gt.s32 %p2, %r0, {i}; @%p2 bra L{i}; ld.global.u32 %r3, [%rd2+{at}]; add.s32 %r0, %r0, %r3; L{i}:",
    "early_exits": "setp.eq.s32 %p2, %r0, {i}; @%p2 bra DONE; mad.lo.s32 %r0, %r0, %r0, {i};",
    "loops": "mov.u32 %r3, %r1; L{i}: mad.lo.s32 %r0, %r0, %r0, {i}; add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 7; "
    "@%p2 bra L{i};",
    "loops_divergent": "mov.u32 %r3, %r0; L{i}: mad.lo.s32 %r0, %r0, %r0, {i}; add.u32 %r3, %r3, 1; "
    "setp.lt.u32 %p2, %r3, 7; @%p2 bra L{i};",
}  # fmt: skip
"""Shapes that repeat a piece. `{i}` is its number, `{at}` and `{near}` a byte offset. `products` are fused with
sums: they name no rounding."""

END = """
DONE: st.global.u32 [%rd2], %r0; st.global.f32 [%rd2+128], %f0; st.global.f64 [%rd0], %fd0;
st.global.u64 [%rd0+8], %rd6; st.global.b16 [%rd0+16], %h0; st.global.u32 [%rd2+256], %r1;
"""
CALLED = """
.func (.param .b32 r) called(.param .b32 x)
{ .reg .b32 %r<4>; ld.param.b32 %r1, [x]; mad.lo.s32 %r2, %r1, %r1, 5; xor.b32 %r3, %r2, %r1;
st.param.b32 [r], %r3; ret; }
"""


def kernel(body: str, registers: int, functions: str = CALLED) -> str:
    """A module with one kernel."""
    kinds = (".pred %p", ".b16 %h", ".b32 %r", ".b64 %rd", ".f32 %f", ".f64 %fd")
    declared = "".join(f".reg {kind}<{registers}>;\n" for kind in kinds)
    return (
        f"{HEADER}{functions}\n.visible .entry k(.param .u64 k_param_0, .param .u32 k_param_1)\n{{\n"
        f"{declared}.local .align 16 .b8 depot[256];\n.shared .align 16 .b8 tile[8192];\n"
        f"{PROLOGUE}{body}{END}ret;\n}}\n"
    )


def repeated(piece: str, count: int, first: str = "") -> str:
    """`piece` as often as gives `count` instructions, after what comes `first`."""
    times = count // piece.count(";")
    pieces = (piece.format(i=i, i16=i % 1000, at=128 * i, near=4 * (i % 32)) for i in range(times))
    return kernel("\n".join((first, *pieces)).replace("; ", ";\n"), 16)


SHAPES: dict[str, Callable[[int], str]] = {name: partial(repeated, piece) for name, piece in REPEATED.items()}

LOADED_INDEX = "ld.global.u32 %r3, [%rd2]; mul.wide.u32 %rd5, %r3, 4; add.u64 %rd6, %rd0, %rd5;"
"""%rd6: an element that nothing is known of."""
GUARDED = "@%p0 ld.global.f32 %f1, [%rd6+{at}]; add.f32 %f0, %f0, %f1; @%p0 st.global.f32 [%rd6+{at}], %f0;"
SHAPES["memory_guarded"] = lambda count: repeated(GUARDED, count, LOADED_INDEX)

MIXED = (
    "f32", "f32_ftz_sat", "f32_rz", "f32_div", "f32_special", "f64", "f64_sqrt", "f16", "f16x2", "s32",
    "s32_div", "s16", "u64", "carry", "bits", "convert", "predicated", "shuffle",
)  # fmt: skip
SHAPES["mixed"] = lambda count: repeated(" ".join(REPEATED[name] for name in MIXED), count)
"""All kinds of arithmetic in turn."""


def shape(make: Callable[[int], Iterator[str]]) -> Callable[[int], Iterator[str]]:
    """Registers a function that gives the lines of a kernel's body."""
    SHAPES[make.__name__] = lambda count: kernel("\n".join(make(count)), count + 16)
    return make


@shape
def chain(count: int) -> Iterator[str]:
    """Each instruction needs the one before; every register is its own."""
    yield from (f"fma.rn.f32 %f{i}, %f{i - 1}, %f{i - 1}, %f{i - 1};" for i in range(1, count))
    yield f"mov.f32 %f0, %f{count - 1};"


@shape
def products_over_blocks(count: int) -> Iterator[str]:
    """Products with a constant, each part of two sums in blocks far behind it."""
    part = count // 5
    yield from (f"mul.f32 %f{i + 16}, %f1, 0f{0x3F000000 + i:08X};" for i in range(part))
    for i in range(part):
        yield f"setp.gt.s32 %p2, %r0, {i}; @%p2 bra L{i}; add.f32 %f0, %f0, %f{i + 16};"
        yield f"L{i}: sub.f32 %f2, %f{i + 16}, %f2;"


@shape
def live(count: int) -> Iterator[str]:
    """Half as many registers as instructions are alive at once."""
    yield from (f"mul.f32 %f{i}, %f{i - 1}, %f0;" for i in range(1, count // 2))
    yield from (f"add.f32 %f0, %f0, %f{i};" for i in range(1, count // 2))


def _live_over(count: int, *between: str) -> Iterator[str]:
    part = count // 3
    yield from (f"mul.f32 %f{i}, %f{i - 1}, %f0;" for i in range(1, part))
    yield between[0]
    yield from (f"add.f32 %f{i}, %f{i}, %f0;" for i in range(1, part))
    yield between[1]
    yield from (f"add.f32 %f0, %f0, %f{i};" for i in range(1, part))


@shape
def live_over_branch(count: int) -> Iterator[str]:
    """A third is alive over a divergent branch around code that changes it."""
    yield from _live_over(count, "@%p0 bra L;", "L:")


@shape
def live_over_barriers(count: int) -> Iterator[str]:
    """A third is alive over two barriers."""
    yield from _live_over(count, "bar.sync 0;", "bar.sync 0;")


def _nested(count: int, condition: str) -> Iterator[str]:
    depth = count // 5
    for i in range(depth):
        yield f"setp.{condition}, {i}; @%p2 bra L{i}; add.s32 %r0, %r0, %r1;"
    for i in reversed(range(depth)):
        yield f"xor.b32 %r0, %r0, {i}; add.s32 %r1, %r1, 3; L{i}:"


@shape
def nested_ifs(count: int) -> Iterator[str]:
    yield from _nested(count, "gt.s32 %p2, %r0")


@shape
def nested_ifs_uniform(count: int) -> Iterator[str]:
    yield from _nested(count, "gt.s32 %p2, %r1")


def _nested_loops(count: int, start: str) -> Iterator[str]:
    depth = count // 5
    for i in range(depth):
        yield f"mov.u32 %r{i + 16}, {start}; L{i}: add.s32 %r0, %r0, {i};"
    for i in reversed(range(depth)):
        yield f"add.u32 %r{i + 16}, %r{i + 16}, 1; setp.lt.u32 %p2, %r{i + 16}, 9; @%p2 bra L{i};"


@shape
def nested_loops(count: int) -> Iterator[str]:
    yield from _nested_loops(count, "0")


@shape
def nested_loops_divergent(count: int) -> Iterator[str]:
    yield from _nested_loops(count, "%tid.x")


def _switch(count: int, index: str) -> Iterator[str]:
    cases = count // 4
    yield f"rem.u32 %r3, {index}, {cases};"
    yield f"T: .branchtargets {', '.join(f'C{i}' for i in range(cases))};"
    yield "brx.idx %r3, T;"
    for i in range(cases):
        yield f"C{i}: mad.lo.s32 %r0, %r0, %r1, {i}; xor.b32 %r0, %r0, %r1; add.f32 %f0, %f0, %f1; bra.uni DONE;"


@shape
def switch(count: int) -> Iterator[str]:
    yield from _switch(count, "%r0")


@shape
def switch_uniform(count: int) -> Iterator[str]:
    yield from _switch(count, "%r1")


def _compares(count: int, index: str) -> Iterator[str]:
    """A switch as a line of compares, the cases after it."""
    cases = count // 5
    for i in range(cases):
        yield f"setp.eq.u32 %p2, {index}, {i}; @%p2 bra C{i};"
    yield "bra.uni DONE;"
    for i in range(cases):
        yield f"C{i}: mad.lo.s32 %r0, %r0, %r1, {i}; xor.b32 %r0, %r0, %r1; bra.uni DONE;"


@shape
def compares(count: int) -> Iterator[str]:
    yield from _compares(count, "%r0")


@shape
def compares_uniform(count: int) -> Iterator[str]:
    yield from _compares(count, "%r1")


@shape
def state_machine(count: int) -> Iterator[str]:
    """A loop around a switch, as an interpreter of byte code."""
    cases = count // 5
    yield f"T: .branchtargets {', '.join(f'C{i}' for i in range(cases))};"
    yield f"NEXT: rem.u32 %r3, %r0, {cases}; setp.gt.u32 %p2, %r3, {cases - 3}; @%p2 bra DONE; brx.idx %r3, T;"
    for i in range(cases):
        yield f"C{i}: mad.lo.s32 %r0, %r0, %r1, {i}; xor.b32 %r0, %r0, %r1; ld.global.f32 %f1, [%rd2+{4 * i}];"
        yield "add.f32 %f0, %f0, %f1; bra.uni NEXT;"


@shape
def tangle(count: int) -> Iterator[str]:
    """Branches to anywhere nearby: irreducible control flow."""
    random.seed(1)
    labels = count // 5
    for i in range(labels):
        target = max(0, min(labels - 1, i + random.randint(-8, 12)))
        yield f"L{i}: mad.lo.s32 %r0, %r0, %r1, {i}; add.s32 %r4, %r4, 1; setp.gt.u32 %p3, %r4, 9999;"
        yield f"setp.gt.s32 %p2, %r0, %r1; @%p2 bra L{target};"


SHAPES["functions"] = lambda count: kernel(
    "\n".join(
        f"{{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r0; call.uni (b), f{i}, (a); ld.param.b32 %r0, [b]; }}"
        for i in range(count // 20)
    ),
    16,
    "\n".join(
        f".func (.param .b32 r) f{i}(.param .b32 x)\n{{ .reg .b32 %r<32>; ld.param.b32 %r1, [x];\n"
        + "\n".join(f"mad.lo.s32 %r{j + 2}, %r{j + 1}, %r{j + 1}, {i + j};" for j in range(14))
        + "\nst.param.b32 [r], %r15; ret; }"
        for i in range(count // 20)
    ),
)
"""As many functions as there are calls, each of 17 instructions."""
