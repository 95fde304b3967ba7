"""CTAs whose rows are no whole warps and are joined along x, where threads only count themselves in the
grid's row. NumPy expects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from click import unstyle

import simt
from simt.analysis.joined import MOST_WARPS, asked, joined
from simt.analysis.outline import Function, Program
from simt.analysis.shape import BlockShape, Many
from simt.cli.explain import as_json, in_full
from simt.engine.host import host_cpu
from simt.engine.jit import Jit
from simt.engine.llvm_kernel import emit
from simt.engine.made import Compiled
from simt.engine.prepared import Prepared
from simt.tools.explain import explain
from tests.conftest import shared_device
from tests.unit.engine.coordinates import BAD, BY_COLUMN, BY_ROW, HEAD, check_fault, expected, kernel, wild

COUNTS = """.visible .entry k(.param .u64 out, .param .u32 n)
{{
    .reg .u32 %t, %c, %w, %i, %x, %y, %n; .reg .u16 %h; .reg .u64 %o, %d, %e; .reg .f32 %f; .reg .pred %q;
    {variables}
    ld.param.u64 %o, [out];
    ld.param.u32 %n, [n];
    mov.u32 %t, %tid.x;
    mov.u32 %c, %ctaid.x;
    mov.u32 %w, %ntid.x;
    {index}
    setp.ge.u32 %q, %i, %n;
    @%q bra $END;
    mul.wide.u32 %d, %i, 4;
    add.u64 %o, %o, %d;
    {change}
    st.global.u32 [%o], %i;
$END:
    ret;
}}
"""
"""Each thread stores its number."""
PLAIN = "mad.lo.u32 %i, %c, %w, %t;"


def counts(index: str = PLAIN, change: str = "", variables: str = "") -> str:
    return HEAD + COUNTS.format(index=index, change=change, variables=variables)


def asked_for(text: str, block: tuple[int, ...], grid_x: int) -> BlockShape:
    extents = (*block, 1, 1)[:3]
    return asked(extents, (grid_x, 1, 1), shared_device("jit").load(text).program.functions["k"])


def shape_of(text: str, block: tuple[int, ...], grid_x: int = 32) -> BlockShape:
    program = shared_device("jit").load(text).program
    return explain(program, program.functions["k"], asked_for(text, block, grid_x), "x86-64-v4").block


@pytest.mark.parametrize(
    ("block", "ctas"),
    [((2,), 16), ((4, 4), 8), ((8, 8), 4), ((16, 16), 2), ((3, 3), 32), ((10, 10), 16), ((48, 4), 2)],
)
def test_as_many_as_make_whole_warps(block: tuple[int, ...], ctas: int) -> None:
    shape = joined(asked_for(counts(), block, 3 * ctas))
    assert shape is not None
    assert (shape.ctas, shape.columns, shape.x % 32) == (ctas, block[0], 0)
    assert shape.many == Many.WHOLE
    assert shape.warps <= MOST_WARPS


@pytest.mark.parametrize(
    ("block", "grid_x", "many"),
    [
        ((4, 4), 8, Many.WHOLE),
        ((4, 4), 9, Many.SOME),
        ((4, 4), 3, Many.NO),
        ((16, 16), 9, Many.SOME),
        ((16, 16), 7, Many.NO),
        ((8, 8), 13, Many.SOME),
        ((8, 8), 5, Many.NO),
        ((16, 16), 10, Many.WHOLE),
        ((10, 10), 50, Many.SOME),
        ((10, 10), 5, Many.SOME),
        ((20, 20), 25, Many.SOME),
        ((20, 20), 2, Many.NO),
        ((32, 8), 64, Many.NO),
        ((256,), 64, Many.NO),
        ((30, 30), 16, Many.NO),
    ],
)
def test_where_lanes_would_not_idle_more(block: tuple[int, ...], grid_x: int, many: Many) -> None:
    assert asked_for(counts(), block, grid_x).many == many


def test_not_with_shared_memory() -> None:
    text = counts(change="st.shared.u32 [t], %i;", variables=".shared .u32 t[4];")
    assert not asked_for(text, (4, 4), 8).many


@pytest.mark.share(2)
@pytest.mark.parametrize("index", [BY_ROW, BY_COLUMN])
@pytest.mark.parametrize("shape", [(33, 70), (64, 64), (16, 1), (640, 9)])
@pytest.mark.parametrize(
    "block", [(2, 1), (4, 4), (8, 8), (3, 3), (10, 10), (7, 2), (20, 20), (48, 4), (12, 5)]
)
def test_threads_find_their_own_coordinates(
    engine: str, block: tuple[int, int], shape: tuple[int, int], index: str
) -> None:
    device, text = shared_device(engine), kernel(index, cta="")
    table = np.random.default_rng(5).integers(0, 1 << 32, shape, "u4")
    given = table.T if index is BY_ROW else table
    out, source = device.zeros(given.shape, "u4"), device.array(np.ascontiguousarray(given))
    grid = -(-shape[0] // block[0]), -(-shape[1] // block[1])
    device.load(text)["k"](grid, block, (out, source, *shape))
    found = out.numpy().T if index is BY_ROW else out.numpy()
    np.testing.assert_array_equal(found, expected(table, block, grid, cta=""))


@pytest.mark.parametrize("block", [(2, 1), (4, 4), (3, 3), (10, 10), (20, 20), (48, 4), (2, 2, 2)])
def test_what_goes_along_rows_is_joined(block: tuple[int, ...]) -> None:
    text = kernel(BY_ROW, cta="")
    assert shape_of(text, block).joins
    assert not shape_of(text, block, 1).joins
    assert not shape_of(kernel(BY_ROW), block).joins  # it reads %ctaid.x


INDICES = {
    "product and sum": "mul.lo.u32 %i, %c, %w; add.u32 %i, %i, %t;",
    "shift": "shl.b32 %i, %c, 2; add.u32 %i, %t, %i;",
    "known width": "mad.lo.u32 %i, %c, 4, %t;",
    "64 bits": "mul.wide.u32 %d, %c, %w; cvt.u64.u32 %e, %t; add.u64 %d, %d, %e; cvt.u32.u64 %i, %d;",
    "signed 64 bits": "cvt.s64.s32 %e, %t; mad.wide.s32 %d, %c, 4, %e; cvt.u32.u64 %i, %d;",
    "thrice": "mul.lo.u32 %x, %t, 3; mad.lo.u32 %i, %c, 12, %x; mul.hi.u32 %i, %i, 0x55555556;",
    "from the end": "sub.u32 %x, 7, %t; shl.b32 %y, %c, 2; sub.u32 %x, %x, %y; sub.u32 %i, 7, %x;",
    "a loop": (
        "mad.lo.u32 %i, %c, %w, %t; mov.u32 %x, 0; $L: add.u32 %i, %i, 1; add.u32 %x, %x, 1;"
        "setp.lt.u32 %q, %x, 5; @%q bra $L; sub.u32 %i, %i, 5;"
    ),
}


@pytest.mark.parametrize("threads", [128, 99, 1001])
@pytest.mark.parametrize("name", INDICES)
def test_numbers_however_they_are_computed(engine: str, name: str, threads: int) -> None:
    text, device = counts(INDICES[name]), shared_device(engine)
    assert shape_of(text, (4,)).joins
    out = device.zeros(1100, "u4")
    device.load(text)["k"](-(-threads // 4), 4, (out, threads))
    np.testing.assert_array_equal(out.numpy(), np.where(np.arange(1100) < threads, np.arange(1100), 0))


TELLING = {
    "a thread's own number": "add.u32 %i, %i, %t;",
    "its CTA's": "add.u32 %i, %i, %c;",
    "stored": "st.global.u32 [%o], %t;",
    "loaded from": "cvt.u64.u32 %d, %t; mul.lo.u64 %d, %d, 0; add.u64 %d, %d, %o; cvt.u64.u32 %e, %t;"
    "add.u64 %d, %d, %e; ld.global.u8 %h, [%d];",
    "compared": "setp.eq.u32 %q, %t, 0; @%q add.u32 %i, %i, 1;",
    "its low bits": "and.b32 %x, %t, 3; add.u32 %i, %i, %x;",
    "its high bits": "shr.u32 %x, %c, 1; add.u32 %i, %i, %x;",
    "as a real number": "cvt.rn.f32.u32 %f, %t; cvt.rzi.u32.f32 %x, %f; add.u32 %i, %i, %x;",
    "another multiple": "mad.lo.u32 %x, %c, 5, %t; add.u32 %i, %i, %x;",
    "its square": "mad.lo.u32 %i, %t, %t, %i;",
    "a minimum": "min.u32 %x, %t, 2; add.u32 %i, %i, %x;",
    "a quotient": "div.u32 %x, %c, 3; add.u32 %i, %i, %x;",
    "a choice": "setp.gt.u32 %q, %n, 3; selp.u32 %x, %t, %c, %q; add.u32 %i, %i, %x;",
    "a guard": "setp.gt.u32 %q, %n, 3; mov.u32 %x, 0; @%q mov.u32 %x, %t; add.u32 %i, %i, %x;",
    "a sum in a loop": "mov.u32 %x, %t; $L: add.u32 %x, %x, 1; setp.lt.u32 %q, %x, 40; @%q bra $L;",
    "a width that wraps": "cvt.u16.u32 %h, %c; cvt.u32.u16 %x, %h; mad.lo.u32 %i, %x, %w, %t;",
}


@pytest.mark.parametrize("name", TELLING)
def test_not_where_threads_may_tell(name: str) -> None:
    assert shape_of(counts(), (4,)).joins
    assert not shape_of(counts(change=TELLING[name]), (4,)).joins


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("block", [(4, 4), (8, 5), (10, 10), (3, 2)])
@pytest.mark.parametrize("bad", BAD)
def test_faults_name_the_thread(
    engine: str, bad: tuple[int, int], block: tuple[int, int], workers: int
) -> None:
    text = kernel(BY_ROW, wild(bad), cta="")
    assert shape_of(text, block, 32).joins
    check_fault(simt.Device("sm_90", workers=workers, engine=engine), text, block, bad)


def test_the_lowest_of_several_faults(engine: str) -> None:
    device = simt.Device("sm_75", engine=engine, workers=1)
    text = counts(change="setp.ge.u32 %q, %i, 150; @%q mov.u64 %o, 64;")
    with pytest.raises(simt.KernelFault) as caught:
        device.load(text)["k"](64, 4, (device.zeros(256, "u4"), 256))
    assert (caught.value.site.cta, caught.value.site.thread) == ((37, 0, 0), (2, 0, 0))


def test_idle_lanes_touch_nothing() -> None:
    """Threads beyond the grid's end would store beyond the array."""
    device = simt.Device("sm_75", engine="jit", memory="1MiB")
    run = device.load(counts())["k"]
    assert shape_of(counts(), (4,), 9).many == Many.SOME
    out = device.zeros(37, "u4")
    run(9, 4, (out, 1000))
    np.testing.assert_array_equal(out.numpy(), [*range(36), 0])


