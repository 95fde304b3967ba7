"""Integers: hashes, codes, arithmetic modulo a prime, bits."""

from __future__ import annotations

import numpy as np
from suite.problem import Launch, Problem, blocks

from survey.case import case, integers, zeros


@case(full=4096, quick=70)
def keccak(n: int) -> Problem:
    """The permutation of SHA-3, on four words of each thread."""
    return Problem(
        arrays={
            "words": integers(0, 1 << 62, 4, n, kind="u8"), "rounds": integers(0, 1 << 61, 24, kind="u8"),
            "out": zeros(4, n, kind="u8"),
        },
        scalars={"n": np.int32(n)},
        launches=[Launch("keccak", blocks(n, 128), 128, ("words", "rounds", "out", "n"))],
        changed=["out"],
    )  # fmt: skip


@case(full=1 << 15, quick=64)
def ntt(n: int) -> Problem:
    """A transform modulo a prime, a launch for each of its steps."""
    prime = 998244353
    root = pow(3, (prime - 1) // n, prime)
    powers = np.array([pow(root, i, prime) for i in range(n // 2)], "u4")
    halves = [1 << i for i in range(n.bit_length() - 1)]
    return Problem(
        arrays={"d": integers(0, prime, n, kind="u4"), "w": powers},
        scalars={"p": np.uint32(prime), "n": np.int32(n)},
        launches=[
            Launch(
                "pass", blocks(n // 2), 256, ("d", "w", np.int32(half), np.int32(n // 2 // half), "p", "n")
            )
            for half in halves
        ],
        changed=["d"],
    )


@case(full=1 << 17, quick=500)
def halton(n: int) -> Problem:
    return Problem(
        arrays={"o": zeros(2, n)},
        scalars={"n": np.int32(n)},
        launches=[Launch("halton", blocks(n), 256, ("o", "n"))],
        changed=["o"],
        tolerance=1e-5,
    )


@case(full=1 << 20, quick=1000)
def unpack(n: int) -> Problem:
    """Numbers of eleven bits."""
    bits = 11
    return Problem(
        arrays={"a": integers(0, 1 << 31, n * bits // 32 + 2, kind="u4"), "o": zeros(n, kind="u4")},
        scalars={"n": np.int32(n), "bits": np.int32(bits)},
        launches=[Launch("unpack", blocks(n), 256, ("a", "o", "n", "bits"))],
        changed=["o"],
    )


@case(full=1 << 18, quick=700)
def base64(n: int) -> Problem:
    return Problem(
        arrays={
            "a": integers(0, 256, n, 3, kind="u1"), "o": zeros(n, 4, kind="u1"),
            "table": np.arange(48, 112).astype("u1"),
        },
        scalars={"n": np.int32(n)},
        launches=[Launch("encode", blocks(n), 256, ("a", "o", "table", "n"))],
        changed=["o"],
    )  # fmt: skip


@case(full=1 << 20, quick=1000)
def ballot(n: int) -> Problem:
    """A bit for each number, and how many are set in a word."""
    words = -(-n // 32)
    return Problem(
        arrays={
            "a": integers(0, 1000, n), "bits": zeros(words, kind="u4"), "counts": zeros(words, kind="i4"),
        },
        scalars={"n": np.int32(n), "limit": np.int32(400)},
        launches=[Launch("flags", words // 8 + (words % 8 > 0), 256, ("a", "bits", "counts", "n", "limit"))],
        changed=["bits", "counts"],
    )  # fmt: skip


@case(full=1024, quick=40)
def romix(n: int) -> Problem:
    """Words of 16 bytes, which each thread writes to 4 KB of its own and reads in another order."""
    places = 256
    return Problem(
        arrays={
            "in": integers(0, 1 << 32, n, 4, kind="u4"), "out": zeros(n, 4, kind="u4"),
            "pad": zeros(n, places, 4, kind="u4"),
        },
        scalars={"n": np.int32(n), "places": np.int32(places)},
        launches=[Launch("romix", blocks(n, 64), 64, ("in", "out", "pad", "n", "places"))],
        changed=["out", "pad"],
    )  # fmt: skip
