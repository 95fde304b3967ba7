"""Imports that wait until they are needed, for what a handler of signals may need at the same time.

A handler runs between two steps of the main thread, also in the middle of an import. If it launches a kernel
then, and so needs the same module, Python would give it the half that is there.
"""

from __future__ import annotations

import sys
import threading
from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import Any

from simt.collector import collector_spared


def import_whole(*names: str) -> None:
    """Imports modules that are not there yet, on a thread of its own: handlers, which run on the main thread
    only, wait for it. What stops an import (Ctrl-C does not) is raised by the caller's own import."""
    if all(name in sys.modules for name in names):
        return
    if threading.current_thread() is not threading.main_thread():
        return  # nothing interrupts it
    thread = threading.Thread(target=_import, args=names, daemon=True)
    with suppress(RuntimeError):  # no new threads while Python ends
        thread.start()
        thread.join()


class Later:
    """A module that is imported when something in it is asked for: for what few programs need. It stands for

        if TYPE_CHECKING:
            from simt.engine import llvm_phases
        else:
            llvm_phases = Later("simt.engine.llvm_phases")

    Code that runs when a module is imported may ask it for nothing: another thread would wait for
    that module.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._module: ModuleType | None = None

    def __getattr__(self, name: str) -> Any:
        if self._module is None:
            import_whole(self._name)
            self._module = import_module(self._name)
        return getattr(self._module, name)


@collector_spared()
def _import(*names: str) -> None:
    for name in names:
        try:
            import_module(name)
        except Exception:  # it comes again where the caller imports
            return
