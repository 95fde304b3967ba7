"""Columns whose bits are settled only where they are seen.

Arithmetic does not care which NaN an operand is, nor, where the CPU reads subnormals as zeros, which
subnormal. So a result is kept as the CPU made it, `raw`, with a note of what its bits mean: arithmetic takes
`raw`, and everything else reads `ir`, which emits the code that makes the machine's bits of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simt.engine.llvm_builder import Builder, Value
from simt.records import dataclass, field, quick

FEW_LEAVES, LEAVES, STEPS = 12, 80, 512
"""Operands and operations behind an f64 result up to which its NaNs are not settled. Operands must be kept
until then: sums of products, which have two for each operation, may not have as many as others."""


@quick
@dataclass(frozen=True, slots=True)
class Flushed(Value):
    """A column that has been flushed: it needs no second flush."""


@quick
@dataclass(frozen=True, slots=True)
class Normal(Value):
    """A column of f32 without NaNs and subnormals, which every note leaves as it is."""


@quick
@dataclass(frozen=True, slots=True)
class Quiet(Value):
    """A column without signalling NaNs. Results of arithmetic may hold one: LLVM takes `x + -0` for x."""


class Loose(Value):
    """A column of which subnormals mean zeros of their sign (`subnormals`), and NaNs the one NaN of the type
    (`nans`) or the one that follows from `source`. `flushed`: it has no subnormals, and needs no flush."""

    __slots__ = ("_known", "_settle", "flushed", "nans", "raw", "source", "subnormals")
    raw: Value
    subnormals: bool
    nans: bool
    source: Source | None
    flushed: bool
    _settle: Callable[[Loose], Value]
    _known: tuple[tuple[int, str], int, str, Value] | None

    def __init__(
        self,
        raw: Value,
        settle: Callable[[Loose], Value],
        subnormals: bool = False,
        nans: bool = False,
        source: Source | None = None,
        flushed: bool = False,
    ) -> None:
        write = object.__setattr__
        write(self, "type", raw.type)
        write(self, "width", raw.width)
        self.raw = raw
        self.subnormals = subnormals
        self.nans = nans
        self.source = source
        self.flushed = flushed
        self._settle = settle
        self._known = None

    def changed(self, raw: Value, **notes: Any) -> Loose:
        """With another column and further notes."""
        old: dict[str, Any] = {
            "subnormals": self.subnormals,
            "nans": self.nans,
            "source": self.source,
            "flushed": self.flushed,
        }
        return Loose(raw, self._settle, **(old | notes))

    @property
    def ir(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self._settle(self).ir

    def once(self, builder: Builder, running: str, settle: Callable[[], Value]) -> Value:
        """The column settled for the lanes that run: that of an earlier use, if it stands in the same block
        of code and was for the same lanes."""
        if self._known is not None:
            place, line, text, value = self._known
            if place == (builder.last_label, running) and builder.lines[line : line + 1] == [text]:
                return value
        value = settle()
        place = (builder.last_label, running)
        known = (place, len(builder.lines) - 1, builder.lines[-1], value)
        self._known = known
        return value


class LooseBits(Value):
    """The bits of a loose column `of`, as integers: where they are only moved, they need not be settled."""

    __slots__ = ("_cast", "of")
    of: Loose
    _cast: Callable[[Loose], Value]

    def __init__(self, of: Loose, element: str, cast: Callable[[Loose], Value]) -> None:
        for name, value in (("of", of), ("type", element), ("width", of.width), ("_cast", cast)):
            object.__setattr__(self, name, value)

    @property
    def ir(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self._cast(self.of).ir

    @property
    def literal(self) -> int | None:
        return None


@quick
@dataclass(frozen=True, slots=True)
class Computed(Value):
    """A result of f64 arithmetic: `again(algebra, *operands)` is how it came to be."""

    again: Callable[..., Value] = min
    operands: tuple[Value, ...] = ()


@quick
@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """Where the NaN of an f64 result comes from: `operands` in the order in which the machine looks for NaNs;
    `result` as the CPU computed it."""

    result: Value
    operands: tuple[Value, ...]
    leaves: dict[str, Value] = field(default_factory=dict[str, Value])
    """The columns from which everything can be computed again, by name."""
    before: dict[int, Source] = field(default_factory=dict["int", "Source"])
    """Sources of operands, and of theirs, each after its own; by identity."""

    def __post_init__(self) -> None:
        for value in (*self.inputs, *self.operands):
            source = source_of(value)
            if source is not None:
                self.leaves.update(source.leaves)
                self.before.update(source.before)
                self.before[id(source)] = source
            elif not is_literal(value):
                self.leaves[value.ir] = value

    @property
    def is_long(self) -> bool:
        """Whether so much is behind it that it is to be settled."""
        steps = len(self.before)
        return steps > STEPS or len(self.leaves) > min(LEAVES, FEW_LEAVES + steps)

    @property
    def inputs(self) -> tuple[Value, ...]:
        """What the result is computed from; itself, if that is not known."""
        return self.result.operands if isinstance(self.result, Computed) else (self.result,)


def source_of(value: Value | None) -> Source | None:
    return value.source if isinstance(value, Loose) else None


@quick
@dataclass(frozen=True, slots=True)
class Notes:
    """What is known of a column of f32, as a value that is passed to a function: see `Loose`."""

    subnormals: bool = False
    nans: bool = False
    flushed: bool = False


PLAIN = Notes()


def notes_of(value: Value) -> Notes:
    """What a function may be told, besides the bits; `raw` are then the bits."""
    if isinstance(value, Flushed):
        return Notes(flushed=True)
    if not isinstance(value, Loose) or value.source is not None:
        return PLAIN
    return Notes(value.subnormals, value.nans, value.flushed)


def raw(value: Value) -> Value:
    """The value for an operation to which the notes do not matter."""
    return value.raw if isinstance(value, Loose) else value


def settled_here(value: Value) -> Value:
    """The value with the machine's bits: the code that makes them stands here, wherever it is used."""
    return Value(value.ir, value.type, value.width) if isinstance(value, Loose | LooseBits) else value


def is_literal(value: Value) -> bool:
    return not isinstance(value, Loose) and not value.ir.startswith("%")


def allows(value: Value, note: str) -> bool:
    """Whether a column of f32 is the same with a note, as one that has it or a plain number is."""
    if isinstance(value, Loose):
        return bool(getattr(value, note))
    return isinstance(value, Normal) or (is_literal(value) and value.ir in _PLAIN)


_PLAIN = ("0x0000000000000000", "0x3FF0000000000000", "0xBFF0000000000000")
"""Zero, one and minus one, as LLVM writes them."""
