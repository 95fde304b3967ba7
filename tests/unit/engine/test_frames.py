"""Words of a frame as registers (`simt.analysis.frame_registers`), and calls in place (`short_calls`)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import simt
from simt.analysis.frame_registers import flattened
from simt.analysis.lower import lower
from simt.analysis.program import Function, Op
from simt.ptx.parser import parse

THREADS = 64
HEAD = ".version 7.5\n.target sm_75\n.address_size 64\n"
Answer = Callable[[np.ndarray], np.ndarray]


def kernel(body: str, functions: str = "") -> str:
    """Each thread has a word of `in` in %v0, and gives %v0 to `out`. %s is the generic address of the frame,
    %l that in local memory."""
    return f"""{HEAD}{functions}
.visible .entry k(.param .u64 in, .param .u64 out)
{{
    .reg .pred %p, %q; .reg .b16 %h<3>; .reg .b32 %t, %n, %v<4>; .reg .f32 %f<3>; .reg .f64 %d<2>;
    .reg .b64 %in, %out, %o, %l, %s, %a<4>;
    .local .align 16 .b8 depot[64];
    mov.u64 %l, depot; cvta.local.u64 %s, %l;
    ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
    mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 4; add.u64 %in, %in, %o; add.u64 %out, %out, %o;
    ld.global.u32 %v0, [%in];
    {body}
    st.global.u32 [%out], %v0;
    ret;
}}
"""


ODD = "and.b32 %n, %v0, 1; setp.ne.u32 %p, %n, 0;"
"""%p: whether a thread's word is odd."""
REGISTERS: dict[str, tuple[str, Answer]] = {
    "a word": ("st.u32 [%s+8], %v0; mov.u32 %v0, 0; ld.u32 %v0, [%s+8];", lambda x: x),
    "by a local address": ("st.u32 [%s+8], %v0; ld.local.u32 %v1, [%l+8]; mov.u32 %v0, %v1;", lambda x: x),
    "by an address that is made": (
        "add.u64 %a0, %s, 16; st.u32 [%a0+-4], %v0; ld.u32 %v0, [%s+12];",
        lambda x: x,
    ),
    "by an address with a bit more": (
        "add.u64 %a0, %s, 16; or.b64 %a0, %a0, 8; st.u32 [%a0], %v0; ld.u32 %v0, [%s+24];",
        lambda x: x,
    ),
    "a byte, with its sign": ("st.u8 [%s+3], %v0; ld.s8 %v0, [%s+3];", lambda x: x.astype("i1").astype("u4")),
    "halves": (
        "cvt.u16.u32 %h0, %v0; st.u16 [%s+2], %h0; ld.u16 %v0, [%s+2];",
        lambda x: x & 0xFFFF,
    ),
    "a sign for a wider register": (
        "neg.s32 %v0, %v0; st.u32 [%s], %v0; ld.s32 %a0, [%s]; shr.u64 %a0, %a0, 8; cvt.u32.u64 %v0, %a0;",
        lambda x: (-x.astype("i8") >> 8).astype("u4"),
    ),
    "floats as integers": (
        "cvt.rn.f32.u32 %f0, %v0; st.f32 [%s+4], %f0; ld.u32 %v0, [%s+4];",
        lambda x: x.astype("f4").view("u4"),
    ),
    "several words": (
        "add.u32 %v1, %v0, 1; st.v2.u32 [%s+8], {%v0, %v1}; ld.v2.u32 {%v2, %v3}, [%s+8];"
        "mad.lo.u32 %v0, %v3, 1000, %v2;",
        lambda x: x + 1000 * (x + 1),
    ),
    "one after the other": (
        "st.u32 [%s+8], %v0; st.u64 [%s+8], 5; ld.u64 %a0, [%s+8]; cvt.u32.u64 %v1, %a0; st.u32 [%s+8], %v0;"
        "ld.u32 %v0, [%s+8]; mad.lo.u32 %v0, %v1, 1000, %v0;",
        lambda x: x + 5000,
    ),
    "in either arm": (
        f"{ODD} @%p bra A; st.u32 [%s], 7; bra B; A: st.u32 [%s], %v0; B: ld.u32 %v0, [%s];",
        lambda x: np.where(x % 2, x, 7),
    ),
    "stored once more by some": (
        f"st.u32 [%s], 7; {ODD} @%p st.u32 [%s], %v0; ld.u32 %v0, [%s];",
        lambda x: np.where(x % 2, x, 7),
    ),
    "in a loop": (
        "st.u32 [%s], 0; st.u32 [%s+4], %v0;"
        "L: ld.u32 %v1, [%s]; ld.u32 %v2, [%s+4]; add.u32 %v1, %v1, %v2; st.u32 [%s], %v1;"
        "shr.u32 %v2, %v2, 1; st.u32 [%s+4], %v2; setp.ne.u32 %p, %v2, 0; @%p bra L; ld.u32 %v0, [%s];",
        lambda x: np.sum([x >> i for i in range(32)], axis=0),
    ),
    "by an address that is kept there": (
        "add.u64 %a0, %s, 32; st.u64 [%s+8], %a0; ld.u64 %a1, [%s+8]; st.u32 [%a1+4], %v0;"
        "ld.u32 %v0, [%s+36];",
        lambda x: x,
    ),
    "an address that is compared": (
        "st.u32 [%s], %v0; setp.ne.s64 %p, %s, 0; @!%p bra A; ld.u32 %v0, [%s]; A:",
        lambda x: x,
    ),
}
MEMORY: dict[str, tuple[str, Answer]] = {
    "zero at first": (
        "st.u32 [%s+4], %v0; ld.u32 %v1, [%s]; add.u32 %v0, %v0, %v1; ld.u32 %v1, [%s+4];",
        lambda x: x,
    ),
    "zero for some": (f"{ODD} @%p st.u32 [%s], %v0; ld.u32 %v0, [%s];", lambda x: x * (x % 2)),
    "a part of a word": (
        "st.u64 [%s], 0x500000007; ld.u32 %v1, [%s+4]; add.u32 %v0, %v0, %v1;",
        lambda x: x + 5,
    ),
    "a word of parts": (
        "st.u32 [%s], %v0; st.u32 [%s+4], 1; ld.u64 %a0, [%s]; shr.u64 %a0, %a0, 31; cvt.u32.u64 %v0, %a0;",
        lambda x: 0 * x + 2,
    ),
    "a part stored later": (
        "st.u32 [%s], %v0; st.u8 [%s+1], 1; ld.u32 %v0, [%s];",
        lambda x: x & ~np.uint32(0xFF00) | 0x100,
    ),
    "one of two words": (
        "st.v2.u32 [%s+8], {%v0, %v0}; ld.u16 %n, [%s+12]; ld.v2.u32 {%v1, %v2}, [%s+8];"
        "add.u32 %v0, %v1, %n;",
        lambda x: x + (x & 0xFFFF),
    ),
    "places of their own": (
        "st.u32 [%s+4], 5; and.b32 %n, %v0, 1; mul.wide.u32 %a0, %n, 4; add.u64 %a0, %s, %a0;"
        "st.u32 [%a0], %v0; ld.u32 %v0, [%s+4];",
        lambda x: np.where(x % 2, x, 5),
    ),
    "by an address that some have": (
        f"st.u32 [%s+4], 5; add.u64 %a0, %s, 32; {ODD} @%p add.u64 %a0, %s, 4; st.u32 [%a0], %v0;"
        "ld.u32 %v0, [%s+4];",
        lambda x: np.where(x % 2, x, 5),
    ),
    "by an address that some have no more": (
        f"st.u32 [%s+4], 5; mov.u64 %a1, %out; {ODD} add.u64 %a0, %s, 4; @%p mov.u64 %a0, %a1;"
        "st.u32 [%a0], %v0; ld.u32 %v0, [%s+4];",
        lambda x: np.where(x % 2, 5, x),
    ),
    "by an address from either arm": (
        f"st.u32 [%s+4], 5; {ODD} add.u64 %a0, %s, 32; @%p bra A; add.u64 %a0, %s, 4; A: st.u32 [%a0], %v0;"
        "ld.u32 %v0, [%s+4];",
        lambda x: np.where(x % 2, 5, x),
    ),
    "by an address in two parts": (
        "add.u64 %a0, %s, 4; st.u64 [%s+8], %a0; ld.v2.u32 {%v1, %v2}, [%s+8]; mov.b64 %a1, {%v1, %v2};"
        "st.u32 [%s+4], 5; st.u32 [%a1], %v0; ld.u32 %v0, [%s+4];",
        lambda x: x,
    ),
    "by a number": (
        "st.local.u32 [%l], 5; cvt.u32.u64 %n, %l; and.b32 %n, %n, 0; st.local.u32 [%n], %v0;"
        "ld.local.u32 %v0, [%l];",
        lambda x: x,
    ),
    "volatile": ("st.volatile.u32 [%s], %v0; ld.volatile.u32 %v0, [%s];", lambda x: x),
    "by an address elsewhere": (
        "st.u32 [%s+4], 5; add.u64 %a0, %s, 4; add.u64 %a2, %in, %o; st.global.u64 [%a2+256], %a0;"
        "ld.global.u64 %a1, [%a2+256];"
        "st.u32 [%a1], %v0; ld.u32 %v0, [%s+4];",
        lambda x: x,
    ),
}
ENGINES = [("jit", None), ("jit", "x86-64"), ("interpreter", None)]


