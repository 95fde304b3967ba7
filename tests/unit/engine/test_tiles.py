"""Indices that a compiler's quotients cut into rows: tiles with their halo. Expectations are NumPy's."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.compile import attributes
from simt.engine.host import named_cpus
from simt.engine.llvm_kernel import emit
from tests.conftest import kept_for_each_way, shared_device

TILE = """
.version 7.5
.target sm_75
.address_size 64
.entry k(.param .u64 in, .param .u64 out, .param .s32 start, .param .s32 pitch, .param .s32 width,
    .param .s32 stop)
{{
    .reg .u64 %i, %o, %a, %w; .reg .s32 %k, %q, %r, %x, %y, %p, %n, %t, %e; .reg .b16 %h, %g; .reg .{t} %v;
    .reg .pred %off;
    .shared .align 8 .b8 cells[{bytes}];
    ld.param.u64 %i, [in];
    ld.param.u64 %o, [out];
    ld.param.s32 %k, [start];
    ld.param.s32 %p, [pitch];
    ld.param.s32 %n, [width];
    ld.param.s32 %e, [stop];
    mov.u32 %x, %tid.x;
    mov.u32 %y, %tid.y;
    mov.u32 %t, %ntid.x;
    mad.lo.s32 %x, %y, %t, %x;
    add.s32 %k, %k, %x;
    setp.ge.s32 %off, %k, %e;
    @%off bra END;
{quotient}
    add.s32 %x, %r, 1;
    max.s32 %x, %x, 0;
    min.s32 %x, %x, %n;
    add.s32 %y, %q, -1;
    max.s32 %y, %y, 0;
    mad.lo.s32 %y, %y, %n, %x;
    mul.wide.s32 %a, %y, {size};
    add.s64 %a, %a, %i;
    ld.global.{t} %v, [%a];
{store}
END:
{last}
    ret;
}}
"""
SIGNED = """
    mul.hi.s32 %x, %k, {factor};
    shr.u32 %y, %x, 31;
    shr.s32 %x, %x, {shift};
    add.s32 %q, %x, %y;
    mul.lo.s32 %x, %q, {length};
    sub.s32 %r, %k, %x;
"""
WIDE = """
    mul.wide.u32 %w, %k, {factor};
    shr.u64 %w, %w, {shift};
    cvt.u32.u64 %q, %w;
    mul.lo.s32 %x, %q, {length};
    sub.s32 %r, %k, %x;
"""
SHORT = """
    cvt.u16.u32 %h, %k;
    mul.wide.u16 %x, %h, {factor};
    shr.u32 %q, %x, {shift};
    cvt.u16.u32 %g, %q;
    mul.lo.s16 %g, %g, -{length};
    add.s16 %g, %h, %g;
    cvt.u32.u16 %r, %g;
"""
PARTED = """
    add.s32 %t, %k, 5;
    mul.hi.u32 %x, %k, {factor};
    shr.u32 %x, %x, {shift};
    mul.lo.s32 %x, %x, {length};
    sub.s32 %r, %t, %x;
    add.s32 %r, %r, -5;
    cvt.u16.u32 %h, %k;
    mul.hi.u16 %g, %h, -3855;
    shr.u16 %g, %g, 5;
    cvt.u32.u16 %q, %g;
"""
"""As LLVM 20 does, for sm_100: of counters that it makes of one, in 16 bits where these are enough."""
GLOBAL = """
    mad.lo.s32 %x, %q, %p, %r;
    mul.wide.s32 %a, %x, {size};
    add.s64 %a, %a, %o;
    st.global.{t} [%a], %v;
"""
SHARED = """
    mad.lo.s32 %x, %q, %p, %r;
    mov.u32 %y, cells;
    mad.lo.s32 %x, %x, {size}, %y;
    st.shared.{t} [%x], %v;
