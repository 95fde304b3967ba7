"""Prime numbers, and powers modulo one."""

from __future__ import annotations

import numpy as np
from suite.problem import Launch, Problem, blocks

from survey.case import case, integers, zeros


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
