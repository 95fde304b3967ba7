"""Fourteen kernels that were written without knowing what the JIT is good at, and measured before anybody
looked at the code made of them: reactions, neurons, particles, prices, sequences, tracks, codes, pictures."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, floats, integers, ints, reals, zeros


@case(full=400, quick=45)
def gray_scott(w: int) -> Problem:
    """Eight steps; remainders for the neighbours across the edges."""
    h = w - 10
    u, v = 1 - reals(h, w) * np.float32(0.1), reals(h, w, 1)[..., 0] * np.float32(0.1)
    u[h // 3 : h // 2, w // 3 : w // 2] = 0.5
    v[h // 3 : h // 2, w // 3 : w // 2] = 0.25
    rates = floats("du dv feed kill dt", 0.16, 0.08, 0.035, 0.065, 1)
    names, size, steps = ("u", "v", "u_next", "v_next"), ints("width height", w, h), 8
    grid = (blocks(w, 16), blocks(h, 16))
    return Problem(
        arrays={"u": u, "v": v, "u_next": zeros(h, w), "v_next": zeros(h, w)},
        scalars={**size, **rates, "steps": np.int32(steps)},
        launches=[
            Launch("gray_scott", grid, (16, 16), (*names[k:], *names[:k], *size, *rates))
            for k in (0, 2) * (steps // 2)
        ],
        changed=names,
        tolerance=1e-5,
    )


@case(full=400, quick=70)
def hodgkin(n: int) -> Problem:
    """1,000 steps, six exponentials and two branches near a quotient of zeros in each."""
    numbers = {**ints("neurons steps", n, 1000), "dt": np.float32(0.025)}
    return Problem(
        arrays={
            "voltage": reals(n) * 10 - 70, "gates": np.float32([0.05, 0.6, 0.32]) + reals(n, 3) / 100,
            "current": 25 * reals(n, 1)[:, 0], "spikes": zeros(n, kind="i4"),
        },
        scalars=numbers,
        launches=[
            Launch("hodgkin", blocks(n, 128), 128, ("voltage", "gates", "current", "spikes", *numbers))
        ],
        changed=["voltage", "gates", "spikes"],
        tolerance=1e-3,
        mismatches=0.01,
    )  # fmt: skip


@case(full=120_000, quick=3000)
def cic(n: int) -> Problem:
    """Particles in no order: atomics and gathers all over the grid."""
    nx, ny = (256, 250) if n > 10_000 else (33, 29)
    size = ints("n nx ny", n, nx, ny)
    scale = floats("inv_cell charge", 2, 0.3)
    particles = ("x", "y", "vx", "vy")
    return Problem(
        arrays={
            "x": reals(n) * np.float32(nx / 2), "y": reals(n, 1)[:, 0] * np.float32(ny / 2),
            "vx": reals(n, 2)[:, 0] - np.float32(0.5), "vy": reals(n, 3)[:, 0] - np.float32(0.5),
            "density": zeros(ny, nx), "potential": reals(ny, nx), "field": zeros(ny, nx, 2),
        },
        scalars={**size, **scale, "dt": np.float32(0.1)},
        launches=[
            Launch("deposit", blocks(n), 256, ("x", "y", "density", *size, *scale)),
            Launch(
                "gradient", (blocks(nx, 16), blocks(ny, 16)), (16, 16),
                ("potential", "field", "nx", "ny", "inv_cell"),
            ),
            Launch("push", blocks(n), 256, (*particles, "field", *size, *scale, "dt")),
        ],
        changed=[*particles, "density", "field"],
        tolerance=1e-4,
        mismatches=1e-4,
    )  # fmt: skip


def near(positions: Array, box: float, reach: float) -> tuple[Array, Array]:
    """For each atom of a periodic box the others within reach, the k-th of all side by side, and how many."""
    lists = list[Array]()
    for i, position in enumerate(positions):
        d = positions - position
        d -= box * np.rint(d / box)
        found = np.flatnonzero((d**2).sum(1) < reach**2)
        lists.append(found[found != i])
    counts = np.array([len(found) for found in lists], "i4")
    table = np.zeros((counts.max(), len(positions)), "i4")
    for i, found in enumerate(lists):
        table[: len(found), i] = found
    return table, counts


@case(full=17, quick=7)
def verlet_lj(side: int) -> Problem:
    """Some 65 neighbours an atom, of which two in three are within the cutoff; one of five sites is empty."""
    rng, spacing = np.random.default_rng(12), 1.1
    box = side * spacing
    place = np.flatnonzero(rng.random(side**3) < 0.8)
    n = len(place)
    lattice = np.stack([place % side, place // side % side, place // side**2], 1) * spacing
    positions = np.zeros((n, 4), "f4")
    positions[:, :3] = lattice + 0.25 * rng.random((n, 3))
    neighbours, counts = near(positions[:, :3], box, 2.9)
    numbers = {"atoms": np.int32(n), **floats("box cutoff epsilon sigma", box, 2.5, 0.8, 1.02)}
    return Problem(
        arrays={
            "position": positions, "neighbours": neighbours, "counts": counts, "force": zeros(n, 4),
        },
        scalars=numbers,
        launches=[
            Launch("verlet_lj", blocks(n, 128), 128, ("position", "neighbours", "counts", "force", *numbers))
        ],
        changed=["force"],
        tolerance=1e-4,
    )  # fmt: skip


@case(full=4000, quick=300)
def heston(paths: int) -> Problem:
    """Sines of any angle, a generator without state in memory, and a tree of sums at the end."""
    numbers = {
        **ints("paths steps", paths, 64), "seed": np.uint32(2024),
        **floats("s0 v0 strike rate maturity", 100, 0.05, 102, 0.03, 1.5),
        **floats("kappa theta xi rho", 2, 0.04, 0.5, -0.7),
    }  # fmt: skip
    return Problem(
        arrays={"sums": zeros(blocks(paths)), "squares": zeros(blocks(paths))},
        scalars=numbers,
        launches=[Launch("heston", blocks(paths), 256, ("sums", "squares", *numbers))],
        changed=["sums", "squares"],
        tolerance=1e-4,
    )


@case(full=500, quick=45)
def crank(n: int) -> Problem:
    """Doubles, divisions that wait for the one before, and three arrays that threads go through both ways."""
    points, steps = 100, 20
    strike = 80 + 40 * reals(n, kind="f8")
    options = {
        "spot": strike * (0.7 + 0.6 * reals(n, 1, kind="f8")[:, 0]), "strike": strike,
        "rate": 0.01 + 0.05 * reals(n, 2, kind="f8")[:, 0],
        "sigma": 0.1 + 0.4 * reals(n, 3, kind="f8")[:, 0],
        "maturity": 0.25 + 2 * reals(n, 4, kind="f8")[:, 0],
    }  # fmt: skip
    numbers = ints("options points steps", n, points, steps)
    scratch = ("c_star", "d_star")
    return Problem(
        arrays={
            **options, "value": zeros(points, n, kind="f8"), "price": zeros(n, kind="f8"),
            **{name: zeros(points, n, kind="f8") for name in scratch},
        },
        scalars=numbers,
        launches=[
            Launch("crank", blocks(n, 128), 128, (*options, "value", *scratch, "price", *numbers))
        ],
        changed=["value", "price"],
        native=(*options, "value", "price"),
        tolerance=1e-10,
    )  # fmt: skip


@case(full=3000, quick=300)
def swarm(n: int) -> Problem:
    """Four rounds; each thread goes along rows of its own particle, in four arrays of a structure's kind."""
    dims, rounds, limit = 12, 4, 5.12
    position = (reals(n, dims) * 2 - 1) * np.float32(limit)
    value = (position**2 - 10 * np.cos(2 * np.pi * position) + 10).sum(1).astype("f4")
    first = int(value.argmin())
    noise = (reals(n, dims, 1)[..., 0] - np.float32(0.5)) * np.float32(0.1)
    best = position[first] + np.float32(0.01)
    size, rates = ints("particles dims", n, dims), floats("inertia c1 c2 limit", 0.7, 1.5, 1.5, limit)
    own = ("own_best", "own_value")
    block = ("block_value", "block_index")
    moved = ("position", "velocity", *own, "global_best", "seeds", *block, *size, *rates)
    picked = ("own_best", *block, "global_best", "global_value", np.int32(blocks(n)), "dims")
    arrays = {
        "position": position, "velocity": noise, "own_best": position + noise, "own_value": value,
        "global_best": best, "global_value": value[first : first + 1] + np.float32(0.5),
        "seeds": integers(1, 1 << 31, n, kind="u4"),
    }  # fmt: skip
    blank = {"block_value": zeros(blocks(n)), "block_index": zeros(blocks(n), kind="i4")}
    return Problem(
        arrays={**arrays, **blank},
        scalars={**size, **rates, "rounds": np.int32(rounds)},
        launches=[Launch("move", blocks(n), 256, moved), Launch("take_best", 1, 256, picked)] * rounds,
        changed=[*arrays],
        native=[*arrays],
        tolerance=1e-3,
        mismatches=0.005,
    )


