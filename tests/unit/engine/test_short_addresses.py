"""Addresses of shared and local memory have 32 bits: what registers of 64 have above them does not count.

Expectations are NumPy's.
"""

from __future__ import annotations

import numpy as np
import pytest

import simt
from tests.conftest import kept_for_each_way

THREADS, WORDS = 96, 128
INDICES = {
    "in order": "mov.u32 %i, %t;",
    "backwards": "sub.u32 %i, 95, %t;",
    "steps": "mul.lo.u32 %i, %t, 5; and.b32 %i, %i, 127;",
    "exchanged": "xor.b32 %i, %t, 5;",
    "one place": "mov.u32 %i, 77;",
    "from memory": "ld.global.u32 %i, [%n]; and.b32 %i, %i, 127;",
}
UPPER = {
    "the same": "add.u64 %a, %a, 0x700000000;",
    "of the lane": "cvt.u64.u32 %b, %t; shl.b64 %b, %b, 37; add.u64 %a, %a, %b;",
    "from memory": "ld.global.u32 %x, [%n]; cvt.u64.u32 %b, %x; shl.b64 %b, %b, 32; xor.b64 %a, %a, %b;",
    "a carry": "add.u64 %a, %a, 0xFFFFFF00;",
}
"""What is done to the address of a word; a carry out of the lower half is for an offset of 256 bytes."""


def indices(
    kind: str, given: np.ndarray[tuple[int], np.dtype[np.uint32]]
) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    t = np.arange(THREADS, dtype="u4")
    found = {
        "in order": t, "backwards": 95 - t, "steps": t * 5 & 127, "exchanged": t ^ 5,
        "one place": np.full(THREADS, 77, "u4"), "from memory": given & 127,
    }  # fmt: skip
    return found[kind].astype("u4")


def kernel(space: str, index: str, upper: str, body: str) -> str:
    return f""".version 7.0
.target sm_70
.address_size 64
.entry k(.param .u64 numbers, .param .u64 out)
{{
    .reg .u32 %t, %i, %x, %y; .reg .u64 %n, %out, %a, %b, %o; .reg .pred %p;
    .{space} .align 16 .b32 words[{WORDS}];
    ld.param.u64 %n, [numbers];
    ld.param.u64 %out, [out];
    mov.u32 %t, %tid.x;
    mul.wide.u32 %o, %t, 4;
    add.u64 %n, %n, %o;
    add.u64 %out, %out, %o;
    mov.u32 %i, 0;
FILL:
    mul.wide.u32 %o, %i, 4;
    mov.u64 %a, words;
    add.u64 %a, %a, %o;
    mul.lo.u32 %x, %i, 3;
    st.{space}.u32 [%a], %x;
    add.u32 %i, %i, 1;
    setp.lt.u32 %p, %i, {WORDS};
    @%p bra FILL;
    bar.sync 0;
{INDICES[index]}
    mul.wide.u32 %o, %i, 4;
    mov.u64 %a, words;
    add.u64 %a, %a, %o;
{UPPER[upper]}
{body}
    st.global.u32 [%out], %y;
    exit;
}}
"""


@kept_for_each_way
def machine_of(name: str) -> simt.Device:
    if name == "interpreter":
        return simt.Device("sm_90", engine="interpreter", memory="64MiB")
    return simt.Device("sm_90", engine="jit", memory="64MiB", cpu=name)


@pytest.fixture(params=["interpreter", "host", "x86-64-v3"])
def machine(request: pytest.FixtureRequest) -> simt.Device:
    return machine_of(request.param)


@pytest.mark.share(3)
@pytest.mark.parametrize("upper", UPPER)
@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("space", ["shared", "local"])
def test_accesses(machine: simt.Device, space: str, index: str, upper: str) -> None:
    """A load, and a store that is read back by the thread at the plain address."""
    given = np.random.default_rng(5).integers(0, 2**32, THREADS, dtype="u4")
    offset = 256 if upper == "a carry" else 0
    body = f"""
    ld.{space}.u32 %y, [%a+{offset}];
    bar.sync 0;
    st.{space}.u32 [%a+{offset}], 1000;
    cvt.u32.u64 %x, %a;
    ld.{space}.u32 %x, [%x+{offset}];
    mad.lo.u32 %y, %x, 1000, %y;
"""
    out = machine.zeros(THREADS, "u4")
    machine.load(kernel(space, index, upper, body))["k"](1, THREADS, (machine.array(given), out))
    assert out.numpy().tolist() == (indices(index, given) * 3 + 1_000_000).tolist()


@pytest.mark.parametrize("index", INDICES)
def test_updates(machine: simt.Device, index: str) -> None:
    given = np.random.default_rng(6).integers(0, 2**32, THREADS, dtype="u4")
    body = """
    atom.shared.add.u32 %x, [%a], 1000;
    red.shared.add.u32 [%a], 1000;
    bar.sync 0;
    mul.wide.u32 %o, %t, 4;
    mov.u64 %a, words;
    add.u64 %a, %a, %o;
    ld.shared.u32 %y, [%a];
"""
    out = machine.zeros(THREADS, "u4")
    text = kernel("shared", index, "from memory", body)
    machine.load(text)["k"](1, THREADS, (machine.array(given), out))
    counts = np.bincount(indices(index, given), minlength=WORDS)[:THREADS]
    assert out.numpy().tolist() == (np.arange(THREADS) * 3 + counts * 2000).tolist()


def test_lanes_that_walk_alone(machine: simt.Device) -> None:
    """A loop that lanes leave by degrees, with a list in shared memory."""
    body = """
    mov.u32 %y, 0;
    mov.u32 %i, %t;
WALK:
    mul.wide.u32 %o, %i, 4;
    mov.u64 %a, words;
    add.u64 %a, %a, %o;
    ld.global.u32 %x, [%n];
    cvt.u64.u32 %b, %x;
    shl.b64 %b, %b, 32;
    or.b64 %a, %a, %b;
    ld.shared.u32 %x, [%a];
    add.u32 %y, %y, %x;
    sub.u32 %i, %i, 3;
    setp.ge.s32 %p, %i, 0;
    @%p bra WALK;
"""
    given = np.random.default_rng(7).integers(0, 2**32, THREADS, dtype="u4")
    out = machine.zeros(THREADS, "u4")
    text = kernel("shared", "in order", "the same", body)
    machine.load(text)["k"](1, THREADS, (machine.array(given), out))
    assert out.numpy().tolist() == [sum(3 * i for i in range(t, -1, -3)) for t in range(THREADS)]


@pytest.mark.parametrize("space", ["shared", "local"])
@pytest.mark.parametrize("place", [4 * WORDS, 0xFFFFFFFC, 2])
def test_what_is_left_is_checked(machine: simt.Device, space: str, place: int) -> None:
    """The message has the address that the machine uses."""
    body = f"mov.u64 %a, {5 << 32 | place}; cvt.u64.u32 %b, %i; add.u64 %a, %a, %b; ld.{space}.u32 %y, [%a];"
    text = kernel(space, "one place", "the same", f"mov.u32 %i, 0; {body}")
    with pytest.raises(simt.MemoryFault, match=f"{space} address {place:#x}[, ]"):
        machine.load(text)["k"](1, THREADS, (machine.zeros(THREADS, "u4"), machine.zeros(THREADS, "u4")))
