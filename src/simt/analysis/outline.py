"""A program as a whole, without what instructions are (`simt.analysis.program`).

It is all that running compiled code needs; a cached start imports no more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from simt.diagnostics import Source as Text
from simt.ptx.environment import Environment
from simt.ptx.types import Type
from simt.records import dataclass, field

if TYPE_CHECKING:
    from simt.analysis.program import Block, Call, Op, Register

BARRIERS = 16
"""Barriers of a CTA, numbered from 0."""
EVENTS = 16
"""Performance monitor events, numbered from 0 (PTX 1.4 table 85)."""
FRAME_ALIGNMENT = 16
"""Bytes that divide the size of every frame of local variables."""
FUNCTION_ALIGNMENT = 16
"""Divides the addresses of functions: C++ marks pointers to virtual member functions by odd numbers."""

Factor = tuple[int, int]
"""An integer in the parameter block: offset and size in bytes."""
Number = tuple[Factor, int]
"""What such an integer is."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A kernel parameter: byte offset and size in the parameter block, element type, alignment. `single`: of
    type .f64, but the device has no double precision and finds a .f32 in the lower half."""

    name: str
    type: Type
    offset: int
    size: int
    align: int
    array: bool = False
    pointer: bool = False
    single: bool = False


@dataclass(frozen=True, slots=True)
class Missing:
    """An instruction that simt knows but does not run: as written, its line, and the functions by which a
    kernel reaches it, the last of which has it."""

    opcode: str
    line: int
    path: tuple[str, ...] = ()


@dataclass(slots=True, eq=False)
class Function:
    """A kernel or a device function. `blocks[0]` is the entry.

    `kernel_parameters`: of a kernel. `parameters` and `results`: of a device function, as registers
    (cells or `.reg` parameters). `shared`: offset of every shared variable that the kernel can reach;
    `shared_size` static bytes; dynamic shared memory begins at `dynamic_shared` (also the offset of
    `extern .shared` arrays). `local`: offsets within the frame of `local_size` bytes, which begins at a
    multiple of `frame_align`.
    `limits`: performance directives by name, e.g. {"maxntid": (256, 1, 1)}. `calls`: a `Call` may be among
    its ops. `events`, `breakpoints`: of a kernel, whether it can reach a `pmevent` or a `brkpt`. `factors`:
    its parameters by which it multiplies indices; `ways`: those that say which of some ways it goes
    (`simt.analysis.factors`). `missing`: instructions that are not run, of a kernel all that it can reach: it
    cannot be launched if there are any.
    """

    name: str
    is_kernel: bool
    blocks: list[Block]
    registers: list[Register]
    kernel_parameters: tuple[Parameter, ...] = ()
    parameter_size: int = 0
    parameters: tuple[Register, ...] = ()
    results: tuple[Register, ...] = ()
    shared: dict[str, int] = field(default_factory=dict[str, int])
    shared_size: int = 0
    dynamic_shared: int = 0
    local: dict[str, int] = field(default_factory=dict[str, int])
    local_size: int = 0
    frame_align: int = FRAME_ALIGNMENT
    recursive: bool = False
    limits: dict[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    line: int = 0
    calls: bool = True
    events: bool = False
    breakpoints: bool = False
    factors: tuple[Factor, ...] = ()
    ways: tuple[Factor, ...] = ()
    missing: tuple[Missing, ...] = ()

    def ops(self) -> Iterator[Op | Call]:
        for block in self.blocks:
            yield from block.ops

    def call_ops(self) -> Iterator[Call]:
        """Its calls. Its blocks are not looked at if there are none."""
        if not self.calls:
            return
        from simt.analysis.program import Call

        yield from (op for op in self.ops() if isinstance(op, Call))


@dataclass(frozen=True, slots=True)
class ModuleVariable:
    """A module-scope variable: `data` is its initial image, zero-filled; `relocations` are (offset,
    symbol, addend, generic, byte): `byte` None for a whole address, else which byte of it. `shares`: of a
    texture, the name of the one that it is the same as, if it has another name."""

    name: str
    space: str
    type: Type
    size: int
    align: int
    data: bytes | None
    relocations: tuple[tuple[int, str, int, bool, int | None], ...] = ()
    linkage: str = ""
    shape: tuple[int, ...] = ()
    vector: int = 1
    shares: str = ""


@dataclass(slots=True, eq=False, weakref_slot=True)
class Program:
    """A whole module. `address_bits` is 32 or 64."""

    functions: dict[str, Function]
    variables: dict[str, ModuleVariable]
    environment: Environment
    address_bits: int
    text: Text
    identity: str = ""  # hash of what the module means, for caches

    @property
    def function_addresses(self) -> dict[str, int]:
        """Numbers that stand for functions in registers and memory."""
        return {name: (i + 1) * FUNCTION_ALIGNMENT for i, name in enumerate(self.functions)}

    @property
    def kernels(self) -> list[str]:
        return [f.name for f in self.functions.values() if f.is_kernel]
