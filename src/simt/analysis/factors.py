"""Parameters by which an index is multiplied: `x[i * step]`, `t[row * t.stride(0) + column * t.stride(1)]`.

Arrays of any strides, tensors' accessors and vectors with increments come to kernels as an address and some
numbers of words or bytes from one element to the next. Mostly the last of them is that of elements side by
side, or zero, but code for any number has lanes with addresses that may be anything. So code is made for the
numbers that the launches at hand have, where these are small (`simt.analysis.given`): loads of such
parameters are constants there.
"""

from __future__ import annotations

from collections.abc import Sequence

from simt.analysis.copies import copied
from simt.analysis.evaluate import Remembering
from simt.analysis.lower_forms import copy
from simt.analysis.observer import Anything
from simt.analysis.outline import Factor, Number
from simt.analysis.program import (
    Address,
    Call,
    Constant,
    Function,
    Op,
    Operand,
    Register,
    Special,
    SymbolAddress,
)
from simt.analysis.shape import UNIFORM, VARYING, WARP, BlockShape, Shape, constant
from simt.analysis.shape_algebra import ShapeAlgebra
from simt.analysis.ssa import destinations, uses
from simt.isa.algebra import Comparison, Environment
from simt.ptx.types import Type

OF_LANE = frozenset({"tid", "laneid"})
FEWEST = 4
"""Numbers with which a parameter is compared that says which of some ways a kernel goes."""
WIDTHS = 32, 64
"""Bits of parameters that are looked at."""
NOWHERE = -1, 0
TAG = 0x51A70000
"""In a run through a kernel, what parameters are held to be, and the next numbers."""


def find_factors(kernel: Function, environment: Environment) -> None:
    """Notes places of integers among a kernel's parameters. `factors`: by which it multiplies what it makes
    of a thread's index, and which it does not compare or divide by, as it does with how many of something
    there are. `ways`: that say which of some ways it goes. (It is run through once, from its first line to
    its last.)"""
    reader, algebra, loads = _Reader(), _Products(), Loads(kernel)
    evaluator: Remembering[Shape] = Remembering(algebra, reader, environment)
    for op in kernel.ops():
        if isinstance(op, Call):
            continue
        if op.form.effects:
            reader.load(op, loads.place(op))
        elif not op.form.converts_addresses and reader.passes_on(op):
            evaluator.op(op)
    tags = [({TAG + 2 * i, TAG + 2 * i + 1}, place) for i, place in enumerate(reader.places)]
    asked = {place: sum(len(algebra.ways.get(t, ())) for t in known - algebra.cut) for known, place in tags}
    kernel.ways = tuple([place for place, numbers in asked.items() if numbers >= FEWEST])
    kernel.factors = tuple(
        [place for known, place in tags if known & algebra.factors and not known & algebra.counts]
    )


def with_numbers(kernel: Function, numbers: Sequence[Number]) -> Function:
    """The kernel with constants in place of loads of such parameters."""
    if not numbers:
        return kernel
    known, function, loads = dict(numbers), copied(kernel), Loads(kernel)
    for block in function.blocks:
        block.ops = [_constant(op, known.get(loads.place(op) or NOWHERE)) for op in block.ops]
    return function


def _constant(op: Op | Call, number: int | None) -> Op | Call:
    if number is None or isinstance(op, Call):
        return op
    t, target = op.result_types[0], op.destinations[0]
    return op if target is None else copy(target, Constant(t, number), t, op.line, op.guard)


def _moves_address(op: Op) -> bool:
    """Whether an op gives a register the address of a parameter."""
    if len(op.sources) != 1 or op.form.effects or not op.form.moves or op.guard is not None:
        return False
    (source,) = op.sources.values()
    return isinstance(source, SymbolAddress) and source.space == "param"


