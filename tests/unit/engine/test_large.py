"""Large kernels, which are emitted in another way: the file tests as if they were, and one that is."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.driver.source import compile_ptx
from simt.engine.cache import ObjectCache
from simt.engine.compile import LARGE
from simt.engine.compiler import Compiler
from simt.engine.llvm_function import DEEP
from simt.engine.llvm_kernel import emit
from simt.engine.llvm_outline import PIECE
from simt.machine.device import DEVICES
from tests.cpus.test_vectors import few, run_all
from tests.filetests import test_run as filetests

FOLDER = Path(filetests.__file__).parent / "run"
NAMES = [
    "atomic_on_shared_and_float",
    "barrier_in_loop",
    "barrier_never_complete",
    "barrier_reduction",
    "call",
    "carry_chain",
    "chosen_of_limited",
    "clamped",
    "divergent_loop",
    "fault_misaligned",
    "fault_of_the_last_lane",
    "irreducible",
    "loop_left_by_degrees",
    "named_barriers",
    "narrow_loads",
    "predication",
    "set_two_predicates",
    "shuffle",
    "spin_on_a_lane",
    "state_spaces_of_lanes",
    "vectors",
    "vote",
]


HALVES = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 k_from, .param .u64 k_to)
{
    .reg .b64 %rd<5>;
    .reg .b32 %r<3>;
    ld.param.u64 %rd0, [k_from];
    ld.param.u64 %rd1, [k_to];
    mov.u32 %r0, %tid.x;
    mad.wide.u32 %rd2, %r0, 8, %rd0;
    mad.wide.u32 %rd3, %r0, 8, %rd1;
    ld.global.v2.u32 {%r1, _}, [%rd2];
    ld.global.v2.u32 {_, %r2}, [%rd2];
    st.global.v2.u32 [%rd3], {%r1, %r2};
    ret;
}
"""


@pytest.mark.usefixtures("all_large")
def test_instructions_that_drop_different_results_have_functions_of_their_own() -> None:
    device = simt.Device("sm_90", engine="jit")
    given = device.array(np.arange(64, dtype="u4"))
    taken = device.zeros(64, "u4")
    device.load(HALVES)["k"]((1,), (32,), (given, taken))
    assert taken.numpy().tolist() == list(range(64))


@pytest.mark.usefixtures("all_large")
@pytest.mark.parametrize("name", NAMES)
def test_files_as_if_they_were_large(name: str) -> None:
    filetests.test_run(FOLDER / f"{name}.ptx", "jit")


@pytest.mark.usefixtures("all_large")
def test_vectors_of_the_gpu() -> None:
    """NaNs included, which large kernels settle at once."""
    rows = run_all(simt.Device("sm_90", engine="jit", memory="1GiB", timeout=60), few())
    assert [line for item in few() for line in item.wrong(rows[item.name])] == []


def long_kernel(pieces: int) -> str:
    """Each thread folds its neighbours' words into a number, with branches that part the warp."""
    body = "\n".join(
        f"""
        ld.global.u32 %r2, [%rd3+{4 * i}];
        mad.lo.u32 %r1, %r1, {2 * i + 3}, %r2;
        shf.l.wrap.b32 %r1, %r1, %r1, {i % 31 + 1};
        and.b32 %r3, %r1, 1;
        setp.eq.u32 %p1, %r3, 0;
        @%p1 bra SKIP{i};
        xor.b32 %r1, %r1, {i};
        @%p1 add.u32 %r1, %r1, 5;
        SKIP{i}:
        """
        for i in range(pieces)
    )
    return f"""
    .version 8.0
    .target sm_90
    .address_size 64
    .visible .entry fold(.param .u64 in, .param .u64 out)
    {{
        .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
        ld.param.u64 %rd0, [in];
        ld.param.u64 %rd1, [out];
        mov.u32 %r0, %tid.x;
        mul.wide.u32 %rd2, %r0, 4;
        add.u64 %rd3, %rd0, %rd2;
        add.u64 %rd4, %rd1, %rd2;
        mov.u32 %r1, %r0;
        {body}
        st.global.u32 [%rd4], %r1;
        ret;
    }}
    """


def folded(words: np.ndarray, threads: int, pieces: int) -> np.ndarray:
    """What `long_kernel` is to give."""
    value = np.arange(threads, dtype=np.uint32)
    for i in range(pieces):
        value = value * np.uint32(2 * i + 3) + words[i : i + threads]
        turn = i % 31 + 1
        value = value << np.uint32(turn) | value >> np.uint32(32 - turn)
        value = np.where(value & 1 == 0, value, value ^ np.uint32(i))
    return value


