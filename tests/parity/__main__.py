"""Compares simt with ptxas over the whole catalogue: `python -m tests.parity`.

Prints the agreement by version and target; with `--write` puts it, and how often each listed difference
was met, into docs/ptxas-differences.md, and records a sample of ptxas's verdicts for machines without it.
Uses one core for some 20 minutes, several with `--jobs`; with `--kept FOLDER` ptxas is not asked again what
that folder has from an earlier or an interrupted run. `--only add` compares one instruction, and no whole
modules.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Collection, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from zlib import crc32

import simt.isa  # noqa: F401 - fills the catalogue
from simt.isa.catalogue import FORMS
from tests.parity import declarations, differences, files, verdicts
from tests.parity.dialects import DIALECTS, TAIL, Dialect
from tests.parity.kept import Kept
from tests.parity.snippets import LEAST, by_form, mutants

BATCH = 400
RECORDED_A_DIALECT = 2000
HEADER = [
    "| version, target | valid by the catalogue | mutated | whole modules "
    "| alike | or the text decides | or listed | alike, of those that one of both accepts |",
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
]


@dataclass
class Result:
    """What was found for one dialect. Texts are "valid", "mutated" or a "module". `accepted`: those that
    ptxas or simt accepts."""

    dialect: Dialect
    tried: Counter[str] = field(default_factory=Counter[str])
    found: list[verdicts.Verdict] = field(default_factory=list[verdicts.Verdict])
    accepted: int = 0
    different: int = 0
    by_text: int = 0
    listed: Counter[int] = field(default_factory=Counter[int])
    unlisted: list[str] = field(default_factory=list[str])

    def take(self, kind: str, text: str, theirs: bool, mine: bool) -> None:
        """Counts one comparison."""
        self.tried[kind] += 1
        self.found.append((text, theirs))
        self.accepted += theirs or mine
        if theirs == mine:
            return
        self.different += 1
        row = differences.explanation(text, self.dialect, theirs)
        if row is None:
            self.unlisted.append(f"ptxas {'accepts' if theirs else 'refuses'}: {text}")
        else:
            self.listed[row.line] += 1
            self.by_text += row.text

    def line(self) -> str:
        """A row of the summary."""
        total = self.tried.total()
        alike = total - self.different
        shares = [_percent(n, total) for n in (alike, alike + self.by_text, total - len(self.unlisted))]
        shares.append(_percent(self.accepted - self.different, self.accepted))
        counts = " | ".join(f"{self.tried[k]:,}" for k in ("valid", "mutated", "module"))
        return f"| {self.dialect} | {counts} | {' | '.join(shares)} |"


def _percent(part: int, whole: int) -> str:
    """Rounded down: 100 % is all. Of nothing (an instruction in versions before its own) nothing differs."""
    if not whole:
        return "100.000 %"
    return f"{part * 100_000 // whole / 1000:.3f} %"


def snippets(dialect: Dialect, seed: int, least: int, only: Collection[str]) -> dict[str, str]:
    """Every valid snippet, and mutations of those that simt takes in this dialect, with their kind."""
    found: dict[str, str] = {}
    for sources in by_form(dialect, only):
        found |= dict.fromkeys(map(str, sources), "valid")
        taken = verdicts.ours(dialect, [str(s) for s in sources])
        for snippet in mutants([s for s, ok in zip(sources, taken) if ok], dialect, seed, least):
            found.setdefault(str(snippet), "mutated")
    return found


def compare(dialect: Dialect, seed: int, least: int, kept: Kept, only: Collection[str] = ()) -> Result:
    """Everything about one dialect; with `only`, about these instructions."""
    result = Result(dialect)
    everything = list(snippets(dialect, seed, least, only).items())
    for start in range(0, len(everything), BATCH):
        texts, kinds = zip(*everything[start : start + BATCH])
        theirs = kept.snippets(dialect.head, texts, TAIL)
        for row in zip(kinds, texts, theirs, verdicts.ours(dialect, texts)):
            result.take(*row)
    if only:
        return result
    for text, theirs, mine in (
        *declarations.compare(dialect, declarations.lines(), kept.module),
        *files.compare(files.changes_of(dialect), kept.module),
    ):
        result.take("module", text, theirs, mine)
    return result


def sample(result: Result) -> list[verdicts.Verdict]:
    """Some of the verdicts: all whole modules, and snippets by the number that their text gives."""
    end = len(result.found) - result.tried["module"]
    chosen = sorted(result.found[:end], key=lambda v: crc32(v[0].encode()))[:RECORDED_A_DIALECT]
    return sorted({*chosen, *result.found[end:]})


def _results(arguments: argparse.Namespace) -> Iterator[Result]:
    dialects = [d for d in DIALECTS if not arguments.dialects or str(d) in arguments.dialects]
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for result in pool.map(partial(_result, arguments=arguments), dialects):
            print(result.line(), *result.unlisted, sep="\n", flush=True)
            yield result


def _result(dialect: Dialect, arguments: argparse.Namespace) -> Result:
    return compare(dialect, arguments.seed, arguments.least, Kept(arguments.kept), arguments.only)


def _totals(results: list[Result]) -> list[str]:
    """Rows for the versions of PTX ISA 1.4 and before, and for all."""
    oldest = [r for r in results if r.dialect.version <= (1, 4)]
    return [_total(oldest, "1.0 to 1.4"), _total(results, "all")]


def _total(results: list[Result], name: str) -> str:
    whole = Result(DIALECTS[0])
    for result in results:
        whole.tried += result.tried
        whole.accepted += result.accepted
        whole.different += result.different
        whole.by_text += result.by_text
        whole.unlisted += result.unlisted
    return whole.line().replace(str(DIALECTS[0]), name, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dialects", nargs="*", help='such as "1.4 sm_13"; all of them if none is given')
    parser.add_argument("--seed", type=int, default=20090612)
    parser.add_argument(
        "--only", action="append", choices=sorted(FORMS), default=[], metavar="OPCODE",
        help="an instruction; may be given several times",
    )  # fmt: skip
    parser.add_argument("--least", type=int, default=LEAST, help="mutated sources of each form")
    parser.add_argument("--write", action="store_true")
    parser.add_argument(
        "--kept", type=Path, help="a folder to keep ptxas's verdicts in, and to take them from"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    arguments = parser.parse_args()
    print(*HEADER, sep="\n")
    results = list(_results(arguments))
    print(*_totals(results), sep="\n")
    if arguments.write and not arguments.dialects and not arguments.only:
        counts = sum((r.listed for r in results), Counter[int]())
        differences.write(counts, [*HEADER, *(r.line() for r in results), *_totals(results)])
        verdicts.write((r.dialect, sample(r)) for r in results)


if __name__ == "__main__":
    main()
