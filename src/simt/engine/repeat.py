"""Launches that Python makes once more by a single call of compiled code (`simt.engine.native_repeat`)."""

from __future__ import annotations

import ctypes
import struct
import sys
import threading
import time
from collections.abc import Callable
from functools import cache, partial
from operator import index
from typing import Any, SupportsIndex, cast
from weakref import ref

import numpy as np

from simt.engine.abi import ArgumentSlot, RepeatSlot, slot_count
from simt.engine.blocks import Block
from simt.engine.native import c_function
from simt.engine.native_grids import COUNT_AT, ITEMS_AT, LIST_ITEMS_AT, TYPE_AT
from simt.engine.native_repeat import ADDRESS_AT, KNOWN
from simt.engine.native_stack import bounds, has_room
from simt.engine.prepared import Prepared
from simt.engine.watch import WATCH
from simt.machine.launch import Arrays, Given, Launch, Place

METH_FASTCALL = 0x80
FUNCTIONS = {
    RepeatSlot.INVOKE: "PyObject_CallNoArgs",
    RepeatSlot.DROP: "Py_DecRef",
    RepeatSlot.KEEP: "Py_IncRef",
    RepeatSlot.ADD: "PySet_Add",
    RepeatSlot.DISCARD: "PySet_Discard",
    RepeatSlot.OCCURRED: "PyErr_Occurred",
    RepeatSlot.FETCH: "PyErr_Fetch",
    RepeatSlot.RESTORE: "PyErr_Restore",
    RepeatSlot.AS_NUMBER: "PyLong_AsLongLong",
    RepeatSlot.AS_DOUBLE: "PyFloat_AsDouble",
    RepeatSlot.CLEAR: "PyErr_Clear",
}


_SINGLE, _DOUBLE, _INTEGER, _LONG = (struct.Struct(f"={letter}") for letter in "fdiq")


