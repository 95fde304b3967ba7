"""Texts that the JIT emits for kernels, in the ways that CPUs and launches ask for, looked at without being
compiled: which accesses to memory of its own are not surely within it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import simt
from simt.analysis.joined import asked
from simt.engine.compile import attributes
from simt.engine.host import HABITS, SLOW_GATHERS, Cpu, host_cpu, named_cpus
from simt.engine.llvm_begun import begin
from simt.engine.llvm_kernel import emit, emit_simply
from simt.engine.unsupported import Unsupported
from simt.records import replace
from tests.fuzz.guarding import Guarded

INTEL = frozenset({"asks-far", "asks-by-phases", "pages-apart"})
WAYS = (True, False), (False, False), (True, True)
"""Whether code is for small grids only, and whether it is made in the simplest way, as for drafts."""
ZEN3 = frozenset({SLOW_GATHERS, "asks-by-phases", "far-turns"})


WITHIN = {
    r"@simt\.body %states 2048 ": "a warp's number in its group, which has `llvm_groups.WARPS` at most",
    r"@simt\.(load|store)\.runs\.\d+ %v\d+ \d+ \(0, \d+\): %v\d+ = load": "a run begins at a lane",
    r"@simt\.store\.run\.\d+ .*memcpy": "from the first of some lanes on, as many as they are",
    r"@\S+ @simt\.orders ": "a row by the trailing zeros of a number with a bit among the first of them",
    r"@\S+ %stretch\.\d+\.(out\.)?\d+\.words 2048 ": "below the stretch's count, which is asked before",
    r"@\S+ %gate\.targets 128 \(0, 128\)": "the first of some lanes",
}
"""Accesses that lie within, by reading what makes them: how `Guarded.open` tells them, and why they do."""


def cpus() -> list[Cpu]:
    """CPUs whose code differs: this machine's, and x86-64's levels with the habits of some."""
    named, levels = named_cpus(), ("x86-64-v4", "x86-64-v3", "x86-64-v3", "x86-64-v2")
    pairs = zip(levels, (INTEL, ZEN3, frozenset({SLOW_GATHERS}), INTEL))
    return [host_cpu(), *(_with(named[level], habits) for level, habits in pairs if level in named)]


def _with(cpu: Cpu, habits: frozenset[str]) -> Cpu:
    return replace(cpu, features=cpu.features - HABITS - {SLOW_GATHERS} | habits)


def texts(
    module: simt.Module,
    launches: Sequence[tuple[str, tuple[int, int, int], tuple[int, int, int]]],
    cpu: Cpu,
    ways: Sequence[tuple[bool, bool]] = WAYS,
) -> Iterator[tuple[str, str, int]]:
    """Of launches of kernels, with grids and CTAs: what it is, the text, and the bytes of a context."""
    program = module.program
    for name, grid, block in dict.fromkeys(launches):
        kernel = program.functions[name]
        shape = asked(block, grid, kernel)
        for narrow, simply in ways:
            what = f"{name} {block} {cpu.name} narrow={narrow} simply={simply}"
            made = replace(shape, narrow=narrow)
            try:
                if simply:
                    again, begun = begin(program, kernel, made)
                    text, _, context = emit_simply(again, begun, made, cpu.features, attributes(cpu))
                else:
                    text, _, context = emit(program, kernel, made, cpu.features, attributes(cpu))
            except Unsupported:
                continue
            yield what, text, context


class Scan:
    """What has been looked at. `open`: accesses that are not sure, and where; `wrong`: those that surely are
    too far."""

    def __init__(self) -> None:
        self.texts = self.checks = self.constant = 0
        self.open: dict[str, str] = {}
        self.wrong: list[str] = []

    def look(self, what: str, text: str, context: int) -> None:
        self.texts += 1
        made = Guarded(text, lambda _: 0, lambda wrong: self.wrong.append(f"{what}: {wrong}"), context)
        made.text(2, ends=True)
        self.checks += made.checks
        self.constant += made.constant
        for line in made.open:
            if not any(re.match(known, line) for known in WITHIN):
                self.open.setdefault(line, what)
