"""The file tests on every CPU: each states what must come out."""

from __future__ import annotations

from pathlib import Path

import pytest

import simt
from tests.filetests.test_run import FILES, check_results, launch, runs

QUICK = [
    p for p in FILES
    if "fault:" not in p.read_text() and "device:" not in p.read_text()
]  # fmt: skip
"""Those that run to their end on the default device."""


@pytest.mark.share(3)
@pytest.mark.parametrize("path", QUICK, ids=lambda p: p.stem)
def test_run(path: Path, device: simt.Device) -> None:
    stated = list(runs(path.read_text()))
    assert stated
    module = device.load(path)
    for run in stated:
        check_results(launch(module, device, run), run)
