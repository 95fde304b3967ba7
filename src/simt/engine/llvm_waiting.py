"""Stores to members of structures, with loads between: `p[i].x += a; p[i].y += b;`.

They are stored together (`simt.engine.llvm_members`) if all of these loads have been done ahead of the first
store (`simt.engine.llvm_following`) and lie apart from what is stored before them. What cannot be told ahead
is found out at the first store: that all lanes run, all members of all structures may be written, and other
arrays lie apart. If so stores wait; else each is done where it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from simt.analysis.members import Later
from simt.engine.llvm_access import Access
from simt.engine.llvm_following import Ahead
from simt.engine.llvm_lanes import Guarded, bases, shape_of
from simt.engine.llvm_members import MemberAlgebra
from simt.engine.llvm_memory import Store, Values
from simt.ptx.types import U64
from simt.records import dataclass, replace


@dataclass(slots=True)
class Promise:
    """Stores that are sure to come. `holds`: an i1, whether those before them wait. `missing`: how many."""

    holds: str
    missing: int


def _nothing() -> Values:
    return ()


class WaitingAlgebra(MemberAlgebra):
    """`MemberAlgebra` with such stores. `later`: those that follow the present one."""

    later: tuple[Later, ...] = ()
    _promise: Promise | None = None

    def load_planned(self, access: Access) -> Values:
        if self._promise is not None and not self.is_ahead:
            self.settle_members()
        return super().load_planned(access)

    def take_store(self, store: Store) -> None:
        if self._promise is None and self.later and not self.holds:
            self._promise = self._promised(store)
        elif self._promise is not None and not self._joins(store):
            self.settle_members()
        if self._promise is None:
            return super().take_store(store)
        self._waiting_members.append(store)
        each = partial(self._store_each, [store])
        if self._promise.missing:
            self._promise.missing -= 1
            self._either(self._promise.holds, _nothing, each)
        else:
            self._settle(self._promise.holds, each)
        return None

    def settle_members(self) -> None:
        if self._promise is None:
            return super().settle_members()
        return self._settle(self._promise.holds, _nothing)

    def _settle(self, holds: str, otherwise: Callable[[], Values]) -> None:
        """Stores what waits, if it does."""
        members, line, reach = list(self._waiting_members), self.line, self.reach
        self._promise = None
        self._waiting_members.clear()
        for member in members:
            self.note_store(member)
        self._either(holds, partial(self._store_waiting, members), otherwise)
        self.line, self.reach = line, reach

    def _promised(self, store: Store) -> Promise | None:
        """Whether this store and some of those that follow may wait; None: they may not."""
        access, ahead = store.access, dict(self._loaded_ahead)
        if not self._may_wait(access) or any(loaded.ends is None for loaded in ahead.values()):
            return None
        offsets, known, others = [0], list[Ahead](), list[Ahead]()
        for member in self.later:
            loads = [(offset, ahead.pop((address, offset), None)) for address, offset in member.loads]
            apart = [self._is_apart(access, offsets, *load) for load in loads]
            if None in apart or not self._are_in_one(access, [*offsets, member.offset]):
                break
            offsets.append(member.offset)
            known += [loaded for _, loaded in loads if loaded is not None]
            others += [loaded for (_, loaded), told in zip(loads, apart, strict=True) if loaded and not told]
        if not (known and self._may_be_put(len(offsets), access)):
            return None
        low, high = min(offsets), max(offsets) + access.size
        return Promise(self._may_all_wait(access, low, high, known, others), len(offsets) - 1)

    def _are_in_one(self, access: Access, offsets: Sequence[int]) -> bool:
        """Whether these are different members of one structure, of one size."""
        within = max(offsets) - min(offsets) + access.size <= shape_of(access.address).stride
        return within and len(set(offsets)) == len(offsets) and not any(o % access.size for o in offsets)

    def _is_apart(
        self, access: Access, offsets: Sequence[int], offset: int, ahead: Ahead | None
    ) -> bool | None:
        """Whether a load that was done ahead gets at other members than what is stored at some offsets before
        it; False: by a test; None: it does not, or was not done."""
        if ahead is None:
            return None
        members, step = ahead.members, shape_of(access.address).stride
        if members is None or shape_of(members.address).stride != step:
            return False
        (start, place), (own_start, own) = (self.as_sum(bases(a.address)) for a in (access, members))
        if start.ir != own_start.ir:
            return False
        at = own + offset - (min(ahead.columns) + ahead.at)
        apart = (
            (place + o - at) % step >= ahead.size and (at - place - o) % step >= access.size for o in offsets
        )
        return True if all(apart) else None

    def _may_all_wait(
        self, access: Access, low: int, high: int, known: Sequence[Ahead], others: Sequence[Ahead]
    ) -> str:
        """i1: all lanes run, may be written from one offset to the other, loads have been done ahead, and
        others of them are of words that lie apart."""
        address = access.address
        lowest = replace(access, address=self.sub(U64, address, self.const(U64, -low)) if low else address)
        span = shape_of(address).stride * (self.segment - 1) + high - low
        guards = (address.valid,) if isinstance(address, Guarded) else ()
        holds = self._are_written(lowest, span, guards)
        for done in dict.fromkeys(ahead.done for ahead in known):
            holds = self.both(holds, self.builder.emit(f"load i1, ptr {done}"))
        first, last = self._ends_of(bases(lowest.address))
        for ahead in {ahead.done: ahead for ahead in others}.values():
            assert ahead.ends is not None
            holds = self.both(holds, self._is_outside(ahead.ends, first, self.plus(last, span)))
        return holds
