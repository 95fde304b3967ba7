"""Kernels as engineers write them for sm_80 and later, chosen without knowing what the JIT is good at:
asynchronous copies, barriers, tensor cores, groups of threads, CUB, look-back, trees, lattices."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, reals, zeros


def ints(names: str, *values: int) -> dict[str, np.generic]:
    """Parameters by their names."""
    return {name: np.int32(value) for name, value in zip(names.split(), values, strict=True)}


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
    chosen = np.array((60, 300, 3), CHOSEN)
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
                ("trades", "out", "total", "states", "ticket", "n", chosen[()]),
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
    """Rows from none to a twentieth of all numbers; each thread takes seven steps."""
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
    """More than half of the slots are taken; some keys come again, one of three queries finds nothing."""
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
