"""Operands in the words of messages."""

from __future__ import annotations

from simt.diagnostics import counted
from simt.ptx import nodes
from simt.verify.shapes import Shape, What


def describe(operand: nodes.Operand, shape: Shape) -> str:
    """What an operand is: its name, if it has a short one, and its kind."""
    name = written(operand)
    match shape.what:
        case What.REGISTER:
            vector = f".v{shape.count} " if shape.count > 1 else ""
            return f"{name}, a {vector}{shape.type} register"
        case What.SPECIAL:
            vector = f".v{shape.count} " if shape.count > 1 else ""
            return f"{name}, a {vector}{shape.type} special register"
        case What.VARIABLE:
            return f"{name}, a .{shape.space} variable"
        case What.VECTOR:
            return f"a vector of {counted(shape.count, 'element')}"
        case What.INTEGER | What.FLOAT:
            return f"the {shape.what.value} {name}"
        case What.SINK:
            return "`_`"
        case What.LABEL | What.FUNCTION | What.PROTOTYPE | What.TARGETS | What.SUBWORD:
            return f"{name}, a {shape.what.value}"
        case What.ADDRESS | What.INDEXED | What.ARGUMENTS | What.UNKNOWN | What.MINUS:
            return f"an {shape.what.value}"
        case What.SUM:
            return f"{name}, an {shape.what.value}"
        case _:
            return f"a {shape.what.value}"


def written(operand: nodes.Operand) -> str:
    """Names, elements and constants as the program writes them; other operands as "this"."""
    match operand:
        case nodes.Name(name=name):
            return f"`{_short(name)}`"
        case nodes.Element(base=base, selector=selector):
            return f"`{_short(base.name)}.{_short(selector)}`"
        case nodes.Integer(value=value):
            return f"`{value}`"
        case nodes.Sum(base=base, offset=offset):
            return f"`{_short(base.name)}+{offset}`"
        case nodes.Float(bits=bits, width=width, value=value):
            return f"`0f{bits:08x}`" if width == 32 else f"`{value!r}`"
        case _:
            return "this"


def _short(name: str) -> str:
    return name if len(name) <= 60 else name[:57] + "..."
