"""The engines by name, imported when first used."""

from __future__ import annotations

import os
from enum import Enum
from importlib import import_module
from operator import index
from typing import SupportsFloat

from simt.engine.quota import cpus
from simt.errors import SimtError
from simt.imports import import_whole
from simt.machine.launch import Engine
from simt.ptx.environment import Approximation

ENGINES = {"jit": ("simt.engine.jit", "Jit"), "interpreter": ("simt.engine.interpreter", "Interpreter")}
"""Module and class of every engine."""

APPROXIMATIONS: tuple[Approximation, ...] = ("hardware", "fast")


def engine_name(wanted: str | None) -> str:
    """The engine to use: as wanted, else `SIMT_ENGINE`, else the JIT. Raises `SimtError`."""
    name = wanted or os.environ.get("SIMT_ENGINE") or "jit"
    if name not in ENGINES:
        raise SimtError(f"no engine {name!r}: expected one of {', '.join(ENGINES)}")
    return name


def cpu_name(wanted: str | None) -> str:
    """The CPU to make code for: as wanted, else `SIMT_CPU`, else `host`. Raises `SimtError` if there is none
    of that name, or if this machine cannot run its code."""
    name = wanted or os.environ.get("SIMT_CPU") or "host"
    if name != "host":  # the host needs no check: start-up time
        from simt.engine.host import find_cpu

        find_cpu(name)
    return name


class Drafts(Enum):
    """What code is made in the simplest way first (`simt.engine.drafts`): the values of `SIMT_DRAFTS`."""

    NONE = "0"
    LONG = "1"
    ALL = "all"


def allowed_drafts(usual: Drafts = Drafts.LONG) -> Drafts:
    """By `SIMT_DRAFTS`, if that is set. Raises `SimtError`."""
    found = os.environ.get("SIMT_DRAFTS") or usual.value
    try:
        return Drafts(found)
    except ValueError:
        raise SimtError(f"SIMT_DRAFTS: expected 0, 1 or all, not {found!r}") from None


def make_engine(name: str, cpu: str = "host", drafts: Drafts = Drafts.LONG) -> Engine:
    """An engine by its name; the JIT's code is for `cpu`, and may be drafts."""
    module, attribute = ENGINES[name]
    import_whole(module)
    made = getattr(import_module(module), attribute)
    return made(cpu, drafts is not Drafts.NONE, drafts is Drafts.ALL) if name == "jit" else made()


def approximation(wanted: str | None) -> Approximation:
    """How to compute the approximate functions: as wanted, else `SIMT_APPROX`, else "fast". Raises
    `SimtError`."""
    name = wanted or os.environ.get("SIMT_APPROX") or "fast"
    for known in APPROXIMATIONS:
        if name == known:
            return known
    raise SimtError(f"no approximation {name!r}: expected one of {', '.join(APPROXIMATIONS)}")


MOST_WORKERS = 1024
"""More than machines have CPUs. Each has a stack, and memory for its lanes."""


def worker_count(wanted: int | None) -> int:
    """Native threads to use: as wanted, else `SIMT_WORKERS`, else one for each CPU that the process may use.
    Raises `SimtError`."""
    given = wanted if wanted is not None else os.environ.get("SIMT_WORKERS") or cpus()
    try:
        count = int(given) if isinstance(given, str) else index(given)
    except (TypeError, ValueError):
        count = 0
    if count < 1:
        raise SimtError(f"workers: expected a positive number, {given!r} given")
    if count > MOST_WORKERS:
        raise SimtError(f"workers: expected at most {MOST_WORKERS} native threads, {count} given")
    return count


def seconds(timeout: object) -> float:
    """A timeout as given. Raises `SimtError` for anything but a positive number."""
    if not isinstance(timeout, SupportsFloat) or not float(timeout) > 0:
        raise SimtError(f"timeout: expected a positive number of seconds, {timeout!r} given")
    return float(timeout)
