"""Sixteen kernels as laboratories and universities write them in scientific codes, chosen without knowing
what the JIT is good at: elements, waves, molecules, orbitals, lattices, columns of air, sweeps, solves."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.polynomial import legendre
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, ints, reals, settled, zeros


def doubles(names: str, *values: float) -> dict[str, np.generic]:
    return {name: np.float64(value) for name, value in zip(names.split(), values, strict=True)}


def struct(kind: list[tuple[str, str]], *values: object) -> np.generic:
    """A parameter that is a struct."""
    scalar: np.generic = np.array([values], np.dtype(kind))[0]
    return scalar


def around_zero(*shape: int, kind: str = "f8") -> Array:
    return reals(*shape, kind="f8").astype(kind) - np.dtype(kind).type(0.5)


def derivatives(n: int) -> Array:
    """The matrix that derives polynomials which are known in the `n` nodes of Gauss, Lobatto and Legendre."""
    inner = legendre.legroots(legendre.legder([0] * (n - 1) + [1]))
    x = settled(np.concatenate(([-1.0], np.sort(inner.real), [1.0])))
    gaps = x[:, None] - x + np.eye(n)
    weight = gaps.prod(1)
    matrix = weight[:, None] / weight / gaps
    np.fill_diagonal(matrix, 0)
    np.fill_diagonal(matrix, -matrix.sum(1))
    return settled(matrix)


@case(full=6, quick=2)
def sumfac(ex: int) -> Problem:
    """Bent elements, whose six geometric factors a node are given; corners belong to eight elements."""
    ey, ez, nq = ex, max(1, ex - 1), 8
    elements, sides = ex * ey * ez, tuple(7 * e + 1 for e in (ex, ey, ez))
    nodes = sides[0] * sides[1] * sides[2]
    numbers = np.arange(nodes, dtype="i4").reshape(sides[::-1])
    ids = np.stack([
        numbers[7 * k : 7 * k + nq, 7 * j : 7 * j + nq, 7 * i : 7 * i + nq]
        for k in range(ez) for j in range(ey) for i in range(ex)
    ])  # fmt: skip
    inside = numbers[1:-1, 1:-1, 1:-1]
    boundary = np.setdiff1d(numbers, inside).astype("i4")
    bent = around_zero(elements * nq**3, 3, 3) * 0.4 + np.eye(3)
    metric = bent @ bent.transpose(0, 2, 1)
    geo = metric[:, [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]].copy()
    n, walls = np.int32(nodes), np.int32(len(boundary))
    groups = min(64, blocks(nodes))
    names = ("u", "ids", "geo", "derivative", "w", "elements")
    return Problem(
        arrays={
            "u": around_zero(nodes), "ids": ids, "geo": geo, "derivative": derivatives(nq),
            "boundary": boundary, "w": zeros(nodes, kind="f8"), "energy": zeros(1, kind="f8"),
            "partial": zeros(groups, kind="f8"),
        },
        scalars={"elements": np.int32(elements), "nodes": n, "walls": walls},
        launches=[
            Launch("sumfac_clear", groups, 256, ("w", n)),
            Launch("sumfac_local", elements, (nq, nq), names),
            Launch("sumfac_mask", blocks(len(boundary), 128), 128, ("w", "boundary", walls)),
            Launch("sumfac_dot", groups, 256, ("u", "w", "partial", n)),
            Launch("sumfac_dot_final", 1, 128, ("partial", "energy", np.int32(groups))),
        ],
        changed=["w", "energy", "partial"],
        native=("u", "ids", "geo", "derivative", "boundary", "w", "energy"),
        tolerance=1e-10,
    )  # fmt: skip


@case(full=70, quick=13)
def seis8(inner: int) -> Problem:
    """Four steps (two at the quick size) in layers of rock, with ghost cells of four on each side."""
    nx, ny, nz = inner + 8, inner * 3 // 4 + 9, inner * 2 // 3 + 8
    steps, receivers, dt, frequency = (4, 40, 1e-3, 25.0) if inner > 20 else (2, 7, 1e-3, 25.0)
    depth = np.arange(nz)[:, None, None] / nz
    speed = 1500 + 1200 * np.floor(depth * 4) + 30 * reals(nz, ny, nx, kind="f8")
    grid = struct([("nx", "i4"), ("ny", "i4"), ("nz", "i4")], nx, ny, nz)
    p = zeros(2, nz, ny, nx, kind="f8")
    p[:, 4:-4, 4:-4, 4:-4] = around_zero(2, nz - 8, ny - 8, nx - 8)
    rng = np.random.default_rng(41)
    places = np.stack([rng.integers(4, side - 4, receivers) for side in (nx, ny, nz)], 1).astype("i4")
    si, sj, sk = nx // 2, ny // 2, 6
    scale, width, strength = np.float64(dt * dt / 100), np.int32(min(10, inner // 4)), np.float64(0.08)
    sides = (blocks(nx - 8, 32), blocks(ny - 8, 8))
    launches = list[Launch]()
    for step in range(steps):
        now, old = ("p", "q") if step % 2 == 0 else ("q", "p")
        time = np.float64(step * dt - 1 / frequency)
        where = (np.int32(si), np.int32(sj), np.int32(sk))
        launches += [
            Launch("seis8_step", sides, (32, 8), (now, old, "vel2", grid, scale, width, strength)),
            Launch("seis8_source", 1, 32, (old, grid, *where, time, np.float64(frequency))),
            Launch(
                "seis8_receivers", blocks(receivers, 64), 64,
                (old, "places", "trace", grid, np.int32(receivers), np.int32(step)),
            ),
        ]  # fmt: skip
        if step % 2:
            extents = (blocks(nx, 16), blocks(nz, 16))
            args = (old, "slices", grid, np.int32(sj), np.int32(step // 2))
            launches.append(Launch("seis8_snapshot", extents, (16, 16), args))
    return Problem(
        arrays={
            "p": p[0].copy(), "q": p[1].copy(), "vel2": speed * speed, "places": places,
            "trace": zeros(steps, receivers), "slices": zeros(steps // 2, nz, nx),
        },
        scalars={
            **ints("nx ny nz steps receivers si sj sk", nx, ny, nz, steps, receivers, si, sj, sk),
            "scale": scale, "width": width, "strength": strength, **doubles("dt frequency", dt, frequency),
        },
        launches=launches,
        changed=["p", "q", "trace", "slices"],
        tolerance=1e-6,
    )  # fmt: skip


def listed(position: Array, box: Array, reach: float) -> tuple[Array, Array]:
    """How many neighbours each atom of a periodic box has, and which, a column an atom."""
    lists = list[Array]()
    for i, home in enumerate(position):
        d = position - home
        d -= box * np.rint(d / box)
        near = np.flatnonzero((d * d).sum(1) < reach * reach)
        lists.append(near[near != i])
    table = np.zeros((max(map(len, lists)), len(position)), "i4")
    for i, near in enumerate(lists):
        table[: len(near), i] = near
    return np.array([len(near) for near in lists], "i4"), table


@case(full=8, quick=2)
def silicon(m: int) -> Problem:
    """A warm crystal of diamond's kind: four neighbours in reach, 12 more in the lists."""
    corner = np.array([[0, 0, 0], [0, 2, 2], [2, 0, 2], [2, 2, 0]])
    cell = np.concatenate((corner, corner + 1)) / 4
    sides = (m, m, max(2, m - 1))
    origin = np.stack(np.meshgrid(*(np.arange(s) for s in sides), indexing="ij"), -1).reshape(-1, 1, 3)
    position = (origin + cell).reshape(-1, 3) * 5.43
    n, box = len(position), np.array(sides) * 5.43
    position += around_zero(n, 3) / 2
    count, table = listed(position, box, 4.4)
    silicon = (7.049556277, 0.6022245584, 2.1683, 2.0951, 1.8, 21.0, 1.2)
    letters = "A B epsilon sigma a lambda gamma"
    boxed = struct([(c, "f8") for c in "xyz"], *box)
    sw = struct([(c, "f8") for c in letters.split()], *silicon)
    names = ("position", "count", "neighbours", "force", "energy", "n")
    return Problem(
        arrays={
            "position": position, "count": count, "neighbours": table, "force": zeros(n, 3, kind="f8"),
            "energy": zeros(blocks(n, 128), kind="f8"),
        },
        scalars={"n": np.int32(n), **doubles("lx ly lz", *box), **doubles(letters, *silicon)},
        launches=[
            Launch("silicon_clear", blocks(3 * n), 256, ("force", "n")),
            Launch("silicon_forces", blocks(n, 128), 128, (*names, boxed, sw)),
        ],
        changed=["force", "energy"],
        tolerance=1e-9,
    )  # fmt: skip


