"""Differences from the greatest and the least unsigned integer, which LLVM 20 gets wrong if it is let: it
takes the greater less the lesser of x and all ones for x + 1 where a CPU does not compare such integers."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from tests.unit.engine.conftest import CPUS

HEAD = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{{
    .reg .b64 %a, %b; .reg .b32 %t; .reg .{t} %x, %y, %c, %z;
    mov.u32 %t, %tid.x; mul.wide.u32 %b, %t, {size};
    ld.param.u64 %a, [in]; add.u64 %a, %a, %b; ld.global.{t} %x, [%a];
    {body}
    ld.param.u64 %a, [out]; add.u64 %a, %a, %b; st.global.{t} [%a], %y;
    ret;
}}
"""
BODIES = {
    "literal": "{op} %y, {c}, %x{third};",
    "second": "{op} %y, %x, {c}{third};",
    "moved": "mov.{t} %c, {c}; {op} %y, %c, %x{third};",
    "computed": "xor.b{bits} %c, %x, %x; mov.{t} %z, {c}; or.b{bits} %c, %c, %z; {op} %y, %x, %c{third};",
    "in a branch": """.reg .pred %p; setp.lt.u32 %p, %t, 7; mov.{t} %c, {c}; mov.{t} %y, 3; @%p bra END;
        {op} %y, %x, %c{third};
    END:""",
}


@pytest.mark.share(12)
@pytest.mark.parametrize("drafts", ["all", "0"])
@pytest.mark.parametrize("cpu", ["host", *CPUS])
@pytest.mark.parametrize("known", [-1, 0])
@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("op", ["sad", "min", "max"])
@pytest.mark.parametrize("bits", [16, 32, 64])
def test_every_way_of_having_it(
    monkeypatch: pytest.MonkeyPatch, cpu: str, drafts: str, bits: int, op: str, body: str, known: int
) -> None:
    monkeypatch.setenv("SIMT_DRAFTS", drafts)
    device = simt.Device("sm_90", engine="jit", cpu=cpu, memory="64MiB")
    kind, greatest = np.dtype(f"u{bits // 8}"), (1 << bits) - 1
    words = {"t": f"u{bits}", "bits": bits, "c": known % (1 << bits), "third": ", 5" if op == "sad" else ""}
    text = HEAD.format(t=f"u{bits}", size=bits // 8, body=BODIES[body].format(op=f"{op}.u{bits}", **words))
    x = np.random.default_rng(bits).integers(0, greatest, 32, kind, endpoint=True)
    x[:6] = 0, 1, 63, greatest // 2, greatest - 1, greatest
    out, c = device.zeros(32, kind), kind.type(known % (1 << bits))
    device.load(text)["k"](1, 32, (device.array(x), out))
    lesser, larger = np.minimum(x, c), np.maximum(x, c)
    expected = {"sad": larger - lesser + kind.type(5), "min": lesser, "max": larger}[op]
    if body == "in a branch":
        expected[:7] = 3
    assert out.numpy().tolist() == expected.tolist()
