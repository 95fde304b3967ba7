"""CTAs that are left out since none of their threads does anything (`simt.engine.llvm_idle`): random
conditions on the way into a kernel, against the interpreter.

`python -m tests.property.test_idle_ctas FIRST LAST` runs more of them.
"""

from __future__ import annotations

import random
import sys
from typing import Any

import numpy as np
import pytest

import simt
from tests.conftest import shared_device

NUMBERS = (0, 1, 2, 3, 7, 16, 31, 32, 40, -1, -2, -17, 2**31 - 1, -(2**31), 2**30, 65536)
BLOCKS = (
    (32, 8, 1), (16, 16, 1), (8, 8, 1), (64, 1, 1), (256, 1, 1), (32, 32, 1), (8, 4, 4), (1, 64, 1),
    (20, 10, 1),
)  # fmt: skip
GRIDS = ((9, 7, 1), (1, 12, 1), (70, 2, 1), (33, 1, 3), (5, 5, 2))
PARAMETERS = 4
HEAD = """
.version 7.4
.target sm_80
.address_size 64
.visible .entry k (.param .u64 out, .param .u32 p0, .param .u32 p1, .param .u32 p2, .param .u32 p3)
{
    .reg .b32 %r<400>; .reg .b64 %d<200>; .reg .pred %p<200>;
    mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; mov.u32 %r2, %tid.z;
    mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ctaid.y; mov.u32 %r5, %ctaid.z;
    mov.u32 %r6, %ntid.x; mov.u32 %r7, %ntid.y; mov.u32 %r8, %ntid.z;
    ld.param.u32 %r10, [p0]; ld.param.u32 %r11, [p1]; ld.param.u32 %r12, [p2]; ld.param.u32 %r13, [p3];
    mad.lo.s32 %r20, %r3, %r6, %r0; mad.lo.s32 %r21, %r4, %r7, %r1; mad.lo.s32 %r22, %r5, %r8, %r2;
"""
TAIL = """
    mov.u32 %r300, %nctaid.x; mul.lo.u32 %r300, %r300, %r6;
    mov.u32 %r301, %nctaid.y; mul.lo.u32 %r301, %r301, %r7;
    mad.lo.u32 %r302, %r22, %r301, %r21; mad.lo.u32 %r302, %r302, %r300, %r20;
    ld.param.u64 %d190, [out]; mad.wide.u32 %d190, %r302, 4, %d190;
    ld.global.u32 %r303, [%d190]; add.u32 %r303, %r303, 1; st.global.u32 [%d190], %r303;
ends:
    exit;
}
"""


