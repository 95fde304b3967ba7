"""Twelve kernels as people put them on the web, written without knowing what the JIT is good at: pictures and
video, graphs whose degrees follow a power law, searches, games."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, ints, reals, zeros
from survey.newcomers_d import around_zero

QUANT = np.array(
    [
        [16, 11, 10, 16, 24, 40, 51, 61], [12, 12, 14, 19, 26, 58, 60, 55],
        [14, 13, 16, 24, 40, 57, 69, 56], [14, 17, 22, 29, 51, 87, 80, 62],
        [18, 22, 37, 56, 68, 109, 103, 77], [24, 35, 55, 64, 81, 104, 113, 92],
        [49, 64, 78, 87, 103, 121, 120, 101], [72, 92, 95, 98, 112, 100, 103, 99],
    ]
)  # fmt: skip


def scene(w: int, h: int, x0: float = 0, y0: float = 0, noise: float = 6) -> Array:
    """A picture of discs, a slope and waves, as seen from a place, with a camera's noise."""
    y, x = np.mgrid[:h, :w].astype("f8")
    x, y = x + x0, y + y0
    picture = 70 + 40 * (x + y) / (w + h) + 12 * np.sin(x / 5 + np.sin(y / 9)) * (y < h / 2)
    for k in range(14):
        cx, cy, r = w * (k * 37 % 100) / 100, h * (k * 61 % 100) / 100, w / 25 + k * w / 220
        picture[(x - cx) ** 2 + (y - cy) ** 2 < r * r] += (-1) ** k * (15 + 5 * k)
    return np.clip(picture + noise * (reals(h, w) - 0.5), 0, 255).astype("u1")


@case(full=160, quick=21)
def nlm(w: int) -> Problem:
    """121 places, at each a patch of 25 pixels."""
    h = w * 3 // 4 + 1
    numbers = {**ints("w h", w, h), "sigma": np.float32(0.04), "strength": np.float32(0.08)}
    return Problem(
        arrays={"image": scene(w, h, noise=40), "out": zeros(h, w)},
        scalars=numbers,
        launches=[Launch("nlm", (blocks(w, 16), blocks(h, 16)), (16, 16), ("image", "out", *numbers))],
        changed=["out"],
        tolerance=1e-5,
    )


def waves(x: Array, y: Array) -> Array:
    """A texture that has a value everywhere, and a flat part."""
    rng = np.random.default_rng(71)
    total = np.zeros(x.shape)
    for _ in range(40):
        angle, length = rng.uniform(0, np.pi), rng.uniform(6, 40)
        total += np.sin((x * np.cos(angle) + y * np.sin(angle)) * 2 * np.pi / length + rng.uniform(0, 7))
    return (128 + 12 * total / (1 + np.exp((30 - x) / 3))).astype("f4")


@case(full=320, quick=45)
def lk_flow(w: int) -> Problem:
    """Points with some rounds each, until they stop: where that is, rounding may decide."""
    h, count = w * 3 // 4, 3 * w - 2
    cw, ch = (w + 1) // 2, (h + 1) // 2
    y, x = np.mgrid[:h, :w].astype("f8")
    small, large = ints("w h", cw, ch), ints("w h", w, h)
    numbers = {"count": np.int32(count), "iterations": np.int32(10), "min_eigen": np.float32(0.5)}
    launches = [
        Launch(
            "pyr_down", (blocks(cw, 32), blocks(ch, 8)), (32, 8),
            (fine, coarse, *large.values(), *small.values()),
        )
        for fine, coarse in (("before", "before1"), ("after", "after1"))
    ]  # fmt: skip
    for level, size in ((1, small), (0, large)):
        before, after, gradient = (name + "1" * level for name in ("before", "after", "gradient"))
        grid = (blocks(int(size["w"]), 32), blocks(int(size["h"]), 8))
        args = (before, after, gradient, *size.values(), "points", "flow", "status")
        launches += [
            Launch("scharr", grid, (32, 8), (before, gradient, *size.values())),
            Launch(
                "lk_track", blocks(count, 4), 128,
                (*args, "count", np.int32(level), "iterations", "min_eigen"),
            ),
        ]  # fmt: skip
    return Problem(
        arrays={
            "before": waves(x, y),
            "after": waves(x - 2.3 + (y - h / 2) * 0.02, y + 1.2 - (x - w / 2) * 0.02),
            "before1": zeros(ch, cw), "after1": zeros(ch, cw),
            "gradient1": zeros(ch, cw, 2), "gradient": zeros(h, w, 2),
            "points": reals(count, 2) * np.array([w - 1, h - 1], "f4"),
            "flow": zeros(count, 2), "status": zeros(count, kind="u1"),
        },
        scalars={**large, **numbers},
        launches=launches,
        changed=["before1", "after1", "gradient1", "gradient", "flow", "status"],
        native=("before", "after", "points", "flow", "status"),
        tolerance=1e-3,
        mismatches=0.02,
    )  # fmt: skip


