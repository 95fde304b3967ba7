"""Sums of vectors in global memory (PTX 8.1 atom and red)."""

from __future__ import annotations

from simt.isa.algebra import Algebra, V
from simt.isa.catalogue import instruction
from simt.isa.memory import FENCES, ORDERS, SCOPES, elements
from simt.ptx.types import F32, U64, Type


def atom_vector(
    m: Algebra[V], t: Type, a: V, b: V | tuple[V, ...], op: str, sem: str | None, scope: str | None
) -> tuple[V, ...]:  # fmt: skip
    """As `atom` on each element of a vector in global memory: each is an indivisible step of its own.

    The address must be a multiple of the vector's size.
    """
    level = FENCES[scope or "gpu"]
    values = elements(b)
    m.load(t, "global", a, len(values), True)  # the whole vector must be there
    if sem in ("release", "acq_rel"):
        m.fence(level)
    places = [m.add(U64, a, m.const(U64, i * t.bytes)) for i in range(len(values))]
    old = tuple(
        m.atomic("add.far" if t == F32 else op, t, "global", at, x, None) for at, x in zip(places, values)
    )
    if sem in ("acquire", "acq_rel"):
        m.fence(level)
    return old


def red_vector(
    m: Algebra[V], t: Type, a: V, b: V | tuple[V, ...], op: str, sem: str | None, scope: str | None
) -> None:  # fmt: skip
    """As `red` on each element of a vector in global memory: each is an indivisible step of its own.

    The address must be a multiple of the vector's size.
    """
    atom_vector(m, t, a, b, op, sem, scope)


VECTORS: tuple[tuple[str, str, str], ...] = (
    ("", "v2 v4", "f32"),
    (".noftz", "v2 v4 v8", "f16 bf16"),
    (".noftz", "v2 v4", "f16x2 bf16x2"),
)
"""Of sums of vectors: what stands before the vector, its lengths, and its types."""


def _declare_vectors(suffix: str, lengths: str, types: str) -> None:
    for name, operands, sem, meaning in (
        ("atom", "d:vec(type), [a], b:vec(type)", ORDERS, atom_vector),
        ("red", "[a], b:vec(type)", "relaxed release", red_vector),
    ):
        instruction(
            f"{name}[.sem][.scope][.space].op{suffix}.vec.type {operands}", sem=sem, scope=SCOPES,
            space="global", op="add", vec=lengths, type=types, since="8.1 sm_90", effects="memory",
            ref=f"PTX 8.1 {name}",
        )(meaning)  # fmt: skip


for _vectors in VECTORS:
    _declare_vectors(*_vectors)
