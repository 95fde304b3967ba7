"""Records what the programs of `tests.hw.language` do on a real NVIDIA GPU.

    python -m tests.hw.record_language

writes `vectors/language.npz`. Needs `cuda.bindings` and NumPy.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.hw.language import LANES, LIMITED, PROGRAMS, RECORDED, REFUSED, SHAPES, WIDTH, inputs


def checked(answer: Any) -> Any:
    """What a driver call returned besides its status. Raises RuntimeError with its error."""
    code, *values = answer
    if int(code):
        raise RuntimeError(str(code))
    return values[0] if len(values) == 1 else values


def launch(cuda: Any, text: str, block: tuple[int, int, int], source: int, out: int) -> int:
    """Loads a module and runs its kernel; the driver's error code of the launch."""
    module = checked(cuda.cuModuleLoadData(text.encode() + b"\0"))
    kernel = checked(cuda.cuModuleGetFunction(module, b"k"))
    arguments = [np.array([p], np.uint64) for p in (source, out)]
    pointers = np.array([a.ctypes.data for a in arguments], np.uint64)
    code = int(cuda.cuLaunchKernel(kernel, 1, 1, 1, *block, 0, 0, pointers.ctypes.data, 0)[0])
    checked(cuda.cuCtxSynchronize())
    checked(cuda.cuModuleUnload(module))
    return code


def run(cuda: Any, text: str, block: tuple[int, int, int] = (LANES, 1, 1)) -> tuple[NDArray[np.uint64], int]:
    """Rows of results of a kernel in a context of its own, and the driver's error code of the launch. In a
    context that has run the others, the driver ends "doubles" with an illegal instruction."""
    device = checked(cuda.cuDeviceGet(0))
    checked(cuda.cuDevicePrimaryCtxReset(device))
    checked(cuda.cuCtxSetCurrent(checked(cuda.cuDevicePrimaryCtxRetain(device))))
    rows, result = inputs(), np.zeros((LANES, WIDTH), np.uint64)
    source, out = (int(checked(cuda.cuMemAlloc(a.nbytes))) for a in (rows, result))
    checked(cuda.cuMemcpyHtoD(source, rows.ctypes.data, rows.nbytes))
    checked(cuda.cuMemsetD8(out, 0, result.nbytes))
    code = launch(cuda, text, block, source, out)
    checked(cuda.cuMemcpyDtoH(result.ctypes.data, out, result.nbytes))
    checked(cuda.cuDevicePrimaryCtxRelease(device))
    return result, code


def record(path: Path = RECORDED) -> None:
    cuda: Any = import_module("cuda.bindings.driver")
    checked(cuda.cuInit(0))
    found: dict[str, Any] = {}
    for name, text in (PROGRAMS | REFUSED).items():
        found[name], code = run(cuda, text)
        if code:
            raise RuntimeError(f"{name}: CUDA error {code}")
    codes = [run(cuda, LIMITED, shape)[1] for shape in SHAPES]
    print("launches with .maxntid:", dict(zip(SHAPES, codes)))
    np.savez_compressed(path, shapes=np.array([code == 0 for code in codes]), **found)


if __name__ == "__main__":
    record()
