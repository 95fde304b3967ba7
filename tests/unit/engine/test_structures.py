"""Structures by value of random size, alignment and fields: through one or two functions, called directly or
by their addresses. Python computes what must come back."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

import numpy as np
import pytest

import simt

THREADS = 32
SIZES = (1, 3, 4, 7, 8, 12, 16, 31, 64, 255, 256, 257, 300, 1000)
REGISTERS = ".reg .b16 %b1, %b2; .reg .b32 %b4, %i; .reg .b64 %b8, %a, %w, %o;"
MOST_FIELDS = 40
STEP = 0x9E3779B9


@dataclass
class Case:
    """`fields`: offset and bytes of each."""

    size: int
    align: int
    framed: bool
    deep: bool
    indirect: bool
    fields: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])

    @property
    def variable(self) -> str:
        return f".param .align {self.align} .b8 {{}}[{self.size}]"

    def moved(self, source: str, target: str, add: bool = False) -> str:
        """Copies the fields of a structure; `add`: the number of each, from 1, is added."""
        lines: list[str] = []
        for number, (place, width) in enumerate(self.fields, 1):
            address = f"[%a+{place}]" if add and self.framed and number % 3 else f"[{source}+{place}]"
            lines.append(f"ld.param.b{8 * width} %b{width}, {address};")
            if add:
                lines.append(f"add.u{max(16, 8 * width)} %b{width}, %b{width}, {number};")
            lines.append(f"st.param.b{8 * width} [{target}+{place}], %b{width};")
        return " ".join(lines)

    @property
    def functions(self) -> str:
        head = f".func ({self.variable.format('r')}) {{}}({self.variable.format('p')}) {{{{ {REGISTERS}"
        address = "mov.b64 %a, p;" if self.framed else ""
        found = f"{head.format('inner')} {address} {self.moved('p', 'r', add=True)} ret; }}\n"
        if self.deep:
            variables = f"{self.variable.format('q')}; {self.variable.format('s')};"
            body = f"{self.moved('p', 'q')} call (s), inner, (q); {self.moved('s', 'r')}"
            found += f"{head.format('outer')} {variables} {body} ret; }}\n"
        return found

    @property
    def text(self) -> str:
        callee = "outer" if self.deep else "inner"
        lines = [REGISTERS, self.variable.format("p") + ";", self.variable.format("r") + ";"]
        lines += ["ld.param.u64 %o, [out]; mov.u32 %i, %tid.x;"]
        lines += [f"mad.wide.u32 %o, %i, {8 * len(self.fields)}, %o;"]
        for number, (place, width) in enumerate(self.fields):
            lines += [f"mad.lo.u32 %b4, %i, {97 * number + 13}, {number}; mul.wide.u32 %b8, %b4, {STEP};"]
            lines += ["cvt.u16.u64 %b1, %b8; cvt.u16.u64 %b2, %b8; cvt.u32.u64 %b4, %b8;"]
            lines += [f"st.param.b{8 * width} [p+{place}], %b{width};"]
        if self.indirect:
            formals = self.variable.format("_")
            lines += [f"any: .callprototype ({formals}) _ ({formals}); mov.u64 %a, {callee};"]
        lines += ["call (r), %a, (p), any;" if self.indirect else f"call (r), {callee}, (p);"]
        for number, (place, width) in enumerate(self.fields):
            lines += [f"ld.param.b{8 * width} %b{width}, [r+{place}];"]
            lines += ["and.b16 %b1, %b1, 255;"]
            lines += ["mov.u64 %w, %b8;" if width == 8 else f"cvt.u64.u{max(16, 8 * width)} %w, %b{width};"]
            lines += [f"st.global.u64 [%o+{8 * number}], %w;"]
        body = "\n    ".join(lines)
        head = ".version 3.1\n.target sm_35\n.address_size 64\n"
        return f"{head}{self.functions}.entry k(.param .u64 out)\n{{\n    {body}\n    ret;\n}}\n"

    def expected(self) -> list[list[int]]:
        def value(thread: int, number: int, width: int) -> int:
            start = (thread * (97 * number + 13) + number) % 2**32 * STEP
            return (start + number + 1) % 2 ** (8 * width)

        return [[value(t, n, w) for n, (_, w) in enumerate(self.fields)] for t in range(THREADS)]


def case(seed: int) -> Case:
    random = Random(seed)
    found = Case(
        random.choice(SIZES), random.choice((1, 2, 4, 8, 16)), *(random.random() < 0.5 for _ in range(3))
    )
    place = 0
    while place < found.size and len(found.fields) < MOST_FIELDS:
        fitting = [w for w in (1, 2, 4, 8) if w <= found.align and -(-place // w) * w + w <= found.size]
        width = random.choice(fitting)
        place = -(-place // width) * width
        found.fields.append((place, width))
        place += width + random.choice((0, 0, 0, 1, 5))
    return found


@pytest.mark.share(2)
@pytest.mark.parametrize("seed", range(12))
def test_structures_arrive_whole(device: simt.Device, seed: int) -> None:
    tried = case(seed)
    out = device.zeros((THREADS, len(tried.fields)), "u8")
    device.load(tried.text)["k"](1, THREADS, (out,))
    np.testing.assert_array_equal(out.numpy(), np.array(tried.expected(), "u8"))
