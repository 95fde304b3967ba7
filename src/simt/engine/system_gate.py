"""The way out of compiled code: the C function by which it calls the device's system."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import ref

from simt.analysis.shape import WARP
from simt.engine.abi import WORKER_SLOTS, FaultKind, FaultSlot, NoteSlot, WorkerSlot
from simt.errors import FaultSite
from simt.machine.faults import thread_of
from simt.machine.launch import Launch
from simt.records import dataclass

if TYPE_CHECKING:
    from simt.engine.blocks import Block  # what compiles imports this file, and needs no NumPy

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
    """Calls of the system by a kernel's launches, one at a time.

    Compiled code calls, through `simt_system`, `int32 gate(worker, number, mask, line, places)`: `number`
    counts `calls`, `places` is the address of the addresses of arguments and then results, 32 lanes each. The
    result is 0 if the warp must stop: then the worker's fault says where, and its address is an index into
    `errors`.
    """

    def __init__(self, calls: Sequence[SystemCall], stop: Callable[[], None], note: Block) -> None:
        """`stop`: ends a launch one of whose calls raised an exception. `note`: of as many slots as there are
        `NoteSlot`s."""
        self.calls = calls
        self.errors: list[BaseException] = []
        self.called = False
        """Whether the latest launch made any call."""
        self._launch: Launch | None = None
        self._stop = stop
        self._entry = _ENTRY(partial(_enter, ref(self)))  # not a method: nothing is to keep itself alive
        self._note = note
        note.slots[NoteSlot.ITSELF] = note.address

    @property
    def address(self) -> int:
        return ctypes.cast(self._entry, ctypes.c_void_p).value or 0

    def begin(self, launch: Launch) -> None:
        """The calls are this launch's until it `end`s."""
        self._launch, self.called = launch, False

    def end(self) -> None:
        self._launch = None
        self.errors.clear()

    def note(self, roster: int) -> int:
        """Address of the `NoteSlot`s by which a thread leaves calls to others, who are on this roster."""
        self._note.slots[NoteSlot.ROSTER] = roster
        return self._note.address

    def enter(self, worker: int, number: int, mask: int, line: int, places: int) -> int:
        """A warp's call: see above."""
        self.called = True
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
        assert self._launch is not None
        assert self._launch.system is not None
        system = self._launch.system
        value = system.call(call.name, site, arguments)
        for column in columns[count:]:
            column[lane] = value

    def _site(self, slots: Any, lane: int, line: int) -> FaultSite:
        launch = self._launch
        assert launch is not None
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


def _enter(known: ref[SystemGate], worker: int, number: int, mask: int, line: int, places: int) -> int:
    gate = known()
    assert gate is not None, "whoever runs a launch has its gate"
    return gate.enter(worker, number, mask, line, places)


def _columns(call: SystemCall, places: int) -> list[Any]:
    """Arguments and results, 32 lanes each."""
    bits = (*call.parameters, *call.results)
    addresses = (ctypes.c_uint64 * len(bits)).from_address(places)
    return [(_WORDS[b] * WARP).from_address(a) for b, a in zip(bits, addresses)]
