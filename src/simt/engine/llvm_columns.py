"""The columns of large functions: each in memory, where functions for ops read and leave it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from simt.analysis.program import Block, Function, Register
from simt.analysis.shape import WARP
from simt.analysis.ssa import Definition
from simt.engine import llvm_frame
from simt.engine.llvm_algebra import element_type
from simt.engine.llvm_bits import BitAlgebra
from simt.engine.llvm_builder import Value
from simt.engine.llvm_gates import GatedEmitter
from simt.engine.llvm_kept import Kept, shared
from simt.engine.llvm_lanes import ALL, BitMask, Guarded
from simt.engine.llvm_loose import LooseBits, notes_of, raw, source_of
from simt.engine.llvm_outline import Outliner
from simt.engine.llvm_placed import PlacedOutliner
from simt.engine.llvm_repeats import Repeats
from simt.engine.llvm_slots import Unit


class ColumnEmitter(GatedEmitter):
    """Emits calls of functions for ops. `placed`: of large functions. `moving`: phis that get values now."""

    def __init__(self, unit: Unit, function: Function) -> None:
        super().__init__(unit, function)
        self.moving: set[Definition] = set()
        self.placed: PlacedOutliner | None = None
        if unit.large:
            frame = llvm_frame.in_memory()
            self.placed = PlacedOutliner(self, self.evaluator, unit.outlined, frame)
            self.m.frame = frame
            self.allocas[llvm_frame.allocated()] = None
        self.outliner: Outliner = self.placed or Repeats(
            self, self.evaluator, unit.outlined, llvm_frame.passed()
        )
        self.evaluator = self.outliner

    def bit_mask(self, mask: Value) -> BitMask:
        return cast("BitAlgebra", self.m).bit_mask(mask)

    def _is_column(self, definition: Definition) -> bool:
        shape = self.shape(definition)
        return not (shape.is_affine or shape.is_guarded)

    def _slot_of(self, definition: Definition) -> str:
        return self.slot(definition, *self.parts(definition))

    def _at_home(self, placed: PlacedOutliner, definition: Definition) -> Kept:
        return placed.kept(element_type(definition.register.type), self._slot_of(definition), definition)

    def home(self, definition: Definition) -> Kept | None:
        """Where a function leaves a column that other blocks use, if the definition itself writes it there,
        all lanes at once."""
        if self.placed is None or definition not in self.shared_uses or definition in self.uniformity.blends:
            return None
        return self._at_home(self.placed, definition) if self._is_column(definition) else None

    # -- values ------------------------------------------------------------------------------------
    def read(self, definition: Definition) -> Value:
        if self.placed is None or definition in self.cache or not self._is_in_memory(definition):
            return super().read(definition)
        if definition.register.type.is_predicate:
            bits = self.builder.emit(f"load i{WARP}, ptr {self._slot_of(definition)}")
            value: Value = BitMask(self.m, bits)
        else:
            value = self._at_home(self.placed, definition)
        self.cache[definition] = value
        return value

    def _is_in_memory(self, definition: Definition) -> bool:
        if definition.origin == "undefined" or not self._is_column(definition):
            return False
        return self.shape(definition).const is None and not self.marches.has(definition)

    def write(self, definition: Definition, value: Value) -> None:
        if self.placed is None:
            return super().write(definition, value)
        value = self.as_told(definition, value, self.shape(definition))
        if value.type == "i1" and value.width == WARP:
            value = self.bit_mask(value)
        value = self.cache[definition] = self.as_seen(definition, value)
        self._note_made(value)
        if definition not in self.shared_uses:
            return None
        blend = definition in self.uniformity.blends
        if isinstance(value, Kept) and value.home is definition and not blend:
            return None
        if source_of(value) is not None:
            return self.late.append(definition)
        return self.store(definition, value, self.m.mask, blend)

    def store(self, definition: Definition, value: Value, mask: Value, blend: bool) -> None:
        if self.placed is None or not self._is_column(definition):
            return super().store(definition, value, mask, blend)
        blend &= isinstance(mask, BitMask) or mask.ir != ALL
        place, value = self._slot_of(definition), self.bare(definition, value)
        if not definition.register.type.is_predicate:
            others = self.placed.kept(value.type, place) if blend else None
            return self.placed.move(place, value, self.bit_mask(mask) if blend else None, others)
        if blend:
            old = BitMask(self.m, self.builder.emit(f"load i{WARP}, ptr {place}"))
            value = cast("BitAlgebra", self.m).chosen(self.bit_mask(mask), value, old)
        return self.builder.void(f"store {self.m.mask_bits(value).typed}, ptr {place}")

    def merged(self, definition: Definition, guard: Value, value: Value, old: Value) -> Value:
        if self.placed is None or not self._is_column(definition):
            return super().merged(definition, guard, value, old)
        if definition.register.type.is_predicate:
            return cast("BitAlgebra", self.m).chosen(self.bit_mask(guard), value, old)
        kept = self.home(definition) or self.placed.kept(value.type)
        self.placed.move(kept.place, value, self.bit_mask(guard), old)
        return kept

    def _equal(self, column: Value, number: Value) -> Value:
        return super()._equal(column, number) if self.placed is None else self.placed.equal(column, number)

    # -- columns that were made in place ------------------------------------------------------------
    def operand(self, register: Register) -> Value:
        return self._from_memory(self.register(register))

    def _from_memory(self, value: Value) -> Value:
        """A column that a call or a label stands behind is read from memory: no register lasts over a call,
        and for a value that goes from block to block LLVM weighs each way to divide it."""
        if self.placed is None or value.width != WARP or value.type == "i1":
            return value
        column = raw(value)
        if isinstance(column, Kept | Guarded | LooseBits) or source_of(value):
            return value
        point, line = self.made.get(column.ir, (self.placed.point, 0))
        if point == self.placed.point:
            return value
        kept = self.columns.get(column.typed)
        if kept is None:
            kept = self.columns[column.typed] = self.placed.kept(column.type)
            behind = self.builder.behind.setdefault(line, [])
            behind.append(f"  store {column.typed}, ptr {kept.place}, align 64")
        return self.m.noted(kept, notes_of(value))

    def _note_made(self, value: Value) -> None:
        """Notes where a column is made, for `_from_memory`."""
        column = raw(value)
        if value.type == "i1" or value.width != WARP or isinstance(column, Kept | Guarded | LooseBits):
            return
        if self.placed is not None and column.ir.startswith("%"):
            self.made[column.ir] = self.placed.point, len(self.builder.lines) - 1

    # -- phis --------------------------------------------------------------------------------------
    def _phis(self, block: Block, masks: Mapping[Block, Value]) -> None:
        if self.placed is not None:
            self.moving = {phi for target in masks for phi in self.ssa.phis.get(target.index, ())}
        super()._phis(block, masks)

    def _incoming(self, phi: Definition, source: Definition) -> Value:
        """What lies in the memory of a phi that may be written first is taken to another place."""
        value = super()._incoming(phi, source)
        if self.placed is None or not self._is_column(phi):
            return value
        value = self._from_memory(value)
        if not isinstance(value, Kept) or value.home is phi or value.home not in self.moving:
            return value
        kept = self.placed.kept(value.type)
        self.placed.move(kept.place, value)
        return kept

    # -- memory ------------------------------------------------------------------------------------
    def split_allocas(self) -> tuple[list[str], list[str]]:
        allocas, lines = super().split_allocas()
        if self.placed is None:
            return allocas, lines
        columns, lines = shared(lines)
        return [*allocas, *columns], lines
