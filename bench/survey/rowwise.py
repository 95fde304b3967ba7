"""Threads that go through memory of their own: rows of a matrix, consecutive words or bytes."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, integers, reals, zeros


def text(n: int) -> Array:
    """Letters and spaces."""
    return np.frombuffer(b"aeinrstdlmo  \n", "u1")[integers(0, 14, n)]


def rows_of(
    source: str, arrays: dict[str, Array], rows: int, n: int, *changed: str, **more: object
) -> Problem:
    """A problem of `rows` threads, of which each has `n` elements."""
    scalars = {"rows": np.int32(rows), "n": np.int32(n)}
    names = (*arrays, *scalars)
    launches = [Launch(source, blocks(rows, 128), 128, names)]
    return Problem(arrays=arrays, scalars=scalars, launches=launches, changed=[*changed], tolerance=1e-5)


def chunks_of(source: str, arrays: dict[str, Array], length: int, *changed: str) -> Problem:
    """A problem of the elements of the first array, `length` consecutive ones for each thread."""
    n = next(iter(arrays.values())).size
    scalars = {"n": np.int32(n), "length": np.int32(length)}
    threads = -(-n // length)
    launches = [Launch(source, blocks(threads, 128), 128, (*arrays, *scalars))]
    return Problem(arrays=arrays, scalars=scalars, launches=launches, changed=[*changed])


@case(full=1000, quick=50)
def add_rows(rows: int) -> Problem:
    n = rows - 20
    arrays = {"a": reals(rows, n), "b": reals(n, rows).T.copy() + 1, "c": zeros(rows, n)}
    return rows_of("add_rows", arrays, rows, n, "c")


@case(full=1000, quick=50)
def row_softmax(rows: int) -> Problem:
    n = rows // 4 + 6
    return rows_of("row_softmax", {"x": reals(rows, n) * 8, "y": zeros(rows, n)}, rows, n, "y")


@case(full=1000, quick=45)
def row_scan(h: int) -> Problem:
    w = h - 7
    scalars = {"w": np.int32(w), "h": np.int32(h)}
    return Problem(
        arrays={"a": integers(0, 256, h, w, kind="u4")},
        scalars=scalars,
        launches=[Launch("row_scan", blocks(h, 128), 128, ("a", *scalars))],
        changed=["a"],
    )


@case(full=1 << 20, quick=5000)
def chunk_sum(n: int) -> Problem:
    arrays = {"in": integers(-1000, 1000, n), "sums": zeros(-(-n // 64), kind="i4")}
    return chunks_of("chunk_sum", arrays, 64, "sums")


@case(full=1 << 20, quick=5000)
def chunk_saxpy(n: int) -> Problem:
    scalars = {"a": np.float32(2.5), "n": np.int32(n), "length": np.int32(100)}
    return Problem(
        arrays={"x": reals(n), "y": reals(1, n)[0]},
        scalars=scalars,
        launches=[Launch("chunk_saxpy", blocks(-(-n // 100), 128), 128, ("x", "y", *scalars))],
        changed=["y"],
        tolerance=1e-5,
    )


@case(full=1 << 20, quick=5000)
def count_words(n: int) -> Problem:
    return chunks_of(
        "count_words", {"text": text(n), "counts": zeros(-(-n // 256), kind="i4")}, 256, "counts"
    )


@case(full=1 << 14, quick=100)
def fnv_lines(count: int) -> Problem:
    scalars = {"count": np.int32(count), "length": np.int32(75)}
    return Problem(
        arrays={"records": integers(0, 256, count, 75, kind="u1"), "hashes": zeros(count, kind="u4")},
        scalars=scalars,
        launches=[Launch("fnv_lines", blocks(count), 256, ("records", "hashes", *scalars))],
        changed=["hashes"],
    )


@case(full=1 << 16, quick=300)
def dna_pack(words: int) -> Problem:
    return Problem(
        arrays={"bases": np.frombuffer(b"ACGT", "u1")[integers(0, 4, 16 * words)],
                "packed": zeros(words, kind="u4")},
        scalars={"words": np.int32(words)},
        launches=[Launch("dna_pack", blocks(words), 256, ("bases", "packed", "words"))],
        changed=["packed"],
    )  # fmt: skip


@case(full=4096, quick=100)
def own_hist(threads: int) -> Problem:
    scalars = {"threads": np.int32(threads), "length": np.int32(200)}
    return Problem(
        arrays={"data": integers(0, 256, threads, 200, kind="u1"), "tables": zeros(threads, 16, kind="i4")},
        scalars=scalars,
        launches=[Launch("own_hist", blocks(threads), 256, ("data", "tables", *scalars))],
        changed=["tables"],
    )


@case(full=1 << 19, quick=3000)
def poly_rows(n: int) -> Problem:
    scalars = {"n": np.int32(n), "length": np.int32(32), "degree": np.int32(8)}
    return Problem(
        arrays={"x": reals(n), "y": zeros(n), "c": reals(9)},
        scalars=scalars,
        launches=[Launch("poly_rows", blocks(-(-n // 32), 128), 128, ("x", "y", "c", *scalars))],
        changed=["y"],
        tolerance=1e-5,
    )


@case(full=2048, quick=70)
def edit_rows(count: int) -> Problem:
    m, n = 24, 30
    scalars = {"m": np.int32(m), "n": np.int32(n), "count": np.int32(count)}
    return Problem(
        arrays={"word": text(m), "others": text(count * n), "rows": zeros(count, n + 1, kind="i4"),
                "out": zeros(count, kind="i4")},
        scalars=scalars,
        launches=[
            Launch("edit_rows", blocks(count, 128), 128, ("word", "m", "others", "n", "rows", "out", "count"))
        ],
        changed=["out", "rows"],
    )  # fmt: skip


@case(full=1 << 18, quick=1000)
def one_thread(n: int) -> Problem:
    scalars = {"value": np.float32(0.5), "n": np.int32(n)}
    return Problem(
        arrays={"in": integers(0, 8, n).astype("f4"), "out": zeros(n), "sum": zeros(1)},
        scalars=scalars,
        launches=[Launch("one_thread", 1, 32, ("in", "out", "sum", *scalars))],
        changed=["out", "sum"],
        tolerance=1e-5,
    )


@case(full=1 << 20, quick=5000)
def upper(n: int) -> Problem:
    return chunks_of("upper", {"in": text(n), "out": zeros(n, kind="u1")}, 100, "out")


@case(full=2000, quick=40)
def run_lengths(rows: int) -> Problem:
    n = 200
    arrays = {
        "in": np.repeat(integers(0, 4, rows, n // 2, kind="u1"), 2, axis=1),
        "out": zeros(rows, 2 * n, kind="u1"),
        "lengths": zeros(rows, kind="i4"),
    }
    return rows_of("run_lengths", arrays, rows, n, "out", "lengths")
