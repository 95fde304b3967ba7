"""Which variable an address is made of: a table that is looked up by an index."""

from __future__ import annotations

from typing import Any, cast

from simt.analysis.evaluate import Evaluator
from simt.analysis.program import FunctionAddress, Op, Register, SymbolAddress, memory_operands
from simt.analysis.ssa import Definition, Ssa
from simt.isa.algebra import Algebra, Environment
from simt.ptx.types import Type
from simt.records import dataclass

LONGEST = 12
"""Instructions behind each other that are looked at."""
SPACES = ("const", "global", "shared")


@dataclass(frozen=True, slots=True)
class Base:
    """The variable that a number is an address in, as far as whoever made it meant it. None: no such one."""

    symbol: SymbolAddress | None = None


_NONE = Base()


class _UnknownError(Exception):
    """Nothing is known of what an op makes of an address."""


class _BaseAlgebra:
    """The primitives by which addresses are made of addresses and of other numbers."""

    def __getattr__(self, name: str) -> Any:
        return self._other

    def _other(self, *values: object) -> Base:
        if any(isinstance(value, Base) and value.symbol is not None for value in values):
            raise _UnknownError
        return _NONE

    def lookup(self, t: Type, index: Base, *tables: tuple[int, ...]) -> tuple[Base, ...]:
        return (self._other(index),) * len(tables)

    def add(self, t: Type, a: Base, b: Base) -> Base:
        if a.symbol is not None and b.symbol is not None:
            raise _UnknownError
        return b if a.symbol is None else a

    def sub(self, t: Type, a: Base, b: Base) -> Base:
        self._other(b)
        return a

    def resize(self, source: Type, target: Type, a: Base) -> Base:
        return a

    def to_bits(self, t: Type, a: Base) -> Base:
        return a

    from_bits = to_bits

    def to_generic(self, t: Type, space: str, address: Base) -> Base:
        return self._other(address) if space == "shared" else address

    from_generic = to_generic


class VariableBases:
    """The variables that a function's loads and stores look up."""

    def __init__(self, ssa: Ssa, environment: Environment) -> None:
        self.ssa = ssa
        self._evaluator = Evaluator(cast("Algebra[Base]", _BaseAlgebra()), self, environment)
        self._known: dict[Definition, Base] = {}
        self._read: dict[Register, Definition] = {}
        self._left = LONGEST

    def of(self, op: Op) -> SymbolAddress | None:
        """The variable in which an op's address is, if it is made so; with an offset that means nothing."""
        for register, _ in memory_operands(op):
            return self._of(self.ssa.read[id(op)][register]).symbol
        return None

    def _of(self, definition: Definition) -> Base:
        if definition not in self._known:
            op = definition.origin
            self._known[definition] = self._made(op) if isinstance(op, Op) else _NONE
        return self._known[definition]

    def _made(self, op: Op) -> Base:
        if op.guard is not None or op.form.effects or len(op.destinations) != 1 or not self._left:
            return _NONE
        outer, self._read = self._read, self.ssa.read[id(op)]
        self._left -= 1
        try:
            (found,) = self._evaluator.op(op)
        except _UnknownError:
            found = _NONE
        self._read, self._left = outer, self._left + 1
        return found

    # Reader of the evaluator
    def register(self, register: Register) -> Base:
        return self._of(self._read[register])

    def symbol(self, symbol: SymbolAddress) -> Base:
        return Base(symbol) if symbol.space in SPACES else _NONE

    def function(self, function: FunctionAddress) -> Base:
        return _NONE
