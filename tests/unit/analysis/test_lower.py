"""Lowering: what a module's text becomes."""

from __future__ import annotations

import struct

import pytest

from simt.analysis.lower import lower
from simt.analysis.program import (
    Barrier,
    Branch,
    Call,
    Constant,
    Exit,
    Function,
    Op,
    Program,
    Register,
    Special,
)
from simt.errors import PtxError
from simt.ptx.parser import parse

HEADER = ".version 7.0\n.target sm_75\n.address_size 64\n"


def lowered(text: str, header: str = HEADER) -> Program:
    module, found = parse(header + text)
    assert not found.errors, [d.render() for d in found.errors]
    assert module is not None
    return lower(module)


def kernel(body: str, before: str = "", parameters: str = "") -> Function:
    return lowered(f"{before}\n.entry k({parameters}) {{ {body} }}").functions["k"]


def ops(function: Function) -> list[Op]:
    return [op for op in function.ops() if isinstance(op, Op)]


# ---------------------------------------------------------------- operands


@pytest.mark.parametrize(
    ("instruction", "bits"),
    [
        ("mov.u32 %r, -1;", 0xFFFFFFFF),
        ("mov.s32 %r, 0x1FFFFFFFF;", 0xFFFFFFFF),
        ("mov.b32 %r, 0f3F800000;", 0x3F800000),
        ("mov.f32 %f, 0d3FF0000000000000;", 0x3F800000),
        ("mov.f64 %d, 0f3F800000;", 0x3FF0000000000000),
        ("mov.f32 %f, 0.1;", struct.unpack("<I", struct.pack("<f", 0.1))[0]),
    ],
)
def test_constants_have_the_type_of_their_use(instruction: str, bits: int) -> None:
    op = ops(kernel(f".reg .b32 %r; .reg .f32 %f; .reg .f64 %d; {instruction}"))[0]
    source = op.sources["a"]
    assert isinstance(source, Constant)
    assert source.bits == bits


def test_special_registers_are_typed() -> None:
    op = ops(kernel(".reg .b32 %r; mov.u32 %r, %tid.y;"))[0]
    source = op.sources["a"]
    assert isinstance(source, Special)
    assert (source.name, source.component, source.type.name) == ("tid", "y", "u32")


def test_vectors_are_split() -> None:
    op = ops(kernel(".reg .v4 .f32 %v; .reg .b64 %a; ld.global.v4.f32 %v, [%a];"))[0]
    assert [d.name for d in op.destinations if d] == ["%v.x", "%v.y", "%v.z", "%v.w"]


def test_names_of_inner_scopes_are_other_registers() -> None:
    function = kernel(".reg .b32 %r; mov.u32 %r, 1; { .reg .b32 %r; mov.u32 %r, 2; } mov.u32 %r, 3;")
    outer, inner, again = (op.destinations[0] for op in ops(function))
    assert outer is again
    assert outer is not inner


# ---------------------------------------------------------------- control flow


def test_guarded_exit_becomes_a_branch_around_it() -> None:
    function = kernel(".reg .pred %p; .reg .b32 %r; @!%p exit; mov.u32 %r, 1;")
    entry = function.blocks[0].terminator
    assert isinstance(entry, Branch)
    assert entry.negated
    assert isinstance(entry.taken.terminator, Exit)
    assert not entry.taken.ops
    assert len(entry.otherwise.ops) == 1


def test_unreachable_blocks_are_dropped_and_the_rest_numbered() -> None:
    function = kernel(".reg .b32 %r; bra L; mov.u32 %r, 1; M: mov.u32 %r, 2; L: mov.u32 %r, 3;")
    assert [b.index for b in function.blocks] == list(range(len(function.blocks)))
    assert [op.sources["a"].bits for op in ops(function) if isinstance(op.sources["a"], Constant)] == [3]


def test_functions_with_barriers_are_inlined() -> None:
    program = lowered(".func f() { bar.sync 0; ret; }\n.entry k() { call f; call f; exit; }")
    barriers = [b for b in program.functions["k"].blocks if isinstance(b.terminator, Barrier)]
    assert len(barriers) == 2
    assert not [op for op in program.functions["k"].ops() if isinstance(op, Call)]


def test_recursion_is_found() -> None:
    text = ".func g();\n.func f() { call g; ret; }\n.func g() { call f; ret; }\n.func h() { ret; }\n"
    program = lowered(text + ".entry k() { call f; call h; ret; }")
    assert {n for n, f in program.functions.items() if f.recursive} == {"f", "g"}


# ---------------------------------------------------------------- parameters and layout


