"""Loops over lists, each lane's of its own length, of which compilers write 16 turns at once: four are done
at once. The interpreter, which runs them as they are, is the judge."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.host import SLOW_GATHERS
from simt.engine.llvm_kernel import emit
from tests.unit.engine.arrays import words_at_the_end
from tests.unit.engine.ways import CPUS, own_device

# As LLVM 20 writes `for (i = starts[t]; i < starts[t + 1]; i++) sum = 3 * sum + words[list[i]];`.
HEAD = """.version 8.6
.target sm_75
.address_size 64
.visible .entry k(.param .u64 starts, .param .u64 list, .param .u64 words, .param .u64 sums)
{
    .reg .b64 %a, %d, %list, %words, %at; .reg .b32 %t, %i, %end, %n, %left, %few, %c, %k, %w, %sum;
    .reg .pred %p;
    mov.u32 %t, %tid.x;
    ld.param.u64 %a, [starts]; mul.wide.s32 %d, %t, 4; add.s64 %a, %a, %d;
    ld.global.u32 %i, [%a]; ld.global.u32 %end, [%a+4];
    ld.param.u64 %list, [list]; ld.param.u64 %words, [words];
    mov.b32 %sum, 1;
    setp.ge.s32 %p, %i, %end;
    @%p bra END;
    add.s32 %n, %i, 1;
    max.s32 %n, %end, %n;
    sub.s32 %k, %n, %i;
    and.b32 %left, %k, 15;
    sub.s32 %c, %i, %n;
    setp.gt.u32 %p, %c, -16;
    @%p bra EIGHT;
    and.b32 %c, %k, -16;
    neg.s32 %c, %c;
MAIN:
    SIXTEEN
    add.s32 %i, %i, 16;
    add.s32 %c, %c, 16;
    setp.ne.s32 %p, %c, 0;
    @%p bra MAIN;
EIGHT:
    setp.eq.s32 %p, %left, 0;
    @%p bra END;
    and.b32 %few, %k, 7;
    setp.lt.u32 %p, %left, 8;
    @%p bra FOUR;
    OCTET
    add.s32 %i, %i, 8;
FOUR:
    setp.eq.s32 %p, %few, 0;
    @%p bra END;
    and.b32 %left, %k, 3;
    setp.lt.u32 %p, %few, 4;
    @%p bra LAST;
    QUARTET
    add.s32 %i, %i, 4;
LAST:
    setp.eq.s32 %p, %left, 0;
    @%p bra END;
    neg.s32 %c, %left;
ONE:
    SINGLE
    add.s32 %i, %i, 1;
    add.s32 %c, %c, 1;
    setp.ne.s32 %p, %c, 0;
    @%p bra ONE;
END:
    ld.param.u64 %a, [sums]; mul.wide.s32 %d, %t, 4; add.s64 %a, %a, %d; st.global.u32 [%a], %sum;
    ret;
}
"""
AT = "mul.wide.s32 %d, %i, 4; add.s64 %at, %list, %d;\n    "
TURN = """ld.global.u32 %w, [%at+{at}];
    mul.wide.s32 %d, %w, 4; add.s64 %a, %words, %d;
    ld.global.u32 %w, [%a];
    mad.lo.u32 %sum, %sum, 3, %w;
    """
COUNTS = {"SIXTEEN": 16, "OCTET": 8, "QUARTET": 4, "SINGLE": 1}
WALK = HEAD
for name, count in COUNTS.items():
    WALK = WALK.replace(name, AT + "".join(TURN.format(at=4 * n) for n in range(count)))
THREADS, WORDS = 80, 1000
LENGTHS = np.random.default_rng(7).integers(0, 70, THREADS)
LENGTHS[:40] = np.arange(40)


class Lists:
    """Lists one after the other that end where the memory does, and what a launch gives."""

    def __init__(self, way: str) -> None:
        self.device = own_device(way)
        self.kernel = self.device.load(WALK)["k"]
        generator = np.random.default_rng(3)
        self.starts = self.device.array(np.concatenate(([0], np.cumsum(LENGTHS))).astype("i4"))
        self.words = self.device.array(generator.integers(0, 1 << 32, WORDS, "u4"))
        self.sums = self.device.zeros(THREADS, "u4")
        self.list = words_at_the_end(self.device, np.int32(0))
        self.size = int(self.starts.numpy()[-1])
        self.list.numpy()[-self.size :] = generator.integers(0, WORDS, self.size)
        self.first = self.list.ptr + self.list.nbytes - 4 * self.size

    def set_word(self, place: int, index: int) -> None:
        self.list.numpy()[self.list.shape[0] - self.size + place] = index

    def run(self) -> object:
        """The sums, or the fault."""
        try:
            self.kernel(1, THREADS, (self.starts, np.uint64(self.first), self.words, self.sums))
        except simt.MemoryFault as fault:
            return fault.site, fault.address - self.device.memory.limit
        return self.sums.numpy().tolist()


@pytest.fixture(params=CPUS)
def both(request: pytest.FixtureRequest) -> tuple[Lists, Lists]:
    """The interpreter's, and those of every CPU that this machine can stand in for."""
    return Lists("interpreter"), Lists(str(request.param))


