"""Atomic operations of a warp in LLVM IR."""

from __future__ import annotations

from simt.analysis.shape import WARP
from simt.engine import llvm_runtime
from simt.engine.llvm_algebra import element_type
from simt.engine.llvm_builder import Value
from simt.engine.llvm_memory import Access, MemoryAlgebra
from simt.engine.unsupported import Unsupported
from simt.ptx.types import Type


class AtomicAlgebra(MemoryAlgebra):
    """`MemoryAlgebra` with atomic operations."""

    def atomic(self, op: str, t: Type, space: str, address: Value, b: Value, c: Value | None) -> Value:
        if t.bits > 64:
            raise Unsupported(f"atom of type {t}")
        element = element_type(t)
        access = Access(element, 1, t.bytes, self._region(space), address, True)
        function = llvm_runtime.atomic(self.module, op, t, self.features, access.region.space == "shared")
        operands = [self.spilled(b), self.spilled(c if c is not None else b)]
        old = self.buffer(element, WARP)
        self._call_lanes(function, access, [*operands, old])
        return Value(self.builder.emit(f"load <{WARP} x {element}>, ptr {old}, align 64"), element, WARP)
