"""Functions that several kernels have in common, as machine code that they share.

A kernel that is emitted in the simplest way (`simt.engine.drafts`) calls a function for each kind of
instruction. Most of these are the same from kernel to kernel, and LLVM takes longer for them than for the
kernel. So they get names by what stands in them, and those that an earlier kernel of the process has made are
linked again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from simt.digests import digest
from simt.engine.llvm_parts import END, INLINED

MOST = 16
"""Objects with such functions that a kernel is linked with, at most: from then on they are made again."""
COMMON, DIGITS = "simt.common.", 32
"""What their names begin with, and how much of a digest follows: 128 bits."""
_NAME = re.compile(r"@(simt\.[\w.]+)")
_OTHER = re.compile(r"@(?!simt\.|llvm\.)")
_CONSTANT = re.compile(r"^@(simt\.[\w.]+) = ([^@\n]*)$", re.MULTILINE)
_HEAD = re.compile(r'define [^@]*@("[^"]+"|[\w.]+)\(')


class Module(NamedTuple):
    """Functions by name, and what stands before and after them."""

    before: str
    functions: dict[str, str]
    after: str

    def part(self, names: Iterable[str]) -> str:
        """The module of some of the functions, which declares the others."""
        wanted, lines = frozenset(names), [self.before]
        for name, text in self.functions.items():
            head, brace, body = text.partition("{\n")
            if INLINED in head:
                lines += [text, END]
                continue
            head = head.replace("define internal ", "define ", 1)
            lines += (
                [head, brace, body, END] if name in wanted else [head.replace("define", "declare", 1), "\n"]
            )
        return "".join((*lines, self.after))

    def called(self, names: Iterable[str]) -> set[str]:
        """What some of the functions call, themselves or by those that LLVM puts in place of calls."""
        left, found = [*names], set[str]()
        while left:
            more = {*_NAME.findall(self.functions[left.pop()])} - found
            found |= more
            left += [name for name in more if name in self.functions and self.is_inlined(name)]
        return found

    def is_inlined(self, name: str) -> bool:
        return INLINED in self.functions[name].partition("{\n")[0]


def named(text: str, attribute: str) -> Module:
    """A module in which functions have names by content that depend on nothing but such, and on constants.
    Those with an attribute keep their names."""
    *functions, after = text.split(END)
    before, define, first = functions[0].partition("define ")
    found = dict[str, str]()
    for function in (define + first, *functions[1:]):
        if match := _HEAD.match(function):
            found[match[1]] = function
    names = _Names(before, found, f" {attribute} ")

    def renamed(match: re.Match[str]) -> str:
        return f"@{names.of(match[1]) or match[1]}"

    return Module(before, {names.of(n) or n: _NAME.sub(renamed, f) for n, f in found.items()}, after)


class _Names:
    """Names of a module's functions by what stands in them, None for those that keep their own."""

    def __init__(self, before: str, functions: dict[str, str], attribute: str) -> None:
        self._functions = functions
        self._attribute = attribute
        self._constants = dict(_CONSTANT.findall(before))
        self._found: dict[str, str | None] = {}

    def of(self, name: str) -> str | None:
        if name not in self._found:
            self._found[name] = None  # as those keep it that call each other
            self._found[name] = self._by_content(name, self._functions.get(name, "@"))
        return self._found[name]

    def _by_content(self, name: str, text: str) -> str | None:
        if _OTHER.search(text) or self._attribute in text.partition("{\n")[0]:
            return None
        known = {called: self._constants.get(called) or self.of(called) for called in _NAME.findall(text)}
        known[name] = ""
        if None in known.values():
            return None
        content = _NAME.sub(lambda match: f"@{known[match[1]]}", text)
        return COMMON + digest(content.encode()).hex()[:DIGITS]


class _Made(NamedTuple):
    """Objects so far; in which of them a function is; and which others each of them needs."""

    objects: tuple[bytes, ...]
    places: dict[str, int]
    needs: tuple[frozenset[int], ...]

    def reached(self, names: Iterable[str]) -> frozenset[int]:
        """The objects of functions, as far as they are made, with those that these need."""
        found = frozenset(self.places[name] for name in names if name in self.places)
        return found.union(*(self.needs[i] for i in found))

    def with_more(self, image: bytes, functions: Iterable[str], called: Iterable[str]) -> _Made:
        """With an object more, of some functions, which call others."""
        places = self.places | dict.fromkeys(functions, len(self.objects))
        return _Made((*self.objects, image), places, (*self.needs, self.reached(called)))


_NOTHING = _Made((), {}, ())


class Common:
    """Objects of such functions. Other threads, and handlers of signals, may add some at any time: what is
    there stays as it is, and whoever comes second leaves his own out."""

    def __init__(self) -> None:
        self._made = _NOTHING

    def objects(self, text: str, attribute: str, make: Callable[[str], bytes]) -> list[bytes]:
        """A module as objects: of what is its own, as functions with an attribute are, and of what others
        have too. They are to be linked with each other."""
        module, seen = named(text, attribute), self._made
        shared = [n for n in module.functions if n.startswith(COMMON) and not module.is_inlined(n)]
        known = seen if len(seen.reached(shared)) < MOST else _NOTHING
        found = [make(module.part(module.functions.keys() - {*shared}))]
        found += [known.objects[i] for i in sorted(known.reached(shared))]
        new = [name for name in shared if name not in known.places]
        if new:
            found.append(make(module.part(new)))
            made = known.with_more(found[-1], new, module.called(new))
            if self._made is seen:
                self._made = made
        return found