class _Method(ctypes.Structure):
    """`PyMethodDef`."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("text", ctypes.c_char_p),
    ]


class Repeat:
    """A launch that ended well, ready to be made once more. `call(grid, block, args, shared_mem)`, for the
    thread that made this, is what `simt_repeat` says."""

    def __init__(self, launch: Launch, prepared: Prepared, given: Given) -> None:
        self._launch, self._prepared = launch, prepared
        block = Block(RepeatSlot.ARGS + slot_count(ArgumentSlot) * len(given.args))
        self.slots = slots = block.slots
        parameters = ctypes.create_string_buffer(given.parameters, max(1, len(given.parameters)))
        arguments = [
            self._argument(RepeatSlot.ARGS + slot_count(ArgumentSlot) * i, *known)
            for i, known in enumerate(zip(given.args, given.places, strict=True))
        ]
        low, size = bounds()
        held = {
            RepeatSlot.ACQUIRE: given.lock.acquire,
            RepeatSlot.RELEASE: given.lock.release,
            RepeatSlot.RUNNING: WATCH.running,
            RepeatSlot.ITSELF: prepared,
            RepeatSlot.TRUE: True,
            RepeatSlot.FALSE: False,
            RepeatSlot.NONE: None,
            RepeatSlot.FINISH: prepared.finish,
            RepeatSlot.TUPLE: tuple,
            RepeatSlot.LIST: list,
            RepeatSlot.INTEGER: int,
        }
        values: dict[int, int] = {slot: id(thing) for slot, thing in held.items()}
        values |= {RepeatSlot.GRID + i: id(thing) for i, thing in enumerate(given.shape)}
        values |= {
            RepeatSlot.COUNT: len(given.args),
            RepeatSlot.DEVICE: given.device_changes.buffer_info()[0],
            RepeatSlot.MEMORY: given.memory_changes.buffer_info()[0],
            RepeatSlot.CELLS: launch.cells.buffer_info()[0],
            RepeatSlot.AWAKE: WATCH.cell.buffer_info()[0],
            RepeatSlot.STACK: low,
            RepeatSlot.STACK_BYTES: size,
            RepeatSlot.LAST_GRID_ID: given.last_grid_id.buffer_info()[0],
            RepeatSlot.LAUNCH: prepared.block.address,
            RepeatSlot.CALL: prepared.call.address,
            RepeatSlot.HELP: prepared.help.buffer_info()[0],
            RepeatSlot.CLOCK_ID: time.CLOCK_MONOTONIC,
            RepeatSlot.UNDER_WAY: prepared.under_way.buffer_info()[0],
            RepeatSlot.PARAMETERS: ctypes.addressof(parameters),
            RepeatSlot.PARAMETER_BYTES: len(launch.parameters),
        }
        for slot, value in (values | _functions()).items():
            slots[slot] = value
        method = _Method(b"again", prepared.host.native.repeat, METH_FASTCALL, None)
        self._grid = [given.shape[0]]
        self._clock = c_function("clock_gettime")
        self._takes_grids, self._timeout = prepared.takes_grids(launch), given.timeout
        used = method, block, parameters, arguments, [*held.values()], launch, prepared, given, self._grid
        address = block.address.to_bytes(8, sys.byteorder)
        self.call: Callable[..., bool | None] = _function(method, address, used)

    def _argument(self, first: int, argument: object | Arrays, place: Place | None) -> object:
        """Writes what is known of an argument; what is to be kept of it is returned."""
        if isinstance(argument, Arrays):
            return self._arrays(first, argument, place)
        self.slots[first + ArgumentSlot.OBJECT] = id(argument)
        if place is not None:
            self._number(first, argument, place)
        return argument

    def _arrays(self, first: int, arrays: Arrays, place: Place | None) -> list[ref[object]]:
        """One may end, and another object begin at its address: a callback comes before that."""
        slots, kept = self.slots, list[ref[object]]()
        for (known, value), array, address in zip(KNOWN, arrays.objects, arrays.addresses):
            target = array()
            if target is not None:
                slots[first + known], slots[first + value] = id(target), address
                kept.append(ref(target, partial(_forget, slots, first + known)))
        if len(arrays.objects) > 1 and place is not None:
            slots[first + ArgumentSlot.OFFSET] = place.offset
            slots[first + ArgumentSlot.BYTES] = place.bits // 8
        return kept

    def _number(self, first: int, argument: object, place: Place) -> None:
        """Others of its type may take a number's place: NumPy's and Python's own, which run no code of
        somebody else's when they are asked what they are. (Not where code is made for that number.)"""
        is_float = isinstance(argument, (float, np.floating))
        if is_float != place.is_float or self._is_known(place):
            return
        if is_float:
            pack, unpack = (_SINGLE, _INTEGER) if place.bits == 32 else (_DOUBLE, _LONG)
            value, most = unpack.unpack(pack.pack(argument))[0], 0
        else:
            value, most = index(cast("SupportsIndex", argument)), min((1 << place.bits) - 1, (1 << 63) - 1)
            if not 0 <= value <= most:
                return
        values = {
            ArgumentSlot.TYPE: id(type(argument)),
            ArgumentSlot.VALUE: value,
            ArgumentSlot.MOST: most,
            ArgumentSlot.OFFSET: place.offset,
            ArgumentSlot.BYTES: place.bits // 8,
        }
        for slot, number in values.items():
            self.slots[first + slot] = number

    def _is_known(self, place: Place) -> bool:
        """Whether code is made for a number that is the argument at a place, or a part of it."""
        end = place.offset + place.bits // 8
        return any(place.offset <= offset < end for (offset, _), _ in self._prepared.compiled.block.numbers)

    def arm(self, device_changes: int, memory_changes: int) -> bool:
        """After a launch that Python made with the same objects: whether the next one can do without it. What
        has changed since these were the numbers, that launch may not have seen."""
        launch, prepared, slots = self._launch, self._prepared, self.slots
        launches = prepared.again(launch)
        if not launches:
            return False
        prepared.repeats, prepared.repeats_timeout = slots, self._timeout
        slots[RepeatSlot.DEVICE_CHANGES] = device_changes
        slots[RepeatSlot.MEMORY_CHANGES] = memory_changes
        slots[RepeatSlot.LEFT] = launches
        slots[RepeatSlot.MADE] = 0
        slots[RepeatSlot.TOTAL] = slots[RepeatSlot.COUNTED] = 0
        self._grids()
        asks = prepared.is_timed or self._timeout is not None
        slots[RepeatSlot.CLOCK] = self._clock if asks else 0
        slots[RepeatSlot.ARMED] = 1
        return True

    def _grids(self) -> None:
        """Writes which grid it is, and which others may take its place."""
        launch, slots = self._launch, self.slots
        others = self._prepared.other_grids(launch)
        block = self._prepared.compiled.block
        limits = map(min, launch.device.max_grid, block.largest_grid)
        for i, (extent, most) in enumerate(zip(block.grid(launch.grid), limits)):
            slots[RepeatSlot.EXTENT + i] = extent
            slots[RepeatSlot.MOST + i] = 0 if others is None else most
        slots[RepeatSlot.LEAST_CTAS], slots[RepeatSlot.MOST_CTAS], slots[RepeatSlot.PARTS] = others or (
            0,
            0,
            0,
        )

    @property
    def is_current(self) -> bool:
        """Whether launches still use the same blocks: there may be other code for another grid."""
        return self._launch.state is self._prepared

    def regrid(self, grid: object, ctas: int, alike: bool) -> bool:
        """See `Repeated.regrid`. Who has compared with the last grid, and waits for the lock, finds that it
        counts no more."""
        slots = self.slots
        alike |= slots[RepeatSlot.LEAST_CTAS] <= ctas <= slots[RepeatSlot.MOST_CTAS]
        used = slots[RepeatSlot.MADE] > 0 or (alike and self._takes_grids)
        slots[RepeatSlot.ARMED] = 0
        slots[RepeatSlot.GRIDS] += 1
        slots[RepeatSlot.GRID] = id(grid)
        self._grid[0] = grid
        return used

    def stopped(self) -> None:
        """Ends a launch for which `call` gave None. Raises its `KernelFault`."""
        self._prepared.raise_fault(self._launch, late=self._prepared.is_late(self._launch))


