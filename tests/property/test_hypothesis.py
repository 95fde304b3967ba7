"""Operands that hypothesis looks for: it shrinks a failure to the simplest operands."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simt.ptx.types import Type
from tests.property import groups
from tests.property.cases import Case
from tests.property.check import check_rows
from tests.property.jit import Compiled, Setup
from tests.property.test_numpy import run as run_numpy
from tests.property.values import specials

HARD = groups.named("fadd", "fmul", "fma", "fdiv", "fsqrt", "float_to_float", "float_to_int", "int_to_float")
WHOLE = groups.named(
    "divide", "remainder", "divide_short", "remainder_short", "mul_high", "shift_left", "shift_right"
)


@cache
def compiled(group: groups.Group) -> Compiled:
    return Compiled(group.cases, Setup("vectors"))


def operand(t: Type) -> st.SearchStrategy[int]:
    """Bits of a special value, bits near one, or any bits."""
    limit = 2**t.bits
    special = st.sampled_from(specials(t))
    near = st.builds(lambda x, d: (x + d) % limit, special, st.integers(-64, 64))
    return st.one_of(special, near, st.integers(0, limit - 1))


def rows_of(case: Case) -> st.SearchStrategy[list[tuple[int, ...]]]:
    return st.lists(st.tuples(*(operand(t) for t in case.inputs)), min_size=1, max_size=32)


@pytest.mark.parametrize("group", [*HARD, *WHOLE], ids=str)
@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_primitive(group: groups.Group, data: st.DataObject) -> None:
    case = data.draw(st.sampled_from(group.cases), label="case")
    rows = data.draw(rows_of(case), label="operands")
    check_rows(case, rows, run_numpy)
    check_rows(case, rows, compiled(group).run)
