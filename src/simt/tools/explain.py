"""What the JIT makes of a kernel, in terms of its PTX: accesses, branches, loops, barriers, calls, registers.

Nothing is analysed again here: the JIT's own emission of the kernel is watched, and asked afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar, cast

from simt.analysis.access import ALIKE, is_proven, pattern_of, plan_of
from simt.analysis.decided import decided
from simt.analysis.evaluate import Evaluator
from simt.analysis.frame_registers import flattened
from simt.analysis.lower_forms import CHOSEN
from simt.analysis.pending import stops
from simt.analysis.program import (
    Barrier,
    Block,
    Branch,
    Call,
    Function,
    FunctionAddress,
    Op,
    Program,
    Register,
    Switch,
    SymbolAddress,
)  # fmt: skip
from simt.analysis.schedule import Loop
from simt.analysis.shape import UNIFORM, WARP, BlockShape, Shape
from simt.analysis.shape_algebra import ShapeAlgebra
from simt.analysis.weaving import is_one_place
from simt.engine.host import HOST, find_cpu
from simt.engine.llvm_builder import Value
from simt.engine.llvm_function import FunctionEmitter
from simt.engine.llvm_kernel import KernelEmitter, emit
from simt.engine.llvm_lanes import shape_of
from simt.engine.unsupported import Unsupported
from simt.isa.algebra import Algebra
from simt.ptx.types import U64, Type
from simt.records import dataclass, field
from simt.tools.causes import MOST, Causes
from simt.tools.statements import statement

_Note = TypeVar("_Note")
REGISTER_SHAPES = ("uniform", "per row", "affine", "affine (tested)", "varying")


@dataclass(frozen=True, slots=True)
class Place:
    """An instruction: its line in the file, and what stands there."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class AccessNote:
    """A load, store or atomic operation (`operation`) of `bytes` bytes a lane. `pattern`: what is known of
    the addresses. `way`: how it is done; `otherwise`: how, where a test at run time fails (None: no test);
    both None for atomics. `stride`: bytes from lane to lane, None if unknown. `proven`: all addresses are
    known to be right, and not checked. `parameter`: a kernel parameter is read."""

    place: Place
    operation: str
    space: str
    bytes: int
    pattern: str
    way: str | None
    otherwise: str | None
    stride: int | None
    proven: bool
    parameter: bool


@dataclass(frozen=True, slots=True)
class BranchNote:
    """`causes`: where the values first differ between lanes that make a divergent branch diverge; the first
    `MOST` of these places."""

    place: Place
    divergent: bool
    causes: tuple[Place, ...]

    @property
    def may_have_more(self) -> bool:
        return len(self.causes) == MOST


@dataclass(frozen=True, slots=True)
class LoopNote:
    """`by_degrees`: lanes leave in different turns. `alone`: the last few go on one by one, as scalar code.
    `waits`: its end depends on memory that others write."""

    first_line: int
    last_line: int
    depth: int
    by_degrees: bool
    alone: bool
    waits: bool


@dataclass(frozen=True, slots=True)
class BarrierNote:
    """`suspends`: warps make way for each other. `parts`: lanes of a warp may come at different times.
    `kept`: values that each warp keeps over it. `turn`: it is none of the program's, but the end of a turn of
    the loop that begins at the place (`simt.analysis.taking_turns`)."""

    place: Place
    suspends: bool
    parts: bool
    kept: int
    turn: bool = False


@dataclass(frozen=True, slots=True)
class CallNote:
    """`kind`: `compiled` (a function for a whole warp), `indirect`, `system` (not in the module), or
    `texture`, a fetch (`callee`: the geometry)."""

    place: Place
    callee: str
    kind: str


