"""Predicates of large functions: integers, as LLVM takes several times as long for vectors of bits."""

from __future__ import annotations

from simt.analysis.shape import WARP
from simt.engine.llvm_builder import Value
from simt.engine.llvm_grouped import GroupedAlgebra
from simt.engine.llvm_kept import Kept
from simt.engine.llvm_lanes import ALL, BitMask, bases


class BitAlgebra(GroupedAlgebra):
    """`GroupedAlgebra` of the code of a large function, which reads columns as late as it can."""

    def bit_mask(self, mask: Value) -> BitMask:
        """A predicate as integer."""
        return mask if isinstance(mask, BitMask) else BitMask(self, self.mask_bits(mask).ir)

    def mask_bits(self, mask: Value) -> Value:
        if mask.width != 1:
            return super().mask_bits(self.vector(mask))
        if mask.literal is not None:
            return Value(str(-mask.literal), f"i{WARP}")
        return Value(self.builder.emit(f"sext i1 {bases(mask).ir} to i{WARP}"), f"i{WARP}")

    @property
    def mask_is_full(self) -> bool:
        return not isinstance(self.mask, BitMask) and super().mask_is_full

    def mask_and(self, a: Value, b: Value) -> Value:
        if not isinstance(a, BitMask) and a.ir == ALL:
            return self.bit_mask(b)
        return self.binary("and", self.bit_mask(a), b)

    def vector(self, value: Value) -> Value:
        return value if isinstance(value, BitMask | Kept) else super().vector(value)

    def binary(self, opcode: str, a: Value, b: Value) -> Value:
        if not isinstance(a, BitMask) and not isinstance(b, BitMask):
            return super().binary(opcode, a, b)
        one, other = self.mask_bits(a), self.mask_bits(b)
        return BitMask(self, self.builder.emit(f"{opcode} {one.typed}, {other.ir}"))

    def cast(self, opcode: str, element: str, a: Value) -> Value:
        if opcode == "bitcast" and isinstance(a, Kept):
            return a.cast(element)
        return super().cast(opcode, element, a)

    def chosen(self, mask: Value, a: Value, b: Value) -> Value:
        """A predicate of the lanes of a mask, and another one of all others."""
        differ = self.binary("xor", self.bit_mask(a), b)
        return self.binary("xor", self.binary("and", mask, differ), b)

    def _with_whole(self, opcode: str, a: Value, b: Value, result: Value) -> Value:
        return result
