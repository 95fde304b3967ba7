"""Loops that a compiler has unrolled, rolled again. The interpreter, which runs them as they are, is the
judge; so is NumPy."""

from __future__ import annotations

from functools import cache
from itertools import chain

import numpy as np
import pytest

import simt
from simt.analysis.program import Block, Function
from simt.analysis.range_algebra import UNKNOWN
from simt.analysis.ranges import Ranges
from simt.analysis.rolled_again import proofs_of, rolled_again, unrolled_pairs
from simt.analysis.schedule import schedule
from simt.analysis.shape import BlockShape
from simt.analysis.ssa import build
from simt.analysis.waiting import settle
from simt.analysis.whole_indices import with_whole_indices
from tests.conftest import shared_device
from tests.unit.engine.arrays import words_at_the_end

HEAD = """
.version 7.5
.target sm_75
.address_size 64
.entry k(.param .u64 from, .param .u64 to, .param .s32 limit, .param .s32 step)
{
    .reg .u64 %x, %y, %px, %py, %d, %a<5>, %b<5>, %w;
    .reg .s32 %i, %j, %n, %s, %q, %t, %left, %c; .reg .pred %p;
    .reg .f32 %f, %g, %sum;
    ld.param.u64 %x, [from];
    ld.param.u64 %y, [to];
    ld.param.s32 %n, [limit];
    ld.param.s32 %s, [step];
    mov.u32 %i, %tid.x; mov.u32 %t, %ntid.x; mov.u32 %c, %ctaid.x;
    mad.lo.s32 %i, %c, %t, %i;
    mov.u32 %j, %i;
    mov.f32 %sum, 0f00000000;
"""
LOOPS = """
    setp.ge.s32 %p, %i, %n;
    @%p bra END;
    not.b32 %t, %i;
    add.s32 %t, %t, %n;
    div.u32 %q, %t, {s};
    add.s32 %t, %q, 1;
    and.b32 %left, %t, 3;
    setp.eq.s32 %p, %left, 0;
    @%p bra FOUR;
    mul.wide.s32 %d, %i, {size};
    add.s64 %px, %x, %d;
    mul.wide.s32 %d, %i, 4;
    add.s64 %py, %y, %d;
    mul.wide.s32 %d, {s}, {size};
    mul.wide.s32 %w, {s}, 4;
ONE:
    {one}
    add.s32 %i, %i, {s};
    add.s64 %px, %px, %d;
    add.s64 %py, %py, %w;
    add.s32 %left, %left, -1;
    setp.ne.s32 %p, %left, 0;
    @%p bra ONE;
FOUR:
    setp.lt.u32 %p, %q, 3;
    @%p bra END;
    mul.wide.s32 %d, {s}, {size};
    mul.wide.s32 %w, {s}, 4;
TURN:
    mul.wide.s32 %a0, %i, {size};
    add.s64 %a0, %x, %a0;
    mul.wide.s32 %b0, %i, 4;
    add.s64 %b0, %y, %b0;
    {four}
    add.s32 %i, %i, {s};
    add.s32 %i, %i, {s};
    add.s32 %i, %i, {s};
    add.s32 %i, %i, {s};
    setp.lt.s32 %p, %i, %n;
    @%p bra TURN;
END:
"""
SCALED = """ld.global.f32 %f, [{x}];
    ld.global.f32 %g, [{y}];
    fma.rn.f32 %f, %f, 0f40200000, %g;
    st.global.f32 [{y}], %f;"""
SUMMED = "ld.global.f32 %f, [{x}];\n add.f32 %sum, %sum, %f;"
FETCHED = "ld.global.u64 %a4, [{x}];\n ld.global.f32 %f, [%a4];\n st.global.f32 [{y}], %f;"
STORE_SUM = "mul.wide.s32 %d, %j, 4; add.s64 %y, %y, %d; st.global.f32 [%y], %sum;"


