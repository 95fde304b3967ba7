"""Registers of bits that hold floats: which they are, and that code is what it is for registers of floats."""

from __future__ import annotations

import pytest

from simt.analysis.float_registers import with_float_registers
from simt.analysis.lower import lower
from simt.analysis.program import Program
from simt.analysis.shape import BlockShape
from simt.engine.host import host_features
from simt.engine.llvm_kernel import emit
from simt.ptx.parser import parse

KERNEL = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n)
{{
    .reg .pred %p; .reg .b32 %i, %n; .reg .b64 %m, %w; .reg .{single} %x, %y, %z; .reg .{double} %d, %e;
    ld.param.u64 %m, [p]; ld.param.u32 %n, [n]; mov.u32 %i, %tid.x; mad.wide.u32 %m, %i, 4, %m;
    {body}
    ret;
}}
"""


def program(body: str, single: str = "b32", double: str = "b64") -> Program:
    tree, problems = parse(KERNEL.format(body=body, single=single, double=double), "k.ptx")
    assert tree is not None
    assert not problems.errors
    return lower(tree)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("ld.global.f32 %x, [%m]; add.f32 %y, %x, %x; st.global.b32 [%m], %y;", "xy"),
        ("ld.global.b32 %x, [%m]; mov.b32 %y, %x; neg.f32 %z, %y; mov.b32 %i, %z;", "yz"),
        ("cvt.f64.f32 %d, %x; mov.b64 {%i, %n}, %d; mov.b64 %e, {%n, %i};", "xd"),
        ("ld.global.v2.f32 {%x, %y}, [%m]; st.global.v2.b32 [%m], {%y, %z};", "xy"),
        ("mul.f32 %x, %y, %z; add.s32 %x, %x, %n; mov.u32 %y, %n;", "z"),
        ("mul.f32 %x, %y, %z; cvt.u64.u32 %d, %x; add.f64 %e, %d, %d;", "yze"),
        ("add.f64 %d, %e, %e; st.global.u32 [%d], %n; mul.f16x2 %x, %y, %y; neg.f32 %y, %z;", "ez"),
        ("setp.lt.f32 %p, %x, %y; @%p bra END; fma.rn.f32 %z, %x, %y, %z; END:", "xyz"),
        ("bar.red.popc.u32 %x, 0, %p; neg.f32 %y, %x; bar.sync %z; abs.f32 %y, %z;", "y"),
    ],
)
def test_which_registers_hold_floats(body: str, expected: str) -> None:
    found, _ = with_float_registers(program(body).functions["k"])
    assert {r.name.lstrip("%") for r in found.registers if r.type.is_float} == set(expected)


def test_code_is_that_for_registers_of_floats() -> None:
    """A loop of which nobody sees which NaNs it makes, and one store that flushes."""
    body = (
        "ld.global.f64 %d, [%m]; L: fma.rn.f64 %e, %d, %d, %d; add.f64 %d, %e, %d; cvt.rn.ftz.f32.f64 %x, %e;"
        "mul.ftz.f32 %y, %x, %x; add.u32 %i, %i, 1; setp.lt.f64 %p, %d, 0d4010000000000000; @%p bra L;"
        "st.global.b32 [%m], %y;"
    )
    given = program(body), program(body, "f32", "f64")
    bits, floats = (
        emit(p, p.functions["k"], BlockShape(32, 1, 1), host_features(), "nounwind")[0] for p in given
    )
    assert bits == floats
