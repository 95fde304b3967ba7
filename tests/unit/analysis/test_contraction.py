"""Products and sums that become fused operations. Which ones do an H200 says: `tests/hw/test_contraction.py`;
here is that what is left computes the same, and who is asked not to fuse."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import simt
from simt.analysis import contraction_scan
from simt.analysis.program import Call, Op, Program, Register
from simt.analysis.ssa import uses
from simt.driver.source import compile_files, compile_ptx
from simt.isa.catalogue import FORMS
from simt.machine.device import find_device
from simt.tools.trace import trace

HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n"
SUM = "mul.f32 %u, %a, %b; add.f32 %v, %u, %c;"
ONCE = np.float32(1 + 2.0**-12)
"""Its square has more digits than a single has."""


def kernel(body: str, head: str = HEAD) -> str:
    """A kernel that computes `%v` from `%a`, `%b` and `%c`."""
    return (
        f"{head}.entry k (.param .u64 p) {{ .reg .u64 %p; .reg .f32 %a, %b, %c, %u, %v, %w; .reg .pred %q;\n"
        ".reg .u32 %i; ld.param.u64 %p, [p]; ld.global.f32 %a, [%p]; ld.global.f32 %b, [%p+4];\n"
        f"ld.global.f32 %c, [%p+8]; mov.u32 %i, 0; setp.ne.u32 %q, %i, 0;\n{body}\n"
        "st.global.f32 [%p+12], %v; ret; }"
    )


def opcodes(program: Program, name: str = "k") -> list[str]:
    """What a function computes in floating point, in order."""
    forms = [op.form for op in program.functions[name].ops() if not isinstance(op, Call)]
    return [f.mnemonic for f in forms if f.chapter == "floating" or f.mnemonic == "copy"]


def lowered(body: str, head: str = HEAD, device: str = "sm_90", fmad: bool = True) -> list[str]:
    return opcodes(compile_ptx(kernel(body, head), "<ptx>", find_device(device), fmad)[0])


def test_a_product_that_is_only_added_goes() -> None:
    assert lowered(SUM) == ["fma"]
    assert lowered(SUM.replace("add.f32 %v, %u, %c", "sub.f32 %v, %u, %c")) == ["neg", "fma"]
    assert lowered(SUM + " st.global.f32 [%p+16], %u;") == ["mul", "add"]


def test_operands_that_change_on_the_way_are_kept() -> None:
    assert lowered("mul.f32 %u, %a, %b; mov.f32 %a, %c; add.f32 %v, %u, %a;") == ["copy", "fma"]


@pytest.mark.parametrize("ftz", ["", ".ftz"])
def test_what_changes_its_sign_for_it_is_flushed_as_the_sum_is(ftz: str) -> None:
    """Else not all arithmetic of the kernel flushes, and the JIT does it by itself: three times as slow."""
    for body in (
        f"mul{ftz}.f32 %u, %a, %b; sub{ftz}.f32 %v, %c, %u;",
        f"mul{ftz}.f32 %u, %a, %b; sub{ftz}.f32 %v, %u, %c;",
    ):
        program = compile_ptx(kernel(body), "<ptx>", find_device("sm_90"), True)[0]
        ops = [op for op in program.functions["k"].ops() if not isinstance(op, Call)]
        found = {op.form.mnemonic: op.binding["ftz"] for op in ops if op.form.chapter == "floating"}
        assert found == {"neg": bool(ftz), "fma": bool(ftz)}


def test_constants_change_their_sign_without_an_instruction() -> None:
    assert lowered("mul.f32 %u, 0f40400000, %b; sub.f32 %v, %c, %u;") == ["fma"]


@pytest.mark.parametrize(
    ("head", "device", "fmad"),
    [
        (HEAD, "sm_90", False),
        (HEAD.replace("sm_75", "sm_75, debug"), "sm_90", True),
        (".version 1.4\n.target sm_13\n", "sm_13", True),
    ],
    ids=["asked not to", "debug", "before fused operations"],
)
def test_both_are_rounded(head: str, device: str, fmad: bool) -> None:
    assert lowered(SUM, head, device, fmad) == ["mul", "add"]


def test_an_old_module_fuses_on_a_new_device() -> None:
    assert lowered(SUM, ".version 1.4\n.target sm_13\n") == ["fma"]


def test_a_product_read_by_the_next_turn_stays() -> None:
    """It is read above its definition: the sum there is in the turn before."""
    loop = (
        "mov.f32 %u, %c; mov.f32 %v, %c; L: add.f32 %v, %v, %u; mul.f32 %u, %a, %v; add.f32 %w, %u, %c;"
        "mov.f32 %c, %w; add.u32 %i, %i, 1; setp.lt.u32 %q, %i, 3; @%q bra L;"
    )
    assert lowered(loop) == ["add", "mul", "add"]


@pytest.mark.parametrize("registers", [1, 2], ids=["once", "twice"])
def test_work_grows_with_the_program(registers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Products of many blocks that the last one adds up, in registers that are written once or twice."""
    looks = 0

    def counted(op: Op | Call) -> Iterator[Register]:
        nonlocal looks
        looks += 1
        return uses(op)

    monkeypatch.setattr(contraction_scan, "uses", counted)
    found: list[int] = []
    for blocks in (100, 200):
        n = blocks // registers
        body = "\n".join(
            f"setp.eq.u32 %q, %i, {i}; mul.f32 %r{i % n}, %a, %b; @%q bra L{i}; mov.f32 %a, %b; L{i}:"
            for i in range(blocks)
        )
        sums = "\n".join(f"add.f32 %v, %a, %r{i};" for i in range(n))
        text = kernel(f"{body}\n{sums}").replace(".reg .u32 %i;", f".reg .u32 %i; .reg .f32 %r<{n}>;")
        looks = 0
        compile_ptx(text, "<ptx>", find_device("sm_90"), True)
        found.append(looks)
    assert found[0] > 100
    assert found[1] < 2.5 * found[0]


