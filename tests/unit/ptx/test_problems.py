"""What the parser says about texts that are not PTX, and that it always finishes."""

# ruff: noqa: E501  (a table of texts and whole messages reads best with one row a line)

from __future__ import annotations

import time

import pytest

from simt.ptx.nodes import Function, Instruction
from simt.ptx.parser import MAX_LENGTH, parse

HEADER = ".version 9.0\n.target sm_75\n"


def messages(text: str | bytes) -> list[str]:
    """`line:column: message` of every problem."""
    _, diagnostics = parse(text)
    return [f"{d.line}:{d.column}: {d.message}" for d in diagnostics]


def in_body(text: str) -> list[str]:
    """Problems of a kernel's body whose first line is line 4."""
    return messages(f"{HEADER}.entry k() {{\n{text}\n}}\n.global .u32 x;\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "1:1: empty file, expected '.version'"),
        (" \n\t ", "1:1: empty file, expected '.version'"),
        (b"\0\0", "1:1: empty file, expected '.version'"),
        ("a\0b", "1:2: not text: control character U+0000, expected PTX"),
        (b"\x7fELF\x02\x01", "1:1: not text: control character U+007F, expected PTX"),
        ("int main() { return 0; }", "1:1: unexpected 'int', expected '.version'"),
        (b"\xff\xfe\xfd", "1:1: unexpected character '\ufffd' (U+FFFD), expected '.version'"),
        (".target sm_75\n.entry k { }", "1:1: unexpected '.target', expected '.version'"),
        (".version", "1:9: unexpected end of file, expected a version such as 1.4"),
        (".version 9", "1:10: unexpected '9', expected a version such as 1.4"),
        (".version 9.0\n", "2:1: unexpected end of file, expected '.target'"),
        (".version 9.0\n.entry k { }", "2:1: unexpected '.entry', expected '.target'"),
        (".version 9.0\n.target\n", "3:1: unexpected end of file, expected a target such as sm_75"),
        (HEADER + ".version 8.0", "3:10: second .version 8.0, expected the first one again"),
        (HEADER + ".address_size 16", "3:15: bad address size 16, expected 32 or 64"),
        (HEADER + "/* never", "3:1: comment without end, expected '*/'"),
        (HEADER + '.pragma "x', "3:9: string without end, expected '\"'"),
        (HEADER + ".entry k(", "3:10: unexpected end of file, expected a parameter, which begins with .param or .reg"),
        (HEADER + ".entry k {\nadd.u32 %r1", "4:12: unexpected end of file, expected ',' or ';'"),
        (HEADER + ".entry k {\n", "4:1: unexpected end of file, expected '}'"),
        (HEADER + ".section .x {\n.b8 1", "3:13: section without end, expected '}'"),
        (HEADER + ".section .x {\n.b8 1\n .b9 2\n}", "5:2: bad line in a section, expected a label, or .b8, .b16, .b32 or .b64 with values"),
        (HEADER + ".extern foo;", "3:9: '.extern foo' without a declaration, expected one of 'foo'"),
        (HEADER + "foo", "3:1: unexpected 'foo', expected a directive"),
        (HEADER + ".globl .u32 x;", "3:1: unexpected '.globl', expected a directive"),
        (HEADER + ".global x;", "3:9: unexpected 'x', expected a type such as .b32"),
        (HEADER + ".global .u33 x;", "3:9: unexpected '.u33', expected a type"),
        (HEADER + ".global .u32 5;", "3:14: unexpected '5', expected a name"),
        (HEADER + ".global .u32 x[1.5];", "3:16: unexpected floating-point value, expected an array size"),
        (HEADER + ".global .u32 x<4294967296>;", "3:16: 4294967296 names are too many"),
        (HEADER + f".global .u32 x<{10**40}>;", "3:16: bad constant: an integer constant has at most 64 bits"),
        (HEADER + ".global .u32 x<(4)>;", "3:16: unexpected '(', expected a number of names"),
        (
            HEADER + f".global .u32 x[] = {{1, 2, {10**40}, 3}};",
            "3:27: bad constant: an integer constant has at most 64 bits",
        ),
        (HEADER + f".global .b8 x = {10**40}(x);", "3:17: bad constant: an integer constant has at most 64 bits"),
        (HEADER + ".global .u32 x = ;", "3:18: unexpected ';', expected a constant, a name or '{'"),
        (HEADER + ".visible ret;", "3:10: '.visible ret' without a declaration, expected one of 'ret'"),
        (HEADER + ".entry k .maxntd 4 { }", "3:10: unexpected '.maxntd', expected '{', ';' or a performance directive"),
        (HEADER + ".entry k() x", "3:12: unexpected 'x', expected '{' or ';'"),
        (HEADER + "#define N 4\n", "3:1: preprocessor directive '#define', expected PTX"),
        (HEADER + ".entry é { }", "3:8: unexpected character 'é' (U+00E9), expected the name of a function"),
    ],
)  # fmt: skip
def test_one_clear_message(text: str | bytes, expected: str) -> None:
    assert messages(text)[:1] == [expected]


