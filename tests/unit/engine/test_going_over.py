"""Launches that begin with a draft and end with better code: each CTA runs once, however they count them."""

from __future__ import annotations

import time
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine import compile as compiling
from simt.engine import drafts, going_over
from simt.engine.drafts import MAKING
from simt.engine.going_over import SOME, aligned, may_go_over, ranges, run_first
from simt.engine.jit import Jit
from simt.machine.launch import Dim3, Launch
from tests.unit.engine.code_made import counting
from tests.unit.engine.coordinates import BAD, BY_COLUMN, BY_ROW, HEAD, check_fault, expected, kernel, wild

OPS = 10
FUNCTION: Any = type("Function", (), {"blocks": [type("Block", (), {"ops": [None] * (OPS - 1)})]})
AGAIN = "ld.global.u32 %s, [%o];"
"""Results are added to what was there: a CTA that runs twice, or not at all, shows."""


class Runs:
    """CTAs of a launch, of which the draft takes `each` nanoseconds. `done`: as many as it ran."""

    def __init__(self, ctas: int, each: float, threads: int = 1) -> None:
        self.each, self.parts = each, list[tuple[int, int]]()
        self.done = run_first(self.run, ctas, threads, FUNCTION)

    def run(self, first: int, last: int) -> int:
        assert first == (self.parts[-1][1] if self.parts else 0) < last
        self.parts.append((first, last))
        return round(self.each * (last - first))


@pytest.mark.parametrize("threads", [1, 2, 16])
@pytest.mark.parametrize("ctas", [1, 8, 100, 65_536])
def test_a_short_launch_ends_with_the_draft(ctas: int, threads: int) -> None:
    runs = Runs(ctas, MAKING * OPS / ctas, threads)
    assert runs.done == ctas
    assert len(runs.parts) <= 1 + ctas.bit_length()


@pytest.mark.parametrize("each", [10_000, MAKING, 1000 * MAKING])
def test_a_long_one_leaves_most_to_better_code(each: int) -> None:
    runs = Runs(100_000, each)
    assert runs.done * each <= max(each, 4 * SOME)


def test_what_is_long_is_seen_as_it_comes() -> None:
    """Where the first CTAs do nothing."""

    def run(first: int, last: int) -> int:
        return sum(1 if cta < 1000 else MAKING for cta in range(first, last))

    assert 1000 < run_first(run, 10_000, 1, FUNCTION) < 3000


def ctas_of(first: int, last: int, grid: Dim3, block: BlockShape) -> Counter[Dim3]:
    """The CTAs of the program that code runs, by how it counts them."""
    x, y, _ = block.grid(grid)
    found = Counter[Dim3]()
    for unit in range(first, last):
        plane, place = divmod(unit, x * y)
        column, row = divmod(place, y) if block.turned else reversed(divmod(place, x))
        ctas = range(column * block.ctas, min((column + 1) * block.ctas, grid[0]))
        found.update((cta, row, plane) for cta in ctas)
    return found


@pytest.mark.parametrize("better", [(1, False), (2, False), (4, False), (32, False), (1, True)])
@pytest.mark.parametrize("grid", [(1, 1, 1), (37, 1, 1), (8, 3, 1), (5, 4, 3), (3, 1, 4), (33, 2, 2)])
def test_both_run_all_ctas_once(grid: Dim3, better: tuple[int, bool]) -> None:
    ctas, turned = better
    draft, code = BlockShape(4, 4, 1), BlockShape(4 * ctas, 4, 1, ctas=ctas, turned=turned)
    everything = Counter(product(*map(range, grid)))
    x, y, z = grid
    assert may_go_over(draft, code)
    for done in range(1, x * y * z + 1):
        end = aligned(done, grid, draft, code)
        assert done <= end <= min(x * y * z, done + (x if turned else ctas) - 1)
        found = ctas_of(0, end, grid, draft)
        for first, last in ranges(end, grid, draft, code):
            assert first < last
            found += ctas_of(first, last, grid, code)
        assert found == everything


