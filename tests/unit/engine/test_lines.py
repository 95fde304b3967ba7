"""Words of shared memory at a step that is known when the kernel runs: all lanes, some of them, few; with a
first lane that does not run; near the ends of the memory. Expectations are what was given."""

from __future__ import annotations

import re

import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.host import named_cpus
from simt.engine.llvm_kernel import emit
from tests.conftest import shared_device

THREADS, WORDS = 64, 2048
BYTES = 4 * WORDS
KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 step, .param .u32 more, .param .u32 first, .param .u32 last)
{{
    .reg .u32 %t, %i, %a, %v, %w, %step, %more, %first, %last, %cells, %turn; .reg .u64 %out, %o;
    .reg .pred %p, %q, %r;
    .shared .align 16 .b8 cells[{bytes}];
    ld.param.u64 %out, [out]; ld.param.u32 %step, [step]; ld.param.u32 %more, [more];
    ld.param.u32 %first, [first]; ld.param.u32 %last, [last];
    mov.u32 %t, %tid.x; mov.u32 %cells, cells; mov.u32 %i, %t;
FILL:
    mad.lo.u32 %a, %i, 4, %cells; add.u32 %v, %i, 5; st.shared.u32 [%a], %v;
    add.u32 %i, %i, {threads}; setp.lt.u32 %q, %i, {words}; @%q bra FILL;
    bar.sync 0;
    {place}
    setp.ge.u32 %p, %t, %first; setp.le.u32 %q, %t, %last; and.pred %p, %p, %q;
    @!%p bra WAIT;
    {between}
    ld.shared.u32 %v, [%a{more}];
    mad.lo.u32 %w, %v, 3, %t;
    st.shared.u32 [%a{more}], %w;
WAIT:
    bar.sync 0;
    mov.u32 %i, %t;
DRAIN:
    mad.lo.u32 %a, %i, 4, %cells; ld.shared.u32 %v, [%a];
    mul.wide.u32 %o, %i, 4; add.u64 %o, %o, %out; st.global.u32 [%o], %v;
    add.u32 %i, %i, {threads}; setp.lt.u32 %q, %i, {words}; @%q bra DRAIN;
    ret;
}}
"""
PLACES = {
    "product": "mul.lo.u32 %i, %t, %step; shl.b32 %i, %i, 2; add.u32 %i, %i, %more; add.u32 %a, %i, %cells;",
    "of a sum": "shl.b32 %v, %step, 2; add.u32 %i, %t, 3; mad.lo.u32 %a, %i, %v, %cells;"
    "mul.lo.u32 %v, %v, 3; sub.u32 %a, %a, %v; add.u32 %a, %a, %more;",
    "two steps": "sub.u32 %v, %step, 1; mul.lo.u32 %i, %v, %t; add.u32 %i, %i, %t; mul.lo.u32 %i, %i, 4;"
    "add.u32 %a, %i, %more; add.u32 %a, %a, %cells;",
}
"""Addresses `4 * step * thread + more` behind the array's start."""
LANES = [(0, 63), (0, 31), (32, 63), (0, 0), (0, 7), (5, 5), (3, 14), (16, 31), (0, 20), (7, 40), (31, 32)]


def text(place: str = PLACES["product"], between: str = "", more: str = "") -> str:
    """`between`: code before the accesses. `place` may stand there."""
    return KERNEL.format(bytes=BYTES, words=WORDS, threads=THREADS, place=place, between=between, more=more)


def run(engine: str, source: str, step: int, more: int = 0, lanes: tuple[int, int] = (0, 63)) -> list[int]:
    device = shared_device(engine)
    out = device.zeros(WORDS, "u4")
    device.load(source)["k"](1, THREADS, (out, step % 2**32, more % 2**32, *lanes))
    return out.numpy().tolist()


def model(step: int, more: int = 0, lanes: tuple[int, int] = (0, 63)) -> list[int]:
    cells = [i + 5 for i in range(WORDS)]
    for t in range(lanes[0], lanes[1] + 1):
        place = (step * t + more // 4) % (1 << 30)
        cells[place] = 3 * (place + 5) + t
    return cells


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("step", [1, 2, 3, 4, 8, 16, 31, 32])
def test_steps(engine: str, name: str, step: int) -> None:
    for lanes in LANES:
        assert run(engine, text(PLACES[name]), step, 0, lanes) == model(step, 0, lanes)
        assert run(engine, text("", PLACES[name]), step, 8, lanes) == model(step, 8, lanes)


def test_offsets(engine: str) -> None:
    """In the instruction; the first lane's address lies before the array, and that lane does not run."""
    for step in (1, 2, 4, 6):
        for lanes in ((0, 63), (9, 12), (32, 63)):
            assert run(engine, text(more="+64"), step, 0, lanes) == model(step, 64, lanes)
        for lanes in ((8, 12), (8, 31), (32, 63)):
            assert run(engine, text(), step, -32 * step, lanes) == model(step, -32 * step, lanes)


@pytest.mark.parametrize("lanes", [(0, 63), (0, 3), (0, 19)])
def test_steps_backwards(engine: str, lanes: tuple[int, int]) -> None:
    for step in (-1, -2, -5):
        assert run(engine, text(), step, 4096, lanes) == model(step, 4096, lanes)


def test_one_place(engine: str) -> None:
    """The highest lane's word stays."""
    for lanes in ((0, 31), (0, 3), (4, 4)):
        place = 40
        expected = [i + 5 for i in range(WORDS)]
        expected[place] = 3 * expected[place] + lanes[1]
        assert run(engine, text(), 0, 4 * place, lanes) == expected


@pytest.mark.parametrize("step", [1, 2, 4, 33, 1 << 14, 1 << 20, 1 << 29])
@pytest.mark.parametrize("lanes", [(0, 31), (0, 5), (3, 17), (0, 18)])
def test_the_first_thread_beyond_the_memory(engine: str, step: int, lanes: tuple[int, int]) -> None:
    for thread in {lanes[0], lanes[0] + 1, lanes[1]}:
        more = BYTES - 4 * step * thread
        if more < 0 and -more > 4 * step * lanes[0]:
            continue  # lower lanes would be beyond, too
        with pytest.raises(simt.MemoryFault) as fault:
            run(engine, text(), step, more, lanes)
        assert (fault.value.site.thread, fault.value.address) == ((thread, 0, 0), BYTES)


def test_a_misaligned_step(engine: str) -> None:
    """Lanes 0 and 2 are aligned, the one between is not."""
    source = text(PLACES["product"].replace("shl.b32 %i, %i, 2", "shl.b32 %i, %i, 1"))
    for lanes in ((0, 2), (0, 31)):
        with pytest.raises(simt.MemoryFault) as fault:
            run(engine, source, 1, 0, lanes)
        assert (fault.value.site.thread, fault.value.address) == ((1, 0, 0), 2)


def code(source: str) -> str:
    program = shared_device("jit").load(source).program
    cpu = named_cpus()["x86-64-v4"]
    return emit(program, program.functions["k"], BlockShape(THREADS, 1, 1), cpu.features, "nounwind")[0]


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("where", ["before", "within"])
def test_scalars_tell(name: str, where: str) -> None:
    """In another block than where the product is made, too."""
    found = code(text(PLACES[name]) if where == "before" else text("", PLACES[name]))
    assert len(re.findall(r"call .*@simt\.line\.all", found)) == 2
    assert len(re.findall(r"call .*@simt\.line\.few", found)) == 2
    assert "@simt.line" not in code(text(PLACES[name].replace("%step", "%t")))
