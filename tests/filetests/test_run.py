"""Runs `run/*.ptx`: each file states its launches and what they must give, on every engine.

Comments in the file say what to do::

    // device: sm_75                                        (optional; sm_90 by default)
    // run: kernel<<<2, (8, 4), 64>>>(out = zeros(64, u32), n = 5)
    // expect: out == arange(64) + n
    // fault: MemoryFault: illegal access

`<<<grid, block[, shared bytes]>>>` and the arguments are Python; arrays are NumPy arrays, copied to the
device. After a run every array has its new contents, `before` holds the old ones. `expect` (any number)
must be true of every element. `fault` instead says which error the run ends with, and part of its text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import simt

HERE = Path(__file__).parent / "run"
FILES = sorted(HERE.glob("*.ptx"))
DIRECTIVE = re.compile(r"^\s*//\s*(device|run|expect|fault):\s*(.*?)\s*$", re.MULTILINE)
LAUNCH = re.compile(r"(\w+)\s*<<<(.*?)>>>\s*\((.*)\)$")
TYPES = {
    f"{word}{bits}": np.dtype(f"{kind}{bits // 8}")
    for word, kind, sizes in (
        ("u", "u", (8, 16, 32, 64)),
        ("s", "i", (8, 16, 32, 64)),
        ("f", "f", (16, 32, 64)),
    )
    for bits in sizes
}
NAMES: dict[str, Any] = {**vars(np), **TYPES}
TIMEOUT = 20.0


@dataclass
class Run:
    kernel: str
    shape: tuple[Any, ...]
    arguments: dict[str, Any]
    timeout: float = TIMEOUT
    expected: list[str] = field(default_factory=list)
    fault: str | None = None


def evaluate(text: str, **names: Any) -> Any:
    """A Python expression from a test file, over NumPy's names and the given ones."""
    return eval(text, {**NAMES, **names})


def runs(text: str) -> Iterator[Run]:
    """The launches that a file states."""
    current: Run | None = None
    for word, rest in DIRECTIVE.findall(text):
        if word == "run":
            if current is not None:
                yield current
            match = LAUNCH.fullmatch(rest)
            assert match is not None, f"not a launch: {rest}"
            arguments = evaluate(f"dict({match[3]})")
            timeout = arguments.pop("timeout", TIMEOUT)
            current = Run(match[1], evaluate(f"({match[2]},)"), arguments, timeout)
        elif word == "expect":
            assert current is not None
            current.expected.append(rest)
        elif word == "fault":
            assert current is not None
            current.fault = rest
    if current is not None:
        yield current


def launch(module: simt.Module, device: simt.Device, run: Run) -> dict[str, Any]:
    """Runs one launch; the arguments by name, arrays as the kernel left them."""
    held = {k: device.array(v) if isinstance(v, np.ndarray) else v for k, v in run.arguments.items()}
    grid, block, *shared = run.shape
    module[run.kernel](grid, block, tuple(held.values()), shared_mem=shared[0] if shared else 0)
    return {k: v.numpy().copy() if isinstance(v, simt.DeviceArray) else v for k, v in held.items()}


def check_fault(module: simt.Module, device: simt.Device, run: Run) -> None:
    assert run.fault is not None
    name, _, text = run.fault.partition(":")
    with pytest.raises(getattr(simt, name)) as error:
        launch(module, device, run)
    assert text.strip() in str(error.value)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_run(path: Path, engine: str) -> None:
    text = path.read_text()
    architecture = next((rest for word, rest in DIRECTIVE.findall(text) if word == "device"), "sm_90")
    stated = list(runs(text))
    assert stated, "the file states no run"
    for run in stated:
        device = simt.Device(architecture, engine=engine, memory="64MiB", timeout=run.timeout)
        module = device.load(path)
        if run.fault is not None:
            check_fault(module, device, run)
        else:
            check_results(launch(module, device, run), run)


def check_results(after: dict[str, Any], run: Run) -> None:
    assert run.expected, "the file expects nothing of the run"
    before = SimpleNamespace(**run.arguments)
    for condition in run.expected:
        holds = np.asarray(evaluate(condition, **after, before=before))
        assert holds.all(), f"{condition} does not hold: {after}"
