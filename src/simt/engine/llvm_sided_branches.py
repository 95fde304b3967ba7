"""Branches on predicates of which scalars tell: see `simt.engine.llvm_sides`."""

from __future__ import annotations

from simt.analysis.program import Block
from simt.engine.llvm_branches import LIKELY
from simt.engine.llvm_builder import Value
from simt.engine.llvm_function import FunctionEmitter
from simt.engine.llvm_sides import Sided, Test


class SidedEmitter(FunctionEmitter):
    """The part of a function that sends all lanes one way where that is plain."""

    def _divergent_branch(self, block: Block, predicate: Value, taken: Block, other: Block) -> None:
        if not isinstance(predicate, Sided):
            return super()._divergent_branch(block, predicate, taken, other)
        ways = [(taken, predicate.every), (other, predicate.none)]
        ways.sort(key=lambda way: self.pending.of_edge(block, way[0]))  # what stands in the loop comes first
        cache = dict(self.cache)
        for target, test in ways:
            self._together(block, target, test)
            self.cache = dict(cache)
        seldom, self.m.seldom = self.m.seldom, True
        super()._divergent_branch(block, self.m.vector(predicate), taken, other)
        self.m.seldom = seldom
        return None

    def _together(self, block: Block, target: Block, test: Test) -> None:
        """All lanes go to a block if the test says so."""
        condition = test()
        if condition == "false":
            return
        together, apart = self.builder.block_name("together"), self.builder.block_name("apart")
        self.builder.void(f"br i1 {condition}, label %{together}, label %{apart}{LIKELY}")
        self.builder.label(together)
        self._jump(block, target)
        self.builder.label(apart)
