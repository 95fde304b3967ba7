"""LLVM columns of a warp that know when they are uniform or affine, and what lanes see of each other.

A value is held as narrow as its `Shape` allows: one scalar for the warp, one for each segment (row of
the CTA), or base and stride; only what truly varies is a vector of 32. The rules are those of
`simt.analysis.shape_algebra.ShapeAlgebra`: this class asks it for the shape of every result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import cast

from simt.analysis.range_algebra import UNKNOWN, Range, bounds
from simt.analysis.shape import (
    ALWAYS_ZERO,
    GUARDED,
    LIKELY,
    UNIFORM,
    VARYING,
    WARP,
    BlockShape,
    Shape,
    constant,
    trailing_zeros,
    unknown,
)
from simt.analysis.shape_algebra import ShapeAlgebra
from simt.engine.llvm_algebra import LlvmIntegers
from simt.engine.llvm_builder import Builder, ModuleText, Value, mangled, number_of, spell
from simt.engine.llvm_float import LlvmAlgebra
from simt.engine.llvm_loose import LooseBits
from simt.engine.llvm_patterns import Pattern
from simt.engine.llvm_permutations import PermutationAlgebra
from simt.engine.llvm_tiles import Product, Tiled
from simt.isa.algebra import Comparison, Environment
from simt.ptx.types import F32, S32, U32, U64, Type
from simt.records import dataclass, field, quick, replace

SENT = frozenset({"i32", "i64", "float", "double"})
"""What shuffles send."""
ALL = "splat (i1 true)"
"""The mask of a full warp."""


@quick
@dataclass(frozen=True, slots=True)
class Lanes(Value):
    """A value with a shape. Affine: `ir` holds the bases; otherwise all lanes."""

    shape: Shape = Shape(1)

    @property
    def literal(self) -> int | None:
        return number_of(self) if self.width == 1 and self.shape.stride == 0 else None


@quick
@dataclass(frozen=True, slots=True)
class Index:
    """What an extended column of 32 bits is, or an address made of it: `start` (i64; None if nothing was
    added) and `column` (i32, all lanes) elements of `2**shift` bytes."""

    column: Value
    is_signed: bool
    shift: int = 0
    start: Value | None = None


@quick
@dataclass(frozen=True, slots=True)
class Guarded(Lanes):
    """An affine value if the i1 `valid` holds; `lanes()` emits code for all lanes that is always right.

    Extending an affine 32-bit value gives one: it is affine unless it wraps within the warp. So does
    limiting one: it is affine unless it exceeds the limit in some lane. If it is `often_wrong`, all lanes
    are made at once, and `lanes()` emits nothing: else the code for them would stand at each use.
    `pattern`: how lanes lie, `valid` or not. `guessed`: nothing speaks for it but that it is often so.
    `index`: what all lanes are, `valid` or not. `tile`: in what rows lanes are, `valid` or not."""

    valid: str = "true"
    lanes: Callable[[], Value] = field(default=lambda: Value("0", "i64"))
    often_wrong: bool = False
    pattern: Pattern | None = None
    guessed: bool = False
    index: Index | None = None
    tile: Product | Tiled | None = None

    @property
    def literal(self) -> int | None:
        return None


@quick
@dataclass(frozen=True, slots=True)
class Combined(Value):
    """A predicate of all lanes that is `whole and lanes` or `whole or lanes` (`opcode`). `whole`: the same
    for all lanes, and so worth a branch before the lanes' own are looked at."""

    opcode: str = "and"
    whole: Value = Value("true", "i1")
    lanes: Value = Value("true", "i1")


BARE = frozenset({Value, Lanes})
"""Classes of values that no more is known of than their shape, and whose text stands already."""


def shape_of(value: Value) -> Shape:
    if value.__class__ is Value and (value.width != 1 or value.ir[0] == "%"):  # most are
        return unknown(value.width)
    if isinstance(value, Lanes):
        literal = value.literal if value.width == 1 else None
        if literal is None:
            return value.shape
        return replace(value.shape, const=literal, zeros=trailing_zeros(literal))
    literal = value.literal
    return unknown(value.width) if literal is None else constant(literal)


