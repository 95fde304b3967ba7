"""Python's collector of reference cycles, where there are none to be found."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Generator[None]:
    """What makes many objects that stay takes a fifth longer if the collector looks through them again and
    again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextmanager
def collector_spared() -> Generator[None]:
    """The same for imports, which make what stays as long as the process: it is put among what is old without
    being looked through even once, which takes a twelfth of their time."""
    spares = gc.isenabled()
    with collector_paused():
        try:
            yield
        finally:
            if spares and not gc.get_freeze_count():  # who has frozen objects wants them to stay so
                gc.freeze()
                gc.unfreeze()
