"""Branches around a few instructions become choices; expectations are the interpreter's."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.analysis.chosen import with_choices
from simt.analysis.lower_forms import CHOSEN
from simt.analysis.program import Op
from simt.analysis.shape import BlockShape
from simt.engine.host import host_features
from simt.engine.llvm_slots import Unit
from tests.conftest import shared_device

THREADS, TURNS = 72, 5
HEAD = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 m)
{{
    .reg .pred %p, %q, %more; .reg .b32 %t, %a, %b, %c, %n, %none; .reg .b64 %m, %w; .reg .f32 %x, %y;
    ld.param.u64 %m, [m]; setp.eq.u64 %p, %m, 0; mov.u32 %t, %tid.x;
    mad.wide.u32 %m, %t, 16, %m; mov.u32 %n, 0;
    ld.global.v2.u32 {{%a, %b}}, [%m]; ld.global.v2.f32 {{%x, %y}}, [%m+8]; setp.lt.u32 %q, %a, %b;
TURN:
    and.b32 %c, %a, 5; setp.ne.u32 %p, %c, 0;
    {body}
DONE:
    add.u32 %n, %n, 1; setp.lt.u32 %more, %n, {turns}; @%more bra TURN;
    @%q add.u32 %a, %a, 1;
    @%p add.u32 %a, %a, 2;
    st.global.v2.u32 [%m], {{%a, %b}}; st.global.v2.f32 [%m+8], {{%x, %y}};
    ret;
}}
"""
CHOSEN_BODIES = {
    "both ways": "@%p bra A; mad.lo.u32 %a, %a, 3, 1; xor.b32 %b, %b, %a; bra DONE; A: shr.u32 %a, %a, 1;",
    "one way": "@!%p bra DONE; add.u32 %b, %b, %a; mul.lo.u32 %a, %b, 7;",
    "the other": "@%p bra DONE; sub.u32 %a, %b, %a; setp.gt.s32 %q, %a, 0;",
    "exchanged": "@%p bra A; mov.u32 %c, %a; mov.u32 %a, %b; mov.u32 %b, %c; bra DONE; A: add.u32 %a, %a, 9;",
    "its own predicate": "@%p bra A; setp.lt.u32 %p, %b, %a; add.u32 %a, %a, 3; bra DONE;"
    "A: add.u32 %b, %b, 1;",
    "never written": "@%p bra A; add.u32 %a, %a, %none; bra DONE; A: mov.u32 %none, %b; shr.u32 %a, %a, 1;",
    "on to the next turn": "add.u32 %n, %n, 1; setp.gt.u32 %more, %n, 4; @%more bra DONE; @%p bra A;"
    "not.b32 %a, %a; bra TURN; A: add.u32 %a, %a, %n; bra TURN;",
    "floats": "@%p bra A; fma.rn.f32 %x, %y, %x, %x; add.u32 %a, %a, 1; bra DONE; A: max.f32 %y, %x, %y;"
    "add.u32 %a, %a, 3;",
}  # fmt: skip
OTHER_BODIES = {
    "stores": "@%p bra DONE; add.u32 %a, %a, 1; st.global.u32 [%m], %a;",
    "divides": "@%p bra DONE; add.u32 %b, %b, 1; div.u32 %a, %a, %b;",
    "guarded": "@%p bra DONE; add.u32 %a, %a, 1; @%q add.u32 %b, %b, 1;",
    "by an index": "setp.lt.u32 %p, %t, 9; @%p bra DONE; add.u32 %a, %a, 1;",
    "for all lanes": "setp.lt.u32 %p, %n, 2; @%p bra DONE; add.u32 %a, %a, 1;",
}


def source(body: str) -> str:
    return HEAD.format(body=body, turns=TURNS)


def choices(text: str) -> int:
    module = shared_device("jit").load(text)
    program, kernel = module.program, module.program.functions["k"]
    unit = Unit(program, kernel, BlockShape(THREADS, 1, 1), host_features())
    found = unit.analyse(kernel)
    made = with_choices(kernel, found.ssa, found.uniformity, program.environment)
    return sum(isinstance(op, Op) and op.form is CHOSEN for op in made.ops())


@pytest.mark.parametrize("name", CHOSEN_BODIES)
def test_lanes_get_what_their_way_gives(name: str) -> None:
    text = source(CHOSEN_BODIES[name])
    assert choices(text) > 0
    random = np.random.default_rng(3)
    words = random.integers(1 << 32, size=(THREADS, 4), dtype=np.uint64).astype(np.uint32)
    words[:, 2:] = random.normal(size=(THREADS, 2)).astype(np.float32).view(np.uint32)
    found = list[np.ndarray]()
    for engine in ("interpreter", "jit"):
        device = shared_device(engine)
        array: simt.DeviceArray = device.array(words)
        device.load(text)["k"]((1,), (THREADS,), (array,))
        found.append(array.numpy().copy())
    assert np.array_equal(*found)


@pytest.mark.parametrize("name", OTHER_BODIES)
def test_other_branches_stay(name: str) -> None:
    assert choices(source(OTHER_BODIES[name])) == 0
