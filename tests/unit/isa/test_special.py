"""The special function unit: its square by its definition, its bounds, and what chooses it."""

from __future__ import annotations

from collections.abc import Callable

import mpmath
import numpy as np
import pytest

import simt
from simt.engine.numpy_algebra import NumpyAlgebra
from simt.isa import special
from simt.isa.special_tables import PLACE, SLOPE_SHIFT, exact_table, measured, rounded_table
from simt.ptx.environment import Environment
from tests.unit.isa.meaning import Array, run

HARDWARE = Environment(approx="hardware")


def defined_square(x: int) -> int:
    """The sum of the partial products from column 19 on."""
    bits = [x >> i & 1 for i in range(PLACE)]
    pairs = [(bits[i] & bits[j]) << (i + j + 1) for i in range(PLACE) for j in range(i) if i + j + 1 >= 19]
    squares = [bits[i] << 2 * i for i in range(PLACE) if 2 * i >= 19]
    return (sum(pairs) + sum(squares)) >> 19


def test_the_square_lacks_the_lower_partial_products() -> None:
    places = np.random.default_rng(5).integers(1 << PLACE, size=3000, dtype=np.uint32)
    places[:4] = 0, 1, (1 << PLACE) - 1, 1 << (PLACE - 1)
    found = special.square(NumpyAlgebra(), places)
    assert found.tolist() == [defined_square(int(x)) for x in places]


@pytest.mark.parametrize("name", ["reciprocal", "reciprocal_root", "root", "exponential"])
def test_packed_tables_have_room(name: str) -> None:
    table, found = rounded_table(name), measured()[name]
    assert max(table.slopes) < 1 << 32
    assert max(entry & ((1 << SLOPE_SHIFT) - 1) for entry in table.slopes) == max(
        abs(c) * round(4 * found.c2_unit) for c in found.c2
    )


@pytest.mark.parametrize(("name", "fraction"), [("sine", 37), ("logarithm", 36)])
def test_exact_tables_lose_nothing_above_their_last_bit(name: str, fraction: int) -> None:
    table, found = exact_table(name, fraction), measured()[name]
    kept = 2.0 ** (24 + PLACE - fraction - table.fraction)
    slopes = [entry >> SLOPE_SHIFT for entry in table.slopes]
    assert [s * kept for s in slopes] == [abs(c) * found.c1_unit for c in found.c1]


class Beside(NumpyAlgebra):
    """Whose numbers near a root are as far from it as they may be."""

    def __init__(self, error: float) -> None:
        super().__init__()
        self.error = error

    def near_reciprocal_root(self, a: Array) -> Array:
        with np.errstate(all="ignore"):
            return ((1 + self.error) / np.sqrt(a.astype(np.float64))).astype(np.float32)


def _some_singles() -> Array:
    """The bits of numbers of all kinds, among them powers of two and what is next to them."""
    powers = np.arange(1, 255, dtype=np.uint32) << np.uint32(23)
    others = np.random.default_rng(3).integers(1 << 32, size=30_000, dtype=np.uint64).astype(np.uint32)
    return np.concatenate([powers - 1, powers, powers + 1, others])


@pytest.mark.parametrize("error", [-1.5 * 2.0**-12, 1.5 * 2.0**-12])
@pytest.mark.parametrize("function", [special.reciprocal_root, special.root])
def test_roots_do_not_depend_on_what_they_begin_with(
    function: Callable[[NumpyAlgebra, Array], Array], error: float
) -> None:
    bits = _some_singles()
    with np.errstate(all="ignore"):
        assert np.array_equal(function(Beside(error), bits), function(NumpyAlgebra(), bits))


def test_a_root_shows_a_number_that_is_too_far() -> None:
    """(The test above could fail.)"""
    bits = _some_singles()
    with np.errstate(all="ignore"):
        assert not np.array_equal(special.root(Beside(2.0**-9), bits), special.root(NumpyAlgebra(), bits))


