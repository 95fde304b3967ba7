"""What an H200 gave, and what the machine's own CPU gives bit for bit, on every CPU: kernels of one
instruction each."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import simt
from simt.isa.form import Version
from tests.conftest import exact
from tests.cpus.conftest import device_for, share_on
from tests.hw import test_arithmetic, test_conversions
from tests.hw.arithmetic import Case, input_columns, kernel, module_text
from tests.hw.conversions import given_for
from tests.hw.operands import LANES
from tests.shares import share

STEP = 360
"""Every how many of the recorded cases run; six times as many of those that CPUs do in different ways."""
STEP_OF_FEW = 3
DIRECTED = {"rz", "rm", "rp"}


@dataclass(frozen=True)
class Recorded:
    """A case with its inputs, and the recorded results."""

    name: str
    case: Case
    inputs: NDArray[np.uint64]
    expected: tuple[NDArray[Any], ...]

    def wrong(self, rows: NDArray[np.uint64]) -> list[str]:
        """The results that differ from the recorded ones; NaNs count as equal."""
        pairs = zip(self.case.outputs, self._columns(rows), self.expected, strict=True)
        return [f"{self.name}/{t.name}" for t, a, b in pairs if len(self._differing(t, a, b))]

    def _columns(self, rows: NDArray[np.uint64]) -> list[NDArray[Any]]:
        sizes = ["u1" if t.is_predicate else f"u{t.bytes}" for t in self.case.outputs]
        return [row.astype(size) for row, size in zip(rows, sizes)]

    def _differing(self, t: Any, ours: NDArray[Any], theirs: NDArray[Any]) -> NDArray[Any]:
        return test_arithmetic.differing(self.case, t, ours, theirs)


@functools.cache
def sample() -> tuple[Recorded, ...]:
    """Some cases of every kind, and more of those that CPUs do in different ways."""
    return (*share(arithmetic(), 2, lambda item: (mnemonic(item), is_directed(item.case))), *conversions())


def arithmetic() -> list[Recorded]:
    found = list(test_arithmetic.replayed().items())
    directed = [(n, c) for n, c in found if is_directed(c)]
    fused = [(n, c) for n, c in found if c.form.mnemonic in ("fma", "mad") and ".f" in c.opcode]
    picked = dict((*found[::STEP], *directed[:: STEP // 6], *fused[:: STEP // 6]))
    given, results = test_arithmetic.recorded()
    return [
        Recorded(n, c, input_columns(c, given), tuple(results[f"{n}/{i}"] for i in range(len(c.outputs))))
        for n, c in picked.items()
    ]


def is_directed(case: Case) -> bool:
    return not DIRECTED.isdisjoint(case.opcode.split("."))


def conversions() -> list[Recorded]:
    """Of `cvt` and the warp operations."""
    results = test_conversions.recorded()
    picked = list(test_conversions.replayed().items())[:: STEP // 6]
    return [
        Recorded(
            name, c, input_columns(c, given_for(name, c, test_conversions.inputs())),
            tuple(results[f"{name}/{i}"] for i in range(len(c.outputs))),
        )
        for name, c in picked
    ]  # fmt: skip


def few() -> list[Recorded]:
    """For tests of code that is alike for all instructions: some of each mnemonic."""
    return share(sample(), STEP_OF_FEW, mnemonic)


def mnemonic(item: Recorded) -> str:
    return item.case.form.mnemonic


def run_all(device: simt.Device, items: Iterable[Recorded]) -> dict[str, NDArray[np.uint64]]:
    """The results of recorded cases by name: rows of 64-bit lanes, one for each output."""
    groups: dict[tuple[Version, int], list[Recorded]] = defaultdict(list)
    for item in items:
        groups[item.case.version, item.case.target].append(item)
    with exact(device):
        return {name: rows for key, group in groups.items() for name, rows in run(device, *key, group)}


def run(
    device: simt.Device, version: Version, target: int, group: list[Recorded]
) -> Iterator[tuple[str, NDArray[np.uint64]]]:
    kernels = [kernel(item.case, f"k{i}") for i, item in enumerate(group)]
    module = device.load(module_text(version, target, kernels))
    for i, item in enumerate(group):
        out = device.zeros((3, LANES), "u8")
        module[f"k{i}"]((1,), (LANES,), (device.array(item.inputs), out))
        yield item.name, out.numpy().copy()


@functools.cache
def results_of_host() -> dict[str, NDArray[np.uint64]]:
    return run_all(device_for("host"), sample())


def test_hardware_and_host(cpu: str) -> None:
    items = share_on(cpu, sample(), mnemonic)
    results = run_all(device_for(cpu), items)
    assert [line for item in items for line in item.wrong(results[item.name])] == []
    assert [name for name, rows in results.items() if (rows != results_of_host()[name]).any()] == []
