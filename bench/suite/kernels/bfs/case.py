"""Breadth-first search by levels on a random graph."""

import numpy as np
from suite.problem import Array, Function, Jit, Launch, Problem, Real, blocks

SIZES = {"full": 1 << 20, "quick": 1 << 10}


def problem(n: int, real: Real) -> Problem:
    generator = np.random.default_rng(11)
    degrees = generator.integers(2, 15, n)
    starts = np.concatenate(([0], np.cumsum(degrees))).astype("i4")
    targets = generator.integers(0, n, starts[-1], "i4")
    levels = np.full(n, -1, "i4")
    levels[0] = 0
    answer, depth = search(np.repeat(np.arange(n), degrees), targets, levels)
    arrays = {"starts": starts, "targets": targets, "levels": levels}
    return Problem(
        arrays=arrays,
        scalars={"n": np.int32(n), "depth": np.int32(depth)},
        launches=[Launch("bfs_level", blocks(n), 256, (*arrays, "n", np.int32(d))) for d in range(depth)],
        expected=lambda: {"levels": answer},
        changed=("levels",),
    )


def search(sources: Array, targets: Array, first: Array) -> tuple[Array, int]:
    """The level of every node, and how many levels have edges to follow."""
    levels, depth = first.copy(), 0
    while np.any(levels == depth):
        reached = targets[levels[sources] == depth]
        levels[reached[levels[reached] < 0]] = depth + 1
        depth += 1
    return levels, depth


def version(real: Real, njit: Jit) -> Function:
    @njit
    def run(starts, targets, levels, n, depth):
        for level in range(depth):
            for node in range(n):
                if levels[node] == level:
                    for i in range(starts[node], starts[node + 1]):
                        if levels[targets[i]] < 0:
                            levels[targets[i]] = level + 1

    return run
