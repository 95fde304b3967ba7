"""Twenty kernels as students and hobbyists write them: strings of fixed pitch, records with members of all
sizes, tables for small puzzles, trials, walks and machines, mostly a thread a problem."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, floats, ints, settled, zeros


def padded(texts: list[str], pitch: int) -> Array:
    """Strings of one pitch, with zeros after their ends."""
    return np.frombuffer(b"".join(text.encode("latin-1")[:pitch].ljust(pitch, b"\0") for text in texts), "u1")


def joined(rng: np.random.Generator, count: int, pieces: list[str], least: int, most: int) -> list[str]:
    """Texts of some pieces each, of which the first are the most frequent."""
    lengths = rng.integers(least, most + 1, count)
    which = (rng.random((count, most)) ** 2 * len(pieces)).astype("i4")
    rows: list[list[int]] = which.tolist()
    return [
        "".join([pieces[k] for k in row[:size]]) for row, size in zip(rows, lengths.tolist(), strict=True)
    ]


@case(full=40_000, quick=300)
def soundex(n: int) -> Problem:
    """Surnames of two to four syllables; one of fifty is empty."""
    pieces = [
        "son",
        "ber",
        "man",
        "sch",
        "ler",
        "ack",
        "mc",
        "o'",
        "th",
        "ing",
        "wh",
        "ey",
        "ski",
        "ton",
        "hart",
        "ph",
        "zz",
        "ll",
        "ee",
        "van",
        "de",
        "ro",
        "gh",
        "ck",
        "ut",
    ]
    names = [name.capitalize() for name in joined(np.random.default_rng(1901), n, pieces, 2, 5)]
    names[::50] = [""] * len(names[::50])
    return Problem(
        arrays={
            "names": padded(names, 20),
            "codes": zeros(4 * n, kind="u1"),
            "histogram": zeros(26 * 343, kind="i4"),
        },
        scalars=ints("n", n),
        launches=[Launch("soundex", blocks(n), 256, ("names", "codes", "histogram", "n"))],
        changed=["codes", "histogram"],
    )


@case(full=12_000, quick=130)
def urlcodec(n: int) -> Problem:
    """Query strings, most with escapes, some with wrong ones."""
    pieces = [
        "a=1&",
        "q=",
        "caf%C3%A9",
        "+",
        "hello",
        "%20",
        "%2f",
        "%41",
        "user",
        "~x",
        "id=",
        "page",
        "&",
        "2026",
        "-ab_c.",
        "%e4%bd%a0",
        "%3D",
        "lang=de",
        "!",
        "%25",
        "*",
        "%zz",
        "%4",
    ]
    texts = joined(np.random.default_rng(1902), n, pieces[:-2], 4, 20)
    texts[::33] = [text + "%zz" for text in texts[::33]]
    texts[7::41] = [text + "%4" for text in texts[7::41]]
    made = {
        "decoded": zeros(96 * n, kind="u1"), "length": zeros(n, kind="i2"),
        "encoded": zeros(3 * 96 * n, kind="u1"), "out_length": zeros(n, kind="i2"),
    }  # fmt: skip
    return Problem(
        arrays={"text": padded(texts, 96), **made},
        scalars=ints("n", n),
        launches=[
            Launch("url_decode", blocks(n, 128), 128, ("text", "decoded", "length", "n")),
            Launch("url_encode", blocks(n, 128), 128, ("decoded", "length", "encoded", "out_length", "n")),
        ],
        changed=[*made],
    )


@case(full=40_000, quick=260)
def jsonnum(n: int) -> Problem:
    """Whole numbers, fractions, exponents; some fields are empty, no numbers or too long."""
    rng = np.random.default_rng(1903)
    kinds, whole = rng.integers(0, 20, n), (10 ** (rng.integers(1, 9, n)) * rng.random(n)).astype("i8")
    part, power = rng.integers(0, 10**6, n), rng.integers(-12, 13, n)
    wrong = [
        "",
        "-",
        "01",
        "1.",
        "1.5x",
        "--2",
        ".5",
        "1e",
        "1e+",
        "NaN",
        "12 34",
        "-0",
        "1234567890123456789012",
    ]
    texts = list[str]()
    rows: list[list[int]] = np.stack((kinds, whole, part, power), axis=1).tolist()
    for kind, a, b, e in rows:
        sign, start = "-" * (b % 4 == 0), " " * (a % 3)
        if kind < 7:
            texts.append(f"{start}{sign}{a}")
        elif kind < 15:
            texts.append(f"{start}{sign}{a % 10000}.{b}")
        elif kind < 18:
            texts.append(f"{start}{sign}{a % 100}.{b}{'eE'[a % 2]}{e:+d}")
        else:
            texts.append(wrong[b % len(wrong)])
    return Problem(
        arrays={
            "text": padded(texts, 24),
            "numbers": zeros(16 * n, kind="u1"),
            "errors": zeros(4, kind="i4"),
        },
        scalars=ints("n", n),
        launches=[Launch("jsonnum", blocks(n), 256, ("text", "numbers", "errors", "n"))],
        changed=["numbers", "errors"],
    )


CARD = np.dtype([("digits", "u1", 20), ("expiry", "i2"), ("valid", "u1"), ("issuer", "u1"), ("limit", "f8")])


@case(full=60_000, quick=270)
def cards(n: int) -> Problem:
    """Numbers of all issuers, nine of ten with the right last digit, a tenth expired."""
    rng = np.random.default_rng(1904)
    kinds = [
        ("4", 16), ("4", 16), ("51", 16), ("55", 16), ("4", 13), ("37", 15), ("6011", 16), ("36", 14),
        ("2500", 16), ("35", 16), ("4", 19), ("65", 16), ("99", 16), ("4", 12), ("2100", 16), ("34", 15),
    ]  # fmt: skip
    kind = (rng.random(n) ** 2 * len(kinds)).astype("i4")
    digits, length = rng.integers(0, 10, (n, 20)), np.array([size for _, size in kinds])[kind]
    for k, (start, _) in enumerate(kinds):
        digits[kind == k, : len(start)] = [int(c) for c in start]
    column = np.arange(20)
    from_end = length[:, None] - 1 - column
    doubled = np.where(from_end % 2 == 1, digits * 2 - 9 * (digits > 4), digits)
    check = (10 - np.where(from_end > 0, doubled, 0).sum(1) % 10 + (rng.random(n) < 0.1)) % 10
    digits[np.arange(n), length - 1] = check
    records = np.zeros(n, CARD)
    records["digits"] = np.where(from_end >= 0, digits + ord("0"), 0)
    today = 2026 * 12 + 11
    records["expiry"] = today + rng.integers(-6, 54, n)
    records["limit"] = rng.integers(5, 100, n) * 100
    return Problem(
        arrays={"cards": records.view("u1"), "by_issuer": zeros(26, kind="i4"), "total": zeros(1, kind="u8")},
        scalars=ints("n today", n, today),
        launches=[Launch("cards", blocks(n), 256, ("cards", "n", "today", "by_issuer", "total"))],
        changed=["cards", "by_issuer", "total"],
    )


@case(full=1500, quick=70)
def rc4(messages: int) -> Problem:
    """Keys of 13 bytes; the first 256 bytes of each stream are thrown away."""
    rng = np.random.default_rng(1905)
    length = 200 if messages > 100 else 50
    text = rng.integers(32, 127, messages * length).astype("u1")
    size = ints("key_length messages length dropped", 13, messages, length, 256)
    args = ("keys", "key_length", "text", "out", "messages", "length", "dropped")
    return Problem(
        arrays={
            "keys": rng.integers(0, 256, 13 * messages).astype("u1"), "text": text,
            "out": zeros(messages * length, kind="u1"),
        },
        scalars=size,
        launches=[Launch("rc4", blocks(messages, 128), 128, args)],
    )  # fmt: skip


@case(full=3 * 26**3, quick=500)
def enigma(settings: int) -> Problem:
    """A word of twenty letters; none of three orders of rotors need be right."""
    size = ints("length settings", 20, settings)
    args = ("cipher", "crib", "length", "score", "best", "settings")
    return Problem(
        arrays={
            "cipher": np.frombuffer(b"QKTPEBZIUDAVGKXRGTNM", "u1"),
            "crib": np.frombuffer(b"WETTERVORHERSAGEXXBI", "u1"),
            "score": zeros(settings, kind="u1"), "best": zeros(1, kind="u4"),
        },
        scalars=size,
        launches=[Launch("enigma", blocks(settings), 256, args)],
        changed=["score", "best"],
    )  # fmt: skip


@case(full=40_000, quick=330)
def siphash(count: int) -> Problem:
    """Keys of a power law of lengths, of which a few are long; a fixed grid that goes on by its stride."""
    rng = np.random.default_rng(1906)
    lengths = np.minimum(settled(6 / np.sqrt(1 - rng.random(count))), 300).astype("i4") + rng.integers(
        0, 9, count
    )
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype("i4")
    keys = {"k0": np.uint64(0x0706050403020100), "k1": np.uint64(0x0F0E0D0C0B0A0908)}
    numbers = {**ints("count", count), **keys, **ints("num_buckets", 1000)}
    return Problem(
        arrays={
            "data": rng.integers(32, 127, int(offsets[-1])).astype("u1"), "offsets": offsets,
            "hashes": zeros(count, kind="u8"), "buckets": zeros(1000, kind="i4"),
        },
        scalars=numbers,
        launches=[
            Launch(
                "siphash", 32 if count > 1000 else 1, 256,
                ("data", "offsets", "count", "k0", "k1", "hashes", "buckets", "num_buckets"),
            )
        ],
        changed=["hashes", "buckets"],
    )  # fmt: skip


@case(full=400, quick=21)
def tspdp(sets: int) -> Problem:
    """Nine towns: 256 subsets of eight, in arrays of the thread."""
    towns = np.random.default_rng(1907).integers(0, 1000, sets * 18).astype("i2")
    return Problem(
        arrays={"towns": towns, "length": zeros(sets, kind="i4"), "tours": zeros(sets * 9, kind="i1")},
        scalars=ints("sets", sets),
        launches=[Launch("tspdp", blocks(sets, 64), 64, ("towns", "length", "tours", "sets"))],
        changed=["length", "tours"],
    )


@case(full=1500, quick=75)
def patience(rows: int) -> Problem:
    """Rows that rise slowly, with noise, of 100 to 200 numbers."""
    rng = np.random.default_rng(1908)
    pitch = 200 if rows > 100 else 60
    data = rng.integers(0, 1000, (rows, pitch)) + rng.integers(0, 12, (rows, 1)) * np.arange(pitch)
    lengths = rng.integers(pitch // 2, pitch + 1, rows).astype("i4")
    lengths[5] = 0
    size = ints("pitch rows", pitch, rows)
    made = {"lis_length": zeros(rows, kind="i4"), "members": zeros(rows * pitch, kind="i2")}
    return Problem(
        arrays={"data": data.astype("i4"), "lengths": lengths, **made},
        scalars=size,
        launches=[
            Launch("patience", blocks(rows, 128), 128, ("data", "lengths", "pitch", *made, "rows")),
        ],
        changed=[*made],
    )


@case(full=15_000, quick=50)
def matchain(chains: int) -> Problem:
    """Chains of 1 to 12 matrices; the product's parentheses are written by a function that calls itself."""
    rng = np.random.default_rng(1909)
    made = {"costs": zeros(chains, kind="i8"), "texts": zeros(chains * 64, kind="u1")}
    counts = rng.integers(1, 13, chains).astype("i4")
    return Problem(
        arrays={"dims": rng.integers(1, 2000, chains * 13).astype("i4"), "counts": counts, **made},
        scalars=ints("chains", chains),
        launches=[Launch("matchain", blocks(chains), 256, ("dims", "counts", *made, "chains"))],
        changed=[*made],
    )


