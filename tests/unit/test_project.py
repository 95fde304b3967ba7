"""Rules that hold for the whole tree: sizes of functions and files, single sources, true documentation."""

from __future__ import annotations

import ast
import re
import statistics
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src" / "simt").rglob("*.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])

LONGEST_FUNCTION, LONG_FUNCTION, LONGEST_FILE = 60, 28, 700


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """Name and number of lines, decorators and docstring left out, of every function in a file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
            yield (
                f"{path.relative_to(ROOT)}:{node.lineno} {node.name}",
                (body[-1].end_lineno or 0) - body[0].lineno + 2,
            )


def test_functions_are_short() -> None:
    lengths = dict(pair for path in SOURCES for pair in functions(path))
    too_long = {name: n for name, n in lengths.items() if n > LONGEST_FUNCTION}
    assert not too_long
    assert statistics.median(lengths.values()) <= 8
    assert statistics.quantiles(lengths.values(), n=10)[-1] <= LONG_FUNCTION


def test_files_have_one_subject() -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in SOURCES}
    assert {name: n for name, n in lengths.items() if n > LONGEST_FILE} == {}


def test_every_module_says_what_it_is() -> None:
    silent = [p for p in SOURCES if p.read_text().strip() and not ast.get_docstring(ast.parse(p.read_text()))]
    assert silent == []


def kept_devices(text: str) -> list[str]:
    """Functions that keep a device, by their decorators."""
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    return [
        node.name for node in nodes
        if any(re.search(r"scope=|\bcache\b", ast.unparse(decorator)) for decorator in node.decorator_list)
        and node.returns is not None and re.search(r"simt\.(Device|Module|Kernel)", ast.unparse(node.returns))
        and "simt.Device(" in ast.unparse(node) and "SIMT_DRAFTS" not in ast.unparse(node)
    ]  # fmt: skip


def test_kept_devices_make_code_in_the_way_of_each_test() -> None:
    """A device takes that from the environment when it is made, which may be before a test's own way is set:
    `tests.conftest.kept_for_each_way` keeps one for each. (Or the way is said where it is made.)"""
    texts = {path: path.read_text() for path in (ROOT / "tests").rglob("*.py")}
    some = {path: text for path, text in texts.items() if "simt.Device(" in text and "@" in text}
    assert {str(path): found for path, text in some.items() if (found := kept_devices(text))} == {}


def test_nothing_is_left_unwritten() -> None:
    """No stub passes for an implementation."""
    assert [
        str(p) for p in SOURCES if re.search(r"raise NotImplementedError|\bTODO\b|\bFIXME\b", p.read_text())
    ] == []


def test_runtime_dependencies_have_a_written_reason() -> None:
    page = (ROOT / "docs" / "decisions" / "0002-dependencies.md").read_text()
    groups = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    names = [re.match(r"[\w-]+", d) for group in groups for d in group]
    assert [n[0] for n in names if n and not re.search(rf"\b{n[0]}\b", page)] == []


def test_version_is_written_once_and_the_same() -> None:
    text = (ROOT / "src" / "simt" / "__init__.py").read_text()
    assert re.findall(r'__version__ = "(.*)"', text) == [PROJECT["version"]]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_of_the_documentation_lead_somewhere(page: Path) -> None:
    text = re.sub(r"`[^`\n]*`", "", page.read_text())  # code may look like a link
    targets = [t for t in re.findall(r"\]\(([^)#]+)[^)]*\)", text) if "://" not in t]
    assert [t for t in targets if not (page.parent / t).exists()] == []


def test_readme_example_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    example = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    assert example is not None
    monkeypatch.chdir(ROOT)
    exec(compile(example[1], "README.md", "exec"), {})
    assert capsys.readouterr().out == f"{np.float32(2) * np.arange(4, dtype='f4')}\n"


def test_readme_shows_the_commands_that_exist() -> None:
    import click
    from click.testing import CliRunner

    from simt.cli.main import cli

    shown = set(re.findall(r"^simt (\w+)", (ROOT / "README.md").read_text(), re.M))
    assert shown <= set(cli.list_commands(click.Context(cli)))
    for command in shown:
        result = CliRunner().invoke(cli, [command, "--help"])
        assert result.exit_code == 0
        assert "Examples" in result.output


def test_guide_quotes_the_catalogue() -> None:
    """The declarations in docs/add-an-instruction.md are the real ones."""
    quoted = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "add-an-instruction.md").read_text(), re.S)
    source = (ROOT / "src" / "simt" / "isa" / "integer.py").read_text()
    assert quoted
    assert [text for text in quoted if text not in source] == []


def test_pictures_of_the_demo_are_png(tmp_path: Path) -> None:
    """Read back by hand: signature, chunks with their checksums, rows behind their filter bytes."""
    import struct
    import zlib

    pixels = np.arange(5 * 7 * 3, dtype="u1").reshape(5, 7, 3)
    code = f"import numpy as np, pathlib, png; png.write_png(pathlib.Path({str(tmp_path / 'p.png')!r}), "
    code += "np.arange(5 * 7 * 3, dtype='u1').reshape(5, 7, 3))"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT / "examples", check=True)
    data, chunks, at = (tmp_path / "p.png").read_bytes(), {}, 8
    assert data[:8] == bytes([137, 80, 78, 71, 13, 10, 26, 10])
    while at < len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8 : at + 8 + size]
        assert struct.unpack_from(">I", data, at + 8 + size)[0] == zlib.crc32(kind + body)
        chunks[kind], at = body, at + 12 + size
    assert chunks[b"IHDR"] == struct.pack(">IIBBBBB", 7, 5, 8, 2, 0, 0, 0)
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), "u1").reshape(5, 22)
    assert not rows[:, 0].any()
    np.testing.assert_array_equal(rows[:, 1:].reshape(5, 7, 3), pixels)
