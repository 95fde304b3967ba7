"""CTAs of which no thread does anything, told before they run.

Kernels that work on a part of a matrix that shrinks, or on a triangle of it, are often launched for all:

    if (i > k && j > k && i < n && j < n) a[i * n + j] -= a[i * n + k] * a[k * n + j];

The conditions on the way to the first access are evaluated over intervals, in the code that goes from CTA
to CTA: of `%tid` it is known from where to where it goes in a CTA. Where no thread can pass all of them,
the CTA, or the whole strip of CTAs (`llvm_strips.py`), is left out. There is no such code for kernels that
only ask whether an index is below a parameter (`i < n`): grids are made for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, TypeAlias, cast

from simt.analysis.evaluate import Evaluator
from simt.analysis.program import Block, Branch, Call, Exit, Jump, Op, Register, Return, SymbolAddress
from simt.analysis.shape import BlockShape
from simt.analysis.shape_algebra import MIRRORED
from simt.analysis.ssa import registers_of
from simt.engine.llvm_access import I64
from simt.engine.llvm_algebra import SIGNED
from simt.engine.llvm_builder import Builder, Value
from simt.engine.llvm_float import LlvmAlgebra
from simt.engine.llvm_folding import signed
from simt.engine.llvm_memory import MemoryAlgebra
from simt.engine.llvm_series import ABOVE, PARAMETER
from simt.isa.algebra import Algebra, Comparison, Composed
from simt.ptx.types import PRED, U32, Type
from simt.records import dataclass

_LIMIT = 1 << 31
"""What is not between this and its negative is not told of: so nothing wraps."""
LONGEST = 400
"""Ops on the way to the first access, as far as they are looked at."""
JUMPS = 8
"""To a block where threads end, at most."""


class NotToldError(Exception):
    """Nothing is known of a value."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An integer, as a signed number from `low` to `high` (i64). `of_cta`: it depends on the CTA."""

    low: Value
    high: Value
    of_cta: bool


@dataclass(frozen=True, slots=True)
class Maybe:
    """A predicate: whether it may be true in a thread, and false (i1). `true_tells`, `false_tells`: that it
    may not is more than that the grid is larger than what it is for. `true_if`, `false_if`: comparisons, by
    their ops, that all have to hold, or not to hold, for it."""

    true: Value
    false: Value
    true_tells: bool = False
    false_tells: bool = False
    true_if: tuple[tuple[int, bool], ...] = ()
    false_if: tuple[tuple[int, bool], ...] = ()


Told: TypeAlias = Value | Interval | Maybe
Source: TypeAlias = Callable[[Op], int | None]


