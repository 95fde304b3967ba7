"""Arrays that tests of addresses need."""

from __future__ import annotations

import numpy as np

import simt


def words_at_the_end(device: simt.Device, word: np.uint32 | np.int32) -> simt.DeviceArray:
    """A MiB of the same word that ends where the accessible memory does, with room below for what launches
    need. The device must be new."""
    room = device.zeros(1 << 18, "u4")
    last = device.array(np.full(1 << 18, word))
    assert last.ptr == room.ptr + room.nbytes
    assert last.ptr + last.nbytes == device.memory.limit
    return last
