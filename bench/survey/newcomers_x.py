"""Operators as the large open repositories have them, written without knowing what the JIT is good at: norms,
indexing, sampling, optimisers, attention, rendering, point clouds, columns of data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, floats, ints, settled, zeros


def struct(kind: np.dtype[np.void], *values: object) -> np.generic:
    """A parameter that is a struct."""
    return np.array([values], kind)[0]


def centred(rng: np.random.Generator, *shape: int, kind: str = "f4") -> Array:
    """Sums of four even numbers, about as the normal distribution has them."""
    return ((rng.random((4, *shape)).cumsum(0)[3] - 2) * 1.5).astype(kind)


@case(full=56, quick=7)
def bn_welford(side: int) -> Problem:
    """A channel's block of 32 x 16 threads; images that the rows of threads do not share evenly."""
    batch, channels, plane = (12, 50, side * side) if side > 10 else (3, 5, side * side)
    rng = np.random.default_rng(601)
    layout = struct(
        np.dtype([("size", "i4", 3), ("stride", "i4", 3)]),
        (batch, channels, plane),
        (channels * plane, plane, 1),
    )
    shape = batch, channels, plane
    numbers = floats("eps momentum", 1e-5, 0.1)
    saved = "save_mean", "save_invstd"
    made = {name: zeros(*shape) for name in ("output", "grad_input")}
    made |= {name: zeros(channels) for name in saved}
    running = {"running_mean": zeros(channels), "running_var": zeros(channels) + 1}
    grads = {"grad_weight": zeros(channels), "grad_bias": zeros(channels)}
    return Problem(
        arrays={
            "input": centred(rng, *shape) + 3 * centred(rng, channels, 1),
            "grad_output": centred(rng, *shape),
            "weight": (rng.random(channels) + 0.5).astype("f4"), "bias": centred(rng, channels),
            **made, **running, **grads,
        },
        scalars={**ints("batch channels plane", *shape), **numbers},
        launches=[
            Launch("bn_collect", channels, (32, 16), ("input", layout, *numbers, *saved, *running)),
            Launch(
                "bn_transform", (channels, 2), (64, 4), ("input", "output", layout, *saved, "weight", "bias")
            ),
            Launch(
                "bn_backward", channels, (32, 16),
                ("input", "grad_output", "grad_input", layout, *saved, "weight", *grads),
            ),
        ],
        changed=[*made, *running, *grads],
        tolerance=1e-4,
    )  # fmt: skip


@case(full=48, quick=5)
def gn_nhwc(side: int) -> Problem:
    """Ten channels a group, two a thread: a warp's threads add to several groups."""
    n, hw, c = (2, side * side, 320) if side > 10 else (2, side * side, 60)
    groups, each = c // 10, 20 if side > 10 else 7
    rng = np.random.default_rng(602)
    fields = "n hw c groups channels_per_group hw_per_block with_silu"
    kind = np.dtype([(name, "i4") for name in fields.split()] + [("inv_count", "f4"), ("eps", "f4")])
    params = struct(kind, n, hw, c, groups, 10, each, 1, 1 / (10 * hw), 1e-5)
    grid, threads = (blocks(hw, each), n), 160 if c == 320 else 32
    return Problem(
        arrays={
            "src": (centred(rng, n, hw, c) + centred(rng, c)).astype("f2"), "dst": zeros(n, hw, c, kind="f2"),
            "gamma": (0.5 + rng.random(c)).astype("f4"), "beta": centred(rng, c), "red": zeros(n, 2, groups),
        },
        scalars={**ints("n hw c groups", n, hw, c, groups), **floats("eps", 1e-5)},
        launches=[
            Launch("gn_zero", blocks(2 * n * groups), 256, ("red", np.int32(2 * n * groups))),
            Launch("gn_sum", grid, threads, ("src", "red", params), 8 * groups),
            Launch("gn_scale", grid, threads, ("src", "dst", "red", "gamma", "beta", params)),
        ],
        changed=["dst", "red"],
        native=("src", "dst", "gamma", "beta"),
        tolerance=1e-3,
    )  # fmt: skip


