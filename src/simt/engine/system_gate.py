"""The way out of compiled code: the C function by which it calls the device's system."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from simt.analysis.shape import WARP
from simt.engine.abi import WORKER_SLOTS, FaultKind, FaultSlot, WorkerSlot
from simt.errors import FaultSite
from simt.machine.faults import thread_of
from simt.machine.launch import Launch
from simt.records import dataclass

_ENTRY = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.c_uint32, ctypes.c_int64, ctypes.c_void_p
)
_WORDS: dict[int, Any] = {32: ctypes.c_uint32, 64: ctypes.c_uint64}


@dataclass(frozen=True, slots=True)
class SystemCall:
    """A function of the system that compiled code calls: its name, bits of its parameters and results."""

    name: str
    parameters: tuple[int, ...]
    results: tuple[int, ...]


class SystemGate:
    """Calls of the system by one launch.

    Compiled code calls, through `simt_system`, `int32 gate(worker, number, mask, line, places)`: `number`
    counts `calls`, `places` is the address of the addresses of arguments and then results, 32 lanes each. The
    result is 0 if the warp must stop: then the worker's fault says where, and its address is an index into
    `errors`.
    """

    def __init__(self, launch: Launch, calls: Sequence[SystemCall], stop: Callable[[], None]) -> None:
        self.launch = launch
        self.calls = calls
        self.errors: list[BaseException] = []
        self._stop = stop
        self._entry = _ENTRY(self._enter)

    @property
    def address(self) -> int:
        return ctypes.cast(self._entry, ctypes.c_void_p).value or 0

    def _enter(self, worker: int, number: int, mask: int, line: int, places: int) -> int:
        slots = (ctypes.c_int64 * WORKER_SLOTS).from_address(worker)
        call = self.calls[number]
        columns = _columns(call, places)
        for lane in range(WARP):
            if mask >> lane & 1:
                try:
                    self._call(call, columns, self._site(slots, lane, line), lane)
                except BaseException as error:  # nothing may pass through compiled code
                    self._fail(error, slots, lane, line)
                    return 0
        return 1

    def _call(self, call: SystemCall, columns: list[Any], site: FaultSite, lane: int) -> None:
        count = len(call.parameters)
        arguments = tuple(column[lane] for column in columns[:count])
        system = self.launch.system
        assert system is not None
        value = system.call(call.name, site, arguments)
        for column in columns[count:]:
            column[lane] = value

    def _site(self, slots: Any, lane: int, line: int) -> FaultSite:
        launch = self.launch
        return FaultSite(
            launch.kernel.name,
            thread_of(slots[WorkerSlot.CTA], launch.grid),
            thread_of(slots[WorkerSlot.WARP] * WARP + lane, launch.block),
            *launch.program.text.place(line),
        )

    def _fail(self, error: BaseException, slots: Any, lane: int, line: int) -> None:
        self.errors.append(error)
        values = {
            FaultSlot.KIND: FaultKind.SYSTEM,
            FaultSlot.LINE: line,
            FaultSlot.ADDRESS: len(self.errors) - 1,
            FaultSlot.LANE: lane,
            FaultSlot.WARP: slots[WorkerSlot.WARP],
            FaultSlot.CTA: slots[WorkerSlot.CTA],
        }
        for slot, value in values.items():
            slots[WorkerSlot.FAULT + slot] = value
        self._stop()


def _columns(call: SystemCall, places: int) -> list[Any]:
    """Arguments and results, 32 lanes each."""
    bits = (*call.parameters, *call.results)
    addresses = (ctypes.c_uint64 * len(bits)).from_address(places)
    return [(_WORDS[b] * WARP).from_address(a) for b, a in zip(bits, addresses)]
