"""Divisions that compilers and libraries write as something else, as divisions again."""

from __future__ import annotations

from simt.analysis.power_divisions import with_power_divisions
from simt.analysis.product_divisions import with_product_divisions
from simt.analysis.program import Function, Program
from simt.analysis.short_divisions import with_short_divisions
from simt.analysis.ssa import Ssa

STEPS = with_short_divisions, with_power_divisions, with_product_divisions
"""One after the other: what one finds may stand in a branch that the next one looks for."""


def with_divisions(program: Program, kernel: Function, ssa: Ssa | None) -> tuple[Function, Ssa | None]:
    """The kernel with them; else itself, and its SSA, if that was given or had to be made."""
    for step in STEPS:
        kernel, ssa = step(program, kernel, ssa)
    return kernel, ssa
