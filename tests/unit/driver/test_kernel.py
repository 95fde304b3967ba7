"""Launches as the engine receives them, and what is refused before."""

from __future__ import annotations

import struct
import time
from typing import Any

import numpy as np
import pytest

from simt.driver.device import Device
from simt.driver.module import Module
from simt.driver.stream import Stream
from simt.errors import FaultSite, LaunchError, MemoryFault
from simt.machine.launch import Launch

from .conftest import Recorder, program


def test_what_the_engine_receives(device: Device, saxpy: Module, recorder: Recorder) -> None:
    x, y = device.zeros(4, "f4"), device.zeros(4, "f4")
    saxpy["k"]((2, 3), 64, (4, 2.0, x, y), shared_mem=100)
    launch = recorder.launches[0]
    assert (launch.grid, launch.block, launch.shared_bytes) == ((2, 3, 1), (64, 1, 1), 100)
    assert launch.parameters == struct.pack("<IfQQ", 4, 2.0, x.ptr, y.ptr)
    assert launch.memory is device.memory
    assert (launch.device.name, launch.workers, launch.deadline) == ("sm_90", 1, None)
    assert set(launch.symbols) == {"table", "counter", "pointers", "pairs"}


def test_every_launch_has_its_grid_id(saxpy: Module, device: Device, recorder: Recorder) -> None:
    for _ in range(3):
        saxpy["k"](1, 1, (4, 2.0, 0, 0))
    assert [launch.grid_id for launch in recorder.launches] == [1, 2, 3]


def test_parameters_and_attributes(device: Device) -> None:
    module = Module(
        device, program("u32", "u64", shared_size=128, dynamic_shared=128, limits={"maxntid": (64,)}), []
    )
    k = module["k"]
    assert [(p.name, p.type.name, p.offset) for p in k.params] == [
        ("k_param_0", "u32", 0),
        ("k_param_1", "u64", 8),
    ]
    assert k.attributes["shared_size_bytes"] == 128
    assert k.attributes["const_size_bytes"] == 24
    assert k.attributes["maxntid"] == (64,)
    assert k.attributes["max_threads_per_block"] == 64
    assert repr(k) == "<Kernel k(.u32 k_param_0, .u64 k_param_1)>"


@pytest.mark.parametrize(
    ("grid", "block", "args", "options", "message"),
    [
        (1, 1025, (1, 1.0, 0, 0), {}, "block (1025, 1, 1): extent x may be at most 1024 on sm_90"),
        (0, 1, (1, 1.0, 0, 0), {}, "grid (0): every extent must be at least 1"),
        (1, 1, (1, 1.0, 0), {}, "the kernel takes 4 arguments (k_param_0 (.u32); k_param_1 (.f32); "
                                "k_param_2 (.u64); k_param_3 (.u64)), 3 given"),
        (1, 1, (1, "a", 0, 0), {}, "parameter 1 k_param_1 (.f32): expected a number, str 'a' given"),
        (1, 1, 5, {}, "args: expected a tuple of arguments, int given"),
        (1, 1, (1, 1.0, 0, 0), {"shared_mem": 300_000},
         "300000 bytes of shared memory (0 static, 300000 dynamic); sm_90 has at most 232448 a CTA"),
    ],
)  # fmt: skip
def test_refused(
    saxpy: Module, recorder: Recorder, grid: Any, block: Any, args: Any, options: Any, message: str
) -> None:
    with pytest.raises(LaunchError) as problem:
        saxpy["k"](grid, block, args, **options)
    assert str(problem.value) == f"kernel k: {message}"
    assert recorder.launches == []


def test_arrays_that_cannot_be_passed(device: Device, saxpy: Module) -> None:
    freed, ours, other = device.zeros(1), device.zeros(1), Device("sm_90", memory="16MiB")
    freed.free()
    with pytest.raises(LaunchError, match=r"parameter 2 k_param_2 \(\.u64\): the array was freed$"):
        saxpy["k"](1, 1, (1, 1.0, freed, 0))
    with pytest.raises(LaunchError, match=r"parameter 2 .*: the array lies on another device: <DeviceArray"):
        saxpy["k"](1, 1, (1, 1.0, other.zeros(1), 0))
    with pytest.raises(LaunchError, match=r"copy it to the device with Device.array first"):
        saxpy["k"](1, 1, (1, 1.0, np.zeros(4), ours))


