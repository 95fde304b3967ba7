"""A checked module lowered for execution: names resolved, scopes gone, control flow as blocks.

Both engines start from this form. Registers are not in SSA form here (see `simt.analysis.ssa`).

What lowering has already done:

- every instruction is an `Op` with its `Form` and complete binding; operands are resolved values;
- vector registers are split into their elements; parameterised names are expanded as used;
- guarded control flow (`@p bra`, `@p ret`, `@p exit`, `@p bar`, `@p call`) is a `Branch` around an
  unguarded one; every other guarded instruction keeps its guard in the `Op`;
- `.param` variables of device functions and of calls are *cells*: one `.b32` register for each
  4 bytes; loads and stores at constant offsets become plain register moves. One whose address is
  taken, or that is indexed by a register, or is larger than `CELL_LIMIT` bytes, lives in the local frame;
- functions that contain a barrier (themselves or by a call) are inlined into their callers, unless recursive;
  an indirect call that may reach one compares the register with its address first;
- `CC.CF`, the carry flag, is an ordinary predicate register of its function.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

from simt.analysis.outline import BARRIERS as BARRIERS
from simt.analysis.outline import Function as Function
from simt.analysis.outline import ModuleVariable as ModuleVariable
from simt.analysis.outline import Parameter as Parameter
from simt.analysis.outline import Program as Program
from simt.ptx.types import Type
from simt.records import dataclass, field, quick

if TYPE_CHECKING:
    from simt.analysis.kinds import Kind
    from simt.isa.form import Form, Value  # the catalogue is not needed to run what is compiled

CELL_LIMIT = 256


MODULE_SCOPE = "::"
"""Begins the names of registers and local variables that a module declares outside functions, as it may up to
PTX 2.3. Every thread has one of them, whatever function it is in: functions that use them are inlined."""


@quick
@dataclass(frozen=True, slots=True, eq=False)
class Register:
    """A scalar register of one function. `index` counts from 0 within the function. One that the module
    declares is the same in all functions: its name begins with `MODULE_SCOPE`."""

    index: int
    name: str
    type: Type

    def __repr__(self) -> str:
        return f"{self.name}:{self.type.name}"


@quick
@dataclass(frozen=True, slots=True)
class Constant:
    """An immediate, already converted to the type at its use. `bits` is below 2^type.bits."""

    type: Type
    bits: int


@quick
@dataclass(frozen=True, slots=True)
class SymbolAddress:
    """The address of a variable in its own state space, plus a byte offset.

    Spaces `global`, `const`, `tex`: resolved at launch through `Launch.symbols[name]`. `shared`:
    `Function.shared[name]`; `local`: `Function.local[name]` plus the frame's start; `param` (kernel
    parameters): the parameter's offset within the parameter block, generic by `to_generic`.
    """

    space: str
    name: str
    offset: int
    type: Type


@dataclass(frozen=True, slots=True)
class FunctionAddress:
    """The address of a device function, as an integer: see `Program.function_addresses`."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Special:
    """A special register read: name without `%` and component ("" if scalar)."""

    name: str
    component: str
    type: Type


@dataclass(frozen=True, slots=True)
class Complement:
    """`!p`."""

    register: Register


Source: TypeAlias = Register | Constant | SymbolAddress | FunctionAddress | Special | Complement


@quick
@dataclass(frozen=True, slots=True)
class Address:
    """A memory operand: base plus byte offset (modulo 2^address width); no base: absolute."""

    base: Register | SymbolAddress | None
    offset: int


Operand: TypeAlias = Source | Address | tuple[Source, ...] | None


@quick
@dataclass(frozen=True, slots=True)
class Guard:
    register: Register
    negated: bool


