"""The heap of `malloc`."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from simt.machine.heap import Heap
from simt.machine.memory import Arena

MEMORY = Arena(16 << 20)
SIZE = 4096


def heap() -> Heap:
    return Heap(MEMORY, SIZE)


@given(
    st.lists(st.tuples(st.integers(0, 900), st.sampled_from([1, 16, 64, 256]), st.booleans()), max_size=60)
)
def test_blocks_are_aligned_and_apart(steps: list[tuple[int, int, bool]]) -> None:
    tested, blocks = heap(), dict[int, int]()
    for size, align, give in steps:
        if give and blocks:
            address, _ = blocks.popitem()
            assert tested.free(address)
            assert not tested.free(address)
        found = tested.allocate(size, align)
        if found == 0:
            continue
        assert found % max(align, 16) == 0
        assert all(found + max(size, 1) <= a or a + s <= found for a, s in blocks.items())
        blocks[found] = max(size, 1)
    if blocks:
        assert max(a + s for a, s in blocks.items()) - min(blocks) <= SIZE
    for address in blocks:
        assert tested.free(address)
    assert tested.used == 0


def test_exhaustion_gives_null_and_freeing_helps() -> None:
    tested = heap()
    assert tested.allocate(SIZE + 1) == 0
    whole = tested.allocate(SIZE)
    assert whole
    assert tested.allocate(0) == 0
    assert tested.free(whole)
    assert tested.allocate(0) != tested.allocate(0)


def test_only_starts_of_blocks_are_freed() -> None:
    tested = heap()
    block = tested.allocate(100)
    assert not tested.free(block + 16)
    assert not tested.free(0)
