"""Rows of an index, made again in each block that gets at memory by them.

`if (row != k) m[row][column] -= ...`, with `row` and `column` a compiler's quotient and remainder of an
index: they are made before the branch, where it asks for them. The engine follows rows of an index within a
block of code (`simt.engine.llvm_tiles`), so the block behind the branch gets instructions for them too, on
registers of its own. What a thread gets is the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from simt.analysis.copies import copied, renamed
from simt.analysis.dominance import Tree, dominators
from simt.analysis.evaluate import Evaluator
from simt.analysis.lower_forms import copy
from simt.analysis.observer import Shapes
from simt.analysis.program import (
    Block,
    Call,
    Constant,
    Function,
    Op,
    Register,
    SymbolAddress,
    memory_operands,
)
from simt.analysis.shape import BlockShape, Shape
from simt.analysis.shape_algebra import ShapeAlgebra
from simt.analysis.ssa import Definition, Ssa
from simt.isa.algebra import Environment
from simt.ptx.types import Type
from simt.records import dataclass, replace

SHORTEST, LONGEST = 11, 256
"""Columns of a row: of shorter ones a warp has more than four, and where they are longer, most warps have one
row, which other code tells."""
LEAST = 1 << 12
"""Factors by which compilers divide; smaller ones are sizes of elements."""
MOST = 64
"""Instructions that are made again in a function."""

Names = dict[Definition, Register]


def divisor(factor: int, shift: int, bits: int) -> int | None:
    """By what a product with a factor, shifted right, divides all numbers of so many bits that are not
    negative, rounded down; None if that is not exact."""
    found = -(-(1 << shift) // factor)
    missing = factor * found - (1 << shift)
    largest = (1 << bits - 1) - 1
    return found if missing * largest < 1 << shift else None


def cut_again(
    kernel: Function,
    ssa: Ssa,
    shapes: Mapping[Definition, Shape],
    block: BlockShape,
    environment: Environment,
) -> Function:
    """The kernel with such instructions where they are used; itself if there are none."""
    rows = _Rows(ssa, shapes, block, environment).found
    if not rows:
        return kernel
    writer = _Writer(kernel, ssa, rows)
    for used in ssa.schedule.order:
        writer.write(used)
    return writer.written()


@dataclass(frozen=True, slots=True)
class _Product:
    """An index of so many bits, times a factor, shifted right."""

    factor: int
    shift: int
    bits: int


class _Rows:
    """`found`: what is made of the rows of an index, and the products on the way there."""

    def __init__(
        self, ssa: Ssa, shapes: Mapping[Definition, Shape], block: BlockShape, environment: Environment
    ) -> None:
        self.ssa = ssa
        self.reader = Shapes(shapes)
        self.watcher = _Watcher(block)
        self.evaluator: Evaluator[Shape] = Evaluator(self.watcher, self.reader, environment)
        self.products: dict[Definition, _Product] = {}
        self.found: set[Definition] = set()
        cut = False
        for op in (op for block in ssa.schedule.order for op in block.ops if isinstance(op, Op)):
            known = bool(self.found) and not self.found.isdisjoint(ssa.read[id(op)].values())
            if (known or _has_factor(op)) and _is_pure(op):
                (made,) = ssa.of[id(op)]
                assert made is not None
                product = self._product(op, ssa.read[id(op)])
                if product is not None:
                    self.products[made] = product
                    cut |= SHORTEST <= (divisor(product.factor, product.shift, product.bits) or 0) < LONGEST
                if known or product is not None:
                    self.found.add(made)
        if not cut:
            self.found.clear()

    def _product(self, op: Op, read: Mapping[Register, Definition]) -> _Product | None:
        before = [self.products[d] for d in read.values() if d in self.products]
        self.watcher.product = self.watcher.shift = None
        self.watcher.adds = False
        self.reader.inputs = read
        self.evaluator.op(op)
        if before and self.watcher.shift is not None:
            return replace(before[0], shift=before[0].shift + self.watcher.shift)
        if before and self.watcher.adds and before[0].factor >> before[0].bits - 1:
            return before[0]  # the index is added, as the factor was taken to be negative
        return self.watcher.product


class _Watcher(ShapeAlgebra):
    """Notes products of an index that grows by 1 from lane to lane, shifts and sums."""

    product: _Product | None = None
    shift: int | None = None
    adds = False

    def add(self, t: Type, a: Shape, b: Shape) -> Shape:
        self.adds = True
        return super().add(t, a, b)

    def mul_high(self, t: Type, a: Shape, b: Shape) -> Shape:
        self._note(a, b, t.bits, shift=t.bits)
        return super().mul_high(t, a, b)

    def mul(self, t: Type, a: Shape, b: Shape) -> Shape:
        self._note(a, b, t.bits // 2, shift=0)
        return super().mul(t, a, b)

    def shift_right(self, t: Type, a: Shape, n: Shape) -> Shape:
        self.shift = n.const
        return super().shift_right(t, a, n)

    def _note(self, a: Shape, b: Shape, bits: int, shift: int) -> None:
        index, factor = (b, a.const) if a.const is not None else (a, b.const)
        is_counted = (index.is_affine or index.is_guarded) and index.stride == 1
        if factor is not None and is_counted and LEAST <= factor < 1 << bits:
            self.product = _Product(factor, shift, bits)


def _has_factor(op: Op) -> bool:
    """Whether an op has a number by which compilers divide."""
    return any(isinstance(source, Constant) and source.bits >= LEAST for source in op.sources.values())


def _is_pure(op: Op) -> bool:
    """Whether an op does nothing but to make one integer of integers."""
    sources = op.sources.values()
    plain = all(s is None or isinstance(s, Constant | SymbolAddress | Register) for s in sources)
    integers = plain and all(_is_integer(s.type) for s in sources if isinstance(s, Register))
    only = op.destinations[0] if len(op.destinations) == 1 else None
    able = op.guard is None and not op.form.effects and only is not None
    return integers and able and only is not None and _is_integer(only.type)


def _is_integer(t: Type) -> bool:
    return not (t.is_float or t.is_predicate)


class _Writer:
    """Writes a function in which blocks have rows of their own."""

    def __init__(self, kernel: Function, ssa: Ssa, rows: set[Definition]) -> None:
        self.kernel, self.ssa, self.rows = kernel, ssa, rows
        self.tree = Tree(dominators(ssa.schedule))
        self.registers = [*kernel.registers]
        self.before: dict[int, list[Op]] = {}  # by an op's identity
        self.ops: dict[int, list[Op]] = {}  # by blocks' index, those that a block begins with
        self.names: dict[int, Names] = {}
        self.left = MOST

    def write(self, block: Block) -> None:
        """Lets a block make what it uses of rows by itself, if it gets at memory by them."""
        ops = [op for op in block.ops if isinstance(op, Op)]
        if any(self.ssa.read[id(op)][r] in self.rows for op in ops for r, _ in memory_operands(op)):
            for op in ops:
                for definition in self.ssa.read[id(op)].values():
                    if definition in self.rows:
                        self._make(definition, block)

    def _make(self, definition: Definition, block: Block) -> None:
        op, names = definition.origin, self.names.setdefault(block.index, {})
        elsewhere = definition.block is not block and self.tree.dominates(definition.block.index, block.index)
        if definition in names or not isinstance(op, Op) or not elsewhere or not self.left:
            return
        self.left -= 1
        for source in self.ssa.read[id(op)].values():
            if source in self.rows:
                self._make(source, block)
            if source not in names:
                self._keep(source, op, block)
        names[definition] = self._register(definition.register)
        made = replace(self._renamed(op, names), destinations=(names[definition],))
        self.ops.setdefault(block.index, []).append(made)

    def _keep(self, source: Definition, op: Op, block: Block) -> None:
        """Sees to it that a block can read what an op did, though its register may have something else
        then."""
        register = source.register
        if self.ssa.single.get(register) is source or self.ssa.entry[block.index].get(register) is source:
            return
        kept = self.names[block.index][source] = self._register(register)
        self.before.setdefault(id(op), []).append(copy(kept, register, register.type, op.line))

    def _register(self, like: Register) -> Register:
        made = Register(len(self.registers), f"{like.name}.again{len(self.registers)}", like.type)
        self.registers.append(made)
        return made

    def _renamed(self, op: Op, names: Names) -> Op:
        """An op that reads other registers in place of some definitions."""
        new = {r: names[d] for r, d in self.ssa.read[id(op)].items() if d in names}
        return renamed(op, new)

    def written(self) -> Function:
        if not self.ops:
            return self.kernel
        made = copied(self.kernel)
        made.registers = self.registers
        for block in made.blocks:
            block.ops = [*self.ops.get(block.index, ()), *self._ops_of(block)]
        return made

    def _ops_of(self, block: Block) -> Iterator[Op | Call]:
        names = self.names.get(block.index, {})
        for op in block.ops:
            yield from self.before.get(id(op), ())
            yield self._renamed(op, names) if isinstance(op, Op) and names else op
