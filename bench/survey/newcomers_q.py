"""Eighteen kernels as they stand in application repositories and extension modules of today: radiance fields,
detection in point clouds, stereo and video, language models, graphs, compressed pages, hashes and proofs."""

from __future__ import annotations

from math import isqrt, log10

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, integers, ints, reals, settled, zeros


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
    """A hollow ball, a floor and dust; rays from all around. Rounding may turn how many samples a ray has."""
    size, most = 64, 512
    rng = np.random.default_rng(1)
    grid: Array = np.mgrid[:size, :size, :size]
    z, y, x = grid
    radius: Array = (x - 32) ** 2 + (y - 30) ** 2 + (z - 36) ** 2
    full: Array = ((radius < 19**2) & (radius > 16**2)) | (y < 5) | (rng.random(radius.shape) < 0.004)
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
    groups = blocks(n, 128)
    made = {
        "counts": zeros(n, kind="i4"), "image": zeros(n, 4), "depth": zeros(n),
        "offsets": zeros(n + 1, kind="i4"), "ts": zeros(n * most), "cells": zeros(n * most, kind="u4"),
    }  # fmt: skip
    return Problem(
        arrays={**rays, "bits": np.packbits(ordered, bitorder="little"), "field": field, **made},
        scalars={**march, "threshold": np.float32(1e-4)},
        launches=[
            Launch("march_count", groups, 128, (*rays, "bits", "counts", *march)),
            Launch("pack_rays", 1, 1024, ("counts", "offsets", "n")),
            Launch("march_write", groups, 128, (*rays, "bits", "offsets", "ts", "cells", *march)),
            Launch(
                "composite", groups, 128,
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


def view(w: int, h: int, seed: int) -> Array:
    """A picture with big shapes, stripes and fine grain, as bytes."""
    rng = np.random.default_rng(seed)
    coarse = np.repeat(np.repeat(rng.integers(0, 150, (h // 13 + 1, w // 17 + 1)), 13, 0), 17, 1)[:h, :w]
    y, x = np.mgrid[:h, :w]
    stripes = ((x * 3 + y * 2) % 23) * 2
    return (20 + coarse + stripes + rng.integers(0, 24, (h, w))).astype("u1")


@case(full=200, quick=70)
def sgm_paths(w: int) -> Problem:
    """Two shifted planes in front of a wall, and noise in the right picture."""
    h, pixels = w * 3 // 5, w * (w * 3 // 5)
    right = view(w + 64, h, 6)
    y, x = np.mgrid[:h, :w]
    shift = np.where((y > h // 3) & (x > w // 2), 33, np.where(y > h * 2 // 3, 20, 9))
    left = right[y, np.maximum(x - shift, 0)]
    noisy = np.clip(right[:, :w].astype("i4") + integers(-4, 5, h, w), 0, 255).astype("u1")
    size, punish = ints("w h", w, h), ints("p1 p2", 8, 70)
    paths = [("path_right", h), ("path_left", h), ("path_down", w), ("path_up", w)]
    made = {
        "left_census": zeros(h, w, kind="u8"), "right_census": zeros(h, w, kind="u8"),
        "cost": zeros(pixels, 64, kind="u1"),
        **{name: zeros(pixels, 64, kind="u1") for name, _ in paths},
        "disparity": zeros(h, w, kind="u2"),
    }  # fmt: skip
    tiles = (blocks(w, 32), blocks(h, 8))
    return Problem(
        arrays={"left": left, "right": noisy, **made},
        scalars={**size, **punish, "uniqueness": np.int32(5)},
        launches=[
            Launch("census9x7", tiles, (32, 8), ("left", "left_census", *size)),
            Launch("census9x7", tiles, (32, 8), ("right", "right_census", *size)),
            Launch("match_cost", (blocks(w, 4), h), (64, 4), ("left_census", "right_census", "cost", *size)),
            *[Launch(name, blocks(n, 4), 128, ("cost", name, *size, *punish)) for name, n in paths],
            Launch(
                "winner", blocks(pixels, 4), 128,
                (*[name for name, _ in paths], "disparity", np.int32(pixels), "uniqueness"),
            ),
        ],
        changed=[*made],
    )  # fmt: skip


@case(full=72, quick=27)
def patchmatch(w: int) -> Problem:
    """A picture and its other half turned a little: the same shapes at other places."""
    h, bw, bh, seed, rounds = w * 3 // 4 + 1, w + 9, w - 6, 77, 3
    whole = np.stack([view(w + 40, h + 40, k) for k in (7, 8, 9, 10)], -1)
    a, b = whole[5 : 5 + h, 3 : 3 + w].copy(), whole[17 : 17 + bh, 9 : 9 + bw].copy()
    size = ints("aw ah bw bh", w, h, bw, bh)
    names = ("a", "b", "field", "distance")
    half = (blocks((w + 1) // 2, 16), blocks(h, 16))
    return Problem(
        arrays={"a": a, "b": b, "field": zeros(h, w, 2, kind="i4"), "distance": zeros(h, w, kind="u4")},
        scalars={**size, "seed": np.uint32(seed), "rounds": np.int32(rounds)},
        launches=[
            Launch("pm_init", (blocks(w, 16), blocks(h, 16)), (16, 16), (*names, *size, "seed")),
            *[
                Launch("pm_round", half, (16, 16), (*names, *size, np.uint32(seed + k + 1), np.int32(k & 1)))
                for k in range(2 * rounds)
            ],
        ],
        changed=["field", "distance"],
    )


@case(full=48, quick=13)
def alt_corr(w1: int) -> Problem:
    """A smooth flow with jumps; some guesses point out of the picture."""
    batch, h1, r, channels = 2, w1 * 3 // 4 - 1, 3, 64
    h2, w2 = h1 // 2, w1 // 2
    rng = np.random.default_rng(11)
    y, x = np.mgrid[:h1, :w1]
    flow = (rng.random((batch, h1, w1, 2)) - 0.5) * 3 + np.where(x > w1 // 2, 4.0, -2.0)[None, :, :, None]
    coords = (np.stack([x, y], -1) + flow) / 2
    size = ints("h1 w1 h2 w2 channels r", h1, w1, h2, w2, channels, r)
    names = ("f1", "f2", "coords", "corr")
    return Problem(
        arrays={
            "f1": around_zero(batch, h1, w1, channels), "f2": around_zero(batch, h2, w2, channels),
            "coords": settled(coords).astype("f4"), "corr": zeros(batch, (2 * r + 1) ** 2, h1, w1),
        },
        scalars={**size, "batch": np.int32(batch)},
        launches=[Launch("alt_corr", (blocks(w1, 8), blocks(h1, 4), batch), (8, 4), (*names, *size))],
        changed=["corr"],
        tolerance=1e-5,
    )  # fmt: skip


def mel_bands(count: int, bins: int, rate: float) -> tuple[Array, Array]:
    """Triangles: first bin, how many, where their weights are; and the weights."""
    top = 2595 * log10(1 + rate / 2 / 700)
    mels: Array = np.linspace(0, top, count + 2)
    edges = settled(700 * (10 ** (mels / 2595) - 1) / (rate / 2) * (bins - 1))
    table, weights = list[tuple[int, int, int]](), list[float]()
    for low, middle, high in zip(edges, edges[1:], edges[2:], strict=False):
        inside = [k for k in range(bins) if low < k < high]
        table.append((inside[0] if inside else 0, len(inside), len(weights)))
        weights += [min((k - low) / (middle - low), (high - k) / (high - middle)) for k in inside]
    return np.array(table, "i4"), settled(np.array(weights)).astype("f4")


@case(full=400, quick=7)
def mfcc(frames: int) -> Problem:
    """Tones that glide over noise, in 16 bits."""
    length = (frames - 1) * 160 + 400
    t = np.arange(length)
    tones = np.sin(t * 0.02 + 30 * np.sin(t * 2e-4)) + 0.5 * np.sin(t * 0.11) + 0.25 * np.sin(t * 0.45)
    noise = np.random.default_rng(12).integers(-900, 900, length)
    samples = np.rint(settled(tones * 6000)).astype("i4") + noise
    angle = 2 * np.pi * np.arange(256) / 512
    window = settled(0.5 - 0.5 * np.cos(2 * np.pi * np.arange(400) / 399)).astype("f4")
    bands, weights = mel_bands(40, 257, 16000.0)
    cosines = np.cos(np.pi * np.arange(13)[:, None] * (np.arange(40) + 0.5) / 40) * (2 / 40) ** 0.5
    tables = {
        "window": window, "twiddle": settled(np.stack([np.cos(angle), -np.sin(angle)], -1)).astype("f4"),
        "bands": bands, "weights": weights, "dct": settled(cosines).astype("f4"),
    }  # fmt: skip
    numbers = {**ints("frames", frames), "emphasis": np.float32(0.97)}
    count = 13 * frames
    return Problem(
        arrays={"samples": samples.astype("i2"), **tables, "out": zeros(frames, 13), "mean": zeros(13)},
        scalars=numbers,
        launches=[
            Launch("mfcc_frames", frames, 128, ("samples", *tables, "out", *numbers)),
            Launch("mfcc_means", 13, 256, ("out", "mean", "frames")),
            Launch("mfcc_centre", blocks(count), 256, ("out", "mean", np.int32(count))),
        ],
        changed=["out", "mean"],
        tolerance=1e-4,
    )


PAGE = np.dtype([("src", "u8"), ("dst", "u8"), ("src_len", "u4"), ("dst_len", "u4")])


def snappy(data: bytes) -> bytes:
    """Compresses as the reference does: greedy, by a table of the last place of each four bytes."""
    out, size = bytearray(), len(data)
    while size >= 128:
        out.append(size & 127 | 128)
        size >>= 7
    out.append(size)

    def literal(first: int, last: int) -> None:
        extra = last - first - 1
        if extra < 60:
            out.append(extra << 2)
        else:
            width = (extra.bit_length() + 7) // 8
            out.append((59 + width) << 2)
            out.extend(extra.to_bytes(width, "little"))
        out.extend(data[first:last])

    seen, start, at = dict[bytes, int](), 0, 0
    while at + 4 <= len(data):
        key = data[at : at + 4]
        found = seen.get(key, -1)
        seen[key] = at
        if found < 0 or at - found > 65535:
            at += 1
            continue
        length = 4
        while at + length < len(data) and data[found + length] == data[at + length]:
            length += 1
        if start < at:
            literal(start, at)
        offset, left = at - found, length
        while left > 0:
            part = min(left, 64)
            if 0 < left - part < 4:
                part -= 4
            if 4 <= part <= 11 and offset < 2048:
                out.extend(((offset >> 8) << 5 | (part - 4) << 2 | 1, offset & 255))
            else:
                out.append((part - 1) << 2 | 2)
                out.extend(offset.to_bytes(2, "little"))
            left -= part
        at += length
        start = at
    if start < len(data):
        literal(start, len(data))
    return bytes(out)


def page_text(size: int, rng: np.random.Generator, kind: int) -> bytes:
    """Values of a column: names of hosts and paths, dates, numbers in 32 bits, or noise."""
    rows = list[bytes]()
    share = 1 / np.arange(3, 5003)
    picks = rng.choice(5000, size, p=share / share.sum())
    for k in range(size):
        v = int(picks[k])
        if kind == 0:
            rows.append(b"/api/v%d/users/%d/orders?page=%d " % (v % 3, v, v % 17))
        elif kind == 1:
            rows.append(b"2024-%02d-%02dT%02d:00:00Z" % (v % 12 + 1, v % 28 + 1, k % 24))
        elif kind == 2:
            rows.append((v * 1000 + k).to_bytes(4, "little"))
        else:
            rows.append(int(rng.integers(0, 1 << 32)).to_bytes(4, "little") + b"  " * (v % 9))
        if len(rows) * 4 >= size:
            break
    return b"".join(rows)[:size]


@case(full=900, quick=9)
def snappy_pages(count: int) -> Problem:
    """Pages of four sorts and some 2 to 8 kB, one of eight broken."""
    rng = np.random.default_rng(13)
    texts = [
        page_text(2000 + 190 * k if count > 100 else 300 + 41 * k, rng, k % 4) for k in range(min(count, 32))
    ]
    packed = [bytearray(snappy(text)) for text in texts]
    for k in range(3, len(packed), 8):
        packed[k][len(packed[k]) // 2 :] = b"\xfe\xff\xff" * 20
    pages, src, dst, data = list[tuple[int, ...]](), 0, 0, list[bytes]()
    for k in range(count):
        which = k * 7 % len(texts)
        pages.append((src, dst, len(packed[which]), len(texts[which])))
        data.append(bytes(packed[which]))
        src += len(packed[which])
        dst += (len(texts[which]) + 63) // 64 * 64
    return Problem(
        arrays={
            "input": np.frombuffer(b"".join(data) + bytes(8), "u1").copy(), "output": zeros(dst, kind="u1"),
            "pages": np.array(pages, PAGE).view("u8"), "status": zeros(count, kind="i4"),
        },
        scalars=ints("n", count),
        launches=[Launch("snappy_pages", blocks(count, 4), 128, ("input", "output", "pages", "status", "n"))],
        changed=["output", "status"],
    )  # fmt: skip


@case(full=4500, quick=150)
def spconv_rules(wanted: int) -> Problem:
    """Two scenes: ground, walls and a few loose cells; a cell of them has some ten neighbours."""
    rng = np.random.default_rng(14)
    sz, sy, sx = 24, 96, 90
    side = isqrt(wanted // 2)
    found = set[tuple[int, ...]]()
    for b in (0, 1):
        for _ in range(wanted // 3):
            y, x = int(rng.integers(0, side)), int(rng.integers(0, side))
            found.add((b, (x + 2 * y) // 40, y, x))
        for _ in range(wanted // 4):
            found.add((b, int(rng.integers(0, 12)), int(rng.integers(0, side)), side // 3))
        for _ in range(wanted // 20):
            found.add((b, int(rng.integers(0, sz)), int(rng.integers(0, sy)), int(rng.integers(0, sx))))
    coords = np.array(sorted(found), "i4")[rng.permutation(len(found))]
    n = len(coords)
    slots = 1 << (2 * n - 1).bit_length()
    table = {"slots": np.uint32(slots), **ints("n sz sy sx", n, sz, sy, sx)}
    made = {
        "keys": zeros(slots, kind="u8"), "values": zeros(slots, kind="i4"),
        "pairs": zeros(27 * n, 2, kind="i4"), "counts": zeros(27, kind="i4"), "out": zeros(n, 32),
    }  # fmt: skip
    hashed = ("keys", "values")
    return Problem(
        arrays={
            "coords": coords, "features": around_zero(n, 16), "weights": around_zero(27, 16, 32) / 8,
            "bias": around_zero(32), **made,
        },
        scalars=table,
        launches=[
            Launch("sp_clear", min(blocks(slots), 32), 256, (*hashed, "slots")),
            Launch("sp_insert", blocks(n), 256, ("coords", *hashed, *table)),
            Launch("sp_pairs", (blocks(n), 27), 256, ("coords", *hashed, "pairs", "counts", *table)),
            Launch(
                "sp_gemm", (blocks(n, 32), 27), (32, 4),
                ("features", "weights", "pairs", "counts", "out", "n"),
            ),
            Launch("sp_bias_relu", blocks(8 * n), 256, ("out", "bias", np.int32(8 * n))),
        ],
        changed=[*made],
        native=("coords", "features", "weights", "bias", "counts", "out"),
        tolerance=1e-5,
    )  # fmt: skip


def followers(n: int, edges: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """A graph both ways whose degrees follow a power law, some nodes alone: rows and sorted columns."""
    rank = np.arange(1, n + 1)
    share = 1 / np.sqrt(rank * np.sqrt(rank))
    ends = rng.choice(rng.permutation(n), (edges, 2), p=share / share.sum())
    ends = ends[ends[:, 0] != ends[:, 1]]
    both = np.unique(np.concatenate((ends, ends[:, ::-1])), axis=0)
    return np.searchsorted(both[:, 0], np.arange(n + 1)).astype("i8"), both[:, 1].astype("i4")


@case(full=4000, quick=100)
def node2vec(n: int) -> Problem:
    """A walk of 20 steps from each node; hubs have hundreds of neighbours, some nodes none."""
    rng = np.random.default_rng(15)
    indptr, indices = followers(n, 5 * n, rng)
    length = 20
    numbers = {
        **ints("num_walks length", n, length), "p": np.float32(0.5), "q": np.float32(2),
        "seed": np.uint64(0x1234_5678_9ABC),
    }  # fmt: skip
    return Problem(
        arrays={
            "indptr": indptr, "indices": indices, "starts": rng.permutation(n).astype("i4"),
            "walks": zeros(n, length + 1, kind="i4"), "visits": zeros(n, kind="i4"),
        },
        scalars=numbers,
        launches=[
            Launch(
                "node2vec", min(blocks(n, 192), 16), 192,
                ("indptr", "indices", "starts", "walks", "visits", *numbers),
            )
        ],
        changed=["walks", "visits"],
    )  # fmt: skip


@case(full=48, quick=7)
def rnnt_loss(max_t: int) -> Problem:
    """Six sequences of different lengths, 16 labels at most, 72 words."""
    batch, max_u, v = 6, 17, 72
    rng = np.random.default_rng(16)
    t_len = np.array([max_t - (k * max_t) // 13 for k in range(batch)], "i4")
    u_len = np.array([max_u - 1 - 2 * k for k in range(batch)], "i4")
    acts = (rng.random((batch, max_t, max_u, v)) - 0.5) * 4
    acts[..., 0] += 1.5
    rows = batch * max_t * max_u
    size = ints("max_t max_u v", max_t, max_u, v)
    made = {
        "denom": zeros(rows), "alphas": zeros(rows), "betas": zeros(rows), "costs": zeros(batch),
        "grads": zeros(rows, v),
    }  # fmt: skip
    given, lengths = ("acts", "denom"), ("labels", "t_len", "u_len")
    return Problem(
        arrays={
            "acts": acts.astype("f4"), "labels": rng.integers(1, v, (batch, max_u - 1)).astype("i4"),
            "t_len": t_len, "u_len": u_len, **made,
        },
        scalars={**size, "batch": np.int32(batch)},
        launches=[
            Launch("rnnt_denom", blocks(rows, 4), (32, 4), (*given, np.int32(rows), "v")),
            Launch("rnnt_alphas", batch, 32, (*given, *lengths, "alphas", "costs", *size)),
            Launch("rnnt_betas", batch, 32, (*given, *lengths, "betas", *size)),
            Launch("rnnt_grads", rows, 64, (*given, "alphas", "betas", *lengths, "costs", "grads", *size)),
        ],
        changed=[*made],
        tolerance=2e-4,
    )  # fmt: skip


BABY_BEAR = 15 * 2**27 + 1


@case(full=1024, quick=32)
def poseidon2(rows: int) -> Problem:
    """Rows of 21 numbers, the last eight of which are padded; ten levels above."""
    width, rng = 21, np.random.default_rng(17)
    leaves = ("constants", "columns", "tree", "rows", "width")
    launches = [Launch("poseidon2_rows", blocks(rows, 128), 128, leaves)]
    first, count = 0, rows // 2
    while count:
        numbers = (np.int32(first), np.int32(count))
        launches.append(Launch("poseidon2_level", blocks(count, 128), 128, ("constants", "tree", *numbers)))
        first, count = first + 2 * count, count // 2
    return Problem(
        arrays={
            "constants": rng.integers(0, BABY_BEAR, 8 * 16 + 13 + 16).astype("u4"),
            "columns": rng.integers(0, BABY_BEAR, (width, rows)).astype("u4"),
            "tree": zeros(2 * rows - 1, 8, kind="u4"),
        },
        scalars=ints("rows width", rows, width),
        launches=launches,
        changed=["tree"],
    )


SECP = 2**256 - 2**32 - 977
SECP_G = (
    0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
    0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8,
)


def secp_add(p: tuple[int, int], q: tuple[int, int]) -> tuple[int, int]:
    """The sum of two points, none of which is the other's negative."""
    if p == q:
        slope = 3 * p[0] * p[0] * pow(2 * p[1], -1, SECP)
    else:
        slope = (q[1] - p[1]) * pow(q[0] - p[0], -1, SECP)
    x = (slope * slope - p[0] - q[0]) % SECP
    return x, (slope * (p[0] - x) - p[1]) % SECP


@case(full=500, quick=20)
def msm_secp(n: int) -> Problem:
    """Scalars of 60 bits in ten windows; the multiples of some points are equal, so that a bucket doubles."""
    bits, windows = 6, 10 if n > 100 else 2
    buckets = windows * (2**bits - 1)
    rng = np.random.default_rng(18)
    points, p = list[tuple[int, int]](), SECP_G
    for k in range(n):
        points.append(points[k - 3] if k % 9 == 4 else p)
        p = secp_add(secp_add(p, p), SECP_G)
    scalars = rng.integers(0, 1 << 60, n)
    scalars[4::9] = scalars[1::9][: len(scalars[4::9])]
    members = [list[int]() for _ in range(buckets)]
    for k, scalar in enumerate(scalars):
        for w in range(windows):
            if digit := int(scalar) >> (bits * w) & (2**bits - 1):
                members[w * (2**bits - 1) + digit - 1].append(k)
    lengths = [len(found) for found in members]
    limbs = b"".join(c.to_bytes(32, "little") for point in points for c in point)
    return Problem(
        arrays={
            "points": np.frombuffer(limbs, "u4").copy(),
            "starts": np.concatenate(([0], np.cumsum(lengths))).astype("i4"),
            "members": np.array([k for found in members for k in found], "i4"),
            "buckets": zeros(buckets, 24, kind="u4"), "sums": zeros(windows, 24, kind="u4"),
            "result": zeros(16, kind="u4"),
        },
        scalars=ints("windows", windows),
        launches=[
            Launch(
                "msm_buckets", blocks(buckets, 64), 64,
                ("points", "starts", "members", "buckets", np.int32(buckets)),
            ),
            Launch("msm_windows", 1, 32, ("buckets", "sums", "windows")),
            Launch("msm_join", 1, 1, ("sums", "result", "windows")),
        ],
        changed=["buckets", "sums", "result"],
    )  # fmt: skip


BLOCK6 = np.dtype([("ql", "u1", 128), ("qh", "u1", 64), ("scales", "i1", 16), ("d", "f2")])


@case(full=2048, quick=256)
def q6k_gemv(cols: int) -> Problem:
    """A warp a row, four rows a block."""
    rows = cols * 3 // 4 + 1
    rng = np.random.default_rng(19)
    x = np.empty((rows, cols // 256), BLOCK6)
    for field, low, high in (("ql", 0, 256), ("qh", 0, 256), ("scales", -60, 61)):
        x[field] = rng.integers(low, high, x[field].shape)
    x["d"] = rng.integers(20, 60, x.shape) / 2.0**18
    v = (rng.random(cols) - 0.5) * rng.choice([0.3, 1.0, 6.0], cols, p=[0.6, 0.39, 0.01])
    size = ints("cols rows", cols, rows)
    return Problem(
        arrays={
            "x": x.view("u2"), "v": v.astype("f4"), "y": zeros(cols // 32 * 36, kind="u1"),
            "out": zeros(rows),
        },
        scalars=size,
        launches=[
            Launch("quantize_q8", blocks(cols), 256, ("v", "y", "cols")),
            Launch("mul_mat_vec_q6_K", blocks(rows, 4), (32, 4), ("x", "y", "out", *size)),
        ],
        changed=["y", "out"],
        native=("x", "v", "y", "out"),
        tolerance=1e-4,
        mismatches=0.01,
    )  # fmt: skip


@case(full=130, quick=19)
def delta_rule(tokens: int) -> Problem:
    """Two sequences of four heads, 64 keys and 128 values."""
    batch, heads, dv = 2, 4, 128
    numbers = {**ints("heads tokens dv", heads, tokens, dv), "scale": np.float32(0.125)}
    shape = (batch, tokens, heads)
    names = ("q", "k", "v", "gate", "beta", "state", "out")
    return Problem(
        arrays={
            "q": around_zero(*shape, 64, kind="f2"),
            "k": np.roll(around_zero(*shape, 64, kind="f2"), 1000),
            "v": around_zero(*shape, dv, kind="f2"), "gate": -reals(*shape) / 8,
            "beta": around_zero(*shape) * 4, "state": around_zero(batch, heads, 64, dv) / 4,
            "out": zeros(*shape, dv, kind="f2"),
        },
        scalars={**numbers, "batch": np.int32(batch)},
        launches=[Launch("delta_rule", (dv // 64, batch * heads), 64, (*names, *numbers))],
        changed=["state", "out"],
        tolerance=1e-3,
    )  # fmt: skip


@case(full=1500, quick=150)
def tsne_step(n: int) -> Problem:
    """Four steps of points in ten clusters; each has some 24 neighbours, most of its own cluster."""
    rng = np.random.default_rng(20)
    steps, cluster = 4, np.sort(rng.integers(0, 10, n))
    near = np.searchsorted(cluster, cluster)[:, None] + rng.integers(0, n // 12, (n, 12))
    near[:, -1] = rng.integers(0, n, n)
    links = np.stack((np.repeat(np.arange(n), 12), np.minimum(near, n - 1).ravel()), 1)
    links = links[links[:, 0] != links[:, 1]]
    both = np.unique(np.concatenate((links, links[:, ::-1])), axis=0)
    starts = np.searchsorted(both[:, 0], np.arange(n + 1)).astype("i4")
    p = 0.5 + rng.random(len(both))
    numbers = {"exaggeration": np.float32(4), "eta": np.float32(n / 12), "momentum": np.float32(0.5)}
    points = rng.random((n, 2)) * 4 + np.stack((cluster % 4 * 2, cluster // 4 * 3), 1)
    moved = {
        "points": points.astype("f4"), "velocity": around_zero(n, 2) / 100,
        "gains": np.ones((n, 2), "f4"),
    }  # fmt: skip
    graph = {
        "starts": starts, "columns": both[:, 1].astype("i4"),
        "p": settled(p / len(both)).astype("f4"),
    }  # fmt: skip
    launches, lists = list[Launch](), ("points", "next")
    for k in range(steps):
        old, new = lists[k % 2], lists[1 - k % 2]
        launches += [
            Launch("tsne_repulse", blocks(n, 128), 128, (old, "force", f"z{k}", "n")),
            Launch(
                "tsne_update", blocks(8 * n), 256,
                (old, new, "force", f"z{k}", *graph, "velocity", "gains", "n", *numbers),
            ),
            Launch("tsne_centre", 1, 512, (new, "n")),
        ]  # fmt: skip
    totals = {f"z{k}": zeros(1, kind="f8") for k in range(steps)}
    return Problem(
        arrays={**moved, **graph, **totals, "next": zeros(n, 2), "force": zeros(n, 2)},
        scalars={**ints("n steps", n, steps), **numbers},
        launches=launches,
        changed=[*moved, *totals, "next", "force"],
        native=(*moved, *graph, *totals),
        tolerance=1e-4,
        mismatches=0.005,
    )
