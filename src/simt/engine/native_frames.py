"""How much native stack machine code takes, by what its functions subtract from the stack's pointer."""

from __future__ import annotations

import re
from collections.abc import Iterable

_FRAMES = re.compile(rb"(?=\x48\x81\xec(.{4}))", re.DOTALL)
"""`sub rsp, imm32` of x86-64, by which a function with a frame of 128 bytes or more begins. Other bytes that
look alike count, too: no frame is overlooked."""


def frames(images: Iterable[bytes]) -> list[int]:
    """Bytes of the frames of the functions of some object code for x86-64. (Registers that they save, and
    frames below 128 bytes, are left out.)"""
    return [int.from_bytes(size, "little") for image in images for size in _FRAMES.findall(image)]
