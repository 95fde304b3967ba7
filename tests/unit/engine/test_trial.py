"""Code that is tried first: a warp of which a guard does not hold begins again with the usual code, and
nobody can tell. Expectations are NumPy's."""

from __future__ import annotations

import re

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.driver.source import compile_ptx
from simt.engine.llvm_kernel import TWO_ROWS, USUAL, emit
from simt.machine.device import DEVICES
from tests.conftest import shared_device

HEAD = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 out, .param .s32 n, .param .s32 width, .param .s32 pitch)
{
    .reg .pred %p; .reg .b32 %t, %i, %n, %w, %q, %r, %v, %u; .reg .b64 %a, %o, %x;
    ld.param.u64 %a, [a]; ld.param.u64 %o, [out];
    ld.param.u32 %n, [n]; ld.param.u32 %w, [width];
    mov.u32 %t, %tid.x; mov.u32 %i, %ctaid.x; mov.u32 %r, %ntid.x;
    mad.lo.u32 %i, %i, %r, %t;
    setp.ge.s32 %p, %i, %n;
    @%p bra END;
"""
ROWS = """
    div.s32 %q, %i, %w;
    mul.lo.s32 %r, %q, %w;
    sub.s32 %r, %i, %r;
    ld.param.u32 %t, [pitch];
    mad.lo.s32 %t, %q, %t, %r;
    mul.wide.s32 %x, %t, 4;
    add.s64 %x, %a, %x;
    ld.global.u32 %v, [%x];
"""
STORE = """
    mul.wide.s32 %x, %i, 4;
    add.s64 %x, %o, %x;
    {change}
    st.global.u32 [%x], %v;
"""
TAIL = """
END:
    ret;
}
"""
COPY = HEAD + ROWS + STORE.format(change="") + TAIL
PAIRS = COPY.replace("%q, %t, %r;", "%q, %t, %r; add.s32 %t, %t, %r;")
"""Of each row every second word."""
COUNT = """
    mul.wide.s32 %x, %i, 4;
    add.s64 %x, %o, %x;
    ld.global.u32 %u, [%x];
    add.u32 %u, %u, 1;
    st.global.u32 [%x], %u;
"""
ADD = "red.global.add.u32 [%o], 1;"
STORED_IN_ROWS = ROWS.replace("add.s64 %x, %a, %x;", "add.s64 %x, %o, %x;").replace(
    "ld.global.u32 %v, [%x];", "st.global.u32 [%x], %i;"
)
CHANGES = {"store": COUNT, "atomic": ADD}
EFFECTS = {"store": "store <32 x i32> %", "atomic": "@llvm.vector.reduce.add"}
TOTAL = 1000


def parts(source: str, block: tuple[int, int, int] = (128, 1, 1)) -> tuple[str, str, str]:
    """The kernel's code that is tried first ("" if there is none), that for two rows, and the usual one."""
    program, _ = compile_ptx(source, "<ptx>", DEVICES[90])
    features = frozenset({"avx2", "avx512f", "avx512bw", "avx512dq", "avx512vl", "bmi2"})
    text, _, _ = emit(program, program.functions["k"], BlockShape(*block), features, "nounwind")
    body = text[text.index("warp.head:") :]
    tried, label, usual = body.rpartition(f"\n{USUAL}:\n")
    one, _, two = tried.partition(f"\n{TWO_ROWS}:\n")
    return (one, two, usual) if label else ("", "", body)


def test_tried_code_has_one_way() -> None:
    one, two, usual = parts(COPY)
    assert f"label %{TWO_ROWS}" in one
    assert f"label %{USUAL}" in two
    assert "gather" in usual
    for tried in (one, two):
        assert "gather" not in tried
        assert not re.search(r"<32 x (i64|double)> .*(mul|div)", tried)
        assert len(tried.split("\n")) < len(usual.split("\n")) / 2
    assert [len(re.findall(r" load <32 x i32>", tried)) for tried in (one, two)] == [1, 2]


