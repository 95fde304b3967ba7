"""Shapes and resources of a launch, checked against the device and the kernel's directives."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from operator import index
from typing import Any, TypeAlias

from simt.analysis.outline import FRAME_ALIGNMENT, Function, Program
from simt.errors import LaunchError
from simt.machine.device import DeviceProperties
from simt.machine.launch import Dim3
from simt.machine.memory import round_up

Shape: TypeAlias = "int | Sequence[int]"

STACK_BYTES = 16 * 1024
"""Call stack of one thread of a recursive kernel, unless the device says otherwise."""

COOPERATIVE = (6, 0)
"""Compute capability from which on there are cooperative launches."""

_INTEGER = {int}


def as_dim3(shape: Shape, what: str) -> Dim3:
    """An integer or 1 to 3 of them as (x, y, z). Raises `LaunchError`."""
    if isinstance(shape, tuple) and {*map(type, shape)} == _INTEGER and len(shape) < 4 and min(shape) > 0:
        x, y, z = (*shape, 1, 1)[:3]  # as most are: without delay
        return x, y, z
    values = [shape] if not isinstance(shape, Sequence) else list(shape)
    try:
        numbers = [_index(v) for v in values]
    except TypeError:
        numbers = []
    if not 1 <= len(numbers) <= 3 or isinstance(shape, (str, bytes)):
        raise LaunchError(f"{what}: expected an integer or 1 to 3 integers, {shape!r} given")
    if min(numbers) < 1:
        raise LaunchError(f"{what} {_shown(numbers)}: every extent must be at least 1")
    x, y, z = numbers + [1] * (3 - len(numbers))
    return x, y, z


def _index(value: Any) -> int:
    if isinstance(value, float) or not hasattr(value, "__index__"):
        raise TypeError
    return int(value)


def _shown(values: Sequence[int]) -> str:
    return "(" + ", ".join(str(v) for v in values) + ")"


def check_shape(grid: Dim3, block: Dim3, kernel: Function, device: DeviceProperties) -> None:
    """Limits of the device, and `.maxnreg`, `.maxntid` and `.reqntid` (tables 98 and 99). Raises
    `LaunchError`."""
    check_grid(grid, device)
    _check_extents("block", block, device.max_block, device)
    threads = math.prod(block)
    if threads > device.max_threads_per_cta:
        raise LaunchError(
            f"block {_shown(block)} has {threads} threads; {device.name} allows at most "
            f"{device.max_threads_per_cta} a CTA"
        )
    _check_directives(block, threads, kernel.limits)
    _check_registers(block, threads, kernel, device)


def check_grid(grid: Dim3, device: DeviceProperties) -> None:
    """Limits of the device. Raises `LaunchError`."""
    _check_extents("grid", grid, device.max_grid, device)


def _check_extents(what: str, shape: Dim3, limit: Dim3, device: DeviceProperties) -> None:
    for axis, n, most in zip("xyz", shape, limit):
        if n > most:
            raise LaunchError(f"{what} {_shown(shape)}: extent {axis} may be at most {most} on {device.name}")


def _check_directives(block: Dim3, threads: int, limits: Mapping[str, tuple[int, ...]]) -> None:
    most = limits.get("maxntid")
    if most and threads > math.prod(most):
        raise LaunchError(
            f"block {_shown(block)} has {threads} threads; the kernel's .maxntid "
            f"allows at most {math.prod(most)}"
        )
    required = limits.get("reqntid")
    if required and block != (*required, 1, 1)[:3]:
        raise LaunchError(f"block {_shown(block)}: the kernel's .reqntid requires {_shown(required)}")


def _check_registers(block: Dim3, threads: int, kernel: Function, device: DeviceProperties) -> None:
    """Registers of `.maxnreg` for every thread. More than a thread can have mean nothing. An H200 counts
    those that the code needs, if they are fewer, for which the kernel's own stand (as in `attributes`)."""
    (registers,) = kernel.limits.get("maxnreg", (0,))
    warps = -(-threads // device.warp_size)
    most = device.registers_per_multiprocessor
    if registers > device.max_registers_per_thread or device.registers_of_cta(warps, registers) <= most:
        return
    if device.independent_threads:
        registers = min(registers, len(kernel.registers))
    needed = device.registers_of_cta(warps, registers)
    if needed > most:
        raise LaunchError(
            f"block {_shown(block)} has {threads} threads, with {registers} registers each by the kernel's "
            f".maxnreg: a CTA takes {needed}; {device.name} has {most}"
        )


def active_ctas(kernel: Function, block: Dim3, dynamic: int, device: DeviceProperties) -> int:
    """CTAs that a multiprocessor holds at a time, by its limits on CTAs, warps and shared memory and by the
    kernel's `.maxnctapersm` (table 100); registers are not counted. Raises `LaunchError` if none fits."""
    check_shape((1, 1, 1), block, kernel, device)
    warps = -(-math.prod(block) // device.warp_size)
    shared = shared_bytes(kernel, dynamic, device)
    most = [device.max_ctas_per_multiprocessor, device.max_warps_per_multiprocessor // warps]
    most += [device.shared_memory_per_multiprocessor // shared] if shared else []
    return min(*most, *kernel.limits.get("maxnctapersm", ()))


def check_cooperative(grid: Dim3, active: int, device: DeviceProperties) -> None:
    """Whether all CTAs of a grid can run at once, of which a multiprocessor holds so many at a time. Raises
    `LaunchError`."""
    if device.capability < COOPERATIVE:
        raise LaunchError(
            f"cooperative launch: expected a device of compute capability 6.0 or newer, not {device.name}"
        )
    ctas, most = math.prod(grid), device.sm_count * active
    if ctas > most:
        raise LaunchError(
            f"cooperative launch: grid {_shown(grid)} has {ctas} CTAs, which are to run at once; "
            f"{device.name} has room for {most} of this shape, {active} on each of {device.sm_count} "
            "multiprocessors"
        )


def shared_bytes(kernel: Function, dynamic: int, device: DeviceProperties) -> int:
    """Static plus dynamic shared memory of one CTA. Raises `LaunchError` past the device's limit."""
    if not hasattr(dynamic, "__index__") or dynamic < 0:
        raise LaunchError(f"shared_mem: expected bytes of dynamic shared memory, {dynamic!r} given")
    dynamic = index(dynamic)
    total = kernel.dynamic_shared + dynamic if dynamic else kernel.shared_size
    most = device.max_shared_memory_per_cta
    if total > most and total - _of_system(kernel) > most:
        raise LaunchError(
            f"{total} bytes of shared memory ({kernel.shared_size} static, {dynamic} dynamic); "
            f"{device.name} has at most {most} a CTA"
        )
    return max(total, kernel.shared_size)


def _of_system(kernel: Function) -> int:
    """Bytes among them that the system keeps for itself."""
    from simt.isa.special_registers import SYSTEM_BYTES, SYSTEM_MEMORY  # reads all of `simt.isa`

    return SYSTEM_BYTES if SYSTEM_MEMORY in kernel.shared else 0


def local_bytes(
    program: Program, kernel: Function, device: DeviceProperties, stack: int = STACK_BYTES
) -> int:
    """Local memory of one thread: the frames along the deepest chain of calls, `stack` more if recursive.

    A frame takes the function's `local_size` rounded up to 16. Raises `LaunchError` past the limit.
    """
    callees = _call_graph(program, kernel.name)
    most = device.max_local_memory_per_thread
    total = _deepest(program, kernel.name, callees)
    if any(program.functions[f].recursive for f in callees):
        total = max(total, min(total + stack, most))
    if total > most:
        raise LaunchError(
            f"the kernel needs {total} bytes of local memory a thread; {device.name} has at most {most}"
        )
    return total


def _call_graph(program: Program, name: str) -> dict[str, list[str]]:
    """The functions that each function reachable from `name` may call."""
    found: dict[str, list[str]] = {}
    waiting = [name]
    while waiting:
        function = waiting.pop()
        if function not in found:
            found[function] = _callees(program, program.functions[function])
            waiting += found[function]
    return found


def _callees(program: Program, function: Function) -> list[str]:
    names: set[str] = set()
    for op in function.call_ops():
        names.update((op.callee,) if isinstance(op.callee, str) else (), op.candidates)
    return sorted(n for n in names if n in program.functions)


def _deepest(program: Program, name: str, callees: Mapping[str, list[str]]) -> int:
    """Bytes of the deepest chain of frames; calls back into an open chain are not followed."""
    depth: dict[str, int] = {}
    opened: set[str] = set()
    waiting = [name]
    while waiting:
        function = waiting[-1]
        if function not in opened:
            opened.add(function)
            waiting += [c for c in callees[function] if c not in opened]
            continue
        waiting.pop()
        frame = round_up(program.functions[function].local_size, FRAME_ALIGNMENT)
        depth[function] = frame + max((depth.get(c, 0) for c in callees[function]), default=0)
    return depth[name]
