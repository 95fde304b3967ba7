"""The LLVM algebra against exact arithmetic: vectors and scalars, with and without AVX-512."""

from __future__ import annotations

import pytest

from tests.property import groups
from tests.property.check import check
from tests.property.jit import Compiled, Setup

VECTORS = Setup("vectors")
SCALARS = Setup("scalars", width=1)


@pytest.mark.parametrize("setup", [VECTORS, SCALARS], ids=str)
@pytest.mark.parametrize("group", groups.ALL, ids=str)
def test_llvm(group: groups.Group, setup: Setup) -> None:
    compiled = Compiled(group.cases, setup)
    for case in group.cases:
        check(case, compiled.run)
