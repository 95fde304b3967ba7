"""Compares the approximate functions with a real GPU's: `python -m tests.hw.record_special FILE.json`.

Needs what `tests.hw.record_arithmetic` needs, and simt with its JIT. The GPU computes every result (see
`tests.hw.special`), simt computes it again and compares; differences are counted. Of the GPU's results
checksums are kept, one for each 2^23 inputs, so that tests can compare on any machine.
"""

from __future__ import annotations

import json
import sys
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from cuda.bindings import driver as cuda

import simt
from tests.hw.record_arithmetic import check
from tests.hw.special import BLOCK_BITS, LAUNCHED, Function, functions, module_text
from tests.unit.isa.meaning import Array

CHUNK = 1 << 28
"""Inputs computed at a time."""


class Gpu:
    """The first GPU, with room for a chunk of results."""

    def __init__(self) -> None:
        check(cuda.cuInit(0))
        self.device = check(cuda.cuDeviceGet(0))
        check(cuda.cuCtxSetCurrent(check(cuda.cuDevicePrimaryCtxRetain(self.device))))
        self.memory = check(cuda.cuMemAlloc(8 * CHUNK))

    def about(self) -> dict[str, Any]:
        name = check(cuda.cuDeviceGetName(64, self.device)).decode().strip("\0")
        return {"gpu": name, "driver": check(cuda.cuDriverGetVersion())}

    def load(self, text: str) -> Any:
        return check(cuda.cuModuleLoadData(text.encode() + b"\0"))

    def results(self, module: Any, base: int, into: Array) -> None:
        """Fills an array with results from input `base` on."""
        function = check(cuda.cuModuleGetFunction(module, b"results"))
        values = [np.array([int(self.memory)], np.uint64), np.array([base], np.uint32)]
        pointers = np.array([v.ctypes.data for v in values], np.uint64)
        grid = into.size // LAUNCHED
        check(cuda.cuLaunchKernel(function, grid, 1, 1, LAUNCHED, 1, 1, 0, 0, pointers.ctypes.data, 0))
        check(cuda.cuMemcpyDtoH(into.ctypes.data, self.memory, into.nbytes))


def compared(function: Function, gpu: Gpu, device: simt.Device, pool: ThreadPoolExecutor) -> dict[str, Any]:
    """All inputs of a function: how many differ, the first that does, and the checksums."""
    count = min(CHUNK, function.inputs)
    text = module_text(function)
    theirs, ours = gpu.load(text), device.load(text)["compare"]
    found = device.array(np.zeros(2, np.uint32))
    array = device.empty(count, f"u{function.result_bits // 8}")
    checksums: list[int] = []
    differences, first = 0, None
    for base in range(0, function.inputs, count):
        gpu.results(theirs, base, array.numpy())
        found.numpy()[:] = 0, 2**32 - 1
        ours((count // LAUNCHED,), (LAUNCHED,), (array, np.uint32(base), found))
        blocks = np.split(array.numpy(), max(1, count >> BLOCK_BITS))
        checksums += pool.map(zlib.crc32, blocks)
        number, least = (int(n) for n in found.numpy())
        differences += number
        first = least if number and first is None else first
    return {"inputs": function.inputs, "differences": differences, "first": first, "checksums": checksums}


def main(path: str) -> None:
    gpu, device = Gpu(), simt.Device("sm_90", engine="jit", memory="16GiB", approx="hardware")
    results: dict[str, Any] = {}
    with ThreadPoolExecutor() as pool:
        for function in functions():
            start = time.monotonic()
            results[function.name] = found = compared(function, gpu, device, pool)
            told = {k: v for k, v in found.items() if k != "checksums"}
            print(function.name, told, f"{time.monotonic() - start:.1f} s", flush=True)
            write(path, {**gpu.about(), "functions": results})


def write(path: str, found: dict[str, Any]) -> None:
    """One line for each function."""
    rows = (f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in found["functions"].items())
    body = ",\n".join(rows)
    gpu, driver = (json.dumps(found[name]) for name in ("gpu", "driver"))
    with open(path, "w") as file:
        file.write(f'{{"gpu": {gpu}, "driver": {driver}, "functions": {{\n{body}\n}}}}\n')


if __name__ == "__main__":
    main(sys.argv[1])
