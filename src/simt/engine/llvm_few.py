"""Accesses to scattered places by few lanes of a warp.

Where gathers are slow (AMD's Zen), they take as long for one lane as for all. So the lanes of a mask that may
leave some out are counted first: up to four load or store one after the other, in a loop, in a third of the
time.
"""

from __future__ import annotations

from functools import partial

from simt.analysis.shape import WARP
from simt.engine.host import SLOW_GATHERS
from simt.engine.llvm_access import SHARED, Access
from simt.engine.llvm_builder import Value
from simt.engine.llvm_indices import LEAST
from simt.engine.llvm_masked import MaskedAlgebra, Places

FEW = 4
"""Lanes that get at memory by themselves. A gather takes 6 to 9 ns on a Zen 5, a scatter 8; the loop 2 ns for
up to three lanes, and half a nanosecond for each more. With up to eight, a bitonic sort, in which data
tell which lanes store, took a third longer: the CPU guessed wrong."""


class FewLanesAlgebra(MaskedAlgebra):
    """`MaskedAlgebra` with a way for few lanes, in shared memory. `may_call`: the present block is in no loop
    but such that wait at a barrier in each turn. In others values live in registers, which a call does not
    keep: sorting by heaps took a third longer."""

    may_call = True

    def gather_of(self, access: Access, places: Places, element: str, word: int) -> Value:
        """What lies at each lane's place, of an access."""
        whole = partial(self.gather, places, self.mask, element, word)
        if not self._may_be_few(access):
            return whole()
        run = partial(FewLanesAlgebra.load_some, element=element, word=word)

        def few() -> tuple[Value, ...]:
            return (self.apart("load.few", run, self.mask_bits(self.mask), *places, called=True),)

        (found,) = self._either(self._are_few(), few, lambda: (whole(),))
        return found

    def scatter_of(self, access: Access, places: Places, data: Value) -> None:
        """The reverse; higher lanes win. CPUs scatter words of 4 and 8 bytes: smaller ones are stored one by
        one in any case."""
        run = partial(FewLanesAlgebra.store_some, word=access.word)

        def few() -> tuple[Value, ...]:
            self.apart("store.few", run, self.mask_bits(self.mask), data, *places, called=True)
            return ()

        def all_at_once() -> tuple[Value, ...]:
            self.scatter(places, self.mask, data, access.word)
            return ()

        if access.word >= LEAST and not self._may_be_few(access):
            all_at_once()
        else:
            self._either("true" if access.word < LEAST else self._are_few(), few, all_at_once)

    def _may_be_few(self, access: Access) -> bool:
        slow = {"avx512f", SLOW_GATHERS} <= self.features and access.region is SHARED
        return slow and self.may_call and not self.mask_is_full and not self.module.is_long

    def _are_few(self) -> str:
        count = self.module.declare("llvm.ctpop.i32", "i32", ("i32",))
        lanes = self.builder.emit(f"call i32 {count}({self.mask_bits(self.mask).typed})")
        return self.builder.emit(f"icmp ule i32 {lanes}, {FEW}")

    # -- functions of their own, with a turn for each lane ---------------------------------------------

    def load_some(self, bits: Value, *places: Value, element: str, word: int) -> Value:
        """What lies at the places of the lanes of a mask (i32); zeros for others."""
        kept, none = self.spilled(places[-1]), Value("zeroinitializer", element, WARP)
        phi = f"phi {none.spelled} [ {none.ir}, %begin ], [ %more, %turn ]"
        self._begin_turns(bits, f"%found = {phi}")
        place = self._place_of_turn(kept, places)
        item = Value(self.builder.emit(f"load {element}, ptr {place}, align {word}"), element)
        bit = self.builder.emit("xor i32 %left, %rest")
        lane = self.emit(f"bitcast i32 {bit} to <{WARP} x i1>", "i1", WARP)
        item = self.widened(item, WARP)
        self.builder.void(f"%more = select {lane.typed}, {item.typed}, {item.spelled} %found")
        self._end_turns()
        return self.emit(phi, element, WARP)

    def store_some(self, bits: Value, data: Value, *places: Value, word: int) -> None:
        """The reverse; higher lanes win."""
        kept, words = self.spilled(places[-1]), self.spilled(data)
        self._begin_turns(bits)
        at = self.builder.emit(f"getelementptr {data.type}, ptr {words}, i64 %lane")
        item = self.builder.emit(f"load {data.type}, ptr {at}")
        place = self._place_of_turn(kept, places)
        self.builder.void(f"store {data.type} {item}, ptr {place}, align {word}")
        self._end_turns()

    def _place_of_turn(self, kept: str, places: Places) -> str:
        """Where the turn's lane gets at memory. `kept`: the lanes' pointers, or bytes behind
        one, in memory."""
        kind = places[-1].type
        at = self.builder.emit(f"getelementptr {kind}, ptr {kept}, i64 %lane")
        one = self.builder.emit(f"load {kind}, ptr {at}")
        if len(places) == 1:
            return one
        return self.builder.emit(f"getelementptr i8, {places[0].typed}, {kind} {one}")

    def _begin_turns(self, bits: Value, *phis: str) -> None:
        """A turn for each lane of a mask, the lowest first. `%left`: those that have not had theirs."""
        say = self.builder.void
        say("br label %begin")
        self.builder.label("begin")
        say(f"%some = icmp ne {bits.typed}, 0")
        say("br i1 %some, label %turn, label %end")
        self.builder.label("turn")
        say(f"%left = phi i32 [ {bits.ir}, %begin ], [ %rest, %turn ]")
        for phi in phis:
            say(phi)
        zeros = self.module.declare("llvm.cttz.i32", "i32", ("i32", "i1"))
        lane = self.builder.emit(f"call i32 {zeros}(i32 %left, i1 true)")
        say(f"%lane = zext i32 {lane} to i64")
        less = self.builder.emit("sub i32 %left, 1")
        say(f"%rest = and i32 %left, {less}")

    def _end_turns(self) -> None:
        self.builder.void("%goes = icmp ne i32 %rest, 0")
        self.builder.void("br i1 %goes, label %turn, label %end")
        self.builder.label("end")
