"""Lanes at distances that are known, but no steps: words padded so that banks differ. Expectations are what
was given."""

from __future__ import annotations

import re

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.host import SLOW_GATHERS, named_cpus
from simt.engine.llvm_kernel import emit
from tests.conftest import shared_device

ITEMS, THREADS = 8, 96
KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 by)
{{
    .reg .u32 %t, %i, %p, %a, %v, %by, %base, %n; .reg .u64 %in, %out, %o; .reg .pred %q;
    .shared .align 4 .b8 cells[{room}];
    ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u32 %by, [by];
    mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %base, cells;
    setp.lt.u32 %q, %t, {running};
{first}
    bar.sync 0;
{second}
    ret;
}}
"""
BLOCKED = """
    shl.b32 %i, %t, 3; add.u32 %i, %i, {item}; add.u32 %i, %i, {more}; shr.{sign}32 %p, %i, 5;
    add.u32 %p, %p, %i; shl.b32 %a, %p, 2; add.u32 %a, %a, %base;"""
STRIPED = """
    mad.lo.u32 %i, %n, {item}, %t; shr.u32 %p, %i, 5;
    add.u32 %p, %p, %i; shl.b32 %a, %p, 2; add.u32 %a, %a, %base;"""
"""Places of a thread's words one after the other, and of every 96th word."""
GUARD = "@%q "
IN = (
    "mul.wide.u32 %o, {number}, 4; add.u64 %o, %o, %in; ld.global.u32 %v, [%o];{guard}st.shared.u32 [%a], %v;"
)
OUT = (
    "{guard}ld.shared.u32 %v, [%a]; mul.wide.u32 %o, {number}, 4; add.u64 %o, %o, %out;"
    "{guard}st.global.u32 [%o], %v;"
)


PLACES = {"blocked": BLOCKED, "striped": STRIPED}


def moves(places: str, access: str, guard: str, more: str, sign: str) -> str:
    """Of all items. In global memory they lie in the order of the index."""
    lines: list[str] = []
    for item in range(ITEMS):
        lines.append(PLACES[places].format(item=item, more=more, sign=sign))
        back = f"sub.u32 %i, %i, {more};" if places == "blocked" else ""
        lines.append(f"    {back} {access.format(number='%i', guard=guard)}")
    return "\n".join(lines)


def text(stored: str, loaded: str, running: int = THREADS, more: str = "0", sign: str = "s") -> str:
    """`more`: what indices begin with, where they are blocked. `running`: of the threads that have blocks."""
    guard = GUARD if running < THREADS else ""
    first = moves(stored, IN, guard if stored == "blocked" else "", more, sign)
    second = moves(loaded, OUT, guard if loaded == "blocked" else "", more, sign)
    return KERNEL.format(room=4096, running=running, first=first, second=second)


def run(device: simt.Device, source: str, by: int = 0) -> tuple[list[int], list[int]]:
    given = np.random.default_rng(by).integers(0, 1 << 32, ITEMS * THREADS, "u4")
    out = device.zeros(len(given), "u4")
    device.load(source)["k"](1, THREADS, (device.array(given), out, by))
    return given.tolist(), out.numpy().tolist()


WAYS = [("striped", "blocked"), ("blocked", "striped")]


@pytest.mark.parametrize("sign", ["s", "u"])
@pytest.mark.parametrize(("stored", "loaded"), WAYS)
def test_all_lanes(engine: str, stored: str, loaded: str, sign: str) -> None:
    given, found = run(shared_device(engine), text(stored, loaded, sign=sign))
    assert found == given


@pytest.mark.parametrize("running", [1, 17, 50, 95])
def test_some_lanes(engine: str, running: int) -> None:
    """Those that do not run neither load nor store."""
    given, found = run(shared_device(engine), text("striped", "blocked", running))
    assert found == given[: ITEMS * running] + [0] * (ITEMS * (THREADS - running))
    given, found = run(shared_device(engine), text("blocked", "striped", running))
    assert found[: ITEMS * running] == given[: ITEMS * running]


@pytest.mark.parametrize("by", [0, 32, 64, 3, 21, 160])
def test_a_beginning_that_is_not_known(engine: str, by: int) -> None:
    given, found = run(shared_device(engine), text("blocked", "blocked", more="%by"), by)
    assert found == given


@pytest.mark.parametrize("more", [1, 5, 31, 32, 70])
def test_a_beginning_that_is_known(engine: str, more: int) -> None:
    given, found = run(shared_device(engine), text("blocked", "blocked", more=str(more)))
    assert found == given


