"""Kernels as they stand in repositories of able programmers, chosen without knowing what the JIT is good at:
codecs, series of measurements, genomes, graphs, keys, robots, pictures, rays, fits."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, floats, ints, settled, zeros


def struct(kind: str, names: str, values: Array) -> np.generic:
    """A parameter that is a structure, of values of one type."""
    fields = np.dtype([(name, kind) for name in names.split()])
    scalar: np.generic = np.ascontiguousarray(values, kind).reshape(-1).view(fields)[0]
    return scalar


def photo(w: int, h: int, seed: int) -> Array:
    """Slopes, discs and noise: 8 bits a pixel."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:h, :w]
    picture = 70 + x * 60 // w + y * 50 // h + rng.integers(-6, 7, (h, w))
    for _ in range(25):
        cx, cy, r, light = rng.integers((0, 0, 3, -50), (w, h, w // 8 + 4, 60))
        picture[(x - cx) ** 2 + (y - cy) ** 2 < r * r] += light
    return np.clip(picture, 0, 255).astype("u1")


@case(full=300, quick=6)
def yin(frames: int) -> Problem:
    """Tones with overtones that slide, and noise between them."""
    hop, rate = 160, 16000.0
    rng = np.random.default_rng(101)
    n = frames * hop + 768
    step = 0.01 + 0.04 * np.repeat(rng.random(n // 2000 + 1), 2000)[:n]
    phase = 2 * np.pi * np.cumsum(step)
    loud = np.repeat(rng.random(n // 1500 + 1) > 0.2, 1500)[:n]
    tone = np.sin(phase) + 0.5 * np.sin(2 * phase) + 0.3 * np.sin(3 * phase)
    audio = settled(0.4 * tone * loud + 0.02 * (rng.random(n) - 0.5)).astype("f4")
    numbers = {"hop": np.int32(hop), **floats("rate threshold", rate, 0.15)}
    return Problem(
        arrays={"audio": audio, "pitch": zeros(frames), "clarity": zeros(frames)},
        scalars={**numbers, "frames": np.int32(frames)},
        launches=[Launch("yin", frames, 256, ("audio", "pitch", "clarity", *numbers))],
        changed=["pitch", "clarity"],
        tolerance=1e-4,
        mismatches=0.01,
    )


@case(full=1500, quick=75)
def malvar(w: int) -> Problem:
    """Neither extent is a multiple of the tile's."""
    h = w * 2 // 3 - 3
    size = ints("w h", w, h)
    return Problem(
        arrays={"raw": photo(w, h, 102), "rgba": zeros(h, w, kind="u4")},
        scalars=size,
        launches=[Launch("malvar", (blocks(w, 32), blocks(h, 8)), (32, 8), ("raw", "rgba", *size))],
        changed=["rgba"],
    )


@case(full=900, quick=83)
def png_pick(w: int) -> Problem:
    """Of a smooth picture: each filter but the first wins somewhere."""
    h = w * 2 // 3
    image = np.stack([photo(w, h, 103 + channel) for channel in range(3)], -1)
    image = np.concatenate([image, np.full((h, w, 1), 255, "u1")], -1)
    image[h // 3 : h // 2] = image[h // 3]
    return Problem(
        arrays={"image": image, "out": zeros(h, 4 * w + 1, kind="u1")},
        scalars=ints("w h", w, h),
        launches=[Launch("png_pick", h, 256, ("image", "out", "w"))],
        changed=["out"],
    )


def gorilla_block(times: list[int], values: list[int]) -> str:
    """Its bits: deltas of deltas in five sizes, xors of doubles."""

    def low(value: int, size: int) -> str:
        return format(value & (1 << size) - 1, f"0{size}b")

    bits = [low(times[0], 64), low(values[0], 64)]
    delta, leading, length = 0, 0, 64
    for i in range(1, len(times)):
        dod = times[i] - times[i - 1] - delta
        delta += dod
        if dod == 0:
            bits.append("0")
        else:
            sizes = (("10", 7), ("110", 9), ("1110", 12), ("1111", 32))
            prefix, size = next(s for s in sizes if -(1 << s[1] - 1) <= dod < 1 << s[1] - 1)
            bits.append(prefix + low(dod, size))
        changed = values[i] ^ values[i - 1]
        if changed == 0:
            bits.append("0")
            continue
        lead = min(64 - changed.bit_length(), 31)
        trail = (changed & -changed).bit_length() - 1
        if lead >= leading and trail >= 64 - leading - length:
            bits.append("10")
        else:
            leading, length = lead, 64 - lead - trail
            bits.append("11" + low(leading, 5) + low(length - 1, 6))
        bits.append(low(changed >> 64 - leading - length, length))
    return "".join(bits)


@case(full=900, quick=75)
def gorilla(count: int) -> Problem:
    """Measurements each minute with some jitter; a third of the series stays as it is for long."""
    each = 120 if count > 100 else 30
    rng = np.random.default_rng(104)
    parts, starts, at = list[str](), list[int](), 0
    for block in range(count):
        jitter = rng.integers(-40, 41, each) * (rng.random(each) < 0.3)
        times = 1_700_000_000 + 86_400 * block + 60 * np.arange(each) + jitter
        moves = rng.integers(-8, 9, each) * (rng.random(each) < (0.1 if block % 3 == 0 else 0.9))
        values = (np.cumsum(moves) / 4 + 200 + block % 50).astype("f8")
        parts.append(gorilla_block(times.tolist(), values.view("u8").tolist()))
        starts.append(at)
        at += len(parts[-1])
    whole = "".join(parts)
    whole += "0" * (-len(whole) % 64 + 128)
    words = np.array([int(whole[i : i + 64], 2) for i in range(0, len(whole), 64)], "u8")
    size = ints("count each", count, each)
    arrays = {
        "stream": words, "start": np.array(starts, "u8"),
        "time": zeros(count, each, kind="i8"), "value": zeros(count, each, kind="f8"),
    }  # fmt: skip
    return Problem(
        arrays=arrays,
        scalars=size,
        launches=[Launch("gorilla", blocks(count, 128), 128, (*arrays, *size))],
        changed=["time", "value"],
    )


def aligned_reads(reference: Array, n: int) -> tuple[Array, ...]:
    """Reads of some 100 bases with errors, gaps and clipped ends, in order of their positions."""
    rng = np.random.default_rng(105)
    length = len(reference)
    other = (reference + rng.integers(1, 4, length)) % 4
    snp, both = rng.random(length) < 0.01, rng.random(length) < 0.4
    reads, ops, bases = list[tuple[int, int, int, int]](), list[int](), list[Array]()
    total = 0
    for position in np.sort(rng.integers(0, length - 160, n)).tolist():
        first_op, first_base, at = len(ops), total, position
        copy = int(rng.integers(2))

        def add(op: int, span: int, seen: Array) -> None:
            nonlocal total
            ops.append(span << 4 | op)
            bases.append(seen)
            total += len(seen)

        if rng.random() < 0.2:
            clipped = int(rng.integers(1, 15))
            add(4, clipped, rng.integers(0, 4, clipped))
        for piece in range(int(rng.choice([1, 1, 1, 2, 3]))):
            if piece > 0:
                span, kind = int(rng.integers(1, 6)), int(rng.integers(1, 3))
                add(kind, span, rng.integers(0, 4, span * (kind == 1)))
                at += span * (kind == 2)
            span = int(rng.integers(25, 45)) if piece else int(rng.integers(35, 60))
            here = slice(at, at + span)
            add(0, span, np.where(snp[here] & (both[here] | (copy == 1)), other[here], reference[here]))
            at += span
        reads.append((position, first_op, len(ops) - first_op, first_base))
    seen = np.concatenate(bases)
    quality = np.minimum(rng.integers(2, 60, len(seen)), 40).astype("u1")
    wrong = rng.random(len(seen)) < 0.01
    seen = np.where(wrong, rng.integers(0, 4, len(seen)), seen)
    quads = np.pad(seen, (0, -len(seen) % 4)).reshape(-1, 4).astype("u1")
    packed = (quads << np.array([0, 2, 4, 6], "u1")).sum(1).astype("u1")
    return np.array(reads, "i4"), np.array(ops, "u4"), packed, quality


@case(full=8000, quick=270)
def pileup(n: int) -> Problem:
    """Some 15 reads a position."""
    length = n * 5
    reference = np.random.default_rng(106).integers(0, 4, length).astype("u1")
    reads, cigar, packed, quality = aligned_reads(reference, n)
    made = {
        "counts": zeros(length, 4, kind="u4"), "weight": zeros(length, 4, kind="u4"),
        "gaps": zeros(length, kind="u4"),
    }  # fmt: skip
    found = {"genotype": zeros(length, kind="u1"), "score": zeros(length)}
    given = {"reads": reads, "cigar": cigar, "packed": packed, "quality": quality}
    scalars = {**ints("n min_quality length", n, 10, length), "het_prior": np.float32(-6.9)}
    call = (*made, "reference", *found, "length", "het_prior")
    return Problem(
        arrays={**given, **made, "reference": reference, **found},
        scalars=scalars,
        launches=[
            Launch("pileup_count", blocks(n, 128), 128, (*given, *made, "n", "min_quality")),
            Launch("pileup_call", blocks(length), 256, call),
        ],
        changed=[*made, *found],
        tolerance=1e-4,
        mismatches=0.001,
    )


def balanced(points: Array) -> Array:
    """The order of points in a left-balanced tree of three axes."""
    order = np.empty(len(points), "i4")

    def place(which: Array, node: int, axis: int) -> None:
        n = len(which)
        if n == 0:
            return
        full = 1 << n.bit_length() - 1  # nodes of the last level, if it were full
        left = max(full // 2 - 1, 0) + min(n - full + 1, full // 2)
        which = which[np.argsort(points[which, axis], kind="stable")]
        order[node] = which[left]
        place(which[:left], 2 * node + 1, (axis + 1) % 3)
        place(which[left + 1 :], 2 * node + 2, (axis + 1) % 3)

    place(np.arange(len(points)), 0, 0)
    return order


@case(full=9000, quick=300)
def kd_walk(n: int) -> Problem:
    """Points of clusters; half of the queries near points, half anywhere."""
    rng = np.random.default_rng(107)
    centres = rng.random((20, 3))
    points = centres[rng.integers(0, 20, n)] + 0.1 * (rng.random((n, 3)) + rng.random((n, 3)) - 1)
    m = n // 4 + 3
    queries = np.where(np.arange(m)[:, None] % 2, points[rng.integers(0, n, m)] + 0.01, rng.random((m, 3)))
    order = balanced(points.astype("f4"))
    tree = np.zeros((n, 4), "f4")
    tree[:, :3] = points[order]
    tree[:, 3] = order.view("f4")
    size = ints("n m", n, m)
    names = ("tree", "n", "query", "m", "found", "distance")
    return Problem(
        arrays={
            "tree": tree, "query": queries.astype("f4"),
            "found": zeros(m, 8, kind="i4"), "distance": zeros(m, 8),
        },
        scalars=size,
        launches=[Launch("kd_walk", min(blocks(m, 128), 12), 128, names)],
        changed=["found", "distance"],
        native=("tree", "query", "found", "distance"),
        tolerance=1e-5,
        mismatches=0.001,
    )  # fmt: skip


def friends(n: int, groups: int, least: float, seed: int) -> tuple[Array, Array]:
    """A graph without directions as rows of sorted columns: degrees by a power law, most edges in a group."""
    rng = np.random.default_rng(seed)
    degree = np.minimum(settled(least / np.sqrt(1 - rng.random(n))), 90).astype("i4")
    source = np.repeat(np.arange(n), degree)
    near = source % groups + groups * rng.integers(0, n // groups, len(source))
    target = np.where(rng.random(len(source)) < 0.8, near, rng.integers(0, n, len(source)))
    low, high = np.minimum(source, target), np.maximum(source, target)
    keys = np.unique((low * n + high)[low != high])
    low, high = keys // n, keys % n
    both = np.unique(np.concatenate([low * n + high, high * n + low]))
    starts = np.searchsorted(both // n, np.arange(n + 1)).astype("i4")
    return starts, (both % n).astype("i4")


@case(full=8000, quick=210)
def louvain(n: int) -> Problem:
    """Eight rounds from communities of one."""
    rounds = 8
    starts, columns = friends(n, n // 30, 4, 108)
    rows = np.repeat(np.arange(n), np.diff(starts))
    weights = (1 + (rows + columns) * 7 % 5).astype("i4")
    strength = np.bincount(rows, weights, n).astype("i4")
    given = {"row_start": starts, "columns": columns, "weights": weights, "strength": strength}
    two_m = int(strength.sum())
    size = ints("n two_m", n, two_m)
    launches = list[Launch]()
    for r in range(rounds):
        move = (*given, "community", "total", "next", *size, np.int32(r))
        launches += [
            Launch("louvain_move", blocks(n, 4), 128, move),
            Launch("louvain_clear", blocks(n), 256, ("total", "n")),
            Launch("louvain_total", blocks(n), 256, ("next", "strength", "community", "total", "moved", "n")),
        ]
    made = {
        "community": np.arange(n, dtype="i4"), "total": strength + np.int32(1),
        "next": zeros(n, kind="i4"), "moved": zeros(1, kind="i4"),
    }  # fmt: skip
    return Problem(
        arrays={**given, **made},
        scalars={**size, "rounds": np.int32(rounds)},
        launches=launches,
        changed=[*made],
    )


def limbs(numbers: list[int]) -> Array:
    """1024 bits each, low words first."""
    return np.frombuffer(b"".join(number.to_bytes(128, "little") for number in numbers), "u4").copy()


@case(full=500, quick=10)
def rsa_warp(count: int) -> Problem:
    """A few keys."""
    keys = 7
    rng = np.random.default_rng(109)
    top = 1 << 1023
    moduli: list[int] = [int.from_bytes(rng.bytes(128), "little") | top | 1 for _ in range(keys)]
    which = rng.integers(0, keys, count).astype("i4")
    signatures: list[int] = [int.from_bytes(rng.bytes(128), "little") % moduli[k] for k in which.tolist()]
    arrays = {
        "signature": limbs(signatures), "key_of": which, "modulus": limbs(moduli),
        "r_squared": limbs([pow(2, 2048, n) for n in moduli]), "message": zeros(32 * count, kind="u4"),
    }  # fmt: skip
    return Problem(
        arrays=arrays,
        scalars=ints("count", count),
        launches=[Launch("rsa_warp", blocks(count, 8), 128, (*arrays, "count"))],
        changed=["message"],
    )


@case(full=3000, quick=150)
def ktruss(n: int) -> Problem:
    """Groups of thirty with many triangles; six rounds."""
    rounds = 6
    starts, columns = friends(n, n // 30, 5, 110)
    edges = len(columns)
    rows = np.repeat(np.arange(n), np.diff(starts)).astype("i4")
    twin = np.searchsorted(rows.astype("i8") * n + columns, columns.astype("i8") * n + rows).astype("i4")
    given = {"row_start": starts, "columns": columns, "source": rows, "twin": twin}
    states = {"alive": np.ones(edges, "u1"), "next": zeros(edges, kind="u1")}
    launches = list[Launch]()
    for r in range(rounds):
        pair = ("alive", "next") if r % 2 == 0 else ("next", "alive")
        launches.append(
            Launch("ktruss_round", blocks(edges, 128), 128, (*given, *pair, "removed", "edges", "k"))
        )
    return Problem(
        arrays={**given, **states, "removed": zeros(1, kind="i4")},
        scalars=ints("edges k rounds", edges, 6, rounds),
        launches=launches,
        changed=["alive", "next", "removed"],
    )


@case(full=300, quick=70)
def qap_sa(chains: int) -> Problem:
    """Some of the moves uphill are taken, by chance: of chains of which expf's last bit turned one, few."""
    n, steps = 26, 500 if chains > 100 else 60
    rng = np.random.default_rng(111)
    flow = rng.integers(0, 10, (n, n)) * (rng.random((n, n)) < 0.5)
    x, y = np.arange(n) % 6, np.arange(n) // 6
    distance = np.abs(x[:, None] - x) + np.abs(y[:, None] - y)
    scalars = {
        **ints("n chains steps", n, chains, steps), **floats("temperature cooling", 60, 0.995),
        "seed": np.uint32(2024),
    }  # fmt: skip
    arrays = {
        "flow": (flow + flow.T).astype("i4"), "distance": distance.astype("i4"),
        "best_perm": zeros(chains, n, kind="u1"), "best_cost": zeros(chains, kind="i4"),
        "winner": np.full(1, 1 << 40, "u8"),
    }  # fmt: skip
    return Problem(
        arrays=arrays,
        scalars=scalars,
        launches=[Launch("qap_sa", blocks(chains, 64), 64, (*arrays, *scalars))],
        changed=["best_perm", "best_cost", "winner"],
        mismatches=0.01,
    )


@case(full=60_000, quick=500)
def lda_gibbs(n: int) -> Problem:
    """Words by Zipf's law in documents of some 100; a third of them in their document's own topic."""
    topics, words, docs = 32, n // 12, n // 100 + 1
    rng = np.random.default_rng(112)
    doc = np.sort(rng.integers(0, docs, n)).astype("i4")
    word = np.minimum(settled(1 / (1.0005 - rng.random(n))), words - 1).astype("i4")
    topic = np.where(rng.random(n) < 0.33, doc % topics, rng.integers(0, topics, n)).astype("u1")
    doc_topic, word_topic = zeros(docs, topics, kind="i4"), zeros(words, topics, kind="i4")
    np.add.at(doc_topic, (doc, topic), 1)
    np.add.at(word_topic, (word, topic), 1)
    beta = 0.01
    numbers = {
        "n": np.int32(n), **floats("alpha beta beta_sum", 0.1, beta, beta * words), "seed": np.uint32(77),
    }  # fmt: skip
    given = {"doc": doc, "word": word, "topic": topic, "doc_topic": doc_topic, "word_topic": word_topic}
    made = {
        "new_doc_topic": zeros(docs, topics, kind="i4"), "new_word_topic": zeros(words, topics, kind="i4"),
    }  # fmt: skip
    sample = (*given, "topic_total", *made, *numbers)
    return Problem(
        arrays={
            **given, "topic_total": word_topic.sum(0).astype("i4"), **made,
            "new_topic_total": zeros(topics, kind="i4"),
        },
        scalars={**numbers, "words": np.int32(words)},
        launches=[
            Launch("lda_sample", blocks(n, 128), 128, sample),
            Launch("lda_totals", 4, (32, 8), ("new_word_topic", "new_topic_total", "words")),
        ],
        changed=["topic", *made, "new_topic_total"],
        tolerance=1e-3,
        mismatches=0.002,
    )  # fmt: skip


@case(full=1600, quick=75)
def cdf97(w: int) -> Problem:
    """Three levels; odd extents on some of them."""
    h, levels = w * 2 // 3 + 1, 3
    launches = list[Launch]()
    x, y = w, h
    for _ in range(levels):
        launches += [
            Launch("cdf97_rows", y, 128, ("image", "w", np.int32(x)), 4 * x),
            Launch(
                "cdf97_columns", blocks(x, 32), (32, 8),
                ("image", "w", np.int32(x), np.int32(y)), 128 * y,
            ),
        ]  # fmt: skip
        x, y = (x + 1) // 2, (y + 1) // 2
    return Problem(
        arrays={"image": photo(w, h, 113).astype("f4")},
        scalars=ints("w h levels", w, h, levels),
        launches=launches,
        changed=["image"],
        tolerance=5e-6,
    )


@case(full=512, quick=35)
def pbkdf512(n: int) -> Problem:
    """Words of 6 to 24 letters."""
    iterations = 20 if n > 100 else 3
    rng = np.random.default_rng(114)
    start = np.concatenate([[0], np.cumsum(rng.integers(6, 25, n))]).astype("i4")
    arrays = {
        "passwords": rng.integers(97, 123, int(start[-1])).astype("u1"), "start": start,
        "salt": rng.integers(0, 2**63, 2).astype("u8"), "keys": zeros(n, 8, kind="u8"),
    }  # fmt: skip
    size = ints("n iterations", n, iterations)
    return Problem(
        arrays=arrays,
        scalars=size,
        launches=[Launch("pbkdf512", blocks(n, 128), 128, (*arrays, *size))],
        changed=["keys"],
    )


@case(full=640, quick=90)
def fast_brief(w: int) -> Problem:
    """Corners in any order; pairs of a square of 31."""
    h, border = w * 3 // 4 - 1, 16
    image = photo(w, h, 115)
    rng = np.random.default_rng(116)
    for _ in range(w // 4):
        x, y, side = rng.integers((0, 0, 4), (w - 20, h - 20, 20))
        image[y : y + side, x : x + side] //= 2
    size = ints("w h", w, h)
    numbers = {**size, **ints("threshold border", 18, border)}
    arrays = {
        "image": image, "score": zeros(h, w, kind="u2"), "corners": zeros(w * h // 8, kind="u4"),
        "count": zeros(1, kind="u4"), "pairs": rng.integers(-15, 16, (256, 4)).astype("i1"),
        "descriptor": zeros(w * h, kind="u4"),
    }  # fmt: skip
    grid = (blocks(w, 32), blocks(h, 8))
    return Problem(
        arrays=arrays,
        scalars=numbers,
        launches=[
            Launch("fast_score", grid, (32, 8), ("image", "score", *size, "threshold")),
            Launch("fast_list", grid, (32, 8), ("score", "corners", "count", *size, "border")),
            Launch("brief", 8, 128, ("image", "corners", "count", "pairs", "descriptor", "w")),
        ],
        changed=["score", "corners", "count", "descriptor"],
        unordered=["corners", "descriptor"],
    )


@case(full=80, quick=21)
def tsdf_fuse(n: int) -> Problem:
    """Three views of a wall, a ball and holes; the camera is a parameter that is a structure."""
    w, h, frames, voxel = 160, 120, 3, 2.0 / n
    rng = np.random.default_rng(117)
    y, x = np.mgrid[:h, :w]
    poses, depths = list[Array](), list[Array]()
    for f in range(frames):
        c, s = (0.96, 0.28) if f == 1 else (0.8, 0.6) if f == 2 else (1.0, 0.0)
        turn = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
        centre = turn[:, 0] + turn[:, 1] + turn[:, 2]
        poses.append(np.concatenate([turn, (np.array([0, 0, 2.2]) - centre)[:, None]], 1).astype("f4"))
        wall: Array = 2600 + 3 * x + rng.integers(-5, 6, (h, w))
        ball = (x - 80 - 10 * f) ** 2 + (y - 60) ** 2
        wall = np.where(ball < 900, 1800 + ball // 4, wall)
        depths.append(np.where(rng.random((h, w)) < 0.03, 0, wall).astype("u2"))
    size = {**ints("w h n", w, h, n), **floats("voxel focal truncation", voxel, 140, 0.15)}
    size |= ints("most", 64)
    names = " ".join(f"r{k}" for k in range(12))
    return Problem(
        arrays={
            "depth": np.stack(depths), "volume": zeros(n, n, n, 2, kind="i2"), "pose": np.stack(poses),
            **{f"depth{f}": depth for f, depth in enumerate(depths)},
        },
        scalars={**size, "frames": np.int32(frames)},
        launches=[
            Launch(
                "tsdf_fuse", (blocks(n, 32), blocks(n, 8)), (32, 8),
                (f"depth{f}", "volume", struct("f4", names, poses[f]), *size),
            )
            for f in range(frames)
        ],
        changed=["volume"],
        native=("depth", "volume", "pose"),
        tolerance=1e-4,
        mismatches=0.002,
    )  # fmt: skip


@case(full=7000, quick=210)
def mppi(samples: int) -> Problem:
    """One round; weights by exp of costs, which are sums of 40 terms."""
    start = np.array([0, 0.3, 0.05, 5], "f4")
    motion = {**floats("dt wanted_speed", 0.1, 6), "seed": np.uint32(99)}
    arrays = {
        "mean": zeros(40, 2), "noise": zeros(40, samples, 2), "cost": zeros(samples),
        "least": np.full(1, 0x7F800000, "i4"),
    }  # fmt: skip
    car = struct("f4", "x y heading speed", start)
    return Problem(
        arrays={**arrays, "start": start},
        scalars={"samples": np.int32(samples), **motion, "temper": np.float32(20)},
        launches=[
            Launch("mppi_rollout", blocks(samples, 128), 128, (*arrays, car, "samples", *motion)),
            Launch("mppi_update", 40, 256, ("mean", "noise", "cost", "least", "samples", "temper")),
        ],
        changed=[*arrays],
        tolerance=1e-3,
        mismatches=0.002,
    )


@case(full=4000, quick=150)
def gjk(n: int) -> Problem:
    """Hulls of 8 to 30 points on ellipsoids; a third of the pairs overlap."""
    shapes, rng = 40, np.random.default_rng(118)
    counts = rng.integers(8, 31, shapes)
    first = np.concatenate([[0], np.cumsum(counts)])
    total = int(first[-1])
    points = rng.random((total, 3)) - 0.5
    points /= settled(np.sqrt((points**2) @ np.ones(3)))[:, None]
    points = points * np.repeat(0.4 + 0.6 * rng.random((shapes, 3)), counts, 0)
    bodies = np.zeros((n // 4 + 2, 6), "f4")
    bodies[:, :3] = rng.random((len(bodies), 3)) * 3
    bodies[:, 3] = rng.random(len(bodies)) * 6
    shape = rng.integers(0, shapes, len(bodies))
    bodies[:, 4] = first[shape].astype("i4").view("f4")
    bodies[:, 5] = counts[shape].astype("i4").view("f4")
    arrays = {
        "bodies": bodies, "points": points.astype("f4"),
        "pairs": rng.integers(0, len(bodies), (n, 2)).astype("i4"), "hit": zeros(n, kind="u1"),
    }  # fmt: skip
    size = ints("n most", n, 24)
    return Problem(
        arrays=arrays,
        scalars={**size, **ints("total", total)},
        launches=[Launch("gjk", blocks(n, 128), 128, (*arrays, *size))],
        changed=["hit"],
        mismatches=0.003,
    )


@case(full=450, quick=70)
def sabr_fit(n: int) -> Problem:
    """Smiles with noise; threads stop after different rounds, of which one more or less moves little."""
    rng = np.random.default_rng(119)
    forward, expiry = 0.02 + 0.03 * rng.random(n), 0.5 + 5 * rng.random(n)
    ratio = settled(np.exp(np.linspace(-0.6, 0.6, 11) * (0.7 + 0.6 * rng.random((n, 1)))))
    away = ratio - 1
    level, skew, smile = (
        0.2 + 0.2 * rng.random((n, 1)),
        0.15 * rng.random((n, 1)),
        0.1 + 0.2 * rng.random((n, 1)),
    )
    quotes = level - skew * away + smile * away * away + 0.004 * (rng.random((n, 11)) - 0.5)
    arrays = {
        "quotes": quotes, "strikes": forward[:, None] * ratio, "forward": forward, "expiry": expiry,
        "fitted": zeros(n, 3, kind="f8"), "error": zeros(n, kind="f8"),
    }  # fmt: skip
    scalars: dict[str, np.generic] = {
        "n": np.int32(n), "beta": np.float64(0.5), "iterations": np.int32(15 if n > 100 else 5),
    }  # fmt: skip
    return Problem(
        arrays=arrays,
        scalars=scalars,
        launches=[Launch("sabr_fit", blocks(n, 64), 64, (*arrays, *scalars))],
        changed=["fitted", "error"],
        tolerance=1e-5,
        mismatches=0.01,
    )


@case(full=20_000, quick=300)
def shape_match(n: int) -> Problem:
    """Clusters of 20 to 110 particles that overlap, pressed and turned; two steps."""
    steps, rng = 2, np.random.default_rng(120)
    clusters = n // 30
    first = rng.integers(0, n - 120, clusters)
    sizes = rng.integers(20, 111, clusters)
    members: list[Array] = [np.arange(a, a + size) for a, size in np.stack([first, sizes], 1).tolist()]
    start = np.concatenate([[0], np.cumsum(sizes)]).astype("i4")
    member = np.concatenate(members).astype("i4")
    line = np.arange(n)
    home = np.stack([line % 7, line // 7 % 7, line // 49], 1) * 0.1
    rest = np.concatenate([home[which] - settled(home[which].mean(0)) for which in members])
    moved = home * np.array([1.1, 0.9, 1]) + 0.03 * (rng.random((n, 3)) - 0.5)
    moved = np.stack(
        [0.8 * moved[:, 0] - 0.6 * moved[:, 1], 0.6 * moved[:, 0] + 0.8 * moved[:, 1], moved[:, 2]], 1
    )
    particle = np.concatenate([moved, 0.5 + rng.random((n, 1))], 1).astype("f4")
    rotation = zeros(clusters, 4)
    rotation[:, 3] = 1
    arrays = {
        "start": start, "member": member, "rest": settled(rest).astype("f4"),
        "particle": particle, "rotation": rotation, "goal": zeros(n, 4),
    }  # fmt: skip
    scalars = {
        "rounds": np.int32(12), "stiffness": np.float32(0.4), **ints("n clusters steps", n, clusters, steps),
    }  # fmt: skip
    return Problem(
        arrays=arrays,
        scalars=scalars,
        launches=[
            Launch("shape_match", clusters, 64, (*arrays, "rounds")),
            Launch("shape_apply", blocks(n), 256, ("particle", "goal", "stiffness", "n")),
        ] * steps,
        changed=["particle", "rotation", "goal"],
        tolerance=1e-4,
        mismatches=0.001,
    )  # fmt: skip


@case(full=60, quick=5)
def eksblow(n: int) -> Problem:
    """Boxes of any numbers in place of those of pi; keys that repeat as passwords do."""
    rng = np.random.default_rng(121)
    lengths: list[int] = rng.integers(6, 20, n).tolist()
    letters: list[Array] = [np.resize(rng.integers(97, 123, length), 72) for length in lengths]
    keys = np.stack(letters).astype("u1").view(">u4").astype("u4")
    arrays = {
        "first_p": rng.integers(0, 2**32, 18).astype("u4"),
        "first_s": rng.integers(0, 2**32, 1024).astype("u4"),
        "keys": keys, "salts": rng.integers(0, 2**32, (n, 4)).astype("u4"), "hash": zeros(n, 6, kind="u4"),
    }  # fmt: skip
    size = ints("n log_rounds", n, 2 if n > 20 else 0)
    return Problem(
        arrays=arrays,
        scalars=size,
        launches=[Launch("eksblow", blocks(n, 8), 8, (*arrays, *size))],
        changed=["hash"],
    )
