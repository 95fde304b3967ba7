"""Twelve kernels of physics, chemistry, engineering and finance in the form that each has most often, written
without knowing what the JIT is good at."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, floats, ints, zeros


def octree(places: Array, half: float) -> tuple[Array, Array, list[tuple[int, int]]]:
    """Children of cells in the order of levels (a body's place, n + a cell's, or -1), their widths, and
    each level's first cell and number of cells."""
    n, children, widths, levels = len(places), list[Array](), list[float](), list[tuple[int, int]]()
    level = [(np.arange(n), np.zeros(3), half)]
    while level:
        first, below = len(children), list[tuple[Array, Array, float]]()
        levels.append((first, len(level)))
        for members, centre, size in level:
            octants = (places[members] > centre) @ [1, 2, 4]
            child = np.full(8, -1)
            for k in range(8):
                inside = members[octants == k]
                if len(inside) == 1:
                    child[k] = inside[0]
                elif len(inside) > 1:
                    child[k] = n + first + len(level) + len(below)
                    sign = np.array([k & 1, k >> 1 & 1, k >> 2]) * 2 - 1
                    below.append((inside, centre + sign * size / 2, size / 2))
            children.append(child)
            widths.append(2 * size)
        level = below
    return np.array(children, "i4"), np.array(widths), levels


def spread_bits(x: Array) -> Array:
    """Each of ten bits at every third place."""
    return sum(((x >> k & 1) << 3 * k for k in range(10)), np.zeros_like(x))


@case(full=1500, quick=70)
def barnes(n: int) -> Problem:
    """Plummer's cluster, in the order of Morton's curve; some ten levels, a launch for each."""
    rng = np.random.default_rng(71)
    radius = (rng.uniform(0.02, 0.9, n) ** (-2 / 3) - 1) ** -0.5
    way = rng.normal(size=(n, 3))
    places = (radius / np.linalg.norm(way, axis=1))[:, None] * way
    half = float(np.abs(places).max()) * 1.001
    cells = ((places / half + 1) * 511.9).astype("i8")
    places = places[np.argsort(spread_bits(cells) @ [1, 2, 4])].astype("f4")
    children, widths, levels = octree(places, half)
    pos = zeros(n + len(children), 4)
    pos[:n, :3], pos[:n, 3] = places, 1 / n
    size, eps2, dt = ints("n cells", n, len(children)), np.float32(1e-3), np.float32(0.01)
    groups, summed = blocks(n), list[Launch]()
    for first, count in reversed(levels):
        args = ("pos", "child", "n", np.int32(first), np.int32(count))
        summed.append(Launch("bh_summarize", blocks(count, 128), 128, args))
    return Problem(
        arrays={
            "pos": pos, "vel": (rng.normal(size=(n, 3)) / 3).astype("f4"), "child": children,
            "open2": ((widths / 0.6) ** 2).astype("f4"), "acc": zeros(n, 3),
        },
        scalars={**size, "eps2": eps2, "dt": dt},
        launches=[
            *summed,
            Launch("bh_forces", groups, 256, ("pos", "child", "open2", "acc", "n", "eps2")),
            Launch("bh_integrate", groups, 256, ("pos", "vel", "acc", "n", "dt")),
        ],
        changed=["pos", "vel", "acc"],
        tolerance=1e-4,
        mismatches=0.005,
    )  # fmt: skip


