"""Records what a real GPU computes: `python -m tests.hw.record_arithmetic FILE.npz`.

Needs an NVIDIA GPU of compute capability 9.0, `cuda.bindings` and NumPy. Runs a kernel for every opcode
of the arithmetic chapters (see `tests.hw.arithmetic`) and keeps operands and results.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from cuda.bindings import driver as cuda

from tests.hw.arithmetic import Case, cases, chunks, input_columns, kernel, module_text
from tests.hw.operands import columns

OUTPUTS = 3


def check(answer: Any) -> Any:
    """The value of a driver call. Raises RuntimeError with its error."""
    code, *values = answer
    if code != cuda.CUresult.CUDA_SUCCESS:
        raise RuntimeError(str(code))
    return values[0] if len(values) == 1 else values


@dataclass(frozen=True)
class Gpu:
    """A device with memory for operands and results."""

    source: Any
    target: Any


def open_gpu() -> Gpu:
    """The first GPU of the machine."""
    check(cuda.cuInit(0))
    device = check(cuda.cuDeviceGet(0))
    check(cuda.cuCtxSetCurrent(check(cuda.cuDevicePrimaryCtxRetain(device))))
    return Gpu(check(cuda.cuMemAlloc(1 << 20)), check(cuda.cuMemAlloc(1 << 20)))


def record(named: dict[str, Case], given: Callable[[str], dict[str, Any]], gpu: Gpu) -> dict[str, Any]:
    """Runs cases; results by name, one row for each output. Those that the driver refuses come under
    `refused/name`, with its error."""
    found: dict[str, Any] = {}
    for chunk in chunks(named):
        found |= _record(chunk, given, gpu)
    return found


def _record(chunk: dict[str, Case], given: Callable[[str], dict[str, Any]], gpu: Gpu) -> dict[str, Any]:
    """The cases of one module; if the driver refuses it, of its halves."""
    lanes = len(given(next(iter(chunk)))["carry"])
    kernels = [kernel(case, f"k{i}", lanes) for i, case in enumerate(chunk.values())]
    first = next(iter(chunk.values()))
    text = module_text(first.version, first.target, kernels)
    try:
        module = check(cuda.cuModuleLoadData(text.encode() + b"\0"))
    except RuntimeError as error:
        return _in_halves(chunk, given, gpu, str(error))
    found: dict[str, Any] = {}
    for i, (name, case) in enumerate(chunk.items()):
        out = launch(module, f"k{i}", input_columns(case, given(name)), gpu)
        for n, t in enumerate(case.outputs):
            found[f"{name}/{n}"] = out[n].astype("u1" if t.is_predicate else f"u{t.bytes}")
    check(cuda.cuModuleUnload(module))
    return found


def _in_halves(
    chunk: dict[str, Case], given: Callable[[str], dict[str, Any]], gpu: Gpu, error: str
) -> dict[str, Any]:
    if len(chunk) == 1:
        return {f"refused/{name}": error for name in chunk}
    items, half = list(chunk.items()), len(chunk) // 2
    return _record(dict(items[:half]), given, gpu) | _record(dict(items[half:]), given, gpu)


def launch(module: Any, name: str, source: Any, gpu: Gpu) -> Any:
    """Runs a kernel on columns of operands: columns of results."""
    function = check(cuda.cuModuleGetFunction(module, name.encode()))
    lanes = source.shape[1]
    out = np.zeros((OUTPUTS, lanes), np.uint64)
    check(cuda.cuMemcpyHtoD(gpu.source, source.ctypes.data, source.nbytes))
    check(cuda.cuMemcpyHtoD(gpu.target, out.ctypes.data, out.nbytes))
    values = [np.array([int(m)], np.uint64) for m in (gpu.source, gpu.target)]
    pointers = np.array([v.ctypes.data for v in values], np.uint64)
    check(cuda.cuLaunchKernel(function, 1, 1, 1, lanes, 1, 1, 0, 0, pointers.ctypes.data, 0))
    check(cuda.cuMemcpyDtoH(out.ctypes.data, gpu.target, out.nbytes))
    return out


def main(path: str) -> None:
    gpu, given = open_gpu(), columns()
    results = record(cases(), lambda name: given, gpu)
    inputs = {f"input/{name}": values for name, values in given.items()}
    np.savez_compressed(path, **inputs, **packed(results))
    print(len(results), "columns of results")


def packed(results: dict[str, Any]) -> dict[str, Any]:
    """Results in one array for each width, with the list of their names: small files, few members."""
    refused = {n: v for n, v in results.items() if isinstance(v, str)}
    found: dict[str, Any] = {"refused": np.array([f"{n[8:]}: {v}" for n, v in refused.items()], str)}
    for size in ("u1", "u2", "u4", "u8"):
        names = [n for n, v in results.items() if n not in refused and v.dtype == np.dtype(size)]
        found[f"{size}/names"] = np.array(names)
        found[f"{size}/values"] = np.array([results[n] for n in names])
    return found


if __name__ == "__main__":
    main(sys.argv[1])
