"""Old PTX written by hand: parameters in the body, 32-bit addresses, registers as arguments of functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import simt

N = 70

PARAMETERS_IN_THE_BODY = """
.version 1.0
.target sm_10
.entry k {
    .param .u32 out;
    .reg .u32 $r<8>;
    .reg .pred $p0;
    ld.param.u32 $r1, [out];
    cvt.u32.u16 $r2, %tid.x;
    setp.ge.u32 $p0, $r2, 37;
    @$p0 bra $Lend;
    mul24.lo.u32 $r4, $r2, 4;
    add.u32 $r1, $r1, $r4;
    mul.lo.u32 $r5, $r2, $r2;
    st.global.u32 [$r1], $r5;
$Lend:
    exit;
}
"""

DOUBLES = """
.version 1.4
.target sm_13
.entry k (.param .u64 out)
{
    .reg .u64 %rd<4>;
    .reg .u32 %r<4>;
    .reg .f64 %f<4>;
    cvt.u32.u16 %r1, %tid.x;
    cvt.rn.f64.u32 %f1, %r1;
    mul.rn.f64 %f2, %f1, 0d3FF8000000000000;
    cvt.rzi.u32.f64 %r2, %f2;
    cvt.u64.u32 %rd1, %r1;
    mul.lo.u64 %rd1, %rd1, 4;
    ld.param.u64 %rd2, [out];
    add.u64 %rd2, %rd2, %rd1;
    st.global.u32 [%rd2], %r2;
    exit;
}
"""

DYNAMIC_SHARED = """
.version 1.4
.target sm_10
.extern .shared .u32 buffer[];
.entry k (.param .u32 out)
{
    .reg .u32 %r<9>;
    cvt.u32.u16 %r1, %tid.x;
    mov.u32 %r2, buffer;
    shl.b32 %r3, %r1, 2;
    add.u32 %r4, %r2, %r3;
    st.shared.u32 [%r4], %r1;
    bar.sync 0;
    xor.b32 %r5, %r3, 4;
    add.u32 %r5, %r5, %r2;
    ld.shared.u32 %r6, [%r5];
    ld.param.u32 %r7, [out];
    add.u32 %r7, %r7, %r3;
    st.global.u32 [%r7], %r6;
    exit;
}
"""

FUNCTION = """
.version 2.0
.target sm_20
.func (.reg .u32 %o) twice (.reg .u32 %i)
{
    add.u32 %o, %i, %i;
    ret;
}
.entry k (.param .u32 out)
{
    .reg .u32 %r<9>;
    mov.u32 %r1, %tid.x;
    call (%r2), twice, (%r1);
    ld.param.u32 %r3, [out];
    mad.lo.u32 %r4, %r1, 4, %r3;
    st.global.u32 [%r4], %r2;
    exit;
}
"""

GENERIC_32 = """
.version 3.0
.target sm_20
.address_size 32
.entry k (.param .u32 out)
{
    .reg .u32 %r<9>;
    .local .u32 a[4];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, a;
    cvta.local.u32 %r2, %r2;
    st.u32 [%r2+8], %r1;
    ld.local.u32 %r3, [a+8];
    ld.param.u32 %r4, [out];
    cvta.to.global.u32 %r4, %r4;
    mad.lo.u32 %r4, %r1, 4, %r4;
    st.global.u32 [%r4], %r3;
    exit;
}
"""

TABLE_64 = """
.version 3.0
.target sm_30
.address_size 64
.global .align 4 .u32 table[4] = { 7, 8, 9, 10 };
.entry k (.param .u64 out)
{
    .reg .u32 %r<9>;
    .reg .u64 %rd<9>;
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 3;
    mul.wide.u32 %rd1, %r2, 4;
    mov.u64 %rd2, table;
    add.u64 %rd2, %rd2, %rd1;
    ldu.global.u32 %r3, [%rd2];
    ld.param.u64 %rd3, [out];
    mul.wide.u32 %rd4, %r1, 4;
    add.u64 %rd3, %rd3, %rd4;
    st.global.u32 [%rd3], %r3;
    exit;
}
"""

CASES: dict[str, tuple[str, int, Callable[[int], int]]] = {
    "parameters in the body": (PARAMETERS_IN_THE_BODY, 10, lambda i: i * i if i < 37 else 0),
    "doubles": (DOUBLES, 13, lambda i: i * 3 // 2),
    "dynamic shared": (DYNAMIC_SHARED, 10, lambda i: i ^ 1),
    "function": (FUNCTION, 20, lambda i: 2 * i),
    "generic 32": (GENERIC_32, 20, lambda i: i),
    "table 64": (TABLE_64, 30, lambda i: 7 + i % 4),
}
"""PTX, the oldest device that runs it, and what thread `i` writes."""


@pytest.mark.parametrize("arch", [10, 13, 21, 35, 90, 100])
@pytest.mark.parametrize("name", CASES)
def test_old_dialects(engine: str, name: str, arch: int) -> None:
    source, oldest, expected = CASES[name]
    device = simt.Device(arch, engine=engine, memory="16MiB", timeout=20)
    if arch < oldest:
        with pytest.raises(simt.PtxError, match=f"needs sm_{oldest} or newer, the device is sm_{arch}"):
            device.load(source)
        return
    out: Any = device.zeros(N, "u4")
    device.load(source)["k"](1, N, (out,), shared_mem=4 * (N + 2) if "extern" in source else 0)
    np.testing.assert_array_equal(out.numpy(), [expected(i) for i in range(N)])


@pytest.mark.parametrize(
    ("body", "use", "how"),
    [
        ("@p call f;", "call f;", "is recursive"),
        ("", ".reg .u32 at; mov.u32 at, f; call at;", "is called by its address"),
    ],
)
def test_registers_of_the_module_need_calls_that_can_be_inlined(body: str, use: str, how: str) -> None:
    text = f""".version 1.4
.target sm_10
.reg .u32 common;
.func f {{ .reg .pred p; setp.gt.u32 p, common, 5; add.u32 common, common, 1; {body} ret; }}
.entry k {{ mov.u32 common, 1; {use} exit; }}
"""
    message = f"`f` uses a register or local variable of the module, and {how}"
    with pytest.raises(simt.PtxError, match=message) as found:
        simt.Device("sm_10", memory="16MiB").load(text)
    assert found.value.diagnostics[0].line == 4


@pytest.mark.parametrize(
    "kernel",
    [
        ".entry k (.param .u64 a) { exit; }",
        ".entry k { .param .u64 a; exit; }",
        ".shared .u32 s; .entry k (.param .b64 a) { .reg .u32 p; mov.u32 p, s; st.shared.u32 [p], p; exit; }",
    ],
)
def test_pointers_that_no_address_uses(kernel: str) -> None:
    """A kernel that does nothing with an array is launched with one all the same."""
    version = "1.4" if "(" in kernel else "1.3"
    device = simt.Device("sm_13", memory="16MiB", engine="interpreter")
    device.load(f".version {version} .target sm_13 {kernel}")["k"](1, 1, (device.zeros(1, "u4"),))
