"""Runs the program tests on a real NVIDIA GPU: judges the tests and their references, not simt.

    python -m tests.programs.on_gpu [PYTEST ARGUMENTS]

Needs `cuda-python` and pytest. A small stand-in for the package `simt`, over the CUDA driver, takes its
place: only what the tests here call, without checks. Arrays keep a copy on the host, sent before and
fetched after every launch.
"""

from __future__ import annotations

import ctypes
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

STACK_BYTES = 16 * 1024
"""Of a thread: what `simt` gives recursive functions."""


def driver() -> Any:
    """The CUDA driver's bindings, imported when needed: this file is no test."""
    from cuda.bindings import driver as bindings

    return bindings


def checked(result: tuple[Any, ...]) -> Any:
    """What a driver call returned besides its status; raises if that is an error."""
    if int(result[0]):
        raise RuntimeError(f"CUDA driver: {result[0]!r}")
    return result[1] if len(result) == 2 else result[1:]


class Device:
    def __init__(self, arch: str = "", **_: object) -> None:
        self.arrays: list[Array] = []
        checked(driver().cuInit(0))
        checked(driver().cuCtxSetCurrent(checked(driver().cuDevicePrimaryCtxRetain(0))))
        checked(driver().cuCtxSetLimit(driver().CUlimit.CU_LIMIT_STACK_SIZE, STACK_BYTES))

    def load(self, path: Path) -> Module:
        return Module(self, path.read_text())

    def array(self, values: ArrayLike) -> Array:
        host = np.array(values)
        return Array(self, host, int(checked(driver().cuMemAlloc(max(1, host.nbytes)))))

    def zeros(self, shape: int | tuple[int, ...], dtype: str) -> Array:
        return self.array(np.zeros(shape, dtype))


class Array:
    def __init__(self, device: Device, host: NDArray[Any], pointer: int) -> None:
        self.host, self.ptr = host, pointer
        self.send()
        device.arrays.append(self)

    def send(self) -> None:
        if self.host.nbytes:
            checked(driver().cuMemcpyHtoD(self.ptr, self.host.ctypes.data, self.host.nbytes))

    def fetch(self) -> None:
        if self.host.nbytes:
            checked(driver().cuMemcpyDtoH(self.host.ctypes.data, self.ptr, self.host.nbytes))

    def numpy(self) -> NDArray[Any]:
        return self.host


class Module:
    def __init__(self, device: Device, text: str) -> None:
        self.device, self.text = device, text
        self.handle = checked(driver().cuModuleLoadData(text.encode() + b"\0"))

    def __getitem__(self, name: str) -> Kernel:
        handle = checked(driver().cuModuleGetFunction(self.handle, name.encode()))
        return Kernel(self.device, handle, parameter_types(self.text, name))

    def symbol(self, name: str) -> Array:
        pointer, size = checked(driver().cuModuleGetGlobal(self.handle, name.encode()))
        array = Array.__new__(Array)
        array.host, array.ptr = np.zeros(int(size), "u1"), int(pointer)
        array.fetch()
        self.device.arrays.append(array)
        return array


def parameter_types(text: str, kernel: str) -> list[str]:
    """Of the parameters of a kernel: those in its list, or before PTX 1.4 those that its body declares."""
    found = re.search(rf"\.entry\s+{kernel}\s*(?:\((.*?)\)|\{{(.*?)\}})", text, re.S)
    return re.findall(r"\.param (?:\.align \d+ )?\.(\w+)", (found[1] or found[2] or "") if found else "")


class Kernel:
    def __init__(self, device: Device, handle: Any, types: list[str]) -> None:
        self.device, self.handle, self.types = device, handle, types

    def __call__(
        self, grid: tuple[int, ...], block: tuple[int, ...], arguments: tuple[Any, ...], shared_mem: int = 0
    ) -> None:
        self.launch(grid, block, arguments, shared_mem)

    def launch(
        self,
        grid: tuple[int, ...],
        block: tuple[int, ...],
        arguments: tuple[Any, ...],
        shared_mem: int = 0,
        cooperative: bool = False,
    ) -> None:
        packed = [pack(value, type_) for value, type_ in zip(arguments, self.types, strict=True)]
        places = (ctypes.c_void_p * len(packed))(*map(ctypes.addressof, packed))
        for array in self.device.arrays:
            array.send()
        shape = [int(n) for n in (*(*grid, 1, 1)[:3], *(*block, 1, 1)[:3])]
        start = driver().cuLaunchCooperativeKernel if cooperative else driver().cuLaunchKernel
        rest = () if cooperative else (0,)
        checked(start(self.handle, *shape, shared_mem, 0, ctypes.addressof(places), *rest))
        checked(driver().cuCtxSynchronize())
        for array in self.device.arrays:
            array.fetch()


def pack(value: Any, type_: str) -> ctypes.Array[ctypes.c_char]:
    """An argument's bytes, for a parameter of a PTX type."""
    if isinstance(value, bytes):
        data = value
    elif isinstance(value, Array):
        data = value.ptr.to_bytes(8, "little")
    elif type_.startswith("f"):
        data = np.array(value, f"f{int(type_[1:]) // 8}").tobytes()
    else:
        bits = int(type_[1:])
        data = (int(value) % 2**bits).to_bytes(bits // 8, "little")
    return ctypes.create_string_buffer(data, len(data))


def main(arguments: list[str]) -> int:
    stand_in: Any = ModuleType("simt")
    stand_in.Device = Device
    sys.modules["simt"] = stand_in
    here = Path(__file__).parent
    # About simt's own parser; about what kernels print and take from the heap, which CUDA does not tell.
    ignored = [f"--ignore={here / name}" for name in ("test_files.py", "test_system_calls.py")]
    return pytest.main([str(here), *ignored, "-k", "not interpreter", *arguments])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
