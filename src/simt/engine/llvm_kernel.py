"""A kernel and the device functions it calls as one LLVM module.

The compiled kernel takes CTAs from a counter until none is left. Within a CTA it runs one warp after
the other. A warp that reaches a barrier saves what it still needs and makes way for the next; when all
warps have ended or wait, the waiting ones go on where they stopped (`switch` on the saved state).
"""

from __future__ import annotations

from simt.analysis.program import (
    Barrier,
    Block,
    Call,
    Complement,
    Constant,
    Exit,
    Function,
    Program,
    Register,
    Return,
    Source,
)  # fmt: skip
from simt.analysis.ssa import Definition
from simt.analysis.uniformity import WARP, BlockShape
from simt.engine import llvm_runtime
from simt.engine.abi import FaultKind, LaunchSlot, WorkerSlot
from simt.engine.llvm_algebra import element_type
from simt.engine.llvm_builder import Value, spell
from simt.engine.llvm_function import MASK, NO_LANES, FunctionEmitter, Unit
from simt.engine.llvm_lanes import ALL
from simt.engine.unsupported import Unsupported
from simt.ptx.types import PRED, Type

KERNEL = "simt_kernel"
CONTEXT_HEADER = 64
NO_LOOPS = '"disable-tail-calls"="true"'
"""Recursion stays recursion, so that its depth is checked: as a loop it would never be stopped."""
DONE = -1
NATIVE_STACK = 64 << 20
"""Bytes of stack of the threads that run compiled code."""
STACK_RESERVE = 4 << 20
"""Of these, bytes kept free for the deepest frame and for Python below the kernel."""

COORDINATES = "i32 %cta.x, i32 %cta.y, i32 %cta.z, i32 %warp"


def _slot(base: str, slot: int, name: str) -> list[str]:
    return [
        f"  %{name}.p = getelementptr i64, ptr {base}, i64 {slot}",
        f"  %{name} = load i64, ptr %{name}.p",
    ]


def _environment() -> list[str]:
    """Names that all code of a function uses: see `simt.engine.llvm_memory.Region`."""
    return [
        *_slot("%launch", LaunchSlot.BASE, "arena.base"),
        *_slot("%launch", LaunchSlot.LIMIT, "arena.limit"),
        "  %arena.room = sub i64 %arena.limit, %arena.base",
        "  %arena.room1 = add i64 %arena.room, 1",
        *_slot("%launch", LaunchSlot.SHARED_BYTES, "shared.bytes"),
        "  %shared.room1 = add i64 %shared.bytes, 1",
        *_slot("%worker", WorkerSlot.SHARED, "shared.host"),
        *_slot("%launch", LaunchSlot.LOCAL_BYTES, "local.bytes"),
        "  %local.room1 = add i64 %local.bytes, 1",
        *_slot("%worker", WorkerSlot.LOCAL, "local.first"),
        *_slot("%launch", LaunchSlot.PARAMETERS, "parameters"),
        *_slot("%launch", LaunchSlot.SYMBOLS, "symbols"),
    ]


def _local_of_warp() -> list[str]:
    return [
        "  %warp.wide = zext i32 %warp to i64",
        f"  %local.warp = mul i64 %local.bytes, {WARP}",
        "  %local.skip = mul i64 %local.warp, %warp.wide",
        "  %local.host = add i64 %local.first, %local.skip",
    ]


