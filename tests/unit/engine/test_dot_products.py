"""`dp4a` by the instructions that each CPU has: all signs, and the bytes at the ends of their ranges."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.engine.ways import WAYS, own_device

COUNT = 200
"""Threads: some warps, and a part of one."""
SIGNS = {"u32": "u1", "s32": "i1"}
ENDS = np.array([0, 1, 127, 128, 129, 255], "u1")


def kernel(left: str, right: str, uniform: str) -> str:
    """The products of a thread's word with its other one, or with one that all have, in both orders."""
    return f""".version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 words, .param .u64 others, .param .u64 out)
{{
    .reg .b64 %a, %b, %o, %at; .reg .b32 %t, %x, %y, %z;
    ld.param.u64 %a, [words]; ld.param.u64 %b, [others]; ld.param.u64 %o, [out];
    mov.u32 %t, %tid.x;
    mul.wide.u32 %at, %t, 4; add.u64 %a, %a, %at; add.u64 %o, %o, %at; {uniform} add.u64 %b, %b, %at;
    ld.global.u32 %x, [%a]; ld.global.u32 %y, [%b]; mov.u32 %z, 7;
    dp4a.{left}.{right} %z, %x, %y, %z; dp4a.{left}.{right} %z, %y, %x, %z;
    st.global.u32 [%o], %z;
    ret;
}}
"""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("right", SIGNS)
@pytest.mark.parametrize("left", SIGNS)
@pytest.mark.parametrize("uniform", ["", "mov.u64 %at, 8;"], ids=["columns", "one word"])
def test_products(left: str, right: str, uniform: str, way: str) -> None:
    device, generator = own_device(way), np.random.default_rng(1)
    words, others = generator.choice(ENDS, (2, COUNT, 4))
    words[::3] = generator.integers(0, 256, words[::3].shape)
    out = device.zeros(len(words), "u4")
    arrays = [device.array(part.copy().view("u4").ravel()) for part in (words, others)]
    module = device.load(kernel(left, right, uniform))
    module["k"](1, COUNT, (*arrays, out))
    other = np.broadcast_to(others[2], others.shape) if uniform else others
    other = np.ascontiguousarray(other)
    expected = np.full(COUNT, 7, "i8")
    for x, y in ((words, other), (other, words)):
        expected += (x.view(SIGNS[left]).astype("i8") * y.view(SIGNS[right]).astype("i8")).sum(1)
    assert np.array_equal(out.numpy(), (expected % 2**32).astype("u4"))
