"""Random lines of products and sums that name no rounding, and which operations are fused in them: as trees,
of a program as simt runs it, and of the machine code that ptxas makes (which nvdisasm prints).

`record_fused_lines.py` records the trees of ptxas, `test_fused_lines.py` compares (decision 23).
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import simt
from simt.analysis.program import Address, Op, Register

RESULTS = Path(__file__).with_name("vectors") / "fused_lines.json"
INPUTS = 6
Tree = Any
"""A value: the name of an input, or a tuple: ("neg", Tree), ("mul" or "add", Tree, Tree), or ("fma", product,
Tree) with ("product", Tree, Tree). Equal values have equal trees: factors and terms are in one order, and of
a sum and its negation, one is written as the other's."""


@dataclass(frozen=True)
class Kind:
    """Programs of a type. `register`: what holds it; `seeds`: of those that are recorded."""

    name: str
    register: str
    bytes: int
    seeds: range
    length: int

    def key(self, seed: int) -> str:
        return f"{self.name}.{self.length}.{seed}"


KINDS = (
    Kind("f32", "f32", 4, range(200), 8),
    Kind("f32", "f32", 4, range(100), 16),
    Kind("f64", "f64", 8, range(100), 12),
    Kind("f16x2", "b32", 4, range(100), 10),
    Kind("bf16x2", "b32", 4, range(60), 10),
)


def program(kind: Kind, seed: int) -> str:
    """A kernel that stores each result that it does not read itself."""
    random, t = Random(f"{kind.name} {kind.length} {seed}"), kind.name
    values, products, lines = [f"i{k}" for k in range(INPUTS)], list[str](), list[str]()
    read = set[str]()
    for number in range(kind.length):
        result = f"r{number}"
        if random.random() < 0.45 or not products:
            a, b = random.choice(values[:INPUTS]), random.choice(values)
            lines.append(f"mul.{t} %{result}, %{a}, %{b};")
            products.append(result)
        else:
            a = random.choice(products)
            b = random.choice(products if random.random() < 0.5 else values)
            if a == b:
                continue
            if random.random() < 0.5:
                a, b = b, a
            lines.append(f"{random.choice(('add', 'sub'))}.{t} %{result}, %{a}, %{b};")
            if random.random() < 0.15:  # what reads it may take it for a product
                products.append(result)
        read |= {a, b}
        values.append(result)
    loads = [f"ld.global.{kind.register} %i{k}, [%in+{k * kind.bytes}];" for k in range(INPUTS)]
    unread = [value for value in values[INPUTS:] if value not in read]
    stores = [f"st.global.{kind.register} [%out+{k * kind.bytes}], %{v};" for k, v in enumerate(unread)]
    body = "\n    ".join([*loads, *lines, *stores])
    return f""".version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{{
    .reg .b64 %in, %out; .reg .{kind.register} %i<{INPUTS}>, %r<{kind.length}>;
    ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
    {body}
    ret;
}}
"""


def digest(outputs: dict[int, Tree]) -> str:
    """Of what is stored, by its number."""
    return hashlib.sha256(repr(sorted(outputs.items())).encode()).hexdigest()[:16]


# -- trees -----------------------------------------------------------------------------------------------


def negated(a: Tree) -> Tree:
    return a[1] if isinstance(a, tuple) and a[0] == "neg" else ("neg", a)


def _product(name: str, a: Tree, b: Tree) -> Tree:
    signs = [isinstance(x, tuple) and x[0] == "neg" for x in (a, b)]
    tree = (name, *sorted((negated(x) if sign else x for x, sign in zip((a, b), signs)), key=repr))
    return negated(tree) if signs[0] != signs[1] else tree


def _lesser(one: Tree, other: Tree) -> Tree:
    return one if repr(one) <= repr(other) else negated(other)


def product(a: Tree, b: Tree) -> Tree:
    return _product("mul", a, b)


def total(a: Tree, b: Tree) -> Tree:
    one, other = (("add", *sorted(terms, key=repr)) for terms in ((a, b), (negated(a), negated(b))))
    return _lesser(one, other)


def fused(a: Tree, b: Tree, c: Tree) -> Tree:
    factor = _product("product", a, b)
    return _lesser(("fma", factor, c), ("fma", negated(factor), negated(c)))


def difference(a: Tree, b: Tree) -> Tree:
    return total(a, negated(b))


MADE = {"mul": product, "add": total, "sub": difference, "fma": fused, "neg": negated}


# -- of a program ----------------------------------------------------------------------------------------


def of_program(kind: Kind, text: str, device: simt.Device) -> dict[int, Tree]:
    """What a program stores, as the engines run it."""
    (block,) = device.load(text).program.functions["k"].blocks
    held, stored = dict[Register, Tree](), dict[int, Tree]()
    for op in block.ops:
        assert isinstance(op, Op)
        name, sources = op.form.mnemonic.split(".")[0], list(op.sources.values())
        places = [x for x in sources if isinstance(x, Address)]
        values = [held[x] for x in sources if isinstance(x, Register) and x in held]
        if name == "ld" and op.binding.get("space") == "global":
            held[_register(op)] = f"i{places[0].offset // kind.bytes}"
        elif name == "st":
            stored[places[0].offset // kind.bytes] = values[0]
        elif name in MADE:
            held[_register(op)] = MADE[name](*values)
    return stored


def _register(op: Op) -> Register:
    (register,) = op.destinations
    assert register is not None
    return register


# -- of machine code -------------------------------------------------------------------------------------

_LOAD = re.compile(r"LDG\.E(?:\.64)? (R\d+), desc\[\w+\]\[R\d+\.64(?:\+0x([0-9a-f]+))?\]")
_STORE = re.compile(r"STG\.E(?:\.64)? desc\[\w+\]\[R\d+\.64(?:\+0x([0-9a-f]+))?\], (R\d+)")
_ARITHMETIC = re.compile(r"[FDH](FMA|MUL|ADD)2?[.A-Z0-9_]* (R\d+), (.*)")
ZERO = "zero"
"""What `RZ` holds: products of halves are made by fused operations, too."""


def of_sass(kind: Kind, sass: str) -> dict[int, Tree]:
    """What machine code stores, as nvdisasm prints it. Raises `KeyError` where it is not that simple."""
    held, stored = dict[str, Tree]({"RZ": ZERO}), dict[int, Tree]()
    for line in re.findall(r"^\s*/\*[0-9a-f]+\*/\s+(.*?)\s*;", sass, re.MULTILINE):
        if found := _LOAD.match(line):
            held[found[1]] = f"i{int(found[2] or '0', 16) // kind.bytes}"
        elif found := _STORE.match(line):
            stored[int(found[1] or "0", 16) // kind.bytes] = held[found[2]]
        elif found := _ARITHMETIC.match(line):
            values = [_operand(held, text) for text in found[3].split(",")]
            held[found[2]] = _made(found[1], values)
    return stored


def _operand(held: dict[str, Tree], text: str) -> Tree:
    text = text.strip().replace(".reuse", "")
    value = held[text.lstrip("-")]
    return negated(value) if text.startswith("-") else value


def _made(name: str, values: list[Tree]) -> Tree:
    if name == "FMA" and values[2] in (ZERO, negated(ZERO)):
        return product(*values[:2])
    return {"FMA": fused, "MUL": product, "ADD": total}[name](*values)
