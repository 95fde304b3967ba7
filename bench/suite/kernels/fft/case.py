"""Fourier transforms of 1024 points in shared memory."""

from math import pi

import numpy as np
from suite.problem import Array, Function, Jit, Launch, Problem, Real, random

SIZES = {"full": 4096, "quick": 16}
POINTS = 1024


def problem(batch: int, real: Real) -> Problem:
    re, im = (random(batch * POINTS, s).astype(real).reshape(batch, POINTS) for s in (1, 2))
    angles = np.arange(POINTS // 2) * (2 * pi / POINTS)
    tables = {"cosines": np.cos(angles).astype(real), "sines": np.sin(angles).astype(real)}
    return Problem(
        arrays={"re": re, "im": im, **tables},
        scalars={"batch": np.int32(batch)},
        launches=[Launch("fft", batch, POINTS // 2, ("re", "im", "cosines", "sines"))],
        expected=lambda: transforms(re, im),
        changed=("re", "im"),
        tolerance=1e-5,
    )


def transforms(re: Array, im: Array) -> dict[str, Array]:
    found = np.fft.fft(re.astype("f8") + 1j * im)
    return {"re": found.real, "im": found.imag}


def version(real: Real, njit: Jit) -> Function:
    @njit
    def run(re, im, cosines, sines, batch):
        for f in range(batch):
            x, y, j = re[f], im[f], 0
            for i in range(1024):
                if i < j:
                    x[i], x[j] = x[j], x[i]
                    y[i], y[j] = y[j], y[i]
                bit = 512
                while j & bit:
                    j ^= bit
                    bit >>= 1
                j |= bit
            half = 1
            while half < 1024:
                for start in range(0, 1024, 2 * half):
                    for k in range(half):
                        a, b = start + k, start + k + half
                        c, s = cosines[k * (512 // half)], sines[k * (512 // half)]
                        u, v = x[b] * c + y[b] * s, y[b] * c - x[b] * s
                        ax, ay = x[a], y[a]
                        x[a], y[a], x[b], y[b] = ax + u, ay + v, ax - u, ay - v
                half *= 2

    return run
