"""Eighteen more kernels as students and bloggers write them: interpreters, games, simulators and searches by
a thread each, trees and lists in arrays, classes on the stack, double where a literal has no f."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, ints, zeros
from survey.newcomers_o import as_bytes, lexicon, picked, ranks

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


def too_large(text: str, x: float) -> bool:
    """Results that are compared relatively to the largest should not differ by too much."""
    try:
        value = eval(text.replace("^", "**"), {"x": x})
    except (ZeroDivisionError, OverflowError):
        return True
    return not abs(value) < 1e4


@case(full=10_000, quick=70)
def infix(count: int) -> Problem:
    """Expressions of up to 63 characters, some of which lack a parenthesis or divide by 0."""
    rng, pitch, lines, values = np.random.default_rng(52), 64, list[bytes](), list[float]()
    while len(lines) < count:
        text = expression(rng, int(rng.integers(1, 5)))
        chance, x = rng.random(), int(rng.integers(-40, 40)) / 4
        if too_large(text, x):
            continue
        if chance < 0.03:
            text += ")"
        elif chance < 0.06:
            text = f"1/({text})/(3-3)"
        if len(text) < pitch:
            lines.append(text.encode().ljust(pitch, b"\0"))
            values.append(x)
    return Problem(
        arrays={
            "lines": as_bytes(b"".join(lines)), "x": np.array(values, "f4"),
            "results": zeros(count, kind="f8"), "errors": zeros(count, kind="i4"),
        },
        scalars=ints("pitch count", pitch, count),
        launches=[
            Launch("infix", blocks(count, 128), 128, ("lines", "pitch", "x", "results", "errors", "count"))
        ],
        changed=["results", "errors"],
        tolerance=1e-13,
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
        "paths": zeros(count, 40, kind="u1"), "moves": zeros(count, kind="i4"),
        "nodes": zeros(count, kind="i4"),
    }  # fmt: skip
    return Problem(
        arrays={"boards": shuffled(count, 45 if count > 100 else 16, np.random.default_rng(54)), **made},
        scalars={"count": np.int32(count)},
        launches=[Launch("puzzle8", blocks(count, 64), 64, ("boards", *made, "count"))],
        changed=[*made],
    )


@case(full=900, quick=57)
def dbscan(n: int) -> Problem:
    """Five clouds and a tenth that is noise; rounds after the last change have nothing to do."""
    rng = np.random.default_rng(55)
    centre, spread = rng.random((5, 2)) * 10, 0.2 + rng.random(5) / 2
    cloud = rng.integers(0, 5, n)
    places = centre[cloud] + (rng.random((n, 2)) + rng.random((n, 2)) - 1) * 2 * spread[cloud, None]
    places = np.where(rng.random((n, 1)) < 0.1, rng.random((n, 2)) * 10, places)
    points = zeros(n, 4, kind="i4")
    points[:, :2] = places.astype("f4").view("i4")
    rounds, eps = 16, 0.15 if n > 500 else 0.6
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


@case(full=8000, quick=300)
def bst_cas(n: int) -> Problem:
    """Keys in the order in which they come; a fifth of them comes more than once."""
    rng, m = np.random.default_rng(56), n // 2 + 7
    made = {
        "floor_key": zeros(m, kind="i4"), "times": zeros(m, kind="i4"), "range_sum": zeros(m, kind="i8"),
    }  # fmt: skip
    numbers = ints("n width m", n, 50, m)
    return Problem(
        arrays={
            "tree": zeros(n, 5, kind="i4"), "keys": rng.integers(0, 2 * n, n).astype("i4"),
            "values": rng.permutation(n).astype("i4"), "queries": rng.integers(0, 2 * n, m).astype("i4"),
            **made,
        },
        scalars=numbers,
        launches=[
            Launch("bst_init", blocks(n, 1000), 1000, ("tree", "keys", "values", "n")),
            Launch("bst_insert", blocks(n, 1000), 1000, ("tree", "n")),
            Launch("bst_query", blocks(m, 100), 100, ("tree", "queries", *made, "width", "m")),
        ],
        changed=["tree", *made],
        native=("keys", "values", "queries", *made),
    )  # fmt: skip


def scenery(h: int, w: int, seed: int) -> Array:
    """Bytes of a picture: smooth waves, edges of discs and some noise."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:h, :w]
    picture = 90 + 50.0 * (x * (w - x) / (w * w / 4) - y / h) + 12 * rng.random((h, w))
    for cx, cy, radius in (rng.random((9, 3)) * (w, h, w / 4)).tolist():
        picture[(x - cx) ** 2 + (y - cy) ** 2 < radius**2] += float(rng.integers(-60, 90))
    return np.clip(picture, 0, 255).astype("u1")


