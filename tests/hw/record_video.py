"""Records what a real GPU computes for the video instructions; called by `tests.hw.record`."""

from __future__ import annotations

from typing import Any

import numpy as np
from cuda.bindings import driver as cuda

from tests.hw.record_arithmetic import Gpu, check, open_gpu
from tests.hw.video import LANES, SAMPLES, Case, cases, chunks, words
from tests.unit.isa.meaning import Array

CHUNK = 100


def main(path: str) -> None:
    """The pool of operands, names of cases, and results by case, sample and lane."""
    gpu, pool = open_gpu(), words()
    found: dict[str, Array] = {}
    for text, part in chunks(cases(), CHUNK):
        module = check(cuda.cuModuleLoadData(text.encode() + b"\0"))
        found |= {name: _launch(module, f"k{i}", c, pool, gpu) for i, (name, c) in enumerate(part.items())}
        check(cuda.cuModuleUnload(module))
    values = np.array([*found.values()])
    np.savez_compressed(path, pool=pool, names=np.array([*found]), values=values)
    print(len(found), "opcodes,", values.size, "results")


def _launch(module: Any, name: str, case: Case, pool: Array, gpu: Gpu) -> Array:
    function = check(cuda.cuModuleGetFunction(module, name.encode()))
    source = np.ascontiguousarray(case.given(pool))
    out = np.zeros((SAMPLES, LANES), np.uint32)
    check(cuda.cuMemcpyHtoD(gpu.source, source.ctypes.data, source.nbytes))
    values = [np.array([int(m)], np.uint64) for m in (gpu.source, gpu.target)]
    pointers = np.array([v.ctypes.data for v in values], np.uint64)
    check(cuda.cuLaunchKernel(function, 1, 1, 1, LANES, 1, 1, 0, 0, pointers.ctypes.data, 0))
    check(cuda.cuMemcpyDtoH(out.ctypes.data, gpu.target, out.nbytes))
    return out
