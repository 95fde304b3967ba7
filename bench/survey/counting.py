"""Sums, scans, histograms, sorting, compaction."""

from __future__ import annotations

import numpy as np
from suite.problem import Launch, Problem, blocks

from survey.case import case, integers, reals, zeros


@case(full=1 << 22, quick=5120)
def compact(n: int) -> Problem:
    """Elements above a limit, in no order."""
    return Problem(
        arrays={"x": integers(0, 1000, n), "out": zeros(n + 1, kind="i4"), "count": zeros(1, kind="i4")},
        scalars={"n": np.int32(n), "limit": np.int32(500)},
        launches=[Launch("compact", blocks(n), 256, ("x", "out", "count", "n", "limit"))],
        changed=["out", "count"],
        unordered=["out"],
    )


@case(full=1 << 20, quick=16384)
def radix(n: int) -> Problem:
    """One pass of a sort by four bits: counts, their scan, ranks by votes."""
    parts = n // 256
    shift = np.int32(4)
    return Problem(
        arrays={
            "k": integers(0, 1 << 32, n, kind="u4"), "o": zeros(n, kind="u4"),
            "c": zeros(16 * parts, kind="i4"),
        },
        scalars={"n": np.int32(n), "shift": shift},
        launches=[
            Launch("count", parts, 256, ("k", "c", "shift", np.int32(parts))),
            Launch("scan", 1, 1024, ("c", np.int32(16 * parts))),
            Launch("scatter", parts, 256, ("k", "o", "c", "shift", np.int32(parts))),
        ],
        native=["k", "o"],
        changed=["o"],
    )  # fmt: skip


@case(full=1 << 20, quick=8192)
def radix_match(n: int) -> Problem:
    """Ranks by `match.any`, each warp with 1,024 keys."""
    return Problem(
        arrays={
            "k": integers(0, 1 << 32, n, kind="u4"), "o": zeros(n, kind="i4"),
            "totals": zeros(n // 4, kind="i4"),
        },
        scalars={"n": np.int32(n)},
        launches=[Launch("rank", n // 8192, 256, ("k", "o", "totals", "n"))],
        changed=["o", "totals"],
    )  # fmt: skip


@case(full=512, quick=2)
def oddeven(parts: int) -> Problem:
    """Batcher's odd-even merge sort of 1,024 elements a CTA."""
    return Problem(
        arrays={"a": integers(0, 1 << 30, parts * 1024)},
        scalars={"parts": np.int32(parts)},
        launches=[Launch("sort", parts, 512, ("a",))],
        changed=["a"],
    )


@case(full=1 << 20, quick=4096)
def cg(n: int) -> Problem:
    """Two launches of conjugate gradients, with sums by shuffles and atomics."""
    names = ("x", "r", "p", "q", "dot", "rn")
    parts = (*(reals(n, kind="f8") + i for i in range(3)), zeros(n, kind="f8"))
    return Problem(
        arrays=dict(zip(names, (*parts, zeros(1, kind="f8"), zeros(1, kind="f8")))),
        scalars={"rr": np.float64(1000), "n": np.int32(n)},
        launches=[
            Launch("ap", blocks(n), 256, ("p", "q", "dot", "n")),
            Launch("up", blocks(n), 256, ("x", "r", "p", "q", "dot", "rr", "rn", "n")),
        ],
        changed=["x", "r", "q", "dot", "rn"],
        tolerance=1e-9,
    )


@case(full=1024, quick=4)
def prefmax(rows: int) -> Problem:
    """The greatest so far, a CTA a row."""
    n = 2048
    return Problem(
        arrays={"x": integers(0, 1 << 30, rows, n), "y": zeros(rows, n, kind="i4")},
        scalars={"rows": np.int32(rows), "n": np.int32(n)},
        launches=[Launch("pm", rows, 256, ("x", "y", "n"))],
        changed=["y"],
    )


@case(full=1 << 21, quick=5120)
def segred(n: int) -> Problem:
    """Sums of runs of equal keys."""
    return Problem(
        arrays={"v": reals(n), "k": np.sort(integers(0, n // 40, n)), "o": zeros(n // 40)},
        scalars={"n": np.int32(n)},
        launches=[Launch("seg", n // 256, 256, ("v", "k", "o", "n"))],
        changed=["o"],
        tolerance=1e-5,
    )


@case(full=2048, quick=4)
def argmax(rows: int) -> Problem:
    """A CTA a row."""
    n = 2000
    return Problem(
        arrays={"x": reals(rows, n), "o": zeros(rows, kind="i4")},
        scalars={"rows": np.int32(rows), "n": np.int32(n)},
        launches=[Launch("am", rows, 256, ("x", "o", "n"))],
        changed=["o"],
    )


@case(full=1 << 22, quick=5000)
def sum_atomic(n: int) -> Problem:
    return Problem(
        arrays={"x": reals(n), "o": zeros(1)},
        scalars={"n": np.int32(n)},
        launches=[Launch("sum", 128, 256, ("x", "o", "n"))],
        changed=["o"],
        tolerance=1e-3,
    )


@case(full=2048, quick=4)
def hillis(parts: int) -> Problem:
    """Prefix sums of 512 elements, by doubling distances."""
    return Problem(
        arrays={"x": integers(0, 100, parts * 512), "y": zeros(parts * 512, kind="i4")},
        scalars={"parts": np.int32(parts)},
        launches=[Launch("scan", parts, 512, ("x", "y"))],
        changed=["y"],
    )


@case(full=1 << 21, quick=5000)
def hist_global(n: int) -> Problem:
    return Problem(
        arrays={"d": integers(0, 256, n), "h": zeros(256, kind="i4")},
        scalars={"n": np.int32(n)},
        launches=[Launch("hist", blocks(n), 256, ("d", "h", "n"))],
        changed=["h"],
    )


@case(full=1 << 21, quick=5000)
def hist_priv(n: int) -> Problem:
    """A table for each warp, in shared memory."""
    n = n // 4 * 4
    return Problem(
        arrays={"d": integers(0, 256, n, kind="u1"), "o": zeros(256, kind="u4")},
        scalars={"n": np.int32(n)},
        launches=[Launch("hist", 64, 256, ("d", "o", "n"))],
        changed=["o"],
    )


def scattered(n: int, kind: str) -> Problem:
    places = max(n // 20, 256)
    values = reals(n, kind=kind) if kind == "f8" else integers(0, 1 << 30, n)
    return Problem(
        arrays={"d": integers(0, places, n), "v": values, "h": zeros(places, kind=kind)},
        scalars={"n": np.int32(n)},
        launches=[Launch("k", blocks(n), 256, ("d", "v", "h", "n"))],
        changed=["h"],
        tolerance=1e-12,
    )


@case(full=1 << 21, quick=5000)
def scatter_max(n: int) -> Problem:
    return scattered(n, "i4")


@case(full=1 << 20, quick=5000)
def scatter_f64(n: int) -> Problem:
    return scattered(n, "f8")
