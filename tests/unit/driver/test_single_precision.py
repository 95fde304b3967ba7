"""`map_f64_to_f32` (PTX 1.4 table 107): on devices of that time, arithmetic of .f64 is that of .f32."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import simt

INSTRUCTIONS: dict[str, Any] = {
    "add.f64 %d3, %d0, %d1;": lambda a, b, c: a + b,
    "sub.rn.f64 %d3, %d0, %d1;": lambda a, b, c: a - b,
    "mul.f64 %d3, %d0, %d1;": lambda a, b, c: a * b,
    "abs.f64 %d3, %d0;": lambda a, b, c: abs(a),
    "neg.f64 %d3, %d0;": lambda a, b, c: -a,
    "min.f64 %d3, %d0, %d1;": lambda a, b, c: np.minimum(a, b),
    "max.f64 %d3, %d0, %d1;": lambda a, b, c: np.maximum(a, b),
    "mov.f64 %d3, %d0;": lambda a, b, c: a,
    "mov.f64 %d3, 0.1;": lambda a, b, c: np.float32(0.1),
    "add.f64 %d3, %d0, 0d3FB999999999999A;": lambda a, b, c: a + np.float32(0.1),
    "setp.lt.f64 %p, %d0, %d1; selp.f64 %d3, %d0, %d1, %p;": lambda a, b, c: np.where(a < b, a, b),
    "set.lt.u32.f64 %r0, %d0, %d1; cvt.rn.f64.u32 %d3, %r0;": lambda a, b, c: np.where(
        a < b, np.float32(2**32), np.float32(0)
    ),
    "cvt.rzi.s32.f64 %s0, %d0; cvt.rn.f64.s32 %d3, %s0;": lambda a, b, c: np.trunc(a),
    "cvt.rn.f32.f64 %f0, %d0; cvt.f64.f32 %d3, %f0;": lambda a, b, c: a,
    "cvt.rmi.f64.f64 %d3, %d0;": lambda a, b, c: np.floor(a),
    "call (%d3), product, (%d0, %d1);": lambda a, b, c: a * b,
}
"""What an instruction does to its operands, as .f32."""
APPROXIMATE: dict[str, Any] = {
    "div.rn.f64 %d3, %d0, %d1;": lambda a, b, c: a / b,
    "rcp.rn.f64 %d3, %d1;": lambda a, b, c: 1 / b,
    "sqrt.rn.f64 %d3, %d2;": lambda a, b, c: np.sqrt(c),
    "rsqrt.approx.f64 %d3, %d2;": lambda a, b, c: 1 / np.sqrt(c),
    "mad.rn.f64 %d3, %d0, %d1, %d2;": lambda a, b, c: a * b + c,
    "fma.rn.f64 %d3, %d0, %d1, %d2;": lambda a, b, c: a * b + c,
}
"""Those that single precision has only approximately, or with a truncated product (table 42)."""

KERNEL = """
.version 1.4
.target sm_10, map_f64_to_f32
.func (.reg .f64 %r) product (.reg .f64 %a, .reg .f64 %b) {{ mul.f64 %r, %a, %b; ret; }}
.entry k (.param .u32 in, .param .u32 out)
{{
    .reg .u32 %i, %in, %out, %r0; .reg .f64 %d<4>; .reg .pred %p; .reg .s32 %s0; .reg .f32 %f0;
    cvt.u32.u16 %i, %tid.x;
    ld.param.u32 %in, [in];
    mul.lo.u32 %r0, %i, 24;
    add.u32 %in, %in, %r0;
    ld.param.u32 %out, [out];
    mul.lo.u32 %r0, %i, 8;
    add.u32 %out, %out, %r0;
    ld.global.f64 %d0, [%in];
    ld.global.f64 %d1, [%in+8];
    ld.global.f64 %d2, [%in+16];
    {}
    st.global.f64 [%out], %d3;
    exit;
}}
"""
LANES = 40


def operands() -> np.ndarray[Any, np.dtype[np.float32]]:
    random = np.random.default_rng(1)
    found = random.normal(size=(LANES, 3)).astype("f4") * 100
    found[:, 2] = np.abs(found[:, 2])
    return found


def computed(device: simt.Device, instruction: str) -> np.ndarray[Any, np.dtype[np.float32]]:
    """The lower halves of the results; the upper ones must be zero unless all 64 bits were moved."""
    rows = np.full((LANES, 3, 2), 0x7FF01234, "u4")  # in the upper halves, what nobody may look at
    rows[:, :, 0] = operands().view("u4")
    out = device.zeros((LANES, 2), "u4")
    device.load(KERNEL.format(instruction))["k"](1, LANES, (device.array(rows), out))
    if not instruction.startswith("mov"):
        np.testing.assert_array_equal(out.numpy()[:, 1], 0)
    return np.ascontiguousarray(out.numpy()[:, 0]).view("f4")


@pytest.fixture
def old(engine: str) -> simt.Device:
    return simt.Device("sm_10", engine=engine, memory="16MiB", timeout=20)


@pytest.mark.parametrize("instruction", INSTRUCTIONS)
def test_exact(old: simt.Device, instruction: str) -> None:
    wanted = INSTRUCTIONS[instruction](*operands().T)
    np.testing.assert_array_equal(computed(old, instruction), np.broadcast_to(wanted, LANES))


@pytest.mark.parametrize("instruction", APPROXIMATE)
def test_approximate(old: simt.Device, instruction: str) -> None:
    """Within 2 ulp of the terms' magnitude; and not double precision, which would give other bits."""
    a, b, c = operands().T.astype("f8")
    wanted = APPROXIMATE[instruction](a, b, c)
    magnitude = np.maximum(np.abs(wanted), np.abs(a * b)) if instruction[1:3] in ("ad", "ma") else wanted
    assert (np.abs(computed(old, instruction) - wanted) <= 2**-21 * np.abs(magnitude)).all()