"""
TYPES = {"u8": "u1", "u16": "u2", "u32": "u4", "f32": "f4", "f64": "f8"}
FACTORS = {
    (SIGNED, 12): (715827883, 1), (SIGNED, 18): (954437177, 2), (SIGNED, 34): (2021161081, 4),
    (SIGNED, 36): (954437177, 3), (WIDE, 34): (4042322161, 37), (WIDE, 20): (3435973837, 36),
    (SHORT, 34): (61681, 21), (SHORT, 18): (58255, 20), (PARTED, 34): (-252645135, 5),
}  # fmt: skip
"""By quotient and length: what nvcc 13 multiplies by, and how far it shifts."""
NAMES = {SIGNED: "signed", WIDE: "wide", SHORT: "short", PARTED: "parted"}
CELLS = 640


def kernel(quotient: str, length: int, t: str, store: str) -> str:
    factor, shift = FACTORS[quotient, length]
    size, last = np.dtype(TYPES[t]).itemsize, ""
    if store is SHARED:
        move = f"ld.shared.{t} %v, [cells+{{at}}]; st.global.{t} [%o+{{at}}], %v;"
        last = "\n".join(move.format(at=at) for at in range(0, CELLS * size, size))
        last = f"bar.sync 0; mov.u32 %x, %tid.x; setp.ne.s32 %off, %x, 0; @%off bra OUT;\n{last}\nOUT:"
    return TILE.format(
        t=t, size=size, bytes=CELLS * size, store=store.format(t=t, size=size), last=last,
        quotient=quotient.format(factor=factor, shift=shift, length=length),
    )  # fmt: skip


@kept_for_each_way
def device_for(cpu: str) -> simt.Device:
    return simt.Device("sm_90", engine="jit", memory="64MiB", cpu=cpu)


@pytest.fixture(params=["host", "x86-64-v3"])
def device(request: pytest.FixtureRequest) -> simt.Device:
    return device_for(request.param)


@pytest.mark.share(5)
@pytest.mark.parametrize("t", TYPES)
@pytest.mark.parametrize(("quotient", "length"), FACTORS, ids=[f"{NAMES[q]} {n}" for q, n in FACTORS])
@pytest.mark.parametrize("block", [(32, 1), (16, 2), (24, 1)], ids=str)
def test_tiles(device: simt.Device, block: tuple[int, int], quotient: str, length: int, t: str) -> None:
    """Rows over each other too: the highest lane's word stays. Limits below the rows' lengths."""
    memory = np.random.default_rng(length).integers(1, 250, 4000).astype(TYPES[t])
    run = device.load(kernel(quotient, length, t, GLOBAL))["k"]
    for start, pitch, width in ((0, length, 90), (17, length + 2, 64), (33, length - 9, 90), (555, 3, 10)):
        out = device.zeros(CELLS * 4, TYPES[t])
        run(1, block, (device.array(memory), out, start, pitch, width, start + 31))
        expected = np.zeros(CELLS * 4, TYPES[t])
        for k in range(start, start + min(31, block[0] * block[1])):
            row, column = divmod(k, length)
            x, y = min(column + 1, width), max(row - 1, 0)
            expected[row * pitch + column] = memory[y * width + x]
        assert out.numpy().tolist() == expected.tolist()


@pytest.mark.parametrize("t", ["u8", "f32"])
@pytest.mark.parametrize("length", [18, 34])
def test_shared_tiles_up_to_their_end(device: simt.Device, length: int, t: str) -> None:
    rows = CELLS // length
    memory = np.random.default_rng(length).integers(1, 250, 4000).astype(TYPES[t])
    run = device.load(kernel(SIGNED, length, t, SHARED))["k"]
    for start in (0, 5, length * rows - 32):
        out = device.zeros(CELLS, TYPES[t])
        run(1, 32, (device.array(memory), out, start, length, 40, length * rows))
        expected = np.zeros(CELLS, TYPES[t])
        for k in range(start, start + 32):
            row, column = divmod(k, length)
            expected[k] = memory[max(row - 1, 0) * 40 + min(column + 1, 40)]
        wrong = np.flatnonzero(out.numpy() != expected)
        assert set(wrong) <= set(range(start)) | set(range(start + 32, CELLS))  # nobody has written there


@pytest.mark.parametrize("start", [-40, -7, 2**31 - 20, -(2**31)])
def test_indices_that_are_negative_or_wrap(device: simt.Device, start: int) -> None:
    """C's quotient, which is rounded towards zero."""
    memory = np.arange(1, 4001, dtype="u4")
    out = device.zeros(64, "u4")
    run = device.load(
        kernel(SIGNED, 34, "u32", GLOBAL).replace("mad.lo.s32 %x, %q, %p, %r", "mov.u32 %x, %tid.x")
    )
    run["k"](1, 32, (device.array(memory), out, start, 0, 0, 2**31 - 1))
    expected = np.zeros(64, "u4")
    for lane in range(32):
        k = (start + lane + 2**31) % 2**32 - 2**31
        column = k - 34 * int(k / 34)
        if k < 2**31 - 1:
            expected[lane] = memory[min(max(column + 1, 0), 0)]
    assert out.numpy().tolist() == expected.tolist()


CLAMPED = """
    cvt.u64.u32 %w, %k;
    min.u64 %w, %w, 40;
    mul.lo.u64 %w, %w, 4042322161;
    shr.u64 %w, %w, 37;
    cvt.u32.u64 %q, %w;
    mul.lo.s32 %x, %q, 34;
    sub.s32 %r, %k, %x;
"""
OTHER_INDEX = """
    mul.hi.s32 %x, %k, 2021161081;
    shr.s32 %q, %x, 4;
    mul.lo.s32 %x, %q, 34;
    min.s32 %y, %k, 55;
    sub.s32 %r, %y, %x;
"""
WRAPPING = """
    cvt.u64.u32 %w, %k;
    mul.lo.u64 %w, %w, 135637824071393762;
    shr.u64 %w, %w, 62;
    cvt.u32.u64 %q, %w;
    mul.lo.s32 %x, %q, 34;
    sub.s32 %r, %k, %x;
"""


