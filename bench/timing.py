"""Interleaved timing: every candidate once a round, so that drift of the machine hits all alike."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from llvmlite.binding import get_host_cpu_name


@dataclass(frozen=True)
class Row:
    """One line of the report: a median in seconds, what it is compared with, and what was asked for."""

    case: str
    what: str
    seconds: float
    baseline: str = ""
    ratio: float | None = None
    wanted: str = ""


def pin_to_one_core() -> int | None:
    """Keeps this process and its children on one core; None where the system cannot."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    return core


def seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def medians(candidates: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The median time of each candidate in seconds, after one round that does not count."""
    for run in candidates.values():
        run()
    samples: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(rounds):
        for name, run in candidates.items():
            samples[name].append(seconds(run))
    return {name: statistics.median(found) for name, found in samples.items()}


def processor() -> str:
    """The processor's name where the system tells it, and LLVM's: clouds call all generations "AMD EPYC"."""
    information = Path("/proc/cpuinfo")
    lines = information.read_text().splitlines() if information.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    name = names[0] if names else platform.processor() or platform.machine()
    return f"{name} ({get_host_cpu_name()})"
