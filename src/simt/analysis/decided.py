"""Branches that a CTA's size decides: `for (i = threadIdx.y; i < 32; i += 16)` in CTAs of 16 rows.

Compilers do not know how many threads there are along an axis. They ask whether a thread has a first turn,
and how many of an unrolled loop's turns are left over. Bounds of the threads' indices answer that for all
threads alike: such branches are jumps here, and what nobody comes to is left out. What a thread executes is
the same.

Of the numbers of turns that are left (`simt.analysis.told`) some are the same for all threads, and some for
all threads of a warp: `(447 - i) / 128` is a choice by `i < 64`. They are written so, as no shape tells that
of a maximum or a quotient.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from simt.analysis.clock import has_clock
from simt.analysis.copies import copied, lead
from simt.analysis.evaluate import Evaluator
from simt.analysis.lower_forms import STEPPED, copy, simple
from simt.analysis.lower_simplify import simplify
from simt.analysis.program import (
    Block,
    Branch,
    Call,
    Complement,
    Constant,
    Function,
    FunctionAddress,
    Op,
    Operand,
    Program,
    Register,
    Special,
    SymbolAddress,
)
from simt.analysis.range_algebra import UNKNOWN, Range, constant
from simt.analysis.remade import OF_THREAD
from simt.analysis.schedule import schedule
from simt.analysis.shape import WARP, BlockShape
from simt.analysis.ssa import Definition, Ssa, build, destinations, uses
from simt.analysis.told import Falling, Linear, Told, ToldAlgebra, named
from simt.isa.algebra import Environment
from simt.ptx.types import Type, unsigned

MOST = 32
"""Instructions that are looked at for a branch."""
Makers = Mapping[Register, Sequence[Op | Call]]
"""By register, all that writes it."""
Written = Mapping[int, Sequence[Op]]
"""What stands in place of an op, by its identity."""


def decided(
    program: Program, kernel: Function, cta: BlockShape, ssa: Ssa | None = None
) -> tuple[Function, Ssa | None]:
    """The kernel for CTAs of a shape: another function, if one of its branches is decided; else its SSA, if
    that was given or had to be made."""
    branches = [(b, b.terminator) for b in kernel.blocks if isinstance(b.terminator, Branch)]
    if not branches:
        return kernel, ssa
    makers = _makers(kernel)
    known = bool(cta.numbers)
    asking = [(block, branch) for block, branch in branches if _is_of_thread(branch.predicate, makers, known)]
    if not asking or has_clock(kernel.name, program):
        return kernel, ssa
    ssa, ways = ssa or build(kernel, schedule(kernel)), dict[int, Block]()
    bounds = _Bounds(ssa, program.environment, cta)
    for block, branch in asking:
        known = bounds.of(ssa.read[id(branch)][branch.predicate])
        if known.lo == known.hi:
            ways[block.index] = branch.taken if bool(known.lo) != branch.negated else branch.otherwise
    writer = _Writer(bounds, kernel)
    written = writer.written()
    return (_rewritten(kernel, ways, writer, written), None) if ways or written else (kernel, ssa)


def _rewritten(kernel: Function, ways: dict[int, Block], writer: _Writer, written: Written) -> Function:
    """The kernel with jumps in place of some blocks' branches, by index, and others in place of some ops."""
    function = copied(kernel)
    function.registers = writer.registers
    for block in function.blocks:
        block.ops = [new for op in block.ops for new in written.get(id(op), (op,))]
        if block.index in ways:
            lead(block, [function.blocks[ways[block.index].index]], {})
    simplify(function)
    return function


def _makers(kernel: Function) -> Makers:
    found: dict[Register, list[Op | Call]] = {}
    for block in kernel.blocks:
        for op in block.ops:
            for register in destinations(op):
                if register is not None:
                    found.setdefault(register, []).append(op)
    return found


def _is_of_thread(predicate: Register, makers: Makers, asks: bool) -> bool:
    """Whether some instructions give a predicate that have nothing but numbers and the thread's indices, at
    least in one of the ways in which its registers are written: others are hardly ever decided. `asks`:
    numbers alone will do."""
    seen, work, left = {predicate}, [predicate], MOST
    while work:
        found = makers.get(work.pop(), ())
        left -= len(found)
        told = [op for op in found if isinstance(op, Op) and _is_told(op)] if left >= 0 else []
        if not told:
            return False
        asks |= any(isinstance(source, Special) for op in told for source in op.sources.values())
        new = {register for op in told for register in uses(op)} - seen
        seen |= new
        work += new
    return asks


