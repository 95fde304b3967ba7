"""Layers of neural networks, by one thread for each number of the result."""

from __future__ import annotations

import numpy as np
from suite.problem import Launch, Problem, blocks

from survey.case import case, integers, reals, zeros


@case(full=64, quick=5)
def permute(hw: int) -> Problem:
    """Channels come first before, last afterwards."""
    n, c, pixels = 4, 48, hw * hw
    return Problem(
        arrays={"a": reals(n, c, pixels), "b": zeros(n, pixels, c)},
        scalars={"n": np.int32(n), "c": np.int32(c), "hw": np.int32(pixels)},
        launches=[Launch("nhwc", blocks(n * c * pixels), 256, ("a", "b", "n", "c", "hw"))],
        changed=["b"],
    )


@case(full=112, quick=9)
def im2col(h: int) -> Problem:
    c, w, k = 12, h + 3, 3
    sizes = {"c": c, "h": h, "w": w, "k": k, "pad": 1}
    return Problem(
        arrays={"a": reals(c, h, w), "b": zeros(c * k * k, h, w)},
        scalars={name: np.int32(size) for name, size in sizes.items()},
        launches=[Launch("im2col", blocks(c * h * w), 256, ("a", "b", *sizes))],
        changed=["b"],
    )


@case(full=4096, quick=20)
def embed(n: int) -> Problem:
    words, dim = 3 * n, 192
    return Problem(
        arrays={"ids": integers(0, words, n), "table": reals(words, dim), "o": zeros(n, dim)},
        scalars={"n": np.int32(n), "dim": np.int32(dim)},
        launches=[Launch("embed", 256, 256, ("ids", "table", "o", "n", "dim"))],
        changed=["o"],
    )


@case(full=56, quick=6)
def bnorm(h: int) -> Problem:
    """A scale and a shift for each channel, and what is above zero."""
    n, c, pixels = 8, 64, h * h
    return Problem(
        arrays={
            "a": reals(n, c, pixels), "scale": reals(c) - 0.3, "shift": reals(c + 1)[1:] - 0.5,
            "b": zeros(n, c, pixels),
        },
        scalars={"n": np.int32(n), "c": np.int32(c), "hw": np.int32(pixels)},
        launches=[
            Launch("bn", blocks(n * c * pixels), 256, ("a", "scale", "shift", "b", "n", "c", "hw"))
        ],
        changed=["b"],
        tolerance=1e-6,
    )  # fmt: skip


@case(full=1 << 20, quick=3000)
def adam(n: int) -> Problem:
    numbers = {"lr": 1e-3, "b1": 0.9, "b2": 0.999, "eps": 1e-8, "c1": 10.0, "c2": 1000.0}
    return Problem(
        arrays={
            "p": reals(n),
            "g": reals(n + 1)[1:] - 0.5,
            "m": reals(n + 2)[2:] - 0.5,
            "v": reals(n + 3)[3:],
        },
        scalars={"n": np.int32(n), **{name: np.float32(number) for name, number in numbers.items()}},
        launches=[Launch("adam", blocks(n), 256, ("p", "g", "m", "v", "n", *numbers))],
        changed=["p", "m", "v"],
        tolerance=1e-5,
    )


@case(full=512, quick=10)
def lstm(batch: int) -> Problem:
    dim = 256
    return Problem(
        arrays={
            "gates": reals(batch, 4 * dim) - 0.5, "c": reals(batch, dim) - 0.5, "h": zeros(batch, dim),
        },
        scalars={"batch": np.int32(batch), "dim": np.int32(dim)},
        launches=[Launch("cell", batch * dim // 256, 256, ("gates", "c", "h", "batch", "dim"))],
        changed=["c", "h"],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=512, quick=9)
def rope(n: int) -> Problem:
    """Pairs of numbers turned by angles of their place."""
    heads, dim = 8, 128
    return Problem(
        arrays={
            "q": reals(n, heads, dim), "cosines": reals(n, dim // 2), "sines": reals(n + 1, dim // 2)[1:],
        },
        scalars={"heads": np.int32(heads), "dim": np.int32(dim), "n": np.int32(n)},
        launches=[
            Launch(
                "rope", blocks(n * heads * dim // 2), 256, ("q", "cosines", "sines", "heads", "dim", "n")
            )
        ],
        changed=["q"],
        tolerance=1e-6,
    )  # fmt: skip


@case(full=96, quick=7)
def dwconv(h: int) -> Problem:
    """3 x 3 numbers for each channel; channels last."""
    w, c = h + 5, 40
    return Problem(
        arrays={"a": reals(h, w, c), "k": reals(9, c), "b": zeros(h, w, c)},
        scalars={"h": np.int32(h), "w": np.int32(w), "c": np.int32(c)},
        launches=[Launch("dw", blocks(h * w * c), 256, ("a", "k", "b", "h", "w", "c"))],
        changed=["b"],
        tolerance=1e-5,
    )