@case(full=8000, quick=150)
def izhikevich(n: int) -> Problem:
    """Four of five cells excite others; 40 steps, in each of which a few of a hundred fire."""
    rng = np.random.default_rng(72)
    steps, fan_out = (40, 100) if n > 1000 else (12, 20)
    fans = rng.poisson(fan_out, n)
    start = np.concatenate([[0], np.cumsum(fans)]).astype("i4")
    synapses = int(start[-1])
    inhibits = np.arange(n) >= n * 4 // 5
    kind = np.where(inhibits, rng.choice([1, 3], n), rng.choice([0, 2], n, p=[0.8, 0.2])).astype("u1")
    weight = np.where(
        np.repeat(inhibits, fans), -rng.integers(20, 90, synapses), rng.integers(5, 60, synapses)
    )
    groups = blocks(n, 128)
    names = ("v", "u", "kind", "ring", "fired", "count", "spikes")
    listed = ("fired", "count", "start", "target", "weight", "delay", "ring")
    launches = list[Launch]()
    for t in map(np.int32, range(steps)):
        launches.append(Launch("iz_update", groups, 128, (*names, "n", t, "noise")))
        launches.append(Launch("iz_deliver", 8, 128, (*listed, "n", t)))
    v = rng.uniform(-70, -45, n).astype("f4")
    return Problem(
        arrays={
            "v": v, "u": (v * np.float32(0.2)), "kind": kind, "ring": zeros(8, n, kind="i4"),
            "count": zeros(steps, kind="i4"), "spikes": zeros(n, kind="u2"), "start": start,
            "target": rng.integers(0, n, synapses).astype("i4"), "weight": weight.astype("i1"),
            "delay": rng.integers(1, 8, synapses).astype("u1"), "fired": zeros(n, kind="i4"),
        },
        scalars={**ints("n steps", n, steps), "noise": np.float32(6)},
        launches=launches,
        changed=["v", "u", "ring", "count", "spikes", "fired"],
        native=("v", "u", "kind", "ring", "count", "spikes", "start", "target", "weight", "delay"),
        tolerance=1e-3,
        mismatches=0.005,
    )  # fmt: skip


@case(full=340, quick=41)
def hllc(nx: int) -> Problem:
    """Two steps of a round blast in a wind; the fastest wave of each step is kept."""
    ny, steps = nx * 2 // 3 + 1, 2
    y, x = np.mgrid[:ny, :nx]
    inside = (x - 0.4 * nx) ** 2 + (y - 0.5 * ny) ** 2 < (0.2 * ny) ** 2
    rho = np.where(inside, 1.0, 0.25) * (1 + 0.05 * np.sin(x / 5 + y / 3))
    u, v, p = np.where(y < ny / 3, 1.4, 0.2), 0.1 * np.cos(x / 9), np.where(inside, 1.0, 0.1)
    q = np.stack([rho, rho * u, rho * v, p / 0.4 + 0.5 * rho * (u * u + v * v)], 2)
    numbers = {**ints("nx ny", nx, ny), "cfl": np.float32(0.4)}
    grid, block, launches = (blocks(nx, 32), blocks(ny, 8)), (32, 8), list[Launch]()
    arrays = {"q": q.astype("f4"), "next": zeros(ny, nx, 4)}
    arrays |= {f"speed{t}": zeros(1) for t in range(steps)}
    for t in range(steps):
        launches += [
            Launch("hllc_speed", 8, 256, ("q", f"speed{t}", np.int32(nx * ny))),
            Launch("hllc_x", grid, block, ("q", "next", f"speed{t}", *numbers)),
            Launch("hllc_y", grid, block, ("next", "q", f"speed{t}", *numbers)),
        ]
    return Problem(
        arrays=arrays, scalars=numbers, launches=launches, changed=[*arrays], tolerance=1e-4,
    )  # fmt: skip


