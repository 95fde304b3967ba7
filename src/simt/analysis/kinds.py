"""What ops have in common that differ only in their operands, found once for all of them.

Thousands of ops of a program are of a few dozen kinds. What calls an op's meaning would otherwise look up for
each of them anew which of its parameters are modifiers, and which are operands of which types.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache
from typing import TYPE_CHECKING, Any

from simt.isa.form import main_type
from simt.ptx.types import PRED, Type
from simt.records import dataclass

if TYPE_CHECKING:
    from simt.analysis.program import Op
    from simt.isa.form import Form, Meaning


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """Form, modifiers and types of an op. There is one object for each, so that they are compared as objects.

    `meaning` is called with `fixed`, with the environment if `asks_environment`, and with `operands`, each as
    a value of its type. `results`: of each value that it gives, the type, and that of the register, None for
    a sink and where both have one representation; `as_given`: that is so of all of them.
    """

    form: Form
    meaning: Meaning
    fixed: dict[str, Any]
    asks_environment: bool
    operands: tuple[tuple[str, Type], ...]
    results: tuple[tuple[Type, Type | None], ...]
    as_given: bool


@cache
def is_alike(have: Type, want: Type) -> bool:
    """Whether two types have one representation, whatever the algebra."""
    if have.is_predicate or want.is_predicate:
        return True
    return have.is_native_float == want.is_native_float and have.bits == want.bits


_known: dict[Hashable, Kind] = {}


def kind_of(op: Op) -> Kind:
    """The kind of an op that is complete: its form, modifiers, types and destinations will not change."""
    if op.kind is None:
        written = tuple(None if register is None else register.type for register in op.destinations)
        types = tuple(op.source_types.items())
        key = op.form, tuple(op.binding.items()), tuple(op.sources), types, op.result_types, written
        kind = _known.get(key)
        if kind is None:
            kind = _known.setdefault(key, _made(op, written))
        op.kind = kind
    return op.kind


def _made(op: Op, written: tuple[Type | None, ...]) -> Kind:
    form = op.form
    assert form.meaning is not None
    fixed: dict[str, Any] = {}
    operands: list[tuple[str, Type]] = []
    for name in form.parameters:
        if name == "t":
            fixed[name] = main_type(form, op.binding)
        elif name == "env":
            continue
        elif name in op.sources:
            operands.append((name, op.source_types.get(name, PRED)))
        elif name in op.binding:
            fixed[name] = op.binding[name]
    asks = "env" in form.parameters
    results = tuple(
        [
            (t, None if register is None or is_alike(t, register) else register)
            for t, register in zip(op.result_types, written, strict=True)
        ]
    )
    as_given = all(register is None for _, register in results)
    return Kind(form, form.meaning, fixed, asks, tuple(operands), results, as_given)
