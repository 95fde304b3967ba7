"""Records what an H200 gives for `tests.hw.tensor`; called by `tests.hw.record`."""

from __future__ import annotations

import numpy as np

from tests.hw.record_arithmetic import open_gpu
from tests.hw.record_since_7 import run
from tests.hw.tensor import cases, kernel, operands, seen
from tests.unit.isa.meaning import Array


def main(path: str) -> None:
    """The results of each opcode."""
    open_gpu()
    found: dict[str, Array] = {}
    for opcode, case in cases().items():
        arrays = operands(case)
        warps = 1 if case.address else len(arrays[-1])
        run(kernel(case), arrays, warps, 32)
        found[opcode] = seen(case, arrays)
    np.savez_compressed(path, **found)
    print(len(found), "opcodes,", sum(a.size for a in found.values()), "results")
