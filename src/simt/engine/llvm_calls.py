"""Functions that call functions, and device functions, as LLVM IR."""

from __future__ import annotations

from simt.analysis.program import Call, Complement, Exit, Function, Op, Register, Return, Source
from simt.analysis.shape import WARP
from simt.analysis.ssa import Definition
from simt.engine import llvm_frame, llvm_runtime
from simt.engine.abi import FaultKind, LaunchSlot, WorkerSlot
from simt.engine.llvm_access import Beginning
from simt.engine.llvm_algebra import element_type
from simt.engine.llvm_builder import Value, spell
from simt.engine.llvm_columns import ColumnEmitter
from simt.engine.llvm_frame import COORDINATES, load_slot, local_of_warp
from simt.engine.llvm_masks import MASK
from simt.engine.llvm_outline import (
    ATTRIBUTES,
    OPS,
    PLACES,
    WAITING,
    TooLarge,
    times_blocks,
)  # fmt: skip
from simt.engine.llvm_slots import Unit
from simt.engine.system_gate import SystemCall
from simt.engine.unsupported import Unsupported
from simt.ptx.types import PRED, Type

NO_LOOPS = '"disable-tail-calls"="true"'
"""Recursion stays recursion, so that its depth is checked: as a loop it would never be stopped."""
STRAIGHT = '"simt-straight"'
"""Says of a device function that it has no loops."""


