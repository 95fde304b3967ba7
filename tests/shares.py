"""What a plain run takes of many tests that are alike. With SIMT_HW_ALL=1 in the environment: all."""

from __future__ import annotations

import os
import zlib
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

ALL = bool(os.environ.get("SIMT_HW_ALL"))

BETWEEN = ("x86-64-v2", "x86-64-v4")
"""What SSE2 and AVX2 alone lack is what code has to do without: these two, and this machine, which is mostly
one of them, run a share of the tests that run on every CPU."""
STEP_BETWEEN = 3

STEP_MADE_WELL, STEP_SIMPLY = 8, 3
"""One of so many of a file's tests with parameters runs on code as users have it in the end, the others on
code as its first version is if it is long; of these, one of so many of each test on code that is emitted
simply, too."""

STEP_INTERPRETED = 2
"""One of so many combinations that a plain run takes on compiled code is taken into account for the
interpreter, and one of so many of those it runs: it goes through all instructions in one way, whatever the
shapes for which code is made in different ways."""

TURNS = 5
"""Of what is left a run of all tests takes one of so many combinations of each test that compiles or
launches, on each engine: by turns, as the package's text says, so that a change of it brings other ones."""
BY_TURNS = (
    "bench", "cpus", "filetests", "fuzz", "hw", "oracle", "parity", "programs", "property",
    "unit/driver", "unit/engine",
)  # fmt: skip
"""Folders of tests that take turns."""

FEW, MANY = 8, 32
"""Of less combinations than the first a plain run takes all, of as many as the second a smaller share."""


def _alike(_: Any) -> Hashable:
    return None


def share(
    items: Iterable[T],
    step: int,
    kind: Callable[[T], Hashable] = _alike,
    all_: bool = ALL,
    turn: int = 0,
) -> list[T]:
    """One of so many items of each kind, and at least one; kinds begin at different places, so that what
    differs within a kind is met, too. Always the same ones at a turn, in their order."""
    found = list(items)
    if all_ or step == 1:
        return found
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for place, item in enumerate(found):
        groups[kind(item)].append(place)
    taken = [
        group[(rank + turn) % min(step, len(group)) :: step] for rank, group in enumerate(groups.values())
    ]
    return [found[place] for place in sorted(p for places in taken for p in places)]


def turn_of(folder: Path) -> int:
    """Which turn it is, by all Python in a folder."""
    texts = [path.read_bytes() for path in sorted(folder.rglob("*.py"))]
    return zlib.crc32(b"".join(texts))


def step_of_product(combinations: Sequence[Mapping[str, object]]) -> int:
    """One of how many combinations of parameters' values a plain run takes of a test that does not say it."""
    columns = [{repr(row[name]) for row in combinations} for name in combinations[0]]
    if sum(len(values) > 1 for values in columns) < 2:
        return 1
    step = 1 if len(combinations) < FEW else 2 if len(combinations) < MANY else 3
    return step * STEP_INTERPRETED if combinations[0].get("engine") == "interpreter" else step


def share_of_product(combinations: Sequence[Mapping[str, object]], step: int, all_: bool = ALL) -> set[int]:
    """Numbers of the combinations of parameters' values to take: about one of so many, and every value of
    each parameter. They are chosen by the sum of the values' places, so that values of two parameters meet
    evenly; and of these only as many as it takes for each two to meet that meet in any."""
    if all_ or step == 1:
        return set(range(len(combinations)))
    places = _places(combinations)
    columns = {tuple(place[name] for place in places) for name in places[0]}  # some go in step
    taken = {number for number, row in enumerate(zip(*columns)) if sum(row) % step == 0}
    seen = {pair for number in taken for pair in places[number].items()}
    for number, place in enumerate(places):
        if not seen.issuperset(place.items()):
            taken.add(number)
            seen.update(place.items())
    return _that_meet(
        {number: {*combinations_with_replacement(places[number].items(), 2)} for number in taken}
    )


def _that_meet(pairs: dict[int, set[Hashable]]) -> set[int]:
    """So many of the combinations that every pair of values is there: the one with most new ones first."""
    left, taken = dict(pairs), set[int]()
    while left:
        number = max(left, key=lambda n: (len(left[n]), -n))
        new = left.pop(number)
        if not new:
            break
        taken.add(number)
        left = {n: others - new for n, others in left.items()}
    return taken


def _places(combinations: Iterable[Mapping[str, object]]) -> list[dict[str, int]]:
    """For each value, how many others of its parameter came before it."""
    orders: dict[str, dict[str, int]] = defaultdict(dict)
    return [
        {name: orders[name].setdefault(repr(value), len(orders[name])) for name, value in values.items()}
        for values in combinations
    ]
