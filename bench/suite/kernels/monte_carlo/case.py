"""Monte Carlo with a generator for each thread: integer shifts, conversions, a short branch."""

import numpy as np
from suite.problem import Array, Function, Jit, Launch, Problem, Real, blocks

SIZES = {"full": 1 << 17, "quick": 1 << 10}
SAMPLES = 256


def problem(n: int, real: Real) -> Problem:
    return Problem(
        arrays={"hits": np.zeros(n, "u4")},
        scalars={"n": np.int32(n), "samples": np.int32(SAMPLES)},
        launches=[Launch("monte_carlo", blocks(n), 256, ("hits", "n", "samples"))],
        expected=lambda: {"hits": hits(n)},
        mismatches=1e-3,
    )


def hits(n: int) -> Array:
    state = np.arange(n, dtype="u4") * np.uint32(2654435761) + np.uint32(12345)
    found = np.zeros(n, "u4")
    for _ in range(SAMPLES):
        squares = np.zeros(n)
        for _ in "xy":
            state = state ^ state << np.uint32(13)
            state ^= state >> np.uint32(17)
            state ^= state << np.uint32(5)
            squares += ((state >> np.uint32(8)) * 2.0**-24) ** 2
        found += squares < 1
    return found


def version(real: Real, njit: Jit) -> Function:
    word, own, scale, one = np.uint32, real.type, real.type(2.0**-24), real.type(1)

    @njit
    def following(s):
        s = word(s ^ word(s << word(13)))
        s = word(s ^ word(s >> word(17)))
        return word(s ^ word(s << word(5)))

    @njit
    def run(hits, n, samples):
        for i in range(n):
            state, inside = word(word(i) * word(2654435761) + word(12345)), word(0)
            for _ in range(samples):
                state = following(state)
                x = own(state >> word(8)) * scale
                state = following(state)
                y = own(state >> word(8)) * scale
                if x * x + y * y < one:
                    inside = word(inside + word(1))
            hits[i] = inside

    return run
