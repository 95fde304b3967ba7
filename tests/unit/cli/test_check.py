"""`simt check`."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from simt.cli.main import execute

RIGHT = """.version 7.0
.target sm_75
.address_size 64
.visible .entry k()
{
    .reg .b32 %r<3>;
    mov.u32 %r1, 5;
    add.u32 %r2, %r1, 7;
    ret;
}
"""
WRONG = RIGHT.replace("%r1, 7", "%r9, 7").replace("mov.u32", "mov.u31")


@pytest.fixture
def right(tmp_path: Path) -> str:
    path = tmp_path / "right.ptx"
    path.write_text(RIGHT)
    return str(path)


@pytest.fixture
def wrong(tmp_path: Path) -> str:
    path = tmp_path / "wrong.ptx"
    path.write_text(WRONG)
    return str(path)


def test_a_right_file(right: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["check", right]) == 0
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "0 errors and 0 warnings in 1 file\n")


def test_every_error_with_line_and_caret(right: str, wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["check", right, wrong]) == 1
    shown = capsys.readouterr()
    assert shown.err == "2 errors and 0 warnings in 2 files\n"
    first, second = shown.out.split(f"{wrong}:")[1:]
    assert first.startswith("7:")
    assert ": error: " in first
    assert "    mov.u31 %r1, 5;\n" in first
    assert second.startswith("8:18: error: ")
    assert second.splitlines()[1:3] == ["        add.u32 %r2, %r9, 7;", " " * 21 + "^^^"]
    assert "\x1b" not in shown.out


def test_json(right: str, wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["check", "--format", "json", right, wrong]) == 1
    first, second = json.loads(capsys.readouterr().out)
    assert (first["file"], first["line"], first["severity"]) == (wrong, 7, "error")
    place = {k: second[k] for k in ("line", "column", "end_line", "end_column")}
    assert place == {"line": 8, "column": 18, "end_line": 8, "end_column": 21}
    assert execute(["check", "--format", "json", right]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(WRONG.encode())))
    assert execute(["check", "-"]) == 1
    assert capsys.readouterr().out.startswith("<stdin>:7:")


def test_unreadable_files_do_not_hide_the_others(wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["check", "/nowhere/x.ptx", wrong]) == 2
    shown = capsys.readouterr()
    assert "cannot read PTX file '/nowhere/x.ptx': No such file or directory" in shown.err
    assert shown.err.endswith("\n2 errors and 0 warnings in 1 file\n")
    assert f"{wrong}:8:" in shown.out


@pytest.mark.parametrize("content", [b"", b"\x00\x01\xff" * 50, b"hello", b"{" * 20_000])
def test_what_is_no_ptx(content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.ptx"
    path.write_bytes(content)
    assert execute(["check", str(path)]) == 1
    shown = capsys.readouterr()
    assert f"{path}:1:" in shown.out
    assert "Traceback" not in shown.err


def test_nothing_is_counted_if_nothing_was_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["check", "/nowhere/x.ptx"]) == 2
    expected = "simt: error: cannot read PTX file '/nowhere/x.ptx': No such file or directory\n"
    assert capsys.readouterr() == ("", expected)


def test_a_source_file_of_cuda(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "k.cu"
    source.write_text("#include <cstdio>\n")
    assert execute(["check", str(source)]) == 1
    assert "CUDA C++ becomes PTX with: nvcc -ptx -arch=compute_75 FILE.cu" in capsys.readouterr().out