class CallingEmitter(ColumnEmitter):
    """Functions with calls. Arguments and results pass through stack memory, 32 lanes each."""

    def __init__(self, unit: Unit, function: Function) -> None:
        super().__init__(unit, function)
        self._judge()
        self.m.beginning = self.beginning = Beginning()

    def _judge(self) -> None:
        """Raises `TooLarge` for what is seen to be large before a line is emitted."""
        waiting = sum(places.bit_count() for places in self.pending.at.values())
        blocks = len(self.schedule.order)
        room = self.unit.room
        many = blocks > room * times_blocks(blocks, len(self.pending.barriers)) * PLACES
        if room and (many or waiting > room * WAITING or self.unit.ops > OPS):
            raise TooLarge

    @property
    def attributes(self) -> str:
        """Of the function as LLVM sees it."""
        optimised = "noinline" if not self.unit.large else ATTRIBUTES
        return f"{optimised} {self.unit.module.attributes}"

    def _conditional(self, op: Op, guard: Value) -> tuple[Value, ...]:
        """Functions for instructions see to it themselves: no branch is needed around a call."""
        outside = self.m.mask
        if not self._calls_under(op, guard):
            vectors, columns = dict(self.vectors), dict(self.columns)
            values = super()._conditional(op, guard)
            self.vectors, self.columns = vectors, columns
            return values
        self.m.mask = self.m.mask_and(outside, guard)
        values = self.evaluator.op(op)
        self.m.mask = outside
        return values

    def _calls_under(self, op: Op, guard: Value) -> bool:
        """Whether the op becomes a call if some lanes run it."""
        if guard.width == 1 and not self.unit.large:
            return False
        outside, self.m.mask = self.m.mask, Value("%guard", "i1", WARP)
        calls = self.outliner.calls(op)
        self.m.mask = outside
        return calls

    def _call(self, op: Call) -> None:
        values = [self.m.vector(self.evaluator.source(a, source_type(a))) for a in op.arguments]
        arguments = [self._passed("given", i, value.type) for i, value in enumerate(values)]
        results = [self._passed("got", i, element_type(r.type)) for i, r in enumerate(op.results)]
        for value, place in zip(values, arguments):
            self._put(place, value)
        if isinstance(op.callee, str):
            self._call_one(op.callee, self.m.mask, arguments, results, op)
        else:
            self._call_any(op, arguments, results)
        for definition, place in zip(self.ssa.of[id(op)], results):
            assert definition is not None
            self.write(definition, self._got(place, element_type(definition.register.type)))
            self.current[definition.register] = definition

    def _put(self, place: str, value: Value) -> None:
        if self.placed is not None and value.type != "i1":
            return self.placed.move(place, value)
        return self.builder.void(f"store {value.typed}, ptr {place}, align 64")

    def _got(self, place: str, element: str) -> Value:
        """A result, from where the next call leaves its own."""
        if self.placed is None or element == "i1":
            loaded = self.builder.emit(f"load {spell(element, WARP)}, ptr {place}, align 64")
            return Value(loaded, element, WARP)
        kept = self.placed.kept(element)
        self.placed.move(kept.place, self.placed.kept(element, place))
        return kept

    def _passed(self, name: str, place: int, element: str) -> str:
        """Stack memory for an argument or a result, the same for all calls."""
        name = f"%{name}.{place}.{element}"
        self.allocas[f"  {name} = alloca {spell(element, WARP)}, align 64"] = None
        return name

    def _call_one(self, name: str, mask: Value, arguments: list[str], results: list[str], op: Call) -> None:
        callee = self.unit.program.functions.get(name)
        if callee is None:
            self._call_system(name, mask, arguments, results, op)
            return
        self._check_signature(callee, op)
        self.unit.called[name] = None
        frame = self.builder.emit(f"add i64 %sp, {aligned(self.function.local_size)}")
        pointers = "".join(f", ptr {p}" for p in (*arguments, *results))
        ok = self.builder.emit(
            f'call i1 @"{name}"(ptr %launch, ptr %worker, {COORDINATES}, i64 {frame}, i64 {self.m.line}, '
            f"{self.m.mask_bits(mask).typed}{pointers})"
        )
        self.m.go_on_if(ok)

    def _call_system(
        self, name: str, mask: Value, arguments: list[str], results: list[str], op: Call
    ) -> None:
        """A function without a body: the device offers it."""
        call = SystemCall(
            name, tuple(source_type(a).bits for a in op.arguments), tuple(r.type.bits for r in op.results)
        )
        places = self.m.buffer("ptr", len(arguments) + len(results))
        for i, column in enumerate((*arguments, *results)):
            place = self.builder.emit(f"getelementptr ptr, ptr {places}, i64 {i}")
            self.builder.void(f"store ptr {column}, ptr {place}")
        slot = self.builder.emit(f"getelementptr ptr, ptr %launch, i64 {LaunchSlot.SYSTEM}")
        gate = self.builder.emit(f"load ptr, ptr {slot}")
        went = self.builder.emit(
            f"call i32 {gate}(ptr %launch, ptr %worker, i64 {self.unit.system_call(call)}, "
            f"{self.m.mask_bits(mask).typed}, i64 {self.m.line}, ptr {places})"
        )
        self.m.go_on_if(self.builder.emit(f"icmp ne i32 {went}, 0"))

    def _check_signature(self, callee: Function, op: Call) -> None:
        wanted = [r.type.bits for r in (*callee.parameters, *callee.results)]
        given = [source_type(a).bits for a in (*op.arguments, *op.results)]
        if wanted != given:
            raise Unsupported(f"call of {callee.name} with other parameters than it declares")

    def _call_any(self, op: Call, arguments: list[str], results: list[str]) -> None:
        """An indirect call, by turns: the function of the first lane that has not called its own yet, for all
        lanes that call the same, until none is left."""
        assert isinstance(op.callee, Register)
        say, label, name = self.builder.emit, self.builder.label, self.builder.block_name
        target = self.m.vector(self.m.to_bits(op.callee.type, self.register(op.callee)))
        rest, wrong, targets = say("alloca i32"), say("alloca i32"), self.m.buffer(target.type, WARP)
        self.builder.void(f"store {target.typed}, ptr {targets}, align 64")
        self.builder.void(f"store {self.m.mask_bits(self.m.mask).typed}, ptr {rest}")
        self.builder.void(f"store i32 0, ptr {wrong}")
        turn, choose, unknown, done = (name(f"call.{part}") for part in ("turn", "choose", "unknown", "done"))
        self.builder.void(f"br label %{turn}")
        label(turn)
        left = say(f"load i32, ptr {rest}")
        self.builder.void(f"br i1 {say(f'icmp eq i32 {left}, 0')}, label %{done}, label %{choose}")
        label(choose)
        first = self.m.module.declare("llvm.cttz.i32", "i32", ("i32", "i1"))
        lane = say(f"call i32 {first}(i32 {left}, i1 true)")
        one = say(f"load {target.type}, ptr {say(f'getelementptr {target.type}, ptr {targets}, i32 {lane}')}")
        alike = self.m.mask_bits(self.m.test("icmp eq", target, Value(one, target.type))).ir
        here = say(f"and i32 {alike}, {left}")
        self.builder.void(f"store i32 {say(f'xor i32 {left}, {here}')}, ptr {rest}")
        lanes = Value(say(f"bitcast i32 {here} to {MASK}"), "i1", WARP)
        calls = {candidate: name("call") for candidate in op.candidates}
        ways = (f"{target.type} {self.function_address(c)}, label %{way}" for c, way in calls.items())
        self.builder.void(f"switch {target.type} {one}, label %{unknown} [ {' '.join(ways)} ]")
        for candidate, way in calls.items():
            label(way)
            self._call_one(candidate, lanes, arguments, results, op)
            self.builder.void(f"br label %{turn}")
        label(unknown)
        found = say(f"load i32, ptr {wrong}")
        self.builder.void(f"store i32 {say(f'or i32 {here}, {found}')}, ptr {wrong}")
        self.builder.void(f"br label %{turn}")
        label(done)
        bits = say(f"load i32, ptr {wrong}")
        self._fault_if(Value(say(f"bitcast i32 {bits} to {MASK}"), "i1", WARP), FaultKind.TARGET)


