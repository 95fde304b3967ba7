"""Device memory: an arena of reserved address space whose device addresses are host addresses.

The space is reserved at start and committed by the operating system page by page, as it is touched. A
page before it and a page after it can never be accessed.
"""

from __future__ import annotations

import ctypes
import gc
import mmap
import re
import sys
import weakref
from array import array
from bisect import bisect_left, insort
from collections import deque
from operator import index
from threading import RLock
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from simt.errors import OutOfMemory, SimtError
from simt.pages import LIBC, map_pages, unmap

PAGE = mmap.PAGESIZE
ALIGNMENT = 256
LOW_END = 1 << 32
ADDRESS_SPACE = 1 << 47
"""More than any process of 64 bits can have."""

_RETURNED = 1 << 20  # freed blocks from this size on give their pages back
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", re.IGNORECASE)


def parse_size(size: int | str) -> int:
    """Bytes of `4096`, `"512MiB"`, `"8GiB"` or `"8G"` (powers of 1024). Raises `SimtError`."""
    found = _text_size(size) if isinstance(size, str) else _integer(size)
    if found <= 0:
        raise SimtError(f"bad memory size {size!r}: expected a number of bytes or text such as '8GiB'")
    return min(found, ADDRESS_SPACE)


def _text_size(text: str) -> int:
    match = _SIZE.fullmatch(text.strip())
    return int(float(match[1]) * _UNITS[match[2].lower()]) if match else 0


def _integer(value: object) -> int:
    """The integer that a value is (NumPy's too), 0 for anything else."""
    return value.__index__() if isinstance(value, SupportsIndex) else 0


