"""`simt explain`, and `simt run --explain`: what the JIT makes of a kernel, in terms of its PTX."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from simt.analysis.joined import MANY, asked
from simt.analysis.shape import WARP, BlockShape
from simt.cli.display import aligned
from simt.cli.files import load, shown
from simt.cli.values import parse_shape
from simt.diagnostics import counted
from simt.driver.device import Device
from simt.errors import LaunchError, brief
from simt.machine.device import DEFAULT, DEVICES
from simt.machine.grid import as_dim3, check_shape

if TYPE_CHECKING:
    from simt.analysis.program import Function
    from simt.driver.kernel import Kernel
    from simt.tools.explain import (
        AccessNote,
        BarrierNote,
        BranchNote,
        Explanation,
        FunctionNotes,
        LoopNote,
        Place,
    )

_EPILOG = """\b
Examples:
  simt explain saxpy.ptx --block 256
  simt explain image.ptx blur --block 16x16 --registers
  simt explain kernels.ptx --block 128 --format json

\b
docs/performance.md says what the words mean and what to do about them.

\b
Exit codes: 0 explained; 1 the PTX is in error, or the block does not fit the kernel; 2 wrong usage or an
unreadable file; 3 an internal error.
"""

USUAL_THREADS = 256
"""Of a CTA, where neither user nor kernel say how many."""


@click.command(epilog=_EPILOG, short_help="Explain what makes a kernel fast or slow.")
@click.argument("file")
@click.argument("name", metavar="[KERNEL]", required=False)
@click.option(
    "--block",
    metavar="X[xYxZ]",
    help="Threads of a CTA. Default: what .reqntid or .maxntid say, at most 256.",
)
@click.option(
    "--arch", help=f"The virtual device, sm_{min(DEVICES)} to sm_{max(DEVICES)} (default: {DEFAULT.name})."
)
@click.option("--registers", is_flag=True, help="List the registers of each shape.")
@click.option("--format", "layout", type=click.Choice(["text", "json"]), default="text", show_default=True)
def explain(
    file: str, name: str | None, block: str | None, arch: str | None, registers: bool, layout: str
) -> None:
    """Explains what the JIT makes of a kernel (of all kernels of the file, if none is named).

    Which accesses are contiguous, uniform or gathers; which branches diverge; which loops lanes leave one by
    one; what barriers and calls cost; which registers are the same in all lanes; what only the interpreter
    runs, and why. Code is made for each shape of CTA, so the answer depends on --block. FILE may be - for
    standard input.
    """
    module = load(Device(arch, "jit", "64MiB"), [file])
    kernels = [module[name]] if name is not None else [module[k] for k in module.kernels]
    if not kernels:
        raise click.UsageError(f"{shown(file)} has no kernel")
    shape = None if block is None else parse_shape(block)
    able = kernels if name is not None else [k for k in kernels if not k.unsupported]
    for kernel in (k for k in kernels if k not in able):
        click.echo(f"{kernel.name} cannot be launched: simt does not run {kernel.unsupported[0]}", err=True)
    found = [explanation(kernel, shape) for kernel in able]
    if layout == "json":
        click.echo(json.dumps([as_json(e) for e in found], indent=2))
    else:
        click.echo("\n\n".join(in_full(e, registers) for e in found))


def explanation(kernel: Kernel, block: Sequence[int] | None) -> Explanation:
    """What the JIT makes of a kernel. Raises `LaunchError` if it takes no CTAs of that shape, or cannot be
    launched at all."""
    from simt.tools.explain import explain as explain_function  # the engine is loaded only for this

    kernel.check_supported()
    program = kernel.module.program
    function = program.functions[kernel.name]
    shape = as_dim3(tuple(block or _usual_block(function)), "block")
    try:
        check_shape((1, 1, 1), shape, function, kernel.module.device.properties)
    except LaunchError as problem:
        raise LaunchError(f"kernel {brief(kernel.name)}: {problem}") from None
    return explain_function(program, function, asked(shape, (MANY, 1, 1), function), kernel.module.device.cpu)


def _usual_block(kernel: Function) -> tuple[int, ...]:
    if "reqntid" in kernel.limits:
        return kernel.limits["reqntid"]
    most = kernel.limits.get("maxntid", (USUAL_THREADS,))
    return most if math.prod(most) < USUAL_THREADS else (USUAL_THREADS,)


def as_json(found: Explanation) -> dict[str, Any]:
    """Every note, by the names of `simt.tools.explain`; `row`: lanes of a warp's rows; `turned`: they
    go along y; `padded`: lanes of the CTA's rows, if some are idle, else 0; `joined`: CTAs side by side that
    are taken as one, else 1."""
    shape, block = found.block, dict(zip("xyz", _extents(found.block)))
    lanes = shape.x if shape.threads_of_row else 0
    about = {"turned": shape.turned, "padded": lanes, "joined": shape.ctas}
    return asdict(found) | {"block": block, "row": shape.segment} | about


def _extents(block: BlockShape) -> tuple[int, int, int]:
    """A CTA's, as who launches it says them."""
    x = block.columns
    return (block.y, x, block.z) if block.turned else (x, block.y, block.z)


