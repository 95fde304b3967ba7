"""Kernels in today's CUDA C++ (CUB, cuda::std, cooperative groups, templates), written without knowing what
the JIT is good at: texts and columns of data, compression, fits, products by tensor cores."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, ints, zeros

LETTERS = b" etaoinshrdlcumwfgypbvk,.xjqz\nTHEASIW-'\"0123456789"


def like_text(*shape: int) -> Array:
    """Bytes as often as in a text, roughly: in powers of their ranks."""
    rng = np.random.default_rng(101)
    weights = 1 / np.arange(1, len(LETTERS) + 1) ** 1.1
    return rng.choice(np.frombuffer(LETTERS, "u1"), shape, p=weights / weights.sum())


def rans_encoded(data: Array, freq: Array, bits: int) -> tuple[Array, Array, Array]:
    """States that a decoder starts with, words, where a chunk's words start. `data`: [chunk, step, lane]."""
    chunks, steps, lanes = data.shape
    before = np.cumsum(freq) - freq
    state = np.full((chunks, lanes), 1 << 16, "u8")
    words, given = np.zeros(data.shape, "u2"), np.zeros(data.shape, bool)
    for step in reversed(range(steps)):
        f, b = (table[data[:, step]].astype("u8") for table in (freq, before))
        given[:, step] = state >= f << (32 - bits)
        words[:, step] = state
        state = np.where(given[:, step], state >> 16, state)
        state = (state // f << bits) + state % f + b
    starts = np.concatenate(([0], np.cumsum(given.sum((1, 2)))))
    return state.astype("u4"), words[given], starts.astype("u4")


@case(full=128, quick=5)
def rans32(chunks: int) -> Problem:
    """Chunks of text, each with 32 states in turn; how many lanes want words is different in each step."""
    bits, steps = 12, 256 if chunks > 100 else 19
    data = like_text(chunks, steps, 32)
    count = np.bincount(data.ravel(), minlength=256)
    freq = np.maximum(count * (1 << bits) // count.sum(), count > 0)
    freq[freq.argmax()] += (1 << bits) - freq.sum()
    states, words, starts = rans_encoded(data, freq, bits)
    numbers = ints("chunks steps", chunks, steps)
    names = ("freqs", "states", "words", "word_start", "out")
    given = (freq.astype("u2"), states, words, starts, np.zeros_like(data))
    return Problem(
        arrays=dict(zip(names, given, strict=True)),
        scalars=numbers,
        launches=[Launch("rans32_decode", blocks(chunks, 8), 256, (*names, *numbers))],
        changed=["out"],
    )


@case(full=2_000_000, quick=5000)
def rle_look(n: int) -> Problem:
    """A sorted-by-something-else column: most runs are short, some are of thousands."""
    rng = np.random.default_rng(102)
    lengths = np.minimum(rng.zipf(1.6, n), 3000)
    column = np.repeat(rng.integers(0, 12, n), lengths)[:n].astype("i4")
    tiles = blocks(n, 192 * 7)
    made = {
        "values": zeros(n + 1, kind="i4"), "starts": zeros(n + 1, kind="u4"),
        "lengths": zeros(n, kind="u4"), "runs": zeros(1, kind="u4"),
    }  # fmt: skip
    return Problem(
        arrays={"column": column, **made, "states": zeros(tiles, kind="u8"), "ticket": zeros(1, kind="u4")},
        scalars={"n": np.int32(n)},
        launches=[
            Launch("rle_look_init", blocks(tiles), 256, ("states", "ticket", np.int32(tiles))),
            Launch(
                "rle_look_heads", tiles, 192, ("column", "n", "states", "ticket", "values", "starts", "runs")
            ),
            Launch("rle_look_lengths", 64, 256, ("starts", "runs", "lengths")),
        ],
        changed=[*made],
        native=("column", *made),
    )


def some_words(count: int, different: int) -> list[bytes]:
    """Words of a language that does not exist, the short ones more often."""
    rng = np.random.default_rng(103)
    parts = b"th e an in er re on at en ti es or te of ed is it al ar st to nt ha ng se ou io le ve co me de"
    pieces = [*parts.split(), b"a", b"i", b"o", b"u", b"s", b"m", b"b", b"k"]
    picks: Array = rng.zipf(1.3, (different, 8)) % len(pieces)
    sizes: Array = 1 + np.sort(rng.integers(0, 8, different))
    vocabulary = [
        b"".join(pieces[int(k)] for k in some[:size])[:32] for some, size in zip(picks, sizes, strict=True)
    ]
    weights = 1 / np.arange(1, different + 1)
    return [vocabulary[k] for k in rng.choice(different, count, p=weights / weights.sum())]


def learned(words: set[bytes], merges: int) -> dict[tuple[int, int], int]:
    """Pairs of tokens by rank: each time what is side by side most often in different words."""
    texts, ranks = [[*word] for word in sorted(words)], dict[tuple[int, int], int]()
    for rank in range(merges):
        count = dict[tuple[int, int], int]()
        for text in texts:
            for pair in pairwise(text):
                count[pair] = count.get(pair, 0) + 1
        if not count:
            break
        best = max(count, key=lambda pair: (count[pair], pair))
        ranks[best] = rank
        for text in texts:
            for at in reversed(range(len(text) - 1)):
                if (*text[at : at + 2],) == best:
                    text[at : at + 2] = [256 + rank]
    return ranks


def pair_table(ranks: dict[tuple[int, int], int], slots: int) -> Array:
    """A hash table with open addressing of pairs (64 bits) and ranks."""
    table = np.full((slots, 2), 0xFFFFFFFFFFFFFFFF, "u8")
    for (left, right), rank in ranks.items():
        key = left << 32 | right
        at = (key * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF) >> 40 & (slots - 1)
        while table[at, 0] != 0xFFFFFFFFFFFFFFFF:
            at = (at + 1) % slots
        table[at] = key, rank
    return table


@case(full=30_000, quick=45)
def bpe(count: int) -> Problem:
    """250 pairs known; a word's lanes are mostly idle, and pairs are joined one after the other."""
    words, slots = some_words(count, 700 if count > 1000 else 40), 512
    starts = np.concatenate(([0], np.cumsum([len(word) for word in words]))).astype("i4")
    numbers = {"mask": np.uint32(slots - 1), **ints("words", count)}
    made = {"tokens": zeros(count, 32, kind="u2"), "counts": zeros(count, kind="u1")}
    args = ("text", "word_start", "slots", "mask", *made, "words")
    return Problem(
        arrays={
            "text": np.frombuffer(b"".join(words), "u1").copy(), "word_start": starts,
            "slots": pair_table(learned({*words}, 250), slots), **made,
        },
        scalars=numbers,
        launches=[Launch("bpe_words", min(256, blocks(count, 4)), 128, args)],
        changed=[*made],
    )  # fmt: skip


@case(full=100_000, quick=330)
def csv_print(rows: int) -> Problem:
    """Amounts of some digits and of many, a part of them below zero; dates of two centuries."""
    rng = np.random.default_rng(104)
    cents = (rng.lognormal(8, 3, rows) * rng.choice([1, 1, 1, -1], rows)).astype("i8")
    groups = blocks(rows)
    table = {
        "id": np.cumsum(rng.integers(1, 90, rows)).astype("u4"), "cents": cents,
        "days": rng.integers(-25567, 47482, rows).astype("i4"),
    }  # fmt: skip
    made = {"text": zeros(rows * 48, kind="u1"), "bytes": zeros(1, kind="i4")}
    return Problem(
        arrays={**table, **made, "block_size": zeros(groups, kind="i4")},
        scalars={"rows": np.int32(rows)},
        launches=[
            Launch("csv_print_sizes", groups, 256, (*table, "block_size", "rows")),
            Launch("csv_print_offsets", 1, 256, ("block_size", "bytes", np.int32(groups))),
            Launch("csv_print_rows", groups, 256, (*table, "block_size", "text", "rows")),
        ],
        changed=[*made],
        native=(*table, *made),
    )


@case(full=80, quick=13)
def fit_dual(w: int) -> Problem:
    """An ellipse of pixels with three kinds of tissue; where steps stop, rounding may decide."""
    rng = np.random.default_rng(105)
    h, echoes, rounds = w * 3 // 4, 32, 20
    y, x = np.mgrid[:h, :w]
    inside = ((x - w / 2) / (w * 0.45)) ** 2 + ((y - h / 2) / (h * 0.45)) ** 2 < 1
    tissue = (np.sin(x / 9) + np.cos(y / 7) > 0.4).astype("i4") + (np.sin(x / 5 + y / 6) > 0.7)
    amplitude = (np.array([0.9, 1.1, 1.4])[tissue] * inside).ravel()
    rate = np.array([14.0, 20.0, 32.0])[tissue].ravel()
    times = np.arange(1, echoes + 1) * 0.006
    signal = amplitude * np.exp(-times[:, None] * rate) + 0.05 + 0.005 * rng.normal(size=(echoes, w * h))
    numbers = {
        **ints("count pixels", echoes, w * h), "background": np.float32(0.3), "rounds": np.int32(rounds),
    }  # fmt: skip
    names = ("times", "echoes", "map")
    return Problem(
        arrays=dict(zip(names, (times.astype("f4"), signal.astype("f4"), zeros(3, w * h)), strict=True)),
        scalars=numbers,
        launches=[Launch("fit_dual", blocks(w * h, 128), 128, (*names, *numbers), 4 * echoes)],
        changed=["map"],
        tolerance=1e-4,
        mismatches=0.01,
    )


@case(full=2048, quick=128)
def splitk(k: int) -> Problem:
    """Few rows and a long k: four blocks wait for each other at each tile."""
    rng = np.random.default_rng(106)
    m, n = (128, 192) if k > 1000 else (64, 128)
    size = ints("m n k", m, n, k)
    splits = 4 if k > 1000 else 2
    return Problem(
        arrays={
            "a": rng.normal(0, 1, (m, k)).astype("f2"), "b": rng.normal(0, 0.05, (n, k)).astype("f2"),
            "bias": rng.normal(0, 1, n).astype("f4"), "c": zeros(m, n),
            "semaphores": zeros(m // 64 * n // 64, kind="i4"),
        },
        scalars=size,
        launches=[
            Launch(
                "splitk", (n // 64, m // 64, splits), 128, ("a", "b", "bias", "c", "semaphores", *size)
            )
        ],
        changed=["c", "semaphores"],
        native=("a", "b", "bias", "c"),
        tolerance=1e-5,
    )  # fmt: skip


@case(full=512, quick=64)
def mariani(size: int) -> Problem:
    """Seahorses: blocks look for work until all is done. Far out on an orbit, rounding decides its length."""
    first, capacity = size // 4, 4096
    view = {
        "left": np.float64(-0.79), "top": np.float64(0.06), "step": np.float64(0.12 / size),
        "limit": np.int32(256),
    }  # fmt: skip
    made = {
        "squares": zeros(capacity, kind="u8"), "ready": zeros(capacity, kind="u4"),
        "counters": zeros(2, kind="u4"), "pending": zeros(1, kind="i4"),
    }  # fmt: skip
    return Problem(
        arrays={"image": zeros(size, size, kind="u2"), **made},
        scalars={**ints("size first", size, first), **view},
        launches=[
            Launch("mariani_init", 4, 256, (*made, "size", "first", np.int32(capacity))),
            Launch("mariani_work", 16, 64, (*made, "image", "size", *view)),
        ],
        changed=["image"],
        native=["image"],
        mismatches=0.005,
    )


@case(full=32_000, quick=1500)
def pq_scan(n: int) -> Problem:
    """Codes in groups, as of vectors that are: of 16 parts, some are those of the group's centre."""
    rng = np.random.default_rng(107)
    queries, parts, best, tiles = 12 if n > 10_000 else 2, 16, 16, blocks(n, 1024)
    centres = rng.integers(0, 256, (40, parts))
    group = np.minimum(rng.zipf(1.4, n) - 1, 39)
    codes = np.where(rng.random((n, parts)) < 0.35, centres[group], rng.integers(0, 256, (n, parts)))
    given = {
        "queries": rng.normal(size=(queries, parts, 4)).astype("f4"),
        "books": rng.normal(size=(parts, 256, 4)).astype("f4"), "codes": codes.astype("u1"),
    }  # fmt: skip
    made = {"distance": zeros(queries, best), "id": zeros(queries, best, kind="i4")}
    return Problem(
        arrays={
            **given, **made,
            "tables": zeros(queries, parts, 256), "candidates": zeros(queries, tiles, best, 2),
        },
        scalars=ints("n count", n, queries),
        launches=[
            Launch("pq_table", (parts, queries), 256, ("queries", "books", "tables")),
            Launch("pq_tiles", (tiles, queries), 128, ("tables", "codes", "candidates", "n")),
            Launch("pq_best", queries, 128, ("candidates", "distance", "id", np.int32(tiles * best))),
        ],
        changed=[*made],
        native=(*given, *made),
        tolerance=1e-5,
        mismatches=0.03,
    )  # fmt: skip


@case(full=400, quick=37)
def lazy_rk4(w: int) -> Problem:
    """A broken front that becomes a spiral: 24 launches, most of them sums of fields."""
    h, steps, dt = w - 12, 3, np.float32(0.05)
    y, x = np.mgrid[:h, :w]
    u = np.where(x < w / 3, 1.8, -1.2) + 0.1 * np.sin(y / 5)
    v = np.where(y < h / 2, -0.5, 0.9) + 0.05 * np.cos(x / 7)
    size, area = ints("w h", w, h), np.int32(w * h)
    rate = {
        "diffusion": np.float32(0.6), "a": np.float32(0.7), "b": np.float32(0.8),
        "epsilon": np.float32(0.08),
    }  # fmt: skip
    launches = list[Launch]()
    groups, staged = min(64, blocks(w * h)), ("stage_u", "stage_v")
    for _ in range(steps):
        for stage, ahead in enumerate((dt / 2, dt / 2, dt, None)):
            fields, k = staged if stage else ("u", "v"), ("k", np.int32(stage))
            launches.append(
                Launch("lazy_rk4_rhs", (blocks(w, 32), blocks(h, 8)), (32, 8), (*fields, *k, *size, *rate))
            )
            if ahead is not None:
                args = ("u", "v", *k, *staged, np.float32(ahead), area)
                launches.append(Launch("lazy_rk4_stage", groups, 256, args))
        launches.append(Launch("lazy_rk4_finish", groups, 256, ("u", "v", "k", "dt", area)))
    return Problem(
        arrays={
            "u": u.astype("f4"), "v": v.astype("f4"), "k": zeros(4, 2, h, w),
            "stage_u": zeros(h, w), "stage_v": zeros(h, w),
        },
        scalars={**size, **rate, "dt": dt, "steps": np.int32(steps)},
        launches=launches,
        changed=["u", "v"],
        native=("u", "v"),
        tolerance=1e-5,
    )  # fmt: skip


@case(full=600, quick=9)
def nextprime(count: int) -> Problem:
    """Some 15 candidates each, most of which small primes sort out; a warp's threads end apart."""
    rng = np.random.default_rng(109)
    numbers = (2 ** rng.uniform(20, 53 if count > 100 else 33, count)).astype("u8")
    numbers[:5] = [0, 1, 2, 240, 7919]
    return Problem(
        arrays={"numbers": numbers, "primes": zeros(count, kind="u8")},
        scalars={"count": np.int32(count)},
        launches=[Launch("nextprime", blocks(count, 64), 64, ("numbers", "primes", "count"))],
        changed=["primes"],
    )


@case(full=640, quick=42)
def sw_pair(sequences: int) -> Problem:
    """A query of 75 letters; a tenth of the sequences hold some of it, with changes. Sorted by length."""
    rng = np.random.default_rng(110)
    letters, rows, pairs = 24, 75 if sequences > 100 else 21, sequences // 2
    query = rng.integers(0, 20, rows)
    lengths = np.sort(np.clip(rng.lognormal(4.6, 0.5, sequences), 8, 300).astype("i4"))
    if sequences < 100:
        lengths //= 4
    longest = int(lengths.max())
    database = np.full((longest, sequences), letters - 1)
    for k, length in enumerate(lengths):
        database[:length, k] = rng.integers(0, 20, length)
        if k % 10 == 3:
            part = query[: min(rows, int(length))]
            database[: len(part), k] = np.where(rng.random(len(part)) < 0.2, database[: len(part), k], part)
    matrix = rng.integers(-4, 3, (letters, letters))
    matrix = np.minimum(matrix, matrix.T)
    np.fill_diagonal(matrix, rng.integers(4, 10, letters))
    matrix[-1] = matrix[:, -1] = -8
    given = {
        "query": query.astype("u1"), "matrix": matrix.astype("i1"), "database": database.astype("u1"),
        "lengths": lengths,
    }  # fmt: skip
    numbers = ints("rows pairs open extend", rows, pairs, 11, 1)
    return Problem(
        arrays={**given, "border": zeros(longest, pairs, 2, kind="u4"), "scores": zeros(pairs, 2, kind="i4")},
        scalars=numbers,
        launches=[
            Launch("sw_pair", blocks(pairs, 64), 64, (*given, "border", "scores", *numbers)),
        ],
        changed=["scores"],
        native=(*given, "scores"),
    )


EVENT = np.dtype([("user", "u8"), ("page", "u4"), ("time", "u4")])


@case(full=700_000, quick=3000)
def hll_groups(n: int) -> Problem:
    """Some pages have nearly all events, and some users have many; three in four events are in time."""
    rng = np.random.default_rng(111)
    pages, hours = 90, 24 * 3600
    events = np.zeros(n, EVENT)
    events["user"] = rng.zipf(1.15, n) % (1 << 40)
    events["page"] = np.minimum(rng.zipf(1.3, n) - 1, pages - 1)
    events["time"] = np.sort(rng.integers(0, hours, n))
    times = {"from": np.uint32(hours // 8), "to": np.uint32(hours * 7 // 8)}
    made = {"sketches": zeros(pages, 64, kind="u4"), "estimates": zeros(pages)}
    return Problem(
        arrays={"events": events.view("u8").reshape(n, 2), **made},
        scalars={**ints("n pages", n, pages), **times},
        launches=[
            Launch(
                "hll_groups_add", min(32, blocks(n)), 256, ("events", "sketches", "n", "pages", *times),
                4 * 64 * pages,
            ),
            Launch("hll_groups_estimate", blocks(pages, 4), 128, ("sketches", "estimates", "pages")),
        ],
        changed=[*made],
        tolerance=1e-6,
    )  # fmt: skip


@case(full=800, quick=41)
def aberth(count: int) -> Problem:
    """Degree 10, some 15 rounds, each with 90 complex divisions; where they stop, rounding may decide."""
    rng = np.random.default_rng(112)
    given = rng.normal(size=(11, count, 2))
    numbers = {**ints("count rounds", count, 50), "tolerance": np.float64(1e-9)}
    return Problem(
        arrays={"coefficients": given, "roots": zeros(10, count, 2, kind="f8")},
        scalars=numbers,
        launches=[Launch("aberth", blocks(count, 64), 64, ("coefficients", "roots", *numbers))],
        changed=["roots"],
        tolerance=1e-8,
        mismatches=0.01,
    )
