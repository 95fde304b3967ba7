"""Launches that compiled code makes once more with other integers, and with equal grids and blocks."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import simt
from simt.driver.kernel import Kernel
from tests.unit.driver.counting import General

PTX = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry note(.param .u64 p_out, .param .u32 p_a, .param .s64 p_b, .param .u8 p_c, .param .f32 p_d,
                     .param .u16 p_e)
{
    .reg .b32 %r<9>;
    .reg .b64 %rd<6>;
    .reg .b16 %h<3>;
    .reg .f32 %f<2>;
    ld.param.u64 %rd1, [p_out];
    ld.param.u32 %r1, [p_a];
    ld.param.s64 %rd2, [p_b];
    ld.param.u8 %h1, [p_c];
    ld.param.f32 %f1, [p_d];
    ld.param.u16 %h2, [p_e];
    // a slot of 64 bytes for each launch: its number is what the first word of the array counts
    atom.global.add.u32 %r2, [%rd1], 1;
    add.u32 %r2, %r2, 1;
    mul.wide.u32 %rd3, %r2, 64;
    add.u64 %rd3, %rd3, %rd1;
    st.global.u32 [%rd3], %r1;
    st.global.u64 [%rd3+8], %rd2;
    cvt.u32.u16 %r3, %h1;
    st.global.u32 [%rd3+16], %r3;
    st.global.f32 [%rd3+20], %f1;
    cvt.u32.u16 %r4, %h2;
    st.global.u32 [%rd3+24], %r4;
    mov.u32 %r5, %nctaid.x;
    mov.u32 %r6, %ntid.x;
    st.global.u32 [%rd3+28], %r5;
    st.global.u32 [%rd3+32], %r6;
    ret;
}
"""
SLOTS = 64


class Noted(General):
    def __init__(self) -> None:
        self.device = simt.Device("sm_90", engine="jit", workers=1)
        self.kernel: Kernel = self.device.load(PTX)["note"]
        self.out = self.device.zeros(SLOTS * 16, "u4")
        self.float = np.float32(0.5)
        self.count(self.device)

    def __call__(self, a: Any = 1, b: Any = 2, c: Any = 3, d: Any = None, e: Any = 4) -> dict[str, Any]:
        """What the launch was given, by what it noted."""
        self.kernel(1, 1, (self.out, a, b, c, self.float if d is None else d, e))
        return self.last

    @property
    def last(self) -> dict[str, Any]:
        words = self.out.numpy()
        slot = words[16 * int(words[0]) :][:16].copy()
        rest = {"c": int(slot[4]), "d": float(slot.view("f4")[5]), "e": int(slot[6])}
        return {"a": int(slot[0]), "b": int(slot.view("i8")[1]), **rest, "of": (int(slot[7]), int(slot[8]))}


GIVEN = {"a": 1, "b": 2, "c": 3, "d": 0.5, "e": 4, "of": (1, 1)}


@pytest.fixture
def noted() -> Noted:
    """The next launch is made by compiled code."""
    noted = Noted()
    for _ in range(3):
        assert noted() == GIVEN
    noted.general = 0
    return noted


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("a", [0, 7, 1000, 65536, (1 << 32) - 1, 1]),
        ("b", [0, 255, 1 << 31, 1 << 40, (1 << 63) - 1, 2]),
        ("c", [0, 255, 128, 3]),
        ("e", [0, 256, 65535, 4]),
    ],
)
def test_other_integers_of_pythons(noted: Noted, name: str, values: list[int]) -> None:
    for value in values:
        assert noted(**{name: value}) == GIVEN | {name: value}
    assert noted.general == 0
    assert noted() == GIVEN


@pytest.mark.parametrize("kind", ["u4", "i4"])
def test_other_integers_of_numpys(kind: str) -> None:
    noted, of = Noted(), np.dtype(kind).type
    for turn in range(20):
        assert noted(a=of(turn), b=np.int64(turn << 33), c=np.uint8(turn), e=np.int16(3 * turn)) == GIVEN | {
            "a": turn, "b": turn << 33, "c": turn, "e": 3 * turn
        }  # fmt: skip
        gc.collect()
    assert noted.general == 3


