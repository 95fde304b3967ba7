"""Loops whose branches are told before them stand twice, and nobody can tell. Expectations are NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.analysis.told_before import Told, loops_told_before
from simt.engine.host import host_features
from simt.engine.llvm_slots import Unit
from tests.conftest import shared_device

HEIGHT = 5
HEAD = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 out, .param .s32 w, .param .s32 h)
{
    .reg .pred %p, %q, %r, %s, %b, %more; .reg .b32 %x, %y, %i, %w, %h, %c, %l, %g, %v, %k, %sum, %o;
    .reg .b64 %a, %out, %m;
    ld.param.u64 %a, [a]; ld.param.u64 %out, [out]; ld.param.u32 %w, [w]; ld.param.u32 %h, [h];
    mov.u32 %x, %ctaid.x; mov.u32 %c, %ntid.x; mov.u32 %v, %tid.x; mad.lo.u32 %x, %x, %c, %v;
    setp.ge.s32 %b, %x, %w; @%b bra OUT;
    mov.u32 %y, 0; mov.u32 %sum, 0; mov.u32 %i, %x; sub.s32 %l, %x, 1; add.s32 %g, %x, 1;
    setp.lt.s32 %p, %l, 0; setp.ge.s32 %q, %g, %w;
    mul.wide.s32 %m, %x, 4; add.s64 %m, %a, %m; ld.global.u32 %k, [%m];
ROW:
    mul.wide.s32 %m, %i, 4; add.s64 %m, %a, %m;
    ld.global.u32 %v, [%m]; add.u32 %sum, %sum, %v;
"""
TAIL = """
NEXT:
    add.s32 %i, %i, %w; add.s32 %y, %y, 1; setp.lt.s32 %more, %y, %h; @%more bra ROW;
    mul.wide.s32 %m, %x, 4; add.s64 %m, %out, %m; st.global.u32 [%m], %sum;
OUT: ret;
}
"""
LEFT = "ld.global.u32 %v, [%m+-4]; mad.lo.u32 %sum, %v, 3, %sum;"
RIGHT = "ld.global.u32 %v, [%m+4]; mad.lo.u32 %sum, %v, 5, %sum;"
BODIES = {
    "around each": f"@%p bra L; {LEFT} L: @%q bra NEXT; {RIGHT}",
    "made in the loop": f"setp.lt.s32 %r, %l, 0; @%r bra L; {LEFT} L: setp.lt.s32 %s, %g, %w; @!%s bra NEXT; "
    f"{RIGHT}",
    "the sign of both": f"or.b32 %o, %l, %y; setp.gt.s32 %r, %o, -1; @!%p bra I; bra L; I: {LEFT} "
    f"L: @%q bra NEXT; {RIGHT}",
}
OTHERS = {
    "by the turn": "add.s32 %o, %x, %y; setp.lt.s32 %r, %o, 8; @%r bra NEXT; add.u32 %sum, %sum, 1;",
    "by memory": "setp.lt.u32 %r, %v, 8; @%r bra NEXT; add.u32 %sum, %sum, 1;",
    "by memory before": "setp.lt.u32 %r, %k, 8; @%r bra NEXT; add.u32 %sum, %sum, 1;",
    "two ways": "@%p bra L; add.u32 %sum, %sum, 1; bra NEXT; L: add.u32 %sum, %sum, 2;",
    "for all lanes": "setp.lt.s32 %r, %w, 8; @%r bra NEXT; add.u32 %sum, %sum, 1;",
    "with a barrier": "@%p bra L; add.u32 %sum, %sum, 1; L: bar.sync 0;",
    "with a shuffle": "@%p bra L; add.u32 %sum, %sum, 1; L: shfl.sync.idx.b32 %v, %v, 0, 31, -1;",
    "of a loop": "@%p bra NEXT; mov.u32 %o, 0; I:"
    " add.u32 %sum, %sum, 1; setp.lt.u32 %r, %sum, %y; @%r bra I;",
    "out of the loop": "@%p bra OUT; add.u32 %sum, %sum, 1;",
}


OTHERS = {name: f"@%q bra Z; add.u32 %sum, %sum, 3; Z: {body}" for name, body in OTHERS.items()}
OTHERS["one branch"] = "@%p bra NEXT; add.u32 %sum, %sum, 1;"


def told(body: str) -> list[Told]:
    module = shared_device("jit").load(HEAD + body + TAIL)
    unit = Unit(module.program, module.program.functions["k"], BlockShape(64, 1, 1), host_features())
    found = unit.analyse(unit.kernel)
    return loops_told_before(found.ssa, found.uniformity)


@pytest.mark.parametrize("name", BODIES)
def test_branches_by_what_turns_do_not_change(name: str) -> None:
    ((branches, asked),) = [(len(loop.ways), len(loop.tests)) for loop in told(BODIES[name])]
    assert branches == asked == 2


@pytest.mark.parametrize("name", OTHERS)
def test_other_branches(name: str) -> None:
    assert not told(OTHERS[name])


@pytest.mark.parametrize(("width", "threads"), [(200, 64), (64, 64), (45, 20), (1, 64)])
@pytest.mark.parametrize("name", BODIES)
def test_lanes_at_edges(engine: str, name: str, width: int, threads: int) -> None:
    device = shared_device(engine)
    a = np.random.default_rng(5).integers(0, 1 << 32, (HEIGHT, width), "u4")
    out = device.zeros(width, "u4")
    kernel = device.load(HEAD + BODIES[name] + TAIL)["k"]
    kernel((-(-width // threads),), (threads,), (device.array(a), out, width, HEIGHT))
    wide = np.pad(a, ((0, 0), (1, 1)))
    sums = (wide[:, 1:-1] + 3 * wide[:, :-2] + 5 * wide[:, 2:]).sum(0, dtype="u4")
    assert out.numpy().tolist() == sums.tolist()


@pytest.mark.parametrize("missing", [0, 1, 150])
def test_faults_are_those_of_the_program(missing: int) -> None:
    """A picture that ends where memory does, or some words beyond."""
    found, width = list[object](), 200
    for engine in ("jit", "interpreter"):
        device = simt.Device("sm_90", engine=engine, memory="64MiB")
        kernel = device.load(HEAD + BODIES["around each"] + TAIL)["k"]
        out = device.zeros(HEIGHT * width, "u4")
        kernel((4,), (64,), (out, out, width, 1))  # which may take memory, too
        start = device.memory.limit - 4 * (HEIGHT * width - missing)
        try:
            kernel((4,), (64,), (start, out, width, HEIGHT))
            found.append(None)
        except simt.MemoryFault as fault:
            found.append((fault.site.cta, fault.site.thread, fault.site.line, fault.address - start))
    assert found[0] == found[1]
    assert (found[0] is None) == (missing == 0)