class IntervalAlgebra(Composed["Told"]):
    """What is known of the threads of some CTAs side by side. A scalar (`Value`) is the same in all threads
    of the launch. `first`, `last`: `%ctaid` of the first and the last CTA. `valid`: what must hold (i1)."""

    parameter: int | None = None
    op = 0
    """Of the present op."""

    def __init__(
        self, scalars: LlvmAlgebra, block: BlockShape, load: Callable[[Type, int], Value],
        first: Sequence[str], last: Sequence[str],
    ) -> None:  # fmt: skip
        self.scalars = scalars
        self.block = block
        self.load_parameter = load
        self.first, self.last = first, last
        self.valid: list[Value] = []
        self._bare: dict[str, frozenset[str]] = {}

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Any other primitive, on what is the same for all."""
        primitive = getattr(self.scalars, name, None)

        def run(*arguments: Any) -> Any:
            if primitive is None or any(isinstance(a, (Interval, Maybe)) for a in arguments):
                raise NotToldError
            made = primitive(*arguments)
            if isinstance(made, tuple):  # entries of tables are no sizes
                return cast("tuple[Value, ...]", made)
            return self._of_size(made, *(a for a in arguments if isinstance(a, Value)))

        return run

    # -- where values come from ----------------------------------------------------------------------

    def special(self, name: str, component: str) -> Told:
        axis = self.block.axis(component) if component in tuple("xyz") else -1
        extents = self.block.columns, self.block.y, self.block.z
        if axis < 0 or name not in ("tid", "ntid", "ctaid"):
            raise NotToldError
        match name:
            case "ntid":
                return self.scalars.number("i32", extents[axis])
            case "tid":
                return Interval(self._number(0), self._number(extents[axis] - 1), of_cta=False)
            case _:
                low, high = (self._wide(Value(c[axis], "i32")) for c in (self.first, self.last))
                return Interval(low, high, of_cta=True)

    def load(self, t: Type, space: str, address: Told, count: int, volatile: bool) -> tuple[Value, ...]:
        if space != "param" or self.parameter is None or count != 1:
            raise NotToldError
        return (self.load_parameter(t, self.parameter),)

    # -- integers --------------------------------------------------------------------------------------

    def add(self, t: Type, a: Told, b: Told) -> Told:
        return self._by_ends("add", t, a, b)

    def sub(self, t: Type, a: Told, b: Told) -> Told:
        if isinstance(a, Value) and isinstance(b, Value):
            return self._near(self.scalars.sub(t, a, b), a, b)
        a, b = self._interval(a), self._interval(b)
        return self._made("sub", (a.low, b.high), (a.high, b.low), a.of_cta or b.of_cta)

    def mul(self, t: Type, a: Told, b: Told) -> Told:
        """One factor is a number that is not negative, or is required not to be."""
        if isinstance(a, Value) and isinstance(b, Value):
            return self._of_size(self.scalars.mul(t, a, b), a, b)
        if isinstance(a, Interval) and isinstance(b, Interval):
            raise NotToldError
        interval, factor = (a, b) if isinstance(a, Interval) else (b, a)
        times, interval = self._interval(factor).low, self._interval(interval)
        self._require("sge", times, 0)
        return self._made("mul", (interval.low, times), (interval.high, times), interval.of_cta)

    def shift_left(self, t: Type, a: Told, n: Told) -> Told:
        if isinstance(a, Value) and isinstance(n, Value):
            return self._of_size(self.scalars.shift_left(t, a, n), a, n)
        if not isinstance(n, Value) or n.literal is None or n.literal > U32.bits - 2:
            raise NotToldError
        return self.mul(t, a, self.scalars.number(f"i{t.bits}", 1 << n.literal))

    def resize(self, source: Type, target: Type, a: Told) -> Told:
        if isinstance(a, Value):
            return self._of_size(self.scalars.resize(source, target, a), a)
        interval = self._interval(a)
        if target.bits > source.bits and not source.is_signed:
            self._require("sge", interval.low, 0)
        elif target.bits < U32.bits:
            raise NotToldError
        return interval

    def to_bits(self, t: Type, a: Told) -> Told:
        return self.scalars.to_bits(t, a) if isinstance(a, Value) else a

    def from_bits(self, t: Type, a: Told) -> Told:
        return self.scalars.from_bits(t, a) if isinstance(a, Value) else a

    # -- predicates ------------------------------------------------------------------------------------

    def compare(self, op: Comparison, t: Type, a: Told, b: Told) -> Told:
        if isinstance(a, Value) and isinstance(b, Value):
            return self.scalars.compare(op, t, a, b)
        if t.is_float or t.is_predicate:
            raise NotToldError
        if op in ABOVE:
            return self.compare(MIRRORED[op], t, b, a)
        below, above = self._interval(a), self._interval(b)
        if not t.is_signed and op not in ("eq", "ne"):
            self._require("sge", below.low, 0)
            self._require("sge", above.low, 0)
        of_cta = below.of_cta or above.of_cta
        if op in ("eq", "ne"):
            meet = self._and(self._test("le", below.low, above.high), self._test("le", above.low, below.high))
            equal = Maybe(meet, Value("true", "i1"), true_tells=of_cta, true_if=((self.op, True),))
            return equal if op == "eq" else self._inverted(equal)
        true = self._test(op, below.low, above.high)
        false = self._test("le" if op == "lt" else "lt", above.low, below.high)
        true_tells = of_cta and not self._is_bare(b) and not _is_number(a)
        false_tells = of_cta and not self._is_bare(a) and not _is_number(b)
        return Maybe(true, false, true_tells, false_tells, ((self.op, True),), ((self.op, False),))

    def and_(self, t: Type, a: Told, b: Told) -> Told:
        if t != PRED or (isinstance(a, Value) and isinstance(b, Value)):
            return self._plain("and_", t, a, b)
        return self._inverted(self._either(self.maybe(a, True), self.maybe(b, True)))

    def or_(self, t: Type, a: Told, b: Told) -> Told:
        if t != PRED or (isinstance(a, Value) and isinstance(b, Value)):
            return self._plain("or_", t, a, b)
        return self._either(self.maybe(a), self.maybe(b))

    def invert(self, t: Type, a: Told) -> Told:
        return self._inverted(a) if isinstance(a, Maybe) else self._plain("invert", t, a)

    def maybe(self, a: Told, inverted: bool = False) -> Maybe:
        """A predicate, or its complement."""
        if isinstance(a, Interval):
            raise NotToldError
        found = a if isinstance(a, Maybe) else Maybe(a, self.scalars.invert(PRED, a))
        return self._inverted(found) if inverted else found

    # -- parts -----------------------------------------------------------------------------------------

    def _plain(self, name: str, t: Type, *operands: Told) -> Value:
        if not all(isinstance(o, Value) for o in operands):
            raise NotToldError
        return getattr(self.scalars, name)(t, *operands)

    def _either(self, a: Maybe, b: Maybe) -> Maybe:
        """Where both may be false, their conjunction is taken to be possible."""
        return Maybe(
            self._or(a.true, b.true),
            self._and(a.false, b.false),
            a.true_tells and b.true_tells,
            a.false_tells or b.false_tells,
            false_if=a.false_if + b.false_if,
        )

    @staticmethod
    def _inverted(a: Maybe) -> Maybe:
        return Maybe(a.false, a.true, a.false_tells, a.true_tells, a.false_if, a.true_if)

    def _interval(self, a: Told) -> Interval:
        if isinstance(a, Interval):
            return a
        if isinstance(a, Maybe) or a.type not in ("i32", I64):
            raise NotToldError
        if a.type == I64:
            self._bound(a, a)
            return Interval(a, a, of_cta=False)
        wide = self._wide(a)
        return Interval(wide, wide, of_cta=False)

    def _by_ends(self, opcode: str, t: Type, a: Told, b: Told) -> Told:
        if isinstance(a, Value) and isinstance(b, Value):
            return self._near(getattr(self.scalars, opcode)(t, a, b), a, b)
        a, b = self._interval(a), self._interval(b)
        return self._made(opcode, (a.low, b.low), (a.high, b.high), a.of_cta or b.of_cta)

    def _made(
        self, opcode: str, lower: tuple[Value, Value], upper: tuple[Value, Value], of_cta: bool
    ) -> Interval:
        """What an operation gives of two operands for the lower end, and of two for the upper one."""
        low, high = (self.scalars.binary(opcode, *ends) for ends in (lower, upper))
        self._bound(low, high)
        return Interval(low, high, of_cta)

    def _bound(self, low: Value, high: Value) -> None:
        self._require("sge", low, -_LIMIT)
        self._require("slt", high, _LIMIT)

    def _require(self, comparison: str, value: Value, bound: int) -> None:
        if value.literal is None:
            self.valid.append(self.scalars.test(f"icmp {comparison}", value, self._number(bound)))
        elif not _holds(comparison, signed(value.literal, 64), bound):
            raise NotToldError

    def _is_bare(self, a: Told) -> bool:
        """Whether it is the size of what a grid is for: a parameter, a product of such, or nearly one."""
        return isinstance(a, Value) and self._sizes(a) is not None

    def _sizes(self, a: Value) -> frozenset[str] | None:
        """The parameters that a size is made of; None if it is none."""
        if _is_number(a):
            return frozenset()
        return frozenset({a.ir}) if a.ir.startswith(PARAMETER) else self._bare.get(a.ir)

    def _of_size(self, made: Value, *operands: Value) -> Value:
        """What is made of values, by other operations than sums."""
        sizes = [found for a in operands if (found := self._sizes(a)) is not None]
        if len(sizes) == len(operands):
            self._bare[made.ir] = frozenset[str]().union(*sizes)
        return made

    def _near(self, made: Value, a: Value, b: Value) -> Value:
        """A sum of two values, or their difference: that of two parameters is no size (`n - k`)."""
        together = (self._sizes(a) or frozenset[str]()) | (self._sizes(b) or frozenset[str]())
        return self._of_size(made, a, b) if len(together) <= 1 or _is_number(a) or _is_number(b) else made

    def _number(self, value: int) -> Value:
        return self.scalars.number(I64, value)

    def _wide(self, value: Value) -> Value:
        if value.literal is not None:
            return self._number(signed(value.literal, int(value.type[1:])))
        return self.scalars.cast("sext", I64, value)

    def _test(self, op: Comparison, a: Value, b: Value) -> Value:
        return self.scalars.test(f"icmp {SIGNED[op]}", a, b)

    def _and(self, a: Value, b: Value) -> Value:
        return self.scalars.binary("and", a, b)

    def _or(self, a: Value, b: Value) -> Value:
        return self.scalars.binary("or", a, b)


def _holds(comparison: str, value: int, bound: int) -> bool:
    return value >= bound if comparison == "sge" else value < bound


def _is_number(value: Told) -> bool:
    return isinstance(value, Value) and value.literal is not None


class _Registers:
    """What is known of registers so far."""

    def __init__(self) -> None:
        self.known: dict[Register, Told] = {}

    def register(self, register: Register) -> Told:
        if register not in self.known:
            raise NotToldError
        return self.known[register]

    def symbol(self, symbol: SymbolAddress) -> Told:
        if symbol.space != "param":
            raise NotToldError
        return Value("0", f"i{symbol.type.bits}")

    def function(self, function: object) -> Told:
        raise NotToldError


class IdleCtas:
    """The test for a kernel. `m`: of its code. `offset`: where in the parameters an op reads."""

    def __init__(self, entry: Block, m: MemoryAlgebra, offset: Source) -> None:
        self.m = m
        self.offset = offset
        self.way = _needed(list(islice(_way(entry, offset), LONGEST)))
        goes = self._goes(self._algebra(Builder(), ("%x",) * 3, ("%x",) * 3))
        self.tells = any(g.true_tells for g in goes)
        """Whether there is anything to test."""
        self.goers = dict(what for g in goes for what in g.true_if)
        """By ops: what comparisons give in threads that go on."""

    def _algebra(self, builder: Builder, first: Sequence[str], last: Sequence[str]) -> IntervalAlgebra:
        scalars = LlvmAlgebra(builder, self.m.module, 1, self.m.features)
        return IntervalAlgebra(scalars, self.m.block, self._parameter, first, last)

    def _parameter(self, t: Type, at: int) -> Value:
        """A parameter's value, which is loaded before anything else. Raises `NotToldError`."""
        if at < 0 or at % t.bytes or at + t.bytes > self.m.parameter_size:
            raise NotToldError
        self.m.parameter = at
        (value,) = self.m.load(t, "param", Value("0", I64), 1, volatile=False)
        return value

    def _goes(self, m: IntervalAlgebra) -> list[Maybe]:
        """What has to be true for a thread to go on, branch by branch, as far as it is told."""
        registers = _Registers()
        evaluator: Evaluator[Told] = Evaluator(cast("Algebra[Told]", m), registers, self.m.environment)
        goes: list[Maybe] = []
        for step in self.way:
            if isinstance(step, Op):
                self._run(evaluator, m, registers, step)
                continue
            ends_if_true = _ends(step.taken) != step.negated
            with suppress(NotToldError):
                goes.append(m.maybe(registers.register(step.predicate), inverted=ends_if_true))
        return goes

    def lines(self, name: str, first: Sequence[str], last: Sequence[str]) -> list[str]:
        """Code that computes `%name`: whether no thread of the CTAs from `first` to `last` (i32s by axis)
        does anything; and `%name.all`: whether none ends."""
        builder = Builder(prefix=f"%{name}.v")
        m = self._algebra(builder, first, last)
        go, end = Value("true", "i1"), Value("false", "i1")
        for g in self._goes(m):
            go, end = m.scalars.binary("and", go, g.true), m.scalars.binary("or", end, g.false)
        valid = Value("true", "i1")
        for held in m.valid:
            valid = m.scalars.binary("and", valid, held)
        return [
            *builder.lines,
            f"  %{name}.none = xor i1 {go.ir}, true",
            f"  %{name} = and i1 %{name}.none, {valid.ir}",
            f"  %{name}.all = xor i1 {end.ir}, true",
        ]

    def _run(self, evaluator: Evaluator[Told], m: IntervalAlgebra, registers: _Registers, op: Op) -> None:
        m.parameter, m.op = self.offset(op), id(op)
        try:
            values = evaluator.op(op) if op.guard is None else (None,) * len(op.destinations)
        except NotToldError:
            values = (None,) * len(op.destinations)
        for register, value in zip(op.destinations, values):
            if register is None:
                continue
            if value is None:
                registers.known.pop(register, None)
            else:
                registers.known[register] = value


