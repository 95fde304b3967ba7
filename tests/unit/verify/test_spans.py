"""Findings point at exactly what is wrong."""

from __future__ import annotations

import pytest

from simt.ptx.parser import parse
from simt.verify import verify

HEAD = """.version 9.0
.target sm_90
.address_size 64
.global .u32 g;
.func f(.reg .u32 x) { ret; }
.visible .entry k()
{
    .reg .pred p;
    .reg .u32 a, b, c;
    .reg .f32 v;
    .reg .u64 l;
    """


@pytest.mark.parametrize(
    ("line", "pointed"),
    [
        ("add.u32 a, b, missing;", "missing"),
        ("add.u32 a, v, c;", "v"),
        ("add.u32 a, b, 1.5;", "1.5"),
        ("add.u32 v, b, c;", "v"),
        ("add.foo.u32 a, b, c;", ".foo"),
        ("add.u32.foo a, b, c;", ".foo"),
        ("@b add.u32 a, b, c;", "b"),
        ("@!b add.u32 a, b, c;", "b"),
        ("nonsense.u32 a, b, c;", "nonsense.u32"),
        ("add.u32 a, b;", "add.u32"),
        ("ld.shared.u32 a, [g];", "g"),
        ("ld.global.u32 a, [b+4];", "b"),
        ("ld.global.v2.u32 {a, missing}, [l];", "missing"),
        ("st.global.f32 [l], 1;", "1"),
        ("setp.eq.u32 p|a, b, c;", "a"),
        ("mov.u32 a, %tid.q;", "%tid.q"),
        ("call f, (v);", "v"),
        ("call missing;", "missing"),
        ("bra missing;", "missing"),
        ("bar.sync 16;", "16"),
    ],
)
def test_the_span_is_the_operand(line: str, pointed: str) -> None:
    text = f"{HEAD}{line}\n    ret;\n}}\n"
    module, syntax = parse(text, "spans")
    assert module is not None
    assert list(syntax) == []
    (finding,) = verify(module).found
    assert text[finding.span.start : finding.span.end] == pointed
    assert finding.line == HEAD.count("\n") + 1


def test_every_fault_of_an_instruction_is_reported() -> None:
    text = f"{HEAD}@v add.u32 v, missing, 1.5;\n    ret;\n}}\n"
    module, _ = parse(text, "faults")
    assert module is not None
    found = verify(module).found
    assert [text[d.span.start : d.span.end] for d in found] == ["v", "v", "missing", "1.5"]


def test_a_rendered_finding() -> None:
    text = f"{HEAD}add.u32 a, b, v;\n    ret;\n}}\n"
    module, _ = parse(text, "shown.ptx")
    assert module is not None
    (finding,) = verify(module).found
    assert finding.render() == (
        "shown.ptx:12:19: error: source `b` of `add.u32` cannot be `v`, a .f32 register\n"
        "        add.u32 a, b, v;\n"
        "                      ^\n"
        "    expected a .u32, .s32 or .b32 register or an integer constant"
    )
