"""Masks of shifted numbers, as masks of the numbers, which are then shifted: `(i >> 1) & -8` as
`(i & -16) >> 1`.

Compilers write `i / 16 * 8` in the first way. Of half of a number that goes on from lane to lane nothing is
known; the other way shows that 16 lanes have the same.
"""

from __future__ import annotations

from collections.abc import Mapping

from simt.analysis.copies import copied, new_register
from simt.analysis.lower_forms import CUT, PART, simple
from simt.analysis.program import Call, Constant, Function, Op, Register
from simt.analysis.shape import Shape
from simt.analysis.ssa import Definition, Ssa
from simt.isa.logic import and_, shr
from simt.ptx.types import U32, bits_type
from simt.records import dataclass


@dataclass(frozen=True, slots=True)
class _Masked:
    """`mask` of a number that `shift` has shifted by `bits`. `number`: its register there."""

    shift: Op
    number: Register
    bits: int
    mask: int


def with_masks_first(kernel: Function, ssa: Ssa, shapes: Mapping[Definition, Shape]) -> Function:
    """The kernel, with such masks where numbers grow evenly from lane to lane."""
    ops = [op for block in kernel.blocks for op in block.ops if isinstance(op, Op)]
    masked = {op: _masked(op, ssa, shapes) for op in ops if op.form.meaning is and_}
    found = {op: one for op, one in masked.items() if one is not None}
    return _rewritten(kernel, found) if found else kernel


def _masked(op: Op, ssa: Ssa, shapes: Mapping[Definition, Shape]) -> _Masked | None:
    half, mask = op.sources["a"], op.sources["b"]
    if isinstance(half, Constant):
        half, mask = mask, half
    if op.guard is not None or not (isinstance(half, Register) and isinstance(mask, Constant)):
        return None
    shift = ssa.read[id(op)][half].origin
    if not isinstance(shift, Op) or shift.form.meaning is not shr or shift.guard is not None:
        return None
    number, by, width = shift.sources["a"], shift.sources["b"], half.type.bits
    if not (isinstance(number, Register) and isinstance(by, Constant)):
        return None
    shape = shapes.get(ssa.read[id(shift)][number])
    grows = shape is not None and shape.is_affine and shape.stride and number.type.bits == width
    kept = mask.bits % 2 ** (width - by.bits) if by.bits < width else 0  # without copies of a sign
    if not grows or not kept or kept != mask.bits or mask.bits & 1:
        return None
    return _Masked(shift, number, by.bits, mask.bits)


def _rewritten(kernel: Function, found: Mapping[Op, _Masked]) -> Function:
    """The number is masked where it was shifted: it may be another one where the mask was."""
    function = copied(kernel)
    cut, behind = dict[Op, Op](), dict[Op, list[Op]]()
    for op, masked in found.items():
        (result,) = op.destinations
        assert result is not None
        t, number = bits_type(result.type.bits), masked.number
        upper = new_register(function, f"{number.name}.upper", t)
        mask = Constant(t, masked.mask << masked.bits)
        behind.setdefault(masked.shift, []).append(
            simple(CUT, t, upper, {"a": (number, t), "b": (mask, t)}, masked.shift.line)
        )
        by = Constant(U32, masked.bits)
        cut[op] = simple(PART, t, result, {"a": (upper, t), "n": (by, U32)}, op.line, atype=t)
    for block in function.blocks:
        ops = list[Op | Call]()
        for op in block.ops:
            ops.append(cut.get(op, op) if isinstance(op, Op) else op)
            ops += behind.get(op, ()) if isinstance(op, Op) else ()
        block.ops = ops
    return function
