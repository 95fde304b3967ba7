"""Records conversions and warp operations of a real GPU: `python -m tests.hw.record_conversions FILE.npz`.

Needs what `tests.hw.record_arithmetic` needs. Every opcode is tried by itself: one that the driver
refuses is named and left out.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from cuda.bindings import driver as cuda

from tests.hw.conversions import conversions, given_for, warp_operations
from tests.hw.record_arithmetic import check, packed, record


def main(path: str) -> None:
    check(cuda.cuInit(0))
    device = check(cuda.cuDeviceGet(0))
    check(cuda.cuCtxSetCurrent(check(cuda.cuDevicePrimaryCtxRetain(device))))
    memory = (check(cuda.cuMemAlloc(1 << 16)), check(cuda.cuMemAlloc(1 << 16)))
    results: dict[str, Any] = {}
    for name, case in (conversions() | warp_operations()).items():
        try:
            found = record([case], given_for(name, case), memory)
        except RuntimeError as error:
            print("refused", name, error)
            continue
        results |= {f"{name}/{key.rsplit('/', 1)[1]}": values for key, values in found.items()}
    np.savez_compressed(path, **packed(results))
    print(len(results), "columns of results")


if __name__ == "__main__":
    main(sys.argv[1])
