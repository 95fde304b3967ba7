"""Ten kernels that were measured before anybody looked at the code made of them: of graphics and pictures, of
networks, of points and of text."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Extents, Launch, Problem, blocks

from survey.case import case, integers, reals, zeros


def of_pixels(w: int, h: int, x: int, y: int) -> tuple[Extents, Extents]:
    """Grid and CTA for a thread for each pixel."""
    return (blocks(w, x), blocks(h, y)), (x, y)


@case(full=120, quick=40)
def raymarch(w: int) -> Problem:
    """Rays that end early or late, most of them with a second loop for a shadow."""
    h = w * 3 // 4 + 1
    return Problem(
        arrays={"image": zeros(h, w, 4, kind="u1")},
        scalars={"w": np.int32(w), "h": np.int32(h), "time": np.float32(0.7), "steps": np.int32(96)},
        launches=[Launch("raymarch", *of_pixels(w, h, 32, 8), ("image", "w", "h", "time", "steps"))],
        changed=["image"],
        tolerance=0.01,
        mismatches=0.01,
    )


@case(full=1000, quick=50)
def corners(w: int) -> Problem:
    """Two steps in shared memory, with borders of two pixels and of one."""
    h = w - 60 if w > 100 else w + 3
    return Problem(
        arrays={"image": integers(0, 256, h, w, kind="u1"), "response": zeros(h, w)},
        scalars={"w": np.int32(w), "h": np.int32(h), "k": np.float32(0.04)},
        launches=[Launch("corners", *of_pixels(w, h, 16, 16), ("image", "response", "w", "h", "k"))],
        changed=["response"],
        tolerance=1e-5,
    )


@case(full=300, quick=37)
def attention(seq: int) -> Problem:
    """Rows of 256 bytes a thread, and as many keys as its place."""
    batch, heads, d = 2, 2, 64
    shape = (batch, seq, heads, d)
    names = ("batch", "seq", "heads", "scale")
    q, k, v = (reals(n, *shape)[0] - np.float32(0.5) for n in (1, 2, 3))
    return Problem(
        arrays={"q": q * 4, "k": k * 4, "v": v, "out": zeros(*shape)},
        scalars={
            "batch": np.int32(batch), "seq": np.int32(seq), "heads": np.int32(heads),
            "scale": np.float32(d**-0.5),
        },
        launches=[
            Launch("attention", (blocks(seq, 128), heads, batch), 128, ("q", "k", "v", "out", *names))
        ],
        changed=["out"],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=16, quick=2)
def groupnorm(n: int) -> Problem:
    """Sums by halves of 256 threads, and a quotient of 64 bits for each number."""
    channels, groups, area = 64, 8, 30 * 34
    names = ("channels", "groups", "area", "eps")
    return Problem(
        arrays={
            "x": reals(n, channels, area), "gamma": reals(channels), "beta": reals(channels + 1)[1:],
            "y": zeros(n, channels, area),
        },
        scalars={
            "channels": np.int32(channels), "groups": np.int32(groups), "area": np.int32(area),
            "eps": np.float32(1e-5), "n": np.int32(n),
        },
        launches=[Launch("groupnorm", n * groups, 256, ("x", "gamma", "beta", "y", *names))],
        changed=["y"],
        tolerance=1e-4,
    )  # fmt: skip


@case(full=200, quick=20)
def linear_int8(m: int) -> Problem:
    """Each thread goes along a row of bytes of its own."""
    n, k = m + 60, 512
    return Problem(
        arrays={
            "x": integers(-127, 128, m, k, kind="i1"), "w": integers(-127, 128, n, k, kind="i1"),
            "x_scale": reals(m), "w_scale": reals(n), "bias": reals(n + 1)[1:], "y": zeros(m, n),
        },
        scalars={"m": np.int32(m), "n": np.int32(n), "k": np.int32(k)},
        launches=[
            Launch(
                "linear_int8",
                *of_pixels(n, m, 16, 16),
                ("x", "w", "x_scale", "w_scale", "bias", "y", "m", "n", "k"),
            )
        ],
        changed=["y"],
        tolerance=1e-6,
    )  # fmt: skip


@case(full=400_000, quick=3000)
def near_points(n: int) -> Problem:
    """A counter that each warp takes its places from, in a loop over all threads."""
    names = ("n", "range", "ground", "dark")
    limits = (np.float32(40), np.float32(-1.5), np.float32(0.2))
    points = (reals(n, 4) - np.float32([0.5, 0.5, 0.2, 0])) * np.float32([100, 100, 10, 1])
    return Problem(
        arrays={
            "points": points, "index": zeros(n, kind="u4"), "distance": zeros(n),
            "count": zeros(1, kind="u4"),
        },
        scalars=dict(zip(names, (np.int32(n), *limits), strict=True)),
        launches=[
            Launch(
                "near_points",
                min(blocks(n, 128), 256),
                128,
                ("points", "index", "distance", "count", *names),
            )
        ],
        changed=["index", "distance", "count"],
        unordered=["index", "distance"],
        tolerance=1e-6,
    )  # fmt: skip


@case(full=500, quick=45)
def conv_rgba(w: int) -> Problem:
    """Taps that a condition skips at the borders, of pixels by 64-bit indices."""
    n, h = 3, w - 17
    sharper = np.float32([[-0.1, -0.7, -0.1], [-0.7, 4.3, -0.7], [-0.1, -0.7, -0.1]])
    grid, block = (blocks(w, 32), blocks(h, 8), n), (32, 8)
    return Problem(
        arrays={
            "in": integers(0, 256, n, h, w, 4, kind="u1"), "kernel": sharper,
            "out": zeros(n, h, w, 4, kind="u1"),
        },
        scalars={"w": np.int32(w), "h": np.int32(h), "n": np.int32(n)},
        launches=[Launch("conv_rgba", grid, block, ("in", "kernel", "out", "w", "h"))],
        changed=["out"],
        mismatches=0.001,
    )  # fmt: skip


@case(full=400_000, quick=3000)
def adamw_half(n: int) -> Problem:
    """Halves and floats side by side, indices of 64 bits, a loop over the grid."""
    master = reals(n) - np.float32(0.5)
    grad = ((reals(n + 1)[1:] - np.float32(0.5)) * 256).astype("f2")
    numbers = (1e-3, 0.9, 0.999, 1e-8, 0.01, 1 / 1024, 0.271, 0.003)
    names = ("lr", "beta1", "beta2", "eps", "decay", "unscale", "correct1", "correct2")
    return Problem(
        arrays={
            "param": master.astype("f2"), "grad": grad, "master": master,
            "m": (reals(n + 2)[2:] - np.float32(0.5)) * np.float32(0.1),
            "v": reals(n + 3)[3:] * np.float32(0.01),
        },
        scalars={"n": np.int64(n), **dict(zip(names, map(np.float32, numbers), strict=True))},
        launches=[
            Launch(
                "adamw_half",
                min(blocks(n), 320),
                256,
                ("param", "grad", "master", "m", "v", "n", *names),
            )
        ],
        changed=["param", "master", "m", "v"],
        tolerance=1e-6,
        mismatches=0.001,
    )  # fmt: skip


def table(size: int) -> Array:
    """A table as text, cut after so many bytes: numbers, words, quoted text with commas and ends of lines."""
    rng = np.random.default_rng(11)
    fields = [*(str(n) for n in range(0, 40000, 371)), "", "red", "green", "not known"]
    fields += ['"Smith, Ann"', '"two\nlines"', '"said ""yes"", then left"'] * 8
    picked = rng.integers(0, len(fields), size // 2)
    rows = [",".join(fields[i] for i in picked[s : s + 9]) for s in range(0, len(picked), 9)]
    return np.frombuffer("\n".join(rows).encode()[:size], "u1")


@case(full=1 << 20, quick=5000)
def csv_fields(size: int) -> Problem:
    """64 bytes a thread, and counters that a register chooses."""
    n = size - 13
    chunks = blocks(n, 64)
    return Problem(
        arrays={"text": table(n), "counts": zeros(chunks, 5, kind="i4")},
        scalars={"n": np.uint64(n)},
        launches=[Launch("csv_fields", blocks(chunks, 128), 128, ("text", "n", "counts"))],
        changed=["counts"],
    )


@case(full=200, quick=40)
def zbuffer(w: int) -> Problem:
    """A loop over all triangles, of which few reach a pixel; a half turn their backs."""
    h, count = w - 10, 2 * w
    corner = reals(count, 1, 3) * np.float32([w, h, 1])
    triangles = corner + (reals(count, 3, 3) - np.float32(0.5)) * np.float32([w / 4, w / 4, 0.2])
    return Problem(
        arrays={
            "triangles": triangles.astype("f4"), "depth": zeros(h, w), "id": zeros(h, w, kind="i4"),
        },
        scalars={"count": np.int32(count), "w": np.int32(w), "h": np.int32(h)},
        launches=[
            Launch("zbuffer", *of_pixels(w, h, 16, 16), ("triangles", "count", "depth", "id", "w", "h"))
        ],
        changed=["depth", "id"],
        tolerance=1e-5,
        mismatches=0.001,
    )  # fmt: skip
