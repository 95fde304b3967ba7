"""CTAs of one dimension whose code has rows in it: `tid % 16`, `tid / 16`. Expectations are NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.tools.explain import explain
from tests.conftest import shared_device

HEAD = """.version 7.5
.target sm_75
.address_size 64
"""
TABLE = np.arange(4096, dtype="u4") * 2654435761 % 1000003
TURNS = 5
SUMS = (
    HEAD
    + """
.visible .entry k(.param .u64 out, .param .u64 table, .param .u32 n)
{{
    .reg .u32 %t, %c, %r, %i, %s, %v, %w, %k, %g; .reg .u64 %o, %a, %b, %d; .reg .pred %p;
    .shared .align 16 .b8 tile[8192];
    ld.param.u64 %o, [out];
    ld.param.u64 %a, [table];
    ld.param.u32 %s, [n];
    mov.u32 %t, %tid.x;
    {column};
    {row};
    mov.u32 %w, tile;
    mad.lo.u32 %w, %t, 4, %w;
    st.shared.u32 [%w], %t;
    bar.sync 0;
    mov.u32 %k, 0;
$TURN:
    mad.lo.u32 %i, %k, 256, %c;               // a row of the table, contiguous in rows
    mul.wide.u32 %b, %i, 4;
    add.u64 %b, %b, %a;
    ld.global.u32 %v, [%b];
    mad.lo.u32 %s, %s, 31, %v;
    mad.lo.u32 %i, %r, 8, %k;                 // one word for each row
    mul.wide.u32 %b, %i, 4;
    add.u64 %b, %b, %a;
    ld.global.u32 %v, [%b];
    mad.lo.u32 %s, %s, 31, %v;
    shr.u32 %g, %t, 5;                        // one for each warp
    mul.wide.u32 %b, %g, 4;
    add.u64 %b, %b, %a;
    ld.global.u32 %v, [%b+64];
    mad.lo.u32 %s, %s, 31, %v;
    mov.u32 %w, tile;
    mad.lo.u32 %w, %r, {lanes}*4, %w;         // the first of the thread's row in shared memory
    ld.shared.u32 %v, [%w];
    mad.lo.u32 %s, %s, 31, %v;
    add.u32 %k, %k, 1;
    setp.lt.u32 %p, %k, {turns};
    @%p bra $TURN;
    mov.u32 %i, %ctaid.x;
    mov.u32 %k, %ntid.x;
    mad.lo.u32 %i, %i, %k, %t;
    mul.wide.u32 %d, %i, 4;
    add.u64 %d, %d, %o;
    st.global.u32 [%d], %s;
    ret;
}}
"""
)
WAYS = {
    "and": ("and.b32 %c, %t, {last}", "shr.u32 %r, %t, {bits}"),
    "rem": ("rem.u32 %c, %t, {lanes}", "div.u32 %r, %t, {lanes}"),
    "extract": ("bfe.u32 %c, %t, 0, {bits}", "bfe.u32 %r, %t, {bits}, 16"),
    "less": ("and.b32 %c, %t, {last}; sub.u32 %r, %t, %c", "shr.u32 %r, %r, {bits}"),
}


def sums(way: str, lanes: int) -> str:
    bits = lanes.bit_length() - 1
    column, row = (part.format(last=lanes - 1, bits=bits, lanes=lanes) for part in WAYS[way])
    return SUMS.format(column=column, row=row, lanes=lanes, turns=TURNS)


def expected(lanes: int, threads: int, ctas: int, seed: int) -> np.ndarray:
    t = np.tile(np.arange(threads, dtype="u4"), ctas)
    s = np.full(t.shape, seed, "u4")
    for k in range(TURNS):
        words = TABLE[k * 256 + t % lanes], TABLE[t // lanes * 8 + k], TABLE[t // 32 + 16], t // lanes * lanes
        for word in words:
            s = s * np.uint32(31) + word.astype("u4")
    return s


def rows_of(text: str, threads: int, cpu: str = "x86-64-v4") -> int:
    """Lanes of the rows that the JIT sees in a linear CTA of the kernel `k`."""
    module = shared_device("jit").load(text)
    program = module.program
    return explain(program, program.functions["k"], BlockShape(threads, 1, 1), cpu).block.row


@pytest.mark.share(2)
@pytest.mark.parametrize("threads", [256, 1000, 100, 33, 32, 7])
@pytest.mark.parametrize("lanes", [4, 8, 16])
@pytest.mark.parametrize("way", WAYS)
def test_columns_and_rows(engine: str, way: str, lanes: int, threads: int) -> None:
    device = shared_device(engine)
    out, table = device.zeros(3 * threads, "u4"), device.array(TABLE)
    device.load(sums(way, lanes))["k"]((3,), (threads,), (out, table, 12345))
    np.testing.assert_array_equal(out.numpy(), expected(lanes, threads, 3, 12345))


@pytest.mark.parametrize("lanes", [4, 8, 16])
@pytest.mark.parametrize("way", WAYS)
def test_such_a_cta_has_rows(way: str, lanes: int) -> None:
    assert rows_of(sums(way, lanes), 256) == lanes


def test_what_belongs_to_a_warp_stays_uniform() -> None:
    """Warps of several rows, too, have one number."""
    module = shared_device("jit").load(sums("and", 16))
    found = explain(module.program, module.program.functions["k"], BlockShape(256, 1, 1), "x86-64-v4")
    assert found.block.row == 16
    by_line = {a.place.text.split(";")[0]: a.pattern for a in found.functions[0].accesses}
    assert by_line["ld.global.u32 %v, [%b+64]"] == "uniform"
    assert sorted(by_line.values()).count("per row") == 2


ONCE = """
.visible .entry k(.param .u64 out)
{
    .reg .u32 %t, %c, %k, %s; .reg .u64 %o, %d; .reg .pred %p;
    ld.param.u64 %o, [out];
    mov.u32 %t, %tid.x;
    and.b32 %c, %t, 15;
    mov.u32 %s, 0;
    mov.u32 %k, 0;
    mul.wide.u32 %d, %t, 2;
    add.u64 %o, %o, %d;
$TURN:
    ld.global.u16 %k, [%o];
    add.u32 %s, %s, %k;
    setp.lt.u32 %p, %s, 100;
    @%p bra $TURN;
    add.u32 %s, %s, %c;
    st.global.u16 [%o], %s;
    ret;
}
"""


def test_rows_that_do_not_pay_are_not_seen() -> None:
    """Nothing is accessed by the column; two halves of a warp would load twice."""
    assert rows_of(HEAD + ONCE, 256) == 32


@pytest.mark.parametrize("block", [(16, 16), (8, 8), (4, 16)])
def test_ctas_with_rows_of_their_own_keep_them(block: tuple[int, int]) -> None:
    module = shared_device("jit").load(sums("and", 8))
    found = explain(module.program, module.program.functions["k"], BlockShape(*block, 1), "x86-64-v4")
    assert found.block == BlockShape(*block, 1)


FAULT = """
.visible .entry k(.param .u32 apart, .param .u32 n)
{
    .reg .u32 %t, %c, %r, %n, %k, %a, %w; .reg .pred %p;
    .shared .align 16 .b8 tile[4096];
    ld.param.u32 %a, [apart];
    ld.param.u32 %n, [n];
    mov.u32 %t, %tid.x;
    and.b32 %c, %t, 15;
    shr.u32 %r, %t, 4;
    mov.u32 %w, tile;
    mad.lo.u32 %w, %c, 4, %w;
    mad.lo.u32 %w, %r, %a, %w;
    mov.u32 %k, 0;
$TURN:
    st.shared.u32 [%w], %t;
    add.u32 %w, %w, 64;
    add.u32 %k, %k, 1;
    setp.lt.u32 %p, %k, %n;
    @%p bra $TURN;
    ret;
}
"""


@pytest.mark.parametrize(
    ("apart", "turns", "threads", "thread", "address"),
    [
        (4096, 1, 64, 16, 4096),  # the warp's second row
        (4096, 1, 20, 16, 4096),  # which has 4 threads
        (2048, 1, 64, 32, 4096),  # the first row of the next warp
        (512, 60, 32, 16, 4096),  # later: the first row would follow
        (1000, 63, 32, 22, 4096),  # the same, in the middle of a row
        (2, 1, 64, 16, 2),  # misaligned
    ],
)
def test_one_wrong_row_faults(
    engine: str, apart: int, turns: int, threads: int, thread: int, address: int
) -> None:
    """Each row is checked, not the warp's first and last lane alone."""
    assert rows_of(HEAD + FAULT, threads) == 16
    with pytest.raises(simt.MemoryFault) as fault:
        shared_device(engine).load(HEAD + FAULT)["k"]((1,), (threads,), (apart, turns))
    assert fault.value.site.thread == (thread, 0, 0)
    assert fault.value.address == address


