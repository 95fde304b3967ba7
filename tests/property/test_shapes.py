"""What the analysis says of lanes, held against the lanes: random arithmetic on indices of threads.

`simt.analysis.shape_algebra` says how values grow from lane to lane and of what their bases are multiples;
NumPy computes them for every thread of a CTA.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray

from simt.analysis.shape import UNIFORM, WARP, BlockShape, Shape
from simt.analysis.shape_algebra import ShapeAlgebra
from simt.isa.algebra import Comparison
from simt.ptx.types import S32, S64, U32, U64, Type

Lanes = NDArray[np.object_]
BLOCKS = (
    (256, 1, 1), (32, 1, 1), (40, 1, 1), (5, 1, 1), (64, 4, 1), (32, 3, 2), (16, 8, 1), (8, 5, 2), (4, 4, 4),
    (2, 16, 1), (1, 40, 1), (48, 2, 1), (5, 5, 5), (96, 2, 1), (1, 1, 1),
)  # fmt: skip
COMPARED: dict[Comparison, Callable[[Lanes, Lanes], Lanes]] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt,
    "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip
EACH = 1500
"""Values for a CTA's shape."""
SMALL = (0, 1, 2, 3, 5, 15, 16, 28, 31, 32, 33, 96)
WINDOW = 0x7F40_1234_5670
"""Where shared memory begins in generic addresses."""


@dataclass(frozen=True)
class Known:
    """A value of a type: what the analysis says, and the number of every thread (unsigned)."""

    type: Type
    shape: Shape
    lanes: Lanes

    @property
    def signed(self) -> Lanes:
        half = 1 << (self.type.bits - 1)
        return (self.lanes + half) % (2 * half) - half

    def of(self, t: Type) -> Known:
        return Known(t, self.shape, self.lanes)


