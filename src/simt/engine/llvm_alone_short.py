"""Loops of a few turns, gone through by one lane after the other without a branch.

What an unrolled loop leaves over is a loop of a few turns, whose number differs from lane to lane. As a loop
for one lane its end is a branch that the CPU guesses wrong; as a loop of the warp it consists of gathers,
which are slow on some CPUs. So a lane does all turns that there can be, one after the other: those that it
has not got load from where it may, and what they give is not taken. The loop may only load.

What is loaded by steps is checked for all lanes together before the first begins. Where that fails, or any
other check, or where a lane wants more turns, nothing has been done that others can see: then the warp goes
through the loop as usual, and finds what is wrong in the order of the program.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

from simt.analysis.program import Branch, Op
from simt.analysis.ssa import Definition
from simt.engine.llvm_access import ALIKE, I64, LOCAL, SHARED, Access
from simt.engine.llvm_alone import TRUE, AloneLoop
from simt.engine.llvm_alone_algebra import AloneAlgebra, Element, NotAlone
from simt.engine.llvm_alone_asking import Asking, Ways, asked
from simt.engine.llvm_alone_loops import LONGEST
from simt.engine.llvm_alone_turn import Joint, joints
from simt.engine.llvm_branches import LIKELY, UNLIKELY
from simt.engine.llvm_builder import Value
from simt.ptx.types import U64, Type, unsigned

_BLENDS = MappingProxyType({"float": (4, "ps"), "double": (2, "pd")})
"""Numbers in a register of SSE, and how its instruction is called that blends two."""


class ShortAlgebra(AloneAlgebra):
    """The algebra of one lane that goes to `bail` where an access is not valid. `has_turn`: whether the lane
    has the present turn (i1), None if it surely has."""

    bail = ""
    has_turn: Value | None = None

    def load(self, t: Type, space: str, address: Value, count: int, volatile: bool) -> tuple[Value, ...]:
        if self._region(space) in (SHARED, LOCAL, ALIKE):
            raise NotAlone
        if self.has_turn is not None and not self.is_checked:
            address = self._harmless(self.has_turn, address)
        return super().load(t, space, address, count, volatile)

    def _harmless(self, running: Value, address: Value) -> Value:
        """An address, or one where the lane may load if it has not got this turn: the array's start, or the
        arena's."""
        part, constant = self._sums.get(address.ir, (address, 0))
        element = self.elements.get(part.ir)
        if element is None:
            address = self.resize(unsigned(int(address.type[1:])), U64, address)
            return self.chosen(running, address, Value("%arena.base", I64))
        index = self.chosen(running, element.index, self.number(I64, 0))
        shifted = self.binary("shl", index, self.number(I64, element.shift))
        start = self.binary("add", element.base, shifted)
        self.elements[start.ir] = Element(element.base, index, element.shift)
        return self.plus(start, constant) if constant else start

    def chosen(self, condition: Value, value: Value, other: Value) -> Value:
        """One of two, without a branch."""
        if value.type in _BLENDS and "sse4.1" in self.features and "avx512f" not in self.features:
            return self._blended(condition, value, other)
        text = f"select {condition.typed}, {value.typed}, {other.typed}, !unpredictable !0"
        return Value(self.builder.emit(text), value.type)

    def _blended(self, condition: Value, value: Value, other: Value) -> Value:
        """Of floats, of which LLVM makes a branch otherwise, as x86 before AVX-512 has no move for it."""
        lanes, suffix = _BLENDS[value.type]
        bits, row = f"i{128 // lanes}", f"<{lanes} x {value.type}>"
        emit = self.builder.emit
        mask = emit(f"bitcast {bits} {emit(f'sext {condition.typed} to {bits}')} to {value.type}")
        rows = [
            f"{row} {emit(f'insertelement {row} poison, {value.type} {scalar}, i64 0')}"
            for scalar in (other.ir, value.ir, mask)
        ]
        blend = self.module.declare(f"llvm.x86.sse41.blendv{suffix}", row, (row, row, row))
        found = emit(f"call {row} {blend}({', '.join(rows)})")
        return Value(emit(f"extractelement {row} {found}, i64 0"), value.type)

    def require(self, access: Access, address: Value) -> None:
        if self._is_proven(access):
            return
        found = self._element(access, address)
        valid = self._is_index_inside(access, *found) if found else self._valid(access, address, access.size)
        self.go_on_or_bail(valid)

    def go_on_or_bail(self, condition: Value) -> None:
        go = self.builder.block_name("ok")
        self.builder.void(f"br i1 {condition.ir}, label %{go}, label %{self.bail}{LIKELY}")
        self.builder.label(go)

    def store(self, t: Type, space: str, address: Value, values: tuple[Value, ...], volatile: bool) -> None:
        raise NotAlone

    def atomic(self, op: str, t: Type, space: str, address: Value, b: Value, c: Value | None) -> Value:
        raise NotAlone


