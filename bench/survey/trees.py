"""Trees, graphs and scattered atomic operations."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, integers, reals, zeros

NODE = np.dtype([("low", "f4", 3), ("first", "i4"), ("high", "f4", 3), ("count", "i4")])


def boxes(spheres: Array) -> tuple[Array, Array]:
    """A tree of boxes, four spheres at most in each leaf; children side by side. The spheres in its order."""
    nodes, order = [None], list[Array]()
    waiting = [(0, np.arange(len(spheres)))]
    while waiting:
        at, inside = waiting.pop()
        centres, sizes = spheres[inside, :3], spheres[inside, 3:]
        low, high = (centres - sizes).min(0), (centres + sizes).max(0)
        if len(inside) <= 4:
            nodes[at] = (low, sum(map(len, order)), high, len(inside))
            order.append(inside)
            continue
        inside = inside[np.argsort(centres[:, np.argmax(high - low)])]
        nodes[at] = (low, len(nodes), high, 0)
        waiting += [(len(nodes), inside[: len(inside) // 2]), (len(nodes) + 1, inside[len(inside) // 2 :])]
        nodes += [None, None]
    return np.array(nodes, NODE), spheres[np.concatenate(order)]


@case(full=256, quick=21)
def bvh(w: int) -> Problem:
    """Rays through a tree of 600 spheres."""
    h, spheres = w - 5, reals(600, 4)
    spheres[:, 3] = 0.01 + 0.03 * spheres[:, 3]
    nodes, spheres = boxes(spheres)
    return Problem(
        arrays={"nodes": nodes.view("u4"), "spheres": spheres, "depth": zeros(h, w)},
        scalars={"w": np.int32(w), "h": np.int32(h)},
        launches=[
            Launch("trace", (blocks(w, 8), blocks(h, 8)), (8, 8), ("nodes", "spheres", "depth", "w", "h"))
        ],
        changed=["depth"],
        tolerance=1e-6,
        mismatches=0.002,
    )


@case(full=1 << 18, quick=1000)
def components(n: int) -> Problem:
    """Components of a graph with as many edges as points."""
    names = {"count": n, "n": n}
    return Problem(
        arrays={"edges": integers(0, n, n, 2), "parent": np.arange(n, dtype="i4")},
        scalars={name: np.int32(size) for name, size in names.items()},
        launches=[
            Launch("hook", blocks(n), 256, ("edges", "parent", "count")),
            Launch("flatten", blocks(n), 256, ("parent", "n")),
        ],
        changed=["parent"],
    )


def placed(n: int) -> Array:
    """Three rows of queens that do not attack each other: columns, diagonals as the fourth row sees them."""
    boards = [(0, 0, 0, 0)]
    for _ in range(3):
        boards = [
            (columns | queen, (left | queen) << 1, (right | queen) >> 1, 0)
            for columns, left, right, _ in boards
            for queen in (1 << k for k in range(n))
            if not (columns | left | right) & queen
        ]
    return np.array(boards, "u4")


@case(full=12, quick=6)
def queens(n: int) -> Problem:
    """All ways to go on from three queens."""
    starts = placed(n)
    count = len(starts)
    scalars = {"n": np.int32(count), "rows": np.int32(n - 3), "full": np.uint32((1 << n) - 1)}
    return Problem(
        arrays={"starts": starts, "counts": zeros(count, kind="i4")},
        scalars=scalars,
        launches=[Launch("queens", blocks(count, 64), 64, ("starts", "counts", *scalars))],
        changed=["counts"],
    )


@case(full=1 << 20, quick=5000)
def splat(n: int) -> Problem:
    """Points into a buffer of depths, by the least of 64 bits."""
    w, h = 320, 240
    points = reals(n, 4)
    points[:, :2] = 4 * points[:, :2] - 2
    return Problem(
        arrays={"points": points, "buffer": np.full(w * h, 2**64 - 1, "u8")},
        scalars={"n": np.int32(n), "w": np.int32(w), "h": np.int32(h)},
        launches=[Launch("splat", blocks(n), 256, ("points", "buffer", "n", "w", "h"))],
        changed=["buffer"],
    )


@case(full=1 << 21, quick=5000)
def cas_max(n: int) -> Problem:
    """The greatest of each of 5,000 groups, by compare-and-swap."""
    return Problem(
        arrays={"v": reals(n) - 0.5, "group": integers(0, 5000, n), "most": np.full(5000, -1, "f4")},
        scalars={"n": np.int32(n)},
        launches=[Launch("group_max", blocks(n), 256, ("v", "group", "most", "n"))],
        changed=["most"],
    )
