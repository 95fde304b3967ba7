"""Atomic operations of many lanes, in ascending order of lanes at every location."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simt.engine.atomic_operation import combine
from simt.isa.algebra import PureAlgebra
from simt.ptx.types import F32, Kind, Type

Array = NDArray[Any]
CROWD = 16
"""Lanes at one location, for each location in use, from which locations are served one after the other."""


def update(
    m: PureAlgebra[Array],
    ops: list[tuple[str, Array]],
    t: Type,
    view: Array,
    index: Array,
    b: Array,
    c: Array | None,
) -> Array:
    """Does an atomic operation at `view[index]` for each lane; returns what the lanes find.

    `ops`: operations, each with the lanes whose it is; all lanes at one location have one operation.
    """
    if len(ops) == 1 and ops[0][0] == "add" and t.kind in (Kind.UNSIGNED, Kind.SIGNED, Kind.BITS):
        old, new = running_sums(index, view[index], b)
        view[index] = new
        return old
    old = np.empty_like(b)
    order, starts = ranked(index)
    crowded = len(index) > CROWD * len(starts) ** 2
    for lanes in np.split(order, starts[1:]) if crowded else turns(order, starts):
        for op, whose in ops:
            mine = lanes[whose[lanes]]
            if not len(mine):
                continue
            where, third = index[mine], None if c is None else c[mine]
            if crowded:
                old[mine], view[where[:1]] = one_location(m, op, t, view[where[:1]], b[mine], third)
            else:
                found = old[mine] = view[where]
                view[where] = combine(m, op, t, found, b[mine], third)
    return old


def one_location(
    m: PureAlgebra[Array], op: str, t: Type, value: Array, b: Array, c: Array | None
) -> tuple[Array, Array]:
    """What each lane finds at a location that holds `value`, and what is there in the end."""
    if op in ("add", "add.far") and t.is_native_float:
        sums = one_location_sums(m, op, t, value, b)
        if sums is not None:
            return sums[:-1], sums[-1:]
    old = np.empty_like(b)
    at, length = 0, CROWD
    while at < len(b):  # lanes at once up to the next one that changes the value
        some = slice(at, at + length)
        new = m.to_bits(t, combine(m, op, t, value, b[some], None if c is None else c[some]))
        changes = np.flatnonzero(new != m.to_bits(t, value))
        end = at + int(changes[0]) + 1 if len(changes) else min(at + length, len(b))
        old[at:end] = value
        if len(changes):
            value = m.from_bits(t, new[changes[:1]])
        at, length = end, CROWD if len(changes) else 2 * length
    return old, value


def one_location_sums(m: PureAlgebra[Array], op: str, t: Type, value: Array, b: Array) -> Array | None:
    """Floating-point sums in order: the value at first, then after each lane. None if flushing on the way
    would change them, or if one is NaN."""
    if op == "add" or t != F32:
        sums = np.add.accumulate(np.concatenate([value, b]))
        return None if np.isnan(sums[-1]) else sums
    sums = np.add.accumulate(np.concatenate([m.flush(t, value), m.flush(t, b)]))
    if np.isnan(sums[-1]) or not np.array_equal(m.to_bits(t, m.flush(t, sums)), m.to_bits(t, sums)):
        return None
    sums[0] = value[0]
    return sums


def ranked(index: Array) -> tuple[Array, Array]:
    """Positions of `index` by ascending value, equal ones in order; where each value's first is in these."""
    low = index.min()
    near = bool(index.max() - low < 1 << 16)  # NumPy sorts 16 bits by radix, others by merging
    order = np.argsort((index - low).astype(np.uint16) if near else index, kind="stable")
    values = index[order]
    fresh = np.ones(len(values), np.bool_)
    fresh[1:] = values[1:] != values[:-1]
    return order, np.flatnonzero(fresh)


def turns(order: Array, starts: Array) -> list[Array]:
    """Positions in groups without repeated values: each value's first use, its second, ..."""
    if len(starts) == len(order):
        return [order]
    rank = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    by_rank = np.argsort(rank, kind="stable")
    cuts = np.flatnonzero(np.diff(rank[by_rank])) + 1
    return [order[part] for part in np.split(by_rank, cuts)]


def running_sums(index: Array, start: Array, step: Array) -> tuple[Array, Array]:
    """For integer additions in order: what each finds, and what it leaves. `start`: values now there."""
    order, starts = ranked(index)
    lengths = np.diff(np.append(starts, len(order)))
    total = np.cumsum(step[order], dtype=step.dtype)
    before = total - step[order]
    exclusive = before - np.repeat(before[starts], lengths)
    old = np.empty_like(step)
    old[order] = start[order] + exclusive
    return old, old + step
