"""What rewriting begins with: copies of functions, ways to other blocks, ops that read other registers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from simt.analysis.lower_simplify import retarget
from simt.analysis.program import (
    Address,
    Block,
    Branch,
    Complement,
    Function,
    Jump,
    Op,
    Operand,
    Register,
)
from simt.ptx.types import Type
from simt.records import replace


def copied(function: Function) -> Function:
    """The function with blocks and a list of registers of its own; the blocks share their ops with it."""
    blocks = {b: Block(b.index, [*b.ops]) for b in function.blocks}
    for old, new in blocks.items():
        new.terminator = retarget(old.terminator, blocks)
    return replace(function, blocks=list(blocks.values()), registers=[*function.registers])


def new_register(function: Function, name: str, t: Type) -> Register:
    """One more register of a function."""
    register = Register(len(function.registers), name, t)
    function.registers.append(register)
    return register


def lead(block: Block, ways: Sequence[Block], targets: dict[Block, Block]) -> None:
    """Lets a block go to other blocks, of the ways that are left."""
    terminator = block.terminator
    if isinstance(terminator, Branch) and len(ways) == 1:
        terminator = Jump(ways[0], terminator.line)
    places = {s: targets.get(s, s) for s in ways}
    block.terminator = retarget(terminator, places)


def renamed(op: Op, names: Mapping[Register, Register]) -> Op:
    """An op that reads other registers in place of some."""
    return replace(op, sources={n: _renamed(s, names) for n, s in op.sources.items()}) if names else op


def _renamed(operand: Operand, names: Mapping[Register, Register]) -> Operand:
    match operand:
        case Register():
            return names.get(operand, operand)
        case Address(base=Register() as base):
            return replace(operand, base=names.get(base, base))
        case Complement(register=register):
            return Complement(names.get(register, register))
        case tuple():
            return tuple(names.get(s, s) if isinstance(s, Register) else s for s in operand)
        case _:
            return operand
