"""Kernels as samples, textbooks, courses and collections of benchmarks have them, chosen without knowing what
the JIT is good at: k-space, charges, twisters, jagged diagonals, merges, boxes, intervals, rays."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, floats, integers, ints, reals, settled, zeros


def struct(kind: str, names: str, values: Array) -> np.generic:
    """A parameter that is a structure, of values of one type."""
    fields = np.dtype([(name, kind) for name in names.split()])
    scalar: np.generic = values.astype(kind).view(fields)[0]
    return scalar


def around_zero(*shape: int, kind: str = "f4") -> Array:
    return (reals(*shape, kind="f8") - 0.5).astype(kind)


def powers(rng: np.random.Generator, count: int, least: float, most: int) -> Array:
    """Lengths or degrees: few are great."""
    return np.minimum(settled(least / np.sqrt(1 - rng.random(count))), most).astype("i4")


@case(full=4000, quick=75)
def mri_q(voxels: int) -> Problem:
    """Two chunks of samples, of which the second is not full; voxels of a slab."""
    samples = 430 if voxels > 100 else 261
    k = np.random.default_rng(61).random((3, samples)).astype("f4") * 8 - np.float32(4)
    at = np.random.default_rng(62).random((3, voxels)).astype("f4")
    phi = around_zero(2, samples)
    arrays = {
        "phi_r": phi[0], "phi_i": phi[1], "kx": k[0], "ky": k[1], "kz": k[2],
        "packed": zeros(samples, 4), "x": at[0], "y": at[1], "z": at[2],
        "qr": zeros(voxels), "qi": zeros(voxels),
    }  # fmt: skip
    size = ints("samples voxels", samples, voxels)
    pack = ("phi_r", "phi_i", "kx", "ky", "kz", "packed", "samples")
    rest = ("samples", "x", "y", "z", "qr", "qi", "voxels")
    return Problem(
        arrays=arrays,
        scalars=size,
        launches=[
            Launch("mriq_pack", blocks(samples, 512), 512, pack),
            *[
                Launch("mriq_q", blocks(voxels), 256, ("packed", np.int32(first), *rest))
                for first in range(0, samples, 256)
            ],
        ],
        changed=["packed", "qr", "qi"],
        tolerance=1e-4,
    )


@case(full=190, quick=41)
def dcs_slice(nx: int) -> Problem:
    """A slice in the middle of a box of charges, in launches of 128."""
    ny, atoms = nx * 2 // 3 + 1, 400 if nx > 100 else 130
    spacing = 0.5
    at = np.random.default_rng(63).random((atoms, 4)) * np.array([nx * spacing, ny * spacing, 20, 2])
    at[:, 3] -= 1
    numbers = {**ints("atoms nx ny", atoms, nx, ny), **floats("spacing z", spacing, 10.1)}
    rest = ("atoms", "nx", "ny", "spacing", "z", "energy")
    grid = (blocks(nx, 128), blocks(ny, 8))
    return Problem(
        arrays={"atom": at.astype("f4"), "energy": zeros(ny, nx)},
        scalars=numbers,
        launches=[
            Launch("dcs_slice", grid, (16, 8), ("atom", np.int32(first), *rest))
            for first in range(0, atoms, 128)
        ],
        changed=["energy"],
        tolerance=1e-4,
    )


@case(full=3000, quick=135)
def dcmt(rngs: int) -> Problem:
    """The state is a local array, in which all threads are at the same place."""
    each = 400 if rngs > 500 else 24
    params = np.random.default_rng(64).integers(0, 2**32, (rngs, 4), dtype="u4")
    size = ints("rngs each", rngs, each)
    return Problem(
        arrays={"out": zeros(each, rngs), "params": params},
        scalars=size,
        launches=[
            Launch("dcmt_random", blocks(rngs, 128), 128, ("out", "params", *size)),
            Launch("dcmt_boxmuller", blocks(rngs, 128), 128, ("out", *size)),
        ],
        tolerance=1e-5,
    )


@case(full=90_000, quick=333)
def sobol(vectors: int) -> Problem:
    """Directions as a valid table of them has them: bit k is the lowest of number k."""
    dimensions = 20 if vectors > 1000 else 5
    k = np.arange(32)
    m = np.random.default_rng(65).integers(0, 2**32, (dimensions, 32)) % 2 ** (k + 1) | 1
    size: dict[str, np.generic] = {"vectors": np.uint32(vectors), "dimensions": np.uint32(dimensions)}
    groups = 16 if vectors > 1000 else 2
    return Problem(
        arrays={
            "directions": (m << (31 - k)).astype("u4"), "output": zeros(dimensions, vectors),
            "sum": zeros(1, kind="f8"),
        },
        scalars=size,
        launches=[
            Launch("sobol_points", (groups, dimensions), 64, (*size, "directions", "output")),
            Launch("sobol_mean", 32 if vectors > 1000 else 2, 128, (*size, "output", "sum")),
        ],
        changed=["sum"],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=80_000, quick=211)
def jds(dim: int) -> Problem:
    """Lengths by a power law, from 6 to 200 a row; groups of 32 rows are padded to their longest."""
    rng = np.random.default_rng(66)
    length = powers(rng, dim, 6, min(200, dim // 4))
    perm = np.argsort(-length, kind="stable").astype("i4")
    padded = 32 * blocks(dim, 32)
    ordered = np.concatenate((length[perm], np.zeros(padded - dim, "i4")))
    groups = ordered[::32].copy()
    widths = [32 * int((groups > k).sum()) for k in range(int(groups[0]))]
    ptr = np.cumsum([0, *widths])
    data, index = zeros(int(ptr[-1])), zeros(int(ptr[-1]), kind="i4")
    for k, width in enumerate(widths):
        here = ordered[:width] > k
        data[ptr[k] : ptr[k + 1]] = np.where(here, rng.random(width) - 0.5, 0)
        index[ptr[k] : ptr[k + 1]] = np.where(here, rng.integers(0, dim, width), 0)
    arrays = {
        "out": zeros(dim), "data": data, "index": index, "perm": perm, "x": around_zero(dim),
        "ptr": ptr[:-1].astype("i4"), "lengths": groups,
    }  # fmt: skip
    return Problem(
        arrays=arrays,
        scalars=ints("dim", dim),
        launches=[Launch("jds", blocks(dim, 192), 192, (*arrays, "dim"))],
        tolerance=1e-5,
    )


@case(full=400_000, quick=700)
def merge_ring(m: int) -> Problem:
    """Keys of which many are equal: the order of the numbers beside them tells whether it is kept."""
    n, tile, groups = m * 3 // 4 + 11, 1024 if m > 1000 else 128, 16 if m > 1000 else 3
    rng = np.random.default_rng(67)

    def records(count: int, first: int) -> Array:
        keys = np.sort(rng.integers(0, m // 2, count))
        return np.stack((keys, first + np.arange(count)), 1).astype("i4")

    size = ints("m n", m, n)
    return Problem(
        arrays={"a": records(m, 0), "b": records(n, m), "c": zeros(m + n, 2, kind="i4")},
        scalars=size,
        launches=[Launch("merge_ring", groups, 128, ("a", "m", "b", "n", "c", np.int32(tile)), 2 * 8 * tile)],
    )


@case(full=3, quick=1)
def lavamd(side: int) -> Problem:
    """Boxes of 100 for blocks of 128, with up to 26 neighbours."""
    nx, ny, nz = (side, side, side) if side > 1 else (2, 1, 1)
    count = nx * ny * nz
    neighbour = np.dtype([("at", "i4", 3), ("number", "i4"), ("offset", "i8")])
    box = np.dtype(
        [("at", "i4", 3), ("number", "i4"), ("offset", "i8"), ("nn", "i4"), ("pad", "i4"),
         ("nei", neighbour, 26)]
    )  # fmt: skip
    boxes = np.zeros(count, box)
    for number in range(count):
        at = x, y, z = number % nx, number // nx % ny, number // (nx * ny)
        boxes[number]["at"], boxes[number]["number"], boxes[number]["offset"] = at, number, 100 * number
        near = [
            (i, j, k)
            for k in range(max(z - 1, 0), min(z + 2, nz))
            for j in range(max(y - 1, 0), min(y + 2, ny))
            for i in range(max(x - 1, 0), min(x + 2, nx))
            if (i, j, k) != at
        ]
        boxes[number]["nn"] = len(near)
        for number_of_it, (i, j, k) in enumerate(near):
            other = (k * ny + j) * nx + i
            boxes[number]["nei"][number_of_it] = ((i, j, k), other, 100 * other)
    values = np.random.default_rng(68).integers(1, 11, (count * 100, 5)) / 10
    bytes_of = boxes.view("u1").copy()
    names = ("boxes", "rv", "qv", "fv")
    return Problem(
        arrays={
            "boxes": bytes_of, "rv": values[:, :4].copy(), "qv": values[:, 4].copy(),
            "fv": zeros(count * 100, 4, kind="f8"),
        },
        scalars={"alpha": np.float64(0.5), "count": np.int64(count)},
        launches=[Launch("lavamd", count, 128, ("alpha", "count", *names))],
        changed=["fv"],
        tolerance=1e-11,
    )  # fmt: skip


@case(full=800, quick=37)
def deriche(w: int) -> Problem:
    """Coefficients for alpha = 0.25; a structure of twelve floats as a parameter."""
    h = w * 3 // 4 + 3
    once, twice = 0.7788007830714049, 0.6065306597126334  # exp(-0.25), exp(-0.5)
    k = (1 - once) ** 2 / (1 + 0.5 * once - twice)
    a1, a2, a3, a4 = k, k * once * (0.25 - 1), k * once * (0.25 + 1), -k * twice
    coefficients = np.array([a1, a2, a3, a4, a1, a2, a3, a4, 2 * once, -twice, 1, 1], "f4")
    k_struct = struct("f4", "a1 a2 a3 a4 a5 a6 a7 a8 b1 b2 c1 c2", coefficients)
    numbers = ints("w h", w, h)
    return Problem(
        arrays={
            "image": reals(h, w), "y1": zeros(h, w), "rows": zeros(h, w), "out": zeros(h, w),
            "coefficients": coefficients,
        },
        scalars=numbers,
        launches=[
            Launch("deriche_rows", blocks(h, 64), 64, ("image", "y1", "rows", *numbers, k_struct)),
            Launch("deriche_columns", blocks(w, 64), 64, ("rows", "y1", "out", *numbers, k_struct)),
        ],
        native=["image", "rows", "out", "coefficients"],
        tolerance=1e-4,
    )  # fmt: skip


@case(full=150, quick=27)
def mandel_ff(w: int) -> Problem:
    """A valley of sea horses: one pixel of 16 takes all the steps that there are."""
    h, crunch = w * 3 // 4 + 1, 200 if w > 100 else 60
    x, y = -0.74364388703 - 1.5e-3, 0.13182590421 - 1.1e-3
    x0, y0 = float(np.float32(x)), float(np.float32(y))
    scale = np.float32(3e-3 / w)
    colors = np.array([3, 5, 7, 0], "u1")
    offsets = floats("x0 x1 y0 y1", x0, x - x0, y0, y - y0)
    numbers = {**ints("w h crunch", w, h, crunch), **offsets, "scale": scale}
    across, down = blocks(w, 16), blocks(h, 16)
    queue = (struct("u1", "x y z w", colors), np.int32(across), np.int32(across * down))
    return Problem(
        arrays={"out": zeros(h, w, 4, kind="u1"), "colors": colors},
        scalars=numbers,
        launches=[
            Launch("mandel_reset", 1, 1, ()),
            Launch("mandel_ff", 6, (16, 16), ("out", *numbers, *queue)),
        ],
        mismatches=0.01,
    )


@case(full=1500, quick=45)
def interval(n: int) -> Problem:
    """Four roots, or two and two that are not real; each thread's stack has its own height."""
    rng = np.random.default_rng(69)
    parts = 4 * rng.random((4, n)) - 2
    a, b, c = parts[:3]
    parts[3, rng.random(n) < 0.5] = 1.3  # c^2 < 4 d: no roots of x^2 + c x + d
    first, second = np.stack((a * b, -(a + b), np.ones(n))), np.stack((parts[3], c, np.ones(n)))
    product = np.zeros((5, n))
    for i in range(3):
        for j in range(3):
            product[i + j] += first[i] * second[j]
    numbers: dict[str, np.generic] = {
        "n": np.int32(n), "from": np.float64(-6), "to": np.float64(7), "precise": np.float64(1e-9),
        "most": np.int32(400),
    }  # fmt: skip
    arrays = {
        "quartics": product.T.copy(),
        "roots": zeros(n, 8, 2, kind="f8"),
        "counts": zeros(n, kind="i4"),
    }
    return Problem(
        arrays=arrays,
        scalars=numbers,
        launches=[Launch("interval_newton", blocks(n, 64), 64, (*arrays, *numbers))],
        tolerance=1e-9,  # `precise`: C rounds the middles upwards, too
    )


