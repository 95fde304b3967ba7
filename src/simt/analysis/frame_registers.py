"""Words of a function's frame that may as well be registers.

What is compiled for a debugger keeps its variables in local memory, and gets at them by generic addresses:
nothing that is loaded from there is known to be the same for all lanes, or to go on from lane to lane. A word
becomes a register here, if whoever loads it surely loads what the function stored there as the same word
before, and if no address in the frame is put to any use but loads and stores at known places. A kernel's
registers then hold what its memory would, for each lane.
"""

from __future__ import annotations

from functools import reduce

from simt.analysis.clock import has_clock
from simt.analysis.copies import copied
from simt.analysis.frame_places import Access, FramePlaces, Word
from simt.analysis.lower_forms import copy
from simt.analysis.program import Address, Block, Function, Op, Program, Register, Source
from simt.analysis.schedule import schedule
from simt.analysis.short_calls import with_calls_in_place
from simt.analysis.ssa import Ssa, build
from simt.ptx.types import Type, bits_type

MOST_BYTES = 4096
"""Of a frame that is looked at."""
ALIGNED = 16
"""Bytes by which frames are surely aligned."""
NARROWEST = 32
"""Bits of a register for words that are shorter."""
WIDEST = 8
"""Bytes of a register."""


def flattened(program: Program, kernel: Function) -> tuple[Function, Ssa | None]:
    """The kernel, with calls in place, and those words of its frame as registers that may be. Its SSA, if
    that had to be made."""
    kernel = with_calls_in_place(program, kernel)
    if not 0 < kernel.local_size <= MOST_BYTES or has_clock(kernel.name, program):
        return kernel, None
    ssa = build(kernel, schedule(kernel))
    places = FramePlaces(kernel, ssa, program.environment)
    words = None if places.escapes else _Words(ssa, places.accesses)
    if words is None or not words.types:
        return kernel, ssa
    return _rewritten(kernel, places.accesses, words), None


class _Words:
    """The words that become registers. `types`: of the registers."""

    def __init__(self, ssa: Ssa, accesses: dict[Op, Access]) -> None:
        self.accesses = accesses
        self.ssa = ssa
        found: dict[Word, set[Type]] = {}
        for access in accesses.values():
            for word in access.words:
                found.setdefault(word, set()).add(access.t)
        self.bits = {word: 1 << i for i, word in enumerate(found)}
        self.others = self._overlapping()
        bad = {w for op, a in accesses.items() if not _is_plain(op, a) for w in a.words}
        bad |= self._read_early()
        self.types = {word: _register_type(types) for word, types in found.items()}
        for word in self._staying(bad):
            del self.types[word]

    def _overlapping(self) -> dict[Word, int]:
        """By word, the others that share bytes with it, as bits."""
        at: dict[int, int] = {}
        for (start, size), bit in self.bits.items():
            for byte in range(start, start + size):
                at[byte] = at.get(byte, 0) | bit
        every = {(start, size): [at[b] for b in range(start, start + size)] for start, size in self.bits}
        return {word: reduce(int.__or__, found) & ~self.bits[word] for word, found in every.items()}

    def _staying(self, bad: set[Word]) -> set[Word]:
        """With words that stay in memory: what shares bytes with one, or is moved together with it."""
        tied = dict(self.others)
        for access in self.accesses.values():
            for word in access.words:
                tied[word] |= sum(self.bits[other] for other in access.words)
        lost, work = set(bad), list(bad)
        while work:
            others = tied[work.pop()]
            new = {word for word, bit in self.bits.items() if others & bit} - lost
            lost |= new
            work += new
        return lost

    def _read_early(self) -> set[Word]:
        """Words of which some load may find anything but what was stored there as the same word."""
        order, before, every = self.ssa.schedule.order, self.ssa.predecessors, (1 << len(self.bits)) - 1
        after, changes = dict.fromkeys((b.index for b in order), every), True
        early: set[Word] = set()
        while changes:
            changes = False
            early.clear()
            for i, block in enumerate(order):
                stored = every if i else 0
                for source in before[block.index]:
                    stored &= after[source.index]
                stored = self._through(block, stored, early)
                changes |= stored != after[block.index]
                after[block.index] = stored
        return early

    def _through(self, block: Block, stored: int, early: set[Word]) -> int:
        """The words that are surely stored at a block's end. Adds those that are loaded too early."""
        for op in block.ops:
            access = self.accesses.get(op) if isinstance(op, Op) else None
            for word in access.words if access is not None else ():
                bit = self.bits[word]
                if access is not None and access.stores:
                    stored &= ~self.others[word]
                    stored |= bit if isinstance(op, Op) and op.guard is None else 0
                elif not stored & bit:
                    early.add(word)
        return stored


def _is_plain(op: Op, access: Access) -> bool:
    """Whether a load or store can be no fault, and only moves words that registers hold."""
    aligned = access.start % access.bytes == 0 and access.bytes <= ALIGNED and access.t.bytes <= WIDEST
    types = _source_types(op) if access.stores else op.result_types
    count = 1 if access.stores else access.count
    return aligned and not access.volatile and tuple(types) == (access.t,) * count


def _values(op: Op) -> dict[str, Source | tuple[Source, ...]]:
    """What an op reads besides addresses."""
    return {n: s for n, s in op.sources.items() if s is not None and not isinstance(s, Address)}


def _source_types(op: Op) -> list[Type]:
    return [op.source_types[name] for name in _values(op)]


def _register_type(types: set[Type]) -> Type:
    """The type of a word's register, which is accessed as these."""
    (one, *others) = types
    return bits_type(max(one.bits, NARROWEST)) if others or one.bits < NARROWEST else one


def _rewritten(function: Function, accesses: dict[Op, Access], words: _Words) -> Function:
    """The function with copies from and to registers in place of these words' loads and stores."""
    found = copied(function)
    homes = {word: _register(found, word, t) for word, t in words.types.items()}
    for block in found.blocks:
        ops = block.ops
        block.ops = []
        for op in ops:
            access = accesses.get(op) if isinstance(op, Op) else None
            if isinstance(op, Op) and access is not None and access.words[0] in homes:
                block.ops += _moves(op, access, [homes[word] for word in access.words])
            else:
                block.ops.append(op)
    return found


def _register(function: Function, word: Word, t: Type) -> Register:
    register = Register(len(function.registers), f"frame+{word[0]}", t)
    function.registers.append(register)
    return register


def _moves(op: Op, access: Access, homes: list[Register]) -> list[Op]:
    """What a load or a store is between registers."""
    if access.stores:
        (value,) = _values(op).values()
        stored = value if isinstance(value, tuple) else (value,)
        return [copy(home, v, access.t, op.line, op.guard) for home, v in zip(homes, stored, strict=True)]
    registers = zip(op.destinations, homes, strict=True)
    return [copy(d, home, access.t, op.line, op.guard) for d, home in registers if d is not None]
