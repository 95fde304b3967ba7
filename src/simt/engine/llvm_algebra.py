"""The pure primitives of the algebra as LLVM IR: constants, bits and integers (floats: `llvm_float`).

A primitive whose operands are all scalars emits a scalar instruction; otherwise scalars are splat and
it emits vector instructions. A subclass may hold values in other forms: it overrides `vector` and
`unify`, through which every operand is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache

from simt.engine import host, llvm_folding, llvm_known_columns
from simt.engine.llvm_builder import Builder, ModuleText, Value, mangled, spell
from simt.isa.algebra import Comparison
from simt.ptx.types import F32, F64, U32, U64, Type

UNSIGNED = {"eq": "eq", "ne": "ne", "lt": "ult", "le": "ule", "gt": "ugt", "ge": "uge"}
SIGNED = {"eq": "eq", "ne": "ne", "lt": "slt", "le": "sle", "gt": "sgt", "ge": "sge"}


@cache
def element_type(t: Type) -> str:
    """The LLVM element type of a column of type `t`."""
    if t == F32:
        return "float"
    if t == F64:
        return "double"
    return f"i{t.bits}"


def integer_text(bits: int, width: int) -> str:
    """An integer constant's text."""
    if width == 1:
        return "true" if bits else "false"
    return str(bits - 2**width if bits >> (width - 1) else bits)


@lru_cache(4096)
def _number(element: str, value: int) -> Value:
    width = int(element[1:])
    return Value(integer_text(value % 2**width, width), element)


def float_text(t: Type, bits: int) -> str:
    """A floating-point constant by its bits. LLVM writes floats as doubles of the same value."""
    if t == F64:
        return f"0x{bits:016X}"
    sign, exponent, fraction = bits >> 31, (bits >> 23) & 0xFF, bits & 0x7FFFFF
    if exponent == 0:  # zero, or a subnormal: normal as a double
        length = fraction.bit_length()
        exponent = 0 if fraction == 0 else 1023 - 150 + length
        fraction = (fraction << (24 - length)) & 0x7FFFFF if fraction else 0
    else:
        exponent = 2047 if exponent == 255 else exponent + 1023 - 127
    return f"0x{sign << 63 | exponent << 52 | fraction << 29:016X}"


FENCED = {"i16": ("float", 2), "i32": ("float", 1), "i64": ("double", 1)}
"""As what vectors of integers pass a fence: the type of numbers, and how many elements make one of it."""
NUMBERS = frozenset({"float", "double"})
DEEP = 3
"""Operations in a chain after which a sum or product gets a fence."""
CHOICES = 6
"""Choices between numbers in a chain of operations of which the last gets a fence."""
_OPERAND = re.compile(r"%[\w.]+")
FLOAT_OF = {("i32", 1 << 31): "float", ("i64", 1 << 63): "double"}
"""Types of numbers, by the integers of their size and the bit of their sign."""


def _reals(t: Type) -> tuple[str, str]:
    """The floats in which integers of a type are divided, and integers of their size."""
    return ("float", "i32") if t.bits <= 16 else ("double", "i64")


def _conversions(t: Type) -> tuple[str, str]:
    """From integers to floats and back."""
    return ("sitofp", "fptosi") if t.is_signed else ("uitofp", "fptoui")


