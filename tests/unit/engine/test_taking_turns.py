"""Loops over all threads of a grid, whose turns warps take together. NumPy expects."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click import unstyle
from numpy.typing import NDArray

import simt
from simt.analysis.shape import BlockShape
from simt.cli.explain import in_full
from simt.engine import llvm_groups
from simt.engine.host import host_cpu
from simt.engine.llvm_kernel import emit
from simt.tools.explain import explain
from tests.conftest import shared_device
from tests.unit.engine.coordinates import HEAD

Words = NDArray[np.uint32]
OLDER_HEAD = HEAD.replace("sm_75", "sm_35")
KERNEL = """
{before}
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)
{{
    .reg .u32 %t, %c, %w, %i, %j, %g, %n, %s, %v, %x; .reg .u64 %o, %a, %p, %d; .reg .pred %q, %r;
    .reg .f32 %f;
    {variables}
    ld.param.u64 %o, [out];
    ld.param.u64 %a, [in];
    ld.param.u32 %n, [n];
    mov.u32 %t, %tid.x;
    mov.u32 %c, %ctaid.x;
    mov.u32 %w, %ntid.x;
    mov.u32 %g, %nctaid.x;
    mad.lo.u32 %i, %c, %w, %t;
    mov.u32 %s, {step};
    mul.lo.u32 %s, %s, {times};
    mov.u32 %v, 0;
    mov.u32 %x, 0;
    setp.ge.u32 %q, %i, %n;
    @%q bra $END;
$LOOP:
    mul.wide.u32 %d, %i, 4;
    add.u64 %p, %a, %d;
    {body}
    add.u32 %i, %i, %s;
    setp.lt.u32 %q, %i, %n;
    @%q bra $LOOP;
$END:
    {after}
    ret;
}}
"""
COPY = "ld.global.u32 %j, [%p]; mad.lo.u32 %j, %j, 3, %i; add.u64 %p, %o, %d; st.global.u32 [%p], %j;"
"""Stores `3 * in[i] + i`."""
LOAD = "ld.global.u32 %j, [%p]; add.u32 %v, %v, %j;"
SUM = LOAD * 2
"""Twice the sum."""
STORE_SUM = "mad.lo.u32 %i, %c, %w, %t; mul.wide.u32 %d, %i, 4; add.u64 %p, %o, %d; st.global.u32 [%p], %v;"
"""Each thread's."""


def kernel(
    body: str = COPY,
    after: str = "",
    variables: str = "",
    step: str = "%g",
    times: str = "%w",
    before: str = "",
) -> str:
    return HEAD + KERNEL.format(
        body=body, after=after, variables=variables, step=step, times=times, before=before
    )


def takes_turns(text: str, block: tuple[int, int, int] = (128, 1, 1)) -> bool:
    program = shared_device("jit").load(text).program
    return emit(program, program.functions["k"], BlockShape(*block), host_cpu().features, "nounwind")[
        1
    ].takes_turns


WALKING = {
    "a copy": kernel(),
    "a sum": kernel(SUM, STORE_SUM),
    "an atomic sum": kernel(SUM, "red.global.add.u32 [%o], %v;"),
    "a row of an index": kernel(f"div.u32 %x, %i, %n; {SUM}", f"add.u32 %v, %v, %x; {STORE_SUM}"),
    "two elements ahead": kernel(times="2"),
    "a branch": kernel(f"setp.gt.u32 %r, %i, 40; @%r bra $L; {COPY} $L:"),
    "a break": kernel(f"{COPY} setp.gt.u32 %r, %j, 4000000000; @%r bra $END;"),
}


SPEAKING = {
    "a sum over the warp": "shfl.sync.bfly.b32 %x, %v, 16, 31, -1; add.u32 %v, %v, %x;",
    "lanes of an older GPU": "shfl.bfly.b32 %x, %v, 16, 31; add.u32 %v, %v, %x;",
    "a count of lanes": "setp.gt.u32 %r, %v, 0; vote.sync.ballot.b32 %x, %r, -1; popc.b32 %x, %x;"
    "add.u32 %v, %v, %x;",
}
"""Lanes with those of their warp, behind the loop: whoever has no turn left must wait for those that have."""
PARTING = f"{SUM} setp.gt.u32 %r, %j, 1000; @%r bra $L; add.u32 %v, %v, 1; {'not.b32 %v, %v;' * 4} $L:"
"""Adds up, and counts small words; some lanes go their own way."""
WALKING |= {name: kernel(SUM, spoken + STORE_SUM) for name, spoken in SPEAKING.items() if "older" not in name}

