"""Declarations of variables and parameters (section 5.3), with initialisers."""

from __future__ import annotations

from collections.abc import Collection

from simt.ptx import constants
from simt.ptx.lexer import Cursor, SyntaxProblem
from simt.ptx.nodes import (
    FieldValue,
    Initializer,
    InitializerList,
    Integer,
    Name,
    PointerAttribute,
    SymbolValue,
    Variable,
)
from simt.ptx.operands import name
from simt.ptx.types import OPAQUE, STATE_SPACES, TYPES, VECTORS, Type
from simt.records import dataclass, replace

SPACE_WORDS = frozenset(f".{s}" for s in STATE_SPACES)
DECLARATION_WORDS = SPACE_WORDS | {".align"}
"""What a declaration begins with after its linkage: an alignment may precede it (section 5.3.6)."""
LINKAGE_WORDS = frozenset({".extern", ".visible", ".weak", ".common"})
TYPE_WORDS = {f".{n}": t for n, t in (TYPES | OPAQUE).items()}
_VECTOR_WORDS = {f".{n}": size for n, size in VECTORS.items()}
_STORAGE_WORDS = frozenset({".align", ".attribute"})
MAX_NAMES = 2**32 - 1
"""Names that `name<count>` may declare, as with ptxas."""


@dataclass(slots=True)
class _Head:
    """What stands before the declared names of a declaration."""

    space: str
    linkage: str = ""
    type: Type | None = None
    vector: int = 1
    align: int | None = None
    bank: int | None = None
    pointer: PointerAttribute | None = None
    attributes: tuple[str, ...] = ()


def one_of(words: Collection[str]) -> str:
    """`expected` text for a choice of words."""
    return "one of " + " ".join(sorted(words))


def linkage(c: Cursor) -> str:
    """The linkage directive at the cursor, without its dot, or an empty string."""
    if c.kind != "word" or c.value not in LINKAGE_WORDS:
        return ""
    word = c.value
    c.advance()
    return word[1:]


def declaration(c: Cursor, linked: str = "") -> list[Variable]:
    """A statement that declares variables; the cursor is at its state space, or the alignment before it."""
    head = _head(c, linked)
    found = [_declarator(c, head)]
    while c.accept(","):
        more = _declarator(c, head)
        shared = more.space == "tex" and found[0].count is None and more.count is None
        found.append(replace(more, shares=found[0].name) if shared else more)
    c.expect(";", "',' or ';'")
    return found


def parameters(c: Cursor) -> tuple[Variable, ...]:
    """A parenthesised list of parameters, possibly empty."""
    found: list[Variable] = []
    c.expect("(")
    if c.kind != ")":
        found.append(_parameter(c))
    while found and c.accept(","):
        found.append(_parameter(c))
    c.expect(")", "',' or ')'")
    return tuple(found)


def _parameter(c: Cursor) -> Variable:
    if c.kind != "word" or c.value not in DECLARATION_WORDS:
        raise c.unexpected("a parameter, which begins with .param or .reg")
    return _declarator(c, _head(c, ""), parameter=True)


def attributes(c: Cursor) -> tuple[str, ...]:
    """`.attribute(.managed, .unified(1, 2))`: what stands between the commas, as text."""
    c.advance()
    c.expect("(")
    found: list[str] = []
    while True:
        start = c.start
        c.expect("word", "an attribute")
        if c.accept("("):
            while c.kind in ("integer", ","):
                c.advance()
            c.expect(")")
        found.append("".join(c.text[start : c.previous].split()))
        if not c.accept(","):
            break
    c.expect(")")
    return tuple(found)


# ---------------------------------------------------------------- before the name


def _head(c: Cursor, linked: str) -> _Head:
    """State space, alignment, vector size and type. A bare type stands for `.global` (table 104)."""
    space = "global"
    align = _alignment(c) if c.value == ".align" else None
    if align is not None and (c.kind != "word" or c.value not in SPACE_WORDS):
        raise c.unexpected("a state space", one_of(SPACE_WORDS))
    if c.value in SPACE_WORDS:
        space = c.value[1:]
        c.advance()
    head = _Head(space, linked, align=align)
    if c.kind == "[":
        head.bank = _bank(c)
    while c.kind == "word":
        _qualifier(c, head)
    if head.type is None:
        raise c.unexpected("a type such as .b32")
    return head


def _bank(c: Cursor) -> int:
    c.advance()
    number = constants.integer(c, "the number of a constant bank")
    c.expect("]")
    return number


def _alignment(c: Cursor) -> int:
    """`.align 8`."""
    c.advance()
    return constants.integer(c, "an alignment in bytes")


