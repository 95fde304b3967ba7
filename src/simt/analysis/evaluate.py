"""Runs one op's meaning over an algebra: the same way for both engines and for every analysis."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Generic, Protocol, TypeVar, cast

from simt.analysis.kinds import is_alike, kind_of
from simt.analysis.program import (
    Address,
    Complement,
    Constant,
    FunctionAddress,
    Op,
    Operand,
    Register,
    Source,
    Special,
    SymbolAddress,
)  # fmt: skip
from simt.isa.algebra import Algebra, Environment
from simt.ptx.types import PRED, Type, bits_type

V = TypeVar("V")
V_co = TypeVar("V_co", covariant=True)


class Reader(Protocol[V_co]):
    """Where values come from besides the algebra."""

    def register(self, register: Register) -> V_co:
        """The column of a register, in the representation of its declared type."""
        ...

    def symbol(self, symbol: SymbolAddress) -> V_co:
        """The variable's address in its own state space, as an integer column of `symbol.type`."""
        ...

    def function(self, function: FunctionAddress) -> V_co: ...


def adapt(m: Algebra[V], value: V, have: Type, want: Type, sign: Type | None = None) -> V:
    """A value of one type's representation as another's: reinterpreted, cut or extended.

    Extension is by the sign of `sign` (default: zeros), section 7.4.1.
    """
    if is_alike(have, want):
        return value
    bits = m.to_bits(have, value)
    if have.bits != want.bits:
        bits = m.resize(sign or bits_type(have.bits), bits_type(want.bits), bits)
    return m.from_bits(want, bits)


class Evaluator(Generic[V]):
    """Evaluates ops over one algebra and one reader."""

    def __init__(self, m: Algebra[V], reader: Reader[V], environment: Environment) -> None:
        self.m = m
        self.reader = reader
        self.environment = environment

    def op(self, op: Op) -> tuple[V, ...]:
        """The values of `op.destinations`, each already adapted to its register's type.

        Values for sinks are left as the meaning gave them.
        """
        m, kind, sources = self.m, op.kind or kind_of(op), op.sources
        arguments = kind.fixed.copy()
        if kind.asks_environment:
            arguments["env"] = self.environment
        for name, t in kind.operands:
            operand = sources[name]
            if isinstance(operand, Register) and is_alike(operand.type, t):  # most are
                arguments[name] = self.reader.register(operand)
            else:
                arguments[name] = self.operand(operand, t)
        result = kind.meaning(m, **arguments)
        if not isinstance(result, tuple):
            return () if result is None else (self._written(cast("V", result), *kind.results[0]),)
        values = cast("tuple[V, ...]", result)
        if kind.as_given and len(values) == len(kind.results):
            return values
        return tuple(
            [
                self._written(value, t, written)
                for value, (t, written) in zip(values, kind.results, strict=True)
            ]
        )

    def _written(self, value: V, t: Type, written: Type | None) -> V:
        """A result as its register has it."""
        return value if written is None else adapt(self.m, value, t, written, t)

    def operand(self, operand: Operand, t: Type) -> Any:
        """An operand's column (or tuple of columns) in the representation of `t`."""
        if isinstance(operand, Register):  # most are
            return adapt(self.m, self.reader.register(operand), operand.type, t)
        match operand:
            case None:
                return None
            case tuple():
                return tuple(self.source(s, t) for s in operand)
            case Address():
                return self.address(operand)
            case _:
                return self.source(operand, t)

    def source(self, source: Source, t: Type) -> V:
        match source:
            case Register():
                return adapt(self.m, self.reader.register(source), source.type, t)
            case Constant():
                return self.m.const(t, source.bits)
            case Special():
                return adapt(self.m, self.m.special(source.name, source.component), source.type, t)
            case Complement():
                return self.m.invert(PRED, self.reader.register(source.register))
            case SymbolAddress():
                return adapt(self.m, self.reader.symbol(source), source.type, t)
            case FunctionAddress():
                return adapt(self.m, self.reader.function(source), source.type, t)

    def address(self, address: Address) -> V:
        """The byte address of a memory operand: a `.u32` or `.u64` column, as its base is."""
        match address.base:
            case None:
                return self.m.const(bits_type(64), address.offset % 2**64)
            case Register() as base:
                t = bits_type(base.type.bits)
                value = self.m.to_bits(base.type, self.reader.register(base))
            case SymbolAddress() as base:
                t, value = base.type, self.reader.symbol(base)
        if address.offset == 0:
            return value
        return self.m.add(t, value, self.m.const(t, address.offset % 2**t.bits))


class Remembering(Evaluator[V]):
    """Evaluates over an algebra whose primitives do nothing but give a value that can be compared: ops of one
    kind with the same operands give the same results."""

    def __init__(self, m: Algebra[V], reader: Reader[V], environment: Environment) -> None:
        super().__init__(m, reader, environment)
        self._known: dict[Hashable, tuple[V, ...]] = {}
        # By the values themselves, as objects, which are kept alive: what they hold need not be looked at.
        self._of_same: dict[Hashable, tuple[tuple[V, ...], list[V]]] = {}
        self._constants: dict[tuple[Type, int], V] = {}

    def op(self, op: Op) -> tuple[V, ...]:
        kind = op.kind or kind_of(op)
        key: list[Hashable] = [kind]
        values: list[V] = []
        for name, t in kind.operands:
            operand = op.sources[name]
            if isinstance(operand, Register):  # most are
                value = self.reader.register(operand)
                key += operand.type, id(value)
            elif isinstance(operand, Constant):
                value = self._constant(t, operand.bits)
                key.append(id(value))
            else:
                return self._by_values(op)
            values.append(value)
        same = tuple(key)
        found = self._of_same.get(same)
        if found is None:
            found = self._of_same[same] = self._by_values(op), values
        return found[0]

    def _constant(self, t: Type, bits: int) -> V:
        """What a constant is as an operand of a type: one object for each."""
        found = self._constants.get((t, bits))
        if found is None:
            found = self._constants[t, bits] = self.m.const(t, bits)
        return found

    def _by_values(self, op: Op) -> tuple[V, ...]:
        key = (op.kind or kind_of(op), *[self._given(operand) for operand in op.sources.values()])
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = super().op(op)
        return found

    def _given(self, operand: Operand) -> Hashable:
        """What the results depend on."""
        match operand:
            case Register():
                return operand.type, self.reader.register(operand)
            case Complement(register=register):
                return Complement, self.reader.register(register)
            case Address(base=Register() as base, offset=offset):
                return base.type, self.reader.register(base), offset
            case tuple():
                return tuple(map(self._given, operand))
            case _:
                return operand
