"""The folder itself: sources and PTX belong together, and no kernel goes untested."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import simt
from simt.ptx.parser import parse
from simt.ptx.printer import print_module
from simt.verify import verify
from tests.programs.harness import HERE

PTX = sorted(HERE.glob("*.ptx"))
OTHERS = sorted(HERE.glob("*/*.ptx"))
"""Written by hand, or by other compilers."""
TESTS = "".join(path.read_text() for path in HERE.glob("test_*.py"))


def test_every_source_is_compiled_and_every_result_has_its_source() -> None:
    assert {p.name.split(".")[0] for p in PTX} == {p.stem for p in HERE.glob("*.cu")}


@pytest.mark.parametrize("path", PTX + OTHERS, ids=lambda p: p.stem)
def test_every_kernel_is_launched_by_a_test(path: Path) -> None:
    kernels = re.findall(r"\.entry (\w+)", path.read_text())
    assert kernels
    assert [k for k in kernels if f'"{k}"' not in TESTS] == []
    name = path.relative_to(HERE).with_suffix("").as_posix()
    assert f'"{name}"' in TESTS


@pytest.mark.parametrize("path", PTX + OTHERS, ids=lambda p: p.stem)
def test_nothing_is_found_wrong_and_printing_keeps_everything(path: Path) -> None:
    module, syntax = parse(path.read_text(), path.name)
    assert module is not None
    assert [d.render() for d in (*syntax, *verify(module))] == []
    again, problems = parse(print_module(module), path.name)
    assert not problems.found
    assert again == module


def test_newer_build_is_refused_by_an_older_device() -> None:
    """sm_90 code does not run on a device of compute capability 7.5, and the message says both."""
    with pytest.raises(simt.SimtError, match=r"sm_90.*sm_75|sm_75.*sm_90"):
        simt.Device("sm_75", engine="interpreter", memory="64MiB").load(HERE / "hash.sm_90.ptx")
