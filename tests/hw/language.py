"""Programs in PTX 1.x whose meaning is a matter of the language rather than of one instruction: for the
recorder and for the test of what it recorded.

Every kernel is `k (in, out)`: thread `i` reads the 8-byte words `in[i]` and writes a row of `WIDTH` words.
"""

from __future__ import annotations

import struct
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

RECORDED = Path(__file__).parent / "vectors" / "language.npz"
"""Rows by program; `shapes`: 1 for each of `SHAPES` that a launch was allowed to have."""
LANES = 256
WORDS = 3
WIDTH = 24

REGISTERS = """
    .reg .u64 %in, %out, %i, %w<3>, %x<4>; .reg .b16 %h<6>, %g<4>; .reg .u32 %r<4>, %lane; .reg .f32 %f<4>;
    .reg .f64 %d<6>; .reg .pred %p;
"""

PROLOGUE = f"""
    cvt.u32.u16 %lane, %tid.x;
    cvt.u64.u32 %i, %lane;
    mul.lo.u64 %x0, %i, {8 * WORDS};
    ld.param.u64 %in, [in];
    add.u64 %in, %in, %x0;
    mul.lo.u64 %x0, %i, {8 * WIDTH};
    ld.param.u64 %out, [out];
    add.u64 %out, %out, %x0;
    ld.global.u64 %w0, [%in];
    ld.global.u64 %w1, [%in+8];
    ld.global.u64 %w2, [%in+16];
"""


def program(version: str, target: str, lines: list[str]) -> str:
    """A module with a kernel. In the lines, `=` at the start stores a register in the next word."""
    found: list[str] = []
    for place, line in enumerate_stores(lines):
        found.append(line if place is None else store(line[1:].strip(), place))
    listed = version >= "1.4"
    head = "(.param .u64 in, .param .u64 out)" if listed else ""
    inside = "" if listed else "    .param .u64 in; .param .u64 out;\n"
    body = "\n    ".join(found)
    return (
        f".version {version}\n.target {target}\n.entry k {head}\n{{\n{inside}{REGISTERS}{PROLOGUE}"
        f"    {body}\n    exit;\n}}\n"
    )


def enumerate_stores(lines: list[str]) -> list[tuple[int | None, str]]:
    places = iter(range(WIDTH))
    return [(next(places) if line.startswith("=") else None, line) for line in lines]


STORES = {
    "%h": "cvt.u64.u16 %x0, {};",
    "%g": "cvt.s64.s16 %x0, {};",
    "%r": "cvt.u64.u32 %x0, {};",
    "%f": "mov.b32 %r3, {}; cvt.u64.u32 %x0, %r3;",
    "%d": "mov.b64 %x0, {};",
    "%x": "mov.u64 %x0, {};",
}
"""How a register gets into a word, by the first two characters of its name."""


def store(register: str, place: int) -> str:
    return STORES[register[:2]].format(register) + f" st.global.u64 [%out+{8 * place}], %x0;"


