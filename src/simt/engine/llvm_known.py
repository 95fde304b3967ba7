"""Blocks of which it is known which lanes run them (`simt.engine.known_lanes`): these lanes, if they are few,
and where they get at in shared memory."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from simt.analysis.access import is_proven
from simt.analysis.program import Barrier, Block, Op, memory_operands
from simt.analysis.range_algebra import Range
from simt.analysis.remade import branches_of_thread
from simt.analysis.shape import HALF
from simt.engine.abi import BEYOND
from simt.engine.llvm_builder import Value
from simt.engine.llvm_few import Few, few_of
from simt.engine.llvm_suspension import SuspendingEmitter
from simt.imports import import_whole

if TYPE_CHECKING:
    from simt.engine.known_lanes import KnownLanes
    from simt.engine.llvm_phases import Phase


class KnownEmitter(SuspendingEmitter):
    """`SuspendingEmitter` that asks for them, where all warps come to the same barriers."""

    @cached_property
    def _known(self) -> KnownLanes | None:
        """None if no branch leaves lanes that are known."""
        unit, shared = self.unit, self.unit.kernel.shared
        asks = self.in_step or (bool(shared) and not (self.waits or unit.large))
        facts = branches_of_thread(self.ssa, self.uniformity) if asks else None
        if not facts:
            return None
        import_whole("simt.engine.known_lanes")
        from simt.engine.known_lanes import KnownLanes  # few kernels ask: start-up time

        return KnownLanes(
            self.ssa, self.uniformity, self.representatives, facts, unit.block,
            unit.program.environment, lambda symbol: shared[symbol.name] + symbol.offset,
        )  # fmt: skip

    latest: tuple[Block, Value, Few | None] | None = None
    """What `few_lanes` gave for a block and its mask: each access asks again."""

    def few_lanes(self, block: Block, mask: Value) -> Few | None:
        latest = self.latest
        if latest is None or latest[0] is not block or latest[1] is not mask:
            known = None if self._has_initial_mask(block) else self._known
            few = None if known is None else few_of(mask, known.of(block), self.unit.ops)
            latest = self.latest = block, mask, few or self._threads_of(mask)
        return latest[2]

    def _threads_of(self, mask: Value) -> Few | None:
        """Those of a CTA of half a warp."""
        threads = self.unit.block.threads
        return Few(mask, tuple(range(threads)), False, False) if threads <= HALF else None

    def busy_warps(self, phase: Phase) -> int:
        """How many warps from the first on may have an effect in a phase, in which no other one leaves
        anything behind; at least one, which tells where they go on."""
        warps, known = self.unit.block.warps, self._known
        if known is None or self.ticks is not None or phase.yields or phase.saves:
            return warps
        labels = {self.label(block): block for block in self.schedule.order}
        blocks = [labels[label] for label in phase.blocks if label in labels]
        return max([1, *(known.of(block).warps for block in blocks if _has_effect(block))])

    def reach_here(self, op: Op) -> Range:
        """Lanes that do not run may read beyond shared memory, where nobody's bytes lie. (Nothing is known of
        a block that is run by warps without lanes, too.)"""
        usual = super().reach_here(op)
        if not op.form.moves_memory or op.binding.get("space") != "shared" or self.here.index in self.anyway:
            return usual
        size = sum(t.bytes for t in op.result_types)
        if self._known is None or (size and is_proven(usual, size, self.m.sizes["shared"])):
            return usual
        return self._known.reach(op, self.here, BEYOND if self._loads_a_vector(op) else 0) or usual

    def _loads_a_vector(self, op: Op) -> bool:
        """Whether lanes load one word after the other."""
        addresses = [self.ssa.read[id(op)][register] for register, _ in memory_operands(op)]
        if len(addresses) != 1 or len(op.destinations) != 1:
            return False
        shape = self.shape(addresses[0])
        return shape.is_affine and shape.stride == op.result_types[0].bytes


def _has_effect(block: Block) -> bool:
    """Whether a warp does more in a block than to compute. (A load may be at fault.)"""
    end = block.terminator
    told = isinstance(end, Barrier) and (end.action != "sync" or end.reduce != "")
    return told or any(not isinstance(op, Op) or bool(op.form.effects) for op in block.ops)
