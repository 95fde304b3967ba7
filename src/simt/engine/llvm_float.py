"""The pure primitives of the algebra as LLVM IR: floating point, and the whole pure algebra.

Rounding to nearest is what LLVM's own instructions do. For the other directions see `llvm_rounding`; where
the CPU has neither of its ways, and for fused multiply-adds on CPUs without them, `engine.exact` computes
the result. Nothing depends on fast-math flags or on the rounding mode that the caller has set.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

from simt.engine import exact, integers
from simt.engine.llvm_algebra import element_type
from simt.engine.llvm_builder import Builder, Value, spell
from simt.engine.llvm_extremes import ExtremeAlgebra
from simt.engine.llvm_floors import fma_down, is_whole
from simt.engine.llvm_flushing import is_far
from simt.engine.llvm_halves import LEAST, by_halves
from simt.engine.llvm_loose import (
    LEAVES,
    PLAIN,
    STEPS,
    Computed,
    Flushed,
    Loose,
    LooseBits,
    Normal,
    Notes,
    Source,
    allows,
    is_literal,
    raw,
    source_of,
)
from simt.engine.llvm_tables import looked_up
from simt.isa.algebra import Comparison, Composed, Rounding
from simt.isa.derived import chosen_nan, quiet_nan, tiny_flushed
from simt.ptx.types import BF16, F16, F32, F64, U16, U64, Type
from simt.records import dataclass

_HALVES = (F16, BF16)
_FLUSHED = Notes(flushed=True)
_ROUNDED = {"rn": "roundeven", "rz": "trunc", "rm": "floor", "rp": "ceil"}
_ROUNDING_FEATURES = frozenset({"sse4.1", "round"})
"""CPUs that round to integral values in one instruction."""
_HALF_FEATURES = frozenset({"f16c", "avx512fp16"})
"""CPUs that convert between f16 and f32, or compute in f16."""
_MOST_LEAVES, _MOST_STEPS = 3 * LEAVES, 3 * STEPS
"""The same within one op."""
_F16C = {"rn": 0, "rm": 1, "rp": 2, "rz": 3}
"""The immediate operand of vcvtps2ph."""


@dataclass(frozen=True, slots=True)
class _Form:
    """An instruction of x86 for a full register: the CPU's feature, LLVM's name for it, and its lanes.
    `is_masked`: that takes what stands in lanes left out, and which are not."""

    feature: str
    name: str
    lanes: int
    is_masked: bool = False


_HIGH_PRODUCTS = (
    _Form("avx512bw", "llvm.x86.avx512.pmulh{}.w.512", 32),
    _Form("avx2", "llvm.x86.avx2.pmulh{}.w", 16),
    _Form("sse2", "llvm.x86.sse2.pmulh{}.w", 8),
)
"""Upper halves of products of 16 bits, widest first. (LLVM finds them in products of 32 bits, too, but then
forms the operands in 32 bits and packs them.)"""
_PAIRS = (
    _Form("avx512bw", "llvm.x86.avx512.pmaddw.d.512", 16),
    _Form("avx2", "llvm.x86.avx2.pmadd.wd", 8),
    _Form("sse2", "llvm.x86.sse2.pmadd.wd", 4),
)
"""Products of signed halves, those of a word added up, widest first."""
_NEAR_ROOTS = (
    _Form("avx512f", "llvm.x86.avx512.rsqrt14.ps.512", 16, is_masked=True),
    _Form("avx", "llvm.x86.avx.rsqrt.ps.256", 8),
    _Form("sse2", "llvm.x86.sse.rsqrt.ps", 4),
)
"""1/sqrt(x) with a relative error of at most 1.5 / 2^12, widest first."""


def _double_bits(x: float) -> int:
    return struct.unpack("<Q", struct.pack("<d", x))[0]


class LlvmAlgebra(Composed[Value], ExtremeAlgebra):
    """Constants, bits, integers and floating point. A subclass adds lanes and machine.

    `zeros`: the code runs where the CPU reads subnormals of single precision as zeros, and every operation on
    it flushes by its meaning."""

    zeros = False
    eager = False
    """Whether the NaNs of f64 are settled at once."""

    def pure(self, builder: Builder, width: int) -> LlvmAlgebra:
        return LlvmAlgebra(builder, self.module, width, self.features)

    def mul_high(self, t: Type, a: Value, b: Value) -> Value:
        a, b = self.unify(a, b)
        if t.bits == U16.bits and a.width > 1:
            form = self._widest(_HIGH_PRODUCTS)
            if form is not None:
                return self.piecewise(form.lanes, partial(self._high_product, form, t.is_signed), a, b)
        if t.bits == U64.bits and a.width > 1:  # LLVM would take 128-bit products lane by lane
            return integers.mul_high_64(self, t, a, b)
        return super().mul_high(t, a, b)

    def dot_of_bytes(self, t: Type, u: Type, a: Value, b: Value) -> Value:
        """By halves: x86 multiplies those of 32 bits in pairs, and adds the two products."""
        form, (a, b) = self._widest(_PAIRS), self.unify(a, b)
        if form is None or a.width == 1:
            return integers.dot_of_bytes(self, t, u, a, b)
        return self.piecewise(form.lanes, partial(self._pairs_of_bytes, form, t, u), a, b)

    def _pairs_of_bytes(self, form: _Form, t: Type, u: Type, a: Value, b: Value) -> Value:
        factors = zip(self._bytes_as_halves(t, a), self._bytes_as_halves(u, b), strict=True)
        lower, upper = (self._pairs(form, x, y) for x, y in factors)
        return self.binary("add", lower, upper)

    def _bytes_as_halves(self, t: Type, a: Value) -> tuple[Value, Value]:
        """The even and the odd bytes of words, in halves of 16 bits."""
        count, eight = 2 * a.width, self.number("i16", 8)
        halves = self.emit(f"bitcast {a.typed} to <{count} x i16>", "i16", count)
        down = "ashr" if t.is_signed else "lshr"
        even = self.binary(down, self.binary("shl", halves, eight), eight)
        return even, self.binary(down, halves, eight)

    def _pairs(self, form: _Form, a: Value, b: Value) -> Value:
        result = spell("i32", form.lanes)
        function = self.module.declare(form.name, result, (a.spelled, b.spelled))
        return self.emit(f"call {result} {function}({a.typed}, {b.typed})", "i32", form.lanes)

    def _high_product(self, form: _Form, signed: bool, a: Value, b: Value) -> Value:
        name = form.name.format("" if signed else "u")
        function = self.module.declare(name, a.spelled, (a.spelled, b.spelled))
        return self.emit(f"call {a.spelled} {function}({a.typed}, {b.typed})", a.type, a.width)

    def _widest(self, forms: tuple[_Form, ...]) -> _Form | None:
        """The first form that the CPU has."""
        return next((form for form in forms if form.feature in self.features), None)

    def by_halves(self, function: Callable[..., Value], *operands: Value) -> Value:
        form = self._widest(_HIGH_PRODUCTS)
        lanes = LEAST if form is None else form.lanes
        return by_halves(self, function, lanes, self.unify(*map(raw, operands)))

    def lookup(self, t: Type, index: Value, *tables: tuple[int, ...]) -> tuple[Value, ...]:
        return looked_up(self, index, tables)

    # -- representation ------------------------------------------------------------------------

    def const(self, t: Type, bits: int) -> Value:
        """Where the CPU flushes, LLVM does not learn of the numbers without which no constant result is tiny:
        it would round that as IEEE 754 says."""
        value = super().const(t, bits)
        if not (self.zeros and t == F32 and is_far(bits)):
            return value
        return self.emit(f'call float asm "", "=x,0"({value.typed})', "float", 1)

    def select(self, t: Type, p: Value, a: Value, b: Value) -> Value:
        if a.__class__ is Value and b.__class__ is Value:
            return super().select(t, p, a, b)
        if t == F64 and (source_of(a) is not None or source_of(b) is not None):
            return self._open_choice(p, a, b)
        notes = {note: allows(a, note) and allows(b, note) for note in ("nans", "subnormals")}
        said = {note for v in (a, b) if isinstance(v, Loose) for note in notes if getattr(v, note)}
        if t != F32 or not said or not all(notes[note] for note in said):
            return super().select(t, p, a, b)
        chosen = super().select(t, p, raw(a), raw(b))
        return Loose(chosen, self.settled, subnormals=notes["subnormals"], nans=notes["nans"])

    def _open_choice(self, p: Value, a: Value, b: Value) -> Value:
        """One of two columns of f64, of which the NaNs stay open."""
        chosen = super().select(F64, p, raw(a), raw(b))
        made = Computed(chosen.ir, chosen.type, chosen.width, _choose, (p, a, b))
        return self.loose(chosen, source=Source(made, ()))

    def to_bits(self, t: Type, a: Value) -> Value:
        if not t.is_native_float:
            return a
        cast = partial(self.cast, "bitcast", f"i{t.bits}")
        return LooseBits(a, f"i{t.bits}", cast) if isinstance(a, Loose) else cast(a)

    def from_bits(self, t: Type, a: Value) -> Value:
        if t.is_native_float and isinstance(a, LooseBits):
            return a.of
        if t.is_native_float and a.literal is not None:
            return self.const(t, a.literal)
        return self.cast("bitcast", element_type(t), a) if t.is_native_float else a

    def compare(self, op: Comparison, t: Type, a: Value, b: Value) -> Value:
        if not t.is_float:
            return self.compare_integers(op, t, a, b)
        ordered = "one" if op == "ne" else f"o{op}"
        return self.test(f"fcmp {ordered}", self._native(t, raw(a)), self._native(t, raw(b)))

    def is_nan(self, t: Type, a: Value) -> Value:
        if t == F16 and "avx512fp16" in self.features:
            half = self.cast("bitcast", "half", a)
            return self.test("fcmp uno", half, half)
        if t in _HALVES:
            f = exact.format_of(t)
            magnitude = self.binary("and", a, self.number(a.type, f.sign - 1))
            return self.test("icmp ugt", magnitude, self.number(a.type, f.infinity))
        return self.test("fcmp uno", raw(a), raw(a))

    # -- what bits mean, see `llvm_loose` --------------------------------------------------------

    def loose(self, a: Value, **notes: Any) -> Loose:
        """A column with a further note."""
        if isinstance(a, Loose):
            return a.changed(a.raw, **notes)
        return Loose(a, self.settled, flushed=isinstance(a, Flushed), **notes)

    def noted(self, a: Value, notes: Notes) -> Value:
        """A column that was passed with notes."""
        if notes == _FLUSHED:
            return Flushed(a.ir, a.type, a.width)
        if notes == PLAIN:
            return a
        subnormals, nans, flushed = notes.subnormals, notes.nans, notes.flushed
        return Loose(a, self.settled, subnormals=subnormals, nans=nans, flushed=flushed)

    def settled(self, a: Loose) -> Value:
        """The machine's bits."""
        return a.once(self.builder, self.running(a.width).ir, partial(self._settled, a))

    def _settled(self, a: Loose) -> Value:
        value = a.raw
        if a.subnormals:
            value = self._flushed_by_sum(value) if a.nans else self.flush_bits(F32, value)
        if a.nans:
            value = self.pick(self.is_nan(F32, a.raw), self.const(F32, quiet_nan(F32)), value)
        return self._with_their_nans([a])[0] if a.source is not None else value

    def _settled_but_nans(self, a: Loose) -> Value:
        """The machine's bits, or any NaN."""
        return a.once(self.builder, self.running(a.width).ir, partial(self._flushed_by_sum, a.raw))

    def _flushed_by_sum(self, a: Value) -> Value:
        """Flushed by the CPU, which reads subnormals as zeros: a sum with a negative zero that LLVM does not
        see. One addition, where `flush_bits` is two operations and a mask; NaNs become quiet ones."""
        zero = self.emit('call float asm "", "=x,0"(float 0x8000000000000000)', "float", 1)
        return self.binary("fadd", a, zero)

    def settled_together(self, values: Sequence[Loose]) -> list[Value]:
        """f64 results with their NaNs; one test for all of a width."""
        found: dict[int, Value] = {}
        for width in {v.width for v in values}:
            group = [v for v in values if v.width == width]
            found |= dict(zip(map(id, group), self._with_their_nans(group)))
        return [found[id(v)] for v in values]

    def _with_their_nans(self, group: Sequence[Loose]) -> list[Value]:
        """Where an f64 result is NaN, that of one operand: found by doing everything again, exactly, in the
        rare case that some lane has one."""
        sources = [source for v in group if (source := v.source) is not None]
        leaves = {name: leaf for source in sources for name, leaf in source.leaves.items()}
        running, count = self.running(group[0].width), len(group)

        def test(inner: LlvmAlgebra, *columns: Value) -> str:
            if running.width == 1:
                return inner.some_nan(F64, *columns[:count])
            # in any lane first: what the mask says takes as long again
            look, some = inner.builder.block_name("look"), inner.some_nan(F64, *columns[:count])
            inner.builder.void(f"br i1 {some}, label %{look}, label %none")
            inner.builder.label(look)
            return inner.some(inner.binary("and", columns[-1], inner.nan_in_any(columns[:count])))

        def again(inner: LlvmAlgebra, *columns: Value) -> list[Value]:
            replay = partial(LlvmAlgebra.replayed, sources=sources, leaves=leaves)
            doubles = [*map(inner.as_doubles, columns[count : count + len(leaves)])]
            return inner.by_lanes(replay, count, columns[0].width, doubles)

        mask = [] if running.width == 1 else [running]
        return self.unless(test, again, count, *(v.raw for v in group), *leaves.values(), *mask)

    def running(self, width: int) -> Value:
        """The lanes of a column of that width that run, as far as they are known: results of others, which
        overflow easily, do not matter."""
        return Value("true", "i1")

    def as_doubles(self, column: Value) -> Value:
        """Predicates as zeros and ones."""
        return self.cast("uitofp", "double", column) if column.type == "i1" else column

    def replayed(
        self, *columns: Value, sources: Sequence[Source], leaves: Mapping[str, Value]
    ) -> list[Value]:
        """Results with their NaNs; `columns` are the leaves, as doubles."""
        found: dict[int, Value] = {}
        zero = self.const(F64, 0)
        here = {
            name: self.test("fcmp une", column, zero) if leaf.type == "i1" else column
            for (name, leaf), column in zip(leaves.items(), columns, strict=True)
        }

        def exact(value: Value) -> Value:
            inner = source_of(value)
            if inner is not None:
                return found[id(inner)]
            return value if is_literal(value) else here[value.ir]

        steps = {id(step): step for source in sources for step in (*source.before.values(), source)}
        for step in steps.values():
            inputs = [exact(v) for v in step.inputs]
            result = step.result.again(self, *inputs) if isinstance(step.result, Computed) else inputs[0]
            operands = [*map(exact, step.operands)]
            found[id(step)] = self._one_of_nans(result, *operands) if operands else result
        return [found[id(source)] for source in sources]

    def _one_of_nans(self, *values: Value) -> Value:
        """`chosen_nan` by a function."""

        def run(builder: Builder, *parameters: Value) -> Value:
            return chosen_nan(self.pure(builder, parameters[0].width), F64, *parameters)

        return self.outlined(f"nan.{len(values)}", "double", run, *values)

    def nan_result(self, t: Type, a: Value, *operands: Value) -> Value:
        if t == F32:
            return a if is_literal(a) else self.loose(a, nans=True)
        if t != F64:
            return chosen_nan(self, t, a, *operands)
        source = Source(a, operands)
        result = self.loose(a, source=source)
        long = len(source.leaves) > _MOST_LEAVES or len(source.before) > _MOST_STEPS
        return self.settled(result) if long or self.eager else result

    def any_nan(self, t: Type, a: Value) -> Value:
        if not isinstance(a, Loose):
            return a
        if a.subnormals:
            return Loose(a.raw, self._settled_but_nans, subnormals=True)
        return Flushed(a.raw.ir, a.type, a.width) if a.flushed else a.raw

    def flush(self, t: Type, a: Value) -> Value:
        if isinstance(a, Flushed | Normal) or (isinstance(a, Loose) and (a.subnormals or a.flushed)):
            return a
        if self.zeros and t == F32:
            return self.loose(a, subnormals=True)
        if isinstance(a, Loose) and a.source is None:
            return a.changed(self.flush_bits(t, a.raw), flushed=True)
        result = self.flush_bits(t, a)
        return Flushed(result.ir, result.type, result.width)

    def flush_result(self, t: Type, a: Value, twice: Callable[..., Value], *operands: Value) -> Value:
        if self.zeros and t == F32:  # the CPU has flushed it
            return self.flush(t, a)
        result = tiny_flushed(self, t, a, twice, *operands)
        return Flushed(result.ir, result.type, result.width)

    def flush_bits(self, t: Type, a: Value) -> Value:
        f = exact.format_of(t)
        bits = self.to_bits(t, a)
        exponent = self.binary("and", bits, self.number(bits.type, f.infinity))
        sign = self.binary("and", bits, self.number(bits.type, f.sign))
        subnormal = self.test("icmp eq", exponent, self.number(bits.type, 0))
        return self.pick(subnormal, self.from_bits(t, sign), a)

    def _native(self, t: Type, a: Value) -> Value:
        """A float or double: f16 and bf16 widened to f32."""
        return self._widen_half(t, a) if t in _HALVES else a

    # -- arithmetic ----------------------------------------------------------------------------

    def fadd(self, t: Type, a: Value, b: Value, rounding: Rounding) -> Value:
        return self._arithmetic("add", exact.add, t, rounding, a, b)

    def fsub(self, t: Type, a: Value, b: Value, rounding: Rounding) -> Value:
        return self._arithmetic("sub", exact.sub, t, rounding, a, b)

    def fmul(self, t: Type, a: Value, b: Value, rounding: Rounding) -> Value:
        return self._arithmetic("mul", exact.mul, t, rounding, a, b)

    def fdiv(self, t: Type, a: Value, b: Value, rounding: Rounding) -> Value:
        return self._arithmetic("div", exact.div, t, rounding, a, b)

    def fma(self, t: Type, a: Value, b: Value, c: Value, rounding: Rounding) -> Value:
        return self._arithmetic("fma", exact.fma, t, rounding, a, b, c)

    def fsqrt(self, t: Type, a: Value, rounding: Rounding) -> Value:
        return self._arithmetic("sqrt", exact.sqrt, t, rounding, a)

    def near_reciprocal_root(self, a: Value) -> Value:
        form = self._widest(_NEAR_ROOTS)
        if form is None:
            return self.binary("fdiv", Value("1.0", "float"), self._to_nearest("sqrt", raw(a)))
        return self.piecewise(form.lanes, partial(self._near_root, form), raw(a))

    def _near_root(self, form: _Form, a: Value) -> Value:
        parameters = (a.spelled, a.spelled, f"i{a.width}") if form.is_masked else (a.spelled,)
        function = self.module.declare(form.name, a.spelled, parameters)
        rest = f", {a.typed}, i{a.width} -1" if form.is_masked else ""
        return self.emit(f"call {a.spelled} {function}({a.typed}{rest})", a.type, a.width)

    def _arithmetic(
        self, name: str, exactly: Callable[..., Value], t: Type, rounding: Rounding, *values: Value
    ) -> Value:
        """LLVM's own operation, the CPU's with embedded rounding, or the exact one in software."""
        result = self._as_computed(name, exactly, t, rounding, *[raw(value) for value in values])
        if t is not F64:
            return result

        def again(algebra: LlvmAlgebra, *operands: Value) -> Value:
            return algebra._as_computed(name, exactly, t, rounding, *operands)

        return Computed(result.ir, result.type, result.width, again, values)

    def _as_computed(
        self, name: str, exactly: Callable[..., Value], t: Type, rounding: Rounding, *values: Value
    ) -> Value:
        if rounding == "rn" and t.is_native_float and (name != "fma" or self._has_fma):
            return self._to_nearest(name, *values)
        if rounding == "rn" and t == F16 and not self.features.isdisjoint(_HALF_FEATURES):
            return self._half_to_nearest(name, *values)
        if rounding == "rn" and t == BF16 and self._as_f32(name):
            return self._bf16_to_nearest(name, *values)
        if t.is_native_float and "avx512f" in self.features:
            return self.embedded(name, t, rounding, *values)
        if t.is_native_float and {"avx", "fma"} <= self.features:
            if (name, rounding, t) == ("fma", "rm", F32) and is_whole(values[2]):
                return fma_down(self, *values)
            return self.in_mode(name, t, rounding, *values)

        def run(builder: Builder, *parameters: Value) -> Value:
            return exactly(self.pure(builder, parameters[0].width), t, *parameters, rounding)

        return self.outlined(f"{name}.{rounding}.{t.name}", element_type(t), run, *values)

    @cached_property
    def _has_fma(self) -> bool:
        return "fma" in self.features or "avx512f" in self.features

    def _to_nearest(self, name: str, *values: Value) -> Value:
        if name == "sqrt":  # LLVM takes one NaN of a root for another, if it sees that it is one
            return self.intrinsic("arithmetic.fence", self.intrinsic("sqrt", *values))
        if name == "fma":
            return self.intrinsic(name, *values)
        return self.binary(f"f{name}", *values)

    def _half_to_nearest(self, name: str, *values: Value) -> Value:
        """For f16: the CPU's own, or in f32, which has twice the digits and two more, and holds products."""
        if "avx512fp16" in self.features:
            halves = (self.cast("bitcast", "half", v) for v in values)
            return self.cast("bitcast", "i16", self._to_nearest(name, *halves))
        wide = [self._widen_half(F16, v) for v in values]
        if name == "fma" and "avx512f" in self.features:
            total = self._odd_fma(*wide)
        elif name == "fma":
            total = self._odd_sum(self.binary("fmul", *wide[:2]), wide[2])
        else:
            total = self._to_nearest(name, *wide)
        return self.float_to_float(F32, F16, total, "rn")

    def _as_f32(self, name: str) -> bool:
        """Whether an operation on bf16 is done by f32."""
        return name in ("add", "sub", "mul") or (name == "fma" and "avx512f" in self.features)

    def _bf16_to_nearest(self, name: str, *values: Value) -> Value:
        """For bf16: in f32, which has the same exponents, three times the digits, and holds products but for
        those below half of bf16's least number. A fused result that is not exact becomes the odd one of its
        neighbours (0 if both are zeros: the positive one)."""
        wide = [self._widen_half(BF16, v) for v in values]
        total = self._odd_fma(*wide) if name == "fma" else self._to_nearest(name, *wide)
        return self.float_to_float(F32, BF16, total, "rn")

    def _odd_fma(self, x: Value, y: Value, z: Value) -> Value:
        """An f32 `fma`; an inexact one becomes the odd one of its neighbours."""
        return self._odd_one(self.fma(F32, x, y, z, "rm"), self.fma(F32, x, y, z, "rp"))

    def _odd_one(self, below: Value, above: Value) -> Value:
        """Of two f32 neighbours the odd one; of two equal ones either."""
        return self.pick(self.cast("trunc", "i1", self.to_bits(F32, below)), below, above)

    def _odd_sum(self, a: Value, b: Value) -> Value:
        """An f32 sum; an inexact one becomes the odd one of its neighbours, fit to be rounded again. The
        operands are far from overflow and underflow (see `exact.odd_sum`)."""
        total = self.binary("fadd", a, b)
        part = self.binary("fsub", total, a)
        rest = self.binary("fsub", a, self.binary("fsub", total, part))
        error = self.binary("fadd", rest, self.binary("fsub", b, part))
        # An even sum goes one up or down, as the error's sign says: by integers, since AVX2 has no masks.
        bits = self.to_bits(F32, total)
        inexact = self.cast("sext", "i32", self.test("fcmp one", error, Value("0.0", "float")))
        even = self.binary("sub", self.binary("and", bits, self.number("i32", 1)), self.number("i32", 1))
        signs = self.binary("xor", bits, self.to_bits(F32, error))
        step = self.binary("or", self.binary("ashr", signs, self.number("i32", 31)), self.number("i32", 1))
        change = self.binary("and", step, self.binary("and", inexact, even))
        return self.from_bits(F32, self.binary("add", bits, change))

    # -- extremes, integral values -------------------------------------------------------------

    def fmin(self, t: Type, a: Value, b: Value) -> Value:
        return self._extreme("minimumnum", t, a, b)

    def fmax(self, t: Type, a: Value, b: Value) -> Value:
        return self._extreme("maximumnum", t, a, b)

    def _extreme(self, name: str, t: Type, a: Value, b: Value) -> Value:
        x, y = (self._native(t, self.any_nan(t, v)) for v in (a, b))
        found = self.extreme(name, x, y)
        return self.float_to_float(F32, t, found, "rn") if t in _HALVES else found

    def round_integral(self, t: Type, a: Value, rounding: Rounding) -> Value:
        rounded = self._integral(t, self._native(t, self.any_nan(t, a)), rounding)
        return self.float_to_float(F32, t, rounded, "rn") if t in _HALVES else rounded

    def _integral(self, t: Type, a: Value, rounding: Rounding) -> Value:
        if self.features & _ROUNDING_FEATURES:
            return self.intrinsic(_ROUNDED[rounding], a)
        return exact.round_integral(self, F32 if t in _HALVES else t, a, rounding)

    # -- conversions ---------------------------------------------------------------------------

    def float_to_float(self, source: Type, target: Type, a: Value, rounding: Rounding) -> Value:
        if source == target:
            return a
        if source in _HALVES:
            return self.float_to_float(F32, target, self._widen_half(source, a), rounding)
        if target == F64:
            return self.cast("fpext", "double", a)
        if target == F32 and rounding == "rn":
            return self.cast("fptrunc", "float", a)
        if source == F32 and target == F16 and "f16c" in self.features:
            if rounding == "rn":
                return self.cast("bitcast", "i16", self.cast("fptrunc", "half", a))
            return self._to_f16(a, rounding)
        return exact.narrow(self, source, target, a, rounding)

    def _widen_half(self, source: Type, a: Value) -> Value:
        if source == F16 and "f16c" in self.features:
            return self.cast("fpext", "float", self.cast("bitcast", "half", a))
        return exact.widen_half(self, source, a)

    def _to_f16(self, a: Value, rounding: Rounding) -> Value:
        function = self.module.declare("llvm.x86.vcvtps2ph.256", "<8 x i16>", ("<8 x float>", "i32 immarg"))

        def call(piece: Value) -> Value:
            return self.emit(f"call <8 x i16> {function}({piece.typed}, i32 {_F16C[rounding]})", "i16", 8)

        return self.piecewise(8, call, a)

    def whole(self, a: Value) -> Value:
        return self.cast("fptosi", "i32", self._native(F32, self.any_nan(F32, a)))

    def float_to_int(self, source: Type, target: Type, a: Value, rounding: Rounding) -> Value:
        x = self._native(source, self.any_nan(source, a))
        if rounding != "rz":
            x = self._integral(source, x, rounding)
        low = -(2 ** (target.bits - 1)) if target.is_signed else 0
        high = low + 2**target.bits
        least, beyond = (Value(f"0x{_double_bits(float(v)):016X}", x.type) for v in (low, high))
        # What LLVM gives for a float outside the integer's range is not used; NaN is outside.
        inside = self.binary("and", self.test("fcmp oge", x, least), self.test("fcmp olt", x, beyond))
        safe = self.pick(inside, x, Value("0.0", x.type))
        result = self.cast("fptosi" if target.is_signed else "fptoui", element_type(target), safe)
        result = self.pick(self.test("fcmp oge", x, beyond), self.number(result.type, high - 1), result)
        if not target.is_signed:  # below the range is 0 already
            return result
        return self.pick(self.test("fcmp olt", x, least), self.number(result.type, low), result)

    def int_to_float(self, source: Type, target: Type, a: Value, rounding: Rounding) -> Value:
        fits = target in (F32, F64) and source.bits <= exact.format_of(target).mantissa
        if fits or (rounding == "rn" and target.is_native_float):
            result = self.cast("sitofp" if source.is_signed else "uitofp", element_type(target), a)
            return Normal(result.ir, result.type, result.width) if target == F32 else result

        if target == F32 and source.bits == F32.bits and "avx512f" in self.features:
            return self.rounded_integer(source, a, rounding)

        def run(builder: Builder, x: Value) -> Value:
            return exact.from_int(self.pure(builder, x.width), source, target, x, rounding)

        return self.outlined(f"from_int.{rounding}.{target.name}.{source.name}", element_type(target), run, a)


def _choose(m: LlvmAlgebra, p: Value, a: Value, b: Value) -> Value:
    return m.select(F64, p, a, b)
