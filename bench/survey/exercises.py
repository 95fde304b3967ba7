"""Kernels as students and suites of benchmarks write them."""

from __future__ import annotations

import numpy as np
from suite.problem import Launch, Problem, blocks

from survey.case import case, integers, reals, zeros


@case(full=1200, quick=45)
def conv_zero(width: int) -> Problem:
    height = width - 20
    return Problem(
        arrays={"in": reals(height, width), "out": zeros(height, width)},
        scalars={"w": np.int32(width), "h": np.int32(height)},
        launches=[
            Launch("conv_zero", (blocks(width, 16), blocks(height, 16)), (20, 20), ("in", "out", "w", "h"))
        ],
        changed=["out"],
        tolerance=1e-5,
    )


@case(full=1 << 20, quick=5000)
def stencil1d(n: int) -> Problem:
    return Problem(
        arrays={"in": integers(0, 1000, n), "out": zeros(n, kind="i4")},
        scalars={"n": np.int32(n)},
        launches=[Launch("stencil1d", blocks(n), 256, ("in", "out", "n"))],
        changed=["out"],
    )


@case(full=250, quick=37)
def mm_edge(m: int) -> Problem:
    n, k = m + 9, m - 15
    return Problem(
        arrays={"a": reals(m, k), "b": reals(k, n), "c": zeros(m, n)},
        scalars={"m": np.int32(m), "n": np.int32(n), "k": np.int32(k)},
        launches=[
            Launch("mm_edge", (blocks(n, 16), blocks(m, 16)), (16, 16), ("a", "b", "c", "m", "n", "k"))
        ],
        changed=["c"],
        tolerance=1e-5,
    )


@case(full=8, quick=2)
def conv_layer(images: int) -> Problem:
    """Eight images of 3 x 70 x 70, six filters of 5 x 5."""
    m, c, h, w, k = 6, 3, 70, 70, 5
    out = h - k + 1
    names = ("M", "C", "H", "W", "K")
    return Problem(
        arrays={"out": zeros(images, m, out, out), "in": reals(images, c, h, w), "filter": reals(m, c, k, k)},
        scalars={
            "B": np.int32(images),
            **{name: np.int32(v) for name, v in zip(names, (m, c, h, w, k), strict=True)},
        },
        launches=[
            Launch("conv_layer", (m, blocks(out, 16) ** 2, images), (16, 16), ("out", "in", "filter", *names))
        ],
        changed=["out"],
        tolerance=1e-5,
    )


@case(full=1 << 17, quick=3000)
def relax(edges: int) -> Problem:
    """Twelve rounds over the edges of a random graph."""
    nodes, rounds = edges // 8, 12
    dist = np.full(nodes, 1_000_000_000, "i4")
    dist[0] = 0
    return Problem(
        arrays={
            "from": integers(0, nodes, edges), "to": integers(0, nodes, edges + 1)[:edges].copy(),
            "weight": integers(1, 100, edges), "dist": dist,
        },
        scalars={"edges": np.int32(edges), "rounds": np.int32(rounds)},
        launches=[Launch("relax", blocks(edges), 256, ("from", "to", "weight", "dist", "edges"))] * rounds,
        changed=["dist"],
    )  # fmt: skip


@case(full=20000, quick=700)
def knapsack(capacity: int) -> Problem:
    """A hundred items, a launch each."""
    items = 100
    arrays = ("a", "b")
    return Problem(
        arrays={name: zeros(capacity + 1, kind="i4") for name in arrays},
        scalars={"items": np.int32(items), "capacity": np.int32(capacity)},
        launches=[
            Launch("knapsack", blocks(capacity + 1), 256, (
                arrays[i % 2], arrays[1 - i % 2], np.int32(7 + i * 13 % 101), np.int32(5 + i * 29 % 83),
                "capacity",
            ))
            for i in range(items)
        ],
        changed=arrays,
    )  # fmt: skip


