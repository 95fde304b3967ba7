"""Quotients and remainders of indices: rows and columns of threads. Where all lanes of a warp are in one row,
that is the same for them, and columns grow from lane to lane. Expectations are Python's and NumPy's."""

from __future__ import annotations

import re

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.compile import attributes
from simt.engine.host import named_cpus
from simt.engine.llvm_kernel import emit
from simt.tools.explain import explain
from tests.conftest import shared_device

HEAD = """.version 7.5
.target sm_75
.address_size 64
"""
NUMBERS = (
    HEAD
    + """
.visible .entry k(.param .u64 out, .param .{t} start, .param .{t} divisor)
{{
    .reg .u32 %x, %y, %n; .reg .u64 %a, %b; .reg .{t} %i, %s, %d, %q, %r;
    ld.param.u64 %a, [out];
    ld.param.{t} %s, [start];
    ld.param.{t} %d, [divisor];
    mov.u32 %x, %tid.x;
    mov.u32 %y, %tid.y;
    mov.u32 %n, %ntid.x;
    mad.lo.u32 %y, %y, %n, %x;
    cvt.{t}.u32 %i, {index};
    mul.lo.{t} %i, %i, {step};
    add.{t} %i, %i, %s;
    div.{t} %q, %i, %d;
    rem.{t} %r, %i, %d;
    mul.wide.u32 %b, %y, {bytes};
    add.u64 %a, %a, %b;
    st.global.v2.{t} [%a], {{%q, %r}};
    ret;
}}
"""
)
DIVISORS = [0, 1, 3, 31, 32, 33, 64, 93, 94, 100, 3000, -1, -7, -64]
STARTS = [0, 5, 90, 2999, 30000, -3, -40, -(2**15), 2**31 - 20, 2**32 - 20, 2**63 - 20, 2**64 - 20]


def as_type(value: int, t: str) -> int:
    bits = int(t[1:])
    value %= 2**bits
    return value - 2**bits if t[0] == "s" and value >> (bits - 1) else value


def divided(a: int, b: int, t: str) -> tuple[int, int]:
    """Towards zero; by zero, the hardware gives all ones."""
    if b == 0:
        return as_type(-1, t), as_type(-1, t)
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return as_type(quotient, t), as_type(a - quotient * b, t)


@pytest.mark.share(2)
@pytest.mark.parametrize("block", [(64, 1), (16, 2), (24, 2)], ids=str)
@pytest.mark.parametrize("step", [1, 3, -1])
@pytest.mark.parametrize("t", ["u32", "s32", "u64", "s64", "u16", "s16"])
def test_numbers(engine: str, t: str, step: int, block: tuple[int, int]) -> None:
    device = shared_device(engine)
    # Where rows of a CTA are shorter than a warp, indices that begin anew in each row.
    index = "%x" if block[0] < 32 else "%y"
    bytes_ = int(t[1:]) // 4
    kernel = device.load(NUMBERS.format(t=t, step=step, index=index, bytes=bytes_))["k"]
    dtype = np.dtype(f"{t[0].replace('s', 'i')}{int(t[1:]) // 8}")
    threads = block[0] * block[1]
    out = device.zeros((threads, 2), dtype)
    for start in sorted({as_type(s, t) for s in STARTS}):
        for divisor in sorted({as_type(d, t) for d in DIVISORS}):
            kernel((1,), block, (out, start, divisor))
            places = [n % block[0] if block[0] < 32 else n for n in range(threads)]
            indices = [as_type(place * step + start, t) for place in places]
            expected = [list(divided(i, divisor, t)) for i in indices]
            assert out.numpy().tolist() == expected, (start, divisor)


ROWS = (
    HEAD
    + """
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 out, .param .u32 total, .param .u32 width,
    .param .u32 pitch, .param .u32 kinds)
{
    .reg .pred %p; .reg .b32 %t, %c, %n, %i, %w, %q, %r, %k, %v, %f; .reg .b64 %a, %b, %o, %x;
    ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; ld.param.u64 %o, [out];
    ld.param.u32 %n, [total]; ld.param.u32 %w, [width];
    mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %i, %ntid.x;
    mad.lo.u32 %i, %c, %i, %t;
    setp.ge.u32 %p, %i, %n;
    @%p bra END;
    div.u32 %q, %i, %w;
    rem.u32 %r, %i, %w;
    ld.param.u32 %k, [kinds];
    rem.u32 %k, %q, %k;
    mul.wide.u32 %x, %k, 4;
    add.u64 %x, %x, %b;
    ld.global.u32 %f, [%x];
    ld.param.u32 %k, [pitch];
    mad.lo.u32 %k, %q, %k, %r;
    mul.wide.u32 %x, %k, 4;
    add.u64 %x, %x, %a;
    ld.global.u32 %v, [%x];
    and.b32 %c, %v, 1;
    setp.eq.u32 %p, %c, 1;
    @%p bra ODD;
    mad.lo.u32 %v, %v, %f, %q;
ODD:
    mad.lo.u32 %k, %q, %w, %r;
    mul.wide.u32 %x, %k, 4;
    add.u64 %x, %x, %o;
    st.global.u32 [%x], %v;
END:
    ret;
}
"""
)
TOTAL, KINDS = 700, 5


