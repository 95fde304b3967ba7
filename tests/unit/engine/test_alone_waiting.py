"""Lanes one by one through a loop of a kernel that has a spin lock, too: before it, behind it, around it."""

from __future__ import annotations

import numpy as np
import pytest

from simt.analysis.shape import BlockShape
from simt.engine.host import named_cpus
from simt.engine.llvm_kernel import emit
from tests.conftest import shared_device

CHASE = """
    mov.u32 %i, %start; mov.u32 %n, 0;
{name}CHASE:
    mul.wide.u32 %a, %i, 4; add.u64 %a, %next, %a;
    ld.global.u32 %i, [%a];
    add.u32 %sum, %sum, %i; add.u32 %n, %n, 1;
    setp.ne.u32 %p, %i, 0; setp.lt.u32 %q, %n, 500; and.pred %p, %p, %q;
    @%p bra {name}CHASE;
"""
LOCK = """
SPIN:
    atom.global.cas.b32 %i, [%lock], 0, 1;
    setp.ne.u32 %p, %i, 0;
    @%p bra SPIN;
    membar.gl;
    ld.volatile.global.u32 %i, [%lock+4]; add.u32 %i, %i, %sum; st.volatile.global.u32 [%lock+4], %i;
    membar.gl;
    atom.global.exch.b32 %i, [%lock], 0;
"""
KERNEL = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 next, .param .u64 lock, .param .u64 out)
{{
    .reg .pred %p, %q; .reg .b32 %i, %n, %t, %x, %sum, %start; .reg .b64 %a, %next, %lock, %out;
    ld.param.u64 %next, [next]; ld.param.u64 %lock, [lock]; ld.param.u64 %out, [out];
    mov.u32 %start, %ctaid.x; mov.u32 %x, %ntid.x; mov.u32 %t, %tid.x; mad.lo.u32 %start, %start, %x, %t;
    mov.u32 %sum, 0;
    {body}
    mul.wide.u32 %a, %start, 4; add.u64 %a, %out, %a;
    st.global.u32 [%a], %sum;
    ret;
}}
"""
BODIES = {
    "before": CHASE.format(name="") + LOCK,
    "behind": LOCK + CHASE.format(name=""),
    "around": CHASE.format(name="A") + LOCK + CHASE.format(name="B"),
}


@pytest.mark.parametrize(("grid", "block"), [(1, 32), (3, 96), (40, 64)])
@pytest.mark.parametrize("way", BODIES)
def test_all_lanes_come_through(engine: str, way: str, grid: int, block: int) -> None:
    device, threads = shared_device(engine), grid * block
    rng = np.random.default_rng(threads)
    follows = rng.integers(0, 4096, 4096, "u4")
    follows[rng.integers(0, 4096, 200)] = 0

    def chased(i: int) -> int:
        total = 0
        for _ in range(500):
            i = int(follows[i])
            total += i
            if i == 0:
                break
        return total % 2**32

    lock, out = device.zeros(2, "u4"), device.zeros(threads, "u4")
    device.load(KERNEL.format(body=BODIES[way]))["k"]((grid,), (block,), (device.array(follows), lock, out))
    walks = np.array([chased(i) for i in range(threads)], "u8")
    at_lock = {"before": walks, "behind": 0 * walks, "around": walks}[way]
    assert lock.numpy().tolist() == [0, int(at_lock.sum()) % 2**32]
    assert out.numpy().tolist() == ((2 if way == "around" else 1) * walks % 2**32).tolist()


@pytest.mark.parametrize("body", [CHASE.format(name=""), *BODIES.values()], ids=["alone", *BODIES])
def test_lanes_go_one_by_one(body: str) -> None:
    program = shared_device("jit").load(KERNEL.format(body=body)).program
    features = named_cpus()["x86-64-v4"].features
    text = emit(program, program.functions["k"], BlockShape(64, 1, 1), features, "nounwind")[0]
    assert "alone." in text
