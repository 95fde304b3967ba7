"""Which products and sums an H200's driver fuses, recorded, against both engines: bit by bit.

Record again with `python -m tests.hw.record --only contraction`.
"""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pytest

import simt
from tests.hw.contraction import BETWEEN, LANES, OUTPUTS, SUFFIXES, Program, module, operands, programs
from tests.shares import share
from tests.unit.isa.meaning import Array

VECTORS = Path(__file__).parent / "vectors" / "contraction.npz"

COMPILED = 8
"""One of how many of the types runs on the JIT, for each program: so many kernels take a while, and both
engines get what is fused already."""


@functools.cache
def recorded() -> dict[str, Array]:
    """Results of every program by its name."""
    file = np.load(VECTORS)
    return dict(zip((str(n) for n in file["names"]), file["values"]))


def compiled() -> list[Program]:
    """The programs that run on the JIT: of each, one type; of instructions between product and sum, some."""
    return share(programs().values(), COMPILED, _without_type)


def _without_type(program: Program) -> str:
    name = program.name.removeprefix(f"{program.type} ")
    return "between" if name in BETWEEN else name


@functools.cache
def computed(t: str, engine: str, fmad: bool = True) -> dict[str, Array]:
    """What simt gives for the programs of one type."""
    device = simt.Device("sm_90", engine=engine, memory="64MiB", workers=1, approx="hardware", fmad=fmad)
    chunk = [p for p in (programs().values() if engine == "interpreter" else compiled()) if p.type == t]
    loaded = device.load(module(chunk))
    given = device.array(operands(t))
    return {p.name: _launched(device, loaded[f"k{i}"], given) for i, p in enumerate(chunk)}


def _launched(device: simt.Device, kernel: simt.Kernel, given: simt.DeviceArray) -> Array:
    found = device.zeros((OUTPUTS, LANES), np.uint64)
    kernel((1,), (LANES,), (given, found))
    return found.numpy().copy()


def seen(t: str, bits: Array) -> Array:
    """Bits in which every NaN of a double is the same. ptxas swaps the operands of products and sums as it
    likes, and which of two NaNs comes out hangs on their order; of single instructions `arithmetic.npz` has
    it."""
    if t != "f64":
        return bits
    return np.where(np.isnan(bits.view(np.float64)), np.uint64(1), bits)


def different(t: str, results: dict[str, Array]) -> set[str]:
    """Names of programs whose results are not the recorded ones."""
    return {n for n, found in results.items() if not np.array_equal(seen(t, found), seen(t, recorded()[n]))}


@pytest.mark.parametrize("t", SUFFIXES)
def test_fuses_what_the_hardware_fuses(t: str) -> None:
    assert different(t, computed(t, "interpreter")) == set()


@pytest.mark.parametrize("t", share(SUFFIXES, 2))
def test_the_jit_fuses_what_the_hardware_fuses(t: str) -> None:
    assert different(t, computed(t, "jit")) == set()


@pytest.mark.parametrize("t", SUFFIXES)
def test_the_recorded_results_tell_fused_from_rounded(t: str) -> None:
    """Without fusing, these programs have other results: not all of them, since some are never fused."""
    apart = different(t, computed(t, "interpreter", fmad=False))
    assert {f"{t} sum", f"{t} less product", f"{t} two products", f"{t} guarded sum"} <= apart
    assert apart.isdisjoint({f"{t} rounded product", f"{t} product seen", f"{t} branch between"})


def test_every_program_is_recorded() -> None:
    assert set(recorded()) == set(programs())
