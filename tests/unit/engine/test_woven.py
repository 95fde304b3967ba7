"""Local memory whose words lie side by side: `simt.engine.llvm_woven`."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.driver.source import compile_ptx
from simt.engine.llvm_kernel import emit
from simt.machine.device import find_device

THREADS = 64
HEAD = ".version 7.5\n.target sm_75\n.address_size 64\n"
Answer = Callable[[np.ndarray], np.ndarray]


def kernel(body: str, functions: str = "") -> str:
    """Each thread has a word of `in` in %v0, and gives %v0 to `out`."""
    return f"""{HEAD}{functions}
.visible .entry k(.param .u64 in, .param .u64 out)
{{
    .reg .pred %p; .reg .b32 %t, %w, %h, %i, %n, %v<4>; .reg .f64 %d<2>; .reg .b64 %in, %out, %o, %l;
    .local .align 16 .b8 box[64];
    ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
    mov.u32 %w, %ntid.x; mov.u32 %h, %tid.y; mov.u32 %t, %tid.x; mad.lo.u32 %t, %h, %w, %t;
    mul.wide.u32 %o, %t, 4; add.u64 %in, %in, %o; add.u64 %out, %out, %o;
    mov.u64 %l, box;
    ld.global.u32 %v0, [%in];
    {body}
    st.global.u32 [%out], %v0;
    ret;
}}
"""


PLACE = "and.b32 %i, %v0, 15; mul.wide.u32 %o, %i, 4; add.u64 %o, %l, %o;"
"""%o: a word of its own for each thread."""
LOOP = "add.u32 %n, %n, 1; setp.lt.u32 %p, %n, 16; @%p bra"
DEEP = """.func (.param .u32 r) deep (.param .u32 x)
{
    .reg .pred %p; .reg .u32 %v, %w; .local .u32 own[4];
    ld.param.u32 %v, [x]; st.local.u32 [own+4], %v; mov.u32 %w, 0;
    setp.eq.u32 %p, %v, 0; @%p bra END;
    sub.u32 %w, %v, 1;
    { .param .u32 a; .param .u32 b; st.param.u32 [a], %w; call (b), deep, (a); ld.param.u32 %w, [b]; }
END:
    ld.local.u32 %v, [own+4]; add.u32 %v, %v, %w; st.param.u32 [r], %v; ret;
}
"""


def shifted(words: np.ndarray) -> np.ndarray:
    """What a thread finds that puts `word + place` at all places, and reads at its word's lowest bits."""
    return words + words % 16


