"""The products of a function that may be fused, and the sums that use them (`simt.analysis.contraction`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property

from simt.analysis.contraction import SUMS
from simt.analysis.phis import live_in
from simt.analysis.program import Address, Block, Call, Constant, Function, Op, Operand, Register
from simt.analysis.ssa import destinations, registers_of, terminator_definition, terminator_uses, uses
from simt.isa.derived import one, sign_mask
from simt.isa.form import Value
from simt.ptx.types import BF16X2, Kind, Type
from simt.records import dataclass, field

BANKS = ("param", "const")
"""State spaces whose values instructions take as operands."""


class Live:
    """Which instructions and registers of a function matter."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.results = frozenset(function.results)
        self.single = _written_once(function)
        self.constants: dict[Register, Constant] = {}
        self.banked: set[Operand] = set()
        """Registers that hold a kernel's parameter or a value of `.const` at a fixed address."""
        for op in function.ops():
            if isinstance(op, Op) and op.guard is None:
                self._note_constant(op)
        self.reads: Counter[Register] = Counter(self.results)
        for block in function.blocks:
            self.reads.update(terminator_uses(block))
            for op in block.ops:
                self.reads.update(uses(op))
        self.dead = self._dead(function)

    def _note_constant(self, op: Op) -> None:
        source = op.sources.get("a")
        made = [d for d in op.destinations if d in self.single]
        if isinstance(source, Address) and not isinstance(source.base, Register):
            if str(op.binding.get("space")).startswith(BANKS):
                self.banked.update(made)
        elif op.form.contraction == "copy" and isinstance(source, Constant):
            self.constants.update((d, source) for d in made)
        elif op.form.contraction == "copy" and isinstance(source, Register) and source in self.banked:
            self.banked.update(made)

    def is_constant(self, source: Operand) -> bool:
        """Whether ptxas has a value at hand wherever it is needed, and in no register."""
        if isinstance(source, Register):
            return source in self.constants or source in self.banked
        return isinstance(source, Constant)

    def _dead(self, function: Function) -> set[Op]:
        """Instructions whose results nothing reads. ptxas has taken them out before."""
        ops = [op for op in function.ops() if isinstance(op, Op)]
        pure = [op for op in ops if op.destinations and not op.form.effects]
        makers: dict[Register, list[Op]] = {}
        for op in pure:
            for d in op.destinations:
                if d is not None:
                    makers.setdefault(d, []).append(op)
        found: set[Op] = set()
        work = [op for op in pure if self.is_unread(op)]
        while work:
            op = work.pop()
            if op in found:
                continue
            found.add(op)
            for register in uses(op):
                self.reads[register] -= 1
                if self.reads[register]:
                    continue
                work += [m for m in makers.get(register, ()) if m not in found and self.is_unread(m)]
        return found

    def is_unread(self, op: Op) -> bool:
        """Whether nothing that is left reads a result."""
        return all(d is None or not self.reads[d] for d in op.destinations)

    def at_end(self, block: Block, register: Register) -> bool:
        """Whether something behind a block may read what a register holds at its end. `register`: one that
        more than one instruction writes."""
        if not block.successors():
            return register in self.results
        live_in, bit = self._live_in
        return any(live_in[s.index] & bit[register] for s in block.successors())

    @cached_property
    def _live_in(self) -> tuple[dict[int, int], dict[Register, int]]:
        """Bits of the registers live at each block's start, by its index; the bit of each."""
        several = [r for r in self.function.registers if r not in self.single]
        bit = {r: 1 << i for i, r in enumerate(several)}
        sets = {block.index: self._needed_and_defined(block, bit) for block in self.function.blocks}
        needed, defined = ({index: found[n] for index, found in sets.items()} for n in range(2))
        return live_in(self.function.blocks, needed, defined), bit

    def _needed_and_defined(self, block: Block, bit: dict[Register, int]) -> tuple[int, int]:
        needed = defined = 0
        for op in block.ops:
            if op not in self.dead:
                needed |= _bits(uses(op), bit) & ~defined
                if not (isinstance(op, Op) and op.guard):
                    defined |= _bits(destinations(op), bit)
        at_end = [*terminator_uses(block), *(() if block.successors() else self.results)]
        needed |= _bits(at_end, bit) & ~defined
        return needed, defined | _bits([terminator_definition(block)], bit)


def _bits(registers: Iterable[Register | None], bit: dict[Register, int]) -> int:
    found = 0
    for register in registers:
        found |= bit.get(register, 0) if register is not None else 0
    return found