@case(full=30, quick=4)
def hmm_forward(sequences: int) -> Problem:
    """100 states in CTAs of 128 threads, nine barriers a step, a step for each letter."""
    states, letters = 100, 25
    rng = np.random.default_rng(21)
    lengths = rng.integers(20, 70, sequences)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype("i4")
    transition, emission = reals(states, states) ** 6, reals(letters, states) ** 4
    start = reals(states)
    return Problem(
        arrays={
            "start": start / start.sum(), "transition": transition / transition.sum(1, keepdims=True),
            "emission": emission / emission.sum(0), "offsets": offsets,
            "symbols": rng.integers(0, letters, offsets[-1]).astype("u1"),
            "log_likelihood": zeros(sequences),
        },
        scalars=ints("states sequences", states, sequences),
        launches=[
            Launch(
                "hmm_forward", sequences, 128,
                ("start", "transition", "emission", "symbols", "offsets", "log_likelihood", "states"), 1024,
            )
        ],
        changed=["log_likelihood"],
        native=("start", "transition", "emission", "symbols", "offsets", "log_likelihood"),
        tolerance=1e-5,
    )  # fmt: skip


@case(full=320, quick=45)
def gotoh(sequences: int) -> Problem:
    """Sequences of no two lengths in a CTA; 60 cells a letter, in arrays of the thread's own."""
    rng = np.random.default_rng(22)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(40, 260, sequences))]).astype("i4")
    numbers = ints("sequences query_length gap_open gap_extend", sequences, 60, 11, 1)
    found = ("best_score", "best_end")
    return Problem(
        arrays={
            "database": rng.integers(0, 20, offsets[-1]).astype("i1"), "offsets": offsets,
            **{name: zeros(sequences, kind="i4") for name in found},
        },
        scalars=numbers,
        launches=[Launch("gotoh", blocks(sequences, 64), 64, ("database", "offsets", *found, *numbers))],
        changed=found,
    )  # fmt: skip


