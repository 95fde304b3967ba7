"""Kernels whose products and sums name no rounding: what the recorder runs and the tests replay.

Each shows one edge of the choice that ptxas makes (decision 23), in every floating-point type; random ones
follow.
"""

from __future__ import annotations

import functools
import random
import re
from dataclasses import dataclass

import numpy as np

from simt.ptx.types import TYPES
from tests.unit.isa.meaning import Array

LANES = 256
OPERANDS = "abcdef"
OUTPUTS = 3
RANDOM = 30
"""Random kernels of each type."""

SUFFIXES = {
    "f32": ".f32", "f32.ftz": ".ftz.f32", "f64": ".f64", "f16": ".f16", "f16.ftz": ".ftz.f16",
    "f16x2": ".f16x2", "bf16": ".bf16", "bf16x2": ".bf16x2",
}  # fmt: skip
"""What follows the opcodes, by the name of a type here."""

EDGES = {
    "sum": "mul %u, %a, %b; add %v, %u, %c; out0 %v;",
    "sum, product second": "mul %u, %a, %b; add %v, %c, %u; out0 %v;",
    "product less": "mul %u, %a, %b; sub %v, %u, %c; out0 %v;",
    "less product": "mul %u, %a, %b; sub %v, %c, %u; out0 %v;",
    "rounded product": "mul.rn %u, %a, %b; add %v, %u, %c; out0 %v;",
    "rounded sum": "mul %u, %a, %b; add.rn %v, %u, %c; out0 %v;",
    "saturated sum": "mul %u, %a, %b; add.sat %v, %u, %c; out0 %v;",
    "saturated difference": "mul %u, %a, %b; sub.sat %v, %c, %u; out0 %v;",
    "saturated product": "mul.sat %u, %a, %b; add %v, %u, %c; out0 %v;",
    "product seen": "mul %u, %a, %b; add %v, %u, %c; out0 %v; out1 %u;",
    "two sums": "mul %u, %a, %b; add %v, %u, %c; sub %w, %d, %u; out0 %v; out1 %w;",
    "two sums, one rounded": "mul %u, %a, %b; add %v, %u, %c; add.rn %w, %u, %d; out0 %v; out1 %w;",
    "sum and addend": "mul %u, %a, %b; add %v, %u, %c; fma.rn %w, %d, %e, %u; out0 %v; out1 %w;",
    "unread use": "mul %u, %a, %b; add %v, %u, %c; mul %w, %u, %d; out0 %v;",
    "unread sum": "mul %u, %a, %b; add %v, %u, %c; mul %w, %u, %d; out0 %w;",
    "twice the product": "mul %u, %a, %b; add %v, %u, %u; out0 %v;",
    "product less itself": "mul %u, %a, %b; sub %v, %u, %u; out0 %v;",
    "equal products": "mul %u, %a, %b; mul %w, %b, %a; add %v, %u, %w; out0 %v;",
    "equal products apart": "mul %u, %a, %b; mul %w, %b, %a; sub %v, %u, %w; out0 %v;",
    "equal products, one in a sum": (
        "mul %u, %a, %b; mul %w, %a, %b; add %v, %u, %w; add %s, %u, %e; out0 %v; out1 %s;"
    ),
    "equal product seen": "mul %u, %a, %b; mul %w, %a, %b; add %v, %u, %c; out0 %v; out1 %w;",
    "two products": "mul %u, %a, %b; mul %w, %c, %d; add %v, %u, %w; out0 %v;",
    "two products, later first": "mul %u, %a, %b; mul %w, %c, %d; add %v, %w, %u; out0 %v;",
    "two products apart": "mul %u, %a, %b; mul %w, %c, %d; sub %v, %u, %w; out0 %v;",
    "two products, first seen": "mul %u, %a, %b; mul %w, %c, %d; add %v, %u, %w; out0 %v; out1 %u;",
    "two products, first in two sums": (
        "mul %u, %a, %b; mul %w, %c, %d; add %s, %u, %e; add %v, %u, %w; out0 %v; out1 %s;"
    ),
    "two products, second in two sums": (
        "mul %u, %a, %b; mul %w, %c, %d; add %v, %u, %w; add %s, %w, %e; out0 %v; out1 %s;"
    ),
    "sum and difference": (
        "mul %u, %a, %b; mul %w, %c, %d; add %v, %u, %w; sub %s, %w, %u; out0 %v; out1 %s;"
    ),
    "three products in a ring": (
        "mul %u, %a, %b; mul %w, %c, %d; mul %x, %e, %f; add %v, %u, %w; add %s, %w, %x; add %t, %x, %u;"
        "out0 %v; out1 %s; out2 %t;"
    ),
    "polynomial": "mul %u, %a, %b; add %v, %u, %c; mul %w, %v, %a; add %s, %w, %d; out0 %s;",
    "sum with its product": "mul %u, %a, %b; add %v, %u, %c; sub %s, %v, %u; out0 %s;",
    "copied": "mul %u, %a, %b; mov %w, %u; add %v, %w, %c; out0 %v;",
    "copied and seen": "mul %u, %a, %b; mov %w, %u; add %v, %w, %c; out0 %v; out1 %u;",
    "copy in another sum": "mul %u, %a, %b; mov %w, %u; add %v, %w, %c; sub %s, %u, %d; out0 %v; out1 %s;",
    "operands change": "mul %u, %a, %b; mov %a, %c; add %v, %u, %a; out0 %v;",
    "over its operand": "mul %a, %a, %b; sub %v, %c, %a; out0 %v;",
    "in place": "mul %u, %a, %b; add %u, %u, %c; mul %u, %u, %d; sub %u, %u, %e; out0 %u;",
    "guarded sum": "mul %u, %a, %b; @%p add %c, %u, %c; out0 %c;",
    "guarded product": "mov %u, %e; @%p mul %u, %a, %b; add %v, %u, %c; out0 %v;",
    "product under another": "mul %u, %a, %b; @%p mul %u, %c, %d; add %v, %u, %e; out0 %v;",
    "sums under both guards": "mov %v, %f; mul %u, %a, %b; @%p add %v, %u, %c; @!%p sub %v, %u, %d; out0 %v;",
    "guarded store between": "mul %u, %a, %b; @%p out1 %d; add %v, %u, %c; out0 %v;",
    "store between": "mul %u, %a, %b; out1 %d; add %v, %u, %c; out0 %v;",
    "fence between": "mul %u, %a, %b; membar.gl; add %v, %u, %c; out0 %v;",
    "barrier between": "mul %u, %a, %b; bar.sync 0; add %v, %u, %c; out0 %v;",
    "division between": (
        "mul %u, %a, %b; div.u64 %r, %r, %n; add %v, %u, %c; out0 %v; st.global.u64 [%o+4096], %r;"
    ),
    "division of 32 bits between": (
        "mul %u, %a, %b; div.u32 %m, %m, %l; add %v, %u, %c; out0 %v; st.global.u32 [%o+4096], %m;"
    ),
    "shuffle between": (
        "mul %u, %a, %b; shfl.sync.bfly.b32 %m, %m, 1, 31, -1; add %v, %u, %c; out0 %v; st.global.u32 "
        "[%o+4096], %m;"
    ),
    "branch between": "mul %u, %a, %b; @%p bra L; out1 %d; L: add %v, %u, %c; out0 %v;",
    "return between": "mul %u, %a, %b; @%p ret; add %v, %u, %c; out0 %v;",
    "label between": "mul %u, %a, %b; L: add %v, %u, %c; out0 %v;",
    "jump between": "mul %u, %a, %b; bra M; L: out1 %d; ret; M: add %v, %u, %c; out0 %v; @%p bra L;",
    "both behind a branch": "@%p bra L; membar.gl; mul %u, %a, %b; add %v, %u, %c; out0 %v; L:",
    "one sum behind a branch": (
        "mul %u, %a, %b; add %v, %u, %c; out0 %v; @%p bra L; membar.gl; add %w, %u, %d; out1 %w; L:"
    ),
    "in a loop": (
        "mov.u32 %m, 0; L: mul %u, %a, %b; add %c, %u, %c; sub %d, %d, %c; add.u32 %m, %m, 1; membar.gl;"
        "setp.lt.u32 %q, %m, %l; @%q bra L; out0 %c; out1 %d;"
    ),
    "before a loop": (
        "mul %u, %a, %b; mov.u32 %m, 0; L: add %c, %u, %c; add.u32 %m, %m, 1; setp.lt.u32 %q, %m, %l; "
        "@%q bra L;"
        "out0 %c;"
    ),
    "behind a loop": (
        "mov.u32 %m, 0; L: mul %u, %a, %b; mov %a, %d; add.u32 %m, %m, 1; membar.gl; setp.lt.u32 %q, %m, %l;"
        "@%q bra L; add %c, %u, %c; out0 %c;"
    ),
    "negated": "mul %u, %a, %b; neg %w, %u; add %v, %w, %c; out0 %v;",
    "negated and not": "mul %u, %a, %b; neg %w, %u; add %v, %c, %w; add %s, %u, %d; out0 %v; out1 %s;",
    "negated and seen": "mul %u, %a, %b; neg %w, %u; add %v, %u, %c; out0 %v; out1 %w;",
    "negated factor": "neg %w, %a; mul %u, %w, %b; sub %v, %c, %u; out0 %v;",
    "negated addend": "neg %w, %c; mul %u, %a, %b; add %v, %u, %w; out0 %v;",
}
"""Bodies by name: `%a` to `%f` are operands, `%p` a predicate; `out0` to `out2` keep a result. Opcodes
without a type get the one that is tried."""