@dataclass(slots=True)
class FunctionNotes:
    """A kernel or a called device function. `inlined`: functions that became part of it. `registers`: the
    names of the registers of each shape. `context`: bytes that a waiting warp keeps. `decided`: branches that
    all threads of a CTA of this size take, or none, or to which none comes. `unreached`: accesses and
    barriers to which so no thread comes. `chosen`: branches of which both ways are computed."""

    name: str
    accesses: list[AccessNote] = field(default_factory=list[AccessNote])
    branches: list[BranchNote] = field(default_factory=list[BranchNote])
    loops: list[LoopNote] = field(default_factory=list[LoopNote])
    barriers: list[BarrierNote] = field(default_factory=list[BarrierNote])
    calls: list[CallNote] = field(default_factory=list[CallNote])
    inlined: list[str] = field(default_factory=list[str])
    registers: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    context: int = 0
    decided: list[Place] = field(default_factory=list[Place])
    unreached: list[Place] = field(default_factory=list[Place])
    chosen: list[Place] = field(default_factory=list[Place])


@dataclass(slots=True)
class Explanation:
    """`reason`: why the interpreter runs the kernel; None if it runs as machine code. `reason_at`: where.
    `block`: with the rows that the JIT sees in a CTA of one dimension."""

    kernel: str
    block: BlockShape
    reason: str | None = None
    reason_at: Place | None = None
    functions: list[FunctionNotes] = field(default_factory=list[FunctionNotes])


def explain(program: Program, kernel: Function, block: BlockShape, cpu: str = HOST) -> Explanation:
    """What the JIT makes of a kernel for CTAs of a shape, on a CPU (as for `Device`)."""
    features = find_cpu(cpu).features
    watchers: list[_Watcher] = []
    result = Explanation(kernel.name, block)
    try:
        _, unit, _ = emit(
            program, kernel, block, features, "", lambda e: watchers.append(_Watcher(program, e))
        )
    except Unsupported as reason:
        result.reason = str(reason)
        result.reason_at = watchers[-1].place(watchers[-1].emitter.m.line) if watchers else None
    else:
        result.block = unit.block
        result.functions = [w.notes() for w in watchers]
        _note_decided(result.functions[0], program, kernel, block)
    return result


def _note_decided(notes: FunctionNotes, program: Program, kernel: Function, block: BlockShape) -> None:
    """What the size of a CTA decides (`simt.analysis.decided`)."""
    kernel, ssa = flattened(program, kernel)
    found, _ = decided(program, kernel, block, ssa)
    for lines, places in ((_branch_lines, notes.decided), (_acting_lines, notes.unreached)):
        gone = sorted(lines(kernel) - lines(found))
        places += [Place(line, statement(program.text, line)) for line in gone]


def _branch_lines(function: Function) -> set[int]:
    return {b.terminator.line for b in function.blocks if isinstance(b.terminator, Branch)}


def _acting_lines(function: Function) -> set[int]:
    ops = {op.line for op in function.ops() if isinstance(op, Op) and "memory" in op.form.effects}
    return ops | {b.terminator.line for b in function.blocks if isinstance(b.terminator, Barrier)}


