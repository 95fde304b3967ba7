"""Formulas of instructions: their meanings run on symbols instead of columns, and written down.

A third algebra beside the two engines': its values are expressions. So what a page shows as an instruction's
formula is the very function that both engines execute.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from itertools import accumulate
from typing import Any, cast

import numpy as np

from simt.isa.algebra import Composed, Environment
from simt.isa.form import Binding, Form, main_type
from simt.ptx.types import U64, Type
from simt.records import dataclass, field

MOST_LINES, MOST_COLUMNS = 8, 100
"""Longer formulas help nobody: the function itself is easier to read."""

INFIX = {
    "add": "+", "sub": "-", "mul": "*", "divide": "/", "remainder": "%", "and_": "&", "or_": "|", "xor": "^",
    "shift_left": "<<", "shift_right": ">>", "fadd": "+", "fsub": "-", "fmul": "*", "fdiv": "/",
}  # fmt: skip
RELATIONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
PREFIX = {"invert": "~"}
SMALL = 256
"""Larger integers are shown in hexadecimal."""
SAME = frozenset({"to_bits", "from_bits"})
"""Primitives that leave the bits as they are."""
EFFECTS = frozenset({"fence", "trap", "breakpoint", "event", "events", "sleep"})
NAMES = {"fsqrt": "sqrt", "fmin": "min", "fmax": "max", "minimum": "min", "maximum": "max"}


@dataclass(frozen=True)
class Expression:
    """An operation on expressions; without `parts` a name or a number. `infix`: written between its parts."""

    head: str
    parts: tuple[Expression, ...] = ()
    infix: bool = False

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Computed once: else everything below would be looked at each time."""
        return hash((self.head, self.parts, self.infix))

    def text(self, names: dict[Expression, str], top: bool = False) -> str:
        """As in a formula; `names`: expressions that have a line of their own."""
        if not top and self in names:
            return names[self]
        inner = [p.text(names) for p in self.parts]
        if not inner:
            return self.head
        if self.infix:
            joined = "{} ? {} : {}".format(*inner) if self.head == "?" else f" {self.head} ".join(inner)
            return joined if top else f"({joined})"
        return f"{self.head}({', '.join(_bare(text) for text in inner)})"

    def inner_first(self) -> list[Expression]:
        """The expression and all below it, once each, arguments before what uses them."""
        found: dict[Expression, None] = {}
        self._add_to(found)
        return list(found)

    def _add_to(self, found: dict[Expression, None]) -> None:
        """What is there already is not walked again: there may be very many ways to it."""
        if self not in found:
            for part in self.parts:
                part._add_to(found)
            found[self] = None


def _bare(text: str) -> str:
    """Without parentheses around all of it."""
    depths = list(accumulate((letter == "(") - (letter == ")") for letter in text))
    return text[1:-1] if text.startswith("(") and 0 not in depths[:-1] else text


@dataclass
class Symbols(Composed["Expression"]):
    """The algebra of expressions. `effects`: what the meaning does besides, in order. `is_long`: it has parts
    that are too long to show."""

    effects: list[Expression] = field(default_factory=list[Expression])
    is_long: bool = False

    def __getattr__(self, primitive: str) -> Callable[..., Any]:
        return partial(self._apply, primitive)

    def _apply(self, primitive: str, *arguments: Any) -> Expression:
        parts = tuple(a for a in arguments if isinstance(a, Expression))
        words = [a for a in arguments if isinstance(a, str) and a]
        if primitive in SAME:
            return parts[0]
        if primitive in INFIX:
            whole = Expression(INFIX[primitive], parts, True)
            return Expression(words[0], (whole,)) if words else whole
        name = "_".join([NAMES.get(primitive, primitive), *words])
        found = Expression(PREFIX.get(primitive, name if parts else f"{name}()"), parts)
        if primitive in EFFECTS:
            self.effects.append(found)
        return found

    def const(self, t: Type, bits: int) -> Expression:
        return Expression(_number(t, bits))

    def select(self, t: Type, p: Expression, a: Expression, b: Expression) -> Expression:
        return Expression("?", (p, a, b), True)

    def compare(self, op: str, t: Type, a: Expression, b: Expression) -> Expression:
        return Expression(RELATIONS[op], (a, b), True)

    def resize(self, source: Type, target: Type, a: Expression) -> Expression:
        return a if source.bits == target.bits else Expression(target.name, (a,))

    def rarely(
        self, t: Type, p: Expression, usual: Expression, other: Callable[..., Any], *o: Expression
    ) -> Expression:
        return self.select(t, p, other(self, *o), usual)

    def halfwise(self, function: Callable[..., Any], *operands: Expression) -> Expression:
        return Expression("each half of", (function(self, *operands),))

    def lookup(self, t: Type, index: Expression, *tables: tuple[int, ...]) -> tuple[Expression, ...]:
        return (Expression("lookup", (index,)),) * len(tables)

    def bytewise(self, function: Callable[..., Any], *operands: Expression) -> Any:
        return function(self, *operands)

    def by_halves(self, function: Callable[..., Any], *operands: Expression) -> Expression:
        pairs = ((Expression("low", (a,)), Expression("high", (a,))) for a in operands)
        return Expression("as high half", (function(self, *pairs),))

    def warp_function(
        self, function: Callable[..., Any], results: tuple[Type, ...], *o: Expression
    ) -> tuple[Expression, ...]:
        self.is_long = True
        return tuple(Expression(f"{i}", o) for i in range(len(results)))

    def flush_result(self, t: Type, a: Expression, twice: Callable[..., Any], *o: Expression) -> Expression:
        return Expression("flush", (a,))

    def nan_result(self, t: Type, a: Expression, *operands: Expression) -> Expression:
        return a

    def any_nan(self, t: Type, a: Expression) -> Expression:
        return a

    def float_to_float(self, source: Type, target: Type, a: Expression, rounding: str) -> Expression:
        return Expression(f"{target.name}_{rounding}", (a,))

    float_to_int = float_to_float
    int_to_float = float_to_float

    def round_integral(self, t: Type, a: Expression, rounding: str) -> Expression:
        return Expression(f"integral_{rounding}", (a,))

    def load(self, t: Type, space: str, address: Expression, count: int, volatile: bool) -> Any:
        word = Expression(f"{space or 'memory'}.{t.name}[{address.head}]")
        return (
            (word,)
            if count == 1
            else tuple(Expression(f"{word.head[:-1]}+{i * t.bytes}]") for i in range(count))
        )

    def store(self, t: Type, space: str, address: Expression, values: Any, volatile: bool) -> None:
        place = Expression(f"{space or 'memory'}.{t.name}[{address.head}]")
        self.effects += [Expression("=", (place, v), True) for v in values]

    def atomic(self, op: str, t: Type, space: str, address: Expression, b: Expression, c: Any) -> Expression:
        place = Expression(f"{space or 'memory'}.{t.name}[{address.head}]")
        found = Expression(f"atomic_{op}", (place, b) if c is None else (place, b, c))
        self.effects.append(found)
        return found

    def arrivals(self, op: str, space: str, address: Expression, b: Expression) -> Expression:
        return self.atomic(op, U64, space, address, b, None)

    def texture(self, geometry: str, result: Type, coordinate: Type, a: Expression, c: Any) -> Any:
        return (Expression(f"texel_{geometry}", (a, *c)),)


