"""Accesses by lanes that are in two rows of an index: see `simt.engine.llvm_two_rows`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from simt.analysis.shape import WARP
from simt.engine.llvm_access import ARENA, Access
from simt.engine.llvm_builder import Value
from simt.engine.llvm_lanes import bases, shape_of
from simt.engine.llvm_later import LaterAlgebra
from simt.records import replace

Values = tuple[Value, ...]


class RowAccessAlgebra(LaterAlgebra):
    """`LaterAlgebra` with one access for each of two rows. What all its lanes would get at is valid, whether
    they are in the row or not."""

    def load_rows(self, access: Access, slowly: Callable[[Access], Values]) -> Values | None:
        """A word for each lane, or one for each row; None if it is to be done lane by lane. `slowly`: does
        that where a warp cannot begin again."""
        stride = shape_of(access.address).stride
        near = self.loads_near(stride, access.size)
        if not self._may_be_two(access) or not (near or stride in (0, access.size)):
            return None
        span = (WARP - 1) * stride + access.size
        if self.retreat is not None:
            self._hold_rows(access, span)
            return (self._load_both(access, near),)
        valid = self._all(self._valid(access, bases(access.address), span))
        rows = lambda: (self.vector(self._load_both(access, near)),)  # noqa: E731
        lanes = self.lane_by_lane(access)
        return self._either(valid, rows, partial(slowly, lanes), likely=True)

    def _load_both(self, access: Access, near: bool) -> Value:
        """A word for each lane, or, where all lanes of a row get at one, a word for each row."""
        if not shape_of(access.address).stride:
            parts = [self._load(access.element, p, 0, access) for p in self._both_hosts(access)]
            return self._assemble(access.element, parts)
        first, second = (self._load_near(access, p, near) for p in self._both_hosts(access))
        return self.pick(self.in_first_row(), first, second)

    def _load_near(self, access: Access, place: str, near: bool) -> Value:
        """A word for each lane of one row: the next ones, or those at small steps."""
        if not near:
            return self.load_row(place, access.element, access.word)
        run = self.picked(access, shape_of(access.address).stride, 0)
        return self.apart("steps", run, Value(place, "ptr"))

    def may_store_rows(self, access: Access) -> bool:
        """Whether there is a store for each row."""
        consecutive = shape_of(access.address).stride == access.size
        return consecutive and self.mask_is_full and self.retreat is not None and self._may_be_two(access)

    def store_rows(self, access: Access, value: Value) -> None:
        """Stores a word of each lane."""
        self._hold_rows(access, WARP * access.size)
        self.retreat = None
        inside, data = self.in_first_row(), self.vector(value)
        for place, lanes in zip(self._both_hosts(access), (inside, self.invert_mask(inside))):
            self.store_row(access, data, place, lanes)

    def lane_by_lane(self, access: Access) -> Access:
        """The same access, of whose addresses no more is known than what each lane has."""
        return replace(access, address=self.vector(access.address))

    def _may_be_two(self, access: Access) -> bool:
        plain = access.count == 1 and not access.volatile and access.region.space == ARENA.space
        return plain and shape_of(access.address).is_affine

    def _hold_rows(self, access: Access, span: int) -> None:
        self.hold(self._all(self._valid(access, bases(access.address), span)))

    def _both_hosts(self, access: Access) -> list[str]:
        return [self._host(access, part) for part in self._parts(bases(access.address))]
