"""A device whose code is for a CPU with AVX2 and without AVX-512, on machines of either kind."""

from __future__ import annotations

import pytest

import simt
from simt.engine.host import find_cpu
from simt.errors import SimtError
from tests.conftest import kept_for_each_way, shared_device

OLDER = "without AVX-512"


def device_of(engine: str) -> simt.Device:
    """`shared_device`, or that one for `OLDER`; skips the test where the machine has no such code."""
    return _older() if engine == OLDER else shared_device(engine)


@kept_for_each_way
def _older() -> simt.Device:
    try:
        find_cpu("x86-64-v3")
    except SimtError as error:
        pytest.skip(str(error))
    return simt.Device("sm_90", cpu="x86-64-v3", memory="1GiB", timeout=20)
