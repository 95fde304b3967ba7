"""How often code of kernels is made, for tests of drafts and what follows them."""

from __future__ import annotations

from collections import Counter

import pytest

from simt.engine import compile as compiling


def counting(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Counts kernels that are made from now on: as drafts (`_draft`) and well (`_objects`)."""
    counts = Counter[str](_draft=0, _objects=0)

    def counted(name: str) -> None:
        function = getattr(compiling, name)

        def run(text: str, *more: object) -> object:
            counts[name] += "@simt_kernel(" in text
            return function(text, *more)

        monkeypatch.setattr(compiling, name, run)

    counted("_draft")
    counted("_objects")
    return counts
