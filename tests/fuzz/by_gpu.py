"""Random programs on a GPU and on both engines: `python -m tests.fuzz.by_gpu KIND FIRST END [--seconds N]`.

KIND `ptx`: those of `tests.fuzz.programs`; `cuda`: those of `tests.fuzz.by_nvcc` (needs nvcc); `matrices`:
the kernels of `tests.hw.tensor` with other operands, on the interpreter. Needs `cuda.bindings` and a GPU of
compute capability 9.0. Of what differs it says whether the GPU agrees once the driver compiles without
optimisation: else it takes `max.f16 a, a` for a copy, of NaNs too. (Bytes of registers that hold halves it
stores converted in any case: `tests.hw.halves_by_bytes`.) Of CUDA programs it says whether the GPU
agrees once loops are not unrolled: the driver fuses products and sums of different turns. Driver 580 stops
the process in one PTX program of 200, and some do not end on the GPU: the last line names the seed. Go on
behind it.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import simt
from tests.fuzz import by_nvcc, record
from tests.fuzz.programs import generate
from tests.fuzz.running import Case, Outputs, difference, outcome
from tests.hw import tensor

ENGINES = "jit", "interpreter"
OPEN = "mbarrier.pending_count", "createpolicy"
"""Programs with these are passed over: what they give is defined for some operands, and these have any."""


BLOCK, ROLLED = re.compile(r"^(\$L__BB\w+:)", re.MULTILINE), r'\1\n.pragma "nounroll";'
"""Blocks of nvcc's code, and the same that the driver does not unroll."""


def ptx_differences(seed: int, devices: list[simt.Device]) -> Iterator[str]:
    case = Case.of(generate(seed))
    if any(opcode in case.text for opcode in OPEN):
        return

    def gpu(level: int | None = None) -> Outputs:
        out, acc, own = record.execute(case, level)
        return Outputs(out, acc, own.reshape(case.threads, -1))

    usual = gpu()
    for device in devices:
        found = outcome(case, device)
        if text := difference(usual, found):
            alike = not difference(gpu(0), found)
            yield f"{device.engine_name}: {text}{', not without optimisation' * alike}"


def cuda_differences(seed: int, folder: Path) -> Iterator[str]:
    rng = random.Random(seed)
    program = by_nvcc.generate(rng)
    for way in rng.sample(by_nvcc.BY_OLDER, 2):
        ptx = by_nvcc.compiled(program.source, way, folder)
        rolled = BLOCK.sub(ROLLED, ptx)
        for launch in by_nvcc.launches(rng, program):
            usual = _on_gpu(ptx, program, *launch)
            for engine in ENGINES:
                found = by_nvcc.outcome(engine, ptx, program, *launch)
                if not by_nvcc.are_same(usual, found):
                    alike = by_nvcc.are_same(_on_gpu(rolled, program, *launch), found)
                    place = f"{engine}, {' '.join(way)}, {program.type}, grid {launch[0]}, {launch[1]}"
                    yield f"{place}{', not where loops are not unrolled' * alike}"


def _on_gpu(ptx: str, program: by_nvcc.Program, grid: int, numbers: tuple[int, int]) -> NDArray[Any]:
    """What a launch leaves in `out`."""
    arrays = by_nvcc.first_memory(program)
    shape = (grid, 1, 1), (program.threads, 1, 1)
    record.launch(ptx, "k", shape, arrays, [np.int32(n) for n in numbers])
    return arrays[1]


def matrix_differences(seed: int, devices: list[simt.Device]) -> Iterator[str]:
    """By opcode. The interpreter takes part only: each kernel is run once for a seed."""
    for opcode, case in tensor.cases().items():
        arrays, text = tensor.operands(case, seed + 1), tensor.kernel(case)
        there = [devices[-1].array(a) for a in arrays]
        shape = (1 if case.address else len(arrays[-1]), 1, 1), (tensor.WARP, 1, 1)
        devices[-1].load(text)["k"](*shape, there)
        record.launch(text, "k", shape, arrays, [])
        if not np.array_equal(tensor.seen(case, [a.numpy() for a in there]), tensor.seen(case, arrays)):
            yield f"interpreter: {opcode}"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.by_gpu", description=__doc__)
    parser.add_argument("kind", choices=["ptx", "cuda", "matrices"])
    parser.add_argument("first", type=int)
    parser.add_argument("end", type=int)
    parser.add_argument("--seconds", type=float, default=3600.0)
    options = parser.parse_args(arguments)
    record.begin()
    devices = [simt.Device("sm_90", engine=e, memory="256MiB", timeout=30) for e in ENGINES]
    last, wrong, seed = time.monotonic() + options.seconds, 0, options.first
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.first, options.end):
            if time.monotonic() > last:
                break
            print(f"seed {seed}", end="\r", flush=True)
            ways = {
                "ptx": partial(ptx_differences, seed, devices),
                "cuda": partial(cuda_differences, seed, Path(folder)),
                "matrices": partial(matrix_differences, seed, devices),
            }
            try:
                found = list(ways[options.kind]())
            except RuntimeError as error:
                print(f"seed {seed}, on the GPU: {error}", flush=True)
                os._exit(2)  # a stuck program would hold up an ordinary end
            wrong += len(found)
            for text in found:
                print(f"seed {seed}, {text}", flush=True)
    print(f"up to seed {seed}: {wrong} differ")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
