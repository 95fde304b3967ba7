"""Fused operations in the place of products and sums: see `simt.analysis.contraction`."""

from __future__ import annotations

from functools import cache

from simt.analysis.contraction_scan import Product, Scan, Sum
from simt.analysis.lower_forms import copy
from simt.analysis.program import Call, Constant, Function, Op, Operand, Register, Source
from simt.isa.catalogue import FORMS, PARTS
from simt.isa.derived import sign_mask
from simt.isa.form import Form, Value
from simt.ptx.types import Kind, Type
from simt.records import replace

Binding = dict[str, Value]


class Rewriting:
    """Puts fused operations in the place of sums. Products that nothing uses any more go, copies and
    negations of them too."""

    def __init__(self, function: Function, scan: Scan, fused: list[Sum]) -> None:
        self.function = function
        self.fused = fused
        self.live = scan.live
        self.replaced: dict[Op | Call, list[Op]] = {}
        self.saved: dict[tuple[Product, str, bool], Register] = {}
        for product in scan.products:
            if product.uses and not product.blocked:
                gone = all(item.chosen and item.products[item.chosen][0] is product for item in product.uses)
                self.replaced[product.op] = [] if gone else [product.op]
                self.replaced.update((alias, []) for alias in (product.aliases if gone else ()))

    def run(self) -> None:
        for item in self.fused:
            self._fuse(item)
        for block in self.function.blocks:
            if any(op in self.replaced for op in block.ops):
                block.ops = [new for op in block.ops for new in self.replaced.get(op, (op,))]

    def _fuse(self, item: Sum) -> None:
        product, negated = item.products[item.chosen]
        op, t, ftz = item.op, item.op.source_types["a"], item.op.binding.get("ftz") is True
        is_difference = op.form.contraction == "difference"
        added = op.sources["b" if item.chosen == "a" else "a"]
        before: list[Op] = []
        if is_difference and item.chosen == "a":
            added = self._negated(added, t, ftz, op.line, before)
        flipped = negated != (is_difference and item.chosen == "b")
        form, binding = _form("fused", t, ftz, op.binding.get("sat") is True)
        factors = [self._factor(product, "a", item, flipped), self._factor(product, "b", item, False)]
        sources = dict(zip("abc", (*factors, added)))
        types = dict.fromkeys(sources, t)
        made = Op(form, binding, sources, types, op.destinations, op.result_types, op.guard, op.line)
        self.replaced[op] = [*before, made]

    def _factor(self, product: Product, name: str, item: Sum, negated: bool) -> Operand:
        """An operand of a product as the sum can have it: kept where the product stood, if it changes on the
        way or has the other sign."""
        source, place = product.op.sources[name], "ab".index(name)
        same = product.chain == item.chain and product.versions[place] == item.versions[item.chosen][place]
        same = same or self.live.is_constant(source)
        if isinstance(source, Constant):
            return _opposite(source, product.op.source_types[name]) if negated else source
        if same and not negated:
            return source
        if (product, name, negated) not in self.saved:
            self.saved[product, name, negated] = self._save(product, name, negated)
        return self.saved[product, name, negated]

    def _save(self, product: Product, name: str, negated: bool) -> Register:
        op = product.op
        source, t = op.sources[name], op.source_types[name]
        before: list[Op] = []
        if negated:
            found = self._negated(source, t, op.binding.get("ftz") is True, op.line, before)
        else:
            found = self._temporary(t)
            assert isinstance(source, Register)
            before.append(copy(found, source, t, op.line))
        assert isinstance(found, Register)
        kept = self.replaced.setdefault(op, [op])
        self.replaced[op] = [*before, *kept]
        return found

    def _negated(self, source: Operand, t: Type, ftz: bool, line: int, before: list[Op]) -> Source:
        """A value with the other sign; an instruction for it goes to `before`, unless it is a constant. With
        `ftz` as the fused operation has it, which flushes the value in any case: where all arithmetic of a
        kernel flushes, the JIT lets the CPU do it."""
        if isinstance(source, Constant):
            return _opposite(source, t)
        found = self._temporary(t)
        form, binding = _form("negation", t, ftz, False)
        before.append(Op(form, binding, {"a": source}, {"a": t}, (found,), (t,), None, line))
        return found

    def _temporary(self, t: Type) -> Register:
        registers = self.function.registers
        registers.append(Register(len(registers), f"tmp{len(registers)}", t))
        return registers[-1]


def _opposite(constant: Constant, t: Type) -> Constant:
    return replace(constant, bits=constant.bits ^ _signs(t))


def _signs(t: Type) -> int:
    """The bits of a type that hold signs."""
    return 0x80008000 if t.kind is Kind.PACKED else sign_mask(t)


def _form(role: str, t: Type, ftz: bool, sat: bool) -> tuple[Form, Binding]:
    """The catalogue's form for a part, rounded to nearest."""
    return catalogued(role)[t, ftz, sat]


@cache
def catalogued(role: str) -> dict[tuple[Type, bool, bool], tuple[Form, Binding]]:
    """Forms that can be a part, rounded to nearest, by type, `.ftz` and `.sat`, with their modifiers."""
    found: dict[tuple[Type, bool, bool], tuple[Form, Binding]] = {}
    parts = (FORMS[mnemonic] for mnemonic in FORMS if mnemonic in PARTS[role])
    for form in (f for forms in parts for f in forms if f.contraction == role):
        for binding in form.bindings():
            if binding.get("rnd", "rn") == "rn" and not binding.get("relu"):
                t = form.operand_type(form.operands[0], binding)[0]
                key = t, binding.get("ftz") is True, binding.get("sat") is True
                found.setdefault(key, (form, binding))
    return found