def run(ptx: str, engine: str, cpu: str | None) -> tuple[np.ndarray, np.ndarray]:
    """What threads give, and what they get."""
    words = np.random.default_rng(7).integers(1, 100_000, THREADS).astype("u4")
    device = simt.Device("sm_75", engine=engine, cpu=cpu)
    given = np.zeros(4 * THREADS, "u4")
    given[:THREADS] = words
    out = device.zeros(THREADS, "u4")
    device.load(ptx)["k"](1, THREADS, (device.array(given), out))
    return out.numpy(), words


def flat(ptx: str) -> Function:
    """The kernel that code is made of."""
    tree, problems = parse(ptx, "k.ptx")
    assert tree is not None
    assert not problems.errors
    program = lower(tree)
    function, _ = flattened(program, program.functions["k"])
    return function


def accesses(function: Function) -> int:
    """Loads and stores, but for those of parameters and of global memory."""
    spaces = [op.binding.get("space") for op in function.ops() if isinstance(op, Op) and op.form.moves_memory]
    return sum(space not in ("param", "global") for space in spaces)


@pytest.mark.share(2)
@pytest.mark.parametrize(("engine", "cpu"), ENGINES)
@pytest.mark.parametrize("name", [*REGISTERS, *MEMORY])
def test_words(name: str, engine: str, cpu: str | None) -> None:
    body, answer = (REGISTERS | MEMORY)[name]
    found, words = run(kernel(body), engine, cpu)
    assert np.array_equal(found, answer(words).astype("u4"))


