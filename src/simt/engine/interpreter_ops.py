"""Ops made ready to run many times: what does not change from run to run is looked up once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from simt.analysis.clock import counts
from simt.analysis.evaluate import Evaluator, adapt
from simt.analysis.program import (
    Address,
    Block,
    Call,
    Constant,
    FunctionAddress,
    Op,
    Operand,
    Register,
    SymbolAddress,
)  # fmt: skip
from simt.engine.interpreter_activation import Columns
from simt.engine.numpy_algebra import dtype_of
from simt.isa.form import main_type
from simt.ptx.types import PRED, Type, bits_type

Array = NDArray[Any]
Fetch = Callable[[Columns], Any]
"""Gives an operand's value from the registers."""


class ReadyOp:
    """One op for one launch. It gives what `Evaluator.op` gives, with less to decide each time."""

    __slots__ = ("_fetches", "_fixed", "_m", "_meaning", "_widen", "counts", "op", "results")

    def __init__(self, op: Op, evaluator: Evaluator[Array]) -> None:
        self.op = op
        self.counts = counts(op)
        self.results = op.destinations
        self._m = evaluator.m
        self._meaning = cast("Callable[..., Any]", op.form.meaning)
        self._fixed: dict[str, Any] = {}
        self._fetches: list[tuple[str, Fetch]] = []
        for name in op.form.parameters:
            self._bind(name, op, evaluator)
        self._widen = [
            None if r is None or same_columns(t, r.type) else (t, r.type)
            for t, r in zip(op.result_types, op.destinations, strict=True)
        ]

    def _bind(self, name: str, op: Op, evaluator: Evaluator[Array]) -> None:
        """Where a parameter of the meaning comes from."""
        if name == "t":
            self._fixed[name] = main_type(op.form, op.binding)
        elif name == "env":
            self._fixed[name] = evaluator.environment
        elif name in op.sources:
            operand, t = op.sources[name], op.source_types.get(name, PRED)
            if is_fixed(operand):
                self._fixed[name] = evaluator.operand(operand, t)
            else:
                self._fetches.append((name, fetch(operand, t, evaluator)))
        elif name in op.binding:
            self._fixed[name] = op.binding[name]

    def run(self, columns: Columns) -> list[Array]:
        """The values of the op's destinations, each in the representation of its register."""
        arguments = self._fixed.copy()
        for name, get in self._fetches:
            arguments[name] = get(columns)
        result = self._meaning(self._m, **arguments)
        if result is None:
            return []
        values = list(cast("tuple[Array, ...]", result)) if isinstance(result, tuple) else [result]
        for i, types in enumerate(self._widen):
            if types is not None:
                have, want = types
                values[i] = adapt(self._m, values[i], have, want, have)
        return values


def same_columns(have: Type, want: Type) -> bool:
    """Whether `adapt` from one type to the other changes nothing."""
    return have.is_predicate or want.is_predicate or dtype_of(have) == dtype_of(want)


def is_fixed(operand: Operand) -> bool:
    """Whether an operand has one value in all lanes for a whole launch."""
    match operand:
        case None | Constant() | FunctionAddress():
            return True
        case SymbolAddress(space=space):
            return space != "local"
        case Address(base=base):
            return is_fixed(base)
        case _:
            return False


def fetch(operand: Operand, t: Type, evaluator: Evaluator[Array]) -> Fetch:
    """`Evaluator.operand`, made ready. Rare operands are left to the evaluator."""
    match operand:
        case Register():
            return fetch_register(operand, t, evaluator)
        case Address(base=Register() as base, offset=offset):
            return fetch_address(base, offset, evaluator)
        case tuple():
            parts = [fetch(source, t, evaluator) for source in operand]
            return lambda columns: tuple(part(columns) for part in parts)
        case _:
            return lambda _: evaluator.operand(operand, t)


def fetch_register(register: Register, t: Type, evaluator: Evaluator[Array]) -> Fetch:
    if same_columns(register.type, t):
        return lambda columns: columns.read(register)
    return lambda columns: adapt(evaluator.m, columns.read(register), register.type, t)


def fetch_address(base: Register, offset: int, evaluator: Evaluator[Array]) -> Fetch:
    t = bits_type(base.type.bits)
    read = fetch_register(base, t, evaluator)
    if offset == 0:
        return read
    distance = evaluator.m.const(t, offset % 2**t.bits)
    return lambda columns: np.add(read(columns), distance)


def ready(block: Block, evaluator: Evaluator[Array]) -> list[ReadyOp | Call]:
    """The ops of a block, ready to run."""
    return [op if isinstance(op, Call) else ReadyOp(op, evaluator) for op in block.ops]
