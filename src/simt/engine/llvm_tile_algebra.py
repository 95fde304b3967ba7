"""Arithmetic on indices that are cut into rows (`simt.engine.llvm_tiles`), and loads and stores there, of a
vector under a mask for each row.

Quotients by numbers are products and shifts when they come from a compiler: they are told by what they give.
Values are followed within a block of code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial, reduce
from typing import TYPE_CHECKING

from simt.analysis.following import Following
from simt.analysis.shape import VARYING, WARP
from simt.analysis.shape_algebra import MIRRORED, wrapped
from simt.engine.host import stores_some
from simt.engine.llvm_access import ARENA, I64, LOCAL, SHARED, Access
from simt.engine.llvm_algebra import LlvmIntegers, element_type
from simt.engine.llvm_builder import Value
from simt.engine.llvm_float import LlvmAlgebra
from simt.engine.llvm_lanes import BARE, Guarded, bases, shape_of
from simt.engine.llvm_row_accesses import RowAccessAlgebra
from simt.engine.llvm_runs import NEEDS
from simt.engine.llvm_sides import INVERSE, Sided
from simt.engine.llvm_tiles import Cut, Plain, Product, Tiled
from simt.imports import Later
from simt.isa.algebra import Comparison
from simt.ptx.types import U32, Type
from simt.records import replace

if TYPE_CHECKING:
    from simt.analysis import cut_again
else:
    cut_again = Later("simt.analysis.cut_again")

HALF, ADDRESS = 32, 64
SIGN = 63
LANES = 64
"""Of a shift: CPUs leave out more bits of how far they shift, so that nothing limits it."""
FAR = 1 << 24
"""Bytes from row to row from which on addresses of 32 bits might wrap behind the end of shared memory."""
NO_NAME = "%tiled"
"""For values of which no register holds all lanes: LLVM refuses code that reads it."""

Scalar = Callable[..., Value]
Values = tuple[Value, ...]


def tiled(value: Value) -> Tiled | None:
    tile = value.tile if isinstance(value, Guarded) else None
    return tile if isinstance(tile, Tiled) else None


def product_of(value: Value) -> Product | None:
    tile = value.tile if isinstance(value, Guarded) else None
    return tile if isinstance(tile, Product) else None


def plain(value: Value) -> Value:
    """The value as it is if nobody knows of rows."""
    tile = value.tile if isinstance(value, Guarded) else None
    return value if tile is None else tile.plain()


def guard_of(value: Value) -> str:
    """i1: a value has its shape."""
    return value.valid if isinstance(value, Guarded) else "true"


def without_rows(access: Access) -> Access:
    return replace(access, address=plain(access.address))


class TileAlgebra(RowAccessAlgebra):
    """`RowAccessAlgebra` that follows rows, on CPUs that load and store by masks, in warps of one row of
    threads. `following`: the load to come."""

    following: Following | None = None

    def _tiled(self, t: Type, tile: Tiled | Product) -> Guarded:
        """A value of a type. All its lanes are made where they are needed."""
        known = tile.plain.known
        if isinstance(known, Guarded):
            return replace(known, tile=tile)
        lanes = lambda: self.vector(tile.plain())  # noqa: E731
        return Guarded(NO_NAME, element_type(t), WARP, VARYING, "false", lanes, tile=tile)

    def _plainly(self, run: Scalar, *operands: Value) -> Plain:
        """What `run` makes of operands that know nothing of rows: at once if they have a shape all the
        same."""
        make = lambda: run(*(plain(v) for v in operands))  # noqa: E731
        shaped = any(product_of(v) or tiled(v) for v in operands if shape_of(v).is_guarded)
        return Plain(self.builder, make, make() if shaped else None)

    # -- quotients ---------------------------------------------------------------------------------

    def mul_high(self, t: Type, a: Value, b: Value) -> Value:
        usual = partial(super().mul_high, t)
        index, factor = (b, a.literal) if a.literal is not None else (a, b.literal)
        known = t.bits == HALF or (2 * t.bits == HALF and not t.is_signed)
        if factor is None or not known or not self._is_counted(index):
            return self._by_each_row(t, usual, partial(LlvmAlgebra.mul_high, self, t), a, b)
        factor %= 1 << t.bits
        if t.is_signed and factor >> HALF - 1:  # then the index is added
            factor -= 1 << HALF
        made = self._plainly(usual, a, b)
        zeros = shape_of(index).zeros
        return self._tiled(t, Product(index.ir, *self._counting_from(index), factor, t.bits, made, zeros))

    @cached_property
    def _widened_from(self) -> dict[str, Value]:
        """By the name of lane 0's: indices of which 64 bits were made."""
        return {}

    @cached_property
    def _products(self) -> dict[str, Product]:
        """By the name of lane 0's: products of such indices with numbers."""
        return {}

    def _note_product(self, t: Type, a: Value, b: Value, product: Value) -> Value:
        """The product; if a quotient may be made of it, that is noted. It is not to exceed its type."""
        index = self._widened_from.get(a.ir)
        if index is None:
            return product
        factor = b.literal
        if factor is None or not cut_again.LEAST <= factor < 1 << t.bits // 2:
            return product
        if shape_of(product).stride == factor:
            made, (start, valid) = Plain(self.builder, lambda: product, product), self._counting_from(index)
            valid = self.both(valid, guard_of(a))
            zeros = shape_of(index).zeros
            self._products[product.ir] = Product(index.ir, start, valid, factor, 0, made, zeros)
        return product

    def _product(self, value: Value) -> Product | None:
        """What a value is, if it is such a product, unless a guard of its own says no: a value that was
        limited has the name of what it is where the limit does nothing."""
        found = self._products.get(value.ir)
        if found is None or shape_of(value).stride != found.factor:
            return product_of(value)
        return replace(found, valid=self.both(found.valid, guard_of(value)))

    def _is_counted(self, value: Value) -> bool:
        """Whether a value may be followed when it is divided: one that grows by 1 from lane to lane, also
        from one of the CTA's rows to the next, unless it wraps."""
        shape, able = shape_of(value), self.features >= NEEDS and value.type in ("i16", "i32")
        known = (shape.is_affine or shape.is_guarded) and shape.stride == 1
        return able and known and shape.width == value.width == self.block.segments

    def _is_cut(self, value: Value, index: str) -> bool:
        """Whether a value is an index of a name, if its guard holds: what is limited has the name as well."""
        return value.ir == index and self._is_counted(value)

    def _counting_from(self, value: Value) -> tuple[Value, str]:
        """What lane 0 of an index has, and i1: it does grow by 1 from lane to lane, and is never negative."""
        start, valid = bases(value), guard_of(value)
        if start.width > 1:
            rows = start
            start = self.emit(f"extractelement {rows.typed}, i32 0", rows.type, 1)
            steps = self.constant_lanes(rows.type, range(0, WARP, self.segment))
            expected = LlvmIntegers.binary(self, "add", self.widened(start, rows.width), steps)
            valid = self.both(valid, self._all(self.test("icmp eq", rows, expected)))
        last = LlvmIntegers.binary(self, "add", start, self.number(start.type, WARP - 1))
        either = LlvmIntegers.binary(self, "or", start, last)
        return start, self.both(valid, self.builder.emit(f"icmp sge {either.typed}, 0"))

    def shift_right(self, t: Type, a: Value, n: Value) -> Value:
        usual, product, by = partial(super().shift_right, t), self._product(a), n.literal
        if product is None or product.factor < 0 or by is None or not 0 < by < t.bits:
            return self._by_each_row(t, usual, partial(LlvmAlgebra.shift_right, self, t), a, n)
        if shape_of(a).width == WARP:
            made = self._plainly(usual, a, n)
        else:
            known = usual(a, n)
            made = Plain(self.builder, lambda: known, known)
        product = replace(product, shift=product.shift + by, plain=made)
        if product.shift >= SIGN:
            return self._tiled(t, Tiled(None, (self.number(element_type(t), 0),), 0, product.valid, made, 0))
        length = product.divisor or 0
        cut, same = self._cut_by(product, length)
        if cut is None:
            return self._tiled(t, product)
        product = replace(product, valid=self.both(product.valid, same))
        if length == cut.length:
            return self._tiled(t, Tiled(cut, self._as(t, cut.rows), 0, product.valid, made, 1))
        rows = (self.builder.emit(f"udiv {row.typed}, {length // cut.length}") for row in cut.rows)
        numbers = self._as(t, tuple(Value(row, "i32") for row in rows))
        return self._tiled(t, Tiled(cut, numbers, 0, product.valid, made))

    def _as(self, t: Type, numbers: Values) -> Values:
        """Numbers of 32 bits as others."""
        return tuple(LlvmAlgebra.resize(self, U32, t, n) if t.bits != U32.bits else n for n in numbers)

    @cached_property
    def _cuts(self) -> dict[tuple[str, int], list[tuple[Product, Cut]]]:
        """By running lanes, and the label behind which they were made; with what they were made of."""
        return {}

    def _cut_by(self, product: Product, length: int) -> tuple[Cut | None, str]:
        """Rows of a length, or shorter ones of which so long ones consist: planes of an image, of which rows
        were asked for before. An index of another width is mostly the same (LLVM divides by 16 bits where
        these are enough); i1: it is."""
        known = self._cuts.setdefault((self.mask.ir, self.builder.last_label), [])
        for other, cut in known if length else ():
            if other.index == product.index and length % cut.length == 0:
                return cut, "true"
            if other.start.type != product.start.type and length == cut.length:
                one, two = (self.cast("zext", I64, p.start) for p in (product, other))
                return cut, self.builder.emit(f"icmp eq {one.typed}, {two.ir}")
        if not cut_again.SHORTEST <= length < cut_again.LONGEST:
            return None, "true"
        found = self._made_cut(product, length)
        known.append((product, found))
        return found, "true"

    def _made_cut(self, product: Product, length: int) -> Cut:
        say = self.builder.emit
        index = say(f"zext {product.start.typed} to i64")
        row = say(f"lshr i64 {say(f'mul i64 {index}, {product.factor}')}, {product.shift}")
        rows = [self._short(row)]
        column = LlvmIntegers.binary(self, "sub", self._short(index), self._times(rows[0], length))
        running = self.mask_bits(self.mask).ir
        below, lanes = "0", list[Value]()
        for more in range(1, product.rows(length)):
            begins = say(f"sub i32 {more * length}, {column.ir}")
            below, before = self._lanes_below(begins, more * length), below
            lanes.append(Value(say(f"xor i32 {below}, {before}"), "i32"))
            number = LlvmIntegers.binary(self, "add", rows[0], self.number("i32", more))
            later = say(f"and i32 {say(f'xor i32 {below}, -1')}, {running}")
            rows.append(self.pick(Value(say(f"icmp ne i32 {later}, 0"), "i1"), number, rows[0]))
        lanes.append(Value(say(f"xor i32 {below}, -1"), "i32"))
        return Cut(product.index, length, column, tuple(rows), tuple(lanes))

    def _short(self, number: str) -> Value:
        return Value(self.builder.emit(f"trunc i64 {number} to i32"), "i32")

    def _lanes_below(self, lane: str, most: int) -> str:
        """i32: all lanes below one, which is `most` or less, if rows are valid."""
        if most < LANES:
            kept = self.builder.emit(f"and i32 {lane}, {LANES - 1}")
        else:
            kept = self.intrinsic("umin", Value(lane, "i32"), self.number("i32", WARP)).ir
        number = self.cast("zext", I64, Value(kept, "i32"))
        bits = self.builder.emit(f"shl i64 -1, {number.ir}")
        return self.builder.emit(f"xor i32 {self.builder.emit(f'trunc i64 {bits} to i32')}, -1")

    # -- arithmetic --------------------------------------------------------------------------------

    def divide(self, t: Type, a: Value, b: Value) -> Value:
        return self._by_each_row(t, partial(super().divide, t), partial(LlvmAlgebra.divide, self, t), a, b)

    def remainder(self, t: Type, a: Value, b: Value) -> Value:
        run = partial(LlvmAlgebra.remainder, self, t)
        return self._by_each_row(t, partial(super().remainder, t), run, a, b)

    def and_(self, t: Type, a: Value, b: Value) -> Value:
        if a.__class__ in BARE and b.__class__ in BARE:
            return super().and_(t, a, b)
        return self._by_each_row(t, partial(super().and_, t), partial(LlvmAlgebra.and_, self, t), a, b)

    def _by_each_row(self, t: Type, usual: Scalar, run: Scalar, a: Value, b: Value) -> Value:
        """What `run` makes of one number for each row, if both operands are that."""
        one, other = self._both_tiled(t, a, b)
        if one is None or other is None or one.stride or other.stride:
            return usual(plain(a), plain(b))
        return self._by_rows(t, self._plainly(usual, a, b), run, one, other, 0, None)

    def add(self, t: Type, a: Value, b: Value) -> Value:
        if a.__class__ in BARE and b.__class__ in BARE:
            return super().add(t, a, b)
        for product, other in ((product_of(a), b), (product_of(b), a)):
            if product is not None and product.factor < 0 and self._is_cut(other, product.index):
                factor, valid = product.factor + (1 << HALF), self.both(product.valid, guard_of(other))
                made = self._plainly(partial(super().add, t), a, b)
                return self._tiled(t, replace(product, factor=factor, valid=valid, plain=made))
        return self._sum_by_rows(t, partial(super().add, t), partial(LlvmAlgebra.add, self, t), a, b, 1)

    def sub(self, t: Type, a: Value, b: Value) -> Value:
        if a.__class__ in BARE and b.__class__ in BARE:
            return super().sub(t, a, b)
        return self._sum_by_rows(t, partial(super().sub, t), partial(LlvmAlgebra.sub, self, t), a, b, -1)

    def _sum_by_rows(self, t: Type, usual: Scalar, run: Scalar, a: Value, b: Value, sign: int) -> Value:
        one, other = self._both_tiled(t, a, b)
        if one is None or other is None:
            return usual(plain(a), plain(b))
        made = self._plainly(usual, a, b)
        pitch = None
        if one.pitch is not None and other.pitch is not None:
            pitch = one.pitch + sign * other.pitch

        def noted(x: Value, y: Value) -> Value:
            total = run(x, y)
            if y.literal is not None and t.bits == ADDRESS:
                self._note_sum(total, x, sign * y.literal)
            return total

        return self._by_rows(t, made, noted, one, other, one.stride + sign * other.stride, pitch)

    def mul(self, t: Type, a: Value, b: Value) -> Value:
        if a.__class__ in BARE and b.__class__ in BARE:
            return self._note_product(t, a, b, super().mul(t, a, b))
        usual, run = partial(super().mul, t), partial(LlvmAlgebra.mul, self, t)
        one, other = self._both_tiled(t, a, b)
        if one is None or other is None:
            return self._note_product(t, a, b, usual(plain(a), plain(b)))
        stride, factor = (one.stride, b.literal) if other.stride == 0 else (other.stride, a.literal)
        if stride and factor is None:
            return usual(plain(a), plain(b))
        made, pitch = self._plainly(usual, a, b), one.pitch if other.stride == 0 else other.pitch
        pitch = None if factor is None or pitch is None else pitch * factor
        return self._by_rows(t, made, run, one, other, stride * (factor or 0), pitch)

    def shift_left(self, t: Type, a: Value, n: Value) -> Value:
        usual, tile, by = partial(super().shift_left, t), tiled(a), n.literal
        if tile is None or by is None or by >= t.bits:
            return usual(plain(a), plain(n))
        starts = tuple(LlvmAlgebra.shift_left(self, t, start, n) for start in tile.starts)
        made = self._plainly(usual, a, n)
        stride, pitch = (None if n is None else wrapped(t, n << by) for n in (tile.stride, tile.pitch))
        return self._tiled(t, replace(tile, starts=starts, stride=stride or 0, plain=made, pitch=pitch))

    def minimum(self, t: Type, a: Value, b: Value) -> Value:
        usual, run = partial(super().minimum, t), partial(LlvmAlgebra.minimum, self, t)
        return self._limited_by_rows("le", t, usual, run, a, b)

    def maximum(self, t: Type, a: Value, b: Value) -> Value:
        usual, run = partial(super().maximum, t), partial(LlvmAlgebra.maximum, self, t)
        return self._limited_by_rows("ge", t, usual, run, a, b)

    def resize(self, source: Type, target: Type, a: Value) -> Value:
        tile, usual = tiled(a), partial(super().resize, source, target)
        if tile is not None and source.bits == target.bits:
            return a
        if tile is None or tile.stride < 0:
            result = usual(plain(a))
            if 2 * source.bits == target.bits and self._is_counted(a):
                self._widened_from[result.ir] = a
            return result
        valid = tile.valid
        if target.bits > source.bits and tile.stride:
            for first, last in self._ends(tile):
                valid = self.both(valid, LlvmIntegers.compare_integers(self, "le", source, first, last).ir)
            for start in tile.starts[1:] if tile.goes_on else ():
                grows = LlvmIntegers.compare_integers(self, "le", source, tile.starts[0], start)
                valid = self.both(valid, grows.ir)
        starts = tuple(LlvmAlgebra.resize(self, source, target, start) for start in tile.starts)
        pitch = tile.pitch if (tile.goes_on and tile.stride) or target.bits < source.bits else None
        stride, made = wrapped(target, tile.stride), self._plainly(usual, a)
        return self._tiled(target, Tiled(tile.cut, starts, stride, valid, made, pitch))

    def _limited_by_rows(
        self, kept: Comparison, t: Type, usual: Scalar, run: Scalar, a: Value, b: Value
    ) -> Value:
        """The smaller or larger of two values: that for which the comparison `kept` holds. `run` finds it for
        scalars, `usual` for values that know nothing of rows."""
        one, other = self._both_tiled(t, a, b)
        if one is None or other is None:
            return usual(plain(a), plain(b))
        made = self._plainly(usual, a, b)
        if one.stride == other.stride == 0:
            return self._by_rows(t, made, run, one, other, 0, None)
        if one.stride == 0:
            one, other = other, one
        if one.stride < 0 or other.stride or len(other.starts) > len(one.starts):
            return made()
        valid = self.both(one.valid, other.valid)
        for i, (first, last) in enumerate(self._ends(one)):
            limit = other.starts[i % len(other.starts)]
            inside = LlvmIntegers.compare_integers(self, kept, t, first if kept == "ge" else last, limit)
            grows = LlvmIntegers.compare_integers(self, "le", t, first, last)
            valid = self.both(self.both(valid, inside.ir), grows.ir)
        return self._tiled(t, replace(one, valid=valid, plain=made))

    def compare_integers(self, op: Comparison, t: Type, a: Value, b: Value) -> Value:
        if a.__class__ in BARE and b.__class__ in BARE:
            return super().compare_integers(op, t, a, b)
        usual, (one, other) = partial(super().compare_integers, op, t), self._both_tiled(t, a, b)
        if self.eager or one is None or other is None or (one.stride and other.stride):
            return usual(plain(a), plain(b))
        if other.stride or one.cut is None:
            one, other, op = other, one, MIRRORED[op]
        if one.stride < 0 or one.cut is None:
            return usual(plain(a), plain(b))
        every, none = (partial(self._holds_by_rows, o, t, one, other) for o in (op, INVERSE[op]))
        return Sided(self, lambda: usual(plain(a), plain(b)), every, none)

    def _holds_by_rows(self, op: Comparison, t: Type, one: Tiled, other: Tiled) -> str:
        """i1: a comparison surely holds for all columns of all rows. `other`: one number for each row."""
        compare, holds = partial(LlvmIntegers.compare_integers, self), self.both(one.valid, other.valid)
        ends, count = [*self._ends(one)], max(len(one.starts), len(other.starts))
        for i in range(count):
            (first, last), limit = ends[i % len(ends)], other.starts[i % len(other.starts)]
            if one.stride:
                holds = self.both(holds, compare("le", t, first, last).ir)
            if one.stride and op == "ne":
                beyond = compare("lt", t, last, limit), compare("gt", t, first, limit)
                holds = self.both(holds, LlvmIntegers.binary(self, "or", *beyond).ir)
            elif one.stride and op == "eq":
                return "false"
            else:
                holds = self.both(holds, compare(op, t, last if op in ("lt", "le") else first, limit).ir)
        return holds

    def _both_tiled(self, t: Type, a: Value, b: Value) -> tuple[Tiled | None, Tiled | None]:
        """Two operands by rows, if either has some, and the other has no others."""
        one, other = tiled(a), tiled(b)
        if one is None and other is None:
            return None, None
        one, other = one or self._as_tiled(t, a, other), other or self._as_tiled(t, b, one)
        return (
            (one, other) if one is not None and other is not None and one.goes_with(other) else (None, None)
        )

    def _as_tiled(self, t: Type, value: Value, other: Tiled | None) -> Tiled | None:
        """A value without rows by those of another one: if it is the same for all lanes, or the index, or
        goes on from lane to lane by a step."""
        made, cut = Plain(self.builder, lambda: value), other.cut if other is not None else None
        shape = shape_of(value)
        if shape.is_uniform and not isinstance(value, Guarded):
            return Tiled(None, (bases(value),), 0, "true", made, 0)
        if cut is None:
            return None
        if self._is_cut(value, cut.index):
            starts = self._as(t, tuple(self._times(row, cut.length) for row in cut.rows))
            return Tiled(cut, starts, 1, guard_of(value), made, cut.length)
        if value.type == cut.column.type and shape.is_affine and shape.width == self.block.segments == 1:
            return self._stepping(value, shape.stride, cut)
        return None

    def _stepping(self, value: Value, stride: int, cut: Cut) -> Tiled:
        """What goes on by a step, by rows: less what it has gone on where these begin."""
        first = self._times(cut.column, stride)
        first = LlvmIntegers.binary(self, "sub", bases(value), first)
        gone = (LlvmIntegers.binary(self, "sub", row, cut.rows[0]) for row in cut.rows)
        starts = (LlvmIntegers.binary(self, "add", first, self._times(n, stride * cut.length)) for n in gone)
        made = Plain(self.builder, lambda: value)
        return Tiled(cut, tuple(starts), stride, guard_of(value), made, wrapped(U32, stride * cut.length))

    def _by_rows(
        self, t: Type, made: Plain, run: Scalar, one: Tiled, other: Tiled, stride: int, pitch: int | None
    ) -> Value:
        count = max(len(one.starts), len(other.starts))
        pairs = ((one.starts[i % len(one.starts)], other.starts[i % len(other.starts)]) for i in range(count))
        valid = self.both(one.valid, other.valid)
        starts = tuple(run(x, y) for x, y in pairs)
        pitch = None if pitch is None else wrapped(t, pitch)
        return self._tiled(t, Tiled(one.cut or other.cut, starts, wrapped(t, stride), valid, made, pitch))

    def _ends(self, tile: Tiled) -> Iterator[tuple[Value, Value]]:
        """What the first and the last column of each row have."""
        assert tile.cut is not None
        for start in tile.starts:
            reach = self.number(start.type, tile.stride * (tile.cut.length - 1))
            yield start, LlvmIntegers.binary(self, "add", start, reach)

    def _outermost(self, tile: Tiled) -> Iterator[Value]:
        """What is between all addresses of a tile and the ends of shared memory, if that is valid. Where rows
        go up by a pitch that is known, the first row's beginning is, and the ends of the others, none of
        which is below the first one's. (A row without lanes is the first.)"""
        first, *others = self._ends(tile)
        if tile.pitch is not None and 0 <= tile.pitch < FAR and others:
            yield from (first[0], *(last for _, last in others))
        else:
            yield from (end for ends in (first, *others) for end in ends)

    def _times(self, number: Value, factor: int) -> Value:
        return LlvmIntegers.binary(self, "mul", number, self.number(number.type, factor))

    # -- memory ------------------------------------------------------------------------------------

    def tile_of(self, access: Access, *, loads: bool = False) -> Tiled | None:
        """The rows of an access's addresses, if the columns of each are a vector, or, for loads, if each row
        has one address."""
        tile = tiled(access.address)
        usable = access.count == 1 and not access.volatile and access.region is not LOCAL
        if tile is None or tile.cut is None or not usable:
            return None
        by_row = loads and tile.stride == 0 and len(tile.starts) > 1
        return tile if by_row or tile.stride == access.size else None

    def expect(self, following: Following | None) -> None:
        """Says what follows the load to come; None: other code, or nothing."""
        if following is None:
            self._known_ways.clear()
        self.following = following

    @cached_property
    def _known_ways(self) -> dict[tuple[object, ...], list[tuple[range, Cut | None, str]]]:
        """By size, step, and where rows start but for a constant: the constants with which loads are known to
        be valid if an i1 holds."""
        return {}

    def load_tile(self, access: Access, tile: Tiled, otherwise: Callable[[], Values]) -> Values:
        """The words of each lane, row by row where all of them are valid."""
        places = self._lane_0_of_rows(access, tile)

        def loaded() -> Values:
            found: Value | None = None
            rows = zip(self._rows(access, tile, places), self._exist(access, places), strict=True)
            for (place, lanes), exists in rows:
                found = self._load_row(access, tile, place, lanes, found, exists)
            assert found is not None
            return (found,)

        return self._either(self._has_rows_of_all(access, tile, places), loaded, otherwise, likely=True)

    def _load_row(
        self, access: Access, tile: Tiled, place: str, lanes: Value, others: Value | None, exists: str
    ) -> Value:
        """The words of a row's lanes, and of other rows' lanes what these have. `exists` (i1): there is
        memory for all lanes."""

        def whole() -> Values:
            row = self.load_row(place, access.element, access.word)
            return (row if others is None else self.pick(lanes, row, others),)

        def some() -> Values:
            return (self.masked_load(place, lanes, access.element, access.word, others),)

        if tile.stride and access.region is SHARED:
            exists = "false" if stores_some(self.features) else exists
            return self._either(exists, whole, some, likely=True)[0]
        if tile.stride:
            return whole()[0]
        word = Value(self._load(access.element, place, 0, access), access.element)
        row = self.widened(word, WARP)
        return row if others is None else self.pick(lanes, row, others)

    def _exist(self, access: Access, places: Values) -> Iterator[str]:
        """i1 for each row: there is memory for 32 lanes from where lane 0 would be, once `_has_rows` has been
        tested: that has looked elsewhere, and behind shared memory there is some; before it, where the lanes
        of later rows are missing, may be others'."""
        yield "true"
        for place in places[1:]:
            shared = access.region is SHARED
            yield self.builder.emit(f"icmp sge {place.typed}, 0") if shared else "true"

    def store_tile(self, access: Access, tile: Tiled, value: Value, otherwise: Callable[[], Values]) -> None:
        """Stores a word of each lane. Rows with later lanes come later, so that the highest lane's stays."""
        self.retreat = None
        data, places = self.vector(value), self._lane_0_of_rows(access, tile)

        def stored() -> Values:
            rows = zip(self._rows(access, tile, places), self._exist(access, places), strict=True)
            for (place, lanes), exists in rows:
                self.store_row(access, data, place, lanes, exists)
            return ()

        self._either(self._has_rows(access, tile, places), stored, otherwise, likely=True)

    def _lane_0_of_rows(self, access: Access, tile: Tiled) -> Values:
        """For each row, the address that lane 0 would have there; one for all rows that go on."""
        assert tile.cut is not None
        count = 1 if tile.goes_on else len(tile.cut.lanes)
        starts, found = tile.starts * (count if len(tile.starts) == 1 else 1), list[Value]()
        for i, start in enumerate(starts[:count]):
            column = self.plus(tile.cut.column, -i * tile.cut.length)
            column = column if start.type == column.type else self.cast("sext", start.type, column)
            found.append(LlvmIntegers.binary(self, "add", start, self._times(column, tile.stride)))
        return tuple(found)

    def _rows(self, access: Access, tile: Tiled, places: Values) -> Iterator[tuple[str, Value]]:
        """For each row, a pointer to where lane 0 would be, and its lanes that run."""
        assert tile.cut is not None
        if tile.goes_on:
            yield self._host_before(access, places[0]), self.mask
            return
        running = self.mask_bits(self.mask).ir
        for lanes, place in zip(tile.cut.lanes, places, strict=True):
            bits = self.builder.emit(f"and {lanes.typed}, {running}")
            yield self._host_before(access, place), self._as_mask(bits)

    def _has_rows_of_all(self, access: Access, tile: Tiled, places: Values) -> str:
        """`_has_rows`, for the loads that follow at constant distances as well (neighbours of a pixel): what
        holds for all of them is asked before the first, and not again."""
        sums = [self.as_sum(start) for start in tile.starts]
        offsets, following = {constant for _, constant in sums}, self.following
        if following is None or access.region.lo != ARENA.lo or len(offsets) > 1:
            return self._has_rows(access, tile, places)
        own, key = offsets.pop(), (access.size, tile.stride, *(part.ir for part, _ in sums))
        for within, cut, holds in self._known_ways.get(key, ()):
            if own in within and cut is tile.cut:
                return self.both(holds, tile.valid)
        distances = [0, *(other - following.offset for other in following.others)]
        below, above = min(distances), max(distances)
        if self.sides or above == below or any(distance % access.size for distance in distances):
            return self._has_rows(access, tile, places)
        first = tuple(self.plus(place, below) for place in places)
        holds = self._has_rows(access, tile, first, above - below)
        found = range(own + below, own + above + 1, access.size), tile.cut, holds
        self._known_ways.setdefault(key, []).append(found)
        return holds

    def _has_rows(self, access: Access, tile: Tiled, places: Values, beyond: int = 0) -> str:
        """i1: addresses are in these rows, and all of them are valid. In shared memory, which is small, the
        ends of rows are looked at; elsewhere there is room for 32 lanes in each, and so many bytes beyond."""
        if access.region is not SHARED:
            span = WARP * access.size if tile.stride else access.size
            tests = [self._valid(access, place, span + beyond) for place in places]
        elif self._is_proven(access):
            tests = []
        else:
            tests = [self._valid(access, end, access.size) for end in self._outermost(tile)]
        return reduce(self.both, (test.ir for test in tests), tile.valid)
