"""One-instruction kernels over the arithmetic chapters: what the recorder runs and the tests replay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import simt.isa  # noqa: F401  # pyright: ignore[reportUnusedImport]  (fills the catalogue)
from simt.isa.catalogue import FORMS
from simt.isa.form import Binding, Form, OperandForm, Version
from simt.isa.targets import NEWEST
from simt.ptx.types import BF16, F16, F16X2, PRED, TYPES, Kind, Type
from tests.unit.isa.columns import float_bits
from tests.unit.isa.meaning import Array
from tests.unit.isa.refused import DIFFERENCES

LANES = 128
SLOTS = 5
"""Operands have a column each, by place; the last one is the carry flag's."""

TABLE = 0xCA
CHAPTERS = ("integer", "floating", "compare", "logic", "half", "video")


@dataclass(frozen=True)
class Case:
    """One opcode. `inputs`: types of the register operands; `outputs`: of all results, the carry last."""

    form: Form
    binding: Binding

    @property
    def opcode(self) -> str:
        return self.form.spell(self.binding)

    @property
    def version(self) -> Version:
        return self.form.until or NEWEST

    @property
    def target(self) -> int:
        return 13 if self.form.until else 90

    @property
    def sources(self) -> list[OperandForm]:
        return [o for o in self.form.operands if not o.destination and o.kind != "imm"]

    def type_of(self, operand: OperandForm) -> Type:
        return self.form.operand_type(operand, self.binding)[0]

    @property
    def outputs(self) -> list[Type]:
        found: list[Type] = []
        for operand in (o for o in self.form.operands if o.destination):
            found += [self.type_of(operand), *([PRED] if operand.second else [])]
        return found + ([PRED] if "out" in self.form.carry.split() else [])


def cases() -> dict[str, Case]:
    """All cases by opcode, and by opcode and version where an old version says it otherwise."""
    found: dict[str, Case] = {}
    for form in (f for fs in FORMS.values() for f in fs if f.chapter in CHAPTERS):
        for binding in form.bindings():
            case = Case(form, binding)
            if not (form.until and case.opcode in DIFFERENCES):  # NVIDIA's assembler refuses those
                found[case.opcode] = case
    return found


# ---------------------------------------------------------------- operands


