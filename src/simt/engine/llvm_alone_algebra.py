"""The algebra of one lane, which runs scalar code: see `simt.engine.llvm_alone`.

An address made of an array's start, which the loop does not change, and an index that it has just read is
checked by the index: it must lie in a range that is computed once, before the loop. Then the code needs no
more of the address than the CPU's addressing mode gives.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial

from simt.analysis.access import Plan, Way
from simt.analysis.shape import WARP
from simt.engine.atomic_operation import is_simple
from simt.engine.llvm_access import ALIKE, ARENA, I64, LOCAL, SHARED, Access
from simt.engine.llvm_atomics import AtomicAlgebra
from simt.engine.llvm_branches import LIKELY
from simt.engine.llvm_builder import Value
from simt.engine.llvm_indices import LARGEST
from simt.engine.llvm_lanes import Guarded, Lanes, bases, shape_of
from simt.ptx.types import U64, Type
from simt.records import dataclass


class NotAlone(Exception):
    """The loop does what one lane cannot do alone."""


@dataclass(frozen=True, slots=True)
class Element:
    """An address (i64): `base`, which stays what it is throughout the loop, and `index` elements of
    `2**shift` bytes. The index (i64) is an extended number of 32 bits."""

    base: Value
    index: Value
    shift: int


class AloneAlgebra(AtomicAlgebra):
    """The algebra of one lane: every column is a scalar. `lane_number`: the lane (i32). `word_woven`: bytes
    of the words by which local memory is woven (`simt.engine.llvm_woven`; 0: it is not).

    `only_loads`: the loop stores nothing, so that volatile loads in it are no talk among the lanes.
    `is_checked`: the present access is known to be valid. `given`: the pointer that it uses, if that is made
    ahead. `touched`: bytes of the last plain access, if it was to the arena; negative for a store."""

    lane_number = Value("0", "i32")
    word_woven = 0
    only_loads = False
    is_checked = False
    given: str | None = None
    touched = 0

    @property
    def has_masks(self) -> bool:
        """Whether a lane of a vector in registers is written by one instruction or two."""
        return "avx512f" in self.features

    @cached_property
    def outside(self) -> set[str]:
        """Names of values that the loop does not change."""
        return set()

    @cached_property
    def _indices(self) -> dict[str, tuple[Value, int]]:
        """By names: an extended index, and by how many bits it is shifted."""
        return {}

    @cached_property
    def elements(self) -> dict[str, Element]:
        """By names of addresses."""
        return {}

    @cached_property
    def extended(self) -> dict[str, tuple[Value, bool]]:
        """By names of extended indices: of which number, and whether it has a sign."""
        return {}

    def scalar(self, value: Value) -> Value:
        """What a column has in the lane."""
        if isinstance(value, Lanes) and not isinstance(value, Guarded) and value.shape.is_uniform:
            return bases(value)
        if value.width == 1 and not isinstance(value, Lanes):
            return value
        column = self.vector(value)
        return Value(
            self.builder.emit(f"extractelement {column.typed}, i32 {self.lane_number.ir}"), value.type
        )

    def special(self, name: str, component: str) -> Value:
        return self.scalar(super().special(name, component))

    def lane(self) -> Value:
        return self.lane_number

    def load(self, t: Type, space: str, address: Value, count: int, volatile: bool) -> tuple[Value, ...]:
        self._touch(t.bytes * count, space, volatile and not self.only_loads)
        return super().load(t, space, address, count, volatile)

    def store(self, t: Type, space: str, address: Value, values: tuple[Value, ...], volatile: bool) -> None:
        self._touch(-t.bytes * len(values), space, volatile)
        super().store(t, space, address, values, volatile)

    def _touch(self, nbytes: int, space: str, volatile: bool) -> None:
        apart = space == ALIKE.space and nbytes < 0  # lanes that come later would read what this one left
        if volatile or apart or (space == "local" and 0 < self.word_woven < abs(nbytes)):
            raise NotAlone
        self.touched = 0 if self._region(space) in (SHARED, LOCAL, ALIKE) else nbytes

    def _plan(self, access: Access, stores: bool) -> Plan:
        if access.region is LOCAL:
            return Plan(Way.ONE, shape_of(access.address))
        return super()._plan(access, stores)

    def _host(self, access: Access, address: Value) -> str:
        if self.given is not None:
            return self.given
        if access.region is not LOCAL:
            return super()._host(access, address)
        lane = Value(self.builder.emit(f"zext {self.lane_number.typed} to i64"), I64)
        apart = self.number(I64, self.word_woven) if self.word_woven else Value(LOCAL.lane_stride, I64)
        place = self.binary("add", self._in_warp(access, address), self.binary("mul", lane, apart))
        return self.builder.emit(
            f"getelementptr i8, ptr {self.pointer(Value(LOCAL.host, I64))}, {place.typed}"
        )

    def _in_warp(self, access: Access, address: Value) -> Value:
        """Where a local address is in what the first lane has."""
        if not self.word_woven:
            return address
        if access.size == self.word_woven:
            return self.binary("mul", address, self.number(I64, WARP))
        low = self.binary("and", address, self.number(I64, self.word_woven - 1))
        word = self.binary("mul", self.binary("sub", address, low), self.number(I64, WARP))
        return self.binary("add", word, low)

    def _is_proven(self, access: Access) -> bool:
        return self.is_checked or super()._is_proven(access)

    # -- elements of arrays ------------------------------------------------------------------------

    def resize(self, source: Type, target: Type, a: Value) -> Value:
        result = super().resize(source, target, a)
        if (source.bits, target.bits) == (32, 64) and result.ir.startswith("%"):
            self._indices[result.ir] = bases(result), 0
            self.extended[result.ir] = a, source.is_signed
        return result

    def mul(self, t: Type, a: Value, b: Value) -> Value:
        result, factor = super().mul(t, a, b), b.literal or 0
        if factor.bit_count() == 1:
            self._note_shifted(result, a, factor.bit_length() - 1)
        return result

    def shift_left(self, t: Type, a: Value, n: Value) -> Value:
        result = super().shift_left(t, a, n)
        self._note_shifted(result, a, -1 if n.literal is None else n.literal)
        return result

    def _note_shifted(self, result: Value, a: Value, bits: int) -> None:
        index, shift = self._indices.get(a.ir, (a, 0))
        if a.ir in self._indices and 0 <= bits <= LARGEST - shift:
            self._indices[result.ir] = index, shift + bits

    def add(self, t: Type, a: Value, b: Value) -> Value:
        total = super().add(t, a, b)
        for one, other in ((a, b), (b, a)):
            if one.ir in self._indices and other.ir in self.outside:
                self.elements[total.ir] = Element(bases(other), *self._indices[one.ir])
        return total

    def require(self, access: Access, address: Value) -> None:
        """Looks first whether an index is in the array's part of the arena."""
        found = self._element(access, address)
        if found is None or self._is_proven(access):
            return super().require(access, address)
        look, good = self.builder.block_name("look"), self.builder.block_name("good")
        inside = self._is_index_inside(access, *found)
        self.builder.void(f"br i1 {inside.ir}, label %{good}, label %{look}{LIKELY}")
        self.builder.label(look)
        super().require(access, address)
        self.builder.void(f"br label %{good}")
        self.builder.label(good)
        return None

    def _element(self, access: Access, address: Value) -> tuple[Element, int] | None:
        """What element of an array an access gets at, and bytes after it."""
        part, constant = self._sums.get(address.ir, (address, 0))
        element = self.elements.get(part.ir)
        return None if element is None or access.size != 1 << element.shift else (element, constant)

    def _is_index_inside(self, access: Access, element: Element, constant: int) -> Value:
        """i1: the index is below the number of elements between the array's start, which is in the region
        and aligned, and the region's end. (Rotated, any other start is beyond the limit: there are none.)"""
        start = self.plus(element.base, constant) if constant else element.base
        offset, limit = self._rotated_offset(access, start), self._limit(access, access.size, element.shift)
        saturate = self.module.declare("llvm.usub.sat.i64", I64, (I64, I64))
        room = Value(self.builder.emit(f"call i64 {saturate}({limit.typed}, {offset.typed})"), I64)
        return self.test("icmp ult", element.index, room)

    def _valid(self, access: Access, address: Value, span: int) -> Value:
        found = self._element(access, address)
        if found is None or span != access.size:
            return super()._valid(access, address, span)
        return self._is_index_valid(access, *found)

    def _is_index_valid(self, access: Access, element: Element, constant: int) -> Value:
        """i1: the element, some bytes further on, is in the region, and aligned. All but a sum and a
        comparison is known before the loop: the number that the base has among the region's elements, if it
        is aligned at all. (It is divided by two at least, so that sums with indices do not wrap.)"""
        start = self.binary("sub", element.base, Value(access.region.lo, I64))
        start = self.binary("add", start, self.number(I64, constant)) if constant else start
        limit, shift = self._limit(access, access.size, element.shift), element.shift
        if shift:
            beside = self.binary("and", start, self.number(I64, access.size - 1))
            aligned = self.test("icmp eq", beside, self.number(I64, 0))
            limit = Value(self.builder.emit(f"select {aligned.typed}, {limit.typed}, i64 0"), I64)
            start = self.binary("ashr", start, self.number(I64, shift))
        return self.test("icmp ult", self.binary("add", start, element.index), limit)

    # -- checks for many accesses --------------------------------------------------------------------

    def step_from(self, value: Value, start: Value) -> int:
        """The constant by which a value is more than another one, 0 if it is not known to be."""
        part, constant = self._sums.get(value.ir, (value, 0))
        return constant if part.ir == start.ir else 0

    def turns_valid(self, address: Value, size: int, span: int, step: int) -> Value:
        """i64: of how many steps on from an address `are_valid` is true, up to the first of which it is
        not. `step`: bytes, a positive multiple of `size`."""
        shift = size.bit_length() - 1
        access = Access("i8", 1, size, ARENA, address, volatile=False)
        offset, limit = self._rotated_offset(access, address), self._limit(access, span, shift)
        more = self.binary("sub", self.binary("sub", limit, self.number(I64, 1)), offset)
        turns = self.binary("udiv", more, self.number(I64, step >> shift))
        turns = self.binary("add", turns, self.number(I64, 1))
        inside = self.test("icmp ult", offset, limit)
        return Value(self.builder.emit(f"select {inside.typed}, {turns.typed}, i64 0"), I64)

    def are_valid(self, address: Value, size: int, span: int) -> Value:
        """i1: an address is a multiple of `size`, and `span` bytes from it lie in the arena."""
        access = Access("i8", 1, size, ARENA, address, volatile=False)
        return self._valid(access, address, span)

    def ask_for(self, address: Value, distance: Value) -> None:
        """Asks for what lies some bytes after an address."""
        self._ask(self.add(U64, address, distance).ir, 1, False)

    def atomic(self, op: str, t: Type, space: str, address: Value, b: Value, c: Value | None) -> Value:
        if space == "local":
            raise NotAlone
        access = self._access(t, space, address, 1, True)
        self.require(access, access.address)
        place = self._host(access, access.address)
        if access.region is SHARED and is_simple(t):
            return self._update(op, t, place, b, c)
        frame = Value(self.launch, "ptr"), Value(self.worker, "ptr"), bases(access.address)
        operands = self.scalar(b), self.scalar(b if c is None else c)
        run = partial(self._update_by_call, op, t, frame, place, operands)
        alone = "true" if access.region is SHARED else self.one_thread()
        return self._either(alone, lambda: (run(True),), lambda: (run(False),))[0]

    def active(self) -> Value:
        raise NotAlone

    def ballot(self, p: Value) -> Value:
        raise NotAlone

    def shuffle(self, t: Type, a: Value, lane: Value) -> Value:
        raise NotAlone

    def warp_function(
        self, function: Callable[..., tuple[Value, ...]], results: tuple[Type, ...], *operands: Value
    ) -> tuple[Value, ...]:
        raise NotAlone

    def texture(
        self, geometry: str, result: Type, coordinate: Type, texture: Value, coordinates: tuple[Value, ...]
    ) -> tuple[Value, Value, Value, Value]:
        raise NotAlone

    def to_generic(self, t: Type, space: str, address: Value) -> Value:
        return self.scalar(super().to_generic(t, space, address))

    def from_generic(self, t: Type, space: str, address: Value) -> Value:
        return self.scalar(super().from_generic(t, space, address))

    def in_space(self, space: str, address: Value) -> Value:
        return self.scalar(super().in_space(space, address))

    def trap(self) -> None:
        raise NotAlone

    def event(self, number: Value) -> None:
        raise NotAlone  # it counts warps

    def events(self, mask: Value) -> None:
        raise NotAlone
