"""Masks in functions that LLVM does not optimise, on CPUs without registers of 256 bits and more.

There a vector of 32 bits that one block of code makes and another one reads has 32 registers, a bit in each,
and so has one that is loaded or made of an integer. Such masks cross blocks as integers here, and each block
makes the vector again where it first reads it, by comparisons that stay vectors.
"""

from __future__ import annotations

import re

from simt.analysis.shape import WARP

MASK, INTS = f"<{WARP} x i1>", f"<{WARP} x i32>"
_TYPED = re.compile(rf"{re.escape(MASK)} (%[\w.]+)(?:, (%[\w.]+)$)?")
"""A mask as an operand; the second one of an operation on two."""
_NAME = re.compile(r"%[\w.]+")
_MADE = re.compile(rf"  (%[\w.]+) = (bitcast i32 (\S+) to|load) {re.escape(MASK)}(.*)")
_BITS = ", ".join(f"i32 {(1 << i) - (1 << WARP if i == WARP - 1 else 0)}" for i in range(WARP))


def within_blocks(lines: list[str]) -> list[str]:
    """The lines of a function with masks that are made in the block that reads them."""
    return _Rewriter(lines).run()


class _Rewriter:
    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.masks = {name for line in lines if MASK in line for name in _masks_of(line)}
        self.home: dict[str, int] = {}
        """Number of the block in which a mask is made."""
        self.crossing: set[str] = set()
        self.bits: dict[str, str] = {}
        self.here: dict[str, str] = {}
        """Masks of other blocks by the names that they have in this one."""
        self.out: list[str] = []
        self.made = 0
        self._find()

    def _find(self) -> None:
        block = 0
        for line in self.lines:
            if not line.startswith(" "):
                block += 1
            elif MASK in line and " = phi " not in line:
                self.crossing.update(n for n in _masks_of(line) if self.home.get(n, block) != block)
            name = line[2 : line.find(" ", 2)]
            if name in self.masks and line.startswith(f"  {name} = ") and " = phi " not in line:
                self.home[name] = block

    def run(self) -> list[str]:
        block = 0
        for line in self.lines:
            if not line.startswith(" "):
                block, self.here = block + 1, {}
                self.out.append(line)
            elif MASK in line and " = phi " not in line:
                self._line(line, block)
            else:
                self.out.append(line)
            self._keep_bits(line)
        return self.out

    def _line(self, line: str, block: int) -> None:
        for name in _masks_of(line):
            elsewhere = name in self.bits and self.home[name] != block
            if elsewhere and name not in self.here:
                self.made += 1
                self.here[name] = f"%mask.again.{self.made}"
                self._expand(self.here[name], self.bits[name])
        head, equals, rest = line.partition(" = ")
        text = rest if equals else line
        text = _NAME.sub(lambda m: self.here.get(m[0], m[0]), text)
        line = f"{head}{equals}{text}" if equals else text
        found = _MADE.match(line)
        if found is None:
            self.out.append(line)
            return
        name, _, bits, place = found.groups()
        if bits is None:
            bits = self.bits[name] = f"{name}.bits"
            self.out.append(f"  {bits} = load i32{place}")
        self.bits[name] = bits
        self._expand(name, bits)

    def _keep_bits(self, line: str) -> None:
        """After a line that makes a mask for other blocks."""
        name = line[2 : line.find(" ", 2)]
        if name in self.crossing and name not in self.bits and line.startswith(f"  {name} = "):
            self.bits[name] = f"{name}.bits"
            self.out.append(f"  {name}.bits = bitcast {MASK} {name} to i32")

    def _expand(self, name: str, bits: str) -> None:
        """Lines that make a mask of an integer."""
        self.out += [
            f"  {name}.one = insertelement {INTS} poison, i32 {bits}, i64 0",
            f"  {name}.all = shufflevector {INTS} {name}.one, {INTS} poison, {INTS} zeroinitializer",
            f"  {name}.some = and {INTS} {name}.all, <{_BITS}>",
            f"  {name} = icmp ne {INTS} {name}.some, zeroinitializer",
        ]


def _masks_of(line: str) -> list[str]:
    """The masks that a line reads."""
    return [name for found in _TYPED.findall(line) for name in found if name]
