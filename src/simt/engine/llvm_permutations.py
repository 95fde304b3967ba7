"""Columns whose lanes are in another order, which is known when code runs."""

from __future__ import annotations

from collections.abc import Sequence

from simt.analysis.shape import WARP
from simt.engine.llvm_builder import Value, spell
from simt.engine.llvm_float import LlvmAlgebra
from simt.engine.llvm_known_columns import Column, column_of

WIDE = 8
"""Lanes of 64 bits in a register."""
SHORT = 8
"""Lanes of 32 bits in a register of AVX2."""


class PermutationAlgebra(LlvmAlgebra):
    """`LlvmAlgebra` with such columns."""

    def permuted(self, values: Value, lanes: Value) -> Value:
        """The value of `values` in the lane that `lanes` names."""
        if "avx512bw" in self.features and values.type in ("i32", "float"):
            return self._permute(values, lanes)
        order = column_of(lanes) if self.folds_columns else None
        if order is not None:
            return self._in_known_order(values, order)
        if "avx512bw" in self.features and values.type == "i64":
            return self._permute_wide(values, lanes)
        if "avx2" in self.features and values.type in ("i32", "float", "i1"):
            return self._permute_by_registers(values, lanes)
        return self._through_memory(values, lanes)

    def _permute_by_registers(self, values: Value, lanes: Value) -> Value:
        """With AVX2: each register of the result is looked up in all four of the values, and two bits of the
        lanes' numbers say in which one it was right."""
        if values.type == "i1":
            words = self._permute_by_registers(self.cast("sext", "i32", values), lanes)
            return self.test("icmp slt", words, self.number("i32", 0))
        registers = self.cut(values, SHORT)
        return self.join([self._look_up_short(registers, places) for places in self.cut(lanes, SHORT)], WARP)

    def _look_up_short(self, registers: Sequence[Value], places: Value) -> Value:
        element, vector = registers[0].type, registers[0].spelled
        name = self.module.declare(
            f"llvm.x86.avx2.perm{'ps' if element == 'float' else 'd'}", vector, (vector, places.spelled)
        )
        found = [
            self.emit(f"call {vector} {name}({register.typed}, {places.typed})", element, SHORT)
            for register in registers
        ]
        for bit in (3, 4):  # as the sign, by which the CPU chooses
            shifted = self.builder.emit(f"shl {places.typed}, splat (i32 {31 - bit})")
            upper = self.builder.emit(f"icmp slt {places.spelled} {shifted}, zeroinitializer")
            found = [
                self.emit(f"select <{SHORT} x i1> {upper}, {b.typed}, {a.typed}", element, SHORT)
                for a, b in zip(found[::2], found[1::2], strict=True)
            ]
        return found[0]

    def _in_known_order(self, values: Value, order: Column) -> Value:
        picks = ", ".join(f"i32 {lane % WARP}" for lane in order)
        text = f"shufflevector {values.typed}, {values.spelled} poison, <{WARP} x i32> <{picks}>"
        return self.emit(text, values.type, WARP)

    def _permute_wide(self, values: Value, lanes: Value) -> Value:
        """For each register of the result two look-ups, in the lower lanes and the upper ones."""
        columns = self.cut(values, WIDE)
        pairs = [(columns[i], columns[i + 1]) for i in (0, 2)]
        index = self.cut(self.cast("zext", "i64", lanes), WIDE)
        return self.join([self._look_up_wide(pairs, places) for places in index], WARP)

    def _look_up_wide(self, pairs: Sequence[tuple[Value, Value]], places: Value) -> Value:
        vector = spell("i64", WIDE)
        name = self.module.declare("llvm.x86.avx512.vpermi2var.q.512", vector, (vector,) * 3)
        low, high = (
            self.emit(f"call {vector} {name}({a.typed}, {places.typed}, {b.typed})", "i64", WIDE)
            for a, b in pairs
        )
        upper = self.builder.emit(f"icmp ugt {places.typed}, splat (i64 {2 * WIDE - 1})")
        return self.emit(f"select <{WIDE} x i1> {upper}, {high.typed}, {low.typed}", "i64", WIDE)

    def _permute(self, values: Value, lanes: Value) -> Value:
        """Two 16-lane table look-ups, one for each half of the result."""
        halves = [self._half(values, i) for i in (0, 1)]
        kind, element = ("ps", "float") if values.type == "float" else ("d", "i32")
        parts = [
            self._lookup(kind, element, halves, self._half(lanes, i)) for i in (0, 1)
        ]  # fmt: skip
        order = ", ".join(f"i32 {i}" for i in range(WARP))
        return self.emit(
            f"shufflevector <16 x {element}> {parts[0]}, <16 x {element}> {parts[1]}, <32 x i32> <{order}>",
            element,
            WARP,
        )

    def _half(self, value: Value, which: int) -> str:
        picks = ", ".join(f"i32 {16 * which + i}" for i in range(16))
        return self.builder.emit(f"shufflevector {value.typed}, {value.spelled} poison, <16 x i32> <{picks}>")

    def _lookup(self, kind: str, element: str, halves: list[str], index: str) -> str:
        vector = f"<16 x {element}>"
        name = self.module.declare(
            f"llvm.x86.avx512.vpermi2var.{kind}.512", vector, (vector, "<16 x i32>", vector)
        )
        return self.builder.emit(
            f"call {vector} {name}({vector} {halves[0]}, <16 x i32> {index}, {vector} {halves[1]})"
        )

    def _through_memory(self, values: Value, lanes: Value) -> Value:
        """Any element type on any CPU: lane by lane out of a buffer."""
        element = "i8" if values.type == "i1" else values.type
        stored = self.cast("zext", "i8", values) if values.type == "i1" else values
        buffer = self.builder.emit(f"alloca {stored.spelled}, align 64")
        self.builder.void(f"store {stored.typed}, ptr {buffer}, align 64")
        result = "poison"
        for i in range(WARP):
            index = self.builder.emit(f"extractelement {lanes.typed}, i32 {i}")
            index = self.builder.emit(f"and i32 {index}, 31")
            place = self.builder.emit(f"getelementptr {element}, ptr {buffer}, i32 {index}")
            item = self.builder.emit(f"load {element}, ptr {place}")
            result = self.builder.emit(f"insertelement {stored.spelled} {result}, {element} {item}, i32 {i}")
        found = Value(result, element, WARP)
        return self.cast("trunc", "i1", found) if values.type == "i1" else found
