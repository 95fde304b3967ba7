"""Words of shared memory at `i ^ n`: lanes change places, within their warp and with those of other warps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

import simt
from simt.analysis.shape import BlockShape
from simt.engine.llvm_kernel import emit
from simt.engine.llvm_windows import NEEDS
from tests.conftest import shared_device
from tests.shares import share
from tests.unit.engine.older import device_of

WORDS = 320
Words = NDArray[np.uint32]

KERNEL = """.version 7.5
.target sm_75
.address_size 64
.visible .entry swap(.param .u64 runs, .param .u64 loaded, .param .u64 left, .param .u32 number,
                     .param .u32 start, .param .u32 turns)
{{
    .shared .align 64 .b8 box[1280];
    .reg .pred %p, %q;
    .reg .b32 %t, %i, %n, %s, %k, %to, %a, %b, %v, %size, %box, %word;
    .reg .b64 %r, %o, %l;
    mov.u32 %t, %tid.x; mov.u32 %size, %ntid.x; mov.u32 %box, box; mov.u32 %v, 0;
    ld.param.u64 %r, [runs]; mul.wide.u32 %o, %t, 4; add.u64 %r, %r, %o; ld.global.u32 %a, [%r];
    setp.ne.u32 %p, %a, 0;
    ld.param.u32 %n, [number]; ld.param.u32 %s, [start]; ld.param.u32 %to, [turns];
    mov.u32 %i, %t; mov.u32 %k, 0;
FILL:
    shl.b32 %a, %i, 2; add.u32 %a, %a, %box; mul.lo.u32 %b, %i, 0x01010101;
    st.shared.u32 [%a], %b;
    add.u32 %i, %i, %size;
    setp.lt.u32 %q, %i, 320;
    @%q bra FILL;
    {index}
AGAIN:
    bar.sync 0;
    {guard} ld.shared.u32 %v, [%word];
    bar.sync 0;
    mad.lo.u32 %b, %t, 3, %v;
    {guard} st.shared.u32 [%word], %b;
    add.u32 %k, %k, 1;
    setp.lt.u32 %q, %k, %to;
    @%q bra AGAIN;
    bar.sync 0;
    ld.param.u64 %l, [loaded]; add.u64 %l, %l, %o; st.global.u32 [%l], %v;
    mov.u32 %i, %t;
DRAIN:
    shl.b32 %a, %i, 2; add.u32 %a, %a, %box; ld.shared.u32 %b, [%a];
    ld.param.u64 %l, [left]; mul.wide.u32 %o, %i, 4; add.u64 %l, %l, %o; st.global.u32 [%l], %b;
    add.u32 %i, %i, %size;
    setp.lt.u32 %q, %i, 320;
    @%q bra DRAIN;
    ret;
}}
"""

INDICES = (
    "xor.b32 %a, %t, {n}; add.u32 %a, %a, {s}; shl.b32 %a, %a, 2; add.u32 %word, %box, %a;",
    "shl.b32 %a, %t, 2; shl.b32 %b, {n}, 2; xor.b32 %a, %b, %a; mad.lo.u32 %a, {s}, 4, %a; "
    "add.u32 %word, %a, %box;",
)
"""As it is written, and as nvcc makes it."""
NUMBERS = (0, 1, 2, 5, 16, 31, 32, 33, 64, 95)


def program(form: int, number: str, start: str, guard: str) -> str:
    text = INDICES[form].format(n=number, s=start)
    if number.isdigit():
        text = text.replace(f"shl.b32 %b, {number}, 2", f"mov.u32 %b, {4 * int(number)}")
    if start.isdigit():
        text = text.replace(f"mad.lo.u32 %a, {start}, 4, %a", f"add.u32 %a, %a, {4 * int(start)}")
    return KERNEL.format(index=text, guard=guard)


@dataclass(frozen=True)
class Found:
    """What threads loaded at last, and what is left in memory."""

    loaded: Words
    left: Words


def run(device: simt.Device, text: str, runs: Words, number: int, start: int, turns: int = 2) -> Found:
    loaded, left = device.zeros(len(runs), "u4"), device.zeros(WORDS, "u4")
    arguments = (device.array(runs), loaded, left, number, start, turns)
    device.load(text)["swap"]((1,), (len(runs),), arguments)
    return Found(loaded.numpy().copy(), left.numpy().copy())


def model(runs: Words, number: int, start: int, turns: int = 2) -> Found:
    threads = np.arange(len(runs), dtype="u4")
    place, running = (threads ^ np.uint32(number)) + np.uint32(start), runs != 0
    left, loaded = (np.arange(WORDS, dtype="u8") * 0x01010101).astype("u4"), np.zeros(len(runs), "u4")
    for _ in range(turns):
        loaded[running] = left[place[running]]
        left[place[running]] = 3 * threads[running] + loaded[running]
    return Found(loaded, left)


def line_of(text: str, instruction: str) -> int:
    return 1 + text[: text.index(instruction)].count("\n")


@pytest.mark.share(10)
@pytest.mark.parametrize("form", range(len(INDICES)))
@pytest.mark.parametrize("known", [False, True], ids=["at run time", "when compiled"])
@pytest.mark.parametrize(
    ("engine", "number"),
    [("jit", number) for number in NUMBERS]
    + [(engine, number) for engine in ("interpreter", "without AVX-512") for number in share(NUMBERS, 4)],
)
def test_lanes_change_places(engine: str, number: int, known: bool, form: int) -> None:
    device = device_of(engine)
    for start in (0, 7, 160):
        for threads in (32, 64, 128, 40):
            for guard in ("", "@%p"):
                runs = np.arange(threads, dtype="u4") % 3 if guard else np.ones(threads, "u4")
                names = (str(number), str(start)) if known else ("%n", "%s")
                found = run(device, program(form, *names, guard), runs, number, start)
                expected, what = model(runs, number, start), f"{threads} threads from {start} {guard}"
                np.testing.assert_array_equal(found.loaded, expected.loaded, what)
                np.testing.assert_array_equal(found.left, expected.left, what)


@pytest.mark.parametrize("engine", ["jit", "interpreter"])
@pytest.mark.parametrize(
    ("number", "start", "runs"),
    [
        (5, 300, range(32)), (256, 64, range(32)), (3, 2**32 - 8, range(32)), (1, 290, (28, 29)),
        (1, 290, (31, 30)),
    ],
)  # fmt: skip
def test_lanes_outside_are_told(engine: str, number: int, start: int, runs: range | tuple[int, ...]) -> None:
    """Only those that run count, and the first of them is named."""
    device = shared_device(engine)
    running = np.zeros(32, "u4")
    running[list(runs)] = 1
    outside = [t for t in range(32) if running[t] and not 0 <= ((t ^ number) + start) % 2**32 < WORDS]
    text = program(0, "%n", "%s", "@%p")
    if not outside:
        assert (run(device, text, running, number, start).left == model(running, number, start).left).all()
        return
    with pytest.raises(simt.MemoryFault) as fault:
        run(device, text, running, number, start)
    site = fault.value.site
    assert (site.thread, site.line) == ((outside[0], 0, 0), line_of(text, "ld.shared.u32 %v"))


@pytest.mark.parametrize("form", range(len(INDICES)))
def test_addresses_are_not_looked_at(form: int) -> None:
    """Nor is the index kept over barriers, where `n` is known."""
    module = simt.Device("sm_90").load(program(form, "5", "0", ""))
    features = NEEDS | {"avx512f", "avx2", "avx", "sse2"}
    text, _, _ = emit(module.program, module.program.functions["swap"], BlockShape(128, 1, 1), features, "")
    assert "window" not in text
    assert "gather" not in text
    text, *_ = emit(
        module.program,
        module.program.functions["swap"],
        BlockShape(128, 1, 1),
        frozenset({"sse2", "avx", "avx2"}),
        "",
    )
    assert "gather" not in text
    assert "simt.scatter" not in text


PRODUCT = """.version 7.5
.target sm_75
.address_size 64
.visible .entry product(.param .u64 out, .param .u32 number)
{{
    .reg .b32 %t, %n, %a; .reg .b64 %o, %i;
    mov.u32 %t, %tid.x; ld.param.u32 %n, [number]; ld.param.u64 %o, [out];
    mad.wide.u32 %o, %t, 4, %o;
    xor.b32 %a, %t, {number};
    mul.lo.u32 %a, %a, {factor};
    sub.u32 %a, %a, {number};
    st.global.u32 [%o], %a;
    ret;
}}
"""


@pytest.mark.parametrize("known", [False, True], ids=["at run time", "when compiled"])
@pytest.mark.parametrize("factor", [1, 3, 7, 8, -5, -8, 1 << 31])
def test_numbers_of_lanes_that_change_places(factor: int, known: bool) -> None:
    device, threads = shared_device("jit"), np.arange(96, dtype="i8")
    for number in NUMBERS:
        text = PRODUCT.format(number=number if known else "%n", factor=factor)
        out = device.zeros(96, "u4")
        device.load(text)["product"]((1,), (96,), (out, number))
        np.testing.assert_array_equal(out.numpy(), ((threads ^ number) * factor - number) % 2**32)
