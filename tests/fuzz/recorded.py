"""What a real GPU made of random programs: the texts, and a hash of every thread's results."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tests.fuzz.running import Case, Outputs

FILE = Path(__file__).with_name("recorded.npz")
Hashes: TypeAlias = "NDArray[np.uint32]"


def row_hashes(rows: NDArray[Any]) -> Hashes:
    """A hash of each row of words."""
    return np.array([zlib.crc32(np.ascontiguousarray(row).tobytes()) for row in rows], np.uint32)


def hashes(out: NDArray[Any], acc: NDArray[Any], own: NDArray[Any]) -> Hashes:
    """One for each thread's registers, one for each thread's own memory, one for all accumulators."""
    parts = row_hashes(out), row_hashes(own.reshape(len(out), -1)), row_hashes(acc.reshape(1, -1))
    return np.concatenate(parts)


def pack(raw: Sequence[Path], target: Path) -> None:
    """Writes texts and hashes of raw recordings."""
    found: dict[str, Any] = {}
    for path in raw:
        with np.load(path) as file:
            arrays = dict(file)
        for seed in sorted({int(key.split("/")[0]) for key in arrays}):
            out, acc, own, text = (arrays[f"{seed}/{n}"] for n in ("out", "acc", "own", "text"))
            found[f"{seed}/hashes"], found[f"{seed}/text"] = hashes(out, acc, own), text
    texts = b"\0".join(v.tobytes() for k, v in found.items() if k.endswith("text"))
    values = [v for k, v in found.items() if k.endswith("hashes")]
    sizes = np.array([len(v) for v in values])
    np.savez_compressed(
        target, texts=np.frombuffer(texts, np.uint8), hashes=np.concatenate(values), sizes=sizes
    )


@cache
def recordings(path: Path = FILE) -> list[tuple[Case, Hashes]]:
    """Every recorded program with its hashes, by seed."""
    with np.load(path) as file:
        texts = file["texts"].tobytes().decode().split("\0")
        values = np.split(file["hashes"], np.cumsum(file["sizes"])[:-1])
    return [(parse_case(text), value) for text, value in zip(texts, values)]


def parse_case(text: str) -> Case:
    """A program's launch from its first line."""
    numbers = [int(n) for n in re.findall(r"\d+", text.partition("\n")[0])]
    seed, *shape = numbers[:7]
    grid, block = (shape[0], shape[1], shape[2]), (shape[3], shape[4], shape[5])
    return Case(seed, grid, block, text)


def wrong(outputs: Outputs, expected: Hashes) -> list[str]:
    """What differs from the GPU: threads by number, or the accumulators."""
    found = hashes(outputs.registers, outputs.sums, outputs.own)
    threads = len(outputs.registers)
    names = [f"{what} of thread {i}" for what in ("registers", "own memory") for i in range(threads)]
    return [name for name, same in zip([*names, "accumulators"], found == expected) if not same]