@case(full=900, quick=45)
def jpeg_bits(w: int) -> Problem:
    """Integers throughout; the picture's edges are repeated where it ends within a square."""
    h = w * 2 // 3 + 3
    across, down = blocks(w, 8), blocks(h, 8)
    squares = across * down
    size = ints("w h across squares", w, h, across, squares)
    grids = ints("across squares", across, squares)
    return Problem(
        arrays={
            "image": scene(w, h, noise=12), "quant": ((QUANT + 1) // 2).astype("u2"),
            "coefficients": zeros(squares, 64, kind="i2"), "bits": zeros(squares, kind="i4"),
            "row_bits": zeros(down, kind="u4"),
        },
        scalars=size,
        launches=[
            Launch(
                "jpeg_coefficients", blocks(squares, 16), 128, ("image", "quant", "coefficients", *size)
            ),
            Launch("jpeg_lengths", blocks(squares, 8), 256, ("coefficients", "bits", "row_bits", *grids)),
        ],
        changed=["coefficients", "bits", "row_bits"],
    )  # fmt: skip


@case(full=352, quick=40)
def sad_search(w: int) -> Problem:
    """225 places for each square of a frame that moved by some pixels; 31 threads of 256 rest."""
    h = w * 9 // 11
    across, down = blocks(w, 16), blocks(h, 16)
    numbers = ints("w h lambda", w, h, 4)
    names = ("current", "reference", "vectors", "costs")
    current = scene(w, h, 3, -2)
    current[h // 2 :] = scene(w, h, -4, 5)[h // 2 :]
    return Problem(
        arrays={
            "current": current, "reference": scene(w, h),
            "vectors": zeros(down, across, 5, 2, kind="i2"), "costs": zeros(down, across, 5, kind="u4"),
        },
        scalars=numbers,
        launches=[Launch("sad_search", (across, down), (16, 16), (*names, *numbers))],
        changed=["vectors", "costs"],
    )  # fmt: skip


def power_law(n: int, degree: int, seed: int) -> tuple[Array, Array]:
    """A graph without loops, both ways, with few vertices of many neighbours: rows' starts, neighbours."""
    rng = np.random.default_rng(seed)
    ends = rng.permutation(n)[(n * rng.random((n * degree // 2, 2)) ** 2.2).astype("i8")]
    ends = ends[ends[:, 0] != ends[:, 1]]
    edges = np.unique(np.concatenate([ends, ends[:, ::-1]]), axis=0)
    start = np.zeros(n + 1, "i4")
    start[1:] = np.cumsum(np.bincount(edges[:, 0], minlength=n))
    return start, edges[:, 1].astype("i4")


def sources_of(start: Array) -> Array:
    return np.repeat(np.arange(len(start) - 1), np.diff(start))


def rounds_needed(start: Array, neighbours: Array, weights: Array, source: int, delta: int) -> int:
    """How often piles are read if all of a pile's vertices are taken at once."""
    tails, n, rounds, limit = sources_of(start), len(start) - 1, 0, delta
    dist = np.full(n, 1 << 30)
    dist[source] = 0
    waiting = np.zeros(n, bool)
    waiting[source] = True
    while waiting.any():
        rounds += 1
        near = waiting & (dist < limit)
        if not near.any():
            limit += delta
            continue
        waiting &= ~near
        edges = near[tails]
        reached = np.full(n, 1 << 30)
        np.minimum.at(reached, neighbours[edges], (dist[tails] + weights)[edges])
        waiting |= reached < dist
        dist = np.minimum(dist, reached)
    return rounds


@case(full=20_000, quick=90)
def near_far(n: int) -> Problem:
    """Weights of 1 to 99; launches by the dozen, some of which find nothing to do."""
    start, neighbours = power_law(n, 12, 72)
    tails, source, delta = sources_of(start), int(np.argmax(np.diff(start))), 40
    low, high = np.minimum(tails, neighbours), np.maximum(tails, neighbours)
    weights = ((low * 7919 + high * 104729) % 99 + 1).astype("i4")
    groups, many = blocks(n // 4), 4 * len(neighbours)
    numbers = ints("n source delta", n, source, delta)
    launches = [
        Launch("sssp_start", blocks(n), 256, ("dist", "stamp", "piles", "pile0", *numbers)),
    ]
    for r in range(rounds_needed(start, neighbours, weights, source, delta) + 4):
        near, following = f"pile{r % 2}", f"pile{1 - r % 2}"
        launches += [
            Launch(
                "sssp_relax", groups, 256,
                (
                    "row_start", "neighbours", "weights", "dist", "stamp", "piles", near, following,
                    "far_pile",
                ),
            ),
            Launch("sssp_advance", 1, 1, ("piles", "delta")),
            Launch(
                "sssp_split", groups, 256,
                ("dist", "stamp", "piles", "far_pile", "kept_pile", following, "delta"),
            ),
            Launch("sssp_keep", 1, 256, ("piles", "far_pile", "kept_pile")),
        ]  # fmt: skip
    made = {
        "dist": zeros(n, kind="i4"), "stamp": zeros(n, kind="i4"), "piles": zeros(7, kind="i4"),
        "pile0": zeros(n, kind="i4"), "pile1": zeros(n, kind="i4"), "far_pile": zeros(many, kind="i4"),
        "kept_pile": zeros(many, kind="i4"),
    }  # fmt: skip
    return Problem(
        arrays={"row_start": start, "neighbours": neighbours, "weights": weights, **made},
        scalars=numbers,
        launches=launches,
        changed=["dist", "stamp", "piles"],
        native=("row_start", "neighbours", "weights", "dist"),
    )


def core_levels(start: Array, neighbours: Array) -> int:
    """One more than the greatest core number."""
    tails, left, k = sources_of(start), np.ones(len(start) - 1, bool), 0
    while left.any():
        degree = np.bincount(tails[left[tails] & left[neighbours]], minlength=len(left))
        gone = left & (degree <= k)
        left &= ~gone
        k += not gone.any()
    return k + 1


@case(full=20_000, quick=70)
def kcore(n: int) -> Problem:
    """Two launches for each k; the last ones find few vertices, with many neighbours."""
    start, neighbours = power_law(n, 14, 73)
    levels, groups = core_levels(start, neighbours), 16
    launches = list[Launch]()
    for k in range(levels):
        size = ints("n k", n, k).values()
        launches += [
            Launch("core_scan", groups, 256, ("degree", "buffers", "tails", *size)),
            Launch(
                "core_peel", groups, 256,
                ("row_start", "neighbours", "degree", "buffers", "tails", "removed", *size),
            ),
        ]  # fmt: skip
    return Problem(
        arrays={
            "row_start": start, "neighbours": neighbours, "degree": np.diff(start).astype("i4"),
            "buffers": zeros(groups, n, kind="i4"), "tails": zeros(groups, kind="i4"),
            "removed": zeros(levels, kind="i4"),
        },
        scalars=ints("n levels", n, levels),
        launches=launches,
        changed=["degree", "removed"],
        native=("row_start", "neighbours", "degree", "removed"),
    )  # fmt: skip


@case(full=150, quick=13)
def boruvka(side: int) -> Problem:
    """Streets: a grid with some edges missing, some diagonals and a few long ones."""
    n, rng = side * side, np.random.default_rng(74)
    at = np.arange(n).reshape(side, side)
    pairs = [(at[:, 1:], at[:, :-1]), (at[1:], at[:-1]), (at[1:, 1:], at[:-1, :-1])]
    kept = [
        np.stack([a.ravel(), b.ravel()], 1)[rng.random(a.size) < share]
        for (a, b), share in zip(pairs, (0.85, 0.85, 0.3), strict=True)
    ]
    long = rng.integers(0, n, (n // 50 + 1, 2))
    ends = rng.permutation(np.concatenate([*kept, long[long[:, 0] != long[:, 1]]]))
    m, rounds = len(ends), int(np.ceil(np.log2(n)))
    edges = np.concatenate([ends, rng.integers(10, 2000, (m, 1))], 1).astype("i4")
    size = ints("n m rounds", n, m, rounds)
    launches = [Launch("mst_init", blocks(n), 256, ("label", "best", "n"))]
    for _ in range(rounds):
        launches += [
            Launch("mst_lightest", blocks(m), 256, ("edges", "label", "best", "m")),
            Launch("mst_hook", blocks(n), 256, ("edges", "label", "best", "parent", "in_tree", "total", "n")),
            Launch("mst_jump", blocks(n), 256, ("parent", "label", "best", "n")),
        ]
    return Problem(
        arrays={
            "edges": edges, "label": zeros(n, kind="i4"), "best": zeros(n, kind="u8"),
            "parent": zeros(n, kind="i4"), "in_tree": zeros(m, kind="u1"), "total": zeros(1, kind="u8"),
        },
        scalars=size,
        launches=launches,
        changed=["label", "best", "parent", "in_tree", "total"],
        native=("edges", "label", "in_tree", "total"),
    )  # fmt: skip


@case(full=512, quick=3)
def connect4(games: int) -> Problem:
    """Some ten to thirty moves a game: threads of a warp end at different times."""
    rng, positions = np.random.default_rng(75), list[tuple[int, int]]()
    count, threads = 4, 128
    for _ in range(count):
        mine = both = 0
        for column in rng.permutation(np.arange(28) % 7)[: rng.integers(6, 15)]:
            place = (both + (1 << int(column) * 7)) & (63 << int(column) * 7)
            mine, both = mine ^ both, both | place  # who put it is the one who waits
        positions.append((mine, both))
    numbers = {"games": np.int32(games), "seed": np.uint32(20250)}
    return Problem(
        arrays={
            "positions": np.array(positions, "u8"), "wins": zeros(count, 7, kind="i4"),
            "losses": zeros(count, 7, kind="i4"),
        },
        scalars={**ints("count threads", count, threads), **numbers},
        launches=[Launch("connect4", (7, count), threads, ("positions", "wins", "losses", *numbers))],
        changed=["wins", "losses"],
    )  # fmt: skip


WORD = (1 << 64) - 1


def turned(own: int, other: int, square: int) -> int:
    """What a stone on an empty square turns over."""
    total = 0
    for dx, dy in ((1, 0), (0, 1), (1, 1), (1, -1), (-1, 0), (0, -1), (-1, -1), (-1, 1)):
        x, y, line = square % 8 + dx, square // 8 + dy, 0
        while 0 <= x < 8 and 0 <= y < 8 and other >> (8 * y + x) & 1:
            line |= 1 << (8 * y + x)
            x, y = x + dx, y + dy
        if 0 <= x < 8 and 0 <= y < 8 and own >> (8 * y + x) & 1:
            total |= line
    return total


def othello_positions(count: int) -> Array:
    """From games of random moves, after 6 to 40 of them."""
    rng, positions = np.random.default_rng(76), list[tuple[int, int]]()
    while len(positions) < count:
        own, other = 1 << 28 | 1 << 35, 1 << 27 | 1 << 36
        for _ in range(rng.integers(6, 41)):
            empty = ~(own | other) & WORD
            moves = [s for s in range(64) if empty >> s & 1 and turned(own, other, s)]
            if moves:
                square = int(rng.choice(moves))
                flips = turned(own, other, square)
                own, other = own | flips | 1 << square, other & ~flips
            own, other = other, own
        positions.append((own, other))
    return np.array(positions, "u8")


@case(full=500, quick=5)
def othello(n: int) -> Problem:
    """Recursion with a loop over moves: every thread has a tree of its own."""
    numbers = ints("n depth", n, 3 if n > 20 else 2)
    return Problem(
        arrays={"positions": othello_positions(n), "nodes": zeros(n, kind="u4")},
        scalars=numbers,
        launches=[Launch("othello", blocks(n, 64), 64, ("positions", "nodes", *numbers))],
        changed=["nodes"],
    )


DIGITS, LOWER, NAMES = "0123456789", "abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqrstuvwxyz0123456789_-"
# what may stand one after another, and how often: once, ? or +
PATTERNS: list[list[tuple[str, str]]] = [
    [(DIGITS, "+"), (".", ""), (DIGITS, "+"), (".", ""), (DIGITS, "+"), (".", ""), (DIGITS, "+")],
    [(NAMES, "+"), ("@", ""), (NAMES, "+"), (".", ""), (LOWER, ""), (LOWER, ""), (LOWER, "?")],
    [("/", ""), (NAMES, "+"), ("/", ""), (NAMES, "+"), *[(c, "") for c in ".php"]],
    [
        *[(c, "") for c in "time"], ("=: ", "+"), ("3456789", ""),
        (DIGITS, ""), (DIGITS, ""), (DIGITS, "+"), ("m", "?"), ("s", ""),
    ],
]  # fmt: skip
WORDS = [
    "GET", "POST", "error", "warning", "user", "session", "closed", "by", "peer", "retry", "queue", "cache",
    "miss", "upstream", "200", "404", "503",
]  # fmt: skip


def automaton() -> Array:
    """States are places in the patterns; where one may go, which characters bring it."""
    first, last, follow, has = 0, [0] * 4, [0] * 64, [0] * 256
    base = 0
    for p, pattern in enumerate(PATTERNS):
        optional = [many == "?" for _, many in pattern]
        for i, (characters, many) in enumerate(pattern):
            bit = 1 << (base + i)
            first |= bit * all(optional[:i])
            last[p] |= bit * all(optional[i + 1 :])
            follow[base + i] |= bit * (many == "+")
            for j in range(i + 1, len(pattern)):
                follow[base + i] |= (1 << (base + j)) * all(optional[i + 1 : j])
            for c in characters:
                has[ord(c)] |= bit
        base += len(pattern)
    return np.array([first, *last, *follow, *has], "u8")


def log_text(lines: int) -> tuple[Array, Array]:
    """Lines as servers write them, and where each begins."""
    rng, text, start = np.random.default_rng(77), bytearray(), [0]
    for _ in range(lines):
        line = f"2026-03-{rng.integers(1, 29):02} {rng.integers(24):02}:{rng.integers(60):02} "
        for _ in range(rng.integers(3, 14)):
            kind = rng.integers(24)
            if kind == 0:
                line += ".".join(str(k) for k in rng.integers(1, 256, 4)) + " "
            elif kind == 1:
                line += f"{WORDS[rng.integers(len(WORDS))].lower()}{rng.integers(99)}@mail.example.org "
            elif kind == 2:
                line += f"/shop/item{rng.integers(1000)}.{'php' if rng.random() < 0.5 else 'html'} "
            elif kind == 3:
                line += f"time={rng.integers(100, 9000)}ms "
            else:
                line += WORDS[rng.integers(len(WORDS))] + " "
        text += line.rstrip().encode() + b"\n"
        start.append(len(text))
    return np.frombuffer(bytes(text), "u1").copy(), np.array(start, "i4")


@case(full=5000, quick=37)
def nfa_lines(lines: int) -> Problem:
    """Lines of 30 to 200 characters; the loop over a word's bits ends soon, but not equally soon."""
    text, start = log_text(lines)
    return Problem(
        arrays={
            "text": text, "line_start": start, "automaton": automaton(),
            "found": zeros(lines, kind="u1"), "end": zeros(lines, kind="i4"), "count": zeros(4, kind="i4"),
        },
        scalars=ints("lines", lines),
        launches=[
            Launch(
                "nfa_lines", blocks(lines, 256), 128,
                ("text", "line_start", "automaton", "found", "end", "count", "lines"),
            )
        ],
        changed=["found", "end", "count"],
    )  # fmt: skip


@case(full=4000, quick=30)
def gat(n: int) -> Problem:
    """Results have 11 bits: a thousandth."""
    start, neighbours = power_law(n, 12, 78)
    slope, size = {"slope": np.float32(0.2)}, ints("n", n)
    scores = ("features", "a_source", "a_target", "source_score", "target_score", "n")
    gather = (
        "features", "source_score", "target_score", "row_start", "neighbours", "bias", "out", "n", "slope",
    )  # fmt: skip
    return Problem(
        arrays={
            "features": around_zero(n, 4, 64, kind="f2") * np.float16(4), "a_source": around_zero(4, 64),
            "a_target": around_zero(4 * 65)[4:].reshape(4, 64), "source_score": zeros(n, 4),
            "target_score": zeros(n, 4), "row_start": start, "neighbours": neighbours,
            "bias": around_zero(256) / 10, "out": zeros(n, 4, 64, kind="f2"),
        },
        scalars={**size, **slope},
        launches=[
            Launch("gat_scores", blocks(n, 8), 256, scores),
            Launch("gat_gather", n, (32, 4), gather),
        ],
        changed=["source_score", "target_score", "out"],
        native=("features", "a_source", "a_target", "row_start", "neighbours", "bias", "out"),
        tolerance=1e-3,
    )  # fmt: skip


@case(full=480, quick=40)
def raster_tiles(width: int) -> Problem:
    """Rings in each other's way, of triangles of some dozen pixels; half of them look away."""
    height, rings = width * 3 // 4, 5
    around, tube = max(width // 8, 8), max(width // 16, 6)
    u, v = np.meshgrid(np.arange(around) * 2 * np.pi / around, np.arange(tube) * 2 * np.pi / tube)
    i, j = np.meshgrid(np.arange(around), np.arange(tube))
    right, below = (i + 1) % around, (j + 1) % tube
    corners = [j * around + i, j * around + right, below * around + right, below * around + i]
    faces = np.stack([np.stack([corners[k] for k in three], -1) for three in ((0, 1, 2), (0, 2, 3))])
    vertices, triangles = list[Array](), list[Array]()
    for ring in range(rings):
        radius = 1 + 0.25 * np.cos(v)
        point = np.stack([radius * np.cos(u), radius * np.sin(u), 0.25 * np.sin(v)], -1).reshape(-1, 3)
        turn = np.linalg.qr(np.random.default_rng(80 + ring).normal(size=(3, 3)))[0]
        point = point @ (turn * np.linalg.det(turn)).T
        point += [ring * 0.7 - 1.4, ring % 3 * 0.4 - 0.4, 4.5 + ring % 2 * 0.5]
        scale = width * 0.9 / point[:, 2]
        vertices.append(
            np.stack(
                [width / 2 + scale * point[:, 0], height / 2 + scale * point[:, 1], point[:, 2] / 10], -1
            )
        )
        triangles.append(faces.reshape(-1, 3) + ring * around * tube)
    all_triangles = np.concatenate(triangles).astype("i4")
    size = ints("count width height", len(all_triangles), width, height)
    return Problem(
        arrays={
            "vertices": np.concatenate(vertices).astype("f4"), "triangles": all_triangles,
            "setups": zeros(len(all_triangles), 15, kind="i4"),
            "depth": zeros(height, width), "pixels": zeros(height, width, 4, kind="u1"),
        },
        scalars=size,
        launches=[
            Launch(
                "raster_setup", blocks(len(all_triangles), 128), 128,
                ("vertices", "triangles", "setups", *size),
            ),
            Launch(
                "raster_tiles", (blocks(width, 16), blocks(height, 16)), (16, 16),
                ("setups", "depth", "pixels", *size),
            ),
        ],
        changed=["setups", "depth", "pixels"],
        native=("vertices", "triangles", "depth", "pixels"),
        tolerance=1e-4,
        mismatches=0.002,
    )  # fmt: skip
