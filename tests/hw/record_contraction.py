"""Records what a real GPU makes of products and sums: `python -m tests.hw.record_contraction FILE.npz`.

Needs what `tests.hw.record_arithmetic` needs. Runs the kernels of `tests.hw.contraction`.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from cuda.bindings import driver as cuda

from tests.hw.contraction import LANES, OUTPUTS, SUFFIXES, Program, module, operands, programs
from tests.hw.record_arithmetic import Gpu, check, launch, open_gpu


def record(chunk: list[Program], gpu: Gpu) -> dict[str, Any]:
    """Results of programs of one type."""
    loaded = check(cuda.cuModuleLoadData(module(chunk).encode() + b"\0"))
    given = operands(chunk[0].type)
    found = {p.name: launch(loaded, f"k{i}", given, gpu)[:OUTPUTS, :LANES] for i, p in enumerate(chunk)}
    check(cuda.cuModuleUnload(loaded))
    return found


def main(path: str) -> None:
    gpu, found = open_gpu(), dict[str, Any]()
    for t in SUFFIXES:
        found |= record([p for p in programs().values() if p.type == t], gpu)
    values = np.array(list(found.values()))
    np.savez_compressed(path, names=np.array(list(found)), values=values)
    print(len(found), "programs")


if __name__ == "__main__":
    main(sys.argv[1])
