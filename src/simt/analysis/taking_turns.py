"""Loops in which the threads of a grid go through arrays side by side.

`for (i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)`: what a warp gets at in
one turn lies far from what it gets at in the next, often by a power of two. A warp that takes all its turns
at once jumps through memory, and what its neighbours need lies in between: neither caches nor what CPUs fetch
ahead are of use. So a warp makes way after each turn, as at a barrier, and the warps of a CTA walk side by
side.

Warps of CTAs of several rows do not lie side by side, and such loops of theirs stay as they are.

Loops through planes, `for (z = 1; z < nz - 1; z++) { ...; b[z * plane + y * nx + x] = ...; }`, are such too,
in CTAs of any shape: a warp that goes through all planes by itself has a few lines in each of many pages.

It is right in kernels without barriers whose threads do not wait for each other: warps run in any order.
Where threads speak with those of their warp (`__shfl_down_sync` behind the loop), lanes that have no further
turn would not wait for the others: see `simt.analysis.turns_of_warps`.
"""

from __future__ import annotations

import math

from simt.analysis.access import Way, plan_of
from simt.analysis.copies import copied, lead
from simt.analysis.evaluate import Evaluator
from simt.analysis.observer import Anything, Observer, Shapes
from simt.analysis.pending import Pending
from simt.analysis.program import Barrier, Block, Branch, Constant, Exit, Function, Op, Special
from simt.analysis.rolled_lines import Line, is_seldom
from simt.analysis.schedule import Loop
from simt.analysis.shape import WARP, BlockShape, Hold, Shape
from simt.analysis.shape_algebra import ShapeAlgebra
from simt.analysis.ssa import Definition, Ssa
from simt.analysis.turns import Turns
from simt.analysis.uniformity import Uniformity
from simt.isa.algebra import Environment
from simt.ptx.types import U32, Type
from simt.records import dataclass, replace

MOST_CARRIED = 1
"""Values that each lane has its own of, other than counters, and takes from turn to turn: they are put aside
and fetched again. With a sum, a least and a greatest number nothing is gained."""
LEAST = 2
"""Accesses: what a loop loads from one array alone is prefetched as well."""
MOST_THROUGH_PLANES = 8
"""The same of loops through planes: neighbours in planes before and behind."""
LEAST_THROUGH_PLANES = 6
"""The same: else what is put aside is as much as what is done in a turn."""
LEAST_DOWN_COLUMNS = 4
"""The same, of loops that only load."""
FAR = 4096
"""The same: from which step on, if it is known, there is another page in each turn."""
NARROW = 8
"""Bytes: a warp whose lanes get at more each has a run of its own that caches and CPUs can follow."""


@dataclass(frozen=True, slots=True)
class Found:
    """What is known of a kernel that is made for CTAs of a shape."""

    kernel: Function
    ssa: Ssa
    uniformity: Uniformity
    pending: Pending
    block: BlockShape
    environment: Environment
    down_columns: bool = False
    """Whether what a loop loads elsewhere in each turn comes late: see `_goes_down_columns`."""


def walking_loops(found: Found) -> list[Loop]:
    """The loops whose turns warps are to take together; none where threads may wait for each other."""
    pending, schedule = found.pending, found.ssa.schedule
    side_by_side = found.block.linear and found.block.warps > 1
    if not side_by_side or pending.barriers or pending.by_number or pending.waiting:
        return []
    outer = {id(loop.parent) for loop in schedule.loops}
    loops = [loop for loop in schedule.loops if id(loop) not in outer and _walks(found, loop)]
    return loops if loops and _has_no_memory_of_ctas(found) else []


def loops_through_planes(found: Found) -> list[Loop]:
    """Loops that all lanes leave together, and in which they load and store rows that in each turn lie far
    on, or further by what is told when the kernel runs. None where threads may wait for each other."""
    pending, schedule = found.pending, found.ssa.schedule
    if found.block.warps == 1 or pending.barriers or pending.by_number or pending.waiting:
        return []
    outer = {id(loop.parent) for loop in schedule.loops}
    loops = [x for x in schedule.loops if id(x) not in outer and _goes_through_planes(found, x)]
    return loops if loops and _has_no_memory_of_ctas(found) else []


