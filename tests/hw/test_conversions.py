"""The recorded results of an H200 against the meanings of conversions and warp operations.

Bit-exact, NaNs too. Record again with `python -m tests.hw.record --only conversions`.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simt
from simt.engine.numpy_algebra import NumpyAlgebra
from simt.isa.algebra import Environment
from simt.isa.form import main_type
from simt.isa.select import Selection, select
from simt.ptx.types import Type
from tests.hw.arithmetic import Case
from tests.hw.conversions import WARP, conversions, given_for, warp_operations
from tests.hw.operands import LANES
from tests.hw.test_arithmetic import native, run_kernels, sample
from tests.unit.isa.meaning import Array

VECTORS = Path(__file__).parent / "vectors" / "conversions.npz"
MACHINE = 90
CASES = conversions() | warp_operations()


class Warps(NumpyAlgebra):
    """Four full warps, all of whose lanes are active."""

    def active(self) -> Array:
        return np.ones(LANES, bool)

    def lane(self) -> Array:
        return (np.arange(LANES) % WARP).astype(np.uint32)

    def ballot(self, p: Array) -> Array:
        rows = np.broadcast_to(p, (LANES,)).reshape(-1, WARP).astype(np.uint64)
        return np.repeat((rows << np.arange(WARP, dtype=np.uint64)).sum(1), WARP).astype(np.uint32)

    def shuffle(self, t: Type, a: Array, lane: Array) -> Array:
        first = np.arange(LANES) // WARP * WARP
        return np.broadcast_to(a, (LANES,))[first + np.broadcast_to(lane, (LANES,)).astype(np.int64)]


@functools.cache
def recorded() -> dict[str, Array]:
    """Results by case and number."""
    file, results = np.load(VECTORS), dict[str, Array]()
    for size in ("u1", "u2", "u4", "u8"):
        results |= dict(zip((str(n) for n in file[f"{size}/names"]), file[f"{size}/values"]))
    return results


@functools.cache
def inputs() -> dict[str, Array]:
    """Operands by type and place."""
    file = np.load(VECTORS)
    return {name.removeprefix("input/"): file[name] for name in file.files if name.startswith("input/")}


@functools.cache
def refused() -> frozenset[str]:
    """The cases that the driver did not take."""
    return frozenset(str(line).split(": ", 1)[0] for line in np.load(VECTORS)["refused"])


def replayed() -> dict[str, Case]:
    """The cases that the GPU ran."""
    return {name: case for name, case in CASES.items() if name not in refused()}


def computed(name: str, case: Case) -> list[Array]:
    """Our results, as bits."""
    given = given_for(name, case, inputs())
    mnemonic, *modifiers = case.opcode.split(".")
    found = select(mnemonic, tuple(modifiers), len(case.form.operands), case.version, case.target)
    assert isinstance(found, Selection)
    environment = Environment(case.version, case.target, MACHINE)
    values: dict[str, Any] = {**found.binding, "t": main_type(found.form, found.binding), "env": environment}
    for place, operand in enumerate(case.sources):
        t = case.type_of(operand)
        values[operand.name] = native(t, given[f"{t.name}_{place}"].astype(np.uint64))
    assert found.form.meaning is not None
    with np.errstate(all="ignore"):
        result = found.form.meaning(Warps(), **{p: values[p] for p in found.form.parameters})
    columns = result if isinstance(result, tuple) else (result,)
    spread = [np.ascontiguousarray(np.broadcast_to(c, (LANES,))) for c in columns]
    return [c.view(f"u{c.itemsize}") for c in spread]


def test_every_case_is_recorded() -> None:
    assert {key.rsplit("/", 1)[0] for key in recorded()} == set(replayed())


@pytest.mark.parametrize("mnemonic", sorted({case.form.mnemonic for case in CASES.values()}))
def test_results_are_the_gpu_s(mnemonic: str) -> None:
    wrong: list[str] = []
    for name, case in replayed().items():
        if case.form.mnemonic != mnemonic:
            continue
        for n, ours in enumerate(computed(name, case)):
            theirs = recorded()[f"{name}/{n}"]
            differs = ours != theirs
            wrong += [f"{name}/{n}: {differs.sum()} lanes, at {differs.argmax()}"] if differs.any() else []
    assert wrong == []


def test_kernels_give_what_the_gpu_gave(device: simt.Device, engine: str) -> None:
    given = {name: given_for(name, case, inputs()) for name, case in sample(replayed(), engine).items()}
    results = run_kernels(sample(replayed(), engine), given.__getitem__, device)
    pairs = ((f"{name}/{n}", row) for name, _, rows in results for n, row in enumerate(rows))
    assert [key for key, row in pairs if (row != recorded()[key]).any()] == []
