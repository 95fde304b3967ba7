"""Atomic operations of a warp in LLVM IR: lane after lane in ascending order, or as if it were so.

Shared memory belongs to one native thread, so nothing need be locked there. What all lanes do to one
place is combined first where the order of combining does not matter, and then done once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import repeat

from simt.analysis.shape import WARP
from simt.engine import llvm_updates
from simt.engine.atomic_operation import combine, is_simple
from simt.engine.host import STALE_PLACES
from simt.engine.llvm_access import I64, LOCAL, SHARED, Access
from simt.engine.llvm_algebra import LlvmIntegers, element_type, integer_text
from simt.engine.llvm_beside import BesideAlgebra
from simt.engine.llvm_builder import Value, mangled
from simt.engine.llvm_float import LlvmAlgebra
from simt.engine.llvm_indices import LEAST
from simt.engine.llvm_lanes import Index, bases, shape_of
from simt.isa.atomics import identity
from simt.ptx.types import U64, Type

MOST = 8
"""Lanes from which on all 32 have their turn, those that do not run at words of nobody's: then no branch goes
wrong where lanes end, and the CPU begins with what follows."""


class AtomicAlgebra(BesideAlgebra):
    """`MemoryAlgebra` with atomic operations. `result_used`: whether anybody reads what the op gives."""

    result_used = True

    def atomic(self, op: str, t: Type, space: str, address: Value, b: Value, c: Value | None) -> Value:
        access = self._access(t, space, address, 1, True)
        self.module.locks |= access.region not in (SHARED, LOCAL)
        one_place = shape_of(address).is_uniform and space != "local"
        if one_place and identity(op, t) is not None:
            return self._at_one_place(op, t, access, b)
        if self.lies_beside(op, t, access):
            operands = (b,) if c is None else (b, c)
            return self.update_beside(op, t, access, operands, lambda: self._by_lanes(op, t, access, b, c))
        if access.region is SHARED and is_simple(t):
            if c is not None and self._may_look(access, b):
                return self._looked_at(t, access, b, c)
            return self._private(op, t, access, b, c)
        if access.region not in (SHARED, LOCAL) and not one_place and is_simple(t):
            return self._of_one_thread(op, t, access, b, c)
        return self._by_lanes(op, t, access, b, c)

    def arrivals(self, op: str, space: str, address: Value, b: Value) -> Value:
        return self.atomic(op, U64, space, address, b, None)

    def _by_lanes(self, op: str, t: Type, access: Access, b: Value, c: Value | None) -> Value:
        """One active lane after the other, in a function of the runtime."""
        function = self._by_lanes_at(op, t, access)
        operands = [self.spilled(b), self.spilled(c if c is not None else b)]
        old = self.buffer(access.element, WARP)
        self.go_on_if(self._call_lanes(function, access, [*operands, old]))
        text = f"load <{WARP} x {access.element}>, ptr {old}, align 64"
        return Value(self.builder.emit(text), access.element, WARP)

    def _by_lanes_at(self, op: str, t: Type, access: Access) -> str:
        """The function. Which one is found out when the code runs: in a launch with one thread, where no
        other one writes to memory, nothing is locked. (Else lanes with one address are one exchange.)"""
        private, locked = (
            partial(llvm_updates.atomic, self.module, op, t, self.features, alone) for alone in (True, False)
        )
        if access.region is SHARED:
            return private()
        if shape_of(access.address).is_uniform:
            return locked()
        return self.builder.emit(f"select i1 {self.one_thread()}, ptr {private()}, ptr {locked()}")

    # -- memory of this native thread alone ----------------------------------------------------------

    def _private(self, op: str, t: Type, access: Access, b: Value, c: Value | None) -> Value:
        """Plain updates, one after the other, where all lanes run and all addresses are valid; in a function
        where many lanes run. (32 sums of floats take more time than those of 16 lanes, and lanes that compare
        and swap are often few: these are done lane by lane where not all run.)"""
        lanes = _alone(self._by_lanes, op, t, access, b, c)
        by_all = _alone(self._update_all, op, t, access, b, c)
        if self.mask_is_full or identity(op, t) is None or shape_of(access.address).is_uniform:
            return self._either(self._all_run(access), by_all, lanes)[0]
        some = _alone(self._updated_some, op, t, access, b)

        def part() -> tuple[Value, ...]:
            return self._either(self._running_are_right(access), some, lanes)

        def many() -> tuple[Value, ...]:
            return self._either(self._all_run(access), by_all, part)

        return self._either(self._many_run(), many, lanes)[0]

    def _looked_at(self, t: Type, access: Access, b: Value, c: Value) -> Value:
        """Compare and swap, where all lanes compare with one number: keys are put into a hash table, what is
        visited is marked. Mostly somebody has done so before, and nothing is swapped. So all lanes' places
        are loaded at once, and only lanes that find the number have their turns, one after the other. What
        these store changes nothing for the others: they are at other places, having found something else."""
        address, right = self.vector(access.address), self.mask
        if not self._is_proven(access):
            right = self.mask_and(right, self._valid(access, address, access.size))
        places = self._places_at(access, self._offset(access, address), 0)
        found = self.gather(places, right, access.element, access.word)
        done = self.mask_and(right, self._plain.compare("ne", t, found, self.vector(b)))
        outside, self.mask = self.mask, self.mask_and(self.mask, self.invert_mask(done))
        rest, old = self.mask, self._by_lanes("cas", t, access, b, c)
        self.mask = outside
        return self.pick(rest, old, found)

    def by_some(self, op: str, t: Type, access: Access, b: Value) -> None:
        """What is known to be right, of which the order does not matter and nobody reads the results, by a
        part of the lanes of shared memory."""
        lanes = _alone(self._by_lanes, op, t, access, b, None)
        self._either(self._many_run(), _alone(self._updated_some, op, t, access, b), lanes)

    def _may_look(self, access: Access, b: Value) -> bool:
        """Whether `_looked_at` may be worth it."""
        apart = not shape_of(access.address).is_uniform and access.size >= LEAST
        return apart and shape_of(b).is_uniform and self.has_gathers

    def _many_run(self) -> str:
        count = self.module.declare("llvm.ctpop.i32", "i32", ("i32",))
        running = self.builder.emit(f"call i32 {count}({self.mask_bits(self.mask).typed})")
        return self.builder.emit(f"icmp uge i32 {running}, {MOST}")

    def _running_are_right(self, access: Access) -> str:
        """i1: the addresses of lanes that run are valid."""
        if self._is_proven(access):
            return "true"
        wrong = self.invert_mask(self._valid(access, self.vector(access.address), access.size))
        return self._all(self.invert_mask(self.mask_and(self.mask, wrong)))

    def _all_run(self, access: Access) -> str:
        """i1: all lanes run, and all addresses are valid."""
        address = self.vector(access.address)
        good = "true" if self._is_proven(access) else self._all(self._valid(access, address, access.size))
        if self.mask_is_full:
            return good
        return self.both(self.builder.emit(f"icmp eq i32 {self.mask_bits(self.mask).ir}, -1"), good)

    def _update_all(self, op: str, t: Type, access: Access, b: Value, c: Value | None) -> Value:
        """What each lane found. (LLVM leaves out its collection if nobody reads it.)"""
        old = Value("poison", access.element, WARP)
        places, second, third = (
            self._each_address(t, self.vector(access.address)),
            self._items(b),
            repeat(None) if c is None else self._items(c),
        )
        for lane, (place, mine, other) in enumerate(zip(places, second, third)):
            was = self._update(op, t, self._host(access, place), mine, other)
            old = Value(
                self.builder.emit(f"insertelement {old.typed}, {was.typed}, i32 {lane}"), old.type, WARP
            )
        return old

    def _update(self, op: str, t: Type, place: str, b: Value, c: Value | None) -> Value:
        """A plain update by one lane; the value before it."""
        element = element_type(t)
        was = Value(self.builder.emit(f"load {element}, ptr {place}, align {t.bytes}"), element)
        new = combine(LlvmAlgebra(self.builder, self.module, 1, self.features), op, t, was, b, c)
        self.builder.void(f"store {new.typed}, ptr {place}, align {t.bytes}")
        return was

    def _items(self, value: Value) -> Iterator[Value]:
        """Each lane's value as a scalar, when it is asked for."""
        if shape_of(value).is_uniform:
            return repeat(bases(value), WARP)
        column = self.vector(value)
        return (
            Value(self.builder.emit(f"extractelement {column.typed}, i32 {lane}"), column.type)
            for lane in range(WARP)
        )

    def _each_address(self, t: Type, column: Value) -> Iterator[Value]:
        """Each lane's address as a scalar, when it is asked for. (Floats are not kept as integers are.)"""
        return self._items(column) if t.is_float else map(self.lane_address, self._items(column))

    def lane_address(self, lane: Value) -> Value:
        """An address taken out of a vector, for loads and stores by turns: see `STALE_PLACES`. It is
        copied by an instruction that only general registers have, and extended so from 32 bits."""
        if STALE_PLACES not in self.features:
            return lane
        target = "$0" if lane.type == I64 else "${0:k}"
        return Value(self.builder.emit(f'call i64 asm "mov $1, {target}", "=r,r"({lane.typed})'), I64)

    # -- a launch of one native thread ---------------------------------------------------------------

    def _of_one_thread(self, op: str, t: Type, access: Access, b: Value, c: Value | None) -> Value:
        """Plain updates of any memory, where all lanes run and all addresses are valid: a function of their
        own."""
        index = self.any_index_of(access) if c is None else None

        def updated() -> tuple[Value, ...]:
            b_and_c = (self.vector(v) for v in (b, b if c is None else c))
            if index is None:
                columns, run = (self.vector(access.address),), type(self).update_places
            else:
                assert index.start is not None
                columns, run = (
                    (index.start, index.column),
                    partial(type(self).update_elements, shift=index.shift),
                )
            return (self._by_function(f"updates.{op}", run, op, t, access, *columns, *b_and_c),)

        right = self._all_run(access) if index is None else self._all_are_inside(access, index)
        good = self.both(self.one_thread(), right)
        return self._either(good, updated, lambda: (self._by_lanes(op, t, access, b, c),))[0]

    def _all_are_inside(self, access: Access, index: Index) -> str:
        """i1: all lanes run, and all elements are valid."""
        inside = self.are_inside(access, index)
        if self.mask_is_full:
            return inside
        return self.both(self.builder.emit(f"icmp eq i32 {self.mask_bits(self.mask).ir}, -1"), inside)

    def _updated_some(self, op: str, t: Type, access: Access, b: Value) -> Value:
        """Updates of shared memory by the lanes that run: a function of their own."""
        start = Value(self.builder.emit("ptrtoint ptr %shared.start to i64"), I64)
        lanes = start, self.mask_bits(self.mask), self.vector(access.address), self.vector(b)
        return self._by_function(f"updates.some.{op}", type(self).update_some, op, t, access, *lanes)

    def _by_function(
        self, name: str, run: Callable[..., Value | None], op: str, t: Type, access: Access, *columns: Value
    ) -> Value:
        frame = Value(self.launch, "ptr"), Value(self.worker, "ptr")
        run = partial(run, op=op, t=t, result_used=self.result_used)
        old = self.apart(name, run, *frame, *columns, called=True)
        return old if self.result_used else Value("zeroinitializer", access.element, WARP)

    def update_some(
        self, launch: Value, worker: Value, start: Value, bits: Value, places: Value, b: Value,
        *, op: str, t: Type, result_used: bool,
    ) -> Value | None:  # fmt: skip
        """Updates of 32 places behind `start`, of which those of lanes that do not run are nobody's."""
        if places.type != I64:
            places = self.cast("zext", I64, places)
        places = LlvmIntegers.binary(self, "add", places, self.widened(start, WARP))
        nobody = self.builder.emit(f"ptrtoint ptr {self.buffer(element_type(t), WARP)} to i64")
        steps = self.constant_lanes(I64, [t.bytes * lane for lane in range(WARP)])
        apart = LlvmIntegers.binary(self, "add", self.widened(Value(nobody, I64), WARP), steps)
        mask = self.emit(f"bitcast {bits.typed} to <{WARP} x i1>", "i1", WARP)
        places = LlvmIntegers.pick(self, mask, places, apart)
        return self.update_places(launch, worker, places, b, b, op=op, t=t, result_used=result_used)

    def update_places(
        self, launch: Value, worker: Value, places: Value, b: Value, c: Value,
        *, op: str, t: Type, result_used: bool,
    ) -> Value | None:  # fmt: skip
        """Updates of 32 places of the host's memory; what they held, if that is used."""
        old = Value("poison", b.type, WARP)
        lanes = zip(self._each_address(t, places), self._items(b), self._items(c))
        for lane, (place, mine, other) in enumerate(lanes):
            was = self._update_by_call(
                op, t, (launch, worker, place), self.pointer(place), (mine, other), True
            )
            text = f"insertelement {old.typed}, {was.typed}, i32 {lane}"
            old = Value(self.builder.emit(text), old.type, WARP)
        return old if result_used else None

    def update_elements(
        self, launch: Value, worker: Value, start: Value, index: Value, b: Value, c: Value,
        *, op: str, t: Type, result_used: bool, shift: int,
    ) -> Value | None:  # fmt: skip
        """The same of places that lie behind `start` by an index, shifted left."""
        old, by = Value("poison", b.type, WARP), self.number(I64, shift)
        lanes = zip(self._by_twos(index), self._items(b), self._items(c))
        for lane, (number, mine, other) in enumerate(lanes):
            place = self.binary("add", start, self.binary("shl", number, by))
            frame = launch, worker, place
            was = self._update_by_call(op, t, frame, self.pointer(place), (mine, other), True)
            text = f"insertelement {old.typed}, {was.typed}, i32 {lane}"
            old = Value(self.builder.emit(text), old.type, WARP)
        return old if result_used else None

    def _by_twos(self, column: Value) -> Iterator[Value]:
        """Each lane's number of 32 bits, extended with its sign, when it is asked for. They come out of
        a vector by twos."""
        pairs = f"<{WARP // 2} x i64>"
        twos = self.builder.emit(f"bitcast {column.typed} to {pairs}")
        for i in range(WARP // 2):
            two = self.taken_out(I64, self.builder.emit(f"extractelement {pairs} {twos}, i32 {i}"))
            for upper in (self.builder.emit(f"shl i64 {two}, 32"), two):
                yield Value(self.taken_out(I64, self.builder.emit(f"ashr i64 {upper}, 32")), I64)

    def taken_out(self, element: str, value: str) -> str:
        """A scalar of which LLVM does not know how it came to be."""
        return self.builder.emit(f'call {element} asm "", "=r,0"({element} {value})')

    def _update_by_call(
        self, op: str, t: Type, frame: tuple[Value, ...], place: str, operands: tuple[Value, ...], alone: bool
    ) -> Value:
        """An update by one lane; what the place held. `frame`: launch, worker and the device's address."""
        function = llvm_updates.update(self.module, op, t, self.features, alone)
        first, second = (", ".join(v.typed for v in values) for values in (frame, operands))
        element = element_type(t)
        return Value(self.builder.emit(f"call {element} {function}({first}, ptr {place}, {second})"), element)

    # -- one place for all lanes -----------------------------------------------------------------------

    def _at_one_place(self, op: str, t: Type, access: Access, b: Value) -> Value:
        """All lanes' operands combined, and one update by that; each lane finds what lower ones left."""
        self.require(access, bases(access.address))
        place = self._host(access, bases(access.address))
        total, before = self._combined(op, t, b)
        if access.region is SHARED:
            was = self._update(op, t, place, total, None)
        else:
            was = self._update_far(op, t, place, total)
        if not self.result_used:
            return Value("zeroinitializer", access.element, WARP)
        return combine(self._plain, op, t, self.vector(was), before, None)

    def _update_far(self, op: str, t: Type, place: str, total: Value) -> Value:
        """One update of memory that other native threads may use; what it held."""
        if self.module.is_long:
            return self._change(op, t, place, total)
        return self._either(
            self.one_thread(),
            lambda: (self._update(op, t, place, total, None),),
            lambda: (self._change(op, t, place, total),),
        )[0]

    def _change(self, op: str, t: Type, place: str, total: Value) -> Value:
        """One update that is locked, unless the place stays as it is; what it held."""

        def locked() -> tuple[Value, ...]:
            rmw = llvm_updates.native_operation(op, t)
            text = f"atomicrmw {rmw} ptr {place}, {total.typed} seq_cst"
            return (Value(self.builder.emit(text), total.type),)

        kept = llvm_updates.leaves(op, t)
        if not kept:
            return locked()[0]
        text = f"load atomic {total.type}, ptr {place} monotonic, align {t.bytes}"
        seen = Value(self.builder.emit(text), total.type)
        stays = self.builder.emit(f"icmp {kept} {seen.typed}, {total.ir}")
        return self._either(stays, lambda: (seen,), locked)[0]

    def _combined(self, op: str, t: Type, b: Value) -> tuple[Value, Value]:
        """The active lanes' operands combined, and those of the lanes below each lane."""
        bits = identity(op, t)
        assert bits is not None
        nothing = Value(f"splat ({element_type(t)} {integer_text(bits, t.bits)})", element_type(t), WARP)
        column = self.vector(b)
        if not self.mask_is_full:
            column = LlvmIntegers.pick(self, self.mask, column, nothing)
        if not self.result_used:
            return self._reduced(op, t, column), nothing
        for distance in (1, 2, 4, 8, 16):
            column = combine(self._plain, op, t, column, self._moved_up(column, distance, nothing), None)
        total = self.builder.emit(f"extractelement {column.typed}, i32 {WARP - 1}")
        return Value(total, column.type), self._moved_up(column, 1, nothing)

    def _reduced(self, op: str, t: Type, column: Value) -> Value:
        name = (("s" if t.is_signed else "u") if op in ("min", "max") else "") + op
        full = f"llvm.vector.reduce.{name}.{mangled(column.type, WARP)}"
        function = self.module.declare(full, column.type, (column.spelled,))
        return Value(self.builder.emit(f"call {column.type} {function}({column.typed})"), column.type)

    def _moved_up(self, column: Value, distance: int, below: Value) -> Value:
        """Each lane's value in the lane `distance` above; `below` in the lowest lanes."""
        picks = ", ".join(f"i32 {WARP - distance + lane}" for lane in range(WARP))
        text = f"shufflevector {below.typed}, {column.typed}, <{WARP} x i32> <{picks}>"
        return Value(self.builder.emit(text), column.type, WARP)

    @property
    def _plain(self) -> LlvmAlgebra:
        """Operations on whole columns, without shapes."""
        return LlvmAlgebra(self.builder, self.module, WARP, self.features)


def _alone(run: Callable[..., Value], *operands: object) -> Callable[[], tuple[Value, ...]]:
    """What gives a call's one result, as one of a tuple."""
    return lambda: (run(*operands),)
