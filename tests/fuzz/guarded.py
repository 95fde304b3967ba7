"""Code of the JIT that looks after its own memory: `python -m tests.fuzz.guarded survey [NAME...]`.

Every access to what a function has on its stack is checked, words around such memory and around what the
engine allocates must stay as they are: see `tests.fuzz.guarding` and `tests.fuzz.guarded_memory`. The
program's own accesses are not what this is about.

`survey`, `suite`: the kernels of the benchmarks, at small sizes, each in a process of its own, results
compared. `texts [NAME...]`: the code of the survey's kernels for several CPUs, not run: all accesses must be
within such memory by the lines that make their addresses. `pytest ARGUMENT...`, `run MODULE ARGUMENT...`:
tests, or another fuzzer. Nothing is kept in the cache. Exit code 1 if anything was wrong.
"""

from __future__ import annotations

import os
import re
import runpy
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "bench"))

from suite.problem import Extents  # noqa: E402

import simt  # noqa: E402
from simt.analysis import joined  # noqa: E402
from simt.engine import compile as compiling  # noqa: E402
from simt.engine import jit  # noqa: E402
from simt.engine.cache import ObjectCache  # noqa: E402
from simt.engine.host import HABITS, SLOW_GATHERS, Cpu  # noqa: E402
from simt.records import replace  # noqa: E402
from tests.fuzz.guard_texts import Scan, cpus, texts  # noqa: E402
from tests.fuzz.guarded_memory import Guards, put  # noqa: E402
from tests.fuzz.guarding import Guarded  # noqa: E402

LIMIT_SECONDS = 120
WIDE = "GUARDED_WIDE"
"""In the environment: code is for grids of any size, as it would be for large problems."""
HABITS_OF = "GUARDED_HABITS"
"""In the environment: what is known of the CPU's habits (`simt.engine.host`), in place of what is."""
_REPORT = re.compile(r"guard (\d+): (-?\d+) of (\d+) (\d+)")


class Watch:
    """Checks all code that this process makes. `ends`: the process ends where compiled code fails."""

    def __init__(self, *, ends: bool) -> None:
        self._ends = ends
        self._names: list[str] = []
        self._file, self.path = tempfile.mkstemp(prefix="guarded.")
        self.modules = self.checks = self.guards = self.constant = 0
        self.memory = Guards(self.fails)

    def install(self) -> None:
        parsed = compiling._parsed

        def checked(text: str, cpu: Any, level: int) -> tuple[Any, Any]:
            return parsed(self._checked(text), cpu, level)

        put(compiling, _parsed=checked)
        put(ObjectCache, load=lambda self, key: None, store=lambda self, key, header, image: None)
        if (habits := os.environ.get(HABITS_OF)) is not None:
            find = jit.find_cpu
            put(jit, find_cpu=lambda name: _with_habits(find(name), frozenset(habits.split())))
        if WIDE in os.environ:
            of_all = joined._asked
            put(joined, _asked=lambda *launch: replace(of_all(*launch), narrow=False))
        self.memory.install()

    def _checked(self, text: str) -> str:
        made = Guarded(text, self._note, self.fails)
        found = made.text(self._file, ends=self._ends)
        self.modules += 1
        self.checks += made.checks
        self.guards += made.guards
        self.constant += made.constant
        return found

    def _note(self, what: str) -> int:
        self._names.append(what)
        os.write(self._file, f"name {len(self._names)}: {what}\n".encode())
        return len(self._names)

    def fails(self, what: str) -> None:
        os.write(self._file, f"wrong {what}\n".encode())

    def found(self) -> list[str]:
        """All that was wrong, each once."""
        text = Path(self.path).read_text()
        names = dict(re.findall(r"^name (\d+): (.*)$", text, re.MULTILINE))
        wrong = re.findall(r"^wrong (.*)$", text, re.MULTILINE)
        for number, at, size, count in _REPORT.findall(text):
            wrong.append(f"{names.get(number, '?')}: {count} bytes at {at} of {size}")
        return list(dict.fromkeys(wrong))

    def told(self) -> str:
        return (
            f"{self.modules} modules, {self.checks} checks, {self.constant} constant, "
            f"{self.guards} guards, {self.memory.looks} looks"
        )