@case(full=700, quick=5)
def bonded(chains: int) -> Problem:
    """Chains of 30 atoms; dihedrals of one atom lie side by side, and their atomics meet."""
    length = 30
    n = chains * length
    rng = np.random.default_rng(42)
    k = np.arange(length)
    helix = np.stack([0.9 * np.cos(1.9 * k), 0.9 * np.sin(1.9 * k), 0.45 * k], 1)
    x = zeros(n, 4)
    x[:, :3] = (helix + rng.random((chains, 1, 3)) * 50).reshape(-1, 3) + rng.normal(0, 0.1, (n, 3))
    first = (np.arange(chains)[:, None] * length + k).astype("i4")

    def terms(atoms: int) -> Array:
        starts = first[:, : length - atoms + 1].reshape(-1, 1)
        return (starts + np.arange(atoms)).astype("i4")

    bonds, triples, dihedrals = terms(2), terms(3), terms(4)
    angles = np.concatenate((triples, rng.integers(0, 5, (len(triples), 1))), 1).astype("i4")
    kinds = [("k", "f4"), ("delta", "f4"), ("multiplicity", "i4"), ("pad", "i4")]
    torsions = np.array([(1.4, 0, 3, 0), (0.2, np.pi, 2, 0), (0.5, 0, 1, 0), (0.16, np.pi, 4, 0)], kinds)
    sizes = ints("n nb na nd", n, len(bonds), len(angles), len(dihedrals))
    return Problem(
        arrays={
            "x": x, "bonds": bonds, "bond_type": rng.integers(0, 8, len(bonds)).astype("i4"),
            "bond_types": (rng.random((8, 2)) * (80, 0.4) + (250, 1.3)).astype("f4"),
            "angles": angles, "angle_types": (rng.random((5, 2)) * (20, 0.3) + (40, 1.8)).astype("f4"),
            "dihedrals": dihedrals, "dihedral_type": rng.integers(0, 4, len(dihedrals)).astype("u1"),
            "dihedral_types": torsions.view("i4"), "force": zeros(n, 4), "energy": zeros(3, kind="f8"),
        },
        scalars=sizes,
        launches=[
            Launch("bonded_zero", blocks(n), 256, ("force", "energy", "n")),
            Launch(
                "bonded_bonds", blocks(len(bonds)), 256,
                ("x", "bonds", "bond_type", "bond_types", "force", "energy", "nb"),
            ),
            Launch(
                "bonded_angles", blocks(len(angles), 192), 192,
                ("x", "angles", "angle_types", "force", "energy", "na"),
            ),
            Launch(
                "bonded_dihedrals", blocks(len(dihedrals), 128), 128,
                ("x", "dihedrals", "dihedral_type", "dihedral_types", "force", "energy", "nd"),
            ),
        ],
        changed=["force", "energy"],
        tolerance=1e-4,
    )  # fmt: skip


