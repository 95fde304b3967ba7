"""Words asked for ahead of time in loops that lanes go through alone: those at addresses that are read first.

`for (i = first; i < last; i++) if (levels[targets[i]] < 0) ...`: what is loaded by steps tells where else to
load from. CPUs look ahead for that by themselves, but over few lanes only, and not past a branch that waits
for such a word and is guessed wrong. So where a branch does, the first turns of all lanes are asked for
before one of them begins, and each turn asks for what a later one will want. A prefetch of a wild address
does nothing, and the loads by steps are valid in all turns that are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from simt.analysis.program import Block, Op, memory_operands
from simt.analysis.ssa import Definition, terminator_uses, uses
from simt.engine.llvm_access import I64
from simt.engine.llvm_builder import Value
from simt.records import dataclass

if TYPE_CHECKING:
    from simt.engine.llvm_alone import AloneLoop

Ways = Mapping[Definition, Callable[[], Value]]
"""How a lane gets its part of each value that the loop begins with."""
FIRST, AHEAD = 8, 8
"""Turns of each lane that are asked for before one begins; from a turn to the one that it asks for. By
measurement on a Zen 3, milliseconds of a search of a graph by levels, 2 to 14 edges from a node: none 160, 8
and none 115, 4 and 32 95, 8 and 8 or 16 82, 16 and 8 98."""
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
    ssa, block = alone.ssa, alone.loop.header
    current, sources = ssa.reaching(block), dict[Definition, tuple[Op, list[Definition]]]()
    ops: list[Op] = []
    wanted: list[Definition] = []
    for op in block.ops:
        assert isinstance(op, Op)
        if op.form.effects and op not in loads:
            ops.append(op)
            wanted += (ssa.lookup(current, register) for register, _ in memory_operands(op))
        read = [ssa.lookup(current, register) for register in uses(op)]
        made = {d.register: d for d in ssa.of[id(op)] if d is not None}
        sources |= dict.fromkeys(made.values(), (op, read))
        current |= made
    needed = set[Definition]()
    while wanted:
        definition = wanted.pop()
        if definition in sources and definition not in needed:
            op, read = sources[definition]
            if op.guard is not None or (op.form.effects and op not in loads):
                return None
            wanted += read
        needed.add(definition)
    is_told = any(sources[d][0] in loads for d in needed & sources.keys())
    grow = all(alone.step_of(phi) for phi in needed & alone.phis)
    return Asked(ops, loads, frozenset(needed)) if is_told and grow else None


def are_waited_for(alone: AloneLoop, ops: Sequence[Op]) -> bool:
    """Whether the way through the loop depends on what some of its ops load."""
    found = {d for op in ops for d in alone.ssa.of[id(op)] if d is not None}
    before = 0
    while len(found) > before:
        before = len(found)
        if any(_follow(alone, block, found) for block in alone.blocks):
            return True
    return False


def _follow(alone: AloneLoop, block: Block, found: set[Definition]) -> bool:
    """Adds to the definitions found what a block makes of them; whether a branch or a guard asks for one."""
    current = alone.ssa.reaching(block)
    phis = alone.ssa.phis.get(block.index, ())
    found.update(phi for phi in phis if not found.isdisjoint(phi.inputs.values()))
    for op in block.ops:
        assert isinstance(op, Op)
        if op.guard is not None and alone.ssa.lookup(current, op.guard.register) in found:
            return True
        made = {d.register: d for d in alone.ssa.of[id(op)] if d is not None}
        if not found.isdisjoint(alone.ssa.lookup(current, register) for register in uses(op)):
            found.update(made.values())
        current |= made
    return not found.isdisjoint(alone.ssa.lookup(current, r) for r in terminator_uses(block))


class Asking:
    """Emits what a loop asks for."""

    def __init__(self, alone: AloneLoop, what: Asked) -> None:
        self.alone = alone
        self.what = what

    def first_turns(self, ways: Ways, turns: int = FIRST) -> None:
        """Asks for the first turns of all lanes, of which none is left then."""
        values = self.alone.next_lane("ask", ways)
        for turn in range(turns):
            self._ask(values, Value(str(turn), I64))
        self.alone.end_lane("ask")

    def ahead(self, rest: Value) -> None:
        """Asks for what a later turn will want, one of the next `rest` (i64) or this one."""
        m, builder = self.alone.m, self.alone.builder
        least = m.module.declare("llvm.umin.i64", I64, (I64, I64))
        turn = Value(builder.emit(f"call i64 {least}(i64 {AHEAD}, {rest.typed})"), I64)
        self._ask({}, turn)

    def _ask(self, values: Mapping[Definition, Value], turn: Value) -> None:
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
                places |= {(alone.ssa.lookup(alone.current, r), n): None for r, n in memory_operands(op)}
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
