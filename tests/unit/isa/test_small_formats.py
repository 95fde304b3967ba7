"""Formats of 8 bits, against their definition: every half, every pair of codes, singles around every edge."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import simt

HEAD = ".version 7.8\n.target sm_90\n.address_size 64\n"
BODY = """
.visible .entry k (.param .u64 x, .param .u64 y, .param .u64 out)
{{
    .reg .u32 %i, %n, %c; .reg .u64 %p; .reg .b16 %h; .reg .b32 %r; .reg .f32 %f, %g;
    mov.u32 %i, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %c, %ctaid.x;
    mad.lo.u32 %i, %c, %n, %i;
    ld.param.u64 %p, [x]; mad.wide.u32 %p, %i, {source}, %p; {load}
    ld.param.u64 %p, [y]; mad.wide.u32 %p, %i, 4, %p; ld.global.f32 %g, [%p];
    {convert}
    ld.param.u64 %p, [out]; mad.wide.u32 %p, %i, {result}, %p; {store}
    ret;
}}
"""
FORMATS = {"e4m3": (3, 7, 0x7E), "e5m2": (2, 15, 0x7B)}


@pytest.fixture(params=["jit", "interpreter"])
def device(request: pytest.FixtureRequest) -> simt.Device:
    return simt.Device("sm_90", engine=request.param, memory="64MiB")


def numbers(name: str) -> NDArray[np.float64]:
    """The positive numbers of a format by code, by its definition."""
    mantissa, bias, largest = FORMATS[name]
    codes = np.arange(largest + 1)
    exponent, fraction = codes >> mantissa, codes & (1 << mantissa) - 1
    subnormal = np.ldexp(fraction.astype("f8"), 1 - bias - mantissa)
    return np.where(
        exponent == 0, subnormal, np.ldexp(fraction + (1 << mantissa), exponent - bias - mantissa)
    )


def nearest(name: str, values: NDArray[np.floating], relu: bool) -> NDArray[np.uint8]:
    """Codes of the nearest numbers; of two equally near ones the even code. NaN is 0x7F."""
    known = numbers(name)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        exact = values.astype("f8")
    size = np.minimum(np.nan_to_num(np.abs(exact), nan=0.0, posinf=known[-1]), known[-1])
    above = np.clip(np.searchsorted(known, size), 1, len(known) - 1)
    low, high = size - known[above - 1], known[above] - size
    code = np.where((high < low) | ((high == low) & (above % 2 == 0)), above, above - 1)
    code = code | np.where(np.signbit(exact), 0x80, 0)
    if relu:
        code = np.where(np.signbit(exact), 0, code)
    return np.where(np.isnan(exact), 0x7F, code).astype("u1")


def run(
    device: simt.Device, convert: str, x: NDArray[np.generic], y: NDArray[np.float32], result: str
) -> NDArray[np.generic]:
    bits = x.itemsize * 8
    into = {16: "%h", 32: "%f" if x.dtype == np.float32 else "%r"}[bits]
    store = {"u2": "st.global.b16 [%p], %h;", "u4": "st.global.b32 [%p], %r;"}[result]
    text = BODY.format(
        source=x.itemsize,
        load=f"ld.global.b{bits} {into}, [%p];",
        convert=convert,
        store=store,
        result=result[1],
    )
    out = device.zeros(x.size, result)
    device.load(HEAD + text)["k"](x.size // 256, 256, (device.array(x), device.array(y), out))
    return out.numpy()


HALVES = np.arange(1 << 16, dtype="u2")
NOTHING = np.zeros(1 << 16, "f4")


@pytest.mark.parametrize("relu", ["", ".relu"])
@pytest.mark.parametrize("name", FORMATS)
def test_from_every_half(device: simt.Device, name: str, relu: str) -> None:
    others = np.random.default_rng(1).permutation(HALVES)
    found = run(
        device, f"cvt.rn.satfinite{relu}.{name}x2.f16x2 %h, %r;",
        HALVES.astype("u4") | others.astype("u4") << 16, NOTHING, "u2",
    )  # fmt: skip
    low, high = (nearest(name, h.view("f2"), bool(relu)) for h in (HALVES, others))
    np.testing.assert_array_equal(found & 0xFF, low)
    np.testing.assert_array_equal(found >> 8, high)


def edges(name: str) -> NDArray[np.float32]:
    """Every number, every middle between two, and the singles beside them; of both signs, and special."""
    known = numbers(name)
    middles = (known[1:] + known[:-1]) / 2
    beyond = known[-1] + (known[-1] - known[-2]) / 2 * np.array([1, 2, 3])
    plain = np.concatenate([known, middles, beyond]).astype("f4")
    near = np.concatenate(
        [plain, np.nextafter(plain, np.float32(np.inf)), np.nextafter(plain, np.float32(-1))]
    )
    special = np.array([0, 1e-45, 1e-38, 1.2e-38, 3e38, np.inf, np.nan], "f4")
    return np.concatenate([near, special, -near, -special]).astype("f4")


@pytest.mark.parametrize("relu", ["", ".relu"])
@pytest.mark.parametrize("name", FORMATS)
def test_from_singles(device: simt.Device, name: str, relu: str) -> None:
    """Every upper half of a single's bits, and every edge."""
    tops = np.arange(1 << 16, dtype="u4") << 16 | np.random.default_rng(2).integers(0, 1 << 16, 1 << 16)
    cases = np.concatenate([tops.astype("u4").view("f4"), edges(name)])
    x = np.resize(cases, -(-cases.size // 256) * 256)
    y = np.roll(x, 77)
    found = run(device, f"cvt.rn.satfinite{relu}.{name}x2.f32 %h, %f, %g;", x, y, "u2")
    np.testing.assert_array_equal(found >> 8, nearest(name, x, bool(relu)))
    np.testing.assert_array_equal(found & 0xFF, nearest(name, y, bool(relu)))


@pytest.mark.parametrize("relu", ["", ".relu"])
@pytest.mark.parametrize("name", FORMATS)
def test_to_halves(device: simt.Device, name: str, relu: str) -> None:
    """Every pair of codes. Those that no conversion gives: the infinity and further NaNs of e5m2."""
    found = run(device, f"cvt.rn{relu}.f16x2.{name}x2 %r, %h;", HALVES, NOTHING, "u4")
    known = np.full(128, np.nan)
    known[: len(numbers(name))] = numbers(name)
    if name == "e5m2":
        known[0x7C] = np.inf
    values = np.concatenate([known, -known]).astype("f2").view("u2")
    values[np.isnan(values.view("f2"))] = 0x7FFF
    if relu:
        values[128:] = np.where(values[128:] == 0x7FFF, 0x7FFF, 0)
    np.testing.assert_array_equal(found & 0xFFFF, values[HALVES & 0xFF])
    np.testing.assert_array_equal(found >> 16, values[HALVES >> 8])