@pytest.mark.parametrize("ctas", [3, 33, 40, 63, 64])
@pytest.mark.parametrize("large", [False, True])
def test_warps_without_threads_do_nothing(large: bool, ctas: int, request: pytest.FixtureRequest) -> None:
    """32 CTAs of 3 threads are three warps; the last CTAs of a grid may be less."""
    if large:
        request.getfixturevalue("all_large")
    device = simt.Device("sm_75", engine="jit")
    text = counts(change="@!%q ld.global.u32 %x, [%o]; add.u32 %i, %i, %x; div.u32 %i, %i, 1;")
    out = device.zeros(400, "u4")
    device.load(text)["k"](ctas, 3, (out, 400))
    np.testing.assert_array_equal(out.numpy(), np.where(np.arange(400) < 3 * ctas, np.arange(400), 0))


@pytest.mark.parametrize(("threads", "ctas", "asks"), [(3, 33, True), (3, 64, False), (4, 9, False)])
def test_warps_ask_whether_they_have_threads(threads: int, ctas: int, asks: bool) -> None:
    """Of rows of several warps, where the grid may have but some of the CTAs. (That such warps have stored
    once is what a program in `tests/property/test_indices.py` shows.)"""
    program = shared_device("jit").load(counts()).program
    shape = asked_for(counts(), (threads,), ctas)
    text, unit, _ = emit(program, program.functions["k"], shape, host_cpu().features, "nounwind")
    assert unit.block.joins
    assert ("%initial.some" in text) == asks


