"""Loads by steps that ask for what later warps will load. Expectations are NumPy's."""

from __future__ import annotations

import re

import numpy as np
import pytest

from simt.analysis.shape import BlockShape
from simt.engine.host import named_cpus
from simt.engine.llvm_kernel import emit
from tests.conftest import shared_device

KERNEL = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)
{{
    .reg .u32 %t, %n, %c, %w, %i, %v, %s; .reg .u64 %o, %a, %d; .reg .pred %q;
    ld.param.u64 %o, [out];
    ld.param.u64 %a, [in];
    ld.param.u32 %n, [n];
    mov.u32 %t, %tid.x;
    mov.u32 %c, %ctaid.x;
    mov.u32 %w, %ntid.x;
    mad.lo.u32 %t, %c, %w, %t;
    setp.ge.u32 %q, %t, %n;
    @%q bra $END;
    mul.wide.u32 %d, %t, 4;
    add.u64 %o, %o, %d;
    mul.wide.u32 %d, %t, {step};
    add.u64 %a, %a, %d;
    mov.u32 %s, 0;
    {loads}
    st.global.u32 [%o], %s;
$END:
    ret;
}}
"""
LOAD = "ld.global.u32 %v, [%a+{at}]; add.u32 %s, %s, %v;"
ASK = re.compile(r"call void @llvm\.prefetch\S*\(ptr (?!%sure)\S+, i32 0,")
"""To read, but in what code that needs no checks repeats: there need not be any."""
LINES = 256 // 64 + 1
"""The last where a load does not begin with a line."""


def kernel(step: int, *places: int, load: str = LOAD) -> str:
    return KERNEL.format(step=step, loads=" ".join(load.format(at=at) for at in places))


def asked(text: str, block: tuple[int, int] = (256, 1), cpu: str = "x86-64-v4") -> int:
    program = shared_device("jit").load(text).program
    features = named_cpus()[cpu].features
    text, *_ = emit(program, program.functions["k"], BlockShape(*block, 1), features, "nounwind")
    return len(ASK.findall(text))


@pytest.mark.parametrize("cpu", ["x86-64-v4", "x86-64-v3"])
def test_every_second_word_is_asked_for_once(cpu: str) -> None:
    once = asked(kernel(8, 0), cpu=cpu)
    assert once
    assert once % LINES == 0
    assert asked(kernel(8, 0, 4), cpu=cpu) == once
    assert asked(kernel(8, 0, 4, 100_000), cpu=cpu) == 2 * once


@pytest.mark.parametrize("step", [12, 16])
def test_so_are_structures(step: int) -> None:
    assert asked(kernel(step, 0, 4, 8)) >= asked(kernel(8, 0))


@pytest.mark.parametrize(
    "text",
    [
        kernel(4, 0),
        kernel(64, 0),
        kernel(8, 0, load="ld.volatile.global.u32 %v, [%a+{at}]; add.u32 %s, %s, %v;"),
        kernel(8, 0, load="$L: ld.global.u32 %v, [%a+{at}]; add.u32 %s, %s, %v; add.u64 %a, %a, 8; "
                          "setp.lt.u32 %q, %s, 1000; @%q bra $L;"),
    ],
)  # fmt: skip
def test_others_are_not(text: str) -> None:
    """Consecutive words, lanes that lie apart, volatile ones, near steps in loops."""
    assert not asked(text)


def test_nor_are_those_of_ctas_with_rows() -> None:
    assert not asked(kernel(8, 0), (32, 8))


@pytest.mark.parametrize("n", [1, 100, 70_000])
def test_results(engine: str, n: int) -> None:
    """The last launch is one that asks; near the end of memory, too."""
    device = shared_device(engine)
    given = np.random.default_rng(n).integers(0, 1 << 32, 2 * n, "u4")
    out = device.zeros(n, "u4")
    device.load(kernel(8, 0, 4))["k"]((-(-n // 256),), (256,), (out, device.array(given), n))
    np.testing.assert_array_equal(out.numpy(), given[::2] + given[1::2])


def test_a_small_launch_asks_for_nothing() -> None:
    text = kernel(8, 0)
    program = shared_device("jit").load(text).program
    features = named_cpus()["x86-64-v4"].features
    code = emit(program, program.functions["k"], BlockShape(256, 1, 1), features, "nounwind")[0]
    assert "%loads.bytes = mul i64 %ctas, 2048" in code
    assert "%loads.much = icmp ugt i64 %loads.bytes, 4194304" in code