def _goes_through_planes(found: Found, loop: Loop) -> bool:
    phis, members = found.ssa.phis.get(loop.header.index, ()), _members(found, loop)
    own = [phi for phi in phis if found.uniformity.shapes[phi].width == WARP]
    return (
        found.uniformity.leaving.isdisjoint(b.index for b in members)
        and not is_seldom(members)
        and len(own) <= MOST_THROUGH_PLANES
        and any(_goes_on(found, phi, loop, FAR) for phi in phis)
        and _only_plain(found, loop)
        and (_gets_at_rows(found, loop, LEAST_THROUGH_PLANES, stores=True) or _goes_down_columns(found, loop))
    )


def _goes_down_columns(found: Found, loop: Loop) -> bool:
    """`for (j = 0; j < rows; j++) sum += a[j * n + i] * x[j];` and the like, once: with a loop around it, or
    threads for other results beside it, a matrix is gone through again, and comes from nearby."""
    once = found.block.linear and loop.parent is None
    return found.down_columns and once and _gets_at_rows(found, loop, LEAST_DOWN_COLUMNS, stores=False)


def _has_no_memory_of_ctas(found: Found) -> bool:
    """Whether a kernel neither calls functions nor uses memory that a worker's CTAs have one after the other:
    warps of other CTAs run before a CTA ends."""
    if found.kernel.shared or found.kernel.local_size:
        return False
    algebra = _Spaces(found.block)
    evaluator: Evaluator[Shape] = Evaluator(algebra, Anything(), found.environment)
    for block in found.ssa.schedule.order:
        for op in block.ops:
            if not isinstance(op, Op):
                return False
            if "memory" in op.form.effects:
                evaluator.op(op)
    return not algebra.spaces & {"shared", "local"}


def _walks(found: Found, loop: Loop) -> bool:
    phis = found.ssa.phis.get(loop.header.index, ())
    own = [phi for phi in phis if found.uniformity.shapes[phi].width == WARP]
    return (
        not is_seldom(_members(found, loop))
        and len(own) <= MOST_CARRIED
        and any(_goes_far(found, phi, loop) for phi in phis)
        and _only_plain(found, loop)
        and _gets_at_rows(found, loop)
    )


def _members(found: Found, loop: Loop) -> list[Block]:
    return found.ssa.schedule.order[loop.first : loop.last + 1]


def _only_plain(found: Found, loop: Loop) -> bool:
    """Whether a loop has neither atomics nor volatile accesses."""
    observer = Observer(found.environment)
    return not any(isinstance(op, Op) and observer.reads(op) for b in _members(found, loop) for op in b.ops)


def _goes_far(found: Found, phi: Definition, loop: Loop) -> bool:
    """Whether a counter grows from lane to lane, and in each turn by what depends on the number of CTAs."""
    return _goes_on(found, phi, loop) and _asks_for_grid(found.ssa, phi)


def _goes_on(found: Found, phi: Definition, loop: Loop, far: float = math.inf) -> bool:
    """Whether a counter grows from lane to lane, and in each turn by what is no known number, or one so
    large."""
    shape = found.uniformity.shapes[phi]
    if shape.width == WARP or not shape.stride:
        return False
    goes_on, step = Turns(found.ssa, found.environment).growth(phi, loop)
    return goes_on and (step is None or abs(step) >= far)


def _asks_for_grid(ssa: Ssa, phi: Definition) -> bool:
    """Whether the number of CTAs is among what a counter is made of."""
    work, seen = [*phi.inputs.values()], set[Definition]()
    while work:
        definition = work.pop()
        if definition in seen:
            continue
        seen.add(definition)
        if isinstance(op := definition.origin, Op):
            work += ssa.read[id(op)].values()
            if any(isinstance(s, Special) and s.name == "nctaid" for s in op.sources.values()):
                return True
    return False


def _gets_at_rows(found: Found, loop: Loop, least: int = LEAST, *, stores: bool | None = None) -> bool:
    """Whether there are accesses to global memory at which lanes lie side by side. `stores`: whether there
    must be stores, or none. Where it stores, code that knows indices' rows is better off when it is tried
    first (`simt.engine.llvm_trial`)."""
    algebra, reader = _Rows(found.block), Shapes(found.uniformity.shapes)
    evaluator: Evaluator[Shape] = Evaluator(algebra, reader, found.environment)
    for block in _members(found, loop):
        for op in block.ops:
            if isinstance(op, Op) and op.form.effects:
                reader.inputs = found.ssa.read[id(op)]
                evaluator.op(op)
    enough = algebra.count >= least and stores in (None, algebra.stores)
    return enough and not (algebra.stores and _has_rows(found, loop))


