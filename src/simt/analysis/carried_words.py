"""Loops that load what they have had in their hands the turn before: kept in a register from turn to turn.

A thread that goes through a row (`a[i] += a[i - 1]`, a stencil in place, a filter) stores a word that it
loads in the next turn, or loads it as the next one's neighbour. A compiler for GPUs leaves that to memory.
Without such loads each lane's words of many turns may be moved at once (`simt.analysis.own_stores`).

A loop of one block, all of whose stores go by one address that goes on by a step. What is loaded in a turn
before anything is stored is what stood there at the end of the turn before. The first turn's words are loaded
before the loop, and what is loaded ahead of them too, so that a fault is the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from simt.analysis.copies import copied, lead, new_register
from simt.analysis.lower_forms import copy
from simt.analysis.own_stores import access_of
from simt.analysis.program import Address, Block, Branch, Call, Function, Jump, Op, Register
from simt.analysis.schedule import Loop
from simt.analysis.ssa import Definition, Ssa
from simt.analysis.turns import Turns
from simt.isa.algebra import Environment
from simt.ptx.types import Kind, Type
from simt.records import dataclass, replace

SIZES = (4, 8)
"""Bytes of words that are kept: as many as registers have."""


@dataclass(frozen=True, slots=True)
class Word:
    """`load`: an op of those that a turn begins with; `holder`: the one that loads or stores the same word in
    the turn before, None if there is none."""

    load: Op
    holder: Op | None


@dataclass(frozen=True, slots=True)
class Carrying:
    """A loop's block, and its first loads, up to the last one whose word it carries."""

    block: Block
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class _Access:
    op: Op
    stores: bool
    address: Definition
    size: int
    offset: int


def carrying_loops(ssa: Ssa, environment: Environment) -> list[Carrying]:
    """The loops of a function that may carry words."""
    turns = Turns(ssa, environment)
    found = (
        _carrying(ssa, loop, turns, environment) for loop in ssa.schedule.loops if loop.first == loop.last
    )
    return [carrying for carrying in found if carrying is not None]


def _carrying(ssa: Ssa, loop: Loop, turns: Turns, environment: Environment) -> Carrying | None:
    block = ssa.schedule.order[loop.first]
    if loop.first == 0 or not isinstance(block.terminator, Branch):
        return None
    accesses = _accesses(ssa, block, environment)
    stores = [access for access in accesses or () if access.stores]
    address = stores[0].address if stores else None
    if accesses is None or address is None or any(s.address is not address for s in stores):
        return None
    step = turns.step(address, loop) if address.is_phi and address.block is block else None
    words = [*_words(accesses, address, step)] if step else []
    while words and words[-1].holder is None:
        words.pop()
    return Carrying(block, (*words,)) if words else None


def _accesses(ssa: Ssa, block: Block, environment: Environment) -> list[_Access] | None:
    """The loads and stores of a block; None if it does anything else with memory."""
    found = list[_Access]()
    for op in block.ops:
        if isinstance(op, Op) and not op.form.effects:
            continue
        access = None if isinstance(op, Call) else access_of(ssa, op, environment)
        if isinstance(op, Call) or access is None:
            return None
        found.append(_Access(op, *access))
    return found


def _words(accesses: list[_Access], address: Definition, step: int) -> Iterator[Word]:
    """The loads that a turn begins with."""
    for place, load in enumerate(accesses):
        if load.stores:
            return
        at = load.offset + step
        ahead = [a for a in accesses[place + 1 :] if a.address is address and _overlap(a, at, load.size)]
        found = load.address is address and ahead and _is_same(ahead[-1], at, load)
        yield Word(load.op, ahead[-1].op if found else None)


def _overlap(access: _Access, at: int, size: int) -> bool:
    return access.offset < at + size and at < access.offset + access.size


def _is_same(holder: _Access, at: int, load: _Access) -> bool:
    """Whether an access has the whole word in a register like that which it is loaded into."""
    held, got = _held(holder.op, holder.stores), load.op.destinations[0]
    if held is None or got is None or load.size not in SIZES or got.type.bits != 8 * load.size:
        return False
    return holder.offset == at and holder.size == load.size and _are_alike(held.type, got.type)


def _are_alike(a: Type, b: Type) -> bool:
    return a.bits == b.bits and (a.kind is Kind.FLOAT) == (b.kind is Kind.FLOAT)


def _held(op: Op, stores: bool) -> Register | None:
    """The register that an access stores, or loads into."""
    if not stores:
        return op.destinations[0]
    held = [
        source for source in op.sources.values() if source is not None and not isinstance(source, Address)
    ]
    return held[0] if isinstance(held[0], Register) else None


def with_carried_words(function: Function, ssa: Ssa, loops: list[Carrying]) -> Function:
    """The function, with words in registers."""
    made = copied(function)
    for loop in loops:
        _carry(made, ssa, loop)
    return made


def _carry(function: Function, ssa: Ssa, loop: Carrying) -> None:
    block, before = function.blocks[loop.block.index], Block(len(function.blocks))
    function.blocks.append(before)
    before.terminator = Jump(block)
    for source in ssa.predecessors[loop.block.index]:
        if source is not loop.block:
            leads = function.blocks[source.index]
            lead(leads, leads.successors(), {block: before})
    for word in loop.words:
        (got,) = word.load.destinations
        if got is None or word.holder is None:
            before.ops.append(replace(word.load, destinations=(None,)))
            continue
        kept = new_register(function, "carried", got.type)
        before.ops.append(replace(word.load, destinations=(kept,)))
        held = _held(word.holder, not word.holder.destinations)
        assert held is not None
        block.ops[block.ops.index(word.load)] = copy(got, kept, got.type, word.load.line)
        block.ops.insert(block.ops.index(word.holder) + 1, copy(kept, held, got.type, 0))
