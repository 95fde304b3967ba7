"""Every error a user of `simt` can meet. All are `SimtError`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simt.diagnostics import Diagnostic
from simt.records import dataclass


class SimtError(Exception):
    """Base of all errors raised by simt."""


LONGEST = 120
"""Characters of a name in a message."""
ENDING = 24
"""Those at its end that are kept of a longer one."""


def brief(name: str) -> str:
    """A kernel's name as messages have it: mangled ones of C++ templates may have thousands of characters."""
    return name if len(name) <= LONGEST else f"{name[: LONGEST - ENDING - 3]}...{name[-ENDING:]}"


def rebuild(kind: type[SimtError], args: tuple[object, ...], state: dict[str, object]) -> SimtError:
    """A pickled error, for pools of processes: its constructor may take more than its `args`."""
    found = kind.__new__(kind)
    found.args = args
    found.__dict__.update(state)
    return found


class PtxError(SimtError):
    """A module was refused. `diagnostics` lists every finding, in source order."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = list(diagnostics)
        super().__init__("\n".join(d.render() for d in self.diagnostics) or "not a PTX module")

    def __reduce__(self) -> tuple[Any, ...]:
        return rebuild, (type(self), self.args, self.__dict__)


class PtxFileError(PtxError):
    """A PTX file cannot be read: there are no diagnostics, the message says why."""

    def __init__(self, message: str) -> None:
        super().__init__(())
        self.args = (message,)


class CompilerWarning(RuntimeWarning):
    """The JIT failed at a kernel, by a fault of simt's own: the kernel runs all the same, but slowly."""


class LaunchError(SimtError):
    """A launch was refused before any thread ran: shape, limits, arguments or resources."""


class UnsupportedInstruction(LaunchError):
    """A kernel can reach an instruction that simt knows but does not run. Other kernels of the module run.

    `instruction`: as written, `line` and `file` where. `instructions`: all of them that the kernel can reach.
    """

    def __init__(self, message: str, instructions: Sequence[str], line: int | None, file: str) -> None:
        self.instructions = tuple(instructions)
        self.instruction = self.instructions[0]
        self.line = line
        self.file = file
        super().__init__(message)

    def __reduce__(self) -> tuple[Any, ...]:
        return rebuild, (type(self), self.args, self.__dict__)


class OutOfMemory(SimtError):
    """An allocation does not fit into the device's arena."""


@dataclass(frozen=True)
class FaultSite:
    """Where a running kernel went wrong. `cta` and `thread` are (x, y, z); None where unknown."""

    kernel: str
    cta: tuple[int, int, int] | None = None
    thread: tuple[int, int, int] | None = None
    line: int | None = None
    file: str | None = None

    def __str__(self) -> str:
        parts = [f"kernel {brief(self.kernel)}"]
        if self.cta is not None:
            parts.append(f"CTA {self.cta}")
        if self.thread is not None:
            parts.append(f"thread {self.thread}")
        if self.line is not None:
            parts.append(f"{self.file or 'PTX'} line {self.line}")
        return ", ".join(parts)


class KernelFault(SimtError):
    """A running kernel was stopped. `site` says where."""

    def __init__(self, message: str, site: FaultSite) -> None:
        self.site = site
        super().__init__(f"{message} ({site})")

    def __reduce__(self) -> tuple[Any, ...]:
        return rebuild, (type(self), self.args, self.__dict__)


class MemoryFault(KernelFault):
    """An illegal or misaligned access. `address` is as the program computed it."""

    def __init__(self, message: str, site: FaultSite, address: int, size: int, space: str) -> None:
        self.address = address
        self.size = size
        self.space = space
        super().__init__(message, site)


class TrapError(KernelFault):
    """The kernel executed `trap`."""


class AssertionFault(KernelFault):
    """A device-side assertion failed."""


class BarrierError(KernelFault):
    """Threads wait at a barrier that can never complete."""


class LaunchTimeout(KernelFault):
    """The kernel ran past the device's `timeout`."""
