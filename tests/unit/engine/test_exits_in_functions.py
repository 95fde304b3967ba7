"""Threads that end in functions that are called: they do nothing more in their callers either."""

from __future__ import annotations

import numpy as np
import pytest

import simt

HEAD = """.version 7.5
.target sm_75
.address_size 64
"""
KERNEL = """
.visible .entry k(.param .u64 out, .param .u32 limit)
{
    .reg .b64 %a, %o, %f; .reg .b32 %t, %n, %v; .reg .pred %p;
    ld.param.u64 %a, [out]; ld.param.u32 %n, [limit]; mov.u32 %t, %tid.x;
    mul.wide.u32 %o, %t, 4; add.u64 %a, %a, %o;
    st.global.u32 [%a], 1;
    CALL
    st.global.u32 [%a], %v;
    ret;
}
"""
FUNCTION = """.func (.param .b32 r) NAME (.param .b32 x, .param .b32 limit)
{
    .reg .b32 %x, %n; .reg .pred %p;
    ld.param.u32 %x, [x]; ld.param.u32 %n, [limit];
    BODY
    st.param.b32 [r], %x;
    ret;
}
"""
CALL = """{ .param .b32 x; .param .b32 l; .param .b32 r; st.param.b32 [x], %t; st.param.b32 [l], %n;
    call (r), NAME, (x, l); ld.param.b32 %v, [r]; }"""
LEAVES = "setp.lt.u32 %p, %x, %n; @%p exit; add.u32 %x, %x, 100;"
NESTED = """{ .param .b32 x; .param .b32 l; .param .b32 r; st.param.b32 [x], %x; st.param.b32 [l], %n;
    call (r), leaf, (x, l); ld.param.b32 %x, [r]; } add.u32 %x, %x, 1000;"""
DEEPER = """setp.gt.u32 %p, %x, 90; @%p bra OVER; add.u32 %x, %x, 32;
    { .param .b32 x; .param .b32 l; .param .b32 r; st.param.b32 [x], %x; st.param.b32 [l], %n;
    call (r), leaf, (x, l); ld.param.b32 %x, [r]; }
OVER: setp.lt.u32 %p, %x, %n; @%p exit; add.u32 %x, %x, 1;"""


def function(name: str, body: str) -> str:
    return FUNCTION.replace("NAME", name).replace("BODY", body)


def run(text: str, limit: int, engine: str) -> list[int]:
    """What 64 threads leave, by compiled code alone."""
    device = simt.Device("sm_90", engine=engine, workers=1, timeout=10)
    out = device.zeros(64, "u4")
    device.load(HEAD + text)["k"](1, 64, (out, np.uint32(limit)))
    assert getattr(device.engine, "reasons", {}) == {}
    return [int(v) for v in out.numpy()]


@pytest.fixture(params=["jit", "interpreter"])
def engine(request: pytest.FixtureRequest) -> str:
    return request.param


def test_in_a_function(engine: str) -> None:
    text = function("leaf", LEAVES) + KERNEL.replace("CALL", CALL.replace("NAME", "leaf"))
    assert run(text, 20, engine) == [1] * 20 + [t + 100 for t in range(20, 64)]
    assert run(text, 64, engine) == [1] * 64


def test_in_a_function_of_a_function(engine: str) -> None:
    text = function("leaf", LEAVES) + function("outer", NESTED)
    text += KERNEL.replace("CALL", 2 * CALL.replace("NAME", "outer"))
    assert run(text, 20, engine) == [1] * 20 + [t + 1100 for t in range(20, 64)]


def test_in_a_function_that_calls_itself(engine: str) -> None:
    text = function("leaf", DEEPER) + KERNEL.replace("CALL", CALL.replace("NAME", "leaf"))

    def leaf(x: int, limit: int) -> int | None:
        if x <= 90:
            inner = leaf(x + 32, limit)
            if inner is None:
                return None
            x = inner
        return None if x < limit else x + 1

    assert run(text, 100, engine) == [leaf(t, 100) or 1 for t in range(64)]


@pytest.mark.parametrize("names", [1, 6])
def test_in_one_of_several_functions_called_by_address(engine: str, names: int) -> None:
    """The others have no such way out; they are called directly, too."""
    others = "".join(function(f"other{i}", f"add.u32 %x, %x, {1000 * (i + 1)};") for i in range(names))
    taken = "".join(
        f"mov.u64 %o, other{i}; setp.eq.u32 %p, %v, {i + 1}; selp.b64 %f, %o, %f, %p;" for i in range(names)
    )
    by_address = CALL.replace("call (r), NAME, (x, l);", "call (r), %f, (x, l), KIND;")
    prototype = "KIND: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);"
    chosen = f"rem.u32 %v, %t, {names + 1}; mov.u64 %f, leaf; {taken} {prototype} {by_address}"
    direct = " mov.u32 %t, %v; " + CALL.replace("NAME", "other0")
    text = function("leaf", LEAVES) + others + KERNEL.replace("CALL", chosen + direct)
    expected = list[int]()
    for t in range(64):
        which = t % (names + 1)
        found = t + 1000 * which if which else t + 100
        expected.append(1 if not which and t < 30 else found + 1000)
    assert run(text, 30, engine) == expected


def test_beside_a_barrier(engine: str) -> None:
    """Such a function is put into its caller."""
    text = function("leaf", f"{LEAVES} bar.sync 0;") + KERNEL.replace("CALL", CALL.replace("NAME", "leaf"))
    assert run(text, 20, engine) == [1] * 20 + [t + 100 for t in range(20, 64)]
