"""How a warp gets at memory, by the shape of the address."""

from __future__ import annotations

import pytest

from simt.analysis.access import Pattern, Plan, Way, is_proven, pattern_of, plan_of
from simt.analysis.range_algebra import Range
from simt.analysis.shape import BlockShape, Hold, Shape

ROWS = BlockShape(16, 16, 1)  # a warp holds two rows of 16 lanes
LINE = BlockShape(64, 1, 1)
VARYING = Shape(32)


@pytest.mark.parametrize(
    ("shape", "space", "pattern"),
    [
        (Shape(1), "global", Pattern.UNIFORM),
        (Shape(2), "global", Pattern.PER_ROW),
        (Shape(1, 4), "shared", Pattern.CONTIGUOUS),
        (Shape(2, 4, Hold.GUARDED), "global", Pattern.CONTIGUOUS),
        (Shape(1, 8), "global", Pattern.STRIDED),
        (Shape(1, -4), "global", Pattern.STRIDED),
        (VARYING, "global", Pattern.UNKNOWN),
        (Shape(1, 0, Hold.LIKELY), "global", Pattern.UNKNOWN),  # lanes may have come from different places
        (Shape(1), "local", Pattern.PRIVATE),
    ],
)
def test_patterns_of_words_of_4_bytes(shape: Shape, space: str, pattern: Pattern) -> None:
    assert pattern_of(shape, 4, space) is pattern


def load(shape: Shape, size: int = 4, count: int = 1, space: str = "global", volatile: bool = False) -> Plan:
    return plan_of(shape, size, count, space, ROWS, stores=False, volatile=volatile)


def store(shape: Shape, size: int = 4, count: int = 1, space: str = "global", volatile: bool = False) -> Plan:
    return plan_of(shape, size, count, space, ROWS, stores=True, volatile=volatile)


def test_one_access_serves_lanes_with_one_address() -> None:
    assert load(Shape(1)).way is store(Shape(1)).way is Way.ONE
    assert load(Shape(2)).way is Way.ONE
    assert store(Shape(2)).way is store(Shape(4)).way is Way.ONE
    assert store(Shape(8)).way is Way.LANES
    assert store(Shape(2), volatile=True).way is Way.TURNS
    assert load(Shape(1), space="local").way is Way.LANES


def test_a_known_stride_needs_no_test() -> None:
    assert load(Shape(2, 4)) == Plan(Way.VECTOR, Shape(2, 4))
    assert load(Shape(2, 16), size=16, count=4) == Plan(Way.VECTOR, Shape(2, 16))
    assert load(Shape(2, 8)) == Plan(Way.LANES, Shape(2, 8))


def test_what_is_not_sure_is_tested() -> None:
    guarded = Shape(2, 4, Hold.GUARDED)
    assert load(guarded) == Plan(Way.VECTOR, guarded, Way.LANES)
    assert load(VARYING) == Plan(Way.VECTOR, Shape(2, 4, Hold.LIKELY), Way.LANES)
    assert plan_of(VARYING, 8, 1, "global", LINE, stores=True, volatile=False) == Plan(
        Way.VECTOR, Shape(1, 8, Hold.LIKELY), Way.LANES
    )


def test_rows_at_steps() -> None:
    """Up to four rows of a warp, as one: few registers, or one lane after the other."""

    def plan(shape: Shape, gathers: bool, stores: bool = False) -> Plan:
        return plan_of(shape, 4, 1, "global", ROWS, stores=stores, volatile=False, gathers=gathers, picks=2)

    assert plan(Shape(2, 8), gathers=True).way is plan(Shape(4, 16), gathers=False).way is Way.NEAR
    assert plan(Shape(2, 20), gathers=False).way is Way.STEPS
    assert plan(Shape(2, 20), gathers=False, stores=True).way is Way.STEPS
    assert plan(Shape(2, 20), gathers=True).way is plan(Shape(8, 8), gathers=False).way is Way.LANES


@pytest.mark.parametrize(
    ("width", "stores", "way"), [(1, False, Way.STEPS), (1, True, Way.LANES), (2, False, Way.LANES)]
)
def test_rows_that_load_the_same_words(width: int, stores: bool, way: Way) -> None:
    """Eight at most are loaded one by one on all CPUs."""
    block = BlockShape(8, 8, 1)
    assert plan_of(Shape(width, 32), 4, 1, "global", block, stores=stores, volatile=False).way is way


def test_words_that_no_gather_takes() -> None:
    assert load(Shape(2, 2), size=1).way is Way.LANES  # out of the word around it
    assert load(Shape(2, 8), size=2, count=2).way is Way.LANES  # the same
    assert load(Shape(2, 8), size=4, count=4).way is Way.LANES  # four of them are a word
    assert store(Shape(8, 8), size=2).way is Way.TURNS
    assert load(VARYING, volatile=True).otherwise is Way.TURNS


