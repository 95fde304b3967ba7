"""What of a CPU's habits is so: `python bench/habits.py [HABIT...] [--kernels NAME...] [--rounds 21]`.

Code is made for what is known about a CPU by measurement (`simt.engine.host`: `asks-far`, `far-turns` and
so on). For each of these, the kernels of the suite and the survey whose code is another one with it than
without are run both ways in one process, by turns; the ratio is that with to without, in the median of pairs,
processor time of one core. So what a new CPU wants is found in some minutes.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator
from copy import copy
from typing import Any

from suite.catalogue import ENTRIES
from suite.measure import timed
from suite.problem import Problem, triple
from suite.versions import Virtual
from survey.catalogue import CASES
from timing import pin_to_one_core

from simt.analysis.joined import asked
from simt.engine.compile import attributes
from simt.engine.compiler import Compiler
from simt.engine.host import HABITS, Cpu, host_cpu
from simt.engine.llvm_kernel import emit
from simt.engine.unsupported import Unsupported
from simt.records import replace

MOST_SECONDS = 12
"""Of a kernel's pairs."""
PROBLEMS: dict[str, Any] = {**{entry.name: entry for entry in ENTRIES}, **CASES}


def arch(entry: Any) -> str:
    return f"sm_{max(getattr(entry, 'arch', 90), 90)}"


def texts(virtual: Virtual, cpu: Cpu) -> Iterator[str]:
    """LLVM IR of all launches of a problem."""
    for kernel, grid, block, *_ in virtual.calls:
        function = kernel.module.program.functions[kernel.name]
        shape = asked(triple(block), triple(grid), function)
        try:
            yield emit(kernel.module.program, function, shape, cpu.features, attributes(cpu))[0]
        except Unsupported as reason:
            yield str(reason)


def versions(entry: Any, problem: Problem, habit: str) -> tuple[Virtual, Virtual] | None:
    """Without the habit, and with it, on the same arrays: where these lie in the caches counts for more than
    many a habit. None if the code is the same."""
    first = Virtual(entry, problem, 1, arch=arch(entry))
    found = list[tuple[Virtual, list[str]]]()
    for features in (host_cpu().features - {habit}, host_cpu().features | {habit}):
        cpu, virtual = replace(host_cpu(), features=features), copy(first)
        module, compiler = first.device.load(entry.ptx), Compiler(cpu=cpu)
        virtual.calls = [(module[kernel.name], *rest) for kernel, *rest in first.calls]
        first.device.engine.compiler = compiler  # type: ignore[attr-defined]
        virtual.run()  # which compiles it
        found.append((virtual, list(texts(virtual, cpu))))
    (without, one), (with_it, other) = found
    return None if one == other else (without, with_it)


def ratio(problem: Problem, without: Virtual, with_it: Virtual, rounds: int) -> tuple[float, float]:
    """Median of the ratios of pairs, and the least seconds of one that has not got the habit."""
    pairs = list[tuple[float, float]]()
    for version in (without, with_it):
        timed(version, problem, time.process_time)
    start = time.monotonic()
    while len(pairs) < rounds and time.monotonic() - start < MOST_SECONDS:
        seconds = dict[int, float]()
        for n in (0, 1) if len(pairs) % 2 else (1, 0):
            seconds[n] = timed((without, with_it)[n], problem, time.process_time)
        pairs.append((seconds[0], seconds[1]))
    return statistics.median(b / a for a, b in pairs), min(a for a, _ in pairs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("habits", nargs="*", help=f"of {', '.join(sorted(HABITS))}; all if none is given")
    parser.add_argument("--kernels", nargs="*", help="of the suite and the survey; all if none is given")
    parser.add_argument("--rounds", type=int, default=21)
    given = parser.parse_args()
    if unknown := {*given.habits} - {*HABITS} | {*(given.kernels or ())} - {*PROBLEMS}:
        parser.error(f"nothing of the name {', '.join(sorted(unknown))}")
    pin_to_one_core()
    print(
        f"{host_cpu().name}, which has {', '.join(sorted(host_cpu().features & {*HABITS})) or 'none of them'}"
    )
    for habit in given.habits or sorted(HABITS):
        found = list[float]()
        for name in given.kernels or PROBLEMS:
            entry = PROBLEMS[name]
            problem = entry.problem("full")
            made = versions(entry, problem, habit)
            if made is not None:
                median, least = ratio(problem, *made, given.rounds)
                found.append(median)
                print(f"{habit:16s} {name:24s} {1e3 * least:9.3f} ms  with {median:.2f}", flush=True)
        mean = f"{statistics.geometric_mean(found):.3f}" if found else "nothing differs"
        print(f"{habit:16s} {len(found)} kernels, geometric mean {mean}", flush=True)


if __name__ == "__main__":
    main()