def test_two_rows_are_stored_by_two_masks() -> None:
    _, two, _ = parts(HEAD + STORED_IN_ROWS + TAIL)
    assert len(re.findall(r"call .*masked.store.*<32 x i1> %", two)) == 2
    assert "scatter" not in two


@pytest.mark.parametrize("change", CHANGES)
def test_no_way_back_after_effects(change: str) -> None:
    one, two, _ = parts(HEAD + ROWS + CHANGES[change] + ROWS + STORE.format(change="") + TAIL)
    for tried in (one, two) if change == "store" else (one,):
        before, effect, after = tried.partition(EFFECTS[change])
        assert effect
        assert "label %usual" in before.replace(TWO_ROWS, "usual")
        assert "label %usual" not in after.replace(TWO_ROWS, "usual")


@pytest.mark.parametrize(
    ("divided", "is_tried"), [("", False), ("shr.u32 %q, %i, 0;", False), ("div.s32 %q, %i, %w;", True)]
)
def test_only_rows_are_tried(divided: str, is_tried: bool) -> None:
    body = STORE.format(change=f"mov.u32 %q, %i; {divided} add.u32 %v, %q, %n;")
    assert (parts(HEAD + body + TAIL)[0] != "") == is_tried


def test_branches_on_values_part_lanes() -> None:
    """Only those on indices are expected to send all lanes one way."""
    odd = "and.b32 %u, %v, 1; setp.eq.u32 %p, %u, 1; @%p bra END;"
    assert "take." in parts(HEAD + ROWS + odd + STORE.format(change="") + TAIL)[0]
    assert "take." not in parts(COPY)[0]


def test_two_rows_of_every_second_word_are_two_loads() -> None:
    _, two, _ = parts(PAIRS)
    assert "gather" not in two
    assert len(re.findall(r"call .*@simt\.steps", two)) == 2


@pytest.mark.share(2)
@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("width", [1, 5, 15, 16, 20, 24, 28, 31, 32, 33, 48, 64, 100, 999, 1000, 5000, -7, 0])
@pytest.mark.parametrize("n", [TOTAL, 992, 977, 1, 0])
def test_rows(engine: str, width: int, n: int, step: int) -> None:
    device = shared_device(engine)
    pitch = max(width, 1) + 3
    i = np.arange(n)
    quotient = np.full(n, -1) if width == 0 else np.trunc(i / width).astype("i8")
    places = quotient * pitch + step * (i - quotient * width)
    room = int(max(places.max(initial=0), -places.min(initial=0))) + 1
    a = np.random.default_rng(1).integers(0, 1 << 30, 2 * room, "u4")
    there = device.array(a)
    out = device.zeros(TOTAL + 1, "u4")
    module = device.load({1: COPY, 2: PAIRS}[step])
    module["k"]((8,), (128,), (there.ptr + 4 * room, out, n, width, pitch))
    expected = np.zeros(TOTAL + 1, "u4")
    expected[:n] = a[room + places]
    assert out.numpy().tolist() == expected.tolist()


@pytest.mark.parametrize("what", CHANGES)
@pytest.mark.parametrize("width", [5, 40, 64, 1000])
def test_effects_happen_once(engine: str, what: str, width: int) -> None:
    """Those before a guard that does not hold, too."""
    device = shared_device(engine)
    a = np.random.default_rng(2).integers(0, 1 << 30, TOTAL, "u4")
    counts = np.arange(TOTAL + 1, dtype="u4")
    out, there = device.array(counts), device.array(a)
    # What is stored is what was there and the word of the row and column.
    change = "ld.global.u32 %u, [%x]; add.u32 %v, %v, %u;"
    source = HEAD + CHANGES[what] + ROWS + STORE.format(change=change) + TAIL
    device.load(source)["k"]((8,), (128,), (there, out, TOTAL, width, width))
    if what == "store":
        counts[:TOTAL] += np.uint32(1) + a
        assert out.numpy().tolist() == counts.tolist()
    else:
        counts[1:TOTAL] += a[1:]
        assert out.numpy().tolist()[1:] == counts.tolist()[1:]