@case(full=10_000, quick=203)
def shake3(molecules: int) -> Problem:
    """Some thirty rounds, of which some molecules need more than others."""
    oh, angle, mo, mh, dt, tolerance = 0.9572, 1.82421813, 15.9994, 1.008, 0.04, 1e-8
    water = np.array([(0, 0, 0), (oh, 0, 0), (oh * np.cos(angle), oh * np.sin(angle), 0)])
    rng = np.random.default_rng(43)
    turned = np.linalg.qr(rng.normal(size=(molecules, 3, 3)))[0]
    x = settled(water @ turned).reshape(molecules, 3, 3) + rng.random((molecules, 1, 3)) * 30
    v = rng.normal(size=(molecules, 3, 3)) * np.sqrt(1 / np.array([mo, mh, mh]))[:, None]
    hh2 = float(settled(np.array(2 * oh * oh * (1 - np.cos(angle)))))
    kind = [("mass", "3f8"), ("d2", "3f8"), ("dt", "f8"), ("tolerance", "f8")]
    model = struct(kind, (mo, mh, mh), (oh * oh, oh * oh, hh2), dt, tolerance)
    count, groups = np.int32(molecules), blocks(molecules, 128)
    return Problem(
        arrays={
            "x": x, "v": v, "f": rng.normal(size=x.shape) * 3, "x_new": zeros(molecules, 3, 3, kind="f8"),
            "iterations": zeros(molecules, kind="i4"), "kinetic": zeros(groups, kind="f8"),
        },
        scalars={
            "molecules": count,
            **doubles("mo mh oh2 hh2 dt tolerance", mo, mh, oh * oh, hh2, dt, tolerance),
        },
        launches=[
            Launch(
                "shake3_drift", blocks(9 * molecules), 256,
                ("x", "v", "f", "x_new", np.int32(3 * molecules), model),
            ),
            Launch("shake3_positions", groups, 128, ("x", "x_new", "v", "iterations", count, model)),
            Launch("shake3_velocities", groups, 128, ("x_new", "f", "v", "kinetic", count, model)),
        ],
        changed=["v", "x_new", "iterations", "kinetic"],
        tolerance=1e-6,
        mismatches=0.001,
    )  # fmt: skip


PAIR = np.dtype([*((name, "f8") for name in ("x", "y", "z", "p", "k", "bound")), ("a", "i4"), ("b", "i4")])


def boys_table(rows: int, step: float, terms: int) -> Array:
    """F0 to F5 in steps, by a series for the last and downward recurrence."""
    t = np.arange(rows)[:, None] * step
    table = zeros(rows, terms, kind="f8")
    term = np.full((rows, 1), 1 / (2 * terms - 1))
    total = term.copy()
    for k in range(1, 150):
        term = term * 2 * t / (2 * terms - 1 + 2 * k)
        total += term
    table[:, -1:] = np.exp(-t) * total
    for m in reversed(range(terms - 1)):
        table[:, m] = (2 * t[:, 0] * table[:, m + 1] + np.exp(-t[:, 0])) / (2 * m + 1)
    return table


