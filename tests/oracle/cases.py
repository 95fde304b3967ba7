"""The kernels of this folder: their inputs, launches and tolerances. Shared by the recorder and the tests.

Nothing here imports simt: the recorder runs this file beside a real GPU with NumPy alone.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

PTX = Path(__file__).parent / "ptx"
RESULTS = Path(__file__).parent / "results.npz"


@dataclass(frozen=True)
class Case:
    """A kernel `name(a, b, out, n)` of `source`: element types of inputs and output, and rows of the output.

    `rows` times `n` elements of output, plus `extra`. `ulps` is the distance allowed from the recorded
    results in units of the last place, or `absolute` the difference: (0, 0) means equal bits.
    """

    source: str
    name: str
    inputs: str
    output: str
    rows: int
    n: int = 256
    grid: tuple[int, int, int] = (2, 1, 1)
    block: tuple[int, int, int] = (128, 1, 1)
    extra: int = 0
    shared: int = 0
    ulps: int = 0
    absolute: float = 0.0
    variants: str = ""  # only these

    def tolerance(self, variant: str) -> tuple[int, float]:
        """Units in the last place and absolute distance: one of the two must be kept."""
        if variant == "fast":  # --use_fast_math: the approximate instructions themselves
            return max(self.ulps, 1 << 16), max(self.absolute, 2e-6)
        return self.ulps, self.absolute

    def arguments(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Inputs a and b, and the output before the launch."""
        a, b = (inputs(self.inputs, self.n, f"{self.name}.{which}") for which in "ab")
        return a, b, np.zeros(self.rows * self.n + self.extra, self.output)


SPECIAL = [
    0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, -3.5, np.inf, -np.inf, np.nan, 1e-40, -1e-310, 1e30, 1e-30, 1e300,
    105414.36, 0.99999994, -0.25, 88.8, -104.0, 709.9, 2.5, 1.5, 65504.0, 65520.0, 3e9, -3e9, 2e19, 170.5,
]  # fmt: skip


def inputs(type_: str, n: int, seed: str) -> NDArray[Any]:
    """`n` values of a type ("f4", "u8", ...): special ones, ordinary ones, and for floats random bits."""
    generator = np.random.default_rng(zlib.crc32(seed.encode()))
    code = np.dtype(type_)
    bits = generator.integers(0, 2**64, n, "u8", endpoint=False) if code.itemsize == 8 else None
    words = bits if bits is not None else generator.integers(0, 2**32, n, "u4")
    if code.kind != "f":
        return _integers(words, generator).view(code)
    values = _floats(n, code, generator)
    return np.where(generator.random(n) < 0.15, words.view(code), values)


def _integers(words: NDArray[Any], generator: np.random.Generator) -> NDArray[Any]:
    """Of all magnitudes, and near the limits."""
    width = 8 * words.itemsize
    shift = np.where(generator.random(len(words)) < 0.4, generator.integers(0, width, len(words)), 0)
    words = words >> shift.astype(words.dtype)
    edges = np.array([0, 1, 2**width - 1, 2 ** (width - 1), 2 ** (width - 1) - 1], words.dtype)
    return np.where(generator.random(len(words)) < 0.1, generator.choice(edges, len(words)), words)


def _floats(n: int, code: np.dtype[Any], generator: np.random.Generator) -> NDArray[Any]:
    """(NumPy's powers of 10 differ between CPUs in a double's last place; rounded to floats they do not.)"""
    small, large = generator.normal(0, 2, n), generator.normal(0, 1, n)
    if code.itemsize == 8:
        large = np.ldexp(large, generator.integers(-20, 31, n))
    else:
        large *= 10 ** generator.uniform(-6, 9, n)
    values = np.where(generator.random(n) < 0.6, small, large)
    special = generator.random(n) < 0.2
    with np.errstate(all="ignore"):
        return np.where(special, generator.choice(np.array(SPECIAL), n), values).astype(code)


