"""`simt explain` and `simt run --explain`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simt.cli.main import execute

REVERSE = """.version 7.0
.target sm_75
.address_size 64
.visible .entry reverse(.param .u64 x)
{
    .reg .pred %p;
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [x];
    mov.u32 %r1, %tid.x;
    setp.eq.u32 %p, %r1, 3;
    @%p bra DONE;
    ld.global.u32 %r2, [%rd1];
    xor.b32 %r3, %r1, 31;
    mul.wide.u32 %rd2, %r3, 4;
    add.u64 %rd2, %rd2, %rd1;
    st.global.u32 [%rd2], %r2;
DONE:
    ret;
}
.visible .entry needed() .reqntid 16, 4
{
    ret;
}
.visible .entry few() .maxntid 96
{
    ret;
}
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    path = tmp_path / "reverse.ptx"
    path.write_text(REVERSE)
    return str(path)


def test_one_kernel(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["explain", path, "reverse", "--block", "64"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "reverse, block 64: machine code for 2 warps a CTA"
    assert shown[1] == "  memory: 1 uniform, 1 unknown, 1 parameter"
    rows = [line.split(maxsplit=2) for line in shown if line.startswith("    line")]
    assert [row[1] for row in rows] == ["13", "17", "12"]
    assert rows[0][2].split("  ") == ["ld.global.u32 %r2, [%rd1]", "uniform", "one scalar load"]
    assert rows[1][2].startswith("st.global.u32 [%rd2], %r2  unknown  a scatter; ")
    assert rows[2][2] == "@%p bra DONE  divergent, by line 10: mov.u32 %r1, %tid.x"
    assert "  loops: none" in shown


def test_registers_by_name(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["explain", path, "reverse", "--block", "64", "--registers"]) == 0
    listed = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("    ")]
    assert ["uniform", "%rd1", "%r2"] in listed
    assert ["affine", "%r1"] in listed


def test_every_kernel_and_the_blocks_they_ask_for(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["explain", path]) == 0
    heads = [line for line in capsys.readouterr().out.splitlines() if ", block " in line]
    assert heads == [
        "reverse, block 256: machine code for 8 warps a CTA",
        "needed, block 16x4: machine code for 2 warps a CTA, in rows of 16 lanes",
        "few, block 96: machine code for 3 warps a CTA",
    ]


def test_json(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["explain", path, "reverse", "--format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["kernel"], found["reason"]) == ("reverse", None)
    assert found["block"] == {"x": 256, "y": 1, "z": 1}
    assert found["row"] == 32
    (function,) = found["functions"]
    patterns = {a["place"]["line"]: a["pattern"] for a in function["accesses"]}
    assert patterns == {9: "uniform", 13: "uniform", 17: "unknown"}
    assert function["branches"][0]["divergent"] is True


def test_with_a_run(path: str, engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["reverse", "x=zeros:u32:32", "--grid", "2", "--block", "32", "--memory", "64MiB"]
    assert execute(["run", path, *words, "--engine", engine, "--explain", "--print", "x"]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("reverse, block 32: machine code for 1 warp a CTA\n")
    assert "\nx = [0, " in shown.out
    assert ("the interpreter runs it now" in shown.out) == (engine == "interpreter")
    assert shown.err.startswith("reverse: grid 2, block 32")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["reverse", "--block", "2048"], 1, "extent x may be at most 1024"),
        (
            ["needed", "--block", "32"],
            1,
            "kernel needed: block (32, 1, 1): the kernel's .reqntid requires (16, 4, 1)",
        ),
        (["reverse", "--block", "big"], 2, "bad shape 'big'"),
        (["revers"], 1, "did you mean 'reverse'?"),
    ],
)
def test_refused(
    path: str, words: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["explain", path, *words]) == code
    shown = capsys.readouterr()
    assert message in shown.err
    assert shown.out == ""


def test_a_file_without_kernels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "none.ptx"
    path.write_text(".version 7.0\n.target sm_75\n.address_size 64\n.global .u32 x;\n")
    assert execute(["explain", str(path)]) == 2
    assert "has no kernel" in capsys.readouterr().err


OWN_BARRIERS = """.version 7.0
.target sm_75
.address_size 64
.visible .entry meet(.param .u64 out)
{
    .reg .u32 %t;
    mov.u32 %t, %tid.x;
    bar.sync %t;
    exit;
}
"""


def test_what_the_interpreter_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "meet.ptx"
    path.write_text(OWN_BARRIERS)
    assert execute(["explain", str(path), "--block", "32"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("meet, block 32: interpreted, because the JIT does not compile ")
    assert second.startswith("  line 8  bar.sync %t")


NUMBERED = """.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 x)
{
    .reg .b64 %x, %o;
    .reg .b32 %n;
    ld.param.u64 %x, [x];
    mov.u32 %n, %tid.x;
    mul.wide.u32 %o, %n, 4;
    add.u64 %x, %x, %o;
    ld.global.u32 %n, [%x];
    bar.sync %n;
    ret;
}
"""


def test_a_run_that_fell_back_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "numbered.ptx"
    path.write_text(NUMBERED)
    words = ["x=zeros:u32:32", "--grid", "1", "--block", "32", "--memory", "64MiB", "--engine", "jit"]
    assert execute(["run", str(path), *words]) == 0
    reason = "a barrier whose number or count differs between lanes"
    assert f"(interpreted, because the JIT does not compile {reason})" in capsys.readouterr().err
