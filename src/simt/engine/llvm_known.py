"""Blocks of which it is known which lanes run them (`simt.engine.known_lanes`): these lanes, if they are few,
and where they get at in shared memory."""

from __future__ import annotations

from functools import cached_property

from simt.analysis.program import Block, Op, memory_operands
from simt.analysis.range_algebra import Range
from simt.engine.blocks import BEYOND
from simt.engine.known_lanes import KnownLanes
from simt.engine.llvm_few import Few, few_of
from simt.engine.llvm_suspension import SuspendingEmitter


class KnownEmitter(SuspendingEmitter):
    """`SuspendingEmitter` that asks for them, where all warps come to the same barriers."""

    @cached_property
    def _known(self) -> KnownLanes:
        unit, shared = self.unit, self.unit.kernel.shared
        return KnownLanes(
            self.ssa, self.uniformity, self.representatives, unit.block, unit.program.environment,
            lambda symbol: shared[symbol.name] + symbol.offset,
        )  # fmt: skip

    def few_lanes(self, block: Block) -> Few | None:
        if not self.in_step or self._has_initial_mask(block):
            return None
        return few_of(self.m.mask, self._known.of(block))

    def reach_here(self, op: Op) -> Range:
        """Lanes that do not run may read beyond shared memory, where nobody's bytes lie. (Nothing is known of
        a block that is run by warps without lanes, too.)"""
        if not self.in_step or not op.form.moves_memory or self.here.index in self.anyway:
            return super().reach_here(op)
        found = self._known.reach(op, self.here, BEYOND if self._loads_a_vector(op) else 0)
        return super().reach_here(op) if found is None else found

    def _loads_a_vector(self, op: Op) -> bool:
        """Whether lanes load one word after the other."""
        addresses = [self.ssa.read[id(op)][register] for register, _ in memory_operands(op)]
        if len(addresses) != 1 or len(op.destinations) != 1:
            return False
        shape = self.shape(addresses[0])
        return shape.is_affine and shape.stride == op.result_types[0].bytes
