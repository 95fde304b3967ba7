"""Loops that all lanes leave together, and in which each stores to a row or a chunk of its own.

32 lanes that each store a word of their own row are a scatter in every turn, or 32 stores; a lane alone
stores words side by side, and LLVM makes vectors of that (`simt.engine.llvm_alone_free`). Where the first
lane finds that it has too few turns for it, nothing has been done yet, and the warp goes through the loop
together.

Lanes that have parted by what memory holds are often few, and lane by lane is as good as together where a
loop gathers, scatters or updates what lies anywhere: each has scalar code then.
"""

from __future__ import annotations

from simt.analysis.shape import WARP
from simt.analysis.ssa import Definition
from simt.engine.llvm_alone import AloneLoop
from simt.engine.llvm_alone_algebra import NotAlone
from simt.engine.llvm_builder import Value


class TogetherLoop(AloneLoop):
    """Emits one loop that all lanes leave together for one lane at a time. What is the same for all lanes is
    given by each."""

    def is_given(self, definition: Definition) -> bool:
        return super().is_given(definition) or self._is_same(definition)

    def _is_same(self, definition: Definition) -> bool:
        (part, *others) = self.emitter.parts(definition)
        shape = self.emitter.shape(definition)
        known = shape.stride == 0 or self.m.segment == WARP
        return not others and part.width == 1 and shape.is_affine and known

    def copy_column(self, definition: Definition, away: bool) -> None:
        if not self._is_same(definition):
            super().copy_column(definition, away)

    def put(self, definition: Definition, value: Value) -> None:
        if not self._is_same(definition):
            return super().put(definition, value)
        stride = self.emitter.shape(definition).stride
        if stride:
            lane = self.m.cast("zext" if value.type == "i64" else "trunc", value.type, self.m.lane_number)
            value = self.m.binary("sub", value, self.m.binary("mul", lane, self.m.number(value.type, stride)))
        (part,) = self.emitter.parts(definition)
        self.builder.void(f"store {value.typed}, ptr {self.emitter.slot(definition, part)}, align 64")
        return None


class FewLoop(TogetherLoop):
    """`TogetherLoop` for lanes that are few, if all go on at one place."""

    def emit(self) -> None:
        if self.exit is None:
            raise NotAlone
        super().emit()


class RowLoop(TogetherLoop):
    """`TogetherLoop` for loops of which most turns are known ahead."""

    needs_vectors = True

    def emit(self) -> None:
        super().emit()
        self.builder.label(f"{self.name}.back")
        header = self.loop.header
        if self.emitter.representatives[header.index] == header.index:
            self.emitter.slots.store(self.emitter.slots.of_block(header.index), self.entering_mask)
        self.builder.void(f"br label %{self.emitter.label(header)}")

    def begins(self) -> None:
        self.builder.void(f"store i1 false, ptr {self._has_begun}")

    def goes(self) -> None:
        self.builder.void(f"store i1 true, ptr {self._has_begun}")

    @property
    def _has_begun(self) -> str:
        """The stack slot that tells whether a lane has gone through turns."""
        name = f"%{self.name}.begun"
        self.emitter.allocas[f"  {name} = alloca i1"] = None
        return name

    @property
    def few(self) -> str:
        return f"{self.name}.few"

    def free_turns(self) -> list[str]:
        """Without them the warp goes together."""
        free = super().free_turns()
        if not free:
            raise NotAlone
        name = self.name
        return [
            *free,
            f"{self.few}:",
            f"  %{name}.has.begun = load i1, ptr {self._has_begun}",
            f"  br i1 %{name}.has.begun, label %{name}.turn, label %{name}.back",
        ]


class OneLaneLoop(RowLoop):
    """`RowLoop` for warps of one lane, which has nothing to lose."""

    needs_vectors = False
