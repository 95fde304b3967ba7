"""Tables of special functions, by a load for each lane: every entry of each, against the interpreter."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.host import SLOW_GATHERS, named_cpus
from simt.engine.llvm_kernel import emit
from tests.conftest import kept_for_each_way

KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {{
    .reg .b64 %in, %out, %a; .reg .b32 %i, %n, %c; .reg .{t} %x, %y;
    ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
    mov.u32 %i, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.u32 %i, %c, %n, %i;
    mul.wide.u32 %a, %i, {size}; add.u64 %in, %in, %a; add.u64 %out, %out, %a;
    ld.global.{t} %x, [%in]; {body} st.global.{t} [%out], %y;
    ret;
}}
"""
BODIES = {
    **{f: f"{f}.approx.f32 %y, %x;" for f in ("rcp", "rsqrt", "sqrt", "lg2", "ex2", "sin", "cos", "tanh")},
    "rcp of f64": "rcp.approx.ftz.f64 %y, %x;",
    "two functions": "rsqrt.approx.f32 %y, %x; rcp.approx.f32 %x, %x; add.f32 %y, %y, %x;",
    "twice": "rsqrt.approx.f32 %y, %x; rsqrt.approx.f32 %x, %y; add.f32 %y, %y, %x;",
}
LANES = 1 << 13
PROGRAMS = Path(__file__).parents[2] / "programs"


@kept_for_each_way
def device_for(engine: str) -> simt.Device:
    cpu = "host" if engine == "interpreter" else "x86-64-v3"
    return simt.Device("sm_90", engine=engine, memory="64MiB", cpu=cpu, approx="hardware")


def source(name: str) -> str:
    t = "f64" if "f64" in name else "f32"
    return KERNEL.format(t=t, size=int(t[1:]) // 8, body=BODIES[name])


@pytest.mark.parametrize("name", BODIES)
def test_each_entry(name: str) -> None:
    """Numbers in all segments of two binades, and some of any bits."""
    t = np.float64 if "f64" in name else np.float32
    numbers = np.linspace(1, 4, LANES, endpoint=False).astype(t)
    bits = np.random.default_rng(7).integers(0, 256, t().nbytes * 32, dtype="u1")
    numbers[-32:] = bits.view(t)
    found: list[bytes] = []
    for engine in ("interpreter", "jit"):
        device = device_for(engine)
        out = device.zeros(LANES, t)
        device.load(source(name))["k"](LANES // 256, 256, (device.array(numbers), out))
        found.append(out.numpy().tobytes())
    assert found[0] == found[1]


def emitted(features: frozenset[str], name: str = "rsqrt") -> str:
    program = device_for("jit").load(source(name)).program
    return emit(program, program.functions["k"], BlockShape(256, 1, 1), features, "nounwind")[0]


@pytest.mark.parametrize(("name", "row"), [("rcp", "2 x i32"), ("rsqrt", "4 x i16")])
def test_one_load_is_for_all_tables(name: str, row: str) -> None:
    text = emitted(named_cpus()["x86-64-v3"].features, name)
    assert {*re.findall(r"getelementptr \[([^]]+)\], ptr @simt\.rows", text)} == {row}
    assert "@simt.table" not in text


def test_other_cpus_gather_or_permute() -> None:
    features = named_cpus()["x86-64-v3"].features
    assert "@simt.rows" not in emitted(features - {SLOW_GATHERS})
    assert "@simt.rows" not in emitted(named_cpus()["x86-64-v4"].features | {SLOW_GATHERS})


def test_tables_of_one_entry() -> None:
    """Of lanes that all hold the same place of a fragment: the index is a number then."""
    device, ones = device_for("jit"), np.ones((64, 64), dtype="i1")
    sums = device.zeros((64, 64), "i4")
    module = device.load(PROGRAMS / "tensor.ptx")
    module["of_bytes"]((2, 2), 128, (device.array(ones), device.array(ones), sums, 64, 64, 64))
    assert (sums.numpy() == 64).all()