class _Watcher:
    """Notes what is emitted for one function."""

    def __init__(self, program: Program, emitter: FunctionEmitter) -> None:
        self.program = program
        self.emitter = emitter
        self.accesses: dict[AccessNote, None] = {}
        emitter.evaluator = emitter.in_place = _WatchedEvaluator(self)
        emitter.alone.whole = True

    def place(self, line: int) -> Place:
        """The instruction at a line."""
        if not line:
            return Place(0, "")
        return Place(line, statement(self.program.text, line))

    def notes(self) -> FunctionNotes:
        emitter = self.emitter
        waits = isinstance(emitter, KernelEmitter) and emitter.waits
        return FunctionNotes(
            emitter.function.name,
            sorted(self.accesses, key=lambda a: a.place.line),
            _once(self._branches()),
            [self._loop(loop) for loop in emitter.schedule.loops],
            _once(self._barriers()),
            _once(sorted(self._calls(), key=lambda c: c.place.line)),
            self._inlined(),
            _registers(emitter),
            emitter.context_stride() if isinstance(emitter, KernelEmitter) and waits else 0,
            chosen=[self.place(line) for line in self._chosen()],
        )

    def _chosen(self) -> list[int]:
        ops = (op for op in self.emitter.function.ops() if isinstance(op, Op))
        return sorted({op.line for op in ops if op.form is CHOSEN})

    def _branches(self) -> Iterable[BranchNote]:
        causes = Causes(self.emitter.ssa, self.emitter.uniformity)
        for block in self._by_line():
            if isinstance(block.terminator, Branch | Switch) and len(block.successors()) > 1:
                divergent = block.index in self.emitter.uniformity.divergent
                lines = causes.of_branch(block) if divergent else ()
                where = tuple(self.place(line) for line in lines)
                yield BranchNote(self.place(block.terminator.line), divergent, where)

    def _by_line(self) -> list[Block]:
        return sorted(self.emitter.schedule.order, key=lambda b: b.terminator.line)

    def _loop(self, loop: Loop) -> LoopNote:
        blocks = self.emitter.schedule.order[loop.first : loop.last + 1]
        lines = {op.line for b in blocks for op in (*b.ops, b.terminator) if op.line}
        return LoopNote(
            min(lines, default=0), max(lines, default=0), loop.depth,
            loop.header.index in self.emitter.uniformity.leaving,
            self.emitter.alone.decided.get(loop.header.index, False), loop in self.emitter.pending.waiting,
        )  # fmt: skip

    def _barriers(self) -> Iterable[BarrierNote]:
        for block in self._by_line():
            if isinstance(block.terminator, Barrier):
                live = self.emitter.live([block.terminator.next]) if stops(block) else []
                kept = [d for d in live if d not in self.emitter.remade]
                parts, line = bool(self.emitter.pending.at[block.index]), block.terminator.line
                turn = not line
                place = self.place(_first_line(block.terminator.next) if turn else line)
                yield BarrierNote(place, stops(block), parts, len(kept), turn)

    def _calls(self) -> Iterable[CallNote]:
        for op in self.emitter.function.ops():
            if not isinstance(op, Call):
                if any(operand.kind == "texture" for operand in op.form.operands):
                    yield CallNote(self.place(op.line), str(op.binding["geom"]), "texture")
                continue
            if isinstance(op.callee, str):
                kind = "compiled" if op.callee in self.program.functions else "system"
                yield CallNote(self.place(op.line), op.callee, kind)
            else:
                yield CallNote(self.place(op.line), ", ".join(op.candidates), "indirect")

    def _inlined(self) -> list[str]:
        """Registers of an inlined function carry its name before their own."""
        owners = {part for d in self.emitter.ssa.definitions for part in d.register.name.split(".")[:-1]}
        return sorted(owners & set(self.program.functions))


def _first_line(block: Block) -> int:
    """Of a loop's header, or what it goes on with."""
    return next((op.line for op in (*block.ops, block.terminator) if op.line), 0)


def _once(notes: Iterable[_Note]) -> list[_Note]:
    """Without repetitions: a function may be inlined several times."""
    return list(dict.fromkeys(notes))


class _WatchedEvaluator(Evaluator[Value]):
    """An emitter's evaluator. Before an op with effects is emitted, its meaning is evaluated over the shapes
    that the analysis found, to tell what is known of addresses from what emission only tries."""

    def __init__(self, watcher: _Watcher) -> None:
        emitter = watcher.emitter
        self.known = _KnownAddresses(emitter.m.block)
        algebra = cast("Algebra[Value]", _WatchedAlgebra(watcher, self.known))
        super().__init__(algebra, emitter.evaluator.reader, watcher.program.environment)
        self._shapes: Evaluator[Shape] = Evaluator(self.known, _KnownShapes(emitter), self.environment)

    def op(self, op: Op) -> tuple[Value, ...]:
        outer, self.known.found = (
            self.known.found,
            [],
        )  # an op may be run while another one's operands are read
        if op.form.effects:
            self._shapes.op(op)
        values = super().op(op)
        self.known.found = outer
        return values


class _KnownAddresses(ShapeAlgebra):
    """Collects the shapes of the addresses of one op, in order."""

    def __init__(self, block: BlockShape) -> None:
        super().__init__(block)
        self.found: list[Shape] = []

    def load(self, t: Type, space: str, address: Shape, count: int, volatile: bool) -> tuple[Shape, ...]:
        self.found.append(address)
        return super().load(t, space, address, count, volatile)

    def store(self, t: Type, space: str, address: Shape, values: tuple[Shape, ...], volatile: bool) -> None:
        self.found.append(address)

    def atomic(self, op: str, t: Type, space: str, address: Shape, b: Shape, c: Shape | None) -> Shape:
        self.found.append(address)
        return super().atomic(op, t, space, address, b, c)


