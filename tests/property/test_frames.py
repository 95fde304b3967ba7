"""Random code that keeps its variables in local memory, as debuggers want it: both engines must agree."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import simt
from simt.analysis.frame_registers import flattened
from simt.analysis.lower import lower
from simt.analysis.program import Op
from simt.ptx.parser import parse

THREADS = 64
SEEDS = 16
SLOTS = (0, 4, 8, 12, 16, 20, 24, 28)
HEAD = """.version 7.5
.target sm_75
.address_size 64
"""
NAMES = "f", "g", "h"


class Writer:
    """Writes statements of one function. `callees`: those that it may call."""

    def __init__(self, random: Random, callees: tuple[str, ...]) -> None:
        self.random = random
        self.callees = callees
        self.labels = 0
        self.sizes = random.choice([(4,), (4, 8), (4, 4, 4, 8, 2, 1)])
        """Bytes of words."""

    def place(self, size: int) -> str:
        """An address of a word in the frame, mostly one that is known."""
        offset = self.random.choice([s for s in SLOTS if s % max(size, 4) == 0])
        offset += self.random.randrange(0, 4, size) if size < 4 and self.random.random() < 0.3 else 0
        base = self.random.choice(["%s", "%s", "%s", "%l", "%k"])
        space = ".local" if base == "%l" else ""
        return f"{space}@[{base}+{offset - 8 if base == '%k' else offset}]"

    def access(self) -> str:
        size = self.random.choice(self.sizes)
        register = self.random.choice(["%v0", "%v1", "%v2"]) if size <= 4 else "%w"
        guard = self.random.choice(["", "", "", "@%p ", "@!%p "])
        space, place = self.place(size).split("@")
        if self.random.random() < 0.5:
            return f"{guard}st{space}.u{8 * size} {place}, {register};"
        sign = self.random.choice("us")
        return f"{guard}ld{space}.{sign}{8 * size} {register}, {place};"

    def sum(self) -> str:
        a, b, c = self.random.choices(["%v0", "%v1", "%v2"], k=3)
        wide = self.random.choice(["cvt.u32.u64 %n, %w;", "cvt.u64.u32 %w, %v0;", ""])
        return f"{wide} mad.lo.u32 {a}, {b}, 5, {c}; add.u32 {a}, {a}, %n;"

    def test(self) -> str:
        return f"and.b32 %n, {self.random.choice(['%v0', '%v1', '%t'])}, 3; setp.lt.u32 %p, %n, 2;"

    def call(self) -> str:
        if not self.callees:
            return self.access()
        name = self.random.choice(self.callees)
        pointer = self.random.choice(["%s", "%s", "%k"])
        return (
            f"{{ .param .b64 a; .param .b32 b; .param .b32 c; st.param.b64 [a], {pointer};"
            f" st.param.b32 [b], %v0; call (c), {name}, (a, b); ld.param.b32 %v1, [c]; }}"
        )

    def branch(self, deep: int) -> str:
        self.labels += 1
        one, two = f"A{self.labels}", f"B{self.labels}"
        first, second = self.body(deep - 1), self.body(deep - 1)
        return f"{self.test()} @%p bra {one};\n{first} bra {two};\n{one}: {second}\n{two}:"

    def loop(self, deep: int) -> str:
        self.labels += 1
        label, counter = f"L{self.labels}", f"%c{deep}"
        return (
            f"and.b32 {counter}, %v0, 3;\n{label}: {self.body(deep - 1)}\n"
            f"sub.u32 {counter}, {counter}, 1; setp.ge.s32 %q, {counter}, 0; @%q bra {label};"
        )

    def pointer(self) -> str:
        """The frame's address by way of a word that nothing else loads, or what may be it and may be not."""
        return self.random.choice(
            ["st.u64 [%s+32], %k; ld.u64 %k, [%s+32];", "add.u64 %k, %s, 8;", "@%p add.u64 %k, %s, 8;"]
        )

    def body(self, deep: int) -> str:
        found = [self.access() for _ in range(2)]
        for _ in range(self.random.randint(1, 4)):
            kind = self.random.random()
            if kind < 0.5 or not deep:
                found.append(self.access())
            elif kind < 0.65:
                found.append(self.sum())
            elif kind < 0.75:
                found.append(self.branch(deep))
            elif kind < 0.82:
                found.append(self.loop(deep))
            elif kind < 0.95:
                found.append(self.call())
            else:
                found.append(self.pointer() if self.random.random() < 0.3 else self.test())
        return "\n".join(found)


