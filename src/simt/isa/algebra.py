"""The algebra of lane-wise primitives over which every instruction's meaning is written.

One value `V` is one column: a value for each lane. How wide the column is, where it lives and how
it is computed is the engine's affair; a meaning never looks inside. Representation by type:

- predicates are truth columns;
- `.f32` and `.f64` are float columns;
- everything else (integers, untyped bits, f16, bf16, packed pairs) is an integer column of the
  type's width, without a sign: a primitive that cares for the sign takes it from its type argument.

Operations act on the active lanes; what inactive lanes compute is never seen. `Rounding` names are
the manual's: rn, rz, rm, rp.

Bigger operations (saturation, absolute value, bit fields ...) are derived from these in
`simt.isa.derived`, and the approximate functions in `simt.isa.approximate` (fast) and `simt.isa.special` (as
an H200 computes them), once for all engines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Literal, Protocol, TypeVar

from simt.ptx.environment import Environment as Environment  # without the catalogue: start-up time
from simt.ptx.types import Type

Rounding = Literal["rn", "rz", "rm", "rp"]
Comparison = Literal["eq", "ne", "lt", "le", "gt", "ge"]
V = TypeVar("V")


class _Products(Protocol[V]):
    def add(self, t: Type, a: V, b: V) -> V: ...

    def mul(self, t: Type, a: V, b: V) -> V: ...

    def mul_high(self, t: Type, a: V, b: V) -> V: ...

    def shift_right(self, t: Type, a: V, n: V) -> V: ...

    def resize(self, source: Type, target: Type, a: V) -> V: ...


class Composed(Generic[V]):
    """Primitives of `PureAlgebra` that consist of other ones: a base of algebras that know no better."""

    __slots__ = ()

    def whole_product(self: _Products[V], t: Type, w: Type, a: V, b: V) -> V:
        return self.mul(w, self.resize(t, w, a), self.resize(t, w, b))

    def divide_by_product(self: _Products[V], t: Type, a: V, b: V, factor: V, shift: V, plus: bool) -> V:
        upper = self.mul_high(t, a, factor)
        return self.shift_right(t, self.add(t, upper, a) if plus else upper, shift)


class PureAlgebra(Protocol[V]):
    """The primitives without effects, each lane on its own.

    Names ending in `_` avoid Python's keywords only."""

    # -- constants, choice ---------------------------------------------------------------
    def const(self, t: Type, bits: int) -> V:
        """The same value in every lane, given by its bits (for predicates 0 or 1)."""
        ...

    def select(self, t: Type, p: V, a: V, b: V) -> V:
        """`a` where the predicate holds, `b` elsewhere."""
        ...

    def rarely(self, t: Type, p: V, usual: V, other: Callable[..., V], *operands: V) -> V:
        """`usual`, but `other(algebra, *operands)` in the lanes where the predicate holds: few or none.

        An engine may leave `other` out where no lane needs it. It is pure, and sees no other values."""
        ...

    def lookup(self, t: Type, index: V, *tables: tuple[int, ...]) -> tuple[V, ...]:
        """The entries of some tables that a column names, modulo the number of entries, which is a power of
        two, the same for all. The index and the entries' bits are of `t`: `.u32` or `.u16`."""
        ...

    def halfwise(self, function: Callable[..., V], *operands: V) -> V:
        """`function(algebra, *halves)` on the low and on the high 16 bits of 32-bit columns, joined again.

        It is pure, and sees no other values."""
        ...

    def bytewise(self, function: Callable[..., V], a: V, b: V, c: V) -> V:
        """`function(algebra, a, b, c)`: bytes of b:a, or their signs, as `c` says in the manner of `prmt`. An
        engine that knows `c` may have another way."""
        ...

    def by_halves(self, function: Callable[..., V], *operands: V) -> V:
        """`function(algebra, *pairs)` on the low and the high 16 bits of each of some 32-bit columns, as
        columns of 16 bits. It gives the upper half of the result, whose lower half may be anything.

        It is pure, and sees no other values: an engine may change the order of lanes in it."""
        ...

    # -- bits (integers of any width, and predicates) ----------------------------------------
    def and_(self, t: Type, a: V, b: V) -> V: ...
    def or_(self, t: Type, a: V, b: V) -> V: ...
    def xor(self, t: Type, a: V, b: V) -> V: ...
    def invert(self, t: Type, a: V) -> V: ...

    def shift_left(self, t: Type, a: V, n: V) -> V:
        """Shift by a `.u32` column; amounts of the width and more give 0."""
        ...

    def shift_right(self, t: Type, a: V, n: V) -> V:
        """Shift by a `.u32` column; signed types fill with the sign; amounts are clamped to the width."""
        ...

    def popcount(self, t: Type, a: V) -> V:
        """Number of ones, as `.u32`."""
        ...

    def leading_zeros(self, t: Type, a: V) -> V:
        """Number of zeros above the highest one, as `.u32`; the width for 0."""
        ...

    def reverse_bits(self, t: Type, a: V) -> V: ...

    # -- integers ----------------------------------------------------------------------------
    def add(self, t: Type, a: V, b: V) -> V:
        """Sum modulo 2^width; likewise `sub` and `mul`."""
        ...

    def sub(self, t: Type, a: V, b: V) -> V: ...
    def mul(self, t: Type, a: V, b: V) -> V: ...

    def mul_high(self, t: Type, a: V, b: V) -> V:
        """The upper half of the double-width product (16, 32 and 64 bits)."""
        ...

    def whole_product(self, t: Type, w: Type, a: V, b: V) -> V:
        """All of the product, of type `w`, which is twice as wide as `t` (16 and 32 bits)."""
        ...

    def dot_of_bytes(self, t: Type, u: Type, a: V, b: V) -> V:
        """The sum of the products of the four bytes of 32 bits with those of others, extended by the signs
        that `t` and `u` have."""
        ...

    def divide(self, t: Type, a: V, b: V) -> V:
        """Quotient, truncated; a zero divisor and MIN / -1 give what the hardware gives: all ones for
        a zero divisor, MIN for MIN / -1. Must not fault in any lane, active or not."""
        ...

    def remainder(self, t: Type, a: V, b: V) -> V:
        """Remainder with the dividend's sign; all ones for a zero divisor, 0 for
        MIN % -1. Must not fault in any lane, active or not."""
        ...

    def divide_short(self, t: Type, a: V, b: V) -> V:
        """The quotient of 64 bits as programs make it that divide by 32 bits where both upper halves are
        zero: `divide`, but for a zero divisor 2^32 - 1 where the dividend is below 2^32."""
        ...

    def remainder_short(self, t: Type, a: V, b: V) -> V:
        """The remainder of 64 bits as such programs make it: see `divide_short`."""
        ...

    def divide_by_product(self, t: Type, a: V, b: V, factor: V, shift: V, plus: bool) -> V:
        """The upper half of a product with `factor`, and `a` with it if `plus`, shifted right: how programs
        divide by `b`, if factor and shift are those of `b`. Nobody vouches for that."""
        ...

    def minimum(self, t: Type, a: V, b: V) -> V: ...
    def maximum(self, t: Type, a: V, b: V) -> V: ...

    def compare(self, op: Comparison, t: Type, a: V, b: V) -> V:
        """A predicate. Signed, unsigned or floating by type; floating comparisons (`ne` too) are
        ordered: false if either is NaN. Predicates and bits: eq and ne."""
        ...

    def resize(self, source: Type, target: Type, a: V) -> V:
        """Integer to integer of another width: cut, or extended by the sign of `source`."""
        ...

    # -- floating point ------------------------------------------------------------------------
    def to_bits(self, t: Type, a: V) -> V:
        """The bits of an `.f32`/`.f64` column as an integer column (identity for other types)."""
        ...

    def from_bits(self, t: Type, a: V) -> V:
        """The reverse of `to_bits`."""
        ...

    def is_nan(self, t: Type, a: V) -> V: ...

    def flush(self, t: Type, a: V) -> V:
        """Subnormals become zeros of the same sign (f32, f64)."""
        ...

    def flush_result(self, t: Type, a: V, twice: Callable[..., V], *operands: V) -> V:
        """A rounded result of f32 arithmetic, flushed as the hardware does it: it becomes a zero of its sign
        if, rounded as if exponents had no limit, it is below the least normal number. So a result may be
        flushed that only the coarser steps of subnormals take up to that number.

        `twice(algebra, *operands)` is twice the result, rounded likewise: near that number it has all its
        digits. It is pure, and sees no other values."""
        ...

    def nan_result(self, t: Type, a: V, *operands: V) -> V:
        """The result `a` of arithmetic on `operands`, with the machine's NaN where it is NaN: for f32 and the
        halves always the same one, for f64 that of the first operand that is NaN, made quiet, else the one
        that is generated. The operands come in the order in which the machine looks for NaNs."""
        ...

    def any_nan(self, t: Type, a: V) -> V:
        """The same column where it is not NaN; which NaN stands for a NaN is open. For what comes out the
        same for every NaN."""
        ...

    def fadd(self, t: Type, a: V, b: V, rounding: Rounding) -> V:
        """IEEE 754, correctly rounded, subnormals kept (f32, f64); which NaN is open (see `nan_result`);
        likewise the next ones."""
        ...

    def fsub(self, t: Type, a: V, b: V, rounding: Rounding) -> V: ...
    def fmul(self, t: Type, a: V, b: V, rounding: Rounding) -> V: ...
    def fdiv(self, t: Type, a: V, b: V, rounding: Rounding) -> V: ...
    def fma(self, t: Type, a: V, b: V, c: V, rounding: Rounding) -> V: ...
    def fsqrt(self, t: Type, a: V, rounding: Rounding) -> V: ...

    def near_reciprocal_root(self, a: V) -> V:
        """An `.f32` that differs from 1/sqrt(a) by less than 2^-11 of it if a is a positive normal number; of
        others anything. Engines and CPUs differ: no result may show which number it was."""
        ...

    def fmin(self, t: Type, a: V, b: V) -> V:
        """The smaller number; the other one if one is NaN; -0 is below +0."""
        ...

    def fmax(self, t: Type, a: V, b: V) -> V: ...

    def round_integral(self, t: Type, a: V, rounding: Rounding) -> V:
        """To an integral value in floating-point format, sign of zero kept."""
        ...

    def float_to_float(self, source: Type, target: Type, a: V, rounding: Rounding) -> V:
        """Between f16, bf16, f32 and f64, correctly rounded, overflow as IEEE 754 says."""
        ...

    def float_to_int(self, source: Type, target: Type, a: V, rounding: Rounding) -> V:
        """Rounded to an integer, clamped to the target's range; NaN gives 0 (the caller overrides)."""
        ...

    def whole(self, a: V) -> V:
        """The integer part of an `.f32` that is between -2^31 and 2^31, as `.s32`; of others anything."""
        ...

    def int_to_float(self, source: Type, target: Type, a: V, rounding: Rounding) -> V: ...