@pytest.mark.parametrize(
    ("name", "function"), [("reciprocal_root", special.reciprocal_root), ("root", special.root)]
)
def test_roots_are_the_whole_sums(name: str, function: Callable[[NumpyAlgebra, Array], Array]) -> None:
    """A significand of 24 bits, from its sum with nothing left out."""
    m, bits = NumpyAlgebra(), np.arange((127 << 23) + 1, 129 << 23, 7, dtype=np.uint32)
    wanted = special.significand(m, name, *special.segment_and_place(m, bits & ((1 << 24) - 1)))
    assert np.array_equal(function(m, bits) & ((1 << 23) - 1) | 1 << 23, wanted)


def test_both_reciprocal_roots_are_of_one_table() -> None:
    """That of a double's upper half has the bits of that of the float with this significand."""
    singles = np.arange(127 << 23, 129 << 23, 8, dtype=np.uint32)
    doubles = np.arange(1023 << 20, 1025 << 20, dtype=np.uint32)
    m = NumpyAlgebra()
    found, upper = special.reciprocal_root(m, singles), special.upper_reciprocal_root(m, doubles)
    assert np.array_equal((found - (126 << 23)) >> 3, upper - (1022 << 20))


def numbers(low: float, high: float) -> Array:
    return np.random.default_rng(9).uniform(low, high, 1500).astype(np.float32)


BOUNDS: list[tuple[str, Array, Callable[[mpmath.mpf], mpmath.mpf], float]] = [
    ("rcp.approx.f32", numbers(1, 2), lambda x: 1 / x, 2.0**-23),
    ("rsqrt.approx.f32", numbers(1, 4), lambda x: 1 / mpmath.sqrt(x), 2.0**-22.4),
    ("sin.approx.f32", numbers(0, 1.57), mpmath.sin, 2.0**-20.9),
    ("cos.approx.f32", numbers(0, 1.57), mpmath.cos, 2.0**-20.9),
    ("lg2.approx.f32", numbers(1, 2), lambda x: mpmath.log(x, 2), 2.0**-22.5),
    ("ex2.approx.f32", numbers(0, 1), lambda x: mpmath.power(2, x), 2.0**-22.5),
    ("tanh.approx.f32", numbers(-9, 9), mpmath.tanh, 2.0**-11),
]
"""Absolute errors of PTX 1.4 tables 48 to 54; of the logarithm that of the handbook's table 8.11."""


@pytest.mark.parametrize(("opcode", "x", "function", "bound"), BOUNDS, ids=lambda v: str(v)[:16])
def test_the_manuals_bounds_hold(
    opcode: str, x: Array, function: Callable[[mpmath.mpf], mpmath.mpf], bound: float
) -> None:
    exact = np.array([float(function(mpmath.mpf(float(v)))) for v in x])
    assert np.max(np.abs(run(opcode, x, env=HARDWARE).astype(np.float64) - exact)) < bound


TEXT = """.version 7.8\n.target sm_90\n.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .u64 %a; .reg .f32 %x;
  ld.param.u64 %a, [out]; ld.global.f32 %x, [%a]; lg2.approx.f32 %x, %x; st.global.f32 [%a], %x; ret;
}"""


def logarithm_of_a_quarter(device: simt.Device) -> float:
    x = device.array(np.array([0.25], np.float32))
    device.load(TEXT)["k"]((1,), (1,), (x,))
    return float(x.numpy()[0])


@pytest.mark.parametrize("engine", ["jit", "interpreter"])
def test_the_device_chooses(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def device(approx: str | None = None) -> simt.Device:
        return simt.Device(engine=engine, memory="64MiB", approx=approx)

    below_two = float(np.nextafter(np.float32(-2), np.float32(0)))
    assert logarithm_of_a_quarter(device("fast")) == -2
    assert logarithm_of_a_quarter(device("hardware")) == below_two
    monkeypatch.setenv("SIMT_APPROX", "hardware")
    assert logarithm_of_a_quarter(device()) == below_two
    assert logarithm_of_a_quarter(device("fast")) == -2
