"""Atomic updates by lock, load, store, unlock and try again, as shared memory of SM 1.2 to 3.5 does them
(CUDA Handbook, 8.1.5 and listings 8.1, 8.2): lanes of one warp that want the same word take turns.

The lock is tried, used and given back within one round of the loop, so no lane ever waits for one that cannot
run. On a GPU before 7.0, that is the only way which ends. Expected values are NumPy's.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.conftest import shared_device

DEVICES = (("2.3", "sm_20", "sm_20"), ("3.1", "sm_35", "sm_35"), ("7.0", "sm_50", "sm_90"))
"""Version and target of the module, and the device that runs it."""

GUARDED = """
AGAIN:
    atom.SPACE.cas.b32 %old, [%lock], 0, 1;
    setp.eq.u32 %got, %old, 0;
    @%got ld.volatile.SPACE.u32 %x, [%word];
    @%got mad.lo.u32 %x, %x, 3, %v;
    @%got st.volatile.SPACE.u32 [%word], %x;
    @%got membar.gl;
    @%got atom.SPACE.exch.b32 %old, [%lock], 0;
    @!%got bra AGAIN;
"""
"""As listing 8.2: the lock decides by a predicate. No atomic instruction has `3 * x + v`."""
BRANCHES = """
AGAIN:
    mov.u32 %done, 0;
    atom.SPACE.exch.b32 %old, [%lock], 1;
    setp.ne.u32 %got, %old, 0;
    @%got bra NEXT;
    ld.volatile.SPACE.u32 %x, [%word];
    mad.lo.u32 %x, %x, 3, %v;
    st.volatile.SPACE.u32 [%word], %x;
    membar.gl;
    st.volatile.SPACE.u32 [%lock], 0;
    mov.u32 %done, 1;
NEXT:
    setp.eq.u32 %got, %done, 0;
    @%got bra AGAIN;
"""
SHARED = """
    .shared .align 4 .b32 words[64];
    .shared .align 4 .b32 locks[64];
    mov.u32 %a, words;
    mad.lo.u32 %word, %c, 4, %a;
    mov.u32 %a, locks;
    mad.lo.u32 %lock, %c, 4, %a;
    setp.lt.u32 %p, %t, 64;
    mov.u32 %a, words;
    mad.lo.u32 %a, %t, 4, %a;
    @%p st.shared.u32 [%a], 0;
    @%p st.shared.u32 [%a+256], 0;
    bar.sync 0;
"""


def kernel(version: str, target: str, loop: str, space: str) -> str:
    """Thread `t` of a CTA adds the word `choice[t]` in turn; the words go to `out`, one row for each CTA
    (`shared`), or one for all (`global`, whose locks follow the words)."""
    width = 32 if space == "shared" else 64
    place = SHARED if space == "shared" else """
    mul.wide.u32 %word, %c, 4;
    add.u64 %word, %word, %out;
    add.u64 %lock, %word, 256;
"""  # fmt: skip
    end = """
    bar.sync 0;
    @!%p exit;
    ld.shared.u32 %x, [%a];
    mov.u32 %v, %ctaid.x;
    mad.lo.u32 %v, %v, 64, %t;
    mul.wide.u32 %w, %v, 4;
    add.u64 %out, %out, %w;
    st.global.u32 [%out], %x;
""" if space == "shared" else ""  # fmt: skip
    return f"""
