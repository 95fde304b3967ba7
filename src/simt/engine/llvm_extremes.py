"""The smaller and the greater of two floats.

AVX-512DQ has an instruction that takes the number if one operand is NaN, and -0 for less than +0. Only where
an operand is a signalling NaN it gives NaN: such a one is made quiet before, by the same instruction with
the operand twice, unless the operand is itself such a minimum or maximum. What LLVM makes of its own
operation is six instructions that wait for each other; with a number it is one or two, and stays.
"""

from __future__ import annotations

from functools import partial

from simt.engine.llvm_builder import Value, element_bits, spell
from simt.engine.llvm_loose import Loose, Quiet, is_literal, raw
from simt.engine.llvm_seldom import SeldomAlgebra

NEEDS = "avx512dq"
REGISTER = 512
SCALAR = 128
"""Bits of the vector of which a scalar is the first element."""
_SUFFIXES = {"float": "s", "double": "d"}
_WAYS = {"minimumnum": 4, "maximumnum": 5}
"""The instruction's operand: which one is taken, with its own sign."""
QUIETS = _WAYS["minimumnum"]
_HERE = "i32 4"
"""Exceptions as the CPU's control register says."""


class ExtremeAlgebra(SeldomAlgebra):
    """`SeldomAlgebra` with minimum and maximum of columns of `float` or `double`."""

    @property
    def has_extremes(self) -> bool:
        return NEEDS in self.features

    def extreme(self, name: str, a: Value, b: Value) -> Value:
        """`minimumnum` or `maximumnum`, in LLVM's words."""
        if not self.has_extremes or is_literal(a) or is_literal(b):
            return self.intrinsic(name, a, b)
        way = _WAYS[name]
        found = self._taken(way, self._quiet(a), self._quiet(b))
        return Quiet(found.ir, found.type, found.width)

    def quieted(self, value: Value) -> Value:
        """The column without signalling NaNs, with the same notes."""
        quiet = self._quiet(raw(value))
        quiet = Quiet(quiet.ir, quiet.type, quiet.width)
        return value.changed(quiet) if isinstance(value, Loose) else quiet

    def _quiet(self, a: Value) -> Value:
        """LLVM would take a product with one for its operand, and makes no code of its own `canonicalize` for
        some short vectors."""
        return a if isinstance(raw(a), Quiet) else self._taken(QUIETS, a, a)

    def _taken(self, way: int, a: Value, b: Value) -> Value:
        x, y = self.unify(a, b)
        if x.width == 1:
            return self._of_scalars(way, x, y)
        return self.piecewise(REGISTER // element_bits(x.type), partial(self._of_registers, way), x, y)

    def _of_registers(self, way: int, x: Value, y: Value) -> Value:
        element, mask = _SUFFIXES[x.type], f"i{x.width}"
        parameters = (x.spelled, x.spelled, "i32 immarg", x.spelled, mask, "i32 immarg")
        name = self.module.declare(f"llvm.x86.avx512.mask.range.p{element}.{REGISTER}", x.spelled, parameters)
        operands = f"{x.typed}, {y.typed}, i32 {way}, {x.spelled} poison, {mask} -1, {_HERE}"
        return self.emit(f"call {x.spelled} {name}({operands})", x.type, x.width)

    def _of_scalars(self, way: int, x: Value, y: Value) -> Value:
        """The same in the first lane of a short vector, whose others do not matter."""
        vector = spell(x.type, SCALAR // element_bits(x.type))
        parameters = (vector, vector, vector, "i8", "i32 immarg", "i32 immarg")
        name = self.module.declare(f"llvm.x86.avx512.mask.range.s{_SUFFIXES[x.type]}", vector, parameters)
        first = f"insertelement {vector} poison, "
        a, b = (self.builder.emit(f"{first}{v.typed}, i64 0") for v in (x, y))
        operands = f"{vector} {a}, {vector} {b}, {vector} poison, i8 -1, i32 {way}, {_HERE}"
        found = self.builder.emit(f"call {vector} {name}({operands})")
        return self.emit(f"extractelement {vector} {found}, i64 0", x.type, 1)
