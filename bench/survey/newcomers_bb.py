"""Kernels of language models' serving and training, of proofs and hashes, genomes, cameras, meshes and
options, written without knowing what the JIT is good at."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, floats, ints, settled, zeros
from survey.newcomers_x import centred


@case(full=230, quick=37)
def spec_tree(prefix: int) -> Problem:
    """Drafts in a tree: each sees the prefix and its own ancestors."""
    rng = np.random.default_rng(5301)
    seqs, nodes, heads, kv_heads = (4, 40, 4, 2) if prefix > 100 else (3, 11, 2, 1)
    parent = zeros(seqs, nodes, kind="i4")
    masks = zeros(seqs, nodes, kind="u8")
    for s in range(seqs):
        masks[s, 0] = 1
        for node in range(1, nodes):
            parent[s, node] = rng.integers(max(0, node // 2 - 2), max(1, node // 2 + 1))
            masks[s, node] = masks[s, parent[s, node]] | np.uint64(1 << node)
    draft = rng.integers(0, 3, (seqs, nodes)).astype("i4")
    target = rng.integers(0, 3, (seqs, nodes)).astype("i4")
    lens = (prefix - 7 * np.arange(seqs)).astype("i4")
    room = prefix + nodes
    shape = {**ints("nodes heads kv_heads max_keys", nodes, heads, kv_heads, room), **floats("scale", 0.125)}
    seen = {
        "q": 3 * centred(rng, seqs, nodes, heads, 64), "k": 3 * centred(rng, seqs, kv_heads, room, 64),
        "v": centred(rng, seqs, kv_heads, room, 64), "tree_mask": masks, "prefix_len": lens,
        "out": zeros(seqs, nodes, heads, 64),
    }  # fmt: skip
    tree = {
        "parent": parent, "draft": draft, "target": target,
        "accepted": zeros(seqs, nodes, kind="i4"), "length": zeros(seqs, kind="i4"),
    }  # fmt: skip
    return Problem(
        arrays=seen | tree,
        scalars={**shape, "seqs": np.int32(seqs)},
        launches=[
            Launch("tree_attention", (nodes, heads, seqs), 128, (*seen, *shape), 4 * room),
            Launch("tree_accept", blocks(seqs, 4), 128, (*tree, "nodes", "seqs")),
        ],
        changed=["out", "accepted", "length"],
        tolerance=1e-4,
    )


@case(full=700, quick=45)
def mla_decode(length: int) -> Problem:
    """Pages in any order; a head and a third of the tokens a block."""
    rng = np.random.default_rng(5302)
    seqs, heads, splits, page = (2, 16, 3, 64) if length > 100 else (2, 3, 4, 16)
    pages = blocks(length, page)
    lens = np.array([length, length * 2 // 3 + 1], "i4")
    tables = rng.permutation(seqs * pages).reshape(seqs, pages).astype("i4")
    sizes = {**ints("heads splits page_size max_pages", heads, splits, page, pages), **floats("scale", 0.08)}
    read = {
        "q_latent": centred(rng, seqs, heads, 512), "q_rope": 2 * centred(rng, seqs, heads, 64),
        "cache": centred(rng, seqs * pages, page, 576, kind="f2"), "page_table": tables, "seq_len": lens,
    }  # fmt: skip
    made = {"partial": zeros(seqs, heads, splits, 512), "partial_ml": zeros(seqs, heads, splits, 2)}
    return Problem(
        arrays={**read, **made, "out": zeros(seqs, heads, 512, kind="f2")},
        scalars={**ints("heads seqs page_size max_pages", heads, seqs, page, pages), **floats("scale", 0.08)},
        launches=[
            Launch("mla_split", (heads, splits, seqs), 128, (*read, *made, *sizes.values())),
            Launch("mla_merge", seqs * heads, 512, (*made, "out", np.int32(splits))),
        ],
        changed=["out", *made],
        native=(*read, "out"),
        tolerance=2e-3,  # the result is in half precision
    )


@case(full=2880, quick=160)
def mxfp4(cols: int) -> Problem:
    """90 blocks of 32 a row, of which a warp takes 32 at a time."""
    rng = np.random.default_rng(5303)
    rows, each = cols * 2 + 3, cols // 32
    arrays = {
        "packed": rng.integers(0, 256, (rows, each, 16)).astype("u1"),
        "scales": rng.integers(117, 124, (rows, each)).astype("u1"),
        "x": centred(rng, cols), "bias": centred(rng, rows), "y": zeros(rows),
    }  # fmt: skip
    size = ints("rows blocks_per_row", rows, each)
    return Problem(
        arrays=arrays,
        scalars=size,
        launches=[Launch("mxfp4_gemv", blocks(rows, 8), 256, (*arrays, *size))],
        changed=["y"],
        tolerance=1e-4,
    )


@case(full=900, quick=90)
def ssd_chunk(length: int) -> Problem:
    """Chunks of 64 tokens, the last one not full."""
    rng = np.random.default_rng(5304)
    heads, chunks = 6 if length > 100 else 2, blocks(length, 64)
    size = ints("length heads", length, heads)
    state = {
        "dt": zeros(heads, chunks, 64), "da": zeros(heads, chunks, 64), "states": zeros(heads, chunks, 32, 32)
    }  # fmt: skip
    read = {
        "x": centred(rng, length, heads, 32), "b": centred(rng, length, 32), "c": centred(rng, length, 32),
        "dt_raw": 4 * centred(rng, length, heads), "dt_bias": centred(rng, heads) - np.float32(2),
        "a_log": centred(rng, heads), "d_skip": centred(rng, heads) + np.float32(1),
    }  # fmt: skip
    grid, block = (chunks, heads), (32, 8)
    return Problem(
        arrays={**read, **state, "y": zeros(length, heads, 32)},
        scalars=ints("length heads chunks", length, heads, chunks),
        launches=[
            Launch("ssd_cumsum", grid, 64, ("dt_raw", "dt_bias", "a_log", "dt", "da", *size)),
            Launch("ssd_states", grid, block, ("x", "b", "dt", "da", "states", *size)),
            Launch("ssd_pass", (4, heads), 256, ("states", "da", np.int32(chunks))),
            Launch("ssd_scan", grid, block, ("x", "b", "c", "dt", "da", "states", "d_skip", "y", *size)),
        ],
        changed=["y", *state],
        native=(*read, "y"),
        tolerance=1e-4,
    )


@case(full=5000, quick=37)
def yarn_rope(tokens: int) -> Problem:
    """Four times the length that was trained; 12 heads of queries, 4 of keys."""
    rng = np.random.default_rng(5305)
    positions, half = (1024, 64) if tokens > 100 else (50, 32)
    inv_freq = settled(10000.0 ** (-np.arange(half) / half)).astype("f4")
    ramp = {**ints("positions half_dim", positions, half)}
    ramp |= floats("factor low high mscale", 4.0, 10.0, 23.0, 1.1386)
    arrays = {
        "inv_freq": inv_freq, "table": zeros(positions, half, 2),
        "q": centred(rng, tokens, 12, 2 * half, kind="f2"), "k": centred(rng, tokens, 4, 2 * half, kind="f2"),
        "position": rng.integers(0, positions, tokens).astype("i4"),
    }  # fmt: skip
    heads = ints("q_heads k_heads", 12, 4)
    return Problem(
        arrays=arrays,
        scalars={**ramp, "tokens": np.int32(tokens), **heads},
        launches=[
            Launch("yarn_table", blocks(positions * half), 256, ("inv_freq", "table", *ramp)),
            Launch("yarn_apply", tokens, (32, 4), ("q", "k", "position", "table", *heads, "half_dim")),
        ],
        changed=["table", "q", "k"],
        tolerance=1e-3,  # angles up to 1024 with 24 bits
    )


ADAPTER = np.dtype([("a_offset", "i8"), ("b_offset", "i8"), ("rank", "i4"), ("scale", "f4")])


@case(full=1024, quick=130)
def lora_sgmv(d: int) -> Problem:
    """Groups of up to four tokens of an adapter; every seventh segment has none."""
    rng = np.random.default_rng(5306)
    count, segments, d_out = (9, 40, d + 128) if d > 500 else (4, 9, d + 20)
    ranks = rng.choice([8, 16, 16, 32], count)
    adapters, at = np.zeros(count, ADAPTER), 0
    for adapter, rank in zip(adapters, ranks.tolist(), strict=True):
        adapter["a_offset"], adapter["b_offset"] = at, at + rank * d
        adapter["rank"], adapter["scale"] = rank, np.float32(32 / rank)
        at += rank * (d + d_out)
    groups, which, first = list[tuple[int, int]](), list[int](), 0
    for s, length in enumerate(rng.geometric(0.15, segments).tolist()):
        adapter = -1 if s % 7 == 6 else int(rng.integers(count))
        for begin in range(first, first + length, 4):
            groups.append((begin, min(begin + 4, first + length)))
            which.append(adapter)
        first += length
    lists = {
        "weights": centred(rng, at) * np.float32(0.1), "adapters": adapters.view("u1").reshape(count, -1),
        "group_adapter": np.array(which, "i4"), "group_tokens": np.array(groups, "i4"),
    }  # fmt: skip
    return Problem(
        arrays={
            "x": centred(rng, first, d), **lists, "shrunk": zeros(first, 32), "y": centred(rng, first, d_out)
        },
        scalars=ints("d_in d_out groups", d, d_out, len(groups)),
        launches=[
            Launch("lora_shrink", len(groups), 128, ("x", *lists, "shrunk", "d_in")),
            Launch("lora_expand", (blocks(d_out, 128), len(groups)), 128, ("shrunk", *lists, "y", "d_out")),
        ],
        changed=["shrunk", "y"],
        tolerance=1e-4,
    )  # fmt: skip


@case(full=640, quick=19)
def ring_merge(rows: int) -> Problem:
    """Eight steps of a ring; in some only the second half of the rows is behind the keys."""
    rng = np.random.default_rng(5307)
    heads, dim, steps = 12, 64, 8 if rows > 100 else 3
    firsts = np.array([0, rows // 2, 0, rows // 2, 0, 0, rows // 2, rows // 3][:steps], "i4")
    outs, sums = centred(rng, steps, heads, rows, dim), 3 * centred(rng, steps, heads, rows)
    lists = {f"out{s}": outs[s] for s in range(steps)} | {f"lse{s}": sums[s] for s in range(steps)}
    pair = ("lse", "other")
    return Problem(
        arrays={
            "out": centred(rng, heads, rows, dim), "lse": 3 * centred(rng, heads, rows),
            "other": zeros(heads, rows), "block_out": outs, "block_lse": sums, "first_rows": firsts, **lists,
        },
        scalars=ints("rows heads dim steps", rows, heads, dim, steps),
        launches=[
            Launch(
                "ring_merge", 64, 192,
                (
                    "out", *(pair[::-1] if s % 2 else pair), f"out{s}", f"lse{s}",
                    "rows", "heads", np.int32(dim // 4), firsts[s],
                ),
            )
            for s in range(steps)
        ],
        changed=["out", "lse", "other"],
        native=("out", "lse", "other", "block_out", "block_lse", "first_rows"),
        tolerance=1e-5,
    )  # fmt: skip


@case(full=160, quick=37)
def muon_ns(m: int) -> Problem:
    """17 products of matrices; tiles that they do not fill."""
    rng = np.random.default_rng(5308)
    n, rounds = m * 5 // 4 + 1, 5
    size = np.int32(m * n)
    factors = floats("ca cb cc", 3.4445, -4.775, 2.0315)
    made = {"a": zeros(m, m), "b": zeros(m, m), "x": zeros(m, n), "next": zeros(m, n), "norm2": zeros(1)}
    launches = [
        Launch("muon_momentum", 30, 256, ("grad", "buffer", "x", "norm2", size, "beta")),
        Launch("muon_normalise", 30, 256, ("x", "norm2", size)),
    ]
    square, wide = (blocks(m, 32), blocks(m, 32)), (blocks(n, 32), blocks(m, 32))
    for x, y in (("x", "next"), ("next", "x"), ("x", "next"), ("next", "x"), ("x", "next"))[:rounds]:
        launches += [
            Launch("muon_gram", square, (16, 16), (x, "a", "m", "n")),
            Launch("muon_poly", square, (16, 16), ("a", "b", "m", "cb", "cc")),
            Launch("muon_update", wide, (16, 16), ("b", x, y, "m", "n", "ca")),
        ]
    launches.append(Launch("muon_apply", 30, 256, ("weights", "next", size, "lr", "decay")))
    read = ("grad", "buffer", "weights")
    return Problem(
        arrays={name: centred(rng, m, n) for name in read} | made,
        scalars={
            **ints("m n rounds", m, n, rounds),
            **floats("beta", 0.95),
            **factors,
            **floats("lr decay", 0.2, 0.01),
        },
        launches=launches,
        changed=["buffer", "weights", *made],
        native=read,
        tolerance=1e-3,
    )


@case(full=128_256, quick=1003)
def gram_mask(vocab: int) -> Problem:
    """Masks that allow few tokens, most of them, or all."""
    rng = np.random.default_rng(5309)
    seqs, grammars, room, words = 6, 3, 96, blocks(vocab, 32)
    share = np.array([0.003, 0.3, 0.97])[:, None]
    runs = rng.random((grammars, words)) < np.array([0.1, 0.9, 1.0])[:, None]
    allowed = (rng.random((grammars, words * 32)) < share) & runs.repeat(32, 1)
    masks = np.packbits(allowed.reshape(grammars, words, 32), axis=-1, bitorder="little").view("u4")
    lists = {
        "history": rng.integers(0, vocab, (seqs, room)).astype("i4") // 3,
        "history_len": np.array([96, 40, 0, 77, 12, 3], "i4"),
        "penalty": np.array([1.1, 1.2, 1.0, 1.3, 1.05, 1.5], "f4"),
    }  # fmt: skip
    tables = {
        "bitmask": masks.reshape(grammars, words), "grammar": np.array([0, 1, -1, 2, 0, 2], "i4"),
        "temperature": np.array([0.7, 1.0, 0.8, 1.3, 0.2, 1.0], "f4"),
    }  # fmt: skip
    found = {"token": zeros(seqs, kind="i4"), "logprob": zeros(seqs), "allowed": zeros(seqs, kind="i4")}
    return Problem(
        arrays={"logits": 4 * centred(rng, seqs, vocab), **lists, **tables, **found},
        scalars=ints("max_history vocab words seqs", room, vocab, words, seqs),
        launches=[
            Launch("penalise", (2, seqs), 64, ("logits", *lists, "max_history", "vocab")),
            Launch("mask_select", seqs, 256, ("logits", *tables, *found, "vocab", "words")),
        ],
        changed=["logits", *found],
        native=("logits", *lists, *tables, *found),
        tolerance=1e-5,
    )


@case(full=150_000, quick=1003)
def bear_inv(n: int) -> Problem:
    """A power of 31 squarings for eight inverses; sums of 256 in shared memory."""
    rng = np.random.default_rng(5310)
    prime, groups = 15 * 2**27 + 1, blocks(n)
    numbers: dict[str, np.generic] = {
        "alpha": np.uint32(1_234_567_891),
        "beta": np.uint32(987_654_321),
        "n": np.int32(n),
    }
    read = {
        "columns": rng.integers(0, prime, (4, n)).astype("u4"),
        "multiplicity": rng.integers(0, prime, n).astype("u4"),
    }  # fmt: skip
    read["columns"][:, ::97] = 0
    read["columns"][0, ::97] = prime - 987_654_321  # of which none has an inverse
    return Problem(
        arrays={**read, "terms": zeros(n, kind="u4"), "totals": zeros(groups, kind="u4")},
        scalars=numbers,
        launches=[
            Launch("logup_terms", blocks(blocks(n, 8), 128), 128, (*read, "terms", *numbers)),
            Launch("logup_scan", groups, 256, ("terms", "totals", "n")),
            Launch("logup_totals", 1, 32, ("totals", np.int32(groups))),
            Launch("logup_add", groups, 256, ("terms", "totals", "n")),
        ],
        changed=["terms", "totals"],
        native=(*read, "terms"),
    )


@case(full=3_000_001, quick=37_777)
def blake3(size: int) -> Problem:
    """A last chunk that is short; twelve levels of parents, launches of fewer and fewer threads."""
    rng = np.random.default_rng(5311)
    chunks = blocks(size, 1024)
    arrays: dict[str, Array] = {"message": rng.integers(0, 256, size).astype("u1")}
    launches = [
        Launch(
            "blake3_chunks", blocks(chunks, 128), 128,
            ("message", "level0", np.uint64(size), np.int32(chunks)),
        )
    ]  # fmt: skip
    level = 0
    arrays["level0"], count = zeros(chunks, 8, kind="u4"), chunks
    while count > 1:
        above = blocks(count, 2)
        arrays[f"level{level + 1}"] = zeros(above, 8, kind="u4")
        names = (f"level{level}", f"level{level + 1}", np.int32(count))
        launches.append(Launch("blake3_parents", blocks(above, 128), 128, names))
        level, count = level + 1, above
    return Problem(
        arrays=arrays,
        scalars={"bytes": np.uint64(size), "chunks": np.int32(chunks)},
        launches=launches,
        changed=[name for name in arrays if name != "message"],
        native=("message", f"level{level}"),
    )


@case(full=6000, quick=77)
def poly1305(packets: int) -> Problem:
    """Lengths as on a network: many small packets, many of 1400 bytes; none begins at a whole word."""
    rng = np.random.default_rng(5312)
    lengths = np.where(rng.random(packets) < 0.6, rng.integers(0, 200, packets), 1400)
    offsets = np.concatenate([[0], lengths.cumsum()]).astype("u4")
    data = rng.integers(0, 256, int(offsets[-1]) + 16).astype("u1")
    data[offsets[5] : offsets[6]] = 255
    arrays = {
        "data": data, "offsets": offsets,
        "keys": rng.integers(0, 2**32, (packets, 8)).astype("u4"), "tags": zeros(packets, 4, kind="u4"),
    }  # fmt: skip
    size = ints("packets", packets)
    return Problem(
        arrays=arrays,
        scalars=size,
        launches=[Launch("poly1305", blocks(packets, 128), 128, (*arrays, *size))],
        changed=["tags"],
    )


@case(full=4000, quick=130)
def rwr_walks(vertices: int) -> Problem:
    """Degrees by a power law, some vertices without a way out."""
    rng = np.random.default_rng(5313)
    seeds, walks, steps, k = (6, 1000, 40, 10) if vertices > 1000 else (3, 70, 12, 5)
    degree = np.clip((3 / (rng.random(vertices) + 0.004)).astype("i4") - 3, 0, vertices // 2)
    row_start = np.concatenate([[0], degree.cumsum()]).astype("i4")
    edges = int(row_start[-1])
    far = rng.random(edges)
    weights = rng.integers(1, 100, edges)
    sums = weights.cumsum()
    before = np.concatenate([[0], sums])[row_start[:-1]]
    arrays = {
        "row_start": row_start, "column": (far * far * vertices).astype("i4"),
        "weight_sum": (sums - before.repeat(degree)).astype("u4"),
        "seeds": rng.choice(np.flatnonzero(degree > 5), seeds, replace=False).astype("i4"),
        "visits": zeros(seeds, vertices, kind="u4"),
    }  # fmt: skip
    size = {**ints("vertices walks steps", vertices, walks, steps), "restart": np.uint32(0.15 * 2**32)}
    return Problem(
        arrays={**arrays, "top": zeros(seeds, k, kind="i4")},
        scalars={**size, **ints("count_seeds k", seeds, k)},
        launches=[
            Launch("rwr_walk", (blocks(walks, 256), seeds), 256, (*arrays, *size)),
            Launch("rwr_top", seeds, 128, ("visits", "top", "vertices", "k")),
        ],
        changed=["visits", "top"],
    )


@case(full=3000, quick=70)
def bqsr(reads: int) -> Problem:
    """Qualities fall towards the ends of reads of 151; errors are more than they say."""
    rng = np.random.default_rng(5314)
    length, genome = 151, max(4 * reads, 1000)
    reference = rng.integers(0, 4, genome + length).astype("u1")
    position = rng.integers(0, genome, reads).astype("i4")
    cycle = np.arange(length)
    quality = 38 - cycle // 12 - rng.geometric(0.4, (reads, length))
    quality = np.where(rng.random((reads, length)) < 0.05, rng.integers(2, 15, (reads, length)), quality)
    quality = np.clip(quality, 2, 41)
    wrong = rng.random((reads, length)) < 0.005 + (41 - quality) / 400
    base = reference[position[:, None] + cycle] + wrong * rng.integers(1, 4, (reads, length)) & 3
    tables = {
        "by_quality": zeros(48, 2, kind="u4"), "by_cycle": zeros(48, 160, 2, kind="u4"),
        "by_context": zeros(48, 16, 2, kind="u4"),
    }  # fmt: skip
    shifts = {"quality_shift": zeros(48), "cycle_shift": zeros(48, 160), "context_shift": zeros(48, 16)}
    read = {
        "reads": (quality << 2 | base).astype("u1"), "position": position, "reference": reference,
        "known_sites": (rng.integers(0, 2**32, blocks(genome + length, 32) + 1) & 0x01001020).astype("u4"),
    }  # fmt: skip
    size = ints("count_reads length", reads, length)
    return Problem(
        arrays={**read, **tables, **shifts, "out": zeros(reads, length, kind="u1")},
        scalars=size,
        launches=[
            Launch("bqsr_count", 40, (32, 8), (*read, *tables, *size)),
            Launch("bqsr_model", 48, 64, (*tables, *shifts, "length")),
            Launch("bqsr_apply", 80, 256, ("reads", *shifts, "out", *size)),
        ],
        changed=[*tables, *shifts, "out"],
        tolerance=1e-5,
        mismatches=1e-3,  # roundings to whole qualities
    )


@case(full=2000, quick=60)
def kmer_spec(reads: int) -> Problem:
    """Reads that cover a genome some twelve times, both strands, with errors; slots are in any order."""
    rng = np.random.default_rng(5315)
    length, words = 150, 10
    genome = rng.integers(0, 4, max(reads * length // 12, 400)).astype("u1")
    starts = rng.integers(0, len(genome) - length, reads)
    bases = genome[starts[:, None] + np.arange(length)]
    bases = np.where(rng.random((reads, 1)) < 0.5, bases, 3 - bases[:, ::-1])
    bases = np.where(rng.random(bases.shape) < 0.004, rng.integers(0, 4, bases.shape), bases)
    padded = np.zeros((reads, words, 16), "u4")
    padded.reshape(reads, -1)[:, :length] = bases
    packed = (padded << (2 * np.arange(16, dtype="u4"))).sum(axis=-1).astype("u4")
    unsure = np.zeros((reads, 5, 32), "u4")
    unsure.reshape(reads, -1)[:, :length] = rng.random(bases.shape) < 0.001
    masks = (unsure << np.arange(32, dtype="u4")).sum(axis=-1).astype("u4")
    slots = 1 << (reads * 70).bit_length()
    table = {"keys": zeros(slots, kind="u8"), "counts": zeros(slots, kind="u4")}
    read = {
        "packed": packed, "unsure": masks, "lengths": rng.integers(100, length + 1, reads).astype("u2"),
    }  # fmt: skip
    return Problem(
        arrays={**read, **table, "spectrum": zeros(64, kind="u4")},
        scalars={**ints("reads words_per_read", reads, words), "slots": np.uint32(slots)},
        launches=[
            Launch("spec_clear", 64, 256, (*table, np.int32(slots))),
            Launch(
                "spec_count", blocks(reads, 128), 128, (*read, *table, "reads", "words_per_read", "slots")
            ),
            Launch("spec_histogram", 32, 256, ("counts", "spectrum", np.int32(slots))),
        ],
        changed=[*table, "spectrum"],
        unordered=["keys", "counts"],
    )


@case(full=240, quick=83)
def census_lr(w: int) -> Problem:
    """Planes at several depths, noise in both pictures; rows that blocks of 128 do not fill."""
    rng = np.random.default_rng(5316)
    h, disparities = w * 5 // 8 - 1, 48 if w > 100 else 17
    wide = rng.integers(0, 256, (h, w + 64))
    wide = (wide + wide[:, ::-1] // 3) * 3 // 4
    depth = np.full((h, w), 5)
    depth[h // 4 : h // 2, w // 3 : w * 2 // 3] = 11
    depth[h // 2 : h - 9, w // 2 : w - 5] = 15
    columns = np.arange(w) + 32
    left = np.take_along_axis(wide, columns - depth // 2, axis=1)
    right = np.take_along_axis(wide, columns + (depth + 1) // 2, axis=1)
    sides = {
        name: np.clip(picture + rng.integers(-6, 7, (h, w)), 0, 255).astype("u1")
        for name, picture in (("left", left), ("right", right))
    }
    made = {
        "left_codes": zeros(h, w, kind="u8"), "right_codes": zeros(h, w, kind="u8"),
        "left_disparity": zeros(h, w, kind="u1"), "right_disparity": zeros(h, w, kind="u1"),
        "out": zeros(h, w, kind="u1"),
    }  # fmt: skip
    tiles, rows, sizes = (blocks(w, 32), blocks(h, 8)), (blocks(w, 128), h), ("w", "disparities")
    both = ("left_disparity", "right_disparity", "out", "w", "h")
    return Problem(
        arrays=sides | made,
        scalars=ints("w h disparities", w, h, disparities),
        launches=[
            Launch("census", tiles, (32, 8), ("left", "left_codes", "w", "h")),
            Launch("census", tiles, (32, 8), ("right", "right_codes", "w", "h")),
            Launch("match_left", rows, 128, ("left_codes", "right_codes", "left_disparity", *sizes)),
            Launch("match_right", rows, 128, ("right_codes", "left_codes", "right_disparity", *sizes)),
            Launch("check_lr", tiles, (32, 8), both),
        ],
        changed=[*made],
    )


@case(full=120_001, quick=1501)
def stft_gate(samples: int) -> Problem:
    """Tones that come and go in noise; a butterfly a thread, 16 rounds."""
    rng = np.random.default_rng(5317)
    count = (samples - 256) // 64 + 1
    t = np.arange(samples)
    tones = settled(np.sin(t * 0.131) * (t // 3000 % 2) + np.sin(t * 0.467) * (t // 2000 % 3 == 1))
    angle = np.arange(256) * (2 * np.pi / 256)
    roots = settled(np.stack([np.cos(angle[:128]), -np.sin(angle[:128])], -1)).astype("f4")
    read = {
        "signal": (tones + 0.2 * centred(rng, samples, kind="f8")).astype("f4"),
        "window": settled(0.5 - 0.5 * np.cos(angle)).astype("f4"), "roots": roots,
        "noise": (4 + 2 * rng.random(129)).astype("f4"),
    }  # fmt: skip
    how = floats("strength floor", 1.5, 0.02)
    return Problem(
        arrays={**read, "frames": zeros(count, 256), "out": zeros(samples)},
        scalars={**ints("samples count", samples, count), **how},
        launches=[
            Launch("stft_frames", count, 128, (*read, "frames", "samples", *how)),
            Launch("overlap_add", blocks(samples), 256, ("frames", "window", "out", "samples", "count")),
        ],
        changed=["frames", "out"],
        tolerance=2e-5,
    )


EDGE = np.dtype([(name, "f8") for name in ("nx", "ny", "length", "mx", "my")] + [("neighbour", "i4", 2)])


def triangles_of(nx: int, ny: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Centres, areas and edges of squares that are cut in two, corners moved, cells shuffled."""
    corner = np.stack(np.meshgrid(np.arange(nx + 1), np.arange(ny + 1), indexing="ij"), -1).astype("f8")
    corner[1:-1, 1:-1] += 0.4 * (rng.random((nx - 1, ny - 1, 2)) - 0.5)
    corner /= nx
    cells = 2 * nx * ny
    place = rng.permutation(cells).reshape(nx, ny, 2)
    beyond = np.full((nx + 2, ny + 2, 2), -1)
    beyond[1:-1, 1:-1] = place
    i, j = np.meshgrid(np.arange(nx), np.arange(ny), indexing="ij")
    a, b, c, d = (corner[i + x, j + y] for x, y in ((0, 0), (1, 0), (1, 1), (0, 1)))
    # the lower triangle is a, b, c, the upper one a, c, d; each edge with the cell behind it
    near = beyond[i + 1, j, 1], beyond[i + 2, j + 1, 1], place[..., 1]
    far = place[..., 0], beyond[i + 1, j + 2, 0], beyond[i, j + 1, 0]
    centre, area, edges = zeros(cells, 2, kind="f8"), zeros(cells, kind="f8"), np.zeros((cells, 3), EDGE)
    for which, points, neighbours in ((0, (a, b, c), near), (1, (a, c, d), far)):
        at = place[..., which]
        centre[at] = (points[0] + points[1] + points[2]) / 3
        one, two = points[1] - points[0], points[2] - points[0]
        area[at] = (one[..., 0] * two[..., 1] - one[..., 1] * two[..., 0]) / 2
        for k in range(3):
            start, end = points[k], points[(k + 1) % 3]
            along = end - start
            length = np.sqrt(along[..., 0] ** 2 + along[..., 1] ** 2)
            edges["nx"][at, k], edges["ny"][at, k] = along[..., 1] / length, -along[..., 0] / length
            edges["length"][at, k] = length
            edges["mx"][at, k], edges["my"][at, k] = np.moveaxis((start + end) / 2, -1, 0)
            edges["neighbour"][at, k, 0] = neighbours[k]
    return centre, area, edges


