"""Twelve kernels of machine learning and of dense and sparse linear algebra, in the form that each has most
often, written without knowing what the JIT is good at."""

from __future__ import annotations

from typing import Any

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, ints, reals, zeros


def normals(seed: int, *shape: int, kind: str = "f4") -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype(kind)


def drawn(rng: Any, counts: Array, of: int, weights: Array) -> Array:
    """For each of `counts` so many different numbers below `of`, in order: one list after another."""
    share, lists = weights / weights.sum(), list[Array]()
    for count in counts:
        found: Array = rng.choice(of, count, replace=False, p=share)
        lists.append(np.sort(found))
    return np.concatenate(lists).astype("i4")


def starts(counts: Array) -> Array:
    """Where each of a list of lists starts, and where the last ends."""
    return np.concatenate([[0], np.cumsum(counts)]).astype("i4")


@case(full=37, quick=11)
def winograd(w: int) -> Problem:
    """Tiles that reach over the picture's border; the products' shapes are no multiples of 16."""
    h, channels, filters = w - 2, w + 3, w + 5
    tiles_y, tiles_x = blocks(h, 2), blocks(w, 2)
    tiles = tiles_y * tiles_x
    size = ints("filters channels h w tiles_y tiles_x", filters, channels, h, w, tiles_y, tiles_x)
    pictures = tuple(size)[1:]
    return Problem(
        arrays={
            "input": normals(1, channels, h, w), "weight": normals(2, filters, channels, 3, 3) / 9,
            "bias": normals(3, filters), "u": zeros(16, filters, channels), "v": zeros(16, channels, tiles),
            "m": zeros(16, filters, tiles), "output": zeros(filters, h, w),
        },
        scalars=size,
        launches=[
            Launch(
                "wino_filter", blocks(filters * channels, 128), 128,
                ("weight", "u", "filters", "channels"),
            ),
            Launch("wino_input", (blocks(tiles, 128), channels), 128, ("input", "v", *pictures)),
            Launch(
                "wino_gemm", (blocks(tiles, 16), blocks(filters, 16), 16), (16, 16),
                ("u", "v", "m", "filters", "channels", np.int32(tiles)),
            ),
            Launch(
                "wino_output", (blocks(tiles, 128), filters), 128,
                ("m", "bias", "output", "filters", *pictures[1:]),
            ),
        ],
        changed=["u", "v", "m", "output"],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=4098, quick=37)
