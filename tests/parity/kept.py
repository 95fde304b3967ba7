"""Verdicts of ptxas kept in a folder outside the repository, so that a long comparison can be continued.

What they hang on is their key: the version of ptxas, its options, and the module around a snippet. Nothing of
simt's is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from tests.parity.oracle import OPTIONS, accepted, assemble, version


class Kept:
    """What ptxas accepts, from the files of a folder where they have it. `folder`: None keeps nothing."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._known: dict[str, dict[str, bool]] = {}

    def snippets(self, head: str, texts: Sequence[str], tail: str) -> list[bool]:
        """For each snippet, whether ptxas takes it between `head` and `tail`."""
        name = _name(head, tail)
        known = self._read(name)
        missing = [t for t in texts if t not in known]
        self._add(name, dict(zip(missing, accepted(head, missing, tail))))
        return [known[t] for t in texts]

    def module(self, text: str) -> bool:
        """Whether ptxas takes a whole module."""
        name, key = _name("modules"), _name(text)
        known = self._read(name)
        if key not in known:
            self._add(name, {key: assemble(text)[0]})
        return known[key]

    def _read(self, name: str) -> dict[str, bool]:
        if name not in self._known:
            path = None if self._folder is None else self._folder / name
            lines = path.read_text().splitlines() if path and path.exists() else []
            self._known[name] = {line[2:]: line[0] == "+" for line in lines}
        return self._known[name]

    def _add(self, name: str, verdicts: dict[str, bool]) -> None:
        self._known[name] |= verdicts
        if self._folder is not None and verdicts:
            self._folder.mkdir(parents=True, exist_ok=True)
            with (self._folder / name).open("a") as file:
                file.write("".join(f"{'+' if ok else '-'} {text}\n" for text, ok in verdicts.items()))


def _name(*texts: str) -> str:
    return sha256("\0".join((version(), *OPTIONS, *texts)).encode()).hexdigest()
