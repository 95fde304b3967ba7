"""Bytes and halves at scattered places: CPUs scatter words of 4 and 8 bytes, these are stored one by one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from simt.engine.llvm_access import I64, Access
from simt.engine.llvm_builder import Value
from simt.engine.llvm_indices import LEAST
from simt.engine.llvm_masked import Places
from simt.engine.llvm_swaps import SwapAlgebra


class OneByOneAlgebra(SwapAlgebra):
    """`SwapAlgebra` with scatters of small words."""

    def scatter_of(self, access: Access, places: Places, data: Value) -> None:
        """Stores what lies at each lane's place; higher lanes win."""
        if access.word >= LEAST:
            return self.scatter(places, self.mask, data, access.word)
        run = partial(OneByOneAlgebra.store_each, word=access.word)
        self.apart("store.each", run, self.mask_bits(self.mask), data, *places, called=True)
        return None

    def store_each(self, bits: Value, data: Value, *places: Value, word: int) -> None:
        """A function of its own."""
        kept = self.spilled(places[-1])
        self.store_in_turns(bits, data, partial(self._place_of_turn, kept, places), word)

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

    def _place_of_turn(self, kept: str, places: Places, lane: Value) -> str:
        """Where the turn's lane gets at memory. `kept`: the lanes' pointers, or bytes behind one."""
        kind = places[-1].type
        at = self.builder.emit(f"getelementptr {kind}, ptr {kept}, {lane.typed}")
        one = self.builder.emit(f"load {kind}, ptr {at}")
        if len(places) == 1:
            return one
        return self.builder.emit(f"getelementptr i8, {places[0].typed}, {kind} {one}")
