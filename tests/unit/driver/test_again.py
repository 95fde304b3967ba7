"""Launches that repeat the latest one of their kernel: all that may be seen is that they are quicker."""

from __future__ import annotations

import gc
import struct
import time
from typing import Any

import numpy as np
import pytest

from simt.driver.device import Device
from simt.driver.module import Module
from simt.errors import FaultSite, LaunchError, MemoryFault
from simt.machine.launch import Launch

from .conftest import Recorder

GRID, BLOCK = (4,), (64,)


def packed(*values: Any) -> bytes:
    return struct.pack("<IfQQ", *values)


def test_the_same_objects_mean_the_same(device: Device, saxpy: Module, recorder: Recorder) -> None:
    kernel, x, y = saxpy["k"], device.zeros(4, "f4"), device.zeros(4, "f4")
    args = (np.uint32(4), np.float32(2), x, y)
    for _ in range(3):
        kernel(GRID, BLOCK, args)
        kernel(GRID, BLOCK, (*args,))
    assert [launch.parameters for launch in recorder.launches] == [packed(4, 2, x.ptr, y.ptr)] * 6
    assert [launch.grid_id for launch in recorder.launches] == [1, 2, 3, 4, 5, 6]
    assert {(launch.grid, launch.block) for launch in recorder.launches} == {((4, 1, 1), (64, 1, 1))}


def test_other_arguments(device: Device, saxpy: Module, recorder: Recorder) -> None:
    kernel, x, y = saxpy["k"], device.zeros(4, "f4"), device.zeros(4, "f4")
    wanted: list[bytes] = []
    for args in [(4, 2.0, x, y), (4, 2.0, y, x), (5, 2.0, y, x), (5, 3.0, y, x), (5, 3, 0, x.ptr)]:
        kernel(GRID, BLOCK, args)
        wanted.append(packed(*(getattr(a, "ptr", a) for a in args)))
    assert [launch.parameters for launch in recorder.launches] == wanted


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((4.0, 2.0, 0, 0), "parameter 0 k_param_0 (.u32): expected an integer, float 4.0 given"),
        ((4, 2.0, 0), "the kernel takes 4 arguments (k_param_0 (.u32); k_param_1 (.f32); k_param_2 (.u64); "
                      "k_param_3 (.u64)), 3 given"),
        ((), "the kernel takes 4 arguments (k_param_0 (.u32); k_param_1 (.f32); k_param_2 (.u64); "
             "k_param_3 (.u64)), 0 given"),
        (7, "args: expected a tuple of arguments, int given"),
    ],
)  # fmt: skip
def test_equal_is_not_the_same(saxpy: Module, recorder: Recorder, args: Any, message: str) -> None:
    kernel = saxpy["k"]
    for _ in range(3):
        kernel(GRID, BLOCK, (4, 2.0, 0, 0))
    with pytest.raises(LaunchError) as problem:
        kernel(GRID, BLOCK, args)
    assert str(problem.value) == f"kernel k: {message}"
    assert len(recorder.launches) == 3


def test_arguments_in_a_list_may_change(saxpy: Module, recorder: Recorder) -> None:
    kernel, args = saxpy["k"], [4, 2.0, 0, 0]
    for n in (4, 5):
        args[0] = n
        kernel(GRID, BLOCK, args)
    assert [launch.parameters for launch in recorder.launches] == [packed(n, 2, 0, 0) for n in (4, 5)]


def test_arrays_that_were_freed(device: Device, saxpy: Module, recorder: Recorder) -> None:
    kernel, x = saxpy["k"], device.zeros(4, "f4")
    args = (4, 2.0, x, 0)
    for _ in range(3):
        kernel(GRID, BLOCK, args)
    x.free()
    with pytest.raises(LaunchError, match=r"parameter 2 k_param_2 \(\.u64\): the array was freed$"):
        kernel(GRID, BLOCK, args)
    assert len(recorder.launches) == 3


def test_arrays_are_not_kept_alive(device: Device, saxpy: Module) -> None:
    kernel, before = saxpy["k"], device.memory.used
    for _ in range(3):
        kernel(GRID, BLOCK, (4, 2.0, device.zeros(1000, "f4"), 0))
        gc.collect()
        assert device.memory.used == before


@pytest.mark.parametrize("which", ["grid", "block"])
def test_shapes_in_a_list_may_change(saxpy: Module, recorder: Recorder, which: str) -> None:
    kernel, shape = saxpy["k"], [4]
    kernel(GRID, BLOCK, (4, 2.0, 0, 0))
    for n in (4, 5):
        shape[0] = n
        kernel(shape if which == "grid" else GRID, shape if which == "block" else BLOCK, (4, 2.0, 0, 0))
    assert [getattr(launch, which) for launch in recorder.launches[1:]] == [(4, 1, 1), (5, 1, 1)]


