"""Records what the programs of `tests.hw.calls` do on a real NVIDIA GPU.

    python -m tests.hw.record_calls FILE.npz

Needs `cuda.bindings` and NumPy. Programs that may end with an error run in processes of their own.
"""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from typing import Any

import numpy as np

from tests.hw.calls import PROGRAMS, THREADS, WIDTH, Program
from tests.hw.record_language import checked

SECONDS = 10


def loaded(cuda: Any, program: Program) -> Any:
    """The module, compiled as the program asks."""
    text = program.text.encode() + b"\0"
    if program.level is None:
        return checked(cuda.cuModuleLoadData(text))
    option = cuda.CUjit_option.CU_JIT_OPTIMIZATION_LEVEL
    return checked(cuda.cuModuleLoadDataEx(text, 1, [option], [program.level]))


def run(cuda: Any, program: Program) -> Any:
    """Its output, in words of 64 bits. Raises RuntimeError with the driver's error."""
    module = loaded(cuda, program)
    kernel = checked(cuda.cuModuleGetFunction(module, b"k"))
    out = np.zeros((THREADS, WIDTH), np.uint64)
    target = int(checked(cuda.cuMemAlloc(out.nbytes)))
    checked(cuda.cuMemcpyHtoD(target, out.ctypes.data, out.nbytes))
    arguments = [np.array([target], np.uint64), np.zeros(1, np.uint64)]  # the second one of a few kernels
    pointers = np.array([a.ctypes.data for a in arguments], np.uint64)
    checked(cuda.cuLaunchKernel(kernel, 1, 1, 1, THREADS, 1, 1, 0, 0, pointers.ctypes.data, 0))
    checked(cuda.cuCtxSynchronize())
    checked(cuda.cuMemcpyDtoH(out.ctypes.data, target, out.nbytes))
    return out


def opened() -> Any:
    cuda: Any = import_module("cuda.bindings.driver")
    checked(cuda.cuInit(0))
    checked(cuda.cuCtxSetCurrent(checked(cuda.cuDevicePrimaryCtxRetain(checked(cuda.cuDeviceGet(0))))))
    return cuda


def alone(name: str) -> Any:
    """The output of a program in a process of its own, or the error that ended it, as text."""
    command = [sys.executable, "-m", "tests.hw.record_calls", "--one", name]
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return "does not end"
    if done.returncode:
        return done.stderr.decode().strip().splitlines()[-1]
    return np.frombuffer(done.stdout, np.uint64).reshape(THREADS, WIDTH)


def main(path: str) -> None:
    cuda, found = opened(), dict[str, Any]()
    for name, program in PROGRAMS.items():
        try:
            found[name] = alone(name) if program.alone else run(cuda, program)
        except RuntimeError as error:
            found[name] = str(error)
        shown = found[name] if isinstance(found[name], str) else found[name][:4].tolist()
        print(f"{name}: {shown}", flush=True)
    np.savez_compressed(path, **found)


if __name__ == "__main__":
    if sys.argv[1] == "--one":
        sys.stdout.buffer.write(run(opened(), PROGRAMS[sys.argv[2]]).tobytes())
    else:
        main(sys.argv[1])