@case(full=32768, quick=1024)
def oemerge(n: int) -> Problem:
    """One launch in shared memory, then one for each stride of the greater sizes: 75 of them."""
    launches = [
        Launch(
            "oemerge_shared", n // 512, 256,
            ("key", "val", "src_key", "src_val", np.uint32(512), np.uint32(1)),
        )
    ]  # fmt: skip
    size = 1024
    while size <= n:
        stride = size // 2
        while stride:
            numbers = (np.uint32(size), np.uint32(stride), np.uint32(1))
            launches.append(Launch("oemerge_global", n // 512, 256, ("key", "val", *numbers)))
            stride //= 2
        size *= 2
    return Problem(
        arrays={
            "key": zeros(n, kind="u4"), "val": zeros(n, kind="u4"),
            "src_key": integers(0, n // 2, n, kind="u4"), "src_val": np.arange(n, dtype="u4"),
        },
        scalars={"n": np.uint32(n), "dir": np.uint32(1)},
        launches=launches,
    )  # fmt: skip


def friends(rng: np.random.Generator, n: int, each: int) -> tuple[Array, Array]:
    """A graph whose first vertices have the most edges, both ways, as rows' starts and columns."""
    edges = n * each
    near = rng.random(edges)
    some = (n * (near * near * near)).astype("i8")
    ends = np.stack((some, rng.integers(0, n, edges)))
    ends = ends[:, ends[0] != ends[1]]
    both = np.unique(np.concatenate((ends[0] * n + ends[1], ends[1] * n + ends[0])))
    row = np.searchsorted(both // n, np.arange(n + 1)).astype("i4")
    return row, (both % n).astype("i4")


def levels(row: Array, col: Array, source: int) -> Array:
    """How far each vertex is from a source, -1 for those out of reach."""
    distance = np.full(len(row) - 1, -1)
    distance[source] = level = 0
    where = np.repeat(np.arange(len(row) - 1), np.diff(row))
    while (distance == level).any():
        new = col[distance[where] == level]
        level += 1
        distance[new[distance[new] < 0]] = level
    return distance


@case(full=8000, quick=150)
def brandes(n: int) -> Problem:
    """Friends of friends: some six levels for each of three sources."""
    row, col = friends(np.random.default_rng(70), n, 5)
    sources = np.array([1, n // 3, n - 1], "i4")
    size, grid = np.int32(n), blocks(n, 192)
    launches = list[Launch]()
    for source in sources:
        last = int(levels(row, col, int(source)).max())
        launches.append(Launch("bc_init", grid, 192, ("distance", "sigma", "delta", source, size)))
        for level in range(last + 1):
            args = ("row", "col", "distance", "sigma", np.int32(level), size)
            launches.append(Launch("bc_forward", grid, 192, args))
        for level in range(last - 1, -1, -1):
            args = ("row", "col", "distance", "sigma", "delta", np.int32(level), size)
            launches.append(Launch("bc_backward", grid, 192, args))
        launches.append(Launch("bc_accumulate", grid, 192, ("delta", "centrality", source, size)))
    return Problem(
        arrays={
            "row": row, "col": col, "sources": sources, "distance": zeros(n, kind="i4"),
            "sigma": zeros(n, kind="u4"), "delta": zeros(n, kind="f8"), "centrality": zeros(n, kind="f8"),
        },
        scalars={"n": size, "count": np.int32(len(sources))},
        launches=launches,
        changed=["distance", "sigma", "delta", "centrality"],
        tolerance=1e-11,
    )  # fmt: skip


@case(full=900, quick=75)
def bude(poses: int) -> Problem:
    """20 kinds of atoms, whose properties blocks keep; two poses a thread and blocks of 64."""
    natlig, natpro = (26, 150) if poses > 100 else (5, 31)
    rng = np.random.default_rng(71)
    atom = np.dtype([(name, "f4") for name in "xyz"] + [("type", "i4")])
    params = np.dtype([("hbtype", "i4"), ("radius", "f4"), ("hphb", "f4"), ("elsc", "f4")])

    def atoms(count: int, size: float) -> Array:
        made = np.zeros(count, atom)
        for name in "xyz":
            made[name] = (rng.random(count) - 0.5) * size
        made["type"] = rng.integers(0, 20, count)
        return made.view("i4")

    field = np.zeros(20, params)
    field["hbtype"] = rng.choice([69, 70, 78], 20)
    field["radius"] = 1 + rng.random(20)
    field["hphb"] = rng.integers(-2, 3, 20) / 4
    field["elsc"] = rng.random(20) - 0.5
    moved = ("a0", "a1", "a2", "t0", "t1", "t2")
    arrays = {
        "protein": atoms(natpro, 24), "ligand": atoms(natlig, 8),
        **{name: (rng.random(poses) * 6.28).astype("f4") for name in moved[:3]},
        **{name: (rng.random(poses) * 6 - 3).astype("f4") for name in moved[3:]},
        "energies": zeros(poses), "field": field.view("i4"),
    }  # fmt: skip
    args = ("natlig", "natpro", "protein", "ligand", *moved, "energies", "field", np.int32(20), "poses")
    return Problem(
        arrays=arrays,
        scalars=ints("natlig natpro poses", natlig, natpro, poses),
        launches=[Launch("bude", blocks(poses, 128), 64, args, 16 * 20)],
        tolerance=1e-4,
    )


@case(full=15, quick=3)
def hexfe(n: int) -> Problem:
    """A bent mesh: 64 numbers of each element go into rows of up to 27."""
    side = n + 1
    k, j, i = (axis.ravel() for axis in np.indices((n, n, n)))
    corners = ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1))
    nodes = np.stack([((k + c) * side + j + b) * side + i + a for a, b, c in corners])
    z, y, x = (axis.ravel() for axis in np.indices((side,) * 3))
    coords = (np.stack((x, y, z), 1) + around_zero(side**3, 3, kind="f8") * 0.3) / n
    pairs = np.unique((nodes[:, None] * side**3 + nodes).ravel())
    row = np.searchsorted(pairs // side**3, np.arange(side**3 + 1)).astype("i4")
    arrays = {
        "nodes": nodes.astype("i4"), "coords": coords, "row": row,
        "columns": (pairs % side**3).astype("i4"), "coefs": zeros(len(pairs), kind="f8"),
        "rhs": zeros(side**3, kind="f8"),
    }  # fmt: skip
    numbers: dict[str, np.generic] = {"elements": np.int32(n**3), "conductivity": np.float64(1.5)}
    return Problem(
        arrays=arrays,
        scalars=numbers,
        launches=[Launch("hexfe", max(1, n**3 // 256), 128, (*arrays, *numbers))],
        changed=["coefs", "rhs"],
        tolerance=1e-11,
    )


@case(full=600, quick=3)
def spline_vgh(walkers: int) -> Problem:
    """100 orbitals for blocks of 64; a table of constants; walkers may be outside of the period."""
    n, orbitals = (12, 100) if walkers > 10 else (4, 37)
    inv = np.float32(n / 3)
    spline = np.dtype(
        [(name, "i4") for name in ("nx", "ny", "nz", "sx", "sy", "sz")]
        + [(name, "f4") for name in ("inv_x", "inv_y", "inv_z")]
    )
    strides = (orbitals * (n + 3) ** 2, orbitals * (n + 3), orbitals)
    given: np.generic = np.array([(n, n, n, *strides, inv, inv, inv)], spline)[0]
    names = ("positions", "coefs", "vals", "grads", "hess")
    return Problem(
        arrays={
            "positions": reals(walkers, 3) * np.float32(5) - np.float32(1),
            "coefs": around_zero(n + 3, n + 3, n + 3, orbitals), "vals": zeros(walkers, orbitals),
            "grads": zeros(walkers, 3, orbitals), "hess": zeros(walkers, orbitals, 6),
        },
        scalars={**ints("walkers orbitals n", walkers, orbitals, n), "inv": inv},
        launches=[Launch("spline_vgh", (blocks(orbitals, 64), walkers), 64, (*names, given, "orbitals"))],
        tolerance=1e-4,
    )  # fmt: skip


@case(full=128, quick=37)
def volrend(w: int) -> Problem:
    """Seven soft balls of bytes; rays miss them, go through or end inside."""
    h, side = w * 3 // 4 + 1, 40 if w > 100 else 12
    shape = side, side - 3, side - 5
    z, y, x = np.indices(shape[::-1]) / np.float64(side) - 0.5
    cloud = np.zeros(shape[::-1])
    for cx, cy, cz in np.random.default_rng(72).random((7, 3)) * 0.8 - 0.4:
        cloud += 110 / (1 + 90 * ((x - cx) * (x - cx) + (y - cy) * (y - cy) + (z - cz) * (z - cz)))
    table = np.array(
        [[0, 0, 0, 0], [1, 0, 0, 1], [1, 0.5, 0, 1], [1, 1, 0, 1], [0, 1, 0, 1], [0, 1, 1, 1],
         [0, 0, 1, 1], [1, 0, 1, 1], [0, 0, 0, 0]], "f4",
    )  # fmt: skip
    view = np.array([[0.8, 0.36, 0.48, 1.8], [0, 0.8, -0.6, -2.1], [-0.6, 0.48, 0.64, 2.5]], "f4")
    extent, look = np.array(shape, "i4"), np.array([0.05, 1, 0, 1], "f4")
    structs = (
        struct("i4", "w h d", extent),
        struct("f4", "a b c d e f g h i j k l", view.ravel()),
        struct("f4", "density brightness offset scale", look),
    )
    size = ints("entries w h", len(table), w, h)
    steps = {"steps": np.int32(120 if w > 100 else 40), "tstep": np.float32(0.025 if w > 100 else 0.08)}
    return Problem(
        arrays={
            "output": zeros(h, w, 4, kind="u1"), "volume": np.minimum(cloud, 255).astype("u1"),
            "table": table, "extent": extent, "view": view, "look": look,
        },
        scalars={**size, **steps},
        launches=[
            Launch(
                "volrend", (blocks(w, 16), blocks(h, 16)), (16, 16),
                ("output", "volume", "table", *size, *structs, *steps),
            )
        ],
        tolerance=0.004,
        mismatches=0.005,
    )  # fmt: skip


@case(full=100_000, quick=333)
def bfs_updown(n: int) -> Problem:
    """Down, up while most of the vertices are found, down again; what has no turn returns at once."""
    row, col = friends(np.random.default_rng(73), n, 7)
    source, words, grid = n - 2, blocks(n, 32), blocks(n, 256)
    rounds = int(levels(row, col, source).max()) + 1
    size = ints("source alpha beta n", source, 14, 24, n)
    launches = [
        Launch("bfs_start", grid, 256, ("level", "front", "next", "state", "row", "source", "n")),
    ]
    for depth in range(rounds):
        pair = ("front", "next") if depth % 2 == 0 else ("next", "front")
        args = ("row", "col", "level", *pair, "state", "n")
        launches += [
            Launch("bfs_plan", 1, 32, ("state", "history", "alpha", "beta", "n")),
            Launch("bfs_topdown", grid, 256, args),
            Launch("bfs_bottomup", grid, 256, args),
            Launch("bfs_wipe", blocks(words, 256), 256, (pair[0], np.int32(words))),
        ]
    return Problem(
        arrays={
            "row": row, "col": col, "level": zeros(n, kind="i4"), "history": zeros(rounds, 2, kind="i4"),
            "front": zeros(words, kind="u4"), "next": zeros(words, kind="u4"), "state": zeros(5, kind="i8"),
        },
        scalars={**size, "rounds": np.int32(rounds)},
        launches=launches,
        changed=["level", "history", "front", "next", "state"],
        native=["row", "col", "level", "history"],
    )  # fmt: skip


@case(full=2_500_003, quick=5003)
def reduce7(n: int) -> Problem:
    """Seven kernels over the same numbers, whose sums are exact; each leaves its blocks' sums to another."""
    one, two, few = blocks(n), blocks(n, 512), min(64, blocks(n, 512))
    grids = {
        "modulo": one, "strided": one, "halves": one, "load_two": two, "last_warp": two, "unrolled": few,
        "warps": few,
    }  # fmt: skip
    size = np.uint32(n)
    launches = [
        Launch(f"reduce_{way}", grid, 256, ("data", way, size), 4 * 256) for way, grid in grids.items()
    ]
    launches += [
        Launch("reduce_final", 1, 256, (way, np.int32(grid), "totals", np.int32(number)))
        for number, (way, grid) in enumerate(grids.items())
    ]
    parts = {way: zeros(grid, kind="i4") for way, grid in grids.items()}
    return Problem(
        arrays={"data": integers(-1000, 1001, n), **parts, "totals": zeros(7, kind="i8")},
        scalars={"n": size, **ints("one two few", one, two, few)},
        launches=launches,
    )