@pytest.mark.parametrize("more", [1 << 31, (1 << 32) - 96])
@pytest.mark.parametrize("sign", ["s", "u"])
def test_indices_that_wrap_are_outside(engine: str, more: int, sign: str) -> None:
    with pytest.raises(simt.MemoryFault) as fault:
        run(shared_device(engine), text("striped", "blocked", more=f"{more}", sign=sign))
    assert fault.value.site.thread == (0, 0, 0)
    shift = more >> 5 if sign == "u" else (more - (1 << 32)) >> 5
    assert fault.value.address == 4 * (more + shift) % (1 << 32)


@pytest.mark.parametrize("lane", [1, 31, 40, 95])
@pytest.mark.parametrize("access", [IN, OUT])
def test_faults(engine: str, lane: int, access: str) -> None:
    """The first thread beyond the memory is found, and named."""
    place = 4 * (ITEMS * lane + ITEMS * lane // 32)
    first = moves("blocked", access, "", "0", "s")
    source = KERNEL.format(room=place, running=THREADS, first=first, second="")
    with pytest.raises(simt.MemoryFault) as fault:
        run(shared_device(engine), source)
    assert (fault.value.site.thread, fault.value.address) == ((lane, 0, 0), place)


def code(source: str, features: frozenset[str]) -> str:
    program = shared_device("jit").load(source).program
    return emit(program, program.functions["k"], BlockShape(THREADS, 1, 1), features, "nounwind")[0]


@pytest.mark.parametrize(("stored", "loaded"), WAYS)
def test_where_gathers_are_slow(stored: str, loaded: str) -> None:
    features = named_cpus()["x86-64-v4"].features
    source, slow = text(stored, loaded), features | {SLOW_GATHERS}
    assert len(re.findall(r"call .*@simt\.spread", code(source, slow))) == ITEMS
    scattered = ITEMS if stored == "blocked" else 0  # a scatter takes long anywhere
    assert len(re.findall(r"call .*@simt\.spread", code(source, features))) == scattered
    assert "@simt.spread" not in code(text(stored, loaded, more="%by"), slow)


TREE = """
    shl.b32 %i, %t, 1; or.b32 %i, %i, {first}; mul.lo.u32 %i, %i, {step}; add.s32 %i, %i, {more};
    shr.s32 %p, %i, {shift}; add.u32 %p, %p, %i; shl.b32 %a, %p, 2; add.u32 %a, %a, %base;"""
"""Blelloch's places: of every second number, times a step."""


def tree(first: int, step: int, more: int, shift: int, running: int = THREADS) -> str:
    """Words are brought to these places, and back from there."""
    ways = [TREE.format(first=first, step=step, more=more, shift=shift)]
    guard = GUARD if running < THREADS else ""
    lines = [
        ways[0],
        "    " + IN.format(number="%t", guard=guard),
        ways[0],
        "    " + OUT.format(number="%t", guard=guard),
    ]
    return KERNEL.format(room=4 * 2 * THREADS * step * 2 + 64, running=running, first="\n".join(lines[:2]),
                         second="\n".join(lines[2:]))  # fmt: skip


@pytest.mark.parametrize("running", [THREADS, 40, 33, 3])
@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize(
    ("step", "more", "shift"), [(1, 0, 5), (2, -1, 5), (4, -1, 5), (8, 3, 4), (2, 0, 2), (1, 7, 3)]
)
def test_places_of_a_tree(engine: str, first: int, step: int, more: int, shift: int, running: int) -> None:
    source = tree(first, step, more if first else abs(more), shift, running)
    given, found = run(shared_device(engine), source)
    assert found[:running] == given[:running]
    assert not any(found[running:])


@pytest.mark.parametrize("step", [1, 2, 4, 8])
def test_places_of_a_tree_where_gathers_are_slow(step: int) -> None:
    """Stores and loads of either half of the pairs: in registers, or lane by lane."""
    features = named_cpus()["x86-64-v4"].features | {SLOW_GATHERS}
    for first in (0, 1):
        found = code(tree(first, step, -1 if first else 0, 5), features)
        assert len(re.findall(r"call .*@simt\.spread", found)) == 2
        bodies = re.findall(r"define [^@]*@simt\.spread.*?\n}", found, re.DOTALL)
        assert [("<16 x i32>" in body) for body in bodies] == [step <= 2] * 2


@pytest.mark.parametrize("word", [1, 30, 31, 33, 64, 190])
def test_a_fault_among_places_of_a_tree(engine: str, word: int) -> None:
    """The first thread whose word is beyond the memory."""
    source = tree(0, 1, 0, 5).replace(f"cells[{4 * 2 * THREADS * 2 + 64}]", f"cells[{4 * word}]")
    places = [2 * t + (2 * t >> 5) for t in range(THREADS)]
    thread = next(t for t in range(THREADS) if places[t] >= word)
    with pytest.raises(simt.MemoryFault) as fault:
        run(shared_device(engine), source)
    assert (fault.value.site.thread, fault.value.address) == ((thread, 0, 0), 4 * places[thread])
