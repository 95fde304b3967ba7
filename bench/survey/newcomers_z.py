"""Operators as the large open repositories have them, a second helping, written without knowing what the
JIT is good at: pooling, padding, losses, convolutions, pictures and meshes, point clouds, boxes."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, floats, ints, zeros
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
        arrays={
            "x": centred(rng, n, h, w, channels), "grad_output": centred(rng, n, channels, oh, ow), **made,
        },
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
            "input": centred(rng, n, channels, *small), "grad_output": centred(rng, n, channels, *large),
            **made,
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


@case(full=1100, quick=9)
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


FIELDS = "batch dim seqlen silu x_batch x_channel out_batch out_channel"
CONV = np.dtype([(name, "i4") for name in FIELDS.split()])


@case(full=300, quick=3)
def causal_conv(dim: int) -> Problem:
    """Lines of 1472 halves of which 1465 count: a chunk, and less than half of one."""
    batch, seqlen, stride = (2, 1465, 1472) if dim > 10 else (2, 1037, 1040)
    rng = np.random.default_rng(706)
    params = struct(CONV, batch, dim, seqlen, 1, dim * stride, stride, dim * stride, stride)
    made = {
        "out": zeros(batch, dim, stride, kind="f2"), "state": centred(rng, batch, dim, 3, kind="f2"),
        "next": zeros(batch, dim, kind="f2"),
    }  # fmt: skip
    return Problem(
        arrays={
            "x": centred(rng, batch, dim, stride, kind="f2"), "weight": centred(rng, dim, 4) / 2,
            "bias": centred(rng, dim) / 2, "token": centred(rng, batch, dim, kind="f2"), **made,
        },
        scalars=ints("batch dim seqlen stride", batch, dim, seqlen, stride),
        launches=[
            Launch("causal_fwd", (batch, dim), 128, (params, "x", "weight", "bias", "out")),
            Launch(
                "causal_update", (batch, blocks(dim, 64)), 64,
                (params, "token", "state", "weight", "bias", "next"),
            ),
        ],
        changed=[*made],
        tolerance=1e-3,
    )  # fmt: skip


@case(full=50_001, quick=300)
def sh_enc(n: int) -> Problem:
    """Four degrees, of directions of length one."""
    rng = np.random.default_rng(707)
    towards = centred(rng, n, 3, kind="f8")
    towards /= np.sqrt((towards**2).cumsum(-1)[:, 2:])
    made = {"outputs": zeros(n, 16), "dy_dx": zeros(n, 48), "grad_inputs": zeros(n, 3)}
    size = np.uint32(n), np.uint32(3), np.uint32(4)
    return Problem(
        arrays={"inputs": towards.astype("f4"), "grad": centred(rng, n, 16), **made},
        scalars=ints("n", n),
        launches=[
            Launch("sh_forward", blocks(n), 256, ("inputs", "outputs", *size, "dy_dx")),
            Launch("sh_backward", blocks(3 * n), 256, ("grad", "inputs", *size, "dy_dx", "grad_inputs")),
        ],
        changed=[*made],
        tolerance=1e-6,
    )  # fmt: skip


@case(full=60, quick=7)
def diff_interp(side: int) -> Problem:
    """Two sheets of triangles with bumps, one through the other."""
    width, height, numbers = (250, 203, 5) if side > 10 else (37, 26, 3)
    rng = np.random.default_rng(708)
    row, column = np.indices((side, side))
    sheets, depths, triangles = list[Array](), list[Array](), list[Array]()
    for k in range(2):
        step = np.array([width, height]) * 16 * 1.1 / (side - 1)
        place = (
            np.stack([column, row], -1) * step - step + rng.integers(-30, 31, (side, side, 2)) * (side > 10)
        )
        sheets.append(np.rint(place[:, :: 1 - 2 * k] if k else place).reshape(-1, 2))
        depths.append((0.2 + 0.6 * (row if k else column) / side + 0.1 * rng.random((side, side))).ravel())
        a = (row * side + column)[:-1, :-1].ravel() + k * side * side
        triangles += [np.stack([a, a + 1, a + side], -1), np.stack([a + 1, a + side + 1, a + side], -1)]
        if k:
            triangles[-2:] = [each[:, ::-1] for each in triangles[-2:]]
    tri = np.concatenate(triangles)
    rng.shuffle(tri)
    pixels = width * height
    params = struct(
        np.dtype([(name, "i4") for name in ("width", "height", "triangles", "attr")]),
        width, height, len(tri), numbers,
    )  # fmt: skip
    made = {
        "buffer": zeros(pixels, kind="u8"), "rast": zeros(pixels, 4), "out": zeros(pixels, numbers),
        "grad_attr": zeros(2 * side * side, numbers), "grad_rast": zeros(pixels, 2),
    }  # fmt: skip
    grid = (blocks(width, 8), blocks(height, 8))
    return Problem(
        arrays={
            "pos": np.concatenate(sheets).astype("i4"), "depth": np.concatenate(depths).astype("f4"),
            "tri": tri.astype("i4"), "attr": centred(rng, 2 * side * side, numbers),
            "dy": centred(rng, pixels, numbers), **made,
        },
        scalars=ints("width height triangles numbers", width, height, len(tri), numbers),
        launches=[
            Launch("raster_clear", blocks(pixels), 256, ("buffer", np.int32(pixels))),
            Launch("raster_tris", blocks(len(tri), 128), 128, (params, "pos", "depth", "tri", "buffer")),
            Launch("raster_finish", grid, (8, 8), (params, "pos", "tri", "buffer", "rast")),
            Launch("interp_fwd", grid, (8, 8), (params, "tri", "attr", "rast", "out")),
            Launch(
                "interp_grad", grid, (8, 8), (params, "tri", "attr", "rast", "dy", "grad_attr", "grad_rast")
            ),
        ],
        changed=[*made],
        native=("pos", "depth", "tri", "attr", "dy", *made),
        tolerance=1e-5,
        mismatches=1e-3,
    )  # fmt: skip


@case(full=58, quick=9)
def march_tets(side: int) -> Problem:
    """Balls that run into each other, and some that are cut by the border."""
    x, y, z = side, side - 3, side - 2
    rng = np.random.default_rng(709)
    spots: Array = np.moveaxis(np.indices((z, y, x))[::-1], 0, -1) / side
    sdf = np.full((z, y, x), 9.0)
    for _ in range(12):
        away: Array = spots - rng.random(3)
        sdf = np.minimum(sdf, np.sqrt((away**2).cumsum(-1)[..., 2]) - 0.08 - 0.1 * rng.random())
    cubes, room = (x - 1) * (y - 1) * (z - 1), 40 * side * side
    grid = struct(np.dtype([("x", "i4"), ("y", "i4"), ("z", "i4"), ("cell", "f4")]), x, y, z, 1 / side)
    made = {
        "counts": zeros(cubes, kind="i4"), "places": zeros(cubes, kind="i4"), "total": zeros(1, kind="i4"),
        "triangles": zeros(room, 9),
    }  # fmt: skip
    return Problem(
        arrays={"sdf": sdf.astype("f4"), **made},
        scalars={
            **ints("nx ny nz", x, y, z), **floats("cell", 1 / side), **ints("room", room),
        },
        launches=[
            Launch("tets_count", blocks(cubes), 256, ("sdf", grid, np.int32(cubes), "counts")),
            Launch("tets_scan", 1, 1024, ("counts", np.int32(cubes), "places", "total")),
            Launch(
                "tets_emit", blocks(cubes), 256,
                ("sdf", grid, np.int32(cubes), "counts", "places", "triangles", "room"),
            ),
        ],
        changed=[*made],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=600, quick=70)
def emd_auct(n: int) -> Problem:
    """Coordinates in steps of 1/256, whose squares are exact in any order; some points stay alone."""
    clouds, rounds = (3, 12) if n > 100 else (2, 5)
    rng = np.random.default_rng(710)
    pair = [(np.rint(64 * centred(rng, clouds, n, 3, kind="f8")) / 256).astype("f4") for _ in range(2)]
    grid, size = (blocks(n), clouds), np.int32(n)
    made = {
        "assignment": zeros(clouds, n, kind="i4") - np.int32(1),
        "assignment_inv": zeros(clouds, n, kind="i4") - np.int32(1),
        "price": zeros(clouds, n), "dist": zeros(clouds, n), "unassigned": zeros(clouds, kind="i4"),
    }  # fmt: skip
    work = {
        "bid": zeros(clouds, n, kind="i4"), "bid_increments": zeros(clouds, n),
        "max_increments": zeros(clouds, n, kind="u8"),
    }  # fmt: skip
    numbers = {**ints("clouds n", clouds, n), **floats("eps", 1 / 64), **ints("rounds", rounds)}
    both = "xyz1", "xyz2"
    return Problem(
        arrays={**dict(zip(both, pair, strict=True)), **made, **work},
        scalars=numbers,
        launches=[
            *[
                Launch("emd_bid", grid, 256, (size, *both, "eps", "assignment", "price", *work)),
                Launch(
                    "emd_assign", grid, 256, (size, "assignment", "assignment_inv", "price", "max_increments")
                ),
            ] * rounds,
            Launch("emd_cost", grid, 256, (size, *both, "assignment", "dist", "unassigned")),
        ],
        changed=[*made, *work],
        native=(*both, *made),
        tolerance=1e-6,
    )  # fmt: skip


@case(full=1200, quick=43)
def three_nn(n: int) -> Problem:
    """Coordinates in steps of 1/256, so that distances are exact; points are near some known one."""
    b, c, m = (2, 64, n // 4) if n > 100 else (2, 3, n // 4)
    rng = np.random.default_rng(711)
    known = np.rint(128 * centred(rng, b, m, 3, kind="f8")) / 256
    near = known[:, rng.integers(0, m, n)] + np.rint(24 * centred(rng, b, n, 3, kind="f8")) / 256 + 1 / 512
    made = {
        "dist2": zeros(b, n, 3), "idx": zeros(b, n, 3, kind="i4"), "weight": zeros(b, n, 3),
        "out": zeros(b, c, n), "grad_points": zeros(b, c, m),
    }  # fmt: skip
    sb, sc, sn, sm = (np.int32(size) for size in (b, c, n, m))
    grid = (blocks(n), c, b)
    return Problem(
        arrays={
            "unknown": near.astype("f4"), "known": known.astype("f4"), "points": centred(rng, b, c, m),
            "grad_out": centred(rng, b, c, n), **made,
        },
        scalars=ints("b c n m", b, c, n, m),
        launches=[
            Launch("three_nn", (blocks(n), b), 256, (sb, sn, sm, "unknown", "known", "dist2", "idx")),
            Launch("three_weights", blocks(b * n), 256, (np.int32(b * n), "dist2", "weight")),
            Launch("three_interpolate", grid, 256, (sb, sc, sm, sn, "points", "idx", "weight", "out")),
            Launch(
                "three_interpolate_grad", grid, 256,
                (sb, sc, sn, sm, "grad_out", "idx", "weight", "grad_points"),
            ),
        ],
        changed=[*made],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=8000, quick=150)
def hard_voxel(n: int) -> Problem:
    """Pillars of five points at most; more of them than there is room for, and some points outside."""
    features, max_points, max_voxels = 4, 5, n // 5
    rng = np.random.default_rng(712)
    drawn = rng.random(n)
    reach = 2 + 40 * drawn * drawn * drawn
    towards = centred(rng, n, 2, kind="f8")
    towards /= np.sqrt((towards**2).cumsum(-1)[:, 1:])
    points = np.concatenate([towards * reach[:, None], 4.5 * rng.random((n, 1)) - 3, rng.random((n, 1))], 1)
    sizes = floats("vx vy vz mx my mz", 0.5, 0.5, 4, -20, -20, -3)
    cells = ints("gx gy gz", 80, 80, 1)
    count, per = np.int32(n), np.int32(features)
    none = zeros(n, kind="i4") - np.int32(1)
    made = {
        "coors": zeros(n, 3, kind="i4"), "to_voxel": none, "to_point": none, "per_voxel": zeros(n, kind="i4"),
        "coor_to_voxel": none, "voxel_num": zeros(1, kind="i4"),
        "voxels": zeros(max_voxels, max_points, features), "voxel_coors": zeros(max_voxels, 3, kind="i4"),
    }  # fmt: skip
    limits = ints("max_points max_voxels", max_points, max_voxels)
    return Problem(
        arrays={"points": points.astype("f4"), **made},
        scalars={**ints("n features", n, features), **limits, **sizes, **cells},
        launches=[
            Launch("voxel_coors", blocks(n, 512), 512, ("points", "coors", *sizes, *cells, count, per)),
            Launch(
                "point_to_voxelidx", blocks(n, 512), 512,
                ("coors", "to_voxel", "to_point", "max_points", count),
            ),
            Launch(
                "determin_voxel_num", 1, 1,
                ("per_voxel", "to_voxel", "to_point", "coor_to_voxel", "voxel_num", "max_voxels", count),
            ),
            Launch(
                "assign_points", blocks(n * features, 512), 512,
                (
                    np.int32(n * features), "points", "to_voxel", "coor_to_voxel", "coors", "voxels",
                    "voxel_coors", "max_points", per,
                ),
            ),
        ],
        changed=[*made],
    )  # fmt: skip


@case(full=2200, quick=70)
def soft_nms(n: int) -> Problem:
    """Boxes in clusters; ties of scores are rare, but a last bit may put one box before another."""
    classes, keep = (6, 100) if n > 100 else (2, 20)
    rng = np.random.default_rng(713)
    objects = rng.random((classes, 15, 2)) * 500
    which = rng.integers(0, 15, (classes, n))
    middle = np.take_along_axis(objects, which[..., None], 1) + 8 * centred(rng, classes, n, 2, kind="f8")
    half = 20 + 15 * rng.random((classes, n, 2)) + 2 * which[..., None]
    numbers = {
        **ints("n method", n, 2), **floats("sigma iou_threshold min_score", 0.5, 0.3, 0.05),
        **ints("max_keep", keep),
    }  # fmt: skip
    made = {
        "keep": zeros(classes, keep, kind="i4"), "keep_score": zeros(classes, keep),
        "keep_count": zeros(classes, kind="i4"),
    }  # fmt: skip
    return Problem(
        arrays={
            "boxes": np.concatenate([middle - half, middle + half], -1).astype("f4"),
            "scores": rng.random((classes, n)).astype("f4"), **made,
        },
        scalars={**ints("classes", classes), **numbers},
        launches=[Launch("soft_nms", classes, 192, ("boxes", "scores", *numbers, *made), 4 * n)],
        changed=[*made],
        tolerance=1e-5,
        mismatches=0.01,
    )  # fmt: skip


@case(full=16, quick=4)
def dcn_im2col(channels: int) -> Problem:
    """Two groups of channels; places up to some pixels away, a few outside."""
    batch, groups, height, width = (2, 2, 38, 45) if channels > 10 else (1, 2, 7, 9)
    pad, stride, dilation = 2, 1, 2
    oh, ow = height, width
    rng = np.random.default_rng(714)
    plane = oh * ow
    fields = (
        "height width kernel_h kernel_w pad_h pad_w stride_h stride_w dilation_h dilation_w channels "
        "channel_per_group batch groups height_col width_col"
    )
    params = struct(
        np.dtype([(name, "i4") for name in fields.split()]),
        height, width, 3, 3, pad, pad, stride, stride, dilation, dilation, channels, channels // groups,
        batch, groups, oh, ow,
    )  # fmt: skip
    count, columns, offsets = (
        channels * batch * plane,
        channels * 9 * batch * plane,
        batch * groups * 18 * plane,
    )
    made = {
        "col": zeros(channels * 9, batch, oh, ow), "grad_im": zeros(batch, channels, height, width),
        "grad_offset": zeros(batch, groups * 18, oh, ow), "grad_mask": zeros(batch, groups * 9, oh, ow),
    }  # fmt: skip
    given = "offset", "mask", params
    return Problem(
        arrays={
            "im": centred(rng, batch, channels, height, width),
            "offset": centred(rng, batch, groups * 18, oh, ow),
            "mask": rng.random((batch, groups * 9, oh, ow)).astype("f4"),
            "grad_col": centred(rng, channels * 9, batch, oh, ow), **made,
        },
        scalars=ints(
            "batch channels groups height width oh ow pad stride dilation",
            batch, channels, groups, height, width, oh, ow, pad, stride, dilation,
        ),
        launches=[
            Launch("dcn_im2col", blocks(count, 512), 512, (np.int32(count), "im", *given, "col")),
            Launch(
                "dcn_col2im", blocks(columns, 512), 512, (np.int32(columns), "grad_col", *given, "grad_im")
            ),
            Launch(
                "dcn_coord", blocks(offsets, 512), 512,
                (np.int32(offsets), "grad_col", "im", *given, "grad_offset", "grad_mask"),
            ),
        ],
        changed=[*made],
        tolerance=1e-4,
        mismatches=1e-4,
    )  # fmt: skip


@case(full=36, quick=5)
def corr_flow(height: int) -> Problem:
    """A warp a place; 81 displacements of up to eight pixels, of which every second."""
    batch, channels, width, pad, stride2 = (1, 80, 36, 8, 2) if height > 10 else (2, 35, 4, 2, 1)
    rng = np.random.default_rng(715)
    pw, ph, side = width + 2 * pad, height + 2 * pad, 2 * (pad // stride2) + 1
    size = [np.int32(v) for v in (channels, height, width)]
    made = {
        "padded1": zeros(batch, ph, pw, channels), "padded2": zeros(batch, ph, pw, channels),
        "output": zeros(batch, side * side, height, width),
    }  # fmt: skip
    inputs = {name: centred(rng, batch, channels, height, width) for name in ("input1", "input2")}
    grid = (batch, height, width)
    return Problem(
        arrays={**inputs, **made},
        scalars=ints("batch channels height width pad stride2", batch, channels, height, width, pad, stride2),
        launches=[
            *[
                Launch("channels_first", grid, 32, (f"input{k}", f"padded{k}", *size, np.int32(pad)))
                for k in (1, 2)
            ],
            Launch(
                "correlation_forward", grid, 32,
                (
                    "output", np.int32(side * side), *size[1:], "padded1", *size, "padded2", np.int32(pad),
                    np.int32(1), np.int32(pad), np.int32(1), np.int32(stride2),
                ),
            ),
        ],
        changed=[*made],
        tolerance=1e-5,
    )  # fmt: skip