def test_lists_of_all_lengths(both: tuple[Lists, Lists]) -> None:
    expected = list[int]()
    lists = both[0]
    for begin, end in zip(lists.starts.numpy(), lists.starts.numpy()[1:]):
        total = 1
        for index in lists.list.numpy()[lists.list.shape[0] - lists.size :][begin:end]:
            total = (3 * total + int(lists.words.numpy()[index])) % 2**32
        expected.append(total)
    assert [lists.run() for lists in both] == [expected, expected]


@pytest.mark.parametrize("turn", [0, 3, 16, 21, 31, 32, 36, 38])
def test_a_fault_is_on_the_line_of_its_turn(both: tuple[Lists, Lists], turn: int) -> None:
    """Of a list of 39: two turns of 16, four in a row and three by themselves."""
    for lists in both:
        lists.set_word(int(lists.starts.numpy()[39]) + turn, 1 << 29)
    one, other = (lists.run() for lists in both)
    assert isinstance(one, tuple)
    assert other == one


@pytest.mark.parametrize("beyond", [1, 2, 9, 20])
def test_a_list_that_goes_on_beyond_the_memory(both: tuple[Lists, Lists], beyond: int) -> None:
    for lists in both:
        lists.starts.numpy()[-1] += beyond
    one, other = (lists.run() for lists in both)
    assert isinstance(one, tuple)
    assert other == one


@pytest.mark.parametrize("thread", [0, 41])
def test_numbers_that_wrap_are_left_to_the_loops_as_they_were(both: tuple[Lists, Lists], thread: int) -> None:
    """A list from the lowest number up: its words are no memory, and its end is too far for a counter."""
    for lists in both:
        lists.starts.numpy()[thread : thread + 2] = (-(1 << 31), (1 << 31) - 1)
    one, other = (lists.run() for lists in both)
    assert isinstance(one, tuple)
    assert other == one


def text_of(source: str) -> str:
    program = simt.Device("sm_90", engine="interpreter").load(source).program
    features = frozenset({"avx", "avx2", SLOW_GATHERS})
    return emit(program, program.functions["k"], BlockShape(64, 1, 1), features, "")[0]


def is_in_fours(source: str) -> bool:
    """Whether an op stands for several of the program's, whose lines are told by a table."""
    return "simt.lines." in text_of(source)


DIFFERENT = {
    "another step": ("add.s32 %i, %i, 16;", "add.s32 %i, %i, 17;"),
    "a shorter first part": ("setp.gt.u32 %p, %c, -16;", "setp.gt.u32 %p, %c, -15;"),
    "signed": ("setp.gt.u32 %p, %c, -16;", "setp.gt.s32 %p, %c, -16;"),
    "another remainder": ("and.b32 %left, %k, 3;", "and.b32 %left, %k, 1;"),
    "another place": ("[%at+20]", "[%at+24]"),
    "turns that may be none": ("setp.ge.s32 %p, %i, %end;", "setp.gt.s32 %p, %i, %end;"),
}


@pytest.mark.parametrize("what", DIFFERENT)
def test_what_is_different_stays_as_it_was(what: str) -> None:
    assert is_in_fours(WALK)
    assert WALK.count(DIFFERENT[what][0]) >= 1
    assert not is_in_fours(WALK.replace(*DIFFERENT[what], 1))
