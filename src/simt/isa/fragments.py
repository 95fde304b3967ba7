"""How the lanes of a warp hold a matrix: its *fragment*, some registers of each lane.

Lanes are in groups of four. A register holds elements that stand side by side: of `a` and `b` along the
dimension over which products are summed (so many that they fill it), of `c` and `d` two in a row, in one
register or in two. Lane n has those of line n / 4 of a block of eight lines (rows of `a`, `c` and `d`,
columns of `b`), from place n % 4 on. So it is in `mma` by the manual, and in `wmma` on an H200
(`tests/hw/tensor.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from simt.ptx.types import B32, F32, F64, S32, TYPES, Type
from simt.records import dataclass

GROUP = 4
"""Lanes that hold a line together."""
LINES = 8
"""Lines of a block: as many as there are groups."""
WARP = 32
DOUBLED = 8
"""Registers for halves of `a` or `b` in `wmma`, whatever the shape: what is left over repeats the others."""

BITS = {name: t.bits for name, t in TYPES.items()} | {
    "tf32": 32, "e4m3": 8, "e5m2": 8, "u4": 4, "s4": 4, "b1": 1,
}  # fmt: skip
"""Of an element, which may be of no type of PTX."""

LAYOUTS = "row col"
"""How a matrix lies in memory, or is taken."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """`d` has m rows and n columns; k products are summed for each element."""

    m: int
    n: int
    k: int

    def of(self, matrix: str) -> tuple[int, int]:
        """Rows and columns of the matrix `a`, `b`, `c` or `d`."""
        return {"a": (self.m, self.k), "b": (self.k, self.n)}.get(matrix, (self.m, self.n))

    @property
    def is_turned(self) -> bool:
        """Whether rows and columns change parts: `a` is held as `b` is elsewhere, and `c` by columns."""
        return self.m < self.n


def sizes(shape: str) -> Sizes:
    """Of a modifier such as `m16n8k16`."""
    return Sizes(*(int(number) for number in re.findall(r"\d+", shape)))


def name_of(t: object) -> str:
    """The modifier of an element's type, which may or may not be a type of registers."""
    return t.name if isinstance(t, Type) else str(t)


def register(matrix: str, element: str) -> Type:
    """The type of the registers that hold a matrix."""
    if element == "f64":
        return F64
    return {"f32": F32, "s32": S32}.get(element, B32) if matrix in "cd" else B32


def elements_of(matrix: str, element: str) -> int:
    """How many elements a register holds."""
    return register(matrix, element).bits // BITS[element]


def registers(matrix: str, binding: Mapping[str, object]) -> tuple[Type, int]:
    """The type and the number of a lane's registers, by the modifiers `shape` and `atype`, `btype` ..."""
    element = name_of(binding[f"{matrix}type"])
    rows, columns = sizes(str(binding["shape"])).of(matrix)
    return register(matrix, element), rows * columns // (WARP * elements_of(matrix, element))


def wmma_registers(matrix: str, binding: Mapping[str, object]) -> tuple[Type, int]:
    """The same for `wmma`, where the modifier `type` may be that of one matrix, which `matrix` names."""
    if matrix == "matrix":
        matrix = str(binding["matrix"])
        binding = {**binding, f"{matrix}type": binding["type"]}
    t, count = registers(matrix, binding)
    return t, DOUBLED if matrix in "ab" and name_of(binding[f"{matrix}type"]) == "f16" else count


def blocks(matrix: str, shape: Sizes, element: str) -> Iterator[tuple[int, int]]:
    """For each register of `a` or `b`: its block of lines, and its block of places, in `wmma`.

    Lines are held as `mma` wants them: of what is the taller of the two, two blocks together."""
    rows, columns = shape.of(matrix)
    lines, places = (rows, columns) if matrix == "a" else (columns, rows)
    ends = lines // LINES, places // (GROUP * elements_of(matrix, element))
    tall = (matrix == "a") != shape.is_turned and ends[0] > 1
    for first in range(0, ends[0], 2 if tall else 1):
        for place in range(ends[1]):
            for line in range(first, first + (2 if tall else 1)):
                yield line, place


def pairs(shape: Sizes) -> Iterator[tuple[int, int]]:
    """For each pair of neighbouring elements of `c` or `d`: its block of lines, and its block of 8 places.

    Lines are rows, but columns if the shape is turned."""
    lines, places = (shape.n, shape.m) if shape.is_turned else (shape.m, shape.n)
    for place in range(places // LINES):
        for line in range(lines // LINES):
            yield line, place
