"""What a plain run takes of many tests that are alike. With SIMT_HW_ALL=1 in the environment: all."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

T = TypeVar("T")

ALL = bool(os.environ.get("SIMT_HW_ALL"))

BETWEEN = ("x86-64-v2", "x86-64-v4")
"""What SSE2 and AVX2 alone lack is what code has to do without: these two, and this machine, which is mostly
one of them, run a share of the tests that run on every CPU."""
STEP_BETWEEN = 3


def _alike(_: Any) -> Hashable:
    return None


def share(items: Iterable[T], step: int, kind: Callable[[T], Hashable] = _alike, all_: bool = ALL) -> list[T]:
    """One of so many items of each kind, and at least one; kinds begin at different places, so that what
    differs within a kind is met, too. Always the same ones, in their order."""
    found = list(items)
    if all_ or step == 1:
        return found
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for place, item in enumerate(found):
        groups[kind(item)].append(place)
    taken = [group[rank % min(step, len(group)) :: step] for rank, group in enumerate(groups.values())]
    return [found[place] for place in sorted(p for places in taken for p in places)]
