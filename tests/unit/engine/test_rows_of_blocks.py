"""Rows of an index that one block makes and others use; one word for each row; rows of rows. Expectations are
NumPy's."""

from __future__ import annotations

import re

import numpy as np
import pytest

import simt
from simt.analysis.cut_again import cut_again, divisor
from simt.analysis.schedule import schedule
from simt.analysis.shape import BlockShape
from simt.analysis.ssa import build
from simt.analysis.waiting import settle
from simt.engine.compile import attributes
from simt.engine.host import named_cpus
from simt.engine.llvm_kernel import emit
from tests.conftest import kept_for_each_way, shared_device

HEAD = """
.version 7.5
.target sm_75
.address_size 64
.entry k(.param .u64 in, .param .u64 factors, .param .u64 out, .param .s32 start, .param .s32 limit)
{
    .reg .u64 %i, %f, %o, %a; .reg .s32 %k, %q, %r, %x, %y, %n, %t, %c, %d; .reg .f64 %v, %w; .reg .pred %p;
    .shared .align 8 .b8 cells[9216];
    ld.param.u64 %i, [in];
    ld.param.u64 %f, [factors];
    ld.param.u64 %o, [out];
    ld.param.s32 %k, [start];
    ld.param.s32 %n, [limit];
    mov.u32 %t, %tid.x;
    add.s32 %k, %k, %t;
"""
TAIL = """
END:
    ret;
}
"""


