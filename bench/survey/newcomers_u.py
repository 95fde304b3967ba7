"""Twenty classics once more, each in another author's form, written without knowing what the JIT is good at:
products, sums, histograms, fractals, transposes, filters, sorts, graphs, ciphers, transforms, grids."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, floats, integers, ints, reals, settled, zeros


def around_zero(*shape: int, kind: str = "f4") -> Array:
    return (reals(*shape) - np.float32(0.5)).astype(kind)


def struct(kind: np.dtype[np.void], *values: object) -> np.generic:
    """A parameter that is a struct."""
    return np.array([values], kind)[0]


def fours(n: int) -> int:
    """The next multiple of four."""
    return -(-n // 4) * 4


@case(full=301, quick=70)
def sgemm_nt(m: int) -> Problem:
    """Rows begin at multiples of 16 bytes; none of the sizes is a multiple of a tile."""
    n, k = m * 4 // 5 + 1, m + 33
    lda, ldc = fours(k), fours(n)
    scalars = {
        **ints("m n k lda ldb ldc", m, n, k, lda, lda, ldc), **floats("alpha beta", 1.25, -0.5),
    }  # fmt: skip
    names = ("a", "b", "c")
    return Problem(
        arrays={"a": around_zero(m, lda), "b": around_zero(n, lda), "c": around_zero(m, ldc)},
        scalars=scalars,
        launches=[Launch("sgemm_nt", (blocks(n, 64), blocks(m, 64)), 256, (*names, *scalars))],
        changed=["c"],
        tolerance=1e-5,
    )


@case(full=100_000, quick=500)
def bs_greeks(n: int) -> Problem:
    """Calls and puts as they come."""
    rng = np.random.default_rng(301)
    options = rng.uniform([20, 20, 0.05, 0.1], [120, 120, 3, 0.6], (n, 4))
    arrays = {
        "options": options, "is_call": rng.integers(0, 2, n).astype("u1"),
        **{name: zeros(n, kind="f8") for name in ("price", "delta", "gamma", "vega", "theta", "rho")},
    }  # fmt: skip
    scalars: dict[str, np.generic] = {"n": np.int32(n), "r": np.float64(0.03), "q": np.float64(0.01)}
    return Problem(
        arrays=arrays,
        scalars=scalars,
        launches=[Launch("bs_greeks", min(blocks(n, 128), 160), 128, (*arrays, *scalars))],
        changed=list(arrays)[2:],
        tolerance=1e-10,
    )


@case(full=4_000_003, quick=1501)
def stats_once(n: int) -> Problem:
    """Heights that vary slowly, with noise; 120 blocks leave a part each."""
    groups = min(120, blocks(n, 768))
    x = settled(20 + 5 * np.sin(np.arange(n) / 5e4) + np.random.default_rng(302).normal(0, 3, n))
    return Problem(
        arrays={
            "x": x.astype("f4"), "partial": zeros(groups, 10, kind="i4"), "ticket": zeros(1, kind="u4"),
            "values": zeros(4), "places": zeros(2, kind="i4"),
        },
        scalars=ints("n", n),
        launches=[
            Launch("stats_once", groups, 192, ("x", "n", "partial", "ticket", "values", "places"))
        ],
        changed=["partial", "ticket", "values", "places"],
        native=("x", "values", "places"),
        tolerance=1e-6,
    )  # fmt: skip


@case(full=500, quick=9)
def lin_rec(rows: int) -> Problem:
    """Factors below 1, so that what was long ago is forgotten."""
    length = 3001 if rows > 100 else 701
    return Problem(
        arrays={
            "a": np.float32(0.6) + np.float32(0.4) * reals(rows, length), "b": around_zero(rows, length),
            "start": around_zero(rows), "y": zeros(rows, length),
        },
        scalars=ints("length rows", length, rows),
        launches=[Launch("lin_rec", rows, 128, ("a", "b", "start", "y", "length"))],
        changed=["y"],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=8_000_005, quick=60_005)
def hist_pack(n: int) -> Problem:
    """Letters as often as in English, some words twice."""
    text = np.frombuffer(b"  eeeetttaaaooiiinnnssshhrrddllcumwfgypbvk,.\nETA", "u1")
    rng = np.random.default_rng(303)
    groups = blocks(n // 16 + 1, 192 * 16)
    return Problem(
        arrays={
            "bytes": text[rng.integers(0, len(text), n)], "partial": zeros(groups, 256, kind="u4"),
            "histogram": zeros(256, kind="u4"),
        },
        scalars={"n": np.int64(n)},
        launches=[
            Launch("hist_pack", groups, 192, ("bytes", "partial", "n")),
            Launch("hist_sum", 256, 128, ("partial", "histogram", np.int32(groups))),
        ],
        changed=["partial", "histogram"],
        native=("bytes", "histogram"),
    )  # fmt: skip


@case(full=300, quick=45)
def burn_ship(width: int) -> Problem:
    """The small ship to the left; near the border of the set rounding decides when a point leaves,
    which differs for 1.4% of points between C with and without fused operations."""
    height, limit = width * 2 // 3 + 1, 203
    view = {
        "x0": np.float64(-1.80), "y0": np.float64(-0.09),
        "dx": np.float64(0.12 / width), "dy": np.float64(0.10 / height),
    }  # fmt: skip
    size = ints("width height limit", width, height, limit)
    packed = struct(np.dtype([(name, "f8") for name in view]), *view.values())
    return Problem(
        arrays={"image": zeros(height, width, 4, kind="u1"), "iterations": zeros(height, width, kind="i4")},
        scalars={**size, **view},
        launches=[
            Launch(
                "burn_ship", (blocks(width, 32), blocks(height, 8)), (32, 8),
                ("image", "iterations", *size, packed),
            )
        ],
        changed=["image", "iterations"],
        tolerance=0.005,
        mismatches=0.03,
    )  # fmt: skip


@case(full=70, quick=9)
def permute3(d0: int) -> Problem:
    """Three orders in turn; extents that tiles of 32 do not divide."""
    d1, d2 = d0 + 13, d0 * 2 - 9
    count = d0 * d1 * d2
    block = (32, 8)
    kind = np.dtype([("extent", "i4", 3), ("stride", "i8", 3)], align=True)
    order = struct(kind, (d2, d1, d0), (d0, d2 * d0, 1))
    return Problem(
        arrays={
            "source": reals(d0, d1, d2, kind="f8"), "a": zeros(d0, d2, d1, kind="f8"),
            "b": zeros(d1, d2, d0, kind="f8"), "c": zeros(d2, d1, d0, kind="f8"),
        },
        scalars=ints("d0 d1 d2", d0, d1, d2),
        launches=[
            Launch(
                "permute_021", (blocks(d2, 32), blocks(d1, 32), d0), block, ("source", "a", "d0", "d1", "d2")
            ),
            Launch(
                "permute_210", (blocks(d1, 32), blocks(d0, 32), d2), block, ("a", "b", "d0", "d2", "d1")
            ),
            Launch("permute_any", min(blocks(count), 200), 256, ("b", "c", order, np.int64(count))),
        ],
        changed=["a", "b", "c"],
    )  # fmt: skip


@case(full=700, quick=37)
def sep_mirror(w: int) -> Problem:
    """A sum that ends near a half may round to either side."""
    h = w * 3 // 4 - 3
    y, x = np.mgrid[:h, :w]
    smooth = settled(100 + 60 * np.sin(x / 23 + y / 31))[..., None] * [0.9, 1, 0.8, 1]
    image = np.minimum(smooth + 60 * reals(h, w, 4), 255).astype("u1")
    return Problem(
        arrays={"image": image, "mid": zeros(h, w, 4), "out": zeros(h, w, 4, kind="u1")},
        scalars=ints("w h", w, h),
        launches=[
            Launch("mirror_rows", (blocks(w, 128), blocks(h, 4)), (32, 4), ("image", "mid", "w", "h")),
            Launch("mirror_columns", (blocks(w, 16), blocks(h, 32)), (16, 8), ("mid", "out", "w", "h")),
        ],
        changed=["mid", "out"],
        tolerance=1e-5,
        mismatches=0.001,
    )


@case(full=200, quick=5)
def batcher(lists: int) -> Problem:
    """Scores with two digits, so some are equal; lists of 300 to 1024."""
    rng = np.random.default_rng(304)
    lengths = rng.integers(300, 1025, lists)
    start = np.concatenate([[0], np.cumsum(lengths)]).astype("i4")
    n = int(start[-1])
    return Problem(
        arrays={
            "keys": rng.integers(-5000, 5000, n).astype("f4") / np.float32(64),
            "values": np.arange(n).astype("u4"), "start": start,
        },
        scalars=ints("lists", lists),
        launches=[Launch("batcher", lists, 256, ("keys", "values", "start"))],
        changed=["keys", "values"],
    )  # fmt: skip


@case(full=50_000, quick=333)
def sellcs(rows: int) -> Problem:
    """Some rows are much longer than others; the last slice is not full."""
    rng = np.random.default_rng(305)
    lengths = 4 + rng.integers(0, 9, rows) * rng.integers(0, 9, rows)
    slices = blocks(rows, 32)
    row_of = np.full(slices * 32, -1, "i4")
    for first in range(0, rows, 256):
        window = lengths[first : first + 256]
        row_of[first : first + len(window)] = first + np.argsort(-window, kind="stable")
    width = np.where(row_of >= 0, lengths[row_of], 0).reshape(slices, 32).max(1)
    start = np.concatenate([[0], np.cumsum(32 * width)])
    total = int(start[-1])
    entry = np.arange(total)
    at = np.searchsorted(start, entry, "right") - 1
    inner = entry - start[at]
    row = row_of[at * 32 + inner % 32]
    real = (row >= 0) & (inner // 32 < lengths[row])
    near = np.clip(row + rng.integers(-200, 201, total), 0, rows - 1)
    column = np.where(rng.random(total) < 0.3, rng.integers(0, rows, total), near)
    arrays = {
        "slice_start": start.astype("i8"), "slice_width": width.astype("i4"),
        "column": np.where(real, column, 0).astype("i4"),
        "value": np.where(real, rng.random(total) - 0.5, 0), "row_of": row_of,
        "x": reals(rows, kind="f8"), "y": reals(rows, kind="f8")[::-1].copy(),
    }  # fmt: skip
    scalars: dict[str, np.generic] = {"slices": np.int32(slices), "beta": np.float64(0.5)}
    return Problem(
        arrays=arrays,
        scalars=scalars,
        launches=[Launch("sellcs", min(blocks(slices, 4), 96), 128, (*arrays, *scalars))],
        changed=["y"],
        tolerance=1e-12,
    )


def heavy_tailed(n: int, edges: int, seed: int) -> tuple[Array, Array]:
    """A graph without direction of which few vertices have many edges: starts of rows, and neighbours."""
    rng = np.random.default_rng(seed)
    share = rng.random(edges)
    a = (n * (share * share * share)).astype("i8")
    b = rng.integers(0, n, edges)
    place = rng.permutation(n)
    both = np.concatenate([place[a] * n + place[b], place[b] * n + place[a]])
    both = np.unique(both[both // n != both % n])
    row = np.searchsorted(both // n, np.arange(n + 1)).astype("i4")
    return row, (both % n).astype("i4")


@case(full=60_000, quick=400)
def coo_seg(rows: int) -> Problem:
    """A row has few entries or thousands, or none; a warp takes 512, or what is left."""
    start, column = heavy_tailed(rows, rows * 8, 306)
    entries, per_warp = len(column), 512 if rows > 1000 else 96
    row = np.repeat(np.arange(rows, dtype="i4"), np.diff(start))
    return Problem(
        arrays={
            "row": row, "column": column, "value": reals(entries), "x": reals(rows), "y": zeros(rows),
        },
        scalars=ints("entries rows", entries, rows),
        launches=[
            Launch("coo_clear", blocks(rows), 256, ("y", "rows")),
            Launch(
                "coo_seg", blocks(blocks(entries, per_warp), 6), 192,
                ("row", "column", "value", "x", "y", "entries", np.int32(per_warp)),
            ),
        ],
        changed=["y"],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=60_000, quick=700)
def afforest(n: int) -> Problem:
    """A large component, and pairs and lone vertices."""
    row, column = heavy_tailed(n, n * 2, 307)
    sampled = 2
    compress = Launch("cc_compress", blocks(n), 256, ("parent", "n"))
    graph = ("row", "column", "parent")
    return Problem(
        arrays={
            "row": row, "column": column, "parent": zeros(n, kind="i4"), "largest": zeros(1, kind="i4"),
        },
        scalars=ints("n sampled", n, sampled),
        launches=[
            Launch("cc_init", blocks(n), 256, ("parent", "n")),
            *(
                launch
                for nth in range(sampled)
                for launch in (Launch("cc_sample", blocks(n), 256, (*graph, "n", np.int32(nth))), compress)
            ),
            Launch("cc_largest", 1, 256, ("parent", "largest", "n")),
            Launch("cc_finish", min(blocks(n, 8), 250), 256, (*graph, "largest", "n", "sampled")),
            compress,
        ],
        changed=["parent", "largest"],
        native=graph,
    )  # fmt: skip


@case(full=30_000, quick=500)
def msbfs(n: int) -> Problem:
    """Eight levels, of which the last find nothing."""
    row, column = heavy_tailed(n, n * 4, 308)
    sources = np.random.default_rng(309).permutation(n)[:64].astype("i4")
    levels = 8
    state = {
        "seen": zeros(n, kind="u8"), "front": zeros(n, kind="u8"), "next": zeros(n, kind="u8"),
        "reached": zeros(n, kind="i4"), "far": zeros(n, kind="i8"),
    }  # fmt: skip
    grid = min(blocks(n, 128), 100)
    return Problem(
        arrays={"row": row, "column": column, "sources": sources, **state},
        scalars=ints("n levels", n, levels),
        launches=[
            Launch("ms_start", grid, 128, ("sources", *state, "n")),
            *(
                launch
                for level in range(1, levels + 1)
                for launch in (
                    Launch("ms_push", blocks(n, 8), (16, 8), ("row", "column", "front", "seen", "next", "n")),
                    Launch("ms_settle", grid, 128, (*state, np.int32(level), "n")),
                )
            ),
        ],
        changed=[*state],
    )  # fmt: skip


@case(full=30_000, quick=301)
def aes_cbcd(count: int) -> Problem:
    """A key of 256 bits; the first block has the vector that both sides know before it."""
    rng = np.random.default_rng(310)
    nk, iv = 8, rng.integers(0, 2**32, 4).astype("u4")
    made = {
        "sbox": zeros(256, kind="u1"), "inverse": zeros(256, kind="u1"), "td": zeros(256, kind="u4"),
        "schedule": zeros(60, kind="u4"), "plain": zeros(count, 4, kind="u4"),
    }  # fmt: skip
    packed = struct(np.dtype([("word", "u4", 4)]), iv)
    return Problem(
        arrays={
            "cipher": rng.integers(0, 2**32, (count, 4)).astype("u4"),
            "key": rng.integers(0, 2**32, nk).astype("u4"), "iv": iv, **made,
        },
        scalars=ints("nk count", nk, count),
        launches=[
            Launch("aes_tables", 1, 256, ("sbox", "inverse", "td")),
            Launch("aes_expand", 1, 1, ("key", "sbox", "schedule", "nk")),
            Launch(
                "aes_cbcd", min(blocks(count, 128), 90), 128,
                ("cipher", "plain", "td", "inverse", "schedule", packed, "nk", "count"),
            ),
        ],
        changed=[*made],
        native=("cipher", "plain", "key", "iv"),
    )  # fmt: skip


@case(full=40_000, quick=700)
def btc_nonce(count: int) -> Problem:
    """The first block of the chain; its number is among those tried, and is the best."""
    header = bytes.fromhex(
        "0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e"
        "67768f617fc81bc3888a51323a9fb8aa4b1e5e4a29ab5f49ffff001d1dac2b7c"
    )
    rounds: dict[str, np.generic] = {
        "first": np.uint32(2083236893 - count // 2), "count": np.uint32(count),
        "target": np.uint32(1 << 23), "room": np.uint32(200),
    }  # fmt: skip
    found = {
        "found": zeros(200, kind="u4"), "found_count": zeros(1, kind="u4"),
        "best": np.full(1, 2**64 - 1, "u8"),
    }  # fmt: skip
    return Problem(
        arrays={
            "header": np.frombuffer(header, ">u4").astype("u4"), "midstate": zeros(8, kind="u4"), **found,
        },
        scalars=rounds,
        launches=[
            Launch("btc_midstate", 1, 1, ("header", "midstate")),
            Launch("btc_nonce", blocks(count), 256, ("header", "midstate", *found, *rounds)),
        ],
        changed=["midstate", *found],
        native=("header", *found),
        unordered=["found"],
    )  # fmt: skip


@case(full=1001, quick=7)
def fft_512(batch: int) -> Problem:
    """The last block has one transform to do, not two."""
    return Problem(
        arrays={"source": around_zero(batch, 512, 2), "out": zeros(batch, 512, 2)},
        scalars=ints("batch", batch),
        launches=[Launch("fft_512", blocks(batch, 2), (64, 2), ("source", "out", "batch"))],
        changed=["out"],
        tolerance=1e-5,
    )


@case(full=24, quick=2)
def mrg_basket(groups: int) -> Problem:
    """A generator a thread, started anywhere; C sums a block's payoffs in another order."""
    scalars = {
        **ints("paths", 40 if groups > 10 else 5), "seed": np.uint32(12345),
        **floats("strike rate maturity", 100, 0.03, 1.5),
    }  # fmt: skip
    return Problem(
        arrays={"sums": zeros(groups, 2, kind="f8")},
        scalars={**ints("groups", groups), **scalars},
        launches=[Launch("mrg_basket", groups, 128, ("sums", *scalars))],
        changed=["sums"],
        tolerance=1e-5,
    )


