"""Sixteen kernels as those write them who learn CUDA: a thread for each row, line, text, password, cell,
stock, source or tour, sums in global memory, blocks of 10, 100 or 7 x 13, double where a literal has no f."""

from __future__ import annotations

import hashlib

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, integers, ints, reals, zeros

ENGLISH = np.array([
    8.167, 1.492, 2.782, 4.253, 12.702, 2.228, 2.015, 6.094, 6.966, 0.153, 0.772, 4.025, 2.406,
    6.749, 7.507, 1.929, 0.095, 5.987, 6.327, 9.056, 2.758, 0.978, 2.360, 0.150, 1.974, 0.074,
])  # fmt: skip


def lexicon(size: int, seed: int) -> list[bytes]:
    """Words of 1 to 11 letters, as frequent as English has them; the first words are shorter."""
    rng = np.random.default_rng(seed)
    lengths = np.minimum(1 + rng.poisson(1.5 + 4 * np.minimum(np.arange(size) / 60, 1)), 11)
    letters = rng.choice(26, (size, 11), p=ENGLISH / ENGLISH.sum()) + ord("a")
    return [bytes(row[:length].astype("u1")) for row, length in zip(letters, lengths.tolist(), strict=True)]


def ranks(size: int, count: int, rng: np.random.Generator, power: float = 1.0) -> Array:
    """Zipf's law: the numbers of words, the most frequent of which is 0."""
    share = 1 / np.arange(1, size + 1) ** power
    return rng.choice(size, count, p=share / share.sum())


def picked(words: list[bytes], numbers: Array) -> list[bytes]:
    return [words[int(k)] for k in numbers]


def sentence(words: list[bytes], count: int, rng: np.random.Generator) -> bytes:
    return b" ".join(picked(words, ranks(len(words), count, rng))).capitalize() + b"."


def as_bytes(text: bytes, kind: str = "u1") -> Array:
    return np.frombuffer(text, "u1").astype(kind)


@case(full=400, quick=7)
def det_rows(count: int) -> Problem:
    """30 rows, 30 threads: most of them wait for the first, which looks for the pivot."""
    n = 30 if count > 100 else 11
    matrices = np.random.default_rng(41).normal(size=(count, n, n)) / 2
    return Problem(
        arrays={"matrices": matrices, "det": zeros(count, kind="f8")},
        scalars=ints("n count", n, count),
        launches=[Launch("det_rows", count, n, ("matrices", "det", "n"))],
        changed=["matrices", "det"],
        tolerance=1e-9,
    )


@case(full=3000, quick=23)
def factorials(n: int) -> Problem:
    """Up to 120!, which has 199 digits; blocks of 100."""
    largest = 120 if n > 1000 else 30
    numbers = {**ints("n max_digits", n, 200)}
    return Problem(
        arrays={
            "numbers": integers(0, largest + 1, n), "digits": zeros(n, 200, kind="i1"),
            "lengths": zeros(n, kind="i4"),
        },
        scalars=numbers,
        launches=[Launch("factorials", blocks(n, 100), 100, ("numbers", "digits", "lengths", *numbers))],
        changed=["digits", "lengths"],
    )  # fmt: skip


