"""More that is done to pictures."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Extents, Launch, Problem, blocks

from survey.case import case, integers, reals, zeros


def of_pixels(w: int, h: int, x: int = 32, y: int = 8) -> tuple[Extents, Extents]:
    """Grid and CTA for a thread for each pixel."""
    return (blocks(w, x), blocks(h, y)), (x, y)


def grey(*shape: int) -> Array:
    return integers(0, 256, *shape, kind="u1")


@case(full=1024, quick=50)
def rotate(w: int) -> Problem:
    """By a third of a radian, between pixels."""
    h = w - 7
    return Problem(
        arrays={"a": reals(h, w), "b": zeros(h, w)},
        scalars={
            "w": np.int32(w), "h": np.int32(h), "c": np.float32(np.cos(0.3)), "s": np.float32(np.sin(0.3)),
        },
        launches=[Launch("rotate", *of_pixels(w, h, 16, 16), ("a", "b", "w", "h", "c", "s"))],
        changed=["b"],
        tolerance=1e-3,
    )  # fmt: skip


@case(full=1024, quick=50)
def median3(w: int) -> Problem:
    h = w + 3
    return Problem(
        arrays={"a": grey(h, w), "b": zeros(h, w, kind="u1")},
        scalars={"w": np.int32(w), "h": np.int32(h)},
        launches=[Launch("median", *of_pixels(w, h), ("a", "b", "w", "h"))],
        changed=["b"],
    )


@case(full=256, quick=30)
def hough(w: int) -> Problem:
    """Votes of the pixels of edges for lines."""
    h, angles, bins = w + 8, 64, 4 * w
    turns = np.arange(angles) * (np.pi / angles)
    sizes = {"w": w, "h": h, "angles": angles, "bins": bins}
    return Problem(
        arrays={
            "e": (grey(h, w) < 20).astype("u1"), "c": np.cos(turns).astype("f4"),
            "s": np.sin(turns).astype("f4"), "votes": zeros(angles, bins, kind="i4"),
        },
        scalars={name: np.int32(size) for name, size in sizes.items()},
        launches=[Launch("hough", *of_pixels(w, h), ("e", "c", "s", "votes", *sizes))],
        changed=["votes"],
    )  # fmt: skip


@case(full=320, quick=48)
def stereo(w: int) -> Problem:
    """How far windows of 5 x 5 pixels lie apart in two pictures."""
    h, most = w // 2, 16
    return Problem(
        arrays={"l": grey(h, w), "r": grey(h + 1, w)[1:], "d": zeros(h, w, kind="u1")},
        scalars={"w": np.int32(w), "h": np.int32(h), "most": np.int32(most)},
        launches=[Launch("sad", *of_pixels(w, h), ("l", "r", "d", "w", "h", "most"))],
        changed=["d"],
    )


@case(full=1024, quick=64)
def yuv420(w: int) -> Problem:
    h = w - 6
    return Problem(
        arrays={
            "y": grey(h, w), "u": grey(h // 2, w // 2), "v": grey(h // 2 + 1, w // 2)[1:],
            "o": zeros(h, w, 4, kind="u1"),
        },
        scalars={"w": np.int32(w), "h": np.int32(h)},
        launches=[Launch("rgb", *of_pixels(w, h), ("y", "u", "v", "o", "w", "h"))],
        changed=["o"],
    )  # fmt: skip


@case(full=1 << 20, quick=1000)
def blend(n: int) -> Problem:
    return Problem(
        arrays={"a": grey(n, 4), "b": grey(n + 1, 4)[1:], "o": zeros(n, 4, kind="u1")},
        scalars={"n": np.int32(n)},
        launches=[Launch("blend", blocks(n), 256, ("a", "b", "o", "n"))],
        changed=["o"],
    )


@case(full=120, quick=9)
def upsample(h: int) -> Problem:
    """Each pixel four times, in planes."""
    c, w = 16, h + 7
    return Problem(
        arrays={"a": reals(c, h, w), "b": zeros(c, 2 * h, 2 * w)},
        scalars={"c": np.int32(c), "h": np.int32(h), "w": np.int32(w)},
        launches=[Launch("up", blocks(c * 4 * h * w), 256, ("a", "b", "c", "h", "w"))],
        changed=["b"],
    )


@case(full=256, quick=32)
def jfa(w: int) -> Problem:
    """The nearest of some seeds, found by jumps of half the length each time."""
    h, first = w - 5, w // 2
    seeds = np.full((h, w, 2), -1, "i4")
    ys, xs = integers(0, h, 40), integers(0, w, 41)[1:]
    seeds[ys, xs] = np.stack([xs, ys], axis=-1)
    steps = [first >> i for i in range(first.bit_length())]
    names = ("a", "b")
    return Problem(
        arrays={"a": seeds, "b": zeros(h, w, 2, kind="i4")},
        scalars={"w": np.int32(w), "h": np.int32(h), "first": np.int32(first)},
        launches=[
            Launch("jump", *of_pixels(w, h), (names[i % 2], names[1 - i % 2], "w", "h", np.int32(step)))
            for i, step in enumerate(steps)
        ],
        changed=["a", "b"],
    )
