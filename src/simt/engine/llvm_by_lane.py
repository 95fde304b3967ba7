"""Words at each lane's place on CPUs without masks of lanes, or whose gathers are slow: one load for each.

Branches around the loads of lanes that do not run, as LLVM makes them, are foretold badly: masks differ from
warp to warp. Here no load has one. Lanes that do not run load from the place of which all are counted, which
is one that may be read if any lane runs, and what they get is made zero. Stores need turns, one for each lane
that runs.
"""

from __future__ import annotations

from functools import partial

from simt.analysis.shape import WARP
from simt.engine.llvm_algebra import LlvmIntegers
from simt.engine.llvm_builder import Value, spell
from simt.engine.llvm_exchanges import ExchangeAlgebra
from simt.engine.llvm_lanes import ALL

Places = tuple[Value, ...]
"""Each lane's pointer; or one pointer for all, and how many steps from it each lane's is (i32 or i64). That
pointer's own place can be read wherever some lane's can."""


class ByLaneAlgebra(ExchangeAlgebra):
    """`ExchangeAlgebra` with loads and stores lane by lane."""

    @property
    def goes_by_lane(self) -> bool:
        """Whether places of lanes are served so."""
        return "avx512f" not in self.features and not self.has_gathers

    def gather_by_lane(self, places: Places, mask: Value, element: str, word: int, step: int) -> Value:
        """What lies at each lane's place; zeros for lanes that the mask leaves out."""
        run = partial(ByLaneAlgebra.load_each, element=element, word=word, step=step)
        if mask.ir == ALL:
            return self.apart("gather.all", run, *places, called=True)
        run = partial(ByLaneAlgebra.load_some, element=element, word=word, step=step)
        return self.apart("gather.some", run, self.bits_of_mask(mask), *places, called=True)

    def bits_of_mask(self, mask: Value) -> Value:
        """A mask of any width as an integer. (Functions that get vectors of bits get them lane by lane.)"""
        if mask.width == WARP:
            return self.mask_bits(mask)
        kind = f"i{mask.width}"
        return Value(self.builder.emit(f"bitcast {mask.typed} to {kind}"), kind)

    def load_each(self, start: Value, column: Value, element: str, word: int, step: int) -> Value:
        """A function of its own: one load after the other."""
        found = Value("poison", element, column.width)
        for lane in range(column.width):
            at = self.builder.emit(f"extractelement {column.typed}, i32 {lane}")
            place = self.builder.emit(f"getelementptr i{8 * step}, {start.typed}, {column.type} {at}")
            item = self.builder.emit(f"load {element}, ptr {place}, align {word}")
            text = f"insertelement {found.typed}, {element} {item}, i32 {lane}"
            found = self.emit(text, element, column.width)
        return found

    def load_some(
        self, bits: Value, start: Value, column: Value, element: str, word: int, step: int
    ) -> Value:
        """A function of its own: `load_each` for the lanes of a mask."""
        width, none = column.width, self.builder.emit(f"icmp eq {bits.typed}, 0")
        self.builder.void(f"br i1 {none}, label %none, label %some")
        self.builder.label("none")
        self.builder.void(f"ret {spell(element, width)} zeroinitializer")
        self.builder.label("some")
        mask = self.emit(f"bitcast {bits.typed} to <{width} x i1>", "i1", width)
        counted = LlvmIntegers.binary(self, "and", column, self._spread_mask(mask, column.type))
        found = self.load_each(start, counted, element, word, step)
        return self.pick(mask, found, Value("zeroinitializer", element, width))

    def _spread_mask(self, mask: Value, kind: str) -> Value:
        """All bits of each lane that a mask has."""
        return self.emit(f"sext {mask.typed} to {spell(kind, mask.width)}", kind, mask.width)
