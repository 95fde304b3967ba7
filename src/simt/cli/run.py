"""`simt run`: one launch of a kernel, its arguments made from the command line."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from simt.cli.arguments import ARGUMENTS, as_shape, choose, ordered, parse_values, split_words
from simt.cli.explain import explanation, in_full
from simt.cli.files import load
from simt.diagnostics import counted
from simt.driver.array import DeviceArray
from simt.driver.device import Device
from simt.driver.engines import APPROXIMATIONS, ENGINES, Drafts, allowed_drafts
from simt.driver.kernel import Kernel, Progress
from simt.driver.module import Module
from simt.machine.device import DEFAULT, DEVICES
from simt.records import dataclass

_EPILOG = (
    """\b
Examples:
  simt run saxpy.ptx --grid 4096 --block 256 n=1048576 a=2.0 \\
      x=rand:f32:1048576 y=zeros:f32:1048576 --save y=out.npy
  simt run image.ptx blur --grid 64x64 --block 16x16 in=@in.npy out=zeros:f32:1024x1024 --print out

"""
    + ARGUMENTS
    + """
\b
Exit codes: 0 the kernel finished; 1 the PTX is in error, or the launch was refused or ended in a
fault; 2 wrong usage or an unreadable file; 3 an internal error; 130 interrupted.
"""
)


@dataclass
class Options:
    """What the command line says besides the file and the arguments."""

    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared: int
    cooperative: bool
    repeat: int
    save: tuple[str, ...]
    show: tuple[str, ...]
    explain: bool


@click.command(epilog=_EPILOG, short_help="Run a kernel of a PTX file.")
@click.argument("file")
@click.argument("words", nargs=-1, metavar="[KERNEL] [NAME=VALUE]...")
@click.option("--grid", callback=as_shape, required=True, metavar="X[xYxZ]", help="CTAs of the grid.")
@click.option("--block", callback=as_shape, required=True, metavar="X[xYxZ]", help="Threads of a CTA.")
@click.option("--link", multiple=True, metavar="FILE", help="Another PTX file, linked with the first.")
@click.option("--shared", default=0, metavar="BYTES", help="Dynamic shared memory of a CTA.")
@click.option("--cooperative", is_flag=True, help="All CTAs run at once, for barriers of the whole grid.")
@click.option(
    "--save", multiple=True, metavar="NAME=FILE.npy", help="Write an argument or variable to a file."
)
@click.option("--print", "show", multiple=True, metavar="NAME", help="Print an argument or variable.")
@click.option(
    "--explain", is_flag=True, help="Say first what the JIT makes of the kernel, as `simt explain`."
)
@click.option(
    "--arch", help=f"The virtual device, sm_{min(DEVICES)} to sm_{max(DEVICES)} (default: {DEFAULT.name})."
)
@click.option("--engine", type=click.Choice(list(ENGINES)), help="Default: SIMT_ENGINE, else jit.")
@click.option(
    "--cpu", help="The CPU that the JIT makes code for, as x86-64-v3. Default: SIMT_CPU, else this one."
)
@click.option(
    "--approx", type=click.Choice(APPROXIMATIONS),
    help="Approximate functions with an H200's bits, or fast. Default: SIMT_APPROX, else fast.",
)  # fmt: skip
@click.option(
    "--fmad/--no-fmad", default=True,
    help="Fuse products and sums that name no rounding, as ptxas does. Default: --fmad.",
)  # fmt: skip
@click.option("--workers", type=int, help="Native threads. Default: SIMT_WORKERS, else one for each CPU.")
@click.option("--memory", default="8GiB", show_default=True, help="Device memory.")
@click.option("--timeout", type=float, metavar="SECONDS", help="Stop a kernel that runs longer.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the random arguments.")
@click.option("--repeat", type=click.IntRange(1), default=1, show_default=True, help="Launch so many times.")
def run(
    file: str, words: tuple[str, ...], link: tuple[str, ...], arch: str | None, engine: str | None,
    cpu: str | None, approx: str | None, fmad: bool, workers: int | None, memory: str, timeout: float | None,
    seed: int, **rest: Any,
) -> None:  # fmt: skip
    """Runs a kernel of a PTX file (- for standard input). KERNEL may be left out if the file has only one.

    What happened goes to standard error. Standard output has what the kernel prints, --print and --explain.
    """
    options = Options(**rest)
    name, pairs = split_words(words)
    values = parse_values(pairs, seed)
    device = Device(arch, engine, memory, workers, timeout, cpu, approx, fmad)
    if options.repeat == 1:
        device.drafts = allowed_drafts(Drafts.ALL)
    started = time.perf_counter()
    module = load(device, (file, *link))
    kernel = choose(module, name)
    loaded = time.perf_counter() - started
    arguments = {k: device.array(v) if isinstance(v, np.ndarray) else v for k, v in values.items()}
    outputs = _outputs(module, arguments, options)
    if options.explain:
        click.echo(_explained(kernel, options))
    times = _launch(kernel, ordered(kernel, arguments), options)
    click.echo(_summary(kernel, options, loaded, times), err=True)
    _write(outputs, options)


def _explained(kernel: Kernel, options: Options) -> str:
    text = in_full(explanation(kernel, options.block))
    engine = kernel.module.device.engine_name
    return text if engine == "jit" else f"{text}\n  This is what the JIT would do; the {engine} runs it now."


# ------------------------------------------------------------------ launching


def _launch(kernel: Kernel, arguments: list[Any], options: Options) -> list[float]:
    """Seconds of each launch. The first includes compiling."""
    times: list[float] = []
    with _progress(kernel.name, math.prod(options.grid) * options.repeat) as advance:
        for n in range(options.repeat):
            done = n * math.prod(options.grid)
            started = time.perf_counter()
            kernel.launch(
                options.grid, options.block, arguments, options.shared,
                progress=advance and (lambda ctas, done=done: advance(done + ctas)),
                cooperative=options.cooperative,
            )  # fmt: skip
            times.append(time.perf_counter() - started)
    return times


@contextmanager
def _progress(name: str, total: int) -> Generator[Progress | None]:
    """A progress bar on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=total)
        yield lambda ctas: bar.update(task, completed=ctas)


