"""Which loops of a function lanes go through alone, and when: see `simt.engine.llvm_alone`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING

from simt.analysis.access import ALIKE, NEAR, is_spread
from simt.analysis.chasing import chases
from simt.analysis.dominance import Tree, dominators
from simt.analysis.observer import Observer
from simt.analysis.program import Block, Branch, Call, Op, memory_operands
from simt.analysis.rolled_lines import Line, Seldom
from simt.analysis.schedule import Loop
from simt.analysis.shape import WARP, Shape
from simt.engine.llvm_builder import Value
from simt.engine.llvm_lanes import ALL
from simt.engine.llvm_prefetch import LINE
from simt.imports import Later
from simt.ptx.types import Type

if TYPE_CHECKING:
    from simt.analysis import skipped
    from simt.engine import (
        llvm_alone,
        llvm_alone_algebra,
        llvm_alone_chunks,
        llvm_alone_rows,
        llvm_alone_short,
    )
    from simt.engine.llvm_function import FunctionEmitter
else:
    skipped = Later("simt.analysis.skipped")
    llvm_alone = Later("simt.engine.llvm_alone")
    llvm_alone_algebra = Later("simt.engine.llvm_alone_algebra")
    llvm_alone_chunks = Later("simt.engine.llvm_alone_chunks")
    llvm_alone_rows = Later("simt.engine.llvm_alone_rows")
    llvm_alone_short = Later("simt.engine.llvm_alone_short")

FEW, FEW_GATHERED = 16, 24
"""Lanes that go on alone, at most; through a loop that does little but get at memory lane by lane."""
FEW_WITHOUT_GATHERS, FEW_GATHERED_IN_LINES = 24, WARP
"""The same on CPUs whose gathers are no faster than loads of each lane; the latter on all CPUs, where each
lane goes on through memory of its own."""
FEW_CHASING = 12
"""The same, where what a turn loads tells where the next one loads (8 to 16 by measurement on a Zen 4)."""
GATHERED = 5
"""Such a loop: of so many ops at least one gets at memory lane by lane."""
OF_HALVES = 8
"""As many other ops arithmetic of halves counts."""
FEW_OWN, OWN_LOOPS = 4, 4
"""The same through a loop that only walks through arrays of their own, in local memory; such loops of one
function above which there is no code for that (an unrolled sort)."""
BRANCHES_FOR_ALL = 8
"""Branches that part lanes from which on all go alone through a loop with loops in it that does little but
get at memory lane by lane, unless they chase: together they wait for all their words at once."""
MANY_BRANCHES, FEW_OWN_PARTING, FEW_NESTED_PARTING = 5, 20, 8
"""Branches of a loop that part lanes from which on more go alone: together all of them go all the ways; and
how many do, in place of `FEW_OWN` and of `FEW_NESTED_BUSY`."""
FEW_NESTED, FEW_NESTED_BUSY = 16, 4
"""The same through a loop with loops in it; one that does much else than to get at memory lane by lane."""
GATHERED_NESTED = 10
"""That is less than one op in so many, those of inner loops counted for each of their turns."""
SERVED_NESTED = 6
"""A loop with loops in it in which one op in so many serves lanes one by one in any case: all go alone. Each
finds what those before it have done (a set's root is near), and none waits for others to end their turns."""
FEW_PARTED, FEW_PARTED_GATHERED = 4, 8
"""The same through a loop that all leave together, if they have parted before; through one that does little
but get at memory lane by lane."""
LONGEST = 400
"""Ops of a loop above which it is not doubled."""
LONGEST_NESTED = 200
"""Ops of a loop with loops in it above which it is not doubled: what is in inner ones may be already."""


def _weight(op: Op | Call) -> int:
    """As how many ops one counts: arithmetic of halves is done by several instructions, for one lane as for
    many of them."""
    kind = op.binding.get("type") if isinstance(op, Op) else None
    return OF_HALVES if isinstance(kind, Type) and "f16" in kind.name else 1


class AloneLoops:
    """The loops of a function that lanes may go through alone; `decided`: by their headers' indices. `whole`:
    code for the whole warp is wanted too where no warp comes to it, to be looked at."""

    whole = False

    def __init__(self, emitter: FunctionEmitter) -> None:
        self.emitter = emitter
        self.decided: dict[int, bool] = {}
        self.rows: dict[int, bool] = {}
        self.chunks: dict[int, bool] = {}
        self.returning = set[int]()  # headers of those from which all lanes may come back to go together

    def _begun(self, header: Block) -> Loop | None:
        """The loop that a block is the header of, if lanes may go through it alone."""
        loop = self.emitter.schedule.loop_of[header.index]
        return None if loop is None or loop.header is not header or self.emitter.unit.large else loop

    def try_few(self, header: Block, mask: Value) -> bool:
        """Sends lanes that begin a turn of a loop to go through it one by one, if they are few; whether no
        other code for them is needed."""
        if self._leaves_out(header):
            self.emitter.builder.void("unreachable")
            return True
        loop = self._begun(header)
        if loop is None or not self.has_code(loop):
            return False
        m, few = self.emitter.m, self._few(loop)
        if few < WARP and mask.ir == ALL:
            return False
        bits = m.mask_bits(mask).ir
        if few < WARP:
            self._go_alone_if_few(loop, bits, few)
            return False
        if self.is_all(header):
            self._send(f"alone.{loop.header.index}", bits)
            return True
        self._go_alone(loop, bits, "true")
        return False

    def _go_alone_if_few(self, loop: Loop, bits: str, most: int) -> None:
        builder = self.emitter.builder
        count = self.emitter.m.module.declare("llvm.ctpop.i32", "i32", ("i32",))
        lanes = builder.emit(f"call i32 {count}(i32 {bits})")
        self._go_alone(loop, bits, builder.emit(f"icmp ule i32 {lanes}, {most}"))

    def _go_alone(self, loop: Loop, bits: str, condition: str) -> None:
        """Sends lanes to go through a loop one by one, if a condition holds."""
        self._go(f"alone.{loop.header.index}", bits, condition)

    def _go(self, label: str, bits: str, condition: str) -> None:
        builder = self.emitter.builder
        begin, together = builder.block_name("few"), builder.block_name("together")
        builder.void(f"br i1 {condition}, label %{begin}, label %{together}")
        builder.label(begin)
        self._send(label, bits)
        builder.label(together)

    def _send(self, label: str, bits: str) -> None:
        self.emitter.builder.void(f"store i32 {bits}, ptr %{label}.lanes")
        self.emitter.builder.void(f"br label %{label}")

    def _few(self, loop: Loop) -> int:
        """Lanes that go on alone, at most."""
        if self._has_inner(loop):
            if self._is_often(self._is_served_apart, loop, SERVED_NESTED):
                return WARP
            mostly_apart = self._is_often(self._is_lane_by_lane, loop, GATHERED_NESTED)
            if mostly_apart:
                parts = self._branches(loop) >= BRANCHES_FOR_ALL and not self._has_chase(loop)
                return WARP if parts else FEW_NESTED
            return FEW_NESTED_BUSY if self._branches(loop) < MANY_BRANCHES else FEW_NESTED_PARTING
        if self._is_own(loop):
            return FEW_OWN if self._branches(loop) < MANY_BRANCHES else FEW_OWN_PARTING
        if self._is_gathered(loop):
            if not self.emitter.m.has_gathers and chases(self.emitter.ssa, loop.header, self._blocks(loop)):
                return FEW_CHASING
            in_lines = not self.emitter.m.has_gathers or self._goes_on_in_lines(loop)
            return FEW_GATHERED_IN_LINES if in_lines and not self._may_end_at_once(loop) else FEW_GATHERED
        return FEW if self.emitter.m.has_gathers else FEW_WITHOUT_GATHERS

    def _branches(self, loop: Loop) -> int:
        """How many branches of a loop part lanes."""
        return sum(block.index in self.emitter.uniformity.divergent for block in self._blocks(loop))

    def _is_gathered(self, loop: Loop) -> bool:
        """Whether the loop does little but get at memory lane by lane. Shared memory does not count: words
        of it are looked up in registers, and its atomic operations are done one by one in any case."""
        ops = self._ops(loop)
        outside = [op for op in ops if isinstance(op, Op) and op.binding.get("space") != "shared"]
        return GATHERED * sum(map(self._scatters, outside)) >= sum(map(_weight, ops))

    def _goes_on_in_lines(self, loop: Loop) -> bool:
        """Whether each lane goes on through memory of its own, so that many of its turns find their words in
        one line of a CPU's cache: by steps that are known, wherever loads and stores are lane by lane.
        (Atomic operations are done one by one in any case.)"""
        plain = [op for op in self._ops(loop) if isinstance(op, Op) and op.form.moves_memory]
        steps = (self._step(op, loop) for op in plain if self._scatters(op))
        return all(step is not None and abs(step) < LINE for step in steps)

    def _may_end_at_once(self, loop: Loop) -> bool:
        """Whether a loop of atomic operations alone has a way out before them (`while (old < value)`):
        together, lanes find out faster which of them take it."""
        inside = {block.index for block in self._blocks(loop)}
        leaves = any(after.index not in inside for after in loop.header.successors())
        looks = any(isinstance(op, Call) or "memory" in op.form.effects for op in loop.header.ops)
        moves = any(isinstance(op, Call) or op.form.moves_memory for op in self._ops(loop))
        return leaves and not looks and not moves

    def _step(self, op: Op, loop: Loop) -> int | None:
        """By how many bytes an op's address goes on in each turn of a loop."""
        read = self.emitter.ssa.read[id(op)]
        steps = {self.emitter.turns.step(read[base], loop) for base, _ in memory_operands(op)}
        return steps.pop() if len(steps) == 1 else None

    def _is_often(self, is_so: Callable[[Op | Call], bool], loop: Loop, of: int) -> bool:
        """Whether one op in so many of a loop is such, those of inner loops counted for each turn."""
        turns = [self.emitter.schedule.turns(block) for block in self._blocks(loop) for _ in block.ops]
        return of * sum(compress(turns, map(is_so, self._ops(loop)))) >= sum(turns)

    def _is_served_apart(self, op: Op | Call) -> bool:
        """Whether lanes are served one by one even if they go together: atomic operations, volatile loads."""
        return isinstance(op, Op) and self._scatters(op) and self._observer.reads(op)

    @cached_property
    def _observer(self) -> Observer:
        return Observer(self.emitter.unit.program.environment)

    def _has_chase(self, loop: Loop) -> bool:
        """Whether what a turn loads tells where the next one loads, in a loop or in one within it."""
        inner = (x for x in self.emitter.schedule.loops if loop.first <= x.first and x.last <= loop.last)
        return any(chases(self.emitter.ssa, x.header, self._blocks(x)) for x in inner)

    def _has_inner(self, loop: Loop) -> bool:
        """Whether there are loops in a loop."""
        return any(inner.parent is loop for inner in self.emitter.schedule.loops)

    def _blocks(self, loop: Loop) -> list[Block]:
        return self.emitter.schedule.order[loop.first : loop.last + 1]

    def _ops(self, loop: Loop) -> list[Op | Call]:
        return [op for block in self._blocks(loop) for op in block.ops]

    # -- chunks side by side: see `simt.engine.llvm_alone_chunks` -----------------------------------------

    def try_chunks(self, header: Block, mask: Value) -> None:
        """Sends a whole warp that comes to a loop to go through the chunks of all lanes as one."""
        loop = self._begun(header)
        if loop is not None and self._has_chunks(loop):
            bits = self.emitter.m.mask_bits(mask).ir
            self._go(f"chunks.{header.index}", bits, self.emitter.builder.emit(f"icmp eq i32 {bits}, -1"))

    def _has_chunks(self, loop: Loop) -> bool:
        header = loop.header.index
        if header not in self.chunks:
            leaves = header in self.emitter.uniformity.leaving  # others have rows, and code enough
            suits = leaves and len(self._blocks(loop)) == 1 and self._may_part(loop)
            suits = suits and any(map(self._stores_apart, self._ops(loop)))
            self.chunks[header] = suits and self._is_emitted(llvm_alone_chunks.ChunkLoop, loop)
        if self.chunks[header]:
            self.emitter.part()
        return self.chunks[header]

    def _stores_apart(self, op: Op | Call) -> bool:
        """Whether an op stores words that are not those beside each other, nor one for all lanes."""
        if isinstance(op, Call) or not isinstance(t := op.binding.get("type"), Type):
            return False
        return any(s.width == WARP or abs(s.stride) > t.bits // 8 for s in self._stored(op))

    # -- loops that all lanes leave together: see `simt.engine.llvm_alone_rows` ---------------------------

    def try_rows(self, header: Block, mask: Value) -> None:
        """Sends lanes that come to a loop to go through it one by one, if each stores to a row of its own, or
        there is but one lane."""
        loop = self._begun(header)
        if loop is None:
            return
        if self._has_own_rows(loop):
            if self._has_rows(loop, llvm_alone_rows.RowLoop):
                self._go_alone(loop, self.emitter.m.mask_bits(mask).ir, "true")
        elif self._is_for_one(loop):
            bits, builder = self.emitter.m.mask_bits(mask).ir, self.emitter.builder
            below = builder.emit(f"sub i32 {bits}, 1")
            others = builder.emit(f"and i32 {bits}, {below}")
            self._go_alone(loop, bits, builder.emit(f"icmp eq i32 {others}, 0"))
        elif mask.ir != ALL and self._is_for_few(loop) and self._has_rows(loop, llvm_alone_rows.FewLoop):
            most = FEW_PARTED_GATHERED if self._is_gathered(loop) else FEW_PARTED
            self._go_alone_if_few(loop, self.emitter.m.mask_bits(mask).ir, most)

    def _is_for_one(self, loop: Loop) -> bool:
        """Whether lanes go through a loop one by one where there is but one of them."""
        stores = any(shape.is_uniform for shape in self._all_stored(loop))
        return stores and self._has_rows(loop, llvm_alone_rows.OneLaneLoop)

    def goes_by_rows(self, loop: Loop) -> bool:
        """Whether lanes go through a loop one by one, as each stores to a row of its own."""
        return self._has_own_rows(loop) and self._has_rows(loop, llvm_alone_rows.RowLoop)

    def _has_own_rows(self, loop: Loop) -> bool:
        return any(map(self._is_apart, self._all_stored(loop))) and self._is_gathered(loop)

    def _all_stored(self, loop: Loop) -> list[Shape]:
        return [shape for op in self._ops(loop) for shape in self._stored(op)]

    def _is_for_few(self, loop: Loop) -> bool:
        """Whether lanes get at memory one by one in a loop, and have parted before it by what memory holds.
        (By indices, those of most warps go one way.)"""
        emitter, header = self.emitter, loop.header.index
        if not any(map(self._scatters, self._ops(loop))):
            return False
        for block in emitter.schedule.order[: loop.first]:
            branch, around = block.terminator, emitter.schedule.loop_of[block.index]
            if block.index not in emitter.uniformity.divergent or not isinstance(branch, Branch):
                continue
            leads = around is None or around.first <= loop.first <= around.last
            parts = emitter.representatives[block.index] != emitter.representatives[header]
            predicate = emitter.ssa.read[id(branch)][branch.predicate]
            by_index = skipped.is_of_indices(emitter.ssa, emitter.uniformity.shapes, predicate)
            if leads and parts and not by_index and self.dominance.dominates(block.index, header):
                return True
        return False

    def _has_rows(self, loop: Loop, kind: type[llvm_alone_rows.TogetherLoop]) -> bool:
        header = loop.header.index
        if header not in self.rows:
            leaves = header in self.emitter.uniformity.leaving
            suits = not leaves and not self._has_inner(loop) and self._may_part(loop)
            self.rows[header] = suits and self._is_emitted(kind, loop)
        if self.rows[header]:
            self.emitter.part()
        return self.rows[header]

    def _stored(self, op: Op | Call) -> list[Shape]:
        """Shapes of the addresses at which an op stores, in memory that others see."""
        if isinstance(op, Call) or op.destinations or op.binding.get("space") in ("local", ALIKE, "shared"):
            return []
        return self._addresses(op) if op.form.moves_memory else []

    # ----------------------------------------------------------------------------------------------------

    def is_all(self, block: Block) -> bool:
        """Whether the code for lanes one by one is all that there is to be of a block: all lanes go there,
        and no other block of the function looks for this one's."""
        return self._all_around(block) is not None

    def _leaves_out(self, block: Block) -> bool:
        """Whether no lanes come to a block but those that go one by one through a loop around it."""
        loop = self._all_around(block)
        return loop is not None and loop.header is not block

    def _all_around(self, block: Block) -> Loop | None:
        """The outermost loop around a block that has no other code."""
        loop, around = self.emitter.schedule.loop_of[block.index], list[Loop]()
        while loop is not None:
            around.append(loop)
            loop = loop.parent
        return next(filter(self._is_all, reversed(around)), None)

    def _is_all(self, loop: Loop) -> bool:
        if self.whole or self.emitter.unit.large or self.emitter.deep:
            return False
        if not self.has_code(loop) or loop.header.index in self.returning or self._few(loop) < WARP:
            return False
        inside = {b.index for b in self._blocks(loop)}
        found = self.emitter.representatives.items()
        first = self.emitter.schedule.order[0].index
        return first not in inside and not any(r in inside for b, r in found if b not in inside)

    def has_code(self, loop: Loop) -> bool:
        """Whether the loop has code for one lane at a time."""
        header = loop.header.index
        if header not in self.decided:
            self.decided[header] = self._suits_one(loop)  # its code may ask for it
            if self.decided[header]:
                self.decided[header] = self._emit_alone(loop)
        return self.decided[header]

    def is_scattered(self, loop: Loop) -> bool:
        """Whether each lane of the loop gets at memory of its own: few go through it alone, or it does little
        else than that."""
        if self._has_inner(loop) or self._is_own(loop):
            return False
        return self.has_code(loop) or (self._suits_one(loop) and self._is_gathered(loop))

    def _suits_one(self, loop: Loop) -> bool:
        """Whether lanes leave the loop by degrees, and get at memory one by one in it."""
        leaves = loop.header.index in self.emitter.uniformity.leaving
        if not leaves or not self._may_part(loop) or not any(map(self._is_lane_by_lane, self._ops(loop))):
            return False
        return not self._is_own(loop) or self._own_loops <= OWN_LOOPS

    def _is_own(self, loop: Loop) -> bool:
        """Whether lanes get at nothing lane by lane in a loop without inner ones but their own arrays."""
        return not self._has_inner(loop) and not any(map(self._scatters, self._ops(loop)))

    @cached_property
    def _own_loops(self) -> int:
        """Loops of the function that lanes leave by degrees, and that are so."""
        leaving = self.emitter.uniformity.leaving
        loops = (x for x in self.emitter.schedule.loops if x.header.index in leaving)
        return sum(self._is_own(x) and any(map(self._is_lane_by_lane, self._ops(x))) for x in loops)

    def _may_part(self, loop: Loop) -> bool:
        """Whether nothing in a loop may need other lanes, and its code may stand twice."""
        if any(self._is_within(waiting, loop) for waiting in self.emitter.pending.waiting):
            return False
        if self.emitter.ticks is not None:  # which counts what the warp executes, not each lane
            return False
        lines = [op.line for op in self._ops(loop)]
        if any(isinstance(x, Seldom) or (isinstance(x, Line) and x.single) for x in lines):
            return False
        return len(self._ops(loop)) <= (LONGEST_NESTED if self._has_inner(loop) else LONGEST)

    def _is_within(self, inner: Loop, loop: Loop) -> bool:
        return loop.first <= inner.first <= inner.last <= loop.last

    @property
    def has_scattered(self) -> bool:
        """Whether anything in the function gets at memory lane by lane."""
        return any(self._scatters(op) for block in self.emitter.schedule.order for op in block.ops)

    def _scatters(self, op: Op | Call) -> bool:
        """Whether nothing is known of the addresses that an op gets at, or lanes are that far apart that they
        are gathered or served one by one. Local memory does not count: many lanes that only walk through
        arrays of their own are faster together (a heap of 16 words)."""
        if isinstance(op, Call) or not op.form.effects or op.binding.get("space") == "local":
            return False
        return any(self._is_apart(shape) and not self._is_picked(op, shape) for shape in self._addresses(op))

    def _is_picked(self, op: Op, shape: Shape) -> bool:
        """Whether an op loads what is picked out of few registers, at addresses of a shape."""
        loads = op.form.moves_memory and len(op.destinations) == 1
        return loads and is_spread(shape, op.result_types[0].bytes, 1, self.emitter.m.picks)

    def _is_lane_by_lane(self, op: Op | Call) -> bool:
        """The same, where local memory counts: lanes that may be at different places of their arrays."""
        if isinstance(op, Call) or op.binding.get("space") != "local" or not op.form.moves_memory:
            return self._scatters(op)
        return any(self._is_apart(shape) or not shape.exact for shape in self._addresses(op))

    def _addresses(self, op: Op) -> list[Shape]:
        read = self.emitter.ssa.read[id(op)]
        return [self.emitter.shape(read[base]) for base, _ in memory_operands(op)]

    def _is_apart(self, shape: Shape) -> bool:
        return shape.width == WARP or abs(shape.stride) > NEAR

    def _emit_alone(self, loop: Loop) -> bool:
        """Emits the loop's code, to stand after the blocks; False if one lane cannot do it."""
        if self._is_emitted(llvm_alone.AloneLoop, loop):
            return True
        self.returning.add(loop.header.index)
        return self._few(loop) == WARP and self._is_emitted(llvm_alone_short.ShortLoop, loop)

    def _is_emitted(self, kind: type[llvm_alone.AloneLoop], loop: Loop) -> bool:
        with self.emitter.set_aside() as lines:
            try:
                kind(self.emitter, loop, self.dominance).emit()
            except llvm_alone_algebra.NotAlone:
                lines.clear()
        self.emitter.later += lines
        return bool(lines)

    @cached_property
    def dominance(self) -> Tree:
        return Tree(dominators(self.emitter.schedule))