@pytest.mark.parametrize("bad", [0, 40, 110, 133, 991, 999])
def test_faults_are_the_programs(engine: str, bad: int) -> None:
    """A lane's own address, where others of its warp lie below the end of memory."""
    device = simt.Device("sm_90", engine=engine, memory="16MiB", workers=1)
    device.array(np.ones(1 << 22, "u1"))
    out, limit = device.zeros(TOTAL, "u4"), device.memory.limit
    with pytest.raises(simt.MemoryFault, match=f"0x{limit:x}") as fault:
        device.load(COPY)["k"]((8,), (128,), (limit - 4 * bad, out, TOTAL, 5000, 5000))
    site = fault.value.site
    assert (site.cta[0], site.thread[0]) == divmod(bad, 128)


@pytest.mark.parametrize("threads", [32, 40, 127, 1])
def test_partly_filled_warps(engine: str, threads: int) -> None:
    device = shared_device(engine)
    a = np.arange(1, TOTAL + 1, dtype="u4")
    there, out = device.array(a), device.zeros(TOTAL, "u4")
    ctas = -(-TOTAL // threads)
    device.load(COPY)["k"]((ctas,), (threads,), (there, out, TOTAL, 64, 64))
    assert out.numpy().tolist() == a.tolist()


@pytest.mark.parametrize("threads", [128, 40])
@pytest.mark.parametrize("width", [30, 32, 33, 40, 47, 100, 500])
def test_stores_in_rows(engine: str, width: int, threads: int) -> None:
    """Rows may overlap: then the last lane's word stays."""
    device = shared_device(engine)
    for pitch in (width + 4, width, width - 3):
        out = device.zeros(40 * 500, "u4")
        ctas = -(-TOTAL // threads)
        arguments = (0, out, TOTAL, width, pitch)
        simt_kernel = device.load(HEAD + STORED_IN_ROWS + TAIL)["k"]
        i = np.arange(TOTAL)
        expected = np.zeros(40 * 500, "u4")
        if pitch < width:
            ctas, threads = 1, min(threads, 64)
            i = i[:threads]
        simt_kernel((ctas,), (threads,), arguments)
        for index in i:
            expected[index // width * pitch + index % width] = index
        assert out.numpy().tolist() == expected.tolist(), pitch


VOLUME = (
    HEAD.replace(".param .s32 pitch", ".param .s32 pitch, .param .s32 height, .param .u64 rows")
    + """
    .reg .b32 %h, %wh, %y, %z; .reg .b64 %b; .reg .pred %edge;
    ld.param.u32 %h, [height]; ld.param.u64 %b, [rows];
    {divide} %q, %i, %w;
    {remainder} %r, %i, %w;
    {remainder} %y, %q, %h;
    mul.lo.s32 %wh, %w, %h;
    {divide} %z, %i, %wh;
    mul.wide.s32 %x, %y, 4;
    add.s64 %b, %b, %x;
    ld.global.u32 %u, [%b];
    ld.param.u32 %t, [pitch];
    mad.lo.s32 %y, %z, %h, %y;
    mad.lo.s32 %t, %y, %t, %r;
    mul.wide.{extended} %x, %t, 4;
    add.s64 %a, %a, %x;
    ld.global.u32 %v, [%a];
    setp.eq.s32 %edge, %z, 1;
    @%edge bra FIRST;
    add.u32 %v, %v, %u;
FIRST:
    mad.lo.u32 %v, %v, 3, %z;
    mul.wide.s32 %x, %i, 4;
    add.s64 %o, %o, %x;
    st.global.u32 [%o], %v;
END:
    ret;
}}
"""
)


def volume(t: str) -> str:
    head, body = VOLUME.split("    .reg .b32 %h", 1)
    return head + "    .reg .b32 %h" + body.format(divide=f"div.{t}", remainder=f"rem.{t}", extended=t)


@pytest.mark.parametrize("t", ["s32", "u32"])
@pytest.mark.parametrize("height", [1, 3, 7])
@pytest.mark.parametrize("width", [1, 20, 32, 35, 48, 64, 77, 200])
def test_volumes(engine: str, width: int, height: int, t: str) -> None:
    """Three indices, rows of planes: what is cut for one may not be for another."""
    device = shared_device(engine)
    pitch, i = width + 2, np.arange(TOTAL)
    x, y, z = i % width, i // width % height, i // (width * height)
    random = np.random.default_rng(6)
    a = random.integers(0, 1 << 30, int(z.max() + 1) * height * pitch, "u4")
    rows = random.integers(0, 1 << 30, height, "u4")
    out = device.zeros(TOTAL + 1, "u4")
    arguments = (device.array(a), out, TOTAL, width, pitch, height, device.array(rows))
    device.load(volume(t))["k"]((8,), (128,), arguments)
    found = a[(z * height + y) * pitch + x] + np.where(z == 1, 0, rows[y]).astype("u4")
    expected = found * np.uint32(3) + z.astype("u4")
    assert out.numpy().tolist() == [*expected.tolist(), 0]


def of_planes(t: str, b: int) -> str:
    """Each thread's plane, row and column: the row is cut from what is left of the plane."""
    body = f"""
    .reg .b{b} %P, %W, %I, %z, %l, %y;
    ld.param.s32 %t, [pitch]; cvt.u{b}.s32 %P, %t; cvt.u{b}.s32 %W, %w; cvt.u{b}.s32 %I, %i;
    div.{t} %z, %I, %P;
    mul.lo.{t} %l, %z, %P;
    sub.{t} %l, %I, %l;
    div.{t} %y, %l, %W;
    rem.{t} %l, %l, %W;
    cvt.u32.u{b} %q, %z; cvt.u32.u{b} %u, %y; cvt.u32.u{b} %r, %l;
    mad.lo.u32 %t, %q, 100, %r;
    mul.wide.s32 %x, %t, 4;
    add.s64 %x, %a, %x;
    ld.global.u32 %v, [%x];
    mad.lo.u32 %v, %v, 64, %u;
    ld.global.u32 %t, [%x+12];
    add.u32 %v, %v, %t;
    mad.lo.u32 %t, %u, 9, %r;
    mul.wide.s32 %x, %t, 4;
    add.s64 %x, %a, %x;
    ld.global.u32 %t, [%x];
    add.u32 %v, %v, %t;
""".replace("cvt.u32.s32", "mov.b32").replace("cvt.u32.u32", "mov.b32")
    return HEAD + body + STORE.format(change="") + TAIL


@pytest.mark.parametrize(("t", "b"), [("s32", 32), ("u32", 32), ("s64", 64), ("u64", 64)])
@pytest.mark.parametrize(
    "sizes", [(40, 120), (35, 70), (16, 64), (90, 91), (33, 500), (20, 30), (64, 128), (7, 50)]
)
def test_rows_of_planes(engine: str, sizes: tuple[int, int], t: str, b: int) -> None:
    """Where one plane ends and the next begins, so do rows, whether the plane's length is rows or not."""
    device, (width, plane) = shared_device(engine), sizes
    i = np.arange(TOTAL)
    z, left = np.divmod(i, plane)
    row, column = np.divmod(left, width)
    a = np.random.default_rng(9).integers(0, 1 << 20, 100 * (int(z.max()) + 4) + plane, "u4")
    out = device.zeros(TOTAL, "u4")
    device.load(of_planes(t, b))["k"]((8,), (128,), (device.array(a), out, TOTAL, width, plane))
    places = z * 100 + column
    assert out.numpy().tolist() == (a[places] * 64 + row + a[places + 3] + a[row * 9 + column]).tolist()


@pytest.mark.parametrize(("t", "b"), [("s32", 32), ("u64", 64)])
@pytest.mark.parametrize("sizes", [(40, 1200), (35, 700), (64, 640), (33, 1320)])
def test_another_index_goes_on_where_planes_do_not(
    engine: str, sizes: tuple[int, int], t: str, b: int
) -> None:
    """A plane's rows go on in no lane of many warps, in which an index that is cut later does."""
    device, (width, plane) = shared_device(engine), sizes
    other = f"add.{t} %P, %I, 3; add.{t} %W, %W, 9; rem.{t} %P, %P, %W; cvt.u32.u{b} %h, %P;"
    added = f".reg .b32 %h; {other.replace('cvt.u32.u32', 'mov.b32')} mad.lo.u32 %t, %u, 9, %r;"
    source = of_planes(t, b).replace("mad.lo.u32 %t, %u, 9, %r;", f"{added} add.u32 %v, %v, %h;")
    i = np.arange(TOTAL)
    z, left = np.divmod(i, plane)
    row, column = np.divmod(left, width)
    a = np.random.default_rng(9).integers(0, 1 << 20, 100 * (int(z.max()) + 4) + plane, "u4")
    out = device.zeros(TOTAL, "u4")
    device.load(source)["k"]((8,), (128,), (device.array(a), out, TOTAL, width, plane))
    places = z * 100 + column
    expected = a[places] * 64 + row + a[places + 3] + a[row * 9 + column] + (i + 3) % (width + 9)
    assert out.numpy().tolist() == expected.tolist()


def test_rows_of_planes_are_tried_in_two_rows() -> None:
    """Each division asks at which lane its next row begins."""
    for t, b in (("s32", 32), ("u64", 64)):
        _, two, _ = parts(of_planes(t, b))
        assert len(re.findall("= call .*umax", two)) == 3


def test_volumes_are_tried_in_two_rows() -> None:
    for t in ("s32", "u32"):
        one, two, usual = parts(volume(t))
        assert "x double> " not in one
        assert "<32 x double>" not in two
        assert "<32 x double>" in usual


TWO_CUTS = """
    div.s32 %q, %i, %w;
    ld.param.u32 %t, [pitch];
    div.s32 %r, %i, %t;
    mad.lo.s32 %v, %q, 1000, %r;
"""


@pytest.mark.parametrize(
    "widths", [(40, 50), (40, 80), (33, 32), (64, 48), (100, 1000), (7, 90), (20, 28), (28, 84)]
)
def test_two_indices_go_on_to_their_next_rows_at_different_lanes(
    engine: str, widths: tuple[int, int]
) -> None:
    device = shared_device(engine)
    out, i = device.zeros(TOTAL, "u4"), np.arange(TOTAL)
    device.load(HEAD + TWO_CUTS + STORE.format(change="") + TAIL)["k"]((8,), (128,), (0, out, TOTAL, *widths))
    assert out.numpy().tolist() == (i // widths[0] * 1000 + i // widths[1]).tolist()


LOOP = """
    mov.u32 %u, %r;
AGAIN:
    mad.lo.u32 %v, %q, 3, %v;
    add.u32 %v, %v, 1;
    add.u32 %u, %u, 7;
    setp.lt.u32 %p, %u, 30;
    @%p bra AGAIN;
"""


@pytest.mark.parametrize("width", [5, 40, 64, 1000])
def test_lanes_leave_a_loop_one_after_another(engine: str, width: int) -> None:
    device = shared_device(engine)
    out, i = device.zeros(TOTAL, "u4"), np.arange(TOTAL)
    a = np.random.default_rng(7).integers(0, 1 << 20, TOTAL, "u4")
    source = HEAD + ROWS + LOOP + STORE.format(change="") + TAIL
    assert parts(source)[0]
    device.load(source)["k"]((8,), (128,), (device.array(a), out, TOTAL, width, width))
    turns = np.maximum(1, -(-(30 - i % width) // 7))
    assert out.numpy().tolist() == (a + turns * (i // width * 3 + 1)).tolist()


LONG = (
    HEAD.replace(".s32 width", ".s64 width").replace("ld.param.u32 %w, [width];", "")
    + """
    .reg .b64 %j, %d, %k, %c, %h; .reg .pred %short;
    ld.param.u64 %d, [width];
    cvt.s64.s32 %j, %i;
    or.b64 %h, %j, %d;
    and.b64 %h, %h, -4294967296;
    setp.eq.s64 %short, %h, 0;
    @%short bra SHORT;
    div.s64 %k, %j, %d;
    mul.lo.s64 %c, %k, %d;
    sub.s64 %c, %j, %c;
    bra.uni DONE;
SHORT:
    cvt.u32.u64 %w, %d;
    cvt.u32.u64 %t, %j;
    div.u32 %q, %t, %w;
    mul.lo.s32 %r, %q, %w;
    sub.s32 %r, %t, %r;
    cvt.u64.u32 %k, %q;
    cvt.u64.u32 %c, %r;
DONE:
    ld.param.s32 %t, [pitch];
    cvt.s64.s32 %h, %t;
    mad.lo.s64 %c, %k, %h, %c;
    shl.b64 %c, %c, 2;
    add.s64 %a, %a, %c;
    ld.global.u32 %v, [%a];
"""
)


def test_long_indices_have_one_way() -> None:
    """Compilers divide by 32 bits where the upper halves are zero: all lanes go that way together."""
    one, two, _ = parts(LONG + STORE.format(change="") + TAIL)
    assert [len(re.findall(r" load <32 x i32>", tried)) for tried in (one, two)] == [1, 2]
    assert "gather" not in one + two


@pytest.mark.parametrize(
    "width", [1, 16, 28, 31, 32, 40, 64, 999, 2**31, 2**31 + 9, 2**32 - 1, 2**32, 2**40, -5]
)
def test_long_indices(engine: str, width: int) -> None:
    device = shared_device(engine)
    i, pitch = np.arange(TOTAL), 70
    quotient = np.trunc(i / width).astype("i8")
    places = quotient * pitch + i - quotient * width
    room = int(np.abs(places).max()) + 1
    a = np.random.default_rng(8).integers(0, 1 << 30, 2 * room, "u4")
    there, out = device.array(a), device.zeros(TOTAL, "u4")
    source = LONG + STORE.format(change="") + TAIL
    device.load(source)["k"]((8,), (128,), (there.ptr + 4 * room, out, TOTAL, width, pitch))
    assert out.numpy().tolist() == a[room + places].tolist()


@pytest.mark.parametrize("width", [40, 64, 100])
def test_other_values_on_other_ways(engine: str, width: int) -> None:
    """What lanes bring together from two ways need not have one shape."""
    device = shared_device(engine)
    out, i = device.zeros(TOTAL, "u4"), np.arange(TOTAL)
    ways = """
    setp.lt.s32 %p, %q, 3;
    @%p bra ROW;
    mul.lo.u32 %v, %r, 5;
    bra.uni JOIN;
ROW:
    add.u32 %v, %q, 7;
JOIN:
    add.u32 %v, %v, %r;
"""
    source = HEAD + ROWS + ways + STORE.format(change="") + TAIL
    device.load(source)["k"]((8,), (128,), (device.zeros(TOTAL, "u4"), out, TOTAL, width, width))
    row, column = i // width, i % width
    assert out.numpy().tolist() == (np.where(row < 3, row + 7, 5 * column) + column).tolist()


CALLED = (
    HEAD.replace(
        ".visible .entry",
        """.func (.reg .u32 r) count(.reg .u64 p, .reg .u32 more)
{
    .reg .pred %p; .reg .u32 %n;
    atom.global.add.u32 r, [p], 1;
    setp.eq.u32 %p, more, 0;
    @%p ret;
    sub.u32 %n, more, 1;
    call (r), count, (p, %n);
    ret;
}
.visible .entry""",
    )
    + "call (%u), count, (%o, 1);"
    + ROWS
    + ROWS
    + "add.u64 %o, %o, 4;"
    + STORE.format(change="")
    + TAIL
)


@pytest.mark.parametrize("width", [5, 40, 64])
def test_calls_are_made_once(engine: str, width: int) -> None:
    """Of functions that are not put in place."""
    device = shared_device(engine)
    a, out = np.arange(100, 100 + TOTAL, dtype="u4"), device.zeros(TOTAL + 1, "u4")
    device.load(CALLED)["k"]((8,), (128,), (device.array(a), out, TOTAL, width, width))
    assert out.numpy().tolist() == [2 * TOTAL, *a.tolist()]


def test_no_trial_where_warps_wait() -> None:
    for threads in (32, 128):
        assert parts(HEAD + ROWS + "bar.sync 0;" + STORE.format(change="") + TAIL, (threads, 1, 1))[0] == ""


AFTER_A_STORE = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 values, .param .u64 marks, .param .u64 out, .param .u32 n, .param .u32 w)
{
    .reg .u32 %i, %n, %w, %q, %c, %v; .reg .u64 %a, %o; .reg .pred %p;
    mov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %c, %tid.x; mad.lo.s32 %i, %i, %n, %c;
    ld.param.u32 %n, [n]; ld.param.u32 %w, [w];
    setp.ge.s32 %p, %i, %n;
    @%p exit;
    div.s32 %q, %i, %w; mul.lo.s32 %c, %q, %w; sub.s32 %c, %i, %c;
    ld.param.u64 %o, [out]; mad.wide.s32 %o, %i, 4, %o;
    ld.param.u64 %a, [marks]; mad.wide.s32 %a, %q, 4, %a; ld.global.u32 %v, [%a]; st.global.u32 [%o], %v;
    ld.param.u64 %a, [values]; mad.wide.s32 %a, %c, 4, %a; ld.global.u32 %v, [%a]; st.global.u32 [%o], %v;
    exit;
}
"""


@pytest.mark.parametrize("width", [16, 33, 40, 100, 999])
def test_rows_are_read_after_a_store(engine: str, width: int) -> None:
    """Where a warp cannot begin again, it is not sure of its two rows, as an index may wrap."""
    device, n = shared_device(engine), 1000
    values = np.arange(n, dtype="u4") * 3
    out = device.zeros(n, "u4")
    kernel = device.load(AFTER_A_STORE)["k"]
    kernel(8, 128, (device.array(values), device.zeros(n, "u4"), out, n, width))
    np.testing.assert_array_equal(out.numpy(), values[np.arange(n) % width])


WRAPPING = """
    ld.param.u32 %t, [pitch];
    div.u32 %q, %i, %t;
    mul.lo.u32 %r, %q, %t;
    sub.u32 %r, %i, %r;
    add.u32 %r, %r, -20;
    div.u32 %u, %r, %w;
    mad.lo.u32 %t, %q, 100, %u;
    mul.wide.s32 %x, %t, 4;
    add.s64 %x, %a, %x;
    ld.global.u32 %v, [%x];
    ld.global.u32 %r, [%x+8];
    mad.lo.u32 %v, %v, 16, %r;
    mul.wide.s32 %x, %u, 4;
    add.s64 %x, %a, %x;
    ld.global.u32 %t, [%x+4];
    add.u32 %v, %v, %t;
"""


@pytest.mark.parametrize("plane", [40, 50, 77])
def test_what_is_divided_wraps_in_its_second_row(engine: str, plane: int) -> None:
    """20 numbers from where a plane begins they go on with 0."""
    device, i, width = shared_device(engine), np.arange(TOTAL), np.uint32(3_000_000_000)
    z, left = np.divmod(i, plane)
    y = (left.astype("u4") - np.uint32(20)) // width
    a = np.random.default_rng(10).integers(0, 1 << 20, 100 * (int(z.max()) + 1) + 4, "u4")
    out, source = device.zeros(TOTAL, "u4"), HEAD + WRAPPING + STORE.format(change="") + TAIL
    device.load(source)["k"]((8,), (128,), (device.array(a), out, TOTAL, width, plane))
    assert out.numpy().tolist() == (a[z * 100 + y] * 16 + a[z * 100 + y + 2] + a[y + 1]).tolist()
