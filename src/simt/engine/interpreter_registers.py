"""Which registers the interpreter must keep from block to block."""

from __future__ import annotations

from simt.analysis.program import Call, Function
from simt.analysis.ssa import destinations, terminator_definition, terminator_uses, uses


def kept_registers(function: Function) -> frozenset[int]:
    """Registers that carry a value from block to block, by index. The others are written in every block
    that reads them, before it does: no lane that is elsewhere needs what they hold."""
    kept = {r.index for r in (*function.parameters, *function.results)}
    for block in function.blocks:
        written: set[int] = set()
        for op in block.ops:
            read = {r.index for r in uses(op)}
            to = {r.index for r in destinations(op) if r is not None}
            if isinstance(op, Call) or op.guard is not None:  # other lanes keep the old value
                read |= to
            kept |= read - written
            written |= to
        kept |= {r.index for r in terminator_uses(block)} - written
        result = terminator_definition(block)
        kept |= {result.index} if result is not None else set[int]()
    return frozenset(kept)
