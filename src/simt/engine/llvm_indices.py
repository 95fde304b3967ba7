"""Indices of which addresses are made.

A CPU gathers and scatters by a start and an index of 32 bits for each lane. Where an address is such an
index, extended, times the elements' size, and the same start for all lanes, nothing need be computed for each
lane but whether its index lies between two numbers, which are known for the whole warp.
"""

from __future__ import annotations

from simt.engine.llvm_access import I64, LOCAL, SHARED, Access, AccessAlgebra
from simt.engine.llvm_algebra import LlvmIntegers
from simt.engine.llvm_builder import Value
from simt.engine.llvm_lanes import BARE, Guarded, Index, bases, shape_of
from simt.ptx.types import U32, Type
from simt.records import replace

LARGEST = 3
"""The greatest shift that makes bytes of an index: words of 8 bytes."""
LEAST = 4
"""Bytes that CPUs gather at least: smaller elements are the first ones of these."""
I32_LEAST, I32_END = -(2**31), 2**31


def _index(value: Value) -> Index | None:
    return value.index if isinstance(value, Guarded) else None


def _with(value: Value, index: Index) -> Value:
    return replace(value, index=index) if isinstance(value, Guarded) else value


def _finer(access: Access, index: Index) -> int:
    """By how many bits an index counts finer than by elements."""
    return access.size.bit_length() - 1 - index.shift


class IndexAlgebra(AccessAlgebra):
    """`AccessAlgebra` that notes indices, and checks them."""

    # -- of which addresses are made ---------------------------------------------------------------

    def mul(self, t: Type, a: Value, b: Value) -> Value:
        if a.literal is not None:
            a, b = b, a
        factor = b.literal or 0
        bits = factor.bit_length() - 1 if factor.bit_count() == 1 else None
        return self._noted_product(super().mul(t, a, b), a, bits)

    def shift_left(self, t: Type, a: Value, n: Value) -> Value:
        return self._noted_product(super().shift_left(t, a, n), a, n.literal)

    def and_(self, t: Type, a: Value, b: Value) -> Value:
        """Of an extended index and a constant: the extended one of 32 bits of either."""
        if _index(a) is None:
            a, b = b, a
        index, known = _index(a), b.literal
        if index is None or index.start is not None or index.shift:
            return super().and_(t, a, b)
        if known is None or not 0 <= known < I32_END:
            return super().and_(t, a, b)
        return self.resize(U32, t, super().and_(U32, index.column, self.number("i32", known)))

    def _noted_product(self, result: Value, a: Value, bits: int | None) -> Value:
        """The result with its index, if `a`, which was shifted by some bits, is one."""
        index = _index(a)
        if index is None or index.start is not None or bits is None or bits > LARGEST - index.shift:
            return result
        return _with(result, replace(index, shift=index.shift + bits))

    def add(self, t: Type, a: Value, b: Value) -> Value:
        if a.__class__ in BARE and b.__class__ in BARE:
            return super().add(t, b, a)
        if _index(a) is None:
            a, b = b, a
        total, index = super().add(t, a, b), _index(a)
        if index is None or isinstance(b, Guarded) or not shape_of(b).is_uniform:
            return total
        start = bases(b) if index.start is None else self.binary("add", index.start, bases(b))
        return _with(total, replace(index, start=start))

    # -- accesses ----------------------------------------------------------------------------------

    def index_of(self, access: Access) -> Index | None:
        """The index, of elements or parts of them, of which an access's addresses are made, if the CPU can
        use it."""
        able = self.has_gathers or self.goes_by_lane
        return self.any_index_of(access) if able and not access.volatile else None

    def any_index_of(self, access: Access) -> Index | None:
        """The same, of accesses that are done lane by lane."""
        address = access.address
        index = _index(address)
        able = access.region not in (SHARED, LOCAL) and access.region.lo != "0"
        able = able and access.count == 1 and not self._is_proven(access)
        if index is None or index.start is None or not able:
            return None
        return index if 1 << index.shift <= access.size else None

    def are_inside(self, access: Access, index: Index) -> str:
        """i1: the elements of all lanes that run are in the region, and aligned; and so are four bytes from
        each of them on."""
        return self.inside_by_index(access, index)[0]

    def inside_by_index(self, access: Access, index: Index) -> tuple[str, Index]:
        """`are_inside`, and the index by which to get at the elements then: where lanes are served one by
        one, it is counted from the first element that is inside."""
        first, number = self._inside(access, index)
        counted = LlvmIntegers.binary(self, "sub", index.column, self.widened(first, index.column.width))
        turned = self._rotated(counted, _finer(access, index))
        inside = self._none_of(self.test("icmp ult", turned, self.widened(number, turned.width)))
        if not self.goes_by_lane:
            return inside, index
        assert index.start is not None
        steps = self.binary("shl", self.cast("sext", I64, first), self.number(I64, index.shift))
        start = self.binary("add", index.start, steps)
        return inside, replace(index, column=counted, is_signed=False, start=start)

    def _none_of(self, inside: Value) -> str:
        wrong = self.mask_and(self.mask, self.invert_mask(inside))
        return self.builder.emit(f"icmp eq i32 {self.mask_bits(wrong).ir}, 0")

    def _inside(self, access: Access, index: Index) -> tuple[Value, Value]:
        """The least index that is inside, and how many elements are from there on, as i32. LLVM extends an
        index with its sign: numbers without one from 2**31 on do not count."""
        assert index.start is not None
        finer = _finer(access, index)
        limit = self._limit(access, max(access.size, LEAST), index.shift + finer)
        start = self.binary("sub", index.start, Value(access.region.lo, I64))
        beside = self.binary("and", start, self.number(I64, access.size - 1))
        aligned = self.test("icmp eq", beside, self.number(I64, 0))
        before = self.binary("ashr", start, self.number(I64, index.shift + finer))
        least = I32_LEAST >> finer if index.is_signed else 0
        first = self._bounded("smax", self.binary("sub", self.number(I64, 0), before), least)
        end = self._bounded("smin", self.binary("sub", limit, before), I32_END >> finer)
        number = self._bounded("smax", self.binary("sub", end, first), 0)
        number = self._bounded("umin", number, (1 << U32.bits) - 1)
        number = Value(self.builder.emit(f"select {aligned.typed}, {number.typed}, i64 0"), I64)
        first = self.binary("shl", first, self.number(I64, finer))
        return self.cast("trunc", "i32", first), self.cast("trunc", "i32", number)

    def _bounded(self, which: str, value: Value, bound: int) -> Value:
        function = self.module.declare(f"llvm.{which}.i64", I64, (I64, I64))
        return Value(self.builder.emit(f"call i64 {function}({value.typed}, i64 {bound})"), I64)