def _has_rows(found: Found, loop: Loop) -> bool:
    """Whether any index is cut into rows; in a loop that was rolled again, there: before it a compiler's code
    divides to count the turns that are left over."""
    members = _members(found, loop)
    rolled = any(isinstance(op.line, Line) for block in members for op in block.ops)
    rows = (d for d, shape in found.uniformity.shapes.items() if shape.hold == Hold.IN_ROWS)
    return any(not rolled or definition.block in members for definition in rows)


def _end_at_once(kernel: Function) -> None:
    """Lets lanes that a branch leads to the kernel's end have an end of their own, ahead of all that others
    do: a warp none of whose lanes wait elsewhere when it makes way goes on with all of them, and keeps for
    its next turn what is the same for all, or grows from lane to lane, as one number."""
    for block in [*kernel.blocks]:
        branch = block.terminator
        if isinstance(branch, Branch) and not branch.around:
            ends = [
                x for x in (branch.taken, branch.otherwise) if not x.ops and isinstance(x.terminator, Exit)
            ]
            if len(ends) == 1:
                end = Block(len(kernel.blocks), [], replace(ends[0].terminator))
                kernel.blocks.append(end)
                block.terminator = _first_to(end, ends[0], branch)


def _first_to(end: Block, instead_of: Block, branch: Branch) -> Branch:
    """The branch, with another block in place of one of its ways, which is the first one then: that comes
    first in line (`simt.analysis.nesting`)."""
    if instead_of is branch.taken:
        return replace(branch, taken=end)
    return replace(branch, negated=not branch.negated, taken=end, otherwise=branch.taken)


class _Spaces(ShapeAlgebra):
    """Notes state spaces."""

    def __init__(self, block: BlockShape) -> None:
        super().__init__(block)
        self.spaces = set[str]()

    def load(self, t: Type, space: str, address: Shape, count: int, volatile: bool) -> tuple[Shape, ...]:
        self.spaces.add(space)
        return super().load(t, space, address, count, volatile)

    def store(self, t: Type, space: str, address: Shape, values: tuple[Shape, ...], volatile: bool) -> None:
        self.spaces.add(space)

    def atomic(self, op: str, t: Type, space: str, address: Shape, b: Shape, c: Shape | None) -> Shape:
        self.spaces.add(space)
        return super().atomic(op, t, space, address, b, c)


class _Rows(ShapeAlgebra):
    """Counts accesses to global memory at which lanes lie side by side, with a few bytes each."""

    count = 0
    stores = False

    def load(self, t: Type, space: str, address: Shape, count: int, volatile: bool) -> tuple[Shape, ...]:
        self._note(t, space, address, count, stores=False)
        return super().load(t, space, address, count, volatile)

    def store(self, t: Type, space: str, address: Shape, values: tuple[Shape, ...], volatile: bool) -> None:
        self.stores = True
        self._note(t, space, address, len(values), stores=True)

    def _note(self, t: Type, space: str, address: Shape, count: int, *, stores: bool) -> None:
        plan = plan_of(address, t.bytes * count, count, space, self.block, stores=stores, volatile=False)
        rows = plan.way is Way.VECTOR and plan.shape.hold == address.hold
        self.count += rows and space in ("global", "") and t.bytes * count <= NARROW


def taking_turns(kernel: Function, found: Found, loops: list[Loop]) -> Function:
    """The kernel with a barrier after each turn of some of its loops."""
    made = copied(kernel)
    blocks = {b.index: b for b in made.blocks}
    _end_at_once(made)
    for loop in loops:
        header = blocks[loop.header.index]
        turn = Block(len(made.blocks), [], Barrier("sync", Constant(U32, 0), None, header))
        for old in _members(found, loop):
            block = blocks[old.index]
            lead(block, block.successors(), {header: turn})
        made.blocks.append(turn)
    return made
