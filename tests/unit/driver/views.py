"""Arrays that are a part of another one's memory."""

from __future__ import annotations

from typing import Any

from simt.driver.array import DeviceArray


def part(array: DeviceArray, start: int) -> DeviceArray:
    """A view of eight words."""
    found = DeviceArray.__new__(DeviceArray)
    for slot, value in (("device", array.device), ("dtype", array.dtype), ("nbytes", 32), ("shape", (8,))):
        setattr(found, slot, value)
    found.allocation = Part(array.allocation, 4 * start)  # type: ignore[assignment]
    return found


class Part:
    """A piece of an allocation."""

    def __init__(self, whole: Any, offset: int) -> None:
        self.whole, self.address, self.alive, self.arena = whole, whole.address + offset, True, whole.arena
