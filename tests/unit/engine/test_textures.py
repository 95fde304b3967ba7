"""Kernels that read textures, on both engines: which texture a lane reads, and which lanes do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import simt

HEAD = """
.version 7.4
.target sm_80
.address_size 64
.visible .global .texref one;
.visible .global .texref two;
"""

BY_LANE = f"""{HEAD}
.visible .entry k (.param .u64 handles, .param .u64 out, .param .u32 n)
{{
    .reg .u32 %i, %j, %n; .reg .u64 %h, %o, %p; .reg .f32 %f<4>; .reg .pred %q;
    mov.u32 %i, %ctaid.x; mov.u32 %j, %ntid.x; mov.u32 %n, %tid.x;
    mad.lo.u32 %i, %i, %j, %n;
    ld.param.u32 %n, [n];
    setp.ge.u32 %q, %i, %n;
    @%q exit;
    ld.param.u64 %p, [handles]; mad.wide.u32 %p, %i, 8, %p; ld.global.u64 %h, [%p];
    ld.param.u64 %o, [out]; mad.wide.u32 %o, %i, 4, %o;
    and.b32 %j, %i, 7;
    tex.1d.v4.f32.s32 {{%f0, %f1, %f2, %f3}}, [%h, {{%j}}];
    st.global.f32 [%o], %f0;
    exit;
}}
"""

LOOP = f"""{HEAD}
.visible .entry k (.param .u64 turns, .param .u64 out, .param .u64 handle)
{{
    .reg .u32 %i, %n; .reg .u64 %h, %o, %p; .reg .f32 %f<4>, %s, %x; .reg .pred %q;
    mov.u32 %i, %tid.x;
    ld.param.u64 %p, [turns]; mad.wide.u32 %p, %i, 4, %p; ld.global.u32 %n, [%p];
    ld.param.u64 %o, [out]; mad.wide.u32 %o, %i, 4, %o;
    ld.param.u64 %h, [handle];
    mov.f32 %s, 0f00000000;
again:
    setp.eq.u32 %q, %n, 0;
    @%q bra ends;
    cvt.rn.f32.u32 %x, %n;
    tex.1d.v4.f32.f32 {{%f0, %f1, %f2, %f3}}, [%h, {{%x}}];
    add.f32 %s, %s, %f0;
    sub.u32 %n, %n, 1;
    bra again;
ends:
    st.global.f32 [%o], %s;
    exit;
}}
"""

CALLED = f"""{HEAD}
.func (.reg .f32 %r) read (.reg .u64 %h, .reg .u32 %i)
{{
    .reg .f32 %f<4>; .reg .pred %p;
    setp.lt.u32 %p, %i, 5;
    mov.f32 %f0, 0fBF800000;
    @%p tex.1d.v4.f32.s32 {{%f0, %f1, %f2, %f3}}, [%h, {{%i}}];
    mov.f32 %r, %f0;
    ret;
}}
.visible .entry k (.param .u64 out, .param .u64 handle)
{{
    .reg .u32 %i; .reg .u64 %h, %o; .reg .f32 %f;
    mov.u32 %i, %tid.x;
    ld.param.u64 %h, [handle];
    ld.param.u64 %o, [out]; mad.wide.u32 %o, %i, 4, %o;
    call (%f), read, (%h, %i);
    st.global.f32 [%o], %f;
    exit;
}}
"""


@pytest.fixture
def device(engine: str) -> simt.Device:
    return simt.Device("sm_80", engine=engine, memory="64MiB", timeout=20)


def bound(device: simt.Device, module: simt.Module, **arrays: Any) -> None:
    for name, values in arrays.items():
        module.texture(name).bind(device.array(np.asarray(values, "f4")))


def handle(module: simt.Module, name: str) -> int:
    return module.symbol(name).ptr


def is_compiled(module: simt.Module, engine: str) -> bool:
    """Whether the kernel is not interpreted, if it is to be compiled."""
    return engine == "interpreter" or "k" not in module.device._engine.reasons  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize("workers", [1, 3])
def test_lanes_read_the_textures_of_their_handles(engine: str, workers: int) -> None:
    device = simt.Device("sm_80", engine=engine, workers=workers, memory="64MiB")
    module = device.load(BY_LANE)
    bound(device, module, one=np.arange(8), two=np.arange(8) + 100)
    n, count = 1000, 900
    second = np.random.default_rng(1).random(n) < 0.3
    handles = np.where(second, handle(module, "two"), handle(module, "one")).astype("u8")
    out = device.zeros(n, "f4")
    module["k"](8, 128, (device.array(handles), out, count))
    expected = np.arange(n) % 8 + 100 * second
    expected[count:] = 0
    np.testing.assert_array_equal(out.numpy(), expected)
    assert is_compiled(module, engine)


def test_what_nothing_is_bound_to_is_told(device: simt.Device) -> None:
    module = device.load(BY_LANE)
    bound(device, module, one=np.arange(8))
    handles = np.full(128, handle(module, "one"), "u8")
    handles[70:] = handle(module, "two")
    with pytest.raises(simt.LaunchError, match=r"nothing is bound to texture two: .*thread \(70, 0, 0\)"):
        module["k"](1, 128, (device.array(handles), device.zeros(128, "f4"), 128))
    handles[3] = 12345
    with pytest.raises(simt.LaunchError, match=r"no texture variable of the module is at 0x3039"):
        module["k"](1, 128, (device.array(handles), device.zeros(128, "f4"), 128))
    out = device.zeros(128, "f4")  # the device goes on
    bound(device, module, two=np.ones(8))
    handles[3] = handle(module, "two")
    module["k"](1, 128, (device.array(handles), out, 128))
    assert out.numpy()[3] == 1


def test_lanes_leave_a_loop_by_degrees(device: simt.Device, engine: str) -> None:
    module = device.load(LOOP)
    bound(device, module, one=np.arange(50) ** 2)
    turns = np.random.default_rng(2).integers(0, 50, 96).astype("u4")
    turns[40:64] = 3
    out = device.zeros(96, "f4")
    module["k"](1, 96, (device.array(turns), out, module.symbol("one")))
    np.testing.assert_array_equal(out.numpy(), [np.sum(np.arange(n + 1) ** 2) for n in turns])
    assert is_compiled(module, engine)


def test_functions_and_guards(device: simt.Device, engine: str) -> None:
    module = device.load(CALLED)
    bound(device, module, one=np.arange(8) + 10)
    out = device.zeros(32, "f4")
    module["k"](1, 32, (out, module.symbol("one")))
    np.testing.assert_array_equal(out.numpy(), [10, 11, 12, 13, 14] + [-1] * 27)
    assert is_compiled(module, engine)


def test_each_launch_reads_what_is_bound_then(device: simt.Device) -> None:
    module = device.load(CALLED)
    arrays = [device.array(np.full(8, v, "f4")) for v in (1, 2, 3)]
    out, kernel = device.zeros(32, "f4"), module["k"]
    for turn in range(40):  # later ones are made by compiled code, where that is possible
        module.texture("one").bind(arrays[turn % 3])
        kernel(1, 32, (out, module.symbol("one")))
        assert out.numpy()[0] == turn % 3 + 1
    module.texture("one").unbind()
    with pytest.raises(simt.LaunchError, match="nothing is bound to texture one"):
        kernel(1, 32, (out, module.symbol("one")))


@pytest.mark.parametrize("workers", [1, 2])
def test_recorded_launches_read_what_is_bound_when_they_run(engine: str, workers: int) -> None:
    device = simt.Device("sm_80", engine=engine, workers=workers, memory="64MiB")
    module = device.load(BY_LANE)
    arrays = [device.array(np.full(8, v, "f4")) for v in (1, 2, 3)]
    handles = device.array(np.full(32, handle(module, "one"), "u8"))
    out = device.zeros(32, "f4")
    module.texture("one").bind(arrays[0])
    with device.capture() as sequence:
        module["k"](1, 32, (handles, out, 32))
    for turn in range(6):
        module.texture("one").bind(arrays[turn % 3])
        sequence()
        assert out.numpy()[0] == turn % 3 + 1


def test_many_fetches(device: simt.Device, engine: str) -> None:
    """In a kernel so long that functions are made of what its instructions do."""
    fetches = "\n".join(
        f"add.u32 %j, %i, {n % 7}; tex.1d.v4.f32.s32 {{%f0, %f1, %f2, %f3}}, [%h, {{%j}}];"
        "add.f32 %s, %s, %f0;"
        for n in range(700)
    )
    module = device.load(f"""{HEAD}
.visible .entry k (.param .u64 out, .param .u64 handle)
{{
    .reg .u32 %i, %j; .reg .u64 %h, %o; .reg .f32 %f<4>, %s;
    mov.u32 %i, %tid.x;
    mov.f32 %s, 0f00000000;
    ld.param.u64 %h, [handle];
    {fetches}
    ld.param.u64 %o, [out]; mad.wide.u32 %o, %i, 4, %o;
    st.global.f32 [%o], %s;
    exit;
}}
""")
    bound(device, module, one=np.arange(40))
    out = device.zeros(32, "f4")
    module["k"](1, 32, (out, module.symbol("one")))
    np.testing.assert_array_equal(out.numpy(), [sum(i + n % 7 for n in range(700)) for i in range(32)])
    assert is_compiled(module, engine)
