"""Loads that follow one another at constant distances from one address: unrolled loops over a thread's row,
members of a structure."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from simt.analysis.access import FEW_ROWS
from simt.analysis.program import Call, Op, memory_operands
from simt.analysis.shape import PITCHED, Shape
from simt.analysis.ssa import Definition, Ssa
from simt.isa.form import Form
from simt.records import dataclass, quick

MOST = 12
"""Loads that are looked at from one."""
EXCHANGES = ("cas", "exch")
"""Atomic operations by which threads wait for each other."""
GLOBAL = ("space", "global")
_Kind = tuple[Definition, Form, frozenset[tuple[str, object]]]
"""Of loads: their address, and what they are."""


@quick
@dataclass(frozen=True, slots=True)
class Following:
    """A load at `offset` bytes from an address. `others`: offsets of those that follow, of the same kind, the
    first ones, with nothing in between that might change what they find but stores, if there are `stores`.
    `told`: scalars tell where all lanes are, if nothing wraps."""

    address: Definition | None = None
    offset: int = 0
    others: tuple[int, ...] = ()
    stores: bool = False
    told: bool = False


NOTHING = Following()
"""Of what is no load."""


def following(
    ssa: Ssa, shapes: Mapping[Definition, Shape], ops: Sequence[Op | Call], used: Container[Definition]
) -> dict[int, Following | None]:
    """By the ids of a block's ops: what follows a load; None for what loads do not look past. Others are left
    out. `used`: what anybody reads."""
    found, later = dict[int, Following | None](), dict[_Kind, tuple[int, ...]]()
    crossed = set[_Kind]()
    for op in reversed(ops):
        if isinstance(op, Op) and _only_updates_shared(ssa, op, used):
            later = {kind: offsets for kind, offsets in later.items() if GLOBAL in kind[-1]}
        elif isinstance(op, Call) or (op.form.effects and not op.form.moves_memory):
            found[id(op)] = None
            later.clear()
        elif op.form.effects and not op.destinations:
            crossed |= later.keys()
            if not _is_told(ssa, shapes, op):
                found[id(op)] = None
                later.clear()
        elif op.form.effects and op.guard is None:
            operands = list(memory_operands(op))
            if len(operands) == 1:
                register, offset = operands[0]
                address = ssa.read[id(op)][register]
                kind = address, op.form, frozenset(op.binding.items())
                others, told = later.get(kind, ()), _are_even(shapes.get(address))
                found[id(op)] = Following(address, offset, others, kind in crossed, told)
                later[kind] = (offset, *later.get(kind, ()))[:MOST]
    return found


def _only_updates_shared(ssa: Ssa, op: Op, used: Container[Definition]) -> bool:
    """Whether an op updates a word of shared memory, orders nothing, and nobody reads what it finds (`atom`,
    as compilers write `red`): then it does not matter to loads of global memory."""
    of = op.binding
    updates = of.get("space") == "shared" and of.get("op") not in (None, *EXCHANGES)
    plain = op.form.effects == frozenset({"memory"}) and of.get("sem") in (None, "relaxed")
    unread = not any(made is not None and made in used for made in ssa.of[id(op)])
    return updates and plain and op.guard is None and unread


def _is_told(ssa: Ssa, shapes: Mapping[Definition, Shape], op: Op) -> bool:
    """Whether scalars tell which words of global memory a store writes."""
    places = [shapes.get(ssa.read[id(op)][register]) for register, _ in memory_operands(op)]
    return list(map(_are_even, places)) == [True] and op.binding.get("space") == "global"


def _are_even(shape: Shape | None) -> bool:
    """Whether lanes are at known distances from the first, or from the first of their row."""
    return shape is not None and (shape.is_affine or shape.is_guarded) and shape.width <= FEW_ROWS


def is_pitched(ssa: Ssa, shapes: Mapping[Definition, Shape], op: Op | Call) -> bool:
    """Whether an op may get at memory by one step from lane to lane, which is not known."""
    if isinstance(op, Call) or not op.form.moves_memory:
        return False
    places = memory_operands(op)
    return any(shapes.get(ssa.read[id(op)][register]) == PITCHED for register, _ in places)