SINGLE = {
    "root between": "mul %u, %a, %b; sqrt.rn.f32 %w, %d; add %v, %u, %c; out0 %v; out1 %w;",
    "quick root between": "mul %u, %a, %b; neg.f32 %w, %d; rsqrt.approx.f32 %w, %w; add %v, %u, %c; out0 %v;",
    "times one": "mul %w, %c, 0f3F800000; mul %u, %a, %b; add %v, %w, %u; out0 %v;",
    "times minus one": "mul %w, %c, 0fBF800000; mul %u, %a, %b; add %v, %w, %u; out0 %v;",
    "one in a register": "mov.f32 %x, 0f3F800000; mul %w, %c, %x; mul %u, %a, %b; add %v, %w, %u; out0 %v;",
    "product times minus one": "mul %u, %a, %b; mul %w, %u, 0fBF800000; add %v, %w, %c; out0 %v;",
    "times two": "mul %w, %c, 0f40000000; mul %u, %a, %b; add %v, %w, %u; out0 %v;",
    "constant product": "mul %w, 0f3DCCCCCD, 0f3DCCCCCD; sub %v, %w, %a; mul %s, %w, %b; out0 %v; out1 %s;",
    "constant factor, branch between": (
        "mul %u, %a, 0f3A83126F; @%p bra L; membar.gl; add %v, %u, %c; out0 %v; L:"
    ),
    "constant factor, two blocks": (
        "mul %u, 0f3A83126F, %a; add %w, %u, %d; out1 %w; @%p bra L; membar.gl; sub %v, %c, %u; out0 %v; L:"
    ),
    "constant factor, seen behind": (
        "mul %u, %a, 0f3A83126F; add %w, %u, %d; out1 %w; @%p bra L; membar.gl; out0 %u; L:"
    ),
    "constant factor, other operand changes": (
        "mul %u, %a, 0f3A83126F; @%p bra L; mov %a, %d; membar.gl; L: add %v, %u, %a; out0 %v;"
    ),
    "constant factor, before a loop": (
        "mul %u, %a, 0f3A83126F; mov.u32 %m, 0; L: add %c, %u, %c; mul.rn %a, %a, %c; membar.gl; "
        "add.u32 %m, %m, 1;"
        "setp.lt.u32 %q, %m, %l; @%q bra L; out0 %c; out1 %a;"
    ),
    "constant factor under a guard": "mov %u, %d; @%p mul %u, %a, 0f3A83126F; add %v, %u, %c; out0 %v;",
    "constant factor, negated and copied": (
        "mul %u, %a, 0f3A83126F; neg %w, %u; mov %x, %w; @%p bra L; membar.gl; sub %v, %c, %x; out0 %v; L:"
    ),
    "constant memory, branch between": (
        "ld.const.f32 %x, [fixed]; mul %u, %a, %x; @%p bra L; membar.gl; add %v, %u, %c; out0 %v; L:"
    ),
    "sum of constant memory, branch between": (
        "ld.const.f32 %x, [fixed]; add.rn %x, %x, %x; mul %u, %a, %x; @%p bra L; membar.gl; add %v, "
        "%u, %c; out0 %v; L:"
    ),
    "two constant factors, branch between": (
        "mul %u, %a, 0f3A83126F; mul %w, %b, 0f40490FDB; @%p bra L; membar.gl; add %v, %u, %w; out0 %v; L:"
    ),
    "plus a constant": "mul %u, %a, %b; sub %v, 0f40490FDB, %u; out0 %v;",
    "chosen": "mul %u, %a, %b; selp.f32 %w, %u, %e, %p; add %v, %w, %c; out0 %v;",
    "compared": "mul %u, %a, %b; setp.gt.f32 %q, %u, %d; add %v, %u, %c; selp.f32 %w, %v, %e, %q; out0 %w;",
    "bits flipped": (
        "mul %u, %a, %b; mov.b32 %m, %u; xor.b32 %m, %m, 0x80000000; mov.b32 %w, %m; add %v, %w, %c; out0 %v;"
    ),
    "through an integer": "mul %u, %a, %b; mov.b32 %m, %u; mov.b32 %w, %m; add %v, %w, %c; out0 %v;",
    "product flushed": "mul.ftz.f32 %u, %a, %b; add.f32 %v, %u, %c; out0 %v;",
    "sum flushed": "mul.f32 %u, %a, %b; add.ftz.f32 %v, %u, %c; out0 %v;",
    "magnitude": "mul %u, %a, %b; abs.f32 %w, %u; add %v, %w, %c; out0 %v;",
    "rounded down": "mul %u, %a, %b; add.rm.f32 %v, %u, %c; out0 %v;",
}
"""Further ones for single precision."""

