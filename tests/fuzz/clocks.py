"""Random programs that read the clock everywhere: what they read goes into a word of every thread's row."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tests.fuzz.running import Case

READING = "mov.u32 %ck0, %clock; mad.lo.u32 %ck1, %ck1, 31, %ck0;"
FREE = "[%row+4]"
"""A place of the row whose predicate needs half of its word."""


def with_clocks(case: Case, share: float) -> Case:
    """The program with a reading after a share of its random statements, which stand between the kernel's
    first and last barrier. All readings are mixed into one word."""
    random = Random(case.seed)
    lines = case.text.splitlines()
    entry = next(i for i, line in enumerate(lines) if ".entry fuzz" in line)
    barriers = [i for i, line in enumerate(lines) if i > entry and line.strip() == "bar.sync 0;"]
    found: list[str] = []
    for i, line in enumerate(lines):
        found += [f"st.global.b32 {FREE}, %ck1;"] if i == barriers[-1] else []
        found.append(line)
        if i == entry + 2:  # the brace
            found.append(".reg .u32 %ck<2>;")
        if i == barriers[0]:
            found.append("mov.u32 %ck1, 0;")
        elif barriers[0] < i < barriers[-1] and _is_statement(line.strip()) and random.random() < share:
            found.append(READING)
    return replace(case, text="\n".join(found) + "\n")


def _is_statement(line: str) -> bool:
    return line.endswith(";") and line[0] not in ".{("
