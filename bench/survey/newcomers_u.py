"""Twenty classics once more, each in another author's form, written without knowing what the JIT is good at:
products, sums, scans, histograms, fractals, transposes, filters, sorts, graphs, ciphers, transforms, factors, grids."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, floats, integers, ints, reals, settled, zeros


def around_zero(*shape: int, kind: str = "f4") -> Array:
    return (reals(*shape) - np.float32(0.5)).astype(kind)


def fours(n: int) -> int:
    """The next multiple of four."""
    return -(-n // 4) * 4


@case(full=301, quick=70)
def sgemm_nt(m: int) -> Problem:
    """Rows begin at multiples of 16 bytes; none of the sizes is a multiple of a tile."""
    n, k = m * 4 // 5 + 1, m + 33
    lda, ldc = fours(k), fours(n)
    scalars = {
        **ints("m n k lda ldb ldc", m, n, k, lda, lda, ldc), **floats("alpha beta", 1.25, -0.5),
    }  # fmt: skip
    names = ("a", "b", "c")
    return Problem(
        arrays={"a": around_zero(m, lda), "b": around_zero(n, lda), "c": around_zero(m, ldc)},
        scalars=scalars,
        launches=[Launch("sgemm_nt", (blocks(n, 64), blocks(m, 64)), 256, (*names, *scalars))],
        changed=["c"],
        tolerance=1e-5,
    )


@case(full=100_000, quick=500)
def bs_greeks(n: int) -> Problem:
    """Calls and puts as they come."""
    rng = np.random.default_rng(301)
    options = rng.uniform([20, 20, 0.05, 0.1], [120, 120, 3, 0.6], (n, 4))
    arrays = {
        "options": options, "is_call": rng.integers(0, 2, n).astype("u1"),
        **{name: zeros(n, kind="f8") for name in ("price", "delta", "gamma", "vega", "theta", "rho")},
    }  # fmt: skip
    scalars = {"n": np.int32(n), "r": np.float64(0.03), "q": np.float64(0.01)}
    return Problem(
        arrays=arrays,
        scalars=scalars,
        launches=[Launch("bs_greeks", min(blocks(n, 128), 160), 128, (*arrays, *scalars))],
        changed=list(arrays)[2:],
        tolerance=1e-10,
    )


@case(full=1_500_003, quick=1501)
def stats_once(n: int) -> Problem:
    """Heights that vary slowly, with noise; 120 blocks leave a part each."""
    groups = min(120, blocks(n, 768))
    x = settled(20 + 5 * np.sin(np.arange(n) / 5e4) + np.random.default_rng(302).normal(0, 3, n))
    return Problem(
        arrays={
            "x": x.astype("f4"), "partial": zeros(groups, 10, kind="i4"), "ticket": zeros(1, kind="u4"),
            "values": zeros(4), "places": zeros(2, kind="i4"),
        },
        scalars=ints("n", n),
        launches=[
            Launch("stats_once", groups, 192, ("x", "n", "partial", "ticket", "values", "places"))
        ],
        changed=["partial", "ticket", "values", "places"],
        native=("x", "values", "places"),
        tolerance=1e-6,
    )  # fmt: skip


@case(full=500, quick=9)
def lin_rec(rows: int) -> Problem:
    """Factors below 1, so that what was long ago is forgotten."""
    length = 3001 if rows > 100 else 701
    return Problem(
        arrays={
            "a": np.float32(0.6) + np.float32(0.4) * reals(rows, length), "b": around_zero(rows, length),
            "start": around_zero(rows), "y": zeros(rows, length),
        },
        scalars=ints("length rows", length, rows),
        launches=[Launch("lin_rec", rows, 128, ("a", "b", "start", "y", "length"))],
        changed=["y"],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=8_000_005, quick=60_005)
def hist_pack(n: int) -> Problem:
    """Letters as often as in English, some words twice."""
    text = np.frombuffer(b"  eeeetttaaaooiiinnnssshhrrddllcumwfgypbvk,.\nETA", "u1")
    rng = np.random.default_rng(303)
    groups = blocks(n // 16 + 1, 192 * 16)
    return Problem(
        arrays={
            "bytes": text[rng.integers(0, len(text), n)], "partial": zeros(groups, 256, kind="u4"),
            "histogram": zeros(256, kind="u4"),
        },
        scalars={"n": np.int64(n)},
        launches=[
            Launch("hist_pack", groups, 192, ("bytes", "partial", "n")),
            Launch("hist_sum", 256, 128, ("partial", "histogram", np.int32(groups))),
        ],
        changed=["partial", "histogram"],
        native=("bytes", "histogram"),
    )  # fmt: skip
