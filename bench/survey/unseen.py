"""Kernels that were measured before anybody looked at the code made of them: the slowest of 73, and such as
the survey had none of (formats of 8 bits by a library's own code, structures of 64 bytes, a code that is
unpacked byte by byte, CTAs of 20 x 20 threads)."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, integers, reals, zeros


@case(full=512, quick=24)
def ssim(w: int) -> Problem:
    """Sums by halves in CTAs of 8 x 8."""
    a = integers(0, 256, w, w, kind="u1")
    b = np.clip(a.astype("i4") + integers(-20, 20, w, w), 0, 255).astype("u1")
    return Problem(
        arrays={"a": a, "b": b, "out": zeros(w // 8, w // 8)},
        scalars={"w": np.int32(w), "h": np.int32(w)},
        launches=[Launch("ssim", (w // 8, w // 8), (8, 8), ("a", "b", "out", "w"))],
        changed=["out"],
        tolerance=1e-4,
    )


@case(full=1024, quick=70)
def lift53(w: int) -> Problem:
    """Every second word of shared memory."""
    h = w // 2
    return Problem(
        arrays={"in": integers(-500, 500, h, w, kind="i2"), "out": zeros(h, w, kind="i2")},
        scalars={"w": np.int32(w), "h": np.int32(h)},
        launches=[Launch("lift", h, 256, ("in", "out", "w"), 4 * w)],
        changed=["out"],
    )


@case(full=500, quick=90)
def hsv(w: int) -> Problem:
    """Rows of threads that do not fit warps, and grids that do not fit either."""
    h, side = w - 20, 20
    return Problem(
        arrays={"in": integers(0, 256, h, w, 3, kind="u1"), "out": zeros(h, w, 3, kind="u1")},
        scalars={"w": np.int32(w), "h": np.int32(h)},
        launches=[Launch("hsv", (blocks(w, side), blocks(h, side)), (side, side), ("in", "out", "w", "h"))],
        changed=["out"],
        mismatches=0.001,
    )


@case(full=64, quick=9)
def spread_taps(length: int) -> Problem:
    """All inputs are looked through for the few that reach an output; C goes the other way."""
    step, width, inputs, outputs = 2, 5, 8, 16
    out_length = (length - 1) * step + width
    names = ("length", "out_length", "width", "step", "inputs", "outputs")
    sizes = (length, out_length, width, step, inputs, outputs)
    return Problem(
        arrays={
            "in": reals(inputs, length),
            "taps": reals(inputs, outputs, width),
            "out": zeros(outputs, out_length),
        },
        scalars=dict(zip(names, map(np.int32, sizes), strict=True)),
        launches=[Launch("spread_taps", blocks(outputs * out_length), 256, ("in", "taps", "out", *names))],
        changed=["out"],
        tolerance=1e-5,
    )


@case(full=1 << 18, quick=1000)
def fp8_pack(n: int) -> Problem:
    """What `cuda_fp8.h` does on devices that have no instruction for it."""
    return Problem(
        arrays={
            "x": (reals(4 * n) - np.float32(0.5)) * 8,
            "y": zeros(4 * n, kind="u1"),
            "back": zeros(4 * n),
        },
        scalars={"scale": np.float32(3.5), "n": np.int32(n)},
        launches=[Launch("pack", blocks(n), 256, ("x", "y", "back", "scale", "n"))],
        changed=["y", "back"],
    )


@case(full=1 << 15, quick=500)
def bodies(n: int) -> Problem:
    gravity = np.array([(0, -9.8, 0.5)], "f4").view("V12")[0, 0]
    return Problem(
        arrays={"bodies": reals(n, 16) - np.float32(0.3)},
        scalars={"n": np.int32(n), "dt": np.float32(0.01)},
        launches=[Launch("step", blocks(n), 256, ("bodies", "n", "dt", gravity))],
        changed=["bodies"],
        tolerance=1e-5,
    )


@case(full=16, quick=2)
def fold(planes: int) -> Problem:
    """Loops that begin and end elsewhere from lane to lane."""
    w, h, size, border, step = 60, 56, 3, 1, 2
    across, down = ((side + 2 * border - size) // step + 1 for side in (w, h))
    names = ("w", "h", "size", "border", "step", "across", "down")
    sizes = map(np.int32, (w, h, size, border, step, across, down))
    n = planes * w * h
    return Problem(
        arrays={"windows": reals(planes * size * size, down, across), "picture": zeros(n)},
        scalars={"planes": np.int32(planes), **dict(zip(names, sizes, strict=True))},
        launches=[Launch("fold", blocks(n, 512), 512, ("windows", "picture", np.int32(n), *names))],
        changed=["picture"],
        tolerance=1e-5,
    )


def packed(rng: np.random.Generator, size: int) -> bytes:
    """Code of so many bytes: literals, and copies of what lies up to 40 bytes back."""
    code, done = bytearray(), 0
    while done < size:
        if done > 40 and size - done >= 3 and rng.random() < 0.6:
            length = min(size - done, int(rng.integers(3, 40)))
            code += bytes([128 + length - 3, int(rng.integers(1, 40))])
        else:
            length = min(size - done, int(rng.integers(1, 12)))
            code += bytes([length - 1]) + rng.integers(97, 123, length).astype("u1").tobytes()
        done += length
    return bytes(code)


@case(full=2048, quick=70)
def lz_decode(count: int) -> Problem:
    size, rng = 512, np.random.default_rng(5)
    parts = [packed(rng, size) for _ in range(count)]
    starts: Array = np.cumsum([0, *map(len, parts)]).astype("i4")
    return Problem(
        arrays={
            "in": np.frombuffer(b"".join(parts), "u1"),
            "starts": starts,
            "out": zeros(count * size, kind="u1"),
        },
        scalars={"size": np.int32(size), "blocks": np.int32(count)},
        launches=[Launch("decode", blocks(count, 128), 128, ("in", "starts", "out", "size", "blocks"))],
        changed=["out"],
    )


@case(full=1024, quick=3)
def welford(rows: int) -> Problem:
    """A quotient for each number, where C goes through a row twice."""
    n = 768
    return Problem(
        arrays={
            "x": reals(rows, n), "factor": reals(n), "summand": reals(n + 1)[1:], "y": zeros(rows, n),
            "kept": zeros(rows, 2),
        },
        scalars={"fours": np.int32(n // 4), "little": np.float32(1e-5), "rows": np.int32(rows)},
        launches=[
            Launch("welford", rows, (32, 4), ("x", "factor", "summand", "y", "kept", "fours", "little"))
        ],
        changed=["y", "kept"],
        tolerance=1e-4,
    )  # fmt: skip
