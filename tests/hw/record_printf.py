"""Records what device-side printf prints on a real NVIDIA GPU.

    python -m tests.hw.record_printf

writes `vectors/printf.json`. Needs `cuda-python` and pytest.
"""

from __future__ import annotations

import ctypes
import json
import os
import tempfile
from collections.abc import Callable

import numpy as np

from tests.hw.printf import PTX, RECORDED, all_cases, packed


def record() -> None:
    from tests.programs.on_gpu import Device, Module

    device = Device()
    kernel = Module(device, PTX)["print_packed"]
    memory, entry, count = device.zeros(1024, "u1"), device.zeros(2, "u8"), device.zeros(1, "i4")
    entry.host[:] = memory.ptr, memory.ptr + 256
    found: list[tuple[str, int]] = []
    for case in all_cases():
        data = packed(case, memory.ptr)
        memory.host[:] = 0
        memory.host[: len(data)] = np.frombuffer(data, np.uint8)
        text = printed(lambda: kernel((1,), (1,), (entry, count)))
        found.append((text, int(count.numpy()[0])))
    rows = (json.dumps([case[0], *row]) for case, row in zip(all_cases(), found))
    RECORDED.write_text("[\n" + ",\n".join(rows) + "\n]\n")


def printed(run: Callable[[], None]) -> str:
    """What a process prints on file descriptor 1 meanwhile."""
    with tempfile.TemporaryFile() as file:
        saved = os.dup(1)
        os.dup2(file.fileno(), 1)
        try:
            run()
            ctypes.CDLL(None).fflush(None)
        finally:
            os.dup2(saved, 1)
            os.close(saved)
        file.seek(0)
        return file.read().decode()


if __name__ == "__main__":
    record()
