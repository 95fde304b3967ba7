"""Loops that a compiler has unrolled, rolled again.

`for (i = thread; i < n; i += threads) y[i] = a * x[i] + y[i];` comes as two loops: one of which a turn is one
of the program's, for the turns that are left over when their number is divided by four, and then one of which
each turn is four of them. How many are left over may differ from lane to lane, so that after the first loop
lanes are apart, and nothing is known of what they load. Rolled again, all lanes of a warp begin together, and
their addresses go on side by side.

The first loop stands a second time in the code, with the end of the second one. That it comes to the same
is found by `simt.analysis.same_turns` (by `left_last`, where the turns that are left over are done last), for
counters that do not wrap: that is asked before the loops, and where one may, threads go through them as they
were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise, permutations
from typing import TYPE_CHECKING

from simt.analysis.copies import copied, renamed
from simt.analysis.lower_forms import ALL, FITS, LESS, NEAR, SUM, copy, simple
from simt.analysis.program import Block, Branch, Call, Constant, Function, Jump, Op, Register
from simt.analysis.ranges import Ranges
from simt.analysis.rolled_lines import Line, Seldom
from simt.analysis.shape import Shape
from simt.analysis.ssa import Definition, Ssa, destinations, terminator_uses
from simt.analysis.terms import acts
from simt.imports import Later
from simt.isa.algebra import Environment
from simt.ptx.types import PRED, Type, unsigned
from simt.records import replace

if TYPE_CHECKING:
    from simt.analysis import left_last, same_turns, several_turns
    from simt.analysis.same_turns import Count, Proof, Several, Unrolled
else:
    left_last = Later("simt.analysis.left_last")
    same_turns = Later("simt.analysis.same_turns")
    several_turns = Later("simt.analysis.several_turns")

MOST_OPS = 400
"""Ops of an unrolled loop's turn."""


MOST, MOST_STEP, NEARLY = 1 << 30, 1 << 24, 1 << 29
"""How far a counter may go, and in one turn, and how much more an index may
be, where loops are rolled again: then it does not wrap, nor what a turn
adds to it (`simt.analysis.terms`)."""


def rolled_again(kernel: Function, ssa: Ssa, proofs: Iterable[Proof]) -> Function:
    """The kernel with such loops, of which it is proven; itself if there are none."""
    counts = [(proof.pair, count) for proof in proofs if (count := proof.count()) is not None]
    writers = [_Writer(ssa, pair, count) for pair, count in counts]
    if not writers:
        return kernel
    made = copied(kernel)
    made.registers = [*kernel.registers]
    blocks = {b.index: b for b in made.blocks}
    for writer in writers:
        writer.write(made, blocks)
    for index, block in enumerate(made.blocks):
        block.index = index
    return made


def unrolled_pairs(ssa: Ssa) -> list[Unrolled]:
    """Pairs of loops that look like it."""
    loops = [b for b in ssa.schedule.order if b in b.successors() and len(b.successors()) == 2]
    if not loops:
        return []
    pairs = [*filter(None, (_pair(ssa, rest) for rest in loops)), *left_last.loops_with_rests(ssa, loops)]
    return [p for p in pairs if p.main in loops and len(p.main.ops) <= MOST_OPS]


def proofs_of(
    ssa: Ssa,
    shapes: Mapping[Definition, Shape],
    environment: Environment,
    ranges: Callable[[], Ranges],
    pair: Unrolled,
    in_fours: bool = False,
) -> list[Proof]:
    """What proves that a pair can be one loop: one of these at most does. `in_fours`: or two, of which one
    does several turns at once."""
    if pair.left_first:
        kinds: list[type[Proof]] = [same_turns.Proof]
    else:
        kinds = [several_turns.InFours if in_fours else left_last.LeftLast, several_turns.Lists]
    return [kind(ssa, shapes, environment, ranges, pair) for kind in kinds]


