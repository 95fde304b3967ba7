"""Which loops of a function lanes go through alone, and when: see `simt.engine.llvm_alone`."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from simt.analysis.access import NEAR
from simt.analysis.dominance import Tree, dominators
from simt.analysis.program import Block, Call, Op, memory_operands
from simt.analysis.schedule import Loop
from simt.analysis.shape import WARP
from simt.engine.llvm_alone import LONGEST, AloneLoop
from simt.engine.llvm_alone_algebra import NotAlone
from simt.engine.llvm_alone_short import ShortLoop
from simt.engine.llvm_builder import Value

if TYPE_CHECKING:
    from simt.engine.llvm_function import FunctionEmitter

FEW, FEW_GATHERED = 16, 24
"""Lanes that go on alone, at most; through a loop that does little but get at memory lane by lane."""
FEW_WITHOUT_GATHERS, FEW_GATHERED_WITHOUT = 24, WARP
"""The same on CPUs whose gathers are no faster than loads of each lane."""
GATHERED = 5
"""Such a loop: of so many ops at least one gets at memory lane by lane."""


class AloneLoops:
    """The loops of a function that lanes may go through alone; `decided`: by their headers' indices."""

    def __init__(self, emitter: FunctionEmitter) -> None:
        self.emitter = emitter
        self.decided: dict[int, bool] = {}

    def try_few(self, loop: Loop, mask: Value) -> None:
        """Sends lanes that begin a turn of a loop to go through it one by one, if they are few."""
        if not self.has_code(loop):
            return
        builder, m = self.emitter.builder, self.emitter.m
        alone, together, go = f"alone.{loop.header.index}", builder.block_name("together"), "true"
        bits, few = m.mask_bits(mask).ir, self._few(loop)
        if few < WARP:
            count = m.module.declare("llvm.ctpop.i32", "i32", ("i32",))
            lanes = builder.emit(f"call i32 {count}(i32 {bits})")
            go = builder.emit(f"icmp ule i32 {lanes}, {few}")
        begin = builder.block_name("few")
        builder.void(f"br i1 {go}, label %{begin}, label %{together}")
        builder.label(begin)
        builder.void(f"store i32 {bits}, ptr %{alone}.lanes")
        builder.void(f"br label %{alone}")
        builder.label(together)

    def _few(self, loop: Loop) -> int:
        """Lanes that go on alone, at most."""
        if self._is_gathered(loop):
            return FEW_GATHERED if self.emitter.m.has_gathers else FEW_GATHERED_WITHOUT
        return FEW if self.emitter.m.has_gathers else FEW_WITHOUT_GATHERS

    def _is_gathered(self, loop: Loop) -> bool:
        """Whether the loop does little but get at memory lane by lane. Shared memory does not count: words
        of it are looked up in registers, and its atomic operations are done one by one in any case."""
        ops = [op for block in self._blocks(loop) for op in block.ops if isinstance(op, Op)]
        outside = [op for op in ops if op.binding.get("space") != "shared"]
        return GATHERED * sum(map(self._scatters, outside)) >= len(ops)

    def _blocks(self, loop: Loop) -> list[Block]:
        return self.emitter.schedule.order[loop.first : loop.last + 1]

    def has_code(self, loop: Loop) -> bool:
        """Whether the loop has code for one lane at a time."""
        header = loop.header.index
        if header not in self.decided:
            self.decided[header] = self._suits_one(loop) and self._emit_alone(loop)
        return self.decided[header]

    def is_scattered(self, loop: Loop) -> bool:
        """Whether each lane of the loop gets at memory of its own: few go through it alone, or it does little
        else than that."""
        return self.has_code(loop) or (self._suits_one(loop) and self._is_gathered(loop))

    def _suits_one(self, loop: Loop) -> bool:
        """Whether lanes leave the loop by degrees, and get at memory one by one in it."""
        blocks = self._blocks(loop)
        if loop.header.index not in self.emitter.uniformity.leaving or self.emitter.pending.waiting:
            return False
        if self.emitter.ticks is not None:  # which counts what the warp executes, not each lane
            return False
        if any(inner.parent is loop for inner in self.emitter.schedule.loops):
            return False
        return sum(len(b.ops) for b in blocks) <= LONGEST and any(
            self._scatters(op) for block in blocks for op in block.ops
        )

    @property
    def has_scattered(self) -> bool:
        """Whether anything in the function gets at memory lane by lane."""
        return any(self._scatters(op) for block in self.emitter.schedule.order for op in block.ops)

    def _scatters(self, op: Op | Call) -> bool:
        """Whether nothing is known of the addresses that an op gets at, or, where gathers are slow, lanes are
        that far apart that they are served one by one. Local memory does not count: lanes that only walk
        through arrays of their own are faster together (a heap of 16 words)."""
        if isinstance(op, Call) or not op.form.effects or op.binding.get("space") == "local":
            return False
        read = self.emitter.ssa.read[id(op)]
        shapes = [self.emitter.shape(read[base]) for base, _ in memory_operands(op)]
        slow = not self.emitter.m.has_gathers
        return any(shape.width == WARP or (slow and abs(shape.stride) > NEAR) for shape in shapes)

    def _emit_alone(self, loop: Loop) -> bool:
        """Emits the loop's code, to stand after the blocks; False if one lane cannot do it."""
        if self._is_emitted(AloneLoop, loop):
            return True
        return self._few(loop) == WARP and self._is_emitted(ShortLoop, loop)

    def _is_emitted(self, kind: type[AloneLoop], loop: Loop) -> bool:
        with self.emitter.set_aside() as lines:
            try:
                kind(self.emitter, loop, self.dominance).emit()
            except NotAlone:
                lines.clear()
        self.emitter.later += lines
        return bool(lines)

    @cached_property
    def dominance(self) -> Tree:
        return Tree(dominators(self.emitter.schedule))
