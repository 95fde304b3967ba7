"""Instructions that are not control flow, as ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from simt.analysis import lower_cells
from simt.analysis.lower_builder import Builder
from simt.analysis.lower_context import Cells, Context, Unlowerable
from simt.analysis.lower_forms import PART, copy, simple
from simt.analysis.lower_operands import Operands
from simt.analysis.program import Address, Constant, Guard, Op, Operand, Register, Source
from simt.isa.form import Binding, Form, OperandForm, split
from simt.isa.mapped import single_precision
from simt.isa.select import Mismatch, select
from simt.ptx import nodes
from simt.ptx.symbols import Scope
from simt.ptx.types import PRED, U32, Type, bits_type, unsigned
from simt.records import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """What is done with one operand of a form. `place`: where it is written, None if it is left out; `t`,
    `count`: its type and vector size. `plain`: a scalar that is read as it is written."""

    operand: OperandForm
    place: int | None
    t: Type
    count: int
    plain: bool


@dataclass(slots=True)
class Plan:
    """What all uses of one opcode with so many operands have in common. `types`: of each operand, with its
    vector size. `address`: which operand is one, if any."""

    form: Form
    binding: Binding
    types: tuple[tuple[Type, int], ...]
    steps: tuple[Step, ...]
    address: int | None


class Plans:
    """The selected form of every opcode met so far."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._known: dict[tuple[str, tuple[str, ...], int], Plan] = {}

    def find(self, node: nodes.Instruction) -> Plan:
        """The form of an instruction. Raises `Unlowerable` where there is none."""
        key = (node.opcode, node.modifiers, len(node.operands))
        plan = self._known.get(key)
        if plan is None:
            plan = self._known[key] = self._select(node)
        return plan

    def _select(self, node: nodes.Instruction) -> Plan:
        environment = self.context.environment
        asked = (node.opcode, node.modifiers, len(node.operands), environment.version, environment.target)
        single = single_precision(*asked) if environment.has_single_only else None
        found = single or select(*asked)
        if isinstance(found, Mismatch):
            raise Unlowerable(found.message, node.span, found.hint)
        form = found.form
        types = tuple(_type(form, o, found.binding) for o in form.operands) if form.runs else ()
        places = align(form, range(len(node.operands)))
        steps = [
            Step(operand, place, t, count, _is_plain(operand, count) and place is not None)
            for operand, place, (t, count) in zip(form.operands, places, types)
        ]
        address = next((i for i, o in enumerate(form.operands) if o.address), None)
        return Plan(form, found.binding, types, tuple(steps), address)


def _is_plain(operand: OperandForm, count: int) -> bool:
    """Whether an operand is a scalar source without modifiers, of which nothing else depends."""
    bare = not (operand.destination or operand.selector or operand.signed or operand.spec.startswith("pack("))
    return bare and count == 1 and operand.kind == "value"


def _type(form: Form, operand: OperandForm, binding: Binding) -> tuple[Type, int]:
    if operand.kind in ("value", "imm"):
        return form.operand_type(operand, binding)
    if operand.kind == "texture":
        coordinate = next((binding[n] for n in ("btype", "ctype", "stype") if n in binding), U32)
        return (coordinate if isinstance(coordinate, Type) else U32), 1
    return U32, 1


Written = TypeVar("Written")


def align(form: Form, operands: Sequence[Written]) -> list[Written | None]:
    """Written operands in the places of the form's: optional ones are left out from the right."""
    missing = len(form.operands) - len(operands)
    rest = list(operands)
    aligned: list[Written | None] = []
    optional = sum(o.optional for o in form.operands)
    for operand in form.operands:
        present = not operand.optional or optional > missing
        optional -= operand.optional
        missing -= not present
        aligned.append(rest.pop(0) if present and rest else None)
    return aligned