# ------------------------------------------------------------------ text


def _filled_up(block: BlockShape) -> str:
    kind = "columns" if block.turned else "rows"
    return f"{kind} of {block.columns} threads filled up to {block.x} lanes"


def in_full(found: Explanation, registers: bool = False) -> str:
    """The explanation as lines of text."""
    extents = "x".join(map(str, _extents(found.block))).removesuffix("x1")
    head = click.style(f"{found.kernel}, block {extents.removesuffix('x1')}: ", bold=True)
    if found.reason is not None:
        at = found.reason_at
        where = f"\n  line {at.line}  {at.text}" if at and at.line else ""
        return f"{head}interpreted, because the JIT does not compile {found.reason}{where}"
    lanes, kind = WARP // found.block.segments, "columns" if found.block.turned else "rows"
    rows = f", in {kind} of {lanes} lanes" if found.block.segments > 1 or found.block.turned else ""
    rows = f", {_filled_up(found.block)}" if found.block.threads_of_row else rows
    of = f"for {found.block.ctas} CTAs side by side" if found.block.joins else f"a CTA{rows}"
    lines = [f"{head}machine code for {counted(found.block.warps, 'warp')} {of}"]
    for i, function in enumerate(found.functions):
        lines += [click.style(f"function {function.name}", bold=True)] if i else []
        lines += _function(function, registers, inner=bool(i))
    return "\n".join(lines)


def _function(notes: FunctionNotes, registers: bool, inner: bool) -> list[str]:
    """The sections of a function; of a called one only those that have something to say."""
    branches = Counter(_BRANCH[b.divergent] for b in notes.branches)
    branches.update({"decided": len(notes.decided)} if notes.decided else {})
    branches.update({"chosen": len(notes.chosen)} if notes.chosen else {})
    shapes = {kind: len(names) for kind, names in notes.registers.items() if names}
    sections = [
        ("memory", _kinds(notes), _accesses(notes)),
        ("branches", _counted(branches), _placed(_branches(notes))),
        (
            "loops",
            "",
            list(aligned([(f"lines {x.first_line} to {x.last_line}", _loop(x)) for x in notes.loops])),
        ),
        ("barriers", _context(notes), _placed((b.place, _barrier(b)) for b in notes.barriers)),
        (
            "calls",
            ", ".join(f"{f} inlined" for f in notes.inlined),
            _placed((c.place, _CALL[c.kind]) for c in notes.calls),
        ),
        ("registers", _counted(shapes), _registers(notes) if registers else []),
        *(
            [("not run", "no thread comes there", _placed((p, "") for p in notes.unreached))]
            * bool(notes.unreached)
        ),
    ]
    return [line for section in sections for line in _section(*section) if not inner or any(section[1:])]


def _section(title: str, total: str, rows: Sequence[str]) -> list[str]:
    said = total or ("" if rows else "none")
    return [f"  {click.style(title + ':', bold=True)} {said}".rstrip(), *(f"    {row}" for row in rows)]


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {kind}" for kind, n in counts.items())


def _placed(notes: Iterable[tuple[Place, str]]) -> list[str]:
    return list(aligned([(f"line {place.line}", place.text, said) for place, said in notes]))


# ------------------------------------------------------------------ memory


def _kinds(notes: FunctionNotes) -> str:
    counts = Counter(_KINDS[a.pattern] for a in notes.accesses if not a.parameter)
    parameters = sum(a.parameter for a in notes.accesses)
    if parameters:
        counts["parameter" if parameters == 1 else "parameters"] = parameters
    return _counted(counts)


