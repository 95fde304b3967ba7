"""Which types may stand for each other (PTX 1.4 tables 17, 18 and 19), and how two declarations of one name
differ."""

from __future__ import annotations

from functools import cache

from simt.ptx.nodes import Function, Variable
from simt.ptx.types import BF16, S16X2, U16X2, Kind, Type


@cache
def agrees(instruction: Type, operand: Type, relaxed: bool = False) -> bool:
    """Table 17; with `relaxed`, tables 18 and 19: registers may be wider than the instruction type.

    Untyped bits go with everything of their size and integers with integers; a floating-point type
    takes its own register type or untyped bits, and packed pairs likewise. Like ptxas, integers and
    pairs of integers also take registers of packed pairs, and .bf16 takes no wider registers.
    """
    if instruction.is_predicate or operand.is_predicate:
        return instruction is operand
    same_size = instruction.bits == operand.bits
    wider = relaxed and instruction is not BF16 and operand.bits > instruction.bits
    if not same_size and not wider:
        return False
    if Kind.BITS in (instruction.kind, operand.kind) or (instruction.is_integer and operand.is_integer):
        return True
    if operand.kind is Kind.PACKED and (instruction.is_integer or instruction in (S16X2, U16X2)):
        return True
    return instruction is operand


@cache
def elements_agree(first: Type, other: Type) -> bool:
    """Whether two registers may stand in one vector operand: same size, no integer beside a float."""
    return first.bits == other.bits and agrees(first, other)


def difference(here: Function | Variable, there: Function | Variable, linked: bool = False) -> str:
    """What one declaration of a name says that another does not, empty if they agree.

    `linked`: they stand in files that are linked, where types need to agree only. In one file they are the
    same, and so are the sizes and alignments of parameters.
    """
    match here, there:
        case Function(), Function():
            return _functions(here, there, linked)
        case Variable(), Variable():
            return _variables(here, there, linked)
        case _:
            return f"it is a {'function' if isinstance(there, Function) else 'variable'} there"


def _functions(here: Function, there: Function, linked: bool) -> str:
    if here.kind != there.kind:
        return f"it is {'an' if there.is_entry else 'a'} .{there.kind} there"
    for what, ours, theirs in (
        ("parameters", here.parameters, there.parameters),
        ("results", here.returns, there.returns),
    ):
        if len(ours) != len(theirs):
            return f"{len(ours)} {what}, there {len(theirs)}"
        for a, b in zip(ours, theirs):
            if found := _variables(a, b, linked) or ("" if linked else _layouts(a, b)):
                return f"{what[:-1]} `{a.name}`: {found}"
    return ""


def _variables(here: Variable, there: Variable, linked: bool) -> str:
    alike = agrees(here.type, there.type) if linked else here.type is there.type
    if here.space != there.space or here.vector != there.vector or not alike:
        return f"{_type(here)} here, {_type(there)} there"
    if len(here.dimensions) != len(there.dimensions):
        return "an array here only" if here.dimensions else "an array there only"
    known = [(a, b) for a, b in zip(here.dimensions, there.dimensions) if None not in (a, b)]
    return next((f"[{a}] here, [{b}] there" for a, b in known if a != b), "")


def _layouts(here: Variable, there: Variable) -> str:
    """How two parameters differ that have the same type: sizes left out do not stand for every size."""
    if here.dimensions != there.dimensions:
        return "an array of known size " + ("there only" if None in here.dimensions else "here only")
    if here.align != there.align:
        return f"alignment {here.align or 'by its type'} here, {there.align or 'by its type'} there"
    return ""


def _type(v: Variable) -> str:
    return f".{v.space} {f'.v{v.vector} ' if v.vector > 1 else ''}{v.type}"
