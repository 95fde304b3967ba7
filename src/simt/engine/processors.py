"""On which of the system's processors a thread wakes up.

Linux may let a thread wake up where the one who wakes it runs: on virtual machines processors that sleep
look like ones that are not to be had. If the one who wakes it goes on running there, it waits for
milliseconds, until somebody sees that another processor has nothing to do. So it is sent away before, and may
come back when it has woken up (`simt.engine.native_seats`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping

from simt.engine.abi import RosterSlot
from simt.engine.native import c_function

FUNCTIONS = {
    RosterSlot.WHERE: "sched_getcpu",
    RosterSlot.ASK: "sched_getaffinity",
    RosterSlot.CHOOSE: "sched_setaffinity",
}


def functions() -> Mapping[int, int]:
    """Addresses of functions of the C library: which processor the caller runs on, and where a thread may
    run, to ask and to choose. None if the system has not got them all."""
    if not all(hasattr(ctypes.pythonapi, name) for name in FUNCTIONS.values()):
        return {}
    return {slot: c_function(name) for slot, name in FUNCTIONS.items()}
