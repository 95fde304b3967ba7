"""One-instruction kernels over conversions and warp operations, for the recorder and the tests."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from simt.isa.catalogue import FORMS
from simt.isa.form import Version
from tests.hw.arithmetic import LANES, Case, columns
from tests.unit.isa.meaning import Array

WARP = 32
SPLIT = 13
"""The lanes below this one and the others take part under masks of their own in `split` cases."""


@dataclass(frozen=True)
class OldCase(Case):
    """The same opcode in a module of PTX 1.4."""

    @property
    def version(self) -> Version:
        return (1, 4)

    @property
    def target(self) -> int:
        return 13


def _of(chapter: str, kind: type[Case] = Case) -> list[Case]:
    forms = [f for fs in FORMS.values() for f in fs if f.chapter == chapter and not f.until]
    return [kind(f, b) for f in forms for b in f.bindings()]


def conversions() -> dict[str, Case]:
    """Conversions of PTX 9.0 by opcode, and under `1.4 ` those of single precision that may flush."""
    found = {case.opcode: case for case in _of("convert")}
    for case in _of("convert", OldCase):
        plain = case.form.requirement.version == (1, 0) and not case.binding["ftz"]
        if plain and "f32" in case.opcode.split("."):
            found[f"1.4 {case.opcode}"] = case
    return found


def warp_operations() -> dict[str, Case]:
    """Warp operations by opcode, under `full ` or `split ` for the masks of the lanes that take part."""
    found: dict[str, Case] = {}
    for case in _of("warp"):
        if any(o.name == "mask" for o in case.form.operands):
            found[f"full {case.opcode}"] = case
            if case.form.mnemonic != "shfl":  # a lane of the other half may not be read
                found[f"split {case.opcode}"] = case
    return found


@functools.cache
def _columns() -> dict[str, Array]:
    return columns()


def given_for(name: str, case: Case) -> dict[str, Any]:
    """Operands by type and place; for warp operations with masks, and values that often agree."""
    given = dict(_columns())
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
