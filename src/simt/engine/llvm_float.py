"""The pure primitives of the algebra as LLVM IR: floating point, and the whole pure algebra.

Rounding to nearest is what LLVM's own instructions do. For the other directions see `llvm_rounding`; where
the CPU has neither of its ways, and for fused multiply-adds on CPUs without them, `engine.exact` computes
the result. Nothing depends on fast-math flags or on the rounding mode that the caller has set.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import partial

import llvmlite.binding as llvm

from simt.engine import exact, integers
from simt.engine.llvm_algebra import element_type
from simt.engine.llvm_builder import Builder, Value, spell
from simt.engine.llvm_flushing import Flushed, Unflushed, is_far, raw
from simt.engine.llvm_rounding import LlvmRounding
from simt.isa.algebra import Comparison, Rounding
from simt.isa.derived import tiny_flushed
from simt.ptx.types import BF16, F16, F32, F64, U64, Type

_HALVES = (F16, BF16)
_ROUNDED = {"rn": "roundeven", "rz": "trunc", "rm": "floor", "rp": "ceil"}
_ROUNDING_FEATURES = frozenset({"sse4.1", "round"})
"""CPUs that round to integral values in one instruction."""
_HALF_FEATURES = frozenset({"f16c", "avx512fp16"})
"""CPUs that convert between f16 and f32, or compute in f16."""
_TESTED = 16
"""Lanes of a predicate that are tested at once: those of the widest registers' 32-bit numbers."""
_F16C = {"rn": 0, "rm": 1, "rp": 2, "rz": 3}
"""The immediate operand of vcvtps2ph."""


def _double_bits(x: float) -> int:
    return struct.unpack("<Q", struct.pack("<d", x))[0]


