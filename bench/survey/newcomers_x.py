"""Operators as the large open repositories have them, written without knowing what the JIT is good at: norms,
indexing, sampling, optimisers, attention, rendering, point clouds, columns of data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, floats, ints, zeros


def struct(kind: np.dtype[np.void], *values: object) -> np.generic:
    """A parameter that is a struct."""
    return np.array([values], kind)[0]


def centred(rng: np.random.Generator, *shape: int, kind: str = "f4") -> Array:
    """Sums of four even numbers, about as the normal distribution has them."""
    return ((rng.random((4, *shape)).cumsum(0)[3] - 2) * 1.5).astype(kind)


@case(full=28, quick=7)
def bn_welford(side: int) -> Problem:
    """A channel's block of 32 x 16 threads; images that the rows of threads do not share evenly."""
    batch, channels, plane = (12, 50, side * side) if side > 10 else (3, 5, side * side)
    rng = np.random.default_rng(601)
    layout = struct(
        np.dtype([("size", "i4", 3), ("stride", "i4", 3)]),
        (batch, channels, plane),
        (channels * plane, plane, 1),
    )
    shape = batch, channels, plane
    numbers = floats("eps momentum", 1e-5, 0.1)
    saved = "save_mean", "save_invstd"
    made = {name: zeros(*shape) for name in ("output", "grad_input")}
    made |= {name: zeros(channels) for name in saved}
    running = {"running_mean": zeros(channels), "running_var": zeros(channels) + 1}
    grads = {"grad_weight": zeros(channels), "grad_bias": zeros(channels)}
    return Problem(
        arrays={
            "input": centred(rng, *shape) + 3 * centred(rng, channels, 1), "grad_output": centred(rng, *shape),
            "weight": (rng.random(channels) + 0.5).astype("f4"), "bias": centred(rng, channels),
            **made, **running, **grads,
        },
        scalars={**ints("batch channels plane", *shape), **numbers},
        launches=[
            Launch("bn_collect", channels, (32, 16), ("input", layout, *numbers, *saved, *running)),
            Launch(
                "bn_transform", (channels, 2), (64, 4), ("input", "output", layout, *saved, "weight", "bias")
            ),
            Launch(
                "bn_backward", channels, (32, 16),
                ("input", "grad_output", "grad_input", layout, *saved, "weight", *grads),
            ),
        ],
        changed=[*made, *running, *grads],
        tolerance=1e-4,
    )  # fmt: skip


@case(full=24, quick=5)
def gn_nhwc(side: int) -> Problem:
    """Ten channels a group, two a thread: a warp's threads add to several groups."""
    n, hw, c = (2, side * side, 320) if side > 10 else (2, side * side, 60)
    groups, each = c // 10, 20 if side > 10 else 7
    rng = np.random.default_rng(602)
    fields = "n hw c groups channels_per_group hw_per_block with_silu"
    kind = np.dtype([(name, "i4") for name in fields.split()] + [("inv_count", "f4"), ("eps", "f4")])
    params = struct(kind, n, hw, c, groups, 10, each, 1, 1 / (10 * hw), 1e-5)
    grid, threads = (blocks(hw, each), n), 160 if c == 320 else 32
    return Problem(
        arrays={
            "src": (centred(rng, n, hw, c) + centred(rng, c)).astype("f2"), "dst": zeros(n, hw, c, kind="f2"),
            "gamma": (0.5 + rng.random(c)).astype("f4"), "beta": centred(rng, c), "red": zeros(n, 2, groups),
        },
        scalars={**ints("n hw c groups", n, hw, c, groups), **floats("eps", 1e-5)},
        launches=[
            Launch("gn_zero", blocks(2 * n * groups), 256, ("red", np.int32(2 * n * groups))),
            Launch("gn_sum", grid, threads, ("src", "red", params), 8 * groups),
            Launch("gn_scale", grid, threads, ("src", "dst", "red", "gamma", "beta", params)),
        ],
        changed=["dst", "red"],
        native=("src", "dst", "gamma", "beta"),
        tolerance=1e-3,
    )  # fmt: skip


