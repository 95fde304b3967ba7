"""The shape of a value: how its lanes differ; and the shape of a CTA, on which that depends."""

from __future__ import annotations

from enum import IntEnum
from functools import cache, lru_cache

from simt.analysis.outline import Number
from simt.records import dataclass, quick

WARP = 32
HALF = WARP // 2
"""Lanes of half a warp."""
NARROW_BITS = 30
"""Bits that count the threads along an axis of nearly all grids; the sum of two such numbers has no sign."""
ALWAYS_ZERO = 64
"""Zeros at the end of zero, in integers of every width."""


class Hold(IntEnum):
    """How sure the stride of a shape is, and so how the value is held."""

    EXACT = 0
    """Always right: held as base and stride."""
    GUARDED = 1
    """Right unless an extension to more bits wrapped within the warp, or a minimum or maximum changed a lane:
    held as base and stride with a flag, and in full for the case that the flag says no."""
    IN_ROWS = 2
    """The same for quotients and remainders of an index: right while all lanes are in one row. Where they are
    not, what is made of row and column may still go on from lane to lane."""
    LIKELY = 3
    """Lanes were brought together from different definitions: held in full."""


EXACT, GUARDED, IN_ROWS, LIKELY = Hold
"""The same by names of their own, which are found in a tenth of the time: that is done hundreds of times for
each instruction that is compiled."""


@quick
@dataclass(frozen=True, slots=True)
class Shape:
    """lane value = base(lane's segment) + stride * (lane within its segment).

    `width`: number of bases: 1 (one segment), a divisor of 32, or 32 (every lane has its own value;
    stride is then 0). `const`: the value, where it is a known integer. `zeros`: every base is a multiple of
    2**zeros. `common`: of values of several bases, the bits from this one on are the same in all lanes.
    `top`: every lane's value, without a sign, is below 2**top.
    `steps`: of values that every lane has its own of, how they grow with the thread's x, y and z. `pitched`:
    these may go on from lane to lane by one step, which is not known: where a thread's row begins. `swaps`: a
    power of two; these are that many times `lane ^ n` more than one number, with the same `n` for all lanes.
    `by_bit`: a guess at how these lie, in warps of one row: see `simt.analysis.spread`.
    """

    width: int
    stride: int = 0
    hold: Hold = EXACT
    const: int | None = None
    zeros: int = 0
    common: int = ALWAYS_ZERO
    top: int = ALWAYS_ZERO
    steps: tuple[int, int, int] | None = None
    pitched: bool = False
    swaps: int = 0
    by_bit: tuple[int, ...] | None = None

    @property
    def exact(self) -> bool:
        return self.hold is EXACT

    @property
    def is_uniform(self) -> bool:
        return self.stride == 0 and self.width == 1 and self.hold is EXACT

    @property
    def is_affine(self) -> bool:
        """Held as base and stride (uniform values included)."""
        return self.width < WARP and self.hold is EXACT

    @property
    def is_of_lane(self) -> bool:
        """The lane's number in its segment, times the stride."""
        return self.exact and self.width == 1 and self.stride != 0 and self.zeros >= ALWAYS_ZERO

    @property
    def is_same_in_rows(self) -> bool:
        """The same for all lanes of a row."""
        return self.is_affine and self.stride == 0

    @property
    def step_in_warp(self) -> int:
        """The step of lanes of one row, a power of two, if they fill a multiple of 32 steps; else 0."""
        fills = self.stride > 0 and self.stride.bit_count() == 1 and 1 << self.zeros >= WARP * self.stride
        return self.stride if self.is_affine and self.width == 1 and fills else 0

    @property
    def is_column(self) -> bool:
        """Whether every lane has a value of its own, of which no sum of the thread's indices tells."""
        return self.exact and self.width == WARP and self.steps is None

    @property
    def is_guarded(self) -> bool:
        """Held as base and stride with a flag that says whether they are right."""
        return self.width < WARP and (self.hold is GUARDED or self.hold is IN_ROWS)


def trailing_zeros(value: int) -> int:
    """Zeros at the end of a number of at most 64 bits."""
    return (value & -value).bit_length() - 1 if value else ALWAYS_ZERO


@lru_cache(1024)
def constant(value: int) -> Shape:
    """The shape of a known integer."""
    return Shape(1, const=value, zeros=trailing_zeros(value), top=value.bit_length())


@cache
def unknown(width: int) -> Shape:
    """The shape of values with so many bases of which nothing is known."""
    return Shape(width)


UNIFORM = unknown(1)
VARYING = unknown(WARP)
PITCHED = Shape(WARP, pitched=True)


class Many(IntEnum):
    """Whether a grid has so many CTAs along x that several may be taken as one."""

    NO = 0
    SOME = 1
    """Of those taken as one, the last may be in part."""
    WHOLE = 2


