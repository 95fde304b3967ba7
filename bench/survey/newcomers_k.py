"""Kernels as people write them, chosen without knowing what the JIT is good at: encodings, point clouds,
codes, ciphers, optimisers, schemes for equations."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, integers, ints, reals, zeros

LEVEL = np.dtype([("offset", "u4"), ("size", "u4"), ("resolution", "u4"), ("scale", "f4")])


@case(full=12_000, quick=300)
def hashgrid(n: int) -> Problem:
    """Points along rays, so neighbours share cells; the first levels are dense, the others hashed."""
    count, most = (12, 1 << 14) if n > 1000 else (5, 1 << 9)
    levels, offset = np.zeros(count, LEVEL), 0
    for l in range(count):  # noqa: E741
        scale = 4 * 1.5**l - 1
        resolution = int(np.ceil(scale)) + 1
        size = min(-(-(resolution**3) // 8) * 8, most)
        levels[l] = offset, size, resolution, scale
        offset += size
    rays = -(-n // 25)
    start, way = reals(rays, 1, 3), reals(3, rays).T[:, None] - np.float32(0.5)
    points = (start + way * np.linspace(0, 1, 25, dtype="f4")[:, None]).reshape(-1, 3)[:n] % np.float32(1)
    gradient = (reals(2 * count, n) - np.float32(0.5)) * (reals(n) < 0.8)
    grid = (blocks(n), count)
    return Problem(
        arrays={
            "points": np.minimum(points, np.float32(0.999)).astype("f4"),
            "table": (reals(offset, 2) - np.float32(0.5)).astype("f2"), "levels": levels.view("u4"),
            "d_encoded": gradient.astype("f4"), "encoded": zeros(2 * count, n), "d_table": zeros(offset, 2),
        },
        scalars=ints("n count", n, count),
        launches=[
            Launch("grid_encode", grid, 256, ("points", "table", "levels", "encoded", "n")),
            Launch("grid_backward", grid, 256, ("points", "d_encoded", "levels", "d_table", "n")),
        ],
        changed=["encoded", "d_table"],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=4100, quick=300)
def fps_ball(n: int) -> Problem:
    """Surfaces of three boxes. A turn of the first kernel needs the one before, with ten barriers."""
    clouds, m, nsample, channels = (2, 200, 32, 16) if n > 1000 else (2, 9, 8, 3)
    rng = np.random.default_rng(41)
    points = rng.random((clouds, n, 3), "f4")
    points[np.arange(clouds)[:, None], np.arange(n), rng.integers(3, size=(clouds, n))] = 0.5
    points *= np.array([1, 2, 0.7], "f4")
    size, ball = ints("n m", n, m), {"radius": np.float32(0.2), "nsample": np.int32(nsample)}
    made = {
        "nearest": zeros(clouds, n), "chosen": zeros(clouds, m, kind="i4"),
        "neighbours": zeros(clouds, m, nsample, kind="i4"), "grouped": zeros(clouds, channels, m, nsample),
    }  # fmt: skip
    return Problem(
        arrays={"xyz": points, "features": reals(clouds, channels, n), **made},
        scalars={**size, **ball, **ints("channels clouds", channels, clouds)},
        launches=[
            Launch("furthest_points", clouds, 512, ("xyz", "nearest", "chosen", *size)),
            Launch("ball_query", (blocks(m), clouds), 256, ("xyz", "chosen", "neighbours", *size, *ball)),
            Launch(
                "group_points", (blocks(m * nsample), channels, clouds), 256,
                ("features", "neighbours", "grouped", "channels", "n", "m", "nsample"),
            ),
        ],
        changed=[*made],
        native=("xyz", "features", "chosen", "neighbours", "grouped"),
        mismatches=0.002,
    )  # fmt: skip


@case(full=300, quick=37)
def rosen(cells: int) -> Problem:
    """Arrays of a thread's own, whose places come from constant tables; each cell takes its own steps."""
    numbers = dict[str, np.generic](
        cells=np.int32(cells), t_end=np.float64(20), rtol=np.float64(1e-3), atol=np.float64(1e-7)
    )
    concentration = reals(6, cells, kind="f8") * np.array([1, 0.01, 0.1, 0.02, 0.05, 0.2])[:, None]
    return Problem(
        arrays={
            "concentration": concentration, "temperature": 220 + 130 * reals(cells, kind="f8"),
            "steps": zeros(cells, kind="i4"),
        },
        scalars=numbers,
        launches=[
            Launch("rosenbrock", blocks(cells, 128), 128, ("concentration", "temperature", "steps", *numbers))
        ],
        changed=["concentration", "steps"],
        tolerance=1e-9,
        mismatches=0.01,
    )  # fmt: skip


