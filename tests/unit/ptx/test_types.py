"""There is one object for each type, however it was come by."""

from __future__ import annotations

import copy
import pickle

import pytest

from simt.ptx.types import OPAQUE, TYPES, Type


@pytest.mark.parametrize("known", [*TYPES.values(), *OPAQUE.values()], ids=str)
def test_copies_are_the_type_itself(known: Type) -> None:
    assert copy.copy(known) is copy.deepcopy(known) is pickle.loads(pickle.dumps(known)) is known


def test_types_differ_by_name() -> None:
    names = [*TYPES, *OPAQUE]
    assert len({*TYPES.values(), *OPAQUE.values()}) == len(names)
    assert [t.name for t in (*TYPES.values(), *OPAQUE.values())] == names
