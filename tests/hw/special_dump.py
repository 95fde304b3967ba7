"""Results of whole blocks of inputs in a small file.

`tests.hw.dump_special` writes it, `tests.hw.fit_special` reads it. Neighbouring inputs have results that
differ by few last places. Each is kept as the difference of its bits from those of the one before, sign in
the lowest bit, the four bytes of all differences apart. bzip2 then needs a thirtieth of a bit for one.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import numpy as np

from tests.unit.isa.meaning import Array

Results: TypeAlias = Callable[[str, int], Array]
"""Gives the `f4` results of an opcode for the inputs whose sign and exponent bits are a block's number."""

ABOUT = "about"


def packed(results: Array) -> Array:
    """`f4` results as four rows of bytes."""
    bits = results.view(np.uint32)
    steps = np.diff(bits, prepend=np.uint32(0)).view(np.int32)
    folded = (steps << 1) ^ (steps >> 31)
    return np.ascontiguousarray(folded.view(np.uint8).reshape(-1, 4).T)


def unpacked(rows: Array) -> Array:
    """The results that `packed` was given."""
    folded = np.ascontiguousarray(rows.T).view(np.uint32).ravel()
    steps = (folded >> np.uint32(1)) ^ (np.uint32(0) - (folded & np.uint32(1)))
    return np.cumsum(steps, dtype=np.uint32).view(np.float32)


def member(opcode: str, block: int) -> str:
    return f"{opcode} {block}"


class Dump:
    """A new file of results; `about` says whose they are. Close it at the end."""

    def __init__(self, path: Path, about: str) -> None:
        self.archive = zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2, compresslevel=9)
        self._write(ABOUT, np.array(about))

    def add(self, opcode: str, block: int, results: Array) -> None:
        self._write(member(opcode, block), packed(results))

    def _write(self, name: str, array: Array) -> None:
        with self.archive.open(f"{name}.npy", "w") as file:
            np.lib.format.write_array(file, np.asanyarray(array))

    def close(self) -> None:
        self.archive.close()


def dumped(path: Path) -> Results:
    """The results of a file. Raises `KeyError` for a block that it lacks."""
    file = np.load(path)
    return lambda opcode, block: unpacked(file[member(opcode, block)])
