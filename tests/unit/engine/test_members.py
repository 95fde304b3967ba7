"""Several words of each lane at steps, and several members of a structure: what is loaded and stored at once,
and what is asked for."""

from __future__ import annotations

import re

import pytest

from simt.analysis.shape import BlockShape
from simt.engine.compile import attributes
from simt.engine.host import SLOW_GATHERS, Cpu, find_cpu
from simt.engine.llvm_kernel import emit
from simt.records import replace
from tests.conftest import shared_device

KERNEL = """
.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{{
    .reg .b{held} %v<4>; .reg .b32 %t, %s; .reg .b64 %a, %b, %o;
    .shared .align 16 .b8 box[4096];
    ld.param.u64 %a, [in]; ld.param.u64 %b, [out];
    mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, {step};
    add.u64 %a, %a, %o; add.u64 %b, %b, %o;
    mov.u32 %s, box; mad.lo.u32 %s, %t, {step}, %s;
    {body}
    ret;
}}
"""


def cpu_with(features: set[str], but: set[str] = frozenset()) -> Cpu:
    cpu = find_cpu("x86-64-v4")
    return replace(cpu, features=(cpu.features | features) - but)


def text_of(body: str, step: int, bits: int = 32, cpu: Cpu | None = None) -> str:
    cpu = cpu or cpu_with({SLOW_GATHERS})
    kernel = KERNEL.format(body=body, step=step, held=max(16, bits))
    program = shared_device("jit").load(kernel).program
    return emit(program, program.functions["k"], BlockShape(32, 1, 1), cpu.features, attributes(cpu))[0]


@pytest.mark.parametrize(
    ("count", "bits", "step", "word"),
    [
        (4, 32, 64, "<4 x i32>"),
        (2, 64, 48, "<2 x i64>"),
        (2, 32, 40, "i64"),
        (2, 16, 40, "i32"),
        (4, 8, 40, "i32"),
        (2, 8, 34, "i16"),
    ],
)
def test_words_of_a_lane_are_loaded_and_stored_together(count: int, bits: int, step: int, word: str) -> None:
    values = ", ".join(f"%v{i}" for i in range(count))
    body = f"ld.global.v{count}.b{bits} {{{values}}}, [%a]; st.global.v{count}.b{bits} [%b], {{{values}}};"
    by_steps = r"^define [^\n]*@simt\.(?:steps|structures)\.?\d*\([^\n]*\n(.*?)^}"
    load, store = re.findall(by_steps, text_of(body, step, bits), re.DOTALL | re.MULTILINE)
    assert re.findall(r"= load (.*?), ptr", load) == [word] * 32
    assert re.findall(rf"^  store ({re.escape(word)}) ", store, re.MULTILINE) == [word] * 32


LOAD = "ld.global.b32 %v0, [%a];"


@pytest.mark.parametrize(
    ("body", "step", "lines"),
    [
        (LOAD, 36, 0),
        (f"{LOAD} ld.global.b32 %v1, [%a+8];", 36, 18),
        (f"{LOAD} ld.global.b32 %v1, [%a+8]; ld.global.b32 %v2, [%a+4];", 64, 32),
        (f"{LOAD} ld.global.b32 %v1, [%b+8];", 64, 0),
        (f"{LOAD} ld.global.b32 %v1, [%a+8];", 68, 0),
        (f"{LOAD} st.global.b32 [%a+8], %v0;", 36, 0),
        ("ld.shared.b32 %v0, [%s]; ld.shared.b32 %v1, [%s+4];", 36, 0),
    ],
)
def test_second_members_ask_for_structures_of_later_warps(body: str, step: int, lines: int) -> None:
    """Up to a line each, in global memory."""
    assert text_of(body, step).count("call void @llvm.prefetch") == lines
