"""Code that is tried first: a warp of which a guard does not hold begins again with the usual code, and
nobody can tell. Expectations are NumPy's."""

from __future__ import annotations

import re

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.driver.source import compile_ptx
from simt.engine.llvm_kernel import USUAL, emit
from simt.machine.device import DEVICES
from tests.conftest import shared_device

HEAD = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 out, .param .s32 n, .param .s32 width, .param .s32 pitch)
{
    .reg .pred %p; .reg .b32 %t, %i, %n, %w, %q, %r, %v, %u; .reg .b64 %a, %o, %x;
    ld.param.u64 %a, [a]; ld.param.u64 %o, [out];
    ld.param.u32 %n, [n]; ld.param.u32 %w, [width];
    mov.u32 %t, %tid.x; mov.u32 %i, %ctaid.x; mov.u32 %r, %ntid.x;
    mad.lo.u32 %i, %i, %r, %t;
    setp.ge.s32 %p, %i, %n;
    @%p bra END;
"""
ROWS = """
    div.s32 %q, %i, %w;
    mul.lo.s32 %r, %q, %w;
    sub.s32 %r, %i, %r;
    ld.param.u32 %t, [pitch];
    mad.lo.s32 %t, %q, %t, %r;
    mul.wide.s32 %x, %t, 4;
    add.s64 %x, %a, %x;
    ld.global.u32 %v, [%x];
"""
STORE = """
    mul.wide.s32 %x, %i, 4;
    add.s64 %x, %o, %x;
    {change}
    st.global.u32 [%x], %v;
"""
TAIL = """
END:
    ret;
}
"""
COPY = HEAD + ROWS + STORE.format(change="") + TAIL
COUNT = """
    mul.wide.s32 %x, %i, 4;
    add.s64 %x, %o, %x;
    ld.global.u32 %u, [%x];
    add.u32 %u, %u, 1;
    st.global.u32 [%x], %u;
"""
ADD = "red.global.add.u32 [%o], 1;"
CHANGES = {"store": COUNT, "atomic": ADD}
TOTAL = 1000


def parts(source: str, block: tuple[int, int, int] = (128, 1, 1)) -> tuple[str, str]:
    """The kernel's code that is tried first ("" if there is none), and the usual one."""
    program, _ = compile_ptx(source, "<ptx>", DEVICES[90])
    features = frozenset({"avx2", "avx512f", "avx512bw", "avx512dq", "avx512vl", "bmi2"})
    text, _, _ = emit(program, program.functions["k"], BlockShape(*block), features, "nounwind")
    body = text[text.index("warp.head:") :]
    before, label, after = body.partition(f"\n{USUAL}:\n")
    return (before, after) if label else ("", before)


def test_tried_code_has_one_way() -> None:
    tried, usual = parts(COPY)
    assert f"label %{USUAL}" in tried
    assert "gather" in usual
    assert "gather" not in tried
    assert not re.search(r"<32 x (i32|i64|double)> .*(mul|div)", tried)
    assert len(tried.split("\n")) < len(usual.split("\n")) / 2


def test_no_way_back_after_effects() -> None:
    for change in CHANGES.values():
        tried, _ = parts(HEAD + change + ROWS + STORE.format(change="") + TAIL)
        effect = re.search(r"store <32 x i32>|atomicrmw|call .*atom", tried)
        assert not tried or effect is None or f"label %{USUAL}" not in tried[effect.end() :]


def test_no_trial_without_guards() -> None:
    plain = HEAD + STORE.format(change="add.u32 %v, %i, %n;").replace("mul.wide.s32", "mul.wide.u32") + TAIL
    tried, _ = parts(plain.replace("%x, %i, 4", "%x, %t, 4"))
    assert not tried


def test_branches_on_values_part_lanes() -> None:
    """Only those on indices are expected to send all lanes one way."""
    odd = "and.b32 %u, %v, 1; setp.eq.u32 %p, %u, 1; @%p bra END;"
    tried, _ = parts(HEAD + ROWS + odd + STORE.format(change="") + TAIL)
    assert "take." in tried
    tried, _ = parts(COPY)
    assert "take." not in tried


@pytest.mark.parametrize("width", [1, 5, 31, 32, 33, 48, 64, 100, 999, 1000, 5000, -7, 0])
@pytest.mark.parametrize("n", [TOTAL, 992, 977, 1, 0])
def test_rows(engine: str, width: int, n: int) -> None:
    device = shared_device(engine)
    pitch = max(width, 1) + 3
    i = np.arange(n)
    quotient = np.full(n, -1) if width == 0 else np.trunc(i / width).astype("i8")
    places = quotient * pitch + i - quotient * width
    room = int(max(places.max(initial=0), -places.min(initial=0))) + 1
    a = np.random.default_rng(1).integers(0, 1 << 30, 2 * room, "u4")
    there = device.array(a)
    out = device.zeros(TOTAL + 1, "u4")
    device.load(COPY)["k"]((8,), (128,), (there.ptr + 4 * room, out, n, width, pitch))
    expected = np.zeros(TOTAL + 1, "u4")
    expected[:n] = a[room + places]
    assert out.numpy().tolist() == expected.tolist()


@pytest.mark.parametrize("what", CHANGES)
@pytest.mark.parametrize("width", [5, 40, 64, 1000])
def test_effects_happen_once(engine: str, what: str, width: int) -> None:
    """Those before a guard that does not hold, too."""
    device = shared_device(engine)
    a = np.random.default_rng(2).integers(0, 1 << 30, TOTAL, "u4")
    counts = np.arange(TOTAL + 1, dtype="u4")
    out, there = device.array(counts), device.array(a)
    # What is stored is what was there and the word of the row and column.
    change = "ld.global.u32 %u, [%x]; add.u32 %v, %v, %u;"
    source = HEAD + CHANGES[what] + ROWS + STORE.format(change=change) + TAIL
    device.load(source)["k"]((8,), (128,), (there, out, TOTAL, width, width))
    if what == "store":
        counts[:TOTAL] += np.uint32(1) + a
        assert out.numpy().tolist() == counts.tolist()
    else:
        counts[1:TOTAL] += a[1:]
        assert out.numpy().tolist()[1:] == counts.tolist()[1:]


@pytest.mark.parametrize("bad", [0, 40, 110, 133, 991, 999])
def test_faults_are_the_programs(engine: str, bad: int) -> None:
    """A lane's own address, where others of its warp lie below the end of memory."""
    device = simt.Device("sm_90", engine=engine, memory="16MiB", workers=1)
    device.array(np.ones(1 << 22, "u1"))
    out, limit = device.zeros(TOTAL, "u4"), device.memory.limit
    with pytest.raises(simt.MemoryFault, match=f"0x{limit:x}") as fault:
        device.load(COPY)["k"]((8,), (128,), (limit - 4 * bad, out, TOTAL, 5000, 5000))
    site = fault.value.site
    assert (site.cta[0], site.thread[0]) == divmod(bad, 128)


@pytest.mark.parametrize("threads", [32, 40, 127, 1])
def test_partly_filled_warps(engine: str, threads: int) -> None:
    device = shared_device(engine)
    a = np.arange(1, TOTAL + 1, dtype="u4")
    there, out = device.array(a), device.zeros(TOTAL, "u4")
    ctas = -(-TOTAL // threads)
    device.load(COPY)["k"]((ctas,), (threads,), (there, out, TOTAL, 64, 64))
    assert out.numpy().tolist() == a.tolist()
