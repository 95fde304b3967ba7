"""What the JIT is said to make of a kernel. Expectations are reasoned by hand, from the PTX."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.cli.explain import in_full
from simt.engine.host import HOST, host_features, named_cpus
from simt.engine.jit import Jit
from simt.engine.llvm_function import FunctionEmitter
from simt.engine.llvm_kernel import emit
from simt.engine.llvm_windows import NEEDS
from simt.tools.explain import AccessNote, Explanation, FunctionNotes, explain

ROOT = Path(__file__).resolve().parents[3]
SUITE = ROOT / "bench" / "suite" / "kernels"
OLDEST = next(iter(named_cpus()), HOST)
APART = {"lanes", "window"}
"""Ways that end in a gather or a scatter, if nothing better is found when the kernel runs."""
PROGRAMS = ROOT / "tests" / "programs"

HEAD = ".version 7.0\n.target sm_75\n.address_size 64\n"
PATTERNS = """
.visible .entry k(.param .u64 p)
{
    .reg .b32 %r<9>;
    .reg .b64 %a<9>;
    .reg .pred %q;
    .shared .align 4 .b8 s[4096];
    .local .align 4 .b8 l[16];
    ld.param.u64 %a1, [p];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %tid.y;
    mov.u32 %r3, %ctaid.x;
    mul.wide.u32 %a2, %r3, 4;
    add.u64 %a2, %a1, %a2;
BODY
    ret;
}
"""


def module(text: str) -> simt.Module:
    return simt.Device("sm_90", memory="16MiB").load(HEAD + text)


def explained(text: str, x: int = 32, y: int = 1, kernel: str = "k", cpu: str = HOST) -> Explanation:
    program = module(text).program
    return explain(program, program.functions[kernel], BlockShape(x, y, 1), cpu)


def may_part(access: AccessNote) -> bool:
    """Whether there is a gather or a scatter for it, if only as a last resort. Loads by steps that are proven
    right need none, nor do stores of near lanes, volatile ones are otherwise done lane by lane."""
    need_none = access.proven and (access.way == "near" or access.operation == "load")
    steps = access.way in ("steps", "near") and not need_none
    steps = steps and access.otherwise is None
    return steps or bool(APART & {access.way, access.otherwise})


def body(*lines: str) -> str:
    return PATTERNS.replace("BODY", "\n".join(lines))


def only(text: str, x: int = 32, y: int = 1, cpu: str = HOST) -> FunctionNotes:
    found = explained(text, x, y, cpu=cpu)
    assert found.reason is None
    assert len(found.functions) == 1
    return found.functions[0]


BY_X = ("shl.b32 %r4, %r1, SHIFT;", "mov.u32 %r5, s;", "add.u32 %r4, %r4, %r5;")


def by_x(instruction: str, shift: int) -> str:
    """An access at `s + (tid.x << shift)`."""
    return body(*(line.replace("SHIFT", str(shift)) for line in BY_X), instruction)


WHERE = "mov.u32 %r6, l; st.global.u32 [%a2], %r6;"
"""Keeps variables in local memory: others may know where they are."""


@pytest.mark.parametrize(
    ("text", "shape", "pattern", "way", "stride"),
    [
        (by_x("ld.shared.u32 %r6, [%r4];", 2), (32, 1), "contiguous", "vector", 4),
        (by_x("ld.shared.u32 %r6, [%r4];", 3), (32, 1), "strided", "steps", 8),
        (by_x("st.shared.u32 [%r4], %r1;", 4), (32, 1), "strided", "steps", 16),
        (by_x("ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r4];", 4), (32, 1), "contiguous", "vector", 16),
        (by_x("st.shared.u32 [%r4], %r1;", 2), (16, 16), "contiguous", "vector", 4),
        (by_x("ld.shared.u32 %r6, [%r4];", 2), (24, 4), "unknown", "vector", None),  # rows cross warps
        (body("ld.shared.u32 %r6, [s];"), (32, 1), "uniform", "one", 0),
        (body("st.shared.u32 [s], %r1;"), (32, 1), "uniform", "one", 0),
        (body("ld.global.u32 %r6, [%a2];"), (32, 1), "uniform", "one", 0),
        (body("ld.shared.u32 %r6, [%r2];"), (32, 8), "uniform", "one", 0),  # tid.y is the same in a warp
        (body("ld.shared.u32 %r6, [%r2];"), (16, 16), "per row", "one", 0),
        (body("st.shared.u32 [%r2], %r6;"), (16, 16), "per row", "one", 0),
        (body("st.shared.u32 [%r2], %r6;"), (4, 16), "per row", "lanes", 0),
        (body(f"st.local.u32 [l], %r6; {WHERE}"), (32, 1), "private", "vector", 0),
        (body(f"st.local.u16 [l], %r1; {WHERE}"), (32, 1), "private", "vector", 0),
        (body(f"st.local.u16 [l], 7; {WHERE}"), (32, 1), "uniform", "one", 0),  # one array for the warp
        (body(f"st.local.u32 [l], %r6; {WHERE}", "st.local.u16 [l+4], 7;"), (32, 1), "private", "vector", 0),
        (body(f"mov.u32 %r6, %laneid; st.local.u16 [%r6], 7; {WHERE}"), (32, 1), "private", "turns", 1),
        (body("atom.shared.add.u32 %r6, [s], 1;"), (32, 1), "uniform", None, 0),
    ],
)
def test_an_access(
    text: str, shape: tuple[int, int], pattern: str, way: str | None, stride: int | None
) -> None:
    access = next(a for a in only(text, *shape, cpu=OLDEST).accesses if not a.parameter)
    assert (access.pattern, access.way, access.stride) == (pattern, way, stride)


@pytest.mark.parametrize(
    ("text", "shape", "way", "otherwise"),
    [
        (by_x("ld.shared.u32 %r6, [%r4];", 3), (32, 1), "near", None),
        (by_x("st.shared.u32 [%r4], %r1;", 3), (32, 1), "near", None),
        (by_x("ld.shared.u32 %r6, [%r4];", 2), (24, 4), "window", None),
        (by_x("st.shared.u32 [%r4], %r1;", 2), (24, 4), "window", None),
        (body("ld.shared.u32 %r4, [s];", "st.shared.u32 [%r4], %r1;"), (16, 16), "one", None),
        (body("ld.shared.u32 %r4, [%r1];", "st.shared.u32 [%r4], %r1;"), (16, 16), "vector", "window"),
        (by_x("ld.volatile.shared.u32 %r6, [%r4];", 2), (24, 4), "vector", "turns"),
        (by_x("ld.shared.u8 %r6, [%r4];", 2), (24, 4), "vector", "lanes"),
    ],
)
def test_words_of_shared_memory(text: str, shape: tuple[int, int], way: str, otherwise: str | None) -> None:
    """On CPUs that look them up in registers."""
    if not host_features() >= NEEDS:
        pytest.skip("this CPU does not look words up in registers")
    access = only(text, *shape).accesses[-1]
    assert (access.way, access.otherwise) == (way, otherwise)


def test_an_index_from_memory_is_unknown_and_tested() -> None:
    text = body(
        "shl.b32 %r4, %r1, 2;", "ld.shared.u32 %r5, [%r4];", "mul.wide.u32 %a3, %r5, 8;",
        "add.u64 %a3, %a1, %a3;", "ld.global.u32 %r6, [%a3];",
    )  # fmt: skip
    access = only(text).accesses[-1]
    assert access.place.text == "ld.global.u32 %r6, [%a3]"
    assert access.pattern == "unknown"
    assert access.stride is None  # 8 bytes apart only where the indices are consecutive


def test_places_are_lines_of_the_file() -> None:
    text = body("ld.shared.u32 %r6, [s]; // comment")
    access = only(text).accesses[-1]
    line = (HEAD + text).splitlines()[access.place.line - 1]
    assert "comment" in line
    assert access.place.text == "ld.shared.u32 %r6, [s]"
    assert (access.operation, access.space, access.bytes) == ("load", "shared", 4)


def test_branches_and_what_parts_the_lanes() -> None:
    notes = only(body(
        "setp.lt.u32 %q, %r3, 4;", "@%q bra A;", "add.u32 %r3, %r3, 1;",
        "A: setp.lt.u32 %q, %r1, 4;", "@%q bra B;", "add.u32 %r3, %r3, 1;",
        "B: shl.b32 %r4, %r1, 2;", "ld.shared.u32 %r5, [%r4];", "setp.eq.u32 %q, %r5, 0;",
        "@%q bra C;", "st.shared.u32 [s], %r4;", "C: ld.shared.u32 %r5, [%r4];",
        "setp.eq.u32 %q, %r5, 0;", "@%q bra D;", "add.u32 %r3, %r3, 1;",
        "D: st.shared.u32 [s], %r3;",
    ))  # fmt: skip
    assert [b.divergent for b in notes.branches] == [False, True, True]
    assert [p.text for p in notes.chosen] == ["@%q bra D"]
    causes = [[p.text for p in b.causes] for b in notes.branches]
    assert causes == [[], ["mov.u32 %r1, %tid.x"], ["ld.shared.u32 %r5, [%r4]"]]


def test_the_first_of_many_causes() -> None:
    loads = [f"ld.shared.u32 %r5, [%r4+{4 * i}]; add.u32 %r6, %r6, %r5;" for i in range(9)]
    notes = only(body(
        "shl.b32 %r4, %r1, 2;", *loads, "setp.eq.u32 %q, %r6, 0;", "@%q bra E;", "st.shared.u32 [s], %r1;",
        "E: st.shared.u32 [s], %r3;",
    ))  # fmt: skip
    (branch,) = notes.branches
    first = branch.causes[0].line
    assert [p.line for p in branch.causes] == [first, first + 1, first + 2, first + 3]
    assert branch.causes[0].text.startswith("ld.shared.u32 %r5, [%r4+0]")
    assert branch.may_have_more


def test_causes_go_round_loops() -> None:
    """What parts the lanes in the first turn comes from before the loop, later on from its load as well."""
    notes = only(body(
        "mov.u32 %r5, %r1;", "T: shl.b32 %r4, %r5, 2;", "setp.gt.u32 %q, %r5, 9;", "@%q bra E;",
        "ld.shared.u32 %r5, [%r4];", "bra T;", "E: st.shared.u32 [s], %r5;",
    ))  # fmt: skip
    (branch,) = notes.branches
    assert [p.text for p in branch.causes] == ["mov.u32 %r1, %tid.x", "ld.shared.u32 %r5, [%r4]"]


LOOP = ("T: sub.u32 COUNT, COUNT, 1;", "setp.ne.u32 %q, COUNT, 0;", "@%q bra T;", "st.shared.u32 [s], COUNT;")


def test_loops() -> None:
    together = only(body(*(line.replace("COUNT", "%r3") for line in LOOP))).loops
    parted = only(body(*(line.replace("COUNT", "%r1") for line in LOOP))).loops
    assert [(x.by_degrees, x.waits) for x in together] == [(False, False)]
    assert [(x.by_degrees, x.waits) for x in parted] == [(True, False)]
    assert together[0].last_line - together[0].first_line == 2


def test_the_last_lanes_of_a_loop_with_gathers_go_on_alone() -> None:
    """A list that each lane follows from a place of its own to the end."""
    gathers = only(body("N: ld.shared.u32 %r1, [%r1];", "setp.ne.u32 %q, %r1, 0;", "@%q bra N;"))
    assert [(x.by_degrees, x.alone) for x in gathers.loops] == [(True, True)]
    counts = only(body(*(line.replace("COUNT", "%r1") for line in LOOP)))
    assert [(x.by_degrees, x.alone) for x in counts.loops] == [(True, False)]


@pytest.mark.skipif("x86-64-v3" not in named_cpus(), reason="not an x86")
def test_accesses_are_named_where_all_lanes_go_on_alone() -> None:
    """No code for the whole warp is needed of such a loop on a CPU whose gathers are slow."""
    program = simt.Device(memory="1MiB").load(ROOT / "bench/survey/kernels/chunks.ptx").program
    found = explain(program, program.functions["chunks"], BlockShape(128, 1, 1), "x86-64-v3")
    (function,) = found.functions
    accesses = [note.place.text for note in function.accesses if "global" in note.place.text]
    assert len(accesses) == 11


def test_a_loop_that_waits_for_other_threads() -> None:
    notes = only(body("W: atom.shared.cas.b32 %r4, [s], 0, 1;", "setp.ne.u32 %q, %r4, 0;", "@%q bra W;"))
    assert [(x.by_degrees, x.waits) for x in notes.loops] == [(True, True)]


def test_barriers() -> None:
    notes = only(body("bar.sync 0;", "st.shared.u32 [s], %r1;"), x=64)
    assert [(b.suspends, b.parts, b.kept) for b in notes.barriers] == [(True, False, 0)]  # %r1 is made again
    notes = only(body("ld.shared.u32 %r4, [%r1];", "bar.sync 0;", "st.shared.u32 [s], %r4;"), x=64)
    assert [(b.suspends, b.parts, b.kept) for b in notes.barriers] == [(True, False, 1)]  # %r4
    notes = only(body("bar.arrive 1, 64;"), x=64)
    assert [b.suspends for b in notes.barriers] == [False]


def test_registers() -> None:
    registers = only(body("ld.shared.u32 %r4, [%r1];", "st.shared.u32 [s], %r4;"), 16, 16).registers
    assert {"%a1", "%a2", "%r3"} <= set(registers["uniform"])
    assert "%r1" in registers["affine"]
    assert "%r2" in registers["per row"]
    assert "%r4" in registers["varying"]


CALLED = """
.func (.reg .u32 %d) twice(.reg .u32 %x) { add.u32 %d, %x, %x; ret; }
.func together(.reg .u32 %x) { .shared .u32 v; st.shared.u32 [v], %x; bar.sync 0; ret; }
.func (.reg .u32 %d) down(.reg .u32 %x)
{ .reg .pred %p; setp.eq.u32 %p, %x, 0; @%p bra END; sub.u32 %x, %x, 1; call (%d), down, (%x); END: ret; }
"""


def test_textures() -> None:
    fetch = "tex.1d.v4.u32.s32 {%r4, %r3, %r2, %r1}, [image, {%r1}];"
    kernel = only(".global .texref image;" + body(fetch))
    assert [(c.callee, c.kind) for c in kernel.calls] == [("1d", "texture")]


def test_calls() -> None:
    found = explained(CALLED + body("call (%r4), down, (%r1);", "call together, (%r4);"))
    kernel, device = found.functions
    assert [(c.callee, c.kind) for c in kernel.calls] == [("down", "compiled")]
    assert kernel.inlined == ["together"]  # a barrier is met in kernels only
    assert (kernel.name, device.name) == ("k", "down")
    assert set(device.registers["varying"]) >= {"%x", "%d"}


def test_calls_in_place() -> None:
    (kernel,) = explained(CALLED + body("call (%r4), twice, (%r1);", "st.shared.u32 [s], %r4;")).functions
    assert kernel.calls == []
    assert kernel.inlined == ["twice"]


@pytest.mark.parametrize(("threads", "proven"), [(1024, True), (1025, False)])
def test_what_is_proven_needs_no_check(threads: int, proven: bool) -> None:
    """`s` has 4096 bytes: room for 1024 words."""
    text = by_x("ld.shared.u32 %r6, [%r4];", 2)
    assert [a.proven for a in only(text, threads).accesses if not a.parameter] == [proven]


OWN_BARRIERS = """.version 7.0
.target sm_75
.address_size 64
.entry k()
{
    .reg .u32 %t;
    mov.u32 %t, %tid.x;
    bar.sync %t;
    exit;
}
"""


def test_what_falls_back_and_why() -> None:
    loaded = simt.Device("sm_90", memory="16MiB").load(OWN_BARRIERS)
    found = explain(loaded.program, loaded.program.functions["k"], BlockShape(32, 1, 1))
    assert found.functions == []
    assert found.reason_at is not None
    assert found.reason_at.text.startswith("bar.sync")
    jit = Jit()
    assert jit.compiled(loaded.program, loaded.program.functions["k"], BlockShape(32, 1, 1)) is None
    assert jit.reasons == {"k": found.reason}


def gathers_of(instruction: str) -> str:
    """Calls of gathers or scatters, the CPU's own or, lane by lane, functions."""
    return rf"call .*@(?:llvm\.masked\.{instruction}\.|simt\.{instruction}\.(?:all|some)\.).*"


