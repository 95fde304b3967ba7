"""Hashes, ciphers, random numbers, integers of many words, signals, matrices turned over."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, integers, reals, zeros


def words(*shape: int) -> Array:
    return integers(0, 1 << 32, *shape, kind="u4")


def crc_table() -> Array:
    table = np.arange(256, dtype="u4")
    for _ in range(8):
        table = np.where(table & 1, (table >> 1) ^ np.uint32(0xEDB88320), table >> 1).astype("u4")
    return table


@case(full=32_768, quick=300)
def crc32(n: int) -> Problem:
    """Of messages of 256 bytes, by a table in shared memory."""
    return Problem(
        arrays={"t": crc_table(), "d": words(n, 64), "o": zeros(n, kind="u4")},
        scalars={"n": np.int32(n), "words": np.int32(64)},
        launches=[Launch("crc", blocks(n), 256, ("t", "d", "o", "n", "words"))],
        changed=["o"],
    )


@case(full=131_072, quick=300)
def chacha(n: int) -> Problem:
    """ChaCha20, a block a thread."""
    return Problem(
        arrays={"key": words(11), "x": words(n, 16), "y": zeros(n, 16, kind="u4")},
        scalars={"n": np.int32(n)},
        launches=[Launch("chacha", blocks(n), 256, ("key", "x", "y", "n"))],
        changed=["y"],
    )


@case(full=262_144, quick=300)
def xxhash(n: int) -> Problem:
    """xxHash32 of keys of 64 bytes."""
    return Problem(
        arrays={"d": words(n, 16), "o": zeros(n, kind="u4")},
        scalars={"n": np.int32(n), "seed": np.uint32(5)},
        launches=[Launch("xx", blocks(n), 256, ("d", "o", "n", "seed"))],
        changed=["o"],
    )


@case(full=1 << 19, quick=300)
def philox(n: int) -> Problem:
    """Philox4x32-10, four numbers a thread."""
    return Problem(
        arrays={"o": zeros(n, 4)},
        scalars={"n": np.int32(n), "k0": np.uint32(11), "k1": np.uint32(22)},
        launches=[Launch("philox", blocks(n), 256, ("o", "n", "k0", "k1"))],
        changed=["o"],
        tolerance=1e-6,
    )


@case(full=256, quick=2)
def lcg_pi(parts: int) -> Problem:
    """Pi by random points."""
    return Problem(
        arrays={"hits": zeros(1, kind="u8")},
        scalars={"threads": np.int32(256 * parts), "per": np.int32(256)},
        launches=[Launch("pi", parts, 256, ("hits", "per"))],
        changed=["hits"],
    )


@case(full=32_768, quick=300)
def xorwow(n: int) -> Problem:
    """Sums of 200 random numbers, with states in memory."""
    return Problem(
        arrays={"states": words(6 * n), "sums": zeros(n)},
        scalars={"n": np.int32(n), "per": np.int32(200)},
        launches=[Launch("gen", blocks(n), 256, ("states", "sums", "n", "per"))],
        changed=["states", "sums"],
        tolerance=1e-5,
    )


@case(full=65_536, quick=256)
def bigmul_cc(n: int) -> Problem:
    """Products of 256 bits by sums with carry."""
    return Problem(
        arrays={"a": words(8, n), "b": words(8, n)[::-1].copy(), "c": zeros(16, n, kind="u4")},
        scalars={"n": np.int32(n)},
        launches=[Launch("mul", n // 256, 256, ("a", "b", "c", "n"))],
        changed=["c"],
    )


@case(full=100_000, quick=700)
def collatz(n: int) -> Problem:
    return Problem(
        arrays={"o": zeros(n, kind="i4")},
        scalars={"n": np.int32(n)},
        launches=[Launch("collatz", blocks(n), 256, ("o", "n"))],
        changed=["o"],
    )


@case(full=1 << 22, quick=5120)
def half2(n: int) -> Problem:
    """Pairs of half precision."""
    return Problem(
        arrays={"x": reals(n, kind="f2"), "y": reals(n, kind="f2")[::-1].copy()},
        scalars={"a": np.float32(1.5), "n": np.int32(n)},
        launches=[Launch("axpy", blocks(n // 2), 256, ("x", "y", "a", np.int32(n // 2)))],
        changed=["y"],
        tolerance=1e-3,
    )


@case(full=1 << 20, quick=4096)
def fir(n: int) -> Problem:
    """A filter of 32 taps in shared memory."""
    return Problem(
        arrays={"x": reals(n), "c": reals(32), "y": zeros(n)},
        scalars={"n": np.int32(n), "taps": np.int32(32)},
        launches=[Launch("fir", blocks(n), 256, ("x", "c", "y", "n", "taps"))],
        changed=["y"],
        tolerance=1e-5,
    )


@case(full=1536, quick=96)
def transpose_ip(n: int) -> Problem:
    """In place, two tiles a CTA."""
    return Problem(
        arrays={"a": reals(n, n)},
        scalars={"n": np.int32(n)},
        launches=[Launch("tr", (n // 32, n // 32), (32, 8), ("a", "n"))],
        changed=["a"],
    )
