"""Random programs in double precision, whose operands are NaNs of all kinds: both engines give the same bits.

The interpreter settles which NaN a result is at once, the JIT where bits are seen, by as few tests as may be
(`simt.engine.llvm_open`). More seeds: `python -m tests.property.test_nan_bits FIRST LAST`.
"""

from __future__ import annotations

import random
import sys

import numpy as np
import pytest

import simt

THREADS, WORDS = 96, 16
"""Doubles that each thread reads, and writes."""
NANS = (0x7FF8 << 48, 0xFFF8 << 48, 0x7FF0 << 48 | 1, 0xFFF4 << 48 | 99, 0x7FFC << 48 | 5)
OTHERS = (0x7FF << 52, 0xFFF << 52, 0, 1 << 63, 1, 0x3FF << 52, 0xC00 << 52, 0x4059 << 48, 0x7FEF << 48)
HEAD = f""".version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {{
    .reg .f64 %d<8>; .reg .b32 %lo, %hi, %t, %n, %m; .reg .b64 %in, %out, %at, %w; .reg .pred %p, %q, %r;
    ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x;
    mul.wide.u32 %w, %t, {8 * WORDS}; add.u64 %in, %in, %w; add.u64 %out, %out, %w;
    and.b32 %n, %t, 3; setp.eq.u32 %q, %n, 0; setp.lt.u32 %r, %t, 50;
"""


class Writer:
    """Writes one program."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.labels = 0

    def d(self) -> str:
        return f"%d{self.random.randrange(8)}"

    def place(self) -> int:
        return 8 * self.random.randrange(WORDS)

    def statement(self, depth: int) -> str:
        pick, d = self.random.choice, self.d
        kind = self.random.randrange(14 if depth < 2 else 12)
        guard = pick(("", "", "", "", "@%q ", "@!%r ", "@%p "))
        match kind:
            case 0 | 1 | 2 | 3:
                return f"{guard}{pick(('add', 'sub', 'mul', 'min', 'max'))}.f64 {d()}, {d()}, {d()};"
            case 4 | 5:
                return f"{guard}fma.rn.f64 {d()}, {d()}, {d()}, {d()};"
            case 6:
                return f"{guard}{pick(('neg', 'abs', 'sqrt.rn', 'rcp.rn'))}.f64 {d()}, {d()};"
            case 7:
                return f"selp.f64 {d()}, {d()}, {d()}, {pick(('%p', '%q', '%r'))};"
            case 8:
                return f"setp.{pick(('lt', 'geu', 'nan', 'eq'))}.f64 %p, {d()}, {d()};"
            case 9:
                between = f"add.f64 {d()}, {d()}, {d()};" if self.random.random() < 0.5 else ""
                change = pick(("xor.b32 %lo, %lo, 1;", "add.u32 %hi, %hi, %lo;", ""))
                return f"mov.b64 {{%lo, %hi}}, {d()}; {between} {change} mov.b64 {d()}, {{%lo, %hi}};"
            case 10:
                return f"{guard}st.global.f64 [%out+{self.place()}], {d()};"
            case 11:
                where = pick(("in", "in", "out"))
                return f"ld.global.f64 {d()}, [%{where}+{self.place()}];"
            case 12:
                return self.branch(depth)
            case _:
                return self.loop(depth)

    def several(self, depth: int, most: int) -> str:
        return "\n".join(self.statement(depth) for _ in range(self.random.randrange(1, most)))

    def branch(self, depth: int) -> str:
        self.labels += 1
        n, p = self.labels, self.random.choice(("%p", "%q", "%r"))
        one, other = self.several(depth + 1, 8), self.several(depth + 1, 8)
        return f"@{p} bra A{n};\n{one}\nbra B{n};\nA{n}:\n{other}\nB{n}:"

    def loop(self, depth: int) -> str:
        """Of which lanes have different numbers of turns, or get at places of their own."""
        self.labels += 1
        n, i = self.labels, f"%i{self.labels}"
        turns = self.random.choice(("mov.u32 %m, 3;", "and.b32 %m, %t, 7;", "shr.u32 %m, %t, 2;"))
        place = f"and.b32 %hi, {i}, 7; mul.wide.u32 %at, %hi, 8; add.u64 %at, %at, %out;"
        own = f"{place} st.global.f64 [%at], {self.d()};"
        body = self.several(depth + 1, 8) + (own if self.random.random() < 0.5 else "")
        return (
            f"{{ .reg .b32 {i}; mov.u32 {i}, 0;\nL{n}:\n{body}\n{turns}\nadd.u32 {i}, {i}, 1;"
            f"setp.le.u32 %p, {i}, %m; @%p bra L{n}; }}"
        )

    def program(self) -> str:
        loads = "\n".join(f"ld.global.f64 %d{k}, [%in+{8 * k}];" for k in range(8))
        body = "\n".join(self.statement(0) for _ in range(self.random.randrange(5, 60)))
        ends = "\n".join(f"st.global.f64 [%out+{8 * (8 + k)}], %d{k};" for k in range(8))
        return f"{HEAD}{loads}\nsetp.ne.f64 %p, %d0, %d1;\n{body}\n{ends}\nret; }}"


def given(seed: int) -> np.ndarray:
    rng, shape = np.random.default_rng(seed), (THREADS, WORDS)
    often = rng.random(shape) < (0.02, 0.3, 0.8)[seed % 3]
    words = np.array(OTHERS, "u8")[rng.integers(0, len(OTHERS), shape)]
    words[often] = np.array(NANS, "u8")[rng.integers(0, len(NANS), shape)][often]
    return words


def bits(engine: str, text: str, words: np.ndarray) -> np.ndarray:
    device = simt.Device("sm_90", engine=engine, memory="64MiB", workers=1)
    out = device.zeros((THREADS, WORDS), "u8")
    device.load(text)["k"](1, THREADS, (device.array(words), out))
    return out.numpy()


@pytest.mark.parametrize("seed", range(12))
def test_both_engines_give_the_same_bits(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMT_DRAFTS", "0")
    text, words = Writer(seed).program(), given(seed)
    np.testing.assert_array_equal(bits("jit", text, words), bits("interpreter", text, words))


def main(first: int, last: int) -> None:
    for seed in range(first, last):
        text, words = Writer(seed).program(), given(seed)
        if not np.array_equal(bits("jit", text, words), bits("interpreter", text, words)):
            print(f"seed {seed}:\n{text}")
            raise SystemExit(1)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
