"""Remainders by powers of two, as compilers write them for numbers with a sign: `i - ((i + c) & -32)`.

`c` is 31 for negative numbers and 0 for others. Where it is known to be 0, the remainder is `i & 31`: of that
more is known than of a difference of two numbers, for instance that it has no sign. So half of it is again a
number that goes on from lane to lane (`i % 32 / 2`), and so is an index that is made of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from simt.analysis.copies import copied
from simt.analysis.lower_forms import CUT, simple
from simt.analysis.program import Constant, Function, Op, Register
from simt.analysis.shape import Shape, trailing_zeros
from simt.analysis.ssa import Definition, Ssa
from simt.analysis.terms import Sum, TermAlgebra, Terms
from simt.isa.algebra import Environment
from simt.ptx.types import bits_type


def with_remainders(
    kernel: Function, ssa: Ssa, shapes: Mapping[Definition, Shape], environment: Environment
) -> Function:
    """The kernel, with a mask in place of such differences, where lanes have numbers of their own."""
    differences = [op for op in _after_masks(kernel, ssa) if _reads_affine(op, ssa, shapes)]
    if not differences:
        return kernel
    terms = Terms(ssa, environment, TermAlgebra())
    for definition, shape in shapes.items():
        if shape.const is not None and shape.exact and not definition.register.type.is_predicate:
            terms.known[definition] = Sum(definition.register.type.bits, shape.const)
    found = {op: cut for op in differences if (cut := _as_cut(op, ssa, terms)) is not None}
    return _rewritten(kernel, found) if found else kernel


def _after_masks(kernel: Function, ssa: Ssa) -> Iterator[Op]:
    """Ops that read what a number like -32 has to do with, and give one result."""
    masked = set[Definition | None]()
    for op in (op for block in ssa.schedule.order for op in block.ops):
        if isinstance(op, Op) and not op.form.effects and op.guard is None and len(op.destinations) == 1:
            if masked and not masked.isdisjoint(ssa.read[id(op)].values()):
                yield op
            if any(isinstance(source, Constant) and _is_mask(source) for source in op.sources.values()):
                masked.update(ssa.of[id(op)])


def _is_mask(number: Constant) -> bool:
    """Whether it is a power of two with a minus sign."""
    bits = number.type.bits
    return bits in (32, 64) and 1 < 2**bits - number.bits == 1 << trailing_zeros(number.bits)


def _reads_affine(op: Op, ssa: Ssa, shapes: Mapping[Definition, Shape]) -> bool:
    read = [shapes.get(definition) for definition in ssa.read[id(op)].values()]
    return any(shape is not None and shape.is_affine and shape.stride for shape in read)


def _as_cut(op: Op, ssa: Ssa, terms: Terms) -> Op | None:
    """A remainder as a number of which the upper bits are cut off; None if the op gives no such."""
    (definition,) = ssa.of[id(op)]
    if definition is None or definition.register.type.is_native_float:
        return None
    value, bits = terms.of(definition), definition.register.type.bits
    for atom, count in value.parts:
        less = Sum(bits, 0, frozenset({(atom, 2**bits - count)}))
        mask, divided = Constant(bits_type(bits), count), value.added(less)
        if _is_mask(mask) and terms.algebra.and_(mask.type, divided, Sum(bits, mask.bits)) == less:
            return _cut(op, definition.register, _register(op, ssa, terms, divided), 2**bits - mask.bits)
    return None


def _register(op: Op, ssa: Ssa, terms: Terms, value: Sum) -> Register | None:
    """The register among those that an op reads that holds a value."""
    read = ssa.read[id(op)].items()
    return next((r for r, d in read if not r.type.is_native_float and terms.of(d) == value), None)


def _cut(op: Op, result: Register, number: Register | None, divisor: int) -> Op | None:
    if number is None or number.type.bits != result.type.bits:
        return None
    t = bits_type(result.type.bits)
    return simple(CUT, t, result, {"a": (number, t), "b": (Constant(t, divisor - 1), t)}, op.line)


def _rewritten(kernel: Function, found: Mapping[Op, Op]) -> Function:
    function = copied(kernel)
    for block in function.blocks:
        block.ops = [found.get(op, op) if isinstance(op, Op) else op for op in block.ops]
    return function
