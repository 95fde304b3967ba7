"""Addresses that are taken out of vectors on CPUs that forget what a register held: `STALE_PLACES`."""

from __future__ import annotations

import re

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.driver.source import compile_ptx
from simt.engine import host
from simt.engine.host import STALE_PLACES, host_cpu, named_cpus
from simt.machine.device import find_device
from simt.records import replace
from tests.cpus.objects import Code
from tests.cpus.test_choice import only_x86

HEAD = ".version 7.8\n.target sm_75\n.address_size 64\n"
COUNT = (
    HEAD
    + """.visible .entry k(.param .u64 words, .param .u64 counts)
{
    .reg .b64 %words, %counts, %a; .reg .b32 %t, %i, %w, %b; .reg .pred %p;
    .shared .align 8 .b8 box[4096];
    ld.param.u64 %words, [words]; ld.param.u64 %counts, [counts];
    mov.u32 %t, %tid.x; mad.wide.u32 %a, %t, 4, %words; ld.global.u32 %w, [%a];
    CHANGE
    ret;
}
"""
)
CHANGES = {
    "global": "mad.wide.u32 %a, %w, 4, %counts; red.global.add.u32 [%a], 1;",
    "global, 64 bits": "mad.wide.u32 %a, %w, 8, %counts; red.global.add.u64 [%a], 1;",
    "global, any": "mul.wide.u32 %a, %w, 4; xor.b64 %a, %a, 8; add.u64 %a, %a, %counts;"
    "red.global.add.u32 [%a], 1;",
    "global, any of 64 bits": "mul.wide.u32 %a, %w, 8; xor.b64 %a, %a, 16; add.u64 %a, %a, %counts;"
    "red.global.add.u64 [%a], 1;",
    "shared": "and.b32 %w, %w, 1020; mov.u32 %i, box; add.u32 %w, %w, %i; red.shared.add.u32 [%w], 1;",
    "shared, old values": "and.b32 %w, %w, 1020; mov.u32 %i, box; add.u32 %w, %w, %i;"
    "atom.shared.cas.b32 %i, [%w], %t, 5; mad.wide.u32 %a, %t, 4, %counts; st.global.u32 [%a], %i;",
    "shared, any address": "shl.b32 %w, %w, 2; mov.u32 %i, box; add.u32 %w, %w, %i;"
    "red.shared.add.u32 [%w], 1;",
    "shared, two of a word": "and.b32 %i, %w, 1020; mov.u32 %b, box; add.u32 %i, %i, %b;"
    "red.shared.add.u32 [%i], 1; add.u32 %i, %i, 2048; red.shared.add.u32 [%i], 1;",
    "shared, by 64 bits": "and.b32 %w, %w, 1020; cvt.u64.u32 %a, %w; mov.u64 %counts, box;"
    "add.u64 %a, %a, %counts; red.shared.add.u32 [%a], 1;",
}
BY_TWOS = {"global", "global, 64 bits", "shared", "shared, two of a word"}
OUT = re.compile(r"\tv(?:mov|pextr)[dq]\t.*%xmm\d+, %([a-z\d]+)$")
CHANGED = re.compile(
    r"\t(?:inc|dec|add|mov|cmp)[lq]\t(?:.*, )?-?\w*\((?:%([a-z\d]+))?(?:,%([a-z\d]+))?.*\).*"
)
WRITTEN = re.compile(r"\t\w+\t.*%([a-z\d]+)$")


def whole(register: str) -> str:
    """The 64-bit register."""
    return f"r{register[1:]}" if register[0] == "e" else register.removesuffix("d")


def straight(assembly: str) -> int:
    """Accesses of integers at addresses in which a register stands as it came out of a vector."""
    found, taken = 0, set[str]()
    for line in assembly.splitlines():
        if place := CHANGED.fullmatch(line):
            found += not taken.isdisjoint(filter(None, place.groups()))
        if out := OUT.fullmatch(line):
            taken.add(whole(out[1]))
        elif written := WRITTEN.fullmatch(line):
            taken.discard(whole(written[1]))
    return found


@only_x86
@pytest.mark.parametrize("change", CHANGES)
def test_updates_lane_by_lane(change: str) -> None:
    """Where lanes are taken out by twos, other instructions take these apart anyway."""
    program, _ = compile_ptx(COUNT.replace("CHANGE", CHANGES[change]).encode(), "k.ptx", find_device("sm_90"))
    cpu = named_cpus()["x86-64-v4"]
    stale = replace(cpu, features=cpu.features | {STALE_PLACES})
    usual, settled = (
        straight(Code(c, program, program.functions["k"], BlockShape(64, 1, 1)).assembly)
        for c in (cpu, stale)
    )
    assert settled == 0
    assert usual >= 32 or change in BY_TWOS


@only_x86
def test_floats_are_not_kept() -> None:
    change = CHANGES["global, any"].replace("add.u32 [%a], 1", "add.f32 [%a], 0f3F800000")
    program, _ = compile_ptx(COUNT.replace("CHANGE", change).encode(), "k.ptx", find_device("sm_90"))
    cpu = named_cpus()["x86-64-v4"]
    stale = replace(cpu, features=cpu.features | {STALE_PLACES})
    assert "mov $1" not in Code(stale, program, program.functions["k"], BlockShape(64, 1, 1)).ir


@only_x86
@pytest.mark.parametrize("change", ["global, any", "global, any of 64 bits"])
def test_such_code_runs(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cpu = host_cpu()
    stale = replace(cpu, features=cpu.features | {STALE_PLACES})
    monkeypatch.setattr(host, "host_cpu", lambda: stale)
    device = simt.Device("sm_90", memory="64MiB", workers=1)
    words = np.random.default_rng(1).integers(0, 8, 64).astype("u4")
    at, counts = device.array(words), device.zeros(64, "u8" if "64" in change else "u4")
    device.load(COUNT.replace("CHANGE", CHANGES[change]))["k"](1, 64, (at, counts))
    assert np.array_equal(counts.numpy(), np.bincount(words ^ 2, minlength=64))


@only_x86
def test_which_cpus_are_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """And which ask for what CTAs need next, by measurement."""
    far, by_phases = host.ASKS_FAR, host.ASKS_BY_PHASES
    both, none = {far, by_phases}, set[str]()
    known = (
        ("znver3", False, {by_phases}),
        ("znver4", True, {by_phases}),
        ("znver5", False, none),
        ("sapphirerapids", False, both),
    )
    told = host.told()
    for name, stale, asking in known:
        monkeypatch.setattr(host, "told", lambda name=name: told._replace(name=name))
        features = host.host_features()
        assert (STALE_PLACES in features, features & both) == (stale, asking)
