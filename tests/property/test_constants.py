"""Constants of the LLVM algebra: every bit pattern reaches the compiled code unchanged."""

from __future__ import annotations

import ctypes

import llvmlite.binding as llvm
import pytest

from simt.engine.llvm_algebra import element_type
from simt.engine.llvm_builder import Builder, ModuleText, Value
from simt.engine.llvm_float import LlvmAlgebra
from simt.engine.numpy_algebra import NumpyAlgebra
from simt.ptx.types import B8, B16, BF16, F16, F32, F64, PRED, S32, S64, U8, U16, U32, U64, Type
from tests.property.jit import Setup, machine
from tests.property.values import specials

TYPES = (PRED, B8, U8, B16, U16, S32, U32, S64, U64, F16, BF16, F32, F64)


def compiled_constants(t: Type, patterns: list[int]) -> list[int]:
    """Stores each constant of type `t`, as a scalar, and reads its bits back."""
    builder = Builder()
    m = LlvmAlgebra(builder, ModuleText())
    for i, bits in enumerate(patterns):
        place = builder.emit(f"getelementptr i64, ptr %out, i64 {i}")
        value = m.const(t, bits)
        assert value.type == element_type(t)
        builder.void(f"store {value.typed}, ptr {place}, align 1")
    parsed = llvm.parse_assembly("\n".join(["define void @f(ptr %out) {", *builder.lines, "  ret void", "}"]))
    parsed.verify()
    engine = llvm.create_mcjit_compiler(parsed, machine(Setup("host")))
    engine.finalize_object()
    out = (ctypes.c_uint64 * len(patterns))()
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(engine.get_function_address("f"))(ctypes.addressof(out))
    return list(out)


@pytest.mark.parametrize("t", TYPES, ids=str)
def test_llvm_constant(t: Type) -> None:
    patterns = specials(t)
    assert compiled_constants(t, patterns) == patterns


@pytest.mark.parametrize("t", TYPES, ids=str)
def test_numpy_constant(t: Type) -> None:
    m = NumpyAlgebra()
    for bits in specials(t):
        assert int(m.to_bits(t, m.const(t, bits))[0]) == bits


@pytest.mark.parametrize(
    ("value", "literal"),
    [
        (Value("7", "i32"), 7),
        (Value("-1", "i16"), 0xFFFF),
        (Value("true", "i1"), 1),
        (Value("false", "i1"), 0),
        (Value("%v1", "i32"), None),
        (Value("@table", "i64"), None),
        (Value("poison", "i32"), None),
        (Value("0.0", "float"), None),
        (Value("splat (i32 7)", "i32", 32), None),
    ],
)
def test_literal(value: Value, literal: int | None) -> None:
    assert value.literal == literal


def test_module_holds_each_thing_once() -> None:
    module = ModuleText()
    for _ in range(2):
        m = LlvmAlgebra(Builder(), module, features=frozenset())
        a = Value("%a", "float", 32)
        m.fadd(F32, a, a, "rm")
        m.fadd(F32, a, Value("%s", "float"), "rm")
        m.popcount(U32, Value("%n", "i32"))
    text = str(module)
    assert text.count("define internal <32 x float> @simt.add.rm.f32.32(") == 1
    assert text.count("declare i32 @llvm.ctpop.i32(i32)") == 1
