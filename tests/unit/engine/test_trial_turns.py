"""Loops and what is tried first: rows that a loop carries on, and turns that cut an index into rows each.
Expectations are NumPy's."""

from __future__ import annotations

import re

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.driver.source import compile_ptx
from simt.engine.llvm_kernel import TWO_ROWS, emit
from simt.machine.device import find_device
from tests.conftest import shared_device

TOTAL, CHANNELS, THREADS = 1000, 7, 64
WIDTHS = [1, 5, 15, 16, 20, 24, 31, 32, 33, 48, 64, 100, 999, 1000, 5000]
HEAD = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 table, .param .u64 out, .param .s32 n, .param .s32 width)
{
    .reg .pred %p; .reg .b32 %t, %i, %n, %w, %q, %r, %s, %k;
    .reg .b64 %a, %b, %o, %x, %y, %z, %row; .reg .f32 %f, %g, %h;
    ld.param.u64 %a, [in]; ld.param.u64 %b, [table]; ld.param.u64 %o, [out];
    ld.param.u32 %n, [n]; ld.param.u32 %w, [width];
    mov.u32 %t, %tid.x; mov.u32 %i, %ctaid.x; mov.u32 %r, %ntid.x; mov.u32 %s, %nctaid.x;
    mul.lo.u32 %s, %s, %r; mad.lo.u32 %i, %i, %r, %t; mov.f32 %h, 0f00000000;
    setp.ge.s32 %p, %i, %n; @%p bra END;
"""
TURN = """
    L: div.s32 %q, %i, %w; rem.s32 %q, %q, 7;
    mul.wide.s32 %x, %i, 4; add.s64 %y, %a, %x; add.s64 %x, %o, %x;
    {first}
    ld.global.f32 %f, [%y];
    mul.wide.s32 %y, %q, 4; add.s64 %y, %b, %y; ld.global.f32 %g, [%y];
    mul.f32 %f, %f, %g; add.f32 %h, %h, %f;
    {then}
    add.s32 %i, %i, %s; setp.lt.s32 %p, %i, %n; @%p bra L;
"""
TAIL = """
    END: ret;
}
"""
STORE = "st.global.f32 [%x], %f;"
SCALED = HEAD + TURN.format(first="", then=STORE) + TAIL
COUNTED = HEAD + TURN.format(first="", then="ld.global.f32 %g, [%x]; add.f32 %f, %f, %g; " + STORE) + TAIL
STORES_FIRST = HEAD + TURN.format(first="st.global.f32 [%x+4096], %h;", then=STORE) + TAIL
SUMMED = (
    HEAD
    + TURN.format(first="", then="")
    + """
    mov.u32 %i, %ctaid.x; mov.u32 %r, %ntid.x; mad.lo.u32 %i, %i, %r, %t;
    mul.wide.s32 %x, %i, 4; add.s64 %x, %o, %x; st.global.f32 [%x], %h;
"""
    + TAIL
)
PRODUCT = (
    HEAD
    + """
    div.s32 %q, %i, %w; mul.lo.s32 %r, %q, %w; sub.s32 %r, %i, %r;
    mul.lo.s32 %q, %q, 5; mul.wide.s32 %x, %q, 4; add.s64 %x, %a, %x;
    mul.wide.s32 %y, %r, 4; add.s64 %y, %b, %y; mul.wide.s32 %row, %w, 4;
    mov.u32 %k, 0;
    L: ld.global.f32 %f, [%x]; ld.global.f32 %g, [%y]; fma.rn.f32 %h, %f, %g, %h;
    {change}
    add.s64 %x, %x, 4; add.s64 %y, %y, %row;
    add.s32 %k, %k, 1; setp.lt.s32 %p, %k, 5; @%p bra L;
    mul.wide.s32 %x, %i, 4; add.s64 %x, %o, %x; st.global.f32 [%x], %h;
