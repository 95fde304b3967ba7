"""PTX 1.x programs do what an H200 made of them: recorded by `tests.hw.record_language`."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from tests.hw.language import LANES, LIMITED, PROGRAMS, RECORDED, SHAPES, WIDTH, inputs


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_are_the_hardware(device: simt.Device, name: str) -> None:
    with np.load(RECORDED) as file:
        theirs = file[name]
    out = device.zeros((LANES, WIDTH), "u8")
    device.load(PROGRAMS[name])["k"](1, LANES, (device.array(inputs()), out))
    ours = out.numpy()
    wrong = [
        f"word {word} lane {lane}: {int(ours[lane, word]):#x}, GPU {int(theirs[lane, word]):#x}"
        for lane, word in np.argwhere(ours != theirs)
    ]
    assert not wrong, (len(wrong), wrong[:40])


def test_a_16_bit_machine_has_16_bits(engine: str) -> None:
    """Section 7.6.1: what a device of that time computes in 16-bit registers is what the H200 does."""
    device = simt.Device("sm_10", engine=engine, memory="16MiB", timeout=20)
    with np.load(RECORDED) as file:
        theirs = file["halves"]
    out = device.zeros((LANES, WIDTH), "u8")
    device.load(PROGRAMS["halves"])["k"](1, LANES, (device.array(inputs()), out))
    np.testing.assert_array_equal(out.numpy(), theirs)


@pytest.mark.parametrize("place", range(len(SHAPES)))
def test_shapes_of_limited_kernels(device: simt.Device, place: int) -> None:
    """Only the number of threads counts (table 99 limits each extent: see decision 13)."""
    with np.load(RECORDED) as file:
        allowed = bool(file["shapes"][place])
    kernel = device.load(LIMITED)["k"]
    if allowed:
        kernel(1, SHAPES[place], (0, 0))
        return
    with pytest.raises(simt.LaunchError, match=r"\.maxntid allows at most 256"):
        kernel(1, SHAPES[place], (0, 0))
