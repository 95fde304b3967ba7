"""The conversion of every single-precision number to half precision (CUDA Handbook, listing 8.3).

The 2^32 results are kept as hashes, one for each block of 2^22 inputs in their order.
"""

from __future__ import annotations

import hashlib

import numpy as np

from tests.unit.isa.meaning import Array

BLOCK = 1 << 22
BLOCKS = (1 << 32) // BLOCK
THREADS = 256
OPCODE = "cvt.rn.f16.f32"
TEXT = f"""\
.version 9.0
.target sm_90
.address_size 64
.entry convert (.param .u32 first, .param .u64 to) {{
.reg .u32 %r<5>; .reg .f32 %f; .reg .b16 %h; .reg .u64 %rd<3>;
mov.u32 %r1, %ctaid.x;
mov.u32 %r2, %tid.x;
mad.lo.u32 %r3, %r1, {THREADS}, %r2;
ld.param.u32 %r4, [first];
add.u32 %r4, %r4, %r3;
mov.b32 %f, %r4;
{OPCODE} %h, %f;
ld.param.u64 %rd1, [to];
mul.wide.u32 %rd2, %r3, 2;
add.u64 %rd1, %rd1, %rd2;
st.global.b16 [%rd1], %h;
exit;
}}
"""
"""Converts the numbers whose bits begin with `first`, a thread each."""


def digest(halves: Array) -> str:
    """The hash of a block of results, given as 16-bit integers."""
    return hashlib.blake2b(np.ascontiguousarray(halves, "<u2"), digest_size=8).hexdigest()
