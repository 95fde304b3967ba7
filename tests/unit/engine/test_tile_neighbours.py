"""Words at constant distances from an index that is cut into rows: neighbours of the pixels of planes."""

from __future__ import annotations

import re

import llvmlite.binding as llvm
import numpy as np
import pytest
from numpy.typing import NDArray

import simt
from simt.analysis.shape import WARP, BlockShape
from simt.engine.compile import attributes
from simt.engine.host import SLOW_GATHERS, named_cpus
from simt.engine.llvm_builder import Builder, Value
from simt.engine.llvm_kernel import emit
from simt.engine.llvm_tiles import Plain, Product
from simt.records import replace
from tests.conftest import kept_for_each_way, shared_device

Words, Places = NDArray[np.uint32], NDArray[np.int64]
KERNEL = """
.version 7.5
.target sm_75
.address_size 64
.entry k(.param .u64 in, .param .u64 out, .param .u32 count, .param .u32 shift)
{{
    .reg .u64 %i, %o, %a, %w; .reg .u32 %k, %q, %r, %x, %n, %s, %v, %z; .reg .pred %off;
    ld.param.u64 %i, [in]; ld.param.u64 %o, [out]; ld.param.u32 %n, [count]; ld.param.u32 %z, [shift];
    mov.u32 %k, %ctaid.x; mov.u32 %x, %ntid.x; mov.u32 %q, %tid.x; mad.lo.u32 %k, %k, %x, %q;
    setp.ge.u32 %off, %k, %n;
    @%off bra END;
    mov.u32 %x, %k;
    {moved}
    mul.wide.u32 %w, %k, {factor}; shr.u64 %w, %w, {by}; cvt.u32.u64 %q, %w;
    mul.lo.u32 %r, %q, {length}; sub.u32 %r, %k, %r;
    mad.lo.u32 %r, %q, {pitch}, %r; mul.wide.u32 %a, %r, 4; add.u64 %a, %a, %i;
    mov.u32 %s, 0;
{loads}
    mul.wide.u32 %w, %x, 4; add.u64 %o, %o, %w; st.global.u32 [%o], %s;
END:
    ret;
}}
"""
MOVED = "add.u32 %k, %k, %z;"
LENGTHS = [11, 12, 20, 24, 28, 30, 34, 48]
SQUARE = [4 * (30 * row + column) for row in range(3) for column in range(3)]
CROSS = [0, -4, 4, -128, 128, 512]
FAR = [0, 8, 400, 404]
WORDS = np.random.default_rng(1).integers(1, 2**32, 6000, "u4")
MIDDLE = 1000
"""The word from which addresses are counted."""
AWAY = 1000
"""Words of memory's beginning that are loaded, of which none is stored."""