def column(t: Type, seed: int) -> Array:
    """The bits of one operand for all lanes, as 64-bit integers: special values first, then random ones."""
    random = np.random.default_rng(seed * 1000 + sum(t.name.encode()))
    if t.is_predicate:
        return random.integers(0, 2, LANES).astype(np.uint64)
    if t.kind is Kind.PACKED:
        e = F16 if t is F16X2 else BF16
        return column(e, seed) | column(e, seed + 50) << np.uint64(16)
    if t.is_float:
        return random.permutation(float_bits(t, 1, 60)[0].astype(np.uint64))[:LANES]
    top = 1 << t.bits
    edges = [v % top for s in (0, 1, 2, 5, 31, 32, 33, 64, 255) for v in (s, -s, top // 2 + s, top // 2 - s)]
    drawn = [
        int.from_bytes(random.bytes(8), "little") % top >> int(random.integers(t.bits)) for _ in range(LANES)
    ]
    small = [int(v) for v in random.integers(0, 40, 30)]
    return random.permutation(np.array((edges + small + drawn)[:LANES], np.uint64))


def columns() -> dict[str, Array]:
    """Operands by type and place, as `f32_0`; `carry` for the carry flag."""
    found = {f"{t.name}_{i}": column(t, i) for t in TYPES.values() if t.bits <= 64 for i in range(SLOTS - 1)}
    return found | {"carry": column(PRED, 99)}


# ---------------------------------------------------------------- kernels


def register_type(t: Type) -> str:
    """The declared type of a register: untyped, but for predicates and native floats."""
    return t.name if t.is_predicate or t.is_native_float else f"b{t.bits}"


def _load(t: Type, place: int, register: str) -> list[str]:
    address = f"[%in+{8 * LANES * place}]"
    if t.is_predicate:
        return [f"ld.global.b32 %m0, {address};", f"setp.ne.u32 {register}, %m0, 0;"]
    return [f"ld.global.{register_type(t)} {register}, {address};"]


def _store(t: Type, place: int, register: str) -> list[str]:
    address = f"[%out+{8 * LANES * place}]"
    if t.is_predicate:
        return [f"selp.u32 %m0, 1, 0, {register};", f"st.global.b32 {address}, %m0;"]
    return [f"st.global.{register_type(t)} {address}, {register};"]


def _carry(case: Case) -> tuple[list[str], list[str]]:
    """Instructions that set the carry flag from its column, and ones that read it into `%carry`."""
    before: list[str] = []
    after: list[str] = []
    if "in" in case.form.carry.split():
        flag = f"ld.global.b32 %m0, [%in+{8 * LANES * (SLOTS - 1)}];"
        before = [flag, "add.cc.u32 %m1, %m0, 0xffffffff;"]
    if "out" in case.form.carry.split():
        after = ["addc.u32 %m1, 0, 0;", "setp.ne.u32 %carry, %m1, 0;"]
    return before, after


def kernel(case: Case, name: str) -> str:
    """An entry of two pointers, input columns and output columns, that executes the opcode in each lane."""
    declared: list[str] = []
    operands: list[str] = []
    loads: list[str] = []
    results: list[str] = []
    place = 0
    for i, operand in enumerate(case.form.operands):
        if operand.kind == "imm":
            operands.append(str(TABLE))
            continue
        t, register = case.type_of(operand), f"%v{i}"
        declared.append(f".reg .{register_type(t)} {register};")
        if not operand.destination:
            loads += _load(t, place, register)
            place += 1
        else:
            results.append(register)
        if operand.second:
            declared.append(f".reg .pred {register}q;")
            results.append(f"{register}q")
            register += f"|{register}q"
        operands.append(register)
    before, after = _carry(case)
    results += ["%carry"] if after else []
    stores = [line for n, (t, r) in enumerate(zip(case.outputs, results)) for line in _store(t, n, r)]
    opcode = f"{case.opcode} {', '.join(operands)};"
    return _entry(case.version, name, [*declared, *loads, *before, opcode, *after, *stores])


def _entry(version: Version, name: str, body: list[str]) -> str:
    old = version < (1, 4)
    head = f".entry {name}" + (" {" if old else " (.param .u64 from, .param .u64 to) {")
    lines = [head, *([".param .u64 from; .param .u64 to;"] if old else [])]
    lines += [".reg .u32 %m0, %m1, %lane; .reg .pred %carry; .reg .u64 %in, %out, %offset;"]
    lines += ["cvt.u32.u16 %lane, %tid.x;" if version < (2, 0) else "mov.u32 %lane, %tid.x;"]
    lines += ["mul.wide.u32 %offset, %lane, 8;", "ld.param.u64 %in, [from];", "ld.param.u64 %out, [to];"]
    lines += ["add.u64 %in, %in, %offset;", "add.u64 %out, %out, %offset;", *body, "exit;", "}"]
    return "\n".join(lines)


def module_text(version: Version, target: int, kernels: list[str]) -> str:
    size = ".address_size 64\n" if version >= (2, 3) else ""
    return f".version {version[0]}.{version[1]}\n.target sm_{target}\n{size}" + "\n".join(kernels) + "\n"


def input_columns(case: Case, given: dict[str, Any]) -> Array:
    """The input buffer of a case: a column for each operand, and the carry flag's."""
    buffer = np.zeros((SLOTS, LANES), np.uint64)
    for place, operand in enumerate(case.sources):
        buffer[place] = given[f"{case.type_of(operand).name}_{place}"]
    buffer[-1] = given["carry"]
    return buffer
