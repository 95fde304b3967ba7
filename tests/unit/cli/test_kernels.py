"""`simt kernels`, and what other commands say of kernels that cannot be launched."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simt.cli.main import execute
from tests.unit.driver.test_unsupported import BAD, GOOD, HEAD

CALLS_NOBODY = """
.extern .func mystery;
.visible .entry lost (.param .u64 lost_param_0, .param .align 4 .b8 lost_param_1[12])
{
    .shared .b32 words[3];
    .reg .b32 %r<2>;
    ld.shared.b32 %r1, [words];
    call mystery;
    ret;
}
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "kernels.ptx"
    path.write_text(HEAD + BAD + GOOD + CALLS_NOBODY)
    return str(path)


def test_the_list(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["kernels", file]) == 0
    shown = capsys.readouterr()
    heading, *rows = [line.split(maxsplit=3) for line in shown.out.splitlines()]
    assert heading == ["kernel", "parameters", "shared", "launch"]
    assert rows[0] == ["bad", ".u64", "out", "0       no: getctarank.u64"]
    assert rows[1] == ["good", ".u64", "out", "0       yes"]
    last = shown.out.splitlines()[3]
    assert last.startswith("lost    .u64 param_0, .b8 param_1[12]  12      no: ")
    assert "calls `mystery`, which the module declares but does not define" in last
    assert shown.err == "3 kernels, 1 of them can be launched\n"


def test_one_kernel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "one.ptx").write_text(HEAD + ".entry one() { ret; }\n")
    assert execute(["kernels", str(tmp_path / "one.ptx")]) == 0
    assert capsys.readouterr().err == "1 kernel, 1 of them can be launched\n"


def test_the_list_for_programs(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["kernels", file, "--format", "json"]) == 0
    bad, good, lost = json.loads(capsys.readouterr().out)
    assert good == {
        "name": "good", "parameters": [{"name": "out", "type": "u64", "size": 8}], "shared": 0,
        "obstacle": None, "unsupported": [],
    }  # fmt: skip
    assert len(bad["unsupported"]) == 2
    assert bad["obstacle"].startswith("kernel bad: simt does not run `getctarank")
    assert (lost["shared"], lost["unsupported"]) == (12, [])


def test_linked_files(file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other.ptx"
    other.write_text(HEAD + ".visible .func mystery { ret; }\n")
    assert execute(["kernels", file, str(other)]) == 0
    assert capsys.readouterr().err == "3 kernels, 2 of them can be launched\n"


def test_check_accepts_with_warnings(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["check", file]) == 0
    assert capsys.readouterr().err == "0 errors and 2 warnings in 1 file\n"


def test_run_names_them(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["run", file, "--grid", "1", "--block", "1"]) == 2
    assert "it has bad (not run: getctarank.u64), good, lost" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [
        ["run", "--grid", "1", "--block", "1"],
        ["run", "--explain", "--grid", "1", "--block", "1"],
        ["trace", "--grid", "1", "--block", "1"],
    ],
)
def test_commands_that_launch(command: list[str], file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute([command[0], file, "bad", *command[1:], "out=0"]) == 1
    assert (
        "simt: error: UnsupportedInstruction: kernel bad: simt does not run `getctarank"
        in capsys.readouterr().err
    )


def test_explain_leaves_them_out(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["explain", file, "--block", "32"]) == 0
    shown = capsys.readouterr()
    assert shown.err == "bad cannot be launched: simt does not run getctarank.u64\n"
    assert [line.split(",")[0] for line in shown.out.splitlines() if line[:1].isalpha()] == ["good", "lost"]
    assert execute(["explain", file, "bad"]) == 1
    assert "UnsupportedInstruction" in capsys.readouterr().err
