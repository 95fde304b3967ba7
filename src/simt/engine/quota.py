"""How many processors the program may use at a time.

A container often sees all processors of its host, and may take only the time of some (`docker --cpus`,
limits of Kubernetes): its control group says so. With a thread for each processor that is seen, it would be
stopped for most of each tenth of a second.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from math import ceil, inf
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")
"""Lines `number:controllers:path`, of which version 2 of control groups has one, with neither number nor
controllers."""


def cpus() -> int:
    """By the process's affinity and the quotas of its control groups; at least 1."""
    affinity = getattr(os, "sched_getaffinity", None)
    count = len(affinity(0)) if affinity is not None else os.cpu_count() or 1
    return max(1, min([count, *(ceil(quota) for quota in _quotas() if quota < inf)]))


def _quotas() -> Iterator[float]:
    """Processors' time by time, of each group that the process is in."""
    for line in _text(OWN).splitlines():
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        if not controllers:
            for folder in _upwards(GROUPS, path):
                yield _ratio(*_text(folder / "cpu.max").split())
        elif "cpu" in controllers.split(","):
            for root in (GROUPS / controllers, GROUPS / "cpu"):
                for folder in _upwards(root, path):
                    yield _ratio(_text(folder / "cpu.cfs_quota_us"), _text(folder / "cpu.cfs_period_us"))


def _upwards(root: Path, path: str) -> Iterator[Path]:
    """The folder of a group, and those of the groups that it is in."""
    folder = Path(path.lstrip("/"))
    yield from (root / part for part in (folder, *folder.parents))


def _ratio(*numbers: str) -> float:
    """Of two numbers as the system writes them; infinite if that is no limit."""
    try:
        quota, period = map(int, numbers)
    except ValueError:
        return inf
    return quota / period if quota > 0 and period > 0 else inf


def _text(file: Path) -> str:
    try:
        return file.read_text()
    except (OSError, UnicodeDecodeError):
        return ""
