"""Object code put into memory without LLVM: what code finds there, and what is left to LLVM's linker."""

from __future__ import annotations

import ctypes
import gc
import os
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from llvmlite import binding as llvm

import simt
from simt.engine import compiler, linking
from simt.engine.compile import target_machine
from simt.engine.host import AARCH64, Cpu, host_cpu, host_features
from simt.engine.library import llvm as library
from simt.engine.placing import Unplaceable, can_place, place

pytestmark = pytest.mark.skipif(not can_place(host_cpu()), reason="x86-64 under Linux only")

MAIN = """
@table = private unnamed_addr constant [4 x i64] [i64 11, i64 -22, i64 33, i64 1152921504606846977], align 32
@far = external constant [2 x i32]
declare ptr @memset(ptr, i32, i64)
declare i64 @other(i64)

define internal i64 @own(i64 %x) noinline {
  %r = mul i64 %x, 3
  ret i64 %r
}
define i64 @looks_up(i64 %x) {
  %p = getelementptr i64, ptr @table, i64 %x
  %r = load i64, ptr %p
  ret i64 %r
}
define i64 @calls(i64 %x) {
  %a = call i64 @own(i64 %x)
  %b = call i64 @other(i64 %a)
  ret i64 %b
}
define i64 @calls_outside(i64 %x) {
  %p = alloca i64
  %c = trunc i64 %x to i32
  %m = call ptr @memset(ptr %p, i32 %c, i64 8)
  %r = load volatile i64, ptr %p
  ret i64 %r
}
define i64 @other_s_constant(i64 %x) {
  %p = getelementptr i32, ptr @far, i64 %x
  %v = load i32, ptr %p
  %r = zext i32 %v to i64
  ret i64 %r
}
define i64 @address_outside(i64 %x) {
  %r = ptrtoint ptr @memset to i64
  ret i64 %r
}
define i64 @adds(i64 %x) {
  %f = sitofp i64 %x to double
  %g = fadd double %f, 0.625
  %r = bitcast double %g to i64
  ret i64 %r
}
"""
OTHER = """
@far = constant [2 x i32] [i32 7, i32 -1], align 4
define i64 @other(i64 %x) {
  %r = sub i64 %x, 5
  ret i64 %r
}
"""
TABLE = """
@places = private unnamed_addr constant [2 x ptr] [ptr @own, ptr @places], align 8
define internal i64 @own(i64 %x) noinline {
  %r = mul i64 %x, 3
  ret i64 %r
}
define i64 @through_a_table(i64 %x) {
  %n = load volatile i64, ptr @places
  %none = icmp eq i64 %n, 0
  %first = zext i1 %none to i64
  %place = getelementptr ptr, ptr @places, i64 %first
  %f = load ptr, ptr %place
  %r = call i64 %f(i64 %x)
  ret i64 %r
}
"""
NAMES = (
    "looks_up", "calls", "calls_outside", "other_s_constant", "address_outside", "adds",
)  # fmt: skip
Function = Callable[[int], int]


def made(text: str, cpu: Cpu, near: bool = False, level: int = 2) -> bytes:
    machine = target_machine(cpu, level, near)
    layout = f'target datalayout = "{machine.target_data}"\ntarget triple = "{cpu.triple}"\n'
    return bytes(machine.emit_object(library.parse_assembly(layout + text)))


@pytest.fixture(params=["near", "far", "near and simple", "far and simple"])
def images(request: pytest.FixtureRequest) -> list[bytes]:
    way = str(request.param)
    level = 0 if "simple" in way else 2
    return [made(text, host_cpu(), "near" in way, level) for text in (MAIN, OTHER)]


def functions(addresses: list[int]) -> dict[str, Function]:
    kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
    return {name: kind(address) for name, address in zip(NAMES, addresses)}


def check(found: dict[str, Function]) -> None:
    assert [found["looks_up"](n) for n in range(4)] == [11, -22, 33, 2**60 + 1]
    assert found["calls"](100) == 295
    assert found["calls_outside"](0x17) == 0x1717171717171717
    assert [found["other_s_constant"](n) for n in range(2)] == [7, 2**32 - 1]
    assert found["adds"](2) == np.float64(2.625).view("i8")
    memset = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t)
    buffer = ctypes.create_string_buffer(5)
    memset(found["address_outside"](0))(ctypes.addressof(buffer), ord("x"), 4)
    assert buffer.raw == b"xxxx\0"


def test_code_finds_what_it_needs(images: list[bytes]) -> None:
    addresses, code = place(images, NAMES)
    check(functions(addresses))
    assert code is not None


def test_constants_that_are_addresses() -> None:
    (address,), code = place([made(TABLE, host_cpu())], ["through_a_table"])
    assert ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(address)(-9) == -27
    assert code is not None
    with pytest.raises(Unplaceable, match="sections"):  # LLVM has them written while it links
        place([made(TABLE, host_cpu(), near=True)], ["through_a_table"])


