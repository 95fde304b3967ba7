"""Eighteen kernels as they stand in application repositories and extension modules of today: radiance fields,
detection in point clouds, stereo and video, language models, graphs, compressed pages, hashes and proofs."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, integers, reals, zeros
from survey.newcomers_n import settled


def ints(names: str, *values: int) -> dict[str, np.generic]:
    """Parameters by their names."""
    return {name: np.int32(value) for name, value in zip(names.split(), values, strict=True)}


def around_zero(*shape: int, kind: str = "f4") -> Array:
    return (reals(*shape) - np.float32(0.5)).astype(kind)


def morton(x: Array, y: Array, z: Array) -> Array:
    """Bits of three numbers below 1024, by turns."""
    code = np.zeros_like(x)
    for k in range(10):
        for axis, part in enumerate((x, y, z)):
            code |= ((part >> k) & 1) << (3 * k + axis)
    return code


@case(full=3000, quick=77)
def occ_march(n: int) -> Problem:
    """A hollow ball, a floor and dust; rays from all around. How many samples a ray has, rounding may turn."""
    size, most = 64, 512
    rng = np.random.default_rng(1)
    z, y, x = np.mgrid[:size, :size, :size]
    radius = (x - 32) ** 2 + (y - 30) ** 2 + (z - 36) ** 2
    full = ((radius < 19**2) & (radius > 16**2)) | (y < 5) | (rng.random(radius.shape) < 0.004)
    code = morton(x, y, z).ravel()
    ordered = np.zeros(size**3, "u1")
    ordered[code] = full.ravel()
    field = rng.random((size**3, 4)).astype("f4")
    field[:, 3] *= 30
    origin = rng.normal(size=(n, 3))
    origin *= 1.9 / np.sqrt((origin**2).sum(1, keepdims=True))
    direction = rng.random((n, 3)) * 1.4 - 0.7 - origin
    direction /= np.sqrt((direction**2).sum(1, keepdims=True))
    march = {**ints("n size", n, size), "step": np.float32(2 * 3**0.5 / 512), "max_steps": np.int32(most)}
    rays = {"origins": settled(origin).astype("f4"), "directions": settled(direction).astype("f4")}
    grid = blocks(n, 128)
    made = {
        "counts": zeros(n, kind="i4"), "image": zeros(n, 4), "depth": zeros(n),
        "offsets": zeros(n + 1, kind="i4"), "ts": zeros(n * most), "cells": zeros(n * most, kind="u4"),
    }  # fmt: skip
    return Problem(
        arrays={**rays, "bits": np.packbits(ordered, bitorder="little"), "field": field, **made},
        scalars={**march, "threshold": np.float32(1e-4)},
        launches=[
            Launch("march_count", grid, 128, (*rays, "bits", "counts", *march)),
            Launch("pack_rays", 1, 1024, ("counts", "offsets", "n")),
            Launch("march_write", grid, 128, (*rays, "bits", "offsets", "ts", "cells", *march)),
            Launch(
                "composite", grid, 128,
                ("offsets", "ts", "cells", "field", "image", "depth", "n", "step", "threshold"),
            ),
        ],
        changed=[*made],
        native=(*rays, "bits", "field", "counts", "image", "depth"),
        tolerance=1e-4,
        mismatches=0.02,
    )  # fmt: skip


@case(full=300, quick=13)
def deform_attn(queries: int) -> Problem:
    """Three maps, four places in each, some of them outside."""
    batch, heads, channels, points = 2, 8, 32, 4
    shapes = np.array([(32, 40), (16, 20), (8, 10)], "i8")
    sizes = shapes.prod(1)
    starts = np.cumsum(sizes) - sizes
    spatial = int(sizes.sum())
    rng = np.random.default_rng(2)
    centre = rng.random((batch, queries, 1, 1, 1, 2))
    places = centre + (rng.random((batch, queries, heads, 3, points, 2)) - 0.5) / 2
    weights = rng.random((batch, queries, heads, 3 * points)) ** 3
    weights /= weights.sum(-1, keepdims=True)
    count = batch * queries * heads * channels
    size = ints("spatial heads channels levels queries points", spatial, heads, channels, 3, queries, points)
    return Problem(
        arrays={
            "value": around_zero(batch, spatial, heads, channels), "shapes": shapes, "starts": starts,
            "places": settled(places).astype("f4"), "weights": settled(weights).astype("f4"),
            "out": zeros(batch, queries, heads * channels),
        },
        scalars={**size, "batch": np.int32(batch)},
        launches=[
            Launch(
                "deform_attn", min(blocks(count), 160), 256,
                (np.int32(count), "value", "shapes", "starts", "places", "weights", *size, "out"),
            )
        ],
        changed=["out"],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=900, quick=75)
def iou3d_nms(n: int) -> Problem:
    """Cars that a detector found several times each, best first."""
    rng = np.random.default_rng(3)
    cars = n // 6 + 1
    place = rng.random((cars, 2)) * (60, 45)
    turn = rng.choice([0.0, 0.4, 1.57, 3.1], cars) + rng.normal(size=cars) * 0.1
    which = rng.integers(0, cars, n)
    boxes = np.empty((n, 5))
    boxes[:, :2] = place[which] + rng.normal(size=(n, 2)) * (0.5, 0.4)
    boxes[:, 2:4] = np.array([4.2, 1.8]) * (0.9 + 0.2 * rng.random((n, 2)))
    boxes[:, 4] = turn[which] + rng.normal(size=n) * 0.08
    groups = blocks(n, 64)
    threshold = np.float32(0.25)
    return Problem(
        arrays={
            "boxes": settled(boxes).astype("f4"), "keep": zeros(n, kind="u1"),
            "mask": zeros(n, groups, kind="u8"),
        },
        scalars={"n": np.int32(n), "threshold": threshold},
        launches=[
            Launch("iou3d_masks", (groups, groups), 64, ("n", "threshold", "boxes", "mask")),
            Launch("iou3d_gather", 1, 128, ("mask", "keep", "n"), 8 * groups),
        ],
        changed=["keep", "mask"],
        native=("boxes", "keep"),
        mismatches=0.01,
    )  # fmt: skip


@case(full=1000, quick=83)
def ccl_union(w: int) -> Problem:
    """Blobs of all sizes, rings and specks."""
    h = w * 3 // 4 - 5
    rng = np.random.default_rng(4)
    noise = np.repeat(np.repeat(rng.random((h // 8 + 1, w // 8 + 1)), 8, 0), 8, 1)[:h, :w]
    y, x = np.mgrid[:h, :w]
    rings = ((x - w // 3) ** 2 + (y - h // 2) ** 2) % (w * 9) < w * 3
    image = (((noise + rng.random((h, w)) * 0.5 > 0.9) & (x > w // 4)) | (rings & (x < w // 2))).astype("u1")
    box = np.empty((h * w, 4), "i4")
    box[:, :2], box[:, 2:] = max(w, h), -1
    size = ints("w h", w, h)
    return Problem(
        arrays={
            "image": image, "labels": zeros(h * w, kind="i4"), "area": zeros(h * w, kind="i4"), "box": box,
        },
        scalars=size,
        launches=[
            Launch("ccl_tiles", (blocks(w, 32), blocks(h, 8)), (32, 8), ("image", "labels", *size)),
            Launch("ccl_borders", (blocks(w, 32), blocks(h, 8)), (32, 8), ("labels", *size)),
            Launch(
                "ccl_flatten", min(blocks(h * w), 640), 256, ("labels", "area", "box", np.int32(h * w), "w")
            ),
        ],
        changed=["labels", "area", "box"],
    )  # fmt: skip


@case(full=1280, quick=72)
def deblock(w: int) -> Problem:
    """A smooth picture whose blocks of 8 x 8 a coder has shifted a little, and some texture."""
    h = w * 9 // 16 // 8 * 8
    pitch = w + 32
    rng = np.random.default_rng(5)
    y, x = np.mgrid[:h, :pitch]
    smooth = 90 + (x * 80) // pitch + (y * 50) // h + ((x // 64 + y // 48) % 3) * 9
    block = np.repeat(np.repeat(rng.integers(-5, 6, (h // 8, pitch // 8)), 8, 0), 8, 1)
    texture = rng.integers(-20, 21, (h, pitch)) * (((x // 160) + (y // 120)) % 4 == 0)
    fine = rng.integers(0, 2, (h, pitch))
    frame = np.clip(smooth + block + texture + fine, 0, 255).astype("u1")
    strength = rng.choice(3, (2, h // 4, w // 4), p=[0.35, 0.45, 0.2])
    numbers = ints("beta_offset tc_offset", 2, 0)
    size = ints("pitch w h", pitch, w, h)
    blocks_of = {1: (w // 8, h // 4), 0: (w // 4, h // 8)}
    return Problem(
        arrays={
            "frame": frame, "bs": (strength[0] | strength[1] << 2).astype("u1"),
            "qp": rng.integers(24, 44, (h // 8, w // 8)).astype("i1"),
        },
        scalars={**size, **numbers},
        launches=[
            Launch(
                "deblock", (blocks(blocks_of[vertical][0], 32), blocks(blocks_of[vertical][1], 4)), (32, 4),
                ("frame", *size, "bs", "qp", np.int32(vertical), *numbers),
            )
            for vertical in (1, 0)
        ],
        changed=["frame"],
    )  # fmt: skip
