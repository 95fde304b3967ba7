"""What simt does otherwise than a GPU: `python -m tests.bench.compare_survey RECORDED.json [NAME...]`.

Runs the survey's kernels as `record_survey` did to write the file (of another size, or as nvcc compiles them
with other flags, which it does here again), and prints the arrays that have other bits.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import simt
from tests.bench.record_survey import CASES, Problem, compiled, digest, resolved


def differing(problem: Problem, ptx: bytes, recorded: dict[str, str], engine: str = "jit") -> list[str]:
    """Names of the arrays whose bits are not those of the GPU."""
    device = simt.Device("sm_90", engine=engine, approx="hardware", workers=1)
    module = device.load(ptx)
    arrays = {name: device.array(values) for name, values in problem.arrays.items()}
    for launch in problem.launches:
        arguments = tuple(resolved(launch, {**arrays, **problem.scalars}))
        module[launch.kernel](launch.grid, launch.block, arguments, launch.shared)
    return [name for name in recorded if digest(problem, name, arrays[name].numpy()) != recorded[name]]


def main() -> None:
    path, *names = sys.argv[1:]
    recorded = json.loads(Path(path).read_text())
    texts, wrong = compiled(recorded["flags"]), 0
    for name in names or recorded["digests"]:
        try:
            found = differing(CASES[name].problem(recorded["size"]), texts[name], recorded["digests"][name])
        except simt.SimtError as error:
            found = [str(error)]
        wrong += bool(found)
        if found:
            print(f"{name}: {', '.join(found)}", flush=True)
    print(f"{wrong} of {len(names or recorded['digests'])} kernels have other bits")


if __name__ == "__main__":
    main()