def _math(width: int, code: str) -> list[Case]:
    source = f"math_f{width}"

    def case(name: str, rows: int, ulps: int = 0) -> Case:
        return Case(source, f"{name}_f{width}", code, code, rows, ulps=ulps)

    return [
        case("trigonometry", 13, ulps=4),
        case("exponential", 16, ulps=8),
        case("roots", 12, ulps=4),
        case("special", 9, ulps=64),
        case("bessel", 8, ulps=64),
        case("exact", 40),
    ]


ARITHMETIC = [
    Case("rounding", "rounding_f32", "f4", "f4", 32),
    Case("rounding", "rounding_f64", "f8", "f8", 28),
    Case("rounding", "from_f32", "f4", "i8", 24),
    Case("rounding", "from_f64", "f8", "i8", 27),
    Case("rounding", "from_int", "i8", "i8", 28),
    Case("fast", "fast_f32", "f4", "f4", 10, ulps=1 << 14, absolute=2e-7),
    Case("fast", "fast_angle_f32", "f4", "f4", 5, absolute=2e-5),
    Case("bits", "bits_u32", "u4", "u4", 40),
    Case("bits", "bits_u64", "u8", "u8", 17),
    Case("bits", "bits_u128", "u8", "u8", 28),
    Case("bits", "simd_u32", "u4", "u4", 60),
    Case("bits", "narrow", "u4", "u4", 17),
    Case("halves", "half_arithmetic", "u4", "u4", 42),
    Case("halves", "bfloat_arithmetic", "u4", "u4", 42),
    Case("halves", "half_conversions", "f4", "u4", 28),
    Case("halves", "half_functions", "u4", "u4", 11, ulps=1),
    Case("halves", "bfloat_functions", "u4", "u4", 11, ulps=1),
]

MACHINE = [
    Case("atomics", "atomics_u32", "u4", "u4", 1, extra=96),
    Case("atomics", "atomics_u64", "u8", "u8", 1, extra=8),
    Case("atomics", "atomics_half", "u4", "u4", 0, extra=8),
    Case("atomics", "locks", "u4", "u4", 0, extra=12),
    Case("warps", "shuffles", "u4", "u4", 24),
    Case("warps", "divergent_votes", "u4", "u4", 2),
    Case("warps", "groups", "u4", "u4", 28),
    Case("warps", "redux", "u4", "u4", 9, variants="sm_86 sm_90 sm_100"),
]

LANGUAGE = [
    Case("language", "virtual_functions", "u4", "u4", 2),
    Case("language", "function_pointers", "u4", "u4", 5),
    Case("language", "recursion", "u4", "u4", 3),
    Case("language", "jumps", "u4", "u4", 4),
    Case("language", "local_arrays", "u4", "u4", 6),
    Case("language", "structures", "u4", "u4", 8),
    Case("language", "templates", "u4", "u4", 6),
    Case("memory", "hints", "u4", "u4", 28),
    Case("memory", "copies", "u4", "u4", 6),
    Case("memory", "shared", "u4", "u4", 5, shared=128 * 7),
    Case("memory", "volume", "u4", "u4", 10, grid=(2, 1, 3), block=(4, 3, 5), n=350),
]

OTHER_COMPILERS = [
    Case("backend", "integers", "u4", "u4", 8),
    Case("backend", "floats", "f4", "f4", 4),
    Case("dialects", "dialect", "u4", "u4", 7),
]

COLLECTIVES = [
    Case("collectives", "seg_scan", "u4", "u4", 6),
    Case("collectives", "bitonic_warp", "u4", "u4", 3),
    Case("collectives", "aggregated", "u4", "u4", 2, extra=40),
    Case("collectives", "votes_div", "u4", "u4", 8),
    Case("collectives", "match_loops", "u4", "u4", 6),
    Case("collectives", "shfl_all_modes", "u4", "u4", 40),
    Case("collectives", "shfl_div", "u4", "u4", 5),
    Case("collectives", "warp_queue", "u4", "u4", 4),
    Case("collectives", "legacy", "u4", "u4", 8),
    Case("collectives", "syncthreads_variants", "u4", "u4", 6),
    Case("collectives", "named", "u4", "u4", 6),
    Case("collectives", "sort_shared", "u4", "u4", 2),
    Case("collectives", "radix", "u4", "u4", 3),
    Case("collectives", "missing", "u4", "u4", 9, n=200, block=(100, 1, 1)),
    Case("collectives", "diverged", "u4", "u4", 8),
    Case("collectives", "left", "u4", "u4", 6),
]

