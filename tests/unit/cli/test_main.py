"""The command itself: help, exit codes, and what becomes of errors."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import simt.cli.main as main_module
from simt.cli.main import cli, execute
from simt.errors import FaultSite, TrapError


@pytest.mark.parametrize("command", [[], ["run"], ["check"], ["explain"], ["isa"]])
def test_every_help_has_examples(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert execute([*command, "--help"]) == 0
    assert "Examples:\n" in capsys.readouterr().out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["--version"]) == 0
    assert capsys.readouterr().out.startswith("simt, version 0.")


def test_usage_errors(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["fly"]) == 2
    assert execute(["isa", "--format", "xml"]) == 2
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("problem", "code", "message"),
    [
        (TrapError("trap", FaultSite("k", (0, 0, 0))), 1,
         "simt: error: TrapError: trap (kernel k, CTA (0, 0, 0))\n"),
        (KeyboardInterrupt(), 130, "simt: interrupted\n"),
        (ZeroDivisionError("oops"), 3,
         "simt: internal error: ZeroDivisionError: oops\nThis is a bug in simt, "),
    ],
)  # fmt: skip
def test_errors_become_exit_codes(
    problem: BaseException,
    code: int,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*arguments: Any, **options: Any) -> None:
        raise problem

    monkeypatch.setattr(cli, "main", fail)
    monkeypatch.delenv("SIMT_DEBUG", raising=False)
    assert execute([]) == code
    shown = capsys.readouterr().err
    assert shown.startswith(message)
    assert "Traceback" not in shown


def test_faults_show_the_line_that_ran(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(".version 7.0\n    ld.global.u32 %r1, [%rd1];\n")

    def fail(*arguments: Any, **options: Any) -> None:
        raise TrapError("trap", FaultSite("k", line=2, file=str(path)))

    monkeypatch.setattr(cli, "main", fail)
    assert execute([]) == 1
    expected = f"simt: error: TrapError: trap (kernel k, {path} line 2)\n    ld.global.u32 %r1, [%rd1];\n"
    assert capsys.readouterr().err == expected


def test_debugging_shows_the_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*arguments: Any, **options: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(cli, "main", fail)
    monkeypatch.setenv("SIMT_DEBUG", "1")
    assert execute([]) == 3
    assert "Traceback" in capsys.readouterr().err


def test_main_ends_the_process_with_the_code() -> None:
    with pytest.raises(SystemExit) as end:
        main_module.main(["fly"])
    assert end.value.code == 2


def piped(command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command.replace('simt', f'{sys.executable} -m simt', 1)}"],
        capture_output=True,
        text=True,
    )


def test_a_reader_that_leaves_early_is_no_error() -> None:
    found = piped("simt isa --format json | head -1")
    assert (found.returncode, found.stdout, found.stderr) == (0, "[\n", "")


def test_standard_output_may_be_closed() -> None:
    found = piped("simt isa mad >&-")
    assert (found.returncode, found.stderr) == (0, "")


def test_a_full_disk_is_a_plain_error() -> None:
    found = piped("simt isa --format json > /dev/full")
    assert (found.returncode, found.stderr) == (2, "simt: error: No space left on device\n")