REGISTERS = """.reg .pred %p, %q; .reg .b32 %t, %n, %v<3>, %c<4>; .reg .b64 %w, %l, %s, %k;
    .local .align 16 .b8 depot[48];
    mov.u64 %l, depot; cvta.local.u64 %s, %l; add.u64 %k, %s, 8; mov.u32 %n, 1; mov.u64 %w, 77;
    mov.u32 %t, %tid.x; setp.lt.u32 %p, %t, 40; mov.u32 %v1, 3; mov.u32 %v2, %t;"""


def filled(random: Random) -> str:
    """Most frames are stored before they are read."""
    places = [s for s in SLOTS if random.random() < 0.95]
    return " ".join(f"st.u32 [%s+{place}], %v{random.randrange(3)};" for place in places)


def program(seed: int) -> str:
    random, functions = Random(seed), list[str]()
    for i, name in enumerate(NAMES):
        writer = Writer(random, NAMES[:i])
        own = f"ld.param.b32 %v0, [x]; {filled(random)} {writer.body(2)}"
        through = random.choice(["ld.u32 %n, [%o+4]; add.u32 %v0, %v0, %n;", "st.u32 [%o], %v0;", ""])
        functions.append(
            f".func (.param .b32 r) {name}(.param .b64 p, .param .b32 x) {{ {REGISTERS} .reg .b64 %o;\n"
            f"ld.param.b64 %o, [p]; {own} {through} st.param.b32 [r], %v0; ret; }}"
        )
    writer = Writer(random, NAMES)
    return (
        HEAD + "\n".join(functions) + f"\n.visible .entry k(.param .u64 in, .param .u64 out) {{ {REGISTERS}\n"
        ".reg .b64 %in, %out, %o; ld.param.u64 %in, [in]; ld.param.u64 %out, [out];\nmul.wide.u32 %o, %t, 4;"
        f"add.u64 %in, %in, %o; add.u64 %out, %out, %o; ld.global.u32 %v0, [%in]; {filled(random)}\n"
        f"{writer.body(3)}\nmad.lo.u32 %v0, %v1, 31, %v0; mad.lo.u32 %v0, %v2, 17, %v0;\n"
        "ld.local.u32 %v1, [%l+4]; add.u32 %v0, %v0, %v1; st.global.u32 [%out], %v0; ret; }\n"
    )


def run(ptx: str, engine: str) -> bytes:
    device = simt.Device("sm_75", engine=engine, memory="16MiB")
    words, out = np.random.default_rng(3).integers(0, 1000, THREADS).astype("u4"), device.zeros(THREADS, "u4")
    device.load(ptx)["k"](1, THREADS, (device.array(words), out))
    return out.numpy().tobytes()


@pytest.mark.parametrize("seed", range(SEEDS))
def test_engines_agree(seed: int) -> None:
    ptx = program(seed)
    assert run(ptx, "jit") == run(ptx, "interpreter")


def test_some_have_registers_and_some_memory() -> None:
    """Otherwise nothing is tested above."""
    kept = [_accesses(program(seed)) for seed in range(SEEDS)]
    assert kept.count(0) > SEEDS // 8
    assert sum(n > 0 for n in kept) > SEEDS // 8


def _accesses(ptx: str) -> int:
    tree, problems = parse(ptx, "k.ptx")
    assert tree is not None
    assert not problems.errors, problems.errors
    lowered = lower(tree)
    kernel, _ = flattened(lowered, lowered.functions["k"])
    spaces = [o.binding.get("space") for o in kernel.ops() if isinstance(o, Op) and o.form.moves_memory]
    return sum(space not in ("global", "param") for space in spaces)
