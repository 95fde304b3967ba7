"""How a warp gets at memory: what the shape of an address allows."""

from __future__ import annotations

from enum import Enum

from simt.analysis.range_algebra import Range
from simt.analysis.shape import WARP, BlockShape, Hold, Shape
from simt.records import dataclass

ALIKE = "alike"
"""The state space of local memory that is the same in all lanes of a warp (`simt.analysis.alike_frames`)."""


FAR = 1 << 16
"""Bytes of a step with which 32 lanes in a small state space surely do not wrap around."""


REGISTER = 64
"""Bytes."""


NEAR = 16
"""Bytes of a step up to which registers are permuted sooner than lanes are loaded and stored one by one: by
measurement, on an AMD Zen 5; twice as many for words of less than 4 bytes."""


GATHERED = 8
"""Bytes of the largest words that a CPU gathers and scatters: what is larger takes as many of them, but one
load or store for each lane."""


SPREAD = 320
"""Bytes between the words of as many lanes as a register holds, up to which those of lanes spread otherwise
are picked out of registers."""


FEW_LANES = 8
"""Words for all lanes of a warp, whose rows load the same ones, up to which single loads take less time than
a gather for each lane."""


FEW_ROWS = 4
"""Rows of a CTA in a warp up to which a store for each of them takes less time than a scatter, and lanes at
known distances within each of them are served like those of one row."""


class Pattern(Enum):
    """What is known, when compiling, of the addresses of a warp's lanes."""

    UNIFORM = "uniform"
    PER_ROW = "per row"
    CONTIGUOUS = "contiguous"
    STRIDED = "strided"
    UNKNOWN = "unknown"
    PRIVATE = "private"


class Way(Enum):
    """How it is done."""

    ONE = "one"
    """One scalar access, or one for each segment."""
    VECTOR = "vector"
    """One vector access for each segment."""
    WINDOW = "window"
    """Whole lines of shared memory, and look-ups in registers; a test at run time tells whether the lanes
    are close enough together, and `LANES` is the way where they are not."""
    STEPS = "steps"
    """One lane after the other, at known distances from the first of the row; `LANES` where the index wraps,
    or where not all lanes run that store, both of which are tested."""
    NEAR = "near"
    """The same for lanes few bytes apart: whole registers, in which each lane's words are looked up, or of
    which each lane's words are stored."""
    SPREAD = "spread"
    """Lanes that the analysis guesses to be at known distances from the first, such that few registers hold
    what a register of them loads: each lane's word is looked up. A test at run time tells; `LANES` is the way
    where it fails."""
    LANES = "lanes"
    """A gather or a scatter."""
    TURNS = "turns"
    """A function of the runtime that takes one lane after the other."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a warp loads or stores. `shape`: of the addresses; for `ONE` and `VECTOR` that which they are taken
    to have: if it is not exact, a test at run time tells, and `otherwise` is the way where the test fails (of
    `STEPS`: None for a gather or a scatter)."""

    way: Way
    shape: Shape
    otherwise: Way | None = None


