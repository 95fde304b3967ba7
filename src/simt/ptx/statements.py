"""Statements of function bodies (section 4.3): blocks, labels, instructions, declarations."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress

from simt.diagnostics import Diagnostics, Source, Span
from simt.ptx import directives
from simt.ptx.declarations import DECLARATION_WORDS, LINKAGE_WORDS, declaration, linkage, one_of
from simt.ptx.lexer import MODIFIER, NAME, Cursor, GiveUp, SyntaxProblem
from simt.ptx.nodes import Block, Guard, Instruction, Label, Name, Operand, Statement, TextureAddress
from simt.ptx.operands import moved, name, operand, operands

_BANK = r"(?<=\.const)\s*\[\s*\d+\s*\](?=\s*\.)"  # `ld.const[0].u32`: every bank is in one state space
_MODIFIERS = re.compile(rf"(?:\s*{MODIFIER}(?:{_BANK})?)*+", re.ASCII)
_DIRECTIVES: dict[str, Callable[[Cursor], Statement]] = {
    ".loc": directives.location,
    ".file": directives.file,
    ".pragma": directives.pragma,
    ".section": directives.section,
}
_CALL = "call"  # its parentheses hold arguments (table 75)
_TEX = "tex"  # its brackets may be left out (table 71)


# ---------------------------------------------------------------- plain instructions, fast

_PLAIN = r"([%$!_\-\w][%$\w.+\-|]*|\[[%$\w.+\-]*\]|\{[%$\w.,\- ]*\})"
_MORE = rf"(?:,[ \t]*{_PLAIN}" * 5 + ")?" * 5
_FAST = re.compile(
    rf"(?>\s+|//[^\n]*)*+(?:@(!?)({NAME})[ \t]+)?([A-Za-z]\w*(?:{MODIFIER})*+)(?:[ \t]+{_PLAIN}{_MORE})?;",
    re.ASCII,
)


class FastReader:
    """Reads instructions that stand on one line without comments and expressions: nearly all of nvcc's.

    Only a short cut: every operand text is read by `operand` when it is met first, then copied to its
    place. What does not match is left to `instruction`.
    """

    def __init__(self) -> None:
        self._opcodes: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._operands: dict[str, Operand | None] = {}

    def read(self, text: str, position: int, out: list[Statement]) -> int:
        """Appends the instructions from `position` on; the offset of the first thing that is none."""
        match = _FAST.match
        while found := match(text, position):
            instruction = self._instruction(found)
            if instruction is None:
                break
            out.append(instruction)
            position = found.end()
        return position

    def _instruction(self, m: re.Match[str]) -> Instruction | None:
        negation, guard, opcode, *texts = m.groups()
        known = self._opcodes.get(opcode) or self._split(opcode)
        found: list[Operand] = []
        for group, text in enumerate(texts, 4):
            if text is None:
                break
            template = self._operands.get(text) or self._learn(text)
            if template is None:
                return None
            start = m.start(group)
            if template.__class__ is Name:
                found.append(Name(text, Span(start, start + len(text))))
            else:
                found.append(moved(template, start))
        predicate = None
        if guard is not None:
            predicate = Guard(Name(guard, Span(*m.span(2))), negation == "!", Span(m.start(1) - 1, m.end(2)))
        operands = _bracketed(found) if known[0] == _TEX else tuple(found)
        return Instruction(known[0], known[1], operands, predicate, Span(*m.span(3)))

    def _split(self, opcode: str) -> tuple[str, tuple[str, ...]]:
        mnemonic, *modifiers = opcode.split(".")
        self._opcodes[opcode] = known = (mnemonic, tuple(modifiers))
        return known

    def _learn(self, text: str) -> Operand | None:
        """The operand that a text is when it stands alone; None where only `instruction` can tell."""
        if text in self._operands:
            return self._operands[text]
        c = Cursor(text, Diagnostics(Source(text)))
        result: Operand | None = None
        with suppress(SyntaxProblem):
            result = operand(c)
        if c.kind != "end" or c.diagnostics.found:
            result = None
        self._operands[text] = result
        return result


# ---------------------------------------------------------------- statements


def block(c: Cursor, fast: FastReader | None) -> Block:
    """`{ ... }`. Problems inside are reported; reading goes on after the statement."""
    start = c.start
    found: list[Statement] = []
    with c.nested():
        depth = c.depth
        c.advance()
        while c.kind not in ("}", "end"):
            first = c.start
            try:
                _statement(c, fast, found)
            except GiveUp:
                raise
            except SyntaxProblem as problem:
                c.depth = depth
                if c.at("end"):
                    raise GiveUp(problem.message, problem.span, problem.hint) from None
                c.report(problem)
                recover(c, first)
            if fast is not None:
                position = fast.read(c.text, c.previous, found)
                if position != c.previous:
                    c.seek(position)
    if not c.accept("}"):
        line = c.diagnostics.source.position(start)[0]
        raise GiveUp("unexpected end of file, expected '}'", c.span, f"the block begins in line {line}")
    return Block(tuple(found), c.since(start))


def recover(c: Cursor, start: int) -> None:
    """Goes from a problem in the statement at `start` to where the next one probably begins.

    That is where a new line begins with the token that did not fit, after `;`, at the block's `}`, or
    in a new line after a block that was skipped.
    """
    if len(c.diagnostics.found) >= c.diagnostics.limit:
        raise GiveUp("too many problems, expected a PTX file", c.span)
    depth = 0
    if c.start > start and _begins_line(c) and c.kind in ("name", "word", "@"):
        return
    while c.kind != "end":
        kind = c.kind
        if kind == "}" and depth == 0:
            return
        depth += (kind == "{") - (kind == "}")
        c.advance()
        if depth == 0 and (kind == ";" or (kind == "}" and _begins_line(c))):
            return


def _begins_line(c: Cursor) -> bool:
    return "\n" in c.text[c.previous : c.start]


def _statement(c: Cursor, fast: FastReader | None, found: list[Statement]) -> None:
    match c.kind:
        case "{":
            found.append(block(c, fast))
        case "word":
            _directive(c, found)
        case "name" if c.following()[0] == ":":
            found.append(_label(c))
        case "name" | "@":
            found.append(instruction(c))
        case _:
            raise c.unexpected("a statement or '}'")


def _directive(c: Cursor, found: list[Statement]) -> None:
    word = c.value
    if word in _DIRECTIVES:
        found.append(_DIRECTIVES[word](c))
    elif word in DECLARATION_WORDS or word in LINKAGE_WORDS:
        linked = linkage(c)
        if c.kind != "word" or c.value not in DECLARATION_WORDS:
            raise c.unexpected("a state space", one_of(DECLARATION_WORDS))
        found.extend(declaration(c, linked))
    elif word in directives.LIST_WORDS or word == directives.PROTOTYPE_WORD:
        raise c.unexpected("a label before it")
    else:
        words = one_of(DECLARATION_WORDS | _DIRECTIVES.keys())
        raise c.unexpected("a directive that may stand in a body", words)


def _label(c: Cursor) -> Statement:
    """A label, or what a label names: a prototype or a list of targets."""
    start, text = c.start, c.value
    c.advance()
    c.advance()
    if c.kind == "word" and c.value == directives.PROTOTYPE_WORD:
        return directives.prototype(c, text, start)
    if c.kind == "word" and c.value in directives.LIST_WORDS:
        return directives.target_list(c, text, start)
    return Label(text, Span(start, start + len(text)))


def instruction(c: Cursor) -> Instruction:
    """`[@[!]p] opcode.modifiers [operands];`."""
    guard = _guard(c) if c.kind == "@" else None
    start, mnemonic = c.start, c.value
    if c.kind != "name":
        raise c.unexpected("an instruction")
    modifiers = _MODIFIERS.match(c.text, c.end)
    end = modifiers.end() if modifiers else c.end
    words = [w.partition("[")[0] for w in "".join(c.text[c.end : end].split()).split(".")[1:]]
    c.seek(end)
    call = mnemonic == _CALL
    found = () if c.at(";") else operands(c, call)
    c.expect(";", "',' or ';'" if found else "an operand or ';'")
    if mnemonic == _TEX:
        found = _bracketed(found)
    return Instruction(mnemonic, tuple(words), found, guard, Span(start, end))


def _bracketed(operands: Sequence[Operand]) -> tuple[Operand, ...]:
    """The operands of `tex d, a, c` as those of `tex d, [a, c]`."""
    match operands:
        case [d, Name() as texture, coordinates]:
            span = Span(texture.span.start, coordinates.span.end)
            return (d, TextureAddress(texture, coordinates, None, span))
        case _:
            return tuple(operands)


def _guard(c: Cursor) -> Guard:
    start = c.start
    c.advance()
    negated = c.accept("!")
    predicate = name(c, "a predicate register")
    return Guard(predicate, negated, c.since(start))
