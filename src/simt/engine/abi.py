"""What compiled code and its Python side share: above all memory blocks, every field one 64-bit slot."""

from __future__ import annotations

from enum import IntEnum

KERNEL = "simt_kernel"
"""The name of a compiled kernel's entry."""
NATIVE_STACK = 64 << 20
"""Bytes of stack of the threads that run compiled code."""


class LaunchSlot(IntEnum):
    """Constant during a launch, apart from the three counters at the end."""

    PARAMETERS = 0  # address of the parameter block
    BASE = 1  # of the arena
    LIMIT = 2  # of the arena
    GRID_X = 3
    GRID_Y = 4
    GRID_Z = 5
    CTAS = 6
    SHARED_BYTES = 7  # of a CTA, static and dynamic
    DYNAMIC_SHARED = 8
    LOCAL_BYTES = 9  # of a thread
    GRID_ID = 10
    SYMBOLS = 11  # address of the table of module variables' addresses
    SM_COUNT = 12
    NEXT_CTA = 13  # counter: the next CTA to hand out
    ABORT = 14  # nonzero: stop as soon as possible
    FINISHED = 15  # counter of CTAs
    SYSTEM = 16  # address of the function that calls the system: see `simt.engine.system_gate`
    WARPS_OF_SM = 17  # that one of the device's multiprocessors can hold


class WorkerSlot(IntEnum):
    """One block for each native thread."""

    SHARED = 0  # address of the CTA's shared memory
    LOCAL = 1  # address of the local memory of the CTA's threads
    CONTEXT = 2  # address of the warps' saved contexts
    SM = 3
    STACK_LIMIT = 4  # native stack address below which a call is refused
    CTA = 5  # now running, for fault reports
    WARP = 6
    FAULT = 7  # first slot of this worker's `FaultSlot`s


class FaultSlot(IntEnum):
    KIND = 0
    LINE = 1
    ADDRESS = 2
    LANE = 3
    WARP = 4
    CTA = 5
    SIZE = 6
    SPACE = 7


class FaultKind(IntEnum):
    NONE = 0
    ILLEGAL = 1
    MISALIGNED = 2
    TRAP = 3
    ABORTED = 4  # stopped from outside: deadline, interrupt, or another worker's fault
    STACK = 5
    BARRIER = 6
    TARGET = 7  # indirect branch or call to nowhere
    NO_BARRIER = 8  # a barrier number that does not exist
    SYSTEM = 9  # a call of the system raised an exception


WORKER_SLOTS = WorkerSlot.FAULT + len(FaultSlot)

SPACES = ("", "global", "const", "param", "shared", "local")
"""Spaces by the number used in fault reports; "" is generic."""
