"""Launch shapes, shared and local memory against the limits of devices and kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simt.analysis.program import Block, Call, Function, Program, Register
from simt.diagnostics import Source
from simt.errors import LaunchError, SimtError
from simt.isa.algebra import Environment
from simt.machine.device import DEFAULT, DEVICES, find_device
from simt.machine.grid import as_dim3, check_shape, local_bytes, shared_bytes
from simt.ptx.types import U32


def kernel(registers: int = 0, **attributes: Any) -> Function:
    own = [Register(i, f"r{i}", U32) for i in range(registers)]
    return Function("k", True, [Block(0)], own, **attributes)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (7, (7, 1, 1)),
        ((7,), (7, 1, 1)),
        ((7, 2), (7, 2, 1)),
        ([7, 2, 3], (7, 2, 3)),
        (np.int64(7), (7, 1, 1)),
        ((np.uint8(7), 2), (7, 2, 1)),
    ],
)
def test_shapes(shape: Any, expected: tuple[int, int, int]) -> None:
    assert as_dim3(shape, "grid") == expected


@pytest.mark.parametrize("shape", [(), (1, 2, 3, 4), 1.0, (1.5, 2), "7", None, (None,)])
def test_shapes_refused(shape: Any) -> None:
    with pytest.raises(LaunchError, match=r"^grid: expected an integer or 1 to 3 integers, .* given$"):
        as_dim3(shape, "grid")


@pytest.mark.parametrize("shape", [0, (4, 0), (1, 1, -1)])
def test_empty_shapes(shape: Any) -> None:
    with pytest.raises(LaunchError, match=r"^block \(.*\): every extent must be at least 1$"):
        as_dim3(shape, "block")


@pytest.mark.parametrize(
    ("arch", "grid", "block", "message"),
    [
        (13, (65536, 1, 1), (1, 1, 1), "grid (65536, 1, 1): extent x may be at most 65535 on sm_13"),
        (13, (1, 1, 2), (1, 1, 1), "grid (1, 1, 2): extent z may be at most 1 on sm_13"),
        (13, (1, 1, 1), (513, 1, 1), "block (513, 1, 1): extent x may be at most 512 on sm_13"),
        (90, (1, 1, 1), (1, 1, 65), "block (1, 1, 65): extent z may be at most 64 on sm_90"),
        (
            90, (1, 1, 1), (32, 32, 2),
            "block (32, 32, 2) has 2048 threads; sm_90 allows at most 1024 a CTA",
        ),
    ],
)  # fmt: skip
def test_device_limits(arch: int, grid: Any, block: Any, message: str) -> None:
    with pytest.raises(LaunchError) as problem:
        check_shape(grid, block, kernel(), DEVICES[arch])
    assert str(problem.value) == message


def test_directives() -> None:
    at_most = kernel(limits={"maxntid": (16, 16)})
    check_shape((1, 1, 1), (256, 1, 1), at_most, DEFAULT)
    with pytest.raises(LaunchError, match=r"has 257 threads; the kernel's \.maxntid allows at most 256"):
        check_shape((1, 1, 1), (257, 1, 1), at_most, DEFAULT)
    exactly = kernel(limits={"reqntid": (32,)})
    check_shape((1, 1, 1), (32, 1, 1), exactly, DEFAULT)
    with pytest.raises(LaunchError, match=r"^block \(16, 2, 1\): the kernel's \.reqntid requires \(32\)$"):
        check_shape((1, 1, 1), (16, 2, 1), exactly, DEFAULT)


@pytest.mark.parametrize(
    ("arch", "registers", "most"),
    [
        # by CTA, two warps at a time: 8192 / (32 * 20) is 12.8, 16384 / (32 * 20) is 25.6
        (10, 20, 12), (11, 16, 16), (12, 20, 16), (13, 40, 12),
        # by warp: 32768 / 64 * 21 and so on; 41 registers of a warp take 1344, 48 take 1536
        (20, 41, 24), (21, 48, 20), (30, 63, 32), (35, 65, 28), (75, 128, 16), (90, 255, 8), (90, 64, 32),
    ],
)  # fmt: skip
def test_registers(arch: int, registers: int, most: int) -> None:
    """The most warps of a CTA whose threads have so many."""
    device, k = DEVICES[arch], kernel(300, limits={"maxnreg": (registers,)})
    check_shape((1, 1, 1), (32 * most, 1, 1), k, device)
    if 32 * most < device.max_threads_per_cta:
        with pytest.raises(LaunchError, match=rf"with {registers} registers each by the kernel's \.maxnreg"):
            check_shape((1, 1, 1), (32 * most + 1, 1, 1), k, device)


@pytest.mark.parametrize(
    ("own", "directive", "goes"),
    [(1, 128, True), (110, 128, False), (110, 64, True), (1, 300, True), (300, 300, True)],
)
def test_registers_on_a_real_gpu(own: int, directive: int, goes: bool) -> None:
    """1024 threads on an H200: kernels of 1 and of 110 registers that live at once. `.maxntid 1024` changes
    nothing. One with `.maxnreg 300` is refused there too if it needs many, as it is without a directive; here
    nothing is counted then."""
    limits = {"maxnreg": (directive,), "maxntid": (1024, 1, 1)}
    k = kernel(own, limits=limits)
    if goes:
        check_shape((1, 1, 1), (1024, 1, 1), k, DEVICES[90])
    else:
        with pytest.raises(LaunchError, match=f"with {own} registers each"):
            check_shape((1, 1, 1), (1024, 1, 1), k, DEVICES[90])


def test_too_many_registers() -> None:
    k = kernel(200, limits={"maxnreg": (128,)})
    with pytest.raises(LaunchError) as problem:
        check_shape((1, 1, 1), (32, 17, 1), k, DEVICES[90])
    assert str(problem.value) == (
        "block (32, 17, 1) has 544 threads, with 128 registers each by the kernel's .maxnreg: a CTA takes "
        "81920; sm_90 has 65536"
    )


def test_shared_memory() -> None:
    k = kernel(shared_size=1000, dynamic_shared=1008)
    assert shared_bytes(k, 0, DEFAULT) == 1000
    assert shared_bytes(k, 16, DEFAULT) == 1024
    with pytest.raises(LaunchError) as problem:
        shared_bytes(k, 16 * 1024, DEVICES[10])
    assert str(problem.value) == (
        "17392 bytes of shared memory (1000 static, 16384 dynamic); sm_10 has at most 16384 a CTA"
    )
    with pytest.raises(LaunchError, match="expected bytes of dynamic shared memory, -1 given"):
        shared_bytes(k, -1, DEFAULT)


def chain(*functions: tuple[str, int, tuple[str, ...]], recursive: str = "") -> Program:
    """A program of functions as (name, local_size, callees)."""
    made: dict[str, Function] = {}
    for name, size, callees in functions:
        block = Block(0, [Call(c, (), (), (), 1) for c in callees])
        made[name] = Function(name, name == "k", [block], [], local_size=size, recursive=name == recursive)
    return Program(made, {}, Environment(), 64, Source(""))


def test_local_memory_is_the_deepest_chain() -> None:
    program = chain(("k", 10, ("f", "g")), ("f", 100, ("h",)), ("g", 8, ("h",)), ("h", 16, ()))
    assert local_bytes(program, program.functions["k"], DEFAULT) == 16 + 112 + 16
    assert local_bytes(program, program.functions["h"], DEFAULT) == 16


def test_recursion_adds_the_stack() -> None:
    program = chain(("k", 0, ("f",)), ("f", 32, ("f",)), recursive="f")
    assert local_bytes(program, program.functions["k"], DEFAULT, stack=1000) == 1032
    assert local_bytes(program, program.functions["k"], DEVICES[10], stack=1 << 30) == 16 * 1024


def test_mutual_recursion_ends() -> None:
    program = chain(("k", 16, ("f",)), ("f", 16, ("g",)), ("g", 16, ("f",)), recursive="f")
    assert local_bytes(program, program.functions["k"], DEFAULT, stack=0) == 48


def test_a_long_chain_does_not_exhaust_pythons_stack() -> None:
    names = ["k", *(f"f{i}" for i in range(5000))]
    program = chain(*((n, 16, tuple(names[i + 1 : i + 2])) for i, n in enumerate(names)))
    assert local_bytes(program, program.functions["k"], DEFAULT) == 5001 * 16


def test_too_much_local_memory() -> None:
    program = chain(("k", 20_000, ()))
    with pytest.raises(LaunchError, match="needs 20000 bytes of local memory a thread; sm_13 has at most"):
        local_bytes(program, program.functions["k"], DEVICES[13])


@pytest.mark.parametrize("name", ["sm_90", "SM_90", "compute_90", "90", "9.0", 90, "sm_90a"])
def test_device_names(name: str | int) -> None:
    assert find_device(name).capability == (9, 0)


def test_devices_of_the_handbook_and_today() -> None:
    old, since = [10, 11, 12, 13, 20, 21, 30, 35], [75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121]
    assert list(DEVICES) == [*old, 37, 50, 52, 53, 60, 61, 70, 72, *since]
    assert find_device(None).name == find_device("10.0").name == "sm_100"
    assert find_device("1.0").name == "sm_10"


@pytest.mark.parametrize("name", ["sm_42", "gpu", "", 7, "sm_"])
def test_unknown_devices(name: str | int) -> None:
    with pytest.raises(SimtError, match=r"^no virtual device .*: expected one of sm_10, sm_11, .*sm_121$"):
        find_device(name)


def test_published_figures() -> None:
    """CUDA Handbook 8.1.3: 16 KiB and 16 banks on 1.x, 48 KiB and 32 banks later; threads per CTA."""
    for device in DEVICES.values():
        old = device.capability < (2, 0)
        assert device.shared_memory_per_cta == (16 if old else 48) * 1024
        assert device.shared_memory_banks == (16 if old else 32)
        assert device.max_threads_per_cta == (512 if old else 1024)
        assert device.max_shared_memory_per_cta <= device.shared_memory_per_multiprocessor
        assert device.independent_threads == (device.capability[0] >= 7)
