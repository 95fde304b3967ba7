"""Pictures: filters, conversions, noise, rays."""

from __future__ import annotations

import numpy as np
from suite.problem import Launch, Problem, blocks

from survey.case import case, integers, reals, zeros

A_STEP = 0.004
"""Tolerance for bytes that are rounded: one of 255."""


def bytes_to_bytes(w: int, h: int, kernel: str, block: tuple[int, int]) -> Problem:
    return Problem(
        arrays={"x": integers(0, 256, h, w, kind="u1"), "y": zeros(h, w, kind="u1")},
        scalars={"w": np.int32(w), "h": np.int32(h)},
        launches=[Launch(kernel, (blocks(w, block[0]), blocks(h, block[1])), block, ("x", "y", "w", "h"))],
        changed=["y"],
    )


@case(full=2160, quick=54)
def sobel(h: int) -> Problem:
    """A tile with its halo in shared memory."""
    return bytes_to_bytes(16 * h // 9, h, "sobel", (32, 8))


@case(full=1080, quick=54)
def sobel_plain(h: int) -> Problem:
    return bytes_to_bytes(16 * h // 9, h, "sobel", (32, 8))


@case(full=1080, quick=54)
def blur_uchar(h: int) -> Problem:
    return bytes_to_bytes(16 * h // 9, h, "blur", (16, 16))


@case(full=4_000_000, quick=3000)
def grey(n: int) -> Problem:
    """Colours of three bytes to one."""
    return Problem(
        arrays={"x": integers(0, 256, n, 3, kind="u1"), "y": zeros(n, kind="u1")},
        scalars={"n": np.int32(n)},
        launches=[Launch("grey", blocks(n), 256, ("x", "y", "n"))],
        changed=["y"],
        tolerance=A_STEP,
    )


@case(full=720, quick=36)
def resize(h: int) -> Problem:
    """Bilinear, to two thirds."""
    w, wide, high = 16 * h // 9, 16 * h // 6, 3 * h // 2
    return Problem(
        arrays={"x": integers(0, 256, high, wide, kind="u1"), "y": zeros(h, w, kind="u1")},
        scalars={
            "sw": np.int32(wide), "sh": np.int32(high), "dw": np.int32(w), "dh": np.int32(h),
            "fx": np.float32(1.5), "fy": np.float32(1.5),
        },
        launches=[
            Launch("rs", (blocks(w, 32), blocks(h, 8)), (32, 8),
                   ("x", "y", "sw", "sh", "dw", "dh", "fx", "fy"))
        ],
        changed=["y"],
        tolerance=A_STEP,
    )  # fmt: skip


@case(full=1080, quick=36)
def gauss_sep(h: int) -> Problem:
    """Nine weights along rows, then along columns."""
    w = 64 * (h // 36)
    return Problem(
        arrays={"x": reals(h, w), "t": zeros(h, w), "y": zeros(h, w)},
        scalars={"w": np.int32(w), "h": np.int32(h)},
        launches=[
            Launch("rows", (blocks(w, 64), blocks(h, 4)), (64, 4), ("x", "t", "w", "h")),
            Launch("cols", (blocks(w, 32), blocks(h, 16)), (32, 8), ("t", "y", "w", "h")),
        ],
        changed=["t", "y"],
        tolerance=1e-5,
    )


@case(full=540, quick=36)
def bilateral(h: int) -> Problem:
    w = 16 * h // 9
    return Problem(
        arrays={"x": reals(h, w), "y": zeros(h, w)},
        scalars={"w": np.int32(w), "h": np.int32(h), "is": np.float32(0.1), "ir": np.float32(8)},
        launches=[Launch("bil", (blocks(w, 16), blocks(h, 16)), (16, 16), ("x", "y", "w", "h", "is", "ir"))],
        changed=["y"],
        tolerance=1e-4,
    )


@case(full=512, quick=32)
def perlin(h: int) -> Problem:
    """Gradient noise of four octaves."""
    w = 2 * h
    permutation = np.random.default_rng(3).permutation(256)
    return Problem(
        arrays={"p": np.concatenate([permutation, permutation, [0, 0]]).astype("i4"), "o": zeros(h, w)},
        scalars={"w": np.int32(w), "h": np.int32(h), "f": np.float32(0.037)},
        launches=[Launch("perlin", (blocks(w, 32), blocks(h, 8)), (32, 8), ("p", "o", "w", "h", "f"))],
        changed=["o"],
        tolerance=1e-3,
    )


@case(full=480, quick=48)
def spheres(h: int) -> Problem:
    """Rays that sixteen spheres reflect. Rounding can decide what a ray hits."""
    w, draw = 4 * h // 3, np.random.default_rng(5)
    parts = draw.uniform(-3, 3, (16, 3)), draw.uniform(0.4, 1, (16, 1)), draw.random((16, 3))
    return Problem(
        arrays={
            "s": np.concatenate([*parts, draw.uniform(0, 0.6, (16, 1))], 1).astype("f4"),
            "image": zeros(h, w, 4, kind="u1"),
        },
        scalars={"ns": np.int32(16), "w": np.int32(w), "h": np.int32(h)},
        launches=[Launch("trace", (blocks(w, 32), blocks(h, 8)), (32, 8), ("s", "ns", "image", "w", "h"))],
        changed=["image"],
        tolerance=2 * A_STEP,
        mismatches=1e-3,
    )


@case(full=300, quick=30)
def julia64(h: int) -> Problem:
    """Iterations in double precision. Rounding can turn the last one."""
    w = 4 * h // 3
    return Problem(
        arrays={"o": zeros(h, w, kind="i4")},
        scalars={
            "w": np.int32(w), "h": np.int32(h),
            "re": np.float64(-0.8), "im": np.float64(0.156), "limit": np.int32(300),
        },
        launches=[
            Launch("julia", (blocks(w, 16), blocks(h, 8)), (16, 8), ("o", "w", "h", "re", "im", "limit"))
        ],
        changed=["o"],
        mismatches=0.01,
    )  # fmt: skip
