"""Records what a real NVIDIA GPU computes for every case of this folder.

    python -m tests.oracle.record [OUTPUT.npz]

Needs NumPy and `cuda.bindings.driver` (the package cuda-python), not simt. Equal results of several
compilations are stored once: the array `index` names the stored result of each.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.oracle.cases import CASES, RESULTS, Case, key, path, variants

MARGIN = 64
"""Elements behind the output that no kernel may change."""


def driver() -> Any:
    """The CUDA driver's bindings, imported when needed."""
    from cuda.bindings import driver as bindings

    return bindings


def checked(result: tuple[Any, ...]) -> Any:
    """What a driver call returned besides its status; raises if that is an error."""
    if int(result[0]):
        raise RuntimeError(f"CUDA driver: {result[0]!r}")
    return result[1] if len(result) == 2 else result[1:]


def upload(values: NDArray[Any]) -> int:
    pointer = int(checked(driver().cuMemAlloc(max(values.nbytes, 1))))
    checked(driver().cuMemcpyHtoD(pointer, values.ctypes.data, values.nbytes))
    return pointer


def run(case: Case, module: Any) -> NDArray[Any]:
    """The output of a case, computed by the GPU."""
    a, b, out = case.arguments()
    out = np.concatenate([out, np.full(MARGIN, 0x55, out.dtype)])
    pointers = [upload(values) for values in (a, b, out)]
    values = [ctypes.c_uint64(p) for p in pointers] + [ctypes.c_uint32(case.n)]
    places = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
    function = checked(driver().cuModuleGetFunction(module, case.name.encode()))
    checked(
        driver().cuLaunchKernel(
            function, *case.grid, *case.block, case.shared, 0, ctypes.addressof(places), 0
        )
    )
    checked(driver().cuCtxSynchronize())
    checked(driver().cuMemcpyDtoH(out.ctypes.data, pointers[2], out.nbytes))
    for pointer in pointers:
        checked(driver().cuMemFree(pointer))
    if (out[-MARGIN:] != np.full(MARGIN, 0x55, out.dtype)).any():
        raise RuntimeError(f"{case.name} writes behind its output")
    return out[:-MARGIN]


def record() -> dict[str, NDArray[Any]]:
    """The results by key, and `index`: lines `compilation key`."""
    checked(driver().cuInit(0))
    checked(driver().cuCtxSetCurrent(checked(driver().cuDevicePrimaryCtxRetain(0))))
    checked(driver().cuCtxSetLimit(driver().CUlimit.CU_LIMIT_STACK_SIZE, 16384))
    modules: dict[Path, Any] = {}
    results: dict[str, NDArray[Any]] = {}
    index: list[str] = []
    for case in CASES:
        for variant in variants(case):
            file = path(case, variant)
            if "target sm_100" in file.read_text():
                continue
            if file not in modules:
                modules[file] = checked(driver().cuModuleLoadData(file.read_bytes() + b"\0"))
            print(key(case, variant), flush=True)
            result = run(case, modules[file])
            equal = [k for k, r in results.items() if k.endswith(f"/{case.name}") and same(r, result)]
            stored = equal[0] if equal else key(case, variant)
            results.setdefault(stored, result)
            index.append(f"{key(case, variant)} {stored}")

    return {**results, "index": np.array(index)}


def same(a: NDArray[Any], b: NDArray[Any]) -> bool:
    return a.tobytes() == b.tobytes()


if __name__ == "__main__":
    np.savez_compressed(Path(sys.argv[1]) if len(sys.argv) > 1 else RESULTS, **record())  # pyright: ignore[reportArgumentType]