@pytest.mark.parametrize("width", [1, 5, 31, 32, 33, 48, 64, 350, 1000])
def test_rows_of_a_matrix(engine: str, width: int) -> None:
    device = shared_device(engine)
    rows, pitch = -(-TOTAL // width), width + 3
    random = np.random.default_rng(3)
    a, b = random.integers(0, 1 << 20, rows * pitch, "u4"), random.integers(0, 1 << 10, KINDS, "u4")
    out = device.zeros(TOTAL + 1, "u4")
    kernel = device.load(ROWS)["k"]
    kernel((-(-TOTAL // 128),), (128,), (device.array(a), device.array(b), out, TOTAL, width, pitch, KINDS))
    i = np.arange(TOTAL, dtype="u4")
    row, column = i // np.uint32(width), i % np.uint32(width)
    v = a[row * np.uint32(pitch) + column]
    expected = np.where(v % 2 == 1, v, v * b[row % KINDS] + row)
    np.testing.assert_array_equal(out.numpy(), np.append(expected, 0).astype("u4"))


@pytest.mark.parametrize("wrong", ["a", "b", "out"])
def test_addresses_that_are_wrong(engine: str, wrong: str) -> None:
    """The first lane that is at a wrong place is told."""
    device = shared_device(engine)
    arrays = {name: device.zeros(4 * TOTAL, "u4").ptr for name in ("a", "b", "out")}
    arrays[wrong] = 1 << 60
    with pytest.raises(simt.MemoryFault) as fault:
        device.load(ROWS)["k"]((1,), (64,), (*arrays.values(), 64, 48, 48, KINDS))
    assert fault.value.address == 1 << 60
    assert fault.value.site.thread == (0, 0, 0)


def test_a_row_is_one_vector_and_what_belongs_to_it_one_scalar() -> None:
    program = shared_device("jit").load(ROWS).program
    (notes,) = explain(program, program.functions["k"], BlockShape(128, 1, 1)).functions
    ways = {(a.operation, a.pattern, a.way) for a in notes.accesses if not a.parameter}
    assert ways == {
        ("load", "unknown", "one"),
        ("load", "contiguous", "vector"),
        ("store", "contiguous", "vector"),
    }


def test_lanes_of_two_rows_are_two_vectors() -> None:
    """Without a loop, too: a row ends, and another one begins, which may lie anywhere."""
    program, cpu = shared_device("jit").load(ROWS).program, named_cpus()["x86-64-v4"]
    function = program.functions["k"]
    text, _, _ = emit(program, function, BlockShape(128, 1, 1), cpu.features, attributes(cpu))
    load, store = re.findall(r"^two\.\d+:$(.*?)br label", text, re.DOTALL | re.MULTILINE)
    assert len(re.findall(r"= load <32 x i32>", load)) == 2
    assert len(re.findall(r"call .*@llvm\.masked\.store", store)) == 2


BOUNDED = (
    HEAD
    + """
.visible .entry k(.param .u64 out, .param .u32 last)
{{
    .reg .pred %p; .reg .b32 %t, %i, %d, %q, %r, %n; .reg .b64 %a, %b;
    ld.param.u64 %a, [out]; ld.param.u32 %n, [last];
    mov.u32 %t, %tid.x;
    mul.lo.u32 %i, %t, {step};
    shr.u32 %d, %t, 10;
    add.u32 %d, %d, {divisor};
    setp.eq.u32 %p, %n, 0;
    @%p bra END;
    div.u32 %q, %i, %d;
    rem.u32 %r, %i, %d;
    setp.gt.u32 %p, %t, %n;
    @%p bra END;
    mul.wide.u32 %b, %t, 8;
    add.u64 %a, %a, %b;
    st.global.v2.u32 [%a], {{%q, %r}};
END:
    ret;
}}
"""
)
"""The divisor is a number by what is known of bounds: no thread's index has a tenth bit."""


STEPS = [(1, 7), (1, 33), (1, 64), (3, 16), (64, 64), (128, 64), (1, 48)]


@pytest.mark.parametrize(("step", "divisor"), STEPS)
def test_divisors_of_which_bounds_leave_one_number(engine: str, step: int, divisor: int) -> None:
    device = shared_device(engine)
    out = device.zeros((64, 2), "u4")
    device.load(BOUNDED.format(step=step, divisor=divisor))["k"]((1,), (64,), (out, 50))
    expected = [list(divmod(t * step, divisor)) if t <= 50 else [0, 0] for t in range(64)]
    assert out.numpy().tolist() == expected


POWERS = (
    HEAD
    + """
.visible .entry k(.param .u64 out, .param .{t} start)
{{
    .reg .u32 %x; .reg .u64 %a, %b; .reg .{t} %i, %s, %q, %l, %r;
    ld.param.u64 %a, [out];
    ld.param.{t} %s, [start];
    mov.u32 %x, %tid.x;
    cvt.{t}.u32 %i, %x;
    mul.lo.{t} %i, %i, {step};
    add.{t} %i, %i, %s;
    shr.{t} %q, %i, {bits};
    and.b{width} %l, %i, {low};
    and.b{width} %r, {high}, %i;
    sub.{t} %r, %i, %r;
    add.{t} %l, %l, %r;
    mul.wide.u32 %b, %x, {bytes};
    add.u64 %a, %a, %b;
    st.global.v2.{t} [%a], {{%q, %l}};
    ret;
}}
"""
)
EDGES = [
    0,
    5,
    31,
    32,
    33,
    90,
    1000,
    2**31 - 64,
    2**31 - 20,
    2**31,
    2**32 - 64,
    2**32 - 20,
    2**63 - 20,
    2**64 - 20,
]


@pytest.mark.share(3)
@pytest.mark.parametrize("t", ["u32", "s32", "u64", "s64"])
@pytest.mark.parametrize("bits", [2, 5, 6, 10, 30])
@pytest.mark.parametrize("step", [1, 3, -1, -5])
def test_shifts_and_masks_of_indices_that_begin_anywhere(engine: str, t: str, bits: int, step: int) -> None:
    """Quotients and remainders by powers of two, as compilers write them for signed indices."""
    width, threads = int(t[1:]), 70
    low = (1 << bits) - 1
    text = POWERS.format(t=t, step=step, bits=bits, low=low, high=~low, width=width, bytes=width // 4)
    device = shared_device(engine)
    kernel = device.load(text)["k"]
    for start in EDGES:
        out = device.zeros((threads, 2), t[0].replace("s", "i") + str(width // 8))
        kernel((1,), (threads,), (out, as_type(start, t)))
        indices = [as_type(start + step * i, t) for i in range(threads)]
        wanted = [[i >> bits, as_type(2 * (i & low), t)] for i in indices]
        assert out.numpy().tolist() == wanted


PRODUCT = (
    HEAD
    + """
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 from)
{
    .reg .b32 %i, %t, %n, %f, %sign, %up, %row, %whole, %col, %k, %v, %w, %s;
    .reg .b64 %a, %b, %c, %d; .reg .pred %p;
    ld.param.u64 %a, [a];
    ld.param.u64 %b, [b];
    ld.param.u64 %c, [c];
    ld.param.u32 %f, [from];
    mov.u32 %t, %tid.x;
    mov.u32 %n, %ntid.x;
    mov.u32 %i, %ctaid.x;
    mad.lo.s32 %i, %i, %n, %t;
    add.s32 %i, %i, %f;
    shr.s32 %sign, %i, 31;           // i / 64 and i % 64, of a number with a sign
    shr.u32 %up, %sign, 26;
    add.s32 %up, %i, %up;
    shr.s32 %row, %up, 6;
    and.b32 %whole, %up, -64;
    sub.s32 %col, %i, %whole;
    mov.u32 %s, 0;
    mov.u32 %k, 0;
TURN:
    mad.lo.s32 %v, %row, 64, %k;
    mul.wide.s32 %d, %v, 4;
    add.s64 %d, %a, %d;
    ld.global.u32 %v, [%d];
    mad.lo.s32 %w, %k, 64, %col;
    mul.wide.s32 %d, %w, 4;
    add.s64 %d, %b, %d;
    ld.global.u32 %w, [%d];
    mad.lo.u32 %s, %v, %w, %s;
    add.u32 %k, %k, 1;
    setp.lt.u32 %p, %k, 64;
    @%p bra TURN;
    mul.wide.s32 %d, %i, 4;
    add.s64 %d, %c, %d;
    st.global.u32 [%d], %s;
    ret;
}
"""
)


@pytest.mark.parametrize("start", [0, 1, 33, 63])
def test_rows_of_a_known_width_in_a_product(engine: str, start: int) -> None:
    """A thread for each place of a matrix: one word for the row, and the column's words side by side, where
    the warp's lanes are in one row, as for a width that is known when the kernel runs."""
    rng = np.random.default_rng(5)
    a, b = (rng.integers(0, 1000, (65, 64)).astype("u4") for _ in range(2))
    device = shared_device(engine)
    out = device.zeros((65, 64), "u4")
    module = device.load(PRODUCT)
    module["k"]((64 * 64 // 256,), (256,), (device.array(a), device.array(b), out, start))
    wanted = (a @ b[:64]).reshape(-1)
    wanted[:start] = wanted[64 * 64 + start :] = 0
    assert np.array_equal(out.numpy().reshape(-1), wanted)
    found = explain(module.program, module.program.functions["k"], BlockShape(256, 1, 1))
    ways = {
        a.place.text.split()[1]: (a.way, a.otherwise)
        for a in found.functions[0].accesses
        if a.operation == "load"
    }
    assert ways["%v,"] == ("one", "lanes")
    assert ways["%w,"] == ("vector", "lanes")