def _is_count(value: Value) -> bool:
    """Whether a value surely grows by 1 from lane to lane."""
    shape = shape_of(value)
    return shape.is_affine and (shape.width, shape.stride) == (1, 1)


def _is_flat(value: Value) -> bool:
    """Whether the value's own text is what it says for all lanes."""
    if not isinstance(value, Lanes):
        return True
    return not isinstance(value, Guarded) and (value.shape.stride == 0 or not value.shape.exact)


class BitMask(Value):
    """A mask that is an i32, `bits`: code that reads it as lanes makes them, once between two labels."""

    __slots__ = ("_known", "_m", "bits")
    bits: str
    _m: LaneAlgebra
    _known: tuple[int, str]

    def __init__(self, m: LaneAlgebra, bits: str) -> None:
        fields = {"bits": bits, "type": "i1", "width": WARP, "_m": m, "_known": (-1, "")}
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @property
    def ir(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        builder = self._m.builder
        if self._known[0] != builder.last_label:
            name = builder.emit(f"bitcast i{WARP} {self.bits} to <{WARP} x i1>")
            self._m.bits_of[name] = self.bits
            object.__setattr__(self, "_known", (builder.last_label, name))
        return self._known[1]


def bases(value: Value) -> Value:
    """The bases of an affine value as a plain one."""
    return value if value.__class__ is Value else Value(value.ir, value.type, value.width)


@lru_cache(256)
def _column(element: str, numbers: tuple[int, ...]) -> Value:
    """Integers of an LLVM type, one for each lane or segment."""
    bits = int(element[1:])
    texts = (f"{element} {(n + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)}" for n in numbers)
    return Value(f"<{', '.join(texts)}>", element, len(numbers))


class LaneAlgebra(PermutationAlgebra):
    """Affine arithmetic, masks and warp operations of one compiled function.

    `mask`: the lanes that execute (`<32 x i1>`). `seldom`: code is emitted that seldom runs: LLVM is not to
    compute lanes for it ahead of a loop. `bits_of`: masks that were made of an i32, with its name.
    `range_of`: what is known of an operand's lanes, running or not.
    """

    seldom = False

    def __init__(
        self,
        builder: Builder,
        module: ModuleText,
        features: frozenset[str],
        block: BlockShape,
        environment: Environment,
    ) -> None:
        super().__init__(builder, module, WARP, features)
        self.block = block
        self.environment = environment
        self.shapes = ShapeAlgebra(block)
        self.mask = Value(ALL, "i1", WARP)
        self.bits_of: dict[str, str] = {}
        self.range_of: Callable[[Value], Range] = lambda _: UNKNOWN

    # -- forms of a value ----------------------------------------------------------------------

    @property
    def segment(self) -> int:
        """Lanes in a segment."""
        return self.block.segment

    def vector(self, value: Value) -> Value:
        """All 32 lanes."""
        if value.__class__ is Value and value.width == WARP:
            return value
        if isinstance(value, Guarded):
            return value.lanes()
        stride = value.shape.stride if isinstance(value, Lanes) and value.shape.is_affine else 0
        if stride == 0:
            return self.widened(bases(value), WARP)
        wide = self.widened(self.hidden(bases(value)) if self.seldom else bases(value), WARP)
        segment = self.segment
        steps = self.constant_lanes(value.type, [stride * (lane % segment) for lane in range(WARP)])
        return LlvmIntegers.binary(self, "add", wide, steps)

    def hidden(self, value: Value) -> Value:
        """The same value, of which LLVM knows nothing: it comes out of memory."""
        place = self.builder.emit(f"alloca {value.spelled}, align 64")
        self.builder.void(f"store volatile {value.typed}, ptr {place}, align 64")
        kept = self.builder.emit(f"load volatile {value.spelled}, ptr {place}, align 64")
        return Value(kept, value.type, value.width)

    def widened(self, value: Value, width: int) -> Value:
        """Bases repeated for `width` segments."""
        if value.width == width:
            return value
        if value.width == 1:
            if not value.ir.startswith("%"):
                return Value(f"splat ({value.type} {value.ir})", value.type, width)
            full = spell(value.type, width)
            one = self.builder.emit_once(f"insertelement {full} poison, {value.typed}, i64 0")
            first = f"<{width} x i32> zeroinitializer"
            name = self.builder.emit_once(f"shufflevector {full} {one}, {full} poison, {first}")
            return Value(name, value.type, width)
        picks = ", ".join(f"i32 {i * value.width // width}" for i in range(width))
        return Value(
            self.builder.emit(
                f"shufflevector {value.typed}, {value.spelled} poison, <{width} x i32> <{picks}>"
            ),
            value.type, width,
        )  # fmt: skip

    def unify(self, *values: Value) -> tuple[Value, ...]:
        for value in values:
            if value.__class__ is not Value or value.width != values[0].width:
                break
        else:
            return values
        flat = [v if v.__class__ is Value else bases(v) if _is_flat(v) else self.vector(v) for v in values]
        if len(flat) == 2:  # most often
            a, b = flat
            if a.width < b.width:
                return self.widened(a, b.width), b
            return (a, b) if a.width == b.width else (a, self.widened(b, a.width))
        width = max([v.width for v in flat])
        return tuple([v if v.width == width else self.widened(v, width) for v in flat])

    def constant_lanes(self, element: str, numbers: Iterable[int]) -> Value:
        return _column(element, tuple(numbers))

    def as_shape(self, value: Value, shape: Shape) -> Value:
        """The value in the form in which a value of `shape` is stored (not narrower than it is)."""
        if shape.is_affine:
            return self.widened(bases(value), shape.width)
        return self.vector(value)

    def shaped(self, value: Value, shape: Shape) -> Lanes:
        """A stored form read back."""
        return Lanes(value.ir, value.type, value.width, shape)

    def narrowed(self, value: Value, shape: Shape) -> Lanes:
        """A value, held with more bases, that the analysis knows to have a shape: the first lane of each row
        tells. (It knows what a product has of zeros that no register held.)"""
        column = self.vector(value)
        firsts = range(0, WARP, WARP // shape.width)
        items = [self.builder.emit(f"extractelement {column.typed}, i32 {lane}") for lane in firsts]
        return self.shaped(self._assemble(column.type, items), shape)

    def _assemble(self, element: str, items: list[str]) -> Value:
        """Scalars as one value."""
        if len(items) == 1:
            return Value(items[0], element)
        whole = "poison"
        for i, item in enumerate(items):
            whole = self.builder.emit(
                f"insertelement {spell(element, len(items))} {whole}, {element} {item}, i32 {i}"
            )
        return Value(whole, element, len(items))

    # -- affine rules ----------------------------------------------------------------------------

    def _affine(self, shape: Shape, run: Callable[..., Value], *operands: Value) -> Value:
        """`run` on the bases if the result is affine, else on whatever `run` makes of the operands."""
        if shape.is_affine:
            result = run(*(self._first(bases(v), shape) for v in operands))
            if shape.const is not None or shape.zeros == ALWAYS_ZERO:
                result = self.number(result.type, shape.const or 0)
            shape = shape if shape.width == result.width else replace(shape, width=result.width)
            return Lanes(result.ir, result.type, result.width, shape)
        if shape.is_guarded:
            return self._guarded_affine(shape, run, operands)
        return self._varying(shape, run, *operands)

    def _varying(self, shape: Shape, run: Callable[..., Value], *operands: Value) -> Lanes:
        result = self.vector(run(*operands))
        likely = replace(shape, hold=LIKELY) if shape.width < WARP else shape
        return Lanes(result.ir, result.type, WARP, likely)

    def _guarded_affine(self, shape: Shape, run: Callable[..., Value], operands: tuple[Value, ...]) -> Value:
        """A guarded result of guarded and affine operands."""
        result = run(*(bases(v) for v in operands))
        valid = "true"
        unsure = [v for v in operands if isinstance(v, Guarded)]
        for operand in unsure:
            valid = self.both(valid, operand.valid)
        shape = replace(shape, width=result.width)
        lanes = partial(self._varying, shape, run, *operands)
        often_wrong = any(v.often_wrong for v in unsure) and result.type == "i32"
        guarded = self._guard(result, shape, valid, lanes, often_wrong)
        return replace(guarded, guessed=True) if any(v.guessed for v in unsure) else guarded

    def _guard(
        self, base: Value, shape: Shape, valid: str, lanes: Callable[[], Value], often_wrong: bool
    ) -> Guarded:
        if often_wrong:
            made = lanes()
            lanes = lambda: made  # noqa: E731
        return Guarded(base.ir, base.type, base.width, shape, valid, lanes, often_wrong)

    def sure(self, value: Guarded, *operands: Value) -> Value:
        """A guarded value, or in a trial (`simt.engine.llvm_trial`) what it is while its guard holds.
        `operands`: of which it is made."""
        return value

    def both(self, a: str, b: str) -> str:
        """i1: two conditions hold."""
        if "false" in (a, b):
            return "false"
        if "true" in (a, b):
            return b if a == "true" else a
        return a if a == b else self.builder.emit(f"and i1 {a}, {b}")

    def add(self, t: Type, a: Value, b: Value) -> Value:
        shape = self.shapes.add(t, shape_of(a), shape_of(b))
        return self._affine(shape, partial(LlvmAlgebra.add, self, t), a, b)

    def sub(self, t: Type, a: Value, b: Value) -> Value:
        shape = self.shapes.sub(t, shape_of(a), shape_of(b))
        return self._affine(shape, partial(LlvmAlgebra.sub, self, t), a, b)

    def invert(self, t: Type, a: Value) -> Value:
        run, shape = partial(LlvmAlgebra.invert, self, t), self.shapes.invert(t, shape_of(a))
        return run(a) if t.is_predicate else self._affine(shape, run, a)

    def mul(self, t: Type, a: Value, b: Value) -> Value:
        shape = self.shapes.mul(t, shape_of(a), shape_of(b))
        return self._affine(shape, partial(LlvmAlgebra.mul, self, t), a, b)

    def shift_left(self, t: Type, a: Value, n: Value) -> Value:
        shape = self.shapes.shift_left(t, shape_of(a), shape_of(n))
        return self._affine(shape, partial(LlvmAlgebra.shift_left, self, t), a, n)

    def minimum(self, t: Type, a: Value, b: Value) -> Value:
        return self._limited("le", t, partial(LlvmAlgebra.minimum, self, t), a, b)

    def maximum(self, t: Type, a: Value, b: Value) -> Value:
        return self._limited("ge", t, partial(LlvmAlgebra.maximum, self, t), a, b)

    def _limited(self, kept: Comparison, t: Type, run: Callable[..., Value], a: Value, b: Value) -> Value:
        """The smaller or larger of two values, `run`: that for which the comparison `kept` holds."""
        if shape_of(a).stride == 0:
            a, b = b, a
        rule = self.shapes.minimum if kept == "le" else self.shapes.maximum
        shape = rule(t, shape_of(a), shape_of(b))
        limited = self._affine(shape, run, a, b)
        if not isinstance(limited, Guarded):
            return limited
        start = self.widened(bases(a), shape.width)
        least = (kept == "ge") == (shape.stride > 0)
        step = 0 if least else shape.stride * (self.segment - 1)
        extreme = LlvmIntegers.binary(self, "add", start, self.number(start.type, step)) if step else start
        inside = self.compare_integers(kept, t, extreme, self.widened(bases(b), shape.width))
        unchanged = self.both(self._no_wrap(t, a), self._all(inside))
        return self.sure(replace(limited, ir=start.ir, valid=self.both(limited.valid, unchanged)), a, b)

    def _masked(self, t: Type, a: Value, b: Value) -> Value:
        """`and`. Of numbers that grow by 1 from a multiple of 32 on, a mask with five ones at the end takes
        those 32 lanes as they are, one with five zeros takes the same from all. Both are tested."""
        run = partial(LlvmAlgebra.and_, self, t)
        if _is_count(b):
            a, b = b, a
        if not (_is_count(a) and shape_of(b).is_uniform and self.segment == WARP and t.bits >= U32.bits):
            return run(a, b)
        known = b.literal
        if known is not None and known % WARP not in (0, WARP - 1):
            return run(a, b)
        stride = 0 if known is not None and known % WARP == 0 else 1
        valid = self.ends_with(bases(a), 0)
        if known is None:
            valid = self.both(valid, self.ends_with(bases(b), WARP - 1))
        start = run(bases(a), bases(b))
        lanes = partial(self._varying, VARYING, run, a, b)
        return self._guard(start, Shape(1, stride, GUARDED), valid, lanes, known is None)

    def ends_with(self, number: Value, bits: int) -> str:
        """i1: a scalar has these five bits at its end."""
        end = self.builder.emit(f"and {number.typed}, {WARP - 1}")
        return self.builder.emit(f"icmp eq {number.type} {end}, {bits}")

    def resize(self, source: Type, target: Type, a: Value) -> Value:
        if source.bits == target.bits:
            return a
        shape = self.shapes.resize(source, target, shape_of(a))
        run = partial(LlvmAlgebra.resize, self, source, target)
        if target.bits == U64.bits and shape_of(a).width == WARP:
            if source.bits < U32.bits:
                index = S32 if source.is_signed else U32
                return self.resize(index, target, self.resize(source, index, a))
            return self._consecutive(source, run, a)
        extended = self._affine(shape, run, a)
        if isinstance(extended, Guarded) and target.bits > source.bits:
            return self.sure(replace(extended, valid=self.both(extended.valid, self._no_wrap(source, a))), a)
        return extended

    def whole_product(self, t: Type, w: Type, a: Value, b: Value) -> Value:
        """Of two factors of which nothing is known it is no index: nobody asks whether they are."""
        if any(shape_of(factor).width < WARP for factor in (a, b)):
            return super().whole_product(t, w, a, b)
        a, b = (LlvmAlgebra.resize(self, t, w, self.vector(factor)) for factor in (a, b))
        return LlvmAlgebra.mul(self, w, a, b)

    def _consecutive(self, t: Type, run: Callable[..., Value], a: Value) -> Value:
        """An extended index of which nothing is known: often it grows by 1 from lane to lane, and then
        the arithmetic on the address that is made of it need not be done for all lanes."""
        a = self.vector(a)
        starts = self._assemble(a.type, self._segment_starts(a))
        guess = Lanes(starts.ir, a.type, starts.width, Shape(self.block.segments, 1))
        valid = self.both(self._all(self._agrees(a, guess)), self._no_wrap(t, guess))
        start = run(starts)
        shape = Shape(self.block.segments, 1, GUARDED)
        lanes = partial(self._varying, VARYING, run, a)
        index = Index(bases(a), t.is_signed)
        return Guarded(start.ir, start.type, start.width, shape, valid, lanes, guessed=True, index=index)

    def _segment_starts(self, value: Value) -> list[str]:
        """The first lane of each segment."""
        lanes = range(0, WARP, self.segment)
        return [self.builder.emit(f"extractelement {value.typed}, i32 {lane}") for lane in lanes]

    def _agrees(self, value: Value, guess: Value) -> Value:
        """i1 for each lane: it has the value that was guessed, or does not run."""
        same = self.test("icmp eq", value, self.vector(guess))
        if self.mask_is_full:
            return same
        return LlvmIntegers.binary(self, "or", same, self.invert_mask(self.mask))

    def _no_wrap(self, t: Type, a: Value) -> str:
        """i1: an affine value of type `t` does not wrap between the lanes of any segment."""
        stride = shape_of(a).stride
        step = stride * (self.segment - 1)
        if not -(2 ** (t.bits - 1)) <= step < 2 ** (t.bits - 1):
            return "false"
        least, most = bounds(t, self.range_of(a))
        if most - least < 2**t.bits - abs(stride):  # from lane to lane no value can go by the type's ends
            return "true"
        if t.is_signed:
            name, amount = "sadd", step
        else:
            name, amount = ("uadd", step) if step >= 0 else ("usub", -step)
        starts = bases(a)
        kind = f"{{ {starts.spelled}, {spell('i1', starts.width)} }}"
        other = self.widened(self.number(a.type, amount), starts.width)
        intrinsic = f"llvm.{name}.with.overflow.{mangled(a.type, starts.width)}"
        full = self.module.declare(intrinsic, kind, (starts.spelled, starts.spelled))
        pair = self.builder.emit(f"call {kind} {full}({starts.typed}, {other.typed})")
        wraps = self.builder.emit(f"extractvalue {kind} {pair}, 1")
        if starts.width == 1:
            return self.builder.emit(f"xor i1 {wraps}, true")
        bits = self.builder.emit(f"bitcast <{starts.width} x i1> {wraps} to i{starts.width}")
        return self.builder.emit(f"icmp eq i{starts.width} {bits}, 0")

    def select(self, t: Type, p: Value, a: Value, b: Value) -> Value:
        known = shape_of(p).const
        if known is not None:
            return a if known else b
        if p is self.mask:  # what lanes give that do not run is looked at
            return LlvmAlgebra.select(self, t, p, a, b)
        shape = self.shapes.select(t, shape_of(p), shape_of(a), shape_of(b))
        if shape.is_guarded and not shape_of(p).is_uniform:
            return self._usually_one(shape, partial(LlvmAlgebra.select, self, t), p, a, b)
        if shape.is_guarded or (shape.is_affine and (shape.stride or shape.zeros)):
            return self._affine(shape, partial(LlvmAlgebra.select, self, t), p, a, b)
        return super().select(t, p, a, b)

    def _usually_one(self, shape: Shape, run: Callable[..., Value], p: Value, a: Value, b: Value) -> Guarded:
        """A choice of one of two values, where all lanes choose the same: that which grows from lane to lane,
        or either if both do."""
        start, (valid, all_chosen) = self.widened(bases(b), shape.width), self._sides_of(p)
        if shape_of(a).stride == shape.stride:
            first = self.widened(bases(a), shape.width)
            if shape_of(b).stride == shape.stride:
                text = f"select i1 {all_chosen}, {first.typed}, {start.typed}"
                start = self.emit(text, first.type, first.width)
                valid = self.builder.emit(f"or i1 {valid}, {all_chosen}")
            else:
                start, valid = first, all_chosen
        for operand in (a, b):
            if isinstance(operand, Guarded):
                valid = self.both(valid, operand.valid)
        lanes = partial(self._varying, shape, run, p, a, b)
        return self._guard(start, replace(shape, width=start.width), valid, lanes, often_wrong=False)

    def _sides_of(self, p: Value) -> tuple[str, str]:
        """i1: no running lane has a predicate; all have it."""
        column = self.vector(p)
        chosen, others = (self.mask_and(self.mask, c) for c in (column, self.invert_mask(column)))
        return self._none(chosen), self._none(others)

    def _none(self, mask: Value) -> str:
        """i1: no lane is in a mask."""
        return self.builder.emit(f"icmp eq i32 {self.mask_bits(mask).ir}, 0")

    # -- predicates ------------------------------------------------------------------------------

    def compare(self, op: Comparison, t: Type, a: Value, b: Value) -> Value:
        known = self.shapes.compare(op, t, shape_of(a), shape_of(b)).const
        return super().compare(op, t, a, b) if known is None else Value("true" if known else "false", "i1")

    def compare_integers(self, op: Comparison, t: Type, a: Value, b: Value) -> Value:
        """The first lane is compared for all of them, if they lie on the same side."""
        if self.shapes.compare(op, t, shape_of(a), shape_of(b)).is_uniform:
            a, b = (bases(self._first(v, UNIFORM)) for v in (a, b))
        return super().compare_integers(op, t, a, b)

    def and_(self, t: Type, a: Value, b: Value) -> Value:
        if t.is_predicate:
            return self._with_whole("and", a, b, super().and_(t, a, b))
        shape = self.shapes.and_(t, shape_of(a), shape_of(b))
        if shape.is_affine:
            a, b = self._first(a, shape), self._first(b, shape)
            return self._affine(shape, partial(LlvmAlgebra.and_, self, t), a, b)
        if shape.is_guarded:
            index, mask = (b, a) if b.literal is None else (a, b)
            known = cast("int", mask.literal)
            bits = trailing_zeros(known + 1) or trailing_zeros(known)
            return self._part_in_row(shape, bits, partial(LlvmAlgebra.and_, self, t), index, mask)
        return self._masked(t, a, b)

    def _part_in_row(self, shape: Shape, bits: int, run: Callable[..., Value], a: Value, b: Value) -> Value:
        """What `run(a, b)` leaves of an index: what stands below some bits, or what stands above. That has a
        shape if the first and the last lane agree in what stands above."""
        start = bases(a)
        valid = a.valid if isinstance(a, Guarded) else "true"
        reach = shape_of(a).stride * (self.segment - 1)
        if reach:
            last = LlvmIntegers.binary(
                self, "add", start, self.widened(self.number(a.type, reach), start.width)
            )
            differ = LlvmIntegers.binary(self, "xor", start, last)
            limit = self.widened(self.number(a.type, 1 << bits), start.width)
            valid = self.both(valid, self._all(self.test("icmp ult", differ, limit)))
        first = run(start, b)
        lanes = partial(self._varying, VARYING, run, a, b)
        return self.sure(self._guard(first, replace(shape, width=first.width), valid, lanes, False), a)

    def _first(self, value: Value, shape: Shape) -> Value:
        """An operand of a result of a shape: what the first lane has, if the result is the same for all."""
        if shape.width > 1 or shape_of(value).width == 1:
            return value
        value = self.vector(value) if shape_of(value).width == WARP else bases(value)
        return Value(self.builder.emit(f"extractelement {value.typed}, i64 0"), value.type)

    def or_(self, t: Type, a: Value, b: Value) -> Value:
        shape = self.shapes.or_(t, shape_of(a), shape_of(b))
        if shape.is_affine and not t.is_predicate:
            return self._affine(shape, partial(LlvmAlgebra.or_, self, t), a, b)
        return self._with_whole("or", a, b, super().or_(t, a, b))

    def _with_whole(self, opcode: str, a: Value, b: Value, result: Value) -> Value:
        """Notes what of a predicate is the same for all lanes. `result`: of the operation."""
        whole, lanes = (a, b) if a.width == 1 else (b, a)
        if result.type != "i1" or (whole.width, lanes.width) != (1, WARP) or whole.literal is not None:
            return result
        whole = bases(whole)
        if isinstance(lanes, Combined) and lanes.opcode == opcode:
            whole, lanes = LlvmIntegers.binary(self, opcode, whole, lanes.whole), lanes.lanes
        return Combined(result.ir, result.type, result.width, opcode, whole, lanes)

    # -- bits of numbers that begin with a multiple of what they reach in a warp --------

    def xor(self, t: Type, a: Value, b: Value) -> Value:
        run, shape = partial(LlvmAlgebra.xor, self, t), self.shapes.xor(t, shape_of(a), shape_of(b))
        return self._affine(shape, run, a, b) if shape.is_affine and not t.is_predicate else run(a, b)

    def shift_right(self, t: Type, a: Value, n: Value) -> Value:
        run = partial(LlvmAlgebra.shift_right, self, t)
        shape = self.shapes.shift_right(t, shape_of(a), shape_of(n))
        if shape.is_affine:
            return self._affine(shape, run, self._first(a, shape), n)
        if shape.is_guarded:
            return self._part_in_row(shape, cast("int", n.literal), run, a, n)
        return self.shaped(self.vector(run(a, n)), shape) if shape.common < t.bits else run(a, n)

    # -- masks -----------------------------------------------------------------------------------

    @property
    def mask_is_full(self) -> bool:
        """Known to be full without a test."""
        return self.mask.ir == ALL

    def mask_and(self, a: Value, b: Value) -> Value:
        if a.ir == ALL:
            return self.vector(b)
        return LlvmIntegers.binary(self, "and", a, self.vector(b))

    def mask_bits(self, mask: Value) -> Value:
        """A mask as i32."""
        if isinstance(mask, BitMask):
            return Value(mask.bits, "i32")
        if mask.ir == ALL:
            return Value("-1", "i32")
        bits = self.bits_of.get(mask.ir)
        return Value(bits or self.builder.emit(f"bitcast {mask.typed} to i32"), "i32")

    def any(self, mask: Value) -> str:
        """i1: whether the mask has a lane."""
        if not isinstance(mask, BitMask) and mask.ir == ALL:
            return "true"
        return self.builder.emit(f"icmp ne i32 {self.mask_bits(mask).ir}, 0")

    def rows_of(self, mask: Value, rows: int) -> Value:
        """i1 for each of some rows of the warp: whether the mask has a lane of it."""
        if rows == WARP:
            return mask
        lanes = WARP // rows
        ones = [((1 << lanes) - 1) << (lanes * row) for row in range(rows)]
        bits = LlvmIntegers.binary(
            self, "and", self.widened(self.mask_bits(mask), rows), self.constant_lanes("i32", ones)
        )
        return self.test("icmp ne", bits, Value("zeroinitializer", "i32", rows))

    def invert_mask(self, mask: Value) -> Value:
        return LlvmIntegers.binary(self, "xor", mask, Value("true", "i1"))

    def _all(self, tests: Value) -> str:
        """i1: all of a vector of tests hold."""
        if tests.width == 1:
            return tests.ir
        bits = self.builder.emit(f"bitcast {tests.typed} to i{tests.width}")
        return self.builder.emit(f"icmp eq i{tests.width} {bits}, -1")

    def active(self) -> Value:
        return Value("true", "i1") if self.mask_is_full else self.mask

    def running(self, width: int) -> Value:
        return self.mask if width == WARP and not self.mask_is_full else super().running(width)

    # -- lanes -----------------------------------------------------------------------------------

    def lane(self) -> Value:
        start = self.constant_lanes("i32", [self.segment * s for s in range(self.block.segments)])
        if self.block.segments == 1:
            start = Value("0", "i32")
        return Lanes(start.ir, "i32", start.width, self.block.lane)

    def ballot(self, p: Value) -> Value:
        return self.mask_bits(self.mask_and(self.mask, p))

    def shuffle(self, t: Type, a: Value, lane: Value) -> Value:
        if isinstance(a, LooseBits) and a.of.type == "float":  # moved as they are, settled where seen
            return self.to_bits(F32, a.of.changed(self.shuffle(F32, a.of.raw, lane)))
        if shape_of(a).is_uniform:
            return a
        if shape_of(lane).is_uniform:
            from_lane = bases(lane)
            return self.emit(f"extractelement {self.vector(a).typed}, {from_lane.typed}", a.type, 1)
        values, lanes = self.vector(a), self.vector(lane)
        if not self.mask_is_full and values.type in SENT:  # (see docs/jit.md, Control flow)
            values = self.fenced(values)
        return self.permuted(values, lanes)