def _written_once(function: Function) -> set[Register]:
    """Registers of which one instruction without a guard decides the value, for all lanes that read it."""
    written: Counter[Register] = Counter(function.parameters)
    for block in function.blocks:
        written.update(r for r in [terminator_definition(block)] if r is not None)
        for op in block.ops:
            weight = 2 if isinstance(op, Op) and op.guard is not None else 1
            for d in destinations(op):
                if d is not None:
                    written[d] += weight
    return {r for r, n in written.items() if n == 1}


# ---------------------------------------------------------------- products and their uses


@dataclass(slots=True, eq=False)
class Product:
    """A product that may be fused. `chain`, `segment`: where it stands. `wide`: in sums anywhere. `versions`:
    which values its operands are. `uses`: sums that it is an operand of. `blocked`: it is used otherwise too.
    `aliases`: copies and negations of it."""

    op: Op
    chain: int
    segment: int
    wide: bool
    versions: tuple[int, ...]
    uses: list[Sum] = field(default_factory=list["Sum"])
    blocked: bool = False
    aliases: list[Op] = field(default_factory=list[Op])

    @property
    def ftz(self) -> Value:
        return self.op.binding.get("ftz", False)


@dataclass(slots=True, eq=False)
class Sum:
    """A sum or difference. `products`: those among its operands, by name, and whether negated.
    `versions`: which values the operands of each product are where the sum stands."""

    op: Op
    chain: int
    products: dict[str, tuple[Product, bool]]
    versions: dict[str, tuple[int, ...]]
    chosen: str = ""

    @property
    def of_pairs(self) -> bool:
        return self.op.source_types["a"].kind is Kind.PACKED


