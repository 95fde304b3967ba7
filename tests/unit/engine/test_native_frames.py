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
PROGRAMS = Path(__file__).resolve().parents[2] / "programs"
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
        ("functions", "call_functions", True),
        ("functions", "call_pointers", True),
        ("recursion", "sort_rows", False),
        ("recursion", "fibonacci_numbers", False),
    ],
)
def test_calls_are_deep_if_they_recurse(file: str, kernel: str, shallow: bool) -> None:
    program = simt.Device("sm_90").load(PROGRAMS / f"{file}.ptx").program
    made = generate(program, program.functions[kernel], BlockShape(64, 1, 1), CPU)
    assert made.header["shallow"] is shallow
