"""Random programs: both engines agree with each other and with a real GPU.

Few of them run here; `python -m tests.fuzz` runs more.
"""

from __future__ import annotations

import re

import pytest

import simt
from tests.conftest import kept_for_each_way
from tests.fuzz.clocks import with_clocks
from tests.fuzz.programs import generate
from tests.fuzz.recorded import recordings, wrong
from tests.fuzz.running import Case, difference, outcome, run

KNOWN = {
    119: "its cta_d reads %u1 and %u2, which nothing wrote; with 0 and 4 there, all agrees",
}
"""Recorded programs whose results differ, and why."""

REPLAYED = {"interpreter": slice(0, 25), "jit": slice(0, 5)}


@kept_for_each_way
def device_for(engine: str) -> simt.Device:
    return simt.Device("sm_90", engine=engine, memory="256MiB", timeout=60)


@pytest.fixture
def devices() -> dict[str, simt.Device]:
    return {engine: device_for(engine) for engine in REPLAYED}


@pytest.mark.parametrize("engine", REPLAYED)
def test_recorded_programs(devices: dict[str, simt.Device], engine: str) -> None:
    """What an H200 made of them."""
    for case, expected in recordings()[REPLAYED[engine]]:
        if case.seed not in KNOWN:
            assert not wrong(run(case, devices[engine]), expected), f"seed {case.seed}"


def test_lanes_in_a_loop_that_soon_ends_are_waited_for(devices: dict[str, simt.Device]) -> None:
    """An H200's recording: a loop with volatile accesses, then a vote whose mask is a register."""
    case, expected = next(r for r in recordings() if r[0].seed == 117)
    assert not wrong(run(case, devices["jit"]), expected)


@pytest.mark.parametrize("seed", range(1000, 1004))
def test_engines_agree(devices: dict[str, simt.Device], seed: int) -> None:
    """Inexact instructions too: they have one definition, so both engines give the same."""
    case = Case.of(generate(seed, exact=seed % 2 == 0, size=8))
    results = [outcome(case, device) for device in devices.values()]
    assert not difference(*results), case.text


@pytest.mark.parametrize("seed", [0, 5, 12])
def test_engines_count_the_same_instructions(devices: dict[str, simt.Device], seed: int) -> None:
    """Clocks are read after every other statement; 0 and 5 call functions through registers."""
    case = with_clocks(Case.of(generate(seed, size=8)), 0.5)
    results = [outcome(case, device) for device in devices.values()]
    assert not difference(*results), case.text


@pytest.mark.parametrize("seed", [14, 78, 119, 131, 133, 152])
def test_functions_read_no_register_that_nothing_wrote(seed: int) -> None:
    """Of these seeds `cta_d` tests the values that are the same in all threads of a CTA."""
    for function in re.findall(r"^\.func.*?^}", generate(seed).text(), re.MULTILINE | re.DOTALL):
        lines = [line.partition("//")[0].strip() for line in function.splitlines()]
        code = [line for line in lines if line.startswith(tuple("@abcdefghijklmnopqrstuvwxyz"))]
        first = [line.partition(",")[0] for line in code if not line.startswith("st.")]
        written = set(re.findall(r"%\w+", " ".join(f.rpartition(" ")[2] for f in first)))
        assert not {"%u0", "%u1", "%u2"} & (set(re.findall(r"%\w+", " ".join(code))) - written)


def test_long_code_of_loops_that_were_written_out(devices: dict[str, simt.Device]) -> None:
    """23,000 lines, over which a pass of LLVM's stopped the process."""
    case = Case.of(generate(820096))
    results = [outcome(case, device) for device in devices.values()]
    assert not difference(*results), case.text


def test_programs_are_reproducible() -> None:
    assert generate(7).text() == generate(7).text() != generate(8).text()