@case(full=300, quick=45)
def elastic(nx: int) -> Problem:
    """Layers, of which one is water, and a round body; eight steps from a state with waves."""
    nz, steps, source = nx * 3 // 4 + 1, 8, (nx // 2, nx // 5)
    z, x = np.mgrid[:nz, :nx]
    depth = z + 4 * np.sin(x / 20)
    vp = np.where(depth < nz / 5, 1.5, np.where(depth < nz / 2, 2.2, 3.1))
    vp[(x - 0.6 * nx) ** 2 + (z - 0.6 * nz) ** 2 < (nx / 9) ** 2] = 4.5
    vs, rho = np.where(vp < 1.6, 0, vp / 1.8), 1 + vp / 4
    edge = np.minimum(np.minimum(x, nx - 1 - x), nz - 1 - z)
    rounds = np.exp(-((x - 0.4 * nx) ** 2 + (z - 0.3 * nz) ** 2) / 40) * np.sin(x / 2)
    at = np.arange(steps) - 3
    arrays = {
        "vx": rounds * 0.1, "vz": rounds * 0.05, "sxx": rounds, "szz": rounds * 0.7, "sxz": -rounds * 0.3,
        "buoyancy": 1 / rho, "lambda": rho * (vp**2 - 2 * vs**2), "mu": rho * vs**2,
        "sponge": np.exp(-((0.015 * np.maximum(20 - edge, 0)) ** 2)),
        "wavelet": (1 - at**2 / 4) * np.exp(-(at**2) / 8),
    }  # fmt: skip
    size = {**ints("nx nz", nx, nz), "dt_h": np.float32(0.1)}
    grid, block = (blocks(nx, 32), blocks(nz, 8)), (32, 8)
    fields = ("vx", "vz", "sxx", "szz", "sxz")
    launches = list[Launch]()
    for t in map(np.int32, range(steps)):
        spot = ("source_x", "source_z", t)
        solid = ("lambda", "mu", "sponge", "wavelet")
        launches += [
            Launch("elastic_velocity", grid, block, (*fields, "buoyancy", "sponge", *size)),
            Launch("elastic_stress", grid, block, (*fields, *solid, *size, *spot)),
        ]
    return Problem(
        arrays={name: values.astype("f4") for name, values in arrays.items()},
        scalars={**size, **ints("source_x source_z steps", *source, steps)},
        launches=launches,
        changed=fields,
        tolerance=1e-5,
    )


def box_of_tetrahedra(side: int) -> tuple[Array, Array]:
    """Places of (side + 1)^3 nodes, a little off a grid, and the nodes of six elements in each cube."""
    n, rng = side + 1, np.random.default_rng(75)
    z, y, x = (axis.ravel() for axis in np.mgrid[:n, :n, :n])
    places = np.stack([x, y, z], 1) / side
    places += np.where((places > 0) & (places < 1), rng.uniform(-0.2, 0.2, places.shape) / side, 0)
    z, y, x = (axis.ravel() for axis in np.mgrid[:side, :side, :side])
    corner, steps = (z * n + y) * n + x, np.array([1, n, n * n])
    elements = list[Array]()
    for order in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)):
        way = np.concatenate([[0], np.cumsum(steps[list(order)])])
        elements.append(corner[:, None] + way)
    return places, np.stack(elements, 1).reshape(-1, 4)


