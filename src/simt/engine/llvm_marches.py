"""Registers by which lanes march through memory: each from where it began, all by the same distance.

An address that a loop increases is kept as two things, the column with which the lanes came to the
loop, and one number for all of them, how far they have gone. Whether lanes lie side by side, or in two runs,
then depends on a column that no turn changes, and LLVM asks once, before the loop.

What a turn does to a register is seen when code for the end of the turn is made. If it is not increased by a
constant there, the column is kept anew, and nobody has gone anywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simt.analysis.program import Op, memory_operands
from simt.analysis.schedule import Loop
from simt.analysis.shape import WARP, Hold
from simt.analysis.ssa import Definition
from simt.engine.llvm_builder import Value
from simt.engine.llvm_lanes import Guarded, Lanes, bases
from simt.records import replace

if TYPE_CHECKING:
    from simt.engine.llvm_function import FunctionEmitter


class Marches:
    """The registers of one function that are kept so: addresses held as columns, phis of the headers of loops
    which all lanes begin together, used nowhere else."""

    def __init__(self, emitter: FunctionEmitter) -> None:
        self.emitter = emitter
        self._found: dict[int, set[Definition]] = {}  # by the indices of loops' headers
        self._in_rows = set[Definition]()

    def has(self, definition: Definition) -> bool:
        if not definition.is_phi:
            return False
        header = definition.block.index
        if header not in self._found:
            self._found[header] = set()  # for code for one lane at a time, if it is emitted now
            self._found[header] = set(self._of_loop(header))
        return definition in self._found[header]

    def _of_loop(self, header: int) -> list[Definition]:
        """Those of the loop with a header, if the block is one."""
        emitter = self.emitter
        loop = emitter.schedule.loop_of[header]
        if loop is None or loop.header.index != header or header in emitter.uniformity.joins:
            return []
        phis = [phi for phi in emitter.ssa.phis.get(header, ()) if self._is_column(phi)]
        if not all(map(self._goes_on, phis)):
            addresses = self._addresses(loop)
            phis = [phi for phi in phis if self._goes_on(phi) or phi in addresses]
        if not phis or emitter.alone.is_scattered(loop):
            return []
        self._in_rows.update(phi for phi in phis if emitter.is_in_rows(phi))
        return phis

    def _addresses(self, loop: Loop) -> set[Definition]:
        """What the loop gets at memory by."""
        ssa, blocks = self.emitter.ssa, self.emitter.schedule.order[loop.first : loop.last + 1]
        ops = [op for block in blocks for op in block.ops if isinstance(op, Op)]
        return {ssa.read[id(op)][register] for op in ops for register, _ in memory_operands(op)}

    def _is_column(self, phi: Definition) -> bool:
        parts = self.emitter.parts(phi)
        integers = len(parts) == 1 and parts[0].width == WARP and parts[0].element in ("i32", "i64")
        return integers and self.emitter.may_find(phi)

    def _goes_on(self, phi: Definition) -> bool:
        """Whether lanes were brought together that go on by one step, each from where it came from."""
        shape = self.emitter.shape(phi)
        return shape.hold is Hold.LIKELY and shape.width == 1 and shape.stride != 0

    def read(self, phi: Definition) -> Value:
        """The column in the present turn."""
        emitter = self.emitter
        (part,) = emitter.parts(phi)
        place = emitter.place(phi, part)
        start = Value(emitter.builder.emit(f"load {part.kind}, ptr {place}"), part.element, WARP)
        gone = Value(emitter.builder.emit(f"load {part.element}, ptr {self._gone(phi)}"), part.element)
        column = emitter.m.shaped(emitter.m.marched(start, gone), emitter.shape(phi))
        if phi in self._in_rows:
            emitter.m.marching_in_rows[column.ir] = emitter.builder.lines[-1], emitter.m.mask.ir
        return self._guessed(start, gone, column) if self._goes_on(phi) else column

    def _guessed(self, start: Value, gone: Value, column: Lanes) -> Guarded:
        """The column as base and stride, if that is how lanes came to the loop. Lanes are compared as an
        integer, or LLVM, which does not like to keep masks in registers, would compare them in each turn."""
        m, exact = self.emitter.m, replace(column.shape, hold=Hold.EXACT)
        first = Value(m.builder.emit(f"extractelement {start.typed}, i32 0"), start.type)
        same = m.test("icmp eq", start, m.vector(m.shaped(first, exact)))
        bits = m.builder.emit(f"bitcast {same.typed} to i{WARP}")
        if not m.mask_is_full:
            stopped = m.builder.emit(f"xor {m.mask_bits(m.mask).typed}, -1")
            bits = m.builder.emit(f"or i{WARP} {bits}, {stopped}")
        valid = m.builder.emit(f"icmp eq i{WARP} {bits}, -1")
        base = m.marched(first, gone)
        shape = replace(column.shape, hold=Hold.GUARDED)
        return Guarded(base.ir, base.type, 1, shape, valid, lambda: bases(column), guessed=True)

    def keep(self, phi: Definition, value: Value) -> None:
        """What the phi gets from a block. Only those of its loop have read it before."""
        emitter = self.emitter
        gone = self._distance(phi, value)
        if gone is None:
            column, (part,) = emitter.m.vector(value), emitter.parts(phi)
            emitter.builder.void(f"store {column.typed}, ptr {emitter.place(phi, part)}")
            gone = emitter.m.number(value.type, 0)
        emitter.builder.void(f"store {gone.typed}, ptr {self._gone(phi)}")

    def _distance(self, phi: Definition, value: Value) -> Value | None:
        """How far lanes have gone from where they began if they go on to a value, None if it is not a
        constant more than the present one. (What limits or chooses guarded values has another guard.)"""
        emitter = self.emitter
        here = emitter.cache.get(phi)
        if isinstance(here, Guarded) and not (isinstance(value, Guarded) and value.valid == here.valid):
            return None
        part, constant = emitter.m.as_sum(
            bases(value) if isinstance(here, Guarded) else emitter.m.vector(value)
        )
        if here is None or part.ir != here.ir:
            return None
        return emitter.m.plus(emitter.m.gone(here), constant)

    def _gone(self, phi: Definition) -> str:
        """Where is kept how far lanes have gone."""
        (part,) = self.emitter.parts(phi)
        name = f"%slot.{phi.index}.gone"
        self.emitter.allocas[f"  {name} = alloca {part.element}"] = None
        return name
