"""Words of a thread that each have a branch around them, a second time without branches.

`for (j = 0; j < 4; j++) if (4 * i + j < n) y[4 * i + j] += x[4 * i + j];`, unrolled: each word stands in a
block of its own, behind a comparison of its index with the length, and nothing can be said of the words
together. So a chain of such blocks stands twice: as one block, for warps of which every lane goes through
all of them, and as it was. What branches ask for is found out ahead; it is made of indices alone, which cost
as little as the vote. In the one block an address is made once (nvcc makes the first word's by itself).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from simt.analysis.copies import copied, renamed
from simt.analysis.lower_forms import ALL, CUT, simple
from simt.analysis.lower_simplify import retarget
from simt.analysis.program import (
    Barrier,
    Block,
    Branch,
    Call,
    Complement,
    Function,
    Jump,
    Op,
    Register,
    Source,
    Switch,
    Terminator,
    memory_operands,
)
from simt.analysis.rolled_lines import is_seldom
from simt.analysis.shape import Shape
from simt.analysis.ssa import Definition, Ssa, registers_of
from simt.ptx.types import PRED, Type
from simt.records import dataclass, replace

FEWEST = 2
"""Branches, and blocks with words of one structure, that are worth it."""
LONGEST = 200
"""Ops of a chain."""
DEEPEST = 24
"""Ops that are run ahead for a branch."""
FEW = 16
"""Words of a thread."""


@dataclass(frozen=True, slots=True)
class Chain:
    """Blocks one after the other, and where control goes behind them. `tests`: by what the branches ask for,
    and whether it is to hold. `ahead`: ops that make that, in their order."""

    blocks: tuple[Block, ...]
    end: Terminator
    tests: tuple[tuple[Register, bool], ...]
    ahead: tuple[Op, ...]


class RefusedError(Exception):
    """Of a predicate that cannot be made ahead."""


def skipped_words(kernel: Function, ssa: Ssa, shapes: Mapping[Definition, Shape]) -> list[Chain]:
    """Such chains, none of which has a block of another."""
    finder, taken, found = _Finder(kernel, ssa, shapes), set[Block](), list[Chain]()
    for block in ssa.schedule.order:
        chain = None if block in taken or is_seldom((block,)) else finder.chain(block)
        if chain is not None:
            found.append(chain)
            taken.update(chain.blocks)
    return found


def is_of_indices(ssa: Ssa, shapes: Mapping[Definition, Shape], predicate: Definition) -> bool:
    """Whether a predicate compares what grows from lane to lane, or all lanes have."""
    op = predicate.origin
    if not isinstance(op, Op) or op.form.effects or op.guard is not None:
        return False
    return all(
        is_of_indices(ssa, shapes, d) if d.register.type.is_predicate else _is_even(shapes.get(d))
        for d in ssa.read[id(op)].values()
    )


def _is_even(shape: Shape | None) -> bool:
    return shape is not None and (shape.is_affine or shape.is_guarded)


class _Finder:
    def __init__(self, kernel: Function, ssa: Ssa, shapes: Mapping[Definition, Shape]) -> None:
        self.kernel = kernel
        self.ssa = ssa
        self.shapes = shapes

    def chain(self, first: Block) -> Chain | None:
        """The longest one whose first branch is at the end of a block."""
        blocks, tests, ahead = [first], list[tuple[Register, bool]](), dict[int, Op]()
        out, length = set[Block](), 0
        while isinstance(branch := blocks[-1].terminator, Branch):
            step = self._step(blocks, branch, out)
            if step is None or length > LONGEST:
                break
            try:
                self._run_ahead(branch, blocks, ahead)
            except RefusedError:
                break
            inside, behind = step
            tests.append((branch.predicate, (branch.taken is inside) != branch.negated))
            blocks.append(inside)
            if behind is not None and not self._goes_on(behind, blocks):
                return self._made(blocks, Jump(behind), tests, ahead)
            blocks += [behind] if behind is not None else []
            length = sum(len(b.ops) for b in blocks[1:])
        return self._made(blocks, blocks[-1].terminator, tests, ahead)

    def _step(
        self, blocks: Sequence[Block], branch: Branch, out: set[Block]
    ) -> tuple[Block, Block | None] | None:
        """The block that a branch leads to, and the one behind it, if the other way goes there. Else that way
        leads out of the chain, which is one place for all branches."""
        here = blocks[-1]
        for inside, away in ((branch.taken, branch.otherwise), (branch.otherwise, branch.taken)):
            if inside is away or inside in blocks or away in blocks or not self._comes_from(inside, here):
                continue
            if isinstance(inside.terminator, Jump) and inside.terminator.target is away:
                return inside, away
            if out <= {away} and not self._comes_from(away, here):
                out.add(away)
                return inside, None
        return None

    def _comes_from(self, block: Block, *here: Block) -> bool:
        before = self.ssa.predecessors[block.index]
        alone = len(before) == len(here) and set(before) == set(here)
        return alone and self._may_stand_twice(block)

    def _may_stand_twice(self, block: Block) -> bool:
        return not any(isinstance(op, Call) for op in block.ops)

    def _goes_on(self, behind: Block, blocks: Sequence[Block]) -> bool:
        """Whether a chain goes on in the block in which two ways meet."""
        return self._comes_from(behind, *blocks[-2:]) and isinstance(behind.terminator, Branch)

    # -- what branches ask for ---------------------------------------------------------------------------

    def _run_ahead(self, branch: Branch, blocks: Sequence[Block], ahead: dict[int, Op]) -> None:
        predicate = self.ssa.read[id(branch)][branch.predicate]
        if not is_of_indices(self.ssa, self.shapes, predicate):
            raise RefusedError
        run_ahead(self.ssa, predicate, {b.index for b in blocks[1:]}, ahead, len(ahead) + DEEPEST)

    # -- whether it is worth it --------------------------------------------------------------------------

    def _made(
        self,
        blocks: Sequence[Block],
        end: Terminator,
        tests: Sequence[tuple[Register, bool]],
        ahead: Mapping[int, Op],
    ) -> Chain | None:
        if len(tests) < FEWEST or isinstance(end, Barrier | Switch) or not self._is_worth_it(blocks):
            return None
        return Chain(tuple(blocks), end, tuple(tests), tuple(ahead.values()))

    def _is_worth_it(self, blocks: Sequence[Block]) -> bool:
        """Whether words at distances from one address are in several blocks."""
        ops = [(op, b.index) for b in blocks for op in b.ops if isinstance(op, Op)]
        found = dict[object, set[int]]()
        for (op, block), again in zip(ops, _once(self.ssa, [op for op, _ in ops]), strict=True):
            if block != blocks[0].index and self._is_word(op):
                ((base, _),) = memory_operands(again)
                found.setdefault((base, op.form), set()).add(block)
        return any(len(blocks) >= FEWEST for blocks in found.values())

    def _is_word(self, op: Op | Call) -> bool:
        """Whether lanes get at words of which each has several."""
        if not isinstance(op, Op) or not op.form.moves_memory or op.binding.get("space") != "global":
            return False
        kind, places = op.binding.get("type"), [self.ssa.read[id(op)][r] for r, _ in memory_operands(op)]
        shape = self.shapes.get(places[0]) if len(places) == 1 else None
        if shape is None or not (shape.is_affine or shape.is_guarded) or not isinstance(kind, Type):
            return False
        return kind.bits // 8 < shape.stride <= FEW * kind.bits // 8


def run_ahead(ssa: Ssa, definition: Definition, inside: set[int], ahead: dict[int, Op], most: int) -> None:
    """Adds to `ahead` the ops of some blocks that make a value, in their order. Raises `RefusedError` if they
    do more than that, or are too many."""
    if ssa.single[definition.register] is not definition:
        raise RefusedError
    op = definition.origin
    if definition.block.index not in inside or id(op) in ahead:
        return
    if not isinstance(op, Op) or op.form.effects or op.guard is not None or len(ahead) >= most:
        raise RefusedError
    for read in ssa.read[id(op)].values():
        run_ahead(ssa, read, inside, ahead, most)
    ahead[id(op)] = op


def without_branches(kernel: Function, ssa: Ssa, chains: Sequence[Chain]) -> Function:
    """The kernel with such chains standing twice."""
    made = copied(kernel)
    made.registers = [*kernel.registers]
    blocks = {b.index: b for b in made.blocks}
    for chain in chains:
        _write(made, blocks, ssa, chain)
    for index, block in enumerate(made.blocks):
        block.index = index
    return made


def _write(made: Function, blocks: Mapping[int, Block], ssa: Ssa, chain: Chain) -> None:
    first, line = blocks[chain.blocks[0].index], chain.blocks[0].terminator.line
    slow = Block(0, [], first.terminator)
    ops = [op for b in chain.blocks for op in b.ops if isinstance(op, Op)]
    before = sum(isinstance(op, Op) for op in chain.blocks[0].ops)
    behind = Block(0, [], chain.end).successors()
    once: list[Op | Call] = [*_once(ssa, ops)]
    fast = Block(0, once[before:], retarget(chain.end, {b: blocks[b.index] for b in behind}))
    tests, all_ = vote(made, chain.ahead, chain.tests, line)
    first.ops = [*first.ops, *tests]
    first.terminator = Branch(all_, False, fast, slow, line=line)
    at = made.blocks.index(first) + 1
    made.blocks[at:at] = [fast, slow]


def _once(ssa: Ssa, ops: Iterable[Op]) -> Iterator[Op]:
    """Copies of ops that follow one another; what is made twice is read where it was made first."""
    names, made = dict[Register, Register](), dict[object, Register]()
    for op in ops:
        again = renamed(replace(op), names)
        yield again
        if op.form.effects or op.guard is not None or len(op.destinations) != 1:
            continue
        (register,) = op.destinations
        if register is None or any(_changes(ssa, r) for r in (register, *_read(again))):
            continue
        kind = (
            op.form,
            frozenset(op.binding.items()),
            frozenset(again.sources.items()),
        )
        first = made.setdefault((kind, register.type), register)
        if first is not register:
            names[register] = first


def _changes(ssa: Ssa, register: Register) -> bool:
    """Whether a register may be written at several places, or be read before it is."""
    return ssa.single[register].origin == "undefined"


def _read(op: Op) -> Iterator[Register]:
    return (r for source in op.sources.values() for r in registers_of(source))


def vote(
    made: Function, ahead: Iterable[Op], asked: Iterable[tuple[Register, bool]], line: int
) -> tuple[list[Op], Register]:
    """Ops that give a predicate of the warp: that in all lanes these predicates are as asked for. They begin
    with copies of those that are to be run ahead."""
    ops, names = list[Op](), dict[Register, Register]()
    for op in ahead:
        (old,) = (d for d in op.destinations if d is not None)
        again = renamed(op, names)
        names[old] = _register(made, old.type)
        ops.append(replace(again, destinations=tuple(d and names[d] for d in op.destinations)))
    tests = dict.fromkeys((names.get(p, p), holds) for p, holds in asked)
    sources: list[Source] = [p if holds else Complement(p) for p, holds in tests]
    both = sources[0]
    for source in sources[1:]:
        more = _register(made, PRED)
        ops.append(simple(CUT, PRED, more, {"a": (both, PRED), "b": (source, PRED)}, line))
        both = more
    all_ = _register(made, PRED)
    return [*ops, simple(ALL, PRED, all_, {"a": (both, PRED)}, line)], all_


def _register(made: Function, t: Type) -> Register:
    register = Register(len(made.registers), f"skipped{len(made.registers)}", t)
    made.registers.append(register)
    return register
