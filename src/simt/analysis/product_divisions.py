"""Divisions by products with a reciprocal, as programs write them out: `(umulhi(i, factor) + i) >> shift`.

Libraries that take an index apart by sizes that are known at run time only have a factor and a shift for
each (PyTorch's `IntDivider`, CUTLASS's and ggml's fast divisions): a GPU multiplies in a tenth of the time in
which it divides. What they make is a quotient if factor and shift are right for the size, by which they
multiply it again for the remainder, `i - quotient * size`. There the quotient becomes one op. It gives what
is written, and is guessed to be the quotient, and so the same for all lanes of a row; whether the factor is
right is asked at run time.
"""

from __future__ import annotations

from collections.abc import Sequence

from simt.analysis.clock import has_clock
from simt.analysis.copies import copied
from simt.analysis.lower_forms import QUOTIENT_BY_LONG_PRODUCT, QUOTIENT_BY_PRODUCT, simple
from simt.analysis.program import Block, Call, Constant, Function, Op, Program, Register, Source
from simt.analysis.schedule import schedule
from simt.analysis.ssa import Definition, Ssa, build
from simt.isa.integer import add, mul, sub
from simt.isa.logic import shr
from simt.ptx.types import U32


def with_product_divisions(
    program: Program, kernel: Function, ssa: Ssa | None
) -> tuple[Function, Ssa | None]:
    """The kernel with such ops; else itself, and its SSA, if that was given or had to be made. (The clock
    counts what was written.)"""
    if not any(map(_is_upper, kernel.ops())) or has_clock(kernel.name, program):
        return kernel, ssa
    ssa = ssa or build(kernel, schedule(kernel))
    found = dict[int, Op]()
    for block in ssa.schedule.order:
        found |= _Block(ssa, block).divisions()
    if not found:
        return kernel, ssa
    made = copied(kernel)
    for block in made.blocks:
        block.ops = [found.get(id(op), op) for op in block.ops]
    return made, None


def _is_upper(op: object) -> bool:
    """Whether an op is the upper half of a product of 32 bits without signs."""
    return (
        _is(op, mul) and isinstance(op, Op) and op.binding.get("mode") == "hi" and op.result_types == (U32,)
    )


def _is(op: object, meaning: object) -> bool:
    return (
        isinstance(op, Op) and op.form.meaning is meaning and op.guard is None and len(op.destinations) == 1
    )


class _Block:
    """Looks for divisions in a block, in which all that belongs to one is."""

    def __init__(self, ssa: Ssa, block: Block) -> None:
        self.ssa, self.block = ssa, block
        self.held = dict(ssa.entry.get(block.index, {}))  # what registers hold where the search is
        self.remainders = dict[Definition, list[tuple[Definition, Op]]]()

    def divisions(self) -> dict[int, Op]:
        """The ops in place of others, by identity of these."""
        found = dict[int, Op]()
        if not any(map(_is_upper, self.block.ops)):
            return found
        self.remainders = self._remainders(self.block.ops)
        for op in self.block.ops:
            if isinstance(op, Op) and _is(op, shr) and op.result_types == (U32,):
                division = self._division(op)
                if division is not None:
                    found[id(op)] = division
            self.held |= {made.register: made for made in self.ssa.of[id(op)] if made is not None}
        return found

    def _remainders(self, ops: Sequence[Op | Call]) -> dict[Definition, list[tuple[Definition, Op]]]:
        """By a quotient: what its products with something are subtracted from, and the ops that multiply."""
        found = dict[Definition, list[tuple[Definition, Op]]]()
        for op in ops:
            product = self._made_by(op, "b", mul) if _is(op, sub) else None
            if product is None or product.binding.get("mode") != "lo":
                continue
            dividend = self._read(op, "a")
            for factor in ("a", "b"):
                quotient = self._read(product, factor)
                if quotient is not None and dividend is not None:
                    found.setdefault(quotient, []).append((dividend, product))
        return found

    def _division(self, shift: Op) -> Op | None:
        (quotient,) = self.ssa.of[id(shift)]
        if quotient is None:
            return None
        for dividend, product in self.remainders.get(quotient, ()):
            total = self._made_by(shift, "a", add)
            uppers = [self._made_by(total or shift, name, mul) for name in (("a", "b") if total else ("a",))]
            for upper in uppers:
                others = {self._read(total, name) for name in ("a", "b")} if total else {dividend}
                factor = self._factor(upper, dividend) if upper is not None and dividend in others else None
                divisor = self._other(product, quotient)
                if factor is not None and divisor is not None and self._holds(dividend):
                    return _quotient(shift, dividend.register, divisor, factor, total is not None)
        return None

    def _factor(self, upper: Op, dividend: Definition) -> Source | None:
        """By what a dividend is multiplied; None if an op does something else."""
        return self._other(upper, dividend) if _is_upper(upper) else None

    def _other(self, product: Op, one: Definition) -> Source | None:
        """The other one of an op's two operands, if a register that holds it now, or a number."""
        for name, other in (("a", "b"), ("b", "a")):
            source = product.sources[other]
            if self._read(product, name) is one:
                read = self._read(product, other)
                if isinstance(source, Constant) or (read is not None and self._holds(read)):
                    return source if isinstance(source, Register | Constant) else None
        return None

    def _holds(self, definition: Definition) -> bool:
        return self.held.get(definition.register) is definition

    def _read(self, op: Op | Call, name: str) -> Definition | None:
        """The definition of a register that an op reads."""
        source = op.sources.get(name) if isinstance(op, Op) else None
        return self.ssa.read[id(op)].get(source) if isinstance(source, Register) else None

    def _made_by(self, op: Op | Call, name: str, meaning: object) -> Op | None:
        """The op of a meaning that makes what an op reads."""
        read = self._read(op, name)
        origin = read.origin if read is not None else None
        return origin if isinstance(origin, Op) and _is(origin, meaning) else None


def _quotient(shift: Op, dividend: Register, divisor: Source, factor: Source, plus: bool) -> Op:
    amount = shift.sources["b"]
    assert isinstance(amount, Register | Constant)
    given = {"a": dividend, "b": divisor, "c": factor, "e": amount}
    form = QUOTIENT_BY_LONG_PRODUCT if plus else QUOTIENT_BY_PRODUCT
    (result,) = shift.destinations
    return simple(form, U32, result, {name: (source, U32) for name, source in given.items()}, shift.line)
