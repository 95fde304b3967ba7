"""Turns of a loop that are tried first.

`for (i = first; i < n; i += step) y[i] = x[i] * scale[i / size % channels]`: a loop over all threads of a
grid, whose turns cut an index into rows. What `simt.engine.llvm_trial` does with a warp's whole code is done
here with each turn of a loop that is one block: if all lanes run, the turn is tried with all lanes in one
row, then with lanes in two, and where a guard does not hold it begins again with the usual code. Its values
are kept in the usual form when it ends, so the next turn and code behind the loop know nothing of it.
"""

from __future__ import annotations

from simt.analysis.program import Block, Call
from simt.analysis.rolled_lines import is_seldom
from simt.analysis.shape import WARP, Hold
from simt.engine import llvm_two_rows
from simt.engine.llvm_builder import Value
from simt.engine.llvm_forecast import forecast
from simt.engine.llvm_known import KnownEmitter
from simt.engine.llvm_lanes import ALL

LONGEST = 100
"""Instructions of a turn that is tried."""


class TurnEmitter(KnownEmitter):
    """`KnownEmitter` that tries turns. `_is_tried`: the block that is emitted now is."""

    _is_tried = False

    def _may_try_turns(self) -> bool:
        """Whether the code at hand is not tried itself, nor large, a row of threads fills its warps, and no
        clock counts what is done twice."""
        return not self.unit.large and self.unit.block.segments == 1 and self.ticks is None

    def _write_block(self, block: Block) -> None:
        if not self._is_tried and self._may_be_tried(block):
            self._try_first(block)
        super()._write_block(block)

    def _entry_mask(self, block: Block) -> Value:
        return Value(ALL, "i1", WARP) if self._is_tried else super()._entry_mask(block)

    def _may_be_tried(self, block: Block) -> bool:
        """Whether a block is a loop by itself, cuts an index into rows, and leaves no integer to others, of
        which more may be known in one copy of the code than in the other."""
        is_short = len(block.ops) <= LONGEST and not is_seldom((block,))
        if not self._may_try_turns() or block not in block.successors() or not is_short:
            return False
        made = [d for op in block.ops for d in self.ssa.of[id(op)] if d is not None]
        cut = any(self.shape(d).hold is Hold.IN_ROWS for d in made)
        kept = (d for d in made if d in self.shared_uses and not d.register.type.is_float)
        return cut and not any(isinstance(op, Call) for op in block.ops) and not any(kept)

    def _try_first(self, block: Block) -> None:
        """Code ahead of that of a block, behind its label."""
        bits = self.m.mask_bits(self._entry_mask(block)).ir
        one, two, usual = (self.builder.block_name(name) for name in ("one.row", "two.rows", "turn"))
        full = self.builder.emit(f"icmp eq i32 {bits}, -1")
        first = self._tried_turn(block, one, two, splits=False)
        second = self._tried_turn(block, two, usual, splits=True) if first else []
        if not second:
            first = [line.replace(f"%{two}", f"%{usual}") for line in first]
        self.builder.void(f"br i1 {full}, label %{one if first else usual}, label %{usual}")
        self.builder.lines += [*first, *second]
        self.builder.label(usual)

    def _tried_turn(self, block: Block, label: str, retreat: str, splits: bool) -> list[str]:
        """A copy of a block's code; none if no index is cut there."""
        m, foretold = self.m, self.forecast
        self._is_tried, m.retreat, m.splits = True, retreat, splits
        m.tries_rows = m.has_split = False
        self.forecast = forecast(self, (block,))
        with self.set_aside() as lines:
            self.builder.label(label)
            if splits:
                self.allocas[llvm_two_rows.ALLOCATION] = None
                self.builder.lines.append(llvm_two_rows.BEGIN)
            self._write_block(block)
            if not (m.has_split if splits else m.tries_rows):
                lines.clear()
        self.forecast = foretold
        self._is_tried, m.retreat, m.splits = False, None, False
        return lines
