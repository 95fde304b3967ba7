"""Kernels with structures among their parameters, which NumPy's structured scalars, `ctypes` or bytes give.

All but bytes may change after a launch, so that nothing may be kept of the objects. They are taken as bytes
before anything else: as the same object as the last time, if the contents are equal. So launches with such
arguments are as short as others (`simt.driver.again`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from simt.driver.kernel import Kernel
from simt.driver.stream import Stream
from simt.machine.arguments import contents
from simt.machine.grid import Shape

if TYPE_CHECKING:
    from simt.analysis.outline import Function
    from simt.driver.module import Module


class KernelOfStructures(Kernel):
    """`Kernel` with such parameters."""

    def __init__(self, module: Module, function: Function) -> None:
        super().__init__(module, function)
        parameters = function.kernel_parameters
        self._count = len(parameters)
        self._latest: dict[int, bytes] = {i: b"" for i, p in enumerate(parameters) if p.array}

    def __call__(
        self,
        grid: Shape,
        block: Shape,
        args: Sequence[object] = (),
        shared_mem: int = 0,
        stream: Stream | None = None,
    ) -> None:
        super().__call__(grid, block, self._as_bytes(args), shared_mem, stream)

    def _as_bytes(self, args: Sequence[object]) -> Sequence[object]:
        """The arguments with bytes in place of structures, if there are as many as are wanted."""
        if type(args) not in (tuple, list) or len(args) != self._count:
            return args
        found, latest = [*args], self._latest
        for index, known in latest.items():
            data = contents(args[index])
            if data is not None:
                found[index] = latest[index] = known if data == known else data
        return tuple(found)


def has_structures(function: Function) -> bool:
    """Whether a kernel has such parameters."""
    return any(parameter.array for parameter in function.kernel_parameters)
