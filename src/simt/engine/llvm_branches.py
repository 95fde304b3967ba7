"""Code that takes one of two ways within an instruction."""

from __future__ import annotations

from collections.abc import Callable

from simt.engine.llvm_builder import Value
from simt.engine.llvm_warp_functions import WarpFunctionAlgebra

LIKELY, UNLIKELY = ", !prof !1", ", !prof !2"
"""What LLVM is told of a branch: registers are not to be taken from the usual way for the rare one."""
WEIGHTS = (
    '!1 = !{!"branch_weights", i32 4000, i32 1}',
    '!2 = !{!"branch_weights", i32 1, i32 4000}',
)
"""At the end of a module."""


class BranchAlgebra(WarpFunctionAlgebra):
    """`WarpFunctionAlgebra` with branches. `sides`: of how many of them the code to come is on one side: what
    it makes is not known behind them."""

    sides = 0

    def _either(
        self,
        condition: str,
        first: Callable[[], tuple[Value, ...]],
        second: Callable[[], tuple[Value, ...]],
        likely: bool = False,
    ) -> tuple[Value, ...]:
        """`first()` if the condition (i1) holds, else `second()`, in blocks of their own; results by phi.
        `likely`: it holds nearly always."""
        if likely:
            second = self._unlikely_side(second)
        if condition in ("true", "false"):
            return first() if condition == "true" else second()
        yes, no, end = (self.builder.block_name(h) for h in ("fast", "slow", "end"))
        self.builder.void(f"br i1 {condition}, label %{yes}, label %{no}{LIKELY if likely else ''}")
        a, from_a = self._side(yes, end, first)
        b, from_b = self._side(no, end, second)
        self.builder.label(end)
        return self._joined(a, from_a, b, from_b)

    def _joined(
        self, a: tuple[Value, ...], from_a: str, b: tuple[Value, ...], from_b: str
    ) -> tuple[Value, ...]:
        """What two sides give, where they meet."""
        return tuple(
            self.emit(f"phi {x.spelled} [ {x.ir}, %{from_a} ], [ {y.ir}, %{from_b} ]", x.type, x.width)
            for x, y in zip(a, b, strict=True)
        )

    def _unlikely_side(self, run: Callable[[], tuple[Value, ...]]) -> Callable[[], tuple[Value, ...]]:
        """For `_either`: code that runs seldom."""

        def seldom() -> tuple[Value, ...]:
            was, self.seldom = self.seldom, True
            values = run()
            self.seldom = was
            return values

        return seldom

    def _side(
        self, label: str, end: str, run: Callable[[], tuple[Value, ...]]
    ) -> tuple[tuple[Value, ...], str]:
        self.builder.label(label)
        self.sides += 1
        values = tuple(self.vector(v) for v in run())
        self.sides -= 1
        last = self.builder.lines[self.builder.last_label].removesuffix(":")
        self.builder.void(f"br label %{end}")
        return values, last
