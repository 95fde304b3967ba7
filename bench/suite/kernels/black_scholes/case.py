"""European option prices: exponentials, logarithms, divisions, square roots."""

from math import exp, log, sqrt

import numpy as np
from suite.problem import Array, Function, Jit, Launch, Problem, Real, blocks, random

SIZES = {"full": 1 << 20, "quick": 1 << 13}
COEFFICIENTS = (0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429)


def problem(n: int, real: Real) -> Problem:
    spot = (5 + 25 * random(n, 1)).astype(real)
    strike = (1 + 99 * random(n, 2)).astype(real)
    years = (0.25 + 9.75 * random(n, 3)).astype(real)
    rate, volatility = real.type(0.02), real.type(0.3)
    arrays = {"spot": spot, "strike": strike, "years": years}
    arrays |= {"call": np.zeros(n, real), "put": np.zeros(n, real)}
    scalars = {"n": np.int32(n), "rate": rate, "volatility": volatility}
    return Problem(
        arrays=arrays,
        scalars=scalars,
        launches=[Launch("black_scholes", blocks(n), 256, (*arrays, *scalars))],
        expected=lambda: prices(spot, strike, years, float(rate), float(volatility)),
        tolerance=1e-5 if real == np.float32 else 1e-12,
    )


def prices(spot: Array, strike: Array, years: Array, rate: float, volatility: float) -> dict[str, Array]:
    s, k, t = (values.astype("f8") for values in (spot, strike, years))
    root = volatility * np.sqrt(t)
    d1 = (np.log(s / k) + (rate + 0.5 * volatility**2) * t) / root
    n1, n2, discounted = normal(d1), normal(d1 - root), k * np.exp(-rate * t)
    return {"call": s * n1 - discounted * n2, "put": discounted * (1 - n2) - s * (1 - n1)}


def normal(x: Array) -> Array:
    t = 1 / (1 + 0.2316419 * abs(x))
    tail = 0.3989422804014327 * np.exp(-0.5 * x * x) * t * np.polyval(COEFFICIENTS[::-1], t)
    return np.where(x < 0, tail, 1 - tail)


def version(real: Real, njit: Jit) -> Function:
    f = real.type  # constants of the arrays' own type: Numba computes in double precision otherwise
    c0, c1, c2, c3, c4 = (f(c) for c in COEFFICIENTS)
    one, half, scale, slope = f(1), f(0.5), f(0.3989422804014327), f(0.2316419)

    @njit
    def normal(x):
        t = one / (one + slope * abs(x))
        total = c0 + t * (c1 + t * (c2 + t * (c3 + t * c4)))
        tail = scale * exp(-half * x * x) * t * total
        return tail if x < 0 else one - tail

    @njit
    def run(spot, strike, years, call, put, n, rate, volatility):
        for i in range(n):
            s, k, t = spot[i], strike[i], years[i]
            root = volatility * sqrt(t)
            d1 = (log(s / k) + (rate + half * volatility * volatility) * t) / root
            discounted = k * exp(-rate * t)
            n1, n2 = normal(d1), normal(d1 - root)
            call[i] = s * n1 - discounted * n2
            put[i] = discounted * (one - n2) - s * (one - n1)

    return run
