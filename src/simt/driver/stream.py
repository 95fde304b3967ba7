"""Streams: sequences of launches that run in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simt.driver.device import Device


class Stream:
    """A stream of a device. Launches run in the order in which they are made and have finished when the
    call returns, so there is nothing to wait for."""

    def __init__(self, device: Device) -> None:
        self.device = device

    def synchronize(self) -> None:
        """Returns when everything launched on the stream has finished."""
        self.device.synchronize()

    def __repr__(self) -> str:
        return f"<Stream of {self.device.name}>"
