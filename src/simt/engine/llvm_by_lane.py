"""Words at each lane's place on CPUs without masks of lanes, or whose gathers are slow: one load for each.

Branches around the loads of lanes that do not run, as LLVM makes them, are foretold badly: masks differ from
warp to warp. Here no load has one. Lanes that do not run load from the place of which all are counted, which
is one that may be read if any lane runs, and what they get is made zero. Stores need turns, one for each lane
that runs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from simt.analysis.shape import WARP
from simt.engine.llvm_access import I64
from simt.engine.llvm_algebra import LlvmIntegers
from simt.engine.llvm_builder import Value, spell
from simt.engine.llvm_exchanges import ExchangeAlgebra

GROUP = 8
"""Lanes of which none loads where none runs."""
EVERY = "-1"
"""The mask of all lanes, as an integer."""
Places = tuple[Value, ...]
"""Each lane's pointer; or one pointer for all, and how many steps from it each lane's is (i32 or i64). (Where
lanes are served one by one, these numbers have no sign, and that pointer's own place can be read wherever
some lane's can.)"""


class ByLaneAlgebra(ExchangeAlgebra):
    """`ExchangeAlgebra` with loads and stores lane by lane."""

    def gather_by_lane(self, places: Places, mask: Value, element: str, word: int, step: int) -> Value:
        """What lies at each lane's place; zeros for lanes that the mask leaves out."""
        bits = self.bits_of_mask(mask)
        if bits.ir == EVERY:
            run = partial(ByLaneAlgebra.load_each, element=element, word=word, step=step)
            return self.apart("gather.all", run, *places, called=True)
        run = partial(ByLaneAlgebra.load_some, element=element, word=word, step=step)
        return self.apart("gather.some", run, bits, *places, called=True)

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
            at = Value(self.builder.emit(f"extractelement {column.typed}, i32 {lane}"), column.type)
            place = self._place_behind(start, at, step)
            item = self.builder.emit(f"load {element}, ptr {place}, align {word}")
            text = f"insertelement {found.typed}, {element} {item}, i32 {lane}"
            found = self.emit(text, element, column.width)
        return found

    def load_some(
        self, bits: Value, start: Value, column: Value, element: str, word: int, step: int
    ) -> Value:
        """A function of its own: `load_each` for the lanes of a mask. Groups of which none runs load nothing:
        that is foretold well, since it goes on for lanes at the edge of something, and for one lane alone."""
        size = min(GROUP, column.width)
        found = [
            self._load_group(self._bits_of_group(bits, i, size), start, piece, element, word, step)
            for i, piece in enumerate(self.cut(column, size))
        ]
        return self.join(found, column.width)

    def _bits_of_group(self, bits: Value, number: int, size: int) -> Value:
        shifted = LlvmIntegers.binary(self, "lshr", bits, self.number(bits.type, number * size))
        return shifted if size == int(bits.type[1:]) else self.cast("trunc", f"i{size}", shifted)

    def _load_group(
        self, bits: Value, start: Value, column: Value, element: str, word: int, step: int
    ) -> Value:
        at, some, end = (self.builder.block_name(hint) for hint in ("group", "some", "end"))
        self.builder.void(f"br label %{at}")
        self.builder.label(at)
        none = self.builder.emit(f"icmp eq {bits.typed}, 0")
        self.builder.void(f"br i1 {none}, label %{end}, label %{some}")
        self.builder.label(some)
        mask = self.emit(f"bitcast {bits.typed} to <{column.width} x i1>", "i1", column.width)
        counted = LlvmIntegers.binary(self, "and", column, self._spread_mask(mask, column.type))
        found = self.load_each(start, counted, element, word, step)
        found = self.pick(mask, found, Value("zeroinitializer", element, column.width))
        self.builder.void(f"br label %{end}")
        self.builder.label(end)
        text = f"phi {found.spelled} [ zeroinitializer, %{at} ], [ {found.ir}, %{some} ]"
        return self.emit(text, element, column.width)

    def scatter_by_lane(self, places: Places, mask: Value, data: Value, word: int, step: int) -> None:
        """The reverse; higher lanes win."""
        bits = self.bits_of_mask(mask)
        if bits.ir == EVERY:
            run = partial(ByLaneAlgebra.write_each, word=word, step=step)
            self.apart("scatter.all", run, data, *places, called=True)
        else:
            run = partial(ByLaneAlgebra.write_some, word=word, step=step)
            self.apart("scatter.some", run, bits, data, *places, called=True)

    def write_each(self, data: Value, start: Value, column: Value, word: int, step: int) -> None:
        """A function of its own: one store after the other."""
        for lane in range(column.width):
            at = Value(self.builder.emit(f"extractelement {column.typed}, i32 {lane}"), column.type)
            item = self.builder.emit(f"extractelement {data.typed}, i32 {lane}")
            place = self._place_behind(start, at, step)
            self.builder.void(f"store {data.type} {item}, ptr {place}, align {word}")

    def write_some(self, bits: Value, data: Value, start: Value, column: Value, word: int, step: int) -> None:
        """A function of its own: `write_each` for the lanes of a mask."""
        full = self.builder.emit(f"icmp eq {bits.typed}, -1")
        self.builder.void(f"br i1 {full}, label %full, label %partly")
        self.builder.label("full")
        self.write_each(data, start, column, word, step)
        self.builder.void("ret void")
        self.builder.label("partly")
        if column.width < WARP:
            bits = self.cast("zext", "i32", bits)
        kept = self.spilled(self.padded(column, WARP))

        def place(lane: Value) -> str:
            at = self.builder.emit(f"getelementptr {column.type}, ptr {kept}, {lane.typed}")
            one = Value(self.builder.emit(f"load {column.type}, ptr {at}"), column.type)
            return self._place_behind(start, one, step)

        self.store_in_turns(bits, self.padded(data, WARP), place, word)

    def _place_behind(self, start: Value, at: Value, step: int) -> str:
        if at.type == "i32":
            at = self.cast("zext", I64, at)
        return self.builder.emit(f"getelementptr i{8 * step}, {start.typed}, {at.typed}")

    def store_in_turns(self, bits: Value, data: Value, place: Callable[[Value], str], word: int) -> None:
        """Each lane of a mask stores its word, in its turn, at the `place` for its number."""
        words = self.spilled(data)
        _, lane = self.begin_turns(bits)
        at = self.builder.emit(f"getelementptr {data.type}, ptr {words}, {lane.typed}")
        item = self.builder.emit(f"load {data.type}, ptr {at}")
        self.builder.void(f"store {data.type} {item}, ptr {place(lane)}, align {word}")
        self.end_turns()

    def begin_turns(self, bits: Value, *phis: str) -> tuple[Value, Value]:
        """Begins a turn for each lane of a mask (i32), the lowest first, in a function of its own: its bit,
        and its number (i64). `phis`: of what goes on from turn to turn."""
        say = self.builder.void
        say("br label %begin")
        self.builder.label("begin")
        say(f"%some = icmp ne {bits.typed}, 0")
        say("br i1 %some, label %turn, label %end")
        self.builder.label("turn")
        say(f"%left = phi i32 [ {bits.ir}, %begin ], [ %rest, %turn ]")
        for phi in phis:
            say(phi)
        less = self.builder.emit("sub i32 %left, 1")
        say(f"%rest = and i32 %left, {less}")
        zeros = self.module.declare("llvm.cttz.i32", "i32", ("i32", "i1"))
        lane = Value(self.builder.emit(f"call i32 {zeros}(i32 %left, i1 true)"), "i32")
        return Value(self.builder.emit("xor i32 %left, %rest"), "i32"), self.cast("zext", I64, lane)

    def end_turns(self) -> None:
        """The turn ends; after the last one code goes on."""
        self.builder.void("%goes = icmp ne i32 %rest, 0")
        self.builder.void("br i1 %goes, label %turn, label %end")
        self.builder.label("end")

    def padded(self, value: Value, width: int) -> Value:
        """With zeros behind it."""
        if width == value.width:
            return value
        picks = ", ".join(f"i32 {min(i, value.width)}" for i in range(width))
        text = f"shufflevector {value.typed}, {value.spelled} zeroinitializer, <{width} x i32> <{picks}>"
        return Value(self.builder.emit(text), value.type, width)

    def _spread_mask(self, mask: Value, kind: str) -> Value:
        """All bits of each lane that a mask has."""
        return self.emit(f"sext {mask.typed} to {spell(kind, mask.width)}", kind, mask.width)
