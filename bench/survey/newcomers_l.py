"""Kernels over packed and vector data as careful people write them, chosen without knowing what the JIT is
good at: skinning, culling, alignments, 128-bit numbers, bit boards, pictures, sound, small matrices."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, floats, integers, ints, reals, zeros


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
    share = (0.2, 0.3, 0.44, 0.02, 0.02, 0.02)
    lengths = np.minimum(rng.choice((50, 100, 151, 64, 128, 188), pairs, p=share), most)
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
        n = int(min(lengths[k], query_length)) * 2 // 3
        letters[start[k] : start[k] + n, k % 2] = query[:n]
        other = np.flatnonzero(rng.random(n) < 0.3)
        letters[start[k] + other, k % 2] = rng.integers(0, 20, len(other))
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
    grid, half_grid = (
        (blocks(across, 32), blocks(down, 8))
        for across, down in ((blocks(width, 6), height), (width // 2, height // 2))
    )
    return Problem(
        arrays={
            "frame": frame, "rgba": zeros(height, width, kind="u4"),
            "small": zeros(height // 2, width // 2, kind="u4"),
        },
        scalars={**size, **ints("row_groups hd", row_groups, 1)},
        launches=[
            Launch("v210_rgba", grid, (32, 8), ("frame", "rgba", *size, "row_groups", "hd")),
            Launch("proxy", half_grid, (32, 8), ("rgba", "small", *size)),
        ],
        changed=["rgba", "small"],
    )  # fmt: skip


@case(full=160, quick=3)
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


POSITION = np.dtype([("piece", "u8", 6), ("white", "u8"), ("state", "u4"), ("number", "u4")])


@case(full=4000, quick=99)
def bbmoves(n: int) -> Problem:
    """Pieces at random: in the middle of a game or at its end; one of 20 with a pawn to take in passing."""
    rng = np.random.default_rng(130)
    positions = np.zeros(n, POSITION)
    own = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4]
    for k in range(n):
        squares, at, piece, white = rng.permutation(64), 0, [0] * 6, 0
        for color in (1, 0):
            for kind in (5, *(kind for kind in own if rng.random() < 0.35 + 0.5 * (k % 3 > 0))):
                square = int(squares[at])
                at += 1
                if kind == 0 and not 8 <= square < 56:
                    continue
                piece[kind] |= 1 << square
                white |= color << square
        black, passing = int(rng.integers(2)), 0
        if k % 20 == 0:
            x = int(rng.integers(1, 8))
            bits = [1 << (x + 8 * y + d) for y in ((4, 5, 6), (3, 2, 1))[black] for d in (0,)]
            beside = 1 << (x - 1 + 8 * (4 - black))
            taken = sum(bits) | beside
            if not piece[5] & taken:
                piece = [board & ~taken for board in piece]
                piece[0] |= bits[0] | beside
                white &= ~taken
                white |= bits[0] if black else beside
                passing = x + 8 * (2 if black else 5) + 1
        positions[k] = piece, white, black | passing << 1, k
    return Problem(
        arrays={"positions": positions.view("u4"), "result": zeros(n, 4, kind="i4")},
        scalars=ints("n", n),
        launches=[Launch("bbmoves", blocks(n, 64), 64, ("positions", "result", "n"))],
        changed=["result"],
    )


@case(full=30_000, quick=500)
def mpm_svd(n: int) -> Problem:
    """Nearly rotations, half of which are stretched more than the snow bears."""
    rng = np.random.default_rng(131)
    turn, _ = np.linalg.qr(rng.normal(size=(n, 3, 3)))
    turn *= np.linalg.det(turn)[:, None, None]
    stretch = np.eye(3) + 0.01 * rng.normal(size=(n, 3, 3))
    particles = np.zeros((n, 20), "f4")
    particles[:, :9] = (turn @ stretch).reshape(n, 9)
    particles[:, 9:18] = 2 * rng.normal(size=(n, 9))
    particles[:, 18:] = rng.uniform(0.9, 1.1, (n, 2))
    numbers = floats("dt mu lambda hardening least most", 5e-3, 583, 389, 10, 0.975, 1.0075)
    return Problem(
        arrays={"particles": particles, "stress": zeros(n, 6)},
        scalars={**ints("n", n), **numbers},
        launches=[Launch("mpm_svd", min(blocks(n, 128), 80), 128, ("particles", "stress", "n", *numbers))],
        changed=["particles", "stress"],
        tolerance=1e-5,
    )


@case(full=2560, quick=76)
def med_u4(width: int) -> Problem:
    """Of the pixels 6% are white or black."""
    height = width * 3 // 4 + 3
    y, x = np.mgrid[:height, :width]
    picture = 120 + 60 * np.sin(x / 23) * np.cos(y / 31) + 40 * ((x // 40 + y // 40) % 2)
    picture += 10 * reals(height, width)
    dirt = reals(width, height).T
    picture = np.where(dirt < 0.03, 0, np.where(dirt > 0.97, 255, picture))
    numbers = ints("words height threshold", width // 4, height, 40)
    return Problem(
        arrays={
            "in": picture.astype("u1"), "out": zeros(height, width, kind="u1"), "totals": zeros(2, kind="u4"),
        },
        scalars=numbers,
        launches=[
            Launch(
                "med_u4", (blocks(width // 4, 32), blocks(height, 8)), (32, 8),
                ("in", "out", "totals", *numbers),
            )
        ],
        changed=["out", "totals"],
    )  # fmt: skip


NODE = np.dtype([("low", "f4", 3), ("left", "i4"), ("high", "f4", 3), ("right", "i4")])


def halved(centres: Array) -> tuple[Array, Array, Array]:
    """A tree over points, parents before children: its nodes, their parents, the leaves' nodes by point."""
    count = len(centres)
    nodes, parents = np.zeros(2 * count - 1, NODE), np.full(2 * count - 1, -1, "i4")
    leaves, used = np.zeros(count, "i4"), 1
    waiting = [(0, np.arange(count))]
    while waiting:
        at, members = waiting.pop()
        if len(members) == 1:
            leaves[members[0]] = at
            continue
        axis = int(np.argmax(np.ptp(centres[members], axis=0)))
        members = members[np.argsort(centres[members, axis], kind="stable")]
        cut = max(1, len(members) * (4 + at % 3) // 10)
        nodes[at]["left"], nodes[at]["right"] = used, used + 1
        parents[used : used + 2] = at
        waiting += [(used, members[:cut]), (used + 1, members[cut:])]
        used += 2
    return nodes, parents, leaves


@case(full=50_000, quick=333)
def refit(count: int) -> Problem:
    """Who comes second to a node differs from run to run; the boxes do not."""
    rng = np.random.default_rng(132)
    centres = rng.random((count, 3)) * (4, 2, 4)
    centres[:, 1] = np.sin(centres[:, 0]) * np.cos(centres[:, 2]) + 0.05 * centres[:, 1]
    triangles = (centres[:, None] + 0.03 * rng.normal(size=(count, 3, 3))).astype("f4")
    nodes, parents, leaves = halved(centres)
    tree = ("leaf_nodes", "parents", "nodes", "visits")
    numbers = {**ints("count node_count", count, len(nodes)), "time": np.float32(0.5)}
    return Problem(
        arrays={
            "rest": triangles, "moved": zeros(count, 3, 3), "leaf_nodes": leaves, "parents": parents,
            "nodes": nodes.view("i4"), "visits": zeros(len(nodes), kind="i4"), "cost": zeros(1, kind="f8"),
        },
        scalars=numbers,
        launches=[
            Launch("refit_move", blocks(count), 256, ("rest", "moved", "count", "time")),
            Launch("refit", blocks(count), 256, ("moved", *tree, "count")),
            Launch("refit_cost", 16, 256, ("nodes", "cost", "node_count")),
        ],
        changed=["moved", "nodes", "visits", "cost"],
        native=("rest", "moved", "leaf_nodes", "nodes", "cost"),
        tolerance=1e-9,  # of the nodes' bits, so a step of a float
    )  # fmt: skip


def threads_of(w: int, h: int) -> list[Array]:
    """The pairs of a cloth's particles in batches: along, across, aslant; no two of one share a particle."""
    at, pairs = np.arange(w * h).reshape(h, w), list[Array]()
    for first, second, across in (
        (at[:, :-1], at[:, 1:], True), (at[:-1], at[1:], False),
        (at[:-1, :-1], at[1:, 1:], False), (at[:-1, 1:], at[1:, :-1], False),
    ):  # fmt: skip
        for odd in (0, 1):
            part = np.s_[:, odd::2] if across else np.s_[odd::2]
            pairs.append(np.stack([first[part].ravel(), second[part].ravel()], 1))
    return pairs


CONSTRAINT = np.dtype([("a", "i4"), ("b", "i4"), ("rest", "f4"), ("compliance", "f4")])


@case(full=90, quick=11)
def cloth_pbd(w: int) -> Problem:
    """Held at two corners over a ball: 3 steps of 5 rounds of 8 batches are 126 launches."""
    h, steps, iterations, dt = w * 3 // 4 + 1, 3, 5, 1 / 120
    place = np.zeros((h, w, 4), "f4")
    place[..., 0], place[..., 2] = np.meshgrid(np.linspace(-1, 1, w), np.linspace(-0.75, 0.75, h))
    place[..., 1], place[..., 3] = 0.02 * reals(h, w), 1
    place[0, (0, -1), 3] = 0
    place = place.reshape(-1, 4)
    speed = np.zeros_like(place)
    speed[:, 1] = -0.5
    batches = list[Array]()
    for k, pairs in enumerate(threads_of(w, h)):
        batch = np.zeros(len(pairs), CONSTRAINT)
        batch["a"], batch["b"] = pairs.T
        batch["rest"] = np.linalg.norm(place[pairs[:, 0], :3] - place[pairs[:, 1], :3], axis=1)
        batch["compliance"] = 1e-7 if k < 4 else 1e-5
        batches.append(batch)
    n, count = len(place), ints("n", w * h)
    times = floats("h inv_h inv_h2", dt, 1 / dt, 1 / dt**2)
    walls = floats("floor friction", -0.05, 0.3)
    launches = list[Launch]()
    for _ in range(steps):
        launches.append(Launch("cloth_predict", blocks(n), 256, ("place", "before", "speed", "n", "h")))
        launches += [
            Launch("cloth_solve", blocks(size, 128), 128, ("place", f"batch{k}", np.int32(size), "inv_h2"))
            for k, size in enumerate(map(len, batches))
        ] * iterations
        last = ("place", "before", "speed", "n", "ball", *walls, "inv_h")
        launches.append(Launch("cloth_collide", blocks(n), 256, last))
    made = {"place": place, "before": zeros(n, 4), "speed": speed}
    every = np.concatenate(batches)
    return Problem(
        arrays={
            **made, "constraints": every.view("i4"), "ball": np.array([0.1, -0.32, 0.05, 0.33], "f4"),
            **{f"batch{k}": batch.view("i4") for k, batch in enumerate(batches)},
        },
        scalars={**count, **ints("count steps iterations", len(every), steps, iterations), **times, **walls},
        launches=launches,
        changed=[*made],
        native=("place", "before", "speed", "constraints", "ball"),
        tolerance=1e-4,
    )  # fmt: skip


@case(full=100_000, quick=777)
def dates_win(n: int) -> Problem:
    """A century around 1970, most of it in the last year; windows of 41 hours, some events outside."""
    rng = np.random.default_rng(133)
    count, width, origin = 220 if n > 1000 else 9, 41 * 3_600_000_000, 1_700_000_000_000_000
    recent = origin + rng.integers(-width, width * (count + 1), n)
    times = np.where(rng.random(n) < 0.93, recent, rng.integers(-(1 << 50), 1 << 50, n))
    sizes = {**ints("n count", n, count), "origin": np.int64(origin), "width": np.int64(width)}
    made = {
        "stamps": zeros(n, kind="u4"), "windows": zeros(count, 12, kind="u4"),
        "text": zeros(count, 16, kind="u1"), "means": zeros(count, 2, kind="i8"),
    }  # fmt: skip
    return Problem(
        arrays={"events": np.stack([times, rng.normal(0, 1e6, n).astype("i8")], 1), **made},
        scalars=sizes,
        launches=[
            Launch("win_clear", blocks(count, 128), 128, ("windows", "count")),
            Launch("win_events", min(blocks(n), 96), 256, ("events", "stamps", "windows", *sizes)),
            Launch(
                "win_report", blocks(count, 128), 128,
                ("windows", "text", "means", "count", "origin", "width"),
            ),
        ],
        changed=[*made],
    )  # fmt: skip


CHANNEL = np.dtype(
    [
        ("carrier_phase", "u4"), ("carrier_step", "u4"), ("code_phase", "u4"), ("code_step", "u4"),
        ("carrier_error", "f4"), ("carrier_rate", "f4"), ("code_error", "f4"), ("power", "f4"),
        ("prn", "u4"), ("turns", "u4"), ("base_step", "f4"), ("lock", "f4"),
    ]
)  # fmt: skip


@case(full=2046, quick=123)
def gps_corr(pairs: int) -> Problem:
    """Channels of which each has its satellite in the noise; two launches a millisecond."""
    rng = np.random.default_rng(134)
    count, turns = (10, 12) if pairs > 1000 else (3, 2)
    n = 2 * pairs
    codes = rng.integers(0, 2, (count, 1024)).astype("u1")
    codes[:, 1023] = 0
    step = 1023 * 2**21 // n
    carrier = (rng.uniform(-4, 4, count) + 50) / n  # turns a sample
    phase, delay = rng.random(count), rng.integers(0, 1023 << 21, count)
    at = np.arange(n * turns)
    signal = rng.normal(0, 20, n * turns) + 1j * rng.normal(0, 20, n * turns)
    for k in range(count):
        chip = ((delay[k] + at * step) % (1023 << 21)) >> 21
        signal += 9 * np.exp(2j * np.pi * (phase[k] + carrier[k] * at)) * (1 - 2.0 * codes[k, chip])
    samples = np.clip(np.rint(np.stack([signal.real, signal.imag], -1)), -127, 127).astype("i1")
    channels = np.zeros(count, CHANNEL)
    channels["carrier_phase"] = phase * 2**32
    channels["base_step"] = np.floor(carrier * 2**20) * 2**12
    channels["carrier_step"] = channels["base_step"]
    channels["code_phase"] = (delay + rng.integers(-300_000, 300_000, count)) % (1023 << 21)
    channels["code_step"], channels["prn"] = step, np.arange(count)[::-1]
    for name in ("carrier_phase", "base_step", "carrier_step", "code_phase"):
        channels[name] = channels[name][::-1].copy()
    sizes = ints("pairs count", pairs, count)
    launches = list[Launch]()
    for turn in map(np.int32, range(turns)):
        launches += [
            Launch("gps_correlate", count, 192, ("samples", "codes", "channels", "sums", "pairs", turn)),
            Launch("gps_loops", 1, 32, ("channels", "sums", "count", "pairs", turn)),
        ]
    return Problem(
        arrays={
            "samples": samples, "codes": np.packbits(codes, bitorder="little").view("u4"),
            "channels": channels.view("i4").reshape(count, -1), "sums": zeros(turns, count, 6, kind="i4"),
        },
        scalars={**sizes, "turns": np.int32(turns)},
        launches=launches,
        changed=["channels", "sums"],
        tolerance=1e-6,  # of the bits of floats, too: some 2000 steps
    )  # fmt: skip


@case(full=224, quick=37)
def mlp_h2(width: int) -> Problem:
    """C has floats where the kernel rounds to halves: colours differ by a level or two of 255."""
    height, texels = width * 3 // 4, width // 4
    rng = np.random.default_rng(135)
    parts = list[Array]()
    for n_in, n_out in ((12, 32), (32, 32), (32, 4)):
        parts += [rng.normal(0, (2 / n_in) ** 0.5, (n_in, n_out)), rng.normal(0.1, 0.1, n_out)]
    parts[-2] /= 5
    parts[-1] += 0.3
    y, x = np.mgrid[:texels, :texels] / 9
    waves = np.stack([np.sin(x * (k % 3) + y * (k // 3) + k) for k in range(8)], -1)
    sizes = ints("texels width height", texels, width, height)
    return Problem(
        arrays={
            "latents": (waves + rng.normal(0, 0.1, waves.shape)).astype("f2"),
            "weights": np.concatenate([part.ravel() for part in parts]).astype("f2"),
            "out": zeros(height, width, 4, kind="u1"),
        },
        scalars=sizes,
        launches=[
            Launch(
                "mlp_h2", (blocks(width, 32), blocks(height, 4)), (32, 4),
                ("latents", "weights", "out", *sizes),
            )
        ],
        changed=["out"],
        tolerance=0.02,
    )  # fmt: skip


BOX = np.dtype([("centre", "f4", 3), ("half_size", "f4", 3), ("turn", "f4", 4)])


@case(full=40_000, quick=500)
def sat_obb(n: int) -> Problem:
    """Pairs whose spheres meet: of four one touches. Where two axes are as deep, rounding chooses."""
    rng = np.random.default_rng(136)
    count = n // 8 + 50
    boxes = np.zeros(count, BOX)
    boxes["centre"] = rng.random((count, 3)) * (count / 2) ** (1 / 3)
    boxes["half_size"] = rng.uniform(0.2, 0.8, (count, 3))
    turn = rng.normal(size=(count, 4))
    boxes["turn"] = turn / np.linalg.norm(turn, axis=1)[:, None]
    first = rng.integers(count, size=(20 if n > 1000 else count) * n)
    second = rng.integers(count, size=len(first))
    reach = np.linalg.norm(boxes["half_size"], axis=1)
    apart = np.linalg.norm(boxes["centre"][first] - boxes["centre"][second], axis=1)
    near = np.flatnonzero((apart < reach[first] + reach[second]) & (first != second))
    pairs = np.stack([first[near], second[near]], 1).astype("i4")
    pairs = np.resize(pairs, (n, 2))
    return Problem(
        arrays={
            "boxes": boxes.view("f4"), "pairs": pairs, "contacts": zeros(n, 4), "count": zeros(1, kind="u4"),
            "pushes": zeros(n, 4),
        },
        scalars=ints("n", n),
        launches=[
            Launch("sat_obb", blocks(n, 128), 128, ("boxes", "pairs", "contacts", "count", "n")),
            Launch("sat_impulse", blocks(n, 1024), 256, ("contacts", "count", "pairs", "boxes", "pushes")),
        ],
        changed=["contacts", "count", "pushes"],
        native=("boxes", "pairs", "count", "pushes"),
        tolerance=1e-5,
        mismatches=0.002,
    )  # fmt: skip
