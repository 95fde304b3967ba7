"""Barriers beyond `__syncthreads`: reductions, numbers, counts, arrivals, deadlocks."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from tests.programs.harness import load


@pytest.mark.parametrize(("threads", "limit"), [(128, 100), (70, 70), (33, 5), (1, 1)])
def test_reductions_over_a_cta(device: simt.Device, threads: int, limit: int) -> None:
    out = device.zeros(2 * threads, "i4")
    load(device, "barriers")["reductions"]((2,), (threads,), (out, limit))
    t = np.arange(threads)
    expected = 4 * (t * 7 % 3 == 1).sum() + 2 * (limit < threads) + (limit >= threads)
    expected += 1000 * sum(min(threads, 40 * i) > 50 for i in range(3))
    np.testing.assert_array_equal(out.numpy(), np.full(2 * threads, expected))


def test_producers_only_arrive(device: simt.Device) -> None:
    out = device.zeros(128, "i4")
    load(device, "barriers")["producers"]((3,), (128,), (out,))
    t = np.arange(128)
    first = np.where(t < 64, 1, 3 * (t - 64))
    np.testing.assert_array_equal(out.numpy(), first + 3 * ((t + 1) % 64))


@pytest.mark.parametrize("number", [0, 3, 15])
def test_the_number_may_be_computed(device: simt.Device, number: int) -> None:
    out = device.zeros(64, "i4")
    load(device, "barriers")["computed"]((1,), (64,), (out, number))
    np.testing.assert_array_equal(out.numpy(), np.full(64, number))


@pytest.mark.parametrize("number", [16, 99])
def test_there_are_sixteen_barriers(device: simt.Device, number: int) -> None:
    out = device.zeros(64, "i4")
    with pytest.raises(simt.BarrierError, match=f"there is no barrier {number}: a CTA has 16"):
        load(device, "barriers")["computed"]((1,), (64,), (out, number))


def test_threads_that_wait_for_each_other_at_two_barriers(device: simt.Device) -> None:
    out = device.zeros(64, "i4")
    with pytest.raises(simt.BarrierError, match="deadlock: threads wait at barrier 1") as caught:
        load(device, "barriers")["deadlock"]((1,), (64,), (out,))
    assert caught.value.site.cta == (0, 0, 0)
    assert caught.value.site.thread == (0, 0, 0)
    assert caught.value.site.line is not None
    assert not out.numpy().any()
