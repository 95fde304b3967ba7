"""LLVM's passes depend on how long code is: programs give the same results with each choice of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from simt.engine import compile as compiling
from tests.filetests import test_run as filetests
from tests.unit.engine.test_large import FOLDER, NAMES

CHOICES = {"simplified": ("LONG_TEXT", 0), "straight": ("LONG_BLOCK", 0)}
"""Names of the limits, and what makes all code longer than that."""


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("name", NAMES)
def test_files(name: str, choice: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    limit, value = CHOICES[choice]
    monkeypatch.setattr(compiling, limit, value)
    monkeypatch.setenv("SIMT_CACHE_DIR", str(tmp_path))
    filetests.test_run(FOLDER / f"{name}.ptx", "jit")