def test_rows_without_threads_are_not_checked(engine: str) -> None:
    """The second row of the last warp would fault, but has no thread."""
    shared_device(engine).load(HEAD + FAULT)["k"]((1,), (16,), (1 << 20, 3))


NUMBERS = (
    HEAD
    + """
.visible .entry k(.param .u64 out, .param .u64 table)
{
    .reg .u32 %x, %y, %z, %n, %t, %w, %v, %q, %k; .reg .u64 %o, %a, %b, %d; .reg .pred %p;
    ld.param.u64 %o, [out];
    ld.param.u64 %a, [table];
    mov.u32 %x, %tid.x;
    mov.u32 %y, %tid.y;
    mov.u32 %z, %tid.z;
    mov.u32 %n, %ntid.y;
    mad.lo.u32 %t, %z, %n, %y;
    mov.u32 %n, %ntid.x;
    mul.lo.u32 %t, %t, %n;
    add.u32 %t, %t, %x;
    mul.lo.u32 %w, %y, 16;
    add.u32 %w, %w, %x;
    shr.u32 %w, %w, 5;
    mul.wide.u32 %b, %w, 4;
    add.u64 %b, %b, %a;
    ld.global.u32 %v, [%b];
    mul.wide.u32 %b, %z, 4;
    add.u64 %b, %b, %a;
    ld.global.u32 %q, [%b+64];
    add.u32 %v, %v, %q;
    mul.wide.u32 %d, %t, 4;
    add.u64 %d, %d, %o;
    st.global.u32 [%d], %v;
    ret;
}
"""
)


