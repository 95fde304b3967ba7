"""Small tables that each lane looks up at a place of its own: in registers, where the CPU has AVX-512.

The digits of a number system, an S-box, the steps to the eight neighbours, the coefficients of sines and
cosines in double precision: a variable of the module of up to
256 bytes, or bytes and halves in shared memory, and an index that differs from lane to lane. A gather takes a
load for each lane; permutations take what all of the table is in, up to four registers. Whether all lanes
that run are within the variable is asked each time (they may get at what lies behind it); LLVM leaves the
question out where a mask tells.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING

from simt.analysis.program import Call, Op, SymbolAddress, memory_operands
from simt.analysis.shape import WARP
from simt.analysis.variable_bases import VariableBases
from simt.engine.llvm_access import Access
from simt.engine.llvm_algebra import LlvmIntegers
from simt.engine.llvm_builder import Value, spell
from simt.engine.llvm_memory import Values
from simt.engine.llvm_own_stores import OwnStoreAlgebra
from simt.records import dataclass, replace

if TYPE_CHECKING:
    from simt.engine.llvm_function import FunctionEmitter

REGISTER = 64
"""Bytes."""
MOST = 16 * REGISTER
"""Bytes of a table; of words of one byte, whose index has no more bits, and where gathers are fast, `FEW`."""
FEW = 4 * REGISTER
NEEDED = {1: "avx512vbmi", 2: "avx512bw", 4: "avx512f", 8: "avx512f"}
"""What a CPU permutes words of so many bytes with."""
ALWAYS = frozenset({"avx512bw"})
PERMUTE = {
    "i8": ("qi", "qi"), "i16": ("hi", "hi"), "i32": ("si", "d"), "i64": ("di", "q"), "float": ("sf", "ps"),
    "double": ("df", "pd"),
}  # fmt: skip
"""How x86's instructions are called, of one register and of two."""


@dataclass(frozen=True, slots=True)
class Variable:
    """`address`: of the first byte; `size` in bytes."""

    address: Value
    size: int


