"""Lanes spread over shared memory in a way that is known when compiling.

Threads that have eight words each read them at `i + (i >> 5)`, so that on a GPU their banks differ. If `i`
begins with a number of which the lower five bits are known, so are the distances of all lanes from the first,
unless something wraps: they are noted beside the columns. Before an access all addresses are compared with
them. Then it is one load or store for each lane, at constant distances, as for steps
(`simt.engine.llvm_steps`): a third of the time of a gather, on CPUs whose gathers are slow. Where the words
of 16 lanes lie in a few registers, they are picked out of these, and stored by registers under masks, as
words at small steps are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache, partial

from simt.analysis.shape import ALWAYS_ZERO, WARP, Shape, trailing_zeros
from simt.analysis.spread import IN_ORDER, distances, spread
from simt.engine.llvm_access import SHARED, Access
from simt.engine.llvm_algebra import LlvmIntegers
from simt.engine.llvm_builder import Value
from simt.engine.llvm_lanes import BARE, Guarded, bases, shape_of
from simt.engine.llvm_runs import RunsAlgebra
from simt.engine.llvm_steps import REGISTER, StepsAlgebra
from simt.engine.llvm_windows import WINDOW, WORD, Loaded
from simt.ptx.types import Type

FARTHEST = 1 << 15
"""Bytes from the lowest lane to the highest: beyond, distances are no guess, but have wrapped."""
NEAR = 5 * REGISTER
"""Bytes between a group's words up to which these are picked out of registers, not loaded one by one."""
Distances = tuple[int, ...]


@lru_cache(64)
def _steps(stride: int) -> Distances:
    """Of lanes that go on by a step."""
    return tuple([stride * lane for lane in range(WARP)])