class Writer:
    """A kernel that counts threads that pass its conditions."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.lines: list[str] = []
        self.registers = {"r": 30, "d": 0, "p": 0}

    def new(self, kind: str) -> str:
        self.registers[kind] += 1
        return f"%{kind}{self.registers[kind]}"

    def emit(self, text: str) -> None:
        self.lines.append(f"    {text}")

    def uniform(self) -> str:
        choice = self.chance.randrange(4)
        if choice == 0:
            return str(self.chance.choice(NUMBERS))
        parameter = f"%r{10 + self.chance.randrange(PARAMETERS)}"
        if choice < 3:
            return parameter
        made = self.new("r")
        other = self.chance.choice((str(self.chance.choice(NUMBERS)), f"%r{10 + self.chance.randrange(4)}"))
        self.emit(f"{self.chance.choice(('add.s32', 'sub.s32', 'mul.lo.s32'))} {made}, {parameter}, {other};")
        return made

    def index(self) -> str:
        """Of a thread: often its place in the grid, with a step and a shift."""
        index = self.chance.choice(("%r20", "%r21", "%r20", "%r21", "%r22", "%r0", "%r1", "%r3", "%r4"))
        for _ in range(self.chance.choice((0, 0, 1, 1, 2))):
            made, other = self.new("r"), self.uniform()
            way = self.chance.randrange(7)
            if way < 3:
                self.emit(f"{self.chance.choice(('add.s32', 'sub.s32'))} {made}, {index}, {other};")
            elif way == 3:
                self.emit(f"sub.s32 {made}, {other}, {index};")
            elif way == 4:
                self.emit(f"mul.lo.s32 {made}, {index}, {other};")
            elif way == 5:
                self.emit(f"shl.b32 {made}, {index}, {self.chance.choice((1, 2, 5, 30))};")
            else:
                self.emit(f"add.s32 {made}, {index}, {self.chance.choice(('%r20', '%r21', '%r1'))};")
            index = made
        return index

    def comparison(self) -> str:
        made, a = self.new("p"), self.index()
        b = self.index() if self.chance.random() < 0.2 else self.uniform()
        how = self.chance.choice(("lt", "le", "gt", "ge", "lt", "gt", "eq", "ne"))
        if self.chance.random() < 0.15:  # by 64 bits
            kind = self.chance.choice("su")
            left, right, number = self.new("d"), self.new("d"), self.new("r")
            self.emit(f"cvt.{kind}64.{kind}32 {left}, {a};")
            self.emit(f"mov.u32 {number}, {b};")
            self.emit(f"cvt.{kind}64.{kind}32 {right}, {number};")
            self.emit(f"setp.{how}.{self.chance.choice('su')}64 {made}, {left}, {right};")
        else:
            self.emit(f"setp.{how}.{self.chance.choice('ssu')}32 {made}, {a}, {b};")
        return made

    def condition(self, depth: int = 2) -> str:
        if depth == 0 or self.chance.random() < 0.4:
            return self.comparison()
        made, a, b = self.new("p"), self.condition(depth - 1), self.condition(depth - 1)
        self.emit(f"{self.chance.choice(('and', 'or', 'or'))}.pred {made}, {a}, {b};")
        if self.chance.random() < 0.2:
            self.emit(f"not.pred {made}, {made};")
        return made

    def text(self) -> str:
        for _ in range(self.chance.choice((1, 1, 2, 3))):
            sign = self.chance.choice(("", "!"))
            self.emit(f"@{sign}{self.condition()} {self.chance.choice(('bra ends', 'exit'))};")
        return HEAD + "\n".join(self.lines) + TAIL


def check(seed: int) -> int:
    """How many threads passed, of all launches. Raises `AssertionError` where the engines differ."""
    text = Writer(seed).text()
    chance = random.Random(seed)
    kernels = [shared_device(engine, "sm_80").load(text)["k"] for engine in ("jit", "interpreter")]
    passed = 0
    for _ in range(4):
        block, grid = chance.choice(BLOCKS), chance.choice(GRIDS)
        arguments = [
            np.int32(chance.choice((chance.choice(NUMBERS), chance.randrange(-20, 300)))) for _ in range(4)
        ]
        counts: list[Any] = []
        for kernel in kernels:
            out = kernel.module.device.zeros(int(np.prod(grid) * np.prod(block)), "u4")
            kernel(grid, block, (out, *arguments))
            counts.append(out.numpy().copy())
        np.testing.assert_array_equal(*counts, err_msg=f"seed {seed}, {grid} x {block}, {arguments}")
        passed += int(counts[0].sum())
    return passed


@pytest.mark.parametrize("first", range(0, 16, 8))
def test_random_conditions(first: int) -> None:
    assert sum(map(check, range(first, first + 8))) > 0


ELIMINATION = """
.version 7.4
.target sm_80
.address_size 64
.visible .entry k (.param .u64 out, .param .u32 n, .param .u32 k)
{
    .reg .b32 %r<12>; .reg .b64 %d<4>; .reg .pred %p<8>;
    mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x; mad.lo.s32 %r3, %r0, %r1, %r2;
    mov.u32 %r0, %ctaid.y; mov.u32 %r1, %ntid.y; mov.u32 %r2, %tid.y; mad.lo.s32 %r4, %r0, %r1, %r2;
    ld.param.u32 %r5, [n]; ld.param.u32 %r6, [k];
    setp.le.s32 %p0, %r3, %r6; setp.le.s32 %p1, %r4, %r6; or.pred %p0, %p0, %p1;
    setp.ge.s32 %p2, %r3, %r5; setp.ge.s32 %p3, %r4, %r5; or.pred %p2, %p2, %p3; or.pred %p0, %p0, %p2;
    @%p0 bra ends;
    ld.param.u64 %d0, [out]; mad.lo.s32 %r7, %r4, %r5, %r3; mad.wide.s32 %d0, %r7, 4, %d0;
    ld.global.u32 %r8, [%d0]; add.u32 %r8, %r8, 1; st.global.u32 [%d0], %r8;
ends:
    ret;
}
"""


@pytest.mark.parametrize("block", [(16, 16), (32, 8), (8, 8), (64, 1), (1, 64), (10, 10)])
@pytest.mark.parametrize("workers", [1, 3])
def test_what_is_left_of_a_matrix(block: tuple[int, int], workers: int) -> None:
    device = simt.Device("sm_80", workers=workers, memory="64MiB")
    kernel, n = device.load(ELIMINATION)["k"], 150
    out = device.zeros((n, n), "u4")
    for k in range(n):
        kernel((-(-n // block[0]), -(-n // block[1])), block, (out, n, k))
    place = np.arange(n)
    np.testing.assert_array_equal(out.numpy(), np.minimum(place[:, None], place[None, :]))


if __name__ == "__main__":
    for number in range(int(sys.argv[1]), int(sys.argv[2])):
        check(number)