COUNTED = LOOPS[LOOPS.index("    not.b32") : LOOPS.index("    @%p bra FOUR")]
ROUNDED_UP = """
    add.s32 %t, %i, %s;
    max.s32 %c, %t, %n;
    setp.lt.s32 %p, %t, %n;
    selp.u32 %left, 1, 0, %p;
    add.s32 %t, %t, %left;
    sub.s32 %c, %c, %t;
    div.u32 %q, %c, %s;
    add.s32 %q, %q, %left;
    and.b32 %t, %q, 3;
    add.s32 %left, %q, 1;
    and.b32 %left, %left, 3;
    neg.s32 %left, %left;
    setp.eq.s32 %p, %t, 3;
"""
"""As LLVM 20 counts turns: what is left after the first one, rounded up; upwards to zero."""


def loops(turn: str, size: int = 4, step: str = "%s", last: str = "") -> str:
    """A kernel of which each turn is `turn`, with elements of some bytes, unrolled as compilers do it."""
    four = [turn.format(x="%a0", y="%b0")]
    for n in range(1, 4):
        four += [f"add.s64 %a{n}, %a{n - 1}, %d;\n add.s64 %b{n}, %b{n - 1}, %w;"]
        four += [turn.format(x=f"%a{n}", y=f"%b{n}")]
    text = LOOPS.format(s=step, size=size, one=turn.format(x="%px", y="%py"), four="\n ".join(four))
    return HEAD + text + last + "ret;\n}\n"


def is_rolled(text: str) -> bool:
    """Whether the JIT rolls the loop again, for CTAs of 64 threads."""
    program = shared_device("jit").load(text).program
    kernel, environment, cta = program.functions["k"], program.environment, BlockShape(64, 1, 1, narrow=True)

    def rolls(kernel: Function) -> bool:
        ssa = build(kernel, schedule(kernel))
        uniformity, _ = settle(ssa, environment, cta, program.functions)
        ranges = cache(lambda: Ranges(ssa, environment, cta, lambda _: UNKNOWN))
        pairs = unrolled_pairs(ssa)
        proofs = (proofs_of(ssa, uniformity.shapes, environment, ranges, pair) for pair in pairs)
        return rolled_again(kernel, ssa, chain.from_iterable(proofs)) is not kernel

    return rolls(kernel) or rolls(with_whole_indices(kernel, environment))


def rounded_up(text: str) -> str:
    """A kernel with its turns counted so."""
    counted = COUNTED.format(s="%s")
    assert text.count(counted) == text.count("add.s32 %left, %left, -1;") == 1
    return text.replace("add.s32 %left, %left, -1;", "add.s32 %left, %left, 1;").replace(counted, ROUNDED_UP)


def in_parts(text: str, after: str = "%first, %v") -> str:
    """A kernel whose first loop counts without what all threads of a CTA begin with."""
    changes = {
        "mad.lo.s32 %i, %c, %t, %i;": "mov.u32 %v, %i; mul.lo.s32 %first, %c, %t; add.s32 %i, %first, %v;",
        "ONE:": "ONE:\n add.s32 %k, %first, %v; mul.wide.s32 %px, %k, 4; add.s64 %px, %x, %px;",
        "add.s32 %i, %i, %s;\n    add.s64 %px, %px, %d;": "add.s32 %v, %v, %s;",
        "@%p bra ONE;": f"@%p bra ONE;\n    add.s32 %i, {after};",
        ".reg .s32": ".reg .s32 %v, %first, %k; .reg .s32",
    }
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new, 1)
    return text


FIRST = np.arange(5000, dtype="f4")


def results(text: str, *numbers: int, grid: int = 2) -> list[list[float]]:
    """What the kernel leaves in memory, on either engine."""
    found = list[list[float]]()
    for engine in ("interpreter", "jit"):
        device = shared_device(engine)
        x = device.array(np.random.default_rng(1).random(5000).astype("f4"))
        y = device.array(FIRST)
        device.load(text)["k"](grid, 64, (x, y, *map(np.int32, numbers)))
        found.append(y.numpy().tolist())
    return found