HALVES = [
    "cvt.u16.u64 %h0, %w0;", "cvt.u16.u64 %h1, %w1;", "cvt.u16.u64 %h2, %w2;",
    "add.u16 %h3, %h0, %h1;", "shr.u16 %h4, %h3, 1;", "=%h4",
    "shr.s16 %g0, %h3, 1;", "=%g0",
    "sub.u16 %h3, %h0, %h1;", "shr.u16 %h4, %h3, 4;", "=%h4",
    "mul.lo.u16 %h3, %h0, %h1;", "shr.u16 %h4, %h3, 3;", "=%h4",
    "mad.lo.s16 %h3, %h0, %h1, %h2;", "shr.s16 %g0, %h3, 2;", "=%g0",
    "shl.b16 %h3, %h0, 5;", "shr.u16 %h4, %h3, 5;", "=%h4",
    "not.b16 %h3, %h0;", "shr.u16 %h4, %h3, 1;", "=%h4",
    "neg.s16 %h3, %h0;", "shr.u16 %h4, %h3, 1;", "=%h4",
    "add.u16 %h3, %h0, %h1;", "cvt.u32.u16 %r0, %h3;", "=%r0",
    "cvt.s32.s16 %r0, %h3;", "=%r0",
    "min.u16 %h4, %h3, %h2;", "=%h4", "max.s16 %g0, %h3, %h2;", "=%g0",
    "or.b16 %h5, %h2, 1;", "div.u16 %h4, %h3, %h5;", "=%h4", "rem.s16 %g0, %h3, %h5;", "=%g0",
    "setp.lt.u16 %p, %h3, %h2;", "selp.u32 %r0, 1, 0, %p;", "=%r0",
    "setp.gt.s16 %p, %h3, %h2;", "selp.u32 %r0, 1, 0, %p;", "=%r0",
    "mul.wide.u16 %r0, %h3, %h2;", "=%r0", "mul.wide.s16 %r0, %h3, %h2;", "=%r0",
    "sad.u16 %h4, %h3, %h2, %h1;", "shr.u16 %h4, %h4, 1;", "=%h4",
    "mul.hi.u16 %h4, %h3, %h2;", "=%h4",
    "abs.s16 %h4, %h3;", "shr.u16 %h4, %h4, 1;", "=%h4",
    "cvt.rn.f32.u16 %f0, %h3;", "=%f0",
]  # fmt: skip
"""16-bit results that later instructions look at: section 7.6.1."""

MAPPED = [
    "mov.b64 %d0, %w0;", "mov.b64 %d1, %w1;", "mov.b64 %d2, %w2;",
    "add.f64 %d3, %d0, %d1;", "=%d3", "sub.f64 %d3, %d0, %d1;", "=%d3", "mul.f64 %d3, %d0, %d1;", "=%d3",
    "mad.rn.f64 %d3, %d0, %d1, %d2;", "=%d3", "div.rn.f64 %d3, %d0, %d1;", "=%d3",
    "sqrt.rn.f64 %d3, %d0;", "=%d3", "abs.f64 %d3, %d0;", "=%d3", "neg.f64 %d3, %d0;", "=%d3",
    "min.f64 %d3, %d0, %d1;", "=%d3", "max.f64 %d3, %d0, %d1;", "=%d3",
    "setp.lt.f64 %p, %d0, %d1;", "selp.f64 %d3, %d0, %d1, %p;", "=%d3",
    "cvt.rn.f32.f64 %f0, %d0;", "=%f0", "mov.b32 %f1, %lane;", "cvt.u32.u64 %r0, %w1;",
    "mov.b32 %f1, %r0;", "cvt.f64.f32 %d3, %f1;", "=%d3", "cvt.rzi.s32.f64 %r0, %d0;", "=%r0",
    "cvt.rn.f64.u32 %d3, %r0;", "=%d3", "mov.f64 %d3, 0d3FF8000000000000;", "=%d3",
    "add.f64 %d3, %d0, 0d3FF8000000000000;", "=%d3", "ld.global.f64 %d3, [%in];", "=%d3",
]  # fmt: skip
"""Double precision under `map_f64_to_f32` (table 107)."""

