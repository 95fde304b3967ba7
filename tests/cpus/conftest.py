"""Devices for every CPU that this machine can stand in for: the tests below `tests/cpus` run on each."""

from __future__ import annotations

import functools

import pytest

import simt
from simt.engine.host import find_cpu, named_cpus

CPUS = tuple(named_cpus())


@functools.cache
def device_for(cpu: str) -> simt.Device:
    """One device for each CPU, kept for all tests of a process."""
    return simt.Device("sm_90", cpu=cpu, memory="1GiB", timeout=60)


@pytest.fixture(params=CPUS)
def cpu(request: pytest.FixtureRequest) -> str:
    """The name of a CPU whose code this machine runs."""
    name = str(request.param)
    try:
        find_cpu(name)
    except simt.SimtError as reason:
        pytest.skip(str(reason))
    return name


@pytest.fixture
def device(cpu: str) -> simt.Device:
    """In place of the fixture of the engines: a JIT device for each CPU."""
    return device_for(cpu)