SECOND = """mad.lo.u32 %i, %c, %w, %t;
$MORE:
    mul.wide.u32 %d, %i, 4; add.u64 %p, %o, %d; ld.global.u32 %j, [%p];
    add.u64 %d, %a, %d; ld.global.u32 %x, [%d]; add.u32 %j, %j, %x; st.global.u32 [%p], %j;
    add.u32 %i, %i, %s; setp.lt.u32 %q, %i, %n; @%q bra $MORE;
"""
"""A loop behind the first one, which adds `in[i]`."""
TWO_LOOPS = kernel().replace("$END:", SECOND + "$END:")
WALKING["one loop behind another"] = TWO_LOOPS

STAYING = {
    "parting, then a sum over the warp": kernel(PARTING, SPEAKING["a sum over the warp"] + STORE_SUM),
    "a clock": kernel(SUM, "mov.u32 %x, %clock; add.u32 %v, %v, %x;" + STORE_SUM),
    "a step that is known": kernel(step="1"),
    "a parameter's step": kernel(step="%n"),
    "a barrier": kernel(after="bar.sync 0;"),
    "shared memory": kernel(f"{COPY} st.shared.u32 [s], %j;", variables=".shared .u32 s[1];"),
    "local memory": kernel(f"{COPY} st.local.u32 [s], %j;", variables=".local .u32 s[1];"),
    "an atomic in each turn": kernel(f"{COPY} red.global.add.u32 [%o], %j;"),
    "a volatile load": kernel("ld.volatile.global.u32 %j, [%p]; add.u32 %v, %v, %j;", STORE_SUM),
    "scattered words": kernel(f"mul.lo.u64 %d, %d, 9; add.u64 %p, %a, %d; {SUM}", STORE_SUM),
    "one array": kernel(LOAD, STORE_SUM),
    "a row of an index": kernel(f"div.u32 %v, %i, %n; {COPY}"),
    "two sums": kernel(f"{SUM} mad.lo.u32 %x, %x, %j, 5;", f"add.u32 %v, %v, %x; {STORE_SUM}"),
    "a call": kernel(
        "call (%j), f, (%i); add.u32 %v, %v, %j;" + SUM,
        before=".func (.reg .u32 r) f(.reg .u32 a) { .reg .pred p; mov.u32 r, a; setp.lt.u32 p, a, 9; @p ret;"
        "sub.u32 a, a, 1; call (r), f, (a); ret; }",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WALKING)
def test_loops_over_the_grid(name: str) -> None:
    assert takes_turns(WALKING[name])


@pytest.mark.parametrize("name", STAYING)
def test_other_loops(name: str) -> None:
    assert not takes_turns(STAYING[name])


def test_lanes_come_to_a_second_loop_together() -> None:
    """Else nothing would be known of their addresses: a lane that leaves the first one would go ahead."""
    program = shared_device("jit").load(TWO_LOOPS).program
    found = explain(program, program.functions["k"], BlockShape(128, 1, 1), "x86-64-v4").functions[0]
    assert {access.pattern for access in found.accesses if access.space == "global"} == {"contiguous"}


def test_explain_says_where_warps_make_way() -> None:
    """There is no barrier in the program: it names the loops."""
    program = shared_device("jit").load(TWO_LOOPS).program
    found = explain(program, program.functions["k"], BlockShape(128, 1, 1), "x86-64-v4")
    notes = found.functions[0].barriers
    first = [TWO_LOOPS.split("\n").index(line) + 2 for line in ("$LOOP:", "$MORE:")]
    assert sorted({note.place.line for note in notes}) == first
    assert all(note.turn for note in notes)
    assert "after each turn of this loop, warps make way for each other" in unstyle(in_full(found))


@pytest.mark.parametrize("n", [100, 128 * 9, 5000])
def test_two_loops(engine: str, n: int) -> None:
    device = shared_device(engine)
    words = np.random.default_rng(3).integers(0, 1 << 32, n, "u4")
    out, given = device.zeros(n, "u4"), device.array(words)
    device.load(TWO_LOOPS)["k"](5, 128, (out, given, n))
    np.testing.assert_array_equal(out.numpy(), words * 4 + np.arange(n, dtype="u4"))


@pytest.mark.parametrize("block", [(32, 1, 1), (16, 1, 1), (32, 4, 1), (64, 1, 2)])
def test_not_where_warps_lie_in_rows_or_alone(block: tuple[int, int, int]) -> None:
    assert not takes_turns(kernel(), block)


GRIDS = [(1, 64), (5, 64), (7, 96), (33, 128), (3, 1000), (200, 40), (1200, 64), (2, 1024)]


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("n", [0, 1, 64, 1000, 40_000])
@pytest.mark.parametrize(("ctas", "threads"), GRIDS)
def test_each_element_once(ctas: int, threads: int, n: int, workers: int) -> None:
    device = simt.Device("sm_75", engine="jit", workers=workers)
    given = np.random.default_rng(n).integers(0, 1 << 32, n + 10, "u4")
    out = device.zeros(n + 10, "u4")
    device.load(kernel())["k"](ctas, threads, (out, device.array(given), n))
    expected = given * np.uint32(3) + np.arange(n + 10, dtype="u4")
    expected[n:] = 0
    np.testing.assert_array_equal(out.numpy(), expected)


@pytest.mark.parametrize("n", [0, 100, 5000, 40_000])
@pytest.mark.parametrize(("ctas", "threads"), GRIDS)
def test_sums_of_threads(engine: str, ctas: int, threads: int, n: int) -> None:
    device, all_threads = shared_device(engine), ctas * threads
    given = np.random.default_rng(n).integers(0, 1 << 32, n, "u4")
    out = device.zeros(all_threads, "u4")
    source = device.array(given) if n else device.zeros(1, "u4")
    device.load(kernel(SUM, STORE_SUM))["k"](ctas, threads, (out, source, n))
    padded = np.zeros(-(-n // all_threads) * all_threads, "u4")
    padded[:n] = given
    np.testing.assert_array_equal(out.numpy(), padded.reshape(-1, all_threads).sum(0, dtype="u4") * 2)


@pytest.mark.parametrize("name", ["a branch", "a break", "two elements ahead"])
def test_ways_through_a_turn(engine: str, name: str) -> None:
    device, n, threads = shared_device(engine), 9000, 3 * 64
    given = np.random.default_rng(3).integers(0, 1 << 32, n, "u4")
    out = device.zeros(n, "u4")
    device.load(WALKING[name])["k"](3, 64, (out, device.array(given), n))
    i = np.arange(n, dtype="u4")
    all_of_it = given * np.uint32(3) + i
    expected = np.where(i > 40, 0, all_of_it)
    if name == "two elements ahead":  # steps of 3 * 2 from each thread's first
        expected = all_of_it
    if name == "a break":
        expected = np.zeros(n, "u4")
        for thread in range(threads):
            own = i[thread::threads]
            stops = np.flatnonzero(all_of_it[own] > 4_000_000_000)
            own = own[: stops[0] + 1] if len(stops) else own
            expected[own] = all_of_it[own]
    np.testing.assert_array_equal(out.numpy(), expected)


def sums_of_threads(given: Words) -> Words:
    """Twice what each of 512 threads adds up."""
    own = np.zeros(-(-len(given) // 512) * 512, "u4")
    own[: len(given)] = given
    return own.reshape(-1, 512).sum(0, dtype="u4") * np.uint32(2)


def test_an_atomic_sum_follows(engine: str) -> None:
    device, n = shared_device(engine), 5000
    given = np.random.default_rng(4).integers(0, 1 << 32, n, "u4")
    out = device.zeros(512, "u4")
    device.load(WALKING["an atomic sum"])["k"](4, 128, (out, device.array(given), n))
    assert out.numpy()[0] == sums_of_threads(given).sum(dtype="u4")


@pytest.mark.parametrize("n", [7, 4999, 5000, 5120])
@pytest.mark.parametrize("name", SPEAKING)
def test_lanes_that_speak_behind_the_loop(engine: str, name: str, n: int) -> None:
    """Some lanes of a warp have one turn more than the others, or all as many."""
    text = kernel(SUM, SPEAKING[name] + STORE_SUM)
    if "older" in name:
        text = text.replace(HEAD, OLDER_HEAD)
    given = np.random.default_rng(4).integers(1, 1 << 20, n, "u4")
    device = simt.Device("sm_35" if "older" in name else "sm_75", engine=engine)
    out = device.zeros(512, "u4")
    device.load(text)["k"](4, 128, (out, device.array(given), n))
    own = sums_of_threads(given)
    counted = np.repeat((own.reshape(-1, 32) > 0).sum(1, dtype="u4"), 32)
    expected = own + (counted if "count" in name else own.reshape(-1, 2, 16)[:, ::-1].ravel())
    np.testing.assert_array_equal(out.numpy(), expected)


@pytest.mark.parametrize("large", [0, 1, 3000])
def test_lanes_that_part_and_speak(engine: str, large: int) -> None:
    given = np.random.default_rng(large).integers(1, 1000, 4999, "u4")
    given[4999 - large :] += np.random.default_rng(5).integers(0, 2, large, "u4") * np.uint32(1 << 20)
    device, out = shared_device(engine), shared_device(engine).zeros(512, "u4")
    device.load(STAYING["parting, then a sum over the warp"])["k"](4, 128, (out, device.array(given), 4999))
    small = np.append(given <= 1000, np.zeros(121, bool)).reshape(-1, 512).sum(0, dtype="u4")
    own = sums_of_threads(given) + small
    np.testing.assert_array_equal(out.numpy(), own + own.reshape(-1, 2, 16)[:, ::-1].ravel())


def test_clocks_count_the_program_alone() -> None:
    found = list[Words]()
    for name in ("interpreter", "jit"):
        device = shared_device(name)
        out = device.zeros(512, "u4")
        device.load(STAYING["a clock"])["k"](4, 128, (out, device.array(np.zeros(4999, "u4")), 4999))
        found.append(out.numpy())
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("bad", [0, 37, 640, 5555, 8999])
def test_faults_name_the_thread(engine: str, bad: int, workers: int) -> None:
    device = simt.Device("sm_75", engine=engine, workers=workers)
    wild = f"setp.eq.u32 %r, %i, {bad}; @%r mov.u64 %p, 64; ld.global.u32 %j, [%p];"
    text = kernel(COPY + wild)
    assert takes_turns(text, (64, 1, 1))
    with pytest.raises(simt.KernelFault) as caught:
        device.load(text)["k"](5, 64, (device.zeros(9000, "u4"), device.zeros(9000, "u4"), 9000))
    thread = bad % (5 * 64)
    assert (caught.value.site.cta, caught.value.site.thread) == ((thread // 64, 0, 0), (thread % 64, 0, 0))


def test_endless_loops_are_stopped() -> None:
    device = simt.Device("sm_75", engine="jit", timeout=0.3)
    text = kernel(f"{COPY} sub.u32 %i, %i, %s;")
    with pytest.raises(simt.LaunchTimeout):
        device.load(text)["k"](3, 64, (device.zeros(500, "u4"), device.zeros(500, "u4"), 400))


def test_progress_counts_all_ctas() -> None:
    device, told = simt.Device("sm_75", engine="jit", workers=1), list[int]()
    ctas = 3 * llvm_groups.size(BlockShape(64, 1, 1)) + 5
    run = device.load(kernel())["k"]
    run.launch(ctas, 64, (device.zeros(9000, "u4"), device.zeros(9000, "u4"), 9000), progress=told.append)
    assert told[-1] == ctas


@pytest.mark.parametrize("rows", [1, 4])
@pytest.mark.parametrize("warps", [1, 3, 32, 33, 128])
def test_groups_have_room(warps: int, rows: int) -> None:
    count = llvm_groups.size(BlockShape(32 * warps, rows, 1))
    assert count >= 1
    assert count * warps * rows <= max(llvm_groups.WARPS, warps * rows)
    assert count * warps * rows <= llvm_groups.STATES_IN_ALL


def test_grids_of_several_rows(engine: str) -> None:
    """Every row of the grid goes through all elements, and stores the same."""
    device, n = shared_device(engine), 3000
    given = np.random.default_rng(5).integers(0, 1 << 32, n, "u4")
    out = device.zeros(n, "u4")
    device.load(kernel())["k"]((7, 3, 2), 64, (out, device.array(given), n))
    np.testing.assert_array_equal(out.numpy(), given * np.uint32(3) + np.arange(n, dtype="u4"))


def test_code_from_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMT_CACHE_DIR", str(tmp_path))
    given = np.arange(5000, dtype="u4")
    for _ in range(2):
        device = simt.Device("sm_75", engine="jit")
        out = device.zeros(5000, "u4")
        device.load(kernel())["k"](600, 64, (out, device.array(given), 5000))
        np.testing.assert_array_equal(out.numpy(), given * np.uint32(4))
