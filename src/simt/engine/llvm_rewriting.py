"""Kernels rewritten before code is made of them, where the CPU and the CTAs' shape make that worth it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from simt.analysis.alike_frames import holds, with_alike_frame
from simt.analysis.carried_words import carrying_loops, with_carried_words
from simt.analysis.chosen import with_choices
from simt.analysis.cut_again import cut_again
from simt.analysis.decided import decided
from simt.analysis.masks_first import with_masks_first
from simt.analysis.program import Block, Branch, Function, Op
from simt.analysis.range_algebra import UNKNOWN
from simt.analysis.ranges import Ranges
from simt.analysis.remainders import with_remainders
from simt.analysis.rolled_again import proofs_of, rolled_again, unrolled_pairs
from simt.analysis.rolled_lines import is_seldom
from simt.analysis.schedule import schedule
from simt.analysis.skipped import FEWEST, skipped_words, without_branches
from simt.analysis.ssa import Ssa, build
from simt.analysis.taking_turns import Found, loops_through_planes, taking_turns, walking_loops
from simt.analysis.told_before import loops_told_before, without_told
from simt.analysis.turns import Turns
from simt.analysis.turns_of_warps import are_whole, speaks, turns_of_warps
from simt.analysis.unguarded import guarded_parts, without_guards
from simt.analysis.whole_indices import with_whole_indices
from simt.analysis.wide_moves import with_wide_moves
from simt.engine.host import FAR_TURNS
from simt.engine.llvm_outline import OPS
from simt.engine.llvm_runs import has_runs
from simt.engine.llvm_slots import Unit
from simt.engine.llvm_stretches import has_stretches
from simt.imports import Later
from simt.isa.integer import max_, min_

if TYPE_CHECKING:
    from simt.analysis import parted_bounds, together
    from simt.analysis.same_turns import Proof
else:
    parted_bounds = Later("simt.analysis.parted_bounds")
    together = Later("simt.analysis.together")


def _with_wide_moves(unit: Unit) -> Function:
    """The kernel, with rotations and shuffles of 64 bits in one piece."""
    if unit.has_clock:
        return unit.kernel
    return with_wide_moves(unit.kernel, shuffles="avx512bw" in unit.features)


def _with_choices(unit: Unit) -> Function:
    """The kernel, with choices in place of branches around a few instructions."""
    if unit.has_clock or not any(isinstance(block.terminator, Branch) for block in unit.kernel.blocks):
        return unit.kernel
    found = unit.analyse(unit.kernel)
    return with_choices(unit.kernel, found.ssa, found.uniformity, unit.program.environment)


def _with_parted_bounds(unit: Unit) -> Function:
    """The kernel, with comparisons of two indices in place of one of their maximum."""
    if unit.has_clock or not any(
        isinstance(op, Op) and op.form.meaning in (max_, min_) for op in unit.kernel.ops()
    ):
        return unit.kernel
    found = unit.analyse(unit.kernel)
    return parted_bounds.with_parted_bounds(unit.kernel, found.ssa, found.uniformity.shapes)


def _rolled_again(unit: Unit) -> Function:
    """The kernel, with loops that were unrolled as they were before. (Those of which warps take turns, which
    only load, are left: four turns at once keep more loads under way.)"""
    if unit.has_clock:
        return unit.kernel
    if (rolled := _rolled(unit)) is not unit.kernel:
        return rolled
    whole = with_whole_indices(unit.kernel, unit.program.environment)
    if whole is unit.kernel:
        return whole
    rolled = _rolled(unit.anew(whole, unit.block))
    return unit.kernel if rolled is whole else rolled


def with_decisions(unit: Unit) -> tuple[Function, Ssa | None]:
    """The kernel, with jumps where the CTA's size decides, and its SSA, if it has been made. Loops that lanes
    leave in different turns even so are as they were before: that they may be is told by these branches."""
    program, kernel, block = unit.program, unit.kernel, unit.block
    known = unit.ssa or build(kernel, schedule(kernel))
    found, ssa = decided(program, kernel, block, known)
    if found is kernel or unit.has_clock or not unrolled_pairs(known):
        return found, ssa
    ssa = ssa or build(found, schedule(found))
    parted = _lines_of_parting(Unit(program, found, block, unit.features, room=unit.room, ssa=ssa))
    if not parted:
        return found, ssa
    proofs = (p for p in _proofs(unit, in_fours=False) if p.pair.main.terminator.line in parted)
    rolled = rolled_again(kernel, unit.analyse(kernel).ssa, proofs)
    return (found, ssa) if rolled is kernel else decided(program, rolled, block)


def _lines_of_parting(unit: Unit) -> set[int]:
    """The lines of the branches of loops that lanes leave in different turns, of those of one block."""
    found = unit.analyse(unit.kernel)
    return {b.terminator.line for b in found.ssa.schedule.order if b.index in found.uniformity.leaving}


def _rolled(unit: Unit) -> Function:
    """The kernel, with those that are found as it is."""
    return rolled_again(unit.kernel, unit.analyse(unit.kernel).ssa, _proofs(unit, unit.in_fours))


def may_be_in_fours(unit: Unit) -> bool:
    """Whether there are loops of many turns at once that may be of fewer."""
    counts = (proof.count() for proof in _proofs(unit, in_fours=True) if not is_seldom((proof.pair.main,)))
    return not unit.has_clock and any(count is not None and count.several is not None for count in counts)


def _proofs(unit: Unit, in_fours: bool) -> Iterator[Proof]:
    """For loops that may have been unrolled."""
    known, environment = unit.analyse(unit.kernel), unit.program.environment
    ssa, uniformity = known.ssa, known.uniformity
    pairs = unrolled_pairs(ssa)
    if not pairs:
        return
    walking = walking_loops(Found(unit.kernel, ssa, uniformity, known.pending, unit.block, environment))
    headers = [loop.header for loop in walking]
    ranges = cache(lambda: Ranges(ssa, environment, unit.block, lambda _: UNKNOWN))
    for pair in pairs:
        if pair.main not in headers or _stores(pair.main):
            yield from proofs_of(ssa, uniformity.shapes, environment, ranges, pair, in_fours)


def _stores(block: Block) -> bool:
    return any(isinstance(op, Op) and op.form.effects and not op.destinations for op in block.ops)


def _with_carried_words(unit: Unit) -> Function:
    """The kernel, with words that loops have from the turn before in registers, where rows of each thread's
    own may be moved by stretches."""
    if not has_stretches(unit.features) or unit.has_clock:
        return unit.kernel
    ssa = unit.analyse(unit.kernel).ssa
    loops = carrying_loops(ssa, unit.program.environment) if ssa.schedule.loops else []
    return with_carried_words(unit.kernel, ssa, loops) if loops else unit.kernel


def _told_before(unit: Unit) -> Function:
    """The kernel, with loops standing twice whose branches are told before them."""
    if unit.has_clock or not any(isinstance(block.terminator, Branch) for block in unit.kernel.blocks):
        return unit.kernel
    found = unit.analyse(unit.kernel)
    if found.pending.waiting or not found.uniformity.divergent:
        return unit.kernel
    loops = loops_told_before(found.ssa, found.uniformity)
    return without_told(unit.kernel, loops) if loops else unit.kernel


def _staying_together(unit: Unit) -> Function:
    """The kernel, with loops standing twice in which lanes are to stay together."""
    found, environment = unit.analyse(unit.kernel), unit.program.environment
    able = has_stretches(unit.features) and not unit.has_clock
    if not able or found.pending.waiting or not found.uniformity.leaving:
        return unit.kernel
    turns = Turns(found.ssa, environment)
    ranges = cache(lambda: Ranges(found.ssa, environment, unit.block, lambda _: UNKNOWN))
    loops = together.loops_together(found.ssa, turns, ranges, found.uniformity, found.representatives)
    return together.put_together(unit.kernel, found.ssa, loops) if loops else unit.kernel


def _without_guards(unit: Unit) -> Function:
    """The kernel, with accesses under guards standing twice, where these are guards of indices, and the CPU
    picks members of structures out of registers."""
    if unit.has_clock or "avx512f" not in unit.features:
        return unit.kernel
    found = unit.analyse(unit.kernel)
    parts = guarded_parts(found.ssa, found.uniformity.shapes)
    return without_guards(unit.kernel, parts) if parts else unit.kernel


def _without_branches(unit: Unit) -> Function:
    """The same for words that each have a branch around them."""
    branches = sum(isinstance(b.terminator, Branch) for b in unit.kernel.blocks)
    if branches < FEWEST or unit.has_clock or "avx512f" not in unit.features:
        return unit.kernel
    found = unit.analyse(unit.kernel)
    chains = skipped_words(unit.kernel, found.ssa, found.uniformity.shapes)
    return without_branches(unit.kernel, found.ssa, chains) if chains else unit.kernel


def _with_rows_of_blocks(unit: Unit) -> Function:
    """The kernel, with rows of indices made again where they are used."""
    if not has_runs(unit.features) or unit.has_clock:
        return unit.kernel
    found, environment = unit.analyse(unit.kernel), unit.program.environment
    return cut_again(unit.kernel, found.ssa, found.uniformity.shapes, unit.block, environment)


def with_cuts(unit: Unit) -> Function:
    """The kernel, with remainders by powers of two as masks, and masks before shifts. Rows of a warp follow
    from these: this comes before the CTA's shape is chosen."""
    if unit.has_clock:
        return unit.kernel
    found, environment = unit.analyse(unit.kernel), unit.program.environment
    kernel = with_masks_first(unit.kernel, found.ssa, found.uniformity.shapes)
    if kernel is not unit.kernel:
        return kernel
    return with_remainders(unit.kernel, found.ssa, found.uniformity.shapes, environment)