class LlvmIntegers:
    """Constants, choice, bits and integers.

    `fences`: the code is of a long block, in which chains of operations on columns are cut. For each sum
    LLVM's code generator looks, four times, for the bits that are known of what its operands are made of, six
    operations deep: two thirds of its time for long chains. For each test of a number its passes look for
    whether it can be a NaN, past both operands of choices. They do not look past a fence, which stands for no
    instruction.

    `folds_columns`: what is made of columns whose lanes are known is not emitted. (CPUs with AVX-512 look
    lanes up as fast by a register as by a known order, which is all that LLVM would not find for itself.)
    """

    fences = False
    fence_lines = 0
    """Lines of fences so far, for which nothing is made."""

    def __init__(
        self, builder: Builder, module: ModuleText, width: int = 32, features: frozenset[str] = frozenset()
    ) -> None:
        """`width`: lanes of a vector. `features`: of the target CPU, by LLVM's names (`avx512f`)."""
        self.builder = builder
        self.module = module
        self.width = width
        self.features = features
        self.folds_columns = host.pieces(features) > 1
        self._declared: dict[tuple[object, ...], str] = {}  # intrinsics, by names and types
        self._depths: dict[str, int] = {}  # operations on integers since the last fence, by a value's name
        self._choices: dict[str, int] = {}  # between numbers since the last fence, by a column's name
        self._uncast: dict[str, Value] = {}  # what bitcasts were made of, by their names

    # -- operands ----------------------------------------------------------------------------

    def vector(self, value: Value) -> Value:
        """The value as a vector of `self.width` lanes."""
        if value.width != 1 or self.width == 1:
            return value
        if not value.ir.startswith("%"):
            return Value(f"splat ({value.type} {value.ir})", value.type, self.width)
        wide = spell(value.type, self.width)
        one = self.builder.emit(f"insertelement {wide} poison, {value.typed}, i64 0")
        mask = f"<{self.width} x i32> zeroinitializer"
        all_lanes = self.builder.emit(f"shufflevector {wide} {one}, {wide} poison, {mask}")
        return Value(all_lanes, value.type, self.width)

    def unify(self, *values: Value) -> tuple[Value, ...]:
        """The values at one common width: all scalars, or all vectors."""
        if all(v.width == 1 for v in values):
            return values
        return tuple(self.vector(v) for v in values)

    # -- emitting ----------------------------------------------------------------------------

    def emit(self, text: str, element: str, width: int) -> Value:
        name = self.builder.emit(text)
        if self._choices and self.fences and width > 1 and element in NUMBERS:
            choices = max([self._choices.get(operand, 0) for operand in _OPERAND.findall(text)], default=0)
            if choices:
                self._choices[name] = choices
        return Value(name, element, width)

    def binary(self, opcode: str, a: Value, b: Value) -> Value:
        known = self._folded(opcode, a, b) if a.width == 1 or b.width == 1 else None
        if known is not None:
            return known
        a, b = self.unify(a, b)
        known = llvm_known_columns.binary(opcode, a, b) if self.folds_columns and a.width > 1 else None
        if known is not None:
            return known
        result = self.emit(f"{opcode} {a.typed}, {b.ir}", a.type, a.width)
        return self._cut(opcode, result, a, b) if self.fences else result

    def _cut(self, opcode: str, result: Value, a: Value, b: Value) -> Value:
        """The result of an operation on integers, behind a fence if the chain of those before it is long."""
        depth = 1 + max(self._depths.get(a.ir, 0), self._depths.get(b.ir, 0))
        if depth < DEEP or result.type not in FENCED or not self._ends_chain(opcode, a, b):
            self._depths[result.ir] = depth
            return result
        return self.fenced(result)

    def _ends_chain(self, opcode: str, a: Value, b: Value) -> bool:
        """Of scalars only products that are no part of an address; their fence is x86's."""
        if a.width > 1:
            return opcode in ("add", "sub", "mul")
        return opcode == "mul" and a.literal is None and b.literal is None and "sse2" in self.features

    def fenced(self, column: Value) -> Value:
        """A column of which LLVM does not look at how it was made."""
        if column.type in FENCED:
            return self._fenced_integers(column)
        self.fence_lines += 1
        return Value(self.builder.emit(self._fence(column)), column.type, column.width)

    def _fence(self, numbers: Value) -> str:
        kind = numbers.spelled
        name = f"llvm.arithmetic.fence.{mangled(numbers.type, numbers.width)}"
        return f"call {kind} {self.module.declare(name, kind, (kind,))}({numbers.typed})"

    def _fenced_integers(self, column: Value) -> Value:
        """Fences are for numbers. Scalars would go to other registers for that: theirs is assembly of no
        instructions."""
        if column.width == 1:
            self.fence_lines += 1
            return self.emit(f'call {column.type} asm "", "=r,0"({column.typed})', column.type, 1)
        number, count = FENCED[column.type]
        width = column.width // count
        self.fence_lines += 3
        start = Value(self.builder.emit(f"bitcast {column.typed} to {spell(number, width)}"), number, width)
        end = Value(self.builder.emit(self._fence(start)), number, width)
        return self.emit(f"bitcast {end.typed} to {column.spelled}", column.type, column.width)

    def _folded(self, opcode: str, a: Value, b: Value) -> Value | None:
        """The result if one or both operands, as constants, tell it."""
        x, y = a.literal, b.literal
        if x is None and y is None:
            return None
        bits = int(a.type[1:])
        if x is not None and y is not None:
            result = llvm_folding.binary(opcode, bits, x, y)
            return None if result is None else self.number(a.type, result)
        known, constant, other = (x, a, b) if y is None else (y, b, a)
        assert known is not None
        if llvm_folding.decides(opcode, bits, known):
            return constant
        if llvm_folding.leaves_other(opcode, bits, known, second=constant is b):
            return self.unify(other)[0]
        return None

    def cast(self, opcode: str, element: str, a: Value) -> Value:
        if a.type == element:
            return a
        if a.literal is not None and element[0] == "i":
            result = llvm_folding.resized(opcode, int(a.type[1:]), int(element[1:]), a.literal)
            if result is not None:
                return self.number(element, result)
        (a,) = self.unify(a)
        if opcode != "bitcast":
            return self.emit(f"{opcode} {a.typed} to {spell(element, a.width)}", element, a.width)
        before = self._uncast.get(a.ir)
        if before is not None and (before.type, before.width) == (element, a.width):
            return before
        result = self.emit(f"bitcast {a.typed} to {spell(element, a.width)}", element, a.width)
        self._uncast[result.ir] = a
        return result

    def intrinsic(self, name: str, *values: Value, extra: tuple[str, ...] = ()) -> Value:
        """Calls the overload of `llvm.name` for the operands' type; `extra` are constant operands."""
        if len(values) == 2:
            known = self._folded(name, *values)
            if known is not None:
                return known
        values = self.unify(*values)
        first = values[0]
        kinds = [value.spelled for value in values]
        key = (name, extra, *kinds)
        full = self._declared.get(key)
        if full is None:
            parameters = (*kinds, *(e.split()[0] for e in extra))
            mangled_name = f"llvm.{name}.{mangled(first.type, first.width)}"
            full = self._declared[key] = self.module.declare(mangled_name, kinds[0], parameters)
        operands = ", ".join([*[f"{kind} {v.ir}" for kind, v in zip(kinds, values)], *extra])
        return self.emit(f"call {kinds[0]} {full}({operands})", first.type, first.width)

    def pick(self, p: Value, a: Value, b: Value) -> Value:
        if p.literal is not None:
            return self.unify(a if p.literal else b)[0]
        p, a, b = self.unify(p, a, b)
        known = llvm_known_columns.pick(p, a, b) if self.folds_columns and p.width > 1 else None
        if known is not None:
            return known
        chosen = self.emit(f"select {p.typed}, {a.typed}, {b.typed}", a.type, a.width)
        return self._cut_choice(chosen) if self.fences and chosen.width > 1 else chosen

    def _cut_choice(self, chosen: Value) -> Value:
        """What is chosen, behind a fence if the numbers that it is chosen from have been chosen often."""
        if chosen.type not in NUMBERS:
            return chosen
        choices = 1 + self._choices.get(chosen.ir, 0)
        if choices == CHOICES:
            return self.fenced(chosen)
        self._choices[chosen.ir] = choices
        return chosen

    def test(self, condition: str, a: Value, b: Value) -> Value:
        """A comparison: `condition` as in `icmp ult` or `fcmp olt`."""
        if a.literal is not None and b.literal is not None:
            result = llvm_folding.test(condition, int(a.type[1:]), a.literal, b.literal)
            if result is not None:
                return self.number("i1", result)
        a, b = self.unify(a, b)
        known = llvm_known_columns.test(condition, a, b) if self.folds_columns and a.width > 1 else None
        return known or self.emit(f"{condition} {a.typed}, {b.ir}", "i1", a.width)

    def number(self, element: str, value: int) -> Value:
        """An integer constant of an LLVM type."""
        return _number(element, value)

    def outlined(self, name: str, result: str, run: Callable[..., Value], *values: Value) -> Value:
        """`run(builder, *parameters)` as a function of its own: one in the module for each width.

        It is never inlined: copies of a long one cost LLVM many times what a call costs the kernel."""
        values = self.unify(*values)
        width = values[0].width
        full = f"simt.{name}.{width}"
        if not self.module.has(full):
            self.module.define(full, "")  # holds its place, should it need others
            builder = Builder()
            parameters = [Value(f"%a{i}", v.type, v.width) for i, v in enumerate(values)]
            value = run(builder, *parameters)
            typed = ", ".join(p.typed for p in parameters)
            head = f"define internal {value.spelled} @{full}({typed}) noinline {self.module.attributes} {{"
            self.module.define(full, "\n".join((head, *builder.lines, f"  ret {value.typed}", "}")))
        operands = ", ".join(v.typed for v in values)
        return self.emit(f"call {spell(result, width)} @{full}({operands})", result, width)

    # -- constants, choice -------------------------------------------------------------------

    def const(self, t: Type, bits: int) -> Value:
        if t.is_native_float:
            return Value(float_text(t, bits), element_type(t))
        return self.number(element_type(t), bits)

    def select(self, t: Type, p: Value, a: Value, b: Value) -> Value:
        if p.literal is not None:
            return a if p.literal else b
        return self.pick(p, a, b)

    # -- bits --------------------------------------------------------------------------------

    def and_(self, t: Type, a: Value, b: Value) -> Value:
        return self.binary("and", a, b)

    def or_(self, t: Type, a: Value, b: Value) -> Value:
        return self.binary("or", a, b)

    def xor(self, t: Type, a: Value, b: Value) -> Value:
        """Where a sign changes, LLVM is told of the negation, which then is part of a fused operation."""
        number = None if b.literal is None else FLOAT_OF.get((a.type, b.literal))
        if number is not None and a.literal is None:
            (negated,) = self.unify(self.cast("bitcast", number, a))
            flipped = self.emit(f"fneg {negated.typed}", number, negated.width)
            return self.cast("bitcast", a.type, flipped)
        return self.binary("xor", a, b)

    def invert(self, t: Type, a: Value) -> Value:
        return self.binary("xor", a, self.number(a.type, -1))

    def shift_left(self, t: Type, a: Value, n: Value) -> Value:
        return self._shift_out("shl", t, a, n)

    def shift_right(self, t: Type, a: Value, n: Value) -> Value:
        if not t.is_signed:
            return self._shift_out("lshr", t, a, n)
        if n.literal is not None:
            return self.binary("ashr", a, self.number(a.type, min(n.literal, t.bits - 1)))
        clamped = self.intrinsic("umin", n, self.number(n.type, t.bits - 1))
        return self.binary("ashr", a, self._as_width(clamped, a.type))

    def _shift_out(self, opcode: str, t: Type, a: Value, n: Value) -> Value:
        """A shift that leaves zeros; what LLVM gives for amounts of the width or more is not used."""
        zero = self.number(a.type, 0)
        if n.literal is not None:
            if n.literal >= t.bits:
                return zero
            return self.binary(opcode, a, self.number(a.type, n.literal)) if n.literal else a
        shifted = self.binary(opcode, a, self._as_width(n, a.type))
        return self.pick(self.test("icmp ult", n, self.number(n.type, t.bits)), shifted, zero)

    def _as_width(self, a: Value, element: str) -> Value:
        """Zero-extended or cut to an LLVM integer type."""
        return self.cast("zext" if int(a.type[1:]) < int(element[1:]) else "trunc", element, a)

    def popcount(self, t: Type, a: Value) -> Value:
        return self._as_width(self.intrinsic("ctpop", a), element_type(U32))

    def leading_zeros(self, t: Type, a: Value) -> Value:
        return self._as_width(self.intrinsic("ctlz", a, extra=("i1 false",)), element_type(U32))

    def reverse_bits(self, t: Type, a: Value) -> Value:
        return self.intrinsic("bitreverse", a)

    # -- integers ----------------------------------------------------------------------------

    def add(self, t: Type, a: Value, b: Value) -> Value:
        return self.binary("add", a, b)

    def sub(self, t: Type, a: Value, b: Value) -> Value:
        return self.binary("sub", a, b)

    def mul(self, t: Type, a: Value, b: Value) -> Value:
        return self.binary("mul", a, b)

    def mul_high(self, t: Type, a: Value, b: Value) -> Value:
        extend, wide = "sext" if t.is_signed else "zext", f"i{2 * t.bits}"
        product = self.binary("mul", self.cast(extend, wide, a), self.cast(extend, wide, b))
        return self.cast("trunc", a.type, self.binary("lshr", product, self.number(wide, t.bits)))

    def divide(self, t: Type, a: Value, b: Value) -> Value:
        by_zero = self.test("icmp eq", b, self.number(b.type, 0))
        quotient, _ = self._safe_quotient(t, a, b, by_zero)
        return self.pick(by_zero, self.number(a.type, -1), quotient)

    def remainder(self, t: Type, a: Value, b: Value) -> Value:
        by_zero = self.test("icmp eq", b, self.number(b.type, 0))
        product = self.binary("mul", *self._safe_quotient(t, a, b, by_zero))
        return self.pick(by_zero, self.number(a.type, -1), self.binary("sub", a, product))

    def divide_short(self, t: Type, a: Value, b: Value) -> Value:
        return self._by_zero_short(a, b, LlvmIntegers.divide(self, t, a, b))

    def remainder_short(self, t: Type, a: Value, b: Value) -> Value:
        return self._by_zero_short(a, b, LlvmIntegers.remainder(self, t, a, b))

    def _by_zero_short(self, a: Value, b: Value, found: Value) -> Value:
        """Of a zero divisor, where the dividend has no upper half, the lower half."""
        by_zero = self.test("icmp eq", b, self.number(b.type, 0))
        small = self.test("icmp ult", a, self.number(a.type, 2**U32.bits))
        return self.pick(self.binary("and", by_zero, small), self.number(found.type, 2**U32.bits - 1), found)

    def _safe_quotient(self, t: Type, a: Value, b: Value, by_zero: Value) -> tuple[Value, Value]:
        """The quotient modulo 2^bits (that of the least integer by -1 is itself, by 0 it is anything), and
        its divisor. Of scalars it is what was divided by: LLVM then sees that a CPU's division gives the
        remainder, too."""
        (a,), (b,) = self.unify(a), self.unify(b)
        if b.width < a.width and b.literal is None and t.bits < U64.bits:
            return self._quotient_by_few(t, a, b, by_zero), b
        safe = self._safe_divisor(t, a, b, by_zero)
        return self._quotient(t, a, safe), safe

    def _safe_divisor(self, t: Type, a: Value, b: Value, by_zero: Value) -> Value:
        """1 in place of 0, and of -1 under the least integer (whose quotient it leaves right)."""
        if b.literal is not None and b.literal not in (0, 2**t.bits - 1):
            return b
        unsafe = by_zero
        if t.is_signed:
            least = self.test("icmp eq", a, self.number(a.type, 1 << (t.bits - 1)))
            minus_one = self.test("icmp eq", b, self.number(b.type, -1))
            unsafe = self.binary("or", by_zero, self.binary("and", least, minus_one))
        return self.pick(unsafe, self.number(b.type, 1), b)

    def _quotient(self, t: Type, a: Value, b: Value) -> Value:
        opcode = "sdiv" if t.is_signed else "udiv"
        constant = b.literal is not None
        a, b = self.unify(a, b)
        if a.width == 1 or constant or t.bits == U64.bits:
            return self.binary(opcode, a, b)
        return self._float_quotient(t, a, b)

    def _quotient_by_few(self, t: Type, a: Value, b: Value, by_zero: Value) -> Value:
        """By a divisor that lanes share. -1 is left to a change of sign, as no float is right for the least
        integer."""
        if not t.is_signed:
            return self._float_product(t, a, self.pick(by_zero, self.number(b.type, 1), b))
        minus_one = self.test("icmp eq", b, self.number(b.type, -1))
        unsafe = self.binary("or", by_zero, minus_one)
        quotient = self._float_product(t, a, self.pick(unsafe, self.number(b.type, 1), b))
        sign = self.cast("sext", b.type, minus_one)
        return self.binary("sub", self.binary("xor", quotient, sign), sign)

    def _float_product(self, t: Type, a: Value, b: Value) -> Value:
        """The quotient as a product with a float that is above 1/b, by a unit and a half in its last place at
        most. So an integer is never missed from below, and the next one is not reached: what it takes to get
        there, 1/b, is more than five roundings of the quotient (b times the quotient is below 2^33 in f64,
        and below 2^17 in f32)."""
        (real, bits), (to_real, back) = _reals(t), _conversions(t)
        one, divisor = Value("1.0", real), self.cast(to_real, real, b)
        inverse = self.cast("bitcast", bits, self.binary("fdiv", one, divisor))
        above = self.cast("bitcast", real, self.binary("add", inverse, self.number(bits, 1)))
        return self.cast(back, a.type, self.binary("fmul", self.cast(to_real, real, a), above))

    def _float_quotient(self, t: Type, a: Value, b: Value) -> Value:
        """CPUs divide vectors of floats only. Truncation is right: a quotient that is not an integer is at
        least 1/b away from the next, further than it can be rounded (b below 2^32 in f64, 2^16 in f32)."""
        (real, _), (to_real, back) = _reals(t), _conversions(t)
        x, y = self.cast(to_real, real, a), self.cast(to_real, real, b)
        return self.cast(back, a.type, self.binary("fdiv", x, y))

    def minimum(self, t: Type, a: Value, b: Value) -> Value:
        known = self._below_greatest(t, a, b)
        return self.intrinsic("smin" if t.is_signed else "umin", a, b) if known is None else known[0]

    def maximum(self, t: Type, a: Value, b: Value) -> Value:
        known = self._below_greatest(t, a, b)
        return self.intrinsic("smax" if t.is_signed else "umax", a, b) if known is None else known[1]

    def _below_greatest(self, t: Type, a: Value, b: Value) -> tuple[Value, ...] | None:
        """The smaller and the larger one if one is the greatest unsigned integer, as columns of one width.
        The code generation of LLVM 20 takes the difference of both for `x + 1` then, on CPUs that do not
        compare unsigned integers of that size (`sad.u64` of all ones)."""
        if t.is_signed or (greatest := (1 << t.bits) - 1) not in (a.literal, b.literal):
            return None
        return self.unify(*((a, b) if b.literal == greatest else (b, a)))

    def compare_integers(self, op: Comparison, t: Type, a: Value, b: Value) -> Value:
        return self.test(f"icmp {(SIGNED if t.is_signed else UNSIGNED)[op]}", a, b)

    def resize(self, source: Type, target: Type, a: Value) -> Value:
        if target.bits < source.bits:
            return self.cast("trunc", element_type(target), a)
        return self.cast("sext" if source.is_signed else "zext", element_type(target), a)