def round_up(n: int, multiple: int) -> int:
    return -(-n // multiple) * multiple


class FreeList:
    """First-fit allocation of ranges within `[start, end)`; neighbours coalesce when freed."""

    def __init__(self, start: int, end: int) -> None:
        self._free: list[tuple[int, int]] = [(start, end)]  # disjoint, ascending, never adjacent
        self._used: dict[int, int] = {}

    def take(self, size: int, align: int) -> int | None:
        """Start of a free range of `size` bytes (a positive number), None if there is none."""
        for i, (start, end) in enumerate(self._free):
            found = round_up(start, align)
            if found + size <= end:
                rest = [(a, b) for a, b in ((start, found), (found + size, end)) if a < b]
                self._free[i : i + 1] = rest
                self._used[found] = size
                return found
        return None

    def give(self, start: int) -> int:
        """Frees what `take` returned; the size that it had. Raises KeyError for anything else."""
        size = self._used.pop(start)
        self._insert(start, start + size)
        return size

    def _insert(self, start: int, end: int) -> None:
        i = bisect_left(self._free, (start, end))
        if i < len(self._free) and self._free[i][0] == end:
            end = self._free.pop(i)[1]
        if i > 0 and self._free[i - 1][1] == start:
            i -= 1
            start = self._free.pop(i)[0]
        insort(self._free, (start, end))

    def size(self, start: int) -> int | None:
        """Size of the range that begins here, None if none does."""
        return self._used.get(start)

    @property
    def largest(self) -> int:
        return max((b - a for a, b in self._free), default=0)

    @property
    def used(self) -> int:
        return sum(self._used.values())


class Turns:
    """A lock for `with`, whose thread must not wait for itself: a handler of signals runs in the middle of
    what its thread does. Raises `SimtError` there, where a plain lock would wait for ever."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._taken = False

    def __enter__(self) -> None:
        if not self.enter(blocking=True):
            raise SimtError(
                "what this handler of signals interrupted is allocating device memory: the handler can "
                "neither allocate nor launch a kernel for the first time just then"
            )

    def __exit__(self, *_: object) -> None:
        self._taken = False
        self._lock.release()

    def enter(self, *, blocking: bool) -> bool:
        """Whether the turn is the caller's now. `blocking`: waits for other threads."""
        if not self._lock.acquire(blocking):
            return False
        if self._taken:  # by this thread, further up
            self._lock.release()
            return False
        self._taken = True
        return True


class Arena:
    """The `Memory` of `simt.machine.launch`: thread-safe, memory returned to the system when collected.

    `low`: lies below 4 GiB, for modules with 32-bit addresses. The reservation is halved until the
    system grants it, down to 16 MiB. Raises `OutOfMemory` if even that fails.
    """

    def __init__(self, size: int, *, low: bool = False) -> None:
        start, length = _reserve(round_up(size, PAGE), low)
        self._finalizer = weakref.finalize(self, unmap, start, length + 2 * PAGE)
        self._finalizer.atexit = False  # the process' end frees everything; views may still be in use
        self._turns = Turns()
        self._freed: deque[int] = deque()
        self.low = low
        self.changes = array("q", [0])
        """Grows when memory is allocated or freed."""
        self.base = self.limit = start + PAGE
        self._end = self.base + length
        self._ranges = FreeList(self.base, self._end)

    @property
    def size(self) -> int:
        """Bytes reserved."""
        return self._end - self.base

    @property
    def used(self) -> int:
        """Bytes allocated now."""
        with self._turns:
            self._release()
            return self._ranges.used

    def allocate(self, nbytes: int, align: int = ALIGNMENT) -> int:
        """Address of zero-filled memory. Raises `OutOfMemory`."""
        size = round_up(max(index(nbytes), 1), ALIGNMENT)
        with self._turns:
            address = self._take(size, max(align, ALIGNMENT))
            if address is None:
                raise OutOfMemory(self._full(nbytes))
            # Nothing above the old limit was ever accessible: those pages are still zero.
            self._clear(address, min(address + size, self.limit))
            self.limit = max(self.limit, address + size)
            self.changes[0] += 1  # who sees the number sees the limit
        return address

    def _take(self, size: int, align: int) -> int | None:
        self._release()
        found = self._ranges.take(size, align)
        if found is None:
            gc.collect()  # arrays caught in reference cycles
            self._release()
            found = self._ranges.take(size, align)
        return found

    def _full(self, nbytes: int) -> str:
        return (
            f"cannot allocate {nbytes:,} bytes of device memory: {self._ranges.used:,} of {self.size:,} "
            f"bytes are in use, the largest free block has {self._ranges.largest:,}"
        )

    def free(self, address: int) -> None:
        """Frees an allocation. Raises ValueError if none begins at the address."""
        if self._ranges.size(address) is None:
            raise ValueError(f"no allocation begins at address {address:#x}")
        # The garbage collector may call this at any moment, in the middle of `allocate` too: what
        # cannot be freed at once is freed by the next call.
        self.changes[0] += 1
        self._freed.append(address)
        if self._turns.enter(blocking=False):
            try:
                self._release()
            finally:
                self._turns.__exit__()

    def _release(self) -> None:
        """Returns what was freed. The lock is held."""
        while self._freed:
            address = self._freed.popleft()
            size = self._ranges.size(address)
            if size is not None:
                if size >= _RETURNED:
                    self._clear(address, address + size)
                self._ranges.give(address)

    def _clear(self, start: int, end: int) -> None:
        """Zeroes a range; whole pages of a big one are given back to the system."""
        first, last = round_up(start, PAGE), end // PAGE * PAGE
        if last - first < _RETURNED or not _discard(first, last - first):
            first = last = end
        for a, b in ((start, first), (last, end)):
            if a < b:
                ctypes.memset(a, 0, b - a)

    def view(self, address: int, nbytes: int) -> NDArray[np.uint8]:
        """The bytes at an address, shared, not copied. Raises ValueError outside the arena."""
        if nbytes < 0 or not self.base <= address <= address + nbytes <= self._end:
            raise ValueError(f"{nbytes} bytes at {address:#x} are not within the device's memory")
        return np.asarray(Bytes(address, nbytes, self))


class Bytes:
    """A range of an arena as NumPy sees it; keeps `owner` alive as long as a view of it lives."""

    def __init__(self, address: int, nbytes: int, owner: object) -> None:
        self.owner = owner
        self.__array_interface__: dict[str, Any] = {
            "shape": (nbytes,),
            "typestr": "|u1",
            "data": (address, False),
            "version": 3,
        }


# ------------------------------------------------------------------ the operating system

_SMALLEST = 16 << 20
_FLAGS: int = getattr(mmap, "MAP_NORESERVE", 0)
_FIXED_NOREPLACE = 0x100000  # Linux 4.17; older kernels take the address as a hint
_LOW_STEP = 64 << 20


def _reserve(size: int, low: bool) -> tuple[int, int]:
    """Start of a reservation (its first page is a guard) and the usable length between the guards."""
    wanted = size
    while True:
        start = _map_low(size + 2 * PAGE) if low else map_pages(size + 2 * PAGE, flags=_FLAGS)
        if start is not None:
            LIBC.mprotect(start, PAGE, 0)
            LIBC.mprotect(start + PAGE + size, PAGE, 0)
            _prefer_huge_pages(start + PAGE, size)
            return start, size
        if size <= _SMALLEST:
            where = " below 4 GiB" if low else ""
            raise OutOfMemory(f"the system refuses to reserve {wanted:,} bytes of address space{where}")
        size = max(_SMALLEST, round_up(size // 2, PAGE))


def _map_low(size: int) -> int | None:
    """Searches for a place below 4 GiB, from high to low: programs that load low start at the bottom."""
    for address in range((LOW_END - size) // _LOW_STEP * _LOW_STEP, 0, -_LOW_STEP):
        found = map_pages(size, address, _FLAGS | _FIXED_NOREPLACE)
        if found is not None and found + size <= LOW_END:
            return found
        if found is not None:
            unmap(found, size)
    return None


def _prefer_huge_pages(start: int, size: int) -> None:
    """As NumPy does for its big arrays: fewer TLB misses in streams."""
    advice = getattr(mmap, "MADV_HUGEPAGE", None)
    if advice is not None:
        LIBC.madvise(start, size, advice)


def _discard(start: int, size: int) -> bool:
    """Gives pages back; they read as zero afterwards. False where the system does not promise that."""
    if sys.platform != "linux":
        return False
    return LIBC.madvise(start, size, mmap.MADV_DONTNEED) == 0