ANOTHER = PARTED.format(factor=-252645135, shift=5, length=34).replace(
    "%h, %k;", "%h, %k; add.s16 %h, %h, 7;"
)


def clamped(k: int) -> tuple[int, int]:
    row = min(k, 40) // 34
    return row, k - 34 * row


def of_other_index(k: int) -> tuple[int, int]:
    return k // 34, min(k, 55) - 34 * (k // 34)


def wrapping(k: int) -> tuple[int, int]:
    row = (k * 135637824071393762 % 2**64) >> 62
    return row, k - 34 * row


def of_another(k: int) -> tuple[int, int]:
    return (k + 7) // 34, k - 34 * (k // 34)


@pytest.mark.parametrize("store", [GLOBAL, SHARED], ids=["global", "shared"])
@pytest.mark.parametrize(
    ("quotient", "cut"),
    [(CLAMPED, clamped), (OTHER_INDEX, of_other_index), (WRAPPING, wrapping), (ANOTHER, of_another)],
    ids=["limited before", "limited between", "wrapping product", "another index"],
)
def test_what_only_looks_like_a_quotient(
    device: simt.Device, quotient: str, cut: Callable[[int], tuple[int, int]], store: str
) -> None:
    """A limit of the index has the index's base; and a product may wrap."""
    memory = np.arange(1, 4001, dtype="u4")
    usual = SIGNED.format(factor=2021161081, shift=4, length=34)
    text = kernel(SIGNED, 34, "u32", store).replace(usual, quotient)
    assert quotient in text
    run = device.load(text)["k"]
    for start in (0, 20, 30, 45, 60, 120, 140):
        out = device.zeros(CELLS, "u4")
        run(1, 32, (device.array(memory), out, start, 36, 60, start + 32))
        expected = dict[int, int]()
        for k in range(start, start + 32):  # the highest lane's word stays
            row, column = cut(k)
            expected[36 * row + column] = memory[max(row - 1, 0) * 60 + min(max(column + 1, 0), 60)]
        assert {cell: out.numpy()[cell] for cell in expected} == expected


@pytest.mark.parametrize("store", [GLOBAL, SHARED], ids=["global", "shared"])
def test_the_first_lane_beyond_the_memory_is_at_fault(device: simt.Device, store: str) -> None:
    """The second row lies outside."""
    memory, pitch = device.zeros(4000, "f4"), 1 << 28
    with pytest.raises(simt.MemoryFault) as found:
        device.load(kernel(SIGNED, 34, "f32", store))["k"](1, 32, (memory, memory, 20, pitch, 60, 4000))
    assert "thread (14, 0, 0)" in str(found.value)


@pytest.mark.parametrize(("shift", "thread"), [(-25, 0), (600, 18)])
def test_lanes_beyond_shared_memory_at_a_known_pitch(device: simt.Device, shift: int, thread: int) -> None:
    """The first row begins below, or the second one ends above."""
    memory, apart = device.zeros(4000, "f4"), SHARED.replace("%q, %p, %r;", "%q, 36, %r; add.s32 %x, %x, %p;")
    with pytest.raises(simt.MemoryFault) as found:
        device.load(kernel(SIGNED, 34, "f32", apart))["k"](1, 32, (memory, memory, 20, shift, 60, 4000))
    assert f"thread ({thread}, 0, 0)" in str(found.value)


@pytest.mark.parametrize(("quotient", "length"), FACTORS, ids=[f"{NAMES[q]} {n}" for q, n in FACTORS])
def test_each_row_is_a_vector(quotient: str, length: int) -> None:
    """On CPUs with masks. A warp has two rows of 32 words and more, up to three of 18, four of 12. (On others
    each of two rows is stored by a copy, with one store under a mask where lanes between do not run.)"""
    text = kernel(quotient, length, "f32", GLOBAL)
    factor, _ = FACTORS[quotient, length]
    assert rows_of(text, "x86-64-v4") == (32 - 2) // length + 2
    assert rows_of(text, "x86-64-v3") <= 1
    assert rows_of(text.replace(str(factor), str(factor + 999)), "x86-64-v4") <= (
        quotient is PARTED
    )  # no quotient of 32 bits


def rows_of(text: str, cpu_name: str) -> int:
    """Vectors that are stored where lanes are told by rows: the only code that limits lanes' numbers."""
    cpu, program = named_cpus()[cpu_name], shared_device("jit").load(text).program
    code, _, _ = emit(program, program.functions["k"], BlockShape(32, 1, 1), cpu.features, attributes(cpu))
    if re.search(r"@llvm\.umin\.i32\(i32 %|= and i32 %\S+, 63$", code, flags=re.MULTILINE) is None:
        return 0
    parts = re.split(r"^(?=[\w.]+:$)", code, flags=re.MULTILINE)
    return max(len(re.findall(r"call .*@llvm\.masked\.store", part)) for part in parts)
