"""Registers that are declared as bits and hold floats, declared as floats.

LLVM 20, with which nvcc 13 compiles for compute capability 10.0 on, keeps floats in registers `.b32` and
`.b64`. Whether a NaN's bits or a subnormal are ever seen, and all else that depends on a value being a float,
is asked of registers by their types. Nothing that a program gives changes with these: every instruction reads
and writes a register in a type of its own (`simt.analysis.evaluate.adapt`).
"""

from __future__ import annotations

from simt.analysis.copies import copied, renamed
from simt.analysis.program import Call, Function, Op, Register, memory_operands
from simt.analysis.ssa import Ssa, destinations, terminator_definition, terminator_uses, uses
from simt.ptx.types import Kind, Type, floating
from simt.records import replace

WIDTHS = tuple(bits for bits in (32, 64) if floating(bits).is_native_float)


def with_float_registers(function: Function, ssa: Ssa | None = None) -> tuple[Function, Ssa | None]:
    """The function with such registers; itself, and its SSA, if there are none."""
    floats = _holding_floats(function)
    if not floats:
        return function, ssa
    instead = {r: replace(r, type=floating(r.type.bits)) for r in function.registers if r in floats}
    made = replace(copied(function), registers=[instead.get(r, r) for r in function.registers])
    for block in made.blocks:
        block.ops = [_with(op, instead) for op in block.ops]
    return made, None


def _holding_floats(function: Function) -> set[Register]:
    """Registers of bits that some instruction takes as a float, and each one as a float or as bits."""
    bits = {r for r in function.registers if r.type.kind is Kind.BITS and r.type.bits in WIDTHS}
    takes_floats = [op for op in function.ops() if isinstance(op, Op) and _has_floats(op)] if bits else []
    floats = {r for op in takes_floats for r, t in _uses(op) if r in bits and _is_float(t, r)}
    if not floats:
        return floats
    others = {*function.parameters, *function.results}
    for op in function.ops():
        others.update(r for r, t in _uses(op) if t is not r.type and not _is_float(t, r))
    for block in function.blocks:
        others.update(terminator_uses(block))
        others.update(r for r in (terminator_definition(block),) if r is not None)
    return floats - others


def _has_floats(op: Op) -> bool:
    return any(t.is_native_float for t in (*op.source_types.values(), *op.result_types))


def _is_float(t: Type | None, register: Register) -> bool:
    """Whether a use takes a register as a float of its width."""
    return t is not None and t.is_native_float and t.bits == register.type.bits


def _uses(op: Op | Call) -> list[tuple[Register, Type | None]]:
    """The registers that an op reads and writes, each with its type there, None if it is not an operand."""
    if isinstance(op, Call):
        return [(r, None) for r in (*uses(op), *destinations(op)) if r is not None]
    found: list[tuple[Register, Type | None]] = []
    for name, operand in op.sources.items():
        if isinstance(operand, Register):
            found.append((operand, op.source_types.get(name)))
        elif isinstance(operand, tuple):
            found += [(o, op.source_types.get(name)) for o in operand if isinstance(o, Register)]
    found += [(r, None) for r, _ in memory_operands(op)]
    return found + [(r, t) for r, t in zip(op.destinations, op.result_types, strict=True) if r is not None]


def _with(op: Op | Call, instead: dict[Register, Register]) -> Op | Call:
    """An op with other registers: another one, if it has any of them."""
    if isinstance(op, Call) or instead.keys().isdisjoint((*uses(op), *op.destinations)):
        return op
    written = tuple(None if d is None else instead.get(d, d) for d in op.destinations)
    return replace(renamed(op, instead), destinations=written, kind=None)
