"""The order in which a worker runs warps of neighbouring CTAs, where no thread can tell.

CTAs of several rows of threads, one after the other, walk through a matrix in columns: each warp's row lies
far from the last one's, often by a power of two, for which caches have few places and take one address for
another. Code in which rows are the outer loop and CTAs the inner one walks along the rows: the first row of
threads of some CTAs side by side, then the second row of all of them. What depends on the row alone is
computed once for them all.

Where CTAs have one row, the next CTA's data mostly begin where this one's end, and a kernel that loads and
stores goes through memory page by page. Some CPUs get more out of memory if several pages take turns: there
CTAs of a strip do that lie apart (`APART`).

It is right for kernels whose warps do not speak with each other: without barriers, shared memory, atomics,
fences, volatile accesses and calls.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from simt.analysis.shape import WARP, BlockShape
from simt.engine.host import PAGES_APART
from simt.engine.llvm_scopes import ROLLED
from simt.engine.llvm_series import FIRST_CTA, FIRST_THREAD, TURN
from simt.records import dataclass

if TYPE_CHECKING:
    from simt.engine.llvm_idle import IdleCtas

STRIP = 64
"""CTAs side by side, at most: what their rows share is to stay in the first cache."""
APART = 4
"""CTAs of a strip that take turns, as far from each other as can be. On an Intel Sapphire Rapids a saxpy of
16M takes 0.93 of the time; 2 gain half of that, 8 no more."""
LEAST_APART = 2
"""Warps of a CTA from which they do."""
_DEFINITION = re.compile(r"  %\S+ = ")
_NAME = re.compile(r"%[\w.]+")
_LABEL = re.compile(r"^(\S+):$", re.MULTILINE)


def rows(block: BlockShape) -> int:
    """Rows of warps in a CTA; 1 if a warp's threads do not lie side by side."""
    if block.linear or not block.rows_fit or block.x == 1:
        return 1
    return block.warps if block.segments > 1 and not block.is_cut else block.y * block.z


@dataclass(frozen=True)
class Sure:
    """Code for the first warps of a row, for which all is well (`simt.engine.llvm_series`). `ahead`: computes
    for how many, `turns`. `warp`: from the warp's names on to `finished`. Needs an i64 at `%sure.p`.
    `has_edge`: nothing is told of the first CTA of a row of the grid."""

    ahead: list[str]
    turns: str
    warp: list[str]
    has_edge: bool


def loops(
    block: BlockShape, check: Callable[[str], list[str]], warp: list[str], sure: Sure | None,
    idle: IdleCtas | None, features: frozenset[str],
) -> list[str]:  # fmt: skip
    """From `chunk.begin` to the next chunk. `check`: goes to a label, or leaves the kernel. `warp`: the code
    of a warp, from its names on to `finished`. `idle`: tells which CTAs do nothing. `features`: the CPU's."""
    across = block.warps // rows(block)
    apart = PAGES_APART in features and rows(block) == 1 and across >= LEAST_APART
    if sure is None:
        row = [
            "  br label %cta.head",
            *_row_of_warps(across, warp, "0", "%strip.ctas", "row.head", "row.end"),
        ]
    else:
        row = _with_sure(across, warp, sure, apart)
    return [
        "cta.check:",
        "  %strip.cta = phi i64 [ %first, %chunk.begin ], [ %strip.cta.next, %strip.end ]",
        "  %strip.x = phi i32 [ %first.x.32, %chunk.begin ], [ %strip.x.next, %strip.end ]",
        "  %cta.y = phi i32 [ %first.y.32, %chunk.begin ], [ %cta.y.next, %strip.end ]",
        "  %cta.z = phi i32 [ %first.z.32, %chunk.begin ], [ %cta.z.next, %strip.end ]",
        "  %strip.left = sub i64 %chunk.end, %strip.cta",
        "  %strip.row = sub i32 %grid.x.32, %strip.x",
        "  %strip.room = zext i32 %strip.row to i64",
        *_least("strip.most", "%strip.left", "%strip.room"),
        *_least("strip.ctas" if idle is None else "strip.all", "%strip.most", str(STRIP)),
        *(check("cta.run") if idle is None else [*check("strip.try"), *_busy(idle)]),
        "cta.run:",
        "  br label %row.head",
        "row.head:",
        "  %row = phi i32 [ 0, %cta.run ], [ %row.next, %row.end ]",
        f"  %row.warp = mul i32 %row, {across}",
        f"  {FIRST_THREAD} = mul i32 %row.warp, {WARP}",
        *row,
        *_after_row(block),
    ]


