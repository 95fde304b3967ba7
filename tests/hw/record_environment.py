"""Records the registers `%envreg` on a real NVIDIA GPU.

    python -m tests.hw.record_environment FILE.json

Needs `cuda.bindings` and NumPy. All launches run twice, each time in a process of its own: what differs
between the two is the state of a driver.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from tests.hw.environment import COUNT, LAUNCHES, Launch
from tests.hw.record_calls import opened
from tests.hw.record_language import checked


def run(cuda: Any, launch: Launch, out: int, stream: int) -> list[int]:
    """The registers."""
    if launch.stack:
        checked(cuda.cuCtxSetLimit(cuda.CUlimit.CU_LIMIT_STACK_SIZE, launch.stack))
    module = checked(cuda.cuModuleLoadData(launch.text.encode() + b"\0"))
    kernel = checked(cuda.cuModuleGetFunction(module, b"k"))
    arguments = [np.array([out], np.uint64), np.full(max(launch.parameters, 1), 0xAB, np.uint8)]
    pointers = np.array([a.ctypes.data for a in arguments], np.uint64)
    start = cuda.cuLaunchCooperativeKernel if launch.cooperative else cuda.cuLaunchKernel
    where = stream if launch.own_stream else 0
    rest = () if launch.cooperative else (0,)
    checked(start(kernel, *launch.grid, *launch.block, launch.shared, where, pointers.ctypes.data, *rest))
    checked(cuda.cuCtxSynchronize())
    found = np.zeros(COUNT, np.uint32)
    checked(cuda.cuMemcpyDtoH(found.ctypes.data, out, found.nbytes))
    return [int(word) for word in found]


def run_all() -> list[list[int]]:
    cuda = opened()
    out, stream = int(checked(cuda.cuMemAlloc(4 * COUNT))), int(checked(cuda.cuStreamCreate(0)))
    return [run(cuda, launch, out, stream) for launch in LAUNCHES]


def main(path: str) -> None:
    """Writes, for each of two processes, the registers under every launch."""
    command = [sys.executable, "-m", "tests.hw.record_environment", "--once"]
    runs = [json.loads(subprocess.run(command, capture_output=True, check=True).stdout) for _ in range(2)]
    rows = ["[\n" + ",\n".join(map(json.dumps, run)) + "\n]" for run in runs]
    Path(path).with_suffix(".json").write_text("[\n" + ",\n".join(rows) + "\n]\n")
    for number in range(COUNT):
        values = [hex(row[number]) for run in runs for row in run]
        print(f"%envreg{number}: {' '.join(dict.fromkeys(values))}", flush=True)


if __name__ == "__main__":
    print(json.dumps(run_all())) if sys.argv[1] == "--once" else main(sys.argv[1])
