"""Words at unknown addresses that lie close together in global memory, without a gather.

Pictures are made larger and smaller (`x / 2`, `x * scale`), grids are looked up between their points, and
bands of a matrix lie beside its diagonal: lanes do not read one word after the other, but words that are not
far from those of their neighbours. On CPUs whose gathers are slow four vectors are loaded then, and each lane
looks its word up in registers, as in shared memory (`simt.engine.llvm_windows`). Before all lanes are looked
at, the second and the last one are compared with the first, which tells unrelated lanes apart at the cost of
some scalars.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from simt.analysis.shape import WARP
from simt.engine.llvm_access import LOCAL, OWNED, Access
from simt.engine.llvm_builder import Value
from simt.engine.llvm_gathers import GatherAlgebra
from simt.engine.llvm_lanes import Guarded, shape_of
from simt.engine.llvm_windows import PLACES, WINDOW, WORD, WindowAlgebra

BEFORE = 16
"""Words of a window before that of the first lane."""
Loaded = tuple[Value, ...]


class NearAlgebra(GatherAlgebra):
    """`GatherAlgebra` with windows of global memory."""

    def may_be_near(self, access: Access) -> bool:
        """Whether it is worth looking: where nothing is known of lanes, and a gather takes long."""
        address = access.address
        unknown = address.guessed if isinstance(address, Guarded) else shape_of(address).width == WARP
        plain = access.count == 1 and access.size == WORD and not access.volatile
        able = self.has_windows and not self.has_gathers and access.region not in (*OWNED, LOCAL)
        return unknown and plain and able

    def load_near(self, access: Access, otherwise: Callable[[], Loaded]) -> Loaded:
        """A word for each lane out of the window around the first lane's, or `otherwise()`. All of the window
        is valid."""
        address = self.vector(access.address)
        start = self._scalar("sub", self._at(address, 0), WORD * BEFORE)
        starts = self.widened(start, WARP)
        look, near, apart, end = (self.builder.block_name(h) for h in ("look", "near", "apart", "end"))
        ends = self.both(self._ends_are_near(address, start), self._valid(access, start, WINDOW).ir)
        self.builder.void(f"br i1 {ends}, label %{look}, label %{apart}")
        self.builder.label(look)
        pointer = Value(self._host(access, start), "ptr")
        run = partial(WindowAlgebra.look_up, element=access.element)
        self.builder.void(f"br i1 {self._one_is_far(address, starts)}, label %{apart}, label %{near}")
        a, from_a = self._side(near, end, lambda: (self.apart("near.look", run, pointer, address, starts),))
        b, from_b = self._side(apart, end, otherwise)
        self.builder.label(end)
        return self._joined(a, from_a, b, from_b)

    def _ends_are_near(self, address: Value, start: Value) -> str:
        """i1: the second and the last lane's words are in the window."""
        places = [self._scalar("sub", self._at(address, lane), start) for lane in (1, WARP - 1)]
        return self.builder.emit(f"icmp ult {self._scalar('or', *places).typed}, {WINDOW}")

    def _one_is_far(self, address: Value, starts: Value) -> str:
        """i1: some running lane's word is not in the window, or not aligned."""
        words = self._words_of_window(address, starts)
        far = self.test("icmp uge", words, self.widened(self.number(words.type, PLACES), WARP))
        return self.any(self.mask_and(self.mask, far))

    def _at(self, column: Value, lane: int) -> Value:
        return Value(self.builder.emit(f"extractelement {column.typed}, i32 {lane}"), column.type)
