"""Functions put into their callers.

Those with a barrier, so that an engine meets barriers in kernels only, and those that look at what other
threads do, so that a loop that waits for others is seen as such.
"""

from __future__ import annotations

from simt.analysis.lower_calls import source_type
from simt.analysis.lower_forms import copy
from simt.analysis.lower_simplify import retarget, simplify
from simt.analysis.lower_variables import round_up
from simt.analysis.observer import Observer
from simt.analysis.program import (
    MODULE_SCOPE,
    Address,
    Barrier,
    Block,
    Branch,
    Call,
    Complement,
    Constant,
    Function,
    Guard,
    Jump,
    Op,
    Operand,
    Register,
    Return,
    Source,
    Switch,
    SymbolAddress,
    Terminator,
)  # fmt: skip
from simt.isa.algebra import Environment


def has_barrier(function: Function) -> bool:
    return any(isinstance(b.terminator, Barrier) for b in function.blocks)


def uses_module_scope(function: Function) -> bool:
    """Whether a function uses registers or local variables that belong to all functions of a thread."""
    names = (*(r.name for r in function.registers), *function.local)
    return any(name.startswith(MODULE_SCOPE) for name in names)


WATCHING_LIMIT = 2000
"""Ops of a function above which it is not put into its callers for its loads and atomics alone."""


def watches(function: Function, environment: Environment) -> bool:
    """Whether a function reads memory that other threads may change: a caller may wait for that in a loop,
    and only loops within one function let other lanes of the warp go on."""
    ops = [op for op in function.ops() if isinstance(op, Op)]
    observer = Observer(environment)
    return len(ops) <= WATCHING_LIMIT and any(observer.reads(op) for op in ops)


def inline_calls(
    caller: Function, bodies: dict[str, Function], as_written: bool = False, frame: int | None = None
) -> None:
    """Replaces every direct call of a function in `bodies` by its blocks. `frame`: where in the caller's
    frame the local variables of each begin; None: each has its own place, behind all others."""
    pending = list(caller.blocks)
    changed = False
    while pending:
        block = pending.pop()
        for i, op in enumerate(block.ops):
            if isinstance(op, Call) and isinstance(op.callee, str) and op.callee in bodies:
                splice = _Splice(caller, bodies[op.callee], frame)
                pending.append(splice.put(block, i, op, 0 if as_written else op.line))
                changed = True
                break
    if changed:
        simplify(caller, as_written)


class _Splice:
    """One callee's blocks, copied into a caller."""

    def __init__(self, caller: Function, callee: Function, frame: int | None) -> None:
        self.caller = caller
        self.callee = callee
        self.common = {r.name: r for r in caller.registers if r.name.startswith(MODULE_SCOPE)}
        self.registers = {r: self._register(r) for r in callee.registers}
        self.blocks = {b: Block(len(caller.blocks) + i) for i, b in enumerate(callee.blocks)}
        caller.blocks.extend(self.blocks.values())
        end = round_up(caller.local_size, callee.frame_align)
        self.local = self._frame(end if frame is None else frame)

    def _register(self, register: Register) -> Register:
        """A register of the callee in the caller: a new one, but for those of the module."""
        name, registers = register.name, self.caller.registers
        if name in self.common:
            return self.common[name]
        if not name.startswith(MODULE_SCOPE):
            name = f"{self.callee.name}.{name}"
        registers.append(Register(len(registers), name, register.type))
        return registers[-1]

    def _frame(self, base: int) -> dict[str, str]:
        """The callee's local variables, added to the caller's frame under new names, but for the module's."""
        self.caller.frame_align = max(self.caller.frame_align, self.callee.frame_align)
        names = {
            n: n if n.startswith(MODULE_SCOPE) else f"{self.callee.name}.{n}#{base}"
            for n in self.callee.local
        }
        for name, offset in self.callee.local.items():
            self.caller.local.setdefault(names[name], base + offset)
        if names:
            self.caller.local_size = max(self.caller.local_size, base + self.callee.local_size)
        return names

    def put(self, block: Block, position: int, call: Call, line: int) -> Block:
        """Splices the body in for the call; the block with the rest of the caller's block. `line`: of the
        moves of arguments and results, 0 if they are not to be taken for instructions."""
        rest = Block(len(self.caller.blocks), block.ops[position + 1 :], block.terminator)
        self.caller.blocks.append(rest)
        del block.ops[position:]
        for register, source in zip(self.callee.parameters, call.arguments):
            d = self.registers[register]
            block.ops.append(
                copy(d, source, d.type if isinstance(source, Constant) else source_type(source), line)
            )
        block.terminator = Jump(self.blocks[self.callee.blocks[0]], call.line, written=True)
        results = [
            copy(d, self.registers[r], self.registers[r].type, line)
            for d, r in zip(call.results, self.callee.results)
        ]
        rest.ops[:0] = results
        for old, new in self.blocks.items():
            new.ops = [self._op(op) for op in old.ops]
            new.terminator = self._terminator(old.terminator, rest)
        return rest

    def _terminator(self, terminator: Terminator, rest: Block) -> Terminator:
        if isinstance(terminator, Return):
            return Jump(rest, terminator.line, written=terminator.line > 0)
        moved = retarget(terminator, self.blocks)
        match moved:
            case Branch():
                moved.predicate = self.registers[moved.predicate]
            case Switch():
                moved.index = self.registers[moved.index]
            case Barrier():
                moved.barrier = self._source(moved.barrier)
                moved.count = None if moved.count is None else self._source(moved.count)
                moved.predicate = None if moved.predicate is None else self._source(moved.predicate)
                moved.result = None if moved.result is None else self.registers[moved.result]
            case _:
                pass
        return moved

    def _op(self, op: Op | Call) -> Op | Call:
        if isinstance(op, Call):
            callee = op.callee if isinstance(op.callee, str) else self.registers[op.callee]
            arguments = tuple(self._source(a) for a in op.arguments)
            results = tuple(self.registers[r] for r in op.results)
            return Call(callee, arguments, results, op.candidates, op.line)
        guard = op.guard and Guard(self.registers[op.guard.register], op.guard.negated)
        sources = {n: self._operand(o) for n, o in op.sources.items()}
        destinations = tuple(None if d is None else self.registers[d] for d in op.destinations)
        return Op(
            op.form, op.binding, sources, op.source_types, destinations, op.result_types, guard, op.line
        )

    def _operand(self, operand: Operand) -> Operand:
        match operand:
            case None:
                return None
            case tuple():
                return tuple(self._source(s) for s in operand)
            case Address(base=base, offset=offset):
                if base is None:
                    return operand
                moved = self._source(base)
                assert isinstance(moved, Register | SymbolAddress)
                return Address(moved, offset)
            case _:
                return self._source(operand)

    def _source(self, source: Source) -> Source:
        match source:
            case Register():
                return self.registers[source]
            case Complement(register=r):
                return Complement(self.registers[r])
            case SymbolAddress(space="local", name=name, offset=offset, type=t):
                return SymbolAddress("local", self.local[name], offset, t)
            case _:
                return source
