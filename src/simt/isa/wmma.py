"""Matrices of a warp that are loaded, multiplied and stored as a whole (PTX 6.0 and later, `wmma`).

Programs are not told which lane has which element. Here it is as on an H200: see `simt.isa.fragments`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, Generic

from simt.isa.algebra import Algebra, Rounding, V
from simt.isa.catalogue import M, instruction
from simt.isa.derived import halves, join
from simt.isa.form import Value, Version
from simt.isa.fragments import (
    BITS,
    DOUBLED,
    GROUP,
    LAYOUTS,
    LINES,
    blocks,
    elements_of,
    name_of,
    pairs,
    register,
    sizes,
)
from simt.isa.matrices import Spread, sent_words
from simt.isa.memory import elements, state_space
from simt.isa.mma import ROUNDINGS, UNSAID, kind_of, product
from simt.isa.products import Kind
from simt.ptx.types import B32, F16, F32, U32, U64, Type, bits_type
from simt.records import dataclass, replace

SPACES = "global shared shared::cta"
SHAPES = "m16n16k16 m32n8k16 m8n32k16"
LATER = {
    "m32n8k16": "6.1 sm_70", "m8n32k16": "6.1 sm_70", "shared::cta": "7.8",
    "and": "7.1 sm_80", "aligned": "6.3 sm_70",
}  # fmt: skip
"""What came after the first forms that have it."""
ROW = 16
"""Bytes of a row of a block in memory."""
HALVES, BYTES, SHORT, AMPERE = "6.0 sm_70", "6.3 sm_72", "6.3 sm_75", "7.0 sm_80"


@dataclass(frozen=True, slots=True)
class Reach(Generic[V]):
    """Where a lane's elements of a matrix stand. `first`: the address (of type `t`) of what it has of the
    first line at the first place. `stride`: bytes between rows of memory. `along`: whether the elements of a
    line stand side by side there, `bits` each."""

    m: Algebra[V]
    t: Type
    first: V
    stride: V
    bits: int
    along: bool

    def at(self, line: int, place: int) -> V:
        """The address of what it has so many lines and places further on."""
        m, t = self.m, self.t
        beside, below = (place, line) if self.along else (line, place)
        offset = m.add(t, m.mul(t, self.stride, m.const(t, below)), m.const(t, beside * self.bits // 8))
        return m.add(t, self.first, offset)


def _bytes(m: Algebra[V], t: Type, stride: V, bits: int) -> V:
    """From one row of memory to the next, for a stride in elements of some bits; of type `t`."""
    return m.shift_right(t, m.mul(t, m.resize(U32, t, stride), m.const(t, bits)), m.const(U32, 3))


def reach(m: Algebra[V], t: Type, a: V, stride: V, bits: int, along: bool, held: int) -> Reach[V]:
    """Of a matrix at the address `a`, of which a lane has `held` elements side by side in a line."""
    lane = m.lane()
    line = m.shift_right(U32, lane, m.const(U32, 2))
    place = m.mul(U32, m.and_(U32, lane, m.const(U32, GROUP - 1)), m.const(U32, held))
    beside, below = (place, line) if along else (line, place)
    apart = _bytes(m, t, stride, bits)
    here = m.shift_right(U32, m.mul(U32, beside, m.const(U32, bits)), m.const(U32, 3))
    offset = m.add(t, m.mul(t, m.resize(U32, t, below), apart), m.resize(U32, t, here))
    return Reach(m, t, m.add(t, a, offset), apart, bits, along)


def _width(matrix: str, shape: str, layout: str) -> int:
    """Elements in a row of memory, if no stride says otherwise."""
    rows, columns = sizes(shape).of(matrix)
    return columns if layout == "row" else rows


def _packed(m: Algebra[V], bits: int, parts: Sequence[V]) -> V:
    """Elements of some bits in one word, the first one lowest."""
    wide = [m.resize(bits_type(bits), B32, part) for part in parts]
    return reduce(
        lambda x, y: m.or_(B32, x, y),
        (m.shift_left(B32, part, m.const(U32, i * bits)) for i, part in enumerate(wide)),
    )


# ------------------------------------------------------------------ loads and stores


def has_aligned(binding: Mapping[str, Value], version: Version) -> str | None:
    """Since PTX 6.3 `.aligned` must be there; before, it was not known."""
    if version >= (6, 3) and not binding["aligned"]:
        return "`.aligned` must be there from PTX ISA 6.3 on"
    return None


def _moves(syntax: str, what: str, types: str, shape: str, since: str, **slots: Any) -> Callable[[M], M]:
    """Declares loads or stores."""
    words = f"{shape} {SPACES} aligned".split()
    return instruction(
        syntax, shape=shape, space=SPACES, type=types, defaults={"address": U64}, since=since,
        check=has_aligned, requires={key: value for key, value in LATER.items() if key in words},
        effects="memory warp", ref=f"PTX {since.split()[0]} {what}", **slots,
    )  # fmt: skip


def loads(matrix: str, types: str, shape: str, since: str, layout: str = LAYOUTS) -> Callable[[M], M]:
    """Declares loads of some matrices."""
    syntax = "wmma.load.matrix.sync[.aligned].layout.shape[.space].type d:wmma(matrix), [a][, b:u32]"
    return _moves(syntax, "wmma.load", types, shape, since, matrix=matrix, layout=layout)


@loads("a b", "f16", SHAPES, HALVES)
@loads("a b", "bf16", SHAPES, AMPERE)
@loads("a b", "tf32", "m16n16k8", AMPERE)
@loads("a b", "f64", "m8n8k4", AMPERE)
@loads("a b", "u8 s8", SHAPES, BYTES)
@loads("b", "u4 s4", "m8n8k32", SHORT, "col")
@loads("a", "u4 s4", "m8n8k32", SHORT, "row")
@loads("b", "b1", "m8n8k128", SHORT, "col")
@loads("a", "b1", "m8n8k128", SHORT, "row")
def wmma_load(
    m: Algebra[V], a: V, b: V | None, matrix: str, layout: str, shape: str, space: str | None,
    type: object, address: Type,
) -> tuple[V, ...]:  # fmt: skip
    """Loads a small matrix into the registers of a warp.

    `b`: elements from one row of memory to the next; without, rows stand one after the other.
    """
    element, region = name_of(type), state_space(space)
    bits, held, t = BITS[element], elements_of(matrix, element), register(matrix, element)
    stride = m.const(U32, _width(matrix, shape, layout)) if b is None else b
    along, wanted = (layout == "row") == (matrix == "a"), list(blocks(matrix, sizes(shape), element))
    if region == "shared" and t == B32 and (along or bits == F16.bits):
        loaded = _loaded_by_rows(m, a, _bytes(m, address, stride, bits), along, wanted, address)
    else:
        found = reach(m, address, a, stride, bits, along, held)
        loaded = _loaded_each(m, region, found, t, held, wanted)
    return tuple(loaded * (DOUBLED // len(loaded)) if element == "f16" else loaded)


def _loaded_each(
    m: Algebra[V], region: str, found: Reach[V], t: Type, held: int, wanted: Sequence[tuple[int, int]]
) -> list[V]:
    """Registers for some blocks of lines and places, loaded by each lane for itself."""
    together = found.along or held == 1
    of, steps = (t, 1) if together else (bits_type(found.bits), held)
    values: list[V] = []
    for line, place in wanted:
        starts = (found.at(LINES * line, GROUP * held * place + step) for step in range(steps))
        parts = [m.load(of, region, start, 1, False)[0] for start in starts]
        values.append(parts[0] if together else _packed(m, found.bits, parts))
    return values


def _loaded_by_rows(
    m: Algebra[V], a: V, apart: V, along: bool, wanted: Sequence[tuple[int, int]], t: Type
) -> list[V]:
    """Registers for some blocks of lines and places, as `ldmatrix` loads them: each lane a row of 16 bytes;
    rows are `apart`. Where lines do not go along rows, elements have 16 bits and blocks are transposed."""
    values: list[V] = []
    for start in range(0, len(wanted), GROUP):
        chosen = wanted[start : start + GROUP]
        lane = m.and_(U32, m.lane(), m.const(U32, LINES * len(chosen) - 1))
        which, row = m.shift_right(U32, lane, m.const(U32, 3)), m.and_(U32, lane, m.const(U32, LINES - 1))
        lines = tuple(LINES * (line if along else place) for line, place in chosen)
        rows = tuple(ROW * (place if along else line) for line, place in chosen)
        below, beside = m.lookup(U32, which, lines, rows)
        offset = m.mul(t, m.resize(U32, t, m.add(U32, below, row)), apart)
        here = m.add(t, m.add(t, a, offset), m.resize(U32, t, beside))
        words = m.load(U32, "shared", here, ROW // U32.bytes, False)
        values += m.warp_function(Spread(len(chosen), not along), (U32,) * len(chosen), *sent_words(m, words))
    return values


def _third(
    m: Algebra[V], a: V, b: V | None, matrix: str, layout: str, shape: str, element: str, address: Type
) -> Reach[V]:
    """Where a lane's elements of `c` or `d` are."""
    stride = m.const(U32, _width(matrix, shape, layout)) if b is None else b
    along = (layout == "row") != sizes(shape).is_turned
    return reach(m, address, a, stride, BITS[element], along, 2)


