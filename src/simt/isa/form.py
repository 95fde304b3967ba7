"""The record of one instruction form, and the compiler of the syntax strings that declare it.

A declaration reads as the manual prints it::

    @instruction("mul.mode.type d, a, b", mode="hi lo", type=INTEGERS, ref="PTX 1.4 table 26")
    @instruction("mul.wide.type d:wide(type), a, b", type="u16 s16 u32 s32", ref="PTX 1.4 table 26")
    def mul(m, t, a, b, mode="wide"): ...

Modifiers: `.name` is a *slot* if the keyword `name` gives its alternatives (space-separated), else a
literal; `[.x]` is optional: a slot is then bound to None when left out, a literal is a flag bound to
True or False. A slot whose alternatives are all types is bound to `Type` values. The slot `type`, or
else the only literal type, is passed to the meaning as `t`.

Operands: `d`, `p`, `q` are destinations, others sources. `name:spec` gives the type: a slot, a type,
`wide(...)`, `vec(...)` (a scalar, or a vector as the slot `vec` says), `x4(...)` (a vector of 4),
`matrices(...)` (a vector as the slot `count` says, of one element too),
`fragment(a)` (the registers of a lane for the matrix `a`, `b`, `c` or `d`: `simt.isa.fragments`), `wmma(a)`
(the same for `wmma`; `wmma(matrix)`: for that which the slot `matrix` names),
`pack(type)` (a scalar of the type, or a vector of n elements of `.b(bits / n)`, table 67: a source vector
reaches the meaning as a tuple; for a destination vector the lowering binds `unpack` to "2" or "4"),
`generic(b64)` (a generic address in a register of 32 or 64 bits), `token(u64)` (what another instruction
made: a name is none, whatever its address), `label`, `labels`, `function`,
`arguments`, `prototype`, `texture`, `sink` (`_` only), or `imm(type)` for constants only.
Where a form's defaults bind `size`, the lowering binds it anew to the value of its `imm` operand, and
`address` to the type of the address that its memory operand is, `.u32` or `.u64`.
`texture` is `[a, c]`: the meaning receives the texture `a` and, as `c`, the tuple of its coordinates.
Without a spec a destination has the slot `dtype`, a source `atype`, `stype` or `btype`, and where there
is no such slot the form's `type` or its only literal type. `[a]` is a memory address. `p[|q]` is an
optional second destination, `d|p` one that must be there (the first may then be `_`), `[!]c` may be
negated, `[, c]` may be left out (bound to None); `?c` is the same for an operand that is not the last. The
second destination `q` of `d[|q]` is always a predicate.

Operands have modifiers too. `a[.asel]` may have a *selector*: the keyword `asel` gives its alternatives, and
`asel` is bound to the one that is written, None without; an alternative such as `h[0-3][0-3]` stands for
many. `[-]a` may have a minus sign: `a_negative` is bound to whether it has. Their checks see them too.
The slot `mode` belongs to the opcode and keeps its place (`simt.isa.select.OPCODE_SLOTS`).

A syntax that ends in `...` is *open*: an instruction that begins so has the form, whatever modifiers and
operands follow; in `cvt....format...` one of the modifiers that follow must be a `format`. Operands behind
it, as in `tex.geom... d, a, e`, say how many there are at least.

The meaning is called with the algebra first and then, by name, what its signature asks for: `t`, any
slot or flag, any source operand, `env` (`Environment`), and `carry` (see `carry=`). It returns the value
of the destination (a tuple for several, or for a vector), or None.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Container, Iterator, Mapping
from functools import cache
from types import FunctionType
from typing import Any, TypeAlias, cast

from simt.isa.fragments import registers, wmma_registers
from simt.ptx.nodes import Element, Minus, Operand
from simt.ptx.types import TYPES, Type
from simt.records import dataclass, field

Version: TypeAlias = tuple[int, int]
Value: TypeAlias = "str | Type | bool | None"
Binding: TypeAlias = "dict[str, Value]"
Meaning: TypeAlias = Callable[..., Any]
Check: TypeAlias = "Callable[[Mapping[str, Value], Version], str | None]"

DESTINATIONS = frozenset({"d", "p", "q"})
OPEN = "..."
"""Ends the syntax of a form that does not say what else may follow."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One modifier position. `choices` maps the written modifier to its bound value."""

    name: str
    choices: dict[str, Value]
    optional: bool = False

    @property
    def is_flag(self) -> bool:
        return self.optional and list(self.choices.values()) == [True]


