"""Small programs as an H200 ran them (`tests.hw.probes`), on both engines, bit by bit.

Record again with `python -m tests.hw.record --only probes`.
"""

from __future__ import annotations

import functools
from collections import Counter
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

import simt
from simt.isa.catalogue import FORMS
from simt.isa.form import Form
from simt.isa.special_registers import SPECIAL_REGISTERS
from tests.conftest import shared_device
from tests.hw import atomic_probes, control_probes, memory_probes, textures
from tests.hw.arithmetic import CHAPTERS, is_old
from tests.hw.probes import STRIDE, Probe, normal
from tests.shares import share
from tests.unit.isa.meaning import Array

VECTORS = Path(__file__).parent / "vectors" / "probes.npz"
UNDEFINED = {
    f"st.param.{t}": "the callee reads the byte with its neighbours; ptxas lets it see the register's rest"
    for t in ("b8", "u8", "s8")
}
"""Programs that are not compared, with the reason."""


STEP = 30
"""Every how many of the programs run on the JIT."""


@functools.cache
def probes() -> dict[str, Probe]:
    """All programs by name."""
    every = chain(memory_probes.probes(), atomic_probes.probes(), control_probes.probes())
    return {probe.name: probe for probe in every}


@functools.cache
def recorded() -> dict[str, Array]:
    """Outputs of the GPU, in words of 64 bits."""
    file = np.load(VECTORS)
    parts = np.split(file["words"], file["ends"][:-1])
    return {str(name): words for name, words in zip(file["names"], parts)}


@functools.cache
def refused() -> dict[str, str]:
    """Programs that the driver did not take, with its answer."""
    return dict(str(line).split(": ", 1) for line in np.load(VECTORS)["refused"])


def run(probe: Probe, device: simt.Device) -> Array:
    """What the program gives here."""
    given = np.frombuffer(probe.given.ljust(8, b"\0"), np.uint8)
    out = device.zeros(probe.threads * STRIDE // 8, "u8")
    extra = (probe.parameter,) if probe.parameter else ()
    device.load(probe.text)["k"](probe.grid, probe.block, (device.array(given), out, *extra))
    return out.numpy().copy()


@functools.cache
def interpreted(name: str) -> Array:
    """What a program gives on the interpreter, which is quick to start."""
    return run(probes()[name], shared_device("interpreter"))


def differing(probe: Probe, ours: Array) -> int:
    """The number of threads whose output is not the GPU's."""
    same = normal(probe, ours) == normal(probe, recorded()[probe.name])
    return int((~same).any(1).sum())


def test_names_are_unique() -> None:
    every = chain(memory_probes.probes(), atomic_probes.probes(), control_probes.probes())
    assert [name for name, n in Counter(p.name for p in every).items() if n > 1] == []


def test_everything_is_recorded() -> None:
    assert set(recorded()) | set(refused()) == set(probes()), "record again"


def compared() -> list[Probe]:
    """The programs that the GPU ran."""
    return [probes()[name] for name in recorded() if name not in UNDEFINED]


def test_the_jit_gives_what_the_gpu_gave() -> None:
    device = shared_device("jit")
    assert [p.name for p in share(compared(), STEP) if differing(p, run(p, device))] == []


@pytest.mark.parametrize("name", ["1.4 trap", "trap"])
def test_a_trap_is_an_error(name: str, device: simt.Device) -> None:
    (end,) = (str(line) for line in np.load(VECTORS)["fatal"] if str(line).startswith(f"{name}: "))
    assert "CUDA_ERROR" in end
    with pytest.raises(simt.TrapError):
        run(control_probes.fatal()[name], device)


JUDGED_ELSEWHERE = {*CHAPTERS, "convert", "texture"}


def test_every_instruction_of_ptx_1_4_has_a_program() -> None:
    """In every type and with every modifier. `tests.hw.test_arithmetic` and `test_conversions` say so of
    arithmetic and conversions."""
    found = {name.split(" of ")[0] for name in (*recorded(), *refused())}
    opcodes = {" ".join(name.split()[:2]) for name in found if name.startswith("1.4 ")}
    forms = [f for fs in FORMS.values() for f in fs if f.chapter not in JUDGED_ELSEWHERE]
    old = {f"1.4 {f.spell(b)}" for f in forms for b in f.bindings() if is_old(f, b)}
    assert sorted(old - opcodes) == []


def test_every_texture_fetch_has_vectors() -> None:
    """By geometry, type of the result and type of the coordinates."""
    (form,) = FORMS["tex"]
    shown = {case.opcode for case in textures.cases()}
    missing = {form.spell(b) for b in form.bindings() if is_old(form, b)} - shown
    assert missing == set()


def test_every_register_is_recorded_or_says_why_not() -> None:
    names = {p.subject.name for p in probes().values() if not isinstance(p.subject, Form)}
    assert [n for n in SPECIAL_REGISTERS if n not in names and not control_probes.unsure(n)] == []
