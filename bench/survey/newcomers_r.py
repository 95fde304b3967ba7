"""Kernels as samples, textbooks, courses and collections of benchmarks have them, chosen without knowing what
the JIT is good at: k-space, charges, twisters, jagged diagonals, merges, boxes, filters, intervals, splines."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, integers, reals, zeros


def ints(names: str, *values: int) -> dict[str, np.generic]:
    """Parameters by their names."""
    return {name: np.int32(value) for name, value in zip(names.split(), values, strict=True)}


def floats(names: str, *values: float) -> dict[str, np.generic]:
    return {name: np.float32(value) for name, value in zip(names.split(), values, strict=True)}


def settled(values: Array) -> Array:
    """Multiples of 2^-36, the same on all machines: libraries, and Python's `sum`, differ in last bits."""
    return np.rint(values * 2.0**36) * 2.0**-36


def around_zero(*shape: int, kind: str = "f4") -> Array:
    return (reals(*shape, kind="f8") - 0.5).astype(kind)


def powers(rng: np.random.Generator, count: int, least: float, most: int) -> Array:
    """Lengths or degrees: few are great."""
    return np.minimum(settled(least / np.sqrt(1 - rng.random(count))), most).astype("i4")


@case(full=4000, quick=75)
def mri_q(voxels: int) -> Problem:
    """Two chunks of samples, of which the second is not full; voxels of a slab."""
    samples = 430 if voxels > 100 else 261
    k = np.random.default_rng(61).random((3, samples)).astype("f4") * 8 - np.float32(4)
    at = np.random.default_rng(62).random((3, voxels)).astype("f4")
    phi = around_zero(2, samples)
    arrays = {
        "phi_r": phi[0], "phi_i": phi[1], "kx": k[0], "ky": k[1], "kz": k[2],
        "packed": zeros(samples, 4), "x": at[0], "y": at[1], "z": at[2],
        "qr": zeros(voxels), "qi": zeros(voxels),
    }  # fmt: skip
    size = ints("samples voxels", samples, voxels)
    pack = ("phi_r", "phi_i", "kx", "ky", "kz", "packed", "samples")
    rest = ("samples", "x", "y", "z", "qr", "qi", "voxels")
    return Problem(
        arrays=arrays,
        scalars=size,
        launches=[
            Launch("mriq_pack", blocks(samples, 512), 512, pack),
            *[
                Launch("mriq_q", blocks(voxels), 256, ("packed", np.int32(first), *rest))
                for first in range(0, samples, 256)
            ],
        ],
        changed=["packed", "qr", "qi"],
        tolerance=1e-4,
    )


@case(full=190, quick=41)
def dcs_slice(nx: int) -> Problem:
    """A slice in the middle of a box of charges, in launches of 128."""
    ny, atoms = nx * 2 // 3 + 1, 400 if nx > 100 else 130
    spacing = 0.5
    at = np.random.default_rng(63).random((atoms, 4)) * np.array([nx * spacing, ny * spacing, 20, 2])
    at[:, 3] -= 1
    numbers = {**ints("atoms nx ny", atoms, nx, ny), **floats("spacing z", spacing, 10.1)}
    rest = ("atoms", "nx", "ny", "spacing", "z", "energy")
    grid = (blocks(nx, 128), blocks(ny, 8))
    return Problem(
        arrays={"atom": at.astype("f4"), "energy": zeros(ny, nx)},
        scalars=numbers,
        launches=[
            Launch("dcs_slice", grid, (16, 8), ("atom", np.int32(first), *rest))
            for first in range(0, atoms, 128)
        ],
        changed=["energy"],
        tolerance=1e-4,
    )


@case(full=1000, quick=135)
def dcmt(rngs: int) -> Problem:
    """The state is a local array, in which all threads are at the same place."""
    each = 400 if rngs > 500 else 24
    params = np.random.default_rng(64).integers(0, 2**32, (rngs, 4), dtype="u4")
    size = ints("rngs each", rngs, each)
    return Problem(
        arrays={"out": zeros(each, rngs), "params": params},
        scalars=size,
        launches=[
            Launch("dcmt_random", blocks(rngs, 128), 128, ("out", "params", *size)),
            Launch("dcmt_boxmuller", blocks(rngs, 128), 128, ("out", *size)),
        ],
        tolerance=1e-5,
    )


@case(full=50000, quick=333)
def sobol(vectors: int) -> Problem:
    """Directions as a valid table of them has them: bit k is the lowest of number k."""
    dimensions = 20 if vectors > 1000 else 5
    k = np.arange(32)
    m = np.random.default_rng(65).integers(0, 2**32, (dimensions, 32)) % 2 ** (k + 1) | 1
    size = {"vectors": np.uint32(vectors), "dimensions": np.uint32(dimensions)}
    groups = 16 if vectors > 1000 else 2
    return Problem(
        arrays={
            "directions": (m << (31 - k)).astype("u4"), "output": zeros(dimensions, vectors),
            "sum": zeros(1, kind="f8"),
        },
        scalars=size,
        launches=[
            Launch("sobol_points", (groups, dimensions), 64, (*size, "directions", "output")),
            Launch("sobol_mean", 32 if vectors > 1000 else 2, 128, (*size, "output", "sum")),
        ],
        changed=["sum"],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=30000, quick=211)
def jds(dim: int) -> Problem:
    """Lengths by a power law, from 6 to 200 a row; groups of 32 rows are padded to their longest."""
    rng = np.random.default_rng(66)
    length = powers(rng, dim, 6, min(200, dim // 4))
    perm = np.argsort(-length, kind="stable").astype("i4")
    padded = 32 * blocks(dim, 32)
    ordered = np.concatenate((length[perm], np.zeros(padded - dim, "i4")))
    groups = ordered[::32].copy()
    widths = [32 * int((groups > k).sum()) for k in range(int(groups[0]))]
    ptr = np.cumsum([0, *widths])
    data, index = zeros(int(ptr[-1])), zeros(int(ptr[-1]), kind="i4")
    for k, width in enumerate(widths):
        here = ordered[:width] > k
        data[ptr[k] : ptr[k + 1]] = np.where(here, rng.random(width) - 0.5, 0)
        index[ptr[k] : ptr[k + 1]] = np.where(here, rng.integers(0, dim, width), 0)
    arrays = {
        "out": zeros(dim), "data": data, "index": index, "perm": perm, "x": around_zero(dim),
        "ptr": ptr[:-1].astype("i4"), "lengths": groups,
    }  # fmt: skip
    return Problem(
        arrays=arrays,
        scalars=ints("dim", dim),
        launches=[Launch("jds", blocks(dim, 192), 192, (*arrays, "dim"))],
        tolerance=1e-5,
    )


@case(full=400_000, quick=700)
def merge_ring(m: int) -> Problem:
    """Keys of which many are equal: the order of the numbers beside them tells whether it is kept."""
    n, tile, groups = m * 3 // 4 + 11, 1024 if m > 1000 else 128, 16 if m > 1000 else 3
    rng = np.random.default_rng(67)

    def records(count: int, first: int) -> Array:
        keys = np.sort(rng.integers(0, m // 2, count))
        return np.stack((keys, first + np.arange(count)), 1).astype("i4")

    size = ints("m n", m, n)
    return Problem(
        arrays={"a": records(m, 0), "b": records(n, m), "c": zeros(m + n, 2, kind="i4")},
        scalars=size,
        launches=[
            Launch("merge_ring", groups, 128, ("a", "m", "b", "n", "c", np.int32(tile)), 2 * 8 * tile)
        ],
    )
