"""What warps keep while they wait at barriers."""

from __future__ import annotations

import re

import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.host import host_cpu
from simt.engine.llvm_kernel import emit

VECTOR = 32 * 4


def context(barriers: int, threads: int) -> int:
    """Bytes of context a warp of a kernel with one word a thread that lives across all barriers."""
    program = (
        simt.Device("sm_75")
        .load(f"""
.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 a)
{{
    .reg .b32 %t, %v; .reg .b64 %a, %o;
    ld.param.u64 %a, [a];
    mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 4; add.u64 %a, %a, %o;
    ld.global.u32 %v, [%a];
    {"bar.sync 0;" * barriers}
    st.global.u32 [%a], %v;
    ret;
}}
""")
        .program
    )
    shape = BlockShape(threads, 1, 1)
    text, _, size = emit(program, program.functions["k"], shape, host_cpu().features, "nounwind")
    assert not size  # they lie on the stack
    room = re.search(r"%contexts = alloca \[(\d+) x i8\]", text)
    return int(room[1]) // shape.warps if room else 0


@pytest.mark.parametrize("barriers", [1, 4])
def test_one_warp_never_makes_way(barriers: int) -> None:
    assert context(barriers, 32) == 0


def test_a_value_has_one_place_for_all_barriers() -> None:
    assert VECTOR < context(1, 64) < context(20, 64) < context(1, 64) + VECTOR * 2
