"""Stores by a mask that a warp runs whether or not it has lanes for them. Expectations are NumPy's."""

from __future__ import annotations

import re

import numpy as np
import pytest

import simt
from simt.analysis.anyway import run_anyway
from simt.analysis.schedule import schedule
from simt.analysis.shape import BlockShape
from simt.analysis.ssa import build
from simt.analysis.uniformity import analyse
from simt.engine.compile import attributes
from simt.engine.host import named_cpus
from simt.engine.llvm_kernel import emit
from tests.conftest import shared_device

LEAST = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 best, .param .u64 found, .param .u32 n)
{{
    .reg .u32 %t, %n, %a, %c, %e; .reg .{kind} %b, %f; .reg .u64 %p, %q, %d; .reg .pred %less;
    ld.param.u64 %p, [best];
    ld.param.u64 %q, [found];
    ld.param.u32 %n, [n];
    mov.u32 %t, %ntid.x;
    mov.u32 %c, %ctaid.x;
    mov.u32 %a, %tid.x;
    mad.lo.u32 %t, %c, %t, %a;
    setp.ge.u32 %less, %t, %n;
    @%less bra $END;
    mul.wide.u32 %d, %t, {size};
    add.u64 %p, %p, %d;
    add.u64 %q, %q, %d;
    ld.global.{kind} %f, [%q];
    {load}
    setp.ge.{kind} %less, %f, %b;
    @%less bra $END;
    {change}
    st.global.{kind} [%p], %f;
$END:
    ret;
}}
"""
LOADED = "ld.global.{kind} %b, [%p];"
KINDS = {"u32": "u4", "s32": "i4", "u16": "u2", "u64": "u8", "f32": "f4", "f64": "f8"}


def least(kind: str = "u32", load: str = LOADED, change: str = "") -> str:
    size = np.dtype(KINDS[kind]).itemsize
    return LEAST.format(kind=kind, size=size, load=load.replace("{kind}", kind), change=change)


def quiet(text: str) -> set[int]:
    program = shared_device("jit").load(text).program
    kernel = program.functions["k"]
    order = schedule(kernel)
    ssa, block = build(kernel, order), BlockShape(64, 1, 1)
    return run_anyway(ssa, analyse(ssa, program.environment, block), program.environment, block)


@pytest.mark.parametrize("n", [1, 31, 32, 33, 64, 200, 1000])
@pytest.mark.parametrize("kind", KINDS)
def test_the_lesser_stays(engine: str, kind: str, n: int) -> None:
    device, draw = shared_device(engine), np.random.default_rng(n)
    best, found = (draw.integers(0, 200, n + 40).astype(KINDS[kind]) for _ in range(2))
    stored = device.array(best)
    device.load(least(kind))["k"]((-(-n // 64),), (64,), (stored, device.array(found), n))
    wanted = np.concatenate([np.minimum(best, found)[:n], best[n:]])
    np.testing.assert_array_equal(stored.numpy(), wanted)


@pytest.mark.parametrize("share", [0.0, 0.03, 1.0])
def test_few_all_or_none_store(engine: str, share: float) -> None:
    device, draw = shared_device(engine), np.random.default_rng(3)
    best = draw.integers(5, 9, 500, "u4")
    found = np.where(draw.random(500) < share, 1, 100).astype("u4")
    stored = device.array(best)
    device.load(least())["k"]((8,), (64,), (stored, device.array(found), 500))
    np.testing.assert_array_equal(stored.numpy(), np.minimum(best, found))


def test_such_a_store_has_no_branch_of_its_own() -> None:
    """Nor one that asks whether all lanes store."""
    cpu = named_cpus()["x86-64-v4"]
    program = shared_device("jit").load(least()).program
    function, block = program.functions["k"], BlockShape(64, 1, 1)
    text, *_ = emit(program, function, block, cpu.features, attributes(cpu))
    assert len(quiet(least())) == 1
    assert len(re.findall(r"call void @llvm\.masked\.store", text)) >= 1
    assert not re.search(r"^  store <32 x i32> .*, align 4$", text, re.MULTILINE)


@pytest.mark.parametrize(
    "text",
    [
        least(load="ld.global.u32 %b, [%p+4];"),
        least(load="mov.u32 %b, 7;"),
        least(load="ld.volatile.global.u32 %b, [%p];").replace("st.global", "st.volatile.global"),
        least(change="ld.global.u32 %e, [%q+4]; add.u32 %f, %f, %e;"),
        least(change="mul.lo.u32 %f, %f, 3; add.u32 %f, %f, 1; xor.b32 %f, %f, 5;"),
        least(change="red.global.add.u32 [%q], 1;"),
        least(change="shl.b64 %d, %d, 1; add.u64 %p, %p, %d;"),
        least().replace("%d, %t, 4", "%d, %t, 8"),
        least().replace("mul.wide.u32 %d, %t, 4;", "ld.global.u32 %e, [%q]; mul.wide.u32 %d, %e, 4;"),
    ],
)
def test_others_have_one(text: str) -> None:
    """Places not loaded from just before, others that may see them, long blocks, lanes that lie apart."""
    assert not quiet(text)


@pytest.mark.parametrize("step", [0, 256])
def test_in_loops_that_go_on_in_memory(step: int) -> None:
    """What was stored by a mask a moment ago would have to wait for that."""
    loop = least(load="$LOOP: add.u64 %p, %p, {step}; ld.global.u32 %b, [%p];").replace("{step}", str(step))
    loop = loop.replace("@%less bra $END;\n    \n", "@%less bra $NEXT;").replace(
        "$END:", "$NEXT: add.u32 %t, %t, 1; setp.lt.u32 %less, %t, %n; @%less bra $LOOP;\n$END:"
    )
    if not step:
        loop = loop.replace("add.u64 %p, %p, 0;", "")
    assert bool(quiet(loop)) == bool(step)


def test_short_arithmetic_goes_along(engine: str) -> None:
    text = least(change="mul.lo.u32 %f, %f, 3; add.u32 %f, %f, 1;")
    assert quiet(text)
    device, draw = shared_device(engine), np.random.default_rng(8)
    best, found = (draw.integers(0, 200, 300).astype("u4") for _ in range(2))
    stored = device.array(best)
    device.load(text)["k"]((5,), (64,), (stored, device.array(found), 300))
    np.testing.assert_array_equal(stored.numpy(), np.where(found < best, found * 3 + 1, best))


def test_a_wild_load_faults_and_a_store_by_no_lane_does_not(engine: str) -> None:
    device = simt.Device("sm_90", engine=engine)
    stored, given = device.zeros(64, "u4"), device.zeros(64, "u4")
    device.load(least())["k"]((1,), (64,), (stored, given, 64))  # 0 < 0 nowhere
    with pytest.raises(simt.MemoryFault) as caught:
        device.load(least())["k"]((1,), (64,), (64, given, 64))
    assert caught.value.address == 64
    assert caught.value.site.thread == (0, 0, 0)


def test_clocks_do_not_count_what_no_lane_runs() -> None:
    """Threads store what the clock says behind a block to which none of them goes."""
    text = least().replace("$END:", "$END: mov.u32 %a, %clock; st.global.u32 [%q], %a; $OUT:")
    text = text.replace("@%less bra $END;", "@%less bra $OUT;", 1)
    clocks = list[object]()
    for name in ("interpreter", "jit"):
        device = shared_device(name)
        best, found = device.zeros(64, "u4"), device.array(np.full(64, 7, "u4"))
        device.load(text)["k"](1, 64, (best, found, 64))
        clocks.append(found.numpy().tolist())
    assert clocks[0] == clocks[1]
