"""Code for 64-bit Arm, made and inspected on any machine: it uses vectors and nothing of x86, and needs
nothing from outside but what every process has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from simt.analysis.shape import BlockShape
from simt.engine.abi import FETCH, KERNEL
from simt.engine.compile import attributes, optimized, target_machine
from simt.engine.host import AARCH64
from simt.engine.llvm_texels import fetch_text
from simt.engine.unsupported import Unsupported
from simt.isa.texels import Sampling
from simt.ptx.types import F16, F32, U8, Type
from tests.cpus.objects import Code, machine_of, program_of, symbols_of
from tests.filetests.test_run import FILES
from tests.programs.harness import HERE as PROGRAMS

EM_AARCH64 = 183
OF_EVERY_PROCESS = {"memcpy", "memmove", "memset"}
"""What LLVM may call, and every process has."""
VECTOR = re.compile(r"\bv\d+\.(?:16b|8h|4s|2d)\b")
BLOCK = BlockShape(96, 1, 1)
NAMES = ("saxpy", "mandelbrot", "half_precision", "atomics", "warp_reduce", "black_scholes", "warps_waiting")
SOURCES = [*(PROGRAMS / f"{name}.ptx" for name in NAMES), *FILES[::4]]


def check(code: Code) -> None:
    assert "llvm.x86." not in code.ir
    assert " asm " not in code.ir, "assembly is of one machine"
    assert machine_of(code.image) == EM_AARCH64
    defined, wanted = symbols_of(code.image)
    assert KERNEL in defined
    assert wanted <= OF_EVERY_PROCESS


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.stem)
def test_every_kernel_becomes_an_object(path: Path) -> None:
    program = program_of(path, "sm_100")
    made = 0
    for name in program.kernels:
        try:
            check(Code(AARCH64, program, program.functions[name], BLOCK))
        except Unsupported:
            continue
        made += 1
    assert made or "unsupported" in path.name


@pytest.mark.parametrize("element", [F16, F32, U8])
def test_functions_that_fetch_from_textures(element: Type) -> None:
    kind = Sampling(element, 4, 3, False, True, "mirror", True, not element.is_float, 21)
    ir = fetch_text(kind, AARCH64.features, attributes(AARCH64))
    assert "llvm.x86." not in ir
    assert " asm " not in ir
    image = bytes(target_machine(AARCH64).emit_object(optimized(ir, AARCH64)))
    assert machine_of(image) == EM_AARCH64
    defined, wanted = symbols_of(image)
    assert FETCH in defined
    assert wanted <= OF_EVERY_PROCESS


@pytest.mark.parametrize(("name", "instruction"), [("saxpy", "fmla"), ("mandelbrot", "fmul")])
def test_lanes_are_vectors(name: str, instruction: str) -> None:
    program = program_of(PROGRAMS / f"{name}.ptx")
    code = Code(AARCH64, program, program.functions[name], BLOCK)
    lines = [line for line in code.assembly.splitlines() if VECTOR.search(line)]
    assert any(instruction in line for line in lines), f"{instruction} on vectors"


def test_clocks_are_no_counters_of_the_cpu() -> None:
    """CNTVCT_EL0 has nothing to do with instructions; a program that reads PMCCNTR_EL0 is ended by Linux."""
    program = program_of(next(f for f in FILES if f.stem == "clock"))
    assembly = Code(AARCH64, program, program.functions["k"], BLOCK).assembly.lower()
    assert "cntvct" not in assembly
    assert "pmccntr" not in assembly
