"""Records where a real GPU flushes: `python -m tests.hw.record_flushing FILE.npz`.

Needs what `tests.hw.record_arithmetic` needs. Runs every opcode with `.ftz` on operands whose results lie at
the edge (see `tests.hw.flushing`).
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numpy as np

from tests.hw.flushing import BLOCKS, cases, columns
from tests.hw.record_arithmetic import open_gpu, packed, record


def _given(block: int, name: str) -> dict[str, Any]:
    return columns(block)


def main(path: str) -> None:
    gpu, blocks = open_gpu(), dict[str, list[Any]]()
    for block in range(BLOCKS):
        for name, values in record(cases(), partial(_given, block), gpu).items():
            blocks.setdefault(name, []).append(values)
    inputs = {f"input/{n}": np.stack([columns(b)[n] for b in range(BLOCKS)]) for n in columns(0)}
    results = {name: np.stack(values) for name, values in blocks.items()}
    np.savez_compressed(path, **inputs, **packed(results))
    print(len(results), "opcodes")


if __name__ == "__main__":
    main(sys.argv[1])