class SpreadAlgebra(RunsAlgebra):
    """`RunsAlgebra` with lanes at distances that are not steps."""

    @cached_property
    def _spreads(self) -> dict[str, Distances]:
        """By names of columns: how far each lane is from the first, if nothing wraps."""
        return {}

    @cached_property
    def _beginnings(self) -> dict[str, tuple[int, int]]:
        """By names of bases: numbers `zeros` and `rest` such that it is `rest` modulo 2**zeros."""
        return {}

    def _beginning(self, value: Value) -> tuple[int, int]:
        literal = bases(value).literal
        if literal is not None:
            return ALWAYS_ZERO, literal
        return self._beginnings.get(value.ir, (shape_of(value).zeros, 0))

    def _distances(self, value: Value) -> Distances | None:
        shape = shape_of(value)
        if shape.is_affine and shape.width == 1 and self.segment == WARP:
            return _steps(shape.stride)
        if not isinstance(value, Guarded) and value.ir in self._spreads:
            return self._spreads[value.ir]
        return None if shape.by_bit is None or isinstance(value, Guarded) else distances(shape.by_bit)

    def _spread(self, result: Value, distances: Distances | None) -> Value:
        """The result, a column, with that noted."""
        if distances is None or result.width != WARP or isinstance(result, Guarded):
            return result
        if max(distances) - min(distances) < FARTHEST:
            self._spreads[result.ir] = distances
        return result

    def _begins(self, result: Value, zeros: int, rest: int) -> None:
        if zeros and shape_of(result).is_affine and result.ir.startswith("%"):
            self._beginnings.setdefault(bases(result).ir, (zeros, rest))

    # -- arithmetic --------------------------------------------------------------------------------

    def add(self, t: Type, a: Value, b: Value) -> Value:
        return self._summed(super().add(t, a, b), a, b, 1)

    def sub(self, t: Type, a: Value, b: Value) -> Value:
        return self._summed(super().sub(t, a, b), a, b, -1)

    def or_(self, t: Type, a: Value, b: Value) -> Value:
        """Lanes stay at their steps where bits are set of which the other value has none: that is a sum."""
        total = self._guessed(super().or_(t, a, b), self.shapes.or_(t, shape_of(a), shape_of(b)))
        return self._summed(total, a, b, 1) if shape_of(total).is_affine else total

    def and_(self, t: Type, a: Value, b: Value) -> Value:
        return self._guessed(super().and_(t, a, b), self.shapes.and_(t, shape_of(a), shape_of(b)))

    def _guessed(self, result: Value, shape: Shape) -> Value:
        """A result with its shape, if that is a guess at how lanes lie."""
        column = result.width == WARP and not isinstance(result, Guarded)
        return self.shaped(result, shape) if column and shape.by_bit is not None else result

    def _consecutive(self, t: Type, run: Callable[..., Value], a: Value) -> Value:
        """There may be a better guess than that lanes go on by 1."""
        lanes = shape_of(a).by_bit
        if lanes in (None, IN_ORDER) or self.picks is None:
            return super()._consecutive(t, run, a)
        return self._varying(spread(lanes), run, a)

    def _summed(self, total: Value, a: Value, b: Value, sign: int) -> Value:
        one = self._distances(a)
        if one is None and b.__class__ in BARE:  # most often; the name of another one may be code
            return total
        other = self._distances(b)
        if one is None or other is None:
            return total
        if shape_of(total).is_affine:
            (zeros, rest), (more, there) = self._beginning(a), self._beginning(b)
            self._begins(total, min(zeros, more), rest + sign * there)
            return total
        return self._spread(total, tuple(x + sign * y for x, y in zip(one, other, strict=True)))

    def mul(self, t: Type, a: Value, b: Value) -> Value:
        if a.literal is not None:
            a, b = b, a
        product = super().mul(t, a, b)
        return product if b.literal is None else self._multiplied(product, a, b.literal)

    def shift_left(self, t: Type, a: Value, n: Value) -> Value:
        result, by = super().shift_left(t, a, n), n.literal
        return result if by is None or by >= t.bits else self._multiplied(result, a, 1 << by)

    def _multiplied(self, result: Value, a: Value, factor: int) -> Value:
        distances = self._distances(a)
        if distances is None:
            return result
        if shape_of(result).is_affine:
            zeros, rest = self._beginning(a)
            self._begins(result, zeros + trailing_zeros(factor), rest * factor)
            return result
        return self._spread(result, tuple(x * factor for x in distances))

    def shift_right(self, t: Type, a: Value, n: Value) -> Value:
        result = self._guessed(
            super().shift_right(t, a, n), self.shapes.shift_right(t, shape_of(a), shape_of(n))
        )
        distances, by = self._distances(a), n.literal
        zeros, rest = self._beginning(a)
        if distances is None or by is None or by > min(zeros, t.bits - 1) or not shape_of(a).is_affine:
            return result
        first = rest % 2**by
        return self._spread(result, tuple(first + x >> by for x in distances))

    # -- accesses ----------------------------------------------------------------------------------

    def load_window(self, access: Access, otherwise: Callable[[], Loaded]) -> Loaded:
        windows = partial(super().load_window, access, otherwise)
        # A gather that is fast takes less than picks out of five registers; no scatter does.
        places = self._places_of(access) if self.has_windows and not self.has_gathers else None
        if places is None:
            return windows()
        load = SpreadAlgebra.pick_spread if _are_near(places) else StepsAlgebra.load_at
        run = partial(load, element=access.element, word=access.word, places=list(places))
        pointer, ok = self._compared(access, places)
        return self._either(ok, lambda: (self.apart("spread", run, pointer),), windows, likely=True)

    def store_window(self, access: Access, value: Value, otherwise: Callable[[], Loaded]) -> Loaded:
        data = self.vector(value)
        windows = partial(super().store_window, access, data, otherwise)
        places = self._places_of(access) if self.has_windows else None
        if places is None:
            return windows()
        store = SpreadAlgebra.put_spread if _are_near(places) else StepsAlgebra.store_at
        run = partial(store, word=access.word, places=list(places))
        pointer, ok = self._compared(access, places)

        def spread() -> Loaded:
            self.apart("spread", run, pointer, data)
            return ()

        full = self.builder.emit(f"icmp eq i32 {self.mask_bits(self.mask).ir}, -1")
        return self._either(self.both(full, ok), spread, windows, likely=True)

    def load_spread(self, access: Access, otherwise: Callable[[], Loaded]) -> Loaded:
        """A word for each lane, picked out of registers, if lanes are at the distances from the first that
        the analysis guesses and all that lies between them is valid; else `otherwise()`."""
        lanes = shape_of(access.address).by_bit
        assert lanes is not None
        places = distances(lanes)
        address, moved = self.as_moved(self.vector(access.address))
        first = Value(self.builder.emit(f"extractelement {address.typed}, i32 0"), address.type)
        ok, first = self._lie_so(address, first, places), moved(first)
        if not (self._is_proven(access) and self.mask_is_full):
            span = max(places) - min(places) + access.size
            ok = self.both(ok, self._valid(access, self.plus(first, min(places)), span).ir)
        run = partial(
            SpreadAlgebra.pick_spread, element=access.element, word=access.word, places=list(places)
        )

        def picked() -> Loaded:
            if access.region is not SHARED:
                self.prefetch([self.plus(first, min(places))], max(places) - min(places))
            return (self.apart("spread", run, Value(self._host(access, first), "ptr")),)

        return self._either(ok, picked, otherwise, likely=True)

    def _lie_so(self, address: Value, first: Value, places: Distances) -> str:
        """i1: all lanes that run are at those distances from the first. Lanes are compared as an integer, or
        LLVM, which does not like to keep masks in registers, would compare them in each turn of a loop."""
        steps = self.constant_lanes(address.type, places)
        expected = LlvmIntegers.binary(self, "add", self.widened(first, WARP), steps)
        bits = self.builder.emit(f"bitcast {self.test('icmp eq', address, expected).typed} to i{WARP}")
        if not self.mask_is_full:
            stopped = self.builder.emit(f"xor {self.mask_bits(self.mask).typed}, -1")
            bits = self.builder.emit(f"or i{WARP} {bits}, {stopped}")
        return self.builder.emit(f"icmp eq i{WARP} {bits}, -1")

    def _places_of(self, access: Access) -> Distances | None:
        """Distances in bytes, if they are worth a look: closer lanes may be in a window; where all of them
        are more than there is, only few run."""
        places = self._distances(access.address)
        if places is None or any(place % access.size for place in places):
            return None
        span, room = max(places) - min(places), self.sizes.get(access.region.space) or FARTHEST
        return places if (span >= 2 * WINDOW or _are_near(places)) and span < room else None

    # -- near lanes, by registers --------------------------------------------------------------------

    def pick_spread(self, pointer: Value, element: str, word: int, places: list[int]) -> Value:
        """What lies at some distances from a pointer, as lanes. Each group of them is picked out of all that
        lies between its words."""
        groups: list[str] = []
        for group in _groups(places, word):
            low, span = min(group), max(group) - min(group) + word
            start, where = self._behind(pointer, low), [place - low for place in group]
            if span == word:  # one for all of them
                loaded = Value(self.builder.emit(f"load {element}, {start.typed}, align {word}"), element)
                groups.append(self.widened(loaded, len(group)).ir)
            else:
                groups.append(self._pick_group(start, element, word, where, span).ir)
        return self._concatenate(element, WARP // len(groups), groups)

    def put_spread(self, pointer: Value, data: Value, word: int, places: list[int]) -> None:
        """Stores lanes at some distances from a pointer, by registers under masks."""
        for number, group in enumerate(_groups(places, word)):
            half = self.piece(data, number * len(group), len(group))
            lanes = {place: lane for lane, place in enumerate(group)}
            for start in range(min(group), max(group) + word, REGISTER):
                picks = [lanes.get(place) for place in range(start, start + REGISTER, word)]
                bits = ", ".join(f"i1 {'false' if pick is None else 'true'}" for pick in picks)
                mask = Value(f"<{bits}>", "i1", len(picks))
                self.masked_store(
                    self._shuffled(half, None, picks), self._behind(pointer, start).ir, mask, word
                )

    def _compared(self, access: Access, places: Distances) -> tuple[Value, str]:
        """A pointer to the first lane's word, and whether all lanes are where they should be, and all
        that lies between them is right."""
        address = self.vector(access.address)
        first = Value(self.builder.emit(f"extractelement {address.typed}, i32 0"), address.type)
        expected = self.binary("add", self.widened(first, WARP), self.constant_lanes(address.type, places))
        ok = self._all(self.test("icmp eq", address, expected))
        if not self._is_proven(access):
            span = max(places) - min(places) + access.size
            ok = self.both(ok, self._valid(access, self.plus(first, min(places)), span).ir)
        return Value(self._host(access, first), "ptr"), ok


def _groups(places: Sequence[int], word: int) -> list[Sequence[int]]:
    """The places of the lanes whose words a register holds."""
    lanes = min(WARP, REGISTER // word)
    return [places[first : first + lanes] for first in range(0, WARP, lanes)]


def _are_near(places: Sequence[int]) -> bool:
    """Whether what lies between the words of each group are a few registers, no more."""
    return all(REGISTER <= max(group) - min(group) <= NEAR for group in _groups(places, WORD))
