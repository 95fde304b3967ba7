"""Memory brought nearer before it is used, where the CPU does not do so by itself.

CPUs notice loads that go on by small steps, not those that go from page to page, as those of a loop over
all threads of a grid do (`for (i = thread; i < n; i += threads)`). Code of such a loop compares the
address with that of the last iteration, and asks for what the same step will reach some iterations on.

Nor do they look past what a CTA does between its barriers. So a kernel with barriers asks for what the
next CTA will use: as far on as this CTA's first warp is from the last CTA's.

A prefetch of a wild address does nothing.
"""

from __future__ import annotations

from simt.engine.llvm_builder import Value
from simt.engine.llvm_lanes import LaneAlgebra

AHEAD = 8
"""Iterations."""
NEAR = 2048
"""Bytes of a step that the CPU follows by itself."""
LINE = 64
CLOSE, CLOSER = 2, 3
"""How near to the CPU, as LLVM counts: to the second cache, to the first."""


class PrefetchAlgebra(LaneAlgebra):
    """`LaneAlgebra` with prefetches. `in_loop`: whether the present block is part of a loop.
    `for_next_cta`: whether to ask for what the next CTA will use."""

    in_loop = False
    for_next_cta = False

    def prefetch(self, address: Value, nbytes: int, write: bool = False) -> None:
        """Asks for what the present load or store of some bytes at an address (scalar i64) will use later."""
        if self.in_loop:
            if not write:
                self._prefetch_in_loop(address, nbytes)
        elif self.for_next_cta:
            self._prefetch_for_next_cta(address, nbytes, write)

    def _prefetch_in_loop(self, address: Value, nbytes: int) -> None:
        step = self._step(address, self._note())
        beyond = self.builder.emit(f"add i64 {step}, {NEAR}")
        far = self.builder.emit(f"icmp ugt i64 {beyond}, {2 * NEAR}")
        ask, go = self.builder.block_name("ask"), self.builder.block_name("go")
        self.builder.void(f"br i1 {far}, label %{ask}, label %{go}")
        self.builder.label(ask)
        self._ask(address, self.builder.emit(f"mul i64 {step}, {AHEAD}"), nbytes, CLOSER, False)
        self.builder.void(f"br label %{go}")
        self.builder.label(go)

    def _prefetch_for_next_cta(self, address: Value, nbytes: int, write: bool) -> None:
        last, step = self._note(), self._note()
        first, go = self.builder.block_name("first"), self.builder.block_name("go")
        is_first = self.builder.emit(f"icmp eq i32 {self.warp.ir}, 0")
        self.builder.void(f"br i1 {is_first}, label %{first}, label %{go}")
        self.builder.label(first)
        self.builder.void(f"store volatile i64 {self._step(address, last)}, ptr {step}")
        self.builder.void(f"br label %{go}")
        self.builder.label(go)
        self._ask(address, self._noted(step), nbytes, CLOSE, write)

    def _note(self) -> str:
        """Where an address or a step is kept. Not in a register, which is worth more elsewhere: volatile."""
        return self.builder.emit("alloca i64, align 8")

    def _noted(self, note: str) -> str:
        kept = self.builder.emit(f"load volatile i64, ptr {note}")
        return self.builder.emit(f"freeze i64 {kept}")  # anything, at first

    def _step(self, address: Value, last: str) -> str:
        """Distance to the address noted last; notes this one."""
        step = self.builder.emit(f"sub i64 {address.ir}, {self._noted(last)}")
        self.builder.void(f"store volatile {address.typed}, ptr {last}")
        return step

    def _ask(self, address: Value, distance: str, nbytes: int, near: int, write: bool) -> None:
        function = self.module.declare("llvm.prefetch.p0", "void", ("ptr", "i32", "i32", "i32"))
        start = self.builder.emit(f"add i64 {address.ir}, {distance}")
        for offset in range(0, nbytes, LINE):
            place = self.pointer(Value(self.builder.emit(f"add i64 {start}, {offset}"), "i64"))
            self.builder.void(f"call void {function}(ptr {place}, i32 {int(write)}, i32 {near}, i32 1)")
