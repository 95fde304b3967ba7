"""Which definition of a register each use sees: static single assignment over a lowered function.

The function itself stays as it is; this module adds `Definition`s. A register with one definition
needs no more than that. Registers with several get phis where different definitions meet and the
register is still needed. Sets of these registers are integers, a bit for each.
"""

from __future__ import annotations

from collections.abc import Iterator

from simt.analysis.convergence import Convergence
from simt.analysis.dominance import Tree, dominators
from simt.analysis.phis import live_in, placed
from simt.analysis.program import (
    Address,
    Barrier,
    Block,
    Branch,
    Call,
    Complement,
    Constant,
    Function,
    Op,
    Operand,
    Register,
    Source,
    Switch,
)  # fmt: skip
from simt.analysis.schedule import Schedule
from simt.records import dataclass, field


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

    @property
    def is_phi(self) -> bool:
        return self.origin == "phi"

    def __repr__(self) -> str:
        return f"v{self.index}({self.register.name})"


@dataclass(slots=True)
class Ssa:
    """`entry[b]`: definitions at a block's start of the registers that it reads before it defines them.
    `phis[b]`: of that block. `of`: definitions made by an op, call or barrier (by identity).
    `single`: the definition of every register that has just one. `predecessors` by block index. `results`:
    of the function, which blocks that return read. `read`: what an op, call or terminator reads (by
    identity), the old values that a guard keeps included."""

    schedule: Schedule
    entry: dict[int, dict[Register, Definition]]
    phis: dict[int, list[Definition]]
    of: dict[int, list[Definition | None]]
    single: dict[Register, Definition]
    predecessors: dict[int, list[Block]]
    definitions: list[Definition]
    results: tuple[Register, ...] = ()
    read: dict[int, dict[Register, Definition]] = field(
        default_factory=dict[int, "dict[Register, Definition]"]
    )
    _convergence: Convergence | None = None

    @property
    def convergence(self) -> Convergence:
        """Where parted lanes meet, found once for all who ask."""
        if self._convergence is None:
            self._convergence = Convergence(self.schedule)
        return self._convergence

    def reaching(self, block: Block) -> dict[Register, Definition]:
        """A fresh map of the definitions from before the block that it uses, to be updated on the way."""
        return dict(self.entry[block.index])

    def lookup(self, current: dict[Register, Definition], register: Register) -> Definition:
        found = current.get(register)
        return found if found is not None else self.single[register]


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


def uses(op: Op | Call) -> list[Register]:
    """Registers read by an op, its guard included (not the old value of a guarded destination)."""
    found: list[Register] = []
    if isinstance(op, Call):
        for argument in op.arguments:
            found += registers_of(argument)
        if isinstance(op.callee, Register):
            found.append(op.callee)
        return found
    for operand in op.sources.values():
        if isinstance(operand, Register):  # most are
            found.append(operand)
        elif not isinstance(operand, Constant):
            found += registers_of(operand)
    if op.guard is not None:
        found.append(op.guard.register)
    return found


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
    ssa = Ssa(schedule, {}, {}, {}, {}, _predecessors(schedule), [], function.results)
    above = dominators(schedule)
    locals_ = {b.index: _local(function, b) for b in schedule.order}
    counts = _count_definitions(function, schedule)
    multiple = {r for r, n in counts.items() if n > 1}
    multiple |= _read_early(schedule, locals_, Tree(above))
    _define(ssa, function, multiple)
    _place_phis(ssa, locals_, above, sorted(multiple, key=lambda r: r.index))
    _rename(ssa, locals_, above)
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


@dataclass(slots=True)
class _Local:
    """What a block does to registers: those that it reads before it defines them (`exposed`; with a guard's
    old values, `needed`), and those that it defines. `read`: by each of its ops, guards' old values included,
    and at last by its terminator."""

    exposed: dict[Register, None]
    needed: dict[Register, None]
    defined: dict[Register, None]
    read: list[list[Register]]


def _local(function: Function, block: Block) -> _Local:
    found = _Local({}, {}, {}, [])
    exposed, defined = found.exposed, found.defined
    for op in block.ops:
        read = uses(op)
        for register in read:
            if register not in defined:
                exposed[register] = None
        made = [r for r in destinations(op) if r is not None]
        if isinstance(op, Op) and op.guard is not None:
            found.needed.update((r, None) for r in made if r not in defined)
            read += made
        found.read.append(read)
        for register in made:
            defined[register] = None
    last = [*terminator_uses(block)] if block.successors() else [*function.results]
    found.read.append(last)
    exposed.update((r, None) for r in last if r not in defined)
    result = terminator_definition(block)
    if result is not None:
        found.defined[result] = None
    found.needed.update(found.exposed)
    return found