@dataclass(frozen=True, slots=True)
class Selector:
    """The modifier of an operand that chooses parts of it. `patterns`: words in which `[0-3]` is a digit."""

    name: str
    patterns: tuple[str, ...]

    def takes(self, word: str) -> bool:
        return any(re.fullmatch(p, word) for p in self.patterns)

    def choices(self) -> list[str]:
        """Every word, in the order of the patterns."""
        return [word for p in self.patterns for word in _words(p)]


def _words(pattern: str) -> Iterator[str]:
    """The words that a selector's pattern stands for."""
    parts = re.findall(r"\[(\d)-(\d)\]|(\w)", pattern)
    axes = [[letter] if letter else [str(n) for n in range(int(a), int(b) + 1)] for a, b, letter in parts]
    return map("".join, itertools.product(*axes))


@dataclass(frozen=True, slots=True)
class OperandForm:
    """One operand position. `spec` is resolved against a binding by `Form.operand_type`."""

    name: str
    spec: str
    destination: bool = False
    address: bool = False
    optional: bool = False
    negatable: bool = False
    second: str | None = None  # the q of p[|q] and of p|q
    paired: bool = False  # p|q: the second destination must be there
    selector: Selector | None = None
    signed: bool = False  # a minus sign is allowed

    @property
    def absent(self) -> Binding:
        """What the operand's modifiers bind where it has none."""
        selector: Binding = {self.selector.name: None} if self.selector else {}
        return {**selector, **({f"{self.name}_negative": False} if self.signed else {})}

    @property
    def kind(self) -> str:
        """`value`, `imm`, `address`, or one of label, function, arguments, texture."""
        if self.address:
            return "address"
        if self.spec in NON_VALUES:
            return self.spec
        return "imm" if self.spec.startswith("imm(") else "value"


TRAITS = {
    "moves": "copies bits: integer registers hold those of a vector's floats, and doubles stay as wide",
    "addresses": "takes the address of a variable or function as it takes a register",
    "no_functions": "takes no function where a number may stand",
}
"""What a form's operands may be is not all in their types: ptxas tells these apart. By word, what a form does
that has it. Without, `variable + 4` and the names of functions are numbers, if unusual ones."""

NON_VALUES = frozenset({"label", "labels", "function", "arguments", "texture", "prototype", "sink"})