def test_only_one_message_for_a_text_that_is_not_ptx() -> None:
    for text in ("int main() { return 0; }", "# Title\n\nSome words; more words.", "{" * 100, "\x01" * 100):
        assert len(messages(text)) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("add.u32 a b, c;", "4:11: unexpected 'b', expected ',' or ';'"),
        ("add.u32 a,, c;", "4:11: unexpected ',', expected an operand"),
        ("add.u32 a, b", "5:1: unexpected '}', expected ',' or ';'"),
        ("ld.u32 a, [b;", "4:13: unexpected ';', expected '+', ',' or ']'"),
        ("ld.u32 a, [b-4];", "4:13: unexpected '-', expected '+'"),
        ("mov.u64 a, b-4;", "4:13: unexpected '-', expected '+'"),
        ("ld.u32 a, [b+];", "4:14: unexpected ']', expected a constant"),
        ("ld.u32 a, [b+c];", "4:14: unexpected 'c', expected a constant"),
        ("ld.u32 a, b[1][2];", "4:15: unexpected '[', expected one index"),
        ("ld.u32 a, [b, c, d, e];", "4:11: bad texture operand, expected [texture, coordinates] or [texture, sampler, coordinates]"),
        ("mov.u32 a, 08;", "4:12: malformed number '08', expected an operand"),
        ("mov.u32 a, 1/0;", "4:13: bad constant: division by zero"),
        ("mov.u32 {a, b;", "4:14: unexpected ';', expected ',' or '}'"),
        ("@5 ret;", "4:2: unexpected '5', expected a predicate register"),
        ("@p ;", "4:4: unexpected ';', expected an instruction"),
        (".branchtargets a;", "4:1: unexpected '.branchtargets', expected a label before it"),
        (".entry j { }", "4:1: unexpected '.entry', expected a directive that may stand in a body"),
        ("ret;;", "4:5: unexpected ';', expected a statement or '}'"),
        ("p: .callprototype f;", "4:19: unexpected 'f', expected '_' or a parenthesised list"),
    ],
)  # fmt: skip
def test_message_in_a_body(text: str, expected: str) -> None:
    assert in_body(text)[0] == expected
    assert len(in_body(text)) == 1


def test_every_problem_is_reported_and_the_rest_is_read() -> None:
    text = (
        f"{HEADER}.global .u3 x;\n.entry k() {{\n add.u32 a b;\n mov.u32 a,\n ret;\n .reg u32 y;\n {{ sub a,,b; neg a, b; }}\n"
        " mul.lo.u32 a, b, c;\n}\n.glob y;\n.func f { exit }\n.global .u32 z;\n"
    )
    found, diagnostics = parse(text)
    assert [d.line for d in diagnostics] == [3, 5, 8, 9, 12, 13]
    assert found is not None
    kernel = next(f for f in found.items if isinstance(f, Function))
    assert kernel.body is not None
    last = kernel.body.statements[-1]
    assert isinstance(last, Instruction)
    assert last.opcode == "mul"


def test_rendering_shows_line_caret_and_hint() -> None:
    _, diagnostics = parse(f"{HEADER}.global\t.u33 x;", "a.ptx")
    first, *rest = diagnostics
    assert not rest
    assert first.render().splitlines()[:3] == [
        "a.ptx:3:9: error: unexpected '.u33', expected a type",
        "    .global .u33 x;",
        "            ^^^^",
    ]
    assert first.hint is not None
    assert {".u32", ".v4", ".align"} <= set(first.hint.split())


HOSTILE = {
    "blocks": HEADER + ".entry k {" + "{" * 10000 + "}" * 10000 + "}",
    "open blocks": HEADER + ".entry k {" + "{" * 10000,
    "parentheses": HEADER + ".global .s32 x = " + "(" * 10000 + "1" + ")" * 10000 + ";",
    "signs": HEADER + ".global .s32 x = " + "- " * 10000 + "1;",
    "conditions": HEADER + ".global .s32 x = " + "1?1:" * 10000 + "1;",
    "initialiser": HEADER + ".global .s32 x[] = " + "{" * 10000 + "1;",
    "vectors": HEADER + ".entry k { mov.b32 " + "{" * 10000 + "a; }",
    "casts": HEADER + ".global .s32 x = " + "(.s64)" * 10000 + "1;",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_nesting_has_a_limit(name: str) -> None:
    found = messages(HOSTILE[name])
    assert len(found) == 1
    assert found[0].endswith("nested too deep, expected at most 64 levels")


@pytest.mark.parametrize(
    "text",
    [
        "/*" * 50000, "/" * 50001 + "\n", '"' * 50001, "#x\n" * 50000, ";" * 50000, "}" * 50000, "{" * 50000,
        ".entry k {" + "@p " * 50000, ".entry k { add " + "a," * 50000 + "b; }", ".entry k { add " + "a" * 200000 + "!",
        ".entry k { add" + ".a" * 100000 + "?", ".entry k { add a, " + "-" * 50000, ".section .x {" * 20000,
        ".global .s32 x = " + "9" * 200000 + ";", ".global .f32 x = " + "9" * 200000 + ".0;", ".entry k { [" * 30000,
        "a:" * 50000, ".loc 1 2" * 20000, ".global .u32 x[" * 20000, ".extern a " * 20000, "0x" * 50000,
    ],
)  # fmt: skip
def test_hostile_texts_take_bounded_time(text: str) -> None:
    start = time.perf_counter()
    _, diagnostics = parse(HEADER + text)
    assert time.perf_counter() - start < 5  # a quadratic reader would need minutes
    assert len(diagnostics.found) <= diagnostics.limit


def test_longest_text() -> None:
    start = time.perf_counter()
    assert messages(b"x" * (100 * 2**20)) == [
        f"1:1: too long (100 MiB), expected at most {MAX_LENGTH >> 20} MiB"
    ]
    assert messages("x" * (100 * 2**20)) == [
        f"1:1: too long (100 MiB), expected at most {MAX_LENGTH >> 20} MiB"
    ]
    assert time.perf_counter() - start < 5
