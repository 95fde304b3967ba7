"""What grows by constant steps from warp to warp, where warps of neighbouring CTAs follow each other.

Indices are mostly sums of `%ctaid.x * %ntid.x + %tid.x` and of what a row of warps has in common. For such a
value the code ahead of a row computes what it is in the first warp (`first`), and from that for how many
warps of the row all is well: an index does not wrap, an address is valid, `i < n` holds for all lanes. For
these warps there is code of its own, in which nothing of it is tested: an update of LU decomposition has 20
instructions a warp in place of 61. The others, mostly one at the end of each row, run the usual code.

`%turn` is the warp's number in its row: of the CTAs side by side, and of the warps of a CTA's row. Where a
warp has several rows of threads (16 x 16), a row is that of all warps with these rows of their CTAs, and a
series may have a first value for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cached_property, partial

from simt.analysis.shape import WARP
from simt.analysis.shape_algebra import MIRRORED
from simt.engine.llvm_algebra import LlvmIntegers
from simt.engine.llvm_builder import Builder, Value, mangled
from simt.engine.llvm_float import LlvmAlgebra
from simt.engine.llvm_folding import signed
from simt.engine.llvm_lanes import Guarded, bases, shape_of
from simt.engine.llvm_machine import WARP_FIRST, MachineAlgebra
from simt.isa.algebra import Comparison
from simt.ptx.types import S64, U32, Type
from simt.records import dataclass, replace

I64 = "i64"
TURN = "%turn"
FIRST_CTA, FIRST_THREAD = "%sure.x", "%row.first"
"""What `%ctaid.x` and the number of the warp's first thread are in the first warp of a row of which all may
be told: behind the grid's first CTA, if nothing is told of that."""
PARAMETER = "%parameter."
"""Begins the names of parameters that are loaded before anything else."""
ALWAYS = "-1"
_EQUAL = ("eq", "ne")
_BOUNDS = ("lt", "ge")
ABOVE: tuple[Comparison, ...] = ("gt", "ge")
_TRUE_BELOW, _TRUE_ABOVE = ("lt", "le", "ne"), (*ABOVE, "ne")


@dataclass(frozen=True, slots=True)
class Series:
    """A scalar, or one for each row of a warp's threads, is `first`, and more by `by_cta` for each CTA and by
    `by_warp` for each warp of the CTA's row, modulo its type's range. `first`: computed ahead of the row.
    `turns`: an i64 computed there: for so many warps at least this is right. `of_row`: it is made of where
    the row is in the grid, by sums and multiples."""

    first: Value
    by_cta: int = 0
    by_warp: int = 0
    turns: str = ALWAYS
    of_row: bool = False

    @property
    def is_same(self) -> bool:
        """Whether it is the same in all warps of the row."""
        return self.by_cta == self.by_warp == 0


def _name(value: Value) -> str:
    """That stands for a value: of a guarded one, for its base and what has to hold. Where its series is
    right, that holds too."""
    return f"{value.ir} if {value.valid}" if isinstance(value, Guarded) else value.ir