class ShortLoop(AloneLoop):
    """Emits one loop of a single block for one lane at a time, all turns that there can be."""

    algebra = ShortAlgebra
    has_indices = False
    m: ShortAlgebra

    def emit(self) -> None:
        brought, given = self._brought(), self._given()
        if len(self.blocks) != 1 or not isinstance(self.loop.header.terminator, Branch):
            raise NotAlone
        self._copied()
        turns, exit_ = self._most_turns(), self.exit
        if exit_ is None or turns * len(self.loop.header.ops) > LONGEST:
            raise NotAlone
        self.m.bail = f"{self.name}.bail"
        self.builder.label(self.name)
        self.entering = Value(self.builder.emit(f"load i32, ptr {self.lanes}"), "i32")
        ways = {definition: self._bring(definition) for definition in brought}
        for definition in given:
            self.copy_column(definition, away=True)
        self._leave_to_all(ways)
        self.distances = {base: self._distance(ways[phi], shift) for base, phi, shift in self._streams()}
        self._check_steps(turns)
        self._ask_for_all(ways, turns)
        self._run_lanes(ways, turns)
        for definition in given:
            self.copy_column(definition, away=False)
        self.emitter.add_waiting(exit_, self.entering_mask)
        self.emitter.walk_on(self.loop.header, 1 << exit_)
        self._bail()

    def _most_turns(self) -> int:
        """Turns that a lane has at most, unless its counter wraps. Raises `NotAlone` if they are many."""
        if not self._is_short:
            raise NotAlone
        counters = [phi for phi in self.phis if self._counts_few(phi)]
        return max(1, min(max(r.hi for r in self._begins(phi)) for phi in counters))

    def _leave_to_all(self, ways: Ways) -> None:
        """Leaves the loop to the warp if lanes begin at consecutive words, which it loads at once."""
        consecutive = TRUE
        for _, phi, _ in self._streams():
            (low, first), (high, last) = (self._end(ways[phi], count) for count in ("cttz", "ctlz"))
            words, step = self.m.binary("sub", last, first), self.m.number("i32", self.step_of(phi))
            reach = self.m.cast("zext", low.type, self.m.binary("mul", words, step))
            apart = self.m.binary("sub", high, low)
            consecutive = self.m.binary("and", consecutive, self.m.test("icmp eq", reach, apart))
            consecutive = self.m.binary("and", consecutive, self.m.test("icmp ne", first, last))
        if consecutive is not TRUE:
            self.m.go_on_or_bail(self.m.binary("xor", consecutive, TRUE))

    def _end(self, way: Callable[[], Value], count: str) -> tuple[Value, Value]:
        """What the first (`cttz`) or last (`ctlz`) lane begins with, and its number."""
        value = self._in_lane(way, count)
        return value, self.m.lane_number

    def _check_steps(self, turns: int) -> None:
        """Goes on if all lanes can load what they load by steps, in turns that they have not got as well."""
        found: dict[Joint, int] = {}
        for joint in joints(self.touches.values()):
            step = self.bytes_a_turn(joint.base)
            if step > 0 and step % joint.size == 0:
                found[joint] = joint.span + (turns - 1) * step
        valid = TRUE
        for joint, span in found.items():
            addresses = self.addresses(joint.base, joint.first)
            valid = self.m.binary("and", valid, self.m.are_valid(addresses, joint.size, span))
        bad = self.m.any(self.m.mask_and(self.entering_mask, self.m.invert_mask(valid)))
        go = self.builder.block_name("go")
        self.builder.void(f"br i1 {bad}, label %{self.m.bail}, label %{go}{UNLIKELY}")
        self.builder.label(go)
        self.checked = frozenset(op for joint in found for op in joint.ops)

    # -- lanes -----------------------------------------------------------------------------------------

    def _ask_for_all(self, ways: Ways, turns: int) -> None:
        """Asks for what all lanes are going to load from addresses that they read first: one after the other
        they would wait for it, as the CPU looks ahead over few lanes only."""
        what = asked(self, self.checked)
        if what is None:
            return
        lanes = self.builder.emit(f"load i32, ptr {self.lanes}")
        asking, values = Asking(self, what), self._next_lane("ask", ways)
        for turn in range(turns):
            asking.ask(values, Value(str(turn), I64))
        self._end_lane("ask")
        self.builder.void(f"store i32 {lanes}, ptr {self.lanes}")

    def _run_lanes(self, ways: Ways, turns: int) -> None:
        """All turns of all lanes."""
        values = self._next_lane("next", ways)
        for base, distance in self.distances.items():
            self.m.ask_for(self.address(base, 0), distance)
        for definition, value in self._after(turns, values).items():
            self.put(definition, value)
        self._end_lane("next")

    def _next_lane(self, label: str, ways: Ways) -> dict[Definition, Value]:
        """The head of a loop over the lanes: the lowest of those left begins, with these values."""
        self.builder.void(f"br label %{self.name}.{label}")
        self.builder.label(f"{self.name}.{label}")
        self._begin_lane()
        self._note_lane()
        self.cache = {d: self.emitter.noted(self.m, d, way()) for d, way in ways.items()}
        self.m.outside |= {value.ir for d, value in self.cache.items() if d not in self.phis}
        return dict(self.cache)

    def _end_lane(self, label: str) -> None:
        left = self.builder.emit(f"load i32, ptr {self.lanes}")
        none = self.builder.emit(f"icmp eq i32 {left}, 0")
        end = f"{self.name}.{label}.end"
        self.builder.void(f"br i1 {none}, label %{end}, label %{self.name}.{label}")
        self.builder.label(end)

    # -- turns -----------------------------------------------------------------------------------------

    def _after(self, turns: int, values: dict[Definition, Value]) -> dict[Definition, Value]:
        """What code after the loop gets of a lane. `values`: what it begins with."""
        results: dict[Definition, Value] = {}
        self.m.has_turn = None
        for _ in range(turns):
            has, self.cache = self.m.has_turn, dict(values)
            self._do_turn(values)
            for definition, value in self._left_with().items():
                old = results.get(definition, value)
                results[definition] = value if has is None else self.m.chosen(has, value, old)
            more = self._more()
            values = {**values, **{phi: self._next(phi) for phi in self._begun}}
            self.m.has_turn = more if has is None else self.m.binary("and", has, more)
        assert self.m.has_turn is not None
        self.m.go_on_or_bail(self.m.binary("xor", self.m.has_turn, TRUE))
        return results

    def _do_turn(self, values: dict[Definition, Value]) -> None:
        """The ops of a turn that begins with some values."""
        block = self.loop.header
        self.cache, self.current = dict(values), self.ssa.reaching(block)
        for op in block.ops:
            assert isinstance(op, Op)
            self.do(op)

    def _keep(self, definition: Definition, value: Value) -> None:
        self.cache[definition] = self.emitter.as_seen(definition, self.m.scalar(value))

    def _bare(self, definition: Definition, source: Definition) -> Value:
        """What a definition is given of another one, as it is kept."""
        kept = self.emitter.bare(definition, self.read(source))
        return Value(kept.ir, kept.type)

    @property
    def _begun(self) -> list[Definition]:
        """What a turn begins with that the one before it made, in a fixed order."""
        return self.ssa.phis.get(self.loop.header.index, [])

    def _next(self, phi: Definition) -> Value:
        bare = self._bare(phi, phi.inputs[self.loop.header.index])
        return self.emitter.noted(self.m, phi, bare)

    def _more(self) -> Value:
        """i1: the lane goes round again."""
        branch = self.loop.header.terminator
        assert isinstance(branch, Branch)
        condition = self.register(branch.predicate)
        again = branch.taken is self.loop.header
        return condition if again != branch.negated else self.m.binary("xor", condition, TRUE)

    def _left_with(self) -> dict[Definition, Value]:
        """What code after the loop gets if this turn is the lane's last one."""
        block = self.loop.header
        found = {d: self._bare(d, d) for d in self._escaping()}
        for target in block.successors():
            if target is not block:
                phis = self.ssa.phis.get(target.index, ())
                found |= {phi: self._bare(phi, phi.inputs[block.index]) for phi in phis}
        return found

    def _bail(self) -> None:
        """The warp goes through a turn together."""
        self.builder.label(self.m.bail)
        header = self.loop.header
        if self.emitter.representatives[header.index] == header.index:
            self.emitter.slots.store(self.emitter.slots.of_block(header.index), self.entering_mask)
        self.builder.void(f"br label %{self.emitter.label(header)}")
