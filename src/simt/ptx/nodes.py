"""The syntax tree of a PTX module: frozen values, compared without their spans.

Constant expressions (section 4.5.4) are evaluated by the parser: the tree holds their values.
Names are not resolved here: an operand `Name` may turn out to be a register, a variable, a
label, a function or a special register.
"""

from __future__ import annotations

import struct
from typing import TypeAlias

from simt.diagnostics import NOWHERE, Source, Span
from simt.ptx.types import Type
from simt.records import dataclass, field, quick


def _span() -> Span:
    return field(default=NOWHERE, compare=False, repr=False)


# ---------------------------------------------------------------- operands (chapter 6)


@quick
@dataclass(frozen=True, slots=True)
class Name:
    """An identifier, `%` and `$` included."""

    name: str
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Element:
    """`base.selector`: `%tid.x`, a vector's `.x .y .z .w .r .g .b .a`, a video `.b0 .. .b3 .h0 .h1`."""

    base: Name
    selector: str
    span: Span = _span()


@quick
@dataclass(frozen=True, slots=True)
class Integer:
    """A 64-bit integer constant: .s64, or .u64 if `unsigned` (section 4.5.1). `value` is in range."""

    value: int
    unsigned: bool = False
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Float:
    """A floating-point constant by its bits: 64 wide, or 32 if written `0f........` (section 4.5.2)."""

    bits: int
    width: int = 64
    span: Span = _span()

    @property
    def value(self) -> float:
        data = self.bits.to_bytes(self.width // 8, "little")
        return float(struct.unpack("<d" if self.width == 64 else "<f", data)[0])


@quick
@dataclass(frozen=True, slots=True)
class Address:
    """`[base + offset]`; base None for an absolute immediate address. An `Indexed` is `a[i]`."""

    base: Name | Element | None
    offset: int = 0
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Indexed:
    """`array[index + offset]` (section 6.4.2), a register and an offset that count elements."""

    array: Name
    index: Name | Element | None
    offset: int = 0
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Sum:
    """`base + offset` without brackets, `offset` in bytes: as a value, an address."""

    base: Name
    offset: int = 0
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class TextureAddress:
    """`[texture, coordinates]` or `[texture, sampler, coordinates]` of `tex` and its relatives."""

    texture: Name
    coordinates: Operand
    sampler: Name | None = None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Vector:
    """`{a, b, c, d}`; elements may be `Sink`."""

    elements: tuple[Operand, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Negated:
    """`!p`, a predicate's complement."""

    operand: Operand
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Minus:
    """`-a`, a register's negative (vmad)."""

    operand: Operand
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Pair:
    """`p|q`, two destinations (section 7.2)."""

    first: Operand
    second: Operand
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Sink:
    """`_`, the bit bucket."""

    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Arguments:
    """`(a, b)`: the parameter lists of `call`."""

    elements: tuple[Operand, ...]
    span: Span = _span()


Operand: TypeAlias = (
    Name | Element | Integer | Float | Address | Indexed | Sum | TextureAddress | Vector | Negated
    | Minus | Pair | Sink | Arguments
)  # fmt: skip


# ---------------------------------------------------------------- declarations (chapter 5)


@dataclass(frozen=True, slots=True)
class SymbolValue:
    """An initialiser that is an address: `name + offset`, `generic(name)`, or one byte of it.

    `mask` is as in `0xFF00(name)`: the byte of the address that is taken, None for all of it.
    """

    name: Name
    offset: int = 0
    generic: bool = False
    mask: int | None = None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class FieldValue:
    """`name = value` in the initialiser of a texture, sampler or surface: a number, or a word as `wrap`."""

    name: Name
    value: Integer | Name
    span: Span = _span()


Initializer: TypeAlias = "Integer | Float | SymbolValue | FieldValue | InitializerList"


@dataclass(frozen=True, slots=True)
class InitializerList:
    """`{...}`, nested as the declaration's dimensions are (section 5.3.4)."""

    elements: tuple[Initializer, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class PointerAttribute:
    """`.ptr [.space] [.align n]` on a kernel parameter."""

    space: str | None
    align: int | None


@dataclass(frozen=True, slots=True)
class Variable:
    """One declared name. A statement that declares several names gives several of these.

    `count`: of `%r<100>`, else None. `dimensions`: None stands for `[]` (taken from the
    initialiser). `space` and `type` carry no dot. `linkage`: "", "extern", "visible", "weak", "common".
    `bank`: the number in `.const[n]`. `shares`: of a texture, the first name of its statement, if that is
    another: all names of a statement mean the same texture (section 5.1.8).
    """

    space: str
    type: Type
    name: str
    vector: int = 1
    dimensions: tuple[int | None, ...] = ()
    initializer: Initializer | None = None
    align: int | None = None
    count: int | None = None
    linkage: str = ""
    pointer: PointerAttribute | None = None
    bank: int | None = None
    attributes: tuple[str, ...] = ()
    span: Span = _span()
    shares: str = ""


# ---------------------------------------------------------------- statements (chapters 4 and 7)


@quick
@dataclass(frozen=True, slots=True)
class Guard:
    """`@p` or `@!p` (table 73)."""

    predicate: Name
    negated: bool = False
    span: Span = _span()


@quick
@dataclass(frozen=True, slots=True)
class Instruction:
    """`@p opcode.modifiers operands;`. `span` covers the opcode with its modifiers."""

    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: Guard | None = None
    span: Span = _span()

    @property
    def spelled(self) -> str:
        """The opcode with its modifiers: `mul.wide.u16`."""
        return ".".join((self.opcode, *self.modifiers))


@dataclass(frozen=True, slots=True)
class Label:
    name: str
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Block:
    """`{ ... }`, a scope."""

    statements: tuple[Statement, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Location:
    """`.loc file line column [, function_name label, inlined_at ...]` (table 103)."""

    file: int
    line: int
    column: int = 0
    rest: str = ""
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class File:
    """`.file index "name" [, timestamp, size]` (table 102)."""

    index: int | None
    name: str
    rest: tuple[int, ...] = ()
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Section:
    """`.section name { data }` kept as its text lines (table 101)."""

    name: str
    rest: str = ""
    lines: tuple[str, ...] | None = None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Pragma:
    strings: tuple[str, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class CallPrototype:
    """`label: .callprototype (ret) _ (params);` The label is held here."""

    label: str
    returns: tuple[Variable, ...]
    parameters: tuple[Variable, ...]
    noreturn: bool = False
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class TargetList:
    """`label: .branchtargets a, b;` or `label: .calltargets f, g;`: `kind` is the directive's name."""

    label: str
    kind: str
    targets: tuple[Name, ...]
    span: Span = _span()


Statement: TypeAlias = (
    Instruction | Label | Block | Variable | Location | Pragma | CallPrototype | TargetList | File | Section
)


# ---------------------------------------------------------------- modules (chapter 9)


@dataclass(frozen=True, slots=True)
class Performance:
    """A performance or kernel directive: `.maxntid 16, 16, 4`, `.maxnctapersm sm_10:4`, `.noreturn`.

    `values` are integers, or (target, n) pairs where the directive is written per target.
    """

    name: str
    values: tuple[int | tuple[str, int], ...] = ()
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Function:
    """`.entry` (table 96) or `.func` (table 97). `body` None: a declaration only."""

    kind: str
    name: str
    returns: tuple[Variable, ...] = ()
    parameters: tuple[Variable, ...] = ()
    performance: tuple[Performance, ...] = ()
    body: Block | None = None
    linkage: str = ""
    attributes: tuple[str, ...] = ()
    span: Span = _span()

    @property
    def is_entry(self) -> bool:
        return self.kind == "entry"


@dataclass(frozen=True, slots=True)
class Target:
    """`.target sm_13, map_f64_to_f32` (table 107)."""

    names: tuple[str, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Alias:
    """`.alias name, aliasee;`"""

    name: str
    aliasee: str
    span: Span = _span()


TopLevel: TypeAlias = Variable | Function | File | Section | Pragma | Target | Location | Alias


@dataclass(frozen=True, slots=True)
class Module:
    """One PTX file. `targets` holds the first `.target`; later ones stand in `items` in their place."""

    version: tuple[int, int]
    target: Target
    items: tuple[TopLevel, ...]
    address_size: int | None = None
    source: Source | None = field(default=None, compare=False, repr=False)
    span: Span = _span()
