"""Kernels as students, scientists and data engineers write them, measured before anybody looked at the code
made of them: forces in boxes, filters of particles, trees of keys, graphs, digests, equations on grids."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, integers, reals, zeros


@case(full=7, quick=3)
def cell_lj(side: int) -> Problem:
    """Boxes of which no two have as many particles; a CTA of one warp for each."""
    room, size, total = 32, 3.0, side**3
    rng = np.random.default_rng(1)
    counts = rng.integers(6, room + 1, total).astype("i4")
    site = np.arange(room)
    places = np.stack([site % 4 * 0.75, site // 4 % 4 * 0.75, site // 16 * 1.5], 1)
    box = np.arange(total)
    corners = np.stack([box % side, box // side % side, box // side**2], 1) * size
    positions = np.zeros((total, room, 4), "f4")
    for b in range(total):
        chosen = places[rng.permutation(room)[: counts[b]]]
        positions[b, : counts[b], :3] = corners[b] + chosen + 0.2 * rng.random((counts[b], 3))
    names = ("nx", "ny", "nz", "side", "sigma2", "cutoff2")
    numbers = (*map(np.int32, (side,) * 3), *map(np.float32, (size, 0.49, 6.25)))
    return Problem(
        arrays={"position": positions, "count": counts, "force": zeros(total, room, 4)},
        scalars=dict(zip(names, numbers)),
        launches=[Launch("cell_lj", (side,) * 3, room, ("position", "count", "force", *names))],
        changed=["force"],
        tolerance=1e-5,
    )


@case(full=1 << 18, quick=2000)
def kmeans_update(n: int) -> Problem:
    dims, k = 8, 50
    return Problem(
        arrays={
            "points": reals(n, dims), "label": integers(0, k, n), "sums": zeros(k, dims),
            "counts": zeros(k, kind="i4"), "centroids": zeros(k, dims),
        },
        scalars={"n": np.uint64(n), "dims": np.int32(dims), "k": np.int32(k)},
        launches=[
            Launch(
                "gather_sums", min(blocks(n), 128), 256,
                ("points", "label", "sums", "counts", "n", "dims", "k"), 4 * k * (dims + 1),
            ),
            Launch("new_centroids", k, 32, ("sums", "counts", "centroids", "dims", "k")),
        ],
        changed=["sums", "counts", "centroids"],
        tolerance=1e-3,
    )  # fmt: skip


@case(full=96, quick=7)
def gram_schmidt(n: int) -> Problem:
    """Two launches a column, the second of which has less CTAs each time."""
    m = 5 * n + 20
    launches = list[Launch]()
    for k in range(n):
        args = ("a", "r", "m", "n", np.int32(k))
        launches.append(Launch("normalise", 1, 128, args))
        if k < n - 1:
            launches.append(Launch("take_out", n - 1 - k, 128, args))
    return Problem(
        arrays={"a": reals(n, m, kind="f8"), "r": zeros(n, n, kind="f8")},
        scalars={"m": np.int32(m), "n": np.int32(n)},
        launches=launches,
        changed=["a", "r"],
        tolerance=1e-10,
    )


@case(full=500, quick=40)
def adi_sweeps(w: int) -> Problem:
    """Lanes a row apart, then side by side."""
    h = w + 12
    size = ("w", "h", "r")
    return Problem(
        arrays={"u": reals(h, w), "v": zeros(h, w), "c": zeros(h, w), "d": zeros(h, w)},
        scalars={"w": np.int32(w), "h": np.int32(h), "r": np.float32(0.4)},
        launches=[
            Launch("sweep_x", blocks(h, 64), 64, ("u", "v", "c", "d", *size)),
            Launch("sweep_y", blocks(w, 64), 64, ("v", "u", "c", "d", *size)),
        ],
        changed=["u", "v"],
        tolerance=1e-5,
    )


@case(full=4000, quick=300)
def resample(n: int) -> Problem:
    """Searches that end after one word or after all."""
    kind = np.dtype("f8,f8,f4,f4,i4,i4")
    particles = np.zeros(n, kind)
    for name, values in zip(kind.names or (), reals(6, n) * 100):
        particles[name] = values
    weights = reals(n, kind="f8") ** 4
    return Problem(
        arrays={
            "from": particles.view("i4"),
            "to": zeros(n * kind.itemsize // 4, kind="i4"),
            "cumulative": np.cumsum(weights),
            "draw": reals(n + 1, kind="f8")[1:],
        },
        scalars={"n": np.int32(n)},
        launches=[Launch("resample", blocks(n, 128), 128, ("from", "to", "cumulative", "draw", "n"))],
        changed=["to"],
    )


ORDER = 16
TREE_NODE = np.dtype(
    [
        ("key", "i8", ORDER),
        ("child", "i4", ORDER),
        ("count", "i4"),
        ("leaf", "i4"),
        ("next", "i4"),
        ("_", "i4"),
    ]
)


def tree_of(keys: Array, values: Array) -> Array:
    """A B+ tree whose nodes are two thirds full or more, leaves first, the root last. A node's keys are the
    least ones of its children."""
    rng, nodes = np.random.default_rng(3), list[Array]()
    below, first, leaf = keys, values, 1
    while True:
        start, level = 0, list[int]()
        while start < len(below):
            count = min(int(rng.integers(10, ORDER + 1)), len(below) - start)
            node = np.zeros((), TREE_NODE)
            node["key"][:count] = below[start : start + count]
            node["child"][:count] = first[start : start + count]
            start += count
            node["count"], node["leaf"] = count, leaf
            node["next"] = len(nodes) + 1 if leaf and start < len(below) else -1
            level.append(len(nodes))
            nodes.append(node)
        if len(level) == 1:
            return np.array(nodes, TREE_NODE)
        below, first, leaf = np.array([nodes[k]["key"][0] for k in level]), np.array(level), 0


@case(full=20000, quick=300)
def btree_range(queries: int) -> Problem:
    """Keys of 64 bits in nodes of 208 bytes; up to 60 keys in a range."""
    n = 5 * queries
    rng = np.random.default_rng(4)
    keys = np.cumsum(rng.integers(1, 1 << 34, n))
    nodes = tree_of(keys, integers(-1000, 1000, n))
    low = rng.integers(0, keys[-1], queries)
    high = low + rng.integers(0, 60 << 33, queries)
    return Problem(
        arrays={
            "nodes": nodes.view("i8"), "low": low, "high": high, "found": zeros(queries, kind="i4"),
            "sums": zeros(queries, kind="i8"),
        },
        scalars={"root": np.int32(len(nodes) - 1), "queries": np.int32(queries)},
        launches=[
            Launch(
                "btree_range", blocks(queries), 256,
                ("nodes", "low", "high", "found", "sums", "root", "queries"),
            )
        ],
        changed=["found", "sums"],
    )  # fmt: skip


@case(full=2500, quick=200)
def triangles(n: int) -> Problem:
    """Some points have many more neighbours than others; each edge is kept at its end of lower number."""
    rng = np.random.default_rng(6)
    ends = (n * rng.random((12 * n, 2)) ** 2).astype("i4")
    ends.sort(1)
    ends = np.unique(ends[ends[:, 0] < ends[:, 1]], axis=0)
    offsets = np.searchsorted(ends[:, 0], np.arange(n + 1)).astype("i4")
    edges = len(ends)
    return Problem(
        arrays={
            "offsets": offsets, "neighbours": ends[:, 1].copy(), "tail": ends[:, 0].copy(),
            "total": zeros(1, kind="u8"),
        },
        scalars={"edges": np.int32(edges)},
        launches=[
            Launch("triangles", blocks(edges), 256, ("offsets", "neighbours", "tail", "edges", "total"))
        ],
        changed=["total"],
    )  # fmt: skip


@case(full=1 << 14, quick=200)
def md5(n: int) -> Problem:
    """Messages of up to 99 bytes: one block or two."""
    lengths = integers(0, 100, n)
    start = np.concatenate([[0], np.cumsum(lengths)]).astype("u8")
    return Problem(
        arrays={
            "text": integers(32, 127, int(start[-1]), kind="u1"),
            "start": start,
            "digest": zeros(n, 4, kind="u4"),
        },
        scalars={"n": np.int32(n)},
        launches=[Launch("md5", blocks(n, 128), 128, ("text", "start", "digest", "n"))],
        changed=["digest"],
    )


@case(full=100, quick=13)
def heat3d(nx: int) -> Problem:
    """Two steps with sizes and indices of 64 bits, in CTAs of 8 x 8 x 4."""
    ny, nz = nx - 4, nx - 7
    size = ("nx", "ny", "nz", "k")
    grid, block = (blocks(nx, 8), blocks(ny, 8), blocks(nz, 4)), (8, 8, 4)
    return Problem(
        arrays={"a": reals(nz, ny, nx, kind="f8"), "b": zeros(nz, ny, nx, kind="f8")},
        scalars={**dict(zip(size, map(np.uint64, (nx, ny, nz)))), "k": np.float64(0.1)},
        launches=[
            Launch("heat3d", grid, block, ("a", "b", *size)),
            Launch("heat3d", grid, block, ("b", "a", *size)),
        ],
        changed=["a", "b"],
        tolerance=1e-12,
    )


@case(full=400, quick=45)
def shallow(w: int) -> Problem:
    """Structures as values, one of them a parameter, and a time step that comes out of memory."""
    h = w - 10
    grid = np.array([(w, h, 0.4)], "i4,i4,f4")[0]
    flow = ("h", "hu", "hv")
    return Problem(
        arrays={
            "h": reals(h, w) + np.float32(1), "hu": reals(h, w, 1)[..., 0] - np.float32(0.5),
            "hv": reals(h, w, 2)[..., 0] - np.float32(0.5), "new_h": zeros(h, w), "new_hu": zeros(h, w),
            "new_hv": zeros(h, w), "speed": zeros(1),
        },
        scalars={"w": np.int32(w), "height": np.int32(h), "courant": np.float32(0.4)},
        launches=[
            Launch("fastest", min(blocks(w * h), 64), 256, (*flow, "speed", np.int32(w * h))),
            Launch(
                "step", (blocks(w, 16), blocks(h, 16)), (16, 16),
                (*flow, "new_h", "new_hu", "new_hv", "speed", grid),
            ),
        ],
        changed=["new_h", "new_hu", "new_hv", "speed"],
        tolerance=1e-5,
    )  # fmt: skip
