"""Products of small matrices that the lanes of a warp hold (PTX 6.5 and later): `d = a * b + c`.

How lanes hold them is `simt.isa.fragments`, what is computed `simt.isa.products`. `a` is taken by rows,
`b` by columns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from simt.isa.algebra import Algebra, Rounding, V
from simt.isa.catalogue import M, instruction
from simt.isa.form import Value, Version
from simt.isa.fragments import LINES, name_of, register, sizes
from simt.isa.memory import elements
from simt.isa.products import Kind, Multiplication
from simt.isa.warp import sent
from simt.ptx.types import Type, bits_type
from simt.records import replace

OPERANDS = "d:fragment(d), a:fragment(a), b:fragment(b), c:fragment(c)"
SYNTAX = f"mma.sync.aligned.shape.row.col.dtype.atype.btype.ctype {OPERANDS}"
OF_DOUBLES = f"mma.sync.aligned.shape.row.col.dtype.atype.btype.ctype[.rnd] {OPERANDS}"
OF_INTEGERS = f"mma.sync.aligned.shape.row.col[.satfinite].dtype.atype.btype.ctype {OPERANDS}"
OF_BITS = f"mma.sync.aligned.shape.row.col.dtype.atype.btype.ctype.operation.popc {OPERANDS}"


def bits_of(m: Algebra[V], t: Type, values: V | tuple[V, ...]) -> tuple[V, ...]:
    return tuple(m.to_bits(t, value) for value in elements(values))


def product(
    m: Algebra[V], kind: Kind, a: V | tuple[V, ...], b: V | tuple[V, ...], c: V | tuple[V, ...]
) -> tuple[V, ...]:  # fmt: skip
    """The registers of `d`."""
    factor, third, result = register("a", kind.a), register("c", kind.c), register("d", kind.d)
    of_c = bits_of(m, third, c)
    of_a, of_b = (
        tuple(sent(m, bits_type(factor.bits), word) for word in bits_of(m, factor, values))
        for values in (a, b)
    )
    work = Multiplication(kind, len(of_a), len(of_b))
    found = m.warp_function(work, (bits_type(result.bits),) * len(of_c), *of_a, *of_b, *of_c)
    return tuple(m.from_bits(result, value) for value in found)


def kind_of(
    a: object, b: object, c: object, d: object, operation: str, rounding: Rounding | None
) -> Kind:  # fmt: skip
    """What is multiplied, by the types that the modifiers are bound to."""
    return Kind(name_of(a), name_of(b), name_of(c), name_of(d), LINES, operation, rounding or "rn")


def alike(binding: Mapping[str, Value], version: Version) -> str | None:
    """`c` and `d` have the same type."""
    d, c = (name_of(binding[slot]) for slot in ("dtype", "ctype"))
    return None if d == c else f"`c` of type `.{c}` does not go with `d` of type `.{d}`"


ROUNDINGS = "rn rz rm rp"
UNSAID: dict[str, Value] = {"satfinite": False, "operation": "", "rnd": None}
"""What forms bind that have no slot for it."""


def multiplies(
    syntax: str, types: str, third: str, shape: str, since: str, later: Mapping[str, str], **slots: Any
) -> Callable[[M], M]:
    """Declares products: the types of `a` and `b`, those of `c` and `d`, shapes; what came `later`. What a
    form has no slot for is bound all the same."""
    return instruction(
        syntax, shape=shape, atype=types, btype=types, dtype=third, ctype=third, **slots,
        defaults={key: value for key, value in UNSAID.items() if key not in syntax}, since=since,
        requires=later, effects="warp", ref=f"PTX {since.split()[0]} mma",
    )  # fmt: skip


AMPERE = "7.0 sm_80"
LARGE: dict[str, str] = dict.fromkeys(("m16n8k4", "m16n8k8", "m16n8k16"), "7.8 sm_90")


@multiplies(SYNTAX, "f16", "f16 f32", "m16n8k8 m16n8k16", "6.5 sm_75", {"m16n8k16": AMPERE}, check=alike)
@multiplies(SYNTAX, "bf16", "f32", "m16n8k8 m16n8k16", AMPERE, {})
@multiplies(SYNTAX, "tf32", "f32", "m16n8k4 m16n8k8", AMPERE, {})
@multiplies(OF_DOUBLES, "f64", "f64", "m8n8k4 m16n8k4 m16n8k8 m16n8k16", AMPERE, LARGE, rnd=ROUNDINGS)
@multiplies(
    SYNTAX,
    "e4m3 e5m2",
    "f16 f32",
    "m16n8k16 m16n8k32",
    "8.4 sm_89",
    {"m16n8k16": "8.7 sm_89", "f16": "8.7 sm_89"},
    check=alike,
)
@multiplies(
    OF_INTEGERS,
    "u8 s8",
    "s32",
    "m8n8k16 m16n8k16 m16n8k32",
    "6.5 sm_75",
    {"m16n8k16": AMPERE, "m16n8k32": AMPERE},
)
@multiplies(
    OF_INTEGERS,
    "u4 s4",
    "s32",
    "m8n8k32 m16n8k32 m16n8k64",
    "6.5 sm_75",
    {"m16n8k32": AMPERE, "m16n8k64": AMPERE},
)
@multiplies(
    OF_BITS, "b1", "s32", "m8n8k128 m16n8k128 m16n8k256", "7.0 sm_75",
    {"m16n8k128": AMPERE, "m16n8k256": AMPERE, "and": "7.1 sm_80"}, operation="xor and",
)  # fmt: skip
def mma(
    m: Algebra[V], a: V | tuple[V, ...], b: V | tuple[V, ...], c: V | tuple[V, ...], shape: str,
    dtype: object, atype: object, btype: object, ctype: object, satfinite: bool, operation: str,
    rnd: Rounding | None,
) -> tuple[V, ...]:  # fmt: skip
    """Multiplies small matrices that the lanes of a warp hold, and adds a third.

    How sums are rounded is told in `docs/matrices.md`. All lanes of the warp take part.
    """
    kind = kind_of(atype, btype, ctype, dtype, "satfinite" if satfinite else operation, rnd)
    return product(m, replace(kind, rows=sizes(shape).m), a, b, c)
