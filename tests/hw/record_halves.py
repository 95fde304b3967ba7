"""Records the hashes of all conversions to half precision; called by `tests.hw.record`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from cuda.bindings import driver as cuda

from tests.hw.halves import BLOCK, BLOCKS, TEXT, THREADS, digest
from tests.hw.record_arithmetic import check, open_gpu


def main(path: str) -> None:
    """Writes a JSON list of hashes; `path` names it, whatever its suffix."""
    open_gpu()
    target = check(cuda.cuMemAlloc(2 * BLOCK))
    module = check(cuda.cuModuleLoadData(TEXT.encode() + b"\0"))
    function = check(cuda.cuModuleGetFunction(module, b"convert"))
    found = [_block(function, target, number) for number in range(BLOCKS)]
    Path(path).with_suffix(".json").write_text(json.dumps(found, indent=0) + "\n")
    print(len(found), "hashes,", len(set(found)), "of them different")


def _block(function: Any, target: Any, number: int) -> str:
    values = [np.array([number * BLOCK], np.uint32), np.array([int(target)], np.uint64)]
    pointers = np.array([v.ctypes.data for v in values], np.uint64)
    check(cuda.cuLaunchKernel(function, BLOCK // THREADS, 1, 1, THREADS, 1, 1, 0, 0, pointers.ctypes.data, 0))
    out = np.empty(BLOCK, np.uint16)
    check(cuda.cuMemcpyDtoH(out.ctypes.data, target, out.nbytes))
    return digest(out)
