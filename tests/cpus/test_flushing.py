"""Flushing as an H200 does it, on every CPU: with its mode for that, and without."""

from __future__ import annotations

import pytest

import simt
from tests.cpus.conftest import share_on
from tests.hw.arithmetic import Case
from tests.hw.test_flushing import by_operands, wrong

MNEMONICS = ("mul", "fma", "div", "rcp", "add", "cvt")


def sample(types: str, cpu: str) -> list[Case]:
    """One case of each mnemonic and rounding; a share on the CPUs in between."""
    picked: dict[tuple[str, object], Case] = {}
    for case in by_operands()[types]:
        if case.form.mnemonic in MNEMONICS and "approx" not in case.opcode:
            picked.setdefault((case.form.mnemonic, case.binding.get("rnd")), case)
    return share_on(cpu, picked.values(), lambda case: case.form.mnemonic)


@pytest.mark.parametrize("other", ["", "cvt.f64.f32 %d, %v;"], ids=["alone", "mixed"])
def test_single_precision(exact_device: simt.Device, other: str, cpu: str) -> None:
    assert wrong(exact_device, sample("f32", cpu), other) == []


@pytest.mark.parametrize("types", ["f64", "f16", "f16x2"])
def test_other_types(exact_device: simt.Device, types: str, cpu: str) -> None:
    assert wrong(exact_device, sample(types, cpu)) == []
