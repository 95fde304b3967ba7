"""Fine code: of kernels that are large, made as that of small ones, which takes LLVM seconds.

Of a large kernel each instruction is a call (`simt.engine.llvm_outline`), LLVM optimises nothing across
them, and what is kept of small kernels' loops in registers goes through memory. Such coarse code takes up to
four times as long as fine code would. A kernel that is somewhat larger than usual gets that once launches
have taken a hundredth of LLVM's time, and it is in the cache for all later processes. Of seven such kernels
of the survey two were slower so: the first launches tell, and the better code stays (decision 42).
"""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from simt.engine.drafts import MAKING, warps_of
from simt.machine.launch import Launch

if TYPE_CHECKING:
    from simt.engine.made import Compiled

ROOM = 3
"""Times as long as usual code may be to be made so: LLVM takes up to some five seconds."""
MUCH = 10_000
"""Nanoseconds for each instruction of the kernel that launches of coarse code take together, from which the
next one gets fine code. Few, so that whoever measures some launches measures that; LLVM takes some hundred
times as long for it."""
SAMPLE = 50_000_000
"""Nanoseconds that launches of fine code take until it is known whether it is the better one."""
WORSE = 1.05
"""Times as long for a warp, from which fine code is the worse one."""
SHORT = 200_000
"""Nanoseconds of a launch up to which the next one may be made without asking whether there is better code:
asking takes a tenth of that."""


class Coarse:
    """What is known of coarse code. `spent`: nanoseconds that its launches took; `warps` of them; `enough`:
    as many nanoseconds are to tell how fast it is. `patient`: as many as fine code takes to be made."""

    __slots__ = ("enough", "spent", "warps")

    def __init__(self, ops: int, patient: bool = False) -> None:
        self.enough: float = (MAKING if patient else MUCH) * ops
        self.spent = self.warps = 0

    @property
    def is_known(self) -> bool:
        """Whether it ran for long enough to get, or to be judged beside, other code."""
        return self.spent >= self.enough

    @property
    def rate(self) -> float:
        """Nanoseconds for a warp."""
        return self.spent / max(1, self.warps)

    @contextmanager
    def running(self, launch: Launch) -> Generator[None]:
        """While a launch of it runs."""
        start = time.perf_counter_ns()
        try:
            yield
        finally:
            took = time.perf_counter_ns() - start
            self.spent += took
            self.warps += warps_of(launch)
            launch.provisional = took > SHORT


class Fine(Coarse):
    """What is known of fine code that has just been made. `before`: the coarse code, with what is known of
    it; `kept`: how the cache had it."""

    __slots__ = ("before", "kept")

    def __init__(self, before: Compiled, kept: tuple[dict[str, object], bytes] | None) -> None:
        super().__init__(0)
        self.enough = SAMPLE
        self.before = before
        self.kept = kept

    @property
    def is_worse(self) -> bool:
        return self.before.coarse is not None and self.rate > WORSE * self.before.coarse.rate