def test_drafts_that_are_no_plain_code_go_over_to_such_alone() -> None:
    plain, turned, joined = (
        BlockShape(8, 8, 1),
        BlockShape(8, 8, 1, turned=True),
        BlockShape(32, 8, 1, ctas=4),
    )
    assert [may_go_over(turned, code) for code in (plain, turned, joined)] == [False, True, False]
    assert [may_go_over(joined, code) for code in (plain, turned, joined)] == [False, False, True]
    assert ranges(aligned(5, (9, 9, 1), joined, joined), (9, 9, 1), joined, joined) == [(5, 27)]


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Counter[str]:
    """Every kernel begins with a draft in the simplest form, and goes over as soon as it may. How many times
    code of each kind was made."""
    counts = counting(monkeypatch)
    monkeypatch.setenv("SIMT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("SIMT_DRAFTS", raising=False)
    for name, value in (("OPS", 0), ("MOST_OPS", 1 << 60), ("SHORT", 1 << 60), ("ENOUGH", 1 << 60)):
        monkeypatch.setattr(drafts, name, value)
    monkeypatch.setattr(drafts.Terms, "allow_all", lambda _, extent, __: extent == extent.uncut)
    monkeypatch.setattr(drafts, "MAKING", 0)
    monkeypatch.setattr(going_over, "SOME", 0)
    return counts


def device_of(workers: int, timeout: float | None = None) -> simt.Device:
    return simt.Device("sm_90", engine="jit", memory="64MiB", timeout=timeout, workers=workers)


@pytest.fixture
def blocks(monkeypatch: pytest.MonkeyPatch) -> list[BlockShape]:
    """How code counted CTAs that a launch went over to."""
    found, go_on = list[BlockShape](), Jit._go_on  # pyright: ignore[reportPrivateUsage]

    def noted(jit: Jit, launch: Launch, better: Any, left: Any) -> None:
        found.append(better.block)
        go_on(jit, launch, better, left)

    monkeypatch.setattr(Jit, "_go_on", noted)
    return found


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    ("index", "block", "shape", "way"),
    [
        (BY_ROW, (32, 4), (320, 60), "plain"),
        (BY_ROW, (256, 1), (5000, 3), "plain"),
        (BY_COLUMN, (16, 16), (170, 200), "turned"),
        (BY_ROW, (1, 1), (200, 3), "joined"),
        (BY_ROW, (4, 4), (99, 50), "joined"),
    ],
)
def test_each_cta_runs_once(
    index: str,
    block: tuple[int, int],
    shape: tuple[int, int],
    way: str,
    workers: int,
    cut: Counter[str],
    blocks: list[BlockShape],
) -> None:
    device = device_of(workers)
    code, table = device.load(kernel(index, AGAIN, cta=""))["k"], np.arange(shape[0] * shape[1], dtype="u4")
    table = table.reshape(shape) * np.uint32(2654435761)
    grid = -(-shape[0] // block[0]), -(-shape[1] // block[1])
    laid = table if index == BY_COLUMN else np.ascontiguousarray(table.T)
    out, given, wanted = device.zeros(laid.shape, "u4"), device.array(laid), expected(table, block, grid, "")
    for times in range(1, 4):
        code(grid, block, (out, given, *shape))
        found = out.numpy() if index == BY_COLUMN else out.numpy().T
        np.testing.assert_array_equal(found, (times * wanted).astype("u4"))
    assert cut == {"_draft": 1, "_objects": 1}
    assert ["turned" if b.turned else "joined" if b.joins else "plain" for b in blocks] == [way]


@pytest.mark.parametrize("bad", BAD)
def test_a_fault_in_either_part_names_its_thread(bad: tuple[int, int], cut: Counter[str]) -> None:
    device = device_of(1)
    check_fault(device, kernel(change=wild(bad)), (4, 4), bad)
    assert cut["_draft"] == 1
    assert cut["_objects"] == (bad != (0, 0)), "the first CTA is the draft's"


ADD = (
    HEAD
    + """
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);
.global .u32 flag;
.visible .entry k(.param .u64 a)
{
    .reg .b64 %a; .reg .b32 %v, %c; .reg .pred %p;
    ld.param.u64 %a, [a]; mov.u32 %c, %ctaid.x; mov.u32 %v, %tid.x; setp.ne.u32 %p, %v, 0;
    @%p ret;
    WHAT
    atom.global.add.u32 %v, [%a], 1;
    ret;
}
"""
)
WAIT = """setp.ne.u32 %p, %c, 9; @!%p st.volatile.global.u32 [flag], 1;
    L: ld.volatile.global.u32 %v, [flag]; setp.eq.u32 %p, %v, 0; @%p bra L;"""
PRINT = """{ .param .b32 r; .param .b64 f; .param .b64 v; .reg .b64 %f;
    mov.u64 %f, 0; setp.eq.u32 %p, %c, 99; @!%p bra L;
    st.param.b64 [f], %f; st.param.b64 [v], %f; call.uni (r), vprintf, (f, v); L: }"""


@pytest.mark.parametrize(
    ("what", "made"),
    [("", {"_draft": 1, "_objects": 1}), (WAIT, {"_draft": 1}), (PRINT, {"_draft": 1})],
    ids=["plain", "wait", "print"],
)
def test_ctas_that_wait_for_each_other_or_call_the_system_are_not_cut(
    what: str, made: dict[str, int], cut: Counter[str], blocks: list[BlockShape]
) -> None:
    """The first CTA waits for one that better code would run."""
    device = device_of(1, timeout=20)
    count = device.zeros(1, "u4")
    device.load(ADD.replace("WHAT", what))["k"](10, 32, (count,))
    assert count.numpy()[0] == 10
    assert +cut == Counter(made)
    assert len(blocks) == (len(made) - 1)


@pytest.mark.parametrize("index", [BY_ROW, BY_COLUMN], ids=["plain", "turned"])
def test_progress_goes_on(index: str, cut: Counter[str], blocks: list[BlockShape]) -> None:
    device, told, n = device_of(2), list[int](), 160
    out, given = device.zeros((n, n), "u4"), device.zeros((n, n), "u4")
    code = device.load(kernel(index))["k"]
    code.launch((10, 10), (16, 16), (out, given, n, n), progress=told.append)
    assert told[-1] == 100
    assert told == sorted(told)
    assert [block.turned for block in blocks] == [index == BY_COLUMN]


def test_time_to_compile_does_not_count(cut: Counter[str], monkeypatch: pytest.MonkeyPatch) -> None:
    device = device_of(1, timeout=1)
    code, objects = device.load(ADD.replace("WHAT", ""))["k"], compiling._objects  # pyright: ignore[reportPrivateUsage]

    def slow(*given: Any) -> Any:
        time.sleep(1.5)
        return objects(*given)

    monkeypatch.setattr(compiling, "_objects", slow)
    count = device.zeros(1, "u4")
    code(10, 32, (count,))
    assert count.numpy()[0] == 10
    assert cut["_objects"] == 1


def test_where_better_code_cannot_be_made_the_draft_goes_on(
    cut: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiling, "_apart", lambda *_: compiling.nested_lines(None))
    device = device_of(2)
    code, count = device.load(ADD.replace("WHAT", ""))["k"], device.zeros(1, "u4")
    with pytest.warns(simt.CompilerWarning, match="keeps the code that was made quickly"):
        code(10, 32, (count,))
    code(10, 32, (count,))
    assert count.numpy()[0] == 20
    assert +cut == {"_draft": 1}