SHAPES = {
    "elements": loops(SCALED),
    "sums": loops(SUMMED, last=STORE_SUM),
    "rows": loops(SCALED, step="64").replace("mad.lo.s32 %i, %c, %t, %i;", ""),
    "rounded up": rounded_up(loops(SCALED)),
    "in parts": in_parts(loops(SCALED)),
    "rounded up, without a sign": rounded_up(loops(SCALED))
    .replace("lt.s32 %p, %t", "lt.u32 %p, %t")
    .replace("max.s", "max.u"),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("limit", [0, 1, 64, 100, 129, 500, 513, 1000, 1024, 3001])
def test_all_turns_are_made(name: str, limit: int) -> None:
    grid = 1 if name == "rows" else 2
    assert is_rolled(SHAPES[name])
    one, other = results(SHAPES[name], limit, 64 * grid, grid=grid)
    assert other == one


def test_elements_are_what_numpy_says() -> None:
    device, x, y = shared_device("jit"), np.arange(777, dtype="f4"), np.arange(777, dtype="f4")[::-1].copy()
    out = device.array(y)
    device.load(SHAPES["elements"])["k"](2, 64, (device.array(x), out, np.int32(777), np.int32(128)))
    assert out.numpy().tolist() == (2.5 * x + y).tolist()


@pytest.mark.parametrize("limit", [5, 100, 700, 1000])
@pytest.mark.parametrize("op", ["add", "sub"])
def test_an_index_that_goes_on_with_the_counter(op: str, limit: int) -> None:
    """`x[i + n]`, `x[i - n]`: the latter is below zero, so nothing is said of how it is extended."""
    text = loops(SUMMED, last=STORE_SUM)
    for register, then in (("%d", "add.s64 %px"), ("%a0", "add.s64 %a0")):
        old = f"mul.wide.s32 {register}, %i, 4;\n    {then}"
        assert old in text
        text = text.replace(old, f"{op}.s32 %t, %i, %n;\n    mul.wide.s32 {register}, %t, 4;\n    {then}")
    assert is_rolled(text)
    expected, words = np.zeros(128, "f4"), np.random.default_rng(1).random(3000).astype("f4")
    for thread in range(min(128, limit)):
        for word in words[1000 + thread : 1000 + limit : 128]:
            expected[thread] += word
    device = shared_device("jit")
    x, out = device.array(words), device.zeros(128, "f4")
    start = x.ptr + 4 * (1000 - limit if op == "add" else 1000 + limit)
    device.load(text)["k"](2, 64, (start, out, np.int32(limit), np.int32(128)))
    assert out.numpy().tolist() == expected.tolist()


LIMIT = 2**31 - 1


@pytest.mark.parametrize(("limit", "step"), [(600, 100), (600, 1 << 25), (600, LIMIT), (3, 64), (-5, 64)])
def test_any_step(limit: int, step: int) -> None:
    """Threads of other CTAs may be at the same elements: so there is one."""
    one, other = results(SHAPES["elements"], limit, step, grid=1)
    assert other == one


WRAPS = loops("st.global.f32 [{y}], %sum;").replace("END:\n", """
END:
    mul.wide.s32 %d, %j, 4;
    add.s64 %y, %y, %d;
    cvt.rn.f32.s32 %f, %i;
    st.global.f32 [%y], %f;
""")  # fmt: skip
"""Stores nothing of sense, but where its counter ends."""


@pytest.mark.parametrize("engine", ["interpreter", "jit"])
def test_a_counter_that_wraps_goes_on_as_it_was(engine: str) -> None:
    """Threads come to their limit by turns that are left over; the counter ends below zero."""
    text = WRAPS.replace("st.global.f32 [%py], %sum;", "").replace("st.global.f32 [%b", "//")
    assert text.count("st.global") == 1
    device, step = shared_device(engine), 1 << 30
    out = device.zeros(64, "f4")
    device.load(text)["k"](1, 64, (out, out, np.int32(LIMIT), np.int32(step)))
    assert (out.numpy() < 0).all()


DIFFERENT = {
    "another factor": ("0f40200000, %g;\n    st.global.f32 [%b1]", "0f40000000, %g; st.global.f32 [%b1]"),
    "a copy left out": ("st.global.f32 [%b2], %f;", ""),
    "another order": ("%f, [%a1];\n    ld.global.f32 %g, [%b1];", "%g, [%b1]; ld.global.f32 %f, [%a1];"),
    "another place": ("%f, [%a3]", "%f, [%a3+4]"),
    "another element": ("add.s64 %a2, %a1, %d", "add.s64 %a2, %a0, %d"),
    "more turns left over": ("add.s32 %t, %q, 1", "add.s32 %t, %q, 2"),
    "another quotient": ("not.b32 %t, %i", "neg.s32 %t, %i"),
    "fewer turns at once": ("%p, %q, 3", "%p, %q, 4"),
    "not asked before": ("setp.ge.s32 %p, %i, %n", "setp.gt.s32 %p, %i, %n"),
    "asked for the contrary": ("@%p bra END;\n    not", "@!%p bra END;\n    not"),
    "one step less": ("add.s32 %i, %i, %s;\n    setp", "setp"),
    "up to the limit": ("setp.lt.s32 %p, %i, %n", "setp.le.s32 %p, %i, %n"),
    "another comparison": ("setp.lt.s32 %p, %i, %n", "setp.lt.u32 %p, %i, %n"),
    "another pointer": ("mul.wide.s32 %a0, %i, 4;", "mul.wide.s32 %a0, %j, 4;"),
    "volatile": ("ld.global.f32 %g", "ld.volatile.global.f32 %g"),
}  # fmt: skip


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_is_different_stays_as_it_was(name: str) -> None:
    text = SHAPES["elements"].replace(*DIFFERENT[name])
    assert text != SHAPES["elements"]
    assert not is_rolled(text)
    for limit in (100, 500, 1000):
        one, other = results(text, limit, 128)
        assert other == one


def test_parts_that_become_another_index() -> None:
    """What stands behind the first loop reads what it changes, and cannot be done in each turn."""
    text = in_parts(SHAPES["elements"], after="%i, %s")
    assert not is_rolled(text)
    for limit in (500, 700):
        one, other = results(text, limit, 128)
        assert other == one


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("max.s32", "min.s32"),
        ("1, 0, %p", "0, 1, %p"),
        ("setp.lt.s32 %p, %t, %n", "setp.le.s32 %p, %t, %n"),
        ("add.s32 %q, %q, %left", "sub.s32 %q, %q, %left"),
        ("%p, %t, 3", "%p, %t, 2"),
        ("neg.s32 %left", "not.b32 %left"),
        ("add.s32 %left, %q, 1", "add.s32 %left, %q, 2"),
        ("add.s32 %left, %left, 1;", "add.s32 %left, %left, 3;"),
    ],
)
def test_turns_that_are_counted_otherwise(old: str, new: str) -> None:
    text = SHAPES["rounded up"]
    assert is_rolled(text)
    assert text.count(old) == 1
    assert not is_rolled(text.replace(old, new))


