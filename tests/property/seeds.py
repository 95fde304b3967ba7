"""Random loops of a property that the command line asks for."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def try_seeds(wrong: Callable[[int, str, str | None], str]) -> None:
    """Runs the seeds that the command line names, and prints what is wrong with each: by seed, engine, and
    the CPU that code is for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("first", type=int)
    parser.add_argument("end", type=int)
    parser.add_argument("--cpu")
    parser.add_argument("--engine", default="jit")
    given = parser.parse_args()
    for number in range(given.first, given.end):
        if what := wrong(number, given.engine, given.cpu):
            print(number, what, flush=True)
    print(f"{given.end - given.first} loops")
