"""Atomic operations of a warp on one place and on many, against the same done one thread after the other."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import llvmlite.binding
import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.abi import LaunchSlot
from simt.engine.host import host_features, named_cpus
from simt.engine.llvm_builder import ModuleText
from simt.engine.llvm_kernel import emit
from simt.engine.llvm_updates import atomic
from simt.engine.prepared import Prepared
from simt.machine.launch import Launch
from simt.ptx.types import BF16, BF16X2, F16, F16X2, F32, F64, TYPES, Type
from tests.conftest import kept_for_each_way, shared_device

llvm: Any = llvmlite.binding  # its functions carry no types
HEAD = ".version 7.5\n.target sm_75\n.address_size 64\n"
PLACES = 8
INDICES: dict[str, tuple[str, Callable[[int], int]]] = {
    "one": ("mov.u32 %i, 3;", lambda t: 3),
    "few": ("mul.lo.u32 %i, %t, %t; shr.u32 %i, %i, 2; and.b32 %i, %i, 7;", lambda t: (t * t >> 2) % PLACES),
}
"""Which word each thread changes."""

GUARDS: dict[str, tuple[str, Callable[[int], bool]]] = {
    "all": ("setp.ge.u32 %p, %t, 0;", lambda t: True),
    "some": ("and.b32 %x, %t, 5; setp.ne.u32 %p, %x, 4;", lambda t: (t & 5) != 4),
    "none of the last": ("setp.lt.u32 %p, %t, 7;", lambda t: t < 7),
}
Update = Callable[[int, int, int], int]
MODELS: dict[str, Update] = {
    "add": lambda old, b, c: old + b,
    "and": lambda old, b, c: old & b,
    "or": lambda old, b, c: old | b,
    "xor": lambda old, b, c: old ^ b,
    "min": lambda old, b, c: min(old, b),
    "max": lambda old, b, c: max(old, b),
    "inc": lambda old, b, c: 0 if old >= b else old + 1,
    "dec": lambda old, b, c: b if old == 0 or old > b else old - 1,
    "exch": lambda old, b, c: b,
    "cas": lambda old, b, c: c if old == b else old,
}
CASES = [
    ("add", "u32"), ("add", "s32"), ("add", "u64"), ("and", "b32"), ("or", "b64"), ("xor", "b32"),
    ("min", "s32"), ("min", "u64"), ("max", "u32"), ("max", "s64"), ("inc", "u32"), ("dec", "u32"),
    ("exch", "b64"), ("cas", "b32"), ("cas", "b64"),
]  # fmt: skip


def number(t: int, bits: int) -> int:
    """A thread's operand: of either sign, some alike."""
    return (0x9E3779B97F4A7C15 * (t // 3 + 1) >> 5) % 2**bits


def kernel(op: str, type_: str, space: str, index: str, guard: str, used: bool) -> str:
    bits = TYPES[type_].bits
    size = bits // 8
    where = "%box" if space == "shared" else "%words"
    third = ", %c" if op == "cas" else ""
    copy = (
        f"ld.global.b{bits} %old, [%words]; st.shared.b{bits} [%box], %old;",
        f"ld.shared.b{bits} %old, [%box]; st.global.b{bits} [%words], %old;",
    )
    moves = [
        "\n    ".join(text.replace("[%words]", f"[%words+{size * i}]").replace("[%box]", f"[%box+{size * i}]")
                      for i in range(PLACES))
        if space == "shared" else "" for text in copy
    ]  # fmt: skip
    return f"""{HEAD}
.visible .entry k(.param .u64 words, .param .u64 numbers, .param .u64 olds)
{{
    .reg .pred %p; .reg .b32 %t, %i, %x; .reg .b{bits} %b, %c, %old;
    .reg .b64 %words, %numbers, %olds, %box, %a, %o;
    .shared .align 8 .b8 box[{PLACES * size}];
    ld.param.u64 %words, [words]; ld.param.u64 %numbers, [numbers]; ld.param.u64 %olds, [olds];
    mov.u64 %box, box; mov.u32 %t, %tid.x;
    mul.wide.u32 %o, %t, {size}; add.u64 %numbers, %numbers, %o; add.u64 %olds, %olds, %o;
    {moves[0]}
    ld.global.b{bits} %b, [%numbers]; ld.global.b{bits} %c, [%numbers+{size}];
    {INDICES[index][0]}
    mul.wide.u32 %o, %i, {size}; add.u64 %a, {where}, %o;
    {GUARDS[guard][0]}
    @%p atom.{space}.{op}.{type_} %old, [%a], %b{third};
    {f"@%p st.global.b{bits} [%olds], %old;" if used else ""}
    {moves[1]}
    ret;
}}
"""


def expected(
    op: str, type_: str, index: str, guard: str, threads: int, words: list[int]
) -> tuple[list[int], list[int]]:
    """The words afterwards and what each thread found, as unsigned numbers."""
    t = TYPES[type_]
    signed: Callable[[int], int] = lambda n: n - 2**t.bits if t.is_signed and n >> (t.bits - 1) else n  # noqa: E731
    words, olds = list(words), [0] * threads
    for thread in (n for n in range(threads) if GUARDS[guard][1](n)):
        place = INDICES[index][1](thread)
        olds[thread] = words[place]
        operands = (words[place], number(thread, t.bits), number(thread + 1, t.bits))
        words[place] = MODELS[op](*map(signed, operands)) % 2**t.bits
    return words, olds


@pytest.mark.share(3)
@pytest.mark.parametrize(("index", "guard"), [("one", "all"), ("one", "some"), ("few", "all")])
@pytest.mark.parametrize(("op", "type_"), CASES)
def test_lanes_in_order(device: simt.Device, op: str, type_: str, index: str, guard: str) -> None:
    check(device, op, type_, index, guard)


@pytest.mark.parametrize("index", INDICES)
def test_lanes_of_half_a_warp(device: simt.Device, index: str) -> None:
    check(device, "add", "u32", index, "none of the last")


def check(device: simt.Device, op: str, type_: str, index: str, guard: str) -> None:
    bits, threads = TYPES[type_].bits, 27 if guard == "none of the last" else 32
    dtype = f"u{bits // 8}"
    first = [number(t, bits) for t in range(7, 7 + PLACES)]
    numbers = device.array(np.array([number(t, bits) for t in range(threads + 1)], dtype))
    words, olds = expected(op, type_, index, guard, threads, first)
    for space in ("global", "shared"):
        for used in (True, False) if index == "one" else (True,):
            memory = device.array(np.array(first, dtype))
            found = device.zeros(threads, dtype)
            k = device.load(kernel(op, type_, space, index, guard, used))["k"]
            k((1,), (threads,), (memory, numbers, found))
            assert memory.numpy().tolist() == words, (space, used)
            assert found.numpy().tolist() == (olds if used else [0] * threads), (space, used)


@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize("wrong", ["misaligned", "illegal"])
def test_one_bad_address(device: simt.Device, space: str, wrong: str) -> None:
    address = "add.u64 %a, %a, 2;" if wrong == "misaligned" else "mov.u64 %a, 0x7fffffff0;"
    k = device.load(f"""{HEAD}
.visible .entry k(.param .u64 words)
{{
    .reg .pred %p; .reg .b32 %t, %old; .reg .b64 %words, %box, %a, %o;
    .shared .align 8 .b8 box[128];
    ld.param.u64 %words, [words]; mov.u64 %box, box; mov.u32 %t, %tid.x;
    mul.wide.u32 %o, %t, 4; add.u64 %a, {"%box" if space == "shared" else "%words"}, %o;
    setp.eq.u32 %p, %t, 19;
    @%p {address}
    atom.{space}.add.u32 %old, [%a], 1;
    ret;
}}
""")["k"]
    with pytest.raises(simt.MemoryFault) as error:
        k((1,), (32,), (device.zeros(32, "u4"),))
    assert error.value.site.thread == (19, 0, 0)


SUMS = f"""{HEAD}
.visible .entry k(.param .u64 words, .param .u64 numbers, .param .u64 indices, .param .u64 olds)
{{
    .reg .b32 %t, %i; .reg .f32 %b, %old; .reg .b64 %words, %numbers, %indices, %olds, %a;
    ld.param.u64 %words, [words]; ld.param.u64 %numbers, [numbers];
    ld.param.u64 %indices, [indices]; ld.param.u64 %olds, [olds];
    mov.u32 %t, %tid.x; mul.wide.u32 %a, %t, 4;
    add.u64 %numbers, %numbers, %a; add.u64 %indices, %indices, %a; add.u64 %olds, %olds, %a;
    ld.global.f32 %b, [%numbers]; ld.global.u32 %i, [%indices];
    mul.wide.u32 %a, %i, 4; add.u64 %a, %words, %a;
    atom.global.add.f32 %old, [%a], %b;
    st.global.f32 [%olds], %old;
    ret;
}}
"""
TINY, LEAST = 2.0**-140, 2.0**-126
USUAL = [1.5, 0.1, -0.3, 3e7, -1e-3]
SPECIAL = [0.0, -0.0, TINY, -TINY, LEAST, -LEAST, 1.25 * LEAST, np.inf, -np.inf, np.nan]
LARGE = 2.0**-100
"""Sums from which on nothing need be flushed, and numbers that make such."""
AROUND = [LARGE, -LARGE, LARGE * (1 - 2**-24), LARGE / 2, -LARGE / 2, LARGE * 2, LEAST * (1 - 2**-23)]


def flushed(x: np.float32) -> np.float32:
    """Subnormal operands and results are zeros of their sign, as in sums of global memory on GPUs."""
    return np.copysign(np.float32(0), x) if abs(x) < np.float32(LEAST) else x


@pytest.fixture
def alone() -> simt.Device:
    """A device whose launches have one thread: nothing is locked there."""
    return device_alone()


@kept_for_each_way
def device_alone() -> simt.Device:
    return simt.Device("sm_90", memory="64MiB", workers=1, timeout=20)


@pytest.mark.parametrize("guard", ["all", "some"])
@pytest.mark.parametrize(("op", "type_"), CASES)
def test_lanes_alone(alone: simt.Device, op: str, type_: str, guard: str) -> None:
    check(alone, op, type_, "few", guard)


@pytest.mark.parametrize("wrong", ["misaligned", "illegal"])
def test_one_bad_address_alone(alone: simt.Device, wrong: str) -> None:
    test_one_bad_address(alone, "global", wrong)


def test_lanes_alone_are_updated_one_after_the_other_without_a_loop() -> None:
    """Where all of them run. (The 32 places are arguments of a function, which calls none that locks.)"""
    text = kernel("add", "u32", "global", "few", "all", False)
    program = shared_device("jit").load(text).program
    ir, *_ = emit(program, program.functions["k"], BlockShape(32, 1, 1), host_features(), "nounwind")
    (updates,) = re.findall(r"^define internal void @simt\.updates\.add.*?^}", ir, re.MULTILINE | re.DOTALL)
    assert updates.count("@simt.update.add.u32.private(") == 32
    assert "br " not in updates


BY_INDEX = (
    HEAD
    + """
.visible .entry k(.param .u64 words, .param .u64 indices)
{
    .reg .b64 %words, %a; .reg .b32 %t, %i;
    ld.param.u64 %words, [words]; ld.param.u64 %a, [indices];
    mov.u32 %t, %tid.x; mad.wide.u32 %a, %t, 4, %a; ld.global.u32 %i, [%a];
    mul.wide.KIND %a, %i, 4; add.u64 %a, %a, %words;
    red.global.add.u32 [%a], 3;
    ret;
}
"""
)


@pytest.mark.parametrize(("kind", "start"), [("s32", 0), ("s32", 20), ("u32", 0), ("u32", -(2**31))])
def test_places_by_index(alone: simt.Device, kind: str, start: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """`start`: the word from which indices count."""
    monkeypatch.setenv("SIMT_DRAFTS", "0")
    places, words = (np.arange(32) ** 2 + 3) % 40, alone.zeros(40, "u4")
    run = alone.load(BY_INDEX.replace("KIND", kind))["k"]
    run(1, 32, ((words.ptr + 4 * start) % 2**64, alone.array((places - start).astype("u4"))))
    assert words.numpy().tolist() == (3 * np.bincount(places, minlength=40)).tolist()
    places[[7, 9]] = 2**28
    with pytest.raises(simt.MemoryFault) as fault:
        run(1, 32, ((words.ptr + 4 * start) % 2**64, alone.array((places - start).astype("u4"))))
    assert fault.value.site.thread == (7, 0, 0)
    assert fault.value.address == words.ptr + 4 * 2**28


def test_indices_come_out_of_a_vector_by_twos() -> None:
    program = shared_device("jit").load(BY_INDEX.replace("KIND", "u32")).program
    ir, *_ = emit(program, program.functions["k"], BlockShape(32, 1, 1), host_features(), "nounwind")
    (updates,) = re.findall(r"^define internal void @simt\.updates\.add.*?^}", ir, re.MULTILINE | re.DOTALL)
    assert updates.count("extractelement <16 x i64>") == 16
    assert "<32 x i64>" not in updates


@pytest.mark.parametrize("numbers", [USUAL, USUAL + SPECIAL, AROUND, AROUND + SPECIAL], ids=repr)
@pytest.mark.parametrize("kind", ["sorted", "one", "mixed"])
def test_sums_of_floats_alone(alone: simt.Device, kind: str, numbers: list[float]) -> None:
    check_sums(alone, kind, numbers)


@pytest.mark.parametrize("kind", ["sorted", "one", "mixed"])
@pytest.mark.parametrize("given", [USUAL, USUAL + SPECIAL, AROUND + SPECIAL], ids=repr)
def test_sums_of_floats_in_runs_of_lanes(device: simt.Device, kind: str, given: list[float]) -> None:
    check_sums(device, kind, given)


def check_sums(device: simt.Device, kind: str, given: list[float]) -> None:
    random = np.random.default_rng(4)
    indices = {
        "sorted": np.repeat(np.arange(8), [1, 5, 0, 12, 3, 2, 8, 1]),
        "one": np.full(32, 6),
        "mixed": random.integers(0, 3, 32),
    }[kind].astype("u4")
    numbers = random.choice(np.array(given, "f4"), 32)
    words, olds = np.array([1, LARGE, 0.5, TINY, LEAST, 7, 0, -0.0], "f4"), np.zeros(32, "f4")
    memory, found = device.array(words), device.zeros(32, "f4")
    device.load(SUMS)["k"]((1,), (32,), (memory, device.array(numbers), device.array(indices), found))
    with np.errstate(invalid="ignore", under="ignore"):
        for lane, (index, number) in enumerate(zip(indices, numbers, strict=True)):
            olds[lane] = words[index]
            words[index] = flushed(flushed(np.float32(words[index])) + flushed(np.float32(number)))
    np.testing.assert_array_equal(memory.numpy(), words)
    np.testing.assert_array_equal(found.numpy(), olds)
    numbers_only = ~np.isnan(words)
    np.testing.assert_array_equal(np.signbit(memory.numpy())[numbers_only], np.signbit(words)[numbers_only])


def test_lanes_with_one_address_are_one_exchange() -> None:
    """The loop that adds goes on with the next lane before anything is exchanged."""
    program = shared_device("jit").load(SUMS).program
    text, *_ = emit(program, program.functions["k"], BlockShape(32, 1, 1), host_features(), "nounwind")
    assert re.search(r"br i1 %same, label %add, label %exchange\nexchange:(?s:.{1,200})cmpxchg", text)


@pytest.mark.parametrize(("workers", "ctas", "is_alone"), [(1, 4, 1), (2, 4, 0), (2, 1, 1)])
def test_only_launches_of_one_thread_are_alone(
    workers: int, ctas: int, is_alone: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert slots_of(SUMS, workers, monkeypatch, ctas) == [is_alone]


WAITING = f"""{HEAD}
.visible .entry k(.param .u64 words, .param .u64 numbers, .param .u64 indices, .param .u64 olds)
{{
    .reg .b32 %old; .reg .pred %p; .reg .b64 %words;
    ld.param.u64 %words, [words];
WAIT:
    atom.global.or.b32 %old, [%words], 0;
    setp.eq.u32 %p, %old, 0;
    @%p bra WAIT;
    ret;
}}
"""


def test_who_waits_for_others_is_not_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The host may be about to write what an atomic operation reads, again and again."""
    assert slots_of(WAITING, 1, monkeypatch) == [0]


def slots_of(text: str, workers: int, monkeypatch: pytest.MonkeyPatch, ctas: int = 1) -> list[int]:
    """`LaunchSlot.ALONE` of a launch."""
    found: list[int] = []
    begin = Prepared.begin

    def noted(self: Prepared, launch: Launch, threads: int | None = None) -> int:
        found.append(self.block.slots[LaunchSlot.ALONE])
        return begin(self, launch, threads)

    monkeypatch.setattr(Prepared, "begin", noted)
    device = simt.Device("sm_90", engine="jit", memory="64MiB", workers=workers, timeout=20)
    some = device.array(np.ones(32, "u4"))
    device.load(text)["k"](ctas, 32, (some, some, some, some))
    return found


def test_which_function_is_found_out_when_the_code_runs() -> None:
    program = shared_device("jit").load(SUMS).program
    text, *_ = emit(program, program.functions["k"], BlockShape(32, 1, 1), host_features(), "nounwind")
    chosen = r"select i1 %\w+, ptr @simt\.atomic\.add\.far\.f32\.private, ptr @simt\.atomic\.add\.far\.f32\n"
    assert re.search(chosen, text)
    private = text[text.index("@simt.atomic.add.far.f32.private(") :].split("\n}")[0]
    assert "cmpxchg" not in private


@pytest.mark.parametrize("given", [USUAL, USUAL + SPECIAL, AROUND + SPECIAL], ids=repr)
@pytest.mark.parametrize("kind", ["sorted", "mixed"])
def test_sums_of_floats_in_shared_memory(device: simt.Device, kind: str, given: list[float]) -> None:
    """By some of the lanes, one after the other; nothing is flushed there."""
    random = np.random.default_rng(5)
    indices = np.sort(random.integers(0, 8, 32)) if kind == "sorted" else random.integers(0, 3, 32)
    numbers, runs = random.choice(np.array(given, "f4"), 32), random.random(32) < 0.7
    words = np.array([1, LARGE, 0.5, TINY, LEAST, 7, 0, -0.0], "f4")
    memory = device.array(words)
    some = (device.array(numbers), device.array(indices.astype("u4")), device.array(runs.astype("u4")))
    device.load(SHARED_SUMS)["k"]((1,), (32,), (memory, *some))
    with np.errstate(invalid="ignore", under="ignore"):
        for index, number in zip(indices[runs], numbers[runs], strict=True):
            words[index] += number
    np.testing.assert_array_equal(memory.numpy(), words)


SHARED_SUMS = f"""{HEAD}
.visible .entry k(.param .u64 words, .param .u64 numbers, .param .u64 indices, .param .u64 runs)
{{
    .reg .b32 %t, %i, %s, %w; .reg .f32 %b, %v; .reg .pred %p;
    .reg .b64 %words, %numbers, %indices, %runs, %a;
    .shared .align 4 .b8 box[128];
    ld.param.u64 %words, [words]; ld.param.u64 %numbers, [numbers];
    ld.param.u64 %indices, [indices]; ld.param.u64 %runs, [runs];
    mov.u32 %t, %tid.x; mul.wide.u32 %a, %t, 4; mov.u32 %s, box; mad.lo.u32 %w, %t, 4, %s;
    setp.lt.u32 %p, %t, 8;
    add.u64 %words, %words, %a; add.u64 %numbers, %numbers, %a;
    add.u64 %indices, %indices, %a; add.u64 %runs, %runs, %a;
    @%p ld.global.f32 %v, [%words];
    @%p st.shared.f32 [%w], %v;
    bar.sync 0;
    ld.global.f32 %b, [%numbers]; ld.global.u32 %i, [%indices];
    mad.lo.u32 %i, %i, 4, %s;
    ld.global.u32 %t, [%runs]; setp.ne.u32 %p, %t, 0;
    @%p red.shared.add.f32 [%i], %b;
    bar.sync 0;
    mov.u32 %t, %tid.x; setp.lt.u32 %p, %t, 8;
    @%p ld.shared.f32 %v, [%w];
    @%p st.global.f32 [%words], %v;
    ret;
}}
"""


@pytest.mark.parametrize("private", [False, True])
@pytest.mark.parametrize("cpu", ["x86-64", "x86-64-v4"])
@pytest.mark.parametrize("t", [F16, F16X2, BF16, BF16X2, F32, F64], ids=str)
def test_functions_of_floats_are_whole(t: Type, cpu: str, private: bool) -> None:
    """What is settled late stands before it is read."""
    for op in ("add", "add.far", "min", "max")[:: 1 if t in (F32, F64) else 2]:
        module = ModuleText()
        atomic(module, op, t, named_cpus()[cpu].features, private)
        llvm.parse_assembly(str(module)).verify()
