"""Threads that end in a function that is called: compiled code of a function returns, so it tells its caller
which of its threads are to end, and these end there.

clang and rustc put an `exit` behind every call that never returns (of `__assertfail`, of a panic). A function
that has one, or calls one that has, gets a result more; so do all that a call by address may reach beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from simt.analysis.call_graph import callees, reachable
from simt.analysis.copies import copied, new_register
from simt.analysis.lower_forms import EQUAL, copy, simple
from simt.analysis.program import Block, Branch, Call, Constant, Exit, Function, Program, Return
from simt.analysis.short_calls import with_calls_in_place
from simt.ptx.types import PRED, U32
from simt.records import replace

STAYS, ENDS = Constant(U32, 0), Constant(U32, 1)


def with_exits_told(program: Program, kernel: Function) -> tuple[Program, Function]:
    """A kernel without exits in the functions that it calls, and the program that has these."""
    names = reachable([kernel.name], program.functions) if kernel.calls else []
    if not any(_exits(program.functions[name]) for name in names if name != kernel.name):
        return program, kernel
    if not with_calls_in_place(program, kernel).calls:  # there are no calls then
        return program, kernel
    functions = {name: copied(program.functions[name]) for name in names}
    ending = _ending(functions)
    for function in functions.values():
        for block in [*function.blocks]:
            _follow(function, block, ending)
    for name in ending:
        _tell(functions[name])
    return replace(program, functions={**program.functions, **functions}), functions[kernel.name]


def _exits(function: Function) -> bool:
    return any(isinstance(b.terminator, Exit) for b in function.blocks)


def _ending(functions: Mapping[str, Function]) -> set[str]:
    """Functions in which threads may end, and those that are called where such are."""
    callers = {name: set(callees(f)) for name, f in functions.items() if not f.is_kernel}
    together = [set(op.candidates) for f in functions.values() for op in f.call_ops() if op.candidates]
    found, before = {name for name in callers if _exits(functions[name])}, -1
    while len(found) > before:
        before = len(found)
        found.update(name for name, called in callers.items() if not called.isdisjoint(found))
        found.update(*(candidates for candidates in together if not candidates.isdisjoint(found)))
    return found


def _tell(function: Function) -> None:
    """Gives a function the result more, in place of its exits."""
    told = new_register(function, "ends", U32)
    function.results = (*function.results, told)
    function.blocks[0].ops.insert(0, copy(told, STAYS, U32, 0))
    for block in function.blocks:
        if isinstance(block.terminator, Exit):
            block.ops.append(copy(told, ENDS, U32, 0))
            block.terminator = Return(block.terminator.line)


def _follow(caller: Function, block: Block, ending: Set[str]) -> None:
    """Ends threads behind each call of a block after which they are to."""
    for place, op in enumerate(block.ops):
        if isinstance(op, Call) and not ending.isdisjoint(
            (op.callee,) if isinstance(op.callee, str) else op.candidates
        ):
            _follow(caller, _split(caller, block, place, op), ending)
            return


def _split(caller: Function, block: Block, place: int, call: Call) -> Block:
    """The block with what follows a call, for threads that stay."""
    told, stays = new_register(caller, "ended", U32), new_register(caller, "stays", PRED)
    rest, leave = Block(len(caller.blocks)), Block(len(caller.blocks) + 1)
    caller.blocks += (rest, leave)
    rest.ops, rest.terminator = block.ops[place + 1 :], block.terminator
    test = simple(EQUAL, U32, stays, {"a": (told, U32), "b": (STAYS, U32)}, 0)
    block.ops[place:] = [replace(call, results=(*call.results, told)), test]
    block.terminator = Branch(stays, False, rest, leave, line=call.line, around=True)
    leave.terminator = Exit()
    return rest
