"""Shuffles and rotations of 64 bits, which programs do by halves, in one piece.

A GPU's lanes give each other 32 bits: `__shfl_down_sync` of a double is `mov.b64 {lo, hi}, d`, two shuffles,
and `mov.b64 e, {lo, hi}`. A rotation of 64 bits is two of `shf` in between, in what LLVM 20 makes, which nvcc
uses for sm_100; one by 32 bits is the two moves alone. Taking a column apart and putting it together again is
most of the work. Where both shuffles name the same lanes, the last move becomes a shuffle of the whole
(`SEND`); where both halves are of one register, next to each other in a circle, a rotation of it (`ROTATED`).
The others stay, as lanes may wait at shuffles for each other; what nobody reads, LLVM leaves out.
"""

from __future__ import annotations

from simt.analysis.copies import copied
from simt.analysis.lower_forms import ROTATED, SEND, simple
from simt.analysis.program import Block, Call, Constant, Function, Op, Operand, Register
from simt.analysis.ssa import destinations
from simt.isa.logic import shf
from simt.isa.move import mov_bits
from simt.isa.warp import shfl
from simt.ptx.types import B32, B64, U32
from simt.records import dataclass, replace

Version = tuple[Register, int]
"""A register as it is after so many writes in its block."""
HALF, HALVES = B32.bits, 2
Way = tuple[str, Constant | Version, Constant | Version]
"""Mode, offset and clamp of a shuffle."""


@dataclass(frozen=True, slots=True)
class _Half:
    """Half of the bits of a register of 64, from `first` on (behind the last one comes the first one),
    shuffled if there is a `way`."""

    of: Version
    first: int
    way: Way | None = None

    @property
    def other(self) -> _Half:
        """The other half."""
        return replace(self, first=(self.first + HALF) % B64.bits)


def with_wide_moves(kernel: Function, shuffles: bool) -> Function:
    """The kernel with such rotations, and `shuffles` if these are wanted; itself, if there are none."""
    parting = [block for block in kernel.blocks if any(parts_of(op) == HALVES for op in block.ops)]
    read = [pair for block in parting for pair in _Reader().read(block)]
    found = {id(op): wide for op, wide in read if shuffles or wide.form is not SEND}
    if not found:
        return kernel
    made = copied(kernel)
    for block in made.blocks:
        block.ops = [found.get(id(op), op) for op in block.ops]
    return made


def parts_of(op: Op | Call) -> int:
    """How many registers an op takes one apart into; 0 if it does something else."""
    if isinstance(op, Call) or op.form.meaning is not mov_bits:
        return 0
    return int(str(op.binding.get("unpack") or 0))


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
        if parts_of(op) == HALVES and isinstance(source, Register):
            low = _Half(self._version(source), 0)
            return (low, low.other) if op.binding["type"] == B64 else ()
        half = self._half(source)
        if meaning is shf and half is not None:
            return self._shifted(op, half)
        if meaning is shfl and half is not None and half.way is None:
            offset, clamp = (self._place(op.sources[name]) for name in ("b", "c"))
            if offset is not None and clamp is not None:
                return (_Half(half.of, half.first, (str(op.binding["mode"]), offset, clamp)),)
        return ()

    def _shifted(self, op: Op, low: _Half) -> tuple[_Half, ...]:
        """What `shf` takes out of both halves of a register, as another half."""
        count = op.sources["c"]
        if low.way is not None or self._half(op.sources["b"]) != low.other or not isinstance(count, Constant):
            return ()
        bits = count.bits % HALF if op.binding["wrapping"] == "wrap" else min(count.bits, HALF)
        first = low.first + (HALF - bits if op.binding["mode"] == "l" else bits)
        return (replace(low, first=first % B64.bits),)

    def _wide(self, op: Op) -> Op | None:
        """The shuffle or rotation of the whole that gives what a move puts together."""
        parts = op.sources.get("a")
        if op.form.meaning is not mov_bits or op.binding["type"] != B64 or not isinstance(parts, tuple):
            return None
        halves = [self._half(part) for part in parts]
        low = halves[0]
        if low is None or halves != [low, low.other] or (low.way is None) == (low.first == 0):
            return None
        return self._rotated(op, low) if low.way is None else self._sent(op, low, low.way)

    def _rotated(self, op: Op, low: _Half) -> Op | None:
        """The register of a half, with that as the lower one."""
        if not self._are_as_read(low.of):
            return None
        count = Constant(U32, low.first)
        (result,) = op.destinations
        return simple(ROTATED, B64, result, {"a": (low.of[0], B64), "n": (count, U32)}, op.line)

    def _sent(self, op: Op, low: _Half, way: Way) -> Op | None:
        """The register of two halves that are shuffled the same way."""
        mode, *named = way
        if not self._are_as_read(low.of, *(place for place in named if not isinstance(place, Constant))):
            return None
        offset, clamp = (place if isinstance(place, Constant) else place[0] for place in named)
        sources: dict[str, Operand] = {"a": low.of[0], "b": offset, "c": clamp}
        types = {"a": B64, "b": B32, "c": B32}
        binding = {"mode": mode, "type": B64}
        return Op(SEND, binding, sources, types, op.destinations, op.result_types, None, op.line)

    def _are_as_read(self, *versions: Version) -> bool:
        """Whether registers have not been written since."""
        return all(self._version(register) == (register, number) for register, number in versions)
