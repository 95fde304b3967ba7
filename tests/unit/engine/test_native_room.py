"""How much native stack code takes, as told by its text."""

from __future__ import annotations

import pytest

from simt.engine import compile as compiling


def module(*lines: int) -> str:
    """Functions of so many lines each."""
    return "".join("define void @f() {\n" + "  fence seq_cst\n" * n + "}\n" for n in lines)


@pytest.mark.parametrize(
    ("lines", "nested"),
    [((5,), 5), ((5, 7, 9), 21), ((1, 9, 1, 7, 1, 5), 21)],
)  # fmt: skip
def test_the_longest_functions_count(lines: tuple[int, ...], nested: int) -> None:
    """With a line or two for each function's own head."""
    assert nested <= compiling.nested_lines(module(*lines)) <= nested + 2 * compiling.NESTED