@case(full=16, quick=4)
def eri_j(functions: int) -> Problem:
    """Three Gaussians each, of which far pairs are nothing."""
    rng = np.random.default_rng(44)
    place = rng.random((functions, 3)) * 1.8 * functions ** (1 / 3)
    exponent = np.array([3.42525091, 0.62391373, 0.16885540]) * (0.7 + rng.random((functions, 1)))
    factor = np.array([0.15432897, 0.53532814, 0.44463454]) * (2 * exponent / np.pi) ** 0.75
    pairs = list[tuple[float, ...]]()
    for a in range(functions):
        for b in range(a + 1):
            square = float(((place[a] - place[b]) ** 2).sum())
            for i in range(3):
                for j in range(3):
                    p = exponent[a, i] + exponent[b, j]
                    k = factor[a, i] * factor[b, j] * np.exp(-exponent[a, i] * exponent[b, j] / p * square)
                    centre = (exponent[a, i] * place[a] + exponent[b, j] * place[b]) / p
                    bound = np.sqrt(34.986836655249725 / (p * p * np.sqrt(2 * p))) * k
                    if bound > 1e-9:
                        pairs.append((*centre, p, k, bound, a, b))
    pairs.sort(key=lambda pair: -pair[5])
    density = rng.normal(size=(functions, functions)) / 3 + np.eye(functions)
    n, threshold = len(pairs), np.float64(1e-9)
    sizes = ints("n functions", n, functions)
    return Problem(
        arrays={
            "pairs": np.array(pairs, PAIR).view("u1"), "density": density + density.T,
            "table": boys_table(290, 0.1, 6), "j": zeros(functions, functions, kind="f8"),
            "pair_density": zeros(n, kind="f8"), "pair_j": zeros(n, kind="f8"),
        },
        scalars={**sizes, "threshold": threshold},
        launches=[
            Launch("eri_density", blocks(n), 256, ("pairs", "density", "pair_density", *sizes)),
            Launch("eri_coulomb", n, 128, ("pairs", "pair_density", "table", "pair_j", "n", threshold)),
            Launch("eri_add", blocks(n), 256, ("pairs", "pair_j", "j", *sizes)),
        ],
        changed=["j", "pair_density", "pair_j"],
        native=("pairs", "density", "table", "j"),
        tolerance=1e-9,
    )  # fmt: skip


@case(full=120_000, quick=700)
def pbe_xc(n: int) -> Problem:
    """Points round atoms: densities of all magnitudes, a tenth of them nothing."""
    rng = np.random.default_rng(45)
    rho = 30 * np.exp(-14 * rng.random(n))
    rho[rng.random(n) < 0.1] *= 1e-12
    gradient = rng.normal(size=(3, n)) * rho ** (7 / 6)
    groups, least = 48 if n > 1000 else 3, np.float64(1e-10)
    made = {
        "exc": zeros(n, kind="f8"), "v_rho": zeros(n, kind="f8"), "v_sigma": zeros(n, kind="f8"),
        "totals": zeros(2, kind="f8"), "partial": zeros(groups, 2, kind="f8"),
    }  # fmt: skip
    given = {"rho": rho, "gx": gradient[0].copy(), "gy": gradient[1].copy(), "gz": gradient[2].copy()}
    given["weight"] = rng.random(n) * 1e-2
    names = (*given, "exc", "v_rho", "v_sigma", "partial", "n", "least")
    return Problem(
        arrays={**given, **made},
        scalars={"n": np.int32(n), "least": least},
        launches=[
            Launch("pbe_points", groups, 256, names, 256 * 16),
            Launch("pbe_total", 1, 32, ("partial", "totals", np.int32(groups))),
        ],
        changed=[*made],
        native=(*given, "exc", "v_rho", "v_sigma", "totals"),
        tolerance=1e-9,
    )


@case(full=10, quick=4)
def stagger(n: int) -> Problem:
    """Rows of ten sites, whose links are random matrices of SU(3)."""
    sides = (n, n - 2, n - 1 if n < 8 else n - 2, n)
    volume = int(np.prod(sides))
    rng = np.random.default_rng(46)
    matrices = rng.normal(size=(4, volume, 3, 3)) + 1j * rng.normal(size=(4, volume, 3, 3))
    matrices = np.linalg.qr(matrices + 3 * np.eye(3))[0]
    matrices /= np.linalg.det(matrices)[..., None, None] ** (1 / 3)
    links = settled(np.ascontiguousarray(matrices.reshape(4, volume, 9).transpose(0, 2, 1)).view("f8"))
    lattice = struct([("n", "4i4"), ("volume", "i4")], sides, volume)
    mass, groups = np.float64(0.05), blocks(volume, 128)
    return Problem(
        arrays={
            "links": links, "in": rng.normal(size=(3, volume, 2)), "out": zeros(3, volume, 2, kind="f8"),
            "mean": zeros(1, kind="f8"), "partial": zeros(groups, kind="f8"),
        },
        scalars={**ints("nx ny nz nt", *sides), "mass": mass},
        launches=[
            Launch("stagger_dslash", groups, 128, ("links", "in", "out", lattice, mass)),
            Launch("stagger_plaquette", groups, 128, ("links", "partial", lattice)),
            Launch("stagger_mean", 1, 32, ("partial", "mean", np.int32(groups), np.int32(volume))),
        ],
        changed=["out", "mean", "partial"],
        native=("links", "in", "out", "mean"),
        tolerance=1e-11,
    )  # fmt: skip