def _number(t: Type, bits: int) -> str:
    if not t.is_native_float:
        return str(bits) if bits < SMALL else hex(bits)
    return f"{np.array([bits], f'u{t.bytes}').view(f'f{t.bytes}')[0]:g}"


# ------------------------------------------------------------------ formulas of forms


def formula(form: Form, binding: Binding) -> list[str]:
    """What an instruction computes, as lines `d = ...`; none if that would be long, or is control flow."""
    if form.meaning is None:
        return []
    symbols = Symbols()
    result = form.meaning(symbols, **_arguments(form, binding))
    if symbols.is_long:
        return []
    values = _several(result)
    lines = list(
        _lines([*zip(_destinations(form, len(values)), values), *(("", e) for e in symbols.effects)])
    )
    return lines if len(lines) <= MOST_LINES and max(map(len, lines), default=0) <= MOST_COLUMNS else []


def _several(result: Any) -> tuple[Expression, ...]:
    """What a meaning returns, as a tuple."""
    if isinstance(result, tuple):
        return cast("tuple[Expression, ...]", result)
    return () if result is None else (result,)


def _arguments(form: Form, binding: Binding) -> dict[str, Any]:
    names = [o.name for o in form.operands if not o.destination] + ["c", "carry"]
    given: dict[str, Any] = {n: Expression("CC.CF" if n == "carry" else n) for n in names}
    for operand in form.operands:
        if operand.kind == "value" and not operand.destination:
            _, count = form.operand_type(operand, binding)
            if count > 1:
                given[operand.name] = tuple(Expression(f"{operand.name}.{i}") for i in range(count))
    given |= {**binding, "t": main_type(form, binding), "env": Environment()}
    return {p: given[p] for p in form.parameters}


def _destinations(form: Form, count: int) -> list[str]:
    """Names of the values that a meaning returns."""
    found = [n for o in form.operands if o.destination for n in (o.name, *([o.second] if o.second else []))]
    found += ["CC.CF"] if "out" in form.carry.split() else []
    return found if len(found) == count else [f"{found[0]}.{i}" for i in range(count)]


def _lines(wanted: list[tuple[str, Expression]]) -> Iterator[str]:
    """A line for each value, and before it for what is used more than once."""
    names: dict[Expression, str] = {}
    results = {value: name for name, value in reversed(wanted) if name}
    shared = {e for e, n in _uses([value for _, value in wanted]).items() if n > 1 and e.parts}
    for name, value in wanted:
        for expression in value.inner_first():
            if expression in shared and expression not in names:
                shown = results.get(expression) or f"x{sum(n[0] == 'x' for n in names.values()) + 1}"
                yield f"{shown} = {expression.text(names, True)}"
                names[expression] = shown
        if names.get(value) != name or not name:
            text = names.get(value) or value.text(names, True)
            yield f"{name} = {text}" if name else text


def _uses(values: list[Expression]) -> Counter[Expression]:
    """How often each expression is an argument of another one, or a result."""
    seen = {e for v in values for e in v.inner_first()}
    return Counter(values) + Counter(p for e in seen for p in e.parts)


def plainest(form: Form) -> list[Binding]:
    """Bindings without optional modifiers, of the first types: one for each choice of the other modifiers."""
    absent = {s.name for s in form.slots if s.optional}
    plain = [b for b in form.bindings() if not any(b[name] for name in absent)] or list(form.bindings())[:1]
    types = {n: v for n, v in plain[0].items() if isinstance(v, Type)}
    return [b for b in plain if all(b[n] == v for n, v in types.items())]
