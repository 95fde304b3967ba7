"""NVIDIA's assembler takes what the printer prints, as it takes the file itself."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from simt.ptx.parser import parse
from simt.ptx.printer import print_module

CORPUS = Path(__file__).resolve().parents[2] / "corpus"
PTXAS = shutil.which("ptxas")
FILES = (
    "assembly.75",
    "control.75",
    "groups.90",
    "halves.lineinfo",
    "hopper.90",
    "matrix.75",
    "tables.debug",
)


@pytest.mark.ptxas
@pytest.mark.skipif(PTXAS is None, reason="NVIDIA's ptxas is not on this machine")
@pytest.mark.parametrize("name", FILES)
def test_ptxas_takes_the_printed_module(name: str, tmp_path: Path) -> None:
    module, _ = parse((CORPUS / f"{name}.ptx").read_text())
    assert module is not None
    printed = tmp_path / "printed.ptx"
    printed.write_text(print_module(module))
    command = [
        str(PTXAS),
        "-c",
        f"-arch={module.target.names[0]}",
        str(printed),
        "-o",
        str(tmp_path / "out.cubin"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
