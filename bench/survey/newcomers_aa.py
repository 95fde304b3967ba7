"""Twenty kernels that lean on C++ and on NVIDIA's own headers, written without knowing what the JIT is good
at: variants, expression templates, big integers, partitions of warps, pipelines, packed records."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, floats, ints, settled, zeros
from survey.newcomers_x import centred


@case(full=300, quick=5)
def skel_pose(characters: int) -> Problem:
    """Trees of 61 joints, ten levels deep; key frames a tenth of a turn apart."""
    joints, frames = (61, 24) if characters > 10 else (37, 3)
    rng = np.random.default_rng(801)
    parents = np.array([-1] + [int(rng.integers(max(j - 7, 0), j)) for j in range(1, joints)], "i4")
    depths = np.zeros(joints, "i4")
    for j in range(1, joints):
        depths[j] = depths[parents[j]] + 1
    keys = np.empty((frames, joints, 8), "f4")
    turns = centred(rng, 1, joints, 4, kind="f8") + 0.3 * centred(rng, frames, joints, 4, kind="f8")
    square = turns[..., 0] ** 2 + turns[..., 1] ** 2 + turns[..., 2] ** 2 + turns[..., 3] ** 2
    keys[..., :4] = turns / np.sqrt(square)[..., None]
    keys[..., 4:7] = centred(rng, frames, joints, 3)
    keys[..., 7] = 1 + 0.1 * centred(rng, frames, joints)
    levels = int(depths.max()) + 1
    times = (rng.random(characters) * (frames - 1)).astype("f4")
    numbers = ints("frames joints levels", frames, joints, levels)
    return Problem(
        arrays={
            "keys": keys, "parents": parents, "depths": depths, "times": times,
            "matrices": zeros(characters, joints, 12),
        },
        scalars=ints("frames joints characters", frames, joints, characters),
        launches=[
            Launch("skel_pose", characters, 64, ("keys", "parents", "depths", "times", "matrices", *numbers.values()))
        ],
        changed=["matrices"],
        native=("keys", "parents", "times", "matrices"),
        tolerance=1e-4,
    )  # fmt: skip


@case(full=2500, quick=45)
def fixpid(n: int) -> Problem:
    """Steps of the wanted place, up and down; some gains make it unstable until all is at its limits."""
    steps = 240 if n > 100 else 40
    rng = np.random.default_rng(802)
    gains = (rng.random((n, 3)) * np.array([12.0, 0.6, 40.0]) * 65536).astype("i4")
    setpoint = np.repeat(rng.integers(-8, 9, steps // 20 + 1), 20)[:steps].astype("i4") * 65536
    numbers = ints("n steps", n, steps)
    names = "gains", "setpoint", "cost", "peak"
    return Problem(
        arrays={"gains": gains, "setpoint": setpoint, "cost": zeros(n, kind="i4"), "peak": zeros(n, kind="i4")},
        scalars=numbers,
        launches=[Launch("fixpid", blocks(n, 128), 128, (*names, *numbers))],
        changed=["cost", "peak"],
    )


@case(full=5000, quick=50)
def isqrt256(n: int) -> Problem:
    """Numbers of 1 to 256 bits, most of them long, some of them squares and their neighbours."""
    rng = np.random.default_rng(803)
    numbers = zeros(n, 4, kind="u8")
    for i in range(n):
        words = [int(w) for w in rng.integers(0, 1 << 32, 8)]
        value = sum(w << (32 * k) for k, w in enumerate(words))
        if i % 4 == 1:
            value >>= int(rng.integers(1, 257))
        elif i % 4 == 2:
            value = (value >> 128) ** 2 - int(rng.integers(0, 2))
        numbers[i] = [max(value, 0) >> (64 * k) & (2**64 - 1) for k in range(4)]
    return Problem(
        arrays={"x": numbers.view("u4"), "root": zeros(n, 4, kind="u4"), "rest": zeros(n, 6, kind="u4")},
        scalars=ints("n", n),
        launches=[Launch("isqrt256", blocks(n, 128), 128, ("x", "root", "rest", "n"))],
        changed=["root", "rest"],
    )


@case(full=360, quick=35)
def sdf_visit(width: int) -> Problem:
    """Four kinds of shapes in any order, every fifth cut out of those before."""
    height, count = width * 3 // 4 - 1, 24 if width > 100 else 9
    rng = np.random.default_rng(804)
    records = zeros(count, 8)
    kinds = rng.integers(0, 4, count)
    spot = rng.random((count, 2)) * [width, height]
    records[:, 0] = kinds.astype("i4").view("f4")
    records[:, 1] = (np.arange(count) % 5 == 4).astype("i4").view("f4")
    records[:, 2:4] = spot
    records[:, 4:6] = (0.04 + 0.08 * rng.random((count, 2))) * width
    records[:, 6] = 0.02 * width
    records[kinds == 2, 4:6] += spot[kinds == 2]
    records[kinds == 3, 5] = 0.015 * width
    records[:, 7] = 0.2 + 0.8 * rng.random(count)
    numbers = {**ints("count width height", count, width, height), **floats("blend", 6)}
    return Problem(
        arrays={"records": records, "image": zeros(height, width)},
        scalars=numbers,
        launches=[
            Launch(
                "sdf_visit", (blocks(width, 32), blocks(height, 8)), (32, 8), ("records", "image", *numbers)
            )
        ],
        changed=["image"],
        tolerance=1e-4,
    )  # fmt: skip
