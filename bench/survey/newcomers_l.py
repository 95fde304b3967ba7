"""Kernels over packed and vector data as careful people write them, chosen without knowing what the JIT is good
at: skinning, culling, alignments, 128-bit numbers, bit boards, formats of pictures and sound, small matrices."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, integers, reals, zeros


def ints(names: str, *values: int) -> dict[str, np.generic]:
    """Parameters by their names."""
    return {name: np.int32(value) for name, value in zip(names.split(), values, strict=True)}


def floats(names: str, *values: float) -> dict[str, np.generic]:
    return {name: np.float32(value) for name, value in zip(names.split(), values, strict=True)}


def directions(n: int, seed: int) -> Array:
    """`n` unit vectors."""
    v = np.random.default_rng(seed).normal(size=(n, 3))
    return (v / np.linalg.norm(v, axis=1)[:, None]).astype("f4")


def packed_bases(bases: Array) -> Array:
    """Rows of letters 0 to 3 as words of 16, the first one lowest; their number is a multiple of 16."""
    words = bases.reshape(*bases.shape[:-1], -1, 16).astype("u8") << np.arange(0, 32, 2, dtype="u8")
    return words.sum(-1).astype("u4")


VERTEX = np.dtype(
    [
        ("position", "f4", 3), ("bone", "u1", 4), ("normal", "f4", 3), ("weight", "u1", 4), ("uv", "f4", 2),
        ("colour", "u4"), ("tangent", "u4"),
    ]
)  # fmt: skip


@case(full=30_000, quick=333)
def skin4(vertices: int) -> Problem:
    """Of the vertices, half have one or two bones only."""
    rng = np.random.default_rng(121)
    instances, bones = (4, 61) if vertices > 1000 else (2, 9)
    mesh = np.zeros(vertices, VERTEX)
    mesh["position"] = rng.random((vertices, 3)) * 2 - 1
    mesh["normal"], mesh["uv"] = directions(vertices, 5), rng.random((vertices, 2))
    near = (np.arange(vertices) * bones // vertices)[:, None] + rng.integers(-2, 3, (vertices, 4))
    mesh["bone"] = np.clip(near, 0, bones - 1)
    share = rng.dirichlet((4, 2, 1, 1), vertices) * (np.arange(4) < rng.integers(1, 5, vertices)[:, None])
    weight = np.floor(255 * share / share.sum(1)[:, None]).astype("u1")
    weight[:, 0] += 255 - weight.sum(1).astype("u1")
    mesh["weight"] = weight
    tangent = np.rint(directions(vertices, 6) * 511).astype("i8") & 1023
    mesh["tangent"] = tangent[:, 0] | tangent[:, 1] << 10 | tangent[:, 2] << 20 | 1 << 30
    turn, _ = np.linalg.qr(rng.normal(size=(instances, bones, 3, 3)) + 3 * np.eye(3))
    palette = np.concatenate([turn, rng.normal(size=(instances, bones, 3, 1))], -1).astype("f4")
    size = ints("vertices bones", vertices, bones)
    names = ("mesh", "palette", "position_u", "normal_v", "tangent")
    return Problem(
        arrays={
            "mesh": mesh.view("u4"), "palette": palette, "position_u": zeros(instances, vertices, 4),
            "normal_v": zeros(instances, vertices, 4), "tangent": zeros(instances, vertices, kind="u4"),
        },
        scalars={**size, "instances": np.int32(instances)},
        launches=[Launch("skin4", (blocks(vertices, 128), instances), 128, (*names, *size))],
        changed=["position_u", "normal_v", "tangent"],
        tolerance=1e-4,
        mismatches=1e-3,
    )  # fmt: skip


BOUNDS = np.dtype([("centre", "f4", 3), ("flags", "u4"), ("half_size", "f4", 3), ("radius", "f4")])


@case(full=150_000, quick=1111)
def cull_lod(n: int) -> Problem:
    """A town seen from its middle: of the boxes a quarter is in sight. Places in the lists go by atomics."""
    rng = np.random.default_rng(122)
    boxes = np.zeros(n, BOUNDS)
    boxes["centre"] = (rng.random((n, 3)) - 0.5) * (800, 800, 60)
    boxes["half_size"] = 0.2 + rng.lognormal(0.3, 0.7, (n, 3))
    boxes["radius"] = np.linalg.norm(boxes["half_size"], axis=1)
    boxes["flags"] = (rng.random(n) < 0.97) | (rng.random(n) < 0.05).astype("u4") << 1
    side, top = np.radians(42), np.radians(28)
    planes = np.array(
        [
            (np.sin(side), np.cos(side), 0, 0), (np.sin(side), -np.cos(side), 0, 0),
            (np.sin(top), 0, np.cos(top), 0), (np.sin(top), 0, -np.cos(top), 0), (1, 0, 0, -0.5),
            (-1, 0, 0, 390),
        ],
        "f4",
    )  # fmt: skip
    view = floats("eye_x eye_y eye_z scale", 0, 0, 0, 1.8)
    size = {"n": np.int32(n)}
    transforms = reals(n, 12) * 100
    made = {
        "lists": zeros(4, n, kind="u4"), "counts": zeros(4, kind="u4"), "draws": zeros(4, 5, kind="u4"),
        "out": zeros(n * 12),
    }  # fmt: skip
    return Problem(
        arrays={
            "boxes": boxes.view("u4"), "planes": planes,
            "meshes": np.array([(3600, 0, 0), (900, 3600, 1200), (240, 4500, 1500), (36, 4740, 1600)], "i4"),
            "transforms": transforms, **made,
        },
        scalars={**size, **view},
        launches=[
            Launch("cull_boxes", blocks(n), 256, ("boxes", "planes", "lists", "counts", *size, *view)),
            Launch("write_draws", 1, 32, ("counts", "meshes", "draws")),
            Launch(
                "gather_instances", (blocks(n, 1024), 4), 192, ("lists", "draws", "transforms", "out", *size)
            ),
        ],
        changed=[*made],
        native=("boxes", "planes", "lists", "counts", "meshes", "draws", "transforms", "out"),
        unordered=["lists", "out"],
    )  # fmt: skip


@case(full=3000, quick=75)
def myers(pairs: int) -> Problem:
    """Reads of three lengths with errors, in windows of the reference; one of 20 is of another place."""
    rng = np.random.default_rng(123)
    text_length = 300 if pairs > 1000 else 70
    most = text_length * 5 // 8
    genome = rng.choice(4, 50_000, p=(0.3, 0.2, 0.2, 0.3)).astype("u1")
    lengths = np.minimum(rng.choice((50, 100, 151, 64, 128, 188), pairs, p=(0.2, 0.3, 0.44, 0.02, 0.02, 0.02)), most)
    rooms = -(-text_length // 64) * 64
    reads, windows = np.zeros((pairs, 192), "u1"), np.zeros((pairs, rooms), "u1")
    for k, length in enumerate(lengths):
        at, shift = rng.integers(len(genome) - 500), rng.integers(text_length - most)
        windows[k, :text_length] = genome[at : at + text_length]
        place = at + shift if rng.random() < 0.95 else rng.integers(len(genome) - 500)
        read = genome[place : place + 2 * length].copy()
        errors = rng.random(len(read)) < 0.02
        read[errors] = rng.integers(4, size=errors.sum())
        read = np.delete(read, rng.integers(length, size=rng.integers(3)))
        reads[k, :length] = read[:length]
    size = ints("pairs text_length", pairs, text_length)
    return Problem(
        arrays={
            "reads": packed_bases(reads), "lengths": lengths.astype("i4"), "windows": packed_bases(windows),
            "result": zeros(pairs, 2, kind="i4"),
        },
        scalars=size,
        launches=[Launch("myers", blocks(pairs, 64), 64, ("reads", "lengths", "windows", "result", *size))],
        changed=["result"],
    )  # fmt: skip


@case(full=1000, quick=43)
def swpack(pairs: int) -> Problem:
    """A protein of 90 letters; both sequences of a pair have one length, as in a sorted database."""
    rng = np.random.default_rng(124)
    query_length = 90 if pairs > 100 else 20
    share = np.array([8, 5, 4, 5, 1.5, 4, 6, 7, 2, 6, 10, 6, 2.5, 4, 5, 7, 5, 1, 3, 7])
    matrix = np.rint(rng.normal(-1.5, 1.5, (24, 24)))
    matrix = np.clip(np.triu(matrix) + np.triu(matrix, 1).T, -4, 3)
    matrix[np.arange(24), np.arange(24)] = rng.integers(4, 10, 24)
    matrix[23], matrix[:, 23] = -4, -4
    lengths = np.sort(rng.lognormal(4.6 if pairs > 100 else 2.5, 0.4, pairs).astype("i4") + 3)
    start = np.concatenate([[0], np.cumsum(lengths)])
    letters = rng.choice(20, (start[-1], 2), p=share / share.sum())
    query = rng.choice(20, query_length, p=share / share.sum())
    for k in range(0, pairs, 9):  # relatives
        n = min(lengths[k], query_length) * 2 // 3
        part = np.where(rng.random(n) < 0.7, query[:n], rng.integers(0, 20, n))
        letters[start[k] : start[k] + n, k % 2] = part
    numbers = ints("query_length pairs open extend", query_length, pairs, 11, 1)
    return Problem(
        arrays={
            "matrix": matrix.astype("i1"), "query": query.astype("u1"), "database": letters.astype("u1"),
            "spans": np.stack([start[:-1], lengths], 1).astype("i4"), "scores": zeros(pairs, 2, kind="i2"),
        },
        scalars=numbers,
        launches=[
            Launch(
                "swpack", blocks(pairs, 64), 64,
                ("matrix", "query", "database", "spans", "scores", *numbers),
            )
        ],
        changed=["scores"],
    )  # fmt: skip


@case(full=900, quick=70)
def pcg_boot(replicas: int) -> Problem:
    """Means of samples with replacement: 128-bit products, one after the other."""
    n = 2000 if replicas > 100 else 37
    data = np.random.default_rng(125).normal(300, 80, n).astype("i2")
    middle = int(data.mean() * 1000)
    width, bins = 40_000 // n, 60
    low = middle - bins * width // 2
    seeds = np.random.default_rng(126).integers(0, 1 << 63, 4).astype("u8")
    limits = {"low": np.int64(low), "width": np.int64(width), "bins": np.int32(bins)}
    return Problem(
        arrays={
            "data": data, "sums": zeros(replicas, kind="i8"), "seeds": seeds,
            "histogram": zeros(bins, kind="u4"),
        },
        scalars={**ints("n replicas", n, replicas), **limits},
        launches=[
            Launch("pcg_boot", blocks(replicas, 128), 128, ("data", "n", "sums", "replicas", "seeds")),
            Launch(
                "boot_histogram", 2, 256, ("sums", "replicas", "n", *limits, "histogram"), shared=4 * bins
            ),
        ],
        changed=["sums", "histogram"],
    )  # fmt: skip


def decimals(low: Array, high: Array) -> Array:
    """Words of 128-bit numbers, which are given by halves."""
    return np.stack([low.astype("u8"), high.astype("i8").view("u8")], 1).view("u4")


@case(full=150_000, quick=1001)
def dec128(n: int) -> Problem:
    """Most prices have one word's digits; one of 100 products is too large; one of 15 is missing."""
    rng = np.random.default_rng(127)
    groups, digits = 23, 4
    cents = (rng.lognormal(12, 3, n) * rng.choice((1, 1, 1, -1), n)).astype("i8")
    high = np.where(cents < 0, -1, 0)
    large = rng.random(n) < 0.1
    high[large] = rng.integers(-1000, 1000, large.sum())
    huge = rng.random(n) < 0.01
    high[huge] = rng.integers(-(1 << 62), 1 << 62, huge.sum())
    rate = rng.integers(-5000, 40_000, n)
    rate[rng.random(n) < 0.02] *= 1_000_000_007
    words = blocks(n, 32)
    made = {
        "product": zeros(n, 4, kind="u4"), "product_valid": zeros(words, kind="u4"),
        "sums": zeros(groups, 4, kind="u4"), "counts": zeros(groups, kind="u4"),
        "average": zeros(groups, 4, kind="u4"),
    }  # fmt: skip
    missing = np.packbits(rng.random(words * 32) >= 1 / 15, bitorder="little").view("u4")
    numbers = ints("n groups digits", n, groups, digits)
    inputs = ("price", "rate", "valid", "group")
    return Problem(
        arrays={
            "price": decimals(cents.view("u8"), high), "rate": rate, "valid": missing,
            "group": np.minimum(rng.geometric(0.15, n) - 1, groups - 1).astype("u1"), **made,
        },
        scalars=numbers,
        launches=[
            Launch(
                "dec_multiply", min(blocks(n), 64), 256, (*inputs, *list(made)[:4], *numbers),
                shared=20 * groups,
            ),
            Launch("dec_average", 1, 64, ("sums", "counts", "average", "groups")),
        ],
        changed=[*made],
    )  # fmt: skip


