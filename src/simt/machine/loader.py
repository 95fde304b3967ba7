"""Module variables: placed in device memory, initialised, and related to each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from simt.analysis.outline import ModuleVariable, Program
from simt.errors import LaunchError
from simt.machine.launch import Memory

PLACED = ("global", "const", "tex")
"""State spaces whose module variables have an address in device memory."""


class Allocator(Protocol):
    def __call__(self, nbytes: int, align: int) -> int: ...


def place(program: Program, memory: Memory, allocate: Allocator) -> dict[str, int]:
    """Addresses of all module variables, by name, after writing their initial images.

    Raises `OutOfMemory`, and `LaunchError` for an initialiser that names something without an address.
    """
    variables = [v for v in program.variables.values() if v.space in PLACED]
    addresses = {v.name: allocate(v.size, v.align) for v in variables}
    for variable in variables:
        initialise(variable, addresses, program, memory)
    return addresses


def initialise(
    variable: ModuleVariable, addresses: Mapping[str, int], program: Program, memory: Memory
) -> None:
    """Writes a variable's image and the addresses in it (section 5.4); of an address in a narrower variable
    the low bytes."""
    if variable.data is None:
        return
    image = bytearray(variable.data)
    width = program.address_bits // 8
    for offset, symbol, addend, _generic, byte in variable.relocations:
        address = (_value(symbol, variable, addresses, program) + addend) % (1 << 8 * width)
        whole = address.to_bytes(width, "little")
        written = whole[: variable.type.bytes] if byte is None else whole[byte : byte + 1]
        image[offset : offset + len(written)] = written
    memory.view(addresses[variable.name], variable.size)[: len(image)] = image


def _value(symbol: str, variable: ModuleVariable, addresses: Mapping[str, int], program: Program) -> int:
    """A variable's address, or a function's as `FunctionAddress` defines it."""
    if symbol in addresses:
        return addresses[symbol]
    if symbol in program.functions:
        return program.function_addresses[symbol]
    raise LaunchError(f"the initialiser of {variable.name} names {symbol}, which has no address")