@pytest.mark.parametrize(
    ("name", "value", "means"),
    [
        ("a", -1, (1 << 32) - 1),
        ("a", np.int32(-5), (1 << 32) - 5),
        ("a", True, 1),
        ("a", np.int32(9), 9),
        ("a", np.uint32(9), 9),
        ("b", -1, -1),
        ("b", -(1 << 63), -(1 << 63)),
        ("b", np.int64(-7), -7),
        ("b", (1 << 64) - 1, -1),
        ("c", -128, 128),
        ("d", np.float32(np.inf), np.inf),
        ("d", 2, 2.0),
        ("d", 0.25, 0.25),
    ],
)
def test_what_is_rarer_goes_the_usual_way(noted: Noted, name: str, value: Any, means: Any) -> None:
    """And leaves nothing behind."""
    assert noted(**{name: value}) == GIVEN | {name: means}
    assert noted.general == 1
    for _ in range(4):
        assert noted() == GIVEN
        assert noted(a=5) == GIVEN | {"a": 5}


@pytest.mark.parametrize(
    ("name", "value"), [("a", 1 << 32), ("a", 1.5), ("a", "1"), ("c", 256), ("e", 1 << 70), ("b", None)]
)
def test_what_is_wrong_is_still_refused(noted: Noted, name: str, value: Any) -> None:
    for _ in range(3):
        with pytest.raises(simt.LaunchError):
            noted(**{"a": 8} | {name: value})
    assert noted.general == 0
    assert noted() == GIVEN


def test_a_launch_that_is_refused_half_way_changes_nothing(noted: Noted) -> None:
    """The first number is written before the last one is found to be wrong."""
    with pytest.raises(simt.LaunchError):
        noted(a=77, e=1 << 16)
    assert noted() == GIVEN
    with pytest.raises(simt.LaunchError):
        noted(a=78, e="4")
    assert noted(b=6) == GIVEN | {"b": 6}


class Number:
    """Says that it is a number."""

    asked = 0

    def __index__(self) -> int:
        Number.asked += 1
        return 3


def test_nobody_elses_code_is_run(noted: Noted) -> None:
    with pytest.raises(simt.LaunchError):
        noted(a=Number())
    assert not Number.asked


def test_equal_grids_and_blocks(noted: Noted) -> None:
    for turn in range(12):
        noted.kernel((int("2"), 1), (int("1"), 1, 1), (noted.out, turn, 2, 3, noted.float, 4))
        assert noted.last == GIVEN | {"a": turn, "of": (2, 1)}
    assert noted.general == 3


@pytest.mark.parametrize(
    ("grid", "block"),
    [((2, 1), (2,)), ((2, 1, 1), (1,)), (2, (1,)), ((2, 1), 1), ((3, 1), (1,)), ((np.int64(2), 1), (1,))],
)
def test_others_than_the_known_ones(noted: Noted, grid: Any, block: Any) -> None:
    for _ in range(4):
        noted.kernel((2, 1), (1,), (noted.out, 1, 2, 3, noted.float, 4))
    noted.general = 0
    noted.kernel(grid, block, (noted.out, 1, 2, 3, noted.float, 4))
    assert noted.general == 1
    first = (grid if isinstance(grid, int) else int(grid[0])), (block if isinstance(block, int) else block[0])
    assert noted.last["of"] == first


def test_large_grids_are_compared_by_what_they_say() -> None:
    noted = Noted()
    empty = noted.device.load(PTX.replace("ld.param.u64 %rd1, [p_out];", "ret; ld.param.u64 %rd1, [p_out];"))
    kernel, out = empty["note"], noted.out
    for turn in range(8):
        kernel((int("70000"), int("3")), (1,), (out, turn, 2, 3, noted.float, 4))
    assert noted.general == 3
    kernel((int("70001"), int("3")), (1,), (out, 1, 2, 3, noted.float, 4))
    assert noted.general == 4
    last = kernel.last_launch
    assert last is not None
    assert last.grid == (70001, 3, 1)


@pytest.mark.parametrize("grid", [(2.0, 1), (True, 1), ("2", 1), (-1, 1), (1 << 70, 1)])
def test_nonsense_is_still_refused(noted: Noted, grid: Any) -> None:
    for _ in range(4):
        noted.kernel((2, 1), (1,), (noted.out, 1, 2, 3, noted.float, 4))
    before = noted.general
    try:
        noted.kernel(grid, (1,), (noted.out, 1, 2, 3, noted.float, 4))
    except simt.LaunchError:
        assert noted.general == before
    else:
        assert grid == (True, 1)


