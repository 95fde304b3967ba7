"""Warps whose lanes are in two rows of an index, for a second trial (`simt.engine.llvm_trial`).

Where rows are some hundred words long or less, the lanes of many warps are in two of them. Then lanes up to
some number have one quotient, those from there on the next one, and all that is made of it has two bases: a
value is `base + stride * lane` with the one base or the other. Loads are two vectors, and a choice; stores
are two, under masks. Several indices may be cut, as long as they go on to their next rows at the same lane.
Of rows shorter than a warp some warps are in three, which is tested.

Bases are those of lane 0, whether it is in the row or not.
"""

from __future__ import annotations

from simt.analysis.shape import WARP, Shape
from simt.engine.llvm_builder import Value
from simt.engine.llvm_float import LlvmAlgebra
from simt.engine.llvm_lanes import Guarded, bases, shape_of
from simt.engine.llvm_trial import TrialAlgebra
from simt.ptx.types import U32, Type

TWO = 2
SHORTEST = WARP // 2
"""Words of rows of which a warp may be in two and no more."""
FIRST_OF_NEXT = "%try.next"
"""Where the number of the first lane in the second row is: that of all lanes, if there is none."""
ALLOCATION = f"  {FIRST_OF_NEXT} = alloca i32"
BEGIN = f"  store i32 {WARP}, ptr {FIRST_OF_NEXT}"