BETWEEN = (
    "div.s32 %m, %m, %l;",
    "div.s32 %m, %m, 7;",
    "rem.s32 %m, %m, %l;",
    "rem.u32 %m, %m, %l;",
    "cvt.u16.u32 %h, %m; div.u16 %h, %h, 3; cvt.u32.u16 %m, %h;",
    "cvt.u16.u32 %h, %m; rem.s16 %h, %h, 3; cvt.u32.u16 %m, %h;",
    "rem.u64 %r, %r, 7;",
    "div.s64 %r, %r, %n;",
    "bfind.u32 %m, %l;",
    "mov.b64 %n, {%m, %l}; bfind.u64 %m, %n;",
    "mov.b64 %n, {%m, %l}; bfind.shiftamt.s64 %m, %n;",
    "mul.lo.u64 %r, %n, %n;",
    "popc.b64 %m, %n;",
    "mul.hi.s64 %r, %n, %n;",
    "fence.sc.gpu;",
    "fence.acq_rel.cta;",
    "fence.cta;",
    "fence.acquire.gpu;",
    "fence.release.sys;",
    "membar.cta;",
    "pmevent 1;",
    "nanosleep.u32 1;",
    "bar.warp.sync -1;",
    "bar.red.popc.u32 %m, 0, %p;",
    "griddepcontrol.wait;",
    "griddepcontrol.launch_dependents;",
    "div.rn.f32 %x, %d, %e;",
    "div.rz.ftz.f32 %x, %d, %e;",
    "div.approx.f32 %x, %d, %e;",
    "div.full.f32 %x, %d, %e;",
    "rcp.rn.f32 %x, %d;",
    "rcp.approx.f32 %x, %d;",
    "sqrt.rp.f32 %x, %d;",
    "sqrt.approx.f32 %x, %d;",
    "sin.approx.f32 %x, %d;",
    "ex2.approx.f32 %x, %d;",
    "tanh.approx.f32 %x, %d;",
    "cvt.f64.f32 %g, %d; div.rn.f64 %g, %g, %g; cvt.rn.f32.f64 %x, %g;",
    "cvt.f64.f32 %g, %d; rcp.rn.f64 %g, %g; cvt.rn.f32.f64 %x, %g;",
    "cvt.f64.f32 %g, %d; sqrt.rn.f64 %g, %g; cvt.rn.f32.f64 %x, %g;",
    "cvt.f64.f32 %g, %d; rsqrt.approx.f64 %g, %g; cvt.rn.f32.f64 %x, %g;",
    "cvt.f64.f32 %g, %d; rcp.approx.ftz.f64 %g, %g; cvt.rn.f32.f64 %x, %g;",
    "cvt.f64.f32 %g, %d; fma.rn.f64 %g, %g, %g, %g; cvt.rn.f32.f64 %x, %g;",
    "ld.global.f32 %x, [%i];",
    "ld.volatile.global.f32 %x, [%i];",
    "ld.acquire.gpu.global.f32 %x, [%i];",
    "prefetch.global.L1 [%i];",
    "vote.sync.ballot.b32 %m, %p, -1;",
    "activemask.b32 %m;",
    "match.any.sync.b32 %m, %l, -1;",
    "redux.sync.add.u32 %m, %l, -1;",
    "mov.u32 %m, %clock; and.b32 %m, %m, 0;",
    "@%p ld.global.f32 %x, [%i];",
    "@%p ld.param.u64 %r, [in]; and.b64 %r, %r, 0;",
    "@%p add.u32 %m, %m, %l;",
    "@%p mul.f32 %x, %d, %e;",
    "@%p sin.approx.f32 %x, %d;",
    "@%p sqrt.rn.f32 %x, %d;",
    "@%p div.s32 %m, %m, %l;",
    "@%p prefetch.global.L1 [%i];",
    "@%p activemask.b32 %m;",
    "@%p nanosleep.u32 1;",
    "@%p fence.cta;",
    "@%p add.cc.u32 %m, %m, %l;",
    "@%p addc.u32 %m, %m, %l;",
    "@%p mov.u32 %m, %tid.y;",
    "@%p setp.ne.u32 %q, %m, %l;",
    "@%p red.global.add.u32 [%o+4096], 0;",
    "red.global.add.u32 [%o+4096], 0;",
    "atom.global.add.u32 %m, [%o+4096], 0;",
)
"""What may stand between a product and its sum, in single precision: `%m`, `%r` and `%x` are kept."""

