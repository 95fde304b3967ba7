"""A divergent loop: every pixel has its own number of steps."""

import numpy as np
from suite.problem import Array, Function, Jit, Launch, Problem, Real

SIZES = {"full": 2048, "quick": 128}
LIMIT = 256
EVERY = 8


def problem(n: int, real: Real) -> Problem:
    left, top, scale = real.type(-2), real.type(-1.25), real.type(2.5 / n)
    return Problem(
        arrays={"steps": np.zeros((n, n), "i4")},
        scalars={"width": np.int32(n), "height": np.int32(n), "left": left, "top": top, "scale": scale,
                 "limit": np.int32(LIMIT)},
        launches=[
            Launch("mandelbrot", (n // 32, n // 8), (32, 8),
                   ("steps", "width", "height", "left", "top", "scale", "limit")),
        ],
        expected=lambda: {"steps": steps(n, left, top, scale)},
        sample=slice(None, None, EVERY),
        mismatches=0.01,
    )  # fmt: skip


def steps(n: int, left: np.generic, top: np.generic, scale: np.generic) -> Array:
    cx = (left + np.arange(0, n, EVERY) * scale).astype(scale.dtype)
    c = (cx[None, :] + 1j * (top + np.arange(n) * scale).astype(scale.dtype)[:, None]).ravel()
    found, z, where = np.zeros(c.size, "i4"), np.zeros_like(c), np.arange(c.size)
    for _ in range(LIMIT):
        inside = z.real**2 + z.imag**2 <= 4
        z, c, where = z[inside], c[inside], where[inside]
        found[where] += 1
        z = z * z + c
    return found.reshape(n, -1)


def version(real: Real, njit: Jit) -> Function:
    zero, two, four, own = real.type(0), real.type(2), real.type(4), real.type

    @njit
    def run(steps, width, height, left, top, scale, limit):
        for row in range(height):
            cy = top + own(row) * scale
            for column in range(width):
                cx, x, y, i = left + own(column) * scale, zero, zero, 0
                while i < limit and x * x + y * y <= four:
                    x, y = x * x - y * y + cx, two * x * y + cy
                    i += 1
                steps[row, column] = i

    return run
