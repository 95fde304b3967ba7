"""Small matrices that the lanes of a warp hold together (PTX 6.5 and 7.8).

A matrix has 8 rows of 8 elements of 16 bits. Of each row, four lanes hold two elements each, in a register of
32 bits: lane n those of row n / 4 in columns 2 (n % 4) and the one after it, the first in the lower half.
"""

from __future__ import annotations

from collections.abc import Iterable

from simt.isa.algebra import Algebra, V
from simt.isa.catalogue import instruction
from simt.isa.memory import elements, state_space
from simt.isa.warp import number, sent
from simt.ptx.types import U32, U64, Type
from simt.records import dataclass

ROWS = 8
WORDS = 4
"""Of a row."""

COUNTS = "x1 x2 x4"
SPACES = "shared shared::cta"


def quotient(m: Algebra[V], a: V, power: int) -> V:
    """a / 2^power."""
    return m.shift_right(U32, a, number(m, power))


def rest(m: Algebra[V], a: V, least: int) -> V:
    """a % least, a power of two."""
    return m.and_(U32, a, number(m, least - 1))


def chosen(m: Algebra[V], values: tuple[V, ...], which: V) -> V:
    """`values[which]`, of `.b32`."""
    found, *others = values
    for i, value in enumerate(others, 1):
        found = m.select(U32, m.compare("eq", U32, which, number(m, i)), value, found)
    return found


def transposed(m: Algebra[V], a: V) -> V:
    """What lanes hold of the transposed matrix."""
    lane = m.lane()
    row, column = m.shift_left(U32, rest(m, lane, WORDS), number(m, 1)), quotient(m, lane, 2)
    first = m.add(U32, m.shift_left(U32, row, number(m, 2)), quotient(m, column, 1))
    bits = m.shift_left(U32, rest(m, column, 2), number(m, 4))
    low, high = (
        m.and_(U32, m.shift_right(U32, m.shuffle(U32, a, source), bits), number(m, 0xFFFF))
        for source in (first, m.add(U32, first, number(m, WORDS)))
    )
    return m.or_(U32, low, m.shift_left(U32, high, number(m, 16)))


def address_of_row(m: Algebra[V], t: Type, a: V, rows: int) -> V:
    """The address, of type `t`, of the row that a lane loads or stores: that of one of the first lanes."""
    return a if rows == 32 else m.shuffle(t, sent(m, t, a), rest(m, m.lane(), rows))


def sent_words(m: Algebra[V], words: Iterable[V]) -> tuple[V, ...]:
    """What all lanes get of a lane's words, of `.b32`."""
    return tuple(sent(m, U32, word) for word in words)


@dataclass(frozen=True, slots=True)
class Spread:
    """From rows to lanes: each lane has a word of each of its rows, and gets its word of each matrix."""

    matrices: int
    transposes: bool

    def __call__(self, m: Algebra[V], *words: V) -> tuple[V, ...]:
        lane = m.lane()
        found: list[V] = []
        for matrix in range(self.matrices):
            source = m.add(U32, quotient(m, lane, 2), number(m, matrix * ROWS))
            row = tuple(m.shuffle(U32, word, source) for word in words)
            found.append(chosen(m, row, rest(m, lane, WORDS)))
        return tuple(transposed(m, value) for value in found) if self.transposes else tuple(found)


@dataclass(frozen=True, slots=True)
class Collected:
    """From lanes to rows: the reverse of `Spread`."""

    transposes: bool

    def __call__(self, m: Algebra[V], *values: V) -> tuple[V, ...]:
        if self.transposes:
            values = tuple(transposed(m, value) for value in values)
        lane = rest(m, m.lane(), len(values) * ROWS)
        first = m.shift_left(U32, rest(m, lane, ROWS), number(m, 2))
        sources = [m.add(U32, first, number(m, word)) for word in range(WORDS)]
        return tuple(
            chosen(m, tuple(m.shuffle(U32, value, source) for value in values), quotient(m, lane, 3))
            for source in sources
        )


@instruction(
    "ldmatrix.sync.aligned.m8n8.count[.trans][.space].b16 d:matrices(b32), [a]", count=COUNTS, space=SPACES,
    defaults={"address": U64}, since="6.5 sm_75", requires={"shared::cta": "7.8"}, effects="memory warp",
    ref="PTX 6.5 ldmatrix",
)  # fmt: skip
def ldmatrix(
    m: Algebra[V], a: V, count: str, trans: bool, space: str | None, address: Type
) -> tuple[V, ...]:  # fmt: skip
    """Loads matrices from shared memory, in rows of 16 bytes.

    Lane n gives the address of row n % 8 of matrix n / 8, a multiple of 16. `.trans` transposes each matrix.
    """
    matrices = int(count[1:])
    mine = address_of_row(m, address, a, matrices * ROWS)
    words = m.load(U32, state_space(space), mine, WORDS, False)
    return m.warp_function(Spread(matrices, trans), (U32,) * matrices, *sent_words(m, words))


@instruction(
    "stmatrix.sync.aligned.m8n8.count[.trans][.space].b16 [a], b:matrices(b32)", count=COUNTS, space=SPACES,
    defaults={"address": U64}, since="7.8 sm_90", effects="memory warp", ref="PTX 7.8 stmatrix",
)  # fmt: skip
def stmatrix(
    m: Algebra[V], a: V, b: V | tuple[V, ...], count: str, trans: bool, space: str | None, address: Type
) -> None:  # fmt: skip
    """Stores matrices to shared memory, in rows of 16 bytes.

    Lane n gives the address of row n % 8 of matrix n / 8, a multiple of 16. `.trans` transposes each matrix.
    """
    words = m.warp_function(Collected(trans), (U32,) * WORDS, *sent_words(m, elements(b)))
    place = address_of_row(m, address, a, int(count[1:]) * ROWS)
    m.store(U32, state_space(space), place, words, False)


@instruction(
    "movmatrix.sync.aligned.m8n8.trans.b16 d:b32, a:b32", ranges={"a": ()}, since="7.8 sm_75", effects="warp",
    ref="PTX 7.8 movmatrix",
)  # fmt: skip
def movmatrix(m: Algebra[V], a: V) -> V:
    """Transposes a matrix within the registers of a warp."""
    return transposed(m, sent(m, U32, a))
