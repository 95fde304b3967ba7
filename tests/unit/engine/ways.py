"""The ways in which kernels run: by the interpreter, and by the JIT for every CPU that this machine can stand
in for."""

from __future__ import annotations

import pytest

import simt
from simt.engine.host import HOST, find_cpu, named_cpus

CPUS = (HOST, *named_cpus())
WAYS = ("interpreter", *CPUS)


def own_device(way: str) -> simt.Device:
    """A device with memory of its own. Skips the test where the machine cannot stand in for a CPU."""
    if way == "interpreter":
        return simt.Device("sm_90", engine=way, memory="64MiB")
    try:
        find_cpu(way)
    except simt.SimtError as reason:
        pytest.skip(str(reason))
    return simt.Device("sm_90", engine="jit", cpu=way, memory="64MiB")
