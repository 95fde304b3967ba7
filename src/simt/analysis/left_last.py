"""Unrolled loops of which the turns that are left over are done last.

LLVM 20 puts them there, by which nvcc compiles for sm_100: if there are 16 turns or more, a loop of which
each turn is 16 of them; then, by how many are left over, 8 in a row, 4 in a row, and a loop for those that
remain. (Or fewer, where a turn is long.) A lane with one turn to do goes through none but the last of these
parts: it tells what a turn is.

What is left over is followed for all numbers of turns at once: where a branch parts them, each way goes on
with those that take it. At the end each must have done as many turns as it had to, and have what is read
there as after so many turns of the last loop.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any, cast

from simt.analysis.dominance import EXIT, post_dominators
from simt.analysis.program import Block, Branch, Constant, Jump, Op, Register
from simt.analysis.same_turns import Copies, Count, DifferentError, Proof, Unrolled, Values, other, require
from simt.analysis.ssa import Definition, Ssa, destinations
from simt.analysis.terms import Atom, Sum, TermAlgebra, Terms, acts
from simt.ptx.types import unsigned
from simt.records import dataclass, field, replace

MOST_TURNS = 16
"""Turns that a turn of the first loop may be."""
MOST_BLOCKS = 24
"""Blocks after the first loop."""
MOST_STEPS = 96
"""Blocks that are followed there."""


def loops_with_rests(ssa: Ssa, loops: list[Block]) -> Iterator[Unrolled]:
    """Loops, each a block, that are followed by what looks like the turns that are left over."""
    after: dict[int, int] = {}
    for main in loops:
        (source, *more) = [b for b in ssa.predecessors[main.index] if b is not main] or [main]
        way, before = main, source
        while not more and isinstance(before.terminator, Jump) and before is not main:
            way, (before, *more) = before, ssa.predecessors[before.index] or [main]
        if more or before is main or len(before.successors()) != 2:
            continue
        after = after or post_dominators(ssa.schedule)
        lead = _jumps(other(before, way))
        ends = _jumps(other(main, main))
        if ends[-1] is lead[-1]:
            pair = _rests(ssa, before, way, main, lead[-1], after)
            if pair is not None:
                yield pair


def _jumps(block: Block) -> list[Block]:
    """A block, and those to which it leads with no branch."""
    found = [block]
    while isinstance(block.terminator, Jump) and block.terminator.target not in found:
        block = block.terminator.target
        found.append(block)
    return found


def _rests(
    ssa: Ssa, before: Block, way: Block, main: Block, first: Block, after: dict[int, int]
) -> Unrolled | None:
    """A loop with what follows it, from a block on until all meet."""
    end, blocks = after.get(first.index, EXIT), {b.index: b for b in ssa.schedule.order}
    if end == EXIT:
        return None
    inside, work = list[Block](), [*before.successors()]
    while work and len(inside) < MOST_BLOCKS:
        block = work.pop()
        if block.index != end and block not in inside:
            inside.append(block)
            work += block.successors()
    known = {before, *inside}
    closed = before not in inside and all(known.issuperset(ssa.predecessors[b.index]) for b in inside)
    rests = [b for b in inside if b in b.successors() and b is not main]
    if work or not closed or len(rests) > 1 or way not in known:
        return None
    rest = next(iter(rests), first)
    others = [b for b in inside if b is not main and b is not rest]
    return Unrolled(before, [], rest, [], main, blocks[end], others, left_first=False)


@dataclass(slots=True)
class _Left:
    """What values are, by how many turns are left over: the remainder of all `turns` by a power of two."""

    algebra: TermAlgebra
    turns: Sum
    divisor: int
    number: int = 0

    def holds(self, condition: Sum) -> bool | None:
        """Whether a condition holds, if that is known."""
        match cast("Any", self.algebra.key(condition)):
            case ("not", Sum() as one):
                found = self.holds(one)
                return None if found is None else not found
            case ("eq", Sum() as a, _):
                found = self.value(a)
                return None if found is None else found == 0
            case ("lt", by_sign, Sum() as a, Sum() as b):
                sign = 1 << a.bits - 1 if by_sign else 0
                one, two = self.value(a), self.value(b)
                return None if one is None or two is None else one ^ sign < two ^ sign
            case ("both" | "either" as name, ways):
                found = [self.holds(one) for one in cast("frozenset[Sum]", ways)]
                decided = name == "either"
                return decided if decided in found else None if None in found else not decided
            case _:
                return None

    def value(self, term: Sum) -> int | None:
        """A value, if it is known."""
        found = term.number
        for atom, count in term.parts:
            one = None if atom.turns else self._value_of(self.algebra.keys[atom.number], term.bits)
            if one is None:
                return None
            found += count * one
        return found % (1 << term.bits)

    def _value_of(self, key: Hashable, bits: int) -> int | None:
        match cast("Any", key):
            case ("and", Sum() as a, int() as mask) if mask < self.divisor:
                found = self.low(a, 1 << mask.bit_length())
                return None if found is None else found & mask
            case ("extended" | "cut" as name, *_, Sum() as a):
                found = self.value(a)
                if found is None or name == "cut":
                    return None if found is None else found % (1 << bits)
                sign = cast("tuple[str, bool, Sum]", key)[1] and found >> a.bits - 1
                return (found - (sign << a.bits)) % (1 << bits)
            case _:
                return None

    def low(self, term: Sum, divisor: int) -> int | None:
        """A value's remainder by a power of two up to the divisor, if it is known."""
        all_, term = (self.algebra.lowest(one, divisor - 1) for one in (self.turns, term))
        pivot = next((atom for atom, count in all_.parts if count == 1), None)
        times = dict(term.parts).get(pivot, 0) if pivot is not None and term.bits == all_.bits else 0
        rest = term.added(all_, -times)
        found = rest.number + times * self.number
        for atom, count in rest.parts:
            key = None if atom.turns else self.algebra.keys[atom.number]
            one = self._value_of(key, term.bits)
            match cast("Any", key):
                case ("extended" | "cut", *_, Sum() as a) if one is None:
                    one = self.low(a, divisor)
                case _:
                    pass
            if one is None:
                return None
            found += count * one
        return found % divisor


