"""One-instruction kernels over conversions and warp operations, for the recorder and the tests."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from simt.isa.catalogue import FORMS
from tests.hw.arithmetic import GPU, Case, versions_of
from tests.hw.operands import LANES
from tests.unit.isa.meaning import Array

WARP = 32
SPLIT = 13
"""The lanes below this one and the others take part under masks of their own in `split` cases."""


def _of(chapter: str) -> list[Case]:
    forms = [f for fs in FORMS.values() for f in fs if f.chapter == chapter and not f.until]
    bindings = ((f, b) for f in forms for b in f.bindings() if f.required(b).target <= GPU)
    return [case for f, b in bindings for case in versions_of(f, b)]


def conversions() -> dict[str, Case]:
    """Conversions by name."""
    return {case.name: case for case in _of("convert")}


def warp_operations() -> dict[str, Case]:
    """Warp operations by opcode, under `full ` or `split ` for the masks of the lanes that take part, and by
    name those of old versions, which have no masks."""
    forms = [f for fs in FORMS.values() for f in fs if f.chapter == "warp" and f.until]
    found = {c.name: c for f in forms for b in f.bindings() for c in versions_of(f, b)}
    for case in _of("warp"):
        if any(o.name == "mask" for o in case.form.operands):
            found[f"full {case.opcode}"] = case
            if case.form.mnemonic != "shfl":  # a lane of the other half may not be read
                found[f"split {case.opcode}"] = case
    return found


def given_for(name: str, case: Case, columns: Mapping[str, Array]) -> dict[str, Array]:
    """Operands by type and place; for warp operations with masks, and values that often agree."""
    given = dict(columns)
    places = [o.name for o in case.sources]
    if "mask" not in places:
        return given
    given[f"b32_{places.index('mask')}"] = masks(name.startswith("split"))
    if case.form.mnemonic == "match":
        t = case.type_of(case.sources[0]).name
        given[f"{t}_0"] = np.where(np.arange(LANES) < 2 * WARP, given[f"{t}_0"][0], given[f"{t}_0"] % 3)
    return given


def masks(split: bool) -> Array:
    low = (1 << SPLIT) - 1
    below = np.arange(LANES) % WARP < SPLIT
    return np.where(below, low, 0xFFFFFFFF ^ low) if split else np.full(LANES, 0xFFFFFFFF)