DOUBLES = [
    ".local .f64 %kept;", ".shared .f64 %shared[256];", "cvt.u32.u64 %r0, %w1;", "mov.b32 %f0, %r0;",
    "ld.global.f64 %d0, [%in];", "ld.global.f64 %d1, [%in+8];", "mov.b64 %d2, %w2;",
    "add.f64 %d3, %d0, %d1;", "=%d3", "sub.rz.f64 %d3, %d0, %d1;", "=%d3",
    "mul.rn.f64 %d3, %d0, %d1;", "=%d3", "mad.{rn}f64 %d3, %d0, %d1, %d2;", "=%d3",
    "div.{rn}f64 %d3, %d0, %d1;", "=%d3",
    "sqrt.{rn}f64 %d3, %d2;", "=%d3", "abs.f64 %d3, %d0;", "=%d3", "neg.f64 %d3, %d0;", "=%d3",
    "min.f64 %d3, %d0, %d1;", "=%d3", "max.f64 %d3, %d0, %d1;", "=%d3",
    "setp.lt.f64 %p, %d0, %d1;", "selp.f64 %d3, %d0, %d1, %p;", "=%d3",
    "set.gtu.u32.f64 %r1, %d0, %d1;", "=%r1", "slct.f64.s32 %d3, %d0, %d1, %r0;", "=%d3",
    "cvt.rz.f32.f64 %f1, %d0;", "=%f1", "cvt.f64.f32 %d3, %f0;", "=%d3", "cvt.rzi.s32.f64 %r1, %d0;", "=%r1",
    "cvt.rn.f64.u64 %d3, %w1;", "=%d3", "cvt.rmi.f64.f64 %d3, %d0;", "=%d3",
    "mov.f64 %d3, 0d7FF4000000000001;", "=%d3", "add.f64 %d3, %d1, 0d3FF8000000000000;", "=%d3",
    "st.local.f64 [%kept], %d0;", "ld.local.f64 %d3, [%kept];", "=%d3",
    "mul.lo.u32 %r2, %lane, 8;", "mov.u32 %r1, %shared;", "add.u32 %r1, %r1, %r2;",
    "cvt.u64.u32 %x1, %r1;", "st.shared.f64 [%x1], %d1;", "ld.shared.f64 %d3, [%x1];", "=%d3",
    "ld.param.f64 %d3, [in];", "ld.param.u64 %x2, [in];", "mov.b64 %x1, %d3;", "sub.u64 %x1, %x1, %x2;",
    "=%x1", "st.global.f64 [%out+184], %d1;",
]  # fmt: skip
"""Double precision for a target that has none, without `map_f64_to_f32`: table 107 forbids it."""


def doubles(version: str) -> list[str]:
    """The lines of a version: up to 1.3 these three say no rounding (tables 42, 43 and 49)."""
    return [line.replace("{rn}", "rn." if version >= "1.4" else "") for line in DOUBLES]


CONVERSIONS = [
    "cvt.u32.u64 %r0, %w0;", "mov.b32 %f0, %r0;", "mov.b64 %d0, %w0;",
    "cvt.f64.f32 %d1, %f0;", "=%d1", "cvt.rn.f32.f64 %f1, %d0;", "=%f1",
    "cvt.rz.f32.f64 %f1, %d0;", "=%f1",
    "cvt.rpi.s64.f32 %x1, %f0;", "=%x1", "cvt.rmi.s64.f32 %x1, %f0;", "=%x1",
    "cvt.rpi.s32.f32 %r1, %f0;", "=%r1", "cvt.rmi.s32.f32 %r1, %f0;", "=%r1",
    "cvt.rpi.f32.f32 %f1, %f0;", "=%f1", "cvt.f32.f32 %f1, %f0;", "=%f1", "cvt.sat.f32.f32 %f1, %f0;", "=%f1",
    "cvt.rpi.f64.f64 %d1, %d0;", "=%d1", "cvt.sat.f64.f32 %d1, %f0;", "=%d1",
    "cvt.rn.sat.f32.f64 %f1, %d0;", "=%f1", "cvt.rn.f32.u64 %f1, %w1;", "=%f1",
]  # fmt: skip
"""Conversions of subnormals with a 64-bit side: the erratum of section 10.1.2."""

PARTS = [
    "cvt.u32.u64 %r0, %w0;", "cvt.u16.u64 %h0, %w1;", "mov.b32 %f0, %r0;", "mov.b64 %d0, %w2;",
    "mov.v2.u32 {%r1, %r2}, %r0;", "=%r1", "=%r2", "mov.v4.b32 {%r1, _, %r2, _}, %r0;", "=%r1", "=%r2",
    "mov.v4.u32 {_, %r1, _, %r2}, %r0;", "=%r1", "=%r2", "mov.v2.b16 {%h1, %h2}, %h0;", "=%h1", "=%h2",
    "mov.v2.u64 {%x1, %x2}, %w0;", "=%x1", "=%x2", "mov.v2.f32 {%f1, %f2}, %f0;", "=%f1", "=%f2",
    "mov.v2.f64 {%d1, %d2}, %d0;", "=%d1", "=%d2", "mov.v2.s32 {%r1, %r2}, 0x89ABCDEF;", "=%r1", "=%r2",
    "ld.global.v2.f32 {%r1, %r2}, [%in];", "=%r1", "=%r2", "ld.global.f32 {%r1}, [%in+4];", "=%r1",
]  # fmt: skip
"""What ptxas takes beyond the text: scalars and integer registers in moves and loads of vectors."""