@case(full=60_000, quick=900)
def vigenere(n: int) -> Problem:
    """A text under a key of seven letters; key lengths up to 20 are tried by 20 threads."""
    rng, key, most = np.random.default_rng(42), b"gravity", 20
    words = lexicon(400, 42)
    text = b" ".join(sentence(words, 12, rng) for _ in range(n // 30))[:n].ljust(n)
    length = np.int32(len(key))
    return Problem(
        arrays={
            "text": as_bytes(text), "out": zeros(n, kind="u1"), "key": as_bytes(key),
            "counts": zeros(26, kind="i4"), "index": zeros(most, kind="f8"),
            "guess": zeros(len(key), kind="u1"),
        },
        scalars={"n": np.int32(n), "key_length": length, "max_length": np.int32(most)},
        launches=[
            Launch("encrypt", blocks(n, 512), 512, ("text", "out", "n", "key", "key_length")),
            Launch("letters", blocks(n, 512), 512, ("out", "n", "counts")),
            Launch("coincidence", blocks(most, 10), 10, ("out", "n", "index", "max_length")),
            Launch("guess_key", 1, len(key), ("out", "n", "guess", "key_length")),
        ],
        changed=["out", "counts", "index", "guess"],
        tolerance=1e-9,
    )  # fmt: skip


@case(full=12_000, quick=130)
def rev_words(lines: int) -> Problem:
    """Lines of 0 to 14 words, one of 20 a palindrome."""
    rng = np.random.default_rng(43)
    words, made = lexicon(2000, 43), list[bytes]()
    for count in rng.integers(0, 15, lines).tolist():
        line = sentence(words, count, rng) if count else b""
        if rng.random() < 0.05:
            half = b" ".join(picked(words, rng.integers(0, 2000, 4)))
            line = half.title() + b"! " + half[::-1]
        made.append(line + b"\n")
    start = np.concatenate([[0], np.cumsum([len(line) for line in made])]).astype("i4")
    text = as_bytes(b"".join(made))
    groups = blocks(lines, 500)
    return Problem(
        arrays={
            "text": text, "start": start, "out": zeros(text.size, kind="u1"),
            "palindrome": zeros(lines, kind="u1"), "longest": zeros(lines, kind="i2"),
        },
        scalars=ints("lines", lines),
        launches=[
            Launch("rev_words", groups, 500, ("text", "start", "out", "lines")),
            Launch("line_facts", groups, 500, ("text", "start", "palindrome", "longest", "lines")),
        ],
        changed=["out", "palindrome", "longest"],
    )  # fmt: skip


@case(full=400, quick=30)
def kmp_docs(docs: int) -> Problem:
    """Texts of 1 to 300 words and six patterns, some of which overlap themselves."""
    rng = np.random.default_rng(44)
    words = [*lexicon(600, 44), b"banana", b"ananas", b"aaaa"]
    parts = [sentence(words, count, rng) for count in rng.integers(1, 300, docs).tolist()]
    offset = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype("i8")
    patterns = [b"ana", b"aa", words[9] + b" " + words[0], b"banana", words[70][:6], b" " + words[2] + b" "]
    numbers = ints("docs num_patterns", docs, len(patterns))
    counts = {"count": zeros(docs, 6, kind="i4"), "first": zeros(docs, 6, kind="i8")}
    return Problem(
        arrays={
            "text": as_bytes(b"".join(parts)), "offset": offset,
            "patterns": as_bytes(b"".join(pattern.ljust(24, b"\0") for pattern in patterns)), **counts,
        },
        scalars=numbers,
        launches=[
            Launch(
                "kmp_docs", (blocks(docs, 32), blocks(len(patterns), 4)), (32, 4),
                ("text", "offset", "patterns", "count", "first", *numbers),
            )
        ],
        changed=["count", "first"],
    )  # fmt: skip


@case(full=100_000, quick=500)
def sha1_crack(n: int) -> Problem:
    """A part of all words of five letters; five hashes are among those made, three are not."""
    first = 7_654_321
    hidden = [first + n * k // 5 + 3 for k in range(5)]
    targets = list[bytes]()
    for number in [*hidden, 11, 12, 13]:
        letters = bytes(97 + number // 26**k % 26 for k in (4, 3, 2, 1, 0))
        targets.append(hashlib.sha1(letters).digest())
    hashes = np.frombuffer(b"".join(targets), ">u4").astype("u4")
    numbers = {**ints("num_targets", 8), "first": np.int64(first), **ints("n", n)}
    return Problem(
        arrays={"targets": hashes, "found": np.full(8, -1, "i8"), "zeros": zeros(1, kind="i4")},
        scalars=numbers,
        launches=[Launch("sha1_crack", blocks(n), 256, ("targets", *numbers, "found", "zeros"))],
        changed=["found", "zeros"],
    )


@case(full=1000, quick=61)
def otsu(width: int) -> Problem:
    """A dark ground, bright discs, some noise: a histogram of two hills."""
    height = width * 2 // 3 - 5
    y, x = np.mgrid[:height, :width]
    light = 60 + 25 * np.sin(x / 50) + np.random.default_rng(45).normal(size=(height, width)) * 14
    for k in range(9):
        cx, cy, r = width * (k * 37 % 100) / 100, height * (k * 61 % 100) / 100, width / 25 + k * width / 150
        light[(x - cx) ** 2 + (y - cy) ** 2 < r * r] += 95 + 4 * k
    tint = np.array([1.1, 0.95, 0.8]) + reals(height, width, 3) / 8
    size = ints("width height", width, height)
    grid, block = (blocks(width, 16), blocks(height, 16)), (16, 16)
    made = {
        "grey": zeros(height, width, kind="u1"), "histogram": zeros(256, kind="i4"),
        "variance": zeros(256, kind="f8"), "threshold": zeros(1, kind="i4"),
        "out": zeros(height, width, kind="u1"),
    }  # fmt: skip
    return Problem(
        arrays={"picture": np.clip(light[..., None] * tint, 0, 255).astype("u1"), **made},
        scalars=size,
        launches=[
            Launch("to_grey", grid, block, ("picture", "grey", *size)),
            Launch("count_greys", grid, block, ("grey", "histogram", *size)),
            Launch("between", 1, 256, ("histogram", "variance", np.int32(width * height))),
            Launch("best_threshold", 1, 1, ("variance", "threshold")),
            Launch("binarize", grid, block, ("grey", "out", "threshold", *size)),
        ],
        changed=[*made],
        tolerance=1e-12,
    )


@case(full=900, quick=40)
def seam(width: int) -> Problem:
    """Some seams, for each of which as many launches as rows; the picture gets narrower."""
    h, count = width // 3, 10 if width > 100 else 3
    y, x = np.mgrid[:h, :width]
    light = 110 + 50 * np.sin(x / 17 + y / 40) + 30 * np.cos(y / 11) + 20 * reals(h, width)
    light[(x - width / 2) ** 2 + (y - h / 2) ** 2 < h * h / 16] += 40
    launches, stride = list[Launch](), np.int32(width)
    for s in range(count):
        w = np.int32(width - s)
        grid = (blocks(width - s, 16), blocks(h, 16))
        launches += [
            Launch("seam_energy", grid, (16, 16), ("image", "energy", w, "h", stride)),
            *[
                Launch("seam_row", blocks(width - s, 100), 100, ("energy", "cost", np.int32(y), w, stride))
                for y in range(h)
            ],
            Launch("seam_trace", 1, 1, ("cost", "seams", np.int32(s), w, "h", stride)),
            Launch("seam_remove", blocks(h, 100), 100, ("image", "seams", np.int32(s), w, "h", stride)),
        ]
    return Problem(
        arrays={
            "image": light.astype("u1"), "energy": zeros(h, width, kind="i4"),
            "cost": zeros(h, width, kind="i4"), "seams": zeros(count, h, kind="i4"),
        },
        scalars=ints("width h count", width, h, count),
        launches=launches,
        changed=["image", "energy", "cost", "seams"],
    )  # fmt: skip


@case(full=400, quick=31)
def sandpile(w: int) -> Problem:
    """Two heaps in the middle of a plane that is full nearly everywhere; blocks of 7 x 13."""
    h, rounds = w * 3 // 4 + 1, 60 if w > 100 else 6
    pile = integers(0, 5, h, w)
    pile[h // 2, w // 2] = 40_000
    pile[h // 3, w // 5] = 9000
    grid = (blocks(w, 7), blocks(h, 13))
    return Problem(
        arrays={"a": pile, "b": zeros(h, w, kind="i4"), "toppled": zeros(rounds, kind="i4")},
        scalars=ints("w h rounds", w, h, rounds),
        launches=[
            Launch("sandpile", grid, (7, 13), (*("ba" if r % 2 else "ab"), "toppled", np.int32(r), "w", "h"))
            for r in range(rounds)
        ],
        changed=["a", "b", "toppled"],
    )


@case(full=256, quick=27)
def sir_grid(w: int) -> Problem:
    """One of 300 is ill at first; blocks of 10 x 10, neighbours by remainders."""
    h, days = w - 6, 30 if w > 100 else 5
    rng = np.random.default_rng(46)
    people = (rng.random((h, w)) < 1 / 300) * rng.integers(1, 7, (h, w))
    people[0, :3] = 6
    numbers = {**ints("w h", w, h), "beta": np.float64(0.12), "days_ill": np.int32(6)}
    return Problem(
        arrays={
            "a": people.astype("i1"), "b": zeros(h, w, kind="i1"),
            "seeds": rng.integers(0, 1 << 32, (h, w)).astype("u4"), "counts": zeros(days, 3, kind="i4"),
        },
        scalars={**numbers, "days": np.int32(days)},
        launches=[
            Launch(
                "sir_grid", (blocks(w, 10), blocks(h, 10)), (10, 10),
                (*("ba" if d % 2 else "ab"), "seeds", "counts", np.int32(d), *numbers),
            )
            for d in range(days)
        ],
        changed=["a", "b", "seeds", "counts"],
    )  # fmt: skip


@case(full=48, quick=9)
def pendulum2(w: int) -> Problem:
    """Two seconds and a half: some go over the top; in a few of them, chaos makes much of little."""
    h, steps = w - 3, 120 if w > 20 else 25
    numbers = {**ints("w h steps", w, h, steps), "dt": np.float64(0.02)}
    return Problem(
        arrays={"last": zeros(h, w, 4, kind="f8"), "flipped": zeros(h, w, kind="i4")},
        scalars=numbers,
        launches=[
            Launch("pendulum2", (blocks(w, 16), blocks(h, 16)), (16, 16), ("last", "flipped", *numbers))
        ],
        changed=["last", "flipped"],
        tolerance=1e-6,
        mismatches=0.005,
    )


@case(full=600, quick=11)
def indicators(stocks: int) -> Problem:
    """Random walks; whoever compares a price with a band may err by the last digit."""
    days = 503 if stocks > 100 else 61
    steps = np.random.default_rng(47).normal(size=(stocks, days)) * 0.02
    price = ((20 + 100 * reals(stocks, 1)) * np.exp(np.cumsum(steps, 1))).astype("f4")
    bands = {name: zeros(stocks, days) for name in ("upper", "lower")}
    said = {"rsi": zeros(stocks, days), "macd": zeros(stocks, days), "advice": zeros(stocks, days, kind="i1")}
    size = ints("stocks days", stocks, days)
    return Problem(
        arrays={"price": price, **bands, **said},
        scalars={**size, "period": np.int32(14)},
        launches=[
            Launch("bollinger", (blocks(days, 128), stocks), 128, ("price", *bands, *size)),
            Launch("rsi_macd", blocks(stocks, 100), 100, ("price", *bands, *said, *size, "period")),
        ],
        changed=[*bands, *said],
        tolerance=1e-4,
        mismatches=1e-4,
    )


def texts(docs: int, classes: int, vocabulary: int, seed: int) -> tuple[Array, Array, Array]:
    """Where texts begin, their words by Zipf's law (each class likes others), their classes."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 120, docs)
    start = np.concatenate([[0], np.cumsum(lengths)]).astype("i4")
    label = rng.integers(0, classes, docs).astype("u1")
    shift = np.repeat(label.astype("i4"), lengths) * 37
    rank = ranks(vocabulary, int(start[-1]), rng)
    own = rng.random(rank.size) < 0.3
    return start, np.where(own, (rank + shift) % vocabulary, rank).astype("u2"), label


@case(full=2000, quick=60)
def bayes(docs: int) -> Problem:
    """Five classes, 3000 words of which a few are everywhere: many add to one counter."""
    classes, vocabulary = 5, 3000 if docs > 1000 else 200
    start, words, label = texts(docs, classes, vocabulary, 48)
    test_docs = docs * 2 + 1
    test_start, test_words, _ = texts(test_docs, classes, vocabulary, 49)
    sums = {
        "word_count": zeros(classes, vocabulary, kind="i4"),
        "class_words": zeros(classes, kind="i4"), "class_docs": zeros(classes, kind="i4"),
    }  # fmt: skip
    found = {"score": zeros(test_docs, classes, kind="f8"), "guess": zeros(test_docs, kind="u1")}
    numbers = ints("train_docs docs classes vocabulary", docs, test_docs, classes, vocabulary)
    train = {"start": start, "words": words, "label": label}
    test = {"test_start": test_start, "test_words": test_words}
    return Problem(
        arrays={**train, **test, "logs": zeros(classes, vocabulary, kind="f8"), **sums, **found},
        scalars=numbers,
        launches=[
            Launch("bayes_train", blocks(docs, 100), 100, (*train, *sums, "train_docs", "vocabulary")),
            Launch(
                "bayes_logs", blocks(classes * vocabulary, 1024), 1024,
                ("word_count", "class_words", "logs", "classes", "vocabulary"),
            ),
            Launch(
                "bayes_classify", blocks(test_docs, 192), 192,
                (*test, "logs", "class_docs", *found, "docs", "train_docs", "classes", "vocabulary"),
            ),
        ],
        changed=["logs", *sums, *found],
        native=[*train, *test, *sums, *found],
        tolerance=1e-10,
        mismatches=1e-3,
    )  # fmt: skip


@case(full=200, quick=19)
def mlp_naive(batch: int) -> Problem:
    """Ten classes of noisy pictures of 8 x 8, some rounds of six launches each."""
    inputs, mid, out = (64, 50, 10) if batch > 100 else (13, 7, 3)
    epochs = 8 if batch > 100 else 2
    rng = np.random.default_rng(50)
    label = rng.integers(0, out, batch)
    x = rng.random((out, inputs))[label] + rng.normal(size=(batch, inputs)) / 5
    learned = {
        "w1": rng.normal(size=(inputs, mid)) / inputs**0.5, "b1": zeros(mid),
        "w2": rng.normal(size=(mid, out)) / mid**0.5, "b2": zeros(out),
    }  # fmt: skip
    learned = {name: values.astype("f4") for name, values in learned.items()}
    made = {
        "hidden": zeros(batch, mid),
        "y": zeros(batch, out),
        "d1": zeros(batch, mid),
        "d2": zeros(batch, out),
    }
    n, block = np.int32(batch), (16, 16)
    first, second = (np.int32(inputs), np.int32(mid)), (np.int32(mid), np.int32(out))

    def over(rows: int, columns: int) -> tuple[int, int]:
        return blocks(columns, 16), blocks(rows, 16)

    launches = [
        Launch("mlp_forward", over(batch, mid), block, ("x", "w1", "b1", "hidden", n, *first)),
        Launch("mlp_forward", over(batch, out), block, ("hidden", "w2", "b2", "y", n, *second)),
        Launch("mlp_error", blocks(batch * out, 100), 100, ("y", "target", "d2", np.int32(batch * out))),
        Launch("mlp_hidden_error", over(batch, mid), block, ("d2", "w2", "hidden", "d1", n, *second)),
        Launch("mlp_update", over(mid, out), block, ("hidden", "d2", "w2", "b2", n, *second, "rate")),
        Launch("mlp_update", over(inputs, mid), block, ("x", "d1", "w1", "b1", n, *first, "rate")),
    ]
    return Problem(
        arrays={"x": x.astype("f4"), "target": np.eye(out, dtype="f4")[label], **learned, **made},
        scalars={
            **ints("batch in mid out", batch, inputs, mid, out), "rate": np.float32(2),
            "epochs": np.int32(epochs),
        },
        launches=launches * epochs,
        changed=[*learned, *made],
        tolerance=1e-4,
    )  # fmt: skip


@case(full=230, quick=33)
def dijkstra(n: int) -> Problem:
    """Towns and roads: near ones are joined, some far ones, and two are out of reach; blocks of 10."""
    rng = np.random.default_rng(51)
    at = rng.random((n, 2))
    far = np.hypot(*(at[:, None] - at).transpose(2, 0, 1))
    joined = (far < 2 / n**0.5) | (rng.random((n, n)) < 2 / n)
    joined[-2:] = joined[:, -2:] = False
    graph = np.where(joined, 1 + (far * 1000).astype("i4"), 0)
    np.fill_diagonal(graph, 0)
    made = {"dist": zeros(n, n, kind="i4"), "parent": zeros(n, n, kind="i4"), "done": zeros(n, n, kind="u1")}
    return Problem(
        arrays={"graph": graph.astype("i4"), **made},
        scalars=ints("n", n),
        launches=[Launch("dijkstra", blocks(n, 10), 10, ("graph", *made, "n"))],
        changed=[*made],
    )


@case(full=256, quick=9)
def tsp_sa(chains: int) -> Problem:
    """48 towns; tours of a warp soon have nothing in common but their length."""
    steps = 800 if chains > 100 else 60
    at = np.random.default_rng(52).random((48, 2)) * 100
    dist = np.hypot(*(at[:, None] - at).transpose(2, 0, 1))
    numbers = {
        **ints("chains steps", chains, steps),
        "start": np.float64(40), "cooling": np.float64(0.995), "seed": np.int32(2024),
    }  # fmt: skip
    return Problem(
        arrays={
            "dist": np.ascontiguousarray(dist), "best_tour": zeros(chains, 48, kind="i4"),
            "best_length": zeros(chains, kind="f8"),
        },
        scalars=numbers,
        launches=[
            Launch("tsp_sa", blocks(chains, 128), 128, ("dist", "best_tour", "best_length", *numbers))
        ],
        changed=["best_tour", "best_length"],
        tolerance=1e-9,
        mismatches=0.01,
    )  # fmt: skip
