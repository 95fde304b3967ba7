"""Memory that code of the JIT has for itself: what reaches beyond it is told, and no code does.

Few texts are looked at here; `python -m tests.fuzz.guarded texts` looks at more, and runs them.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

import simt
from simt.engine import compile as compiling
from simt.engine.host import host_cpu
from simt.engine.library import llvm
from simt.engine.linking import link
from tests.fuzz.guard_texts import WAYS, Scan, cpus, texts
from tests.fuzz.guarded_memory import Guards
from tests.fuzz.guarding import Guarded

SURVEY = Path(__file__).resolve().parents[2] / "bench" / "survey" / "kernels"
ROOM = """
declare i32 @llvm.cttz.i32(i32, i1)
define internal void @callee(ptr %place, i64 %at) nounwind {{
  %p = getelementptr i64, ptr %place, i64 {inner}
  store i64 1, ptr %p, align 8
  ret void
}}
define i64 @f(i64 %n, i32 %bits) nounwind {{
  %room = alloca [8 x i64], align 64
  %any = and i64 %n, {mask}
  %q = getelementptr i64, ptr %room, i64 %any
  store <2 x i64> zeroinitializer, ptr %q, align 8
  %lane = call i32 @llvm.cttz.i32(i32 %bits, i1 true)
  %bytes = getelementptr i8, ptr %room, i32 %lane
  store i8 0, ptr %bytes
  call void @callee(ptr %room, i64 %n)
  %r = load i64, ptr %room, align 8
  ret i64 %r
}}
"""


def looked_at(mask: int, inner: str) -> tuple[Guarded, str, list[str]]:
    wrong = list[str]()
    made = Guarded(ROOM.format(mask=mask, inner=inner), lambda _: 1, wrong.append)
    return made, made.text(2, ends=True), wrong


def test_what_is_surely_within_its_memory() -> None:
    made, text, wrong = looked_at(3, "7")
    assert (made.open, wrong, made.guards) == ([], [], 1)
    llvm.parse_assembly(text).verify()


def test_a_store_that_may_reach_beyond() -> None:
    made, _, wrong = looked_at(7, "7")
    assert wrong == []
    assert [line.partition(":")[0] for line in made.open] == ["@f %room 64 (0, 56)"]


def test_a_callee_that_reaches_beyond() -> None:
    made, _, wrong = looked_at(3, "8")
    assert made.open == []
    assert wrong == ["@callee: parameter %place has 64 bytes: store i64 1, ptr %p, align 8"]
    made, _, wrong = looked_at(3, "%at")
    assert [line.partition(":")[0] for line in made.open] == ["@callee parameter %place 64 None"]


HIDDEN = """
define i64 @f(i64 %n, i32 %bits) nounwind {
  %room = alloca [8 x i64], align 64
  %i = ptrtoint ptr %room to i64
  %skip = mul i64 %n, 8
  %j = add i64 %i, %skip
  %q = inttoptr i64 %j to ptr
  store i64 1, ptr %q, align 8
  %r = load i64, ptr %room, align 8
  ret i64 %r
}
"""


@pytest.mark.parametrize(
    ("text", "n", "told"),
    [
        (ROOM.format(mask=7, inner="%at"), 6, ""),
        (ROOM.format(mask=7, inner="%at"), 7, "guard 1: 56 of 64 16\n"),
        (ROOM.format(mask=3, inner="%at"), 8, "guard 1: 64 of 64 8\n"),
        (HIDDEN, 7, ""),
        (HIDDEN, 8, "guard 1: 64 of 64 0\n"),
        (HIDDEN, -1, "guard 1: -8 of 64 0\n"),
    ],
)
def test_code_tells_where_it_reached_beyond(text: str, n: int, told: str, tmp_path: Path) -> None:
    numbers = list[str]()

    def note(what: str) -> int:
        numbers.append(what)
        return 1

    with (tmp_path / "told").open("w+") as file:
        made = Guarded(text, note, lambda _: None).text(file.fileno(), ends=False)
        (address,), code = link([compiling._draft(made, host_cpu())], ["f"], host_cpu())
        ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int32)(address)(n, 1)
    said = (tmp_path / "told").read_text()
    assert said.startswith(told)
    assert bool(said) == bool(told)
    assert numbers
    del code


@pytest.mark.parametrize(
    ("source", "kernel", "threads", "number", "way"),
    [("pq_scan", "pq_best", 128, 3, 1), ("spgemm", "spgemm_count", 128, 1, 0), ("regvm", "regvm", 64, 1, 2)],
)
def test_no_code_reaches_beyond_its_memory(
    source: str, kernel: str, threads: int, number: int, way: int
) -> None:
    """Kernels of the survey with much memory of their own: lines put off, lanes alone, what is spilled."""
    if number >= len(cpus()):
        pytest.skip("not x86-64")
    module, scan = simt.Device("sm_90").load(SURVEY / f"{source}.ptx"), Scan()
    for found in texts(module, [(kernel, (64, 1, 1), (threads, 1, 1))], cpus()[number], [WAYS[way]]):
        scan.look(*found)
    assert (scan.open, scan.wrong) == ({}, [])
    assert scan.checks > 0


def test_words_around_memory_that_change_are_told() -> None:
    told = list[str]()
    guards, words = Guards(told.append), np.zeros(64, np.uint8)
    guards.add(told_of := Owner(), "a block", words[32:])
    words[:32] = 1
    guards.look()
    assert told == []
    words[35] = 1
    guards.look()
    guards.look()
    assert [line.strip().partition(" was")[0] for line in told] == ["behind a block: byte 3"]
    del told_of


class Owner:
    """Who has memory."""
