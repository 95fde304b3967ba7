"""Records conversions and warp operations of a real GPU: `python -m tests.hw.record_conversions FILE.npz`.

Needs what `tests.hw.record_arithmetic` needs. What the driver refuses is named in the file.
"""

from __future__ import annotations

import sys

import numpy as np

from tests.hw.conversions import conversions, given_for, warp_operations
from tests.hw.operands import columns
from tests.hw.record_arithmetic import open_gpu, packed, record


def main(path: str) -> None:
    named, given = conversions() | warp_operations(), columns(single=True)
    results = record(named, lambda name: given_for(name, named[name], given), open_gpu())
    inputs = {f"input/{name}": values for name, values in given.items()}
    np.savez_compressed(path, **inputs, **packed(results))
    print(len(results), "columns of results")


if __name__ == "__main__":
    main(sys.argv[1])
