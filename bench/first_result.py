"""What a short program does: start, load a PTX file, launch once, read the result.

Run as a process of its own. Prints one JSON line:
seconds for the import, for the load, and for the first and the second launch.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np

PROGRAMS = Path(__file__).resolve().parent.parent / "tests" / "programs"


def main(name: str, kernel_name: str) -> None:
    marks = [time.perf_counter()]
    import simt

    device = simt.Device("sm_90", workers=1)
    marks.append(time.perf_counter())
    kernel = device.load(PROGRAMS / f"{name}.ptx")[kernel_name]
    marks.append(time.perf_counter())
    times = device.zeros((32, 32), "i4")
    for _ in range(2):
        kernel((1, 4), (32, 8), (times, 32, 32, np.float32(-2), np.float32(1), np.float32(0.06), 50))
        device.synchronize()
        marks.append(time.perf_counter())
    spans = dict(zip(("import", "load", "first", "second"), np.diff(marks).tolist()))
    print(json.dumps({**spans, "sum": int(times.numpy().sum())}))


if __name__ == "__main__":
    main(*sys.argv[1:3])