@case(full=475, quick=71)
def chol_blk(n: int) -> Problem:
    """Fifteen panels, the last of which is not full; what is above the diagonal stays."""
    a = around_zero(n, n, kind="f8")
    a = (a + a.T) / 2 + n / 4 * np.eye(n)
    launches = list[Launch]()
    for first in range(0, n, 32):
        k0, rest = np.int32(first), n - first - 32
        launches.append(Launch("chol_diag", 1, 32, ("a", "n", k0, "info")))
        if rest > 0:
            launches += [
                Launch("chol_panel", blocks(rest, 64), 64, ("a", "n", k0)),
                Launch("chol_update", (blocks(rest, 32),) * 2, (16, 16), ("a", "n", k0)),
            ]
    return Problem(
        arrays={"a": a, "info": zeros(1, kind="i4")},
        scalars=ints("n", n),
        launches=launches,
        changed=["a", "info"],
        tolerance=1e-12,
    )


@case(full=700, quick=150)
def hermite(n: int) -> Problem:
    """Bodies of 56 bytes; forces at the start, then two steps."""
    steps, dt, eps2 = 2, 0.001, 0.0004
    body = np.concatenate([reals(n, 3, kind="f8") * 2 - 1, reals(n, 4, kind="f8") - 0.5], 1)
    body[:, 6] = (1 + reals(n, kind="f8")) / n
    times = {"dt": np.float64(dt), "eps2": np.float64(eps2)}
    step = [
        Launch("hermite_predict", blocks(n, 192), 192, ("body", "force", "predicted", "n", "dt")),
        Launch("hermite_force", blocks(n, 128), 128, ("predicted", "after", "n", "eps2")),
        Launch("hermite_correct", blocks(n, 192), 192, ("body", "force", "predicted", "after", "n", "dt")),
    ]
    made = {
        "force": zeros(n, 6, kind="f8"), "predicted": zeros(n, 7, kind="f8"),
        "after": zeros(n, 6, kind="f8"),
    }  # fmt: skip
    first = Launch("hermite_force", blocks(n, 128), 128, ("body", "force", "n", "eps2"))
    return Problem(
        arrays={"body": body, **made},
        scalars={**ints("n steps", n, steps), **times},
        launches=[first, *step * steps],
        changed=["body", *made],
        native=("body", "force"),
        tolerance=1e-10,
    )


@case(full=500, quick=45)
def time_tile(w: int) -> Problem:
    """Eight steps are two launches; two materials, hot spots."""
    h, steps = w * 4 // 5 - 1, 8
    grid = (blocks(w, 32), blocks(h, 32))
    k = np.where(integers(0, 5, h, w) == 0, np.float32(0.05), np.float32(0.2))
    return Problem(
        arrays={"a": reals(h, w) * 100, "k": k, "b": zeros(h, w)},
        scalars=ints("w h steps", w, h, steps),
        launches=[
            Launch("time_tile", grid, (32, 8), (source, "k", target, "w", "h"))
            for source, target in (("a", "b"), ("b", "a")) * (steps // 8)
        ],
        changed=["a", "b"],
        native=("a", "k"),
        tolerance=1e-5,
    )
