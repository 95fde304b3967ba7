"""Thirteen kernels in the form that each has most often, written without knowing what the JIT is good at:
small numbers, convolutions and transforms, grids, pictures, lists, particles, trees."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, integers, ints, reals, zeros


def around_zero(*shape: int, kind: str = "f4") -> Array:
    return (reals(*shape) - np.float32(0.5)).astype(kind)


def bfloats(values: Array) -> Array:
    """The upper halves of floats."""
    return (values.view("u4") >> 16).astype("u2")


@case(full=3000, quick=210)
def bf16_gemv(cols: int) -> Problem:
    """A warp a row, 16 bits in memory and 32 in registers."""
    rows = cols * 3 // 4 + 3
    size = ints("rows cols", rows, cols)
    return Problem(
        arrays={
            "a": bfloats(around_zero(rows, cols)), "x": bfloats(around_zero(cols) * 4),
            "bias": bfloats(around_zero(rows)), "y": zeros(rows, kind="u2"),
        },
        scalars=size,
        launches=[Launch("bf16_gemv", blocks(rows, 8), 256, ("a", "x", "bias", "y", *size))],
        changed=["y"],
        tolerance=1e-4,
        mismatches=0.01,
    )  # fmt: skip


@case(full=256, quick=70)
def s8_gemm(m: int) -> Problem:
    """Tiles of 64 x 64 that the matrices do not fill."""
    n, k = m - 20, 2 * m
    size = {**ints("m n k", m, n, k), "a_scale": np.float32(0.02)}
    return Problem(
        arrays={
            "a": integers(-127, 128, m, k, kind="i1"), "b": integers(-127, 128, n, k, kind="i1"),
            "channel_scale": (1 + reals(n)) * np.float32(0.01), "c": zeros(m, n, kind="f2"),
        },
        scalars=size,
        launches=[
            Launch(
                "s8_gemm", (blocks(n, 64), blocks(m, 64)), (16, 16),
                ("a", "b", "channel_scale", "c", *size),
            )
        ],
        changed=["c"],
        tolerance=1e-3,
    )  # fmt: skip


@case(full=320, quick=70)
def attn_h2(keys: int) -> Problem:
    """Sums in half precision, of which C has none: what is equal are two or three digits."""
    heads, queries, dim = 8, keys // 5 - 3, 64
    numbers = {**ints("queries keys", queries, keys), "scale": np.float32(dim**-0.5)}
    return Problem(
        arrays={
            "q": around_zero(heads, queries, dim, kind="f2") * np.float16(3),
            "k": around_zero(heads, keys, dim, kind="f2") * np.float16(3),
            "probs": zeros(heads, queries, keys, kind="f2"),
        },
        scalars={**numbers, "heads": np.int32(heads)},
        launches=[Launch("attn_h2", (queries, heads), 128, ("q", "k", "probs", *numbers), 4 * keys)],
        changed=["probs"],
        tolerance=0.02,
    )


@case(full=28, quick=9)
def conv3_nhwc(w: int) -> Problem:
    """Channels last: a warp's threads read the same pixels and weights side by side."""
    images, h, channels, filters = 2, w - 1, 32, 48
    size = ints("h w channels filters", h, w, channels, filters)
    grid = (blocks(blocks(w, 4) * blocks(h, 2), 8), blocks(filters, 32), images)
    names = ("input", "weight", "bias", "output")
    return Problem(
        arrays={
            "input": around_zero(images, h, w, channels),
            "weight": around_zero(3, 3, channels, filters),
            "bias": around_zero(filters), "output": zeros(images, h, w, filters),
        },
        scalars={**size, "images": np.int32(images)},
        launches=[Launch("conv3_nhwc", grid, (32, 8), (*names, *size))],
        changed=["output"],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=600, quick=42)
