"""What a texture gives at a place (PTX 1.4 table 71), over the algebra.

Texel i covers [i, i + 1). What the documents leave open follows an H200, to the last bit (decision 20,
`tests/hw/test_textures.py`): components that the array lacks are zero, and so are texels outside it that
integer coordinates name; of normalized coordinates 21 bits of fraction are kept, in large arrays up to 23;
linear filtering weighs the texels around x - 0.5 (`filtering.py`).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Generic, Literal, Protocol

from simt.isa import filtering
from simt.isa.algebra import PureAlgebra, V
from simt.isa.column import Column
from simt.isa.filtering import UNIT
from simt.isa.texture import COMPONENTS
from simt.ptx.types import F16, F32, F64, PRED, S32, U32, U64, Type, unsigned
from simt.records import dataclass

Addressing = Literal["clamp", "border", "wrap", "mirror"]
LONGEST = 1 << 28
"""Texels along an axis, at most."""

_PERIODS = {"wrap": 1, "mirror": 2}  # of normalized coordinates
_MAGNITUDE = (1 << 31) - 1
_INFINITY = 0xFF << 23


@dataclass(frozen=True, slots=True)
class Sampling:
    """All that is known of a fetch before it is made, but for the array's extents and where it lies.

    `element`: of the array, which has 1 to 4 `channels`. `axes`: how many coordinates count; `integral`: they
    are integers. `linear`: real ones weigh the texels around a point, in place of naming one. `scales`:
    integers are read as numbers up to 1. `bits`: of the fraction of normalized coordinates.
    """

    element: Type
    channels: int
    axes: int
    integral: bool
    linear: bool
    address: Addressing
    normalized: bool
    scales: bool
    bits: int


class TexelAlgebra(PureAlgebra[V], Protocol[V]):
    """The pure primitives, and one array."""

    def extent(self, axis: int) -> V:
        """`.u32`: how many texels the array has along an axis, x first; 1 to `LONGEST`."""
        ...

    def texels(self, place: V) -> tuple[V, ...]:
        """The channels of the texels with these numbers (`.u64`), which lie in the array, as integer columns
        of the elements' width."""
        ...


def fetch(m: TexelAlgebra[V], sampling: Sampling, coordinates: Sequence[V]) -> list[V]:
    """The four components at `.f32` or `.s32` coordinates, x first: bits (`.u32`)."""
    found = [c.v for c in _Fetch(m, sampling).components(coordinates)]
    return found + [m.const(U32, 0)] * (COMPONENTS - len(found))


