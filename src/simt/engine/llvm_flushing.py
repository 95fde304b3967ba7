"""Single precision where the CPU reads subnormals as zeros (x86: "denormals are zeros").

There `flush` costs nothing between two operations: its result is `Unflushed`, which arithmetic takes as it is
and everything else flushes first. Results are rounded before they are flushed, as the meanings say: x86's own
"flush to zero" would also take some that round up to the smallest normal number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from simt.engine.llvm_builder import Value

ATTRIBUTES = '"denormal-fp-math-f32"="ieee,preserve-sign"'
"""Of functions: tells LLVM that results may be subnormal, and that operands which are count as zeros."""

MXCSR_ZEROS = 1 << 6
"""The bit of x86's control register that says so to the CPU."""

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