@pytest.mark.parametrize(
    ("block", "warp", "plane"),
    [
        ((16, 16, 1), "uniform", "uniform"),
        ((16, 16, 2), "uniform", "uniform"),
        ((16, 4, 4), "uniform", "uniform"),
        ((16, 3, 4), "per row", "per row"),  # warps have threads of two planes
        ((8, 16, 2), "per row", "uniform"),  # rows are 16 apart in what is shifted, and have 8
        ((4, 4, 3), "per row", "per row"),
    ],
)
def test_rows_of_one_warp_have_its_number(
    engine: str, block: tuple[int, int, int], warp: str, plane: str
) -> None:
    """(tid.y * 16 + tid.x) / 32, in CTAs of several dimensions: one scalar for a warp of rows of 16."""
    module = shared_device(engine).load(NUMBERS)
    x, y, z = block
    out = shared_device(engine).zeros(x * y * z, "u4")
    module["k"]((1,), block, (out, shared_device(engine).array(TABLE)))
    k, j, i = np.mgrid[:z, :y, :x]
    np.testing.assert_array_equal(out.numpy().reshape(z, y, x), TABLE[(j * 16 + i) // 32] + TABLE[k + 16])
    found = explain(module.program, module.program.functions["k"], BlockShape(*block), "x86-64-v4")
    by_line = {a.place.text.split(";")[0]: a.pattern for a in found.functions[0].accesses}
    assert by_line["ld.global.u32 %v, [%b]"] == warp
    assert by_line["ld.global.u32 %q, [%b+64]"] == plane


TRANSPOSED = (
    HEAD
    + """
.visible .entry k(.param .u64 out)
{
    .reg .u32 %x, %y, %n, %t; .reg .u64 %o, %d;
    ld.param.u64 %o, [out];
    mov.u32 %x, %tid.x;
    mov.u32 %y, %tid.y;
    mov.u32 %n, %ntid.y;
    mad.lo.u32 %t, %x, %n, %y;
    mul.wide.u32 %d, %t, 4;
    add.u64 %d, %d, %o;
    st.global.u32 [%d], %x;
    ret;
}
"""
)


def test_extents_of_a_cta_are_numbers(engine: str) -> None:
    """Code is made for CTAs of one shape: what is multiplied by an extent grows by a known step."""
    module = shared_device(engine).load(TRANSPOSED)
    out = shared_device(engine).zeros((32, 5), "u4")
    module["k"]((1,), (32, 5), (out,))
    np.testing.assert_array_equal(out.numpy(), np.tile(np.arange(32, dtype="u4")[:, None], 5))
    found = explain(module.program, module.program.functions["k"], BlockShape(32, 5, 1), "x86-64-v4")
    assert [a.stride for a in found.functions[0].accesses if a.operation == "store"] == [20]


WIDE = (
    HEAD
    + """
.visible .entry k(.param .u64 out, .param .u64 table)
{{
    .reg .u32 %x, %y, %z, %n, %t, %c, %r, %i, %k, %s, %v; .reg .u64 %o, %a, %b, %d; .reg .pred %p;
    ld.param.u64 %o, [out];
    ld.param.u64 %a, [table];
    mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; mov.u32 %z, %tid.z;
    mov.u32 %n, %ntid.y; mad.lo.u32 %t, %z, %n, %y;
    mov.u32 %n, %ntid.x; mad.lo.u32 %t, %t, %n, %x;
    and.b32 %c, %x, {last};
    shr.u32 %r, %x, {bits};
    bar.sync 0;                               // or the axes might be exchanged
    mov.u32 %s, 1; mov.u32 %k, 0;
$TURN:
    mad.lo.u32 %i, %k, 100, %c; mul.wide.u32 %b, %i, 4; add.u64 %b, %b, %a; ld.global.u32 %v, [%b];
    mad.lo.u32 %s, %s, 31, %v;
    mad.lo.u32 %i, %k, 100, %r; mul.wide.u32 %b, %i, 4; add.u64 %b, %b, %a; ld.global.u32 %v, [%b];
    mad.lo.u32 %s, %s, 31, %v;
    mad.lo.u32 %i, %z, 8, %y; mul.wide.u32 %b, %i, 4; add.u64 %b, %b, %a; ld.global.u32 %v, [%b+64];
    mad.lo.u32 %s, %s, 31, %v;
    add.u32 %k, %k, 1;
    setp.lt.u32 %p, %k, {turns};
    @%p bra $TURN;
    mul.wide.u32 %d, %t, 4; add.u64 %d, %d, %o; st.global.u32 [%d], %s;
    ret;
}}
"""
)


@pytest.mark.parametrize("lanes", [4, 8, 16])
@pytest.mark.parametrize(
    ("block", "cut"),
    [
        ((32, 8, 1), True),
        ((64, 3, 1), True),
        ((96, 2, 2), True),
        ((32, 1, 3), True),
        ((40, 2, 1), False),  # a warp has threads of two rows
        ((48, 2, 1), False),
    ],
)
def test_rows_of_whole_warps_are_cut(engine: str, block: tuple[int, int, int], cut: bool, lanes: int) -> None:
    """CTAs of several dimensions whose warps have threads side by side: each has one `tid.y` and `tid.z`."""
    text = WIDE.format(last=lanes - 1, bits=lanes.bit_length() - 1, turns=TURNS)
    module = shared_device(engine).load(text)
    x, y, z = block
    out = shared_device(engine).zeros(x * y * z, "u4")
    module["k"]((1,), block, (out, shared_device(engine).array(TABLE)))
    k, j, i = np.mgrid[:z, :y, :x]
    s = np.full(i.shape, 1, "u4")
    for turn in range(TURNS):
        for word in TABLE[turn * 100 + i % lanes], TABLE[turn * 100 + i // lanes], TABLE[k * 8 + j + 16]:
            s = s * np.uint32(31) + word.astype("u4")
    np.testing.assert_array_equal(out.numpy().reshape(z, y, x), s)
    found = explain(module.program, module.program.functions["k"], BlockShape(*block), "x86-64-v4")
    assert found.block.row == (lanes if cut else 32)
    if cut:
        by_line = {a.place.line: a.pattern for a in found.functions[0].accesses if a.operation == "load"}
        assert list(by_line.values())[-3:] == ["contiguous", "per row", "uniform"]
