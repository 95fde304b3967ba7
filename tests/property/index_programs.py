"""Random kernels that get at memory by indices of many kinds, as trees.

An index is an affine function of the thread's place, loop counters and parameters that went through minima,
masks, shifts, extensions and the like. `tests.property.index_generator` makes such programs, `index_text`
writes them as PTX, `index_model` says what they do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

GLOBAL_BYTES, SHARED_BYTES, LOCAL_BYTES = 1 << 15, 1 << 11, 64
INPUT_BYTES = 1 << 12
"""The first bytes in global memory, which hold numbers of four kinds (`tests.property.index_model.first`)."""

RESULTS = GLOBAL_BYTES - 16 * 1024
"""Where 16 bytes for each thread begin, which it writes at its end."""

FACTOR, SALT, MULTIPLIER = 0x9E3779B1, 0x2545F491, 1664525
PLACES = ("%tx", "%ty", "%tz", "%cx", "%cy", "%lin", "%lane", "%gx")
"""Registers that hold the thread's place."""

PARAMETERS = ("%n0", "%n1", "%n2", "%n3")
VARIABLES = ("%v0", "%v1", "%v2")
AIMED = {"global": "%a0", "shared": "%a1"}
"""Pointers by state space, which point to its start at first."""

LOOPS = 3
"""Loops in each other at most; each level has a counter."""


@dataclass(frozen=True)
class Expr:
    """An instruction with operands; or a register (`reg`), or a number (`const`)."""

    op: str
    args: tuple[Expr | Cond | str | int, ...]
    bits: int


@dataclass(frozen=True)
class Cond:
    """`setp` with a comparison and a type."""

    compare: str
    type: str
    a: Expr
    b: Expr


def reg(name: str, bits: int = 32) -> Expr:
    return Expr("reg", (name,), bits)


def number(value: int, bits: int = 32) -> Expr:
    return Expr("const", (value,), bits)


def op(opcode: str, *args: Expr | Cond) -> Expr:
    return Expr(opcode, args, result_bits(opcode))


def result_bits(opcode: str) -> int:
    name, *rest = opcode.split(".")
    if name == "cvt":
        return int(rest[0][1:])
    return int(rest[-1][1:]) * (2 if "wide" in rest else 1)


@dataclass(frozen=True)
class Access:
    """`count` elements of a type at `region + extend(index) * scale`, and at more places `offsets` bytes on.
    `extend`: how the index gets 64 bits: `wide.s32` (a product), `cvt.u64.u32`; `32` and `64` leave it."""

    space: str
    type: str
    count: int
    region: int
    index: Expr
    extend: str
    scale: int
    offsets: tuple[int, ...]

    @property
    def word(self) -> int:
        return int(self.type[1:]) // 8

    @property
    def size(self) -> int:
        return self.word * self.count

    @property
    def suffix(self) -> str:
        vector = f".v{self.count}" if self.count > 1 else ""
        return f"{f'.{self.space}' if self.space != 'generic' else ''}{vector}.{self.type}"


@dataclass(frozen=True)
class Assign:
    variable: str
    value: Expr
    guard: Cond | None = None


@dataclass(frozen=True)
class Load:
    """All that is loaded goes into the thread's sum; the first element into a variable as well. `pointer`:
    the register that has the address, in place of the index."""

    access: Access
    into: str | None
    guard: Cond | None
    pointer: str | None = None


@dataclass(frozen=True)
class Aim:
    """Sets the pointer to its access's space."""

    access: Access
    guard: Cond | None


@dataclass(frozen=True)
class Store:
    """`value` None: what the address says, so that several threads may write to one place."""

    access: Access
    value: Expr | None
    guard: Cond | None


@dataclass(frozen=True)
class Add:
    """An atomic addition."""

    access: Access
    value: Expr


@dataclass(frozen=True)
class If:
    condition: Cond
    then: tuple[Statement, ...]
    other: tuple[Statement, ...]


@dataclass(frozen=True)
class Loop:
    """`for (counter = start; counter COMPARE bound; counter += step, pointer += advance)`, in bytes."""

    level: int
    start: Expr
    compare: str
    bound: Expr
    step: int
    pointer: Access | None
    advance: Expr
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class Break:
    """Out of the innermost loop."""

    condition: Cond


@dataclass(frozen=True)
class Exit:
    condition: Cond


@dataclass(frozen=True)
class Barrier:
    pass


@dataclass(frozen=True)
class Speak:
    """A shuffle (`way`: bfly, up, down or idx, by so many lanes), or a vote (ballot) on the lowest bit, of
    the whole warp; what lanes learn goes into their sums."""

    way: str
    value: Expr
    by: int


Statement: TypeAlias = Assign | Load | Aim | Store | Add | If | Loop | Break | Exit | Barrier | Speak


@dataclass(frozen=True)
class Program:
    """`spaces`: state spaces that it uses, beside global memory. `numbered`: of x, a thread asks only for its
    number in the grid's row."""

    block: tuple[int, int, int]
    grid: tuple[int, int]
    spaces: tuple[str, ...]
    parameters: tuple[int, ...]
    body: tuple[Statement, ...]
    numbered: bool = False
