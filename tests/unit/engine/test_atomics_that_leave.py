"""Atomic operations that leave what they find, or come too late: nothing is locked for them. Two threads and
more get at the same places; what must hold in whatever order they come is checked."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.engine.llvm_updates import leaves
from simt.ptx.types import B32, F32, S32, U32
from tests.conftest import kept_for_each_way

HEAD = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 places, .param .u64 values, .param .u32 n)
{{
    .reg .u32 %i, %c, %w, %n; .reg .u64 %o, %p, %v, %d; .reg .{type} %x, %old, %free; .reg .pred %q;
    ld.param.u64 %o, [out];
    ld.param.u64 %p, [places];
    ld.param.u64 %v, [values];
    ld.param.u32 %n, [n];
    mov.u32 %i, %tid.x;
    mov.u32 %c, %ctaid.x;
    mov.u32 %w, %ntid.x;
    mad.lo.u32 %i, %c, %w, %i;
    mul.wide.u32 %d, %i, {size};
    add.u64 %v, %v, %d;
    add.u64 %o, %o, %d;
    ld.global.{type} %x, [%v];
    {place}
    {update}
    st.global.{type} [%o], %old;
    ret;
}}
"""
SCATTERED = "rem.u32 %c, %i, %n; mul.wide.u32 %d, %c, {size}; add.u64 %p, %p, %d;"
CTAS, THREADS = 512, 64
BOUNDS = {"u32": (0, 2**32), "s32": (-(2**31), 2**31), "u64": (0, 2**63), "s64": (-(2**63), 2**63)}


@kept_for_each_way
def device_with(workers: int) -> simt.Device:
    return simt.Device("sm_90", engine="jit", workers=workers, memory="64MiB", timeout=60)


@pytest.fixture(params=[1, 2, 4])
def device(request: pytest.FixtureRequest) -> simt.Device:
    return device_with(request.param)


def kernel(kind: str, update: str, scattered: bool) -> str:
    size = 8 if kind.endswith("64") else 4
    place = SCATTERED.format(size=size) if scattered else ""
    return HEAD.format(type=kind, size=size, place=place, update=update)


@pytest.mark.parametrize("scattered", [False, True])
@pytest.mark.parametrize("kind", BOUNDS)
@pytest.mark.parametrize("op", ["min", "max"])
def test_extremes(device: simt.Device, op: str, kind: str, scattered: bool) -> None:
    """The last value is the extreme one, and nobody found anything beyond it, nor beyond its own."""
    n, dtype = 37 if scattered else 1, np.dtype(kind[0].replace("s", "i") + str(int(kind[1:]) // 8))
    values = np.random.default_rng(len(kind)).integers(*BOUNDS[kind], CTAS * THREADS, dtype=dtype)
    start = np.full(n, values[0])
    places, out = device.array(start), device.zeros(values.shape, dtype)
    text = kernel(kind, f"atom.global.{op}.{kind} %old, [%p], %x;", scattered)
    device.load(text)["k"](CTAS, THREADS, (out, places, device.array(values), n))
    function = np.minimum if op == "min" else np.maximum
    expected = [function(function.reduce(values[i::n]), start[i]) for i in range(n)]
    np.testing.assert_array_equal(places.numpy(), expected)
    found, last = out.numpy(), places.numpy()[np.arange(values.size) % n]
    np.testing.assert_array_equal(function(found, last), last)
    for i in range(n):  # each that changed a place found another value there
        here, mine = found[i::n], values[i::n]
        changed = here[function(here, mine) != here]
        assert len(np.unique(changed)) == len(changed)
        assert (len(changed) > 0) == (expected[i] != start[i])


@pytest.mark.parametrize("kind", ["b32", "b64"])
@pytest.mark.parametrize("scattered", [False, True])
def test_one_takes_a_place(device: simt.Device, kind: str, scattered: bool) -> None:
    """Of all that try to, one finds it free, and all others find that one's number."""
    n, dtype = 37 if scattered else 1, np.dtype("u4" if kind == "b32" else "u8")
    values = np.arange(1, CTAS * THREADS + 1, dtype=dtype)
    places, out = device.zeros(n, dtype), device.zeros(values.shape, dtype)
    text = kernel(kind, f"mov.{kind} %free, 0; atom.global.cas.{kind} %old, [%p], %free, %x;", scattered)
    device.load(text)["k"](CTAS, THREADS, (out, places, device.array(values), n))
    taken, found = places.numpy(), out.numpy()
    first = found == 0
    assert first.sum() == n
    np.testing.assert_array_equal(np.sort(values[first]), np.sort(taken))
    np.testing.assert_array_equal(found[~first], taken[np.arange(values.size) % n][~first])


def test_which_are_told() -> None:
    assert [leaves("max", t) for t in (S32, U32)] == ["sge", "uge"]
    assert [leaves("min", t) for t in (S32, U32)] == ["sle", "ule"]
    assert leaves("cas", B32) == "ne"
    assert {leaves(*asked) for asked in (("add", U32), ("exch", B32), ("max", F32))} == {""}
