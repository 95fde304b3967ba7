"""Barriers with numbers, thread counts and reductions, as functions in LLVM IR.

Each CTA has a table of 16 barriers. A warp that arrives adds its lanes to the barrier's entry; when no
warp of the CTA can run, `complete` finds the barriers at which enough threads have arrived and opens
them. Kernels with nothing but `bar.sync` of all threads at one barrier need no table.
"""

from __future__ import annotations

from simt.analysis.outline import BARRIERS
from simt.engine.llvm_builder import ModuleText

ENTRY_BYTES = 32
TABLE_BYTES = BARRIERS * ENTRY_BYTES


class Entry:
    """Byte offsets of the 32-bit fields of a table entry."""

    ARRIVED = 0  # threads
    EXPECTED = 4  # threads; 0: all threads that have not ended
    VOTES = 8  # threads that brought a true predicate
    VOTERS = 12
    RESULT_VOTES = 16  # of the last completion
    RESULT_VOTERS = 20
    OPEN = 24  # 1: warps that wait here may go on


class Context:
    """Byte offsets in the header of a warp's saved context."""

    STATE = 0  # 0: not begun, -1: ended, else the number of the suspension
    BARRIERS = 4  # at which lanes of the warp wait: a bit for each
    LINE = 8  # of the instruction at which it waits


def arrive(module: ModuleText) -> str:
    """`void arrive(table, number, expected, threads, votes, voters)`."""
    name = "simt.barrier.arrive"
    if not module.has(name):
        module.define(name, _ARRIVE.format(name=name, attributes=module.attributes, **_offsets()))
    return f"@{name}"


def complete(module: ModuleText) -> str:
    """`i32 complete(contexts, stride, warps, table, spinning)`: opens complete barriers.

    The result is -1, or the number of a warp that waits in vain. While warps are `spinning`, nothing is
    complete: all barriers are closed."""
    name = "simt.barrier.complete"
    module.declare("llvm.ctpop.i32", "i32", ("i32",))
    module.declare("llvm.cttz.i32", "i32", ("i32", "i1"))
    if not module.has(name):
        module.define(name, _COMPLETE.format(name=name, attributes=module.attributes, **_offsets()))
    return f"@{name}"


def _offsets() -> dict[str, int]:
    return {name: offset for name, offset in vars(Entry).items() if name.isupper()} | {
        "SIZE": ENTRY_BYTES, "BARRIERS": BARRIERS, "AT": Context.BARRIERS,
    }  # fmt: skip


_ARRIVE = """\
define internal void @{name}(ptr %table, i32 %number, i32 %expected, i32 %threads, i32 %votes, i32 %voters) {attributes} {{
  %skip = mul i32 %number, {SIZE}
  %entry.p = getelementptr i8, ptr %table, i32 %skip
  %arrived.p = getelementptr i8, ptr %entry.p, i64 {ARRIVED}
  %arrived = load i32, ptr %arrived.p
  %arrived.new = add i32 %arrived, %threads
  store i32 %arrived.new, ptr %arrived.p
  %expected.p = getelementptr i8, ptr %entry.p, i64 {EXPECTED}
  store i32 %expected, ptr %expected.p
  %votes.p = getelementptr i8, ptr %entry.p, i64 {VOTES}
  %votes.old = load i32, ptr %votes.p
  %votes.new = add i32 %votes.old, %votes
  store i32 %votes.new, ptr %votes.p
  %voters.p = getelementptr i8, ptr %entry.p, i64 {VOTERS}
  %voters.old = load i32, ptr %voters.p
  %voters.new = add i32 %voters.old, %voters
  store i32 %voters.new, ptr %voters.p
  ret void
}}"""  # noqa: E501

