"""Indices that are cut into rows, of which scalars say where all lanes are.

`k / 34` and `k % 34`, of a number `k` that grows by 1 from lane to lane, are rows and columns of a tile with
its halo. A warp has lanes in few rows, one after the other; the first lane's quotient and remainder tell
which, and where rows begin. What is computed of them is a number for each row, and a multiple of the column.
"""

from __future__ import annotations

from collections.abc import Callable
from math import gcd
from typing import TYPE_CHECKING

from simt.analysis.shape import WARP
from simt.engine.llvm_builder import Builder, Value
from simt.imports import Later
from simt.records import dataclass

if TYPE_CHECKING:
    from simt.analysis import cut_again
else:
    cut_again = Later("simt.analysis.cut_again")


class Plain:
    """A value as it is if nobody knows of rows: code for it is emitted where it is needed, once between two
    labels."""

    __slots__ = ("_builder", "_made", "_make", "known")

    def __init__(self, builder: Builder, make: Callable[[], Value], known: Value | None = None) -> None:
        """`known`: the value, if it has been made already."""
        self._builder, self._make, self.known = builder, make, known
        self._made: tuple[int, Value] | None = None

    def __call__(self) -> Value:
        if self.known is not None:
            return self.known
        if self._made is None or self._made[0] != self._builder.last_label:
            made = self._make()
            self._made = self._builder.last_label, made
        return self._made[1]


@dataclass(frozen=True, slots=True)
class Cut:
    """Where lanes of an index (its name) are, which is not negative. `length`: columns of a row. `column`: of
    lane 0, as i32. `rows`: the number of each row (i32); where a row has no running lanes, that of the first.
    `lanes`: of each row, as i32, whether they run or not."""

    index: str
    length: int
    column: Value
    rows: tuple[Value, ...]
    lanes: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Tiled:
    """Lanes are `starts[row] + stride * column`, if the i1 `valid` holds. One start: that of all rows.
    `cut`: None if there are no rows; then the stride is 0. `plain` is always right. `pitch`: by how much a
    row with lanes starts further on than the one before, None if that is not known."""

    cut: Cut | None
    starts: tuple[Value, ...]
    stride: int
    valid: str
    plain: Plain
    pitch: int | None = None

    @property
    def goes_on(self) -> bool:
        """Whether a row begins where the one before ends: all lanes are one step apart."""
        return self.cut is not None and self.pitch == self.stride * self.cut.length

    def goes_with(self, other: Tiled) -> bool:
        return self.cut is None or other.cut is None or self.cut is other.cut


@dataclass(frozen=True, slots=True)
class Product:
    """What is left of an index (its name), times a number, if some bits are shifted out: that is how
    compilers divide. A negative number is 2^32 less than what is meant: the index is yet to be added to the
    upper half of the product. `start`: of the index, in lane 0. `valid`: i1; it grows by 1 from lane to lane
    and is never negative, and the start is a multiple of `2**zeros`."""

    index: str
    start: Value
    valid: str
    factor: int
    shift: int
    plain: Plain
    zeros: int = 0

    @property
    def divisor(self) -> int | None:
        """By what all indices that are not negative are divided, rounded down; None if that is not exact."""
        return cut_again.divisor(self.factor, self.shift, int(self.start.type[1:]))

    def rows(self, length: int) -> int:
        """In how many rows of a length a warp's lanes are at most. The first row has as many of them at least
        as the number that divides both the start and the length."""
        return 1 - (gcd(1 << self.zeros, length) - WARP) // length
