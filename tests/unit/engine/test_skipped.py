"""Words of a thread, each in a block behind a branch of its own: they stand twice, and nobody can tell.
Expectations are NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.compile import attributes
from simt.engine.host import SLOW_GATHERS, named_cpus
from simt.engine.llvm_kernel import emit
from simt.records import replace
from tests.conftest import shared_device

WORDS, THREADS, CTAS = 4, 96, 3
TOTAL = WORDS * THREADS * CTAS
HEAD = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 out, .param .s32 n)
{
    .reg .pred %p<5>; .reg .b32 %t, %i, %n, %c, %j<4>, %v<9>; .reg .b64 %a, %o, %x<9>, %y<9>, %z<9>;
    ld.param.u64 %a, [a]; ld.param.u64 %o, [out]; ld.param.u32 %n, [n];
    mov.u32 %t, %tid.x; mov.u32 %i, %ctaid.x; mov.u32 %c, %ntid.x;
    mad.lo.u32 %i, %i, %c, %t;
    shl.b32 %j0, %i, 2;
"""
TAIL = "OUT: ret; }"


def word(i: int, away: str, at: str = "x") -> str:
    """A word of `out` gets one of `a` added to three times its own, if its index is below `n`."""
    index = "" if i == 0 else f"add.s32 %j{i}, %j0, {i};"
    places = f"mul.wide.s32 %x{i}, %j0, 4; add.s64 %y{i}, %a, %x{i}; add.s64 %z{i}, %o, %x{i};"
    y, z = ("%y0", "%z0") if at == "once" else (f"%y{i}", f"%z{i}")
    return f"""
    {index} setp.ge.s32 %p{i}, %j{i}, %n; {places if at != "once" or i == 0 else ""}
    @%p{i} bra {away};
    ld.global.b32 %v{2 * i}, [{y}+{4 * i}]; ld.global.b32 %v{2 * i + 1}, [{z}+{4 * i}];
    mad.lo.u32 %v{2 * i}, %v{2 * i + 1}, 3, %v{2 * i}; st.global.b32 [{z}+{4 * i}], %v{2 * i};
    """


SOURCES = {
    "around each": HEAD + "".join(f"{word(i, f'L{i}')} L{i}:" for i in range(WORDS)) + TAIL,
    "one address": HEAD + "".join(f"{word(i, f'L{i}', 'once')} L{i}:" for i in range(WORDS)) + TAIL,
    "out": HEAD + "".join(word(i, "OUT") for i in range(WORDS)) + TAIL,
    "two of four": HEAD + f"{word(0, 'L0')} L0: {word(1, 'OUT').replace('[%z1+4]', '[%z1+8]')}" + TAIL,
}


def changed(name: str, a: np.ndarray, n: int) -> np.ndarray:
    out, index = np.full(TOTAL, 7, "u4"), np.arange(TOTAL)
    if name == "two of four":
        first = (index % WORDS == 0) & (index < n)
        other = (index % WORDS == 2) & (index - 1 < n)
        return np.where(first, a + 21, np.where(other, np.roll(a, 1) + 21, out)).astype("u4")
    return np.where(index < n, a + np.uint32(21), out).astype("u4")


@pytest.mark.parametrize("n", [0, 1, 128, 130, 131, TOTAL - 3, TOTAL])
@pytest.mark.parametrize("name", SOURCES)
def test_quads(engine: str, name: str, n: int) -> None:
    device = shared_device(engine)
    a = np.random.default_rng(3).integers(0, 1 << 32, TOTAL, "u4")
    out = device.array(np.full(TOTAL, 7, "u4"))
    device.load(SOURCES[name])["k"]((CTAS,), (THREADS,), (device.array(a), out, n))
    assert out.numpy().tolist() == changed(name, a, n).tolist()


@pytest.mark.parametrize("n", [380, 381])
@pytest.mark.parametrize("name", ["out"])
def test_faults_are_those_of_the_program(n: int, name: str) -> None:
    """The last words of memory, and one more than there are."""
    found = list[object]()
    for engine in ("jit", "interpreter"):
        device = simt.Device("sm_90", engine=engine, memory="64MiB")
        kernel, a = device.load(SOURCES[name])["k"], device.array(np.arange(384, dtype="u4"))
        kernel((1,), (THREADS,), (a, a, 384))
        start = device.memory.limit - 4 * 380
        try:
            kernel((1,), (THREADS,), (a, start, n))
            found.append(None)
        except simt.MemoryFault as fault:
            found.append((fault.site.thread, fault.site.line, fault.address - start))
    assert found[0] == found[1]
    assert (found[0] is None) == (n == 380)


def text_of(source: str) -> str:
    cpu = named_cpus()["x86-64-v4"]
    cpu = replace(cpu, features=cpu.features | {SLOW_GATHERS})
    program = shared_device("jit").load(source).program
    return emit(program, program.functions["k"], BlockShape(THREADS, 1, 1), cpu.features, attributes(cpu))[0]


@pytest.mark.parametrize("name", SOURCES)
def test_words_are_stored_together(name: str) -> None:
    assert "@simt.members" in text_of(SOURCES[name])


def test_only_branches_that_ask_for_indices() -> None:
    """What is loaded may be anything: most warps would go both ways."""
    loaded = SOURCES["around each"].replace(
        "setp.ge.s32 %p2, %j2", "ld.global.b32 %c, [%z0]; setp.ge.s32 %p2, %c"
    )
    assert "@simt.members" in text_of(loaded)  # the words before
    loaded = loaded.replace("setp.ge.s32 %p1, %j1", "ld.global.b32 %t, [%z0]; setp.ge.s32 %p1, %t")
    assert "@simt.members" not in text_of(loaded)
