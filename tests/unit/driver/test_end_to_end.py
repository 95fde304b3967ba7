"""From PTX text to results and faults, through the whole package, on both engines."""

from __future__ import annotations

import signal
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import simt

SAXPY = """
.version 7.0
.target sm_75
.address_size 64
.visible .entry saxpy(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y)
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .f32 %f<5>;
    .reg .b64 %rd<8>;
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.s32 %p1, %r5, %r1;
    @%p1 bra DONE;
    ld.param.f32 %f1, [a];
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    cvta.to.global.u64 %rd3, %rd1;
    cvta.to.global.u64 %rd4, %rd2;
    mul.wide.s32 %rd5, %r5, 4;
    add.s64 %rd6, %rd3, %rd5;
    add.s64 %rd7, %rd4, %rd5;
    ld.global.f32 %f2, [%rd6];
    ld.global.f32 %f3, [%rd7];
    fma.rn.f32 %f4, %f1, %f2, %f3;
    st.global.f32 [%rd7], %f4;
DONE:
    ret;
}
"""

OLD = """
.version 1.4
.target sm_10
.const .u32 step[2] = { 3, 5 };
.global .u32 count;
.entry scale (.param .u32 out)
{
    .reg .u32 %r<8>;
    .reg .u16 %h<3>;
    cvt.u32.u16 %r1, %tid.x;
    ld.param.u32 %r2, [out];
    shl.b32 %r3, %r1, 2;
    add.u32 %r2, %r2, %r3;
    ld.const.u32 %r4, [step+4];
    ld.global.u32 %r5, [%r2];
    mul.lo.u32 %r5, %r5, %r4;
    st.global.u32 [%r2], %r5;
    st.global.u32 [count], %r4;
    exit;
}
"""

SPIN = """
.version 7.0
.target sm_75
.address_size 64
.visible .entry spin()
{
AGAIN:
    bra AGAIN;
}
"""


@pytest.fixture
def fresh(engine: str) -> simt.Device:
    return simt.Device("sm_90", engine=engine, memory="256MiB", timeout=60)