def _is_told(op: Op) -> bool:
    return op.guard is None and not op.form.effects and all(map(_is_known, op.sources.values()))


def _is_known(source: Operand) -> bool:
    if isinstance(source, Special):
        return source.name in OF_THREAD
    return source is None or isinstance(source, Register | Complement | Constant)


class _Bounds:
    """Bounds of what the thread's indices tell: a reader of the evaluator."""

    def __init__(self, ssa: Ssa, environment: Environment, cta: BlockShape) -> None:
        self.ssa = ssa
        self.evaluator: Evaluator[Range] = Evaluator(ToldAlgebra(cta), self, environment)
        self.found: dict[Definition, Range] = {}
        self.inputs: Mapping[Register, Definition] = {}

    def of(self, definition: Definition) -> Range:
        """Nothing is known where several definitions meet."""
        op = definition.origin
        if op == "undefined":
            return constant(0)
        if definition not in self.found:
            self.found[definition] = UNKNOWN  # of one that is made of itself
            if isinstance(op, Op) and _is_told(op):
                outer, self.inputs = self.inputs, self.ssa.read[id(op)]
                values = zip(self.ssa.of[id(op)], self.evaluator.op(op), strict=True)
                self.found.update((made, named(made, value)) for made, value in values if made is not None)
                self.inputs = outer
        return self.found[definition]

    def register(self, register: Register) -> Range:
        return self.of(self.inputs[register])

    def symbol(self, symbol: SymbolAddress) -> Range:
        return UNKNOWN

    def function(self, function: FunctionAddress) -> Range:
        return UNKNOWN


class _Writer:
    """Writes what is known of values in place of what makes them. `registers`: new ones."""

    def __init__(self, bounds: _Bounds, kernel: Function) -> None:
        self.bounds, self.ssa, self.registers = bounds, bounds.ssa, [*kernel.registers]
        self.kept: dict[Definition, Register] = {}

    def written(self) -> Written:
        """What stands in place of ops, by their identities."""
        found: dict[int, list[Op]] = {}
        for definition, value in list(self.bounds.found.items()):
            op, t = definition.origin, definition.register.type
            if not isinstance(op, Op) or len(op.destinations) != 1 or t.is_predicate:
                continue
            if made := self._made(op, definition.register, value):
                found[id(op)] = made
        for definition, register in self.kept.items():
            op = definition.origin
            assert isinstance(op, Op)
            found.setdefault(id(op), [op]).append(copy(register, definition.register, register.type, op.line))
        return found

    def _made(self, op: Op, result: Register, value: Range) -> list[Op]:
        """What gives a value in another way, if there is a better one."""
        t, read = unsigned(result.type.bits), self.ssa.read[id(op)].items()
        match value:
            case Range() if value.lo == value.hi:
                return [copy(result, Constant(t, value.lo % (1 << t.bits)), t, op.line)] if read else []
            case Told(by=Linear(base=base)) if base.origin is not op:
                same = [r for r, d in read if r.type.bits == t.bits and self.bounds.of(d) == value]
                return [copy(result, r, t, op.line) for r in same[:1]]
            case Told(by=Falling(base=base, limit=limit)) if limit % WARP == 0:
                numbers = {"b": Constant(t, limit), "c": Constant(t, value.lo)}
                sources = {"a": self._kept(base), **numbers}
                typed = {name: (source, t) for name, source in sources.items()}
                return [simple(STEPPED, t, result, typed, op.line)]
            case _:
                return []

    def _kept(self, base: Definition) -> Register:
        """A register that has a definition, whatever is written to its own one later."""
        if base not in self.kept:
            self.kept[base] = self._register(base.register.type, "kept")
        return self.kept[base]

    def _register(self, t: Type, name: str) -> Register:
        made = Register(len(self.registers), f"{name}.told{len(self.registers)}", t)
        self.registers.append(made)
        return made
