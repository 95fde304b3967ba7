"""Atomic operations on shared memory in a row, whose results nobody reads, against a model that takes the
program's operations one by one, and the lanes of each in ascending order."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.llvm_kernel import emit

THREADS = 72
"""The last warp is not full."""
BINS = 256

HEAD = """.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 words, .param .u64 bins)
{
    .reg .b64 %a, %b; .reg .b32 %t, %w, %x, %y, %v, %s; .reg .pred %p;
    .shared .align 4 .b8 before[64];
    .shared .align 4 .b32 mine[256];
    mov.u32 %t, %tid.x;
    mov.u32 %s, mine;
    ld.param.u64 %a, [words]; mad.wide.u32 %b, %t, 4, %a; ld.global.u32 %w, [%b];
    ld.param.u64 %a, [bins];
    setp.ne.u32 %p, %t, 0; @%p bra READY;
    mov.u32 %x, 0;
FILL:
    shl.b32 %y, %x, 2; add.u32 %y, %y, %s; mul.lo.u32 %v, %x, 3; st.shared.u32 [%y], %v;
    add.u32 %x, %x, 1; setp.lt.u32 %p, %x, 256; @%p bra FILL;
READY:
    bar.sync 0;
    setp.gt.u32 %p, %w, 0x80000000;
"""
TAIL = """
    bar.sync 0;
    mov.u32 %x, %t; mov.u32 %w, %ntid.x;
COPY:
    shl.b32 %y, %x, 2; add.u32 %y, %y, %s; ld.shared.u32 %v, [%y];
    mul.wide.u32 %b, %x, 4; add.u64 %b, %a, %b; st.global.u32 [%b], %v;
    add.u32 %x, %x, %w; setp.lt.u32 %p, %x, 256; @%p bra COPY;
    ret;
}
"""
SHIFTS = (0, 8, 16, 24)


def place(shift: int) -> str:
    """Leaves the address of the bin of a byte of the word in `%y`."""
    return f"shr.u32 %y, %w, {shift}; and.b32 %y, %y, 255; shl.b32 %y, %y, 2; add.u32 %y, %y, %s;"


Operation = tuple[str, int, str, str]
"""The word of the atomic operation, which byte's bin, the operand, the guard."""
PROGRAMS: dict[str, list[Operation]] = {
    "counts": [("add", s, "1", "") for s in SHIFTS],
    "sums": [("add", s, "%w", "") for s in SHIFTS],
    "bits": [("xor", s, "%w", "") for s in SHIFTS],
    "maxima": [("max", s, "%w", "") for s in SHIFTS],
    "sums and maxima": [
        ("add", 0, "%w", ""),
        ("max", 0, "%w", ""),
        ("add", 0, "%w", ""),
        ("min", 8, "7", ""),
    ],
    "guards between": [("add", 0, "%w", ""), ("add", 8, "%w", "@%p "), ("add", 16, "%w", "@!%p ")],
    "counts in turn": [("add", s, "1", "") for s in SHIFTS * 2],
    "sums in turn": [*(("add", s, "%w", "") for s in SHIFTS * 3), ("add", 4, "5", "")],
    "more than are put off": [("add", s, "%w", "") for s in SHIFTS * 5],
    "one bin": [("add", s, "%w", "") for s in (24, 24, 24)],
    "order matters": [("add", 0, "%w", ""), ("exch", 0, "%w", ""), ("add", 0, "1", ""), ("inc", 8, "%w", "")],
}
TYPES = {"xor": "b32", "exch": "b32"}


def text(operations: list[Operation]) -> str:
    lines = [
        f"{place(shift)} {guard}atom.shared.{op}.{TYPES.get(op, 'u32')} %v, [%y], {operand};"
        for op, shift, operand, guard in operations
    ]
    return HEAD + "\n".join(lines) + TAIL


def model(words: np.ndarray, operations: list[Operation]) -> list[int]:
    """The bins after the last operation, one warp after the other: programs whose order matters have one."""
    bins = [3 * i for i in range(BINS)]
    for first in range(0, len(words), 32):
        for op, shift, operand, guard in operations:
            for word in map(int, words[first : first + 32]):
                taken = word > 0x80000000
                if (guard == "@%p " and not taken) or (guard == "@!%p " and taken):
                    continue
                b, i = word if operand == "%w" else int(operand), word >> shift & 255
                old = bins[i]
                new = {
                    "add": old + b, "xor": old ^ b, "max": max(old, b), "min": min(old, b), "exch": b,
                    "inc": 0 if old >= b else old + 1,
                }[op]  # fmt: skip
                bins[i] = new % 2**32
    return bins


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("threads", [32, THREADS])
def test_updates_in_a_row(engine: str, name: str, threads: int) -> None:
    if name in ("order matters", "sums and maxima"):
        threads = min(threads, 32)  # warps of a CTA may take turns in any order
    device = simt.Device("sm_90", engine=engine, workers=1)
    words = np.random.default_rng(len(name)).integers(0, 1 << 32, threads, "u4")
    words[3::7] = words[2]  # bins that several lanes have
    bins = device.zeros(BINS, "u4")
    device.load(text(PROGRAMS[name]))["k"](1, threads, (device.array(words), bins))
    assert bins.numpy().tolist() == model(words, PROGRAMS[name])


