"""The verifier accepts and refuses what ptxas does, the listed differences aside.

`SIMT_PARITY=N` tries one in N of the catalogue's instructions, with mutations, instead of the usual share
(1: all of them); `SIMT_PARITY_SEED` picks another sample.
"""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

import pytest

import simt.isa  # noqa: F401 - fills the catalogue
from simt.ptx.parser import parse
from simt.verify import verify
from tests.parity.oracle import AVAILABLE, accepted
from tests.parity.snippets import HEAD, TAIL, sample

DIFFERENCES = Path(__file__).parents[2] / "docs" / "ptxas-differences.md"
ROW = re.compile(r"^\| `(.+?)` \| (accepts|refuses) \| (accepts|refuses) \| (.+) \|$", re.MULTILINE)
USUAL_SHARE = 50
BATCH = 600


@cache
def differences() -> list[tuple[re.Pattern[str], bool, str]]:
    """(pattern, whether ptxas accepts, reason) of every listed difference."""
    rows = ROW.findall(DIFFERENCES.read_text())
    return [(re.compile(p.replace(r"\|", "|")), ptxas == "accepts", reason) for p, ptxas, _, reason in rows]


def ours(snippets: list[str]) -> list[bool]:
    """For each snippet, whether the parser and the verifier take it."""
    module, syntax = parse(HEAD + "\n".join(snippets) + "\n" + TAIL, "snippets")
    assert module is not None
    first = HEAD.count("\n") + 1
    findings = verify(module)
    findings_everywhere = [*syntax.errors, *findings.errors]
    bad = {d.line - first for d in findings_everywhere}
    return [n not in bad for n in range(len(snippets))]


def known(snippet: str, ptxas: bool) -> bool:
    return any(accepts is ptxas and pattern.search(snippet) for pattern, accepts, _ in differences())


@pytest.mark.ptxas
@pytest.mark.skipif(not AVAILABLE, reason="needs NVIDIA's ptxas on the machine")
def test_accepts_what_ptxas_accepts() -> None:
    share = int(os.environ.get("SIMT_PARITY", str(USUAL_SHARE)))
    seed = int(os.environ.get("SIMT_PARITY_SEED", "20090612"))
    snippets = [str(s) for s in sample(share, seed)]
    wrong: list[str] = []
    for start in range(0, len(snippets), BATCH):
        batch = snippets[start : start + BATCH]
        for snippet, theirs, mine in zip(batch, accepted(HEAD, batch, TAIL), ours(batch)):
            if theirs != mine and not known(snippet, theirs):
                wrong.append(f"ptxas {'accepts' if theirs else 'refuses'}: {snippet}")
    assert not wrong, "\n".join(wrong)


def test_every_listed_difference_has_a_reason() -> None:
    assert differences()
    assert all(reason.strip() for _, _, reason in differences())


@pytest.mark.ptxas
@pytest.mark.skipif(not AVAILABLE, reason="needs NVIDIA's ptxas on the machine")
def test_the_oracle_tells_lines_apart() -> None:
    snippets = ["add.u32 %u32_0, %u32_1, 1;", "add.u32 %u32_0, %f32_1, 1;", "nonsense;", "mov.b32 %b32_0, 7;"]
    assert accepted(HEAD, snippets, TAIL) == [True, False, False, True]