def qoi_strip(pixels: Array) -> bytearray:
    """The stream of some pixels."""
    out, seen, last, run = bytearray(), [(0, 0, 0, 0)] * 64, (0, 0, 0, 255), 0
    for pixel in map(tuple, pixels.tolist()):
        if pixel == last:
            run += 1
            if run == 62:
                out.append(0xC0 | 61)
                run = 0
            continue
        if run:
            out.append(0xC0 | (run - 1))
            run = 0
        r, g, b, a = pixel
        place = (r * 3 + g * 5 + b * 7 + a * 11) % 64
        dr, dg, db = ((pixel[k] - last[k] + 128) % 256 - 128 for k in range(3))
        if seen[place] == pixel:
            out.append(place)
        elif a != last[3]:
            out += bytes((0xFF, r, g, b, a))
        elif max(abs(2 * d + 1) for d in (dr, dg, db)) <= 3:
            out.append(0x40 | (dr + 2) << 4 | (dg + 2) << 2 | (db + 2))
        elif -32 <= dg < 32 and -8 <= dr - dg < 8 and -8 <= db - dg < 8:
            out += bytes((0x80 | (dg + 32), (dr - dg + 8) << 4 | (db - dg + 8)))
        else:
            out += bytes((0xFE, r, g, b))
        seen[place], last = pixel, pixel
    if run:
        out.append(0xC0 | (run - 1))
    return out