def test_streams(device: Device, saxpy: Module, recorder: Recorder) -> None:
    stream = Stream(device)
    saxpy["k"](1, 1, (1, 1.0, 0, 0), 0, stream)
    stream.synchronize()
    device.synchronize()
    assert len(recorder.launches) == 1
    with pytest.raises(LaunchError, match=r"^kernel k: the stream belongs to another device$"):
        saxpy["k"](1, 1, (1, 1.0, 0, 0), stream=Stream(Device("sm_90", memory="16MiB")))


def test_timeouts_become_deadlines(device: Device, saxpy: Module, recorder: Recorder) -> None:
    device.timeout = 50.0
    before = time.monotonic()
    saxpy["k"](1, 1, (1, 1.0, 0, 0))
    saxpy["k"].launch(1, 1, (1, 1.0, 0, 0), timeout=500.0)
    first, second = (launch.deadline for launch in recorder.launches)
    assert first is not None
    assert second is not None
    assert before + 50 <= first <= time.monotonic() + 50
    assert before + 500 <= second <= time.monotonic() + 500


@pytest.mark.parametrize(
    "problem", [MemoryFault("illegal address", FaultSite("k"), 16, 4, "global"), KeyboardInterrupt()]
)
def test_faults_leave_arrays_intact(
    device: Device, saxpy: Module, recorder: Recorder, problem: BaseException
) -> None:
    def fail(launch: Launch) -> None:
        raise problem

    x = device.array(np.arange(4.0))
    recorder.action = fail
    with pytest.raises(type(problem)):
        saxpy["k"](1, 1, (4, 1.0, x, x))
    assert x.numpy().sum() == 6
    recorder.action = lambda launch: None
    saxpy["k"](1, 1, (4, 1.0, x, x))


class TestModulesWith32BitAddresses:
    """Arrays above 4 GiB appear below it, and follow what the kernel does."""

    @pytest.fixture
    def module(self, device: Device) -> Module:
        return Module(device, program("u32", address_bits=32), [])

    @staticmethod
    def increment(launch: Launch) -> None:
        address = int.from_bytes(launch.parameters, "little")
        launch.memory.view(address, 16).view("u4")[:] += 1

    def test_kernels_see_and_change_arrays(self, device: Device, module: Module, recorder: Recorder) -> None:
        recorder.action = self.increment
        x = device.array(np.arange(4, dtype="u4"))
        module["k"](1, 1, (x,))
        x.numpy()[0] = 100
        module["k"](1, 1, (x,))
        np.testing.assert_array_equal(x.numpy(), [101, 3, 4, 5])
        first, second = (launch.parameters for launch in recorder.launches)
        assert first == second
        assert recorder.launches[0].memory is device.low_memory

    def test_what_a_faulting_kernel_wrote_stays(
        self, device: Device, module: Module, recorder: Recorder
    ) -> None:
        def write_and_fail(launch: Launch) -> None:
            self.increment(launch)
            raise MemoryFault("illegal address", FaultSite("k"), 0, 4, "global")

        recorder.action = write_and_fail
        x = device.zeros(4, "u4")
        with pytest.raises(MemoryFault):
            module["k"](1, 1, (x,))
        assert x.numpy().tolist() == [1, 1, 1, 1]

    def test_symbols_lie_low_and_pass_directly(
        self, device: Device, module: Module, recorder: Recorder
    ) -> None:
        counter = module.symbol("counter")
        assert counter.ptr < 1 << 32
        module["k"](1, 1, (counter,))
        assert recorder.launches[0].parameters == struct.pack("<I", counter.ptr)

    def test_their_symbols_do_not_pass_to_64_bit_kernels(self, saxpy: Module, module: Module) -> None:
        with pytest.raises(LaunchError, match="the array belongs to a module with 32-bit addresses"):
            saxpy["k"](1, 1, (1, 1.0, module.symbol("counter"), 0))