@case(full=64, quick=13)
def exact_rp(nx: int) -> Problem:
    """Two steps of an explosion in air of four densities: interfaces need two to ten rounds."""
    ny, steps = nx * 3 // 4 + 1, 2
    y, x = np.mgrid[: ny + 2, : nx + 2]
    inside = np.hypot(x - nx / 3, y - ny / 2) < nx / 5
    rng = np.random.default_rng(47)
    rho = rng.random((ny + 2, nx + 2)) / 50
    rho += np.where(x > nx / 2, 0.125, 1.0)
    rho += np.where(y > ny / 2, 0.3, 0)
    p: Array = np.where(inside, 5.0, np.where(x > nx / 2, 0.1, 1.0))
    u, v = rng.normal(size=(2, *x.shape)) / 10 + np.where(x > 3 * nx / 4, 2.0, 0)
    arrays: dict[str, Array] = {
        "rho": rho,
        "mx": rho * u,
        "my": rho * v,
        "e": p / 0.4 + rho * (u * u + v * v) / 2,
    }
    cfl = np.float64(0.45)
    kind = [("nx", "i4"), ("ny", "i4"), ("cell", "f8"), ("cfl", "f8")]
    grid, extents = struct(kind, nx, ny, 1 / nx, cfl), (blocks(nx, 32), blocks(ny, 4))
    wider = (blocks(nx + 1, 32), blocks(ny + 1, 4))
    launches = list[Launch]()
    for _ in range(steps):
        launches += [
            Launch("rp_clear", 1, 1, ("fastest",)),
            Launch("rp_speed", extents, (32, 4), (*arrays, "fastest", grid)),
        ]
        for direction in map(np.int32, range(2)):
            launches += [
                Launch("rp_ghosts", blocks(max(nx, ny), 128), 128, (*arrays, grid, direction)),
                Launch("rp_flux", wider, (32, 4), (*arrays, "flux", grid, direction)),
                Launch("rp_update", extents, (32, 4), (*arrays, "flux", "fastest", grid, direction)),
            ]
    return Problem(
        arrays={**arrays, "flux": zeros(ny + 2, nx + 2, 4, kind="f8"), "fastest": zeros(1, kind="u8")},
        scalars={**ints("nx ny", nx, ny), "cfl": cfl, "steps": np.int32(steps)},
        launches=launches,
        changed=[*arrays, "flux", "fastest"],
        native=(*arrays,),
        tolerance=1e-8,
        mismatches=0.002,
    )


@case(full=500, quick=45)
def kessler(columns: int) -> Problem:
    """40 levels; rain in a third of the columns, between one and ten small steps."""
    levels = 40
    rng = np.random.default_rng(48)
    dz = 100 + 10 * np.arange(levels, dtype="f8")
    z = np.cumsum(dz)[:, None] - dz[:, None] / 2
    exner = (1 - 9.81 * z / (1004 * 300)) * (1 + rng.normal(size=(levels, columns)) * 1e-4)
    theta = 300 + 0.004 * z + rng.normal(size=(levels, columns)) / 2
    t, p = theta * exner, 1e5 * exner ** (1004 / 287)
    rho = p / (287 * t)
    qvs = 380 / p * np.exp(17.27 * (t - 273) / (t - 36))
    qv = qvs * (0.7 + 0.4 * rng.random((levels, columns)))
    qc = np.where(rng.random((levels, columns)) < 0.4, 3e-3 * rng.random((levels, columns)), 0)
    rainy = rng.random(columns) < 0.35
    qr = np.where(rainy & (z < 5000), 6e-3 * rng.random((levels, columns)) * rng.random(columns), 0)
    constants = (120.0, 2.5e6, 1004.0, 0.001, 0.001, 2.2)
    letters = "dt latent cp autoconversion threshold accretion"
    con = struct([(name, "f8") for name in letters.split()], *constants)
    sizes = ints("columns levels", columns, levels)
    state = {"theta": theta, "qv": qv, "qc": qc, "qr": qr}
    made = {"rain": zeros(columns, kind="f8"), "substeps": zeros(columns, kind="i4")}
    return Problem(
        arrays={**state, "rho": rho, "exner": exner, "dz": dz, **made},
        scalars={**sizes, **doubles(letters, *constants)},
        launches=[
            Launch(
                "kessler_fall", blocks(columns, 64), 64, ("qr", "rho", "dz", *made, *sizes, "dt")
            ),
            Launch(
                "kessler_phases", (blocks(columns, 32), blocks(levels, 8)), (32, 8),
                (*state, "rho", "exner", *sizes, con),
            ),
        ],
        changed=[*state, *made],
        tolerance=1e-9,
        mismatches=0.001,
    )  # fmt: skip


