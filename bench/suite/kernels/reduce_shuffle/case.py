"""Sums of every 1024 elements, by warp shuffles."""

from suite.kernels.reduce_tree import case as tree
from suite.problem import Problem, Real

SIZES = tree.SIZES


def problem(n: int, real: Real) -> Problem:
    return tree.problem(n, real, "reduce_shuffle")
