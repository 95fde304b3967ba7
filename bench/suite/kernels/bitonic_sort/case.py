"""Bitonic sort of integers: many short launches, selects, shared memory."""

import numpy as np
from suite.problem import Function, Jit, Launch, Problem, Real

SIZES = {"full": 1 << 20, "quick": 1 << 12}


def problem(n: int, real: Real) -> Problem:
    data = np.random.default_rng(5).integers(0, 2**32, n, "u4")
    return Problem(
        arrays={"data": data},
        scalars={"n": np.uint32(n)},
        launches=network(n),
        expected=lambda: {"data": np.sort(data)},
        changed=("data",),
    )


def network(n: int) -> list[Launch]:
    launches: list[Launch] = []
    width = 2
    while width <= n:
        distance = width // 2
        while distance > 256:
            arguments = ("data", np.uint32(distance), np.uint32(width))
            launches.append(Launch("far_step", n // 512, 256, arguments))
            distance //= 2
        launches.append(Launch("near_steps", n // 512, 256, ("data", np.uint32(distance), np.uint32(width))))
        width *= 2
    return launches


def version(real: Real, njit: Jit) -> Function:
    @njit
    def run(data, n):
        width = 2
        while width <= n:
            distance = width // 2
            while distance > 0:
                for start in range(0, n, 2 * distance):
                    up = (start & width) == 0
                    for i in range(start, start + distance):
                        a, b = data[i], data[i + distance]
                        low, high = min(a, b), max(a, b)
                        data[i] = low if up else high
                        data[i + distance] = high if up else low
                distance //= 2
            width *= 2

    return run