HALVED = ("mov.v2.u32", "mov.v2.b16", "mov.v2.f32", "mov.v2.s32")
"""Those that simt refuses: vectors of less than 128 bits."""

ATOMICS = [
    "cvt.u32.u64 %r0, %w0;", "cvt.u32.u64 %r1, %w1;", "cvt.u32.u64 %r2, %w2;",
    "st.global.u32 [%out+184], %r0;",
    "atom.global.and.b32 %r3, [%out+184], %r1, %r2;", "=%r3", "ld.global.u32 %r3, [%out+184];", "=%r3",
    "atom.global.or.b32 %r3, [%out+184], %r2, %r1;", "=%r3", "ld.global.u32 %r3, [%out+184];", "=%r3",
    "atom.global.xor.b32 %r3, [%out+184], %r1, %r2;", "=%r3", "ld.global.u32 %r3, [%out+184];", "=%r3",
    "atom.global.exch.b32 %r3, [%out+184], %r1, %r2;", "=%r3", "ld.global.u32 %r3, [%out+184];", "=%r3",
]  # fmt: skip
"""Bitwise atomics with a third source, which ptxas takes and puts into the descriptor of the memory."""

LINES = {
    "halves": HALVES, "halves 1.0": HALVES, "mapped": MAPPED, "conversions 1.2": CONVERSIONS,
    "conversions 1.3": CONVERSIONS, "conversions 1.4": CONVERSIONS, "conversions 1.5": CONVERSIONS,
    "conversions 2.0": CONVERSIONS, "atomics": ATOMICS,
    **{f"doubles {version}": doubles(version) for version in ("1.0", "1.2", "1.4")},
}  # fmt: skip
TARGETS = {
    "mapped": "sm_10, map_f64_to_f32", "halves": "sm_10", "halves 1.0": "sm_10", "doubles 1.0": "sm_10",
    "doubles 1.2": "sm_12", "doubles 1.4": "sm_10",
}  # fmt: skip
PROGRAMS = {
    name: program(name[-3:] if name[-1].isdigit() else "1.4", TARGETS.get(name, "sm_13"), lines)
    for name, lines in LINES.items()
}

REFUSED = {"parts": program("1.4", "sm_13", PARTS)}
"""Recorded like the others; simt takes the lines that are not `HALVED`."""

LIMITED = """
.version 1.4
.target sm_10
.entry k (.param .u64 in, .param .u64 out) .maxntid 16, 8, 2 { exit; }
"""
SHAPES = [(16, 8, 2), (8, 8, 2), (32, 1, 1), (256, 1, 1), (257, 1, 1), (1, 16, 1), (1, 1, 4), (16, 8, 3)]
"""Shapes of CTAs for a kernel with `.maxntid` (table 99)."""

SPECIAL = (
    0.0,
    1.0,
    1.5,
    -2.25,
    1e-40,
    -3e-39,
    1e-45,
    2**-126,
    3.0e38,
    float("inf"),
    float("nan"),
    1e300,
    5e-324,
)


def inputs() -> NDArray[np.uint64]:
    """Words for all threads: floats and doubles of all sizes, 16-bit numbers, random bits."""
    random = Random(1964)
    return np.array([[_word(random) for _ in range(WORDS)] for _ in range(LANES)], np.uint64)


def _word(random: Random) -> int:
    kind = random.randrange(4)
    if kind == 0:  # a float in the lower half
        value = random.choice(SPECIAL[:11])
        return struct.unpack("<I", struct.pack("<f", value))[0] | random.getrandbits(32) << 32
    if kind == 1:
        return struct.unpack("<Q", struct.pack("<d", random.choice(SPECIAL)))[0]
    if kind == 2:  # whose float is subnormal, or nearly
        return random.getrandbits(52) | (0x3FF - 127 - random.randrange(-2, 26)) << 52
    return random.getrandbits(64)
