"""Divisions that are shifts where the divisor is a power of two, in one piece again.

Code that takes an index apart by the sizes of an array (CuPy's indexers) asks whether a size is a power of
two and divides only if it is not. A GPU gains by that; here the quotient is one of two things, and what
follows sees no rows and columns of an index. The branch becomes one op (`QUOTIENT_OR_NONE`), which gives the
same in all lanes; by zero, too, which has no bit that is one and goes the way of the powers.
"""

from __future__ import annotations

from typing import Any, cast

from simt.analysis.clock import has_clock
from simt.analysis.lower_forms import QUOTIENT_OR_NONE, simple
from simt.analysis.program import Branch, Function, Op, Program
from simt.analysis.schedule import schedule
from simt.analysis.ssa import Ssa, build
from simt.analysis.terms import NoSumError, Sum, TermAlgebra, Terms
from simt.analysis.ways import Ways, all_ways, is_candidate, with_one_way
from simt.ptx.types import PRED, U32, U64, Type

TYPES = {t.bits: t for t in (U32, U64)}


def with_power_divisions(program: Program, kernel: Function, ssa: Ssa | None) -> tuple[Function, Ssa | None]:
    """The kernel with one op in place of each such branch; else itself, and its SSA, if that was given or had
    to be made. (The clock counts what was written.)"""
    if not any(is_candidate(block) for block in kernel.blocks) or has_clock(kernel.name, program):
        return kernel, ssa
    ssa = ssa or build(kernel, schedule(kernel))
    terms = Terms(ssa, program.environment, _Shifts())
    found = [(ways, made) for ways in all_ways(ssa) if (made := _joined(ssa, terms, ways)) is not None]
    return (with_one_way(kernel, ssa, found), None) if found else (kernel, ssa)


class _Shifts(TermAlgebra):
    """`TermAlgebra` with quotients, and with shifts, masks and counts of bits of values."""

    def divide(self, t: Type, a: Sum, b: Sum) -> Sum:
        return self.atom(t.bits, "quotient", t.is_signed, a, b)

    divide_short = divide

    def shift_right(self, t: Type, a: Sum, n: Sum) -> Sum:
        return self.atom(t.bits, "shifted", t.is_signed, a, n)

    def and_(self, t: Type, a: Sum, b: Sum) -> Sum:
        return super().and_(t, a, b) if t.is_predicate else self.atom(t.bits, "masked", frozenset((a, b)))

    def popcount(self, t: Type, a: Sum) -> Sum:
        return self.atom(U32.bits, "count", a)


def _joined(ssa: Ssa, terms: Terms, ways: Ways) -> list[Op] | None:
    """What stands in place of a branch; None if it is no such division."""
    m = terms.algebra
    for op in cast("list[Op]", ways.long.ops):
        made = ssa.of[id(op)]
        key = m.key(terms.of(made[0])) if len(made) == 1 and made[0] is not None else None
        name, *given = cast("tuple[Any, ...]", key or ("",))
        if name != "quotient" or {*op.sources} != {"a", "b"}:
            continue
        signed, dividend, divisor = cast("tuple[bool, Sum, Sum]", given)
        if signed or divisor.bits not in TYPES:
            return None
        with_zero = _division(op)
        try:
            same = _asks(ssa, terms, ways, divisor) and _agree(ssa, terms, ways, dividend, divisor)
        except NoSumError:
            same = False
        return [with_zero if one is op else one for one in cast("list[Op]", ways.long.ops)] if same else None
    return None


def _asks(ssa: Ssa, terms: Terms, ways: Ways, divisor: Sum) -> bool:
    """Whether a branch asks if at most one bit of a divisor is set."""
    m, t, branch = terms.algebra, TYPES[divisor.bits], ways.head.terminator
    assert isinstance(branch, Branch)
    power = m.compare("eq", t, m.and_(t, divisor, _less_one(m, divisor)), m.const(t, 0))
    asked = terms.of(ssa.read[id(branch)][branch.predicate])
    return (asked if ways.holds else m.invert(PRED, asked)) == power


def _agree(ssa: Ssa, terms: Terms, ways: Ways, dividend: Sum, divisor: Sum) -> bool:
    """Whether the short way shifts and masks where the long one divides."""
    m, t = terms.algebra, TYPES[divisor.bits]
    quotient, mask = m.divide(t, dividend, divisor), _less_one(m, divisor)
    same = {
        quotient: m.shift_right(t, dividend, m.popcount(t, mask)),
        m.sub(t, dividend, m.mul(t, quotient, divisor)): m.and_(t, dividend, mask),
    }
    for phi in ssa.phis.get(ways.end.index, ()):
        long, short = (terms.of(phi.inputs[way.index]) for way in (ways.long, ways.short))
        if long != short and same.get(long) != short:
            return False
    return True


def _less_one(m: TermAlgebra, divisor: Sum) -> Sum:
    t = TYPES[divisor.bits]
    return m.sub(t, divisor, m.const(t, 1))


def _division(op: Op) -> Op:
    """An op that divides as another one, but gives 0 by zero."""
    (result,) = op.destinations
    sources: dict[str, Any] = {name: (op.sources[name], op.source_types[name]) for name in ("a", "b")}
    return simple(QUOTIENT_OR_NONE, TYPES[op.result_types[0].bits], result, sources, op.line)
