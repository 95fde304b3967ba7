"""Which loops a function has, and which blocks are in which.

A loop is a strongly connected set of blocks; its header is the one through which a depth-first search from
the entry first comes in. Without its header the rest falls into smaller sets, which are the inner loops.
All are found in one pass, near-linear in time, by G. Ramalingam's form of Havlak's algorithm ("Identifying
loops in almost linear time", TOPLAS 21, 1999): from the innermost header outward, a loop is everything from
which the branches back to its header can be reached, each loop found before counting as one block.
"""

from __future__ import annotations

from collections.abc import Iterator

from simt.analysis.program import Block
from simt.records import dataclass, field


@dataclass(slots=True)
class Nesting:
    """`order`: reachable blocks in reverse postorder, those after a block's first successor as early as they
    can be. `headers`: indices of headers. `around`: by block index, the header of the innermost loop around
    a block (of a header: around its loop), None outside of all loops."""

    order: list[Block]
    headers: set[int]
    around: dict[int, int | None]


class _Sets:
    """Disjoint sets of block indices, each with a name, which grow by being put into others."""

    def __init__(self) -> None:
        self._within: dict[int, int] = {}

    def find(self, index: int) -> int:
        """The name of the set that holds an index."""
        path: list[int] = []
        while index in self._within:
            path.append(index)
            index = self._within[index]
        for passed in path:
            if self._within[passed] != index:
                self._within[passed] = index
        return index

    def put(self, index: int, into: int) -> None:
        self._within[index] = into


@dataclass(slots=True)
class _Search:
    """A depth-first search. `entered`: blocks in the order of their first visits. `sources`: by block, where
    it was entered from. `back`: by header, the blocks that branch back to it. `other`: edges between blocks
    that are not above each other, by the block from which both were found."""

    entered: list[Block] = field(default_factory=list[Block])
    left: list[Block] = field(default_factory=list[Block])
    sources: dict[int, list[int]] = field(default_factory=dict[int, list[int]])
    back: dict[int, list[int]] = field(default_factory=dict[int, list[int]])
    other: dict[int, list[tuple[int, int]]] = field(default_factory=dict[int, list[tuple[int, int]]])


def nesting(entry: Block) -> Nesting:
    """The loops of the function that begins with a block."""
    search = _searched(entry)
    loops, around = _Sets(), dict[int, int | None]()
    for header in reversed(search.entered):
        for source, target in search.other.get(header.index, ()):
            search.sources[loops.find(target)].append(source)
        for inner in _inside(header.index, search, loops):
            loops.put(inner, header.index)
            around[inner] = header.index
    around.update((b.index, None) for b in search.entered if b.index not in around)
    return Nesting(search.left[::-1], set(search.back), around)


def _searched(entry: Block) -> _Search:
    """The search takes last successors first: what stands after the first one then comes first in line."""
    found, above = _Search(), _Sets()
    open_: set[int] = {entry.index}
    found.sources[entry.index] = []
    found.entered.append(entry)
    stack = [(entry, _targets(entry))]
    while stack:
        block, rest = stack[-1]
        target = next(rest, None)
        if target is None:
            stack.pop()
            found.left.append(block)
            open_.remove(block.index)
            if stack:
                above.put(block.index, stack[-1][0].index)
        elif target.index not in found.sources:
            found.sources[target.index] = [block.index]
            found.entered.append(target)
            open_.add(target.index)
            stack.append((target, _targets(target)))
        elif target.index in open_:
            found.back.setdefault(target.index, []).append(block.index)
        else:
            found.other.setdefault(above.find(target.index), []).append((block.index, target.index))
    return found


def _targets(block: Block) -> Iterator[Block]:
    return reversed(block.successors())


def _inside(header: int, search: _Search, loops: _Sets) -> list[int]:
    """What a loop consists of besides its header: blocks, and headers of inner loops for these."""
    work = list(dict.fromkeys(loops.find(source) for source in search.back.get(header, ())))
    found = {header, *work}
    work = [index for index in work if index != header]
    for index in work:
        for source in search.sources[index]:
            before = loops.find(source)
            if before not in found:
                found.add(before)
                work.append(before)
    return work