def _with_habits(cpu: Cpu, habits: frozenset[str]) -> Cpu:
    return replace(cpu, features=cpu.features - HABITS - {SLOW_GATHERS} | habits)


def in_a_child(name: str, check: Callable[[], str]) -> bool:
    """Whether something was wrong with what a process of its own checks."""
    watch, start = Watch(ends=True), time.monotonic()
    child = os.fork()
    if child == 0:
        signal.alarm(LIMIT_SECONDS)
        try:
            watch.install()
            said = check()
            watch.memory.look()
            if said:
                watch.fails(said)
            os.write(1, f"{name}: {watch.told()}, {time.monotonic() - start:.1f} s\n".encode())
            os._exit(0)
        except BaseException as error:
            os.write(2, f"{name}: {type(error).__name__}: {error}\n".encode())
            os._exit(1)
    _, status = os.waitpid(child, 0)
    found = watch.found()
    os.unlink(watch.path)
    if found or status:
        print(f"{name}: WRONG, status {status}", *found[:8], sep="\n    ", flush=True)
    return bool(found or status)


def of_survey(name: str) -> str:
    """What is wrong with a kernel's results."""
    from suite.versions import Native, Virtual
    from survey.catalogue import CASES

    case = CASES[name]
    problem = case.problem("quick")
    native = Native(problem, case.compiled())
    native.run()
    answer = {name: native.array(name) for name in problem.native or problem.arrays}
    virtual = Virtual(case, problem, workers=1, arch=f"sm_{max(case.arch, 90)}")
    virtual.run()
    return problem.wrong(answer, virtual.array)


def of_suite(name: str) -> str:
    from suite.catalogue import ENTRIES
    from suite.versions import Virtual

    entry = next(e for e in ENTRIES if e.name == name)
    problem = entry.problem("quick")
    virtual = Virtual(entry, problem, workers=1)
    virtual.run()
    return problem.wrong(problem.expected(), virtual.array)


def look_at_texts(names: list[str]) -> int:
    """How many accesses are not sure."""
    from survey.catalogue import CASES

    scan = Scan()
    for name in names or CASES:
        case = CASES[name]
        launches = [
            (one.kernel, _three(one.grid), _three(one.block)) for one in case.problem("quick").launches
        ]
        module = simt.Device("sm_90").load(case.ptx)
        for cpu in cpus():
            for what, text, context in texts(module, launches, cpu):
                scan.look(f"{name}: {what}", text, context)
    print(f"{scan.texts} texts, {scan.checks} accesses, {scan.constant} at constant places")
    print(*scan.wrong, *(f"{line} | {what}" for line, what in scan.open.items()), sep="\n")
    return len(scan.wrong) + len(scan.open)


def _three(extents: Extents) -> tuple[int, int, int]:
    x, y, z = (*([extents] if isinstance(extents, int) else extents), 1, 1)[:3]
    return int(x), int(y), int(z)


def main(arguments: list[str]) -> int:
    what, *names = arguments or ["survey"]
    if what in ("survey", "suite"):
        from suite.catalogue import ENTRIES
        from survey.catalogue import CASES

        check = of_survey if what == "survey" else of_suite
        every = [*CASES] if what == "survey" else [entry.name for entry in ENTRIES]
        return min(1, sum([in_a_child(name, lambda name=name: check(name)) for name in names or every]))
    if what == "texts":
        return min(1, look_at_texts(names))
    watch = Watch(ends=False)
    watch.install()
    if what == "pytest":
        import pytest

        code = int(pytest.main(names))
    else:
        module, *sys.argv[1:] = names
        code = 0
        try:
            runpy.run_module(module, run_name="__main__")
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    watch.memory.look()
    print(watch.told())
    print(*watch.found(), sep="\n")
    return 1 if watch.found() else code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
