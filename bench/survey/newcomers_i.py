"""Twelve kernels as the collections of benchmarks for GPUs have them, written anew and without knowing what
the JIT is good at: medicine, tracking, clusters, atoms, neutrons, random, textures, fatigue, words."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, ints, reals, zeros


@case(full=320, quick=43)
def gicov(w: int) -> Problem:
    """Bright cells on a grey ground with noise; 128 places for each pixel's score."""
    h = w * 3 // 4 + 1
    y, x = np.mgrid[:h, :w]
    frame = 90 + 20 * reals(h, w) + 10 * np.sin(x / 31)
    for k in range(9):
        cx, cy, r = w * (k * 37 % 100) / 100, h * (k * 61 % 100) / 100, 7.5 + k % 4 * 2
        frame += 70 / (1 + np.exp(np.clip(np.hypot(x - cx, y - cy) - r, -50, 50)))
    across = np.arange(11) - 5
    strel = (across[:, None] ** 2 + across**2 <= 27).astype("u1")
    size = ints("w h", w, h)
    grid = blocks(w, 32), blocks(h, 8)
    made = {name: zeros(h, w) for name in ("grad_x", "grad_y", "score", "dilated")}
    return Problem(
        arrays={"frame": frame.astype("u1"), "strel": strel, **made},
        scalars=size,
        launches=[
            Launch("gicov_gradient", grid, (32, 8), ("frame", "grad_x", "grad_y", *size)),
            Launch("gicov_score", grid, (32, 8), ("grad_x", "grad_y", "score", *size)),
            Launch("gicov_dilate", grid, (32, 8), ("score", "strel", "dilated", *size)),
        ],
        changed=[*made],
        tolerance=1e-4,
    )