def test_a_load_between_updates_sees_those_before_it(engine: str) -> None:
    device = simt.Device("sm_90", engine=engine, workers=1)
    between = "ld.shared.u32 %w, [%y]; and.b32 %w, %w, 255;"
    update = "atom.shared.add.u32 %v, [%y], 1;"
    program = HEAD + f"{place(0)} {update} {place(0)} {update}\n{between}\n{place(0)} {update}" + TAIL
    words, bins = np.full(32, 5, "u4"), device.zeros(BINS, "u4")
    device.load(program)["k"](1, 32, (device.array(words), bins))
    expected = [3 * i for i in range(BINS)]
    expected[5] += 64
    expected[expected[5] & 255] += 32
    assert bins.numpy().tolist() == expected


def test_a_word_is_taken_out_of_the_vector_once() -> None:
    """Four counts of the bytes of 32 words take 16 pairs of words out of registers."""
    program = simt.Device("sm_90", engine="interpreter").load(text(PROGRAMS["counts"])).program
    features = frozenset({"sse2", "sse4.1"})
    code, _, _ = emit(program, program.functions["k"], BlockShape(32, 1, 1), features, "")
    assert code.count("extractelement <16 x i64>") == 16
    assert code.count("call i32 asm") == 16  # the second word of each pair, of which its bytes are made


SMALL: dict[str, tuple[str, str, str]] = {
    "u1": ("u8", "cvt.u32.u16 %w, %h;", "1"),
    "u2": ("u16", "cvt.u32.u16 %w, %h; and.b32 %w, %w, 255;", "1"),
    "i1": ("s8", "cvt.s32.s16 %w, %h; add.s32 %w, %w, 128;", "1"),
    "sums of u1": ("u8", "cvt.u32.u16 %w, %h;", "%w"),
    "padded u1": ("u8", "cvt.u32.u16 %w, %h; add.u32 %w, %w, 3; and.b32 %w, %w, 255;", "1"),
    "limited u1": (
        "u8",
        "cvt.u32.u16 %w, %h; sub.s32 %w, %w, 128; max.s32 %w, %w, -9; add.s32 %w, %w, 9;",
        "1",
    ),
}
"""How numbers are loaded, how they become bins' numbers, and what is added."""
BINS_OF: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "u2": lambda words: words % 256,
    "i1": lambda words: words + 128,
    "padded u1": lambda words: (words + 3) % 256,
    "limited u1": lambda words: np.maximum(words - 128, -9) + 9,
}


def small(name: str) -> str:
    load, extended, operand = SMALL[name]
    first = HEAD.replace("mad.wide.u32 %b, %t, 4, %a; ld.global.u32 %w, [%b];", "")
    first = first.replace(".reg .pred %p;", ".reg .pred %p; .reg .b16 %h;")
    size = 2 if load == "u16" else 1
    loads = (
        f"ld.param.u64 %b, [words]; mad.wide.u32 %b, %t, {size}, %b; ld.global.{load} %h, [%b]; {extended}"
    )
    update = f"shl.b32 %y, %w, 2; add.u32 %y, %y, %s; red.shared.add.u32 [%y], {operand};"
    return first + loads + update + TAIL


@pytest.mark.parametrize("name", SMALL)
def test_bytes_and_halves(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMT_DRAFTS", "0")
    kind = np.dtype(name[-2:])
    limits = np.iinfo(kind)
    words = np.random.default_rng(1).integers(limits.min, limits.max + 1, THREADS)
    at = BINS_OF[name](words) if name in BINS_OF else words
    device = simt.Device("sm_90", engine="jit", workers=1)
    count, given = device.load(small(name))["k"], device.array(words.astype(kind))
    for threads in (32, 64, THREADS):
        bins = device.zeros(BINS, "u4")
        count(1, threads, (given, bins))
        expected = 3 * np.arange(BINS)
        np.add.at(expected, at[:threads], words[:threads] if "sums" in name else 1)
        assert bins.numpy().tolist() == expected.tolist()


@pytest.mark.parametrize(("name", "words", "lanes"), [("u1", 4, 8), ("sums of u1", 4, 8), ("u2", 8, 4)])
def test_as_many_lanes_as_a_register_has_come_out_at_once(name: str, words: int, lanes: int) -> None:
    program = simt.Device("sm_90", engine="interpreter").load(small(name)).program
    features = frozenset({"sse2", "sse4.1"})
    code, _, _ = emit(program, program.functions["k"], BlockShape(32, 1, 1), features, "")
    assert code.count(f"extractelement <{words} x i64>") == words
    assert words * lanes == 32
    assert "extractelement <16 x i64>" not in code


def test_a_way_for_parts_of_a_warp_is_rare() -> None:
    """Or what that way needs of masks is written to memory in each turn of a loop."""
    program = simt.Device("sm_90", engine="interpreter").load(text(PROGRAMS["counts"])).program
    code, _, _ = emit(program, program.functions["k"], BlockShape(40, 1, 1), frozenset({"sse2"}), "")
    updates = code.index("call i1 @simt.atomic.add.u32.private(")
    branches = re.findall(r"icmp eq i32 %v\d+, -1\n *(br i1 .*)", code[:updates])
    assert branches[-1].endswith("!prof !1")
