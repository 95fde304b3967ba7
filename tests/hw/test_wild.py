"""Accesses at wild addresses as an H200 carries them out (`tests.hw.wild`), on both engines.

Record again with `python -m tests.hw.record --only wild`.
"""

from __future__ import annotations

import numpy as np
import pytest

import simt
from tests.conftest import shared_device
from tests.hw.wild import BEGUN, RECORDED, WORDS, programs, recorded

LONG = ("ld const, ", "ld param, ")
"""Constant memory and parameters lie at their generic addresses here, all 64 bits of which count. On an H200
they are windows of 32 bits, like shared memory."""
CACHED = 2
"""The word that was read from constant memory, or a parameter, after a write through the generic address: on
an H200 it is the old one where a cache has it."""


def run(name: str, device: simt.Device) -> list[int]:
    out = device.zeros(WORDS, "u4")
    blob = np.arange(201, 209, dtype="u4").tobytes()
    device.load(programs()[name].text)["k"](1, 1, (out, blob))
    return out.numpy().tolist()


def expected(name: str) -> list[int]:
    """What an H200 gave."""
    found = recorded()[name]
    assert not isinstance(found, str), found
    return found


def test_everything_is_recorded() -> None:
    assert list(recorded()) == list(programs()), f"record {RECORDED.name} again"


@pytest.mark.parametrize("engine", ["interpreter", "jit"])
def test_addresses_of_shared_and_local_memory_have_32_bits(engine: str) -> None:
    """The upper half of a register does not count, nor does a carry out of the lower one."""
    names = [n for n in programs() if " of " not in n and not n.startswith(LONG)]
    assert len(names) > 50
    for name in names:
        assert run(name, shared_device(engine)) == expected(name), name


@pytest.mark.parametrize("engine", ["interpreter", "jit"])
def test_constants_can_be_written_at_their_generic_addresses(engine: str) -> None:
    """Whoever reads there sees it. Nothing is an error, as on the GPU."""
    names = [n for n in programs() if " of " in n]
    assert len(names) > 30
    for name in names:
        ours, theirs = run(name, shared_device(engine)), expected(name)
        assert ours[:CACHED] + ours[CACHED + 1 :] == theirs[:CACHED] + theirs[CACHED + 1 :], name
        assert ours[CACHED] in (theirs[CACHED], theirs[CACHED + 1]), name


@pytest.mark.parametrize("engine", ["interpreter", "jit"])
def test_addresses_of_constants_have_64_bits(engine: str) -> None:
    """The one difference: where the GPU reads the variable, there is a fault."""
    for name in (n for n in programs() if n.startswith(LONG)):
        assert expected(name)[0] == BEGUN, name
        with pytest.raises(simt.MemoryFault):
            run(name, shared_device(engine))
