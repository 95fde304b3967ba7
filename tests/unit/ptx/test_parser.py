"""The grammar of chapters 4, 5, 6 and 9 and of nvcc's PTX: what each construct becomes in the tree."""

from __future__ import annotations

import pytest

from simt.ptx.nodes import (
    Address,
    Alias,
    Arguments,
    Block,
    CallPrototype,
    Element,
    File,
    Float,
    Function,
    Guard,
    Indexed,
    InitializerList,
    Instruction,
    Integer,
    Label,
    Location,
    Minus,
    Module,
    Name,
    Negated,
    Operand,
    Pair,
    Performance,
    PointerAttribute,
    Pragma,
    Section,
    Sink,
    Statement,
    Sum,
    SymbolValue,
    Target,
    TargetList,
    TextureAddress,
    TopLevel,
    Variable,
    Vector,
)
from simt.ptx.parser import parse
from simt.ptx.printer import print_module
from simt.ptx.types import OPAQUE, TYPES

HEADER = ".version 1.4\n.target sm_13\n"


def module(text: str) -> Module:
    found, diagnostics = parse(HEADER + text)
    assert not diagnostics.found, diagnostics.found[0].render()
    assert found is not None
    assert found == parse(HEADER + text, fast=False)[0]
    return found


def item(text: str) -> TopLevel:
    (found,) = module(text).items
    return found


def function(text: str) -> Function:
    found = item(text)
    assert isinstance(found, Function)
    return found


def statements(text: str) -> tuple[Statement, ...]:
    body = function(f".entry k {{ {text} }}").body
    assert body is not None
    return body.statements


def instruction(text: str) -> Instruction:
    (found,) = statements(text)
    assert isinstance(found, Instruction)
    return found


def operand(text: str) -> Operand:
    found = instruction(f"op.x d, {text};").operands
    assert found[0] == Name("d")
    (result,) = found[1:]
    return result


def variable(text: str) -> Variable:
    found = item(text)
    assert isinstance(found, Variable)
    return found


A, B, C = Name("a"), Name("b"), Name("c")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", A),
        ("%r12", Name("%r12")),
        ("$x", Name("$x")),
        ("_f$1", Name("_f$1")),
        ("_", Sink()),
        ("%tid.x", Element(Name("%tid"), "x")),
        ("V.a", Element(Name("V"), "a")),
        ("5", Integer(5)),
        ("-5", Integer(-5)),
        ("0xFFFFFFFFFFFFFFFF", Integer(2**64 - 1, True)),
        ("WARP_SZ", Integer(32)),
        ("(1 + 2) * WARP_SZ", Integer(96)),
        ("!0", Integer(1)),
        ("!a", Negated(A)),
        ("-a", Minus(A)),
        ("-a.h1", Minus(Element(A, "h1"))),
        ("0f3F800000", Float(0x3F800000, 32)),
        ("1.0", Float(0x3FF0000000000000)),
        ("a|b", Pair(A, B)),
        ("_|b", Pair(Sink(), B)),
        ("{a, b}", Vector((A, B))),
        ("{a, _, 3, b.x}", Vector((A, Sink(), Integer(3), Element(B, "x")))),
        ("[a]", Address(A)),
        ("[a+8]", Address(A, 8)),
        ("[a + -8]", Address(A, -8)),
        ("[a + -8 + 2*3]", Address(A, -2)),
        ("[V.x+4]", Address(Element(Name("V"), "x"), 4)),
        ("[0x100]", Address(None, 256)),
        ("[WARP_SZ*2]", Address(None, 64)),
        ("a[0]", Indexed(A, None, 0)),
        ("a[WARP_SZ-1]", Indexed(A, None, 31)),
        ("a[b]", Indexed(A, B)),
        ("a[b+-4]", Indexed(A, B, -4)),
        ("a[b.x+4]", Indexed(A, Element(B, "x"), 4)),
        ("a+12", Sum(A, 12)),
        ("a+-4", Sum(A, -4)),
        ("[a, {b}]", TextureAddress(A, Vector((B,)))),
        ("[a, b]", TextureAddress(A, B)),
        ("[a, b, {c, c}]", TextureAddress(A, Vector((C, C)), B)),
    ],
)
def test_operands(text: str, expected: Operand) -> None:
    assert operand(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ret;", Instruction("ret", (), ())),
        ("bra.uni a;", Instruction("bra", ("uni",), (A,))),
        ("add .s32 a , b,\n c ;", Instruction("add", ("s32",), (A, B, C))),
        (
            "tex.1d.v4.f32.s32 a, b, c;",
            Instruction("tex", ("1d", "v4", "f32", "s32"), (A, TextureAddress(B, C))),
        ),
        (
            "tex.2d.f32.f32 a, [b, c], c;",
            Instruction("tex", ("2d", "f32", "f32"), (A, TextureAddress(B, C), C)),
        ),
        ("ld.global.L2::128B.f32 a, [b];", Instruction("ld", ("global", "L2::128B", "f32"), (A, Address(B)))),
        ("@p ret;", Instruction("ret", (), (), Guard(Name("p")))),
        ("@!%p1 ret;", Instruction("ret", (), (), Guard(Name("%p1"), True))),
        ("@ ! p ret;", Instruction("ret", (), (), Guard(Name("p"), True))),
        ("call a;", Instruction("call", (), (A,))),
        ("call (a), b, (c, 1);", Instruction("call", (), (Arguments((A,)), B, Arguments((C, Integer(1)))))),
        ("call (a), b, (c), c;", Instruction("call", (), (Arguments((A,)), B, Arguments((C,)), C))),
        ("call a, ();", Instruction("call", (), (A, Arguments(())))),
        ("bar.sync 0; /* end */", Instruction("bar", ("sync",), (Integer(0),))),
        ("mov.b32 a, (3);", Instruction("mov", ("b32",), (A, Integer(3)))),
        (
            "mad.lo.s32 %r1, %r2, 3, -4;",
            Instruction("mad", ("lo", "s32"), (Name("%r1"), Name("%r2"), Integer(3), Integer(-4))),
        ),
    ],
)
def test_instructions(text: str, expected: Instruction) -> None:
    assert instruction(text) == expected