def _accesses(notes: FunctionNotes) -> list[str]:
    shown = [a for a in notes.accesses if not a.parameter]
    known = {a: f"{a.stride} bytes apart" if a.pattern == "strided" else _KINDS[a.pattern] for a in shown}
    ways = {a: _way(a) + (", no check" if a.proven else "") for a in shown}
    return list(aligned([(f"line {a.place.line}", a.place.text, known[a], ways[a]) for a in shown]))


def _way(access: AccessNote) -> str:
    if access.way is None:
        return "atomic"
    what = access.operation
    if access.way == "one":
        row = " a row" if access.pattern == "per row" else ""
        if access.otherwise is not None:
            return f"one scalar load; {_APART[what, access.otherwise]} if lanes are in several rows (tested)"
        return f"one scalar {what}{row}" + (", the last lane's" if what == "store" else "")
    if access.way == "steps" and what == "load":
        way = "one vector load, backwards" if access.stride == -access.bytes else "a load for each lane"
        apart = _APART[what, access.otherwise or "lanes"]
        return way if access.proven else f"{way}; {apart} if the index wraps (tested)"
    if access.way == "near" and access.proven and what == "load":
        return "a vector for each few lanes"
    if access.way != "vector":
        return _APART[what, access.way]
    if access.otherwise is None:
        return f"one vector {what}"
    apart = _APART[what, access.otherwise]
    if access.pattern == "contiguous":
        return f"one vector {what}; {apart} if the index wraps (tested)"
    return f"{apart}; one vector {what} if they turn out contiguous (tested)"


_APART = {
    ("load", "lanes"): "a gather",
    ("store", "lanes"): "a scatter",
    ("load", "steps"): "a load for each lane",
    ("store", "steps"): "a store for each lane; a scatter if not all run (tested)",
    ("load", "near"): "a vector for each few lanes; a gather if the index wraps (tested)",
    ("store", "near"): "a vector for each few lanes; a scatter if not all run (tested)",
    ("load", "spread"): "a vector for each few lanes if they lie as guessed (tested)",
    ("load", "turns"): "loads lane by lane",
    ("store", "turns"): "stores lane by lane",
    ("load", "window"): "a gather; look-ups in registers if they turn out close together (tested)",
    ("store", "window"): "a scatter; vectors if they turn out contiguous or pairs (tested)",
}
_KINDS = {
    "uniform": "uniform",
    "per row": "uniform in a row",
    "contiguous": "contiguous",
    "strided": "strided",
    "unknown": "unknown",
    "private": "local",
}

# ------------------------------------------------------------------ control flow

_BRANCH = {False: "uniform", True: "divergent"}
_CALL = {
    "compiled": "not inlined: a function for 32 lanes",
    "indirect": "not inlined: every function that it may reach, for the lanes that call it",
    "system": "of the device: goes through Python",
    "texture": "a function for the kind of texture that is bound, for the lanes that read it",
}


def _branches(notes: FunctionNotes) -> list[tuple[Place, str]]:
    found = [(branch.place, _branch(branch)) for branch in notes.branches]
    found += [(place, "decided by the CTA's size") for place in notes.decided]
    found += [(place, "a choice: both ways are computed") for place in notes.chosen]
    return sorted(found, key=lambda note: note[0].line)


def _branch(branch: BranchNote) -> str:
    word = _BRANCH[branch.divergent]
    if len(branch.causes) == 1:
        return f"{word}, by line {branch.causes[0].line}: {branch.causes[0].text}"
    lines = ", ".join(str(place.line) for place in branch.causes)
    more = " ..." if branch.may_have_more else ""
    return f"{word}, by lines {lines}{more}" if lines else word


def _loop(loop: LoopNote) -> str:
    end = "the last few lanes go on one by one" if loop.alone else "runs until its last lane leaves"
    said = f"left by degrees: {end}" if loop.by_degrees else "all lanes leave together"
    return said + ("; waits for other threads, so others run in between" if loop.waits else "")


def _barrier(barrier: BarrierNote) -> str:
    if not barrier.suspends:
        return "no thread waits"
    when = "after each turn of this loop, " if barrier.turn else ""
    said = f"{when}warps make way for each other, each keeps {counted(barrier.kept, 'value')}"
    return said + ("; parts of a warp may come at different times" if barrier.parts else "")


def _context(notes: FunctionNotes) -> str:
    return f"a waiting warp keeps up to {notes.context} bytes" if notes.context else ""


def _registers(notes: FunctionNotes) -> list[str]:
    return list(aligned([(kind, " ".join(names)) for kind, names in notes.registers.items() if names]))
