"""Branches on predicates of which scalars tell: see `simt.engine.llvm_sides`."""

from __future__ import annotations

from simt.analysis.program import Block, Call, Jump, Op, Register
from simt.analysis.ssa import Definition
from simt.engine.llvm_branches import LIKELY
from simt.engine.llvm_builder import Value
from simt.engine.llvm_function import FunctionEmitter
from simt.engine.llvm_sides import Sided, Test

SHORT = 24
"""Instructions of a block that stands a second time, for all lanes."""


class SidedEmitter(FunctionEmitter):
    """The part of a function that sends all lanes one way where that is plain. `parts_at`: the block whose
    branch is being emitted. `twice`: the block that is emitted a second time, where all lanes come to it."""

    parts_at: Block | None = None
    twice: Block | None = None

    def _divergent_branch(self, block: Block, predicate: Value, taken: Block, other: Block) -> None:
        if predicate.literal is not None:  # told ahead of a row of CTAs
            return self._jump(block, taken if predicate.literal else other)
        if not isinstance(predicate, Sided):
            return super()._divergent_branch(block, predicate, taken, other)
        self.parts_at = block
        ways = [(taken, predicate.every), (other, predicate.none)]
        ways.sort(key=lambda way: self.pending.of_edge(block, way[0]))  # what stands in the loop comes first
        cache = dict(self.cache)
        for target, test in ways:
            self._together(block, target, test)
            self.cache = dict(cache)
        seldom, self.m.seldom = self.m.seldom, True
        super()._divergent_branch(block, self.m.vector(predicate), taken, other)
        self.m.seldom, self.parts_at = seldom, None
        return None

    def _together(self, block: Block, target: Block, test: Test) -> None:
        """All lanes go to a block if the test says so."""
        condition = test()
        if condition == "false":
            return
        together, apart = self.builder.block_name("together"), self.builder.block_name("apart")
        self.builder.void(f"br i1 {condition}, label %{together}, label %{apart}{LIKELY}")
        self.builder.label(together)
        if self._is_short(block, target):
            self._run_in_place(block, target)
        else:
            self._jump(block, target)
        self.builder.label(apart)

    def _is_short(self, block: Block, target: Block) -> bool:
        """Whether what a branch leads to is some instructions whose results nobody sees but where it ends."""
        made = (d for op in target.ops for d in self.ssa.of[id(op)] if d is not None)
        return (
            isinstance(target.terminator, Jump)
            and self.ssa.predecessors[target.index] == [block]
            and len(target.ops) <= SHORT
            and not any(isinstance(op, Call) for op in target.ops)
            and self.shared_uses.isdisjoint(made)
            and target.index not in self.anyway
            and self.schedule.loop_of[target.index] is self.schedule.loop_of[block.index]
            and not (self.pending.parting or self.ticks)
        )

    def _run_in_place(self, block: Block, target: Block) -> None:
        """A short block, run by all lanes that ran the block before it: those that wait where it ends, if any
        do, waited there before. (It stands at its own place too, for a part of the lanes.)"""
        (after,) = target.successors()
        if self.representatives[target.index] == target.index:  # blocks behind it may ask for their lanes
            self.slots.store(self.slots.of_block(target.index), self.m.mask)
        current, line, vectors = self.current, self.m.line, self.vectors
        self._begin_again(self.ssa.reaching(target))
        for op in self.coming(target):
            assert isinstance(op, Op)
            self.op(op)
        self.m.settle_members()
        self.m.settle_updates()
        self.settle_late(target)
        self.twice = target
        self._phis(target, {after: self.m.mask})
        self.twice = None
        self._leave(block, {self.pending.of_edge(target, after): self.m.mask})
        self._begin_again(current)
        self.m.line, self.vectors = line, vectors

    def _begin_again(self, current: dict[Register, Definition]) -> None:
        """Nothing that code before this made is known by name: it need not have been run. (The caller has its
        cache of values back.)"""
        self.current, self.cache, self.vectors, self.m.computed = current, {}, {}, {}
        self.m.expect(None)

    def _joins_others(self, phi: Definition, source: Block) -> bool:
        """Lanes that come from this branch are the first where nobody waits: those that come later are
        blended."""
        if self.parts_at is None or source not in (self.parts_at, self.twice):
            return super()._joins_others(phi, source)
        place = self.pending.of_edge(source, phi.block)
        waited = not self._is_plain(place) or self.pending.at[self.parts_at.index] >> place & 1
        return super()._joins_others(phi, source) if waited else phi in self.uniformity.blends
