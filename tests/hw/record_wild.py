"""Records what accesses at wild addresses do on a real NVIDIA GPU (see `tests.hw.wild`).

    python -m tests.hw.record_wild FILE.json

Needs `cuda.bindings` and NumPy. An error ends the process that ran the program; another one runs the rest.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from tests.hw.record_calls import opened
from tests.hw.record_language import checked
from tests.hw.wild import WORDS, Wild, programs

SECONDS = 60


def run(cuda: Any, wild: Wild) -> list[int]:
    """Its output. Raises RuntimeError with the driver's error."""
    module = checked(cuda.cuModuleLoadData(wild.text.encode() + b"\0"))
    kernel = checked(cuda.cuModuleGetFunction(module, b"k"))
    out = np.zeros(WORDS, np.uint32)
    target = int(checked(cuda.cuMemAlloc(out.nbytes)))
    checked(cuda.cuMemcpyHtoD(target, out.ctypes.data, out.nbytes))
    arguments = [np.array([target], np.uint64), np.arange(201, 209, dtype=np.uint32)]
    pointers = np.array([a.ctypes.data for a in arguments], np.uint64)
    checked(cuda.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, pointers.ctypes.data, 0))
    checked(cuda.cuCtxSynchronize())
    checked(cuda.cuMemcpyDtoH(out.ctypes.data, target, out.nbytes))
    return [int(word) for word in out]


def serve(names: list[str]) -> None:
    """Prints a line for each program up to the first that ends with an error."""
    cuda = opened()
    for name in names:
        try:
            print(json.dumps(run(cuda, programs()[name])), flush=True)
        except RuntimeError as error:
            return print(json.dumps(str(error)), flush=True)
    return None


def some(names: list[str]) -> list[Any]:
    """What a process of its own finds of the first of them."""
    command = [sys.executable, "-m", "tests.hw.record_wild", "--serve"]
    given = json.dumps(names)
    try:
        done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return ["does not end"]
    return [json.loads(line) for line in done.stdout.splitlines()] or [done.stderr.strip()[-200:]]


def main(path: str) -> None:
    names, found = list(programs()), dict[str, Any]()
    while len(found) < len(names):
        rest = names[len(found) :]
        for name, result in zip(rest, some(rest)):
            found[name] = result
            print(f"{name}: {result}", flush=True)
    lines = [f"{json.dumps(name)}: {json.dumps(result)}" for name, result in found.items()]
    Path(path).with_suffix(".json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    serve(json.loads(sys.stdin.read())) if sys.argv[1] == "--serve" else main(sys.argv[1])