@case(full=4000, quick=150)
def minhash(reads: int) -> Problem:
    """Reads of 75 to 150 letters, few of which are none of the four."""
    rng = np.random.default_rng(23)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(75, 151, reads))]).astype("u4")
    letters = np.frombuffer(b"ACGT" * 100 + b"acgtNN", "u1")
    numbers = ints("n k bucket_bits", reads, 21, 10)
    names = ("reads", "offsets", "sketch", "seen")
    return Problem(
        arrays={
            "reads": rng.choice(letters, int(offsets[-1])), "offsets": offsets,
            "sketch": np.full(1 << 10, (1 << 64) - 1, "u8"), "seen": zeros(1 << 10, kind="u4"),
        },
        scalars=numbers,
        launches=[Launch("minhash", blocks(reads), 256, (*names, *numbers))],
        changed=["sketch", "seen"],
    )  # fmt: skip


INDEX_PART = np.dtype([("before", "u4", 4), ("low", "u8"), ("high", "u8")])


def index_of(text: Array) -> tuple[Array, Array, int]:
    """The index of a text of letters 0 to 3 by parts of 64 letters, where each letter's suffixes begin, and
    the place of the text's end in the transform. Any 42 letters of the text are there only once."""
    n = len(text)
    digits = np.concatenate([text.astype("u8") + 1, np.zeros(42, "u8")])
    keys = np.zeros((2, n + 1), "u8")
    for k in range(42):
        keys[k // 21] = keys[k // 21] * 5 + digits[k : k + n + 1] if k % 21 else digits[k : k + n + 1]
    order = np.lexsort((keys[1], keys[0]))
    end_at = int(np.flatnonzero(order == 0)[0])
    letters = text[order - 1]  # of the one at 0, the last: replaced
    letters[end_at] = 0
    parts = np.zeros(n // 64 + 1, INDEX_PART)
    padded = np.zeros(len(parts) * 64, "u1")
    padded[: n + 1] = letters
    bits = padded.reshape(-1, 64)
    parts["low"] = np.packbits(bits & 1, axis=1, bitorder="little").view("u8")[:, 0]
    parts["high"] = np.packbits(bits >> 1, axis=1, bitorder="little").view("u8")[:, 0]
    for c in range(4):
        each = (padded == c) & (np.arange(len(padded)) <= n)
        each[end_at] = False
        counts = each.reshape(-1, 64).sum(1)
        # as the end counts as an A until it is taken off, it is in its part, and in none of the later ones
        parts["before"][1:, c] = np.cumsum(counts)[:-1]
        if c == 0:
            parts["before"][:, c] += np.arange(len(parts)) > end_at // 64
    first = 1 + np.concatenate([[0], np.cumsum(np.bincount(text, minlength=4))[:-1]])
    return parts, first.astype("u4"), end_at


@case(full=6000, quick=200)
def fm_index(queries: int) -> Problem:
    """Half of the patterns are in the text; the others end after ten letters or so."""
    n, length = 100 * queries + 3, 24
    rng = np.random.default_rng(24)
    text = rng.integers(0, 4, n).astype("u1")
    parts, first, end_at = index_of(text)
    patterns = rng.integers(0, 4, (queries, length)).astype("u1")
    for q in range(0, queries, 2):
        start = rng.integers(0, n - length)
        patterns[q] = text[start : start + length]
    numbers = {**ints("n length", queries, length), "letters": np.uint32(n + 1), "end_at": np.uint32(end_at)}
    return Problem(
        arrays={
            "parts": parts.view("u8"), "first": first, "patterns": patterns,
            "ranges": zeros(queries, 2, kind="u4"),
        },
        scalars=numbers,
        launches=[
            Launch("fm_index", blocks(queries), 256, ("parts", "first", "patterns", "ranges", *numbers))
        ],
        changed=["ranges"],
    )  # fmt: skip


@case(full=3000, quick=150)
def kalman(tracks: int) -> Problem:
    """50 times; one of ten measurements is missing. Most products are by 0 or 1."""
    times = 50
    speed = (reals(tracks, 2) - np.float32(0.5)) * 20
    when = np.arange(1, times + 1, dtype="f4")[:, None, None] * np.float32(0.1)
    state = np.concatenate([reals(tracks, 3)[:, :2], np.zeros((tracks, 2), "f4")], 1)
    numbers = {**ints("tracks times", tracks, times), **floats("dt q r", 0.1, 0.5, 0.25)}
    names = ("state", "covariance", "measured", "valid")
    return Problem(
        arrays={
            "state": state,
            "covariance": np.tile(np.diag(np.float32([1, 1, 10, 10])).ravel(), (tracks, 1)),
            "measured": speed * when + reals(times, tracks, 2) - np.float32(0.5),
            "valid": (reals(times, tracks) < 0.9).astype("u1"),
        },
        scalars=numbers,
        launches=[Launch("kalman", blocks(tracks, 128), 128, (*names, *numbers))],
        changed=["state", "covariance"],
        tolerance=1e-4,
    )


@case(full=2000, quick=150)
def ldpc(bits: int) -> Problem:
    """Eight rounds of four frames; bits have two to eight checks, checks four to nine bits."""
    frames, rounds, checks = 4, 8, bits // 2
    rng = np.random.default_rng(26)
    degrees = rng.choice([2, 3, 4, 8], bits, p=[0.3, 0.45, 0.15, 0.1])
    bit_of_edge = rng.permutation(np.repeat(np.arange(bits), degrees)).astype("i4")
    edges = len(bit_of_edge)
    cuts = np.linspace(0, edges, checks + 1) + np.concatenate([[0], rng.uniform(-1, 1, checks - 1), [0]])
    llr = (2 * (1 + 0.8 * rng.standard_normal((frames, bits))) / 0.64).astype("f4")
    size = ints("bits checks edges", bits, checks, edges)
    factor = floats("factor", 0.8)
    start = np.concatenate([[0], np.cumsum(degrees)]).astype("i4")
    arrays = {
        "llr": llr, "bit_of_edge": bit_of_edge, "check_start": cuts.astype("i4"), "bit_start": start,
        "bit_edges": np.argsort(bit_of_edge, kind="stable").astype("i4"), "to_check": zeros(frames, edges),
        "to_bit": zeros(frames, edges), "hard": zeros(frames, bits, kind="u1"),
    }  # fmt: skip
    told = Launch(
        "check_nodes", (blocks(checks), frames), 256,
        ("check_start", "to_check", "to_bit", "checks", "edges", "factor"),
    )  # fmt: skip
    summed = Launch(
        "bit_nodes", (blocks(bits), frames), 256,
        ("bit_start", "bit_edges", "llr", "to_bit", "to_check", "hard", "bits", "edges"),
    )  # fmt: skip
    begin = Launch("begin", (blocks(edges), frames), 256, ("llr", "bit_of_edge", "to_check", "bits", "edges"))
    return Problem(
        arrays=arrays,
        scalars={**size, **factor, **ints("frames rounds", frames, rounds)},
        launches=[begin, *[told, summed] * rounds],
        changed=["to_check", "to_bit", "hard"],
        tolerance=1e-5,
        mismatches=0.001,
    )


@case(full=64, quick=21)
def cornell(w: int) -> Problem:
    """Paths of one to eight parts, whose lanes meet walls, mirrors, glass and the lamp."""
    h = w * 3 // 4
    size = ints("width height samples max_depth", w, h, 4, 8)
    return Problem(
        arrays={"image": zeros(h, w, 3)},
        scalars={**size, "seed": np.uint32(77)},
        launches=[Launch("cornell", (blocks(w, 16), blocks(h, 16)), (16, 16), ("image", *size, "seed"))],
        changed=["image"],
        tolerance=1e-3,
        mismatches=0.02,
    )
