"""Random programs on every CPU give the interpreter's bits."""

from __future__ import annotations

import functools

import pytest

import simt
from tests.fuzz.programs import generate
from tests.fuzz.running import Case, Outputs, difference, outcome

SEEDS = (2000,)


@functools.cache
def interpreted(seed: int) -> tuple[Case, Outputs | str]:
    case = Case.of(generate(seed, exact=False, size=8))
    return case, outcome(case, simt.Device("sm_90", engine="interpreter", memory="256MiB", timeout=60))


@pytest.mark.parametrize("seed", SEEDS)
def test_programs(device: simt.Device, seed: int) -> None:
    case, expected = interpreted(seed)
    assert not difference(outcome(case, device), expected), case.text