def plan_of(
    shape: Shape,
    size: int,
    count: int,
    space: str,
    block: BlockShape,
    *,
    stores: bool,
    volatile: bool,
    windows: bool = False,
    gathers: bool = True,
    picks: int | None = None,
    near: bool | None = None,
) -> Plan:
    """How to access `count` elements, `size` bytes in all for each lane, at addresses of a shape. `windows`:
    the CPU can look words up in registers. `gathers`: it gathers faster than it loads lane by lane. `picks`:
    bytes of the smallest words that it picks out of two registers at once. `near`: few registers hold what
    lanes at such steps access, where others than `picks` tell."""
    pattern = pattern_of(shape, size, space)
    gathers = gathers and _suits_gathers(shape, size, block, stores)
    apart = _apart(size // count, count, stores, volatile)
    words = apart is Way.LANES and (space, size, count) == ("shared", 4, 1)
    near = are_near(shape.stride, size, count, picks) if near is None else near
    near = (
        near and _has_steps(pattern, shape) and not (space == "shared" and _would_wait(shape, size // count))
    )
    if windows and words and _may_be_near(pattern, shape) and not near:
        apart = Way.WINDOW
    elif _has_steps(pattern, shape) and volatile:
        if shape.stride == -size and not stores:
            return Plan(Way.STEPS, shape, apart)
    elif _has_steps(pattern, shape):
        if near:
            apart = Way.NEAR
        elif apart is Way.TURNS or shape.stride == -size or not gathers:
            apart = Way.STEPS
    own = pattern is Pattern.PRIVATE or space == "woven"
    if is_spread(shape, size, count, picks) and not (own or stores or volatile or (windows and words)):
        return Plan(Way.SPREAD, shape, apart)
    if pattern is Pattern.UNKNOWN and shape.is_guarded and shape.width == 1 and not stores:
        return Plan(Way.ONE, shape, apart)
    by_rows = not stores or (shape.width <= FEW_ROWS and not volatile)
    if pattern is Pattern.UNIFORM or (pattern is Pattern.PER_ROW and by_rows):
        return Plan(Way.ONE, shape)
    if pattern is Pattern.CONTIGUOUS:
        return Plan(Way.VECTOR, shape, None if shape.exact else apart)
    tested = apart is not Way.WINDOW or block.segments > 1
    if pattern is Pattern.UNKNOWN and shape.width == WARP and tested:
        return Plan(Way.VECTOR, Shape(block.segments, size, Hold.LIKELY), apart)
    return Plan(apart, shape)


def pattern_of(shape: Shape, size: int, space: str) -> Pattern:
    """What a shape says of addresses of `size` bytes each."""
    if space == "local":
        return Pattern.PRIVATE
    if shape.width == WARP:
        return Pattern.UNKNOWN
    if shape.stride == size:
        return Pattern.CONTIGUOUS
    if shape.stride:
        return Pattern.STRIDED
    if not shape.exact:
        return Pattern.UNKNOWN
    return Pattern.UNIFORM if shape.width == 1 else Pattern.PER_ROW


def _may_be_near(pattern: Pattern, shape: Shape) -> bool:
    """Whether a window of shared memory may serve lanes whose words are not contiguous."""
    every_second = pattern is Pattern.STRIDED and (shape.width, shape.stride) == (1, 8)  # a guess
    unsure = pattern is Pattern.CONTIGUOUS and not shape.exact
    return every_second or unsure or pattern is Pattern.UNKNOWN


def _has_steps(pattern: Pattern, shape: Shape) -> bool:
    """Whether all lanes are at known distances from the first of their row."""
    known = shape.width <= FEW_ROWS and shape.hold != Hold.LIKELY and abs(shape.stride) < FAR
    return known and pattern is Pattern.STRIDED


def _suits_gathers(shape: Shape, size: int, block: BlockShape, stores: bool) -> bool:
    """Whether gathers and scatters may take less than single loads and stores of lanes at known distances:
    not of more than what CPUs gather, nor of few words for all lanes."""
    few = shape.width * (WARP // block.segments) <= FEW_LANES
    return size <= GATHERED and (stores or not few)


def are_near(stride: int, size: int, count: int, picks: int | None) -> bool:
    """Whether few registers hold what lanes access that are `stride` bytes apart."""
    word = size // count
    near = NEAR if word >= 4 else 2 * NEAR
    return picks is not None and picks <= word <= 8 and size < stride <= near and stride % size == 0


def _would_wait(shape: Shape, word: int) -> bool:
    """Whether lanes have so much room between small words that there are mostly others of their own: counters
    of a thread, say, which it loads and stores one by one. A CPU that loads whole registers waits until what
    was just stored to parts of them has got to the cache. (A radix sort with 16 counters of 16 bits a thread:
    0.78 of the time word by word on an AMD Zen 4.)"""
    return word < 4 and shape.stride > NEAR


def is_spread(shape: Shape, size: int, count: int, picks: int | None) -> bool:
    """Whether it is guessed that lanes lie so that few registers hold the words of as many of them as a
    register holds, but not one after the other."""
    lanes = shape.by_bit
    if lanes is None or picks is None or count > 1 or not picks <= size <= 8 or any(x % size for x in lanes):
        return False
    together = lanes[: (REGISTER // size).bit_length() - 1]
    in_order = all(more == size << bit for bit, more in enumerate(lanes))
    return not in_order and sum(map(abs, together)) + size <= SPREAD


def _apart(word: int, count: int, stores: bool, volatile: bool) -> Way:
    """How lanes at unrelated addresses are served. CPUs gather and scatter words of 4 and 8 bytes; of
    smaller ones a gather can take the word around them."""
    if volatile or word > 8:
        return Way.TURNS
    return Way.TURNS if word < 4 and stores else Way.LANES


def is_proven(reach: Range, size: int, room: int) -> bool:
    """Whether `size` bytes at every address within bounds are aligned and lie in the first `room` bytes of
    their state space, so that no access needs a check."""
    return reach.lo >= 0 and reach.hi + size <= room and size <= 1 << reach.zeros