@case(full=60, quick=9)
def muscl_tri(nx: int) -> Problem:
    """A bubble of pressure in a box; four steps."""
    rng = np.random.default_rng(5318)
    ny, steps = nx - 2, 4
    centre, area, edges = triangles_of(nx, ny, rng)
    cells = len(area)
    inside = (centre[:, 0] - 0.4) ** 2 + (centre[:, 1] - 0.5) ** 2 < 0.04
    conserved = zeros(cells, 4, kind="f8")
    conserved[:, 0] = np.where(inside, 1.0, 0.3)
    conserved[:, 1] = 0.1 * conserved[:, 0]
    conserved[:, 3] = np.where(inside, 1.0, 0.2) / 0.4 + 0.005 * conserved[:, 0]
    arrays = {
        "conserved": conserved, "w": zeros(cells, 4, kind="f8"), "centre": centre, "area": area,
        "edges": edges.view("u1").reshape(cells, -1), "gradient": zeros(cells, 4, 2, kind="f8"),
    }  # fmt: skip
    numbers = {"cells": np.int32(cells), "dt": np.float64(0.08 / nx)}
    grid = blocks(cells, 128)
    step = [
        Launch("tri_primitive", grid, 128, ("conserved", "w", "cells")),
        Launch("tri_gradient", grid, 128, ("w", "centre", "edges", "gradient", "cells")),
        Launch("tri_update", grid, 128, (*arrays, *numbers)),
    ]
    return Problem(
        arrays=arrays,
        scalars={**numbers, "steps": np.int32(steps)},
        launches=step * steps,
        changed=["conserved", "w", "gradient"],
        tolerance=1e-9,
        mismatches=1e-3,  # limits where a difference is nearly nothing
    )


