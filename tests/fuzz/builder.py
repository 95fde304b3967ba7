"""Random straight-line statements: instructions over banks of registers, memory, lanes of a warp."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from simt.isa.form import Binding, OperandForm
from simt.ptx.types import TYPES, Kind, Type
from tests.fuzz.operations import (
    BANKS,
    UNGUARDED,
    Choice,
    accesses,
    accumulator_key,
    accumulators,
    atomics,
    bank,
    carrying,
    modifiers,
    pick,
    pure,
    video,
    warp,
)  # fmt: skip
from tests.fuzz.statements import Statement, plain

SLICE = 64
"""Bytes that every thread has for itself in each state space."""

WORD = 8
GENERIC_LOCAL = "%generic_local"
"""The register of a generic address where no atomic operation is allowed."""

CANONICAL = {"f": ("b32", "0x7fc00000"), "e": ("b64", "0x7ff8000000000000")}
"""How a NaN is stored, by bank: which one an instruction gives is not the same everywhere."""


@dataclass
class Scope:
    """Where a statement stands.

    `mask`: the register that names the lanes of the warp that execute it, None where nobody knows.
    `uniform`: whether all threads of the CTA that still run execute it together. `exits`: labels after
    (and at the end of) the loops around it that a lane may leave on its own.
    """

    depth: int = 0
    mask: str | None = None
    uniform: bool = False
    exits: tuple[str, ...] = ()


@dataclass
class Builder:
    """Makes statements of one function. `slices`: a thread's own memory, by state space ("" generic)."""

    random: Random
    prefix: str
    exact: bool = True
    slices: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    threads: int = 0
    functions: list[str] = field(default_factory=list[str])
    counters: dict[str, int] = field(default_factory=dict[str, int])

    # -------------------------------------------------------------- names

    def fresh(self, kind: str) -> str:
        """A new register of a kind: t (.b32), w (.b64) or q (.pred)."""
        self.counters[kind] = self.counters.get(kind, 0) + 1
        return f"%{kind}{self.counters[kind] - 1}"

    def label(self) -> str:
        self.counters["label"] = self.counters.get("label", 0) + 1
        return f"{self.prefix}_{self.counters['label']}"

    def register(self, letter: str) -> str:
        return f"%{letter}{self.random.randrange(BANKS[letter][1])}"

    def registers(self, letter: str, count: int) -> list[str]:
        return [f"%{letter}{n}" for n in self.random.sample(range(BANKS[letter][1]), count)]

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def declarations(self) -> list[str]:
        banks = [f".reg .{t} %{letter}<{count}>;" for letter, (t, count) in BANKS.items()]
        kinds = {"t": "b32", "w": "b64", "q": "pred"}
        return banks + [f".reg .{t} %{k}<{self.counters.get(k, 0) + 1}>;" for k, t in kinds.items()]

    # -------------------------------------------------------------- instructions of the catalogue

    def operation(self, scope: Scope) -> Statement:
        """An instruction without effects; now and then with a guard."""
        return self._one_of(pure(self.exact))

    def video(self, scope: Scope) -> Statement:
        """A video instruction, with selectors and signs."""
        return self._one_of(video())

    def _one_of(self, table: dict[str, list[list[Choice]]]) -> Statement:
        choice = pick(self.random, table[self.random.choice(sorted(table))])
        guard = "" if choice.form.mnemonic in UNGUARDED else self.guard()
        return plain(f"{guard}{self.instruction(choice)}")

    def guard(self) -> str:
        if not self.chance(0.15):
            return ""
        return f"@{self.random.choice(('', '!'))}{self.register('p')} "

    def instruction(self, choice: Choice, mask: str | None = None) -> str:
        taken: set[str] = set()
        marks = modifiers(self.random, choice)
        operands = [(o, self._operand(choice, o, mask, taken)) for o in choice.form.operands]
        written = ", ".join(self._marked(o, text, marks) for o, text in operands if text)
        return f"{choice.opcode} {written};"

    def _marked(self, operand: OperandForm, text: str, marks: Binding) -> str:
        """With its minus sign and its selector."""
        selector = marks[operand.selector.name] if operand.selector else None
        sign = "-" if marks.get(f"{operand.name}_negative") else ""
        return f"{sign}{text}" + (f".{selector}" if selector else "")

    def _operand(self, choice: Choice, operand: OperandForm, mask: str | None, taken: set[str]) -> str:
        if operand.kind == "imm":
            return str(self.random.randrange(256))
        if operand.name == "mask" and mask is not None:
            return mask
        t, count = choice.form.operand_type(operand, choice.binding)
        if operand.optional and self.chance(0.5):
            return ""
        if not operand.destination and count == 1 and self._takes_constant(choice, t):
            return str(self.random.randrange(64)) if operand.spec in TYPES else self.constant(t)
        letter = bank(t)
        assert letter is not None
        if count > 1:
            return "{" + ", ".join(self.registers(letter, count)) + "}"
        return self._named(operand, letter, taken)

    def _named(self, operand: OperandForm, letter: str, taken: set[str]) -> str:
        register = self.register(letter)
        while operand.destination and register in taken:
            register = self.register(letter)
        taken.add(register)
        if operand.second and (letter != "p" or self.chance(0.5)):
            second = next(p for p in self.registers("p", 2) if p != register)
            return f"{register}|{second}"
        return f"!{register}" if operand.negatable and self.chance(0.3) else register

    def _takes_constant(self, choice: Choice, t: Type) -> bool:
        whole = t.kind in (Kind.SIGNED, Kind.UNSIGNED) and t.bits >= 16
        return whole and choice.form.chapter in ("integer", "logic", "compare") and self.chance(0.12)

    def constant(self, t: Type) -> str:
        low, high = (-(1 << (t.bits - 1)), (1 << (t.bits - 1)) - 1) if t.is_signed else (0, (1 << t.bits) - 1)
        return str(self.random.choice((0, 1, 2, 31, 32, high, low, self.random.randint(low, high))))

    def carry_chain(self, scope: Scope) -> Statement:
        subtracts = self.chance(0.5)
        first = self.random.choice(carrying("out", subtracts))
        rest = self.random.choices(carrying("in", subtracts), k=self.random.randint(1, 2))
        if len(rest) == 2:
            rest[0] = self.random.choice([c for c in carrying("in", subtracts) if "out" in c.form.carry])
        return plain(*(self.instruction(c) for c in (first, *rest)))

    def pack(self, scope: Scope) -> Statement:
        wide, narrow, count = self.random.choice((("d", "r", 2), ("r", "h", 2), ("d", "h", 4)))
        whole, parts = self.register(wide), "{" + ", ".join(self.registers(narrow, count)) + "}"
        operands = (whole, parts) if self.chance(0.5) else (parts, whole)
        return plain(f"mov.{BANKS[wide][0]} {', '.join(operands)};")

    def bits(self, scope: Scope) -> Statement:
        """Floats to their bits, or back."""
        letter = self.random.choice(sorted(CANONICAL))
        t = CANONICAL[letter][0]
        place = self.register("r" if letter == "f" else "d")
        if self.chance(0.5):
            return plain(f"mov.{t} {self.register(letter)}, {place};")
        lines, value = self.canonical(self.register(letter))
        return plain(*lines, f"mov.{t} {place}, {value};")

    def canonical(self, register: str) -> tuple[list[str], str]:
        """The bits of a float register in an integer one, all NaNs as one."""
        t, nan = CANONICAL[register[1]]
        value, is_nan = self.fresh("t" if t == "b32" else "w"), self.fresh("q")
        lines = [
            f"setp.nan.f{t[1:]} {is_nan}, {register}, {register};",
            f"mov.{t} {value}, {register};",
            f"selp.{t} {value}, {nan}, {value}, {is_nan};",
        ]
        return lines, value

    def special(self, scope: Scope) -> Statement:
        names = ["%tid.x", "%tid.y", "%tid.z", "%ntid.x", "%ctaid.x", "%nctaid.x", "%laneid"]
        names += ["%lanemask_lt", "%lanemask_ge", "%lanemask_eq"]
        return plain(f"mov.u32 {self.register('r')}, {self.random.choice(names)};")

    # -------------------------------------------------------------- memory

    def place(self, space: str, size: int, atomic: bool = False) -> tuple[list[str], str]:
        """The address of `size` aligned bytes of the thread's own memory, constant or computed."""
        base = self.random.choice([b for b in self.slices[space] if not atomic or b != GENERIC_LOCAL])
        if self.chance(0.4):
            return [], f"[{base}+{self.random.randrange(SLICE // size) * size}]"
        index, wide = self.fresh("t"), self.fresh("w")
        lines = [
            f"and.b32 {index}, {self.register('r')}, {SLICE - size};",
            f"cvt.u64.u32 {wide}, {index};",
            f"add.u64 {wide}, {wide}, {base};",
        ]
        return lines, f"[{wide}]"

    def load(self, scope: Scope) -> Statement:
        space = self.random.choice(sorted(self.slices))
        choice = pick(self.random, accesses("ld", space))
        t, count = self._accessed(choice)
        lines, address = self.place(space, t.bytes * count)
        return plain(*lines, f"{choice.opcode} {self._list(self._values(t, count))}, {address};")

    def store(self, scope: Scope) -> Statement:
        space = self.random.choice(sorted(self.slices))
        choice = pick(self.random, accesses("st", space))
        t, count = self._accessed(choice)
        lines, address = self.place(space, t.bytes * count)
        values = self._values(t, count)
        for value in values if t.is_native_float else ():
            more, bits = self.canonical(value)
            lines += [*more, f"mov.{CANONICAL[value[1]][0]} {value}, {bits};"]
        return plain(*lines, f"{choice.opcode} {address}, {self._list(values)};")

    def _accessed(self, choice: Choice) -> tuple[Type, int]:
        operand = next(o for o in choice.form.operands if o.kind == "value")
        return choice.form.operand_type(operand, choice.binding)

    def _values(self, t: Type, count: int) -> list[str]:
        letter = bank(t)
        assert letter is not None
        return self.registers(letter, count)

    def _list(self, values: list[str]) -> str:
        return values[0] if len(values) == 1 else "{" + ", ".join(values) + "}"

    def own_atomic(self, scope: Scope) -> Statement:
        """An atomic operation on memory of the thread's own: its result is known."""
        space = self.random.choice([s for s in sorted(self.slices) if atomics("atom", s, False)])
        choice = self.random.choice(atomics("atom", space, False))
        t = choice.binding["type"]
        assert isinstance(t, Type)
        lines, address = self.place(space, t.bytes, atomic=True)
        return plain(*lines, self._atomic(choice, address))

    def _atomic(self, choice: Choice, address: str) -> str:
        operands = [
            address if o.kind == "address" else self._operand(choice, o, None, set())
            for o in choice.form.operands
        ]
        return f"{choice.opcode} {', '.join(operands)};"

    def accumulate(self, scope: Scope) -> Statement:
        """An update of memory that all threads share; nobody looks at it before the end."""
        space = self.random.choice(("shared", "global"))
        choice = self.random.choice(atomics(self.random.choice(("red", "atom")), space, True))
        place = accumulators()[accumulator_key(choice)] * WORD
        base = {"shared": "sums", "global": "%acc"}[space]
        line = self._atomic(choice, f"[{base}+{place}]")
        if choice.form.mnemonic == "atom":  # the old value depends on the order: nobody may see it
            letter = bank(choice.form.operand_type(choice.form.operands[0], choice.binding)[0])
            head, _, tail = line.partition(" ")
            line = f"{head} %old{letter}, {tail.partition(', ')[2]}"
        return plain(line)

    # -------------------------------------------------------------- lanes of a warp

    def lanes(self, scope: Scope) -> Statement:
        assert scope.mask is not None
        return plain(self.instruction(pick(self.random, warp()), scope.mask))

    def shuffle(self, scope: Scope) -> Statement:
        """Reads a register of another lane, if that one takes part; any mode."""
        mode, mask = self.random.choice(("idx", "bfly", "up", "down")), scope.mask
        step, source, ok, q = self.fresh("t"), self.fresh("t"), self.fresh("t"), self.fresh("q")
        find = {
            "idx": f"mov.b32 {source}, {step};",
            "bfly": f"xor.b32 {source}, {step}, %lane;",
            "up": f"sub.s32 {source}, %lane, {step};",
            "down": f"add.s32 {source}, %lane, {step};",
        }[mode]
        d = self.register("r")
        clamp = "0" if mode == "up" else "31"
        return plain(
            f"and.b32 {step}, {self._uniform_or_not()}, 31;",
            find,
            f"shfl.sync.{mode}.b32 {d}|{q}, {self.register('r')}, {step}, {clamp}, {mask};",
            f"selp.b32 {source}, {source}, %lane, {q};",
            f"shr.u32 {ok}, {mask}, {source};",
            f"and.b32 {ok}, {ok}, 1;",
            f"setp.eq.u32 {q}, {ok}, 1;",
            f"selp.b32 {d}, {d}, {self.random.randrange(1000)}, {q};",
        )

    def _uniform_or_not(self) -> str:
        return str(self.random.randrange(32)) if self.chance(0.5) else self.register("r")

    def warp_exchange(self, scope: Scope) -> Statement:
        """Through shared memory, between the lanes of the mask, ordered by `bar.warp.sync`."""
        own, other, at, q = self.fresh("t"), self.fresh("t"), self.fresh("w"), self.fresh("q")
        d = self.register("r")
        return plain(
            f"bar.warp.sync {scope.mask};",
            f"st.shared.b32 [%exchange], {self.register('r')};",
            f"bar.warp.sync {scope.mask};",
            f"xor.b32 {other}, %lane, {self.random.randrange(1, 32)};",
            f"shr.u32 {own}, {scope.mask}, {other};",
            f"and.b32 {own}, {own}, 1;",
            f"setp.eq.u32 {q}, {own}, 1;",
            f"sub.s32 {other}, {other}, %lane;",
            f"mul.wide.s32 {at}, {other}, 4;",
            f"add.s64 {at}, {at}, %exchange;",
            f"@{q} ld.shared.b32 {d}, [{at}];",
            f"bar.warp.sync {scope.mask};",
        )

    # -------------------------------------------------------------- the whole CTA

    def barrier(self, scope: Scope) -> Statement:
        return plain(self.random.choice(("bar.sync 0;", "barrier.sync 0;", "barrier.sync.aligned 0;")))

    def exchange(self, scope: Scope) -> Statement:
        """Every thread reads what another one wrote, between barriers."""
        other, at = self.fresh("t"), self.fresh("w")
        step = self.random.randrange(self.threads)
        return plain(
            "bar.sync 0;",
            f"st.shared.b32 [%exchange], {self.register('r')};",
            "bar.sync 0;",
            f"add.u32 {other}, %linear, {step};",
            f"rem.u32 {other}, {other}, {self.threads};",
            f"mul.wide.u32 {at}, {other}, 4;",
            f"add.u64 {at}, {at}, %start;",
            f"ld.shared.b32 {self.register('r')}, [{at}];",
            "bar.sync 0;",
        )
