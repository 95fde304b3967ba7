"""What definitions of a loop that lanes go through alone hold, for the lane that runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simt.analysis.program import Block
from simt.analysis.ssa import Definition, Ssa
from simt.engine import llvm_open
from simt.engine.llvm_algebra import element_type
from simt.engine.llvm_alone_algebra import AloneAlgebra
from simt.engine.llvm_builder import Builder, Value
from simt.engine.llvm_open import Present

if TYPE_CHECKING:
    from simt.engine.llvm_function import FunctionEmitter


class AloneValues:
    """The loop's stack slots, and what is known by name in a block."""

    name: str
    m: AloneAlgebra
    emitter: FunctionEmitter
    builder: Builder
    ssa: Ssa
    inside: set[int]
    cache: dict[Definition, Value]
    names: dict[str, Definition]
    """Of what has been read."""
    late: list[Definition]
    """F64 results to be kept at the end of the block."""
    present: Present

    def read(self, definition: Definition) -> Value:
        """What a register holds in the lane that runs."""
        if definition.origin == "undefined":
            return self.emitter.read(definition)
        if definition not in self.cache:
            t = definition.register.type
            loaded = self.builder.emit(f"load {element_type(t)}, ptr {self.slot_of(definition)}")
            value = Value(loaded, element_type(t))
            self.cache[definition] = self.emitter.noted(self.m, definition, value)
            self.names[loaded] = definition
            if definition.block.index not in self.inside:
                self.m.outside.add(loaded)
        return self.cache[definition]

    def slot_of(self, definition: Definition) -> str:
        name = f"%{self.name}.v{definition.index}"
        self.emitter.allocas[f"  {name} = alloca {element_type(definition.register.type)}"] = None
        return name

    def _keep(self, definition: Definition, value: Value) -> None:
        """A definition of the loop gets its value."""
        scalar = self.cache[definition] = self.emitter.as_seen(definition, self.m.scalar(value))
        if llvm_open.is_long(scalar):
            llvm_open.settle_long(self.m, self.cache, self.ssa, self.present, self.emitter.seen_elsewhere)
            scalar = self.cache[definition]
        if not llvm_open.is_open(scalar):
            self._store_kept(definition, scalar)
        elif definition in self.emitter.seen_elsewhere:
            self.late.append(definition)

    def _store_kept(self, definition: Definition, scalar: Value) -> None:
        kept = self.emitter.bare(definition, scalar)
        self.builder.void(f"store {kept.typed}, ptr {self.slot_of(definition)}")

    def settle_late(self, block: Block) -> None:
        """At the end of a block: the NaNs of all its f64 results that others use."""
        llvm_open.settle(self.m, self.cache, (*self.late, *llvm_open.given(self.ssa, block)))
        for definition in self.late:
            self._store_kept(definition, self.cache[definition])
        self.late = []
