"""Fourteen kernels by what programs are made of: tiles of lanes, aggregated atomics, templates, recursion,
pointers to functions, virtual functions, queues, linked lists, structures, interpreters, doubles, hashes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, integers, reals, zeros


@case(full=6000, quick=37)
def cg_softmax(rows: int) -> Problem:
    """Tiles whose row is none leave, and no row is a multiple of sixteen."""
    classes = 100 if rows > 100 else 45
    numbers = {"rows": np.int32(rows), "classes": np.int32(classes)}
    names = ("logits", "labels", "probs", "loss", "predicted")
    return Problem(
        arrays={
            "logits": reals(rows, classes) * 12 - np.float32(6),
            "labels": integers(0, classes, rows),
            "probs": zeros(rows, classes), "loss": zeros(rows), "predicted": zeros(rows, kind="i4"),
        },
        scalars=numbers,
        launches=[Launch("cg_softmax", blocks(rows, 16), 256, (*names, *numbers))],
        changed=["probs", "loss", "predicted"],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=400_000, quick=3003)
def filter_agg(n: int) -> Problem:
    """A third of the rows is kept, in any order."""
    limits = {"n": np.int32(n), "low": np.int32(200), "high": np.int32(700), "least": np.float32(0.33)}
    names = ("key", "value", "kept_row", "kept_value", "counter")
    return Problem(
        arrays={
            "key": integers(0, 1000, n), "value": reals(n), "kept_row": zeros(n, kind="i4"),
            "kept_value": zeros(n), "counter": zeros(1, kind="i4"),
        },
        scalars=limits,
        launches=[Launch("filter_agg", min(blocks(n), 160), 256, (*names, *limits))],
        changed=["kept_row", "kept_value", "counter"],
        unordered=["kept_row", "kept_value"],
    )  # fmt: skip


@case(full=30_000, quick=700)
def specials(n: int) -> Problem:
    """Phases from 1 to 10^12, of which one in five is past what three constants reduce."""
    numbers = dict(zip(("mu", "sigma", "exponent"), map(np.float64, (0.3, 1.7, 0.05))))
    return Problem(
        arrays={
            "x": reals(n, kind="f8") * 6 - 3,
            "shape": 0.1 + 20 * reals(n, 1, kind="f8")[:, 0],
            "phase": 10 ** (12 * reals(n, 2, kind="f8")[:, 0]),
            "out": zeros(n, kind="f8"),
        },
        scalars={"n": np.int32(n), **numbers},
        launches=[Launch("specials", blocks(n), 256, ("x", "shape", "phase", "out", "n", *numbers))],
        changed=["out"],
        tolerance=1e-13,
    )


@case(full=128, quick=37)
def newton3(width: int) -> Problem:
    """Two to forty steps, with divisions, where basins meet by no rule."""
    height = width * 3 // 4
    numbers = {
        "width": np.int32(width), "height": np.int32(height), "left": np.float64(-2.01),
        "top": np.float64(1.503), "pixel": np.float64(4 / width), "max_steps": np.int32(40),
    }  # fmt: skip
    return Problem(
        arrays={"root": zeros(height, width, kind="u1"), "steps": zeros(height, width, kind="i4")},
        scalars=numbers,
        launches=[
            Launch("newton3", (blocks(width, 16), blocks(height, 16)), (16, 16), ("root", "steps", *numbers))
        ],
        changed=["root", "steps"],
        mismatches=0.005,
    )


@case(full=30_000, quick=700)
def stack_vm(rows: int) -> Problem:
    """One expression that chooses, another with a loop."""
    columns = 7
    table = reals(rows, columns) * np.float32([12, 4, 1, 1, 1, 1, 1])
    numbers = {"rows": np.int32(rows), "columns": np.int32(columns)}
    return Problem(
        arrays={"table": table, "first": zeros(rows), "second": zeros(rows)},
        scalars=numbers,
        launches=[
            Launch("stack_vm", blocks(rows), 256, ("table", result, *numbers, np.int32(start)))
            for result, start in (("first", 0), ("second", 27))
        ],
        changed=["first", "second"],
        tolerance=1e-6,
    )


@case(full=600, quick=75)
def simpson(n: int) -> Problem:
    """Narrow peaks and wide ones: 60 to 570 evaluations, as deep as the peak needs."""
    numbers = {
        "n": np.int32(n), "a": np.float64(0), "b": np.float64(1), "eps": np.float64(1e-8),
        "max_depth": np.int32(20),
    }  # fmt: skip
    names = ("centre", "width", "integral", "evaluations")
    return Problem(
        arrays={
            "centre": reals(n, kind="f8"), "width": 10 ** (-3 * reals(n, 1, kind="f8")[:, 0]),
            "integral": zeros(n, kind="f8"), "evaluations": zeros(n, kind="i4"),
        },
        scalars=numbers,
        launches=[Launch("simpson", blocks(n, 128), 128, (*names, *numbers))],
        changed=["integral", "evaluations"],
        tolerance=1e-10,
        mismatches=0.02,
    )  # fmt: skip


@case(full=200, quick=9)
def fn_table(neurons: int) -> Problem:
    """The same function for all threads of a CTA, then another for each thread."""
    batch, nodes, functions = 5 * neurons + 3, 200 * neurons + 1, 6
    return Problem(
        arrays={
            "in": reals(neurons, batch) * 6 - np.float32(3),
            "kind": integers(0, functions, neurons),
            "bias": reals(neurons) - np.float32(0.5),
            "out": zeros(neurons, batch),
            "node_in": reals(nodes) * 6 - np.float32(3),
            "node_kind": integers(0, functions, nodes, kind="u1"),
            "node_out": zeros(nodes),
        },
        scalars={"neurons": np.int32(neurons), "batch": np.int32(batch), "nodes": np.int32(nodes)},
        launches=[
            Launch("activate_neurons", (blocks(batch), neurons), 256, ("in", "kind", "bias", "out", "batch")),
            Launch("activate_nodes", blocks(nodes), 256, ("node_in", "node_kind", "node_out", "nodes")),
        ],
        changed=["out", "node_out"],
        tolerance=1e-5,
    )


@case(full=96, quick=37)
def virtuals(width: int) -> Problem:
    """Six objects of three classes in each thread's own memory, whose kinds the data give."""
    height = width * 3 // 4
    scene = [
        (0, -1.2, -0.2, 4, 0.8), (2, 0, -1, 0, 0), (1, 1.1, -0.3, 4.5, 0.6), (0, 0.2, 0.5, 6, 1.1),
        (1, -0.4, -0.7, 2.8, 0.3), (0, 0.9, 0.9, 3.2, 0.35),
    ]  # fmt: skip
    size = {"width": np.int32(width), "height": np.int32(height), "max_steps": np.int32(64)}
    return Problem(
        arrays={
            "kinds": np.array([kind for kind, *_ in scene], "i4"),
            "parameters": np.array([numbers for _, *numbers in scene], "f4"),
            "image": zeros(height, width),
        },
        scalars={"shapes": np.int32(len(scene)), **size},
        launches=[
            Launch(
                "virtuals", (blocks(width, 16), blocks(height, 16)), (16, 16),
                ("kinds", "parameters", "shapes", "image", *size),
            )
        ],
        changed=["image"],
        tolerance=1e-3,
        mismatches=0.01,
    )  # fmt: skip