ALGORITHMS = [
    Case("algorithms", "sha1", "u4", "u4", 5),
    Case("algorithms", "crc", "u4", "u4", 3),
    Case("algorithms", "aes", "u4", "u4", 4),
    Case("algorithms", "chacha", "u4", "u4", 4),
    Case("algorithms", "bigint", "u8", "u8", 8),
    Case("algorithms", "queens", "u4", "u4", 2),
    Case("algorithms", "edit", "u4", "u4", 2),
    Case("algorithms", "regex", "u4", "u4", 3),
    Case("algorithms", "quicksort", "u4", "u4", 3),
    Case("algorithms", "tokens", "u4", "u4", 4),
    Case("algorithms", "bvh", "u4", "u4", 2),
    Case("algorithms", "life", "u4", "u4", 3),
    Case("algorithms", "primes", "u4", "u4", 4),
    Case("algorithms", "lu", "f4", "f4", 5),
    Case("algorithms", "kepler", "f8", "f8", 5),
    Case("algorithms", "collatz", "u8", "u8", 4),
    Case("algorithms", "tries", "u4", "u4", 2),
    Case("algorithms", "heap", "u4", "u4", 3),
    Case("algorithms", "vmachine", "u4", "u4", 4),
    Case("algorithms", "gcds", "u8", "u8", 5),
    Case("algorithms", "base64", "u4", "u4", 4),
    Case("algorithms", "floyd", "u4", "u4", 2, n=128, grid=(2, 1, 1), block=(64, 1, 1)),
    Case("algorithms", "wavefront", "u4", "u4", 2),
    Case("algorithms", "strings", "u4", "u4", 5),
    Case("algorithms", "fixedp", "u4", "u4", 6),
    Case("algorithms", "perm", "u4", "u4", 4),
    Case("algorithms", "unionfind", "u4", "u4", 1),
    Case("algorithms", "matching", "u4", "u4", 3),
]

LIBRARY = [
    Case("library", "tuples", "u4", "u4", 8),
    Case("library", "spans", "u4", "u4", 6),
    Case("library", "atomics_cxx", "u4", "u4", 8, extra=64),
    Case("library", "barrier_cxx", "u4", "u4", 4),
    Case("library", "semaphores", "u4", "u4", 2, extra=16),
    Case("library", "variants", "u4", "u4", 6),
    Case("library", "bitlib", "u4", "u4", 16),
    Case("library", "complexes", "f4", "f4", 10),
    Case("library", "complexesd", "f8", "f8", 10),
    Case("library", "mathlib", "f8", "f8", 14),
    Case("library", "latches", "u4", "u4", 3),
    Case("library", "pipeline_cxx", "u4", "u4", 2),
    Case("library", "functional", "u4", "u4", 6),
    Case("library", "mdspans", "u4", "u4", 4),
    Case("library", "ints128", "u8", "u8", 12),
    Case("library", "memcpy_async_cg", "u4", "u4", 3),
    Case("library", "cubblock", "u4", "u4", 10),
    Case("library", "cubwarp", "u4", "u4", 8),
]

PROGRAMS = COLLECTIVES + ALGORITHMS + LIBRARY

CASES = _math(32, "f4") + _math(64, "f8") + ARITHMETIC + MACHINE + LANGUAGE + PROGRAMS + OTHER_COMPILERS


def variants(case: Case) -> list[str]:
    """Which compilations of its source a case has, by the files that are there."""
    found = sorted(path.name.split(".")[1] for path in PTX.glob(f"{case.source}.*.ptx"))
    return [v for v in found if not case.variants or v in case.variants.split()]


def path(case: Case, variant: str) -> Path:
    return PTX / f"{case.source}.{variant}.ptx"


def key(case: Case, variant: str) -> str:
    """The name of the results of one compilation of a case."""
    return f"{case.source}.{variant}/{case.name}"