KEPT = "st.global.u32 [%o+4100], %m; st.global.f32 [%o+2052], %x;"

_WITHOUT_TYPE = re.compile(r"\b(mul|add|sub|neg|fma|mov)((?:\.(?:rn|sat))*) (?=%)")


@dataclass(frozen=True)
class Program:
    """A kernel: its name, the type that it is about, and its text."""

    name: str
    type: str
    body: str

    @property
    def register_type(self) -> str:
        """What registers are declared as: floats, else bits."""
        t = TYPES[self.type.removesuffix(".ftz")]
        return t.name if t.is_native_float and t.bits > 16 else f"b{t.bits}"

    def text(self, kernel: str) -> str:
        """A kernel that loads a lane's operands, and keeps results in the rows of its output."""
        t = self.register_type
        loads = "".join(f"ld.global.{t} %{n}, [%i+{8 * LANES * k}];\n" for k, n in enumerate(OPERANDS))
        body = _WITHOUT_TYPE.sub(self._typed, self.body)
        body = re.sub(
            r"out(\d) (%\w+)", lambda m: f"st.global.{t} [%o+{8 * LANES * int(m[1])}], {m[2]}", body
        )
        return (
            f".visible .entry {kernel} (.param .u64 in, .param .u64 out) {{\n"
            f".reg .{t} %a, %b, %c, %d, %e, %f, %s, %t, %u, %v, %w, %x, %y<40>;\n"
            ".reg .pred %p, %q; .reg .u32 %l, %m; .reg .u64 %i, %o, %n, %r; .reg .u16 %h; .reg .f64 %g;\n"
            "ld.param.u64 %i, [in]; ld.param.u64 %o, [out]; mov.u32 %m, %tid.x; mul.wide.u32 %r, %m, 8;\n"
            "add.u64 %i, %i, %r; add.u64 %o, %o, %r; and.b32 %l, %m, 5; setp.eq.u32 %p, %l, 1;\n"
            f"add.u32 %l, %l, 2; cvt.u64.u32 %n, %l;\n{loads}{body}\nret; }}\n"
        )

    def _typed(self, match: re.Match[str]) -> str:
        if match[1] == "mov":
            return f"mov.{self.register_type} "
        return f"{match[1]}{match[2]}{SUFFIXES[self.type]} "