class Variables:
    """The tables that a function looks up."""

    def __init__(self, emitter: FunctionEmitter) -> None:
        self.emitter = emitter
        unit = emitter.unit
        small = any(0 < v.size <= MOST for v in unit.program.variables.values())
        self._may_be = (small or unit.kernel.shared) and unit.features >= ALWAYS and not unit.large

    @cached_property
    def _bases(self) -> VariableBases:
        return VariableBases(self.emitter.ssa, self.emitter.unit.program.environment)

    def of(self, op: Op | Call) -> Variable | None:
        """The table that a load looks up, at places of which nothing is known."""
        if not self._may_be or isinstance(op, Call) or not op.form.moves_memory or not op.destinations:
            return None
        read = self.emitter.ssa.read[id(op)]
        base = next((base for base, _ in memory_operands(op)), None)
        if base is None or self.emitter.shape(read[base]).width < WARP:
            return None
        symbol, word = self._bases.of(op), op.result_types[0].bytes
        if symbol is None:
            return None
        size = self._size(symbol)
        if not 0 < size <= self._most(word, symbol.space == "shared"):
            return None
        start = replace(symbol, offset=0, type=base.type if symbol.space == "shared" else symbol.type)
        whole = word * len(op.destinations)
        return Variable(self.emitter.symbol(start), size // whole * whole)

    def _size(self, symbol: SymbolAddress) -> int:
        """Bytes of a variable; in shared memory, to the next one."""
        unit = self.emitter.unit
        if symbol.space != "shared":
            variable = unit.program.variables.get(symbol.name)
            return 0 if variable is None else variable.size
        start = unit.kernel.shared[symbol.name]
        ends = [place for place in unit.kernel.shared.values() if place > start]
        return min(ends, default=unit.kernel.shared_size) - start

    def _most(self, word: int, shared: bool) -> int:
        """Bytes of a table of such words, at most. (For longer ones in shared memory there are windows.)"""
        m = self.emitter.m
        if NEEDED.get(word) not in m.features or (shared and word > 2):
            return 0
        return MOST if word > 1 and not shared and not m.has_gathers else FEW


class VariableAlgebra(OwnStoreAlgebra):
    """`OwnStoreAlgebra` with such tables. `variable`: of the present load."""

    variable: Variable | None = None

    def load_planned(self, access: Access) -> Values:
        variable, self.variable = self.variable, None
        if variable is None or self.words is not None or not self._is_table(access, variable):
            return super().load_planned(access)
        self.expect_nothing()
        address = self.vector(access.address)
        places = LlvmIntegers.binary(self, "sub", address, self.widened(variable.address, WARP))
        places = self._rotated(places, access.size.bit_length() - 1)
        count = variable.size // access.size
        far = self.test("icmp uge", places, self.widened(self.number(places.type, count), WARP))
        near = self.builder.emit(f"xor i1 {self.any(self.mask_and(self.mask, far))}, true")
        pointer, word = Value(self._host(access, variable.address), "ptr"), access.word
        run = partial(
            VariableAlgebra.look_up_all, element=access.element, count=count * access.count, size=word
        )

        def looked_up() -> Values:
            first = self.cast("trunc", f"i{8 * word}", places) if word < 8 else places
            kind = first.type

            def at(word: int) -> Value:
                """The places of one of each lane's words."""
                if access.count == 1:
                    return first
                count, more = (self.widened(self.number(kind, n), WARP) for n in (access.count, word))
                whole = LlvmIntegers.binary(self, "mul", first, count)
                return LlvmIntegers.binary(self, "add", whole, more)

            look = partial(self.apart, "table.look", run, pointer, called=variable.size > FEW)
            return tuple(look(at(word)) for word in range(access.count))

        return self._either(near, looked_up, partial(self._load_slowly, access), likely=True)

    def _is_table(self, access: Access, variable: Variable) -> bool:
        """Whether it is a plain load of a word or a vector."""
        plain = not access.volatile and not access.in_rows
        plain = plain and not self.is_split(access.address)
        known = access.element in PERMUTE and access.address.type == variable.address.type
        return plain and known

    def look_up_all(self, pointer: Value, index: Value, element: str, count: int, size: int) -> Value:
        """A table's words at the places of a column. `count`: of its words."""
        width = REGISTER // size
        table = [self._line_of_table(pointer, first, min(width, count - first), element, size)
                 for first in range(0, count, width)]  # fmt: skip
        found = [
            self._found(table, self.padded(self.piece(index, first, min(width, WARP)), width))
            for first in range(0, WARP, width)
        ]
        return self.piece(found[0], 0, WARP) if width > WARP else self.concatenated(found)

    def _line_of_table(self, pointer: Value, first: int, count: int, element: str, size: int) -> Value:
        """Some words of a table in a register, which has room for more."""
        width = REGISTER // size
        place = self.builder.emit(f"getelementptr {element}, {pointer.typed}, i64 {first}")
        if count == width:
            return self.emit(f"load {spell(element, width)}, ptr {place}, align {size}", element, width)
        bits = ", ".join(f"i1 {'true' if i < count else 'false'}" for i in range(width))
        mask = Value(f"<{bits}>", "i1", width)
        return self.masked_load(place, mask, element, size, Value("zeroinitializer", element, width))

    def _found(self, table: list[Value], index: Value) -> Value:
        """Of each lane of a register, the word with its index in a table, by halves of that."""
        if len(table) <= 2:
            return self._permuted_by(table, index)
        half = 1 << (len(table) - 1).bit_length() - 1
        near, far = self._found(table[:half], index), self._found(table[half:], index)
        above = LlvmIntegers.binary(
            self, "and", index, self.widened(self.number(index.type, half * index.width), index.width)
        )
        is_far = self.test("icmp ne", above, Value("zeroinitializer", index.type, index.width))
        return self.emit(f"select {is_far.typed}, {far.typed}, {near.typed}", near.type, near.width)

    def _permuted_by(self, table: list[Value], index: Value) -> Value:
        """The same of one register or two."""
        one, two = PERMUTE[table[0].type]
        first = table[0]
        if len(table) == 1:
            name = self.module.declare(
                f"llvm.x86.avx512.permvar.{one}.512", first.spelled, (first.spelled, index.spelled)
            )
            text = f"call {first.spelled} {name}({first.typed}, {index.typed})"
        else:
            kinds = (first.spelled, index.spelled, first.spelled)
            name = self.module.declare(f"llvm.x86.avx512.vpermi2var.{two}.512", first.spelled, kinds)
            text = f"call {first.spelled} {name}({first.typed}, {index.typed}, {table[1].typed})"
        return self.emit(text, first.type, first.width)
