"""Moves between registers (PTX 1.4 section 7.7.5, tables 66 and 67) and address conversion."""

from __future__ import annotations

from functools import reduce

from simt.isa.algebra import Algebra, V
from simt.isa.catalogue import instruction
from simt.isa.memory import elements, fits, state_space
from simt.ptx.types import U32, Type, bits_type

F64 = {"f64": "sm_13"}
NAMES = "moves addresses"


@instruction(
    "mov.type d, a",
    type="pred u16 u32 u64 s16 s32 s64 f32 f64",
    requires=F64,
    traits=NAMES,
    contraction="copy",
    ref="PTX 1.4 table 66",
)
@instruction(
    "mov.vec.type d:vec(type), a:vec(type)", vec="v2 v4", type="b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64",
    requires=F64, check=fits, traits=NAMES, ref="PTX 1.4 table 66, section 7.7.5",
)  # fmt: skip
def mov(m: Algebra[V], a: V) -> V:
    """Copies a register, a special register, an immediate, or the address of a variable or function.

    A vector's elements are copied one by one.
    """
    return a


@instruction(
    "mov.type d:pack(type), a:pack(type)", type="b16 b32 b64", defaults={"unpack": None}, traits=NAMES,
    ref="PTX 1.4 tables 66, 67", contraction="copy",
)  # fmt: skip
def mov_bits(m: Algebra[V], t: Type, a: V | tuple[V, ...], unpack: str | None) -> V | tuple[V, ...]:
    """Copies bits; packs the elements of a vector into one scalar, or unpacks a scalar, lowest first.

    The first element is in the lowest bits. The parts of a scalar of n bits are two of n / 2 or four of n /
    4.
    """
    value = pack(m, t, elements(a))
    return unpack_bits(m, t, value, int(unpack)) if unpack else value


def pack(m: Algebra[V], t: Type, elements: tuple[V, ...]) -> V:
    """Equal parts of a value of type `t`, lowest first, put together."""
    part = bits_type(t.bits // len(elements))
    wide = [m.resize(part, t, e) for e in elements]
    placed = [wide[0], *(m.shift_left(t, e, m.const(U32, i * part.bits)) for i, e in enumerate(wide[1:], 1))]
    return reduce(lambda low, high: m.or_(t, low, high), placed)


def unpack_bits(m: Algebra[V], t: Type, value: V, count: int) -> tuple[V, ...]:
    """The `count` equal parts of a value of type `t`, lowest first."""
    part = bits_type(t.bits // count)
    shifted = [value, *(m.shift_right(t, value, m.const(U32, i * part.bits)) for i in range(1, count))]
    return tuple(m.resize(t, part, s) for s in shifted)


# ------------------------------------------------------------------ generic addresses

WINDOWS = "global shared local const param shared::cta shared::cluster param::entry"
WINDOWS_SINCE = {
    "const": "3.1 sm_20", "param": "7.7 sm_70", "param::entry": "8.3 sm_70",
    "shared::cta": "7.8 sm_30", "shared::cluster": "7.8 sm_90",
}  # fmt: skip


@instruction(
    "cvta.space.type d, a",
    space=WINDOWS,
    type="u32 u64",
    since="2.0 sm_20",
    requires=WINDOWS_SINCE,
    traits="addresses",
    ref="PTX 2.0 cvta",
)
def cvta(m: Algebra[V], t: Type, a: V, space: str) -> V:
    """Address in a state space to generic address.

    Through a generic address an access finds the place without knowing its state space.
    """
    return m.to_generic(t, state_space(space), a)


@instruction(
    "cvta.to.space.type d, a", space=WINDOWS, type="u32 u64", since="2.0 sm_20", requires=WINDOWS_SINCE,
    ref="PTX 2.0 cvta",
)  # fmt: skip
def cvta_to(m: Algebra[V], t: Type, a: V, space: str) -> V:
    """Generic address to address in a state space.

    The address must lie in that state space.
    """
    return m.from_generic(t, state_space(space), a)


@instruction(
    "isspacep.space p:pred, a:generic(b64)",
    space=WINDOWS,
    since="2.0 sm_20",
    requires=WINDOWS_SINCE,
    traits="no_functions",
    ref="PTX 2.0 isspacep",
)
def isspacep(m: Algebra[V], a: V, space: str) -> V:
    """Whether a generic address falls into a state space.

    Global is every address in no window of shared, local or constant memory; there need be no memory.
    """
    return m.in_space(state_space(space), a)
