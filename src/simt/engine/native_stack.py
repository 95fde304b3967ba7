"""How much native stack the present thread has."""

from __future__ import annotations

import ctypes
import sys
import threading
from typing import Any

WANTED = 4 << 20
"""Bytes of stack that a thread must have to run compiled code without calls: twice what it takes at most."""


def has_room() -> bool:
    """Whether this thread's stack is big enough for compiled code that makes no calls. False where the system
    does not tell."""
    return bounds()[1] >= WANTED


_here = threading.local()


def bounds() -> tuple[int, int]:
    """The lowest address of this thread's stack and its bytes, 0 if unknown. The system is asked once."""
    known: tuple[int, int] | None = getattr(_here, "bounds", None)
    if known is None:
        known = _here.bounds = _asked()
    return known


def _asked() -> tuple[int, int]:
    if not sys.platform.startswith("linux"):
        return 0, 0
    library: Any = ctypes.CDLL(None)
    attributes = ctypes.create_string_buffer(256)  # pthread_attr_t: 56 bytes in glibc and musl on 64 bits
    size = ctypes.c_size_t(0)
    place = ctypes.c_void_p()
    library.pthread_self.restype = ctypes.c_void_p
    if library.pthread_getattr_np(ctypes.c_void_p(library.pthread_self()), attributes) != 0:
        return 0, 0
    library.pthread_attr_getstack(attributes, ctypes.byref(place), ctypes.byref(size))
    library.pthread_attr_destroy(attributes)
    return place.value or 0, size.value
