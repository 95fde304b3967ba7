"""Single precision where the CPU reads subnormals as zeros and flushes results (x86: "denormals are zeros",
"flush to zero").

It flushes as the hardware does, by the result's size before it is rounded to the steps of subnormals. `flush`
then costs nothing between two operations: its value is `Unflushed`, which arithmetic takes as it is and
everything else flushes first. So are results, though the CPU flushes them: LLVM may leave out an operation
that changes no number (`x * 1.0`), and with it the flush. Nor does LLVM flush as the CPU does where it
computes a result itself; so it is not told of constants that are `is_far`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from simt.engine.llvm_builder import Value

ATTRIBUTES = '"denormal-fp-math-f32"="ieee,preserve-sign"'
"""Of functions: tells LLVM that operands which are subnormal count as zeros. Of results it is told nothing:
it would leave out flushes that it makes necessary itself (see above)."""

MXCSR_ZEROS = 1 << 15 | 1 << 6
"""The bits of x86's control register that say so to the CPU: results are flushed, operands read as zeros."""

NEEDED = frozenset({"avx", "fma"})
"""Features of CPUs on which it is done: those that have all of single precision in hardware."""


class Unflushed(Value):
    """A column of which subnormals mean zeros of their sign: `raw` as it is, `ir` flushed at every use."""

    __slots__ = ("_flush", "raw")
    raw: Value
    _flush: Callable[[Value], Value]

    def __init__(self, raw: Value, flush: Callable[[Value], Value]) -> None:
        for name, value in (("raw", raw), ("_flush", flush), ("type", raw.type), ("width", raw.width)):
            object.__setattr__(self, name, value)

    @property
    def ir(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self._flush(self.raw).ir


@dataclass(frozen=True, slots=True)
class Flushed(Value):
    """A column that has been flushed: it needs no second flush."""


def raw(value: Value) -> Value:
    """The value for an operation that reads subnormals as zeros."""
    return value.raw if isinstance(value, Unflushed) else value


def is_far(bits: int) -> bool:
    """Whether a number's magnitude is below 2^-62 or from 2^63 on, but neither zero nor infinite: of two
    others, no product or quotient is near the least normal number."""
    magnitude = bits & 0x7FFFFFFF
    return 0 < magnitude < (127 - 62) << 23 or (127 + 63) << 23 <= magnitude < 0x7F800000