_COMPLETE = """\
define internal i32 @{name}(ptr %contexts, i64 %stride, i32 %warps, ptr %table, i1 %spinning) {attributes} {{
entry:
  br label %close
close:
  %c = phi i32 [ 0, %entry ], [ %c.next, %close ]
  %c.skip = mul i32 %c, {SIZE}
  %c.p = getelementptr i8, ptr %table, i32 %c.skip
  %c.open = getelementptr i8, ptr %c.p, i64 {OPEN}
  store i32 0, ptr %c.open
  %c.next = add i32 %c, 1
  %c.more = icmp ult i32 %c.next, {BARRIERS}
  br i1 %c.more, label %close, label %closed
closed:
  br i1 %spinning, label %fine, label %look
look:
  %w = phi i32 [ 0, %closed ], [ %w.next, %looked ]
  %waiting = phi i32 [ 0, %closed ], [ %waiting.next, %looked ]
  %first = phi i32 [ -1, %closed ], [ %first.next, %looked ]
  %w.wide = zext i32 %w to i64
  %w.skip = mul i64 %w.wide, %stride
  %w.p = getelementptr i8, ptr %contexts, i64 %w.skip
  %state = load i32, ptr %w.p
  %waits = icmp sgt i32 %state, 0
  br i1 %waits, label %note, label %looked
note:
  %at.p = getelementptr i8, ptr %w.p, i64 {AT}
  %at = load i32, ptr %at.p
  %waiting.with = or i32 %waiting, %at
  %none.yet = icmp eq i32 %first, -1
  %first.new = select i1 %none.yet, i32 %w, i32 %first
  br label %looked
looked:
  %waiting.next = phi i32 [ %waiting, %look ], [ %waiting.with, %note ]
  %first.next = phi i32 [ %first, %look ], [ %first.new, %note ]
  %w.next = add i32 %w, 1
  %w.more = icmp ult i32 %w.next, %warps
  br i1 %w.more, label %look, label %judge
judge:
  %kinds = call i32 @llvm.ctpop.i32(i32 %waiting.next)
  %alone = icmp eq i32 %kinds, 1
  br label %each
each:
  %left = phi i32 [ %waiting.next, %judge ], [ %left.next, %eached ]
  %opened = phi i32 [ 0, %judge ], [ %opened.next, %eached ]
  %none = icmp eq i32 %left, 0
  br i1 %none, label %judged, label %one
one:
  %b = call i32 @llvm.cttz.i32(i32 %left, i1 false)
  %left.below = sub i32 %left, 1
  %left.next = and i32 %left, %left.below
  %b.skip = mul i32 %b, {SIZE}
  %b.p = getelementptr i8, ptr %table, i32 %b.skip
  %arrived.p = getelementptr i8, ptr %b.p, i64 {ARRIVED}
  %arrived = load i32, ptr %arrived.p
  %expected.p = getelementptr i8, ptr %b.p, i64 {EXPECTED}
  %expected = load i32, ptr %expected.p
  %all = icmp eq i32 %expected, 0
  %enough = icmp uge i32 %arrived, %expected
  %ready = select i1 %all, i1 %alone, i1 %enough
  br i1 %ready, label %open, label %eached
open:
  %votes.p = getelementptr i8, ptr %b.p, i64 {VOTES}
  %votes = load i32, ptr %votes.p
  %voters.p = getelementptr i8, ptr %b.p, i64 {VOTERS}
  %voters = load i32, ptr %voters.p
  %votes.out = getelementptr i8, ptr %b.p, i64 {RESULT_VOTES}
  store i32 %votes, ptr %votes.out
  %voters.out = getelementptr i8, ptr %b.p, i64 {RESULT_VOTERS}
  store i32 %voters, ptr %voters.out
  store i32 0, ptr %arrived.p
  store i32 0, ptr %expected.p
  store i32 0, ptr %votes.p
  store i32 0, ptr %voters.p
  %open.p = getelementptr i8, ptr %b.p, i64 {OPEN}
  store i32 1, ptr %open.p
  br label %eached
eached:
  %opened.next = phi i32 [ %opened, %one ], [ 1, %open ]
  br label %each
judged:
  %some = icmp ne i32 %opened, 0
  br i1 %some, label %fine, label %vain
vain:
  ret i32 %first.next
fine:
  ret i32 -1
}}"""
