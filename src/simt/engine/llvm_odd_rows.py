"""CTAs whose rows do not fit warps (20 x 20 threads: a tile of 16 x 16 with its halo): lanes of a warp are in
two or three rows of threads, and so mostly in as many runs of consecutive places.

Two runs are two vectors (`simt.engine.llvm_runs`), here outside of loops, too; more of them are loaded by a
loop over runs, as they are stored.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from simt.analysis.shape import WARP
from simt.engine import llvm_runtime
from simt.engine.host import stores_some
from simt.engine.llvm_access import I64, Access
from simt.engine.llvm_builder import Value
from simt.engine.llvm_memory import Values
from simt.engine.llvm_runs import MOST
from simt.engine.llvm_variables import VariableAlgebra


class OddRowsAlgebra(VariableAlgebra):
    """`VariableAlgebra` with such CTAs."""

    def load_two(self, access: Access, otherwise: Callable[[], Values]) -> Values:
        if self.block.rows_fit or access.count > 1 or not stores_some(self.features):
            return super().load_two(access, otherwise)
        return super().load_two(access, partial(self._load_runs, access, otherwise))

    def _load_runs(self, access: Access, otherwise: Callable[[], Values]) -> Values:
        """A word of each lane, by a vector for each of a few runs."""
        places = self._as_lane_0(access, self._checked_offsets(access, llvm_runtime.load))
        breaks = self._breaks(places)
        count = self.module.declare("llvm.ctpop.i32", "i32", ("i32",))
        found = self.builder.emit(f"call i32 {count}({breaks.typed})")
        host = Value(self.pointer(Value(access.region.host, I64)), "ptr")
        run = partial(OddRowsAlgebra.loaded_in_runs, element=access.element, size=access.size)

        def in_runs() -> Values:
            operands = places, breaks, host, self.mask_bits(self.mask)
            return (self.apart("load.runs", run, *operands, called=True),)

        return self._either(self.builder.emit(f"icmp ult i32 {found}, {MOST}"), in_runs, otherwise)

    def loaded_in_runs(
        self, places: Value, breaks: Value, host: Value, mask: Value, element: str, size: int
    ) -> Value:
        """Words of a size, of the lanes of a mask (i32). `places`: of lane 0, if all lanes were in one run
        with each."""
        kept = self.spilled(Value("zeroinitializer", element, WARP))
        text = f"load <{WARP} x {element}>, ptr {kept}, align 64"

        def loaded(place: str, lanes: Value) -> None:
            found = self.masked_load(place, lanes, element, size, self.emit(text, element, WARP))
            self.builder.void(f"store {found.typed}, ptr {kept}, align 64")

        self.over_runs(places, breaks, host, mask, loaded)
        return self.emit(text, element, WARP)
