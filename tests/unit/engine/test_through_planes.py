"""Loops through the planes of a volume, whose turns warps take together. NumPy expects."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.engine.llvm_groups import WARPS_IN_ROWS
from tests.conftest import shared_device
from tests.unit.engine.coordinates import HEAD
from tests.unit.engine.test_taking_turns import takes_turns

KERNEL = """
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 nx, .param .u32 ny, .param .u32 nz)
{{
    .reg .u32 %x, %y, %z, %i, %s, %u, %v, %nx, %ny, %nz, %a<5>; .reg .u64 %o, %in, %p, %d, %row;
    .reg .pred %q, %r;
    ld.param.u64 %o, [out];
    ld.param.u64 %in, [in];
    ld.param.u32 %nx, [nx];
    ld.param.u32 %ny, [ny];
    ld.param.u32 %nz, [nz];
    mov.u32 %u, %ctaid.x; mov.u32 %v, %ntid.x; mov.u32 %x, %tid.x; mad.lo.u32 %x, %u, %v, %x;
    mov.u32 %u, %ctaid.y; mov.u32 %v, %ntid.y; mov.u32 %y, %tid.y; mad.lo.u32 %y, %u, %v, %y;
    setp.lt.u32 %q, %x, %nx;
    setp.lt.and.u32 %q, %y, %ny, %q;
    @!%q bra $END;
    mad.lo.u32 %i, %y, %nx, %x;
    mul.lo.u32 %s, %nx, %ny;
    mul.wide.u32 %row, %nx, 4;
    mov.u32 %z, {first};
    mov.u32 %u, 0;
    mov.u32 %v, 0;
$LOOP:
    mul.wide.s32 %d, %i, 4;
    add.u64 %p, %in, %d;
    {loads}
    mad.lo.u32 %v, %u, 5, %v;
    add.u32 %u, %u, %a0;
    {body}
    add.u64 %p, %o, %d;
    add.u32 %a1, %a1, %a2; add.u32 %a1, %a1, %a3; add.u32 %a1, %a1, %a4; add.u32 %a1, %a1, %v;
    {store}
    add.u32 %i, %i, {step};
    add.u32 %z, %z, 1;
    setp.lt.u32 %r, %z, %nz;
    @%r bra $LOOP;
$END:
    ret;
}}
"""
LOADS = (
    "ld.global.u32 %a0, [%p]; ld.global.u32 %a1, [%p+4]; ld.global.u32 %a2, [%p+8];"
    "add.u64 %p, %p, %row; ld.global.u32 %a3, [%p]; ld.global.u32 %a4, [%p+4];"
)


def kernel(
    body: str = "",
    loads: str = LOADS,
    store: str = "st.global.u32 [%p], %a1;",
    step: str = "%s",
    first: str = "0",
) -> str:
    return HEAD + KERNEL.format(body=body, loads=loads, store=store, step=step, first=first)


def expected(given: np.ndarray, nx: int, ny: int, nz: int) -> np.ndarray:
    plane = np.arange(nx * ny)
    own, sums, out = np.zeros(nx * ny, "u4"), np.zeros(nx * ny, "u4"), np.zeros((nz, nx * ny), "u4")
    for z in range(nz):
        at = plane + z * nx * ny
        sums += own * np.uint32(5)
        own += given[at]
        out[z] = sums + given[at + 1] + given[at + 2] + given[at + nx] + given[at + nx + 1]
    return out.ravel()


OTHERS = {
    "it only loads": kernel(store="mov.u32 %x, %a1;"),
    "few accesses": kernel(loads="ld.global.u32 %a0, [%p];"),
    "a small step": kernel(step="256"),
    "lanes have as many turns as they like": kernel(first="%x"),
    "volatile": kernel(loads=LOADS.replace("ld.global", "ld.volatile.global", 1)),
    "lanes a row apart": kernel(
        loads="mad.lo.u32 %a0, %x, %nx, %i; mul.wide.s32 %d, %a0, 4; add.u64 %p, %in, %d;" + LOADS
    ),
    "lanes speak": kernel("shfl.sync.bfly.b32 %a0, %a0, 1, 31, -1;"),
}


@pytest.mark.parametrize("block", [(32, 4, 1), (16, 8, 1), (64, 1, 1)])
@pytest.mark.parametrize("step", ["%s", "8192"])
def test_loops_through_planes(step: str, block: tuple[int, int, int]) -> None:
    assert takes_turns(kernel(step=step), block)


@pytest.mark.parametrize("name", OTHERS)
def test_other_loops(name: str) -> None:
    assert not takes_turns(OTHERS[name], (32, 4, 1))


BLOCKS = [(32, 4, 1), (64, 2, 2), (16, 8, 1), (20, 5, 1), (96, 1, 1), (8, 8, 2)]
MANY = 2 * 32 * WARPS_IN_ROWS // 4 + 40
"""Words of a row for which CTAs of 32 x 4 threads are more than a group."""


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize(("nx", "ny", "nz"), [(70, 9, 5), (33, 18, 1), (MANY, 6, 3)])
def test_each_word_once(engine: str, block: tuple[int, int, int], nx: int, ny: int, nz: int) -> None:
    """Threads along z do the same twice."""
    device = shared_device(engine)
    given = np.random.default_rng(nx).integers(0, 1 << 32, nx * (ny * nz + 1) + 2, "u4")
    out = device.zeros(nx * ny * nz, "u4")
    grid = -(-nx // block[0]), -(-ny // block[1]), 2
    device.load(kernel())["k"](grid, block, (out, device.array(given), nx, ny, nz))
    np.testing.assert_array_equal(out.numpy(), expected(given, nx, ny, nz))


@pytest.mark.parametrize(("x", "y", "z"), [(0, 0, 0), (37, 3, 2), (69, 8, 4)])
def test_faults_name_the_thread(engine: str, x: int, y: int, z: int) -> None:
    wild = f"mad.lo.u32 %a4, %z, %s, {y * 70 + x}; setp.eq.u32 %q, %i, %a4; setp.eq.and.u32 %q, %z, {z}, %q;"
    text = kernel(f"{wild} @%q mov.u64 %p, 64; ld.global.u32 %a4, [%p];")
    assert takes_turns(text, (32, 4, 1))
    device = simt.Device("sm_75", engine=engine, workers=1)
    arrays = device.zeros(70 * 9 * 5, "u4"), device.zeros(70 * 46 + 2, "u4")
    with pytest.raises(simt.KernelFault) as caught:
        device.load(text)["k"]((3, 3), (32, 4), (*arrays, 70, 9, 5))
    site = caught.value.site
    assert (site.cta, site.thread) == ((x // 32, y // 4, 0), (x % 32, y % 4, 0))
