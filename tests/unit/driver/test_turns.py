"""Arrays that take turns as a kernel's arguments, whose launches compiled code makes once more."""

from __future__ import annotations

import gc
from itertools import cycle, permutations, product
from typing import Any

import pytest

import simt
from simt.driver.array import DeviceArray
from simt.driver.kernel import Kernel
from simt.engine.native_repeat import KNOWN
from simt.machine.launch import ARRAYS
from tests.unit.driver.views import part

PTX = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry plus(.param .u64 p_in, .param .u32 p_more, .param .u64 p_out)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [p_in];
    ld.param.u32 %r1, [p_more];
    ld.param.u64 %rd2, [p_out];
    ld.global.u32 %r2, [%rd1];
    add.u32 %r3, %r2, %r1;
    st.global.u32 [%rd2], %r3;
    ret;
}
"""


class Steps:
    """A device and its kernel `plus`. `general`: launches that were not made by compiled code alone."""

    def __init__(self) -> None:
        self.device = simt.Device("sm_90", engine="jit", workers=1)
        self.kernel: Kernel = self.device.load(PTX)["plus"]
        self.general = 0
        engine: Any = self.device.engine
        launch = engine.launch

        def counted(made: Any) -> None:
            self.general += 1
            launch(made)

        engine.launch = counted

    def arrays(self, count: int) -> list[DeviceArray]:
        """The first word of each is 1,000 times its number."""
        found = [self.device.zeros(2, "u4") for _ in range(count)]
        for number, array in enumerate(found):
            array.numpy()[0] = 1000 * number
        return found

    def __call__(self, source: DeviceArray, target: DeviceArray, more: int = 1) -> None:
        expected = int(source.numpy()[0]) + more
        self.kernel(1, 1, (source, more, target))
        assert target.numpy()[0] == expected


@pytest.fixture
def steps() -> Steps:
    return Steps()


def test_two_arrays_that_are_exchanged(steps: Steps) -> None:
    a, b = steps.arrays(2)
    for more in range(100):
        steps(a, b, more)
        a, b = b, a
    assert steps.general == 4


def test_as_many_arrays_take_turns_as_are_known(steps: Steps) -> None:
    assert len(KNOWN) == ARRAYS
    for many in range(3, ARRAYS + 1):
        steps.general, arrays = 0, steps.arrays(many)
        order = cycle(arrays)
        source = next(order)
        for _ in range(100):
            source, last = next(order), source
            steps(last, source)
        assert steps.general <= 2 * ARRAYS


def test_more_arrays_than_that(steps: Steps) -> None:
    order = cycle(steps.arrays(ARRAYS + 1))
    source = next(order)
    for _ in range(50):
        source, last = next(order), source
        steps(last, source)
    assert steps.general == 50


def test_any_of_them_may_stand_in_any_place(steps: Steps) -> None:
    a, b, c = arrays = steps.arrays(3)
    for source, target in permutations(arrays, 2):
        steps(source, target)
    steps(a, b)
    steps.general = 0
    for source, target in product((a, b, c), repeat=2):
        steps(source, target)
        steps(target, source, 5)
    assert steps.general <= 1  # the first


def test_one_that_was_freed(steps: Steps) -> None:
    a, b, c = steps.arrays(3)
    for _ in range(4):
        steps(a, b)
        steps(b, c)
        steps(c, a)
    b.free()
    for _ in range(3):
        with pytest.raises(simt.SimtError, match="freed"):
            steps.kernel(1, 1, (b, 1, c))
        for _ in range(4):
            steps(a, c)
            steps(c, a)
        with pytest.raises(simt.SimtError, match="freed"):
            steps.kernel(1, 1, (a, 1, b))


def test_one_that_has_ended_is_not_taken_for_another(steps: Steps) -> None:
    """New arrays begin where old ones were, as objects and in device memory; or the one and not the other."""
    a, objects = steps.arrays(1)[0], set[int]()
    for turn in range(30):
        pad = [steps.device.zeros(2, "u4") for _ in range(turn % 3)]
        b = steps.arrays(2)[1]
        objects.add(id(b))
        for _ in range(6):
            steps(a, b)
            steps(b, a)
        del b, pad
        gc.collect()
    assert len(objects) < 30  # the test would show nothing if each were elsewhere


def test_a_view_that_has_ended_is_not_taken_for_another(steps: Steps) -> None:
    """No memory is freed then."""
    a, memory, objects = steps.arrays(1)[0], steps.device.zeros(800, "u4"), set[int]()
    for turn in range(60):
        b = part(memory, 8 * (turn % 100))
        objects.add(id(b))
        for _ in range(6):
            steps.kernel(1, 1, (a, turn, b))
            assert memory.numpy()[8 * (turn % 100)] == a.numpy()[0] + turn
            steps.kernel(1, 1, (b, 1, a))
        del b
        steps.kernel(1, 1, (a, 1, a))
    assert len(objects) < 60


def test_they_are_not_kept_alive(steps: Steps) -> None:
    a, b = steps.arrays(2)
    steps(a, b)
    used = steps.device.memory.used
    c = steps.arrays(1)[0]
    for _ in range(5):
        steps(a, b)
        steps(b, c)
        steps(c, a)
    del c
    gc.collect()
    assert steps.device.memory.used == used


def test_numbers_in_place_of_arrays_go_the_usual_way(steps: Steps) -> None:
    a, b = steps.arrays(2)
    for _ in range(4):
        steps(a, b)
        steps(b, a)
    steps.general = 0
    steps.kernel(1, 1, (a.ptr, 7, b))
    assert steps.general == 1
    assert b.numpy()[0] == a.numpy()[0] + 7


def test_arrays_of_another_device_are_refused(steps: Steps) -> None:
    a, b = steps.arrays(2)
    for _ in range(4):
        steps(a, b)
        steps(b, a)
    other = simt.Device("sm_90").zeros(2, "u4")
    with pytest.raises(simt.LaunchError, match="device"):
        steps.kernel(1, 1, (a, 1, other))
