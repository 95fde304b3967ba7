"""Atomic operations on memory (PTX 1.4 tables 80 and 81, and later forms)."""

from __future__ import annotations

from simt.isa.algebra import Algebra, V
from simt.isa.catalogue import instruction
from simt.isa.memory import FENCES, ORDERS, SCOPES, SHARING, state_space
from simt.ptx.types import F32, F64, Kind, Type

OLD = "global:sm_11 shared:sm_12"
OLD_WIDE = "global:sm_12 shared:2.0,sm_20"

OPERATIONS: tuple[tuple[str, str, str, str], ...] = (
    ("and or xor", "b32", "1.0", OLD),
    ("and or xor", "b64", "3.1 sm_32", ""),
    ("exch", "b32", "1.0", OLD),
    ("exch", "b64", "1.0", OLD_WIDE),
    ("cas", "b32", "1.0", OLD),
    ("cas", "b64", "1.0", OLD_WIDE),
    ("cas", "b16", "6.3 sm_70", ""),
    ("add", "u32 s32", "1.0", OLD),
    ("add", "u64", "1.0", OLD_WIDE),
    ("add", "f32", "1.0", OLD),
    ("add", "f64", "5.0 sm_60", ""),
    ("add.noftz", "f16x2", "6.2 sm_60", ""),
    ("add.noftz", "f16", "6.3 sm_70", ""),
    ("add.noftz", "bf16 bf16x2", "7.8 sm_90", ""),
    ("inc dec", "u32", "1.0", OLD),
    ("min max", "u32 s32", "1.0", OLD),
    ("min max", "u64 s64", "3.1 sm_32", ""),
    ("min max", "f32", "1.0", OLD),
)
"""Operations, types, first version and target, and what state spaces need beyond that.

The floating-point operations of PTX 1.x are in its text, but its release notes call them unimplemented;
`min` and `max` of `.f32` were dropped again.
"""

LATE = {
    "!space": "2.0 sm_20", "relaxed": "6.0 sm_70", "acquire": "6.0 sm_70", "release": "6.0 sm_70",
    "acq_rel": "6.0 sm_70", "cta": "5.0 sm_60", "gpu": "5.0 sm_60", "sys": "5.0 sm_60",
    "cluster": "7.8 sm_90", "shared::cta": "7.8 sm_30", "shared::cluster": "7.8 sm_90",
}  # fmt: skip


def identity(op: str, t: Type) -> int | None:
    """What leaves a location as it was, for operations of which the order does not matter; else None."""
    if t.is_float or t.kind is Kind.PACKED:
        return None
    least, most = (1 << (t.bits - 1), (1 << (t.bits - 1)) - 1) if t.is_signed else (0, (1 << t.bits) - 1)
    return {"add": 0, "or": 0, "xor": 0, "and": (1 << t.bits) - 1, "min": most, "max": least}.get(op)


def atom(
    m: Algebra[V], t: Type, a: V, b: V, op: str, space: str | None, sem: str | None, scope: str | None,
    c: V | None = None,
) -> V:  # fmt: skip
    """Replaces a value in memory by its combination with `b` in one indivisible step; gives the old one.

    `exch` puts `b` there, `cas` puts `c` there if the value is `b`. `inc` counts up to `b` and from there to
    zero, `dec` down to zero and from there, or from above `b`, to `b`. The order in which threads are served
    is not defined. Floating-point sums in global memory flush subnormals of `.f32`, those in shared memory do
    not (H200).
    """
    level = FENCES[scope or "gpu"]
    if sem in ("release", "acq_rel"):
        m.fence(level)
    where = state_space(space)
    far = op == "add" and t in (F32, F64) and where != "shared"
    old = m.atomic("add.far" if far else op, t, where, a, b, c)
    if sem in ("acquire", "acq_rel"):
        m.fence(level)
    return old


def red(
    m: Algebra[V], t: Type, a: V, b: V, op: str, space: str | None, sem: str | None, scope: str | None
) -> None:  # fmt: skip
    """Replaces a value in memory by its combination with `b`, as one indivisible step.

    As `atom`, for those who do not need the old value.
    """
    atom(m, t, a, b, op, space, sem, scope)


def _needs(spaces: str, orders: str) -> dict[str, str]:
    """The requirements of the modifiers that a form has."""
    known = {"!space", *orders.split(), *SCOPES.split(), *SHARING.split()}
    old = dict(item.split(":") for item in spaces.split())
    return {k: v for k, v in LATE.items() if k in known} | {k: v.replace(",", " ") for k, v in old.items()}


def _declare(operations: str, types: str, since: str, spaces: str) -> None:
    """`atom` and, if there is such a reduction, `red` for some operations on some types."""
    words = operations.replace(".noftz", "")
    suffix = ".op.type" if words == operations else ".op.noftz.type"
    until = "1.4" if words == "min max" and types == "f32" else None
    instruction(
        f"atom[.sem][.scope][.space]{suffix} d, [a], b{', c' if words == 'cas' else ''}", sem=ORDERS,
        scope=SCOPES, space=SHARING, op=words, type=types, since=since, until=until,
        requires=_needs(spaces, ORDERS), effects="memory", ref=_reference(since, 80, "atom"),
        defaults={} if words == "cas" else {"c": None},
        surplus="c" if types == "b32" and words != "cas" else "",
    )(atom)  # fmt: skip
    if words in ("exch", "cas"):
        return
    instruction(
        f"red[.sem][.scope][.space]{suffix} [a], b", sem="relaxed release", scope=SCOPES, space=SHARING,
        op=words, type=types, since="1.2" if since == "1.0" else since, until=until, effects="memory",
        requires=_needs(spaces, "relaxed release"), ref=_reference(since, 81, "red"),
    )(red)  # fmt: skip


def _reference(since: str, table: int, name: str) -> str:
    return f"PTX 1.4 table {table}" if since == "1.0" else f"PTX {since.split()[0]} {name}"


for _row in OPERATIONS:
    _declare(*_row)
