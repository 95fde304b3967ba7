"""Single precision where the CPU reads subnormals as zeros and flushes results (x86: "denormals are zeros",
"flush to zero").

It flushes as the hardware does, by the result's size before it is rounded to the steps of subnormals. `flush`
then costs nothing between two operations: its value is `Loose` (`llvm_loose`). So are results, though the CPU
flushes them: LLVM may leave out an operation that changes no number (`x * 1.0`), and with it the flush. Nor
does LLVM flush as the CPU does where it computes a result itself; so it is not told of constants that are
`is_far`.
"""

from __future__ import annotations

ATTRIBUTES = '"denormal-fp-math-f32"="ieee,preserve-sign"'
"""Of functions: tells LLVM that operands which are subnormal count as zeros. Of results it is told nothing:
it would leave out flushes that it makes necessary itself (see above)."""

MXCSR_ZEROS = 1 << 15 | 1 << 6
"""The bits of x86's control register that say so to the CPU: results are flushed, operands read as zeros."""

NEEDED = frozenset({"avx", "fma"})
"""Features of CPUs on which it is done: those that have all of single precision in hardware."""


def is_far(bits: int) -> bool:
    """Whether a number's magnitude is below 2^-62 or from 2^63 on, but neither zero nor infinite: of two
    others, no product or quotient is near the least normal number."""
    magnitude = bits & 0x7FFFFFFF
    return 0 < magnitude < (127 - 62) << 23 or (127 + 63) << 23 <= magnitude < 0x7F800000
