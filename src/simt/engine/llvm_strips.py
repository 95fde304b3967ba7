"""The order in which a worker runs warps of neighbouring CTAs, where no thread can tell.

CTAs of several rows of threads, one after the other, walk through a matrix in columns: each warp's row lies
far from the last one's, often by a power of two, for which caches have few places and take one address for
another. Code in which rows are the outer loop and CTAs the inner one walks along the rows: the first row of
threads of some CTAs side by side, then the second row of all of them. What depends on the row alone is
computed once for them all.

It is right for kernels whose warps do not speak with each other: without barriers, shared memory, atomics,
fences, volatile accesses and calls.
"""

from __future__ import annotations

from simt.analysis.shape import BlockShape

STRIP = 32
"""CTAs side by side, at most: what their rows share is to stay in the first cache."""


def rows(block: BlockShape) -> int:
    """Rows of warps in a CTA; 1 if a warp's threads do not lie side by side."""
    if block.linear or not block.rows_fit or block.x == 1:
        return 1
    return block.warps if block.segments > 1 else block.y * block.z


def begin(block: BlockShape, check: list[str]) -> list[str]:
    """From `chunk.begin` to `warp.head`. `check`: goes to `cta.run`, or leaves the kernel."""
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
        *_least("strip.ctas", "%strip.most", str(STRIP)),
        *check,
        "cta.run:",
        "  br label %row.head",
        "row.head:",
        "  %row = phi i32 [ 0, %cta.run ], [ %row.next, %row.end ]",
        f"  %row.warp = mul i32 %row, {block.warps // rows(block)}",
        "  br label %cta.head",
        "cta.head:",
        "  %across = phi i64 [ 0, %row.head ], [ %across.next, %cta.done ]",
        "  %cta = add i64 %strip.cta, %across",
        "  store i64 %cta, ptr %cta.slot",
        "  %across.32 = trunc i64 %across to i32",
        "  %cta.x = add i32 %strip.x, %across.32",
        "  br label %warp.head",
        "warp.head:",
        "  %column = phi i32 [ 0, %cta.head ], [ %column.next, %warp.done ]",
        "  %warp = add i32 %row.warp, %column",
    ]


def _least(name: str, a: str, b: str) -> list[str]:
    return [
        f"  %{name}.less = icmp ult i64 {a}, {b}",
        f"  %{name} = select i1 %{name}.less, i64 {a}, i64 {b}",
    ]


def end(block: BlockShape) -> list[str]:
    """From `warp.done` to the next chunk."""
    return [
        "warp.done:",
        "  %column.next = add i32 %column, 1",
        f"  %column.more = icmp ult i32 %column.next, {block.warps // rows(block)}",
        "  br i1 %column.more, label %warp.head, label %cta.done",
        "cta.done:",
        "  %across.next = add i64 %across, 1",
        "  %across.more = icmp ult i64 %across.next, %strip.ctas",
        "  br i1 %across.more, label %cta.head, label %row.end",
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
