"""Loops that end by shared memory, with a barrier in every turn, and loops over lists that grow meanwhile."""

from __future__ import annotations

import numpy as np
import pytest

import simt

HEAD = """.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
    .reg .b64 %in, %out, %a; .reg .b32 %t, %v, %w, %n, %i, %at; .reg .pred %p, %q;
    .shared .align 4 .b32 flag; .shared .align 4 .b8 list[2048];
    mov.u32 %t, %tid.x; ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
    mul.wide.u32 %a, %t, 4; add.u64 %in, %in, %a; add.u64 %out, %out, %a;
    st.volatile.shared.u32 [flag], 0; mov.u32 %n, 0; bar.sync 0;
"""
# One thread comes to a barrier of its own, and lets the others out of their loop; then it is gone.
LEAVES = """
    setp.ne.u32 %p, %t, 5; @%p bra TURN;
    bar.sync 0; st.volatile.shared.u32 [flag], 1; mov.u32 %n, 77; bra END;
TURN:
    bar.sync 0; ld.volatile.shared.u32 %v, [flag]; add.u32 %n, %n, 1;
    setp.eq.u32 %p, %v, 0; @%p bra TURN;
"""
BEHIND = """
    setp.eq.u32 %p, %t, 5; @%p bra OTHER;
TURN:
    bar.sync 0; ld.volatile.shared.u32 %v, [flag]; add.u32 %n, %n, 1;
    setp.eq.u32 %p, %v, 0; @%p bra TURN;
    bra END;
OTHER:
    bar.sync 0; st.volatile.shared.u32 [flag], 1; mov.u32 %n, 77;
"""
# Each thread leaves when the CTA has counted as far as its number; thread 0 counts, and stays to the end.
DEGREES = """
TURN:
    setp.ne.u32 %q, %t, 0; @%q bra WAIT;
    ld.shared.u32 %v, [flag]; add.u32 %v, %v, 1; st.volatile.shared.u32 [flag], %v;
WAIT:
    bar.sync 0; ld.volatile.shared.u32 %v, [flag]; bar.sync 0; add.u32 %n, %n, 1;
    ld.global.u32 %w, [%in]; setp.lt.u32 %p, %v, %w; @%p bra TURN;
"""
# Threads put what they find into a list that all of them go through: halves of numbers, down to 1. Which one
# puts it where is open; how often each number is there is not.
LIST = """
    ld.global.u32 %w, [%in]; mov.u32 %at, list;
PUT:
    atom.shared.add.u32 %i, [flag], 1; mad.lo.u32 %i, %i, 4, %at; st.shared.u32 [%i], %w; bar.sync 0;
    mov.u32 %i, %t; mov.u32 %n, 0;
NEXT:
    mad.lo.u32 %v, %i, 4, %at; ld.shared.u32 %v, [%v]; add.u32 %n, %n, %v;
    mov.u32 %v, %ntid.x; add.u32 %i, %i, %v; ld.volatile.shared.u32 %v, [flag];
    setp.lt.u32 %p, %i, %v; @%p bra NEXT;
    bar.sync 0; shr.u32 %w, %w, 1; setp.ne.u32 %p, %w, 0;
    bar.red.or.pred %p, 0, %p; @%p bra PUT;
"""
TAIL = """
END:
    st.global.u32 [%out], %n; ret;
}
"""


@pytest.fixture(params=[32, 64, 96])
def threads(request: pytest.FixtureRequest) -> int:
    return int(request.param)


def run(engine: str, body: str, words: np.ndarray) -> list[int]:
    device = simt.Device("sm_90", engine=engine, memory="64MiB", timeout=20)
    out = device.zeros(len(words), "u4")
    device.load(HEAD + body + TAIL)["k"](1, len(words), (device.array(words), out))
    return [int(v) for v in out.numpy()]


@pytest.mark.parametrize("body", [LEAVES, BEHIND])
def test_a_thread_that_leaves_first(engine: str, body: str, threads: int) -> None:
    found = run(engine, body, np.zeros(threads, "u4"))
    assert found[5] == 77
    assert set(found[:5] + found[6:]) <= {1, 2}


def test_threads_that_leave_by_degrees(engine: str, threads: int) -> None:
    limits = 1 + np.arange(threads, dtype="u4")[::-1] // 3
    assert run(engine, DEGREES, limits) == limits.tolist()


def test_a_list_that_grows(engine: str, threads: int) -> None:
    words = np.full(threads, 4, "u4")
    found = run(engine, LIST, words)
    assert sum(found) == threads * (4 + 2 + 1)