@case(full=500, quick=21)
def rms_back(rows: int) -> Problem:
    """Rows by float4, then 32 columns at a time."""
    hidden, strip = (1100, 64) if rows > 100 else (76, 8)
    rng = np.random.default_rng(603)
    shape, strips, four = (rows, hidden), blocks(rows, strip), np.int32(hidden // 4)
    eps = floats("eps", 1e-6)
    return Problem(
        arrays={
            "x": centred(rng, *shape), "dy": centred(rng, *shape), "weight": 1 + centred(rng, hidden) / 4,
            "y": zeros(*shape), "rstd": zeros(rows), "dx": zeros(*shape), "dw": zeros(hidden),
            "part": zeros(strips, hidden),
        },
        scalars={**ints("rows hidden", *shape), **eps},
        launches=[
            Launch("rms_forward", rows, 128, ("x", "weight", "y", "rstd", four, "eps")),
            Launch("rms_grad_x", rows, 128, ("dy", "x", "weight", "rstd", "dx", four)),
            Launch(
                "rms_part_w", (blocks(hidden, 32), strips), (32, 8),
                ("dy", "x", "rstd", "part", "rows", "hidden", np.int32(strip)),
            ),
            Launch("rms_final_w", blocks(hidden, 128), 128, ("part", "dw", np.int32(strips), "hidden")),
        ],
        changed=["y", "rstd", "dx", "dw", "part"],
        native=("x", "dy", "weight", "y", "rstd", "dx", "dw"),
        tolerance=1e-5,
    )  # fmt: skip


@case(full=3000, quick=37)
def embed_bag(bags: int) -> Problem:
    """Favourite words, bags of none to forty, rows longer than the features."""
    words, features, stride = bags * 3, 70, 72
    rng = np.random.default_rng(604)
    sizes = rng.integers(0, 41, bags)
    offsets = sizes.cumsum() - sizes
    total = int(sizes.sum())
    indices = (words * rng.random(total) ** 3).astype("i8")
    size: dict[str, np.generic] = {
        "indices": np.int64(total), "bags": np.int64(bags), "features": np.int32(features),
        "stride": np.int64(stride), "padding": np.int64(1),
    }  # fmt: skip
    grid, block, names = min(blocks(bags, 4), 300), (32, 8), ("input", "offsets", "weight")
    return Problem(
        arrays={
            "input": indices, "offsets": offsets.astype("i8"), "weight": centred(rng, words, stride),
            "per_sample": (rng.random(total) + 0.5).astype("f4"),
            **{name: zeros(bags, features) for name in ("sums", "means", "maxima")},
            "bag_size": zeros(bags, kind="i8"), "max_indices": zeros(bags, features, kind="i8"),
        },
        scalars=size,
        launches=[
            Launch("bag_sum", grid, block, (*names, "sums", "bag_size", "per_sample", *size)),
            Launch("bag_mean", grid, block, (*names, "means", "bag_size", *size)),
            Launch("bag_max", grid, block, (*names, "maxima", "bag_size", "max_indices", *size)),
        ],
        changed=["sums", "means", "maxima", "bag_size", "max_indices"],
        tolerance=1e-5,
    )  # fmt: skip


def calculator(sizes: Sequence[int], strides: Sequence[Sequence[int]]) -> np.generic:
    """Divisors and strides in bytes of each argument, from the fastest dimension on."""
    divider = np.dtype([("divisor", "u4"), ("magic", "u4"), ("shift", "u4")])
    args = len(strides[0])
    kind = np.dtype([("dims", "i4"), ("sizes", divider, 6), ("strides", "u4", (6, args))])
    made = np.zeros(1, kind)
    made["dims"] = len(sizes)
    for k, (size, row) in enumerate(zip(sizes, strides, strict=True)):
        shift = (size - 1).bit_length()
        magic = (1 << 32) * ((1 << shift) - size) // size + 1
        made["sizes"][0, k] = size, magic, shift
        made["strides"][0, k] = row
    return made[0]


@case(full=48, quick=5)
def tensor_iter(d1: int) -> Problem:
    """Four dimensions, three of which are not the power of two that division likes."""
    d3, d2, d0 = (5, 21, 60) if d1 > 10 else (2, 3, 7)
    n = d3 * d2 * d1 * d0
    rng = np.random.default_rng(605)
    scalars: dict[str, np.generic] = {
        **ints("d3 d2 d1 d0", d3, d2, d1, d0), **floats("value", 0.75), "other": np.float64(-1),
    }  # fmt: skip
    addcmul = calculator(
        (d0, d1, d2, d3),
        [
            (4, 4 * d1, 4, 0), (4 * d0, 4, 4 * d0, 4), (4 * d1 * d0, 4 * d1 * d0, 0, 4 * d1),
            (4 * d2 * d1 * d0, 4 * d2 * d1 * d0, 4 * d1 * d0, 0),
        ],
    )  # fmt: skip
    where = calculator(
        (d0, d1, d2, d3),
        [
            (8, 0, 4), (8 * d2 * d0, 1, 4 * d0), (8 * d0, d1, 4 * d1 * d0),
            (8 * d2 * d1 * d0, 0, 4 * d2 * d1 * d0),
        ],
    )  # fmt: skip
    grid, count = blocks(n, 512), np.int32(n)
    return Problem(
        arrays={
            "self": centred(rng, d3, d2, d0, d1), "t1": centred(rng, d3, d1, d0), "t2": centred(rng, d2, d1),
            "mask": rng.integers(0, 2, (d2, d1)).astype("u1"), "out": zeros(d3, d2, d1, d0),
            "chosen": zeros(d3, d1, d2, d0, kind="f8"),
        },
        scalars=scalars,
        launches=[
            Launch("iter_addcmul", grid, 128, ("out", "self", "t1", "t2", count, "value", addcmul)),
            Launch("iter_where", grid, 128, ("chosen", "mask", "out", count, "other", where)),
        ],
        changed=["out", "chosen"],
        tolerance=1e-5,
    )  # fmt: skip
