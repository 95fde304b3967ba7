"""Which loads ask for memory that is needed later, and where: if barriers are many
and the code between them long, one line at each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.host import (
    ASKS_BY_PHASES,
    ASKS_FAR,
    FOLLOWS_WIDE,
    SLOW_GATHERS,
    find_cpu,
    host_cpu,
    stores_some,
)  # fmt: skip
from simt.engine.llvm_kernel import emit
from simt.engine.llvm_phases import UNROLLED
from simt.engine.llvm_prefetch import CLOSE, HALO, LINE, NEXT, ROOM, ROOM_IN_TURN, SPREAD

FEATURES = host_cpu().features - {SLOW_GATHERS, FOLLOWS_WIDE} | {ASKS_FAR, ASKS_BY_PHASES}
STRUCTURES = Path(__file__).parents[3] / "bench" / "survey" / "kernels" / "pq_scan.ptx"
"""A kernel whose threads load 64 bytes each, twice, and then sort: lines are put off."""
LOAD = "ld.global.u32 %v, [%a];"
MUCH = "st.shared.u32 [box+4], %v;" * (UNROLLED // 4)
WAIT = "L: ld.volatile.global.u32 %v, [%end]; setp.eq.u32 %p, %v, 0; @%p bra L;"
BODIES = {
    "once": (LOAD, 0, False),
    "in a loop over the grid": (
        f"L: {LOAD} add.u64 %a, %a, %n; setp.lt.u64 %p, %a, %end; @%p bra L;",
        1.5,
        False,
    ),
    "before a barrier": (f"{LOAD} bar.sync 0;", 1, False),
    "before many": (
        f"{LOAD} bar.sync 0; bar.sync 0; st.shared.u32 [box+4], %v; bar.sync 0; bar.sync 0;",
        1,
        False,
    ),
    "before many with much between": (f"{LOAD} " + f"bar.sync 0; {MUCH}" * 4, 1, True),
    "before one in a loop": (
        f"{LOAD} L: bar.sync 0; add.u64 %n, %n, 1; setp.lt.u64 %p, %n, %end; @%p bra L;",
        1,
        False,
    ),
    "before one that warps come to as often as they like": (
        f"{LOAD} L: bar.sync 0; add.u64 %a, %a, %n; setp.lt.u64 %p, %a, %end; @%p bra L;",
        1,
        True,
    ),
    "before a loop that waits": (f"{LOAD} {WAIT}", 1, False),
    "in shared memory": ("ld.shared.u32 %v, [box]; bar.sync 0;", 0, False),
    "scattered": ("mul.lo.u64 %o, %o, 8; add.u64 %a, %a, %o; ld.global.u32 %v, [%a]; bar.sync 0;", 0, False),
}


@pytest.mark.parametrize(("more", "lines"), [(set[str](), 32 * 16 // 64), ({FOLLOWS_WIDE}, 0)])
def test_wide_loads_ask_for_what_later_warps_load(more: set[str], lines: int) -> None:
    """16 bytes of each thread: eight lines at once, not in shared memory and not of a store; none for a CPU
    that follows them."""
    program = (
        simt.Device("sm_75")
        .load("""
.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b)
{
    .reg .b32 %t, %s, %v<4>; .reg .b64 %a, %b, %o;
    .shared .align 16 .b8 box[1024];
    ld.param.u64 %a, [a]; ld.param.u64 %b, [b];
    mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 16; add.u64 %a, %a, %o; add.u64 %b, %b, %o;
    ld.global.v4.u32 {%v0, %v1, %v2, %v3}, [%a];
    mov.u32 %s, box; mad.lo.u32 %s, %t, 16, %s;
    st.shared.v4.u32 [%s], {%v0, %v1, %v2, %v3};
    ld.shared.v4.u32 {%v3, %v1, %v0, %v2}, [%s];
    st.global.v4.u32 [%b], {%v0, %v1, %v2, %v3};
    ret;
}
""")
        .program
    )
    text, *_ = emit(program, program.functions["k"], BlockShape(64, 1, 1), FEATURES | more, "nounwind")
    assert text.count("call void @llvm.prefetch") == lines


def text_of(body: str, threads: int = 64, features: frozenset[str] = FEATURES) -> str:
    program = (
        simt.Device("sm_75")
        .load(f"""
