"""Calls through a register of functions with a barrier: made direct, to be put into their callers."""

from __future__ import annotations

from collections.abc import Mapping

from simt.analysis.lower_forms import EQUAL, simple
from simt.analysis.lower_inline import has_barrier
from simt.analysis.program import Block, Branch, Call, Function, FunctionAddress, Jump, Register
from simt.ptx.types import PRED


def direct_calls(caller: Function, bodies: Mapping[str, Function], as_written: bool = False) -> None:
    """Compares the register with the address of each function in `bodies` that has a barrier and that the
    call may reach. What is left of the call may reach the others."""
    pending = list(caller.blocks)
    while pending:
        block = pending.pop()
        for i, op in enumerate(block.ops):
            named = _named(op, bodies) if isinstance(op, Call) else []
            if isinstance(op, Call) and isinstance(op.callee, Register) and named:
                pending.append(_split(caller, block, i, named, 0 if as_written else op.line))
                break


def _named(call: Call, bodies: Mapping[str, Function]) -> list[str]:
    return [c for c in call.candidates if c in bodies and has_barrier(bodies[c]) and _fits(call, bodies[c])]


def _fits(call: Call, function: Function) -> bool:
    given, taken = (call.arguments, call.results), (function.parameters, function.results)
    return tuple(map(len, given)) == tuple(map(len, taken))


def _split(caller: Function, block: Block, position: int, named: list[str], line: int) -> Block:
    """The block with what follows the call. `line`: of the comparisons."""
    call = block.ops[position]
    assert isinstance(call, Call)
    assert isinstance(call.callee, Register)
    rest = _new_block(caller)
    rest.ops, rest.terminator = block.ops[position + 1 :], block.terminator
    del block.ops[position:]
    t, current = call.callee.type, block
    for name in named:
        same = Register(len(caller.registers), f"calls {name}", PRED)
        caller.registers.append(same)
        sources = {"a": (call.callee, t), "b": (FunctionAddress(name, t), t)}
        current.ops.append(simple(EQUAL, t, same, {**sources}, line))
        taken, following = _new_block(caller), _new_block(caller)
        taken.ops = [Call(name, call.arguments, call.results, (), call.line)]
        taken.terminator = Jump(rest, line)
        current.terminator = Branch(same, False, taken, following, False, line, around=True)
        current = following
    others = tuple(c for c in call.candidates if c not in named)
    current.ops = [Call(call.callee, call.arguments, call.results, others, call.line)]
    current.terminator = Jump(rest, line)
    return rest


def _new_block(caller: Function) -> Block:
    caller.blocks.append(Block(len(caller.blocks)))
    return caller.blocks[-1]