class LlvmAlgebra(LlvmRounding):
    """Constants, bits, integers and floating point. A subclass adds lanes and machine.

    `zeros`: the code runs where the CPU reads subnormals of single precision as zeros, and every operation on
    it flushes by its meaning."""

    zeros = False

    def mul_high(self, t: Type, a: Value, b: Value) -> Value:
        a, b = self.unify(a, b)
        if t.bits == U64.bits and a.width > 1:  # LLVM would take 128-bit products lane by lane
            return integers.mul_high_64(self, t, a, b)
        return super().mul_high(t, a, b)

    def rarely(self, t: Type, p: Value, usual: Value, other: Callable[..., Value], *operands: Value) -> Value:
        """By a function of its own that tests and branches, so that the code around it stays one block;
        LLVM puts it in place."""
        values = self.unify(p, usual, *operands)
        parameters = [Value(f"%a{i}", v.type, v.width) for i, v in enumerate(values)]
        builder = Builder()
        inner = self._inside(builder, parameters[0])
        some = inner.some(parameters[0])
        builder.void(f"br i1 {some}, label %rare, label %none")
        builder.label("rare")
        found = inner.pick(parameters[0], other(inner, *parameters[2:]), parameters[1])
        builder.void(f"ret {found.typed}")
        builder.label("none")
        builder.void(f"ret {parameters[1].typed}")
        name = self.module.inlined("simt.rarely", found.spelled, [v.typed for v in parameters], builder.lines)
        return self.emit(
            f"call {found.spelled} @{name}({', '.join(v.typed for v in values)})", found.type, found.width
        )

    def halfwise(self, function: Callable[..., Value], *operands: Value) -> Value:
        """On columns of twice as many lanes."""
        values = self.unify(*operands)
        width = values[0].width
        inner = LlvmAlgebra(self.builder, self.module, 2 * width, self.features)
        wide = spell("i16", 2 * width)
        halves = [self.emit(f"bitcast {v.typed} to {wide}", "i16", 2 * width) for v in values]
        result = inner.vector(function(inner, *halves))
        return self.emit(f"bitcast {result.typed} to {values[0].spelled}", "i32", width)

    def some(self, p: Value) -> str:
        """i1: whether a predicate that rarely holds does so in some lane."""
        expect = self.module.declare("llvm.expect.i1", "i1", ("i1", "i1 immarg"))
        while p.width > _TESTED:  # the halves are in registers of their own
            low, high = self.cut(p, p.width // 2)
            p = self.binary("or", low, high)
        lanes = p.ir
        if p.width > 1:
            bits = self.builder.emit(f"bitcast {p.typed} to i{p.width}")
            lanes = self.builder.emit(f"icmp ne i{p.width} {bits}, 0")
        return self.builder.emit(f"call i1 {expect}(i1 {lanes}, i1 false)")

    # -- representation ------------------------------------------------------------------------

    def const(self, t: Type, bits: int) -> Value:
        """Where the CPU flushes, LLVM does not learn of the numbers without which no constant result is tiny:
        it would round that as IEEE 754 says."""
        value = super().const(t, bits)
        if not (self.zeros and t == F32 and is_far(bits)):
            return value
        llvm.initialize_native_asmparser()  # LLVM ends the process if it meets assembly without it
        return self.emit(f'call float asm "", "=x,0"({value.typed})', "float", 1)

    def to_bits(self, t: Type, a: Value) -> Value:
        return self.cast("bitcast", f"i{t.bits}", a) if t.is_native_float else a

    def from_bits(self, t: Type, a: Value) -> Value:
        if t.is_native_float and a.literal is not None:
            return self.const(t, a.literal)
        return self.cast("bitcast", element_type(t), a) if t.is_native_float else a

    def compare(self, op: Comparison, t: Type, a: Value, b: Value) -> Value:
        if not t.is_float:
            return self.compare_integers(op, t, a, b)
        ordered = "one" if op == "ne" else f"o{op}"
        a, b = raw(a), raw(b)
        return self.test(f"fcmp {ordered}", self._native(t, a), self._native(t, b))

    def is_nan(self, t: Type, a: Value) -> Value:
        if t == F16 and "avx512fp16" in self.features:
            half = self.cast("bitcast", "half", a)
            return self.test("fcmp uno", half, half)
        if t in _HALVES:
            f = exact.format_of(t)
            magnitude = self.binary("and", a, self.number(a.type, f.sign - 1))
            return self.test("icmp ugt", magnitude, self.number(a.type, f.infinity))
        return self.test("fcmp uno", raw(a), raw(a))

    def flush(self, t: Type, a: Value) -> Value:
        if isinstance(a, (Unflushed, Flushed)):
            return a
        if self.zeros and t == F32:
            return Unflushed(a, partial(self.flush_bits, t))
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

    def _arithmetic(
        self, name: str, exactly: Callable[..., Value], t: Type, rounding: Rounding, *values: Value
    ) -> Value:
        """LLVM's own operation, the CPU's with embedded rounding, or the exact one in software."""
        if self.zeros and t == F32:
            values = tuple(map(raw, values))
        if rounding == "rn" and t.is_native_float and (name != "fma" or self._has_fma):
            return self._to_nearest(name, *values)
        if rounding == "rn" and t == F16 and not self.features.isdisjoint(_HALF_FEATURES):
            return self._half_to_nearest(name, *values)
        if t.is_native_float and "avx512f" in self.features:
            return self.embedded(name, t, rounding, *values)
        if t.is_native_float and {"avx", "fma"} <= self.features:
            return self.in_mode(name, t, rounding, *values)

        def run(builder: Builder, *parameters: Value) -> Value:
            return exactly(self._inside(builder, parameters[0]), t, *parameters, rounding)

        return self.outlined(f"{name}.{rounding}.{t.name}", element_type(t), run, *values)

    def _inside(self, builder: Builder, parameter: Value) -> LlvmAlgebra:
        """The pure algebra within an outlined function."""
        return LlvmAlgebra(builder, self.module, parameter.width, self.features)

    @property
    def _has_fma(self) -> bool:
        return "fma" in self.features or "avx512f" in self.features

    def _to_nearest(self, name: str, *values: Value) -> Value:
        if name in ("fma", "sqrt"):
            return self.intrinsic(name, *values)
        return self.binary(f"f{name}", *values)

    def _half_to_nearest(self, name: str, *values: Value) -> Value:
        """For f16: the CPU's own, or in f32, which has twice the digits and two more, and holds products."""
        if "avx512fp16" in self.features:
            halves = (self.cast("bitcast", "half", v) for v in values)
            return self.cast("bitcast", "i16", self._to_nearest(name, *halves))
        wide = [self._widen_half(F16, v) for v in values]
        if name == "fma":
            total = self._odd_sum(self.binary("fmul", *wide[:2]), wide[2])
        else:
            total = self._to_nearest(name, *wide)
        return self.float_to_float(F32, F16, total, "rn")

    def _odd_sum(self, a: Value, b: Value) -> Value:
        """An f32 sum; an inexact one becomes the odd one of its neighbours, fit to be rounded again. The
        operands are far from overflow and underflow (see `exact.odd_sum`)."""
        if "avx512f" in self.features:
            below, above = self.fadd(F32, a, b, "rm"), self.fadd(F32, a, b, "rp")
            return self.pick(self.cast("trunc", "i1", self.to_bits(F32, below)), below, above)
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
        found = self.intrinsic(name, self._native(t, a), self._native(t, b))
        return self.float_to_float(F32, t, found, "rn") if t in _HALVES else found

    def round_integral(self, t: Type, a: Value, rounding: Rounding) -> Value:
        rounded = self._integral(t, self._native(t, a), rounding)
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

    def float_to_int(self, source: Type, target: Type, a: Value, rounding: Rounding) -> Value:
        x = self._native(source, a)
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
            return self.cast("sitofp" if source.is_signed else "uitofp", element_type(target), a)

        def run(builder: Builder, x: Value) -> Value:
            return exact.from_int(self._inside(builder, x), source, target, x, rounding)

        return self.outlined(f"from_int.{rounding}.{target.name}.{source.name}", element_type(target), run, a)
