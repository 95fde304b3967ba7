"""Programs in the manner of the large public collections of benchmarks, chosen without knowing what the
JIT is good at: filters, lists, ciphers, puzzles, genomes, graphs, waves, weather, swarms, neurons, atoms."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, floats, ints, settled, zeros


def power_law(n: int, mean: int, seed: int) -> tuple[Array, Array]:
    """An undirected graph whose vertices are drawn with few favourites: starts of rows, sorted columns."""
    rng = np.random.default_rng(seed)
    ends = (n * rng.random((n * mean // 2, 2)) ** 2).astype("i8")
    ends = ends[ends[:, 0] != ends[:, 1]]
    codes = np.unique(np.concatenate([ends[:, 0] * n + ends[:, 1], ends[:, 1] * n + ends[:, 0]]))
    start = np.searchsorted(codes, np.arange(n + 1) * n).astype("i4")
    return start, (codes % n).astype("i4")


@case(full=1600, quick=45)
def bspline_pre(w: int) -> Problem:
    """Rows longer than they need to be; 1241 threads that go far, and then 1600."""
    h = w * 7 // 9 - 3
    pitch = -(-w // 64) * 64
    rng = np.random.default_rng(401)
    y, x = np.mgrid[:h, :pitch]
    image = (x * 5 // 7 + y * 3) % 200 + rng.integers(0, 30, (h, pitch))
    size = (("pitch", 4 * pitch), ("width", w), ("height", h))
    numbers: dict[str, np.generic] = {name: np.uint32(value) for name, value in size}
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


@case(full=150_000, quick=700)
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
    numbers: dict[str, np.generic] = {
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
    size: dict[str, np.generic] = {"n": np.int32(n), "gamma": np.float32(0.5)}
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


@case(full=26, quick=9)
def eikonal3(nx: int) -> Problem:
    """Eight sweeps of some 60 launches; the source is a corner of a cell in the middle."""
    ny, nz, h = nx + 3, nx - 2, 1 / nx
    rng = np.random.default_rng(408)
    z, _, _ = np.mgrid[:nz, :ny, :nx]
    slowness = (1 + 0.05 * z + 0.3 * rng.random((nz, ny, nx))).astype("f4")
    time = np.full((nz, ny, nx), 1e30)
    time[nz // 2, ny // 3, nx // 2] = 0
    size = {**ints("nx ny nz", nx, ny, nz), "h": np.float64(h)}
    launches = list[Launch]()
    for sweep in range(8):
        flips = ints("x y z", sweep & 1, sweep >> 1 & 1, sweep >> 2)
        for level in range(nx + ny + nz - 2):
            first_x, first_y = max(0, level - ny - nz + 2), max(0, level - nx - nz + 2)
            grid = (blocks(min(nx, level + 1) - first_x, 16), blocks(min(ny, level + 1) - first_y, 8))
            where = ints("level x y", level, first_x, first_y)
            args = ("time", "slowness", *size, *where.values(), *flips.values())
            launches.append(Launch("sweep_level", grid, (16, 8), args))
    return Problem(
        arrays={"time": time, "slowness": slowness},
        scalars=size,
        launches=launches,
        changed=["time"],
        tolerance=1e-9,
    )


@case(full=60_000, quick=150)
def bezier_eval(n: int) -> Problem:
    """Copies of control points that loops with indices change."""
    patches = 40
    rng = np.random.default_rng(409)
    control = np.empty((patches, 4, 5, 4), "f4")
    control[..., 0] = np.arange(5) + 0.3 * rng.random((patches, 4, 5))
    control[..., 1] = np.arange(4)[:, None] + 0.3 * rng.random((patches, 4, 5))
    control[..., 2] = 2 * rng.random((patches, 4, 5))
    control[..., 3] = 0.5 + rng.random((patches, 4, 5))
    control[..., :3] *= control[..., 3:]
    samples = np.empty(n, np.dtype([("patch", "i4"), ("u", "f4"), ("v", "f4")]))
    samples["patch"] = rng.integers(0, patches, n)
    samples["u"], samples["v"] = rng.random((2, n))
    return Problem(
        arrays={
            "control": control, "samples": samples.view("i4"), "positions": zeros(n, 3),
            "normals": zeros(n, 3),
        },
        scalars=ints("n", n),
        launches=[
            Launch(
                "bezier_eval", min(blocks(n, 128), 96), 128,
                ("control", "samples", "positions", "normals", "n"),
            )
        ],
        changed=["positions", "normals"],
        tolerance=1e-4,
    )  # fmt: skip


@case(full=12_000, quick=301)
def cobahh(count: int) -> Problem:
    """Four launches a step; a crossing of the threshold may come a step later by a rounding."""
    steps, fan, excitatory, dt = 12, 40, count * 4 // 5, 1e-4
    rng = np.random.default_rng(410)
    rest = {name: (low + more * rng.random(count)).astype("f4") for name, low, more in (
        ("v", -0.065, 0.04), ("ge", 5e-9, 3e-8), ("gi", 1e-8, 1e-7), ("m", 0.02, 0.3), ("n", 0.1, 0.3),
        ("h", 0.4, 0.5), ("current", 0, 1e-9), ("last_spike", -1, 0.5),
    )}  # fmt: skip
    work = {
        "refractory": zeros(count, kind="u1"), "spikes": zeros(count, kind="i4"),
        "spike_count": zeros(1, kind="i4"), "fired": zeros(count, kind="i4"),
        "add_e": zeros(count, kind="u4"), "add_i": zeros(count, kind="u4"),
    }  # fmt: skip
    cells, state = blocks(count, 128), ("v", "ge", "gi", "m", "n", "h", "current", "last_spike")
    launches = list[Launch]()
    for step in range(steps):
        t = np.float32(np.float32(step) * np.float32(dt))
        launches += [
            Launch("cobahh_state", cells, 128, (*state, "refractory", t, "dt", "count")),
            Launch(
                "cobahh_threshold", cells, 128,
                ("v", "last_spike", "refractory", "spikes", "spike_count", "fired", t, "count"),
            ),
            Launch(
                "cobahh_synapses", 16, 64,
                ("spikes", "spike_count", "target", "add_e", "add_i", "fan", "excitatory"),
            ),
            Launch("cobahh_deliver", cells, 128, ("ge", "gi", "add_e", "add_i", "spike_count", "count")),
        ]  # fmt: skip
    return Problem(
        arrays={**rest, **work, "target": rng.integers(0, count, (count, fan)).astype("i4")},
        scalars={
            **ints("count fan excitatory", count, fan, excitatory), **floats("dt", dt),
            "steps": np.int32(steps),
        },
        launches=launches,
        changed=[*(name for name in rest if name != "current"), *work],
        native=(*state, "fired", "target"),
        tolerance=1e-4,
        mismatches=0.02,
    )  # fmt: skip


@case(full=600, quick=50)
def hogbom(width: int) -> Problem:
    """Three launches a round, the second of which is one block's."""
    height, rounds, group = width * 3 // 4 + 1, 50 if width > 200 else 9, 64
    beam_width = width // 2 + 1
    rng = np.random.default_rng(411)
    y, x = np.mgrid[:beam_width, :beam_width] - beam_width // 2
    beam = settled(np.exp(-(x * x + y * y) / 8.0) + 0.05 * np.cos(x / 3.0) * np.cos(y / 4.0) / (1 + abs(x)))
    beam[beam_width // 2, beam_width // 2] = 1
    residual = 0.02 * rng.random((height, width))
    for _ in range(12):
        cy, cx = rng.integers(beam_width // 4, height - beam_width // 4, 2)
        y0, x0 = cy - beam_width // 4, cx - beam_width // 4
        part = beam[beam_width // 4 :, beam_width // 4 :][: height - y0, : width - x0]
        residual[y0 : y0 + part.shape[0], x0 : x0 + part.shape[1]] += (0.3 + rng.random()) * part
    n, peak = np.uint64(width * height), np.int32(beam_width // 2)
    size = ints("width height beam_width", width, height, beam_width)
    gain = floats("gain threshold", 0.1, 0.05)
    return Problem(
        arrays={
            "residual": residual.astype("f4"), "beam": beam.astype("f4"), "model": zeros(height, width),
            "rounds": zeros(1, kind="i4"), "block_peaks": zeros(group, 2, kind="i4"),
            "peak": zeros(2, kind="i4"),
        },
        scalars={**size, "px": peak, "py": peak, **gain, "limit": np.int32(rounds)},
        launches=[
            Launch("find_peak", group, 256, ("residual", n, "block_peaks")),
            Launch("take_peak", 1, 256, ("block_peaks", np.int32(group), "peak", "model", *gain, "rounds")),
            Launch(
                "subtract_beam", (blocks(beam_width, 16),) * 2, (16, 16),
                ("beam", "beam_width", "residual", "width", "height", "peak", peak, peak, "gain"),
            ),
        ] * rounds,
        changed=["residual", "model", "rounds", "block_peaks", "peak"],
        native=("residual", "beam", "model", "rounds"),
        tolerance=1e-4,
        mismatches=0.01,
    )  # fmt: skip


@case(full=7000, quick=70)
def pso(particles: int) -> Problem:
    """Sums of squares of sines, of which a particle's best may be as good as another."""
    dims, rounds = 8, 10
    rng = np.random.default_rng(412)
    x = 20 * rng.random((dims, particles)) - 10
    size = ints("particles dims", particles, dims)
    pull = {
        name: np.float64(value) for name, value in (("omega", 0.7), ("c1", 1.4), ("c2", 1.4), ("limit", 2.5))
    }
    moved = {"positions": x, "velocities": rng.random((dims, particles)) - 0.5}
    best = {"best_positions": zeros(dims, particles, kind="f8"), "best_values": np.full(particles, 1e300)}
    swarm = {"swarm_best": zeros(dims, kind="f8"), "history": zeros(rounds + 1, kind="f8")}
    launches = list[Launch]()
    for round_ in range(rounds + 1):
        if round_:
            launches.append(
                Launch(
                    "pso_move", (blocks(particles), dims), 256,
                    (*moved, "best_positions", "swarm_best", *size, np.int32(round_), *pull),
                )
            )  # fmt: skip
        launches += [
            Launch("pso_fitness", blocks(particles, 128), 128, ("positions", *best, *size)),
            Launch(
                "pso_best", 1, 256,
                ("best_values", "best_positions", *swarm, *size, np.int32(round_)), 256 * 12,
            ),
        ]  # fmt: skip
    return Problem(
        arrays={**moved, **best, **swarm},
        scalars={**size, **pull, "rounds": np.int32(rounds)},
        launches=launches,
        changed=[*moved, *best, *swarm],
        tolerance=1e-8,
        mismatches=0.001,
    )


@case(full=72, quick=15)
def hypterm(nx: int) -> Problem:
    """14 arrays in double precision; ghosts that nothing changes."""
    ny, nz = nx * 3 // 4 + 3, nx // 2 + 4
    shape = (nz, ny, nx)
    rng = np.random.default_rng(413)
    flux = {f"flux_{k}": zeros(*shape, kind="f8") for k in range(5)}
    cons = {f"cons_{k}": rng.random(shape) - 0.5 for k in range(1, 5)}
    q = {f"q_{k}": rng.random(shape) + 0.5 for k in range(1, 5)}
    inverse = {name: np.float64(v) for name, v in (("dxinv", 40.0), ("dyinv", 45.0), ("dzinv", 38.0))}
    size = ints("nx ny nz", nx, ny, nz)
    grid = (blocks(nx - 8, 16), blocks(ny - 8, 8), blocks(nz - 8, 2))
    return Problem(
        arrays={**flux, **cons, **q},
        scalars={**inverse, **size},
        launches=[
            Launch("hypterm_x", grid, (16, 8, 2), (*flux, *cons, "q_1", "q_4", "dxinv", *size)),
            Launch(
                "hypterm_yz", grid, (16, 8, 2),
                (*flux, *cons, "q_2", "q_3", "q_4", "dyinv", "dzinv", *size),
            ),
        ],
        changed=[*flux],
        tolerance=1e-11,
    )  # fmt: skip


def rest_air(height: Array) -> tuple[Array, Array, Array]:
    """Density, density times potential temperature, and pressure of air at rest, 300 K all the way up."""
    exner = settled(1 - 9.8 * height / (1004.0 * 300.0))
    pressure = 1e5 * settled(exner ** (1004.0 / 287.0))
    rho_theta = settled((pressure / 27.5629410929725921) ** (1 / 1.40027894002789400))
    again = 1e5 * settled(27.5629410929725921e-5 * rho_theta**1.40027894002789400)
    return settled(rho_theta / 300), rho_theta, again


@case(full=200, quick=21)
def miniweather(nx: int) -> Problem:
    """A warm bubble; two steps of six stages of four launches each."""
    nz, steps, length = nx // 2 + 3, 2, 20000.0
    dx, dz = length / nx, 10000.0 / nz
    dt = min(dx, dz) / 450
    height = (np.arange(nz + 4) - 1.5) * dz
    dens, theta, _ = rest_air(np.clip(height, 0, 10000))
    edge_dens, edge_theta, edge_pressure = rest_air(np.arange(nz + 1) * dz)
    x = (np.arange(nx + 4) - 1.5) * dx
    far = np.sqrt(((x[None, :] - 10000) / 3000) ** 2 + ((height[:, None] - 3000) / 2000) ** 2)
    state = zeros(4, nz + 4, nx + 4, kind="f8")
    state[3] = settled(3 * dens[:, None] * np.maximum(1 - far, 0))
    state[1] = settled(5 * dens[:, None] * (height[:, None] > 4000))
    background = {
        "base_dens": dens, "base_theta": theta, "edge_dens": edge_dens, "edge_theta": edge_theta,
        "edge_pressure": edge_pressure,
    }  # fmt: skip
    size, block = ints("nx nz", nx, nz), (32, 4)
    launches = list[Launch]()
    for turn in (0, 1, 1, 0):
        spacing = dz if turn else dx
        for part in (3, 2, 1):
            forcing, out = "state" if part == 3 else "temporary", "state" if part == 1 else "temporary"
            hv = np.float64(-0.05 * spacing / (16 * (dt / part)))
            args = (forcing, "flux", "tend", *size, *ints("k i", turn, 1 - turn).values())
            if turn:
                launches += [
                    Launch("halo_z", (blocks(nx + 4, 128), 4), 128, (forcing, "base_dens", *size)),
                    Launch(
                        "flux_z", (blocks(nx, 32), blocks(nz + 1, 4)), block,
                        (forcing, "flux", "edge_dens", "edge_theta", "edge_pressure", *size, hv),
                    ),
                ]  # fmt: skip
            else:
                launches += [
                    Launch("halo_x", (blocks(nz, 128), 4), 128, (forcing, *size)),
                    Launch(
                        "flux_x", (blocks(nx + 1, 32), blocks(nz, 4)), block,
                        (forcing, "flux", "base_dens", "base_theta", *size, hv),
                    ),
                ]  # fmt: skip
            grid = (blocks(nx, 32), blocks(nz, 4), 4)
            launches += [
                Launch("tendencies", grid, block, (*args, np.float64(spacing))),
                Launch("apply", grid, block, ("state", out, "tend", *size, np.float64(dt / part))),
            ]
    spaces = {name: np.float64(value) for name, value in (("dx", dx), ("dz", dz), ("dt", dt))}
    return Problem(
        arrays={
            "state": state, "temporary": zeros(4, nz + 4, nx + 4, kind="f8"),
            "flux": zeros(4, nz + 1, nx + 1, kind="f8"),
            "tend": zeros(4, nz, nx, kind="f8"), **background,
        },
        scalars={**size, **spaces, "steps": np.int32(steps)},
        launches=launches,
        changed=["state", "temporary", "flux", "tend"],
        native=("state", "temporary", "flux", *background),
        tolerance=1e-9,
    )  # fmt: skip


@case(full=20, quick=6)
def peridamage(nx: int) -> Problem:
    """A block a point, 122 of its 128 threads with a bond and fewer at the borders; a notch in the middle."""
    ny, nz, steps, dt = nx * 2 // 3, nx // 3 + 1, 4, 1e-3
    nodes = nx * ny * nz
    rng = np.random.default_rng(414)
    place = np.stack(np.meshgrid(np.arange(nx), np.arange(ny), np.arange(nz), indexing="ij"), -1)
    place = place.reshape(-1, 3)
    near = np.stack(np.meshgrid(*[np.arange(-3, 4)] * 3, indexing="ij"), -1).reshape(-1, 3)
    squares = (near * near).sum(1)
    near = near[(squares > 0) & (squares <= 9)]
    other = place[:, None] + near
    there = ((other >= 0) & (other < (nx, ny, nz))).all(-1)
    halves = place[:, :1] * 2 < nx, other[..., 0] * 2 < nx
    there &= (halves[0] == halves[1]) | (place[:, 1:2] >= ny // 3)  # the notch
    nlist = np.full((nodes, 128), -1, "i4")
    nlist[:, : len(near)] = np.where(there, (other[..., 0] * ny + other[..., 1]) * nz + other[..., 2], -1)
    x = 0.01 * (place + 0.1 * rng.random((nodes, 3)))
    disp = 1e-4 * (rng.random((nodes, 3)) - 0.5)
    disp[:, 0] += 0.01 * 0.08 * place[:, 0]
    kind = np.where(place[:, 0] < 2, 1, np.where(place[:, 0] >= nx - 2, 2, 0)).astype("u1")
    made = {
        "force": zeros(nodes, 3, kind="f8"), "n_neigh": zeros(nodes, kind="i4"),
        "damage": zeros(nodes, kind="f8"),
    }  # fmt: skip
    bonds = {"stiffness": np.float64(4e6), "critical": np.float64(0.12)}
    moves = {
        name: np.float64(value)
        for name, value in (("density", 20.0), ("damping", 5.0), ("pull", 0.5), ("dt", dt))
    }
    return Problem(
        arrays={
            "nlist": nlist, "family": there.sum(1).astype("i4"), "x": x, "disp": disp,
            "velocity": zeros(nodes, 3, kind="f8"), "volume": 1e-6 * (0.8 + 0.4 * rng.random(nodes)),
            **made, "kind": kind,
        },
        scalars={"nodes": np.int32(nodes), **bonds, **moves, "steps": np.int32(steps)},
        launches=[
            Launch("bond_forces", nodes, 128, ("nlist", "family", "x", "disp", "volume", *made, *bonds)),
            Launch(
                "peri_move", blocks(3 * nodes), 256,
                ("disp", "velocity", "force", "kind", "nodes", *moves),
            ),
        ] * steps,
        changed=["nlist", "disp", "velocity", *made],
        tolerance=1e-8,
        mismatches=0.002,
    )  # fmt: skip


@case(full=25_000, quick=203)
def vincenty(n: int) -> Problem:
    """Some three rounds a pair, ten and more where it is far; one of 97 pairs is one place."""
    rng = np.random.default_rng(415)
    pairs = rng.random((n, 4)) * [160, 360, 160, 150] - [80, 180, 80, 0]
    pairs[:, 3] += pairs[:, 1]
    pairs[::97, 2:] = pairs[::97, :2]
    return Problem(
        arrays={"pairs": pairs, "length": zeros(n, kind="f8"), "azimuth": zeros(n, kind="f8")},
        scalars=ints("n", n),
        launches=[Launch("vincenty", min(blocks(n, 128), 80), 128, ("pairs", "length", "azimuth", "n"))],
        changed=["length", "azimuth"],
        tolerance=1e-9,
    )


@case(full=900, quick=61)
def trotter(w: int) -> Problem:
    """A wave packet in a bowl; more than half of a tile is its halo, where what is wrong grows inwards."""
    h, steps, dt = w * 3 // 4 + 1, 4, 0.3
    y, x = np.mgrid[:h, :w]
    far = ((x - w / 3) ** 2 + (y - h / 2) ** 2) / (w / 10) ** 2
    wave = np.exp(-far / 2) * np.exp(0.6j * x - 0.3j * y)
    phase = np.exp(-1j * dt * 3 * (((x - w / 2) / w) ** 2 + ((y - h / 2) / h) ** 2))
    real = {"p_real": wave.real, "p_imag": wave.imag, "phase_real": phase.real, "phase_imag": phase.imag}
    fields = {name: settled(values).astype("f4") for name, values in real.items()}
    pairs, phases = (("p_real", "p_imag"), ("p2_real", "p2_imag")), ("phase_real", "phase_imag")
    numbers = {**floats("a b", 0.9800665778, 0.1986693308), **ints("w h", w, h)}
    grid = (blocks(w, 24), blocks(h, 8))
    return Problem(
        arrays={**fields, "p2_real": zeros(h, w), "p2_imag": zeros(h, w)},
        scalars={**numbers, "steps": np.int32(steps)},
        launches=[
            Launch("trotter", grid, (32, 8), (*first, *then, *phases, *numbers))
            for first, then in (pairs, pairs[::-1]) * (steps // 2)
        ],
        changed=["p_real", "p_imag", "p2_real", "p2_imag"],
        native=("p_real", "p_imag", *phases),
        tolerance=1e-5,
    )


def torus(rings: int, around: int, extent: int) -> tuple[Array, Array]:
    """Vertices in a cube and triangles of a ring with bumps, which is turned a little."""
    u, v = np.meshgrid(np.arange(rings) / rings, np.arange(around) / around, indexing="ij")
    u, v = 2 * np.pi * u, 2 * np.pi * v
    tube = 0.3 + 0.05 * np.sin(5 * u + 3 * v)
    p = np.stack(
        [(1 + tube * np.cos(v)) * np.cos(u), (1 + tube * np.cos(v)) * np.sin(u), tube * np.sin(v)], -1
    )
    p = p[..., [0, 1, 2]] + 0.4 * p[..., [2, 0, 1]]
    vertices = np.ascontiguousarray(settled(extent * (0.5 + p.reshape(-1, 3) / 4.2)), "f4")
    i, j = np.meshgrid(np.arange(rings), np.arange(around), indexing="ij")
    a, b = i * around + j, (i + 1) % rings * around + j
    c, d = i * around + (j + 1) % around, (i + 1) % rings * around + (j + 1) % around
    triangles = np.concatenate([np.stack([a, b, c], -1), np.stack([b, d, c], -1)])
    return vertices, triangles.reshape(-1, 3).astype("i4")


@case(full=120, quick=16)
def voxelize(n: int) -> Problem:
    """Boxes of some 20 cells a triangle, of which a third overlap; neighbours set the same words' bits."""
    nx, ny, nz = n, n - 4, n - 8
    nz -= nz % 8
    ny -= ny % 4
    vertices, triangles = torus(n * 2 // 3, n // 3, min(nx, ny, nz))
    size = ints("count nx ny nz", len(triangles), nx, ny, nz)
    words = ny * nz // 32
    return Problem(
        arrays={
            "vertices": vertices, "triangles": triangles, "bits": zeros(nx, words, kind="u4"),
            "filled": zeros(nx, kind="i4"),
        },
        scalars=size,
        launches=[
            Launch(
                "voxelize", blocks(len(triangles), 192), 192, ("vertices", "triangles", "bits", *size)
            ),
            Launch("count_slices", nx, 32, ("bits", "filled", np.int32(words))),
        ],
        changed=["bits", "filled"],
        mismatches=0.002,
    )  # fmt: skip


def prose(n: int, seed: int) -> Array:
    """Bytes of words, of which a few come again and again."""
    rng = np.random.default_rng(seed)
    letters = np.frombuffer(b"eeeeettttaaaooiinnsshhrrddlucmfwygpbvk", "u1")
    words: list[bytes] = [
        bytes(letters[rng.integers(0, len(letters), size)]) for size in rng.integers(2, 10, 700)
    ]
    chance = rng.random(n // 3)
    stops = (b". ", b", ", *[b" "] * 10)
    picks = (700 * chance * chance * chance).astype("i8"), rng.integers(0, 12, n // 3)
    text = b"".join(words[int(k)] + stops[int(end)] for k, end in zip(*picks, strict=True))
    return np.frombuffer(text[:n], "u1").copy()


@case(full=60_000, quick=2500)
def lzss(n: int) -> Problem:
    """Comparisons that mostly end at the first byte; then one thread for 2048 bytes."""
    chunk, room = 2048, 2048 + 256
    chunks = blocks(n, chunk)
    made = {
        "matches": zeros(n, 2, kind="u1"), "packed": zeros(chunks, room, kind="u1"),
        "sizes": zeros(chunks, kind="i4"), "out": zeros(chunks * room, kind="u1"),
        "total": zeros(1, kind="i4"),
    }  # fmt: skip
    count = np.int32(chunks)
    return Problem(
        arrays={"text": prose(n, 416), **made},
        scalars=ints("n", n),
        launches=[
            Launch("lzss_match", chunks, 128, ("text", "matches", "n")),
            Launch(
                "lzss_emit", blocks(chunks, 32), 32, ("text", "matches", "packed", "sizes", "n", count)
            ),
            Launch("lzss_pack", chunks, 128, ("packed", "sizes", "out", "total", count)),
        ],
        changed=[*made],
        native=("text", "matches", "out", "total"),
    )  # fmt: skip


ENTRY = np.dtype([("cluster", "i4"), ("shift", "i4"), ("first", "i4"), ("last", "i4")])
PARTNER = np.dtype([("cluster", "i4"), ("mask", "u4", 2)])
FIELD = np.dtype([("epsfac", "f4"), ("k_rf", "f4"), ("c_rf", "f4"), ("cutoff2", "f4")])


def partners(side: int, edge: float, reach: float) -> tuple[Array, Array, Array]:
    """Entries, partners and shifts of clusters that fill a periodic box, each pair once."""
    cells = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), -1).reshape(-1, 3)
    shifts = np.stack(np.meshgrid(*[np.arange(-1, 2)] * 3, indexing="ij"), -1).reshape(-1, 3)
    entries, found = list[tuple[int, int, int, int]](), list[tuple[int, tuple[int, int]]]()
    for i, cell in enumerate(cells):
        for s in range(13, 27):  # the other 13 are those of the partner
            apart = np.maximum(np.abs(cells - cell - side * shifts[s]) - 1, 0) * edge
            near = np.flatnonzero((apart * apart).sum(1) < reach * reach)
            near = near[near >= i] if s == 13 else near
            if len(near):
                entries.append((i, s, len(found), len(found) + len(near)))
            for j in near:
                same = s == 13 and int(j) == i
                mask = sum(1 << (8 * b + a) for a in range(8) for b in range(8) if b > a or not same)
                found.append((int(j), (mask & 0xFFFFFFFF, mask >> 32)))
    return np.array(entries, ENTRY), np.array(found, PARTNER), side * edge * shifts


@case(full=6, quick=3)
def nbnxm(side: int) -> Problem:
    """64 threads a block; half of the pairs are too far apart. Sums by atomics in any order."""
    edge, cutoff = 0.62, 0.9
    rng = np.random.default_rng(417)
    clusters = side**3
    entries, found, shifts = partners(side, edge, cutoff)
    cells = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), -1).reshape(-1, 1, 3)
    corner = np.stack(np.meshgrid(*[np.arange(2)] * 3, indexing="ij"), -1).reshape(1, 8, 3)
    xq = np.empty((clusters, 8, 4), "f4")
    xq[..., :3] = edge * cells + 0.31 * corner + 0.06 * (rng.random((clusters, 8, 3)) - 0.5) + 0.15
    xq[..., 3] = rng.permuted(np.tile([-0.8, 0.4, 0.4, -0.4, 0.4, 0.5, -0.5, 0.0], (clusters, 1)), axis=1)
    k_rf = 0.5 / cutoff**3
    numbers = {
        "epsfac": np.float32(138.935), "k_rf": np.float32(k_rf), "c_rf": np.float32(1.5 / cutoff),
        "cutoff2": np.float32(cutoff * cutoff),
    }  # fmt: skip
    field: np.generic = np.array([tuple(numbers.values())], FIELD)[0]
    made = {"force": zeros(clusters * 8, 3), "energies": zeros(2)}
    return Problem(
        arrays={
            "entries": entries.view("i4"), "partners": found.view("i4"), "xq": xq,
            "types": rng.integers(0, 4, clusters * 8).astype("i4"), "shifts": shifts.astype("f4"), **made,
        },
        scalars={"count": np.int32(len(entries)), **numbers},
        launches=[
            Launch(
                "nbnxm", len(entries), (8, 8),
                ("entries", "partners", "xq", "types", "shifts", *made, field),
            )
        ],
        changed=[*made],
        tolerance=1e-4,
    )  # fmt: skip