class TwoRowsAlgebra(TrialAlgebra):
    """`TrialAlgebra` with two rows. `splits`: in this trial lanes may be in two rows, as some are now if it
    `has_split`. (A warp holds no more than one row of its CTA then.)"""

    splits = has_split = False

    def _may_be_cut(self, t: Type, a: Value, b: Value) -> bool:
        """Whether an index grows by 1 and is divided by what is the same for all lanes, in a trial."""
        if self.retreat is None or t.bits < U32.bits:
            return False
        shape = shape_of(a)
        return shape.is_affine and (shape.width, shape.stride) == (1, 1) and shape_of(b).is_uniform

    def hold_operands(self, t: Type, a: Value, b: Value) -> None:
        """Ahead of a division of an index in a trial: what is to hold of its operands. (LLVM knows it when it
        comes to the division.)"""
        if not self._may_be_cut(t, a, b):
            return
        start, divisor = bases(a), bases(b)
        least, none = (self.number(start.type, n) for n in (SHORTEST if self.splits else 1, 0))
        valid = self.compare_integers("ge", t, divisor, least).ir
        if t.is_signed:
            valid = self.both(valid, self.compare_integers("ge", t, start, none).ir)
        self.hold(self.both(valid, self._no_wrap(t, a)))

    def in_two_rows(
        self, t: Type, a: Value, b: Value, quotient: Value, first: Value, stride: int
    ) -> Value | None:
        """A quotient or remainder of an index that grows by 1, of operands that are held; None if it is not
        one, or no such trial is made. `first`: the first lane's."""
        if not (self.splits and self._may_be_cut(t, a, b)):
            return None
        start, divisor = bases(a), bases(b)
        least, one, none = (self.number(start.type, n) for n in (WARP, 1, 0))
        left = self.binary("sub", divisor, self.binary("sub", start, self.binary("mul", quotient, divisor)))
        broken = self.test("icmp ult", left, least)
        # The sum wraps in rows of more than 2^30 words only, for which there may be a trial or none.
        self.hold(self.test("icmp uge", self.binary("add", left, divisor), least).ir)
        self._go_on_at(self.resize(t, U32, self.pick(broken, left, least)))
        self.has_split = self.tries_rows = True
        step = self.pick(broken, divisor if stride else one, none)
        second = self.binary("sub" if stride else "add", first, step)
        return self.shaped(self._assemble(start.type, [bases(first).ir, second.ir]), Shape(TWO, stride))

    def may_be_cut_again(self, t: Type, a: Value, b: Value) -> bool:
        """Whether what is divided is itself in two rows of an index, as `i % (width * height)` may be."""
        known = self.retreat is not None and t.bits >= U32.bits and self.is_split(a)
        return known and shape_of(a).stride == 1 and shape_of(b).is_uniform

    def in_next_rows(self, t: Type, a: Value, b: Value, stride: int) -> Value:
        """A quotient or remainder of lanes in two rows. Each part of them is in one row of this division; or
        all lanes were in one row so far, and come to the next one here."""
        first, second = self.both_bases(a)
        divisor, before = bases(b), self._first_of_next()
        least, none = (self.number(first.type, n) for n in (WARP, 0))
        if t.bits > U32.bits:
            before = self.cast("zext", first.type, before)
        together = self.test("icmp eq", before, least)
        start = self.pick(together, none, self.binary("add", second, before))
        self._hold_parts(t, first, start, divisor)
        starts = self._assemble(first.type, [first.ir, start.ir])
        quotients = LlvmAlgebra.divide(self, t, starts, divisor)
        columns = self.binary("sub", starts, self.binary("mul", quotients, self.widened(divisor, TWO)))
        (quotient, others), (column, beyond) = self.both_bases(quotients), self.both_bases(columns)
        left, rest = self.binary("sub", divisor, column), self.binary("sub", divisor, beyond)
        lane = self.pick(together, self.intrinsic("umin", left, least), before)
        self.hold(self.test("icmp uge", left, lane).ir)
        self.hold(self.test("icmp uge", self.binary("add", lane, rest), least).ir)
        self._go_on_at(self.resize(t, U32, lane))
        self.has_split = self.tries_rows = True
        # Where no lane comes to a next row here, another index may yet go on to one within the warp.
        broken = self.test("icmp ult", lane, least)
        if stride:
            made = [column, self.pick(broken, self.binary("sub", beyond, lane), column)]
        else:
            next_row = self.binary("add", quotient, self.cast("zext", first.type, broken))
            made = [quotient, self.pick(together, next_row, others)]
        return self.shaped(self._assemble(first.type, [value.ir for value in made]), Shape(TWO, stride))

    def _hold_parts(self, t: Type, first: Value, start: Value, divisor: Value) -> None:
        """What a division wants of its operands: see `hold_operands`. `start`: of the second row."""
        none = self.number(first.type, 0)
        valid = self.compare_integers("gt", t, divisor, none).ir
        for number in (first, start):
            if t.is_signed:
                valid = self.both(valid, self.compare_integers("ge", t, number, none).ir)
            valid = self.both(valid, self._no_wrap(t, self.shaped(number, Shape(1, 1))))
        self.hold(valid)

    def resize(self, source: Type, target: Type, a: Value) -> Value:
        """An extension looks at lanes that are in the row: others may lie beyond the type's ends."""
        shape, lanes = shape_of(a), (source.bits, target.bits) == (32, 64)
        if not lanes or not self.is_split(a) or not shape.stride or self.retreat is None:
            return super().resize(source, target, a)
        next_row = self._first_of_next().ir
        lane = self.emit(f"insertelement <{TWO} x i32> zeroinitializer, i32 {next_row}, i32 1", "i32", TWO)
        gone = self.binary("mul", lane, self.number("i32", shape.stride))
        first = self.shaped(self.binary("add", bases(a), gone), shape)
        self.hold(self._no_wrap(source, first))
        back = self.cast("sext", "i64", gone)
        start = self.binary("sub", LlvmAlgebra.resize(self, source, target, bases(first)), back)
        return self.shaped(start, Shape(TWO, shape.stride))

    def _go_on_at(self, lane: Value) -> None:
        """The next row begins at a lane, the same for all indices that are cut."""
        before = self._first_of_next()
        least = self.intrinsic("umin", before, lane)
        most = self.intrinsic("umax", before, lane)
        same = self.test("icmp eq", least, most)
        one = self.test("icmp eq", most, self.number("i32", WARP))
        self.hold(self.binary("or", same, one).ir)
        self.builder.void(f"store {least.typed}, ptr {FIRST_OF_NEXT}")

    def _first_of_next(self) -> Value:
        return Value(self.builder.emit(f"load i32, ptr {FIRST_OF_NEXT}"), "i32")

    def in_first_row(self) -> Value:
        """i1 for each lane."""
        lanes = self.constant_lanes("i32", range(WARP))
        return self.test("icmp ult", lanes, self.widened(self._first_of_next(), WARP))

    def is_split(self, value: Value) -> bool:
        """Whether a value has a base for each of two rows."""
        return self.splits and value.width == TWO and not isinstance(value, Guarded)

    def told_by_lanes(self, address: Value) -> Value:
        """An address. Of one that may not have these two rows, as an index may wrap where a warp cannot begin
        again, the lanes: a row of a guarded address is half a warp."""
        unsure = self.splits and address.width == TWO and isinstance(address, Guarded)
        return self.vector(address) if unsure else address

    def widened(self, value: Value, width: int) -> Value:
        if not self.splits or (value.width, width) != (TWO, WARP):
            return super().widened(value, width)
        first, second = (self.widened(base, WARP) for base in self.both_bases(value))
        return self.pick(self.in_first_row(), first, second)

    def both_bases(self, value: Value) -> list[Value]:
        texts = [f"extractelement {value.typed}, i32 {i}" for i in range(TWO)]
        return [Value(self.builder.emit(text), value.type) for text in texts]
