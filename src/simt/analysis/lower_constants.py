"""Immediates as the bits of the type at their use (section 4.5)."""

from __future__ import annotations

import struct

from simt.analysis.program import Constant
from simt.ptx.nodes import Float, Integer
from simt.ptx.types import F32, Kind, Type


def constant(node: Integer | Float, t: Type) -> Constant:
    """The constant as a value of type `t`: integers wrap, floats round to nearest even.

    A float used as untyped or integer bits gives the bits of the float of that size.
    """
    return Constant(t, constant_bits(node, t))


def constant_bits(node: Integer | Float, t: Type) -> int:
    """The bits of `constant`."""
    return integer_bits(node.value, t) if isinstance(node, Integer) else float_bits(node, t)


def single_bits(node: Integer | Float) -> int:
    """A constant of double precision as devices without it hold one: as .f32, in the lower half."""
    return float_bits(node, F32) if isinstance(node, Float) else integer_bits(node.value, F32)


def integer_bits(value: int, t: Type) -> int:
    """An integer constant; for predicates zero is false and all else true, as in C."""
    if t.is_predicate:
        return int(value != 0)
    if t.kind is Kind.FLOAT:
        return float_bits(Float(struct.unpack("<Q", struct.pack("<d", float(value)))[0]), t)
    return value % (1 << t.bits)


def float_bits(node: Float, t: Type) -> int:
    """A floating-point constant converted to `t`."""
    if t.is_predicate:
        return int(node.bits << 1 & ((1 << node.width) - 1) != 0)
    if node.width == t.bits:
        return node.bits
    if t.bits not in (16, 32, 64):
        return node.bits % (1 << t.bits)
    from simt.analysis.float_constants import converted  # only for a few: NumPy takes long to start

    return converted(node, t)
