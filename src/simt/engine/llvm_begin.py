"""The lanes with which a warp begins, as LLVM IR: `%mask.initial`, given the number of its first thread."""

from __future__ import annotations

from simt.analysis.shape import WARP, BlockShape, Many
from simt.engine.abi import LaunchSlot
from simt.engine.llvm_lanes import ALL
from simt.engine.llvm_machine import WARP_FIRST
from simt.engine.llvm_masks import MASK

_VECTOR = f"<{WARP} x i32>"


def is_whole(block: BlockShape) -> bool:
    """Whether all lanes of all warps have threads."""
    in_full = block.many == Many.WHOLE or not block.joins
    return block.threads % WARP == 0 and not block.threads_of_row and in_full


def initial_mask(block: BlockShape) -> list[str]:
    row = _row(block)
    if not row:
        return _less("%mask.initial", range(WARP), "%initial.left", _left(block))
    if block.threads % WARP == 0:
        return [*row, f"  %mask.initial = and {MASK} %mask.row, {ALL}"]
    count = _less("%mask.count", range(WARP), "%initial.left", _left(block))
    return [*row, *count, f"  %mask.initial = and {MASK} %mask.count, %mask.row"]


def start_of_warp(block: BlockShape, first: str) -> list[str]:
    """To the first block of a warp, if it has threads: a grid may have but some of the CTAs taken as one."""
    if not block.joins or block.many == Many.WHOLE or block.x <= WARP:
        return [f"  br label %{first}"]
    return [
        "  %initial.some = icmp sgt i32 %initial.along, 0",
        f"  br i1 %initial.some, label %{first}, label %finished",
    ]


def _row(block: BlockShape) -> list[str]:
    """`%mask.row`: lanes that belong to a row of threads, if some do not."""
    if not block.threads_of_row and (not block.joins or block.many == Many.WHOLE):
        return []
    columns = [lane % block.x for lane in range(WARP)]
    if block.joins:
        return _less("%mask.row", columns, "%initial.along", _along(block))
    if block.x < WARP:
        lanes = ", ".join(f"i1 {int(column < block.columns)}" for column in columns)
        return [f"  %mask.row = and {MASK} <{lanes}>, {ALL}"]
    first = [
        f"  %initial.first = urem i32 {WARP_FIRST}, {block.x}",
        f"  %initial.columns = sub i32 {block.columns}, %initial.first",
    ]
    return _less("%mask.row", columns, "%initial.columns", first)


def _along(block: BlockShape) -> list[str]:
    """Threads of the CTAs that are taken as one along x, from the warp's first one on."""
    return [
        f"  %initial.grid.p = getelementptr i64, ptr %launch, i64 {LaunchSlot.GRID_COLUMNS}",
        "  %initial.grid = load i64, ptr %initial.grid.p, align 8",
        "  %initial.grid.32 = trunc i64 %initial.grid to i32",
        f"  %initial.cta = mul i32 %cta.x, {block.ctas}",
        "  %initial.rest = sub i32 %initial.grid.32, %initial.cta",
        f"  %initial.few = icmp ult i32 %initial.rest, {block.ctas}",
        f"  %initial.ctas = select i1 %initial.few, i32 %initial.rest, i32 {block.ctas}",
        f"  %initial.threads = mul i32 %initial.ctas, {block.columns}",
        f"  %initial.first = urem i32 {WARP_FIRST}, {max(block.x, WARP)}",
        "  %initial.along = sub i32 %initial.threads, %initial.first",
    ]


def _left(block: BlockShape) -> list[str]:
    """Threads from the warp's first one on: the last warp may have less than its lanes."""
    return [f"  %initial.left = sub i32 {block.threads}, {WARP_FIRST}"]


def _less(name: str, numbers: list[int] | range, limit: str, before: list[str]) -> list[str]:
    """Lanes whose number is less than a limit."""
    vector = ", ".join(f"i32 {number}" for number in numbers)
    return [
        *before,
        f"  {limit}.1 = insertelement {_VECTOR} poison, i32 {limit}, i64 0",
        f"  {limit}.all = shufflevector {_VECTOR} {limit}.1, {_VECTOR} poison, {_VECTOR} zeroinitializer",
        f"  {name} = icmp slt {_VECTOR} <{vector}>, {limit}.all",
    ]
