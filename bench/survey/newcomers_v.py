"""Kernels as they stand in the sources of engines and applications of today, a second helping, written
without knowing what the JIT is good at: games, codecs, databases, search, simulations, finance, proofs,
circuits."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, floats, ints, settled, zeros


def turns(rng: np.random.Generator, n: int) -> Array:
    """Quaternions (x, y, z, w) of length one."""
    q = rng.random((n, 4)) - 0.5
    q[:, 3] += 0.6
    return (q / settled(np.sqrt((q * q).sum(1, keepdims=True)))).astype("f4")


def cubed(rng: np.random.Generator, *shape: int) -> Array:
    """Most of them small; products, for a library's powers differ in last bits."""
    values = rng.random(shape)
    return values * values * values


@case(full=12_000, quick=500)
def sap_pairs(n: int) -> Problem:
    """Boxes of many sizes in a flat world, half of them near its middle; some groups ignore another."""
    rng = np.random.default_rng(2201)
    center = (rng.random((n, 3)) - 0.5) * [400, 20, 400]
    center[: n // 2] *= 0.3
    half = 0.2 + 1.2 * cubed(rng, n, 3)
    tight = np.concatenate([center - half, center + half], 1).astype("f4")
    velocity = (8 * (rng.random((n, 3)) - 0.5)).astype("f4")
    group = rng.integers(0, 4, n)
    masks = np.array([0b1111, 0b1101, 0b1011, 0b0111])
    capacity = 8 * n
    arrays = {
        "tight": tight, "velocity": velocity, "order": np.argsort(tight[:, 0], kind="stable").astype("u4"),
        "filter": np.stack([1 << group, masks[group]], 1).astype("u4"),
        "fat": zeros(n, 6), "pairs": zeros(capacity, kind="u8"), "pair_count": zeros(1, kind="u4"),
    }  # fmt: skip
    numbers = {
        "n": np.int32(n), "capacity": np.uint32(capacity), **floats("margin dt slack", 0.05, 1 / 64, 0.07),
    }  # fmt: skip
    return Problem(
        arrays=arrays,
        scalars=numbers,
        launches=[
            Launch("sap_inflate", blocks(n), 256, ("tight", "velocity", "order", "fat", "margin", "dt", "n")),
            Launch(
                "sap_sweep", blocks(n, 128), 128,
                ("fat", "order", "filter", "pairs", "pair_count", "capacity", "slack", "n"),
            ),
        ],
        changed=["fat", "pairs", "pair_count"],
        tolerance=1e-7,
        unordered=["pairs"],
    )  # fmt: skip


@case(full=20_000, quick=130)
def clip_faces(n: int) -> Problem:
    """Boxes that touch, in any position: a third lie flat on one another, a tenth does not touch."""
    rng = np.random.default_rng(2202)
    half = 0.3 + 0.7 * rng.random((2 * n, 3))
    center = 10 * rng.random((2 * n, 3))
    q = turns(rng, 2 * n)
    q[: 2 * n // 3] = [0, 0, 0, 1]
    way = rng.random((n, 3)) - 0.5
    center[1::2] = center[::2] + way * (half[::2] + half[1::2]) * 1.7
    boxes = np.concatenate([center, half, q], 1).astype("f4")
    padded = zeros(2 * n, 12)
    padded[:, :6], padded[:, 8:] = boxes[:, :6], boxes[:, 6:]
    arrays = {
        "boxes": padded, "pairs": rng.permutation(2 * n).reshape(n, 2).astype("i4"),
        "contacts": zeros(n, 4, 4), "normals": zeros(n, 4), "counts": zeros(n, kind="i4"),
    }  # fmt: skip
    arrays["pairs"] = np.arange(2 * n, dtype="i4").reshape(n, 2)[rng.permutation(n)]
    return Problem(
        arrays=arrays,
        scalars=ints("n", n),
        launches=[Launch("clip_faces", blocks(n, 128), 128, (*arrays, "n"))],
        changed=["contacts", "normals", "counts"],
        tolerance=1e-4,
        mismatches=0.003,
    )


@case(full=220, quick=40)
def flow_field(w: int) -> Problem:
    """Swamps, walls with doors, and three goals."""
    h, rng = w * 3 // 4 - 3, np.random.default_rng(2203)
    terrain = np.kron(rng.integers(1, 6, (h // 8 + 1, w // 8 + 1)), np.ones((8, 8), int))[:h, :w]
    for k in range(12, w, 24):
        terrain[:, k] = 255
        terrain[rng.integers(0, h, max(3, h // 20)), k] = 1
    cost = np.full((h, w), 0x3FFFFFFF, "i4")
    awake = zeros(blocks(h, 16), blocks(w, 16), kind="u1")
    for y, x in ((h // 2, w // 3), (h // 5, w - 4), (h - 3, 5)):
        cost[y, x] = 0
        awake[y // 16, x // 16] = 1
    terrain[cost == 0] = 1
    size, tiles, rounds = ints("w h", w, h), awake.size, np.int32(24)
    grid, block = (awake.shape[1], awake.shape[0]), (16, 16)
    arrays = {
        "terrain": terrain.astype("u1"), "cost": cost, "awake": awake,
        "awake_next": zeros(*awake.shape, kind="u1"),
        "direction": zeros(h, w, kind="i1"), "cost_next": zeros(h, w, kind="i4"),
    }  # fmt: skip
    launches = list[Launch]()
    for _ in range(20):
        for now, after in (("", "_next"), ("_next", "")):
            names = ("terrain", f"cost{now}", f"cost{after}", f"awake{now}", f"awake{after}")
            launches.append(Launch("flow_rest", blocks(tiles), 256, (f"awake{after}", np.int32(tiles))))
            launches.append(Launch("flow_relax", grid, block, (*names, *size, rounds)))
    launches.append(Launch("flow_direct", grid, block, ("cost", "direction", *size)))
    return Problem(
        arrays=arrays,
        scalars=size,
        launches=launches,
        changed=["cost", "cost_next", "awake", "awake_next", "direction"],
        native=("terrain", "cost", "awake", "awake_next", "direction"),
    )


@case(full=512, quick=64)
def cdef8(w: int) -> Problem:
    """Slanting edges with the noise of a coder; a quarter of the blocks is left alone."""
    h, rng = w * 3 // 4, np.random.default_rng(2204)
    y, x = np.mgrid[:h, :w]
    picture = 300 + 250 * ((3 * x + 2 * y) // 37 % 2) + 150 * ((x - 4 * y) // 51 % 2)
    picture = picture + np.kron(rng.integers(-30, 31, (h // 4, w // 4)), np.ones((4, 4), int))
    source = (picture + rng.integers(-15, 16, (h, w))).clip(0, 1023).astype("u2")
    units = (h // 8, w // 8)
    arrays = {
        "source": source, "target": zeros(h, w, kind="u2"), "skip": (rng.random(units) < 0.25).astype("u1"),
        "strengths": np.stack([rng.integers(0, 16, units), rng.integers(0, 5, units)], -1).astype("u1"),
        "directions": zeros(*units, kind="u1"),
    }  # fmt: skip
    numbers = ints("w h damping depth", w, h, 5, 10)
    return Problem(
        arrays=arrays,
        scalars=numbers,
        launches=[Launch("cdef8", (w // 8, h // 8), 64, (*arrays, *numbers))],
        changed=["target", "directions"],
    )


@case(full=24_000, quick=150)
def netlist(gates: int) -> Problem:
    """30 levels, inputs mostly from the levels just before; four clocks of 64 * words patterns."""
    rng, inputs, flops, levels, cycles = np.random.default_rng(2205), gates // 60, gates // 12, 30, 4
    words = 24 if gates > 1000 else 3
    sources = inputs + flops
    weights = 1.3 + rng.random(levels) + np.linspace(2, 0, levels)
    counts: list[int] = np.maximum(1, (weights / weights.sum() * gates)).astype(int).tolist()
    total, bounds = sources, [sources]
    gate = zeros(sources, 4, kind="i4")
    parts = [gate]
    for count in counts:
        back = cubed(rng, count, 3) * total
        ops = rng.integers(0, 12, count)
        parts.append(np.concatenate([total - 1 - back.astype("i4"), ops[:, None]], 1).astype("i4"))
        total += count
        bounds.append(total)
    nets = zeros(total, words, kind="u8")
    nets[:sources] = rng.integers(0, 2**63, (sources, words)).astype("u8")
    arrays = {
        "gates": np.concatenate(parts), "nets": nets, "toggles": zeros(total, kind="u4"),
        "data": rng.integers(total - gates // 2, total, flops).astype("i4"),
    }  # fmt: skip
    size = ints("inputs flops total words cycles", inputs, flops, total, words, cycles)
    cycle = [
        Launch(
            "netlist_level", blocks(count, 8), (32, 8),
            ("gates", "nets", "toggles", np.int32(first), np.int32(count), "words"),
        )
        for first, count in zip(bounds, counts, strict=False)
    ]  # fmt: skip
    cycle.append(
        Launch("netlist_clock", blocks(sources * words), 256, ("data", "nets", "inputs", "flops", "words"))
    )
    return Problem(
        arrays=arrays,
        scalars={"sources": np.int32(sources), **size},
        launches=cycle * cycles,
        changed=["nets", "toggles"],
    )


@case(full=3000, quick=150)
def orca(n: int) -> Problem:
    """Two crowds that cross a square, as dense as people in a station; a few overlap."""
    rng, cell_size = np.random.default_rng(2206), 4.0
    side = settled(np.sqrt(np.float64(n))) * 1.1
    cells = int(side / cell_size) + 1
    position = side * rng.random((n, 2))
    way = np.where(rng.random((n, 1)) < 0.5, [[1.0, 0.2]], [[-0.3, -1.0]])
    preferred = way * (1 + 0.4 * rng.random((n, 1)))
    velocity = preferred * (0.5 + 0.5 * rng.random((n, 1))) + 0.4 * (rng.random((n, 2)) - 0.5)
    radius, fastest = 0.25 + 0.1 * rng.random((n, 1)), 1.6 + 0.4 * rng.random((n, 1))
    agents = np.concatenate([position, velocity, preferred, radius, fastest], 1).astype("f4")
    at = (agents[:, :2] / np.float32(cell_size)).astype("i4")
    cell = at[:, 1] * cells + at[:, 0]
    start = np.concatenate([[0], np.cumsum(np.bincount(cell, minlength=cells * cells))])
    arrays = {
        "agents": agents, "cell_start": start.astype("i4"),
        "cell_agents": np.argsort(cell, kind="stable").astype("i4"), "velocities": zeros(n, 2),
    }  # fmt: skip
    numbers = {
        **ints("n cells", n, cells), **floats("cell_size range horizon dt", cell_size, 3.5, 2.0, 0.25),
    }  # fmt: skip
    return Problem(
        arrays=arrays,
        scalars=numbers,
        launches=[Launch("orca", blocks(n, 64), 64, (*arrays, *numbers))],
        changed=["velocities"],
        tolerance=1e-3,
        mismatches=0.005,
    )


@case(full=768, quick=64)
def hevc_idct(w: int) -> Problem:
    """A picture cut into 32 x 32, half of them into four, and so on; few coefficients, most of them low."""
    h, rng = w // 64 * 32, np.random.default_rng(2207)
    tus = list[tuple[int, int, int]]()

    def cut(x: int, y: int, log2: int) -> None:
        if log2 > 2 and rng.random() < 0.55:
            half = 1 << (log2 - 1)
            for dy in (0, half):
                for dx in (0, half):
                    cut(x + dx, y + dy, log2 - 1)
        else:
            tus.append((x, y, log2))

    for y in range(0, h, 32):
        for x in range(0, w, 32):
            cut(x, y, 5)
    unit = np.zeros(len(tus), "u2,u2,u1,u1,u1,u1,i4")
    parts, offset = list[Array](), 0
    for k, (x, y, log2) in enumerate(tus):
        n = 1 << log2
        last = int(rng.integers(0, n))
        near = np.add.outer(np.arange(n), np.arange(n)) + 1
        values = rng.integers(-60, 61, (n, n)) // near * (rng.random((n, n)) < 0.5)
        values[0, 0] += 20
        values[last + 1 :] = 0
        parts.append(values.reshape(-1))
        unit[k] = (x, y, log2, int(rng.integers(20, 38)), last, 0, offset)
        offset += n * n
    arrays = {
        "tus": unit.view("u1"), "coefficients": np.concatenate(parts).astype("i2"),
        "picture": rng.integers(90, 160, (h, w)).astype("u1"),
    }  # fmt: skip
    size = ints("stride count", w, len(tus))
    return Problem(
        arrays=arrays,
        scalars=size,
        launches=[Launch("hevc_idct", len(tus), 64, (*arrays, "stride"))],
        changed=["picture"],
    )


def packed(values: list[int], width: int) -> bytes:
    """Numbers of some bits, big endian, filled up to bytes."""
    text = "".join(f"{value:0{width}b}" for value in values)
    text += "0" * (-len(text) % 8)
    return int(text, 2).to_bytes(len(text) // 8, "big") if text else b""


def varint(value: int) -> bytes:
    """Of a signed number: zigzag, 7 bits a byte."""
    value, made = (value << 1) ^ (value >> 63) if value >= 0 else ((-value - 1) << 1) | 1, bytearray()
    while value >= 128:
        made.append(value & 127 | 128)
        value >>= 7
    return bytes([*made, value])


@case(full=500, quick=6)
def orc_rle2(stripes: int) -> Problem:
    """Dates, keys, prices and flags: runs of all four kinds, up to 512 values each."""
    rng = np.random.default_rng(2208)
    widths = {**{k + 1: k for k in range(24)}, 26: 24, 28: 25, 30: 26, 32: 27, 40: 28, 48: 29, 56: 30, 64: 31}
    data, starts, rows, row = bytearray(), [0], [0], 0
    for _ in range(stripes):
        for _ in range(int(rng.integers(3, 9))):
            kind = int(rng.choice(4, p=[0.25, 0.35, 0.15, 0.25]))
            if kind == 0:
                count, size = int(rng.integers(3, 11)), int(rng.integers(1, 5))
                data += bytes([(size - 1) << 3 | count - 3]) + rng.bytes(size)
                row += count
                continue
            count = int(rng.choice([512, int(rng.integers(20, 512))]))
            width = int(rng.choice([2, 4, 7, 8, 11, 12, 16, 17, 24, 32, 40]))
            values: list[int] = rng.integers(0, 2**width, count).tolist()
            head = bytes([kind << 6 | widths[width] << 1 | (count - 1) >> 8, (count - 1) & 255])
            if kind == 1:
                data += head + packed(values, width)
            elif kind == 2:
                patches, patch_width = int(rng.integers(1, 16)), int(rng.choice([5, 8, 12, 20]))
                gap_width, base = 5, int(rng.integers(0, 30000))
                gaps = rng.integers(1, 32, patches)
                gaps = np.minimum(gaps, max(1, (count - 1) // patches))
                entries = gaps * 2**patch_width + rng.integers(1, 2**patch_width, patches)
                sign = 0x8000 if rng.random() < 0.3 else 0
                data += head + bytes([1 << 5 | widths[patch_width], (gap_width - 1) << 5 | patches])
                data += (base | sign).to_bytes(2, "big") + packed(values, width)
                data += packed(entries.tolist(), patch_width + gap_width)
            else:
                if rng.random() < 0.3:
                    head = bytes([kind << 6 | (count - 1) >> 8, (count - 1) & 255])
                    values, width = [], 8
                first, step = int(rng.integers(-(10**9), 10**9)), int(rng.integers(-500, 500))
                data += head + varint(first) + varint(step) + packed(values[2:], width)
            row += count
        starts.append(len(data))
        rows.append(row)
    arrays = {
        "bytes": np.frombuffer(bytes(data) + bytes(16), "u1"), "stripe_start": np.array(starts, "u8"),
        "row_start": np.array(rows, "u8"), "out": zeros(row, kind="i8"),
    }  # fmt: skip
    return Problem(
        arrays=arrays,
        scalars=ints("stripes", stripes),
        launches=[Launch("orc_rle2", blocks(stripes, 4), 128, (*arrays, "stripes"))],
        changed=["out"],
    )


@case(full=120, quick=5)
def dtw_band(series: int) -> Problem:
    """Walks of 500 steps, a third of them the query's, warped; the bound lets half of them through."""
    rng, length, radius = np.random.default_rng(2209), 500 if series > 20 else 90, 50 if series > 20 else 11
    walks = np.cumsum(rng.integers(-8, 9, (series + 1, length)), 1) / 8
    query = walks[-1]
    for k in range(0, series, 3):
        slow = np.sort(rng.integers(0, length, length))
        walks[k] = query[np.minimum(slow, np.arange(length) + radius // 2)] + 0.3 * rng.random(length)
    walks -= settled(walks.mean(1, keepdims=True))
    arrays = {
        "series": settled(walks[:-1]).astype("f4"), "query": settled(walks[-1]).astype("f4"),
        "bound": (length * (0.2 + 40 * rng.random(series) ** 2)).astype("f4"), "distance": zeros(series),
    }  # fmt: skip
    size = ints("length radius", length, radius)
    return Problem(
        arrays=arrays,
        scalars={**size, "count": np.int32(series)},
        launches=[Launch("dtw_band", series, 128, (*arrays, *size), 4 * (2 * length + 3 * (2 * radius + 3)))],
        changed=["distance"],
        tolerance=1e-5,
        mismatches=0.01,
    )


@case(full=80_000, quick=5000)
def bm25_skip(docs: int) -> Problem:
    """Terms of all frequencies by Zipf, documents of all lengths; queries of two to five terms."""
    rng, terms, queries = np.random.default_rng(2210), 60, 24 if docs > 10_000 else 3
    lengths = rng.integers(0, 256, docs)
    parts, table, maxima, first, first_block, k1 = (
        list[Array](),
        np.zeros(terms, "i4,i4,i4,f4"),
        [0.0],
        0,
        0,
        1.2,
    )
    length = np.where(lengths < 40, lengths, 40 * (1 + (lengths - 40) * 0.05))
    average = float(settled(length.mean()))
    maxima.clear()
    for t in range(terms):
        count = max(20, docs // (6 + 3 * t))
        posting = np.zeros(count, "u4,u1,u1,u2")
        doc = np.sort(rng.permutation(docs)[:count])
        tf = np.minimum(1 + (1 / (0.02 + rng.random(count))).astype("i4") // 2, 30)
        posting["f0"], posting["f1"], posting["f2"] = doc, tf, lengths[doc]
        parts.append(posting)
        idf = settled(np.log((docs - count + 0.5) / (count + 0.5) + 1))
        score = idf * tf * (k1 + 1) / (tf + k1 * (0.25 + 0.75 * length[doc] / average))
        ends = np.arange(0, count, 64)
        tops = settled(np.maximum.reduceat(score, ends)) * 1.00001
        table[t] = (first, count, first_block, idf)
        maxima += tops.tolist()
        first += count
        first_block += len(ends)
    asked: list[Array] = [rng.permutation(terms)[: int(rng.integers(2, 6))] for _ in range(queries)]
    starts: list[int] = np.concatenate([[0], np.cumsum([len(some) for some in asked])]).tolist()
    arrays = {
        "postings": np.concatenate(parts).view("u1"), "terms": table.view("u1"),
        "block_max": np.array(maxima, "f4"), "query_terms": np.concatenate(asked).astype("i4"),
        "query_start": np.array(starts, "i4"), "norms": zeros(256),
        "best_docs": zeros(queries, 16, kind="u4"), "best_scores": zeros(queries, 16),
    }  # fmt: skip
    numbers = {"docs": np.int32(docs), **floats("k1 b average", k1, 0.75, average)}
    return Problem(
        arrays=arrays,
        scalars={**numbers, "queries": np.int32(queries)},
        launches=[
            Launch("norm_table", 1, 256, ("norms", "k1", "b", "average")),
            Launch("bm25_skip", queries, 256, (*arrays, "docs", "k1")),
        ],
        changed=["norms", "best_docs", "best_scores"],
        tolerance=1e-5,
        mismatches=0.02,  # documents of nearly equal scores
    )


@case(full=2500, quick=300)
def hnsw_hop(n: int) -> Problem:
    """Byte vectors in 40 clouds, each with its 12 nearest and four any; queries near points of the set."""
    rng, dim, queries = np.random.default_rng(2211), 32, n // 12
    middle = rng.integers(-80, 80, (40, dim))
    vectors = (middle[rng.integers(0, 40, n)] + rng.integers(-40, 41, (n, dim))).clip(0, 127)
    gaps = np.abs(vectors).astype("f8")
    square = (gaps * gaps).sum(1)
    distances = square[:, None] + square - 2 * (gaps @ gaps.T)  # of small integers: exact
    near = np.argsort(distances, 1, kind="stable")[:, 1:13]
    near = np.where(near == np.arange(n)[:, None], -1, near)
    neighbors = np.concatenate([near, rng.integers(0, n, (n, 4))], 1).astype("i4")
    asked = (vectors[rng.integers(0, n, queries)] + rng.integers(-20, 21, (queries, dim))).clip(0, 127)
    arrays = {
        "vectors": vectors.astype("u1"), "neighbors": neighbors, "queries": asked.astype("u1"),
        "found": zeros(queries, 10, kind="i4"), "hops": zeros(queries, kind="i4"),
    }  # fmt: skip
    numbers = ints("n count nearest max_hops", n, queries, 10, 60)
    return Problem(
        arrays=arrays,
        scalars=numbers,
        launches=[Launch("hnsw_hop", blocks(queries, 4), (32, 4), (*arrays, *numbers))],
        changed=["found", "hops"],
    )


@case(full=40_000, quick=130)
def settle_w(molecules: int) -> Problem:
    """Water in nanometres and picoseconds, turned in all ways; two steps."""
    rng, steps = np.random.default_rng(2212), 2
    far_oh, far_hh = 0.09572, 0.15139
    q = turns(rng, molecules).astype("f8")
    x, y, z, w = q.T
    across = np.stack([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)], 1)
    along = np.stack([2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)], 1)
    height = settled(np.sqrt(np.float64(far_oh**2 - far_hh**2 / 4)))
    oxygen = 5 * rng.random((molecules, 3))
    sites = [
        oxygen,
        oxygen + height * along + far_hh / 2 * across,
        oxygen + height * along - far_hh / 2 * across,
    ]
    arrays = {
        "pos": np.stack(sites, 1), "vel": 1.5 * (rng.random((molecules, 3, 3)) - 0.5),
        "force": 800 * (rng.random((molecules, 3, 3)) - 0.5),
    }  # fmt: skip
    numbers = {
        "molecules": np.int32(molecules), "dt": np.float64(0.002), "mO": np.float64(15.9994),
        "mH": np.float64(1.008), "dOH": np.float64(far_oh), "dHH": np.float64(far_hh),
    }  # fmt: skip
    return Problem(
        arrays=arrays,
        scalars={**numbers, "steps": np.int32(steps)},
        launches=[Launch("settle_w", blocks(molecules, 192) // 2 + 1, 192, (*arrays, *numbers))] * steps,
        changed=["pos", "vel"],
        tolerance=1e-9,
    )


@case(full=150, quick=9)
def order_book(symbols: int) -> Problem:
    """60 % limit orders near a price that wanders, 30 % cancels of a recent one, the rest at market."""
    rng, count = np.random.default_rng(2213), 800 if symbols > 20 else 120
    price = 128 + np.cumsum(rng.integers(-1, 2, (symbols, count)), 1) // 2
    kind = rng.choice(3, (symbols, count), p=[0.6, 0.1, 0.3])
    side = rng.integers(0, 2, (symbols, count))
    away = (cubed(rng, symbols, count) * 20).astype("i4") - 1
    message = np.zeros((symbols, count), "u1,u1,u2,u2,u2")
    message["f0"], message["f1"] = kind, side
    message["f2"] = np.where(side == 0, price - away, price + away).clip(0, 255)
    message["f3"] = rng.integers(1, 20, (symbols, count)) * 10
    message["f4"] = np.maximum(np.arange(count) - 1 - rng.integers(0, 100, (symbols, count)), 0)
    book, stats = 2 * 256 * 8 + 2 * 4 * 8, 24
    arrays = {
        "messages": message.view("u1"), "books": zeros(symbols, book, kind="u1"),
        "orders": zeros(symbols, count, 4, kind="u2"), "stats": zeros(symbols, stats // 4, kind="i4"),
    }  # fmt: skip
    numbers = ints("symbols count", symbols, count)
    return Problem(
        arrays=arrays,
        scalars=numbers,
        launches=[Launch("order_book", blocks(symbols, 64), 64, (*arrays, *numbers))],
        changed=["books", "orders", "stats"],
    )


@case(full=40, quick=3)
def hw_tree(bonds: int) -> Problem:
    """Bonds of 5 to 25 years, callable after two to five; a level of the tree has up to 127 nodes."""
    rng, knots, steps = np.random.default_rng(2214), 61, 200 if bonds > 10 else 40
    bond = np.stack(
        [
            5 + 20 * rng.random(bonds), 3 + 4 * rng.random(bonds),
            100 + 3 * rng.random(bonds), 2 + 3 * rng.random(bonds),
        ],
        1,
    )  # fmt: skip
    line = np.arange(knots) / knots
    arrays = {
        "bonds": bond, "zero_rates": 0.02 + 0.025 * line * (1.6 - line) + 0.001 * rng.random(knots),
        "prices": zeros(bonds, kind="f8"),
    }  # fmt: skip
    numbers = {
        **ints("knots steps", knots, steps), "mean_reversion": np.float64(0.08), "sigma": np.float64(0.012),
    }  # fmt: skip
    return Problem(
        arrays=arrays,
        scalars={**numbers, "count": np.int32(bonds)},
        launches=[Launch("hw_tree", bonds, 128, (*arrays, *numbers))],
        changed=["prices"],
        tolerance=1e-9,
    )


@case(full=17, quick=7)
def fri_fold(bits: int) -> Problem:
    """All layers but the last four; 30 queries."""
    rng, p, queries = np.random.default_rng(2215), 2013265921, 30
    rounds, r = bits - 4, 2**32
    root = pow(pow(31, 15, p), 2 ** (27 - bits), p)
    powers = [pow(pow(root, p - 2, p), 2**k, p) * r % p for k in range(bits)]
    layers = zeros(2 ** (bits + 1), 4, kind="u4")
    layers[: 2**bits] = rng.integers(0, p, (2**bits, 4))
    arrays = {
        "layers": layers, "points": zeros(2 ** (bits - 1), kind="u4"), "powers": np.array(powers, "u4"),
        "challenges": rng.integers(0, p, (rounds, 4)).astype("u4"),
        "queries": rng.integers(0, 2**bits, queries).astype("u4"),
        "opened": zeros(queries, rounds, 8, kind="u4"),
    }  # fmt: skip
    half, eleven = np.uint32((p + 1) // 2 * r % p), np.uint32(11 * r % p)
    return Problem(
        arrays=arrays,
        scalars={"half": half, "eleven": eleven, **ints("bits rounds count", bits, rounds, queries)},
        launches=[
            Launch(
                "fri_points", blocks(2 ** (bits - 1)), 256, ("powers", "points", "half", np.int32(bits - 1)),
            ),
            *[
                Launch(
                    "fri_fold", max(1, 2 ** max(0, bits - 10 - k)), 256,
                    ("layers", "points", "challenges", "half", "eleven", np.int32(k), "bits"),
                )
                for k in range(rounds)
            ],
            Launch("fri_open", queries, 32, ("layers", "queries", "opened", "rounds", "bits")),
        ],
        changed=["layers", "points", "opened"],
    )  # fmt: skip


@case(full=400, quick=60)
def light_cluster(count: int) -> Problem:
    """Lights all over a view of 200 m, a third of them spots; boxes near the eye are small."""
    rng, (nx, ny, nz) = np.random.default_rng(2216), (16, 9, 24) if count > 100 else (5, 3, 4)
    tan_x, tan_y = 1.0, 0.5625
    z = 0.5 + 150 * rng.random(count) * rng.random(count)
    where = np.stack([(2.4 * rng.random(count) - 1.2) * z, (1.2 * rng.random(count) - 0.6) * z, z], 1)
    way = rng.random((count, 3)) - 0.5
    way /= settled(np.sqrt((way * way).sum(1, keepdims=True)))
    cosine = np.where(rng.random(count) < 0.35, 0.6 + 0.35 * rng.random(count), -2)
    lights = np.concatenate([where, 2 + 16 * cubed(rng, count, 1), way, cosine[:, None]], 1)
    clusters = nx * ny * nz
    arrays = {
        "clusters": zeros(clusters, 6), "slices": settled(0.5 * 400 ** (np.arange(nz + 1) / nz)).astype("f4"),
        "lights": lights.astype("f4"), "indices": zeros(96 * clusters, kind="u2"),
        "ranges": zeros(clusters, 2, kind="u4"), "used": zeros(1, kind="u4"),
    }  # fmt: skip
    numbers = {**ints("nx ny", nx, ny), **floats("tan_x tan_y", tan_x, tan_y)}
    return Problem(
        arrays=arrays,
        scalars={**numbers, **ints("nz count", nz, count)},
        launches=[
            Launch(
                "light_bounds", (blocks(nx, 16), blocks(ny, 16), nz), (16, 16),
                ("clusters", "slices", *numbers),
            ),
            Launch(
                "light_cluster", (nx, ny, nz), 128,
                ("clusters", "lights", "indices", "ranges", "used", "count"),
            ),
        ],
        changed=["clusters", "indices", "ranges", "used"],
        tolerance=1e-6,
        mismatches=0.001,
        unordered=["indices"],
    )  # fmt: skip


@case(full=24_000, quick=300)
def hiz_cull(n: int) -> Problem:
    """A town: walls hide most of what is behind; the depths of a picture of odd size."""
    rng, (w, h) = np.random.default_rng(2217), (955, 537) if n > 1000 else (61, 35)
    near, far, meshes = 0.5, 400.0, 64
    depth = np.full((h, w), 1.0)
    for _ in range(60):
        x, y, wide, high = rng.integers(0, w), rng.integers(h // 4, h), rng.integers(w // 20, w // 4), h // 3
        z = 10 + 150 * rng.random()
        depth[max(0, y - high) : y + high, x : x + wide] = np.minimum(
            depth[max(0, y - high) : y + high, x : x + wide], far / (far - near) * (1 - near / z)
        )
    mips, offset, levels, size = list[tuple[int, int, int, int]](), 0, 0, (w, h)
    while True:
        mips.append((offset, *size, 0))
        offset += size[0] * size[1]
        levels += 1
        if size == (1, 1):
            break
        size = (max(size[0] // 2, 1), max(size[1] // 2, 1))
    pyramid = zeros(offset)
    pyramid[: w * h] = depth.reshape(-1)
    z = 1 + 200 * rng.random(n)
    centre = np.stack([(2.6 * rng.random(n) - 1.3) * z, (rng.random(n) - 0.4) * 0.4 * z, -z, 0 * z], 1)
    extent = np.concatenate([0.3 + 3 * cubed(rng, n, 3), zeros(n, 1)], 1)
    instances = zeros(n, 12)
    instances[:, :4], instances[:, 4:8] = centre, extent
    instances.view("u4")[:, 8] = rng.integers(0, meshes, n)
    a = far / (near - far)
    matrix = np.array([1, 0, 0, 0, 0, 1.78, 0, 0, 0, 0, a, a * near, 0, 0, -1, 0], "f4")
    arrays = {
        "instances": instances, "matrix": matrix, "pyramid": pyramid, "mips": np.array(mips, "i4"),
        "meshes": np.stack([np.arange(meshes) * 900, 300 + 3 * rng.integers(0, 200, meshes)], 1).astype("u4"),
        "draws": zeros(meshes, 5, kind="u4"), "draw_count": zeros(meshes, kind="u4"),
        "visible": zeros(n, kind="u1"),
    }  # fmt: skip
    launches = [
        Launch(
            "hiz_down", (blocks(after[1], 32), blocks(after[2], 8)), (32, 8),
            ("pyramid", "pyramid", *(np.int32(v) for v in (before[0], after[0], before[1], before[2]))),
        )
        for before, after in pairwise(mips)
    ]  # fmt: skip
    launches.append(Launch("hiz_cull", blocks(n, 128), 128, (*arrays, "n", "levels")))
    return Problem(
        arrays=arrays,
        scalars=ints("n levels", n, levels),
        launches=launches,
        changed=["pyramid", "draws", "draw_count", "visible"],
        mismatches=0.002,
        tolerance=1e-6,
    )


@case(full=160, quick=37)
def atrous(w: int) -> Problem:
    """Walls, floors, some sky; light with the noise of a few paths for each pixel."""
    h, rounds, rng = w * 9 // 16, 5, np.random.default_rng(2218)
    y, x = np.mgrid[:h, :w]
    side = (x * 5 // w + y * 3 // h) % 3
    normal = np.eye(3)[side] + 0.1 * (rng.random((h, w, 3)) - 0.5)
    normal /= settled(np.sqrt((normal * normal).sum(-1, keepdims=True)))
    depth = 3 + side + 0.01 * x + 0.02 * y
    depth[: h // 6, : w // 3] = -1
    shade = 0.2 + 0.8 * ((x + y) // 23 % 2)[..., None] * np.array([1, 0.8, 0.6])
    noise = -1 + 4 * cubed(rng, h, w, 1)
    colour = np.concatenate([shade * (1 + 0.9 * noise.clip(-1, 2)), 0.2 + 0.3 * rng.random((h, w, 1))], -1)
    arrays = {
        "a": colour.astype("f2"), "b": zeros(h, w, 4, kind="f2"),
        "normal_depth": np.concatenate([normal, depth[..., None]], -1).astype("f4"),
        "albedo": rng.integers(40, 250, (h, w, 4)).astype("u1"), "image": zeros(h, w, 4, kind="u1"),
    }  # fmt: skip
    size = ints("w h", w, h)
    launches = [
        Launch(
            "atrous", (blocks(w, 16), blocks(h, 8)), (16, 8),
            (*names, "normal_depth", *size, np.int32(1 << k), "phi_colour", "phi_depth"),
        )
        for k, names in zip(range(rounds), [("a", "b"), ("b", "a")] * 3, strict=False)
    ]  # fmt: skip
    launches.append(Launch("atrous_show", blocks(w * h), 256, ("b", "albedo", "image", np.int32(w * h))))
    return Problem(
        arrays=arrays,
        scalars={**size, "rounds": np.int32(rounds), **floats("phi_colour phi_depth", 4, 0.05)},
        launches=launches,
        changed=["a", "b", "image"],
        tolerance=2e-3,
        mismatches=0.02,  # bytes that are rounded
    )


@case(full=400, quick=60)
def fog_war(w: int) -> Problem:
    """Hills, trees and two teams, a tenth of them in the air; some land was explored before."""
    h, rng, teams = w - 13, np.random.default_rng(2219), 2
    y, x = np.mgrid[:h, :w]
    hills = 40 + (x * 7 // 40 * 5 + y * 3 // 50 * 11) % 30 + np.abs((x - y) % 64 - 32) // 2
    heights = hills + 12 * (rng.random((h, w)) < 0.04)
    count = 150 if w > 100 else 9
    unit = np.zeros(count, "i2,i2,u1,u1,u1,u1")
    unit["f0"], unit["f1"] = rng.integers(0, w, count), rng.integers(0, h, count)
    unit["f2"], unit["f3"] = rng.integers(8, 26, count), rng.integers(0, teams, count)
    unit["f4"], unit["f5"] = rng.integers(2, 8, count), rng.random(count) < 0.1
    arrays = {
        "units": unit.view("u1"), "heights": heights.astype("u1"),
        "seen": zeros(teams, h, blocks(w, 32), kind="u4"),
        "fog": rng.choice([0, 96, 160, 255], (teams, h, w)).astype("u1"), "explored": zeros(teams, kind="i4"),
    }  # fmt: skip
    size = ints("w h", w, h)
    return Problem(
        arrays=arrays,
        scalars={**size, **ints("count teams", count, teams)},
        launches=[
            Launch("fog_look", count, 96, ("units", "heights", "seen", *size)),
            Launch(
                "fog_fade", (blocks(w, 32), blocks(h, 8), teams), (32, 8), ("seen", "fog", "explored", *size)
            ),
        ],
        changed=["seen", "fog", "explored"],
    )  # fmt: skip


@case(full=7000, quick=150)
def dualquat(count: int) -> Problem:
    """A crowd of one mesh in several poses; a third of the vertices belong to faces that morph."""
    rng, bones, targets, characters = np.random.default_rng(2220), 60, 24, 6 if count > 1000 else 2
    vertex = np.zeros(count, "3f4,2i2,4u1,4u1")
    vertex["f0"] = 2 * rng.random((count, 3)) - 1
    vertex["f1"] = rng.integers(-32767, 32768, (count, 2))
    vertex["f2"] = rng.integers(0, bones, (count, 4))
    used = rng.integers(1, 5, count)
    weights = rng.integers(20, 100, (count, 4)) * (np.arange(4) < used[:, None])
    weights[:, 0] += 255 - weights.sum(1).clip(0, 255)
    vertex["f3"] = weights.clip(0, 255)
    real = turns(rng, characters * bones).astype("f8")
    real[::5] *= -1
    move = rng.random((characters * bones, 3)) - 0.5
    x, y, z, w = real.T
    a, b, c = move.T
    dual = [
        a * w + b * z - c * y, b * w + c * x - a * z, c * w + a * y - b * x, -(a * x + b * y + c * z),
    ]  # fmt: skip
    deltas = np.where(rng.random(count) < 0.33, rng.integers(1, 12, count), 0)
    start = np.concatenate([[0], np.cumsum(deltas)])
    total = int(start[-1])
    delta = np.concatenate([rng.integers(0, targets, (total, 1)), rng.integers(-2000, 2000, (total, 3))], 1)
    morph = rng.random((characters, targets)) * (rng.random((characters, targets)) < 0.4)
    arrays = {
        "vertices": vertex.view("u1"),
        "palette": np.concatenate([real, 0.5 * np.stack(dual, 1)], 1).astype("f4"),
        "delta_start": start.astype("u4"), "deltas": delta.astype("i2"),
        "morph_weights": morph.astype("f4"), "positions": zeros(characters, count, 3),
        "normals": zeros(characters, count, 2, kind="i2"),
    }  # fmt: skip
    numbers = {**ints("count bones targets", count, bones, targets), "delta_scale": np.float32(1e-5)}
    shared = 32 * bones + 4 * targets
    return Problem(
        arrays=arrays,
        scalars={**numbers, "characters": np.int32(characters)},
        launches=[Launch("dualquat", (blocks(count), characters), 256, (*arrays, *numbers), shared)],
        changed=["positions", "normals"],
        tolerance=1e-4,
        mismatches=0.002,  # normals at a fold
    )


@case(full=48, quick=13)
def fdk_cone(nx: int) -> Problem:
    """A cube of some balls seen from all around; what leaves the detector is not counted."""
    rng, nz, nu, nv, count = np.random.default_rng(2221), nx - 6, nx + 21, nx + 2, 32 if nx > 20 else 9
    angle = 2 * np.pi * np.arange(count) / count
    views = settled(np.stack([np.cos(angle), np.sin(angle)], 1))
    v, u = np.mgrid[:nv, :nu]
    projections = 0.05 * rng.random((count, nv, nu))
    for _ in range(6):
        x, y, z, r = (0.5 * nx * (rng.random(4) - 0.5)).tolist()
        across = y * views[:, 0] - x * views[:, 1]
        square = (u - nu / 2 - 1.2 * across[:, None, None]) ** 2 + (v - nv / 2 - 1.2 * z) ** 2
        projections += settled(np.sqrt(np.maximum(r * r - square, 0)))
    arrays = {
        "projections": projections.astype("f4"), "filtered": zeros(count, nv, nu),
        "views": views.astype("f4"), "volume": zeros(nz, nx, nx),
    }  # fmt: skip
    size = ints("nx ny nz nu nv", nx, nx, nz, nu, nv)
    numbers = floats("voxel source_axis source_detector pitch scale", 1, 4 * nx, 6 * nx, 1.4, np.pi / count)
    far = ("source_axis", "source_detector", "pitch")
    launches = [
        Launch("fdk_weight", (blocks(nu, 128), nv, count), 128, ("projections", "nu", "nv", *far)),
        Launch(
            "fdk_ramp", nv * count, 64,
            ("projections", "filtered", "nu", np.int32(nv * count), "pitch"), 4 * nu,
        ),
    ]  # fmt: skip
    launches += [
        Launch(
            "fdk_cone", (blocks(nx, 32), blocks(nx, 8), blocks(nz, 4)), (32, 8),
            (
                "filtered", "views", "volume", *size, np.int32(first),
                np.int32(min(16, count - first)), *numbers,
            ),
        )
        for first in range(0, count, 16)
    ]  # fmt: skip
    return Problem(
        arrays=arrays,
        scalars={**size, "count": np.int32(count), **numbers},
        launches=launches,
        changed=["projections", "filtered", "volume"],
        tolerance=1e-4,
        mismatches=0.002,  # at the detector's border
    )


@case(full=220, quick=20)
def copula(count: int) -> Problem:
    """Ratings of five classes, losses of one to ten units; 41 values of the factor."""
    rng, points = np.random.default_rng(2222), 41 if count > 50 else 7
    name = np.zeros(count, "f4,f4,i4,i4")
    name["f0"] = rng.choice([-3.1, -2.7, -2.3, -1.9, -1.3], count)
    name["f1"], name["f2"] = 0.3 + 0.4 * rng.random(count), rng.integers(1, 11, count)
    total = int(name["f2"].sum())
    most = total * 9 // 10
    factors = np.linspace(-4, 4, points)
    weights = settled(np.exp(-factors * factors / 2) * (8 / (points - 1)) * 0.3989422804014327)
    tranches = np.array([[0, 0.03], [0.03, 0.07], [0.07, 0.1], [0.1, 0.15], [0.15, 0.3], [0.3, 0.9]])
    arrays = {
        "names": name.view("u1"), "factors": settled(factors), "weights": weights,
        "conditional": zeros(points, most + 1, kind="f8"), "distribution": zeros(most + 1, kind="f8"),
        "tranches": tranches, "expected": zeros(6, kind="f8"),
    }  # fmt: skip
    numbers = ints("count max_units points all_units slices", count, most, points, total, 6)
    return Problem(
        arrays=arrays,
        scalars=numbers,
        launches=[
            Launch(
                "copula", points, 128, ("names", "factors", "conditional", "count", "max_units"),
                16 * (most + 1),
            ),
            Launch(
                "copula_mix", blocks(most + 1), 256,
                ("conditional", "weights", "distribution", "points", "max_units"),
            ),
            Launch(
                "copula_tranche", 6, 256,
                ("distribution", "tranches", "expected", "max_units", "all_units"),
            ),
        ],
        changed=["conditional", "distribution", "expected"],
        tolerance=1e-9,
    )  # fmt: skip
