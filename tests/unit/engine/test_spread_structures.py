"""Members of structures that several lanes share, at places that the analysis guesses. Expectations are
those of Python and NumPy."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.driver.source import compile_ptx
from simt.engine.host import SLOW_GATHERS
from simt.engine.llvm_kernel import emit
from simt.machine.device import DEVICES
from tests.conftest import shared_device

SOURCE = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 out, .param .u32 turns, .param .u32 more)
{{
    .reg .u32 %t, %i, %b, %m, %n, %more; .reg .{t} %v, %sum; .reg .u64 %a, %o, %x; .reg .pred %p;
    ld.param.u64 %a, [a]; ld.param.u64 %o, [out]; ld.param.u32 %n, [turns]; ld.param.u32 %more, [more];
    mov.u32 %t, %tid.x; mul.wide.u32 %x, %t, {size}; add.u64 %o, %o, %x;
    and.b32 %m, %t, {rest}; add.u32 %i, %m, %more; sub.u32 %m, %t, %m; add.u32 %i, %i, %m;
    shr.u32 %b, %i, {bits}; and.b32 %m, %i, {rest};
    mul.wide.u32 %x, %b, {structure}; add.u64 %a, %a, %x;
    mul.wide.u32 %x, %m, {step}; add.u64 %a, %a, %x;
    mov.{b} %sum, 0;
    setp.ge.u32 %p, %b, %n; @%p bra DONE;
LOOP:
    ld.global.{t} %v, [%a+{size}]; add.{t} %sum, %sum, %v;
    ld.global.{t} %v, [%a]; add.{t} %sum, %sum, %v;
    add.u64 %a, %a, {stride}; add.u32 %b, %b, {blocks};
    setp.lt.u32 %p, %b, %n; @%p bra LOOP;
DONE:
    st.global.{t} [%o], %sum;
    ret;
}}
"""
THREADS = 96
ZEN = frozenset(
    {"avx2", "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512vbmi", "bmi2", "f16c", SLOW_GATHERS}
)
KINDS = {
    "halves by fours": ("u16", 2, 2, 34, 8),
    "words by fours": ("u32", 4, 2, 36, 8),
    "words by twos": ("u32", 4, 1, 20, 8),
    "words by eights": ("s32", 4, 3, 72, 8),
    "a word for sixteen": ("u32", 4, 4, 144, 0),
    "long words by twos": ("u64", 8, 1, 40, 16),
}


def source(kind: str) -> str:
    t, size, bits, structure, step = KINDS[kind]
    blocks = THREADS >> bits
    return SOURCE.format(
        t=t, b=f"b{8 * size}" if size != 2 else "u16", size=size, bits=bits, rest=(1 << bits) - 1,
        structure=structure, step=step, blocks=blocks, stride=blocks * structure,
    )  # fmt: skip


def data(kind: str, blocks: int) -> np.ndarray[tuple[int], np.dtype[np.unsignedinteger]]:
    _, size, _, structure, _ = KINDS[kind]
    return np.random.default_rng(3).integers(0, 256, blocks * structure, "u1").view(f"u{size}")


def expected(kind: str, turns: int, more: int) -> list[int]:
    _, size, bits, structure, step = KINDS[kind]
    words, found = data(kind, turns + 2), list[int]()
    for thread in range(THREADS):
        index = thread + more
        places = [
            (block * structure + index % (1 << bits) * step) // size
            for block in range(index >> bits, turns, THREADS >> bits)
        ]
        found.append(sum(int(words[p]) + int(words[p + 1]) for p in places) % (1 << 8 * size))
    return found


def run(device: simt.Device, kind: str, turns: int, more: int) -> list[int]:
    out = device.zeros(THREADS, f"u{KINDS[kind][1]}")
    device.load(source(kind))["k"]((1,), (THREADS,), (device.array(data(kind, turns + 2)), out, turns, more))
    return out.numpy().tolist()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("turns", "more"), [(192, 0), (101, 0), (7, 0), (150, 1)])
def test_sums(engine: str, kind: str, turns: int, more: int) -> None:
    """All turns, lanes that leave the loop before others, few lanes; an index that begins elsewhere, so that
    the guess is wrong."""
    assert run(shared_device(engine), kind, turns, more) == expected(kind, turns, more)


@pytest.mark.parametrize("kind", ["halves by fours", "words by twos"])
@pytest.mark.parametrize("lane", [0, 13, 31, 70])
def test_faults(engine: str, kind: str, lane: int) -> None:
    """The first thread whose word lies behind the memory's end is named, with its address and line."""
    _, size, bits, structure, step = KINDS[kind]
    device = simt.Device("sm_90", engine=engine, memory="16MiB", workers=1)
    kernel, out = device.load(source(kind))["k"], device.zeros(THREADS, f"u{size}")
    kernel((1,), (THREADS,), (0, out, 0, 0))
    end = device.memory.limit
    places = [
        thread // (1 << bits) * structure + thread % (1 << bits) * step + size for thread in range(THREADS)
    ]
    with pytest.raises(simt.MemoryFault) as fault:
        kernel((1,), (THREADS,), (end - places[lane], out, THREADS >> bits, 0))
    assert (fault.value.site.thread, fault.value.address) == ((lane, 0, 0), end)
    assert fault.value.site.line == 1 + source(kind)[: source(kind).index("ld.global")].count("\n")


@functools.cache
def text(kind: str, features: frozenset[str]) -> str:
    program, _ = compile_ptx(source(kind), "<ptx>", DEVICES[90])
    return emit(program, program.functions["k"], BlockShape(THREADS, 1, 1), features, "nounwind")[0]


def test_where_lanes_are_picked() -> None:
    assert "@simt.spread" in text("words by twos", ZEN)
    assert "@simt.spread" in text("halves by fours", ZEN)
    assert "@simt.spread" not in text("halves by fours", ZEN - {"avx512bw", "avx512vbmi"})
    assert "@simt.spread" not in text("words by twos", frozenset({"avx2"}))
