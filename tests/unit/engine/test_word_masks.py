"""Masks of loops that only compute: they go round as words with AVX2."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.driver.source import compile_ptx
from simt.engine.compile import attributes, optimized, target_machine
from simt.engine.host import Cpu, find_cpu
from simt.engine.llvm_kernel import emit
from simt.engine.llvm_word_masks import with_word_masks
from simt.machine.device import DEVICES
from tests.conftest import kept_for_each_way

Ints = npt.NDArray[np.int64]

# Each thread turns until its own condition says that it is enough. `%v` is what it begins with, `%n` what it
# leaves with; threads beyond the limit leave at once.
KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 count, .param .u32 limit) {
    .reg .b64 %in, %out, %a, %d; .reg .b32 %t, %v, %n, %h, %o, %count, %limit; .reg .pred %p, %q, %r;
    .reg .f32 %x; .reg .f64 %y;
    ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
    ld.param.u32 %count, [count]; ld.param.u32 %limit, [limit];
    mov.u32 %h, %ctaid.x; mov.u32 %o, %ntid.x; mov.u32 %t, %tid.x; mad.lo.s32 %t, %h, %o, %t;
    setp.ge.s32 %p, %t, %count;
    @%p bra DONE;
    mul.wide.u32 %a, %t, 4; add.u64 %in, %in, %a; add.u64 %out, %out, %a;
    ld.global.u32 %v, [%in]; mov.u32 %n, 0; cvt.s64.s32 %d, %v; cvt.rn.f32.s32 %x, %v; cvt.rn.f64.s32 %y, %v;
    BODY
    st.global.u32 [%out], %n;
DONE:
    ret;
}
"""
COLLATZ = """
LOOP:
    setp.eq.s32 %p, %v, 1;
    @%p bra END;
    shr.u32 %h, %v, 1; mad.lo.s32 %o, %v, 3, 1; and.b32 %t, %v, 1; setp.eq.s32 %q, %t, 0;
    selp.b32 %v, %h, %o, %q; add.s32 %n, %n, 1;
    bra LOOP;
END:
"""
HALVES = """
LOOP:
    setp.le.f32 %p, %x, 0f3F000000; setp.ge.u32 %q, %n, %limit; or.pred %p, %p, %q;
    @%p bra END;
    mul.f32 %x, %x, 0f3F000000; add.s32 %n, %n, 1;
    bra LOOP;
END:
"""
DOUBLES = (
    HALVES.replace("f32 %p, %x", "f64 %p, %y")
    .replace("mul.f32 %x, %x", "mul.f64 %y, %y")
    .replace("0f3F000000", "0d3FE0000000000000")
)
LONGS = """
LOOP:
    setp.le.s64 %p, %d, 1;
    @%p bra END;
    shr.s64 %d, %d, 1; add.s32 %n, %n, 1;
    bra LOOP;
END:
"""
TWO_WAYS_OUT = """
LOOP:
    setp.lt.s32 %p, %v, 2;
    @%p bra END;
    and.b32 %t, %v, 31; setp.eq.s32 %q, %t, 19;
    @%q bra FOUND;
    shr.u32 %v, %v, 1; add.s32 %n, %n, 1;
    bra LOOP;
FOUND:
    add.s32 %n, %n, 1000;
END:
"""
PASSED_OVER = """
LOOP:
    and.b32 %t, %v, 1; setp.eq.s32 %q, %t, 0;
    @%q bra NEXT;
    add.s32 %n, %n, %v;
    mul.lo.s32 %o, %n, %n; and.b32 %t, %o, 3; setp.eq.s32 %r, %t, 1;
    @%r bra END;
NEXT:
    shr.u32 %v, %v, 1; setp.ne.s32 %p, %v, 0;
    @%p bra LOOP;
END:
"""


