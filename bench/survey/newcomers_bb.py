"""Kernels of language models' serving and training, of proofs and hashes, genomes, cameras, meshes and options,
written without knowing what the JIT is good at."""

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


@case(full=300, quick=45)
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
    rows, each = cols * 3 // 5 + 3, cols // 32
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


@case(full=500, quick=90)
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


@case(full=700, quick=37)
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
