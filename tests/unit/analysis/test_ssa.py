"""Which definitions each use sees, against reaching definitions worked out block by block."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from simt.analysis.program import Function, Guard, Op, Register
from simt.analysis.schedule import Schedule, schedule
from simt.analysis.ssa import Definition, Ssa, build, destinations, uses
from simt.isa.select import Selection, select
from simt.ptx.types import TYPES
from tests.unit.analysis.graphs import function_of, graphs

REGISTERS = 3
Reaching = dict[Register, frozenset[Op | None]]  # None: not defined on some way here


@st.composite
def functions(draw: st.DrawFn) -> Function:
    """Random graphs whose blocks move registers about, some of it under a guard."""
    function = function_of(draw(graphs(6)))
    guard = function.registers[0]
    function.registers += [Register(i + 1, f"r{i}", TYPES["u32"]) for i in range(REGISTERS)]
    chosen = st.sampled_from(function.registers[1:])
    found = select("mov", ("u32",))
    assert isinstance(found, Selection)
    for block in function.blocks:
        for target, source, guarded in draw(st.lists(st.tuples(chosen, chosen, st.booleans()), max_size=3)):
            when = Guard(guard, False) if guarded else None
            types = {"a": TYPES["u32"]}
            block.ops.append(
                Op(found.form, found.binding, {"a": source}, types, (target,), (TYPES["u32"],), when, 0)
            )
    return function


def after(reaching: Reaching, op: Op) -> Reaching:
    (register,) = op.destinations
    assert register is not None
    kept = reaching[register] if op.guard else frozenset[Op | None]()
    return {**reaching, register: kept | {op}}


def reaching_definitions(function: Function, order: Schedule) -> dict[int, Reaching]:
    """The definitions that may reach each block's start: unions over predecessors, until nothing grows."""
    start = {b.index: dict.fromkeys(function.registers, frozenset[Op | None]()) for b in order.order}
    start[0] = dict.fromkeys(function.registers, frozenset({None}))
    changed = True
    while changed:
        changed = False
        for block in order.order:
            out = start[block.index]
            for op in block.ops:
                assert isinstance(op, Op)
                out = after(out, op)
            for successor in block.successors():
                old = start[successor.index]
                new = {r: old[r] | out[r] for r in old}
                changed |= new != old
                start[successor.index] = new
    return start


def behind(definition: Definition, older: dict[Definition, Definition]) -> set[Op | None]:
    """The ops behind a definition: through phis, and through guards to what they may leave in place."""
    found: set[Op | None] = set()
    seen: set[Definition] = set()
    work = [definition]
    while work:
        at = work.pop()
        if at in seen:
            continue
        seen.add(at)
        work += at.inputs.values()
        work += [older[at]] if at in older else []
        if isinstance(at.origin, Op):
            found.add(at.origin)
        elif not at.is_phi:
            found.add(None)
    return found


def seen_by_uses(
    ssa: Ssa,
) -> tuple[list[tuple[int, int, Register, Definition]], dict[Definition, Definition]]:
    """Every use (block, op's number, register) with its definition, and the old value of each guarded one."""
    found: list[tuple[int, int, Register, Definition]] = []
    older: dict[Definition, Definition] = {}
    for block in ssa.schedule.order:
        current = ssa.reaching(block)
        for number, op in enumerate(block.ops):
            found += [(block.index, number, r, ssa.lookup(current, r)) for r in uses(op)]
            (made,) = ssa.of[id(op)]
            assert made is not None
            if isinstance(op, Op) and op.guard:
                older[made] = ssa.lookup(current, made.register)
            current[made.register] = made
    return found, older


@settings(max_examples=150, deadline=None)
@given(functions())
def test_uses_see_what_reaches_them(function: Function) -> None:
    order = schedule(function)
    start = reaching_definitions(function, order)
    found, older = seen_by_uses(build(function, order))
    for index, number, register, definition in found:
        reaching = start[index]
        for op in function.blocks[index].ops[:number]:
            assert isinstance(op, Op)
            reaching = after(reaching, op)
        ops = behind(definition, older)
        # A register with one definition may be taken to be defined always: then nothing else is lost.
        alone = sum(register in destinations(op) for b in order.order for op in b.ops) == 1
        assert ops - {None} == reaching[register] - {None} or (alone and reaching[register] == {None})
        assert alone or ops == reaching[register]


@settings(max_examples=100, deadline=None)
@given(functions())
def test_phis_stand_where_ways_meet(function: Function) -> None:
    ssa = build(function, schedule(function))
    for index, phis in ssa.phis.items():
        came = {p.index for p in ssa.predecessors[index]} | ({-1} if index == 0 else set[int]())
        for phi in phis:
            assert set(phi.inputs) == came
            assert len(set(phi.inputs.values()) - {phi}) > 1, "a phi of one value is no phi"