def _read_early(schedule: Schedule, locals_: dict[int, _Local], tree: Tree) -> set[Register]:
    """Registers that are read where their definition does not dominate, even if there is no other.

    Lanes that do not pass the definition read what the register held before, zero if that was nothing: a
    phi says so. Without one they would read memory that nobody has written. In a loop lanes may run the
    definition in different iterations, and each keeps what it defined.
    """
    home = {r: b.index for b in schedule.order for r in locals_[b.index].defined}
    return {
        register
        for block in schedule.order
        for register in locals_[block.index].exposed
        if register in home
        and (home[register] == block.index or not tree.dominates(home[register], block.index))
    }


def _place_phis(
    ssa: Ssa, locals_: dict[int, _Local], above: dict[int, int], registers: list[Register]
) -> None:
    """A phi for every live register that changes on a way from a block's immediate dominator to the block."""
    bit = {r: 1 << i for i, r in enumerate(registers)}
    needed = {b: sum(bit.get(r, 0) for r in found.needed) for b, found in locals_.items()}
    defined = {b: sum(bit.get(r, 0) for r in found.defined) for b, found in locals_.items()}
    live = live_in(ssa.schedule.order, needed, defined)
    for index, chosen in placed(ssa.schedule, ssa.predecessors, above, live, defined).items():
        block = ssa.schedule.order[ssa.schedule.position[index]]
        if chosen:
            ssa.phis[index] = [_new(ssa, r, block, "phi") for r in _members(chosen, registers)]


def _members(chosen: int, registers: list[Register]) -> list[Register]:
    """The registers whose bits are set."""
    found: list[Register] = []
    while chosen:
        lowest = chosen & -chosen
        found.append(registers[lowest.bit_length() - 1])
        chosen ^= lowest
    return found


def _new(ssa: Ssa, register: Register, block: Block, origin: Op | Call | str, place: int = 0) -> Definition:
    definition = Definition(len(ssa.definitions), register, block, origin, place)
    ssa.definitions.append(definition)
    return definition


def _define(ssa: Ssa, function: Function, multiple: set[Register]) -> None:
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


def _rename(ssa: Ssa, locals_: dict[int, _Local], above: dict[int, int]) -> None:
    """Fills `entry` and the inputs of phis, down the dominator tree."""
    blocks = {b.index: b for b in ssa.schedule.order}
    below: dict[int, list[int]] = {index: [] for index in blocks}
    root = ssa.schedule.order[0].index
    for index, parent in above.items():
        if index != parent:
            below[parent].append(index)
    for phi in ssa.phis.get(root, ()):
        phi.inputs[-1] = ssa.single[phi.register]
    current: dict[Register, Definition] = {}
    work: list[tuple[int, dict[Register, Definition | None] | None]] = [(root, None)]
    while work:
        index, before = work.pop()
        if before is not None:  # the block's part of the tree is done: as it was
            _restore(current, before)
            continue
        work.append((index, _rename_block(ssa, blocks[index], locals_[index], current)))
        work += [(child, None) for child in below[index]]


def _restore(current: dict[Register, Definition], before: dict[Register, Definition | None]) -> None:
    for register, definition in before.items():
        if definition is None:
            del current[register]
        else:
            current[register] = definition


def _rename_block(
    ssa: Ssa, block: Block, local: _Local, current: dict[Register, Definition]
) -> dict[Register, Definition | None]:
    """Brings `current` from the block's start to its end; what it held before of those that changed."""
    phis = ssa.phis.get(block.index, ())
    changed = (*(phi.register for phi in phis), *local.defined)
    before = {register: current.get(register) for register in changed}
    current.update((phi.register, phi) for phi in phis)
    ssa.entry[block.index] = {r: current[r] for r in local.needed if r in current}
    single = ssa.single
    for what, read in zip((*block.ops, block.terminator), local.read, strict=True):
        ssa.read[id(what)] = {r: current.get(r) or single[r] for r in read}
        for definition in ssa.of.get(id(what), ()):
            if definition is not None:
                current[definition.register] = definition
    for successor in block.successors():
        for phi in ssa.phis.get(successor.index, ()):
            phi.inputs[block.index] = current.get(phi.register) or ssa.single[phi.register]
    return before
