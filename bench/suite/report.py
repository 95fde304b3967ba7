"""The table of ratios, the notes under it, and the file of results."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import time
from collections.abc import Iterator
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rich.table import Table
from timing import processor

from suite.measure import LOOPS, Line, geometric_mean
from suite.versions import GCC_OPTIONS, LeftOut, opencl

RESULTS = Path(__file__).resolve().parent.parent / "results.json"
OTHERS = ("native", "plain C", "SPMD C", "PoCL", "Numba")


def table(lines: list[Line]) -> Table:
    """simt's time over every other's: below 1 simt is faster. The last line: geometric means. What all cores
    gain: simt, and C loops in the same rounds, which tell what the machine gave then."""
    given = [f"C {name}" for name in LOOPS]
    result = Table("kernel", "simt", *(f"/ {name}" for name in OTHERS), "1 / all cores", *given, "first run")
    for line in lines:
        ratios = [shown(line.ratio(name)) for name in OTHERS]
        speedups = [shown(line.speedup(of)) for of in ("", *LOOPS)]
        result.add_row(line.name, milliseconds(line.seconds.get("simt")), *ratios, *speedups,
                       milliseconds(line.first_run))  # fmt: skip
    means = [shown(geometric_mean(line.ratio(name) for line in lines)) for name in OTHERS]
    speedups = [shown(geometric_mean(line.speedup(of) for line in lines)) for of in ("", *LOOPS)]
    result.add_section()
    result.add_row("geometric mean", "", *means, *speedups, "")
    return result


def shown(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.2f}"


def milliseconds(found: float | None) -> str:
    return "-" if found is None else f"{found * 1e3:.2f} ms"


def notes(lines: list[Line]) -> Iterator[str]:
    """What the table does not say: what is missing, wrong or interpreted."""
    for line in lines:
        for name, reason in line.left_out.items():
            yield f"left out: {line.name}, {name}: {reason}"
        for name, reason in line.wrong.items():
            yield f"WRONG: {line.name}, {name}: {reason}"
        for name, reason in line.interpreted.items():
            yield f"interpreted, not compiled: {line.name}, kernel {name}: {reason}"


def write(lines: list[Line], core: int | None, by_wall: bool) -> None:
    """Puts the suite's results into the file and keeps what else is there."""
    document: dict[str, object] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    means = {name: geometric_mean(line.ratio(name) for line in lines) for name in OTHERS}
    document["suite"] = {
        **circumstances(core),
        "clock": "wall" if by_wall else "processor time (all cores: wall)",
        "geometric_means": means,
        "rows": [row(line) for line in lines],
    }
    RESULTS.write_text(json.dumps(document, indent=2) + "\n")


def circumstances(core: int | None) -> dict[str, object]:
    """When, where and with what it was measured."""
    return {
        "date": time.strftime("%Y-%m-%d"),
        "machine": {"processor": processor(), "cores": os.cpu_count(), "core": core, **versions()},
        "gcc_options": " ".join(GCC_OPTIONS),
    }


def row(line: Line) -> dict[str, object]:
    ratios = {name: line.ratio(name) for name in OTHERS}
    given = {f"{name}_on_all_cores": line.speedup(name) for name in LOOPS}
    return {**asdict(line), "ratios": ratios, "all_cores_speedup": line.speedup(), **given}


def versions() -> dict[str, str]:
    """Releases of everything that was measured."""
    found = {"system": platform.platform(terse=True), "python": platform.python_version(), "gcc": gcc()}
    for name in ("simt", "numpy", "llvmlite", "numba", "pyopencl"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "missing"
    return {**found, "pocl": pocl()}


def gcc() -> str:
    try:
        return subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, text=True).stdout.strip()
    except FileNotFoundError:
        return "missing"


def pocl() -> str:
    try:
        platforms = opencl().get_platforms()
    except LeftOut:
        return "missing"
    return next((p.version for p in platforms if "Portable" in p.name), "missing")
