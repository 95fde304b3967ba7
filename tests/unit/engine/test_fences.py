"""Fences for LLVM's code generator: in long chains of integer operations, and between accesses to saved
contexts. Results are Python's integers; what LLVM would look through is counted."""

from __future__ import annotations

import re

import pytest
from bench.curve_shapes import SHAPES

import simt
from simt.analysis.shape import BlockShape
from simt.driver.source import compile_ptx
from simt.engine.host import AARCH64, host_cpu
from simt.engine.llvm_builder import KEEP_ORDER
from simt.engine.llvm_function import STRAIGHT
from simt.engine.llvm_kernel import emit
from simt.engine.llvm_suspension import PORTION
from simt.machine.device import DEVICES
from tests.cpus.objects import Code

THREADS = 64
BITS = [16, 32, 64]
ROUND = "mul.lo.u{0} %a, %a, %b; add.u{0} %a, %a, {1}; xor.b{0} %b, %b, %a; sub.u{0} %b, %b, %a;"


def chain(bits: int, rounds: int) -> str:
    """PTX of a long chain on two values of each thread: its number, and 3 more than that."""
    repeated = "\n".join(ROUND.format(bits, number) for number in range(rounds))
    return f"""
.version 8.0
.target sm_90
.address_size 64
.entry k(.param .u64 to)
{{
    .reg .u{bits} %a, %b;
    .reg .u64 %to, %o;
    .reg .u32 %t;
    ld.param.u64 %to, [to];
    mov.u32 %t, %tid.x;
    cvt.u{bits}.u32 %a, %t;
    add.u{bits} %b, %a, 3;
    {repeated}
    mul.wide.u32 %o, %t, {bits // 8};
    add.u64 %to, %to, %o;
    st.global.u{bits} [%to], %a;
    ret;
}}
"""


def expected(bits: int, rounds: int) -> list[int]:
    found = list[int]()
    for thread in range(THREADS):
        a, b = thread, thread + 3
        for number in range(rounds):
            a = (a * b + number) % 2**bits
            b = ((b ^ a) - a) % 2**bits
        found.append(a)
    return found


def emitted(text: str, threads: int = THREADS) -> str:
    program, _ = compile_ptx(text, "<ptx>", DEVICES[90])
    features = host_cpu().features
    return emit(program, program.functions["k"], BlockShape(threads, 1, 1), features, "nounwind")[0]


@pytest.mark.parametrize("rounds", [2, 60])
@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("cpu", ["host", "x86-64-v3", "x86-64"])
def test_chains_have_the_same_results(cpu: str, bits: int, rounds: int) -> None:
    device = simt.Device("sm_90", engine="jit", cpu=cpu)
    to = device.zeros(THREADS, f"u{bits // 8}")
    device.load(chain(bits, rounds))["k"](1, THREADS, (to,))
    assert to.numpy().tolist() == expected(bits, rounds)


@pytest.mark.parametrize("bits", BITS)
def test_long_chains_are_cut(bits: int) -> None:
    """At each second sum or product: a product is the first operation of its chain, a sum the second."""
    rounds = STRAIGHT
    fences = len(re.findall(r" = call <\d+ x \w+> @llvm\.arithmetic\.fence", emitted(chain(bits, rounds))))
    assert rounds <= fences <= 2 * rounds
    assert "arithmetic.fence" not in emitted(chain(bits, 2))


CUT = {"predicated": "@llvm.arithmetic.fence.v32f32(", "uniform": 'asm "", "=r,0"(i32 '}
"""Shapes of choices between numbers and of products of scalars, and their fences."""


@pytest.mark.skipif("sse2" not in host_cpu().features, reason="fences for scalars are x86's")
@pytest.mark.parametrize("shape", CUT)
def test_choices_and_scalars_are_cut(shape: str) -> None:
    long, short = (emitted(SHAPES[shape](n)).count(CUT[shape]) for n in (130, 60))
    assert (long > 10, short) == (True, 0)


@pytest.mark.parametrize("shape", CUT)
def test_what_is_cut_has_the_same_results(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMT_DRAFTS", "0")
    found = list[list[int]]()
    for engine, cpu in (("interpreter", "host"), ("jit", "host"), ("jit", "x86-64")):
        device = simt.Device("sm_90", engine=engine, cpu=cpu)
        to = device.zeros(32, "u4")
        device.load(SHAPES[shape](130))["k"](1, 29, (to, 5))
        found.append(to.numpy().tolist())
    assert found[0] == found[1] == found[2]
    assert len(set(found[0])) > 1


@pytest.mark.parametrize("bits", BITS)
def test_chains_for_arm64(bits: int) -> None:
    program, _ = compile_ptx(chain(bits, 60), "<ptx>", DEVICES[90])
    code = Code(AARCH64, program, program.functions["k"], BlockShape(THREADS, 1, 1))
    assert "arithmetic.fence" in code.ir
    assert code.image


def test_accesses_to_contexts_are_ordered_in_portions() -> None:
    """Between two fences, or a fence and a label, there are not many more accesses than one portion."""
    text = emitted(SHAPES["live_over_barriers"](1000), 256)
    parts = re.split(rf"\n[\w.]+:\n|  {re.escape(KEEP_ORDER)}\n", text)
    of_contexts = [len(re.findall(r", ptr %context\.p\b", part)) for part in parts]
    assert sum(of_contexts) > 10 * PORTION
    assert max(of_contexts) <= PORTION
    assert KEEP_ORDER not in emitted(SHAPES["live_over_barriers"](90), 256)


ORDERED = """
.version 8.0
.target sm_90
.address_size 64
.entry k(.param .u64 to)
{{
    .reg .u64 %to;
    ld.param.u64 %to, [to];
    st.global.u32 [%to], 1;
    {fence};
    st.global.u32 [%to+4], 2;
    ret;
}}
"""


@pytest.mark.parametrize(
    ("fence", "hardware", "order"),
    [
        ("bar.warp.sync -1", 0, 1),
        ("membar.cta", 0, 1),
        ("fence.acq_rel.cta", 0, 1),
        ("membar.gl", 1, 0),
        ("fence.acq_rel.cluster", 1, 0),
        ("fence.sc.sys", 1, 0),
    ],
)
def test_one_thread_runs_a_cta(fence: str, hardware: int, order: int) -> None:
    """Threads of other CTAs may run on other cores of the CPU."""
    program, _ = compile_ptx(ORDERED.format(fence=fence), "<ptx>", DEVICES[90])
    code = emit(program, program.functions["k"], BlockShape(32, 1, 1), host_cpu().features, "nounwind")[0]
    assert code.count("  fence seq_cst") == hardware
    assert code.count(f"  {KEEP_ORDER}") == order
