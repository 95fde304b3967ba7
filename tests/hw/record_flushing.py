"""Records where a real GPU flushes: `python -m tests.hw.record_flushing FILE.npz`.

Needs what `tests.hw.record_arithmetic` needs. Runs every opcode with `.ftz` on operands whose results lie at
the edge (see `tests.hw.flushing`).
"""

from __future__ import annotations

import sys
from collections import defaultdict
from typing import Any

import numpy as np
from cuda.bindings import driver as cuda

from simt.isa.form import Version
from tests.hw.arithmetic import Case
from tests.hw.flushing import BLOCKS, cases, columns
from tests.hw.record_arithmetic import check, packed, record


def main(path: str) -> None:
    check(cuda.cuInit(0))
    device = check(cuda.cuDeviceGet(0))
    check(cuda.cuCtxSetCurrent(check(cuda.cuDevicePrimaryCtxRetain(device))))
    memory = (check(cuda.cuMemAlloc(1 << 16)), check(cuda.cuMemAlloc(1 << 16)))
    groups: dict[tuple[Version, int], list[Case]] = defaultdict(list)
    for case in cases().values():
        groups[case.version, case.target].append(case)
    blocks: dict[str, list[Any]] = defaultdict(list)
    for block in range(BLOCKS):
        for group in groups.values():
            for name, values in record(group, columns(block), memory).items():
                blocks[name].append(values)
    inputs = {f"input/{n}": np.stack([columns(b)[n] for b in range(BLOCKS)]) for n in columns(0)}
    results = {name: np.stack(values) for name, values in blocks.items()}
    np.savez_compressed(path, **inputs, **packed(results))
    print(len(results), "opcodes")


if __name__ == "__main__":
    main(sys.argv[1])
