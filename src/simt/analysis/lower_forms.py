"""The few operations that lowering itself puts in: register moves for `.param` cells, frame accesses, sums.

They are forms like those of the catalogue, with meanings over the algebra, but cannot be written in PTX.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from simt.analysis.program import Address, Guard, Op, Operand, Register, Source
from simt.isa.algebra import Algebra, V
from simt.isa.form import Form, Meaning, compile_form
from simt.isa.warp import shfl
from simt.ptx.types import B32, PRED, TYPES, U32, Type, bits_type, unsigned

_ANY = " ".join(TYPES)


def internal(syntax: str, effects: str = "") -> Callable[[Meaning], Form]:
    slots = {"type": _ANY, "atype": _ANY, "btype": _ANY, "mode": "up down bfly idx"}

    def build(meaning: Meaning) -> Form:
        return compile_form(
            syntax, meaning, slots, ref="lowering", chapter="lowering", effects=frozenset(effects.split())
        )

    return build


@internal("copy.type d, a")
def COPY(m: Algebra[V], a: V) -> V:
    return a


@internal("join.type d, a:b32, b:b32")
def JOIN(m: Algebra[V], t: Type, a: V, b: V) -> V:
    """Two 32-bit cells, low one first, as one 64-bit value."""
    wide = bits_type(64)
    high = m.shift_left(wide, m.resize(B32, wide, b), m.const(U32, 32))
    return m.from_bits(t, m.or_(wide, m.resize(B32, wide, a), high))


@internal("part.type.atype d, a, n:u32")
def PART(m: Algebra[V], t: Type, a: V, atype: Type, n: V) -> V:
    """The bits of `a` from bit `n` on, cut to the type."""
    source = unsigned(atype.bits)
    bits = m.shift_right(source, m.to_bits(atype, a), n)
    return m.from_bits(t, m.resize(source, bits_type(t.bits), bits))


@internal("insert.type.btype d, a, b, c:type, n:u32")
def INSERT(m: Algebra[V], t: Type, a: V, b: V, btype: Type, c: V, n: V) -> V:
    """`a` with the bits that mask `c` selects replaced by `b`, shifted to bit `n`."""
    bits = m.resize(bits_type(btype.bits), t, m.to_bits(btype, b))
    return m.or_(t, m.and_(t, a, m.invert(t, c)), m.shift_left(t, bits, n))


@internal("sum.type d, a, b")
def SUM(m: Algebra[V], t: Type, a: V, b: V) -> V:
    return m.add(t, a, b)


@internal("cut.type d, a, b")
def CUT(m: Algebra[V], t: Type, a: V, b: V) -> V:
    """The bits of `a` that mask `b` selects."""
    return m.and_(t, a, b)


@internal("either.type d, a, b")
def EITHER(m: Algebra[V], t: Type, a: V, b: V) -> V:
    """The bits of `a` and of `b`."""
    return m.or_(t, a, b)


@internal("scaled.type d, a, n:u32")
def SCALED(m: Algebra[V], t: Type, a: V, n: V) -> V:
    """The bytes before element `a` of an array whose elements have `2**n` bytes."""
    return m.shift_left(t, a, n)


@internal("chosen.type d, a, b, c:pred")
def CHOSEN(m: Algebra[V], t: Type, a: V, b: V, c: V) -> V:
    """`a` where the predicate holds, else `b`."""
    return m.select(t, c, a, b)


@internal("equal.type d:pred, a, b")
def EQUAL(m: Algebra[V], t: Type, a: V, b: V) -> V:
    return m.compare("eq", t, a, b)


@internal("less.type d:pred, a, b")
def LESS(m: Algebra[V], t: Type, a: V, b: V) -> V:
    return m.compare("lt", t, a, b)


@internal("stepped.type d, a, b, c")
def STEPPED(m: Algebra[V], t: Type, a: V, b: V, c: V) -> V:
    """`c`, and one more where `a` is below `b`."""
    return m.select(t, m.compare("lt", t, a, b), m.add(t, c, m.const(t, 1)), c)


@internal("far.type d:pred, a, b, c")
def FAR(m: Algebra[V], t: Type, a: V, b: V, c: V) -> V:
    """Whether `b` is at least `c` more than `a`, modulo the type."""
    return m.compare("ge", t, m.sub(t, b, a), c)


@internal("fits.type d:pred, a, b, c, e")
def FITS(m: Algebra[V], t: Type, a: V, b: V, c: V, e: V) -> V:
    """Whether `a` is at most `c`, and `b` at most `e` and above zero."""
    positive = m.and_(PRED, m.compare("gt", t, b, m.const(t, 0)), m.compare("le", t, b, e))
    return m.and_(PRED, m.compare("le", t, a, c), positive)


@internal("near.type d:pred, a, b, c, e:pred")
def NEAR(m: Algebra[V], t: Type, a: V, b: V, c: V, e: V) -> V:
    """Whether `a` is less than `c` more than `b`, modulo the type, and `e` holds."""
    return m.and_(PRED, e, m.compare("lt", t, m.sub(t, a, b), c))


@internal("all.type d:pred, a:pred", "warp")
def ALL(m: Algebra[V], a: V) -> V:
    """Whether a predicate holds in all lanes that run."""
    return m.compare("eq", U32, m.ballot(m.invert(PRED, a)), m.const(U32, 0))


@internal("none.type d:pred, a:pred", "warp")
def NONE(m: Algebra[V], a: V) -> V:
    """Whether a predicate holds in no lane that runs."""
    return m.compare("eq", U32, m.ballot(a), m.const(U32, 0))


@internal("send.mode.type d, a, b:b32, c:b32", "warp")
def SEND(m: Algebra[V], t: Type, a: V, b: V, c: V, mode: str) -> V:
    """A register of another lane, of 64 bits."""
    return shfl(m, t, a, b, c, mode)[0]


@internal("rotated.type d, a, n:u32")
def ROTATED(m: Algebra[V], t: Type, a: V, n: V) -> V:
    """`a` with bit `n`, not 0, as its first one: those below come above the others."""
    above = m.shift_left(t, a, m.sub(U32, m.const(U32, t.bits), n))
    return m.or_(t, m.shift_right(unsigned(t.bits), a, n), above)


@internal("quotient.type d, a, b")
def QUOTIENT(m: Algebra[V], t: Type, a: V, b: V) -> V:
    """A quotient of 64 bits, by 32 bits where these are enough."""
    return m.divide_short(t, a, b)


@internal("quotient_or_none.type d, a, b")
def QUOTIENT_OR_NONE(m: Algebra[V], t: Type, a: V, b: V) -> V:
    """A quotient; 0 if the divisor is."""
    zero = m.const(t, 0)
    divided = m.divide(t, a, b) if t.bits == U32.bits else m.divide_short(t, a, b)
    return m.select(t, m.compare("eq", t, b, zero), zero, divided)


@internal("quotient_by_product.type d, a, b, c, e:u32")
def QUOTIENT_BY_PRODUCT(m: Algebra[V], t: Type, a: V, b: V, c: V, e: V) -> V:
    """A product's upper half, shifted: a quotient by `b`, if `c` and `e` are right for that."""
    return m.divide_by_product(t, a, b, c, e, False)


