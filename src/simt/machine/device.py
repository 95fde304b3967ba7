"""The virtual devices: what each compute capability offers.

Sources: CUDA Handbook chapter 8 (table 8.1 and the text on registers and shared memory) for 1.0-3.5,
and NVIDIA's published limits per compute capability for all of them.
"""

from __future__ import annotations

import re

from simt.errors import SimtError
from simt.records import dataclass

KIB = 1024


@dataclass(frozen=True, slots=True)
class DeviceProperties:
    """Limits of one compute capability. Sizes are bytes unless said otherwise.

    `sm_count`, the number of multiprocessors, is that of a representative board (`board`).
    """

    capability: tuple[int, int]
    board: str
    sm_count: int
    max_threads_per_cta: int
    max_block: tuple[int, int, int]
    max_grid: tuple[int, int, int]
    registers_per_multiprocessor: int
    max_registers_per_thread: int
    shared_memory_per_cta: int
    """What a CTA gets without asking."""
    max_shared_memory_per_cta: int
    """What a CTA may have at most (opt-in from 7.0 on)."""
    shared_memory_per_multiprocessor: int
    shared_memory_banks: int
    max_ctas_per_multiprocessor: int
    max_warps_per_multiprocessor: int
    max_local_memory_per_thread: int
    max_constant_memory: int = 64 * KIB
    warp_size: int = 32

    @property
    def number(self) -> int:
        """The compute capability as in target names: 90 for sm_90."""
        return self.capability[0] * 10 + self.capability[1]

    @property
    def name(self) -> str:
        return f"sm_{self.number}"

    @property
    def max_threads_per_multiprocessor(self) -> int:
        return self.max_warps_per_multiprocessor * self.warp_size

    def registers_of_cta(self, warps: int, registers: int) -> int:
        """Registers of a multiprocessor that a CTA takes whose threads have some each. They are handed out to
        CTAs up to compute capability 1.3 and to warps later, in these units (CUDA's occupancy tables)."""
        if self.capability < (2, 0):
            unit = 256 if self.capability < (1, 2) else 512
            return _round_up(_round_up(warps, 2) * self.warp_size * registers, unit)
        unit, together = (64, 2) if self.capability < (3, 0) else (256, 4)
        return _round_up(warps, together) * _round_up(self.warp_size * registers, unit)

    @property
    def independent_threads(self) -> bool:
        """Whether a lane that waits for another lane of its warp makes progress (from 7.0 on)."""
        return self.capability >= (7, 0)


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def _tesla(minor: int, board: str, sm_count: int) -> DeviceProperties:
    late = minor >= 2
    return DeviceProperties(
        (1, minor), board, sm_count, 512, (512, 512, 64), (65535, 65535, 1),
        registers_per_multiprocessor=16384 if late else 8192, max_registers_per_thread=124,
        shared_memory_per_cta=16 * KIB, max_shared_memory_per_cta=16 * KIB,
        shared_memory_per_multiprocessor=16 * KIB, shared_memory_banks=16,
        max_ctas_per_multiprocessor=8, max_warps_per_multiprocessor=32 if late else 24,
        max_local_memory_per_thread=16 * KIB,
    )  # fmt: skip


def _later(
    major: int, minor: int, board: str, sm_count: int, *,
    ctas: int, warps: int, shared: int = 48, shared_total: int = 48, registers: int = 65536,
    per_thread: int = 255, grid_x: int = 2**31 - 1,
) -> DeviceProperties:  # fmt: skip
    return DeviceProperties(
        (major, minor), board, sm_count, 1024, (1024, 1024, 64), (grid_x, 65535, 65535),
        registers_per_multiprocessor=registers, max_registers_per_thread=per_thread,
        shared_memory_per_cta=48 * KIB, max_shared_memory_per_cta=shared * KIB,
        shared_memory_per_multiprocessor=shared_total * KIB, shared_memory_banks=32,
        max_ctas_per_multiprocessor=ctas, max_warps_per_multiprocessor=warps,
        max_local_memory_per_thread=512 * KIB,
    )  # fmt: skip