def collatz(v: int, _: int) -> int:
    n = 0
    while v != 1:
        v, n = (v * 3 + 1 if v % 2 else v // 2), n + 1
    return n


def halves(v: int, limit: int) -> int:
    x, n = float(v), 0
    while x > 0.5 and n < limit:
        x, n = x / 2, n + 1
    return n


def longs(v: int, _: int) -> int:
    return v.bit_length() - 1


def two_ways_out(v: int, _: int) -> int:
    n = 0
    while v >= 2:
        if v % 32 == 19:
            return n + 1000
        v, n = v // 2, n + 1
    return n


def passed_over(v: int, _: int) -> int:
    n = 0
    while True:
        if v % 2:
            n += v
            if n * n % 4 == 1:
                return n
        v //= 2
        if not v:
            return n


BODIES: dict[str, tuple[str, Callable[[int, int], int]]] = {
    "collatz": (COLLATZ, collatz),
    "halves": (HALVES, halves),
    "doubles": (DOUBLES, halves),
    "longs": (LONGS, longs),
    "two ways out": (TWO_WAYS_OUT, two_ways_out),
    "passed over": (PASSED_OVER, passed_over),
}
OF_WORDS = "collatz", "halves", "doubles", "longs"


@kept_for_each_way
def device_for(cpu: str) -> simt.Device:
    return simt.Device("sm_90", engine="jit", memory="64MiB", cpu=cpu)


@pytest.mark.parametrize("cpu", ["x86-64-v3", "host"])
@pytest.mark.parametrize(("block", "count"), [(256, 1000), (32, 61), (48, 500), ((16, 1), 100), (8, 35)])
@pytest.mark.parametrize("body", BODIES)
def test_each_thread_leaves_when_it_has_enough(
    body: str, block: int | tuple[int, int], count: int, cpu: str
) -> None:
    device, (code, model) = device_for(cpu), BODIES[body]
    v = np.random.default_rng(count).integers(1, 3000, count, dtype="i4")
    v[count // 2 :: 7] = 1
    out, threads = device.zeros(count + 64, "i4"), block if isinstance(block, int) else block[0]
    kernel = device.load(KERNEL.replace("BODY", code))["k"]
    kernel(-(-count // threads), block, (device.array(v), out, np.int32(count), np.int32(9)))
    assert out.numpy().tolist() == [model(int(x), 9) for x in v] + [0] * 64


def code_of(body: str, cpu: Cpu) -> tuple[str, str]:
    """LLVM's code after its passes, and machine code."""
    program = compile_ptx(KERNEL.replace("BODY", BODIES[body][0]), "<ptx>", DEVICES[90])[0]
    text, _, _ = emit(program, program.functions["k"], BlockShape(256, 1, 1), cpu.features, attributes(cpu))
    module = optimized(text, cpu)
    return str(module), target_machine(cpu).emit_assembly(module)


@pytest.mark.parametrize("body", OF_WORDS)
def test_masks_go_round_as_words(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text, machine_code = code_of(body, find_cpu("x86-64-v3"))
    assert re.search(r"%words\.\S+ = phi <32 x i32>", text)
    assert re.search(r"= phi <32 x i1>", text) is None
    monkeypatch.setattr("simt.engine.compile.only_avx2", frozenset[str]().issuperset)
    text, other_code = code_of(body, find_cpu("x86-64-v3"))
    assert re.search(r"= phi <32 x i1>", text)
    assert machine_code.count("vpmovzxbd") < other_code.count("vpmovzxbd")  # bytes are taken apart


def test_other_cpus_have_masks_as_they_are() -> None:
    for cpu in ("x86-64-v4", "x86-64"):
        assert re.search(r"= phi <32 x i1>", code_of("collatz", find_cpu(cpu))[0])


FUNCTION = """define <8 x i32> @f(<8 x i32> %a, <8 x i32> %b) {
entry:
  %first = icmp sgt <8 x i32> %a, %b
  br label %loop

loop:                                             ; preds = %loop, %entry
  %mask = phi <8 x i1> [ %first, %entry ], [ %left, %loop ]
  %x = phi <8 x i32> [ %a, %entry ], [ %next, %loop ]
  %less = sub <8 x i32> %x, %b
  %next = select <8 x i1> %mask, <8 x i32> %less, <8 x i32> %x
  %again = icmp sgt <8 x i32> %next, %b
  %left = and <8 x i1> %mask, %again
  %bits = bitcast <8 x i1> %left to i8
  %none = icmp eq i8 %bits, 0
  br i1 %none, label %end, label %loop

end:                                              ; preds = %loop
  %result = select <8 x i1> %left, <8 x i32> %a, <8 x i32> %next
  ret <8 x i32> %result
}
"""


def test_what_is_made_of_masks_is_made_of_words() -> None:
    lines = with_word_masks(FUNCTION).splitlines()
    assert "  %words.mask = phi <8 x i32> [ %words.first, %entry ], [ %words.left, %loop ]" in lines
    assert "  %words.left = and <8 x i32> %words.mask, %words.again" in lines
    assert "  %none = icmp eq i32 %signs.none, 0" in lines
    assert not any("%bits = " in line for line in lines)
    last = next(line for line in lines if "%result = " in line)
    assert "<8 x i1> %mask.0.left," in last  # of its own block


@pytest.mark.parametrize(
    ("line", "other"),
    [
        ("  %none = icmp eq i8 %bits, 0", "  %none = icmp eq i8 %bits, 7"),
        ("  %none = icmp eq i8 %bits, 0", "  call void @g(i8 %bits)\n  %none = icmp eq i8 %bits, 0"),
        ("  %none = icmp eq i8 %bits, 0", "  call void @g(<8 x i1> %left)\n  %none = icmp eq i8 %bits, 0"),
        ("[ %first, %entry ]", "[ %given, %entry ]"),
        ("  %next = select <8 x i1> %mask, <8 x i32> %less,", "  %next = add <8 x i32> %less,"),
    ],
)
def test_masks_that_are_something_else_too_stay_bytes(line: str, other: str) -> None:
    """Integers, arguments of calls, parameters; and what nothing is chosen by."""
    text = FUNCTION.replace("  %result = select <8 x i1> %left, <8 x i32> %a, <8 x i32> %next\n", "")
    text = text.replace("ret <8 x i32> %result", "ret <8 x i32> %next")
    assert with_word_masks(text) != text
    assert line in text
    changed = text.replace(line, other)
    assert with_word_masks(changed) == changed


def test_tests_of_all_lanes() -> None:
    text = with_word_masks(FUNCTION.replace("i8 %bits, 0", "i8 %bits, -1"))
    assert "  %none = icmp eq i32 %signs.none, 255" in text
