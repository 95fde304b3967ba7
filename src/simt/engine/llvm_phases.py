"""The code of CTAs whose warps go from barrier to barrier in step: a loop over all warps for each phase.

A phase is the code between barriers that share none of it with others (`simt.analysis.in_step` says where
all warps take the same way). Where in a phase its warps go on is known for the whole CTA, and mostly when
compiling, so that no warp needs to note it. A warp that waits in a loop for other threads makes way too, and
notes where: the phase has further rounds, for such warps alone, until all have come to its end. LLVM unrolls
loops of short phases: what depends on the warp is then constant, and warps without lanes for a step have no
code there. Nor does a loop go on to warps after the last one that has lanes for an effect (`tid < 8`), if a
phase saves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from functools import cached_property

from simt.engine.llvm_abreast import Abreast, abreast
from simt.records import dataclass

START = 0
"""The entry of warps that begin. Others are the numbers of suspensions."""
OVER = -1
"""In `%next.phase`: all warps have ended."""
UNROLLED = 1500
"""Lines of a phase's code, times the number of warps, up to which its loop is unrolled."""
UNROLLED_IN_ALL = 12_000
"""The same for all phases of a kernel together, which take LLVM some 0.2 s; beyond that none is unrolled."""
ONE_WARP = "%one.warp"
"""Stands for an i1: whether code is written for each warp of a CTA by itself."""
_TARGET = re.compile(r"label %([\w.]+)")
_RESET = re.compile(r"%(?:pending|turns)\.\d+")
_SUSPENSION = re.compile(r"suspend\.(\d+)")
_CONTEXT = re.compile(r"^  (%[\w.]+) = getelementptr i8, ptr %context\.p\b", re.MULTILINE)


@dataclass(frozen=True)
class Phase:
    """`entries`: suspensions at which its warps go on, or `START`. `exits`: those that they come to next, or
    `OVER`. `yields`: suspensions of warps that wait within it. `blocks`: the lines of its code, by label."""

    entries: tuple[int, ...]
    exits: tuple[int, ...]
    yields: tuple[int, ...]
    blocks: Mapping[str, Sequence[str]]

    @property
    def number(self) -> int:
        return self.entries[0]

    @cached_property
    def length(self) -> int:
        """Lines of its code."""
        return sum(map(len, self.blocks.values()))

    @cached_property
    def saves(self) -> bool:
        """Whether it writes to a warp's saved context."""
        text = "\n".join(line for block in self.blocks.values() for line in block)
        places = "|".join(map(re.escape, (*_CONTEXT.findall(text), "%context.p")))
        return re.search(rf"^  store .*, ptr (?:{places})(?![\w.])", text, re.MULTILINE) is not None


def find_phases(
    lines: Sequence[str], entries: Mapping[int, str], yields: Set[int] = frozenset()
) -> list[Phase]:
    """Divides a body by what can be reached from labels. `entries`: labels by number, `START` first;
    `yields`: the numbers of those where warps go on that wait within a phase."""
    blocks = _blocks(lines)
    targets = {label: _TARGET.findall("\n".join(code)) for label, code in blocks.items()}
    groups: dict[int, tuple[list[int], set[str]]] = {}
    owner: dict[str, int] = {}
    for entry, label in entries.items():
        found = _reachable(label, targets)
        numbers = [entry]
        for other in {owner[x] for x in found if x in owner}:
            more, theirs = groups.pop(other)
            numbers, found = numbers + more, found | theirs
        groups[min(numbers)] = numbers, found
        owner.update(dict.fromkeys(found, min(numbers)))
    return [_phase(sorted(groups[n][0]), yields, groups[n][1], blocks, targets) for n in sorted(groups)]


