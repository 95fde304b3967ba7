"""Tokens of barriers in shared memory: lanes that arrive at one barrier together get one.

A token says in which phase somebody arrived. Lanes of a warp that arrive by one instruction do so in one
phase, unless the barrier expects fewer arrivals than they are: then those behind the last expected one are in
the next phase already. Where all of them wait for that one, code need not see that lanes could leave the loop
in which they wait one by one, and what is behind it is as it would be without the loop.

So a register that has nothing but tokens, and that nothing but waits look at, holds that of the last lane.
(Whoever looks at the arrivals that were pending gets them lane by lane.)
"""

from __future__ import annotations

from simt.analysis.program import Function, Op, Register
from simt.analysis.ssa import uses
from simt.isa.mbarrier import wait
from simt.records import replace

ALIKE = "alike"
"""The parameter of meanings that give tokens."""


def share_tokens(function: Function) -> None:
    """Has lanes get one token where only waits see it."""
    ops = [op for op in function.ops() if isinstance(op, Op)]
    if not any(_gives_token(op) for op in ops):
        return
    seen = _seen(function)
    for block in function.blocks:
        block.ops[:] = [
            replace(op, binding={**op.binding, ALIKE: True}, kind=None)
            if isinstance(op, Op) and _gives_token(op) and op.destinations[0] not in seen
            else op
            for op in block.ops
        ]


def _gives_token(op: Op) -> bool:
    return ALIKE in op.form.parameters and bool(op.destinations)


def _seen(function: Function) -> set[Register | None]:
    """Registers that hold other values than tokens, or at which something else than a wait looks."""
    found: set[Register | None] = set()
    for op in function.ops():
        if not isinstance(op, Op):
            found.update((*uses(op), *op.results))
            continue
        token = op.sources["b"] if op.form.meaning is wait else None
        found.update(r for r in uses(op) if r is not token)
        if not _gives_token(op):
            found.update(op.destinations)
    return found