@case(full=20_000, quick=150)
def givens(systems: int) -> Problem:
    """Eight samples of a parabola with noise. Residuals are differences of greater numbers."""
    rng = np.random.default_rng(1910)
    x = np.arange(8) / 4 - 1 + rng.random((systems, 8)) / 5
    c = rng.random((3, systems, 1)) * 4 - 2
    y = c[0] + c[1] * x + c[2] * x * x + rng.random((systems, 8)) - 0.5
    samples = np.stack((x, y, 0.5 + rng.random((systems, 8))), axis=-1)
    return Problem(
        arrays={
            "samples": samples.astype("f4"),
            "coefficients": zeros(systems * 3),
            "residual": zeros(systems),
        },
        scalars=ints("systems", systems),
        launches=[Launch("givens", blocks(systems), 256, ("samples", "coefficients", "residual", "systems"))],
        changed=["coefficients", "residual"],
        tolerance=1e-4,
    )


@case(full=600, quick=45)
def rk45(n: int) -> Problem:
    """Some stiffer than others. Rounding may turn whether a step is taken, and the steps after it then."""
    rng = np.random.default_rng(1911)
    numbers = {**ints("n", n), "t_end": np.float64(10 if n > 100 else 2), "tolerance": np.float64(1e-7)}
    made = {"steps": zeros(n, kind="i4"), "rejected": zeros(n, kind="i4")}
    return Problem(
        arrays={"states": rng.random(2 * n) * 4 - 2, "mus": 0.2 + 6 * rng.random(n), **made},
        scalars=numbers,
        launches=[Launch("rk45", blocks(n, 128), 128, ("states", "mus", *made, *numbers))],
        changed=["states", *made],
        tolerance=1e-6,
        mismatches=0.02,
    )


