"""Shared memory and few lanes that are known. Expectations are what each thread is to do, in NumPy."""

from __future__ import annotations

import re
from itertools import product

import numpy as np
import pytest

import simt
from simt.analysis.program import Op
from simt.analysis.remade import branches_of_thread
from simt.analysis.shape import BlockShape
from simt.driver.source import compile_ptx
from simt.engine.host import SLOW_GATHERS, named_cpus
from simt.engine.known_lanes import KnownLanes
from simt.engine.llvm_few import FEW
from simt.engine.llvm_kernel import emit
from simt.engine.llvm_slots import Unit
from simt.machine.device import DEVICES
from tests.conftest import shared_device
from tests.shares import share

CELLS = 1024
KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 more)
{{
    .reg .u32 %t, %x, %y, %i, %a, %c, %v, %w, %n, %more; .reg .u64 %in, %out, %o; .reg .pred %p, %q;
    .shared .align 8 .b8 cells[4096];
    ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u32 %more, [more];
    mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; mov.u32 %n, %ntid.x; mad.lo.u32 %t, %y, %n, %x;
    mov.u32 %c, cells; mov.u32 %i, %t;
FILL:
    mul.wide.u32 %o, %i, 4; add.u64 %o, %o, %in; ld.global.u32 %v, [%o];
    shl.b32 %a, %i, 2; add.u32 %a, %a, %c; st.shared.u32 [%a], %v;
    add.u32 %i, %i, 256; setp.lt.u32 %p, %i, 1024; @%p bra FILL;
    bar.sync 0;
    {condition}
    @%p bra DONE;
    {place}
    add.u32 %a, %a, %c; add.u32 %a, %a, %more;
    {act}
DONE:
    bar.sync 0;
    mov.u32 %i, %t;
EMPTY:
    shl.b32 %a, %i, 2; add.u32 %a, %a, %c; ld.shared.u32 %v, [%a];
    mul.wide.u32 %o, %i, 4; add.u64 %o, %o, %out; st.global.u32 [%o], %v;
    add.u32 %i, %i, 256; setp.lt.u32 %p, %i, 1024; @%p bra EMPTY;
    ret;
}}
"""
CONDITIONS = {
    "first": ("setp.ge.u32 %p, %t, 8;", lambda x, y, t: t < 8),
    "one": ("setp.ne.u32 %p, %t, 5;", lambda x, y, t: t == 5),
    "of a later warp": ("add.u32 %i, %t, -70; setp.gt.u32 %p, %i, 3;", lambda x, y, t: (t >= 70) & (t < 74)),
    "of each warp": ("and.b32 %i, %t, 31; setp.ne.u32 %p, %i, 9;", lambda x, y, t: t % 32 == 9),
    "of a row": ("setp.ne.u32 %p, %x, 3;", lambda x, y, t: x == 3),
    "many": ("setp.ge.u32 %p, %t, 24;", lambda x, y, t: t < 24),
    "differing": (
        "and.b32 %i, %t, 31; shr.u32 %w, %t, 5; setp.ne.u32 %p, %i, %w;", lambda x, y, t: t % 32 == t // 32,
    ),
    "after another": (
        "setp.ge.u32 %p, %t, 8; @%p bra DONE; setp.lt.u32 %p, %t, 2;", lambda x, y, t: (t >= 2) & (t < 8),
    ),
    "of data": ("ld.global.u32 %v, [%in]; setp.ge.u32 %p, %t, %v;", lambda x, y, t: t < 6),
}  # fmt: skip
"""Where threads do nothing: `%p`; and where they do something."""
PLACES = {
    "steps": ("mul.lo.u32 %a, %t, 12;", lambda t: 12 * t),
    "back": ("mul.lo.u32 %a, %t, 8; sub.u32 %a, 2048, %a;", lambda t: 2048 - 8 * t),
    "padded": ("shr.u32 %a, %t, 2; add.u32 %a, %a, %t; shl.b32 %a, %a, 2;", lambda t: 4 * (t + t // 4)),
    "pairs": ("shr.u32 %a, %t, 1; mul.lo.u32 %a, %a, 12;", lambda t: 12 * (t // 2)),
    "in a row": ("shl.b32 %a, %t, 2;", lambda t: 4 * t),
}
ADD = "ld.shared.u32 %v, [%a]; ld.shared.u32 %w, [%a+4]; add.u32 %v, %v, %w; st.shared.u32 [%a], %v;"
BYTES = "ld.shared.u8 %v, [%a+1]; add.u32 %v, %v, %t; st.shared.u8 [%a], %v;"
NUMBER = "st.shared.u32 [%a], %t;"
SHAPES = [(256, 1), (16, 16), (64, 4), (2, 128)]


def text(condition: str, place: str, act: str) -> str:
    return KERNEL.format(condition=CONDITIONS[condition][0], place=PLACES[place][0], act=act)


def threads(shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of all threads, x, y and the number."""
    t = np.arange(shape[0] * shape[1])
    return t % shape[0], t // shape[0], t


