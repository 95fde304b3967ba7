"""The NumPy algebra against exact arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

from simt.engine import numpy_rounding
from simt.engine.numpy_algebra import NumpyAlgebra, dtype_of
from simt.ptx.types import Type
from tests.property import groups
from tests.property.cases import Case
from tests.property.check import check
from tests.property.values import Column, bits_dtype

M = NumpyAlgebra()


def load(t: Type, bits: Column) -> np.ndarray:
    return bits.astype(np.bool_) if t.is_predicate else bits.view(dtype_of(t))


def run(case: Case, columns: list[Column]) -> Column:
    values = [load(t, bits) for t, bits in zip(case.inputs, columns, strict=True)]
    with np.errstate(all="ignore"):
        result = np.broadcast_to(case.run(M, *values), values[0].shape)
    assert result.dtype == dtype_of(case.output)
    return np.ascontiguousarray(result).view(bits_dtype(case.output))


@pytest.mark.parametrize("group", groups.ALL, ids=str)
@pytest.mark.filterwarnings("error")
def test_numpy(group: groups.Group) -> None:
    for case in group.cases:
        check(case, run)


ROUNDED = groups.named("fadd", "fsub", "fmul", "fdiv", "fma", "fsqrt", "float_to_float", "int_to_float")


@pytest.mark.parametrize("group", ROUNDED, ids=str)
@pytest.mark.filterwarnings("error")
def test_without_rounding_modes(group: groups.Group, monkeypatch: pytest.MonkeyPatch) -> None:
    """On machines where NumPy cannot be told how to round."""
    monkeypatch.setattr(numpy_rounding, "environment", lambda: None)
    for case in group.cases:
        check(case, run)