def _qualifier(c: Cursor, head: _Head) -> None:
    word = c.value
    if word == ".align" and head.type is None and head.vector == 1:
        head.align = max(_alignment(c), head.align or 0)
    elif word == ".attribute":
        head.attributes += attributes(c)
    elif word in _VECTOR_WORDS and head.type is None:
        c.advance()
        head.vector = _VECTOR_WORDS[word]
    elif word == ".ptr" and head.type is not None:
        head.pointer = _pointer(c)
    elif word in TYPE_WORDS and head.type is None:
        c.advance()
        head.type = TYPE_WORDS[word]
    elif head.type is not None:
        raise c.unexpected("a name")
    elif head.vector > 1:
        raise c.unexpected("a type", one_of(TYPE_WORDS.keys()))
    else:
        raise c.unexpected("a type", one_of(TYPE_WORDS.keys() | _VECTOR_WORDS.keys() | _STORAGE_WORDS))


def _pointer(c: Cursor) -> PointerAttribute:
    """`.ptr [.space] [.align n]`."""
    c.advance()
    space: str | None = None
    align: int | None = None
    if c.kind == "word" and c.value in SPACE_WORDS:
        space = c.value[1:]
        c.advance()
    if c.kind == "word" and c.value == ".align":
        align = _alignment(c)
    return PointerAttribute(space, align)


# ---------------------------------------------------------------- the name and after


def _declarator(c: Cursor, head: _Head, parameter: bool = False) -> Variable:
    assert head.type is not None
    span = c.span
    if c.kind == "name" and c.value == "WARP_SZ":  # table 3
        raise c.unexpected("a name that PTX does not define itself")
    text = "_" if parameter and c.accept("_") else c.expect("name", "a name")
    count = _count(c)
    dimensions = _dimensions(c)
    value = _initializer(c) if c.accept("=") else None
    return Variable(
        head.space, head.type, text, head.vector, dimensions, value, head.align, count,
        head.linkage, head.pointer, head.bank, head.attributes, span,
    )  # fmt: skip


def _count(c: Cursor) -> int | None:
    """`<100>` of a parameterised name (section 5.3.6)."""
    if not c.accept("<"):
        return None
    mark = c.span
    count = constants.whole_number(c, "a number of names")
    if count > MAX_NAMES:
        raise SyntaxProblem(f"{count} names are too many", mark, f"expected at most {MAX_NAMES}")
    c.expect(">")
    return count


def _dimensions(c: Cursor) -> tuple[int | None, ...]:
    found: list[int | None] = []
    while c.accept("["):
        found.append(None if c.kind == "]" else constants.integer(c, "an array size"))
        c.expect("]")
    return tuple(found)


def _initializer(c: Cursor) -> Initializer:
    start = c.start
    if c.kind == "{":
        return _list(c)
    if c.kind == "name" and c.following()[0] == "=":
        return _field(c)
    if c.kind == "name" and c.value != "WARP_SZ":
        return _symbol(c, start, None)
    if not constants.starts(c):
        raise c.unexpected("a constant, a name or '{'")
    if c.kind == "integer" and c.following()[0] == "(":
        return _masked(c)
    return constants.expression(c)


def _field(c: Cursor) -> FieldValue:
    """`addr_mode_0 = wrap`, `width = 64`."""
    start, field = c.start, name(c)
    c.expect("=")
    if c.kind == "name" and c.value != "WARP_SZ":
        return FieldValue(field, name(c), c.since(start))
    mark = c.span
    value = Integer(constants.integer(c, "an integer or a name"), span=mark)
    return FieldValue(field, value, c.since(start))


def _masked(c: Cursor) -> SymbolValue:
    """`0xFF00(name)`."""
    start = c.start
    mask = constants.whole_number(c, "a mask")
    c.expect("(")
    value = _symbol(c, start, mask)
    c.expect(")")
    return SymbolValue(value.name, value.offset, value.generic, mask, c.since(start))


def _symbol(c: Cursor, start: int, mask: int | None) -> SymbolValue:
    """`name`, `name + 4`, `generic(name) + 4`."""
    generic = c.kind == "name" and c.value == "generic" and c.following()[0] == "("
    if generic:
        c.advance()
        c.expect("(")
    base: Name = name(c)
    if generic:
        c.expect(")")
    offset = constants.offset(c) if c.kind == "+" else 0
    return SymbolValue(base, offset, generic, mask, c.since(start))


def _list(c: Cursor) -> InitializerList:
    """`{...}`, nested as deep as it is written."""
    start = c.start
    found: list[Initializer] = []
    with c.nested():
        c.advance()
        found.extend(constants.series(c))
        if found or c.kind != "}":
            found.append(_initializer(c))
        while found and c.accept(","):
            found.extend(constants.series(c))
            found.append(_initializer(c))
        c.expect("}", "',' or '}'")
    return InitializerList(tuple(found), c.since(start))
