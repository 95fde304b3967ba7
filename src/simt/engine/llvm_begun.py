"""What every way to emit a kernel begins with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simt.analysis.asked_again import without_questions
from simt.analysis.factors import with_numbers
from simt.analysis.float_registers import with_float_registers
from simt.analysis.frame_registers import flattened
from simt.analysis.program import Function, Program
from simt.analysis.schedule import schedule
from simt.analysis.seen_late import with_bits_seen_late
from simt.analysis.shape import BlockShape
from simt.analysis.ssa import Ssa, build
from simt.imports import Later

if TYPE_CHECKING:
    from simt.analysis import told_exits
else:  # only for kernels that call functions: start-up time
    told_exits = Later("simt.analysis.told_exits")


def begin(program: Program, kernel: Function, block: BlockShape) -> tuple[Program, tuple[Function, Ssa]]:
    """The program, and the kernel as it is emitted in every way, with its SSA."""
    if kernel.calls:
        program, kernel = told_exits.with_exits_told(program, kernel)
    kernel = without_questions(program, with_numbers(kernel, block.numbers))
    made, ssa = with_float_registers(*flattened(program, kernel))
    kernel = with_bits_seen_late(program, made)
    known = ssa if kernel is made else None
    return program, (kernel, known or build(kernel, schedule(kernel)))
