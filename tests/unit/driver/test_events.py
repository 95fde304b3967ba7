"""Performance monitor events and breakpoints (PTX 1.4 tables 84 and 85)."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.errors import FaultSite

EVENTS = """
.version 1.4
.target sm_11
.func inner { pmevent 9; ret; }
.entry k (.param .u32 n)
{
    .reg .u32 %i, %n, %t; .reg .pred %p, %q;
    cvt.u32.u16 %i, %tid.x;
    ld.param.u32 %n, [n];
    pmevent 0;
    setp.lt.u32 %p, %i, %n;
    @%p pmevent 1;
    and.b32 %t, %i, 1;
    setp.eq.u32 %q, %t, 0;
    @%q bra even;
    pmevent 2;
    bra join;
even:
    pmevent 3;
join:
    mov.u32 %t, 0;
again:
    pmevent 15;
    add.u32 %t, %t, 1;
    setp.lt.u32 %p, %t, %i;
    @%p bra again;
    call inner;
    exit;
}
.entry none { exit; }
"""

MASK = """
.version 3.0
.target sm_20
.address_size 64
.entry k { pmevent.mask 0x8005; pmevent 2; ret; }
"""

BREAKPOINTS = """
.version 1.4
.target sm_11
.entry k (.param .u32 out)
{
    .reg .u32 %i, %o; .reg .pred %p;
    cvt.u32.u16 %i, %tid.x;
    setp.ge.u32 %p, %i, 3;
    @%p brkpt;
    ld.param.u32 %o, [out];
    st.global.u32 [%o], 7;
    exit;
}
"""


@pytest.fixture
def device(engine: str) -> simt.Device:
    """A device of the test's own, with a real engine."""
    return simt.Device("sm_90", engine=engine, memory="64MiB", timeout=20)


def test_events_are_counted_for_each_warp(device: simt.Device) -> None:
    """40 threads are two warps, the second of 8 lanes; of 3 CTAs."""
    module = device.load(EVENTS)
    kernel = module["k"]
    assert kernel.last_launch is None
    kernel(3, 40, (33,))
    last = kernel.last_launch
    assert last is not None
    assert (last.grid, last.block) == ((3, 1, 1), (40, 1, 1))
    expected = {0: 6, 1: 6, 2: 6, 3: 6, 9: 6, 15: 3 * (31 + 39)}
    assert last.pm_events == tuple(expected.get(n, 0) for n in range(16))


def test_a_launch_counts_anew(device: simt.Device) -> None:
    kernel = device.load(EVENTS)["k"]
    counts: list[int] = []
    for n in (1, 33, 0, 40):
        kernel(1, 40, (n,))
        assert kernel.last_launch is not None
        counts.append(kernel.last_launch.pm_events[1])
    assert counts == [1, 2, 0, 2]


def test_kernels_without_events_count_none(device: simt.Device) -> None:
    module = device.load(EVENTS)
    module["k"](1, 1, (1,))
    module["none"](2, 5)
    last = module["none"].last_launch
    assert last is not None
    assert last.pm_events == (0,) * 16
    assert last.grid_id == 2


def test_events_by_mask(device: simt.Device) -> None:
    kernel = device.load(MASK)["k"]
    kernel(2, 32)
    assert kernel.last_launch is not None
    assert kernel.last_launch.pm_events == (2, 0, 4, *[0] * 12, 2)


def test_events_of_many_workers(engine: str) -> None:
    device = simt.Device(engine=engine, memory="64MiB", workers=2)
    kernel = device.load(EVENTS)["k"]
    kernel(3000, 64, (64,))
    assert kernel.last_launch is not None
    assert kernel.last_launch.pm_events[0] == 6000


def test_breakpoints_are_ignored_without_a_hook(device: simt.Device) -> None:
    out = device.zeros(1, "u4")
    device.load(BREAKPOINTS)["k"](1, 5, (out,))
    assert out.numpy()[0] == 7


def test_breakpoints_call_the_hook(device: simt.Device) -> None:
    out, seen = device.zeros(1, "u4"), list[FaultSite]()
    kernel = device.load(BREAKPOINTS)["k"]
    kernel(1, 5, (out,))
    device.on_breakpoint = seen.append
    kernel((1, 2), 5, (out,))
    device.on_breakpoint = None
    kernel(1, 5, (out,))
    assert [(s.cta, s.thread) for s in seen] == [((0, y, 0), (x, 0, 0)) for y in (0, 1) for x in (3, 4)]
    assert {(s.kernel, s.line) for s in seen} == {("k", 9)}


def test_a_hook_may_end_the_launch(device: simt.Device) -> None:
    class Stop(Exception):
        pass

    def hook(site: FaultSite) -> None:
        raise Stop

    out = device.zeros(1, "u4")
    device.on_breakpoint = hook
    with pytest.raises(Stop):
        device.load(BREAKPOINTS)["k"](1, 5, (out,))
    device.on_breakpoint = None
    np.testing.assert_array_equal(out.numpy(), 0)
    device.load(BREAKPOINTS)["k"](1, 5, (out,))
    np.testing.assert_array_equal(out.numpy(), 7)
