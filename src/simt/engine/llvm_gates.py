"""Lanes that stop before instructions that wait for lanes in a loop: gates and hold of
`simt.analysis.pending`.

A lane's mask is known where it comes to a gate. If a lane that it names rests at a yield, or in the hold, it
goes to the hold itself, and notes its mask, and the gate. Before lanes at a yield go on, and when nothing
else runs, code looks which lanes of the hold have nobody to wait for any more.
"""

from __future__ import annotations

from functools import reduce

from simt.analysis.evaluate import adapt
from simt.analysis.pending import members
from simt.analysis.program import Block, Constant, Op, Operand, Register
from simt.analysis.shape import WARP
from simt.engine.llvm_builder import ModuleText, Value
from simt.engine.llvm_sided_branches import SidedEmitter
from simt.ptx.types import PRED, U32, Type

WANTED, TARGETS, GOING = "%gate.wanted", "%gate.targets", "%gate.going"
"""Of lanes in the hold: the lanes that each waits for, the number of its gate. The lanes that leave it."""
NOTES = (WANTED, TARGETS)
LANES = f"<{WARP} x i32>"
READY = "simt.gates"


class GatedEmitter(SidedEmitter):
    """The part of a function that holds lanes at gates."""

    def _jump(self, block: Block, target: Block) -> None:
        gate = self.pending.gate_after(block, self.pending.at[block.index])
        if gate is None:
            return super()._jump(block, target)
        self._phis(block, {gate: self.m.mask})
        place, hold = self.pending.of_edge(block, gate), self.pending.hold
        assert hold is not None
        resting = self._lanes_at(self.pending.at[block.index] & self.pending.at_rest)
        nobody = self.builder.emit(f"icmp eq i32 {resting}, 0")
        free, some = self.builder.block_name("free"), self.builder.block_name("resting")
        self.builder.void(f"br i1 {nobody}, label %{free}, label %{some}")
        self.builder.label(some)
        stay, go = self._parted(gate, resting)
        self._leave(block, {place: go, hold: stay})
        self.builder.label(free)
        return self._leave(block, {place: self.m.mask})

    def _lanes_at(self, places: int) -> str:
        """The lanes at some places, i32."""
        slots = (self.slots.waiting(place) for place in members(places))
        found = [self.m.mask_bits(self.slots.load(slot)).ir for slot in slots]
        return reduce(lambda a, b: self.builder.emit(f"or i32 {a}, {b}"), found) if found else "0"

    def _parted(self, gate: Block, resting: str) -> tuple[Value, Value]:
        """The lanes that are to stay before a gate, of which is noted what they wait for, and the others."""
        wanted = self._wanted(self.pending.gates[gate.index])
        named = self.builder.emit(f"and {LANES} {wanted.ir}, {self._every(resting).ir}")
        waits = self.builder.emit(f"icmp ne {LANES} {named}, zeroinitializer")
        bits, here = self.builder.emit(f"bitcast <{WARP} x i1> {waits} to i32"), self.m.mask_bits(self.m.mask)
        stay = self.builder.emit(f"and {here.typed}, {bits}")
        go = self.builder.emit(f"xor {here.typed}, {stay}")
        stays = self.slots.of_bits(stay)
        self._note(WANTED, wanted, stays)
        self._note(TARGETS, self._every(str(self._number_of(gate))), stays)
        return stays, self.slots.of_bits(go)

    def _number_of(self, gate: Block) -> int:
        """Gates are numbered in the line's order."""
        return self.schedule.position[gate.index]

    def _every(self, number: str) -> Value:
        return self.m.vector(Value(number, "i32"))

    def _wanted(self, op: Op | None) -> Value:
        """The lanes that each lane waits for at an instruction: none where its guard does not hold."""
        if op is None:
            return self._every("-1")
        mask = self.m.vector(self._operand(op, op.sources["mask"], U32))
        if op.guard is None:
            return mask
        guard = self._operand(op, op.guard.register, PRED)
        chosen = self.m.invert(PRED, guard) if op.guard.negated else guard
        return self.m.vector(self.m.select(U32, chosen, mask, self._every("0")))

    def _operand(self, op: Op, source: Operand, t: Type) -> Value:
        """What an instruction at a gate reads, in the block before."""
        if isinstance(source, Register):
            value = self.read(self.ssa.read[id(op)][source])
            return adapt(self.m, value, source.type, t)
        assert isinstance(source, Constant)
        return self.m.const(t, source.bits)

    def _note(self, name: str, values: Value, lanes: Value) -> None:
        """Notes values of some lanes."""
        self.allocas[f"  {name} = alloca {LANES}, align 128"] = None
        values, place = self.m.vector(values), f"ptr {name}, align 128"
        old = self.builder.emit(f"load {LANES}, {place}")
        new = self.builder.emit(f"select {lanes.typed}, {values.typed}, {LANES} {old}")
        self.builder.void(f"store {LANES} {new}, {place}")

    # -- leaving the hold ----------------------------------------------------------------------------

    def _go(self, place: int, mask: Value, beyond: int) -> None:
        hold = self.pending.hold
        if hold is not None and beyond >> hold & 1 and self.pending.yielded(place) is not None:
            self._release_before(place, mask, beyond)
        super()._go(place, mask, beyond)

    def _release_before(self, place: int, mask: Value, beyond: int) -> None:
        """Before lanes at a yield go on, those in the hold do that need not wait for them, nor for others."""
        assert self.pending.hold is not None
        others = self._lanes_at(beyond & self.pending.at_rest & ~(1 << self.pending.hold))
        resting = self.builder.emit(f"or {self.m.mask_bits(mask).typed}, {others}")
        ready = self._ready(resting)
        some = self.builder.emit(f"icmp ne i32 {ready}, 0")
        gives, keeps = self.builder.block_name("releases"), self.builder.block_name("keeps")
        self.builder.void(f"br i1 {some}, label %{gives}, label %{keeps}")
        self.builder.label(gives)
        self._wait(place, mask, others=False)
        self._release(ready)
        self.builder.label(keeps)

    def _take(self, place: int, beyond: int) -> None:
        if place == self.pending.hold:
            self._release(self._ready("0"))
        else:
            super()._take(place, beyond)

    def _ready(self, resting: str) -> str:
        """The lanes in the hold that go on first, all of one gate, if any can (i32)."""
        assert self.pending.hold is not None
        for name in NOTES:
            self.allocas[f"  {name} = alloca {LANES}, align 128"] = None
        held = self._lanes_at(1 << self.pending.hold)
        function = ready_function(self.unit.module)
        return self.builder.emit(
            f"call i32 {function}(ptr {WANTED}, ptr {TARGETS}, i32 {resting}, i32 {held})"
        )

    def _release(self, lanes: str) -> None:
        self.allocas[f"  {GOING} = alloca i32"] = None
        self.builder.void(f"store i32 {lanes}, ptr {GOING}")
        self.builder.void("br label %gates")

    def _finish_walks(self) -> None:
        """The code of lanes that leave the hold: to their gate."""
        if f"  {GOING} = alloca i32" not in self.allocas or self.pending.hold is None:
            return
        self.builder.label("gates")
        going = self.builder.emit(f"load i32, ptr {GOING}")
        slot = self.slots.waiting(self.pending.hold)
        held = self.m.mask_bits(self.slots.load(slot))
        self.slots.store(slot, self.slots.of_bits(self.builder.emit(f"xor {held.typed}, {going}")))
        first = self.unit.module.declare("llvm.cttz.i32", "i32", ("i32", "i1"))
        lane = self.builder.emit(f"call i32 {first}(i32 {going}, i1 false)")
        place = self.builder.emit(f"getelementptr i32, ptr {TARGETS}, i32 {lane}")
        number = self.builder.emit(f"load i32, ptr {place}")
        labels = {self._number_of(gate): self.builder.block_name("gate") for gate in self.pending.held}
        cases = " ".join(f"i32 {n}, label %{label}" for n, label in labels.items())
        self.builder.void(f"switch i32 {number}, label %{next(iter(labels.values()))} [ {cases} ]")
        for gate, label in zip(self.pending.held, labels.values()):
            self.builder.label(label)
            self.run(gate, self.slots.of_bits(going))