def _element(matrix: str, element: str) -> Type:
    """The type as which an element of `c` or `d` is loaded and stored."""
    return F16 if element == "f16" else register(matrix, element)


@loads("c", "f16 f32", SHAPES, HALVES)
@loads("c", "s32", SHAPES, BYTES)
@loads("c", "s32", "m8n8k32 m8n8k128", SHORT)
@loads("c", "f32", "m16n16k8", AMPERE)
@loads("c", "f64", "m8n8k4", AMPERE)
def wmma_load_third(
    m: Algebra[V], a: V, b: V | None, layout: str, shape: str, space: str | None, type: object, address: Type
) -> tuple[V, ...]:
    """Loads the summand of a product of small matrices into the registers of a warp.

    `b`: elements from one row of memory to the next; without, rows stand one after the other.
    """
    element, region = name_of(type), state_space(space)
    found, t = _third(m, a, b, "c", layout, shape, element, address), _element("c", element)
    values: list[V] = []
    for line, place in pairs(sizes(shape)):
        starts = [found.at(LINES * line, LINES * place + step) for step in ((0,) if found.along else (0, 1))]
        values += [v for start in starts for v in m.load(t, region, start, 2 // len(starts), False)]
    return tuple(_in_words(m, values) if element == "f16" else values)


def _in_words(m: Algebra[V], values: Sequence[V]) -> list[V]:
    return [join(m, low, high) for low, high in zip(values[::2], values[1::2])]


def stores(types: str, shape: str, since: str) -> Callable[[M], M]:
    """Declares stores of products."""
    syntax = "wmma.store.matrix.sync[.aligned].layout.shape[.space].type [a], c:wmma(matrix)[, b:u32]"
    return _moves(syntax, "wmma.store", types, shape, since, matrix="d", layout=LAYOUTS)


@stores("f16 f32", SHAPES, HALVES)
@stores("s32", SHAPES, BYTES)
@stores("s32", "m8n8k32 m8n8k128", SHORT)
@stores("f32", "m16n16k8", AMPERE)
@stores("f64", "m8n8k4", AMPERE)
def wmma_store(
    m: Algebra[V], a: V, b: V | None, c: tuple[V, ...], layout: str, shape: str, space: str | None,
    type: object, address: Type,
) -> None:  # fmt: skip
    """Stores a small matrix from the registers of a warp.

    `b`: elements from one row of memory to the next; without, rows stand one after the other.
    """
    element, region = name_of(type), state_space(space)
    found, t = _third(m, a, b, "d", layout, shape, element, address), _element("d", element)
    values = [half for word in c for half in halves(m, word)] if element == "f16" else list(c)
    for i, (line, place) in enumerate(pairs(sizes(shape))):
        pair = tuple(values[2 * i : 2 * i + 2])
        for step, part in ((0, pair),) if found.along else enumerate((v,) for v in pair):
            m.store(t, region, found.at(LINES * line, LINES * place + step), part, False)


# ------------------------------------------------------------------ products

OPERANDS = "d:wmma(d), a:wmma(a), b:wmma(b), c:wmma(c)"
OF_HALVES = f"wmma.mma.sync[.aligned].alayout.blayout.shape.dtype.ctype {OPERANDS}"
SYNTAX = f"wmma.mma.sync[.aligned].alayout.blayout.shape.dtype.atype.btype.ctype {OPERANDS}"
OF_INTEGERS = f"wmma.mma.sync[.aligned].alayout.blayout.shape.dtype.atype.btype.ctype[.satfinite] {OPERANDS}"
OF_BITS = f"wmma.mma.operation.popc.sync[.aligned].row.col.shape.dtype.atype.btype.ctype {OPERANDS}"
OF_DOUBLES = f"wmma.mma.sync[.aligned].alayout.blayout.shape.dtype.atype.btype.ctype[.rnd] {OPERANDS}"


def products_alike(binding: Mapping[str, Value], version: Version) -> str | None:
    """`a` and `b` have the same type."""
    a, b = (name_of(binding[slot]) for slot in ("atype", "btype"))
    return has_aligned(binding, version) if a == b else f"`b` of type `.{b}` does not go with `.{a}` for `a`"


def multiplies(syntax: str, types: str, third: str, shape: str, since: str, **slots: Any) -> Callable[[M], M]:
    """Declares products: the types of `a` and `b`, those of `c` and `d`, shapes. What a form has no slot for
    is bound all the same."""
    if "alayout" in syntax:
        slots = {"alayout": LAYOUTS, "blayout": LAYOUTS} | slots
    unsaid: dict[str, Value] = {**UNSAID, "atype": types, "btype": types}
    if "atype" in syntax:
        slots |= {"atype": types, "btype": types}
    words = f"{shape} {slots.get('operation', '')} aligned".split()
    return instruction(
        syntax, shape=shape, dtype=third, ctype=third, since=since, check=products_alike, effects="warp",
        requires={key: value for key, value in LATER.items() if key in words},
        defaults={key: value for key, value in unsaid.items() if key not in syntax},
        ref=f"PTX {since.split()[0]} wmma.mma", **slots,
    )  # fmt: skip


@multiplies(OF_HALVES, "f16", "f16 f32", SHAPES, HALVES)
@multiplies(SYNTAX, "bf16", "f32", SHAPES, AMPERE)
@multiplies(SYNTAX, "tf32", "f32", "m16n16k8", AMPERE)
@multiplies(OF_DOUBLES, "f64", "f64", "m8n8k4", AMPERE, rnd=ROUNDINGS)
@multiplies(OF_INTEGERS, "u8 s8", "s32", SHAPES, BYTES)
@multiplies(OF_INTEGERS, "u4 s4", "s32", "m8n8k32", SHORT, alayout="row", blayout="col")
@multiplies(OF_BITS, "b1", "s32", "m8n8k128", SHORT, operation="xor and")
def wmma_mma(
    m: Algebra[V], a: V | tuple[V, ...], b: V | tuple[V, ...], c: V | tuple[V, ...], shape: str,
    dtype: object, atype: object, btype: object, ctype: object, satfinite: bool, operation: str,
    rnd: Rounding | None,
) -> tuple[V, ...]:  # fmt: skip
    """Multiplies small matrices that the lanes of a warp hold, and adds a third.

    How sums are rounded is told in `docs/matrices.md`. All lanes of the warp take part.
    """
    kind = kind_of(atype, btype, ctype, dtype, "satfinite" if satfinite else operation, rnd)
    if kind.a != "f16" or kind.c == kind.d == "f16":
        return tuple(_multiplied(m, kind, shape, elements(a), elements(b), elements(c)))
    third = [value for word in elements(c) for value in _widened(m, kind.c, word)]
    found = _multiplied(m, replace(kind, c="f32", d="f32"), shape, elements(a), elements(b), third)
    if kind.d == "f32":
        return tuple(found)
    rounded = [m.nan_result(F16, m.float_to_float(F32, F16, value, "rn")) for value in found]
    return tuple(_in_words(m, rounded))


def _widened(m: Algebra[V], t: str, word: V) -> list[V]:
    """What a register of `c` holds, as `.f32`."""
    return [word] if t == "f32" else [m.float_to_float(F16, F32, half, "rn") for half in halves(m, word)]


def _multiplied(
    m: Algebra[V], kind: Kind, shape: str, a: Sequence[V], b: Sequence[V], c: Sequence[V]
) -> list[V]:
    """By products of 16 or 8 rows and 8 columns each; those of `.tf32` sum four products at a time."""
    whole = sizes(shape)
    (tall, short), lines = ((b, a), whole.n) if whole.is_turned else ((a, b), whole.m)
    steps = whole.k // (GROUP * elements_of("a", kind.a))  # registers of a line
    height = min(lines // LINES, 2)
    kind = replace(kind, rows=LINES * height)
    columns = (whole.m if whole.is_turned else whole.n) // LINES
    parts = [(x, y) for x in range(lines // LINES // height) for y in range(columns)]
    size = len(c) // len(parts)
    found: list[V] = []
    for i, (x, y) in enumerate(parts):
        factors = tall[x * height * steps :][: height * steps], short[y * steps :][:steps]
        found += _summed(m, kind, height, *factors, c[i * size :][:size])
    return found


def _summed(
    m: Algebra[V], kind: Kind, height: int, tall: Sequence[V], short: Sequence[V], c: Sequence[V]
) -> Sequence[V]:
    """The product of one or two blocks of lines with one."""
    if kind.a != "tf32":
        return product(m, kind, tuple(tall), tuple(short), tuple(c))
    for i, word in enumerate(short):
        c = product(m, kind, tuple(tall[i * height :][:height]), (word,), tuple(c))
    return c
