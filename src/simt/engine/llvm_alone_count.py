"""Checks that a lane alone makes once for many turns of its loop (`simt.engine.llvm_alone`).

Where a loop goes through memory by steps, it is known beforehand for how many turns its addresses are valid.
They are counted down, and when they are used up it is asked again: whether to stop, and how many turns there
are next. If none, the turn is run by the copy of the loop that checks each access.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simt.analysis.shape import WARP
from simt.engine.llvm_alone_turn import Indexed, Joint
from simt.engine.llvm_branches import UNLIKELY
from simt.engine.llvm_builder import Value

if TYPE_CHECKING:
    from simt.engine.llvm_alone import AloneLoop

I64 = "i64"
MOST = 256
"""Turns that are counted at a time: a lane looks for an abort after so many."""


class CountedTurns:
    """`steps`: joint checks by how many bytes their addresses grow each turn."""

    def __init__(self, alone: AloneLoop, steps: dict[Joint, int]) -> None:
        self.alone = alone
        self.steps = steps
        self.m, self.builder = alone.m, alone.builder
        self.left = f"%{alone.name}.turns"
        alone.emitter.allocas[f"  {self.left} = alloca i64"] = None
        self.first = self._for_all()

    def _for_all(self) -> Value:
        """i64: turns that every lane can begin with: `MOST` if that is so, else none."""
        valid = Value("true", "i1")
        for joint, step in self.steps.items():
            addresses = self.alone.addresses(joint.base, joint.first)
            span = joint.span + (MOST - 1) * step
            valid = self.m.binary("and", valid, self.m.are_valid(addresses, joint.size, span))
            if isinstance(joint.base, Indexed):
                valid = self.m.binary("and", valid, self._stay_below(joint.base, step))
        bad = self.m.mask_and(self.alone.entering_mask, self.m.invert_mask(valid))
        return Value(self.builder.emit(f"select i1 {self.m.any(bad)}, i64 0, i64 {MOST}"), I64)

    def begin(self) -> None:
        """A lane begins."""
        self.builder.void(f"store {self.first.typed}, ptr {self.left}")

    def turn(self, precise: str) -> Value:
        """A turn begins. Goes to a label if nothing is known of it; else for how many turns after it the
        checks hold (i64)."""
        more, go = f"{self.alone.name}.more", f"{self.alone.name}.counted"
        left = Value(self.builder.emit(f"load i64, ptr {self.left}"), I64)
        self.builder.void(f"br i1 {self._is_none(left)}, label %{more}, label %{go}")
        self.builder.label(more)
        self.alone.emitter.poll(self.alone.loop.header)
        known = self._known()
        self.builder.void(f"store {known.typed}, ptr {self.left}")
        self.builder.void(f"br i1 {self._is_none(known)}, label %{precise}, label %{go}{UNLIKELY}")
        self.builder.label(go)
        left = Value(self.builder.emit(f"load i64, ptr {self.left}"), I64)
        rest = self.m.binary("sub", left, self.m.number(I64, 1))
        self.builder.void(f"store {rest.typed}, ptr {self.left}")
        return rest

    def _is_none(self, turns: Value) -> str:
        return self.m.test("icmp eq", turns, self.m.number(I64, 0)).ir

    def _known(self) -> Value:
        """i64: turns for which all checks hold, `MOST` at most."""
        least = self.m.module.declare("llvm.umin.i64", I64, (I64, I64))
        known = self.m.number(I64, MOST)
        for joint, step in self.steps.items():
            address = self.alone.address(joint.base, joint.first)
            found = self.m.turns_valid(address, joint.size, joint.span, step)
            known = Value(self.builder.emit(f"call i64 {least}({known.typed}, {found.typed})"), I64)
            if isinstance(joint.base, Indexed):
                found = self._before_wrapping(joint.base, step)
                known = Value(self.builder.emit(f"call i64 {least}({known.typed}, {found.typed})"), I64)
        return known

    def _stay_below(self, base: Indexed, step: int) -> Value:
        """i1 for each lane that begins: its index does not wrap in `MOST` turns."""
        last = self.m.number(I64, base.last - (MOST - 1) * (step >> base.shift))
        return self.m.test("icmp sle", self.alone.extended(base), self.m.widened(last, WARP))

    def _before_wrapping(self, base: Indexed, step: int) -> Value:
        """i64: turns of which the index has not wrapped."""
        more = self.m.binary("sub", self.m.number(I64, base.last), self.alone.extended(base, self.alone.read))
        turns = self.m.binary("udiv", more, self.m.number(I64, step >> base.shift))
        return self.m.binary("add", turns, self.m.number(I64, 1))
