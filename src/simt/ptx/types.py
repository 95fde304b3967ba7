"""Fundamental types (PTX 1.4 table 8 and its modern additions), vector sizes and state spaces."""

from __future__ import annotations

from enum import Enum

from simt.records import dataclass, field


class Kind(Enum):
    """The basic type of table 8. PACKED is a pair (or more) of small numbers in one register."""

    SIGNED = "signed integer"
    UNSIGNED = "unsigned integer"
    FLOAT = "floating point"
    BITS = "untyped bits"
    PREDICATE = "predicate"
    PACKED = "packed"
    OPAQUE = "opaque"


_SIGNED, _UNSIGNED, _FLOAT, _PREDICATE = Kind.SIGNED, Kind.UNSIGNED, Kind.FLOAT, Kind.PREDICATE
"""What is asked for most: names of their own are found in a tenth of the time."""


@dataclass(frozen=True, slots=True, eq=False)
class Type:
    """A fundamental type: `name` without the dot, basic type, size in bits (predicates: 1).

    There is one object for each, so that types are compared as objects are: that is done some fifty times for
    each instruction that is compiled. What else is asked as often is found out once.

    `is_native_float`: held by the engines as a float column; every other non-predicate is an integer
    column."""

    name: str
    kind: Kind
    bits: int
    bytes: int = field(default=0, repr=False)
    is_integer: bool = field(default=False, repr=False)
    is_signed: bool = field(default=False, repr=False)
    is_float: bool = field(default=False, repr=False)
    is_native_float: bool = field(default=False, repr=False)
    is_predicate: bool = field(default=False, repr=False)

    def __post_init__(self) -> None:
        kind, write = self.kind, object.__setattr__
        write(self, "bytes", max(1, self.bits // 8))
        write(self, "is_integer", kind in (_SIGNED, _UNSIGNED))
        write(self, "is_signed", kind is _SIGNED)
        write(self, "is_float", kind is _FLOAT)
        write(self, "is_native_float", kind is _FLOAT and self.bits >= 32)
        write(self, "is_predicate", kind is _PREDICATE)

    def __str__(self) -> str:
        return f".{self.name}"

    def __reduce__(self) -> tuple[object, ...]:
        """Copies, and what is unpickled, are the one object."""
        return _of_name, (self.name,)


def _types(kind: Kind, prefix: str, sizes: tuple[int, ...]) -> dict[str, Type]:
    return {f"{prefix}{n}": Type(f"{prefix}{n}", kind, n) for n in sizes}


TYPES: dict[str, Type] = {
    **_types(Kind.SIGNED, "s", (8, 16, 32, 64)),
    **_types(Kind.UNSIGNED, "u", (8, 16, 32, 64)),
    **_types(Kind.FLOAT, "f", (16, 32, 64)),
    **_types(Kind.BITS, "b", (8, 16, 32, 64, 128)),
    "pred": Type("pred", Kind.PREDICATE, 1),
    "bf16": Type("bf16", Kind.FLOAT, 16),
    "f16x2": Type("f16x2", Kind.PACKED, 32),
    "bf16x2": Type("bf16x2", Kind.PACKED, 32),
    "u16x2": Type("u16x2", Kind.PACKED, 32),
    "s16x2": Type("s16x2", Kind.PACKED, 32),
    "f32x2": Type("f32x2", Kind.PACKED, 64),
}

S8, S16, S32, S64 = (TYPES[f"s{n}"] for n in (8, 16, 32, 64))
U8, U16, U32, U64 = (TYPES[f"u{n}"] for n in (8, 16, 32, 64))
B8, B16, B32, B64, B128 = (TYPES[f"b{n}"] for n in (8, 16, 32, 64, 128))
F16, F32, F64 = (TYPES[f"f{n}"] for n in (16, 32, 64))
BF16, F16X2, BF16X2 = TYPES["bf16"], TYPES["f16x2"], TYPES["bf16x2"]
U16X2, S16X2, F32X2 = TYPES["u16x2"], TYPES["s16x2"], TYPES["f32x2"]
PRED = TYPES["pred"]

OPAQUE = {n: Type(n, Kind.OPAQUE, 64) for n in ("texref", "samplerref", "surfref")}
"""Types of texture, sampler and surface variables: handles without arithmetic."""


def _of_name(name: str) -> Type:
    return (TYPES | OPAQUE)[name]


VECTORS = {"v2": 2, "v4": 4, "v8": 8}

STATE_SPACES = ("reg", "sreg", "const", "global", "local", "param", "shared", "tex")
"""Table 6."""


def unsigned(bits: int) -> Type:
    return TYPES[f"u{bits}"]


def signed(bits: int) -> Type:
    return TYPES[f"s{bits}"]


def bits_type(bits: int) -> Type:
    return TYPES[f"b{bits}"]


def floating(bits: int) -> Type:
    return TYPES[f"f{bits}"]
