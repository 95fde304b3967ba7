"""Lanes in the rows of an index, which all lanes of a row go through together: a load for each row.

A thread that makes one number of a product (`sum += a[row * k + j] * b[j * n + column]`, `row` and `column`
the quotient and remainder of its index) reads the word that all threads of its row read, and the one beside
its neighbour's. A warp has lanes in two or three rows; so the first load is a word for each of them, spread
over lanes, the second a vector for each, and neither is a gather.

That is looked for in loops through which lanes march together (`simt.engine.llvm_marches`): who is in which
row is asked once, ahead of the loop.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial, reduce

from simt.analysis.shape import WARP
from simt.engine.llvm_access import ALIKE, LOCAL, WOVEN, Access
from simt.engine.llvm_builder import Value
from simt.engine.llvm_lanes import Guarded
from simt.engine.llvm_memory import Values
from simt.engine.llvm_runs import LARGEST, has_runs
from simt.engine.llvm_textures import TextureAlgebra
from simt.records import dataclass, replace

FIRST, LAST, MIDDLE = 0, WARP - 1, WARP // 2
"""Lanes, one of each row. Of three rows the second has the warp's middle, if rows have half a warp or more of
lanes."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of an access by a step from lane to lane. `starts`: where lane 0 would be in the rows of
    FIRST, LAST and MIDDLE. `moved`: makes addresses of these in the present turn of a loop. `found`: i1, all
    lanes that run are in these rows. `last`, `middle`: i32, lanes of two of them. `two`: i1, MIDDLE is in the
    row of one of the others."""

    step: int
    starts: tuple[Value, Value, Value]
    moved: Callable[[Value], Value]
    found: str
    last: str
    middle: str
    two: str


class PlacesAlgebra(TextureAlgebra):
    """`TextureAlgebra` with such loads."""

    def load_two(self, access: Access, otherwise: Callable[[], Values]) -> Values:
        if not self._may_have_places(access):
            return super().load_two(access, otherwise)
        return self._load_marching(access, otherwise)

    def load_window(self, access: Access, otherwise: Callable[[], Values]) -> Values:
        window = partial(super().load_window, access, otherwise)
        return self._load_marching(access, window) if self._may_have_places(access) else window()

    def _may_have_places(self, access: Access) -> bool:
        plain = access.count == 1 and not access.volatile and access.size <= LARGEST
        able = has_runs(self.features) and access.region not in (LOCAL, WOVEN, ALIKE)
        able = able and not self.is_scattered
        unknown = not isinstance(access.address, Guarded)
        return plain and able and unknown and self.as_sum(access.address)[0].ir in self.marching_in_rows

    def _load_marching(self, access: Access, otherwise: Callable[[], Values]) -> Values:
        return self._load_places(access, 0, partial(self._load_places, access, access.size, otherwise))

    def _load_places(self, access: Access, step: int, otherwise: Callable[[], Values]) -> Values:
        """A load for each of three rows, if all lanes that run are there; else `otherwise()`."""
        rows = self._rows_of_march(access, step)
        look, few, third, all_, many, end = (
            self.builder.block_name(h) for h in ("look", "few", "third", "all", "many", "end")
        )
        self.builder.void(f"br i1 {rows.found}, label %{look}, label %{many}")
        self.builder.label(look)
        first, last, middle = (rows.moved(start) for start in rows.starts)
        valid = self.both(self._is_row(access, step, first), self._is_row(access, step, last))
        self.builder.void(f"br i1 {valid}, label %{few}, label %{many}")
        self.builder.label(few)
        row, other = (self._read_row(access, step, start) for start in (first, last))
        both = self.pick(self._as_mask(rows.last), other, row)
        self.builder.void(f"br i1 {rows.two}, label %{end}, label %{third}")
        self.builder.label(third)
        valid = self._is_row(access, step, middle)
        self.builder.void(f"br i1 {valid}, label %{all_}, label %{many}")
        a, from_all = self._side(all_, end, lambda: (self._with_middle(access, rows, middle, both),))
        b, from_many = self._side(many, end, otherwise)
        self.builder.label(end)
        ways = ((both, few), (a[0], from_all), (b[0], from_many))
        text = ", ".join(f"[ {value.ir}, %{label} ]" for value, label in ways)
        return (self.emit(f"phi {both.spelled} {text}", both.type, both.width),)

    @cached_property
    def _known_rows(self) -> dict[tuple[str, int], Rows]:
        """By the name of a column that marches, and step."""
        return {}

    def _rows_of_march(self, access: Access, step: int) -> Rows:
        """Asked once for all accesses of a block from one column, where that is made."""
        column = self.as_sum(access.address)[0].ir
        line, mask = self.marching_in_rows[column]
        _, moved = self.as_moved(access.address)
        if self.mask.ir != mask:
            return self._rows_here(access, step)
        if (column, step) not in self._known_rows:
            with self.builder.right_after(line):
                self._known_rows[column, step] = self._rows_here(access, step)
        return replace(self._known_rows[column, step], moved=moved)

    def _rows_here(self, access: Access, step: int) -> Rows:
        start, moved = self.as_moved(access.address)
        start = self._as_lane_0(access, start) if step else start
        first, last, middle = (self._lane(start, lane) for lane in (FIRST, LAST, MIDDLE))
        here = [self.test("icmp eq", start, self.widened(row, WARP)) for row in (first, last, middle)]
        bits = self.mask_bits(reduce(partial(self.binary, "or"), here)).ir
        if not self.mask_is_full:
            stopped = self.builder.emit(f"xor {self.mask_bits(self.mask).typed}, -1")
            bits = self.builder.emit(f"or i32 {bits}, {stopped}")
        found = self.builder.emit(f"icmp eq i32 {bits}, -1")
        ends = [self.test("icmp eq", middle, row) for row in (first, last)]
        two = self.binary("or", *ends).ir
        _, in_last, in_middle = (self.mask_bits(lanes).ir for lanes in here)
        return Rows(step, (first, last, middle), moved, found, in_last, in_middle, two)

    def _is_row(self, access: Access, step: int, start: Value) -> str:
        """i1: all that is read of a row is valid, whether a lane has it or not."""
        if not step and self._is_proven(access):
            return "true"
        return self._valid(access, start, WARP * step or access.size).ir

    def _read_row(self, access: Access, step: int, start: Value) -> Value:
        place = self._host(access, start)
        if step:
            return self.load_row(place, access.element, access.word)
        word = Value(self._load(access.element, place, 0, access), access.element)
        return self.widened(word, WARP)

    def _with_middle(self, access: Access, rows: Rows, start: Value, others: Value) -> Value:
        return self.pick(self._as_mask(rows.middle), self._read_row(access, rows.step, start), others)