def _pair(ssa: Ssa, rest: Block) -> Unrolled | None:
    """The pair of which the first loop is a block."""
    between, before = same_turns.other(rest, rest), [b for b in ssa.predecessors[rest.index] if b is not rest]
    lead = [b for b in before if isinstance(b.terminator, Jump)]
    if lead and len(lead) == 1 == len(before):
        before = ssa.predecessors[lead[0].index]
    if len(before) != 1 or not isinstance(before[0].terminator, Branch):
        return None
    if len(between.successors()) != 2 or len(ssa.predecessors[between.index]) != 2:
        return None
    at_once = same_turns.other(before[0], lead[0] if lead else rest)
    skipped = [b for b in ssa.predecessors[between.index] if b is not rest and b is not before[0]]
    if at_once is not between and skipped != [at_once]:
        return None
    for after, way in permutations(between.successors()):
        ways = _through(ssa, way)
        main = ways[-1]
        if main is not rest and main in main.successors() and len(ssa.predecessors[main.index]) == 2:
            return same_turns.Unrolled(
                before[0], lead, rest, [between], main, after, [*skipped, *ways[:-1]], left_first=True
            )
    return None


def _through(ssa: Ssa, block: Block) -> list[Block]:
    """A block and those to which it leads, and nothing else does."""
    found = [block]
    while isinstance(block.terminator, Jump) and len(ssa.predecessors[block.index]) == 1:
        block = block.terminator.target
        found.append(block)
    return found


