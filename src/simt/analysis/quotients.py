"""Approximate quotients as ptxas has them: products with a reciprocal, which sums may fuse (decision 23).

`div.approx.ftz.f32` is one of the unit's reciprocals and a product. Where the divisor is a constant, its
reciprocal is a constant too, rounded to nearest, for quotients of all approximate kinds. Only devices whose
approximate functions have the hardware's bits do so: elsewhere quotients are nearer than that.
"""

from __future__ import annotations

import struct
from collections import Counter
from functools import cache

from simt.analysis.contraction_rewriting import catalogued
from simt.analysis.program import Constant, Function, Op, Operand, Register, Source
from simt.isa.catalogue import FORMS
from simt.isa.floating import div_approx, div_full, rcp_approx
from simt.isa.form import Form, Value
from simt.isa.move import mov
from simt.ptx.types import F32

LEAST = 2.0**-126
"""The smallest normal number: divisors below it, and such whose reciprocals are, are left to the unit."""


def expand(function: Function) -> None:
    """Puts products in the place of approximate quotients that are ones to ptxas."""
    quotients = [op for op in function.ops() if isinstance(op, Op) and _is_quotient(op)]
    if not quotients:
        return
    constants = _constants(function)
    for block in function.blocks:
        block.ops = [
            new
            for op in block.ops
            for new in (_expanded(function, op, constants) if op in quotients else (op,))
        ]


def _is_quotient(op: object) -> bool:
    return isinstance(op, Op) and op.form.meaning in (div_approx, div_full) and not op.binding.get("sat")


def _constants(function: Function) -> dict[Register, Constant]:
    """Registers that one instruction writes, which is a copy of a constant."""
    written = Counter(d for op in function.ops() for d in op_destinations(op))
    found = dict[Register, Constant]()
    for op in function.ops():
        source = op.sources.get("a") if isinstance(op, Op) and op.form.meaning is mov else None
        if isinstance(source, Constant) and isinstance(op, Op) and op.guard is None:
            (register,) = op.destinations
            if register is not None and written[register] == 1:
                found[register] = source
    return found


def op_destinations(op: object) -> tuple[Register, ...]:
    made = op.destinations if isinstance(op, Op) else getattr(op, "results", ())
    return tuple(d for d in made if d is not None)


def _expanded(function: Function, op: Op, constants: dict[Register, Constant]) -> list[Op]:
    divisor, ftz = op.sources["b"], op.binding.get("ftz") is True
    known = constants.get(divisor) if isinstance(divisor, Register) else divisor
    inverse = _inverse(known) if isinstance(known, Constant) else None
    if inverse is not None:
        return [_product(op, ftz, inverse)]
    if not ftz or op.form.meaning is not div_approx:
        return [op]
    held = Register(len(function.registers), f"tmp{len(function.registers)}", F32)
    function.registers.append(held)
    form, binding = _reciprocal()
    first = Op(form, binding, {"a": divisor}, {"a": F32}, (held,), (F32,), op.guard, op.line)
    return [first, _product(op, True, held)]


def _product(op: Op, ftz: bool, factor: Source) -> Op:
    """The quotient's dividend times a factor. It names no rounding, so that a sum may fuse it."""
    form, rounded = catalogued("product")[F32, ftz, False]
    binding: dict[str, Value] = {**rounded, "rnd": None}
    sources: dict[str, Operand] = {"a": op.sources["a"], "b": factor}
    types = dict.fromkeys(sources, F32)
    return Op(form, binding, sources, types, op.destinations, op.result_types, op.guard, op.line)


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
