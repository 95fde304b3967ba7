"""Programs in the manner of the large public collections of benchmarks, chosen without knowing what the JIT is good
at: filters, lists, ciphers, puzzles, genomes, graphs, waves, weather, swarms, neurons, clusters of atoms."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, floats, ints, settled, zeros


def power_law(n: int, mean: int, seed: int) -> tuple[Array, Array]:
    """An undirected graph whose vertices are drawn with few favourites: starts of rows, and sorted columns."""
    rng = np.random.default_rng(seed)
    ends = (n * rng.random((n * mean // 2, 2)) ** 2).astype("i8")
    ends = ends[ends[:, 0] != ends[:, 1]]
    codes = np.unique(np.concatenate([ends[:, 0] * n + ends[:, 1], ends[:, 1] * n + ends[:, 0]]))
    start = np.searchsorted(codes, np.arange(n + 1) * n).astype("i4")
    return start, (codes % n).astype("i4")


@case(full=900, quick=45)
def bspline_pre(w: int) -> Problem:
    """Rows longer than they need to be; 900 threads that go far, and then 700."""
    h = w * 7 // 9 - 3
    pitch = -(-w // 64) * 64
    rng = np.random.default_rng(401)
    y, x = np.mgrid[:h, :pitch]
    image = (x * 5 // 7 + y * 3) % 200 + rng.integers(0, 30, (h, pitch))
    numbers = {name: np.uint32(v) for name, v in (("pitch", 4 * pitch), ("width", w), ("height", h))}
    return Problem(
        arrays={"image": image.astype("f4")},
        scalars=numbers,
        launches=[
            Launch("coefficients_x", blocks(h, 64), 64, ("image", *numbers)),
            Launch("coefficients_y", blocks(w, 64), 64, ("image", *numbers)),
        ],
        changed=["image"],
        tolerance=1e-5,
    )


@case(full=60_000, quick=700)
def list_rank(n: int) -> Problem:
    """A list whose nodes lie anywhere; rounds until the farthest pointer has reached its end."""
    rng = np.random.default_rng(402)
    order = rng.permutation(n)
    following = np.full(n, -1, "i4")
    following[order[:-1]] = order[1:]
    rounds = (n - 1).bit_length() + (n - 1).bit_length() % 2
    grid = min(blocks(n), 128)
    lists = "list_a", "list_b"
    return Problem(
        arrays={
            "next": following, "list_a": zeros(n, kind="u8"), "list_b": zeros(n, kind="u8"),
            "value": rng.random(n).astype("f4"), "ordered": zeros(n),
        },
        scalars=ints("n rounds", n, rounds),
        launches=[
            Launch("list_init", grid, 256, ("next", "list_a", "n")),
            *[
                Launch("list_jump", grid, 256, (*pair, "n"))
                for pair in (lists, lists[::-1]) * (rounds // 2)
            ],
            Launch("list_order", blocks(n), 256, ("list_a", "value", "ordered", "n")),
        ],
        changed=["list_a", "list_b", "ordered"],
    )  # fmt: skip


@case(full=50_000, quick=300)
def present80(n: int) -> Problem:
    """Its blocks make 2048 table entries each before they start."""
    rng = np.random.default_rng(403)
    numbers = {
        "key_high": np.uint64(0x0123456789ABCDEF), "key_low": np.uint32(0xFEDC),
        "nonce": np.uint64(0xFFFFFFFF00000000 - 17), "n": np.int32(n),
    }  # fmt: skip
    return Problem(
        arrays={"text": rng.integers(0, 1 << 53, n).astype("u8"), "out": zeros(n, kind="u8")},
        scalars=numbers,
        launches=[Launch("present80", min(blocks(n), 40), 256, ("text", "out", *numbers))],
        changed=["out"],
    )


@case(full=10, quick=7)
def langford(n: int) -> Problem:
    """Threads that end at once beside those that search long."""
    count = (n - 1) * n * (n + 1)
    return Problem(
        arrays={"solutions": zeros(1, kind="u8"), "tried": zeros(count, kind="u4")},
        scalars=ints("n", n),
        launches=[Launch("langford", blocks(count, 128), 128, ("solutions", "tried", "n"))],
        changed=["solutions", "tried"],
    )


@case(full=180, quick=35)
def epistasis(snps: int) -> Problem:
    """Half of the pairs, and their blocks, are left out; a pair of places goes with the illness."""
    people = {"ill": snps * 7 + 5, "well": snps * 8 + 21}
    rng = np.random.default_rng(404)
    rare = 0.05 + 0.45 * rng.random(snps)
    planes, masks = dict[str, Array](), dict[str, np.generic]()
    for name, count in people.items():
        genes = (rng.random((2, snps, count)) < rare[:, None]).sum(0)
        if name == "ill":
            genes[snps // 3] = np.where(rng.random(count) < 0.6, genes[snps // 2], genes[snps // 3])
        words = blocks(count, 32)
        bits = np.zeros((snps, 2, 32 * words), "u1")
        bits[:, 0, :count], bits[:, 1, :count] = genes == 0, genes == 1
        planes[name] = np.packbits(bits, axis=-1, bitorder="little").view("<u4")
        masks[f"{name}_mask"] = np.uint32((1 << (count - 32 * (words - 1))) - 1)
    total = people["ill"] + people["well"] + 2
    table = settled(np.cumsum(settled(np.log(np.maximum(np.arange(total), 1).astype("f8")))))
    size = ints("snps ill_words well_words", snps, planes["ill"].shape[-1], planes["well"].shape[-1])
    names = (*planes, "log_factorial", "scores", "best")
    return Problem(
        arrays={
            **planes, "log_factorial": table, "scores": zeros(snps, snps, kind="f8"),
            "best": np.full(1, 2**64 - 1, "u8"),
        },
        scalars={**size, **masks},
        launches=[Launch("epistasis", (blocks(snps, 16),) * 2, (16, 16), (*names, *size, *masks))],
        changed=["scores", "best"],
    )  # fmt: skip


@case(full=2500, quick=90)
def jaccard(n: int) -> Problem:
    """Most rows are shorter than the eight threads that go along them, some many times as long."""
    start, column = power_law(n, 14, 405)
    rng = np.random.default_rng(406)
    edges = len(column)
    made = {name: zeros(edges) for name in ("common", "both", "similarity")}
    size = {"n": np.int32(n), "gamma": np.float32(0.5)}
    graph = ("n", "start", "column", "weight", "work")
    return Problem(
        arrays={
            "start": start, "column": column, "weight": (rng.random(n) + 0.5).astype("f4"),
            "work": zeros(n), **made,
        },
        scalars=size,
        launches=[
            Launch("jaccard_rows", (1, min(blocks(n, 4), 512)), (32, 4), graph),
            Launch("jaccard_common", (1, 1, min(blocks(n, 8), 300)), (8, 4, 8), (*graph, "common", "both")),
            Launch(
                "jaccard_quotient", min(blocks(edges), 64), 256,
                (np.int32(edges), "common", "both", "similarity", "gamma"),
            ),
        ],
        changed=["work", *made],
        native=("start", "column", "weight", "similarity"),
        tolerance=1e-5,
    )  # fmt: skip


@case(full=250_000, quick=1001)
def urng(n: int) -> Problem:
    """Tables of four numbers a thread in shared memory; noise may fall on a step's edge."""
    rng = np.random.default_rng(407)
    ramp = np.arange(n)[:, None] // 97 % 180 + np.array([10, 30, 50, 60])
    return Problem(
        arrays={
            "input": (ramp + rng.integers(0, 15, (n, 4))).astype("u1"),
            "output": zeros(n, 4, kind="u1"),
        },
        scalars=ints("n factor", n, 25),
        launches=[Launch("urng", blocks(n, 128), 128, ("input", "output", "n", "factor"))],
        changed=["output"],
        mismatches=1e-4,
    )  # fmt: skip
