"""Runs one op's meaning over an algebra: the same way for both engines and for every analysis."""

from __future__ import annotations

from typing import Any, Generic, Protocol, TypeVar, cast

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
from simt.isa.form import main_type
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
    if have.is_predicate or want.is_predicate:
        return value
    if have.is_native_float and want.is_native_float and have.bits == want.bits:
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
        form = op.form
        assert form.meaning is not None
        arguments: dict[str, Any] = {}
        for name in form.parameters:
            if name == "t":
                arguments[name] = main_type(form, op.binding)
            elif name == "env":
                arguments[name] = self.environment
            elif name in op.sources:
                arguments[name] = self.operand(op.sources[name], op.source_types.get(name, PRED))
            elif name in op.binding:
                arguments[name] = op.binding[name]
        result: Any = form.meaning(self.m, **arguments)
        values = cast(
            "tuple[V, ...]", result if isinstance(result, tuple) else (result,) * (result is not None)
        )
        return tuple(
            value if register is None else self.widen(value, t, register)
            for value, t, register in zip(values, op.result_types, op.destinations, strict=True)
        )

    def widen(self, value: V, t: Type, register: Register) -> V:
        """A result of type `t` in the representation of its register."""
        return adapt(self.m, value, t, register.type, t)

    def operand(self, operand: Operand, t: Type) -> Any:
        """An operand's column (or tuple of columns) in the representation of `t`."""
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
