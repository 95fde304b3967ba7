"""Integers that the thread's indices tell, and what all lanes have: rows and columns of an index, and
addresses made of them.

Such lanes lie in an order that few numbers describe, if not always by one step. What comes from memory, or
from other lanes, is elsewhere for each.
"""

from __future__ import annotations

from collections.abc import Mapping

from simt.analysis.program import Op
from simt.analysis.shape import Shape
from simt.analysis.ssa import Definition, Ssa

MOST = 64
"""Definitions that are looked at, at most."""


def is_of_indices(definition: Definition, ssa: Ssa, shapes: Mapping[Definition, Shape]) -> bool:
    """Whether a value is one of these."""
    seen, work = {definition}, [definition]
    while work:
        one = work.pop()
        shape = shapes.get(one)
        if shape is not None and (shape.is_uniform or shape.is_affine):
            continue
        sources = _sources(one, ssa)
        if sources is None or len(seen) > MOST:
            return False
        work += [source for source in sources if source not in seen]
        seen.update(sources)
    return True


def _sources(definition: Definition, ssa: Ssa) -> list[Definition] | None:
    """What an integer is made of; None if that is not all that tells it."""
    op = definition.origin
    if definition.register.type.is_float:
        return None
    if definition.is_phi:
        return [*definition.inputs.values()]
    if not isinstance(op, Op) or op.form.effects:
        return None
    return [*ssa.read[id(op)].values()]
