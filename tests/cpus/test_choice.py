"""Choosing the CPU that code is made for."""

from __future__ import annotations

import platform
import re
from itertools import pairwise

import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine import host
from simt.engine.host import SLOW_GATHERS, find_cpu, host_cpu, host_features, named_cpus
from tests.cpus.objects import Code, program_of
from tests.programs.harness import HERE as PROGRAMS

X86 = platform.machine().lower() in ("x86_64", "amd64")
only_x86 = pytest.mark.skipif(not X86, reason="names of x86 CPUs")


def test_host_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SIMT_CPU", raising=False)
    device = simt.Device("sm_90", memory="64MiB")
    assert device.cpu == "host"
    assert find_cpu("host") == host_cpu()


@only_x86
def test_argument_before_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMT_CPU", "x86-64")
    assert simt.Device("sm_90", memory="64MiB").cpu == "x86-64"
    assert simt.Device("sm_90", memory="64MiB", cpu="host").cpu == "host"


@only_x86
def test_unknown_name() -> None:
    with pytest.raises(simt.SimtError) as error:
        simt.Device("sm_90", memory="64MiB", cpu="pentium")
    expected = "host, x86-64, x86-64-v2, x86-64-v3, x86-64-v4"
    message = f"no CPU 'pentium': expected one of {expected} (this machine is {platform.machine()})"
    assert str(error.value) == message


@only_x86
def test_a_cpu_that_this_machine_cannot_stand_in_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "host_features", lambda: host_features() - {"avx512f", "avx512vl", "fma"})
    with pytest.raises(simt.SimtError) as error:
        find_cpu("x86-64-v3")
    assert str(error.value) == "cpu: x86-64-v3 needs fma, which this machine's CPU does not have"


@only_x86
def test_levels_grow() -> None:
    features = [cpu.features - {SLOW_GATHERS} for cpu in named_cpus().values()]
    assert all(a < b for a, b in pairwise(features))
    assert "avx512f" not in named_cpus()["x86-64-v3"].features
    assert "avx" not in named_cpus()["x86-64-v2"].features
    slow = [name for name, cpu in named_cpus().items() if SLOW_GATHERS in cpu.features]
    assert slow == ["x86-64-v3"]


@only_x86
def test_any_cpu_with_avx2_stands_in_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that gathers fast: that is no feature which code needs."""
    monkeypatch.setattr(host, "host_features", lambda: named_cpus()["x86-64-v3"].features - {SLOW_GATHERS})
    assert find_cpu("x86-64-v3").name == "x86-64-v3"


@only_x86
def test_code_has_the_registers_of_its_cpu() -> None:
    """512-bit, 256-bit and 128-bit registers, and none wider."""
    program = program_of(PROGRAMS / "saxpy.ptx")
    kernel, block = program.functions[program.kernels[0]], BlockShape(96, 1, 1)
    code = {name: Code(cpu, program, kernel, block).assembly for name, cpu in named_cpus().items()}
    widest = {name: max(re.findall(r"[xyz]mm", text)) for name, text in code.items()}
    assert widest == {"x86-64": "xmm", "x86-64-v2": "xmm", "x86-64-v3": "ymm", "x86-64-v4": "zmm"}