def ready_function(module: ModuleText) -> str:
    """`i32 gates(wanted, targets, resting, held)`: those of the lanes held that wait for none at rest, nor
    for one that does; all at one gate, the first whose lanes wait for none at another, else the first."""
    if not module.has(READY):
        module.declare(f"llvm.vector.reduce.umin.v{WARP}i32", "i32", (LANES,))
        module.define(READY, "\n".join(_ready_lines(module.attributes)))
    return f"@{READY}"


def _every_lane(name: str, number: str) -> list[str]:
    """Lines that put an i32 into every lane."""
    return [
        f"  %{name}.one = insertelement {LANES} poison, i32 {number}, i64 0",
        f"  %{name} = shufflevector {LANES} %{name}.one, {LANES} poison, {LANES} zeroinitializer",
    ]


def _waiting_for(name: str, lanes: str) -> list[str]:
    """Lines that find the lanes that wait for some (i32)."""
    return [
        *_every_lane(f"{name}.each", lanes),
        f"  %{name}.named = and {LANES} %wanted, %{name}.each",
        f"  %{name}.some = icmp ne {LANES} %{name}.named, zeroinitializer",
        f"  %{name} = bitcast <{WARP} x i1> %{name}.some to i32",
    ]


def _ready_lines(attributes: str) -> list[str]:
    head = f"define internal i32 @{READY}(ptr %wanted.p, ptr %targets.p, i32 %resting, i32 %held)"
    last = ", ".join(["i32 -1"] * WARP)
    return [
        f"{head} noinline {attributes} {{",
        "  %some = icmp ne i32 %held, 0",
        "  br i1 %some, label %begin, label %none",
        "none:",
        "  ret i32 0",
        "begin:",
        f"  %wanted = load {LANES}, ptr %wanted.p, align 128",
        f"  %targets = load {LANES}, ptr %targets.p, align 128",
        "  br label %spread",
        "spread:",
        "  %stuck = phi i32 [ %resting, %begin ], [ %more, %spread ]",
        *_waiting_for("waits", "%stuck"),
        "  %new = and i32 %waits, %held",
        "  %more = or i32 %stuck, %new",
        "  %grows = icmp ne i32 %more, %stuck",
        "  br i1 %grows, label %spread, label %known",
        "known:",
        "  %not.stuck = xor i32 %stuck, -1",
        "  %free = and i32 %held, %not.stuck",
        "  %any = icmp ne i32 %free, 0",
        "  br i1 %any, label %look, label %none",
        "look:",
        "  %rest = phi i32 [ %free, %known ], [ %others, %next ]",
        "  %first = phi i32 [ 0, %known ], [ %kept, %next ]",
        f"  %rest.lanes = bitcast i32 %rest to <{WARP} x i1>",
        f"  %keys = select <{WARP} x i1> %rest.lanes, {LANES} %targets, {LANES} <{last}>",
        f"  %gate = call i32 @llvm.vector.reduce.umin.v{WARP}i32({LANES} %keys)",
        *_every_lane("gate.each", "%gate"),
        f"  %there = icmp eq {LANES} %targets, %gate.each",
        f"  %there.bits = bitcast <{WARP} x i1> %there to i32",
        "  %here = and i32 %held, %there.bits",
        "  %away = xor i32 %held, %here",
        *_waiting_for("waits.away", "%away"),
        "  %mine = and i32 %rest, %here",
        "  %wait.no = xor i32 %waits.away, -1",
        "  %ready = and i32 %mine, %wait.no",
        "  %found = icmp ne i32 %ready, 0",
        "  br i1 %found, label %take, label %next",
        "take:",
        "  ret i32 %ready",
        "next:",
        "  %is.first = icmp eq i32 %first, 0",
        "  %kept = select i1 %is.first, i32 %mine, i32 %first",
        "  %others = xor i32 %rest, %mine",
        "  %is.more = icmp ne i32 %others, 0",
        "  br i1 %is.more, label %look, label %in.turn",
        "in.turn:",
        "  ret i32 %kept",
        "}",
    ]  # fmt: skip
