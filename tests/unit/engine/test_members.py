"""Several words of each lane at steps, and several members of a structure: what is loaded and stored at once,
and what is asked for."""

from __future__ import annotations

import re

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
.visible .entry k(.param .u64 in, .param .u64 out)
{{
    .reg .b{held} %v<4>; .reg .b32 %t, %s; .reg .b64 %a, %b, %o; .reg .pred %p;
    .shared .align 16 .b8 box[4096];
    ld.param.u64 %a, [in]; ld.param.u64 %b, [out];
    mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, {step};
    add.u64 %a, %a, %o; add.u64 %b, %b, %o;
    mov.u32 %s, box; mad.lo.u32 %s, %t, {step}, %s;
    {body}
    ret;
}}
"""


def cpu_with(features: set[str], but: set[str] = frozenset()) -> Cpu:
    cpu = named_cpus()["x86-64-v4"]
    return replace(cpu, features=(cpu.features | features) - but)


def text_of(body: str, step: int, bits: int = 32, cpu: Cpu | None = None) -> str:
    cpu = cpu or cpu_with({SLOW_GATHERS})
    kernel = KERNEL.format(body=body, step=step, held=max(16, bits))
    program = shared_device("jit").load(kernel).program
    return emit(program, program.functions["k"], BlockShape(32, 1, 1), cpu.features, attributes(cpu))[0]


@pytest.mark.parametrize(
    ("count", "bits", "step", "word"),
    [
        (4, 32, 64, "<4 x i32>"),
        (2, 64, 48, "<2 x i64>"),
        (2, 32, 40, "i64"),
        (2, 16, 40, "i32"),
        (4, 8, 40, "i32"),
        (2, 8, 34, "i16"),
    ],
)
def test_words_of_a_lane_are_loaded_and_stored_together(count: int, bits: int, step: int, word: str) -> None:
    values = ", ".join(f"%v{i}" for i in range(count))
    body = f"ld.global.v{count}.b{bits} {{{values}}}, [%a]; st.global.v{count}.b{bits} [%b], {{{values}}};"
    by_steps = r"^define [^\n]*@simt\.(?:steps|structures)\.?\d*\([^\n]*\n(.*?)^}"
    load, store = re.findall(by_steps, text_of(body, step, bits), re.DOTALL | re.MULTILINE)
    assert re.findall(r"= load (.*?), ptr", load) == [word] * 32
    assert re.findall(rf"^  store ({re.escape(word)}) ", store, re.MULTILINE) == [word] * 32


LOAD = "ld.global.b32 %v0, [%a];"


@pytest.mark.parametrize(
    ("body", "step", "lines"),
    [
        (LOAD, 36, 0),
        (f"{LOAD} ld.global.b32 %v1, [%a+8];", 36, 18),
        (f"{LOAD} ld.global.b32 %v1, [%a+8]; ld.global.b32 %v2, [%a+4];", 64, 32),
        (f"{LOAD} ld.global.b32 %v1, [%b+8];", 64, 0),
        (f"{LOAD} ld.global.b32 %v1, [%a+8];", 68, 0),
        (f"{LOAD} st.global.b32 [%a+8], %v0;", 36, 0),
        ("ld.shared.b32 %v0, [%s]; ld.shared.b32 %v1, [%s+4];", 36, 0),
    ],
)
def test_second_members_ask_for_structures_of_later_warps(body: str, step: int, lines: int) -> None:
    """Up to a line each, in global memory."""
    assert text_of(body, step).count("call void @llvm.prefetch") == lines


STORES = " ".join(f"st.global.b32 [%b+{4 * i}], %v{i};" for i in range(3))
TOGETHER = {
    "all of 12 bytes": (12, STORES, 6, 0),
    "three of 32 bytes": (32, STORES, 0, 16),
    "two kinds": (16, "st.global.b32 [%b+8], %v0; st.global.f32 [%b], %v1;", 0, 8),
    "with arithmetic between": (12, STORES.replace("; ", "; xor.b32 %v2, %v2, 7; "), 6, 0),
}
APART = {
    "one": (12, "st.global.b32 [%b], %v0;"),
    "a load between": (12, "st.global.b32 [%b], %v0; ld.global.b32 %v1, [%a]; st.global.b32 [%b+4], %v1;"),
    "a fence between": (12, "st.global.b32 [%b], %v0; membar.gl; st.global.b32 [%b+4], %v1;"),
    "a guard": (12, "setp.eq.u32 %p, %v0, 0; st.global.b32 [%b], %v0; @%p st.global.b32 [%b+4], %v1;"),
    "two arrays": (12, "st.global.b32 [%a], %v0; st.global.b32 [%b+4], %v1;"),
    "another address": (12, "st.global.b32 [%b], %v0; add.u64 %b, %b, 4; st.global.b32 [%b], %v1;"),
    "volatile": (12, "st.volatile.global.b32 [%b], %v0; st.volatile.global.b32 [%b+4], %v1;"),
    "of two lines": (132, "st.global.b32 [%b], %v0; st.global.b32 [%b+4], %v1;"),
    "of next structures": (12, "st.global.b32 [%b], %v0; st.global.b32 [%b+12], %v1;"),
}


@pytest.mark.parametrize("name", TOGETHER)
def test_members_are_stored_together(name: str) -> None:
    """As registers, whole ones or under masks where structures have gaps, or not all lanes run."""
    step, stores, whole, masked = TOGETHER[name]
    for kind, expected in (("members", (whole, masked)), ("some.members", (0, whole + masked))):
        pattern = rf"^define [^\n]*@simt\.{kind}[^\n]*\n(.*?)^}}"
        (code,) = re.findall(pattern, text_of(stores, step), re.DOTALL | re.MULTILINE)
        assert (code.count("  store <16 x i32>"), code.count("@llvm.masked.store.v16i32")) == expected


@pytest.mark.parametrize("name", APART)
def test_stores_that_do_not_wait(name: str) -> None:
    step, stores = APART[name]
    assert "@simt.members" not in text_of(stores, step)


@pytest.mark.parametrize(
    ("cpu", "step", "are_together"),
    [
        ("x86-64-v4", 12, True),
        ("x86-64-v4", 16, True),
        ("x86-64-v3", 12, True),
        ("x86-64-v3", 16, False),  # without masks, what lies between would be written
        ("x86-64-v2", 12, False),
    ],
)
def test_only_where_registers_are_permuted(cpu: str, step: int, are_together: bool) -> None:
    assert ("@simt.members" in text_of(STORES, step, cpu=named_cpus()[cpu])) == are_together


@pytest.mark.parametrize(("bits", "members", "permutations"), [(8, 3, 9), (16, 3, 18), (8, 4, 0), (16, 2, 0)])
def test_small_members_go_to_their_places_with_avx2(bits: int, members: int, permutations: int) -> None:
    """By a permutation of bytes for each register of a member and each register that is stored; what has as
    many members as a power of two is put together by LLVM."""
    size = bits // 8
    stores = " ".join(f"st.global.b{bits} [%b+{size * i}], %v{i};" for i in range(members))
    text = text_of(stores, size * members, bits, named_cpus()["x86-64-v3"])
    assert "@simt.members" in text
    assert text.count("call <32 x i8> @llvm.x86.avx2.pshuf.b") == permutations


LAYOUTS = [
    (12, 1, 32, (0, 4, 8)),
    (12, 1, 32, (8, 0)),
    (12, 1, 32, (4, 0, 4, 8, 0)),
    (32, 1, 32, (0, 4, 8, 16)),
    (36, 1, 32, tuple(range(0, 36, 4))),
    (64, 1, 32, (60, 4, 20, 36, 0)),
    (24, 2, 32, (8, 0)),
    (40, 1, 64, (0, 32, 16)),
    (16, 1, 16, (2, 10, 14)),
    (3, 1, 8, (0, 2, 1)),
    (2, 1, 8, (1, 0)),
    (4, 1, 8, (0, 1, 2, 3)),
    (5, 1, 8, (4, 0, 1, 2, 3)),
    (6, 1, 16, (4, 0, 2)),
    (8, 1, 32, (4, 0)),
    (12, 2, 16, (0, 8, 4)),
    (16, 1, 64, (8, 0)),
    (20, 2, 8, (0, 6, 16)),
    (60, 1, 8, tuple(range(0, 60, 7))),
]
"""Bytes of a structure, words and bits of a member, and where members are, in the order of their stores."""


@pytest.mark.share(2)
@pytest.mark.parametrize("cpu", ["host", "x86-64-v4", "x86-64-v3"])
@pytest.mark.parametrize(("step", "count", "bits", "places"), LAYOUTS)
@pytest.mark.parametrize("threads", [64, 45])
def test_members_of_structures(
    cpu: str, step: int, count: int, bits: int, places: tuple[int, ...], threads: int
) -> None:
    """Each member is its thread's number times another factor; of the gaps nothing is written, nor by threads
    that do not run."""
    try:
        device = device_for(cpu)
    except simt.SimtError as reason:
        pytest.skip(str(reason))
    idle = [t for t in range(threads) if threads % 32 and t & 5 == 5]
    stores, expected = list[str](), np.full((threads, step), 0xAA, np.uint8)
    if idle:
        stores.append("and.b32 %s, %t, 5; setp.eq.u32 %p, %s, 5; @%p ret;")
    for number, place in enumerate(places):
        values = [f"%w{i}" for i in range(count)]
        for i, value in enumerate(values):
            factor = 5 * number + i + 3
            stores.append(f"mul.lo.u32 %s, %t, {factor}; cvt.u{max(16, bits)}.u32 {value}, %s;")
            words = (np.arange(threads) * factor).astype(f"<u{bits // 8}")
            at = place + i * bits // 8
            expected[:, at : at + bits // 8] = words.view(np.uint8).reshape(threads, -1)
        value = values[0] if count == 1 else f"{{{', '.join(values)}}}"
        stores.append(f"st.global.{f'v{count}.' if count > 1 else ''}b{bits} [%b+{place}], {value};")
    body = f".reg .b{max(16, bits)} %w<{count}>; {' '.join(stores)}"
    kernel = KERNEL.format(body=body, step=step, held=max(16, bits))
    out = device.array(np.full((threads, step), 0xAA, np.uint8))
    device.load(kernel)["k"](1, threads, (out, out))
    expected[idle] = 0xAA
    np.testing.assert_array_equal(out.numpy(), expected)


@kept_for_each_way
def device_for(cpu: str) -> simt.Device:
    return simt.Device("sm_90", engine="jit", cpu=cpu, memory="64MiB")


@pytest.mark.parametrize(
    ("beyond", "member", "thread"), [(4, 2, 31), (8, 1, 31), (12, 0, 31), (24, 0, 30), (384, 0, 0)]
)
def test_the_first_member_beyond_the_memory_is_at_fault(beyond: int, member: int, thread: int) -> None:
    """`beyond`: bytes of the structures that are not there. Members before the one at fault are stored."""
    device = device_for("host")
    stores = " ".join(f"add.u32 %v{i}, %t, {i + 1}; st.global.b32 [%b+{4 * i}], %v{i};" for i in range(3))
    kernel = device.load(KERNEL.format(body=stores, step=12, held=32))["k"]
    out = device.zeros(96, "u4")
    kernel(1, 32, (out, out))  # which takes memory of its own
    start = device.memory.limit + beyond - out.nbytes
    with pytest.raises(simt.MemoryFault) as fault:
        kernel(1, 32, (start, start))
    assert fault.value.site.thread == (thread, 0, 0)
    assert fault.value.address == start + 12 * thread + 4 * member


SLIDING = """
.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 first)
{{
    .reg .b32 %v, %w, %sum, %t, %s, %i, %f; .reg .b64 %a, %b, %o; .reg .pred %p;
    .shared .align 16 .b8 box[2048];
    ld.param.u64 %a, [in]; ld.param.u64 %b, [out]; ld.param.u32 %f, [first];
    mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 4; add.u64 %a, %a, %o; add.u64 %b, %b, %o;
    mov.u32 %s, box; mad.lo.u32 %s, %t, 4, %s;
    {fill}
    bar.sync 0; mov.u32 %s, box; add.u32 %s, %s, %f; mad.lo.u32 %s, %t, {step}, %s;
    mov.u32 %sum, 0; mov.u32 %i, 0;
TURN:
    {loads}
    add.u32 %s, %s, {moved}; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 3; @%p bra TURN;
    st.global.b32 [%b], %sum; ret;
}}
"""


@pytest.mark.parametrize("cpu", ["host", "x86-64-v4", "x86-64-v3"])
@pytest.mark.parametrize(
    ("step", "words", "apart"), [(16, 4, 4), (12, 3, 4), (16, 8, 4), (8, 4, 4), (20, 3, 8)]
)
@pytest.mark.parametrize("threads", [32, 64, 45])
def test_words_of_shared_memory_one_after_the_other(
    cpu: str, step: int, words: int, apart: int, threads: int
) -> None:
    """As a filter that leaves out results, or a sum of each thread's row, reads its window."""
    fill = " ".join(
        f"ld.global.b32 %v, [%a+{4 * i}]; st.shared.b32 [%s+{4 * i}], %v;"
        for i in range(0, 512 - 64, threads)
    )
    one = "ld.shared.b32 %v, [%s+{0}]; mad.lo.u32 %sum, %sum, 5, %v;"
    kernel = SLIDING.format(
        fill=fill, step=step, loads=" ".join(one.format(apart * i) for i in range(words)), moved=apart * words
    )
    given = np.random.default_rng(step + words).integers(0, 1 << 32, 512, dtype="u4")
    try:
        device = device_for(cpu)
    except simt.SimtError as reason:
        pytest.skip(str(reason))
    there, out = device.array(given), device.zeros(threads, "u4")
    device.load(kernel)["k"](1, threads, (there, out, np.uint32(8)))
    expected = np.zeros(threads, "u4")
    for i in range(3 * words):
        at = (8 + step * np.arange(threads) + apart * i) // 4
        expected = expected * np.uint32(5) + given[at]
    np.testing.assert_array_equal(out.numpy(), expected)
