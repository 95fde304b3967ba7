"""Instructions that wait for the lanes of a mask begin blocks of their own, where lanes may come to them
while others rest in a loop (`simt.analysis.meetings`).

Only in functions in which one waits by a mask that is not known to name the whole warp, and that have a loop
that may wait for other threads. Each such block is entered by a jump alone, from a block that ends there.
"""

from __future__ import annotations

from collections.abc import Mapping

from simt.analysis.lower_rendezvous import waits
from simt.analysis.meetings import names_part, reaches_wait
from simt.analysis.observer import Observer
from simt.analysis.program import Block, Call, Function, Jump, Op
from simt.analysis.schedule import schedule
from simt.isa.algebra import Environment


def cut_at_gates(function: Function, environment: Environment, functions: Mapping[str, Function]) -> None:
    """Cuts blocks before what waits. To be done last: joining blocks would undo it."""
    if not names_part(function.blocks, environment, functions) or not _may_wait(function, environment):
        return
    cut: list[Block] = []
    for block in function.blocks:
        cut += _pieces(block, functions)
    for index, block in enumerate(cut):
        block.index = index
    function.blocks = cut


def _may_wait(function: Function, environment: Environment) -> bool:
    """Whether a loop reads what other threads may change, or calls what may: see `waiting_loops`."""
    observer = Observer(environment)
    line = schedule(function)
    inside = (block for block in line.order if line.loop_of[block.index] is not None)
    return any(isinstance(op, Call) or observer.reads(op) for block in inside for op in block.ops)


def _pieces(block: Block, functions: Mapping[str, Function]) -> list[Block]:
    """A block, and those that go on from it: one from each op that waits."""
    found, last = [block], block.terminator
    places = [i for i, op in enumerate(block.ops) if _waits(op, functions)]
    for start, end in zip(places, [*places[1:], len(block.ops)]):
        piece = Block(0, block.ops[start:end], last)
        found[-1].terminator = Jump(piece)
        found.append(piece)
    if places:
        del block.ops[places[0] :]
    return found


def _waits(op: Op | Call, functions: Mapping[str, Function]) -> bool:
    return waits(op.form) if isinstance(op, Op) else reaches_wait(op, functions)
