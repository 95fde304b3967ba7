"""Differential fuzzing: `python -m tests.fuzz --seeds 0-100`.

Runs the program of every seed on both engines. On a mismatch the program is made smaller as long as the
engines still differ, and printed. `--replay`: the programs that a GPU ran (`tests.fuzz.record`), on both.
"""

from __future__ import annotations

import argparse
import sys
import time

import simt
from tests.fuzz.minimise import minimise
from tests.fuzz.programs import Program, generate
from tests.fuzz.recorded import Hashes, recordings, wrong
from tests.fuzz.running import Case, difference, outcome


def differ(program: Program, devices: tuple[simt.Device, ...]) -> str:
    """How the first two devices differ, empty if they do not."""
    case = Case.of(program)
    return difference(*(outcome(case, device) for device in devices))


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seeds", default="0-50", help="first and last seed")
    parser.add_argument("--inexact", action="store_true", help="with approximate instructions")
    parser.add_argument("--size", type=int, default=14, help="statements of the kernel")
    parser.add_argument("--keep", action="store_true", help="do not make mismatching programs smaller")
    parser.add_argument("--print", action="store_true", dest="show", help="print the programs, run nothing")
    parser.add_argument("--replay", action="store_true", help="the recorded programs among the seeds")
    options = parser.parse_args(arguments)
    first, _, last = options.seeds.partition("-")
    bad = 0
    devices = tuple(
        simt.Device("sm_90", engine=e, memory="256MiB", timeout=30) for e in ("interpreter", "jit")
    )
    seeds = range(int(first), int(last or first) + 1)
    if options.replay:
        return replay([c for c in recordings() if c[0].seed in seeds], devices)
    for seed in seeds:
        program = generate(seed, not options.inexact, options.size)
        if options.show:
            print(program.text())
            continue
        bad += report(program, devices, options.keep)
    return min(bad, 1)


def replay(recorded: list[tuple[Case, Hashes]], devices: tuple[simt.Device, ...]) -> int:
    """Compares both engines with what a GPU made of the programs."""
    bad = 0
    for case, expected in recorded:
        for device in devices:
            found = outcome(case, device)
            problems = [found] if isinstance(found, str) else wrong(found, expected)
            if problems:
                print(
                    f"seed {case.seed}, {device.engine_name}: {len(problems)} wrong, {problems[:3]}",
                    flush=True,
                )
            bad += bool(problems)
    return min(bad, 1)


def report(program: Program, devices: tuple[simt.Device, ...], keep: bool) -> bool:
    start = time.monotonic()
    found = differ(program, devices)
    if not found:
        return False
    print(f"seed {program.seed}: {found} ({time.monotonic() - start:.1f} s)", flush=True)
    if not keep:
        print(minimise(program, lambda p: same_kind(found, differ(p, devices))).text(), flush=True)
    return True


def same_kind(a: str, b: str) -> bool:
    """Whether two differences may have one cause: both values, or the same error."""
    return bool(b) and a.split(":")[0].split(" ")[0] == b.split(":")[0].split(" ")[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
