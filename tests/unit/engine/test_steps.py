"""Accesses whose lanes are at constant distances, in CTAs with several rows of threads in a warp: each row
begins anew. Expectations are NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.host import host_features
from simt.engine.llvm_kernel import emit
from tests.conftest import kept_for_each_way

ROWS = [(64, 2), (16, 4), (4, 3, 4), (5, 5)]
WORDS = 1024
STEPS = [-1, 3, 64]
INDICES = {
    "exact": "",
    "extended": "add.u32 %i, %i, %zero;",
    "clamped": "min.u32 %i, %i, 1000;",
}
HEAD = """
.version 7.0
.target sm_70
.address_size 64
.entry k(.param .u64 from, .param .u64 to, .param .u32 zero)
{
    .reg .u64 %from, %to, %a;
    .reg .u32 %x, %y, %z, %n, %i, %s, %v, %zero;
    .reg .pred %other;
    .shared .align 4 .b32 cells[1024];
    ld.param.u64 %from, [from];
    ld.param.u64 %to, [to];
    ld.param.u32 %zero, [zero];
    mov.u32 %x, %tid.x;
    mov.u32 %y, %tid.y;
    mov.u32 %z, %tid.z;
    mov.u32 %n, %ntid.y;
    mad.lo.u32 %y, %z, %n, %y;
"""


@kept_for_each_way
def device_for(cpu: str) -> simt.Device:
    return simt.Device("sm_90", engine="jit", memory="64MiB", cpu=cpu)


@pytest.fixture(params=["host", "x86-64-v3"])
def device(request: pytest.FixtureRequest) -> simt.Device:
    return device_for(request.param)


def indices(block: tuple[int, ...], step: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Of all threads, in their order."""
    x = np.arange(np.prod(block)) % block[0]
    return x * step + (400 if step < 0 else 7)


def index(step: int, kind: str) -> str:
    first = 400 if step < 0 else 7
    return f"mul.lo.s32 %i, %x, {step}; add.s32 %i, %i, {first}; {INDICES[kind]}"


@pytest.mark.share(3)
@pytest.mark.parametrize("kind", INDICES)
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("block", ROWS[1:], ids=str)
def test_loads(device: simt.Device, block: tuple[int, ...], step: int, kind: str) -> None:
    text = f"""{HEAD}
    {index(step, kind)}
    mul.wide.u32 %a, %i, 4;
    add.u64 %a, %a, %from;
    ld.global.u32 %v, [%a];
    mov.u32 %n, %ntid.x;
    mad.lo.u32 %i, %y, %n, %x;
    mul.wide.u32 %a, %i, 4;
    add.u64 %a, %a, %to;
    st.global.u32 [%a], %v;
    exit;
}}
"""
    given = np.random.default_rng(5).integers(0, 2**32, WORDS, dtype=np.uint32)
    out = device.zeros(int(np.prod(block)), "u4")
    device.load(text)["k"](1, block, (device.array(given), out, 0))
    assert out.numpy().tolist() == given[indices(block, step)].tolist()


@pytest.mark.share(3)
@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize("kind", INDICES)
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("block", ROWS, ids=str)
def test_stores(device: simt.Device, block: tuple[int, ...], step: int, kind: str, space: str) -> None:
    """The threads of all rows store the same; of what no thread stores to, nothing is changed."""
    if step == STEPS[-1] and block[0] > WORDS // STEPS[-1]:
        block = (16, *block[1:])
    place = {
        "global": "mul.wide.u32 %a, %i, 4; add.u64 %a, %a, %to; st.global.u32 [%a], %v;",
        "shared": "shl.b32 %i, %i, 2; mov.u32 %s, cells; add.u32 %s, %s, %i; st.shared.u32 [%s], %v;",
    }[space]
    text = f"""{HEAD}
    {index(step, kind)}
    add.u32 %v, %x, 1;
    {place}
    bar.sync 0;
    {"" if space == "global" else COPY}
    exit;
}}
"""
    out = device.zeros(WORDS, "u4")
    device.load(text)["k"](1, block, (out, out, 0))
    expected = np.zeros(WORDS, np.uint32)
    expected[indices(block, step)] = np.arange(np.prod(block)) % block[0] + 1
    assert out.numpy().tolist() == expected.tolist()


BACKWARDS = {"b8": 1, "b32": 1, "b64": 1, "v2.b64": 2, "v4.b32": 4}
"""Types of loads, and their words."""


def backwards(kind: str) -> str:
    """Thread `x` of a row reads what is `x` places before the 31st one, if it is in the first 28 columns."""
    count, word = BACKWARDS[kind], int(kind.rpartition("b")[2])
    values = ", ".join(f"%w{i}" for i in range(count))
    stores = "".join(f"st.global.b{word} [%a+{word // 8 * i}], %w{i};" for i in range(count))
    return f"""{HEAD}
    .reg .b{max(word, 16)} {values};
    {"".join(f"mov.b{max(word, 16)} %w{i}, 0;" for i in range(count))}
    not.b32 %i, %x;
    add.s32 %i, %i, 32;
    setp.lt.u32 %other, %x, 28;
    mul.wide.s32 %a, %i, {word // 8 * count};
    add.u64 %a, %a, %from;
    @%other ld.volatile.global.{kind} {values if count == 1 else f"{{{values}}}"}, [%a];
    mov.u32 %n, %ntid.x;
    mad.lo.u32 %i, %y, %n, %x;
    mul.wide.u32 %a, %i, {word // 8 * count};
    add.u64 %a, %a, %to;
    {stores}
    exit;
}}
"""


@pytest.mark.parametrize("kind", BACKWARDS)
@pytest.mark.parametrize("block", [(32, 2), *ROWS], ids=str)
def test_volatile_loads_backwards(device: simt.Device, block: tuple[int, ...], kind: str) -> None:
    """What tiles of a scan ask those before them."""
    item, threads = BACKWARDS[kind] * int(kind.rpartition("b")[2]) // 8, int(np.prod(block))
    given = np.random.default_rng(7).integers(0, 256, (32, item), dtype=np.uint8)
    out = device.zeros(threads * item, "u1")
    device.load(backwards(kind))["k"](1, block, (device.array(given), out, 0))
    x = np.arange(threads) % block[0]
    expected = np.where((x < 28)[:, None], given[31 - np.minimum(x, 28)], 0)
    assert out.numpy().tolist() == expected.ravel().tolist()


@pytest.mark.parametrize("kind", ["b64", "v4.b32"])
def test_a_vector_backwards_is_one_load(device: simt.Device, kind: str) -> None:
    program = device.load(backwards(kind)).program
    text, *_ = emit(program, program.functions["k"], BlockShape(32, 1, 1), host_features(), "nounwind")
    element = f"i{kind.rpartition('b')[2]}"
    assert text.count(f"load volatile <{32 * BACKWARDS[kind]} x {element}>") == 1


def test_what_lies_before_an_array_is_a_fault(device: simt.Device) -> None:
    """Of the lanes that run only: the last one that does is at the first word of the device's memory."""
    text = backwards("b32").replace("add.s32 %i, %i, 32;", "add.s32 %i, %i, %zero;")
    out, base = device.zeros(32, "u4"), device.memory.base
    device.load(text)["k"](1, 32, (base, out, 28))
    with pytest.raises(simt.MemoryFault):
        device.load(text)["k"](1, 32, (base, out, 27))


COPY = """
    or.b32 %i, %x, %y;
    setp.ne.u32 %other, %i, 0;
    @%other exit;
NEXT:
    mul.wide.u32 %a, %i, 4;
    add.u64 %a, %a, %to;
    mov.u32 %s, cells;
    mad.lo.u32 %s, %i, 4, %s;
    ld.shared.u32 %v, [%s];
    st.global.u32 [%a], %v;
    add.u32 %i, %i, 1;
    setp.lt.u32 %other, %i, 1024;
    @%other bra NEXT;
"""
"""What is in shared memory, by one thread."""


CHASE = f"""{HEAD}
    mov.u32 %n, %ntid.x;
    mad.lo.u32 %n, %y, %n, %x;
    mul.lo.u32 %i, %n, 17;
    and.b32 %i, %i, 255;
    mov.u32 %v, 0;
NEXT:
    mul.wide.u32 %a, %i, 4;
    add.u64 %a, %a, %from;
    ld.global.u32 %i, [%a];
    mad.lo.u32 %v, %v, 3, %x;
    setp.ne.u32 %other, %i, 0;
    @%other bra NEXT;
    mul.wide.u32 %a, %n, 4;
    add.u64 %a, %a, %to;
    st.global.u32 [%a], %v;
    exit;
}}
"""
"""The last turns are run by few lanes, one after the other."""


@pytest.mark.parametrize("block", ROWS, ids=str)
def test_lanes_alone(device: simt.Device, block: tuple[int, ...]) -> None:
    ways = np.append(np.arange(128) // 3, np.arange(127, 255)).astype(np.uint32)
    threads = int(np.prod(block))
    out = device.zeros(threads, "u4")
    device.load(CHASE)["k"](1, block, (device.array(ways), out, 0))
    expected: list[int] = []
    for thread in range(threads):
        at, total = int(ways[thread * 17 & 255]), thread % block[0]
        while at:
            at, total = int(ways[at]), (total * 3 + thread % block[0]) % 2**32
        expected.append(total)
    assert out.numpy().tolist() == expected
