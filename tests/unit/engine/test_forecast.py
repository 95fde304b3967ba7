"""Kernels that will be large are known as such after a few of their instructions."""

from __future__ import annotations

import pytest
from bench.curve_shapes import SHAPES

from simt.analysis.schedule import schedule
from simt.analysis.shape import BlockShape
from simt.analysis.ssa import build
from simt.analysis.uniformity import analyse
from simt.driver.source import compile_ptx
from simt.engine.llvm_forecast import Forecast
from simt.engine.llvm_function import FunctionEmitter
from simt.engine.llvm_kernel import emit
from simt.machine.device import DEVICES

SIZE = 2000


def kernel(*lines: str) -> str:
    """A kernel `k` with a pointer in `%rd1` and the thread's number in `%r0`."""
    registers = ".reg .pred %p;\n.reg .f32 %f<100>;\n.reg .b64 %rd<3>;\n.reg .b32 %r<100>;"
    begin = f"{registers}\nld.param.u64 %rd1, [p];\nmov.u32 %r0, %tid.x;"
    head = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{"
    return "\n".join((head, ".shared .align 4 .b8 words[4096];", begin, *lines, "ret;\n}\n"))


def emissions(text: str, monkeypatch: pytest.MonkeyPatch) -> list[tuple[bool, int]]:
    """Of each emission of the kernel `k`: whether it was one as a large kernel, and its instructions."""
    program, _ = compile_ptx(text, "<ptx>", DEVICES[90])
    found: list[tuple[bool, int]] = []
    cut = FunctionEmitter._cut

    def counted(self: FunctionEmitter) -> None:
        if not found or found[-1][0] != self.unit.large:
            found.append((self.unit.large, 0))
        found[-1] = self.unit.large, found[-1][1] + 1
        cut(self)

    monkeypatch.setattr(FunctionEmitter, "_cut", counted)
    emit(program, program.functions["k"], BlockShape(256, 1, 1), frozenset({"avx512f"}), "nounwind")
    return found


@pytest.mark.parametrize(
    "name", ["memory", "memory_guarded", "gather", "scatter", "loads_uniform", "atomics_shared"]
)
def test_little_is_emitted_of_a_kernel_that_will_be_large(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    size = 2 * SIZE if name == "loads_uniform" else SIZE
    text = SHAPES[name](size)
    if name == "atomics_shared":  # at every second word: consecutive ones take few lines
        text = text.replace("mul.wide.u32 %rd1, %r0, 4;", "mul.wide.u32 %rd1, %r0, 8;")
    (first, tried), (second, whole) = emissions(text, monkeypatch)
    assert (first, second) == (False, True)
    assert tried <= size // 16 < size <= whole


@pytest.mark.parametrize("name", ["memory_indexed", "memory_vectors"])
def test_a_kernel_that_is_just_too_large_goes_on_as_it_began(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (first, tried), (second, whole) = emissions(SHAPES[name](SIZE // 2), monkeypatch)
    assert (first, second) == (False, True)
    assert tried <= SIZE // 6 < SIZE // 2 <= whole


@pytest.mark.parametrize("name", ["bits", "f32_special"])
def test_kinds_that_will_be_calls_do_not_make_a_kernel_large(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first of them stand in place, and take many lines."""
    [(large, whole)] = emissions(SHAPES[name](2 * SIZE), monkeypatch)
    assert not large
    assert whole >= 2 * SIZE


def test_a_kernel_that_begins_with_its_longest_instructions_is_emitted_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its first lines, taken for all, would make it large."""
    loads = [f"ld.global.f32 %f{i}, [%rd0+{4 * i}];" for i in range(100)]
    sums = [f"add.f32 %f{i % 100}, %f{i % 100}, %f{(i + 1) % 100};" for i in range(3000)]
    text = kernel("mad.wide.u32 %rd0, %r0, 400, %rd1;", *loads, *sums, "st.global.f32 [%rd0], %f0;")
    [(large, whole)] = emissions(text, monkeypatch)
    assert not large
    assert whole >= 3100


def test_what_differs_within_a_kind_does_not_make_a_kernel_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loads at addresses of their own come first, four words side by side take less."""
    apart = [
        f"mad.wide.u32 %rd0, %r{i % 8}, {4 * i + 4}, %rd1;\nld.global.f32 %f0, [%rd0];" for i in range(34)
    ]
    beside = [f"ld.global.f32 %f{i % 90}, [%rd0+{4 * i}];" for i in range(102)]
    mixed = (f"mul.lo.u32 %r{i}, %r{i - 1}, %r{i - 1};" for i in range(1, 8))
    [(large, _)] = emissions(kernel(*mixed, *apart, *beside), monkeypatch)
    assert not large


def test_stores_behind_a_loop_do_not_make_a_kernel_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """So many, at addresses of which nothing is known, have more blocks of IR than a kernel may have."""
    addresses = [f"mad.wide.u32 %rd0, %r{i % 8}, {4 * i + 4}, %rd1;" for i in range(400)]
    stores = [line for a in addresses for line in (a, "st.global.f32 [%rd0], %f0;")]
    sums = ["fma.rn.f32 %f0, %f0, %f0, %f1;"] * 300
    text = kernel(
        *(f"mul.lo.u32 %r{i}, %r{i - 1}, %r{i - 1};" for i in range(1, 8)),
        "loop:",
        *sums,
        "add.u32 %r0, %r0, 1;\nsetp.lt.u32 %p, %r0, 900;\n@%p bra loop;",
        *stores,
    )
    [(large, _)] = emissions(text, monkeypatch)
    assert not large
    (first, _), (second, _) = emissions(text.replace("@%p bra loop;", ""), monkeypatch)
    assert (first, second) == (False, True)


def test_updates_that_are_done_later_tell_nothing_of_what_comes_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some thousands of lines stand before the first load, for updates of shared memory."""
    updates = [line for i in range(8) for line in ("xor.b32 %r1, %r1, %r0;", update(i))]
    loads = [f"ld.global.f32 %f{i}, [%rd0+{4 * i}];" for i in range(40)]
    text = kernel("mad.wide.u32 %rd0, %r0, 400, %rd1;", "mov.u32 %r1, 5;", *updates, *loads)
    [(large, whole)] = emissions(text, monkeypatch)
    assert not large
    assert whole >= 50


def test_loads_of_one_place_are_not_like_those_of_each_lane(monkeypatch: pytest.MonkeyPatch) -> None:
    """A word of each lane somewhere takes five blocks, a word that all lanes read two."""
    loads = [f"ld.global.f32 %f{i % 90}, [%rd1+{4 * i}];" for i in range(300)]
    scattered = (
        "mul.lo.u32 %r1, %r0, %r0;",
        "mad.wide.u32 %rd0, %r1, 20, %rd1;",
        "ld.global.f32 %f99, [%rd0];",
    )
    text = kernel(*scattered * 8, *loads, "st.global.f32 [%rd0], %f0;")
    [(large, whole)] = emissions(text, monkeypatch)
    assert not large
    assert whole >= 300


def update(number: int) -> str:
    return f"and.b32 %r2, %r1, {4 * (255 >> number % 3)};\nred.shared.add.u32 [%r2], %r0;"


def test_what_is_left_takes_as_much_as_the_latest_of_its_kind() -> None:
    text = SHAPES["f32"](100)
    program, _ = compile_ptx(text, "<ptx>", DEVICES[90])
    function = program.functions["k"]
    ops = [op for block in function.blocks for op in block.ops]
    ssa = build(function, schedule(function))
    forecast = Forecast(function.blocks, ssa, analyse(ssa, program.environment, BlockShape(64, 1, 1)))
    assert forecast.rest() == (0, 0)
    kinds = {id(op.form): op for op in ops}
    last = ops[len(ops) // 2]
    same = sum((op.form, *op.binding.values()) == (last.form, *last.binding.values()) for op in ops)
    assert len(kinds) > 1
    assert same > 2
    forecast.note(last, 100, 3)
    assert forecast.rest() == (100 * (same - 1), 3 * (same - 1))
    forecast.note(last, 7, 1)
    assert forecast.rest() == (7 * (same - 2), same - 2)
