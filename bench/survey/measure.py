"""Checks a case against C, times both, and reports."""

from __future__ import annotations

import json

from rich.table import Table
from suite.measure import Clock, Line, geometric_mean, interleaved, note, timed, wall
from suite.report import circumstances, milliseconds, shown
from suite.versions import LeftOut, Native, Virtual

from survey.case import HERE, Case

RESULTS = HERE.parent / "survey.json"


def measure(case: Case, size: str, rounds: int, clock: Clock) -> Line:
    """What C gives is what simt must give; a wrong result is not timed."""
    line, problem = Line(case.name), case.problem(size)
    try:
        native = Native(problem, case.compiled())
    except LeftOut as reason:
        line.left_out["plain C"] = str(reason)
        return line
    timed(native, problem, wall)
    answer = {name: native.array(name).copy() for name in problem.native or problem.arrays}
    virtual = Virtual(case, problem, workers=1, arch=f"sm_{max(case.arch, 90)}")
    note(line, "simt", virtual, timed(virtual, problem, wall), problem, answer)
    if not line.wrong:
        line.seconds = interleaved({"simt": virtual, "plain C": native}, problem, rounds, clock)
    return line


def ratios(lines: list[Line]) -> dict[str, float]:
    """simt's time over C's, by kernel, the greatest first."""
    found = {line.name: ratio for line in lines if (ratio := line.ratio("plain C"))}
    return dict(sorted(found.items(), key=lambda pair: -pair[1]))


def table(lines: list[Line]) -> Table:
    result, found = Table("kernel", "simt", "C", "simt / C", "first run"), ratios(lines)
    for line in lines:
        ratio = shown(found.get(line.name))
        times = (milliseconds(line.seconds.get(version)) for version in ("simt", "plain C"))
        result.add_row(line.name, *times, ratio, milliseconds(line.first_run))
    result.add_section()
    result.add_row("geometric mean", "", "", shown(geometric_mean(found.values())), "")
    result.add_row("most", "", "", shown(max(found.values(), default=None)), "")
    return result


def write(lines: list[Line], core: int | None, by_wall: bool) -> None:
    found = ratios(lines)
    document = {
        **circumstances(core),
        "clock": "wall" if by_wall else "processor time",
        "geometric_mean": geometric_mean(found.values()),
        "slower_than_c": sum(ratio > 1 for ratio in found.values()),
        "kernels": len(found),
        "ratios": found,
        "seconds": {line.name: line.seconds for line in lines},
        "first_run": {line.name: line.first_run for line in lines},
    }
    RESULTS.write_text(json.dumps(document, indent=2) + "\n")
