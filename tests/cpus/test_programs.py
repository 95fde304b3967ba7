"""CUDA programs on every CPU: those of `tests/programs` in which floating point, halves, shuffles and atomics
take different ways."""

from __future__ import annotations

from tests.programs.test_atomics import test_atomic_kinds
from tests.programs.test_integers import test_integer_facts
from tests.programs.test_numerics import (
    test_black_scholes,
    test_every_half_converts,
    test_half_axpy,
    test_half_fma_of_pairs,
    test_mandelbrot,
)
from tests.programs.test_reductions import test_warp_sums_and_maxima

__all__ = [
    "test_atomic_kinds",
    "test_black_scholes",
    "test_every_half_converts",
    "test_half_axpy",
    "test_half_fma_of_pairs",
    "test_integer_facts",
    "test_mandelbrot",
    "test_warp_sums_and_maxima",
]
