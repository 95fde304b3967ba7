"""The named numbers of `simt.engine.abi` behave as the standard library's do."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import pytest

from simt.engine.abi import FaultKind, HelpCell, LaunchSlot


def test_named_numbers() -> None:
    for ours in (LaunchSlot, FaultKind, HelpCell):
        theirs: Any = IntEnum(ours.__name__, {member.name: int(member) for member in ours})
        assert len(ours) == len(theirs) > 1
        for mine, other in zip(ours, theirs, strict=True):
            assert (mine.name, mine.value, f"{mine}", str(mine)) == (
                other.name,
                other,
                f"{other}",
                str(other),
            )
            assert mine is ours(int(other)) is ours[other.name] is getattr(ours, other.name)
            assert isinstance(mine, ours)
    with pytest.raises((KeyError, ValueError)):
        HelpCell(2)
