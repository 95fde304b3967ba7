"""Eighteen more kernels as students and bloggers write them: interpreters, calculators, games, simulators, searches
by a thread each, lists and trees in arrays, classes on the stack, double where a literal has no f."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, zeros
from survey.newcomers_o import as_bytes, ints, lexicon, picked, ranks

BRAINFK = (
    b">,[>,]<[.<]",  # backwards
    b",[--------------------------------.,]",  # in capitals
    b">,[[<+>-],]<.",  # sum
    b",>,<[>[>+>+<<-]>>[<<+>>-]<<<-]>>.",  # product
    b",[->+>+<<]>[->[->+>+<<]>>[-<<+>>]<<<]>>.",  # square
    b">,[[>+>+<<-]>.>.[-]<[-]<,]",  # each twice
    b"++++++++++[>++++++++++[>++++++++++[>+<-]<-]<-]>>>.",  # 1000
    b"++++++++[>+++++++++>++++<<-]>.+.+.>.,[.,]",
)


@case(full=60, quick=5)
def brainfk(inputs: int) -> Problem:
    """Eight programs; threads of a warp run one of them, or two, on other words."""
    words = [word[:12] for word in lexicon(inputs, 51)]
    pitch, in_pitch, out_pitch, programs = 64, 12, 32, len(BRAINFK)
    runs = programs * inputs
    numbers = {
        **ints("pitch num_programs", pitch, programs), **ints("in_pitch num_inputs", in_pitch, inputs),
        **ints("out_pitch max_steps", out_pitch, 3000 if inputs > 10 else 400),
    }  # fmt: skip
    made = {
        "out": zeros(runs, out_pitch, kind="u1"),
        "out_length": zeros(runs, kind="i4"), "steps_taken": zeros(runs, kind="i4"),
    }  # fmt: skip
    return Problem(
        arrays={
            "programs": as_bytes(b"".join(code.ljust(pitch, b"\0") for code in BRAINFK)),
            "jump": zeros(programs, pitch, kind="i2"),
            "inputs": as_bytes(b"".join(word.ljust(in_pitch, b"\0") for word in words)), **made,
        },
        scalars=numbers,
        launches=[
            Launch("match_brackets", 1, 33, ("programs", "jump", "pitch", "num_programs")),
            Launch(
                "brainfk", blocks(runs, 100), 100,
                (
                    "programs", "jump", "pitch", "num_programs", "inputs", "in_pitch", "num_inputs",
                    *made, "out_pitch", "max_steps",
                ),
            ),
        ],
        changed=["jump", *made],
    )  # fmt: skip


def expression(rng: np.random.Generator, depth: int) -> str:
    """With parentheses where they are needed, and where not."""
    if depth == 0 or rng.random() < 0.15:
        kind = rng.random()
        if kind < 0.25:
            return "x"
        whole = int(rng.integers(0, 100))
        return str(whole) if kind < 0.6 else f"{whole}.{int(rng.integers(0, 1000))}"
    if rng.random() < 0.12:
        return f"({expression(rng, depth - 1)})^{int(rng.integers(2, 4))}"
    sign = "-" if rng.random() < 0.1 else ""
    gap = " " if rng.random() < 0.3 else ""
    operator = "+-*/"[int(rng.integers(4))]
    text = f"{expression(rng, depth - 1)}{gap}{operator}{gap}{expression(rng, depth - 1)}"
    return f"{sign}({text})" if rng.random() < 0.6 else sign + text


@case(full=10_000, quick=70)
def infix(count: int) -> Problem:
    """Expressions of up to 63 characters, some of which lack a parenthesis or divide by 0."""
    rng, pitch, lines = np.random.default_rng(52), 64, list[bytes]()
    while len(lines) < count:
        text = expression(rng, int(rng.integers(1, 5)))
        chance = rng.random()
        if chance < 0.03:
            text += ")"
        elif chance < 0.06:
            text = f"1/({text})/(3-3)"
        if len(text) < pitch:
            lines.append(text.encode().ljust(pitch, b"\0"))
    return Problem(
        arrays={
            "lines": as_bytes(b"".join(lines)), "x": rng.integers(-40, 40, count).astype("f4") / 4,
            "results": zeros(count, kind="f8"), "errors": zeros(count, kind="i4"),
        },
        scalars=ints("pitch count", pitch, count),
        launches=[
            Launch("infix", blocks(count, 128), 128, ("lines", "pitch", "x", "results", "errors", "count"))
        ],
        changed=["results", "errors"],
        tolerance=1e-12,
    )  # fmt: skip


@case(full=2500, quick=150)
def cache_sim(length: int) -> Problem:
    """144 caches of 256 bytes to 48 KiB; a loop through an array, a stack and a heap that some use more."""
    rng = np.random.default_rng(53)
    configs = [
        (line, sets, ways, policy)
        for line in (16, 32, 64)
        for sets in (16, 24, 64, 96)
        for ways in (1, 2, 4, 8)
        for policy in (0, 1, 2)
    ]
    most = 96 * 8
    kind = rng.choice(3, length, p=(0.4, 0.35, 0.25))
    address = np.choose(
        kind,
        [
            0x10000 + 4 * (np.arange(length) % 3000),
            0x7F000 - 8 * rng.geometric(0.05, length),
            0x40000 + 24 * np.minimum(rng.zipf(1.3, length), 20_000),
        ],
    )
    write = rng.random(length) < np.array([0.1, 0.5, 0.3])[kind]
    numbers = ints("length n max_lines", length, len(configs), most)
    return Problem(
        arrays={
            "trace": (2 * address + write).astype("u4"), "configs": np.array(configs, "i4"),
            "lines": zeros(len(configs), most, 3, kind="i4"), "stats": zeros(len(configs), 4, kind="i4"),
        },
        scalars=numbers,
        launches=[
            Launch(
                "cache_sim", blocks(len(configs), 32), 32,
                ("trace", "length", "configs", "n", "lines", "max_lines", "stats"),
            )
        ],
        changed=["lines", "stats"],
        native=("trace", "configs", "stats"),
    )  # fmt: skip


@case(full=190, quick=21)
def blackjack(players: int) -> Problem:
    """Eight strategies; decks are arrays of the threads."""
    numbers = {
        **ints("players strategies", players, 8),
        "hands": np.int32(12 if players > 100 else 2), "seed": np.uint32(2024),
    }  # fmt: skip
    return Problem(
        arrays={"tallies": zeros(8, 4, kind="i4")},
        scalars=numbers,
        launches=[Launch("blackjack", blocks(8 * players, 192), 192, ("tallies", *numbers))],
        changed=["tallies"],
    )


def shuffled(count: int, steps: int, rng: np.random.Generator) -> Array:
    """Boards of 3 x 3 that have up to so many random moves behind them."""
    boards = np.tile(np.array([1, 2, 3, 4, 5, 6, 7, 8, 0], "i1"), (count, 1))
    for board, times in zip(boards, rng.integers(steps // 3, steps, count).tolist(), strict=True):
        blank, before = 8, -1
        for _ in range(times):
            ways = [
                to
                for to in (blank - 3, blank + 3, blank - 1, blank + 1)
                if 0 <= to < 9 and (to // 3 == blank // 3 or to % 3 == blank % 3) and to != before
            ]
            to = ways[int(rng.integers(len(ways)))]
            board[blank], board[to] = board[to], 0
            blank, before = to, blank
    return boards


@case(full=600, quick=23)
def puzzle8(count: int) -> Problem:
    """What a thread searches differs by orders of magnitude."""
    made = {
        "paths": zeros(count, 40, kind="u1"), "moves": zeros(count, kind="i4"), "nodes": zeros(count, kind="i4"),
    }  # fmt: skip
    return Problem(
        arrays={"boards": shuffled(count, 45 if count > 100 else 16, np.random.default_rng(54)), **made},
        scalars={"count": np.int32(count)},
        launches=[Launch("puzzle8", blocks(count, 64), 64, ("boards", *made, "count"))],
        changed=[*made],
    )


@case(full=900, quick=83)
def dbscan(n: int) -> Problem:
    """Five clouds and a tenth that is noise; rounds after the last change have nothing to do."""
    rng = np.random.default_rng(55)
    centre, spread = rng.random((5, 2)) * 10, 0.2 + rng.random(5) / 2
    cloud = rng.integers(0, 5, n)
    places = centre[cloud] + (rng.random((n, 2)) + rng.random((n, 2)) - 1) * 2 * spread[cloud, None]
    places = np.where(rng.random((n, 1)) < 0.1, rng.random((n, 2)) * 10, places)
    points = zeros(n, 4, kind="i4")
    points[:, :2] = places.astype("f4").view("i4")
    rounds, eps = 16, 0.15 if n > 500 else 0.5
    numbers = {"n": np.int32(n), "eps": np.float32(eps), **ints("min_points rounds", 5, rounds)}
    groups, labels = blocks(n, 100), ("label", "next")
    return Problem(
        arrays={
            "points": points, "label": zeros(n, kind="i4"), "next": zeros(n, kind="i4"),
            "flags": zeros(rounds, kind="i4"), "cluster": zeros(n, kind="i4"),
        },
        scalars=numbers,
        launches=[
            Launch("find_core", groups, 100, ("points", *labels, "eps", "min_points", "n")),
            *[
                Launch(
                    "spread_labels", groups, 100,
                    ("points", *labels[:: 1 - 2 * (k % 2)], "flags", np.int32(k), "eps", "n"),
                )
                for k in range(rounds)
            ],
            Launch("border_points", groups, 100, ("points", "label", "cluster", "eps", "n")),
        ],
        changed=["points", *labels, "flags", "cluster"],
        native=("points", "cluster"),
    )  # fmt: skip
