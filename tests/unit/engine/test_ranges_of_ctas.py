"""Which worker runs which CTAs: each begins with a range of its own, and every CTA runs once."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.engine.abi import LaunchSlot
from simt.engine.prepared import Prepared
from simt.machine.launch import Launch

KERNEL = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 runs, .param .u32 turns)
{
    .reg .pred %p;
    .reg .b32 %c, %n, %t, %i;
    .reg .b64 %a, %b;
    mov.u32 %c, %ctaid.x;
    mul.wide.u32 %b, %c, 4;
    ld.param.u64 %a, [runs];
    add.u64 %a, %a, %b;
    red.global.add.u32 [%a], 1;
    ld.param.u32 %t, [turns];
    mov.u32 %i, 0;
GO:
    mul.lo.u32 %n, %n, 5;
    add.u32 %i, %i, 1;
    setp.lt.u32 %p, %i, %t;
    @%p bra GO;
    st.global.u32 [%a+65536], %n;
    ret;
}
"""


@pytest.mark.parametrize("workers", [1, 2, 3, 5, 16])
@pytest.mark.parametrize("ctas", [1, 2, 3, 7, 64, 65, 1000])
def test_every_cta_runs_once_a_launch(workers: int, ctas: int) -> None:
    device = simt.Device("sm_90", workers=workers, memory="64MiB", timeout=20)
    kernel = device.load(KERNEL)["k"]
    runs = device.zeros(65536, "u4")
    for launch in range(1, 6):
        kernel((ctas,), (64,), (runs, 500))
        assert np.array_equal(runs.numpy()[:ctas], np.full(ctas, 64 * launch, "u4"))
        assert not runs.numpy()[ctas:16384].any()


ORDER = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 count, .param .u64 order)
{
    .reg .b32 %c, %n;
    .reg .b64 %a, %b;
    mov.u32 %c, %ctaid.x;
    ld.param.u64 %a, [count];
    atom.global.add.u32 %n, [%a], 1;
    ld.param.u64 %a, [order];
    mul.wide.u32 %b, %n, 4;
    add.u64 %a, %a, %b;
    st.global.u32 [%a], %c;
    ret;
}
"""


@pytest.mark.parametrize("worker", [0, 1, 2])
@pytest.mark.parametrize("ctas", [1, 7, 90, 1000])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_worker_begins_with_its_range_and_takes_the_others_then(
    worker: int, ctas: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One worker of three, which finds nobody else. `threads`: that were to take part; a worker that comes
    although it was not has no range of its own."""

    def run(self: Prepared, launch: Launch) -> None:
        self.begin(launch, threads)
        block = self.crew.worker(worker).block
        self.block.slots[LaunchSlot.LIMIT] = launch.memory.limit
        self.compiled.entry(self.block.address, block.address)

    monkeypatch.setattr(Prepared, "here", run)
    monkeypatch.setattr(Prepared, "elsewhere", run)
    device = simt.Device("sm_90", workers=3, memory="64MiB", timeout=20)
    count, order = device.zeros(1, "u4"), device.zeros(ctas, "u4")
    device.load(ORDER)["k"]((ctas,), (1,), (count, order))
    part = -(-ctas // threads)
    ranges = [list(range(ctas))[i * part : (i + 1) * part] for i in range(threads)]
    own = ranges.pop(worker) if worker < threads else []
    assert order.numpy().tolist() == [*own, *(cta for rest in ranges for cta in rest)]


def test_parts_of_long_launches_are_finer(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the time that the launches before took; every CTA runs once all the same."""
    parts: list[int] = []

    def run(self: Prepared, launch: Launch) -> None:
        self.begin(launch, 2)
        parts.append(self.block.slots[LaunchSlot.CHUNK])
        self.block.slots[LaunchSlot.LIMIT] = launch.memory.limit
        self.compiled.entry(self.block.address, self.crew.worker(0).block.address)
        elapsed = {1: 900_000, 2: 1_200_000}.get(len(parts), 100_000)
        self.pace.note(self.block.slots[LaunchSlot.CTAS], elapsed, 1)

    monkeypatch.setattr(Prepared, "here", run)
    device = simt.Device("sm_90", workers=2, memory="64MiB", timeout=20)
    kernel, runs = device.load(KERNEL)["k"], device.zeros(65536, "u4")
    for launch in range(1, 8):
        kernel((4096,), (64,), (runs, 1))
        assert np.array_equal(runs.numpy()[:4096], np.full(4096, 64 * launch, "u4"))
    assert parts[:4] == [4096 // 32, 4096 // 32, 4096 // 128, 4096 // 128]
    assert parts[-1] == 4096 // 32  # short launches again


def test_a_replayed_sequence_runs_every_cta() -> None:
    device = simt.Device("sm_90", workers=3, memory="64MiB", timeout=20)
    kernel = device.load(KERNEL)["k"]
    runs = device.zeros(65536, "u4")
    with device.capture() as sequence:
        for _ in range(3):
            kernel((10,), (64,), (runs, 10))
    for _ in range(4):
        sequence()
    assert np.array_equal(runs.numpy()[:11], np.array([64 * 12] * 10 + [0], "u4"))
