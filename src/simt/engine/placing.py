"""Object code put into memory as LLVM's linker would, without LLVM: x86-64's under Linux.

A process all of whose kernels are in the cache needs LLVM for nothing else, and to load it takes 50 to 100
ms. All objects of a link lie together: code, then jumps to what the process has (`memset`), and on pages of
their own what code only reads. What LLVM has not been seen to make of our code is not known here:
`Unplaceable` says so, and `simt.engine.linking` takes such objects.

Sections and symbols are as in the System V gABI, chapter 4; relocations as in the x86-64 psABI, "Relocation
Types". Objects are LLVM's own, or of a cache whose entries only this user can have written.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
import sys
import weakref
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simt.diagnostics import counted
from simt.engine.host import Cpu
from simt.errors import OutOfMemory
from simt.pages import LIBC, map_pages, unmap

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = np.dtype(
    [("name", "u4"), ("info", "u1"), ("other", "u1"), ("section", "u2"), ("value", "u8"), ("size", "u8")]
)
_RELOCATION = np.dtype([("offset", "u8"), ("kind", "u4"), ("symbol", "u4"), ("addend", "i8")])
_MAGIC, _RELOCATABLE, _X86_64 = b"\x7fELF\x02\x01", 1, 62
_PROGBITS, _SYMTAB, _RELA, _UNWIND = 1, 2, 4, 0x70000001
_WRITE, _ALLOC, _EXECUTE, _TLS = 1, 2, 4, 0x400
_UNDEFINED = 0
_WORD, _FAR, _NEAR, _KEPT = 1, 24, (2, 4), (9, 41, 42)
"""Relocations: an address of 64 bits; a distance of 64, and of 32; that to where an address is kept."""
_JUMP, _JUMP_BYTES = b"\xff\x25\x00\x00\x00\x00", 16
"""`jmp *0(%rip)`: to the address that is behind it."""
_ALIGNED = 64
"""Whatever is loaded at once lies on such a place."""

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]


class Unplaceable(Exception):
    """An object has what only LLVM's linker knows."""


def can_place(cpu: Cpu) -> bool:
    """Whether code for a CPU that this machine has is placed here."""
    return cpu.is_x86_linux and sys.maxsize > 1 << 32


def place(images: Sequence[bytes], names: Sequence[str]) -> tuple[list[int], object]:
    """Addresses of functions of objects that belong together, and what keeps their code in memory. Raises
    `Unplaceable`."""
    objects = [_Object(image) for image in images]
    exported = {name for o in objects for name in o.exported}
    missing = sorted({name for o in objects for name in o.wanted} - exported)
    if unknown := sorted(set(names) - exported):
        raise Unplaceable(f"no function {unknown[0]}")
    functions = [_function(name) for name in missing]
    jumps = _lay_out(objects, _EXECUTE, 0)
    constants = _above(jumps + _JUMP_BYTES * len(missing), mmap.PAGESIZE)
    slots = _lay_out(objects, 0, constants)
    memory = _Memory(slots + sum(8 * len(o.kept) for o in objects))
    known = {name: memory.address + jumps + _JUMP_BYTES * n for n, name in enumerate(missing)}
    for function, at in zip(functions, known.values()):
        memory.put(at - memory.address, _JUMP + function.to_bytes(8, "little"))
    for o in objects:
        known |= o.put(memory)
    for o in objects:
        o.relocate(memory, slots, known)
        slots += 8 * len(o.kept)
    memory.close(constants)
    return [known[name] for name in names], memory


def _is_kept(kinds: NDArray[np.uint32]) -> NDArray[np.bool_]:
    return np.logical_or.reduce([kinds == kind for kind in _KEPT])


def _lay_out(objects: Sequence[_Object], kind: int, at: int) -> int:
    """Gives all sections of a kind their places, from an offset on. Returns the end."""
    for o in objects:
        for number, section in o.sections.items():
            if section.flags & _EXECUTE == kind:
                at = o.places[number] = _above(at, max(section.align, 1))
                at += section.size
    return _above(at, _ALIGNED)


