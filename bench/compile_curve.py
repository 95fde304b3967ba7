"""How compile time grows.

`python bench/compile_curve.py [SHAPE...] [--sizes 1000,5000,20000] [--files] [--again] [--cpu NAME] [--well]`

Every program of `curve_shapes.py` (with `--files` also every PTX file of the tests) is parsed, verified and
compiled in a process of its own, with an empty cache. The table holds processor seconds of each phase;
`start` is what Python needs before it imports simt, and no part of the total; `import` is part of it. It is
what a first, short launch waits for: long code is a draft then (`simt.engine.drafts`); beside it stands the
time for the same code made as well as LLVM can, which `--well` shows alone. Without
arguments everything is run, for this machine's own CPU, and written to bench/compile_curve.json. `--again`,
for machines whose speed others change: runs are added to those in that file, of which each row is the
shortest.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "compile_curve.json"
SIZES = (1000, 5000, 20_000)
PHASES = (
    "start", "import", "parse", "verify", "lower", "ssa", "uniform", "emit",
    "llvm-ir", "passes", "code", "link",
)  # fmt: skip
LIMIT_SECONDS = 120
BLOCK = 256
"""Threads of a CTA for which kernels are compiled."""


class Clock:
    """Processor seconds by phase; a phase within another one counts for itself only."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = dict.fromkeys(PHASES, 0.0)
        self.running: list[str] = []
        self.last = 0.0

    def _lap(self) -> None:
        now = time.process_time()
        if self.running:
            self.seconds[self.running[-1]] += now - self.last
        self.last = now

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        self._lap()
        self.running.append(name)
        try:
            yield
        finally:
            self._lap()
            self.running.pop()

    def watch(self, owner: Any, name: str, phase: str) -> None:
        """Counts every call of `owner.name` as a phase."""
        function: Callable[..., Any] = getattr(owner, name)

        def timed(*arguments: Any, **options: Any) -> Any:
            with self.phase(phase):
                return function(*arguments, **options)

        setattr(owner, name, timed)


def measure(text: bytes, cache: Path, cpu: str, warps: int) -> dict[str, Any]:
    """Seconds of each phase for all kernels of a module, in this process, for a launch of so many warps: long
    code may be a draft then (0: it may not)."""
    clock = Clock()
    clock.seconds["start"] = time.process_time()
    from simt.collector import collector_spared

    with clock.phase("import"), collector_spared():  # as `simt.Device` imports
        from llvmlite import binding

        from simt.analysis import lower
        from simt.analysis.shape import BlockShape
        from simt.engine import compile as compiling
        from simt.engine import llvm_begun, llvm_kernel, llvm_slots
        from simt.engine.cache import ObjectCache
        from simt.engine.compiler import Compiler
        from simt.engine.drafts import Extent
        from simt.engine.host import find_cpu
        from simt.engine.unsupported import Unsupported
        from simt.ptx.parser import parse
        from simt.verify import verify

    for name, phase in (("schedule", "ssa"), ("build", "ssa"), ("settle", "uniform")):
        clock.watch(llvm_slots, name, phase)
    for name in ("schedule", "build"):
        clock.watch(llvm_begun, name, "ssa")
    for name in ("begin", "emit", "emit_simply"):
        clock.watch(llvm_kernel, name, "emit")
    clock.watch(binding, "parse_assembly", "llvm-ir")
    clock.watch(compiling, "optimized", "passes")
    clock.watch(compiling, "_run_passes", "passes")
    clock.watch(binding.TargetMachine, "emit_object", "code")
    clock.watch(Compiler, "_link", "link")
    with clock.phase("parse"):
        tree, found = parse(text, "<curve>")
    with clock.phase("verify"):
        errors = [*found.errors, *(verify(tree) if tree is not None else ())]
    if tree is None or any(d.severity.name == "ERROR" for d in errors):
        return {"error": errors[0].render()}
    with clock.phase("lower"):
        program = lower.lower(tree)
    compiler = Compiler(ObjectCache(cache), find_cpu(cpu))
    unsupported, drafts = list[str](), 0
    for kernel in program.kernels:
        try:
            shape = BlockShape(BLOCK, 1, 1, narrow=True)
            made = compiler.compile(program, program.functions[kernel], shape, Extent(warps, warps))
            drafts += made.draft is not None
        except Unsupported as reason:
            unsupported.append(f"{kernel}: {reason}")
    total = sum(seconds for phase, seconds in clock.seconds.items() if phase != "start")
    seconds = {phase: round(s, 3) for phase, s in clock.seconds.items()}
    ops = sum(len(b.ops) + 1 for f in program.functions.values() for b in f.blocks)
    return {
        "seconds": seconds,
        "total": round(total, 3),
        "instructions": ops,
        "unsupported": unsupported,
        "drafts": drafts,
    }