def _summary(kernel: Kernel, options: Options, loaded: float, times: Sequence[float]) -> str:
    device = kernel.module.device
    threads = math.prod(options.grid) * math.prod(options.block)
    best = f", best of {len(times)}" if len(times) > 1 else ""
    events = kernel.last_launch.pm_events if kernel.last_launch is not None else ()
    triggered = "".join(
        f"\n  pmevent {n}: {counted(count, 'warp', ',')}" for n, count in enumerate(events) if count
    )
    return (
        f"{kernel.name}: grid {_extents(options.grid)}, block {_extents(options.block)}, "
        f"{counted(threads, 'thread', ',')} on {device.name} ({_engine(kernel)}): "
        f"{_seconds(min(times))}{best} (load {_seconds(loaded)}){triggered}"
    )


def _engine(kernel: Kernel) -> str:
    """The engine that ran the kernel, and why if it is not the one that was asked for."""
    device = kernel.module.device
    reasons: dict[str, str] = getattr(device.engine, "reasons", {})
    if kernel.name not in reasons:
        return device.engine_name
    return f"interpreted, because the JIT does not compile {reasons[kernel.name]}"


def _extents(shape: Sequence[int]) -> str:
    return "x".join(str(n) for n in shape)


def _seconds(t: float) -> str:
    return f"{t:.2f} s" if t >= 1 else f"{t * 1e3:.2f} ms"


# ------------------------------------------------------------------ results


def _outputs(module: Module, arguments: dict[str, Any], options: Options) -> dict[str, DeviceArray]:
    """The arrays that --save and --print name: arguments, else module variables."""
    names = [_save_target(s)[0] for s in options.save] + list(options.show)
    return {name: _output(module, arguments, name) for name in names}


def _output(module: Module, arguments: dict[str, Any], name: str) -> DeviceArray:
    found = arguments.get(name)
    if isinstance(found, DeviceArray):
        return found
    if name in module.symbols:
        return module.symbol(name)
    arrays = [n for n, a in arguments.items() if isinstance(a, DeviceArray)] + list(module.symbols)
    raise click.UsageError(f"no array {name!r} to save or print: expected one of {', '.join(arrays)}")


def _save_target(text: str) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    if not (equals and name and path):
        raise click.UsageError(f"--save {text!r}: expected NAME=FILE.npy")
    if not Path(path).parent.is_dir():  # said before a long run, not after it
        raise click.UsageError(f"cannot write {path!r}: No such file or directory")
    return name, path


def _write(outputs: dict[str, DeviceArray], options: Options) -> None:
    for name, path in map(_save_target, options.save):
        _save(outputs[name].numpy(), path)
    for name in options.show:
        values = outputs[name].numpy()
        text = np.array2string(values, separator=", ", prefix=f"{name} = ")
        click.echo(f"{name} = {text}  ({values.dtype}, {_extents(values.shape) or 'scalar'})")


def _save(values: NDArray[Any], path: str) -> None:
    try:
        with open(path, "wb") as file:
            np.save(file, values)
    except OSError as problem:
        raise click.UsageError(f"cannot write {path!r}: {problem.strerror}") from None
