"""`simt kernels`: the kernels of PTX files, their parameters, and which of them can be launched."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click

from simt.cli.display import aligned
from simt.cli.files import load
from simt.diagnostics import counted
from simt.driver.device import Device
from simt.driver.kernel import Kernel
from simt.errors import brief
from simt.machine.device import DEFAULT, DEVICES

_EPILOG = """\b
Examples:
  simt kernels kernels.ptx
  simt kernels main.ptx library.ptx      linked with each other
  simt kernels kernels.ptx --format json
  nvcc -ptx -o - k.cu | simt kernels -

\b
Exit codes: 0 listed, be they fit for a launch or not; 1 the PTX is in error; 2 wrong usage or an
unreadable file; 3 an internal error.
"""
_HEADINGS = ("kernel", "parameters", "shared", "launch")


@click.command(epilog=_EPILOG, short_help="List the kernels of PTX files.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--arch", help=f"The virtual device, sm_{min(DEVICES)} to sm_{max(DEVICES)} (default: {DEFAULT.name})."
)
@click.option("--format", "layout", type=click.Choice(["text", "json"]), default="text", show_default=True)
def kernels(files: tuple[str, ...], arch: str | None, layout: str) -> None:
    """Lists the kernels of a PTX file (of several, linked): name, parameters, bytes of static shared memory,
    and whether they can be launched, or why not: an instruction that simt knows but does not run, or a
    function that nobody defines.

    FILE may be - for standard input.
    """
    module = load(Device(arch, "jit", "64MiB"), files)
    found = [module[name] for name in module.kernels]
    if layout == "json":
        click.echo(json.dumps([as_json(k) for k in found], indent=2))
    else:
        _print(found)


def as_json(kernel: Kernel) -> dict[str, Any]:
    """A kernel for programs."""
    return {
        "name": kernel.name,
        "parameters": [{"name": p.name, "type": p.type.name, "size": p.size} for p in kernel.params],
        "shared": kernel.shared_bytes,
        "obstacle": kernel.obstacle,
        "unsupported": kernel.unsupported,
    }


def _print(found: Sequence[Kernel]) -> None:
    obstacles = [k.obstacle for k in found]
    rows = [
        (k.name, _parameters(k), str(k.shared_bytes), "yes" if why is None else f"no: {_short(k, why)}")
        for k, why in zip(found, obstacles)
    ]
    click.echo("\n".join(aligned([_HEADINGS, *rows])))
    click.echo(f"{counted(len(found), 'kernel')}, {obstacles.count(None)} of them can be launched", err=True)


def _short(kernel: Kernel, why: str) -> str:
    """The first instruction that is not run, else the reason without the kernel's name."""
    return kernel.unsupported[0] if kernel.unsupported else why.removeprefix(f"kernel {brief(kernel.name)}: ")


def _parameters(kernel: Kernel) -> str:
    """nvcc's long names of parameters as `simt run` takes them too: `param_0`."""
    return ", ".join(
        f"{p.type} {p.name.removeprefix(f'{kernel.name}_')}"
        + (f"[{p.size // p.type.bytes}]" if p.array else "")
        for p in kernel.params
    )