def text(length: int, distances: list[int], moved: str = "", pitch: int = 0) -> str:
    """The quotient is exact for numbers of 31 bits: Granlund and Montgomery, theorem 4.2."""
    by = next(n for n in range(32, 64) if -(2**n) % length <= 2 ** (n - 31))
    loads = "\n".join(
        f"ld.global.u32 %v, [%a+{distance}]; mad.lo.u32 %s, %v, {2 * i + 1}, %s;"
        for i, distance in enumerate(distances)
    )
    return KERNEL.format(
        factor=-(-(2**by) // length),
        by=by,
        length=length,
        pitch=pitch or length + 2,
        loads=loads,
        moved=moved,
    )


def sums(words: Words, places: Places, distances: list[int]) -> Words:
    found = np.zeros(len(places), "u4")
    for i, distance in enumerate(distances):
        found += words[places + distance // 4] * np.uint32(2 * i + 1)
    return found


def place(index: Places, length: int) -> Places:
    return index // length * (length + 2) + index % length


@kept_for_each_way
def device() -> simt.Device:
    return simt.Device("sm_90", engine="jit", memory="16MiB", workers=1, timeout=20)


@pytest.mark.share(3)
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("moved", ["", MOVED], ids=["from a warp's first", "from anywhere"])
@pytest.mark.parametrize("distances", [SQUARE, CROSS, FAR], ids=["square", "cross", "far"])
def test_every_lane_has_its_neighbours(length: int, moved: str, distances: list[int]) -> None:
    """Wherever a row begins within a warp; the last warp is partly filled."""
    count, given = length * WARP + 5, device().array(WORDS)
    kernel = device().load(text(length, distances, moved))["k"]
    for shift in range(5 if moved else 1):
        out = device().zeros(count, "u4")
        kernel(-(-count // 64), 64, (given.ptr + 4 * MIDDLE, out, count, shift))
        places = MIDDLE + place(np.arange(count) + shift, length)
        np.testing.assert_array_equal(out.numpy(), sums(WORDS, places, distances))
        out.free()
    given.free()


@pytest.mark.parametrize("over", range(-3, 4))
@pytest.mark.parametrize(
    ("at_end", "distances"), [(True, SQUARE), (True, SQUARE[::-1]), (False, [0, -4, -8, -120])]
)
def test_memory_ends_within_the_neighbours_of_a_warp(over: int, at_end: bool, distances: list[int]) -> None:
    """What is asked for all of a warp's rows fails there. Then each lane is asked at each load, and the first
    one beyond is at fault; if none is, as only lanes that do not run were, all have what they load."""
    count, length, memory = 28 * 8 - 7, 28, device().memory
    kernel, out = device().load(text(length, distances))["k"], device().zeros(AWAY + count, "u4")
    kernel(1, WARP, (0, 0, 0, 0))  # which takes memory for itself
    places = place(np.arange(count), length)
    if at_end:
        first = (memory.limit - memory.base - max(distances)) // 4 - int(places[-1]) - 1 + over
    else:
        first = -min(distances) // 4 - over
    before = np.frombuffer(memory.view(memory.base, memory.limit - memory.base), "u4").copy()
    arguments = memory.base + 4 * first, out.ptr + 4 * AWAY, count, 0
    beyond = [
        (thread, distance)
        for warp in range(0, count, WARP)
        for distance in distances
        for thread in range(warp, min(warp + WARP, count))
        if not 0 <= first + places[thread] + distance // 4 < len(before)
    ]
    assert bool(beyond) == (over > 0)
    if beyond:
        with pytest.raises(simt.MemoryFault) as fault:
            kernel(-(-count // WARP), WARP, arguments)
        thread, distance = beyond[0]
        assert fault.value.address == arguments[0] + 4 * int(places[thread]) + distance
        assert (fault.value.site.cta, fault.value.site.thread) == (
            (thread // WARP, 0, 0),
            (thread % WARP, 0, 0),
        )
    else:
        kernel(-(-count // WARP), WARP, arguments)
        np.testing.assert_array_equal(out.numpy()[AWAY:], sums(before, first + places, distances))
    out.free()


def test_a_distance_that_is_no_word_is_misaligned() -> None:
    out, given = device().zeros(64, "u4"), device().array(WORDS)
    with pytest.raises(simt.MemoryFault, match="misaligned") as fault:
        device().load(text(28, [0, 4, 6]))["k"](2, 32, (given, out, 64, 0))
    assert fault.value.address == given.ptr + 6
    out.free()
    given.free()


# ---------------------------------------------------------------- the code


def code(source: str, features: frozenset[str] = frozenset()) -> str:
    cpu, program = named_cpus()["x86-64-v4"], shared_device("jit").load(source).program
    cpu = replace(cpu, features=cpu.features | features)
    return emit(program, program.functions["k"], BlockShape(64, 1, 1), cpu.features, attributes(cpu))[0]


def parts(source: str, line: str) -> list[int]:
    """How often there is such a line in each part of the code, between two labels."""
    found = re.split(r"^(?=[\w.]+:$)", code(source), flags=re.MULTILINE)
    return [len(re.findall(line, part)) for part in found]


def questions(distances: list[int]) -> int:
    """How often it is asked whether both rows of a warp are valid."""
    return parts(text(28, distances), r"= call i64 @llvm\.fshr\.i64\(").count(2)


def test_all_neighbours_are_asked_for_at_once() -> None:
    """But for words that are not aligned alike."""
    assert questions(SQUARE) == questions(SQUARE[:2]) > 0
    assert questions([0, 4, 6]) == 3 * questions(SQUARE[:2])


@pytest.mark.parametrize(
    ("length", "rows"), [(12, (4, 4)), (24, (2, 3)), (28, (2, 3)), (30, (2, 3)), (34, (2, 2))]
)
def test_a_warp_has_as_many_rows_as_its_first_index_allows(length: int, rows: tuple[int, int]) -> None:
    """A multiple of 32, or any. A vector for each row."""
    found = tuple(max(parts(text(length, [0], moved), r"= load <32 x i32>")) for moved in ("", MOVED))
    assert found == rows


def test_what_is_asked_on_one_side_of_a_branch_is_not_known_behind_it() -> None:
    """Where gathers are slow, loads that may have been done ahead ask on such a side."""
    source = text(28, [4 * n for n in range(40)])
    llvm.parse_assembly(code(source, frozenset({SLOW_GATHERS}))).verify()


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("zeros", range(7))
def test_rows_of_a_warp(length: int, zeros: int) -> None:
    plain = Plain(Builder(), lambda: Value("%index", "i32"))
    product = Product("%index", Value("%index", "i32"), "true", 1, 0, plain, zeros)
    starts = range(0, length << 6, 1 << zeros)
    assert product.rows(length) == max((start + WARP - 1) // length - start // length + 1 for start in starts)
