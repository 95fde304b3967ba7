"""Branches behind tests of bits, around loads of what is the same for all lanes: a matrix of bits times a
vector. A row is loaded only if some lane has its bit."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.analysis.program import Branch, Op
from simt.analysis.shape import BlockShape
from simt.engine.host import host_cpu
from simt.engine.llvm_rewriting import rewritten, shaped
from simt.engine.llvm_slots import Unit
from tests.conftest import shared_device
from tests.unit.engine.arrays import words_at_the_end

ROWS = 16
SOURCE = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 vectors, .param .u64 matrix, .param .u64 out)
{{
    .reg .b32 %i, %x, %b, %v, %one, %two, %a; .reg .pred %p, %q; .reg .b64 %vectors, %matrix, %out, %w, %row;
    ld.param.u64 %vectors, [vectors]; ld.param.u64 %matrix, [matrix]; ld.param.u64 %out, [out];
    mov.u32 %i, %ctaid.x; mov.u32 %x, %ntid.x; mov.u32 %b, %tid.x; mad.lo.u32 %i, %i, %x, %b;
    mul.wide.u32 %w, %i, 4; add.u64 %vectors, %vectors, %w; mul.wide.u32 %w, %i, 8; add.u64 %out, %out, %w;
    ld.global.u32 %v, [%vectors]; mov.u32 %one, 0; mov.u32 %two, 0; mov.u32 %i, 0; mov.u64 %row, %matrix;
TURN:
    {steps}
    add.u64 %row, %row, 32; add.u32 %i, %i, 4; setp.lt.u32 %q, %i, 16;
    @%q bra TURN;
    st.global.v2.u32 [%out], {{%one, %two}};
    ret;
}}
"""
ADD = """
    ld.global.u32 %a, [%row+{at}]; xor.b32 %one, %one, %a;
    ld.global.u32 %a, [%row+{at}+4]; add.u32 %two, %two, %a;
"""
STEP = {
    "past": "@%p bra PAST{n};\n" + ADD + "\nPAST{n}:",
    "to": "@!%p bra ADD{n};\nbra PAST{n};\nADD{n}:\n" + ADD + "\nPAST{n}:",
    "either": "@%p bra OTHER{n};\n" + ADD + "\nbra PAST{n};\nOTHER{n}:\nadd.u32 %two, %two, 3;\nPAST{n}:",
}
TEST = "mov.u32 %b, {bit}; shl.b32 %b, %b, %i; and.b32 %b, %v, %b; setp.eq.u32 %p, %b, 0;"


def source(way: str) -> str:
    steps = [(TEST + "\n" + STEP[way]).format(bit=1 << n, n=n, at=8 * n) for n in range(4)]
    return SOURCE.format(steps="\n".join(steps))


def expected(way: str, vectors: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    found = np.zeros((len(vectors), 2), "u8")
    for i in range(ROWS):
        has = (vectors >> i & 1).astype(bool)
        found[has, 0] ^= matrix[i, 0]
        found[has, 1] += matrix[i, 1]
        if way == "either":
            found[~has, 1] += 3
    return (found % 2**32).astype("u4")


@pytest.mark.parametrize("way", STEP)
@pytest.mark.parametrize("kind", ["any", "few", "none"])
def test_products(engine: str, kind: str, way: str) -> None:
    device, rng = shared_device(engine), np.random.default_rng(11)
    vectors = rng.integers(0, 2**ROWS, 200, "u4")
    if kind != "any":
        vectors *= (np.arange(200) % 67 == 5) & (kind == "few")
    matrix = rng.integers(0, 2**32, (ROWS, 2), "u4")
    out = device.zeros((200, 2), "u4")
    device.load(source(way))["k"]((4,), (50,), (device.array(vectors), device.array(matrix), out))
    np.testing.assert_array_equal(out.numpy(), expected(way, vectors, matrix))


@pytest.mark.parametrize("lane", [None, 0, 33])
def test_a_row_beyond_memory(engine: str, lane: int | None) -> None:
    """The memory ends behind half of the matrix. Nobody has a bit beyond, or one thread has."""
    device = simt.Device(engine=engine)
    given = np.full(64, 0x00FF, "u4")
    if lane is not None:
        given[lane] = 0x0FFF
    vectors, out = device.array(given), device.zeros((64, 2), "u4")
    last = words_at_the_end(device, np.uint32(0))
    kernel = device.load(source("past"))["k"]
    matrix = np.uint64(last.ptr + last.nbytes - 64)
    if lane is None:
        kernel((1,), (64,), (vectors, matrix, out))
        assert not out.numpy().any()
        return
    with pytest.raises(simt.MemoryFault) as fault:
        kernel((1,), (64,), (vectors, matrix, out))
    assert fault.value.address == last.ptr + last.nbytes
    assert fault.value.site.thread == (lane, 0, 0)


def test_they_are_choices() -> None:
    for way in STEP:
        program = shared_device("jit").load(source(way)).program
        unit = Unit(program, program.functions["k"], BlockShape(64, 1, 1), host_cpu().features)
        kernel = rewritten(shaped(unit)).kernel
        guarded = [op for op in kernel.ops() if isinstance(op, Op) and op.guard and op.form.moves_memory]
        branches = [b for b in kernel.blocks if isinstance(b.terminator, Branch)]
        assert len(guarded) == 8, way
        assert len(branches) == 1, way