def _forget(slots: memoryview, slot: int, _: object) -> None:
    """An object has ended."""
    slots[slot] = slots[RepeatSlot.ARMED] = 0


def can_repeat(launch: Launch, prepared: Prepared) -> bool:
    """Whether a launch may be made once more, by the thread that asks."""
    return (
        prepared.is_plain
        and launch.progress is None
        and threading.current_thread() is threading.main_thread()  # others end, and their stacks with them
        and has_room()
        and _knows_python()
    )


@cache
def _knows_python() -> bool:
    """Whether Python's objects lie in memory as compiled code reads them, and one thread runs at a time."""
    if sys.implementation.name != "cpython" or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return False
    sample, address = (object(), object()), (1 << 60).to_bytes(8, sys.byteorder)
    words, listed = ctypes.c_int64 * 2, [*sample]
    in_list = ctypes.c_int64.from_address(id(listed) + LIST_ITEMS_AT).value
    return (
        ctypes.c_int64.from_address(id(sample) + TYPE_AT).value == id(tuple)
        and ctypes.c_int64.from_address(id(sample) + COUNT_AT).value == 2
        and ctypes.c_int64.from_address(id(listed) + COUNT_AT).value == 2
        and [*words.from_address(id(sample) + ITEMS_AT)] == [*map(id, sample)]
        and [*words.from_address(in_list)] == [*map(id, sample)]
        and ctypes.string_at(id(address) + ADDRESS_AT, 8) == address
    )


@cache
def _functions() -> dict[int, int]:
    """Addresses of the functions of Python that compiled code calls."""
    found = {slot: getattr(ctypes.pythonapi, name) for slot, name in FUNCTIONS.items()}
    return {slot: ctypes.cast(f, ctypes.c_void_p).value or 0 for slot, f in found.items()}


def _function(method: _Method, itself: bytes, used: object) -> Any:
    """A function of Python's that calls `method` with `itself` and its arguments. It keeps `used` alive, in
    the place for its module."""
    return _maker()(ctypes.addressof(method), itself, used)


@cache
def _maker() -> Any:
    """Python's own function that makes functions. (Each type of functions is a class, which takes long.)"""
    prototype = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.py_object)
    return prototype(("PyCFunction_NewEx", ctypes.pythonapi))
