"""What one warp executes, instruction by instruction, with its active lanes and its branch stack."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simt.analysis.program import Barrier, Branch, Call, Exit, Jump, Op, Program, Return, Switch, Terminator
from simt.diagnostics import Source
from simt.driver.kernel import Kernel
from simt.engine.batch import WARP, Batch
from simt.engine.branch_stacks import BranchStacks, Change
from simt.engine.interpreter_activation import Activation, Run
from simt.errors import LaunchError
from simt.isa.catalogue import FORMS
from simt.machine.grid import Shape, as_dim3
from simt.machine.launch import StackEntry
from simt.records import dataclass, field
from simt.tools.statements import statement

LIMIT = 1000
"""Instructions of a trace that are kept, unless asked otherwise."""
Executed = Op | Call | Terminator
_CONTROL: dict[type, frozenset[str]] = {
    Jump: frozenset({"branch", "call", "return"}),
    Branch: frozenset({"branch"}),
    Switch: frozenset({"branch", "indirect-branch"}),
    Barrier: frozenset({"barrier"}),
    Call: frozenset({"call"}),
    Return: frozenset({"return"}),
    Exit: frozenset({"return", "exit"}),
}
"""Of which kinds of control flow the catalogue's forms are that become one of these."""
_LABEL = re.compile(r"\s*([\w$%]+):\s*(//.*)?$")


@dataclass(frozen=True, slots=True)
class Operation:
    """What happens to the stack. `name`: push, complement, pop, join or switch. `mask`: the lanes pushed or
    restored, else those that run from now on. `depth`: entries on the stack afterwards. `line`: in the file,
    of the instruction that the entry pushed or popped, else the top entry, is for, 0 if there is none."""

    name: str
    mask: int
    depth: int
    line: int


@dataclass(slots=True)
class Step:
    """An instruction that the warp executed. `lanes`: mask of the lanes that did, bit i for lane i. `line`:
    in the file. `depth`: entries on the stack while it is executed. `stack`: what happens to the stack with
    it: pops, joins and pushes of loops before it, pushes of branches and calls and complements after it."""

    function: str
    line: int
    text: str
    lanes: int
    depth: int
    stack: tuple[Operation, ...] = ()

    @property
    def active(self) -> int:
        return self.lanes.bit_count()


@dataclass(slots=True)
class Efficiency:
    """Instructions that were issued for the warp, and by how many lanes in all they were executed."""

    instructions: int = 0
    lanes: int = 0

    def add(self, lanes: int) -> None:
        self.instructions += 1
        self.lanes += lanes.bit_count()

    @property
    def slots(self) -> int:
        """Lanes that could have executed them."""
        return self.instructions * WARP

    @property
    def ratio(self) -> float:
        """From 0 to 1; 1 if nothing was executed."""
        return self.lanes / self.slots if self.instructions else 1.0


@dataclass(slots=True)
class Trace:
    """`steps`: the first instructions, as many as asked for. `whole`: of all instructions, those included
    that were not kept. `entries`: of those between push and pop, by the line that the stack had an entry
    for."""

    kernel: str
    cta: int
    warp: int
    steps: list[Step] = field(default_factory=list[Step])
    whole: Efficiency = field(default_factory=Efficiency)
    entries: dict[int, Efficiency] = field(default_factory=dict[int, Efficiency])
    texts: dict[int, str] = field(default_factory=dict[int, str])
    """What stands at the lines of `entries`."""


def trace(
    kernel: Kernel,
    grid: Shape,
    block: Shape,
    args: Sequence[object] = (),
    shared_mem: int = 0,
    cta: int = 0,
    warp: int = 0,
    limit: int = LIMIT,
) -> Trace:
    """Runs a kernel on the interpreter, whatever the device's engine, and traces a warp of it.

    `cta`: its number in the grid, x fastest; `warp`: its number in the CTA. Raises `LaunchError` if there is
    no such warp, and what launches raise.
    """
    tracer = Tracer(kernel, grid, block, cta, warp, limit)
    tracer.run(args, shared_mem)
    return tracer.trace