@case(full=14, quick=4)
def tets(side: int) -> Problem:
    """A cube of three materials that is cold below; rows have up to 15 entries."""
    places, elements = box_of_tetrahedra(side)
    rng, rows, count = np.random.default_rng(76), len(places), len(elements)
    pairs = np.unique((elements[:, :, None] * rows + elements[:, None, :]).ravel())
    row_start = np.searchsorted(pairs // rows, np.arange(rows + 1)).astype("i4")
    middle = places[elements].mean(1)
    material = (middle[:, 2] > 0.5).astype("u1")
    material[np.linalg.norm(middle - 0.5, axis=1) < 0.3] = 2
    fixed = places[:, 2] == 0
    matrix = ("row_start", "columns", "values")
    numbers = {**ints("count rows", count, rows), "dt": np.float64(0.01)}
    inputs = ("nodes", "elements", "material", "conductivity", "capacity", "source")
    return Problem(
        arrays={
            "nodes": places, "elements": elements.astype("i4"), "material": material,
            "conductivity": np.array([1.0, 0.2, 12.0]), "capacity": np.array([1.0, 2.5, 0.6]),
            "source": rng.random(count) * material, "row_start": row_start,
            "columns": (pairs % rows).astype("i4"), "values": zeros(len(pairs), kind="f8"),
            "rhs": zeros(rows, kind="f8"), "fixed": fixed.astype("u1"),
            "temperature": np.where(fixed, 1 + places[:, 0], 0),
        },
        scalars=numbers,
        launches=[
            Launch("tet_assemble", blocks(count, 128), 128, (*inputs, *matrix, "rhs", "count", "dt")),
            Launch("tet_dirichlet", blocks(rows), 256, (*matrix, "rhs", "fixed", "temperature", "rows")),
        ],
        changed=["values", "rhs"],
        tolerance=1e-12,
    )  # fmt: skip


@case(full=320, quick=21)
def hires(cells: int) -> Problem:
    """Some sixty steps, more in some cells than in others; no two cells have the same rates."""
    rng = np.random.default_rng(77)
    y = np.array([1, 0, 0, 0, 0, 0, 0, 0.0057])[:, None] * (1 + rng.uniform(-0.3, 0.3, (8, cells)))
    numbers: dict[str, np.generic] = {
        "cells": np.int32(cells),
        "t_end": np.float64(60),
        "rtol": np.float64(1e-3),
    }
    numbers |= {"atol": np.float64(1e-6), "max_steps": np.int32(1000)}
    return Problem(
        arrays={"state": y, "scale": rng.lognormal(0, 0.4, cells), "taken": zeros(cells, 2, kind="i4")},
        scalars=numbers,
        launches=[Launch("hires", blocks(cells, 64), 64, ("state", "scale", "taken", *numbers))],
        changed=["state", "taken"],
        tolerance=1e-7,
        mismatches=0.01,
    )


@case(full=350, quick=37)
def sweeping(nx: int) -> Problem:
    """Two starts, a slow valley and a wall with a door; two thousand launches, each of one block or two."""
    ny, rounds = nx * 3 // 4 - 2, 1
    y, x = np.mgrid[:ny, :nx]
    slowness = 1 + 2 * np.exp(-(((y - ny / 2) / (ny / 9)) ** 2)) + 0.2 * np.sin(x / 7) * np.cos(y / 5)
    slowness[(np.abs(x - nx // 3) < 2) & (np.abs(y - ny / 3) > ny / 12)] = 200
    t, start = np.full((ny, nx), 1e10, "f4"), zeros(ny, nx, kind="u1")
    for px, py in ((nx // 8, ny // 5), (nx * 3 // 4, ny * 2 // 3)):
        t[py, px], start[py, px] = 0, 1
    size = {**ints("nx ny", nx, ny), "h": np.float32(1 / nx)}
    launches = list[Launch]()
    for corner in (0, 1, 2, 3) * rounds:
        ways = (np.int32(corner & 1), np.int32(corner >> 1))
        for diagonal in range(nx + ny - 1):
            cells = min(diagonal, nx - 1) - max(0, diagonal - ny + 1) + 1
            args = ("t", "slowness", "start", *size, np.int32(diagonal), *ways)
            launches.append(Launch("sweep_diagonal", blocks(cells), 256, args))
    return Problem(
        arrays={"t": t, "slowness": slowness.astype("f4"), "start": start},
        scalars={**size, "rounds": np.int32(rounds)},
        launches=launches,
        changed=["t"],
        tolerance=1e-5,
    )


@case(full=40_000, quick=300)
def lsmc(paths: int) -> Problem:
    """Sixteen dates, three launches each. A decision that a rounding turns moves later regressions,
    and by them some decisions more."""
    steps, groups, rate, vol, maturity = 16, 24, 0.06, 0.3, 1.0
    dt = maturity / steps
    walk = {"paths": np.int32(paths), "steps": np.int32(steps), "seed": np.uint32(12345)}
    walk |= floats("s0 drift vol", 38.0, (rate - vol * vol / 2) * dt, vol * dt**0.5)
    money = floats("strike discount", 40.0, float(np.exp(-rate * dt)))
    each, launches = blocks(paths), list[Launch]()
    launches.append(Launch("lsmc_paths", each, 256, ("price", *walk)))
    launches.append(Launch("lsmc_payoff", each, 256, ("price", "cash", "paths", "steps", "strike")))
    arrays = {"price": zeros(steps, paths), "cash": zeros(paths), "beta": zeros(3, kind="f8")}
    for t in range(steps - 2, -1, -1):
        now = ("paths", np.int32(t), *money)
        launches += [
            Launch("lsmc_sums", groups, 256, ("price", "cash", "partial", *now)),
            Launch("lsmc_solve", 1, 32, ("partial", "beta", np.int32(groups))),
            Launch("lsmc_exercise", each, 256, ("price", "cash", "beta", *now)),
        ]
    return Problem(
        arrays={**arrays, "partial": zeros(groups, 8, kind="f8")},
        scalars={**walk, **money},
        launches=launches,
        changed=[*arrays, "partial"],
        native=("price", "cash"),
        tolerance=1e-4,
        mismatches=0.005,
    )


@case(full=2500, quick=75)
def libor(paths: int) -> Problem:
    """40 rates, of which 20 are fixed: 590 exponentials a path."""
    rates, fixings = 40, 20
    z = np.random.default_rng(78).normal(size=(fixings, paths)).astype("f4")
    i = np.arange(rates)
    numbers: dict[str, np.generic] = {"paths": np.int32(paths), "delta": np.float32(0.25)}
    names = ("z", "initial", "lambda", "values", "sums")
    return Problem(
        arrays={
            "z": z, "initial": (0.045 + 0.01 * (1 - np.exp(-i / 12))).astype("f4"),
            "lambda": (0.12 + 0.1 * np.exp(-i / 8)).astype("f4"), "values": zeros(paths),
            "sums": zeros(blocks(paths, 64), 2),
        },
        scalars=numbers,
        launches=[Launch("libor", blocks(paths, 64), 64, (*names, *numbers))],
        changed=["values", "sums"],
        tolerance=1e-4,
    )  # fmt: skip


def sky(n: int, seed: int, clusters: int = 0) -> tuple[Array, Array, Array]:
    """Directions; of `clusters` some have most of them."""
    rng = np.random.default_rng(seed)
    way = rng.normal(size=(n, 3))
    if clusters:
        centres = rng.normal(size=(clusters, 3))
        centres /= np.linalg.norm(centres, axis=1)[:, None]
        width = rng.pareto(2, n)[:, None] * 0.01
        way = np.where(rng.random((n, 1)) < 0.7, centres[rng.integers(0, clusters, n)] + width * way, way)
    way[:, 2] = np.abs(way[:, 2])
    x, y, z = (way / np.linalg.norm(way, axis=1)[:, None]).T.astype("f4")
    return np.ascontiguousarray(x), np.ascontiguousarray(y), np.ascontiguousarray(z)


@case(full=700, quick=90)
def tpacf(data: int) -> Problem:
    """A catalogue with itself, with random places, and these with themselves; a rounding may move a pair."""
    randoms = data * 4 // 3
    places = (*sky(data, 79, 12), *sky(randoms, 80))
    points = dict(zip(("dx", "dy", "dz", "rx", "ry", "rz"), places, strict=True))
    d, r = ("dx", "dy", "dz", "data"), ("rx", "ry", "rz", "randoms")
    counts = {name: zeros(20, kind="u8") for name in ("dd", "dr", "rr")}
    return Problem(
        arrays={**points, **counts},
        scalars=ints("data randoms", data, randoms),
        launches=[
            Launch("tpacf", blocks(data), 256, (*d, *d, "dd", np.int32(1))),
            Launch("tpacf", blocks(data), 256, (*d, *r, "dr", np.int32(0))),
            Launch("tpacf", blocks(randoms), 256, (*r, *r, "rr", np.int32(1))),
        ],
        changed=[*counts],
        tolerance=1e-4,
    )


@case(full=700, quick=40)
def mcml(photons: int) -> Problem:
    """Packets live for five to some hundred steps; a rounding may move one to another cell or end it."""
    nr, nz = 40, 30
    numbers = {**ints("photons nr nz", photons, nr, nz), **floats("dr dz", 0.01, 0.01)}
    numbers["seed"] = np.uint32(987654321)
    names = ("absorbed", "escaped")
    return Problem(
        arrays={"absorbed": zeros(nz, nr, kind="u8"), "escaped": zeros(2, kind="u8")},
        scalars=numbers,
        launches=[Launch("mcml", blocks(photons, 128), 128, (*names, *numbers))],
        changed=names,
        tolerance=1e-3,
        mismatches=0.02,
    )


def bumpy_ball(around: int) -> tuple[Array, Array, Array]:
    """Places and normals of a ball with bumps, and triangles; below it a square of two."""
    down = around // 2
    v, u = (axis.ravel() for axis in np.mgrid[: down + 1, :around])
    theta, phi = np.pi * v / down, 2 * np.pi * u / around
    way = np.stack([np.sin(theta) * np.cos(phi), np.cos(theta), np.sin(theta) * np.sin(phi)], 1)
    places = way * (0.8 + 0.1 * np.sin(5 * theta) * np.sin(6 * phi))[:, None]
    row, column = (axis.ravel() for axis in np.mgrid[:down, :around])
    a, b = row * around + column, row * around + (column + 1) % around
    triangles = np.concatenate([np.stack([a, b, a + around], 1), np.stack([b, b + around, a + around], 1)])
    corner = np.array([[-1.4, -0.95, -1.4], [1.4, -0.95, -1.4], [-1.4, -0.95, 1.4], [1.4, -0.95, 1.4]])
    n = len(places)
    triangles = np.concatenate([triangles, [[n, n + 1, n + 2], [n + 1, n + 3, n + 2]]])
    normals = np.concatenate([way, np.tile([0, 1, 0], (4, 1))])
    return np.concatenate([places, corner]).astype("f4"), normals.astype("f4"), triangles.astype("i4")


@case(full=128, quick=21)
def ray_grid(width: int) -> Problem:
    """Most cells are empty, some have 30 triangles; half of the rays hit, and these have a second one."""
    height = width * 3 // 4 + 1
    vertices, normals, triangles = bumpy_ball(72 if width > 100 else 24)
    n = 20 if width > 100 else 8
    low = vertices.min(0) - np.float32(0.01)
    side = np.float32((vertices.max(0) - low).max() * 1.001 / n)
    corners = vertices[triangles]
    first = ((corners.min(1) - low) / side - 1e-3).astype("i4")
    last = ((corners.max(1) - low) / side + 1e-3).astype("i4")
    size = last.max(0) + 1
    lists = [list[int]() for _ in range(int(size.prod()))]
    for t, (from_cell, to_cell) in enumerate(zip(first, last, strict=True)):
        for z in range(from_cell[2], to_cell[2] + 1):
            for y in range(from_cell[1], to_cell[1] + 1):
                for x in range(from_cell[0], to_cell[0] + 1):
                    lists[int((z * size[1] + y) * size[0] + x)].append(t)
    start = np.concatenate([[0], np.cumsum([len(cell) for cell in lists])])
    numbers = ints("width height nx ny nz", width, height, *map(int, size))
    numbers |= floats("low_x low_y low_z side", *map(float, low), float(side))
    names = ("vertices", "normals", "triangles", "start", "listed", "picture", "seen")
    return Problem(
        arrays={
            "vertices": vertices, "normals": normals, "triangles": triangles, "start": start.astype("i4"),
            "listed": np.array([t for cell in lists for t in cell], "i4"),
            "picture": zeros(height, width, 4, kind="u1"), "seen": zeros(height, width, kind="i4"),
        },
        scalars=numbers,
        launches=[Launch("ray_grid", (blocks(width, 16), blocks(height, 8)), (16, 8), (*names, *numbers))],
        changed=["picture", "seen"],
        tolerance=0.005,
        mismatches=0.005,
    )  # fmt: skip
