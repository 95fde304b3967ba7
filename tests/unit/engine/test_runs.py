"""Lanes in a few runs of consecutive places, at addresses of which nothing is known when compiling.
Expectations are NumPy's."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.compile import attributes
from simt.engine.host import SLOW_GATHERS, Cpu, named_cpus
from simt.engine.llvm_kernel import emit
from simt.records import replace
from tests.conftest import kept_for_each_way, shared_device

KERNEL = """
.version 7.5
.target sm_75
.address_size 64
.entry k(.param .u64 places, .param .u64 memory, .param .u64 out)
{{
    .reg .u64 %p, %m, %o, %a; .reg .u32 %x, %n, %s, %zero; .reg .s32 %i; .reg .{t} %v; .reg .pred %off;
    .shared .align 8 .b8 cells[{bytes}];
    ld.param.u64 %p, [places];
    ld.param.u64 %m, [memory];
    ld.param.u64 %o, [out];
    mov.u32 %x, %tid.x;
    mul.wide.u32 %a, %x, 4;
    add.u64 %a, %a, %p;
    ld.global.s32 %i, [%a];
    mul.wide.u32 %a, %x, {size};
    add.u64 %o, %o, %a;
{first}
    setp.lt.s32 %off, %i, 0;
    @%off bra END;
    mov.u32 %n, 0;
AGAIN:
{access}
    add.u32 %n, %n, 1;
    setp.lt.u32 %off, %n, 2;
    @%off bra AGAIN;
END:
{last}
    ret;
}}
"""
LOAD = """
    mul.wide.s32 %a, %i, {size};
    add.u64 %a, %a, %m;
    ld.global.{t} %v, [%a];
    st.global.{t} [%o], %v;
"""
STORE = """
    mul.wide.s32 %a, %i, {size};
    add.u64 %a, %a, %m;
    ld.global.{t} %v, [%o];
    st.global.{t} [%a], %v;
"""
IN_SHARED = """
    ld.global.{t} %v, [%o];
    mov.u32 %s, cells;
    mad.lo.s32 %s, %i, {size}, %s;
    st.shared.{t} [%s], %v;
"""
TYPES = {"u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8", "f32": "f4", "f64": "f8"}
WORDS = 416


def split(lane: int, first: int, second: int) -> list[int]:
    """Lanes below one at one run's places, the others at another's; by the place of each run's first lane."""
    return [first + i if i < lane else second + i - lane for i in range(32)]


