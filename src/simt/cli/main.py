"""The command `simt`: its subcommands, and what becomes of every error.

Exit codes: 0 all is well; 1 the PTX is in error, or the launch was refused or ended in a fault; 2 the command
line or a file named on it is wrong; 3 an internal error; 130 interrupted.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence

import click

import simt
from simt.cli.check import check
from simt.cli.display import coloured, error
from simt.cli.explain import explain
from simt.cli.isa import isa
from simt.cli.kernels import kernels
from simt.cli.run import run
from simt.cli.trace import trace
from simt.errors import PtxError, PtxFileError, SimtError

FAILED, USAGE, INTERNAL, INTERRUPTED = 1, 2, 3, 130

_EPILOG = """\b
Examples:
  simt run saxpy.ptx --grid 4096 --block 256 n=1048576 a=2.0 x=rand:f32:1048576 y=zeros:f32:1048576
  simt check kernels.ptx
  simt kernels kernels.ptx
  simt explain kernels.ptx --block 256
  simt trace kernels.ptx --grid 1 --block 32 x=range:f64:32
  simt isa mad

\b
Exit codes: 0 all is well; 1 the PTX is in error, or the launch was refused or ended in a fault;
2 wrong usage or an unreadable file; 3 an internal error; 130 interrupted.
"""


@click.group(epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(simt.__version__, prog_name="simt")
def cli() -> None:
    """A virtual NVIDIA GPU in software: checks PTX and runs it on this machine's CPU."""


for command in (run, check, kernels, explain, trace, isa):
    cli.add_command(command)


def main(arguments: Sequence[str] | None = None) -> None:
    """The entry point: runs the command and ends the process with its exit code."""
    sys.exit(execute(arguments))


def execute(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; the exit code. Prints every error, raises none."""
    try:
        code = cli.main(None if arguments is None else list(arguments), "simt", standalone_mode=False)
        if sys.stdout:  # None where the caller has closed it: `simt ... >&-`
            sys.stdout.flush()
    except click.exceptions.Exit as end:
        return end.exit_code
    except SystemExit:  # click's answer to a reader that left in the middle of a write
        return _cannot_write(BrokenPipeError())
    except click.ClickException as problem:
        problem.show()
        return problem.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("simt: interrupted", err=True)
        return INTERRUPTED
    except OSError as problem:
        return _cannot_write(problem)
    except SimtError as problem:
        return _refused(problem)
    except Exception as problem:
        return _internal(problem)
    return code if isinstance(code, int) else 0


def _cannot_write(problem: OSError) -> int:
    """Standard output is gone: nothing more may be written. A reader that has seen enough is no error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(problem, BrokenPipeError):
        return 0
    click.echo(f"simt: error: {problem.strerror or problem}", err=True)
    return USAGE


def _refused(problem: SimtError) -> int:
    if isinstance(problem, PtxError) and problem.diagnostics:
        for diagnostic in problem.diagnostics:
            click.echo(coloured(diagnostic), err=True)
        return FAILED
    click.echo(error(problem), err=True)
    return USAGE if isinstance(problem, PtxFileError) else FAILED


def _internal(problem: Exception) -> int:
    """Our own mistake: say so, and what to report. `SIMT_DEBUG=1` shows the Python traceback."""
    click.echo(f"simt: internal error: {type(problem).__name__}: {problem}", err=True)
    if os.environ.get("SIMT_DEBUG"):
        traceback.print_exception(problem, file=sys.stderr)
    else:
        click.echo(
            "This is a bug in simt, not in your PTX. Please report it with the PTX file, the command\n"
            "and what it prints with SIMT_DEBUG=1 set in the environment.",
            err=True,
        )
    return INTERNAL
