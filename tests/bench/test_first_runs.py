"""First runs of the survey's problems are measured, and summed up by size."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "bench" / "first_runs.py"


def test_a_problem_s_first_run_takes_the_time_to_compile() -> None:
    command = [sys.executable, str(SCRIPT), "trisolve", "--rows"]
    row, means = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    found = re.fullmatch(r"trisolve +(\d+) instructions, +1 kernels, first ([\d.]+) s, all ([\d.]+) s", row)
    assert found is not None
    size, first, every = int(found[1]), float(found[2]), float(found[3])
    assert 20 < size < 500
    assert 0 < first <= every
    assert f": 1 problems, first {first:.3f} s in the mean" in means
