"""Several words of each lane, at constant distances from lane to lane that are too large for whole registers
(`Way.STEPS`): a row of a matrix, half of a structure.

All words of a lane are loaded and stored at once, and told apart in registers: lane by lane it takes as long
for 16 bytes as for 4.
"""

from __future__ import annotations

from functools import partial

from simt.analysis.shape import WARP
from simt.engine.llvm_access import Access
from simt.engine.llvm_builder import Value
from simt.engine.llvm_gathers import REGISTER
from simt.engine.llvm_lanes import shape_of
from simt.engine.llvm_steps import StepsAlgebra
from simt.engine.llvm_together import TogetherAlgebra


def _are_together(access: Access) -> bool:
    """Whether each lane has several words that one load of the CPU gets."""
    return access.count > 1 and access.size in (2, 4, 8, REGISTER)


class StructureAlgebra(TogetherAlgebra):
    """`TogetherAlgebra` with several words at steps."""

    def load_by_steps(self, access: Access, near: bool) -> tuple[Value, ...]:
        stride = shape_of(access.address).stride
        if near or stride == -access.size or not _are_together(access):
            return super().load_by_steps(access, near)
        self.ask_for_members(access, stride)
        starts, places = self.starts_of_rows(access), self._places(stride, 0)
        if access.size == REGISTER:
            run = partial(StructureAlgebra.registers_by_steps, access=access, places=places)
            whole = self.apart("structures", run, *starts)
            return tuple(self.piece(whole, WARP * i, WARP) for i in range(access.count))
        element = f"i{8 * access.size}"
        load = partial(StepsAlgebra.load_at, element=element, word=access.size, places=places)
        return self._words_of(access, self.apart("steps", load, *starts))

    def registers_by_steps(self, *starts: Value, access: Access, places: list[int]) -> Value:
        """The first words at each of 32 places, the second ones, and so on."""
        return self.columns_at(self._where_lanes_are(starts, places), access.element, access.count)

    def _store_columns(self, access: Access, stride: int, starts: list[Value], columns: list[Value]) -> None:
        if not _are_together(access):
            return super()._store_columns(access, stride, starts, columns)
        run = partial(StructureAlgebra.store_together, access=access, places=self._places(stride, 0))
        self.apart("structures", run, *starts, *columns)
        return None

    def store_together(self, *operands: Value, access: Access, places: list[int]) -> None:
        """Stores all words of each lane at its place: `put_at` says what the operands are."""
        count = access.count
        starts, whole = operands[:-count], self._interleave(list(operands[-count:]))
        if access.size < REGISTER:
            element = f"i{8 * access.size}"
            words = self.emit(f"bitcast {whole.typed} to <{WARP} x {element}>", element, WARP)
            return self.store_at(*starts, words, word=access.size, places=places)
        for lane, where in enumerate(self._where_lanes_are(starts, places)):
            words = self.piece(whole, lane * count, count)
            self.builder.void(f"store {words.typed}, ptr {where}, align {REGISTER}")
        return None
