"""Masks of loops as words, with AVX2.

LLVM takes a mask that goes from block to block, `<32 x i1>`, as 32 bytes: four registers of comparisons are
packed to one in six steps, and for each choice of words they are taken apart again in eleven. In a loop that
does nothing but compute until each lane has had enough, that takes as long as what is computed. So such a
mask goes round as -1 and 0 in words, as comparisons leave it and choices take it (AMD Zen 3: Mandelbrot 0.80
of the time, in doubles 0.86, Collatz 0.65, Halton's numbers 0.85). Masks that are integers, too, for accesses
to memory or calls, stay bytes, of which these are made in one step: 80 kernels with a few choices were 1.01
as slow otherwise, up to 1.13.

That is written into the code that LLVM's passes leave: before, they would make the same of both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from simt.records import dataclass

_NAME = re.compile(r"%[-\w.$]+")
_WIDTHS = "32|16|8"
_LABEL = re.compile(r"^([-\w.$]+):")
_DEFINED = re.compile(r"^  (?P<name>%[-\w.$]+) = (?P<what>.*)$")
_PHI = re.compile(rf"^phi <(?P<width>{_WIDTHS}) x i1> (?P<edges>.*)$")
_EDGE = re.compile(r"\[ (.*?), (%[-\w.$]+) \]")
_LOGIC = re.compile(
    rf"^(?P<how>and|xor|or(?: disjoint)?) <(?P<width>{_WIDTHS}) x i1> (?P<first>%[-\w.$]+), (?P<other>.*)$"
)
_CHOICE = re.compile(
    rf"^(?:select|[sz]ext) <(?:{_WIDTHS}) x i1> (?P<mask>%[-\w.$]+)"
    r"(?:, | to )<\d+ x (?:i32|float|i64|double)>"
)
"""Of words, or 1 (-1) where the mask is and 0 elsewhere, which LLVM makes of `n + 1` or `n`."""
_BITS = re.compile(rf"^bitcast <(?P<width>{_WIDTHS}) x i1> (?P<mask>%[-\w.$]+) to i(?P=width)$")
_TEST = re.compile(rf"^icmp (?P<how>eq|ne) i(?:{_WIDTHS}) (?P<bits>%[-\w.$]+), (?P<number>0|-1)$")
_CONSTANTS = {
    "zeroinitializer": "zeroinitializer",
    "poison": "poison",
    "splat (i1 true)": "splat (i32 -1)",
    "splat (i1 false)": "zeroinitializer",
}
_REGISTER = 8
"""Words in a register of AVX2."""
_SIGNS = f"i32 @llvm.x86.avx.movmsk.ps.256(<{_REGISTER} x float>"


def with_word_masks(text: str) -> str:
    """LLVM's code of a module, with masks of words."""
    if re.search(rf"= phi <(?:{_WIDTHS}) x i1>", text) is None:
        return text
    text = "\n}\n".join([_Function(function).written() for function in text.split("\n}\n")])
    declared = f"declare {_SIGNS})"
    return f"{text}\n{declared}\n" if f"call {_SIGNS} " in text and declared not in text else text


@dataclass(frozen=True, slots=True)
class _Mask:
    """One that is a phi, or made of others."""

    width: int
    operands: tuple[str, ...]