class Instructions:
    """Lowers the straight-line instructions of one function."""

    def __init__(self, builder: Builder, operands: Operands, plans: Plans) -> None:
        self.b = builder
        self.operands = operands
        self.plans = plans

    def lower(self, scope: Scope, node: nodes.Instruction, plan: Plan) -> None:
        guard = self.operands.guard(scope, node.guard)
        if not self._cell_access(scope, node, plan, guard):
            self.b.emit(self._op(scope, node, plan, guard))

    # ------------------------------------------------------------------ ops

    def _op(self, scope: Scope, node: nodes.Instruction, plan: Plan, guard: Guard | None) -> Op:
        op = Op(plan.form, plan.binding, {}, {}, (), (), guard, self.b.line)
        operands, source = node.operands, self.operands.source
        for step in plan.steps:
            operand, t, place = step.operand, step.t, step.place
            if step.plain and place is not None:  # most are
                op.source_types[operand.name] = t
                op.sources[operand.name] = source(scope, operands[place], t)
                continue
            written = self._modified(op, operand, None if place is None else operands[place])
            if operand.destination:
                self._destination(op, scope, operand, written, t)
            elif operand.address:
                assert written is not None
                address = op.sources[operand.name] = self._address(op, scope, written)
                if "address" in op.binding:
                    op.binding = {
                        **op.binding,
                        "address": unsigned(address.base.type.bits if address.base else 64),
                    }
                self._name_space(op, scope, written)
            elif operand.kind == "texture":
                self._texture(op, scope, operand, written, t)
            else:
                value = op.sources[operand.name] = self._value(op, scope, operand, written, t, step.count)
                if operand.kind == "imm" and "size" in op.binding and isinstance(value, Constant):
                    op.binding = {**op.binding, "size": str(value.bits)}
        if plan.form.carry:
            self._carry(op)
        return op

    def _modified(self, op: Op, operand: OperandForm, written: nodes.Operand | None) -> nodes.Operand | None:
        """The operand without its minus sign and selector, which go into the op's binding."""
        if written is None or not (operand.selector or operand.signed):
            return written
        plain, bound = split(operand, written)
        op.binding = {**op.binding, **bound}
        return plain

    def _address(self, op: Op, scope: Scope, written: nodes.Operand) -> Address:
        """A memory operand. A constant address of a parameter counts from the first (section 5.1.6)."""
        found = self.operands.address(scope, written)
        first = self.b.first_parameter
        if found.base is None and op.binding.get("space") == "param" and first is not None:
            return Address(self.operands.stored(first, 0), found.offset)
        return self._truncated(found)

    def _truncated(self, address: Address) -> Address:
        """An address of a module with 32-bit addresses: the upper half of a wider register is ignored (table
        68). The engines do the same for shared and local memory in all modules."""
        base = address.base
        short = self.plans.context.address_type == U32
        if not short or not isinstance(base, Register) or base.type.bits <= 32:
            return address
        low = self.b.temporary(U32)
        self.b.emit(copy(low, base, U32, self.b.line))
        return Address(low, address.offset)

    def _destination(
        self, op: Op, scope: Scope, operand: OperandForm, written: nodes.Operand | None, t: Type
    ) -> None:
        packs = operand.spec.startswith("pack(")
        if isinstance(written, nodes.Name) and operand.second is None and not packs:  # most are
            found = self.operands.written(scope, written)
            op.destinations += found
            op.result_types += (t,) * len(found)
            return
        first, second = (
            (written.first, written.second) if isinstance(written, nodes.Pair) else (written, None)
        )
        found = [None] if first is None else self.operands.destinations(scope, first)
        if packs and len(found) > 1:
            op.binding = {**op.binding, "unpack": str(len(found))}
            t = bits_type(t.bits // len(found))
        op.destinations += tuple(found)
        op.result_types += (t,) * len(found)
        if operand.second is not None:
            other = self.operands.destinations(scope, second) if second is not None else [None]
            op.destinations += tuple(other)
            op.result_types += (PRED,)

    def _value(
        self, op: Op, scope: Scope, operand: OperandForm, written: nodes.Operand | None, t: Type, count: int
    ) -> Operand:
        """A source operand; the type in which it is read goes into the op."""
        op.source_types[operand.name] = t
        if written is None:
            return None
        if count == 1 and not operand.spec.startswith("pack("):
            return self.operands.source(scope, written, t)
        values = self.operands.sources(scope, written, t)
        if len(values) == 1:
            return values[0] if count == 1 else self._parts(values[0], t, count)
        if count == 1:
            op.source_types[operand.name] = bits_type(t.bits // len(values))
            values = self.operands.sources(scope, written, bits_type(t.bits // len(values)))
        return values

    def _parts(self, whole: Source, t: Type, count: int) -> tuple[Register, ...]:
        """The equal parts of a scalar, widened with zeros: the vector that ptxas makes of it."""
        part = bits_type(t.bits // count)
        found = tuple(self.b.temporary(bits_type(t.bits)) for _ in range(count))
        for i, register in enumerate(found):
            first = Constant(U32, i * part.bits)
            sources: dict[str, tuple[Source | Address, Type]] = {"a": (whole, t), "n": (first, U32)}
            self.b.emit(simple(PART, part, register, sources, self.b.line, atype=t))
        return found

    def _texture(
        self, op: Op, scope: Scope, operand: OperandForm, written: nodes.Operand | None, t: Type
    ) -> None:
        """`[a, c]`: the texture under the operand's name, its coordinates as `c`."""
        if not isinstance(written, nodes.TextureAddress):
            raise Unlowerable(
                "expected [texture, coordinates]", nodes.NOWHERE if written is None else written.span
            )
        op.sources[operand.name] = self.operands.source(
            scope, written.texture, self.plans.context.address_type
        )
        op.source_types[operand.name] = self.plans.context.address_type
        op.sources["c"] = self.operands.sources(scope, written.coordinates, t)
        op.source_types["c"] = t

    def _name_space(self, op: Op, scope: Scope, written: nodes.Operand) -> None:
        """An access without a state space to a named variable is one to the variable's space. Parameters of
        device functions that have an address are in local memory."""
        asked = op.binding.get("space", "")
        space = self.operands.space(scope, written)
        if asked is None and space:
            op.binding = {**op.binding, "space": space}
        elif asked in ("param", "param::func") and (space == "local" or not (space or self.b.is_entry)):
            op.binding = {**op.binding, "space": "local"}

    def _carry(self, op: Op) -> None:
        uses = op.form.carry.split()
        if "in" in uses:
            op.sources["carry"] = self.b.carry
            op.source_types["carry"] = PRED
        if "out" in uses:
            op.destinations += (self.b.carry,)
            op.result_types += (PRED,)

    # ------------------------------------------------------------------ parameters in registers

    def _cell_access(self, scope: Scope, node: nodes.Instruction, plan: Plan, guard: Guard | None) -> bool:
        """Lowers a load or store of `.param` cells; False for every other instruction."""
        place = plan.address
        if place is None or len(node.operands) != 2:
            return False
        found = self.operands.cells(scope, node.operands[place])
        if found is None:
            return False
        cells, offset = found
        t, _ = plan.types[1 - place]
        other = node.operands[1 - place]
        if place == 1:
            self._load_cells(scope, other, cells, offset, t, guard, node.span)
        else:
            for i, value in enumerate(self.operands.sources(scope, other, t)):
                lower_cells.store(self.b, cells, offset + i * t.bytes, t, value, guard, node.span)
        return True

    def _load_cells(
        self, scope: Scope, other: nodes.Operand, cells: Cells, offset: int, t: Type, guard: Guard | None,
        span: nodes.Span,
    ) -> None:  # fmt: skip
        for i, d in enumerate(self.operands.destinations(scope, other)):
            if isinstance(d, Register):
                lower_cells.load(self.b, cells, offset + i * t.bytes, t, d, guard, span)
