"""Approximate quotients as ptxas has them: products with a reciprocal, which sums may fuse (decision 23).

`div.approx.ftz.f32` is one of the unit's reciprocals and a product; the others first multiply both sides, if
the divisor is at an edge of the unit's range (`simt.isa.special_code.divide`). Where the divisor is a
constant, its reciprocal is a constant too, rounded to nearest, for quotients of all approximate kinds. Only
devices whose approximate functions have the hardware's bits do so: elsewhere quotients are nearer than that.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Sequence
from functools import cache

from simt.analysis.contraction_rewriting import catalogued
from simt.analysis.lower_forms import internal, simple
from simt.analysis.program import Call, Constant, Function, Op, Operand, Register, Source
from simt.analysis.ssa import destinations
from simt.isa.algebra import Algebra, V
from simt.isa.catalogue import FORMS
from simt.isa.floating import div_approx, div_full, rcp_approx
from simt.isa.form import Form, Value
from simt.isa.move import mov
from simt.isa.special_code import edge_factor
from simt.ptx.types import F32

LEAST = 2.0**-126
"""The smallest normal number: divisors below it, and such whose reciprocals are, are left to the unit."""


@internal("edge.type d, b")
def EDGE(m: Algebra[V], b: V) -> V:
    """By what both sides of `div.approx` are multiplied."""
    return edge_factor(m, b, ftz=False, full=False)


@internal("edges.type d, b")
def EDGES(m: Algebra[V], b: V) -> V:
    """The same for `div.full`."""
    return edge_factor(m, b, ftz=False, full=True)


@internal("upper.type d, b")
def UPPER_EDGE(m: Algebra[V], b: V) -> V:
    """The same for `div.full.ftz`."""
    return edge_factor(m, b, ftz=True, full=True)


_EDGES = {(False, False): EDGE, (True, False): EDGES, (True, True): UPPER_EDGE}
"""By whether the range is to be full, and whether operands are flushed."""


def expand(function: Function) -> None:
    """Puts products in the place of approximate quotients that are ones to ptxas."""
    if not any(map(_is_quotient, function.ops())):
        return
    constants = _constants(function)
    for block in function.blocks:
        block.ops = [new for op in block.ops for new in _expanded(function, op, constants)]


def _is_quotient(op: Op | Call) -> bool:
    return isinstance(op, Op) and op.form.meaning in (div_approx, div_full) and not op.binding.get("sat")


def _constants(function: Function) -> dict[Register, Constant]:
    """Registers that one instruction writes, which is a copy of a constant."""
    written = Counter(d for op in function.ops() for d in destinations(op))
    found = dict[Register, Constant]()
    for op in function.ops():
        source = op.sources.get("a") if isinstance(op, Op) and op.form.meaning is mov else None
        if isinstance(source, Constant) and isinstance(op, Op) and op.guard is None:
            (register,) = op.destinations
            if register is not None and written[register] == 1:
                found[register] = source
    return found


def _expanded(function: Function, op: Op | Call, constants: dict[Register, Constant]) -> Sequence[Op | Call]:
    if not isinstance(op, Op) or not _is_quotient(op):
        return (op,)
    divisor, ftz = op.sources["b"], op.binding.get("ftz") is True
    known = constants.get(divisor) if isinstance(divisor, Register) else divisor
    inverse = _inverse(known) if isinstance(known, Constant) else None
    dividend, before = op.sources["a"], list[Op]()
    (result,) = op.destinations
    if inverse is not None:
        return [_times(op, ftz, dividend, inverse, result)]
    edge = _EDGES.get((op.form.meaning is div_full, ftz))
    if edge is not None:
        factor, *near = (_temporary(function) for _ in range(3))
        assert isinstance(divisor, (Register, Constant))
        before.append(simple(edge, F32, factor, {"b": (divisor, F32)}, op.line, op.guard))
        for source, made in zip((dividend, divisor), near, strict=True):
            before.append(_times(op, ftz, source, factor, made, rounding="rn"))
        dividend, divisor = near
    held = _temporary(function)
    form, binding = _reciprocal()
    before.append(Op(form, binding, {"a": divisor}, {"a": F32}, (held,), (F32,), op.guard, op.line))
    return [*before, _times(op, ftz, dividend, held, result)]


def _temporary(function: Function) -> Register:
    function.registers.append(Register(len(function.registers), f"tmp{len(function.registers)}", F32))
    return function.registers[-1]


def _times(
    op: Op, ftz: bool, a: Operand, b: Source, result: Register | None, rounding: str | None = None
) -> Op:
    """A product in a quotient's place. If it names no rounding, a sum may fuse it."""
    form, rounded = catalogued("product")[F32, ftz, False]
    binding: dict[str, Value] = {**rounded, "rnd": rounding}
    sources: dict[str, Operand] = {"a": a, "b": b}
    types = dict.fromkeys(sources, F32)
    return Op(form, binding, sources, types, (result,), (F32,), op.guard, op.line)


def _inverse(divisor: Constant) -> Constant | None:
    (value,) = struct.unpack("<f", divisor.bits.to_bytes(4, "little"))
    if not LEAST <= abs(value) <= 1 / LEAST:  # nor a NaN
        return None
    return Constant(F32, int.from_bytes(struct.pack("<f", 1 / value), "little"))


@cache
def _reciprocal() -> tuple[Form, dict[str, Value]]:
    return next(
        (form, binding)
        for form in FORMS["rcp"]
        if form.meaning is rcp_approx
        for binding in form.bindings()
        if binding.get("approx") and binding.get("ftz")
    )
