"""Kernels of the kinds that benchmarks of scientific computing are made of."""

from __future__ import annotations

import numpy as np
from suite.problem import Launch, Problem, blocks

from survey.case import case, integers, reals, zeros


@case(full=1024, quick=40)
def box_row(h: int) -> Problem:
    """Running sums along rows, a thread for each."""
    w = h + 8
    return Problem(
        arrays={"a": reals(h, w), "b": zeros(h, w)},
        scalars={"w": np.int32(w), "h": np.int32(h), "r": np.int32(5)},
        launches=[Launch("box", blocks(h, 64), 64, ("a", "b", "w", "h", "r"))],
        changed=["b"],
        tolerance=1e-4,
    )


@case(full=1024, quick=40)
def srad(rows: int) -> Problem:
    """Neighbours by tables of indices."""
    cols = rows + 32
    around = {
        "up": np.maximum(np.arange(rows) - 1, 0), "down": np.minimum(np.arange(rows) + 1, rows - 1),
        "left": np.maximum(np.arange(cols) - 1, 0), "right": np.minimum(np.arange(cols) + 1, cols - 1),
    }  # fmt: skip
    return Problem(
        arrays={
            "a": reals(rows, cols) + 0.5, "d": zeros(rows, cols),
            **{name: index.astype("i4") for name, index in around.items()},
        },
        scalars={"rows": np.int32(rows), "cols": np.int32(cols), "q0": np.float32(0.05)},
        launches=[
            Launch(
                "srad", (blocks(cols, 16), blocks(rows, 16)), (16, 16),
                ("a", "d", *around, "rows", "cols", "q0"),
            )
        ],
        changed=["d"],
        tolerance=1e-4,
    )  # fmt: skip


@case(full=100_000, quick=300)
def cfd(n: int) -> Problem:
    """Fluxes between cells and their neighbours, some of which are none."""
    near = np.arange(n) + np.array([[-1], [1], [-300], [300]]) + integers(-3, 4, 4, n)
    return Problem(
        arrays={
            "nb": np.where((near < 0) | (near >= n), -1, near).astype("i4"), "vars": reals(4, n) + 0.5,
            "normals": reals(8, n) - 0.5, "out": zeros(4, n),
        },
        scalars={"n": np.int32(n)},
        launches=[Launch("flux", blocks(n, 192), 192, ("nb", "vars", "normals", "out", "n"))],
        changed=["out"],
        tolerance=1e-4,
    )  # fmt: skip


@case(full=100_000, quick=700)
def pathfinder(cols: int) -> Problem:
    """The cheapest ways through a grid, eight rows a launch."""
    steps, launches = 8, 5
    names = ("src", "dst")
    grid = blocks(cols, 256 - 2 * steps)
    return Problem(
        arrays={
            "wall": integers(0, 10, steps * launches, cols), "src": integers(0, 11, cols),
            "dst": zeros(cols, kind="i4"),
        },
        scalars={"cols": np.int32(cols), "steps": np.int32(steps)},
        launches=[
            Launch(
                "path", grid, 256,
                ("wall", names[i % 2], names[1 - i % 2], "cols", np.int32(i * steps), "steps"),
            )
            for i in range(launches)
        ],
        changed=["src", "dst"],
    )  # fmt: skip


@case(full=256, quick=20)
def syrk(n: int) -> Problem:
    m = n + 10
    return Problem(
        arrays={"a": reals(n, m), "c": reals(n, n)},
        scalars={"n": np.int32(n), "m": np.int32(m), "alpha": np.float32(0.7), "beta": np.float32(0.2)},
        launches=[
            Launch("syrk", (blocks(n, 32), blocks(n, 8)), (32, 8), ("a", "c", "n", "m", "alpha", "beta"))
        ],
        changed=["c"],
        tolerance=1e-4,
    )