def eig8(count: int) -> Problem:
    """42 rounds of four rotations, whose parameters four of 32 threads work out."""
    a = around_zero(count, 8, 8)
    numbers = ints("count sweeps", count, 6)
    names = ("matrices", "values", "vectors")
    return Problem(
        arrays={
            "matrices": a + a.transpose(0, 2, 1),
            "values": zeros(count, 8), "vectors": zeros(count, 8, 8),
        },
        scalars=numbers,
        launches=[Launch("eig8", blocks(count, 4), 128, (*names, *numbers))],
        changed=["values", "vectors"],
        tolerance=1e-4,
        mismatches=0.02,
    )  # fmt: skip


@case(full=257, quick=41)
def mg_cycle(n: int) -> Problem:
    """Four grids, 2 + 2 rounds of red and black on each, 8 on the coarsest; half of the threads rest."""
    levels, before, after, last = 4, 2, 2, 8
    sizes = [(n - 1) // 2**level + 1 for level in range(levels)]
    squares = [np.float64(4**level / (n - 1) ** 2) for level in range(levels)]
    launches = list[Launch]()

    def launch(kernel: str, size: int, *args: str | np.generic) -> None:
        launches.append(Launch(kernel, (blocks(size, 16),) * 2, (16, 16), args))

    def smooth(level: int, times: int) -> None:
        for color in (1, 0) * times:
            args = (f"u{level}", f"f{level}", np.int32(sizes[level]), squares[level], np.int32(color))
            launch("smooth_color", sizes[level], *args)

    for level, (size, coarse) in enumerate(pairwise(sizes)):
        smooth(level, before)
        launch("residual", size, f"u{level}", f"f{level}", f"r{level}", np.int32(size), squares[level])
        launch(
            "restrict_residual", coarse,
            f"r{level}", f"f{level + 1}", f"u{level + 1}", np.int32(coarse),
        )  # fmt: skip
    smooth(levels - 1, last)
    for level in reversed(range(levels - 1)):
        launch("prolong_add", sizes[level], f"u{level + 1}", f"u{level}", np.int32(sizes[level]))
        smooth(level, after)
    arrays = {f"u{level}": zeros(size, size, kind="f8") for level, size in enumerate(sizes)}
    arrays["u0"][1:-1, 1:-1] = reals(n - 2, n - 2, kind="f8") / 100
    arrays |= {f"f{level}": zeros(size, size, kind="f8") for level, size in enumerate(sizes)}
    arrays["f0"] = 10 * reals(n, n, kind="f8")
    arrays |= {f"r{level}": zeros(size, size, kind="f8") for level, size in enumerate(sizes[:-1])}
    return Problem(
        arrays=arrays,
        scalars={"n": np.int32(n), "h2": squares[0], **ints("before after last", before, after, last)},
        launches=launches,
        changed=[name for name in arrays if name != "f0"],
        tolerance=1e-10,
    )


@case(full=64, quick=20)
def d3q19(nx: int) -> Problem:
    """Two steps; remainders in 19 directions, one of ten cells is a wall."""
    ny, nz, steps = nx // 2 + 1, nx // 2 - 3, 2
    weights = np.array([1 / 3] + [1 / 18] * 6 + [1 / 36] * 12, "f4")
    f = weights[:, None, None, None] * (1 + around_zero(19, nz, ny, nx) / 5)
    numbers = {**ints("nx ny nz", nx, ny, nz), "omega": np.float32(1.4), "force": np.float32(1e-3)}
    grid = (blocks(nx, 32), blocks(ny, 4), blocks(nz, 2))
    return Problem(
        arrays={
            "f": f, "f_new": zeros(19, nz, ny, nx), "solid": (reals(nz, ny, nx) < 0.1).astype("u1"),
        },
        scalars={**numbers, "steps": np.int32(steps)},
        launches=[
            Launch("d3q19", grid, (32, 4, 2), (*names, "solid", *numbers))
            for names in (("f", "f_new"), ("f_new", "f")) * (steps // 2)
        ],
        changed=["f", "f_new"],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=1700, quick=13)
def fft_stock(batch: int) -> Problem:
    """Four steps of four, whose sines each thread works out."""
    return Problem(
        arrays={"input": around_zero(batch, 256, 2), "output": zeros(batch, 256, 2)},
        scalars={"direction": np.float32(-1), "batch": np.int32(batch)},
        launches=[Launch("fft_stock", batch, 64, ("input", "output", "direction"))],
        changed=["output"],
        tolerance=1e-5,
    )


@case(full=400, quick=70)
def canny(w: int) -> Problem:
    """Discs, stripes and noise; 14 launches, each of which asks for its borders."""
    h, rounds = w * 3 // 4 - 5, 8
    y, x = np.mgrid[:h, :w]
    picture = 60 * reals(h, w) + 40 * (np.sin(x / 7 + y / 11) > 0)
    for k in range(12):
        cx, cy, r = w * (k * 37 % 100) / 100, h * (k * 61 % 100) / 100, w / 20 + k * w / 200
        picture[(x - cx) ** 2 + (y - cy) ** 2 < r * r] += 10 + 8 * k
    size = ints("w h", w, h)
    thresholds = {"low": np.float32(40), "high": np.float32(110)}
    grid, block, states = (blocks(w, 16), blocks(h, 16)), (16, 16), ("edges", "next")
    made = {
        "blurred": zeros(h, w), "magnitude": zeros(h, w), "direction": zeros(h, w, kind="u1"),
        "edges": zeros(h, w, kind="u1"), "next": zeros(h, w, kind="u1"), "out": zeros(h, w, kind="u1"),
    }  # fmt: skip
    return Problem(
        arrays={"image": np.minimum(picture, 255).astype("u1"), **made},
        scalars={**size, **thresholds, "rounds": np.int32(rounds)},
        launches=[
            Launch("blur5", grid, block, ("image", "blurred", *size)),
            Launch("gradient", grid, block, ("blurred", "magnitude", "direction", *size)),
            Launch("suppress", grid, block, ("magnitude", "direction", "edges", *size, *thresholds)),
            *[
                Launch("hysteresis", grid, block, (*pair, *size))
                for pair in (states, states[::-1]) * (rounds // 2)
            ],
            Launch("edge_image", blocks(w * h), 256, ("edges", "out", np.int32(w * h))),
        ],
        changed=[*made],
        tolerance=1e-5,
        mismatches=0.002,
    )


@case(full=520, quick=75)
def msquares(nx: int) -> Problem:
    """Lines of one height: a cell of six has some."""
    ny, iso = nx * 3 // 4, 0.1
    y, x = np.mgrid[:ny, :nx]
    field = np.sin(x / 9) * np.cos(y / 13) + np.sin((x + 2 * y) / 31) / 2 + around_zero(ny, nx) / 4
    cells = (nx - 1) * (ny - 1)
    size = {**ints("nx ny", nx, ny), "iso": np.float32(iso)}
    groups = blocks(cells)
    return Problem(
        arrays={
            "field": field.astype("f4"), "kind": zeros(cells, kind="u1"),
            "block_count": zeros(groups, kind="i4"), "total": zeros(1, kind="i4"),
            "segments": zeros(2 * cells, 4),
        },
        scalars=size,
        launches=[
            Launch("classify", groups, 256, ("field", "kind", "block_count", *size)),
            Launch("scan_counts", 1, 256, ("block_count", "total", np.int32(groups))),
            Launch("generate", groups, 256, ("field", "kind", "block_count", "segments", *size)),
        ],
        changed=["kind", "block_count", "total", "segments"],
        native=("field", "segments", "total"),
        tolerance=1e-5,
    )  # fmt: skip


@case(full=100_000, quick=5000)
def radix64(n: int) -> Problem:
    """Two passes of 4 bits: 16 counters a thread in shared memory, and a scan of 4096 of them a block."""
    rng = np.random.default_rng(31)
    shift, groups = 24, blocks(n, 1024)
    lists = ("keys", "values"), ("other_keys", "other_values")
    launches = list[Launch]()
    for k in (0, 1):
        bits = np.int32(shift + 4 * k)
        launches += [
            Launch("digit_counts", groups, 256, (lists[k][0], "counts", "n", bits)),
            Launch("scan_digits", 1, 256, ("counts", np.int32(16 * groups))),
            Launch("scatter_pairs", groups, 256, (*lists[k], *lists[1 - k], "counts", "n", bits)),
        ]
    return Problem(
        arrays={
            "keys": rng.integers(0, 1 << 53, n).astype("u8"),  # which a double has without rounding
            "values": rng.permutation(n).astype("u4"),
            "other_keys": zeros(n, kind="u8"), "other_values": zeros(n, kind="u4"),
            "counts": zeros(16 * groups, kind="u4"),
        },
        scalars=ints("n shift", n, shift),
        launches=launches,
        changed=["keys", "values", "other_keys", "other_values", "counts"],
        native=("keys", "values", "other_keys", "other_values"),
    )  # fmt: skip


@case(full=12_000, quick=700)
def sph_cells(n: int) -> Problem:
    """Some four particles a cell, more of them below; within a cell they may be in any order."""
    h = 0.1
    nx = ny = round((n / 4) ** (1 / 3)) + 1
    nz = nx + 2
    position = reals(n, 4) * np.float32([nx * h, ny * h, nz * h, 0.5])
    position[:, 1] *= np.sqrt(reals(n))
    position[:, 3] += np.float32(0.5)
    cells = ints("nx ny nz", nx, ny, nz)
    length = {"h": np.float32(h), "inv_h": np.float32(1 / h)}
    fluid = {"stiffness": np.float32(2), "rest": np.float32(3000)}
    index = {
        "cell": zeros(n, kind="i4"), "count": zeros(nx * ny * nz, kind="i4"),
        "start": zeros(nx * ny * nz + 1, kind="i4"), "cursor": zeros(nx * ny * nz, kind="i4"),
        "sorted": zeros(n, 4), "original": zeros(n, kind="i4"), "rho": zeros(n), "pressure": zeros(n),
    }  # fmt: skip
    listed = ("sorted", "original", "start", "rho", "pressure")
    return Problem(
        arrays={"position": position, **index},
        scalars={"n": np.int32(n), **length, **cells, **fluid},
        launches=[
            Launch("count_cells", blocks(n), 256, ("position", "cell", "count", "n", "inv_h", *cells)),
            Launch("scan_cells", 1, 1024, ("count", "start", "cursor", np.int32(nx * ny * nz))),
            Launch(
                "scatter_cells", blocks(n), 256, ("position", "cell", "cursor", "sorted", "original", "n")
            ),
            Launch("density", blocks(n), 256, (*listed, "n", "h", *cells, *fluid)),
        ],
        changed=[*index],
        native=("position", "start", "rho", "pressure"),
        tolerance=1e-5,
    )


NODE = np.dtype([("feature", "i4"), ("threshold", "f4"), ("left", "i4"), ("right", "i4")])


def grown(trees: int, features: int, depth: int) -> tuple[Array, Array]:
    """Nodes of trees in the order of their making, some branches shorter than others, and the roots."""
    rng = np.random.default_rng(32)
    nodes, roots = list[list[float]](), list[int]()

    def grow(left: int) -> int:
        at = len(nodes)
        if left == 0 or (left < depth - 2 and rng.random() < 0.15):
            nodes.append([-1, rng.normal() / 10, 0, 0])
        else:
            nodes.append([rng.integers(features), rng.uniform(0.2, 0.8), 0, 0])
            nodes[at][2:] = grow(left - 1), grow(left - 1)
        return at

    for _ in range(trees):
        roots.append(grow(depth))
    return np.array([tuple(node) for node in nodes], NODE), np.array(roots, "i4")


@case(full=1500, quick=300)
def forest(n: int) -> Problem:
    """80 trees, each level of which needs the one before; threads of a warp part at the first."""
    features, trees = 20, 80 if n > 1000 else 15
    nodes, roots = grown(trees, features, 8)
    numbers = {**ints("n features trees", n, features, trees), "bias": np.float32(-0.3)}
    return Problem(
        arrays={
            "nodes": nodes.view("i4"), "roots": roots, "samples": reals(n, features),
            "probability": zeros(n),
        },
        scalars=numbers,
        launches=[
            Launch("forest", blocks(n), 256, ("nodes", "roots", "samples", "probability", *numbers))
        ],
        changed=["probability"],
        tolerance=1e-5,
    )  # fmt: skip
