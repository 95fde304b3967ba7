"""Lanes in the rows of an index, which they go through together: `simt.engine.llvm_places`."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.driver.source import compile_ptx
from simt.engine.host import host_features
from simt.engine.llvm_kernel import emit
from simt.machine.device import find_device

WORDS, THREADS, TURNS = 2048, 64, 5
HEAD = ".version 7.0\n.target sm_75\n.address_size 64\n"
TYPES = {1: "u8", 2: "u16", 4: "u32", 8: "u64"}
LENGTHS = (10, 16, 20, 24, 31, 40, 200)
"""Columns of a row. Of rows of 10 a warp has lanes in four and more."""


def kernel(space: str, size: int, length: int, pitch: int, step: int, first: int = 0) -> str:
    """Threads go through words of a size from the row and from the column of their index on. Both are
    products: `row * pitch` and `column * step` words. Each turn is a row of the latter further, and a word
    of the former. `first`: bytes added to the latter."""
    word, register = TYPES[size], ".b64" if size == 8 else ".b32"
    kind = "u64" if size == 8 else "u32"
    return f"""{HEAD}
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 pitch, .param .u32 some)
{{
    .reg .pred %e; .reg .b64 %g, %o, %p, %q; .reg .b32 %t, %i, %r, %c, %n, %k, %s, %f, %b;
    .reg {register} %v, %u, %sum;
    .shared .align 16 .b8 words[{WORDS * size}];
    ld.param.u64 %g, [in]; ld.param.u64 %o, [out]; ld.param.u32 %k, [pitch]; ld.param.u32 %s, [some];
    mov.u32 %t, %tid.x; mov.b32 %i, %t; mov.b32 %b, words;
    C: setp.ge.u32 %e, %i, {WORDS}; @%e bra D;
    mad.wide.u32 %p, %i, {size}, %g; ld.global.{word} %v, [%p];
    mad.lo.u32 %r, %i, {size}, %b; st.shared.{word} [%r], %v;
    add.u32 %i, %i, {THREADS}; bra C;
    D: bar.sync 0;
    setp.ge.u32 %e, %t, %s; @%e bra E;
    div.u32 %r, %t, {length}; rem.u32 %c, %t, {length};
    mul.lo.u32 %r, %r, %k; mul.lo.u32 %r, %r, {size};
    mul.lo.u32 %c, %c, {step * size}; add.u32 %c, %c, {first};
    add.u32 %f, %r, %b; add.u32 %i, %c, %b;
    cvt.u64.u32 %p, %r; add.u64 %p, %p, %g; cvt.u64.u32 %q, %c; add.u64 %q, %q, %g;
    mov.{register[1:]} %sum, 0; mov.u32 %n, 0;
    L: ld.{space}.{word} %v, [{"%f" if space == "shared" else "%p"}];
    ld.{space}.{word} %u, [{"%i" if space == "shared" else "%q"}];
    mad.lo.{kind} %sum, %v, %u, %sum;
    add.u32 %f, %f, {size}; add.u32 %i, %i, {length * size};
    add.u64 %p, %p, {size}; add.u64 %q, %q, {length * size};
    add.u32 %n, %n, 1; setp.lt.u32 %e, %n, {TURNS}; @%e bra L;
    mad.wide.u32 %o, %t, {max(size, 4)}, %o; st.global.{kind} [%o], %sum;
    E: ret;
}}
"""


def data_of(size: int) -> np.ndarray:
    return np.random.default_rng(size).integers(0, 256, WORDS).astype(f"u{size}")


def expected(data: np.ndarray, length: int, pitch: int, step: int, some: int) -> list[int]:
    t, n = np.arange(THREADS)[:, None], np.arange(TURNS)
    row, column = t // length, t % length
    wide = data.astype("u8")
    sums = (wide[row * pitch + n] * wide[column * step + n * length]).sum(1)
    return [int(s) if i < some else 0 for i, s in enumerate(sums)]


def run(engine: str, space: str, size: int, length: int, pitch: int, step: int, some: int) -> list[int]:
    device = simt.Device("sm_90", engine=engine, memory="64MiB", timeout=20)
    out = device.zeros(THREADS, f"u{max(size, 4)}")
    arguments = device.array(data_of(size)), out, np.uint32(pitch), np.uint32(some)
    device.load(kernel(space, size, length, pitch, step))["k"](1, THREADS, arguments)
    return out.numpy().tolist()


@pytest.mark.share(2)
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("size", TYPES)
@pytest.mark.parametrize("space", ["shared", "global"])
def test_rows_and_columns(engine: str, space: str, size: int, length: int) -> None:
    found = run(engine, space, size, length, 70, 1, THREADS)
    assert found == expected(data_of(size), length, 70, 1, THREADS)


@pytest.mark.parametrize("some", [1, 20, 33, 47])
@pytest.mark.parametrize("step", [1, 2, 3])
@pytest.mark.parametrize("space", ["shared", "global"])
def test_some_lanes_and_other_steps(engine: str, space: str, step: int, some: int) -> None:
    found = run(engine, space, 4, 24, 3, step, some)
    assert found == expected(data_of(4), 24, 3, step, some)


@pytest.mark.parametrize("pitch", [0, 1, 300, -7 % 2**32])
def test_pitches(engine: str, pitch: int) -> None:
    """Rows may be one, beside each other, and end beyond memory in a row that no lane is in."""
    if pitch > WORDS:  # backwards: below the array's beginning from the second row on
        device = simt.Device("sm_90", engine=engine, memory="64MiB", timeout=20)
        out = device.zeros(THREADS, "u4")
        arguments = device.array(data_of(4)), out, np.uint32(pitch), np.uint32(THREADS)
        with pytest.raises(simt.MemoryFault) as caught:
            device.load(kernel("shared", 4, 20, pitch, 1))["k"](1, THREADS, arguments)
        assert caught.value.site.thread == (20, 0, 0)
        return
    found = run(engine, "shared", 4, 20, pitch, 1, THREADS)
    assert found == expected(data_of(4), 20, pitch, 1, THREADS)


@pytest.mark.parametrize(
    ("length", "row"),
    [(length, row) for length in (16, 20, 31, 40) for row in (1, 2, 3) if row * length < THREADS],
)
def test_faults_name_the_first_lane_of_the_row(engine: str, length: int, row: int) -> None:
    """In the turn in which its row leaves shared memory, before any other one does."""
    pitch = (WORDS - 3) // row + 1
    device = simt.Device("sm_90", engine=engine, memory="64MiB", timeout=20)
    some = min((row + 1) * length, THREADS)
    arguments = device.array(data_of(4)), device.zeros(THREADS, "u4"), np.uint32(pitch), np.uint32(some)
    with pytest.raises(simt.MemoryFault) as caught:
        device.load(kernel("shared", 4, length, pitch, 1))["k"](1, THREADS, arguments)
    turn = max(WORDS - row * pitch, 0)
    assert caught.value.site.thread == (row * length, 0, 0)
    assert caught.value.address == 4 * (row * pitch + turn)


def test_words_that_are_not_aligned(engine: str) -> None:
    device = simt.Device("sm_90", engine=engine, memory="64MiB", timeout=20)
    arguments = device.array(data_of(4)), device.zeros(THREADS, "u4"), np.uint32(9), np.uint32(THREADS)
    with pytest.raises(simt.MemoryFault) as caught:
        device.load(kernel("shared", 4, 24, 9, 1, first=2))["k"](1, THREADS, arguments)
    assert (caught.value.site.thread, caught.value.address) == ((0, 0, 0), 2)


def ir(ptx: str) -> str:
    program, _ = compile_ptx(ptx, "<test>", find_device("sm_90"))
    return emit(program, program.functions["k"], BlockShape(THREADS, 1, 1), host_features(), "nounwind")[0]


@pytest.mark.skipif("avx512bw" not in host_features(), reason="needs loads under masks")
def test_what_is_looked_for() -> None:
    """Rows of an index, not places that memory gives."""
    text = kernel("shared", 4, 24, 9, 1)
    assert "third." in ir(text)
    loaded = "mad.wide.u32 %p, %t, 4, %g; ld.global.u32 %t, [%p]; mov.b32 %i, %t;"
    assert "third." not in ir(text.replace("mov.b32 %i, %t;", loaded, 1))
