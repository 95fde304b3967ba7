"""Words of each lane's row that an unrolled loop loads one after the other, loaded together.

nvcc unrolls a loop over a thread's row by four: four loads at constant distances from one address. Where
lanes are at one step from each other (`simt.engine.llvm_pitches`), the first of them loads four words for
each lane, as one register, and tells them apart in registers; the others take theirs from there, if it did.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial

from simt.analysis.following import Following
from simt.analysis.shape import WARP
from simt.analysis.ssa import Definition
from simt.engine.llvm_access import Access
from simt.engine.llvm_builder import Value
from simt.engine.llvm_memory import Values
from simt.engine.llvm_pitches import PitchAlgebra
from simt.records import dataclass

WORD, WORDS = 4, 4
"""Bytes of a word, and how many of them a register of every CPU holds."""
LEAST = 3
"""Of these, how many are to be asked for."""


@dataclass(frozen=True, slots=True)
class Ahead:
    """Where is kept, on the stack, what the first load may have loaded: an i1, and columns by offset."""

    done: str
    columns: dict[int, str]


class FollowingAlgebra(PitchAlgebra):
    """`PitchAlgebra` with such loads. `_expected`: what follows the present one. `_room`: for what it may
    load ahead, and how many bytes of that lie before its own word."""

    _expected: Following | None = None
    _room: tuple[Ahead, int] | None = None

    @cached_property
    def _loaded_ahead(self) -> dict[tuple[Definition, int], Ahead]:
        return {}

    def expect(self, following: Following | None) -> None:
        """Says what follows the load to come; None: nothing does, and what was loaded ahead may change."""
        if following is None:
            self._loaded_ahead.clear()
        self._expected = following

    def load_planned(self, access: Access) -> Values:
        expected, self._expected = self._expected, None
        if expected is None or expected.address is None or not self._may_be_together(access):
            return super().load_planned(access)
        ahead = self._loaded_ahead.pop((expected.address, expected.offset), None)
        if ahead is not None:
            done = self.builder.emit(f"load i1, ptr {ahead.done}")
            kept = f"load <{WARP} x {access.element}>, ptr {ahead.columns[expected.offset]}, align 64"
            usual = partial(super().load_planned, access)
            return self._either(done, lambda: (self.emit(kept, access.element, WARP),), usual)
        self._room = self._room_for(access, expected, expected.address)
        values = super().load_planned(access)
        self._room = None
        return values

    def _may_be_together(self, access: Access) -> bool:
        return access.size == WORD and self.permutes(access.element) and self.may_have_pitch(access)

    def _room_for(self, access: Access, expected: Following, address: Definition) -> tuple[Ahead, int] | None:
        """Room for what a load may load ahead, if enough is asked for."""
        words = range(0, WORD * WORDS, WORD)
        near = {o for o in (expected.offset, *expected.others) if abs(o - expected.offset) in words}
        first = max(min(near), expected.offset - words[-1])
        offsets = near & {first + at for at in words}
        if len(offsets) < LEAST:
            return None
        done = self.builder.emit("alloca i1")
        self.builder.void(f"store i1 false, ptr {done}")
        ahead = Ahead(done, {first + at: self.buffer(access.element, WARP) for at in words})
        for offset in offsets - {expected.offset}:
            self._loaded_ahead[address, offset] = ahead
        return ahead, expected.offset - first

    def _load_by_pitch(self, access: Access, otherwise: Callable[[], Values]) -> Values:
        if self._room is None:
            return super()._load_by_pitch(access, otherwise)
        (ahead, at), self._room = self._room, None

        def loaded(first: Value, step: Value) -> Values:
            place = Value(self._host(access, self.plus(first, -at)), "ptr")
            run = partial(FollowingAlgebra.load_words_at_pitch, element=access.element)
            whole = self.apart("rows", run, place, step)
            columns = [self.piece(whole, WARP * i, WARP) for i in range(WORDS)]
            for column, kept in zip(columns, ahead.columns.values(), strict=True):
                self.builder.void(f"store {column.typed}, ptr {kept}, align 64")
            self.builder.void(f"store i1 true, ptr {ahead.done}")
            return (columns[at // WORD],)

        return self._by_pitch(access, loaded, otherwise, before=at, behind=WORD * (WORDS - 1) - at)

    def load_words_at_pitch(self, pointer: Value, step: Value, element: str) -> Value:
        """The first words of each lane's row, the second ones, and so on."""
        return self.columns_at(self._at_pitch(pointer, step), element, WORDS, WORD)
