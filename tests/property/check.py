"""Runs one case on one engine over special and random values and compares with the oracle."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import cache

import numpy as np

from tests.property.cases import Case
from tests.property.oracle import float_format
from tests.property.values import Column, bits_dtype, columns, tuples

COUNT = 400
"""Special tuples, and random ones, for each case."""

Runner = Callable[[Case, list[Column]], Column]


Rows = list[tuple[int, ...]]


@cache
def _prepared(case: Case) -> tuple[Rows, list[int | None]]:
    rows = tuples(case.inputs, COUNT, zlib.crc32(case.name.encode()))
    return rows, [case.expected(*row) for row in rows]


def check(case: Case, run: Runner) -> None:
    """Fails with the first wrong lanes: operands, what came, what was expected (hexadecimal)."""
    rows, expected = _prepared(case)
    inputs = columns(case.inputs, rows)
    compare(case, inputs, expected, run(case, inputs))


def check_rows(case: Case, rows: Rows, run: Runner) -> None:
    """The same on operands of the caller's choice."""
    inputs = columns(case.inputs, rows)
    compare(case, inputs, [case.expected(*row) for row in rows], run(case, inputs))


def compare(case: Case, inputs: list[Column], expected: list[int | None], got: Column) -> None:
    is_nan = float_format(case.output).is_nan if case.output.is_float else lambda _: False
    wanted = np.array([0 if e is None else e for e in expected], bits_dtype(case.output))
    nan_wanted = np.array([e is None or is_nan(e) for e in expected])
    wrong = np.flatnonzero((got != wanted) | nan_wanted)
    bad = [i for i in wrong if not (nan_wanted[i] and is_nan(int(got[i])))]
    shown = [
        f"{case.name}({', '.join(hex(c[i]) for c in inputs)}) = {hex(got[i])}, "
        f"expected {'NaN' if nan_wanted[i] else hex(wanted[i])}"
        for i in bad[:5]
    ]
    assert not bad, f"{len(bad)} of {len(expected)} wrong:\n" + "\n".join(shown)