def _busy(idle: IdleCtas) -> list[str]:
    """Leaves the strip out if all of its CTAs are idle. If one half of them is, or the first one, it is cut
    to the first half, again and again; to one if threads of that end (so that all is well in those after)."""

    def told(name: str, first: str, last: str) -> list[str]:
        return idle.lines(name, (first, "%cta.y", "%cta.z"), (last, "%cta.y", "%cta.z"))

    return [
        "strip.try:",
        "  br label %strip.part",
        "strip.part:",
        "  %strip.ctas = phi i64 [ %strip.all, %strip.try ], [ %strip.less, %strip.cut ]",
        "  %strip.count = trunc i64 %strip.ctas to i32",
        "  %strip.after = add i32 %strip.x, %strip.count",
        "  %strip.last = sub i32 %strip.after, 1",
        *told("idle", "%strip.x", "%strip.last"),
        "  br i1 %idle, label %strip.end, label %strip.busy",
        "strip.busy:",
        "  %strip.half = lshr i64 %strip.ctas, 1",
        "  %strip.has.halves = icmp ne i64 %strip.half, 0",
        "  br i1 %strip.has.halves, label %strip.halves, label %cta.run",
        "strip.halves:",
        "  %strip.half.count = trunc i64 %strip.half to i32",
        "  %strip.upper = add i32 %strip.x, %strip.half.count",
        "  %strip.lower = sub i32 %strip.upper, 1",
        *told("idle.lower", "%strip.x", "%strip.lower"),
        *told("idle.upper", "%strip.upper", "%strip.last"),
        *told("idle.first", "%strip.x", "%strip.x"),
        "  %strip.begins.idle = or i1 %idle.lower, %idle.first",
        "  %strip.parts = or i1 %idle.upper, %strip.begins.idle",
        "  %strip.less = select i1 %strip.parts, i64 %strip.half, i64 1",
        "  %strip.goes = xor i1 %strip.parts, true",
        "  %strip.whole = and i1 %strip.goes, %idle.first.all",
        "  br i1 %strip.whole, label %cta.run, label %strip.cut",
        "strip.cut:",
        "  br label %strip.part",
    ]


def _with_sure(across: int, warp: list[str], sure: Sure, apart: bool) -> list[str]:
    """A row where code for warps for which all is well stands between two parts of the usual code. `apart`:
    CTAs of a strip for which it is take turns."""
    begins = "%strip.x, 0" if sure.has_edge else "0, 1"
    return [
        f"  %sure.after.edge = icmp eq i32 {begins}",
        "  %sure.begin = zext i1 %sure.after.edge to i64",
        "  %sure.begin.32 = zext i1 %sure.after.edge to i32",
        f"  {FIRST_CTA} = add i32 %strip.x, %sure.begin.32",
        *sure.ahead,
        f"  %sure.whole = udiv i64 {sure.turns}, {across}",
        "  %sure.room = sub i64 %strip.ctas, %sure.begin",
        *_least("sure.least", "%sure.whole", "%sure.room"),
        "  store volatile i64 %sure.least, ptr %sure.p",  # LLVM would compute it anew for each loop
        "  %sure.ctas = load volatile i64, ptr %sure.p",
        *(_around(across, warp, sure) if sure.has_edge else _before(across, warp, sure, apart)),
    ]


def _before(across: int, warp: list[str], sure: Sure, apart: bool) -> list[str]:
    """First the warps for which all is well, then the others."""
    after = f"row.rest{ROLLED}"
    first = _row_of_warps(across, sure.warp, "0", "%sure.ctas", "row.head", after, apart=apart)
    return [
        "  %sure.some = icmp ne i64 %sure.ctas, 0",
        "  br i1 %sure.some, label %cta.head.sure, label %row.rest",
        *renamed(first),
        "row.rest:",
        "  %rest.some = icmp ult i64 %sure.ctas, %strip.ctas",
        "  br i1 %rest.some, label %cta.head, label %row.end",
        *_row_of_warps(across, warp, "%sure.ctas", "%strip.ctas", "row.rest", "row.end"),
    ]


def _around(across: int, warp: list[str], sure: Sure) -> list[str]:
    """The same after the usual code for the first CTA of the grid's row."""
    sure_row = _row_of_warps(
        across, sure.warp, "%sure.begin", "%sure.end", "row.middle", f"row.rest{ROLLED}", "%sure.begin"
    )
    return [
        "  %sure.end = add i64 %sure.begin, %sure.ctas",
        "  %sure.some = icmp ne i64 %sure.ctas, 0",
        "  %usual.first = select i1 %sure.some, i64 %sure.begin, i64 %strip.ctas",
        "  br label %row.usual",
        "row.usual:",
        "  %usual.from = phi i64 [ 0, %row.head ], [ %sure.end, %row.rest ]",
        "  %usual.until = phi i64 [ %usual.first, %row.head ], [ %strip.ctas, %row.rest ]",
        "  %usual.some = icmp ult i64 %usual.from, %usual.until",
        "  br i1 %usual.some, label %cta.head, label %row.middle",
        *_row_of_warps(across, warp, "%usual.from", "%usual.until", "row.usual", "row.middle"),
        "row.middle:",
        "  %middle.more = icmp ult i64 %usual.until, %strip.ctas",
        "  br i1 %middle.more, label %cta.head.sure, label %row.end",
        *renamed(sure_row),
        "row.rest:",
        "  br label %row.usual",
    ]


