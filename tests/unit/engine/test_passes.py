"""LLVM's passes depend on how long code is: programs give the same results with each choice of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import llvmlite.binding
import pytest
from bench.curve_shapes import SHAPES

from simt.analysis.shape import BlockShape
from simt.driver.source import compile_ptx
from simt.engine import compile as compiling
from simt.engine.host import host_cpu
from simt.engine.llvm_kernel import BODY, WARPS, emit
from simt.machine.device import DEVICES
from tests.filetests import test_run as filetests
from tests.unit.engine.test_large import FOLDER, NAMES

llvm: Any = llvmlite.binding  # its functions carry no types
CHOICES = {"simplified": ("LONG_TEXT", 0), "straight": ("LONG_BLOCK", 0)}
"""Names of the limits, and what makes all code longer than that."""


@pytest.mark.share(2)
@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("name", NAMES)
def test_files(
    name: str, choice: str, own_cache: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    limit, value = CHOICES[choice]
    monkeypatch.setattr(compiling, limit, value)
    own_cache(choice)
    filetests.test_run(FOLDER / f"{name}.ptx", "jit")


def test_no_pass_is_to_leave_out_a_function(monkeypatch: pytest.MonkeyPatch) -> None:
    """LLVM may say on stderr that it leaves out the body of a large kernel: none is asked to look at it."""
    program, _ = compile_ptx(SHAPES["if_memory"](1000), "<ptx>", DEVICES[90])
    cpu, names = host_cpu(), list[str]()
    text, unit, _ = emit(program, program.functions["k"], BlockShape(256, 1, 1), cpu.features, "nounwind")
    run = llvm.FunctionPassManager.run
    monkeypatch.setattr(
        llvm.FunctionPassManager,
        "run",
        lambda self, f, builder: (names.append(f.name), run(self, f, builder)),
    )
    compiling.optimized(text, cpu)
    assert unit.large
    assert WARPS not in names
    assert len(names) > 5


def test_many_checks_are_left_out_of_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is a way out of the loop over warps; passes for loops take time by the square of such ways."""
    program, _ = compile_ptx(SHAPES["loads_uniform"](500), "<ptx>", DEVICES[90])
    cpu, run = host_cpu(), list[tuple[str, ...]]()
    text, unit, _ = emit(program, program.functions["k"], BlockShape(256, 1, 1), cpu.features, "nounwind")
    monkeypatch.setattr(compiling, "_run_passes", lambda module, builder, *names: run.append(names))
    compiling.optimized(text, cpu)
    assert not unit.large
    assert text.count(compiling.FAILS) >= 250
    assert run == [(*compiling.FIRST, *compiling.STRAIGHT, *compiling.LAST)]


def test_limits_are_made_once() -> None:
    """All accesses of one width are compared with the same name."""
    program, _ = compile_ptx(SHAPES["loads_uniform"](500), "<ptx>", DEVICES[90])
    text, _, _ = emit(program, program.functions["k"], BlockShape(256, 1, 1), host_cpu().features, "nounwind")
    body = text[text.index(f"@{BODY}(ptr %launch, ptr %worker) ") :]
    assert body.count("icmp ult") >= 250
    assert body.count("@llvm.usub.sat.i64(i64 %arena.room1, i64 4)") == 1
