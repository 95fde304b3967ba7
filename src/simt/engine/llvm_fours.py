"""Four words for each lane, told apart and put together on CPUs with AVX2.

Its instructions mix words within halves of registers alone, and halves with halves. LLVM takes more than twice
as many of them as are needed: so here they are, one by one. Eight lanes are in four registers. First the halves
change places, so that both halves of a register hold the same of four lanes; then the words of those are turned,
as rows and columns of a matrix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simt.engine.llvm_builder import Value

if TYPE_CHECKING:
    from simt.engine.llvm_access import AccessAlgebra

FOUR = 4
PIECE = 8
"""Words in a register."""
_GROUP = FOUR * PIECE
_LOWER, _UPPER = (0, 1, 2, 3, 8, 9, 10, 11), (4, 5, 6, 7, 12, 13, 14, 15)
_WORDS_BELOW, _WORDS_ABOVE = (0, 8, 1, 9, 4, 12, 5, 13), (2, 10, 3, 11, 6, 14, 7, 15)
_PAIRS_BELOW, _PAIRS_ABOVE = (0, 1, 8, 9, 4, 5, 12, 13), (2, 3, 10, 11, 6, 7, 14, 15)
Four = tuple[Value, Value, Value, Value]


def fit(features: frozenset[str], element: str, words: int) -> bool:
    """Whether that is worth it for so many elements."""
    able = "avx2" in features and "avx512f" not in features
    return able and element in ("i32", "float") and words % _GROUP == 0


def told_apart(m: AccessAlgebra, whole: Value) -> tuple[Value, ...]:
    """The first words of all lanes, the second ones, and so on."""
    groups = [_columns(m, _pieces(m, whole, start)) for start in range(0, whole.width, _GROUP)]
    return tuple(m.concatenated(list(column)) for column in zip(*groups, strict=True))


def put_together(m: AccessAlgebra, columns: list[Value]) -> Value:
    """All words of the first lane, then all of the second one, and so on."""
    rows: list[Value] = []
    for start in range(0, columns[0].width, PIECE):
        x, y, z, w = (m.piece(column, start, PIECE) for column in columns)
        rows += _rows(m, (x, y, z, w))
    return m.concatenated(rows)


def _pieces(m: AccessAlgebra, whole: Value, start: int) -> Four:
    a, b, c, d = (m.piece(whole, start + PIECE * i, PIECE) for i in range(FOUR))
    return a, b, c, d


def _columns(m: AccessAlgebra, rows: Four) -> Four:
    halves = [
        _mixed(m, a, b, half)
        for a, b in ((rows[0], rows[2]), (rows[1], rows[3]))
        for half in (_LOWER, _UPPER)
    ]
    return _turned(m, (halves[0], halves[1], halves[2], halves[3]))


def _rows(m: AccessAlgebra, columns: Four) -> Four:
    a, b, c, d = _turned(m, columns)
    first, second = (_mixed(m, *pair, _LOWER) for pair in ((a, b), (c, d)))
    third, fourth = (_mixed(m, *pair, _UPPER) for pair in ((a, b), (c, d)))
    return first, second, third, fourth


def _turned(m: AccessAlgebra, given: Four) -> Four:
    """Words 0 of all four in each half, words 1, and so on."""
    a, b, c, d = given
    below, above = (
        [_mixed(m, *pair, words) for pair in ((a, b), (c, d))] for words in (_WORDS_BELOW, _WORDS_ABOVE)
    )
    first, second, third, fourth = (
        _mixed(m, *both, pairs) for both in (below, above) for pairs in (_PAIRS_BELOW, _PAIRS_ABOVE)
    )
    return first, second, third, fourth


def _mixed(m: AccessAlgebra, a: Value, b: Value, picks: tuple[int, ...]) -> Value:
    places = ", ".join(f"i32 {pick}" for pick in picks)
    return m.emit(f"shufflevector {a.typed}, {b.typed}, <{len(picks)} x i32> <{places}>", a.type, len(picks))
