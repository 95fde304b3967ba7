"""Device-side printf prints, and returns, what an H200 does: recorded by `tests.hw.record_printf`."""

from __future__ import annotations

import json

import numpy as np
import pytest

import simt
from tests.hw.printf import PTX, RECORDED, all_cases, packed

ROOM = 1024
"""Bytes for one case's format, arguments and strings."""
BLOCK = 45


def test_prints_and_returns_what_the_gpu_does(device: simt.Device, monkeypatch: pytest.MonkeyPatch) -> None:
    cases, recorded = all_cases(), json.loads(RECORDED.read_text())
    assert [case[0] for case in cases] == [row[0] for row in recorded], "the cases changed: record them anew"
    assert len(cases) % BLOCK == 0, "every thread needs a case"
    memory = device.zeros((len(cases), ROOM), "u1")
    entries, counts = device.zeros((len(cases), 2), "u8"), device.zeros(len(cases), "i4")
    for i, case in enumerate(cases):
        place = memory.ptr + i * ROOM
        data = packed(case, place)
        memory.numpy()[i, : len(data)] = np.frombuffer(data, np.uint8)
        entries.numpy()[i] = place, place + 256
    printed: list[str] = []
    monkeypatch.setattr(device, "printf", printed.append)
    device.load(PTX)["print_packed"]((len(cases) // BLOCK,), (BLOCK,), (entries, counts))
    assert printed == [text for _, text, _ in recorded if text]
    assert counts.numpy().tolist() == [count for _, _, count in recorded]
