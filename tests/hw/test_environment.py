"""The registers `%envreg` as on an H200.

Record again with `python -m tests.hw.record --only environment`.
"""

from __future__ import annotations

import functools
import json

import numpy as np
import pytest

from tests.conftest import shared_device
from tests.hw.environment import COUNT, LAUNCHES, RECORDED, Launch
from tests.unit.isa.meaning import Array

CONSTANTS = (0, 6, 10)
"""Registers in which the driver of an H200 keeps constants of its own, under every launch. Nobody says what
they mean; there is no such driver here, and they are zero."""

WORKSPACE = (1, 2)
"""Halves of the address of memory for barriers of the grid: set from the first cooperative launch on, here
only in cooperative launches."""


@functools.cache
def recorded() -> Array:
    """By process, launch and register."""
    return np.array(json.loads(RECORDED.read_text()), "u4")


@functools.cache
def first_cooperative() -> int:
    return [launch.cooperative for launch in LAUNCHES].index(True)


def compared(number: int) -> Array:
    """What was recorded of a register, of which simt has to give the same: by process and launch."""
    if number in CONSTANTS:
        return np.zeros((0, 0), "u4")
    last = first_cooperative() if number in WORKSPACE else len(LAUNCHES)
    return recorded()[:, :last, number]


@functools.cache
def computed(launch: Launch, engine: str) -> Array:
    """The registers here."""
    device = shared_device(engine)
    out = device.array(np.full(COUNT, 77, "u4"))
    more = (bytes(launch.parameters),) if launch.parameters else ()
    kernel = device.load(launch.text)["k"]
    kernel.launch(launch.grid, launch.block, (out, *more), launch.shared, cooperative=launch.cooperative)
    return out.numpy().copy()


def test_every_launch_is_recorded() -> None:
    assert recorded().shape == (2, len(LAUNCHES), COUNT), "record again"


@pytest.mark.parametrize("engine", ["interpreter", "jit"])
def test_registers_are_the_hardware(engine: str) -> None:
    ours = np.array([computed(launch, engine) for launch in LAUNCHES])
    for number in range(COUNT):
        theirs = compared(number)
        wrong = theirs != ours[: theirs.shape[1], number]
        assert not wrong.any(), f"%envreg{number}"
    assert not ours[:, CONSTANTS].any()
    assert ours[:, WORKSPACE].any(1).tolist() == [launch.cooperative for launch in LAUNCHES]


def test_the_driver_keeps_constants() -> None:
    """They depend neither on the launch nor on the process."""
    found = recorded()[:, :, CONSTANTS].reshape(-1, len(CONSTANTS))
    assert found[0].all()
    assert (found == found[0]).all()


def test_cooperative_launches_have_a_workspace() -> None:
    """Its address is another one in each process, and stays."""
    found = recorded()[:, first_cooperative() :, WORKSPACE]
    assert found.all()
    assert (found == found[:, :1]).all()
    assert (found[0, 0] != found[1, 0]).all()
