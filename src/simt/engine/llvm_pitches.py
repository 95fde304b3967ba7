"""Lanes as far apart as the rows of a matrix: the same step from each to the next, known at run time.

A thread that goes through a row (`a[i * n + k]`), or writes a column (`out[x * height + y]`), is `n` words
from its neighbour. Where gathers are slow, what all lanes have is loaded and stored one by one, at addresses
that scalars make of the first lane's and the step. Three lanes are compared by scalars first, so that
unrelated addresses cost little; all of them then, once for a loop through which lanes march together
(`simt.engine.llvm_marches`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from simt.analysis.shape import WARP, Hold
from simt.engine.llvm_access import I64, LOCAL, OWNED, Access
from simt.engine.llvm_algebra import LlvmIntegers
from simt.engine.llvm_builder import Value
from simt.engine.llvm_lanes import Guarded, shape_of
from simt.engine.llvm_memory import Values
from simt.engine.llvm_places import PlacesAlgebra

FARTHEST = 1 << 26
"""Bytes of the largest step: sums of 31 do not wrap."""
TOGETHER = 4
"""Lanes that addressing modes reach from one pointer and two steps."""


class PitchAlgebra(PlacesAlgebra):
    """`PlacesAlgebra` with lanes at a step known at run time. `pitched`: the analysis says that the present
    access's addresses may be so."""

    pitched = False

    def is_scattered_far(self, access: Access) -> bool:
        """Whether nothing is known of lanes, or they are not in one row of an index after all, and a gather
        takes long."""
        return not self.has_gathers and self.may_be_far(access)

    def may_be_far(self, access: Access) -> bool:
        """The same, whatever a gather takes."""
        address, shape = access.address, shape_of(access.address)
        unsure = isinstance(address, Guarded) and (address.guessed or shape.hold == Hold.IN_ROWS)
        unknown = unsure or shape.width == WARP
        plain = access.count == 1 and not access.volatile and not access.in_rows
        able = access.region not in (*OWNED, LOCAL)
        return unknown and plain and able and not self.is_scattered and not self.eager

    def may_have_pitch(self, access: Access) -> bool:
        """Whether it is worth looking."""
        return self.pitched and self.is_scattered_far(access)

    def _gathered(self, access: Access) -> Values:
        usual = partial(super()._gathered, access)
        return usual() if self.may_be_near(access) else self._load_by_pitch(access, usual)

    def load_near(self, access: Access, otherwise: Callable[[], Values]) -> Values:
        return super().load_near(access, partial(self._load_by_pitch, access, otherwise))

    def _load_by_pitch(self, access: Access, otherwise: Callable[[], Values]) -> Values:
        if not self.may_have_pitch(access):
            return otherwise()

        def loaded(first: Value, step: Value) -> Values:
            run = partial(PitchAlgebra.load_at_pitch, element=access.element, word=access.word)
            return (self.apart("pitch", run, Value(self._host(access, first), "ptr"), step),)

        return self._by_pitch(access, loaded, otherwise)

    def _scatter(self, access: Access, values: Values) -> None:
        if not self.may_have_pitch(access):
            return super()._scatter(access, values)
        data = self.vector(values[0])

        def stored(first: Value, step: Value) -> Values:
            run = partial(PitchAlgebra.store_at_pitch, word=access.word)
            self.apart("pitch", run, Value(self._host(access, first), "ptr"), step, data)
            return ()

        def usual() -> Values:
            super(PitchAlgebra, self)._scatter(access, (data,))
            return ()

        full = self.builder.emit(f"icmp eq i32 {self.mask_bits(self.mask).ir}, -1")
        self._by_pitch(access, stored, usual, full)
        return None

    def _by_pitch(
        self, access: Access, run: Callable[[Value, Value], Values], otherwise: Callable[[], Values],
        known: str = "true", before: int = 0, behind: int = 0,
    ) -> Values:  # fmt: skip
        """`run` of the first lane's address and the step, if there is one and all lanes' words are valid,
        whether they run or not, and `known` (i1) holds; else `otherwise()`. `before`, `behind`: bytes around
        each lane's word that are to be valid too."""
        address, moved = self.as_moved(self.vector(access.address))
        first, second, last = (self._lane(address, lane) for lane in (0, 1, WARP - 1))
        step, reach = self.binary("sub", second, first), self.binary("sub", last, first)
        told = self.binary("mul", step, self.number(I64, WARP - 1))
        ok = self.both(known, self.test("icmp eq", reach, told).ir)
        ok = self.both(ok, self.test("icmp ult", step, self.number(I64, FARTHEST)).ir)
        look, alike, apart, end = (self.builder.block_name(h) for h in ("look", "alike", "apart", "end"))
        self.builder.void(f"br i1 {ok}, label %{look}, label %{apart}")
        self.builder.label(look)
        ends = [moved(value) for value in (first, last)]
        ok = self._all(self._agrees(address, self._at_step(first, step)))
        for value, more in zip(ends, (-before, behind), strict=True):
            ok = self.both(ok, self._valid(access, self.plus(value, more), access.size).ir)
        self.builder.void(f"br i1 {ok}, label %{alike}, label %{apart}")
        a, from_a = self._side(alike, end, lambda: run(ends[0], step))
        b, from_b = self._side(apart, end, otherwise)
        self.builder.label(end)
        return self._joined(a, from_a, b, from_b)

    def _at_step(self, first: Value, step: Value) -> Value:
        """All lanes' addresses. The step has no more than 32 bits, which LLVM is told: products of 64 bits
        take three times as long."""
        short = self.cast("zext", I64, self.cast("trunc", "i32", step))
        steps = LlvmIntegers.binary(
            self, "mul", self.widened(short, WARP), self.constant_lanes(I64, range(WARP))
        )
        return LlvmIntegers.binary(self, "add", self.widened(first, WARP), steps)

    # -- functions of their own --------------------------------------------------------------------

    def load_at_pitch(self, pointer: Value, step: Value, element: str, word: int) -> Value:
        places = self._at_pitch(pointer, step)
        items = [self.builder.emit(f"load {element}, ptr {place}, align {word}") for place in places]
        return self._assemble(element, items)

    def store_at_pitch(self, pointer: Value, step: Value, data: Value, word: int) -> None:
        for lane, place in enumerate(self._at_pitch(pointer, step)):
            item = self.builder.emit(f"extractelement {data.typed}, i32 {lane}")
            self.builder.void(f"store {data.type} {item}, ptr {place}, align {word}")

    def _at_pitch(self, pointer: Value, step: Value) -> list[str]:
        """Each lane's pointer."""
        steps = [self.builder.emit(f"mul i64 {step.ir}, {i}") for i in range(TOGETHER + 1)]
        places, start = list[str](), pointer.ir
        for _ in range(WARP // TOGETHER):
            places += [self.builder.emit(f"getelementptr i8, ptr {start}, i64 {s}") for s in steps[:-1]]
            start = self.builder.emit(f"getelementptr i8, ptr {start}, i64 {steps[-1]}")
        return places
