"""The approximate functions against checksums of an H200's results, over whole binades.

`tests/hw/vectors/special.json` says for every function how many of all inputs differed when the GPU and the
JIT computed them side by side, and holds checksums of what the GPU gave, by which any machine can compare
again; with `SIMT_HW_ALL=1` all of them. Record again with `python -m tests.hw.record_special`.

`special_results.npz` has the GPU's results themselves where the tables are found from them
(`python -m tests.hw.dump_special`).
"""

from __future__ import annotations

import functools
import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simt
from simt.isa.special_tables import PLACE, measured
from tests.hw import fit_special
from tests.hw.fit_special import BANDS, fit
from tests.hw.measure_special import Measure, errors, measures
from tests.hw.special import BLOCK_BITS, BLOCKS, LAUNCHED, Function, functions, module_text
from tests.hw.special_dump import Dump, dumped
from tests.shares import ALL
from tests.unit.isa.meaning import Array

VECTORS = Path(__file__).parent / "vectors" / "special.json"
FUNCTIONS = {function.name: function for function in functions()}

SAMPLED = (127, 128, 384)
"""Blocks that are always compared. As single precision: [1, 2), [2, 4), (-4, -2]."""


@functools.cache
def recorded() -> dict[str, Any]:
    return json.loads(VECTORS.read_text())["functions"]


def test_every_function_was_compared_and_nothing_differed() -> None:
    found = {name: (row["inputs"], row["differences"]) for name, row in recorded().items()}
    assert found == {name: (function.inputs, 0) for name, function in FUNCTIONS.items()}


def blocks(function: Function) -> tuple[int, ...]:
    """Those to compare."""
    if function.inputs < 1 << BLOCK_BITS:
        return (0,)
    return tuple(range(BLOCKS)) if ALL else SAMPLED


@pytest.mark.parametrize("name", FUNCTIONS)
def test_binades_are_the_hardwares(name: str) -> None:
    function = FUNCTIONS[name]
    device = simt.Device("sm_90", engine="jit", memory="256MiB", approx="hardware")
    kernel = device.load(module_text(function))["results"]
    count = min(1 << BLOCK_BITS, function.inputs)
    out = device.empty(count, f"u{function.result_bits // 8}")
    wrong: list[int] = []
    for block in blocks(function):
        kernel((count // LAUNCHED,), (LAUNCHED,), (out, np.uint32(block << BLOCK_BITS)))
        if zlib.crc32(out.numpy()) != recorded()[name]["checksums"][block]:
            wrong.append(block)
    assert wrong == []


FITTED = tuple(BANDS) if ALL else ("reciprocal", "logarithm")


def checked(opcode: str, block: int) -> Array:
    """Dumped results of the GPU; their checksum is that of the GPU's results when all were compared."""
    found = dumped(fit_special.VECTORS)(opcode, block)
    assert zlib.crc32(found) == recorded()[opcode]["checksums"][block]
    return found


@pytest.mark.parametrize("name", FITTED)
def test_tables_follow_from_the_gpus_results(name: str) -> None:
    assert fit(name, checked) == measured()[name]


def test_no_table_fits_another_square(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = (np.arange(1 << PLACE) / 2**PLACE) ** 2
    monkeypatch.setattr(fit_special, "square", lambda: exact)
    with pytest.raises(ValueError, match=r"^no coefficients give the results$"):
        fit("reciprocal", checked)


def test_no_table_fits_results_with_one_place_changed() -> None:
    def changed(opcode: str, block: int) -> Array:
        found = checked(opcode, block)
        found.view(np.uint32)[1 << 20] ^= 8
        return found

    with pytest.raises(ValueError, match=r"^no coefficients give the results$"):
        fit("reciprocal", changed)


def test_a_dump_gives_back_its_results(tmp_path: Path) -> None:
    random = np.random.default_rng(6)
    anything = random.integers(0, 1 << 32, 1000, np.uint32).view(np.float32)
    steady = np.float32(1) + np.arange(1000, dtype=np.float32) / 1024
    dump = Dump(tmp_path / "dump.npz", "gpu none")
    dump.add("rcp", 127, anything)
    dump.add("rcp", 128, steady)
    dump.close()
    found = dumped(tmp_path / "dump.npz")
    assert found("rcp", 127).tobytes() == anything.tobytes()
    assert found("rcp", 128).tobytes() == steady.tobytes()
    with pytest.raises(KeyError, match="rcp 1 "):
        found("rcp", 1)


MEASURED = [m for m in measures() if m.kind in ("f16", "bf16") or m.opcode == "rcp.approx.f32"]


@pytest.mark.parametrize("measure", MEASURED, ids=lambda m: m.opcode)
def test_errors_keep_the_manuals_bounds(measure: Measure) -> None:
    """Table 48 of PTX 1.4; the pages of ex2 and tanh in PTX ISA 7.0."""
    _, absolute, relative = errors(measure)
    match measure.opcode:
        case "rcp.approx.f32":
            assert absolute <= 2.0**-23
        case "ex2.approx.f16":
            assert relative <= 2.0**-9.9
        case "ex2.approx.ftz.bf16":
            assert relative <= 2.0**-7
        case "tanh.approx.f16":
            assert absolute <= 2.0**-10.987
        case _:  # 2^-8 in the manual: an H200's results, near 1, are beyond it by so much
            assert 2.0**-8 < absolute < 2.0**-8 + 2.0**-21