@case(full=80, quick=3)
def ba_jets(cameras: int) -> Problem:
    """Cameras around a cloud of points, each of which sees many of them; some observations are far off."""
    rng = np.random.default_rng(5319)
    points, each = 60 * cameras, 350 if cameras > 5 else 50
    counts = rng.integers(each // 2, each, cameras)
    first = np.concatenate([[0], counts.cumsum()]).astype("i4")
    point_of = np.concatenate([np.sort(rng.permutation(points)[:count]) for count in counts.tolist()])
    model = np.empty((cameras, 9), "f4")
    model[:, :3] = 0.3 * centred(rng, cameras, 3) + np.float32(0.1)
    model[:, 3:5] = 0.2 * centred(rng, cameras, 2)
    model[:, 5] = -6
    model[:, 6] = 500 + 50 * rng.random(cameras)
    model[:, 7:] = 0.02 * centred(rng, cameras, 2)
    cloud = centred(rng, points, 3)
    observed = len(point_of)
    read = {
        "cameras": model, "points": cloud, "first": first, "point_of": point_of.astype("i4"),
        "seen": 90 * centred(rng, observed, 2),
    }  # fmt: skip
    made = {
        "camera_hessian": zeros(cameras, 45), "camera_gradient": zeros(cameras, 9),
        "point_hessian": zeros(points, 6), "point_gradient": zeros(points, 3),
        "residuals": zeros(observed, 2),
    }  # fmt: skip
    return Problem(
        arrays=read | made,
        scalars={**floats("huber", 30.0), "count": np.int32(cameras)},
        launches=[Launch("ba_normal", cameras, 128, (*read, *made, "huber"))],
        changed=[*made],
        tolerance=1e-4,
    )


@case(full=20_000, quick=402)
def lsm_put(paths: int) -> Problem:
    """Two launches and one of a single thread for each of 49 dates."""
    rng = np.random.default_rng(5320)
    steps, groups = (50, 12) if paths > 1000 else (7, 3)
    dt, vol, rate = 1.0 / steps, 0.2, 0.06
    walk = {
        "s0": np.float64(36.0), "drift": np.float64((rate - vol * vol / 2) * dt),
        "vol": np.float64(vol * np.sqrt(dt)),
    }  # fmt: skip
    terms = {"strike": np.float64(40.0), "discount": np.float64(settled(np.exp([-rate * dt]))[0])}
    price = zeros(steps, paths, kind="f8")
    launches = [
        Launch("lsm_paths", blocks(paths, 128), 128, ("normals", "price", "paths", "steps", *walk)),
        Launch("lsm_last", groups, 256, ("price", "cash", np.int32(steps - 1), "paths", "strike")),
    ]
    for t in reversed(range(steps - 1)):
        date = (np.int32(t), "paths", *terms)
        launches += [
            Launch("lsm_sums", groups, 256, ("price", "cash", "partial", *date)),
            Launch("lsm_solve", 1, 1, ("partial", "beta", np.int32(groups))),
            Launch("lsm_exercise", groups, 256, ("price", "cash", "beta", *date)),
        ]
    return Problem(
        arrays={
            "normals": centred(rng, steps, paths // 2), "price": price, "cash": zeros(paths, kind="f8"),
            "beta": zeros(3, kind="f8"), "partial": zeros(groups, 8, kind="f8"),
        },
        scalars={**ints("paths steps", paths, steps), **walk, **terms},
        launches=launches,
        changed=["price", "cash", "beta", "partial"],
        native=("normals", "price", "cash", "beta"),
        tolerance=1e-6,
        mismatches=1e-3,
    )  # fmt: skip
