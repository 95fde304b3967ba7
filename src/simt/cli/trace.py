"""`simt trace`: what one warp executes, with its active lanes and its branch synchronisation stack."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from simt.cli.arguments import ARGUMENTS, as_shape, choose, ordered, parse_values, split_words
from simt.cli.display import aligned
from simt.cli.files import load
from simt.driver.device import Device
from simt.machine.device import DEFAULT, DEVICES

if TYPE_CHECKING:
    from simt.tools.trace import Efficiency, Operation, Step, Trace

_EPILOG = (
    """\b
Examples:
  simt trace examples/if_then_else.ptx balanced --grid 1 --block 32 \\
      x=range:f64:32 y=ones:f64:32 z=full:f64:32:7
  simt trace image.ptx blur --grid 64x64 --block 16x16 --warp 5:2 in=@in.npy out=zeros:f32:1024x1024

\b
Each line is an instruction of the warp: its line in the file, the mask of the lanes that execute it (the
lowest bit is lane 0), the lanes from 0 to 31, and what happens to the stack:
  push        the lanes part, or come into a loop, or call: the mask is pushed
  complement  the other lanes of the top entry run from here on
  pop         all lanes of the top entry are together again, but those that left: by exit, by a return or
              out of a loop around it
  join        some of them are together before all are
  switch      the schedule lets lanes run that the top entry is not for
At the end: how many of the lane slots of all instructions issued were active, for the whole and between
each push and its pop.

"""
    + ARGUMENTS
    + """
