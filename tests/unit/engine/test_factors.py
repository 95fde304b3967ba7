"""Parameters by which indices are multiplied: code is made for some numbers that launches have, and must not
be used for others."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.analysis.given import small
from tests.conftest import shared_device

CODE = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 out, .param .u32 step, .param .align 8 .b8 t[24], .param .u32 n)
{
    .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %d<10>; .reg .f32 %f;
    ld.param.u64 %d1, [x];
    ld.param.u64 %d2, [out];
    ld.param.u32 %r1, [step];
    ld.param.u64 %d3, [t+16];
    ld.param.u64 %d9, [t+8];
    ld.param.u32 %r2, [n];
    mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;
    mad.lo.s32 %r6, %r3, %r4, %r5;
    setp.ge.s32 %p, %r6, %r2;
    @%p bra END;
    mul.lo.s32 %r7, %r6, %r1;               // step: by 4 bytes
    mul.wide.s32 %d4, %r7, 4;
    mul.lo.s32 %r7, %r6, %r2;
    add.s64 %d5, %d1, %d4;
    ld.global.f32 %f, [%d5+1200];
    cvt.s64.s32 %d6, %r6;
    shl.b64 %d3, %d3, 1;                    // t[2]: by 2 bytes
    mad.lo.s64 %d7, %d6, %d3, %d2;
    add.s64 %d7, %d7, %d9;
    st.global.f32 [%d7], %f;
END:
    ret;
}
"""
STEPS = [(1, 2), (1, 2), (1, 2), (0, 2), (3, 4), (1, 6), (-1, 2), (2, 4), (1, 2), (4, 2)]
THREADS = 70


