"""The JIT engine apart from the code that it makes."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import weakref
from pathlib import Path

import numpy as np
import pytest

import simt
from simt.engine import compile as compiling

PROGRAM = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b64 %a;
    .reg .b32 %v;
    ld.param.u64 %a, [out];
    mov.u32 %v, VALUE;
    st.global.u32 [%a], %v;
    ret;
}
"""


def test_code_goes_with_its_module() -> None:
    """Programs and their machine code do not pile up in a process that loads many modules."""
    device = simt.Device(engine="jit", memory="16MiB", workers=1)
    out = device.zeros(1, "u4")
    programs: list[weakref.ref[object]] = []
    for value in range(5):
        module = device.load(PROGRAM.replace("VALUE", str(value)))
        module["k"](1, 1, (out,))
        assert out.numpy()[0] == value
        programs.append(weakref.ref(module.program))
    del module
    gc.collect()
    assert not any(p() for p in programs)


def test_a_cached_kernel_needs_no_compiler(tmp_path: Path) -> None:
    """A second process links the object that the first one left: the code generator is not even imported."""
    script = f"""
import sys, simt
device = simt.Device(engine="jit", memory="16MiB", workers=1)
out = device.zeros(1, "u4")
device.load({PROGRAM.replace("VALUE", "77")!r})["k"](1, 1, (out,))
unwanted = "simt.engine.llvm_kernel simt.engine.interpreter simt.machine.textures rich click scipy".split()
print(out.numpy()[0], *(name for name in unwanted if name in sys.modules))
"""
    environment = {**os.environ, "SIMT_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", script]
    found = [
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True) for _ in range(2)
    ]
    assert found[0].stdout.split() == ["77", "simt.engine.llvm_kernel"]
    assert found[1].stdout.split() == ["77"]


def test_compiling_needs_no_numpy() -> None:
    """What a process that only compiles would wait for."""
    script = f"""
import sys
from simt.analysis.lower import lower
from simt.analysis.shape import BlockShape
from simt.engine.compile import generate
from simt.engine.host import host_cpu
from simt.ptx.parser import parse
from simt.verify import verify
tree, _ = parse({PROGRAM.replace("VALUE", "1").encode()!r}, "<ptx>")
verify(tree)
program = lower(tree)
generate(program, program.functions["k"], BlockShape(32, 1, 1), host_cpu())
print("numpy" in sys.modules)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", script]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["False"]


def test_objects_depend_on_the_shape_of_the_block(device: simt.Device) -> None:
    text = PROGRAM.replace("mov.u32 %v, VALUE;", "mov.u32 %v, %ntid.y;")
    kernel, out = device.load(text)["k"], device.zeros(1, "u4")
    found: list[int] = []
    for block in ((32, 1), (16, 2), (8, 4), (32, 1)):
        kernel(1, block, (out,))
        found.append(int(out.numpy()[0]))
    np.testing.assert_array_equal(found, [1, 2, 4, 1])


def _fails(*_: object) -> None:
    compiling.llvm.parse_assembly("define void @f() { ret i32 %v }")


def _raises(*_: object) -> None:
    raise RuntimeError("time is up")


def test_a_fault_of_the_compiler_does_not_stop_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel is interpreted, and the warning names it; it comes once."""
    monkeypatch.setattr(compiling, "generate", _fails)
    device = simt.Device(engine="jit", memory="16MiB", workers=1)
    out = device.zeros(1, "u4")
    kernel = device.load(PROGRAM.replace("VALUE", "4660"))["k"]
    with pytest.warns(
        simt.CompilerWarning, match="kernel k failed .RuntimeError: LLVM IR parsing error.*interp"
    ):
        kernel(1, 1, (out,))
    assert out.numpy()[0] == 4660
    out.numpy()[0] = 0
    kernel(1, 1, (out,))
    assert out.numpy()[0] == 4660


def test_what_a_handler_of_signals_raises_is_not_the_compilers(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is raised by code of the user's, in the middle of the compiler's."""
    monkeypatch.setattr(compiling, "generate", _raises)
    device = simt.Device(engine="jit", memory="16MiB", workers=1)
    out = device.zeros(1, "u4")
    kernel = device.load(PROGRAM.replace("VALUE", "4662"))["k"]
    with pytest.raises(RuntimeError, match="time is up"):
        kernel(1, 1, (out,))
    monkeypatch.undo()
    kernel(1, 1, (out,))
    assert out.numpy()[0] == 4662


def test_a_draft_stays_if_better_code_cannot_be_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SIMT_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("SIMT_DRAFTS", "all")
    device = simt.Device(engine="jit", memory="16MiB", workers=1)
    out = device.zeros(1, "u4")
    kernel = device.load(PROGRAM.replace("VALUE", "4661"))["k"]
    kernel(1, 1, (out,))
    monkeypatch.setattr(compiling, "generate", _fails)
    monkeypatch.setattr(compiling, "better", _fails)
    with pytest.warns(simt.CompilerWarning, match="keeps the code that was made quickly"):
        assert [kernel(1, 1, (out,)) for _ in range(2000)] == [None] * 2000
    assert out.numpy()[0] == 4661
    assert not device.engine.reasons  # type: ignore[attr-defined]
