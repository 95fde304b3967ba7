"""Where an operand stands: its instruction, and its place among the operands."""

from __future__ import annotations

from simt.isa.form import Binding, Form, OperandForm
from simt.ptx import nodes
from simt.ptx.symbols import Scope
from simt.ptx.types import Type
from simt.records import dataclass
from simt.verify.context import Context
from simt.verify.shapes import Shapes


@dataclass(frozen=True, slots=True)
class Site:
    """The instruction whose operands are checked. `spelled`: opcode and modifiers as written."""

    context: Context
    shapes: Shapes
    scope: Scope
    instruction: nodes.Instruction
    form: Form
    binding: Binding
    spelled: str


@dataclass(frozen=True, slots=True)
class Place:
    """One operand position of a site: its form, type and number of vector elements."""

    site: Site
    form: OperandForm
    type: Type
    count: int

    @property
    def relaxed(self) -> bool:
        return self.site.form.relaxed

    @property
    def role(self) -> str:
        return "destination" if self.form.destination else "source"
