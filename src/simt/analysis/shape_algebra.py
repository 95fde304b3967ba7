"""The shapes of results from the shapes of operands, for every primitive.

Both the analysis of uniformity and the JIT ask this class, so that they agree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from simt.analysis.effects import WithoutEffects
from simt.analysis.shape import (
    ALWAYS_ZERO,
    EXACT,
    GUARDED,
    IN_ROWS,
    LIKELY,
    PITCHED,
    UNIFORM,
    VARYING,
    WARP,
    BlockShape,
    Shape,
    constant,
    trailing_zeros,
    unknown,
)
from simt.analysis.spread import both_bits, cut, spread, summed, times
from simt.isa.algebra import Comparison, Rounding
from simt.ptx.types import S32, U64, Type
from simt.records import replace

NO_STEPS = 0, 0, 0
COMPARED: Mapping[str, Callable[[int, int], bool]] = MappingProxyType(
    {
        "eq": int.__eq__, "ne": int.__ne__, "lt": int.__lt__,
        "le": int.__le__, "gt": int.__gt__, "ge": int.__ge__,
    }
)  # fmt: skip
"""What comparisons say of two integers."""
MIRRORED: Mapping[Comparison, Comparison] = MappingProxyType(
    {"lt": "gt", "le": "ge", "ge": "le", "gt": "lt", "eq": "eq", "ne": "ne"}
)
"""The same of the two in the other order."""


def merge(a: Shape, b: Shape) -> Shape:
    """The shape of a value that is now `a`, now `b`, in all lanes at once."""
    if a == b:
        return a
    if a.top != b.top:
        top = max(a.top, b.top)
        return merge(replace(a, top=top), replace(b, top=top))
    width, hold = max(a.width, b.width), max(a.hold, b.hold)
    if a.stride == b.stride and width < WARP:
        const = a.const if a.const == b.const else None
        return Shape(width, a.stride, hold, const, min(a.zeros, b.zeros), max(a.common, b.common))
    return spread(a.by_bit) if a.by_bit == b.by_bit else VARYING


def blended(a: Shape, b: Shape) -> Shape:
    """The shape of a value that is `a` in some lanes and `b` in others: held in full."""
    merged = merge(a, b)
    return spread(merged.by_bit) if merged.width == WARP else Shape(merged.width, merged.stride, LIKELY)


def by_rows(shape: Shape, rows: int) -> Shape:
    """The shape of a value that each row of a warp has from another place or time, always of a shape."""
    if not shape.is_affine:
        return blended(shape, shape)
    return replace(shape, width=max(shape.width, rows), const=None, common=ALWAYS_ZERO)


class ShapeAlgebra(WithoutEffects[Shape]):
    """`simt.isa.algebra.Algebra` over shapes. Most primitives work lane by lane: see `_each`."""

    def __init__(self, block: BlockShape, uniform_loads: bool = True) -> None:
        self.block = block
        self.uniform_loads = uniform_loads
        self.asked: set[int] = set()
        """Lanes of rows that code asks for: it cuts numbers that grow from lane to lane, such that so many
        lanes have the same quotient, and remainders from 0 on."""

    @staticmethod
    def _each(*operands: Shape) -> Shape:
        """A lane-wise operation without a rule of its own: affine structure is lost."""
        if operands[0] is VARYING or operands[-1] is VARYING or not flat(*operands):
            return VARYING
        return unknown(max([s.width for s in operands]))

    @staticmethod
    def _known(t: Type, run: Callable[..., int], *operands: Shape) -> Shape | None:
        """The shape of what an operation makes of known integers; None if one of them is not."""
        numbers: list[int] = []
        for shape in operands:
            if shape.const is None:
                return None
            numbers.append(wrapped(t, shape.const))
        return constant(run(*numbers) % 2**t.bits)

    # -- affine arithmetic: the rules that `simt.engine` follows when it emits code ---------------
    def const(self, t: Type, bits: int) -> Shape:
        return UNIFORM if t.is_native_float else constant(bits)

    def add(self, t: Type, a: Shape, b: Shape) -> Shape:
        return self._sum(t, a, b, 1)

    def sub(self, t: Type, a: Shape, b: Shape) -> Shape:
        return self._sum(t, a, b, -1)

    def _sum(self, t: Type, a: Shape, b: Shape, sign: int) -> Shape:
        if a is VARYING or b is VARYING:  # most often
            return VARYING
        known = self._known(t, int.__add__ if sign > 0 else int.__sub__, a, b)
        if known is not None:
            return known
        if 0 in (b.const, a.const if sign > 0 else None):
            return a if b.const == 0 else b
        width = max(a.width, b.width)
        if width == WARP:
            if a.swaps and b.is_uniform:
                return a
            if b.swaps and a.is_uniform and sign > 0:
                return b
            one, other = (NO_STEPS if s.is_uniform else s.steps for s in (a, b))
            if one is None or other is None:
                return PITCHED if _go_on(a, b) else self._guess(summed(a, b, sign))
            return self._with_steps(t, [x + sign * y for x, y in zip(one, other, strict=True)])
        stride = wrapped(t, a.stride + sign * b.stride)
        common = self._common(t, a, b) if sign > 0 or b.is_uniform else ALWAYS_ZERO
        top = below(t, self._top(a, b) if sign > 0 else ALWAYS_ZERO)
        return made(t, Shape(width, stride, max(a.hold, b.hold), None, min(a.zeros, b.zeros), common, top))

    def _guess(self, shape: Shape) -> Shape:
        """A shape that is guessed for warps of one row."""
        return shape if self.block.segments == 1 else VARYING

    @staticmethod
    def _top(a: Shape, b: Shape) -> int:
        """`Shape.top` of a sum, which carries a bit unless one of both is zero, or has bits only where the
        other one has zeros: a thread's index in its CTA, and the number of the CTA's first thread."""
        apart = any(x.top <= y.zeros and flat(y) for x, y in ((a, b), (b, a)))
        return max(a.top, b.top) + (0 if apart or 0 in (a.const, b.const) else 1)

    def _with_steps(self, t: Type, steps: Sequence[int]) -> Shape:
        """The shape of a value that grows by steps along the axes of a CTA whose rows do not fit warps: from
        lane to lane by one step, if it is the thread's linear number but for a factor."""
        x, y, z = (wrapped(t, step) for step in steps)
        block = self.block
        goes_on = block.y == 1 or y == wrapped(t, x * block.x)
        if goes_on and (block.z == 1 or z == wrapped(t, x * block.x * block.y)):
            return Shape(1, x)
        return Shape(WARP, steps=(x, y, z))

    def _common(self, t: Type, a: Shape, b: Shape) -> int:
        """`Shape.common` of a sum, if no bit carries."""
        if a.width == 1:
            a, b = b, a
        bits = self.reach(t, b)
        if a.common >= t.bits or b.width > 1 or bits is None:
            return ALWAYS_ZERO
        if b.is_uniform and b.zeros >= a.common:
            return a.common
        # Lanes' numbers from 0 on, and where their row begins.
        below = b.zeros == ALWAYS_ZERO and a.stride == 0
        return a.common if below and a.exact and bits <= min(a.zeros, a.common) else ALWAYS_ZERO

    def mul(self, t: Type, a: Shape, b: Shape) -> Shape:
        if a is VARYING and b is VARYING:
            return VARYING
        if a.const is not None:
            a, b = b, a
        if b.const == 0:
            return b
        if b.const is not None and a.width < WARP:
            common = moved(a.common, b.zeros) if b.const == 1 << b.zeros else ALWAYS_ZERO
            stride, top = wrapped(t, a.stride * b.const), below(t, a.top + (b.const - 1).bit_length())
            return made(t, Shape(a.width, stride, a.hold, None, a.zeros + b.zeros, common, top))
        if b.const is not None and a.steps is not None:
            return self._with_steps(t, [step * b.const for step in a.steps])
        if b.const is not None and b.const == 1 << b.zeros and a.swaps:
            return self._swapped(t, a.swaps << b.zeros)
        if self._is_column(a, b) or self._is_column(b, a):
            return PITCHED
        product = VARYING
        if flat(a, b) or level(a, b):
            product = made(t, Shape(max(a.width, b.width), 0, max(a.hold, b.hold), zeros=a.zeros + b.zeros))
        if b.const is None or self.block.segments > 1:
            return product
        return times(a, wrapped(t, b.const), product)

    def _is_column(self, index: Shape, length: Shape) -> bool:
        """Whether a product may be where each lane's row begins."""
        grows = index.stride != 0 and index.hold != LIKELY and self.block.segments == 1
        return (index.pitched or grows) and length.is_uniform

    def shift_left(self, t: Type, a: Shape, n: Shape) -> Shape:
        if n.const is not None and n.const < t.bits and a.width < WARP:
            if a.const is not None:
                return constant((a.const << n.const) % 2**t.bits)
            stride, common = wrapped(t, a.stride << n.const), moved(a.common, n.const)
            top = below(t, a.top + n.const)
            return made(t, Shape(a.width, stride, a.hold, None, a.zeros + n.const, common, top))
        if n.const is not None and n.const < t.bits and a.steps is not None:
            return self._with_steps(t, [step << n.const for step in a.steps])
        if n.const is not None and n.const < t.bits and a.swaps:
            return self._swapped(t, a.swaps << n.const)
        if n.const is not None and n.const < t.bits and a.by_bit is not None:
            return times(a, 1 << n.const, VARYING)
        return PITCHED if a.pitched and n.is_uniform else self._each(a, n)

    def resize(self, source: Type, target: Type, a: Shape) -> Shape:
        if a.const is not None:
            value = wrapped(source, a.const) if source.is_signed else a.const % 2**source.bits
            return constant(value % 2**target.bits)
        if a.width == WARP:
            return PITCHED if a.pitched else spread(a.by_bit)
        a = replace(a, top=below(source, a.top))
        if flat(a):
            return made(target, a)
        if target.bits <= source.bits:
            return made(target, replace(a, stride=wrapped(target, a.stride)))
        if self.reach(source, a) is not None:
            return a
        return replace(a, hold=max(a.hold, GUARDED), common=ALWAYS_ZERO)

    def reach(self, t: Type, a: Shape) -> int | None:
        """How many bits at the end tell a value's lanes apart, if each lane's bits are those of the base with
        `stride * lane` in place of zeros, below the sign; else None. No lane goes by the type's ends then."""
        if not a.is_affine or a.stride < 0:
            return None
        bits = (a.stride * (self.block.segment - 1)).bit_length()
        return bits if bits <= min(a.zeros, t.bits - 1) else None

    def minimum(self, t: Type, a: Shape, b: Shape) -> Shape:
        if a.const is not None and b.const is not None and not t.is_signed:
            return constant(min(a.const, b.const))
        return self._limited(a, b)

    def maximum(self, t: Type, a: Shape, b: Shape) -> Shape:
        return self._limited(a, b)

    def _limited(self, a: Shape, b: Shape) -> Shape:
        """Where the same limit holds for all lanes, it often changes none of them: a clamped coordinate."""
        if a.stride == 0:
            a, b = b, a
        if a.stride != 0 and max(a.width, b.width) < WARP and b.stride == 0 and b.exact:
            return Shape(max(a.width, b.width), a.stride, max(a.hold, GUARDED))
        return self._each(a, b)

    # -- lane-wise primitives ------------------------------------------------------------------
    def select(self, t: Type, p: Shape, a: Shape, b: Shape) -> Shape:
        if p.const is not None:
            return a if p.const else b
        if p.is_uniform:
            return merge(a, b)
        if flat(a, b) or t.is_predicate or t.is_native_float or t.bits < 32:
            return self._each(p, a, b)
        return self._usually_one(a, b)

    def _usually_one(self, a: Shape, b: Shape) -> Shape:
        """What one lane or few choose otherwise: the neighbour of an index, but for those at an edge, which
        may have that of a mirrored index."""
        width, hold = max(a.width, b.width), max(a.hold, b.hold, GUARDED)
        if width == WARP or hold == LIKELY:
            return VARYING
        if a.stride == b.stride:
            return Shape(width, a.stride, hold) if a.stride else VARYING
        if a.stride == -b.stride:
            return Shape(width, abs(a.stride), hold)
        return Shape(width, a.stride or b.stride, hold) if 0 in (a.stride, b.stride) else VARYING

    def lookup(self, t: Type, index: Shape, *tables: tuple[int, ...]) -> tuple[Shape, ...]:
        return (self._each(index),) * len(tables)

    def halfwise(self, function: Callable[..., Shape], *operands: Shape) -> Shape:
        return self._each(*operands)

    by_halves = halfwise

    def bytewise(self, function: Callable[..., Shape], a: Shape, b: Shape, c: Shape) -> Shape:
        return function(self, a, b, c)

    def rarely(self, t: Type, p: Shape, usual: Shape, other: Callable[..., Shape], *operands: Shape) -> Shape:
        return self._each(p, usual, *operands)

    def and_(self, t: Type, a: Shape, b: Shape) -> Shape:
        if a.const is not None and b.const is not None:
            return constant(a.const & b.const)
        if a.stride == 0:
            a, b = b, a
        for kept, mask in ((a, b), (b, a)):
            if kept.common <= mask.zeros and kept.common < t.bits and mask.is_uniform:
                return made(t, Shape(1, zeros=mask.zeros))
        bits = self.reach(t, a)
        if t.is_predicate or not flat(b):
            return self._each(a, b)
        if bits is None:
            return self._cut_in_rows(t, a, b)
        stride, top = 0, below(t, min(a.top, b.top))
        if b.zeros < bits:  # some of those bits are kept: all of them?
            differ = 2**bits - 2 ** trailing_zeros(a.stride)
            if b.const is None or b.const & differ != differ:
                if b.const is not None:
                    self._ask(a, trailing_zeros(b.const + 1) or b.zeros)
                return self._masked(a, b, Shape(WARP, top=top))
            stride = a.stride
        nothing = b.const is not None and b.const < 2**a.zeros  # of the bases is kept
        zeros = ALWAYS_ZERO if nothing else max(a.zeros, b.zeros)
        left = made(t, Shape(max(a.width, b.width), stride, zeros=zeros, top=top))
        lanes, mask = (a, b) if b.const is not None else (b, a)
        return left if left.width < WARP else self._masked(lanes, mask, left)

    def _cut_in_rows(self, t: Type, a: Shape, mask: Shape) -> Shape:
        """The quotient by a power of two, times that, or the remainder, of an index that begins anywhere."""
        if mask.const is None or mask.const in (0, 2**t.bits - 1):
            return self._each(a, mask)
        below = trailing_zeros(mask.const + 1)
        if mask.const == (1 << below) - 1:
            return self._in_rows(t, a, constant(1 << below), a.stride)
        if mask.const == 2**t.bits - (1 << mask.zeros):
            return self._in_rows(t, a, constant(1 << mask.zeros), 0)
        return self._each(a, mask)

    def _masked(self, a: Shape, mask: Shape, left: Shape) -> Shape:
        """Some of the bits that tell lanes apart. `left`: what is sure of the result."""
        return left if mask.const is None or self.block.segments > 1 else cut(a, mask.const.__and__, left)

    def or_(self, t: Type, a: Shape, b: Shape) -> Shape:
        either = self._known(t, int.__or__, a, b) or self._set_bits(t, a, b)
        if either.width < WARP or self.block.segments > 1:
            return either
        return spread(both_bits(a, b), either)

    def xor(self, t: Type, a: Shape, b: Shape) -> Shape:
        known = self._known(t, int.__xor__, a, b) or self._set_bits(t, a, b)
        number, lanes = (a, b) if a.is_uniform else (b, a)
        if known == VARYING and t.bits == 32 and self.block.segments == 1 and number.is_uniform:
            return self._swapped(t, lanes.step_in_warp)
        return known

    @staticmethod
    def _swapped(t: Type, step: int) -> Shape:
        """The shape of lanes that change places, a step apart; 0: none that is known."""
        return Shape(WARP, swaps=step) if 0 < step < 2 ** (t.bits - 1) // WARP else VARYING

    def _set_bits(self, t: Type, a: Shape, b: Shape) -> Shape:
        """One value's bits where the other, the same for all lanes, has zeros among the bits that tell lanes
        apart: a sum."""
        if a.stride == 0:
            a, b = b, a
        bits = self.reach(t, a)
        if t.is_predicate or bits is None or not flat(b):
            return self._each(a, b)
        differ = 2**bits - 2 ** trailing_zeros(a.stride) if bits else 0
        if b.zeros < bits and (b.const is None or b.const & differ):
            return self._each(a, b)
        return made(t, Shape(max(a.width, b.width), a.stride, zeros=min(a.zeros, b.zeros)))

    def invert(self, t: Type, a: Shape) -> Shape:
        """`-1 - a`."""
        if t.is_predicate:
            return self._each(a)
        return self._known(t, int.__invert__, a) or self.sub(t, constant(2**t.bits - 1), a)

    def shift_right(self, t: Type, a: Shape, n: Shape) -> Shape:
        if n.const is None or n.const >= t.bits:
            return self._each(a, n)
        if a.hold == LIKELY and a.stride and a.stride % 2**n.const == 0:
            return Shape(a.width, a.stride >> n.const, LIKELY)
        if (a.const is not None and not t.is_signed) or (a.top < t.bits and a.top <= n.const):
            return constant((a.const or 0) >> n.const)
        bits, zeros = self.reach(t, a), a.zeros if a.zeros >= ALWAYS_ZERO else max(0, a.zeros - n.const)
        if a.common <= n.const:
            return made(t, Shape(1, zeros=zeros))
        common, top = moved(a.common, -n.const), ALWAYS_ZERO
        if a.top < t.bits or not t.is_signed:
            top = min(a.top, t.bits) - n.const
        if a.by_bit is not None or (bits is None and a.common < t.bits):
            return cut(a, n.const.__rrshift__, Shape(WARP, common=common, top=top))
        if bits is None:
            return self._in_rows(t, a, constant(1 << n.const), 0)
        if bits > n.const and a.stride % 2**n.const:
            self._ask(a, n.const)
            left = Shape(WARP, common=bits - n.const if a.width == 1 else common, top=top)
            return cut(a, n.const.__rrshift__, left) if self.block.segments == 1 else left
        stride = 0 if bits <= n.const else a.stride >> n.const
        return made(t, Shape(a.width, stride, zeros=zeros, common=common, top=top))

    def _ask(self, a: Shape, bits: int) -> None:
        """Notes the row for which numbers that grow from lane to lane are cut below and above a bit."""
        if a.width < WARP and 0 < a.stride < 2**bits and 2**bits % a.stride == 0:
            self.asked.add(2**bits // a.stride)

    def popcount(self, t: Type, a: Shape) -> Shape:
        return self._each(a)

    def leading_zeros(self, t: Type, a: Shape) -> Shape:
        return self._each(a)

    def reverse_bits(self, t: Type, a: Shape) -> Shape:
        return self._each(a)

    def mul_high(self, t: Type, a: Shape, b: Shape) -> Shape:
        return self._each(a, b)

    def dot_of_bytes(self, t: Type, u: Type, a: Shape, b: Shape) -> Shape:
        return self._each(a, b)

    def divide(self, t: Type, a: Shape, b: Shape) -> Shape:
        if t.is_signed or not b.const or b.const & (b.const - 1):
            return self._in_rows(t, a, b, 0)
        return self.shift_right(t, a, constant(b.zeros))

    def remainder(self, t: Type, a: Shape, b: Shape) -> Shape:
        if t.is_signed or not b.const or b.const & (b.const - 1):
            return self._in_rows(t, a, b, a.stride)
        return self.and_(t, a, constant(b.const - 1))

    def divide_short(self, t: Type, a: Shape, b: Shape) -> Shape:
        return self._in_rows(t, a, b, 0)

    def remainder_short(self, t: Type, a: Shape, b: Shape) -> Shape:
        return self._in_rows(t, a, b, a.stride)

    def divide_by_product(
        self, t: Type, a: Shape, b: Shape, factor: Shape, shift: Shape, plus: bool
    ) -> Shape:
        if not flat(b, factor, shift) or max(b.width, factor.width, shift.width) > 1:
            return super().divide_by_product(t, a, b, factor, shift, plus)
        return self._in_rows(S32, a, b, 0)

    def _in_rows(self, t: Type, a: Shape, b: Shape, stride: int) -> Shape:
        """Where all lanes are divided by the same, they often have the same quotient: an index's row."""
        reach = abs(a.stride) * (self.block.segment - 1)
        short = b.const is not None and b.const <= reach
        known = level(b) and a.hold != LIKELY and max(a.width, b.width) < WARP
        if short and known and b.const is not None and b.const == 1 << b.zeros:
            self._ask(a, b.zeros)
        if flat(a, b) or short or not known or reach >= 2 ** (t.bits - 1):
            return self._each(a, b)
        return Shape(max(a.width, b.width), stride, IN_ROWS)

    def compare(self, op: Comparison, t: Type, a: Shape, b: Shape) -> Shape:
        if t.is_float:
            return self._each(a, b)
        if a.const is None or b.const is None:
            alike = self._compare_alike(op, t, a, b) or self._compare_alike(MIRRORED[op], t, b, a)
            return UNIFORM if alike else self._each(a, b)
        x, y = (wrapped(t, s) if t.is_signed else s % 2**t.bits for s in (a.const, b.const))
        return constant(int(COMPARED[op](x, y)))

    def _compare_alike(self, op: Comparison, t: Type, a: Shape, b: Shape) -> bool:
        """Whether all lanes of a warp lie on the same side of what is the same for all of them: a multiple of
        more than tells lanes apart (`tid < 64`)."""
        bits = self.reach(t, a) if a.width == 1 else a.common if flat(a) and a.common < t.bits else None
        if bits is None or not b.is_uniform:
            return False
        if op in ("le", "gt"):
            return b.const is not None and trailing_zeros(b.const + 1) >= bits
        return op in ("lt", "ge") and b.zeros >= bits

    def to_bits(self, t: Type, a: Shape) -> Shape:
        return a

    def from_bits(self, t: Type, a: Shape) -> Shape:
        return self._each(a) if t.is_native_float else a

    def is_nan(self, t: Type, a: Shape) -> Shape:
        return self._each(a)

    def flush(self, t: Type, a: Shape) -> Shape:
        return self._each(a)

    def flush_result(self, t: Type, a: Shape, twice: Callable[..., Shape], *operands: Shape) -> Shape:
        return self._each(a, *operands)

    def nan_result(self, t: Type, a: Shape, *operands: Shape) -> Shape:
        return self._each(a, *operands)

    def any_nan(self, t: Type, a: Shape) -> Shape:
        return self._each(a)

    def fadd(self, t: Type, a: Shape, b: Shape, rounding: Rounding) -> Shape:
        return self._each(a, b)

    def fsub(self, t: Type, a: Shape, b: Shape, rounding: Rounding) -> Shape:
        return self._each(a, b)

    def fmul(self, t: Type, a: Shape, b: Shape, rounding: Rounding) -> Shape:
        return self._each(a, b)

    def fdiv(self, t: Type, a: Shape, b: Shape, rounding: Rounding) -> Shape:
        return self._each(a, b)

    def fma(self, t: Type, a: Shape, b: Shape, c: Shape, rounding: Rounding) -> Shape:
        return self._each(a, b, c)

    def fsqrt(self, t: Type, a: Shape, rounding: Rounding) -> Shape:
        return self._each(a)

    def near_reciprocal_root(self, a: Shape) -> Shape:
        return self._each(a)

    def fmin(self, t: Type, a: Shape, b: Shape) -> Shape:
        return self._each(a, b)

    def fmax(self, t: Type, a: Shape, b: Shape) -> Shape:
        return self._each(a, b)

    def round_integral(self, t: Type, a: Shape, rounding: Rounding) -> Shape:
        return self._each(a)

    def float_to_float(self, source: Type, target: Type, a: Shape, rounding: Rounding) -> Shape:
        return self._each(a)

    def float_to_int(self, source: Type, target: Type, a: Shape, rounding: Rounding) -> Shape:
        return self._each(a)

    def whole(self, a: Shape) -> Shape:
        return self._each(a)

    def int_to_float(self, source: Type, target: Type, a: Shape, rounding: Rounding) -> Shape:
        return self._each(a)

    # -- lanes and machine ---------------------------------------------------------------------
    def active(self) -> Shape:
        return VARYING

    def lane(self) -> Shape:
        return self.block.lane

    def ballot(self, p: Shape) -> Shape:
        return UNIFORM

    def shuffle(self, t: Type, a: Shape, lane: Shape) -> Shape:
        return UNIFORM if a.is_uniform or lane.is_uniform else VARYING

    def warp_function(
        self, function: Callable[..., tuple[Shape, ...]], results: tuple[Type, ...], *operands: Shape
    ) -> tuple[Shape, ...]:
        return (VARYING,) * len(results)

    def special(self, name: str, component: str) -> Shape:
        return self.block.special(name, component)

    def load(self, t: Type, space: str, address: Shape, count: int, volatile: bool) -> tuple[Shape, ...]:
        uniform = address.stride == 0 and address.exact and space != "local" and self.uniform_loads
        return (Shape(address.width) if uniform else VARYING,) * count

    def store(self, t: Type, space: str, address: Shape, values: tuple[Shape, ...], volatile: bool) -> None:
        return

    def atomic(self, op: str, t: Type, space: str, address: Shape, b: Shape, c: Shape | None) -> Shape:
        return VARYING

    def arrivals(self, op: str, space: str, address: Shape, b: Shape) -> Shape:
        found = self.atomic(op, U64, space, address, b, None)
        return UNIFORM if address.is_uniform else found

    def to_generic(self, t: Type, space: str, address: Shape) -> Shape:
        return self._in_window(t, space, address, 1)

    def from_generic(self, t: Type, space: str, address: Shape) -> Shape:
        return self._in_window(t, space, address, -1)

    def _in_window(self, t: Type, space: str, address: Shape, sign: int) -> Shape:
        """Windows begin somewhere: that of shared memory at one place for the CTA, that of local memory at
        one for each lane."""
        if space == "shared":
            return self._sum(t, address, UNIFORM, sign)
        return VARYING if space == "local" else address

    def in_space(self, space: str, address: Shape) -> Shape:
        return self._each(address) if space != "local" else VARYING

    def texture(
        self, geometry: str, result: Type, coordinate: Type, texture: Shape, coordinates: tuple[Shape, ...]
    ) -> tuple[Shape, Shape, Shape, Shape]:
        return VARYING, VARYING, VARYING, VARYING


def _go_on(*shapes: Shape) -> bool:
    """Whether a sum may go on from lane to lane by one step: rows' beginnings, and what does so anyway."""
    return any(s.pitched for s in shapes) and all(s.pitched or s.width < WARP for s in shapes)


def flat(*shapes: Shape) -> bool:
    """Whether all lanes of a segment have the same value, for each of some shapes."""
    return not [shape for shape in shapes if shape.stride or shape.hold is not EXACT]


def level(*shapes: Shape) -> bool:
    """Whether all lanes of a segment have the same value, or have unless a flag says no."""
    return all(s.stride == 0 and s.width < WARP and s.hold != LIKELY for s in shapes)


def below(t: Type, top: int) -> int:
    """`Shape.top` of values of a type; nothing is known of those that may have its highest bit."""
    return top if top < t.bits else ALWAYS_ZERO


def moved(bit: int, by: int) -> int:
    """`Shape.common` of numbers whose bits are moved up."""
    return bit if bit >= ALWAYS_ZERO else bit + by


def made(t: Type, shape: Shape) -> Shape:
    """A shape whose bases, of a type, are multiples of `2**zeros`: zero, if that is 2**t.bits or more."""
    if shape.zeros < t.bits:
        return shape
    return constant(0) if flat(shape) else replace(shape, zeros=ALWAYS_ZERO)


def wrapped(t: Type, value: int) -> int:
    """An integer as a signed number of the type's width."""
    value %= 2**t.bits
    return value - 2**t.bits if value >> (t.bits - 1) else value
