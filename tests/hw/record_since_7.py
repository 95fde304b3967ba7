"""Records what an H200 gives for `tests.hw.since_7`; called by `tests.hw.record`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from cuda.bindings import driver as cuda

from tests.hw.record_arithmetic import check, open_gpu
from tests.hw.since_7 import collect
from tests.unit.isa.meaning import Array


def main(path: str) -> None:
    """Writes a JSON file; `path` names it, whatever its suffix."""
    open_gpu()
    Path(path).with_suffix(".json").write_text(json.dumps(collect(run), indent=0) + "\n")


def run(text: str, arrays: list[Array], grid: int, block: int) -> None:
    module = check(cuda.cuModuleLoadData(text.encode() + b"\0"))
    function = check(cuda.cuModuleGetFunction(module, b"k"))
    places = [check(cuda.cuMemAlloc(a.nbytes)) for a in arrays]
    for place, array in zip(places, arrays):
        check(cuda.cuMemcpyHtoD(place, array.ctypes.data, array.nbytes))
    values = [np.array([int(place)], np.uint64) for place in places]
    pointers = np.array([v.ctypes.data for v in values], np.uint64)
    check(cuda.cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, 0, pointers.ctypes.data, 0))
    for place, array in zip(places, arrays):
        check(cuda.cuMemcpyDtoH(array.ctypes.data, place, array.nbytes))
        check(cuda.cuMemFree(place))
    check(cuda.cuModuleUnload(module))