@pytest.mark.parametrize("n", [1, 33, 1000])
def test_saxpy(fresh: simt.Device, n: int) -> None:
    chance = np.random.default_rng(n)
    x, y = chance.random(n, "f4"), chance.random(n, "f4")
    dx, dy = fresh.array(x), fresh.array(y)
    fresh.load(SAXPY)["saxpy"]((-(-n // 128),), (128,), (n, 2.0, dx, dy))
    np.testing.assert_allclose(dy.numpy(), 2 * x + y, rtol=1e-6)
    np.testing.assert_array_equal(dx.numpy(), x)


def test_old_modules_with_32_bit_addresses(fresh: simt.Device) -> None:
    out = fresh.array(np.arange(40, dtype="u4"))
    module = fresh.load(OLD)
    module["scale"](1, 40, (out,))
    np.testing.assert_array_equal(out.numpy(), np.arange(40) * 5)
    assert module.symbol("count").numpy() == 5
    module.symbol("step").numpy()[1] = 2
    module["scale"](1, 40, (out,))
    np.testing.assert_array_equal(out.numpy(), np.arange(40) * 10)


def test_an_illegal_address_is_named_and_nothing_else_suffers(fresh: simt.Device) -> None:
    x, y = fresh.array(np.ones(64, "f4")), fresh.array(np.ones(64, "f4"))
    k = fresh.load(SAXPY)["saxpy"]
    with pytest.raises(simt.MemoryFault) as fault:
        k(1, 64, (64, 1.0, x, 0x1000))
    assert fault.value.address == 0x1000
    assert fault.value.site.kernel == "saxpy"
    assert fault.value.site.thread == (0, 0, 0)
    assert SAXPY.splitlines()[fault.value.site.line - 1].split()[0] == "ld.global.f32"
    k(1, 64, (64, 1.0, x, y))
    assert y.numpy().tolist() == [2.0] * 64


def test_an_infinite_loop_times_out(fresh: simt.Device) -> None:
    with pytest.raises(simt.LaunchTimeout):
        fresh.load(SPIN)["spin"].launch(1, 32, timeout=0.3)


def test_a_module_for_a_newer_device(engine: str) -> None:
    device = simt.Device("sm_35", engine=engine, memory="16MiB")
    with pytest.raises(simt.PtxError) as refused:
        device.load(SAXPY)
    message, line, *_ = str(refused.value).splitlines()
    assert message == "<ptx>:3:1: error: the module needs sm_75 or newer, the device is sm_35"
    assert line.strip() == ".target sm_75"


def test_every_error_of_a_module_is_listed(fresh: simt.Device) -> None:
    wrong = SAXPY.replace("ld.param.f32 %f1", "ld.param.f32 %p1").replace("bra DONE", "bra GONE")
    with pytest.raises(simt.PtxError) as refused:
        fresh.load(wrong)
    lines = [d.line for d in refused.value.diagnostics]
    assert lines == [17, 18]


@pytest.mark.parametrize("text", ["", "\n", b"", b"\x00\xff\x80" * 100, "hello {", ".version 1.4\n"])
def test_what_is_no_module(fresh: simt.Device, text: str | bytes) -> None:
    with pytest.raises(simt.PtxError) as refused:
        fresh.load(text)
    assert refused.value.diagnostics


def test_structures_by_value(fresh: simt.Device) -> None:
    ptx = """
.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .align 8 .b8 s[16], .param .u64 out)
{
    .reg .b32 %r<2>;
    .reg .f64 %d<2>;
    .reg .b64 %rd<2>;
    ld.param.u32 %r1, [s];
    ld.param.f64 %d1, [s+8];
    ld.param.u64 %rd1, [out];
    st.global.u32 [%rd1], %r1;
    st.global.f64 [%rd1+8], %d1;
    ret;
}
"""
    out = fresh.zeros(16, "u1")
    k = fresh.load(ptx)["k"]
    k(1, 1, (struct.pack("<i4xd", 7, 0.5), out))
    assert struct.unpack("<i4xd", out.numpy().tobytes()) == (7, 0.5)
    with pytest.raises(simt.LaunchError, match=r"parameter 0 s \(.b8\[16\]\): expected 16 bytes"):
        k(1, 1, (b"short", out))


BLUR = """
.version 1.4
.target sm_10
.tex .u32 image;
.entry blur (.param .u64 out)
{
    .reg .u32 %r<4>;
    .reg .u64 %rd<4>;
    .reg .f32 %f<8>;
    cvt.u32.u16 %r1, %tid.x;
    cvt.u32.u16 %r2, %tid.y;
    cvt.rn.f32.u32 %f1, %r1;
    cvt.rn.f32.u32 %f2, %r2;
    add.f32 %f1, %f1, 0f3F800000;
    add.f32 %f2, %f2, 0f3F800000;
    tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [image, {%f1, %f2}];
    mul24.lo.u32 %r3, %r2, 3;
    add.u32 %r3, %r3, %r1;
    mul.wide.u32 %rd2, %r3, 4;
    ld.param.u64 %rd1, [out];
    add.u64 %rd1, %rd1, %rd2;
    st.global.f32 [%rd1], %f3;
    exit;
}
"""


def test_textures(fresh: simt.Device) -> None:
    """The corner between four texels is their mean."""
    image = np.arange(12, dtype="f4").reshape(3, 4)
    module, out = fresh.load(BLUR), fresh.zeros((2, 3), "f4")
    with pytest.raises(simt.LaunchError, match="nothing is bound to texture image"):
        module["blur"](1, (3, 2), (out,))
    module.texture("image").bind(fresh.array(image), filter="linear")
    module["blur"](1, (3, 2), (out,))
    expected = (image[:-1, :-1] + image[1:, :-1] + image[:-1, 1:] + image[1:, 1:]) / 4
    np.testing.assert_array_equal(out.numpy(), expected)
    with pytest.raises(simt.LaunchError, match=r"^no texture 'picture' in <ptx>"):
        module.texture("picture")


def test_paths(fresh: simt.Device, tmp_path: Path) -> None:
    path = tmp_path / "saxpy.ptx"
    path.write_text(SAXPY)
    assert fresh.load(path).kernels == fresh.load(str(path)).kernels == ["saxpy"]


def test_ctrl_c_stops_a_kernel(engine: str, tmp_path: Path) -> None:
    """The process goes on: it prints what its array holds."""
    path = tmp_path / "spin.ptx"
    path.write_text(SPIN)
    program = f"""
import signal, simt, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs inherit that it is ignored
device = simt.Device("sm_90", engine={engine!r}, memory="16MiB", workers=1)
x = device.zeros(4)
k = device.load({str(path)!r})["spin"]
try:
    print("ready", flush=True)
    k(1, 32)
except KeyboardInterrupt:
    print("stopped", x.numpy().sum())
"""
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == "ready\n"
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(1.0)
        child.send_signal(signal.SIGINT)
        assert child.communicate(timeout=20)[0] == "stopped 0.0\n"
        assert child.returncode == 0
    finally:
        child.kill()
