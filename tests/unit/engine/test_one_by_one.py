"""Scattered accesses by some lanes of a warp; small words are stored one by one. NumPy expects."""

from __future__ import annotations

import re

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.host import named_cpus
from simt.engine.llvm_kernel import emit
from tests.conftest import shared_device

WORDS, THREADS = 256, 96
# Threads whose flag is set read at one index and write at another, in global and in shared memory.
KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 flags, .param .u64 from, .param .u64 to, .param .u64 in, .param .u64 out)
{{
    .reg .u32 %t, %f, %i, %j, %s, %v, %w; .reg .u64 %p, %o, %in, %out; .reg .pred %q;
    .reg .{type} %x, %y;
    .shared .align 16 .b8 box[{bytes}];
    mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 4;
    ld.param.u64 %p, [flags]; add.u64 %p, %p, %o; ld.global.u32 %f, [%p]; setp.ne.u32 %q, %f, 0;
    ld.param.u64 %p, [from]; add.u64 %p, %p, %o; ld.global.u32 %i, [%p];
    ld.param.u64 %p, [to]; add.u64 %p, %p, %o; ld.global.u32 %j, [%p];
    ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
    {body}
    ret;
}}
"""
GLOBAL = """
    mul.wide.u32 %o, %i, {size}; add.u64 %in, %in, %o; mul.wide.u32 %o, %j, {size}; add.u64 %out, %out, %o;
    @!%q bra END; ld.global.{v}{type} {list}, [%in]; st.global.{v}{type} [%out], {list}; END:"""
SHARED = """
    mov.u32 %s, box; mad.lo.u32 %v, %i, {size}, %s; mad.lo.u32 %w, %j, {size}, %s;
    mul.wide.u32 %o, %i, {size}; add.u64 %in, %in, %o; mul.wide.u32 %o, %j, {size}; add.u64 %out, %out, %o;
    @!%q bra END;
    ld.global.{v}{type} {list}, [%in]; st.shared.{v}{type} [%w], {list};
    ld.shared.{v}{type} {list}, [%w]; st.global.{v}{type} [%out], {list}; END:"""
SPACES = {"global": GLOBAL, "shared": SHARED}
TYPES = {"u32": ("", "%x", 4), "u64": ("", "%x", 8), "v2.u32": ("v2.", "{%x, %y}", 8), "u16": ("", "%x", 2)}


def source(space: str, kind: str, more: int = 0) -> str:
    vector, names, size = TYPES[kind]
    t = kind.removeprefix("v2.")
    body = SPACES[space].format(size=size, v=vector, type=t, list=names)
    return KERNEL.format(type=t, bytes=WORDS * size - more, body=body)


def masks() -> list[np.ndarray]:
    """Of no lane, of each number of lanes, of lanes that are far apart, and of random ones."""
    random = np.random.default_rng(7)
    found = [np.arange(THREADS) % 32 < count for count in (0, 1, 2, 3, 4, 5, 8, 16, 31, 32)]
    found += [np.arange(THREADS) % step == 0 for step in (2, 5, 8, 16, 31, 32, 40)]
    found += [random.random(THREADS) < share for share in (0.05, 0.1, 0.15, 0.2, 0.5)]
    return [mask.astype("u4") for mask in found]


def expected(mask: np.ndarray, to: np.ndarray, values: np.ndarray, out: np.ndarray) -> np.ndarray:
    """The last thread that writes to a place wins."""
    found = out.copy()
    for thread in np.flatnonzero(mask):
        found[to[thread]] = values[thread]
    return found


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("space", SPACES)
def test_lanes_of_many_masks(engine: str, space: str, kind: str) -> None:
    device, size = shared_device(engine), TYPES[kind][2]
    kernel = device.load(source(space, kind))["k"]
    random = np.random.default_rng(3)
    given = random.integers(0, 256, (WORDS, size), dtype="u1")
    # In global memory several lanes may write to one place; in the other test each has its own.
    for mask in masks():
        start = random.integers(0, WORDS, THREADS, dtype="u4")
        to = random.integers(0, WORDS, THREADS, dtype="u4") if space == "global" else random.permutation(
            np.arange(WORDS, dtype="u4"))[:THREADS]  # fmt: skip
        out = device.array(np.full((WORDS, size), 99, "u1"))
        arrays = [device.array(a) for a in (mask, start, to, given)]
        kernel(1, THREADS, (*arrays, out))
        wanted = expected(mask, to, given[start], np.full((WORDS, size), 99, "u1"))
        np.testing.assert_array_equal(out.numpy(), wanted)


@pytest.mark.parametrize("thread", [0, 31, 32, 70, 95])
@pytest.mark.parametrize("space", SPACES)
def test_one_lane_outside(engine: str, space: str, thread: int) -> None:
    """It alone runs, and is named; where it does not run, nothing happens."""
    device = shared_device(engine)
    kernel = device.load(source(space, "u32", more=4))["k"]
    start, to = np.zeros(THREADS, "u4"), np.zeros(THREADS, "u4")
    to[thread] = WORDS - 1 if space == "shared" else 1 << 30
    given, mask = device.array(np.zeros(WORDS, "u4")), np.ones(THREADS, "u4")
    mask[thread] = 0
    kernel(1, THREADS, (device.array(mask), device.array(start), device.array(to), given, given))
    with pytest.raises(simt.MemoryFault) as caught:
        kernel(1, THREADS, (device.array(1 - mask), device.array(start), device.array(to), given, given))
    assert caught.value.site.thread == (thread, 0, 0)
    if space == "shared":
        assert (caught.value.address, caught.value.space) == (4 * (WORDS - 1), "shared")


def test_small_words_are_stored_one_by_one() -> None:
    """On CPUs that scatter; on others all words are (`tests/unit/engine/test_by_lane.py`)."""
    for cpu, small in (("x86-64", 0), ("x86-64-v3", 0), ("x86-64-v4", 2)):
        for kind, wanted in (("u32", 0), ("u16", small)):
            program = shared_device("jit").load(source("shared", kind)).program
            features = named_cpus()[cpu].features
            text = emit(program, program.functions["k"], BlockShape(THREADS, 1, 1), features, "nounwind")[0]
            assert len(re.findall(r"call .*@simt\.store\.each", text)) == wanted
