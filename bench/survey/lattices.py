"""Grids whose points take turns, waves, particles, systems of equations."""

from __future__ import annotations

import numpy as np
from suite.problem import Launch, Problem, Scalar, blocks

from survey.case import case, integers, reals, zeros


@case(full=1024, quick=70)
def fdtd(n: int) -> Problem:
    """Four steps of waves in a plane."""
    steps, grid = 4, (blocks(n, 32), blocks(n, 8))
    size: dict[str, Scalar] = {"nx": np.int32(n), "ny": np.int32(n)}
    fields = ("ez", "hx", "hy")
    launches = [
        launch
        for _ in range(steps)
        for launch in (
            Launch("magnetic", grid, (32, 8), (*fields, "nx", "ny", "c")),
            Launch("electric", grid, (32, 8), (*fields, "ce", "nx", "ny")),
        )
    ]
    return Problem(
        arrays={name: reals(n + k, n)[k:] for k, name in enumerate((*fields, "ce"))},
        scalars={**size, "c": np.float32(0.5), "steps": np.int32(steps)},
        launches=launches,
        changed=fields,
        tolerance=1e-5,
    )


@case(full=2000, quick=3)
def pcr(systems: int) -> Problem:
    """Tridiagonal systems by a parallel method; C solves them one row after the other."""
    shape = systems, 256
    return Problem(
        arrays={
            "a": reals(*shape) - np.float32(0.5),
            "b": reals(systems + 1, 256)[1:] + np.float32(2),
            "c": reals(systems + 2, 256)[2:] - np.float32(0.5),
            "d": reals(systems + 3, 256)[3:],
            "x": zeros(*shape),
        },
        scalars={"systems": np.int32(systems)},
        launches=[Launch("pcr", systems, 256, ("a", "b", "c", "d", "x"))],
        changed=["x"],
        tolerance=1e-5,
    )


@case(full=192, quick=20)
def restrict3(n: int) -> Problem:
    """A coarser grid in space."""
    m = n // 2
    return Problem(
        arrays={"fine": reals(n, n, n), "coarse": zeros(m, m, m)},
        scalars={"n": np.int32(n)},
        launches=[Launch("restrict3", (blocks(m, 32), blocks(m, 8), m), (32, 8), ("fine", "coarse", "n"))],
        changed=["coarse"],
        tolerance=1e-5,
    )


@case(full=1 << 16, quick=900)
def sph(n: int) -> Problem:
    """Some nine particles in each cell of a grid, sorted by cells."""
    cells = int((n / 9) ** 0.5)
    points = reals(n, 2)
    cell = (points[:, 1] * np.float32(cells)).astype(int) * cells + (points[:, 0] * np.float32(cells)).astype(
        int
    )
    order = np.argsort(cell, kind="stable")
    start = np.searchsorted(cell[order], np.arange(cells * cells + 1)).astype("i4")
    return Problem(
        arrays={"p": points[order], "start": start, "density": zeros(n)},
        scalars={"n": np.int32(n), "cells": np.int32(cells), "h2": np.float32(1 / cells**2)},
        launches=[Launch("sph", blocks(n), 256, ("p", "start", "density", "n", "cells", "h2"))],
        changed=["density"],
        tolerance=1e-5,
    )


@case(full=480, quick=40)
def tile20(n: int) -> Problem:
    """CTAs of 20 x 20 threads."""
    grid = n // 20, n // 20
    return Problem(
        arrays={"a": reals(n, n), "b": reals(n + 1, n)[1:], "c": zeros(n, n)},
        scalars={"n": np.int32(n)},
        launches=[Launch("tile20", grid, (20, 20), ("a", "b", "c", "n"))],
        changed=["c"],
        tolerance=1e-5,
    )


@case(full=1000, quick=50)
def blur10(n: int) -> Problem:
    """CTAs of 10 x 10 threads."""
    return Problem(
        arrays={"in": integers(0, 256, n, n, kind="u1"), "out": zeros(n, n, kind="u1")},
        scalars={"w": np.int32(n), "h": np.int32(n)},
        launches=[Launch("blur10", (n // 10, n // 10), (10, 10), ("in", "out", "w", "h"))],
        changed=["out"],
    )


@case(full=480, quick=52)
def mm4(n: int) -> Problem:
    """CTAs of 4 x 4 threads."""
    return Problem(
        arrays={"a": reals(n, n), "b": reals(n * n + 1)[1:].reshape(n, n), "c": zeros(n, n)},
        scalars={"n": np.int32(n)},
        launches=[Launch("mm4", (n // 4, n // 4), (4, 4), ("a", "b", "c", "n"))],
        changed=["c"],
        tolerance=1e-4,
    )


@case(full=96, quick=13)
def volume2(n: int) -> Problem:
    """CTAs of 2 x 2 x 2 threads."""
    blocks = -(-n // 2)
    return Problem(
        arrays={"in": reals(n, n, n), "out": zeros(n, n, n)},
        scalars={"n": np.int32(n)},
        launches=[Launch("volume2", (blocks,) * 3, (2, 2, 2), ("in", "out", "n"))],
        changed=["out"],
    )


@case(full=1 << 18, quick=100)
def add_ones(n: int) -> Problem:
    """A CTA of one thread for each element."""
    return Problem(
        arrays={"a": reals(n), "b": reals(n + 1)[1:], "c": zeros(n)},
        scalars={"n": np.int32(n)},
        launches=[Launch("add_ones", n, 1, ("a", "b", "c", "n"))],
        changed=["c"],
    )


@case(full=500, quick=40)
def julia_ones(n: int) -> Problem:
    """A CTA of one thread for each pixel, in two dimensions."""
    return Problem(
        arrays={"out": zeros(n, n, 4, kind="u1")},
        scalars={"n": np.int32(n)},
        launches=[Launch("julia_ones", (n, n), 1, ("out", "n"))],
        changed=["out"],
        mismatches=0.01,  # chaos: products are fused or not
    )


@case(full=1 << 22, quick=20_000)
def add_grid(n: int) -> Problem:
    """A loop over all threads of a grid: 16 MB each."""
    return Problem(
        arrays={"a": reals(n), "b": reals(n + 1)[1:], "c": zeros(n)},
        scalars={"n": np.int32(n)},
        launches=[Launch("add_grid", 64, 256, ("a", "b", "c", "n"))],
        changed=["c"],
    )


@case(full=1 << 22, quick=100_000)
def moments_grid(n: int) -> Problem:
    """The same with a sum for each warp."""
    return Problem(
        arrays={"x": reals(n), "y": reals(n + 1)[1:], "sums": zeros(2048)},
        scalars={"n": np.int64(n)},
        launches=[Launch("moments_grid", 256, 256, ("x", "y", "sums", "n"))],
        changed=["sums"],
        tolerance=1e-5,
    )
