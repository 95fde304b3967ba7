"""Images: wavelets, corners, tables of colours, planes."""

from __future__ import annotations

import numpy as np
from suite.problem import Launch, Problem, blocks

from survey.case import case, integers, reals, zeros


@case(full=2048, quick=66)
def haar(n: int) -> Problem:
    """Every second pixel of every second row."""
    grid = blocks(n // 2, 32), blocks(n // 2, 8)
    return Problem(
        arrays={"in": reals(n, n), "out": zeros(n, n)},
        scalars={"n": np.int32(n)},
        launches=[Launch("haar", grid, (32, 8), ("in", "out", "n"))],
        changed=["out"],
        tolerance=1e-6,
    )


@case(full=1000, quick=70)
def harris(n: int) -> Problem:
    """Bytes around a pixel, coordinates limited to the image."""
    return Problem(
        arrays={"in": integers(0, 256, n, n, kind="u1"), "out": zeros(n, n)},
        scalars={"w": np.int32(n), "h": np.int32(n), "k": np.float32(0.04)},
        launches=[Launch("harris", (blocks(n, 32), blocks(n, 8)), (32, 8), ("in", "out", "w", "h", "k"))],
        changed=["out"],
        tolerance=1e-5,
    )


@case(full=1 << 18, quick=900)
def lut3d(n: int) -> Problem:
    """Eight entries of three numbers for each pixel of four bytes."""
    return Problem(
        arrays={
            "in": integers(0, 256, n, 4, kind="u1"),
            "table": reals(17, 17, 17, 3),
            "out": zeros(n, 4, kind="u1"),
        },
        scalars={"n": np.int32(n)},
        launches=[Launch("lut3d", blocks(n), 256, ("in", "table", "out", "n"))],
        changed=["out"],
        tolerance=1 / 255,  # a fused product may round the other way
    )


@case(full=1 << 19, quick=900)
def planes(n: int) -> Problem:
    """Three bytes a pixel to three planes."""
    return Problem(
        arrays={
            "in": integers(0, 256, n, 3, kind="u1"),
            "out": zeros(3, n),
            "mean": np.array([0.485, 0.456, 0.406], "f4"),
            "scale": np.array([4.4, 4.5, 4.4], "f4"),
        },
        scalars={"n": np.int32(n)},
        launches=[Launch("planes", blocks(n), 256, ("in", "out", "mean", "scale", "n"))],
        changed=["out"],
        tolerance=1e-5,
    )