@case(full=30_000, quick=301)
def nasch(length: int) -> Problem:
    """Two lanes, a fifth of the cells is taken; three launches a step."""
    rng, steps = np.random.default_rng(1912), 10
    road = np.where(rng.random((2, length)) < 0.2, rng.integers(0, 6, (2, length)), -1).astype("i1")
    dawdle, cells = np.uint32(0x33333333), np.int32(2 * length)
    launches = list[Launch]()
    for k in range(steps):
        step = np.int32(k)
        launches += [
            Launch("change_lanes", blocks(length), 256, ("road", "other", "length", step)),
            Launch("clear_road", blocks(2 * length), 256, ("road", cells)),
            Launch("drive", (blocks(length), 2), 256, ("other", "road", "flow", "length", step, "dawdle")),
        ]
    return Problem(
        arrays={"road": road, "other": zeros(2, length, kind="i1"), "flow": zeros(2, kind="i4")},
        scalars={**ints("length", length), "dawdle": dawdle, **ints("steps", steps)},
        launches=launches,
        changed=["road", "other", "flow"],
        native=("road", "flow"),
    )


@case(full=3000, quick=66)
def knights(attempts: int) -> Problem:
    """From all squares, ties by orders of their own: most tours are whole, few closed."""
    numbers = {**ints("attempts", attempts), "seed": np.uint32(20261130)}
    made = {
        "boards": zeros(attempts * 68, kind="i1"), "closed": zeros(attempts, kind="u1"),
        "tours": zeros(2, kind="i4"),
    }  # fmt: skip
    return Problem(
        arrays=made,
        scalars=numbers,
        launches=[Launch("knights", blocks(attempts, 192), 192, (*made, *numbers))],
        changed=[*made],
    )


