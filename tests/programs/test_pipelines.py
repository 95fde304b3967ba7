"""Barriers in shared memory and pipelines of asynchronous copies, as for sm_80 and for sm_90."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from tests.programs.harness import load, rng

pytestmark = pytest.mark.parametrize("name", ["pipelines", "pipelines.sm_90"])


@pytest.mark.share(2)
@pytest.mark.parametrize("block", [1, 34, 256])
def test_three_phases(device: simt.Device, name: str, block: int) -> None:
    y = device.zeros(block, "i4")
    load(device, name)["neighbours"](1, block, (y,))
    np.testing.assert_array_equal(y.numpy(), (np.arange(block) + 33) % block + 1)


@pytest.mark.share(2)
@pytest.mark.parametrize("block", [32, 100])
def test_a_barrier_that_knows_of_copies(device: simt.Device, name: str, block: int) -> None:
    x, y = rng().integers(0, 1000, block, dtype="i4"), device.zeros(block, "i4")
    load(device, name)["copies"](1, block, (device.array(x), y), shared_mem=4 * block)
    np.testing.assert_array_equal(y.numpy(), x[(np.arange(block) + 33) % block])


def test_a_pipeline_of_each_thread(device: simt.Device, name: str) -> None:
    x, y = rng().random(512, dtype="f4"), device.zeros(512, "f4")
    load(device, name)["own_pipeline"](1, 128, (device.array(x), y, 4))
    np.testing.assert_array_equal(y.numpy(), x * 2)


def test_a_pipeline_of_the_cta(device: simt.Device, name: str) -> None:
    x, y = rng().random((5, 128), dtype="f4"), device.zeros((5, 128), "f4")
    load(device, name)["shared_pipeline"](1, 128, (device.array(x), y, 5))
    np.testing.assert_array_equal(y.numpy(), x[:, np.arange(128) ^ 65])


@pytest.mark.share(2)
@pytest.mark.parametrize("rounds", [1, 2, 11])
def test_producer_and_consumer(device: simt.Device, name: str, rounds: int) -> None:
    x, y = rng().integers(0, 100, (rounds, 32), dtype="i4"), device.zeros(32, "i4")
    load(device, name)["producer_consumer"](1, 64, (device.array(x), y, rounds))
    expected = np.zeros(32, "i4")
    for row in x:
        expected = expected * 3 + row[np.arange(32) ^ 5]
    np.testing.assert_array_equal(y.numpy(), expected)


@pytest.mark.share(2)
@pytest.mark.parametrize(("block", "stay"), [(64, 40), (96, 32), (40, 40)])
def test_threads_that_drop_out(device: simt.Device, name: str, block: int, stay: int) -> None:
    y = device.zeros(block, "i4")
    load(device, name)["drop_out"](1, block, (y, stay))
    np.testing.assert_array_equal(y.numpy()[:stay], 200 + (np.arange(stay) + 1) % stay)


def test_a_lane_that_waits_for_its_warp(device: simt.Device, name: str) -> None:
    y = device.zeros(64, "i4")
    load(device, name)["lanes"](1, 64, (y,))
    expected = np.arange(64)
    expected[::32] = expected[1::32] + 1
    np.testing.assert_array_equal(y.numpy(), expected)