"""
    + TAIL
)
"""A row of five numbers times a column, which lies a row further on in each turn."""


def arrays() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(5)
    return random.integers(-8, 9, 8192).astype("f4"), random.integers(-8, 9, 32768).astype("f4")


def run(
    engine: str, ptx: str, width: int, n: int = TOTAL, ctas: int = 3, threads: int = THREADS
) -> np.ndarray:
    device = shared_device(engine)
    numbers, table = arrays()
    out = device.zeros(4096, "f4")
    given = device.array(numbers), device.array(table), out, np.int32(n), np.int32(width)
    device.load(ptx)["k"](ctas, threads, given)
    return out.numpy()


def scaled(width: int, n: int) -> np.ndarray:
    numbers, table = arrays()
    i = np.arange(n)
    return numbers[:n] * table[i // width % CHANNELS]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("n", [TOTAL, 992, 977, 64, 1, 0])
def test_turns(engine: str, width: int, n: int) -> None:
    assert run(engine, SCALED, width, n)[: n + 1].tolist() == [*scaled(width, n), 0]


@pytest.mark.parametrize("width", WIDTHS)
def test_turns_that_load_what_others_stored(engine: str, width: int) -> None:
    """Each word once, whatever is tried."""
    assert run(engine, COUNTED, width)[:TOTAL].tolist() == scaled(width, TOTAL).tolist()


@pytest.mark.parametrize("width", [5, 20, 40, 64, 1000])
def test_turns_that_store_first(engine: str, width: int) -> None:
    """There is no way back then: the sums so far are those of the turns before."""
    found, expected = run(engine, STORES_FIRST, width), scaled(width, TOTAL)
    assert found[:TOTAL].tolist() == expected.tolist()
    sums, step = np.zeros(TOTAL, "f4"), 3 * THREADS
    for i in range(step, TOTAL):
        sums[i] = sums[i - step] + expected[i - step]
    assert found[1024 : 1024 + TOTAL].tolist() == sums.tolist()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("threads", [64, 40, 1])
def test_sums_that_turns_carry_on(engine: str, width: int, threads: int) -> None:
    step, expected = 3 * threads, scaled(width, TOTAL)
    sums = [expected[first::step].sum() for first in range(step)]
    assert run(engine, SUMMED, width, threads=threads)[:step].tolist() == sums


CHANGES = {
    "": lambda k: 0 * k,
    "setp.eq.s32 %p, %k, 2; @%p add.s64 %x, %x, 8;": lambda k: 2 * (k > 2),
    "and.b32 %r, %i, 1; mul.wide.s32 %z, %r, 4; add.s64 %x, %x, %z;": None,
}
"""What changes the row's address in a turn, and by how many words it is further on in turn `k`; None: by one
for odd threads."""


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("width", WIDTHS[:-1])
@pytest.mark.parametrize("n", [TOTAL, 977, 33])
def test_rows_that_a_loop_carries_on(engine: str, width: int, n: int, change: str) -> None:
    ptx = PRODUCT.replace("{change}", change)
    numbers, table = arrays()
    i, k = np.arange(n)[:, None], np.arange(5)
    more = CHANGES[change]
    further = i % 2 * k if more is None else more(k)
    row, column = i // width, i % width
    expected = (numbers[row * 5 + k + further] * table[column + k * width]).sum(1)
    assert run(engine, ptx, width, n, ctas=16)[:n].tolist() == expected.tolist()


@pytest.mark.parametrize("width", [16, 20, 32, 40, 63])
def test_faults_are_the_programs(engine: str, width: int) -> None:
    """The second row is beyond memory: its first lane is at fault."""
    device = simt.Device("sm_90", engine=engine, memory="64MiB", timeout=20)
    numbers, table = (device.array(a) for a in arrays())
    ptx = PRODUCT.replace("{change}", "").replace("%q, %q, 5;", "%q, %q, 20000000;")
    given = numbers, table, device.zeros(TOTAL, "f4"), np.int32(width + 1), np.int32(width)
    with pytest.raises(simt.MemoryFault) as caught:
        device.load(ptx)["k"](1, THREADS, given)
    assert caught.value.site.thread == (width, 0, 0)
    assert caught.value.address == numbers.ptr + 80_000_000


def ir(ptx: str) -> str:
    program, _ = compile_ptx(ptx, "<test>", find_device("sm_90"))
    return emit(
        program, program.functions["k"], BlockShape(THREADS, 1, 1), frozenset({"avx512bw"}), "nounwind"
    )[0]


def test_what_is_tried() -> None:
    """Turns of a loop that is one block and divides by a number that is not known."""
    assert "one.row" in ir(SCALED)
    assert "one.row" in ir(SUMMED)
    assert "one.row" not in ir(SCALED.replace("div.s32 %q, %i, %w;", "shr.s32 %q, %i, 5;"))


def test_no_turn_is_tried_where_a_clock_counts() -> None:
    """Instructions of a turn that begins again would count twice."""
    clock = "mov.u32 %k, %clock; cvt.rn.f32.u32 %g, %k; add.f32 %h, %h, %g;"
    assert "one.row" not in ir(SCALED.replace(STORE, f"{clock} {STORE}"))


def test_loops_do_not_end_a_trial() -> None:
    """What a loop carries on is as exact as it came, if each turn leaves it so."""
    sure = re.compile(r"%slot\.\d+\.sure")
    exact, varying = (ir(PRODUCT.replace("{change}", change)) for change in ("", [*CHANGES][-1]))
    assert f"\n{TWO_ROWS}:" in exact
    assert len({*sure.findall(exact)}) > len({*sure.findall(varying)})