def is_surely_large(unit: Unit) -> bool:
    """Whether a kernel has too many instructions, however it is rewritten: that adds some, but for loops that
    are rolled again."""
    return unit.ops > OPS and not unrolled_pairs(unit.analyse(unit.kernel).ssa)


STEPS = (
    _with_wide_moves, _with_parted_bounds, _with_choices, _rolled_again, _with_carried_words, _told_before,
    _staying_together, _without_guards, _without_branches, _with_rows_of_blocks,
)  # fmt: skip
"""One after the other: each gives the kernel that the next one finds."""


def taking_turns_in(unit: Unit) -> Unit:
    """The unit, or one of its kernel with loops whose turns warps take together."""
    kernel, program, known = unit.kernel, unit.program, unit.analyse(unit.kernel)
    columns = FAR_TURNS in unit.features
    found = Found(
        kernel, known.ssa, known.uniformity, known.pending, unit.block, program.environment, columns
    )
    walking = [] if unit.has_clock else walking_loops(found)
    alone = not speaks(kernel)
    loops = walking or (loops_through_planes(found) if alone and not unit.has_clock else [])
    if not loops:
        return unit
    apart = alone and len(walking) < 2  # else lanes would come to the next loop before others of their warp
    turning = taking_turns(kernel, found, loops) if apart else turns_of_warps(kernel, found, loops)
    made = Unit(program, turning, unit.block, unit.features, room=unit.room, takes_turns=True)
    parted = apart and bool(walking)
    return made if parted or are_whole(made.analyse(turning).pending) else unit


def _with_alike_frame(unit: Unit) -> Unit:
    kernel = with_alike_frame(unit.program, unit.kernel)
    if kernel is None:
        return unit
    made = unit.anew(kernel, unit.block)
    found = made.analyse(kernel)
    return made if holds(kernel, found.ssa, found.uniformity, found.pending) else unit


def shaped(unit: Unit) -> Unit:
    """The unit, or one of its kernel with local memory that is the same in all lanes, and with masks for
    remainders, for CTAs of a shape that is chosen here."""
    unit = _with_alike_frame(unit)
    while (cut := with_cuts(unit)) is not unit.kernel:  # a remainder of a remainder
        unit = unit.anew(cut, unit.block)
    unit.choose_shape()
    return unit


def rewritten(unit: Unit) -> Unit:
    """The unit, or one of its kernel in another form."""
    for step in STEPS:
        kernel = step(unit)
        if kernel is not unit.kernel:
            unit = unit.anew(kernel, unit.block)
    return taking_turns_in(unit)
