"""Addresses of which something is known when a turn of a lane's loop begins (`simt.engine.llvm_alone`)."""

from __future__ import annotations

from collections.abc import Callable

from simt.analysis.shape import WARP
from simt.analysis.ssa import Definition
from simt.engine.llvm_alone_turn import Base, Indexed
from simt.engine.llvm_alone_values import AloneValues
from simt.engine.llvm_atomics import AtomicAlgebra
from simt.engine.llvm_builder import Value
from simt.ptx.types import U64, bits_type, unsigned


class AlonePlaces(AloneValues):
    """What a lane, or all lanes that begin, have as addresses."""

    def address(self, base: Base, offset: int) -> Value:
        """Some bytes after an address, in its width, as an i64."""
        if isinstance(base, Indexed):
            return self.m.plus(self._indexed(base, self.read), offset)
        return self._shifted(self.m, base, self.read(base), offset)

    def addresses(self, base: Base, offset: int) -> Value:
        """The same for the lanes that begin."""
        self.emitter.cache = {}
        if isinstance(base, Indexed):
            start = self.m.widened(self.m.number("i64", offset), WARP)
            return self.m.binary("add", self._indexed(base, self._column_read), start)
        return self.emitter.m.vector(self._shifted(self.emitter.m, base, self.emitter.read(base), offset))

    def _column_read(self, definition: Definition) -> Value:
        """All lanes of what they begin with."""
        return self.emitter.m.vector(self.emitter.read(definition))

    def _indexed(self, base: Indexed, read: Callable[[Definition], Value]) -> Value:
        index = self.extended(base, read)
        shift = self.m.widened(self.m.number("i64", base.shift), index.width)
        return self.m.binary("add", read(base.array), self.m.binary("shl", index, shift))

    def extended(self, base: Indexed, read: Callable[[Definition], Value] | None = None) -> Value:
        """An index (i64): the lane's, or those of all lanes that begin."""
        return self.m.cast("sext" if base.signed else "zext", "i64", (read or self._column_read)(base.index))

    def _shifted(self, m: AtomicAlgebra, base: Definition, value: Value, offset: int) -> Value:
        t = bits_type(base.register.type.bits)
        address = m.to_bits(base.register.type, value)
        if offset:
            address = m.add(t, address, m.const(t, offset % 2**t.bits))
        return m.resize(unsigned(t.bits), U64, address)
