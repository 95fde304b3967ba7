"""Shuffles of 64 bits by halves, which the JIT does in one piece: as the interpreter does them."""

from __future__ import annotations

import numpy as np
import pytest

from simt.analysis.shape import BlockShape
from simt.engine.compile import attributes
from simt.engine.host import named_cpus
from simt.engine.llvm_kernel import emit
from tests.conftest import shared_device

KERNEL = """
.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{{
    .reg .f64 %d, %e; .reg .b32 %l, %h, %m, %i, %t, %n; .reg .b64 %a, %b, %o; .reg .pred %p, %q, %few;
    ld.param.u64 %a, [in]; ld.param.u64 %b, [out];
    mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 8; add.u64 %a, %a, %o; add.u64 %b, %b, %o;
    setp.lt.u32 %few, %t, 21;
    ld.global.f64 %d, [%a]; mov.f64 %e, %d;
    {guard}
    mov.u32 %n, {offset};
    mov.b64 {{%l, %h}}, %d;
    {shuffles}
    mov.b64 %e, {{%m, %i}};
    END: st.global.f64 [%b], %e;
    ret;
}}
"""
TWO = "shfl.sync.{0}.b32 %i|%p, %h, %n, {1}, -1; shfl.sync.{0}.b32 %m|%q, %l, %n, {1}, -1;"
BETWEEN = {
    "": "",
    "another value": "mov.f64 %d, 0d4008000000000000;",
    "another half": "mov.b32 %m, %l;",
    "another lane": "add.u32 %n, %n, 1;",
    "exchanged": "mov.b32 %n, %m; mov.b32 %m, %i; mov.b32 %i, %n;",
}


def source(mode: str, offset: int, clamp: int, guard: str = "", between: str = "") -> str:
    shuffles = f"{TWO.format(mode, clamp)} {BETWEEN[between]}"
    if between == "another half":
        shuffles = shuffles.replace("mov.b32 %m, %l;", "selp.b32 %m, %l, %m, %few;")
    return KERNEL.format(offset=offset, guard=guard, shuffles=shuffles)


def doubles() -> np.ndarray:
    """Numbers and NaNs of all kinds."""
    bits = np.random.default_rng(5).integers(0, 1 << 64, 32, "u8")
    bits[::5] |= np.uint64(0x7FF0000000000000)
    return bits


def outcome(engine: str, text: str) -> list[int]:
    device = shared_device(engine)
    out = device.zeros(32, "u8")
    device.load(text)["k"](1, 32, (device.array(doubles()), out))
    return out.numpy().tolist()


def is_wide(text: str) -> bool:
    cpu, program = named_cpus()["x86-64-v4"], shared_device("jit").load(text).program
    code = emit(program, program.functions["k"], BlockShape(32, 1, 1), cpu.features, attributes(cpu))[0]
    return "call <8 x i64> @llvm.x86.avx512.vpermi2var.q.512" in code


@pytest.mark.parametrize("guard", ["", "@!%few bra END;"])
@pytest.mark.parametrize(
    ("mode", "offset", "clamp"),
    [("down", 16, 31), ("bfly", 3, 31), ("up", 2, 0), ("idx", 9, 0x181F), ("down", 4, 0x181F)],
)
def test_all_ways(mode: str, offset: int, clamp: int, guard: str) -> None:
    text = source(mode, offset, clamp, guard)
    assert is_wide(text)
    assert outcome("jit", text) == outcome("interpreter", text)


@pytest.mark.parametrize("between", [name for name in BETWEEN if name])
def test_halves_that_are_not_of_one_value(between: str) -> None:
    text = source("down", 1, 31, between=between)
    assert not is_wide(text)
    assert outcome("jit", text) == outcome("interpreter", text)


def test_halves_that_go_different_ways() -> None:
    text = source("down", 1, 31).replace(
        "shfl.sync.down.b32 %m|%q, %l, %n", "shfl.sync.down.b32 %m|%q, %l, 2"
    )
    assert not is_wide(text)
    assert outcome("jit", text) == outcome("interpreter", text)


@pytest.mark.parametrize("guard", ["", "@!%few bra END;"])
def test_lanes_that_are_loaded(guard: str) -> None:
    text = source("idx", 1, 31, guard).replace("mov.u32 %n, 1;", "ld.global.u32 %n, [%a];")
    assert is_wide(text)
    assert outcome("jit", text) == outcome("interpreter", text)


@pytest.mark.parametrize("number", ["f32", "f64"])
def test_sums_by_loops_that_a_compiler_leaves(number: str) -> None:
    """`for (d = warpSize / 2; d > 0; d /= 2)`: no loop is left."""
    bits = number[1:]
    halves = (
        "mov.b64 {%l, %h}, %d; shfl.sync.down.b32 %m, %l, %n, 31, -1; shfl.sync.down.b32 %i, %h, %n, 31, -1;"
    )
    one = "mov.b32 %l, %d; shfl.sync.down.b32 %m, %l, %n, 31, -1; mov.b32 %e, %m;"
    turn = one if bits == "32" else f"{halves} mov.b64 %e, {{%m, %i}};"
    text = source("down", 1, 31).replace("f64", number).split("mov.u32 %n")[0]
    text += f"""mov.u32 %n, WARP_SZ; shr.u32 %n, %n, 1;
    TURN: {turn} add.{number} %d, %d, %e; shr.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra TURN;
    st.global.{number} [%b], %d; ret; }}"""
    program, cpu = shared_device("jit").load(text).program, named_cpus()["x86-64-v4"]
    code = emit(program, program.functions["k"], BlockShape(32, 1, 1), cpu.features, attributes(cpu))[0]
    assert code.count(f"fadd <32 x {'double' if bits == '64' else 'float'}>") >= 5
    assert outcome("jit", text) == outcome("interpreter", text)