@pytest.mark.parametrize("shift", [2, 3])
@pytest.mark.parametrize("instruction", ["ld.shared.u32 %r6, [%r4];", "st.shared.u32 [%r4], %r1;"])
def test_the_code_is_as_said(instruction: str, shift: int) -> None:
    text = by_x(instruction, shift)
    access = next(a for a in only(text).accesses if not a.parameter)
    program = module(text).program
    code, _, _ = emit(program, program.functions["k"], BlockShape(32, 1, 1), host_features(), "")
    apart = re.search(gathers_of("(?:gather|scatter)"), code)
    has_masks = "avx512bw" in host_features()
    steps = access.way == "steps" and (access.operation == "store" or not has_masks)
    steps |= access.way == "near" and access.operation == "store" and not has_masks
    assert bool(apart) == (access.way in APART or steps)


# ------------------------------------------------------------------ what nvcc makes


def notes_of(path: Path, x: int, y: int = 1) -> FunctionNotes:
    program = simt.Device("sm_90", memory="16MiB").load(path).program
    found = explain(program, program.functions[program.kernels[0]], BlockShape(x, y, 1))
    assert found.reason is None
    return found.functions[0]


def patterns(notes: FunctionNotes, operation: str, space: str) -> list[str]:
    return [a.pattern for a in notes.accesses if (a.operation, a.space) == (operation, space)]


