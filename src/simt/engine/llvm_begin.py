"""The lanes with which a warp begins, as LLVM IR: `%mask.initial`, given the number of its first thread."""

from __future__ import annotations

from simt.analysis.shape import WARP, BlockShape
from simt.engine.llvm_machine import WARP_FIRST
from simt.engine.llvm_masks import MASK

_VECTOR = f"<{WARP} x i32>"


def is_whole(block: BlockShape) -> bool:
    """Whether all lanes of all warps have threads."""
    return block.threads % WARP == 0 and not block.threads_of_row


def initial_mask(block: BlockShape) -> list[str]:
    if not block.threads_of_row:
        return _less("%mask.initial", range(WARP), "%left", _left(block))
    columns = [lane % block.x for lane in range(WARP)]
    if block.x > WARP:  # each row has several warps
        first = [
            f"  %initial.first = urem i32 {WARP_FIRST}, {block.x}",
            f"  %initial.left = sub i32 {block.columns}, %initial.first",
        ]
        return _less("%mask.initial", columns, "%initial.left", first)
    lanes = ", ".join(f"i1 {int(column < block.columns)}" for column in columns)
    if block.threads % WARP == 0:
        return [f"  %mask.initial = or {MASK} <{lanes}>, zeroinitializer"]
    count = _less("%mask.count", range(WARP), "%left", _left(block))
    return [*count, f"  %mask.initial = and {MASK} %mask.count, <{lanes}>"]


def _left(block: BlockShape) -> list[str]:
    """Threads from the warp's first one on: the last warp may have less than its lanes."""
    return [f"  %left = sub i32 {block.threads}, {WARP_FIRST}"]


def _less(name: str, numbers: list[int] | range, limit: str, before: list[str]) -> list[str]:
    """Lanes whose number is less than a limit."""
    vector = ", ".join(f"i32 {number}" for number in numbers)
    return [
        *before,
        f"  {limit}.1 = insertelement {_VECTOR} poison, i32 {limit}, i64 0",
        f"  {limit}.all = shufflevector {_VECTOR} {limit}.1, {_VECTOR} poison, {_VECTOR} zeroinitializer",
        f"  {name} = icmp slt {_VECTOR} <{vector}>, {limit}.all",
    ]