def unless_idle(idle: IdleCtas, check: Callable[[str], list[str]]) -> list[str]:
    """Up to `cta.run`, where a CTA comes of which some thread may do something. `check`: goes to a label, or
    leaves the kernel."""
    cta = tuple(f"%cta.{c}" for c in "xyz")
    return [
        *check("cta.try"),
        "cta.try:",
        *idle.lines("idle", cta, cta),
        "  br i1 %idle, label %cta.idle, label %cta.run",
        "cta.idle:",
        "  store i64 %cta, ptr %cta.slot",
        "  br label %cta.end",
    ]


def _way(block: Block, offset: Source) -> Iterator[Op | Branch]:
    """From a kernel's begin to its first effect, or to where threads part that go on: what is done, and the
    branches by which threads end."""
    seen: set[int] = set()
    while block.index not in seen:
        seen.add(block.index)
        for op in block.ops:
            if isinstance(op, Call) or (op.form.effects and offset(op) is None):
                return
            yield op
        match block.terminator:
            case Jump(target=target):
                block = target
            case Branch() as branch if _ends(branch.taken) != _ends(branch.otherwise):
                yield branch
                block = branch.otherwise if _ends(branch.taken) else branch.taken
            case _:
                return


def _needed(way: Sequence[Op | Branch]) -> list[Op | Branch]:
    """The branches, and what their predicates are made of."""
    needed: set[Register] = set()
    kept: list[Op | Branch] = []
    for step in reversed(way):
        if isinstance(step, Branch):
            needed.add(step.predicate)
        elif needed.isdisjoint(step.destinations):
            continue
        else:
            needed.update(r for operand in step.sources.values() for r in registers_of(operand))
        kept.append(step)
    return kept[::-1]


def _ends(block: Block) -> bool:
    """Whether a thread that comes to a block ends, and does nothing."""
    for _ in range(JUMPS):
        if block.ops:
            return False
        if isinstance(block.terminator, (Exit, Return)):
            return True
        if not isinstance(block.terminator, Jump):
            return False
        block = block.terminator.target
    return False