def programs() -> dict[str, Program]:
    """Every program by its name."""
    found = [
        Program(f"{t} {name}", t, body) for t in SUFFIXES for name, body in EDGES.items() if _takes(t, body)
    ]
    found += [Program(f"{t} {name}", t, body) for t in ("f32", "f32.ftz") for name, body in SINGLE.items()]
    found += [Program(f"f32 {words}", "f32", _around(words)) for words in BETWEEN]
    found += [Program(f"{t} random {n}", t, _random(n, t)) for t in SUFFIXES for n in range(RANDOM)]
    return {p.name: p for p in found}


def _around(words: str) -> str:
    """A product, an instruction and the sum; what the instruction makes is kept, but for addresses."""
    kept = KEPT + (" xor.b64 %r, %r, %n; st.global.u16 [%o+4096], %r;" if "%r" in words else "")
    return f"mov.f32 %x, %d; mul %u, %a, %b; {words} add %v, %u, %c; out0 %v; {kept}"


def _takes(t: str, body: str) -> bool:
    """Doubles and bf16 do not saturate."""
    return ".sat" not in body or TYPES[t.removesuffix(".ftz")].name in ("f32", "f16", "f16x2")


def _random(seed: int, t: str) -> str:
    """A straight line of products, sums and copies, each of which is used."""
    rng = random.Random(f"{t} {seed}")
    values = [f"%{n}" for n in OPERANDS]
    unread = list[str]()
    lines = list[str]()

    def operand() -> str:
        chosen = rng.choice(unread) if unread and rng.random() < 0.65 else rng.choice(values)
        if chosen in unread:
            unread.remove(chosen)
        return chosen

    count = rng.randint(4, 14)
    while len(lines) < count or len(unread) > OUTPUTS:
        opcode = rng.choice(["mul"] * 8 + ["add", "sub"] * 4 + ["mov", "add.rn", "fma.rn"])
        sources = [operand() for _ in range({"mov": 1, "fma.rn": 3}.get(opcode, 2))]
        d = f"%y{len(lines)}"
        lines.append(f"{opcode} {d}, {', '.join(sources)};")
        values.append(d)
        unread.append(d)
    return " ".join(lines) + "".join(f" out{i} {r};" for i, r in enumerate(unread))