@pytest.mark.parametrize(("name", "rolled"), [("rounded up", True), ("rounded up, without a sign", False)])
def test_a_counter_that_begins_below_zero(name: str, rolled: bool) -> None:
    text = SHAPES[name].replace("mov.u32 %j, %i;", "sub.s32 %i, %i, 8; mov.u32 %j, %i; add.s64 %y, %y, 32;")
    text = text.replace("mul.wide.s32 %a0, %i, 4;", "mul.wide.s32 %a0, %i, 4; add.s64 %a0, %a0, 32;")
    text = text.replace("add.s64 %px, %x, %d;", "add.s64 %px, %x, %d; add.s64 %px, %px, 32;")
    assert is_rolled(text) == rolled
    one, other = results(text, 1000, 128)
    assert other == one


@pytest.mark.parametrize(("more", "rolled"), [(0, True), (4, False)])
def test_the_second_loop_must_go_on_as_the_first(more: int, rolled: bool) -> None:
    """Something that it alone carries on is 0 in its first turn, and more in later ones."""
    text = SHAPES["elements"].replace("TURN:", "mov.u32 %c, 0;\nTURN:\n    cvt.s64.s32 %px, %c;")
    text = text.replace("add.s64 %b0, %y, %b0;", "add.s64 %b0, %y, %b0; add.s64 %b0, %b0, %px;")
    text = text.replace("setp.lt.s32 %p, %i, %n", f"add.s32 %c, %c, {more}; setp.lt.s32 %p, %i, %n")
    assert is_rolled(text) == rolled
    for limit in (500, 1000, 1600):
        one, other = results(text, limit, 128)
        assert other == one