class _Fetch(Generic[V]):
    def __init__(self, m: TexelAlgebra[V], sampling: Sampling) -> None:
        self.m = m
        self.sampling = sampling
        self.extents = [Column(m, S32, m.extent(axis)) for axis in range(max(2, sampling.axes))]

    def components(self, coordinates: Sequence[V]) -> list[Column[V]]:
        sampling = self.sampling
        if sampling.integral:
            named = [Column(self.m, S32, c) for c in coordinates]
            return self._decoded(self._texels(named, "border"))
        scaled = [self._scaled(c, axis) for axis, c in enumerate(coordinates)]
        if sampling.linear:
            return self._interpolated(scaled)
        named = [Column(self.m, S32, self.m.float_to_int(F64, S32, c, "rm")) for c in scaled]
        return self._decoded(self._texels(named, sampling.address))

    # -- coordinates -------------------------------------------------------------------------------

    def _scaled(self, coordinate: V, axis: int) -> V:
        """In texels, as `.f64`. Subnormals and NaNs read as zeros, and so do infinities where coordinates
        repeat."""
        m, sampling = self.m, self.sampling
        period = _PERIODS.get(sampling.address) if sampling.normalized else None
        magnitude = Column(m, U32, m.to_bits(F32, coordinate)) & _MAGNITUDE
        counts = magnitude.lt(_INFINITY + (period is None))
        read = m.select(F32, counts.v, m.flush(F32, coordinate), m.const(F32, 0))
        wide = m.float_to_float(F32, F64, read, "rn")
        if not sampling.normalized:
            return wide
        steps = self._floor(self._times(wide, 2.0**sampling.bits))
        if period is not None:
            turns = self._floor(self._times(steps, 2.0**-sampling.bits / period))
            steps = m.fsub(F64, steps, self._times(turns, 2.0**sampling.bits * period), "rn")
        return m.fmul(F64, self._times(steps, 2.0**-sampling.bits), self._extent(axis), "rn")

    def _place(self, coordinate: V, axis: int) -> tuple[Column[V], Column[V]]:
        """The lower of the texels around a point, and the weight of the upper one."""
        m = self.m
        middle = self._times(m.fsub(F64, coordinate, self._real(0.5), "rn"), float(UNIT))
        place = self._floor(m.fadd(F64, middle, self._real(0.5), "rn"))
        if self.sampling.address == "clamp":
            last = self._times(m.fsub(F64, self._extent(axis), self._real(1), "rn"), float(UNIT))
            place = m.fmin(F64, m.fmax(F64, place, self._real(0)), last)
        lower = self._floor(self._times(place, 1 / UNIT))
        upper = m.fsub(F64, place, self._times(lower, float(UNIT)), "rn")  # NaN, which is 0, at infinity
        whole, part = (m.float_to_int(F64, S32, c, "rm") for c in (lower, upper))
        return Column(m, S32, whole), Column(m, S32, part)

    def _extent(self, axis: int) -> V:
        return self.m.int_to_float(S32, F64, self.extents[axis].v, "rn")

    def _real(self, value: float) -> V:
        return self.m.const(F64, int.from_bytes(struct.pack("<d", value), "little"))

    def _times(self, a: V, factor: float) -> V:
        return self.m.fmul(F64, a, self._real(factor), "rn")

    def _floor(self, a: V) -> V:
        return self.m.round_integral(F64, a, "rm")

    # -- texels ------------------------------------------------------------------------------------

    def _interpolated(self, coordinates: list[V]) -> list[Column[V]]:
        """The weighted mean of the texels around each point."""
        if len(coordinates) == 1:  # filtered as an image of one row, along its edge
            coordinates = [*coordinates, self._real(0)]
        places = [self._place(c, axis) for axis, c in enumerate(coordinates)]
        corners = [
            self._texels(
                [lower + (corner >> axis & 1) for axis, (lower, _) in enumerate(places)],
                self.sampling.address,
            )
            for corner in range(1 << len(places))
        ]
        upper = [part for _, part in places]
        weights, reached = filtering.weights(upper), filtering.reached(upper)
        components = zip(*corners)
        return [filtering.mean(self.sampling.element, list(c), weights, reached) for c in components]

    def _texels(self, indices: list[Column[V]], address: Addressing) -> list[Column[V]]:
        """Texels as they are stored by integer coordinates, x first: by channel; of floats their bits."""
        m, element = self.m, self.sampling.element
        place = Column(m, U64, m.const(U64, 0))
        inside = Column(m, PRED, m.const(PRED, 1))
        for axis in reversed(range(len(indices))):
            index, extent = indices[axis], self.extents[axis]
            inside &= index.like(U32).lt(extent.like(U32))
            place = place * extent.like(U32).to(U64) + self._addressed(address, index, extent).to(U64)
        found = [Column(m, unsigned(element.bits), texel) for texel in m.texels(place.v)]
        if address == "border":
            found = [inside.choose(texel, 0) for texel in found]
        return [texel.like(element) for texel in found] if element.is_integer else found

    def _addressed(self, mode: Addressing, index: Column[V], extent: Column[V]) -> Column[V]:
        """Indices within the array. Where coordinates repeat, `_scaled` has left one beyond it at most."""
        period = extent * _PERIODS.get(mode, 1)
        if mode in _PERIODS:
            index = index.lt(0).choose(index + period, index)
            for _ in range(2):  # of one texel, both neighbours may lie outside
                index = index.ge(period).choose(index - period, index)
        if mode == "mirror":
            index = index.minimum(period - 1 - index)
        return index.minimum(extent - 1).maximum(0).like(U32)

    def _decoded(self, texels: list[Column[V]]) -> list[Column[V]]:
        """What texels are that no filter changes. The smallest signed integer is -1 too."""
        m, element = self.m, self.sampling.element
        if element == F16:
            return [self._widened(texel) for texel in texels]
        if self.sampling.scales:
            largest = (1 << element.bits - element.is_signed) - 1
            limit = m.int_to_float(S32, F32, m.const(S32, largest), "rn")
            wide = [texel.to(S32).maximum(-largest) for texel in texels]
            values = [m.fdiv(F32, m.int_to_float(S32, F32, w.v, "rn"), limit, "rn") for w in wide]
            return [Column(m, U32, m.to_bits(F32, value)) for value in values]
        return [texel.to(U32) for texel in texels]

    def _widened(self, half: Column[V]) -> Column[V]:
        """A half as a float. NaNs keep their bits, signalling ones too."""
        m, bits = self.m, half.to(U32)
        number = Column(m, U32, m.to_bits(F32, m.float_to_float(F16, F32, half.v, "rn")))
        special = (bits & 0x8000) << 16 | (bits & 0x3FF) << 13 | _INFINITY
        return (bits & 0x7C00).eq(0x7C00).choose(special, number)
