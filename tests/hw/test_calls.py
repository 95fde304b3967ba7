"""Calls, parameters in memory and addresses as on an H200.

Record again with `python -m tests.hw.record --only calls`.
"""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.engine.jit import Jit
from tests.hw.calls import PROGRAMS, RECORDED, THREADS, WIDTH
from tests.unit.isa.meaning import Array

NOWHERE_TO_READ = (
    "cvta.param is for parameters of kernels; the H200 reads zeros somewhere, here the access is a fault"
)
UNDEFINED = {"parameter by cvta.param": NOWHERE_TO_READ, "variadic by cvta.param": NOWHERE_TO_READ}
"""Programs whose result the language leaves open, with the reason: here they end with a fault."""

UNCOMPARED = {
    "spaces of const": [6],
    "spaces of param": [6],
    "addresses as initial values": [1],
}
"""Words that are not compared. Word 6 of `spaces`: whether conversion to a generic address changes it, which
is the machine's affair (here constant memory and parameters are global memory). The second of two 32-bit
halves of addresses: ptxas writes all 64 bits of each, in any order; here each variable holds the low half of
its own."""


def recorded(name: str) -> Array:
    with np.load(RECORDED) as file:
        return file[name]


def run(name: str, device: simt.Device) -> Array:
    program = PROGRAMS[name]
    reasons = device.engine.reasons if isinstance(device.engine, Jit) else {}
    reasons.clear()
    out = device.zeros((THREADS, WIDTH), "u8")
    device.load(program.text)["k"](1, THREADS, (out, *((0,) if program.parameters else ())))
    assert not reasons, "the JIT runs it itself"
    return out.numpy().copy()


def test_all_are_recorded() -> None:
    with np.load(RECORDED) as file:
        assert set(file.files) == set(PROGRAMS), "record again"


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_are_the_hardware(device: simt.Device, name: str) -> None:
    theirs = recorded(name)
    if theirs.shape == ():  # an error, or a program without end
        assert str(theirs) == "does not end" or "ILLEGAL_ADDRESS" in str(theirs)
    if theirs.shape == () or name in UNDEFINED:
        with pytest.raises(simt.SimtError, match=r"illegal access|none of the listed"):
            run(name, device)
        return
    words = [w for w in range(WIDTH) if w not in UNCOMPARED.get(name, ())]
    np.testing.assert_array_equal(run(name, device)[:, words], theirs[:, words])
