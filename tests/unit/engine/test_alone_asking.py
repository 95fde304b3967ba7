"""Words asked for ahead of time in loops that lanes go through alone: what is asked for is never seen."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.host import SLOW_GATHERS
from simt.engine.llvm_alone_asking import AHEAD
from simt.engine.llvm_kernel import emit
from tests.unit.engine.arrays import words_at_the_end
from tests.unit.engine.ways import WAYS, own_device

# A thread reads its list, and the words of a table that it names: if one is even, it writes 1 to it, and adds
# up the places in the list of such words.
WALK = """.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 lists, .param .u64 lengths, .param .u64 table, .param .u64 sums)
{
    .reg .b64 %list, %to, %a, %table; .reg .b32 %t, %length, %sum, %w, %i, %n; .reg .pred %odd, %more;
    mov.u32 %t, %tid.x;
    ld.param.u64 %a, [lists]; mad.wide.u32 %a, %t, 8, %a; ld.global.u64 %list, [%a];
    ld.param.u64 %a, [lengths]; mad.wide.u32 %a, %t, 4, %a; ld.global.u32 %length, [%a];
    ld.param.u64 %table, [table];
    mov.u32 %sum, 0; mov.u32 %n, 0;
TURN:
    add.u32 %n, %n, 1;
    ld.global.u32 %i, [%list];
    mul.wide.s32 %a, %i, 4; add.s64 %a, %a, %table;
    ld.global.u32 %w, [%a];
    and.b32 %w, %w, 1;
    setp.ne.u32 %odd, %w, 0;
    @%odd bra NEXT;
    mov.u32 %w, 1; st.global.u32 [%a], %w;
    add.u32 %sum, %sum, %n;
NEXT:
    add.s64 %list, %list, 4;
    setp.lt.u32 %more, %n, %length;
    @%more bra TURN;
    ld.param.u64 %to, [sums]; mad.wide.u32 %to, %t, 4, %to; st.global.u32 [%to], %sum;
    ret;
}
"""
# The list by an index of 32 bits, as LLVM writes it.
BY_INDEX = (
    WALK.replace("ld.global.u32 %i, [%list];", "mul.wide.u32 %a, %p, 4; add.s64 %a, %list, %a; READ")
    .replace("add.s64 %list, %list, 4;", "add.u32 %p, %p, 1;")
    .replace("mov.u32 %n, 0;", "mov.u32 %n, 0; mov.u32 %p, 0;")
    .replace(".reg .b32 %t,", ".reg .b32 %t, %p,")
    .replace("READ", "ld.global.u32 %i, [%a];")
)
SOURCES = {"by address": WALK, "by index": BY_INDEX}
READS_TABLE = 1 + next(i for i, line in enumerate(WALK.splitlines()) if "%w, [%a];" in line)
THREADS = 80
"""Two warps and a half."""
PLACES = 4000
"""Words of the table for each thread: nobody's words are another's."""


@pytest.fixture(params=WAYS)
def device(request: pytest.FixtureRequest) -> simt.Device:
    return own_device(str(request.param))


class Lists:
    """Lists of indices, each thread's with words of its own, that end where the memory does."""

    def __init__(self, device: simt.Device, source: str, lengths: np.ndarray) -> None:
        generator = np.random.default_rng(3)
        self.kernel = device.load(source)["k"]
        self.lengths, self.sums = device.array(lengths.astype("u4")), device.zeros(THREADS, "u4")
        self.words = device.array(generator.integers(0, 1 << 32, (THREADS, PLACES), "u4"))
        self.before = self.words.numpy().copy()
        starts = device.zeros(THREADS, "u8")
        self.lists = words_at_the_end(device, np.int32(1 << 29))
        ends = np.cumsum(lengths)
        first = self.lists.numpy().size - int(ends[-1])
        self.begins = first + ends - lengths
        starts.numpy()[:] = self.lists.ptr + 4 * self.begins.astype("u8")
        for t, begin in enumerate(self.begins):
            indices = generator.integers(0, PLACES, lengths[t]) + PLACES * t
            self.lists.numpy()[begin : begin + lengths[t]] = indices
        self.arguments = (starts, self.lengths, self.words, self.sums)

    def run(self) -> None:
        self.kernel(1, THREADS, self.arguments)

    def check(self) -> None:
        words = self.before.reshape(-1)
        for begin, length, found in zip(self.begins, self.lengths.numpy(), self.sums.numpy()):
            total = 0
            for turn, index in enumerate(self.lists.numpy()[begin : begin + length]):
                if words[index] % 2 == 0:
                    words[index] = 1
                    total += turn + 1
            assert found == total
        np.testing.assert_array_equal(self.words.numpy().reshape(-1), words)