class _KnownShapes:
    """The analysis's shapes as a reader."""

    def __init__(self, emitter: FunctionEmitter) -> None:
        self.emitter = emitter

    def register(self, register: Register) -> Shape:
        definition = self.emitter.ssa.lookup(self.emitter.current, register)
        return self.emitter.uniformity.shapes.get(definition, UNIFORM)

    def symbol(self, symbol: SymbolAddress) -> Shape:
        return UNIFORM

    def function(self, function: FunctionAddress) -> Shape:
        return UNIFORM


def _told(space: str) -> str:
    """A state space's name for users."""
    return "local" if space == ALIKE else space or "generic"


class _WatchedAlgebra:
    """An emitter's algebra, with an eye on the addresses that reach it."""

    def __init__(self, watcher: _Watcher, known: _KnownAddresses) -> None:
        self._watcher = watcher
        self._known = known
        self._m = watcher.emitter.m

    def __getattr__(self, name: str) -> Any:
        return getattr(self._m, name)

    def load(self, t: Type, space: str, address: Value, count: int, volatile: bool) -> tuple[Value, ...]:
        self._note("load", t, space, address, count, volatile)
        return self._m.load(t, space, address, count, volatile)

    def store(self, t: Type, space: str, address: Value, values: tuple[Value, ...], volatile: bool) -> None:
        self._note("store", t, space, address, len(values), volatile)
        self._m.store(t, space, address, values, volatile)

    def atomic(self, op: str, t: Type, space: str, address: Value, b: Value, c: Value | None) -> Value:
        self._note("atomic", t, space, address, 1, True)
        return self._m.atomic(op, t, space, address, b, c)

    def arrivals(self, op: str, space: str, address: Value, b: Value) -> Value:
        self._note("atomic", U64, space, address, 1, True)
        return self._m.arrivals(op, space, address, b)

    def _note(self, operation: str, t: Type, space: str, address: Value, count: int, volatile: bool) -> None:
        shape, size = shape_of(address), t.bytes * count
        known = self._known.found.pop(0)
        if shape.exact:
            known = shape
        pattern = pattern_of(known, size, space)
        plan = None
        if operation != "atomic":
            stores = operation == "store"
            where = shape, size, count, space
            if space == "local" and self._m.woven and is_one_place(shape):
                where = self._m.shape_woven(self._m.woven, shape), self._m.woven, 1, "woven"
            plan = plan_of(
                *where, self._m.block,
                stores=stores, volatile=volatile, windows=self._m.has_windows, gathers=self._m.has_gathers,
                picks=self._m.picks,
                near=None if stores else self._m.loads_near(shape.stride, size, count),
            )  # fmt: skip
        note = AccessNote(
            self._watcher.place(self._m.line), operation, _told(space), size, pattern.value,
            plan and plan.way.value, plan and plan.otherwise and plan.otherwise.value,
            known.stride if known.width < WARP else None,
            is_proven(self._m.reach, size, self._m.sizes.get(space, 0)), self._m.parameter is not None,
        )  # fmt: skip
        self._watcher.accesses[note] = None


def _registers(emitter: FunctionEmitter) -> dict[str, list[str]]:
    """Registers by shape; one that is defined several times counts as the widest of its values."""
    widest: dict[str, int] = {}
    for definition in emitter.ssa.definitions:
        if definition.origin != "undefined":
            shape = emitter.uniformity.shapes.get(definition, Shape(1))
            name = definition.register.name
            widest[name] = max(widest.get(name, 0), _rank(shape))
    found: dict[str, list[str]] = {kind: [] for kind in REGISTER_SHAPES}
    for name, rank in widest.items():
        found[REGISTER_SHAPES[rank]].append(name)
    return found


def _rank(shape: Shape) -> int:
    if shape.is_guarded:
        return 3
    if not shape.is_affine:
        return 4
    if shape.stride:
        return 2
    return 0 if shape.width == 1 else 1
