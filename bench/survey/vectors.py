"""Vectors of two and four, small types, warps' rows, generators with their state in memory."""

from __future__ import annotations

import numpy as np
from suite.problem import Launch, Problem, blocks

from survey.case import case, integers, reals, zeros

STATE = np.dtype([("d", "u4"), ("v", "u4", 5), ("has_extra", "i4"), ("extra", "f4")])


@case(full=1 << 20, quick=5003)
def axpby4(n: int) -> Problem:
    """Four numbers a thread, grid-stride."""
    return Problem(
        arrays={"x": reals(n) - 0.5, "y": reals(n + 1)[1:] - 0.5},
        scalars={"a": np.float32(1.5), "b": np.float32(0.5), "n": np.int32(n)},
        launches=[Launch("axpby4", 128, 256, ("x", "y", "a", "b", "n"))],
        changed=["y"],
        tolerance=1e-6,
    )


@case(full=1 << 19, quick=5000)
def rgba(n: int) -> Problem:
    """Contrast and saturation of pixels of four bytes."""
    return Problem(
        arrays={"in": integers(0, 256, n, 4, kind="u1"), "out": zeros(n, 4, kind="u1")},
        scalars={"contrast": np.float32(1.2), "saturation": np.float32(0.8), "n": np.int32(n)},
        launches=[Launch("adjust", blocks(n), 256, ("in", "out", "contrast", "saturation", "n"))],
        changed=["out"],
        tolerance=1 / 255,  # a fused product may round the other way
    )


def bfloats(n: int, seed: int) -> np.ndarray:
    return ((reals(n + seed)[seed:] - 0.5) * 8).view("u4").__rshift__(16).astype("u2")


