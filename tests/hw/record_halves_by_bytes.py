"""Records what 8-bit reads of registers that hold halves give; called by `tests.hw.record`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from tests.fuzz import record
from tests.hw.halves_by_bytes import DEFINED, HALVES, READ, kernel


def main(path: str) -> None:
    """Writes JSON: by definition and reading instruction, a number for each half; `path` names it, whatever
    its suffix."""
    record.begin()
    found = {d: {r: _results(kernel(d, r)) for r in READ} for d in DEFINED}
    rows = (
        f'"{d}": {{\n' + ",\n".join(f'"{r}": {json.dumps(v)}' for r, v in of.items()) + "\n}"
        for d, of in found.items()
    )
    Path(path).with_suffix(".json").write_text("{\n" + ",\n".join(rows) + "\n}\n")


def _results(text: str) -> list[int]:
    out = np.zeros((len(HALVES), 2), "u8")
    record.launch(text, "k", ((1, 1, 1), (len(HALVES), 1, 1)), [HALVES.copy(), out], [])
    return [int(number) for number in out[:, 0]]