class CallingEmitter(FunctionEmitter):
    """Functions with calls. Arguments and results pass through stack memory, 32 lanes each."""

    def _call(self, op: Call) -> None:
        arguments = [
            self.m.spilled(self.m.vector(self.evaluator.source(a, source_type(a)))) for a in op.arguments
        ]
        results = [self.m.buffer(element_type(r.type), WARP) for r in op.results]
        if isinstance(op.callee, str):
            self._call_one(op.callee, self.m.mask, arguments, results, op)
        else:
            self._call_any(op, arguments, results)
        for definition, place in zip(self.ssa.of[id(op)], results):
            assert definition is not None
            element = element_type(definition.register.type)
            loaded = self.builder.emit(f"load {spell(element, WARP)}, ptr {place}, align 64")
            self.write(definition, Value(loaded, element, WARP))
            self.current[definition.register] = definition

    def _call_one(self, name: str, mask: Value, arguments: list[str], results: list[str], op: Call) -> None:
        callee = self.unit.program.functions.get(name)
        if callee is None or not callee.blocks:
            raise Unsupported(f"call of {name}, which has no body")
        self._check_signature(callee, op)
        self.unit.called[name] = None
        frame = self.builder.emit(f"add i64 %sp, {_aligned(self.function.local_size)}")
        pointers = "".join(f", ptr {p}" for p in (*arguments, *results))
        ok = self.builder.emit(
            f'call i1 @"{name}"(ptr %launch, ptr %worker, {COORDINATES}, i64 {frame}, i64 {self.m.line}, '
            f"{self.m.mask_bits(mask).typed}{pointers})"
        )
        self.m.go_on_if(ok)

    def _check_signature(self, callee: Function, op: Call) -> None:
        wanted = [r.type.bits for r in (*callee.parameters, *callee.results)]
        given = [source_type(a).bits for a in (*op.arguments, *op.results)]
        if wanted != given:
            raise Unsupported(f"call of {callee.name} with other parameters than it declares")

    def _call_any(self, op: Call, arguments: list[str], results: list[str]) -> None:
        """An indirect call: one call for each candidate that some lane reaches."""
        assert isinstance(op.callee, Register)
        target = self.m.vector(self.m.to_bits(op.callee.type, self.register(op.callee)))
        known = Value(NO_LANES.removeprefix(MASK).strip(), "i1", WARP)
        for name in op.candidates:
            here = self.m.test("icmp eq", target, Value(str(self.function_index(name)), target.type))
            lanes = self.m.mask_and(self.m.mask, here)
            known = self.m.binary("or", known, here)
            run, skip = self.builder.block_name("call"), self.builder.block_name("skip")
            self.builder.void(f"br i1 {self.m.any(lanes)}, label %{run}, label %{skip}")
            self.builder.label(run)
            self._call_one(name, lanes, arguments, results, op)
            self.builder.void(f"br label %{skip}")
            self.builder.label(skip)
        self._fault_if(self.m.invert_mask(known), FaultKind.TARGET)


def source_type(source: Source) -> Type:
    return PRED if isinstance(source, Complement) else source.type


def _aligned(size: int) -> int:
    return (size + 15) // 16 * 16


class DeviceEmitter(CallingEmitter):
    """`i1 function(launch, worker, cta x, y, z, warp, frame, line, mask, arguments..., results...)`."""

    def __init__(self, unit: Unit, function: Function) -> None:
        super().__init__(unit, function)
        self.initial_mask = Value("%mask.initial", "i1", WARP)
        if any(isinstance(b.terminator, Exit) for b in self.schedule.order):
            raise Unsupported(f"exit in function {function.name}")

    def define(self) -> str:
        self.body()
        allocas, lines = self.split_allocas()
        pointers = [f"%argument.{i}" for i in range(len(self.function.parameters))]
        pointers += [f"%result.{i}" for i in range(len(self.function.results))]
        parameters = "".join(f", ptr {p}" for p in pointers)
        text = [
            f'define internal i1 @"{self.function.name}"(ptr %launch, ptr %worker, {COORDINATES}, i64 %sp, '
            f"i64 %call.line, i32 %mask.bits{parameters}) noinline {NO_LOOPS} {self.unit.module.attributes} {{",
            "entry:",
            *allocas,
            *_environment(),
            *_local_of_warp(),
            f"  %mask.initial = bitcast i32 %mask.bits to {MASK}",
            *self.pending_resets(),
            *self._stack_check(),
            *self._arguments(),
            f"  br label %{self.label(self.schedule.order[0])}",
            *lines,
            "finished:",
            "  ret i1 true",
            "abort:",
            "  ret i1 false",
            "}",
        ]
        return "\n".join(text)

    def _stack_check(self) -> list[str]:
        """Faults when the frame does not fit into local memory, or native stack runs low."""
        self.unit.module.declare("llvm.frameaddress.p0", "ptr", ("i32",))
        self.unit.module.declare("llvm.cttz.i32", "i32", ("i32", "i1"))
        record = llvm_runtime.fault(self.unit.module)
        return [
            "  %frame.p = call ptr @llvm.frameaddress.p0(i32 0)",
            "  %frame.i = ptrtoint ptr %frame.p to i64",
            *_slot("%worker", WorkerSlot.STACK_LIMIT, "stack.limit"),
            "  %deep = icmp ult i64 %frame.i, %stack.limit",
            f"  %frame.end = add i64 %sp, {_aligned(self.function.local_size)}",
            "  %full = icmp ugt i64 %frame.end, %local.bytes",
            "  %overflow = or i1 %deep, %full",
            "  br i1 %overflow, label %stack.bad, label %stack.ok",
            "stack.bad:",
            "  %first32 = call i32 @llvm.cttz.i32(i32 %mask.bits, i1 false)",
            "  %first = zext i32 %first32 to i64",
            f"  call void {record}(ptr %launch, ptr %worker, i64 {FaultKind.STACK}, i64 %call.line, i64 0, "
            "i64 %first, i64 0, i64 0)",
            "  ret i1 false",
            "stack.ok:",
        ]

    def _arguments(self) -> list[str]:
        lines: list[str] = []
        for i, register in enumerate(self.function.parameters):
            definition = self.ssa.single[register]
            vector = spell(element_type(register.type), WARP)
            lines.append(f"  %in.{i} = load {vector}, ptr %argument.{i}, align 64")
            if definition in self.slots:
                lines.append(f"  store {vector} %in.{i}, ptr {self.slots[definition]}, align 64")
        return lines

    def read(self, definition: Definition) -> Value:
        if definition.origin == "argument" and definition not in self.cache:
            self.slot(definition)
        return super().read(definition)

    def _finish(self, terminator: Return | Exit) -> None:
        """Returning lanes leave their results."""
        for i, register in enumerate(self.function.results):
            value = self.m.vector(self.register(register))
            old = self.builder.emit(f"load {value.spelled}, ptr %result.{i}, align 64")
            kept = self.m.pick(self.m.mask, value, Value(old, value.type, WARP))
            self.builder.void(f"store {kept.typed}, ptr %result.{i}, align 64")


