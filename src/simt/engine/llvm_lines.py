"""Words of shared memory a number of words apart that is known at run time only: trees whose step doubles.

`s[2 * step * tid]`, `s[step * (2 * tid + 1) - 1]`: a product of what grows from lane to lane and what all
lanes have. Scalars tell where all lanes are then, beside the columns: the first lane's place and the step.
Steps of a few words are registers and their lanes in another order. At larger ones all 32 words are loaded
or stored one by one, at addresses that scalars make, and where few lanes are left only those: both take less
time than a gather on CPUs whose gathers are slow.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial

from simt.analysis.shape import WARP
from simt.engine.llvm_access import I64, SHARED, Access
from simt.engine.llvm_algebra import LlvmIntegers
from simt.engine.llvm_builder import Value
from simt.engine.llvm_lanes import Guarded, Lanes, bases, shape_of
from simt.engine.llvm_pitches import PitchAlgebra
from simt.engine.llvm_windows import WORD, Loaded
from simt.ptx.types import U32, Type
from simt.records import dataclass

FARTHEST = 1 << 16
"""Bytes of the largest step: sums of 32 do not wrap."""
SMALL = 1, 2, 4
"""Words of steps of which registers are made."""
FEW = 16
"""Lanes up to which each is served alone."""


@dataclass(frozen=True, slots=True)
class Line:
    """Lanes are `base + step * lane`, modulo 2**32; both are scalars."""

    base: Value
    step: Value


@dataclass(frozen=True, slots=True)
class LanesAtLine:
    """`pointer`: to the first lane's word, running or not. `bits`: the mask. `ok`: i1, the words of lanes
    that run are right. `reach_last`: i1, and so are those of all lanes."""

    pointer: Value
    bits: Value
    ok: str
    reach_last: str


class LineAlgebra(PitchAlgebra):
    """`PitchAlgebra` that notes such columns of 32-bit words. `has_shared`: the kernel has shared memory."""

    has_shared = False

    @cached_property
    def _lines(self) -> dict[str, Line]:
        """By names of columns."""
        return {}

    def line_of(self, value: Value) -> Line | None:
        """What is noted of a column."""
        plain = type(value) in (Value, Lanes)  # others would be settled if they were asked for their names
        return self._lines.get(value.ir) if self._lines and plain and value.width == WARP else None

    def note_line(self, value: Value, line: Line | None) -> Value:
        if line is not None and not isinstance(value, Guarded) and value.width == WARP:
            self._lines[value.ir] = line
        return value

    # -- arithmetic --------------------------------------------------------------------------------

    def add(self, t: Type, a: Value, b: Value) -> Value:
        total = super().add(t, a, b)
        return self._sum_of_lines(total, a, b, "add") if self._lines else total

    def sub(self, t: Type, a: Value, b: Value) -> Value:
        total = super().sub(t, a, b)
        return self._sum_of_lines(total, a, b, "sub") if self._lines else total

    def mul(self, t: Type, a: Value, b: Value) -> Value:
        return self._multiplied_line(super().mul(t, a, b), *((b, a) if _is_one(a) else (a, b)), "mul")

    def shift_left(self, t: Type, a: Value, n: Value) -> Value:
        result, by = super().shift_left(t, a, n), n.literal
        if by is None or by >= U32.bits:
            return result  # PTX and LLVM differ in what more than 31 bits give
        return self._multiplied_line(result, a, n, "shl")

    def _may_be_line(self, result: Value) -> bool:
        column = result.width == WARP and not isinstance(result, Guarded)
        asks = self.has_shared and self.has_windows and not self.eager
        return column and asks and result.type == "i32" and self.segment == WARP

    def _steps_of(self, value: Value) -> Line | None:
        """Of a column that is noted, or of base and stride."""
        shape = shape_of(value)
        if shape.width == 1 and shape.is_affine and not isinstance(value, Guarded):
            return Line(bases(value), self.number("i32", shape.stride % 2**U32.bits))
        return self.line_of(value)

    def _sum_of_lines(self, result: Value, a: Value, b: Value, opcode: str) -> Value:
        if not self._may_be_line(result) or (self.line_of(a) is None and self.line_of(b) is None):
            return result
        one, other = self._steps_of(a), self._steps_of(b)
        if one is None or other is None:
            return result
        base = LlvmIntegers.binary(self, opcode, one.base, other.base)
        return self.note_line(result, Line(base, LlvmIntegers.binary(self, opcode, one.step, other.step)))

    def _multiplied_line(self, result: Value, a: Value, factor: Value, opcode: str) -> Value:
        line = self._steps_of(a) if self._may_be_line(result) and _is_one(factor) else None
        if line is None:
            return result
        base = LlvmIntegers.binary(self, opcode, line.base, bases(factor))
        return self.note_line(result, Line(base, LlvmIntegers.binary(self, opcode, line.step, bases(factor))))

    # -- accesses ----------------------------------------------------------------------------------

    def load_window(self, access: Access, otherwise: Callable[[], Loaded]) -> Loaded:
        line = self._line_at(access)
        if line is None:
            return super().load_window(access, otherwise)
        lanes = self._lanes_at(access, line)
        all_, few = (
            partial(run, element=access.element) for run in (LineAlgebra.load_all, LineAlgebra.load_few)
        )

        def loaded() -> Loaded:
            return self._either(
                lanes.reach_last,
                lambda: (self.apart("line.all", all_, lanes.pointer, line.step, called=True),),
                lambda: (self.apart("line.few", few, lanes.pointer, line.step, lanes.bits, called=True),),
            )

        return self._either(self.both(lanes.ok, self._some(lanes, lanes.reach_last)), loaded, otherwise)

    def store_window(self, access: Access, value: Value, otherwise: Callable[[], Loaded]) -> Loaded:
        line, data = self._line_at(access), self.vector(value)
        if line is None:
            return super().store_window(access, data, otherwise)
        lanes = self._lanes_at(access, line)
        full = self.builder.emit(f"icmp eq {lanes.bits.typed}, -1")
        operands = lanes.pointer, line.step, data

        def all_() -> Loaded:
            self.apart("line.all", LineAlgebra.store_all, *operands, called=True)
            return ()

        def few() -> Loaded:
            self.apart("line.few", LineAlgebra.store_few, *operands, lanes.bits, called=True)
            return ()

        ok = self.both(lanes.ok, self._some(lanes, full))
        return self._either(ok, lambda: self._either(full, all_, few), otherwise)

    def _line_at(self, access: Access) -> Line | None:
        """Of words of 4 bytes in shared memory."""
        fits = access.region is SHARED and (access.size, access.count) == (WORD, 1)
        return self.line_of(access.address) if fits and access.address.type == "i32" else None

    def _lanes_at(self, access: Access, line: Line) -> LanesAtLine:
        bits = self.mask_bits(self.mask)
        last, first = Value(self._last_lane(bits.ir), "i32"), self._first_running(bits)
        step = self._rotated(line.step, WORD.bit_length() - 1)
        ok = self.test("icmp ult", step, self.number("i32", FARTHEST // WORD)).ir
        if not self._is_proven(access):
            for lane in (first, last):
                place = LlvmIntegers.binary(self, "mul", line.step, lane)
                place = LlvmIntegers.binary(self, "add", line.base, place)
                ok = self.both(ok, self._valid(access, place, access.size).ir)
        all_ = self.builder.emit(f"icmp eq {LlvmIntegers.binary(self, 'sub', last, first).typed}, {WARP - 1}")
        return LanesAtLine(Value(self._host_before(access, line.base), "ptr"), bits, ok, all_)

    def _first_running(self, bits: Value) -> Value:
        count = self.module.declare("llvm.cttz.i32", "i32", ("i32", "i1"))
        some = self.builder.emit(f"or {bits.typed}, {-(1 << WARP - 1)}")
        return Value(self.builder.emit(f"call i32 {count}(i32 {some}, i1 true)"), "i32")

    def _some(self, lanes: LanesAtLine, all_: str) -> str:
        """i1: all lanes, or few."""
        count = self.module.declare("llvm.ctpop.i32", "i32", ("i32",))
        running = self.builder.emit(f"call i32 {count}({lanes.bits.typed})")
        few = self.builder.emit(f"icmp ule i32 {running}, {FEW}")
        return self.builder.emit(f"or i1 {all_}, {few}")

    # -- functions of their own --------------------------------------------------------------------

    def load_all(self, pointer: Value, step: Value, element: str) -> Value:
        """The words of all lanes, running or not. `pointer`: to the first lane's."""

        def near(places: list[int]) -> Loaded:
            return (self.pick_spread(pointer, element, WORD, places),)

        def far(step: Value) -> Loaded:
            return (self.load_at_pitch(pointer, step, element, WORD),)

        return self._by_step(step, near, far)[0]

    def store_all(self, pointer: Value, step: Value, data: Value) -> None:
        def near(places: list[int]) -> Loaded:
            self.put_spread(pointer, data, WORD, places)
            return ()

        def far(step: Value) -> Loaded:
            self.store_at_pitch(pointer, step, data, WORD)
            return ()

        self._by_step(step, near, far)

    def _by_step(
        self, step: Value, near: Callable[[list[int]], Loaded], far: Callable[[Value], Loaded],
        small: tuple[int, ...] = SMALL,
    ) -> Loaded:  # fmt: skip
        """Code for each of the small steps, and for any other one."""
        if not small:
            return far(self.cast("zext", I64, step))
        nbytes = small[0] * WORD
        found = self.builder.emit(f"icmp eq {step.typed}, {nbytes}")
        places = [nbytes * lane for lane in range(WARP)]
        others = partial(self._by_step, step, near, far, small[1:])
        return self._either(found, partial(near, places), others)

    def load_few(self, pointer: Value, step: Value, bits: Value, element: str) -> Value:
        """The words of the lanes that run, one after the other."""
        column = f"<{WARP} x {element}>"
        ways = f"phi {column} [ zeroinitializer, %begin ], [ %more, %turn ]"
        bit, lane = self.begin_turns(bits, f"%found = {ways}")
        item = self.builder.emit(f"load {element}, ptr {self._at_lane(pointer, step, lane)}, align {WORD}")
        every = self.widened(Value(item, element), WARP)
        one = self.builder.emit(f"bitcast {bit.typed} to <{WARP} x i1>")
        self.builder.void(f"%more = select <{WARP} x i1> {one}, {every.typed}, {column} %found")
        self.end_turns()
        return self.emit(ways, element, WARP)

    def store_few(self, pointer: Value, step: Value, data: Value, bits: Value) -> None:
        self.store_in_turns(bits, data, partial(self._at_lane, pointer, step), WORD)

    def _at_lane(self, pointer: Value, step: Value, lane: Value) -> str:
        behind = LlvmIntegers.binary(self, "mul", self.cast("zext", I64, step), lane)
        return self.builder.emit(f"getelementptr i8, {pointer.typed}, {behind.typed}")


def _is_one(value: Value) -> bool:
    """Whether it is the same for all lanes."""
    return shape_of(value).is_uniform