def test_vectors_that_go_backwards() -> None:
    back = Shape(1, -4, Hold.GUARDED)
    assert load(back) == Plan(Way.STEPS, back)
    assert load(back, volatile=True) == Plan(Way.STEPS, back, Way.TURNS)
    assert load(Shape(1, -8), 8, 2, volatile=True).way is Way.STEPS
    assert load(Shape(1, -12), volatile=True).way is store(back, volatile=True).way is Way.TURNS


def test_proven_addresses() -> None:
    words = Range(16, 28, zeros=2)  # 16, 20, 24, 28
    assert is_proven(words, 4, 32)
    assert not is_proven(words, 4, 31)  # the last word ends at 32
    assert not is_proven(words, 8, 64)  # 20 is no multiple of 8
    assert not is_proven(Range(-4, 28, zeros=2), 4, 64)


@pytest.mark.parametrize("stores", [False, True])
def test_words_close_together_in_shared_memory(stores: bool) -> None:
    def plan(shape: Shape, size: int = 4, space: str = "shared", block: BlockShape = LINE) -> Plan:
        return plan_of(shape, size, 1, space, block, stores=stores, volatile=False, windows=True)

    assert plan(VARYING) == Plan(Way.WINDOW, VARYING)
    assert plan(Shape(1, 8)).way is Way.WINDOW
    assert plan(Shape(1, -8)).way is plan(Shape(1, 132)).way is Way.LANES
    assert plan(Shape(1, 4)) == Plan(Way.VECTOR, Shape(1, 4))
    assert plan(VARYING, size=8).otherwise is Way.LANES
    assert plan(VARYING, space="global").otherwise is Way.LANES
    assert plan(VARYING, block=ROWS) == Plan(Way.VECTOR, Shape(2, 4, Hold.LIKELY), Way.WINDOW)


@pytest.mark.parametrize("stores", [False, True])
def test_known_steps_where_gathers_are_slow(stores: bool) -> None:
    def plan(shape: Shape, size: int = 4, count: int = 1, gathers: bool = False) -> Plan:
        return plan_of(shape, size, count, "global", LINE, stores=stores, volatile=False, gathers=gathers)

    assert plan(Shape(1, 132)).way is plan(Shape(1, 8, Hold.GUARDED)).way is Way.STEPS
    assert plan(Shape(1, 32), size=16, count=4).way is Way.STEPS
    assert plan(Shape(1, 132), gathers=True).way is Way.LANES
    assert plan(Shape(1, 32), size=16, count=4, gathers=True).way is Way.STEPS  # larger than what is gathered
    assert plan(Shape(1, 32), size=8, count=2, gathers=True).way is Way.LANES
    assert plan(Shape(1, -4), gathers=True).way is Way.STEPS  # a vector backwards
    assert plan(Shape(8, 8)).way is plan(Shape(1, 1 << 20)).way is Way.LANES
    assert plan(Shape(1, 8, Hold.LIKELY)).way is Way.LANES


@pytest.mark.parametrize("stores", [False, True])
def test_lanes_few_bytes_apart_where_registers_are_looked_up(stores: bool) -> None:
    def plan(stride: int, size: int = 4, count: int = 1, picks: int = 1, volatile: bool = False) -> Way:
        shape = Shape(1, stride, Hold.GUARDED)
        return plan_of(shape, size, count, "global", LINE, stores=stores, volatile=volatile, picks=picks).way

    assert plan(8) is plan(16) is plan(3, size=1) is plan(32, size=1) is plan(16, size=8, count=2) is Way.NEAR
    assert Way.NEAR not in (plan(20), plan(6), plan(33, size=1), plan(3, size=1, picks=4))
    assert plan(8, volatile=True) is Way.TURNS


@pytest.mark.parametrize("stores", [False, True])
def test_room_for_others_between_small_words_of_shared_memory(stores: bool) -> None:
    """They are counters of each thread, which are stored to and loaded from by turns."""

    def plan(stride: int, space: str, size: int = 2) -> Way:
        shape = Shape(1, stride)
        return plan_of(shape, size, 1, space, LINE, stores=stores, volatile=False, picks=1).way

    assert plan(16, "shared") is plan(32, "global") is plan(16, "shared", size=4) is Way.NEAR
    assert Way.NEAR not in (plan(32, "shared"), plan(18, "shared"))


def test_what_is_the_same_for_all_lanes_of_one_row() -> None:
    row = Shape(1, 0, Hold.IN_ROWS)
    assert load(row) == Plan(Way.ONE, row, Way.LANES)
    assert store(row).way is Way.LANES
    column = Shape(1, 4, Hold.IN_ROWS)
    assert load(column) == Plan(Way.VECTOR, column, Way.LANES)