@dataclass(frozen=True, slots=True)
class BlockShape:
    """The shape of a CTA, for which code is specialised."""

    x: int
    y: int
    z: int
    row: int = WARP
    """Lanes that are looked at as one row of a warp, where all of its threads lie side by side: see
    `simt.analysis.rows`."""
    turned: bool = False
    """Whether the axes x and y are exchanged: what is `x` here is `y` for the program and for who launches
    it. See `simt.analysis.turned`."""
    threads_of_row: int = 0
    """Threads along x, if there are fewer than `x`, and the other lanes are idle; else 0. See
    `simt.analysis.padded`."""

    many: Many = Many.NO
    """Whether CTAs may be joined, as far as the grid tells."""
    ctas: int = 1
    """CTAs that lie side by side along x and are taken as one: `x` counts the threads of all of them. See
    `simt.analysis.joined`."""
    narrow: bool = False
    """Whether `NARROW_BITS` count the threads of the grid along each axis."""
    numbers: tuple[Number, ...] = ()
    """What parameters are: see `simt.analysis.factors`."""

    @property
    def joins(self) -> bool:
        return self.ctas > 1

    @property
    def columns(self) -> int:
        """Threads of a CTA along x."""
        return self.threads_of_row or self.x // self.ctas

    @property
    def counts_ctas(self) -> bool:
        """Whether lanes along x are CTAs of one thread each: `%ctaid.x` tells them apart. Where CTAs are
        joined that have more, `%tid.x` does, and `%ctaid.x` is that of the first CTA."""
        return self.joins and self.columns == 1

    @property
    def exchanged(self) -> BlockShape:
        """The same threads with the axes x and y exchanged."""
        return BlockShape(
            self.y,
            self.x,
            self.z,
            turned=not self.turned,
            many=self.many,
            narrow=self.narrow,
            numbers=self.numbers,
        )

    def bits_of_grid(self, axis: int) -> int:
        """The grid has at most so many CTAs along an axis here, as a power of two."""
        if axis < 0 or not self.narrow:
            return 31
        threads = (self.columns, self.y, self.z)[axis]
        return NARROW_BITS - (threads - 1).bit_length()

    @property
    def largest_grid(self) -> tuple[int, int, int]:
        """CTAs along each axis of the program, at most."""
        x, y, z = (1 << self.bits_of_grid(axis) for axis in range(3))
        return (y, x, z) if self.turned else (x, y, z)

    def axis(self, component: str) -> int:
        """The axis here, 0 to 2, of a component of a special register; -1 for any other."""
        return ("yxz" if self.turned else "xyz").find(component) if component else -1

    @property
    def threads(self) -> int:
        """Idle lanes of rows count."""
        return self.x * self.y * self.z

    def grid(self, extents: tuple[int, int, int]) -> tuple[int, int, int]:
        """Of a grid, where several CTAs are taken as one."""
        x, y, z = extents
        return -(-x // self.ctas), y, z

    def place(self, linear: int) -> tuple[int, int, int]:
        """Coordinates of a thread, as the program has them."""
        linear = min(linear, self.threads - 1)
        x, y, z = linear % self.x, linear // self.x % self.y, linear // (self.x * self.y)
        x = x % self.columns if self.joins else min(x, self.columns - 1)
        return (y, x, z) if self.turned else (x, y, z)

    @property
    def warps(self) -> int:
        return -(-self.threads // WARP)

    @property
    def linear(self) -> bool:
        return self.y == 1 and self.z == 1

    @property
    def is_cut(self) -> bool:
        """Whether a warp is looked at as several rows, although its threads lie side by side."""
        return self.row < WARP

    @property
    def segments(self) -> int:
        """Rows of the CTA in one warp, where a warp holds several whole rows, or is cut into such; else 1."""
        if self.linear or self.is_cut:
            return WARP // self.row
        return 1 if self.x == 1 or WARP % self.x != 0 else WARP // self.x

    @property
    def rows_fit(self) -> bool:
        """Whether tid.x grows by 1 within every segment."""
        return self.linear or self.x % WARP == 0 or self.segments > 1

    @property
    def segment(self) -> int:
        """Lanes in a segment."""
        return WARP // self.segments

    @property
    def lane(self) -> Shape:
        zeros = ALWAYS_ZERO if self.segments == 1 else trailing_zeros(self.segment)
        return Shape(self.segments, 1, zeros=zeros, top=trailing_zeros(WARP))

    @property
    def column(self) -> Shape:
        """Of tid.x: where it grows along the warp, a multiple of 32 comes first; else 0 does in each row."""
        if not self.rows_fit:
            return VARYING
        top = (self.warps * WARP - 1 if self.linear else self.x - 1).bit_length()
        if self.linear or self.is_cut:
            common = ALWAYS_ZERO if self.segments == 1 else trailing_zeros(WARP)
            return Shape(self.segments, 1, zeros=trailing_zeros(self.row), common=common, top=top)
        return Shape(1, 1, zeros=trailing_zeros(WARP) if self.segments == 1 else ALWAYS_ZERO, top=top)

    def special(self, name: str, component: str) -> Shape:
        """Shape of a special register; everything that is not per thread is uniform in a warp."""
        if name == "tid":
            return self.coordinate(self.axis(component))
        axis = self.axis(component)
        top = self.bits_of_grid(axis)
        if name == "ctaid" and self.joins and component == "x":  # idle lanes count on beyond the grid
            return Shape(1, int(self.counts_ctas), zeros=trailing_zeros(self.ctas), top=top + 1)
        if name == "ctaid":
            return Shape(1, top=top)
        if name == "laneid":
            return self.lane
        if name == "ntid" and axis >= 0:
            return constant((self.columns, self.y, self.z)[axis])
        return VARYING if name.startswith("lanemask") else UNIFORM

    def coordinate(self, axis: int) -> Shape:
        """Of a thread, along one of the axes here."""
        if axis < 0 or (self.linear and axis) or (self.counts_ctas and axis == 0):
            return constant(0)
        if not self.rows_fit:
            return Shape(WARP, steps=(int(axis == 0), int(axis == 1), int(axis == 2)))
        if axis == 0:
            return self.column
        if self.x % WARP == 0:
            return Shape(1, top=((self.x, self.y, self.z)[axis] - 1).bit_length())
        if self.is_cut:
            return UNIFORM
        if self.segments == 1 or self.y % self.segments:
            return Shape(self.segments)
        return UNIFORM if axis == 2 else Shape(self.segments, common=trailing_zeros(self.segments))
