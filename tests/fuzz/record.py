"""Records what a real GPU makes of random programs.

    python -m tests.fuzz.record FOLDER --seeds 0-199      on a machine with a GPU: raw outputs, by seed
    python -m tests.fuzz.record FOLDER --pack FILE.npz    anywhere: texts and hashes for the tests to replay

Needs `cuda.bindings`, NumPy and an NVIDIA GPU of compute capability 9.0. A program that does not end, or
fails, is named and left out; the next one starts in a new process.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.fuzz.programs import Dim3, generate
from tests.fuzz.recorded import pack
from tests.fuzz.running import Case, first_memory

LIMIT = 5.0
"""Seconds that a program may run."""

STACK = 32768
"""Bytes of a thread's stack: functions call themselves."""

CHUNK = 40
"""Seeds to a file: few files, none of them large."""


def driver() -> Any:
    """The CUDA driver's bindings, imported when needed: packing needs none."""
    return import_module("cuda.bindings.driver")


def checked(answer: Any) -> Any:
    """What a driver call returned besides its status. Raises RuntimeError with its error."""
    code, *values = answer
    if int(code):
        raise RuntimeError(str(code))
    return values[0] if len(values) == 1 else values


def begin() -> None:
    """Makes the first GPU this process's."""
    cuda = driver()
    checked(cuda.cuInit(0))
    checked(cuda.cuCtxSetCurrent(checked(cuda.cuDevicePrimaryCtxRetain(checked(cuda.cuDeviceGet(0))))))
    checked(cuda.cuCtxSetLimit(cuda.CUlimit.CU_LIMIT_STACK_SIZE, STACK))


def launch(
    text: str,
    name: str,
    shape: tuple[Dim3, Dim3],
    arrays: Sequence[NDArray[Any]],
    scalars: Sequence[Any],
    level: int | None = None,
) -> None:
    """Runs a kernel on a grid and a block of this `shape`; its parameters are the arrays, which get what it
    leaves, and then the scalars (of NumPy). `level`: of the driver's optimisation, 0 to 4. Raises
    RuntimeError."""
    cuda = driver()
    levels: list[int] = [] if level is None else [level]
    options = [cuda.CUjit_option.CU_JIT_OPTIMIZATION_LEVEL for _ in levels]
    module = checked(cuda.cuModuleLoadDataEx(text.encode() + b"\0", len(levels), options, levels))
    kernel = checked(cuda.cuModuleGetFunction(module, name.encode()))
    places = [int(checked(cuda.cuMemAlloc(a.nbytes))) for a in arrays]
    for place, array in zip(places, arrays):
        checked(cuda.cuMemcpyHtoD(place, array.ctypes.data, array.nbytes))
    arguments = [np.array([p], np.uint64) for p in places] + [np.array([s]) for s in scalars]
    pointers = np.array([a.ctypes.data for a in arguments], np.uint64)
    grid, block = shape
    checked(cuda.cuLaunchKernel(kernel, *grid, *block, 0, 0, pointers.ctypes.data, 0))
    wait(cuda)
    for place, array in zip(places, arrays):
        checked(cuda.cuMemcpyDtoH(array.ctypes.data, place, array.nbytes))
        checked(cuda.cuMemFree(place))
    checked(cuda.cuModuleUnload(module))


def execute(case: Case, level: int | None = None) -> list[Any]:
    """`out`, `acc` and `own` after the program. Raises RuntimeError."""
    arrays = first_memory(case)
    launch(case.text, "fuzz", (case.grid, case.block), arrays, [np.uint32(u) for u in case.uniforms], level)
    return list(arrays[1:])


def wait(cuda: Any) -> None:
    """Until the program has ended, at most `LIMIT` seconds."""
    end = time.monotonic() + LIMIT
    while (code := int(cuda.cuStreamQuery(0)[0])) == int(cuda.CUresult.CUDA_ERROR_NOT_READY):
        if time.monotonic() > end:
            raise RuntimeError("does not end")
        time.sleep(0.001)
    if code:
        raise RuntimeError(f"CUDA error {code}")


def work(folder: Path, first: int, last: int) -> None:
    """Records some seeds; ends the process at the first that goes wrong, having said so."""
    begin()
    found: dict[str, Any] = {}
    failed = None
    for seed in range(first, last + 1):
        case = Case.of(generate(seed))
        try:
            results = execute(case)
        except RuntimeError as error:
            print(f"seed {seed}: {error}", flush=True)
            failed = seed
            break
        found |= {f"{seed}/{name}": a for name, a in zip(("out", "acc", "own"), results)}
        found[f"{seed}/text"] = np.frombuffer(case.text.encode(), np.uint8)
    np.savez_compressed(folder / f"raw{first}.npz", **found)
    if failed is not None:
        os._exit(2)  # a stuck program would hold up an ordinary end


def record(folder: Path, first: int, last: int) -> None:
    while first <= last:
        end = min(first + CHUNK - 1, last)
        command = [sys.executable, "-m", "tests.fuzz.record", str(folder), "--worker", f"{first}-{end}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        print(done.stdout, done.stderr[-2000:], flush=True)
        stopped = [int(line.split()[1][:-1]) for line in done.stdout.splitlines() if line.startswith("seed ")]
        first = stopped[-1] + 1 if stopped else end + 1


def span(text: str) -> tuple[int, int]:
    first, _, last = text.partition("-")
    return int(first), int(last or first)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.record", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=span)
    parser.add_argument("--worker", type=span)
    parser.add_argument("--pack", type=Path)
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.pack:
        pack(sorted(options.folder.glob("raw*.npz")), options.pack)
    elif options.worker:
        work(options.folder, *options.worker)
    else:
        record(options.folder, *options.seeds)


if __name__ == "__main__":
    main(sys.argv[1:])
