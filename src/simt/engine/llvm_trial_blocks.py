"""Blocks of code that is tried first: see `simt.engine.llvm_trial`."""

from __future__ import annotations

from collections.abc import Mapping

from simt.analysis.lower_forms import ALL, NONE
from simt.analysis.program import Block, Call, Function, Op
from simt.analysis.schedule import Loop
from simt.analysis.shape import UNIFORM, Hold, Shape
from simt.analysis.ssa import Definition
from simt.engine.llvm_builder import Value
from simt.engine.llvm_lanes import Guarded, Lanes, shape_of
from simt.engine.llvm_slots import Part, Unit
from simt.engine.llvm_trial_turns import TurnEmitter
from simt.engine.llvm_two_rows import TWO
from simt.ptx.types import U64
from simt.records import dataclass, replace

OURS = ALL, NONE
"""Questions to all lanes that decide between copies of code: a warp may ask again."""


@dataclass(frozen=True, slots=True)
class Trial:
    """`retreat`: the label of what is done where a guard does not hold. `splits`: lanes may be in two rows of
    an index. `loops`: what a loop carries on stays as exact as it comes to the loop."""

    retreat: str
    splits: bool = False
    loops: bool = True


class NotTriedError(Exception):
    """A trial whose code would not be right."""


class TrialEmitter(TurnEmitter):
    """Emits a kernel's body, and may do so as a trial. `unparted`: in a trial, all lanes of the warp have
    gone together so far."""

    unparted = False

    def __init__(self, unit: Unit, function: Function, trial: Trial | None = None) -> None:
        self.settled: dict[Definition, Shape] = {}  # not so by the analysis, but exact here
        self.arrived: set[Definition] = set()  # phis that have got a value
        super().__init__(unit, function)
        self.is_trial = self.unparted = trial is not None
        self.tries_loops = trial is not None and trial.loops
        if trial is not None:
            self.m.retreat, self.m.splits = trial.retreat, trial.splits
        if self.unparted:
            self.anyway = set[int]()
        self.of_indices: set[Definition] = set()

    @property
    def has_rows(self) -> bool:
        """Whether some index is cut into rows, in a kernel whose lanes do not wait for each other."""
        pending = self.pending
        waits = pending.barriers or pending.waiting or pending.meetings or pending.held
        return not waits and any(shape.hold == Hold.IN_ROWS for shape in self.uniformity.shapes.values())

    def _block(self, block: Block) -> None:
        loop = self.schedule.loop_of[block.index]
        if loop is not None and self.is_trial:
            self.m.retreat = None  # all turns would be made again
            self.unparted = self.unparted and not self._parts(loop)
        super()._block(block)

    def part(self) -> None:
        self.m.retreat, self.unparted = None, False

    def _may_try_turns(self) -> bool:
        return not self.is_trial and self.m.ahead is None and super()._may_try_turns()

    def _parts(self, loop: Loop) -> bool:
        """Whether lanes may go different ways in a loop, or one around it."""
        while loop.parent is not None:
            loop = loop.parent
        blocks = self.schedule.order[loop.first : loop.last + 1]
        return any(block.index in self.uniformity.divergent for block in blocks)

    def op(self, op: Op) -> None:
        effects = op.form.effects
        if effects and not op.form.moves_memory and op.form not in OURS:
            self.m.retreat = None
        super().op(op)
        if effects and not op.destinations:  # a store, wherever
            self.m.retreat = None

    def _call(self, op: Call) -> None:
        self.m.retreat = None
        super()._call(op)

    # -- values that are exact here ------------------------------------------------------------------

    def shape(self, definition: Definition) -> Shape:
        settled = self.settled.get(definition) if self.settled else None
        return self.shapes.get(definition, UNIFORM) if settled is None else settled

    def _note_settled(self, definition: Definition, value: Value) -> None:
        """Notes a value that is guarded in the usual code, if it is exact in a trial."""
        have = shape_of(value)
        usual = super().shape(definition)
        unknown = usual.is_guarded or (not usual.is_affine and definition.register.type.bits == U64.bits)
        exact = have.is_affine and not isinstance(value, Guarded) and unknown
        if exact and definition not in self.uniformity.blends:
            self.settled[definition] = Shape(have.width, have.stride)

    def slot(self, definition: Definition, part: Part) -> str:
        """Of another type than in the usual code, it has another name."""
        shape = self.settled.get(definition)
        if shape is None:
            return super().slot(definition, part)
        name = ".rows" if shape.width == TWO else ".sure"
        return super().slot(definition, replace(part, suffix=f"{part.suffix}{name}"))

    def _phis(self, block: Block, masks: Mapping[Block, Value]) -> None:
        for target in masks:
            for phi in self.ssa.phis.get(target.index, ()):
                if self.is_trial:
                    self._settle_phi(phi, phi.inputs[block.index])
        super()._phis(block, masks)

    def _settle_phi(self, phi: Definition, source: Definition) -> None:
        """A phi to which all lanes come together is what comes first, if that is exact; what comes by other
        edges must be of the same shape."""
        if phi not in self.arrived and self._may_settle(phi):
            value = self.read(source)
            if shape_of(value).is_affine and type(value) is Lanes and source.origin != "undefined":
                self.settled[phi] = Shape(value.width, shape_of(value).stride)
        self.arrived.add(phi)
        if phi in self.settled:
            have, shape = shape_of(self.read(source)), self.settled[phi]
            same = have.is_affine and (have.width, have.stride) == (shape.width, shape.stride)
            if not (self.unparted and same):
                raise NotTriedError

    def _may_settle(self, phi: Definition) -> bool:
        loop, usual = self.schedule.loop_of[phi.block.index], super().shape(phi)
        if loop is not None and loop.header is phi.block:
            return self.unparted and self.tries_loops and usual.is_guarded and not self._parts(loop)
        return self.unparted and not usual.is_affine

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
        if self.m.retreat is None or not self.m.mask_is_full:
            return super()._divergent_branch(block, predicate, taken, other)
        if not self.m.is_of_index(predicate):
            return super()._divergent_branch(block, predicate, taken, other)
        bits = self.m.mask_bits(self.m.vector(predicate))
        some, others = (self.m.test("icmp ne", bits, self.m.number("i32", n)) for n in (0, -1))
        self.m.hold(self.m.binary("xor", self.m.binary("and", some, others), self.m.number("i1", 1)).ir)
        return self._uniform_branch(block, some.ir, taken, other)

    def _split(self, block: Block, masks: Mapping[Block, Value]) -> None:
        self.unparted = False
        super()._split(block, masks)

    def _leave(self, block: Block, masks: Mapping[int, Value]) -> None:
        if not self.unparted:
            return super()._leave(block, masks)
        ((place, mask),) = masks.items()
        return self._go(place, mask, 0)
