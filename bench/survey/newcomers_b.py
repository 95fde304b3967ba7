"""Kernels of language models and their training, of detectors, cameras and screens, of databases and of
cryptography, in the form that each has most often, measured before anybody looked at their code on a CPU."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, integers, reals, zeros


def around_zero(*shape: int) -> Array:
    return reals(*shape) - np.float32(0.5)


@case(full=800, quick=75)
def decode_attn(most: int) -> Problem:
    """Pages in any order, and sequences of which no two are as long; four heads share keys and values."""
    seqs, heads, kv_heads, size, page = 4, 8, 2, 128, 16
    per = blocks(most, page)
    rng = np.random.default_rng(21)
    names = ("heads", "kv_heads", "max_blocks", "scale")
    return Problem(
        arrays={
            "out": zeros(seqs, heads, size),
            "q": around_zero(seqs, heads, size) * 4,
            "k_cache": around_zero(per * seqs, page, kv_heads, size),
            "v_cache": around_zero(1, per * seqs, page, kv_heads, size)[0],
            "block_tables": rng.permutation(per * seqs).reshape(seqs, per).astype("i4"),
            "context_lens": rng.integers(most // 3, most + 1, seqs).astype("i4"),
        },
        scalars={
            **dict(zip(names, map(np.int32, (heads, kv_heads, per)))), "scale": np.float32(size**-0.5),
            "seqs": np.int32(seqs),
        },
        launches=[
            Launch(
                "decode_attn", (heads, seqs), 128,
                ("out", "q", "k_cache", "v_cache", "block_tables", "context_lens", *names), 4 * most,
            )
        ],
        changed=["out"],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=768, quick=70)
def selscan(channels: int) -> Problem:
    """Each step needs the one before, and 16 exponentials."""
    batches, length, states = 2, 50 + channels // 10, 16
    shape = (batches, length, channels)
    inputs = ("u", "delta", "a_log", "b", "c", "skip", "z", "bias")
    return Problem(
        arrays={
            "u": around_zero(*shape),
            "delta": around_zero(1, *shape)[0],
            "a_log": np.log(1 + np.arange(states) + reals(channels, states)).astype("f4"),
            "b": around_zero(batches, length, states),
            "c": around_zero(1, batches, length, states)[0],
            "skip": reals(channels),
            "z": around_zero(2, *shape)[0] * 4,
            "bias": reals(channels + 1)[1:] * 2 - np.float32(4),
            "out": zeros(*shape),
        },
        scalars={
            "length": np.int32(length), "channels": np.int32(channels), "batches": np.int32(batches),
        },
        launches=[
            Launch("selscan", (blocks(channels, 128), batches), 128, (*inputs, "out", "length", "channels"))
        ],
        changed=["out"],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=320, quick=37)
def gru(hidden: int) -> Problem:
    """A launch for each step, which reads what the one before wrote."""
    batch, steps, inputs = 3, 6, hidden * 2 // 5
    scale = np.float32(4 * hidden**-0.5)
    names = ("inputs", "hidden", "batch")
    hs = zeros(steps + 1, batch, hidden)
    hs[0] = around_zero(batch, hidden)
    args = ("x", "w_ih", "w_hh", "b_ih", "b_hh", "hs", *names)
    return Problem(
        arrays={
            "x": around_zero(steps, batch, inputs) * 2,
            "w_ih": around_zero(3, hidden, inputs) * scale,
            "w_hh": around_zero(3, hidden, hidden) * scale,
            "b_ih": around_zero(3 * hidden),
            "b_hh": around_zero(3 * hidden + 1)[1:],
            "hs": hs,
        },
        scalars={**dict(zip(names, map(np.int32, (inputs, hidden, batch)))), "steps": np.int32(steps)},
        launches=[
            Launch("gru_step", (blocks(hidden, 8), batch), 256, (*args, np.int32(t))) for t in range(steps)
        ],
        changed=["hs"],
        tolerance=1e-5,
    )


@case(full=1000, quick=90)
def ln_grad(m: int) -> Problem:
    """Sums along rows, then the same arrays once more for sums along columns."""
    n = 3 * m // 4 + 18
    x = reals(m, n) * 3 - np.float32(1)
    return Problem(
        arrays={
            "dy": around_zero(m, n, 1)[..., 0], "x": x, "mean": x.mean(1), "rstd": 1 / (x.std(1) + 1e-5),
            "gamma": reals(n), "dx": zeros(m, n), "dgamma": zeros(n), "dbeta": zeros(n),
        },
        scalars={"m": np.int32(m), "n": np.int32(n)},
        launches=[
            Launch("ln_grad_input", m, 256, ("dy", "x", "mean", "rstd", "gamma", "dx", "n")),
            Launch(
                "ln_grad_weights", blocks(n, 32), (32, 8),
                ("dy", "x", "mean", "rstd", "dgamma", "dbeta", "m", "n"),
            ),
        ],
        changed=["dx", "dgamma", "dbeta"],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=64, quick=5)
def roi_align(count: int) -> Problem:
    """16 pixels for each number, of regions some of which lie across the edges."""
    images, channels, h, w, pooled = 2, 32, 50, 68, 7
    rng = np.random.default_rng(22)
    corner = rng.uniform(-100, [16 * w - 50, 16 * h - 50], (count, 2))
    rois = np.hstack([rng.integers(0, images, (count, 1)), corner, corner + rng.uniform(20, 500, (count, 2))])
    total = count * channels * pooled**2
    sizes = ("channels", "h", "w", "pooled_h", "pooled_w", "ratio")
    numbers = map(np.int32, (channels, h, w, pooled, pooled, 2))
    return Problem(
        arrays={
            "input": reals(images, channels, h, w),
            "rois": rois.astype("f4"),
            "output": zeros(count, channels, pooled, pooled),
        },
        scalars={"total": np.int32(total), "scale": np.float32(1 / 16), **dict(zip(sizes, numbers))},
        launches=[
            Launch(
                "roi_align", min(blocks(total), 4096), 256,
                ("input", "rois", "output", "total", "scale", *sizes),
            )
        ],
        changed=["output"],
        tolerance=1e-5,
        mismatches=0.001,
    )  # fmt: skip


@case(full=32, quick=7)
def deconv(w: int) -> Problem:
    """Three of four taps meet nothing, which each thread finds out by remainders."""
    batch, inputs, outputs, h, size, stride, padding = 2, 16, 12, w - 2, 4, 2, 1
    out_h, out_w = (stride * (s - 1) - 2 * padding + size for s in (h, w))
    names = ("batch", "inputs", "outputs", "h", "w", "size", "stride", "padding", "out_h", "out_w")
    numbers = map(np.int32, (batch, inputs, outputs, h, w, size, stride, padding, out_h, out_w))
    arrays = {
        "input": around_zero(batch, inputs, h, w),
        "weight": around_zero(inputs, outputs, size, size),
        "bias": reals(outputs),
        "output": zeros(batch, outputs, out_h, out_w),
    }
    return Problem(
        arrays=arrays,
        scalars=dict(zip(names, numbers)),
        launches=[Launch("deconv", blocks(arrays["output"].size), 256, (*arrays, *names))],
        changed=["output"],
        tolerance=1e-5,
    )


@case(full=2000, quick=50)
def moe_route(tokens: int) -> Problem:
    """Rows go to places that counters give them: any order within an expert will do."""
    experts, dim = 16, 100 if tokens < 100 else 128
    return Problem(
        arrays={
            "logits": around_zero(tokens, experts) * 6, "x": around_zero(tokens, dim),
            "scale": reals(experts, dim), "expert": zeros(tokens, 2, kind="i4"), "weight": zeros(tokens, 2),
            "counts": zeros(experts, kind="i4"), "offsets": zeros(experts + 1, kind="i4"),
            "cursor": zeros(experts, kind="i4"), "slot": zeros(2 * tokens, kind="i4"),
            "buffer": zeros(2 * tokens * dim), "out": zeros(tokens, dim),
        },
        scalars={"tokens": np.int32(tokens), "experts": np.int32(experts), "dim": np.int32(dim)},
        launches=[
            Launch(
                "moe_gate", blocks(tokens), 256,
                ("logits", "expert", "weight", "counts", "tokens", "experts"),
            ),
            Launch("moe_offsets", 1, 32, ("counts", "offsets", "cursor", "experts")),
            Launch("moe_scatter", tokens, 128, ("x", "expert", "cursor", "slot", "buffer", "dim")),
            Launch("moe_expert", (blocks(dim, 128), experts), 128, ("buffer", "offsets", "scale", "dim")),
            Launch("moe_combine", tokens, 128, ("buffer", "slot", "weight", "out", "dim")),
        ],
        changed=["expert", "weight", "counts", "offsets", "cursor", "slot", "buffer", "out"],
        unordered=["slot", "buffer"],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=200, quick=5)
def bitonic_topk(rows: int) -> Problem:
    """Many equal numbers, of which the first ones count."""
    values = np.round(around_zero(rows, 1024) * 8, 2)
    return Problem(
        arrays={"values": values, "top": zeros(rows, 32), "where": zeros(rows, 32, kind="i4")},
        scalars={"rows": np.int32(rows)},
        launches=[Launch("bitonic_topk", rows, 256, ("values", "top", "where", "rows"))],
        changed=["top", "where"],
    )


@case(full=600, quick=45)
def bayer(w: int) -> Problem:
    """Four kinds of pixels in each warp, and three bytes for each."""
    h = w * 3 // 4 - 1
    table = np.round(255 * (np.arange(4096) / 4095) ** (1 / 2.2)).astype("u1")
    gains = dict(zip(("red_gain", "green_gain", "blue_gain"), map(np.float32, (2.05, 1.1, 1.62))))
    scalars = {"w": np.int32(w), "h": np.int32(h), "black": np.int32(64), **gains}
    return Problem(
        arrays={
            "raw": integers(40, 4096, h, w, kind="u2"), "table": table, "image": zeros(h, w, 3, kind="u1"),
        },
        scalars=scalars,
        launches=[
            Launch("bayer", (blocks(w, 16), blocks(h, 16)), (16, 16), ("raw", "table", "image", *scalars))
        ],
        changed=["image"],
        tolerance=0.02,
        mismatches=0.001,
    )  # fmt: skip


def scene(w: int, h: int) -> Array:
    """Bright discs and stripes, with hard edges, on a gradient."""
    y, x = np.mgrid[:h, :w] / w
    image = np.stack([x + 0.1, y + 0.2, 1.2 - x, np.ones_like(x)], 2) * 0.3
    for cx, cy, radius, *colour in reals(12, 6):
        image[(x - cx) ** 2 + (y - cy) ** 2 < radius**2 / 50, :3] = np.array(colour) * 3
    for a, b, *colour in reals(5, 5):
        image[np.abs(x * a + y * (b - 0.5) - 0.3) < 0.01, :3] = colour
    return image.astype("f4")


@case(full=400, quick=45)
def fxaa(w: int) -> Problem:
    """Most pixels return at once, others go along an edge for up to eight steps each way."""
    h = w * 3 // 4 + 2
    limits = ("threshold", "least_threshold", "subpixel")
    grid, block = (blocks(w, 16), blocks(h, 16)), (16, 16)
    return Problem(
        arrays={"hdr": scene(w, h), "ldr": zeros(h, w, 4, kind="u1"), "out": zeros(h, w, 4, kind="u1")},
        scalars={
            "w": np.int32(w), "h": np.int32(h), "exposure": np.float32(0.8),
            **dict(zip(limits, map(np.float32, (0.125, 0.0312, 0.75)))),
        },
        launches=[
            Launch("tonemap", grid, block, ("hdr", "ldr", "w", "h", "exposure")),
            Launch("fxaa", grid, block, ("ldr", "out", "w", "h", *limits)),
        ],
        changed=["ldr", "out"],
        tolerance=0.005,
        mismatches=0.005,
    )  # fmt: skip


@case(full=20000, quick=300)
def hash_join(n: int) -> Problem:
    """Half of the probes find a partner, whose place in the result a counter gives."""
    probes, slots = 4 * n, 1 << (2 * n - 1).bit_length()
    rng = np.random.default_rng(23)
    known = rng.permutation(np.unique(rng.integers(0, (1 << 32) - 1, 3 * n, dtype="u4"))[: 2 * n])
    return Problem(
        arrays={
            "key": known[:n], "value": integers(0, 1 << 20, n, kind="u4"),
            "probe_key": known[rng.integers(0, 2 * n, probes)],
            "probe_value": integers(0, 1 << 20, probes, kind="u4"),
            "table_key": zeros(slots, kind="u4"), "table_value": zeros(slots, kind="u4"),
            "result": zeros(probes, kind="u8"), "matches": zeros(1, kind="u4"),
        },
        scalars={"slots": np.uint32(slots), "n": np.int32(n), "probes": np.int32(probes)},
        launches=[
            Launch("join_clear", blocks(slots), 256, ("table_key", "table_value", "slots")),
            Launch(
                "join_build", blocks(n), 256, ("key", "value", "table_key", "table_value", "slots", "n")
            ),
            Launch(
                "join_probe", blocks(probes), 256,
                (
                    "probe_key", "probe_value", "table_key", "table_value", "result", "matches", "slots",
                    "probes",
                ),
            ),
        ],
        changed=["table_key", "table_value", "result", "matches"],
        unordered=["table_key", "table_value", "result"],
    )  # fmt: skip


@case(full=200_000, quick=3000)
def q1_groups(n: int) -> Problem:
    """Seven columns of five types, and six sums for each row, of integers and doubles."""
    flags, status = np.frombuffer(b"ANR", "u1"), np.frombuffer(b"FO", "u1")
    columns = {
        "ship_date": integers(0, 2526, n),
        "return_flag": flags[integers(0, 3, n)],
        "line_status": status[integers(0, 2, n)],
        "quantity": integers(1, 51, n, kind="i2"),
        "price": integers(90_000, 10_500_000, n, kind="i8"),
        "discount": integers(0, 11, n, kind="u1"),
        "tax": integers(0, 9, n, kind="u1"),
    }
    return Problem(
        arrays={**columns, "totals": zeros(6, 6, kind="u8"), "report": zeros(8, 6, kind="f8")},
        scalars={"n": np.int32(n), "last_date": np.int32(2436)},
        launches=[
            Launch("q1_sums", min(blocks(n), 160), 256, (*columns, "totals", "n", "last_date")),
            Launch("q1_report", 1, 32, ("totals", "report")),
        ],
        changed=["totals", "report"],
        native=[*columns, "report"],
        tolerance=1e-12,
    )


@case(full=1 << 13, quick=200)
def blake2s(n: int) -> Problem:
    """Messages of up to 199 bytes: one to four blocks, each through an array of a thread's own."""
    start = np.concatenate([[0], np.cumsum(integers(0, 200, n))]).astype("u4")
    return Problem(
        arrays={
            "text": integers(0, 256, int(start[-1]), kind="u1"),
            "start": start,
            "digest": zeros(n, 32, kind="u1"),
        },
        scalars={"n": np.int32(n)},
        launches=[Launch("blake2s", blocks(n, 128), 128, ("text", "start", "digest", "n"))],
        changed=["digest"],
    )


@case(full=3000, quick=100)
def mont256(n: int) -> Problem:
    """Products of 32 bits with carries from one to the next, in registers."""
    return Problem(
        arrays={
            "x": integers(0, 1 << 32, n, 8, kind="u4"),
            "y": integers(0, 1 << 32, n + 1, 8, kind="u4")[1:],
            "result": zeros(n, 8, kind="u4"),
        },
        scalars={"n": np.int32(n), "rounds": np.int32(8)},
        launches=[Launch("mont_chain", blocks(n), 256, ("x", "y", "result", "n", "rounds"))],
        changed=["result"],
    )


@case(full=8000, quick=50)
def sha_context(count: int) -> Problem:
    """Bytes, words, and 64 bits in one structure of each thread."""
    length = 100
    return Problem(
        arrays={
            "messages": integers(0, 256, count, length, kind="u1"), "digests": zeros(count, 32, kind="u1")
        },
        scalars={"length": np.uint32(length), "count": np.uint32(count)},
        launches=[Launch("sha_context", blocks(count, 128), 128, ("messages", "digests", "length", "count"))],
        changed=["digests"],
    )  # fmt: skip
