"""Loads, stores, prefetches (PTX 1.4 tables 68 and 69, and later forms)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeVar, cast

from simt.isa.algebra import Algebra, V
from simt.isa.catalogue import instruction
from simt.isa.form import Meaning, Value, Version
from simt.ptx.types import Type

M = TypeVar("M", bound=Meaning)

TYPES = "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64"
VECTORS = "v2 v4 v8"
SCOPES = "cta cluster gpu sys"
ORDERS = "relaxed acquire release acq_rel"  # of operations that read and write
LOAD_SPACES = "const global local param param::entry param::func shared shared::cta shared::cluster"
STORE_SPACES = "global local param param::func shared shared::cta shared::cluster"
SHARING = "global shared shared::cta shared::cluster"  # the spaces that threads have in common
EVICTION = "L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate"
SECOND = "L2::evict_normal L2::evict_first L2::evict_last"
"""Priorities of what is accessed in the second cache, besides those in the first one."""
PREFETCH = "L2::64B L2::128B L2::256B"

REQUIRES = {
    "f64": "sm_13", "!space": "2.0 sm_20", "param::entry": "8.3", "param::func": "8.3 sm_20",
    "shared::cta": "7.8 sm_30", "shared::cluster": "7.8 sm_90", "cluster": "7.8 sm_90",
    "L2::64B": "7.4 sm_75", "L2::128B": "7.4 sm_75", "L2::256B": "7.4 sm_80",
    "weak": "6.0 sm_70", **dict.fromkeys(("ca", "cg", "cs", "lu", "cv", "wb", "wt"), "2.0 sm_20"),
}  # fmt: skip

WIDE = {
    f"{vec} {t}": "8.8 sm_100"
    for vec in VECTORS.split()
    for t in TYPES.split()
    if int(vec[1:]) * int(t[1:]) == 256
}
"""Vectors of 256 bits."""

FENCES = {"cta": "cta", "cluster": "gl", "gpu": "gl", "sys": "sys"}
"""The level of the fence that orders accesses at a scope."""


def state_space(space: str | None) -> str:
    """The state space of a written one: `shared::cta` is `shared`; none written is generic ("")."""
    return space.split("::")[0] if space else ""


def bits_of(binding: Mapping[str, Value]) -> int:
    """Bits of the vector that is accessed; zero: there is none."""
    t, vec = binding["type"], binding.get("vec")
    return t.bits * int(str(vec)[1:]) if isinstance(t, Type) and vec else 0


def fits(binding: Mapping[str, Value], version: Version) -> str | None:
    """Vectors of at most 128 bits."""
    if bits_of(binding) <= 128:
        return None
    return f"{binding['type']} cannot be accessed as .{binding['vec']}: a vector may have at most 128 bits"


def fits_global(binding: Mapping[str, Value], version: Version) -> str | None:
    """Vectors of at most 128 bits, or of 256 in global memory."""
    bits, vec, space = bits_of(binding), binding.get("vec"), binding.get("space")
    what = f"{binding['type']} cannot be accessed as .{vec}"
    if vec == "v8" and bits != 256:
        return f"{what}: it needs a type of 32 bits"
    if bits > 128 and space not in (None, "global"):
        return f"{what} in .{space}: only .global has vectors of more than 128 bits"
    return None


def fits_wide(binding: Mapping[str, Value], version: Version) -> str | None:
    """Priorities for the second cache are for vectors of 256 bits."""
    if bits_of(binding) != 256:
        return f".{binding['second']} needs a vector of 256 bits: .v8 of 32 bits or .v4 of 64"
    return fits_global(binding, version)


def elements(value: V | tuple[V, ...]) -> tuple[V, ...]:
    """A scalar operand as a vector of one element."""
    return cast("tuple[V, ...]", value if isinstance(value, tuple) else (value,))


def access(
    syntax: str, *, since: str = "1.0", ref: str, late: Mapping[str, str] | None = None, **alternatives: str
) -> Callable[[M], M]:
    """Declares a load or a store: every form has the same types, vectors and requirements, and those of
    `late` besides."""
    choices = {"vec": VECTORS, "type": TYPES, **alternatives}
    words = {w for text in choices.values() for w in text.split()} | set(re.findall(r"\w+", syntax))
    words |= {f"!{name}" for name in re.findall(r"\[\.(\w+)\]", syntax)}
    needed = {k: v for k, v in REQUIRES.items() if k in words} | dict(late or {})
    has_wide = "vec" in syntax and "v8" in words
    if has_wide:
        needed |= WIDE
    check = fits_wide if "second" in alternatives else fits_global if has_wide else fits
    defaults: dict[str, Value] = {"space": "global"} if ".global" in syntax else {}
    if "vec" not in syntax:
        defaults["vec"] = None
    return instruction(
        syntax, since=since, ref=ref, requires=needed, defaults=defaults,
        check=check, ranges=None, relaxed=True, effects="memory", traits="moves", **choices,
    )  # fmt: skip


@access(
    "ld[.weak][.space][.eviction].second[.prefetch].vec.type d:vec(type), [a]",
    space="global",
    eviction=EVICTION,
    second=SECOND,
    prefetch=PREFETCH,
    since="8.8 sm_100",
    ref="PTX 8.8 ld",
)
@access(
    "ld.global.nc[.eviction].second[.prefetch].vec.type d:vec(type), [a]",
    eviction=EVICTION,
    second=SECOND,
    prefetch=PREFETCH,
    since="8.8 sm_100",
    ref="PTX 8.8 ld.global.nc",
)
@access(
    "ld[.weak][.space][.cop][.vec].type d:vec(type), [a]",
    cop="ca cg cs lu cv",
    space=LOAD_SPACES,
    ref="PTX 1.4 table 68",
)
@access(
    "ld[.space].prefetch[.vec].type d:vec(type), [a]",
    space="global",
    prefetch=PREFETCH,
    since="7.4 sm_75",
    ref="PTX 7.4 ld",
)
@access(
    "ld[.space].eviction[.prefetch][.vec].type d:vec(type), [a]",
    space="global",
    eviction=EVICTION,
    prefetch=PREFETCH,
    since="7.4 sm_70",
    ref="PTX 7.4 ld",
)
@access(
    "ld.global[.cop].nc[.vec].type d:vec(type), [a]",
    cop="ca cg cs",
    since="3.1 sm_32",
    ref="PTX 3.1 ld.global.nc",
)
@access(
    "ld.global.nc.eviction[.prefetch][.vec].type d:vec(type), [a]",
    eviction=EVICTION,
    prefetch=PREFETCH,
    since="7.4 sm_70",
    ref="PTX 7.4 ld.global.nc",
)
@access(
    "ld.global.nc.prefetch[.vec].type d:vec(type), [a]",
    prefetch=PREFETCH,
    since="7.4 sm_75",
    ref="PTX 7.4 ld.global.nc",
)
@access(
    "ldu[.space][.vec].type d:vec(type), [a]",
    space="global",
    vec="v2 v4",
    since="2.0 sm_20",
    ref="PTX 2.0 ldu",
)
def ld(m: Algebra[V], t: Type, a: V, space: str | None, vec: str | None) -> tuple[V, ...]:
    """Loads a scalar or a vector from memory; wider registers are extended by the type's sign.

    Without a state space the address is generic. The address must be a multiple of the size of the whole
    vector, and everything accessed must lie within an allocation: else the launch ends with an error that
    names the place. The cache operators change nothing that a program can see here.
    """
    return m.load(t, state_space(space), a, int(vec[1:]) if vec else 1, False)


@access("ld.volatile[.space][.vec].type d:vec(type), [a]", space=SHARING, since="1.1", ref="PTX 1.4 table 68")
@access(
    "ld.volatile[.space].prefetch[.vec].type d:vec(type), [a]",
    space="global",
    prefetch=PREFETCH,
    since="7.4 sm_75",
    ref="PTX 7.4 ld",
)
@access(
    "ld.relaxed.scope[.space][.vec].type d:vec(type), [a]",
    scope=SCOPES,
    space=SHARING,
    since="6.0 sm_70",
    ref="PTX 6.0 ld",
)
@access("ld.mmio.relaxed.sys[.space].type d, [a]", space="global", since="8.2 sm_70", ref="PTX 8.2 ld")
def ld_volatile(m: Algebra[V], t: Type, a: V, space: str | None, vec: str | None = None) -> tuple[V, ...]:
    """Loads from memory that other threads may change: every such load is carried out, in order.

    So a loop may wait for what another thread stores.
    """
    return m.load(t, state_space(space), a, int(vec[1:]) if vec else 1, True)


@access(
    "ld.acquire.scope[.space][.vec].type d:vec(type), [a]",
    scope=SCOPES,
    space=SHARING,
    since="6.0 sm_70",
    ref="PTX 6.0 ld",
)
def ld_acquire(m: Algebra[V], t: Type, a: V, scope: str, space: str | None, vec: str | None) -> tuple[V, ...]:
    """Loads from memory; later accesses of the thread are seen after it at the scope."""
    values = ld_volatile(m, t, a, space, vec)
    m.fence(FENCES[scope])
    return values


@access(
    "st[.weak][.space][.eviction].second.vec.type [a], b:vec(type)",
    space="global",
    eviction=EVICTION,
    second=SECOND,
    since="8.8 sm_100",
    ref="PTX 8.8 st",
)
@access(
    "st[.weak][.space][.cop][.vec].type [a], b:vec(type)",
    space=STORE_SPACES,
    cop="wb cg cs wt",
    late={"param": "2.0 sm_20"},
    ref="PTX 1.4 table 69",
)
@access(
    "st[.space].eviction[.vec].type [a], b:vec(type)",
    space="global",
    eviction=EVICTION,
    since="7.4 sm_70",
    ref="PTX 7.4 st",
)
def st(m: Algebra[V], t: Type, a: V, b: V | tuple[V, ...], space: str | None) -> None:
    """Stores a scalar or a vector to memory; of wider registers the low bits.

    Addresses as for `ld`. If threads store to one place at once, which of them is seen is not defined.
    """
    m.store(t, state_space(space), a, elements(b), False)


@access(
    "st.volatile[.space][.vec].type [a], b:vec(type)",
    space=SHARING,
    since="1.1",
    ref="PTX 1.4 table 69",
)
@access(
    "st.relaxed.scope[.space][.vec].type [a], b:vec(type)",
    scope=SCOPES,
    space=SHARING,
    since="6.0 sm_70",
    ref="PTX 6.0 st",
)
@access("st.mmio.relaxed.sys[.space].type [a], b", space="global", since="8.2 sm_70", ref="PTX 8.2 st")
def st_volatile(m: Algebra[V], t: Type, a: V, b: V | tuple[V, ...], space: str | None) -> None:
    """Stores to memory that other threads may read: every such store is carried out, in order.

    Another thread sees the stores in their order.
    """
    m.store(t, state_space(space), a, elements(b), True)


@access(
    "st.release.scope[.space][.vec].type [a], b:vec(type)",
    scope=SCOPES,
    space=SHARING,
    since="6.0 sm_70",
    ref="PTX 6.0 st",
)
def st_release(m: Algebra[V], t: Type, a: V, b: V | tuple[V, ...], scope: str, space: str | None) -> None:
    """Stores to memory; earlier accesses of the thread are seen before it at the scope."""
    m.fence(FENCES[scope])
    st_volatile(m, t, a, b, space)


@instruction(
    "prefetch[.space].level [a]",
    space="global local",
    level="L1 L2",
    since="2.0 sm_20",
    ref="PTX 2.0 prefetch",
)
@instruction(
    "prefetch.global.level [a]",
    level="L2::evict_last L2::evict_normal",
    since="7.4 sm_80",
    ref="PTX 7.4 prefetch",
)
@instruction("prefetchu.L1 [a]", since="2.0 sm_20", ref="PTX 2.0 prefetchu")
def prefetch(m: Algebra[V], a: V) -> None:
    """Announces an access to memory; changes nothing that a program can see."""
