"""Kernels of courses and old benchmarks, as they were written for the first GPUs."""

from __future__ import annotations

import numpy as np
from suite.problem import Launch, Problem, blocks

from survey.case import case, integers, reals, zeros


@case(full=4096, quick=5)
def reduce_first(parts: int) -> Problem:
    """Sums by trees, with threads that idle between others, and with strides."""
    return Problem(
        arrays={
            "in": integers(0, 1000, parts * 256), "out": zeros(parts, kind="i4"),
            "again": zeros(parts, kind="i4"),
        },
        scalars={"parts": np.int32(parts)},
        launches=[
            Launch("by_multiples", parts, 256, ("in", "out")),
            Launch("by_packed", parts, 256, ("in", "again")),
        ],
        changed=["out", "again"],
    )  # fmt: skip


@case(full=2048, quick=3)
def blelloch(parts: int) -> Problem:
    """A scan up and down a tree."""
    return Problem(
        arrays={"in": reals(parts, 512), "out": zeros(parts, 512)},
        scalars={"parts": np.int32(parts)},
        launches=[Launch("blelloch", parts, 256, ("in", "out"))],
        changed=["out"],
        tolerance=1e-5,
    )


@case(full=256, quick=48)
def lud(n: int) -> Problem:
    """LU factors by blocks of 16."""
    launches: list[Launch] = []
    for at in range(0, n, 16):
        left, args = (n - at) // 16 - 1, ("m", "n", np.int32(at))
        launches.append(Launch("diagonal", 1, 16, args))
        if left:
            launches.append(Launch("perimeter", left, 32, args))
            launches.append(Launch("internal", (left, left), (16, 16), args))
    return Problem(
        arrays={"m": reals(n, n) + n * np.eye(n, dtype="f4")},
        scalars={"n": np.int32(n)},
        launches=launches,
        changed=["m"],
        tolerance=1e-5,
    )


@case(full=4096, quick=5)
def backprop(parts: int) -> Problem:
    """A layer of a network, forward."""
    hidden = 16
    return Problem(
        arrays={
            "input": reals(16 * parts + 1), "weights": reals(16 * parts + 1, hidden + 1),
            "partial": zeros(parts, hidden),
        },
        scalars={"hidden": np.int32(hidden), "parts": np.int32(parts)},
        launches=[Launch("forward", (1, parts), (16, 16), ("input", "weights", "partial", "hidden"))],
        changed=["partial"],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=1 << 20, quick=5000)
def hist64(words: int) -> Problem:
    """Counts in bytes of each thread's own."""
    return Problem(
        arrays={"data": integers(0, 1 << 32, words, kind="u4"), "counts": zeros(64, kind="u4")},
        scalars={"words": np.int32(words)},
        launches=[Launch("hist64", blocks(words, 64 * 60), 64, ("data", "counts", "words"))],
        changed=["counts"],
    )


@case(full=1 << 20, quick=5000)
def merge_path(n: int) -> Problem:
    """Two sorted runs merged, each thread from its diagonal on."""
    sizes = {"na": n // 2 + 77, "nb": n // 2 - 77}
    return Problem(
        arrays={
            "a": np.sort(integers(0, 1 << 30, sizes["na"])), "b": np.sort(integers(0, 1 << 30, sizes["nb"])),
            "out": zeros(n, kind="i4"),
        },
        scalars={name: np.int32(size) for name, size in sizes.items()},
        launches=[Launch("merge", blocks(n, 1024), 128, ("a", "b", "out", *sizes))],
        changed=["out"],
    )  # fmt: skip
