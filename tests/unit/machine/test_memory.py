"""The arena: allocation, zero-filling, limits, views that outlive what they came from."""

from __future__ import annotations

import gc
import random
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simt.errors import OutOfMemory, SimtError
from simt.machine.memory import ALIGNMENT, PAGE, Arena, FreeList, parse_size

MIB = 1 << 20


@pytest.fixture
def arena() -> Arena:
    return Arena(64 * MIB)


def test_allocations_are_aligned_zero_and_inside(arena: Arena) -> None:
    for nbytes, align in ((1, 1), (100, 16), (5000, 4096)):
        address = arena.allocate(nbytes, align)
        assert address % max(align, ALIGNMENT) == 0
        assert arena.base <= address <= arena.limit - nbytes
        assert not arena.view(address, nbytes).any()


def test_first_page_of_the_reservation_is_never_accessible(arena: Arena) -> None:
    with pytest.raises(ValueError, match="not within the device's memory"):
        arena.view(arena.base - 1, 1)
    with pytest.raises(ValueError, match="not within the device's memory"):
        arena.view(arena.base + arena.size, 1)


def test_limit_is_the_highest_byte_and_only_grows(arena: Arena) -> None:
    assert arena.limit == arena.base
    address = arena.allocate(10 * PAGE)
    assert arena.limit == address + 10 * PAGE
    arena.free(address)
    assert arena.limit == address + 10 * PAGE


@pytest.mark.parametrize("nbytes", [100, 3 * MIB + 123])
def test_reused_memory_is_zero_even_after_a_wild_write(arena: Arena, nbytes: int) -> None:
    address = arena.allocate(nbytes)
    view = arena.view(address, nbytes)
    view[:] = 7
    arena.free(address)
    view[:] = 9  # what a kernel with a stale pointer does
    again = arena.allocate(nbytes)
    assert again == address
    assert not arena.view(again, nbytes).any()


def test_too_much_says_what_is_there(arena: Arena) -> None:
    arena.allocate(MIB)
    with pytest.raises(OutOfMemory) as problem:
        arena.allocate(64 * MIB)
    assert str(problem.value) == (
        "cannot allocate 67,108,864 bytes of device memory: 1,048,576 of 67,108,864 bytes are in use, "
        "the largest free block has 66,060,288"
    )


def test_freeing_what_is_not_allocated(arena: Arena) -> None:
    address = arena.allocate(1)
    arena.free(address)
    with pytest.raises(ValueError, match="no allocation begins at address"):
        arena.free(address)


def test_big_freed_blocks_return_their_pages(arena: Arena) -> None:
    address = arena.allocate(32 * MIB)
    arena.view(address, 32 * MIB)[:] = 1
    before = _resident()
    arena.free(address)
    assert before - _resident() > 16 * MIB


def _resident() -> int:
    with open("/proc/self/statm") as statistics:
        return int(statistics.read().split()[1]) * PAGE


def test_a_view_keeps_the_mapping_alive() -> None:
    arena = Arena(MIB)
    address = arena.allocate(16)
    view = arena.view(address, 16)
    del arena
    gc.collect()
    view[:] = 3
    assert view.sum() == 48


def test_low_arenas_lie_below_4_gib() -> None:
    arenas = [Arena(256 * MIB, low=True) for _ in range(3)]
    for arena in arenas:
        assert 0 < arena.base < arena.base + arena.size <= 1 << 32
        arena.view(arena.allocate(8), 8)[:] = 1


def test_a_reservation_that_cannot_be_is_made_smaller() -> None:
    arena = Arena(1 << 46)  # below the limit of x86-64's address space, above what most systems have free
    assert 16 * MIB <= arena.size <= 1 << 46
    assert not arena.view(arena.allocate(100), 100).any()


def test_allocation_from_threads() -> None:
    arena = Arena(64 * MIB)
    held: list[list[int]] = [[] for _ in range(4)]

    def work(n: int) -> None:
        chance = random.Random(n)
        for _ in range(300):
            if held[n] and chance.random() < 0.5:
                arena.free(held[n].pop())
            else:
                held[n].append(arena.allocate(chance.randrange(1, 5000)))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    addresses = [a for each in held for a in each]
    assert len(set(addresses)) == len(addresses)
    for address in addresses:
        arena.free(address)
    assert arena.used == 0


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 3000), st.sampled_from([1, 256, 1024]), st.booleans()), max_size=60))
def test_free_list_never_overlaps_and_coalesces(steps: list[tuple[int, int, bool]]) -> None:
    ranges = FreeList(1000, 40_000)
    held: dict[int, int] = {}
    for size, align, release in steps:
        if release and held:
            start = sorted(held)[size % len(held)]
            assert ranges.give(start) == held.pop(start)
            continue
        start = ranges.take(size, align)
        if start is None:
            assert not _would_fit(held, size, align)
            continue
        assert start % align == 0
        assert start >= 1000
        assert start + size <= 40_000
        assert all(start + size <= a or a + n <= start for a, n in held.items())
        held[start] = size
        assert ranges.used == sum(held.values())
    for start in list(held):
        ranges.give(start)
    assert ranges.largest == 39_000


def _would_fit(held: dict[int, int], size: int, align: int) -> bool:
    """An independent model: every byte marked, every aligned start tried."""
    taken = np.zeros(40_000, bool)
    for a, n in held.items():
        taken[a : a + n] = True
    starts = range(-(-1000 // align) * align, 40_000 - size + 1, align)
    return any(not taken[s : s + size].any() for s in starts)


@pytest.mark.parametrize(
    ("text", "size"),
    [("8GiB", 8 << 30), ("512MiB", 512 << 20), ("64k", 65536), ("1.5G", 3 << 29), ("4096", 4096), (77, 77)],
)
def test_sizes(text: str | int, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "lots", "8 bananas", "-1", 0, -5, "0GiB"])
def test_bad_sizes(text: str | int) -> None:
    with pytest.raises(SimtError, match="bad memory size"):
        parse_size(text)


def test_a_handler_of_signals_that_allocates_in_the_middle_of_an_allocation_gets_an_error(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    errors: list[str] = []
    take = FreeList.take

    def interrupted(ranges: FreeList, size: int, align: int) -> int | None:
        with pytest.raises(SimtError) as error:
            arena.allocate(1)  # as a handler would, that Python runs here on the same thread
        errors.append(str(error.value))
        return take(ranges, size, align)

    monkeypatch.setattr(FreeList, "take", interrupted)
    address = arena.allocate(10)
    assert "handler of signals" in errors[0]
    monkeypatch.undo()
    assert arena.allocate(10) != address
