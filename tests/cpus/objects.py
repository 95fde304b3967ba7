"""A kernel's object code for a CPU, and what it holds."""

from __future__ import annotations

import struct
from functools import cached_property
from pathlib import Path

from simt.analysis.program import Function, Program
from simt.analysis.shape import BlockShape
from simt.driver.source import compile_ptx
from simt.engine.compile import attributes, optimized, target_machine
from simt.engine.host import Cpu
from simt.engine.llvm_kernel import emit
from simt.machine.device import find_device

SYMTAB, UNDEFINED, SYMBOL_BYTES = 2, 0, 24


class Code:
    """A kernel for a CPU: LLVM IR as the engine emits it, assembly, and object code.

    Raises `Unsupported` for what only the interpreter runs."""

    def __init__(self, cpu: Cpu, program: Program, kernel: Function, block: BlockShape) -> None:
        self.ir, *_ = emit(program, kernel, block, cpu.features, attributes(cpu))
        self._module, self._machine = optimized(self.ir, cpu), target_machine(cpu)

    @cached_property
    def assembly(self) -> str:
        return str(self._machine.emit_assembly(self._module))

    @cached_property
    def image(self) -> bytes:
        return bytes(self._machine.emit_object(self._module))


def program_of(path: Path, arch: str = "sm_90") -> Program:
    return compile_ptx(path.read_bytes(), path.name, find_device(arch))[0]


def machine_of(image: bytes) -> int:
    """The machine of a 64-bit little-endian ELF object (System V gABI, e_machine)."""
    assert image[:6] == b"\x7fELF\x02\x01"
    return int(struct.unpack_from("<H", image, 18)[0])


def symbols_of(image: bytes) -> tuple[set[str], set[str]]:
    """Names that an ELF object defines, and names that it wants from elsewhere."""
    start, size, count = (*struct.unpack_from("<Q", image, 40), *struct.unpack_from("<HH", image, 58))
    sections = [struct.unpack_from("<IIQQQQIIQQ", image, start + i * size) for i in range(count)]
    defined: set[str] = set()
    wanted: set[str] = set()
    for _, kind, _, _, offset, length, link, *_ in sections:
        if kind != SYMTAB:
            continue
        names = sections[link][4]
        for at in range(offset, offset + length, SYMBOL_BYTES):
            name_at, section = struct.unpack_from("<I2xH", image, at)
            name = image[names + name_at : image.index(b"\0", names + name_at)].decode()
            if name:
                (wanted if section == UNDEFINED else defined).add(name)
    return defined, wanted
