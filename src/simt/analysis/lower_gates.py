"""Instructions that wait for the lanes of a mask begin blocks of their own, where lanes may come to them
while others rest in a loop (`simt.analysis.meetings`), in functions that have a loop that may wait.

If one of them waits by a mask that is not known to name the whole warp, all are cut off. Each such block is
entered by a jump alone, from a block that ends there. Else those are that stand behind a write to memory:
lanes that stop at a block's start must have done what others may wait for.
"""

from __future__ import annotations

from collections.abc import Mapping

from simt.analysis.lower_rendezvous import FIRST, waits
from simt.analysis.meetings import names_part, reaches_wait
from simt.analysis.observer import Observer
from simt.analysis.program import Block, Call, Function, Jump, Op
from simt.analysis.schedule import schedule
from simt.isa.algebra import Environment


def cut_at_gates(function: Function, environment: Environment, functions: Mapping[str, Function]) -> None:
    """Cuts blocks before what waits, where they are not."""
    if environment.machine < FIRST or not any(isinstance(o, Op) and waits(o.form) for o in function.ops()):
        return
    everywhere = names_part(function.blocks, environment, functions)
    observer = Observer(environment)
    ends = (b.terminator for b in function.blocks)
    cut = {end.target for end in ends if isinstance(end, Jump) and end.gate}
    places = {
        b: [i for i in _places(b, everywhere, observer, functions) if i or b not in cut]
        for b in function.blocks
    }
    if not any(places.values()) or not _may_wait(function, observer):
        return
    function.blocks = [piece for block in function.blocks for piece in _pieces(block, places[block])]
    for index, block in enumerate(function.blocks):
        block.index = index


def _places(
    block: Block, everywhere: bool, observer: Observer, functions: Mapping[str, Function]
) -> list[int]:
    """Before which ops a block is to be cut."""
    found: list[int] = []
    written = everywhere
    for i, op in enumerate(block.ops):
        if written and _waits(op, functions):
            found.append(i)
            written = everywhere
        written |= isinstance(op, Call) or (not waits(op.form) and observer.writes(op))
    return found


def _may_wait(function: Function, observer: Observer) -> bool:
    """Whether a loop reads what other threads may change, or calls what may: see `waiting_loops`."""
    line = schedule(function)
    inside = (block for block in line.order if line.loop_of[block.index] is not None)
    return any(isinstance(op, Call) or observer.reads(op) for block in inside for op in block.ops)


def _pieces(block: Block, places: list[int]) -> list[Block]:
    """A block, and those that go on from it: one from each place on."""
    found, last = [block], block.terminator
    for start, end in zip(places, [*places[1:], len(block.ops)]):
        piece = Block(0, block.ops[start:end], last)
        found[-1].terminator = Jump(piece, gate=True)
        found.append(piece)
    if places:
        del block.ops[places[0] :]
    return found


def _waits(op: Op | Call, functions: Mapping[str, Function]) -> bool:
    return waits(op.form) if isinstance(op, Op) else reaches_wait(op, functions)
