"""Programs that were loaded before: what is kept of them, and that nobody can tell."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import fields
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

import simt
from simt.analysis.program import Function, Program
from simt.driver.remembered import RememberedKernel, load_program
from simt.driver.source import compile_ptx
from simt.engine.cache import ObjectCache
from simt.engine.jit import Jit
from simt.machine.device import find_device
from tests.programs.harness import HERE

SM_90 = find_device("sm_90")
PTX = """.version 7.5
.target sm_75
.address_size 64
.global .align 4 .u32 table[4] = {1, 2, 3, 4};
.global .align 8 .u64 where = generic(table);
.visible .entry k(.param .u64 out, .param .align 8 .b8 pair[16])
.maxntid 256, 1, 1
{
    .reg .b64 %a, %t; .reg .b32 %i, %v;
    .shared .align 16 .b8 own[64];
    .local .align 8 .b8 mine[24];
    ld.param.u64 %a, [out];
    mov.u32 %i, %tid.x;
    st.shared.u32 [own], %i;
    st.local.u32 [mine], %i;
    mad.wide.u32 %a, %i, 4, %a;
    ld.global.u64 %t, [where];
    and.b32 %v, %i, 3;
    mad.wide.u32 %t, %v, 4, %t;
    ld.u32 %v, [%t];
    st.global.u32 [%a], %v;
    ret;
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache for every test."""
    monkeypatch.setenv("SIMT_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def remembered(text: str | bytes) -> RememberedKernel:
    """The first kernel of a text that was loaded before."""
    load_program(text, "first", SM_90)
    kernel = next(iter(load_program(text, "second", SM_90)[0].functions.values()))
    assert isinstance(kernel, RememberedKernel)
    return kernel


@pytest.mark.parametrize("path", sorted(HERE.glob("*.ptx")), ids=lambda p: p.stem)
def test_nothing_is_lost(path: Path) -> None:
    text = path.read_bytes()
    whole, warnings = compile_ptx(text, path.name, SM_90)
    load_program(text, path.name, SM_90)
    program, found = load_program(text, path.name, SM_90)
    assert found == warnings
    assert program.variables == whole.variables
    assert (program.text.name, program.text.text) == (whole.text.name, whole.text.text)
    for name in ("environment", "address_bits", "identity", "kernels"):
        assert getattr(program, name) == getattr(whole, name)
    plain = is_plain(whole, warnings)
    for name, function in whole.functions.items():
        kept = program.functions[name]
        assert isinstance(kept, RememberedKernel) == plain
        for field in fields(Function) if plain else ():
            if field.name in ("blocks", "registers"):
                assert repr(getattr(kept, field.name)) == repr(getattr(function, field.name))
            else:
                assert getattr(kept, field.name) == getattr(function, field.name)


def is_plain(program: Program, warnings: Sequence[object]) -> bool:
    return not warnings and all(f.is_kernel and not f.calls for f in program.functions.values())


def test_some_programs_are_kept() -> None:
    compiled = (compile_ptx(path.read_bytes(), path.name, SM_90) for path in sorted(HERE.glob("*.ptx")))
    assert len([*islice((p for p, warnings in compiled if is_plain(p, warnings)), 10)]) == 10


def test_blocks_are_made_when_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = remembered(PTX)
    calls: list[str] = []
    monkeypatch.setattr("simt.driver.source.compile_ptx", lambda *a: calls.append("") or compile_ptx(*a))
    assert kernel.shared_size == 64
    assert kernel.limits == {"maxntid": (256, 1, 1)}
    assert calls == []
    assert len(kernel.blocks[0].ops) > 5
    assert kernel.registers
    assert calls == [""], "all at once"
    with pytest.raises(AttributeError):
        _ = kernel.no_such_thing


def run(device: simt.Device, block: int) -> list[int]:
    out = device.zeros(block, "u4")
    device.load(PTX)["k"](1, block, (out, bytes(16)))
    return list(out.numpy())


def test_runs_as_before() -> None:
    """Also with a shape of CTA that was not compiled before, and on the interpreter."""
    expected = [1, 2, 3, 4] * 16
    for _ in range(2):
        assert run(simt.Device("sm_90", memory="64MiB"), 64) == expected
    assert run(simt.Device("sm_90", memory="64MiB"), 40) == expected[:40]
    assert run(simt.Device("sm_90", engine="interpreter", memory="64MiB"), 64) == expected


def test_interpreter_of_what_the_jit_does_not_compile() -> None:
    never = "mov.u32 %v, %nctaid.x; setp.gt.u32 %p, %v, 900; @%p bar.sync %i, 32; and.b32 %v, %i, 3;"
    text = PTX.replace("and.b32 %v, %i, 3;", never).replace(
        ".reg .b64 %a, %t;", ".reg .b64 %a, %t; .reg .pred %p;"
    )
    for _ in range(2):
        device = simt.Device("sm_90", memory="64MiB")
        out = device.zeros(4, "u4")
        device.load(text)["k"](1, 4, (out, bytes(16)))
        assert (out.numpy() == np.arange(1, 5)).all()
        assert isinstance(device.engine, Jit)
        assert "differs between lanes" in device.engine.reasons["k"]


def test_text_and_bytes_and_changes_are_told_apart(folder: Path) -> None:
    for text in (PTX, PTX.encode(), PTX.replace("maxntid 256", "maxntid 128")):
        remembered(text)
    assert len(list(folder.iterdir())) == 3


def test_older_device_is_refused_as_ever() -> None:
    remembered(PTX)
    with pytest.raises(simt.PtxError, match="the module needs sm_75 or newer"):
        load_program(PTX, "old", find_device("sm_35"))


def test_calls_and_warnings_are_not_kept(folder: Path) -> None:
    for name in ("functions", "recursion", "system_calls"):
        load_program((HERE / f"{name}.ptx").read_bytes(), name, SM_90)
    assert list(folder.iterdir()) == []


def test_without_a_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("SIMT_CACHE_DIR", str(tmp_path / "file"))
    assert not ObjectCache().usable
    for _ in range(2):
        assert run(simt.Device("sm_90", memory="64MiB"), 4) == [1, 2, 3, 4]


SECOND = """
import sys, simt
device = simt.Device("sm_90", memory="64MiB", workers=1)
out = device.zeros(4, "u4")
device.load(sys.stdin.read())["k"](1, 4, (out, bytes(16)))
assert list(out.numpy()) == [1, 2, 3, 4]
print(*(m for m in sys.modules if m.startswith(("simt.isa", "simt.verify", "simt.ptx.", "simt.analysis."))))
"""


def test_a_second_process_reads_no_ptx() -> None:
    command = [sys.executable, "-c", SECOND]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    outputs = [
        subprocess.run(command, env=environment, input=PTX, text=True, capture_output=True, check=True).stdout
        for _ in range(2)
    ]
    assert "simt.ptx.parser" in outputs[0]
    imported = set(outputs[1].split())
    assert not {m for m in imported if m.startswith(("simt.isa", "simt.verify", "simt.analysis.lower"))}
    assert "simt.ptx.parser" not in imported
