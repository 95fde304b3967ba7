"""The recorded results of an H200 against meanings and engines: the judge of all arithmetic.

Bit-exact, NaNs too. The fast approximate functions are within a bound.
Record again with `python -m tests.hw.record --only arithmetic`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
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
from simt.ptx.types import BF16X2, F16X2, Kind, Type
from tests.hw.arithmetic import CHAPTERS, TABLE, Case, cases, chunks, input_columns, kernel, module_text
from tests.hw.operands import LANES
from tests.shares import share
from tests.unit.isa.meaning import Array

VECTORS = Path(__file__).parent / "vectors" / "arithmetic.npz"
MACHINE = 90

RELATIVE = {
    "rcp": 2.0**-22, "sqrt": 2.0**-22, "rsqrt": 2.0**-22, "div": 2.0**-21, "ex2": 2.0**-21, "tanh": 2.0**-10,
}  # fmt: skip
"""Allowed distance between two results that both keep the manual's bounds, by mnemonic."""

COARSE = {"f16": 2.0**-9, "bf16": 2.0**-6, "f16x2": 2.0**-9, "bf16x2": 2.0**-6, "f64": 2.0**-19}
"""The same for the narrow types, and for the doubles of 20 good bits."""


@functools.cache
def refused() -> dict[str, str]:
    """What the driver did not take, with its answer."""
    return dict(str(line).split(": ", 1) for line in np.load(VECTORS)["refused"])


def replayed() -> dict[str, Case]:
    """The cases that the GPU ran."""
    return {name: case for name, case in cases().items() if name not in refused()}


@functools.cache
def recorded() -> tuple[dict[str, Array], dict[str, Array]]:
    """Operands by type and place, results by opcode and number."""
    file = np.load(VECTORS)
    inputs = {name.removeprefix("input/"): file[name] for name in file.files if name.startswith("input/")}
    results: dict[str, Array] = {}
    for size in ("u1", "u2", "u4", "u8"):
        results |= dict(zip((str(n) for n in file[f"{size}/names"]), file[f"{size}/values"]))
    return inputs, results


def native(t: Type, bits: Array) -> Array:
    """64-bit lanes in the representation of the algebra."""
    if t.is_predicate:
        return bits != 0
    narrow = bits.astype(f"u{t.bytes}")
    return narrow.view(f"f{t.bytes}") if t.is_native_float else narrow


def computed(case: Case, approx: Approximation = "hardware") -> list[Array]:
    """Our results, as bits."""
    inputs, _ = recorded()
    environment = Environment(case.version, case.target, MACHINE, approx=approx)
    mnemonic, *modifiers = case.opcode.split(".")
    found = select(mnemonic, tuple(modifiers), len(case.form.operands), case.version, case.target)
    assert isinstance(found, Selection)
    values: dict[str, Any] = {**found.binding, "t": main_type(found.form, found.binding), "env": environment}
    values["carry"] = inputs["carry"] != 0
    values |= {o.name: np.array([TABLE], np.uint32) for o in case.form.operands if o.kind == "imm"}
    for place, operand in enumerate(case.sources):
        t = case.type_of(operand)
        values[operand.name] = native(t, inputs[f"{t.name}_{place}"])
    assert found.form.meaning is not None
    with np.errstate(all="ignore"):
        result = found.form.meaning(NumpyAlgebra(), **{p: values[p] for p in found.form.parameters})
    columns = result if isinstance(result, tuple) else (result,)
    spread = [np.ascontiguousarray(np.broadcast_to(c, (LANES,))) for c in columns]
    return [c.view(f"u{c.itemsize}") for c in spread]


def numbers(t: Type, bits: Array) -> Array:
    """The values of floating-point bits, as doubles; a pair gives both halves."""
    if t.kind is Kind.PACKED:
        bits = bits.view(np.uint16)
    name = t.name.removesuffix("x2")
    if name == "bf16":
        bits, name = bits.astype(np.uint32) << np.uint32(16), "f32"
    with np.errstate(invalid="ignore"):  # signalling NaNs
        return bits.view({"f16": np.float16, "f32": np.float32, "f64": np.float64}[name]).astype(np.float64)


def is_approximate(case: Case) -> bool:
    """Whether the manual gives a bound only: by modifier, or by the defaults of PTX 1.0 to 1.3."""
    words = set(case.opcode.split("."))
    legacy = case.form.until == (1, 3) and ("f32" in words or "rsqrt" in words)
    return legacy or not words.isdisjoint({"approx", "full"})


