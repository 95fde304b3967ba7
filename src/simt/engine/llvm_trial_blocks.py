"""Blocks of code that is tried first: see `simt.engine.llvm_trial`."""

from __future__ import annotations

from collections.abc import Mapping

from simt.analysis.program import Block, Function, Op
from simt.analysis.schedule import Loop
from simt.analysis.shape import Hold, Shape
from simt.analysis.ssa import Definition
from simt.engine.llvm_builder import Value
from simt.engine.llvm_lanes import Guarded, shape_of
from simt.engine.llvm_slots import Part, Unit
from simt.engine.llvm_suspension import SuspendingEmitter
from simt.engine.llvm_two_rows import TWO
from simt.records import dataclass, replace


@dataclass(frozen=True, slots=True)
class Trial:
    """`retreat`: the label of what is done where a guard does not hold. `splits`: lanes may be in two rows of
    an index."""

    retreat: str
    splits: bool = False


class TrialEmitter(SuspendingEmitter):
    """Emits a kernel's body, and may do so as a trial. `unparted`: in a trial, all lanes of the warp have
    gone together so far."""

    unparted = False

    def __init__(self, unit: Unit, function: Function, trial: Trial | None = None) -> None:
        self.settled: dict[Definition, Shape] = {}  # by the analysis guarded, but exact here
        super().__init__(unit, function)
        self.is_trial = self.unparted = trial is not None
        if trial is not None:
            self.m.retreat, self.m.splits = trial.retreat, trial.splits
        if self.unparted:
            self.anyway = set[int]()
        self.of_indices: set[Definition] = set()

    @property
    def has_rows(self) -> bool:
        """Whether some index is cut into rows."""
        return any(shape.hold == Hold.IN_ROWS for shape in self.uniformity.shapes.values())

    def _block(self, block: Block) -> None:
        loop = self.schedule.loop_of[block.index]
        if loop is not None:  # of which all turns would be made again
            self.m.retreat = None
            self.unparted &= not self._parts(loop)
        super()._block(block)

    def _parts(self, loop: Loop) -> bool:
        """Whether lanes may go different ways in a loop, or one around it."""
        while loop.parent is not None:
            loop = loop.parent
        blocks = self.schedule.order[loop.first : loop.last + 1]
        return any(block.index in self.uniformity.divergent for block in blocks)

    def op(self, op: Op) -> None:
        if op.form.effects and not op.form.moves_memory:
            self.m.retreat = None
        super().op(op)

    # -- values that are exact here ------------------------------------------------------------------

    def shape(self, definition: Definition) -> Shape:
        return self.settled.get(definition) or super().shape(definition)

    def _note_settled(self, definition: Definition, value: Value) -> None:
        """Notes a value that is guarded in the usual code, if it is exact in a trial."""
        have = shape_of(value)
        exact = have.is_affine and not isinstance(value, Guarded) and super().shape(definition).is_guarded
        if exact and definition not in self.uniformity.blends:
            self.settled[definition] = Shape(have.width, have.stride)

    def slot(self, definition: Definition, part: Part) -> str:
        if self.shape(definition).width == TWO and self.m.splits:
            return super().slot(definition, replace(part, suffix=f"{part.suffix}.rows"))
        return super().slot(definition, part)

    # -- predicates of indices ---------------------------------------------------------------------

    def write(self, definition: Definition, value: Value) -> None:
        if self.is_trial:
            self._note_settled(definition, value)
        super().write(definition, value)
        if definition.register.type.is_predicate and self.m.is_of_index(value):
            self.of_indices.add(definition)

    def read(self, definition: Definition) -> Value:
        value = super().read(definition)
        return self.m.note_of_index(value) if definition in self.of_indices else value

    # -- lanes that go together ----------------------------------------------------------------------

    def _entry_mask(self, block: Block) -> Value:
        return self.initial_mask if self.unparted else super()._entry_mask(block)

    def _divergent_branch(self, block: Block, predicate: Value, taken: Block, other: Block) -> None:
        if not self.unparted:
            return super()._divergent_branch(block, predicate, taken, other)
        if self.m.retreat is None or not self.m.mask_is_full or not self.m.is_of_index(predicate):
            self.unparted = False
            return super()._divergent_branch(block, predicate, taken, other)
        bits = self.m.mask_bits(self.m.vector(predicate))
        some, others = (self.m.test("icmp ne", bits, self.m.number("i32", n)) for n in (0, -1))
        self.m.hold(self.m.binary("xor", self.m.binary("and", some, others), self.m.number("i1", 1)).ir)
        return self._uniform_branch(block, some.ir, taken, other)

    def _leave(self, block: Block, masks: Mapping[int, Value]) -> None:
        if not self.unparted:
            return super()._leave(block, masks)
        ((place, mask),) = masks.items()
        return self._go(place, mask, 0)