@case(full=600, quick=50)
def lcs(n: int) -> Problem:
    """A launch for each antidiagonal."""
    return Problem(
        arrays={
            "a": integers(65, 69, n, kind="i1"), "b": integers(65, 70, n, kind="i1"),
            "table": zeros(n + 1, n + 1, kind="i4"),
        },
        scalars={"n": np.int32(n)},
        launches=[
            Launch("lcs", blocks(n), 256, ("a", "b", "table", "n", np.int32(d))) for d in range(2, 2 * n + 1)
        ],
        changed=["table"],
    )  # fmt: skip


@case(full=512, quick=40)
def hotspot(cols: int) -> Problem:
    """Two steps in one launch."""
    rows, steps = cols - 7, 2
    scalars = {"cols": np.int32(cols), "rows": np.int32(rows)}
    scalars |= {name: np.float32(v) for name, v in (("cap", 0.3), ("rx", 0.1), ("ry", 0.2), ("rz", 0.05))}
    inner = 16 - 2 * steps
    return Problem(
        arrays={
            "power": reals(rows, cols), "src": 80 + reals(rows + 1, cols)[:rows].copy(),
            "dst": zeros(rows, cols),
        },
        scalars=scalars,
        launches=[
            Launch("hotspot", (blocks(cols, inner), blocks(rows, inner)), (16, 16), (
                np.int32(steps), "power", "src", "dst", *scalars
            ))
        ],
        changed=["dst"],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=1000, quick=70)
def bicg(nx: int) -> Problem:
    ny = nx + 8
    return Problem(
        arrays={"a": reals(nx, ny), "p": reals(ny), "r": reals(nx), "q": zeros(nx), "s": zeros(ny)},
        scalars={"nx": np.int32(nx), "ny": np.int32(ny)},
        launches=[
            Launch("rows", blocks(nx), 256, ("a", "p", "q", "nx", "ny")),
            Launch("columns", blocks(ny), 256, ("a", "r", "s", "nx", "ny")),
        ],
        changed=["q", "s"],
        tolerance=1e-5,
    )


@case(full=256, quick=5)
def xent(rows: int) -> Problem:
    """Rows of a thousand classes."""
    v = 1003
    return Problem(
        arrays={"logits": 4 * reals(rows, v), "losses": zeros(rows), "targets": integers(0, v, rows)},
        scalars={"rows": np.int32(rows), "v": np.int32(v)},
        launches=[Launch("xent", blocks(rows, 8), 256, ("logits", "losses", "targets", "rows", "v"))],
        changed=["logits", "losses"],
        tolerance=1e-5,
    )


@case(full=1024, quick=9)
def ln_back(rows: int) -> Problem:
    c = 384
    given = {
        "dy": reals(rows, c),
        "x": reals(rows + 1, c)[:rows].copy(),
        "weight": reals(c),
        "mean": reals(rows),
    }
    return Problem(
        arrays={
            "dx": zeros(rows, c), "dw": zeros(c), "db": zeros(c), **given,
            "rstd": 1 + reals(rows + 1)[:rows].copy(),
        },
        scalars={"rows": np.int32(rows), "c": np.int32(c)},
        launches=[
            Launch("ln_back", 8, 256, ("dx", "dw", "db", *given, "rstd", "rows", "c"), shared=8 * c)
        ],
        changed=["dx", "dw", "db"],
        tolerance=1e-4,
    )  # fmt: skip