@case(full=150, quick=22)
def oilpaint(w: int) -> Problem:
    """Radius 3, 20 levels; blocks of 20 x 20 and rows of which four bytes are no pixels."""
    h, pitch = w * 2 // 3 + 1, 3 * w + 4
    image = zeros(h, pitch, kind="u1")
    image[:, : 3 * w] = np.stack([scenery(h, w, seed) for seed in (57, 58, 59)], 2).reshape(h, 3 * w)
    numbers = {
        **ints("width height", w, h), "pitch": np.uint64(pitch),
        **ints("radius levels", 3 if w > 100 else 2, 20),
    }  # fmt: skip
    return Problem(
        arrays={"input": image, "output": zeros(h, pitch, kind="u1")},
        scalars=numbers,
        launches=[
            Launch("oilpaint", (blocks(w, 20), blocks(h, 20)), (20, 20), ("input", "output", *numbers))
        ],
        changed=["output"],
    )


@case(full=24, quick=2)
def dither(count: int) -> Problem:
    """Images of 120 x 100 in four shades; 417 steps, in most of which few rows have a pixel."""
    w, h = (120, 100) if count > 10 else (19, 13)
    images = np.stack([scenery(h, w, 60 + k) for k in range(count)])
    numbers = ints("width height shades", w, h, 4)
    return Problem(
        arrays={"images": images, "output": zeros(count, h, w, kind="u1")},
        scalars={**numbers, "count": np.int32(count)},
        launches=[Launch("dither", count, h, ("images", "output", *numbers), 2 * w * h)],
        changed=["output"],
    )