class Scan:
    """The products of a function, and the sums that they are used by."""

    def __init__(self, chains: Iterable[list[Block]], live: Live) -> None:
        self.live = live
        self.products: list[Product] = []
        self.sums: list[Sum] = []
        self.values: dict[Register, tuple[Product, bool]] = {}
        self.passing: dict[Register, None] = {}  # those that hold one up to the end of their chain at most
        self.versions: Counter[Register] = Counter()
        self.reads: Counter[Register] = Counter()  # since a register holds its product
        self.chain = self.segment = 0
        for chain in chains:
            self._chain(chain)
        for register, (product, _) in self.values.items():
            product.blocked |= self.reads[register] != self.live.reads[register]

    def _chain(self, chain: list[Block]) -> None:
        self.chain += 1
        self.segment += 1
        for block in chain:
            for op in block.ops:
                if op not in self.live.dead:
                    self._op(op)
            self._use_all(terminator_uses(block))
            self._write(terminator_definition(block))
        for register in self.passing:
            held = self.values.pop(register, None)
            if held is not None:
                held[0].blocked |= self._is_read_behind(chain, register)
        self.passing.clear()

    def _is_read_behind(self, chain: list[Block], register: Register) -> bool:
        """Whether something that has not been seen reads what the register holds."""
        if self.reads[register] == self.live.reads[register]:
            return False
        return register in self.live.single or self.live.at_end(chain[-1], register)

    def _op(self, op: Op | Call) -> None:
        if isinstance(op, Call) or _divides(op):
            self.segment += 1
        if isinstance(op, Op) and op.form.contraction and self._known(op):
            return
        self._use_all(uses(op))
        for d in destinations(op):
            if d is not None:
                self._write(d, guarded=isinstance(op, Op) and op.guard is not None)

    def _known(self, op: Op) -> bool:
        """Takes a sum or difference of products, a copy or negation of one, and a product. False for
        everything else."""
        role, negated = self._role(op)
        if op.guard is None and role == "product":
            self._use_all(uses(op))
            product = self._product(op)
            self._write(op.destinations[0])
            self._hold(op.destinations[0], product, False)
            self.products.append(product)
            return True
        if op.guard is None and role == "copy":
            return self._copied(op, negated)
        return role in SUMS and self._summed(op)

    def _product(self, op: Op) -> Product:
        constant = any(self.live.is_constant(op.sources[n]) for n in ("a", "b"))
        wide = constant and op.destinations[0] in self.live.single
        return Product(op, self.chain, self.segment, wide, self._operand_versions(op))

    def _role(self, op: Op) -> tuple[str, bool]:
        """What an instruction is here, and whether a copy negates. A product with one is a copy, and one of
        two constants is a constant."""
        role = op.form.contraction
        if role == "negation":
            return "copy" if _is_sign(op) else "", True
        if op.binding.get("rnd"):
            return "", False
        if role != "product":
            return role, False
        sources = [op.sources[n] for n in ("a", "b")]
        values = [v for s in sources if (v := self._constant(s)) is not None]
        if (
            op.binding.get("sat")
            or len(values) == 2
            or not all(isinstance(s, Register | Constant) for s in sources)
        ):
            return "", False
        sign = _sign_of_one(values[0].bits, op.source_types["a"]) if values else 0
        return ("copy", sign < 0) if sign else ("product", False)

    def _constant(self, source: Operand) -> Constant | None:
        if isinstance(source, Register):
            return self.live.constants.get(source)
        return source if isinstance(source, Constant) else None

    def _copied(self, op: Op, negated: bool) -> bool:
        """Notes a copy or negation of a product."""
        found = [held for r in uses(op) if (held := self._of(r)) is not None]
        d = op.destinations[0] if len(op.destinations) == 1 else None
        if len(found) != 1 or d is None or any(isinstance(s, tuple) for s in op.sources.values()):
            return False
        product, before = found[0]
        if op.binding.get("ftz", False) not in (False, product.ftz):
            return False
        self.reads.update(uses(op))
        self._write(d)
        self._hold(d, product, before != negated)
        product.aliases.append(op)
        return True

    def _summed(self, op: Op) -> bool:
        """Notes a sum that has a product among its operands."""
        found: dict[str, tuple[Product, bool]] = {}
        for name in ("a", "b"):
            source = op.sources[name]
            held = self._of(source) if isinstance(source, Register) else None
            if held is not None and self._agree(op, held[0]):
                found[name] = held
        if not found or (len(found) == 2 and found["a"][0] is found["b"][0]):
            return False
        versions = {n: self._operand_versions(p.op) for n, (p, _) in found.items()}
        noted = Sum(op, self.chain, found, versions)
        self.sums.append(noted)
        for name in ("a", "b"):
            source = op.sources[name]
            if name in found and isinstance(source, Register):
                found[name][0].uses.append(noted)
                self.reads[source] += 1
            else:
                self._use_all(registers_of(source))
        self._write(op.destinations[0], guarded=op.guard is not None)
        return True

    def _agree(self, op: Op, product: Product) -> bool:
        same_type = op.source_types["a"] is product.op.source_types["a"]
        return same_type and op.binding.get("ftz", False) == product.ftz

    def _of(self, register: Register) -> tuple[Product, bool] | None:
        """The product that a register holds, if it was made in the same basic block or is one for all."""
        found = self.values.get(register)
        return found if found and (found[0].wide or found[0].segment == self.segment) else None

    def _use_all(self, registers: Iterable[Register]) -> None:
        for register in registers:
            self.reads[register] += 1
            if register in self.values:
                self.values[register][0].blocked = True

    def _hold(self, register: Register | None, product: Product, negated: bool) -> None:
        if register is not None:
            self.values[register] = product, negated
            self.reads[register] = 0
            if not (product.wide and register in self.live.single):
                self.passing[register] = None

    def _write(self, register: Register | None, guarded: bool = False) -> None:
        """Under a guard some lanes keep what the register held."""
        if register is None:
            return
        before = self.values.pop(register, None)
        if before is not None and guarded:
            before[0].blocked = True
        self.versions[register] += 1

    def _operand_versions(self, op: Op) -> tuple[int, ...]:
        sources = (op.sources["a"], op.sources["b"])
        return tuple(self.versions[s] if isinstance(s, Register) else 0 for s in sources)


def _divides(op: Op) -> bool:
    """Whether ptxas ends a basic block at an instruction, or jumps over it where its guard does not hold:
    over one that does more than change registers."""
    if op.guard is not None and (op.form.effects or not op.destinations or "out" in op.form.carry):
        return not str(op.binding.get("space")).startswith("param")
    return op.form.ends_block(op.binding)


def _is_sign(op: Op) -> bool:
    """Whether ptxas makes a negation the sign of an operand: not where halves are flushed, nor in pairs of
    bf16."""
    t = op.source_types["a"]
    return t is not BF16X2 and ((t.is_native_float and t.bits > 16) or not op.binding.get("ftz"))


def _sign_of_one(bits: int, t: Type) -> int:
    """1 for one, -1 for minus one, 0 for all other numbers and for pairs."""
    if t.kind is Kind.PACKED:
        return 0
    return {one(t): 1, one(t) | sign_mask(t): -1}.get(bits, 0)
