"""A process that forks while one of its threads is in LLVM.

Each call of LLVM is made under llvmlite's lock. A child has a copy of it, as it was, and of the threads only
the one that forked: a lock that another thread had would stay taken for ever, and the child's first call of
LLVM would never begin. So the thread that forks takes it first, and waits for one call at
most: compiling takes many.
"""

from __future__ import annotations

import os
from typing import Protocol, cast

from llvmlite.binding import ffi


class _Lock(Protocol):
    def __enter__(self) -> object: ...
    def __exit__(self, *details: object) -> object: ...


def _llvm() -> _Lock:
    """llvmlite tells only when it takes the lock (`ffi.register_lock_callback`), and gives it to nobody."""
    return cast("_Lock", ffi.lib._lock)  # pyright: ignore[reportPrivateUsage, reportUnknownMemberType]


def _take() -> None:
    _llvm().__enter__()


def _give() -> None:
    _llvm().__exit__(None, None, None)


def wait_for_llvm() -> None:
    """Forks wait for calls of LLVM from now on. To be called once."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_take, after_in_parent=_give, after_in_child=_give)
