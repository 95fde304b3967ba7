"""Four words for each lane, told apart and put together on CPUs with AVX2.

Its instructions mix words within halves of registers alone, and halves with halves. LLVM takes more than
twice as many of them as are needed: so here they are, one by one. Eight lanes are in four registers. First
the halves change places, so that both halves of a register hold the same of four lanes; then the words of
those are turned, as rows and columns of a matrix. Words of 16 bits are brought together before, so
that those of several lanes are one word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simt.engine.host import only_avx2
from simt.engine.llvm_builder import Value, spell

if TYPE_CHECKING:
    from simt.engine.llvm_access import AccessAlgebra

FOUR = 4
REGISTER = 32
"""Bytes."""
WORD = 4
PIECE = REGISTER // WORD
"""Words in a register."""
_SMALL = frozenset({"i16"})
_BYTES = {"i16": 2, "i32": WORD, "float": WORD}
_LOWER, _UPPER = (0, 1, 2, 3, 8, 9, 10, 11), (4, 5, 6, 7, 12, 13, 14, 15)
_BELOW, _ABOVE = (0, 8, 1, 9, 4, 12, 5, 13), (2, 10, 3, 11, 6, 14, 7, 15)
_PAIRS_BELOW, _PAIRS_ABOVE = (0, 1, 8, 9, 4, 5, 12, 13), (2, 3, 10, 11, 6, 7, 14, 15)
Four = tuple[Value, Value, Value, Value]


def fit(features: frozenset[str], element: str, words: int) -> bool:
    """Whether that is worth it for so many elements."""
    return only_avx2(features) and element in _BYTES and words * _BYTES[element] % (FOUR * REGISTER) == 0


def told_apart(m: AccessAlgebra, whole: Value) -> tuple[Value, ...]:
    """The first words of all lanes, the second ones, and so on."""
    if whole.type in _SMALL:
        columns = told_apart(m, _as_words(m, _grouped(m, whole, FOUR)))
        return tuple(_as_words(m, column, whole.type) for column in columns)
    groups = [_columns(m, _pieces(m, whole, start)) for start in range(0, whole.width, FOUR * PIECE)]
    return tuple(m.concatenated(list(column)) for column in zip(*groups, strict=True))


def put_together(m: AccessAlgebra, columns: list[Value]) -> Value:
    """All words of the first lane, then all of the second one, and so on."""
    element = columns[0].type
    if element in _SMALL:
        whole = put_together(m, [_as_words(m, column) for column in columns])
        return _grouped(m, _as_words(m, whole, element), WORD // _BYTES[element])
    rows: list[Value] = []
    for start in range(0, columns[0].width, PIECE):
        x, y, z, w = (m.piece(column, start, PIECE) for column in columns)
        rows += _rows(m, (x, y, z, w))
    return m.concatenated(rows)


def _grouped(m: AccessAlgebra, whole: Value, step: int) -> Value:
    """Within each half of a register: every `step`-th element, from the first, the second and so on."""
    half, width = REGISTER // 2 // _BYTES[whole.type], REGISTER // _BYTES[whole.type]
    within = [first + step * i for first in range(step) for i in range(half // step)]
    picks = (*within, *(half + place for place in within))
    pieces = [m.piece(whole, start, width) for start in range(0, whole.width, width)]
    return m.concatenated([_mixed(m, piece, piece, picks) for piece in pieces])


def _as_words(m: AccessAlgebra, value: Value, element: str = "i32") -> Value:
    """The same bits as elements of another size."""
    width = value.width * _BYTES[value.type] // _BYTES[element]
    return m.emit(f"bitcast {value.typed} to {spell(element, width)}", element, width)


def _pieces(m: AccessAlgebra, whole: Value, start: int) -> Four:
    a, b, c, d = (m.piece(whole, start + PIECE * i, PIECE) for i in range(FOUR))
    return a, b, c, d


def _columns(m: AccessAlgebra, rows: Four) -> Four:
    a, b, c, d = rows
    lower, upper = ((_mixed(m, a, c, half), _mixed(m, b, d, half)) for half in (_LOWER, _UPPER))
    return _turned(m, (lower[0], upper[0], lower[1], upper[1]))


def _rows(m: AccessAlgebra, columns: Four) -> Four:
    a, b, c, d = _turned(m, columns)
    lower, upper = ((_mixed(m, a, b, half), _mixed(m, c, d, half)) for half in (_LOWER, _UPPER))
    return (*lower, *upper)


def _turned(m: AccessAlgebra, given: Four) -> Four:
    """Words 0 of all four in each half, words 1, and so on."""
    a, b, c, d = given
    below, above = ((_mixed(m, a, b, words), _mixed(m, c, d, words)) for words in (_BELOW, _ABOVE))
    first, third = (_mixed(m, *pair, _PAIRS_BELOW) for pair in (below, above))
    second, fourth = (_mixed(m, *pair, _PAIRS_ABOVE) for pair in (below, above))
    return first, second, third, fourth


def _mixed(m: AccessAlgebra, a: Value, b: Value, picks: tuple[int, ...]) -> Value:
    places = ", ".join(f"i32 {pick}" for pick in picks)
    return m.emit(f"shufflevector {a.typed}, {b.typed}, <{len(picks)} x i32> <{places}>", a.type, len(picks))
