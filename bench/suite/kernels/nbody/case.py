"""Gravity between all pairs: arithmetic and a reciprocal square root, tiles in shared memory."""

from math import sqrt

import numpy as np
from suite.problem import Array, Function, Jit, Launch, Problem, Real, random

SIZES = {"full": 8192, "quick": 512}
CHECKED = 256


def problem(n: int, real: Real) -> Problem:
    bodies = {name: (random(n, seed) * 2 - 1).astype(real) for seed, name in enumerate(("px", "py", "pz"))}
    bodies["mass"] = random(n, 4).astype(real)
    results = {name: np.zeros(n, real) for name in ("ax", "ay", "az")}
    return Problem(
        arrays={**bodies, **results},
        scalars={"n": np.int32(n)},
        launches=[Launch("nbody", n // 256, 256, (*bodies, *results, "n"))],
        expected=lambda: pulls(*(values.astype("f8") for values in bodies.values())),
        sample=slice(CHECKED),
        tolerance=2e-5 if real == np.float32 else 1e-9,
    )


def pulls(px: Array, py: Array, pz: Array, mass: Array) -> dict[str, Array]:
    dx, dy, dz = (p[None, :] - p[:CHECKED, None] for p in (px, py, pz))
    pull = mass * (dx * dx + dy * dy + dz * dz + 0.01) ** -1.5
    return {name: (d * pull).sum(1) for name, d in (("ax", dx), ("ay", dy), ("az", dz))}


def version(real: Real, njit: Jit) -> Function:
    one, softening, zero = real.type(1), real.type(0.01), real.type(0)

    @njit
    def run(px, py, pz, mass, ax, ay, az, n):
        for i in range(n):
            sx, sy, sz = zero, zero, zero
            for j in range(n):
                dx, dy, dz = px[j] - px[i], py[j] - py[i], pz[j] - pz[i]
                inverse = one / sqrt(dx * dx + dy * dy + dz * dz + softening)
                pull = mass[j] * inverse * inverse * inverse
                sx += dx * pull
                sy += dy * pull
                sz += dz * pull
            ax[i], ay[i], az[i] = sx, sy, sz

    return run
