"""`simt isa`."""

from __future__ import annotations

import json

import pytest

from simt.cli.main import execute
from simt.isa.catalogue import FORMS, KNOWN
from simt.tools.pages import page


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert execute(["isa", *arguments]) == 0
    return capsys.readouterr().out


def test_the_table_has_every_form(capsys: pytest.CaptureFixture[str]) -> None:
    heading, *rows = output(capsys).splitlines()
    assert heading.split() == ["form", "PTX", "target", "reference", "run"]
    syntaxes = [form.syntax for forms in (*FORMS.values(), *KNOWN.values()) for form in forms]
    assert len(rows) == len(syntaxes)
    assert all(any(row.startswith(syntax) for row in rows) for syntax in syntaxes)
    assert sum(row.endswith(" no") for row in rows) == sum(map(len, KNOWN.values()))


def test_one_instruction_is_its_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert output(capsys, "mad24") == page("mad24", FORMS["mad24"])
    assert "div.full" not in output(capsys, "div", "--ptx", "1.3")


def test_an_instruction_that_is_known_only(capsys: pytest.CaptureFixture[str]) -> None:
    shown = output(capsys, "wgmma")
    assert shown == page("wgmma", KNOWN["wgmma"])
    assert "- Known, not run: a kernel that reaches it cannot be launched" in shown
    assert "Conformance" not in shown
    both = output(capsys, "prefetch")
    assert both == page("prefetch", [*FORMS["prefetch"], *KNOWN["prefetch"]])


def test_json_is_the_same_catalogue(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(output(capsys, "--format", "json"))
    assert len(found) == sum(map(len, (*FORMS.values(), *KNOWN.values())))
    assert [f["mnemonic"] for f in found if f["mnemonic"] == "wgmma" and not f["implemented"]] == ["wgmma"]
    add = next(f for f in found if f["syntax"] == "add.sat.s32 d, a, b")
    assert (add["ptx"], add["target"], add["reference"]) == ("1.0", "sm_10", "PTX 1.4 table 20")
    assert [o["name"] for o in add["operands"]] == ["d", "a", "b"]


def test_versions(capsys: pytest.CaptureFixture[str]) -> None:
    old = output(capsys, "--ptx", "1.0")
    assert "div[.sat].f32" in old  # until 1.3
    assert "div.approx" not in old  # from 1.4
    new = output(capsys, "--ptx", "1.4")
    assert "div.approx" in new
    assert "div[.sat].f32" not in new


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ad"], "Error: no instruction 'ad'; did you mean "),
        (["MAD.LO"], "Error: no instruction 'MAD.LO'; did you mean mad"),
        (["mna"], "Error: no instruction 'mna'; did you mean mma"),
        (["--ptx", "new"], "Error: --ptx: expected a version such as 1.4, 'new' given"),
    ],
)
def test_usage(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["isa", *arguments]) == 2
    assert message in capsys.readouterr().err
