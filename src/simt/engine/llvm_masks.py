"""Masks in the stack memory of a function: of the lanes that run a block, and of those that wait at a place.

LLVM turns them into registers, where it optimises a function. Large functions are not optimised, and code
for vectors of bits takes LLVM several times as long as code for integers: there masks are kept as integers,
and those of waiting lanes in one array, which is cleared at once.
"""

from __future__ import annotations

from simt.analysis.shape import WARP
from simt.engine.llvm_builder import Value
from simt.engine.llvm_lanes import ALL, BitMask, LaneAlgebra

MASK = f"<{WARP} x i1>"
NO_LANES = f"{MASK} zeroinitializer"


class Masks:
    """The masks of one function as vectors. `allocas`: the lines that make the slots. Slots are pointers."""

    def __init__(self, m: LaneAlgebra, allocas: dict[str, None]) -> None:
        self.m = m
        self.builder = m.builder
        self.allocas = allocas

    def of_block(self, index: int) -> str:
        """The slot of the lanes that run a block."""
        return self._slot(f"%mask.{index}", MASK)

    def waiting(self, place: int) -> str:
        """The slot of the lanes that wait at a place."""
        return self._slot(f"%pending.{place}", MASK)

    def _slot(self, name: str, kind: str) -> str:
        self.allocas[f"  {name} = alloca {kind}, align 64"] = None
        return name

    def load(self, slot: str) -> Value:
        return Value(self.builder.emit(f"load {MASK}, ptr {slot}, align 64"), "i1", WARP)

    def store(self, slot: str, mask: Value) -> None:
        self.builder.void(f"store {mask.typed}, ptr {slot}, align 64")

    def clear(self, slot: str) -> None:
        self.builder.void(f"store {NO_LANES}, ptr {slot}, align 64")

    def add(self, slot: str, mask: Value) -> None:
        """Adds lanes to those of a slot."""
        self.store(slot, self.m.binary("or", mask, self.load(slot)))

    def of_bits(self, bits: str) -> Value:
        """The mask of an i32."""
        mask = Value(self.builder.emit(f"bitcast i32 {bits} to {MASK}"), "i1", WARP)
        self.m.bits_of[mask.ir] = bits
        return mask

    def some(self, slot: str) -> str:
        """i1: whether the slot has a lane."""
        return self.m.any(self.load(slot))

    def parted(self, mask: Value, predicate: Value) -> tuple[Value, Value]:
        """The lanes of a mask that have a predicate, and those that have not."""
        yes = self.m.mask_and(mask, predicate)
        return yes, self.m.mask_and(mask, self.m.invert_mask(predicate))

    def start(self, slot: str, mask: Value) -> list[str]:
        """Lines that store a mask before the code of all blocks."""
        return [f"  store {mask.typed}, ptr {slot}, align 64"]

    def resets(self) -> list[str]:
        """Lines after which no lane waits anywhere."""
        names = [line.split()[0] for line in self.allocas if line.startswith("  %pending.")]
        return [f"  store {NO_LANES}, ptr {n}, align 64" for n in names]


class BitMasks(Masks):
    """The masks of one function as integers. `places`: how many there are at which lanes can wait."""

    def __init__(self, m: LaneAlgebra, allocas: dict[str, None], places: int) -> None:
        super().__init__(m, allocas)
        self.places = places
        self.used = False

    def of_block(self, index: int) -> str:
        return self._slot(f"%mask.{index}", "i32")

    def waiting(self, place: int) -> str:
        if not self.used:
            self.used = True
            self.m.module.declare("llvm.memset.p0.i64", "void", ("ptr", "i8", "i64", "i1"))
            self._slot("%pending", f"[{self.places} x i32]")
        return self.builder.emit(f"getelementptr i32, ptr %pending, i64 {place}")

    def load(self, slot: str) -> Value:
        return self.of_bits(self._bits(slot))

    def of_bits(self, bits: str) -> Value:
        return BitMask(self.m, bits)

    def _bits(self, slot: str) -> str:
        return self.builder.emit(f"load i32, ptr {slot}")

    def store(self, slot: str, mask: Value) -> None:
        self.builder.void(f"store {self.m.mask_bits(mask).typed}, ptr {slot}")

    def clear(self, slot: str) -> None:
        self.builder.void(f"store i32 0, ptr {slot}")

    def add(self, slot: str, mask: Value) -> None:
        all_ = self.builder.emit(f"or {self.m.mask_bits(mask).typed}, {self._bits(slot)}")
        self.builder.void(f"store i32 {all_}, ptr {slot}")

    def some(self, slot: str) -> str:
        return self.builder.emit(f"icmp ne i32 {self._bits(slot)}, 0")

    def parted(self, mask: Value, predicate: Value) -> tuple[Value, Value]:
        here, wanted = self.m.mask_bits(mask), self.m.mask_bits(predicate)
        yes = wanted.ir if here.ir == "-1" else self.builder.emit(f"and {here.typed}, {wanted.ir}")
        no = self.builder.emit(f"xor {here.typed}, {yes}")
        return BitMask(self.m, yes), BitMask(self.m, no)

    def start(self, slot: str, mask: Value) -> list[str]:
        if mask.ir == ALL:
            return [f"  store i32 -1, ptr {slot}"]
        return [f"  %start.bits = bitcast {mask.typed} to i32", f"  store i32 %start.bits, ptr {slot}"]

    def resets(self) -> list[str]:
        size = 4 * self.places
        cleared = f"  call void @llvm.memset.p0.i64(ptr %pending, i8 0, i64 {size}, i1 false)"
        return [cleared] if self.used else []