@case(full=512, quick=40)
def ising(n: int) -> Problem:
    """Both colours of the checkerboard once."""
    return Problem(
        arrays={
            "spin": (2 * integers(0, 2, n, n) - 1).astype("i1"),
            "state": integers(0, 1 << 32, n, n // 2, kind="u4"),
        },
        scalars={"n": np.int32(n), "beta": np.float32(0.4)},
        launches=[
            Launch("ising", (blocks(n // 2, 32), blocks(n, 8)), (32, 8), (
                "spin", "state", "n", np.int32(c), "beta"
            ))
            for c in range(2)
        ],
        changed=["spin", "state"],
        mismatches=1e-3,
    )  # fmt: skip


@case(full=700, quick=50)
def redblack(n: int) -> Problem:
    return Problem(
        arrays={"u": reals(n, n), "f": reals(n + 1, n)[:n].copy()},
        scalars={"n": np.int32(n)},
        launches=[
            Launch("redblack", (blocks(n, 16), blocks(n, 16)), (16, 16), ("u", "f", "n", np.int32(c)))
            for c in range(2)
        ],
        changed=["u"],
        tolerance=1e-5,
    )


@case(full=1 << 15, quick=300)
def aes(n: int) -> Problem:
    """Nine rounds, with tables of random words."""
    rounds = 9
    return Problem(
        arrays={
            "in": integers(0, 1 << 32, n, 4, kind="u4"), "out": zeros(n, 4, kind="u4"),
            "tables": integers(0, 1 << 32, 1024, kind="u4"),
            "keys": integers(0, 1 << 32, 4 * rounds, kind="u4"),
        },
        scalars={"rounds": np.int32(rounds), "n": np.int32(n)},
        launches=[Launch("aes", blocks(n), 256, ("in", "out", "tables", "keys", "rounds", "n"))],
        changed=["out"],
    )  # fmt: skip


@case(full=1 << 20, quick=5000)
def equalize(n: int) -> Problem:
    """Counts, their sums, and each pixel's new value."""
    pixels = (255 * np.random.default_rng(n).random(n) ** 2).astype("u1")
    return Problem(
        arrays={"in": pixels, "out": zeros(n, kind="u1"), "counts": zeros(256, kind="u4"), "cdf": zeros(256)},
        scalars={"n": np.int32(n)},
        launches=[
            Launch("count", 64, 256, ("in", "counts", "n")),
            Launch("sums", 1, 256, ("counts", "cdf", "n")),
            Launch("apply", blocks(n), 256, ("in", "out", "cdf", "n")),
        ],
        changed=["out", "counts"],
        native=["in", "out"],
        tolerance=1 / 250,
    )


@case(full=1 << 20, quick=5000)
def dot_fence(n: int) -> Problem:
    return Problem(
        arrays={"a": reals(n), "b": reals(n + 1)[:n].copy(), "partial": zeros(64), "out": zeros(1)},
        scalars={"n": np.int32(n)},
        launches=[Launch("dot_fence", 64, 256, ("a", "b", "partial", "out", "n"))],
        changed=["out"],
        native=["a", "b", "out"],
        tolerance=1e-3,
    )


@case(full=500, quick=40)
def iir(w: int) -> Problem:
    h = w - 9
    return Problem(
        arrays={"in": reals(h, w), "out": zeros(h, w)},
        scalars={"w": np.int32(w), "h": np.int32(h), "a": np.float32(0.3), "b": np.float32(0.7)},
        launches=[Launch("iir", blocks(w, 128), 128, ("in", "out", "w", "h", "a", "b"))],
        changed=["out"],
        tolerance=1e-5,
    )


@case(full=1 << 17, quick=1000)
def kcluster(n: int) -> Problem:
    k = 20
    return Problem(
        arrays={"p": reals(n, 2), "centre": reals(k, 2), "sums": zeros(k, 2), "counts": zeros(k, kind="i4")},
        scalars={"n": np.int32(n), "k": np.int32(k)},
        launches=[Launch("kcluster", blocks(n), 256, ("p", "centre", "sums", "counts", "n", "k"))],
        changed=["sums", "counts"],
        tolerance=1e-4,
    )


@case(full=1000, quick=37)
def ln_naive(rows: int) -> Problem:
    c = 300
    given = {"x": reals(rows, c), "weight": reals(c), "bias": reals(c + 1)[:c].copy()}
    return Problem(
        arrays={"out": zeros(rows, c), **given},
        scalars={"rows": np.int32(rows), "c": np.int32(c)},
        launches=[Launch("ln_naive", blocks(rows, 128), 128, ("out", *given, "rows", "c"))],
        changed=["out"],
        tolerance=1e-4,
    )


@case(full=1000, quick=45)
def tr_naive(w: int) -> Problem:
    h = w - 30
    return Problem(
        arrays={"in": reals(h, w), "out": zeros(w, h)},
        scalars={"w": np.int32(w), "h": np.int32(h)},
        launches=[Launch("tr_naive", (blocks(w, 32), blocks(h, 8)), (32, 8), ("in", "out", "w", "h"))],
        changed=["out"],
    )


@case(full=800, quick=50)
def erode(w: int) -> Problem:
    h = w - 21
    return Problem(
        arrays={"in": integers(0, 256, h, w, kind="u1"), "out": zeros(h, w, kind="u1")},
        scalars={"w": np.int32(w), "h": np.int32(h), "radius": np.int32(2)},
        launches=[
            Launch("erode", (blocks(w, 16), blocks(h, 16)), (16, 16), ("in", "out", "w", "h", "radius"))
        ],
        changed=["out"],
    )


@case(full=56, quick=10)
def avgpool(w: int) -> Problem:
    n, c, h = 4, 16, w + 2
    scalars = {"n": np.int32(n), "c": np.int32(c), "h": np.int32(h), "w": np.int32(w)}
    return Problem(
        arrays={"in": reals(n, c, h, w), "out": zeros(n, c, h // 2, w // 2)},
        scalars=scalars,
        launches=[Launch("avgpool", blocks(n * c * (h // 2) * (w // 2)), 256, ("in", "out", *scalars))],
        changed=["out"],
        tolerance=1e-5,
    )


@case(full=1 << 20, quick=5000)
def chunks(n: int) -> Problem:
    length = 100
    threads = blocks(n, length)
    return Problem(
        arrays={"in": integers(0, 100, n), "out": zeros(n, kind="i4"), "sums": zeros(threads, kind="i4")},
        scalars={"n": np.int32(n), "length": np.int32(length)},
        launches=[Launch("chunks", blocks(threads), 256, ("in", "out", "sums", "n", "length"))],
        changed=["out", "sums"],
    )


@case(full=64, quick=3)
def bn_stats(c: int) -> Problem:
    n, hw = 16, 28 * 28
    return Problem(
        arrays={"x": reals(n, c, hw), "mean": zeros(c), "var": zeros(c)},
        scalars={"n": np.int32(n), "c": np.int32(c), "hw": np.int32(hw)},
        launches=[Launch("bn_stats", c, 256, ("x", "mean", "var", "n", "c", "hw"))],
        changed=["mean", "var"],
        tolerance=1e-4,
    )


@case(full=2048, quick=30)
def emb_back(places: int) -> Problem:
    c, words = 192, 500
    return Problem(
        arrays={"dtable": zeros(words, c), "words": integers(0, words, places), "dout": reals(places, c)},
        scalars={"places": np.int32(places), "c": np.int32(c)},
        launches=[Launch("emb_back", blocks(places * c), 256, ("dtable", "words", "dout", "places", "c"))],
        changed=["dtable"],
        tolerance=1e-5,
    )


@case(full=700, quick=50)
def life_mod(w: int) -> Problem:
    h = w + 10
    return Problem(
        arrays={"in": integers(0, 2, h, w), "out": zeros(h, w, kind="i4")},
        scalars={"w": np.int32(w), "h": np.int32(h)},
        launches=[Launch("life_mod", (blocks(w, 16), blocks(h, 16)), (16, 16), ("in", "out", "w", "h"))],
        changed=["out"],
    )


@case(full=2000, quick=21)
def rows2d(rows: int) -> Problem:
    columns = 500
    return Problem(
        arrays={"in": reals(rows, columns), "out": zeros(rows)},
        scalars={"rows": np.int32(rows), "columns": np.int32(columns)},
        launches=[Launch("rows2d", blocks(rows, 8), (32, 8), ("in", "out", "rows", "columns"))],
        changed=["out"],
        tolerance=1e-5,
    )


@case(full=1 << 18, quick=3000)
def digits(n: int) -> Problem:
    return Problem(
        arrays={"in": integers(0, 1 << 32, n, kind="u4"), "counts": zeros(16, kind="u4")},
        scalars={"n": np.int32(n)},
        launches=[Launch("digits", 16, 128, ("in", "counts", "n"))],
        changed=["counts"],
    )