def test_grids_of_all_sizes_take_turns() -> None:
    """They have code of three kinds, also where compiled code makes launches once more."""
    device = simt.Device("sm_75", engine="jit", workers=1)
    run = device.load(counts())["k"]
    out, made = device.zeros(1000, "u4"), dict[int, set[int]]()
    for ctas in [64] * 4 + [5] * 4 + [1] * 4 + [63, 64, 65, 8, 3, 2, 1, 16, 100, 104]:
        for _ in range(3):
            out.numpy()[:] = 0
            run(ctas, 4, (out, 1000))
            np.testing.assert_array_equal(out.numpy()[: 4 * ctas], np.arange(4 * ctas))
            assert not out.numpy()[4 * ctas :].any()
        ((launch,),) = run.module.launches.values()
        assert isinstance(launch.state, Prepared)
        block = launch.state.compiled.block
        made.setdefault(block.many, set()).add(block.ctas)
    assert made == {Many.WHOLE: {8}, Many.SOME: {8}, Many.NO: {1}}


def test_kernels_that_are_never_joined_are_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    device, made = simt.Device("sm_75", engine="jit", workers=1), list[BlockShape]()
    assert isinstance(device.engine, Jit)
    compile_one = device.engine.compiler.compile

    def watched(program: Program, kernel: Function, block: BlockShape, *more: Any) -> Compiled:
        made.append(block)
        return compile_one(program, kernel, block, *more)

    monkeypatch.setattr(device.engine.compiler, "compile", watched)
    run = device.load(counts(change="st.global.u32 [%o], %t;"))["k"]
    out = device.zeros(1000, "u4")
    for ctas in (64, 3, 63, 64, 1, 8):
        run(ctas, 4, (out, 1000))
    assert [block.many for block in made] == [Many.WHOLE]


def test_the_explanation_says_so() -> None:
    program = shared_device("jit").load(counts()).program
    function = program.functions["k"]
    notes = explain(program, function, asked((4, 4, 1), (16, 1, 1), function), "x86-64-v4")
    assert "block 4x4: machine code for 4 warps for 8 CTAs side by side" in unstyle(in_full(notes))
    assert as_json(notes)["block"] == {"x": 4, "y": 4, "z": 1}
    assert as_json(notes)["joined"] == 8
