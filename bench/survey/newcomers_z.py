"""Operators as the large open repositories have them, a second helping, written without knowing what the JIT is
good at: pooling, padding, losses, splats, meshes, point clouds, boxes, quantised weights, columns of data."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, floats, ints, settled, zeros
from survey.newcomers_x import centred, struct


@case(full=300, quick=5)
def adapt_pool(planes: int) -> Problem:
    """Sizes that do not divide; the floats' columns lie one after the other."""
    ih, iw, oh, ow = (57, 61, 9, 13) if planes > 10 else (13, 10, 4, 7)
    rng = np.random.default_rng(701)
    sizes = [np.int32(size) for size in (ih, iw, oh, ow)]
    rows_first = [np.int64(stride) for stride in (ih * iw, iw, 1)]
    columns_first = [np.int64(stride) for stride in (ih * iw, 1, ih)]
    grid = (planes, max(16 // planes, 1))
    return Problem(
        arrays={
            "in_half": centred(rng, planes, ih, iw, kind="f2"), "in_float": centred(rng, planes, iw, ih),
            "grad_output": centred(rng, planes, oh, ow), "out_half": zeros(planes, oh, ow, kind="f2"),
            "out_float": zeros(planes, oh, ow), "grad_input": zeros(planes, ih, iw),
        },
        scalars=ints("planes ih iw oh ow", planes, ih, iw, oh, ow),
        launches=[
            Launch("adapt_half", grid, (32, 8), ("in_half", "out_half", *sizes, *rows_first)),
            Launch("adapt_float", grid, (32, 8), ("in_float", "out_float", *sizes, *columns_first)),
            Launch("adapt_back", grid, (32, 8), ("grad_input", "grad_output", *sizes)),
        ],
        changed=["out_half", "out_float", "grad_input"],
        tolerance=1e-3,
    )  # fmt: skip


@case(full=100, quick=4)
def frac_pool(channels: int) -> Problem:
    """Three by two out of planes that are 1.6 times as large; places drawn for each plane."""
    ih, iw, oh, ow, kh, kw = (63, 80, 40, 50, 3, 2) if channels > 10 else (11, 9, 6, 5, 3, 2)
    batch = 2
    planes, rng = channels * batch, np.random.default_rng(702)
    window = [np.int32(v) for v in (ih, iw, oh, ow, kh, kw)]
    grid, n = (blocks(oh * ow, 128), channels, batch), planes * oh * ow
    made = {
        "output": zeros(planes, oh, ow), "indices": zeros(planes, oh, ow, kind="i8"),
        "unpooled": zeros(planes, ih, iw), "grad_input": zeros(planes, ih, iw),
    }  # fmt: skip
    return Problem(
        arrays={
            "input": centred(rng, planes, ih, iw), "samples": rng.random((planes, 2)).astype("f4"),
            "grad_output": centred(rng, planes, oh, ow), **made,
        },
        scalars=ints("planes ih iw oh ow kh kw", planes, ih, iw, oh, ow, kh, kw),
        launches=[
            Launch("frac_forward", grid, 128, ("input", "samples", "output", "indices", *window)),
            Launch(
                "max_unpool", blocks(n, 512), 512,
                (
                    np.int64(n), "output", "indices", np.int32(channels), np.int32(oh), np.int32(ow),
                    np.int32(ih), np.int32(iw), "unpooled",
                ),
            ),
            Launch(
                "frac_backward", grid, 128,
                ("grad_input", "grad_output", "indices", np.int32(ih * iw), np.int32(oh * ow)),
            ),
        ],
        changed=[*made],
        tolerance=1e-6,
    )  # fmt: skip


def shape_of(sizes: tuple[int, ...], order: tuple[int, ...] = ()) -> np.generic:
    """Sizes and strides; `order`: the dimensions from the slowest on."""
    strides, step = [0] * len(sizes), 1
    for dim in reversed(order or range(len(sizes))):
        strides[dim], step = step, step * sizes[dim]
    return struct(np.dtype([("sizes", "i8", len(sizes)), ("strides", "i8", len(sizes))]), sizes, strides)


@case(full=64, quick=8)
def refl_shuffle(channels: int) -> Problem:
    """Channels last, then first; four pixels out of four channels."""
    n, h, w = (2, 50, 61) if channels > 10 else (2, 5, 7)
    left, right, top, bottom, r = 3, 2, 4, 1, 2
    oh, ow, out_c = h + top + bottom, w + left + right, channels // (r * r)
    rng = np.random.default_rng(703)
    inner = shape_of((n, channels, h, w), (0, 2, 3, 1))
    outer, large = shape_of((n, channels, oh, ow)), shape_of((n, out_c, oh * r, ow * r))
    grid, pads = (blocks(oh * ow), channels, n), (np.int32(left), np.int32(top))
    made = {
        "padded": zeros(n, channels, oh, ow), "grad_input": zeros(n, h, w, channels),
        "shuffled": zeros(n, out_c, oh * r, ow * r),
    }  # fmt: skip
    return Problem(
        arrays={"x": centred(rng, n, h, w, channels), "grad_output": centred(rng, n, channels, oh, ow), **made},
        scalars=ints("n c h w pad_l pad_t oh ow r", n, channels, h, w, left, top, oh, ow, r),
        launches=[
            Launch("reflect_out", grid, 256, ("x", "padded", inner, outer, *pads)),
            Launch("reflect_back", grid, 256, ("grad_input", "grad_output", inner, outer, *pads)),
            Launch(
                "pixel_shuffle", min(blocks(n * channels * oh * ow), 400), 256,
                ("padded", "shuffled", outer, large, np.int32(r)),
            ),
        ],
        changed=[*made],
        tolerance=1e-6,
    )  # fmt: skip


VOLUME = np.dtype(
    [("n", "i4"), ("c", "i4"), ("t", "i4"), ("h", "i4"), ("w", "i4"), ("stride", "i8", 5)], align=True
)


@case(full=24, quick=3)
def tri_up(channels: int) -> Problem:
    """Not quite twice as large; the first launch holds the corners where they are, and so does C."""
    n, small, large = (2, (8, 14, 17), (15, 28, 30)) if channels > 10 else (1, (2, 3, 4), (3, 5, 7))
    rng = np.random.default_rng(704)

    def volume(sizes: tuple[int, int, int]) -> np.generic:
        t, h, w = sizes
        return struct(VOLUME, n, channels, t, h, w, (channels * t * h * w, t * h * w, h * w, w, 1))

    scales = floats("rt rh rw", *((a - 1) / (b - 1) for a, b in zip(small, large, strict=True)))
    count = int(np.prod(large))
    made = {"output": zeros(n, channels, *large), "grad_input": zeros(n, channels, *small)}
    flag = np.bool_(True)
    return Problem(
        arrays={
            "input": centred(rng, n, channels, *small), "grad_output": centred(rng, n, channels, *large), **made
        },
        scalars={
            **ints("planes it ih iw ot oh ow", n * channels, *small, *large), **scales, **ints("align", 1)
        },
        launches=[
            Launch(
                "tri_forward", blocks(count, 512), 512,
                (np.int32(count), *scales, flag, "input", volume(small), "output", volume(large)),
            ),
            Launch(
                "tri_backward", blocks(count, 256), 256,
                (np.int32(count), *scales, flag, "grad_input", volume(small), "grad_output", volume(large)),
            ),
        ],
        changed=[*made],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=700, quick=9)
def margin_loss(rows: int) -> Problem:
    """A thousand classes, one right or up to six."""
    dim = 1000 if rows > 100 else 45
    rng = np.random.default_rng(705)
    drawn = rng.random((rows, dim)).argsort(1)
    targets = np.where(np.arange(dim) < rng.integers(0, 7, rows)[:, None], drawn, -1)
    numbers = {**ints("rows dim", rows, dim), **floats("margin", 1)}
    made = {
        "out1": zeros(rows), "out2": zeros(rows), "grad2": zeros(rows, dim), "is_target": zeros(rows, dim),
        "out_multi": zeros(rows), "grad_multi": zeros(rows, dim),
    }  # fmt: skip
    return Problem(
        arrays={
            "input": centred(rng, rows, dim), "target": rng.integers(0, dim, rows),
            "weights": (0.5 + rng.random(dim)).astype("f4"), "grad_output": centred(rng, rows),
            "targets": targets.astype("i8"), **made,
        },
        scalars=numbers,
        launches=[
            Launch("margin_p1", rows, 128, ("out1", "input", "target", "weights", *numbers)),
            Launch("margin_p2", rows, 128, ("out2", "input", "target", *numbers)),
            Launch(
                "margin_p2_back", rows, 128,
                ("grad2", "grad_output", "input", "target", "weights", "dim", "margin"),
            ),
            Launch(
                "multilabel_margin", rows, 128,
                ("out_multi", "grad_multi", "input", "targets", "is_target", "dim"),
            ),
        ],
        changed=[*made],
        tolerance=1e-5,
    )  # fmt: skip
