"""Functions that device code calls but no module defines: the device's system offers them.

nvcc turns `printf`, `assert`, `malloc` and `new` into calls of extern functions. Both engines hand such a
call over lane by lane, as a name and numbers; what it does is written here, once.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

from simt.analysis.call_graph import reachable
from simt.analysis.outline import Function, Program
from simt.errors import AssertionFault, FaultSite, LaunchError, MemoryFault, brief
from simt.imports import import_whole
from simt.machine.faults import memory_fault
from simt.machine.heap import Heap
from simt.machine.launch import Memory
from simt.machine.printf import formatted
from simt.records import dataclass

if TYPE_CHECKING:
    from simt.analysis.program import Call

Write: TypeAlias = Callable[[str], object]
BUFFER = 1 << 20
"""Characters that wait for the launch's end before they are printed: as many as CUDA's buffer holds."""
_CHUNK = 256


class SystemCalls:
    """The system as one launch sees it. Calls may come from several threads.

    What is printed is collected, and handed to `write` in the order of the CTAs, the text of one call at
    a time, when `flush` is called or `BUFFER` characters are waiting.
    """

    def __init__(self, memory: Memory, heap: Heap | None, pointer_bytes: int, write: Write) -> None:
        self.memory = memory
        self._heap = heap
        self.pointer_bytes = pointer_bytes
        self._write = write
        self._printed: list[tuple[tuple[int, ...], str]] = []
        self._waiting = 0
        self._lock = Lock()

    def call(self, name: str, site: FaultSite, arguments: tuple[int, ...]) -> int:
        """Runs a function for one thread; its result as an unsigned number, 0 if it has none.

        Raises a `KernelFault` at `site`.
        """
        with self._lock:
            return SYSTEM[name].run(self, site, *arguments)

    @property
    def heap(self) -> Heap:
        assert self._heap is not None, "the driver gives a heap to kernels that use it"
        return self._heap

    def print(self, site: FaultSite, text: str) -> None:
        self._printed.append(((site.cta or ())[::-1], text))
        self._waiting += len(text)
        if self._waiting > BUFFER:
            self.flush()

    def flush(self) -> None:
        """Prints what is waiting."""
        printed, self._printed, self._waiting = self._printed, [], 0
        for _, text in sorted(printed, key=lambda p: p[0]):  # stable: calls of one CTA stay in order
            self._write(text)

    # ------------------------------------------------------------------ device memory

    def read(self, site: FaultSite, address: int, nbytes: int) -> bytes:
        """Raises `MemoryFault` outside device memory."""
        memory = self.memory
        if not memory.base <= address <= address + nbytes <= memory.limit:
            raise memory_fault(site, address, nbytes, "", misaligned=False)
        return ctypes.string_at(address, nbytes)  # device addresses are host addresses; quicker than a view

    def _room(self, address: int) -> int:
        """Bytes of device memory from an address on; 1 for one that is outside."""
        memory = self.memory
        return memory.limit - address if memory.base <= address < memory.limit else 1

    def string(self, site: FaultSite, address: int, most: int | None = None) -> str:
        """The C string at an address (at most so many bytes of it), its bytes as Latin-1."""
        found = b""
        while most is None or len(found) < most:
            start = address + len(found)
            left = _CHUNK if most is None else min(_CHUNK, most - len(found))
            part = self.read(site, start, min(left, self._room(start)))
            text, end, _ = part.partition(b"\0")
            found += text
            if end:
                break
        return found.decode("latin-1")


@dataclass
class PackedArguments:
    """The arguments of a `printf` as the caller laid them out: each at a multiple of its size."""

    system: SystemCalls
    site: FaultSite
    address: int

    @property
    def pointer_bytes(self) -> int:
        return self.system.pointer_bytes

    def take(self, size: int) -> int:
        start = -(-self.address // size) * size
        self.address = start + size
        return int.from_bytes(self.system.read(self.site, start, size), "little")

    def string(self, address: int, most: int | None) -> str:
        return self.system.string(self.site, address, most)


# ---------------------------------------------------------------- the functions


@dataclass(frozen=True, slots=True)
class SystemFunction:
    """`run(system, site, *arguments)`. `returns` and `takes`: "p" is pointer-wide, "i" has 32 bits.
    `heap`: it works on the device's heap."""

    run: Callable[..., int]
    returns: str
    takes: str
    heap: bool

    def signature(self, address_bits: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Bits of the results and of the parameters."""
        sizes = {"p": address_bits, "i": 32}
        return tuple(sizes[c] for c in self.returns), tuple(sizes[c] for c in self.takes)


SYSTEM: dict[str, SystemFunction] = {}
"""The functions by name."""


def system_function(
    name: str, takes: str, returns: str = "", heap: bool = False
) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Declares a function of the system."""

    def declare(run: Callable[..., int]) -> Callable[..., int]:
        SYSTEM[name] = SystemFunction(run, returns, takes, heap)
        return run

    return declare


@system_function("vprintf", takes="pp", returns="i")
def vprintf(system: SystemCalls, site: FaultSite, format: int, arguments: int) -> int:
    """The number of arguments printed; -1 for a null format."""
    if format == 0:
        return 0xFFFFFFFF
    text, count = formatted(system.string(site, format), PackedArguments(system, site, arguments))
    if text:
        system.print(site, text.encode("latin-1").decode("utf-8", "backslashreplace"))
    return count


@system_function("__assertfail", takes="ppipp")
def assertfail(
    system: SystemCalls, site: FaultSite, message: int, file: int, line: int, function: int, character: int
) -> int:
    """`assert` that does not hold. `character`: bytes of one (always 1)."""
    said, where, who = (system.string(site, p) if p else "?" for p in (message, file, function))
    text = f"{where}:{line}: {who}: assertion `{said}` failed"
    raise AssertionFault(text.encode("latin-1").decode("utf-8", "backslashreplace"), site)


@system_function("malloc", takes="p", returns="p", heap=True)
def malloc(system: SystemCalls, site: FaultSite, nbytes: int) -> int:
    """A block of the device's heap, null if it is exhausted."""
    return system.heap.allocate(nbytes)


@system_function("__cuda_syscall_aligned_malloc", takes="pp", returns="p", heap=True)
def aligned_malloc(system: SystemCalls, site: FaultSite, nbytes: int, align: int) -> int:
    """`__nv_aligned_device_malloc`: null for an alignment that is no power of two."""
    if align == 0 or align & (align - 1):
        return 0
    return system.heap.allocate(nbytes, align)


@system_function("free", takes="p", heap=True)
def free(system: SystemCalls, site: FaultSite, address: int) -> int:
    """Null is left alone; anything else must be a block that is in use."""
    if address and not system.heap.free(address):
        message = f"free of address {address:#x}, which is no block in use: freed before, or not from malloc"
        raise MemoryFault(message, site, address, 0, "")
    return 0


# ---------------------------------------------------------------- what a kernel may call


def uses_heap(calls: Iterable[str]) -> bool:
    return any(SYSTEM[name].heap for name in calls)


def system_calls(program: Program, kernel: Function) -> Mapping[str, Call]:
    """Functions without a body that a kernel can reach, each with one call of it.

    Raises `LaunchError` for one that the system does not offer, or offers with other parameters.
    """
    found: dict[str, Call] = {}
    for name in reachable([kernel.name], program.functions):
        for op in program.functions[name].call_ops():
            if isinstance(op.callee, str) and op.callee not in program.functions:
                found.setdefault(op.callee, op)
    for name, call in found.items():
        _check(program, kernel, name, call)
    return found


def _check(program: Program, kernel: Function, name: str, call: Call) -> None:
    line, file = program.text.place(call.line)
    where = f"kernel {brief(kernel.name)}: {file} line {line} calls `{name}`"
    offered = SYSTEM.get(name)
    if offered is None:
        raise LaunchError(
            f"{where}, which the module declares but does not define, and which is no function of the system"
            f" (those are {', '.join(sorted(SYSTEM))}); load the module together"
            " with a file that defines it: load([...])"
        )
    import_whole("simt.analysis.lower_calls")
    from simt.analysis.lower_calls import source_type  # only where there are calls: start-up time

    given = tuple(r.type.bits for r in call.results), tuple(source_type(a).bits for a in call.arguments)
    wanted = offered.signature(program.address_bits)
    if given != wanted:
        raise LaunchError(f"{where} as {_shown(*given)}, but the system's function is {_shown(*wanted)}")


def _shown(results: tuple[int, ...], parameters: tuple[int, ...]) -> str:
    """`(.b32) f (.b64, .b64)`."""
    inside = ", ".join(f".b{bits}" for bits in parameters)
    return f"{'(' + ', '.join(f'.b{b}' for b in results) + ') ' if results else ''}f ({inside})"