def of_rows(length: int, apart: int) -> list[int]:
    return [i // length * apart + i % length for i in range(32)]


def without(lanes: set[int], places: list[int]) -> list[int]:
    return [-1 if i in lanes else place for i, place in enumerate(places)]


ORDERS = {
    "two, forward": split(20, 8, 100),
    "two, back": split(9, 300, 12),
    "one lane": split(1, 50, 4),
    "last lane": split(31, 3, 2),
    "halves": split(16, 40, 200),
    "over each other": split(12, 0, 5),
    "over each other, back": split(12, 10, 3),
    "at both ends": split(13, WORDS - 13, 0),
    "some do not run": without({0, 3, 4, 17, 31}, split(20, 8, 100)),
    "only second": without(set(range(25)), split(20, 8, 100)),
    "three": of_rows(14, 36),
    "four": of_rows(9, 50),
    "eight": of_rows(4, 7),
    "eight, over each other": of_rows(4, 2),
    "sixteen": of_rows(2, 20),
    "backwards": list(range(31, -1, -1)),
    "all the same": [7] * 32,
    "none": [-1] * 32,
}


@kept_for_each_way
def device_for(cpu: str) -> simt.Device:
    return simt.Device("sm_90", engine="jit", memory="64MiB", cpu=cpu)


@pytest.fixture(params=["host", "x86-64-v3"])
def device(request: pytest.FixtureRequest) -> simt.Device:
    return device_for(request.param)


def kernel(t: str, access: str) -> str:
    size = np.dtype(TYPES[t]).itemsize
    first = last = ""
    if access == IN_SHARED:
        first = moved(t, size, "ld.global.{t} %v, [%m+{at}]; st.shared.{t} [%s+{at}], %v;")
        last = moved(t, size, "ld.shared.{t} %v, [%s+{at}]; st.global.{t} [%m+{at}], %v;")
    access = access.format(t=t, size=size)
    return KERNEL.format(t=t, size=size, bytes=WORDS * size, first=first, access=access, last=last)


def moved(t: str, size: int, each: str) -> str:
    """What is done for all words of the array in shared memory: lane by lane, 32 words on each time."""
    lines = ["mov.u32 %s, cells;", f"mad.lo.u32 %s, %x, {size}, %s;", "ld.param.u64 %m, [memory];"]
    lines += [f"mul.wide.u32 %a, %x, {size};", "add.u64 %m, %m, %a;"]
    lines += [each.format(t=t, at=32 * size * i) for i in range(WORDS // 32)]
    return "bar.sync 0;" + "\n".join(lines) + "bar.sync 0;"


def given(t: str, count: int) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
    return np.random.default_rng(3).integers(1, 250, count).astype(TYPES[t])


@pytest.mark.share(3)
@pytest.mark.parametrize("t", TYPES)
@pytest.mark.parametrize("order", ORDERS)
def test_loads(device: simt.Device, order: str, t: str) -> None:
    places, memory = np.array(ORDERS[order], np.int32), given(t, WORDS)
    out = device.zeros(32, TYPES[t])
    device.load(kernel(t, LOAD))["k"](1, 32, (device.array(places), device.array(memory), out))
    assert out.numpy().tolist() == np.where(places < 0, 0, memory[places]).tolist()


@pytest.mark.share(3)
@pytest.mark.parametrize("t", TYPES)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("access", [STORE, IN_SHARED], ids=["global", "shared"])
def test_stores(device: simt.Device, access: str, order: str, t: str) -> None:
    """The highest lane's word stays."""
    places, words, memory = np.array(ORDERS[order], np.int32), given(t, 32), device.zeros(WORDS, TYPES[t])
    device.load(kernel(t, access))["k"](1, 32, (device.array(places), memory, device.array(words)))
    expected = np.zeros(WORDS, TYPES[t])
    for place, word in zip(places, words, strict=True):
        if place >= 0:
            expected[place] = word
    assert memory.numpy().tolist() == expected.tolist()


@pytest.mark.parametrize("access", [LOAD, STORE], ids=["load", "store"])
@pytest.mark.parametrize("t", ["u8", "u32"])
def test_the_first_lane_beyond_the_memory_is_at_fault(device: simt.Device, t: str, access: str) -> None:
    """In the second run; those before it are right, those behind it do not run."""
    places = device.array(np.array(without({30, 31}, split(20, 8, 1 << 29)), np.int32))
    memory = device.zeros(WORDS, TYPES[t])
    with pytest.raises(simt.MemoryFault) as found:
        device.load(kernel(t, access))["k"](1, 32, (places, memory, memory))
    assert "thread (20, 0, 0)" in str(found.value)


@pytest.mark.parametrize("t", ["u8", "f32"])
@pytest.mark.parametrize(
    ("access", "pattern"),
    [(LOAD, r"= load <32 x "), (STORE, r"call .*@llvm\.masked\.store")],
    ids=["load", "store"],
)
def test_two_runs_are_two_vectors(t: str, access: str, pattern: str) -> None:
    """Where CPUs have masks; beside them, an access at once for consecutive lanes, and one for all others.
    Loads are ordinary ones, since CPUs do not bring what follows those under a mask."""
    found = {}
    for name in ("x86-64-v3", "x86-64-v4"):
        few = code_for_two(kernel(t, access), named_cpus()[name])
        found[name] = len(re.findall(pattern, few))
        assert "@llvm.masked.load" not in few
    assert found == {"x86-64-v3": 0, "x86-64-v4": 2}


WARPS = BlockShape(32, 1, 1)
ODD = (20, 2, 1)
"""Threads of a CTA whose rows do not fit warps: CPUs with AVX2 look for runs there."""


def in_rows(text: str) -> str:
    """A kernel in which the linear number takes the place of %tid.x."""
    return text.replace(
        "mov.u32 %x, %tid.x;", "mov.u32 %x, %tid.y; mov.u32 %n, %tid.x; mad.lo.u32 %x, %x, 20, %n;"
    )


@pytest.mark.parametrize("t", TYPES)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("access", [LOAD, STORE], ids=["load", "store"])
def test_runs_without_masks(access: str, order: str, t: str) -> None:
    """Runs are stored as pieces of memory, where lanes of one that do not run are not between others."""
    device, places = device_for("x86-64-v3"), [*ORDERS[order], *[-1] * 8]
    memory, words = given(t, WORDS), given(t, 40)
    target, out = device.array(memory), device.array(words)
    device.load(in_rows(kernel(t, access)))["k"](
        1, ODD, (device.array(np.array(places, np.int32)), target, out)
    )
    for lane, place in enumerate(places):
        if place >= 0 and access == LOAD:
            words[lane] = memory[place]
        elif place >= 0:
            memory[place] = words[lane]
    assert target.numpy().tolist() == memory.tolist()
    assert out.numpy().tolist() == words.tolist()


@pytest.mark.parametrize("t", ["u8", "u32", "f64"])
def test_runs_without_masks_are_found(t: str) -> None:
    cpu = named_cpus()["x86-64-v3"]
    assert "= load <32 x " in code_for_two(in_rows(kernel(t, LOAD)), cpu, BlockShape(*ODD))
    stored = in_rows(kernel(t, STORE))
    alone = code_for_two(stored, cpu, BlockShape(*ODD))
    assert "= load volatile <32 x " in alone
    assert "@llvm.masked" not in alone
    assert emitted(stored, cpu, BlockShape(*ODD)).count("call void @simt.store.run") == 2  # in company


def emitted(text: str, cpu: Cpu, block: BlockShape = WARPS) -> str:
    function = (program := shared_device("jit").load(text).program).functions["k"]
    return emit(program, function, block, cpu.features, attributes(cpu))[0]


def code_for_two(text: str, cpu: Cpu, block: BlockShape = WARPS) -> str:
    """What is done where lanes are in two runs."""
    found = re.search(r"^two\.\d+:$(.*?)br label", emitted(text, cpu, block), re.DOTALL | re.MULTILINE)
    return found[1] if found else ""


@pytest.mark.parametrize(("access", "asked"), [(LOAD, 0), (STORE, 2), (IN_SHARED, 0)])
def test_stores_of_two_runs_ask_for_the_lines_of_the_first(access: str, asked: int) -> None:
    """On CPUs with slow gathers, AMD's, which do not follow stores under a mask: 32 words are two lines.
    Others are asked for nothing, nor is anybody for shared memory."""
    cpu = named_cpus()["x86-64-v4"]
    slow = replace(cpu, features=cpu.features | {SLOW_GATHERS})
    assert code_for_two(kernel("u32", access), cpu).count("@llvm.prefetch") == 0
    assert code_for_two(kernel("u32", access), slow).count("@llvm.prefetch") == asked


CHAIN = """
.version 7.5
.target sm_75
.address_size 64
.entry k(.param .u64 next)
{
    .reg .u64 %n, %a; .reg .u32 %i; .reg .pred %go;
    ld.param.u64 %n, [next];
    mov.u32 %i, %tid.x;
ON:
    mul.wide.u32 %a, %i, 4;
    add.u64 %a, %a, %n;
    ld.global.u32 %i, [%a];
    setp.ne.u32 %go, %i, 0;
    @%go bra ON;
    st.global.u32 [%n], %i;
    ret;
}
"""


def test_loops_of_few_lanes_alone_do_not_look_for_runs() -> None:
    """Each lane gets at memory of its own there."""
    program, cpu = shared_device("jit").load(CHAIN).program, named_cpus()["x86-64-v4"]
    text, _, _ = emit(program, program.functions["k"], BlockShape(32, 1, 1), cpu.features, attributes(cpu))
    assert "\nalone." in text
    assert not re.search(r"^two\.", text, re.MULTILINE)


def test_loops_that_only_gather_do_not_look_for_runs() -> None:
    """The few turns of a sparse row that a compiler does apart: no lane goes through them alone."""
    kernel = Path(__file__).parents[3] / "bench" / "suite" / "kernels" / "spmv" / "kernel.ptx"
    program, cpu = shared_device("jit").load(kernel).program, named_cpus()["x86-64-v4"]
    function = program.functions["spmv"]
    text, _, _ = emit(program, function, BlockShape(256, 1, 1), cpu.features, attributes(cpu))
    assert not re.search(r"^two\.", text, re.MULTILINE)
