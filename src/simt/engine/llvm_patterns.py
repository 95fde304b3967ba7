"""Lanes that lie in one pattern in every warp: an index of which a mask cuts the lower bits off.

`i & m`, of a number `i` that grows by 1 from a multiple of 32 on, is `i & m` of the first lane, and more by
`lane & m` in each. `i ^ m` is `i ^ m` of the first lane, and more by `lane - 2 * (lane & m)`: lanes change
places. Sums with base and stride keep the form. So scalars say where all lanes are, and code need not look
at the lanes themselves.
"""

from __future__ import annotations

from simt.analysis.shape import WARP
from simt.engine.llvm_builder import Value
from simt.records import dataclass, replace


@dataclass(frozen=True, slots=True)
class Pattern:
    """Lanes are `base + step * lane + factor * (lane & mask)`, modulo 2**32. `mask`: a scalar, None for
    lanes without one, whose factor is 0."""

    base: Value
    step: int
    factor: int = 0
    mask: Value | None = None

    def plus(self, other: Pattern, sign: int, base: Value) -> Pattern:
        """The sum, or with -1 the difference. `base`: its first lane."""
        step, factor = self.step + sign * other.step, self.factor + sign * other.factor
        return Pattern(base, step, factor, self.mask or other.mask)

    def times(self, number: int, base: Value) -> Pattern:
        """The product. `base`: its first lane."""
        return replace(self, base=base, step=self.step * number, factor=self.factor * number)

    @property
    def numbers(self) -> list[int]:
        """The lanes, where all is known when compiling, but for multiples of 2**32."""
        base, mask = self.base.literal or 0, 0 if self.mask is None else self.mask.literal or 0
        return [base + self.step * lane + self.factor * (lane & mask) for lane in range(WARP)]

    def goes_with(self, other: Pattern) -> bool:
        """Whether their sum is a pattern."""
        return self.mask is None or other.mask is None or self.mask == other.mask

    def alike(self, other: Pattern) -> bool:
        """Whether lanes are at the same distances from the first, if the masks are the same."""
        return (self.step, self.factor) == (other.step, other.factor) and None not in (self.mask, other.mask)

    def swaps(self, step: int) -> bool:
        """Whether lanes at a step above zero have changed places: `step * (lane ^ mask)`."""
        return step > 0 and (self.step, self.factor) == (step, -2 * step)
