"""Accesses of a thread's few words, each under a guard of its own, as Triton writes them: they stand twice,
and nobody can tell. Expectations are NumPy's."""

from __future__ import annotations

import re

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.compile import attributes
from simt.engine.host import named_cpus
from simt.engine.llvm_kernel import emit
from tests.conftest import shared_device
from tests.unit.engine.arrays import words_at_the_end

WORDS, THREADS, CTAS = 4, 96, 3
TOTAL = WORDS * THREADS * CTAS
HEAD = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 out, .param .s32 n)
{
    .reg .pred %p<4>; .reg .b32 %t, %i, %n, %j<4>, %v<4>; .reg .b64 %a, %o, %x;
    ld.param.u64 %a, [a]; ld.param.u64 %o, [out]; ld.param.u32 %n, [n];
    mov.u32 %t, %tid.x; mov.u32 %i, %ctaid.x; mov.u32 %j0, %ntid.x;
    mad.lo.u32 %i, %i, %j0, %t;
    shl.b32 %j0, %i, 2; or.b32 %j1, %j0, 1; or.b32 %j2, %j0, 2; or.b32 %j3, %j0, 3;
    mul.wide.u32 %x, %j0, 4;
    add.s64 %a, %a, %x; add.s64 %o, %o, %x;
"""
GUARDS = " ".join(f"setp.lt.s32 %p{i}, %j{i}, %n;" for i in range(WORDS))
TAIL = "ret; }"


def loads(order: tuple[int, ...] = (0, 1, 2, 3), none: int = 9) -> str:
    return " ".join(f"mov.b32 %v{i}, {none}; @%p{i} ld.global.b32 %v{i}, [%a+{4 * i}];" for i in order)


def stores(order: tuple[int, ...] = (0, 1, 2, 3)) -> str:
    return " ".join(f"@%p{i} st.global.b32 [%o+{4 * i}], %v{i};" for i in order)


CHANGE = " ".join(f"mad.lo.u32 %v{i}, %v{i}, 3, {i};" for i in range(WORDS))
COPY = HEAD + GUARDS + loads() + CHANGE + stores() + TAIL


def text_of(source: str) -> str:
    cpu = named_cpus()["x86-64-v4"]
    program = shared_device("jit").load(source).program
    return emit(program, program.functions["k"], BlockShape(THREADS, 1, 1), cpu.features, attributes(cpu))[0]


def changed(a: np.ndarray, n: int) -> np.ndarray:
    values = a * np.uint32(3) + (np.arange(TOTAL) % WORDS).astype("u4")
    return np.where(np.arange(TOTAL) < n, values, 7).astype("u4")


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 1, 0, 2)])
@pytest.mark.parametrize("n", [0, 1, 127, 128, 130, 131, 500, TOTAL - 3, TOTAL, -5])
def test_quads(engine: str, n: int, order: tuple[int, ...]) -> None:
    device = shared_device(engine)
    a = np.random.default_rng(3).integers(0, 1 << 32, TOTAL, "u4")
    out = device.array(np.full(TOTAL, 7, "u4"))
    source = HEAD + GUARDS + loads(order) + CHANGE + stores(order) + TAIL
    device.load(source)["k"]((CTAS,), (THREADS,), (device.array(a), out, n))
    assert out.numpy().tolist() == changed(a, n).tolist()


def test_quads_have_members() -> None:
    text = text_of(COPY)
    assert "@simt.members" in text
    assert len(re.findall(r"call i1 @simt\.(?:load|store)\.4", text)) >= 2 * WORDS


def test_only_guards_of_indices() -> None:
    """What is loaded may be anything: most warps would go through the code as it was."""
    values = " ".join(f"ld.global.b32 %v{i}, [%o+{4 * i}]; setp.lt.s32 %p{i}, %v{i}, %n;" for i in range(4))
    assert "@simt.members" not in text_of(HEAD + values + stores() + TAIL)


def test_guards_that_are_made_between() -> None:
    """The second guard is what the first access loads."""
    device, a = shared_device("jit"), np.random.default_rng(4).integers(-9, 9, TOTAL, "i4")
    between = "setp.lt.s32 %p0, %j0, %n; @%p0 ld.global.b32 %v0, [%a]; setp.gt.s32 %p1, %v0, 0;"
    source = f"{HEAD} mov.b32 %v0, 0; mov.b32 %v1, 5; {between} @%p1 ld.global.b32 %v1, [%a+4];"
    out = device.array(np.full(TOTAL, 7, "i4"))
    arguments = (device.array(a), out, TOTAL - 90)
    device.load(source + "st.global.b32 [%o], %v1;" + TAIL)["k"]((CTAS,), (THREADS,), arguments)
    firsts = np.where(np.arange(0, TOTAL, 4) < TOTAL - 90, a[::4], 0)
    assert out.numpy()[::4].tolist() == np.where(firsts > 0, a[1::4], 5).tolist()


def test_guards_that_are_written_between() -> None:
    """An access's predicate is another one's, when something else is guarded by it."""
    device, n = shared_device("jit"), TOTAL - 90
    between = "mov.b32 %v2, 0; setp.lt.s32 %p2, %j0, 8; @%p0 ld.global.b32 %v0, [%a]; mov.pred %p0, %p2;"
    guarded = f"{between} @%p0 mov.b32 %v2, 70; @%p1 ld.global.b32 %v1, [%a+4];"
    source = f"{HEAD}{GUARDS} mov.b32 %v0, 1; mov.b32 %v1, 2; {guarded} add.u32 %v0, %v0, %v1;"
    a, out = np.arange(TOTAL, dtype="u4"), device.zeros(TOTAL, "u4")
    stored = "add.u32 %v0, %v0, %v2; st.global.b32 [%o], %v0;"
    device.load(source + stored + TAIL)["k"]((CTAS,), (THREADS,), (device.array(a), out, n))
    first = np.arange(0, TOTAL, WORDS)
    loaded = np.where(first < n, first, 1) + np.where(first + 1 < n, first + 1, 2)
    assert out.numpy()[::WORDS].tolist() == (loaded + np.where(first < 8, 70, 0)).tolist()


@pytest.mark.parametrize("beyond", [1, 2, 6, 127])
def test_faults_are_the_programs(engine: str, beyond: int) -> None:
    """The first access of which a word lies beyond the memory, by the program's order."""
    device = simt.Device("sm_90", engine=engine, memory="16MiB", workers=1)
    out, a = device.zeros(TOTAL, "u4"), words_at_the_end(device, np.uint32(5))
    start = a.ptr + a.nbytes - 4 * (WORDS * 32 - beyond)
    with pytest.raises(simt.MemoryFault) as fault:
        device.load(COPY)["k"]((1,), (32,), (start, out, TOTAL))
    missing = np.arange(WORDS * 32 - beyond, WORDS * 32)
    word = min(missing % WORDS)
    lane = min(m for m in missing if m % WORDS == word) // WORDS
    assert fault.value.site.thread == (lane, 0, 0)
    assert fault.value.address == start + 4 * (WORDS * lane + word)


MEMBERS = """
    .reg .b64 %s; .reg .b32 %k;
    mul.wide.u32 %s, %i, {step}; ld.param.u64 %a, [a]; add.s64 %a, %a, %s;
    setp.lt.s32 %p0, %i, %n;
    @!%p0 bra END;
    {body}
END:
"""


@pytest.mark.parametrize("n", [THREADS * CTAS, 70])
@pytest.mark.parametrize(
    ("step", "places"),
    [
        (8, (0, 4)),
        (12, (0, 4, 8)),
        (12, (8, 0)),
        (16, (4, 12, 0, 8)),
        (40, (36, 0, 4, 20, 32, 8)),
        (64, (60, 52)),
    ],
)
def test_members_are_loaded_together(engine: str, step: int, places: tuple[int, ...], n: int) -> None:
    device = shared_device(engine)
    a = np.random.default_rng(5).integers(0, 1 << 32, (THREADS * CTAS, step // 4), "u4")
    lines = [f"ld.global.b32 %k, [%a+{place}]; mad.lo.u32 %v0, %v0, 5, %k;" for place in places]
    body = f"mov.b32 %v0, 1; {' '.join(lines)} st.global.b32 [%o], %v0;"
    out = device.zeros(TOTAL, "u4")
    source = HEAD + MEMBERS.format(step=step, body=body) + TAIL
    device.load(source)["k"]((CTAS,), (THREADS,), (device.array(a), out, n))
    expected = np.ones(len(a), "u4")
    for place in places:
        expected = expected * np.uint32(5) + a[:, place // 4]
    assert out.numpy()[::4].tolist() == np.where(np.arange(len(a)) < n, expected, 0).tolist()


def test_a_store_between_changes_what_is_loaded(engine: str) -> None:
    device = shared_device(engine)
    body = "ld.global.b32 %v0, [%a]; st.global.b32 [%a+4], %v0; ld.global.b32 %v1, [%a+4];"
    body += " st.global.b32 [%o], %v1;"
    a = np.random.default_rng(6).integers(0, 1 << 32, (THREADS * CTAS, 2), "u4")
    out = device.zeros(TOTAL, "u4")
    source = HEAD + MEMBERS.format(step=8, body=body) + TAIL
    device.load(source)["k"]((CTAS,), (THREADS,), (device.array(a), out, len(a)))
    assert out.numpy()[::4].tolist() == a[:, 0].tolist()


def test_registers_of_three_members_are_loaded_once() -> None:
    body = "ld.global.b32 %v0, [%a]; ld.global.b32 %v1, [%a+4]; ld.global.b32 %v2, [{}+8];"
    three, two = (text_of(HEAD + MEMBERS.format(step=12, body=body.format(a)) + TAIL) for a in ("%a", "%o"))
    assert re.search(r"store i1 true, ptr", three)
    assert not re.search(r"store i1 true, ptr", two)


COMPARED = {"lt": np.less, "ge": np.greater_equal, "ne": np.not_equal, "le": np.less_equal}


@pytest.mark.parametrize("seed", range(12))
def test_random_guards(engine: str, seed: int) -> None:
    """Words of structures of 32 bytes, in any order, each under a comparison of its own."""
    device, random = shared_device(engine), np.random.default_rng(seed)
    count = THREADS * CTAS
    a, i = random.integers(0, 1 << 32, (count, 8), "u4"), np.arange(count)
    out, n = np.zeros((count, 8), "u4"), int(random.integers(0, count))
    lines, total = list[str](), np.full(count, 1, "u4")
    for turn in range(3):
        places = random.permutation(8)[: random.integers(2, 5)]
        compares = random.choice([*COMPARED], len(places), p=[0.7, 0.1, 0.1, 0.1])
        extra = random.integers(0, 40, len(places))
        for word, (name, more) in enumerate(zip(compares, extra, strict=True)):
            lines.append(f"add.s32 %j{word}, %i, {more}; setp.{name}.s32 %p{word}, %j{word}, %n;")
        for word, place in enumerate(places):
            holds = COMPARED[compares[word]](i + extra[word], n)
            if turn == 1:
                lines.append(f"@%p{word} st.global.b32 [%o+{4 * place}], %k;")
                out[holds, place] = total[holds]
            else:
                lines.append(f"mov.b32 %v0, 7; @%p{word} ld.global.b32 %v0, [%a+{4 * place}];")
                lines.append("mad.lo.u32 %k, %k, 5, %v0;")
                total = total * np.uint32(5) + np.where(holds, a[:, place], 7).astype("u4")
    move = "mul.wide.u32 %x, %i, 32; ld.param.u64 %a, [a]; add.s64 %a, %a, %x;"
    move += "ld.param.u64 %o, [out]; add.s64 %o, %o, %x; .reg .b32 %k; mov.b32 %k, 1;"
    found, given = device.zeros(out.shape, "u4"), device.array(a)
    source = HEAD + move + "\n".join(lines) + "st.global.b32 [%o+28], %k;" + TAIL
    device.load(source)["k"]((CTAS,), (THREADS,), (given, found, n))
    out[:, 7] = total
    assert found.numpy().tolist() == out.tolist()