LENGTHS = {
    "short": np.random.default_rng(1).integers(1, 15, THREADS),
    "one": np.ones(THREADS, "i8"),
    "long": np.where(np.arange(THREADS) % 16 == 5, 700, 3),
}


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("source", SOURCES)
def test_lists_at_the_end_of_memory(device: simt.Device, source: str, lengths: str) -> None:
    """Lists of fewer words than are asked for, and of more than turns are counted at a time."""
    lists = Lists(device, SOURCES[source], LENGTHS[lengths])
    lists.run()
    lists.check()


@pytest.mark.parametrize("turn", [0, 3, 12])
@pytest.mark.parametrize("index", [1 << 29, -(1 << 29), -(1 << 31)])
def test_a_bad_index(device: simt.Device, turn: int, index: int) -> None:
    """It has been asked for, which nobody sees; then the thread comes to it."""
    lists = Lists(device, WALK, np.full(THREADS, 13))
    lists.lists.numpy()[int(lists.begins[41]) + turn] = index
    with pytest.raises(simt.MemoryFault) as found:
        lists.run()
    fault = found.value
    assert fault.address == (lists.words.ptr + 4 * index) % 2**64
    assert (fault.site.thread, fault.site.line) == ((41, 0, 0), READS_TABLE)


NO_BRANCH = WALK.replace("@%odd bra NEXT;", "").replace("mov.u32 %w, 1; st.global.u32 [%a], %w;", "")
STORES = NO_BRANCH.replace("ld.global.u32 %w, [%a];", "st.global.u32 [%a], %n;")
ADDS = NO_BRANCH.replace("ld.global.u32 %w, [%a];", "atom.global.add.u32 %w, [%a], %n;")
GUARDED = WALK.replace("@%odd bra NEXT;", "@%odd add.u32 %sum, %sum, %n;")
LATER = WALK.replace("@%odd bra NEXT;", "xor.b32 %length, %length, %w;")
NOT_TOLD = WALK.replace("mul.wide.s32 %a, %i, 4;", "mul.wide.u32 %a, %n, 4;")


@pytest.mark.parametrize(
    ("source", "asks"),
    [
        (WALK, True),
        (BY_INDEX, True),
        (GUARDED, True),
        (LATER, True),
        (STORES, True),
        (ADDS, True),
        (NO_BRANCH, False),
        (NOT_TOLD, False),
    ],
    ids=["branch", "by index", "guard", "the loop's end", "store", "atomic", "no branch", "not by a word"],
)
def test_what_asks(source: str, asks: bool) -> None:
    """A loop with a branch that waits for a word which another word names, or that writes to it."""
    program = simt.Device("sm_90", engine="interpreter").load(source).program
    features = frozenset({"avx", "avx2", SLOW_GATHERS})
    for looks_far in (False, True):
        known = features | {"avx512f"} if looks_far else features
        text, _, _ = emit(program, program.functions["k"], BlockShape(64, 1, 1), known, "")
        assert (f"@llvm.umin.i64(i64 {AHEAD}," in text) == (asks and not looks_far)
