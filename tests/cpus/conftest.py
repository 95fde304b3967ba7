"""Devices for every CPU that this machine can stand in for: the tests below `tests/cpus` run on each."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

import pytest

import simt
from simt.engine.host import find_cpu, named_cpus
from tests.conftest import kept_for_each_way
from tests.shares import BETWEEN, STEP_BETWEEN, share

T = TypeVar("T")

CPUS = tuple(named_cpus())


@kept_for_each_way
def device_for(cpu: str) -> simt.Device:
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


def share_on(cpu: str, items: Iterable[T], kind: Callable[[T], Hashable]) -> list[T]:
    """The items that one test takes on a CPU: all, or a share of each kind."""
    return share(items, STEP_BETWEEN if cpu in BETWEEN else 1, kind)
