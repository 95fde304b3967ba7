"""Which launches Python makes, and which compiled code makes alone."""

from __future__ import annotations

from typing import Any

import simt
from simt.engine.jit import Jit


class General:
    """`general`: launches on a device that were not made by compiled code alone."""

    general = 0

    def count(self, device: simt.Device) -> None:
        """From now on."""
        engine = device.engine
        assert isinstance(engine, Jit)
        launch = engine.launch

        def counted(made: Any) -> None:
            self.general += 1
            launch(made)

        engine.launch = counted  # type: ignore[method-assign]
