"""The command line of generators of CUDA programs whose launches both engines run."""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

Differences = Callable[[int, str, int, Path], Iterator[str]]
"""How the engines differ: for a seed, a processor, the number of launches, and a folder for files."""


def run_seeds(
    about: str | None, source: Callable[[random.Random], str], differences: Differences, often: int
) -> int:
    """Runs the seeds that the command line names, and prints what differs.

    `source`: the text of a program; `often`: launches of each, if the command line does not say. Returns 1 if
    a launch differs, else 0.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("first", type=int)
    parser.add_argument("end", type=int)
    parser.add_argument("--cpu", default="host", help="that the JIT makes code for")
    parser.add_argument("--launches", type=int, default=often, help="of each program")
    parser.add_argument("--print", action="store_true", help="show the programs, too")
    given = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(given.first, given.end):
            if given.print:
                print(source(random.Random(seed)))
            for found in differences(seed, given.cpu, given.launches, Path(folder)):
                wrong += 1
                print(found, flush=True)
    print(f"{given.end - given.first} programs, {wrong} launches differ")
    return min(wrong, 1)
