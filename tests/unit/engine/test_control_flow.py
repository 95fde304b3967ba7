"""Random control flow on both engines: every thread must end with what it computes on its own."""

from __future__ import annotations

import random

import numpy as np
import pytest

import simt
from tests.unit.engine.random_control import Control

CTAS = 3
KINDS = {"free": (False, False), "uniform barriers": (True, True), "divergent barriers": (True, False)}


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", KINDS)
def test_random_control_flow(device: simt.Device, kind: str, seed: int) -> None:
    rng = random.Random(f"{kind} {seed}")
    program = Control.random(rng, *KINDS[kind])
    threads = rng.choice([1, 31, 32, 33, 64, 77])
    out = device.zeros((CTAS, threads), "u4")
    device.load(program.ptx())["k"](CTAS, threads, (out,))
    expected = [program.expected(cta, threads) for cta in range(CTAS)]
    np.testing.assert_array_equal(out.numpy(), np.array(expected, "u4"), err_msg=program.ptx())


def test_only_definition_in_another_iteration(device: simt.Device) -> None:
    """Each lane passes the only definition of a register in an iteration of its own and reads it later."""
    text = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %p, %more;
    .reg .b32 %t, %i, %kept;
    .reg .b64 %a, %o;
    ld.param.u64 %a, [out];
    mov.u32 %t, %tid.x;
    mov.u32 %i, 0;
AGAIN:
    setp.ne.u32 %p, %t, %i;
    @%p bra SKIP;
    mul.lo.u32 %kept, %i, 5;
SKIP:
    add.u32 %i, %i, 1;
    setp.lt.u32 %more, %i, 32;
    @%more bra AGAIN;
    mul.wide.u32 %o, %t, 4;
    add.u64 %a, %a, %o;
    st.global.u32 [%a], %kept;
    ret;
}
"""
    out = device.zeros(32, "u4")
    device.load(text)["k"](1, 32, (out,))
    np.testing.assert_array_equal(out.numpy(), 5 * np.arange(32))