@case(full=128, quick=37)
def twostream(columns: int) -> Problem:
    """14 bands, clouds in a quarter of the layers, night in a quarter of the columns."""
    layers, bands = 40, 14
    rng = np.random.default_rng(49)
    shape = (bands, layers, columns)
    cloudy = rng.random((layers, columns)) < 0.25
    tau = 10 ** (rng.random(shape) * 3 - 3) + np.where(cloudy, 3 * rng.random(shape), 0)
    ssa = np.where(cloudy, 0.9 + 0.0999 * rng.random(shape), 0.8 * rng.random(shape))
    asymmetry = np.where(cloudy, 0.85, 0.1) * (0.9 + 0.1 * rng.random(shape))
    pressure = np.linspace(100, 101325, layers + 1)[:, None] + rng.random((layers + 1, columns))
    sizes = ints("columns layers bands", columns, layers, bands)
    given = {
        "tau": tau, "ssa": ssa, "asymmetry": asymmetry, "mu0": rng.random(columns) * 1.3 - 0.3,
        "albedo": 0.05 + 0.6 * rng.random(columns), "solar": 1361 * rng.dirichlet(np.ones(bands)),
    }  # fmt: skip
    made = {"net": zeros(layers + 1, columns, kind="f8"), "heating": zeros(layers, columns)}
    flux = {name: zeros(bands, layers + 1, columns, kind="f8") for name in ("up", "down")}
    points = np.int32(columns * (layers + 1))
    return Problem(
        arrays={**given, "pressure": pressure, **made, **flux},
        scalars=sizes,
        launches=[
            Launch(
                "twostream_band", (blocks(columns, 32), blocks(bands, 4)), (32, 4), (*given, *flux, *sizes)
            ),
            Launch("twostream_sum", blocks(int(points)), 256, (*flux, "net", points, "bands")),
            Launch(
                "twostream_heating", (blocks(columns, 128), layers), 128,
                ("net", "pressure", "heating", "columns", "layers"),
            ),
        ],
        changed=[*made, *flux],
        native=(*given, "pressure", *made),
        tolerance=1e-6,
    )  # fmt: skip


@case(full=20, quick=5)
def ilu0(n: int) -> Problem:
    """Seven points in a body whose conductance jumps; 58 levels of rows, each a launch; three rounds."""
    sides, sweeps = (n, n - 1, n), 3
    rows = n * n * (n - 1)
    rng = np.random.default_rng(50)
    number = np.arange(rows).reshape(sides)
    conductance = np.array([0.01, 0.1, 1.0, 10.0])[rng.integers(0, 4, sides)]
    found = [dict[int, float]() for _ in range(rows)]
    for axis in range(3):
        low, high = (np.take(number, range(k, sides[axis] - 1 + k), axis).ravel() for k in (0, 1))
        between = 2 / (1 / conductance.ravel()[low] + 1 / conductance.ravel()[high])
        for i, j, g in zip(low.tolist(), high.tolist(), between.tolist(), strict=True):
            found[i][j] = found[j][i] = -g
    for i, row in enumerate(found):
        row[i] = 0.01 - sum(row.values())
    start = np.cumsum([0, *map(len, found)]).astype("i4")
    column = np.array([c for row in found for c in sorted(row)], "i4")
    value = settled(np.array([row[c] for row in found for c in sorted(row)]))
    diagonal = np.array([start[i] + sorted(row).index(i) for i, row in enumerate(found)], "i4")
    level = np.indices(sides).sum(0).ravel()
    order = np.argsort(level, kind="stable").astype("i4")
    ends = np.cumsum([0, *np.bincount(level)]).tolist()
    parts = [(np.int32(a), np.int32(b - a)) for a, b in pairwise(ends)]
    pattern = ("start", "column", "diagonal")
    csr = struct([("rows", "i4"), ("pad", "i4"), ("entries", "i8")], rows, 0, len(column))
    launches = [
        Launch("ilu0_copy", blocks(len(column)), 256, ("value", "lu", csr)),
        *[
            Launch("ilu0_factor", blocks(int(count), 64), 64, (*pattern, "lu", "order", first, count))
            for first, count in parts
        ],
    ]
    for s in range(sweeps):
        args = ("start", "column", "value", "b", "x", "r", csr)
        launches.append(Launch("ilu0_residual", blocks(rows, 32), 256, args))
        for kernel, turn, names in (
            ("ilu0_lower", parts, ("r", "y")), ("ilu0_upper", parts[::-1], ("y", "z")),
        ):  # fmt: skip
            launches += [
                Launch(kernel, blocks(int(count), 16), 128, (*pattern, "lu", *names, "order", first, count))
                for first, count in turn
            ]
        launches.append(
            Launch("ilu0_correct", blocks(rows), 256, ("x", "z", "r", f"norm{s}", np.int32(rows)))
        )
    norms = {f"norm{s}": zeros(1, kind="f8") for s in range(sweeps)}
    vectors = {name: zeros(rows, kind="f8") for name in ("r", "y", "z")}
    return Problem(
        arrays={
            "start": start, "column": column, "diagonal": diagonal, "value": value,
            "b": rng.normal(size=rows), "lu": zeros(len(column), kind="f8"), "x": zeros(rows, kind="f8"),
            **norms, **vectors, "order": order,
        },
        scalars=ints("rows sweeps", rows, sweeps),
        launches=launches,
        changed=["lu", "x", *norms, *vectors],
        native=(*pattern, "value", "b", "lu", "x", *norms),
        tolerance=1e-9,
    )  # fmt: skip