def module(chunk: list[Program]) -> str:
    """A module of kernels `k0`, `k1` ..."""
    head = ".version 8.6\n.target sm_90\n.address_size 64\n.const .f32 fixed = 0f3A83126F;\n"
    return head + "".join(p.text(f"k{i}") for i, p in enumerate(chunk))


# ---------------------------------------------------------------- operands


@functools.cache
def operands(t: str) -> Array:
    """A row of 64-bit lanes for each operand. In half of the lanes c and d lie near a b or its negation, so
    that what a rounded product loses is seen; a quarter has special values."""
    rng = np.random.default_rng(23)
    wide = rng.normal(size=(len(OPERANDS), LANES)) * 2.0 ** rng.integers(-3, 4, (len(OPERANDS), LANES))
    rows = {"a": 0, "b": 1, "c": 2, "d": 3}
    rounded = from_bits(to_bits(wide, t), t)
    near = rounded[rows["a"]] * rounded[rows["b"]]
    half = LANES // 2
    rounded[rows["c"], :half] = -near[:half]
    rounded[rows["d"], : half // 2] = near[: half // 2]
    bits = to_bits(rounded, t)
    special = _specials(t)
    last = LANES * 3 // 4
    bits[:, last:] = special[rng.integers(0, len(special), (len(OPERANDS), LANES - last))]
    return bits


def _specials(t: str) -> Array:
    """Zeros, ones, the smallest and largest numbers, infinities and NaNs as bits."""
    width, digits = {"f32": (32, 23), "f64": (64, 52), "f16": (16, 10), "bf16": (16, 7)}[base(t)]
    top = ((1 << (width - 1 - digits)) - 1) << digits
    one = (top >> 1) & ~((1 << digits) - 1)
    magnitudes = [
        0,
        1,
        3,
        (1 << digits) - 1,
        1 << digits,
        one,
        one + 1,
        top - 1,
        top,
        top | 1 << (digits - 1) | 5,
    ]
    found = [m | sign << (width - 1) for m in magnitudes for sign in (0, 1)]
    return np.array([_paired(f, t) for f in found], np.uint64)


def base(t: str) -> str:
    """The type of one number."""
    return t.removesuffix(".ftz").removesuffix("x2")


def _paired(bits: int, t: str) -> int:
    return bits | bits << 16 if t.endswith("x2") else bits


def to_bits(values: Array, t: str) -> Array:
    """Numbers as the bits of a type, rounded; the same in both halves of a pair."""
    match base(t):
        case "f64":
            return values.astype(np.float64).view(np.uint64)
        case "f32":
            return values.astype(np.float32).view(np.uint32).astype(np.uint64)
        case "f16":
            found = values.astype(np.float16).view(np.uint16).astype(np.uint64)
        case _:
            found = (values.astype(np.float32).view(np.uint32) + np.uint32(0x8000) >> np.uint32(16)).astype(
                np.uint64
            )
    return found | found << np.uint64(16) if t.endswith("x2") else found


def from_bits(bits: Array, t: str) -> Array:
    """The numbers that bits mean, those of the lower half of a pair."""
    low = bits & np.uint64(0xFFFF)
    match base(t):
        case "f64":
            return bits.view(np.float64)
        case "f32":
            return bits.astype(np.uint32).view(np.float32).astype(np.float64)
        case "f16":
            return low.astype(np.uint16).view(np.float16).astype(np.float64)
        case _:
            return (low.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)
