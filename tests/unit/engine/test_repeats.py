"""Instructions that many of their kind share as a function: the recorded vectors of the GPU with every
instruction so, and how kernels that repeat one grow."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from bench.curve_shapes import SHAPES

import simt
from simt.analysis.shape import BlockShape
from simt.driver.source import compile_ptx
from simt.engine import llvm_builder, llvm_outline, llvm_repeats
from simt.engine.cache import ObjectCache
from simt.engine.compiler import Compiler
from simt.engine.host import SLOW_GATHERS
from simt.engine.llvm_kernel import emit
from simt.engine.llvm_slots import Unit
from simt.engine.llvm_windows import NEEDS
from simt.machine.device import DEVICES
from tests.cpus.test_vectors import few, run_all
from tests.filetests import test_run as filetests
from tests.hw.test_flushing import by_operands, wrong
from tests.unit.engine.test_large import FOLDER, NAMES

AVX2 = frozenset({"avx", "avx2", SLOW_GATHERS})


@pytest.fixture
def all_shared(own_cache: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Every instruction that may is a call from its first occurrence on."""
    monkeypatch.setattr(llvm_repeats, "ENOUGH", -1)
    monkeypatch.setattr(llvm_builder, "INLINED", -1)
    monkeypatch.setattr(llvm_outline, "WORTH", 0)
    own_cache("calls")


@pytest.fixture
def device(all_shared: None) -> simt.Device:
    return simt.Device("sm_90", engine="jit", memory="1GiB", timeout=60)


@pytest.mark.usefixtures("all_shared")
@pytest.mark.parametrize("name", NAMES)
def test_files(name: str) -> None:
    filetests.test_run(FOLDER / f"{name}.ptx", "jit")


def test_vectors_of_the_gpu(device: simt.Device) -> None:
    rows = run_all(device, few())
    assert [line for item in few() for line in item.wrong(rows[item.name])] == []


@pytest.mark.parametrize("other", ["", "cvt.f64.f32 %d, %v;"], ids=["alone", "mixed"])
def test_flushing(exact_device: simt.Device, other: str) -> None:
    """Subnormals that mean zeros on their way into functions and out of them."""
    assert wrong(exact_device, by_operands()["f32"], other) == []


def chained(count: int) -> str:
    """Each thread makes 2 ** (-x / 4) + its number of x, and so on."""
    piece = "mul.f32 %f1, %f0, 0fBE800000; ex2.approx.f32 %f1, %f1; add.f32 %f0, %f1, %f2;"
    body = "\n".join(piece for _ in range(count))
    return f"""
    .version 8.0
    .target sm_90
    .address_size 64
    .visible .entry k(.param .u64 out)
    {{
        .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;
        ld.param.u64 %rd0, [out];
        mov.u32 %r0, %tid.x;
        mul.wide.u32 %rd1, %r0, 4;
        add.u64 %rd2, %rd0, %rd1;
        cvt.rn.f32.u32 %f2, %r0;
        mov.f32 %f0, %f2;
        {body}
        st.global.f32 [%rd2], %f0;
        ret;
    }}
    """


def test_values_pass_from_call_to_call() -> None:
    count, threads = 400, 45
    device = simt.Device("sm_90", engine="jit", memory="64MiB", timeout=60)
    result = device.zeros(threads, "f4")
    device.load(chained(count))["k"]((1,), (threads,), (result,))
    start = np.arange(threads, dtype=np.float64)
    value = start
    for _ in range(count):
        value = 2 ** (-value / 4) + start
    # Errors of a turn (a power within 2^-22, a sum, none of the product) are damped by a slope below 1/5.
    np.testing.assert_allclose(result.numpy(), value, rtol=2.0**-20)


def test_repeated_kinds_grow_by_calls(tmp_path: Path) -> None:
    cpu = Compiler(ObjectCache(tmp_path)).cpu
    lines: list[int] = []
    for count in (5, 200, 400):
        program, _ = compile_ptx(chained(count), "<ptx>", DEVICES[90])
        text, _, _ = emit(program, program.functions["k"], BlockShape(96, 1, 1), cpu.features, "nounwind")
        lines.append(text.count("\n"))
        assert ("@simt.op." in text) == (count > 5)
    assert lines[2] - lines[1] < 200 * 6


def called(text: str) -> int:
    """Powers of two that are calls."""
    return len(re.findall(r"= call .*@simt\.op\.", emitted(text)[0]))