class Tracer:
    """Watches one warp. `trace` is filled while the kernel runs, and is there after a fault too."""

    def __init__(
        self, kernel: Kernel, grid: Shape, block: Shape, cta: int, warp: int, limit: int = LIMIT
    ) -> None:
        self._kernel, self._grid, self._block, self._limit = kernel, grid, block, limit
        self._check(cta, warp)
        self.trace = Trace(kernel.name, cta, warp)
        self._lines = _Lines(kernel.module.as_written)
        self._row: int | None = None
        self._stacks: BranchStacks | None = None
        self._last: dict[int, tuple[int, int]] = {}
        self._waiting: list[Operation] = []
        self._texts: dict[int, str] = {}
        self._places: dict[int, int] = {}

    def _check(self, cta: int, warp: int) -> None:
        ctas = int(np.prod(as_dim3(self._grid, "grid")))
        warps = -(-int(np.prod(as_dim3(self._block, "block"))) // WARP)
        for what, number, count in (("CTA", cta, ctas), ("warp", warp, warps)):
            if not 0 <= number < count:
                where = "grid" if what == "CTA" else "block"
                raise LaunchError(f"there is no {what} {number}: the {where} has {count}, numbered from 0")

    def run(self, args: Sequence[object] = (), shared_mem: int = 0) -> None:
        """Launches the kernel."""
        try:
            self._kernel.watched(self, self._grid, self._block, args, shared_mem)
        finally:
            self._end()

    # ------------------------------------------------------------------ what the interpreter tells

    def begins(self, batch: Batch) -> None:
        self._end()
        row = (self.trace.cta - int(batch.cta[0])) * batch.warps + self.trace.warp
        self._row = row if 0 <= row < batch.rows else None
        self._stacks = batch.stacks

    def enters(self, activation: Activation, run: Run) -> None:
        if run.position == 0 and self._mine(run.mask, run.rows):
            self._last.pop(activation.depth, None)

    def executes(self, what: Executed, lanes: NDArray[Any], activation: Activation, run: Run) -> None:
        if _is_instruction(what) and self._mine(run.mask, run.rows):
            self._step(what.line, self._mine(lanes, run.rows), activation, what)

    def parts(self, ways: list[tuple[int, NDArray[Any]]], activation: Activation, run: Run) -> None:
        mine = [(slot, self._mine(mask, run.rows)) for slot, mask in ways]
        mine = [(slot, mask) for slot, mask in mine if mask]
        branch = run.block.terminator
        if not mine:
            return
        if isinstance(branch, Branch) and branch.around:
            after = activation.line.slot(branch.otherwise)
            if [slot for slot, _ in mine] == [after]:
                self._step(branch.line, 0, activation, (*branch.taken.ops, branch.taken.terminator)[0])

    def changes(self, change: Change) -> None:
        found = np.flatnonzero(change.warps == self._row)
        if not len(found):
            return
        mask, depth, line = (int(c[found[0]]) for c in (change.masks, change.depths, change.lines))
        operation = Operation(change.name, mask, depth, self._entry(line))
        if change.name in ("pop", "join") or change.kind == "loop":
            self._waiting.append(operation)
        else:
            self._after([operation])

    # ------------------------------------------------------------------ notes

    def _mine(self, mask: NDArray[Any], rows: NDArray[Any] | None) -> int:
        """The warp's lanes of a mask."""
        if self._row is None:
            return 0
        row = self._row
        if rows is not None:
            row = int(np.searchsorted(rows, row))
            if row == len(rows) or rows[row] != self._row:
                return 0
        return int(np.packbits(mask[row], bitorder="little").view(np.uint32)[0])

    def _step(self, line: int, lanes: int, activation: Activation, what: Executed) -> None:
        """An instruction, unless it is a further part of the last one."""
        level = activation.depth
        if line == 0 or (self._last.get(level) == (line, lanes) and self._lines.is_single(line)):
            return
        self._last[level] = line, lanes
        self.trace.whole.add(lanes)
        stack = self._stack()
        for entry in {self._entry(e.line) for e in stack}:
            self.trace.entries.setdefault(entry, Efficiency()).add(lanes)
        if len(self.trace.steps) < self._limit:
            at, text = self._lines.shown(line, what)
            step = Step(activation.line.function.name, at, text, lanes, len(stack))
            step.stack = tuple(self._waiting)
            self.trace.steps.append(step)
        self._waiting.clear()

    def _stack(self) -> tuple[StackEntry, ...]:
        """The warp's stack as it is now."""
        return () if self._stacks is None or self._row is None else self._stacks.of(self._row)

    def _entry(self, line: int) -> int:
        """The line within its file, for an entry of the stack."""
        if line not in self._places:
            self._places[line], text = self._lines.shown(line)
            self._texts[self._places[line]] = text
        return self._places[line]

    def _after(self, operations: Sequence[Operation]) -> None:
        """Operations that go with the last instruction."""
        if self.trace.steps and self.trace.whole.instructions == len(self.trace.steps):
            self.trace.steps[-1].stack += tuple(operations)

    def _end(self) -> None:
        """The CTAs that ran have ended."""
        if self._row is None:
            return
        self._after(self._waiting)
        self._row = None
        self.trace.texts = {line: self._texts[line] for line in self.trace.entries}


def _may_be(text: str, what: Executed) -> bool:
    """Whether a statement has the opcode of what is executed, or one that becomes the like of it."""
    words = text.split()
    if isinstance(what, Op):
        return what.form.spell(what.binding) in words
    forms = (form for word in words for form in FORMS.get(word.partition(".")[0], ()))
    return any(form.control in _CONTROL[type(what)] for form in forms)


def _is_instruction(what: Executed) -> bool:
    """Whether the program has an instruction of its own for it."""
    match what:
        case Jump(written=written):
            return written
        case Branch(around=True):
            return False
        case _:
            return what.line > 0


class _Lines:
    """The statements of a program by line."""

    def __init__(self, program: Program) -> None:
        self._text: Source = program.text
        self._single: dict[int, bool] = {}

    def is_single(self, line: int) -> bool:
        """Whether there is at most one instruction on the line."""
        if line not in self._single:
            self._single[line] = self._text.line(line).partition("//")[0].count(";") <= 1
        return self._single[line]

    def shown(self, line: int, what: Executed | None = None) -> tuple[int, str]:
        """The line within its file, and the statement there, with the label above it. Of several statements
        on the line the one that is executed, if it is the only one like it."""
        label = _LABEL.match(self._text.line(line - 1)) if line > 1 else None
        text = statement(self._text, line)
        if what is not None and not self.is_single(line):
            found = [s.strip() for s in re.split("[;{}]", text) if _may_be(s, what)]
            text = found[0] if len(found) == 1 else text
        return self._text.place(line)[0] or 0, f"{label[1]}: {text}" if label else text