def test_other_grids(saxpy: Module, recorder: Recorder) -> None:
    kernel, args = saxpy["k"], (4, 2.0, 0, 0)
    grids: list[Any] = [(2,), (2,), 3, (3, 5), (2, 2, 2), (70_000,), 2]
    for grid in grids:
        kernel(grid, BLOCK, args)
    wanted = [(2, 1, 1), (2, 1, 1), (3, 1, 1), (3, 5, 1), (2, 2, 2), (70_000, 1, 1), (2, 1, 1)]
    assert [launch.grid for launch in recorder.launches] == wanted


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ((0,), "grid (0): every extent must be at least 1"),
        ((1, 70_000), "grid (1, 70000, 1): extent y may be at most 65535 on sm_90"),
        ((4.0,), "grid: expected an integer or 1 to 3 integers, (4.0,) given"),
        ((), "grid: expected an integer or 1 to 3 integers, () given"),
    ],
)
def test_other_grids_that_are_wrong(saxpy: Module, recorder: Recorder, grid: Any, message: str) -> None:
    kernel = saxpy["k"]
    for _ in range(3):
        kernel(GRID, BLOCK, (4, 2.0, 0, 0))
    with pytest.raises(LaunchError) as problem:
        kernel(grid, BLOCK, (4, 2.0, 0, 0))
    assert str(problem.value) == f"kernel k: {message}"
    assert len(recorder.launches) == 3


class Extent:
    """An integer that changes."""

    value = 4

    def __index__(self) -> int:
        return self.value


@pytest.mark.parametrize("in_tuple", [False, True])
def test_extents_that_change(saxpy: Module, recorder: Recorder, in_tuple: bool) -> None:
    kernel, extent = saxpy["k"], Extent()
    shape: Any = (extent,) if in_tuple else [extent]
    for n in (4, 5):
        extent.value = n
        kernel(shape, BLOCK, (4, 2.0, 0, 0))
    assert [launch.grid for launch in recorder.launches] == [(4, 1, 1), (5, 1, 1)]


def test_kernels_of_one_name_with_other_grids(saxpy: Module, recorder: Recorder) -> None:
    first, second = saxpy["k"], saxpy["k"]
    for _ in range(3):
        first((2,), BLOCK, (4, 2.0, 0, 0))
        second((3,), BLOCK, (5, 2.0, 0, 0))
    assert [launch.grid[0] for launch in recorder.launches] == [2, 3] * 3
    assert [launch.parameters[0] for launch in recorder.launches] == [4, 5] * 3


def test_what_the_device_is_told_meanwhile(device: Device, saxpy: Module, recorder: Recorder) -> None:
    kernel, args = saxpy["k"], (4, 2.0, 0, 0)
    kernel(GRID, BLOCK, args)
    device.workers = 3
    kernel(GRID, BLOCK, args)
    device.timeout = 50.0
    before = time.monotonic()
    kernel(GRID, BLOCK, args)
    device.timeout = None
    kernel(GRID, BLOCK, args)
    assert [launch.workers for launch in recorder.launches] == [1, 3, 3, 3]
    deadlines = [launch.deadline for launch in recorder.launches]
    assert (deadlines[0], deadlines[1], deadlines[3]) == (None, None, None)
    assert deadlines[2] is not None
    assert before + 50 <= deadlines[2] <= time.monotonic() + 50


def test_progress_is_asked_for_once(saxpy: Module, recorder: Recorder) -> None:
    kernel, args = saxpy["k"], (4, 2.0, 0, 0)
    kernel.launch(GRID, BLOCK, args, progress=lambda ctas: None)
    kernel(GRID, BLOCK, args)
    assert [launch.progress is None for launch in recorder.launches] == [False, True]


def test_launches_are_captured_not_run(device: Device, saxpy: Module, recorder: Recorder) -> None:
    kernel, args = saxpy["k"], (4, 2.0, 0, 0)
    kernel(GRID, BLOCK, args)
    with device.capture() as sequence:
        kernel(GRID, BLOCK, args)
    assert (len(recorder.launches), len(sequence)) == (1, 1)


def test_a_launch_within_a_launch(saxpy: Module, recorder: Recorder) -> None:
    """As a handler of signals may do it. The engine still works with the outer one."""
    kernel = saxpy["k"]
    kernel(GRID, BLOCK, (1, 2.0, 0, 0))
    seen: list[bool] = []

    def inner(launch: Launch) -> None:
        if launch.parameters[0] == 2:
            kernel(GRID, BLOCK, (3, 2.0, 0, 0))
            seen.append(launch.parameters == packed(2, 2, 0, 0))

    recorder.action = inner
    for _ in range(2):
        kernel(GRID, BLOCK, (2, 2.0, 0, 0))
    assert seen == [True, True]
    assert [launch.parameters[0] for launch in recorder.launches] == [1, 2, 3, 2, 3]


def test_what_a_fault_ended_is_not_used_again(saxpy: Module, recorder: Recorder) -> None:
    kernel, args, used = saxpy["k"], (4, 2.0, 0, 0), list[Launch]()

    def fail(launch: Launch) -> None:
        used.append(launch)
        if len(used) == 3:
            raise MemoryFault("illegal address", FaultSite("k"), 16, 4, "global")

    recorder.action = fail
    for turn in range(6):
        if turn == 2:
            with pytest.raises(MemoryFault):
                kernel(GRID, BLOCK, args)
        else:
            kernel(GRID, BLOCK, args)
    assert used[0] is used[1] is used[2]
    assert used[3] is used[4] is used[5]
    assert used[3] is not used[2]


def test_the_last_launch(saxpy: Module) -> None:
    kernel, other = saxpy["k"], saxpy["k"]
    for _ in range(2):
        kernel(GRID, BLOCK, (4, 2.0, 0, 0))
        other((9,), (32,), (4, 2.0, 0, 0))
    kernel(GRID, BLOCK, (4, 2.0, 0, 0))
    last = other.last_launch
    assert last is not None
    assert (last.grid, last.block, last.grid_id) == ((4, 1, 1), (64, 1, 1), 5)