def test_saxpy_is_contiguous() -> None:
    notes = notes_of(SUITE / "saxpy" / "kernel.ptx", 256)
    assert set(patterns(notes, "load", "global") + patterns(notes, "store", "global")) == {"contiguous"}
    assert [b.divergent for b in notes.branches] == [True]  # i < n


def test_transpose_goes_through_a_padded_tile() -> None:
    notes = notes_of(SUITE / "transpose" / "kernel.ptx", 32, 8)
    assert set(patterns(notes, "load", "global") + patterns(notes, "store", "global")) == {"contiguous"}
    assert set(patterns(notes, "store", "shared")) == {"contiguous"}
    columns = [a for a in notes.accesses if (a.operation, a.space) == ("load", "shared")]
    assert {(a.pattern, a.stride) for a in columns} == {("strided", 33 * 4)}
    assert len(notes.barriers) == 1


def test_spmv_gathers() -> None:
    notes = notes_of(SUITE / "spmv" / "kernel.ptx", 128)
    # A row's first and last index, and its sum, are each thread's; what lies between goes by the row.
    assert patterns(notes, "load", "global")[:2] == ["contiguous", "contiguous"]
    assert set(patterns(notes, "load", "global")[2:]) == {"unknown"}
    assert patterns(notes, "store", "global") == ["contiguous"]
    assert all(loop.by_degrees for loop in notes.loops)


