"""Words asked for ahead of time in loops that lanes go through alone: those at addresses that are read first.

`for (i = first; i < last; i++) if (levels[targets[i]] < 0) ...`: what is loaded by steps tells where else to
load from. CPUs look ahead for that by themselves, but some not past a branch that waits for such a word and
is guessed wrong, nor past many stores that wait for their lines (`simt.engine.host.looks_far`). There each
turn of a loop with such a branch, or such stores, asks for what a later one will want: by lists that follow
each other, the next lane's, too. A prefetch of a wild address does nothing, and the loads by steps are valid
in all turns that are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from simt.analysis.program import Block, Op, memory_operands
from simt.analysis.ssa import Definition
from simt.engine.llvm_access import I64
from simt.engine.llvm_builder import Value
from simt.records import dataclass

if TYPE_CHECKING:
    from simt.engine.llvm_alone import AloneLoop

Ways = Mapping[Definition, Callable[[], Value]]
"""How a lane gets its part of each value that the loop begins with."""
AHEAD = 16
"""Turns from one to that which it asks for. By measurement on a Zen 3, milliseconds of a search of a graph by
levels, 2 to 14 edges from a node: none 85 to 157, 16 58 to 64, 24 71, 32 81. (To ask for the first turns of
all lanes beforehand as well was no faster, and slower where lists are short.)"""
NOWHERE = Value("0", I64)


@dataclass(frozen=True)
class Asked:
    """Ops of a loop's header that get at memory at addresses made of words loaded by steps. `loads`: of these
    words; `needed`: the definitions that the addresses are made of."""

    ops: Sequence[Op]
    loads: frozenset[Op]
    needed: frozenset[Definition]


def asked(alone: AloneLoop, loads: frozenset[Op]) -> Asked | None:
    """What turns can ask for, None if nothing. `loads`: what they load by steps."""
    ops, needed = list[Op](), set[Definition]()
    for place, op in enumerate(alone.loop.header.ops):
        assert isinstance(op, Op)
        if op.form.effects and op not in loads:
            read = alone.ssa.read[id(op)]
            made_of = {read[register] for register, _ in memory_operands(op)}
            if _can_ask(alone, _makers(alone, place, made_of), made_of, loads):
                ops.append(op)
                needed |= made_of
    return Asked(ops, loads, frozenset(needed)) if ops else None


def _makers(alone: AloneLoop, place: int, wanted: set[Definition]) -> set[Op]:
    """The ops of the header, of as many as come first, that make some definitions; what they are made of is
    added to these."""
    found = set[Op]()
    for op in reversed(alone.loop.header.ops[:place]):
        assert isinstance(op, Op)
        if not wanted.isdisjoint(alone.ssa.of[id(op)]):
            wanted.update(alone.ssa.read[id(op)].values())
            found.add(op)
    return found


def _can_ask(alone: AloneLoop, ops: set[Op], made_of: set[Definition], loads: frozenset[Op]) -> bool:
    """Whether an address is told by words loaded by steps and can be made ahead: by these ops, of these."""
    free = all(op.guard is None and (op in loads or not op.form.effects) for op in ops)
    return free and not ops.isdisjoint(loads) and all(alone.step_of(phi) for phi in made_of & alone.phis)


def is_worth_it(alone: AloneLoop, ops: Sequence[Op]) -> bool:
    """Whether CPUs do not look far enough ahead by themselves: some of the ops, of a loop, write, or the way
    through the loop depends on what they load."""
    return any(not (op.form.moves_memory and op.destinations) for op in ops) or _tells_way(alone, ops)


def _tells_way(alone: AloneLoop, ops: Sequence[Op]) -> bool:
    """Whether a branch or a guard of the loop asks for what is made of what some ops load."""
    found = {d for op in ops for d in alone.ssa.of[id(op)] if d is not None}
    before = 0
    while len(found) > before:
        before = len(found)
        if any(_follow(alone, block, found) for block in alone.blocks):
            return True
    return False


def _follow(alone: AloneLoop, block: Block, found: set[Definition]) -> bool:
    """Adds to the definitions found what a block makes of them; whether a branch or a guard asks for one."""
    ssa = alone.ssa
    phis = ssa.phis.get(block.index, ())
    found.update(phi for phi in phis if not found.isdisjoint(phi.inputs.values()))
    for op in block.ops:
        assert isinstance(op, Op)
        read = ssa.read[id(op)]
        if op.guard is not None and read[op.guard.register] in found:
            return True
        if not found.isdisjoint(read.values()):
            found.update(d for d in ssa.of[id(op)] if d is not None)
    return not found.isdisjoint(ssa.read[id(block.terminator)].values())


class Asking:
    """Emits what a loop asks for."""

    def __init__(self, alone: AloneLoop, what: Asked) -> None:
        self.alone = alone
        self.what = what

    def ahead(self, rest: Value) -> None:
        """Asks for what a later turn will want, one of the next `rest` (i64) or this one."""
        m, builder = self.alone.m, self.alone.builder
        least = m.module.declare("llvm.umin.i64", I64, (I64, I64))
        turn = Value(builder.emit(f"call i64 {least}(i64 {AHEAD}, {rest.typed})"), I64)
        self.ask({}, turn)

    def ask(self, values: Mapping[Definition, Value], turn: Value) -> None:
        """Asks for what the lane will want some turns on (i64). `values`: what it begins this turn with,
        where that is not in the stack."""
        alone, block = self.alone, self.alone.loop.header
        before = alone.cache, alone.current
        alone.cache, alone.current = {**alone.cache, **values}, alone.ssa.reaching(block)
        alone.cache |= {phi: self._grown(phi, turn) for phi in alone.phis if phi in self.what.needed}
        places = dict[tuple[Definition, int], None]()
        for op in block.ops:
            assert isinstance(op, Op)
            made = alone.ssa.of[id(op)]
            if op in self.what.ops:
                places |= {(alone.ssa.read[id(op)][r], n): None for r, n in memory_operands(op)}
            elif not self.what.needed.isdisjoint(made):
                for definition, value in zip(made, alone.evaluate(op, op in self.what.loads)):
                    if definition is not None:
                        alone.cache[definition] = alone.emitter.as_seen(definition, alone.m.scalar(value))
            alone.current |= {d.register: d for d in made if d is not None}
        for base, offset in places:
            alone.m.ask_for(alone.address(base, offset), NOWHERE)
        alone.cache, alone.current = before

    def _grown(self, phi: Definition, turns: Value) -> Value:
        m, start = self.alone.m, self.alone.read(phi)
        turns = turns if start.type == I64 else m.cast("trunc", start.type, turns)
        step = m.number(start.type, self.alone.step_of(phi))
        return m.binary("add", start, m.binary("mul", turns, step))