@case(full=150, quick=5)
def lzw(chunks: int) -> Problem:
    """Parts of 1000 bytes, 300 if small, blocks of 33."""
    rng, words = np.random.default_rng(61), lexicon(500, 61)
    chunk = 1000 if chunks > 10 else 300
    n = chunks * chunk - 77
    text = b" ".join(picked(words, ranks(500, n // 3, rng)))[:n]
    codes = {"codes": zeros(n, kind="u2"), "num_codes": zeros(chunks, kind="i4")}
    groups = blocks(chunks, 33)
    return Problem(
        arrays={
            "text": as_bytes(text), "dictionaries": zeros(chunks, 1024, 3, kind="i2"), **codes,
            "out": zeros(n, kind="u1"),
        },
        scalars={**ints("chunk", chunk), "n": np.int64(n)},
        launches=[
            Launch("lzw_pack", groups, 33, ("text", "n", "chunk", "dictionaries", *codes)),
            Launch("lzw_unpack", groups, 33, (*codes, "n", "chunk", "out")),
        ],
        changed=["dictionaries", *codes, "out"],
        native=("text", *codes, "out"),
    )  # fmt: skip


@case(full=2500, quick=90)
def jaro(names: int) -> Problem:
    """Names of 3 to 13 letters; those that are sought have a letter wrong, or two swapped."""
    rng, sought = np.random.default_rng(62), 21 if names > 100 else 5
    known = [a.title() + b[:3] for a, b in zip(lexicon(names, 62), lexicon(names, 63), strict=True)]
    wanted = list[bytes]()
    for number in rng.integers(0, names, sought):
        letters = bytearray(known[int(number)])
        at = int(rng.integers(len(letters) - 1))
        if rng.random() < 0.5:
            letters[at], letters[at + 1] = letters[at + 1], letters[at]
        else:
            letters[at] = ord("e")
        wanted.append(bytes(letters))
    found = {"best": zeros(sought, kind="i4"), "best_score": zeros(sought)}
    numbers = ints("num_sought num_names", sought, names)
    return Problem(
        arrays={
            "sought": as_bytes(b"".join(name.ljust(16, b"\0") for name in wanted)),
            "names": as_bytes(b"".join(name.ljust(16, b"\0") for name in known)),
            "score": zeros(sought, names), **found,
        },
        scalars=numbers,
        launches=[
            Launch(
                "jaro", (blocks(names, 32), blocks(sought, 8)), (32, 8),
                ("sought", "num_sought", "names", "num_names", "score"),
            ),
            Launch("best_match", blocks(sought, 10), 10, ("score", *numbers, *found)),
        ],
        changed=["score", *found],
        tolerance=1e-6,
    )  # fmt: skip


@case(full=20_000, quick=300)
def cpm(n: int) -> Problem:
    """A task waits for up to five that come not long before it; few wait for nothing."""
    rng = np.random.default_rng(64)
    before = np.minimum(rng.zipf(1.7, n), 5)
    task = np.repeat(np.arange(n), before)
    reach = n // (40 if n > 1000 else 4) * (1 + rng.integers(0, 3, task.size))
    source = task - rng.integers(1, 1 + reach)
    edges = np.unique(np.stack([source, task])[:, source >= 0], axis=1)
    first = np.searchsorted(edges[0], np.arange(n + 1)).astype("i4")
    waits_for = np.bincount(edges[1], minlength=n).astype("i4")
    depth = np.zeros(n, "i4")
    for s, t in edges[:, np.argsort(edges[1], kind="stable")].T.tolist():
        depth[t] = max(depth[t], depth[s] + 1)
    levels, groups = int(depth.max()) + 1, blocks(n)
    widest = blocks(int(np.bincount(depth).max()))
    state = {
        "waiting": zeros(n, kind="i4"), "early": zeros(n, kind="f8"),
        "queue": zeros(n, kind="i4"), "level_start": zeros(levels + 2, kind="i4"),
    }  # fmt: skip
    made = {"late": zeros(n, kind="f8"), "critical": zeros(n, kind="u1"), "end": zeros(1, kind="f8")}
    graph = ("first", "after", "duration")
    return Problem(
        arrays={
            "first": first, "after": edges[1].astype("i4"),
            "duration": (rng.integers(1, 400, n) / 8).astype("f4"), "waits_for": waits_for, **state, **made,
        },
        scalars={"n": np.int32(n)},
        launches=[
            Launch("find_ready", groups, 256, ("waits_for", *state, "n")),
            *[
                launch
                for level in range(levels)
                for launch in (
                    Launch("open_level", 1, 1, ("level_start", np.int32(level))),
                    Launch("forward", widest, 256, (*graph, *state, np.int32(level))),
                )
            ],
            Launch("project_end", groups, 256, ("early", "duration", "end", "n")),
            *[
                Launch(
                    "backward", widest, 256,
                    (
                        *graph, "early", "queue", "level_start", "end", "late", "critical",
                        np.int32(level),
                    ),
                )
                for level in reversed(range(levels))
            ],
        ],
        changed=[*state, *made],
        native=(*graph, "waits_for", "early", "late", "critical", "end"),
        tolerance=1e-12,
    )  # fmt: skip


@case(full=44, quick=9)
def mandelbulb(w: int) -> Problem:
    """The power 8; half of the rays meet it, some after dozens of steps along it."""
    h = w * 3 // 4
    numbers = {
        **ints("width height", w, h), "power": np.float32(8),
        **ints("iterations max_steps", *((6, 40) if w > 20 else (3, 14))),
    }  # fmt: skip
    return Problem(
        arrays={"image": zeros(h, w)},
        scalars=numbers,
        launches=[Launch("mandelbulb", blocks(w * h, 64), 64, ("image", *numbers))],
        changed=["image"],
        tolerance=1e-5,
        mismatches=0.03,  # rounding decides whether a step more is needed
    )


@case(full=500, quick=21)
def ik_arm(count: int) -> Problem:
    """Six joints and a reach of three; some targets are too far away."""
    rng = np.random.default_rng(66)
    made = {"error": zeros(count), "sweeps": zeros(count, kind="i4")}
    numbers = {**ints("count max_sweeps", count, 20 if count > 100 else 6), "near": np.float32(0.01)}
    return Problem(
        arrays={
            "targets": ((rng.random((count, 3)) - 0.5) * 4).astype("f4"),
            "angles": (rng.random((count, 6)) * 0.6 + 0.2).astype("f4"), **made,
        },
        scalars=numbers,
        launches=[Launch("ik_arm", blocks(count, 96), 96, ("targets", "angles", *made, *numbers))],
        changed=["angles", *made],
        tolerance=1e-3,
        mismatches=0.02,
    )  # fmt: skip


@case(full=230, quick=20)
def bbp_pi(count: int) -> Problem:
    """Each digit takes longer than the one before; blocks of 33."""
    numbers = {**ints("count", count), "start": np.int64(0)}
    return Problem(
        arrays={"digits": zeros(count, kind="i1"), "fractions": zeros(count, kind="f8")},
        scalars=numbers,
        launches=[Launch("bbp_pi", blocks(count, 33), 33, ("digits", "fractions", "start", "count"))],
        changed=["digits", "fractions"],
        tolerance=1e-11,
    )


@case(full=400, quick=30)
def knap_ga(population: int) -> Problem:
    """100 things that are heavier if they are worth more, 20 generations."""
    rng, items, generations = np.random.default_rng(67), 100, 20 if population > 100 else 4
    weight = rng.integers(5, 100, items)
    value = weight + rng.integers(1, 40, items)
    own = {**ints("population items", population, items)}
    groups, genes = blocks(population, 128), ("genes", "other_genes")
    launches = [Launch("first_generation", groups, 128, ("genes", "rng", *own, "seed"))]
    for k in range(generations):
        now, then = genes[:: 1 - 2 * (k % 2)]
        launches += [
            Launch("forget_best", 1, 1, ("best",)),
            Launch("rate", groups, 128, (now, "value", "weight", "fitness", "best", "capacity", *own)),
            Launch(
                "breed", groups, 128,
                (now, then, "fitness", "rng", "best", "history", np.int32(k), *own, "mutation"),
            ),
        ]  # fmt: skip
    made = {
        "genes": zeros(population, items, kind="i1"), "other_genes": zeros(population, items, kind="i1"),
        "fitness": zeros(population, kind="i4"), "history": zeros(generations, kind="i4"),
    }  # fmt: skip
    return Problem(
        arrays={
            **made, "value": value.astype("i4"), "weight": weight.astype("i4"),
            "rng": zeros(population, kind="u4"), "best": zeros(1, kind="u8"),
        },
        scalars={
            "capacity": np.int32(weight.sum() // 3), **own, "mutation": np.int32(8), "seed": np.uint32(77),
            "generations": np.int32(generations),
        },
        launches=launches,
        changed=[*made, "rng", "best"],
        native=(*genes, "value", "weight", "fitness", "history"),
    )  # fmt: skip


@case(full=1200, quick=70)
def wordle(guesses: int) -> Problem:
    """243 counters a thread; two thirds of the words may be the answer."""
    rng, answers = np.random.default_rng(68), guesses * 2 // 3
    frequent = np.frombuffer(b"eariotnslcudpmhgbfywkvxzjq", "u1")
    rank = np.minimum(rng.geometric(0.09, (guesses, 5)) - 1, 25)
    words = frequent[rank].astype("i1")
    numbers = ints("num_guesses num_answers", guesses, answers)
    made = {"information": zeros(guesses), "largest": zeros(guesses, kind="i4")}
    return Problem(
        arrays={"guesses": words, "answers": words[:answers].copy(), **made, "best": zeros(1, kind="i4")},
        scalars=numbers,
        launches=[
            Launch("wordle", blocks(guesses, 64), 64, ("guesses", "answers", *made, *numbers)),
            Launch("best_guess", 1, 100, ("information", "best", "num_guesses")),
        ],
        changed=[*made, "best"],
        tolerance=1e-6,
    )


@case(full=500, quick=33)
def game2048(games: int) -> Problem:
    """A hundred moves a game, more or less; boards are arrays of 4 x 4 ints."""
    numbers = {**ints("games", games), "seed": np.uint32(4096)}
    made = {
        "scores": zeros(games, kind="i4"), "moves": zeros(games, kind="i4"),
        "largest": zeros(games, kind="i4"), "largest_histogram": zeros(18, kind="i4"),
    }  # fmt: skip
    return Problem(
        arrays=made,
        scalars=numbers,
        launches=[Launch("game2048", blocks(games, 50), 50, (*made, *numbers))],
        changed=[*made],
    )