\b
Exit codes: 0 the kernel finished; 1 the PTX is in error, or the launch was refused or ended in a
fault (what was executed until then is shown); 2 wrong usage or an unreadable file; 3 an internal error;
130 interrupted.
"""
)
WIDTH, DEEPEST = 60, 10
_COLOURS = {"push": "yellow", "complement": "cyan", "pop": "green", "join": "magenta", "switch": "red"}


def _place(_context: click.Context, _option: click.Parameter, text: str) -> tuple[int, int]:
    """`CTA:WARP`, or `CTA` for its warp 0."""
    words = text.split(":")
    if not 1 <= len(words) <= 2 or not all(w.isdecimal() for w in words):
        raise click.UsageError(f"bad warp {text!r}: expected CTA:WARP, two numbers from 0")
    return int(words[0]), int(words[1]) if len(words) > 1 else 0


@click.command(epilog=_EPILOG, short_help="Show what a warp executes, lane by lane.")
@click.argument("file")
@click.argument("words", nargs=-1, metavar="[KERNEL] [NAME=VALUE]...")
@click.option("--grid", callback=as_shape, required=True, metavar="X[xYxZ]", help="CTAs of the grid.")
@click.option("--block", callback=as_shape, required=True, metavar="X[xYxZ]", help="Threads of a CTA.")
@click.option(
    "--warp", callback=_place, default="0:0", show_default=True, metavar="CTA:WARP",
    help="The warp to trace: number of the CTA in the grid, x fastest, and of the warp in the CTA.",
)  # fmt: skip
@click.option(
    "--limit", type=click.IntRange(0), default=1000, show_default=True, help="Show so many instructions."
)
@click.option("--format", "layout", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--link", multiple=True, metavar="FILE", help="Another PTX file, linked with the first.")
@click.option("--shared", default=0, metavar="BYTES", help="Dynamic shared memory of a CTA.")
@click.option(
    "--arch", help=f"The virtual device, sm_{min(DEVICES)} to sm_{max(DEVICES)} (default: {DEFAULT.name})."
)
@click.option("--memory", default="8GiB", show_default=True, help="Device memory.")
@click.option("--timeout", type=float, metavar="SECONDS", help="Stop a kernel that runs longer.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the random arguments.")
def trace(
    file: str, words: tuple[str, ...], grid: tuple[int, ...], block: tuple[int, ...], warp: tuple[int, int],
    limit: int, layout: str, link: tuple[str, ...], shared: int, arch: str | None, memory: str,
    timeout: float | None, seed: int,
) -> None:  # fmt: skip
    """Runs a kernel on the interpreter and shows every instruction that one of its warps executes.

    FILE may be - for standard input. KERNEL may be left out if the file has only one. What the kernel prints
    goes to standard error. With `--format json` there is an object a line: one for each instruction, and a
    summary.
    """
    from simt.tools.trace import Tracer  # the engine is loaded only for this

    name, pairs = split_words(words)
    values = parse_values(pairs, seed)
    device = Device(arch, "interpreter", memory, timeout=timeout)
    device.printf = _print_aside
    kernel = choose(load(device, (file, *link)), name)
    arguments = {k: device.array(v) if isinstance(v, np.ndarray) else v for k, v in values.items()}
    tracer = Tracer(kernel, grid, block, *warp, limit)
    try:
        tracer.run(ordered(kernel, arguments), shared)
    finally:
        if tracer.trace.whole.instructions:
            for line in _json(tracer.trace) if layout == "json" else _text(tracer.trace):
                click.echo(line)


def _print_aside(text: str) -> None:
    click.echo(text, nl=False, err=True)


# ------------------------------------------------------------------ JSON


def _json(found: Trace) -> Iterator[str]:
    for step in found.steps:
        yield json.dumps(
            {
                "function": step.function,
                "line": step.line,
                "text": step.text,
                "lanes": f"0x{step.lanes:08x}",
                "depth": step.depth,
                "stack": [_operation(o) for o in step.stack],
            }
        )
    entries = [
        {"line": line, "text": found.texts[line], **_figures(e)} for line, e in sorted(found.entries.items())
    ]
    whole = {"kernel": found.kernel, "cta": found.cta, "warp": found.warp, **_figures(found.whole)}
    yield json.dumps({"summary": {**whole, "shown": len(found.steps), "entries": entries}})


def _operation(operation: Operation) -> dict[str, Any]:
    return {
        "operation": operation.name,
        "mask": f"0x{operation.mask:08x}",
        "depth": operation.depth,
        "line": operation.line,
    }


def _figures(efficiency: Efficiency) -> dict[str, float]:
    return {
        "instructions": efficiency.instructions,
        "active": efficiency.lanes,
        "slots": efficiency.slots,
        "efficiency": efficiency.ratio,
    }


# ------------------------------------------------------------------ text


def _text(found: Trace) -> Iterator[str]:
    width = max((len(_indented(step)) for step in found.steps), default=0)
    head = f"{found.kernel}, CTA {found.cta}, warp {found.warp}"
    yield click.style(head, bold=True)
    yield from (_row(step, min(width, WIDTH)) for step in found.steps)
    more = found.whole.instructions - len(found.steps)
    if more:
        yield f"... {more:,} more instructions were executed; --limit {found.whole.instructions} shows all"
    yield ""
    yield f"{found.whole.instructions:,} instructions, {_share(found.whole)}"
    rows = [
        (f"  line {line}", _short(found.texts[line]), f"between push and pop {e.instructions:,}, {_share(e)}")
        for line, e in sorted(found.entries.items())
    ]
    yield from aligned(rows)


def _row(step: Step, width: int) -> str:
    lanes = "".join("#" if step.lanes >> lane & 1 else "." for lane in range(32))
    stack = ", ".join(click.style(f"{o.name} {o.mask:08x}", fg=_COLOURS[o.name]) for o in step.stack)
    return f"{step.line:5}  {step.lanes:08x}  {lanes}  {_indented(step):{width}}  {stack}".rstrip()


def _indented(step: Step) -> str:
    """By the entries on the stack, in deep recursions only so far."""
    return _short("  " * min(step.depth, DEEPEST) + step.text)


def _short(text: str) -> str:
    return text if len(text) <= WIDTH else text[: WIDTH - 3] + "..."


def _share(efficiency: Efficiency) -> str:
    return f"{efficiency.lanes:,} of {efficiency.slots:,} lane slots active: {100 * efficiency.ratio:.1f} %"