@pytest.mark.parametrize("threads", [96, 45])
def test_long_kernel(threads: int) -> None:
    pieces = 700
    device = simt.Device("sm_90", engine="jit", memory="64MiB", timeout=60)
    words = np.random.default_rng(1).integers(0, 2**32, threads + pieces, dtype=np.uint32)
    source, result = device.array(words), device.zeros(threads, "u4")
    device.load(long_kernel(pieces))["fold"]((1,), (threads,), (source, result))
    np.testing.assert_array_equal(result.numpy(), folded(words, threads, pieces))


def test_only_long_kernels_are_large(tmp_path: Path) -> None:
    """A large kernel grows by a few lines an instruction; a small one is optimised as a whole."""
    cpu = Compiler(ObjectCache(tmp_path)).cpu
    found: list[str] = []
    for pieces in (10, 700, 1400):
        program, _ = compile_ptx(long_kernel(pieces), "<ptx>", DEVICES[90])
        text, _, _ = emit(program, program.functions["fold"], BlockShape(96, 1, 1), cpu.features, "nounwind")
        found.append(text)
    small, large, larger = found
    assert LARGE not in small
    assert LARGE in large
    instructions = 700 * 8
    assert larger.count("\n") - large.count("\n") < instructions * 12


def guarded_kernel(pieces: int) -> str:
    """Threads whose bit is set in a number add words of memory to theirs, and leave what they have."""
    body = "\n".join(
        f"""
        @%p1 ld.global.u32 %r2, [%rd3+{4 * i}];
        @%p1 add.u32 %r1, %r1, %r2;
        @%p1 st.global.u32 [%rd4+{4 * i}], %r1;
        @!%p1 red.global.add.u32 [%rd5], 1;
        """
        for i in range(pieces)
    )
    return f"""
    .version 8.0
    .target sm_90
    .address_size 64
    .visible .entry k(.param .u64 in, .param .u64 out, .param .u64 count, .param .u32 which)
    {{
        .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
        ld.param.u64 %rd0, [in];
        ld.param.u64 %rd1, [out];
        ld.param.u64 %rd5, [count];
        ld.param.u32 %r4, [which];
        mov.u32 %r0, %tid.x;
        shr.u32 %r3, %r4, %r0;
        and.b32 %r3, %r3, 1;
        setp.eq.u32 %p1, %r3, 1;
        mul.wide.u32 %rd2, %r0, {4 * pieces};
        add.u64 %rd4, %rd1, %rd2;
        mul.wide.u32 %rd2, %r0, 4;
        add.u64 %rd3, %rd0, %rd2;
        selp.b64 %rd3, %rd3, 1, %p1;  // threads without the guard have no valid address
        selp.b64 %rd4, %rd4, 1, %p1;
        mov.u32 %r1, %r0;
        {body}
        ret;
    }}
    """


@pytest.mark.usefixtures("all_large")
@pytest.mark.parametrize("which", [0, 1, 0x80000000, 0x5A5AFF00, 0xFFFFFFFF])
@pytest.mark.parametrize("threads", [32, 29])
def test_guarded_accesses(threads: int, which: int) -> None:
    pieces = 12
    device = simt.Device("sm_90", engine="jit", memory="64MiB", timeout=60)
    words = np.random.default_rng(1).integers(0, 2**32, threads + pieces, dtype=np.uint32)
    out, count = device.zeros((threads, pieces), "u4"), device.zeros(1, "u4")
    device.load(guarded_kernel(pieces))["k"]((1,), (threads,), (device.array(words), out, count, which))
    lanes = np.arange(threads, dtype=np.uint32)
    runs = which >> lanes & 1 == 1
    sums = lanes[:, None] + np.cumsum([words[i : i + threads] for i in range(pieces)], 0, dtype=np.uint32).T
    np.testing.assert_array_equal(out.numpy(), np.where(runs[:, None], sums, 0))
    assert count.numpy()[0] == pieces * np.count_nonzero(~runs)


