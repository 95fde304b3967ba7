"""Records what a real NVIDIA GPU gives for every kernel of the survey, at small sizes.

    python -m tests.bench.record_survey OUTPUT.npz

Needs NumPy and `cuda.bindings.driver` (the package cuda-python), and simt's sources, of which nothing runs.
The arrays that a problem changes, by `KERNEL.ARRAY`.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.oracle.record import checked, driver, upload

sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))

from suite.problem import Launch, Problem, triple
from survey.catalogue import CASES

PLAIN_SHARED = 48 << 10
"""Bytes of shared memory that a launch has without asking for more."""


def run(problem: Problem, ptx: bytes) -> dict[str, NDArray[Any]]:
    """What the arrays hold that the launches change, on the GPU."""
    module = checked(driver().cuModuleLoadData(ptx + b"\0"))
    pointers = {name: upload(np.ascontiguousarray(values)) for name, values in problem.arrays.items()}
    for launch in problem.launches:
        _launch(module, launch, {name: np.uint64(p) for name, p in pointers.items()} | problem.scalars)
    checked(driver().cuCtxSynchronize())
    found = dict[str, NDArray[Any]]()
    for name in problem.changed or problem.arrays:
        values = np.empty_like(np.ascontiguousarray(problem.arrays[name]))
        checked(driver().cuMemcpyDtoH(values.ctypes.data, pointers[name], values.nbytes))
        found[name] = values
    for pointer in pointers.values():
        checked(driver().cuMemFree(pointer))
    checked(driver().cuModuleUnload(module))
    return found


def _launch(module: Any, launch: Launch, known: dict[str, Any]) -> None:
    function = checked(driver().cuModuleGetFunction(module, launch.kernel.encode()))
    if launch.shared > PLAIN_SHARED:
        most = driver().CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        checked(driver().cuFuncSetAttribute(function, most, launch.shared))
    values = [np.array(known[a] if isinstance(a, str) else a) for a in launch.args]
    places = (ctypes.c_void_p * len(values))(*(value.ctypes.data for value in values))
    extents = (*triple(launch.grid), *triple(launch.block))
    checked(driver().cuLaunchKernel(function, *extents, launch.shared, 0, ctypes.addressof(places), 0))


def main() -> None:
    checked(driver().cuInit(0))
    checked(driver().cuCtxSetCurrent(checked(driver().cuDevicePrimaryCtxRetain(0))))
    checked(driver().cuCtxSetLimit(driver().CUlimit.CU_LIMIT_STACK_SIZE, 16384))
    results = dict[str, NDArray[Any]]()
    for name, case in CASES.items():
        found = run(case.problem("quick"), case.ptx.read_bytes())
        results |= {f"{name}.{array}": values for array, values in found.items()}
    np.savez_compressed(sys.argv[1], **results)  # pyright: ignore[reportArgumentType]
    print(f"{len(CASES)} kernels, {sum(v.nbytes for v in results.values())} bytes")


if __name__ == "__main__":
    main()