def test_a_module_has_one_object_for_a_kernel() -> None:
    noted = Noted()
    module = noted.kernel.module
    assert module["note"] is noted.kernel
    for turn in range(6):
        module["note"](1, 1, (noted.out, turn, 2, 3, noted.float, 4))
    assert noted.general == 3


FLOATS = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry floats(.param .u64 p_out, .param .f32 p_a, .param .f64 p_b, .param .u32 p_c)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [p_out];
    ld.param.b32 %r1, [p_a];
    ld.param.b64 %rd2, [p_b];
    ld.param.u32 %r2, [p_c];
    st.global.u64 [%rd1], %rd2;
    st.global.u32 [%rd1+8], %r1;
    st.global.u32 [%rd1+12], %r2;
    ret;
}
"""
LARGEST = float(np.finfo("f4").max)


class Floats(Noted):
    def __init__(self) -> None:
        super().__init__()
        self.floats = self.device.load(FLOATS)["floats"]

    def bits(self, a: Any, b: Any, c: Any = 0) -> tuple[int, int]:
        self.floats(1, 1, [self.out, a, b, c])
        words = self.out.numpy()
        assert words[3] == c
        return int(words[2]), int(words[:2].view("u8")[0])


def expected_bits(a: Any, b: Any) -> tuple[int, int]:
    """By NumPy's conversions."""
    with np.errstate(all="ignore"):
        return int(np.float32(a).view("u4")), int(np.float64(b).view("u8"))


EDGES = [0.0, -0.0, 1.0, -1.0, 0.1, 1 / 3, 1e-40, -1e-45, 7e-46, LARGEST, np.inf, -np.inf, np.nan, 16777217.0]


def test_other_floats() -> None:
    """Also in lists, which are as good as tuples. Infinity and NaNs go the usual way."""
    noted = Floats()
    for _ in range(3):
        noted.bits(1.5, 2.5)
    noted.general = 0
    random = np.random.default_rng(5)
    for a in [*EDGES, *random.normal(size=30).tolist()]:
        for b in (a, 0.3, -1e300):
            assert noted.bits(float(a), b) == expected_bits(a, b)
    assert noted.general <= 3 * 3 * 2  # what is not finite, and the launches after it
    assert noted.bits(1.5, 2.5) == expected_bits(1.5, 2.5)


def test_other_floats_of_numpys() -> None:
    noted = Floats()
    for turn in range(20):
        a, b = np.float32(turn / 7), np.float64(turn / 9)
        assert noted.bits(a, b, turn) == expected_bits(a, b)
        gc.collect()
    assert noted.general == 3


def test_what_is_too_large_for_a_float() -> None:
    noted = Floats()
    for _ in range(3):
        noted.bits(1.5, 2.5)
    for a in (LARGEST * 1.001, 1e39, -1e300):
        with pytest.raises(simt.LaunchError, match="p_a"):
            noted.bits(a, 2.5)
    half = LARGEST + 2.0**102  # rounds to the largest one
    assert noted.bits(half, 2.5) == expected_bits(LARGEST, 2.5)


def test_integers_for_floats_stand_for_themselves() -> None:
    noted = Floats()
    for a in (2, 2, 2, 2, 3, 2, 2.0, 2, 5, True):
        assert noted.bits(a, 2.5) == expected_bits(a, 2.5)
    for a in (2.0, 2.0, 2.0, 2.0, 3, 2.0, 4, 7.0):
        assert noted.bits(a, 2.5) == expected_bits(a, 2.5)


def test_a_list_of_arguments_may_change() -> None:
    noted = Floats()
    args: list[Any] = [noted.out, 1.0, 2.0, 0]
    for turn in range(12):
        args[1], args[3] = turn / 3, turn
        noted.floats(1, 1, args)
        assert noted.out.numpy()[2:4].tolist() == [expected_bits(turn / 3, 0)[0], turn]
    assert noted.general == 3
    for wrong in ([], args[:3], [*args, 1], [None, *args[1:]]):
        with pytest.raises(simt.LaunchError):
            noted.floats(1, 1, wrong)
    noted.floats(1, 1, args)
    assert noted.general <= 5