def expected(x: np.ndarray, step: int, stride: int) -> np.ndarray:
    out = np.zeros(1000, "f4")
    out[5 + np.arange(THREADS) * (stride // 2)] = x[300 + np.arange(THREADS) * step]
    return out


def arguments(
    device: simt.Device, x: np.ndarray, step: int, stride: int
) -> tuple[simt.DeviceArray, tuple[object, ...]]:
    given, out = device.array(x), device.zeros(1000, "f4")
    return out, (given, out, step, np.array([7, 20, stride], "i8").tobytes(), THREADS)


@pytest.mark.parametrize("cuts", [False, True])
def test_numbers_that_change(cuts: bool) -> None:
    """One launch after the other, with the same objects and with others; in a sequence, too."""
    device = shared_device("jit")
    kernel = device.load(CODE)["k"]
    x = np.random.default_rng(1).random(1000, "f4")
    for step, stride in STEPS:
        out, args = arguments(device, x, step, stride)
        for _ in range(4):
            kernel((2,) if cuts else (3,), (64 if cuts else 32,), args)
        np.testing.assert_array_equal(out.numpy(), expected(x, step, stride))


def test_plain_integers_that_change() -> None:
    """What takes another integer for the last launch's (`simt.engine.repeat`) does not where code is made for
    that one."""
    device = simt.Device("sm_90", engine="jit", workers=1)
    kernel = device.load(CODE.replace("ld.param.u64 %d3, [t+16]", "mov.u64 %d3, 2").replace(
        ".param .align 8 .b8 t[24]", ".param .u64 t").replace("[t+8]", "[t]"))["k"]  # fmt: skip
    x = np.random.default_rng(1).random(1000, "f4")
    given, out = device.array(x), device.zeros(1000, "f4")
    for step in [1] * 9 + [3] * 5 + [1] * 5 + [2, 0, 2, 1, 0, 5]:
        kernel((3,), (32,), (given, out, step, 20, THREADS))
        np.testing.assert_array_equal(out.numpy(), expected(x, step, 2))


def test_a_sequence_of_both() -> None:
    device = shared_device("jit")
    kernel = device.load(CODE)["k"]
    x = np.random.default_rng(1).random(1000, "f4")
    made = [(*arguments(device, x, *steps), steps) for steps in STEPS[2:6]]
    with device.capture() as sequence:
        for _, args, _ in made:
            kernel((3,), (32,), args)
    for _ in range(2):
        sequence()
        kernel((3,), (32,), made[2][1])
    for out, _, steps in made:
        np.testing.assert_array_equal(out.numpy(), expected(x, *steps))


WAYS = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out, .param .align 4 .b8 t[8])
{{
    .reg .pred %p; .reg .b32 %i, %w, %axes, %s; .reg .b64 %o, %d, %t;
    ld.param.u64 %o, [out]; mov.b64 %t, t; ld.param.u32 %axes, [%t];
    mov.u32 %i, %tid.x; mov.u32 %s, 0;
    {axes}
END:
    mul.wide.u32 %d, %i, 4; add.u64 %o, %o, %d; st.global.u32 [%o], %s;
    ret;
}}
"""
AXIS = """
    setp.eq.u32 %p, %axes, {axis}; @%p bra END;
    ld.param.u32 %w, [%t+4]; mad.lo.u32 %s, %i, %w, {axis};
"""


def test_ways() -> None:
    """How many axes something has, in a structure, with more numbers of them than code is made for."""
    device = shared_device("jit")
    kernel = device.load(WAYS.format(axes="".join(AXIS.format(axis=axis) for axis in range(6))))["k"]
    function = kernel.module.program.functions["k"]
    assert (function.ways, function.factors) == (((8, 4),), ((12, 4),))
    out = device.zeros(32, "u4")
    for axes in (2, 2, 3, 1, 0, 5, 7, 2, 4, 9, 3):
        for step in (1, 4):
            kernel((1,), (32,), (out, np.array([axes, step], "u4").tobytes()))
            last = min(axes, 6) - 1
            np.testing.assert_array_equal(
                out.numpy(), np.arange(32) * step + last if last >= 0 else np.zeros(32)
            )


@pytest.mark.parametrize(("made", "known"), [("add.u32 %r, %axes, -1; min.u32 %r, %r, 3;", True),
                                            ("and.b32 %r, %axes, 3;", False)])  # fmt: skip
def test_ways_by_what_is_made_of_a_number(made: str, known: bool) -> None:
    """As nvcc compares for sm_100; but how many turns are left over of a loop says nothing of the kind."""
    axes = [AXIS.format(axis=axis).replace("%axes", "%r") for axis in range(3)]
    text = ".reg .b32 %r; setp.eq.u32 %p, %axes, 0; @%p bra END;" + made + "".join(axes)
    function = shared_device("interpreter").load(WAYS.format(axes=text)).program.functions["k"]
    assert function.ways == (((8, 4),) if known else ())


def test_what_is_looked_at() -> None:
    """Not what is added, nor what limits an index, even if an index is multiplied by that."""
    function = shared_device("jit").load(CODE).program.functions["k"]
    assert function.factors == ((16, 4), (40, 8))
    parameters = b"".join(n.to_bytes(8, "little") for n in (1, 2, 1, 1, 1, 9, 1))
    assert small(function.factors, parameters) == (((16, 4), 1),)


OTHERS = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 t)
{{
    .reg .b32 %i, %a, %b; .reg .b64 %o, %d, %t; .shared .align 4 .b8 s[16];
    ld.param.u64 %o, [out]; mov.u32 %i, %tid.x;
    {loads}
    mad.lo.u32 %i, %i, %a, %b; mul.wide.u32 %d, %i, 4; add.u64 %o, %o, %d; st.global.u32 [%o], 1;
    ret;
}}
"""
HALVES = "ld.param.u32 %a, [t+4]; ld.param.u32 %b, [t];"
ONE_REGISTER = "mov.b64 %t, t+4; ld.param.u32 %a, [%t]; mov.b64 %t, t; ld.param.u32 %b, [%t];"


@pytest.mark.parametrize("loads", [HALVES, ONE_REGISTER])
def test_halves_of_a_number(loads: str) -> None:
    """A factor in the upper half of a number, for which others come; its address in a register that has
    another one later."""
    device = simt.Device("sm_90", engine="jit", workers=1)
    kernel, out = device.load(OTHERS.format(loads=loads))["k"], device.zeros(200, "u4")
    for step in [1] * 6 + [2] * 4 + [3, 4, 1, 2]:
        out.copy_from(np.zeros(200, "u4"))
        kernel((1,), (32,), (out, (step << 32) + 7))
        np.testing.assert_array_equal(np.flatnonzero(out.numpy()), 7 + step * np.arange(32))


def test_where_a_parameter_is_not() -> None:
    """The address of a parameter is none of shared memory."""
    device = simt.Device("sm_90", engine="jit", workers=1)
    kernel = device.load(OTHERS.format(loads="mov.b64 %t, t; ld.shared.u32 %a, [%t]; mov.u32 %b, 0;"))["k"]
    with pytest.raises(simt.MemoryFault, match="shared"):
        kernel((1,), (32,), (device.zeros(200, "u4"), 1))