_MODELLED = (
    _tesla(0, "GeForce 8800 GTX", 16),
    _tesla(1, "GeForce 9800 GTX", 16),
    _tesla(2, "GeForce GT 240", 12),
    _tesla(3, "GeForce GTX 280", 30),
    _later(2, 0, "GeForce GTX 480", 15, ctas=8, warps=48, registers=32768, per_thread=63, grid_x=65535),
    _later(2, 1, "GeForce GTX 460", 7, ctas=8, warps=48, registers=32768, per_thread=63, grid_x=65535),
    _later(3, 0, "GeForce GTX 680", 8, ctas=16, warps=64, per_thread=63),
    _later(3, 5, "Tesla K40", 15, ctas=16, warps=64),
    _later(3, 7, "Tesla K80", 13, ctas=16, warps=64, shared_total=112, registers=131072),
    _later(5, 0, "GeForce GTX 750 Ti", 5, ctas=32, warps=64, shared_total=64),
    _later(5, 2, "GeForce GTX 980", 16, ctas=32, warps=64, shared_total=96),
    _later(5, 3, "Jetson TX1", 2, ctas=32, warps=64, shared_total=64),
    _later(6, 0, "Tesla P100", 56, ctas=32, warps=64, shared_total=64),
    _later(6, 1, "GeForce GTX 1080", 20, ctas=32, warps=64, shared_total=96),
    _later(7, 0, "Tesla V100", 80, ctas=32, warps=64, shared=96, shared_total=96),
    _later(7, 2, "Jetson AGX Xavier", 8, ctas=32, warps=64, shared=96, shared_total=96),
    _later(7, 5, "T4", 40, ctas=16, warps=32, shared=64, shared_total=64),
    _later(8, 0, "A100", 108, ctas=32, warps=64, shared=163, shared_total=164),
    _later(8, 6, "A40", 84, ctas=16, warps=48, shared=99, shared_total=100),
    _later(8, 7, "Jetson AGX Orin", 16, ctas=16, warps=48, shared=163, shared_total=164),
    _later(8, 9, "L40", 142, ctas=24, warps=48, shared=99, shared_total=100),
    _later(9, 0, "H200", 132, ctas=32, warps=64, shared=227, shared_total=228),
    _later(10, 0, "B200", 148, ctas=32, warps=64, shared=227, shared_total=228),
    _later(10, 3, "B300", 148, ctas=32, warps=64, shared=227, shared_total=228),
    _later(11, 0, "Jetson T5000", 20, ctas=24, warps=48, shared=227, shared_total=228),
    _later(12, 0, "GeForce RTX 5090", 170, ctas=24, warps=48, shared=99, shared_total=100),
    _later(12, 1, "GB10", 48, ctas=24, warps=48, shared=99, shared_total=100),
)

DEVICES: dict[int, DeviceProperties] = {d.number: d for d in _MODELLED}
"""Every modelled device by its number (90 for sm_90), oldest first."""

DEFAULT: DeviceProperties = DEVICES[100]
"""What is taken where none is named. (Later ones have less memory: graphics cards and embedded boards.)"""

_ARCHITECTURE = re.compile(r"(?:sm_|compute_)?(\d{2,3})[af]?|(\d+)\.(\d)", re.IGNORECASE)


def find_device(architecture: str | int | None) -> DeviceProperties:
    """`"sm_90"`, `"compute_90"`, `"90"`, `"9.0"` or 90; None gives `DEFAULT`.

    Raises `SimtError` naming what is modelled.
    """
    if architecture is None:
        return DEFAULT
    match = _ARCHITECTURE.fullmatch(str(architecture).strip())
    number = int(match[1] or match[2] + match[3]) if match else -1
    if number not in DEVICES:
        known = ", ".join(d.name for d in DEVICES.values())
        raise SimtError(f"no virtual device {architecture!r}: expected one of {known}")
    return DEVICES[number]
