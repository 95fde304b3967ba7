"""Lines of ops that stand for more than their line of the PTX tells, where loops are rolled again
(`simt.analysis.rolled_again`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from simt.analysis.program import Block, Register
from simt.ptx.types import Type

if TYPE_CHECKING:
    from simt.analysis.same_turns import Copies


class Line(int):
    """The line of an op that stands for several, its `copies`. At which of them a thread is tell `start`,
    `now`, `step` and `limit`, of which the op's block has copies; it is so many turns `ahead` of that.
    `single`: whether all turns are done one at a time."""

    copies: Copies
    type: Type
    start: Register
    now: Register
    step: Register
    limit: Register
    ahead: int
    single: bool


class Seldom(int):
    """The line of an op in a loop as it was, which is seldom run: such code is to be short."""


def is_seldom(blocks: Sequence[Block]) -> bool:
    """Whether blocks of a loop are run but seldom."""
    return any(isinstance(op.line, Seldom) for block in blocks for op in block.ops)
