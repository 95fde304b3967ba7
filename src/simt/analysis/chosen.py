"""Branches around a few instructions that only compute, as choices between what both ways give.

`v = v & 1 ? 3 * v + 1 : v / 2` is a branch for some compilers (LLVM 20, which nvcc uses for sm_100). Where
lanes part, both ways are run in any case; masks, blends and branches that CPUs guess wrong take longer than
the instructions do, and what was one block is four for all that looks at blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from simt.analysis.copies import copied, renamed
from simt.analysis.lower_forms import CHOSEN, simple
from simt.analysis.lower_simplify import simplify
from simt.analysis.program import Block, Branch, Constant, Function, Guard, Jump, Op, Register
from simt.analysis.quick import Quick
from simt.analysis.skipped import is_of_indices
from simt.analysis.ssa import Ssa
from simt.analysis.uniformity import Uniformity
from simt.isa.algebra import Environment
from simt.isa.compare import setp
from simt.isa.logic import and_
from simt.ptx.types import PRED
from simt.records import dataclass, replace

MOST_OPS, MOST_BEHIND_BITS = 4, 12
"""Instructions of a way; of one behind a test of bits."""
EQUAL = "eq", "ne"


@dataclass(frozen=True, slots=True)
class _Ways:
    """The ways of a branch from `head` to `end`: the blocks on them, none for the way that leads there at
    once."""

    head: Block
    branch: Branch
    taken: Block | None
    otherwise: Block | None
    end: Block


def with_choices(kernel: Function, ssa: Ssa, uniformity: Uniformity, environment: Environment) -> Function:
    """The kernel with choices in place of such branches; itself, if there are none."""
    quick = Quick(environment)
    bits = _Bits(ssa, uniformity)
    found = [ways for ways in _all_ways(ssa, uniformity, bits) if _are_quick(ways, quick, bits)]
    if not found:
        return kernel
    made = copied(kernel)
    made.registers = [*kernel.registers]
    for ways in found:
        head = made.blocks[ways.head.index]
        head.ops += _Writer(ssa, made.registers).choices(ways)
        head.terminator = Jump(made.blocks[ways.end.index])
    simplify(made)
    return made


def _are_quick(ways: _Ways, quick: Quick, bits: _Bits) -> bool:
    blocks = (block for block in (ways.taken, ways.otherwise) if block is not None)
    ops = (op for block in blocks for op in block.ops)
    return all(isinstance(op, Op) and (bits.is_load(op) or quick.is_quick(op)) for op in ops)


class _Bits:
    """What may be chosen behind a test of bits (`x & 1 << i`): it is as likely as not, so that a warp seldom
    has no lane there. Then numbers that are the same for all lanes may be loaded, too (a matrix of bits whose
    rows are added where a vector has bits): under the branch's predicate, one number each."""

    def __init__(self, ssa: Ssa, uniformity: Uniformity) -> None:
        self.ssa, self.shapes = ssa, uniformity.shapes

    def are_asked_for(self, head: Block) -> bool:
        """Whether a block's branch asks if some bits of a number are set."""
        branch = head.terminator
        assert isinstance(branch, Branch)
        test = self.ssa.read[id(branch)][branch.predicate].origin
        if not isinstance(test, Op) or test.form.meaning is not setp or test.binding.get("cmp") not in EQUAL:
            return False
        zero = any(isinstance(source, Constant) and source.bits == 0 for source in test.sources.values())
        made = [definition.origin for definition in self.ssa.read[id(test)].values()]
        return zero and all(isinstance(op, Op) and op.form.meaning is and_ for op in made)

    def is_load(self, op: Op) -> bool:
        """Whether an op loads what is the same for all lanes."""
        if not op.form.moves_memory or not op.destinations or op.binding.get("volatile"):
            return False
        read = [self.shapes.get(definition) for definition in self.ssa.read[id(op)].values()]
        return all(shape is not None and shape.is_uniform for shape in read)

    def are_few(self, head: Block, way: Block) -> bool:
        """Whether a way has nothing but few ops that may be chosen."""
        bits = self.are_asked_for(head)
        ops = [op for op in way.ops if isinstance(op, Op) and op.guard is None]
        plain = all(not op.form.effects or (bits and self.is_load(op)) for op in ops)
        return plain and len(ops) == len(way.ops) <= (MOST_BEHIND_BITS if bits else MOST_OPS)


