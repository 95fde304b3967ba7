"""Memory brought nearer before it is read, where the CPU does not do so by itself.

CPUs notice loads that go on by small steps, not those that go from page to page, as those of a loop over
all threads of a grid do (`for (i = thread; i < n; i += threads)`). Code of such a loop compares the
address with that of the last iteration, and asks for what the same step will reach some iterations on.
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


class PrefetchAlgebra(LaneAlgebra):
    """`LaneAlgebra` with prefetches. `in_loop`: whether the present block is part of a loop."""

    in_loop = False

    def prefetch(self, address: Value, nbytes: int) -> None:
        """Asks for what the loop's present load of some bytes at an address (scalar i64) will read later."""
        if not self.in_loop:
            return
        slot = self.builder.emit("alloca i64, align 8")
        # Volatile: not to take a register from the loop.
        last = self.builder.emit(f"load volatile i64, ptr {slot}")
        last = self.builder.emit(f"freeze i64 {last}")  # anything, in the first iteration
        self.builder.void(f"store volatile {address.typed}, ptr {slot}")
        step = self.builder.emit(f"sub i64 {address.ir}, {last}")
        beyond = self.builder.emit(f"add i64 {step}, {NEAR}")
        far = self.builder.emit(f"icmp ugt i64 {beyond}, {2 * NEAR}")
        ask, go = self.builder.block_name("ask"), self.builder.block_name("go")
        self.builder.void(f"br i1 {far}, label %{ask}, label %{go}")
        self.builder.label(ask)
        skip = self.builder.emit(f"mul i64 {step}, {AHEAD}")
        function = self.module.declare("llvm.prefetch.p0", "void", ("ptr", "i32", "i32", "i32"))
        for offset in range(0, nbytes, LINE):
            ahead = self.builder.emit(f"add i64 {skip}, {offset}")
            place = self.pointer(Value(self.builder.emit(f"add i64 {address.ir}, {ahead}"), "i64"))
            self.builder.void(f"call void {function}(ptr {place}, i32 0, i32 3, i32 1)")
        self.builder.void(f"br label %{go}")
        self.builder.label(go)