def _blocks(lines: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    code: list[str] = []
    for line in lines:
        if line.endswith(":"):
            code = found[line[:-1]] = []
        code.append(line)
    return found


def _reachable(label: str, targets: Mapping[str, Sequence[str]]) -> set[str]:
    found, work = {label}, [label]
    while work:
        for target in targets[work.pop()]:
            if target in targets and target not in found:
                found.add(target)
                work.append(target)
    return found


def _phase(
    entries: list[int],
    yields: Set[int],
    labels: set[str],
    blocks: Mapping[str, list[str]],
    targets: Mapping[str, Sequence[str]],
) -> Phase:
    exits = {int(m[1]) for label in labels if (m := _SUSPENSION.fullmatch(label))} - yields
    over = [OVER] if any("finished" in targets[label] for label in labels) else []
    code = {label: lines for label, lines in blocks.items() if label in labels}
    begins = tuple(e for e in entries if e not in yields)
    return Phase(begins, (*over, *sorted(exits)), tuple(e for e in entries if e in yields), code)


@dataclass(frozen=True)
class Loops:
    """Writes loops around phases.

    `head`: what defines the names that code of a warp uses, from `%warp` on. `resets`: lines after which no
    lane waits anywhere. `entries`: labels by number. `polls`: by number, what stops the CTA before warps go
    on there if the launch is to be stopped; it falls through. `rolled`, `unrolled`: what is said of branches
    back. `pieces`: as many times as AVX-512 needs, the CPU needs registers for a column. `busy`: by phase,
    how many warps from the first on have something to do there. `asks`: code before phases. `way`:
    what is done before another round for warps that wait.
    """

    phases: Sequence[Phase]
    head: Sequence[str]
    resets: Sequence[str]
    entries: Mapping[int, str]
    polls: Mapping[int, Sequence[str]]
    rolled: str
    unrolled: str
    pieces: int
    busy: Mapping[int, int]
    asks: Mapping[int, Sequence[str]]
    way: str = ""

    @cached_property
    def short(self) -> frozenset[int]:
        """Numbers of the phases that are unrolled."""
        sizes = {phase.number: phase.length * self.busy[phase.number] for phase in self.phases}
        found = {number: size for number, size in sizes.items() if size <= UNROLLED}
        return frozenset(found if sum(found.values()) <= UNROLLED_IN_ALL else ())

    @property
    def are_short(self) -> bool:
        """Whether most phases are unrolled."""
        return 2 * len(self.short) > len(self.phases)

    @cached_property
    def own(self) -> frozenset[str]:
        """Names that each phase's loop has for itself."""
        names = (line.split()[0] for line in self.head if " = " in line)
        more = "warp", "warp.next", "warp.more", "warp.done", "warp.head", "finished", "entry"
        return frozenset((*names, *(f"%{name}" for name in more)))

    def lines(self) -> list[str]:
        home = {entry: phase.number for phase in self.phases for entry in phase.entries}
        word = re.compile(f"({'|'.join(sorted(map(re.escape, self.own), key=len, reverse=True))})(?![\\w.])")
        found: list[str] = []
        for phase in self.phases:
            text = "\n".join(self._loop(phase))
            text = text.replace(f" {ONE_WARP},", f" {'true' if phase.number in self.short else 'false'},")
            found += word.sub(rf"\1.in.{phase.number}", text).split("\n")
            found += self._next(phase, home)
        return found

    def _loop(self, phase: Phase) -> list[str]:
        """A phase's loop, its names without its number."""
        kind = self.unrolled if phase.number in self.short else self.rolled
        n, end = phase.number, f"phase.end.{phase.number}"
        before = f"round.{n}" if phase.yields else f"warp.all.{n}"
        side = self._side_by_side(phase)
        return [
            f"phase.{n}:",
            *(["  %entry = load i32, ptr %next.phase"] if len(phase.entries) > 1 else []),
            *self._polls(phase),
            f"warp.all.{n}:",
            *self.asks.get(n, ()),
            *(["  store i32 0, ptr %spun", f"  br label %{before}", f"{before}:"] if phase.yields else []),
            *(["  store i32 0, ptr %spinning"] if phase.yields else []),
            "  br label %warp.head",
            f"warp.head.in.{n}:",
            f"  %warp = phi i32 [ 0, %{before} ], [ %warp.next, %warp.done ]",
            *(self._warp(phase) if side is None else self._abreast(phase, side)),
            f"warp.done.in.{n}:",
            f"  %warp.next = add i32 %warp, {1 if side is None else side.warps}",
            f"  %warp.more = icmp ult i32 %warp.next, {self.busy[n]}",
            f"  br i1 %warp.more, label %warp.head, label %{end}, !llvm.loop {kind}",
        ]

    def _way_in(self, phase: Phase) -> list[str]:
        """Where a warp begins, or goes on: in further rounds those warps that make way within the phase."""
        ways = " ".join(f"i32 {e}, label %{self.entries[e]}" for e in phase.entries[1:])
        first = self.entries[phase.number]
        begin = f"  switch i32 %entry, label %{first} [ {ways} ]" if ways else f"  br label %{first}"
        if not phase.yields:
            return [begin]
        n = phase.number
        places = " ".join(f"i32 {y}, label %{self.entries[y]}" for y in phase.yields)
        return [
            f"  %again.{n} = load i32, ptr %spun",
            f"  %is.first.{n} = icmp eq i32 %again.{n}, 0",
            f"  br i1 %is.first.{n}, label %begin.{n}, label %go.on.{n}",
            f"go.on.{n}:",
            f"  %spins.{n} = lshr i32 %again.{n}, %warp",
            f"  %spins.bit.{n} = trunc i32 %spins.{n} to i1",
            f"  br i1 %spins.bit.{n}, label %spinner.{n}, label %warp.done",
            f"spinner.{n}:",
            f"  %state.{n} = load i32, ptr %context.p",
            f"  switch i32 %state.{n}, label %warp.done [ {places} ]",
            f"begin.{n}:",
            begin,
        ]

    def _side_by_side(self, phase: Phase) -> Abreast | None:
        """Code of several warps at once, where that is better."""
        if len(phase.entries) > 1 or phase.yields or phase.number in self.short:
            return None
        n = phase.number
        return abreast(phase.blocks, self.entries[n], self.head, self.own, n, self.busy[n], self.pieces)

    def _warp(self, phase: Phase) -> list[str]:
        """The code of a warp."""
        code = [line for block in phase.blocks.values() for line in block]
        return [
            *self.head,
            *self._resets(code),
            *self._way_in(phase),
            *code,
            f"finished.in.{phase.number}:",
            f"  store i32 {OVER}, ptr %next.phase",
            "  br label %warp.done",
        ]

    def _abreast(self, phase: Phase, side: Abreast) -> list[str]:
        """The code of warps side by side: one after the other where their ways may part."""
        lines = [*self._resets(side.chain), *side.chain]
        ends = [f"warp.{phase.number}.{k}" for k in range(1, side.warps)]
        for rest, end in zip(side.rests, [*ends, ""], strict=True):
            lines += [line.replace("%warp.done", f"%{end}") for line in rest] if end else rest
            lines += [f"{end}:"] if end else []
        return lines

    def _polls(self, phase: Phase) -> list[str]:
        """From the phase's head to its loop, by the poll of where the CTA is."""
        go = f"warp.all.{phase.number}"
        polls = {n: [*self.polls[n], f"  br label %{go}"] for n in phase.entries if n in self.polls}
        lines = [line for poll in polls.values() for line in poll]
        if len(phase.entries) == 1:
            return [f"  br label %{f'poll.{phase.number}' if polls else go}", *lines]
        ways = " ".join(f"i32 {n}, label %poll.{n}" for n in polls)
        return [f"  switch i32 %entry, label %{go} [ {ways} ]", *lines]

    def _resets(self, code: Sequence[str]) -> list[str]:
        """Those of places that the code knows."""
        used = set(_RESET.findall("\n".join(code)))
        return [line for line in self.resets if used.intersection(_RESET.findall(line))]

    def _next(self, phase: Phase, home: Mapping[int, int]) -> list[str]:
        """All warps have ended, or wait at one barrier."""
        number = phase.number
        ways = {e: "cta.end" if e == OVER else f"phase.{home[e]}" for e in phase.exits}
        lines = [f"phase.end.{number}:", *self._another_round(phase)]
        if len(set(ways.values())) <= 1:
            return [*lines, f"  br label %{next(iter(ways.values()), 'cta.end')}, !llvm.loop {self.rolled}"]
        rest = " ".join(f"i32 {e}, label %{label}" for e, label in ways.items())
        # Volatile: else LLVM lets each way through the last warp leave the loop for its own next phase, and
        # cannot unroll a loop that is left at several places.
        how = "volatile i32" if number in self.short else "i32"
        return [
            *lines,
            f"  %next.in.{number} = load {how}, ptr %next.phase",
            f"  switch i32 %next.in.{number}, label %cta.end [ {rest} ], !llvm.loop {self.rolled}",
        ]

    def _another_round(self, phase: Phase) -> list[str]:
        """For warps that made way within the phase."""
        n = phase.number
        if not phase.yields:
            return []
        return [
            f"  %spinning.{n} = load i32, ptr %spinning",
            f"  store i32 %spinning.{n}, ptr %spun",
            f"  %some.spin.{n} = icmp ne i32 %spinning.{n}, 0",
            f"  br i1 %some.spin.{n}, label %way.{n}, label %left.{n}",
            f"way.{n}:",
            f"  {self.way}",
            f"  br label %round.{n}, !llvm.loop {self.rolled}",
            f"left.{n}:",
        ]