BEGUN = SHAPES["elements"].partition("ONE:")[0].rpartition("@%p bra FOUR;")[2]


def test_what_the_second_loop_does_not_carry_on() -> None:
    """Its turns would all be at the elements to which the first one came."""
    text = (
        SHAPES["elements"]
        .replace(BEGUN, "")
        .replace("setp.eq.s32 %p, %left", BEGUN + "setp.eq.s32 %p, %left")
    )
    assert is_rolled(text)
    text = text.replace("add.s64 %a0, %x, %a0;", "mov.u64 %a0, %px;").replace("%b0, %y, %b0;", "%b0, %py, 0;")
    assert not is_rolled(text)
    one, other = results(text, 3001, 128)
    assert other == one


def test_what_the_first_loop_alone_has_counted() -> None:
    """It is read behind both, where no lane comes but through them."""
    text = SHAPES["elements"].replace("bra END;\n    not", "bra OUT;\n    mov.u32 %c, 0;\n    not")
    text = text.replace("%left, -1;", "%left, -1;\n    add.s32 %c, %c, 1;").replace("END:", "END:\nOUT:")
    assert is_rolled(text)
    read = "END: mul.wide.s32 %d, %j, 4; add.s64 %y, %y, %d; st.global.u32 [%y], %c;"
    assert not is_rolled(text.replace("END:", read))


def test_a_store_behind_the_second_loop() -> None:
    text = SHAPES["elements"]
    assert not is_rolled(text.replace("END:\n", "st.global.f32 [%b0], %sum;\nEND:\n"))
    assert not is_rolled(text.replace("TURN:", "st.global.f32 [%y], %sum;\nTURN:"))


def test_an_index_that_is_made_at_once() -> None:
    """The second loop's index is made ahead of the first one, of how many turns that has."""
    text, step = SHAPES["rows"], "    add.s32 %i, %i, 64;\n"
    before, after = text.split("ONE:")
    made = "shl.b32 %t, %t, 6;\n and.b32 %t, %t, {};\n add.s32 %i, %i, %t;\nONE:"
    for mask in (192, 448):
        other = before + made.format(mask) + after.replace(step, "", 1)
        assert is_rolled(other) == (mask == 192)
        one, two = results(other, 1023, 64, grid=1)
        assert two == one


# -- faults ----------------------------------------------------------------------------------------------

MET = """
    .shared .f32 box[64];
    mov.u32 %t, %tid.x; shl.b32 %q, %t, 2; mov.u32 %c, box; add.s32 %c, %c, %q;
    st.shared.u32 [%c], %t;
    bar.sync 0;
    mov.u32 %c, box; sub.s32 %c, %c, %q; ld.shared.f32 %f, [%c+252];
    bar.sync 0;
    st.shared.f32 [%c+252], %f;
"""
FETCHES = {
    "side by side": loops(FETCHED, size=8),
    "before a barrier": loops(FETCHED, size=8, last=MET),
    "rows": loops(FETCHED, size=8, step="64").replace("mad.lo.s32 %i, %c, %t, %i;", ""),
}


