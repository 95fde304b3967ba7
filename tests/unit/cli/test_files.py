"""Standard input in place of a file, in every command that reads one."""

from __future__ import annotations

import io
import sys

import pytest

from simt.cli.main import execute

FILL = """.version 7.0
.target sm_75
.address_size 64
.visible .entry fill(.param .u64 out)
{
    .reg .b64 %a;
    .reg .b32 %t;
    ld.param.u64 %a, [out];
    mov.u32 %t, 7;
    st.global.u32 [%a], %t;
    ret;
}
"""
LAUNCH = ("--grid", "1", "--block", "1", "--memory", "64MiB", "out=zeros:u32:1")
COMMANDS = {
    "check": (),
    "kernels": (),
    "explain": ("--block", "32"),
    "run": (*LAUNCH, "--print", "out"),
    "trace": LAUNCH,
}


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(FILL.encode())))


@pytest.mark.usefixtures("given")
@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("check", "0 errors and 0 warnings in 1 file"), ("kernels", "fill    .u64 out    0       yes"),
        ("explain", "  registers: 2 uniform"), ("run", "out = [7]  (uint32, 1)"),
        ("run", "fill: grid 1, block 1, 1 thread on sm_100 "),
        ("trace", "4 instructions, 4 of 128 lane slots active"),
    ],
)  # fmt: skip
def test_standard_input(command: str, shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute([command, "-", *COMMANDS[command]]) == 0
    printed = capsys.readouterr()
    assert any(line.startswith(shown) for line in (printed.out + printed.err).splitlines())


@pytest.mark.usefixtures("given")
def test_faults_name_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["run", "-", *LAUNCH[:-1], "out=0"]) == 1
    assert capsys.readouterr().err.endswith("thread (0, 0, 0), <stdin> line 10)\n")


@pytest.mark.usefixtures("given")
@pytest.mark.parametrize("words", [("check", "-", "-"), ("kernels", "-", "-"), ("run", "-", "--link", "-")])
def test_it_can_be_read_once(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert execute([*words, *(LAUNCH if words[0] == "run" else ())]) == 2
    assert "standard input (-) can be read once only" in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_it_may_be_closed(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", None)  # as Python has it after `<&-`
    assert execute([command, "-", *COMMANDS[command]]) == 2
    assert "cannot read PTX from standard input: it is closed" in capsys.readouterr().err