class _Writer:
    """Writes a loop a second time, and what leads there."""

    def __init__(self, ssa: Ssa, pair: Unrolled, count: Count) -> None:
        self.ssa, self.pair, self.count = ssa, pair, count
        self.registers: list[Register] = []
        self.needed = set[Definition]()
        self.source: dict[Block, Block] = {}
        self.line = pair.main.terminator.line
        self._find_needed()

    def write(self, made: Function, blocks: Mapping[int, Block]) -> None:
        pair, count, self.registers = self.pair, self.count, made.registers
        before, after = blocks[pair.before.index], blocks[pair.after.index]
        kept, moved = self._parted(pair.before)
        slow = Block(0, [*moved], before.terminator)
        end = Block(0, [op for block in pair.trail for op in self._again(block)], Jump(after))
        start, now, ops = self._register(count.type, "start"), count.now, list[Op | Call]()
        if now is None:
            ops.append(copy(start, self._probed(count.begun, ops), count.type, self.line))
        names = {} if count.several is None else self._begin_several(count.several, ops)
        ops += [op for block in self.pair.lead for op in self._again(block)]
        if now is not None:
            ops.append(copy(start, now, count.type, self.line))
        counter = now or self._counter(start, ops)
        turn = self._turn(start, counter, end)
        fast, loops = Block(0, ops, Jump(turn)), [turn]
        if count.several is not None:
            loops = [*self._in_several(count.several, names, fast, start, counter, turn, end), turn]
        fits = self._register(PRED, "fits")
        sources = {
            "a": count.limit,
            "b": count.step,
            "c": Constant(count.type, MOST),
            "e": Constant(count.type, MOST_STEP),
        }
        test = simple(FITS, count.type, fits, {n: (s, count.type) for n, s in sources.items()}, self.line)
        test.result_types = (PRED,)
        more, fits = self._near(fits)
        for block in (pair.rest, pair.main, *pair.others):
            blocks[block.index].ops = [replace(op, line=Seldom(op.line)) for op in blocks[block.index].ops]
        before.ops = [*kept, test, *more]
        before.terminator = Branch(fits, False, fast, slow, line=self.line)
        at = made.blocks.index(before) + 1
        made.blocks[at:at] = [fast, *loops, end, slow]

    def _near(self, fits: Register) -> tuple[list[Op | Call], Register]:
        """Ops that ask whether indices that go on with the counter are near it; what they and `fits` give.
        (Where lanes begin with numbers of their own, it is the same for all of them.)"""
        ops, t = list[Op | Call](), unsigned(self.count.type.bits)
        for index in self.count.indices:
            near, begun = self._register(PRED, "near"), self._probed(index, ops)
            sources = {
                "a": (begun, t),
                "b": (self._probed(self.count.begun, ops), t),
                "c": (Constant(t, NEARLY), t),
                "e": (fits, PRED),
            }
            test = simple(NEAR, t, near, sources, self.line)
            test.result_types = (PRED,)
            ops.append(test)
            fits = near
        if self.count.several is not None and (ops or self.count.ends_apart):
            all_ = self._register(PRED, "all")
            ops.append(simple(ALL, PRED, all_, {"a": (fits, PRED)}, self.line))
            fits = all_
        return ops, fits

    def _probed(self, definition: Definition, ops: list[Op | Call]) -> Register:
        """A register with what is made on the way to the first loop."""
        op = definition.origin
        if definition.block not in self.pair.inside:
            return definition.register
        if not isinstance(op, Op):
            return self._probed(definition.inputs[self.source[definition.block].index], ops)
        names = {r: self._probed(d, ops) for r, d in self.ssa.read[id(op)].items()}
        made = self._register(definition.register.type, "probed")
        ops.append(replace(renamed(op, names), destinations=(made,)))
        return made

    def _counter(self, start: Register, ops: list[Op | Call]) -> Register:
        """A counter that the loop has not."""
        made = self._register(self.count.type, "counter")
        ops.append(copy(made, start, self.count.type, self.line))
        return made

    def _turn(self, start: Register, counter: Register, end: Block) -> Block:
        """The loop."""
        count, turn, (ops, noted) = self.count, Block(0), self._noted(start, counter)
        for op in self._again(self.pair.rest):
            if acts(op):
                op.line = self._line(noted, op.line, op.line, 0)
            ops.append(op)
        for register, step in (*count.steps, *[(counter, count.step)] * (count.now is None)):
            ops.append(self._sum(register, register, step))
        turn.terminator = Branch(self._less(counter, ops), False, turn, end, line=self.line)
        turn.ops = ops
        return turn

    def _noted(self, start: Register, counter: Register) -> tuple[list[Op | Call], list[Register]]:
        """Copies, at a turn's beginning, of what tells which one it is."""
        sources = {"start": start, "now": counter, "step": self.count.step, "limit": self.count.limit}
        noted = [self._register(self.count.type, name) for name in sources]
        made = zip(noted, sources.values(), strict=True)
        return [copy(one, source, self.count.type, self.line) for one, source in made], noted

    def _line(self, noted: list[Register], line: int, one: int, ahead: int) -> Line:
        """The line of an op that stands for what a turn does on the line `one`."""
        made = Line(line)
        made.copies, made.type, made.ahead = self.count.copies[one], self.count.type, ahead
        made.start, made.now, made.step, made.limit = noted
        made.single = self.count.several is None
        return made

    def _sum(self, made: Register, a: Register, b: Register | Constant) -> Op:
        return simple(SUM, made.type, made, {"a": (a, made.type), "b": (b, made.type)}, self.line)

    def _less(self, counter: Register, ops: list[Op | Call]) -> Register:
        """Whether a counter is below the limit; what asks is put at the end of some ops."""
        less, t = self._register(PRED, "less"), self.count.type
        test = simple(LESS, t, less, {"a": (counter, t), "b": (self.count.limit, t)}, self.line)
        test.result_types = (PRED,)
        ops.append(test)
        return less

    # -- several turns at once -----------------------------------------------------------------------

    def _begin_several(self, several: Several, ops: list[Op | Call]) -> dict[Definition, Register]:
        """Registers for what several turns at once read of what stands before, and begin with."""
        names, pair = {**several.same}, self.pair
        again = [op for block in (*pair.lead, pair.rest, *pair.trail) for op in block.ops]
        written = {r for op in again for r in destinations(op)}
        for phi, brought, _ in several.own:
            names[phi] = self._register(phi.register.type, "own")
            ops.append(copy(names[phi], self._probed(brought, ops), phi.register.type, self.line))
        for definition in [d for op in several.ops for d in self.ssa.read[id(op)].values()]:
            if definition.block is not pair.main and definition not in names:
                kept = found = self._probed(definition, ops)
                if found in written:
                    kept = self._register(found.type, "kept")
                    ops.append(copy(kept, found, found.type, self.line))
                names[definition] = kept
        return names

    def _in_several(
        self, several: Several, names: dict[Definition, Register], fast: Block, start: Register,
        counter: Register, turn: Block, end: Block,
    ) -> list[Block]:  # fmt: skip
        """A loop of several turns at once, to which `fast` leads, and what asks whether one is left over."""
        count, four, over = self.count, Block(0), Block(0)
        steps = [*several.steps, *[(counter, count.step)] * (count.now is None)]
        steps += [(names[phi], step) for phi, _, step in several.own]
        far = [(r, self._times(step, several.turns, r.type, fast.ops)) for r, step in steps]
        last = self._times(count.step, several.turns - 1, count.type, fast.ops)
        four.ops, noted = self._noted(start, counter)
        for op in several.ops:
            made = self._renamed(op, names)
            if acts(op):
                made.line = self._line(noted, op.line, *several.copies[op.line])
            four.ops.append(made)
        four.ops += [copy(r, names[d], r.type, self.line) for r, d in several.left]
        four.ops += [self._sum(r, r, step) for r, step in far]
        for block in (fast, four):
            at = self._register(count.type, "last")
            block.ops.append(self._sum(at, counter, last))
            block.terminator = Branch(self._less(at, block.ops), False, four, over, line=self.line)
        over.terminator = Branch(self._less(counter, over.ops), False, turn, end, line=self.line)
        return [four, over]

    def _renamed(self, op: Op, names: dict[Definition, Register]) -> Op:
        """An op of the second loop's turn, on registers of its own."""
        made = renamed(op, {r: names[d] for r, d in self.ssa.read[id(op)].items()})
        new = tuple(None if r is None else self._register(r.type, "several") for r in op.destinations)
        for definition, register in zip(self.ssa.of[id(op)], new, strict=True):
            if definition is not None and register is not None:
                names[definition] = register
        return replace(made, destinations=new)

    def _times(
        self, step: Register | Constant, turns: int, t: Type, ops: list[Op | Call]
    ) -> Register | Constant:
        """What goes on by a step in some turns."""
        if isinstance(step, Constant):
            return Constant(t, step.bits * turns % (1 << t.bits))
        sum_ = step
        for _ in range(turns - 1):
            made = self._register(t, "steps")
            ops.append(self._sum(made, sum_, step))
            sum_ = made
        return sum_

    # -- registers and ops ---------------------------------------------------------------------------

    def _register(self, t: Type, name: str) -> Register:
        made = Register(len(self.registers), f"{name}.rolled{len(self.registers)}", t)
        self.registers.append(made)
        return made

    def _again(self, block: Block) -> list[Op]:
        """The ops of a block that are needed."""
        return [replace(op) for op in block.ops if isinstance(op, Op) and self._is_needed(op)]

    def _is_needed(self, op: Op) -> bool:
        return acts(op) or not self.needed.isdisjoint(self.ssa.of[id(op)])

    def _parted(self, block: Block) -> tuple[list[Op], list[Op]]:
        """The ops of a block, those that are needed, and those that only the loops as they were need."""
        kept, moved, written = list[Op](), list[Op](), set[Register | None]()
        for op in reversed(block.ops):
            assert isinstance(op, Op)
            if self._is_needed(op) or not written.isdisjoint((*self.ssa.read[id(op)], *op.destinations)):
                kept.insert(0, op)
                written.update(destinations(op))
                self.needed.update(self.ssa.read[id(op)].values())
            else:
                moved.insert(0, op)
        return kept, moved

    # -- what is needed ------------------------------------------------------------------------------

    def _find_needed(self) -> None:
        pair, ssa = self.pair, self.ssa
        path = [pair.before, *pair.lead, pair.rest, *pair.trail]
        self.source = {block: before for before, block in pairwise(path)}
        region = {pair.before, *pair.inside}
        work = [d for block in ssa.schedule.order if block not in region for d in self._read(block)]
        doing = [op for op in pair.rest.ops if isinstance(op, Op) and acts(op)]
        work += [d for op in doing for d in ssa.read[id(op)].values()]
        counted = (*self.count.definitions, *self.count.indices)
        work += [d for one in counted for d in self._behind(one)]
        while work:
            definition = work.pop()
            if definition not in self.needed and definition.block in path:
                self.needed.add(definition)
                work += self._made_of(definition)

    def _behind(self, definition: Definition) -> Iterator[Definition]:
        """What something is made of on another way to the loops, and itself."""
        yield definition
        if definition.block in self.pair.others:
            for one in self.ssa.read.get(id(definition.origin), {}).values():
                yield from self._behind(one)

    def _made_of(self, definition: Definition) -> list[Definition]:
        """What is read to make something."""
        if not definition.is_phi:
            return list(self.ssa.read.get(id(definition.origin), {}).values())
        if definition.block in (self.pair.before, self.pair.rest):
            return list(definition.inputs.values())
        return [definition.inputs[self.source[definition.block].index]]

    def _read(self, block: Block) -> Iterator[Definition]:
        """What a block reads of what others made."""
        current = self.ssa.reaching(block)
        for op in block.ops:
            yield from self.ssa.read[id(op)].values()
            current.update({d.register: d for d in self.ssa.of[id(op)] if d is not None})
        for register in terminator_uses(block):
            yield self.ssa.lookup(current, register)
        for phi in self.ssa.phis.get(block.index, ()):
            yield from phi.inputs.values()
