"""Random programs with an array of local memory, in which all lanes have the same or not: both engines agree.

What is stored is the same for all lanes or not, at one place or not, by all lanes or by some, in loops that
they leave together or by degrees (`simt.analysis.alike_frames`). The interpreter gives each lane an array.
More seeds: `python -m tests.property.test_alike_frames FIRST LAST`.
"""

from __future__ import annotations

import random
import sys

import numpy as np
import pytest

import simt
from simt.analysis.access import ALIKE
from simt.analysis.program import Op
from simt.analysis.shape import BlockShape
from simt.engine.host import host_cpu
from simt.engine.llvm_rewriting import shaped
from simt.engine.llvm_slots import Unit
from tests.conftest import shared_device

WORDS, VALUES = 8, 4
"""Of the array; registers of either kind."""
HEAD = f""".version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n) {{
    .local .align 8 .b8 box[{4 * WORDS}];
    .reg .b32 %u<{VALUES}>, %v<{VALUES}>, %t, %i, %n, %x, %c<9>; .reg .pred %p;
    .reg .b64 %in, %out, %w, %box, %at;
    ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u32 %n, [n];
    mov.u32 %t, %tid.x; mov.u32 %x, %ctaid.x; mov.u32 %i, %ntid.x; mad.lo.u32 %i, %x, %i, %t;
    setp.ge.u32 %p, %i, %n;
    @%p ret;
    mul.wide.u32 %w, %i, {4 * (2 * VALUES + WORDS)}; add.u64 %out, %out, %w;
    mul.wide.u32 %w, %i, {4 * VALUES}; add.u64 %at, %in, %w; mov.u64 %box, box;
    mov.u32 %u0, %ctaid.x; mov.u32 %u1, 3; add.u32 %u2, %u0, %n; ld.global.u32 %u3, [%in];
    ld.global.v4.u32 {{%v0, %v1, %v2, %v3}}, [%at];
"""


class Writer:
    """Writes one program. `wild`: how likely a store is not the same for all lanes."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.wild = self.random.choice((0, 0, 0.1))
        self.parts = self.random.choice((0, 0.2, 0.5))
        self.labels = 0

    def u(self) -> str:
        return f"%u{self.random.randrange(VALUES)}"

    def v(self) -> str:
        return f"%v{self.random.randrange(VALUES)}"

    def place(self, register: str) -> str:
        """Code that makes `%at` a place in the array."""
        if self.random.random() < 0.3:
            return f"add.u64 %at, %box, {4 * self.random.randrange(WORDS)};"
        return f"and.b32 %x, {register}, {WORDS - 1}; mul.wide.u32 %at, %x, 4; add.u64 %at, %box, %at;"

    def statement(self, depth: int) -> str:
        wild = self.random.random() < self.wild
        operation = self.random.choice(("add.u32", "xor.b32", "mul.lo.u32", "and.b32", "min.u32"))
        match self.random.randrange(10 if depth < 3 else 8):
            case 0 | 1:
                return f"{operation} {self.u()}, {self.u()}, {self.u()};"
            case 2:
                return f"{operation} {self.v()}, {self.v()}, {self.random.choice((self.u(), self.v()))};"
            case 3 | 4:
                at, value = (self.v() if wild and self.random.random() < 0.6 else self.u() for _ in range(2))
                return f"{self.place(at)} st.local.u32 [%at], {value};"
            case 5 | 6:
                return f"{self.place(self.u())} ld.local.u32 {self.u()}, [%at];"
            case 7:
                return f"{self.place(self.v())} ld.local.u32 {self.v()}, [%at];"
            case 8:
                return self.branch(depth)
            case _:
                return self.loop(depth)

    def several(self, depth: int) -> str:
        return "\n".join(self.statement(depth) for _ in range(self.random.randrange(1, 7)))

    def judge(self) -> str:
        """What a branch or loop looks at: often the same for all lanes."""
        return self.v() if self.random.random() < self.parts else self.u()

    def branch(self, depth: int) -> str:
        self.labels += 1
        n, one, other = self.labels, self.several(depth + 1), self.several(depth + 1)
        asked = f"and.b32 %x, {self.judge()}, 3; setp.eq.u32 %p, %x, 1;"
        return f"{asked}\n@%p bra A{n};\n{one}\nbra B{n};\nA{n}:\n{other}\nB{n}:"

    def loop(self, depth: int) -> str:
        self.labels += 1
        n, c = self.labels, f"%c{depth}"
        begin = f"and.b32 {c}, {self.judge()}, 3;"
        end = f"sub.u32 {c}, {c}, 1; setp.lt.s32 %p, {c}, 0;"
        return f"{begin}\nL{n}:\n{self.several(depth + 1)}\n{end}\n@!%p bra L{n};"

    def program(self) -> str:
        first = " ".join(f"st.local.u32 [box+{4 * i}], {self.u()};" for i in range(WORDS))
        body = "\n".join(self.statement(0) for _ in range(self.random.randrange(4, 16)))
        registers = [f"%u{i}" for i in range(VALUES)] + [f"%v{i}" for i in range(VALUES)]
        last = [f"st.global.u32 [%out+{4 * i}], {name};" for i, name in enumerate(registers)]
        for i in range(WORDS):
            last.append(f"ld.local.u32 %x, [box+{4 * i}]; st.global.u32 [%out+{4 * (2 * VALUES + i)}], %x;")
        return "\n".join((HEAD, first, body, *last, "ret;\n}"))


def results(engine: str, text: str, seed: int, threads: int) -> np.ndarray:
    device = shared_device(engine)
    given = np.random.default_rng(seed).integers(0, 2**32, threads * VALUES, "u4")
    out = device.zeros((threads, 2 * VALUES + WORDS), "u4")
    device.load(text)["k"]((3,), (64,), (device.array(given), out, threads))
    return out.numpy()


def is_alike(text: str) -> bool:
    program = shared_device("jit").load(text).program
    block = BlockShape(64, 1, 1)
    unit = shaped(Unit(program, program.functions["k"], block, host_cpu().features))
    ops = (op for op in unit.kernel.ops() if isinstance(op, Op))
    return any(op.binding.get("space") == ALIKE for op in ops)


def check(seed: int) -> bool:
    """Whether the program's array is one for all lanes."""
    text, threads = Writer(seed).program(), random.Random(seed).choice((192, 150, 129, 10))
    found, expected = (results(engine, text, seed, threads) for engine in ("jit", "interpreter"))
    np.testing.assert_array_equal(found, expected, f"seed {seed}")
    return is_alike(text)


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_random_programs(first: int) -> None:
    for seed in range(first, first + 10):
        check(seed)


def test_some_are_alike() -> None:
    kinds = [is_alike(Writer(seed).program()) for seed in range(40)]
    assert 10 <= sum(kinds) <= 35


def main(first: int, last: int) -> None:
    alike = 0
    for seed in range(first, last):
        try:
            alike += check(seed)
        except (AssertionError, simt.SimtError) as error:
            print(seed, str(error)[:300], flush=True)
    print(f"{alike} of {last - first} alike")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