@dataclass(slots=True, eq=False)
class Op:
    """One instruction that is not control flow.

    `sources` by the form's operand names. `destinations`: registers in the order in which the
    meaning returns values, None for a sink; `result_types` the types of those values before they are
    widened to their registers. With `carry="out"` in the form the carry register is the last
    destination; with "in" the carry register is `sources["carry"]`. `kind`: see `simt.analysis.kinds`.
    """

    form: Form
    binding: Mapping[str, Value]
    sources: dict[str, Operand]
    source_types: dict[str, Type]
    destinations: tuple[Register | None, ...]
    result_types: tuple[Type, ...]
    guard: Guard | None
    line: int
    kind: Kind | None = field(default=None, repr=False)


def memory_operands(op: Op) -> Iterator[tuple[Register, int]]:
    """Register and offset of each address that an op gets at through a register."""
    for source in op.sources.values():
        if isinstance(source, Address) and isinstance(source.base, Register):
            yield source.base, source.offset


@dataclass(slots=True, eq=False)
class Call:
    """A call, direct (`callee` a function's name) or indirect (a register with a `FunctionAddress` value).

    Arguments and results are matched by position with `Function.parameters` and `Function.results`.
    `candidates`: names that an indirect call may reach (from `.calltargets`, else every function whose
    address is taken and whose signature agrees).
    """

    callee: str | Register
    arguments: tuple[Source, ...]
    results: tuple[Register, ...]
    candidates: tuple[str, ...]
    line: int


@dataclass(slots=True, eq=False)
class Jump:
    """`written`: the program has an instruction here, a `bra`, or a `call` or `ret` of an inlined function;
    else control falls into a label. `gate`: `target` begins with what waits for other lanes, and is to stay a
    block (`simt.analysis.lower_gates`)."""

    target: Block
    line: int = 0
    written: bool = False
    gate: bool = False


@dataclass(slots=True, eq=False)
class Branch:
    """To `taken` where the predicate holds (where it does not, if `negated`), else to `otherwise`.
    `uniform`: the program says so (`.uni`); never trusted for safety. `around`: it is no instruction, but
    the guard of the one that `taken` begins with."""

    predicate: Register
    negated: bool
    taken: Block
    otherwise: Block
    uniform: bool = False
    line: int = 0
    around: bool = False


@dataclass(slots=True, eq=False)
class Switch:
    """`brx.idx`: to `targets[index]`; an index out of range is a fault."""

    index: Register
    targets: tuple[Block, ...]
    line: int = 0


@dataclass(slots=True, eq=False)
class Barrier:
    """`bar` / `barrier`: `action` is sync, arrive, or red; `barrier` its number; `count` of threads
    or None for all. `red` combines `predicate` by `reduce` (and, or, popc) into `result`."""

    action: str
    barrier: Source
    count: Source | None
    next: Block
    reduce: str = ""
    predicate: Source | None = None
    result: Register | None = None
    line: int = 0


@dataclass(slots=True, eq=False)
class Return:
    line: int = 0


@dataclass(slots=True, eq=False)
class Exit:
    line: int = 0


Terminator: TypeAlias = Jump | Branch | Switch | Barrier | Return | Exit


@dataclass(slots=True, eq=False)
class Block:
    """A straight run of ops ending in a terminator. `index` is its place in `Function.blocks`."""

    index: int
    ops: list[Op | Call] = field(default_factory=list["Op | Call"])
    terminator: Terminator = field(default_factory=Exit)

    def successors(self) -> tuple[Block, ...]:
        match self.terminator:
            case Jump(target=t):
                return (t,)
            case Branch(taken=t, otherwise=o):
                return (t, o) if t is not o else (t,)
            case Switch(targets=ts):
                return tuple(dict.fromkeys(ts))
            case Barrier(next=n):
                return (n,)
            case _:
                return ()

    def __repr__(self) -> str:
        return f"B{self.index}"


def acting_after(ops: list[Op | Call]) -> list[Op | Call | None]:
    """For each, the next one that does anything but to compute."""
    after: Op | Call | None = None
    found: list[Op | Call | None] = []
    for op in reversed(ops):
        found.append(after)
        if isinstance(op, Call) or op.form.effects:
            after = op
    return found[::-1]
