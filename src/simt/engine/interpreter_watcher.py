"""What a tool sees of the interpreter while it runs."""

from __future__ import annotations

from typing import Any, Protocol

from numpy.typing import NDArray

from simt.analysis.program import Call, Op, Terminator
from simt.engine.batch import Batch
from simt.engine.branch_stacks import Change
from simt.engine.interpreter_activation import Activation, Run

Array = NDArray[Any]


class Watcher(Protocol):
    """Is told what the lanes of a batch do, before they do it. `batch.stacks` are their branch
    synchronisation stacks, as they are just then.

    Masks have the shape (rows, 32); `run.rows` says which rows of the batch these are (None: all).
    """

    def begins(self, batch: Batch) -> None:
        """The CTAs of a batch begin; those of the one before have ended."""
        ...

    def enters(self, activation: Activation, run: Run) -> None:
        """The lanes of `run.mask` begin a block, or go on with it after a call."""
        ...

    def executes(self, what: Op | Call | Terminator, lanes: Array, activation: Activation, run: Run) -> None:
        """`lanes` execute something; none of them, if their guard keeps all from it."""
        ...

    def parts(self, ways: list[tuple[int, Array]], activation: Activation, run: Run) -> None:
        """Lanes take a branch: slots, with the lanes that go there. A mask may be empty."""
        ...

    def changes(self, change: Change) -> None:
        """The branch synchronisation stacks of some warps have changed."""
        ...