@dataclass(frozen=True, slots=True)
class Requirement:
    """First PTX version and first target (sm number) that allow something."""

    version: Version = (1, 0)
    target: int = 10


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """One line of the manual's syntax, with its meaning. See the module's docstring."""

    syntax: str
    mnemonic: str
    slots: tuple[Slot, ...]  # literals are slots with one choice
    operands: tuple[OperandForm, ...]
    meaning: Meaning | None
    ref: str
    chapter: str
    requirement: Requirement = Requirement()
    until: Version | None = None
    until_target: int = 0  # targets up to this one keep the form after `until`
    requires: Mapping[str, Requirement] = field(default_factory=dict[str, Requirement])
    defaults: Mapping[str, Value] = field(default_factory=dict[str, Value])
    check: Check | None = None
    ranges: Mapping[str, Container[float]] = field(default_factory=dict[str, Container[float]])
    relaxed: bool = False  # wider registers allowed (section 7.4.1)
    traits: frozenset[str] = frozenset()  # see `TRAITS`
    surplus: str = ""  # a further source that ptxas takes and that means nothing
    carry: str = ""  # "in", "out", "in out": uses of CC.CF
    control: str = ""  # branch, call, return, exit, barrier ...: executed by the engine itself
    effects: frozenset[str] = frozenset()
    contraction: str = ""  # product, sum, difference, fused, negation, copy: see `simt.analysis.contraction`
    seam: frozenset[str] = frozenset()  # modifiers with which ptxas ends a basic block here; `*`: with any
    summary: str = ""
    parameters: tuple[str, ...] = ()
    head: int | None = None  # of an open form: how many slots come first, before any other modifiers

    @property
    def is_open(self) -> bool:
        """Whether modifiers and operands that the syntax does not say may follow."""
        return self.head is not None

    @property
    def runs(self) -> bool:
        """Whether simt executes it: it has a meaning, or is control flow that the engines execute themselves.
        Others are known only."""
        return self.meaning is not None or bool(self.control)

    @property
    def moves(self) -> bool:
        """Whether it copies bits: a move, a load or a store."""
        return "moves" in self.traits

    @property
    def moves_memory(self) -> bool:
        """Whether it is a load or a store."""
        return "memory" in self.effects and "moves" in self.traits

    @property
    def converts_addresses(self) -> bool:
        """Whether it has to do with addresses of a state space, but accesses no memory (`cvta`)."""
        return _converts_addresses(self)

    @property
    def words(self) -> str:
        """The meaning in words: its whole docstring. `summary` is the first line."""
        from inspect import getdoc  # for pages about instructions: start-up time

        return getdoc(self.meaning) or self.summary if self.meaning else self.summary

    def expired(self, version: Version, target: int) -> bool:
        """Whether a module of this version and target may no longer use the form."""
        return self.until is not None and version > self.until and target > self.until_target

    def allowed(self, binding: Binding, version: Version, target: int) -> bool:
        """Whether a module of this version and target may use the form with these modifiers."""
        needed = self.required(binding)
        fits = needed.version <= version and needed.target <= target and not self.expired(version, target)
        return fits and (self.check is None or self.check(binding, version) is None)

    def ends_block(self, binding: Mapping[str, Value]) -> bool:
        """Whether ptxas makes several basic blocks of the instruction, or ends one at it."""
        words = (word for slot in self.slots for word in _chosen(slot, binding.get(slot.name)))
        return bool(self.seam) and ("*" in self.seam or not self.seam.isdisjoint(words))

    def operand_type(self, operand: OperandForm, binding: Mapping[str, Value]) -> tuple[Type, int]:
        """The type of an operand under a binding, and the number of vector elements (1: scalar)."""
        return _resolve(operand.spec, binding)

    def bindings(self) -> Iterator[Binding]:
        """Every combination of modifiers that the form's checks allow."""
        absent = [[False if s.is_flag else None] if s.optional else [] for s in self.slots]
        axes = [[*s.choices.values(), *left_out] for s, left_out in zip(self.slots, absent)]
        for values in itertools.product(*axes):
            binding: Binding = {**self.defaults, **dict(zip((s.name for s in self.slots), values))}
            if self.check is None or self.check(binding, (99, 0)) is None:
                yield binding

    def spell(self, binding: Mapping[str, Value]) -> str:
        """The opcode with its modifiers as written, e.g. `mul.wide.u16`."""
        parts = [self.mnemonic]
        for slot in self.slots:
            value = binding.get(slot.name)
            parts += [k for k, v in slot.choices.items() if value not in (None, False) and v == value][:1]
        return ".".join(parts)

    def required(self, binding: Mapping[str, Value]) -> Requirement:
        """The newest of the requirements of the form and of its chosen modifiers.

        A key of `requires` is one or several modifiers that must all be chosen, as in "shared b64";
        `!space` stands for an optional slot left out. Two are no modifiers: `_` is what `_` as a destination
        requires, `|` a second one, in forms that have not always had them.
        """
        chosen = {word for slot in self.slots for word in _chosen(slot, binding.get(slot.name))}
        found = [r for key, r in self.requires.items() if chosen.issuperset(key.split())]
        found.append(self.requirement)
        return Requirement(max(r.version for r in found), max(r.target for r in found))


def split(form: OperandForm, written: Operand) -> tuple[Operand, Binding]:
    """A written operand without its own modifiers, and what they bind."""
    bound = form.absent
    if form.signed and isinstance(written, Minus):
        written, bound[f"{form.name}_negative"] = written.operand, True
    if form.selector and isinstance(written, Element) and form.selector.takes(written.selector):
        written, bound[form.selector.name] = written.base, written.selector
    return written, bound


def _chosen(slot: Slot, value: Value) -> tuple[str, ...]:
    """The modifier by which a slot is bound, as `requires` names it."""
    if value is None or value is False:
        return (f"!{slot.name}",)
    return tuple(k for k, v in slot.choices.items() if v == value)


def wide(t: Type) -> Type:
    """The type of the same kind and twice the width."""
    return TYPES[t.name.rstrip("0123456789") + str(t.bits * 2)]


_FRAGMENTS = {"fragment": registers, "wmma": wmma_registers}


def _resolve(spec: str, binding: Mapping[str, Value]) -> tuple[Type, int]:
    if spec.endswith(")"):
        function, inner = spec[:-1].split("(", 1)
        if function in _FRAGMENTS:
            return _FRAGMENTS[function](inner, binding)
        t, n = _resolve(inner, binding)
        match function:
            case "wide":
                return wide(t), n
            case "vec":
                return t, int(str(binding["vec"])[1:]) if binding.get("vec") else 1
            case "matrices":
                return t, int(str(binding["count"])[1:])
            case "x2" | "x4":
                return t, int(function[1:])
            case "imm" | "pack" | "generic" | "token":
                return t, n
            case _:
                raise ValueError(f"unknown operand spec {spec}")
    bound = binding.get(spec)
    return (bound, 1) if isinstance(bound, Type) else (TYPES[spec], 1)


# ------------------------------------------------------------------ the syntax compiler