def test_spans_are_those_of_the_source() -> None:
    text = HEADER + ".entry k {\n  @!p setp.eq.u32 q|%r1, {a, _}, [b+4]; /**/ op a[c], -b.h0, [c, {a}];\n}"
    for fast in (True, False):
        found, _ = parse(text, fast=fast)
        assert found is not None
        body = found.items[0]
        assert isinstance(body, Function)
        assert body.body is not None
        first, second = body.body.statements
        assert isinstance(first, Instruction)
        assert isinstance(second, Instruction)

        def cut(node: Operand | Guard | Instruction) -> str:
            return text[node.span.start : node.span.end]

        assert first.guard is not None
        assert [cut(first), cut(first.guard)] == ["setp.eq.u32", "@!p"]
        assert [cut(x) for x in first.operands] == ["q|%r1", "{a, _}", "[b+4]"]
        assert [cut(x) for x in second.operands] == ["a[c]", "-b.h0", "[c, {a}]"]
        pair, vector, address = first.operands
        assert isinstance(pair, Pair)
        assert isinstance(vector, Vector)
        assert isinstance(address, Address)
        assert address.base is not None
        assert [cut(x) for x in (pair.first, pair.second, *vector.elements, address.base)] == [
            "q",
            "%r1",
            "a",
            "_",
            "b",
        ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (".reg .u32 a;", Variable("reg", TYPES["u32"], "a")),
        (".reg .b32 %r<100>;", Variable("reg", TYPES["b32"], "%r", count=100)),
        (".reg .v4 .f32 V;", Variable("reg", TYPES["f32"], "V", vector=4)),
        (".global .align 8 .b8 x[4][2*3];", Variable("global", TYPES["b8"], "x", dimensions=(4, 6), align=8)),
        (
            ".extern .shared .align 16 .b8 s[];",
            Variable("shared", TYPES["b8"], "s", 1, (None,), align=16, linkage="extern"),
        ),
        (".const[3] .f32 c;", Variable("const", TYPES["f32"], "c", bank=3)),
        (".tex .u32 t;", Variable("tex", TYPES["u32"], "t")),
        (".global .texref t;", Variable("global", OPAQUE["texref"], "t")),
        (
            ".weak .global .s32 n = -10;",
            Variable("global", TYPES["s32"], "n", initializer=Integer(-10), linkage="weak"),
        ),
        (".align 8 .global .u32 x<4>;", Variable("global", TYPES["u32"], "x", count=4, align=8)),
        (".align 4 .global .align 8 .u32 x;", Variable("global", TYPES["u32"], "x", align=8)),
        (
            ".global .attribute(.managed) .align 4 .u32 m = 5;",
            Variable("global", TYPES["u32"], "m", initializer=Integer(5), align=4, attributes=(".managed",)),
        ),
        (
            ".global .u64 x = generic(y)+8;",
            Variable("global", TYPES["u64"], "x", initializer=SymbolValue(Name("y"), 8, True)),
        ),
        (
            ".global .u8 x = 0xFF00(y+4);",
            Variable("global", TYPES["u8"], "x", initializer=SymbolValue(Name("y"), 4, False, 0xFF00)),
        ),
        (
            ".global .f32 x[][2] = {{1.0, 0f00000000}, {y, 1+1}};",
            Variable(
                "global",
                TYPES["f32"],
                "x",
                dimensions=(None, 2),
                initializer=InitializerList(
                    (
                        InitializerList((Float(0x3FF0000000000000), Float(0, 32))),
                        InitializerList((SymbolValue(Name("y")), Integer(2))),
                    )
                ),
            ),
        ),
    ],
)
def test_variables(text: str, expected: Variable) -> None:
    assert variable(text) == expected


