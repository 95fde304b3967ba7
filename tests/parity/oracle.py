"""What ptxas accepts: many one-line snippets in one file, by taking out refused lines until it is content."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

AVAILABLE = shutil.which("ptxas") is not None
OPTIONS = ("-arch=sm_90", "-O0")
LINE = re.compile(r"(?<!<builtin>, )line '?(\d+)'?; (?:error|fatal)")
"""A complaint about a line of the module; ptxas has modules of its own for what it emulates."""


@cache
def version() -> str:
    """What ptxas says about itself."""
    return subprocess.run(["ptxas", "--version"], capture_output=True, text=True, check=True).stdout


def assemble(text: str) -> tuple[bool, set[int]]:
    """Whether ptxas takes a module, and the lines that it complains about."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "module.ptx"
        path.write_text(text)
        command = ["ptxas", *OPTIONS, "-o", str(Path(folder) / "out"), str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    lines = {int(n) for n in LINE.findall(done.stderr + done.stdout)}
    return done.returncode == 0, lines


def accepted(head: str, snippets: Sequence[str], tail: str) -> list[bool]:
    """For each snippet, whether ptxas takes it between `head` (which ends in a line break) and `tail`."""
    verdict = [False] * len(snippets)
    _decide(head, [(i, s) for i, s in enumerate(snippets)], tail, verdict)
    return verdict


def _decide(head: str, alive: list[tuple[int, str]], tail: str, verdict: list[bool]) -> None:
    first = head.count("\n") + 1
    while alive:
        good, lines = assemble(head + "\n".join(s for _, s in alive) + "\n" + tail)
        if good:
            for index, _ in alive:
                verdict[index] = True
            return
        kept = [a for n, a in enumerate(alive, first) if n not in lines]
        if len(kept) == len(alive):
            _halve(head, alive, tail, verdict)
            return
        alive = kept


def _halve(head: str, alive: list[tuple[int, str]], tail: str, verdict: list[bool]) -> None:
    """No line was named (ptxas crashed, or the complaint is about the whole): decide in two parts."""
    if len(alive) > 1:
        middle = len(alive) // 2
        _decide(head, alive[:middle], tail, verdict)
        _decide(head, alive[middle:], tail, verdict)
