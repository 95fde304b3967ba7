"""Copies of many bytes as loops over 16 of them."""

from __future__ import annotations

from simt.analysis.lower_builder import Builder
from simt.analysis.lower_forms import CUT, EQUAL, SUM, simple
from simt.analysis.lower_instructions import Plan, Plans
from simt.analysis.lower_operands import Operands
from simt.analysis.program import Address, Branch, Constant, Jump, Op, Operand, Register
from simt.isa.bulk_copy import UNIT
from simt.isa.memory import state_space
from simt.ptx import nodes
from simt.ptx.symbols import Scope
from simt.ptx.types import B32, PRED, U32, U64, Type, unsigned

WORDS = UNIT // B32.bytes


class BulkCopies:
    """The copies of one function."""

    def __init__(self, builder: Builder, operands: Operands, plans: Plans) -> None:
        self.b = builder
        self.operands = operands
        self.plans = plans

    def lower(self, scope: Scope, node: nodes.Instruction, plan: Plan) -> None:
        """`while (left) { copy 16 bytes; }`, after which the barrier learns of all of them at once."""
        target, source, size, *rest = node.operands
        to, start = self._pointer(scope, target), self._pointer(scope, source)
        count = self.operands.source(scope, size, U32)
        left = self.b.temporary(U32)
        mask = Constant(U32, 2**32 - UNIT)
        self.b.emit(simple(CUT, U32, left, {"a": (count, U32), "b": (mask, U32)}, self.b.line))
        head, body, after = (self.b.new_block() for _ in range(3))
        self.b.start(head)
        done = self.b.temporary(PRED)
        self.b.emit(simple(EQUAL, U32, done, {"a": (left, U32), "b": (Constant(U32, 0), U32)}, self.b.line))
        self.b.end(Branch(done, False, after, body, False, self.b.line), body)
        self._unit(node, plan, to, start)
        for pointer, step in ((to, UNIT), (start, UNIT), (left, -UNIT)):
            self._advance(pointer, step)
        self.b.end(Jump(head, self.b.line), after)
        if plan.binding["space"] != "global":
            told: dict[str, Operand] = {"a": self.operands.address(scope, rest[0]), "b": count}
            self._emit(node, "mbarrier.complete_tx.shared::cta.b64", told, ())

    def _unit(self, node: nodes.Instruction, plan: Plan, to: Register, start: Register) -> None:
        words = tuple(self.b.temporary(B32) for _ in range(WORDS))
        source, target = (state_space(str(plan.binding[slot])) for slot in ("source", "space"))
        self._emit(node, f"ld.{source}.v{WORDS}.b32", {"a": Address(start, 0)}, words)
        self._emit(node, f"st.{target}.v{WORDS}.b32", {"a": Address(to, 0), "b": words}, ())

    def _emit(
        self, node: nodes.Instruction, opcode: str, sources: dict[str, Operand], results: tuple[Register, ...]
    ) -> None:
        """An instruction as PTX writes it, of two operands."""
        mnemonic, *modifiers = opcode.split(".")
        plan = self.plans.find(
            nodes.Instruction(mnemonic, tuple(modifiers), node.operands[:2], None, node.span)
        )
        binding = dict(plan.binding)
        address = sources["a"]
        if "address" in binding and isinstance(address, Address) and address.base is not None:
            binding["address"] = unsigned(address.base.type.bits)
        types = {o.name: t for o, (t, _) in zip(plan.form.operands, plan.types) if not o.address}
        read = {name: types[name] for name in sources if name in types}
        made = (B32,) * len(results)
        self.b.emit(Op(plan.form, binding, sources, read, results, made, None, self.b.line))

    def _pointer(self, scope: Scope, written: nodes.Operand) -> Register:
        """An address in a register of its own."""
        found = self.operands.address(scope, written)
        base = found.base or Constant(U64, 0)
        t = unsigned(base.type.bits)
        pointer = self.b.temporary(t)
        offset = Constant(t, found.offset % 2**t.bits)
        self.b.emit(simple(SUM, t, pointer, {"a": (base, t), "b": (offset, t)}, self.b.line))
        return pointer

    def _advance(self, register: Register, step: int) -> None:
        t: Type = register.type
        amount = Constant(t, step % 2**t.bits)
        self.b.emit(simple(SUM, t, register, {"a": (register, t), "b": (amount, t)}, self.b.line))
