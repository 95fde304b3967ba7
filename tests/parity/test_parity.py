"""The verifier accepts and refuses what ptxas does, the listed differences aside.

Replays recorded verdicts of ptxas; where ptxas is on the machine, tries a sample anew too. The whole
comparison is `python -m tests.parity`. `SIMT_PARITY_SEED` picks another sample.
"""

from __future__ import annotations

import os
import random
from collections import defaultdict

import pytest

import simt.isa  # noqa: F401 - fills the catalogue
from tests.parity import declarations, files, verdicts
from tests.parity.__main__ import Result
from tests.parity.dialects import DIALECTS, NEWEST, TAIL, Dialect
from tests.parity.differences import differences, explanation
from tests.parity.kept import Kept
from tests.parity.oracle import AVAILABLE, accepted, assemble
from tests.parity.snippets import Snippet, by_form, mutants
from tests.shares import share

SEED = int(os.environ.get("SIMT_PARITY_SEED", "20090612"))
SAMPLE = 800
STEP = 3
"""One of how many recorded verdicts of a kind is replayed, and of modules given to ptxas."""
MARKS = (declarations.MARK, files.MARK)
NEEDS_PTXAS = pytest.mark.skipif(not AVAILABLE, reason="needs NVIDIA's ptxas on the machine")


def different(dialect: Dialect, found: list[verdicts.Verdict], mine: list[bool]) -> list[str]:
    """The snippets that simt decides differently from ptxas, and that no row lists."""
    return [
        f"{dialect}: ptxas {'accepts' if theirs else 'refuses'}: {text}"
        for (text, theirs), ok in zip(found, mine)
        if ok != theirs and explanation(text, dialect, theirs) is None
    ]


def _module(dialect: Dialect, text: str) -> str:
    if text.startswith(files.MARK):
        return files.changed(text)
    return declarations.module(dialect, text)


def _replayed(dialect: Dialect, found: list[verdicts.Verdict]) -> list[str]:
    modules = [v for v in found if v[0].startswith(MARKS)]
    snippets = [v for v in found if not v[0].startswith(MARKS)]
    wholes = [verdicts.accepts(_module(dialect, text)) for text, _ in modules]
    parts = verdicts.ours(dialect, [text for text, _ in snippets])
    return different(dialect, modules, wholes) + different(dialect, snippets, parts)


def _kind(pair: tuple[Dialect, verdicts.Verdict]) -> tuple[str, bool]:
    """A declaration, a file and what is changed in it, or the mnemonic of a snippet; and what ptxas says."""
    text, accepted = pair[1]
    if text.startswith(declarations.MARK):
        return text, accepted
    words = text.split()
    return " ".join(words[:3]) if text.startswith(files.MARK) else words[0].split(".")[0], accepted


def test_decides_as_ptxas_did_when_its_verdicts_were_recorded() -> None:
    recorded = list(verdicts.read())
    assert all({theirs for _, theirs in found} == {True, False} for _, found in recorded)
    tried: dict[Dialect, list[verdicts.Verdict]] = defaultdict(list)
    for dialect, verdict in share([(d, v) for d, found in recorded for v in found], STEP, _kind):
        tried[dialect].append(verdict)
    assert set(tried) == set(DIALECTS)
    wrong = [line for dialect, found in tried.items() for line in _replayed(dialect, found)]
    assert not wrong, "\n".join(wrong)


def _sample(dialect: Dialect, seed: int) -> list[str]:
    rng = random.Random(seed)
    sources: list[Snippet] = [rng.choice(snippets) for snippets in by_form(dialect)]
    changed = [s for snippet in sources for s in mutants([snippet], dialect, seed, 1)]
    return [str(s) for s in (*rng.sample(sources, SAMPLE // 4), *rng.sample(changed, SAMPLE))]


@pytest.mark.ptxas
@NEEDS_PTXAS
@pytest.mark.parametrize("dialect", [DIALECTS[0], DIALECTS[len(DIALECTS) // 2], NEWEST], ids=str)
def test_decides_as_ptxas_does(dialect: Dialect) -> None:
    snippets = _sample(dialect, SEED)
    found = list(zip(snippets, accepted(dialect.head, snippets, TAIL)))
    wrong = different(dialect, found, verdicts.ours(dialect, snippets))
    assert not wrong, "\n".join(wrong)


@pytest.mark.ptxas
@NEEDS_PTXAS
@pytest.mark.parametrize("dialect", [Dialect((1, 4), "sm_13"), NEWEST], ids=str)
def test_takes_whole_modules_as_ptxas_does(dialect: Dialect) -> None:
    taken = Kept(None).module
    lines, changes = share(declarations.lines(), STEP), share(files.changes_of(dialect), STEP)
    compared = [*declarations.compare(dialect, lines, taken), *files.compare(changes, taken)]
    wrong = different(dialect, [(t, theirs) for t, theirs, _ in compared], [mine for _, _, mine in compared])
    assert not wrong, "\n".join(wrong)


def test_every_listed_difference_has_a_reason() -> None:
    assert differences()
    assert all(d.reason for d in differences())


@pytest.mark.ptxas
@NEEDS_PTXAS
def test_the_oracle_tells_lines_apart() -> None:
    snippets = ["add.u32 %u32_0, %u32_1, 1;", "add.u32 %u32_0, %f32_1, 1;", "nonsense;", "mov.b32 %b32_0, 7;"]
    assert accepted(NEWEST.head, snippets, TAIL) == [True, False, False, True]


@pytest.mark.ptxas
@NEEDS_PTXAS
@pytest.mark.parametrize("dialect", DIALECTS, ids=str)
def test_the_module_around_the_snippets_is_one(dialect: Dialect) -> None:
    assert assemble(dialect.head + TAIL)[0]
    assert verdicts.accepts(dialect.head + TAIL)


def test_an_instruction_that_a_version_does_not_have_is_alike() -> None:
    """`--only isspacep` of PTX 1.0: neither accepts anything."""
    found = Result(NEWEST)
    found.take("valid", "isspacep.global %p, %a;", False, False)
    assert found.line().endswith("| 1 | 0 | 0 | 100.000 % | 100.000 % | 100.000 % | 100.000 % |")