.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 end, .param .u64 n)
{{
    .reg .pred %p; .reg .b32 %t, %v; .reg .b64 %a, %end, %n, %q, %o;
    .shared .align 4 .b8 box[128];
    ld.param.u64 %a, [a]; ld.param.u64 %end, [end]; ld.param.u64 %n, [n];
    mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 4; add.u64 %a, %a, %o;
    {body}
    st.shared.u32 [box], %v;
    ret;
}}
""")
        .program
    )
    return emit(program, program.functions["k"], BlockShape(threads, 1, 1), features, "nounwind")[0]


@pytest.mark.parametrize(
    ("body", "threads", "caches"),
    [
        (f"{LOAD} bar.sync 0;", 64, {CLOSE}),
        (f"{LOAD} {WAIT}", 64, {NEXT}),
        (f"{LOAD} {WAIT} bar.sync 0;", 64, {CLOSE}),
        (f"{LOAD} {WAIT}", 32, set[int]()),
    ],
)
def test_warps_that_wait_ask_the_second_cache(body: str, threads: int, caches: set[int]) -> None:
    """For what the next CTA will use: other warps load and store in between."""
    of_next = re.findall(
        r"llvm\.prefetch\S*\(ptr \S+, i32 \d, i32 (\d)", text_of(body, threads).split("suspend.")[0]
    )
    assert {int(near) for near in of_next} == caches


def test_warps_that_wait_ask_nothing_where_that_slows_the_cpu() -> None:
    """As on an AMD Zen 4 and 5. Barriers are another matter."""
    assert "@llvm.prefetch" not in text_of(f"{LOAD} {WAIT}", features=FEATURES - {ASKS_FAR})
    assert "@llvm.prefetch" in text_of(f"{LOAD} bar.sync 0;", features=FEATURES - {ASKS_FAR})


ROWS = {
    "one after the other": ("ld.global.u32 %v, [%a+256]; ld.global.u32 %v, [%a];", [-256, 128]),
    "in three, by a number for each": (
        "ld.global.u32 %v, [%a+4]; ld.global.u32 %v, [%a+516]; ld.global.u32 %v, [%a+260];",
        [0, -512 + 128, -256 + 256],
    ),
    "apart": ("ld.global.u32 %v, [%a+512]; ld.global.u32 %v, [%a];", []),
    "one twice": ("ld.global.u32 %v, [%a]; ld.global.u32 %v, [%a];", []),
    "by other instructions": ("ld.global.u32 %v, [%a+256]; st.global.u32 [%a], %v;", []),
    "from other addresses": ("ld.global.u32 %v, [%a+256]; ld.global.u32 %v, [%q];", []),
}
"""Accesses of 64 threads, whose rows have 256 bytes, and what is added to where each would ask for its own
(for the first warp): the k-th asks for the k-th 128 bytes from the lowest row on."""


@pytest.mark.parametrize("name", ROWS)
def test_rows_are_asked_for_from_the_first_line_to_the_last(name: str) -> None:
    body, moved = ROWS[name]
    text = text_of(f"add.u64 %q, %end, %o; {body} bar.sync 0;")
    adds = {name: (a, b) for name, a, b in re.findall(r"(%\S+) = add i64 (\S+), (\S+)\n", text)}
    products = dict(re.findall(r"(%\S+) = mul i64 %\S+, (\d+)\n", text))
    moves = [
        (int(products[term]), int(by))
        for total, by in adds.values()
        if (term := adds.get(total, ("", ""))[1]) in products
        and adds[adds[total][0]][1] == adds[adds[adds[total][0]][0]][1]  # the step to the next CTA, twice
    ]
    assert moves == [(128 * (len(moved) - 1), by) for by in moved]


SCATTERED = "mul.wide.u32 %q, %v, 400; add.u64 %q, %q, %end;"


@pytest.mark.parametrize(
    ("more", "lines"),
    [
        ("", 0),
        (f"{SCATTERED} red.global.max.u32 [%q], %v;", 2),
        (f"{SCATTERED} ld.global.u32 %v, [%q];", 2),
        ("st.shared.u32 [box+4], %v;", 0),
    ],
)
def test_streams_beside_scattered_accesses_are_asked_for(more: str, lines: int) -> None:
    """The stream's two lines, not what is scattered."""
    assert text_of(f"{LOAD} {more}").count("call void @llvm.prefetch") == lines