@dataclass(slots=True)
class _Way:
    """A way through what is left over. `numbers`: how many turns they may be. `at`: the next block, and
    `source` the one before. `known`: what values are there. `done`: effects, and `lines` theirs."""

    numbers: list[int]
    at: Block
    source: Block
    known: Terms
    done: list[Hashable] = field(default_factory=list[Hashable])
    lines: list[int] = field(default_factory=list[int])
    blocks: list[Block] = field(default_factory=list[Block])


class LeftLast(Proof):
    """`count` gives how such a loop counts, if it can be one of single turns."""

    def _count(self) -> Count:
        self.acting = {*self.pair.inside}
        for block in (self.pair.before, *self.pair.inside):
            require(self._is_plain(block))
        require(not self._read_later(self.inside, self.pair.after))
        self._try_main()
        self._measure()
        self._find_path()
        self._find_steps()
        self._set_starts()
        self._find_steps()
        self._measure()
        self._begin()
        effects, ends = list[Hashable](), list[Mapping[Definition, Sum]]()
        later = self._turns_of_rest(effects, ends)
        ended = self._main_is(effects, later)
        self.lines, single = dict[int, list[int]](), len(effects) // self.divisor
        for numbers, known in (([0], ended), ([*range(1, self.divisor)], self.here)):
            for way in self._follow(numbers, known):
                number, *more = way.numbers
                require(not more)
                require(way.done == effects[: number * single])
                require(self._at_end(way.source, way.known) == ends[number - 1])
                self.lines[number] = way.lines
        return self._counted_below()

    # -- the first loop ------------------------------------------------------------------------------

    def _try_main(self) -> None:
        """Finds what goes on by the same in each turn of the first loop, and to what."""
        main, algebra = self.pair.main, self.algebra
        phis = self.ssa.phis.get(main.index, [])
        self.state = {phi: algebra.atom(phi.register.type.bits, "begins", phi) for phi in phis}
        self.tried = self._run(main, self.state, [])
        self.gains, self.gained = dict[Definition, Sum](), dict[Definition, Sum]()
        for phi, begun in self.state.items():
            after = self.tried.of(phi.inputs[main.index])
            step = after.added(begun, -1)
            if not phi.register.type.is_float and self._is_fixed(step):
                self.gains[phi], self.gained[phi] = step, after

    def _measure(self) -> None:
        """Finds how many turns there are, how many of them are one of the first loop, and what is known after
        any number of those: in the first loop (`state`) and behind it (`here`)."""
        main, ssa = self.pair.main, self.ssa
        self._find_turns()
        for phi, step in self.gains.items():
            single = self._single(step, self.divisor)
            self.state[phi] = self.outside.of(self._brought(phi)).added(single.turning)
        self.first, source, self.begun = self._chained(other(self.pair.before, self._way()), self.outside)
        self.done: list[Hashable] = []
        done = self.ran = self._run(main, self.state, self.done)
        behind, last, self.after = self._chained(other(main, main), done, main)
        require(behind is self.first)
        self.sources = source, last
        self.grows = dict[Definition, Sum]()
        phis = ssa.phis.get(self.first.index, ())
        self.here = self._terms({phi: self._after_some(phi, self.after) for phi in phis})

    def _way(self) -> Block:
        """Where lanes go that come to the first loop."""
        main, before = self.pair.main, self.pair.before
        return next(b for b in before.successors() if main in _jumps(b))

    def _chained(self, block: Block, known: Terms, source: Block | None = None) -> tuple[Block, Block, Terms]:
        """Where blocks lead of which each leads to one place; the last of them, and what is known there."""
        source = source or self.pair.before
        while isinstance(block.terminator, Jump) and len(self.ssa.predecessors[block.index]) == 1:
            known = self._entered(block, source, known)
            self._act(block, known, [])
            block, source = block.terminator.target, block
        return block, source, known

    def _find_turns(self) -> None:
        """How many turns there are: those of the first loop are a counter's, which ends it."""
        main, algebra = self.pair.main, self.algebra
        goes_on = self._holds(self.tried, main, main)
        for phi, step in self.gains.items():
            start = self.outside.of(self._brought(phi))
            down = step.number >> step.bits - 1
            divisor = (1 << step.bits) - step.number if down else step.number
            end = self._ends_at(goes_on, self.gained[phi])
            if step.parts or not 1 < divisor <= MOST_TURNS or divisor & (divisor - 1) or end is None:
                continue
            counted = start.added(end, -1) if down else end.added(start, -1)
            for turns in self._numbers_asked(step.bits, divisor):
                if self._whole(counted, turns, divisor):
                    self.divisor, self.counted = divisor, counted
                    self.quotient = turns.added(Sum(step.bits, 1), -1)
                    self.left_over = _Left(algebra, turns, divisor)
                    return
        raise DifferentError

    def _numbers_asked(self, bits: int, divisor: int) -> Iterator[Sum]:
        """How many turns there may be: those of which it is asked whether they are too few for the loop."""
        one, algebra = Sum(bits, 1), self.algebra
        skips = self._holds(self.outside, self.pair.before, other(self.pair.before, self._way()))
        match cast("Any", algebra.key(skips)):
            case ("lt", False, Sum() as found, Sum() as least) if found.bits == bits and not least.parts:
                if least.number == divisor:
                    yield found
                by, rest = divmod(least.number, divisor - 1)
                if by and not rest:
                    whole = Sum(bits, by)
                    quotient = found if by == 1 else algebra.divide(unsigned(bits), found, whole)
                    yield quotient.added(one)
            case ("lt", False, Sum() as least, Sum() as found) if found.bits == bits and not least.parts:
                if least.number == (1 << bits) - divisor:  # of what is left to zero, counted up
                    yield Sum(bits, 0).added(found, -1)
            case ("eq", Sum() as gone, _) if divisor == 2 and gone.bits == bits:
                yield from (one.added(gone, sign) for sign in (1, -1))
            case _:
                pass

    def _whole(self, counted: Sum, turns: Sum, divisor: int) -> bool:
        """Whether a counter goes through all turns but those that are left over. (It may be that highest bits
        are masked which they have not.)"""
        algebra, t = self.algebra, unsigned(turns.bits)
        highest = max(self._most(turns).bit_length(), divisor.bit_length())
        masks = ((1 << bits) - divisor for bits in range(highest, t.bits + 1))
        return counted.bits == t.bits and any(
            counted == algebra.and_(t, turns, Sum(t.bits, mask)) for mask in masks
        )

    def _most(self, turns: Sum) -> int:
        """How many turns there are at most."""
        below, half = self.algebra.atom(1, "lt", True, Sum(turns.bits, 0), turns), 1 << turns.bits - 1
        most = self.algebra.most(turns)
        return min(most, half - 1) if self._is_asked(below) else most

    def _after_some(self, phi: Definition, after: Terms) -> Sum:
        """What a phi behind the first loop has after any number of turns."""
        start = self.begun.of(phi.inputs[self.sources[0].index])
        given = phi.inputs[self.sources[1].index]
        for carried in self.ssa.phis.get(self.pair.main.index, ()):
            if carried.inputs[self.pair.main.index] is given and carried not in self.gains:
                require(self.outside.of(self._brought(carried)) == start)
                return self.state[carried]
        gone = after.of(given).added(start, -1)
        turning = frozenset((Atom(a.number), n) for a, n in gone.parts if a.turns and a.number >= 0)
        number = next((n for a, n in gone.parts if a.turns and a.number < 0), 0)
        step = Sum(start.bits, number, turning)
        if not step.parts and not step.number:
            step = self._by_all(gone)
        else:
            require(gone == step.turning.added(step, self.divisor))
        self.grows[phi] = step
        return start.added(step.turning)

    def _by_all(self, gone: Sum) -> Sum:
        """By how much a value goes on that is made, when the first loop is done, of all its turns."""
        if not gone.parts and not gone.number:
            return gone
        ((atom, many),) = self.counted.parts
        ((found, times),) = gone.parts if len(gone.parts) == 1 else ((Atom(-1), 0),)
        require(gone.bits == self.counted.bits and found == atom and not gone.number and times % many == 0)
        return Sum(gone.bits, times // many)

    # -- what is left over ---------------------------------------------------------------------------

    def _find_path(self) -> None:
        """Finds how a lane comes to the last turn that has but that to do, and from there."""
        pair = self.pair
        (way,) = self._follow([1], self.here)
        acting = [b for b in way.blocks if any(isinstance(op, Op) and acts(op) for op in b.ops)]
        require(len(acting) == 1 and acting[0] in (pair.rest, *([] if self._is_loop else pair.others)))
        rest, chain = acting[0], list[Block]()
        at, block = way.blocks.index(rest), other(pair.before, self._way())
        while block is not self.first:
            chain.append(block)
            block = block.successors()[0]
        lead, trail = [*chain, *way.blocks[:at]], way.blocks[at + 1 :]
        others = [b for b in (pair.rest, *pair.others) if b not in (*lead, *trail, rest)]
        self.pair = replace(pair, lead=lead, rest=rest, trail=trail, others=others)
        self.path = [pair.before, *lead, rest, *trail]
        self._find_carried()
        self._begin()

    @property
    def _is_loop(self) -> bool:
        return self.pair.rest in self.pair.rest.successors()

    def _find_carried(self) -> None:
        """Finds what a turn that stands by itself must leave for another one: what it leaves when it is the
        last, or more by what a counter goes on by, which no turn is left to need."""
        self.carried, self.advancing = dict[Definition, Definition](), dict[Definition, Definition]()
        if self._is_loop:
            self.carried = {phi: phi.inputs[self.pair.rest.index] for phi in self._needed()}
            return
        source = self.path[-1].index
        left = (phi.inputs[source] for phi in self.ssa.phis.get(self.pair.after.index, ()))
        made = {d.register: d for d in left if d.block is self.pair.rest}
        written = {r for op in self.pair.rest.ops for r in destinations(op)}
        for read in self._read_in([self.pair.rest], {*self.ssa.schedule.order} - {self.pair.rest}):
            begun = self._led_from(read, self.first)
            if read.is_phi and read.register in made:
                self.carried[read] = made[read.register]
            else:
                require(read.register not in written)
                if read.is_phi and begun in self.grows:
                    self.advancing[read] = begun

    def _led_from(self, definition: Definition, first: Block | None = None) -> Definition:
        """What something is on the way to the last turn: what it began with, or a phi of a block there."""
        source, inside = dict(zip(self.path[1:], self.path, strict=False)), {*self.pair.lead, self.pair.rest}
        while definition.is_phi and definition.block in inside and definition.block is not first:
            definition = definition.inputs[source[definition.block].index]
        return definition

    def _begin(self) -> None:
        """Finds what the last loop begins with, where it has all turns to do."""
        known = self._entered(self.first, self.sources[0], self.begun)
        led = self._led(known)
        self.starts = {phi: led.of(phi) for phi in self.phis if self._is_loop}
        for phi, step in self.grows.items():
            self.starts[phi], self.steps[phi] = known.of(phi), step

    def _led(self, known: Terms) -> Terms:
        """What is known where the last loop begins."""
        at = self.path.index(self.first)
        for block, following in zip(self.path[at:], self.path[at + 1 :], strict=False):
            if block is self.pair.rest:
                break
            self._act(block, known, [])
            known = self._entered(following, block, known)
        return known

    def _start(self, phi: Definition) -> Sum:
        return self.starts[phi]

    def _first(self, phi: Definition) -> Definition:
        return self._led_from(phi)

    def _find_steps(self) -> None:
        if self._is_loop:
            super()._find_steps()

    def _near(self) -> set[Block]:
        return super()._near() | {*_jumps(self._way())} - {self.pair.main}

    def _entered(self, block: Block, source: Block, known: Terms) -> Terms:
        """What is known where a block begins."""
        phis = self.ssa.phis.get(block.index, ())
        return self._terms(known.known | {phi: known.of(phi.inputs[source.index]) for phi in phis})

    def _act(self, block: Block, known: Terms, effects: list[Hashable]) -> None:
        """Finds what a block makes and does."""
        for op in block.ops:
            assert isinstance(op, Op)
            if acts(op):
                effects.append(known.effect(op, len(effects)))
            else:
                known.run(op)

    def _at_end(self, source: Block, known: Terms) -> Values:
        """What the phis have where all meet."""
        phis = self.ssa.phis.get(self.pair.after.index, ())
        return {phi: known.of(phi.inputs[source.index]) for phi in phis}

    def _turns_of_rest(self, effects: list[Hashable], ends: list[Values]) -> Values:
        """Turns of the last loop, as many as one of the first: what they do, what each leaves when it is the
        last, and what the next turn would begin with."""
        rest, known = self.pair.rest, self._led(self._terms(self.here.known))
        self.begun_with = list[Values]()
        for _ in range(self.divisor):
            self.begun_with.append({d: known.of(d) for d in (*self.carried, *self.advancing)})
            self._act(rest, known, effects)
            next_ = {phi: known.of(given) for phi, given in self.carried.items()}
            for phi, begun in self.advancing.items():
                next_[phi] = known.of(phi).added(self.grows[begun])
            left, source = known, rest
            for block in self.pair.trail:
                left = self._entered(block, source, left)
                self._act(block, left, [])
                source = block
            ends.append(self._at_end(source, left))
            known = self._terms(known.known | next_)
        return {phi: known.of(phi) for phi in (*self.carried, *self.advancing)}

    def _main_is(self, effects: list[Hashable], later: Values) -> Terms:
        """A turn of the first loop must do that too, and leave what the last one would go on with; what is
        known where lanes come from it."""
        require(self.done == effects)
        known: dict[Definition, Sum] = {}
        for phi, value in self.here.known.items():
            if phi.is_phi and phi.block is self.first:
                step = self.grows.get(phi)
                given = self.after.of(phi.inputs[self.sources[1].index])
                known[phi] = given if step is None else value.added(step, self.divisor)
        ended = self._terms(known)
        led, here = (self._led(self._terms(one)) for one in (known, self.here.known))
        require(all(led.of(phi) == value for phi, value in later.items()))
        require(all(led.of(d) == here.of(d) for d in self._kept()))
        return ended

    def _kept(self) -> list[Definition]:
        """What the last loop, and what is behind it, read of what was made on the way there."""
        pair, ssa, lead = self.pair, self.ssa, {*self.pair.lead}
        phis = (phi for b in (*pair.trail, pair.after) for phi in ssa.phis.get(b.index, ()))
        behind = {b.index for b in (pair.rest, *pair.trail)}
        read = self._read_in([pair.rest, *pair.trail], lead)
        read = [d for d in read if d not in self.carried and d not in self.advancing]
        return read + [d for phi in phis for b, d in phi.inputs.items() if b in behind and d.block in lead]

    def _needed(self) -> list[Definition]:
        """The phis of the last loop on which depends what it does, and what it leaves: not how many turns are
        left over."""
        pair, ssa, found = self.pair, self.ssa, set[Definition]()
        doing = [op for op in pair.rest.ops if isinstance(op, Op) and acts(op)]
        work = [
            d for op in (*doing, *(op for b in pair.trail for op in b.ops)) for d in ssa.read[id(op)].values()
        ]
        own = [*pair.trail, pair.after]
        work += [d for b in own for phi in ssa.phis.get(b.index, ()) for d in phi.inputs.values()]
        while work:
            definition = work.pop()
            if definition not in found and definition.block is pair.rest:
                found.add(definition)
                work += [*definition.inputs.values(), *ssa.read.get(id(definition.origin), {}).values()]
        return [phi for phi in self.phis if phi in found]

    def _follow(self, numbers: list[int], known: Terms) -> list[_Way]:
        """The ways through what is left over, and how many turns each of them is."""
        found, steps = list[_Way](), 0
        work = [_Way(numbers, self.first, self.first, self._terms(known.known))]
        while work:
            way, steps = work.pop(), steps + 1
            require(steps <= MOST_STEPS)
            if way.at is self.pair.after:
                found.append(way)
                continue
            way.lines += self._lines(way.at)
            way.blocks.append(way.at)
            self._act(way.at, way.known, way.done)
            work += self._parted(way)
        return found

    def _parted(self, way: _Way) -> Iterator[_Way]:
        """The ways on from a block."""
        block, ways = way.at, dict[Block, list[int]]()
        for number in way.numbers:
            taken = block.successors()[0]
            if isinstance(block.terminator, Branch):
                taken = self._taken(block, way.known, number)
            ways.setdefault(taken, []).append(number)
        for target, numbers in ways.items():
            known = way.known if target is self.pair.after else self._entered(target, block, way.known)
            yield _Way(numbers, target, block, known, [*way.done], [*way.lines], [*way.blocks])

    def _taken(self, block: Block, known: Terms, number: int) -> Block:
        branch = block.terminator
        assert isinstance(branch, Branch)
        self.left_over.number = number
        holds = self.left_over.holds(self._holds(known, block, branch.taken))
        require(holds is not None)
        return branch.taken if holds else branch.otherwise

    # -- how many turns ------------------------------------------------------------------------------

    def _counted_below(self) -> Count:
        """The counter of which was asked whether it is below a limit: it is so in all turns."""
        for condition in self._asked():
            match cast("Any", self.algebra.key(condition)):
                case ("lt", bool() as by_sign, Sum() as start, Sum() as limit):
                    for phi in sorted(self.steps, key=lambda phi: phi.block is not self.pair.rest):
                        if self._start(phi) == start and self._counts(phi, by_sign, limit):
                            return self._named(phi, by_sign, limit)
                case _:
                    pass
        raise DifferentError

    def _named(self, phi: Definition, by_sign: bool, limit: Sum) -> Count:
        found = super()._named(phi, by_sign, limit)
        steps = list[tuple[Register, Register | Constant]]()
        for read, begun in self.advancing.items():
            t = unsigned(read.register.type.bits)
            step, definition = self._standing(t, self.grows[begun])
            steps.append((read.register, step))
            found.definitions.extend((read, *filter(None, [definition])))
            found = replace(found, now=read.register) if begun is phi else found
        return replace(found, steps=steps)

    def _copies(self) -> dict[int, Copies]:
        one, main = self._lines(self.pair.rest), self._lines(self.pair.main)
        require(len({*one}) == len(one))
        left = [self.lines[number] for number in range(self.divisor)]
        return {
            line: Copies(main[n :: len(one)], tuple(tuple(lines[n :: len(one)]) for lines in left), False)
            for n, line in enumerate(one)
        }