@case(full=256, quick=20)
def covariance(m: int) -> Problem:
    n = m + 4
    return Problem(
        arrays={"d": reals(n, m), "mean": zeros(m), "c": zeros(m, m)},
        scalars={"m": np.int32(m), "n": np.int32(n)},
        launches=[
            Launch("mean", blocks(m, 64), 64, ("d", "mean", "m", "n")),
            Launch("centre", (blocks(m, 32), blocks(n, 8)), (32, 8), ("d", "mean", "m", "n")),
            Launch("covar", blocks(m, 64), 64, ("d", "c", "m", "n")),
        ],
        changed=["d", "mean", "c"],
        tolerance=1e-4,
    )


@case(full=1024, quick=64)
def dct8(w: int) -> Problem:
    """Cosine transforms of 8 x 8 pixels, four in a CTA."""
    h, k = w // 2, np.arange(8)
    coefficients = np.cos((2 * k[None] + 1) * k[:, None] * np.pi / 16) / 2
    return Problem(
        arrays={"a": reals(h, w), "b": zeros(h, w), "coef": coefficients.astype("f4")},
        scalars={"w": np.int32(w), "h": np.int32(h)},
        launches=[Launch("dct", (w // 32, h // 8), (32, 8), ("a", "b", "coef", "w"))],
        changed=["b"],
        tolerance=1e-4,
    )


@case(full=512, quick=3)
def walsh(parts: int) -> Problem:
    n = parts * 1024
    return Problem(
        arrays={"d": reals(n)},
        scalars={"n": np.int32(n)},
        launches=[Launch("walsh", parts, 256, ("d",))],
        changed=["d"],
        tolerance=1e-3,
    )


@case(full=48, quick=2)
def binomial(n: int) -> Problem:
    """Prices of options by trees of 512 steps, one in a CTA."""
    numbers = {"vdt": np.float32(0.01), "pu": np.float32(0.5015), "pd": np.float32(0.498)}
    return Problem(
        arrays={"s": 20 + reals(n), "x": 19 + reals(n + 1)[1:], "o": zeros(n)},
        scalars={**numbers, "n": np.int32(n)},
        launches=[Launch("price", n, 256, ("s", "x", "o", *numbers))],
        changed=["o"],
        tolerance=1e-3,
    )


@case(full=4096, quick=100)
def sturm(m: int) -> Problem:
    """Eigenvalues of a tridiagonal matrix below each of some numbers."""
    n = 200
    return Problem(
        arrays={
            "d": reals(n), "e2": reals(n + 1)[1:] / 10, "x": np.linspace(-1, 2, m).astype("f4"),
            "o": zeros(m, kind="i4"),
        },
        scalars={"n": np.int32(n), "m": np.int32(m)},
        launches=[Launch("count", blocks(m, 128), 128, ("d", "e2", "x", "o", "n", "m"))],
        changed=["o"],
    )  # fmt: skip


@case(full=96, quick=9)
def cubes(nx: int) -> Problem:
    """Cells of a volume by which of their corners are inside, and a table of 256."""
    ny, nz = nx + 2, nx - 3
    return Problem(
        arrays={
            "f": reals(nz, ny, nx), "table": integers(0, 16, 256),
            "verts": zeros((nz - 1) * (ny - 1) * (nx - 1), kind="i4"),
        },
        scalars={"nx": np.int32(nx), "ny": np.int32(ny), "nz": np.int32(nz), "iso": np.float32(0.5)},
        launches=[
            Launch(
                "classify", blocks((nx - 1) * (ny - 1) * (nz - 1)), 256,
                ("f", "table", "verts", "nx", "ny", "nz", "iso"),
            )
        ],
        changed=["verts"],
    )  # fmt: skip


@case(full=128, quick=10)
def conv3d(ni: int) -> Problem:
    """Eleven points of three planes; a thread goes through all planes."""
    nj, nk = ni + 3, ni + 32
    return Problem(
        arrays={"a": reals(ni, nj, nk), "b": zeros(ni, nj, nk)},
        scalars={"ni": np.int32(ni), "nj": np.int32(nj), "nk": np.int32(nk)},
        launches=[Launch("conv", (blocks(nk, 32), blocks(nj, 8)), (32, 8), ("a", "b", "ni", "nj", "nk"))],
        changed=["b"],
        tolerance=1e-5,
    )
