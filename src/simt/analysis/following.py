"""Loads that follow one another at constant distances from one address: unrolled loops over a thread's row,
members of a structure."""

from __future__ import annotations

from collections.abc import Sequence

from simt.analysis.program import Call, Op, memory_operands
from simt.analysis.ssa import Definition, Ssa
from simt.records import dataclass

MOST = 12
"""Loads that are looked at from one."""


@dataclass(frozen=True, slots=True)
class Following:
    """A load at `offset` bytes from an address. `others`: offsets of those that follow, of the same kind,
    with nothing in between that might change what they find; the first ones."""

    address: Definition | None = None
    offset: int = 0
    others: tuple[int, ...] = ()


NOTHING = Following()
"""Of what is no load."""


def following(ssa: Ssa, ops: Sequence[Op | Call]) -> dict[int, Following | None]:
    """By the ids of a block's ops: what follows a load; None for what loads do not look past. Others are left
    out."""
    found, later = dict[int, Following | None](), dict[tuple[object, ...], tuple[int, ...]]()
    for op in reversed(ops):
        if isinstance(op, Call) or (op.form.effects and not (op.form.moves_memory and op.destinations)):
            found[id(op)] = None
            later.clear()
        elif op.form.effects and op.guard is None:
            operands = list(memory_operands(op))
            if len(operands) == 1:
                register, offset = operands[0]
                address = ssa.read[id(op)][register]
                kind = address, op.form, tuple(sorted(op.binding.items(), key=str))
                found[id(op)] = Following(address, offset, later.get(kind, ()))
                later[kind] = (offset, *later.get(kind, ()))[:MOST]
    return found
