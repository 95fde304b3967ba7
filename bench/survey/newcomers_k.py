"""Twelve kernels as people write them in 2026, without knowing what the JIT is good at: encodings, point clouds,
codes, ciphers, optimisers, schemes for equations."""

from __future__ import annotations

import numpy as np
from suite.problem import Launch, Problem, blocks

from survey.case import case, integers, reals, zeros


def ints(names: str, *values: int) -> dict[str, np.generic]:
    """Parameters by their names."""
    return {name: np.int32(value) for name, value in zip(names.split(), values, strict=True)}


LEVEL = np.dtype([("offset", "u4"), ("size", "u4"), ("resolution", "u4"), ("scale", "f4")])


@case(full=4000, quick=300)
def hashgrid(n: int) -> Problem:
    """Points along rays, so neighbours share cells; the first levels are dense, the others hashed."""
    count, most = (12, 1 << 14) if n > 1000 else (5, 1 << 9)
    levels, offset = np.zeros(count, LEVEL), 0
    for l in range(count):  # noqa: E741
        scale = 4 * 1.5**l - 1
        resolution = int(np.ceil(scale)) + 1
        size = min(-(-(resolution**3) // 8) * 8, most)
        levels[l] = offset, size, resolution, scale
        offset += size
    rays = -(-n // 25)
    start, way = reals(rays, 1, 3), reals(3, rays).T[:, None] - np.float32(0.5)
    points = (start + way * np.linspace(0, 1, 25, dtype="f4")[:, None]).reshape(-1, 3)[:n] % np.float32(1)
    gradient = (reals(2 * count, n) - np.float32(0.5)) * (reals(n) < 0.8)
    grid = (blocks(n), count)
    return Problem(
        arrays={
            "points": np.minimum(points, np.float32(0.999)).astype("f4"),
            "table": (reals(offset, 2) - np.float32(0.5)).astype("f2"), "levels": levels.view("u4"),
            "d_encoded": gradient.astype("f4"), "encoded": zeros(2 * count, n), "d_table": zeros(offset, 2),
        },
        scalars=ints("n count", n, count),
        launches=[
            Launch("grid_encode", grid, 256, ("points", "table", "levels", "encoded", "n")),
            Launch("grid_backward", grid, 256, ("points", "d_encoded", "levels", "d_table", "n")),
        ],
        changed=["encoded", "d_table"],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=4100, quick=300)
def fps_ball(n: int) -> Problem:
    """Surfaces of three boxes. A turn of the first kernel needs the one before, with ten barriers."""
    clouds, m, nsample, channels = (2, 200, 32, 16) if n > 1000 else (2, 9, 8, 3)
    rng = np.random.default_rng(41)
    points = rng.random((clouds, n, 3), "f4")
    points[np.arange(clouds)[:, None], np.arange(n), rng.integers(3, size=(clouds, n))] = 0.5
    points *= np.float32([1, 2, 0.7])
    size, ball = ints("n m", n, m), {"radius": np.float32(0.2), "nsample": np.int32(nsample)}
    made = {
        "nearest": zeros(clouds, n), "chosen": zeros(clouds, m, kind="i4"),
        "neighbours": zeros(clouds, m, nsample, kind="i4"), "grouped": zeros(clouds, channels, m, nsample),
    }  # fmt: skip
    return Problem(
        arrays={"xyz": points, "features": reals(clouds, channels, n), **made},
        scalars={**size, **ball, **ints("channels clouds", channels, clouds)},
        launches=[
            Launch("furthest_points", clouds, 512, ("xyz", "nearest", "chosen", *size)),
            Launch("ball_query", (blocks(m), clouds), 256, ("xyz", "chosen", "neighbours", *size, *ball)),
            Launch(
                "group_points", (blocks(m * nsample), channels, clouds), 256,
                ("features", "neighbours", "grouped", "channels", "n", "m", "nsample"),
            ),
        ],
        changed=[*made],
        native=("xyz", "features", "chosen", "neighbours", "grouped"),
        mismatches=0.002,
    )  # fmt: skip


@case(full=700, quick=70)
def rosen(cells: int) -> Problem:
    """Arrays of a thread's own, whose places come from constant tables; each cell takes its own steps."""
    numbers = {
        "cells": np.int32(cells), "t_end": np.float64(20), "rtol": np.float64(1e-3), "atol": np.float64(1e-7),
    }  # fmt: skip
    concentration = reals(6, cells, kind="f8") * np.array([1, 0.01, 0.1, 0.02, 0.05, 0.2])[:, None]
    return Problem(
        arrays={
            "concentration": concentration, "temperature": 220 + 130 * reals(cells, kind="f8"),
            "steps": zeros(cells, kind="i4"),
        },
        scalars=numbers,
        launches=[
            Launch("rosenbrock", blocks(cells, 128), 128, ("concentration", "temperature", "steps", *numbers))
        ],
        changed=["concentration", "steps"],
        tolerance=1e-9,
        mismatches=0.01,
    )  # fmt: skip