class Sums:
    """Random values for CTAs of a shape."""

    def __init__(self, random: Random, block: tuple[int, int, int]) -> None:
        self.random = random
        self.block = BlockShape(*block)
        self.algebra = ShapeAlgebra(self.block)
        self.threads = np.arange(self.block.threads).astype(object)

    def leaf(self) -> Known:
        x, y = self.block.x, self.block.y
        special, threads = self.algebra.special, self.threads
        match self.random.randrange(9):
            case 0 | 1 | 2 | 3:
                return Known(U32, special("tid", "x"), threads % x)
            case 4:
                return Known(U32, special("tid", "y"), threads // x % y)
            case 5:
                return Known(U32, special("laneid", ""), threads % WARP)
            case 6:
                return Known(U32, special("ntid", "x"), threads * 0 + x)
            case 7:  # a parameter
                return Known(U32, UNIFORM, threads * 0 + self.random.randrange(2**32))
            case _:
                return self.number(U32)

    def number(self, t: Type) -> Known:
        """Mostly of bits in a row, which masks, factors and limits are made of."""
        power = 1 << self.random.randrange(t.bits if self.random.random() < 0.4 else 8)
        number = self.random.choice((power, power, power - 1, -power, *self.random.choices(SMALL, k=2)))
        return self.known(t, number % 2**t.bits)

    def known(self, t: Type, number: int) -> Known:
        return Known(t, self.algebra.const(t, number), self.threads * 0 + number)

    def index(self) -> Known:
        """A leaf, a multiple of a power of two, and so much more for all threads."""
        a, bits = self.leaf(), self.random.choice((0, 0, 1, 2, 3, self.random.randrange(32)))
        by, more = self.known(U32, bits), self.random.choice((self.number(U32), self.leaf()))
        scaled = Known(U32, self.algebra.shift_left(U32, a.shape, by.shape), computed("shift_left", a, by))
        return Known(U32, self.algebra.add(U32, scaled.shape, more.shape), computed("add", scaled, more))

    def value(self, steps: int) -> Known:
        found = self.index() if self.random.random() < 0.5 else self.leaf()
        for _ in range(steps):
            found = self.step(found, steps)
        return found

    def step(self, a: Known, steps: int) -> Known:
        """One more primitive."""
        t = self.random.choice((U32, S32) if a.type.bits == U32.bits else (U64, S64))
        a = a.of(t)
        name = self.random.choice(
            ("add", "sub", "mul", "and_", "and_", "or_", "xor", "shift_left", "shift_right", "shift_right",
             "divide", "remainder", "resize", "minimum", "select", "invert", "to_generic", "from_generic")
        )  # fmt: skip
        if name == "resize":
            return self.resized(a)
        if name.endswith("generic"):
            return self.in_window(name, a)
        if name == "invert":
            return Known(t, self.algebra.invert(t, a.shape), 2**t.bits - 1 - a.lanes)
        other = self.value(steps // 2) if self.random.random() < 0.3 else self.number(t)
        b = other.of(t) if other.type.bits == t.bits else self.number(t)
        if name.startswith("shift"):
            b = self.known(U32, self.random.randrange(t.bits if self.random.random() < 0.3 else 8))
        elif name in ("divide", "remainder"):
            b = self.known(t, 1 << self.random.choice((1, 4, 5, 6, self.random.randrange(t.bits))))
        elif self.random.random() < 0.5 and name == "sub":
            a, b = b, a
        if name == "select":
            return self.selected(t, a, b)
        return Known(t, getattr(self.algebra, name)(t, a.shape, b.shape), computed(name, a, b))

    def selected(self, t: Type, a: Known, b: Known) -> Known:
        """One of two values in all threads, or what a comparison of two others says in each."""
        if self.random.random() < 0.5:
            either = self.random.choice((a, b))
            return Known(t, self.algebra.select(t, UNIFORM, a.shape, b.shape), either.lanes)
        x, y = (self.random.choice((self.number(t), a, b)) for _ in range(2))
        op, of = self.random.choice(list(COMPARED.items()))
        p = self.algebra.compare(op, t, x.shape, y.shape)
        holds = of(x.signed, y.signed) if t.is_signed else of(x.lanes, y.lanes)
        return Known(t, self.algebra.select(t, p, a.shape, b.shape), np.where(holds, a.lanes, b.lanes))

    def resized(self, a: Known) -> Known:
        target = self.random.choice((U32, S32, U64, S64))
        lanes = a.signed if a.type.is_signed else a.lanes
        return Known(target, self.algebra.resize(a.type, target, a.shape), lanes % 2**target.bits)

    def in_window(self, name: str, a: Known) -> Known:
        sign = 1 if name == "to_generic" else -1
        shape = getattr(self.algebra, name)(a.type, "shared", a.shape)
        return Known(a.type, shape, (a.lanes + sign * WINDOW) % 2**a.type.bits)


def computed(name: str, a: Known, b: Known) -> Lanes:
    x, y, signed = a.lanes, b.lanes, a.type.is_signed
    if signed and name in ("shift_right", "divide", "remainder", "minimum"):
        x, y = a.signed, b.signed if name != "shift_right" else y
    match name:
        case "add":
            lanes = x + y
        case "sub":
            lanes = x - y
        case "mul":
            lanes = x * y
        case "and_":
            lanes = x & y
        case "or_":
            lanes = x | y
        case "xor":
            lanes = x ^ y
        case "shift_left":
            lanes = x * 2**y
        case "shift_right":
            lanes = x // 2**y
        case "divide":
            lanes = np.sign(x) * (abs(x) // y)
        case "remainder":
            lanes = np.sign(x) * (abs(x) % y)
        case _:
            lanes = np.minimum(x, y)
    return lanes % 2**a.type.bits


def swap(value: Known, step: int) -> bool:
    """Whether the lanes of each warp are one number and `step * (lane ^ n)`, with one `n` for all warps."""
    warps = [value.lanes[first : first + WARP] for first in range(0, len(value.lanes), WARP)]
    return any(
        all(
            len({(lane - step * (k ^ n)) % 2**value.type.bits for k, lane in enumerate(w)}) == 1
            for w in warps
        )
        for n in range(WARP)
    )


def problems(value: Known, block: BlockShape) -> list[str]:
    """What is said of a value and does not hold."""
    shape, bits = value.shape, value.type.bits
    found: list[str] = []
    if shape.top < bits and any(value.lanes >= 2**shape.top):
        found.append(f"not below {2**shape.top}")
    if shape.swaps and not swap(value, shape.swaps):
        found.append(f"lanes do not change places, {shape.swaps} apart")
    if not shape.is_affine:
        return found
    if shape.const is not None and any(value.lanes != shape.const):
        found.append(f"not {shape.const}")
    for first in range(0, block.threads, WARP):
        lanes = value.lanes[first : first + WARP]
        bases = (lanes - shape.stride * (np.arange(len(lanes)) % block.segment)) % 2**bits
        ends = [] if shape.width == 1 else list(range(block.segment, len(bases), block.segment))
        if any(len(set(row)) > 1 for row in np.split(bases, ends)):
            found.append(f"warp {first // WARP}: bases are {bases}")
        if any(base % 2 ** min(shape.zeros, bits) for base in bases):
            found.append(f"warp {first // WARP}: bases {bases} have fewer zeros")
    return found


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_lanes_are_what_the_analysis_says(block: tuple[int, int, int]) -> None:
    """Something is said, too: some values are known to be base and stride."""
    affine = 0
    for seed in range(EACH):
        random = Random(seed)
        value = Sums(random, block).value(random.randrange(1, 5))
        assert not problems(value, BlockShape(*block)), (seed, value)
        affine += value.shape.is_affine and value.shape.stride != 0
    assert affine > EACH / 50 or not BlockShape(*block).rows_fit


@pytest.mark.parametrize("block", [(32, 1, 1), (16, 2, 1), (2, 16, 1)], ids=str)
def test_lanes_by_the_ends_of_a_type(block: tuple[int, int, int]) -> None:
    """Multiples of lanes' numbers that pass the sign and the type's end, from 0, from its middle, and from
    below 0 on."""
    made = Sums(Random(0), block)
    m, lane = made.algebra, Known(U32, made.algebra.lane(), made.threads % WARP)
    for t, by, first in product((U32, S32), range(32), (0, 1 << 31, -32)):
        n, start = made.known(U32, by), made.known(t, (first << by) % 2**32)
        scaled = Known(t, m.shift_left(t, lane.shape, n.shape), computed("shift_left", lane, n))
        value = Known(t, m.add(t, scaled.shape, start.shape), computed("add", scaled, start))
        for name, number in product(("shift_right", "divide", "remainder", "and_", "or_"), (1, 4, 5, 16, 31)):
            other = made.known(U32 if name == "shift_right" else t, number)
            shape = getattr(m, name)(t, value.shape, other.shape)
            result = Known(t, shape, computed(name, value, other))
            assert not problems(result, BlockShape(*block)), (value, name, number)


@pytest.mark.parametrize("block", [b for b in BLOCKS if b[1] == b[2] == 1 or b[0] % WARP == 0], ids=str)
def test_a_warp_of_one_row_knows_its_number_and_its_lanes(block: tuple[int, int, int]) -> None:
    """However the program computes them."""
    m = ShapeAlgebra(BlockShape(*block))
    tid = m.special("tid", "x")
    index = m.add(U32, tid, m.mul(U32, UNIFORM, m.const(U32, 32)))
    for value in (tid, index):
        for t in (U32, S32):
            lane = m.and_(t, value, m.const(t, 31))
            number = m.shift_right(t, value, m.const(U32, 5))
            assert (lane.is_affine, lane.width, lane.stride) == (True, 1, 1)
            assert number.is_uniform
            assert m.and_(t, value, m.const(t, 0xFFFFFFE0)).is_uniform
            whole = m.or_(t, m.shift_left(t, number, m.const(U32, 5)), lane)
            assert (whole.is_affine, whole.width, whole.stride) == (True, 1, 1)
            wide = m.resize(t, U64, value)
            assert (wide.is_affine, wide.stride) == (True, 1)
            doubled = m.shift_left(t, value, m.const(U32, 1))
            for run in (m.or_, m.xor):  # bits that no lane's number has, below those that lanes have or above
                assert [run(t, doubled, m.const(t, bit)).stride for bit in (1, 2, 32, 64)] == [2, 0, 0, 2]
        assert m.divide(U32, value, m.const(U32, 32)).is_uniform
        assert m.remainder(U32, value, m.const(U32, 32)).is_affine
        assert m.shift_right(U32, value, m.const(U32, 4)).width == WARP  # two halves
    # As C++ divides numbers that may be negative: what is added to those is a shift of the sign.
    sign = m.shift_right(S32, tid, m.const(U32, 31))
    above = m.add(S32, tid, m.shift_right(U32, sign, m.const(U32, 27)))
    assert m.shift_right(S32, above, m.const(U32, 5)).is_uniform
    rest = m.sub(S32, tid, m.and_(S32, above, m.const(S32, 0xFFFFFFE0)))
    assert (rest.is_affine, rest.width, rest.stride) == (True, 1, 1)


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_lanes_that_lie_on_one_side_of_a_number(block: tuple[int, int, int]) -> None:
    """Where a comparison is said to be the same for a warp's lanes, it is."""
    made = Sums(Random(0), block)
    m, count = made.algebra, len(made.threads)
    tid = Known(U32, m.special("tid", "x"), made.threads % block[0])
    said = 0
    for t, by, more in product((U32, S32), (0, 1, 2), (0, 32, 2**32 - 64)):
        step = made.known(U32, by)
        scaled = Known(t, m.shift_left(t, tid.shape, step.shape), computed("shift_left", tid, step))
        start = made.known(t, more)
        value = Known(t, m.add(t, scaled.shape, start.shape), computed("add", scaled, start))
        for op, number in product(
            COMPARED, (0, 1, 31, 32, 63, 64, 96, 128, 2**31 - 1, 2**31, 2**32 - 33, 2**32 - 1)
        ):
            limit = made.known(t, number)
            for one, other in ((value, limit), (limit, value)):
                if not m.compare(op, t, one.shape, other.shape).is_uniform:
                    continue
                said += 1
                pair = (one.signed, other.signed) if t.is_signed else (one.lanes, other.lanes)
                holds = COMPARED[op](*pair)
                warps = [set(holds[first : first + WARP].tolist()) for first in range(0, count, WARP)]
                assert all(len(warp) == 1 for warp in warps), (t, by, more, op, number)
    assert (said > 0) == (tid.shape.is_affine and tid.shape.width == 1 and tid.shape.zeros >= 5)
