"""Code that is tried first: right while all lanes go together and every guard holds.

Indices of long arrays are cut into rows and columns (`i / width`, `i % width`), extended, limited; in most
warps all lanes are in one row, nothing wraps and all spans are valid. The usual code asks so at each use, and
half of it is for the case that the answer is no. In a trial each guard is tested where it is made, and where
one does not hold the warp begins again, with the usual code: nobody can tell, as long as the warp has done
nothing but load. From its first store on, what is tested is done so as in the usual code.

Branches on indices (`i < n`) are such guards too: that all lanes go one way. Compilers divide numbers of 64
bits by 32 where both upper halves are zero (`simt.analysis.short_divisions`): in a trial they are.
"""

from __future__ import annotations

from functools import cached_property

from simt.analysis.shape import Hold
from simt.engine.llvm_branches import LIKELY
from simt.engine.llvm_builder import Value
from simt.engine.llvm_lanes import Combined, Guarded, Lanes, bases, shape_of
from simt.engine.llvm_sides import SidesAlgebra
from simt.isa.algebra import Comparison
from simt.ptx.types import U32, Type
from simt.records import replace

PLAIN = (Value, Lanes, Combined)


class TrialAlgebra(SidesAlgebra):
    """`SidesAlgebra` with trials. `retreat`: the label of the usual code, None in all code from which a warp
    cannot begin again. `tries_rows`: all lanes are held to be in one row of some index. (Where nothing but
    extensions is guarded, the usual code is as fast.)"""

    retreat: str | None = None
    tries_rows = False

    def sure(self, value: Guarded, *operands: Value) -> Value:
        """What is made of guesses stays one: all other guarded values are sure when they are made."""
        if self.retreat is None or value.valid == "false" or any(isinstance(v, Guarded) for v in operands):
            return value
        self.tries_rows |= value.shape.hold == Hold.IN_ROWS and value.valid != "true"
        self.hold(value.valid)
        return self.shaped(bases(value), replace(value.shape, hold=Hold.EXACT))

    def hold(self, condition: str) -> str:
        """i1: a condition; "true" in a trial, which goes on only if it holds."""
        if self.retreat is None or condition == "true":
            return condition
        holds = self.builder.block_name("holds")
        self.builder.void(f"br i1 {condition}, label %{holds}, label %{self.retreat}{LIKELY}")
        self.builder.label(holds)
        return "true"

    # -- predicates of indices ---------------------------------------------------------------------

    @cached_property
    def _of_indices(self) -> set[str]:
        """Names of predicates."""
        return set()

    def is_of_index(self, value: Value) -> bool:
        """Whether a predicate compares what grows evenly from lane to lane, or bits of it, with what is the
        same for all. (What is not settled has no name before it is asked for.)"""
        return type(value) in PLAIN and value.ir in self._of_indices

    def note_of_index(self, value: Value) -> Value:
        if type(value) in PLAIN and value.ir.startswith("%"):
            self._of_indices.add(value.ir)
        return value

    def compare_integers(self, op: Comparison, t: Type, a: Value, b: Value) -> Value:
        result = super().compare_integers(op, t, a, b)
        return self.note_of_index(result) if all(map(self._is_index, (a, b))) else result

    def and_(self, t: Type, a: Value, b: Value) -> Value:
        return self._of_both(t, a, b, super().and_(t, a, b))

    def or_(self, t: Type, a: Value, b: Value) -> Value:
        return self._of_both(t, a, b, super().or_(t, a, b))

    def invert(self, t: Type, a: Value) -> Value:
        return self._of_both(t, a, a, super().invert(t, a))

    def _of_both(self, t: Type, a: Value, b: Value, result: Value) -> Value:
        """A result that is a predicate of indices, or bits of one, if its operands are."""
        known = self.retreat is not None and all(map(self._is_index, (a, b)))
        return self.note_of_index(result) if known and not isinstance(result, Lanes) else result

    # -- upper halves of words of 64 bits ------------------------------------------------------------

    def hold_halves(self, *numbers: Value) -> bool:
        """In a trial, of indices of 64 bits: holds that they have no upper halves. False of what is the same
        for all lanes, and of columns, which may be anything."""
        shapes = [shape_of(number) for number in numbers]
        known = all(s.is_affine for s in shapes) and not all(s.is_uniform for s in shapes)
        if self.retreat is None or not known or any(isinstance(number, Guarded) for number in numbers):
            return False
        for number in numbers:
            self.hold(self._all(self._is_half(number)))
        return True

    def _is_half(self, number: Value) -> Value:
        """i1, or one for each lane: no lane has a bit of the upper half."""
        limit, reach = self.number(number.type, 2**U32.bits), shape_of(number).stride * (self.segment - 1)
        if number.width > 1 or not 0 <= reach < 2**U32.bits:
            return self.test("icmp ult", self.vector(number), limit)
        first = bases(number)
        last = self.binary("add", first, self.number(first.type, reach))
        return self.test("icmp ult", self.binary("or", first, last), limit)

    def _is_index(self, value: Value) -> bool:
        return shape_of(value).is_affine or self.is_of_index(value)
