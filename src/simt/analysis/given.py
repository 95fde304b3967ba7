"""What a launch's parameters say of its arrays: see `simt.analysis.factors`. Every launch asks."""

from __future__ import annotations

from collections.abc import Sequence

from simt.analysis.outline import Factor, Function, Number

SMALL = frozenset({0, 1, 2, 4, 8})
"""What arrays say of elements that are one, or side by side: by elements, by bytes, of complex numbers."""


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
