"""Comparisons of the larger or the smaller one of two indices, as a comparison of each.

`if (row < n && column < n)` is `max(row, column) < n` for LLVM 20, which nvcc uses for sm_100. One of the two
is mostly the same for all lanes of a row of threads, the other one grows from lane to lane: of each by itself
scalars tell whether all lanes have it (`simt.engine.llvm_lanes`: `Combined`), of the maximum only a column.
"""

from __future__ import annotations

from collections.abc import Mapping

from simt.analysis.copies import copied
from simt.analysis.lower_forms import CUT, EITHER, simple
from simt.analysis.program import Constant, Function, Op, Register
from simt.analysis.shape import Shape
from simt.analysis.ssa import Definition, Ssa
from simt.isa.compare import setp
from simt.isa.derived import ORDERED
from simt.isa.integer import max_, min_
from simt.ptx.types import PRED, Type
from simt.records import dataclass, replace

ABOVE, BELOW = ("ge", "gt"), ("le", "lt")
Number = Register | Constant


@dataclass(frozen=True, slots=True)
class _Parts:
    """Of a comparison: the two numbers in place of one, and whether one is enough."""

    numbers: tuple[Number, Number]
    one_is_enough: bool


def with_parted_bounds(kernel: Function, ssa: Ssa, shapes: Mapping[Definition, Shape]) -> Function:
    """The kernel with two comparisons in place of such; itself, if there are none."""
    finder = _Finder(ssa, shapes)
    ops = (op for block in ssa.schedule.order for op in block.ops if isinstance(op, Op))
    found = {id(op): parts for op in ops if (parts := finder.parts(op)) is not None}
    if not found:
        return kernel
    made = copied(kernel)
    made.registers = [*kernel.registers]
    for block in made.blocks:
        for op in [op for op in block.ops if id(op) in found]:
            place = block.ops.index(op)
            assert isinstance(op, Op)
            block.ops[place : place + 1] = _written(op, found[id(op)], made.registers)
    return made


class _Finder:
    def __init__(self, ssa: Ssa, shapes: Mapping[Definition, Shape]) -> None:
        self.ssa, self.shapes = ssa, shapes

    def parts(self, op: Op) -> _Parts | None:
        """Of an op that is such a comparison with what all lanes have."""
        way, read = ORDERED.get(str(op.binding.get("cmp"))), self.ssa.read[id(op)]
        if op.form.meaning is not setp or op.guard is not None or op.destinations[1] is not None:
            return None
        one, other = op.sources["a"], op.sources["b"]
        if way not in (*ABOVE, *BELOW) or not isinstance(one, Register) or not self._is_even(other, read):
            return None
        extreme = read[one].origin
        if not isinstance(extreme, Op) or not _is_extreme(extreme, one, op.source_types["a"]):
            return None
        inner = self.ssa.read[id(extreme)]
        numbers = [n for n in extreme.sources.values() if isinstance(n, Number) and self._stays(n, inner)]
        if len(numbers) != 2 or sum(self._is_even(n, inner) for n in numbers) != 1:
            return None
        return _Parts((numbers[0], numbers[1]), (extreme.form.meaning is max_) == (way in ABOVE))

    def _is_even(self, number: object, read: Mapping[Register, Definition]) -> bool:
        """Whether all lanes of a row have one value."""
        if isinstance(number, Register):
            shape = self.shapes.get(read[number])
            return shape is not None and shape.is_same_in_rows
        return isinstance(number, Constant)

    def _stays(self, number: Number, read: Mapping[Register, Definition]) -> bool:
        """Whether a number is the same wherever the extreme of it and another one is read."""
        return isinstance(number, Constant) or self.ssa.single[number] is read[number]


def _is_extreme(op: Op, result: Register, t: Type) -> bool:
    """Whether an op gives the larger or the smaller one of two integers of a type."""
    same = op.result_types == (t,) and result.type.bits == t.bits
    return op.form.meaning in (max_, min_) and op.guard is None and same and t.is_integer


def _written(op: Op, parts: _Parts, registers: list[Register]) -> list[Op]:
    result, compared = op.destinations[0], list[Op]()
    for number in parts.numbers:
        registers.append(Register(len(registers), f"bound{len(registers)}", PRED))
        sources = {**op.sources, "a": number}
        compared.append(replace(op, sources=sources, destinations=(registers[-1], None), kind=None))
    x, y = registers[-2:]
    form = EITHER if parts.one_is_enough else CUT
    return [*compared, simple(form, PRED, result, {"a": (x, PRED), "b": (y, PRED)}, op.line)]