.version {version}
.target {target}
.address_size 64
.entry k(.param .u64 choice, .param .u64 values, .param .u64 out)
{{
    .reg .u64 %choice, %values, %out, %w;
    .reg .u32 %t, %c, %v, %a, %x, %old, %done;
    .reg .b{width} %word, %lock;
    .reg .pred %p, %got;
    ld.param.u64 %choice, [choice];
    ld.param.u64 %values, [values];
    ld.param.u64 %out, [out];
    mov.u32 %t, %tid.x;
    mul.wide.u32 %w, %t, 4;
    add.u64 %choice, %choice, %w;
    add.u64 %values, %values, %w;
    ld.global.u32 %c, [%choice];
    ld.global.u32 %v, [%values];
{place}
{loop.replace("SPACE", space)}
{end}
    exit;
}}
"""


def orders(values: list[int]) -> set[int]:
    """What `x = 3 * x + v` can give, from 0, for all values in any order."""
    results = {0: {0}}  # by the set of values used, as bits
    for used in range(1 << len(values)):
        for i, v in enumerate(values):
            if not used >> i & 1:
                after = {(3 * x + v) % 2**32 for x in results[used]}
                results.setdefault(used | 1 << i, set()).update(after)
    return results[(1 << len(values)) - 1]


@pytest.mark.parametrize("loop", [GUARDED, BRANCHES], ids=["guarded", "branches"])
@pytest.mark.parametrize(("version", "target", "arch"), DEVICES)
@pytest.mark.parametrize("space", ["shared", "global"])
def test_few_threads_a_word(engine: str, version: str, target: str, arch: str, space: str, loop: str) -> None:
    """Six threads a word, some of one warp and some of another, in any order: one of 720 results."""
    device = shared_device(engine, arch)
    rng = np.random.default_rng(3)
    choice = rng.permutation(np.repeat(np.arange(16, dtype=np.uint32), 6))
    values = rng.integers(0, 2**32, 96, dtype=np.uint32)
    out = device.zeros(128, "u4")
    text = kernel(version, target, loop, space)
    device.load(text)["k"](1, 96, (device.array(choice), device.array(values), out))
    for word in range(16):
        assert int(out.numpy()[word]) in orders(values[choice == word].tolist())
    assert not out.numpy()[16:].any()  # locks are free again


@pytest.mark.parametrize("loop", [GUARDED, BRANCHES], ids=["guarded", "branches"])
@pytest.mark.parametrize(("version", "target", "arch"), DEVICES)
@pytest.mark.parametrize(("space", "grid"), [("shared", 3), ("global", 1), ("global", 4)])
def test_all_threads_want_one_word(
    engine: str, version: str, target: str, arch: str, space: str, grid: int, loop: str
) -> None:
    """The loop of a warp runs as many rounds as it has lanes. With `x + v` the order does not matter."""
    device = shared_device(engine, arch)
    values = np.random.default_rng(4).integers(0, 2**32, 96, dtype=np.uint32)
    out = device.zeros(64 * max(grid, 2), "u4")
    plain = loop.replace("%x, 3, %v", "%x, 1, %v")
    text = kernel(version, target, plain, space)
    device.load(text)["k"](grid, 96, (device.zeros(96, "u4"), device.array(values), out))
    total = values.sum(dtype=np.uint32)
    if space == "shared":
        assert out.numpy().reshape(-1, 64)[:grid, 0].tolist() == [int(total)] * grid
    else:
        assert int(out.numpy()[0]) == int(total) * grid % 2**32


@pytest.mark.parametrize(("version", "target", "arch"), DEVICES)
def test_an_atomic_sum_in_shared_memory(engine: str, version: str, target: str, arch: str) -> None:
    """Listing 8.1: every thread adds the first input to its own word, and reads it back."""
    text = f"""
.version {version}
.target {target}
.address_size 64
.extern .shared .align 4 .b32 s[];
.entry k(.param .u64 out, .param .u64 in)
{{
    .reg .u64 %in, %out, %w;
    .reg .u32 %t, %a, %v, %first;
    ld.param.u64 %out, [out];
    ld.param.u64 %in, [in];
    ld.global.u32 %first, [%in];
    mov.u32 %t, %tid.x;
    mul.wide.u32 %w, %t, 4;
    add.u64 %in, %in, %w;
    add.u64 %out, %out, %w;
    mov.u32 %a, s;
    mad.lo.u32 %a, %t, 4, %a;
    ld.global.u32 %v, [%in];
    st.shared.u32 [%a], %v;
    bar.sync 0;
    red.shared.add.u32 [%a], %first;
    bar.sync 0;
    ld.shared.u32 %v, [%a];
    st.global.u32 [%out], %v;
    exit;
}}
"""
    device = shared_device(engine, arch)
    given = np.random.default_rng(8).integers(0, 2**32, 80, dtype=np.uint32)
    out = device.zeros(80, "u4")
    device.load(text)["k"](1, 80, (out, device.array(given)), shared_mem=320)
    assert (out.numpy() == given + given[0]).all()