def given() -> np.ndarray:
    data = np.random.default_rng(3).integers(0, 2**32, CELLS + 1, dtype="u4")
    data[0] = 6
    return data


def expected(shape: tuple[int, int], condition: str, place: str, act: str) -> np.ndarray:
    """All loads of a warp come before its stores, which are done in the order of lanes."""
    cells = given()[:CELLS]
    x, y, t = threads(shape)
    running = t[CONDITIONS[condition][1](x, y, t)]
    for warp in range(8):
        lanes = running[running // 32 == warp]
        places = PLACES[place][1](lanes)
        if act == BYTES:
            of_bytes = cells.view("u1")
            values = (of_bytes[places + 1] + lanes).astype("u1")
            for at, value in zip(places, values):
                of_bytes[at] = value
            continue
        values = lanes if act == NUMBER else cells[places // 4] + cells[places // 4 + 1]
        for at, value in zip(places // 4, values):
            cells[at] = value
    return cells


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("shape", "condition", "place", "act"),
    share(product(SHAPES, CONDITIONS, PLACES, (ADD, BYTES, NUMBER)), 11),
)
def test_results(engine: str, shape: tuple[int, int], condition: str, place: str, act: str) -> None:
    device = shared_device(engine)
    out = device.zeros(CELLS, "u4")
    device.load(text(condition, place, act))["k"]((1,), shape, (device.array(given()), out, 0))
    np.testing.assert_array_equal(out.numpy(), expected(shape, condition, place, act))


@pytest.mark.parametrize(("more", "thread"), [(4096 - 36, 3), (2, 0), (2**32 - 24, 0), (4096 - 4, 1)])
@pytest.mark.parametrize("act", [ADD, NUMBER], ids=["load", "store"])
def test_faults(engine: str, act: str, more: int, thread: int) -> None:
    """The first thread whose word is not there, or is misaligned, is named."""
    device, source = shared_device(engine), text("first", "steps", act)
    with pytest.raises(simt.MemoryFault) as fault:
        device.load(source)["k"]((1,), (256, 1), (device.array(given()), device.zeros(CELLS, "u4"), more))
    site, line = fault.value.site, source[: source.index(act)].count("\n") + 1
    assert (site.thread, site.line) == ((thread, 0, 0), line)
    assert fault.value.address % 2**32 == (more + 12 * thread) % 2**32


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("shape", [*SHAPES, (8, 8), (96, 1)], ids=str)
def test_known_lanes(condition: str, shape: tuple[int, int]) -> None:
    """Those that a branch on the thread's indices leaves."""
    program, _ = compile_ptx(text(condition, "steps", NUMBER), "<ptx>", DEVICES[90])
    block = BlockShape(*shape, 1)
    unit = Unit(program, program.functions["k"], block, frozenset())
    found = unit.analyse(unit.kernel)
    line = text(condition, "steps", NUMBER).split(NUMBER)[0].count("\n") + 1
    (acting,) = [b for b in found.schedule.order if any(op.line == line and op.form.effects for op in b.ops)]
    known = known_lanes(unit).of(acting)
    x, y, t = threads(shape)
    running = np.ones(len(t), bool) if condition == "of data" else CONDITIONS[condition][1](x, y, t)
    assert np.array_equal(known.of_warps.ravel()[: len(t)], running)
    assert not known.of_warps.ravel()[len(t) :].any()
    assert known.are_all == (condition != "of data")


def known_lanes(unit: Unit) -> KnownLanes:
    found, environment = unit.analyse(unit.kernel), unit.program.environment
    same, facts = found.representatives, branches_of_thread(found.ssa, found.uniformity)
    return KnownLanes(found.ssa, found.uniformity, same, facts, unit.block, environment, lambda _: 0)


NEAR_THE_END = "mov.u32 %a, {}; mad.lo.u32 %a, %t, 4, %a;"
"""Words one after the other, of which lanes that do not run would have some beyond the memory."""


@pytest.mark.parametrize("first", [4096 - 32, 4096 - 28, 4096 - 16, 4096, 2**32 - 4, 4096 - 31])
@pytest.mark.parametrize(
    "act", ["ld.shared.u32 %v, [%a]; st.shared.u32 [%c], %v;", NUMBER], ids=["load", "store"]
)
def test_ends_of_memory(engine: str, act: str, first: int) -> None:
    """Eight threads run: those that get at what is not there are found, and named."""
    device, condition = shared_device(engine), CONDITIONS["first"][0]
    source = KERNEL.replace("add.u32 %a, %a, %more;", "")
    source = source.format(condition=condition, place=NEAR_THE_END.format(first), act=act)
    out = device.zeros(CELLS, "u4")
    run = device.load(source)["k"]
    bad = [t for t in range(8) if (first + 4 * t) % 2**32 > 4096 - 4 or first % 4]
    if not bad:
        run((1,), (256, 1), (device.array(given()), out, 0))
        cells = given()[:CELLS]
        if act == NUMBER:
            cells[-8:] = np.arange(8)
        else:
            cells[0] = cells[-1]
        assert out.numpy().tolist() == cells.tolist()
        return
    with pytest.raises(simt.MemoryFault) as fault:
        run((1,), (256, 1), (device.array(given()), out, 0))
    assert fault.value.site.thread == (bad[0], 0, 0)
    assert fault.value.address % 2**32 == (first + 4 * bad[0]) % 2**32


OTHERWISE = {
    "generic": """mov.u64 %o, cells; cvta.shared.u64 %o, %o; mad.wide.u32 %o, %t, 12, %o;
        cvta.to.shared.u64 %o, %o; cvt.u32.u64 %a, %o; sub.u32 %a, %a, %c;""",
    "a number": "mul.lo.u32 %a, %t, 12; ld.shared.u32 %w, [%c]; ld.shared.u32 %w, [cells+4];",
    "halves": """.reg .u16 %h; mov.u16 %h, %tid.x; mul.wide.u16 %a, %h, 12;""",
}
"""Other ways to the place of `steps`."""


@pytest.mark.parametrize("way", OTHERWISE)
def test_other_addresses(engine: str, way: str) -> None:
    device = shared_device(engine)
    out = device.zeros(CELLS, "u4")
    source = KERNEL.format(condition=CONDITIONS["first"][0], place=OTHERWISE[way], act=ADD)
    device.load(source)["k"]((1,), (256, 1), (device.array(given()), out, 0))
    np.testing.assert_array_equal(out.numpy(), expected((256, 1), "first", "steps", ADD))


def test_idle_lanes_are_no_threads() -> None:
    """Rows of 20 threads are filled up to 32 lanes."""
    source = KERNEL.format(
        condition="and.b32 %i, %x, 7; setp.ne.u32 %p, %i, 0;", place=PLACES["steps"][0], act=NUMBER
    )
    program, _ = compile_ptx(source, "<ptx>", DEVICES[90])
    unit = Unit(program, program.functions["k"], BlockShape(32, 8, 1, threads_of_row=20), frozenset())
    line = source.split(NUMBER)[0].count("\n") + 1
    order = unit.analyse(unit.kernel).schedule.order
    (acting,) = [b for b in order if any(op.line == line and op.form.effects for op in b.ops)]
    known = known_lanes(unit).of(acting)
    assert known.numbers == (0, 8, 16)
    assert known.are_all
    assert known.are_alike


@pytest.mark.parametrize("first", [0, 4096 - 16 * 68 + 64, 4096 - 16 * 68 + 68])
def test_reach(first: int) -> None:
    """Of rows of 17 words the first lanes run; lanes that do not may be beyond the bounds."""
    place = f"mad.lo.u32 %a, %y, 68, {first}; mad.lo.u32 %a, %x, 4, %a;"
    act = "ld.shared.u32 %v, [%a+4];"
    source = KERNEL.replace("add.u32 %a, %a, %more;", "")
    source = source.format(condition="setp.ge.u32 %p, %x, 2;", place=place, act=act)
    program, _ = compile_ptx(source, "<ptx>", DEVICES[90])
    unit = Unit(program, program.functions["k"], BlockShape(16, 16, 1), frozenset())
    line = source.split(act)[0].count("\n") + 1
    order = unit.analyse(unit.kernel).schedule.order
    ((block, op),) = [(b, op) for b in order for op in b.ops if op.line == line and op.form.effects]
    assert isinstance(op, Op)
    x, y, _ = threads((16, 16))
    places = 68 * y + 4 * x + first + 4
    for more, most in ((0, places.max()), (56, places[x < 2].max()), (55, places.max())):
        found = known_lanes(unit).reach(op, block, more)
        assert found is not None
        assert (found.lo, found.hi, found.zeros) == (places.min(), most, 2)


def test_conditions_prove_addresses() -> None:
    """Loads of rows of a tree, of which lanes that do not run would have words beyond, need no check: there
    is no code for the case that one fails."""
    place = f"mad.lo.u32 %a, %y, 68, {4096 - 16 * 68}; mad.lo.u32 %a, %x, 4, %a;"
    source, loads = KERNEL.replace("add.u32 %a, %a, %more;", ""), dict[int, int]()
    for lanes in (8, 16):
        act, condition = "ld.shared.u32 %v, [%a+36];", f"setp.ge.u32 %p, %x, {lanes};"
        code = source.format(condition=condition, place=place, act=act)
        program, _ = compile_ptx(code, "<ptx>", DEVICES[90])
        features = named_cpus()["x86-64-v4"].features
        made, _, _ = emit(program, program.functions["k"], BlockShape(16, 16, 1), features, "nounwind")
        loads[lanes] = len(re.findall(r"call .*@llvm\.masked\.load", made))
    assert loads[8] < loads[16]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_few_lanes_are_served_one_by_one(condition: str) -> None:
    program, _ = compile_ptx(text(condition, "steps", ADD), "<ptx>", DEVICES[90])
    features = named_cpus()["x86-64-v4"].features | {SLOW_GATHERS}
    code, _, _ = emit(program, program.functions["k"], BlockShape(256, 1, 1), features, "nounwind")
    _, _, t = threads((256, 1))
    running = t[CONDITIONS[condition][1](t, t * 0, t)]
    few = 0 < len(set(running % 32)) <= FEW and condition not in ("of data", "differing")
    assert (re.search(r"call <\d+ x i32> @llvm\.masked\.gather|@simt\.window", code) is None) == few


def test_first_lanes_of_a_row_are_a_vector() -> None:
    """And no more, so that the next step of a tree gets it from the CPU's buffer of stores."""
    program, _ = compile_ptx(text("first", "in a row", ADD), "<ptx>", DEVICES[90])
    features = named_cpus()["x86-64-v4"].features
    code, _, _ = emit(program, program.functions["k"], BlockShape(16, 16, 1), features, "nounwind")
    assert "store <8 x i32>" in code


def test_first_lanes_of_two_rows(engine: str) -> None:
    """Words of a row of four threads are side by side, rows are 17 words apart."""
    place = "mul.lo.u32 %a, %y, 68; mad.lo.u32 %a, %x, 4, %a;"
    source = KERNEL.format(condition=CONDITIONS["first"][0], place=place, act=NUMBER)
    device, cells = shared_device(engine), given()[:CELLS]
    out = device.zeros(CELLS, "u4")
    device.load(source)["k"]((1,), (4, 64), (device.array(given()), out, 0))
    cells[:4], cells[17:21] = range(4), range(4, 8)
    np.testing.assert_array_equal(out.numpy(), cells)
