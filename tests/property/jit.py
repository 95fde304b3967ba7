"""Compiles cases over the LLVM algebra into loops over arrays, and runs them."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import llvmlite.binding as llvm
import numpy as np

from simt.engine.host import host_features
from simt.engine.llvm_algebra import element_type
from simt.engine.llvm_builder import Builder, ModuleText, Value, spell
from simt.engine.llvm_float import LlvmAlgebra
from simt.ptx.types import Type
from tests.property.cases import Case
from tests.property.values import Column, bits_dtype

llvm.initialize_native_target()
llvm.initialize_native_asmprinter()
llvm.initialize_native_asmparser()  # LLVM ends the process if it meets assembly without it


@dataclass(frozen=True)
class Setup:
    """`width` of the operands (1: scalars), and the CPU to compile for: None is this one.

    `features` are what the algebra is told that this CPU has. The operand numbered `scalar` is read as
    one scalar for each vector of the others."""

    name: str
    width: int = 32
    cpu: str | None = None
    features: frozenset[str] = host_features()
    scalar: int | None = None

    def __str__(self) -> str:
        return self.name

    @property
    def missing(self) -> frozenset[str]:
        """What this machine lacks to run the setup's code."""
        return self.features - host_features()


def machine(setup: Setup) -> llvm.TargetMachine:
    target = llvm.Target.from_default_triple()
    if setup.cpu:
        return target.create_target_machine(cpu=setup.cpu, features="", opt=1)
    flags = llvm.get_host_cpu_features().flatten()
    return target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=flags, opt=1)


def function_text(case: Case, number: int, setup: Setup, module: ModuleText) -> str:
    """`void case<number>(ptr inputs.., ptr output, i64 count)`: whole vectors of unsigned bits."""
    builder = Builder()
    m = LlvmAlgebra(builder, module, setup.width, setup.features)
    pointers = [f"%p{i}" for i in range(len(case.inputs))]
    widths = [setup.width] * len(pointers)
    if setup.scalar is not None:
        widths[setup.scalar] = 1
    values = [_load(builder, t, p, w) for t, p, w in zip(case.inputs, pointers, widths, strict=True)]
    result = case.run(m, *values)
    _store(m, case.output, result)
    head = f"define void @case{number}({', '.join(f'ptr {p}' for p in pointers)}, ptr %out, i64 %count) {{"
    loop = ["entry:", "  br label %loop", "loop:", "  %i = phi i64 [0, %entry], [%next, %loop]"]
    tail = [f"  %next = add i64 %i, {setup.width}", "  %more = icmp ult i64 %next, %count"]
    end = ["  br i1 %more, label %loop, label %done", "done:", "  ret void", "}"]
    return "\n".join([head, *loop, *builder.lines, *tail, *end])


def _bits(t: Type) -> str:
    return f"i{bits_dtype(t).itemsize * 8}"


def _load(builder: Builder, t: Type, pointer: str, width: int) -> Value:
    address = builder.emit(f"getelementptr {_bits(t)}, ptr {pointer}, i64 %i")
    bits = builder.emit(f"load {spell(_bits(t), width)}, ptr {address}, align 1")
    wide = spell(_bits(t), width)
    if t.is_predicate:
        return Value(builder.emit(f"trunc {wide} {bits} to {spell('i1', width)}"), "i1", width)
    if not t.is_native_float:
        return Value(bits, _bits(t), width)
    cast = builder.emit(f"bitcast {wide} {bits} to {spell(element_type(t), width)}")
    return Value(cast, element_type(t), width)


def _store(m: LlvmAlgebra, t: Type, result: Value) -> None:
    assert result.type == element_type(t)
    wide = m.vector(result)
    if t.is_predicate:
        wide = m.cast("zext", "i8", wide)
    address = m.builder.emit(f"getelementptr {_bits(t)}, ptr %out, i64 %i")
    m.builder.void(f"store {wide.typed}, ptr {address}, align 1")


class Compiled:
    """The functions of some cases under one setup. Keeps the code alive."""

    def __init__(self, cases: tuple[Case, ...], setup: Setup) -> None:
        module = ModuleText()
        for number, case in enumerate(cases):
            module.define(f"case{number}", function_text(case, number, setup, module))
        self.setup = setup
        self.text = str(module)
        self.numbers = {case: number for number, case in enumerate(cases)}
        self._engine = self._link(setup)

    def _link(self, setup: Setup) -> llvm.ExecutionEngine:
        parsed = llvm.parse_assembly(self.text)
        parsed.verify()
        target = machine(setup)
        passes = llvm.create_pass_builder(target, llvm.create_pipeline_tuning_options(speed_level=1))
        passes.getModulePassManager().run(parsed, passes)
        engine = llvm.create_mcjit_compiler(parsed, target)
        engine.finalize_object()
        return engine

    def run(self, case: Case, columns: list[Column]) -> Column:
        """Runs over the columns, padded to whole vectors by repeating the first value."""
        count = len(columns[0])
        padded = -(-count // self.setup.width) * self.setup.width
        inputs = [np.concatenate([c, np.repeat(c[:1], padded - count)]) for c in columns]
        out = np.zeros(padded, bits_dtype(case.output))
        kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (len(inputs) + 1), ctypes.c_int64)
        function = kind(self._engine.get_function_address(f"case{self.numbers[case]}"))
        function(*(c.ctypes.data for c in (*inputs, out)), padded)
        return out[:count]