def test_numbers_in_a_table_are_constants_of_their_own() -> None:
    """Those with a comma each are taken in one go: with the places that they would have one by one."""
    words = ["7", "0x1fU", "0f3F800000", "1.5", "18446744073709551615", "1+2", "/* */ 5", "-6", "017"]
    text = ".global .b64 x[] = {" + " ,\n".join(words) + "};"
    found = variable(text).initializer
    assert isinstance(found, InitializerList)
    single = [variable(f".global .b64 x = {w};").initializer for w in words]
    assert list(found.elements) == single
    start = HEADER + ".global .b64 x[] = {7 ,\n"
    second, fifth = found.elements[1], found.elements[4]
    assert isinstance(second, Integer)
    assert isinstance(fifth, Integer)
    assert (second.span.start, second.span.end) == (len(start), len(start) + 5)
    assert fifth.span.end - fifth.span.start == len(words[4])


def test_several_declarators_share_what_stands_before_them() -> None:
    found = statements(".reg .align 4 .u32 a, b<3>, c;")
    u32 = TYPES["u32"]
    assert found == (
        Variable("reg", u32, "a", align=4),
        Variable("reg", u32, "b", count=3, align=4),
        Variable("reg", u32, "c", align=4),
    )


def test_linkage_as_a_directive_of_its_own() -> None:
    """Tables 104 and 105: the name is marked first and declared later, or the other way round."""
    found = module(".extern foo .b32 foo; .visible bar; .global .u32 baz, bar; .visible baz;").items
    assert [(v.name, v.linkage, v.space) for v in found if isinstance(v, Variable)] == [
        ("foo", "extern", "global"),
        ("baz", "visible", "global"),
        ("bar", "visible", "global"),
    ]


def test_kernel_parameters() -> None:
    found = function(
        ".visible .entry k(.param .u32 n, .param .align 8 .b8 s[12], .param .u64 .ptr .global .align 4 p,"
        " .param .u64 .ptr q) { ret; }"
    )
    u64 = TYPES["u64"]
    assert (found.kind, found.name, found.linkage, found.is_entry) == ("entry", "k", "visible", True)
    assert found.parameters == (
        Variable("param", TYPES["u32"], "n"),
        Variable("param", TYPES["b8"], "s", dimensions=(12,), align=8),
        Variable("param", u64, "p", pointer=PointerAttribute("global", 4)),
        Variable("param", u64, "q", pointer=PointerAttribute(None, None)),
    )


def test_kernel_without_parameter_list_and_parameters_in_the_body() -> None:
    found = function(".entry k { .param .u32 n; }")
    assert found.parameters == ()
    assert found.body == Block((Variable("param", TYPES["u32"], "n"),))


def test_function_declarations() -> None:
    found = module(
        ".func f; .extern .func (.param .b32 r) g (.reg .u32 x) .noreturn; .func (.reg .b32 r) h () { ret; }"
    )
    f, g, h = found.items
    assert f == Function("func", "f")
    assert g == Function(
        "func", "g", (Variable("param", TYPES["b32"], "r"),), (Variable("reg", TYPES["u32"], "x"),),
        (Performance("noreturn"),), None, "extern",
    )  # fmt: skip
    assert isinstance(h, Function)
    assert h.body == Block((Instruction("ret", (), ()),))