@case(full=96, quick=17)
def luo_rudy(nx: int) -> Problem:
    """A wave that runs from left to right; 2 launches for each of 12 steps."""
    ny, steps = nx // 2 + 3, 12
    front = 1 / (1 + np.exp((np.arange(nx) - nx / 3) / 2))
    v = (-84.5 + 95 * front + reals(ny, nx)).astype("f4")
    rest = [0.0017, 0.983, 0.989, 0.003, 0.999, 0.0057, 1.8e-4]
    raised = [0.99, 0.01, 0.05, 0.4, 0.9, 0.05, 1e-3]
    state = np.empty((7, ny, nx), "f4")
    for k, (low, high) in enumerate(zip(rest, raised, strict=True)):
        state[k] = low + (high - low) * front
    stimulus = zeros(ny, nx)
    stimulus[:, : nx // 8] = -30
    size, dt, factor = ints("nx ny", nx, ny), np.float32(0.02), np.float32(0.08)
    cells, grid = np.int32(nx * ny), (blocks(nx, 16), blocks(ny, 16))
    launches = list[Launch]()
    for old, new in (("v", "v_new"), ("v_new", "v")) * (steps // 2):
        launches += [
            Launch("lr_cells", blocks(nx * ny, 192), 192, (old, "state", "stimulus", cells, dt)),
            Launch("lr_diffuse", grid, (16, 16), (old, new, *size, factor)),
        ]
    return Problem(
        arrays={"v": v, "v_new": zeros(ny, nx), "state": state, "stimulus": stimulus},
        scalars={**size, "dt": dt, "factor": factor, "steps": np.int32(steps)},
        launches=launches,
        changed=["v", "v_new", "state"],
        tolerance=1e-4,
    )


@case(full=5000, quick=150)
def pfilter(particles: int) -> Problem:
    """Four frames with an object that runs; sums in another order may, rarely, resample another particle."""
    w, h, frames = 160, 128, 4
    across = np.arange(9) - 4
    dy, dx = np.nonzero(across[:, None] ** 2 + across**2 < 20)
    disc = np.stack([dx - 4, dy - 4], 1).astype("i4")
    y, x = np.mgrid[:h, :w]
    film = 100 + 10 * (reals(frames, h, w) - 0.5)
    for t in range(frames):
        film[t][np.hypot(x - (80 + t), y - (64 - 2 * t)) < 6] += 128
    groups = blocks(particles, 128)
    rng = np.random.default_rng(91)
    made = {
        "x": 79 + 4 * rng.normal(size=particles), "y": 66 + 4 * rng.normal(size=particles),
        "x_new": zeros(particles, kind="f8"), "y_new": zeros(particles, kind="f8"),
        "weights": np.full(particles, 1 / particles), "cdf": zeros(particles, kind="f8"),
        "centre": zeros(frames, 2, kind="f8"),
        "seed": rng.integers(1, 2**31 - 1, particles).astype("i4"),
        "partial": zeros(groups, kind="f8"), "offset": zeros(1, kind="f8"),
    }  # fmt: skip
    numbers = ints("particles w h points", particles, w, h, len(disc))
    launches = list[Launch]()
    for t in range(frames):
        time = np.int32(t)
        old, new = (("x", "y"), ("x_new", "y_new"))[:: 1 - t % 2 * 2]
        launches += [
            Launch(
                "pf_likelihood", groups, 128,
                (*old, "weights", "film", "disc", "points", "seed", "partial", "particles", "w", "h", time),
            ),
            Launch("pf_sum", 1, 32, ("partial", np.int32(groups))),
            Launch(
                "pf_cdf", 1, 512,
                (*old, "weights", "partial", "cdf", "centre", "seed", "offset", "particles", time),
            ),
            Launch("pf_resample", groups, 128, (*old, *new, "weights", "cdf", "offset", "particles")),
        ]  # fmt: skip
    return Problem(
        arrays={**made, "film": film.astype("u1"), "disc": disc},
        scalars={**numbers, "frames": np.int32(frames)},
        launches=launches,
        changed=[*made],
        native=("x", "y", "x_new", "y_new", "weights", "cdf", "centre", "film", "disc", "seed"),
        tolerance=1e-9,
        mismatches=0.01,
    )


@case(full=24_000, quick=330)
def pgain(n: int) -> Problem:
    """Points around 30 places in 24 dimensions; of ten candidates about half are opened."""
    dim, first, count = 24, 12, 10
    rng = np.random.default_rng(92)
    points = rng.normal(size=(30, dim))[rng.integers(0, 30, n)] + rng.normal(size=(n, dim)) / 3
    weight = rng.integers(1, 5, n)
    chosen = rng.permutation(n)[: first + count]
    squares = ((points[:, None] - points[chosen[:first]]) ** 2).sum(2)
    slots = first + count
    centre, is_open = zeros(slots, kind="i4"), zeros(slots, kind="i1")
    centre[:first], is_open[:first] = chosen[:first], 1
    coord = np.ascontiguousarray(points.T.astype("f4"))
    numbers = ints("n dim slots count", n, dim, slots, count)
    z = np.float32(n)
    launches = list[Launch]()
    for x in chosen[first:].astype("i4"):
        launches += [
            Launch(
                "pgain_cost", blocks(n), 256,
                ("coord", "weight", "cost", "assign", "switches", "lower", "opening", "n", "dim", x, "slots"),
                4 * (dim + slots + 1),
            ),
            Launch(
                "pgain_decide", 1, 64,
                ("lower", "opening", "centre", "open", "used", "chosen", x, "slots", z),
            ),
            Launch(
                "pgain_assign", blocks(n), 256,
                ("coord", "weight", "cost", "assign", "switches", "open", "chosen", "n", "dim", x),
            ),
        ]  # fmt: skip
    changed = {
        "cost": (squares.min(1) * weight).astype("f4"), "assign": squares.argmin(1).astype("i4"),
        "centre": centre, "open": is_open, "used": np.array([first], "i4"),
    }  # fmt: skip
    return Problem(
        arrays={
            "coord": coord, "weight": weight.astype("f4"), **changed,
            "candidates": chosen[first:].astype("i4"), "switches": zeros(n, kind="i1"),
            "lower": zeros(slots), "opening": zeros(1), "chosen": zeros(1, kind="i4"),
        },
        scalars={**numbers, "z": z},
        launches=launches,
        changed=[*changed],
        native=("coord", "weight", "cost", "assign", "centre", "open", "used", "candidates"),
        tolerance=1e-5,
    )  # fmt: skip


def table(values: Array) -> Array:
    """What is interpolated over: its ends are repeated."""
    return np.concatenate([values[:1], values, np.full(3, values[-1])])


@case(full=9, quick=3)
def eam(side: int) -> Problem:
    """Copper, about four atoms in each of the cells."""
    a, entries = 3.615, 500
    rng = np.random.default_rng(93)
    corners = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), -1).reshape(-1, 1, 3)
    basis = np.array([[0, 0, 0], [0, 0.5, 0.5], [0.5, 0, 0.5], [0.5, 0.5, 0]]) + 0.02
    atoms = ((corners + basis).reshape(-1, 3) * a + rng.normal(size=(4 * side**3, 3)) / 12) % (side * a)
    x, y, z = np.minimum(atoms // a, side - 1).astype("i4").T
    boxes = side**3
    count, place = zeros(boxes, kind="i4"), zeros(boxes * 16, 3, kind="f8")
    for box, atom in zip((z * side + y) * side + x, atoms, strict=True):
        place[box * 16 + count[box]] = atom
        count[box] += 1
    x0, cutoff, f_entries = 0.5, 3.5, 400
    r = x0 + np.arange(entries) * (cutoff + 0.1 - x0) / entries
    inv_dx, f_inv_dx = np.float64(1 / (r[1] - r[0])), np.float64(f_entries / 60)
    size = {**ints("nx ny nz", side, side, side), **dict.fromkeys(("lx", "ly", "lz"), np.float64(side * a))}
    pairs = {"x0": np.float64(x0), "inv_dx": inv_dx, "entries": np.int32(entries)}
    embedding = {"f_x0": np.float64(0), "f_inv_dx": f_inv_dx, "f_entries": np.int32(f_entries)}
    made = ("fx", "fy", "fz", "energy", "rho_bar", "df_embed")
    places, forces = ("rx", "ry", "rz", "count"), ("fx", "fy", "fz")
    rest, grid = (*pairs, *size, "cutoff2"), blocks(16 * boxes, 128)
    return Problem(
        arrays={
            **{name: place[:, k].copy() for k, name in enumerate(places[:3])}, "count": count,
            **{name: zeros(16 * boxes, kind="f8") for name in made},
            "phi": table(0.3 * (np.exp(-2.8 * (r - 2.6)) - 2 * np.exp(-1.4 * (r - 2.6)))),
            "rho": table(np.exp(-2 * (r - 2.6))),
            "embed": table(-0.7 * np.sqrt(np.arange(f_entries) / f_inv_dx)),
        },
        scalars={**pairs, **embedding, **size, "cutoff2": np.float64(cutoff**2)},
        launches=[
            Launch("eam_pairs", grid, 128, (*places, *forces, "energy", "rho_bar", "phi", "rho", *rest)),
            Launch(
                "eam_embed", grid, 128,
                ("count", "energy", "rho_bar", "df_embed", "embed", *embedding, np.int32(boxes)),
            ),
            Launch("eam_forces", grid, 128, (*places, *forces, "df_embed", "rho", *rest)),
        ],
        changed=[*made],
        tolerance=1e-9,
    )  # fmt: skip


@case(full=8000, quick=150)
def xs_lookup(lookups: int) -> Problem:
    """Grids of 68 nuclides, more than fit into a core's caches at full size."""
    points = 1500 if lookups > 1000 else 61
    numbers = np.array([34, 5, 4, 4, 27, 21, 21, 21, 21, 21, 9, 9], "i4")
    rng = np.random.default_rng(94)
    grids = rng.random((68, points, 6))
    grids[:, :, 0] = np.sort(grids[:, :, 0], 1)
    listed = np.stack([rng.permutation(68)[:40] for _ in numbers]).astype("i4")
    return Problem(
        arrays={
            "grids": grids, "nuclides": listed, "nuclide_count": numbers,
            "density": rng.random((12, 40)) * 3,
            "macro": zeros(lookups, 5, kind="f8"), "verify": zeros(lookups, kind="u8"),
        },
        scalars={
            "lookups": np.int32(lookups), "points": np.int64(points), "start_seed": np.uint64(1070),
        },
        launches=[
            Launch(
                "xs_lookup", blocks(lookups), 256,
                ("grids", "nuclides", "nuclide_count", "density", "macro", "verify",
                 "lookups", "points", "start_seed"),
            )
        ],
        changed=["macro", "verify"],
        tolerance=1e-9,
    )  # fmt: skip


POLE = np.dtype([("numbers", "f8", 8), ("l", "i4"), ("", "i4")])
WINDOW = np.dtype([("numbers", "f8", 3), ("range", "i4", 2)])


@case(full=2500, quick=70)
def rs_poles(lookups: int) -> Problem:
    """Windows of 2 to 6 poles; six of ten energies are low enough for heat to matter."""
    nuclides, windows, most, counts = 40, 25, 120, [30, 5, 4, 4, 20, 18, 18, 9, 9, 12, 7, 7]
    rng = np.random.default_rng(95)
    pole, window = np.zeros((nuclides, most), POLE), np.zeros((nuclides, windows), WINDOW)
    middle = np.linspace(0, 1, most) + rng.normal(size=(nuclides, most)) / 50
    pole["numbers"] = rng.normal(size=(nuclides, most, 8))
    pole["numbers"][..., 0] = np.sqrt(np.clip(middle, 0.001, 1))
    pole["numbers"][..., 1] = -0.01 - rng.random((nuclides, most)) / 6
    pole["l"] = rng.integers(0, 4, (nuclides, most))
    window["numbers"] = rng.random((nuclides, windows, 3))
    start = np.arange(windows) * most // windows
    window["range"][..., 0] = start
    window["range"][..., 1] = np.minimum(start + rng.integers(2, 7, (nuclides, windows)), most)
    listed = sum(counts)
    return Problem(
        arrays={
            "energies": rng.uniform(0.001, 1, lookups),
            "materials": rng.choice(12, lookups, p=np.array(counts) / sum(counts)).astype("i4"),
            "first": np.cumsum([0, *counts]).astype("i4"),
            "nuclides": rng.integers(0, nuclides, listed).astype("i4"),
            "density": rng.random(listed), "poles": pole.view("i4"), "windows": window.view("i4"),
            "k0": rng.uniform(0.3, 2.5, (nuclides, 4)), "macro": zeros(lookups, 4, kind="f8"),
        },
        scalars={
            **ints("lookups max_poles n_windows", lookups, most, windows),
            "doppler_limit": np.float64(0.6),
        },
        launches=[
            Launch(
                "rs_poles", blocks(lookups, 128), 128,
                ("energies", "materials", "first", "nuclides", "density", "poles", "windows", "k0", "macro",
                 "lookups", "max_poles", "n_windows", "doppler_limit"),
            )
        ],
        changed=["macro"],
        tolerance=1e-8,
    )  # fmt: skip


@case(full=2000, quick=150)
def nas_ep(batches: int) -> Problem:
    """128 pairs a thread; pairs outside the circle, a fifth of them, are left out."""
    groups, pairs = blocks(batches, 128), 128 if batches > 1000 else 9
    seeds = {"seed": np.float64(271828183), "a": np.float64(5**13)}
    numbers = {**seeds, **ints("batches pairs", batches, pairs)}
    made = {"sx": zeros(groups, kind="f8"), "sy": zeros(groups, kind="f8"), "rings": zeros(10, kind="f8")}
    return Problem(
        arrays=made,
        scalars=numbers,
        launches=[Launch("nas_ep", groups, 128, (*made, *numbers))],
        changed=[*made],
        tolerance=1e-9,
    )


@case(full=420, quick=37)
def dxt1(w: int) -> Problem:
    """Slopes, edges and some noise; rounding decides some pixels between two colours, and some ends."""
    h = w * 3 // 4 - 1
    y, x = np.mgrid[:h, :w]
    image = np.empty((h, w, 4))
    image[..., 0] = 120 + 90 * np.sin(x / 23 + y / 51)
    image[..., 1] = 100 + 80 * np.cos(x / 37 - y / 19)
    image[..., 2] = 60 + 120 * ((x // 29 + y // 17) % 2)
    image[..., 3] = 255
    image[..., :3] += 16 * reals(h, w, 3)
    squares = blocks(w, 4) * blocks(h, 4)
    size = ints("w h", w, h)
    return Problem(
        arrays={"image": np.clip(image, 0, 255).astype("u1"), "blocks": zeros(squares, 2, kind="u4")},
        scalars=size,
        launches=[Launch("dxt1", blocks(squares, 12), 192, ("image", "blocks", *size))],
        changed=["blocks"],
        mismatches=0.02,
    )


@case(full=22, quick=5)
def hourglass(edge: int) -> Problem:
    """A cube of hexahedra whose nodes are somewhat off their places."""
    n = edge + 1
    at = np.arange(n**3).reshape(n, n, n)
    around = [(0, 0, 0), (0, 0, 1), (0, 1, 1), (0, 1, 0), (1, 0, 0), (1, 0, 1), (1, 1, 1), (1, 1, 0)]
    corners = [at[dz : edge + dz, dy : edge + dy, dx : edge + dx].ravel() for dz, dy, dx in around]
    node_list = np.stack(corners, 1).astype("i4")
    elements, nodes = len(node_list), n**3
    rng = np.random.default_rng(96)
    z, y, x = (np.indices((n, n, n)) + rng.normal(size=(3, n, n, n)) / 20).reshape(3, nodes) / edge
    speed = rng.normal(size=(3, nodes))
    speeds = ("vx", "vy", "vz")
    parts, forces = ("fx_elem", "fy_elem", "fz_elem"), ("fx", "fy", "fz")
    start = np.concatenate([[0], np.cumsum(np.bincount(node_list.ravel(), minlength=nodes))])
    strength = np.float64(3)
    given = {
        "x": x, "y": y, "z": z, **dict(zip(speeds, speed, strict=True)), "node_list": node_list,
        "sound_speed": 0.5 + rng.random(elements), "mass": rng.uniform(0.9, 1.1, elements) / elements,
        "volume": rng.uniform(0.95, 1.05, elements) / elements,
    }  # fmt: skip
    return Problem(
        arrays={
            **given,
            **{name: zeros(8 * elements, kind="f8") for name in parts},
            "corner_start": start.astype("i4"),
            "corner_list": np.argsort(node_list.ravel(), kind="stable").astype("i4"),
            **{name: zeros(nodes, kind="f8") for name in forces},
        },
        scalars={**ints("elements nodes", elements, nodes), "strength": strength},
        launches=[
            Launch(
                "hourglass_elements", blocks(elements, 64), 64, (*given, *parts, "elements", "strength")
            ),
            Launch(
                "hourglass_nodes", blocks(nodes, 128), 128,
                (*parts, "corner_start", "corner_list", *forces, "nodes"),
            ),
        ],
        changed=[*parts, *forces],
        native=(*given, *forces),
        tolerance=1e-10,
    )  # fmt: skip


@case(full=1300, quick=75)
def rainflow(gauges: int) -> Problem:
    """Waves of two lengths with noise, in steps as converters give them: some values repeat."""
    times = 400 if gauges > 1000 else 37
    rng = np.random.default_rng(97)
    t = np.arange(times)[:, None]
    wave = 30 * np.sin(t / 9 + rng.uniform(0, 6, gauges)) + 12 * np.sin(t / 2.3 + rng.uniform(0, 6, gauges))
    history = np.round(wave * rng.uniform(0.4, 1.4, gauges) + 6 * rng.normal(size=(times, gauges)))
    numbers = ints("gauges times", gauges, times)
    limits = {"bin_width": np.float32(6), "reference": np.float32(100), "exponent": np.float32(4.5)}
    made = {"histogram": zeros(24, gauges), "damage": zeros(gauges), "most": zeros(gauges)}
    return Problem(
        arrays={"history": history.astype("f4"), **made},
        scalars={**numbers, **limits},
        launches=[
            Launch("rainflow", blocks(gauges, 128), 128, ("history", *made, *numbers, *limits)),
        ],
        changed=[*made],
        tolerance=1e-5,
    )


@case(full=120_000, quick=700)
def murmur3(keys: int) -> Problem:
    """Paths and words of 1 to 90 letters, most of some 20."""
    rng = np.random.default_rng(98)
    lengths = np.clip(rng.lognormal(3, 0.6, keys), 1, 90).astype("i4")
    start = np.concatenate([[0], np.cumsum(lengths)]).astype("u4")
    letters = np.frombuffer(b"eeeettaaooiinnsshhrrddlluucmwfgypbvkxjqz//..--__0123456789", "u1")
    numbers: dict[str, np.generic] = {"keys": np.uint32(keys), "seed": np.uint32(0x9747B28C)}
    return Problem(
        arrays={
            "text": rng.choice(letters, start[-1]), "start": start, "hashes": zeros(keys, 4, kind="u4"),
        },
        scalars=numbers,
        launches=[Launch("murmur3", min(blocks(keys), 96), 256, ("text", "start", "hashes", *numbers))],
        changed=["hashes"],
    )  # fmt: skip