@pytest.mark.parametrize("name", REGISTERS)
def test_words_that_become_registers(name: str) -> None:
    assert accesses(flat(kernel(REGISTERS[name][0]))) == 0


@pytest.mark.parametrize("name", MEMORY)
def test_words_that_stay_in_memory(name: str) -> None:
    assert accesses(flat(kernel(MEMORY[name][0]))) > 0


FUNCTIONS = """
.func (.param .b32 r) twice (.param .b32 x)
{ .reg .b32 %v; ld.param.b32 %v, [x]; shl.b32 %v, %v, 1; st.param.b32 [r], %v; ret; }
.func (.param .b32 r) four (.param .b32 x)
{
    .reg .b32 %v; ld.param.b32 %v, [x];
    { .param .b32 a; .param .b32 b; st.param.b32 [a], %v; call (b), twice, (a); ld.param.b32 %v, [b]; }
    { .param .b32 a; .param .b32 b; st.param.b32 [a], %v; call (b), twice, (a); ld.param.b32 %v, [b]; }
    st.param.b32 [r], %v; ret;
}
.func put (.param .b64 p, .param .b32 x)
{ .reg .b32 %v; .reg .b64 %a; ld.param.b64 %a, [p]; ld.param.b32 %v, [x]; st.u32 [%a], %v; ret; }
.func leave (.param .b32 x)
{ .reg .b32 %v; .local .b32 own[4]; ld.param.b32 %v, [x]; st.local.b32 [own+8], %v; ret; }
.func (.param .b32 r) found (.param .b32 x)
{ .reg .b32 %v; .local .b32 own[4]; ld.local.b32 %v, [own+8]; st.param.b32 [r], %v; ret; }
.func (.param .b32 r) place (.param .b32 x)
{
    .reg .b32 %v; .reg .b64 %a; .local .b32 own[4];
    mov.u64 %a, own; cvt.u32.u64 %v, %a; st.local.b32 [own], 1; st.param.b32 [r], %v; ret;
}
.func (.param .b32 r) odd (.param .b32 x)
{
    .reg .pred %p; .reg .b32 %v, %w, %n; ld.param.b32 %v, [x]; and.b32 %n, %v, 1; setp.ne.u32 %p, %n, 0;
    @!%p bra A; mov.b32 %w, %v; A: st.param.b32 [r], %w; ret;
}
.func (.param .b32 r) odd_at_once (.param .b32 x)
{
    .reg .pred %p; .reg .b32 %v, %w, %n; ld.param.b32 %v, [x]; and.b32 %n, %v, 1; setp.ne.u32 %p, %n, 0;
    @%p mov.b32 %w, %v; st.param.b32 [r], %w; ret;
}
.func (.param .b32 r) wide (.param .b32 x)
{
    .reg .b32 %v, %w; .reg .b64 %a, %b; .local .align 16 .b8 own[64];
    ld.param.b32 %v, [x]; mov.u64 %a, own; cvta.local.u64 %a, %a; st.u32 [%a], %v; st.u32 [%a+20], 0;
    ld.u32 %w, [%a]; add.u32 %w, %w, 1; st.param.b32 [r], %w; ret;
}
"""


