"""Local memory that is the same in all lanes: which is taken to be so, and what lanes find there. (Random
programs: `tests/property/test_alike_frames.py`.)"""

from __future__ import annotations

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

SOURCE = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)
{{
    .local .align 8 .b8 box[32];
    .reg .b32 %t, %i, %n, %x, %y, %z; .reg .pred %p, %q; .reg .b64 %in, %out, %w, %box, %at, %other;
    ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u32 %n, [n]; mov.u64 %box, box;
    mov.u32 %t, %tid.x; mov.u32 %x, %ctaid.x; mov.u32 %i, %ntid.x; mad.lo.u32 %i, %x, %i, %t;
    mul.wide.u32 %w, %i, 4; add.u64 %in, %in, %w; add.u64 %out, %out, %w;
    {body}
    st.global.u32 [%out], %y;
    ret;
}}
"""
FILL = " ".join(f"mad.lo.u32 %x, %n, {i}, 7; st.local.u32 [box+{4 * i}], %x;" for i in range(8))
"""The words are 7 + n * i."""
LOOK = "mul.wide.u32 %at, %{index}, 4; add.u64 %at, %box, %at; ld.local.u32 %y, [%at];"
LOOP = """
    mov.u32 %z, 0; ld.global.u32 %i, [%in];
TURN:
    {turn}
    add.u32 %z, %z, 1; setp.{until} %p, %z, {end};
    @%p bra TURN;
"""
STORED = "st.local.u32 [box+4], %z;"
BODIES = {
    "one index": (FILL + "and.b32 %z, %n, 7;" + LOOK.format(index="z"), True),
    "an index a lane": (FILL + "ld.global.u32 %z, [%in];" + LOOK.format(index="z"), True),
    "some have left": (
        FILL.replace("mad", "setp.gt.u32 %p, %t, 40; @%p bra END; mad", 1)
        + "ld.global.u32 %z, [%in];" + LOOK.format(index="z") + "bra STORE; END: mov.u32 %y, 5; STORE:",
        True,
    ),
    "all turns together": (
        FILL + LOOP.format(turn=STORED, until="lt.u32", end="%n") + "ld.local.u32 %y, [box+4];", True
    ),
    "a turn of its own is the last": (
        FILL + LOOP.format(turn=STORED, until="lt.u32", end="%i") + "ld.local.u32 %y, [box+4];", False
    ),
    "an index a lane is stored at": (
        FILL + "ld.global.u32 %z, [%in]; mul.wide.u32 %at, %z, 4; add.u64 %at, %box, %at;"
        "st.local.u32 [%at], 9; ld.local.u32 %y, [box+8];",
        False,
    ),
    "a number a lane is stored": (FILL + "st.local.u32 [box+8], %t; ld.local.u32 %y, [box+8];", False),
    "some store": (
        FILL + "setp.lt.u32 %p, %t, 20; @%p bra PAST; st.local.u32 [box+8], 3;"
        "PAST: ld.local.u32 %y, [box+8];",
        False,
    ),
    "some store by a guard": (
        FILL + "setp.lt.u32 %p, %t, 20; @%p st.local.u32 [box+8], 3; ld.local.u32 %y, [box+8];", False
    ),
    "a generic address": (
        FILL + "cvta.local.u64 %at, %box; ld.u32 %y, [%at+12];", False
    ),
    "words that take turns": (
        FILL + LOOP.format(
            turn="ld.local.u32 %x, [box]; ld.local.u32 %y, [box+8]; st.local.u32 [box], %y;"
            "st.local.u32 [box+8], %x;",
            until="lt.u32", end="%n",
        ) + "ld.local.u32 %y, [box];",
        True,
    ),
}  # fmt: skip


def expected(name: str, n: int, given: np.ndarray, block: int) -> list[int]:
    words, found = [7 + n * i for i in range(8)], []
    for i, value in enumerate(map(int, given)):
        t = i % block
        match name:
            case "one index":
                found.append(words[n & 7])
            case "an index a lane":
                found.append(words[value])
            case "some have left":
                found.append(5 if t > 40 else words[value])
            case "all turns together":
                found.append(max(n, 1) - 1)
            case "a turn of its own is the last":
                found.append(max(value, 1) - 1)
            case "an index a lane is stored at":
                found.append(9 if value == 2 else words[2])
            case "a number a lane is stored":
                found.append(t)
            case "some store" | "some store by a guard":
                left = t < 20 if name == "some store" else t >= 20
                found.append(words[2] if left else 3)
            case "a generic address":
                found.append(words[3])
            case _:
                found.append(words[0] if max(n, 1) % 2 == 0 else words[2])
    return found


@pytest.mark.parametrize("block", [64, 96])
@pytest.mark.parametrize("n", [1, 2, 5, 12])
@pytest.mark.parametrize("name", BODIES)
def test_what_lanes_find(engine: str, name: str, n: int, block: int) -> None:
    device, threads = shared_device(engine), 3 * block
    given = np.random.default_rng(5).integers(0, 8, threads, "u4")
    out = device.zeros(threads, "u4")
    kernel = device.load(SOURCE.format(body=BODIES[name][0]))["k"]
    kernel((3,), (block,), (device.array(given), out, n))
    assert out.numpy().tolist() == expected(name, n, given, block)


@pytest.mark.parametrize("name", BODIES)
def test_which_are_alike(name: str) -> None:
    program = shared_device("jit").load(SOURCE.format(body=BODIES[name][0])).program
    unit = shaped(Unit(program, program.functions["k"], BlockShape(64, 1, 1), host_cpu().features))
    ops = (op for op in unit.kernel.ops() if isinstance(op, Op))
    assert any(op.binding.get("space") == ALIKE for op in ops) is BODIES[name][1]


@pytest.mark.parametrize(("index", "lane"), [(8, 33), (1 << 20, 5), (2**32 - 1, 63)])
def test_beyond_the_array(engine: str, index: int, lane: int) -> None:
    device = shared_device(engine)
    given = np.zeros(64, "u4")
    given[lane] = index
    kernel = device.load(SOURCE.format(body=BODIES["an index a lane"][0]))["k"]
    with pytest.raises(simt.MemoryFault) as fault:
        kernel((1,), (64,), (device.array(given), device.zeros(64, "u4"), 3))
    assert fault.value.site.thread == (lane, 0, 0)
    assert "local" in str(fault.value)
