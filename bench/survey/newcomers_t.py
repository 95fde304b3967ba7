"""Kernels as they stand in repositories of able programmers, chosen without knowing what the JIT is good at:
codecs, series of measurements, genomes, graphs, keys, robots, pictures, rays, fits."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, floats, ints, settled, zeros


def photo(w: int, h: int, seed: int) -> Array:
    """Slopes, discs and noise: 8 bits a pixel."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:h, :w]
    picture = 70 + x * 60 // w + y * 50 // h + rng.integers(-6, 7, (h, w))
    for _ in range(25):
        cx, cy, r, light = rng.integers((0, 0, 3, -50), (w, h, w // 8 + 4, 60))
        picture[(x - cx) ** 2 + (y - cy) ** 2 < r * r] += light
    return np.clip(picture, 0, 255).astype("u1")


@case(full=300, quick=6)
def yin(frames: int) -> Problem:
    """Tones with overtones that slide, and noise between them."""
    hop, rate = 160, 16000.0
    rng = np.random.default_rng(101)
    n = frames * hop + 768
    step = 0.01 + 0.04 * np.repeat(rng.random(n // 2000 + 1), 2000)[:n]
    phase = 2 * np.pi * np.cumsum(step)
    loud = np.repeat(rng.random(n // 1500 + 1) > 0.2, 1500)[:n]
    tone = np.sin(phase) + 0.5 * np.sin(2 * phase) + 0.3 * np.sin(3 * phase)
    audio = settled(0.4 * tone * loud + 0.02 * (rng.random(n) - 0.5)).astype("f4")
    numbers = {"hop": np.int32(hop), **floats("rate threshold", rate, 0.15)}
    return Problem(
        arrays={"audio": audio, "pitch": zeros(frames), "clarity": zeros(frames)},
        scalars={**numbers, "frames": np.int32(frames)},
        launches=[Launch("yin", frames, 256, ("audio", "pitch", "clarity", *numbers))],
        changed=["pitch", "clarity"],
        tolerance=1e-4,
        mismatches=0.01,
    )


@case(full=1500, quick=75)
def malvar(w: int) -> Problem:
    """Neither extent is a multiple of the tile's."""
    h = w * 2 // 3 - 3
    size = ints("w h", w, h)
    return Problem(
        arrays={"raw": photo(w, h, 102), "rgba": zeros(h, w, kind="u4")},
        scalars=size,
        launches=[Launch("malvar", (blocks(w, 32), blocks(h, 8)), (32, 8), ("raw", "rgba", *size))],
        changed=["rgba"],
    )


@case(full=900, quick=83)
def png_pick(w: int) -> Problem:
    """Of a smooth picture: each filter but the first wins somewhere."""
    h = w * 2 // 3
    image = np.stack([photo(w, h, 103 + channel) for channel in range(3)], -1)
    image = np.concatenate([image, np.full((h, w, 1), 255, "u1")], -1)
    image[h // 3 : h // 2] = image[h // 3]
    return Problem(
        arrays={"image": image, "out": zeros(h, 4 * w + 1, kind="u1")},
        scalars=ints("w h", w, h),
        launches=[Launch("png_pick", h, 256, ("image", "out", "w"))],
        changed=["out"],
    )


def gorilla_block(times: list[int], values: list[int]) -> str:
    """Its bits: deltas of deltas in five sizes, xors of doubles."""

    def low(value: int, size: int) -> str:
        return format(value & (1 << size) - 1, f"0{size}b")

    bits = [low(times[0], 64), low(values[0], 64)]
    delta, leading, length = 0, 0, 64
    for i in range(1, len(times)):
        dod = times[i] - times[i - 1] - delta
        delta += dod
        if dod == 0:
            bits.append("0")
        else:
            sizes = (("10", 7), ("110", 9), ("1110", 12), ("1111", 32))
            prefix, size = next(s for s in sizes if -(1 << s[1] - 1) <= dod < 1 << s[1] - 1)
            bits.append(prefix + low(dod, size))
        changed = values[i] ^ values[i - 1]
        if changed == 0:
            bits.append("0")
            continue
        lead = min(64 - changed.bit_length(), 31)
        trail = (changed & -changed).bit_length() - 1
        if lead >= leading and trail >= 64 - leading - length:
            bits.append("10")
        else:
            leading, length = lead, 64 - lead - trail
            bits.append("11" + low(leading, 5) + low(length - 1, 6))
        bits.append(low(changed >> 64 - leading - length, length))
    return "".join(bits)


@case(full=900, quick=75)
def gorilla(count: int) -> Problem:
    """Measurements each minute with some jitter; a third of the series stays as it is for long."""
    each = 120 if count > 100 else 30
    rng = np.random.default_rng(104)
    parts, starts, at = list[str](), list[int](), 0
    for block in range(count):
        jitter = rng.integers(-40, 41, each) * (rng.random(each) < 0.3)
        times = 1_700_000_000 + 86_400 * block + 60 * np.arange(each) + jitter
        moves = rng.integers(-8, 9, each) * (rng.random(each) < (0.1 if block % 3 == 0 else 0.9))
        values = (np.cumsum(moves) / 4 + 200 + block % 50).astype("f8")
        parts.append(gorilla_block(times.tolist(), values.view("u8").tolist()))
        starts.append(at)
        at += len(parts[-1])
    whole = "".join(parts)
    whole += "0" * (-len(whole) % 64 + 128)
    words = np.array([int(whole[i : i + 64], 2) for i in range(0, len(whole), 64)], "u8")
    size = ints("count each", count, each)
    arrays = {
        "stream": words, "start": np.array(starts, "u8"),
        "time": zeros(count, each, kind="i8"), "value": zeros(count, each, kind="f8"),
    }  # fmt: skip
    return Problem(
        arrays=arrays,
        scalars=size,
        launches=[Launch("gorilla", blocks(count, 128), 128, (*arrays, *size))],
        changed=["time", "value"],
    )


def aligned_reads(reference: Array, n: int) -> tuple[Array, ...]:
    """Reads of some 100 bases with errors, gaps and clipped ends, in order of their positions."""
    rng = np.random.default_rng(105)
    length = len(reference)
    other = (reference + rng.integers(1, 4, length)) % 4
    snp, both = rng.random(length) < 0.01, rng.random(length) < 0.4
    reads, ops, bases = list[tuple[int, int, int, int]](), list[int](), list[Array]()
    total = 0
    for position in np.sort(rng.integers(0, length - 160, n)).tolist():
        first_op, first_base, at = len(ops), total, position
        copy = int(rng.integers(2))

        def add(op: int, span: int, seen: Array) -> None:
            nonlocal total
            ops.append(span << 4 | op)
            bases.append(seen)
            total += len(seen)

        if rng.random() < 0.2:
            clipped = int(rng.integers(1, 15))
            add(4, clipped, rng.integers(0, 4, clipped))
        for piece in range(int(rng.choice([1, 1, 1, 2, 3]))):
            if piece > 0:
                span, kind = int(rng.integers(1, 6)), int(rng.integers(1, 3))
                add(kind, span, rng.integers(0, 4, span * (kind == 1)))
                at += span * (kind == 2)
            span = int(rng.integers(25, 45)) if piece else int(rng.integers(35, 60))
            here = slice(at, at + span)
            add(0, span, np.where(snp[here] & (both[here] | (copy == 1)), other[here], reference[here]))
            at += span
        reads.append((position, first_op, len(ops) - first_op, first_base))
    seen = np.concatenate(bases)
    quality = np.minimum(rng.integers(2, 60, len(seen)), 40).astype("u1")
    wrong = rng.random(len(seen)) < 0.01
    seen = np.where(wrong, rng.integers(0, 4, len(seen)), seen)
    quads = np.pad(seen, (0, -len(seen) % 4)).reshape(-1, 4).astype("u1")
    packed = (quads << np.array([0, 2, 4, 6], "u1")).sum(1).astype("u1")
    return np.array(reads, "i4"), np.array(ops, "u4"), packed, quality


@case(full=8000, quick=270)
def pileup(n: int) -> Problem:
    """Some 15 reads a position."""
    length = n * 5
    reference = np.random.default_rng(106).integers(0, 4, length).astype("u1")
    reads, cigar, packed, quality = aligned_reads(reference, n)
    made = {
        "counts": zeros(length, 4, kind="u4"), "weight": zeros(length, 4, kind="u4"),
        "gaps": zeros(length, kind="u4"),
    }  # fmt: skip
    found = {"genotype": zeros(length, kind="u1"), "score": zeros(length)}
    given = {"reads": reads, "cigar": cigar, "packed": packed, "quality": quality}
    scalars = {**ints("n min_quality length", n, 10, length), "het_prior": np.float32(-6.9)}
    call = (*made, "reference", *found, "length", "het_prior")
    return Problem(
        arrays={**given, **made, "reference": reference, **found},
        scalars=scalars,
        launches=[
            Launch("pileup_count", blocks(n, 128), 128, (*given, *made, "n", "min_quality")),
            Launch("pileup_call", blocks(length), 256, call),
        ],
        changed=[*made, *found],
        tolerance=1e-4,
        mismatches=0.001,
    )
