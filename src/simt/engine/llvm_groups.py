"""The order in which a worker runs warps that make way after each turn of a loop: see
`simt.analysis.taking_turns`.

The warps of many CTAs side by side take a turn, one after the other, then all of them the next: so they walk
through memory in one stream. Of CTAs of several rows, the first row of all of them comes before the second.
Nothing is shared by a CTA there, so that CTAs need not end one by one. Each warp has a context of its own,
and what it holds is of use from the second round on.
"""

from __future__ import annotations

from simt.analysis.joined import MOST_WARPS
from simt.analysis.shape import BlockShape
from simt.engine import llvm_strips

WARPS = 512
"""In a group, at most: what they put aside stays in the second cache."""
WARPS_IN_ROWS = 128
"""The same of CTAs of several rows: lines that they share with rows above and below are to stay there too."""
AGAIN = "%again"
"""Whether warps have run before and go on where they made way."""
SLOT = "%context.slot"
"""The number of a warp's context."""


STATE = "%state.p"
"""Where it is noted how a warp goes on: close together, as nothing else is said of those that have ended."""
STATES_IN_ALL = max(WARPS, MOST_WARPS)
"""A CTA may have more warps than a group needs to have."""
STATES = f"  %states = alloca [{STATES_IN_ALL} x i32], align 64"


def size(block: BlockShape) -> int:
    """CTAs in a group."""
    return max(1, (WARPS if block.linear else WARPS_IN_ROWS) // block.warps)


def names_of_warp() -> list[str]:
    return [
        f"  {SLOT} = add i64 %group.slot, %warp.wide",
        f"  {STATE} = getelementptr i32, ptr %states, i64 {SLOT}",
    ]


def loops(block: BlockShape, check: list[str], warp: list[str]) -> list[str]:
    """From `chunk.begin` to the next chunk. `check`: goes to `cta.run`, or leaves the kernel. `warp`: the
    code of a warp, from its names on to `finished`."""
    warps, ctas = block.warps, size(block)
    in_row = warps // llvm_strips.rows(block)
    return [
        "cta.check:",
        "  %group = phi i64 [ %first, %chunk.begin ], [ %group.next, %group.end ]",
        *(
            f"  %group.{c} = phi i32 [ %first.{c}.32, %chunk.begin ], [ %cta.{c}.next, %group.end ]"
            for c in "xyz"
        ),
        *check,
        "cta.run:",
        "  %group.left = sub i64 %chunk.end, %group",
        f"  %group.short = icmp ult i64 %group.left, {ctas}",
        f"  %group.ctas = select i1 %group.short, i64 %group.left, i64 {ctas}",
        "  br label %phase",
        "phase:",
        f"  {AGAIN} = phi i1 [ false, %cta.run ], [ true, %phase.end ]",
        "  store i32 0, ptr %waiting",
        "  br label %row.head",
        "row.head:",
        "  %row = phi i32 [ 0, %phase ], [ %row.end, %row.done ]",
        f"  %row.end = add i32 %row, {in_row}",
        "  br label %cta.head",
        "cta.head:",
        "  %across = phi i64 [ 0, %row.head ], [ %across.next, %cta.end ]",
        *(f"  %cta.{c} = phi i32 [ %group.{c}, %row.head ], [ %cta.{c}.next, %cta.end ]" for c in "xyz"),
        "  %cta = add i64 %group, %across",
        "  store i64 %cta, ptr %cta.slot",
        f"  %group.slot = mul i64 %across, {warps}",
        "  br label %warp.head",
        "warp.head:",
        "  %warp = phi i32 [ %row, %cta.head ], [ %warp.next, %warp.done ]",
        *warp,
        "warp.done:",
        "  %warp.next = add i32 %warp, 1",
        "  %warp.more = icmp ult i32 %warp.next, %row.end",
        "  br i1 %warp.more, label %warp.head, label %cta.end",
        "cta.end:",
        "  %cta.x.1 = add i32 %cta.x, 1",
        "  %x.ends = icmp eq i32 %cta.x.1, %grid.x.32",
        "  %cta.x.next = select i1 %x.ends, i32 0, i32 %cta.x.1",
        *llvm_strips.next_row(),
        "  %across.next = add i64 %across, 1",
        "  %across.more = icmp ult i64 %across.next, %group.ctas",
        "  br i1 %across.more, label %cta.head, label %row.done",
        "row.done:",
        f"  %row.more = icmp ult i32 %row.end, {warps}",
        "  br i1 %row.more, label %row.head, label %phase.end",
        *_ENDS,
    ]


_ENDS = (
    "phase.end:",
    "  %some.wait = load i32, ptr %waiting",
    "  %some = icmp ne i32 %some.wait, 0",
    "  br i1 %some, label %phase, label %group.end",
    "group.end:",
    "  %count = load i64, ptr %count.p",
    "  %count.1 = add i64 %count, %group.ctas",
    "  store i64 %count.1, ptr %count.p",
    "  %group.next = add i64 %group, %group.ctas",
    "  %chunk.goes = icmp ult i64 %group.next, %chunk.end",
    "  br i1 %chunk.goes, label %cta.check, label %chunk.next",
)
"""When all warps of a group have had a turn."""
