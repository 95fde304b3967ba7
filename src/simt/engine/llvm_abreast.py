"""Warps of a CTA side by side: in a phase whose code is a chain of arithmetic, several of them at once.

A sum of products in the rows of a tile is one long chain for each warp: each multiply-add waits for the last
one. CPUs look ahead over a hundred such instructions, which are two or three warps. So a turn of the loop
over the warps does several, instruction by instruction, and what they load alike it loads once. No thread can
tell: between two barriers, warps may run in any order, and such a phase writes nothing that others could see.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from simt.engine.llvm_scopes import OF_PROGRAM, OF_WORKER
from simt.records import dataclass

REGISTERS = 8
"""Of results that each instruction of warps side by side has: CPUs begin two multiply-adds in a cycle, and
each takes four."""
LEAST = 12
"""Operations on columns of floats from which a chain is worth it."""
MOST = 1000
"""Lines of a phase up to which it is done."""
BEYOND = 60
"""Lines after the chain, which stand there for each warp."""

_MADE = re.compile(r"^  (%[\w.]+) = (\w+)")
_NAME = re.compile(r"%[\w.]+")
_ON = re.compile(r"^  br label %([\w.]+)$")
_CHAINED = re.compile(r"= (?:call <32 x float> @llvm\.fma|f(?:add|sub|mul) <32 x float>)")
_EFFECT = re.compile(r"^  (?:%[\w.]+ = )?(?:tail )?(?:store|call|atomicrmw|cmpxchg|fence|load atomic)\b")
_PURE_CALL = re.compile(r"= (?:tail )?call [^@]*@llvm\.(?!masked)")
_OWN_STORE = re.compile(
    r"^  store (?:volatile i64 .*, ptr %v\d+$|.*, ptr %(?:slot|pending)\.|i32 \S+, ptr %next\.phase$)"
)
_OWN_LOAD = re.compile(r"= load .*, ptr %(?:slot|pending)\.")
_SAME = frozenset({"getelementptr", "zext", "inttoptr", "add", "load", "shufflevector"})


@dataclass(frozen=True)
class Abreast:
    """The code of some warps: `chain` has the lines that are done for all of them together, each with the
    lines of the others; `rests` the blocks that follow, for each warp. Names of the warps after the first end
    in `.j1`, `.j2` and so on, and the phase's number."""

    warps: int
    chain: Sequence[str]
    rests: Sequence[Sequence[str]]


def abreast(
    blocks: Mapping[str, Sequence[str]], first: str, head: Sequence[str], own: frozenset[str], number: int,
    warps: int, pieces: int,
) -> Abreast | None:  # fmt: skip
    """The code of several warps of a phase, None if one at a time is better or has to be.

    `head`: defines what code of a warp uses, from `%warp` on. `own`: these names, and the labels around the
    code. `pieces`: registers of a CPU for a column, as many times as with AVX-512."""
    code = [line for block in blocks.values() for line in block]
    labels, chain, rest = _split(blocks, first)
    count = _count(chain, warps, pieces)
    if count < 2 or len(code) > MOST or len(rest) > BEYOND or not _is_free(labels, chain, rest):
        return None
    same = _same_for_all(chain, own | {f[1] for line in code if (f := _MADE.match(line))})
    copies = [_Copy(k, number, [*head, *chain, *rest], same) for k in range(count)]
    lines: list[str] = []
    for copy in copies[1:]:
        lines.append(f"  {copy.named('%warp')} = add i32 %warp, {copy.index}")
    for line in (*head, *chain):
        lines += [line] if line in same else [copy.named(line) for copy in copies]
    return Abreast(count, lines, [[copy.named(line) for line in rest] for copy in copies])


def _split(blocks: Mapping[str, Sequence[str]], first: str) -> tuple[list[str], list[str], list[str]]:
    """The code up to the first branch that may go two ways: labels, and lines without labels and jumps; then
    all other lines."""
    labels: list[str] = []
    chain: list[str] = []
    label, last = first, ""
    while label in blocks and label not in labels:
        labels.append(label)
        *lines, last = blocks[label][1:]
        chain += lines
        on = _ON.match(last)
        label = on[1] if on else ""
    return labels, chain, [last, *(line for n, code in blocks.items() if n not in labels for line in code)]


def _count(chain: Sequence[str], warps: int, pieces: int) -> int:
    """How many warps to run side by side. (Not of double precision: until its NaNs are settled, at the end,
    all that they come from is kept, and of several warps in memory.)"""
    if sum(_CHAINED.search(line) is not None for line in chain) < LEAST:
        return 1
    return next(n for n in range(max(REGISTERS // (2 * pieces), 1), 0, -1) if warps % n == 0)


def _is_free(labels: Sequence[str], chain: Sequence[str], rest: Sequence[str]) -> bool:
    """Whether warps may run side by side: none of the code writes the program's memory, can fail or end, or
    reads what it keeps in the stack, where there is one place for all; none comes back to the chain."""
    used = set(_NAME.findall("\n".join(rest)))
    if "%finished" in used or any(f"%{label}" in used for label in labels):
        return False
    lines = (*chain, *rest)
    return all(_is_harmless(line) and " = phi " not in line and not _OWN_LOAD.search(line) for line in lines)


def _is_harmless(line: str) -> bool:
    effect = _EFFECT.match(line) is not None
    return not effect or OF_WORKER in line or bool(_PURE_CALL.search(line) or _OWN_STORE.match(line))


def _same_for_all(chain: Sequence[str], made: frozenset[str]) -> set[str]:
    """Lines of the chain whose results are the same for all warps. `made`: all names of the phase."""
    names: set[str] = set()
    lines: set[str] = set()
    for line in chain:
        found = _MADE.match(line)
        if found is None or found[2] not in _SAME or (found[2] == "load" and not _is_plain(line)):
            continue
        if not (set(_NAME.findall(line)) - {found[1]}) & made - names:
            names.add(found[1])
            lines.add(line)
    return lines


def _is_plain(load: str) -> bool:
    return OF_PROGRAM in load and " volatile " not in load


class _Copy:
    """The code of one of several warps. `index`: which; the first keeps its names."""

    def __init__(self, index: int, number: int, code: Sequence[str], same: set[str]) -> None:
        self.index = index
        made = {found[1][1:] for line in code if line not in same and (found := _MADE.match(line))}
        labels = {line[:-1] for line in code if line.endswith(":")}
        self._names = made | labels | {"warp"} if index else set[str]()
        self._suffix = f".j{index}.{number}"

    def named(self, line: str) -> str:
        if line.endswith(":"):
            return f"{line[:-1]}{self._suffix}:" if line[:-1] in self._names else line
        return _NAME.sub(self._name, line)

    def _name(self, found: re.Match[str]) -> str:
        return f"{found[0]}{self._suffix}" if found[0][1:] in self._names else found[0]
