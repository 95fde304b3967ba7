"""Products and sums that are rounded down to whole numbers, without another rounding mode.

`fma.rm.f32` of a number like 12582913 (1.5 * 2^23 + 1) is how nvcc's `expf` takes the floor of a product: all
digits that the sum has are whole ones. AVX2 has directed rounding only by a control register, and to write
that took a third of such an exponential.
"""

from __future__ import annotations

import struct
from functools import partial

from simt.engine.llvm_builder import Value
from simt.engine.llvm_seldom import SeldomAlgebra
from simt.isa.algebra import PureAlgebra
from simt.isa.derived import outside
from simt.ptx.types import F32, S32, U32

LOW, HIGH = 0x4B000000, 0x4B800000
"""Bits of 2^23 and 2^24, between which numbers of 24 digits are whole."""


def is_whole(c: Value) -> bool:
    """Whether it is a constant from 2^23 on and below 2^24."""
    if c.width > 1 or not c.ir.startswith("0x"):
        return False
    (number,) = struct.unpack(">d", bytes.fromhex(c.ir[2:]))
    return 2.0**23 <= number < 2.0**24


def fma_down(m: PureAlgebra[Value], a: Value, b: Value, c: Value) -> Value:
    """a * b + c rounded down, of columns of f32; `c`: of which `is_whole` is true.

    If the sum rounded to nearest is such a number, too, its distance from `c` is exact, so the sign of what
    is left, a * b plus that, tells whether it was rounded up. (Where nothing is left it is +0; what is too
    small for any number keeps its sign.)"""
    near = m.fma(F32, a, b, c, "rn")
    rest = m.fma(F32, a, b, m.fsub(F32, c, near, "rn"), "rn")
    bits, less = m.to_bits(F32, near), m.shift_right(S32, m.to_bits(F32, rest), m.const(U32, 31))
    lowered = m.from_bits(F32, m.add(U32, bits, less))
    return m.rarely(F32, outside(m, U32, bits, LOW, HIGH), lowered, partial(_in_mode, c), a, b)


def _in_mode(c: Value, m: SeldomAlgebra, a: Value, b: Value) -> Value:
    return m.in_mode("fma", F32, "rm", a, b, c)
