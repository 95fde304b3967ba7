"""Launches that compiled code makes once more with another grid."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import simt
from simt.driver.kernel import Kernel
from simt.engine import pace
from tests.unit.driver.counting import General

PTX = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry note(.param .u64 p_out, .param .u32 p_bad)
{
    .reg .pred %p<2>;
    .reg .b32 %r<16>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p_out];
    ld.param.u32 %r1, [p_bad];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ctaid.y;
    mov.u32 %r4, %ctaid.z;
    mov.u32 %r5, %nctaid.x;
    mov.u32 %r6, %nctaid.y;
    mov.u32 %r7, %nctaid.z;
    mad.lo.u32 %r8, %r4, %r6, %r3;
    mad.lo.u32 %r8, %r8, %r5, %r2;
    setp.eq.u32 %p1, %r8, %r1;
    @%p1 trap;
    // words 0 to 2: the grid. From word 4 on: how often each CTA ran
    st.global.u32 [%rd1], %r5;
    st.global.u32 [%rd1+4], %r6;
    st.global.u32 [%rd1+8], %r7;
    mul.wide.u32 %rd2, %r8, 4;
    add.u64 %rd2, %rd2, %rd1;
    atom.global.add.u32 %r9, [%rd2+16], 1;
    ret;
}
"""
MOST = 4096
NEVER = np.uint32(0xFFFFFFFF)


class Noted(General):
    def __init__(self, workers: int, grid: Any, block: int = 64) -> None:
        self.device = simt.Device("sm_90", engine="jit", workers=workers)
        self.kernel: Kernel = self.device.load(PTX)["note"]
        self.out = self.device.zeros(4 + MOST, "u4")
        self.block = block
        self.count(self.device)
        for _ in range(3):
            self(grid)
        self.general = 0

    def __call__(self, grid: Any, bad: Any = NEVER) -> None:
        """Launches, and looks at what was noted."""
        self.out.numpy()[...] = 0
        self.kernel(grid, self.block, (self.out, bad))
        extents = [grid] if isinstance(grid, (int, np.integer)) else list(grid)
        x, y, z = (*(int(n) for n in extents), 1, 1)[:3]
        words = self.out.numpy()
        assert words[:3].tolist() == [x, y, z]
        assert (words[4 : 4 + x * y * z] == self.block).all()
        assert not words[4 + x * y * z :].any()
        last = self.kernel.last_launch
        assert last is not None
        assert last.grid == (x, y, z)


@pytest.fixture(autouse=True)
def all_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine is: so no launch is made by Python to be measured."""
    for name in ("AWAKE", "ASLEEP", "LONG"):
        monkeypatch.setattr(pace, name, 1 << 40)


def test_one_worker_takes_any_grid() -> None:
    noted = Noted(1, (4, 2))
    for grid in ((4, 3), (5, 3, 2), 7, (1,), (64, 64), 4096, (4, 2), (1, 1, 1), 1, (2, 3, 4)):
        noted(grid)
    assert noted.general == 0


def test_several_workers_take_grids_of_like_size_and_smaller_ones() -> None:
    """Their launches are measured by size: 40 is one of 32 to 63. Those of fewer CTAs are shorter still than
    what is too short for help."""
    noted = Noted(2, (8, 5))
    for grid in ((8, 4), 63, (3, 3, 5), (8, 5), 30, (4, 4), 1, 2, 31, 63):
        noted(grid)
    assert noted.general == 0
    for times, grid in enumerate(((8, 8), 200, 3000), 1):
        noted(grid)
        assert noted.general == times
        noted((4, 4))
        assert noted.general == times


def test_grids_that_always_change() -> None:
    noted = Noted(2, 100)
    noted.kernel(3, 32, (noted.out, NEVER))
    noted.general = 0
    for n in range(127, 64, -1):
        noted((n, 1))
    assert (
        noted.general <= 3
    )  # the first is of another size than the last one; then it is known that they change


@pytest.mark.parametrize("workers", [1, 2])
def test_what_is_shared_out_is_all_of_it(workers: int) -> None:
    noted = Noted(workers, 2050)
    for n in (2048, 4095, 4093, 2049, 3001, 2050):
        noted(n)
    assert noted.general == 0


def test_blocks_that_may_be_joined_have_a_grid_each() -> None:
    """Of CTAs of one thread, several are taken as one, by how many there are."""
    noted = Noted(1, 64, block=1)
    for grid in (65, 64, 3, 33, (32, 2), 64):
        noted(grid)


@pytest.mark.parametrize("grid", [True, np.int64(9), [9, 1], (np.int32(9),), (9, True), range(2, 4)])
def test_other_types_go_the_usual_way(grid: Any) -> None:
    noted = Noted(1, 8)
    noted(grid)
    assert noted.general == 1
    noted(8)


@pytest.mark.parametrize(
    "grid",
    [
        0,
        -1,
        1 << 31,
        1 << 63,
        1 << 64,
        -(1 << 70),
        (1, 0),
        (1, 65536),
        (1, 1, 65536),
        (),
        (1, 1, 1, 1),
        "1",
        2.0,
        None,
    ],
)
def test_what_is_no_grid(grid: Any) -> None:
    noted = Noted(1, 8)
    with pytest.raises(simt.LaunchError):
        noted.kernel(grid, noted.block, (noted.out, NEVER))
    assert noted.general == 0
    noted(9)
    noted(8)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_fault_names_the_cta(workers: int) -> None:
    noted = Noted(workers, (5, 5))
    noted((9, 3))
    with pytest.raises(simt.KernelFault) as fault:
        noted.kernel((10, 3), noted.block, (noted.out, np.uint32(17)))
    assert noted.general == 0
    assert fault.value.site.cta == (7, 1, 0)


def test_python_knows_the_grid_afterwards() -> None:
    """The launch that it makes next, for whatever reason, has its own."""
    noted = Noted(1, (5, 5))
    noted((9, 3))
    noted.device.zeros(3)  # memory has changed
    noted((5, 5))
    assert noted.general == 1
    noted((9, 3))
    assert noted.general == 1


@pytest.mark.parametrize("general", [False, True])
def test_a_launch_while_another_is_prepared(monkeypatch: pytest.MonkeyPatch, general: bool) -> None:
    """As a handler of signals may make it: neither gets what the other was given. `general`: the other one
    goes the usual way and has its grid; else it is one more of a known kind and has that."""
    noted = Noted(1, (5, 5))
    array, within = noted.device.zeros(4 + MOST, "u4"), list[bool]()
    target, moment = (noted.device, "next_grid_id") if general else (noted.kernel.packer, "plain")
    usual = getattr(target, moment)

    def interrupted(*given: Any) -> Any:
        if not within:
            within.append(True)
            noted.kernel((7, 2), noted.block, (array, NEVER))
        return usual(*given)

    for turn in range(1, 4):
        within.clear()
        monkeypatch.setattr(target, moment, interrupted)
        noted.device.zeros(3)  # memory has changed: Python makes the launch
        if general:
            noted.kernel._again = None
        noted((9, 3), 2000 + turn)
        assert within
        monkeypatch.setattr(target, moment, usual)
        words = array.numpy()
        assert words[:3].tolist() == [7, 2, 1]
        assert words[4 : 4 + 14].tolist() == [noted.block * turn] * 14
        noted((5, 5))
        noted((9, 3))