class Loads:
    """Which loads of a kernel are of integers among its parameters."""

    def __init__(self, kernel: Function) -> None:
        self._starts = {parameter.name: parameter.offset for parameter in kernel.kernel_parameters}
        self._bases: dict[Register, int | None] = {}  # registers with the address of a parameter, if known
        moves = [op for op in kernel.ops() if isinstance(op, Op) and _moves_address(op)]
        for op in moves:
            (source,), (target,) = op.sources.values(), op.destinations
            if isinstance(source, SymbolAddress) and target is not None:
                start = self._offset(source)
                self._bases[target] = start if self._bases.get(target, start) == start else None
        for op in kernel.ops() if moves else ():
            if op not in moves:
                self._bases.update(dict.fromkeys(self._bases.keys() & set(destinations(op))))

    def _offset(self, symbol: SymbolAddress) -> int | None:
        start = self._starts.get(symbol.name)
        return None if start is None else start + symbol.offset

    def place(self, op: Op | Call) -> Factor | None:
        """The place in the parameter block of an integer that an op loads."""
        if isinstance(op, Call) or not op.form.moves_memory or len(op.destinations) != 1:
            return None
        if not str(op.binding.get("space")).startswith("param"):  # elsewhere that address is another thing
            return None
        (t,) = op.result_types
        for operand in op.sources.values():
            if isinstance(operand, Address) and not t.is_float and t.bits in WIDTHS:
                return self._at(operand, t.bits // 8)
        return None

    def _at(self, address: Address, size: int) -> Factor | None:
        base = address.base
        if isinstance(base, SymbolAddress):
            start = self._offset(base) if base.space == "param" else None
        else:
            start = None if base is None else self._bases.get(base)
        return None if start is None else (start + address.offset, size)


class _Reader(Anything):
    """What registers hold, as far as it has to do with products of indices and parameters. `words`: a
    parameter, or what is made of one and constants, with a number for the latter. `indices`: registers with
    what is made of a thread's index."""

    def __init__(self) -> None:
        self.words: dict[Register, tuple[Factor, int]] = {}
        self.indices = set[Register]()
        self.places: dict[Factor, int] = {}

    def register(self, register: Register) -> Shape:
        if register in self.indices:
            return VARYING
        if register not in self.words:
            return UNIFORM
        place, made = self.words[register]
        return constant(TAG + 2 * self.places.setdefault(place, len(self.places)) + made)

    def load(self, op: Op, place: Factor | None) -> None:
        if place is not None and op.destinations[0] is not None:
            self.words[op.destinations[0]] = place, 0

    def passes_on(self, op: Op) -> bool:
        """Notes what an op makes of what is known; whether that is of a parameter."""
        read = uses(op)
        words = [self.words[register] for register in read if register in self.words]
        of_index = not self.indices.isdisjoint(read) or any(map(_is_of_lane, op.sources.values()))
        if of_index or (words and len(read) == 1):
            targets = [d for d in op.destinations if d is not None and d.type.bits in WIDTHS]
            if of_index:
                self.indices.update(targets)
            else:
                place, made = words[0]
                self.words.update(dict.fromkeys(targets, (place, made if op.form.moves else 1)))
        return bool(words)


def _is_of_lane(source: Operand) -> bool:
    return isinstance(source, Special) and source.name in OF_LANE


class _Products(ShapeAlgebra):
    """What is made of a thread's index varies. `factors`: constants by which such is multiplied. `counts`:
    those that are compared, or that something is divided by. `ways`: by constants, with which others they are
    compared; `cut`: of which bits are cut out, as compilers do to find how many turns are left over."""

    def __init__(self) -> None:
        super().__init__(BlockShape(1, 1, 1))
        self.factors, self.counts = set[int | None](), set[int | None]()
        self.ways: dict[int | None, set[int]] = {}
        self.cut = set[int | None]()

    def special(self, name: str, component: str) -> Shape:
        return VARYING if name in OF_LANE else UNIFORM

    def mul(self, t: Type, a: Shape, b: Shape) -> Shape:
        for index, factor in ((a, b), (b, a)):
            if index.width == WARP:
                self.factors.add(factor.const)
        return VARYING

    def compare(self, op: Comparison, t: Type, a: Shape, b: Shape) -> Shape:
        self.counts |= {a.const, b.const}
        if op == "eq" and b.const is not None:
            self.ways.setdefault(a.const, set()).add(b.const)
        return VARYING

    def and_(self, t: Type, a: Shape, b: Shape) -> Shape:
        self.cut |= {tag | 1 for tag in (a.const, b.const) if tag is not None}
        return VARYING

    def minimum(self, t: Type, a: Shape, b: Shape) -> Shape:
        return self.compare("lt", t, a, b)

    def maximum(self, t: Type, a: Shape, b: Shape) -> Shape:
        return self.compare("lt", t, a, b)

    def divide(self, t: Type, a: Shape, b: Shape) -> Shape:
        return self.compare("lt", t, a, b)

    def remainder(self, t: Type, a: Shape, b: Shape) -> Shape:
        return self.compare("lt", t, a, b)