class Algebra(PureAlgebra[V], Protocol[V]):
    """All primitives: the pure ones, and those that see other lanes or the machine."""

    # -- lanes of a warp -----------------------------------------------------------------------
    def active(self) -> V:
        """The predicate that holds in the lanes that execute this instruction."""
        ...

    def lane(self) -> V:
        """The lane's number within its warp, `.u32`."""
        ...

    def ballot(self, p: V) -> V:
        """`.u32`: bit i is the predicate of active lane i of the same warp, 0 for inactive ones."""
        ...

    def shuffle(self, t: Type, a: V, lane: V) -> V:
        """The value of `a` in the lane of the same warp numbered by `.u32` column `lane` (0..31). That of an
        inactive lane is undefined, and differs between engines."""
        ...

    def warp_function(
        self, function: Callable[..., tuple[V, ...]], results: tuple[Type, ...], *operands: V
    ) -> tuple[V, ...]:
        """`function(algebra, *operands)`: integer columns, and results of these integer types.

        An engine may make it code of its own, once for functions that are equal: it is long. It sees other
        lanes by `lane` and `shuffle`, and nothing of the machine; which lanes run is no matter to it."""
        ...

    # -- machine -------------------------------------------------------------------------------
    def special(self, name: str, component: str) -> V:
        """A special register (chapter 8), in the type its catalogue entry declares; `component` is
        "x", "y", "z", "w" or ""."""
        ...

    def load(self, t: Type, space: str, address: V, count: int, volatile: bool) -> tuple[V, ...]:
        """`count` consecutive elements at a byte address of a state space ("" is generic). The address
        column is `.u32` or `.u64`, as the program's register was (32-bit ones are zero-extended)."""
        ...

    def store(self, t: Type, space: str, address: V, values: tuple[V, ...], volatile: bool) -> None: ...

    def atomic(self, op: str, t: Type, space: str, address: V, b: V, c: V | None) -> V:
        """`*a = op(*a, b[, c])`, the old value returned; lanes are served in ascending order.
        `op`: add and or xor min max inc dec exch cas (tables 80, 81), and for `.f32` and `.f64` add.far, the
        sum as the units beside global memory form it, unless the location lies in shared memory; for `.u64`
        the steps of barriers (`simt.isa.mbarrier.STEPS`)."""
        ...

    def arrivals(self, op: str, space: str, address: V, b: V) -> V:
        """`atomic` of a barrier in memory (`simt.isa.mbarrier.STEPS`), for results of which nobody sees more
        than the phase: lanes with one address may all get what the last one found."""
        ...

    def to_generic(self, t: Type, space: str, address: V) -> V:
        """Address in a state space to generic address (`cvta`)."""
        ...

    def from_generic(self, t: Type, space: str, address: V) -> V: ...

    def in_space(self, space: str, address: V) -> V:
        """Whether a generic address (pointer-wide column) falls into a state space: into `global` if into no
        other space's window, whether or not there is memory."""
        ...

    def texture(
        self, geometry: str, result: Type, coordinate: Type, texture: V, coordinates: tuple[V, ...]
    ) -> tuple[V, V, V, V]:
        """Four texels or filtered components (table 71)."""
        ...

    def fence(self, level: str) -> None:
        """Memory ordering: `cta`, `gl` or `sys`."""
        ...

    def trap(self) -> None: ...
    def breakpoint(self) -> None: ...

    def event(self, number: V) -> None:
        """Counts a performance monitor event, once for the warp; `number` is a constant."""
        ...

    def events(self, mask: V) -> None:
        """Counts the events whose bits are set in a constant."""
        ...

    def sleep(self, nanoseconds: V) -> None: ...


class WarpAlgebra(Algebra[V], Protocol[V]):
    """What functions get that `warp_function` is given."""

    def seldom(
        self, p: V, usual: tuple[V, ...], function: Callable[..., tuple[V, ...]], *operands: V
    ) -> tuple[V, ...]:
        """`usual`, but `function(algebra, *operands)` where the predicate holds: in few warps or none.

        The function is as that of `warp_function`. What it gives where the predicate does
        not hold is `usual` too, so an engine may take its results for all lanes if any needs them."""
        ...