@case(full=576, quick=70)
def qoi(strips: int) -> Problem:
    """Drawn shapes over a soft ground with some noise; the same picture some times."""
    own, width, rows = min(strips, 72), 320, 4 if strips > 100 else 1
    rng = np.random.default_rng(128)
    y, x = np.mgrid[: own * rows, :width]
    picture = np.stack([x / 3, y / 2, 200 - x / 4 - y / 8, 255 + 0 * x], -1)
    for _ in range(25):
        cx, cy, r = rng.integers(width), rng.integers(own * rows), rng.integers(5, 40)
        picture[(x - cx) ** 2 + (y - cy) ** 2 < r * r] = (*rng.integers(256, size=3), rng.choice((255, 128)))
    noisy = (x // 80 + y // 60) % 3 == 0
    picture[noisy, :3] += rng.normal(0, 4, (noisy.sum(), 3))
    pixels = np.clip(picture, 0, 255).astype("u1").reshape(own, -1, 4)
    streams = [qoi_strip(strip) for strip in pixels]
    streams = [streams[k % own] for k in range(strips)]
    offsets = np.cumsum([0, *map(len, streams)]).astype("u4")
    size = ints("strips pixels_per_strip", strips, width * rows)
    return Problem(
        arrays={
            "bytes": np.frombuffer(b"".join(streams), "u1").copy(), "offsets": offsets,
            "out": zeros(strips, width * rows, kind="u4"),
        },
        scalars=size,
        launches=[Launch("qoi", blocks(strips, 64), 64, ("bytes", "offsets", "out", *size))],
        changed=["out"],
    )  # fmt: skip


@case(full=1920, quick=70)
def v210(width: int) -> Problem:
    """A frame of video: rows of whole 128 bytes, so of 48 pixels."""
    height = width * 9 // 16
    row_groups = blocks(width, 48) * 8
    samples = integers(4, 1020, height, row_groups * 4, 3).astype("u4")
    frame = samples[..., 0] | samples[..., 1] << 10 | samples[..., 2] << 20
    size = ints("width height", width, height)
    grid = (blocks(blocks(width, 6), 32), blocks(height, 8))
    return Problem(
        arrays={
            "frame": frame, "rgba": zeros(height, width, kind="u4"),
            "small": zeros(height // 2, width // 2, kind="u4"),
        },
        scalars={**size, **ints("row_groups hd", row_groups, 1)},
        launches=[
            Launch("v210_rgba", grid, (32, 8), ("frame", "rgba", *size, "row_groups", "hd")),
            Launch("proxy", (blocks(width // 2, 32), blocks(height // 2, 8)), (32, 8), ("rgba", "small", *size)),
        ],
        changed=["rgba", "small"],
    )  # fmt: skip


@case(full=80, quick=3)
def adpcm(length: int) -> Problem:
    """Voices with their own gains, one or two of which start late."""
    voices, samples = 12 if length > 10 else 3, 249
    rng = np.random.default_rng(129)
    count, frames = voices * length, length * samples
    words = rng.integers(0, 1 << 32, (count, 64)).astype("u4")
    codes = rng.choice(16, (count, 62, 8), p=np.array([9, 8, 6, 4, 2, 1, 0.6, 0.4] * 2) / 62)
    words[:, 2:] = (codes.astype("u4") << np.arange(0, 32, 4, dtype="u4")).sum(-1)
    words[:, :2] = rng.integers(-3000, 3000, (count, 2)).astype("u2") | rng.integers(30, 60, (count, 2)) << 16
    sizes = ints("voices frames", voices, frames)
    return Problem(
        arrays={
            "blocks": words, "pcm": zeros(count, samples, 2, kind="i2"),
            "gains": rng.integers(3000, 32767, (voices, 2)).astype("i2"),
            "delays": np.maximum(rng.integers(-400, 500, voices), 0).astype("i4"),
            "mixed": zeros(frames, 2, kind="i2"),
        },
        scalars={"count": np.int32(count), **sizes},
        launches=[
            Launch("adpcm_decode", blocks(2 * count, 128), 128, ("blocks", "pcm", "count")),
            Launch("mix_voices", blocks(frames), 256, ("pcm", "gains", "delays", "mixed", *sizes)),
        ],
        changed=["pcm", "mixed"],
    )  # fmt: skip