@case(full=30_000, quick=501)
def eos_newton(n: int) -> Problem:
    """Materials in stripes with mixed borders; a table of 60 x 80 whose nodes are not even."""
    rng = np.random.default_rng(51)
    n_rho, n_t = 60, 80
    rho_nodes = np.geomspace(1e-3, 10, n_rho) * (1 + 0.02 * rng.random(n_rho))
    t_nodes = np.geomspace(0.05, 50, n_t) * (1 + 0.02 * rng.random(n_t))
    r, t = rho_nodes[:, None], t_nodes
    ionised = 1 / (1 + np.exp(-(np.log(t) - 0.2 * np.log(r)) * 1.5))
    e_table = 1.5 * t * (1 + ionised) + 8 * ionised + 0.3 * r
    c_table = np.gradient(e_table, t_nodes, axis=1)
    p_table = r * t * (1 + ionised) + 0.5 * r * r
    where = np.arange(n) * 12 // n + rng.integers(0, 40, n) // 39
    kind = (where % 3).astype("u1")
    rho = 10 ** (rng.random(n) * 3.4 - 2.6)
    e = np.where(kind == 1, 0.4 * rho + 10 ** (rng.random(n) * 2 - 0.5), 10 ** (rng.random(n) * 3 - 1))
    gas = (1.4, 2.5, 5 / 3, 1.5, 0.0137)
    letters, most, tolerance, side = "gamma cv gamma_plasma cv_plasma radiation", 30, 1e-12, 0.01
    kinds = [*((name, "f8") for name in letters.split()), ("tolerance", "f8"), ("most", "i4"), ("pad", "i4")]
    made = {
        "temperature": zeros(n, kind="f8"), "pressure": zeros(n, kind="f8"), "sound": zeros(n, kind="f8"),
        "rounds": zeros(n, kind="i4"),
    }  # fmt: skip
    given = {"rho": rho, "energy": e, "kind": kind}
    tables = {
        "rho_nodes": rho_nodes, "t_nodes": t_nodes, "e_table": e_table, "c_table": c_table,
        "p_table": p_table,
    }  # fmt: skip
    table = struct([("n_rho", "i4"), ("n_t", "i4")], n_rho, n_t)
    args = (*given, *made, *tables, table, struct(kinds, *gas, tolerance, most, 0), "n")
    return Problem(
        arrays={
            **given, "speed": rng.normal(size=n), **made, "shortest": np.full(1, 1e30), **tables,
        },
        scalars={
            **ints("n n_rho n_t", n, n_rho, n_t), **doubles(letters, *gas),
            "tolerance": np.float64(tolerance), "most": np.int32(most), "side": np.float64(side),
        },
        launches=[
            Launch("eos_cells", blocks(n, 128), 128, args),
            Launch(
                "eos_time_step", min(16, blocks(n)), 256,
                ("sound", "speed", "shortest", np.float64(side), "n"),
            ),
        ],
        changed=[*made, "shortest"],
        tolerance=1e-9,
        mismatches=0.005,
    )  # fmt: skip


