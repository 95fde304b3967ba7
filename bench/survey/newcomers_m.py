"""Kernels as engineers write them for sm_80 and later, chosen without knowing what the JIT is good at:
asynchronous copies, barriers, tensor cores, groups of threads, CUB, look-back, trees, lattices."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, ints, reals, zeros


def struct(kind: np.dtype[np.void], *values: object) -> np.generic:
    """A parameter that is a struct."""
    scalar: np.generic = np.array([values], kind)[0]
    return scalar


def around_zero(*shape: int, kind: str = "f4") -> Array:
    return (reals(*shape) - np.float32(0.5)).astype(kind)


@case(full=388, quick=76)
def gemm_ring(n: int) -> Problem:
    """Tiles of 128 x 64 that the matrices do not fill, 16 deep."""
    m, k = n * 3 // 4 + 5, n - 20
    size = ints("m n k", m, n, k)
    names = ("a", "b", "bias", "c")
    ring = 3 * (128 * 20 + 16 * 64) * 4
    return Problem(
        arrays={
            "a": around_zero(m, k), "b": around_zero(k, n), "bias": around_zero(n), "c": zeros(m, n),
        },
        scalars=size,
        launches=[Launch("gemm_ring", (blocks(n, 64), blocks(m, 128)), 256, (*names, *size), ring)],
        changed=["c"],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=333, quick=75)
def flash_wmma(n: int) -> Problem:
    """Weights are rounded to 16 bits before they meet the values, which C does not do."""
    heads, dim = 4 if n > 100 else 2, 64
    names = ("q", "k", "v", "out")
    numbers = {"n": np.int32(n), "scale": np.float32(dim**-0.5)}
    tiles = 4 * 64 * 72 * 2 + 2 * 64 * 68 * 4
    return Problem(
        arrays={
            "q": around_zero(heads, n, dim, kind="f2") * np.float16(4),
            "k": around_zero(heads, n, dim, kind="f2")[:, ::-1] * np.float16(4),
            "v": around_zero(heads, dim, n, kind="f2").transpose(0, 2, 1).copy(),
            "out": zeros(heads, n, dim, kind="f2"),
        },
        scalars={**numbers, "heads": np.int32(heads)},
        launches=[Launch("flash_wmma", (blocks(n, 64), heads), 128, (*names, *numbers), tiles)],
        changed=["out"],
        tolerance=2e-3,
    )  # fmt: skip


TRADE = np.dtype([("account", "i4"), ("amount", "f4")])
CHOSEN = np.dtype([("low", "f4"), ("high", "f4"), ("branch", "i4")])


@case(full=500_000, quick=5300)
def select_back(n: int) -> Problem:
    """Some four of ten are chosen; tiles wait for those before."""
    rng, tiles = np.random.default_rng(61), blocks(n, 1024)
    trades = np.zeros(n, TRADE)
    trades["account"] = rng.integers(1000, 100_000, n)
    trades["amount"] = np.exp(rng.normal(5, 1.5, n))
    chosen = struct(CHOSEN, 60, 300, 3)
    return Problem(
        arrays={
            "trades": trades.view("i4"), "out": zeros(2 * n, kind="i4"), "total": zeros(1, kind="u4"),
            "states": zeros(tiles, kind="u8"), "ticket": zeros(1, kind="u4"),
        },
        scalars={"n": np.int32(n), "low": np.float32(60), "high": np.float32(300), "branch": np.int32(3)},
        launches=[
            Launch("select_init", blocks(tiles), 256, ("states", "ticket", np.int32(tiles))),
            Launch(
                "select_tiles", tiles, 128,
                ("trades", "out", "total", "states", "ticket", "n", chosen),
            ),
        ],
        changed=["out", "total", "states", "ticket"],
        native=("trades", "out", "total"),
    )  # fmt: skip


@case(full=14, quick=2)
def goldi_ntt(batch: int) -> Problem:
    """16 numbers of 64 bits a thread; halves are compared, as doubles have not all of such numbers."""
    n, prime = 4096, 2**64 - 2**32 + 1
    root = pow(7, (prime - 1) // n, prime)

    def powers(base: int) -> Array:
        found = [1]
        while len(found) < n // 2:
            found.append(found[-1] * base % prime)
        return np.array(found, "u8").view("u4")

    rng = np.random.default_rng(62)
    names = ("a", "b", "roots", "inverse_roots", "product")
    one_nth = np.uint64(pow(n, -1, prime))
    return Problem(
        arrays={
            "a": rng.integers(0, prime, batch * n, dtype="u8").view("u4"),
            "b": rng.integers(0, prime, batch * n, dtype="u8").view("u4"),
            "roots": powers(root), "inverse_roots": powers(pow(root, -1, prime)),
            "product": zeros(2 * batch * n, kind="u4"),
        },
        scalars={"one_nth": one_nth, "batch": np.int32(batch)},
        launches=[Launch("goldi_ntt", batch, 256, (*names, "one_nth"))],
        changed=["product"],
    )  # fmt: skip


@case(full=60_000, quick=900)
def merge_spmv(rows: int) -> Problem:
    """Rows from none to a thirtieth of all numbers; each thread takes seven steps."""
    rng = np.random.default_rng(63)
    length = np.minimum(rng.pareto(1.3, rows) * 5, rows / 3).astype("i4")
    length[rng.random(rows) < 0.1] = 0
    length[rows // 3] = rows // 2
    row_start = np.concatenate([[0], np.cumsum(length)]).astype("i4")
    nonzeros = int(row_start[-1])
    near = np.repeat(np.arange(rows), length) + (rng.normal(0, rows / 50, nonzeros)).astype("i8")
    columns = np.where(rng.random(nonzeros) < 0.7, near % rows, rng.integers(0, rows, nonzeros))
    tiles = blocks(rows + nonzeros, 896)
    matrix = ("row_start", "columns", "values", "x", "y")
    return Problem(
        arrays={
            "row_start": row_start, "columns": columns.astype("i4"),
            "values": around_zero(nonzeros, kind="f8"), "x": 1 + reals(rows, kind="f8"),
            "y": zeros(rows, kind="f8"),
            "starts": zeros(2 * (tiles + 1), kind="i4"), "carries": zeros(2 * tiles, kind="f8"),
        },
        scalars=ints("rows", rows),
        launches=[
            Launch(
                "spmv_search", blocks(tiles + 1, 128), 128,
                ("row_start", "starts", "rows", np.int32(nonzeros), np.int32(tiles)),
            ),
            Launch("spmv_tiles", tiles, 128, (*matrix, "starts", "carries")),
            Launch("spmv_carries", blocks(tiles, 128), 128, ("carries", "y", "rows", np.int32(tiles))),
        ],
        changed=["y", "starts", "carries"],
        native=matrix,
        tolerance=1e-12,
    )  # fmt: skip


@case(full=40_000, quick=700)
def coop_table(n: int) -> Problem:
    """Some half of the slots are taken; some keys come again, one of three queries finds nothing."""
    rng = np.random.default_rng(64)
    distinct = rng.integers(0, 1 << 31, n * 5 // 6).astype("u4")
    keys = np.concatenate([distinct, distinct[rng.zipf(1.3, n - len(distinct)) % len(distinct)]])
    keys = rng.permutation(keys)
    count = n - 3
    known, other = keys[rng.integers(0, n, count)], rng.integers(1 << 31, 1 << 32, count).astype("u4") - 1
    groups = 1 << int(np.ceil(np.log2(n / 8 * 1.2)))
    mask = np.uint32(groups - 1)
    return Problem(
        arrays={
            "keys": keys, "values": rng.permutation(n).astype("u4"),
            "queries": np.where(rng.random(count) < 0.67, known, other),
            "table": zeros(groups * 8, kind="u8"), "found": zeros(count, 2, kind="u4"),
            "failed": zeros(1, kind="u4"),
        },
        scalars={"mask": mask, **ints("n count", n, count)},
        launches=[
            Launch("table_clear", 4, 256, ("table", np.uint32(groups * 8))),
            Launch("table_insert", blocks(n), 256, ("keys", "values", "table", "mask", "n", "failed")),
            Launch("table_find", blocks(count), 256, ("queries", "table", "found", "mask", "count")),
        ],
        changed=["table", "found", "failed"],
        native=("keys", "values", "queries", "found", "failed"),
    )  # fmt: skip


def morton(points: Array) -> Array:
    """30 bits, those of x, y and z in turn."""
    codes = np.zeros(len(points), "u4")
    for d in range(3):
        cell = np.clip(points[:, d] * np.float32(1024), 0, 1023).astype("u4")
        for bit in range(10):
            codes |= (cell >> bit & 1) << (3 * bit + 2 - d)
    return codes


@case(full=6000, quick=230)
def karras(n: int) -> Problem:
    """Clusters, in which some points share their codes; a query finds six others or so."""
    rng = np.random.default_rng(65)
    clusters = rng.random((max(n // 150, 3), 3))
    points = np.zeros((n, 4), "f4")
    points[:, :3] = clusters[rng.integers(0, len(clusters), n)] + rng.normal(0, 0.04, (n, 3))
    points[: n // 4, :3] = rng.random((n // 4, 3))
    points[:, :3] = np.clip(points[:, :3], 0, 0.9999)
    points[:, 3] = rng.random(n)
    points = points[np.argsort(morton(points), kind="stable")]
    count = n // 2 + 5
    queries = points[rng.permutation(n)[:count]] + rng.normal(0, 0.01, (count, 4))
    queries[:, 3] = rng.uniform(0.4, 1.4, count) * 0.6 * n ** (-1 / 3)
    leaves = 2 * n - 1
    made = {
        "codes": zeros(n, kind="u4"), "nodes": zeros(leaves, 3, kind="i4"), "boxes": zeros(leaves, 6),
        "hits": zeros(count, kind="i4"), "weights": zeros(count),
    }  # fmt: skip
    tree = ("nodes", "boxes")
    return Problem(
        arrays={
            "points": points, "queries": queries.astype("f4"), **made, "visits": zeros(n, kind="i4"),
        },
        scalars=ints("n count", n, count),
        launches=[
            Launch("bvh_codes", blocks(n), 256, ("points", "codes", "n")),
            Launch("bvh_nodes", blocks(n), 256, ("codes", "nodes", "visits", "n")),
            Launch("bvh_boxes", blocks(n), 256, ("points", *tree, "visits", "n")),
            Launch(
                "bvh_query", blocks(count, 128), 128,
                ("queries", "points", *tree, "hits", "weights", "count", "n"),
            ),
        ],
        changed=[*made, "visits"],
        native=("points", "queries", *made),
        tolerance=1e-5,
        mismatches=0.001,  # a point may be at the border of a sphere
    )  # fmt: skip


LATTICE = np.dtype([("extent", "i4", 4)])


@case(full=16, quick=6)
def dslash(nx: int) -> Problem:
    """Twice 1,320 operations a site; links are random matrices of SU(3)."""
    rng = np.random.default_rng(66)
    extent = (nx, nx // 2 + 1, nx // 2, nx // 2 + 2 if nx > 8 else 4)
    volume = int(np.prod(extent))
    q = np.linalg.qr(rng.normal(size=(4, volume, 3, 3)) + 1j * rng.normal(size=(4, volume, 3, 3)))[0]
    q /= np.linalg.det(q)[..., None, None] ** (1 / 3)
    links = q.transpose(0, 2, 3, 1).astype("c8")
    spinors = (rng.normal(size=(4, 3, volume)) + 1j * rng.normal(size=(4, 3, volume))).astype("c8")
    lattice, kappa = struct(LATTICE, extent), np.float32(0.124)
    return Problem(
        arrays={
            "source": spinors.view("f4"), "links": np.ascontiguousarray(links).view("f4"),
            "once": zeros(4, 3, 2 * volume), "twice": zeros(4, 3, 2 * volume),
        },
        scalars={**ints("nx ny nz nt", *extent), "kappa": kappa},
        launches=[
            Launch("dslash", blocks(volume, 128), 128, (*pair, lattice, kappa))
            for pair in (("source", "links", "once"), ("once", "links", "twice"))
        ],
        changed=["once", "twice"],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=500, quick=11)
def warp_solve(count: int) -> Problem:
    """24 x 24, a lane a row: 300 shuffles and a reduction for each pivot."""
    rng, n = np.random.default_rng(67), 24
    matrices = rng.normal(size=(count, n, n))
    matrices[np.arange(count)[:, None], np.arange(n), [rng.permutation(n) for _ in range(count)]] += 6
    made = {
        "factors": zeros(count, n, n), "solutions": zeros(count, n), "pivots": zeros(count, n, kind="i4"),
        "log_det": zeros(count),
    }  # fmt: skip
    names = ("matrices", "rhs", *made)
    return Problem(
        arrays={"matrices": matrices.astype("f4"), "rhs": around_zero(count, n), **made},
        scalars=ints("count", count),
        launches=[Launch("solve_24", blocks(count, 4), 128, (*names, "count"))],
        changed=[*made],
        tolerance=1e-4,
        mismatches=0.002,  # two candidates for a pivot may be as good as equal
    )


@case(full=440, quick=70)
def felzen(w: int) -> Problem:
    """Rings and single pixels; some columns are empty."""
    h = w * 3 // 4 + 3
    y, x = np.mgrid[:h, :w]
    picture = reals(h, w) < 0.0005
    for k in range(5):
        cx, cy, r = w * (k * 37 % 100) / 90, h * (k * 61 % 100) / 100, w / 25 + k * w / 60
        picture |= np.abs(np.hypot(x - cx, y - cy) - r) < 0.6
    rows, size = ints("w h", w, h), (np.int32(h), np.int32(w))
    made = {name: zeros(w * h, kind="i4") for name in ("squared", "distance", "turned", "corner")}
    return Problem(
        arrays={"picture": picture.astype("u1"), **made, "border": zeros(w * h)},
        scalars=rows,
        launches=[
            Launch("column_distance", blocks(w, 64), 64, ("picture", "distance", *rows)),
            Launch("transpose", (blocks(w, 32), blocks(h, 32)), (32, 8), ("distance", "turned", *rows)),
            Launch("row_envelope", blocks(h, 64), 64, ("turned", "distance", "corner", "border", *rows)),
            Launch("transpose", (blocks(h, 32), blocks(w, 32)), (32, 8), ("distance", "squared", *size)),
        ],
        changed=[*made, "border"],
        native=("picture", "squared"),
    )


@case(full=24, quick=3)
def fir_roles(channels: int) -> Problem:
    """One warp of five copies, the others calculate; 64 taps, every fourth sum."""
    outputs = 700 * channels + 13 if channels > 4 else 300
    length = 4 * (outputs - 1) + 64
    numbers = ints("length outputs", length, outputs)
    time = np.arange(length)
    waves = [np.sin(time * (0.01 + 0.05 * c)) + np.sin(time * time * 1e-5 * (c + 1)) for c in range(channels)]
    taps = np.sinc((np.arange(64) - 31.5) / 4) * np.hamming(64) / 4
    names = ("x", "taps", "y")
    return Problem(
        arrays={
            "x": np.array(waves, "f4") + around_zero(channels, length), "taps": taps.astype("f4"),
            "y": zeros(channels, outputs),
        },
        scalars={**numbers, "channels": np.int32(channels)},
        launches=[Launch("fir_roles", channels, 160, (*names, *numbers))],
        changed=["y"],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=200_000, quick=5000)
def onesweep(n: int) -> Problem:
    """Four passes of 8 bits over keys of which many have the same high digits."""
    rng, tiles = np.random.default_rng(68), blocks(n, 2048)
    entries = 4 * tiles * 256
    lists = ("keys", "values"), ("other_keys", "other_values")
    scratch = {
        "counts": zeros(4 * 256, kind="u4"), "states": zeros(entries, kind="u4"),
        "tickets": zeros(4, kind="u4"),
    }  # fmt: skip
    keys = rng.integers(0, 1 << 32, n) >> rng.integers(0, 12, n)
    return Problem(
        arrays={
            "keys": keys.astype("u4"), "values": rng.permutation(n).astype("u4"),
            "other_keys": zeros(n, kind="u4"), "other_values": zeros(n, kind="u4"), **scratch,
        },
        scalars=ints("n", n),
        launches=[
            Launch("sweep_clear", blocks(entries, 1024), 256, (*scratch, np.int32(entries))),
            Launch("sweep_counts", min(tiles, 32), 256, ("keys", "counts", "n")),
            Launch("sweep_starts", 4, 256, ("counts",)),
            *[
                Launch(
                    "sweep_pass", tiles, 256, (*lists[p % 2], *lists[1 - p % 2], *scratch, np.int32(p), "n")
                )
                for p in range(4)
            ],
        ],
        changed=["keys", "values", "other_keys", "other_values", *scratch],
        native=("keys", "values", "other_keys", "other_values"),
    )  # fmt: skip