@pytest.mark.parametrize("name", FETCHES)
@pytest.mark.parametrize("limit", [300, 512, 700, 895])
@pytest.mark.parametrize("wrong", [0, 63, 64, 130, 200, 299, 500, 600, 699, 800, 894])
def test_a_fault_is_on_the_line_of_its_turn(name: str, limit: int, wrong: int) -> None:
    if wrong >= limit:
        wrong = limit - 1 - wrong % 64
    assert is_rolled(FETCHES[name])
    sites = list[tuple[simt.FaultSite, int]]()
    for engine in ("interpreter", "jit"):
        device = shared_device(engine)
        word, out = device.array(np.ones(1, "f4")), device.zeros(1000, "f4")
        places = np.full(1000, word.ptr, "u8")
        places[wrong] = 4 * wrong
        with pytest.raises(simt.MemoryFault) as caught:
            device.load(FETCHES[name])["k"](1, 64, (device.array(places), out, np.int32(limit), np.int32(64)))
        sites.append((caught.value.site, caught.value.address))
    assert sites[0] == sites[1]
    turn, turns = wrong // 64, -(-(limit - wrong % 64) // 64)
    lines = [n for n, line in enumerate(FETCHES[name].splitlines(), 1) if "[%a4]" in line]
    assert sites[1][0].line == lines[0 if turn < turns % 4 else 1 + (turn - turns % 4) % 4]


@pytest.mark.parametrize("past", [1, 5, 64, 65, 130, 200, 255, 256])
def test_elements_past_the_end_of_memory(past: int) -> None:
    """Each thread whose element it is would be stopped; the first that there is is named."""
    sites = list[simt.FaultSite]()
    for engine in ("interpreter", "jit"):
        device = simt.Device("sm_90", engine=engine, memory="64MiB", timeout=20)
        last, x = words_at_the_end(device, np.int32(0)), device.zeros(4000, "f4")
        start = last.ptr + last.nbytes - 4 * 1000
        text = SHAPES["rows"].replace(" 64;", " 32;").replace(", 64;", ", 32;")
        with pytest.raises(simt.MemoryFault) as caught:
            device.load(text)["k"](1, 32, (x, start, np.int32(1000 + past), np.int32(64)))
        sites.append(caught.value.site)
    assert sites[0] == sites[1]


@pytest.mark.parametrize("cpu", ["x86-64-v2", "x86-64-v3", "x86-64-v4"])
@pytest.mark.parametrize("name", SHAPES)
def test_other_cpus(name: str, cpu: str) -> None:
    expected, _ = results(SHAPES[name], 700, 128, grid=1)
    device = simt.Device("sm_90", engine="jit", memory="64MiB", cpu=cpu)
    x, y = (device.array(words) for words in (np.random.default_rng(1).random(5000).astype("f4"), FIRST))
    device.load(SHAPES[name])["k"](1, 64, (x, y, np.int32(700), np.int32(128)))
    assert y.numpy().tolist() == expected


def test_many_loops_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice as many loops, twice as many looks at where blocks lead: not four times."""
    looks, usual = [0], Block.successors

    def counted(block: Block) -> tuple[Block, ...]:
        looks[0] += 1
        return usual(block)

    monkeypatch.setattr(Block, "successors", counted)
    loop = (
        "mov.u32 %i, 0; L{n}: add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra L{n}; add.u32 %x, %x, %i;\n"
    )
    found: list[int] = []
    for count in (20, 40):
        body = "".join(loop.format(n=n) for n in range(count))
        text = ".version 7.5\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u32 a)\n{\n"
        text += ".reg .pred %p; .reg .b32 %i, %n, %x; ld.param.u32 %n, [a]; mov.u32 %x, %n;\n"
        program = shared_device("jit").load(f"{text}{body} ret;\n}}\n").program
        looks[0] = 0
        with_whole_indices(program.functions["k"], program.environment)
        found.append(looks[0])
    assert found[1] < 2.5 * found[0]
