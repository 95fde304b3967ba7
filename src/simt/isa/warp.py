"""Warp operations (PTX 1.4 table 82; shuffles of PTX 3.0; `.sync` forms and match of 6.0, redux of 7.0).

The lanes that take part in a `.sync` form are the active ones that `mask` names: different lanes of one
warp may execute it together under different masks, each with the lanes of its own mask. Lanes on both ways of
a branch are brought together before (`simt.analysis.lower_rendezvous`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import Any

from simt.isa import floating
from simt.isa.algebra import Algebra, V
from simt.isa.catalogue import instruction
from simt.isa.derived import quiet_nan
from simt.ptx.types import F32, PRED, S32, U32, Type

WARP_SIZE = 32
UNSYNCHRONISED = "6.3 sm_62"
"""Last version, and last target in later versions, of the forms without `.sync` (PTX 6.4)."""


UNMASKED: dict[str, Any] = {"until": UNSYNCHRONISED, "defaults": {"mask": None}}


def number(m: Algebra[V], value: int) -> V:
    return m.const(U32, value)


def active_mask(m: Algebra[V]) -> V:
    """Bit i is set if lane i executes this instruction."""
    return m.ballot(m.const(PRED, 1))


def members(m: Algebra[V], mask: V | None) -> V:
    """The lanes that take part."""
    return active_mask(m) if mask is None else m.and_(U32, active_mask(m), mask)


def sent(m: Algebra[V], t: Type, a: V) -> V:
    """What other lanes get of a value: zero of a lane that does not execute the instruction."""
    return m.select(t, m.active(), a, m.const(t, 0))


# ------------------------------------------------------------------ votes


@instruction("activemask.type d", type="b32", since="6.2 sm_30", effects="warp", ref="PTX 6.2 activemask")
def activemask(m: Algebra[V]) -> V:
    """Mask of the lanes that execute the instruction together."""
    return active_mask(m)


@instruction(
    "vote.mode.pred p:pred, [!]a:pred", mode="all any uni", since="1.2 sm_12", **UNMASKED, effects="warp",
    ref="PTX 1.4 table 82",
)  # fmt: skip
@instruction(
    "vote.sync.mode.pred p:pred, [!]a:pred, mask:b32", mode="all any uni", since="6.0 sm_30", effects="warp",
    ref="PTX 6.0 vote.sync",
)  # fmt: skip
def vote(m: Algebra[V], a: V, mode: str, mask: V | None = None) -> V:
    """Whether a predicate holds in all lanes, in any lane, or is the same in all lanes.

    Only the active lanes count, and of them, with `.sync`, those that the mask names. Every lane gets the
    same answer.
    """
    lanes = members(m, mask)
    yes = m.and_(U32, m.ballot(a), lanes)
    none, all_ = m.compare("eq", U32, yes, number(m, 0)), m.compare("eq", U32, yes, lanes)
    if mode == "any":
        return m.invert(PRED, none)
    return all_ if mode == "all" else m.or_(PRED, all_, none)


@instruction(
    "vote.ballot.b32 d, [!]a:pred",
    since="2.0 sm_20",
    **UNMASKED,
    effects="warp",
    ref="PTX 2.0 vote.ballot",
)
@instruction(
    "vote.sync.ballot.b32 d, [!]a:pred, mask:b32", since="6.0 sm_30", effects="warp", ref="PTX 6.0 vote.sync"
)
def vote_ballot(m: Algebra[V], a: V, mask: V | None = None) -> V:
    """Mask of the lanes in which a predicate holds.

    Bit i stands for lane i; lanes that are not active, or not in the mask, have a zero.
    """
    return m.ballot(a) if mask is None else m.and_(U32, m.ballot(a), mask)


# ------------------------------------------------------------------ shuffles


@instruction(
    "shfl.mode.type d[|p], a, b:b32, c:b32", mode="up down bfly idx", type="b32", since="3.0 sm_30",
    **UNMASKED, effects="warp", ref="PTX 3.0 shfl",
)  # fmt: skip
@instruction(
    "shfl.sync.mode.type d[|p], a, b:b32, c:b32, mask:b32", mode="up down bfly idx", type="b32",
    since="6.0 sm_30", effects="warp", ref="PTX 6.0 shfl.sync",
)  # fmt: skip
def shfl(m: Algebra[V], t: Type, a: V, b: V, c: V, mode: str) -> tuple[V, V]:
    """Reads a register of another lane of the same segment; `p` tells whether that lane lies within it.

    `.idx` counts lanes within the segment, and begins again with numbers past its end (an H200 does; the CUDA
    Handbook, 8.6.1, has the lane's own value there). What a lane reads of one that does not execute the
    instruction with it, or that its CTA does not have, is undefined: zero, as on an H200.
    """
    lane = m.lane()
    offset, clamp = m.and_(U32, b, number(m, 31)), m.and_(U32, c, number(m, 31))
    segment = m.and_(U32, m.shift_right(U32, c, number(m, 8)), number(m, 31))
    inside = m.invert(U32, segment)
    first = m.and_(U32, lane, segment)
    last = m.or_(U32, first, m.and_(U32, clamp, inside))
    match mode:
        case "up":
            source = m.sub(U32, lane, offset)
        case "down":
            source = m.add(U32, lane, offset)
        case "bfly":
            source = m.xor(U32, lane, offset)
        case _:
            source = m.or_(U32, first, m.and_(U32, offset, inside))
    within = m.compare("ge" if mode == "up" else "le", S32, source, last)
    return m.shuffle(t, sent(m, t, a), m.select(U32, within, source, lane)), within


# ------------------------------------------------------------------ all lanes against all


def _from_each_lane(m: Algebra[V], t: Type, a: V) -> list[V]:
    """The value of every lane, seen by all."""
    return [m.shuffle(t, a, number(m, lane)) for lane in range(WARP_SIZE)]


def _equal_lanes(m: Algebra[V], t: Type, a: V, lanes: V) -> V:
    """Mask of those of `lanes` whose value is the lane's own."""
    zero = number(m, 0)
    bits = [
        m.select(U32, m.compare("eq", t, other, a), number(m, 1 << lane), zero)
        for lane, other in enumerate(_from_each_lane(m, t, a))
    ]
    return m.and_(U32, lanes, reduce(lambda x, y: m.or_(U32, x, y), bits))


@instruction(
    "match.any.sync.type d:b32, a, mask:b32",
    type="b32 b64",
    since="6.0 sm_70",
    effects="warp",
    ref="PTX 6.0 match.sync",
)
def match_any(m: Algebra[V], t: Type, a: V, mask: V) -> V:
    """Mask of the lanes that have the same value."""
    return _equal_lanes(m, t, a, members(m, mask))


@instruction(
    "match.all.sync.type d:b32[|p], a, mask:b32", type="b32 b64", since="6.0 sm_70", effects="warp",
    ref="PTX 6.0 match.sync",
)  # fmt: skip
def match_all(m: Algebra[V], t: Type, a: V, mask: V) -> tuple[V, V]:
    """The mask if all lanes have the same value, else zero; `p` tells which."""
    lanes = members(m, mask)
    same = m.compare("eq", U32, _equal_lanes(m, t, a, lanes), lanes)
    return m.select(U32, same, lanes, number(m, 0)), same


@instruction("redux.sync.op.type d, a, mask:b32", op="add min max", type="u32 s32", since="7.0 sm_80",
             effects="warp", ref="PTX 7.0 redux.sync")  # fmt: skip
@instruction("redux.sync.op.type d, a, mask:b32", op="and or xor", type="b32", since="7.0 sm_80",
             effects="warp", ref="PTX 7.0 redux.sync")  # fmt: skip
def redux(m: Algebra[V], t: Type, a: V, mask: V, op: str) -> V:
    """Combines a value of all lanes: sum, minimum, maximum or bitwise operation."""
    combine = {
        "add": m.add, "min": m.minimum, "max": m.maximum, "and": m.and_, "or": m.or_, "xor": m.xor,
    }[op]  # fmt: skip
    neutral = m.const(t, _neutral(t, op))
    values = (m.select(t, takes_part, value, neutral) for takes_part, value in _of_members(m, t, a, mask))
    return reduce(lambda total, value: combine(t, total, value), values, neutral)


def _of_members(m: Algebra[V], t: Type, a: V, mask: V) -> Iterator[tuple[V, V]]:
    """Whether each lane takes part, and its value, seen by all."""
    lanes = members(m, mask)
    for lane, value in enumerate(_from_each_lane(m, t, a)):
        yield m.compare("ne", U32, m.and_(U32, lanes, number(m, 1 << lane)), number(m, 0)), value


@instruction("redux.sync.op[.abs][.NaN].f32 d, a, mask:b32", op="min max", since="8.6 sm_100", effects="warp",
             ref="PTX 8.6 redux.sync")  # fmt: skip
def redux_f32(m: Algebra[V], a: V, mask: V, op: str, abs: bool, NaN: bool) -> V:
    """The least or greatest of a number of all lanes, or of its magnitude; NaNs as for `min` and `max`.

    Of compute capability 10.0 `sm_100a` and `sm_100f` have it alone.
    """
    combine = floating.min_ if op == "min" else floating.max_
    nothing, any_nan = m.const(F32, quiet_nan(F32)), m.const(PRED, 0)
    total = nothing
    for takes_part, value in _of_members(m, F32, floating.abs_(m, F32, a, False) if abs else a, mask):
        total = combine(m, F32, total, m.select(F32, takes_part, value, nothing), False, False)
        any_nan = m.or_(PRED, any_nan, m.and_(PRED, takes_part, m.is_nan(F32, value)))
    return m.select(F32, any_nan, nothing, total) if NaN else total


def _neutral(t: Type, op: str) -> int:
    """Bits of the value that leaves every other one as it is."""
    high = (1 << (t.bits - 1)) if t.is_signed else 0
    everything = (1 << t.bits) - 1
    return {"and": everything, "min": everything ^ high, "max": high}.get(op, 0)


@instruction("elect.sync d:b32|p, mask:b32", since="8.0 sm_90", effects="warp", ref="PTX 8.0 elect.sync")
def elect(m: Algebra[V], mask: V) -> tuple[V, V]:
    """Elects the lowest lane: its number, and whether the lane is it."""
    lanes = members(m, mask)
    below = m.and_(U32, m.invert(U32, lanes), m.sub(U32, lanes, number(m, 1)))
    leader = m.popcount(U32, below)
    return leader, m.compare("eq", U32, leader, m.lane())