@case(full=24, quick=3)
def pairhmm(n_reads: int) -> Problem:
    """Reads of up to 120 bases of a sample's haplotypes, a fifth of which fit none of them."""
    rng = np.random.default_rng(52)
    n_haps, length = (18, 150) if n_reads > 10 else (4, 45)
    letters = np.frombuffer(b"ACGT", "u1")
    origin = letters[rng.integers(0, 4, length)]
    haps = list[Array]()
    for h in range(n_haps):
        hap = origin.copy()
        hap[rng.integers(0, length, 4)] = letters[rng.integers(0, 4, 4)]
        at = int(rng.integers(10, length - 10))
        haps.append(np.concatenate((hap[:at], hap[at + h % 7 :])))
    reads = list[Array]()
    for r in range(n_reads):
        size = int(rng.integers(length // 2, length * 4 // 5))
        at = int(rng.integers(0, length - size - 6))
        read = haps[r % n_haps][at : at + size].copy()
        errors = rng.random(size) < (0.6 if r % 5 == 4 else 0.01)
        read[errors] = letters[rng.integers(0, 4, int(errors.sum()))]
        read[rng.random(size) < 0.004] = ord("N")
        reads.append(read)
    read_start = np.cumsum([0, *map(len, reads)]).astype("i4")
    bases = int(read_start[-1])
    opens, extends = 10 ** -(rng.integers(35, 46, (2, bases)) / 10), 0.1
    steps = np.stack(
        (
            1 - opens.sum(0), np.full(bases, 1 - extends), opens[0], np.full(bases, extends), opens[1],
            np.full(bases, extends), 10 ** -(rng.integers(15, 42, bases) / 10),
        ),
        1,
    )  # fmt: skip
    longest, pairs = max(map(len, haps)), n_reads * n_haps
    given = ("reads", "steps", "read_start", "haplotypes", "hap_start")
    return Problem(
        arrays={
            "reads": np.concatenate(reads), "steps": steps.astype("f4"), "read_start": read_start,
            "haplotypes": np.concatenate(haps), "hap_start": np.cumsum([0, *map(len, haps)]).astype("i4"),
            "likelihood": zeros(pairs), "redo": zeros(pairs, kind="i4"), "redo_count": zeros(1, kind="i4"),
        },
        scalars=ints("n_reads n_haps", n_reads, n_haps),
        launches=[
            Launch(
                "pairhmm_float", blocks(pairs, 4), 128,
                (*given, "likelihood", "redo", "redo_count", "n_reads", "n_haps", np.int32(longest)),
                4 * (longest + 1) * 12,
            ),
            Launch(
                "pairhmm_double", min(20, blocks(pairs, 4)), 128,
                (*given, "likelihood", "redo", "redo_count", "n_haps", np.int32(longest)),
                4 * (longest + 1) * 24,
            ),
        ],
        changed=["likelihood", "redo", "redo_count"],
        native=(*given, "likelihood"),
        unordered=["redo"],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=16, quick=4)
def sn_sweep(n: int) -> Problem:
    """Two rounds of eight octants, up to 46 launches each, of one to some 190 cells."""
    sides, rounds = (n, n + 1, n - 1), 2
    nx, ny, nz = sides
    cells = nx * ny * nz
    k, j, i = np.indices((nz, ny, nx))
    plane = (i + j + k).ravel()
    order = np.argsort(plane, kind="stable").astype("i4")
    ends = np.cumsum([0, *np.bincount(plane)]).tolist()
    rng = np.random.default_rng(53)
    total = 10.0 ** rng.integers(-1, 2, cells) * (1 + rng.random(cells))
    scatter = total * (0.3 + 0.6 * rng.random(cells)) / (4 * np.pi)
    fixed = np.where((i < nx // 3) & (j < ny // 3), 1.0, 0.0).ravel()
    per = (2 * nx / 5, 2 * ny / 5, 2 * nz / 5)
    box = struct([(c, "i4") for c in ("nx", "ny", "nz", "pad")] + [(c, "f8") for c in "abc"], *sides, 0, *per)
    count = np.int32(cells)
    faces = {
        "psi_x": zeros(nz, ny, 8, kind="f8"), "psi_y": zeros(nz, nx, 8, kind="f8"),
        "psi_z": zeros(ny, nx, 8, kind="f8"),
    }  # fmt: skip

    def clear(name: str, size: int) -> Launch:
        return Launch("sn_clear", min(8, blocks(size)), 256, (name, np.int32(size)))

    source = Launch("sn_source", blocks(cells), 256, ("fixed", "scatter", "phi", "source", count))
    launches = [source]
    for _ in range(rounds):
        launches.append(clear("phi", cells))
        for octant in range(8):
            launches += [clear(name, face.size) for name, face in faces.items()]
            for first, end in pairwise(ends):
                part = ("plane_cells", np.int32(first), np.int32(end - first), np.int32(octant))
                args = (*part, "total", "source", *faces, "phi", box)
                launches.append(Launch("sn_plane", blocks(end - first, 16), (8, 16), args))
        launches.append(source)
    return Problem(
        arrays={
            "total": total, "fixed": fixed, "scatter": scatter, "phi": zeros(cells, kind="f8"),
            "source": zeros(cells, kind="f8"), **faces, "plane_cells": order,
        },
        scalars={
            **ints("nx ny nz", *sides), **doubles("ix iy iz", *per), "rounds": np.int32(rounds),
        },
        launches=launches,
        changed=["phi", "source", *faces],
        native=("total", "fixed", "scatter", "phi", "source"),
        tolerance=1e-10,
    )  # fmt: skip


@case(full=200, quick=37)
def potts_sw(nx: int) -> Problem:
    """Three sweeps of seven states from a start that is mostly ordered."""
    ny, states, sweeps = nx * 3 // 4 + 1, 7, 3
    rng = np.random.default_rng(54)
    spin = np.where(rng.random((ny, nx)) < 0.8, 2, rng.integers(0, states, (ny, nx))).astype("u1")
    threshold, seed = np.uint32(0.7257 * 2**32), np.uint32(20261130)  # 1 - exp(-J / kT)
    sites, n = ints("nx ny", nx, ny), np.int32(nx * ny)
    extents, block = (blocks(nx, 32), blocks(ny, 8)), (32, 8)
    launches = list[Launch]()
    for s in range(sweeps):
        sweep = np.uint32(s)
        launches += [
            Launch("potts_bonds", extents, block, ("spin", "bond", "label", *sites, threshold, seed, sweep)),
            Launch("potts_join", extents, block, ("bond", "label", *sites)),
            Launch("potts_spins", blocks(int(n)), 256, ("label", "root", "spin", n, "states", seed, sweep)),
            Launch("potts_measure", extents, block, ("spin", "counts", *sites, "states", np.int32(s))),
        ]
    return Problem(
        arrays={
            "spin": spin, "root": zeros(ny, nx, kind="i4"), "counts": zeros(sweeps, states + 1, kind="i4"),
            "label": zeros(ny, nx, kind="i4"), "bond": zeros(ny, nx, kind="u1"),
        },
        scalars={
            **sites, "states": np.int32(states), "threshold": threshold, "seed": seed,
            "sweeps": np.int32(sweeps),
        },
        launches=launches,
        changed=["spin", "root", "counts", "label", "bond"],
        native=("spin", "root", "counts"),
    )  # fmt: skip