@case(full=400, quick=5)
def vit_k7(frames: int) -> Problem:
    """Random bits with a tail of zeros, coded, with noise. A barrier a step, shared metrics, two ballots."""
    data_bits = 512 if frames > 100 else 48
    steps = data_bits + 6
    rng = np.random.default_rng(42)
    bits = np.zeros((frames, steps + 6), "i4")
    bits[:, 6 : 6 + data_bits] = rng.integers(2, size=(frames, data_bits))
    code = np.zeros((frames, steps, 2), "i4")
    for k, polynomial in enumerate((0x79, 0x5B)):
        for delay in range(7):
            if polynomial >> (6 - delay) & 1:
                code[:, :, k] ^= bits[:, 6 - delay : 6 - delay + steps]
    soft: Array = (1 - 2 * code) * 32 + rng.normal(0, 24, code.shape)
    size = ints("frames steps", frames, steps)
    return Problem(
        arrays={
            "soft": np.clip(np.round(soft), -127, 127).astype("i1"),
            "survivors": zeros(frames, steps, 2, kind="u4"), "metrics": zeros(frames, 64, kind="i4"),
            "bytes": zeros(frames, data_bits // 8, kind="u1"), "scores": zeros(frames, kind="i4"),
        },
        scalars=size,
        launches=[
            Launch("viterbi_forward", blocks(frames, 2), (64, 2), ("soft", "survivors", "metrics", *size)),
            Launch(
                "viterbi_trace", blocks(frames, 128), 128, ("survivors", "metrics", "bytes", "scores", *size)
            ),
        ],
        changed=["survivors", "metrics", "bytes", "scores"],
        native=("soft", "bytes", "scores"),
    )  # fmt: skip


@case(full=900, quick=5)
def kyber(keys: int) -> Problem:
    """Transforms of 256 numbers of 16 bits: seven steps in shared memory, then back."""
    rng, k = np.random.default_rng(43), 3
    small = rng.binomial(2, 0.5, (4, keys, k, 256)).astype("i2")
    return Problem(
        arrays={
            "matrix": rng.integers(0, 3329, (keys, k, k, 256)).astype("i2"), "secret": small[0] - small[1],
            "secret_hat": zeros(keys, k, 256, kind="i2"), "error": small[2] - small[3],
            "result": zeros(keys, k, 256, kind="u2"),
        },
        scalars=ints("keys", keys),
        launches=[
            Launch("kyber_ntt", keys * k, 128, ("secret", "secret_hat")),
            Launch("kyber_matvec", (k, keys), 128, ("matrix", "secret_hat", "error", "result")),
        ],
        changed=["secret_hat", "result"],
        native=("matrix", "secret", "error", "result"),
    )  # fmt: skip


@case(full=1500, quick=90)
def ghash(messages: int) -> Problem:
    """Packets: half of them short, a third full. Threads of a warp end at different times."""
    rng = np.random.default_rng(44)
    kind = rng.random(messages)
    text = np.where(kind < 0.5, rng.integers(40, 100, messages), rng.integers(200, 1400, messages))
    text = np.where(kind > 0.67, 1432, text) if messages > 1000 else text // 4
    aad = rng.choice([8, 13, 20], messages)
    padded = (text + 15) // 16 * 16 + (aad + 15) // 16 * 16
    ends = np.cumsum(padded)
    return Problem(
        arrays={
            "data": integers(0, 256, int(ends[-1]), kind="u1"), "offsets": (ends - padded).astype("i8"),
            "aad_bytes": aad.astype("i4"), "text_bytes": text.astype("i4"),
            "key": np.array([0x66E94BD4EF8A2C3B, 0x884CFA59CA342B2E], "u8"),
            "masks": integers(0, 256, messages, 16, kind="u1"), "tags": zeros(messages, 16, kind="u1"),
        },
        scalars=ints("messages", messages),
        launches=[
            Launch(
                "ghash", blocks(messages, 128), 128,
                ("data", "offsets", "aad_bytes", "text_bytes", "key", "masks", "tags", "messages"),
            )
        ],
        changed=["tags"],
    )  # fmt: skip


TENSOR = np.dtype(
    [("offset", "i8"), ("size", "i4"), ("first", "i4"), ("chunks", "i4"), ("decay", "f4"), ("adapt", "?")],
    align=True,
)


@case(full=128, quick=20)
def lamb(width: int) -> Problem:
    """A small language model's tensors, from embeddings to biases, which most chunks of 4096 do not fill."""
    layers, words, chunk = (3, 3000, 4096) if width > 100 else (1, 301, 4096)
    layer = [3 * width**2, 3 * width, width**2, width, 4 * width**2, 4 * width, 4 * width**2, *[width] * 5]
    sizes = [words * width, 200 * width, *layer * layers, width, width]
    tensors, chunks = np.zeros(len(sizes), TENSOR), list[tuple[int, int]]()
    offset = 0
    for t, size in enumerate(sizes):
        count, matrix = blocks(size, chunk), size > 4 * width
        tensors[t] = offset, size, len(chunks), count, 0.01 if matrix else 0, matrix
        chunks += [(t, index) for index in range(count)]
        offset += -(-size // 8) * 8
    beta1, beta2, step = 0.9, 0.999, 10
    numbers = dict[str, np.generic](
        loss_scale=np.float32(1024), max_norm=np.float32(1), beta1=np.float32(beta1), beta2=np.float32(beta2),
        epsilon=np.float32(1e-6), correction1=np.float32(1 - beta1**step),
        correction2=np.float32(1 - beta2**step),
    )  # fmt: skip
    rng, groups = np.random.default_rng(45), len(chunks)
    arrays = {
        "grads": rng.normal(0, 4, offset).astype("f2"), "params": rng.normal(0, 0.02, offset).astype("f4"),
        "m": rng.normal(0, 1e-3, offset).astype("f4"), "v": rng.random(offset, "f4") * np.float32(1e-6),
        "update": zeros(offset), "params_half": zeros(offset, kind="f2"), "tensors": tensors.view("u1"),
        "chunks": np.array(chunks, "i4"), "partial": zeros(groups), "norm": zeros(1),
        "norms": zeros(groups, 2),
    }  # fmt: skip
    listed = ("tensors", "chunks")
    return Problem(
        arrays=arrays,
        scalars={**numbers, "rate": np.float32(1e-2), "count": np.int32(len(sizes))},
        launches=[
            Launch("grad_norm", groups, 256, ("grads", *listed, "partial")),
            Launch("finish_norm", 1, 512, ("partial", np.int32(groups), "norm", "loss_scale")),
            Launch(
                "lamb_update", groups, 256,
                ("grads", "params", "m", "v", "update", *listed, "norm", "norms", *numbers),
            ),
            Launch("lamb_apply", groups, 256, ("params", "params_half", "update", *listed, "norms", "rate")),
        ],
        changed=["params", "m", "v", "update", "params_half", "partial", "norm", "norms"],
        native=("grads", "params", "m", "v", "update", "params_half", "tensors"),
        tolerance=1e-5,
        mismatches=0.002,  # half precision
    )  # fmt: skip


CAMERA = np.dtype([("rotation", "f4", 9), ("move", "f4", 3), ("focal", "f4", 4), ("size", "i4", 2)])


@case(full=6000, quick=200)
def gsplat(n: int) -> Problem:
    """A cloud of flat Gaussians, 200 a tile; pixels are done at different times. Rounding may turn where."""
    width, height = (150, 100) if n > 1000 else (40, 27)
    rng = np.random.default_rng(46)
    camera = np.zeros(1, CAMERA)
    c, s = np.cos(0.3), np.sin(0.3)
    camera["rotation"], camera["move"] = [c, 0, s, 0, 1, 0, -s, 0, c], [0.1, -0.05, 3]
    camera["focal"] = width, width, width / 2, height / 2
    camera["size"] = width, height
    tiles = blocks(width, 16), blocks(height, 16)
    splat = zeros(n, 16, kind="i4")  # floats, and four integers after two of padding
    size = ints("width height", width, height)
    made = {
        "splats": splat, "counts": zeros(tiles[0] * tiles[1], kind="i4"),
        "lists": zeros(tiles[0] * tiles[1], 1024, kind="i4"),
        "image": zeros(3, height, width), "rest": zeros(height, width),
    }  # fmt: skip
    given = {
        "means": rng.normal(0, [0.9, 0.6, 0.8], (n, 3)).astype("f4"),
        "scales": np.exp(rng.normal(-3.6, 0.5, (n, 3))).astype("f4"),
        "quaternions": rng.normal(0, 1, (n, 4)).astype("f4"),
        "opacities": (1 / (1 + np.exp(-rng.normal(0, 1.5, n)))).astype("f4"),
        "colors": rng.random((n, 3), "f4"),
    }
    return Problem(
        arrays={**given, "camera": camera.view("u1"), **made},
        scalars={"n": np.int32(n), **size},
        launches=[
            Launch("project", blocks(n), 256, (*given, "camera", "splats", "n")),
            Launch("bin_splats", blocks(n), 256, ("splats", "counts", "lists", "n", np.int32(tiles[0]))),
            Launch("render", tiles, (16, 16), ("splats", "counts", "lists", "image", "rest", *size)),
        ],
        changed=[*made],
        native=(*given, "camera", "image", "rest"),
        tolerance=1e-4,
        mismatches=0.005,
    )


@case(full=300, quick=35)
def weno5(nx: int) -> Problem:
    """Waves that become shocks. Each thread works out four faces, of which its neighbours do three."""
    ny, steps = nx * 4 // 5 + 1, 2
    h = 2 * np.pi / nx
    y, x = np.mgrid[:ny, :nx] * h
    u = 0.5 + np.sin(x + 0.4) * np.cos(2 * np.pi * y / (ny * h)) + 0.3 * (np.sin(3 * x) > 0.5)
    size = {**ints("nx ny", nx, ny), "h": np.float64(h), "cfl": np.float64(0.3)}
    grid, launches = (blocks(nx, 32), blocks(ny, 8)), list[Launch]()
    speeds = {f"speed{step}": zeros(1, kind="f8") for step in range(steps)}
    for speed in speeds:
        launches.append(Launch("max_speed", 4, 256, ("u", speed, np.int32(nx * ny))))
        for names, keep in ((("u", "u", "u1"), 0), (("u", "u1", "u2"), 0.75), (("u", "u2", "u"), 1 / 3)):
            launches.append(Launch("weno_stage", grid, (32, 8), (*names, speed, *size, np.float64(keep))))
    return Problem(
        arrays={"u": u, "u1": 0 * u, "u2": 0 * u, **speeds},
        scalars={**size, "steps": np.int32(steps)},
        launches=launches,
        changed=["u", "u1", "u2", *speeds],
        native=("u", "u1", "u2"),
        tolerance=1e-9,
    )


@case(full=160, quick=5)
def minimizers(reads: int) -> Problem:
    """Reads of a genome with repeats and some bases unknown. Each thread reads k bases and 2 w hashes."""
    rng, k, w = np.random.default_rng(47), 15, 10
    unit = rng.integers(0, 4, 300)
    genome = np.concatenate([np.tile(unit, 3), rng.integers(0, 4, 20_000), unit])
    low, high = (300, 2400) if reads > 100 else (20, 400)
    lengths = rng.integers(low, high, reads)
    starts = rng.integers(len(genome) - lengths)
    parts = [genome[at : at + m] for at, m in zip(starts, lengths, strict=True)]
    bases = np.frombuffer(b"ACGT", "u1")[np.concatenate(parts)]
    bases[rng.random(len(bases)) < 0.001] = ord("N")
    most = len(bases) // 4
    numbers = ints("k w most", k, w, most)
    return Problem(
        arrays={
            "bases": bases, "starts": np.concatenate([[0], np.cumsum(lengths)]).astype("i4"),
            "found": zeros(most, kind="u8"), "total": zeros(1, kind="i4"),
        },
        scalars={**numbers, "reads": np.int32(reads)},
        launches=[
            Launch("minimizers", (blocks(high), reads), 256, ("bases", "starts", "found", "total", *numbers))
        ],
        changed=["found", "total"],
        unordered=["found"],
    )  # fmt: skip


@case(full=640, quick=37)
def cfar(columns: int) -> Problem:
    """Two rings of cells around each, by a template's parameters; noise, clutter and some targets."""
    rows, most = columns // 2 + 6, 2000
    rng = np.random.default_rng(48)
    samples = rng.normal(0, 300, (rows, columns, 2)) * (1 + 2 * np.exp(-np.arange(columns) / 40))[:, None]
    for _ in range(columns * rows // 600 + 2):
        row, column = rng.integers(rows), rng.integers(columns)
        samples[row, column] *= 12
        samples[row, column - 1] *= 5
    numbers = ints("rows columns threshold most", rows, columns, 16 * 9, most)
    grid, block = (blocks(columns, 16), blocks(rows, 16)), (16, 16)
    return Problem(
        arrays={
            "samples": np.clip(np.round(samples), -32768, 32767).astype("i2"),
            "power": zeros(rows, columns, kind="u4"),
            "fine": zeros(most, kind="u8"), "coarse": zeros(most, kind="u8"),
            "fine_count": zeros(1, kind="i4"), "coarse_count": zeros(1, kind="i4"),
        },
        scalars=numbers,
        launches=[
            Launch("powers", 32, 256, ("samples", "power", np.int32(rows * columns))),
            Launch("cfar_fine", grid, block, ("power", "fine", "fine_count", *numbers)),
            Launch("cfar_coarse", grid, block, ("power", "coarse", "coarse_count", *numbers)),
        ],
        changed=["power", "fine", "coarse", "fine_count", "coarse_count"],
        unordered=["fine", "coarse"],
    )  # fmt: skip


@case(full=384, quick=64)
def wkv(channels: int) -> Problem:
    """Four exponentials a step, each step after the one before; three long arrays of a thread's own."""
    batch, steps = (4, 200) if channels > 100 else (3, 21)
    shape = (batch, steps, channels)
    rng = np.random.default_rng(49)
    size = ints("T C", steps, channels)
    given = {
        "w": np.linspace(-5, 1, channels, dtype="f4"), "u": rng.normal(0.3, 0.4, channels).astype("f4"),
        "k": rng.normal(0, 1.5, shape).astype("f4"), "v": rng.normal(0, 1, shape).astype("f4"),
    }  # fmt: skip
    made = {
        "y": zeros(*shape), "gw": zeros(batch, channels), "gu": zeros(batch, channels),
        "gk": zeros(*shape), "gv": zeros(*shape),
    }  # fmt: skip
    block = 64 if channels > 100 else 32
    grid = batch * channels // block
    return Problem(
        arrays={**given, "gy": rng.normal(0, 1, shape).astype("f4"), **made},
        scalars={**size, "batch": np.int32(batch)},
        launches=[
            Launch("wkv_forward", grid, block, (*size, *given, "y")),
            Launch("wkv_backward", grid, block, (*size, *given, "gy", "gw", "gu", "gk", "gv")),
        ],
        changed=[*made],
        tolerance=2e-5,
    )


@case(full=160, quick=5)
def smooth_xent(rows: int) -> Problem:
    """A vocabulary that is no multiple of four; some rows are ignored. The gradient replaces the logits."""
    vocabulary = 16_001 if rows > 100 else 1003
    stride = -(-vocabulary // 8) * 8
    rng = np.random.default_rng(50)
    targets = rng.zipf(1.3, rows) % vocabulary
    targets[rng.random(rows) < 0.1] = -100
    numbers = {
        **ints("vocabulary stride", vocabulary, stride), "smoothing": np.float32(0.1),
        "grad_scale": np.float32(8),
    }  # fmt: skip
    return Problem(
        arrays={
            "logits": rng.normal(0, 2.5, (rows, stride)).astype("f2"), "targets": targets.astype("i4"),
            "losses": zeros(rows), "mean": zeros(1), "totals": zeros(2),
        },
        scalars={**numbers, "rows": np.int32(rows)},
        launches=[
            Launch("smooth_xent", rows, 256, ("logits", "targets", "losses", "totals", *numbers)),
            Launch("mean_loss", 1, 1, ("totals", "mean")),
        ],
        changed=["logits", "losses", "mean", "totals"],
        native=("logits", "targets", "losses", "mean"),
        tolerance=5e-6,
        mismatches=0.001,  # the largest, which half precision rounds
    )  # fmt: skip


@case(full=60_000, quick=900)
def pic_boris(n: int) -> Problem:
    """Tiles of 16 x 16 with particles in two beams; 16 atomics each in shared memory."""
    nx, ny = (96, 64) if n > 1000 else (32, 16)
    rng = np.random.default_rng(51)
    particles = np.zeros((n, 6), "f4")
    particles[:, 0] = rng.random(n) * nx
    particles[:, 1] = np.clip(rng.normal(ny / 2, ny / 6, n), 0, ny - 0.01)
    particles[:, 2] = np.where(rng.random(n) < 0.5, 2, -2)
    particles[:, 2:5] += rng.normal(0, 0.5, (n, 3))
    particles[:, 5] = 1 + rng.random(n)
    particles[:, :2] = np.minimum(particles[:, :2], np.array([nx, ny], "f4") - np.float32(0.01))
    tile = (particles[:, 1] // 16 * (nx // 16) + particles[:, 0] // 16).astype("i4")
    order = np.argsort(tile, kind="stable")
    y, x = np.mgrid[:ny, :nx]
    waves = [np.sin(2 * np.pi * (x / nx * (k + 1) + y / ny * k) + k) for k in range(4)]
    drift = rng.integers(0, n, n // 50)  # these have left their tiles since they were sorted
    sorted_particles = particles[order]
    sorted_particles[drift, 0] = (sorted_particles[drift, 0] + 7) % nx
    size = {**ints("nx ny", nx, ny), "dt": np.float32(0.4), "charge_to_mass": np.float32(-1)}
    made = {name: zeros(ny, nx) for name in ("rho", "jx", "jy", "jz")}
    tiles = nx // 16 * (ny // 16)
    return Problem(
        arrays={
            "particles": sorted_particles,
            "tile_start": np.searchsorted(tile[order], np.arange(tiles + 1)).astype("i4"),
            "fields": np.stack(waves, axis=-1).astype("f4"), **made,
        },
        scalars={**size, "n": np.int32(n)},
        launches=[
            Launch(
                "push_deposit", (nx // 16, ny // 16), 128,
                ("particles", "tile_start", "fields", *made, *size),
            )
        ],
        changed=["particles", *made],
        native=("particles", "fields", *made),
        tolerance=1e-4,
        mismatches=0.0005,  # at the border, where a place may be 0 or all of the length
    )  # fmt: skip


QUOTE = np.dtype([("strike", "f8"), ("price", "f8"), ("expiry", "i4"), ("kind", "i4")])


@case(full=9000, quick=150)
def imp_vol(n: int) -> Problem:
    """Twelve expiries, some prices out of bounds. Threads of a warp need two to twelve rounds."""
    rng, count = np.random.default_rng(52), 12 if n > 1000 else 3
    years = np.linspace(0.08, 3, count)
    expiries = np.stack([years, 100 * np.exp(0.02 * years), np.exp(-0.03 * years)], axis=1)
    first = np.sort(rng.integers(20, n - 20, count - 1))
    first = np.concatenate([[0], first, [n]]).astype("i4")
    quotes = np.zeros(n, QUOTE)
    quotes["expiry"] = np.repeat(np.arange(count), np.diff(first))
    t, forward, discount = expiries[quotes["expiry"]].T
    money = rng.normal(0, 0.7, n) * 0.25 * np.sqrt(t)
    quotes["strike"] = np.round(forward * np.exp(money), 1)
    call = money > rng.normal(0, 0.1, n)
    quotes["kind"] = np.where(call, ord("C"), ord("P"))
    vol = 0.2 - 0.1 * money + 0.2 * money**2 + rng.normal(0, 0.003, n)
    # the price by a sum over outcomes
    z = (np.arange(400) - 199.5) / 40
    outcome = forward[:, None] * np.exp(vol[:, None] * np.sqrt(t)[:, None] * z - (vol**2 * t)[:, None] / 2)
    pay = np.maximum(np.where(call, 1, -1)[:, None] * (outcome - quotes["strike"][:, None]), 0)
    quotes["price"] = discount * (pay @ (np.exp(-z * z / 2) / np.sqrt(2 * np.pi) / 40))
    quotes["price"][rng.random(n) < 0.01] *= 200
    quotes["price"][rng.random(n) < 0.01] = 0
    return Problem(
        arrays={
            "quotes": quotes.view("u1"), "expiries": expiries, "first": first, "vols": zeros(n, kind="f8"),
            "status": zeros(n, kind="i4"), "fits": zeros(count, 3, kind="f8"),
        },
        scalars=ints("n max_iterations count", n, 40, count),
        launches=[
            Launch(
                "implied", blocks(n, 128), 128,
                ("quotes", "expiries", "vols", "status", "n", "max_iterations"),
            ),
            Launch(
                "smile", blocks(32 * count, 128), 128,
                ("quotes", "expiries", "first", "vols", "status", "fits", "count"),
            ),
        ],
        changed=["vols", "status", "fits"],
        tolerance=1e-7,
        mismatches=0.001,
    )  # fmt: skip
