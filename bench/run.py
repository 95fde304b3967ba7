"""Times single cases: `python bench/run.py [CASE...]`. Prints a table and writes bench/results.json.
(The suite of kernels against native versions is bench/run_suite.py.)

Everything runs in one process pinned to one core (`start_up` in child processes on that core), the
candidates of a case interleaved, and medians are reported. Compare ratios, not seconds, across machines.
"""

from __future__ import annotations

import json
import platform
import sys
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np
from cases import CASES
from interpreter import interpreter
from rich.console import Console
from rich.table import Table
from timing import Row, pin_to_one_core, processor

import simt

CASES[interpreter.__name__] = interpreter
RESULTS = Path(__file__).resolve().parent / "results.json"


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in CASES]
    if unknown:
        print(f"error: no case {', '.join(unknown)}: expected some of {', '.join(CASES)}", file=sys.stderr)
        return 2
    core, failures = pin_to_one_core(), 0
    rows: list[Row] = []
    for name in names or CASES:
        try:
            rows += CASES[name]()
        except simt.SimtError as error:
            failures += 1
            print(f"error: case {name}: {error}", file=sys.stderr)
    Console().print(table(rows))
    if not names and not failures:
        write_results(rows, core)
        print(f"written to {RESULTS}")
    return 1 if failures else 0


def table(rows: list[Row]) -> Table:
    result = Table("case", "what", "median", "ratio", "to", "wanted")
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        result.add_row(row.case, row.what, shown(row.seconds), ratio, row.baseline, row.wanted)
    return result


def shown(seconds: float) -> str:
    return f"{seconds * 1e3:.2f} ms" if seconds > 1e-4 else f"{seconds * 1e6:.2f} us"


def write_results(rows: list[Row], core: int | None) -> None:
    versions = {"python": platform.python_version(), "numpy": np.__version__, "simt": simt.__version__}
    machine = {"processor": processor(), "system": platform.system(), "core": core, **versions}
    before = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    found = {"date": time.strftime("%Y-%m-%d"), "machine": machine, "rows": [asdict(row) for row in rows]}
    document = {**before, **found}  # the suite's results lie in the same file
    RESULTS.write_text(json.dumps(document, indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