def test_parameters_of_functions_are_registers() -> None:
    program = lowered(
        ".func (.param .b32 r) f(.param .b64 a, .param .align 4 .b8 s[12]) { ret; }\n.entry k() { ret; }"
    )
    function = program.functions["f"]
    assert [r.type.bits for r in function.parameters] == [64, 32, 32, 32]
    assert [r.type.bits for r in function.results] == [32]


def test_arguments_have_the_sizes_of_the_parameters() -> None:
    text = ".func f(.reg .u16 a, .reg .u64 b) { ret; }\n.entry k() { .reg .u16 %h; call f, (%h, 7); }"
    call = next(op for op in lowered(text).functions["k"].ops() if isinstance(op, Call))
    assert isinstance(call.arguments[0], Register)
    assert [a.type.bits for a in call.arguments if isinstance(a, Register | Constant)] == [16, 64]


def test_kernel_parameters_are_laid_out_by_alignment() -> None:
    function = kernel(
        "ret;", parameters=".param .u8 a, .param .u64 b, .param .align 16 .b8 c[20], .param .f32 d"
    )
    assert [(p.offset, p.size) for p in function.kernel_parameters] == [(0, 1), (8, 8), (16, 20), (36, 4)]
    assert function.parameter_size == 40


def test_old_parameters_are_declared_in_the_body() -> None:
    program = lowered(
        ".entry k { .param .u32 n; .param .u64 p; .reg .u32 r; ld.param.u32 r, [n]; exit; }",
        ".version 1.0\n.target sm_10\n",
    )
    assert [(p.name, p.offset) for p in program.functions["k"].kernel_parameters] == [("n", 0), ("p", 8)]


def test_shared_memory_of_a_kernel_is_what_it_reaches() -> None:
    text = """
    .shared .align 4 .b8 unused[100];
    .shared .align 4 .b8 three[3];
    .extern .shared .align 16 .b8 dynamic[];
    .func f() { .shared .align 8 .b64 eight; .reg .b64 %r; ld.shared.u64 %r, [eight]; ret; }
    .entry k() { .reg .b32 %r; ld.shared.u8 %r, [three]; mov.u32 %r, dynamic; call f; ret; }
    """
    function = lowered(text).functions["k"]
    assert function.shared == {"three": 0, "f::eight": 8, "dynamic": 16}
    assert (function.shared_size, function.dynamic_shared) == (16, 16)


def test_images_of_module_variables() -> None:
    text = """
    .func f() { ret; }
    .global .align 2 .s16 rows[2][3] = {{1, -1}, {7}};
    .global .f32 one = 1.0;
    .const .align 8 .u64 table[2] = {f, rows+4};
    .global .b8 bytes[] = {1, 2, 0xFF00(rows)};
    """
    variables = lowered(text).variables
    assert variables["rows"].data == struct.pack("<6h", 1, -1, 0, 7, 0, 0)
    assert variables["rows"].shape == (2, 3)
    assert variables["one"].data == struct.pack("<f", 1)
    assert variables["table"].relocations == ((0, "f", 0, False, None), (8, "rows", 4, False, None))
    assert (variables["bytes"].size, variables["bytes"].relocations) == (3, ((2, "rows", 0, False, 1),))


def test_limits() -> None:
    program = lowered(".entry k() .maxntid 64, 2 .minnctapersm 3 { ret; }")
    assert program.functions["k"].limits == {"maxntid": (64, 2, 1), "minnctapersm": (3,)}


# ---------------------------------------------------------------- refusals, speed


def test_what_cannot_be_lowered_is_reported_with_its_line() -> None:
    with pytest.raises(PtxError) as error:
        lowered(".func missing();\n.entry k() {\ncall missing;\n}")
    (found,) = error.value.diagnostics
    assert found.line == 6
    assert found.message == "function `missing` is declared but not defined in this module"


def test_a_long_kernel() -> None:
    body = "".join(f"add.u32 %r{i % 90}, %r{(i + 7) % 90}, {i};\n" for i in range(20_000))
    module, _ = parse(f"{HEADER}.entry k() {{ .reg .b32 %r<90>; {body} }}")
    assert module is not None
    assert len(ops(lower(module).functions["k"])) == 20_000


def test_brackets_of_old_addresses_may_be_missing() -> None:
    program = lowered(
        ".entry k { .param .u32 n; .reg .u32 r; ld.param.u32 r, n; exit; }", ".version 1.0\n.target sm_10\n"
    )
    (op,) = ops(program.functions["k"])
    assert repr(op.sources["a"]).startswith("Address(base=SymbolAddress(space='param', name='n'")
