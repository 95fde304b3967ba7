"""Devices of these tests."""

from __future__ import annotations

import pytest

import simt
from simt.engine.host import HOST, SLOW_GATHERS, host_features, named_cpus
from tests.conftest import kept_for_each_way, shared_device

CPUS = [name for name, cpu in named_cpus().items() if cpu.features <= host_features() | {SLOW_GATHERS}]
"""Those for which code runs on this machine."""


@kept_for_each_way
def device_for(cpu: str) -> simt.Device:
    return simt.Device("sm_90", cpu=cpu, memory="64MiB", timeout=20)


@pytest.fixture(params=("interpreter", HOST, *named_cpus()))
def any_device(request: pytest.FixtureRequest) -> simt.Device:
    """The interpreter, and every CPU that this machine can stand in for."""
    try:
        name = str(request.param)
        return shared_device(name) if name == "interpreter" else device_for(name)
    except simt.SimtError as reason:
        pytest.skip(str(reason))