@case(full=200, quick=17)
def poker(hands: int) -> Problem:
    """A pair of cards a thread, a hundred deals."""
    rng = np.random.default_rng(1913)
    first = rng.integers(0, 52, hands)
    pair = np.stack((first, (first + rng.integers(1, 52, hands)) % 52), axis=1)
    numbers = {
        **ints("num_hands trials", hands, 120 if hands > 100 else 15),
        "seed": np.uint64(0x9E3779B97F4A7C15),
    }
    made = {"wins": zeros(hands, kind="i4"), "ties": zeros(hands, kind="i4"), "kinds": zeros(9, kind="i4")}
    return Problem(
        arrays={"hands": np.stack((pair % 13, pair // 13), axis=-1).astype("u1"), **made},
        scalars=numbers,
        launches=[Launch("poker", blocks(hands, 64), 64, ("hands", *made, *numbers))],
        changed=[*made],
    )


TRIANGLE = np.dtype([("corners", "f4", 9), ("color", "u1", 4)])


@case(full=150, quick=37)
def mtrace(w: int) -> Problem:
    """A dozen octahedra over a floor. A pixel at an edge may be of one or the other side."""
    rng, h = np.random.default_rng(1914), w * 3 // 4
    solids = 12 if w > 100 else 3
    triangles = np.zeros((solids, 8), TRIANGLE)
    axes = np.eye(3)
    for k in range(solids):
        centre, size = np.array([-4, 0.5, -1]) + rng.random(3) * [8, 2.5, 5], 0.4 + rng.random()
        for side in range(8):
            signs = [1 - 2 * (side >> axis & 1) for axis in range(3)]
            corners = [centre + size * sign * axis for sign, axis in zip(signs, axes, strict=True)]
            triangles[k, side]["corners"] = np.concatenate(corners)
            triangles[k, side]["color"] = (*rng.integers(40, 256, 3), 255)
    size = ints("n w h", 8 * solids, w, h)
    return Problem(
        arrays={"triangles": triangles.view("u1").ravel(), "image": zeros(h * w * 4)},
        scalars=size,
        launches=[
            Launch("mtrace", (blocks(w, 16), blocks(h, 16)), (16, 16), ("triangles", "n", "image", "w", "h"))
        ],
        changed=["image"],
        tolerance=1e-3,
        mismatches=0.005,
    )


@case(full=256, quick=50)
def droplets(size: int) -> Problem:
    """Round hills and some noise. Drops go apart by rounding at edges of cells and where they turn."""
    rng = np.random.default_rng(1915)
    y, x = np.mgrid[:size, :size] / size
    height = rng.random((size, size)) / 50
    for cx, cy, r, top in rng.random((25, 4)) * [1, 1, 0.3, 8] + [0, 0, 0.1, 0]:
        near = np.maximum(0, 1 - ((x - cx) ** 2 + (y - cy) ** 2) / r**2)
        height += top * near * near
    drops, rounds, seed = size * size // 25, 2, 77
    numbers = ints("size drops lifetime", size, drops, 30)
    grid = (blocks(size, 32), blocks(size, 8))
    launches = list[Launch]()
    for k in range(rounds):
        launches += [
            Launch("droplets", blocks(drops), 256, ("map", "change", *numbers, np.uint32(seed + k))),
            Launch("settle", grid, (32, 8), ("map", "change", "size", "share")),
        ]
    return Problem(
        arrays={"map": settled(height).astype("f4"), "change": zeros(size, size)},
        scalars={**numbers, "seed": np.uint32(seed), **floats("share", 0.5), **ints("rounds", rounds)},
        launches=launches,
        changed=["map", "change"],
        native=("map", "change"),
        tolerance=1e-4,
        mismatches=0.01,
    )


@case(full=6000, quick=133)
def glob(n: int) -> Problem:
    """Names of files by parts, and patterns of all kinds."""
    pieces = [
        "test",
        "main",
        "lib",
        "_",
        "-",
        "a",
        "util",
        "01",
        "2",
        "Data",
        "log",
        "x",
        "img",
        "IMG_",
        "2026",
        "core",
        "v3",
        ".",
        "report",
        "final",
        "(1)",
        "s",
        "b",
    ]
    rng = np.random.default_rng(1916)
    ends = [".c", ".cu", ".py", ".txt", ".tar.gz", ".h", ".JPG", ".jpeg", ".log"]
    names = joined(rng, n, pieces, 1, 7)
    last: list[int] = rng.integers(0, 9, n).tolist()
    names = [name[:30] + ends[k] for name, k in zip(names, last, strict=True)]
    patterns = [
        "*.c", "*.[ch]", "test*", "*test*.py", "*.tar.*", "IMG_*.[jJ]*", "*[0-9]*", "??in*", "[!a-z]*",
        "*a*b*c*", "main.c", "*_*-*", "*s.?*", "[a-cx]*[!0-9].*", "*", "*20[0-9][0-9]*",
    ]  # fmt: skip
    size = ints("n num_patterns", n, len(patterns))
    return Problem(
        arrays={
            "names": padded(names, 40), "patterns": padded(patterns, 16), "bits": zeros(n, kind="u4"),
            "counts": zeros(32, kind="i4"),
        },
        scalars=size,
        launches=[Launch("glob", blocks(n), 256, ("names", "patterns", "bits", "counts", *size))],
        changed=["bits", "counts"],
    )  # fmt: skip


@case(full=1000, quick=45)
def elevator(buildings: int) -> Problem:
    """Some are quiet, in some people are turned away."""
    rng = np.random.default_rng(1917)
    size = ints("buildings ticks", buildings, 600 if buildings > 100 else 80)
    report = np.dtype([("counts", "i4", 3), ("mean_wait", "f4")])
    return Problem(
        arrays={
            "seeds": rng.integers(0, 2**31, buildings).astype("u4"),
            "busy": rng.integers(2, 30, buildings).astype("u1"),
            "reports": np.zeros(buildings, report).view("u1"),
        },
        scalars=size,
        launches=[Launch("elevator", blocks(buildings, 128), 128, ("seeds", "busy", "reports", *size))],
        changed=["reports"],
    )


INSTRUCTION = np.dtype([("op", "u1"), ("a", "u1"), ("b", "u1"), ("c", "u1"), ("immediate", "i4")])
PROGRAM = """
    set 2 0 0 0; jz 1 0 0 9; mod 3 0 1 0; store 3 2 0 0; add 0 1 6 0; add 1 3 6 0; set 5 0 0 1; add 2 2 5 0;
    jz 6 0 0 1; set 4 0 0 0; set 7 0 0 17; load 3 4 0 0; set 1 0 0 31; mul 7 7 1 0; add 7 7 3 0;
    set 1 0 0 1000003; mod 7 7 1 0; set 5 0 0 1; add 4 4 5 0; set 5 0 0 40; less 4 5 0 11; mod 7 7 0 0;
    sub 7 0 7 0; halt 0 0 0 0
"""


@case(full=4000, quick=75)
def regvm(n: int) -> Problem:
    """Euclid's algorithm, whose remainders are hashed; half are stopped by the limit of steps."""
    rng = np.random.default_rng(1918)
    names = ["halt", "set", "add", "sub", "mul", "mod", "load", "store", "less", "jz"]
    program = list[tuple[int, ...]]()
    for line in PROGRAM.split(";"):
        op, a, b, third, immediate = line.split()
        program.append((names.index(op), int(a), int(b), int(third), int(immediate)))
    inputs = rng.integers(0, 10**6, (n, 2)).astype("i4")
    inputs[3] = 0
    size = ints("n limit", n, 503)
    return Problem(
        arrays={
            "program": np.array(program, INSTRUCTION).view("u1"), "inputs": inputs,
            "results": zeros(n, kind="i8"), "steps": zeros(n, kind="i4"),
        },
        scalars=size,
        launches=[Launch("regvm", blocks(n, 128), 128, ("program", "inputs", "results", "steps", *size))],
        changed=["results", "steps"],
    )  # fmt: skip
