"""Instructions that are a few of a CPU: what they do takes no quotients, roots or conversions of floats."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from simt.analysis.evaluate import Evaluator
from simt.analysis.facts import Same
from simt.analysis.kinds import Kind, kind_of
from simt.analysis.program import Block, Op
from simt.isa.algebra import Algebra, Environment
from simt.ptx.types import Type

QUICK = frozenset(
    {"const", "select", "and_", "or_", "xor", "invert", "shift_left", "shift_right", "add", "sub", "mul"}
    | {"minimum", "maximum", "compare", "resize", "to_bits", "from_bits", "is_nan", "any_nan", "nan_result"}
    | {"fadd", "fsub", "fmul", "fma", "fmin", "fmax", "to_generic", "from_generic"}
)
"""Primitives that are a few instructions of a CPU."""


class Quick:
    """Tells whether instructions do quick primitives only. (It is an algebra that notes others.)"""

    def __init__(self, environment: Environment) -> None:
        self.others = False
        self.evaluator = Evaluator(cast("Algebra[bool]", self), Same(False), environment)
        self._known: dict[Kind, bool] = {}

    def has_only(self, block: Block) -> bool:
        return all(isinstance(op, Op) and self.is_quick(op) for op in block.ops)

    def is_quick(self, op: Op) -> bool:
        kind = kind_of(op)
        if kind not in self._known:
            self.others = False
            self.evaluator.op(op)
            self._known[kind] = not self.others
        return self._known[kind]

    def lookup(self, t: Type, index: bool, *tables: tuple[int, ...]) -> tuple[bool, ...]:
        self.others = True
        return (False,) * len(tables)

    def __getattr__(self, name: str) -> Callable[..., bool]:
        def primitive(*arguments: object) -> bool:
            self.others |= name not in QUICK
            return False

        return primitive
