"""Shuffles of 64 bits, which programs do by halves, in one piece.

A GPU's lanes give each other 32 bits: `__shfl_down_sync` of a double is `mov.b64 {lo, hi}, d`, two shuffles,
and `mov.b64 e, {lo, hi}`. Taking a column apart and putting it together again is most of the work of a sum
over a warp. Where both shuffles name the same lanes, the last move becomes a shuffle of the whole (`SEND`).
The others stay, as lanes may wait there for each other; what nobody reads, LLVM leaves out.
"""

from __future__ import annotations

from simt.analysis.lower_forms import SEND
from simt.analysis.program import Block, Call, Constant, Function, Op, Operand, Register
from simt.analysis.ssa import destinations
from simt.analysis.unrolling import copied
from simt.isa.move import mov_bits
from simt.isa.warp import shfl
from simt.ptx.types import B32, B64
from simt.records import dataclass

Version = tuple[Register, int]
"""A register as it is after so many writes in its block."""
Way = tuple[str, Constant | Version, Constant | Version]
"""Mode, offset and clamp of a shuffle."""


@dataclass(frozen=True, slots=True)
class _Half:
    """A half of a register of 64 bits (`part` 1: the upper one), shuffled if there is a `way`."""

    of: Version
    part: int
    way: Way | None = None


def with_wide_shuffles(kernel: Function) -> Function:
    """The kernel with such shuffles; itself, if there are none."""
    found = {id(op): wide for block in kernel.blocks for op, wide in _Reader().read(block)}
    if not found:
        return kernel
    made = copied(kernel)
    for block in made.blocks:
        block.ops = [found.get(id(op), op) for op in block.ops]
    return made


class _Reader:
    """Goes through a block, and knows what its registers hold."""

    def __init__(self) -> None:
        self.writes = dict[Register, int]()
        self.known = dict[Version, _Half]()

    def read(self, block: Block) -> list[tuple[Op, Op]]:
        """Moves that put shuffled halves together, and what takes their places."""
        found = list[tuple[Op, Op]]()
        for op in block.ops:
            made = self._made(op) if isinstance(op, Op) and op.guard is None else ()
            wide = self._wide(op) if isinstance(op, Op) and op.guard is None else None
            if isinstance(op, Op) and wide is not None:
                found.append((op, wide))
            self._write(op, made)
        return found

    def _write(self, op: Op | Call, made: tuple[_Half, ...]) -> None:
        written = destinations(op)
        for register in written:
            if register is not None:
                self.writes[register] = self.writes.get(register, 0) + 1
        for register, value in zip(written, made, strict=False):
            if register is not None:
                self.known[self._version(register)] = value

    def _version(self, register: Register) -> Version:
        return register, self.writes.get(register, 0)

    def _half(self, operand: Operand) -> _Half | None:
        return self.known.get(self._version(operand)) if isinstance(operand, Register) else None

    def _place(self, operand: Operand) -> Constant | Version | None:
        if isinstance(operand, Register):
            return self._version(operand)
        return operand if isinstance(operand, Constant) else None

    def _made(self, op: Op) -> tuple[_Half, ...]:
        """What an op writes, as far as it matters."""
        source, meaning = op.sources.get("a"), op.form.meaning
        if meaning is mov_bits and op.binding.get("unpack") == "2" and isinstance(source, Register):
            return tuple(_Half(self._version(source), part) for part in range(2))
        half = self._half(source)
        if meaning is shfl and half is not None and half.way is None:
            offset, clamp = (self._place(op.sources[name]) for name in ("b", "c"))
            if offset is not None and clamp is not None:
                return (_Half(half.of, half.part, (str(op.binding["mode"]), offset, clamp)),)
        return ()

    def _wide(self, op: Op) -> Op | None:
        """The shuffle of the whole that gives what a move puts together."""
        parts = op.sources.get("a")
        if op.form.meaning is not mov_bits or op.binding["type"] != B64 or not isinstance(parts, tuple):
            return None
        halves = [self._half(part) for part in parts]
        low = halves[0]
        if low is None or low.way is None or halves != [low, _Half(low.of, 1, low.way)] or low.part:
            return None
        mode, *named = low.way
        versions = [low.of, *(place for place in named if not isinstance(place, Constant))]
        if any(self._version(register) != (register, number) for register, number in versions):
            return None
        offset, clamp = (place if isinstance(place, Constant) else place[0] for place in named)
        sources: dict[str, Operand] = {"a": low.of[0], "b": offset, "c": clamp}
        types = {"a": B64, "b": B32, "c": B32}
        binding = {"mode": mode, "type": B64}
        return Op(SEND, binding, sources, types, op.destinations, op.result_types, None, op.line)
