"""Pictures, grids and rows whose threads test whether their neighbours lie inside."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Extents, Launch, Problem, Scalar, blocks

from survey.case import case, integers, reals, zeros


def numbers(**values: int) -> dict[str, Scalar]:
    scalars: dict[str, Scalar] = {}
    scalars.update((name, np.int32(value)) for name, value in values.items())
    return scalars


def problem(
    kernel: str,
    grid: Extents,
    block: Extents,
    arrays: dict[str, Array],
    scalars: dict[str, Scalar],
    out: int = 1,
) -> Problem:
    """The last arrays, `out` of them, are the results."""
    return Problem(
        arrays=arrays,
        scalars=scalars,
        launches=[Launch(kernel, grid, block, (*arrays, *scalars))],
        changed=[*arrays][-out:],
        tolerance=1e-5,
    )


def picture(
    kernel: str, x: int, y: int, arrays: dict[str, Array], before: dict[str, Scalar], **after: int
) -> Problem:
    """A thread for each pixel of the last array, in CTAs of `x` x `y`; `before` and `after` its extents."""
    h, w = [*arrays.values()][-1].shape
    scalars = {**before, **numbers(w=w, h=h, **after)}
    return problem(kernel, (blocks(w, x), blocks(h, y)), (x, y), arrays, scalars)


@case(full=1 << 20, quick=3000)
def conv1d_same(n: int) -> Problem:
    arrays = {"in": reals(n), "mask": reals(11), "out": zeros(n)}
    return problem("conv1d_same", blocks(n), 256, arrays, numbers(n=n, width=11))


@case(full=700, quick=45)
def conv2d_basic(w: int) -> Problem:
    arrays = {"in": reals(w - 19, w), "filter": reals(5, 5), "out": zeros(w - 19, w)}
    return picture("conv2d_basic", 16, 16, arrays, numbers(r=2))


@case(full=700, quick=45)
def conv5_unrolled(w: int) -> Problem:
    arrays = {"in": reals(w - 19, w), "f": reals(5, 5), "out": zeros(w - 19, w)}
    return picture("conv5_unrolled", 16, 16, arrays, {})


@case(full=1 << 19, quick=3000)
def range64(n: int) -> Problem:
    scalars: dict[str, Scalar] = {"n": np.int64(n), "r": np.int32(5)}
    return problem("range64", blocks(n), 256, {"in": reals(n), "out": zeros(n)}, scalars)


@case(full=700, quick=75)
def box_count(w: int) -> Problem:
    arrays = {"in": integers(0, 256, w - 20, w, kind="u1"), "out": zeros(w - 20, w, kind="u1")}
    return picture("box_count", 32, 8, arrays, {}, size=2)


@case(full=64, quick=13)
def conv_nchw(w: int) -> Problem:
    """Two pictures with eight channels, eight filters of 3 x 3."""
    n, c, h = 2, 8, w - 3
    arrays = {"x": reals(n, c, h, w), "weight": reals(c, c, 3, 3), "bias": reals(c), "y": zeros(n, c, h, w)}
    scalars = numbers(n=n, ci=c, h=h, w=w, co=c, k=3, pad=1)
    return problem("conv_nchw", blocks(n * c * h * w), 256, arrays, scalars)


@case(full=112, quick=23)
def maxpool_pad(w: int) -> Problem:
    """Sixteen planes."""
    p, h, oh, ow = 16, w - 2, (w - 1) // 2, (w + 1) // 2
    arrays = {"x": reals(p, h, w), "y": zeros(p, oh, ow), "where": zeros(p, oh, ow, kind="i4")}
    scalars = numbers(planes=p, h=h, w=w, oh=oh, ow=ow)
    return problem("maxpool_pad", (blocks(ow, 32), blocks(oh, 8), p), (32, 8), arrays, scalars, out=2)


@case(full=1024, quick=75)
def nms_edges(w: int) -> Problem:
    h = w - 30
    arrays = {"mag": reals(h, w), "dir": integers(0, 4, h, w, kind="u1"), "out": zeros(h, w)}
    return picture("nms_edges", 16, 16, arrays, {})


@case(full=1024, quick=75)
def flood(w: int) -> Problem:
    h = w - 30
    label = np.arange(h * w, dtype="i4").reshape(h, w)
    arrays = {"colour": integers(0, 2, h, w), "label": label, "next": zeros(h, w, kind="i4")}
    return picture("flood", 32, 8, arrays, {})


@case(full=700, quick=75)
def dilate(w: int) -> Problem:
    h = w - 30
    shape = integers(0, 2, 7, 7, kind="u1")
    arrays = {"in": integers(0, 256, h, w, kind="u1"), "shape": shape, "out": zeros(h, w, kind="u1")}
    return picture("dilate", 32, 8, arrays, {})


@case(full=1000, quick=45)
def life_edge(w: int) -> Problem:
    h = w - 30
    return picture("life_edge", 16, 16, {"in": integers(0, 2, h, w), "out": zeros(h, w, kind="i4")}, {})


@case(full=1000, quick=45)
def wave_bc(w: int) -> Problem:
    h = w - 30
    arrays = {"u": reals(h, w), "before": reals(h + 1, w)[1:], "next": zeros(h, w)}
    scalars: dict[str, Scalar] = {**numbers(w=w, h=h), "c": np.float32(0.4)}
    return problem("wave_bc", (blocks(w, 32), blocks(h, 8)), (32, 8), arrays, scalars)


@case(full=1000, quick=45)
def integral_box(w: int) -> Problem:
    """A table of sums of bytes."""
    h = w - 30
    sums = integers(0, 256, h, w, kind="u4").cumsum(0, dtype="u4").cumsum(1, dtype="u4")
    return picture("integral_box", 16, 16, {"sums": sums, "out": zeros(h, w)}, {}, r=4)
