"""What a launch's parameters say of its arrays: see `simt.analysis.factors`. Every launch asks."""

from __future__ import annotations

from collections.abc import Sequence

from simt.analysis.outline import Factor, Function, Number

SMALL = frozenset(range(9))
"""What arrays say of elements that are one, or side by side, by words or bytes, or one of three colours; and
how many axes they have."""
SETS = 4
"""Sets of such numbers that code is made for in any case."""
TIMES = 16
"""How often launches may ask for other code than the last one had: what is kept for it is made ready anew."""


def small(kernel: Function, parameters: bytes) -> tuple[Number, ...]:
    """What a launch's parameter block says of them, where that is a small number."""
    read = ((place, _number(place, parameters)) for place in kernel.factors)
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
        self._seen = set[tuple[Number, ...]]()
        self._common: tuple[Number, ...] | None = None
        self._times = 0

    def best(self, numbers: tuple[Number, ...]) -> tuple[Number, ...]:
        """Those among a launch's numbers that code is to be made for, where what there is does not suit: all
        of them, for `SETS` such sets and `TIMES` times; then those that all launches had that asked. (With n
        of them, that is n + 1 sets more, at most.)"""
        self._common = numbers if self._common is None else tuple([n for n in self._common if n in numbers])
        self._times += 1
        if len(self._seen) < SETS:
            self._seen.add(numbers)
        return numbers if numbers in self._seen and self._times <= TIMES else self._common