class KernelEmitter(CallingEmitter):
    """`void simt_kernel(launch, worker)`."""

    def __init__(self, unit: Unit, function: Function) -> None:
        super().__init__(unit, function)
        self.threads = unit.block.threads
        if self.threads % WARP:
            self.initial_mask = Value("%mask.initial", "i1", WARP)
        self.suspensions: dict[str, int] = {}
        self.context_size = CONTEXT_HEADER
        self._check_barriers()

    @property
    def waits(self) -> bool:
        """Whether warps make way for each other: at barriers, or in loops that wait for other threads."""
        return bool(self.pending.barriers) or (bool(self.pending.waiting) and self.unit.block.warps > 1)

    def _check_barriers(self) -> None:
        """All barriers are `bar.sync` of all threads at one barrier; the rest is the interpreter's."""
        numbers: set[object] = set()
        for block in self.pending.barriers:
            barrier = block.terminator
            assert isinstance(barrier, Barrier)
            numbers.add(barrier.barrier.bits if isinstance(barrier.barrier, Constant) else None)
            if barrier.action != "sync" or barrier.count is not None:
                raise Unsupported("a barrier other than bar.sync of the whole CTA")
        if len(numbers) > 1 or None in numbers:
            raise Unsupported("several barriers")

    def define(self) -> str:
        self.body()
        allocas, lines = self.split_allocas()
        text = [
            f"define void @{KERNEL}(ptr %launch, ptr %worker) {self.unit.module.attributes} {{",
            "entry:",
            *allocas,
            *(["  %waiting = alloca i32", "  %spinning = alloca i32"] if self.waits else []),
            *_environment(),
            *_slot("%launch", LaunchSlot.CTAS, "ctas"),
            *_slot("%launch", LaunchSlot.GRID_X, "grid.x"),
            *_slot("%launch", LaunchSlot.GRID_Y, "grid.y"),
            *_slot("%worker", WorkerSlot.CONTEXT, "context.first"),
            "  %sp = add i64 0, 0",
            *self._note_stack(),
            "  br label %cta.next",
            *self._cta_loop(),
            *self._warp_loop(),
            *lines,
            *self._endings(),
            "}",
        ]
        return "\n".join(text)

    def _note_stack(self) -> list[str]:
        """Where native stack runs low: calls test it."""
        self.unit.module.declare("llvm.frameaddress.p0", "ptr", ("i32",))
        return [
            "  %frame.p = call ptr @llvm.frameaddress.p0(i32 0)",
            "  %frame.i = ptrtoint ptr %frame.p to i64",
            f"  %stack.limit = sub i64 %frame.i, {NATIVE_STACK - STACK_RESERVE}",
            f"  %stack.p = getelementptr i64, ptr %worker, i64 {WorkerSlot.STACK_LIMIT}",
            "  store i64 %stack.limit, ptr %stack.p",
        ]

    def _cta_loop(self) -> list[str]:
        lines = [
            "cta.next:",
            f"  %next.p = getelementptr i64, ptr %launch, i64 {LaunchSlot.NEXT_CTA}",
            "  %cta = atomicrmw add ptr %next.p, i64 1 monotonic",
            "  %more = icmp ult i64 %cta, %ctas",
            "  br i1 %more, label %cta.check, label %done",
            "cta.check:",
            f"  %stop.p = getelementptr i64, ptr %launch, i64 {LaunchSlot.ABORT}",
            "  %stop = load atomic i64, ptr %stop.p monotonic, align 8",
            "  %stopped = icmp ne i64 %stop, 0",
            "  br i1 %stopped, label %done, label %cta.run",
            "cta.run:",
            "  %cta.x.wide = urem i64 %cta, %grid.x",
            "  %cta.row = udiv i64 %cta, %grid.x",
            "  %cta.y.wide = urem i64 %cta.row, %grid.y",
            "  %cta.z.wide = udiv i64 %cta.row, %grid.y",
            *(f"  %cta.{c} = trunc i64 %cta.{c}.wide to i32" for c in "xyz"),
            f"  %cta.slot = getelementptr i64, ptr %worker, i64 {WorkerSlot.CTA}",
            "  store i64 %cta, ptr %cta.slot",
        ]
        if not self.waits:
            return [*lines, "  br label %warp.head"]
        return [
            *lines,
            "  br label %clear",
            "clear:",
            "  %clear.warp = phi i64 [ 0, %cta.run ], [ %clear.next, %clear ]",
            f"  %clear.skip = mul i64 %clear.warp, {self.context_stride()}",
            "  %clear.i = add i64 %context.first, %clear.skip",
            "  %clear.p = inttoptr i64 %clear.i to ptr",
            "  store i32 0, ptr %clear.p",
            "  %clear.next = add i64 %clear.warp, 1",
            f"  %clear.more = icmp ult i64 %clear.next, {self.unit.block.warps}",
            "  br i1 %clear.more, label %clear, label %first.phase",
            "first.phase:",
            "  store i32 0, ptr %spinning",
            "  br label %phase",
            "phase:",
            "  %hold = load i32, ptr %spinning",
            "  store i32 0, ptr %spinning",
            "  store i32 0, ptr %waiting",
            "  br label %warp.head",
        ]

    def context_stride(self) -> int:
        return (self.context_size + 63) // 64 * 64

    def _warp_loop(self) -> list[str]:
        lines = [
            "warp.head:",
            f"  %warp = phi i32 [ 0, %{'phase' if self.waits else 'cta.run'} ], [ %warp.next, %warp.done ]",
            *_local_of_warp(),
            f"  %warp.slot = getelementptr i64, ptr %worker, i64 {WorkerSlot.WARP}",
            "  store i64 %warp.wide, ptr %warp.slot",
            *self.pending_resets(),
            *self._initial_mask_lines(),
        ]
        first = self.label(self.schedule.order[0])
        start = self._begin(first)
        if not self.waits:
            return [*lines, *start]
        cases = " ".join(f"i32 {i + 1}, label %resume.{i + 1}" for i in range(len(self.suspensions)))
        return [
            *lines,
            f"  %context.skip = mul i64 %warp.wide, {self.context_stride()}",
            "  %context = add i64 %context.first, %context.skip",
            "  %context.p = inttoptr i64 %context to ptr",
            "  %state = load i32, ptr %context.p",
            f"  switch i32 %state, label %warp.done [ i32 0, label %warp.begin {cases} ]",
            "warp.begin:",
            *start,
        ]

    def _begin(self, first: str) -> list[str]:
        lines = [f"  br label %{first}"]
        entry = self.schedule.order[0]
        if self.schedule.loop_of[entry.index] is not None:
            # The entry is a loop's header: its mask is that of the lanes that come back, too.
            mask = self.initial_mask
            lines.insert(0, f"  store {mask.typed}, ptr {self._mask_slot(entry.index)}, align 64")
        return lines

    def _initial_mask_lines(self) -> list[str]:
        if self.initial_mask.ir == ALL:
            return []
        lanes = ", ".join(f"i32 {i}" for i in range(WARP))
        vector = f"<{WARP} x i32>"
        return [
            f"  %warp.first = mul i32 %warp, {WARP}",
            f"  %left = sub i32 {self.threads}, %warp.first",
            f"  %left.1 = insertelement {vector} poison, i32 %left, i64 0",
            f"  %left.all = shufflevector {vector} %left.1, {vector} poison, {vector} zeroinitializer",
            f"  %mask.initial = icmp slt {vector} <{lanes}>, %left.all",
        ]

    def _endings(self) -> list[str]:
        lines = [
            "finished:",
            *([f"  store i32 {DONE}, ptr %context.p"] if self.waits else []),
            "  br label %warp.done",
            "warp.done:",
            "  %warp.next = add i32 %warp, 1",
            f"  %warp.more = icmp ult i32 %warp.next, {self.unit.block.warps}",
            f"  br i1 %warp.more, label %warp.head, label %{'phase.end' if self.waits else 'cta.end'}",
        ]
        if self.waits:
            lines += [
                "phase.end:",
                "  %some.wait = load i32, ptr %waiting",
                "  %some.spin = load i32, ptr %spinning",
                "  %some = or i32 %some.wait, %some.spin",
                "  %again = icmp ne i32 %some, 0",
                "  br i1 %again, label %phase, label %cta.end",
            ]
        return [
            *lines,
            "cta.end:",
            f"  %finished.p = getelementptr i64, ptr %launch, i64 {LaunchSlot.FINISHED}",
            "  %finished.count = atomicrmw add ptr %finished.p, i64 1 monotonic",
            "  br label %cta.next",
            "abort:",
            "  br label %done",
            "done:",
            "  ret void",
        ]

    # -- barriers ----------------------------------------------------------------------------------

    def _barrier(self, block: Block, barrier: Barrier) -> None:
        self._phis(block, {barrier.next: self.m.mask})
        self._leave(block, {self.pending.of_barrier(block): self.m.mask})

    def _resume_waiting(self, place: int, mask: Value, beyond: frozenset[int]) -> None:
        if self.unit.block.warps > 1:
            self._suspend(place, mask, beyond)
        else:
            super()._resume_waiting(place, mask, beyond)

    def _suspend(self, place: int, mask: Value, beyond: frozenset[int]) -> None:
        """Saves the lanes waiting at a place (and at those beyond it) with all that they need."""
        places = [place, *sorted(beyond)]
        name = "_".join(map(str, places))
        known = name in self.suspensions
        number = self.suspensions.setdefault(name, len(self.suspensions) + 1)
        self._wait(place, mask, others=False)
        self.builder.void(f"br label %suspend.{number}")
        if known:  # only the masks differ
            return
        self.builder.label(f"suspend.{number}")
        saved = self.live([self._next_block(p) for p in places])
        offsets = self._layout(saved, len(places))
        for i, waiting in enumerate(places):
            bits = self._load_mask_bits(waiting)
            self.builder.void(f"store i32 {bits}, ptr {self._context_pointer(CONTEXT_HEADER + 4 * i)}")
            self.builder.void(f"store {NO_LANES}, ptr {self._pending_slot(waiting)}, align 64")
        for definition, offset in zip(saved, offsets):
            self._copy(self.slot(definition), self._context_pointer(offset), definition)
        self.builder.void(f"store i32 {number}, ptr %context.p")
        self.builder.void(f"store i32 1, ptr {'%waiting' if self._is_park(place) else '%spinning'}")
        self.builder.void("br label %warp.done")
        self._resume(number, places, saved, offsets)

    def _is_park(self, place: int) -> bool:
        return self.pending.parked(place) is not None

    def _next_block(self, place: int) -> Block:
        """The block that lanes at a park or yield run next."""
        barrier = self.pending.parked(place)
        return self.pending.target(place) if barrier is None else barrier.successors()[0]

    def _layout(self, saved: list[Definition], masks: int) -> list[int]:
        at = (CONTEXT_HEADER + 4 * masks + 63) // 64 * 64
        offsets: list[int] = []
        for definition in saved:
            offsets.append(at)
            at += (self._bytes(definition) + 63) // 64 * 64
        self.context_size = max(self.context_size, at)
        return offsets

    def _bytes(self, definition: Definition) -> int:
        shape = self._shape(definition)
        width = shape.width if shape.is_affine else WARP
        t = definition.register.type
        return max(1, width * t.bits // 8) if t != PRED else max(4, width)

    def _context_pointer(self, offset: int) -> str:
        return self.builder.emit(f"getelementptr i8, ptr %context.p, i64 {offset}")

    def _load_mask_bits(self, park: int) -> str:
        loaded = self.builder.emit(f"load {MASK}, ptr {self._pending_slot(park)}, align 64")
        return self.m.mask_bits(Value(loaded, "i1", WARP)).ir

    def _copy(self, source: str, target: str, definition: Definition) -> None:
        shape = self._shape(definition)
        kind = spell(element_type(definition.register.type), shape.width if shape.is_affine else WARP)
        value = self.builder.emit(f"load {kind}, ptr {source}, align 64")
        self.builder.void(f"store {kind} {value}, ptr {target}, align 64")

    def _resume(self, number: int, places: list[int], saved: list[Definition], offsets: list[int]) -> None:
        self.builder.label(f"resume.{number}")
        if self._is_park(places[0]) and self.pending.waiting:
            self._hold_at_barrier(number)
        for definition, offset in zip(saved, offsets):
            self._copy(self._context_pointer(offset), self.slot(definition), definition)
        masks: list[Value] = []
        for i in range(len(places)):
            bits = self.builder.emit(f"load i32, ptr {self._context_pointer(CONTEXT_HEADER + 4 * i)}")
            masks.append(Value(self.builder.emit(f"bitcast i32 {bits} to {MASK}"), "i1", WARP))
        if self._is_park(places[0]):
            self._release(places, masks)
            return
        for waiting, mask in zip(places[1:], masks[1:]):
            self._wait(waiting, mask, others=False)
        self._run(self._next_block(places[0]), masks[0])

    def _hold_at_barrier(self, number: int) -> None:
        """While other warps of the CTA still run, the barrier is not complete."""
        held, go = self.builder.block_name("held"), self.builder.block_name("released")
        some = self.builder.emit("icmp ne i32 %hold, 0")
        self.builder.void(f"br i1 {some}, label %{held}, label %{go}")
        self.builder.label(held)
        self.builder.void("store i32 1, ptr %waiting")
        self.builder.void("br label %warp.done")
        self.builder.label(go)

    def _release(self, parks: list[int], masks: list[Value]) -> None:
        """The barrier is complete: the lanes of all parks go on."""
        places = [self.pending.of_block(self._next_block(p)) for p in parks]
        if len(places) == 1:
            self._go(places[0], masks[0], frozenset())
            return
        seen: set[int] = set()
        for place, mask in zip(places, masks):
            self._wait(place, mask, others=place in seen)
            seen.add(place)
        outcome = self.pending.resumed(parks[0], frozenset(parks[1:]))
        self._walk(frozenset(outcome.places), outcome.sure)


def emit(
    program: Program, kernel: Function, block: BlockShape, features: frozenset[str], attributes: str
) -> tuple[str, Unit, int]:
    """The LLVM module of a kernel for CTAs of a shape, and the bytes of context each warp needs.

    Raises `Unsupported` for what only the interpreter runs.
    """
    unit = Unit(program, kernel, block, features)
    unit.module.attributes = attributes
    emitter = KernelEmitter(unit, kernel)
    unit.module.define(KERNEL, emitter.define())
    done: set[str] = set()
    while set(unit.called) - done:
        name = next(n for n in unit.called if n not in done)
        done.add(name)
        unit.module.define(name, DeviceEmitter(unit, program.functions[name]).define())
    return f"{unit.module}\n!0 = !{{}}\n", unit, emitter.context_stride() if emitter.waits else 0
