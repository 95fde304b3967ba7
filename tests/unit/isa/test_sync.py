"""Control flow, barriers and atomics as declared: kinds, operands, requirements."""

from __future__ import annotations

import pytest

from simt.isa.form import Requirement
from simt.isa.select import Selection, select


def chosen(opcode: str, count: int, version: tuple[int, int] = (9, 0), target: int = 90) -> Selection:
    mnemonic, *modifiers = opcode.split(".")
    found = select(mnemonic, tuple(modifiers), count, version, target)
    assert isinstance(found, Selection), found
    return found


@pytest.mark.parametrize(
    ("opcode", "count", "kind"),
    [
        ("bra.uni", 1, "branch"),
        ("brx.idx", 2, "indirect-branch"),
        ("call", 1, "call"),
        ("call.uni", 4, "call"),
        ("ret", 0, "return"),
        ("exit", 0, "exit"),
        ("bar.sync", 1, "barrier"),
        ("bar.red.popc.u32", 3, "barrier"),
        ("barrier.cta.sync.aligned", 2, "barrier"),
    ],
)
def test_kinds_of_control_flow(opcode: str, count: int, kind: str) -> None:
    assert chosen(opcode, count).form.control == kind


@pytest.mark.parametrize(
    ("opcode", "count", "version", "target"),
    [
        ("bar.sync", 1, (1, 0), 10),
        ("bar.sync", 2, (2, 0), 20),
        ("bar.arrive", 2, (2, 0), 20),
        ("atom.global.add.u32", 3, (1, 0), 11),
        ("atom.shared.add.u32", 3, (1, 0), 12),
        ("atom.global.cas.b64", 4, (1, 0), 12),
        ("atom.shared.cas.b64", 4, (2, 0), 20),
        ("red.global.add.s32", 2, (1, 2), 11),
        ("atom.add.u32", 3, (2, 0), 20),
        ("ld.volatile.global.f32", 2, (1, 1), 10),
        ("ld.global.f64", 2, (1, 0), 13),
        ("ld.f32", 2, (2, 0), 20),
        ("membar.gl", 0, (1, 4), 10),
        ("membar.sys", 0, (2, 0), 20),
        ("vote.all.pred", 2, (1, 2), 12),
    ],
)
def test_first_version_and_target(opcode: str, count: int, version: tuple[int, int], target: int) -> None:
    found = chosen(opcode, count, (3, 0), 30)
    assert found.form.required(found.binding) == Requirement(version, target)