@internal("quotient_by_long_product.type d, a, b, c, e:u32")
def QUOTIENT_BY_LONG_PRODUCT(m: Algebra[V], t: Type, a: V, b: V, c: V, e: V) -> V:
    """The same of a product with `c` and one more bit above it."""
    return m.divide_by_product(t, a, b, c, e, True)


@internal("rest.type d, a, b")
def REST(m: Algebra[V], t: Type, a: V, b: V) -> V:
    """A remainder of 64 bits, by 32 bits where these are enough."""
    return m.remainder_short(t, a, b)


@internal("fill.type d, [a]", "memory")
def FILL(m: Algebra[V], t: Type, a: V) -> V:
    """A load from the function's own frame."""
    return m.load(t, "local", a, 1, False)[0]


@internal("spill.type [a], b", "memory")
def SPILL(m: Algebra[V], t: Type, a: V, b: V) -> None:
    """A store to the function's own frame."""
    m.store(t, "local", a, (b,), False)


@internal("allocate.type d, a, b, c, e")
def ALLOCATE(m: Algebra[V], t: Type, a: V, b: V, c: V, e: V) -> V:
    """`a` bytes from `b` on, aligned as the mask `c` says; an address without memory if they pass `e`."""
    start = m.and_(t, m.add(t, b, c), m.invert(t, c))
    fits = m.compare("le", t, start, e)
    fits = m.and_(PRED, fits, m.compare("le", t, a, m.sub(t, e, start)))
    return m.select(t, fits, start, m.const(t, 1 << (t.bits - 2) | 1 << 30))  # nowhere, nor is its lower half


def simple(
    form: Form, t: Type, d: Register | None, sources: Mapping[str, tuple[Source | Address, Type]],
    line: int, guard: Guard | None = None, **binding: Type,
) -> Op:  # fmt: skip
    """An op of one of these forms with type `t`; each source comes with the type in which it is read."""
    operands: dict[str, Operand] = {name: source for name, (source, _) in sources.items()}
    types = {name: kind for name, (_, kind) in sources.items()}
    results = () if d is None else (t,)
    destinations = () if d is None else (d,)
    return Op(form, {"type": t, **binding}, operands, types, destinations, results, guard, line)


def copy(d: Register, source: Source, t: Type, line: int, guard: Guard | None = None) -> Op:
    """`d = source`, read as type `t` and widened to the register by it."""
    return simple(COPY, t, d, {"a": (source, t)}, line, guard)