class SeriesAlgebra(MachineAlgebra):
    """`MachineAlgebra` that notes series of bases: scalars, those of values with a stride, those of each row.

    `ahead`: takes code that stands ahead of a row, if code is made for the row's first warps alone, None in
    all other code. `sure_turns`: an i64 computed there: the code is right for so many of them. `tells`: of
    some access or comparison it is told ahead how it ends. `has_edge`: not in the first CTA of the grid's
    row. `tells_rows`: of comparisons of what a row of warps has in common, too. `of_goers`: what the present
    comparison gives in threads that do something, if that is known."""

    ahead: Builder | None = None
    sure_turns = ALWAYS
    tells = has_edge = tells_rows = False
    of_goers: bool | None = None

    @cached_property
    def _series(self) -> dict[str, Series]:
        """By name."""
        return {
            "%cta.x": Series(Value(FIRST_CTA, "i32"), by_cta=1),
            "%cta.y": Series(Value("%cta.y", "i32"), of_row=True),
            "%cta.z": Series(Value("%cta.z", "i32"), of_row=True),
            WARP_FIRST: Series(Value(FIRST_THREAD, "i32"), by_warp=WARP),
        }

    def series_of(self, value: Value) -> Series | None:
        """Of a scalar, or of a value's bases."""
        if self.ahead is None or not self._has_bases(value) or value.type not in ("i1", "i32", I64):
            return None
        if isinstance(value, Guarded):  # whose base alone may be a number, or that of another value
            return self._series.get(_name(value))
        found = bases(value)
        if found.literal is not None or value.ir.startswith(PARAMETER):
            return Series(found)
        return self._series.get(value.ir)

    def _has_bases(self, value: Value) -> bool:
        """Whether a value is held as one number, or as one for each row of the warp's threads."""
        return value.width in (1, self.block.segments)

    def note_series(self, value: Value, series: Series | None) -> Value:
        """The value, of which it is known from now on."""
        if series is None or value.type != series.first.type or value.ir[0] != "%":
            return value
        if self._has_bases(value) and series.first.width in (1, value.width):
            self._series.setdefault(_name(value), series)
        return value

    @contextmanager
    def _ahead(self) -> Generator[None]:
        """Code goes ahead of the row."""
        assert self.ahead is not None
        here, self.builder = self.builder, self.ahead
        try:
            yield
        finally:
            self.builder = here

    # -- arithmetic ----------------------------------------------------------------------------------

    def add(self, t: Type, a: Value, b: Value) -> Value:
        total = super().add(t, a, b)
        return total if self.ahead is None else self.note_series(total, self._sum_of_series(t, a, b, 1))

    def sub(self, t: Type, a: Value, b: Value) -> Value:
        total = super().sub(t, a, b)
        return total if self.ahead is None else self.note_series(total, self._sum_of_series(t, a, b, -1))

    def _sum_of_series(self, t: Type, a: Value, b: Value, sign: int) -> Series | None:
        one, other = self.series_of(a), self.series_of(b)
        if one is None or other is None:
            return None
        run = LlvmAlgebra.add if sign > 0 else LlvmAlgebra.sub
        with self._ahead():
            first = run(self, t, one.first, other.first)
            turns = self._fewer(one.turns, other.turns)
        by_cta, by_warp = one.by_cta + sign * other.by_cta, one.by_warp + sign * other.by_warp
        return Series(first, by_cta, by_warp, turns, one.of_row or other.of_row)

    def mul(self, t: Type, a: Value, b: Value) -> Value:
        product = super().mul(t, a, b)
        return product if self.ahead is None else self.note_series(product, self._product_of_series(t, a, b))

    def _product_of_series(self, t: Type, a: Value, b: Value) -> Series | None:
        one, other = self.series_of(a), self.series_of(b)
        if one is None or other is None:
            return None
        if one.first.literal is not None:
            one, other = other, one
        number = other.first.literal
        if number is None and not (one.is_same and other.is_same):
            return None
        with self._ahead():
            first = LlvmAlgebra.mul(self, t, one.first, other.first)
            turns = self._fewer(one.turns, other.turns)
        of_row = one.of_row or other.of_row
        return Series(first, one.by_cta * (number or 0), one.by_warp * (number or 0), turns, of_row)

    def shift_left(self, t: Type, a: Value, n: Value) -> Value:
        by, one = n.literal, self.series_of(a)
        shifted = super().shift_left(t, a, n)
        if by is None or by >= t.bits or one is None:
            return shifted
        with self._ahead():
            first = LlvmAlgebra.shift_left(self, t, one.first, n)
        by_cta, by_warp = one.by_cta << by, one.by_warp << by
        return self.note_series(shifted, Series(first, by_cta, by_warp, one.turns, one.of_row))

    def resize(self, source: Type, target: Type, a: Value) -> Value:
        resized = super().resize(source, target, a)
        series = self._extended(source, target, a) if (source.bits, target.bits) == (32, 64) else None
        if series is not None and isinstance(resized, Guarded):
            self._note_turns(series.turns)
            resized = replace(resized, valid="true")
        return self.note_series(resized, series)

    def _extended(self, source: Type, target: Type, a: Value) -> Series | None:
        """An extension keeps steps until a lane of a warp wraps."""
        one, lanes = self.series_of(a), self._growth(a)
        step = None if one is None else self._even_step(one, source.bits)
        if one is None or lanes is None or step is None:
            return None
        end = Value(str(2 ** (source.bits - source.is_signed) - lanes), I64)
        with self._ahead():
            first = LlvmAlgebra.resize(self, source, target, one.first)
            room = self._limit_less(end, first)
            turns = self._fewer(one.turns, self._turns(room, step))
        by_cta, by_warp = (signed(s % 2**source.bits, source.bits) for s in (one.by_cta, one.by_warp))
        return Series(first, by_cta, by_warp, turns, one.of_row)

    # -- special registers ---------------------------------------------------------------------------

    def special(self, name: str, component: str) -> Value:
        value = super().special(name, component)
        if self.ahead is None or not self._has_bases(value) or name not in ("tid", "nctaid"):
            return value
        with self._ahead():
            if name == "nctaid":
                return self.note_series(value, Series(super().special(name, component)))
            axis = self.block.axis(component)
            first = bases(self._tid(axis, Value(FIRST_THREAD, "i32")))
        return self.note_series(value, Series(first, by_warp=WARP if axis == 0 else 0, of_row=axis != 0))

    # -- how long a condition holds ------------------------------------------------------------------

    @property
    def _warps_of_row(self) -> int:
        return -(-self.block.x // WARP)

    def _even_step(self, series: Series, bits: int) -> int | None:
        """By which a series grows from warp to warp of the row, if it does so evenly and does not shrink."""
        by_cta, by_warp = series.by_cta % 2**bits, series.by_warp % 2**bits
        warps = self._warps_of_row
        even = warps == 1 or by_cta == warps * by_warp % 2**bits
        step = by_cta if warps == 1 else by_warp
        return step if even and step < 2 ** (bits - 2) else None

    def _growth(self, a: Value) -> int | None:
        """By how much the last lane of a row exceeds the first, if it is known not to shrink."""
        shape = shape_of(a)
        good = (shape.is_affine or shape.is_guarded) and shape.stride >= 0
        return shape.stride * (self.segment - 1) if good else None

    def _of_rows(self, which: str, rows: Value) -> str:
        """The least (`smin`) or greatest (`umax`) of an i64 of each row."""
        if rows.width == 1:
            return rows.ir
        name = f"llvm.vector.reduce.{which}.v{rows.width}i64"
        return self.builder.emit(f"call i64 {self.module.declare(name, I64, (rows.spelled,))}({rows.typed})")

    def _limit_less(self, limit: Value, first: Value) -> str:
        """An i64: how far the limit lies above `first` in all rows, both signed and small; 0 if it does
        not."""
        away = self._of_rows("smin", LlvmIntegers.binary(self, "sub", limit, first))
        smax = self.module.declare("llvm.smax.i64", I64, (I64, I64))
        return self.builder.emit(f"call i64 {smax}(i64 {away}, i64 0)")

    def _turns(self, room: str, step: int) -> str:
        """How many of `0, step, 2 * step, ...` are less than `room`, an i64 up to 2**63."""
        if step == 0:
            some = self.builder.emit(f"icmp ne i64 {room}, 0")
            return self.builder.emit(f"sext i1 {some} to i64")
        more = self.builder.emit(f"add i64 {room}, {step - 1}")
        return self.builder.emit(f"udiv i64 {more}, {step}")

    def _fewer(self, a: str, b: str) -> str:
        if ALWAYS in (a, b):
            return b if a == ALWAYS else a
        umin = self.module.declare("llvm.umin.i64", I64, (I64, I64))
        return a if a == b else self.builder.emit(f"call i64 {umin}(i64 {a}, i64 {b})")

    def sure_span(self, address: Value, arena: tuple[str, str], size: int, span: int) -> bool:
        """Whether `span` bytes from a global address on are surely valid where this code runs, and the
        address is aligned for accesses of `size`. `arena`: its base, and its bytes and one more."""
        told = self._spans_told.get((_name(address), size, span))
        if told is None:
            told = self._spans_told[_name(address), size, span] = self._tell_span(address, arena, size, span)
        return told

    @cached_property
    def _spans_told(self) -> dict[tuple[str, int, int], bool]:
        """What was found of addresses, access sizes and spans."""
        return {}

    def _tell_span(self, address: Value, arena: tuple[str, str], size: int, span: int) -> bool:
        series = self.series_of(address)
        step = None if series is None else self._even_step(series, 64)
        if series is None or step is None or step % size:
            return False
        base, room1 = arena
        shift = size.bit_length() - 1
        with self._ahead():
            less = self.module.declare("llvm.usub.sat.i64", I64, (I64, I64))
            offset = LlvmIntegers.binary(self, "sub", series.first, Value(base, I64))
            place = self._of_rows("umax", self._turned(offset, shift))
            bytes_ = self.builder.emit(f"call i64 {less}(i64 {room1}, i64 {span})")
            bytes_ = self.builder.emit(f"add i64 {bytes_}, {size - 1}")
            places = self.builder.emit(f"lshr i64 {bytes_}, {shift}")
            left = self.builder.emit(f"call i64 {less}(i64 {places}, i64 {place})")
            turns = self._fewer(series.turns, self._turns(left, step // size))
        self._note_turns(turns)
        self.tells = True
        return True

    def _turned(self, offset: Value, shift: int) -> Value:
        """An i64, or one for each row, rotated to the right."""
        spelled, kind = offset.spelled, mangled(I64, offset.width)
        by = self.widened(Value(str(shift), I64), offset.width)
        turn = self.module.declare(f"llvm.fshr.{kind}", spelled, (spelled, spelled, spelled))
        text = f"call {spelled} {turn}({offset.typed}, {offset.typed}, {by.typed})"
        return self.emit(text, I64, offset.width)

    def _note_turns(self, turns: str) -> None:
        """Code is only right in the first `turns` warps of the row."""
        assert self.ahead is not None
        with self._ahead():
            self.sure_turns = self._fewer(self.sure_turns, turns)

    def in_series(self, address: Value) -> list[Value]:
        """A 64-bit value in each row of a warp's threads, from its series: right where an access is sure."""
        series = self.series_of(address)
        assert series is not None
        first, starts = series.first, [series.first]
        if first.width > 1:
            with self._ahead():
                starts = [
                    self.emit(f"extractelement {first.typed}, i32 {i}", I64, 1) for i in range(first.width)
                ]
        step = self._even_step(series, 64)
        if step:
            distance = self.builder.emit(f"mul i64 {TURN}, {step}")
            starts = [Value(self.builder.emit(f"add {s.typed}, {distance}"), I64) for s in starts]
        return starts * (self.block.segments // len(starts))

    # -- comparisons ---------------------------------------------------------------------------------

    def compare_integers(self, op: Comparison, t: Type, a: Value, b: Value) -> Value:
        holds = self._told(op, t, a, b, self.tells_rows)
        if holds is not None:
            return Value("true" if holds else "false", "i1")
        run = partial(LlvmAlgebra.compare_integers, self, op, t)
        return self._same(super().compare_integers(op, t, a, b), run, a, b)

    def _told(self, op: Comparison, t: Type, a: Value, b: Value, rows: bool = False) -> bool | None:
        """How a comparison of a value that differs from lane to lane, from row to row of a warp, or between
        rows of warps, with one that is the same for all ends: in all warps for which this code is."""
        if self.ahead is None or t.bits != U32.bits or op not in MIRRORED:
            return None
        ways: tuple[tuple[Comparison, Value, Value], ...] = (op, a, b), (MIRRORED[op], b, a)
        for sense, value, limit in ways:
            one, end, lanes = self.series_of(value), self.series_of(limit), self._growth(value)
            if one is None or end is None or lanes is None or not end.is_same:
                continue
            step = self._even_step(one, t.bits)
            same, edge = shape_of(value).is_uniform, _is_edge(t, limit)
            above = edge or (self.of_goers == (sense in ABOVE) and op not in _EQUAL)
            if step is None or not shape_of(limit).is_uniform:
                continue
            if same and not (rows and one.is_same and one.of_row and self._is_bound(sense, one, end, edge)):
                continue
            stays = lanes > 0 and not step  # the same in every warp: which lanes are below does not change
            if not shape_of(value).is_affine or (stays and (edge or op in _EQUAL)):
                continue
            self.has_edge |= edge and not same
            inside = self._turns_above if above else self._turns_below
            self._note_turns(self._fewer(one.turns, inside(sense, t, one, end, lanes, step)))
            self.tells = True
            return sense in (_TRUE_ABOVE if above else _TRUE_BELOW)
        return None

    def _is_bound(self, op: Comparison, one: Series, end: Series, edge: bool) -> bool:
        """Whether a comparison of what a row of warps has in common is surely the test of a picture's or a
        window's bounds: few rows are beyond them. (`y > k` alone is not, as in an elimination: a branch stays
        there, which goes one way in a row.)"""
        if edge:
            return op not in _EQUAL
        if op in _BOUNDS:
            self._bounds.add((one.first.ir, end.first.ir))
        return (one.first.ir, end.first.ir) in self._bounds

    @cached_property
    def _bounds(self) -> set[tuple[str, str]]:
        """Names of what is compared, ahead of the row, and of limits."""
        return set()

    def _turns_below(self, op: Comparison, t: Type, one: Series, end: Series, lanes: int, step: int) -> str:
        """For how many warps of the row all lanes are below a limit (for `le` and `gt`: or equal to it)."""
        with self._ahead():
            first, last = self._wide(t, one), self._wide(t, end)
            last = LlvmIntegers.binary(self, "add", last, self.number(I64, (op in ("le", "gt")) - lanes))
            return self._turns(self._limit_less(last, first), step)

    def _turns_above(self, op: Comparison, t: Type, one: Series, end: Series, lanes: int, step: int) -> str:
        """The same, above a limit (for `ge` and `lt`: or equal to it): if the first warp is, all are that do
        not wrap."""
        with self._ahead():
            first, edge = self._wide(t, one), self._wide(t, end)
            least = LlvmIntegers.binary(self, "add", edge, self.number(I64, op not in ("ge", "lt")))
            above = self._of_rows("smin", LlvmIntegers.binary(self, "sub", first, least))
            good = self.builder.emit(f"icmp sge i64 {above}, 0")
            top = self.number(I64, 2 ** (t.bits - t.is_signed) - lanes)
            turns = self._turns(self._limit_less(top, first), step)
            return self.builder.emit(f"select i1 {good}, i64 {turns}, i64 0")

    def _wide(self, t: Type, series: Series) -> Value:
        """A series' first value as a number of 64 bits."""
        return self.cast("sext" if t.is_signed else "zext", I64, series.first)

    # -- what is limited, chosen, divided ------------------------------------------------------------

    def _same(self, value: Value, run: Callable[..., Value], *operands: Value) -> Value:
        """The result of an operation: all warps of the row have the same if they have the same operands.
        (Of a guarded one that would say that its guard holds, which the operands' bases do not tell.)"""
        found = [series for series in map(self.series_of, operands) if series is not None and series.is_same]
        if self.ahead is None or len(found) < len(operands) or isinstance(value, Guarded):
            return value
        with self._ahead():
            first, turns = run(*(series.first for series in found)), ALWAYS
            for series in found:
                turns = self._fewer(turns, series.turns)
        return self.note_series(value, Series(first, turns=turns))

    def _limited(self, kept: Comparison, t: Type, run: Callable[..., Value], a: Value, b: Value) -> Value:
        holds = self._told(kept, t, a, b)
        if holds is not None:
            return a if holds else b
        return self._same(super()._limited(kept, t, run, a, b), run, a, b)

    def select(self, t: Type, p: Value, a: Value, b: Value) -> Value:
        return self._same(super().select(t, p, a, b), partial(LlvmAlgebra.select, self, t), p, a, b)

    def divide(self, t: Type, a: Value, b: Value) -> Value:
        told = self._told_quotient(t, a, b)
        if told is not None:
            return told
        return self._same(super().divide(t, a, b), partial(LlvmAlgebra.divide, self, t), a, b)

    def remainder(self, t: Type, a: Value, b: Value) -> Value:
        told = self._told_quotient(t, a, b)
        if told is not None:
            return self.sub(t, a, self.mul(t, told, b))
        return self._same(super().remainder(t, a, b), partial(LlvmAlgebra.remainder, self, t), a, b)

    def _told_quotient(self, t: Type, a: Value, b: Value) -> Value | None:
        """An index by what is the same for all: the quotient of the row's first lane, computed ahead, if all
        lanes of all warps for which this code is have it."""
        one, end, lanes = self.series_of(a), self.series_of(b), self._growth(a)
        if one is None or end is None or not lanes or not end.is_same or t.bits != U32.bits:
            return None
        step = self._even_step(one, t.bits)
        if step is None or not shape_of(a).is_affine or not shape_of(b).is_uniform or b.literal is not None:
            return None
        self.has_edge = True
        with self._ahead():
            quotient = LlvmAlgebra.divide(self, t, one.first, end.first)
            self._note_turns(self._fewer(one.turns, self._turns_in_row(t, one, end, quotient, lanes, step)))
        self.tells = True
        return self.note_series(quotient, Series(quotient))

    def _turns_in_row(self, t: Type, one: Series, end: Series, quotient: Value, lanes: int, step: int) -> str:
        """For how many warps all lanes have a quotient, and nothing is negative or wraps."""
        first, divisor = self._wide(t, one), self._wide(t, end)
        last = self.cast("sext" if t.is_signed else "zext", I64, quotient)
        after = LlvmIntegers.binary(
            self, "mul", LlvmIntegers.binary(self, "add", last, self.number(I64, 1)), divisor
        )
        after = LlvmAlgebra.minimum(self, S64, after, self.number(I64, 2 ** (t.bits - t.is_signed)))
        room = self._limit_less(LlvmIntegers.binary(self, "sub", after, self.number(I64, lanes)), first)
        positive = self._of_rows("smin", first)
        good = self.builder.emit(f"icmp sge i64 {positive}, 0")
        some = self.builder.emit(f"icmp sgt i64 {divisor.ir}, 0")
        good = self.both(good, some)
        return self.builder.emit(f"select i1 {good}, i64 {self._turns(room, step)}, i64 0")


def _is_edge(t: Type, limit: Value) -> bool:
    """Whether a limit is a number so small that the first CTA of the grid's row has what is below."""
    number = limit.literal
    return number is not None and (signed(number, t.bits) if t.is_signed else number) < WARP
