"""SHA-256: integer additions, rotations, logic."""

import hashlib
from math import isqrt

import numpy as np
from suite.problem import Array, Function, Jit, Launch, Problem, Real, blocks

SIZES = {"full": 1 << 18, "quick": 1 << 11}
LENGTH = 55
CHECKED = 1024


def problem(n: int, real: Real) -> Problem:
    messages = np.zeros((n, 64), "u1")
    messages[:, :LENGTH] = np.random.default_rng(13).integers(0, 256, (n, LENGTH), "u1")
    messages[:, LENGTH] = 0x80
    messages[:, 62:] = divmod(8 * LENGTH, 256)
    words = np.ascontiguousarray(messages.view(">u4").T.astype("u4"))
    return Problem(
        arrays={"words": words, "constants": constants(), "digests": np.zeros((8, n), "u4")},
        scalars={"n": np.int32(n)},
        launches=[Launch("sha256", blocks(n), 256, ("words", "constants", "digests", "n"))],
        expected=lambda: {"digests": digests(messages[:CHECKED, :LENGTH])},
        sample=slice(CHECKED),
    )


def digests(messages: Array) -> Array:
    found = b"".join(hashlib.sha256(m.tobytes()).digest() for m in messages)
    return np.frombuffer(found, ">u4").reshape(-1, 8).T


def constants() -> Array:
    """First bits of the fractions of 64 primes' cube roots and 8 primes' square roots (FIPS 180-4)."""
    primes = [p for p in range(2, 312) if all(p % d for d in range(2, isqrt(p) + 1))]
    cubes = [cube_root(p << 96) % 2**32 for p in primes]
    return np.array(cubes + [isqrt(p << 64) % 2**32 for p in primes[:8]], "u4")


def cube_root(n: int) -> int:
    low, high = 0, 1 << (n.bit_length() // 3 + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**3 <= n else (low, middle)
    return low


def version(real: Real, njit: Jit) -> Function:
    word = np.uint32

    @njit
    def turn(x, by):
        return word(x >> word(by)) | word(x << word(32 - by))

    @njit
    def run(words, constants, digests, n):
        w, s = np.empty(64, np.uint32), np.empty(8, np.uint32)
        for i in range(n):
            for k in range(16):
                w[k] = words[k, i]
            for k in range(16, 64):
                old, late = w[k - 15], w[k - 2]
                near = turn(old, 7) ^ turn(old, 18) ^ (old >> word(3))
                far = turn(late, 17) ^ turn(late, 19) ^ (late >> word(10))
                w[k] = word(w[k - 16] + w[k - 7] + near + far)
            for k in range(8):
                s[k] = constants[64 + k]
            for r in range(64):
                a, e = s[0], s[4]
                choice = (e & s[5]) ^ (~e & s[6])
                first = word(s[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + choice + constants[r] + w[r])
                most = (a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2])
                second = word((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + most)
                for k in range(7, 0, -1):
                    s[k] = s[k - 1]
                s[4] = word(s[4] + first)
                s[0] = word(first + second)
            for k in range(8):
                digests[k, i] = word(s[k] + constants[64 + k])

    return run
