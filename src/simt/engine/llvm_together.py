"""Words of each lane that lie side by side, loaded at once where a gather would get one after the other
(`simt.analysis.together`): a load of 16 bytes for each lane takes no longer than one of 4.

The first load of a group gets the words of all, if all lanes' 16 bytes are valid, and keeps those of the
others. These take them from there if it did. Otherwise each is checked and gathered by itself: faults are
those of the program, in its order.
"""

from __future__ import annotations

from functools import cached_property, partial

from simt.analysis.shape import WARP
from simt.analysis.together import BYTES, Together
from simt.engine.llvm_access import LOCAL, SHARED, WOVEN, Access
from simt.engine.llvm_builder import Value, spell
from simt.engine.llvm_lanes import Guarded, shape_of
from simt.engine.llvm_members import MemberAlgebra
from simt.records import dataclass, replace


@dataclass(frozen=True)
class Kept:
    """Where a group's words are kept, and i1: whether they are."""

    flag: str
    words: tuple[str, ...]


class TogetherAlgebra(MemberAlgebra):
    """`MemberAlgebra` that loads words of lanes together. `together`: which one of a group a load is."""

    together: Together | None = None

    @cached_property
    def _kept(self) -> dict[int, Kept]:
        """By the group's number."""
        return {}

    def load_planned(self, access: Access) -> tuple[Value, ...]:
        if self._begins_group(access):
            self._keep_group(access)
        return super().load_planned(access)

    def _begins_group(self, access: Access) -> bool:
        together, address = self.together, access.address
        if together is None or not together.first:
            return False
        unknown = address.guessed if isinstance(address, Guarded) else shape_of(address).width == WARP
        return unknown and access.region not in (SHARED, LOCAL, WOVEN)

    def _keep_group(self, access: Access) -> None:
        """Nothing is kept so far."""
        assert self.together is not None
        flag = self.builder.emit("alloca i1")
        self.builder.void(f"store i1 false, ptr {flag}")
        words = [self.buffer(access.element, WARP) for _ in range(self.together.words)]
        self._kept[self.together.number] = Kept(flag, tuple(words))

    def _gathered(self, access: Access) -> tuple[Value, ...]:
        together = self.together
        kept = None if together is None else self._kept.get(together.number)
        usual = partial(super()._gathered, access)
        if together is None or kept is None:
            return usual()
        if together.first:
            wide = self._group_of(access, together)
            good = self._is_group_valid(access, wide)
            return self._either(good, partial(self._load_group, wide, kept), usual, likely=True)
        flag = self.builder.emit(f"load i1, ptr {kept.flag}")
        return self._either(flag, partial(self._word_of_group, access, kept), usual, likely=True)

    def _group_of(self, access: Access, together: Together) -> Access:
        """All words of the group."""
        start = self.vector(access.address)
        if together.place:
            before = self.widened(self.number(start.type, access.size * together.place), WARP)
            start = self.emit(f"sub {start.typed}, {before.ir}", start.type, WARP)
        return replace(access, address=start, count=together.words, size=BYTES)

    def _is_group_valid(self, access: Access, wide: Access) -> str:
        """i1: lanes that run may load all of it. A word is aligned if its group's first is."""
        valid = self._valid(access, wide.address, BYTES)
        wrong = self.mask_and(self.mask, self.invert_mask(valid))
        return self.builder.emit(f"icmp eq i32 {self.mask_bits(wrong).ir}, 0")

    def _load_group(self, wide: Access, kept: Kept) -> tuple[Value, ...]:
        assert self.together is not None
        words = self.load_registers(wide, self._offset(wide, wide.address), wide.word)
        for word, place in zip(words, kept.words):
            self.builder.void(f"store {word.typed}, ptr {place}, align 64")
        self.builder.void(f"store i1 true, ptr {kept.flag}")
        return (words[self.together.place],)

    def _word_of_group(self, access: Access, kept: Kept) -> tuple[Value, ...]:
        assert self.together is not None
        text = f"load {spell(access.element, WARP)}, ptr {kept.words[self.together.place]}, align 64"
        return (self.emit(text, access.element, WARP),)
