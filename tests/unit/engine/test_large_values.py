"""Where values of large kernels are: what LLVM's time grows with is counted in the code that it gets."""

from __future__ import annotations

import re

import numpy as np
import pytest
from bench.curve_shapes import SHAPES

import simt
from simt.analysis.shape import BlockShape
from simt.driver.source import compile_ptx
from simt.engine.host import AARCH64, named_cpus
from simt.engine.llvm_kernel import BODY, WARPS, emit
from simt.engine.llvm_outline import KINDS
from simt.machine.device import DEVICES

COLUMN = re.compile(r"<32 x (?:float|double|i16|i32|i64)> (%[\w.]+)")
NUMBER = re.compile(r"splat \((?:i32|float) ")
CPUS = ["x86-64", "x86-64-v3", "x86-64-v4"]


def function(text: str, name: str) -> list[str]:
    """The lines of a function's definition."""
    start = re.search(rf"^define .*@{re.escape(name)}\(", text, re.MULTILINE)
    assert start is not None
    return text[start.start() :].partition("\n}")[0].splitlines()


def code(shape: str, count: int, cpu: str = "x86-64-v4") -> str:
    program, _ = compile_ptx(SHAPES[shape](count), "<ptx>", DEVICES[90])
    features = (AARCH64 if cpu == "aarch64" else named_cpus()[cpu]).features
    text, unit, _ = emit(program, program.functions["k"], BlockShape(256, 1, 1), features, "nounwind")
    assert unit.large
    return text


def strangers(lines: list[str]) -> list[str]:
    """Columns that a line reads although a call or a label stands between it and where they were made."""
    found: list[str] = []
    here: set[str] = set()
    for line in lines:
        if not line.startswith(" "):
            here = set()
        elif " = phi " not in line:
            found += [name for name in COLUMN.findall(line) if name not in here and f"{name} = " not in line]
        if "@simt.op." in line:
            here = set()
        here.update(re.findall(r"^  (%[\w.]+) = ", line))
    return found


@pytest.mark.usefixtures("all_large")
@pytest.mark.parametrize("cpu", [*CPUS, "aarch64"])
@pytest.mark.parametrize("shape", ["sgemm", "memory", "f64", "carry", "shuffle"])
def test_columns_cross_no_call_and_no_label(shape: str, cpu: str) -> None:
    assert strangers(function(code(shape, 300, cpu), WARPS)) == []


@pytest.mark.usefixtures("all_large")
def test_addresses_that_may_wrap_are_columns() -> None:
    """In place, with what tells whether they wrap, they would take fifteen lines each."""
    accesses = 200
    lines = function(code("memory_indexed", accesses), WARPS)
    assert sum("sadd.with.overflow" in line or " = mul <32 x i64>" in line for line in lines) < 10


@pytest.mark.usefixtures("all_large")
def test_comparisons_of_what_lanes_count_are_calls() -> None:
    """In place, each of hundreds would make a column of the threads' numbers, and compare that."""
    lines = function(code("products_over_blocks", 300), WARPS)
    calls = [line for line in lines if re.search(r"= call i32 @simt\.op\.\d+\(i32 ", line)]
    assert len(calls) >= 25
    assert sum("= icmp" in line and "<32 x i32>" in line for line in lines) < 5


@pytest.mark.usefixtures("all_large")
@pytest.mark.parametrize("shape", ["products_over_blocks", "convert", "if_else"])
def test_nothing_is_cast(shape: str) -> None:
    """Predicates are integers throughout, and words are read from memory as what they are taken for."""
    assert sum(" = bitcast " in line for line in function(code(shape, 300), WARPS)) < 3


def test_strangers_are_found() -> None:
    lines = ["a:", "  %a = fadd <32 x float> zeroinitializer, zeroinitializer", "b:"]
    lines += ["  %b = fadd <32 x float> %a, %a", "  %c = call i32 @simt.op.1(i32 0)"]
    assert strangers([*lines, "  %d = fadd <32 x float> %b, zeroinitializer"]) == ["%a", "%b"]


@pytest.mark.usefixtures("all_large")
def test_calls_pass_one_name_of_the_frame() -> None:
    calls = [line for line in function(code("memory", 300), WARPS) if "@simt.op." in line]
    framed = [line for line in calls if "ptr %frame" in line]
    assert len(framed) >= 200
    assert not any(re.search(r"%(launch|worker|cta\.x|warp)[,)]", line) for line in calls)


@pytest.mark.usefixtures("all_large")
def test_loops_over_warps_are_optimised_apart() -> None:
    """What they need is not alive in the code of a warp, of which nothing is optimised as a whole."""
    short, long = code("memory", 300), code("memory", 600)
    assert "simt-large" in function(long, WARPS)[0]
    assert "simt-large" not in function(long, BODY)[0]
    assert len(function(short, BODY)) == len(function(long, BODY))


@pytest.mark.usefixtures("all_large")
@pytest.mark.parametrize("shape", ["s32", "products_over_blocks", "state_machine", "carry", "gather"])
def test_no_line_has_a_column(shape: str) -> None:
    """LLVM's quick selection of instructions takes none. (Of the function's first lines, which are few.)"""
    few, many = (function(code(shape, n), WARPS) for n in (500, 1500))
    assert len(many) > 2 * len(few)
    assert abs(sum(map(is_of_columns, many)) - sum(map(is_of_columns, few))) < 10


def is_of_columns(line: str) -> bool:
    return COLUMN.search(line) is not None or NUMBER.search(line) is not None


@pytest.mark.usefixtures("all_large")
def test_numbers_are_right() -> None:
    """More than functions have of their own, of integers and floats."""
    body = "".join(
        f"mad.lo.u32 %r0, %r0, {3 * i + 7}, {i * i}; add.f32 %f0, %f0, 0f{0x3F800000 + (i << 12):08X};\n"
        for i in range(64 * KINDS)
    )
    text = f"""
    .version 8.0
    .target sm_90
    .address_size 64
    .visible .entry k(.param .u64 out)
    {{
        .reg .b32 %r<4>; .reg .f32 %f<2>; .reg .b64 %rd<4>;
        ld.param.u64 %rd0, [out];
        mov.u32 %r1, %tid.x;
        mul.wide.u32 %rd1, %r1, 8;
        add.u64 %rd2, %rd0, %rd1;
        ld.global.u32 %r0, [%rd2];
        cvt.rn.f32.u32 %f0, %r0;
        {body}
        st.global.u32 [%rd2], %r0;
        st.global.f32 [%rd2+4], %f0;
        ret;
    }}
    """
    words = np.random.default_rng(5).integers(0, 2**32, (64, 2), dtype=np.uint32)
    device = simt.Device("sm_90", engine="jit", memory="64MiB", timeout=60)
    array = device.array(words)
    device.load(text)["k"](1, 64, (array,))
    integers, floats = words[:, 0].copy(), words[:, 0].astype("f4")
    for i in range(64 * KINDS):
        integers = integers * np.uint32(3 * i + 7) + np.uint32(i * i)
        floats += np.array(0x3F800000 + (i << 12), "u4").view("f4")
    np.testing.assert_array_equal(array.numpy(), np.stack([integers, floats.view("u4")], 1))
