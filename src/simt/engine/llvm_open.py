"""F64 results of a block whose NaNs are open (`simt.engine.llvm_loose`): which are to be settled together.

A test asks all lanes, and what comes before it LLVM does not mix with what comes behind. So there are few:
where a block ends, where the first of several ops sees bits (stores, moves that take a double apart; they
come late, `simt.analysis.seen_late`), and where much is behind a result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping, Sequence, Set
from typing import cast

from simt.analysis.program import Block, Call, Op
from simt.analysis.seen_late import sees_doubles
from simt.analysis.ssa import Definition, Ssa
from simt.engine.llvm_builder import Value
from simt.engine.llvm_float import LlvmAlgebra
from simt.engine.llvm_loose import Loose, source_of
from simt.records import dataclass

Values = MutableMapping[Definition, Value]


@dataclass(frozen=True, slots=True)
class Present:
    """The op that is emitted: its block's ops, and where it is among them."""

    ops: Sequence[Op | Call] = ()
    place: int = 0

    def read_later(self, ssa: Ssa) -> Iterator[Definition]:
        """What the ops behind it read."""
        for op in self.ops[self.place + 1 :]:
            yield from ssa.read[id(op)].values()


def is_open(value: Value | None) -> bool:
    """Whether a value is such a result."""
    return source_of(value) is not None


def is_long(value: Value) -> bool:
    """Whether so much is behind it that it is to be settled."""
    source = source_of(value)
    return source is not None and source.is_long


def settle(m: LlvmAlgebra, values: Values, wanted: Iterable[Definition]) -> None:
    """Settles those of some values that are open, by one test."""
    found = [d for d in dict.fromkeys(wanted) if is_open(values.get(d))]
    values.update(zip(found, m.settled_together([cast("Loose", values[d]) for d in found])))


def settle_seen(m: LlvmAlgebra, values: Values, ssa: Ssa, present: Present) -> None:
    """If the present op sees bits of some: settles all of which it or a later one of its block does."""
    ops, place = present.ops, present.place
    read = ssa.read[id(ops[place])].values()
    if any(is_open(values.get(d)) for d in read) and sees_doubles(ops[place]):
        seeing = filter(sees_doubles, ops[place:])
        settle(m, values, (d for op in seeing for d in ssa.read[id(op)].values()))


def settle_long(m: LlvmAlgebra, values: Values, ssa: Ssa, present: Present, others: Set[Definition]) -> None:
    """The same of all that are read behind the present op, in its block or, `others`, elsewhere."""
    settle(m, values, (*present.read_later(ssa), *(d for d in values if d in others)))


def given(ssa: Ssa, block: Block) -> list[Definition]:
    """What a block gives to phis of those behind it."""
    phis = (phi for target in block.successors() for phi in ssa.phis.get(target.index, ()))
    return [phi.inputs[block.index] for phi in phis]
