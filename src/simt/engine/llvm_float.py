"""The pure primitives of the algebra as LLVM IR: floating point, and the whole pure algebra.

Rounding to nearest is what LLVM's own instructions do. For the other directions AVX-512 has embedded
rounding; elsewhere they, and fused multiply-adds on CPUs without them, are computed by `engine.exact`
in functions of their own. Nothing depends on fast-math flags or on a rounding mode of the CPU.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import cast

import llvmlite.binding as llvm

from simt.engine import exact, integers
from simt.engine.llvm_algebra import LlvmIntegers, element_type
from simt.engine.llvm_builder import Builder, Value, mangled, spell
from simt.isa.algebra import Comparison, Rounding
from simt.ptx.types import BF16, F16, F32, F64, U64, Type

_HALVES = (F16, BF16)
_ROUNDED = {"rn": "roundeven", "rz": "trunc", "rm": "floor", "rp": "ceil"}
_EMBEDDED = {"rn": 8, "rm": 9, "rp": 10, "rz": 11}
"""AVX-512 embedded rounding, exceptions suppressed."""
_F16C = {"rn": 0, "rm": 1, "rp": 2, "rz": 3}
"""The immediate operand of vcvtps2ph."""


def host_features() -> frozenset[str]:
    """Features of this machine's CPU, as `LlvmAlgebra` asks for them."""
    features = cast("dict[str, bool]", llvm.get_host_cpu_features())
    enabled = {name for name, on in features.items() if on}
    if platform.machine().lower() in ("aarch64", "arm64"):
        enabled |= {"fma", "round"}
    return frozenset(enabled)


