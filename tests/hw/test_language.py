"""PTX 1.x programs do what an H200 made of them: recorded by `tests.hw.record_language`."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from tests.hw.language import (
    HALVED,
    LANES,
    LIMITED,
    PARTS,
    PROGRAMS,
    RECORDED,
    REFUSED,
    SHAPES,
    WIDTH,
    enumerate_stores,
    inputs,
    program,
)


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


def _halved_words() -> list[int]:
    """The words that results of refused moves are stored in: those that follow such a move."""
    found: list[int] = []
    halved = False
    for place, line in enumerate_stores(PARTS):
        if place is None:
            halved = line.startswith(HALVED)
        elif halved:
            found.append(place)
    return found


def test_scalars_and_integers_in_vectors_are_the_hardware(device: simt.Device) -> None:
    with np.load(RECORDED) as file:
        theirs = file["parts"]
    out = device.zeros((LANES, WIDTH), "u8")
    taken = [line for line in PARTS if not line.startswith(HALVED)]
    device.load(program("1.4", "sm_13", taken))["k"](1, LANES, (device.array(inputs()), out))
    words = [w for w in range(WIDTH) if w not in _halved_words()]
    np.testing.assert_array_equal(out.numpy()[:, words], theirs[:, words])


def test_shorter_vectors_of_parts_are_refused_since_the_hardware_has_more_in_them(
    device: simt.Device,
) -> None:
    """Of a 32-bit register in two, the halves are there, but ptxas leaves what is above them as it comes."""
    with np.load(RECORDED) as file:
        elements = file["parts"][:, :2]
    whole = inputs()[:, 0]
    assert (elements >> 16 != 0).any()
    assert (elements % 2**16 == np.stack([whole % 2**16, whole >> 16 & 0xFFFF], 1)).all()
    with pytest.raises(simt.PtxError, match=r"source `a` of `mov\.v2\.u32` cannot be `%r0`"):
        device.load(REFUSED["parts"])


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
