"""A virtual NVIDIA GPU in software: reads PTX, checks it, and runs it on a CPU.

dev = simt.Device("sm_90")
k = dev.load("kernels.ptx")["saxpy"]
x, y = dev.array(host_x), dev.zeros(n, "f4")
k((4096,), (256,), (n, 2.0, x, y))
y.numpy()
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from simt.collector import collector_spared
from simt.diagnostics import Diagnostic
from simt.errors import (
    AssertionFault,
    BarrierError,
    CompilerWarning,
    FaultSite,
    KernelFault,
    LaunchError,
    LaunchTimeout,
    MemoryFault,
    OutOfMemory,
    PtxError,
    PtxFileError,
    SimtError,
    TrapError,
    UnsupportedInstruction,
)

if TYPE_CHECKING:
    from simt.driver.array import DeviceArray
    from simt.driver.device import Device
    from simt.driver.kernel import Kernel
    from simt.driver.module import Module
    from simt.driver.stream import Stream
    from simt.machine.launch import Breakpoint, StackEntry

__version__ = "0.1.0"

__all__ = [
    "AssertionFault",
    "BarrierError",
    "Breakpoint",
    "CompilerWarning",
    "Device",
    "DeviceArray",
    "Diagnostic",
    "FaultSite",
    "Kernel",
    "KernelFault",
    "LaunchError",
    "LaunchTimeout",
    "MemoryFault",
    "Module",
    "OutOfMemory",
    "PtxError",
    "PtxFileError",
    "SimtError",
    "StackEntry",
    "Stream",
    "TrapError",
    "UnsupportedInstruction",
]

# The driver imports every layer below; those layers import this package. So it comes when asked for.
_LATER = {
    "Breakpoint": "machine.launch",
    "Device": "driver.device",
    "DeviceArray": "driver.array",
    "Kernel": "driver.kernel",
    "Module": "driver.module",
    "StackEntry": "machine.launch",
    "Stream": "driver.stream",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'simt' has no attribute {name!r}")
    with collector_spared():
        found = globals()[name] = getattr(import_module(f"simt.{_LATER[name]}"), name)
    return found  # from now on Python finds it: who has frozen objects would wait while they are counted


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
