"""The curve of compile times watches phases by the names of functions: all of them are found."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "bench" / "compile_curve.py"


def test_phases_are_measured() -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "mixed", "--sizes", "100"], capture_output=True, text=True, check=True
    )
    heading, row = done.stdout.splitlines()[:2]
    assert heading.split()[:3] == ["program", "instr.", "total"]
    name, instructions, total = row.split()[:3]
    assert name == "mixed"
    assert int(instructions) > 50
    assert float(total) > 0
    assert len(re.findall(r"\d+\.\d\d\b", row)) >= len(heading.split()) - 2