@case(full=2000, quick=21)
def rms_back(rows: int) -> Problem:
    """Rows by float4, then 32 columns at a time."""
    hidden, strip = (1100, 64) if rows > 100 else (76, 8)
    rng = np.random.default_rng(603)
    shape, strips, four = (rows, hidden), blocks(rows, strip), np.int32(hidden // 4)
    eps = floats("eps", 1e-6)
    return Problem(
        arrays={
            "x": centred(rng, *shape), "dy": centred(rng, *shape), "weight": 1 + centred(rng, hidden) / 4,
            "y": zeros(*shape), "rstd": zeros(rows), "dx": zeros(*shape), "dw": zeros(hidden),
            "part": zeros(strips, hidden),
        },
        scalars={**ints("rows hidden", *shape), **eps},
        launches=[
            Launch("rms_forward", rows, 128, ("x", "weight", "y", "rstd", four, "eps")),
            Launch("rms_grad_x", rows, 128, ("dy", "x", "weight", "rstd", "dx", four)),
            Launch(
                "rms_part_w", (blocks(hidden, 32), strips), (32, 8),
                ("dy", "x", "rstd", "part", "rows", "hidden", np.int32(strip)),
            ),
            Launch("rms_final_w", blocks(hidden, 128), 128, ("part", "dw", np.int32(strips), "hidden")),
        ],
        changed=["y", "rstd", "dx", "dw", "part"],
        native=("x", "dy", "weight", "y", "rstd", "dx", "dw"),
        tolerance=1e-5,
    )  # fmt: skip


@case(full=3000, quick=37)
def embed_bag(bags: int) -> Problem:
    """Favourite words, bags of none to forty, rows longer than the features."""
    words, features, stride = bags * 3, 70, 72
    rng = np.random.default_rng(604)
    sizes = rng.integers(0, 41, bags)
    offsets = sizes.cumsum() - sizes
    total = int(sizes.sum())
    drawn = rng.random(total)
    indices = (words * drawn * drawn * drawn).astype("i8")
    size: dict[str, np.generic] = {
        "indices": np.int64(total), "bags": np.int64(bags), "features": np.int32(features),
        "stride": np.int64(stride), "padding": np.int64(1),
    }  # fmt: skip
    grid, block, names = min(blocks(bags, 4), 300), (32, 8), ("input", "offsets", "weight")
    return Problem(
        arrays={
            "input": indices, "offsets": offsets.astype("i8"), "weight": centred(rng, words, stride),
            "per_sample": (rng.random(total) + 0.5).astype("f4"),
            **{name: zeros(bags, features) for name in ("sums", "means", "maxima")},
            "bag_size": zeros(bags, kind="i8"), "max_indices": zeros(bags, features, kind="i8"),
        },
        scalars=size,
        launches=[
            Launch("bag_sum", grid, block, (*names, "sums", "bag_size", "per_sample", *size)),
            Launch("bag_mean", grid, block, (*names, "means", "bag_size", *size)),
            Launch("bag_max", grid, block, (*names, "maxima", "bag_size", "max_indices", *size)),
        ],
        changed=["sums", "means", "maxima", "bag_size", "max_indices"],
        tolerance=1e-5,
    )  # fmt: skip


def calculator(sizes: Sequence[int], strides: Sequence[Sequence[int]]) -> np.generic:
    """Divisors and strides in bytes of each argument, from the fastest dimension on."""
    divider = np.dtype([("divisor", "u4"), ("magic", "u4"), ("shift", "u4")])
    args = len(strides[0])
    kind = np.dtype([("dims", "i4"), ("sizes", divider, 6), ("strides", "u4", (6, args))])
    made = np.zeros(1, kind)
    made["dims"] = len(sizes)
    for k, (size, row) in enumerate(zip(sizes, strides, strict=True)):
        shift = (size - 1).bit_length()
        magic = (1 << 32) * ((1 << shift) - size) // size + 1
        made["sizes"][0, k] = size, magic, shift
        made["strides"][0, k] = row
    return made[0]


@case(full=240, quick=5)
def tensor_iter(d1: int) -> Problem:
    """Four dimensions, three of which are not the power of two that division likes."""
    d3, d2, d0 = (5, 21, 60) if d1 > 10 else (2, 3, 7)
    n = d3 * d2 * d1 * d0
    rng = np.random.default_rng(605)
    scalars: dict[str, np.generic] = {
        **ints("d3 d2 d1 d0", d3, d2, d1, d0), **floats("value", 0.75), "other": np.float64(-1),
    }  # fmt: skip
    addcmul = calculator(
        (d0, d1, d2, d3),
        [
            (4, 4 * d1, 4, 0), (4 * d0, 4, 4 * d0, 4), (4 * d1 * d0, 4 * d1 * d0, 0, 4 * d1),
            (4 * d2 * d1 * d0, 4 * d2 * d1 * d0, 4 * d1 * d0, 0),
        ],
    )  # fmt: skip
    where = calculator(
        (d0, d1, d2, d3),
        [
            (8, 0, 4), (8 * d2 * d0, 1, 4 * d0), (8 * d0, d1, 4 * d1 * d0),
            (8 * d2 * d1 * d0, 0, 4 * d2 * d1 * d0),
        ],
    )  # fmt: skip
    grid, count = blocks(n, 512), np.int32(n)
    return Problem(
        arrays={
            "self": centred(rng, d3, d2, d0, d1), "t1": centred(rng, d3, d1, d0), "t2": centred(rng, d2, d1),
            "mask": rng.integers(0, 2, (d2, d1)).astype("u1"), "out": zeros(d3, d2, d1, d0),
            "chosen": zeros(d3, d1, d2, d0, kind="f8"),
        },
        scalars=scalars,
        launches=[
            Launch("iter_addcmul", grid, 128, ("out", "self", "t1", "t2", count, "value", addcmul)),
            Launch("iter_where", grid, 128, ("chosen", "mask", "out", count, "other", where)),
        ],
        changed=["out", "chosen"],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=150, quick=37)
def logcumsum(rows: int) -> Problem:
    """Rows of 16 threads in lists of 32; then the same numbers as three dimensions."""
    cols, outer, inner = (2000, 3, 500) if rows > 100 else (70, 1, 35)
    rng = np.random.default_rng(606)
    kinds = {name: np.uint32(value) for name, value in (("num_rows", rows), ("row_size", cols))}
    down = [np.uint32(value) for value in (outer, inner, rows // outer * cols // inner)]
    return Problem(
        arrays={
            "src": 3 * centred(rng, rows, cols), "sums": zeros(rows, cols), "values": zeros(rows, cols),
            "places": zeros(rows, cols, kind="i8"),
        },
        scalars=ints("rows cols outer inner", rows, cols, outer, inner),
        launches=[
            Launch("logcumsum", blocks(rows, 32), (16, 32), ("sums", "src", *kinds.values())),
            Launch(
                "cummax_outer", (outer, blocks(inner, 512)), min(512, inner),
                ("src", "values", "places", *down),
            ),
        ],
        changed=["sums", "values", "places"],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=120, quick=5)
def cdist_p(r1: int) -> Problem:
    """A block a pair: most of its threads have one or two differences."""
    r2, m = r1 + 13, 100 if r1 > 10 else 37
    rng = np.random.default_rng(607)
    size: dict[str, np.generic] = {
        "p": np.float32(3.5), "r1": np.int64(r1), "r2": np.int64(r2), "m": np.int64(m)
    }  # fmt: skip
    made = {name: zeros(r1, r2) for name in ("one", "two", "general", "inf")}
    return Problem(
        arrays={
            "x1": centred(rng, r1, m), "x2": centred(rng, r2, m), "grad": centred(rng, r1, r2), **made,
            "gx": zeros(r1, m),
        },
        scalars=size,
        launches=[
            *[Launch(f"cdist_{name}", r1 * r2, 64, (name, "x1", "x2", *size)) for name in made],
            Launch(
                "cdist_two_backward", (blocks(m, 32), blocks(r1, 8)), (32, 8),
                ("gx", "grad", "x1", "x2", "two", "r1", "r2", "m"),
            ),
        ],
        changed=[*made, "gx"],
        tolerance=1e-4,
    )  # fmt: skip


@case(full=32, quick=7)
def grid3d(w: int) -> Problem:
    """A grid that is a little turned and larger than the volume; three ways to go on outside of it."""
    n, c, d, h = 2, 5, w - 3, w + 2
    od, oh, ow = w - 2, w, w + 1
    points = od * oh * ow
    rng = np.random.default_rng(608)
    z, y, x = np.mgrid[:od, :oh, :ow]
    place = np.stack(
        [x * 2.4 / ow - 1.2 + y * 0.1 / oh, y * 2.4 / oh - 1.25, z * 2.4 / od - 1.15 - x * 0.1 / ow], -1
    )
    grid = (place + 0.1 * (rng.random((n, od, oh, ow, 3)) - 0.5)).astype("f4")
    kind = np.dtype([("sizes", "i4", 5), ("strides", "i4", 5)])

    def info(*sizes: int) -> np.generic:
        return struct(kind, sizes, [int(np.prod(sizes[k + 1 :])) for k in range(5)])

    infos = info(n, c, d, h, w), info(n, od, oh, ow, 3), info(n, c, od, oh, ow)
    made = {name: zeros(n, c, od, oh, ow) for name in ("border", "mirrored", "nearest")}
    choices = ((0, 1, 1), (0, 2, 0), (1, 0, 0))
    return Problem(
        arrays={"input": centred(rng, n, c, d, h, w), "grid": grid, **made},
        scalars=ints("n c d h w points", n, c, d, h, w, points),
        launches=[
            Launch(
                "grid3d", blocks(n * points, 512), 512,
                (np.int32(n * points), "input", "grid", out, *infos, *(np.int32(k) for k in choice)),
            )
            for out, choice in zip(made, choices, strict=True)
        ],
        changed=[*made],
        tolerance=1e-4,
        mismatches=1e-3,
    )  # fmt: skip


@case(full=120, quick=17)
def col2im_dil(width: int) -> Problem:
    """Steps of two and holes of one: two of three places of a kernel are no pixel's."""
    channels, height = (24, width - 9) if width > 30 else (3, width - 4)
    kh, kw, ph, pw, sh, sw, dh, dw = 3, 4, 2, 3, 1, 2, 2, 3
    hc = (height + 2 * ph - dh * (kh - 1) - 1) // sh + 1
    wc = (width + 2 * pw - dw * (kw - 1) - 1) // sw + 1
    rng = np.random.default_rng(609)
    size = ints(
        "height width kh kw ph pw sh sw dh dw hc wc", height, width, kh, kw, ph, pw, sh, sw, dh, dw, hc, wc
    )
    columns, pixels = channels * hc * wc, channels * height * width
    return Problem(
        arrays={
            "im": centred(rng, channels, height, width, kind="f2"),
            "cols": centred(rng, channels, kh, kw, hc, wc),
            "unfolded": zeros(channels, kh, kw, hc, wc, kind="f2"), "folded": zeros(channels, height, width),
        },
        scalars={**ints("channels", channels), **size},
        launches=[
            Launch("im2col_half", blocks(columns, 512), 512, (np.int32(columns), "im", *size, "unfolded")),
            Launch("col2im_float", blocks(pixels, 512), 512, (np.int32(pixels), "cols", *size, "folded")),
        ],
        changed=["unfolded", "folded"],
        tolerance=1e-6,
    )  # fmt: skip


@case(full=130, quick=11)
def bicubic_up(in_w: int) -> Problem:
    """About twice as large; edges are held."""
    planes, in_h = 6, in_w * 3 // 4
    out_w, out_h = in_w * 2 + 7, in_h * 2 - 3
    rng = np.random.default_rng(610)
    scale = floats("height_scale width_scale", in_h / out_h, in_w / out_w)
    size = ints("planes in_h in_w out_h out_w", planes, in_h, in_w, out_h, out_w)
    pixels, no, inner = np.int32(out_h * out_w), np.int32(0), planes * in_h * in_w
    grid = blocks(out_h * out_w, 512)
    return Problem(
        arrays={
            "idata": centred(rng, planes, in_h, in_w), "grad_out": centred(rng, planes, out_h, out_w),
            "odata": zeros(planes, out_h, out_w), "grad_in": zeros(planes, in_h, in_w),
        },
        scalars={**scale, **size},
        launches=[
            Launch("bicubic_up", grid, 512, (pixels, *scale, no, "idata", "odata", *size)),
            Launch("bicubic_zero", min(64, blocks(inner)), 256, ("grad_in", np.int32(inner))),
            Launch("bicubic_backward", grid, 512, (pixels, *scale, no, "grad_in", "grad_out", *size)),
        ],
        changed=["odata", "grad_in"],
        tolerance=1e-4,
    )  # fmt: skip


@case(full=1500, quick=5)
def drop_add_ln(rows: int) -> Problem:
    """Rows of 768 halves for warps, which go on to other rows with their generators."""
    cols, grid = 768, 96 if rows > 100 else 1
    rng = np.random.default_rng(611)
    size: dict[str, np.generic] = {
        "rows": np.int32(rows), "keep_below": np.uint32(0xE6666666), **floats("scale eps", 1 / 0.9, 1e-5),
        "seed": np.uint64(0x1234567890ABCDEF),
    }  # fmt: skip
    ins = {name: centred(rng, rows, cols, kind="f2") for name in ("x0", "residual")}
    ins |= {"gamma": (0.5 + rng.random(cols)).astype("f2"), "beta": centred(rng, cols, kind="f2")}
    made = {
        "x": zeros(rows, cols, kind="f2"), "z": zeros(rows, cols, kind="f2"),
        "dmask": zeros(rows, cols, kind="u1"), "mu": zeros(rows), "rs": zeros(rows),
    }  # fmt: skip
    return Problem(
        arrays={**ins, **made},
        scalars={**size, "groups": np.int32(4 * grid)},
        launches=[Launch("drop_add_ln", grid, 128, (*ins, *made, *size))],
        changed=[*made],
        tolerance=1e-3,
    )


TABLE = np.dtype(
    [
        ("start", "i8", 36),
        ("sizes", "i8", 36),
        ("block_to_tensor", "u1", 320),
        ("block_to_chunk", "i4", 320),
        ("first_block", "i4"),
    ],
    align=True,
)


@case(full=280, quick=10)
def mt_clip(width: int) -> Problem:
    """Three layers of a transformer and an odd tensor; a table holds 320 blocks."""
    chunk = 2048 if width > 100 else 256
    layer = (3 * width * width, 3 * width, width * width, width, 4 * width * width, 4 * width, width)
    sizes = [width * 17 + 3, *layer * 3, 1, width * 9]
    starts = [0]
    for size in sizes:
        starts.append(-(-(starts[-1] + size) // 4) * 4)
    pieces = [(t, k) for t, size in enumerate(sizes) for k in range(blocks(size, chunk))]
    rng = np.random.default_rng(612)
    room = starts[-1] + 4
    tables = list[tuple[int, np.generic]]()
    for first in range(0, len(pieces), 320):
        part = pieces[first : first + 320]
        table = np.zeros(1, TABLE)
        table["start"][0, : len(sizes)], table["sizes"][0, : len(sizes)] = starts[:-1], sizes
        table["block_to_tensor"][0, : len(part)] = [t for t, _ in part]
        table["block_to_chunk"][0, : len(part)] = [k for _, k in part]
        table["first_block"] = first
        tables.append((len(part), table[0]))
    numbers, each = floats("max_norm lr eps decay", 2, 0.01, 1e-8, 0.1), np.int32(chunk)
    return Problem(
        arrays={
            "grads": centred(rng, room), "start": np.array(starts[:-1], "i8"), "sizes": np.array(sizes, "i8"),
            "params": centred(rng, room), "state": (rng.random(room) / 1000).astype("f4"), "norm": zeros(1),
            "partial": zeros(len(pieces)),
        },
        scalars={**ints("tensors", len(sizes)), **numbers},
        launches=[
            *[Launch("mt_norm", count, 512, ("grads", table, each, "partial")) for count, table in tables],
            Launch("mt_norm_final", 1, 512, ("partial", "norm", np.int32(len(pieces)))),
            *[
                Launch(
                    "mt_adagrad", count, 512,
                    ("grads", "params", "state", table, each, "norm", *numbers, np.int32(1)),
                )
                for count, table in tables
            ],
        ],
        changed=["params", "state", "norm", "partial"],
        native=("grads", "start", "sizes", "params", "state", "norm"),
        tolerance=1e-5,
    )  # fmt: skip


def dynamic_map(signed: bool) -> Array:
    """256 sorted numbers in [-1, 1] or [0, 1], denser near zero: an exponent and a linear part."""
    powers = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
    parts = list[float]()
    for k, power in enumerate(powers):
        steps = 2 ** (k + (0 if signed else 1))
        parts += [power * (0.1 + 0.9 * (j + 0.5) / steps) for j in range(steps)]
    values = [0.0, 1.0, *parts, *([-part for part in parts] if signed else [])]
    return np.sort(np.array(values)).astype("f4")


@case(full=150_001, quick=2100)
def adam8(n: int) -> Problem:
    """The last of the blocks of 2048 is not full, nor its last thread's eight."""
    count = blocks(n, 2048)
    rng = np.random.default_rng(613)
    numbers = floats(
        "beta1 beta2 eps step_size correction2 decay lr", 0.9, 0.999, 1e-8, -3e-3, 0.1, 0.01, 1e-3
    )
    signed, positive = dynamic_map(True), dynamic_map(False)
    assert len(signed) == len(positive) == 256
    names = ("p", "g", "state1", "state2", "absmax1", "absmax2", "quantiles1", "quantiles2")
    return Problem(
        arrays={
            "p": centred(rng, n), "g": centred(rng, n) / 100,
            "state1": (128 + 40 * centred(rng, n)).clip(0, 255).astype("u1"),
            "state2": (130 + 40 * centred(rng, n)).clip(30, 255).astype("u1"),
            "absmax1": 0.01 * (1 + rng.random(count)).astype("f4"),
            "absmax2": 1e-4 * (1 + rng.random(count)).astype("f4"),
            "quantiles1": signed, "quantiles2": positive,
        },
        scalars={**numbers, **ints("n", n)},
        launches=[Launch("adam8", count, 256, (*names, *numbers, "n"))],
        changed=["p", "state1", "state2", "absmax1", "absmax2"],
        tolerance=1e-5,
        mismatches=2e-3,
    )  # fmt: skip


@case(full=20, quick=3)
def paged_attn(seqs: int) -> Problem:
    """Sequences of any lengths whose pages lie anywhere; four heads share keys and values."""
    heads, kv_heads, dim, page, longest = (16, 4, 64, 16, 900) if seqs > 5 else (4, 1, 64, 16, 150)
    rng = np.random.default_rng(614)
    lens = rng.integers(longest // 9, longest, seqs)
    most = blocks(longest, page)
    pages = seqs * most + 5
    tables = rng.permutation(pages)[: seqs * most].reshape(seqs, most)
    room = np.int32(heads * dim), np.int32(kv_heads * dim * page), np.int32(dim * page)
    arrays = {
        "q": centred(rng, seqs, heads, dim, kind="f2"),
        "k_cache": centred(rng, pages, kv_heads, dim // 8, page, 8, kind="f2"),
        "v_cache": centred(rng, pages, kv_heads, dim, page, kind="f2"),
        "tables": tables.astype("i4"), "lens": lens.astype("i4"),
        "slopes": (1 / 2 ** np.arange(1, heads + 1)).astype("f4"), "out": zeros(seqs, heads, dim, kind="f2"),
    }  # fmt: skip
    return Problem(
        arrays=arrays,
        scalars={**ints("seqs heads kv_heads most", seqs, heads, kv_heads, most), **floats("scale", 0.125)},
        launches=[
            Launch(
                "paged_attn", (heads, seqs), 128,
                (
                    "out", "q", "k_cache", "v_cache", "kv_heads", "scale", "tables", "lens", "most", "slopes",
                    *room,
                ),
                max(4 * most * page, 4 * 2 * dim),
            )
        ],
        changed=["out"],
        tolerance=1e-3,
    )  # fmt: skip


@case(full=60, quick=3)
def vander_s4(heads: int) -> Problem:
    """Exponentials of complex numbers, 32 each, that fade and turn at different speeds."""
    n, length = 32, 500 if heads > 10 else 75
    rng = np.random.default_rng(615)
    dt = 0.001 + 0.05 * rng.random((heads, 1))
    a = np.stack([-0.5 - 0.1 * rng.random((heads, n)), 3.0 * np.arange(n) + rng.random((heads, n))], -1)
    size = ints("heads length", heads, length)
    return Problem(
        arrays={
            "c": centred(rng, heads, n, 2), "dt_a": (dt[..., None] * a).astype("f4"),
            "dk": centred(rng, heads, length), "k": zeros(heads, length), "dc": zeros(heads, n, 2),
        },
        scalars=size,
        launches=[
            Launch("vander_forward", (blocks(length, 128), heads), 128, ("c", "dt_a", "k", *size)),
            Launch("vander_backward", heads, 256, ("dk", "dt_a", "dc", *size)),
        ],
        changed=["k", "dc"],
        tolerance=1e-4,
    )  # fmt: skip


@case(full=14_000, quick=50)
def comp_back(n: int) -> Problem:
    """Rays of none to eighty samples in another order than their numbers; many end in something thick."""
    rng = np.random.default_rng(616)
    counts = rng.integers(0, 81, n) * rng.integers(0, 5, n) // 4
    start = counts.cumsum() - counts
    total = int(counts.sum())
    rays = np.stack([rng.permutation(n), start, counts], -1).astype("i8")
    within = np.arange(total) - np.repeat(start, counts)
    thick = np.repeat(rng.integers(5, 60, n), counts)
    sigmas = np.where(within > thick, 90.0, 1.0) * rng.random(total)
    made = {
        "total_samples": zeros(n, kind="i8"), "opacity": zeros(n), "depth": zeros(n), "rgb": zeros(n, 3),
        "ws": zeros(total),
    }  # fmt: skip
    grads, outer = ("dl_dsigmas", "dl_drgbs"), ("dl_dopacity", "dl_ddepth", "dl_drgb")
    samples = "sigmas", "rgbs", "deltas", "ts", "rays"
    return Problem(
        arrays={
            "sigmas": sigmas.astype("f4"), "rgbs": rng.random((total, 3)).astype("f4"),
            "deltas": (0.02 + 0.02 * rng.random(total)).astype("f4"),
            "ts": (0.5 + 0.03 * within).astype("f4"), "rays": rays, "dl_dopacity": centred(rng, n),
            "dl_ddepth": centred(rng, n), "dl_drgb": centred(rng, n, 3), **made, "dl_dsigmas": zeros(total),
            "dl_drgbs": zeros(total, 3),
        },
        scalars={**floats("threshold", 1e-4), **ints("n", n)},
        launches=[
            Launch("comp_forward", blocks(n), 256, (*samples, "threshold", *made, "n")),
            Launch(
                "comp_backward", blocks(n), 256,
                (*outer, *samples, "opacity", "depth", "rgb", "threshold", *grads, "n"),
            ),
        ],
        changed=[*made, *grads],
        tolerance=1e-4,
        mismatches=1e-3,
    )  # fmt: skip


@case(full=1500, quick=70)
def chamfer_nn(n: int) -> Problem:
    """Points on a ball and near it; the last of the parts of 512 candidates is short."""
    b, m = 2, n * 5 // 4 + 3
    rng = np.random.default_rng(617)

    def ball(count: int, noise: float) -> Array:
        p = rng.random((b, count, 3)) - 0.5
        return (p / np.sqrt((p * p).cumsum(-1)[..., 2:]) + noise * rng.random((b, count, 3))).astype("f4")

    grid = 2, blocks(n, 512)
    made = {
        "dist1": zeros(b, n), "dist2": zeros(b, m), "idx1": zeros(b, n, kind="i4"),
        "idx2": zeros(b, m, kind="i4"), "gxyz1": zeros(b, n, 3), "gxyz2": zeros(b, m, 3),
    }  # fmt: skip
    return Problem(
        arrays={
            "xyz1": ball(n, 0), "xyz2": ball(m, 0.1),
            "grad1": centred(rng, b, n), "grad2": centred(rng, b, m),
            **made,
        },
        scalars=ints("b n m", b, n, m),
        launches=[
            Launch("nm_distance", grid, 512, ("b", "n", "xyz1", "m", "xyz2", "dist1", "idx1")),
            Launch("nm_distance", grid, 512, ("b", "m", "xyz2", "n", "xyz1", "dist2", "idx2")),
            Launch(
                "nm_distance_grad", grid, 256,
                ("b", "n", "xyz1", "m", "xyz2", "grad1", "idx1", "gxyz1", "gxyz2"),
            ),
            Launch(
                "nm_distance_grad", grid, 256,
                ("b", "m", "xyz2", "n", "xyz1", "grad2", "idx2", "gxyz2", "gxyz1"),
            ),
        ],
        changed=[*made],
        tolerance=1e-5,
        mismatches=2e-3,
    )  # fmt: skip


@case(full=32, quick=5)
def carafe(down: int) -> Problem:
    """Pictures twice as large by 5 x 5 weights for each pixel."""
    images, channels, groups, k, scale = 1, 12 if down > 10 else 3, 1, 5, 2
    height, width = down * scale, (down + 3) * scale
    rng = np.random.default_rng(618)
    masks = rng.random((images, groups * k * k, height, width)).astype("f4") / np.float32(12)
    size = ints("k groups scale channels height width", k, groups, scale, channels, height, width)
    n = images * channels * height * width
    features, pictures = (images, channels, down, down + 3), (images, channels, height, width)
    made = {"top": zeros(*pictures), "data_diff": zeros(*features), "mask_diff": zeros(*masks.shape)}
    names = "images", "channels", "k", "groups", "scale", "height", "width"
    return Problem(
        arrays={"data": centred(rng, *features), "masks": masks, "top_diff": centred(rng, *pictures), **made},
        scalars={name: {**size, **ints("images", images)}[name] for name in names},
        launches=[
            Launch("carafe", blocks(n, 1024), 1024, (np.int32(n), "data", "masks", "top", *size)),
            Launch(
                "carafe_grad", blocks(n, 1024), 1024,
                (np.int32(n), "top_diff", "data", "masks", "data_diff", "mask_diff", *size),
            ),
        ],
        changed=[*made],
        tolerance=1e-4,
    )  # fmt: skip


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def hybrid(values: Array, bits: int) -> bytes:
    """Runs of eight equal values and more as such, else groups of eight with packed bits."""
    out, n, i = bytearray(), len(values), 0
    ends = np.append(np.flatnonzero(np.diff(values)) + 1, n)
    where = np.searchsorted(ends, np.arange(n), "right")

    def long(at: int) -> bool:
        return at < n and int(ends[where[at]]) - at >= 8

    while i < n:
        if long(i):
            end = int(ends[where[i]])
            out += varint((end - i) << 1) + int(values[i]).to_bytes((bits + 7) // 8, "little")
            i = end
            continue
        end = min(i + 8, n)
        while end < n and not long(end) and end - i < 504:
            end = min(end + 8, n)
        groups = -(-(end - i) // 8)
        flat = np.zeros(groups * 8, "u4")
        flat[: end - i] = values[i:end]
        flags = (flat[:, None] >> np.arange(bits, dtype="u4") & 1).astype("u1")
        out += varint(groups << 1 | 1) + np.packbits(flags, bitorder="little").tobytes()
        i = end
    return bytes(out)


@case(full=120, quick=3)
def pq_hybrid(count: int) -> Problem:
    """Pages of some thousands of rows with nulls alone and in stretches; indices of ten or eleven bits."""
    rng = np.random.default_rng(619)
    words, most = 1500, 5000 if count > 10 else 400
    data, pages, first = bytearray(), list[tuple[int, ...]](), 0
    for page in range(count):
        n = int(rng.integers(most // 2, most))
        levels = (rng.random(n) < 0.9) & ~np.repeat(rng.random(blocks(n, 64)) < 0.2, 64)[:n]
        valid, bits = int(levels.astype("i8").sum()), 10 + page % 2
        drawn = ((1 << bits if bits == 10 else words) * rng.random(valid) ** 2).astype("i4")
        stretch = np.repeat(rng.random(blocks(valid, 40)) < 0.3, 40)[:valid]
        drawn[stretch] = drawn[np.arange(valid) // 40 * 40][stretch]
        parts = hybrid(levels.astype("i4"), 1), bytes([bits]) + hybrid(drawn, bits)
        at = len(data)
        pages.append((at, len(parts[0]), at + len(parts[0]), len(parts[1]), n, first))
        data += parts[0] + parts[1]
        first += -(-n // 32) * 32
    made = {
        "values": zeros(first, kind="i8"),
        "mask": zeros(first // 32, kind="u4"),
        "nulls": zeros(1, kind="i4"),
    }
    names = ("data", "pages", "dictionary")
    return Problem(
        arrays={
            "data": np.frombuffer(bytes(data + bytes(8)), "u1"), "pages": np.array(pages, "i4"),
            "dictionary": rng.integers(-(1 << 50), 1 << 50, words).astype("i8"), **made,
            "level_buffer": zeros(first, kind="i4"), "index_buffer": zeros(first, kind="i4"),
        },
        scalars=ints("count longest", count, most),
        launches=[Launch("pq_hybrid", count, 128, (*names, "level_buffer", "index_buffer", *made))],
        changed=[*made, "level_buffer", "index_buffer"],
        native=(*names, *made),
    )  # fmt: skip


@case(full=250, quick=7)
def psroi_back(regions: int) -> Problem:
    """Regions of all sizes, some beyond an edge; a bin has its own channels."""
    images, ph, pw, out = 2, 7, 7, 8 if regions > 10 else 2
    height, width = (48, 60) if regions > 10 else (17, 20)
    channels, scale = out * ph * pw, 0.0625
    rng = np.random.default_rng(620)
    corner = rng.random((regions, 2)) * [width * 14, height * 14]
    extent = (0.05 + 0.5 * rng.random((regions, 2)) ** 2) * [width * 16, height * 16]
    rois = np.concatenate([rng.integers(0, images, (regions, 1)), corner - 9, corner + extent], 1)
    shape = ints("channels height width ph pw", channels, height, width, ph, pw)
    n = regions * out * ph * pw
    made = {
        "output": zeros(n),
        "mapping": zeros(n, kind="i4"),
        "grad_input": zeros(images, channels, height, width),
    }
    size: dict[str, np.generic] = {
        **ints("regions", regions), **floats("scale", scale), **shape, **ints("out", out),
    }  # fmt: skip
    return Problem(
        arrays={
            "input": centred(rng, images, channels, height, width), "rois": rois.astype("f4"),
            "grad_output": centred(rng, n), **made,
        },
        scalars=size,
        launches=[
            Launch(
                "psroi_forward", blocks(n, 512), 512,
                (np.int32(n), "input", "scale", *shape, "rois", "out", "output", "mapping"),
            ),
            Launch(
                "psroi_backward", blocks(n, 512), 512,
                (np.int32(n), "grad_output", "mapping", "scale", *shape, "out", "grad_input", "rois"),
            ),
        ],
        changed=[*made],
        tolerance=1e-5,
        mismatches=1e-3,
    )  # fmt: skip


@case(full=9000, quick=170)
def pip_join(n: int) -> Problem:
    """Thirty-one stars, some with a hole, over points that gather in places; pairs in any order."""
    rng = np.random.default_rng(621)
    polygons, rings, vertices = [0], [0], list[Array]()
    turn = np.arange(24) / 24 * 2 * np.pi
    circle = settled(np.stack([np.cos(turn), np.sin(turn)], -1))
    for k in range(31):
        middle, size = rng.random(2) * 100, 4 + 14 * rng.random()
        for hole in range(1 + (k % 3 == 0)):
            corners = 10 if hole else 24 - k % 5
            step = np.arange(corners) * 24 // corners
            reach = size * (0.5 + 0.5 * rng.random(corners)) * (0.4 if hole else 1)
            vertices.append(middle + circle[step] * reach[:, None])
            rings.append(rings[-1] + corners)
        polygons.append(len(rings) - 1)
    crowds = rng.random((12, 2)) * 100
    points = crowds[rng.integers(0, 12, n)] + 12 * centred(rng, n, 2, kind="f8")
    made = {"result": zeros(n, kind="u4"), "pairs": zeros(31 * n, kind="u8"), "count": zeros(1, kind="i4")}
    size = ints("n polygons", n, 31)
    return Problem(
        arrays={
            "points": points, "polygon_offsets": np.array(polygons, "i4"),
            "ring_offsets": np.array(rings, "i4"), "vertices": np.concatenate(vertices), **made,
        },
        scalars=size,
        launches=[
            Launch(
                "pip_bits", min(blocks(n), 24), 256,
                ("points", "n", "polygon_offsets", "polygons", "ring_offsets", "vertices", "result"),
            ),
            Launch("pip_pairs", blocks(n), 256, ("result", "n", "pairs", "count")),
        ],
        changed=[*made],
        unordered=["pairs"],
        mismatches=1e-4,
    )  # fmt: skip


@case(full=12_000, quick=333)
def roll_stats(n: int) -> Problem:
    """Times in bursts: windows of one row to 32; a quarter of the rows is null in stretches."""
    rng = np.random.default_rng(622)
    gaps = np.where(np.repeat(rng.random(blocks(n, 50)) < 0.4, 50)[:n], 1, 10) * rng.integers(1, 6, n)
    rows = np.zeros(blocks(n, 32) * 32, "u1")
    rows[:n] = (rng.random(n) < 0.9) & ~np.repeat(rng.random(blocks(n, 12)) < 0.15, 12)[:n]
    walk = (100 + centred(rng, n, kind="f8").cumsum()).astype("f8")
    names = "least", "greatest", "mean", "median"
    made = {name: zeros(n, kind="f8") for name in names}
    made |= {"out_mask": zeros(blocks(n, 32), kind="u4"), "valid_count": zeros(1, kind="i4")}
    size: dict[str, np.generic] = {
        "n": np.int32(n), "range": np.int64(60), "min_periods": np.int32(2)
    }  # fmt: skip
    kernels = "roll_min", "roll_max", "roll_mean", "roll_median"
    return Problem(
        arrays={
            "in": walk, "mask": np.packbits(rows, bitorder="little").view("<u4"),
            "time": (1_600_000_000 + gaps.cumsum()).astype("i8"), **made,
        },
        scalars=size,
        launches=[
            Launch(
                kernel, min(blocks(n, 128), 60), 128,
                ("in", "mask", "time", out, "out_mask", "valid_count", *size),
            )
            for kernel, out in zip(kernels, names, strict=True)
        ],
        changed=[*made],
        tolerance=1e-13,
    )  # fmt: skip