def in_child(text: str, cpu: str = "host", warps: int = 1) -> dict[str, Any]:
    """`measure` in a fresh process."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--child", folder, "--cpu", cpu]
        command += [] if warps else ["--well"]
        try:
            done = subprocess.run(
                command, input=text.encode(), capture_output=True, timeout=LIMIT_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return {"error": f"more than {LIMIT_SECONDS} s"}
    if done.returncode != 0:
        return {"error": f"exit status {done.returncode}: {done.stderr.decode()[-300:]}"}
    return json.loads(done.stdout)


def heading() -> str:
    return f"{'program':32}{'instr.':>8}{'total':>8}" + "".join(f"{p:>8}" for p in PHASES)


def row(name: str, found: dict[str, Any]) -> str:
    if "error" in found:
        return f"{name:32}{found['error'].strip().splitlines()[-1]:>16}"
    times = "".join(f"{found['seconds'][p]:8.2f}" for p in PHASES)
    note = f"  interpreted: {found['unsupported'][0]}" if found["unsupported"] else ""
    note += f"  a draft; well made {found['total_well']:.2f}" if found.get("total_well") else ""
    return f"{name:32}{found['instructions']:8}{found['total']:8.2f}{times}{note}"


def programs(names: list[str], sizes: list[int], files: bool) -> Iterator[tuple[str, int, str]]:
    from curve_shapes import SHAPES

    unknown = [name for name in names if name not in SHAPES]
    if unknown:
        sys.exit(f"error: no shape {', '.join(unknown)}: expected some of {', '.join(SHAPES)}")
    for name in names or SHAPES:
        for size in sizes:
            yield name, size, SHAPES[name](size)
    if files:
        tests = HERE.parent / "tests"
        found = [
            *tests.glob("programs/*.ptx"),
            *tests.glob("oracle/ptx/*.ptx"),
            *HERE.glob("suite/kernels/*/*.ptx"),
        ]
        for path in sorted(found):
            yield str(path.relative_to(HERE.parent)), 0, path.read_text()


def write(rows: list[dict[str, Any]]) -> None:
    from timing import processor

    found = {"date": time.strftime("%Y-%m-%d"), "processor": processor(), "rows": rows}
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")


def add(rows: list[dict[str, Any]]) -> None:
    """Writes rows in place of those of the same program and size that took longer, with the runs of each."""
    from timing import processor

    before = json.loads(RESULTS.read_text())
    if before["processor"] != processor():
        sys.exit(f"error: {RESULTS.name} is of another processor, {before['processor']}")
    kept = {(row["program"], row["size"]): row for row in before["rows"]}
    for row in rows:
        key = row["program"], row["size"]
        runs = kept[key].get("runs", 1) + 1 if key in kept else 1
        shortest = min(kept.get(key, row), row, key=lambda r: r.get("total", LIMIT_SECONDS))
        kept[key] = {**shortest, "runs": runs}
    write([*kept.values()])


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("shapes", nargs="*", metavar="SHAPE")
    arguments.add_argument("--sizes", default=",".join(map(str, SIZES)), help="instructions, by commas")
    arguments.add_argument(
        "--files", action="store_true", help="the PTX files of the tests and the suite, too"
    )
    arguments.add_argument("--again", action="store_true", help="one run more of what compile_curve.json has")
    arguments.add_argument("--cpu", default="host", help="that code is made for, as SIMT_CPU (%(default)s)")
    arguments.add_argument(
        "--well", action="store_true", help="as code that has run for a while is made: no drafts"
    )
    arguments.add_argument("--child", metavar="CACHE", help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.again and given.cpu != "host":
        arguments.error("--again is for this machine's own CPU: expected no --cpu")
    if given.child:
        text, warps = sys.stdin.buffer.read(), 0 if given.well else 1
        print(json.dumps(measure(text, Path(given.child), given.cpu, warps)))
        return
    rows: list[dict[str, Any]] = []
    print(heading(), flush=True)
    for name, size, text in programs(given.shapes, [int(s) for s in given.sizes.split(",")], given.files):
        found = in_child(text, given.cpu, warps=0 if given.well else 1)
        if found.get("drafts") and not given.well:
            found["total_well"] = in_child(text, given.cpu, warps=0).get("total")
        rows.append({"program": name, "size": size, **found})
        print(row(name, found), flush=True)
    if given.again:
        add(rows)
    elif given == arguments.parse_args([]):
        write(rows)


if __name__ == "__main__":
    main()
