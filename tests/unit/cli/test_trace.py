"""`simt trace`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simt.cli.main import execute

EXAMPLE = str(Path(__file__).resolve().parents[3] / "examples" / "if_then_else.ptx")
ARRAYS = ("x=range:f64:32", "y=ones:f64:32", "z=full:f64:32:7")
LAUNCH = ("--grid", "1", "--block", "32", "--memory", "64MiB")
STACK = ["  push ffffffff", "  complement fffffffe", "  pop ffffffff"]
ONE_WARP = (EXAMPLE, "balanced", *LAUNCH, *ARRAYS)


def test_the_text_shows_lanes_stack_and_efficiency(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["trace", *ONE_WARP]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "balanced, CTA 0, warp 0"
    assert lines[1].split() == ["53", "ffffffff", "#" * 32, "mov.u32", "%i,", "%tid.x"]
    assert [line[-len(last) :] for last in STACK for line in lines if line.endswith(last)] == STACK
    assert lines[-2] == "20 instructions, 512 of 640 lane slots active: 80.0 %"
    assert lines[-1] == (
        "  line 64  @!%p1 bra ELSE2  between push and pop 8, 128 of 256 lane slots active: 50.0 %"
    )


def test_what_is_long_or_deep_leaves_the_columns_in_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A recursion of 20 calls, each with an entry."""
    path = tmp_path / "deep.ptx"
    path.write_text("""
.version 7.0
.target sm_75
.address_size 64
.func countdown_from_a_number_with_a_long_name_indeed_a_very_long_one(.reg .b32 %n) {
    .reg .pred %p; .reg .b32 %m;
    setp.eq.u32 %p, %n, 0;
    @%p ret;
    sub.u32 %m, %n, 1;
    call countdown_from_a_number_with_a_long_name_indeed_a_very_long_one, (%m);
    ret;
}
.visible .entry k() {
    .reg .b32 %t;
    mov.u32 %t, 19;
    call countdown_from_a_number_with_a_long_name_indeed_a_very_long_one, (%t);
    exit;
}
""")
    launch = ("--grid", "1", "--block", "1", "--memory", "64MiB")
    assert execute(["trace", str(path), *launch]) == 0
    lines = capsys.readouterr().out.splitlines()
    pushed = [line.index("push 00000001") for line in lines if "push" in line and "between" not in line]
    assert len(pushed) == 20
    assert set(pushed) == {5 + 2 + 8 + 2 + 32 + 2 + 60 + 2}
    assert "                    @%p ret" in next(line for line in reversed(lines) if "@%p ret" in line)


def test_json_has_an_object_for_each_instruction(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["trace", *ONE_WARP, "--format", "json"]) == 0
    *steps, last = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(steps) == 20
    push = next(s for s in steps if s["stack"])
    assert push == {
        "function": "balanced", "line": 64, "text": "@!%p1 bra ELSE2", "lanes": "0xffffffff", "depth": 0,
        "stack": [{"operation": "push", "mask": "0xffffffff", "depth": 1, "line": 64}],
    }  # fmt: skip
    entry = {
        "line": 64, "text": "@!%p1 bra ELSE2", "instructions": 8, "active": 128, "slots": 256,
        "efficiency": 0.5,
    }  # fmt: skip
    assert last == {
        "summary": {
            "kernel": "balanced", "cta": 0, "warp": 0, "instructions": 20, "active": 512, "slots": 640,
            "efficiency": 0.8, "shown": 20, "entries": [entry],
        }
    }  # fmt: skip


def test_the_limit_says_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["trace", *ONE_WARP, "--limit", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[4] == "... 17 more instructions were executed; --limit 20 shows all"
    assert "20 instructions, 512 of 640" in lines[-2]


def test_what_ran_before_a_fault_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["trace", EXAMPLE, "choose", *LAUNCH, "x=null", *ARRAYS[1:]]) == 1
    shown = capsys.readouterr()
    assert "ld.global.f64 %r0, [%x]" in shown.out.splitlines()[-3]
    assert "MemoryFault" in shown.err


def test_a_refused_launch_shows_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["trace", EXAMPLE, "choose", *LAUNCH[:2], "--block", "4096", *ARRAYS]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "LaunchError" in shown.err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--warp", "1:0"), 1, "there is no CTA 1: the grid has 1, numbered from 0"),
        (("--warp", "0:1"), 1, "there is no warp 1: the block has 1, numbered from 0"),
        (("--warp", "a"), 2, "bad warp 'a': expected CTA:WARP, two numbers from 0"),
        (("--warp", "1.5:0"), 2, "bad warp '1.5:0': expected CTA:WARP, two numbers from 0"),
    ],
)
def test_warps_that_are_not_there(
    words: tuple[str, ...], code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["trace", *ONE_WARP, *words]) == code
    assert message in capsys.readouterr().err


def test_what_the_kernel_prints_is_not_in_the_trace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "hello.ptx"
    path.write_text("""
.version 7.0
.target sm_75
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.global .align 1 .b8 hello[4] = {104, 105, 10, 0};
.visible .entry k() {
    .reg .b64 %f;
    mov.u64 %f, hello;
    cvta.global.u64 %f, %f;
    {
    .param .b64 f;
    .param .b64 a;
    .param .b32 r;
    st.param.b64 [f], %f;
    st.param.b64 [a], 0;
    call (r), vprintf, (f, a);
    }
    ret;
}
""")
    assert (
        execute(["trace", str(path), "--grid", "1", "--block", "1", "--memory", "64MiB", "--format", "json"])
        == 0
    )
    shown = capsys.readouterr()
    texts = [json.loads(line).get("text") for line in shown.out.splitlines()]
    assert texts == [
        "mov.u64 %f, hello", "cvta.global.u64 %f, %f", "st.param.b64 [f], %f", "st.param.b64 [a], 0",
        "call (r), vprintf, (f, a)", "ret", None,
    ]  # fmt: skip
    assert shown.err == "hi\n"
