"""Where an H200 flushes results, recorded around the edge, against meanings and engines: bit by bit.

Record again with `python -m tests.hw.record --only flushing`.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simt
from simt.engine.numpy_algebra import NumpyAlgebra
from simt.isa.algebra import Environment
from simt.isa.form import main_type
from simt.isa.select import Selection, select
from simt.ptx.environment import Approximation
from tests.hw.arithmetic import Case
from tests.hw.flushing import BLOCKS, LANES, LEAST, THREADS, cases, names, program
from tests.hw.test_arithmetic import is_approximate, native, numbers
from tests.unit.isa.meaning import Array

VECTORS = Path(__file__).parent / "vectors" / "flushing.npz"
MACHINE = 90
RELATIVE = 2.0**-21
"""Allowed distance between two results of an approximate function; one may be flushed, where they are so near
to the edge."""


@functools.cache
def recorded() -> tuple[dict[str, Array], dict[str, Array]]:
    """Operands by type and place, results by opcode; all with a row for each block."""
    file = np.load(VECTORS)
    inputs = {name.removeprefix("input/"): file[name] for name in file.files if name.startswith("input/")}
    results: dict[str, Array] = {}
    for size in ("u2", "u4"):
        results |= dict(zip((str(n) for n in file[f"{size}/names"]), file[f"{size}/values"]))
    return inputs, {name.removesuffix("/0"): values for name, values in results.items()}


def computed(case: Case, approx: Approximation = "hardware") -> Array:
    """What the meaning gives, as bits."""
    environment = Environment(case.version, case.target, MACHINE, approx=approx)
    mnemonic, *modifiers = case.opcode.split(".")
    found = select(mnemonic, tuple(modifiers), len(case.form.operands), case.version, case.target)
    assert isinstance(found, Selection)
    values: dict[str, Any] = {**found.binding, "t": main_type(found.form, found.binding), "env": environment}
    for place, operand in enumerate(case.sources):
        t = case.type_of(operand)
        values[operand.name] = native(t, recorded()[0][f"{t.name}_{place}"])
    assert found.form.meaning is not None
    with np.errstate(all="ignore"):
        result = found.form.meaning(NumpyAlgebra(), **{p: values[p] for p in found.form.parameters})
    return np.ascontiguousarray(result).view(f"u{result.itemsize}")


def differing(case: Case, ours: Array, approx: Approximation = "hardware") -> Array:
    """Places of the results that are not what the hardware gave."""
    (t,) = case.outputs
    a, b = numbers(t, ours), numbers(t, recorded()[1][case.opcode])
    same = (a == b) & (np.signbit(a) == np.signbit(b)) | np.isnan(a) & np.isnan(b)
    if approx == "fast" and is_approximate(case):
        with np.errstate(invalid="ignore"):
            same |= np.abs(a - b) <= np.abs(b) * RELATIVE
            same |= np.maximum(np.abs(a), np.abs(b)) <= LEAST["f32"] * (1 + RELATIVE)
    return np.argwhere(~same)


def mismatches(case: Case, ours: Array, approx: Approximation = "hardware") -> list[str]:
    """What is wrong with the results of a case: a line, or none."""
    (t,) = case.outputs
    theirs = recorded()[1][case.opcode]
    a, b = numbers(t, ours), numbers(t, theirs)
    places = differing(case, ours, approx)
    if not len(places):
        return []
    at = tuple(places[0])
    operands = [recorded()[0][f"{case.type_of(o).name}_{i}"][at] for i, o in enumerate(case.sources)]
    of = " ".join(f"{int(x):#x}" for x in operands)
    return [f"{case.opcode} of {of}: {a[at].hex()}, GPU {b[at].hex()}; {len(places)} lanes"]


def test_everything_is_recorded() -> None:
    assert set(recorded()[1]) == set(cases())


def test_meanings_flush_as_the_hardware_does() -> None:
    assert [line for case in cases().values() for line in mismatches(case, computed(case))] == []


def test_fast_functions_flush_near_the_edge() -> None:
    found = [case for case in cases().values() if is_approximate(case)]
    assert [line for case in found for line in mismatches(case, computed(case, "fast"), "fast")] == []


def by_operands() -> dict[str, list[Case]]:
    """Cases of the newest version by what runs together: single precision alone may flush by the CPU."""
    found: dict[str, list[Case]] = defaultdict(list)
    for case in cases().values():
        types = {t.name for t in (*case.outputs, *map(case.type_of, case.sources))}
        if not case.form.until:
            found[next((name for name in ("f64", "f16", "f16x2") if name in types), "f32")].append(case)
    return found


def wrong(device: simt.Device, group: list[Case], other: str = "") -> list[str]:
    """What kernels give that is not what the GPU gave."""
    inputs = np.stack([recorded()[0][name].reshape(-1) for name in names()])
    out = device.zeros((len(group), THREADS), "u8")
    device.load(program(group, other))["k"]((BLOCKS,), (LANES,), (device.array(inputs), out))
    rows = [row.reshape(BLOCKS, LANES).astype(f"u{c.outputs[0].bytes}") for c, row in zip(group, out.numpy())]
    return [line for case, row in zip(group, rows) for line in mismatches(case, row)]


@pytest.mark.parametrize("types", sorted(by_operands()))
def test_kernels_flush_as_the_hardware_does(exact_device: simt.Device, types: str) -> None:
    assert wrong(exact_device, by_operands()[types]) == []


def test_kernels_that_need_subnormals_elsewhere_do_too(exact_device: simt.Device) -> None:
    assert wrong(exact_device, by_operands()["f32"], "mov.f32 %v, 0f00000001; cvt.f64.f32 %d, %v;") == []