def nf4_gemm(n: int) -> Problem:
    """The last round is not for all lanes."""
    rows, k = 4, 2048 if n > 1000 else 192
    size = ints("n k", n, k)
    return Problem(
        arrays={
            "x": normals(4, rows, k, kind="f2"),
            "packed": np.random.default_rng(5).integers(0, 256, (n, k // 2)).astype("u1"),
            "absmax": (1 + reals(n, k // 64)) / np.float32(20),
            "bias": normals(6, n, kind="f2"), "out": zeros(rows, n, kind="f2"),
        },
        scalars=size,
        launches=[
            Launch("nf4_gemm", blocks(n, 4), 128, ("x", "packed", "absmax", "bias", "out", *size))
        ],
        changed=["out"],
        tolerance=1e-3,
    )  # fmt: skip


@case(full=3000, quick=9)
def kv_append(tokens: int) -> Problem:
    """Tokens of some sequences, whose pages lie anywhere; one of 30 tokens is padding."""
    heads, kv_heads, dim, page = (16, 4, 128, 16) if tokens > 100 else (3, 2, 48, 16)
    sequences = 5
    length = blocks(tokens, sequences)
    rng = np.random.default_rng(7)
    begin = rng.integers(0, 100, sequences)
    which, within = np.divmod(np.arange(tokens), length)
    positions = begin[which] + within
    pages = blocks(100 + length, page)
    table = rng.permutation(sequences * pages).reshape(sequences, pages)
    slots = table[which, positions // page] * page + positions % page
    slots[rng.random(tokens) < 1 / 30] = -1
    angle = np.arange(100 + length)[:, None] * 10000.0 ** (-2 * np.arange(dim // 2) / dim)
    size = ints("heads kv_heads dim page", heads, kv_heads, dim, page)
    arrays = {
        "query": normals(8, tokens, heads, dim, kind="f2"),
        "key": normals(9, tokens, kv_heads, dim, kind="f2"),
        "value": normals(10, tokens, kv_heads, dim, kind="f2"),
        "key_cache": zeros(sequences * pages, kv_heads, dim // 8, page, 8, kind="f2"),
        "value_cache": zeros(sequences * pages, kv_heads, dim, page, kind="f2"),
        "cos_sin": np.stack([np.cos(angle), np.sin(angle)], axis=-1).astype("f4"),
        "positions": positions.astype("i8"),
        "slots": slots.astype("i8"),
    }
    return Problem(
        arrays=arrays,
        scalars={**size, "tokens": np.int32(tokens)},
        launches=[Launch("kv_append", tokens, min(heads * dim // 2, 512), (*arrays, *size))],
        changed=["query", "key_cache", "value_cache"],
        tolerance=1e-3,
    )


@case(full=500, quick=45)
def alibi_win(length: int) -> Problem:
    """A query's window begins and ends within rounds of 32 keys."""
    heads, dim, window = (6, 64, 100) if length > 100 else (2, 64, 20)
    numbers = {**ints("length window", length, window), "scale": np.float32(dim**-0.5)}
    return Problem(
        arrays={
            "q": normals(11, heads, length, dim), "k": normals(12, heads, length, dim),
            "v": normals(13, heads, length, dim), "out": zeros(heads, length, dim),
        },
        scalars={**numbers, "heads": np.int32(heads)},
        launches=[Launch("alibi_win", (blocks(length, 8), heads), (32, 8), ("q", "k", "v", "out", *numbers))],
        changed=["out"],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=20_011, quick=700)
def nucleus(vocab: int) -> Problem:
    """22 times through a vocabulary, then until the token that is drawn."""
    rows = 32 if vocab > 1000 else 3
    rng: Any = np.random.default_rng(14)  # NumPy's types of what it gives are not whole
    rank: Array = rng.permuted(np.tile(np.arange(vocab), (rows, 1)), axis=1)
    logits = normals(15, rows, vocab) - 1.1 * np.log(rank + 2.7)
    names = ("logits", "probs", "top_p", "temperature", "uniform", "tokens")
    return Problem(
        arrays={
            "logits": logits.astype("f4"), "probs": zeros(rows, vocab),
            "top_p": np.float32(0.8) + reals(rows) * np.float32(0.19),
            "temperature": np.float32(0.6) + reals(rows + 1)[1:] * np.float32(0.6),
            "uniform": reals(rows + 2)[2:], "tokens": zeros(rows, kind="i4"),
        },
        scalars=ints("vocab rows", vocab, rows),
        launches=[Launch("nucleus", rows, 256, (*names, "vocab"))],
        changed=["probs", "tokens"],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=150, quick=23)
def ctc_loss(frames: int) -> Problem:
    """Labels of unlike lengths, one of which does not fit into its frames."""
    batch, classes, longest = (20, 44, 50) if frames > 100 else (3, 30, 8)
    rng = np.random.default_rng(16)
    lengths = rng.integers(longest // 3, longest + 1, batch)
    frame_count = rng.integers(frames * 3 // 4, frames + 1, batch).astype("i4")
    frame_count[1] = lengths[1] - 1
    targets: Array = rng.integers(1, classes, int(lengths.sum()))
    rows = frames * batch
    size = ints("batch classes rows", batch, classes, rows)
    listed = ("targets", "target_start", "frame_count")
    return Problem(
        arrays={
            "logits": 2 * normals(17, frames, batch, classes), "log_probs": zeros(frames, batch, classes),
            "targets": targets.astype("i4"), "target_start": starts(lengths),
            "frame_count": frame_count, "loss": zeros(batch),
        },
        scalars=size,
        launches=[
            Launch("ctc_log_softmax", blocks(rows, 8), 256, ("logits", "log_probs", "rows", "classes")),
            Launch("ctc_alpha", batch, 128, ("log_probs", *listed, "loss", "batch", "classes")),
        ],
        changed=["log_probs", "loss"],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=250_000, quick=900)
def gbdt_hist(n: int) -> Problem:
    """Half of the rows are in the node; some features have few values, or one that most rows have."""
    features, node = (20, 5) if n > 1000 else (11, 2)
    rng = np.random.default_rng(18)
    values = rng.normal(size=(n, features))
    values[:, 1::4] = np.abs(values[:, 1::4]) ** 3
    values[:, 2::5] = np.round(values[:, 2::5])
    values[:, 3::6] *= rng.random((n, len(range(3, features, 6)))) < 0.1
    bins = np.empty((n, features), "u1")
    for f in range(features):
        bins[:, f] = np.searchsorted(np.quantile(values[:, f], np.arange(1, 64) / 64), values[:, f])
    score = values[:, 0] + 0.5 * values[:, 1] - values[:, 4]
    label = score + rng.normal(size=n) > 0
    guess = 1 / (1 + np.exp(-0.3 * score))
    gradients = np.stack([guess - label, guess * (1 - guess)], axis=1).astype("f4")
    rows = np.flatnonzero(rng.random(n) < 0.5).astype("u4")
    fixed = np.float32(1 << 20)
    size = ints("count features", len(rows), features)
    limits = {"lambda": np.float32(1), "min_child": np.float32(1e-3)}
    made = {
        "hist": zeros(features, 64, 2, kind="i8"), "splits": zeros(features, 5), "best": zeros(5),
        "node_of": zeros(n, kind="i4"), "left_count": zeros(1, kind="u4"),
    }  # fmt: skip
    numbers = features * 128
    return Problem(
        arrays={"bins": bins, "gradients": gradients, "rows": rows, **made},
        scalars={
            **size, "to_fixed": fixed, "from_fixed": 1 / fixed, **limits, "node": np.int32(node),
        },
        launches=[
            Launch("gbdt_clear", blocks(numbers), 256, ("hist", "left_count", np.int32(numbers))),
            Launch(
                "gbdt_hist", (16 if n > 1000 else 2, blocks(features, 8)), 256,
                ("bins", "gradients", "rows", "hist", *size, "to_fixed"),
            ),
            Launch(
                "gbdt_splits", blocks(features, 4), 128,
                ("hist", "splits", "features", "from_fixed", *limits),
            ),
            Launch("gbdt_best", 1, 128, ("splits", "best", "features")),
            Launch(
                "gbdt_route", blocks(len(rows)), 256,
                ("bins", "rows", "best", "node_of", "left_count", *size, "node"),
            ),
        ],
        changed=[*made],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=402, quick=6)
def lu_batch(count: int) -> Problem:
    """Lanes past the matrix rest; one of the matrices is singular."""
    n = 27 if count > 100 else 13
    matrices = normals(19, count, n, n, kind="f8")
    matrices[3, :, 5] = 0
    size = ints("n count", n, count)
    names = ("matrices", "rhs", "pivots", "info")
    return Problem(
        arrays={
            "matrices": matrices, "rhs": normals(20, count, n, kind="f8"),
            "pivots": zeros(count, n, kind="i4"), "info": zeros(count, kind="i4"),
        },
        scalars=size,
        launches=[Launch("lu_batch", blocks(count, 4), 128, (*names, *size))],
        changed=names,
        tolerance=1e-9,
    )  # fmt: skip


def power_law(seed: int, rows: int, cols: int, most: int) -> tuple[Array, Array, Array]:
    """A sparse matrix by rows: few of them long, and few columns in most rows."""
    rng = np.random.default_rng(seed)
    counts = np.minimum(rng.zipf(1.9, rows) + 1, most)
    columns = drawn(rng, counts, cols, 1 / (1 + rng.permutation(cols)) ** 0.6)
    return starts(counts), columns, rng.normal(size=len(columns))


@case(full=1700, quick=90)
def spgemm(n: int) -> Problem:
    """Rows of a few products and of thousands; the tables of most are small."""
    inner = n - 20
    a_start, a_cols, a_values = power_law(21, n, inner, n // 8)
    b_start, b_cols, b_values = power_law(22, inner, n, n // 8)
    products = np.diff(b_start)[a_cols]
    row_products = np.add.reduceat(products, a_start[:-1])
    space = int(np.minimum(row_products, n).sum())
    a, b = ("a_start", "a_cols", "a_values"), ("b_start", "b_cols", "b_values")
    return Problem(
        arrays={
            "a_start": a_start, "a_cols": a_cols, "a_values": a_values,
            "b_start": b_start, "b_cols": b_cols, "b_values": b_values,
            "row_count": zeros(n, kind="i4"), "c_start": zeros(n + 1, kind="i4"),
            "c_cols": zeros(space, kind="i4"), "c_values": zeros(space, kind="f8"),
        },
        scalars=ints("rows cols", n, n),
        launches=[
            Launch("spgemm_count", n, 128, (*a[:2], *b[:2], "row_count")),
            Launch("spgemm_scan", 1, 1024 if n > 1000 else 64, ("row_count", "c_start", "rows")),
            Launch("spgemm_fill", n, 128, (*a, *b, "c_start", "c_cols", "c_values")),
        ],
        changed=["row_count", "c_start", "c_cols", "c_values"],
        tolerance=1e-12,
    )  # fmt: skip


@case(full=90, quick=2)
def svd_sided(count: int) -> Problem:
    """Singular values that are near to each other have vectors of few digits."""
    scale = np.float32(0.7) ** np.arange(16, dtype="f4")
    return Problem(
        arrays={
            "matrices": normals(23, count, 32, 16) * scale, "u": zeros(count, 16, 32),
            "sigma": zeros(count, 16), "v": zeros(count, 16, 16),
        },
        scalars={"eps": np.float32(1e-6), "count": np.int32(count)},
        launches=[Launch("svd_sided", count, (32, 8), ("matrices", "u", "sigma", "v", "eps"))],
        changed=["u", "sigma", "v"],
        tolerance=1e-4,
        mismatches=0.01,
    )  # fmt: skip


@case(full=40_000, quick=330)
def gmm_em(n: int) -> Problem:
    """Three rounds; clusters that lie over each other."""
    components, rounds = (6, 3) if n > 1000 else (3, 2)
    rng = np.random.default_rng(24)
    centres = 2 * rng.normal(size=(components, 4))
    shapes = rng.normal(size=(components, 4, 4)) * 0.7 + np.eye(4) * 0.5
    kind = rng.integers(0, components, n)
    points = centres[kind] + np.einsum("nij,nj->ni", shapes[kind], rng.normal(size=(n, 4)))
    size = {**ints("n components", n, components), "ridge": np.float32(1e-4)}
    arrays = {
        "points": points.astype("f4"),
        "weight": np.full(components, 1 / components, "f4"),
        "mean": (centres + rng.normal(size=centres.shape)).astype("f4"),
        "covariance": np.tile(np.eye(4, dtype="f4") * 2, (components, 1, 1)),
        "share": zeros(components, n),
        "log_likelihood": zeros(1, kind="f8"),
        "model": zeros(components, 15),
        "moments": zeros(components, 15, kind="f8"),
    }
    mixture = ("weight", "mean", "covariance")
    return Problem(
        arrays=arrays,
        scalars={**size, "rounds": np.int32(rounds)},
        launches=[
            Launch("gmm_prepare", 1, 32, (*mixture, "model", "moments", "log_likelihood", "components")),
            Launch(
                "gmm_expect", blocks(n), 256,
                ("points", "model", "share", "log_likelihood", "n", "components"),
            ),
            Launch("gmm_moments", (8, components), 256, ("points", "share", "moments", "n")),
            Launch("gmm_maximise", 1, 32, ("moments", *mixture, *size)),
        ] * rounds,
        changed=[name for name in arrays if name != "points"],
        native=("points", *mixture, "share", "log_likelihood"),
        tolerance=1e-4,
    )  # fmt: skip


@case(full=1000, quick=7)
def als_cg(users: int) -> Problem:
    """Some users have seen nothing, some much; each item that a user has seen is a sum over the block."""
    items, factors, steps = (1000, 64, 3) if users > 100 else (50, 64, 2)
    rng = np.random.default_rng(25)
    counts = np.minimum(rng.zipf(1.6, users) * rng.integers(0, 6, users), items // 5)
    item_of = drawn(rng, counts, items, 1 / (1 + rng.permutation(items)) ** 0.8)
    data = ("user_start", "item_of", "confidence", "items", "gram", "users")
    return Problem(
        arrays={
            "user_start": starts(counts), "item_of": item_of,
            "confidence": (1 + 4 * rng.geometric(0.4, len(item_of))).astype("f4"),
            "items": normals(26, items, factors) / 8, "gram": zeros(factors, factors),
            "users": normals(27, users, factors) / 8,
        },
        scalars={
            "item_count": np.int32(items), "regularization": np.float32(0.1),
            **ints("user_count steps", users, steps),
        },
        launches=[
            Launch("als_gram", (4, 4), (16, 16), ("items", "gram", "item_count", "regularization")),
            Launch("als_cg", min(users, 64), 64, (*data, "user_count", "steps")),
        ],
        changed=["gram", "users"],
        tolerance=1e-4,
    )  # fmt: skip