@case(full=1 << 20, quick=5000)
def swiglu_bf16(n: int) -> Problem:
    """silu(gate) * up in bfloat16, by twos."""
    return Problem(
        arrays={"gate": bfloats(n, 1), "up": bfloats(n, 2), "out": zeros(n, kind="u2")},
        scalars={"n": np.int32(n // 2)},
        launches=[Launch("swiglu", 256, 256, ("gate", "up", "out", "n"))],
        changed=["out"],
        tolerance=2 / 65536,  # in the last place
    )


@case(full=1024, quick=5)
def rmsnorm(rows: int) -> Problem:
    """Rows of 2,048 halves, a warp each."""
    dim = 2048
    return Problem(
        arrays={
            "x": reals(rows, dim, kind="f2") - np.float16(0.5),
            "w": reals(dim, kind="f2"),
            "y": zeros(rows, dim, kind="f2"),
        },
        scalars={"rows": np.int32(rows), "dim": np.int32(dim), "eps": np.float32(1e-5)},
        launches=[Launch("rmsnorm", blocks(rows, 8), (32, 8), ("x", "w", "y", "rows", "dim", "eps"))],
        changed=["y"],
        tolerance=1e-3,
    )


@case(full=2048, quick=9)
def q4_matvec(rows: int) -> Problem:
    """A matrix of four-bit numbers times a vector of bytes."""
    groups = 64
    q4 = np.zeros((rows, groups), [("d", "f2"), ("q", "u1", 16)])
    q4["d"], q4["q"] = reals(rows, groups), integers(0, 256, rows, groups, 16)
    q8 = np.zeros(groups, [("d", "f2"), ("q", "i1", 32)])
    q8["d"], q8["q"] = reals(groups), integers(-128, 128, groups, 32)
    return Problem(
        arrays={"w": q4.view("u2").reshape(rows, -1), "x": q8.view("u2"), "y": zeros(rows)},
        scalars={"rows": np.int32(rows), "blocks": np.int32(groups)},
        launches=[Launch("q4_matvec", blocks(rows, 4), (32, 4), ("w", "x", "y", "rows", "blocks"))],
        changed=["y"],
        tolerance=1e-5,
    )


@case(full=1 << 18, quick=1280)
def q4_unpack(n: int) -> Problem:
    """Groups of 32 four-bit numbers as floats."""
    groups = np.zeros(n // 32, [("scale", "f2"), ("pairs", "u1", 16)])
    groups["scale"], groups["pairs"] = reals(n // 32), integers(0, 256, n // 32, 16)
    return Problem(
        arrays={"groups": groups.view("u2"), "out": zeros(n)},
        scalars={"n": np.int32(n)},
        launches=[Launch("q4_unpack", blocks(n // 2), 256, ("groups", "out", "n"))],
        changed=["out"],
        tolerance=1e-6,
    )


@case(full=1 << 17, quick=3001)
def orient(n: int) -> Problem:
    """Points turned by quaternions, by functions that are not inlined."""
    names = ("w", "x", "y", "z", "px", "py", "pz")
    return Problem(
        arrays={name: reals(n + i)[i:] - 0.5 for i, name in enumerate(names)},
        scalars={"n": np.int32(n)},
        launches=[Launch("orient", blocks(n), 256, (*names, "n"))],
        changed=["px", "py", "pz"],
        tolerance=1e-5,
    )


@case(full=2048, quick=21)
def requant(rows: int) -> Problem:
    """Sums to bytes, with a scale for each channel."""
    channels = 512
    return Problem(
        arrays={
            "sums": integers(-20000, 20000, rows, channels), "bias": integers(-500, 500, channels),
            "scale": reals(channels) / 64, "out": zeros(rows, channels, kind="i1"),
        },
        scalars={"rows": np.int32(rows), "quads": np.int32(channels // 4)},
        launches=[Launch("requant", (1, 16), 128, ("sums", "bias", "scale", "out", "rows", "quads"))],
        changed=["out"],
    )  # fmt: skip


@case(full=1024, quick=37)
def life_bits(h: int) -> Problem:
    """32 cells a word."""
    w = 100
    return Problem(
        arrays={"in": integers(0, 1 << 32, h, w, kind="u4"), "out": zeros(h, w, kind="u4")},
        scalars={"w": np.int32(w), "h": np.int32(h)},
        launches=[Launch("life_bits", (blocks(w, 32), blocks(h, 8)), (32, 8), ("in", "out", "w", "h"))],
        changed=["out"],
    )


@case(full=32768, quick=101)
def warp_sort(rows: int) -> Problem:
    """Rows of 32 numbers."""
    return Problem(
        arrays={"in": reals(rows, 32), "out": zeros(rows, 32)},
        scalars={"rows": np.int32(rows)},
        launches=[Launch("warp_sort", blocks(rows, 8), 256, ("in", "out", "rows"))],
        changed=["out"],
    )


@case(full=1021, quick=70)
def integral(w: int) -> Problem:
    """Sums over rectangles of a picture."""
    h = w - 9
    return Problem(
        arrays={"in": integers(0, 256, h, w, kind="u1"), "out": zeros(h, w, kind="i4")},
        scalars={"w": np.int32(w), "h": np.int32(h)},
        launches=[
            Launch("rows", blocks(h, 8), (32, 8), ("in", "out", "w", "h")),
            Launch("columns", blocks(w), 256, ("out", "w", "h")),
        ],
        changed=["out"],
    )


@case(full=1 << 20, quick=5000)
def reduce_volatile(n: int) -> Problem:
    """A sum unrolled by templates, the last warp by volatile shared memory."""
    parts = 64
    return Problem(
        arrays={"in": reals(n, kind="f8"), "out": zeros(parts, kind="f8")},
        scalars={"n": np.uint32(n), "parts": np.int32(parts)},
        launches=[Launch("reduce256", parts, 256, ("in", "out", "n"))],
        changed=["out"],
        tolerance=1e-12,
    )


@case(full=8192, quick=100)
def asian(n: int) -> Problem:
    """Paths of prices, by generators whose states are kept."""
    states = np.zeros(n, STATE)
    states["v"], states["d"] = integers(1, 1 << 32, n, 5, kind="u4"), integers(0, 1 << 32, n, kind="u4")
    scalars = {"n": np.int32(n), "steps": np.int32(64), "drift": np.float32(1e-4), "vol": np.float32(0.02)}
    return Problem(
        arrays={"states": states.view("u4").reshape(n, 8), "out": zeros(n)},
        scalars=scalars,
        launches=[Launch("asian", blocks(n, 128), 128, ("states", "out", *scalars))],
        changed=["states", "out"],
        native=["states", "out"],
        tolerance=1e-4,
    )


@case(full=1_000_003, quick=5003)
def dot_warps(n: int) -> Problem:
    """Grid-stride sums that warps add up by shuffles; some lanes have a turn more than others."""
    return Problem(
        arrays={"a": reals(n), "b": reals(n + 1)[1:], "sum": zeros(1)},
        scalars={"n": np.int32(n)},
        launches=[Launch("dot_warps", 64, 256, ("a", "b", "sum", "n"))],
        changed=["sum"],
        tolerance=1e-4,
    )
