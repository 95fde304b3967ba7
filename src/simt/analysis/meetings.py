"""Blocks in which lanes wait for their whole warp: `bar.warp.sync -1`, and shuffles and votes of all lanes.

Where lanes meet as control flow joins, nothing needs to be done for them. But lanes that spin in a loop let
others of their warp run first (`simt.analysis.waiting`), and these must not run such a block without them.

What another mask names is known when the instruction runs, and whoever waits in a loop may wait for just the
lanes that it names. Where a function has such instructions, each that waits begins a block of its own, a
*gate* (`simt.analysis.lower_gates`): lanes stop before it only while one that they wait for rests in a loop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from simt.analysis.call_graph import reachable
from simt.analysis.evaluate import Evaluator
from simt.analysis.lower_rendezvous import FIRST, waits
from simt.analysis.program import (
    Block,
    Call,
    Constant,
    Function,
    FunctionAddress,
    Op,
    Operand,
    Register,
    SymbolAddress,
)
from simt.analysis.range_algebra import UNKNOWN, Range, RangeAlgebra, constant
from simt.analysis.shape import BlockShape
from simt.analysis.ssa import destinations
from simt.isa.algebra import Environment

ALL_LANES = 0xFFFFFFFF
"""The mask of a whole warp."""

Arguments = tuple[str, tuple[Range, ...]]
"""A function's name and what is known of its arguments."""


def meeting_blocks(
    blocks: Sequence[Block], environment: Environment, functions: Mapping[str, Function]
) -> list[Block]:
    """Those of a function's blocks in which an instruction waits for all lanes of the warp: there, or in one
    of the `functions` that they call."""
    if environment.machine < FIRST:
        return []
    return _Known(blocks, environment, functions, {}, {}).meetings()


def names_part(blocks: Sequence[Block], environment: Environment, functions: Mapping[str, Function]) -> bool:
    """Whether an instruction in a function's blocks waits for lanes by a mask that is not known to name all,
    or under a guard. Those in functions that it calls are not looked at."""
    if environment.machine < FIRST:
        return False
    ops = (op for block in blocks for op in block.ops if isinstance(op, Op) and waits(op.form))
    unsure = [op for op in ops if not names_all(op)]
    known = _Known(blocks, environment, functions, {}, {}) if unsure else None
    return known is not None and any(known.waits_for_part(op) for op in unsure)


def _is_all(mask: Operand) -> bool:
    return isinstance(mask, Constant) and mask.bits == ALL_LANES


def names_all(op: Op) -> bool:
    """Whether an instruction that waits for the lanes of a mask is known to wait for all of the warp."""
    return op.guard is None and _is_all(op.sources["mask"])


def gates(
    blocks: Sequence[Block], environment: Environment, functions: Mapping[str, Function]
) -> dict[int, Op | None]:
    """By index of a block that begins with an instruction that waits: the instruction, None if it waits for
    the whole warp. Empty if none waits for less."""
    if environment.machine < FIRST:
        return {}
    known = _Known(blocks, environment, functions, {}, {})
    first = {b.index: b.ops[0] for b in blocks if b.ops}
    found: dict[int, Op | None] = {
        index: op for index, op in first.items() if isinstance(op, Op) and known.waits_for_part(op)
    }
    return {**found, **{b.index: None for b in known.meetings()}} if found else {}


def calls_part(blocks: Sequence[Block], environment: Environment, functions: Mapping[str, Function]) -> bool:
    """Whether a function that is called waits for lanes by a mask of which the caller does not see that it
    names all: lanes do not stop before such a call."""
    if environment.machine < FIRST:
        return False
    known = _Known(blocks, environment, functions, {}, {})
    calls = (op for block in blocks for op in block.ops if isinstance(op, Call))
    return any(reaches_wait(call, functions) and not known.meets(call) for call in calls)


def reaches_wait(call: Call, functions: Mapping[str, Function]) -> bool:
    """Whether a function that a call may reach has an instruction that waits."""
    names = (call.callee,) if isinstance(call.callee, str) else call.candidates
    found = reachable([n for n in names if n in functions], functions)
    return any(isinstance(op, Op) and waits(op.form) for name in found for op in functions[name].ops())


class _Known:
    """Values of registers that one instruction defines, from constants alone. `given`: those of parameters.
    `calls`: what is known of calls, by function and arguments; shared by all functions."""

    def __init__(
        self,
        blocks: Sequence[Block],
        environment: Environment,
        functions: Mapping[str, Function],
        given: Mapping[Register, Range],
        calls: dict[Arguments, bool],
    ) -> None:
        self.calls = calls
        self.blocks = blocks
        self.environment = environment
        self.functions = functions
        self.makers: dict[Register, list[Op | Call]] = {}
        for op in (op for block in blocks for op in block.ops):
            for register in destinations(op):
                if register is not None:
                    self.makers.setdefault(register, []).append(op)
        self.found: dict[Register, Range] = {**given}
        self.evaluator: Evaluator[Range] = Evaluator(RangeAlgebra(BlockShape(1, 1, 1)), self, environment)

    def meetings(self) -> list[Block]:
        return [b for b in self.blocks if any(self.meets(op) for op in b.ops)]

    def waits_for_part(self, op: Op | Call) -> bool:
        """Whether an instruction waits, and is not known to wait for all lanes."""
        return isinstance(op, Op) and waits(op.form) and not self.meets(op)

    def meets(self, op: Op | Call) -> bool:
        if isinstance(op, Op):
            return waits(op.form) and op.guard is None and self._names_all(op.sources["mask"])
        callee = self.functions.get(op.callee) if isinstance(op.callee, str) else None
        if callee is None:
            return False
        values = tuple(self._source(a) for a in op.arguments)
        key = (callee.name, values)
        if key not in self.calls:
            self.calls[key] = False  # for one that calls itself
            given = dict(zip(callee.parameters, values))
            known = _Known(callee.blocks, self.environment, self.functions, given, self.calls)
            self.calls[key] = bool(known.meetings())
        return self.calls[key]

    def _names_all(self, mask: Operand) -> bool:
        value = self._source(mask)
        return value.lo == value.hi and value.lo % (1 << 32) == ALL_LANES

    def _source(self, source: Operand) -> Range:
        if isinstance(source, Constant):
            return constant(source.bits)
        return self.register(source) if isinstance(source, Register) else UNKNOWN

    def register(self, register: Register) -> Range:
        if register not in self.found:
            self.found[register] = UNKNOWN  # for one that is made of itself
            self.found[register] = self._made(register)
        return self.found[register]

    def _made(self, register: Register) -> Range:
        makers = self.makers.get(register, [])
        op = makers[0] if len(makers) == 1 else None
        if not isinstance(op, Op) or op.form.effects or op.guard is not None or len(op.destinations) > 1:
            return UNKNOWN
        return self.evaluator.op(op)[0]

    def symbol(self, symbol: SymbolAddress) -> Range:
        return UNKNOWN

    def function(self, function: FunctionAddress) -> Range:
        return UNKNOWN
