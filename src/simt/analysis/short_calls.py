"""Calls of short functions, replaced by what these do, in kernels of which all calls can be.

A call hands columns over through memory, and little is known of them on the other side: whether an index
goes on from lane to lane, for instance. What is compiled for a debugger (`nvcc -G`, `clang -O0`) calls a
function for each operator, and for `threadIdx.x`.

What a thread executes is the same. So are addresses of local variables: those of functions that are called
one after the other share memory, as they do where they are called.
"""

from __future__ import annotations

from collections.abc import Mapping

from simt.analysis.call_graph import components, reachable
from simt.analysis.clock import has_clock
from simt.analysis.copies import copied
from simt.analysis.lower_gates import cut_at_gates
from simt.analysis.lower_inline import inline_calls
from simt.analysis.program import Function, Op, Program
from simt.analysis.schedule import schedule
from simt.analysis.ssa import build, destinations, uses
from simt.records import replace

MOST = 1500
"""Ops of a kernel with all calls in place."""
GROWTH = 3
"""The same, for each op of the functions as they are written."""
SHORT = 300
"""Ops that are not too many, whatever the functions have."""


def with_calls_in_place(program: Program, kernel: Function) -> Function:
    """The kernel, without calls of functions that have a body, if that is possible and not too long."""
    functions = {n: program.functions[n] for n in reachable([kernel.name], program.functions)}
    if len(functions) == 1 or has_clock(kernel.name, program):
        return kernel
    order = [name for component in components(functions) for name in component]
    if not _is_short(order, functions) or not _may_be_in_place(functions):
        return kernel
    bodies: dict[str, Function] = {}
    for name in order:
        bodies[name] = _copied(functions[name])
        inline_calls(bodies[name], bodies, frame=functions[name].local_size)
    found = bodies[kernel.name]
    cut_at_gates(found, program.environment, program.functions)  # again: blocks were joined
    return replace(found, calls=any(True for _ in found.call_ops()))


def _may_be_in_place(functions: Mapping[str, Function]) -> bool:
    """Whether all calls are direct, and none comes back to its own function."""
    direct = all(isinstance(call.callee, str) for f in functions.values() for call in f.call_ops())
    called = [f for f in functions.values() if not f.is_kernel]
    return direct and not any(f.recursive or _begins_with_more(f) for f in called)


def _begins_with_more(function: Function) -> bool:
    """Whether a function may read a register that it has not written: that is 0 in each call, and would be
    what the last call left."""
    if len(function.blocks) == 1:
        return _reads_more(function)
    ssa = build(function, schedule(function))
    phis = (phi for found in ssa.phis.values() for phi in found)
    read = (d for found in (*ssa.read.values(), *(phi.inputs for phi in phis)) for d in found.values())
    return any(definition.origin == "undefined" for definition in read)


def _reads_more(function: Function) -> bool:
    """The same for a function that is one block."""
    written = set(function.parameters)
    for op in function.ops():
        made = [register for register in destinations(op) if register is not None]
        kept = made if isinstance(op, Op) and op.guard is not None else []
        if not written.issuperset((*uses(op), *kept)):
            return True
        written.update(made)
    return not written.issuperset(function.results)


def _is_short(order: list[str], functions: Mapping[str, Function]) -> bool:
    """`order`: of the functions, the kernel last."""
    written, sizes = 0, dict[str, int]()
    for name in order:
        own = sum(1 for _ in functions[name].ops())
        written += own
        called = (call.callee for call in functions[name].call_ops())
        sizes[name] = own + sum(sizes.get(callee, 0) for callee in called if isinstance(callee, str))
    return sizes[order[-1]] <= min(MOST, max(SHORT, GROWTH * written))


def _copied(function: Function) -> Function:
    return replace(copied(function), local={**function.local})
