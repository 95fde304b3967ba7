"""NaNs have the machine's bits wherever they are seen, whatever the JIT leaves open on their way there.

What one instruction gives is judged by an H200 (`tests/hw`), and the interpreter settles NaNs at once: here
compiled kernels in which values cross blocks, loops and registers of other types are compared with it.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest

import simt
from simt.analysis.lower import lower
from simt.analysis.nans import one_nan
from simt.analysis.schedule import schedule
from simt.analysis.ssa import build
from simt.isa.algebra import Environment
from simt.ptx.parser import parse
from simt.ptx.types import F32

THREADS = 96
HEAD = """.version 8.0
.target sm_90
.address_size 64
"""
KERNEL = (
    HEAD
    + """.visible .entry k(.param .u64 in, .param .u64 out) {{
    .reg .pred %p, %q; .reg .u32 %i, %t, %n; .reg .b32 %x, %y; .reg .u64 %in, %out, %o; .reg .b64 %w;
    .reg .f32 %a, %b, %c, %d, %e; .reg .f64 %f, %g, %h, %k, %l; .reg .b16 %s;
    ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
    mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 64; add.u64 %in, %in, %o; add.u64 %out, %out, %o;
    ld.global.f32 %a, [%in]; ld.global.f32 %b, [%in+4]; ld.global.f32 %c, [%in+8];
    ld.global.f64 %f, [%in+16]; ld.global.f64 %g, [%in+24]; ld.global.f64 %h, [%in+32];
    setp.lt.u32 %p, %t, 40; and.b32 %i, %t, 1; setp.eq.u32 %q, %i, 0;
    mov.f32 %d, %a; mov.f32 %e, 0f3F800000; mov.f64 %k, %f; mov.f64 %l, 0d3FF0000000000000;
    {body}
    st.global.f32 [%out], %d; st.global.f32 [%out+4], %e;
    st.global.f64 [%out+8], %k; st.global.f64 [%out+16], %l;
    ret;
}}
"""
)
BODIES = {
    "chain": "add.f32 %d, %a, %b; mul.f32 %e, %d, %c; add.f64 %k, %f, %g; mul.f64 %l, %k, %h;",
    "kept where nothing is computed": "mov.f32 %d, %b; mov.f64 %k, %g; selp.f32 %e, %a, %c, %q;",
    "choice": "add.f32 %d, %a, %b; selp.f32 %d, %d, %c, %q; add.f64 %k, %f, %g; selp.f64 %k, %k, %h, %q;",
    "choice of results": "add.f32 %d, %a, %b; mul.f32 %e, %a, %c; selp.f32 %e, %d, %e, %q;",
    "choice of a number": "add.f32 %d, %a, %b; selp.f32 %e, %d, 0f00000000, %q;"
    "selp.f32 %d, 0f7FC00001, %d, %q;",
    "guard": "@%q add.f32 %d, %a, %b; @!%q mul.f64 %k, %f, %g; @%q fma.rn.f64 %l, %f, %g, %h;",
    "bits": "add.f32 %d, %a, %b; mov.b32 %x, %d; xor.b32 %y, %x, 1; mov.b32 %e, %y;"
    "add.f64 %k, %f, %g; mov.b64 %w, %k; xor.b64 %w, %w, 1; mov.b64 %l, %w;",
    "registers of bits": "add.f32 %x, %a, %b; @%p bra on; mul.f32 %x, %x, %c; on: sub.f32 %y, %x, %c;"
    "mov.b32 %d, %x; mov.b32 %e, %y;",
    "branch": "@%p bra other; add.f32 %d, %a, %b; add.f64 %k, %f, %g; bra both;"
    "other: sub.f32 %d, %b, %c; mul.f64 %k, %g, %h; both: add.f32 %e, %d, %c; sub.f64 %l, %k, %f;",
    "branch with a load": "@%q bra both; add.f32 %d, %a, %b; mul.f64 %k, %f, %g; both: mov.f32 %e, %d;",
    "loop": "mov.u32 %n, 0; more: fma.rn.f32 %d, %d, %b, %c; fma.rn.f64 %k, %k, %g, %h; add.f64 %l, %l, %k;"
    "add.u32 %n, %n, 1; setp.lt.u32 %p, %n, %t; @%p bra more;",
    "lanes that have left overflow": "mov.u32 %n, 0; more: mul.f64 %k, %k, 0d7FE0000000000000;"
    "sub.f64 %l, %k, %k; mul.f32 %d, %d, 0f7F000000; sub.f32 %e, %d, %d;"
    "add.u32 %n, %n, 1; setp.lt.u32 %p, %n, %t; @%p bra more;",
    "long": "".join(f"fma.rn.f64 %k, %k, %g, %{'fgh'[i % 3]}; sub.f64 %l, %k, %l;" for i in range(60)),
    "shared steps": "mul.f64 %k, %f, %g;" + "mul.f64 %k, %k, %k;" * 40 + "mov.f64 %l, %k;",
    "shuffle": "add.f32 %d, %a, %b; shfl.sync.bfly.b32 %e, %d, 3, 31, -1;",
    "conversion": "add.f32 %d, %a, %b; cvt.f64.f32 %k, %d; cvt.f64.f32 %l, %c; cvt.rn.f32.f64 %e, %g;",
    "narrow": "add.f64 %k, %f, %g; cvt.rn.f16.f64 %s, %k; cvt.f32.f16 %d, %s; cvt.rn.bf16.f64 %s, %g;"
    "mov.b32 %e, {%s, %s};",
    "minimum": "add.f32 %d, %a, %b; min.f32 %d, %d, %c; max.f32 %e, %a, %b; min.f64 %k, %f, %g;",
    "minimum of results": "mul.f64 %k, %f, %g; add.f64 %l, %g, %h; max.f64 %k, %k, %l;",
    "signs of both": "sub.f32 %d, %a, %a; max.xorsign.abs.f32 %d, %d, %c; min.xorsign.abs.f32 %e, %a, %b;",
    "sign": "neg.f32 %d, %a; abs.f32 %e, %b; neg.f64 %k, %f; abs.f64 %l, %g;",
    "functions": "sqrt.rn.f32 %d, %a; ex2.approx.f32 %e, %b; sqrt.rn.f64 %k, %f; div.rn.f64 %l, %g, %h;",
    "roundings": "add.rz.f64 %k, %f, %g; fma.rp.f64 %l, %k, %g, %h; mul.rm.f32 %d, %a, %b;",
    "flushed": "add.ftz.f32 %d, %a, %b; mul.ftz.f32 %e, %d, %c; rcp.approx.ftz.f32 %e, %e;",
    "saturated": "add.sat.f32 %d, %a, %b; fma.rn.sat.f32 %e, %a, %b, %c;",
    "unseen in a loop": "mov.u32 %n, 0; more: min.f32 %d, %d, %b; max.f32 %c, %c, %d; neg.f32 %b, %b;"
    "add.u32 %n, %n, 1; setp.lt.u32 %p, %n, %i; @%p bra more; sub.f32 %d, %d, %c; mul.f32 %e, %c, %b;",
    "stores between": "add.f64 %k, %f, %g; st.global.f64 [%out+24], %k; mul.f64 %l, %k, %h;"
    "st.global.f64 [%out+32], %l; sub.f64 %k, %l, %f; st.global.v2.f64 [%out+48], {%k, %l}; add.f64 "
    "%l, %h, %g;",
    "stores that are read": "add.f64 %k, %f, %g; st.global.f64 [%out+24], %k; mul.f64 %l, %g, %h;"
    "ld.global.f64 %k, [%out+24]; st.global.f64 [%out+24], %l; fma.rn.f64 %l, %k, %l, %f;",
    "stores over each other": "add.f64 %k, %f, %g; st.global.f64 [%out+24], %k; mul.f64 %l, %g, %h;"
    "st.global.f64 [%out+24], %l; sub.f64 %k, %h, %f; st.global.f64 [%out+32], %k; st.global.u32 "
    "[%out+36], 7;",
    "stored registers that change": "add.f64 %k, %f, %g; st.global.f64 [%out+24], %k; mul.f64 %k, %g, %h;"
    "st.global.f64 [%out+32], %k; add.u64 %out, %out, 8; add.f64 %k, %k, %f; st.global.f64 [%out+32], %k;"
    "sub.u64 %out, %out, 8; neg.f64 %k, %k;",
    "stores of some": "add.f64 %k, %f, %g; @%q st.global.f64 [%out+24], %k; mul.f64 %l, %g, %h;"
    "st.global.f64 [%out+32], %l; @!%q sub.f64 %l, %l, %k; st.global.f64 [%out+40], %l;",
    "taken apart": "add.f64 %k, %f, %g; mov.b64 {%x, %y}, %k; mul.f64 %l, %g, %h; mov.b32 %d, %x;"
    "mov.b64 {%x, %i}, %l; mov.b32 %e, %y; mov.b64 %l, {%x, %i}; add.u32 %y, %y, %i; mov.b64 %k, {%x, %y};",
    "taken apart again": "add.f64 %k, %f, %g; mov.b64 {%x, %y}, %k; sub.f64 %k, %k, %h; mov.b64 {%i, %x}, %k;"
    "mov.b32 %d, %x; mov.b32 %e, %y; st.global.f64 [%out+24], %k; mov.b64 {%x, %y}, %g;"
    "st.global.u32 [%out+32], %y;",
    "open choices": "add.f64 %k, %f, %g; mul.f64 %l, %g, %h; selp.f64 %k, %k, %l, %q; setp.lt.f64 %p, %k, %f;"
    "selp.f64 %l, %f, %k, %p; fma.rn.f64 %k, %l, %k, %g; selp.f64 %l, %l, 0dFFF0000000000000, %q;"
    "sub.f64 %l, %k, %l;",
    "many operands": "".join(
        f"ld.global.f64 %{a}, [%in+{place}]; fma.rn.f64 %{r}, %{a}, %{b}, %{c}; @%q neg.f64 %{b}, %{b};"
        for _ in range(12)
        for a, b, c, r, place in (
            ("f", "k", "l", "k", 16),
            ("g", "l", "k", "l", 24),
            ("h", "k", "f", "f", 32),
        )
    ),
    "many steps": "".join(
        f"{op}.f64 %{a}, %{b}, %{c};"
        for _ in range(60)
        for op, a, b, c in (
            ("add", "k", "f", "l"),
            ("mul", "l", "k", "g"),
            ("sub", "g", "l", "h"),
            ("add", "h", "g", "k"),
            ("sub", "f", "h", "f"),
        )
    )
    + "st.global.f64 [%out+24], %f; st.global.f64 [%out+32], %g; st.global.f64 [%out+40], %h;",
    "lanes one by one": "mov.u32 %n, 0; more: and.b32 %i, %n, 3; mul.wide.u32 %o, %i, 8; add.u64 "
    "%o, %out, %o;"
    "add.f64 %l, %k, %g; selp.f64 %k, %l, %h, %q; st.global.f64 [%o+24], %l; mul.f64 %l, %l, %f;"
    "st.global.f64 [%o+32], %k; ld.global.f64 %k, [%o+24]; add.u32 %n, %n, 1; setp.lt.u32 %p, %n, "
    "%t; @%p bra more;",
    "barrier": "add.f32 %d, %a, %b; mul.f64 %k, %f, %g; bar.sync 0; add.f32 %e, %d, %c; add.f64 %l, %k, %h;",
}
"""The ends of every kernel: results in %d, %e, %k, %l."""

FLUSHING = ("flushed",)


@functools.cache
def operands() -> np.ndarray:
    """Bytes of each thread: three f32, three f64; many are NaNs of all kinds."""
    random = np.random.default_rng(3)
    few = [0x7FC00000, 0xFFC00000, 0x7F800001, 0xFF812345, 0x7F800000, 0xFF800000, 0, 0x3FC00000, 0x80000001]
    many = [
        0x7FF8 << 48,
        0xFFF8 << 48,
        0x7FF0 << 48 | 1,
        0xFFF4 << 48 | 99,
        0x7FF << 52,
        0xFFF << 52,
        1,
        3 << 60,
    ]
    rows = np.zeros((THREADS, 64), np.uint8)
    rows[:, :12] = random.choice(np.array(few, "u4"), (THREADS, 3)).view("u1")
    rows[:, 16:40] = random.choice(np.array(many, "u8"), (THREADS, 3)).view("u1")
    return rows


def run(engine: str, text: str) -> np.ndarray:
    device = simt.Device("sm_90", engine=engine, memory="64MiB")
    out = device.zeros((THREADS, 64), "u1")
    device.load(text)["k"]((1,), (THREADS,), (device.array(operands()), out))
    return out.numpy()


@pytest.mark.parametrize("name", BODIES)
def test_both_engines_see_the_same_nans(name: str) -> None:
    text = KERNEL.format(body=BODIES[name])
    if name in FLUSHING:  # alone, so that the CPU flushes
        text = text.replace("mov.f64 %k, %f;", "").replace("st.global.f64 [%out+8], %k;", "")
    assert np.array_equal(run("jit", text).view("u4"), run("interpreter", text).view("u4"))


def judged(body: str) -> set[str]:
    """The `.f32` registers whose every definition holds one NaN at most."""
    tree, problems = parse(KERNEL.format(body=body), "k.ptx")
    assert tree is not None
    assert not problems.errors
    function = lower(tree).functions["k"]
    ssa = build(function, schedule(function))
    found = one_nan(ssa, Environment())
    given = [d for d in ssa.definitions if d.origin != "undefined" and d.register.type == F32]
    return {d.register.name for d in given} - {d.register.name for d in given if d not in found}


def test_which_values_hold_one_nan() -> None:
    assert judged("neg.f32 %a, %a;") == {"%e"}  # %a is loaded first
    assert judged("add.f32 %s1, %a, %b; mov.f32 %e, %s1;".replace("%s1", "%e")) == {"%e"}
    assert judged("mov.f32 %e, %b;") == set()
    assert judged("@%q mov.f32 %e, %b;") == set()
    assert judged("mov.f32 %e, 0f7FC00000;") == set()
    assert judged("mov.f32 %e, 0f7FFFFFFF; cvt.rn.f32.u32 %e, %t;") == {"%e"}
    loop = (
        "mov.u32 %n, 0; more: add.f32 %e, %e, %{}; add.u32 %n, %n, 1; setp.lt.u32 %p, %n, %t; @%p bra more;"
    )
    assert judged(loop.format("b")) == {"%e"}
    assert judged(loop.format("b") + "selp.f32 %e, %e, %c, %q;") == set()
