"""Code without barriers within a warp: lanes run in lockstep below 7.0 (CUDA Handbook 8.1.6, note 7).

The engines keep lanes together wherever the program does, on every device; so the newest one is among them.
Expected values are NumPy's; sums are of integers, exact in any order.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import simt
from tests.conftest import shared_device

DEVICES = (
    ("1.4", "sm_10", "sm_10"),
    ("2.3", "sm_20", "sm_21"),
    ("3.1", "sm_35", "sm_35"),
    ("7.0", "sm_50", "sm_90"),
)
"""Version and target of the module, and the device that runs it."""


def kernel(version: str, target: str, body: str) -> str:
    """A kernel of a word a thread: `%t` the thread in its CTA, `%s` the address of its word in shared memory,
    `%v` its value, `%g` the address of its word in global memory, to which `%v` is stored at the end."""
    old = version < "2.0"
    size = "" if version < "2.3" else ".address_size 64\n"
    read = "cvt.u32.u16" if old else "mov.u32"
    return f"""
.version {version}
.target {target}
{size}
.entry k(.param .u64 data)
{{
    .reg .u64 %g, %w;
    .reg .u32 %t, %b, %n, %s, %v, %u, %d, %o;
    .reg .pred %p, %q;
    .shared .align 4 .b32 words[512];
    {read} %t, %tid.x;
    {read} %b, %ctaid.x;
    {read} %n, %ntid.x;
    mad.lo.u32 %b, %b, %n, %t;
    mul.wide.u32 %w, %b, 4;
    ld.param.u64 %g, [data];
    add.u64 %g, %g, %w;
    ld.global.u32 %v, [%g];
    mov.u32 %s, words;
    mul.lo.u32 %d, %t, 4;
    add.u32 %s, %s, %d;
    st.shared.u32 [%s], %v;
{body}
    st.global.u32 [%g], %v;
    exit;
}}
"""


def step(distance: int, volatile: str) -> str:
    return f"""
    ld{volatile}.shared.u32 %v, [%s];
    ld{volatile}.shared.u32 %u, [%s+{4 * distance}];
    add.u32 %v, %v, %u;
    st{volatile}.shared.u32 [%s], %v;
"""


def unrolled(volatile: str) -> str:
    """The last warp of a reduction over 64 threads, without a loop."""
    steps = "".join(step(d, volatile) for d in (32, 16, 8, 4, 2, 1))
    return f"""
    bar.sync 0;
    setp.ge.u32 %p, %t, 32;
    @%p bra DONE;
{steps}
DONE:
    ld{volatile}.shared.u32 %v, [%s];
"""


def in_a_loop(volatile: str) -> str:
    """The same by a loop with a distance in a register."""
    return f"""
    bar.sync 0;
    setp.ge.u32 %p, %t, 32;
    @%p bra DONE;
    mov.u32 %d, 128;
NEXT:
    add.u32 %o, %s, %d;
    ld{volatile}.shared.u32 %u, [%o];
    ld{volatile}.shared.u32 %v, [%s];
    add.u32 %v, %v, %u;
    st{volatile}.shared.u32 [%s], %v;
    shr.u32 %d, %d, 1;
    setp.ge.u32 %q, %d, 4;
    @%q bra NEXT;
DONE:
    ld{volatile}.shared.u32 %v, [%s];
