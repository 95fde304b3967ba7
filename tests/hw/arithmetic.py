"""One-instruction kernels over the arithmetic chapters: what the recorder runs and the tests replay."""

from __future__ import annotations

import functools
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np

import simt.isa  # noqa: F401  # pyright: ignore[reportUnusedImport]  (fills the catalogue)
from simt.isa.catalogue import FORMS
from simt.isa.form import Binding, Form, OperandForm, Version
from simt.isa.targets import NEWEST
from simt.ptx.types import PRED, Type
from tests.hw.operands import LANES, PLACES
from tests.unit.isa.meaning import Array

SLOTS = PLACES + 1
"""Operands have a column each, by place; the last one is the carry flag's."""

OLD_VERSION: Version = (1, 4)
OLD_TARGET = 13
TABLE = 0xCA
CHUNK = 250
CHAPTERS = ("integer", "floating", "compare", "logic", "half", "video_vectors")


GPU = 90
"""The compute capability of the GPU that was asked, an H200's, times ten: it has not got what came later."""


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
        return (self.form.until_target or OLD_TARGET) if self.form.until else 90

    @property
    def name(self) -> str:
        """The opcode, after the version unless that is the newest."""
        version = "" if self.version == NEWEST else f"{self.version[0]}.{self.version[1]} "
        return version + self.opcode

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


@dataclass(frozen=True)
class OldCase(Case):
    """The same opcode in a module of PTX 1.4."""

    @property
    def version(self) -> Version:
        return OLD_VERSION

    @property
    def target(self) -> int:
        return OLD_TARGET


def is_old(form: Form, binding: Binding) -> bool:
    """Whether PTX 1.4 for its newest target has the instruction."""
    return form.allowed(binding, OLD_VERSION, OLD_TARGET)


@functools.cache
def cases() -> dict[str, Case]:
    """All cases by name. Forms that later versions have dropped are run in the last one that has them."""
    forms = [f for fs in FORMS.values() for f in fs if f.chapter in CHAPTERS]
    found = [c for f in forms for b in f.bindings() for c in versions_of(f, b)]
    return {case.name: case for case in found}


def versions_of(form: Form, binding: Binding) -> list[Case]:
    """The instruction in the newest version that has it and, if PTX 1.4 has it too, there."""
    newest = Case(form, binding)
    both = newest.version != OLD_VERSION and is_old(form, binding)
    return [newest, *([OldCase(form, binding)] if both else [])]


def chunks(named: dict[str, Case]) -> list[dict[str, Case]]:
    """Cases of one version and target, so many to a module."""
    groups: dict[tuple[Version, int], list[str]] = defaultdict(list)
    for name, case in named.items():
        groups[case.version, case.target].append(name)
    lists = [group[i : i + CHUNK] for group in groups.values() for i in range(0, len(group), CHUNK)]
    return [{name: named[name] for name in names} for names in lists]


# ---------------------------------------------------------------- kernels


def register_type(t: Type) -> str:
    """The declared type of a register: untyped, but for predicates and native floats."""
    return t.name if t.is_predicate or t.is_native_float else f"b{t.bits}"


def _load(t: Type, place: int, register: str, lanes: int) -> list[str]:
    address = f"[%in+{8 * lanes * place}]"
    if t.is_predicate:
        return [f"ld.global.b32 %m0, {address};", f"setp.ne.u32 {register}, %m0, 0;"]
    return [f"ld.global.{register_type(t)} {register}, {address};"]


def _store(t: Type, place: int, register: str, lanes: int) -> list[str]:
    address = f"[%out+{8 * lanes * place}]"
    if t.is_predicate:
        return [f"selp.u32 %m0, 1, 0, {register};", f"st.global.b32 {address}, %m0;"]
    return [f"st.global.{register_type(t)} {address}, {register};"]


def _carry(case: Case, lanes: int) -> tuple[list[str], list[str]]:
    """Instructions that set the carry flag from its column, and ones that read it into `%carry`."""
    before: list[str] = []
    after: list[str] = []
    if "in" in case.form.carry.split():
        flag = f"ld.global.b32 %m0, [%in+{8 * lanes * (SLOTS - 1)}];"
        before = [flag, "add.cc.u32 %m1, %m0, 0xffffffff;"]
    if "out" in case.form.carry.split():
        after = ["addc.u32 %m1, 0, 0;", "setp.ne.u32 %carry, %m1, 0;"]
    return before, after


def kernel(case: Case, name: str, lanes: int = LANES) -> str:
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
            loads += _load(t, place, register, lanes)
            place += 1
        else:
            results.append(register)
        if operand.second:
            declared.append(f".reg .pred {register}q;")
            results.append(f"{register}q")
            register += f"|{register}q"
        operands.append(register)
    before, after = _carry(case, lanes)
    results += ["%carry"] if after else []
    stores = [line for n, (t, r) in enumerate(zip(case.outputs, results)) for line in _store(t, n, r, lanes)]
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
    buffer = np.zeros((SLOTS, len(given["carry"])), np.uint64)
    for place, operand in enumerate(case.sources):
        buffer[place] = given[f"{case.type_of(operand).name}_{place}"]
    buffer[-1] = given["carry"]
    return buffer