class LlvmAlgebra(LlvmIntegers):
    """Constants, bits, integers and floating point. A subclass adds lanes and machine."""

    def mul_high(self, t: Type, a: Value, b: Value) -> Value:
        a, b = self.unify(a, b)
        if t.bits == U64.bits and a.width > 1:  # LLVM would take 128-bit products lane by lane
            return integers.mul_high_64(self, t, a, b)
        return super().mul_high(t, a, b)

    # -- representation ------------------------------------------------------------------------

    def to_bits(self, t: Type, a: Value) -> Value:
        return self.cast("bitcast", f"i{t.bits}", a) if t.is_native_float else a

    def from_bits(self, t: Type, a: Value) -> Value:
        return self.cast("bitcast", element_type(t), a) if t.is_native_float else a

    def compare(self, op: Comparison, t: Type, a: Value, b: Value) -> Value:
        if not t.is_float:
            return self.compare_integers(op, t, a, b)
        ordered = "one" if op == "ne" else f"o{op}"
        return self.test(f"fcmp {ordered}", self._native(t, a), self._native(t, b))

    def is_nan(self, t: Type, a: Value) -> Value:
        if t in _HALVES:
            f = exact.format_of(t)
            magnitude = self.binary("and", a, self.number(a.type, f.sign - 1))
            return self.test("icmp ugt", magnitude, self.number(a.type, f.infinity))
        return self.test("fcmp uno", a, a)

    def flush(self, t: Type, a: Value) -> Value:
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
        if rounding == "rn" and t.is_native_float and (name != "fma" or self._has_fma):
            return self._to_nearest(name, *values)
        if t.is_native_float and "avx512f" in self.features:
            return self._embedded(name, t, rounding, *values)

        def run(m: LlvmAlgebra, *parameters: Value) -> Value:
            return exactly(m, t, *parameters, rounding)

        return self.outlined(f"{name}.{rounding}.{t.name}", element_type(t), run, *values)

    @property
    def _has_fma(self) -> bool:
        return "fma" in self.features or "avx512f" in self.features

    def _to_nearest(self, name: str, *values: Value) -> Value:
        if name in ("fma", "sqrt"):
            return self.intrinsic(name, *values)
        return self.binary(f"f{name}", *values)

    def outlined(self, name: str, result: str, run: Callable[..., Value], *values: Value) -> Value:
        """`run(algebra, *values)` in a function of its own, which the module holds once for each width."""
        values = self.unify(*values)
        width = values[0].width
        full = f"simt.{name}.{width}"
        if not self.module.has(full):
            self.module.define(full, "")  # holds its place
            inner = LlvmAlgebra(Builder(), self.module, width, self.features)
            parameters = [Value(f"%a{i}", v.type, v.width) for i, v in enumerate(values)]
            value = run(inner, *parameters)
            head = f"define internal {value.spelled} @{full}({', '.join(p.typed for p in parameters)})"
            lines = (f"{head} {self.module.attributes} {{", *inner.builder.lines, f"  ret {value.typed}", "}")
            self.module.define(full, "\n".join(lines))
        operands = ", ".join(v.typed for v in values)
        return self.emit(f"call {spell(result, width)} @{full}({operands})", result, width)

    # -- 512-bit pieces ------------------------------------------------------------------------

    def _embedded(self, name: str, t: Type, rounding: Rounding, *values: Value) -> Value:
        """An AVX-512 instruction with its own rounding, on all lanes."""
        lanes = 512 // t.bits
        piece = spell(element_type(t), lanes)
        mnemonic = f"{'vfmadd' if name == 'fma' else name}.{'ps' if t == F32 else 'pd'}.512"
        function = self.module.declare(
            f"llvm.x86.avx512.{mnemonic}", piece, (*(piece for _ in values), "i32 immarg")
        )

        def call(*pieces: Value) -> Value:
            operands = ", ".join(p.typed for p in pieces)
            return self.emit(
                f"call {piece} {function}({operands}, i32 {_EMBEDDED[rounding]})", pieces[0].type, lanes
            )

        return self._piecewise(lanes, call, *values)

    def _piecewise(self, lanes: int, call: Callable[..., Value], *values: Value) -> Value:
        """Applies `call` to pieces of `lanes` lanes, and joins the results to the operands' width."""
        values = self.unify(*values)
        width = values[0].width
        if width == 1:
            return self._first(call(*(self._padded(v, lanes) for v in values)))
        results = [call(*(self._slice(v, start, lanes) for v in values)) for start in range(0, width, lanes)]
        while len(results) > 1:
            results = [self._join(results[i : i + 2]) for i in range(0, len(results), 2)]
        return self._slice(results[0], 0, width)

    def _padded(self, a: Value, lanes: int) -> Value:
        """A scalar in lane 0 among zeros."""
        wide = spell(a.type, lanes)
        return self.emit(f"insertelement {wide} zeroinitializer, {a.typed}, i64 0", a.type, lanes)

    def _first(self, a: Value) -> Value:
        return self.emit(f"extractelement {a.typed}, i64 0", a.type, 1)

    def _slice(self, a: Value, start: int, lanes: int) -> Value:
        """`lanes` lanes from `start` on; those past the end are arbitrary."""
        if start == 0 and lanes == a.width:
            return a
        return self._shuffle(a, a, [i if i < a.width else None for i in range(start, start + lanes)])

    def _join(self, pieces: list[Value]) -> Value:
        if len(pieces) == 1:
            return pieces[0]
        a, b = pieces
        if b.width < a.width:
            b = self._slice(b, 0, a.width)
        return self._shuffle(a, b, list(range(a.width + b.width)))

    def _shuffle(self, a: Value, b: Value, lanes: list[int | None]) -> Value:
        mask = ", ".join("i32 poison" if i is None else f"i32 {i}" for i in lanes)
        text = f"shufflevector {a.typed}, {b.typed}, <{len(lanes)} x i32> <{mask}>"
        return self.emit(text, a.type, len(lanes))

    # -- extremes, integral values -------------------------------------------------------------

    def fmin(self, t: Type, a: Value, b: Value) -> Value:
        return self._extreme("minimumnum", t, a, b)

    def fmax(self, t: Type, a: Value, b: Value) -> Value:
        return self._extreme("maximumnum", t, a, b)

    def _extreme(self, name: str, t: Type, a: Value, b: Value) -> Value:
        found = self.intrinsic(name, self._native(t, a), self._native(t, b))
        return self.float_to_float(F32, t, found, "rn") if t in _HALVES else found

    def round_integral(self, t: Type, a: Value, rounding: Rounding) -> Value:
        rounded = self.intrinsic(_ROUNDED[rounding], self._native(t, a))
        return self.float_to_float(F32, t, rounded, "rn") if t in _HALVES else rounded

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

        return self._piecewise(8, call, a)

    def float_to_int(self, source: Type, target: Type, a: Value, rounding: Rounding) -> Value:
        x = self._native(source, a)
        if rounding != "rz":
            x = self.intrinsic(_ROUNDED[rounding], x)
        (x,) = self.unify(x)
        result = element_type(target)
        wide, name = spell(result, x.width), f"llvm.fpto{'s' if target.is_signed else 'u'}i.sat"
        function = self.module.declare(
            f"{name}.{mangled(result, x.width)}.{mangled(x.type, x.width)}", wide, (x.spelled,)
        )
        return self.emit(f"call {wide} {function}({x.typed})", result, x.width)

    def int_to_float(self, source: Type, target: Type, a: Value, rounding: Rounding) -> Value:
        fits = target in (F32, F64) and source.bits <= exact.format_of(target).mantissa
        if fits or (rounding == "rn" and target.is_native_float):
            return self.cast("sitofp" if source.is_signed else "uitofp", element_type(target), a)

        def run(m: LlvmAlgebra, x: Value) -> Value:
            return exact.from_int(m, source, target, x, rounding)

        return self.outlined(f"from_int.{rounding}.{target.name}.{source.name}", element_type(target), run, a)