"""


def narrowing(volatile: str) -> str:
    """Fewer lanes in every round, each round behind a branch of its own."""
    rounds = "".join(
        f"setp.ge.u32 %p, %t, {d};\n@%p bra R{d};\n{step(d, volatile)}R{d}:\n" for d in (32, 16, 8, 4, 2, 1)
    )
    return f"bar.sync 0;\n{rounds}\nld{volatile}.shared.u32 %v, [%s];\n"


def reduced(values: np.ndarray[tuple[int], np.dtype[np.uint32]]) -> int:
    return int(values.sum(dtype=np.uint32))


@pytest.mark.parametrize("build", [unrolled, in_a_loop, narrowing])
@pytest.mark.parametrize("volatile", [".volatile", ""])
@pytest.mark.parametrize(("version", "target", "arch"), DEVICES)
def test_reduction_of_64_by_one_warp(
    engine: str, version: str, target: str, arch: str, volatile: str, build: Callable[[str], str]
) -> None:
    device = shared_device(engine, arch)
    given = np.random.default_rng(5).integers(0, 2**32, 64 * 5, dtype=np.uint32)
    data = device.array(given)
    device.load(kernel(version, target, build(volatile)))["k"](5, 64, (data,))
    found = data.numpy()[::64]
    assert found.tolist() == [reduced(row) for row in given.reshape(5, 64)]


def scan(guarded: bool) -> str:
    """Sums up to each lane: five rounds, in which lanes with a neighbour far enough add it."""
    rounds: list[str] = []
    for d in (1, 2, 4, 8, 16):
        get, put = f"ld.volatile.shared.u32 %u, [%s+-{4 * d}];", "st.volatile.shared.u32 [%s], %v;"
        compare = f"and.b32 %o, %t, 31; setp.ge.u32 %p, %o, {d};"
        if guarded:
            rounds.append(f"{compare}\n@%p {get}\n@%p add.u32 %v, %v, %u;\n@%p {put}\n")
        else:
            rounds.append(f"{compare}\n@!%p bra S{d};\n{get}\nadd.u32 %v, %v, %u;\n{put}\nS{d}:\n")
    return "".join(rounds)


@pytest.mark.parametrize("guarded", [True, False])
@pytest.mark.parametrize(("version", "target", "arch"), DEVICES)
def test_scan_of_every_warp(engine: str, version: str, target: str, arch: str, guarded: bool) -> None:
    device = shared_device(engine, arch)
    given = np.random.default_rng(6).integers(0, 2**32, 96, dtype=np.uint32)
    data = device.array(given)
    device.load(kernel(version, target, scan(guarded)))["k"](1, 96, (data,))
    expected = np.cumsum(given.reshape(3, 32), axis=1, dtype=np.uint32)
    assert (data.numpy().reshape(3, 32) == expected).all()


@pytest.mark.parametrize(("version", "target", "arch"), DEVICES)
def test_exchange_of_neighbours_in_a_divergent_branch(
    engine: str, version: str, target: str, arch: str
) -> None:
    """Lanes that took one way of a branch see what they stored, round after round."""
    body = """
    and.b32 %o, %t, 2;
    setp.eq.u32 %p, %o, 0;
    @%p bra OTHER;
    xor.b32 %d, %t, 1;
    mul.lo.u32 %d, %d, 4;
    mov.u32 %o, words;
    add.u32 %d, %d, %o;
    mov.u32 %n, 7;
ROUND:
    ld.volatile.shared.u32 %v, [%d];
    add.u32 %v, %v, 1;
    st.volatile.shared.u32 [%s], %v;
    sub.u32 %n, %n, 1;
    setp.ne.u32 %q, %n, 0;
    @%q bra ROUND;
OTHER:
"""
    device = shared_device(engine, arch)
    given = np.arange(64, dtype=np.uint32) * 100
    data = device.array(given)
    device.load(kernel(version, target, body))["k"](1, 64, (data,))
    lanes = np.arange(64)
    assert (data.numpy() == np.where(lanes & 2, given[lanes ^ 1] + 7, given)).all()


SENT_BY_SOME = """
.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{{
    .reg .b32 %t, %n, %r, %s, %c; .reg .b64 %b, %o; .reg .pred %p;
    ld.param.u64 %b, [out]; ld.param.u32 %n, [n];
    mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 4; add.u64 %b, %b, %o;
    mad.lo.u32 %c, %t, 4, 1; shl.b32 %n, %n, 2; setp.ge.s32 %p, %c, %n; mov.u32 %r, 0;
    @%p bra END;
    {sent}
    shfl.sync.bfly.b32 %r, %s, 1, 31, -1;
    ld.global.b32 %c, [%b]; add.u32 %c, %c, 1; st.global.b32 [%b], %c;
END:
    st.global.b32 [%b+128], %r;
    ret;
}}
"""


@pytest.mark.parametrize("sent", ["mov.b32 %s, %t;", "mad.lo.u32 %s, %t, 3, 5;", "mov.b32 %s, 7;"])
def test_lanes_that_do_not_run_send_zeros(engine: str, sent: str) -> None:
    """Whatever is known of the register in those that run; and LLVM 22 takes it from memory without their
    mask."""
    kernel = simt.Device("sm_90", engine=engine).load(SENT_BY_SOME.format(sent=sent))["k"]
    values = {"mov.b32 %s, %t;": np.arange(32), "mov.b32 %s, 7;": np.full(32, 7)}
    given = values.get(sent, 3 * np.arange(32) + 5)
    for n in (31, 32, 20, 7):
        out = kernel.module.device.zeros(64, "u4")
        kernel((1,), (32,), (out, n))
        runs = np.arange(32) < n
        expected = np.where(runs, np.where(runs, given, 0)[np.arange(32) ^ 1], 0)
        np.testing.assert_array_equal(out.numpy()[32:], expected)
