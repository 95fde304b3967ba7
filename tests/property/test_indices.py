"""Random kernels whose indices are affine functions that went through minima, masks, extensions and the like.

Code for a warp rests on what is known of its lanes' addresses; here NumPy says what each thread does. Both
engines must leave the same memory, or stop at a fault that some thread makes.
`python -m tests.property.index_running FIRST END` tries many programs.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import simt
from simt.engine.jit import Jit
from tests.conftest import ENGINES, shared_device
from tests.property.index_generator import program
from tests.property.index_long import LongText
from tests.property.index_memory import Rejected
from tests.property.index_model import Model
from tests.property.index_programs import Access, Load, Program, Store, number, op, reg
from tests.property.index_running import problem, reshaped
from tests.property.index_text import Text

SEEDS = range(1000, 1030)


def model_of(made: Program) -> Model:
    return Model(made, Text(made).lines_of)


@settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(random=st.randoms(use_true_random=False))
def test_engines_do_what_the_model_says(random: Random) -> None:
    made = program(random)
    try:
        found = {engine: problem(made, shared_device(engine)) for engine in ENGINES}
    except Rejected:
        return
    assert not any(found.values()), f"{found}\n{Text(made)}"


@pytest.mark.parametrize("seed", range(1006, 1022))
def test_divisions_of_64_bits(seed: int) -> None:
    """As compilers write them."""
    made = program(Random(seed), tiles=True)
    try:
        found = {engine: problem(made, shared_device(engine), LongText) for engine in ENGINES}
    except Rejected:
        return
    assert not any(found.values()), f"{found}\n{LongText(made)}"


@settings(max_examples=14, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(random=st.randoms(use_true_random=False))
def test_engines_cut_indices_into_rows(random: Random) -> None:
    made = program(random, tiles=True)
    try:
        found = {engine: problem(made, shared_device(engine)) for engine in ENGINES}
    except Rejected:
        return
    assert not any(found.values()), f"{found}\n{Text(made)}"


@settings(max_examples=14, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(random=st.randoms(use_true_random=False))
def test_rows_of_ctas_are_filled_up(random: Random) -> None:
    made, device = program(random, tiles=False, apart=True), shared_device("jit")
    assert isinstance(device.engine, Jit)
    try:
        with reshaped(device.engine):
            found = problem(made, device)
    except Rejected:
        return
    assert not found, f"{found}\n{Text(made)}"


@pytest.mark.parametrize("apart", [False, True])
@settings(max_examples=14, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(random=st.randoms(use_true_random=False))
def test_lanes_speak(apart: bool, random: Random) -> None:
    made, device = program(random, apart=apart, speaks=True), shared_device("jit")
    assert isinstance(device.engine, Jit)
    try:
        with reshaped(device.engine) if apart else nullcontext():
            found = problem(made, device)
    except Rejected:
        return
    assert not found, f"{found}\n{Text(made)}"


@pytest.mark.parametrize("seed", [246, 253])
def test_speaking_lanes_that_once_went_wrong(seed: int) -> None:
    """Warps that make way after each turn of a loop, of which some lanes had left it."""
    device = shared_device("jit")
    assert isinstance(device.engine, Jit)
    with reshaped(device.engine):
        assert problem(program(Random(seed), apart=True, speaks=True), device) == ""


@pytest.mark.parametrize("seed", [4])
def test_joined_ctas_that_once_went_wrong(seed: int) -> None:
    """Warps of joined CTAs of which the grid has none: their lanes stored."""
    assert problem(program(Random(seed), apart=True), shared_device("jit")) == ""


@pytest.mark.parametrize("seed", [312, 887])
def test_tiles_that_once_went_wrong(seed: int) -> None:
    """A column that no register holds, added atomically; rows told in a block that is not always
    run."""
    assert problem(program(Random(seed), tiles=True), shared_device("jit")) == ""


@pytest.mark.parametrize(
    "seed", [10, 32, 60, 72, 80, 111, 122, 219, 491, 25353, 35259, 440549, 450580, 1725079]
)
def test_programs_that_once_went_wrong(seed: int) -> None:
    """A maximum taken for a minimum; a column read at a lane that there is not (`llvm_access._last_lane`); a
    base taken for that of all lanes; a mask of 8 lanes from another block, of which LLVM stored 16;
    lanes read after an edge had stored what they are made of;
    constants, and what is the same in all lanes, that only the analysis knew."""
    assert problem(program(Random(seed)), shared_device("jit")) == ""


@pytest.mark.usefixtures("all_large")
@pytest.mark.parametrize("seed", [0, 1, 2, 4, 5, 6])  # others read what other threads write
def test_large_kernels_do(seed: int) -> None:
    """Code as if the kernels were large, which is made in another way."""
    device = simt.Device("sm_90", engine="jit", memory="256MiB", timeout=20)
    assert problem(program(Random(seed)), device) == ""


def test_most_programs_are_of_use() -> None:
    """Few are rejected; some fault, loop, part lanes, wait."""
    texts, rejected, faults = [], 0, 0
    for seed in SEEDS:
        made = program(Random(seed))
        texts.append(str(Text(made)))
        try:
            faults += bool(model_of(made).candidates)
        except Rejected:
            rejected += 1
    assert rejected < len(SEEDS) / 5
    assert faults > 0
    for line in ("bar.sync", "ld.shared", "st.shared", "ld.local", "red.", "setp.lt.s32", ".v4."):
        assert sum(line in text for text in texts) > len(SEEDS) / 20


# ---------------------------------------------------------------- the test can fail


def stored(index: int) -> Program:
    """One thread writes one word at an index."""
    access = Access("global", "u32", 1, 4096, number(index), "wide.u32", 4, (0,))
    return Program((1, 1, 1), (1, 1), (), (0, 0, 0, 0), (Store(access, reg("%lin"), None),))


def loaded(index: int) -> Program:
    access = Access("local", "u32", 1, 0, op("min.s32", reg("%lin"), number(index)), "wide.s32", 4, (0,))
    return Program((40, 1, 1), (1, 1), ("local",), (0, 0, 0, 0), (Load(access, None, None),))


def test_other_memory_is_seen(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    device, made = shared_device(engine), stored(3)
    assert problem(made, device) == ""
    wrong = replace(made, body=(replace(made.body[0], value=number(7)),))  # type: ignore[type-var]
    monkeypatch.setattr("tests.property.index_running.Model", lambda *_: model_of(wrong))
    assert problem(made, device) == "1 bytes wrong, the first in word 1027: 0 instead of 7"


def test_other_faults_are_seen(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    device, made = shared_device(engine), loaded(20)
    model = model_of(made)
    assert {c.thread for c in model.candidates} == set(range(16, 40))
    assert problem(made, device) == ""
    monkeypatch.setattr("tests.property.index_running.Model", lambda *_: model_of(loaded(15)))
    assert problem(made, device).startswith("fault (0, ")
    monkeypatch.setattr("tests.property.index_running.Model", lambda *_: model)
    assert problem(loaded(15), device).startswith("no fault, but ")


def test_races_are_rejected() -> None:
    one = Access("global", "u32", 1, 4096, number(0), "wide.u32", 4, (0,))
    racing = Program((2, 1, 1), (1, 1), (), (0, 0, 0, 0), (Store(one, reg("%lin"), None),))
    with pytest.raises(Rejected, match="two write at once"):
        model_of(racing)