CASES: dict[str, tuple[str, Answer]] = {
    "one place": ("st.local.u32 [%l+8], %v0; mov.u32 %v0, 0; ld.local.u32 %v0, [%l+8];", lambda x: x),
    "zero at first": ("ld.local.u32 %v0, [%l+60];", lambda x: 0 * x),
    "four words, one of them": (
        "add.u32 %v1, %v0, 1; add.u32 %v2, %v0, 2; add.u32 %v3, %v0, 3;"
        "st.local.v4.u32 [%l+16], {%v0, %v1, %v2, %v3}; ld.local.u32 %v0, [%l+24];",
        lambda x: x + 2,
    ),
    "words, two of them": (
        "st.local.u32 [%l+8], %v0; add.u32 %v1, %v0, 1; st.local.u32 [%l+12], %v1;"
        "ld.local.v2.u32 {%v0, %v1}, [%l+8]; mad.lo.u32 %v0, %v1, 1000, %v0;",
        lambda x: x + 1000 * (x + 1),
    ),
    "places of their own": (
        f"{PLACE} st.local.u32 [%o], %v0; ld.local.u32 %v0, [%l+20];",
        lambda x: x * (x % 16 == 5),
    ),
    "written side by side, read apart": (
        f"mov.u32 %n, 0; {PLACE} L: add.u32 %v1, %v0, %n; st.local.u32 [%l], %v1; add.u64 %l, %l, 4;"
        f"{LOOP} L;"
        "ld.local.u32 %v0, [%o];",
        shifted,
    ),
    "pairs of their own": (
        "and.b32 %i, %v0, 7; mul.wide.u32 %o, %i, 8; add.u64 %o, %l, %o; add.u32 %v1, %v0, 7;"
        "st.local.v2.u32 [%o], {%v0, %v1}; ld.local.v2.u32 {%v2, %v3}, [%o]; sub.u32 %v0, %v3, %v2;"
        "ld.local.u32 %v1, [%l+4]; mad.lo.u32 %v0, %v1, 100, %v0;",
        lambda x: 7 + 100 * (x + 7) * (x % 8 == 0),
    ),
    "bytes at places of their own": (
        "and.b32 %i, %v0, 15; cvt.u64.u32 %o, %i; add.u64 %o, %l, %o; st.local.u8 [%o], %v0;"
        "ld.local.u8 %v1, [%o]; ld.local.s8 %v2, [%l+5]; mad.lo.u32 %v0, %v1, 1000, %v2;",
        lambda x: (x % 256) * 1000 + x.astype("u1").view("i1") * (x % 16 == 5),
    ),
    "halves at places of their own, by some threads": (
        "and.b32 %i, %v0, 15; mul.wide.u32 %o, %i, 2; add.u64 %o, %l, %o; st.local.u16 [%o], 7;"
        "setp.gt.u32 %p, %t, 40; @%p st.local.u16 [%o], %v0; ld.local.u16 %v1, [%o];"
        "ld.local.v2.u16 {%v2, %v3}, [%l+12]; mad.lo.u32 %v0, %v2, 1000, %v1;",
        lambda x: (lambda y: y + 1000 * y * (x % 16 == 6))(np.where(np.arange(THREADS) > 40, x, 7)),
    ),
    "words, and their bytes": (
        "add.u32 %v1, %v0, 70000; st.local.v2.u32 [%l+8], {%v0, %v1}; and.b32 %i, %v0, 7;"
        "cvt.u64.u32 %o, %i; add.u64 %o, %l, %o; ld.local.u8 %v2, [%o+8]; mov.u32 %v3, 0;"
        "st.local.u8 [%l+13], %v3; ld.local.u32 %v3, [%l+12]; mad.lo.u32 %v0, %v2, 7, %v3;",
        lambda x: (
            7 * np.stack([x, x + 70000], 1).view("u1")[np.arange(THREADS), x % 8].astype("u4")
            + ((x + 70000) & 0xFFFF00FF)
        ),
    ),
    "doubles and their halves": (
        "cvt.rn.f64.u32 %d0, %v0; st.local.f64 [%l+24], %d0; ld.local.u32 %v1, [%l+28];"
        "st.local.u32 [%l+24], %v1; ld.local.u64 %o, [%l+24]; shr.u64 %o, %o, 20; cvt.u32.u64 %v0, %o;",
        lambda x: (x.astype("f8").view("u8") >> 32 << 32 | x.astype("f8").view("u8") >> 32) >> 20,
    ),
    "some threads": (
        "st.local.u32 [%l+4], 9; setp.gt.u32 %p, %t, 40; @%p st.local.u32 [%l+4], %v0;"
        "ld.local.u32 %v0, [%l+4];",
        lambda x: np.where(np.arange(THREADS) > 40, x, 9),
    ),
    "an index that wraps": (
        "add.u32 %i, %t, -8; shr.u32 %i, %i, 31; mul.wide.u32 %o, %i, 4; add.u64 %o, %l, %o;"
        "st.local.u32 [%o], %v0; ld.local.u32 %v0, [%l+4];",
        lambda x: x * (np.arange(THREADS) < 8),
    ),
    "doubles": (
        "cvt.rn.f64.u32 %d0, %v0; mul.f64 %d0, %d0, 0d3FF8000000000000; st.local.f64 [%l+24], %d0;"
        "and.b32 %i, %v0, 3; mul.wide.u32 %o, %i, 8; add.u64 %o, %l, %o; ld.local.f64 %d1, [%o];"
        "cvt.rzi.u32.f64 %v0, %d1;",
        lambda x: (x * 3 // 2) * (x % 4 == 3),
    ),
}


@pytest.mark.share(2)
@pytest.mark.parametrize(("engine", "cpu"), [("jit", None), ("jit", "x86-64"), ("interpreter", None)])
@pytest.mark.parametrize("block", [(64, 1), (16, 4), (8, 8), (24, 1)])
@pytest.mark.parametrize("name", CASES)
def test_words(name: str, block: tuple[int, int], engine: str, cpu: str | None) -> None:
    body, answer = CASES[name]
    found, words = run(kernel(body), block, engine, cpu)
    count = block[0] * block[1]
    assert np.array_equal(found[:count], answer(words)[:count].astype("u4"))


def run(ptx: str, block: tuple[int, int], engine: str, cpu: str | None) -> tuple[np.ndarray, np.ndarray]:
    """What threads give, and what they get."""
    words = np.random.default_rng(7).integers(0, 10_000, THREADS).astype("u4")
    device = simt.Device("sm_75", engine=engine, cpu=cpu)
    out = device.zeros(THREADS, "u4")
    device.load(ptx)["k"](1, block, (device.array(words), out))
    return out.numpy(), words


@pytest.mark.parametrize("engine", ["jit", "interpreter"])
def test_frames_of_a_recursive_function(engine: str) -> None:
    ptx = kernel(
        "and.b32 %v0, %v0, 31; st.local.u32 [%l+4], %v0;"
        "{ .param .u32 a; .param .u32 b; st.param.u32 [a], %v0; call (b), deep, (a); ld.param.u32 %v0, [b]; }"
        "ld.local.u32 %v1, [%l+4]; mad.lo.u32 %v0, %v1, 1000, %v0;",
        DEEP,
    )
    found, words = run(ptx, (THREADS, 1), engine, None)
    depth = words % 32
    assert np.array_equal(found, depth * 1000 + depth * (depth + 1) // 2)


@pytest.mark.parametrize("engine", ["jit", "interpreter"])
@pytest.mark.parametrize(
    ("body", "thread", "address", "what"),
    [
        ("ld.local.u32 %v0, [%l+64];", 0, 64, "outside"),
        ("st.local.u32 [%l+-4], %v0;", 0, 2**32 - 4, "outside"),
        ("ld.local.u32 %v0, [%l+6];", 0, 6, "misaligned"),
        ("ld.local.v4.u32 {%v0, %v1, %v2, %v3}, [%l+8];", 0, 8, "misaligned"),
        ("ld.local.v2.u32 {%v0, %v1}, [%l+64];", 0, 64, "outside"),
        (
            "shl.b32 %i, %t, 1; cvt.u64.u32 %o, %i; add.u64 %o, %l, %o; st.local.u32 [%o], %v0;",
            1,
            2,
            "misaligned",
        ),
        ("mul.wide.u32 %o, %t, 4; add.u64 %o, %l, %o; ld.local.u32 %v0, [%o];", 16, 64, "outside"),
        (
            "mul.wide.u32 %o, %t, 4; add.u64 %o, %l, %o; st.local.v2.u32 [%o], {%v0, %v0};",
            1,
            4,
            "misaligned",
        ),
        (
            "ld.global.u32 %i, [%in+256]; cvt.u64.u32 %o, %i; add.u64 %o, %l, %o; ld.local.u32 %v0, [%o];",
            0,
            68,
            "outside",
        ),
    ],
)
def test_faults(body: str, thread: int, address: int, what: str, engine: str) -> None:
    device = simt.Device("sm_75", engine=engine)
    words = device.array(np.full(2 * THREADS, 68, "u4"))
    with pytest.raises(simt.MemoryFault, match=what) as caught:
        device.load(kernel(body))["k"](1, THREADS, (words, device.zeros(THREADS, "u4")))
    fault = caught.value
    assert fault.site.thread == (thread, 0, 0)
    assert (fault.space, fault.address) == ("local", address)


@pytest.mark.parametrize(
    ("name", "apart"),
    [("one place", 0), ("four words, one of them", 0), ("places of their own", 1), ("doubles", 1)],
)
def test_how_many_gathers_and_scatters(name: str, apart: int) -> None:
    """None where lanes get at one place."""
    assert len(re.findall(r"call .*@llvm\.masked\.(gather|scatter)", text_of(CASES[name][0]))) == apart


def text_of(body: str) -> str:
    program, _ = compile_ptx(kernel(body), "<test>", find_device("sm_75"))
    features = frozenset({"avx512f"})
    return emit(program, program.functions["k"], BlockShape(64, 1, 1), features, "nounwind")[0]


WALK = """
    mov.u32 %n, %t; shr.u32 %v1, %v0, 2; mov.u32 %v2, 0;
L:  mad.lo.u32 %v1, %v1, 13, %t; and.b32 %i, %v1, 15; mul.wide.u32 %o, %i, 4; add.u64 %o, %l, %o;
    LOAD add.u32 %v3, %v3, %v1; mad.lo.u32 %v2, %v2, 7, %v3; STORE
    and.b32 %i, %v3, 63; mul.wide.u32 %o, %i, 4; add.u64 %o, %a, %o;
    ld.global.u32 %v3, [%o]; add.u32 %v2, %v2, %v3;
    setp.eq.u32 %p, %n, 0; sub.u32 %n, %n, 1; @!%p bra L;
    mov.u32 %v0, %v2;
"""
"""Threads leave by degrees, so that the last of them go on alone: with an array of their own each, and words
at random places of `in`."""


def walked(words: np.ndarray, bits: int) -> list[int]:
    """What threads find whose arrays have elements of some bits."""
    found = list[int]()
    for t, word in enumerate(words.tolist()):
        own, at, total = [0] * 16, word >> 2, 0
        for _ in range(t + 1):
            at = (at * 13 + t) % 2**32
            value = (own[at % 16] + at) % 2**32
            total = (total * 7 + value) % 2**32
            own[at % 16] = value % 2**bits
            total = (total + int(words[value % 64])) % 2**32
        found.append(total)
    return found


@pytest.mark.parametrize(("engine", "cpu"), [("jit", None), ("jit", "x86-64"), ("interpreter", None)])
@pytest.mark.parametrize(
    ("load", "store", "bits"),
    [
        ("ld.local.u32 %v3, [%o];", "st.local.u32 [%o], %v3;", 32),
        ("ld.local.u16 %v3, [%o];", "st.local.u16 [%o], %v3;", 16),
        (
            "ld.local.u32 %v3, [%l+4]; ld.local.u32 %v3, [%l+8]; ld.local.u16 %v3, [%o];",
            "st.local.u16 [%o], %v3;",
            16,
        ),
        ("ld.local.u32 %v3, [%o];", "st.local.u32 [%o], %v3; cvta.local.u64 %out2, %l;", 32),
    ],
)
def test_lanes_that_go_on_alone(load: str, store: str, bits: int, engine: str, cpu: str | None) -> None:
    body = f".reg .b64 %out2, %a; ld.param.u64 %a, [in]; {WALK}".replace("LOAD", load).replace("STORE", store)
    found, words = run(kernel(body), (THREADS, 1), engine, cpu)
    assert found.tolist() == walked(words, bits)
    assert "\nalone." in text_of(body)


@pytest.mark.parametrize("engine", ["jit", "interpreter"])
def test_a_fault_of_a_lane_alone(engine: str) -> None:
    """Thread 63 comes to the end of its array when all others of its warp have left the loop."""
    load = (
        "sub.u32 %v3, 63, %n; mul.wide.u32 %o, %v3, 4; add.u64 %o, %l, %o;"
        "setp.lt.u32 %p, %t, 63; @%p mov.u64 %o, %l; ld.local.u32 %v3, [%o];"
    )
    body = f".reg .b64 %a; ld.param.u64 %a, [in]; {WALK}".replace("LOAD", load).replace("STORE", "")
    device = simt.Device("sm_75", engine=engine)
    arrays = device.array(np.zeros(THREADS, "u4")), device.zeros(THREADS, "u4")
    with pytest.raises(simt.MemoryFault, match="outside") as caught:
        device.load(kernel(body))["k"](1, THREADS, arrays)
    assert caught.value.site.thread == (63, 0, 0)
    assert (caught.value.space, caught.value.address) == ("local", 64)
