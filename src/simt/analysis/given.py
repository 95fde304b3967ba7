"""What a launch's parameters say of its arrays: see `simt.analysis.factors`. Every launch asks."""

from __future__ import annotations

from collections.abc import Sequence

from simt.analysis.outline import Factor, Function, Number

SMALL = frozenset(range(9))
"""What arrays say of elements that are one, or side by side, by words or bytes, or one of three colours; and
how many axes they have."""
SETS = 4
"""Ways of a kernel that code is made for."""
TIMES = 16
"""How often launches may ask for other code than the last one had: what is kept for it is made ready anew."""


def small(places: Sequence[Factor], parameters: bytes) -> tuple[Number, ...]:
    """What a launch's parameter block says at some places, where that is a small number."""
    read = ((place, _number(place, parameters)) for place in places)
    return tuple([(place, number) for place, number in read if number in SMALL])


def hold(numbers: Sequence[Number], parameters: bytes) -> bool:
    """Whether a parameter block has these numbers."""
    return all(_number(place, parameters) == number for place, number in numbers)


def _number(place: Factor, parameters: bytes) -> int:
    offset, size = place
    return int.from_bytes(parameters[offset : offset + size], "little")


class Variants:
    """What launches of a kernel have had so far."""

    def __init__(self) -> None:
        self._common: dict[tuple[Number, ...], tuple[Number, ...]] = {}  # factors, by the ways they come with
        self._times = 0

    def best(self, kernel: Function, parameters: bytes) -> tuple[Number, ...]:
        """What code is to be made for, where what there is does not suit a launch: its ways, for so many of
        them, and those of its factors that all launches with these ways had that asked. (With n of them, that
        is made n + 1 times, at most.)"""
        ways, factors = small(kernel.ways, parameters), small(kernel.factors, parameters)
        self._times += 1
        if self._times > TIMES or (ways not in self._common and len(self._common) >= SETS):
            ways = ()
        common = tuple([n for n in self._common.get(ways, factors) if n in factors])
        self._common[ways] = common  # (what another thread puts here meanwhile may not hold for this launch)
        return ways + common
