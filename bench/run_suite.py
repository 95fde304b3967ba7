"""Runs the suite: `python bench/run_suite.py [--quick] [ENTRY...]`.

Checks every version against NumPy, times them interleaved in this process on one pinned core, prints the
ratios and writes them to bench/results.json, beside what bench/run.py wrote, with a chart in
bench/results.png. `--quick`: small sizes, nothing written. `--cpu-time`: what one core does is measured in
processor time, which other processes disturb less. Exit code 1 if a result was wrong.
"""

from __future__ import annotations

import argparse
import sys

from rich.console import Console
from suite.catalogue import ENTRIES
from suite.chart import draw
from suite.measure import ROUNDS, Line, measure, processor, wall
from suite.report import notes, table, write
from timing import pin_to_one_core


def main() -> int:
    names = [entry.name for entry in ENTRIES]
    parser = argparse.ArgumentParser(description="The benchmark suite.")
    parser.add_argument("entries", nargs="*", metavar="ENTRY", help=", ".join(names))
    parser.add_argument("--quick", action="store_true", help="small sizes, nothing written")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="runs of each version (%(default)s)")
    parser.add_argument(
        "--cpu-time", action="store_true", help="one core by processor time: for busy machines"
    )
    options = parser.parse_args()
    if unknown := set(options.entries) - set(names):
        parser.error(f"no entry {', '.join(sorted(unknown))}: expected some of {', '.join(names)}")
    core, console = pin_to_one_core(), Console()
    clock, lines = processor if options.cpu_time else wall, list[Line]()
    for entry in ENTRIES:
        if not options.entries or entry.name in options.entries:
            console.print(f"{entry.name} ...", end="\r")
            lines.append(measure(entry, "quick" if options.quick else "full", core, options.rounds, clock))
    console.print(table(lines))
    for note in notes(lines):
        console.print(note, highlight=False, markup=False)
    if not options.quick and not options.entries:
        write(lines, core, clock is wall)
        console.print(draw(lines))
    return 1 if any(line.wrong for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main())