def test_matrix_tiles_of_half_a_warp() -> None:
    notes = notes_of(SUITE / "matmul" / "kernel.ptx", 16, 16)
    loads = patterns(notes, "load", "shared")
    assert loads.count("per row") == loads.count("contiguous") == 16  # a row of A, a column of B


@pytest.mark.parametrize("path", sorted(SUITE.glob("*/kernel.ptx")), ids=lambda p: p.parent.name)
def test_nothing_is_forgotten(path: Path) -> None:
    """Every access, conditional branch and barrier that stands in the file is explained once a line."""
    program = simt.Device("sm_90", memory="16MiB").load(path).program
    lines = program.text.text.splitlines()
    found = [explain(program, program.functions[k], BlockShape(256, 1, 1)) for k in program.kernels]
    functions = [f for e in found for f in e.functions]

    def standing(pattern: str) -> list[int]:
        return [n for n, line in enumerate(lines, 1) if re.match(rf"\s*{pattern}", line)]

    unreached = {place.line for f in functions for place in f.unreached}
    decided = [place.line for f in functions for place in f.decided]
    accesses, barrier = {a.place.line for f in functions for a in f.accesses}, r"(bar|barrier)\.sync"
    reached = [line for line in standing(r"(@!?%p\d+ )?(ld|st|atom|red)\.") if line not in unreached]
    assert sorted(accesses) == reached
    branches = [b.place.line for f in functions for b in f.branches]
    chosen = [place.line for f in functions for place in f.chosen]
    assert sorted(branches + decided + chosen) == standing(r"@!?%p\d+ bra")
    barriers = [b.place.line for f in functions for b in f.barriers]
    assert sorted(barriers) == [line for line in standing(barrier) if line not in unreached]
    assert unreached <= {*standing(r"(@!?%p\d+ )?(ld|st|atom|red)\."), *standing(barrier)}
    assert not unreached or decided


