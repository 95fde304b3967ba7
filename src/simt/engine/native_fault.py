"""What compiled code recorded when it stopped, as the error that users see."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import cast

from simt.analysis.outline import BARRIERS
from simt.analysis.shape import WARP, BlockShape
from simt.engine.abi import SPACES, FaultKind, FaultSlot
from simt.engine.blocks import Worker
from simt.engine.system_gate import SystemGate
from simt.errors import BarrierError, FaultSite, KernelFault, LaunchError, LaunchTimeout, TrapError
from simt.machine.faults import memory_fault, stack_overflow, thread_of
from simt.machine.launch import Dim3, Launch


def find_fault(
    launch: Launch, workers: Sequence[Worker], gate: SystemGate | None, late: bool, block: BlockShape
) -> BaseException | None:
    """The fault of the lowest CTA, if there was any; a timeout if the kernel was stopped as it was `late`.
    `block`: as `Compiled` says."""
    faults = [w.fault for w in workers if w.fault is not None]
    real = [f for f in faults if f[FaultSlot.KIND] != FaultKind.ABORTED]
    if real:
        sites = [_site(launch, fault, block) for fault in real]
        first = min(range(len(real)), key=lambda i: (sites[i].cta or (0, 0, 0))[::-1])
        return _error(launch, real[first], sites[first], gate)
    if late:
        site = _site(launch, faults[0], block) if faults else FaultSite(launch.kernel.name)
        return LaunchTimeout("the kernel ran past its timeout and was stopped", site)
    return None


def _site(launch: Launch, fault: memoryview, block: BlockShape) -> FaultSite:
    thread = fault[FaultSlot.WARP] * WARP + fault[FaultSlot.LANE]
    return FaultSite(
        launch.kernel.name,
        _cta(fault[FaultSlot.CTA], thread, launch.grid, block),
        block.place(thread),
        *launch.program.text.place(fault[FaultSlot.LINE]),
    )


def _cta(linear: int, thread: int, grid: Dim3, block: BlockShape) -> Dim3:
    """Coordinates of a thread's CTA. Those along y are counted first where axes are exchanged."""
    if block.turned:
        y, x, z = thread_of(linear, (grid[1], grid[0], grid[2]))
        return x, y, z
    x, y, z = thread_of(linear, block.grid(grid))
    beside = thread % block.x // block.columns if block.joins else 0
    return min(x * block.ctas + beside, grid[0] - 1), y, z


def _error(launch: Launch, fault: memoryview, site: FaultSite, gate: SystemGate | None) -> BaseException:
    kind, number = fault[FaultSlot.KIND], fault[FaultSlot.ADDRESS]
    match kind:
        case FaultKind.TRAP:
            return TrapError("the kernel executed trap", site)
        case FaultKind.SYSTEM:
            assert gate is not None
            return gate.errors[number]
        case FaultKind.STACK:
            return stack_overflow(site)
        case FaultKind.BARRIER:
            return BarrierError(f"deadlock: threads wait at barrier {number} that can never complete", site)
        case FaultKind.NO_BARRIER:
            return BarrierError(f"there is no barrier {number}: a CTA has {BARRIERS}", site)
        case FaultKind.TEXTURE:
            return _unbound(launch, number, site)
        case FaultKind.TARGET:
            return KernelFault("indirect branch or call to a target that is none of the listed ones", site)
        case _:
            address = ctypes.c_uint64(number).value
            space, size = SPACES[fault[FaultSlot.SPACE]], fault[FaultSlot.SIZE]
            return cast("KernelFault", memory_fault(site, address, size, space, kind == FaultKind.MISALIGNED))


def _unbound(launch: Launch, handle: int, site: FaultSite) -> LaunchError:
    from simt.machine.textures import TextureTable  # only for textures: start-up time

    return LaunchError(f"{TextureTable(launch.textures, launch.symbols).unbound(handle)} ({site})")
