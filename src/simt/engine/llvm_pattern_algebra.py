"""Arithmetic that follows the patterns of lanes (`simt.engine.llvm_patterns`) beside base and stride."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from simt.analysis.shape import VARYING, WARP, Hold, Shape, constant
from simt.engine.llvm_algebra import LlvmIntegers
from simt.engine.llvm_builder import Value
from simt.engine.llvm_float import LlvmAlgebra
from simt.engine.llvm_lanes import BARE, Guarded, bases, shape_of
from simt.engine.llvm_machine import WARP_FIRST
from simt.engine.llvm_patterns import Pattern
from simt.engine.llvm_series import SeriesAlgebra
from simt.ptx.types import U32, Type
from simt.records import replace

Scalar = Callable[..., Value]


def pattern_of(value: Value) -> Pattern | None:
    return value.pattern if isinstance(value, Guarded) else None


class PatternAlgebra(SeriesAlgebra):
    """`SeriesAlgebra` that notes patterns of 32-bit values, in warps of one row of threads.

    A value with a pattern is guarded. Where its mask is known when compiling, it has no shape that a test
    could find."""

    def add(self, t: Type, a: Value, b: Value) -> Value:
        if a.__class__ in BARE and b.__class__ in BARE:
            return super().add(t, a, b)
        return self._sum_in_pattern(t, a, b, 1, LlvmAlgebra.add) or super().add(t, a, b)

    def sub(self, t: Type, a: Value, b: Value) -> Value:
        if a.__class__ in BARE and b.__class__ in BARE:
            return super().sub(t, a, b)
        return self._sum_in_pattern(t, a, b, -1, LlvmAlgebra.sub) or super().sub(t, a, b)

    def mul(self, t: Type, a: Value, b: Value) -> Value:
        if a.literal is not None:
            a, b = b, a
        return self._product_in_pattern(t, a, b, b.literal, LlvmAlgebra.mul) or super().mul(t, a, b)

    def shift_left(self, t: Type, a: Value, n: Value) -> Value:
        by = n.literal
        number = 1 << by if by is not None and by < t.bits else None
        product = self._product_in_pattern(t, a, n, number, LlvmAlgebra.shift_left)
        return product or super().shift_left(t, a, n)

    def and_(self, t: Type, a: Value, b: Value) -> Value:
        counts, mask = (b, a) if shape_of(a).is_uniform else (a, b)
        shape = self.shapes.and_(t, shape_of(a), shape_of(b))
        if shape.is_affine or not (
            t.bits == U32.bits and self._begins_with_warp(counts) and shape_of(mask).is_uniform
        ):
            return super().and_(t, a, b)
        mask, known = bases(mask), mask.literal
        if known is not None and known % WARP in (0, WARP - 1):
            return super().and_(t, a, b)
        base = LlvmAlgebra.and_(self, t, bases(counts), mask)
        pattern = Pattern(base, 0, 1, mask)
        if known is not None:
            return self.in_pattern(pattern, shape, "false")
        return self.in_pattern(pattern, Shape(1, 1, Hold.GUARDED), self.ends_with(mask, WARP - 1))

    def xor(self, t: Type, a: Value, b: Value) -> Value:
        return self._swapped_lanes(t, a, b) or super().xor(t, a, b)

    def _swapped_lanes(self, t: Type, a: Value, b: Value) -> Guarded | None:
        """`i ^ m`, if the lanes of `i` fill a multiple of 32 of their steps and `m` makes them change places:
        `lane ^ n` is `lane + n - 2 * (lane & n)`."""
        counts, mask = (b, a) if shape_of(a).is_uniform else (a, b)
        step = shape_of(counts).step_in_warp
        if t.bits != U32.bits or self.segment != WARP or not step or not shape_of(mask).is_uniform:
            return None
        if self.shapes.xor(t, shape_of(a), shape_of(b)).is_affine:
            return None
        base = LlvmAlgebra.xor(self, t, bases(counts), bases(mask))
        number = LlvmIntegers.binary(self, "lshr", bases(mask), self.number("i32", step.bit_length() - 1))
        return self.in_pattern(Pattern(base, step, -2 * step, number), VARYING, "false")

    def _begins_with_warp(self, value: Value) -> bool:
        """Whether a value surely grows by 1 from a multiple of 32 on."""
        shape = shape_of(value)
        one_row = self.segment == WARP and shape.is_affine and (shape.width, shape.stride) == (1, 1)
        return one_row and value.ir in (WARP_FIRST, "0")

    def in_pattern(self, pattern: Pattern, shape: Shape, valid: str) -> Guarded:
        """Lanes in a pattern, which are of a shape if the i1 `valid` holds."""
        base = pattern.base
        return Guarded(
            base.ir, base.type, 1, shape, valid, partial(self._lanes_in_pattern, pattern), pattern=pattern
        )

    def _lanes_in_pattern(self, pattern: Pattern) -> Value:
        base, mask = pattern.base, pattern.mask
        if base.literal is not None and mask is not None and mask.literal is not None:
            return self.constant_lanes("i32", [n % 2**U32.bits for n in pattern.numbers])
        if self.seldom:
            base = self.hidden(base)
        lanes = self._steps(pattern.step)
        if mask is not None and pattern.step.bit_count() == 1 and pattern.swaps(pattern.step):
            step = self.number(base.type, pattern.step)
            change = LlvmIntegers.binary(self, "and", mask, self.number(base.type, WARP - 1))
            change = LlvmIntegers.binary(self, "mul", change, step)
            base = LlvmIntegers.binary(self, "sub", base, change)
            lanes = LlvmIntegers.binary(self, "xor", lanes, self.widened(change, WARP))
        elif mask is not None:
            cut = LlvmIntegers.binary(self, "and", self._steps(1), self.widened(mask, WARP))
            factor = self.widened(self.number(base.type, pattern.factor), WARP)
            lanes = LlvmIntegers.binary(self, "add", lanes, LlvmIntegers.binary(self, "mul", cut, factor))
        return LlvmIntegers.binary(self, "add", lanes, self.widened(base, WARP))

    def _steps(self, step: int) -> Value:
        return self.constant_lanes("i32", [step * lane for lane in range(WARP)])

    def _sum_in_pattern(self, t: Type, a: Value, b: Value, sign: int, run: Scalar) -> Value | None:
        """A sum or difference, if either term has a pattern and the result has one."""
        if pattern_of(a) is None and pattern_of(b) is None:
            return None
        one, other = self._as_pattern(a), self._as_pattern(b)
        if one is None or other is None or not one.goes_with(other):
            return None
        shape = self.shapes.add(t, shape_of(a), shape_of(b))
        if sign < 0:
            shape = self.shapes.sub(t, shape_of(a), shape_of(b))
        valid = "true"
        for value in (a, b):
            valid = self.both(valid, value.valid if isinstance(value, Guarded) else "true")
        return self.in_pattern(one.plus(other, sign, run(self, t, one.base, other.base)), shape, valid)

    def _product_in_pattern(
        self, t: Type, a: Value, b: Value, number: int | None, run: Scalar
    ) -> Value | None:
        """A product, if `a` has a pattern. `number`: by which `run` with `b` multiplies."""
        pattern = pattern_of(a)
        if pattern is None or number is None or not isinstance(a, Guarded):
            return None
        shape = self.shapes.mul(t, a.shape, constant(number))
        return self.in_pattern(pattern.times(number, run(self, t, pattern.base, b)), shape, a.valid)

    def _as_pattern(self, value: Value) -> Pattern | None:
        shape = shape_of(value)
        if shape.is_affine and shape.width == 1:
            return Pattern(bases(value), shape.stride)
        return pattern_of(value)

    # -- in other blocks ---------------------------------------------------------------------------

    def scalars_beside(self, value: Value) -> dict[str, Value]:
        """By name, the scalars that tell what lanes are which are held in full."""
        if not isinstance(value, Guarded) or value.width != 1:
            return {}
        scalars = {"base": bases(value)}
        if value.valid.startswith("%"):
            scalars["found"] = Value(value.valid, "i1")
        if (
            value.pattern is not None
            and value.pattern.mask is not None
            and value.pattern.mask.literal is None
        ):
            scalars["mask"] = value.pattern.mask
        return scalars

    def from_beside(self, value: Guarded, lanes: Value | None, scalars: dict[str, Value]) -> Guarded:
        """A value in another block, from those scalars; from its lanes as well, if it has no pattern."""
        base, valid = scalars["base"], scalars["found"].ir if "found" in scalars else value.valid
        if lanes is not None:
            return Guarded(base.ir, base.type, 1, value.shape, valid, lambda: lanes, guessed=value.guessed)
        assert value.pattern is not None
        mask = scalars.get("mask", value.pattern.mask)
        return self.in_pattern(replace(value.pattern, base=base, mask=mask), value.shape, valid)