@pytest.mark.parametrize("path", sorted(SUITE.glob("*/kernel.ptx")), ids=lambda p: p.parent.name)
@pytest.mark.parametrize("shape", [(256, 1), (16, 16)])
def test_the_code_gathers_where_it_is_said(path: Path, shape: tuple[int, int]) -> None:
    """Each load that may be a gather brings one for each of its elements; stores, scatters. In code for warps
    for which all is well only those do whose addresses have no pattern."""
    program = simt.Device("sm_90", memory="16MiB").load(path).program
    block = BlockShape(*shape, 1)
    for kernel in map(program.functions.__getitem__, program.kernels):
        notes = explain(program, kernel, block).functions[0]
        code, _, _ = emit(program, kernel, block, host_features(), "", want_whole)
        for operation, instruction in (("load", "gather"), ("store", "scatter")):
            apart = [a for a in notes.accesses if a.operation == operation and may_part(a)]
            found = re.findall(gathers_of(instruction), code)
            sure = [line for line in found if ".sure" in line]
            assert len(found) - len(sure) == sum(map(elements, apart))
            unknown = [a for a in apart if a.pattern == "unknown" and "cta.head.sure:" in code]
            assert len(sure) == sum(map(elements, unknown))


def want_whole(emitter: FunctionEmitter) -> None:
    """Code for whole warps is to stand where all lanes go on alone, too."""
    emitter.alone.whole = True


def elements(access: AccessNote) -> int:
    vector = re.search(r"\.v(\d)\.", access.place.text)
    return int(vector[1]) if vector else 1


def test_the_page_on_performance_shows_what_is_said() -> None:
    """The listing in docs/performance.md is what `simt explain` prints."""
    program = simt.Device("sm_90", memory="16MiB").load(ROOT / "examples" / "sums.ptx").program
    found = explain(program, program.functions["row_sums"], BlockShape(256, 1, 1))
    said = click.unstyle(in_full(found)).splitlines()
    page = (ROOT / "docs" / "performance.md").read_text()
    listing = page[page.index("row_sums, block 256") :].partition("```")[0].splitlines()
    assert listing == said[: len(listing)]


def test_a_thread_for_each_column_is_contiguous() -> None:
    program = simt.Device("sm_90", memory="16MiB").load(ROOT / "examples" / "sums.ptx").program
    rows, columns = (
        explain(program, program.functions[name], BlockShape(256, 1, 1)).functions[0]
        for name in ("row_sums", "column_sums")
    )
    assert set(patterns(rows, "load", "global")) == {"unknown"}  # the step is a parameter
    assert set(patterns(columns, "load", "global")) == {"contiguous"}
