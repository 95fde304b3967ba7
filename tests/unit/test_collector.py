"""Python's collector while simt imports: paused, then as it was."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest

from simt.collector import collector_paused, collector_spared


@pytest.fixture(autouse=True)
def collecting() -> Iterator[None]:
    """Tests begin with a collector that runs."""
    enabled = gc.isenabled()
    gc.unfreeze()
    gc.enable()
    yield
    gc.unfreeze()
    if not enabled:
        gc.disable()


@pytest.mark.parametrize("pause", [collector_paused, collector_spared])
def test_the_collector_runs_again_afterwards(pause: Callable[[], AbstractContextManager[None]]) -> None:
    found = dict[str, int]()
    with pytest.raises(KeyError), pause():
        found["missing"] += 1
    assert gc.isenabled()
    with pause():
        assert not gc.isenabled()
    assert gc.isenabled()
    gc.disable()
    with pause():
        pass
    assert not gc.isenabled()


def test_what_imports_make_is_old_at_once() -> None:
    with collector_spared():
        made = [[i] for i in range(10_000)]
    young = {id(o) for g in (0, 1) for o in gc.get_objects(generation=g)}
    assert young.isdisjoint(map(id, made))
    assert gc.get_freeze_count() == 0
    made.clear()


def test_cycles_among_it_are_found_later() -> None:
    class Node:
        itself: Node

        def __del__(self) -> None:
            ended.append(True)

    ended: list[bool] = []
    with collector_spared():
        node = Node()
        node.itself = node
        del node
    assert ended == []
    gc.collect()
    assert ended == [True]


def test_what_others_have_frozen_stays_so() -> None:
    gc.freeze()
    frozen = gc.get_freeze_count()
    with collector_spared():
        pass
    assert gc.get_freeze_count() == frozen > 0