@pytest.mark.usefixtures("all_large")
def test_guarded_accesses_need_no_branch(tmp_path: Path) -> None:
    """LLVM's time for some thousand blocks that all use one mask grew with the square."""
    cpu = Compiler(ObjectCache(tmp_path)).cpu
    blocks: list[int] = []
    for pieces in (50, 100):
        program, _ = compile_ptx(guarded_kernel(pieces), "<ptx>", DEVICES[90])
        text, _, _ = emit(program, program.functions["k"], BlockShape(96, 1, 1), cpu.features, "nounwind")
        blocks.append(text.count(":\n"))
    assert blocks[1] - blocks[0] <= 50 * 4


def nest_kernel(turns: list[int], by_lane: bool) -> str:
    """Loops within each other, with numbers of turns; odd threads save one turn of some if `by_lane`."""
    heads = "\n".join(
        f"""
        mov.u32 %r{level + 8}, {"%r4" if by_lane and level % 3 == 0 else "0"};
        LOOP{level}:
        mad.lo.u32 %r1, %r1, 3, {level};
        """
        for level in range(len(turns))
    )
    ends = "\n".join(
        f"""
        xor.b32 %r1, %r1, %r{level + 8};
        add.u32 %r{level + 8}, %r{level + 8}, 1;
        setp.lt.u32 %p1, %r{level + 8}, {turns[level]};
        @%p1 bra LOOP{level};
        """
        for level in reversed(range(len(turns)))
    )
    return f"""
    .version 8.0
    .target sm_90
    .address_size 64
    .visible .entry k(.param .u64 out)
    {{
        .reg .pred %p<3>; .reg .b32 %r<{len(turns) + 9}>; .reg .b64 %rd<9>;
        ld.param.u64 %rd1, [out];
        mov.u32 %r0, %tid.x;
        and.b32 %r4, %r0, 1;
        mul.wide.u32 %rd2, %r0, 4;
        add.u64 %rd1, %rd1, %rd2;
        mov.u32 %r1, %r0;
        {heads}
        {ends}
        st.global.u32 [%rd1], %r1;
        ret;
    }}
    """


def nested(turns: list[int], thread: int, by_lane: bool) -> int:
    """What a thread of `nest_kernel` is to give."""
    value = thread

    def run(level: int) -> None:
        nonlocal value
        if level == len(turns):
            return
        count = thread % 2 if by_lane and level % 3 == 0 else 0
        while True:
            value = (3 * value + level) % 2**32
            run(level + 1)
            value ^= count
            count += 1
            if count >= turns[level]:
                return

    run(0)
    return value


@pytest.mark.usefixtures("all_large")
@pytest.mark.parametrize("by_lane", [False, True])
def test_deeply_nested_loops(by_lane: bool) -> None:
    turns = [2 if level % 4 == 0 else 1 for level in range(2 * DEEP)]
    device = simt.Device("sm_90", engine="jit", memory="64MiB", timeout=60)
    result = device.zeros(40, "u4")
    device.load(nest_kernel(turns, by_lane))["k"]((1,), (40,), (result,))
    assert result.numpy().tolist() == [nested(turns, thread, by_lane) for thread in range(40)]


@pytest.mark.usefixtures("all_large")
def test_one_call_for_arithmetic_with_payloads(tmp_path: Path) -> None:
    """NaNs of f64 need a rare branch after each result: it stands in the function, not at the call."""
    cpu = Compiler(ObjectCache(tmp_path)).cpu
    lines: list[int] = []
    for count in (50, 100):
        body = "fma.rn.f64 %fd0, %fd1, %fd0, %fd0; " * count
        text = guarded_kernel(1).replace(".reg .b32", ".reg .f64 %fd<2>; .reg .b32")
        text = text.replace("mov.u32 %r1, %r0;", "mov.u32 %r1, %r0; ld.global.f64 %fd1, [%rd4];")
        text = text.replace("ret;", f"{body} st.global.f64 [%rd1], %fd0; ret;")
        program, _ = compile_ptx(text, "<ptx>", DEVICES[90])
        ir, _, _ = emit(program, program.functions["k"], BlockShape(96, 1, 1), cpu.features, "nounwind")
        assert "@simt.rarely" not in ir[ir.index("define internal i1 @simt.warp") :].partition("\n}")[0]
        lines.append(ir.count("\n"))
    assert lines[1] - lines[0] < 50 * 4


