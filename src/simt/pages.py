"""Pages of memory by calls of the C library, since Python's own `mmap` keeps their addresses to itself."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

_FAILED = ctypes.c_void_p(-1).value
_PRIVATE = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS


def _libc() -> Any:
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    library.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    library.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    library.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return library


LIBC = _libc()
"""The functions that the process has; those for pages know what they take."""


def map_pages(size: int, address: int | None = None, flags: int = 0) -> int | None:
    """Where so many bytes were given, which may be read and written: at an address if it is free. None: they
    were not. `flags`: of `mmap`, beside those of memory of the process's own."""
    found = LIBC.mmap(address, size, mmap.PROT_READ | mmap.PROT_WRITE, _PRIVATE | flags, -1, 0)
    return None if found == _FAILED else found


def unmap(start: int, size: int) -> None:
    """Gives them back."""
    LIBC.munmap(start, size)
