"""Device arrays: protocols, copies, lifetimes."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

from simt.driver.device import Device
from simt.errors import OutOfMemory, SimtError


def test_array_is_a_copy_in_device_memory(device: Device) -> None:
    host = np.arange(12, dtype="f4").reshape(3, 4)
    x = device.array(host)
    host[:] = 0
    assert (x.shape, x.dtype, x.nbytes, x.size, x.ndim, len(x)) == ((3, 4), np.dtype("f4"), 48, 12, 2, 3)
    assert device.memory.base <= x.ptr < device.memory.limit
    np.testing.assert_array_equal(x.numpy(), np.arange(12).reshape(3, 4))


def test_views_are_shared_and_writable(device: Device) -> None:
    x = device.zeros((2, 3), "i8")
    x.numpy()[1, 2] = 5
    assert x.numpy()[1, 2] == 5
    assert device.memory.view(x.ptr, x.nbytes).view("i8")[-1] == 5


@pytest.mark.parametrize(
    "host",
    [
        np.float32(3.5),
        np.zeros((0, 4), "u2"),
        np.asfortranarray(np.arange(6).reshape(2, 3)),
        np.arange(10)[::-2],
        np.array([(1, 2.5)], dtype=[("n", "i4"), ("x", "f8")]),
        np.array([1 + 2j]),
        [[1, 2], [3, 4]],
    ],
)
def test_any_array_comes_back_as_it_was(device: Device, host: Any) -> None:
    x = device.array(host)
    np.testing.assert_array_equal(x.numpy(), np.asarray(host))
    assert x.numpy().dtype == np.asarray(host).dtype


def test_python_objects_are_refused(device: Device) -> None:
    with pytest.raises(TypeError, match="holds Python objects"):
        device.array(np.array([object()]))


@pytest.mark.parametrize("dtype", [">f4", [("a", "<i4"), ("b", ">i4")]])
def test_swapped_bytes_are_refused(device: Device, dtype: Any) -> None:
    """A kernel would take them for other numbers."""
    with pytest.raises(TypeError, match="has its bytes in the other order than the device; use astype"):
        device.array(np.zeros(3, dtype))
    with pytest.raises(TypeError, match="other order"):
        device.zeros(3, dtype)


def test_negative_shapes_are_refused(device: Device) -> None:
    with pytest.raises(ValueError, match="negative extent"):
        device.zeros((2, -1))


def test_numpy_and_dlpack_share_the_memory(device: Device) -> None:
    x = device.array(np.arange(4.0))
    shared = np.asarray(x)
    shared[0] = 9
    assert np.from_dlpack(x)[0] == x.numpy()[0] == 9
    assert np.array(x, dtype="f4").dtype == np.float32
    copied = np.array(x)
    copied[1] = 7
    assert x.numpy()[1] == 1


def test_copy_from(device: Device) -> None:
    x = device.zeros((2, 2), "f4")
    x.copy_from([[1, 2], [3, 4]])
    y = x.copy()
    x.copy_from(7)
    np.testing.assert_array_equal(x.numpy(), np.full((2, 2), 7))
    np.testing.assert_array_equal(y.numpy(), [[1, 2], [3, 4]])
    y.copy_from(x)
    np.testing.assert_array_equal(y.numpy(), x.numpy())
    with pytest.raises(ValueError, match="broadcast"):
        x.copy_from(np.zeros(3))


def test_memory_is_freed_with_the_last_view(device: Device) -> None:
    x = device.zeros(1 << 20, "u1")
    view = x.numpy()[10:20]
    del x
    gc.collect()
    assert device.memory.used == 1 << 20
    view[:] = 1
    del view
    gc.collect()
    assert device.memory.used == 0


def test_arrays_in_cycles_are_collected_before_memory_runs_out(device: Device) -> None:
    cycle: list[Any] = [device.zeros(60 << 20, "u1")]
    cycle.append(cycle)
    del cycle
    assert device.zeros(60 << 20, "u1").nbytes == 60 << 20


def test_explicit_free(device: Device) -> None:
    x = device.zeros(4)
    x.free()
    x.free()
    assert x.is_freed
    assert repr(x) == "<DeviceArray float64 (4,) freed on sm_90>"
    with pytest.raises(SimtError, match=r"^the device array was freed$"):
        x.numpy()


def test_too_large(device: Device) -> None:
    with pytest.raises(OutOfMemory, match="cannot allocate 1,099,511,627,776 bytes"):
        device.zeros((1 << 20, 1 << 20), "u1")


def test_arrays_outlive_their_device() -> None:
    device = Device("sm_90", memory="16MiB")
    view = device.array(np.arange(5)).numpy()
    del device
    gc.collect()
    assert view.sum() == 10
