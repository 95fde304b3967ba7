"""Formats of 8 bits, sums of vectors, cache policies and barriers, as an H200 had them.

Record again with `python -m tests.hw.record --only since_7`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import simt
from tests.hw import since_7
from tests.unit.isa.meaning import Array

RECORDED: dict[str, Any] = json.loads((Path(__file__).parent / "vectors" / "since_7.json").read_text())


@pytest.fixture(params=["jit", "interpreter"])
def run(request: pytest.FixtureRequest) -> since_7.Run:
    device = simt.Device("sm_90", engine=request.param, memory="64MiB")

    def launch(text: str, arrays: list[Array], grid: int, block: int) -> None:
        there = [device.array(a) for a in arrays]
        device.load(text)["k"](grid, block, there)
        for array, found in zip(arrays, there):
            array[...] = found.numpy()

    return launch


def test_conversions(run: since_7.Run) -> None:
    assert dict(since_7.conversions(run)) == RECORDED["conversions"]


def test_sums_of_vectors(run: since_7.Run) -> None:
    assert dict(since_7.sums(run)) == RECORDED["sums"]


def test_cache_policies(run: since_7.Run) -> None:
    chosen = since_7.POLICIES[::5]
    assert {words: since_7.policy(run, words) for words in chosen} == {
        w: RECORDED["policies"][w] for w in chosen
    }


@pytest.mark.parametrize("name", since_7.BARRIERS)
def test_barriers(name: str, run: since_7.Run) -> None:
    assert since_7.barrier(run, since_7.BARRIERS[name]) == RECORDED["barriers"][name]