def quotient(length: int, q: str = "%q", of: str = "%k", scratch: str = "%x, %y") -> str:
    """What nvcc makes of an `int` divided by a number."""
    shift = next(s for s in range(32, 64) if divisor(-(-(1 << s) // length), s, 32) == length)
    factor, (x, y) = -(-(1 << shift) // length), scratch.split(", ")
    added = f"add.s32 {x}, {x}, {of};" if factor >> 31 else ""
    number = factor - (1 << 32) if factor >> 31 else factor
    return f"""
    mul.hi.s32 {x}, {of}, {number};
    {added}
    shr.u32 {y}, {x}, 31;
    shr.s32 {x}, {x}, {shift - 32};
    add.s32 {q}, {x}, {y};
    """


def column(length: int) -> str:
    return f"mul.lo.s32 %c, %q, {length}; sub.s32 %r, %k, %c;"


WHERE_ROWS_DIFFER = """
    setp.{op}.{t} %p, {what}, %n;
    @!%p bra END;
"""
SCALED = """
    mul.wide.s32 %a, %q, 8;
    add.s64 %a, %a, %f;
    ld.global.f64 %w, [%a];
    mad.lo.s32 %y, %q, {length}, %r;
    mul.wide.s32 %a, %y, 8;
    add.s64 %a, %a, %i;
    ld.global.f64 %v, [%a];
    mul.f64 %v, %v, %w;
    mad.lo.s32 %y, %q, {pitch}, %r;
    mul.wide.s32 %a, %y, 8;
    add.s64 %a, %a, %o;
    st.global.f64 [%a], %v;
"""


def scaled(length: int, pitch: int, between: str = "") -> str:
    """`out[row * pitch + column] = in[index] * factors[row]`, behind what stands between."""
    body = SCALED.format(length=length, pitch=pitch)
    return HEAD + quotient(length) + column(length) + between + body + TAIL


@kept_for_each_way
def device_for(cpu: str) -> simt.Device:
    return simt.Device("sm_90", engine="jit", memory="64MiB", cpu=cpu)


@pytest.fixture(params=["host", "x86-64-v3"])
def device(request: pytest.FixtureRequest) -> simt.Device:
    return device_for(request.param)


LENGTHS = (11, 14, 24, 28, 30, 48, 112, 196)
COMPARED = {
    "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "eq": np.equal,
    "ne": np.not_equal,
}  # fmt: skip


@pytest.mark.share(2)
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("block", [(32, 1), (100, 1), (16, 4)], ids=str)
def test_a_word_for_each_row(device: simt.Device, block: tuple[int, int], length: int) -> None:
    text = scaled(length, length + 3)
    linear = "mov.u32 %t, %tid.y; mov.u32 %x, %ntid.x; mov.u32 %y, %tid.x; mad.lo.s32 %t, %t, %x, %y;"
    text = text.replace("mov.u32 %t, %tid.x;", linear)
    run, words, factors = device.load(text)["k"], np.arange(1.0, 2000), np.arange(3.0, 300)
    for start in (0, 7, length - 1, 3 * length + 5):
        out = device.zeros(4000, "f8")
        run(1, block, (device.array(words), device.array(factors), out, start, 0))
        expected = np.zeros(4000)
        index = np.arange(start, start + block[0] * block[1])
        row = index // length
        expected[row * (length + 3) + index % length] = words[index] * factors[row]
        assert out.numpy().tolist() == expected.tolist()


@pytest.mark.share(2)
@pytest.mark.parametrize("op", COMPARED)
@pytest.mark.parametrize("what", ["%q", "%r"], ids=["row", "column"])
@pytest.mark.parametrize("t", ["s32", "u32"])
def test_a_branch_before_the_rows_are_used(device: simt.Device, t: str, what: str, op: str) -> None:
    """All lanes go one way, or some do: `row != k`, `column < limit`, in a loop as well."""
    compare = {"gt": "hi", "ge": "hs", "lt": "lo", "le": "ls"}.get(op, op) if t == "u32" else op
    between, length = WHERE_ROWS_DIFFER.format(op=compare, t=t, what=what), 24
    again = "add.s32 %k, %k, 40; setp.lt.s32 %p, %k, 400; @%p bra AGAIN;"
    text = scaled(length, length, between).replace(HEAD, HEAD + "AGAIN:").replace("END:", f"END: {again}")
    run, words, factors = device.load(text)["k"], np.arange(1.0, 2000), np.arange(3.0, 300)
    for start, limit in ((0, 5), (0, 0), (10, 7), (3, 23), (3, 100), (5, -1)):
        out = device.zeros(4000, "f8")
        run(1, 40, (device.array(words), device.array(factors), out, start, limit))
        lanes = start + np.arange(40)
        index = np.concatenate([lane + np.arange(0, max(400 - lane, 1), 40) for lane in lanes])
        row, side = index // length, limit if t == "s32" else limit % 2**32
        index = index[COMPARED[op](row if what == "%q" else index % length, side)]
        expected = np.zeros(4000)
        expected[index] = words[index] * factors[index // length]
        assert out.numpy().tolist() == expected.tolist()


def test_an_index_that_has_gone_on_before_its_rows_are_used(device: simt.Device) -> None:
    """Its register has something else by then; the row is of what it had."""
    length, between = 24, "mov.u32 %d, %k; add.s32 %k, %k, 1000; setp.lt.s32 %p, %q, %n; @!%p bra END;"
    text = scaled(length, length + 1, between).replace("%r, %k", "%r, %k")
    run, words, factors = device.load(text)["k"], np.arange(1.0, 2000), np.arange(3.0, 300)
    out, index = device.zeros(4000, "f8"), np.arange(9, 9 + 64)
    run(1, 64, (device.array(words), device.array(factors), out, 9, 2))
    index = index[index // length < 2]
    expected = np.zeros(4000)
    expected[index + index // length] = words[index] * factors[index // length]
    assert out.numpy().tolist() == expected.tolist()


PLANES = """
    mul.wide.s32 %a, {part}, 8;
    add.s64 %a, %a, %f;
    ld.global.f64 %v, [%a];
    mul.wide.s32 %a, %t, 8;
    add.s64 %a, %a, %o;
    st.global.f64 [%a], %v;
"""


@pytest.mark.parametrize(("length", "rows"), [(28, 28), (14, 14), (24, 10), (11, 3), (48, 2), (100, 30)])
@pytest.mark.parametrize("apart", [True, False], ids=["row in its plane", "plane"])
@pytest.mark.parametrize("signed", [True, False])
def test_rows_of_rows(device: simt.Device, length: int, rows: int, apart: bool, signed: bool) -> None:
    """`i / W % H`, by a product of the row or by `rem`, and `i / (W * H)`."""
    if not apart:
        made = quotient(length) + column(length) + quotient(length * rows, "%d")
    elif signed:
        made = quotient(length) + f"rem.s32 %d, %q, {rows};"
    else:
        apart_from = f"mul.lo.s32 %d, %d, {rows}; sub.s32 %d, %q, %d;"
        made = quotient(length) + quotient(rows, "%d", "%q") + apart_from
    run = device.load(HEAD + made + PLANES.format(part="%d") + TAIL)["k"]
    factors = np.arange(3.0, 3000)
    for start in (0, length - 3, length * rows - 20, 5 * length * rows + 1):
        out, index = device.zeros(64, "f8"), np.arange(start, start + 64)
        run(1, 64, (out, device.array(factors), out, start, 0))
        part = index // length % rows if apart else index // (length * rows)
        assert out.numpy().tolist() == factors[part].tolist()


@pytest.mark.parametrize("start", [-70, -(2**31), 2**31 - 20])
@pytest.mark.parametrize("length", [24, 28])
def test_rows_of_indices_that_are_negative_or_wrap(device: simt.Device, start: int, length: int) -> None:
    """C's quotient, which is rounded towards zero. The remainder picks the word, as rows are large."""
    made = quotient(length) + column(length) + "add.s32 %r, %r, 40;" + PLANES.format(part="%r")
    run, factors = device.load(HEAD + made + TAIL)["k"], np.arange(3.0, 3000)
    out = device.zeros(64, "f8")
    run(1, 64, (out, device.array(factors), out, start, 0))
    index = [(start + lane + 2**31) % 2**32 - 2**31 for lane in range(64)]
    expected = [factors[40 + k - length * int(k / length)] for k in index]
    assert out.numpy().tolist() == expected


def test_a_limited_index_is_not_the_index(device: simt.Device) -> None:
    """Where the product needs the index added, and what is added is only mostly that."""
    made = quotient(28).replace("add.s32 %x, %x, %k;", "min.s32 %d, %k, 50; add.s32 %x, %x, %d;")
    run = device.load(HEAD + made + PLANES.format(part="%q") + TAIL)["k"]
    factors = np.arange(3.0, 3000)
    for start in (0, 20, 40):
        out = device.zeros(64, "f8")
        run(1, 64, (out, device.array(factors), out, start, 0))
        index = np.arange(start, start + 64)
        high = (index * (2454267027 - 2**32) >> 32) + np.minimum(index, 50)
        expected = (high >> 4) + (high < 0)
        assert out.numpy().tolist() == factors[expected].tolist()


@pytest.mark.parametrize(("base", "lane"), [("factors", 20), ("in", 0)])
def test_the_first_lane_of_a_row_beyond_the_memory_is_at_fault(
    device: simt.Device, base: str, lane: int
) -> None:
    text = scaled(24, 24)
    text = text if base == "in" else text.replace("%a, %q, 8;", "%a, %q, 1073741824;")
    memory = device.zeros(3000, "f8")
    beyond = memory.ptr + (1 << 40)
    given = (beyond, memory) if base == "in" else (memory, memory)
    with pytest.raises(simt.MemoryFault, match=rf"thread \({lane}, 0, 0\)"):
        device.load(text)["k"](1, 32, (*given, memory, 4, 0))


@pytest.mark.parametrize("length", [24, 28, 48])
def test_where_rows_go_on_there_is_one_vector(length: int) -> None:
    """`cells[row][column]` of an array with rows of that length; with longer ones each is a vector."""
    assert stores_of(scaled(length, length)) == 1
    assert stores_of(scaled(length, length + 1)) == (32 - 2) // length + 2
    between = WHERE_ROWS_DIFFER.format(op="ne", t="s32", what="%q")
    assert stores_of(scaled(length, length + 1, between)) == (32 - 2) // length + 2


def stores_of(text: str) -> int:
    """Vectors under masks that are stored one after the other, at most."""
    cpu, program = named_cpus()["x86-64-v4"], shared_device("jit").load(text).program
    code, _, _ = emit(program, program.functions["k"], BlockShape(32, 1, 1), cpu.features, attributes(cpu))
    parts = re.split(r"^(?=[\w.]+:$)", code, flags=re.MULTILINE)
    return max(len(re.findall(r"call .*@llvm\.masked\.store", part)) for part in parts)


def test_only_blocks_that_get_at_memory_by_rows_make_them_again() -> None:
    cta = BlockShape(32, 1, 1)

    def ops_of(text: str) -> tuple[int, int]:
        program = shared_device("jit").load(text).program
        kernel, environment = program.functions["k"], program.environment
        ssa = build(kernel, schedule(kernel))
        uniformity, _ = settle(ssa, environment, cta, program.functions)
        made = cut_again(kernel, ssa, uniformity.shapes, cta, environment)
        before, after = (sum(len(b.ops) for b in f.blocks) for f in (kernel, made))
        assert (made is kernel) == (before == after)
        return before, after

    branch = WHERE_ROWS_DIFFER.format(op="ne", t="s32", what="%q")
    before, after = ops_of(scaled(24, 24, branch))
    assert after > before
    assert len(set(ops_of(scaled(24, 24)))) == 1  # one block
    assert len(set(ops_of(scaled(300, 300, branch)))) == 1  # rows that are too long
    by_index = scaled(24, 24, branch).replace("%q, 8;", "%k, 8;").replace("%y, %q", "%y, %k")
    assert len(set(ops_of(by_index.replace("24, %r", "1, %k")))) == 1  # used by the branch alone


@pytest.mark.parametrize("op", ["rem.s32", "div.s32", "rem.u32", "div.u32"])
def test_rows_divided_by_what_all_lanes_have(device: simt.Device, op: str) -> None:
    """Zero included, by which no CPU divides; the interpreter is the judge."""
    made = f"{op} %d, %q, %n; mul.wide.s32 %a, %t, 4; add.s64 %a, %a, %o; st.global.s32 [%a], %d;"
    text = HEAD + quotient(24) + made + TAIL
    other = shared_device("interpreter")
    kernels = [(d, d.load(text)["k"]) for d in (device, other)]
    for start in (0, 5, -60, 2**31 - 20):
        for limit in (0, -1, 3, -(2**31)):
            found = list[list[int]]()
            for d, run in kernels:
                out = d.zeros(64, "i4")
                run(1, 64, (out, out, out, start, limit))
                found.append(out.numpy().tolist())
            assert found[0] == found[1]


def test_rows_that_turn_out_to_be_one() -> None:
    """Each row has one address, and all rows the same: the remainder of a division by zero has all bits."""
    text = f"""{HEAD}
    mul.hi.s32 %x, %t, 2454267027; add.s32 %x, %x, %t; shr.s32 %x, %x, 4;
    setp.eq.s32 %p, %n, 3; @!%p bra NEXT;
NEXT:
    and.b32 %x, %x, -2; mov.u32 %c, 0; rem.u32 %q, %x, %c; shr.u32 %q, %q, 23;
    mul.wide.u32 %a, %q, 8; add.s64 %a, %a, %f; ld.global.f64 %w, [%a+8];
    mul.wide.s32 %a, %t, 8; add.s64 %a, %a, %o; st.global.f64 [%a], %w;
    {TAIL}"""
    for engine in ("jit", "interpreter"):
        device = shared_device(engine)
        factors, out = device.array(np.arange(600.0)), device.zeros(5, "f8")
        device.load(text)["k"]((1,), (5,), (factors, factors, out, 0, 1000))
        assert out.numpy().tolist() == [1.0 + (2**32 - 1 >> 23)] * 5