def test_llvm_s_linker_gives_the_same(images: list[bytes]) -> None:
    addresses, code = linking.link(images, NAMES, host_cpu())
    check(functions(addresses))
    assert code is not None


def rights(address: int) -> str:
    """What the process may do with a page."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        start, end = (int(n, 16) for n in line.split()[0].split("-"))
        if start <= address < end:
            return line.split()[1]
    return ""


def test_what_is_written_is_not_run(images: list[bytes]) -> None:
    addresses, code = place(images, NAMES)
    assert {rights(address) for address in addresses} == {"r-xp"}
    del code
    gc.collect()
    assert "r-xp" not in {rights(address) for address in addresses}, "it is given back"


def test_constants_are_apart_from_code() -> None:
    (address,), code = place([made("@x = constant i64 77", host_cpu())], ["x"])
    assert ctypes.c_int64.from_address(address).value == 77
    assert rights(address) == "r--p"
    assert code is not None


def test_memory_does_not_grow(images: list[bytes]) -> None:
    def pages() -> int:
        return int(Path("/proc/self/statm").read_text().split()[0])

    place(images, NAMES)
    before = pages()
    for _ in range(1000):
        place(images, NAMES)
    assert pages() - before < 500, "each of them has two pages at least"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("@x = global i64 5", "sections"),
        ("@x = global i64 0", "sections"),
        ("@x = thread_local global i64 5", "sections"),
        (
            "declare void @nobody_has_it()\ndefine void @x() { call void @nobody_has_it()\nret void }",
            "nobody",
        ),
    ],
)
def test_what_is_left_to_llvm(text: str, said: str) -> None:
    with pytest.raises(Unplaceable, match=said):
        place([made(text, host_cpu())], ["x"])


def test_other_machines_objects_are_left_to_llvm() -> None:
    with pytest.raises(Unplaceable, match="no object of x86-64"):
        place([made("@x = constant i64 5", AARCH64)], ["x"])
    assert not can_place(AARCH64)


def test_objects_without_symbols_are_left_to_llvm() -> None:
    image = bytearray(made("@x = constant i64 5", host_cpu()))
    (start,), size, count = struct.unpack_from("<Q", image, 40), *struct.unpack_from("<HH", image, 58)
    kinds = [start + n * size + 4 for n in range(count)]
    (table,) = (at for at in kinds if image[at : at + 4] == b"\2\0\0\0")
    image[table] = 0
    with pytest.raises(Unplaceable, match="no symbols"):
        place([bytes(image)], ["x"])


def test_a_function_that_is_not_there() -> None:
    with pytest.raises(Unplaceable, match="no function y"):
        place([made("@x = constant i64 5", host_cpu())], ["y"])


KERNEL = """
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .b64 %rd<2>; .reg .b32 %r<2>;
  ld.param.u64 %rd0, [p];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd1, %r0, 4;
  add.u64 %rd0, %rd0, %rd1;
  mul.lo.u32 %r1, %r0, %r0;
  st.global.u32 [%rd0], %r1;
  ret;
}
"""


def test_what_cannot_be_placed_is_linked_by_llvm(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(images: list[bytes], names: tuple[str, ...]) -> None:
        raise Unplaceable

    linked, link = list[tuple[str, ...]](), linking.link
    monkeypatch.setattr(compiler, "place", refuses)

    def noted(images: list[bytes], names: tuple[str, ...], cpu: Cpu) -> tuple[list[int], object]:
        linked.append(names)
        return link(images, names, cpu)

    monkeypatch.setattr(linking, "link", noted)
    device = simt.Device("sm_90", workers=1)
    out = device.zeros(40, "u4")
    device.load(KERNEL)["k"](1, 40, (out,))
    assert np.array_equal(out.numpy(), np.arange(40) ** 2)
    assert len(linked) == 2, "the kernel, and what runs it"


PROGRAM = f"""
import sys
import numpy as np
import simt
device = simt.Device("sm_90", workers=2)
out = device.zeros(96, "u4")
device.load('''{KERNEL}''')["k"](1, 96, (out,))
assert np.array_equal(out.numpy(), np.arange(96) ** 2)
print("llvmlite.binding" in sys.modules)
"""


def test_a_process_whose_code_is_in_the_cache_does_without_llvm(tmp_path: Path) -> None:
    environment = {**os.environ, "SIMT_CACHE_DIR": str(tmp_path / "cache")}
    found = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    ]
    assert found == ["True\n", "False\n"]


def test_the_host_is_what_llvm_says(monkeypatch: pytest.MonkeyPatch) -> None:
    flags = llvm.get_host_cpu_features()  # pyright: ignore[reportUnknownMemberType]
    assert host_cpu().flags == flags.flatten()
    assert host_cpu().name == llvm.get_host_cpu_name()
    assert host_cpu().triple == llvm.get_process_triple()
    assert {name for name, on in flags.items() if on} <= host_features()
