"""Kernels that are drafts share the machine code of functions that they have in common."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import llvmlite.binding
import numpy as np
import pytest

import simt
from simt.engine import compile as compiling
from simt.engine import drafts, llvm_common
from simt.engine.host import Cpu
from simt.engine.llvm_common import COMMON, Common, named

llvm: Any = llvmlite.binding  # its functions carry no types
HEAD = """.version 7.5
.target sm_75
.address_size 64
"""
KERNEL = """.visible .entry {name}(.param .u64 a)
{{
    .reg .b64 %a, %o; .reg .b32 %i, %v;
    ld.param.u64 %a, [a];
    mov.u32 %i, %tid.x;
    mul.wide.u32 %o, %i, 4; add.u64 %a, %a, %o;
    ld.global.u32 %v, [%a]; {work} st.global.u32 [%a], %v;
    ret;
}}
"""
WORK = {
    "sum": "add.u32 %v, %v, %i;",
    "both": "mul.lo.u32 %v, %v, %v; add.u32 %v, %v, %i;",
    "least": "min.u32 %v, %v, %i;",
}
MODULE = """declare i64 @llvm.abs.i64(i64, i1)
@simt.table.0 = private constant [2 x i64] [i64 3, i64 4]
define internal i64 @simt.op.0(i64 %x) noinline {
  %y = call i64 @simt.inner.1(i64 %x)
  ret i64 %y
}
define internal i64 @simt.inner.1(i64 %x) alwaysinline {
  %y = load i64, ptr @simt.table.0
  %z = add i64 %x, %y
  ret i64 %z
}
define internal i64 @simt.op.2(i64 %x) noinline {
  %y = call i64 @"written"(i64 %x)
  ret i64 %y
}
define internal i64 @"written"(i64 %x) noinline {
  %y = call i64 @simt.op.0(i64 %x)
  ret i64 %y
}
define internal i64 @simt.there(i64 %x) noinline {
  %y = call i64 @simt.back(i64 %x)
  ret i64 %y
}
define internal i64 @simt.back(i64 %x) noinline {
  %y = call i64 @simt.there(i64 %x)
  ret i64 %y
}
define internal i64 @simt.body(i64 %x) noinline optnone {
  %y = call i64 @simt.op.0(i64 %x)
  ret i64 %y
}
define i64 @simt_kernel(i64 %x) {
  %y = call i64 @simt.body(i64 %x)
  %z = call i64 @simt.there(i64 %x)
  ret i64 %z
}
!0 = !{}
"""


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[set[str]]:
    """The functions of each module that is made into a draft, of kernels of any length."""
    found, original = list[set[str]](), compiling._draft  # pyright: ignore[reportPrivateUsage]

    def noted(text: str, cpu: Cpu, near: bool = False) -> bytes:
        found.append(set(re.findall(r"^define .*?@([\w.]+)\(", text, re.MULTILINE)))
        return original(text, cpu, near)

    monkeypatch.setattr(compiling, "_draft", noted)
    monkeypatch.setattr(drafts, "OPS", 0)
    monkeypatch.setattr(drafts, "MOST_OPS", 1 << 60)
    monkeypatch.setenv("SIMT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("SIMT_DRAFTS", raising=False)
    return found


def run(device: simt.Device, module: simt.Module, name: str) -> None:
    values = np.arange(64, dtype="u4")[::-1].copy()
    array, lane = device.array(values), np.arange(64, dtype="u4")
    module[name](1, 64, (array,))
    expected = {"sum": values + lane, "both": values * values + lane, "least": np.minimum(values, lane)}
    np.testing.assert_array_equal(array.numpy(), expected[name])


def kernels(parts: list[set[str]]) -> list[set[str]]:
    """Without the functions that launch them."""
    return [found for found in parts if "simt_run" not in found]


def test_a_kernel_makes_only_what_none_before_it_has_made(parts: list[set[str]]) -> None:
    device = simt.Device("sm_75", engine="jit", memory="16MiB", workers=1)
    text = HEAD + "".join(KERNEL.format(name=name, work=work) for name, work in WORK.items())
    module = device.load(text)
    made, counts = set[str](), list[int]()
    for name in WORK:
        parts.clear()
        run(device, module, name)
        own, new = kernels(parts)
        assert "simt_kernel" in own
        assert not any(f.startswith(COMMON) for f in own)
        assert new
        assert all(f.startswith(COMMON) for f in new)
        assert not new & made
        made |= new
        counts.append(len(new))
    assert counts[1] < counts[0] / 2
    assert counts[2] < counts[0] / 2


def test_the_only_kernel_is_one_module(parts: list[set[str]]) -> None:
    device = simt.Device("sm_75", engine="jit", memory="16MiB", workers=1)
    module = device.load(HEAD + KERNEL.format(name="sum", work=WORK["sum"]))
    run(device, module, "sum")
    (all_of_it,) = kernels(parts)
    assert {"simt_kernel", "simt.body"} < all_of_it


def test_another_device_finds_all_objects_in_the_cache(parts: list[set[str]]) -> None:
    text = HEAD + "".join(KERNEL.format(name=name, work=work) for name, work in WORK.items())
    for is_first in True, False:
        parts.clear()
        device = simt.Device("sm_75", engine="jit", memory="16MiB", workers=1)
        module = device.load(text)
        for name in reversed(WORK):
            run(device, module, name)
        assert bool(kernels(parts)) == is_first


def test_functions_are_made_again_when_they_are_in_many_objects(
    parts: list[set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llvm_common, "MOST", 1)
    device = simt.Device("sm_75", engine="jit", memory="16MiB", workers=1)
    module = device.load(HEAD + "".join(KERNEL.format(name=n, work=w) for n, w in WORK.items()))
    for name in WORK:
        run(device, module, name)
    first, *others = kernels(parts)[1::2]
    assert all(len(first & other) > len(first) / 2 for other in others)


def test_names_follow_from_all_that_a_function_depends_on() -> None:
    names = [n for n in named(MODULE, "optnone").functions if n.startswith(COMMON)]
    assert len(names) == 2
    again = MODULE.replace("simt.op.0", "simt.op.7").replace("simt.inner.1", "simt.inner.9")
    assert [n for n in named(again, "optnone").functions if n.startswith(COMMON)] == names
    for old, new in (("[i64 3,", "[i64 5,"), ("%z = add i64", "%z = sub i64")):
        changed = named(MODULE.replace(old, new), "optnone").functions
        assert not {*names} & {*changed}
    changed = named(MODULE.replace("call i64 @simt.inner.1", "tail call i64 @simt.inner.1"), "optnone")
    assert len({*names} & {*changed.functions}) == 1


def test_what_depends_on_the_kernel_keeps_its_name() -> None:
    functions = {*named(MODULE, "optnone").functions}
    own = {"simt.op.2", '"written"', "simt.there", "simt.back", "simt.body", "simt_kernel"}
    assert {n for n in functions if not n.startswith(COMMON)} == own


def test_parts_are_modules_that_declare_what_the_others_define() -> None:
    texts = list[str]()

    def make(text: str) -> bytes:
        texts.append(text)
        return text.encode()

    common = Common()
    first = common.objects(MODULE, "optnone", make)
    assert [text.encode() for text in texts] == first
    for text in texts:
        llvm.parse_assembly(text).verify()
    second = common.objects(MODULE.replace("add i64", "sub i64"), "optnone", make)
    assert len(first) == len(second) == 2
    assert first[1] not in second
    third = common.objects(MODULE, "optnone", make)
    assert third == first
    assert len(texts) == 5


def test_who_comes_second_leaves_his_own_out() -> None:
    """As where a handler of signals launches a kernel while another one is compiled."""
    common, depth = Common(), [0]

    def make(text: str) -> bytes:
        depth[0] += 1
        if depth[0] == 1:
            common.objects(MODULE, "optnone", make)
        return f"{depth[0]} {text}".encode()

    outer = common.objects(MODULE, "optnone", make)
    later = common.objects(MODULE, "optnone", make)
    assert len(outer) == len(later) == 2
    assert outer[1] != later[1]


def test_an_object_brings_what_its_functions_call_by_way_of_inlined_ones() -> None:
    """Also where a kernel wants another function of that object."""
    other = """define internal i64 @simt.op.8(i64 %x) noinline {
  %y = sub i64 %x, 1
  ret i64 %y
}
"""
    far = """define internal i64 @simt.far.9(i64 %x) noinline {
  %y = mul i64 %x, 5
  ret i64 %y
}
"""
    kernel = """define i64 @simt_kernel(i64 %x) {
  %y = call i64 @simt.op.8(i64 %x)
  ret i64 %y
}
!0 = !{}
"""
    common = Common()
    declared = "declare void @llvm.trap()\n"
    (_, with_far) = common.objects(declared + far + kernel.replace("op.8", "far.9"), "optnone", str.encode)
    inlined = MODULE.replace("%z = add i64 %x, %y", "%z = call i64 @simt.far.9(i64 %y)")
    _, first, with_both = common.objects(inlined.replace("!0 =", other + far + "!0 ="), "optnone", str.encode)
    assert first == with_far
    assert common.objects(declared + other + kernel, "optnone", str.encode)[1:] == [with_far, with_both]
