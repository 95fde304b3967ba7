"""Random programs that wait for all CTAs of a grid, as cooperative groups do it: barrier, one thread counts
and waits, barrier. What is the same for all lanes, or goes on from lane to lane, before such a wait is so
behind it (`simt.analysis.waiting`). Branches and loops that part lanes lie around; some have waits in them.

Both engines agree. More seeds: `python -m tests.property.test_waits_between_barriers FIRST LAST`.
"""

from __future__ import annotations

import random
import sys

import numpy as np
import pytest

import simt
from tests.conftest import shared_device

CTAS, THREADS, VALUES = 3, 96, 4
HEAD = f""".version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 count) {{
    .shared .align 4 .b8 box[512];
    .reg .b32 %u<{VALUES}>, %v<{VALUES}>, %t, %i, %x, %y, %old, %rounds, %k, %c<9>; .reg .pred %p, %q;
    .reg .b64 %in, %out, %count, %w, %at; .reg .b32 %box;
    ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u64 %count, [count];
    mov.u32 %t, %tid.x; mov.u32 %x, %ctaid.x; mad.lo.u32 %i, %x, {THREADS}, %t; mov.u32 %rounds, 0;
    mul.wide.u32 %w, %i, {4 * 2 * VALUES}; add.u64 %out, %out, %w;
    mul.wide.u32 %w, %i, {4 * VALUES}; add.u64 %at, %in, %w;
    mov.u32 %k, 2; mov.u32 %u0, %x; mov.u32 %u1, 3; ld.global.u32 %u2, [%in]; mov.u32 %u3, 77;
    ld.global.v4.u32 {{%v0, %v1, %v2, %v3}}, [%at]; mov.u32 %v3, %i;
"""
ALL = """
    bar.sync 0;
    setp.ne.u32 %p, %t, 0;
    @%p bra MET{n};
    add.u32 %rounds, %rounds, {ctas};
    membar.gl;
    atom.global.add.u32 %old, [%count], 1;
WAIT{n}:
    ld.volatile.global.u32 %old, [%count];
    setp.lt.u32 %q, %old, %rounds;
    @%q bra WAIT{n};
    membar.gl;
MET{n}:
    bar.sync 0;
"""
"""All threads of the grid meet."""


class Writer:
    """Writes one program. What is done in turns that lanes leave by degrees holds no barriers."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.parts = self.random.choice((0.2, 0.5))
        self.labels = 0

    def u(self) -> str:
        return f"%u{self.random.randrange(VALUES)}"

    def v(self) -> str:
        return f"%v{self.random.randrange(VALUES)}"

    def statement(self, depth: int, together: bool) -> str:
        operation = self.random.choice(("add.u32", "xor.b32", "mul.lo.u32", "and.b32", "min.u32"))
        match self.random.randrange(11 if depth < 3 else 5):
            case 0:
                return f"{operation} {self.u()}, {self.u()}, {self.u()};"
            case 1 | 2:
                return f"{operation} {self.v()}, {self.v()}, {self.random.choice((self.u(), self.v()))};"
            case 3:
                at = f"and.b32 %x, {self.v()}, 63; mul.wide.u32 %at, %x, 4; add.u64 %at, %in, %at;"
                return f"{at} ld.global.u32 {self.v()}, [%at];"
            case 4 | 5:
                return self.meeting() if together else f"{operation} {self.v()}, {self.v()}, 5;"
            case 10:
                return "add.u32 %k, %k, 1;" if together else f"{operation} {self.u()}, {self.u()}, 9;"
            case 6 | 7:
                return self.branch(depth, together)
            case _:
                return self.loop(depth, together)

    def meeting(self) -> str:
        """Threads exchange numbers, or wait for each other."""
        self.labels += 1
        if self.random.random() < 0.5:
            return ALL.format(n=self.labels, ctas=CTAS)
        one, other, far = self.v(), self.v(), self.random.choice((1, 3, 31, 32))
        return f"""
            mov.u32 %box, box; mad.lo.u32 %x, %t, 4, %box; st.shared.u32 [%x], {one};
            bar.sync 0;
            xor.b32 %x, %t, {far}; min.u32 %x, %x, {THREADS - 1}; mad.lo.u32 %x, %x, 4, %box;
            ld.shared.u32 {other}, [%x];
            bar.sync 0;
        """

    def several(self, depth: int, together: bool) -> str:
        return "\n".join(self.statement(depth, together) for _ in range(self.random.randrange(1, 6)))

    def branch(self, depth: int, together: bool) -> str:
        self.labels += 1
        parts, n = self.random.random() < self.parts, self.labels
        one, other = (self.several(depth + 1, together and not parts) for _ in range(2))
        asked = f"and.b32 %x, {self.v() if parts else '%k'}, 3; setp.eq.u32 %p, %x, 1;"
        return f"{asked}\n@%p bra A{n};\n{one}\nbra B{n};\nA{n}:\n{other}\nB{n}:"

    def loop(self, depth: int, together: bool) -> str:
        self.labels += 1
        n, c, parts = self.labels, f"%c{depth}", self.random.random() < self.parts
        begin = f"and.b32 {c}, {self.v() if parts else '%k'}, 3;"
        end = f"sub.u32 {c}, {c}, 1; setp.lt.s32 %p, {c}, 0;"
        return f"{begin}\nL{n}:\n{self.several(depth + 1, together and not parts)}\n{end}\n@!%p bra L{n};"

    def program(self) -> str:
        body = "\n".join(self.statement(0, True) for _ in range(self.random.randrange(4, 14)))
        registers = [f"%u{i}" for i in range(VALUES)] + [f"%v{i}" for i in range(VALUES)]
        last = [f"st.global.u32 [%out+{4 * i}], {name};" for i, name in enumerate(registers)]
        return "\n".join((HEAD, body, *last, "ret;\n}"))


def results(engine: str, text: str, seed: int) -> np.ndarray:
    device, threads = shared_device(engine), CTAS * THREADS
    given = np.random.default_rng(seed).integers(0, 2**32, threads * VALUES, "u4")
    out, count = device.zeros((threads, 2 * VALUES), "u4"), device.zeros(1, "u4")
    kernel = device.load(text)["k"]
    kernel.launch((CTAS,), (THREADS,), (device.array(given), out, count), 0, cooperative=True)
    return out.numpy()


def check(seed: int) -> None:
    text = Writer(seed).program()
    found, expected = (results(engine, text, seed) for engine in ("jit", "interpreter"))
    np.testing.assert_array_equal(found, expected, f"seed {seed}")


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_random_programs(first: int) -> None:
    for seed in range(first, first + 10):
        check(seed)


def main(first: int, last: int) -> None:
    for seed in range(first, last):
        try:
            check(seed)
        except (AssertionError, simt.SimtError) as error:
            print(seed, str(error)[:300], flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