SCALARS = """
.version 1.4
.target sm_11, map_f64_to_f32
.const .f64 factors[2] = { 0.1, 0d4000000000000000 };
.entry k (.param .f64 x, .param .u32 out, .param .f64 y)
{
    .reg .u32 %o; .reg .f64 %d<3>;
    ld.param.u32 %o, [out];
    ld.param.f64 %d0, [x];
    ld.const.f64 %d1, [factors];
    mul.f64 %d0, %d0, %d1;
    ld.param.f64 %d2, [y];
    ld.const.f64 %d1, [factors+8];
    mul.f64 %d2, %d2, %d1;
    add.f64 %d0, %d0, %d2;
    st.global.f64 [%o], %d0;
    exit;
}
"""


@pytest.mark.parametrize("numbers", [(3, 0.7), (np.float64(3), np.float64(0.7))])
def test_parameters_and_initial_values_are_of_single_precision(engine: str, numbers: tuple[Any, Any]) -> None:
    """As CUDA's cudaSetDoubleForDevice made them."""
    device = simt.Device("sm_11", engine=engine, memory="16MiB", timeout=20)
    out = device.zeros(2, "f4")
    module = device.load(SCALARS)
    module["k"](1, 1, (numbers[0], out, numbers[1]))
    wanted = np.float32(3) * np.float32(0.1) + np.float32(0.7) * np.float32(2)
    np.testing.assert_array_equal(out.numpy(), [wanted, 0])
    with pytest.raises(simt.LaunchError, match=r"too large for \.f32"):
        module["k"](1, 1, (1e300, out, 0.5))


@pytest.mark.parametrize("arch", ["sm_20", "sm_90"])
def test_newer_devices_pass_over_the_option(engine: str, arch: str) -> None:
    """ptxas gives them instructions of double precision."""
    device = simt.Device(arch, engine=engine, memory="16MiB", timeout=20)
    out = device.zeros(1, "f8")
    device.load(SCALARS)["k"](1, 1, (3, out, 0.7))
    assert out.numpy()[0] == 3 * 0.1 + 0.7 * 2


def test_a_device_with_doubles_of_that_time_maps_them_too(engine: str) -> None:
    """Table 107: regardless of the target architecture."""
    device = simt.Device("sm_13", engine=engine, memory="16MiB", timeout=20)
    out = device.zeros(2, "f4")
    device.load(SCALARS)["k"](1, 1, (3, out, 0.7))
    np.testing.assert_array_equal(
        out.numpy(), [np.float32(3) * np.float32(0.1) + np.float32(0.7) * np.float32(2), 0]
    )
