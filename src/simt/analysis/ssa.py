"""Which definition of a register each use sees: static single assignment over a lowered function.

The function itself stays as it is; this module adds `Definition`s. A register with one definition
needs no more than that. Registers with several get phis where different definitions meet and the
register is still needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from simt.analysis.dominance import Tree, dominators
from simt.analysis.program import (
    Address,
    Barrier,
    Block,
    Branch,
    Call,
    Complement,
    Function,
    Op,
    Operand,
    Register,
    Source,
    Switch,
)  # fmt: skip
from simt.analysis.schedule import Schedule


@dataclass(slots=True, eq=False)
class Definition:
    """One value of a register. `origin`: the op or call (with the destination's place), `"phi"`,
    `"argument"`, `"barrier"` or `"undefined"`. `inputs`: of a phi, by predecessor's block index."""

    index: int
    register: Register
    block: Block
    origin: Op | Call | str
    place: int = 0
    inputs: dict[int, Definition] = field(default_factory=dict[int, "Definition"])
    replaced: Definition | None = None

    @property
    def is_phi(self) -> bool:
        return self.origin == "phi"

    def __repr__(self) -> str:
        return f"v{self.index}({self.register.name})"


def resolved(definition: Definition) -> Definition:
    """Follows replacements of phis that turned out to be trivial, and shortens the way for the next time."""
    while (target := definition.replaced) is not None:
        if target.replaced is not None:
            definition.replaced = target.replaced
        definition = target
    return definition


@dataclass(slots=True)
class Ssa:
    """`entry[b]`: definitions at a block's start of registers with several definitions that live there.
    `phis[b]`: of that block. `of`: definitions made by an op, call or barrier (by identity).
    `single`: the definition of every register that has just one. `predecessors` by block index."""

    schedule: Schedule
    entry: dict[int, dict[Register, Definition]]
    phis: dict[int, list[Definition]]
    of: dict[int, list[Definition | None]]
    single: dict[Register, Definition]
    predecessors: dict[int, list[Block]]
    definitions: list[Definition]

    def reaching(self, block: Block) -> dict[Register, Definition]:
        """A fresh map of reaching definitions at the block's start, to be updated while walking it."""
        return {r: resolved(d) for r, d in self.entry[block.index].items()}

    def lookup(self, current: dict[Register, Definition], register: Register) -> Definition:
        found = current.get(register)
        return resolved(found if found is not None else self.single[register])


def registers_of(operand: Operand) -> Iterator[Register]:
    """The registers that an operand reads."""
    match operand:
        case Register():
            yield operand
        case Complement(register=r):
            yield r
        case Address(base=Register() as r):
            yield r
        case tuple():
            for item in operand:
                yield from registers_of(item)
        case _:
            return


def uses(op: Op | Call) -> Iterator[Register]:
    """Registers read by an op, its guard included (not the old value of a guarded destination)."""
    if isinstance(op, Call):
        for argument in op.arguments:
            yield from registers_of(argument)
        if isinstance(op.callee, Register):
            yield op.callee
        return
    for operand in op.sources.values():
        yield from registers_of(operand)
    if op.guard is not None:
        yield op.guard.register


def destinations(op: Op | Call) -> tuple[Register | None, ...]:
    return op.results if isinstance(op, Call) else op.destinations


def terminator_uses(block: Block) -> Iterator[Register]:
    match block.terminator:
        case Branch(predicate=p):
            yield p
        case Switch(index=i):
            yield i
        case Barrier() as barrier:
            sources: tuple[Source | None, ...] = (barrier.barrier, barrier.count, barrier.predicate)
            for source in sources:
                yield from registers_of(source)
        case _:
            return


def terminator_definition(block: Block) -> Register | None:
    return block.terminator.result if isinstance(block.terminator, Barrier) else None


def build(function: Function, schedule: Schedule) -> Ssa:
    """SSA of the reachable part of a function. Near-linear: most registers have one definition."""
    ssa = Ssa(schedule, {}, {}, {}, {}, _predecessors(schedule), [])
    counts = _count_definitions(function, schedule)
    multiple = {r for r, n in counts.items() if n > 1}
    multiple |= _read_early(function, schedule)
    live = _live_in(function, schedule, multiple)
    _define(ssa, function, counts, multiple)
    _rename(ssa, function, live)
    _simplify(ssa)
    return ssa


def _predecessors(schedule: Schedule) -> dict[int, list[Block]]:
    found: dict[int, list[Block]] = {b.index: [] for b in schedule.order}
    for block in schedule.order:
        for successor in block.successors():
            found[successor.index].append(block)
    return found


def _count_definitions(function: Function, schedule: Schedule) -> dict[Register, int]:
    counts: dict[Register, int] = dict.fromkeys(function.parameters, 1)
    for block in schedule.order:
        for op in block.ops:
            # A guarded definition keeps the old value in some lanes: it counts as two.
            weight = 2 if isinstance(op, Op) and op.guard is not None else 1
            for register in destinations(op):
                if register is not None:
                    counts[register] = counts.get(register, 0) + weight
        result = terminator_definition(block)
        if result is not None:
            counts[result] = counts.get(result, 0) + 1
    for register in function.results:  # read by every return, even if never written
        counts.setdefault(register, 0)
    return counts


def _read_early(function: Function, schedule: Schedule) -> set[Register]:
    """Registers defined in a loop and read where that definition does not dominate.

    Lanes may run such a definition in different iterations, and each keeps what it defined: even if there
    is no other definition, those that do not pass it bring an older value with them.
    """
    home = {r: b.index for b in schedule.order if schedule.loop_of[b.index] for r in _defined(b)}
    if not home:
        return set()
    tree = Tree(dominators(schedule))
    return {
        register
        for block in schedule.order
        for register in _exposed(function, block)
        if register in home
        and (home[register] == block.index or not tree.dominates(home[register], block.index))
    }


def _defined(block: Block) -> Iterator[Register]:
    """Registers that a block defines."""
    for op in block.ops:
        yield from (r for r in destinations(op) if r is not None)
    result = terminator_definition(block)
    if result is not None:
        yield result


def _exposed(function: Function, block: Block) -> Iterator[Register]:
    """Registers that a block reads before it defines them."""
    done: set[Register | None] = set()
    for op in block.ops:
        yield from (r for r in uses(op) if r not in done)
        done.update(destinations(op))
    last = terminator_uses(block) if block.successors() else function.results
    yield from (r for r in last if r not in done)


def _live_in(function: Function, schedule: Schedule, multiple: set[Register]) -> dict[int, set[Register]]:
    """Registers of `multiple` live at each block's start (backward, to a fixed point)."""
    gen: dict[int, set[Register]] = {}
    kill: dict[int, set[Register]] = {}
    for block in schedule.order:
        gen[block.index], kill[block.index] = _local(function, block, multiple)
    live: dict[int, set[Register]] = {b.index: set(gen[b.index]) for b in schedule.order}
    changed = True
    while changed:
        changed = False
        for block in reversed(schedule.order):
            out: set[Register] = set()
            for successor in block.successors():
                out |= live[successor.index]
            new = out - kill[block.index]
            if not new <= live[block.index]:
                live[block.index] |= new
                changed = True
    return live


def _local(function: Function, block: Block, multiple: set[Register]) -> tuple[set[Register], set[Register]]:
    """Registers read before written (`gen`) and surely written (`kill`) in a block."""
    gen: set[Register] = set()
    kill: set[Register] = set()
    for op in block.ops:
        gen.update(r for r in uses(op) if r in multiple and r not in kill)
        guarded = isinstance(op, Op) and op.guard is not None
        for register in destinations(op):
            if register in multiple:
                if guarded and register not in kill:
                    gen.add(register)
                kill.add(register)
    gen.update(r for r in terminator_uses(block) if r in multiple and r not in kill)
    if not block.successors():
        gen.update(r for r in function.results if r in multiple and r not in kill)
    result = terminator_definition(block)
    if result is not None and result in multiple:
        kill.add(result)
    return gen, kill


def _new(ssa: Ssa, register: Register, block: Block, origin: Op | Call | str, place: int = 0) -> Definition:
    definition = Definition(len(ssa.definitions), register, block, origin, place)
    ssa.definitions.append(definition)
    return definition


def _define(ssa: Ssa, function: Function, counts: dict[Register, int], multiple: set[Register]) -> None:
    """Creates the definitions of ops, calls, barriers and arguments, and those of undefined registers."""
    entry = function.blocks[0]
    for register in function.parameters:
        definition = _new(ssa, register, entry, "argument")
        ssa.single[register] = definition
    for block in ssa.schedule.order:
        for op in block.ops:
            ssa.of[id(op)] = [
                None if r is None else _new(ssa, r, block, op, place)
                for place, r in enumerate(destinations(op))
            ]
            _note_single(ssa, ssa.of[id(op)], multiple)
        result = terminator_definition(block)
        if result is not None:
            ssa.of[id(block.terminator)] = [_new(ssa, result, block, "barrier")]
            _note_single(ssa, ssa.of[id(block.terminator)], multiple)
    for register in function.registers:
        if register not in ssa.single:
            ssa.single[register] = _new(ssa, register, entry, "undefined")


def _note_single(ssa: Ssa, made: list[Definition | None], multiple: set[Register]) -> None:
    for definition in made:
        if definition is not None and definition.register not in multiple:
            ssa.single[definition.register] = definition


def _rename(ssa: Ssa, function: Function, live: dict[int, set[Register]]) -> None:
    """Fills `entry` and `phis`: a phi for every live register where several edges meet."""
    entry_block = function.blocks[0]
    leaving: dict[int, dict[Register, Definition]] = {}
    for block in ssa.schedule.order:
        predecessors = ssa.predecessors[block.index]
        here: dict[Register, Definition] = {}
        for register in sorted(live[block.index], key=lambda r: r.index):
            if len(predecessors) == 1 and block is not entry_block:
                # The only predecessor comes earlier in the line, so its map is complete.
                here[register] = leaving[predecessors[0].index].get(register, ssa.single[register])
            elif predecessors:
                phi = _new(ssa, register, block, "phi")
                ssa.phis.setdefault(block.index, []).append(phi)
                here[register] = phi
        ssa.entry[block.index] = here
        leaving[block.index] = _walk(ssa, block, dict(here))
    for index, phis in ssa.phis.items():
        for phi in phis:
            for predecessor in ssa.predecessors[index]:
                found = leaving[predecessor.index].get(phi.register)
                phi.inputs[predecessor.index] = found or ssa.single[phi.register]
            if index == entry_block.index:
                phi.inputs[-1] = ssa.single[phi.register]


def _walk(ssa: Ssa, block: Block, current: dict[Register, Definition]) -> dict[Register, Definition]:
    for op in block.ops:
        for definition in ssa.of[id(op)]:
            if definition is not None:
                current[definition.register] = definition
    for definition in ssa.of.get(id(block.terminator), ()):
        if definition is not None:
            current[definition.register] = definition
    return current


def _simplify(ssa: Ssa) -> None:
    """Removes phis whose inputs are all one definition (and themselves), until none is left."""
    changed = True
    while changed:
        changed = False
        for phis in ssa.phis.values():
            for phi in list(phis):
                others = {resolved(d) for d in phi.inputs.values()} - {phi}
                if len(others) == 1:
                    phi.replaced = others.pop()
                    phis.remove(phi)
                    changed = True
    for phis in ssa.phis.values():
        for phi in phis:
            phi.inputs = {k: resolved(d) for k, d in phi.inputs.items()}
