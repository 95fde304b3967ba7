"""Large kernels for CPUs with small registers: masks do not go from block to block as vectors of bits."""

from __future__ import annotations

import platform
import re

import pytest
from bench.curve_shapes import SHAPES

import simt
from simt.analysis.shape import BlockShape
from simt.driver.source import compile_ptx
from simt.engine import llvm_calls
from simt.engine.llvm_kernel import emit
from simt.machine.device import DEVICES
from tests.cpus.test_vectors import few, run_all
from tests.filetests.test_run import check_results, launch, runs
from tests.unit.engine.test_large import FOLDER, NAMES

only_x86 = pytest.mark.skipif(
    platform.machine().lower() not in ("x86_64", "amd64"), reason="x86-64 is a CPU of x86 only"
)
MASK = re.compile(r"<32 x i1> (%[\w.]+)(?:, (%[\w.]+)$)?")


@pytest.fixture
def device(all_large: None) -> simt.Device:
    return simt.Device("sm_90", engine="jit", cpu="x86-64", memory="1GiB", timeout=60)


def strangers(lines: list[str]) -> list[str]:
    """Masks that a line reads, which its block has not made. (Phis read what other blocks made.)"""
    found: list[str] = []
    made: set[str] = set()
    for line in lines:
        if not line.startswith(" "):
            made = set()
        elif " = phi " not in line:
            read = [name for match in MASK.finditer(line) for name in match.groups() if name]
            found += [name for name in read if name not in made]
        made.update(re.findall(r"^  (%[\w.]+) = ", line))
    return found


def test_strangers_are_found() -> None:
    lines = ["first:", "  %a = icmp slt <32 x i32> %x, %y", "  %c = xor <32 x i1> %a, splat (i1 true)"]
    assert strangers(lines) == []
    assert strangers([*lines, "second:", "  %d = and <32 x i1> %a, %c"]) == ["%a", "%c"]


@pytest.mark.parametrize("name", ["memory_guarded", "if_memory", "state_machine"])
def test_no_mask_crosses_blocks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llvm_calls, "OPS", -1)
    program, _ = compile_ptx(SHAPES[name](300), "<ptx>", DEVICES[90])
    kernel = program.functions["k"]
    for features in (frozenset({"sse2"}), frozenset({"avx", "avx2"})):
        text, unit, _ = emit(program, kernel, BlockShape(256, 1, 1), features, "nounwind")
        assert unit.large
        body = text[text.index("i1 @simt.warp(") :].splitlines()
        assert strangers(body) == []


@only_x86
@pytest.mark.parametrize("name", [name for name in NAMES if "fault" not in name and "never" not in name])
def test_files_as_if_they_were_large(name: str, device: simt.Device) -> None:
    path = FOLDER / f"{name}.ptx"
    module = device.load(path)
    for run in runs(path.read_text()):
        check_results(launch(module, device, run), run)


@only_x86
def test_vectors_of_the_gpu(device: simt.Device) -> None:
    rows = run_all(device, few())
    assert [line for item in few() for line in item.wrong(rows[item.name])] == []
