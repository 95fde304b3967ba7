"""Whether a turn of an unrolled loop is so many turns of the loop for those that are left over.

Both loops are followed (`simt.analysis.terms`): the first one for some turns from any turn on, the second one
for a turn, beginning with what the first leaves. They must load and store the same in the same order, go on
with the same, and leave with the same. And there must be as many turns as the program counts: a quotient, of
which the remainder by the turns of a turn tells how many are left over.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any, cast

from simt.analysis.dominance import dominators
from simt.analysis.observer import Observer
from simt.analysis.program import Block, Branch, Constant, Jump, Op, Register
from simt.analysis.ranges import Ranges
from simt.analysis.shape import Shape
from simt.analysis.ssa import Definition, Ssa
from simt.analysis.terms import Sum, TermAlgebra, Terms, acts, named
from simt.isa.algebra import Environment
from simt.ptx.types import PRED, S32, U32, U64, Type, bits_type, signed, unsigned
from simt.records import dataclass

MOST_TURNS = 4
"""Turns that a turn of the second loop may be."""

Values = Mapping[Definition, Sum]


@dataclass(frozen=True, slots=True)
class Unrolled:
    """The two loops, `rest` and `main`, each a block. `before`: where lanes go to either. `lead` and `trail`:
    blocks through which a lane goes that has one turn to do, from there to `rest`, and from it to `after`,
    where all meet. `others`: what stands between besides. `left_first`: whether turns that are left over are
    done first."""

    before: Block
    lead: list[Block]
    rest: Block
    trail: list[Block]
    main: Block
    after: Block
    others: list[Block]
    left_first: bool

    @property
    def inside(self) -> list[Block]:
        return [*self.lead, self.rest, *self.trail, self.main, *self.others]

    @property
    def between(self) -> Block:
        """Where those of the first loop come to, and go on to the second one or to `after`."""
        return self.trail[0]


@dataclass(frozen=True, slots=True)
class Copies:
    """The lines on which an op of a turn stands in each of the second loop's turns, and among those left
    over, by their number and the place of each."""

    main: tuple[int, ...]
    left: tuple[tuple[int, ...], ...]
    left_first: bool


@dataclass(frozen=True, slots=True)
class Several:
    """Some turns at once: `ops` of the second loop's turn that its first ones are. `copies`: by their lines,
    that of the op in a turn, and of which turn they are. Phis of the second loop: those that are the `same`
    as a register of a turn, and its `own`, each with what it begins with and goes on by in one turn. What a
    turn begins with goes on by `steps` in one, or is what is `left` by the last of them."""

    turns: int
    ops: list[Op]
    copies: dict[int, tuple[int, int]]
    same: dict[Definition, Register]
    own: list[tuple[Definition, Definition, Register | Constant]]
    steps: list[tuple[Register, Register | Constant]]
    left: list[tuple[Register, Definition]]


@dataclass(frozen=True, slots=True)
class Count:
    """A counter: from `begun` by `step` while below `limit`, in numbers of a type; `now` in a turn, None if
    there is none in the loop. `copies`: by the line of an op of a turn. `definitions`: of what is read.
    `indices`: what goes on with the counter and must not wrap either, as it begins. `steps`: by which
    registers go on in a turn besides. `several`: how turns are done at once, if they are. `ends_apart`:
    whether lanes have limits of their own."""

    now: Register | None
    step: Register | Constant
    limit: Register | Constant
    type: Type
    copies: dict[int, Copies]
    definitions: list[Definition]
    begun: Definition
    indices: list[Definition]
    steps: Sequence[tuple[Register, Register | Constant]] = ()
    several: Several | None = None
    ends_apart: bool = False


class DifferentError(Exception):
    """The loops are not the same, or that is not seen."""


def require(condition: bool) -> None:
    if not condition:
        raise DifferentError


def other(block: Block, way: Block) -> Block:
    """Where a block leads besides."""
    return next(b for b in block.successors() if b is not way)


def _chain(block: Block, source: Block) -> Iterator[tuple[Block, Block]]:
    """Blocks to which a way leads with no branch, each with the one before."""
    seen = set[Block]()
    while block not in seen:
        yield block, source
        seen.add(block)
        if isinstance(block.terminator, Jump):
            block, source = block.terminator.target, block


def _nothing(step: Sum) -> Sum:
    """How far no turn goes."""
    return Sum(step.bits, 0)


def _ops(block: Block) -> list[Op]:
    return [op for op in block.ops if isinstance(op, Op)]


def _numbers(definition: Definition) -> Type:
    return unsigned(definition.register.type.bits)


class Proof:
    """`count` gives how a pair of loops counts, if they can be one. `begins_alike`: also where all lanes
    begin with one number. `ends_apart`: where lanes have limits of their own, and only there."""

    begins_alike = ends_apart = False

    def __init__(
        self,
        ssa: Ssa,
        shapes: Mapping[Definition, Shape],
        environment: Environment,
        ranges: Callable[[], Ranges],
        pair: Unrolled,
    ) -> None:
        self.ssa, self.shapes, self.ranges, self.pair = ssa, shapes, ranges, pair
        self.environment = environment
        self.inside = {*pair.inside} - {*pair.lead}
        self.acting = {pair.rest, pair.main}
        self.algebra = TermAlgebra()
        self.outside = Terms(ssa, environment, self.algebra)
        self.steps: dict[Definition, Sum] = {}
        self.firsts: dict[Definition, Definition] = {}  # with what counters begin that the first loop has not
        self.left = set[Sum]()  # how many turns the first loop has
        self.lower: dict[Sum, Sum] = {}  # halves of what counters of 64 bits begin with

    @property
    def phis(self) -> list[Definition]:
        return self.ssa.phis.get(self.pair.rest.index, [])

    def _terms(self, known: Values) -> Terms:
        made = Terms(self.ssa, self.environment, self.algebra)
        before = self.outside.known.items()
        made.known.update((d, value) for d, value in before if d.block not in self.inside)
        made.known.update(known)
        return made

    def count(self) -> Count | None:
        try:
            return self._count()
        except DifferentError:
            return None

    def _count(self) -> Count:
        pair = self.pair
        for block in (pair.before, *pair.inside):
            require(self._is_plain(block))
        self._find_steps()
        turns = self._turns()
        self._find_other_steps(turns)
        self._set_starts()
        self._find_steps()
        first = self._run(self.pair.rest, self._state(), [], first=True)
        done, effects = first, list[Hashable]()
        for _ in range(turns):
            done = self._run(self.pair.rest, self._next(done), effects)
        others = list[Hashable]()
        main = self._main(first, others)
        require(effects == others)
        self._go_on_alike(done, main, turns)
        self._leave_alike(done, main)
        return self._counted(first, done, main)

    def _is_plain(self, block: Block) -> bool:
        """Whether a block computes, and does nothing to memory but to load and store. (Before the loops, it
        may only compute.)"""
        observer = Observer(self.environment)
        for op in block.ops:
            if not isinstance(op, Op) or op.guard is not None:
                return False
            if acts(op) and (
                block not in self.acting or {*op.form.effects} != {"memory"} or observer.reads(op)
            ):
                return False
        return True

    # -- turns of the first loop ---------------------------------------------------------------------

    def _run(self, block: Block, known: Values, effects: list[Hashable], first: bool = False) -> Terms:
        """What a block makes, by what is known where it begins; what it does is added to `effects`. `first`:
        what it loads is nothing that the turns after it load."""
        terms = self._terms(known)
        for op in _ops(block):
            if acts(op):
                number = len(effects)
                effects.append(terms.effect(op, -1 - number if first else number))
            else:
                terms.run(op)
        return terms

    def _next(self, done: Terms) -> dict[Definition, Sum]:
        """What the next turn of the first loop begins with."""
        return {phi: done.of(phi.inputs[self.pair.rest.index]) for phi in self.phis}

    def _find_steps(self) -> None:
        """Finds what goes on by the same in each turn."""
        start = {phi: self.algebra.atom(phi.register.type.bits, "begins", phi) for phi in self.phis}
        self.before_turn, self.turn = start, self._run(self.pair.rest, start, [])
        for phi, after in self._next(self.turn).items():
            step = after.added(start[phi], -1)
            if not phi.register.type.is_float and self._is_fixed(step):
                self.steps[phi] = step

    def _single(self, step: Sum, turns: int) -> Sum:
        """What a counter goes on by in a turn, of which a turn of the second loop has several."""
        half, whole = 1 << step.bits - 1, 1 << step.bits
        counts = [(atom, (count + half) % whole - half) for atom, count in step.parts]
        number = (step.number + half) % whole - half
        require(not number % turns and not any(count % turns for _, count in counts))
        parts = frozenset((atom, count // turns % whole) for atom, count in counts)
        return Sum(step.bits, number // turns % whole, parts)

    def _find_other_steps(self, turns: int) -> None:
        """The same of what the second loop alone goes on with."""
        main, between = self.pair.main, self.pair.between
        phis = self.ssa.phis.get(main.index, ())
        starts = {phi: self.algebra.atom(phi.register.type.bits, "begins", phi) for phi in phis}
        done = self._run(main, starts, [])
        for phi, start in starts.items():
            brought, step = self._brought(phi), done.of(phi.inputs[main.index]).added(start, -1)
            integer = not phi.register.type.is_float and self._is_fixed(step)
            if integer and brought.is_phi and brought.block is between:
                (at_once,) = (d for b, d in brought.inputs.items() if b != self.pair.rest.index)
                self.firsts[phi], self.steps[phi] = at_once, self._single(step, turns)

    def _is_fixed(self, value: Sum) -> bool:
        """Whether a value is the same in all turns."""
        return self.algebra.is_made_of(value, lambda definition: definition.block not in self.inside)

    def _start(self, phi: Definition) -> Sum:
        return self.outside.of(self._first(phi))

    def _first(self, phi: Definition) -> Definition:
        """What the first turn begins with."""
        if phi in self.firsts:
            return self.firsts[phi]
        (found,) = (d for b, d in phi.inputs.items() if b != self.pair.rest.index)
        return found

    def _set_starts(self) -> None:
        self.algebra.others.clear()
        for phi, step in self.steps.items():
            one = len(step.parts) + bool(step.number) == 1 and all(count == 1 for _, count in step.parts)
            if not phi.register.type.is_float and one:
                self._set_start(phi, self._start(phi), step)
        self.outside = Terms(self.ssa, self.environment, self.algebra)

    def _set_start(self, phi: Definition, start: Sum, step: Sum) -> None:
        """Notes with what a counter begins. Of one of 64 bits, its lower half may be extended, if it is not
        below zero: then it has no more than that."""
        found, t = self.ranges().of(self._first(phi)), _numbers(phi)
        positive = 0 <= found.lo <= found.hi < 1 << t.bits - 1
        if t.bits == 64 and positive:
            whole, start, step = start, *(self.algebra.resize(t, U32, one) for one in (start, step))
            self.lower[whole] = start
        if start.bits == 32:
            self.algebra.starts[start] = step
            if positive:
                self.algebra.positive.add(start)

    def _state(self) -> dict[Definition, Sum]:
        """What a turn begins with after any number of turns."""
        found = dict(self.before_turn)
        for phi, step in self.steps.items():
            found[phi] = self._start(phi).added(step.turning)
        return found

    # -- the second loop -----------------------------------------------------------------------------

    def _between(self, done: Terms, turns: int) -> Terms:
        """What is known where lanes have come from the first loop, with so many turns more behind them. (What
        is made of how many turns it has, is made of all that are done.)"""
        given = self._given(done)
        for phi, value in given.items():
            given[phi] = self._by_left(value, lambda step: step.turning.added(step, turns))
        return self._terms(given)

    def _given(self, done: Terms) -> dict[Definition, Sum]:
        """What lanes have that come from the first loop."""
        source = self.pair.rest.index
        phis = self.ssa.phis.get(self.pair.between.index, ())
        return {phi: done.of(phi.inputs[source]) for phi in phis}

    def _by_left(self, value: Sum, gone: Callable[[Sum], Sum]) -> Sum:
        """A value, given how far the turns of the first loop go by a step."""
        for atom, count in value.parts:
            one = Sum(value.bits, 0, frozenset({(atom, 1)}))
            if (step := self._step_by_left(one)) is not None:
                value = value.added(one, -count).added(gone(step), count)
        return value

    def _step_by_left(self, one: Sum) -> Sum | None:
        """The step that goes as far in the turns of the first loop: a value is their number, times that."""
        key = self.algebra.key(one)
        if one in self.left:
            return Sum(one.bits, 1)
        if not named(key, "mul"):
            return None
        factors = cast("tuple[str, frozenset[Sum], bool]", key)[1]
        steps = factors - self.left
        found = next(iter(steps)) if len(steps) == len(factors) - 1 == 1 else None
        return found if found is not None and self._is_fixed(found) else None

    def _main(self, first: Terms, effects: list[Hashable]) -> Terms:
        """A turn of the second loop, after some of the first."""
        main, between = self.pair.main, self._between(first, 1)
        phis = self.ssa.phis.get(main.index, ())
        known = between.known | {phi: between.of(self._brought(phi)) for phi in phis}
        return self._run(main, known, effects)

    def _brought(self, phi: Definition) -> Definition:
        """What a phi of the second loop begins with."""
        (found,) = (d for b, d in phi.inputs.items() if b != self.pair.main.index)
        return found

    def _go_on_alike(self, done: Terms, main: Terms, turns: int) -> None:
        """A turn of the second loop must leave what it would begin with after those of the first one."""
        later = self._between(done, turns + 1)
        for phi in self.ssa.phis.get(self.pair.main.index, ()):
            require(later.of(self._brought(phi)) == main.of(phi.inputs[self.pair.main.index]))
        read = self._read_in([self.pair.main], {*self.pair.trail, *self.pair.others, self.pair.rest})
        require(all(later.of(d) == main.of(d) for d in read))

    def _read_in(self, blocks: Iterable[Block], own: set[Block]) -> list[Definition]:
        """What ops of some blocks read of what others have made."""
        read = (self.ssa.read[id(op)] for block in blocks for op in block.ops)
        return [d for found in read for d in found.values() if d.block in own]

    def _begins_alike(self) -> None:
        """Lanes that come to the second loop at once must bring what those of the first begin with."""
        pair, source = self.pair, self.pair.rest.index
        after = {value: phi for phi, value in self._next(self.turn).items()}
        for phi in self.ssa.phis.get(pair.between.index, ()):
            (at_once,) = (d for b, d in phi.inputs.items() if b != source)
            later = self.turn.of(phi.inputs[source])
            first = self._start(after[later]) if later in after else self._by_left(later, _nothing)
            require((later in after or self._is_fixed(later)) and first == self.outside.of(at_once))

    def _leave_alike(self, done: Terms, main: Terms) -> None:
        """What is read after the loops must be the same, whichever of them one leaves."""
        self._begins_alike()
        between, pair = self._terms(self._given(done)), self.pair
        leads = [*_chain(pair.after, pair.between)], [*_chain(other(pair.main, pair.main), pair.main)]
        common = next((b for b, _ in leads[0] if any(b is c for c, _ in leads[1])), None)
        require(common is not None)
        assert common is not None
        sources = [next(source for b, source in lead if b is common) for lead in leads]
        for phi in self.ssa.phis.get(common.index, ()):
            one, two = (phi.inputs[source.index] for source in sources)
            require(between.of(one) == main.of(two))
        ways = {b for lead in leads for b in takewhile(lambda b: b is not common, (b for b, _ in lead))}
        require(all(map(self._is_plain, ways)))
        later = self._read_later(self.inside | {*pair.lead} | ways, common)
        require(
            all(d.block is pair.between and not d.is_phi and self._is_fixed(between.of(d)) for d in later)
        )

    def _read_later(self, own: set[Block], end: Block) -> list[Definition]:
        """What is read of what blocks make behind them, but by the phis of a block where all of their ways
        end."""
        ssa, before, numbers = self.ssa, self.pair.before, {b.index for b in own}
        outside = [b for b in ssa.schedule.order if b not in own and b is not before]
        read = [d for b in outside for what in (*b.ops, b.terminator) for d in ssa.read[id(what)].values()]
        for block in (before, *outside):
            kept = () if block is not end else numbers
            for phi in ssa.phis.get(block.index, ()):
                read += [d for source, d in phi.inputs.items() if source not in kept]
        return [d for d in read if d.block.index in numbers]

    # -- how many turns ------------------------------------------------------------------------------

    def _holds(self, terms: Terms, block: Block, way: Block) -> Sum:
        """The condition by which a block leads one way."""
        branch = block.terminator
        assert isinstance(branch, Branch)
        term = terms.of(self.ssa.read[id(branch)][branch.predicate])
        return term if (branch.taken is way) != branch.negated else self.algebra.invert(PRED, term)

    def _turns(self) -> int:
        """How many turns of the first loop are one of the second, by how many are left over."""
        pair, algebra = self.pair, self.algebra
        for left, step in [*self.steps.items()]:
            t, start = _numbers(left), self._start(left)
            next_ = self.before_turn[left].added(step)
            end = self._ends_at(self._holds(self.turn, pair.rest, pair.rest), next_)
            by = {2**step.bits - 1: -1, 1: 1}.get(step.number, 0)
            if step.parts or end is None or not by:
                continue
            count = Sum(step.bits, 0).added(end, by).added(start, -by)
            rest = algebra.key(count)
            if named(rest, "and"):
                mask = cast("tuple[Any, Sum, int]", rest)[2]
                require(1 < mask + 1 <= MOST_TURNS and not mask & (mask + 1))
                self.quotient = self._asked_for(t, mask, count)
                require(self._leaves_none(start, end, mask))
                self.left = {count, self.algebra.resize(t, U64, count)}
                return mask + 1
        raise DifferentError

    def _asked_for(self, t: Type, mask: int, left: Sum) -> Sum:
        """The quotient of which it is asked, after the first loop, whether it is less than a number. One more
        are all turns, of which some are left over."""
        algebra, one = self.algebra, Sum(t.bits, 1)
        key = algebra.key(self._holds(self.outside, self.pair.between, self.pair.after))
        require(named(key, "lt"))
        signed, found, least = cast("tuple[bool, Sum, Sum]", cast("tuple[Any, ...]", key)[1:])
        require(not signed and not least.parts and least.number > 0 and least.number % mask == 0)
        divisor = Sum(t.bits, least.number // mask)
        quotient = found if divisor == one else algebra.divide(t, found, divisor)
        require(algebra.and_(t, quotient.added(one), Sum(t.bits, mask)) == left)
        return quotient

    def _ends_at(self, goes_on: Sum, counter: Sum) -> Sum | None:
        """What a counter is not yet while a loop goes on."""
        match cast("Any", self.algebra.key(goes_on)):
            case ("not", Sum() as condition):
                _, *rest = cast("tuple[Any, ...]", self.algebra.key(condition) or ("",))
                ends = [counter.added(rest[0], sign) for sign in (1, -1)] if len(rest) == 2 else []
                t = unsigned(counter.bits)
                return next(
                    (
                        e
                        for e in ends
                        if self._is_fixed(e) and self.algebra.compare("eq", t, counter, e) == condition
                    ),
                    None,
                )
            case _:
                return None

    def _leaves_none(self, start: Sum, end: Sum, mask: int) -> bool:
        """Whether the first loop is left out where it has no turn. (It asks for that, or for the last of the
        remainders of one less.)"""
        pair, algebra, t = self.pair, self.algebra, bits_type(start.bits)
        way = other(pair.before, pair.lead[0] if pair.lead else pair.rest)
        none = algebra.compare("eq", t, start, end)
        full = Sum(start.bits, mask)
        last = algebra.compare("eq", t, algebra.and_(t, self.quotient, full), full)
        return self._holds(self.outside, pair.before, way) in (none, last)

    def _counted(self, first: Terms, done: Terms, main: Terms) -> Count:
        """The counter by which the second loop ends."""
        goes_on = self._holds(main, self.pair.main, self.pair.main)
        key = self.algebra.key(goes_on)
        require(named(key, "lt"))
        signed, now, limit = cast("tuple[bool, Sum, Sum]", cast("tuple[Any, ...]", key)[1:])
        between, later = self._between(first, 1), self._next(done)
        later |= {phi: main.of(phi.inputs[self.pair.main.index]) for phi in self.firsts}
        for phi, after in later.items():
            if after == now and phi in self.steps and self._counts(phi, signed, limit):
                start, step = self._start(phi), self.steps[phi]
                once = start.added(step.turning).added(step)
                require(phi not in self.firsts or between.of(self._brought(phi)) == once)
                return self._named(phi, signed, limit)
        raise DifferentError

    def _counts(self, phi: Definition, signed: bool, limit: Sum) -> bool:
        """Whether the turns are those of a counter below a limit, which it surely is before."""
        start, step = self._start(phi), self.steps[phi]
        last = limit.added(start, -1).added(Sum(start.bits, 1), -1)
        below = self.algebra.atom(1, "lt", signed, start, limit)
        known = all(
            self._may_extend(phi, signed, one, by_sign, by) for one, by_sign, by in self.algebra.extended
        )
        far = self.algebra.atom(start.bits, "max", signed, frozenset((limit, start.added(step))))
        counted = any(
            self._is_quotient(phi, signed, last.added(way).added(limit, -1)) for way in (limit, far)
        )
        counted = counted or self._is_rounded_up(phi, signed, limit)
        asked = self._is_asked(below) or self._is_below(phi, limit)
        return bool(step.number or step.parts) and known and counted and asked

    def _is_below(self, counter: Definition, limit: Sum) -> bool:
        """Whether all that a counter may begin with is below a number, with a sign and without."""
        found, half = self.ranges().of(self._first(counter)), 1 << limit.bits - 1
        return not limit.parts and 0 <= found.lo <= found.hi < limit.number < half

    def _is_rounded_up(self, counter: Definition, signed: bool, limit: Sum) -> bool:
        """Whether the program divides what is left after the first turn, rounded up, as LLVM 20 does. Where a
        counter is not below zero, it may compare without a sign."""
        algebra, t, step, start = self.algebra, _numbers(counter), self.steps[counter], self._start(counter)
        next_, positive = start.added(step), start in self.lower or start in algebra.positive
        for by_sign in (signed, False) if positive else (signed,):
            asked = algebra.atom(1, "lt", by_sign, next_, limit)
            more = algebra.select(t, asked, Sum(t.bits, 1), Sum(t.bits, 0))
            far = algebra.atom(t.bits, "max", by_sign, frozenset((limit, next_)))
            left = far.added(next_, -1).added(more, -1)
            quotients = algebra.divide(t, left, step), algebra.divide_short(t, left, step)
            if self.quotient in [more.added(quotient) for quotient in quotients]:
                return True
        return False

    def _is_quotient(self, counter: Definition, signed: bool, last: Sum) -> bool:
        """Whether the program divides so. Where numbers have 32 bits, it may do so in those."""
        algebra, t, step = self.algebra, _numbers(counter), self.steps[counter]
        found = {algebra.divide(t, last, step), algebra.divide_short(t, last, step)}
        if not signed or self._start(counter) in self.lower:
            lower = (algebra.resize(t, U32, one) for one in (last, step))
            found.add(algebra.resize(U32, t, algebra.divide(U32, *lower)))
        return self.quotient in found

    def _half(self, counter: Definition) -> tuple[Sum, Sum]:
        """With what a counter begins and what it goes on by, in 32 bits if it has no more."""
        start, step = self._start(counter), self.steps[counter]
        if start in self.lower:
            return self.lower[start], self.algebra.resize(_numbers(counter), U32, step)
        return start, step

    def _may_extend(self, counter: Definition, signed: bool, one: Sum, by_sign: bool, by: Sum) -> bool:
        """Whether a counter that does not wrap, or an index that is more than it by what does not change, may
        be extended so, if it goes on `by` so much."""
        start, step = self._half(counter)
        positive = start in self.algebra.positive
        if one == start:
            return by == step and (by_sign or not signed or positive)
        return positive and by == step and one.bits == start.bits == 32

    def _is_asked(self, condition: Sum) -> bool:
        """Whether all lanes that come to the loops were asked for a condition, and it held."""
        return any(condition == one for one in self._asked())

    def _asked(self) -> Iterator[Sum]:
        """What holds for all lanes that come to the loops, since they were asked."""
        tree, at, ssa = dominators(self.ssa.schedule), self.pair.before.index, self.ssa
        blocks = {b.index: b for b in ssa.schedule.order}
        while True:
            sources = ssa.predecessors[at]
            branches = len(sources) == 1 and isinstance(sources[0].terminator, Branch)
            if branches and len(sources[0].successors()) == 2:
                for found in self.algebra.implied(self._holds(self.outside, sources[0], blocks[at])):
                    yield from self._in_all_sizes(found)
            if tree[at] == at:
                return
            at = tree[at]

    def _in_all_sizes(self, condition: Sum) -> Iterator[Sum]:
        """A condition, and what it says of numbers that are extended."""
        yield condition
        match cast("Any", self.algebra.key(condition)):
            case ("lt", bool() as by_sign, Sum() as a, Sum() as b) if a.bits == U32.bits:
                positive = a in self.algebra.positive or self.algebra.most(a) < 1 << U32.bits - 1
                for t in (U32,) * (positive or not by_sign) + (S32,) * by_sign:
                    one, two = (self.algebra.resize(t, U64, x) for x in (a, b))
                    for sign in (True, False)[: 1 + (t is U32)]:
                        yield self.algebra.atom(1, "lt", sign, one, two)
            case ("not", Sum() as below) if named(self.algebra.key(below), "lt"):
                _, by_sign, a, b = cast("tuple[str, bool, Sum, Sum]", self.algebra.key(below))
                t = (signed if by_sign else unsigned)(a.bits)
                if not b.parts and b.number != (1 << t.bits - 1 if by_sign else 0):
                    yield self.algebra.atom(1, "lt", by_sign, b.added(Sum(t.bits, 1), -1), a)
            case _:
                pass

    def _named(self, phi: Definition, by_sign: bool, limit: Sum) -> Count:
        """The count, by registers."""
        start, bits = self._first(phi), phi.register.type.bits
        t = signed(bits) if by_sign else unsigned(bits)
        at, step = self._standing(t, limit), self._standing(t, self.steps[phi])
        alike = self._is_uniform(start)
        require((self.begins_alike or not alike) and start.register.type.bits == bits)
        require(step[1] is None or self._is_uniform(step[1]))
        require((at[1] is None or self._is_uniform(at[1])) != self.ends_apart)
        read = [d for d in (at[1], step[1]) if d is not None]
        first, by = self._half(phi)
        require(self.algebra.rising <= {by})
        indices = [self._index(one) for one, _, _ in self.algebra.extended if one != first]
        require(alike or self.ends_apart or all(self._is_beside(start, index) for index in indices))
        now = phi.register if phi.block is self.pair.rest else None
        read += [start] if now is None else [start, phi.inputs[self.pair.rest.index]]
        return Count(now, step[0], at[0], t, self._copies(), read, start, indices)

    def _index(self, start: Sum) -> Definition:
        """What an index began with, in a register."""
        near = self._near()
        found = (
            d
            for d, term in self.outside.known.items()
            if term == start and d.register.type.bits == start.bits
        )
        for definition in found:
            if self._is_before(definition) or (definition.block in near and self._stays(definition)):
                return definition
        raise DifferentError

    def _near(self) -> set[Block]:
        """Blocks on the way to the loops."""
        return {self.pair.before, *self.pair.lead}

    def _is_beside(self, start: Definition, index: Definition) -> bool:
        """Whether an index is more than a counter by what is the same for all lanes."""
        one, other = self.shapes[start], self.shapes[index]
        return one.is_affine and other.is_affine and (one.width, one.stride) == (other.width, other.stride)

    def _stays(self, definition: Definition) -> bool:
        """Whether its register has it still at its block's end."""
        ops = _ops(definition.block)
        last = [op for op in ops if definition.register in op.destinations]
        return definition.origin is last[-1] if last else False

    def _standing(self, t: Type, term: Sum) -> tuple[Register | Constant, Definition | None]:
        """A value as a number, or in a register that has it from before the loops on."""
        if not term.parts:
            return Constant(t, term.number), None
        ops = [op for block in (self.pair.rest, self.pair.main) for op in block.ops]
        read = (d for op in ops for d in self.ssa.read[id(op)].values())
        for definition in (*self.outside.known, *read):
            if self._is_before(definition) and self.outside.of(definition) == term:
                return definition.register, definition
        raise DifferentError

    def _is_before(self, definition: Definition) -> bool:
        """Whether a register has something from before the loops on, and nothing else."""
        tree, at = dominators(self.ssa.schedule), self.pair.before.index
        if self.ssa.single.get(definition.register) is not definition:
            return False
        while at != definition.block.index and tree[at] != at:
            at = tree[at]
        return at == definition.block.index

    def _is_uniform(self, definition: Definition) -> bool:
        shape = self.shapes.get(definition)
        return shape is not None and shape.is_uniform

    def _copies(self) -> dict[int, Copies]:
        """By the line of what a turn does, where else it stands."""
        one, all_ = (self._lines(block) for block in (self.pair.rest, self.pair.main))
        require(len({*one}) == len(one))
        turns = len(all_) // len(one) if one else 0
        return {
            line: Copies(all_[n :: len(one)], tuple((line,) * left for left in range(turns)), True)
            for n, line in enumerate(one)
        }

    def _lines(self, block: Block) -> tuple[int, ...]:
        return tuple(op.line for op in _ops(block) if acts(op))