def over_branch_kernel(count: int) -> str:
    """Odd threads change as many numbers as are alive then; all go round a loop as often as their last bits
    say, in which three of the numbers change places."""
    body = "\n".join(
        (
            *(f"mad.lo.u32 %r{i + 1}, %r{i}, %r{i}, {i};" for i in range(count)),
            "@%p1 bra AFTER;",
            *(f"add.u32 %r{i + 1}, %r{i + 1}, %r{i};" for i in range(count)),
            "AFTER: and.b32 %t0, %r0, 3;",
            "TURN: mov.u32 %t1, %r1; mov.u32 %r1, %r2; mov.u32 %r2, %r3; mov.u32 %r3, %t1;",
            "sub.u32 %t0, %t0, 1; setp.gt.s32 %p2, %t0, 0; @%p2 bra TURN;",
            "mov.u32 %t2, 0;",
            *(f"mad.lo.u32 %t2, %t2, 3, %r{i + 1};" for i in range(count)),
        )
    )
    return f"""
    .version 8.0
    .target sm_90
    .address_size 64
    .visible .entry k(.param .u64 out)
    {{
        .reg .pred %p<3>; .reg .b32 %r<{count + 1}>; .reg .b32 %t<3>; .reg .b64 %rd<3>;
        ld.param.u64 %rd0, [out];
        mov.u32 %r0, %tid.x;
        mul.wide.u32 %rd1, %r0, 4;
        add.u64 %rd0, %rd0, %rd1;
        and.b32 %t0, %r0, 1;
        setp.eq.u32 %p1, %t0, 0;
        {body}
        st.global.u32 [%rd0], %t2;
        ret;
    }}
    """


def summed(thread: int, count: int) -> int:
    """What a thread of `over_branch_kernel` is to give."""
    r = [thread]
    for i in range(count):
        r.append((r[i] * r[i] + i) % 2**32)
    for i in range(count if thread % 2 else 0):
        r[i + 1] = (r[i + 1] + r[i]) % 2**32
    for _ in range(max(1, thread % 4)):
        r[1:4] = [*r[2:4], r[1]]
    total = 0
    for number in r[1:]:
        total = (3 * total + number) % 2**32
    return total


@pytest.mark.usefixtures("all_large")
def test_columns_over_a_branch() -> None:
    count = 2 * PIECE
    device = simt.Device("sm_90", engine="jit", memory="64MiB", timeout=60)
    result = device.zeros(40, "u4")
    device.load(over_branch_kernel(count))["k"]((1,), (40,), (result,))
    assert result.numpy().tolist() == [summed(thread, count) for thread in range(40)]


@pytest.mark.usefixtures("all_large")
def test_columns_go_through_memory_from_block_to_block(tmp_path: Path) -> None:
    """LLVM weighs, for each column in a register, each block of code that it goes through."""
    cpu = Compiler(ObjectCache(tmp_path)).cpu
    program, _ = compile_ptx(over_branch_kernel(4 * PIECE), "<ptx>", DEVICES[90])
    text, _, _ = emit(program, program.functions["k"], BlockShape(96, 1, 1), cpu.features, "nounwind")
    body = text[text.index("define internal i1 @simt.warp") :].partition("\n}")[0]
    column = re.compile(r"<32 x i32>(?:, ptr)? (%v\d+)")
    made, across = dict[str, int](), 0
    blocks = body.split(":\n")
    for number, block in enumerate(blocks):
        for line in block.splitlines():
            across += any(made.get(name, number) != number for name in column.findall(line))
            found = re.match(r"  (%v\d+) = (?!getelementptr|alloca)", line)
            if found:
                made[found[1]] = number
    assert len(blocks) > 16
    assert across < 4 * len(blocks)


@pytest.mark.usefixtures("all_large")
def test_lanes_that_part_go_on_at_once(tmp_path: Path) -> None:
    """The mask of lanes that run next is not kept to be looked at; who is first to give a phi a value keeps
    nobody else's."""
    cpu = Compiler(ObjectCache(tmp_path)).cpu
    counts: list[tuple[int, int]] = []
    for pieces in (50, 100):
        program, _ = compile_ptx(long_kernel(pieces), "<ptx>", DEVICES[90])
        text, _, _ = emit(program, program.functions["fold"], BlockShape(96, 1, 1), cpu.features, "nounwind")
        blends = len(re.findall(r"select <32 x i1> \S+ <32 x i32>", text))
        counts.append((text.count(", ptr %pending"), blends))
    assert counts[1][0] - counts[0][0] <= 50 * 3  # kept, added to, taken
    assert counts[1][1] - counts[0][1] <= 50 * 2  # of lanes that skip the xor, and of those that do not add 5
