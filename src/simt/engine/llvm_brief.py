"""Accesses of loops that are seldom run (`simt.analysis.rolled_again`): in few lines of code."""

from __future__ import annotations

from simt.engine.llvm_access import Access
from simt.engine.llvm_builder import Value
from simt.engine.llvm_few import FewAlgebra
from simt.engine.llvm_lanes import shape_of
from simt.engine.llvm_memory import Store


class BriefAlgebra(FewAlgebra):
    """`FewAlgebra` that calls a function of the runtime where it is to be `brief`."""

    brief = False

    def load_planned(self, access: Access) -> tuple[Value, ...]:
        if self.brief and not shape_of(access.address).is_uniform:
            return self._load_slowly(self.lane_by_lane(access))
        return super().load_planned(access)

    def take_store(self, store: Store) -> None:
        if self.brief and not self.holds:
            self.retreat = None
            data = self._interleave([self.vector(value) for value in store.values])
            self._store_slowly(self.lane_by_lane(store.access), data)
            return None
        return super().take_store(store)
