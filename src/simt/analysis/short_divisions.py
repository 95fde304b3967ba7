"""Divisions of 64 bits that a compiler does in 32, in one piece again.

A GPU divides by 32 bits in a fourth of the time. So LLVM, and all that is made with it (nvcc, clang, Numba,
Triton), writes a branch for a division of 64 bits: by 32 bits where the upper halves of both operands are
zero, else by 64. A loop that is one block for its programmer becomes one of many blocks, in which lanes may
part. Here the branch becomes one op (`QUOTIENT`, `REST`). It gives the same in all lanes, those that divide
by zero included. What follows may then see rows and columns of an index.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from simt.analysis.clock import has_clock
from simt.analysis.lower_forms import QUOTIENT, REST, simple
from simt.analysis.program import Block, Branch, Function, Op, Program
from simt.analysis.schedule import schedule
from simt.analysis.ssa import Ssa, build
from simt.analysis.terms import NoSumError, Sum, TermAlgebra, Terms
from simt.analysis.ways import Ways, all_ways, is_candidate, with_one_way
from simt.isa.form import Form
from simt.ptx.types import PRED, S64, U32, U64, Type
from simt.records import dataclass

UPPER = 2**U64.bits - 2**U32.bits
"""The bits of the upper half."""
FORMS = {"quotient": QUOTIENT, "remainder": REST}


@dataclass(frozen=True, slots=True)
class _Operands:
    """Of a division; `divisions`: the ops that divide."""

    dividend: Sum
    divisor: Sum
    divisions: dict[int, Op]


def with_short_divisions(program: Program, kernel: Function, ssa: Ssa | None) -> tuple[Function, Ssa | None]:
    """The kernel with one op in place of each such branch; else itself, and its SSA, if that was given or had
    to be made. (The clock counts what was written.)"""
    if not any(is_candidate(block) for block in kernel.blocks) or has_clock(kernel.name, program):
        return kernel, ssa
    ssa = ssa or build(kernel, schedule(kernel))
    reader = _Reader(ssa, Terms(ssa, program.environment, _Halves()))
    found = [(ways, made) for ways in all_ways(ssa) if (made := reader.joined(ways)) is not None]
    return (with_one_way(kernel, ssa, found), None) if found else (kernel, ssa)


class _Halves(TermAlgebra):
    """`TermAlgebra` with quotients and remainders, and with `or` of numbers."""

    def divide(self, t: Type, a: Sum, b: Sum) -> Sum:
        return self.atom(t.bits, "quotient", t.is_signed, a, b)

    def remainder(self, t: Type, a: Sum, b: Sum) -> Sum:
        return self.atom(t.bits, "remainder", t.is_signed, a, b)

    def or_(self, t: Type, a: Sum, b: Sum) -> Sum:
        return super().or_(t, a, b) if t.is_predicate else self.atom(t.bits, "or", frozenset((a, b)))


class _Reader:
    """Reads what the ways of a branch make."""

    def __init__(self, ssa: Ssa, terms: Terms) -> None:
        self.ssa, self.terms = ssa, terms
        self.algebra = terms.algebra

    def joined(self, ways: Ways) -> list[Op] | None:
        """What stands in place of a branch; None if it is no such division."""
        operands = self._operands(ways.long)
        try:
            same = operands is not None and self._asks(ways, operands) and self._agree(ways, operands)
        except NoSumError:
            return None
        if operands is None or not same:
            return None
        ops = cast("list[Op]", ways.long.ops)
        return [operands.divisions.get(id(op), op) for op in ops]

    def _operands(self, block: Block) -> _Operands | None:
        """What a block divides by what, if it does; by 64 bits, and all by the same."""
        found, divisions, ops = set[tuple[Sum, Sum]](), dict[int, Op](), cast("list[Op]", block.ops)
        if not any(map(_may_divide, ops)):  # most blocks
            return None
        for op in ops:
            (made,) = self.ssa.of[id(op)] if len(op.destinations) == 1 else (None,)
            key = self.algebra.key(self.terms.of(made)) if made is not None else None
            name, *given = cast("tuple[Any, ...]", key or ("",))
            if name in FORMS and _may_divide(op):
                signed, dividend, divisor = cast("tuple[bool, Sum, Sum]", given)
                found.add((dividend, divisor))
                divisions[id(op)] = _division(op, FORMS[name], S64 if signed else U64)
        return _Operands(*found.pop(), divisions) if len(found) == 1 else None

    def _asks(self, ways: Ways, operands: _Operands) -> bool:
        """Whether a branch asks if both upper halves are zero. (Of one that is, it need not.)"""
        m, both = self.algebra, (operands.dividend, operands.divisor)
        open_ = [one for one in both if m.resize(U32, U64, m.resize(U64, U32, one)) != one]
        if not open_:
            return False
        asked = open_[0] if len(open_) == 1 else m.or_(U64, *open_)
        zero = m.compare("eq", U64, m.and_(U64, asked, Sum(U64.bits, UPPER)), Sum(U64.bits, 0))
        either = m.compare("eq", U64, m.and_(U64, m.or_(U64, *both), Sum(U64.bits, UPPER)), Sum(U64.bits, 0))
        branch = ways.head.terminator
        assert isinstance(branch, Branch)
        term = self.terms.of(self.ssa.read[id(branch)][branch.predicate])
        return (term if ways.holds else m.invert(PRED, term)) in (zero, either)

    def _agree(self, ways: Ways, operands: _Operands) -> bool:
        """Whether the short way gives in 32 bits what the long one gives in 64."""
        same = dict(self._results(operands))
        for phi in self.ssa.phis.get(ways.end.index, ()):
            long, short = (self.terms.of(phi.inputs[way.index]) for way in (ways.long, ways.short))
            if long != short and same.get(long) != short:
                return False
        return True

    def _results(self, operands: _Operands) -> Iterator[tuple[Sum, Sum]]:
        """Values of a division by 64 bits, with what they are where all upper halves are zero."""
        m, wide = self.algebra, (operands.dividend, operands.divisor)
        half = [m.resize(U64, U32, operand) for operand in wide]
        for long in (S64, U64):
            quotients = m.divide(long, *wide), m.divide(U32, *half)
            rests = [m.sub(t, a, m.mul(t, q, b)) for t, q, (a, b) in zip((U64, U32), quotients, (wide, half))]
            for of_64, of_32 in (quotients, (m.remainder(long, *wide), m.remainder(U32, *half)), rests):
                yield of_64, m.resize(U32, U64, of_32)
                yield m.resize(U64, U32, of_64), of_32


def _may_divide(op: Op) -> bool:
    """Whether an op makes one number of 64 bits of two."""
    return len(op.result_types) == 1 and op.result_types[0].bits == U64.bits and {*op.sources} == {"a", "b"}


def _division(op: Op, form: Form, t: Type) -> Op:
    """An op that divides by 32 bits where it can."""
    (result,) = op.destinations
    sources: dict[str, Any] = {name: (op.sources[name], op.source_types[name]) for name in ("a", "b")}
    return simple(form, t, result, sources, op.line)
