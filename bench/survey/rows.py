"""Indices that are cut into rows by numbers that compilers know, and threads with rows of their own."""

from __future__ import annotations

import numpy as np
from suite.problem import Launch, Problem, blocks

from survey.case import case, integers, reals, zeros


@case(full=100, quick=1)
def channels(images: int) -> Problem:
    """A number for each channel, which the index tells by two divisions."""
    n = images * 196 * 24
    names = ("x", "scale", "bias")
    return Problem(
        arrays={
            "x": reals(n) - 0.5, "scale": reals(96), "bias": reals(97)[1:],
            "y": zeros(n), "z": zeros(n),
        },
        scalars={"n": np.int32(n)},
        launches=[
            Launch("large", 64, 256, (*names, "y", "n")),
            Launch("small", blocks(n), 256, (*names, "z", "n")),
        ],
        changed=["y", "z"],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=200, quick=2)
def planes_mean(planes: int) -> Problem:
    n = planes * 28 * 28
    return Problem(
        arrays={"a": reals(planes, 30, 30), "b": zeros(n)},
        scalars={"n": np.int32(n)},
        launches=[Launch("means", blocks(n), 256, ("a", "b", "n"))],
        changed=["b"],
        tolerance=1e-5,
    )


@case(full=64, quick=2)
def inverse24(n: int) -> Problem:
    return Problem(
        arrays={"a": reals(n, 24, 24, kind="f8"), "b": zeros(n, 24, 24, kind="f8")},
        scalars={"n": np.int32(n)},
        launches=[Launch("invert", n, 128, ("a", "b"))],
        changed=["b"],
        tolerance=1e-8,
    )


@case(full=512, quick=3)
def householder(n: int) -> Problem:
    return Problem(
        arrays={"a": reals(n, 16, 32) - 0.3, "r": zeros(n, 16, 16)},
        scalars={"n": np.int32(n)},
        launches=[Launch("triangle", n, 64, ("a", "r"))],
        changed=["r"],
        tolerance=1e-3,
    )


@case(full=512, quick=40)
def tri_rows(n: int) -> Problem:
    """Rows that lie a power of two apart; each turn needs what the one before stored."""
    return Problem(
        arrays={"a": reals(n, n) * 0.3, "b": reals(n, n + 1)[:, 1:] + 2, "x": reals(n, n + 2)[:, 2:].copy()},
        scalars={"n": np.int32(n)},
        launches=[Launch("rows", blocks(n), 256, ("n", "a", "b", "x"))],
        changed=["b", "x"],
        tolerance=1e-4,
    )


@case(full=40, quick=3)
def track(n: int) -> Problem:
    """Points of a picture found again, which has moved by two pixels and three."""
    w, h, side = 300, 200, 21
    frame = reals(h, w)
    points = np.stack([integers(5, w - 5, n), integers(5, h - 5, n + 1)[1:]], -1)
    moved = np.pad(frame, 30)[30 - 10 + 3 :, 30 - 10 - 2 :]
    return Problem(
        arrays={
            "frame": frame, "templates": np.stack([moved[y : y + side, x : x + side] for x, y in points]),
            "points": points, "best": zeros(n, 2, kind="i4"),
        },
        scalars={"w": np.int32(w), "h": np.int32(h), "n": np.int32(n)},
        launches=[Launch("track", n, 256, ("frame", "templates", "points", "best", "w", "h"))],
        changed=["best"],
    )  # fmt: skip
