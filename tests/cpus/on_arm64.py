"""Runs tests of the JIT with every launch as 64-bit Arm code, under qemu: by hand, not in CI.

Needs Debian's `qemu-user` and `gcc-aarch64-linux-gnu`, and a quiet quarter of an hour::

    python -m pytest -p tests.cpus.on_arm64 tests/filetests/test_run.py tests/programs -k jit

Everything is as ever up to the launch. Then the kernel is compiled for Arm, linked with `on_arm64.c`, and
run there over a copy of the launch's memory, which is copied back. What this cannot do is skipped: calls of
the system, and kernels that only a timeout ends.
"""

from __future__ import annotations

import ctypes
import hashlib
import struct
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from simt.analysis.shape import BlockShape
from simt.engine.abi import LaunchSlot, WorkerSlot
from simt.engine.compile import generate
from simt.engine.host import AARCH64
from simt.engine.made import objects_of
from simt.engine.prepared import Prepared
from simt.machine.launch import Launch

Region = tuple[int, int]
"""Address of the first byte, and of the byte past the last."""
FOLDER = Path(tempfile.mkdtemp(prefix="simt-arm64-"))
SECONDS = 40
PAGE = 4096
TAKEN = 4
"""The program's exit status if qemu itself lies where a region should."""
STACK = 128 << 20


def run(self: Prepared, launch: Launch) -> None:
    """In place of `Prepared.here` and `elsewhere`: one worker runs all CTAs."""
    self.workers = 1
    self.begin(launch)
    worker = self.crew.worker(0)
    slots = self.block.slots
    slots[LaunchSlot.LIMIT] = self.crew.limit
    self.alone()
    worker.block.slots[WorkerSlot.FINISHED] = 0
    contexts, table = worker._contexts, self._table
    regions = [
        (self.block.address, self.block.address + len(self.block.bytes)),
        (worker.block.address, worker.block.address + len(worker.block.bytes)),
        (contexts.ctypes.data, contexts.ctypes.data + contexts.nbytes),
        (table.ctypes.data, table.ctypes.data + table.nbytes),
        (launch.memory.base, self.crew.limit),
    ]
    _execute(_program(self, launch), self.block.address, worker.block.address, regions)
    if slots[LaunchSlot.ABORT] & 0xFFFFFFFF:
        self.raise_fault(launch, late=False)
    slots[LaunchSlot.CLEAR] = 1


def _program(prepared: Prepared, launch: Launch) -> Path:
    """The kernel as a program for Arm."""
    header, image, _ = generate(launch.program, launch.kernel, BlockShape(*launch.block), AARCH64)
    if header["system"]:
        pytest.skip("calls the system")
    assert header["symbols"] == list(prepared.compiled.symbols)
    assert header["context"] == prepared.compiled.context
    path = FOLDER / hashlib.sha256(image).hexdigest()[:24]
    if not path.exists():
        objects = [(path.with_suffix(f".{i}.o"), code) for i, code in enumerate(objects_of(header, image))]
        for file, code in objects:
            file.write_bytes(code)
        source = Path(__file__).with_suffix(".c")
        command = ["aarch64-linux-gnu-gcc", "-static", "-O1", source, *(o for o, _ in objects), "-o", path]
        subprocess.run(command, check=True)
    return path


def _execute(program: Path, launch: int, worker: int, regions: list[Region]) -> None:
    image = FOLDER / "image"
    pages = list(_pages(regions))
    for _ in range(5):  # addresses are random: qemu may lie in the way
        with image.open("wb") as file:
            file.write(struct.pack("<QQQ", launch, worker, len(pages)))
            for first, end in pages:
                file.write(struct.pack("<QQ", first, end - first) + _bytes(first, end, regions))
        try:
            status = subprocess.run(
                ["qemu-aarch64", "-s", str(STACK), program, image], timeout=SECONDS
            ).returncode
        except subprocess.TimeoutExpired:
            pytest.skip(
                f"not done after {SECONDS} s under qemu, where nothing stops it; a hang would look so too"
            )
        if status != TAKEN:
            break
    assert status == 0
    with image.open("rb") as file:
        file.seek(24)
        for first, end in pages:
            file.seek(16, 1)
            data = file.read(end - first)
            for start, stop in _inside(first, end, regions):
                ctypes.memmove(start, data[start - first : stop - first], stop - start)


def _pages(regions: list[Region]) -> Iterator[Region]:
    """The pages that hold the regions, those next to each other as one."""
    rounded = sorted((first // PAGE * PAGE, -(-end // PAGE) * PAGE) for first, end in regions)
    current = rounded[0]
    for first, end in rounded[1:]:
        if first <= current[1]:
            current = current[0], max(current[1], end)
        else:
            yield current
            current = first, end
    yield current


def _inside(first: int, end: int, regions: list[Region]) -> list[Region]:
    return [region for region in regions if first <= region[0] < end]


def _bytes(first: int, end: int, regions: list[Region]) -> bytes:
    """The regions' bytes; zeros between them."""
    data = bytearray(end - first)
    for start, stop in _inside(first, end, regions):
        data[start - first : stop - first] = ctypes.string_at(start, stop - start)
    return bytes(data)


Prepared.here = run
Prepared.elsewhere = run