def test_less_stands_in_place_where_it_is_run_once() -> None:
    """The same instructions, in a loop and not; in a short kernel a loop makes no difference."""
    head, foot = "mov.f32 %f0, %f2;", "st.global.f32 [%rd2], %f0;"
    setp = ".reg .pred %p; mov.b32 %r1, 0; again: add.u32 %r1, %r1, 1; setp.lt.u32 %p, %r1, 9;"
    long = chained(llvm_repeats.FEW_OPS // 2)
    short = chained(llvm_repeats.FEW_OPS // 5)
    found: list[int] = []
    for text in (long, short):
        loop = text.replace(head, f"{head} {setp}").replace(foot, f"@%p bra again; {foot}")
        found += [called(text), called(loop)]
    once, in_loop, few, few_in_loop = found
    assert once > in_loop > 0
    assert few == few_in_loop > 0


def test_many_kinds_together(tmp_path: Path) -> None:
    """Kinds of which each occurs seldom: no more lines stand in place than some thousand."""
    cpu = Compiler(ObjectCache(tmp_path)).cpu
    roots = [f"sqrt.{r}.{f}f32" for r in ("rn", "rz", "rm", "rp") for f in ("", "ftz.")]
    others = [f"{name}.approx.{f}f32" for name in ("sin", "cos", "ex2", "lg2", "tanh") for f in ("", "ftz.")]
    pieces = [f"{o} %f0, %f0;" for o in (*roots, *others) if not o.startswith("tanh.approx.ftz")]
    lines: list[int] = []
    for times in (1, 6, 11):
        text = chained(0).replace("mov.f32 %f0, %f2;", "mov.f32 %f0, %f2;\n" + "\n".join(pieces * times))
        program, _ = compile_ptx(text, "<ptx>", DEVICES[90])
        text, _, _ = emit(program, program.functions["k"], BlockShape(96, 1, 1), cpu.features, "nounwind")
        lines.append(text.count("\n"))
        assert ("@simt.op." in text) == (times > 1)
    assert lines[2] - lines[1] < 5 * len(pieces) * 3


def emitted(text: str, features: frozenset[str] = NEEDS) -> tuple[str, Unit]:
    program, _ = compile_ptx(text, "<ptx>", DEVICES[90])
    text, unit, _ = emit(program, program.functions["k"], BlockShape(256, 1, 1), features, "nounwind")
    return text, unit


def test_pieces_of_gathers_from_shared_memory_become_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is two functions, 38 lines together."""
    monkeypatch.setattr(llvm_repeats, "FEW_OPS", 10_000)
    lines: list[int] = []
    for count in (20, 200, 300):
        text, unit = emitted(SHAPES["shared_gather"](3 * count))
        lines.append(unit.module.inlined_lines)
        called = re.findall(r"@(simt\.window\.\w+\.\d+)\(.*\) noinline", text)
        assert len(called) == (2 if count > 20 else 0)
    assert lines[0] > 20 * 35
    assert lines[2] - lines[1] <= 100 * 3


def test_gathers_from_shared_memory_become_calls() -> None:
    """In kernels of many instructions, whole: some lines stand for each of them then."""
    lines: list[int] = []
    for count in (20, 200, 300):
        text, _ = emitted(SHAPES["shared_gather"](3 * count))
        lines.append(text.count("\n"))
        assert ("@simt.op." in text) == (count > 20)
    assert lines[2] - lines[1] <= 100 * 7


def test_what_the_cpu_cannot_do_for_some_lanes_is_called() -> None:
    """LLVM makes a branch for each lane of it, so one function serves all accesses."""
    for features, names in (
        (frozenset({"sse2"}), {"gather", "scatter", "load", "store"}),
        (AVX2, {"gather", "scatter", "store"}),
        (AVX2 - {SLOW_GATHERS}, {"scatter", "store"}),
        (NEEDS | {"avx512f"}, set[str]()),
    ):
        text, _ = emitted(SHAPES["memory_guarded"](180), features)
        found = re.findall(r"define .*@simt\.(\w+)\.some\.\d+\((.*?)\) noinline", text)
        assert {name for name, _ in found} == names
        assert len(found) <= 4 * len(names)  # one for each type of elements, not for each of 120 accesses
        assert not any("x i1>" in parameters for _, parameters in found)


def test_lines_count_for_more_where_registers_are_smaller() -> None:
    """Of products' upper halves, which are a few lines each, at once none stands in place but the first."""
    called: list[int] = []
    for features in ({"avx512f", "avx2"}, {"avx2"}, set[str]()):
        program, _ = compile_ptx(SHAPES["carry"](150), "<ptx>", DEVICES[90])
        block = BlockShape(256, 1, 1)
        text, *_ = emit(program, program.functions["k"], block, frozenset(features), "nounwind")
        called.append(len(re.findall(r"= call .*@simt\.op\.", text)))
    assert called[0] == 0
    assert 0 < called[1] < called[2]


def test_short_instructions_stay_in_place(tmp_path: Path) -> None:
    """f64 arithmetic settles its NaNs now and then, at many lines, two for each operation, which is done
    again there. By itself it is one line, no call."""
    cpu = Compiler(ObjectCache(tmp_path)).cpu
    piece = "fma.rn.f64 %fd0, %fd1, %fd0, %fd2; fma.rn.f64 %fd1, %fd2, %fd0, %fd1; add.f64 %fd2, %fd0, %fd1;"
    lines: list[int] = []
    for count in (300, 600):
        text = chained(0).replace("mov.f32 %f0, %f2;", "\n".join(["mov.f32 %f0, %f2;", *[piece] * count]))
        text = text.replace("ret;", "st.global.f64 [%rd0], %fd0; ret;").replace(
            ".reg .f32", ".reg .f64 %fd<3>; .reg .f32"
        )
        program, _ = compile_ptx(text, "<ptx>", DEVICES[90])
        ir, _, _ = emit(program, program.functions["k"], BlockShape(96, 1, 1), cpu.features, "nounwind")
        lines.append(ir.count("\n"))
        assert "@simt.op." not in ir
    assert lines[1] - lines[0] < 300 * 3 * 4
