"""The folder of kept verdicts: what is known is not asked again, and what hangs on something else is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.parity import kept
from tests.parity.kept import Kept


class Oracle:
    """Takes what has a `+` in it. `asked`: what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.version = "13.0"

    def accepted(self, head: str, snippets: Sequence[str], tail: str) -> list[bool]:
        self.asked += snippets
        return ["+" in s for s in snippets]

    def assemble(self, text: str) -> tuple[bool, set[int]]:
        self.asked.append(text)
        return "+" in text, set()


@pytest.fixture
def oracle(monkeypatch: pytest.MonkeyPatch) -> Oracle:
    made = Oracle()
    monkeypatch.setattr(kept, "accepted", made.accepted)
    monkeypatch.setattr(kept, "assemble", made.assemble)
    monkeypatch.setattr(kept, "version", lambda: made.version)
    return made


def test_asks_for_what_the_folder_has_not(oracle: Oracle, tmp_path: Path) -> None:
    assert Kept(tmp_path).snippets("head", ["a+;", "b;"], "tail") == [True, False]
    assert Kept(tmp_path).snippets("head", ["c+;", "b;", "a+;"], "tail") == [True, False, True]
    assert oracle.asked == ["a+;", "b;", "c+;"]


def test_asks_again_in_another_module_or_of_another_ptxas(oracle: Oracle, tmp_path: Path) -> None:
    Kept(tmp_path).snippets("head", ["a+;"], "tail")
    Kept(tmp_path).snippets("other head", ["a+;"], "tail")
    oracle.version = "13.1"
    Kept(tmp_path).snippets("head", ["a+;"], "tail")
    assert oracle.asked == ["a+;"] * 3


def test_whole_modules_are_kept_too(oracle: Oracle, tmp_path: Path) -> None:
    first, second = Kept(tmp_path), Kept(tmp_path)
    texts = ["+ module\nof two lines", "another"]
    assert [first.module(t) for t in texts] == [second.module(t) for t in texts] == [True, False]
    assert oracle.asked == texts


def test_without_a_folder_nothing_is_written(oracle: Oracle, tmp_path: Path) -> None:
    memory = Kept(None)
    assert memory.snippets("head", ["a+;"], "tail") == memory.snippets("head", ["a+;"], "tail") == [True]
    assert oracle.asked == ["a+;"]
    assert not list(tmp_path.iterdir())