@pytest.mark.parametrize("name", BODIES)
def test_loads_that_prefetch(name: str) -> None:
    body, loads, spread = BODIES[name]
    text = text_of(body, features=FEATURES if WAIT in body else FEATURES - {ASKS_FAR, ASKS_BY_PHASES})
    lines = 128 // 64  # of a warp's words
    barriers = len(re.findall(r"^suspend", text, re.MULTILINE))  # at each, one of the lines put off
    assert text.count("call void @llvm.prefetch") == loads * lines + barriers
    assert (f"@{SPREAD} = private constant i1 true" in text) == spread


@pytest.mark.parametrize("step", [-LINE, 0, LINE // 2 - 1, LINE // 2, 56, LINE, LINE + 1, 4 * LINE])
def test_ctas_a_line_apart_ask_past_the_next_one(step: int) -> None:
    """The code that says how far on to ask, done here: of a step of 64 bits."""
    text = text_of(BODIES["before a barrier"][0])
    found = re.search(
        r"(%\S+) = sub i64 (%\S+), (\d+)\n\s+(%\S+) = icmp ule i64 \1, (\d+)\n"
        r"\s+%\S+ = select i1 \4, i64 (\d+), i64 \2\n",
        text,
    )
    assert found is not None
    least, reach, past = (int(found[n]) for n in (3, 5, 6))
    asked = past if (step - least) % 2**64 <= reach else step
    assert asked == (HALO if LINE // 2 <= step <= LINE else step)


@pytest.mark.parametrize(
    ("name", "phases"),
    [
        ("once", []),
        ("before a barrier", []),
        ("before many", [1, 1, 1, 1]),
        ("before many with much between", [1, 1, 1, 1]),
        ("before one in a loop", []),
    ],
)
def test_phases_ask_for_their_part(name: str, phases: list[int]) -> None:
    """Of two lines of each of two warps, where phases have as many warps together."""
    text = text_of(BODIES[name][0])
    codes = re.findall(r"^warp\.all\.\d+:\n((?:  .*\n)*)", text, re.MULTILINE)
    assert [code.count("call void @llvm.prefetch") for code in codes[1:] if phases] == phases
    asked = [int(number) for code in codes for number in re.findall(r"ptr %starts, i32 (\d+)", code)]
    assert asked == [0, 0, 1, 1][: len(phases)]
    rows = re.findall(r"(%v\d+) = getelementptr i64, ptr %starts, i32 (%v\d+)\n", text)
    assert all(f"{number} = add i32 %warp" in text and f", ptr {place}\n" in text for place, number in rows)
    assert (f"@{SPREAD} = private constant i1 true" in text) == bool(phases)


@pytest.mark.parametrize(
    ("barrier", "turns", "first"), [("", 8, 0), ("bar.sync 0;", 1, 1), ("@%p bar.sync 0;", 8, 0)]
)
def test_how_far_ahead(barrier: str, turns: int, first: int) -> None:
    """Eight turns of a loop; one, of the first warp's step, if all warps meet at a barrier in each."""
    turn = f"{LOAD} {barrier} add.u64 %a, %a, %end; sub.u64 %n, %n, 1; setp.ne.u64 %p, %n, 0; @%p bra L;"
    text = text_of(f"setp.ne.u64 %p, %n, 1; bar.sync 0; L: {turn}")
    assert re.findall(r"= mul i64 %v\d+, (8|1)$", text, re.MULTILINE) == [str(turns)]
    assert len(re.findall(r"^first\.", text, re.MULTILINE)) == first


@pytest.mark.parametrize(("threads", "asked"), [(64, False), (128, True), (256, True), (1024, True)])
def test_from_what_step_on(threads: int, asked: bool) -> None:
    """A loop over words by a CTA of 64 threads or less goes on by 256 bytes, which CPUs follow."""
    text = text_of(f"L: {LOAD} add.u64 %a, %a, %n; setp.lt.u64 %p, %a, %end; @%p bra L;")
    ((step, near, bound),) = re.findall(
        r"= add i64 (%v\d+), (\d+)\n *%v\d+ = icmp ugt i64 %v\d+, (\d+)\n *br i1 %v\d+, label %ask", text
    )
    (measured,) = re.findall(rf"{step} = select i1 %v\d+, i64 (%v\d+), i64 0$", text, re.MULTILINE)
    assert f"{measured} = sub i64" in text
    for bytes_on in (4 * threads, -4 * threads):
        assert ((bytes_on + int(near)) % 2**64 > int(bound)) == asked


def test_steps_are_to_be_the_same_twice() -> None:
    """What a table chooses goes on by any step: the next one tells nothing."""
    text = text_of(f"L: {LOAD} add.u64 %a, %a, %n; setp.lt.u64 %p, %a, %end; @%p bra L;")
    steady = r"(%v\d+) = icmp eq i64 (%v\d+), %v\d+\n *%v\d+ = select i1 \1, i64 \2, i64 0"
    assert re.search(steady, text)


@pytest.mark.parametrize(("step", "ahead"), [(4, None), (-256, None), (260, 2080), (-4096, -32768)])
def test_a_known_step_is_not_measured(step: int, ahead: int | None) -> None:
    text = text_of(f"L: {LOAD} add.u64 %a, %a, {step}; setp.lt.u64 %p, %a, %end; @%p bra L;")
    assert "freeze" not in text
    assert text.count("call void @llvm.prefetch") == (3 if ahead else 0)
    assert re.findall(r"= add i64 %v\d+, (-?\d{4,})$", text, re.MULTILINE) == ([str(ahead)] if ahead else [])


def test_a_turn_asks_for_few_lines() -> None:
    """Two of each load, and the one in which it may end: the fifth asks for nothing, in its loop; another
    loop, in which lanes are in two halves, has room again."""
    loads = "".join(f"ld.global.u32 %v, [%a+{256 * i}]; " for i in range(5))
    turn = f"{loads} add.u64 %a, %a, %n; setp.lt.u64 %p, %a, %end;"
    assert text_of(f"L: {turn} @%p bra L;").count("call void @llvm.prefetch") == 1.5 * ROOM_IN_TURN
    two = text_of(f"L: {turn} @%p bra L; M: {turn} @%p bra M;")
    assert two.count("call void @llvm.prefetch") == (1.5 + 1) * ROOM_IN_TURN


@pytest.mark.parametrize(
    ("loads", "asking"),
    [
        ("[%a+-4] [%a] [%a+4] [%a+60]", 1),
        ("[%a] [%a+64] [%a+65]", 2),
        ("[%a] [%o]", 2),
        ("[%a] always [%a+4]", 1),
        ("seldom [%a] always [%a+4]", 2),
        ("seldom [%a] [%a+4]", 1),
    ],
)
def test_neighbours_ask_once(loads: str, asking: int) -> None:
    """What lies in the line of another access, or the next one, unless that one is not done in every turn."""
    words = {"seldom": "setp.eq.u64 %p, %n, %end; @%p bra M;", "always": "M:"}
    turn = "".join(words.get(w, f"ld.global.u32 %v, {w};") for w in loads.split())
    end = "" if "always" in loads else "M:"
    text = text_of(f"add.u64 %o, %a, %n; L: {turn} {end} add.u64 %a, %a, %n; add.u64 %o, %o, %n;"
                   "setp.lt.u64 %p, %a, %end; @%p bra L;")  # fmt: skip
    assert text.count("call void @llvm.prefetch") == 3 * asking


@pytest.mark.parametrize(("barrier", "in_memory"), [("", False), ("bar.sync 0;", True)])
def test_a_turn_of_a_loop_writes_no_address_to_memory(barrier: str, in_memory: bool) -> None:
    """A loop that only loads: what it notes for the next turn is kept by LLVM as it likes."""
    text = text_of(f"L: {LOAD} {barrier} add.u64 %a, %a, %n; setp.lt.u64 %p, %a, %end; @%p bra L;")
    noted = re.findall(r"(%v\d+) = load (volatile )?i64, ptr (%v\d+)\n *%v\d+ = freeze i64 \1\n", text)
    assert noted
    stores = re.findall(r"store (volatile )?i64 %v\d+, ptr (%v\d+)$", text, re.MULTILINE)
    assert noted[0][1:] in stores
    assert {bool(volatile) for _, volatile, _ in noted} == {in_memory}


WAYS = 2 if stores_some(FEATURES) else 3
"""Of a store: where not all lanes run (in a launch of one thread, and in others), and where some address is
not valid."""


@pytest.mark.parametrize(("space", "asked"), [("global", WAYS), ("shared", 0)])
def test_stores_of_some_lanes_ask_for_their_lines(space: str, asked: int) -> None:
    """On CPUs with slow gathers, which do not follow stores under a mask."""
    shared = "mov.u32 %s, box; mad.lo.u32 %s, %t, 4, %s;"
    address = {"global": "%a", "shared": "%s"}[space]
    body = f".reg .b32 %s; {shared} {LOAD} setp.ne.u32 %p, %v, 0; @%p st.{space}.u32 [{address}], %v;"
    assert text_of(body).count("call void @llvm.prefetch") == 0
    text = text_of(body, features=FEATURES | {SLOW_GATHERS})
    assert re.findall(r"llvm\.prefetch\S*\(ptr \S+, i32 (\d)", text) == ["1"] * 2 * asked


@pytest.mark.parametrize(("scale", "known"), [(4, True), (8, True), (1, False)])
def test_steps_by_the_size_of_the_cta_are_known(scale: int, known: bool) -> None:
    """`i += blockDim.x`, of 128 threads: asked for from the first turn on, and not measured."""
    size = "mov.u32 %t, %ntid.x;" if known else "ld.global.u32 %t, [%end];"
    turn = "add.u64 %a, %a, %o; sub.u64 %n, %n, 1; setp.ne.u64 %p, %n, 0; @%p bra L;"
    text = text_of(f"{size} mul.wide.u32 %o, %t, {scale}; L: {LOAD} {turn}", threads=128)
    assert bool(re.search(r"= mul i64 %v\d+, 8$", text, re.MULTILINE)) != known
    asked = re.findall(r"= add i64 %\S+, (\d+)\n  %\S+ = add i64", text)
    assert text.count("call void @llvm.prefetch") == 3
    assert (str(128 * scale * 8) in asked) == known


def ring_of(text: str) -> tuple[int, list[int]]:
    """How much room there is for lines put off, and how many are noted by each store."""
    ((ring, room),) = re.findall(r"  (%\S+) = alloca \[((?!32)\d+) x i64\], align 64", text)
    slots = re.findall(rf"  (%\S+) = getelementptr i64, ptr {ring}, i64", text)
    stores = re.findall(r"store volatile (?:<(\d+) x i64>|i64) \S+, ptr (%\S+), align 8", text)
    return int(room), [int(n or 1) for n, place in stores if place in slots]


def test_lines_put_off_stay_within_their_ring() -> None:
    """A store that begins at the ring's last place has room: what many lines are is noted by several. (The
    ring's numbers begin with anything.)"""
    program = simt.Device("sm_90").load(STRUCTURES).program
    kernel, features = program.functions["pq_best"], find_cpu("x86-64-v3").features
    text = emit(program, kernel, BlockShape(128, 1, 1), features, "nounwind")[0]
    room, noted = ring_of(text)
    assert sum(noted) > 8
    assert ROOM - 1 + max(noted) <= room
