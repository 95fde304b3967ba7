"""Records what a real GPU computes: `python -m tests.hw.record_arithmetic FILE.npz`.

Needs an NVIDIA GPU of compute capability 9.0, `cuda.bindings` and NumPy. Runs a kernel for every opcode
of the arithmetic chapters (see `tests.hw.arithmetic`) and keeps operands and results.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from typing import Any

import numpy as np
from cuda.bindings import driver as cuda

from simt.isa.form import Version
from tests.hw.arithmetic import LANES, Case, cases, columns, input_columns, kernel, module_text

CHUNK = 250
OUTPUTS = 3


def check(answer: Any) -> Any:
    """The value of a driver call. Raises RuntimeError with its error."""
    code, *values = answer
    if code != cuda.CUresult.CUDA_SUCCESS:
        raise RuntimeError(str(code))
    return values[0] if len(values) == 1 else values


def chunks() -> list[list[Case]]:
    """Cases of one version and target, so many to a module."""
    groups: dict[tuple[Version, int], list[Case]] = defaultdict(list)
    for case in cases().values():
        groups[case.version, case.target].append(case)
    return [group[i : i + CHUNK] for group in groups.values() for i in range(0, len(group), CHUNK)]


def record(chunk: list[Case], given: dict[str, Any], memory: tuple[Any, Any]) -> dict[str, Any]:
    """Runs the cases of one module; results by opcode, one row for each output."""
    kernels = [kernel(case, f"k{i}") for i, case in enumerate(chunk)]
    text = module_text(chunk[0].version, chunk[0].target, kernels)
    module = check(cuda.cuModuleLoadData(text.encode() + b"\0"))
    found: dict[str, Any] = {}
    for i, case in enumerate(chunk):
        function = check(cuda.cuModuleGetFunction(module, f"k{i}".encode()))
        source, out = input_columns(case, given), np.zeros((OUTPUTS, LANES), np.uint64)
        check(cuda.cuMemcpyHtoD(memory[0], source.ctypes.data, source.nbytes))
        check(cuda.cuMemcpyHtoD(memory[1], out.ctypes.data, out.nbytes))
        values = [np.array([int(m)], np.uint64) for m in memory]
        pointers = np.array([v.ctypes.data for v in values], np.uint64)
        check(cuda.cuLaunchKernel(function, 1, 1, 1, LANES, 1, 1, 0, 0, pointers.ctypes.data, 0))
        check(cuda.cuMemcpyDtoH(out.ctypes.data, memory[1], out.nbytes))
        for n, t in enumerate(case.outputs):
            found[f"{case.opcode}/{n}"] = out[n].astype("u1" if t.is_predicate else f"u{t.bytes}")
    check(cuda.cuModuleUnload(module))
    return found


def main(path: str) -> None:
    check(cuda.cuInit(0))
    device = check(cuda.cuDeviceGet(0))
    check(cuda.cuCtxSetCurrent(check(cuda.cuDevicePrimaryCtxRetain(device))))
    memory = (check(cuda.cuMemAlloc(1 << 16)), check(cuda.cuMemAlloc(1 << 16)))
    given = columns()
    results: dict[str, Any] = {}
    for chunk in chunks():
        results |= record(chunk, given, memory)
    inputs = {f"input/{name}": values for name, values in given.items()}
    np.savez_compressed(path, **inputs, **packed(results))
    print(len(results), "columns of results")


def packed(results: dict[str, Any]) -> dict[str, Any]:
    """Results in one array for each width, with the list of their names: small files, few members."""
    found: dict[str, Any] = {}
    for size in ("u1", "u2", "u4", "u8"):
        names = [n for n, v in results.items() if v.dtype == np.dtype(size)]
        found[f"{size}/names"] = np.array(names)
        found[f"{size}/values"] = np.array([results[n] for n in names])
    return found


if __name__ == "__main__":
    main(sys.argv[1])