class _Function:
    """A function's lines, and which masks are to be words."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.blocks = list(self._blocks())
        self.found = [_DEFINED.match(line) for line in self.lines]
        self.places = {found["name"]: place for place, found in enumerate(self.found) if found}
        self.masks = {name: mask for name in self.places if (mask := self._mask(name)) is not None}
        self.bits = {
            name: found["mask"]
            for name in self.places
            if (found := _BITS.match(self._what(name))) is not None
        }
        self.words = self._in_words()
        self._leaves = {
            operand: self.masks[name].width
            for name in self.words
            for operand in self.masks[name].operands
            if operand in self.places and operand not in self.words
        }
        self._here: dict[tuple[str, str], str] = {}

    def _blocks(self) -> Iterator[str]:
        block = ""
        for line in self.lines:
            label = _LABEL.match(line)
            block = label[1] if label else block
            yield block

    def _what(self, name: str) -> str:
        found = self.found[self.places[name]]
        return found["what"] if found else ""

    def _mask(self, name: str) -> _Mask | None:
        what = self._what(name)
        phi, logic = _PHI.match(what), _LOGIC.match(what)
        if phi:
            return _Mask(int(phi["width"]), tuple(value for value, _ in _EDGE.findall(phi["edges"])))
        return _Mask(int(logic["width"]), (logic["first"], logic["other"])) if logic else None

    def _in_words(self) -> set[str]:
        """Phis, and what is made of them, if nothing but choices and tests is made of all that, and a choice
        is; and what these are made of, if nothing else is."""
        users: dict[str, list[str]] = {name: [] for name in self.masks}
        for name, mask in self.masks.items():
            for operand in mask.operands:
                if operand in users:
                    users[operand].append(name)
        spoilt, choosing, words = self._spoilt(), self._choosing(), set[str]()
        for name in self.masks:
            if name not in spoilt and name not in words and _PHI.match(self._what(name)):
                reached = _reached([name], users)
                if not choosing.isdisjoint(reached):
                    words |= reached
        return _reached(words, self._made_of({*self.masks} - spoilt))

    def _choosing(self) -> set[str]:
        """Masks by which words are chosen."""
        return {found["mask"] for line in self.found if line and (found := _CHOICE.match(line["what"]))}

    def _spoilt(self) -> set[str]:
        """Masks that something else is made of, or of what is made of them; or that are made of what is no
        value of the function."""
        tested, used = set(self.bits), set[str]()
        for line, found in zip(self.lines, self.found):
            what = found["what"] if found else line
            names = {*_NAME.findall(what)}
            if not _TEST.match(what):
                tested -= names
            if not (
                found and (found["name"] in self.masks or found["name"] in self.bits or _CHOICE.match(what))
            ):
                used |= names
        used |= {mask for name, mask in self.bits.items() if name not in tested}
        left = [
            name
            for name, mask in self.masks.items()
            if name in used or any(o not in self.places and o not in _CONSTANTS for o in mask.operands)
        ]
        return _reached(left, self._made_of({*self.masks}))

    def _made_of(self, kind: set[str]) -> dict[str, list[str]]:
        """Which masks of a kind each one is made of."""
        return {name: [o for o in mask.operands if o in kind] for name, mask in self.masks.items()}

    def written(self) -> str:
        return "\n".join(self._written()) if self.words else "\n".join(self.lines)

    def _written(self) -> Iterator[str]:
        behind = list[str]()  # phis, which come first in a block
        for line, block, found in zip(self.lines, self.blocks, self.found):
            what, name = (found["what"], found["name"]) if found else (line, "")
            if what.startswith("phi "):
                yield self._as_words(name) if name in self.words else line
                behind += self._other_form(name)
                continue
            if line.startswith("  ") and behind:
                yield from behind
                behind = []
            test = _TEST.match(what)
            if name in self.words:
                yield self._as_words(name)
            elif test and self.bits.get(test["bits"]) in self.words:
                yield from self._test(name, test)
            elif self.bits.get(name) not in self.words:
                yield from self._with_masks_here(line, block, name)
            yield from self._other_form(name)

    def _other_form(self, name: str) -> list[str]:
        """What is known of a value in the other form."""
        if name in self.words:
            column = f"<{self.masks[name].width} x i32>"
            return [f"  {name} = icmp slt {column} {_words(name)}, zeroinitializer"]
        if name in self._leaves:
            width = self._leaves[name]
            return [f"  {_words(name)} = sext <{width} x i1> {name} to <{width} x i32>"]
        return []

    def _as_words(self, name: str) -> str:
        what = self._what(name)
        phi, logic = _PHI.match(what), _LOGIC.match(what)
        column = f"<{self.masks[name].width} x i32>"
        if phi:
            edges = ", ".join(f"[ {_words(value)}, {block} ]" for value, block in _EDGE.findall(phi["edges"]))
            return f"  {_words(name)} = phi {column} {edges}"
        assert logic
        first, other = _words(logic["first"]), _words(logic["other"])
        return f"  {_words(name)} = {logic['how']} {column} {first}, {other}"

    def _test(self, name: str, test: re.Match[str]) -> Iterator[str]:
        """Whether no lane has it, or every lane: the signs of a register that has all in common."""
        mask = self.bits[test["bits"]]
        whole, how, signs = _words(mask), "or" if test["number"] == "0" else "and", f"%signs.{name[1:]}"
        width = self.masks[mask].width
        while width > _REGISTER:
            half, part = width // 2, f"{signs}.{width // 2}"
            both = f"<{width} x i32> {whole}, <{width} x i32> poison, <{half} x i32>"
            for side, first in ("low", 0), ("high", half):
                lanes = ", ".join(f"i32 {first + lane}" for lane in range(half))
                yield f"  {part}.{side} = shufflevector {both} <{lanes}>"
            yield f"  {part} = {how} <{half} x i32> {part}.low, {part}.high"
            whole, width = part, half
        yield f"  {signs}.floats = bitcast <{_REGISTER} x i32> {whole} to <{_REGISTER} x float>"
        yield f"  {signs} = call {_SIGNS} {signs}.floats)"
        number = 0 if how == "or" else (1 << _REGISTER) - 1
        yield f"  {name} = icmp {test['how']} i32 {signs}, {number}"

    def _with_masks_here(self, line: str, block: str, name: str) -> Iterator[str]:
        """A line with masks of words that come from other blocks as this block's own: LLVM selects
        instructions block by block."""
        made = list[str]()

        def here(found: re.Match[str]) -> str:
            mask = found[0]
            if mask == name or mask not in self.words or self.blocks[self.places[mask]] == block:
                return mask
            known = self._here.get((block, mask))
            if known is None:
                known = self._here[block, mask] = f"%mask.{len(self._here)}.{mask[1:]}"
                column = f"<{self.masks[mask].width} x i32>"
                made.append(f"  {known} = icmp slt {column} {_words(mask)}, zeroinitializer")
            return known

        line = _NAME.sub(here, line)
        yield from made
        yield line


def _reached(first: Iterable[str], ways: Mapping[str, Iterable[str]]) -> set[str]:
    """All names that some ways lead to from some, which are among them."""
    found, left = {*first}, [*first]
    while left:
        new = {*ways[left.pop()]} - found
        found |= new
        left += new
    return found


def _words(value: str) -> str:
    """The name of a mask's words."""
    return _CONSTANTS.get(value) or f"%words.{value[1:]}"
