"""Calls, parameters in memory and addresses as on an H200.

Record again with `python -m tests.hw.record --only calls`.
"""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.engine.jit import Jit
from tests.hw.calls import PLACES, PROGRAMS, RECORDED, STEPS, THREADS, WIDTH, wandered
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
    "alignment": [0],
    "meeting after calls, sm_60": [1],
    "meeting after calls, sm_70": [1],
}
"""Words that are not compared. Word 6 of `spaces`: whether conversion to a generic address changes it, which
is the machine's affair (here constant memory and parameters are global memory). The second of two 32-bit
halves of addresses: ptxas writes all 64 bits of each, in any order; here each variable holds the low half of
its own. Word 0 of `alignment`: `test_global_variables_are_aligned`. Word 1 of `meeting`: where lanes meet
again is left to the code generator; behind a call through a table those of an H200 do not, here they do."""

SIZES = {"shared": 256, "local": 64, "param": 8}
OUTSIDE = {"spaces of places": [i for i, (space, far) in enumerate(PLACES)
                                if space in SIZES and not 0 <= far < SIZES[space]]}  # fmt: skip
"""Threads that are not compared: they ask for an address beside a variable that is the only one of its space.
The windows of an H200 are larger than what a program has there, and lie elsewhere."""

APART = {"wandering by calls, sm_20", "wandering by calls, sm_60"}
"""Programs of which an H200 makes something else than the language says: see `test_parted_lanes`."""


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


@pytest.mark.share(2)
@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in APART])
def test_programs_are_the_hardware(device: simt.Device, name: str) -> None:
    theirs = recorded(name)
    if theirs.shape == ():  # an error, or a program without end
        assert str(theirs) == "does not end" or "ILLEGAL_ADDRESS" in str(theirs)
    if theirs.shape == () or name in UNDEFINED:
        with pytest.raises(simt.SimtError, match=r"illegal access|none of the listed"):
            run(name, device)
        return
    words = [w for w in range(WIDTH) if w not in UNCOMPARED.get(name, ())]
    threads = [i for i in range(THREADS) if i not in OUTSIDE.get(name, ())]
    np.testing.assert_array_equal(run(name, device)[threads][:, words], theirs[threads][:, words])


def test_global_variables_are_aligned(device: simt.Device) -> None:
    """To 512 bytes here, as the program asks; by the driver of an H200 to 256."""
    assert not run("alignment", device)[:, 0].any()
    assert not (recorded("alignment")[:, 0] & 255).any()


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name.startswith("wandering by")])
def test_every_thread_wanders_as_far(device: simt.Device, name: str) -> None:
    """All constructs are assumed to part threads unless they say `.uni` (PTX 1.4 section 7.5): a thread's
    result does not depend on the others of its warp."""
    assert run(name, device)[:, 0].tolist() == [wandered(thread)[-1] for thread in range(THREADS)]


@pytest.mark.parametrize("name", sorted(APART))
def test_parted_lanes(name: str) -> None:
    """For targets below sm_70 ptxas 13 takes calls through tables for ones that leave a warp together: it
    keeps the loop's counter in a register that the warp has once, and lets no lanes wait for others. One
    group of lanes that go the same ways runs to the end and counts; every other lane comes back to a counter
    that is at its end, and stops after the step in which its way was another one."""
    found = recorded(name)[:, 0].tolist()
    far = [thread for thread in range(THREADS) if found[thread] == wandered(thread)[-1] != 0]
    leader = ways(far[0])
    assert [ways(thread) for thread in far] == [leader] * len(far)
    assert found == [wandered(thread)[common(ways(thread), leader)] for thread in range(THREADS)]


def ways(thread: int) -> list[int]:
    """Which of four ways it takes in each step."""
    return [value >> 1 & 3 for value in wandered(thread)[:STEPS]]


def common(own: list[int], leader: list[int]) -> int:
    """How many steps a lane takes: as long as its way is the leader's, and one more."""
    return next((step + 1 for step, (a, b) in enumerate(zip(own, leader)) if a != b), STEPS)