def test_performance_directives() -> None:
    found = function(
        '.entry k .maxntid 16, 16, 4 .maxnreg 20 .pragma "nounroll"; .maxnctapersm sm_10:4,sm_13:8 { }'
    )
    assert found.performance == (
        Performance("maxntid", (16, 16, 4)),
        Performance("maxnreg", (20,)),
        Performance("maxnctapersm", (("sm_10", 4), ("sm_13", 8))),
    )
    assert found.body == Block((Pragma(("nounroll",)),))


def test_labels_scopes_and_lists() -> None:
    found = statements(
        "$a: .reg .u32 x; { b: { } } c: ts: .branchtargets $a, c; fs: .calltargets f;"
        " p: .callprototype (.param .b32 _) _ (.param .align 4 .b8 _[8]) .noreturn; d:"
    )
    assert found == (
        Label("$a"),
        Variable("reg", TYPES["u32"], "x"),
        Block((Label("b"), Block(()))),
        Label("c"),
        TargetList("ts", "branchtargets", (Name("$a"), C)),
        TargetList("fs", "calltargets", (Name("f"),)),
        CallPrototype(
            "p",
            (Variable("param", TYPES["b32"], "_"),),
            (Variable("param", TYPES["b8"], "_", dimensions=(8,), align=4),),
            True,
        ),
        Label("d"),
    )


def test_debugging_directives() -> None:
    found = module(
        '.file "a.cu"\n.file 2 "b.cu", 17, 3\n.section .debug_info, "", @progbits // x\n'
        ".section .debug_str\n{\n$L0: // }\n  .b8  1 , 0x2 /* } */\n\n .b64 $L1-$L0\n"
        ".b32 .debug_abbrev+4;\n}\n"
    ).items
    assert found == (
        File(None, "a.cu"),
        File(2, "b.cu", (17, 3)),
        Section(".debug_info", ', "", @progbits'),
        Section(".debug_str", "", ("$L0:", ".b8 1 , 0x2", ".b64 $L1-$L0", ".b32 .debug_abbrev+4")),
    )
    assert statements(".loc 7\n.loc 2 16 3\n.loc 1 2 3, function_name $L0, inlined_at 1 5 6\nret;") == (
        Location(0, 7),
        Location(2, 16, 3),
        Location(1, 2, 3, "function_name $L0, inlined_at 1 5 6"),
        Instruction("ret", (), ()),
    )


def test_module_header() -> None:
    found = module(
        '.target sm_10, map_f64_to_f32 .address_size 64 .version 1.4 .alias f, g; .pragma "a", "b";'
    )
    assert (found.version, found.target, found.address_size) == ((1, 4), Target(("sm_13",)), 64)
    assert found.items == (Target(("sm_10", "map_f64_to_f32")), Alias("f", "g"), Pragma(("a", "b")))


def test_comments_and_line_markers_are_white_space() -> None:
    text = (
        '# 1 "a.cu"\n#line 4\n.version /* ; */ 1.4 // x\n  # 7 "b"\n.target sm_13\n'
        "@@DWARF .section x\n.entry k{/**/}"
    )
    found, diagnostics = parse(text)
    assert not diagnostics.found
    assert found is not None
    assert [f.name for f in found.items if isinstance(f, Function)] == ["k"]


def test_bytes_with_byte_order_mark_and_nul_at_the_end() -> None:
    found, diagnostics = parse(b"\xef\xbb\xbf" + HEADER.encode() + b"// caf\xe9\n\0")
    assert not diagnostics.found
    assert found == Module((1, 4), Target(("sm_13",)), ())


def test_names_of_one_texture() -> None:
    """Section 5.1.8: `.tex .u32 b, c;` are two names of one texture; printed as they were written."""
    text = ".version 1.4\n.target sm_10\n.tex .u32 a;\n.tex .u32 b, c, d;\n.global .u32 x;\n.global .u32 y;\n"
    module, _ = parse(text)
    assert module is not None
    shares = [v.shares for v in module.items if isinstance(v, Variable)]
    assert shares == ["", "", "b", "b", "", ""]
    assert print_module(module) == text
