"""Ciphers and prime numbers."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, integers, zeros


def doubled(x: int) -> int:
    """Twice a number of AES's field."""
    return (x << 1) ^ (0x11B if x & 0x80 else 0)


def sbox() -> list[int]:
    """AES's substitution, by its definition: the inverse in the field of 256, then an affine map of bits."""
    powers, logs, x = [0] * 255, [0] * 256, 1
    for k in range(255):
        powers[k], logs[x] = x, k
        x ^= doubled(x)
    inverse = [0] + [powers[-logs[x] % 255] for x in range(1, 256)]
    return [_affine(x) for x in inverse]


def _affine(x: int) -> int:
    found = 0x63
    for k in range(5):
        found ^= (x << k | x >> (8 - k)) & 0xFF
    return found


def tables(box: list[int]) -> Array:
    """Substitution and mixing of columns in one, for each of four rows."""
    words = [doubled(s) << 24 | s << 16 | s << 8 | (doubled(s) ^ s) for s in box]
    rotated = [[(w >> 8 * r | w << (32 - 8 * r)) & 0xFFFFFFFF for w in words] for r in range(4)]
    return np.array(rotated, "u4")


@case(full=1 << 17, quick=700)
def aes_tables(n: int) -> Problem:
    """Blocks of AES-128, whose tables lie in shared memory."""
    box = sbox()
    return Problem(
        arrays={
            "tables": tables(box),
            "sbox": np.array(box, "u1"),
            "keys": integers(0, 2**31 - 1, 44, kind="u4"),
            "out": zeros(n, 4, kind="u4"),
        },
        scalars={"n": np.int32(n)},
        launches=[Launch("aes", blocks(n), 256, ("tables", "sbox", "keys", "out", "n"))],
        changed=["out"],
    )


@case(full=1 << 15, quick=500)
def modexp(count: int) -> Problem:
    """Powers of 64-bit numbers, by their high and low products."""
    modulus = 2**61 - 1
    scalars = {
        "n": np.uint64(modulus),
        "inverse": np.uint64(pow(modulus, -1, 2**64)),
        "one": np.uint64(2**64 % modulus),
        "exponent": np.uint32(0xC0FFEE11),
        "count": np.int32(count),
    }
    return Problem(
        arrays={"base": integers(1, 2**60, count, kind="u8"), "out": zeros(count, kind="u8")},
        scalars=scalars,
        launches=[Launch("modexp", blocks(count), 256, ("base", "out", *scalars))],
        changed=["out"],
    )


@case(full=600, quick=3)
def sieve(segments: int) -> Problem:
    """Eratosthenes' sieve in segments of 16,384 bytes of shared memory."""
    limit = int(((segments + 1) * 16384) ** 0.5) + 1
    primes = np.array([p for p in range(2, limit + 1) if all(p % q for q in range(2, int(p**0.5) + 1))], "i4")
    return Problem(
        arrays={"primes": primes, "found": zeros(segments, kind="i4")},
        scalars={"count": np.int32(len(primes)), "segments": np.int32(segments)},
        launches=[Launch("sieve", segments, 256, ("primes", "count", "found"))],
        changed=["found"],
    )
