"""Accesses under guards that nearly always hold, a second time without.

`@%p1 ld.global.b32 %r1, [%rd]; @%p2 ld.global.b32 %r2, [%rd+4];`: where the length of an array is no multiple
of what a thread has of it, Triton puts a guard before each word: that its index is below the length. Each
access asks for its own lanes then, and nothing can be said of the words together. So accesses that follow
one another at constant distances from one address stand twice: where all lanes that run have all guards,
they have none, and get at members of a structure (`simt.engine.llvm_members`, `llvm_following`). Other warps,
mostly the last one, go through them as they were, in short code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from simt.analysis.copies import copied
from simt.analysis.lower_forms import ALL, CUT, simple
from simt.analysis.program import Block, Branch, Call, Function, Jump, Op, Register, memory_operands
from simt.analysis.rolled_lines import Seldom, is_seldom
from simt.analysis.shape import Shape
from simt.analysis.ssa import Definition, Ssa
from simt.ptx.types import PRED, Type
from simt.records import dataclass, replace

FEWEST = 2
"""Accesses that are worth it."""
BETWEEN = 8
"""Instructions between two of them."""
DEEPEST = 4
"""Predicates of predicates."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a block: from its first access under a guard to its last one. `guards`: the predicates."""

    block: Block
    first: int
    last: int
    guards: tuple[Register, ...]


def guarded_parts(ssa: Ssa, shapes: Mapping[Definition, Shape]) -> list[Part]:
    """Such parts, in the order of their blocks."""
    finder = _Finder(ssa, shapes)
    blocks = [b for b in ssa.schedule.order if any(map(_is_guarded, b.ops)) and not is_seldom((b,))]
    return [part for block in blocks for part in finder.parts(block)]


def _is_guarded(op: Op | Call) -> bool:
    if not isinstance(op, Op) or op.guard is None or op.guard.negated:
        return False
    return op.form.moves_memory and op.binding.get("space") == "global"


class _Finder:
    def __init__(self, ssa: Ssa, shapes: Mapping[Definition, Shape]) -> None:
        self.ssa = ssa
        self.shapes = shapes

    def parts(self, block: Block) -> Iterator[Part]:
        run, known = list[int](), object()
        for place, op in enumerate([*block.ops, None]):
            if op is not None and not _acts(op) and (not run or place - run[-1] <= BETWEEN):
                continue
            kind = self._kind(op) if op is not None else None
            if not run or kind is None or kind != known or self._makes_guards(block, run[0], place):
                yield from self._part(block, run)
                run = []
            if kind is not None:
                run, known = [*run, place], kind

    def _kind(self, op: Op | Call) -> object:
        """What accesses have in common that follow one another; None of others."""
        if not isinstance(op, Op) or not _is_guarded(op) or not self._is_of_index(op):
            return None
        places = [self.ssa.read[id(op)][register] for register, _ in memory_operands(op)]
        if len(places) != 1 or not self._is_apart(places[0], op):
            return None
        return places[0], op.form, frozenset(op.binding.items())

    def _is_apart(self, address: Definition, op: Op) -> bool:
        """Whether there is room for others between what two lanes get at."""
        shape, kind = self.shapes.get(address), op.binding.get("type")
        if shape is None or not isinstance(kind, Type):
            return False
        return self._is_even(shape) and shape.stride > kind.bits // 8

    def _is_of_index(self, op: Op) -> bool:
        assert op.guard is not None
        return self._compares(self.ssa.read[id(op)][op.guard.register], DEEPEST)

    def _compares(self, predicate: Definition, deep: int) -> bool:
        """Whether a predicate is made of comparisons of what grows from lane to lane, or all lanes have."""
        op = predicate.origin
        if not isinstance(op, Op) or op.form.effects or op.guard is not None or deep == 0:
            return False
        return all(
            self._compares(d, deep - 1) if d.register.type.is_predicate else self._is_even(self.shapes.get(d))
            for d in self.ssa.read[id(op)].values()
        )

    def _is_even(self, shape: Shape | None) -> bool:
        return shape is not None and (shape.is_affine or shape.is_guarded)

    def _makes_guards(self, block: Block, first: int, place: int) -> bool:
        """Whether the guard of an access is not there yet where the first one is."""
        op = block.ops[place] if place < len(block.ops) else None
        if not isinstance(op, Op) or op.guard is None:
            return False
        made = {d for between in block.ops[first:place] for d in self.ssa.of[id(between)]}
        return self.ssa.read[id(op)][op.guard.register] in made

    def _part(self, block: Block, run: Sequence[int]) -> Iterator[Part]:
        if len(run) >= FEWEST:
            ops = (block.ops[place] for place in run)
            guards = dict.fromkeys(op.guard.register for op in ops if isinstance(op, Op) and op.guard)
            yield Part(block, run[0], run[-1], tuple(guards))


def _acts(op: Op | Call) -> bool:
    """Whether an op does anything but to compute."""
    return isinstance(op, Call) or bool(op.form.effects)


def without_guards(kernel: Function, parts: Sequence[Part]) -> Function:
    """The kernel with these parts standing twice."""
    made = copied(kernel)
    made.registers = [*kernel.registers]
    blocks = {b.index: b for b in made.blocks}
    for part in reversed(parts):
        _write(made, blocks[part.block.index], part)
    for index, block in enumerate(made.blocks):
        block.index = index
    return made


def _write(made: Function, block: Block, part: Part) -> None:
    ops = block.ops
    rest = Block(0, ops[part.last + 1 :], block.terminator)
    twice = [op for op in ops[part.first : part.last + 1] if isinstance(op, Op)]
    fast = Block(0, [_unguarded(op) for op in twice], Jump(rest))
    slow = Block(0, [replace(op, line=Seldom(op.line)) for op in twice], Jump(rest))
    line = twice[0].line
    tests, all_ = _tests(made, part.guards, line)
    block.ops = [*ops[: part.first], *tests]
    block.terminator = Branch(all_, False, fast, slow, line=line)
    at = made.blocks.index(block) + 1
    made.blocks[at:at] = [fast, slow, rest]


def _unguarded(op: Op) -> Op:
    """An access without its guard. What else has one keeps it: its predicate may be another by then."""
    return replace(op, guard=None) if _acts(op) else replace(op)


def _tests(made: Function, guards: Sequence[Register], line: int) -> tuple[list[Op], Register]:
    """Ops that give a predicate of the warp: that all lanes have all guards."""
    ops, both = list[Op](), guards[0]
    for guard in guards[1:]:
        more = _predicate(made)
        ops.append(simple(CUT, PRED, more, {"a": (both, PRED), "b": (guard, PRED)}, line))
        both = more
    all_ = _predicate(made)
    return [*ops, simple(ALL, PRED, all_, {"a": (both, PRED)}, line)], all_


def _predicate(made: Function) -> Register:
    register = Register(len(made.registers), f"guards{len(made.registers)}", PRED)
    made.registers.append(register)
    return register