def source_type(source: Source) -> Type:
    return PRED if isinstance(source, Complement) else source.type


def aligned(size: int) -> int:
    return (size + 15) // 16 * 16


class DeviceEmitter(CallingEmitter):
    """`i1 function(launch, worker, cta x, y, z, warp, frame, line, mask, arguments..., results...)`."""

    def __init__(self, unit: Unit, function: Function) -> None:
        super().__init__(unit, function)
        self.initial_mask = Value("%mask.initial", "i1", WARP)
        self.used_arguments: set[Definition] = set()
        if any(isinstance(b.terminator, Exit) for b in self.schedule.order):
            raise Unsupported(f"exit in function {function.name}")

    def define(self) -> str:
        self.body()
        allocas, lines = self.split_allocas()
        pointers = [f"%argument.{i}" for i in range(len(self.function.parameters))]
        pointers += [f"%result.{i}" for i in range(len(self.function.results))]
        parameters = "".join(f", ptr {p}" for p in pointers)
        head = (
            f'define internal i1 @"{self.function.name}"(ptr %launch, ptr %worker, {COORDINATES}, i64 %sp, '
            f"i64 %call.line, i32 %mask.bits{parameters}) {NO_LOOPS} "
            f"{self.attributes}{'' if self.schedule.loops else ' ' + STRAIGHT}"
        )
        text = [
            *self.beginning.builder.lines,
            *local_of_warp(),
            *(llvm_frame.kept() if self.unit.large else ()),
            f"  %mask.initial = bitcast i32 %mask.bits to {MASK}",
            *self.pending_resets(),
            *self._stack_check(),
            *self._arguments(),
            f"  br label %{self.label(self.schedule.order[0])}",
            *lines,
        ]
        return llvm_frame.whole(head, allocas, text)

    def _stack_check(self) -> list[str]:
        """Stops when the frame does not fit into local memory, native stack runs low, or the launch is to
        be stopped: calls may go on for ever without a loop."""
        self.unit.module.declare("llvm.frameaddress.p0", "ptr", ("i32",))
        self.unit.module.declare("llvm.cttz.i32", "i32", ("i32", "i1"))
        record = llvm_runtime.fault(self.unit.module)
        return [
            "  %frame.p = call ptr @llvm.frameaddress.p0(i32 0)",
            "  %frame.i = ptrtoint ptr %frame.p to i64",
            *load_slot("%worker", WorkerSlot.STACK_LIMIT, "stack.limit"),
            "  %deep = icmp ult i64 %frame.i, %stack.limit",
            f"  %frame.end = add i64 %sp, {aligned(self.function.local_size)}",
            "  %full = icmp ugt i64 %frame.end, %local.bytes",
            "  %overflow = or i1 %deep, %full",
            f"  %stop.p = getelementptr i64, ptr %launch, i64 {LaunchSlot.ABORT}",
            "  %stop = load atomic i64, ptr %stop.p monotonic, align 8",
            "  %stopped = icmp ne i64 %stop, 0",
            "  %bad = or i1 %overflow, %stopped",
            "  br i1 %bad, label %stack.bad, label %stack.ok",
            "stack.bad:",
            "  %first32 = call i32 @llvm.cttz.i32(i32 %mask.bits, i1 false)",
            "  %first = zext i32 %first32 to i64",
            f"  %kind = select i1 %overflow, i64 {FaultKind.STACK}, i64 {FaultKind.ABORTED}",
            f"  call void {record}(ptr %launch, ptr %worker, i64 %kind, i64 %call.line, i64 0, "
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
            if definition in self.used_arguments:
                (part,) = self.parts(definition)
                lines.append(f"  store {vector} %in.{i}, ptr {self.slot(definition, part)}, align 64")
        return lines

    def read(self, definition: Definition) -> Value:
        if definition.origin == "argument":
            self.used_arguments.add(definition)
        return super().read(definition)

    def _finish(self, terminator: Return | Exit) -> None:
        """Returning lanes leave their results."""
        for i, register in enumerate(self.function.results):
            value = self.m.vector(self.register(register))
            if self.placed is not None and value.type != "i1":
                old = self.placed.kept(value.type, f"%result.{i}")
                self.placed.move(old.place, value, self.bit_mask(self.m.mask), old)
                continue
            old = self.builder.emit(f"load {value.spelled}, ptr %result.{i}, align 64")
            kept = self.m.pick(self.m.mask, value, Value(old, value.type, WARP))
            self.builder.void(f"store {kept.typed}, ptr %result.{i}, align 64")
