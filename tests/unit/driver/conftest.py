"""A device whose engine is a recorder, and programs made by hand: the driver by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from simt.analysis.program import Block, Function, ModuleVariable, Parameter, Program
from simt.diagnostics import Source
from simt.driver.device import Device
from simt.driver.module import Module
from simt.isa.algebra import Environment
from simt.machine.launch import Launch
from simt.ptx.types import F32, TYPES, U32


class Recorder:
    """An engine that keeps its launches and does `action` with each."""

    name = "recorder"

    def __init__(self) -> None:
        self.launches: list[Launch] = []
        self.action: Callable[[Launch], Any] = lambda launch: None

    def launch(self, launch: Launch) -> None:
        self.launches.append(replace(launch, cells=launch.cells[:]))  # the driver uses it again
        self.action(launch)


def parameters(*names: str) -> tuple[Parameter, ...]:
    found: list[Parameter] = []
    offset = 0
    for i, name in enumerate(names):
        t = TYPES[name]
        offset = -(-offset // t.bytes) * t.bytes
        found.append(Parameter(f"k_param_{i}", t, offset, t.bytes, t.bytes))
        offset += t.bytes
    return tuple(found)


def program(*types: str, address_bits: int = 64, **attributes: Any) -> Program:
    declared = parameters(*types)
    size = declared[-1].offset + declared[-1].size if declared else 0
    kernel = Function("k", True, [Block(0)], [], declared, size, **attributes)
    variables = [
        ModuleVariable("table", "const", F32, 24, 4, bytes(range(24)), shape=(2, 3)),
        ModuleVariable("counter", "global", U32, 4, 4, None),
        ModuleVariable(
            "pointers", "global", TYPES[f"u{address_bits}"], address_bits // 4, 16, bytes(address_bits // 4),
            relocations=((0, "table", 8, False, None), (address_bits // 8, "k", 0, False, None)), shape=(2,),
        ),
        ModuleVariable("pairs", "global", TYPES["s16"], 16, 4, None, shape=(4,), vector=2),
        ModuleVariable("tile", "shared", F32, 64, 4, None, shape=(16,)),
    ]  # fmt: skip
    return Program(
        {"k": kernel},
        {v.name: v for v in variables},
        Environment(target=10),
        address_bits,
        Source("", "x.ptx"),
    )


@pytest.fixture(autouse=True)
def well_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Launches of a draft go another way than others, and for which kernels there is one is a matter of the
    CPU's: code for AMD's may be longer."""
    monkeypatch.setenv("SIMT_DRAFTS", "0")


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def device(recorder: Recorder) -> Device:
    found = Device("sm_90", memory="64MiB", workers=1)
    found.engine = recorder
    return found


@pytest.fixture
def saxpy(device: Device) -> Module:
    """A module with a kernel (n, a, x, y)."""
    return Module(device, program("u32", "f32", "u64", "u64"), [])
