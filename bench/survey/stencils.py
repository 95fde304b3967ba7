"""Grids of which each cell looks at its neighbours."""

from __future__ import annotations

import numpy as np
from suite.problem import Launch, Problem, blocks

from survey.case import case, integers, reals, zeros


@case(full=2048, quick=64)
def jacobi(n: int) -> Problem:
    """A tile with its halo in shared memory, 16 x 16 CTAs."""
    return Problem(
        arrays={"x": reals(n, n), "y": zeros(n, n)},
        scalars={"n": np.int32(n)},
        launches=[Launch("jacobi", (n // 16, n // 16), (16, 16), ("x", "y", "n"))],
        changed=["y"],
        tolerance=1e-6,
    )


@case(full=2000, quick=90)
def heat(n: int) -> Problem:
    return Problem(
        arrays={"x": reals(n, n), "y": zeros(n, n)},
        scalars={"nx": np.int32(n), "ny": np.int32(n), "k": np.float32(0.2)},
        launches=[Launch("heat", (blocks(n, 32), blocks(n, 8)), (32, 8), ("x", "y", "nx", "ny", "k"))],
        changed=["y"],
        tolerance=1e-5,
    )


def seven_points(nx: int, ny: int, nz: int, launch: Launch) -> Problem:
    return Problem(
        arrays={"x": reals(nz, ny, nx), "y": zeros(nz, ny, nx)},
        scalars={
            "nx": np.int32(nx), "ny": np.int32(ny), "nz": np.int32(nz),
            "c0": np.float32(0.5), "c1": np.float32(0.1),
        },
        launches=[launch],
        changed=["y"],
        tolerance=1e-6,
    )  # fmt: skip


SEVEN = ("x", "y", "nx", "ny", "nz", "c0", "c1")


@case(full=128, quick=12)
def stencil3d(n: int) -> Problem:
    """Seven points; a thread goes through all planes."""
    nx, ny = 2 * n, 3 * n // 2
    return seven_points(nx, ny, n, Launch("st", (blocks(nx, 32), blocks(ny, 8)), (32, 8), SEVEN))


@case(full=128, quick=12)
def st_cell(n: int) -> Problem:
    """Seven points; a thread for each cell."""
    nx, ny = 2 * n, 3 * n // 2
    grid = (blocks(nx, 32), blocks(ny, 4), blocks(n, 2))
    return seven_points(nx, ny, n, Launch("st", grid, (32, 4, 2), SEVEN))


@case(full=2048, quick=64)
def life(n: int) -> Problem:
    """The game of life on bytes, on a torus."""
    return Problem(
        arrays={"a": integers(0, 2, n, n, kind="u1"), "b": zeros(n, n, kind="u1")},
        scalars={"w": np.int32(n), "h": np.int32(n)},
        launches=[Launch("life", (n // 32, n // 8), (32, 8), ("a", "b", "w", "h"))],
        changed=["b"],
    )


@case(full=2048, quick=128)
def life4(n: int) -> Problem:
    """The same with four cells a thread."""
    return Problem(
        arrays={"a": integers(0, 2, n, n, kind="u1"), "b": zeros(n, n, kind="u1")},
        scalars={"w": np.int32(n), "h": np.int32(n)},
        launches=[Launch("life", (n // 128, n // 8), (32, 8), ("a", "b", np.int32(n // 4), "h"))],
        changed=["b"],
    )


@case(full=512, quick=128)
def lbm(n: int) -> Problem:
    """A step of the lattice Boltzmann method, nine directions."""
    return Problem(
        arrays={"f": reals(9, n, n) + np.float32(0.5), "g": zeros(9, n, n)},
        scalars={"w": np.int32(n), "h": np.int32(n), "omega": np.float32(1.2)},
        launches=[Launch("lbm", (n // 128, n), (128, 1), ("f", "g", "w", "h", "omega"))],
        changed=["g"],
        tolerance=1e-4,
    )
