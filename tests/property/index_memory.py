"""Memory of the model of `tests.property.index_model`, which sees where the order of threads would count."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Mask = NDArray[np.bool_]
Ids = NDArray[np.int64]

NOBODY, ANYBODY, EQUALS, SUMS = -1, -2, -3, -4
"""Who wrote or read a byte, if no thread: none, several, those who write what the address says, atomics."""


class Rejected(Exception):
    """The program has no outcome that the manual defines."""


class Memory:
    """Bytes of a state space, with who wrote and read each since the last barrier, and which CTA ever did."""

    def __init__(self, data: Bytes, common: bool) -> None:
        self.data = data
        self.common = common
        self.writer, self.reader = (np.full(len(data), NOBODY, np.int64) for _ in range(2))
        self.writing_cta, self.reading_cta = (np.full(len(data), NOBODY, np.int64) for _ in range(2))

    def read(self, at: Ids, threads: Ids, ctas: Ids) -> Bytes:
        """Bytes at places (a row for each thread)."""
        self._read(at, threads, self.writer, self.reader)
        if self.common:
            self._read(at, ctas, self.writing_cta, self.reading_cta)
        return self.data[at]

    def _read(self, at: Ids, who: Ids, writer: Ids, reader: Ids) -> None:
        who = np.broadcast_to(who[:, None], at.shape)
        if (~np.isin(writer[at], (NOBODY,)) & (writer[at] != who)).any():
            raise Rejected("reads what others write")
        several = (reader[at] != NOBODY) & (reader[at] != who)
        reader[at] = who
        several |= reader[at] != who
        reader[at[several]] = ANYBODY

    def write(self, at: Ids, values: Bytes, threads: Ids, ctas: Ids, kind: int | None) -> None:
        """Writes bytes. `kind`: EQUALS or SUMS if writers do not mind each other."""
        self._claim(at, threads, self.writer, self.reader, kind)
        if self.common:
            self._claim(at, ctas, self.writing_cta, self.reading_cta, kind)
        if kind == SUMS:
            np.add.at(self.data.view(np.uint32), at[:, 0] // 4, values.view(np.uint32)[:, 0])
        else:
            self.data[at] = values

    def _claim(self, at: Ids, who: Ids, writer: Ids, reader: Ids, kind: int | None) -> None:
        who = np.broadcast_to(who[:, None] if kind is None else np.int64(kind), at.shape)
        if not (np.isin(writer[at], (NOBODY,)) | (writer[at] == who)).all():
            raise Rejected("two write")
        if not (np.isin(reader[at], (NOBODY,)) | (reader[at] == who)).all():
            raise Rejected("writes what others read")
        writer[at] = who
        if (writer[at] != who).any():
            raise Rejected("two write at once")

    def barrier(self, places: Mask) -> None:
        self.writer[places] = NOBODY
        self.reader[places] = NOBODY
