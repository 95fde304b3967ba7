"""Members of structures that are loaded and stored in turns: what is done ahead, what waits, and that nobody
can tell."""

from __future__ import annotations

import re

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.compile import attributes
from simt.engine.host import SLOW_GATHERS, named_cpus
from simt.engine.llvm_kernel import emit
from simt.records import replace
from tests.conftest import shared_device

KERNEL = """
.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 pitch)
{{
    .reg .b32 %v<4>; .reg .b64 %d<2>; .reg .b32 %t, %n; .reg .b64 %a, %b, %o, %r;
    ld.param.u64 %a, [in]; ld.param.u64 %b, [out]; ld.param.u32 %n, [pitch];
    mov.u32 %t, %tid.x;
    mul.lo.u32 %n, %n, %t; mul.wide.u32 %r, %n, 4; add.u64 %r, %r, %a;
    mul.wide.u32 %o, %t, {step}; add.u64 %b, %b, %o;
    mul.wide.u32 %o, %t, {other}; add.u64 %a, %a, %o;
    {body}
    ret;
}}
"""


def turns(places: tuple[int, ...], update: bool = True, kind: str = "b32") -> str:
    """Each word of a structure is made of one of `a`, and what was there, before the next one is loaded."""
    lines, held = list[str](), "b64" if kind == "b64" else "u32"
    one, other = ("%d0", "%d1") if kind == "b64" else ("%v0", "%v1")
    for place in places:
        lines.append(f"ld.global.{kind} {one}, [%a+{place}];")
        if update:
            lines.append(f"ld.global.{kind} {other}, [%b+{place}]; add.u{held[1:]} {one}, {one}, {other};")
        lines.append(f"xor.b{held[1:]} {one}, {one}, {place + 1}; st.global.{kind} [%b+{place}], {one};")
    return " ".join(lines)


BODIES = {
    "four words": (16, 16, turns((0, 4, 8, 12))),
    "three, backwards": (12, 12, turns((8, 4, 0))),
    "two of three": (12, 12, turns((0, 8))),
    "of larger ones": (16, 12, turns((0, 4, 8), update=False)),
    "from one another": (12, 12, "ld.global.b32 %v0, [%b]; st.global.b32 [%b+4], %v0; "
                         "ld.global.b32 %v1, [%b+4]; ld.global.b32 %v2, [%b+8]; add.u32 %v1, %v1, %v2; "
                         "st.global.b32 [%b], %v1; st.global.b32 [%b+8], %v1;"),
    "bytes": (3, 3, turns((0, 1, 2), kind="u8")),
    "bytes of others": (4, 3, turns((3, 0, 1), update=False, kind="u8")),
    "halves": (8, 8, turns((0, 4, 6), kind="u16")),
    "pairs of 64 bits": (16, 16, turns((8, 0), kind="b64")),
    "one twice": (8, 8, turns((0, 4, 0))),
    "rows between": (8, 4, "ld.global.b32 %v0, [%r]; add.u32 %v1, %v0, 100; st.global.b32 [%b], %v1; "
                     "st.global.b32 [%b+4], %v1; ld.global.b32 %v2, [%r+4]; ld.global.b32 %v3, [%r+8]; "
                     "mad.lo.u32 %v2, %v3, 3, %v2; st.global.b32 [%b], %v2; "
                     "ld.global.b32 %v3, [%r+12]; st.global.b32 [%b+4], %v3;"),
}  # fmt: skip


def source(name: str) -> str:
    step, other, body = BODIES[name]
    return KERNEL.format(step=step, other=other, body=body)


@pytest.mark.parametrize("name", BODIES)
def test_overlapping_arrays(name: str) -> None:
    """Words of one array, read and written at all sorts of distances."""
    start = np.arange(1024, dtype="u4") * 2654435761
    for distance in (
        (0, 8, 16, 96, 376, 384, 504, 1152) if "64" in name else (0, 4, 8, 96, 380, 384, 508, 1152)
    ):
        for out_first in (False, True):
            found = list[np.ndarray]()
            for engine in ("jit", "interpreter"):
                device = shared_device(engine)
                array = device.array(start)
                places = (array.ptr, array.ptr + distance)
                device.load(source(name))["k"](1, 32, (*places[:: -1 if out_first else 1], np.int32(9)))
                found.append(array.numpy().copy())
            np.testing.assert_array_equal(*found, err_msg=f"{distance} {out_first}")


@pytest.mark.parametrize("beyond", [4, 8, 20])
@pytest.mark.parametrize("short", ["in", "out", "both"])
def test_the_first_access_beyond_the_memory_is_at_fault(beyond: int, short: str) -> None:
    """What was stored before is there."""
    found = list[object]()
    for engine in ("jit", "interpreter"):
        device = simt.Device("sm_90", engine=engine, memory="64MiB")
        kernel, array = device.load(source("three, backwards"))["k"], device.array(np.arange(256, dtype="u4"))
        kernel(1, 32, (array, array, np.int32(9)))  # which takes memory of its own
        end = device.memory.limit
        places = [end + beyond - 384 if short in (name, "both") else array.ptr for name in ("in", "out")]
        with pytest.raises(simt.MemoryFault) as fault:
            kernel(1, 32, (*places, np.int32(9)))
        site = fault.value.site
        found.append((site.thread, site.line, fault.value.address - end, array.numpy().tolist()))
    assert found[0] == found[1]


def text_of(name: str) -> str:
    cpu = named_cpus()["x86-64-v4"]
    cpu = replace(cpu, features=cpu.features | {SLOW_GATHERS, "avx512vbmi"})
    program = shared_device("jit").load(source(name)).program
    return emit(program, program.functions["k"], BlockShape(32, 1, 1), cpu.features, attributes(cpu))[0]


@pytest.mark.parametrize(
    ("name", "together"), [("four words", 4), ("two of three", 2), ("one twice", 2), ("bytes", 3)]
)
def test_stores_wait(name: str, together: int) -> None:
    """As many columns are put together as there are stores."""
    found = re.findall(r"^define [^\n]*@simt\.members\.?\d*\(([^)]*)\)", text_of(name), re.MULTILINE)
    assert [head.count("<32 x") for head in found] == [together]