def allowed(case: Case, t: Type, theirs: Array) -> Array:
    """How far results may be apart: absolute distances."""
    mnemonic = case.form.mnemonic
    if mnemonic in ("sin", "cos"):
        angle = numbers(t, recorded()[0]["f32_0"].astype(np.uint32))
        return np.where(np.abs(angle) > 2.0**15, 2.5, 2.0**-20 + np.abs(angle) * 2.0**-21)
    if mnemonic == "lg2":
        return np.maximum(2.0**-21, np.abs(theirs) * 2.0**-21)
    bound = COARSE.get(t.name, RELATIVE.get(mnemonic, 0.0))
    least = 2.0**-149 if t.name == "f32" else 2.0**-24
    return np.maximum(np.abs(theirs) * bound, least)


def differing(case: Case, t: Type, ours: Array, theirs: Array, approx: Approximation = "hardware") -> Array:
    """The lanes whose results are not what the hardware gave, or not near enough."""
    if not t.is_float and t not in (F16X2, BF16X2):
        return np.flatnonzero(ours != theirs)
    if approx == "hardware" or not is_approximate(case):
        return np.flatnonzero(ours != theirs)
    a, b = numbers(t, ours), numbers(t, theirs)
    with np.errstate(invalid="ignore"):
        near = np.abs(a - b) <= allowed(case, t, b)
    parts = near.reshape(len(ours), -1) | (_halves(t, ours) == _halves(t, theirs))
    return np.flatnonzero(~parts.all(1))


def _halves(t: Type, bits: Array) -> Array:
    """A row for each lane; of pairs both halves."""
    return bits.view(np.uint16 if t.kind is Kind.PACKED else bits.dtype).reshape(len(bits), -1)


def mismatches(name: str, case: Case, results: list[Array], approx: Approximation = "hardware") -> list[str]:
    """What is wrong with the results of a case, one line for each output."""
    found: list[str] = []
    for i, (t, ours) in enumerate(zip(case.outputs, results, strict=True)):
        theirs = recorded()[1][f"{name}/{i}"]
        lanes = differing(case, t, ours, theirs, approx)
        if len(lanes):
            lane = int(lanes[0])
            found.append(f"{name} result {i} lane {lane}: {int(ours[lane]):#x}, GPU {int(theirs[lane]):#x}")
    return found


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_meanings_are_the_hardware(chapter: str) -> None:
    found = {n: c for n, c in replayed().items() if c.form.chapter == chapter}
    assert [line for name, case in found.items() for line in mismatches(name, case, computed(case))] == []


def test_fast_functions_keep_the_bounds() -> None:
    found = {n: c for n, c in replayed().items() if is_approximate(c)}
    wrong = [line for n, c in found.items() for line in mismatches(n, c, computed(c, "fast"), "fast")]
    assert wrong == []


ENGINE_STEP = {"interpreter": 10, "jit": 150}
"""Every how many of the cases of a mnemonic run as kernels: the algebras are compared everywhere, plumbing by
samples."""


def sample(named: dict[str, Case], engine: str) -> dict[str, Case]:
    """The cases that run as kernels, among them all that use the carry flag."""
    step = ENGINE_STEP[engine]
    picked = {name: named[name] for name in share(named, step, lambda name: named[name].form.mnemonic)}
    return picked | {name: case for name, case in named.items() if case.form.carry}


Given = Callable[[str], Mapping[str, Array]]


def run_kernels(
    named: dict[str, Case], given: Given, device: simt.Device
) -> Iterator[tuple[str, Case, list[Array]]]:
    """Runs cases as kernels; their results as bits. `given`: operands of a case by its name."""
    for chunk in chunks(named):
        first = next(iter(chunk.values()))
        kernels = [kernel(case, f"k{i}") for i, case in enumerate(chunk.values())]
        module = device.load(module_text(first.version, first.target, kernels))
        for i, (name, case) in enumerate(chunk.items()):
            source, out = device.array(input_columns(case, dict(given(name)))), device.zeros((3, LANES), "u8")
            module[f"k{i}"]((1,), (LANES,), (source, out))
            sizes = ["u1" if t.is_predicate else f"u{t.bytes}" for t in case.outputs]
            yield name, case, [row.astype(size) for row, size in zip(out.numpy(), sizes)]


def test_kernels_are_the_hardware(exact_device: simt.Device, engine: str) -> None:
    results = run_kernels(sample(replayed(), engine), lambda name: recorded()[0], exact_device)
    assert [line for name, case, rows in results for line in mismatches(name, case, rows)] == []


def test_everything_is_recorded() -> None:
    missing = [
        n for n, c in replayed().items() for i in range(len(c.outputs)) if f"{n}/{i}" not in recorded()[1]
    ]
    assert missing == [], "record again"


def test_approximate_opcodes_are_those_of_the_tables() -> None:
    loose = {c.form.mnemonic for c in replayed().values() if is_approximate(c)}
    assert loose == {*RELATIVE, "sin", "cos", "lg2"}
