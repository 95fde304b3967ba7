"""Threads that wait for other threads of their warp, their CTA or the grid."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from tests.programs.harness import eighths, load, rng


@pytest.mark.parametrize(("grid", "block"), [(1, 1), (1, 17), (3, 5), (1, 34)])
def test_spin_lock(device: simt.Device, grid: int, block: int) -> None:
    """Every thread gets a ticket of its own, whatever the order."""
    lock, count, ticket = (device.zeros(n, "i4") for n in (1, 1, grid * block))
    load(device, "waiting")["spin_lock"](grid, block, (lock, count, ticket))
    assert count.numpy()[0] == grid * block
    np.testing.assert_array_equal(np.sort(ticket.numpy()), np.arange(grid * block))


@pytest.mark.parametrize("block", [33, 64, 96])
def test_flag_between_warps(device: simt.Device, block: int) -> None:
    flag, box, out = device.zeros(1, "i4"), device.zeros(1, "i4"), device.zeros(2 * block, "i4")
    load(device, "waiting")["wait_for_flag"](1, block, (flag, box, out))
    np.testing.assert_array_equal(out.numpy()[:32], 42 + np.arange(32))
    np.testing.assert_array_equal(out.numpy()[block:], 42 + np.arange(block) % 32)


@pytest.mark.parametrize("block", [1, 2, 12])
def test_lanes_in_turn(device: simt.Device, block: int) -> None:
    turn, order = device.zeros(1, "i4"), device.zeros(block, "i4")
    load(device, "waiting")["turns"](1, block, (turn, order))
    np.testing.assert_array_equal(order.numpy(), np.arange(block)[::-1])


@pytest.mark.parametrize("block", [2, 32, 64, 90])
def test_one_barrier_at_two_places(device: simt.Device, block: int) -> None:
    values = rng().integers(-1000, 1000, block, dtype="i4")
    out = device.zeros(block, "i4")
    load(device, "waiting")["two_barriers"](1, block, (device.array(values), out))
    t = np.arange(block)
    found = np.where(t % 2, values[block - 1 - t] * 3, values[(t + 1) % block] + 5)
    np.testing.assert_array_equal(out.numpy(), found[(t + 5) % block])


@pytest.mark.parametrize("block", [1, 32, 96, 101])
def test_barrier_in_a_loop(device: simt.Device, block: int) -> None:
    out = device.zeros(block, "i4")
    load(device, "waiting")["rounds"](1, block, (out, 9))
    t = np.arange(block)
    total = t.copy()
    for i in range(9):
        total = total + total[(t + i) % block]
        total = np.where(total & 1, total + 3, total)
    np.testing.assert_array_equal(out.numpy(), total)


@pytest.mark.parametrize(("block", "left"), [(64, 50), (64, 32), (96, 1), (40, 40)])
def test_threads_that_left(device: simt.Device, block: int, left: int) -> None:
    out = device.zeros(block, "i4")
    load(device, "waiting")["some_leave"](1, block, (out, left))
    expected = np.zeros(block, "i4")
    expected[:left] = 7 * ((np.arange(left) + 1) % left)
    np.testing.assert_array_equal(out.numpy(), expected)


@pytest.mark.parametrize("count", [1, 33, 300])
def test_sum_by_compare_and_swap(device: simt.Device, count: int) -> None:
    values = eighths(count)
    total = device.zeros(1, "f8")
    load(device, "waiting")["add_doubles"](3, 100, (total, device.array(values), count))
    assert total.numpy()[0] == values.sum()


@pytest.fixture(params=["warps_waiting", "warps_waiting.debug"])
def warps_waiting(request: pytest.FixtureRequest, device: simt.Device) -> simt.Module:
    """The program, and the same without optimisation: `__syncwarp` and the like are functions there."""
    return load(device, str(request.param))


@pytest.mark.parametrize(("grid", "block"), [(1, 64), (4, 128)])
def test_lock_of_a_warp(device: simt.Device, warps_waiting: simt.Module, grid: int, block: int) -> None:
    """While one lane spins for the lock, the others wait for it at `__syncwarp`."""
    lock, owner, wrong, sums = (device.zeros(n, "i4") for n in (1, 1, 1, 32))
    warps_waiting["lock_of_warp"](grid, block, (lock, owner, wrong, sums, 7))
    assert wrong.numpy()[0] == 0
    warps = grid * block // 32
    np.testing.assert_array_equal(sums.numpy(), 7 * sum(range(warps)))


def test_vote_after_a_wait(device: simt.Device, warps_waiting: simt.Module) -> None:
    flag, out = device.zeros(9, "i4"), device.zeros(9 * 32, "u4")
    warps_waiting["vote_after_wait"](1, 64, (flag, out, 9))
    np.testing.assert_array_equal(out.numpy(), 1 << 3)


def test_part_of_a_warp_frees_the_rest(device: simt.Device, warps_waiting: simt.Module) -> None:
    """Lanes that a mask names do not wait for those that it does not."""
    flag, out = device.zeros(1, "i4"), device.zeros(32, "i4")
    warps_waiting["upper_half_frees_lower"](1, 32, (flag, out))
    lane = np.arange(32)
    value = np.where(lane < 16, lane + 100, lane ^ 1)
    np.testing.assert_array_equal(out.numpy(), value + value[lane ^ 16])


@pytest.mark.parametrize(("block", "consumer"), [(32, 5), (64, 32), (64, 5), (96, 70)])
def test_ring(device: simt.Device, warps_waiting: simt.Module, block: int, consumer: int) -> None:
    """Two threads, of one warp or two, that wait for each other in loops of their own."""
    words = rng().integers(-1000, 1000, 40, dtype="i4")
    out = device.zeros(40, "i4")
    warps_waiting["ring"](1, block, (device.array(words), out, 40, consumer))
    np.testing.assert_array_equal(out.numpy(), 3 * words)


@pytest.fixture(params=["trying", "trying.debug"])
def trying(request: pytest.FixtureRequest, device: simt.Device) -> simt.Module:
    return load(device, str(request.param))


@pytest.mark.parametrize(("grid", "block"), [(1, 32), (2, 50)])
def test_a_lock_by_so_many_tries(device: simt.Device, trying: simt.Module, grid: int, block: int) -> None:
    lock, count, missed = (device.zeros(1, "i4") for _ in range(3))
    trying["tries"](grid, block, (lock, count, missed))
    assert (count.numpy()[0], missed.numpy()[0]) == (grid * block, 0)


def test_rows_that_need_rows_before(device: simt.Device, trying: simt.Module) -> None:
    needed = [sorted({i - 1, i // 2, i - 7} & set(range(i))) for i in range(96)]
    begin = np.cumsum([0, *map(len, needed)]).astype("i4")
    value, done = device.zeros(96, "u4"), device.zeros(96, "i4")
    of_all = device.array(np.array([j for row in needed for j in row], "i4"))
    trying["rows"](3, 32, (device.array(begin), of_all, value, done))
    expected: list[int] = []
    for row in needed:
        expected.append((1 + sum(expected[j] for j in row)) & 0xFFFFFFFF)
    np.testing.assert_array_equal(value.numpy(), np.array(expected, "u4"))


@pytest.mark.parametrize(("grid", "block", "permits"), [(1, 32, 3), (3, 64, 1), (2, 96, 40)])
def test_a_semaphore(device: simt.Device, trying: simt.Module, grid: int, block: int, permits: int) -> None:
    left = device.array(np.array([permits], "i4"))
    inside, most, count = (device.zeros(1, "i4") for _ in range(3))
    trying["semaphore"](grid, block, (left, inside, most, count))
    assert (left.numpy()[0], inside.numpy()[0], count.numpy()[0]) == (permits, 0, grid * block)
    assert 1 <= most.numpy()[0] <= permits


@pytest.mark.parametrize(("grid", "block", "places"), [(1, 32, 5), (3, 64, 1), (2, 96, 40)])
def test_places_that_are_given_back(
    device: simt.Device, trying: simt.Module, grid: int, block: int, places: int
) -> None:
    """Lanes that have a place must get on while others of their warp look for one."""
    taken, written = device.zeros(places, "i4"), device.zeros(places, "i4")
    trying["places"](grid, block, (taken, written, places))
    assert not taken.numpy().any()
    assert written.numpy().sum() == grid * block


def test_sets_that_become_one(device: simt.Device, trying: simt.Module) -> None:
    n = 500
    pairs = rng().integers(0, n, (400, 2), dtype="i4")
    parent, out = device.array(np.arange(n, dtype="i4")), device.zeros(n, "i4")
    trying["unite"](4, 128, (parent, device.array(pairs), len(pairs)))
    trying["roots"](4, 128, (parent, out, n))
    expected = np.arange(n)
    for a, b in pairs:
        x, y = sorted((expected[a], expected[b]))
        expected[expected == y] = x
    np.testing.assert_array_equal(out.numpy(), expected)


def test_keys_counted_in_a_table(device: simt.Device, trying: simt.Module) -> None:
    keys = rng().integers(0, 100, 700, dtype="i4")
    found, counts = device.zeros(128, "i4"), device.zeros(128, "i4")
    trying["count_keys"](1, 128, (device.array(keys), len(keys), found, counts))
    made = {int(k): int(c) for k, c in zip(found.numpy(), counts.numpy(), strict=True) if k >= 0}
    assert made == {int(k): int((keys == k).sum()) for k in np.unique(keys)}


def test_lists_that_grow_at_their_heads(device: simt.Device, trying: simt.Module) -> None:
    n, lists = 300, 7
    heads, following = device.array(np.full(lists, -1, "i4")), device.zeros(n, "i4")
    trying["push"](3, 128, (heads, following, lists, n))
    after = following.numpy()
    for number, head in enumerate(heads.numpy()):
        met = []
        while head >= 0:
            met.append(int(head))
            head = after[head]
        assert sorted(met) == list(range(number, n, lists))