def call(name: str, argument: str = "%v0", result: str = "%v0") -> str:
    parameters = f".param .b32 a; .param .b32 b; st.param.b32 [a], {argument};"
    return f"{{ {parameters} call (b), {name}, (a); ld.param.b32 {result}, [b]; }}"


PUT = "{ .param .b64 p; .param .b32 x; st.param.b64 [p], %a0; st.param.b32 [x], %v0; call put, (p, x); }"
LEAVE = "{ .param .b32 x; st.param.b32 [x], %v0; call leave, (x); }"
CALLS: dict[str, tuple[str, Answer]] = {
    "in a call": (call("four"), lambda x: 4 * x),
    "through an address": (f"add.u64 %a0, %s, 4; {PUT} ld.u32 %v0, [%s+4];", lambda x: x),
    "words that another call left": (f"{LEAVE} {call('found')}", lambda x: x),
    "the place of a frame": (f"{call('wide', result='%v1')} {call('place')}", lambda x: 0 * x + 64),
    "registers are zero in each call": (
        f"{call('odd', result='%v1')} add.u32 %v0, %v0, 1; {call('odd', result='%v2')}"
        "mad.lo.u32 %v0, %v2, 1000, %v1;",
        lambda x: np.where(x % 2, x, 1000 * (x + 1)),
    ),
    "some threads": (f"{ODD} @!%p bra A; {call('twice')} A:", lambda x: x * (1 + x % 2)),
}


@pytest.mark.share(2)
@pytest.mark.parametrize(("engine", "cpu"), ENGINES)
@pytest.mark.parametrize("name", CALLS)
def test_calls(name: str, engine: str, cpu: str | None) -> None:
    body, answer = CALLS[name]
    found, words = run(kernel(body, FUNCTIONS), engine, cpu)
    assert np.array_equal(found, answer(words).astype("u4"))


@pytest.mark.parametrize("name", [name for name in CALLS if not name.startswith("registers")])
def test_calls_in_place(name: str) -> None:
    assert not flat(kernel(CALLS[name][0], FUNCTIONS)).calls


def test_what_a_call_is_given_through_an_address_is_a_register() -> None:
    assert accesses(flat(kernel(CALLS["through an address"][0], FUNCTIONS))) == 0


@pytest.mark.parametrize("name", ["odd", "odd_at_once"])
def test_what_reads_registers_that_it_has_not_written_stays_a_call(name: str) -> None:
    assert flat(kernel(call(name), FUNCTIONS)).calls


def test_many_calls_stay_calls() -> None:
    body = "".join(call("four") for _ in range(1000))
    assert flat(kernel(body, FUNCTIONS)).calls


@pytest.mark.parametrize("engine", ["jit", "interpreter"])
def test_faults_name_the_line_of_a_function(engine: str) -> None:
    ptx = kernel(f"mov.u64 %a0, 4; {PUT}", FUNCTIONS)
    line = 1 + ptx.split("st.u32 [%a], %v;")[0].count("\n")
    with pytest.raises(simt.MemoryFault, match=rf"thread \(0, 0, 0\), .* line {line}\)"):
        run(ptx, engine, None)
