"""The words of faults, the same for every engine."""

from __future__ import annotations

from simt.errors import FaultSite, KernelFault, MemoryFault

LOCATIONS = {"": "generic", "const": "constant"}
_MEMORY = {"shared": "the CTA's shared memory (the launch says how much of it is dynamic)"}


def memory_fault(site: FaultSite, address: int, size: int, space: str, misaligned: bool) -> MemoryFault:
    """An access of `size` bytes at `address` that is not aligned, or leaves the memory of its space."""
    where = f"{LOCATIONS.get(space, space)} address {address:#x}"
    if misaligned:
        message = f"misaligned access: {size} bytes at {where}, which is not a multiple of {size}"
    else:
        memory = _MEMORY.get(space, "allocated memory")
        message = f"illegal access: {size} bytes at {where}, which is outside {memory}"
    return MemoryFault(message, site, address, size, space)


def stack_overflow(site: FaultSite) -> KernelFault:
    """A call for whose frame a thread's stack has no room."""
    message = "call stack overflow: calls nest too deeply for the stack of a thread (see Device.stack_bytes)"
    return KernelFault(message, site)


def thread_of(linear: int, block: tuple[int, int, int]) -> tuple[int, int, int]:
    """Coordinates of a thread or CTA from its linear number, x fastest."""
    x, y, _ = block
    return linear % x, linear // x % y, linear // (x * y)
