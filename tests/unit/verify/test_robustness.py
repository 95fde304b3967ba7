"""The verifier raises nothing and finishes, whatever tree the parser gives it; nvcc's modules are clean."""

from __future__ import annotations

import random
import re
import time
from pathlib import Path

import pytest

from simt.ptx import nodes
from simt.ptx.nodes import Block, Function, Instruction, Module, Name, Target
from simt.ptx.parser import parse
from simt.verify import verify
from simt.verify.context import is_near

TESTS = Path(__file__).parents[2]
PROGRAMS = sorted((TESTS / "programs").glob("*.ptx"))
CORPUS = sorted(p for p in (TESTS / "corpus").rglob("*.ptx") if p.parent.name != "classic")
SEEDS = sorted((TESTS / "filetests" / "verify").glob("*.ptx"))
TOKEN = re.compile(r"[%$_\w.]+|\S")


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.name)
def test_modules_of_nvcc_are_clean(path: Path) -> None:
    module, syntax = parse(path.read_text(), path.name)
    assert module is not None
    assert [d.render() for d in [*syntax, *verify(module)]] == []


@pytest.mark.parametrize("path", CORPUS, ids=lambda p: p.name)
def test_the_corpus_is_accepted(path: Path) -> None:
    """The corpus uses instructions that are known, but not run; everything around them is clean."""
    module, syntax = parse(path.read_text(), path.name)
    assert module is not None
    found = [d.message for d in [*syntax, *verify(module)]]
    assert [m for m in found if not re.fullmatch("simt knows `.*`, but does not run it", m)] == []


def mutated(text: str, rng: random.Random) -> str:
    """The text with a few tokens replaced by others of its own, dropped or doubled."""
    tokens = [(m.start(), m.end()) for m in TOKEN.finditer(text)]
    for _ in range(rng.randrange(1, 12)):
        start, end = rng.choice(tokens)
        other = text[slice(*rng.choice(tokens))]
        text = (
            text[:start]
            + rng.choice([other, "", f"{other} {other}", f"{text[start:end]}, {other}"])
            + text[end:]
        )
    return text


@pytest.mark.parametrize("path", SEEDS, ids=lambda p: p.stem)
def test_mutated_modules_raise_nothing(path: Path) -> None:
    rng = random.Random(path.name)
    text = path.read_text()
    for _ in range(40):
        module, _ = parse(mutated(text, rng), path.name)
        if module is not None:
            for finding in verify(module):
                assert finding.render()


OPERANDS: tuple[nodes.Operand, ...] = (
    Name("nowhere"),
    Name("%tid"),
    nodes.Element(Name("%tid"), "x"),
    nodes.Element(Name("nowhere"), "x"),
    nodes.Integer(2**64 - 1, True),
    nodes.Float(0x7FF8000000000000),
    nodes.Float(0, 32),
    nodes.Address(None, -1),
    nodes.Address(nodes.Element(Name("%tid"), "q")),
    nodes.Indexed(Name("nowhere"), Name("%tid")),
    nodes.Indexed(Name("nowhere"), None, 4),
    nodes.Sum(Name("nowhere"), 4),
    nodes.TextureAddress(Name("nowhere"), nodes.Vector(())),
    nodes.Vector(()),
    nodes.Vector((nodes.Vector((nodes.Sink(),)), nodes.Pair(nodes.Sink(), nodes.Sink()))),
    nodes.Negated(nodes.Negated(nodes.Sink())),
    nodes.Minus(nodes.Arguments(())),
    nodes.Pair(nodes.Sink(), nodes.Pair(nodes.Sink(), nodes.Sink())),
    nodes.Sink(),
    nodes.Arguments((nodes.Arguments(()), nodes.Vector(()))),
)
OPCODES = [
    *("add.u32", "setp.eq.u32", "selp.b32", "mov.b64", "mov.pred", "cvt.u32.u16"),
    *("ld.global.v2.u32", "st.param.u32", "atom.add.u32", "tex.1d.v4.f32.s32"),
    *("call", "bra", "brx.idx", "bar.sync", "shfl.sync.idx.b32"),
]


@pytest.mark.parametrize("opcode", OPCODES)
def test_any_operand_anywhere(opcode: str) -> None:
    mnemonic, *modifiers = opcode.split(".")
    rng = random.Random(opcode)
    statements = tuple(
        Instruction(mnemonic, tuple(modifiers), tuple(rng.choices(OPERANDS, k=rng.randrange(6))))
        for _ in range(300)
    )
    kernel = Function("entry", "k", body=Block(statements))
    assert verify(Module((9, 0), Target(("sm_90",)), (kernel,), 64)).found


def test_deep_nesting_is_no_recursion() -> None:
    block = Block((Instruction("ret", (), ()),))
    for _ in range(20_000):
        block = Block((block,))
    kernel = Function("entry", "k", body=block)
    try:
        assert verify(Module((9, 0), Target(("sm_90",)), (kernel,), 64)).found == []
    finally:
        del kernel, block


def test_a_thousand_errors_do_not_take_long() -> None:
    names = "".join(f".reg .u32 name{n}x;\n" for n in range(3000))
    uses = "".join(f"add.u32 naem{n}x, name{n}y, {n};\n" for n in range(3000))
    text = f".version 9.0\n.target sm_90\n.address_size 64\n.entry k() {{\n{names}{uses}ret;\n}}\n"
    module, _ = parse(text, "errors")
    assert module is not None
    start = time.perf_counter()
    assert len(verify(module).found) == 1000
    assert time.perf_counter() - start < 30  # a guard against quadratic work, not a measurement


def test_near_names() -> None:
    near = [("count", "cuont"), ("abc", "abd"), ("abc", "ab"), ("abc", "xabc"), ("ABC", "abc")]
    far = [("abc", "abc"), ("abc", "xyz"), ("abcd", "abxy"), ("a", "b"), ("abcdef", "abc")]
    assert all(is_near(a, b) and is_near(b, a) for a, b in near)
    assert not any(is_near(a, b) for a, b in far)
