"""Instruction operands (chapter 6), for every instruction alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from simt.ptx import constants
from simt.ptx.lexer import Cursor, SyntaxProblem
from simt.ptx.nodes import (
    Address,
    Arguments,
    Element,
    Float,
    Indexed,
    Minus,
    Name,
    Negated,
    Operand,
    Pair,
    Sink,
    Sum,
    TextureAddress,
    Vector,
)


def operand(c: Cursor, call: bool = False) -> Operand:
    """One operand. In a `call` a parenthesis holds arguments, elsewhere a constant expression."""
    start = c.start
    first = _single(c, call)
    if c.kind != "|":
        return first
    c.advance()
    second = _single(c, call)
    return Pair(first, second, c.since(start))


def operands(c: Cursor, call: bool = False) -> tuple[Operand, ...]:
    """A comma-separated list of at least one operand."""
    found = [operand(c, call)]
    while c.accept(","):
        found.append(operand(c, call))
    return tuple(found)


def name(c: Cursor, expected: str = "a name") -> Name:
    span = c.span
    return Name(c.expect("name", expected), span)


def _single(c: Cursor, call: bool) -> Operand:
    start = c.start
    match c.kind:
        case "name" if c.value != "WARP_SZ":
            return _named(c)
        case "!" | "-" if _name_follows(c):
            mark = c.kind
            c.advance()
            inner = _element(c)
            return (Negated if mark == "!" else Minus)(inner, c.since(start))
        case "_":
            c.advance()
            return Sink(c.since(start))
        case "{":
            return Vector(_list(c, "}", operand), c.since(start))
        case "[":
            return _address(c)
        case "(" if call:
            return Arguments(_list(c, ")", operand), c.since(start))
        case _:
            if not constants.starts(c):
                raise c.unexpected("an operand")
            return constants.expression(c)


def _name_follows(c: Cursor) -> bool:
    kind, value = c.following()
    return kind == "name" and value != "WARP_SZ"


def _list(c: Cursor, close: str, element: Callable[[Cursor], Operand]) -> tuple[Operand, ...]:
    """A list between an opening mark (at the cursor) and `close`, possibly empty."""
    found: list[Operand] = []
    with c.nested():
        c.advance()
        if c.kind != close:
            found.append(element(c))
        while found and c.accept(","):
            found.append(element(c))
        c.expect(close, f"',' or '{close}'")
    return tuple(found)


def _element(c: Cursor) -> Name | Element:
    """A name, or one element of it."""
    base = name(c)
    if c.kind != "word":
        return base
    selector = c.value[1:]
    c.advance()
    return Element(base, selector, c.since(base.span.start))


def _named(c: Cursor) -> Operand:
    """A name, `v.x`, `array[i]` or `array + 4`."""
    base = _element(c)
    if c.kind == "-":
        raise _minus(c)
    if c.kind not in ("[", "+"):
        return base
    if isinstance(base, Element):
        raise c.unexpected("',' or ';'")
    start = base.span.start
    if c.kind != "[":
        return Sum(base, constants.offset(c), c.since(start))
    c.advance()
    index, offset = _sum(c, subtracts=True)
    c.expect("]")
    if c.kind == "[":
        raise c.unexpected("one index", "compute the address of an element of a nested array before its use")
    return Indexed(base, index, offset, c.since(start))


def _sum(c: Cursor, subtracts: bool = False) -> tuple[Name | Element | None, int]:
    """`register`, `register + constant` or `constant`. `subtracts`: an index, whose constant may also be
    subtracted (section 6.4.2)."""
    if c.kind != "name" or c.value == "WARP_SZ":
        return None, constants.integer(c, "a name or an integer constant")
    base = _element(c)
    if c.at("-") and not subtracts:
        raise _minus(c)
    return base, constants.offset(c) if c.at("+") or c.at("-") else 0


def _minus(c: Cursor) -> SyntaxProblem:
    """The grammar of addresses has sums only (tables 68 and 69)."""
    return c.unexpected("'+'", "a negative offset is written `+ -4`")


def _address(c: Cursor) -> Address | TextureAddress:
    """`[base + offset]`, `[texture, coordinates]` or `[texture, sampler, coordinates]`."""
    start = c.start
    c.advance()
    base, offset = _sum(c)
    if c.kind != "," or not isinstance(base, Name) or offset:
        c.expect("]", "'+', ',' or ']'" if base is not None and not offset else "']'")
        return Address(base, offset, c.since(start))
    c.advance()
    rest = operands(c)
    c.expect("]", "']'")
    return _texture(c, start, base, rest)


def _texture(c: Cursor, start: int, texture: Name, rest: tuple[Operand, ...]) -> TextureAddress:
    match rest:
        case (coordinates,):
            return TextureAddress(texture, coordinates, None, c.since(start))
        case (Name() as sampler, coordinates):
            return TextureAddress(texture, coordinates, sampler, c.since(start))
        case _:
            raise SyntaxProblem(
                "bad texture operand, expected [texture, coordinates] or [texture, sampler, coordinates]",
                c.since(start),
            )


def moved(operand: Operand, by: int) -> Operand:
    """The same operand `by` characters further on in its text."""
    span = operand.span
    at = type(span)(span.start + by, span.end + by)
    match operand:
        case Name(name=text):
            return Name(text, at)
        case Address(base=base, offset=offset):
            return Address(None if base is None else _moved_base(base, by), offset, at)
        case Element(base=base, selector=selector):
            return Element(_moved_name(base, by), selector, at)
        case constants.Integer(value=value, unsigned=unsigned):
            return constants.Integer(value, unsigned, at)
        case Float(bits=bits, width=width):
            return Float(bits, width, at)
        case Vector(elements=elements):
            return Vector(tuple([moved(e, by) for e in elements]), at)
        case _:
            return _moved_rare(operand, by)


def _moved_rare(operand: Operand, by: int) -> Operand:
    span = operand.span
    at = type(span)(span.start + by, span.end + by)
    match operand:
        case Sink():
            return Sink(at)
        case Negated(operand=inner):
            return Negated(moved(inner, by), at)
        case Minus(operand=inner):
            return Minus(moved(inner, by), at)
        case Pair(first=first, second=second):
            return Pair(moved(first, by), moved(second, by), at)
        case Arguments(elements=elements):
            return Arguments(tuple([moved(e, by) for e in elements]), at)
        case Indexed(array=array, index=index, offset=offset):
            return Indexed(
                _moved_name(array, by), None if index is None else _moved_base(index, by), offset, at
            )
        case Sum(base=base, offset=offset):
            return Sum(_moved_name(base, by), offset, at)
        case TextureAddress(texture=texture, coordinates=coordinates, sampler=sampler):
            other = None if sampler is None else _moved_name(sampler, by)
            return TextureAddress(_moved_name(texture, by), moved(coordinates, by), other, at)
        case _:
            return operand


def _moved_name(operand: Name, by: int) -> Name:
    span = operand.span
    return Name(operand.name, type(span)(span.start + by, span.end + by))


def _moved_base(operand: Name | Element, by: int) -> Name | Element:
    if isinstance(operand, Name):
        return _moved_name(operand, by)
    span = operand.span
    return Element(
        _moved_name(operand.base, by), operand.selector, type(span)(span.start + by, span.end + by)
    )


def names(operand: Operand) -> Iterator[Name]:
    """Every name in an operand."""
    match operand:
        case Name():
            yield operand
        case Element(base=base):
            yield base
        case Vector(elements=inner) | Arguments(elements=inner):
            yield from (n for part in inner for n in names(part))
        case Negated(operand=inner) | Minus(operand=inner):
            yield from names(inner)
        case Pair(first=first, second=second):
            yield from (*names(first), *names(second))
        case Address(base=base) | Sum(base=base):
            yield from names(base) if base is not None else ()
        case Indexed(array=array, index=index):
            yield from (array, *(names(index) if index is not None else ()))
        case TextureAddress(texture=texture, coordinates=coordinates, sampler=sampler):
            yield from (texture, *names(coordinates), *([sampler] if sampler else []))
        case _:
            pass
