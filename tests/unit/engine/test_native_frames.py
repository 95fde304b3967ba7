"""Frames of machine code, as LLVM makes it."""

from __future__ import annotations

from pathlib import Path

import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.compile import generate, llvm, target_machine
from simt.engine.host import host_cpu
from simt.engine.native_frames import frames

CPU = host_cpu()
TESTS = Path(__file__).resolve().parents[2]
PROGRAMS, SURVEY = TESTS / "programs", TESTS.parent / "bench" / "survey" / "kernels"
TEXT = """
target triple = "{triple}"
declare void @use(ptr)
define void @small(ptr %p) nounwind {{
  %a = alloca [40 x i8], align {align}
  call void @use(ptr %a)
  ret void
}}
define void @large(ptr %p) nounwind {{
  %a = alloca [70000 x i8], align {align}
  %b = alloca [300 x i8], align {align}
  call void @use(ptr %a)
  call void @use(ptr %b)
  ret void
}}
"""


@pytest.mark.skipif(not CPU.is_x86_linux, reason="it reads x86-64's instructions")
@pytest.mark.parametrize("level", [0, 2])
@pytest.mark.parametrize("align", [8, 64])
def test_long_frames_are_found(align: int, level: int) -> None:
    machine = target_machine(CPU, level)
    module = llvm.parse_assembly(TEXT.format(triple=CPU.triple, align=align))
    image = machine.emit_object(module)
    *others, largest = sorted(frames([image, b"nothing", image[:16]]))
    assert 70300 <= largest < 71000
    assert all(size < 200 for size in others)


@pytest.mark.skipif(not CPU.is_x86_linux, reason="it reads x86-64's instructions")
@pytest.mark.parametrize(
    ("file", "kernel", "shallow"),
    [
        (SURVEY / "sha_context.ptx", "sha_context", True),
        (SURVEY / "ladder25519.ptx", "ladder25519", False),
        (PROGRAMS / "recursion.ptx", "sort_rows", False),
    ],
)
def test_which_kernels_run_on_the_thread_of_the_caller(file: Path, kernel: str, shallow: bool) -> None:
    """Long code in short frames does; what calls functions does not, as these do not pause for it."""
    program = simt.Device("sm_90").load(file).program
    made = generate(program, program.functions[kernel], BlockShape(64, 1, 1), CPU)
    assert made.header["shallow"] is shallow