def _row_of_warps(
    across: int, warp: list[str], first: str, end: str, before: str, after: str, begin: str = "0",
    apart: bool = False,
) -> list[str]:  # fmt: skip
    """The warps of a row of the CTAs from `first` to `end`. `before` and `after`: labels. `begin`: the CTA
    whose warp has the number 0. `apart`: CTAs of a whole strip take turns."""
    return [
        "cta.head:",
        f"  %across.turn = phi i64 [ {first}, %{before} ], [ %across.next, %cta.done ]",
        *(_apart(end) if apart else ["  %across = add i64 %across.turn, 0"]),
        "  %cta = add i64 %strip.cta, %across",
        "  store i64 %cta, ptr %cta.slot",
        "  %across.32 = trunc i64 %across to i32",
        "  %cta.x = add i32 %strip.x, %across.32",
        "  br label %warp.head",
        "warp.head:",
        "  %column = phi i32 [ 0, %cta.head ], [ %column.next, %warp.done ]",
        "  %warp = add i32 %row.warp, %column",
        f"  %turn.ctas = sub i64 %across, {begin}",
        f"  %turn.cta = mul i64 %turn.ctas, {across}",
        "  %turn.column = zext i32 %column to i64",
        f"  {TURN} = add i64 %turn.cta, %turn.column",
        *warp,
        "warp.done:",
        "  %column.next = add i32 %column, 1",
        f"  %column.more = icmp ult i32 %column.next, {across}",
        "  br i1 %column.more, label %warp.head, label %cta.done",
        "cta.done:",
        "  %across.next = add i64 %across.turn, 1",
        f"  %across.more = icmp ult i64 %across.next, {end}",
        f"  br i1 %across.more, label %cta.head, label %{after}",
    ]


def _apart(ctas: str) -> list[str]:
    """The CTA of a turn: of a strip's quarters, each has its first one, then each its second one."""
    return [
        f"  %across.all = icmp eq i64 {ctas}, {STRIP}",
        f"  %across.part = and i64 %across.turn, {APART - 1}",
        f"  %across.skip = mul i64 %across.part, {STRIP // APART}",
        f"  %across.in = lshr i64 %across.turn, {APART.bit_length() - 1}",
        "  %across.apart = add i64 %across.skip, %across.in",
        "  %across = select i1 %across.all, i64 %across.apart, i64 %across.turn",
    ]


def renamed(lines: list[str], suffix: str = "sure") -> list[str]:
    """Lines in which all that they define has another name than the same elsewhere."""
    made = {line.split()[0] for line in lines if _DEFINITION.match(line)}
    made |= {f"%{line[:-1]}" for line in lines if line.endswith(":")}
    text = _NAME.sub(lambda name: f"{name[0]}.{suffix}" if name[0] in made else name[0], "\n".join(lines))
    return _LABEL.sub(rf"\1.{suffix}:", text).split("\n")


def _after_row(block: BlockShape) -> list[str]:
    return [
        "row.end:",
        "  %row.next = add i32 %row, 1",
        f"  %row.more = icmp ult i32 %row.next, {rows(block)}",
        "  br i1 %row.more, label %row.head, label %strip.end",
        "strip.end:",
        "  %count = load i64, ptr %count.p",
        "  %count.1 = add i64 %count, %strip.ctas",
        "  store i64 %count.1, ptr %count.p",
        "  %strip.cta.next = add i64 %strip.cta, %strip.ctas",
        "  %strip.ctas.32 = trunc i64 %strip.ctas to i32",
        "  %strip.x.1 = add i32 %strip.x, %strip.ctas.32",
        "  %x.ends = icmp eq i32 %strip.x.1, %grid.x.32",
        "  %strip.x.next = select i1 %x.ends, i32 0, i32 %strip.x.1",
        *next_row(),
        "  %chunk.goes = icmp ult i64 %strip.cta.next, %chunk.end",
        "  br i1 %chunk.goes, label %cta.check, label %chunk.next",
    ]


def _least(name: str, a: str, b: str) -> list[str]:
    return [
        f"  %{name}.less = icmp ult i64 {a}, {b}",
        f"  %{name} = select i1 %{name}.less, i64 {a}, i64 {b}",
    ]


def next_row() -> list[str]:
    """The next CTA's other coordinates, where `%x.ends` says whether a row of the grid has ended."""
    return [
        "  %y.step = zext i1 %x.ends to i32",
        "  %cta.y.1 = add i32 %cta.y, %y.step",
        "  %y.ends = icmp eq i32 %cta.y.1, %grid.y.32",
        "  %cta.y.next = select i1 %y.ends, i32 0, i32 %cta.y.1",
        "  %z.step = zext i1 %y.ends to i32",
        "  %cta.z.next = add i32 %cta.z, %z.step",
    ]
