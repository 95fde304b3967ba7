"""Runs the survey: `python bench/run_survey.py [NAME...] [--quick] [--arch N] [--write]`.

Kernels that the suite does not have, each against plain C that does the same work: results compared, then
timed interleaved in this process on one pinned core. `--write`: all of them into bench/survey.json. Exit code
1 if a result was wrong.
"""

from __future__ import annotations

import argparse
import shutil
import sys

from rich.console import Console
from suite.measure import ROUNDS, Line, processor, wall
from suite.report import notes
from survey.build_ptx import ARCH
from survey.catalogue import CASES
from survey.measure import measure, table, write
from timing import pin_to_one_core


def main() -> int:
    parser = argparse.ArgumentParser(description="The survey.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(CASES))
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument(
        "--write", action="store_true", help="all kernels, at full size, into bench/survey.json"
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="runs of each version (%(default)s)")
    parser.add_argument("--cpu-time", action="store_true", help="processor time: for busy machines")
    parser.add_argument(
        "--arch", type=int, default=ARCH, help="100: the kernels as nvcc makes them for sm_100 (%(default)s)"
    )
    options = parser.parse_args()
    if unknown := set(options.names) - set(CASES):
        parser.error(f"no kernel {', '.join(sorted(unknown))}: expected some of {', '.join(CASES)}")
    if options.write and (options.names or options.quick or options.arch != ARCH):
        parser.error("--write is for all kernels at full size, as they are committed")
    if options.arch != ARCH and shutil.which("nvcc") is None:
        parser.error("--arch needs nvcc")
    core, console = pin_to_one_core(), Console()
    clock, lines = processor if options.cpu_time else wall, list[Line]()
    for name in options.names or CASES:
        console.print(f"{name} ...", end="\r")
        made = CASES[name].made_for(options.arch)
        lines.append(measure(made, "quick" if options.quick else "full", options.rounds, clock))
    console.print(table(lines))
    for note in notes(lines):
        console.print(note, highlight=False, markup=False)
    if options.write:
        write(lines, core, clock is wall)
    return 1 if any(line.wrong for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main())
