"""Codes, words and programs that are read step by step."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, integers, reals, zeros


def seven_bits(values: Array) -> tuple[Array, Array]:
    """Every number in bytes of seven bits, the lowest first; how many bytes each takes."""
    sizes = np.maximum(1, (32 - np.clip(32 - np.log2(values + 0.5), 0, 32).astype("i8") + 6) // 7)
    parts = (values[:, None] >> (7 * np.arange(5))) & 127
    parts |= np.where(np.arange(5) < sizes[:, None] - 1, 128, 0)
    return parts[np.arange(5) < sizes[:, None]].astype("u1"), sizes


@case(full=16384, quick=100)
def varint(count: int) -> Problem:
    """Blocks of 32 differences, most of them in one byte."""
    deltas = (integers(0, 1 << 20, 32 * count, kind="i8") >> integers(0, 18, 32 * count)).astype("i8")
    stream, sizes = seven_bits(deltas)
    starts = np.concatenate(([0], np.cumsum(sizes.reshape(count, 32).sum(1))))[:-1].astype("i4")
    return Problem(
        arrays={"bytes": stream, "starts": starts, "out": zeros(32 * count, kind="u4")},
        scalars={"blocks": np.int32(count)},
        launches=[Launch("varint", blocks(count, 128), 128, ("bytes", "starts", "out", "blocks"))],
        changed=["out"],
    )


@case(full=8192, quick=300)
def huffman(streams: int) -> Problem:
    """Prefix codes of up to 8 bits: any bits are a text of such a code."""
    letters, words = 128, 33
    lengths = np.repeat([2, 3, 4, 5, 8, 8], [64, 64, 64, 32, 16, 16])
    reverse = [int(f"{k:08b}"[::-1], 2) for k in range(256)]
    table = np.zeros(256, "u2")
    for code, length in enumerate(lengths):
        table[reverse[code]] = length << 8 | (code >> (8 - length))
    given = integers(0, 1 << 32, streams * words, kind="u4")
    return Problem(
        arrays={
            "words": given, "starts": (np.arange(streams) * words).astype("i4"), "table": table,
            "out": zeros(streams, letters, kind="u1"),
        },
        scalars={"streams": np.int32(streams), "letters": np.int32(letters)},
        launches=[
            Launch("huffman", blocks(streams), 256, ("words", "starts", "table", "out", "streams", "letters"))
        ],
        changed=["out"],
    )  # fmt: skip


def automaton(words: list[str]) -> Array:
    """Aho and Corasick's: the next state for each state and letter, with a bit above where a word ends."""
    edges, ends = [[0] * 32], [False]
    for word in words:
        at = 0
        for letter in word:
            if not edges[at][ord(letter) & 31]:
                edges.append([0] * 32)
                ends.append(False)
                edges[at][ord(letter) & 31] = len(edges) - 1
            at = edges[at][ord(letter) & 31]
        ends[at] = True
    queue, fails = [s for s in edges[0] if s], [0] * len(edges)
    for state in queue:
        ends[state] |= ends[fails[state]]
        for letter, to in enumerate(edges[state]):
            after = edges[fails[state]][letter]
            if to:
                fails[to] = after
                queue.append(to)
            else:
                edges[state][letter] = after
    return np.array([[to | ends[to] << 15 for to in row] for row in edges], "u2")


@case(full=1 << 20, quick=5000)
def aho(n: int) -> Problem:
    """Words found in a text by an automaton in shared memory."""
    words = ["warp", "lane", "cab", "abba", "ebb", "bead", "dad", "decade", "a" * 6]
    table = automaton(words)
    states = len(table)
    return Problem(
        arrays={
            "text": integers(97, 103, n, kind="u1"), "table": table, "hits": zeros(blocks(n, 64), kind="i4"),
        },
        scalars={"n": np.int32(n), "states": np.int32(states), "overlap": np.int32(5)},
        launches=[
            Launch(
                "aho", blocks(n, 64 * 128), 128, ("text", "table", "hits", "n", "states", "overlap"),
                shared=64 * states,
            )
        ],
        changed=["hits"],
    )  # fmt: skip


@case(full=1 << 21, quick=5000)
def categories(n: int) -> Problem:
    """Kinds of characters by a table of pages, and where words begin."""
    spread = integers(0, 1 << 16, n)
    text = np.where(spread % 10 < 8, spread % 256, spread).astype("u2")
    return Problem(
        arrays={
            "text": text,
            "index": integers(0, 40, 256, kind="u1"), "pages": integers(0, 4, 40, 256, kind="u1"),
            "kinds": zeros(n, kind="u1"), "words": zeros(blocks(n), kind="i4"),
        },
        scalars={"n": np.int32(n)},
        launches=[
            Launch("categories", blocks(n), 256, ("text", "index", "pages", "kinds", "words", "n"))
        ],
        changed=["kinds", "words"],
    )  # fmt: skip


@case(full=32768, quick=100)
def machine(n: int) -> Problem:
    """A program of 200 instructions for a machine of eight registers, run for each row."""
    length = 200
    program = np.concatenate((integers(0, 8, length, 4, kind="u1"), [[0, 0, 1, 0]])).astype("u1")
    return Problem(
        arrays={"program": program, "data": reals(8, n) - 0.5, "out": zeros(n)},
        scalars={"length": np.int32(length + 1), "n": np.int32(n)},
        launches=[Launch("machine", blocks(n, 128), 128, ("program", "data", "out", "length", "n"))],
        changed=["out"],
        tolerance=1e-5,
    )
