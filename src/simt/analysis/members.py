"""Stores to members of structures that loads part from each other: `p[i].x += a; p[i].y += b;`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from simt.analysis.following import Following
from simt.analysis.program import Call, Op, memory_operands
from simt.analysis.shape import Shape
from simt.analysis.ssa import Definition, Ssa
from simt.ptx.types import Type
from simt.records import dataclass

MOST = 48
"""Instructions with effects that are looked at from one store."""


@dataclass(frozen=True, slots=True)
class Later:
    """A store `offset` bytes from a first one. `loads`: what stands between it and the store before it, by
    addresses and offsets."""

    offset: int
    loads: tuple[tuple[Definition, int], ...]


def later_members(
    ssa: Ssa,
    shapes: Mapping[Definition, Shape],
    ops: Sequence[Op | Call],
    loads: Mapping[int, Following | None],
) -> dict[int, tuple[Later, ...]]:
    """By the ids of a block's stores: those that follow at constant distances from the same address, with
    nothing between that acts but `loads`. Stores with none between are left out, and those of words side by
    side."""
    acting = [op for op in ops if isinstance(op, Call) or op.form.effects]
    stores = {id(op): i for i, op in enumerate(acting) if isinstance(op, Op) and _is_member(ssa, shapes, op)}
    found = dict[int, tuple[Later, ...]]()
    for number, first in stores.items():
        later = tuple(_later(ssa, acting[first : first + MOST], loads))
        if any(member.loads for member in later):
            found[number] = later
    return found


def _later(ssa: Ssa, acting: Sequence[Op | Call], loads: Mapping[int, Following | None]) -> list[Later]:
    first, between, found = acting[0], list[tuple[Definition, int]](), list[Later]()
    assert isinstance(first, Op)
    start = _place(ssa, first)
    assert start is not None
    for op in acting[1:]:
        load = loads.get(id(op))
        if load is not None and load.address is not None:
            between.append((load.address, load.offset))
            continue
        place = _place(ssa, op) if isinstance(op, Op) and op.form is first.form else None
        if place is None or place[0] is not start[0]:
            break
        found.append(Later(place[1] - start[1], tuple(between)))
        between.clear()
    return found


def _is_member(ssa: Ssa, shapes: Mapping[Definition, Shape], op: Op) -> bool:
    """Whether there is room for others between what two lanes store."""
    place, kind = _place(ssa, op), op.binding.get("type")
    shape = None if place is None else shapes.get(place[0])
    return shape is not None and isinstance(kind, Type) and shape.stride > kind.bits // 8


def _place(ssa: Ssa, op: Op) -> tuple[Definition, int] | None:
    """From which address at which distance an op stores, whichever lanes run."""
    if op.destinations or not op.form.moves_memory or op.guard is not None:
        return None
    places = [(ssa.read[id(op)][register], offset) for register, offset in memory_operands(op)]
    return places[0] if len(places) == 1 else None
