"""Ops of one kind: found once, and evaluated once over the algebras of analyses."""

from __future__ import annotations

import pytest
from bench.curve_shapes import SHAPES

from simt.analysis.evaluate import Evaluator, Remembering
from simt.analysis.kinds import kind_of
from simt.analysis.program import Op, Program
from simt.analysis.range_algebra import UNKNOWN
from simt.analysis.ranges import Ranges
from simt.analysis.schedule import schedule
from simt.analysis.shape import BlockShape, Shape
from simt.analysis.shape_algebra import ShapeAlgebra
from simt.analysis.ssa import Ssa, build
from simt.analysis.uniformity import analyse, analyse_over
from simt.driver.source import compile_ptx
from simt.isa.algebra import Rounding
from simt.machine.device import DEVICES
from simt.ptx.types import Type

BLOCK = BlockShape(16, 16, 1)
BODY = """
add.u32 %r0, %r1, %r2;
add.u32 %r1, %r2, 77;
@%p0 add.u32 %r2, %r0, %r0;
add.s32 %r0, %r1, %r2;
add.u64 %rd0, %rd1, %rd1;
add.sat.s32 %r0, %r1, %r2;
ld.global.v2.u32 {%r0, _}, [%rd0];
ld.global.v2.u32 {_, %r0}, [%rd0];
ld.global.v2.u32 {_, %r2}, [%rd1+8];
ld.shared.v2.u32 {_, %r2}, [%rd1+8];
mov.b32 %r0, %f0;
mov.b32 %f0, %r0;
"""
SAME = [{0, 1, 2}, {3}, {4}, {5}, {6}, {7, 8}, {9}, {10}, {11}]
"""Which of these are of one kind, by their places."""


def compiled(text: str) -> tuple[Program, Ssa]:
    program, _ = compile_ptx(text, "<ptx>", DEVICES[90])
    function = program.functions["k"]
    return program, build(function, schedule(function))


def test_a_kind_is_everything_but_operands() -> None:
    registers = ".reg .b32 %r<3>; .reg .b64 %rd<2>; .reg .f32 %f<1>; .reg .pred %p<1>;"
    program, _ = compiled(
        f".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() {{ {registers} {BODY} ret; }}"
    )
    ops = [op for block in program.functions["k"].blocks for op in block.ops if isinstance(op, Op)]
    places: dict[object, set[int]] = {}
    for place, op in enumerate(ops):
        places.setdefault(kind_of(op), set()).add(place)
    assert list(places.values()) == SAME


@pytest.mark.parametrize("name", SHAPES)
def test_what_is_remembered_is_what_each_op_gives(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program, ssa = compiled(SHAPES[name](150))
    found: list[object] = []
    for op in (Remembering.op, Evaluator.op):
        monkeypatch.setattr(Remembering, "op", op)
        shapes = analyse(ssa, program.environment, BLOCK).shapes
        ranges = Ranges(ssa, program.environment, BLOCK, lambda _: UNKNOWN)
        found.append((shapes, [ranges.of(d) for d in ssa.definitions]))
    assert found[0] == found[1]


class _Counting(ShapeAlgebra):
    """Counts sums of floats."""

    def __init__(self) -> None:
        super().__init__(BLOCK)
        self.sums = 0

    def fadd(self, t: Type, a: Shape, b: Shape, rounding: Rounding) -> Shape:
        self.sums += 1
        return super().fadd(t, a, b, rounding)


def test_equal_ops_are_evaluated_once() -> None:
    program, ssa = compiled(SHAPES["f32"](1000))
    counting = _Counting()
    analyse_over(ssa, program.environment, counting)
    sums = sum(op.form.mnemonic == "add" for b in ssa.schedule.order for op in b.ops if isinstance(op, Op))
    assert sums > 300
    assert 0 < counting.sums < 10
