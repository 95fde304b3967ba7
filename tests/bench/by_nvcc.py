"""The survey's kernels, compiled by nvcc in other ways, against C: `python -m tests.bench.by_nvcc [NAME...]`
(needs nvcc and gcc).

For a debugger, with less optimisation, for other targets. Each problem runs in a process of its own, which
may take `LIMIT_SECONDS`: a kernel whose threads wait for each other may wait for ever. (volume2 differs from
C in the last place where products and sums are not fused.)
"""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import tempfile
from pathlib import Path

from simt.records import dataclass

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "bench"))

from suite.versions import Native, Virtual  # noqa: E402
from survey.case import KERNELS  # noqa: E402
from survey.catalogue import CASES  # noqa: E402

from tests.fuzz.by_nvcc import WAYS as FOR_FUZZING  # noqa: E402

LIMIT_SECONDS = 120
WAYS = (
    *FOR_FUZZING, ("-arch=compute_75",), ("-arch=compute_90",), ("-arch=compute_120",),
    ("-rdc=true", "-arch=compute_80"), ("-restrict", "-arch=compute_80"),
    ("--fmad=false", "-arch=compute_80"),
)  # fmt: skip


@dataclass(frozen=True)
class Other:
    """A case's PTX, made in another way."""

    ptx: Path
    approx: str | None


def check(name: str, way: tuple[str, ...]) -> None:
    """Exits with what is wrong."""
    case = CASES[name]
    with tempfile.TemporaryDirectory() as folder:
        ptx = Path(folder) / "k.ptx"
        source = KERNELS / f"{case.source}.cu"
        subprocess.run(["nvcc", "-ptx", "-w", *way, str(source), "-o", str(ptx)], check=True)
        problem = case.problem("quick")
        native = Native(problem, case.compiled())
        version = Virtual(Other(ptx, case.approx), problem, workers=1, arch="sm_121")
        native.run()
        version.run()
        answer = {name: native.array(name) for name in problem.native or problem.arrays}
        if wrong := problem.wrong(answer, version.array):
            sys.exit(wrong)
        if version.interpreted:
            sys.exit(f"interpreted: {version.interpreted}")


def main(names: list[str]) -> int:
    """How many problems are wrong, of those that are named, or of all."""
    wrong = 0
    for name in names or CASES:
        for way in WAYS:
            child = multiprocessing.Process(target=check, args=(name, way))
            child.start()
            child.join(LIMIT_SECONDS)
            if child.is_alive():
                child.kill()
            if child.exitcode != 0:
                wrong += 1
                print(f"{name}, {' '.join(way)}: {child.exitcode or 'no end'}", flush=True)
    return wrong


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))
