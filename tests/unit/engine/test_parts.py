"""Modules of large kernels are divided: the kernel's code is made in a simpler way than what it calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import llvmlite.binding
import pytest

from simt.analysis.shape import BlockShape
from simt.driver.source import compile_ptx
from simt.engine import compile as compiling
from simt.engine import llvm_calls
from simt.engine.host import host_cpu
from simt.engine.llvm_kernel import emit
from simt.engine.llvm_parts import parts
from simt.engine.made import objects_of
from simt.machine.device import DEVICES
from tests.filetests import test_run as filetests

llvm: Any = llvmlite.binding  # its functions carry no types
MODULE = """declare i64 @outside(i64)
@table = private constant [2 x i64] [i64 3, i64 4]
define internal i64 @small(i64 %x) inlinehint {
  %y = call i64 @inlined(i64 %x)
  ret i64 %y
}
define internal i64 @inlined(i64 %x) alwaysinline {
  %y = load i64, ptr @table, !invariant.load !0
  %z = add i64 %x, %y
  ret i64 %z
}
define internal i64 @long(i64 %x) noinline optnone {
  %y = call i64 @small(i64 %x)
  %z = call i64 @inlined(i64 %y)
  ret i64 %z
}
define i64 @start(i64 %x) {
  %y = call i64 @long(i64 %x)
  %z = call i64 @outside(i64 %y)
  ret i64 %z
}
!0 = !{}
"""


def functions_of(text: str) -> dict[str, str]:
    """The functions of a module that LLVM accepts, and how they are known to other modules."""
    module = llvm.parse_assembly(text)
    module.verify()
    return {f.name: "declared" if f.is_declaration else f.linkage.name for f in module.functions}


def test_functions_are_in_one_module_and_declared_in_the_other() -> None:
    marked, others = map(functions_of, parts(MODULE, "optnone"))
    inlined = {"outside": "declared", "inlined": "internal"}
    assert marked == inlined | {"small": "declared", "long": "external", "start": "declared"}
    assert others == inlined | {"small": "external", "long": "declared", "start": "external"}


@pytest.mark.parametrize("name", ["call", "barrier_in_loop", "divergent_loop"])
def test_large_kernels_are_made_simply_and_what_they_call_is_not(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[int, dict[str, str]]] = []
    original = compiling._object

    def noted(text: str, cpu: Any, level: int, near: bool = False) -> bytes:
        made.append((level, functions_of(text)))
        return original(text, cpu, level, near)

    monkeypatch.setattr(compiling, "_object", noted)
    monkeypatch.setattr(llvm_calls, "OPS", -1)
    path = Path(filetests.__file__).parent / "run" / f"{name}.ptx"
    program, _ = compile_ptx(path.read_bytes(), path.name, DEVICES[90])
    cpu, block = host_cpu(), BlockShape(64, 1, 1)
    for kernel in program.kernels:
        made.clear()
        function = program.functions[kernel]
        text, *_ = emit(program, function, block, cpu.features, compiling.attributes(cpu))
        module = llvm.parse_assembly(text)
        marked = {f.name for f in module.functions if b"simt-large" in b"".join(f.attributes)}
        header, image, _ = compiling.generate(program, function, block, cpu)
        (lowest, large), (upper, called) = made
        assert (upper, lowest) == (2, 0)
        assert marked == {f for f, known in large.items() if known == "external"} != set()
        assert "simt_kernel" in called
        assert [len(code) for code in objects_of(header, image)] == header["sizes"]
        assert len(image) == sum(map(len, objects_of(header, image)))