def rows_of(sources: Array, targets: Array, n: int) -> tuple[Array, Array]:
    """A graph of edges both ways by rows, each neighbour once: where rows begin, and the neighbours."""
    key = np.unique(np.concatenate([sources * n + targets, targets * n + sources]))
    key = key[key // n != key % n]
    return np.searchsorted(key, np.arange(n + 1) * n).astype("i4"), (key % n).astype("i4")


def frontiers(starts: Array, neighbours: Array, source: int) -> list[int]:
    """How many vertices are at each distance."""
    distance = np.full(len(starts) - 1, -1)
    distance[source] = 0
    sizes, reached = list[int](), np.array([source])
    while len(reached):
        sizes.append(len(reached))
        found = np.concatenate([neighbours[starts[u] : starts[u + 1]] for u in reached])
        reached = np.unique(found[distance[found] < 0])
        distance[reached] = len(sizes)
    return sizes


@case(full=20_000, quick=900)
def bfs_queue(n: int) -> Problem:
    """Two queues in turn. Most edges lead near by, so that there are some 25 levels."""
    rng = np.random.default_rng(31)
    u = np.sort(rng.integers(0, n, 4 * n))
    v = np.clip(u + rng.normal(0, n / 60, len(u)).astype("i8"), 0, n - 1)
    starts, neighbours = rows_of(u, v, n)
    source = int(neighbours[starts[n // 3]])
    sizes = frontiers(starts, neighbours, source)
    distance, counts, queue = np.full(n, -1, "i4"), zeros(len(sizes) + 1, kind="i4"), zeros(n, kind="i4")
    distance[source], counts[0], queue[0] = 0, 1, source
    queues = ("queue", "other_queue")
    return Problem(
        arrays={
            "row_start": starts, "neighbours": neighbours, "distance": distance, "counts": counts,
            "queue": queue, "other_queue": zeros(n, kind="i4"),
        },
        scalars={"vertices": np.int32(n), "source": np.int32(source)},
        launches=[
            Launch(
                "bfs_queue", blocks(size), 256,
                (
                    "row_start", "neighbours", "distance", queues[k % 2], np.int32(size), queues[1 - k % 2],
                    "counts", np.int32(k),
                ),
            )
            for k, size in enumerate(sizes)
        ],
        changed=["distance", "counts", "queue", "other_queue"],
        native=("row_start", "neighbours", "distance", "counts"),
    )  # fmt: skip


@case(full=30_000, quick=900)
def chained(n: int) -> Problem:
    """One or two nodes in most lists; keys are there up to seven times, two of three asked for never."""
    queries, buckets = 3 * n // 2 + 7, 1 << (n - 1).bit_length()
    mask = np.uint32(buckets - 1)
    arrays = {
        "key": integers(0, n, n, kind="u4") * np.uint32(2654435761),
        "value": integers(0, 1000, n),
        "query": integers(0, 2 * n, queries, kind="u4") * np.uint32(2654435761),
        "matches": zeros(queries, kind="i4"),
        "total": zeros(queries, kind="i4"),
    }
    return Problem(
        arrays={**arrays, "head": zeros(buckets, kind="i4"), "next": zeros(n, kind="i4")},
        scalars={"n": np.int32(n), "queries": np.int32(queries), "mask": mask},
        launches=[
            Launch("clear_heads", blocks(buckets), 256, ("head", np.int32(buckets))),
            Launch("insert", blocks(n), 256, ("key", "head", "next", "n", "mask")),
            Launch(
                "lookup", blocks(queries), 256,
                ("query", "key", "value", "head", "next", "matches", "total", "queries", "mask"),
            ),
        ],
        changed=["matches", "total", "head", "next"],
        native=[*arrays],
    )  # fmt: skip


@case(full=1000, quick=150)
def boids(n: int) -> Problem:
    """Two steps of structures of 28 bytes; some 30 others are in view, one of them too near."""
    flock = reals(n, 7) * np.float32([10, 10, 10, 2, 2, 2, 1])
    flock[:, 3:6] -= np.float32(1)
    flock[:, 6] += np.float32(0.5)
    names = ("view", "too_near", "apart", "align", "together", "dt")
    numbers = {"n": np.int32(n), **dict(zip(names, map(np.float32, (2, 0.7, 0.05, 0.1, 0.02, 0.1))))}
    return Problem(
        arrays={"flock": flock, "next": zeros(n, 7)},
        scalars=numbers,
        launches=[
            Launch("boids", blocks(n), 256, (*pair, *numbers))
            for pair in (("flock", "next"), ("next", "flock"))
        ],
        changed=["flock", "next"],
        tolerance=1e-4,
        mismatches=0.003,
    )


@case(full=300, quick=45)
def label_image(width: int) -> Problem:
    """Blobs and specks of three kinds, with a spiral that needs long paths."""
    height = width - 7
    y, x = np.mgrid[:height, :width] / np.float32(width)
    image = (np.sin(23 * x) + np.sin(19 * y + 3 * x) > 0.1).astype("u1")
    turn = np.arctan2(y - 0.5, x - 0.5) / (2 * np.pi) + 6 * np.hypot(y - 0.5, x - 0.5)
    image[(turn % 1 < 0.4) & (np.hypot(y - 0.5, x - 0.5) < 0.4)] = 2
    specks = reals(height, width) < 0.08
    image[specks] = integers(0, 3, height, width, kind="u1")[specks]
    grid, block = (blocks(width, 16), blocks(height, 16)), (16, 16)
    size = {"width": np.int32(width), "height": np.int32(height)}
    return Problem(
        arrays={"image": image, "label": zeros(height, width, kind="i4"), "roots": zeros(1, kind="i4")},
        scalars=size,
        launches=[
            Launch("label_start", grid, block, ("image", "label", *size)),
            Launch("label_unite", grid, block, ("image", "label", *size)),
            Launch("label_flatten", grid, block, ("label", "roots", *size)),
        ],
        changed=["label", "roots"],
    )


def colours_of(starts: Array, columns: Array) -> Array:
    """Each row's colour: the first that none of the rows before it has among those that it needs."""
    colour = np.full(len(starts) - 1, -1, "i4")
    for row in range(len(colour)):
        taken = {int(c) for c in colour[columns[starts[row] : starts[row + 1]]]}
        colour[row] = next(k for k in range(len(taken) + 1) if k not in taken)
    return colour


@case(full=150, quick=21)
def gs_colours(side: int) -> Problem:
    """Four sweeps of a plane with some further edges, for which four or five colours do."""
    n, sweeps = side * (side - 3), 4
    rng = np.random.default_rng(32)
    here = np.arange(n)
    right, below = here[here % side < side - 1], here[: n - side]
    u = np.concatenate([right, below, rng.integers(0, n, n // 4)])
    v = np.concatenate([right + 1, below + side, rng.integers(0, n, n // 4)])
    starts, columns = rows_of(u, v, n)
    colour = colours_of(starts, columns)
    rows = np.repeat(here, np.diff(starts))
    rows, columns = np.concatenate([rows, here]), np.concatenate([columns, here.astype("i4")])
    values = np.where(rows == columns, 0.0, -0.1 - rng.random(len(rows)))
    values[-n:] = 0.2 - np.bincount(rows, values, n)
    order = np.lexsort((columns, rows))
    first = np.concatenate([[0], np.cumsum(np.bincount(colour))])
    names = ("row_start", "columns", "values", "rhs", "x", "rows_by_colour")
    return Problem(
        arrays={
            "row_start": np.searchsorted(rows[order], np.arange(n + 1)).astype("i4"),
            "columns": columns[order], "values": values[order], "rhs": reals(n, kind="f8") - 0.5,
            "x": zeros(n, kind="f8"), "rows_by_colour": np.argsort(colour, kind="stable").astype("i4"),
        },
        scalars={"rows": np.int32(n), "sweeps": np.int32(sweeps)},
        launches=[
            Launch("gs_colours", blocks(int(b - a)), 256, (*names, np.int32(a), np.int32(b - a)))
            for a, b in pairwise(first)
        ] * sweeps,
        changed=["x"],
        tolerance=1e-12,
    )  # fmt: skip


@case(full=20_000, quick=900)
def bloom(n: int) -> Problem:
    """Ten bits a key; half of what is asked for is there, and of the rest about one of a hundred seems so."""
    asked = 2 * n + 5
    rng = np.random.default_rng(33)
    keys = rng.integers(0, 1 << 63, n, dtype="u8")
    queries = rng.integers(0, 1 << 63, asked, dtype="u8")
    queries[::2] = rng.choice(keys, len(queries[::2]))
    numbers = {"bits": np.uint64(10 * n - 3), "seed": np.uint64(20_240_601)}
    return Problem(
        arrays={
            "keys": keys, "queries": queries, "filter": zeros(blocks(10 * n, 32), kind="u4"),
            "maybe": zeros(asked, kind="u1"), "count": zeros(1, kind="i4"),
        },
        scalars={"n": np.int32(n), "asked": np.int32(asked), **numbers},
        launches=[
            Launch("bloom_build", blocks(n), 256, ("keys", "filter", "n", *numbers)),
            Launch(
                "bloom_query", blocks(asked), 256,
                ("queries", "filter", "maybe", "count", "asked", *numbers),
            ),
        ],
        changed=["filter", "maybe", "count"],
    )  # fmt: skip
