"""Declarations, initialisers and function headers: accepted and refused as by ptxas."""

from __future__ import annotations

from pathlib import Path

import pytest

from simt.ptx.parser import parse
from simt.verify import verify
from tests.parity.oracle import AVAILABLE, assemble
from tests.parity.test_parity import known

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
LINES = [
    line
    for line in (Path(__file__).parent / "declarations.txt").read_text().splitlines()
    if not line.startswith("//")
]


def mine(text: str) -> bool:
    module, syntax = parse(text, "declaration")
    return module is not None and not syntax.errors and not verify(module).errors


@pytest.mark.ptxas
@pytest.mark.skipif(not AVAILABLE, reason="needs NVIDIA's ptxas on the machine")
def test_declarations_are_taken_as_by_ptxas() -> None:
    wrong: list[str] = []
    for line in LINES:
        theirs, _ = assemble(HEAD + line + "\n")
        if theirs != mine(HEAD + line + "\n") and not known(line, theirs):
            wrong.append(f"ptxas {'accepts' if theirs else 'refuses'}: {line}")
    assert not wrong, "\n".join(wrong)