def _all_ways(ssa: Ssa, uniformity: Uniformity, bits: _Bits) -> Iterator[_Ways]:
    """Of branches that part lanes by other than their indices: by these, neighbours mostly go one way, and
    scalars tell that (`simt.engine.llvm_sides`)."""
    for head in ssa.schedule.order:
        branch = head.terminator
        if head.index not in uniformity.divergent or not isinstance(branch, Branch) or branch.around:
            continue
        if is_of_indices(ssa, uniformity.shapes, ssa.read[id(branch)][branch.predicate]):
            continue
        taken, otherwise = branch.taken, branch.otherwise
        after, after_other = _after(ssa, head, taken, bits), _after(ssa, head, otherwise, bits)
        if after is not None and after in (otherwise, after_other):
            yield _Ways(head, branch, taken, None if after is otherwise else otherwise, after)
        elif after_other is taken:
            yield _Ways(head, branch, None, otherwise, taken)


def _after(ssa: Ssa, head: Block, way: Block, bits: _Bits) -> Block | None:
    """Where a block leads that is short, only computes (of what it may load), and to which a branch alone
    leads, in its loop."""
    jump, loop_of = way.terminator, ssa.schedule.loop_of
    if not isinstance(jump, Jump) or jump.gate or ssa.predecessors[way.index] != [head]:
        return None
    return jump.target if bits.are_few(head, way) and loop_of[way.index] is loop_of[head.index] else None


class _Writer:
    """Writes both ways one after the other, each on registers of its own, and the choices."""

    def __init__(self, ssa: Ssa, registers: list[Register]) -> None:
        self.ssa, self.registers = ssa, registers
        self.ops: list[Op] = []

    def choices(self, ways: _Ways) -> list[Op]:
        branch, sides = ways.branch, (ways.taken, ways.otherwise)
        guards = (Guard(branch.predicate, branch.negated != other) for other in (False, True))
        names = [self._way(side, guard) for side, guard in zip(sides, guards, strict=True)]
        brought = [ways.head.index if side is None else side.index for side in sides]
        chosen = list[Op]()
        for phi in self.ssa.phis.get(ways.end.index, ()):
            if phi.inputs[brought[0]] is not phi.inputs[brought[1]]:
                given = [found.get(phi.register, phi.register) for found in names]
                chosen.append(_choice(phi.register, branch, *given[:: -1 if branch.negated else 1]))
        chosen.sort(key=lambda op: op.destinations[0] is branch.predicate)  # it is read until then
        return [*self.ops, *chosen]

    def _way(self, block: Block | None, guard: Guard) -> dict[Register, Register]:
        """The registers that have what a way writes, by those that it is written for. `guard`: of the lanes
        that go that way, which alone load."""
        names = dict[Register, Register]()
        for op in () if block is None else cast("list[Op]", block.ops):
            again = renamed(op, names)
            names |= {d: self._register(d) for d in op.destinations if d is not None}
            written = tuple(None if d is None else names[d] for d in op.destinations)
            self.ops.append(replace(again, destinations=written, guard=guard if op.form.effects else None))
        return names

    def _register(self, like: Register) -> Register:
        made = Register(len(self.registers), f"{like.name}.way{len(self.registers)}", like.type)
        self.registers.append(made)
        return made


def _choice(d: Register, branch: Branch, a: Register, b: Register) -> Op:
    sources = {"a": (a, d.type), "b": (b, d.type), "c": (branch.predicate, PRED)}
    return simple(CHOSEN, d.type, d, sources, branch.line)