def _above(at: int, align: int) -> int:
    """The first multiple of `align` from `at` on."""
    return -(-at // align) * align


def _function(name: str) -> int:
    """The address of a function that the process has."""
    try:
        found = ctypes.cast(LIBC[name], ctypes.c_void_p).value
    except AttributeError:
        found = None
    if found is None:
        raise Unplaceable(f"no function {name}")
    return found


class _Memory:
    """Bytes that are given back with this, but not when Python ends: other threads may still be there."""

    def __init__(self, size: int) -> None:
        self._size = _above(size, mmap.PAGESIZE)
        found = map_pages(self._size)
        if found is None:
            raise OutOfMemory(f"no memory for {counted(size, 'byte')} of machine code")
        self.address = found
        weakref.finalize(self, unmap, found, self._size).atexit = False
        self._bytes: Bytes = np.frombuffer(
            memoryview((ctypes.c_uint8 * self._size).from_address(found)), "u1"
        )

    def put(self, at: int, data: bytes) -> None:
        self._bytes[at : at + len(data)] = np.frombuffer(data, "u1")

    def relocate(self, kind: int, places: Words, targets: Words) -> None:
        """Writes addresses, or how far it is to them, at some offsets."""
        if kind not in (_WORD, _FAR, *_NEAR, *_KEPT):
            raise Unplaceable(f"relocation {kind}")
        width = 8 if kind in (_WORD, _FAR) else 4
        if kind != _WORD:
            targets = targets - (places + np.uint64(self.address))
        if width == 4 and np.any(targets + np.uint64(1 << 31) >> np.uint64(32)):
            raise Unplaceable("too far")
        parts = targets.view("u1").reshape(-1, 8)[:, :width]
        self._bytes[places[:, None] + np.arange(width, dtype="u8")] = parts

    def close(self, constants: int) -> None:
        """From now on this is code, and from an offset on what it reads."""
        self._protect(0, constants, mmap.PROT_READ | mmap.PROT_EXEC)
        if constants < self._size:
            self._protect(constants, self._size - constants, mmap.PROT_READ)

    def _protect(self, at: int, size: int, allowed: int) -> None:
        if LIBC.mprotect(self.address + at, size, allowed):
            number = ctypes.get_errno()
            raise OSError(number, f"cannot make machine code: {os.strerror(number)}")


class _Section(NamedTuple):
    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    align: int
    entry: int


class _Object:
    """An ELF object. `sections`: those that are in memory while code runs, by number; `places`: their offsets
    there. `wanted`, `exported`: numbers of the symbols that are to be found elsewhere, or by others. `kept`:
    numbers of those whose addresses code looks for in memory."""

    def __init__(self, image: bytes) -> None:
        ident, kind, machine, *_, start, _, _, _, _, size, count, _ = _HEADER.unpack_from(image)
        if not ident.startswith(_MAGIC) or (kind, machine, size) != (_RELOCATABLE, _X86_64, _SECTION.size):
            raise Unplaceable("no object of x86-64")
        found = [_Section(*_SECTION.unpack_from(image, start + size * n)) for n in range(count)]
        self._image = image
        self._count: int = count
        self.sections = {n: s for n, s in enumerate(found) if s.flags & _ALLOC and s.kind != _UNWIND}
        if any(s.kind != _PROGBITS or s.flags & (_WRITE | _TLS) for s in self.sections.values()):
            raise Unplaceable("sections that are neither code nor constants")
        self.places: dict[int, int] = {}
        self._read_symbols(found)
        relocations = [s for s in found if s.kind == _RELA and s.info in self.sections]
        self._relocations = [(s.info, self._items(s, _RELOCATION)) for s in relocations]
        kept = {n for _, r in self._relocations for n in r["symbol"][_is_kept(r["kind"])].tolist()}
        self.kept: NDArray[np.uint32] = np.array(sorted(kept), "u4")

    def _read_symbols(self, sections: Sequence[_Section]) -> None:
        table = next((s for s in sections if s.kind == _SYMTAB), None)
        if table is None:
            raise Unplaceable("no symbols")
        self._symbols = self._items(table, _SYMBOL)
        strings = sections[table.link].offset
        self.wanted: dict[str, int] = {}
        self.exported: dict[str, int] = {}
        for n in range(table.info, len(self._symbols)):  # those before are seen by nobody else
            start = strings + int(self._symbols["name"][n])
            name = self._image[start : self._image.index(b"\0", start)].decode()
            is_wanted = self._symbols["section"][n] == _UNDEFINED
            (self.wanted if is_wanted else self.exported)[name] = n

    def _items(self, section: _Section, kind: np.dtype[Any]) -> NDArray[Any]:
        return np.frombuffer(self._image, kind, section.size // kind.itemsize, section.offset)

    def put(self, memory: _Memory) -> dict[str, int]:
        """Copies sections to their places. Returns addresses of what others see."""
        starts: Words = np.zeros(self._count, np.uint64)
        for number, at in self.places.items():
            section = self.sections[number]
            memory.put(at, self._image[section.offset : section.offset + section.size])
            starts[number] = memory.address + at
        sections = self._symbols["section"]
        sections = np.where(sections < self._count, sections, _UNDEFINED)  # those beyond are names of files
        found = starts[sections]
        self._addresses: Words = np.where(found > 0, found + self._symbols["value"], found)
        return {name: int(self._addresses[n]) for name, n in self.exported.items()}

    def relocate(self, memory: _Memory, slots: int, known: Mapping[str, int]) -> None:
        """Writes addresses where they belong. `slots`: the offset of those that are kept in memory."""
        for name, n in self.wanted.items():
            self._addresses[n] = known[name]
        memory.put(slots, self._addresses_of(self.kept).tobytes())
        for number, relocations in self._relocations:
            for kind in set(relocations["kind"].tolist()):
                found = relocations[relocations["kind"] == kind]
                if kind in _KEPT:
                    nth = np.searchsorted(self.kept, found["symbol"]).astype("u8")
                    targets = nth * np.uint64(8) + np.uint64(memory.address + slots)
                else:
                    targets = self._addresses_of(found["symbol"])
                places = found["offset"] + np.uint64(self.places[number])
                memory.relocate(kind, places, targets + found["addend"].view("u8"))

    def _addresses_of(self, symbols: NDArray[np.uint32]) -> Words:
        found = self._addresses[symbols]
        if not np.all(found):
            raise Unplaceable("a symbol that is nowhere")
        return found