def test_work_grows_with_unread_results(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each reads a register that as many instructions write."""
    looks = 0
    is_unread = contraction_scan.Live.is_unread

    def counted(live: contraction_scan.Live, op: Op) -> bool:
        nonlocal looks
        looks += 1
        return is_unread(live, op)

    monkeypatch.setattr(contraction_scan.Live, "is_unread", counted)
    found: list[int] = []
    for count in (100, 200):
        lines = "\n".join(f"@%q add.f32 %v, %v, %a; add.f32 %r{i}, %v, %b;" for i in range(count))
        text = kernel(f"{lines}\nmul.f32 %u, %a, %b; add.f32 %v, %u, %v;")
        looks = 0
        compile_ptx(text.replace(".reg .u32 %i;", f".reg .u32 %i; .reg .f32 %r<{count}>;"), "<ptx>",
                    find_device("sm_90"), True)  # fmt: skip
        found.append(looks)
    assert found[0] > 100
    assert found[1] < 2.5 * found[0]


def test_numpy_is_not_started() -> None:
    """It takes as long as to compile a small kernel. A factor is compared with one."""
    text = kernel("mul.f32 %u, %a, 0f3FC00000; add.f32 %v, %u, %b;")
    program = (
        "import sys; from simt.analysis.lower import lower; from simt.ptx.parser import parse\n"
        "found = lower(parse(sys.stdin.buffer.read(), '<ptx>')[0])\n"
        "names = [op.form.mnemonic for op in found.functions['k'].ops()]\n"
        "print('fma' in names, 'numpy' in sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], input=text.encode(), capture_output=True, check=True
    )
    assert run.stdout.split() == [b"True", b"False"]


def test_no_fusing_across_calls() -> None:
    function = ".func (.reg .f32 %r) f (.reg .f32 %x) { mul.f32 %r, %x, %x; ret; }\n"
    body = (
        "call (%u), f, (%a); add.f32 %v, %u, %c; mul.f32 %w, %a, %b; call (%u), f, (%w); sub.f32 %v, %v, %w;"
    )
    program = compile_ptx(kernel(body, HEAD + function), "<ptx>", find_device("sm_90"))[0]
    assert opcodes(program) == ["add", "mul", "sub"]
    assert opcodes(program, "f") == ["mul"]


def test_device_functions_fuse_what_they_return() -> None:
    body = ".reg .f32 %y; mul.f32 %y, %x, %x; add.f32 %r, %y, %x;"
    function = f".func (.reg .f32 %r) f (.reg .f32 %x) {{ {body} ret; }}\n"
    body = "call (%v), f, (%a);"
    program = compile_ptx(kernel(body, HEAD + function), "<ptx>", find_device("sm_90"))[0]
    assert opcodes(program, "f") == ["fma"]
    returned = function.replace(".reg .f32 %y;", "").replace("%y", "%r")
    program = compile_ptx(kernel(body, HEAD + returned), "<ptx>", find_device("sm_90"))[0]
    assert opcodes(program, "f") == ["fma"]


def test_the_program_as_written_has_the_same_operations() -> None:
    """What is watched is what runs."""
    body = SUM.replace("add", "bra M; L: ret; M: add") + " @%q bra L; bra N; N:"
    files = [(kernel(body), "<ptx>")]
    made = [compile_files(files, find_device("sm_90"), as_written=w)[0] for w in (False, True)]
    assert opcodes(made[0]) == opcodes(made[1]) == ["fma"]


def values(device: simt.Device, body: str = SUM) -> float:
    data = device.array(np.array([ONCE, ONCE, -ONCE * ONCE, 0], np.float32))
    device.load(kernel(body))["k"](1, 1, (data,))
    return float(data.numpy()[3])


@pytest.mark.parametrize("engine", ["interpreter", "jit"])
def test_a_device_may_round_both(engine: str) -> None:
    lost = 2.0**-24
    assert values(simt.Device("sm_90", engine, "16MiB")) == lost
    assert values(simt.Device("sm_90", engine, "16MiB", fmad=False)) == 0


def test_what_was_compiled_with_is_not_run_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Text, kernel, shape and CPU are the same: the cache tells them apart."""
    monkeypatch.setenv("SIMT_CACHE_DIR", str(tmp_path))
    for _ in range(2):
        assert values(simt.Device("sm_90", "jit", "16MiB")) == 2.0**-24
        assert values(simt.Device("sm_90", "jit", "16MiB", fmad=False)) == 0


def test_clocks_count_what_runs() -> None:
    """An instruction less, on both engines."""
    timed = (
        "mov.u32 %i, %clock; "
        + SUM
        + " { .reg .u32 %j; mov.u32 %j, %clock; sub.u32 %i, %j, %i; mov.b32 %v, %i; }"
    )
    counts = {
        (engine, fmad): values(simt.Device("sm_90", engine, "16MiB", fmad=fmad), timed)
        for engine in ("interpreter", "jit")
        for fmad in (True, False)
    }
    found = {key: np.float32(v).view(np.uint32) for key, v in counts.items()}
    assert found["interpreter", True] == found["jit", True] == found["jit", False] - 1
    assert found["interpreter", False] == found["jit", False]


def test_a_trace_shows_the_sum_as_what_it_is() -> None:
    device = simt.Device("sm_90", "interpreter", "16MiB")
    data = device.array(np.zeros(4, np.float32))
    found = trace(device.load(kernel(SUM.replace("; add", ";\nadd")))["k"], 1, 1, [data])
    texts = [step.text for step in found.steps]
    assert [t for t in texts if "mul." in t or "add.f32" in t] == ["add.f32 %v, %u, %c"]


def test_every_fused_operation_exists_in_the_catalogue() -> None:
    """For every type, `.ftz` and `.sat` of a sum there is one to take its place, and a negation."""
    from simt.analysis.contraction_rewriting import catalogued

    sums = [f for forms in FORMS.values() for f in forms if f.contraction in ("sum", "difference")]
    for form in sums:
        for binding in (b for b in form.bindings() if not b.get("rnd")):
            t = form.operand_type(form.operands[0], binding)[0]
            key = t, binding.get("ftz") is True, binding.get("sat") is True
            assert key in catalogued("fused"), form.spell(binding)
            assert (t, False, False) in catalogued("negation"), form.spell(binding)


def test_parts_are_ops_of_the_catalogue() -> None:
    program = compile_ptx(kernel(SUM), "<ptx>", find_device("sm_90"))[0]
    fused = [op for op in program.functions["k"].ops() if isinstance(op, Op) and op.form.mnemonic == "fma"]
    assert [op.form.spell(op.binding) for op in fused] == ["fma.rn.f32"]
    assert fused[0].line == program.text.text.count("\n", 0, program.text.text.index("add.f32 %v")) + 1
