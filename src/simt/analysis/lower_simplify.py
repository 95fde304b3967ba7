"""Tidies the blocks of a lowered function: unreachable ones go, chains become one block."""

from __future__ import annotations

from simt.analysis.program import Barrier, Block, Branch, Function, Jump, Switch, Terminator
from simt.records import replace


def simplify(function: Function, as_written: bool = False) -> None:
    """Drops unreachable and empty blocks, joins a block with its only predecessor, renumbers. Gates stay.

    `as_written`: every `bra` of the program stays, so that it is seen when it is executed."""
    entry = function.blocks[0]
    targets = {b: _through(b, as_written) for b in function.blocks}
    for block in function.blocks:
        block.terminator = retarget(block.terminator, targets)
    reachable = _reachable(entry)
    counts = dict.fromkeys(reachable, 0)
    counts[entry] = 1
    for block in reachable:
        for successor in block.successors():
            counts[successor] += 1
    gone: set[Block] = set()
    for block in reachable:
        if block not in gone:
            _absorb(block, counts, gone, as_written)
    function.blocks = [b for b in reachable if b not in gone]
    for index, block in enumerate(function.blocks):
        block.index = index


def retarget(terminator: Terminator, targets: dict[Block, Block]) -> Terminator:
    """The same terminator with its blocks replaced."""
    match terminator:
        case Jump(target=t):
            return replace(terminator, target=targets[t])
        case Branch(taken=t, otherwise=o):
            return replace(terminator, taken=targets[t], otherwise=targets[o])
        case Switch(targets=ts):
            return replace(terminator, targets=tuple(targets[t] for t in ts))
        case Barrier(next=n):
            return replace(terminator, next=targets[n])
        case _:
            return terminator


def _through(block: Block, as_written: bool) -> Block:
    """Where control arrives that enters a block: past empty blocks that only jump on."""
    seen: set[Block] = set()
    while not block.ops and isinstance(block.terminator, Jump) and block not in seen:
        if block.terminator.gate or (as_written and block.terminator.written):
            break
        seen.add(block)
        block = block.terminator.target
    return block


def _reachable(entry: Block) -> list[Block]:
    """Reachable blocks in source order (their index), the entry first."""
    seen = {entry}
    stack = [entry]
    while stack:
        for successor in stack.pop().successors():
            if successor not in seen:
                seen.add(successor)
                stack.append(successor)
    return [entry, *sorted(seen - {entry}, key=lambda b: b.index)]


def _absorb(block: Block, counts: dict[Block, int], gone: set[Block], as_written: bool) -> None:
    while isinstance(block.terminator, Jump):
        if block.terminator.gate or (as_written and block.terminator.written):
            return
        target = block.terminator.target
        if counts[target] != 1 or target is block or target in gone:
            return
        block.ops.extend(target.ops)
        block.terminator = target.terminator
        gone.add(target)
