"""Random kernels of CTAs whose warps go in step, with conditions on threads' indices: both engines agree."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import simt
from tests.conftest import shared_device
from tests.shares import share

BLOCKS = (
    (256, 1), (16, 16), (8, 8), (32, 8), (64, 4), (96, 1), (4, 16), (2, 64), (20, 20), (10, 10), (48, 3),
    (33, 2), (128, 2), (24, 4), (1, 70), (65, 1),
)  # fmt: skip
OPS = (
    "add.u32",
    "sub.u32",
    "mul.lo.u32",
    "and.b32",
    "or.b32",
    "xor.b32",
    "shr.u32",
    "shl.b32",
    "rem.u32",
    "min.s32",
)
NUMBERS = (0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 32, 63, 64, 100, 255)
COMPARED = ("eq.u32", "ne.u32", "lt.u32", "ge.u32", "gt.s32", "le.s32")
PHASES, SLOT = 6, 16
"""Barriers of a kernel, and bytes of each thread in each of two halves of shared memory: phases read one and
write the other, and threads write their own parts alone."""


class Maker:
    """The text of a kernel."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.block = self.random.choice(BLOCKS)
        self.lines: list[str] = []
        self.known = ["%x", "%y", "%t"]  # what the indices tell

    def derived(self, target: str) -> None:
        """A register of what the indices tell, by a few operations."""
        random, source = self.random, self.random.choice(self.known)
        self.lines.append(f"mov.u32 {target}, {source};")
        for _ in range(random.randrange(4)):
            op, number = random.choice(OPS), random.choice(NUMBERS)
            number = number % 32 if op.startswith("sh") else number or 1
            other = random.choice(self.known) if random.random() < 0.2 and "rem" not in op else str(number)
            self.lines.append(f"{op} {target}, {target}, {other};")

    def predicate(self, name: str) -> None:
        self.derived("%i")
        compared = self.random.choice(COMPARED)
        self.lines.append(f"setp.{compared} {name}, %i, {self.random.choice(NUMBERS)};")

    def act(self, number: int) -> None:
        """Loads of anything that the phase before has written, and a store to a part of the thread's own."""
        random, (read, write) = self.random, ((0, 1), (1, 0))[number % 2]
        size = SLOT * self.block[0] * self.block[1]
        for register in ("%v", "%w"):
            self.derived("%i")
            kind = random.choice(("u32", "u32", "u8", "u16"))
            width = int(kind[1:]) // 8
            place = f"rem.u32 %i, %i, {size // width}; mul.lo.u32 %i, %i, {width}; add.u32 %i, %i, %c;"
            if random.random() < 0.5:
                place = f"mad.lo.u32 %i, %t, {SLOT}, %c;"
            at = read * size
            self.lines.append(f"{place} ld.shared.{kind} {register}, [%i+{at}];")
        kind = random.choice(("u32", "u32", "u8"))
        part = random.randrange(SLOT // 4) * 4
        self.lines.append(f"mad.lo.u32 %v, %v, 5, %w; mad.lo.u32 %i, %t, {SLOT}, %c;")
        self.lines.append(f"st.shared.{kind} [%i+{write * size + part}], %v;")

    def phase(self, number: int) -> None:
        random, end = self.random, f"L{number}"
        for level in range(random.choice((1, 1, 1, 2))):
            if random.random() < 0.5 and number:
                name = f"%k{random.randrange(3)}"  # over barriers
            else:
                name = f"%p{level}"
                self.predicate(name)
            self.lines.append(f"@{random.choice(('', '!'))}{name} bra {end};")
        for _ in range(random.choice((1, 1, 3))):
            self.act(number)
        self.lines.append(f"{end}: bar.sync 0;")

    def text(self) -> str:
        size = SLOT * self.block[0] * self.block[1]
        for number in range(3):
            self.predicate(f"%k{number}")
        for register in ("%d0", "%d1"):
            self.derived(register)
            self.known.append(register)
        for number in range(PHASES):
            self.phase(number)
        body = "\n".join(self.lines)
        return f""".version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{{
    .reg .u32 %x, %y, %t, %n, %c, %i, %v, %w, %d<2>; .reg .u64 %in, %out, %o; .reg .pred %p<2>, %k<3>, %q;
    .shared .align 16 .b8 cells[{2 * size}];
    ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
    mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; mov.u32 %n, %ntid.x; mad.lo.u32 %t, %y, %n, %x;
    mov.u32 %c, cells; mov.u32 %i, 0; mov.u32 %n, 0;
FILL:
    mad.lo.u32 %i, %t, {2 * SLOT}, %n; cvt.u64.u32 %o, %i; add.u64 %o, %o, %in; ld.global.u32 %v, [%o];
    add.u32 %i, %i, %c; st.shared.u32 [%i], %v;
    add.u32 %n, %n, 4; setp.lt.u32 %q, %n, {2 * SLOT}; @%q bra FILL;
    bar.sync 0;
    {body}
    mov.u32 %n, 0;
EMPTY:
    mad.lo.u32 %i, %t, {2 * SLOT}, %n; cvt.u64.u32 %o, %i; add.u64 %o, %o, %out; add.u32 %i, %i, %c;
    ld.shared.u32 %v, [%i]; st.global.u32 [%o], %v;
    add.u32 %n, %n, 4; setp.lt.u32 %q, %n, {2 * SLOT}; @%q bra EMPTY;
    ret;
}}
"""


def outcome(device: simt.Device, maker: Maker, source: str) -> list[int]:
    words = 2 * SLOT // 4 * maker.block[0] * maker.block[1]
    data = np.random.default_rng(words).integers(0, 2**32, words, dtype="u4")
    out = device.zeros(words, "u4")
    device.load(source)["k"]((2,), maker.block, (device.array(data), out))
    return out.numpy().tolist()


def differs(seed: int) -> bool:
    maker = Maker(seed)
    source = maker.text()
    jit, interpreter = (outcome(shared_device(engine), maker, source) for engine in ("jit", "interpreter"))
    return jit != interpreter


@pytest.mark.parametrize("seed", share(range(24), 2))
def test_engines_agree(seed: int) -> None:
    assert not differs(seed)


if __name__ == "__main__":
    import sys

    print([seed for seed in range(int(sys.argv[1]), int(sys.argv[2])) if differs(seed)])
