"""Loops in which lanes wait at a barrier in every turn."""

from __future__ import annotations

from simt.analysis.pending import stops
from simt.analysis.schedule import Loop, Schedule


def barrier_loops(schedule: Schedule) -> set[int]:
    """Indices of the headers of loops in which there is no way round but by a barrier that waits."""
    around: dict[int, Loop] = {}
    for block in schedule.order:
        loop = schedule.loop_of[block.index] if stops(block) else None
        while loop is not None and loop.header.index not in around:
            around[loop.header.index] = loop
            loop = loop.parent
    return {header for header, loop in around.items() if not _goes_round(schedule, loop)}


def _goes_round(schedule: Schedule, loop: Loop) -> bool:
    """Whether a loop has a way round without a barrier."""
    seen, work = set[int](), [loop.header]
    while work:
        block = work.pop()
        if stops(block):
            continue
        for after in block.successors():
            if after is loop.header:
                return True
            inside = loop.first <= schedule.position[after.index] <= loop.last
            if inside and after.index not in seen:
                seen.add(after.index)
                work.append(after)
    return False