_PART = re.compile(r"\[\.(\w+)\]|\.([\w:]+)")
_OPERAND = re.compile(
    r"(\[(?P<sign>[!-])\])?(?P<open>\[)?(?P<name>\w+)(\[\.(?P<selector>\w+)\])?(:(?P<spec>[\w()]+))?(?P<close>\])?"
    r"(\[\|(?P<second>\w+)\]|\|(?P<partner>\w+))?$"
)


def mnemonic_of(syntax: str) -> str:
    """What a syntax string begins with, before any modifier."""
    return syntax.replace("[", ".").replace(" ", ".").partition(".")[0]


def compile_slots(text: str, alternatives: Mapping[str, str]) -> tuple[Slot, ...]:
    """The modifiers of a syntax string, e.g. `[.sat].type`."""
    slots: list[Slot] = []
    position = 0
    while position < len(text):
        match = _PART.match(text, position)
        if match is None:
            raise ValueError(f"bad modifier syntax: {text[position:]!r}")
        slots.append(_slot(match[1] or match[2], match[1] is not None, alternatives))
        position = match.end()
    return tuple(slots)


def _slot(name: str, optional: bool, alternatives: Mapping[str, str]) -> Slot:
    if name in alternatives:
        words = alternatives[name].split()
        typed = all(w in TYPES for w in words)
        return Slot(name, {w: TYPES[w] if typed else w for w in words}, optional)
    return Slot(name, {name: TYPES[name] if name in TYPES and not optional else True}, optional)


def compile_operands(
    text: str, default: Callable[[bool], str], alternatives: Mapping[str, str]
) -> tuple[OperandForm, ...]:
    """The operands of a syntax string; `default` gives the spec of a destination or a source."""
    operands: list[OperandForm] = []
    before, found, last = text.rpartition("[,")
    marked = f"{before}, ?{last.strip().removesuffix(']')}" if found else text
    for item in filter(None, (s.strip() for s in marked.split(","))):
        optional = item.startswith("?")
        match = _OPERAND.match(item.lstrip("?"))
        if match is None:
            raise ValueError(f"bad operand syntax: {item!r}")
        address = match["open"] is not None
        destination = match["name"] in DESTINATIONS and not address
        spec = match["spec"] or ("b64" if address else default(destination))
        selector = match["selector"]
        operands.append(
            OperandForm(
                match["name"],
                spec,
                destination,
                address,
                optional,
                match["sign"] == "!",
                match["second"] or match["partner"],
                match["partner"] is not None,
                Selector(selector, tuple(alternatives[selector].split())) if selector else None,
                match["sign"] == "-",
            )  # fmt: skip
        )
    return tuple(operands)


def _parameters(meaning: Meaning) -> tuple[str, ...]:
    """Names of a meaning's parameters after the algebra. Read from the code: `inspect.signature` would be a
    third of the time that the catalogue takes to load."""
    code = cast("FunctionType", meaning).__code__
    return code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]


def compile_form(
    syntax: str, meaning: Meaning | None, alternatives: Mapping[str, str], **attributes: Any
) -> Form:
    """A `Form` from its syntax string."""
    opcode, _, tail = syntax.partition(" ")
    first, later = opcode, ""
    if is_open := opcode.endswith(OPEN):
        first, _, later = opcode.removesuffix(OPEN).partition(OPEN)
    mnemonic = mnemonic_of(syntax)
    slots = compile_slots(first[len(mnemonic) :], alternatives)
    head = len(slots) if is_open else None
    slots += compile_slots(later, alternatives)
    literal = [s.name for s in slots if not s.optional and s.name in TYPES]
    names = {s.name for s in slots}

    def default(destination: bool) -> str:
        wanted = ("dtype", "type") if destination else ("atype", "stype", "btype", "type")
        return next((n for n in wanted if n in names), literal[0] if literal else "b32")

    parameters = _parameters(meaning) if meaning else ()
    operands = compile_operands(tail, default, alternatives)
    absent: Binding = {k: v for o in operands for k, v in o.absent.items()}
    attributes["defaults"] = {**absent, **attributes.get("defaults", {})}
    return Form(syntax, mnemonic, slots, operands, meaning, parameters=parameters, head=head, **attributes)


def main_type(form: Form, binding: Mapping[str, Value]) -> Type | None:
    """What a meaning receives as `t`: the slot `type`, else the only literal type."""
    bound = binding.get("type")
    return bound if isinstance(bound, Type) else _literal_type(form)


@cache
def _converts_addresses(form: Form) -> bool:
    return any(s.name == "space" for s in form.slots) and not any(o.address for o in form.operands)


@cache
def _literal_type(form: Form) -> Type | None:
    single = [next(iter(s.choices.values())) for s in form.slots if len(s.choices) == 1]
    literal = [v for v in single if isinstance(v, Type)]
    return literal[0] if len(literal) == 1 else None
